"""What every elementwise op must give, as NumPy code: NumPy itself where it agrees, and the documented differences.

`expected(op, arrays)` returns (value, exact): `value` has the result's dtype when `exact` is None; otherwise `exact` is
the result in a wider float, to be compared with the op's ulp bound.
"""

import ctypes
import ctypes.util
import os

import numpy as np

from . import exact as ex
from . import optable

#: NumPy in graphc's place keeps no published bound: its float32 functions are off by up to 4 ulp.
ORACLE_SLACK = 4 if os.environ.get("GRAPHC_TEST_ORACLE") == "1" else 1

WIDER = {np.dtype("float16"): np.dtype("float64"), np.dtype("float32"): np.dtype("float64"), np.dtype("float64"): np.dtype("longdouble")}


def promoted(op, arrays):
    if op.name in ("logical_and", "logical_or", "logical_xor", "logical_not"):
        return [a.astype(bool) for a in arrays]
    if op.promote_to_float:
        arrays = [a if a.dtype.kind == "f" else a.astype(optable.float_of(op, a.dtype)) for a in arrays]
    if op.promote_bool:
        arrays = [a.astype(np.int8) if a.dtype == bool else a for a in arrays]
    return arrays


def _integer_pow(x, y):
    """Wraps; a negative exponent gives the truncated float result (NumPy raises)."""
    if x.dtype.kind == "f":
        raise AssertionError("floats are compared by ulp")
    with np.errstate(all="ignore"):
        result = np.power(x, np.where(y < 0, 0, y).astype(x.dtype))
    odd = (y & 1) == 1
    minus_one = x.dtype.type(-1) if x.dtype.kind == "i" else None
    negative = np.where(x == 1, 1, 0).astype(x.dtype)
    if minus_one is not None:
        negative = np.where(x == minus_one, np.where(odd, minus_one, 1), negative).astype(x.dtype)
    return np.where(y < 0, negative, result).astype(x.dtype)


def _ordered(pick_left):
    """minimum and maximum: NaN wins, -0 is smaller than +0 (NumPy leaves the zeros unspecified)."""

    def apply(x, y):
        if x.dtype.kind != "f":
            return (np.minimum if pick_left(0, 1) else np.maximum)(x, y)
        left = pick_left(x, y) | ((x == y) & (pick_left(-np.signbit(x).astype(int), -np.signbit(y).astype(int))))
        out = np.where(left, x, y)
        return np.where(np.isnan(x) | np.isnan(y), np.array(np.nan, x.dtype), out).astype(x.dtype)

    return apply


_minimum = _ordered(lambda a, b: a < b)
_maximum = _ordered(lambda a, b: a > b)


def _shift(left):
    def apply(x, y):
        width = x.dtype.itemsize * 8
        inside = (y >= 0) & (y < width)
        count = np.where(inside, y, 0).astype(x.dtype)
        shifted = np.left_shift(x, count) if left else np.right_shift(x, count)
        outside = np.zeros_like(x) if left else np.where(x < 0, -1, 0).astype(x.dtype)
        return np.where(inside, shifted, outside).astype(x.dtype)

    return apply


def _integer_divide(function):
    def apply(x, y):
        with np.errstate(all="ignore"):
            return function(x, y)

    return apply


def _floor_divide(x, y):
    """An infinite operand beside a finite one gives the quotient (the Array API; NumPy: NaN, or -1 for one below 0)."""
    with np.errstate(all="ignore"):
        result = np.floor_divide(x, y)
        if x.dtype.kind != "f":
            return result
        return np.where(np.isinf(x) & np.isfinite(y) | np.isfinite(x) & np.isinf(y), x / y, result)


def _fma(x, y, z):
    if x.dtype == np.float16:  # one float32 fma, rounded
        return _fma(*(a.astype(np.float32) for a in (x, y, z))).astype(np.float16)
    if x.dtype.kind == "f":
        return ex.libm_fma(x.dtype)(x, y, z)
    with np.errstate(all="ignore"):
        return x * y + z


def _sign(x):
    if x.dtype.kind != "f":
        return np.sign(x)
    return np.where(np.isnan(x), x, (x > 0).astype(x.dtype) - (x < 0).astype(x.dtype)).astype(x.dtype)


def cast(x, dtype):
    """float to integer truncates and saturates, NaN gives 0; integers wrap; anything to bool is x != 0."""
    dtype = np.dtype(dtype)
    if dtype == np.bool_:
        return x != 0
    if x.dtype.kind == "f" and dtype.kind in "iu":
        info = np.iinfo(dtype)
        whole = np.trunc(x.astype(np.longdouble))
        inside = np.isfinite(x) & (whole >= info.min) & (whole <= info.max)
        out = np.array([int(w) if ok else 0 for w, ok in zip(whole.ravel(), inside.ravel())], dtype).reshape(x.shape)
        out = np.where(whole > info.max, dtype.type(info.max), out)
        out = np.where(whole < info.min, dtype.type(info.min), out)
        return np.where(np.isnan(x), dtype.type(0), out).astype(dtype)
    with np.errstate(all="ignore"):
        return x.astype(dtype)


SPECIAL = {
    "bit_count": lambda x: np.bitwise_count(x).astype(x.dtype),  # through bitwise_count, which takes |x|
    "pow": _integer_pow,
    "minimum": _minimum,
    "maximum": _maximum,
    "clip": lambda x, lo, hi: _minimum(_maximum(x, lo), hi),
    "shift_left": _shift(True),
    "shift_right": _shift(False),
    "floor_divide": _floor_divide,
    "remainder": _integer_divide(np.remainder),
    "fma": _fma,
    "sign": _sign,
    "round": np.round,
}


def _libm(name):
    """A function of the C library in long double, for what NumPy lacks (rounded to float64 on the way back)."""
    function = getattr(ctypes.CDLL(ctypes.util.find_library("m")), name)
    function.restype, function.argtypes = ctypes.c_longdouble, [ctypes.c_longdouble]
    return lambda x: np.array([function(v) for v in x.ravel()], np.longdouble).reshape(x.shape)


#: Exact results in a wide type, where they are not NumPy's function of that name.
WIDE = {
    "erf": _libm("erfl"),
    "erfc": _libm("erfcl"),
    "lgamma": _libm("lgammal"),
    "rsqrt": lambda x: 1 / np.sqrt(x),
}


def size(op, arrays, wide):
    """The magnitude whose last place the op's bound counts in: the result's, unless its record says otherwise."""
    if op.name == "logaddexp":
        return np.fmax(np.fmax(np.abs(arrays[0]), np.abs(arrays[1])).astype(wide.dtype), np.abs(wide))
    if op.name == "lgamma":
        return np.where(arrays[0] < 0, np.fmax(np.fmax(1, WIDE["lgamma"](np.abs(arrays[0]))), np.abs(wide)), np.abs(wide))
    return np.abs(wide)


def expected(op, arrays):
    arrays = promoted(op, arrays)
    dtype = arrays[0].dtype
    with np.errstate(all="ignore"):
        if dtype.kind == "f" and bound(op, dtype):
            wide = [a.astype(WIDER[dtype]) for a in arrays]
            return None, (WIDE.get(op.name) or getattr(np, op.numpy_name))(*wide)
        function = SPECIAL.get(op.name) or getattr(np, op.numpy_name, None)
        assert function, f"{op.name}: neither NumPy nor support/reference.py says what it means"
        return function(*arrays), None


def bound(op, dtype):
    """The op's published bound in ulp; 0 means exact. Of float16, which rounds the float32 result: half a place and what
    the bound is in its places."""
    if np.dtype(dtype) == np.float16:
        return op.ulp_f32 and 0.5 + op.ulp_f32 * ORACLE_SLACK / 2**13 + (ORACLE_SLACK > 1)
    published = op.ulp_f32 if np.dtype(dtype) == np.float32 else op.ulp_f64
    return published * ORACLE_SLACK
