"""`graphc.ma` is NumPy's: its masked arrays, which take graphc arrays and give NumPy's."""

import sys as _sys

import numpy.ma as _theirs

_sys.modules[__name__] = _theirs
