"""Draws that pick elements of something, or put them in another order."""

import math as _math
import operator as _operator
from collections.abc import Sequence as _Sequence

import numpy as _np

from . import _graphc
from ._creation import _shape, asarray, single
from ._dtypes import float64, int64
from ._indexing import take, take_along_axis
from ._manipulation import _axis
from ._sorting import argsort, searchsorted, sort
from .errors import ArgumentError, DTypeError, ShapeError, TraceError, warn

_Array = _graphc.Array
#: Up to so many categories their bounds are compared one by one, in the kernel that uses the choice.
_FEW = 64


def _weights(p, count, size):
    """Probabilities as a float64 Array; checked when they are known without computing."""
    given = p if _graphc.is_array(p) else asarray(_np.asarray(p, _np.float64))
    if given.ndim != 1:
        raise ShapeError("'p' must be 1-dimensional")
    if given.shape != (count,):
        raise ShapeError(f"'a' and 'p' must have same size: {count} and {given.shape[0]}")
    if not _graphc.is_array(p):
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


#: Places up to here are sorted as the low bits of random numbers.
_PLACE_BITS = 20


def _order(source, shape, axis=-1, device=None):
    """A random order along an axis: that of random bits, of which short axes use the first 44; of equal bits the first
    stays first."""
    streams = source._take(1, device)
    if streams.host is not None and len(shape) == 1 and shape[0] <= 1 << _PLACE_BITS:
        order = _graphc.draw_order(shape[0], streams.first, streams.host)
        if order is not None:
            return order
    bits = source._bits(shape, streams)
    axis = axis % len(shape)
    size = shape[axis]
    if size > 1 << _PLACE_BITS:
        return argsort(bits, axis=axis, stable=True)
    places = _graphc.iota(size, _np.dtype("uint64"), bits.device).reshape((size,) + (1,) * (len(shape) - axis - 1))
    low = _np.uint64((1 << _PLACE_BITS) - 1)
    return (sort((bits & ~low) | places, axis=axis) & low).astype(int64)


def _with_replacement(source, count, shape, p):
    if p is None:
        return source.integers(0, max(count, 1), shape or None)  # a single number is one of those drawn ahead
    cumulative = _graphc.scan("sum", _weights(p, count, None), 0)
    u = source._unit(shape, source._take(1, cumulative.device)) * cumulative[-1]
    if count > _FEW:
        return searchsorted(cumulative[:-1], u, side="right")
    below = _graphc.less_equal(cumulative[:-1], _graphc.expand_dims(u, (u.ndim,)))
    return _graphc.reduce("sum", below, (u.ndim,), False, int64)


def _without_replacement(source, count, shape, p):
    size = _math.prod(shape)
    if size > count:
        raise ArgumentError("Cannot take a larger sample than population when replace is False")
    if p is None:
        order = _order(source, (count,))
    else:
        # The first arrivals of Poisson processes whose rates are the probabilities.
        weights = _weights(p, count, size)
        order = argsort(source._exponential((count,), source._take(1, weights.device)) / weights, stable=True)
    return order[:size].reshape(shape)


def _as_plain(x):
    """What generators make of an object of a class made of NumPy's arrays, as NumPy's do: an array of its values."""
    return _np.asarray(x) if isinstance(x, _np.ndarray) else x


def _integer_or_values(x):
    """(integer, None) or (None, Array); a 0-d Array of integers is an integer, and computed. Strings and objects, which no
    Array holds, are NumPy's array."""
    if not _graphc.is_array(x):
        try:
            return _operator.index(x), None
        except TypeError:
            pass
        if type(x) in (list, tuple) and x and type(x[0]) is str:
            x = _np.asarray(x)
        if type(x) is _np.ndarray and x.dtype.kind in "OUSMm":
            return None, x  # known at once: a refusal costs more than the draw
        try:
            x = asarray(_as_plain(x))
        except DTypeError:
            x = _np.asarray(x)
            if x.dtype.kind not in "OUSMm":
                raise
    if x.ndim == 0 and x.dtype.kind in "iu":
        return int(x), None
    return None, x


def _taken(values, places, axis):
    """The slices of values; of NumPy's at computed places."""
    if _graphc.is_array(values):
        if values.ndim == 1 and not _graphc.is_tracing():
            return values[places]  # inside of the axis: nothing to check
        return take(values, places, axis=axis)
    if _graphc.is_tracing():
        raise TraceError("strings and objects are chosen when the function is traced, not when it is called")
    return _np.take(values, _np.asarray(places)[()], axis=axis)


def choice(source, a, size, replace, p, axis, shuffle):
    count, values = _integer_or_values(a)
    if values is not None:
        if values.ndim == 0:
            raise ArgumentError("a must be a sequence or an integer")
        axis = _axis(axis, values.ndim, "choice")
        count = values.shape[axis]
    shape = () if size is None else _shape(size)
    if count <= 0 and _math.prod(shape) > 0:
        what = "a must be a positive integer" if values is None else "a cannot be empty"
        raise ArgumentError(f"{what} unless no samples are taken")
    found = (_with_replacement if replace else _without_replacement)(source, count, shape, p)
    found = single(found) if size is None else found
    if values is None:
        return found
    chosen = _taken(values, found, axis)
    if size is None or shape or values.ndim > 1 or _graphc.is_array(values):
        return chosen
    whole = _np.empty((), values.dtype)  # an array of one element, as was asked for, and no element
    whole[()] = chosen
    return whole


def permutation(source, x, axis):
    count, x = _integer_or_values(x)
    if x is None:
        return _order(source, (_shape(count)[0],))
    axis = _axis(axis, x.ndim, "permutation")
    return _taken(x, _order(source, (x.shape[axis],), device=getattr(x, "device", None)), axis)


def permuted(source, x, axis, out):
    x = asarray(_as_plain(x))
    if axis is None:
        flat = _graphc.reshape(x, (-1,))
        result = _graphc.reshape(take(flat, _order(source, flat.shape, device=x.device), axis=0), x.shape)
    else:
        axis = _axis(axis, x.ndim, "permuted")
        result = take_along_axis(x, _order(source, x.shape, axis, x.device), axis=axis)
    if out is None:
        return result
    if not _graphc.is_array(out):
        raise DTypeError(f"out must be a graphc Array, not {type(out).__name__}")
    if out.shape != x.shape:
        raise ShapeError(f"out must have the same shape as x: {out.shape} and {x.shape}")
    out[...] = result
    return out


def shuffle(source, x, axis):
    if _graphc.is_array(x):
        if x.ndim == 0:
            raise DTypeError("shuffle: an array with at least one axis is needed")
        axis = _axis(axis, x.ndim, "shuffle")
        x[...] = _taken(x, _order(source, (x.shape[axis],), device=x.device), axis)
        return
    if isinstance(x, _np.ndarray):
        x[...] = _np.take(x, _np.asarray(_order(source, (x.shape[axis],))), axis=axis)
        return
    if axis != 0:
        raise ArgumentError("shuffle: a sequence has axis 0 only")
    if not hasattr(x, "__setitem__"):
        raise DTypeError(f"shuffle: a {type(x).__name__} cannot be changed in place")
    if not isinstance(x, _Sequence):
        warn(
            f"you are shuffling a '{type(x).__name__}' object which is not a subclass of 'Sequence'; `shuffle` is not guaranteed to behave correctly. "
            "E.g., non-numpy array/tensor objects with view semantics may contain duplicates after shuffling.",
            UserWarning,
        )
    values = [x[i] for i in range(len(x))]
    for i, place in enumerate(_order(source, (len(x),)).tolist()):
        x[i] = values[place]


def _factor(cov, method):
    """A with A A^T = cov, and whether the decomposition says so (None: it raised otherwise)."""
    from . import linalg

    if method == "cholesky":
        return linalg.cholesky(cov), None
    if method == "eigh":
        values, vectors = linalg.eigh(cov)
        return vectors * _graphc.sqrt(_graphc.maximum(values, 0.0)), _graphc.reduce("min", values, None, False)
    u, s, vh = linalg.svd(cov)
    # Negative eigenvalues show as vectors of opposite signs.
    return u * _graphc.sqrt(s), _graphc.reduce("min", _graphc.reduce("sum", u * vh.T, (0,), False) * s, None, False)


def multivariate_normal(source, mean, cov, size, check_valid, tol, method):
    if method not in ("eigh", "svd", "cholesky"):
        raise ArgumentError(f"method must be one of {{'eigh', 'svd', 'cholesky'}}, not {method!r}")
    if check_valid not in ("warn", "raise", "ignore"):
        raise ArgumentError("check_valid must equal 'warn', 'raise', or 'ignore'")
    mean, cov = asarray(_as_plain(mean), dtype=float64), asarray(_as_plain(cov), dtype=float64)
    if mean.ndim != 1:
        raise ShapeError("mean must be 1 dimensional")
    if cov.ndim != 2 or cov.shape[0] != cov.shape[1]:
        raise ShapeError("cov must be 2 dimensional and square")
    count = mean.shape[0]
    if cov.shape[0] != count:
        raise ShapeError("mean and cov must have same length")
    factor, least = _factor(cov, method)
    if least is not None and check_valid != "ignore":
        largest = _graphc.reduce("max", _graphc.abs(cov), None, False)
        symmetric = _graphc.reduce("max", _graphc.abs(cov - cov.T), None, False)
        if not bool((least >= -tol * (1.0 + largest)) & (symmetric <= tol * (1.0 + largest))):
            text = "covariance is not symmetric positive-semidefinite."
            if check_valid == "raise":
                raise ArgumentError(text)
            warn(text, RuntimeWarning)
    shape = (*(() if size is None else _shape(size)), count)
    drawn = source._normal(shape, source._take(2, mean.device))
    return _graphc.matmul(drawn, factor.T) + mean
