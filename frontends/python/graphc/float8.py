"""Floats of 8 bits: exact float32 values of their bits, and bits of values rounded to nearest even.

`gc.asarray` of an array of ml_dtypes' float8 dtypes, or with the name of one as dtype, is a `Stored`: its bits in a uint8 array,
which converts and exports but does not compute.
"""

import numpy as _np

from . import _graphc
from ._creation import asarray as _asarray
from ._special import frexp as _frexp
from ._special import ldexp as _ldexp
from .errors import DTypeError as _DTypeError

__all__ = ["Stored", "decode", "encode"]

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


def _numpy_dtype(name):
    try:
        import ml_dtypes
    except ImportError:
        raise _DTypeError(f"NumPy has no {name}: install ml_dtypes, or convert with astype('float32')") from None
    return _np.dtype(getattr(ml_dtypes, name))


class Stored:
    """An array of 8-bit floats that is kept, converted and exported, and does not compute: `astype` makes an Array of its exact
    values, `np.asarray` an array of ml_dtypes' dtype. `bits` are uint8; indices and `reshape` give a Stored. Raises DTypeError for
    bits that are not uint8 and for other formats."""

    __slots__ = ("bits", "format")
    __hash__ = None
    # NumPy leaves operators to this class, which has none.
    __array_ufunc__ = None

    def __init__(self, bits, format):  # noqa: A002
        self.bits, self.format = _asarray(bits), _format(format)[-1]
        if self.bits.dtype.name != "uint8":
            raise _DTypeError(f"float8: bits are uint8, not {self.bits.dtype}")

    shape = property(lambda self: self.bits.shape)
    ndim = property(lambda self: self.bits.ndim)
    size = property(lambda self: self.bits.size)
    nbytes = property(lambda self: self.bits.size)
    itemsize = property(lambda self: 1)
    device = property(lambda self: self.bits.device)
    dtype = property(lambda self: _numpy_dtype(self.format))

    def __len__(self):
        return len(self.bits)

    def __getitem__(self, key):
        return Stored(self.bits[key], self.format)

    def reshape(self, *shape):
        """The same elements in another shape."""
        return Stored(self.bits.reshape(*shape), self.format)

    def to_device(self, device):
        """On another device."""
        return Stored(self.bits.to_device(device), self.format)

    def astype(self, dtype, copy=True):
        """The values as an Array of a dtype that has arithmetic, or rounded to the other float8 format."""
        name = getattr(dtype, "name", dtype)
        if name == self.format:
            return Stored(self.bits.copy(), self.format) if copy else self
        if name in _FORMATS:
            return Stored(encode(decode(self.bits, self.format), name), name)
        return decode(self.bits, self.format, dtype=dtype)

    def __array__(self, dtype=None, copy=None):
        values = _np.asarray(self.bits).view(self.dtype)
        return values.copy() if copy and dtype is None else values if dtype is None else values.astype(dtype)

    def tolist(self):
        """Nested lists of Python floats."""
        return decode(self.bits, self.format).tolist()

    def __reduce__(self):
        return Stored, (self.bits, self.format)

    def __repr__(self):
        return f"float8.Stored({self.tolist()}, {self.format})"


def stored(x, dtype, device, copy):
    """What asarray gives for a float8 argument or dtype; None when neither is one."""
    wanted = getattr(dtype, "name", dtype)
    given = x.format if isinstance(x, Stored) else getattr(getattr(x, "dtype", None), "name", "")
    if given in _FORMATS:
        bits = x.bits if isinstance(x, Stored) else _np.asarray(x).view("uint8")
        kept = Stored(_asarray(bits, device=device, copy=copy), given)
        return kept if wanted is None else kept.astype(dtype, copy=False)
    if not isinstance(wanted, str) or wanted not in _FORMATS:
        return None
    values = _asarray(x, device=device)
    return Stored(encode(values if values.dtype.itemsize < 8 else values.astype("float32"), wanted), wanted)
