"""graphc on an OpenCL device, row by row: time, rate, whether every bit is the CPU's, and PyTorch on CUDA beside it where
that is installed, here or in another interpreter. `tools/dev bench gpu` starts it; nothing else of the bench is used on a device."""

from __future__ import annotations

import argparse
import functools
import json
import statistics
import sys
import time
from pathlib import Path
from typing import Callable

import numpy as np

import programs
from gpu_rows import F4, Pool, Row, rate, table, timed
from gpu_torch import OtherTorch, Torch


def leaves(result) -> list:
    return list(result) if isinstance(result, (tuple, list)) else [result]


def program_of(gc, row: Row) -> Callable:
    return functools.partial(getattr(programs, row.program), gc, **row.params)


def same_bits(x, y) -> bool:
    if x.shape != y.shape or x.dtype != y.dtype:
        return False
    words = f"u{x.dtype.itemsize}"
    if np.array_equal(np.atleast_1d(x).view(words), np.atleast_1d(y).view(words)):
        return True
    return x.dtype.kind == "f" and bool(np.isnan(x).any()) and np.array_equal(x, y, equal_nan=True)


def near(value, want, inputs) -> bool:
    """Whether a fast product is within docs/numerics.md's bound of the exact one, and of what 16 bits round to."""
    x, y = np.asarray(value.astype("float32")), np.asarray(want.astype("float32"))
    rows, columns = np.linalg.norm(inputs[0], axis=1), np.linalg.norm(inputs[1], axis=0)
    bound = inputs[0].shape[1] * 2.0**-22 * np.multiply.outer(rows, columns) + 2.0**-7 * np.abs(y)
    return x.shape == y.shape and bool((np.abs(x - y) <= bound).all())


def torch_of(options, pool: Pool) -> Torch | OtherTorch | None:
    """The peer, when it sees a GPU. What was asked for by --torch-python is there or an error."""
    if options.torch_python:
        found = OtherTorch(options.torch_python, options.quick, options.seconds, options.compile)
        if not found.sees_gpu:
            raise SystemExit(f"bench gpu: PyTorch of {options.torch_python} sees no GPU")
        return found
    try:
        found = Torch(pool, options.seconds, options.compile)
    except ImportError:
        return None
    return found if found.sees_gpu else None


class Bench:
    def __init__(self, options):
        import graphc as gc

        self.gc, self.options, self.pool = gc, options, Pool()
        self.torch = None

    def open_torch(self) -> None:
        self.torch = torch_of(self.options, self.pool)

    def measure(self, row: Row) -> dict:
        gc, device = self.gc, self.options.device
        inputs = row.inputs(self.pool)
        result = {"row": row.name, "unit": row.unit, "goal": row.goal}
        known = {id(x): self.array(row, x, device) for x in inputs}
        arrays = [known[id(x)] for x in inputs]  # one array twice stays one
        gc.eval(*arrays)
        function = gc.jit(program_of(gc, row), fullgraph=True, numerics="fast" if row.fast else "exact")
        start = time.perf_counter()
        with gc.device(device):
            value = function(*arrays)
            gc.eval(value)
        result["first_s"] = time.perf_counter() - start
        if self.options.check:
            with gc.device("cpu"):
                want = gc.jit(program_of(gc, row), fullgraph=True)(*[self.array(row, x, "cpu") for x in inputs])
                gc.eval(want)
            if row.fast:
                result["near"] = near(value, want, inputs)
            else:
                result["same"] = all(same_bits(np.asarray(g), np.asarray(w)) for g, w in zip(leaves(value), leaves(want)))
            del want
        del value
        with gc.device(device):
            best, median = timed(lambda: function(*arrays), lambda: gc.synchronize(device), self.options.seconds)
        result.update(best_ms=best * 1e3, median_ms=median * 1e3, rate=rate(row, median))
        del arrays, function
        if self.torch and row.torch:
            result.update(self.torch.measure(row))
        return result

    def array(self, row: Row, x, device):
        made = self.gc.asarray(x, device=device)
        return made.astype(row.narrow) if row.narrow else made

    def launches(self) -> dict:
        """A warm program of one small kernel: until the call returns, and until its result is on the host."""
        gc, device = self.gc, self.options.device
        x = [gc.asarray(np.arange(8, dtype=F4), device=device) for _ in range(3)]
        function = gc.jit(lambda a, b, c: a * b + c)
        with gc.device(device):
            gc.eval(function(*x))
            enqueue, whole = [], []
            for _ in range(300):
                start = time.perf_counter()
                y = function(*x)
                enqueue.append(time.perf_counter() - start)
                np.asarray(y)
                whole.append(time.perf_counter() - start)
        return {"row": "launch, 8 elements", "unit": "us", "goal": None, "enqueue_us": statistics.median(enqueue) * 1e6,
                "result_us": statistics.median(whole) * 1e6}


def cell(value, digits=3) -> str:
    return "" if value is None else value if isinstance(value, str) else f"{value:.{digits}f}"


def show(result: dict) -> str:
    if "enqueue_us" in result:
        return (f"{result['row']:26} returns after {result['enqueue_us']:.1f} us (goal 5), "
                f"result after {result['result_us']:.1f} us (goal 15)")
    if "error" in result:
        return f"{result['row']:26} failed: {result['error']}"
    bits = {True: "equal", False: "DIFFERENT", None: "unchecked"}[result.get("same")]
    bits = {True: "near", False: "FAR", None: bits}[result.get("near")]
    return (f"{result['row']:26} {result['median_ms']:9.3f} ms {cell(result['rate']):>8} {result['unit']:8}"
            f" goal {cell(result['goal']):>6}  bits {bits:9}  first {result['first_s']:.1f} s"
            f"  torch {cell(result.get('torch_eager')):>7} / {cell(result.get('torch_compile')):>7}")


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="tools/dev bench gpu", description=__doc__)
    parser.add_argument("--device", default="gpu", help="graphc's device (default: %(default)s)")
    parser.add_argument("--rows", action="append", default=[], metavar="TEXT", help="rows whose name contains this; again for more")
    parser.add_argument("--quick", action="store_true", help="small sizes: shows that it runs and that bits are equal")
    parser.add_argument("--seconds", type=float, default=0.4, help="time of a row (default: %(default)s)")
    parser.add_argument("--no-check", dest="check", action="store_false", help="without the run on the CPU")
    parser.add_argument("--no-torch", dest="torch", action="store_false", help="without PyTorch")
    parser.add_argument("--torch-python", metavar="PYTHON", help="the interpreter that has PyTorch, if not this one")
    parser.add_argument("--no-compile", dest="compile", action="store_false", help="without torch.compile")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures")
    parser.add_argument("--build", type=Path, help="build folder with the package")
    options = parser.parse_args(arguments)
    if options.build and (options.build / "python").exists():
        sys.path.insert(0, str(options.build / "python"))
    bench = Bench(options)
    results = []
    # Before the load of the others, which slows the processors down, and before a second process has the GPU.
    if not options.rows:
        results.append(bench.launches())
        print(show(results[-1]), flush=True)
    if options.torch:
        bench.open_torch()
    rows = [r for r in table(options.quick) if not options.rows or any(t in r.name for t in options.rows)]
    for row in rows:
        try:
            results.append(bench.measure(row))
        except (bench.gc.errors.GraphcError, MemoryError) as error:
            results.append({"row": row.name, "error": str(error)[:400]})
        print(show(results[-1]), flush=True)
        if options.json:
            options.json.write_text(json.dumps(results, indent=1))
    return int(any("error" in r or r.get("same") is False or r.get("near") is False for r in results))
