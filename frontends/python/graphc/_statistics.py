"""Order statistics, histograms and piecewise linear interpolation."""

import builtins as _py
import math as _math
import operator as _operator

import numpy as _np

from . import _foreign, _graphc
from ._complex import of_parts as _of_parts
from ._creation import _floating, _real, are_few_known, asarray, full, single
from ._devices import where_operands_are as _where_operands_are
from ._dtypes import complex128, float32, float64, int64
from ._float_errors import quiet as _quiet
from ._float_errors import stands_for as _stands_for
from ._float_errors import tell as _tell
from ._float_errors import told as _told
from ._indexing import bincount, take, take_along_axis
from ._manipulation import _axes, concat, expand_dims
from ._numeric import nanmean
from ._reductions import mean
from ._sorting import argsort, partition, searchsorted, sort
from ._ufunc import with_out
from .errors import ArgumentError, DTypeError, ForeignDType, IndexOutOfBounds, ShapeError

#: alpha and beta of the continuous methods of Hyndman and Fan.
_CONTINUOUS = {
    "interpolated_inverted_cdf": (0, 1),
    "hazen": (0.5, 0.5),
    "weibull": (0, 0),
    "median_unbiased": (1 / 3.0, 1 / 3.0),
    "normal_unbiased": (3 / 8.0, 3 / 8.0),
}
#: Methods without interpolation.
_OF_ELEMENTS = ("inverted_cdf", "closest_observation", "lower", "higher", "nearest")
_METHODS = ("inverted_cdf", "averaged_inverted_cdf", "closest_observation", *_CONTINUOUS, "linear", "lower", "higher",
            "midpoint", "nearest")


class _number:
    """Functions of one number, as NumPy's."""

    floor, ceil, rint, maximum = _math.floor, _math.ceil, round, max
    where = staticmethod(lambda condition, x, y: x if condition else y)
    logical_and = staticmethod(lambda x, y: x and y)


def _places(xp, n, q, method):
    """The two neighbours of each quantile among `n` sorted elements and the weight of the second; `xp` computes with
    `n` and `q`: numbers of the program, or graphc for counts that depend on values."""
    if method not in _METHODS:
        raise ArgumentError(f"quantile: {method!r} is not a valid method. Use one of: {', '.join(_METHODS)}")
    if method in ("inverted_cdf", "closest_observation"):
        at = n * q - 1 if method == "inverted_cdf" else n * q - 1 - 0.5
        low = xp.floor(at)
        exact = at - low == 0
        if method == "closest_observation":
            exact = xp.logical_and(exact, low % 2 == 1)
        at = xp.maximum(xp.where(exact, low, low + 1), 0)
    elif method == "averaged_inverted_cdf":
        at = n * q - 1
    elif method in _CONTINUOUS:
        alpha, beta = _CONTINUOUS[method]
        at = n * q + (alpha + q * (1 - alpha - beta)) - 1
    else:
        at = (n - 1) * q
        at = {"lower": xp.floor, "higher": xp.ceil, "nearest": xp.rint}.get(method, lambda v: v)(at)
        if method == "midpoint":
            at = 0.5 * (xp.floor(at) + xp.ceil(at))
    low = xp.floor(at)
    weight = at - low
    if method == "averaged_inverted_cdf":
        weight = xp.where(weight == 0, 0.5, 1.0)
    elif method == "midpoint":
        weight = xp.where(at % 1 == 0, 0.0, 0.5)
    last = n - 1
    above, below = at >= last, at < 0
    first = xp.where(above, last, xp.where(below, 0, low))
    second = xp.where(above, last, xp.where(below, 0, low + 1))
    return first, second, weight


def _between(a, b, t):
    """As NumPy interpolates: exact at both ends."""
    step, near, far = b - a, t.astype(a.dtype, copy=False), (1 - t).astype(a.dtype, copy=False)
    return _graphc.select(t >= 0.5, b - step * far, a + step * near)


def _merged(x, axis, name):
    """`x` with the named axes as one last axis, and the shape of a result that keeps them as 1."""
    if x.ndim == 1 and (axis is None or (type(axis) is int and axis in (0, -1))):
        return x, (1,)
    axes = list(range(x.ndim)) if axis is None else _axes(axis, x.ndim, name)
    kept = [a for a in range(x.ndim) if a not in axes]
    size = _math.prod(x.shape[a] for a in axes)
    flat = _graphc.transpose(x, tuple(kept + axes)).reshape(tuple(x.shape[a] for a in kept) + (size,))
    return flat, tuple(1 if a in axes else n for a, n in enumerate(x.shape))


def _deliver(result, out, name, shape=None, casting="same_kind", spreads=True):
    """The result, or with kept dimensions (then an array) as `shape`, in `out` if there is one, over which it is broadcast if it `spreads`."""
    result = single(result) if shape is None else asarray(result.reshape(shape))
    wanted = getattr(out, "shape", result.shape)
    if spreads and wanted != result.shape and len(result.shape) <= len(wanted):
        if _py.all(n in (1, m) for n, m in zip(result.shape[::-1], wanted[::-1], strict=False)):
            result = _graphc.broadcast_to(result, wanted)
    return with_out(result, out, casting, name)


def _last_is_nan(s, result):
    """The result, but NaN where a row has one: it sorts last."""
    if s.dtype.kind not in "fc":
        return result
    if s.ndim == 1 and not _graphc.is_tracing() and not _graphc.pending(s) and (last := s[-1]) == last:  # known
        return result
    last = s[..., -1]
    return _graphc.select(last != last, last.astype(result.dtype, copy=False), result)


def _element(s, place, dtype):
    """One element of each row, which of a single row is a single result."""
    found = s[place] if s.ndim == 1 else s[..., place]
    return found if s.dtype is dtype else found.astype(dtype, copy=False)


#: Longer rows of complex numbers, whose order takes two passes of sorting, are parted at their middle; shorter vectors of integers are floats.
_PARTED = 2048


@_stands_for("reduce")
def _halfway(low, high):
    return (low + high) / 2


@_where_operands_are
@_stands_for()
def median(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    """The middle of the sorted elements over `axis` (None: all; an int or a tuple), the mean of the two middle ones of
    an even number; NaN if any is NaN, and of no elements. Integers give float64."""
    x = asarray(a)
    flat, kept = _merged(x, axis, "median")
    n = flat.shape[-1]
    dtype = x.dtype if x.dtype.kind in "fc" else float64
    flat = flat.astype(dtype) if x.dtype.kind in "iu" and flat.ndim == 1 and n <= _PARTED else flat  # which keeps their order
    if n == 0:
        result = mean(flat, -1)  # and the warnings of it
    else:
        parts = x.dtype.kind == "c" and n > _PARTED and not _graphc.is_tracing() and not bool((flat != flat).any())
        s = partition(flat, [(n - 1) // 2, n // 2]) if parts else sort(flat)
        result = _element(s, n // 2, dtype)
        if n % 2 == 0:
            result = _halfway(_element(s, n // 2 - 1, dtype), result)
        result = result if parts else _last_is_nan(s, result)
    return _deliver(result, out, "median", kept if keepdims else None, "unsafe", spreads=False)  # which reduces


def _host_quantiles(q, x, name, most):
    """q in [0, 1] as a host array, and whether it is a plain number, which leaves a result its dtype."""
    weak = type(q) in (int, float)
    values = _np.asarray(q)
    char = values.dtype.char
    if char == "g" or (char == "O" and x.dtype.kind in "iu"):  # fractions of integers are fractions
        raise ForeignDType(f"{name} at {values.dtype}")
    if most == 100:
        values = values / 100 if char != "O" else _np.asarray(values / 100)
    if values.ndim > 2:
        raise ArgumentError(f"{name}: q must be a scalar or 1d")
    if not _np.all((values >= 0) & (values <= 1)):
        raise ArgumentError(f"{name}: {'Percentiles' if most == 100 else 'Quantiles'} must be in the range [0, {most}]")
    return values, weak


def _exact(q, size):
    """q as places among so many elements are computed with it: as it is, but for float16, which has not all of many places."""
    return q.astype(float64) if q.dtype == _np.float16 and size > 2048 else q


@_stands_for()
def _with_quantiles(pick, q, weak):
    """`pick` for each quantile, stacked in front."""
    if q.ndim == 0:
        return pick(q)
    if q.size == 0:
        return pick(_np.zeros((), q.dtype))[None][:0].reshape(q.shape + pick(_np.zeros((), q.dtype)).shape)
    picked = [pick(v) for v in q.reshape(-1)]
    if picked[0].ndim == 0 and not _graphc.is_tracing() and (packed := _graphc.pack(picked)) is not None:
        return packed.reshape(q.shape)
    stacked = concat([expand_dims(v, 0) for v in picked], axis=0)
    return stacked.reshape(q.shape + stacked.shape[1:])


def _result_type(x, q, method, weak):
    """Discrete methods give elements; the others compute with weights of q's dtype."""
    if method in _OF_ELEMENTS:
        return x.dtype
    if x.dtype.kind == "f" and weak:
        return x.dtype
    if q.dtype.kind != "f" and method == "linear":  # whole places
        return x.dtype
    is_whole = q.dtype.kind != "f" and not weak and method in ("averaged_inverted_cdf", "interpolated_inverted_cdf", "weibull")
    return _np.result_type(x.dtype, q.dtype if q.dtype.kind == "f" or is_whole else float64)


def _are_elements(q, method):
    """Whether quantiles are elements. Others are interpolated at whole places, too: beside an infinity that is NaN, as in NumPy."""
    return method in _OF_ELEMENTS or (method == "linear" and q.dtype.kind in "biu")


@_stands_for()
def _quantile(x, q, axis, out, method, keepdims, weights, name, most):
    x = _real(x, name)
    q, weak = _host_quantiles(q, x, name, most)
    if weights is not None:
        return _deliver(_weighted(x, q, axis, method, keepdims, weights, name), out, name)
    flat, kept = _merged(x, axis, name)
    n = flat.shape[-1]
    dtype = _result_type(x, q, method, weak)
    if n == 0:
        raise IndexOutOfBounds(f"{name}: index -1 is out of bounds for axis 0 with size 0")
    else:
        s = sort(flat)
        if x.dtype.kind == "b" and dtype != x.dtype:
            raise DTypeError(f"{name}: numpy boolean subtract, the `-` operator, is not supported: method {method!r} of bool")

        own = x.dtype if x.dtype.kind == "f" else dtype  # whose differences are rounded as NumPy's are

        @_stands_for()
        def pick(v):
            v = _exact(v, n)
            low, high, weight = _places(_number, n, float(v) if v.dtype == float64 else v, method)
            a = below = _element(s, int(low), own)
            a = a.astype(dtype, copy=False)
            if _are_elements(v, method) or x.dtype.kind in "biu" and int(low) == int(high):
                result = a
            else:  # also at the place of an element, beside which an infinity is met
                b = _element(s, int(high), own)
                step = (b - below).astype(dtype, copy=False)
                b = b.astype(dtype, copy=False)
                other = 1 - float(weight) if weak else float(1 - weight)
                result = b - step * other if weight >= 0.5 else a + step * float(weight)
            return _last_is_nan(s, result)

        many = q.size > (_FEW_QUANTILES if own == dtype == x.dtype else 2) and not _graphc.is_tracing()
        result = _of_many(s, q, method, own, dtype) if many else _with_quantiles(pick, q, weak)
    return _deliver(result, out, name, q.shape + kept if keepdims else None)


#: So many, of which nothing is converted, are computed one by one.
_FEW_QUANTILES = 5


class _numbers:
    """The functions of _number, of many at once."""

    floor, ceil, rint, maximum, where, logical_and = _np.floor, _np.ceil, _np.rint, _np.maximum, _np.where, _np.logical_and


@_stands_for()
def _of_many(s, q, method, own, dtype):
    """Quantiles of sorted rows, all of them in the same few operations; as _quantile's of one. NumPy's have the same bits."""
    low, high, weight = _places(_numbers, s.shape[-1], _exact(q.reshape(-1), s.shape[-1]), method)
    places = low.astype(_np.intp), high.astype(_np.intp), _np.asarray(weight)
    is_of, result = _are_elements(q, method), None
    if are_few_known(s):
        try:
            with _np.errstate(all="raise", under="ignore"):
                result = asarray(_picked(_np, _np.asarray(s), *places, is_of, own, dtype))
        except FloatingPointError:
            pass  # which is told of the caller's line
    if result is None:
        import graphc

        result = _picked(graphc, s, *places, is_of, own, dtype)
    return result.reshape(q.shape + result.shape[1:])


@_stands_for()
def _picked(xp, s, low, high, weight, is_of, own, dtype):
    below = s.take(low, -1).astype(own, copy=False)
    result = below.astype(dtype, copy=False)
    if not is_of:
        above = s.take(high, -1).astype(own, copy=False)
        step, above = (above - below).astype(dtype, copy=False), above.astype(dtype, copy=False)
        upper, (near, far) = weight >= 0.5, (w.astype(dtype) for w in (weight, 1 - weight))
        result = result + step * near
        result = xp.where(upper, above - step * far, result)
    if s.dtype.kind == "f":
        last = s[..., -1:]
        result = xp.where(last != last, last.astype(result.dtype, copy=False), result)
    return result if result.ndim == 1 else xp.moveaxis(result, -1, 0)


def _weighted(x, q, axis, method, keepdims, weights, name):
    """The only method for weights is inverted_cdf: the first element at which the sum of weights reaches q of it."""
    if method != "inverted_cdf":
        raise ArgumentError(f"{name}: Only method 'inverted_cdf' supports weights. Got: {method}.")
    weights = asarray(weights)
    if weights.shape != x.shape:
        if axis is None:
            raise TypeError("Axis must be specified when shapes of a and weights differ.")
        axes = _axes(axis, x.ndim, name)
        if weights.shape != tuple(x.shape[i] for i in axes):
            raise ShapeError(f"{name}: Shape of weights must be consistent with shape of a along specified axis: {weights.shape} and {x.shape}")
        weights = _graphc.transpose(weights, tuple(sorted(range(len(axes)), key=axes.__getitem__)))
        weights = _graphc.broadcast_to(weights.reshape(tuple(n if i in axes else 1 for i, n in enumerate(x.shape))), x.shape)
    flat, kept = _merged(x, axis, name)
    load, _ = _merged(weights, axis, name)
    if not _graphc.is_tracing():
        if bool((load < 0).any()):
            raise ArgumentError("Weights must be non-negative.")
        with _quiet():
            sums = load.sum(axis=-1)
            usable = bool((_graphc.isfinite(sums) & (sums > 0)).all())
        if not usable and load.size:
            raise ArgumentError("Weights included NaN, inf or were all zero.")
    order = argsort(flat)
    s, load = take_along_axis(flat, order), take_along_axis(load, order)
    total = load.astype(float64).cumsum(axis=-1)
    share = (total / total[..., -1:]).astype(q.dtype if q.dtype.kind == "f" else float64, copy=False)  # compared as q is rounded
    share = _graphc.select(share == 0, -1.0, share)

    def pick(v):
        place = _graphc.minimum((share < float(v)).sum(axis=-1, keepdims=True), flat.shape[-1] - 1)
        return _last_is_nan(s, take_along_axis(s, place)[..., 0])

    result = _with_quantiles(pick, q, False)
    return result.reshape(q.shape + kept) if keepdims else result


@_where_operands_are
@_stands_for()
def quantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None):
    """The q-quantiles over `axis` (None: all; an int or a tuple), q in [0, 1], by any of NumPy's thirteen methods; the
    axes of `q` come first. NaN if any element is NaN. Raises ValueError for q out of range or an unknown method."""
    x = a
    return _quantile(x, q, axis, out, method, keepdims, weights, "quantile", 1)


@_where_operands_are
@_stands_for()
def percentile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None):
    """`quantile` with q in [0, 100]."""
    x = a
    return _quantile(x, q, axis, out, method, keepdims, weights, "percentile", 100)


def _present(x):
    """The elements of a small vector that are not NaN, where its values are known and any is left; else None."""
    if x.ndim != 1 or not are_few_known(x):
        return None
    is_number = x == x
    left = x if is_number.all() else x[is_number]
    return left if left.size else None


@_stands_for("=All-NaN slice encountered")
def _none_left(count):
    """Which rows have no elements, of each of which is told; of many, or while their values are pending, once."""
    if are_few_known(count):
        missing = count[..., 0] == 0
        for _ in range(int(missing.sum())):
            _tell("All-NaN slice encountered")
        return missing
    return _graphc.isnan(_told(count[..., 0].astype(float32)))


def _is_empty(x):
    return not _graphc.is_open(x) and x.size == 0


@_stands_for()
def _nan_quantile(x, q, axis, out, method, keepdims, weights, name, most):
    x = asarray(x)
    if _is_empty(x) and x.dtype.kind != "c":
        _host_quantiles(q, x, name, most)
        return nanmean(x, axis, None, out, keepdims)  # one for all quantiles, as NumPy gives
    if x.dtype.kind != "f":
        return _quantile(x, q, axis, out, method, keepdims, weights, name, most)
    if weights is not None:
        weights = _graphc.select(x != x, 0.0, weights if asarray(weights).shape == x.shape else asarray(weights))
        lowest = _graphc.select(x != x, _math.inf, x)
        return _quantile(lowest, q, axis, out, method, keepdims, weights, name, most)
    if (left := _present(x)) is not None:
        return _quantile(left, q, axis, out, method, keepdims, None, name, most)
    q, weak = _host_quantiles(q, x, name, most)
    flat, kept = _merged(x, axis, name)
    dtype, is_of = _result_type(x, q, method, weak), _are_elements(q, method)
    if flat.shape[-1] == 0:
        _tell("Mean of empty slice")
        result = full(q.shape + flat.shape[:-1], _math.nan, dtype=dtype)
    else:
        s = sort(flat)
        count = (flat == flat).sum(axis=-1, keepdims=True)
        q = _exact(q if q.dtype.kind == "f" else q.astype(float64), flat.shape[-1])
        n = count.astype(q.dtype)

        def pick(v):
            import graphc

            low, high, weight = _places(graphc, n, full((), float(v), dtype=q.dtype), method)
            at = [_graphc.maximum(place.astype(int64), 0) for place in (low, high)]
            a, b = (take_along_axis(s, place)[..., 0].astype(dtype, copy=False) for place in at)
            result = a if is_of else _between(a, b, weight[..., 0])
            return _graphc.select(missing, asarray(_math.nan, dtype=dtype), result)

        with _quiet():
            missing = _none_left(count)
            result = _with_quantiles(pick, q, weak)
    return _deliver(result, out, name, q.shape + kept if keepdims else None)


@_where_operands_are
@_stands_for()
def nanquantile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None):
    """`quantile` of the elements that are not NaN; NaN, and a warning, where there are none."""
    x = a
    return _nan_quantile(x, q, axis, out, method, keepdims, weights, "nanquantile", 1)


@_where_operands_are
@_stands_for()
def nanpercentile(a, q, axis=None, out=None, overwrite_input=False, method="linear", keepdims=False, *, weights=None):
    """`percentile` of the elements that are not NaN; NaN, and a warning, where there are none."""
    x = a
    return _nan_quantile(x, q, axis, out, method, keepdims, weights, "nanpercentile", 100)


@_where_operands_are
@_stands_for()
def nanmedian(a, axis=None, out=None, overwrite_input=False, keepdims=False):
    """`median` of the elements that are not NaN; NaN, and a warning, where there are none."""
    x = asarray(a)
    if _is_empty(x):
        return nanmean(x, axis, None, out, keepdims)
    if x.dtype.kind not in "fc":
        return median(x, axis, out, keepdims=keepdims)
    if out is None and (left := _present(x)) is not None:
        return median(left, axis, keepdims=keepdims)
    flat, kept = _merged(x, axis, "nanmedian")
    if flat.shape[-1] == 0:
        return median(x, axis, out, keepdims=keepdims)
    result = _median_of_present(flat)
    with _quiet():
        return _deliver(result, out, "nanmedian", kept if keepdims else None, "unsafe")


@_stands_for()
def _median_of_present(flat):
    """The median of the elements of each row that are not NaN."""
    s = sort(flat)
    count = (flat == flat).sum(axis=-1, keepdims=True)
    low = take_along_axis(s, _graphc.maximum((count - 1) // 2, 0))[..., 0]
    high = take_along_axis(s, count // 2 - (count // 2 == flat.shape[-1]))[..., 0]
    with _quiet():
        result = _graphc.select((count % 2 == 1)[..., 0], low, (low + high) / 2)
        missing = _none_left(count)
        return _graphc.select(missing, asarray(_math.nan, dtype=flat.dtype), result)


def _outer_edges(x, limits):
    """Where the bins begin and end, as numbers; read from the values unless given."""
    if limits is not None:
        first, last = limits
        first, last = (v.dtype.type(v.item()) if _graphc.is_array(v) else v for v in (first, last))
        if first > last:
            raise ArgumentError("histogram: max must be larger than min in range parameter.")
        where = "supplied"
    elif x.size == 0:
        return 0, 1
    else:
        ends = [x.min(), x.max()]
        _graphc.eval([x, *ends], "range")  # which is asked for its bins next
        if x.dtype.kind in "iu":
            return _ends(int(ends[0].item()), int(ends[1].item()))
        first, last = (x.dtype.type(end.item()) for end in ends)
        where = "autodetected"
    if not (_math.isfinite(first) and _math.isfinite(last)):
        raise ArgumentError(f"histogram: {where} range of [{first}, {last}] is not finite")
    return _ends(first, last)


def _ends(first, last):
    return (first - 0.5, last + 0.5) if first == last else (first, last)


def _width(x, rule, limits):
    """The width of bins by a named rule."""
    n = x.size
    ends = [x.max(), x.min()]
    _graphc.eval(ends, "range")
    reach = float(ends[0].item()) - float(ends[1].item())
    if rule == "sqrt":
        return reach / _math.sqrt(n)
    if rule == "sturges":
        return reach / (_math.log2(n) + 1.0)
    if rule == "rice":
        return reach / (2.0 * n ** (1.0 / 3))
    if rule == "scott":
        return (24.0 * _math.pi**0.5 / n) ** (1.0 / 3.0) * float(x.std())
    if rule == "fd":
        high, low = percentile(x, [75, 25])
        return 2.0 * float(high - low) * n ** (-1.0 / 3.0)
    if rule == "doane":
        sigma = float(x.std())
        if n <= 2 or sigma <= 0.0:
            return 0.0
        spread = _math.sqrt(6.0 * (n - 2) / ((n + 1.0) * (n + 3)))
        skew = float((((x - x.mean()) / sigma) ** 3).mean())
        return reach / (1.0 + _math.log2(n) + _math.log2(1.0 + abs(skew) / spread))
    if rule == "auto":
        robust, sturges = _width(x, "fd", limits), _width(x, "sturges", limits)
        if robust:
            return min(max(robust, _width(x, "sqrt", limits) / 2), sturges)
        return sturges
    if n <= 1 or reach == 0:
        return 0.0

    def loss(bins):
        p = histogram(x, bins, limits)[0] / n
        return (2 - (n + 1) * float((p * p).sum())) / (reach / bins)

    most = max(100, int(_math.sqrt(n)))
    return reach / min(range(1, most + 1), key=loss)


_RULES = ("stone", "auto", "doane", "fd", "rice", "scott", "sqrt", "sturges")


#: Edges further apart than some of these, times the larger end, surely rise.
_RESOLUTION = {float32: 2.0**-23, float64: 2.0**-52}


def _edges(x, bins, limits, weights):
    """Edges of the bins as an array, and whether they have equal widths."""
    if isinstance(bins, str):
        if bins not in _RULES:
            raise ArgumentError(f"histogram: {bins!r} is not a valid estimator for `bins`")
        if weights is not None:
            raise DTypeError("histogram: Automated estimation of the number of bins is not supported for weighted data")
        first, last = _outer_edges(x, limits)
        inside = x if limits is None else x[_graphc.logical_and(x >= first, x <= last)]
        width = _width(inside, bins, (first, last)) if inside.size else 0
        if width and x.dtype.kind in "iu" and width < 1:
            width = 1
        bins = int(_math.ceil((last - first) / width)) if width else 1
    elif _np.ndim(bins) == 0 if not _graphc.is_array(bins) else bins.ndim == 0:
        try:
            bins = _operator.index(bins)
        except TypeError:
            raise DTypeError("`bins` must be an integer, a string, or an array") from None
        if bins < 1:
            raise ArgumentError("histogram: `bins` must be positive, when an integer")
        first, last = _outer_edges(x, limits)
    else:
        edges = asarray(bins)
        if edges.ndim != 1:
            raise ArgumentError("histogram: `bins` must be 1d, when an array")
        falls = (edges[:-1] > edges[1:]).any()
        _graphc.eval([falls], "monotonic")
        if bool(falls):
            raise ArgumentError("histogram: `bins` must increase monotonically, when an array")
        return edges
    dtype = _np.result_type(first, last, x.dtype)
    if dtype.kind in "iub":
        dtype = _np.result_type(dtype, float)
    if dtype in _RESOLUTION and isinstance(first, (int, float)) and isinstance(last, (int, float)):
        first, last = float(first), float(last)
        if 8 * _RESOLUTION[dtype] * max(abs(first), abs(last)) < (last - first) / bins < _math.inf:
            edges = _graphc.plain_linspace(first, last, bins + 1)
            if edges is not NotImplemented:
                return edges.astype(dtype, copy=False)
    edges = _np.linspace(first, last, bins + 1, dtype=dtype)
    if _np.any(edges[:-1] >= edges[1:]):
        raise ArgumentError(f"histogram: Too many bins for data range. Cannot create {bins} finite-sized bins.")
    return asarray(edges)


def _bins_of(x, edges):
    """1 + the bin of each element, 0 below the first and one more than there are above the last or for NaN."""
    place = searchsorted(edges, x, side="right")
    return place - (x == edges[-1])


#: Up to so many bins the rounding of a quotient in the dtype of the edges is at most one bin.
_MOST_EQUAL = 1 << 16


def _equal_bins_of(x, edges):
    """The same for edges at equal distances: by a quotient, which the edges beside it correct."""
    n = edges.size - 1
    first, last = edges[0], edges[-1]
    inside = (x >= first) & (x <= last)
    place = _graphc.select(inside, (x - first) / (last - first) * n, 0)
    place = _graphc.minimum(place.astype(int64), n - 1)
    place = place - (x < take(edges, place)) + ((x >= take(edges, place + 1)) & (place != n - 1))
    return _graphc.select(inside, place + 1, _graphc.select(x < first, 0, n + 1))


def _values_and_weights(x, weights):
    x = asarray(x)
    if x.dtype.kind == "b":
        _tell(f"Converting input from {x.dtype} to {_np.uint8} for compatibility.")
        x = x.astype(_np.dtype("uint8"))
    if weights is not None:
        weights = asarray(weights)
        if weights.shape != x.shape:
            raise ArgumentError(f"histogram: weights should have the same shape as a: {weights.shape} and {x.shape}")
        weights = weights.reshape((-1,))
    return x.reshape((-1,)), weights


@_where_operands_are
def histogram_bin_edges(a, bins=10, range=None, weights=None):
    """The edges that `histogram` uses."""
    x = a
    x, weights = _values_and_weights(x, weights)
    return _edges(x, bins, range, weights)


def _counts(places, weights, length):
    if weights is None or weights.dtype.kind != "c":
        return bincount(places, weights, minlength=length)
    real, imaginary = (bincount(places, part, minlength=length) for part in (weights.real, weights.imag))
    return real + 1j * imaginary


@_where_operands_are
@_stands_for()
def histogram(a, bins=10, range=None, density=None, weights=None):
    """(counts, edges): how many elements, or which sum of weights, fall into each bin; the last bin has its right edge.
    `bins` is a number of equal bins over `range` (default: from the smallest to the largest element), rising edges,
    or the name of one of NumPy's rules. density=True divides by the total and the widths. Raises ValueError for bins
    or a range that make no sense."""
    x = a
    x, weights = _values_and_weights(x, weights)
    if x.dtype.kind == "c":
        raise ForeignDType("a histogram of complex numbers, whose order and whose places are NumPy's")
    edges = _edges(x, bins, range, weights)
    equal = _np.ndim(bins) == 0 and edges.dtype.kind == "f" and edges.itemsize > 2 and edges.size <= _MOST_EQUAL
    counts = None
    if weights is None and edges.dtype.kind in "iuf":
        counts = _graphc.histogram(x, edges, equal)
    if counts is None:
        values = x.astype(edges.dtype, copy=False) if edges.dtype.kind == "f" else x
        places = _equal_bins_of(values, edges) if equal else _bins_of(values, edges)
        counts = _counts(places, weights, edges.size + 1)[1:-1]
        counts = counts.astype(int64 if weights is None else weights.dtype, copy=False)
    if density:
        return counts / (edges[1:] - edges[:-1]).astype(float64) / counts.sum(), edges
    return counts, edges


@_where_operands_are
def histogramdd(sample, bins=10, range=None, density=None, weights=None):
    """(counts, edges) of points in several dimensions: `sample` is (n, d), or d vectors; `bins` one number, or a number
    or edges for each dimension. Counts are float64, edges a list of vectors."""
    _foreign.leave_to_classes("histogramdd", sample if isinstance(sample, (list, tuple)) else (sample,))
    if isinstance(sample, (_graphc.Array, _np.ndarray)) and sample.ndim == 2:
        sample = asarray(sample)
        columns = [sample[:, i] for i in _py.range(sample.shape[1])]
    else:
        sample = asarray(sample)
        columns = list(sample) if sample.ndim == 2 else [sample.reshape((-1,))]  # of several vectors, or one of them
    d = len(columns)
    if isinstance(bins, (int, _np.integer)):
        bins = [bins] * d
    elif len(bins) != d:
        raise ArgumentError("histogramdd: The dimension of bins must be equal to the dimension of the sample x.")
    limits = (None,) * d if range is None else range
    if len(limits) != d:
        raise ArgumentError("histogramdd: range argument must have one entry per dimension")
    edges = []
    for column, count, limit in zip(columns, bins, limits):
        if isinstance(count, (int, _np.integer)) and count >= 1:
            first, last = _outer_edges(column, limit)
            edges.append(asarray(_np.linspace(first, last, int(count) + 1)))
        elif isinstance(count, (float, _np.floating)) and count < 1:
            raise ArgumentError(f"`bins[{len(edges)}]` must be positive, when an integer")
        else:
            edges.append(_edges(column, count, limit, None))
    flat = None
    for column, edge in zip(columns, edges):
        place = _bins_of(column, edge)
        flat = place if flat is None else flat * (edge.size + 1) + place
    sizes = tuple(e.size + 1 for e in edges)
    if _math.prod(sizes) >= 2**63:
        raise ArgumentError("invalid dims: array size defined by dims is larger than the maximum possible size.")
    if weights is not None:
        weights = asarray(weights)
    counts = bincount(flat, weights, minlength=_math.prod(sizes)).reshape(sizes).astype(float64, copy=False)
    counts = counts[(slice(1, -1),) * d]
    if density:
        total = counts.sum()
        for i, edge in enumerate(edges):
            shape = [1] * d
            shape[i] = edge.size - 1
            counts = counts / (edge[1:] - edge[:-1]).reshape(tuple(shape))
        counts = counts / total
    return counts, list(edges)


@_where_operands_are
def histogram2d(x, y, bins=10, range=None, density=None, weights=None):
    """(counts, x edges, y edges) of points in the plane. `bins` is a number or edges for both, or a pair."""
    _foreign.leave_to_classes("histogram2d", (x, y, bins, weights))
    x, y = asarray(x), asarray(y)
    if x.size != y.size:
        raise ArgumentError("histogram2d: x and y must have the same length.")
    if not isinstance(bins, (int, _np.integer)) and len(bins) != 2:
        bins = [asarray(bins)] * 2
    counts, edges = histogramdd([x, y], bins, range, density, weights)
    return counts, edges[0], edges[1]


#: Points of which a number is found on the host.
_FEW_POINTS = 4096


def _points_of_host(values):
    """Points that need no program, as a NumPy vector of float64; None for others."""
    if _graphc.is_array(values):
        if not 0 < values.size <= (_FEW_POINTS if values.dtype != float64 else values.size) or values.device != "cpu" or values.dtype.kind not in "fiu" or _graphc.pending(values):
            return None
    elif not isinstance(values, (list, tuple, _np.ndarray)) or len(values) > _FEW_POINTS:
        return None
    host = _np.asarray(values)
    return host.astype(_np.float64, copy=False) if host.dtype.kind in "fiu" and host.ndim == 1 and host.size else None


def _interp_number(x, xp, fp, left, right):
    """The value at one number between points that are known, by the operations of the program; None where it has more to say."""
    xp, fp = _points_of_host(xp), None if _graphc.is_tracing() else _points_of_host(fp)
    if xp is None or fp is None or xp.size != fp.size or xp.size < 2:
        return None
    if not xp[0] <= x <= xp[-1]:
        end, other = (left, fp[0]) if x < xp[0] else (right, fp[-1])
        is_known = x == x and xp[0] < xp[-1] and (end is None or type(end) in (int, float))
        return float(other if end is None else end) if is_known else None
    if x == xp[-1]:
        return float(fp[-1])
    j = _py.min(_py.max(int(xp.searchsorted(x, "right")) - 1, 0), xp.size - 2)
    x0, x1, y0, y1 = float(xp[j]), float(xp[j + 1]), float(fp[j]), float(fp[j + 1])
    if x == x0:
        return y0
    if x0 == x1 or not _math.isfinite(y0) or not _math.isfinite(y1) or not _math.isfinite(x1 - x0):
        return None
    return (y1 - y0) / (x1 - x0) * (x - x0) + y0


@_where_operands_are
def interp(x, xp, fp, left=None, right=None, period=None):
    """The piecewise linear function through the points (xp, fp), `xp` rising; `left` and `right` (default: the ends of
    `fp`) beyond them, or with a `period` the points repeated. Raises ValueError when the points are not vectors of one
    length or there are none."""
    if period is None and (type(x) is float or isinstance(x, _np.floating) or (type(x) is int and abs(x) < 1 << 53)):
        value = _interp_number(float(x), xp, fp, left, right)
        if value is not None:
            return single(asarray(value))
    shape = asarray(x).shape
    x, xp = (_floating(a, "interp", False).astype(float64, copy=False) for a in (x, xp))
    fp = asarray(fp)
    fp = fp.astype(complex128 if fp.dtype.kind == "c" else float64, copy=False)
    if xp.ndim != 1 or fp.ndim != 1:
        raise ArgumentError("interp: Data points must be 1-D sequences")
    if xp.size != fp.size:
        raise ArgumentError(f"fp and xp are not of the same length. They have {fp.size} and {xp.size} elements")
    if xp.size == 0:
        raise ArgumentError("interp: array of sample points is empty")
    if period is not None:
        if period == 0:
            raise ArgumentError("interp: period must be a non-zero value")
        period, left, right = abs(period), None, None
        x, xp = x % period, xp % period
        order = argsort(xp)
        xp, fp = take(xp, order), take(fp, order)
        xp = concat((xp[-1:] - period, xp, xp[:1] + period))
        fp = concat((fp[-1:], fp, fp[:1]))
    if fp.dtype.kind == "c":  # part by part: the product of an infinite and a zero part is no value
        ends = [(None, None) if v is None else (complex(v).real, complex(v).imag) for v in (left, right)]
        parts = [interp(x, xp, part, ends[0][i], ends[1][i]) for i, part in enumerate((fp.real, fp.imag))]
        return single(_of_parts(*parts).reshape(shape))
    x = x.reshape((-1,))
    n = xp.size
    result = fp[-1]
    if n > 1:
        j = _graphc.clip(searchsorted(xp, x, side="right") - 1, 0, n - 2)
        x0, x1, y0, y1 = take(xp, j), take(xp, j + 1), take(fp, j), take(fp, j + 1)
        slope = (y1 - y0) / (x1 - x0)
        inner = slope * (x - x0) + y0
        # An infinite end: from the other one; between equal ends there is nothing to compute.
        other = slope * (x - x1) + y1
        inner = _graphc.select(inner != inner, _graphc.select(_graphc.logical_and(other != other, y0 == y1), y0, other), inner)
        result = _graphc.select(x == x0, y0, inner)
        result = _graphc.select(x == xp[-1], fp[-1], result)
    result = _graphc.select(x > xp[-1], fp[-1] if right is None else right, result)
    result = _graphc.select(x < xp[0], fp[0] if left is None else left, result)
    return single((_graphc.select(x != x, x, result) if n > 1 else result).reshape(shape))


interp.quick = _graphc.plain_interp
