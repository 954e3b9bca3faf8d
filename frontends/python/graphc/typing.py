"""`graphc.typing`: NumPy's names for annotations."""

from numpy.typing import *  # noqa: F403
from numpy.typing import __all__ as __all__

__path__ = []  # a package, whose other modules are NumPy's
