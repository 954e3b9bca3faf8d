"""What is asked of nested sequences before they become arrays."""

import builtins as _py

import numpy as _np

from . import _graphc
from .errors import as_user


def holds(obj, around=()):
    """Whether there is an Array in nested sequences: in as many as NumPy looks into, and a list may contain itself."""
    if not isinstance(obj, (list, tuple)):
        return _graphc.is_array(obj)
    if len(around) == 64 or _py.any(obj is a for a in around):
        return False
    around = (*around, obj)
    return _py.any(holds(v, around) for v in obj)


def refuse_outside(obj, dtype):
    """Raises OverflowError, as NumPy, where an integer of a sequence is not in the range of a signed dtype; 0-d arrays are cast."""
    limits = _np.iinfo(dtype)
    for item in obj:
        if isinstance(item, (list, tuple)):
            refuse_outside(item, dtype)
        elif _graphc.is_array(item) and _graphc.is_value(item) and item.dtype.kind in "iu" and not limits.min <= int(item) <= limits.max:
            text = "Python int too large to convert to C long"
            raise OverflowError(text if int(item) >= 1 << 63 else f"Python integer {int(item)} out of bounds for {dtype}")


def without_makers(obj):
    if isinstance(obj, (list, tuple)):
        return [without_makers(item) for item in obj]
    if isinstance(obj, (_graphc.Array, _np.ndarray)) or not hasattr(type(obj), "__array__"):
        return obj
    return _np.asarray(obj.__array__())


def _may_overflow(dtype):
    """Whether NumPy tells of numbers in sequences that are too large for a dtype."""
    return dtype is not None and (dtype.kind == "f" and dtype.itemsize < 8 or dtype.char == "F")


def of_narrow(obj, dtype):
    """NumPy's array of a sequence, where it tells of each number that a dtype has no room for, at the user's line; else `obj`."""
    if isinstance(obj, (list, tuple)) and _may_overflow(dtype) and not _graphc.is_tracing():
        return as_user(_np.array, obj, dtype)
    return obj


def refuse_step(bounds):
    """What NumPy says of a range whose step is zero: of its own scalars' quotient it warns first."""
    as_user(_np.arange, *(_np.asarray(v)[()] if isinstance(v, (_graphc.Array, _np.ndarray)) else v for v in bounds))


def regular(shapes, around):
    """What NumPy says of the part of parts' shapes in which they are alike; of parts inside other sequences, ours."""
    if around:
        return f": {shapes}"
    alike = (len(shapes),)
    for sizes in zip(*shapes):
        if len({*sizes}) > 1:
            break
        alike += sizes[:1]
    return f" after {len(alike)} dimensions. The detected shape was {alike} + inhomogeneous part: {shapes}"


def along_diagonal(columns, k):
    """The rows of the k-th diagonal in these columns, as NumPy has them by `arange(-k, ..., dtype=int)`: of a `k` that is no integer
    the first two are cut off, and the rows go on by their distance."""
    first = int(-k)
    step = int(1 - k) - first
    return (columns if step == 1 else columns * step) + first
