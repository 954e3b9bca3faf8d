"""Complex operations give the same bits on every device as on the CPU; tests/python/test_complex.py has their values."""

import graphc as gc
import numpy as np
import pytest
from test_conformance import compare, has_float64, on

pytestmark = pytest.mark.graphc_only

ARITHMETIC = ("add", "subtract", "multiply", "divide", "minimum", "maximum")
ELEMENTARY = ("exp", "log", "sqrt", "sin", "tanh", "arcsin", "arctanh")


def numbers(count, dtype):
    rng = np.random.default_rng(7)
    z = (rng.normal(0, 3, count) + 1j * rng.normal(0, 3, count)).astype(dtype)
    z[:8] = [0, -0.0, np.inf, -np.inf * 1j, np.nan, 1e30, 1e-30j, complex(-0.0, -0.0)]
    return z


def parts(named):
    """Real arrays: the parts of every complex one."""
    out = {}
    for name, z in named.items():
        if z.dtype.kind == "c":
            out[f"{name}, real"], out[f"{name}, imaginary"] = z.real, z.imag
        else:
            out[name] = z
    return out


def check(device, dtype, build, what):
    if dtype == "complex128" and not has_float64(device):
        pytest.skip(f"{device} has no float64")
    compare(device, lambda where: parts(build(where)), f"{what} of {dtype}")


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_arithmetic(device, dtype):
    x = numbers(1003, dtype)

    def build(where):
        a, b = on(where, [x, np.roll(x, 5)])
        found = {name: getattr(gc, name)(a, b) for name in ARITHMETIC}
        return {**found, "abs": abs(a), "equal": a == b, "less": a < b, "conj": a.conj(), "to bool": a.astype(bool)}

    check(device, dtype, build, "arithmetic")


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("name", ELEMENTARY)
def test_elementary(device, name, dtype):
    check(device, dtype, lambda where: {name: getattr(gc, name)(on(where, [numbers(257, dtype)])[0])}, name)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_combinations(device, dtype):
    x = numbers(61 * 70, dtype)[70:].reshape(60, 70)  # without the edge values, whose sums are NaN

    def build(where):
        (a,) = on(where, [x])
        return {
            "sum": a.sum(), "rows": a.sum(1), "columns": a.mean(0), "prod": a[:, :9].prod(1), "cumsum": gc.cumsum(a, 1),
            "product": a @ a.T, "taken": a[[3, 1, 3], ::-2], "turned": a.T * 2j,
        }  # fmt: skip

    check(device, dtype, build, "combinations")
