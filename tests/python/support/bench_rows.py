"""The programs of tools/bench on arrays of middle size: large enough for several threads, small enough for a test."""

import functools
import pathlib
import sys

import numpy as np

import graphc as gc

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "tools" / "bench"))
import programs  # noqa: E402


def rows() -> dict:
    """Of each row its program over graphc and its arguments."""
    rng = np.random.default_rng(11)

    def normal(*shape, dtype="float32"):
        return rng.standard_normal(shape).astype(dtype)

    a, b, x, y = normal(150_001), normal(150_001), normal(200, 700), rng.random(70_001).astype("float32")
    line = normal(700)
    odd = (2 * np.arange(50) + 1).astype("float32")
    found = {
        "mul_add": ((a, b), {}), "chain": ((a, b), {}), "sin_sum": ((a, b), {}), "total": ((a,), {}),
        "sum_axis 0": ((x,), {"axis": 0}), "sum_axis 1": ((x,), {"axis": 1}), "argmax": ((a,), {}), "cumsum": ((a,), {}),
        "sort": ((a,), {}), "softmax": ((x,), {}), "layernorm": ((x, line, line + 1), {}), "gelu": ((x, line), {}),
        "transpose": ((x,), {}), "logistic": ((rng.integers(0, 1 << 40, 30_001),), {"steps": 10}), "pi": ((y, y[::-1].copy()), {}),
        "fourier": ((np.linspace(0, np.pi, 5000, dtype="float32"), odd, 1 / odd), {"step": 1e-3}),
        "mandelbrot": ((normal(60, 200), normal(60, 200)), {"steps": 20}), "ten": ((a, b, b + 1), {}),
        "jacobi": ((normal(130, 150),), {"sweeps": 4}),
    }
    for dtype in ("float32", "float64"):
        for m, k, n in ((64, 64, 64), (301, 700, 203), (100, 4700, 65)):
            found[f"matmul {dtype} {m}x{k}x{n}"] = ((normal(m, k, dtype=dtype), normal(k, n, dtype=dtype)), {})
        found[f"integrate {dtype}"] = ((normal(90, 5000, dtype=dtype), normal(80, 5000, dtype=dtype)), {})
    result = {}
    for name, (arguments, parameters) in found.items():
        program = getattr(programs, name.split()[0])
        result[name] = functools.partial(program, gc, **parameters), [gc.asarray(v) for v in arguments]
    return result
