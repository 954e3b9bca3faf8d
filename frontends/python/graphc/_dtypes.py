"""Dtypes are NumPy's dtype objects; graphc computes with these eleven."""

import numpy as _np

from . import _graphc
from .errors import DTypeError

bool_ = _np.dtype("bool")
int8 = _np.dtype("int8")
int16 = _np.dtype("int16")
int32 = _np.dtype("int32")
int64 = _np.dtype("int64")
uint8 = _np.dtype("uint8")
uint16 = _np.dtype("uint16")
uint32 = _np.dtype("uint32")
uint64 = _np.dtype("uint64")
float32 = _np.dtype("float32")
float64 = _np.dtype("float64")

ALL = (bool_, int8, int16, int32, int64, uint8, uint16, uint32, uint64, float32, float64)
_NAMES = tuple(d.name for d in ALL)


def as_dtype(dtype):
    """`dtype` as a supported np.dtype. Raises DTypeError with the nearest name for anything else."""
    try:
        found = _np.dtype(dtype)
    except TypeError:
        raise DTypeError(f"{dtype!r} is not a dtype{_nearest(dtype)}") from None
    if found.name not in _NAMES or not found.isnative:
        raise DTypeError(f"dtype {found.name} is not supported; graphc has {', '.join(_NAMES)}")
    return found


def _nearest(dtype):
    import difflib

    close = difflib.get_close_matches(str(dtype), _NAMES, 1)
    return f"; did you mean {close[0]!r}?" if close else f"; graphc has {', '.join(_NAMES)}"


def _plain(x):
    """The dtype of an array, or the argument itself."""
    return x.dtype if isinstance(x, _graphc.Array) else x


def can_cast(from_, to, /, casting="safe"):
    """Whether a value of dtype (or array) `from_` fits dtype `to` under NumPy's casting rule."""
    return _np.can_cast(_plain(from_), as_dtype(to), casting)


def result_type(*arrays_and_dtypes):
    """The dtype that arithmetic on these arrays, dtypes and Python scalars (weak) gives; NumPy 2 rules."""
    return _graphc.result_type(*arrays_and_dtypes)


def isdtype(dtype, kind, /):
    """Whether `dtype` is of a kind: "bool", "signed integer", "unsigned integer", "integral", "real floating",
    "complex floating", "numeric", a dtype, or a tuple of those."""
    return _np.isdtype(as_dtype(dtype), kind)


def finfo(dtype, /):
    """Limits of a float dtype (or of an array's); as numpy.finfo."""
    return _np.finfo(_plain(dtype))


def iinfo(dtype, /):
    """Limits of an integer dtype (or of an array's); as numpy.iinfo."""
    return _np.iinfo(_plain(dtype))


def astype(x, dtype, /, *, copy=True, device=None):
    """`x` converted: float to integer truncates and saturates (NaN gives 0), integers wrap, anything to bool is
    x != 0. With copy=False, `x` itself when nothing changes. Raises DTypeError for an unknown dtype."""
    from ._creation import asarray

    x = asarray(x)
    result = x.astype(as_dtype(dtype), copy=copy)
    return result if device is None else result.to_device(device)
