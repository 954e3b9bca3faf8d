"""`graphc.char` is NumPy's: its functions of strings under their old name, which take graphc arrays and give NumPy's."""

import sys as _sys

import numpy.char as _theirs

_sys.modules[__name__] = _theirs
