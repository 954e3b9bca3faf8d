"""The rows of the table: inputs, the program of `programs.py` that is run on them, how its result is checked, and what
the machine's limit for it is. `rows(quick)` gives them with full sizes or with sizes that only show that it runs."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Callable

import numpy as np

import array_networks
import checks
import indexing

F4, F8, I8 = np.float32, np.float64, np.int64


@dataclass(frozen=True)
class Limit:
    """`loop` of limits.c over `bytes` a stream, `times` times; or `flops` of an FMA loop."""

    loop: str
    bytes: int = 0
    times: int = 1
    flops: float = 0


@dataclass(frozen=True)
class Row:
    name: str
    program: str  # a function of programs.py; every contender has it or its own form
    inputs: Callable[[np.random.Generator], list]  # NumPy arrays, in the program's order
    check: Callable  # (outputs, inputs, params) -> what is wrong, or None
    params: dict = field(default_factory=dict)
    bytes: float = 0  # that any program must move
    flops: float = 0
    limit: Limit | None = None
    target: dict = field(default_factory=dict)  # limit: at most, best: at least, us: at most, <peer>: at least
    without: dict = field(default_factory=dict)  # contender: why it is left out
    fresh: bool = True  # the result is large: peers that write to a given array show it as a contender of its own
    loop: str | None = None  # a function of indexing.c, which is the limit then
    jitted: bool = True  # graphc runs the program jitted, else as it is written


def uniform(*shape, count=1, dtype=F4, low=0.0, high=1.0):
    def make(rng):
        return [(rng.random(shape, dtype) * dtype(high - low) + dtype(low)) for _ in range(count)]

    return make


def normal(*shapes, dtype=F4):
    return lambda rng: [rng.standard_normal(shape, dtype) for shape in shapes]


SLOW = "takes minutes"
FORTY_EIGHT, SIXTY_FOUR = 48**3, 64**3


def elementwise(quick: bool) -> list[Row]:
    n = 1 << 12 if quick else 1 << 24
    triad = Limit("triad", 4 * n)
    two = uniform(n, count=2, low=-1.0)
    return [
        Row("a*b+1", "mul_add", two, checks.close(1e-6), bytes=12 * n, limit=triad,
            target={"limit": 1.15, "best": 2}),
        Row("a*b+exp(-a)*tanh(b)", "chain", two, checks.close(1e-5), bytes=12 * n, limit=triad,
            target={"limit": 1.25, "best": 3}),
        Row("a += b", "update", two, checks.close(1e-6), bytes=12 * n, limit=Limit("inplace", 4 * n), fresh=False),
        Row("sum(sin(a)*2+b)", "sin_sum", two, checks.close(1e-4), bytes=8 * n, limit=Limit("read2", 4 * n),
            target={"limit": 1.2, "best": 1.3}, fresh=False),
        Row("logistic map int64", "logistic", lambda rng: [np.arange(1, 2 * n + 1, dtype=I8)], checks.logistic,
            params={"steps": 10}, bytes=32 * n, limit=Limit("copy", 16 * n), target={"limit": 1.6, "best": 24}),
        Row("pi, given points", "pi", uniform(n, count=2), checks.counted, bytes=8 * n, limit=Limit("read2", 4 * n),
            target={"limit": 1.1}, fresh=False),
        Row("pi with generator", "pi_random", lambda rng: [], checks.monte_carlo, params={"n": n}, fresh=False),
    ]


def reductions(quick: bool) -> list[Row]:
    side = 64 if quick else 4096
    n = side * side
    one, square, read = uniform(n), uniform(side, side), Limit("read", 4 * n)
    sort = 1 << 10 if quick else 1 << 22

    def of(name, program, target, inputs=square, **more):
        return Row(name, program, inputs, more.pop("check", checks.close(1e-4)), bytes=4 * n, limit=read, target=target,
                   fresh=False, **more)

    return [
        of("sum", "total", {"limit": 1.05}, one),
        of("sum axis 0", "sum_axis", {"limit": 1.10}, params={"axis": 0}),
        of("sum axis 1", "sum_axis", {"limit": 1.05}, params={"axis": 1}),
        of("argmax", "argmax", {"limit": 1.1}, normal(n), check=checks.equal),
        Row("cumsum", "cumsum", one, checks.close(1e-3), bytes=8 * n, limit=Limit("copy", 4 * n),
            target={"limit": 1.5, "best": 5}, without={"tinygrad": SLOW}),
        Row("sort", "sort", normal(sort), checks.equal, bytes=8 * sort, target={"best": 1.5},
            without={"tinygrad": SLOW}),
    ]


def rows_of_a_matrix(quick: bool) -> list[Row]:
    side = 64 if quick else 4096
    n = side * side
    copy = Limit("copy", 4 * n)
    return [
        Row("softmax", "softmax", normal((side, side)), checks.close(1e-4), bytes=8 * n, limit=copy,
            target={"limit": 1.6, "best": 3}),
        Row("layernorm", "layernorm", normal((side, side), (side,), (side,)), checks.close(1e-4), bytes=8 * n,
            limit=copy, target={"limit": 1.2, "best": 3}),
        Row("bias+gelu(tanh)", "gelu", normal((side, side), (side,)), checks.close(1e-4), bytes=8 * n, limit=copy,
            target={"limit": 1.3, "best": 3}),
        Row("transpose", "transpose", normal((side, side)), checks.equal, bytes=8 * n, limit=copy,
            target={"limit": 1.5, "best": 5}),
    ]


def fourier(quick: bool) -> list[Row]:
    n, found = 512 if quick else 100_000, []
    for dtype, tag, tolerance, best in ((F4, "f32", 1e-4, 1.5), (F8, "f64", 1e-9, 3)):
        for terms in (50, 200, 800):
            def inputs(rng, terms=terms, dtype=dtype):
                odd = 2 * np.arange(terms) + 1
                return [np.linspace(0, np.pi, n).astype(dtype), odd.astype(dtype), (4 / np.pi / odd).astype(dtype)]

            found.append(Row(f"Fourier+derivative K={terms} {tag}", "fourier", inputs, checks.fourier(tolerance),
                             params={"step": np.pi / (n - 1)}, target={"best": best}, fresh=False,
                             without={"tinygrad": SLOW} if terms == 800 or dtype == F8 else {}))
    return found


def products(quick: bool) -> list[Row]:
    found = []
    for dtype, tag in ((F4, "f32"), (F8, "f64")):
        for n in (16, 24, 32) if quick else (64, 256, 1024, 2048):
            flops = 2.0 * n**3
            found.append(Row(f"matmul {tag} {n}", "matmul", normal((n, n), (n, n), dtype=dtype), checks.product,
                             flops=flops, limit=Limit("fma32" if dtype is F4 else "fma64", flops=flops),
                             target={"best": 1.0} | ({"limit": 1.12} if n >= 256 else {}), fresh=False,
                             without={"tinygrad": SLOW} if n >= 1024 else {}))
    shapes = ((8, 27), (8, 64)) if quick else ((n, g) for n in (256, 512) for g in (FORTY_EIGHT, SIXTY_FOUR))
    for n, g in shapes:
        flops = 2.0 * n * n * g
        common = {"flops": flops, "limit": Limit("fma64", flops=flops), "fresh": False,
                  "without": {"tinygrad": SLOW, "numba": "calls NumPy's kind of BLAS"}}
        size = f"{n},{round(g ** (1 / 3))}^3"
        found.append(Row(f"GPAW integrate {size}", "integrate", normal((n, g), (n, g), dtype=F8), checks.product,
                         target={"limit": 1.2, "best": 1.2}, **common))
        found.append(Row(f"GPAW rotate {size}", "matmul", normal((n, n), (n, g), dtype=F8), checks.product,
                         target={"limit": 1.2, "best": 1.5}, **common))
    return found


def loops(quick: bool) -> list[Row]:
    side, grid = (32, 24) if quick else (2000, 1000)
    real, imaginary = (np.linspace(*ends, grid) for ends in ((-2.25, 0.75), (-1.25, 1.25)))
    plane = [np.ascontiguousarray(p) for p in np.broadcast_arrays(real[None, :], imaginary[:, None])]
    return [
        Row("Jacobi, 50 sweeps", "jacobi", uniform(side, side), checks.close(1e-5), params={"sweeps": 50},
            bytes=50 * 8 * side**2, limit=Limit("copy", 4 * side**2, times=50),
            target={"torch.compile": 1.0, "numpy": 12}, fresh=False),
        Row("Mandelbrot, 50 steps", "mandelbrot", lambda rng: plane, checks.mostly_equal(0.005), params={"steps": 50},
            target={"jax": 10}, fresh=False),
    ]


def small(quick: bool) -> list[Row]:
    def of(name, program, n, microseconds):
        return Row(name, program, uniform(n, count=3), checks.close(1e-5), target={"us": microseconds}, fresh=False)

    return [of("call a*b+c n=8", "mul_add3", 8, 2), of("call a*b+c n=1000", "mul_add3", 1000, 2.2),
            of("call a*b+c n=100000", "mul_add3", 1000 if quick else 100_000, 20),
            of("call, 10 operations n=8", "ten", 8, 2.5)]


def networks(quick: bool) -> list[Row]:
    def inputs(name, batch):
        pixels = 32 if quick else 224
        # One set of weights for all batches: PyTorch's layers are made once.
        weights = lambda: array_networks.weights(name, np.random.default_rng(1))  # noqa: E731
        return lambda rng: [rng.standard_normal((batch, pixels, pixels, 3), F4), *weights()]

    return [Row(f"{name} test batch {batch}", name, inputs(name, batch), checks.close(1e-4), fresh=False,
                without={c: "not written with it" for c in ("numba", "jax", "tinygrad", "numexpr")})
            for name in ("resnet18", "mobilenet_v2") for batch in (1, 8)]


def rows(quick: bool) -> list[Row]:
    groups = (elementwise, reductions, rows_of_a_matrix, fourier, products, loops, small, networks)
    found = [row for group in groups for row in group(quick)] + indexing.rows(quick, Row)
    return [replace(row, target={}) for row in found] if quick else found  # targets are of the full sizes
