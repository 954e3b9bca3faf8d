"""graphc on an OpenCL device, row by row: time, rate, whether every bit is the CPU's, and PyTorch on CUDA beside it where
that is installed. `tools/dev bench gpu` starts it; nothing else of the bench is used on a device."""

from __future__ import annotations

import argparse
import functools
import json
import statistics
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Callable

import numpy as np

import programs
from contenders import with_torch

F4, F8, I8 = np.float32, np.float64, np.int64


@dataclass(frozen=True)
class Row:
    name: str
    program: str  # of programs.py
    inputs: Callable  # Pool -> NumPy arrays
    unit: str  # "TB/s", "TFLOP/s" or "ms": what `goal` is in; ms: at most, else at least
    goal: float | None
    work: float = 0  # bytes or operations, for the rates
    params: dict = field(default_factory=dict)
    torch: Callable | None = None  # (torch, *tensors) -> tensors; None: no peer
    narrow: str | None = None  # a 16-bit dtype that inputs are converted to
    fast: bool = False  # numerics="fast": the result is near the CPU's


class Pool:
    """Inputs by name, made once: rows share them."""

    def __init__(self):
        self.rng = np.random.default_rng(1)
        self.known = {}

    def uniform(self, key, *shape, dtype=F4, low=-1.0, high=1.0):
        if (key, shape, dtype) not in self.known:
            x = self.rng.random(shape, dtype)
            x *= dtype(high - low)
            x += dtype(low)
            self.known[key, shape, dtype] = x
        return self.known[key, shape, dtype]


def _logistic(torch, x):
    for _ in range(10):
        x = 22 * x * (x + 1) % 6700417
    return x


def _pi(torch, n):
    x, y = torch.rand(n, device="cuda"), torch.rand(n, device="cuda")
    return 4 * torch.count_nonzero(torch.sqrt(x * x + y * y) < 1) / n


def elementwise(n: int, side: int) -> list[Row]:
    two = lambda pool: [pool.uniform("a", n), pool.uniform("b", n)]  # noqa: E731
    rows = lambda pool: [pool.uniform("a", n).reshape(-1, side), pool.uniform("w", side)]  # noqa: E731
    return [
        Row("a*b+1", "mul_add", two, "TB/s", 4.3, 12 * n, torch=lambda torch, a, b: a * b + 1),
        Row("a*b+exp(-a)*tanh(b)", "chain", two, "TB/s", 4.2, 12 * n,
            torch=lambda torch, a, b: a * b + torch.exp(-a) * torch.tanh(b)),
        Row("bias+gelu(tanh)", "gelu", rows, "TB/s", 4.2, 8 * n, torch=with_torch.gelu),
        Row("logistic map int64 x10", "logistic", lambda pool: [np.arange(1, n // 8 + 1, dtype=I8)], "ms", 0.40,
            2 * n, {"steps": 10}, _logistic),
    ]


def reductions(n: int, side: int) -> list[Row]:
    one = lambda pool: [pool.uniform("a", n)]  # noqa: E731
    square = lambda pool: [pool.uniform("a", n).reshape(side, -1)]  # noqa: E731
    return [
        Row("sum", "total", one, "TB/s", 4.55, 4 * n, torch=lambda torch, a: torch.sum(a)),
        Row("sum(sin(a)*2+b)", "sin_sum", lambda pool: [pool.uniform("a", n), pool.uniform("b", n)], "TB/s", 4.3, 8 * n,
            torch=lambda torch, a, b: torch.sum(torch.sin(a) * 2 + b)),
        Row("sum axis 0", "sum_axis", square, "TB/s", 4.4, 4 * n, {"axis": 0}, lambda torch, a: torch.sum(a, 0)),
        Row("sum axis 1", "sum_axis", square, "TB/s", 4.4, 4 * n, {"axis": 1}, lambda torch, a: torch.sum(a, 1)),
        Row("argmax", "argmax", one, "TB/s", None, 4 * n, torch=lambda torch, a: torch.argmax(a)),
        Row("cumsum", "cumsum", one, "TB/s", 2.9, 8 * n, torch=lambda torch, a: torch.cumsum(a, 0)),
    ]


def orders(n: int) -> list[Row]:
    found = []
    for dtype, tag in ((F4, "f32"), (F8, "f64")):
        one = lambda pool, dtype=dtype: [pool.uniform("s", n, dtype=dtype)]  # noqa: E731
        found += [
            Row(f"sort {tag} 2^{n.bit_length() - 1}", "sort", one, "ms", None, torch=lambda torch, a: torch.sort(a, stable=True).values),
            Row(f"argsort {tag} 2^{n.bit_length() - 1}", "argsort", one, "ms", None, torch=lambda torch, a: torch.argsort(a, stable=True)),
        ]
    return found


def matrices(n: int, side: int, wide: int) -> list[Row]:
    rows = lambda pool: [pool.uniform("a", n).reshape(-1, wide)]  # noqa: E731
    return [
        Row("softmax rows", "softmax", rows, "TB/s", 4.1, 8 * n, torch=with_torch.softmax),
        Row("layernorm rows", "layernorm", lambda pool: rows(pool) + [pool.uniform("w", wide), pool.uniform("v", wide)],
            "TB/s", 4.1, 8 * n, torch=with_torch.layernorm),
        Row("transpose", "transpose", lambda pool: [pool.uniform("a", n).reshape(side, -1)], "TB/s", 3.9, 8 * n,
            torch=lambda torch, a: a.T.contiguous()),
    ]


def others(quick: bool) -> list[Row]:
    points, terms, count = (512, 20, 1 << 12) if quick else (100_000, 200, 1 << 28)
    odd, step = 2 * np.arange(terms) + 1, {"step": np.pi / (points - 1)}

    def series(pool):
        return [np.linspace(0, np.pi, points).astype(F4), odd.astype(F4), (4 / np.pi / odd).astype(F4)]

    return [
        Row("Monte-Carlo pi", "pi_random", lambda pool: [], "ms", 0.9, params={"n": count},
            torch=functools.partial(_pi, n=count)),
        Row(f"Fourier K={terms}", "fourier", series, "ms", 0.055, 0, step, functools.partial(with_torch.fourier, **step)),
    ]


def products(quick: bool) -> list[Row]:
    found = []
    product = lambda torch, a, b: a @ b  # noqa: E731
    for dtype, tag, goal in ((F4, "f32", 48.0), (F8, "f64", None)):
        for n in (40, 130) if quick else (1024, 4096, 8192):
            found.append(Row(f"matmul {tag} {n}", "matmul",
                             lambda pool, n=n, dtype=dtype: [pool.uniform("m", n, n, dtype=dtype),
                                                             pool.uniform("k", n, n, dtype=dtype)],
                             "TFLOP/s", goal if n == 8192 else None, 2.0 * n**3, torch=product))
    for n in (130,) if quick else (1024, 4096, 8192):
        found.append(Row(f"matmul bf16 {n}, fast", "matmul", lambda pool, n=n: [pool.uniform("m", n, n), pool.uniform("k", n, n)],
                         "TFLOP/s", 520.0 if n == 8192 else None, 2.0 * n**3, torch=product, narrow="bfloat16", fast=True))
    for n, g in ((8, 27),) if quick else ((256, 48**3), (512, 48**3)):
        size = f"{n},{round(g ** (1 / 3))}^3"
        p = lambda pool, n=n, g=g: pool.uniform("p", n, g, dtype=F8)  # noqa: E731
        found.append(Row(f"GPAW integrate {size}", "integrate", lambda pool, p=p: [p(pool)] * 2, "TFLOP/s", None,
                         2.0 * n * n * g, torch=lambda torch, a, b: a @ b.T))
        found.append(Row(f"GPAW rotate {size}", "matmul",
                         lambda pool, n=n, p=p: [pool.uniform("u", n, n, dtype=F8), p(pool)], "TFLOP/s", None,
                         2.0 * n * n * g, torch=product))
    return found


def table(quick: bool) -> list[Row]:
    n, side, wide = (1 << 14, 128, 256) if quick else (1 << 28, 1 << 14, 4096)
    return elementwise(n, wide) + reductions(n, side) + orders(n >> 4) + matrices(n, side, wide) + others(quick) + products(quick)


def timed(call: Callable, wait: Callable, seconds: float) -> float:
    """Seconds of a call: the best and the median of groups of calls that are waited for together, as (best, median)."""
    call()
    wait()
    start = time.perf_counter()
    call()
    wait()
    once = max(time.perf_counter() - start, 1e-6)
    each = max(1, min(200, int(seconds / 8 / once)))
    found = []
    while len(found) < 5 or sum(found) * each < seconds:
        start = time.perf_counter()
        for _ in range(each):
            call()
        wait()
        found.append((time.perf_counter() - start) / each)
    return min(found), statistics.median(found)


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


class Bench:
    def __init__(self, options):
        import graphc as gc

        self.gc, self.options, self.pool = gc, options, Pool()
        self.torch = None
        if options.torch:
            try:
                import torch

                self.torch = torch if torch.cuda.is_available() else None
            except ImportError:
                pass

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
        result.update(best_ms=best * 1e3, median_ms=median * 1e3, rate=self.rate(row, median))
        del arrays, function
        if self.torch and row.torch:
            self.peers(row, inputs, result)
        return result

    def array(self, row: Row, x, device):
        made = self.gc.asarray(x, device=device)
        return made.astype(row.narrow) if row.narrow else made

    @staticmethod
    def rate(row: Row, seconds: float) -> float:
        return seconds * 1e3 if row.unit == "ms" else row.work / seconds / 1e12

    def peers(self, row: Row, inputs, result: dict) -> None:
        torch = self.torch
        tensors = [torch.from_numpy(x).cuda() for x in inputs]
        if row.narrow:
            tensors = [x.to(getattr(torch, row.narrow)) for x in tensors]
        plain = functools.partial(row.torch, torch)
        for name, function in (("eager", plain), ("compile", None)):
            if name == "compile":
                if not self.options.compile or row.unit == "TFLOP/s":
                    continue
                torch._dynamo.reset()  # rows are programs of their own
                function = torch.compile(plain)
            try:
                _, median = timed(lambda: function(*tensors), torch.cuda.synchronize, self.options.seconds)
                result[f"torch_{name}"] = self.rate(row, median)
            except Exception as error:  # the peer's own failure is a cell of the table
                result[f"torch_{name}"] = f"{type(error).__name__}"
        del tensors
        torch.cuda.empty_cache()

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
    parser.add_argument("--no-compile", dest="compile", action="store_false", help="without torch.compile")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures")
    parser.add_argument("--build", type=Path, help="build folder with the package")
    options = parser.parse_args(arguments)
    if options.build and (options.build / "python").exists():
        sys.path.insert(0, str(options.build / "python"))
    bench = Bench(options)
    results = []
    rows = [r for r in table(options.quick) if not options.rows or any(t in r.name for t in options.rows)]
    for row in rows:
        try:
            results.append(bench.measure(row))
        except (bench.gc.errors.GraphcError, MemoryError) as error:
            results.append({"row": row.name, "error": str(error)[:400]})
        print(show(results[-1]), flush=True)
        if options.json:
            options.json.write_text(json.dumps(results, indent=1))
    if not options.rows:
        results.append(bench.launches())
        print(show(results[-1]), flush=True)
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))
    return int(any("error" in r or r.get("same") is False or r.get("near") is False for r in results))
