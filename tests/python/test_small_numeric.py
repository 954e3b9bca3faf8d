"""`fmod`, `fmax`, `fmin` and inner products of small arrays: computed where they are met, with NumPy's values and the bits of kernels."""

import warnings

import graphc as gc
import numpy as np
import pytest
from graphc import _graphc
from support.loops import KINDS, assert_same, in_turns, of_kind

pytestmark = pytest.mark.graphc_only

INTEGERS = ("i1", "u1", "i2", "i4", "u4", "i8", "u8")


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["fmod", "fmax", "fmin"])
@pytest.mark.parametrize("dtype", [*INTEGERS, "f4", "f8"])
def test_exact_functions_of_numbers(dtype, name, kind):
    rng = np.random.default_rng(5)
    least = np.iinfo(dtype).min if dtype in INTEGERS else -7.5
    x = np.concatenate([rng.integers(0 if dtype[0] == "u" else -50, 50, 60), [0, 1]]).astype(dtype)
    x[3] = least
    y = rng.integers(1, 9, 62).astype(dtype)
    if dtype[0] != "u":
        y[:20] = -y[:20]
        y[3] = -1
    a, b = gc.array(x), gc.array(y)
    with of_kind(kind):
        for _ in range(2):
            for u, v, c, d in ((x, y, a, b), (x, 3, a, 3), (7, y, 7, b), (x.reshape(2, 31), y[:31], a.reshape(2, 31), b[:31]), (x, 2.5, a, 2.5), (x[::-1], y, a[::-1], b)):
                assert_same(getattr(gc, name)(c, d), getattr(np, name)(u, v))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_divisors_of_zero_and_numbers_that_are_none(kind):
    x, y = np.array([5, -7, 0]), np.array([2, 0, 0])
    z = np.array([1 + 1j, complex(np.nan, 0), 2, complex(0, np.inf)])
    w = np.array([2, 1, complex(1, np.nan), 3])
    with of_kind(kind):
        for _ in range(2):
            assert_same(gc.fmod(gc.array(x), gc.array(y)), np.fmod(x, y))
            for name in ("fmax", "fmin"):
                for u, v in ((z, w), (z[:1], w[:1]), (z, z)):
                    assert_same(getattr(gc, name)(gc.array(u), gc.array(v)), getattr(np, name)(u, v))


@pytest.mark.parametrize("dtype", ["f4", "f8", "i4", "i8"])
def test_inner_products_are_those_of_kernels(dtype):
    rng = np.random.default_rng(6)
    for count in (1, 2, 31, 64, 255, 256, 257, 1000, 2048):
        x, y = ((rng.random(2 * count) * 100 - 40).astype(dtype) for _ in range(2))

        def products():
            a, b = gc.array(x), gc.array(y)
            return [np.asarray(a[:count] @ b[:count]).tobytes(), np.asarray(gc.dot(a[::2], b[::-2])).tobytes()]

        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            assert in_turns(_graphc.NEVER, products) == in_turns(0, products)
