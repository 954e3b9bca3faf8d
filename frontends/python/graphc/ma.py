"""`graphc.ma` is NumPy's: its masked arrays, which take graphc arrays and give NumPy's."""

import functools as _functools
import inspect as _inspect
import sys as _sys
import types as _types

import numpy.ma as _theirs

from . import _graphc
from ._numpys_classes import view_as_arrays as _view_as_arrays

_view_as_arrays(_theirs.MaskedArray)


def _with_outputs(method):
    """A method that writes to our arrays: NumPy's gets their memory."""

    @_functools.wraps(method)
    def call(*args, **keywords):
        out = keywords.get("out")
        if not _graphc.is_array(out):
            return method(*args, **keywords)
        lent = out._lent()
        result = method(*args, **(keywords | {"out": lent}))
        return out if result is lent else result

    return call


def _takes_output(method):
    if not isinstance(method, _types.FunctionType):
        return False
    if hasattr(method, "__signature__") or hasattr(method, "__wrapped__"):
        return "out" in _inspect.signature(method).parameters
    code = method.__code__  # a hundred signatures take longer than all else here
    return "out" in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]


for _name, _method in list(vars(_theirs.MaskedArray).items()):
    if _takes_output(_method):
        setattr(_theirs.MaskedArray, _name, _with_outputs(_method))

_sys.modules[__name__] = _theirs
