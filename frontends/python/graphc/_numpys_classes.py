"""NumPy's matrices, record arrays and memory maps, made and viewed by names of this package."""

import functools as _functools
import sys as _sys

import numpy as _np

from . import _graphc


def view_as_arrays(*classes):
    """`x.view(graphc.ndarray)` of NumPy's own classes shows NumPy's arrays, as that of the classes made of ours does."""
    for cls in classes:

        def view(self, *args, _theirs=cls.view, **keywords):
            args = [_np.ndarray if a is _graphc.ndarray else a for a in args]
            return _theirs(self, *args, **{k: _np.ndarray if v is _graphc.ndarray else v for k, v in keywords.items()})

        cls.view = _functools.wraps(cls.view)(view)


view_as_arrays(_np.matrix, _np.recarray, _np.memmap)


@_functools.wraps(_np.asmatrix)
def asmatrix(data, dtype=None):
    return _np.asmatrix(data._lent() if _graphc.is_array(data) else data, dtype)


asmatrix.__module__ = __package__
asmatrix.__doc__ = "As numpy.asmatrix, of the memory of an Array: each side sees what the other writes."


def _blocks(obj):
    """Rows of matrices as NumPy tells them from rows of rows: by its own class."""
    if isinstance(obj, (list, tuple)):
        return type(obj)(map(_blocks, obj)) if type(obj) in (list, tuple) else obj
    return obj._lent() if _graphc.is_array(obj) else obj


@_functools.wraps(_np.bmat)
def bmat(obj, ldict=None, gdict=None):
    if isinstance(obj, str) and gdict is None:
        caller = _sys._getframe(1)
        ldict, gdict = caller.f_locals, caller.f_globals
    return _np.bmat(_blocks(obj), ldict, gdict)


bmat.__module__ = __package__
bmat.__doc__ = "As numpy.bmat, which is called."
