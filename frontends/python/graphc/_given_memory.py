"""The functions that make arrays of what holds memory already: buffers of others, and NumPy's arrays."""

import ctypes as _ctypes
import functools as _functools
from array import array as _Vector

import numpy as _np

from . import _graphc
from ._float_errors import stands_for as _stands_for

#: Functions that give NumPy's arrays of memory that others have and write to, each side seeing what the other writes.
OF_BUFFERS = frozenset(("array", "asarray", "asanyarray", "ascontiguousarray", "asfortranarray", "require"))
_BUFFERS = (_Vector, memoryview, bytearray, _ctypes.Array)

#: What takes a NumPy array as it is.
_PLAIN = {"array": _graphc.plain_array, "asarray": _graphc.plain_asarray, "asanyarray": _graphc.plain_asarray}
_COMPUTED = "?bhilqBHILQefdFD"
_CHARS = {float: "d", complex: "D", bool: "?", int: _np.dtype(int).char, **{_np.dtype(char).type: char for char in _COMPUTED}}
#: Longer sequences take longer to look through than is saved.
_MOST = 64


def _is_of(array, dtype):
    """Whether an array has a dtype already."""
    if type(dtype) is type:
        return _CHARS.get(dtype) == array.dtype.char
    return isinstance(dtype, _np.dtype) and dtype == array.dtype and dtype.char in _COMPUTED


def _are_alike(values):
    """Whether a short sequence is of NumPy's arrays of one shape, whose elements are numbers."""
    if not 0 < len(values) <= _MOST or {*map(type, values)} != {_np.ndarray}:
        return False
    shape = values[0].shape
    return all(v.shape == shape and v.dtype.char in _COMPUTED and v.dtype.isnative for v in values)


def sharing(inner, theirs):
    """A function of OF_BUFFERS, which copies what cannot be shared."""
    plain = _PLAIN.get(inner.__name__)

    def of_numpys(first, args, keywords):
        """What is made of NumPy's array that has the dtype that is asked for, or of several alike; else NotImplemented."""
        if type(first) is not _np.ndarray:
            alike = type(first) in (list, tuple) and len(args) == 1 and not keywords and _are_alike(first)
            return plain(_np.array(first)) if alike else NotImplemented
        if len(args) + len(keywords) != 2:
            return NotImplemented
        dtype = args[1] if len(args) == 2 else keywords.get("dtype")
        return plain(first) if _is_of(first, dtype) and first.dtype.isnative else NotImplemented

    @_stands_for()
    @_functools.wraps(inner)
    def run(*args, **keywords):
        if plain is not None and args and not _graphc.is_tracing():
            made = of_numpys(args[0], args, keywords)
            if made is not NotImplemented:
                return made
        if args and issubclass(type(args[0]), _BUFFERS) and "device" not in keywords and not _graphc.is_tracing():
            found = theirs(*args, **keywords)
            if found.base is not None and not found.flags.owndata:
                return found
        if keywords.get("copy") is False and args and isinstance(args[0], _np.ndarray):
            try:
                return inner(*args, **keywords)
            except ValueError:  # would be copied, while it is an array already
                return theirs(*args, **keywords)
        return inner(*args, **keywords)

    return run
