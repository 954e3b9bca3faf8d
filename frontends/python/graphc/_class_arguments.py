"""Arguments of calls of NumPy's functions that meet objects of classes made of NumPy's arrays."""

import functools as _functools

import numpy as _np

from . import _graphc
from ._float_errors import stands_for as _stands_for
from .errors import as_user

_AS_THEY_ARE = frozenset((int, float, complex, bool, type(None), str))
_NUMBER_TYPES = (int, float, complex, bool, _np.generic)
#: Longer sequences take longer to look through than NumPy's answer saves.
_MOST = 64


def taken(value):
    """An argument as NumPy takes it: arrays of the host, numbers, dtypes, and short sequences of those; NotImplemented for anything else."""
    kind = type(value)
    if kind in _AS_THEY_ARE:
        return value
    if _graphc.is_array(value):
        if value.device != "cpu":
            return NotImplemented
        return value._values()[()] if _graphc.is_value(value) else value._values()
    if isinstance(value, (_np.ndarray, _np.generic, _np.dtype)) or (kind is type and issubclass(value, _NUMBER_TYPES)):
        return value
    if kind not in (list, tuple) or len(value) > _MOST:
        return NotImplemented
    parts = [*map(taken, value)]
    return NotImplemented if any(p is NotImplemented for p in parts) else kind(parts)


def _holds(value, is_class):
    """Whether an argument is a short sequence with an object of such a class."""
    return type(value) in (list, tuple) and len(value) <= _MOST and any(map(is_class, map(type, value)))


#: Functions that join the arrays of a sequence.
JOINING = frozenset(("concatenate", "vstack", "hstack", "stack", "column_stack", "dstack"))


def joining(inner, theirs, of_classes, is_class):
    """A function of JOINING, which leaves objects of such classes to NumPy's; `of_classes` plans that."""

    @_stands_for()
    @_functools.wraps(inner)
    def run(*args, **keywords):
        planned = of_classes(theirs, args, keywords, True) if args and _holds(args[0], is_class) else None
        if planned is None:
            return inner(*args, **keywords)
        function, args, keywords, result = planned
        return result(as_user(function, *args, **keywords) if keywords else function(*args))  # casts may warn

    return run
