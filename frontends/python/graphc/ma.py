"""`graphc.ma` is NumPy's: its masked arrays, which take graphc arrays and give NumPy's."""

import sys as _sys

import numpy.ma as _theirs

from ._foreign import view_as_arrays as _view_as_arrays

_view_as_arrays(_theirs.MaskedArray)

_sys.modules[__name__] = _theirs
