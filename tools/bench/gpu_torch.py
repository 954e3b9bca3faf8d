"""PyTorch's side of `tools/dev bench gpu`: in the bench's own process, or in one of another interpreter, which is asked row by
row (a line with the row's name in, a line of JSON out), so that both are timed by turns in one run."""

from __future__ import annotations

import argparse
import functools
import json
import subprocess
import sys
from pathlib import Path

from gpu_rows import Pool, Row, rate, table, timed


class Torch:
    """PyTorch of this interpreter. ImportError where it is not installed."""

    def __init__(self, pool: Pool, seconds: float, compiled: bool):
        import torch

        self.torch, self.pool, self.seconds, self.compiled = torch, pool, seconds, compiled
        self.sees_gpu = torch.cuda.is_available()

    def measure(self, row: Row) -> dict:
        """By "torch_eager" and "torch_compile" the row's rate, or the name of the error that PyTorch raised."""
        torch = self.torch
        tensors = [torch.from_numpy(x).cuda() for x in row.inputs(self.pool)]
        if row.narrow:
            tensors = [x.to(getattr(torch, row.narrow)) for x in tensors]
        plain = functools.partial(row.torch, torch)
        found = {}
        for name, function in (("eager", plain), ("compile", None)):
            if name == "compile":
                if not self.compiled or row.unit == "TFLOP/s":
                    continue
                torch._dynamo.reset()  # rows are programs of their own
                function = torch.compile(plain)
            try:
                _, median = timed(lambda: function(*tensors), torch.cuda.synchronize, self.seconds)
                found[f"torch_{name}"] = rate(row, median)
            except Exception as error:  # the peer's own failure is a cell of the table
                found[f"torch_{name}"] = type(error).__name__
        del tensors
        torch.cuda.empty_cache()
        return found


class OtherTorch:
    """PyTorch of another interpreter. Ends with the bench; a process that died is an EOFError."""

    def __init__(self, python: str, quick: bool, seconds: float, compiled: bool):
        command = [python, str(Path(__file__)), "--seconds", str(seconds)]
        command += ["--quick"] if quick else []
        command += [] if compiled else ["--no-compile"]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.sees_gpu = self.answer()

    def measure(self, row: Row) -> dict:
        self.process.stdin.write(row.name + "\n")
        self.process.stdin.flush()
        return self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if not line:
            raise EOFError(f"the interpreter of --torch-python ended with {self.process.wait()}")
        return json.loads(line)


def serve(arguments: list[str]) -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--seconds", type=float, required=True)
    parser.add_argument("--no-compile", dest="compile", action="store_false")
    options = parser.parse_args(arguments)
    answers, sys.stdout = sys.stdout, sys.stderr  # what libraries print is no answer
    torch = Torch(Pool(), options.seconds, options.compile)
    rows = {row.name: row for row in table(options.quick)}
    print(json.dumps(torch.sees_gpu), file=answers, flush=True)
    for line in sys.stdin:
        print(json.dumps(torch.measure(rows[line.rstrip("\n")])), file=answers, flush=True)


if __name__ == "__main__":
    serve(sys.argv[1:])
