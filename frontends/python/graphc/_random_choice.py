"""Draws that pick elements of something, or put them in another order."""

import math as _math
import operator as _operator

import numpy as _np

from . import _graphc
from ._creation import _shape, asarray
from ._dtypes import float64, int64
from .errors import ArgumentError, ShapeError

_Array = _graphc.Array


def _weights(p, count, size):
    """Probabilities as a float64 Array; checked when they are known without computing."""
    given = p if isinstance(p, _Array) else asarray(_np.asarray(p, _np.float64))
    if given.ndim != 1:
        raise ShapeError("'p' must be 1-dimensional")
    if given.shape != (count,):
        raise ShapeError(f"'a' and 'p' must have same size: {count} and {given.shape[0]}")
    if not isinstance(p, _Array):
        host = _np.asarray(p, _np.float64)
        if _np.any(_np.isnan(host)):
            raise ArgumentError("Probabilities contain NaN")
        if _np.any(host < 0):
            raise ArgumentError("Probabilities are not non-negative")
        if abs(host.sum() - 1) > 1e-8:
            raise ArgumentError("Probabilities do not sum to 1")
        if size is not None and _np.count_nonzero(host) < size:
            raise ArgumentError("Fewer non-zero entries in p than size")
    return given.astype(float64, copy=False)


def _with_replacement(source, count, shape, p):
    if p is None:
        return source.integers(0, max(count, 1), shape)
    cumulative = _graphc.scan("sum", _weights(p, count, None), 0)
    u = source._unit(shape, source._take(1, cumulative.device)) * cumulative[-1]
    below = _graphc.less_equal(cumulative[:-1], _graphc.expand_dims(u, (u.ndim,)))
    return _graphc.reduce("sum", below, (u.ndim,), False, int64)


def choice(source, a, size, p):
    count = _operator.index(a)
    shape = () if size is None else _shape(size)
    if count <= 0 and _math.prod(shape) > 0:
        raise ArgumentError("a must be a positive integer unless no samples are taken")
    return _with_replacement(source, count, shape, p)
