"""`graphc.typing`: NumPy's names for annotations."""

from numpy.typing import *  # noqa: F403
from numpy.typing import __all__ as __all__
