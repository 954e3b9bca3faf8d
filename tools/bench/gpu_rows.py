"""The rows of `tools/dev bench gpu`: programs, inputs, what counts and the goals on an H200."""

from __future__ import annotations

import functools
import statistics
import time
from dataclasses import dataclass, field
from typing import Callable

import numpy as np

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
                         "TFLOP/s", 740.0 if n == 8192 else None, 2.0 * n**3, torch=product, narrow="bfloat16", fast=True))
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


def rate(row: Row, seconds: float) -> float:
    """In the row's unit."""
    return seconds * 1e3 if row.unit == "ms" else row.work / seconds / 1e12


def timed(call: Callable, wait: Callable, seconds: float) -> tuple[float, float]:
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
