"""`graphc.polynomial` is NumPy's: its classes of polynomials, which take graphc arrays and give NumPy's."""

import sys as _sys

import numpy.polynomial as _theirs

_sys.modules[__name__] = _theirs
