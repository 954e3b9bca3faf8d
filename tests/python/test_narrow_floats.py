"""float16 and bfloat16: every operation is the float32 one, rounded once; reductions keep float32 on the way."""

import graphc as gc
import numpy as np
import pytest
from support import exact

ml_dtypes = pytest.importorskip("ml_dtypes")
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
HALF = np.dtype("float16")


def every(dtype):
    return np.arange(0x10000, dtype="u2").view(dtype)


def assert_bits(got, want, what=""):
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype, what
    nan = np.isnan(want.astype("f4"))
    assert np.array_equal(np.isnan(got.astype("f4")), nan), what
    assert np.array_equal(got.view("u2")[~nan], want.view("u2")[~nan]), what


@pytest.mark.parametrize("dtype", [HALF, BFLOAT16], ids=str)
def test_arithmetic_has_numpys_bits(dtype):
    x = every(dtype)
    y = np.roll(x[np.random.default_rng(1).permutation(x.size)], 7)
    g, h = gc.asarray(x), gc.asarray(y)
    with np.errstate(all="ignore"):
        for got, want in [
            (g + h, x + y), (g - h, x - y), (g * h, x * y), (g / h, x / y), (gc.sqrt(abs(g)), np.sqrt(abs(x))), (-g, -x),
            (gc.floor(g), np.floor(x)), (g * h + g, (x * y) + x), (gc.where(g < h, g, h), np.where(x < y, x, y)),
        ]:  # fmt: skip
            assert_bits(got, want)
        for got, want in [(g < h, x < y), (g == h, x == y), (gc.isnan(g), np.isnan(x))]:
            assert np.array_equal(np.asarray(got), want)


@pytest.mark.parametrize("dtype", [HALF, BFLOAT16], ids=str)
def test_conversions_round_once(dtype):
    rng = np.random.default_rng(2)
    single = rng.integers(0, 2**32, 50000, dtype="u4").view("f4")
    with np.errstate(all="ignore"):
        assert_bits(gc.asarray(single).astype(dtype), single.astype(dtype))
        assert_bits(gc.asarray(np.arange(-3000, 3000)).astype(dtype), np.arange(-3000, 3000).astype(dtype))
    x = every(dtype)
    exact.assert_same(gc.asarray(x).astype("float64"), x.astype("f8"))
    with np.errstate(all="ignore"):
        double = rng.normal(size=50000)
        if dtype == HALF:  # ml_dtypes goes through float32
            assert_bits(gc.asarray(double).astype(dtype), double.astype(dtype))
    middle = np.array([1 + 2.0**-8 + 2.0**-40])  # above the middle of two bfloat16, in the middle as float32
    assert float(gc.asarray(middle).astype("bfloat16")[0]) == 1 + 2.0**-7


@pytest.mark.parametrize("dtype", [HALF, BFLOAT16], ids=str)
def test_reductions_keep_float32(dtype):
    x = np.random.default_rng(3).normal(size=(40, 300)).astype(dtype)
    g, wide = gc.asarray(x), gc.asarray(x.astype("f4"))
    for name in ("sum", "prod", "mean", "max", "min", "cumulative_sum"):
        function = getattr(gc, name)
        assert_bits(function(g, axis=1), np.asarray(function(wide, axis=1)).astype(dtype), name)
    assert_bits(g @ g.T, np.asarray(wide @ wide.T).astype(dtype))
    assert np.array_equal(np.asarray(gc.argmax(g, axis=0)), np.argmax(x.astype("f4"), axis=0))


def test_bfloat16_is_a_dtype():
    g = gc.asarray([1.5, 2.5], dtype="bfloat16")
    assert g.dtype == BFLOAT16 == gc.bfloat16 and g.itemsize == 2
    assert (g + gc.asarray(np.ones(2, HALF))).dtype == np.float32
    assert (g + 1.5).dtype == BFLOAT16 and (g + gc.asarray(np.ones(2, "i2"))).dtype == np.float32
    assert gc.finfo(gc.bfloat16).eps == 2.0**-7 and gc.isdtype("bfloat16", "real floating")
    assert gc.can_cast("bfloat16", "float32") and not gc.can_cast("float32", "bfloat16")
    assert "bfloat16" in repr(g) and float(g[1]) == 2.5
    assert_bits(gc.nextafter(g, gc.asarray([9, 9], dtype="bfloat16")), np.array([1.5 + 2.0**-7, 2.5 + 2.0**-6], BFLOAT16))


@pytest.mark.parametrize("name", ["deg2rad", "rad2deg", "radians", "degrees"])
def test_angles_are_rounded_once(name):
    for host in (np.arange(200, dtype=np.uint8), np.linspace(-400, 400, 999).astype(np.float16)):
        ours, theirs = np.asarray(getattr(gc, name)(gc.asarray(host))), getattr(np, name)(host)
        assert ours.dtype == theirs.dtype and ours.tolist() == theirs.tolist()
