"""The elementwise functions: one name of the generated table, one ufunc of the extension."""

import numpy as _np

from . import _graphc
from ._elementwise import ELEMENTWISE
from ._ufunc import describe as _describe


def _collect():
    found, best = {}, {}
    for name, (operation, parameters, summary) in ELEMENTWISE.items():
        found[name] = getattr(_graphc, operation)
        # Of several names the one that NumPy prints: absolute, not abs.
        numpys = getattr(getattr(_np, name, None), "__name__", None) == name
        if operation not in best or (numpys and not best[operation][3]):
            best[operation] = (name, parameters, summary, numpys)
    for operation, (name, parameters, summary, _) in best.items():
        _describe(getattr(_graphc, operation), name, summary + ".", parameters)
        getattr(_graphc, operation).operation = operation
    return found


globals().update(_collect())

__all__ = list(ELEMENTWISE)
