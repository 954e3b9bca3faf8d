"""Floats of 8 bits, kept as uint8: exact float32 values of their bits, and bits of values rounded to nearest even.

`np.asarray(bits).view(ml_dtypes.float8_e4m3fn)` is such an array for NumPy, without a copy; `decode` takes one back.
"""

from . import _graphc
from ._creation import asarray as _asarray
from ._special import frexp as _frexp
from ._special import ldexp as _ldexp
from .errors import DTypeError as _DTypeError

__all__ = ["decode", "encode"]

#: Bits of the mantissa, exponent bias, largest finite magnitude's bits.
_FORMATS = {"float8_e4m3fn": (3, 7, 0x7E), "float8_e5m2": (2, 15, 0x7B)}


def _format(name):
    name = getattr(name, "name", name)
    if name not in _FORMATS:
        raise _DTypeError(f"float8: formats are {', '.join(_FORMATS)}, not {name!r}")
    return (*_FORMATS[name], name)


def decode(bits, format=None, *, dtype="float32"):  # noqa: A002
    """The values of uint8 `bits` in a format, or of an array of ml_dtypes' dtype of that name, as `dtype` (exact). Raises
    DTypeError for another format and for bits that are not uint8."""
    given = getattr(getattr(bits, "dtype", None), "name", "")
    if given in _FORMATS:
        format, bits = given, bits.view("uint8")  # noqa: A001
    mantissa, bias, largest, name = _format(format)
    bits = _asarray(bits)
    if bits.dtype.name != "uint8":
        raise _DTypeError(f"float8: bits are uint8, not {bits.dtype}")
    magnitude = (bits & 127).astype("int32")
    exponent, fraction = magnitude >> mantissa, magnitude & ((1 << mantissa) - 1)
    whole = fraction + _graphc.select(exponent > 0, 1 << mantissa, 0)
    value = _ldexp(whole.astype("float32"), _graphc.maximum(exponent, 1) - (bias + mantissa))
    if name == "float8_e5m2":
        value = _graphc.select(magnitude == 0x7C, float("inf"), value)
        value = _graphc.select(magnitude > 0x7C, float("nan"), value)
    else:
        value = _graphc.select(magnitude > largest, float("nan"), value)
    return _graphc.select(bits > 127, -value, value).astype(dtype, copy=False)


def encode(x, format):  # noqa: A002
    """The uint8 bits of values rounded once to a format, from float32 or narrower floats. What is too large becomes
    infinity, or NaN in float8_e4m3fn, which has none. Raises DTypeError for other dtypes and formats."""
    mantissa, bias, largest, name = _format(format)
    x = _asarray(x)
    if x.dtype.name not in ("float32", "float16", "bfloat16"):
        raise _DTypeError(f"float8: float32, float16 or bfloat16 is needed, not {x.dtype}; convert with astype")
    x = x.astype("float32", copy=False)
    size = _graphc.abs(x)
    lowest = 1 - bias
    # Numbers out of range are brought to where their bits stay small integers.
    inside = _graphc.select(size < 1e6, size, 1e6)
    exponent = _frexp(_graphc.maximum(inside, 2.0**lowest))[1] - 1
    steps = _graphc.round(_ldexp(inside, mantissa - exponent)).astype("int32")
    bits = steps + (exponent - lowest) * (1 << mantissa)
    over = 0x7C if name == "float8_e5m2" else 0x7F
    bits = _graphc.select(bits > largest, over, bits)
    bits = _graphc.select(_graphc.not_equal(x, x), 0x7F, bits)
    return (bits + _graphc.select(_graphc.signbit(x), 128, 0)).astype("uint8")
