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


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", ["f4", "f8"])
def test_extremes_beside_nan_and_infinities(dtype, kind):
    nan, inf = np.nan, np.inf
    x = np.array([1, nan, -inf, 3, nan, inf, -2, 0.5, -0.5], dtype)
    y = np.array([nan, nan, 5, inf, 2, -inf, -inf, 0.25, 1], dtype)
    with of_kind(kind):
        for name in ("fmax", "fmin"):
            for u, v in ((x, y), (y, x), (x[5:], y[5:]), (x[7:], y[7:]), (x, 2.5)):
                a, b = gc.array(u), gc.array(v) if isinstance(v, np.ndarray) else v
                assert_same(getattr(gc, name)(a, b), getattr(np, name)(u, v))
            for u in (x, y, x[2:4], x[[1, 4]], x[6:], x[7:8], np.full(70, -inf, dtype), np.tile(x, 40)):
                reduce, theirs = getattr(gc, name).reduce, getattr(np, name).reduce
                assert_same(reduce(gc.array(u)), theirs(u))
                assert_same(reduce(gc.array(u), keepdims=True), theirs(u, keepdims=True))
                assert_same(reduce(gc.array(np.stack([u, u[::-1]])), axis=(0, 1)), theirs(np.stack([u, u[::-1]]), axis=(0, 1)))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [*INTEGERS, "u2", "?"])
def test_sums_of_long_rows_wrap(dtype, kind):
    rng = np.random.default_rng(7)
    ends = (0, 1) if dtype == "?" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
    with of_kind(kind):
        for count in (63, 64, 65, 1000, 4099):
            x = rng.integers(*ends, (3, count), endpoint=True, dtype=np.dtype(dtype))
            a = gc.array(x)
            for given in ({}, {"dtype": dtype}):
                assert_same(a.sum(axis=1, **given), x.sum(axis=1, **given))
                assert_same(a[1].sum(**given), x[1].sum(**given))
                assert_same(gc.add.reduce(a[:, ::2], axis=1, **given), np.add.reduce(x[:, ::2], axis=1, **given))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [*INTEGERS, "?", "f4", "f8"])
def test_functions_that_compute_in_float64(dtype, kind):
    x = (np.arange(12) % 2 if dtype == "?" else np.arange(12)).astype(dtype)
    k = np.array([1, 4, 1, 0, 7, 2, 2, 2, 1, 0, 3, 3])
    with of_kind(kind):
        for _ in range(2):
            a = gc.array(x)
            assert_same(gc.bincount(gc.array(k), a), np.bincount(k, x))
            for power in (2, 0.5, 3.0, True):
                assert np.allclose(np.asarray(gc.float_power(a, power)), np.float_power(x, power), rtol=1e-14)
                assert gc.float_power(a, power).dtype == np.float_power(x, power).dtype
            assert_same(gc.rint(a), np.rint(x))
            assert_same(gc.deg2rad(a), np.deg2rad(x))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [*INTEGERS, "?", "f2", "f4", "f8", "c8", "c16"])
def test_bytes_in_the_other_order(dtype, kind):
    x = (np.arange(1, 13) % 100).astype(dtype)
    with of_kind(kind):
        for _ in range(2):
            a = gc.array(x)
            for swapped in (a.byteswap(), a.byteswap(False), a[::2].byteswap().byteswap()):
                assert type(swapped) is gc.ndarray
            assert np.asarray(a.byteswap()).tobytes() == x.byteswap().tobytes()
            assert np.asarray(a[::-3].byteswap()).tobytes() == x[::-3].byteswap().tobytes()
            assert np.asarray(a).tobytes() == x.tobytes()
            assert a.byteswap(inplace=True) is a and np.asarray(a).tobytes() == x.byteswap().tobytes()
            assert a.byteswap(True) is a and np.asarray(a).tobytes() == x.tobytes()


@pytest.mark.parametrize("size", [5, 6000])
@pytest.mark.parametrize("dtype", ["f8", "f4", "f2"])
@pytest.mark.parametrize("name", ["fmax", "fmin"])
def test_extremes_beside_a_number(name, dtype, size):
    few = np.array([1, -1, 0.0, -0.0, np.nan, np.inf, -np.inf, 0.2, 3e4], dtype)
    x = np.resize(few, size)
    for number in (0.2, 0.0, -0.0, 1, 0, 2**60, 1e300, np.nan, np.inf, np.float64(0.2), np.float32(0.2), True):
        for order in (lambda f, a: f(a, number), lambda f, a: f(number, a)):  # noqa: B023
            with np.errstate(all="ignore"), gc.errstate(all="ignore"):
                found, wanted = np.asarray(order(getattr(gc, name), gc.array(x))), order(getattr(np, name), x)
                assert found.dtype == wanted.dtype  # of zeros, NumPy's are either
                np.testing.assert_array_equal(found, wanted)
    least = np.asarray(gc.fmin(gc.array(few), 0.0))[2:4], np.asarray(gc.fmax(gc.array(few), -0.0))[2:4]
    assert [np.signbit(v).tolist() for v in least] == [[False, True], [False, True]]  # of zeros, -0.0 is smaller


@pytest.mark.parametrize("kind", KINDS)
def test_divmod_beside_a_number(kind):
    with of_kind(kind):
        for x in (np.arange(-9, 9), np.arange(-4, 5).astype("i1"), np.linspace(-2, 2, 9), np.linspace(-2, 2, 9).astype("f4")):
            for call in (lambda m, a: m.divmod(a, 3), lambda m, a: m.divmod(7, a + 20), lambda m, a: m.divmod(a, np.int64(3)), lambda m, a: m.divmod(a, a + 20)):
                for found, wanted in zip(call(gc, gc.array(x)), call(np, x)):
                    assert_same(found, wanted)
    with pytest.raises(OverflowError):
        gc.divmod(gc.zeros(3, "i1"), 1000)
