"""`graphc.strings` is NumPy's: its functions of strings, which take graphc arrays and give NumPy's."""

import sys as _sys

import numpy.strings as _theirs

_sys.modules[__name__] = _theirs
