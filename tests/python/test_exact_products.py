"""A power of two times a value that is known to be of moderate size, plus another one: compiled as one operation, whose bits
are those of the product and the sum, each rounded."""

import graphc as gc
import numpy as np
import pytest
from support import exact

pytestmark = pytest.mark.graphc_only

ENDS = np.array([0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324, -1e-310, 2.0**-126, 1e308, -1e308, 1.0, -1.0])
LENGTH = 4099

# the first factor, the power of two, what is done with the product; whether it is one operation
CASES = {
    "sine": (lambda x, i: gc.sin(x), 2.0, lambda p, y: p + y, True),
    "cosine from a number": (lambda x, i: gc.cos(x), 4.0, lambda p, y: y - p, True),
    "negative power": (lambda x, i: gc.tanh(x), -8.0, lambda p, y: p - y, True),
    "integer": (lambda x, i: i.astype(x.dtype), 2.0**-40, lambda p, y: 1 - p, True),
    "scaled integer": (lambda x, i: i.astype(x.dtype) * 3.25, 2.0**20, lambda p, y: p - y, True),
    "rounded angle": (lambda x, i: gc.floor(gc.atan(x) * 7), 0.25, lambda p, y: p + y, True),
    "half, which denormal sines lose bits by": (lambda x, i: gc.sin(x), 0.5, lambda p, y: p + y, False),
    "any number, which may overflow": (lambda x, i: x, 2.0, lambda p, y: p + y, False),
    "any number of moderate size": (lambda x, i: gc.sin(x), 3.0, lambda p, y: p + y, False),
    "beyond the largest": (lambda x, i: i.astype(x.dtype) * 2.0**60, 2.0**20, lambda p, y: p + y, None),
}


def operands(dtype):
    rng = np.random.default_rng(5)

    def some(order):
        wide = rng.standard_normal(LENGTH) * np.exp(20 * rng.standard_normal(LENGTH))
        return np.concatenate([wide, order(ENDS)]).astype(dtype)

    with np.errstate(over="ignore"):
        x, y = some(lambda ends: np.repeat(ends, len(ends))), some(lambda ends: np.tile(ends, len(ends)))
    return x, y, rng.integers(-(2**62), 2**62, len(x))


@pytest.mark.parametrize("dtype", ("float16", "float32", "float64"))
@pytest.mark.parametrize("name", CASES)
def test_one_rounding_is_two(name, dtype, device):
    factor, power, rest, _ = CASES[name]
    given = [gc.asarray(a, device=device) for a in operands(dtype)]
    with gc.errstate(all="ignore"), gc.device(device):
        found = np.asarray(gc.jit(lambda x, y, i: rest(factor(x, i) * power, y))(*given))
        alone = np.asarray(factor(given[0], given[2]))
        want = rest(alone * alone.dtype.type(power), np.asarray(given[1]))
    exact.assert_same(found, want)


@pytest.mark.parametrize("name", CASES)
def test_only_exact_products_are_one_operation(name):
    factor, power, rest, fused = CASES[name]
    x, y, i = operands("float64")

    def text(scale):
        program = gc.jit(lambda x, y, i: rest(factor(x, i) * scale, y)).lower(gc.asarray(x), gc.asarray(y), gc.asarray(i))
        return program.as_text("lower").count("math.fma")

    # A factor that is no power of two has the same operations but for the last one.
    assert fused is None or (text(power) > text(power * 1.25)) == fused


def test_products_that_are_needed_themselves_stay():
    x = gc.asarray(np.linspace(-3, 3, 100))

    def both(x):
        p = gc.sin(x) * 2
        return p + x, p

    total, product = gc.jit(both)(x)
    exact.assert_same(np.asarray(total), np.asarray(product) + np.asarray(x))
