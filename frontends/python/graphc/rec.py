"""`graphc.rec` is NumPy's: its records, which take graphc arrays and give NumPy's."""

import sys as _sys

import numpy.rec as _theirs

_sys.modules[__name__] = _theirs
