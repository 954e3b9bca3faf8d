"""Reductions. Float sums and products have one canonical order (docs/numerics.md), so their bits never depend on
threads, devices or memory layout."""

import math as _math

from . import _graphc
from ._creation import asarray, full
from ._dtypes import as_dtype, bool_, float64
from ._manipulation import concat
from .errors import ArgumentError


def _dtype(dtype):
    return None if dtype is None else as_dtype(dtype)


def sum(x, /, axis=None, dtype=None, keepdims=False):
    """Sum over `axis` (None: all; an int or a tuple). Small integers and bool add up in 64 bits, as in NumPy.
    Raises AxisError for an axis out of range or named twice."""
    return _graphc.reduce("sum", asarray(x), axis, keepdims, _dtype(dtype))


def prod(x, /, axis=None, dtype=None, keepdims=False):
    """Product over `axis`; dtypes and errors as `sum`."""
    return _graphc.reduce("prod", asarray(x), axis, keepdims, _dtype(dtype))


def mean(x, /, axis=None, dtype=None, keepdims=False):
    """Arithmetic mean over `axis`; integers and bool give float64. Of no elements: NaN."""
    return _graphc.reduce("mean", asarray(x), axis, keepdims, _dtype(dtype))


def min(x, /, axis=None, keepdims=False):
    """Smallest element over `axis`; NaN if any is NaN; -0 is smaller than +0. Raises ValueError for no elements."""
    return _graphc.reduce("min", asarray(x), axis, keepdims, None)


def max(x, /, axis=None, keepdims=False):
    """Largest element over `axis`; NaN if any is NaN. Raises ValueError for no elements."""
    return _graphc.reduce("max", asarray(x), axis, keepdims, None)


amin = min
amax = max


def any(x, /, axis=None, keepdims=False):
    """Whether any element over `axis` is nonzero; False for none."""
    return _graphc.reduce("any", asarray(x), axis, keepdims, None)


def all(x, /, axis=None, keepdims=False):
    """Whether all elements over `axis` are nonzero; True for none."""
    return _graphc.reduce("all", asarray(x), axis, keepdims, None)


def argmin(x, /, axis=None, *, keepdims=False):
    """int64 index of the first smallest element along one axis, or of the flattened array. NaN wins. Raises
    ValueError for no elements."""
    return _graphc.reduce("argmin", asarray(x), axis, keepdims, None)


def argmax(x, /, axis=None, *, keepdims=False):
    """int64 index of the first largest element along one axis, or of the flattened array. NaN wins. Raises
    ValueError for no elements."""
    return _graphc.reduce("argmax", asarray(x), axis, keepdims, None)


def _cumulative(kind, x, axis, dtype, include_initial):
    x = asarray(x)
    if axis is None and x.ndim != 1:
        raise ArgumentError(f"cumulative_{kind}: an array of {x.ndim} dimensions needs an axis")
    result = _graphc.scan(kind, x, 0 if axis is None else axis, _dtype(dtype))
    if not include_initial:
        return result
    shape = list(result.shape)
    shape[0 if axis is None else axis] = 1
    first = full(shape, 0 if kind == "sum" else 1, dtype=result.dtype)
    return concat((first, result), axis=0 if axis is None else axis)


def cumulative_sum(x, /, *, axis=None, dtype=None, include_initial=False):
    """Running sums along `axis`, which only 1-d arrays may leave out; `include_initial` starts with a zero. Float sums
    follow one order (docs/numerics.md)."""
    return _cumulative("sum", x, axis, dtype, include_initial)


def cumulative_prod(x, /, *, axis=None, dtype=None, include_initial=False):
    """Running products along `axis`; see `cumulative_sum`."""
    return _cumulative("prod", x, axis, dtype, include_initial)


def cumsum(x, /, axis=None, dtype=None):
    """Running sums along `axis`, or of the flattened array; dtypes as `sum`."""
    return _graphc.scan("sum", asarray(x), axis, _dtype(dtype))


def cumprod(x, /, axis=None, dtype=None):
    """Running products along `axis`, or of the flattened array; dtypes as `prod`."""
    return _graphc.scan("prod", asarray(x), axis, _dtype(dtype))


def count_nonzero(x, /, axis=None, keepdims=False):
    """How many elements over `axis` are nonzero, as int64."""
    return sum(asarray(x) != 0, axis, keepdims=keepdims)


def var(x, /, axis=None, dtype=None, *, ddof=0, correction=None, keepdims=False):
    """Variance over `axis`: the mean of the squared distances from the mean, times n / (n - ddof). `correction` is
    another name for `ddof`. Two passes, as NumPy."""
    x = asarray(x)
    kind = _dtype(dtype) or (x.dtype if x.dtype.kind == "f" else float64)
    x = x.astype(kind, copy=False)
    distance = x - mean(x, axis, keepdims=True)
    spread = mean(distance * distance, axis, keepdims=keepdims)
    ddof = ddof if correction is None else correction
    if ddof == 0:
        return spread
    count = _count(x.shape, axis)
    return spread * (count / (count - ddof) if count > ddof else _math.nan if count == 0 else _math.inf)


def std(x, /, axis=None, dtype=None, *, ddof=0, correction=None, keepdims=False):
    """Standard deviation: the square root of `var`."""
    return _graphc.sqrt(var(x, axis, dtype, ddof=ddof, correction=correction, keepdims=keepdims))


def _count(shape, axis):
    if axis is None:
        return _math.prod(shape)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    return _math.prod(shape[a] for a in axes)


def array_equal(a, b, /):
    """Whether two arrays have one shape and equal elements, as a 0-d bool array."""
    a, b = asarray(a), asarray(b)
    if a.shape != b.shape:
        return asarray(False, bool_)
    return all(a == b)


def average(x, /, axis=None, weights=None, *, keepdims=False):
    """Mean, or weighted mean with weights of the shape of `x`."""
    if weights is None:
        return mean(x, axis, keepdims=keepdims)
    x, weights = asarray(x), asarray(weights)
    if x.shape != weights.shape:
        raise ArgumentError(f"average: weights of shape {weights.shape} for an array of shape {x.shape}")
    return sum(x * weights, axis, keepdims=keepdims) / sum(weights, axis, keepdims=keepdims)
