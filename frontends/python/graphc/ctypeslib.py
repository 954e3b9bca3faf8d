"""`graphc.ctypeslib`: NumPy's, of which `ndpointer` and `as_ctypes` take graphc arrays, whose memory C then reads and writes."""

import functools as _functools

import numpy.ctypeslib as _theirs

from . import _graphc


def _memory(value):
    """NumPy's array of the memory of an array of ours; read-only where the array is."""
    return value._lent() if _graphc.is_array(value) else value


@_functools.lru_cache
def _over_ours(cls):
    def from_param(_, value):
        return cls.from_param(_memory(value))

    return type(cls.__name__, (cls,), {"from_param": classmethod(from_param)})


@_functools.wraps(_theirs.ndpointer)
def ndpointer(dtype=None, ndim=None, shape=None, flags=None):
    return _over_ours(_theirs.ndpointer(dtype, ndim, shape, flags))


@_functools.wraps(_theirs.as_ctypes)
def as_ctypes(obj):
    return _theirs.as_ctypes(_memory(obj))


def __dir__():
    return dir(_theirs)


def __getattr__(name):
    return getattr(_theirs, name)
