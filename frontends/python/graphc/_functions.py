"""The plain elementwise functions: one name of the generated table, one function of the extension."""

from . import _graphc
from ._elementwise import ELEMENTWISE

globals().update({name: getattr(_graphc, row[0]) for name, row in ELEMENTWISE.items()})

__all__ = list(ELEMENTWISE)
