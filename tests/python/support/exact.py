"""Bit comparisons, units in the last place, and a correctly rounded fma, with NumPy alone."""

import ctypes
import ctypes.util

import numpy as np

_UINT = {1: np.uint8, 2: np.uint16, 4: np.uint32, 8: np.uint64}


def bits(x):
    """The bit patterns of an array; every NaN becomes one pattern, since payloads carry no meaning here."""
    x = np.array(x)  # a copy
    if x.dtype.kind == "f":
        x[np.isnan(x)] = np.nan
    return np.ascontiguousarray(x).view(_UINT[x.dtype.itemsize]).reshape(x.shape)


def assert_same(got, want, what=""):
    """Equal dtype, shape and bits (NaN payloads aside)."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype, f"{what}: dtype {got.dtype}, expected {want.dtype}"
    assert got.shape == want.shape, f"{what}: shape {got.shape}, expected {want.shape}"
    differ = bits(got) != bits(want)
    if differ.any():
        first = tuple(int(i) for i in np.argwhere(differ)[0])
        raise AssertionError(
            f"{what}: {int(differ.sum())} of {differ.size} elements differ, first at {first}: "
            f"{got[first]!r}, expected {want[first]!r}"
        )


def ulp_distance(got, exact, size=None):
    """|got - exact| in units of the last place of `got`'s dtype at `size`, by default `exact` (a wider float). NaN meets
    NaN at 0; an infinity meets what rounds to it at 0."""
    got = np.asarray(got)
    kind = got.dtype.type
    exact = np.asarray(exact)
    with np.errstate(all="ignore"):
        rounded = exact.astype(kind)
        place = np.abs(rounded if size is None else np.asarray(size).astype(kind))
        step = np.spacing(np.maximum(place, np.finfo(kind).tiny)).astype(exact.dtype)
        step = np.where(np.isfinite(step), step, np.spacing(np.finfo(kind).max).astype(exact.dtype))
        off = np.abs(got.astype(exact.dtype) - exact) / step
    same = (np.isnan(got) & np.isnan(exact)) | (got == rounded)
    return np.where(same & ~np.isfinite(off), 0, np.where(np.isnan(off), np.inf, off))


def two_sum(a, b):
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def two_product(a, b):
    def split(x):
        c = x * 134217729.0
        high = c - (c - x)
        return high, x - high

    p = a * b
    ah, al = split(a)
    bh, bl = split(b)
    return p, ((ah * bh - p) + ah * bl + al * bh) + al * bl


def _round_odd(s, error):
    """s + error rounded to odd, given that s is the nearest double: rounding again to fewer bits is then right."""
    raw = s.view(np.int64)
    even = (raw & 1) == 0
    toward = np.where((error > 0) == (s > 0), raw + 1, raw - 1)
    return np.where((error != 0) & even, toward, raw).view(np.float64)


def fma(a, b, c):
    """a * b + c rounded once, elementwise, for finite values far from over- and underflow. float32 or float64."""
    a, b, c = np.broadcast_arrays(a, b, c)
    if a.dtype == np.float32:
        product = a.astype(np.float64) * b.astype(np.float64)  # exact: 48 bits
        s, error = two_sum(product, c.astype(np.float64))
        return _round_odd(np.ascontiguousarray(s), error).astype(np.float32)
    uh, ul = two_product(a, b)
    th, tl = two_sum(c, ul)
    vh, vl = two_sum(uh, th)
    s, error = two_sum(tl, vl)
    return vh + _round_odd(np.ascontiguousarray(s), error)


def libm_fma(dtype):
    """The C library's fma for one element type, special values included; slow (one call an element)."""
    lib = ctypes.CDLL(ctypes.util.find_library("m"))
    name, ctype = ("fmaf", ctypes.c_float) if np.dtype(dtype) == np.float32 else ("fma", ctypes.c_double)
    function = getattr(lib, name)
    function.restype, function.argtypes = ctype, [ctype] * 3

    def apply(a, b, c):
        a, b, c = np.broadcast_arrays(a, b, c)
        out = np.empty(a.shape, dtype)
        flat = out.reshape(-1)
        triples = zip(a.ravel().tolist(), b.ravel().tolist(), c.ravel().tolist())
        for i, (x, y, z) in enumerate(triples):
            flat[i] = function(x, y, z)
        return out

    return apply
