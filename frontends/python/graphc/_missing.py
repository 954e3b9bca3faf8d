"""Reductions that pass NaNs over."""

import functools as _functools
import math as _math

from . import _graphc
from ._float_errors import stands_for as _stands_for


@_stands_for()
def _extreme(kind, filler, x, axes, keepdims):
    """Of the real elements that are not NaN; NaN where there are none."""
    if x.dtype.kind != "f":
        return _graphc.reduce(kind, x, axes, keepdims, None)
    if x.size and not keepdims and (axes is None or len(axes) == x.ndim) and not _graphc.is_tracing():
        found = _graphc.reduce(kind, x, axes, False, None)
        if _graphc.is_value(found) and not _graphc.pending(found) and not _math.isnan(found):  # which one NaN would be
            return found
    missing = _graphc.isnan(x)
    found = _graphc.reduce(kind, _graphc.select(missing, filler, x), axes, keepdims, None)
    return _graphc.select(_graphc.reduce("all", missing, axes, keepdims, None), _math.nan, found)


#: By ufunc: what reduces `x` over `axes`.
EXTREMES = {"fmax": _functools.partial(_extreme, "max", -_math.inf), "fmin": _functools.partial(_extreme, "min", _math.inf)}
