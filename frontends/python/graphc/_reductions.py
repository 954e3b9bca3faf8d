"""Reductions. Float sums and products have one canonical order (docs/numerics.md), so their bits never depend on
threads, devices or memory layout."""

import math as _math

from . import _graphc
from ._creation import asarray, full, lies_by_columns, mask_of, operand, operand_once, turned
from ._devices import where_operands_are as _where_operands_are
from ._dtypes import as_dtype, bool_, dtype_of_sums, float32, float64
from ._float_errors import errstate
from ._float_errors import stands_for as _stands_for
from ._float_errors import tell as _tell
from ._manipulation import _axis, concat
from ._ufunc import _NO_VALUE, check_output, is_missing, reduce_array, with_out
from ._ufunc_loops import scan
from .errors import ArgumentError, AxisError, ForeignDType


def _dtype(dtype):
    return None if dtype is None else as_dtype(dtype)


@_where_operands_are
@_stands_for()
def _reduce(name, x, axis, dtype, out, keepdims, initial, where):
    """A reduction with a mask, an initial value or an output."""
    from . import _functions

    operation, x, kind = getattr(_functions, _UFUNCS[name]), asarray(x), _dtype(dtype)
    if name in ("sum", "prod"):
        kind = dtype_of_sums(x, out, kind)
    if where is True and initial is _NO_VALUE:
        return with_out(_graphc.reduce(name, x, axis, keepdims, kind), out, "unsafe", name)
    return with_out(reduce_array(operation, x, axis, kind, keepdims, initial, where), out, "unsafe", name)


_UFUNCS = {"sum": "add", "prod": "multiply", "min": "minimum", "max": "maximum", "any": "logical_or", "all": "logical_and"}


@_stands_for()
def sum(a, axis=None, dtype=None, out=None, keepdims=False, initial=_NO_VALUE, where=True):
    """Sum over `axis` (None: all; an int or a tuple). Small integers and bool add up in 64 bits, as in NumPy. `where`
    leaves elements out, `initial` is added. Raises AxisError for an axis out of range or named twice."""
    if out is None and initial is _NO_VALUE and where is True:
        return _graphc.reduce("sum", operand_once(a), axis, keepdims, _dtype(dtype))
    return _reduce("sum", a, axis, dtype, out, keepdims, initial, where)


@_stands_for()
def prod(a, axis=None, dtype=None, out=None, keepdims=False, initial=_NO_VALUE, where=True):
    """Product over `axis`; arguments, dtypes and errors as `sum`."""
    if out is None and initial is _NO_VALUE and where is True:
        return _graphc.reduce("prod", operand_once(a), axis, keepdims, _dtype(dtype))
    return _reduce("prod", a, axis, dtype, out, keepdims, initial, where)


@_stands_for()
def mean(a, axis=None, dtype=None, out=None, keepdims=False, *, where=True):
    """Arithmetic mean over `axis`; integers and bool give float64. Of no elements: NaN, and a warning."""
    x = operand_once(a) if out is None and where is True else operand(a)
    if axis is not None and x.ndim == 0:
        _count((), axis)  # which has none of the axes that sums take
    if where is True and not _graphc.is_open(x) and x.size == 0 and _count(x.shape, axis) == 0:
        _tell("Mean of empty slice")  # before what the division meets, which may be an error
        if out is dtype is None and not keepdims and _is_single(x, axis):
            return _single_mean(x, axis)
    written = out[0] if isinstance(out, tuple) and len(out) == 1 else out
    of_output = hasattr(written, "dtype")  # what is no array is refused below
    result = _mean_for(x, axis, _dtype(dtype), written, keepdims, where) if of_output else _mean(x, axis, dtype, keepdims, where)
    return with_out(result, out, "unsafe", "mean")


def _is_single(x, axis):
    """Whether NumPy divides a sum over these axes as one of its scalars."""
    is_whole = axis is None or x.ndim == 1 or (isinstance(axis, tuple) and len(axis) == x.ndim)
    return is_whole and (x.dtype.kind in "biu" or x.dtype.char in "dD")


@_stands_for("scalar divide")
def _single_mean(x, axis):
    """As NumPy divides its scalars; those of other dtypes are divided as arrays."""
    return _mean(x, axis, None, False, True)


@_stands_for()
def _mean_for(x, axis, dtype, out, keepdims, where):
    """The mean for an output: the sum, which is of the output's dtype, is divided."""
    kind = dtype or {"float16": float32}.get(x.dtype.name) or (dtype_of_sums(x, out, None) if x.dtype.kind in "fc" else float64)
    if kind == out.dtype == x.dtype:
        return _mean(x, axis, kind, keepdims, where)
    total = _reduce("sum", x, axis, kind, None, keepdims, _NO_VALUE, where).astype(out.dtype)
    return total / _chosen(x, axis, keepdims, where)


@_stands_for()
def _mean(x, axis, dtype, keepdims, where):
    kind = _dtype(dtype)
    if kind is not None and kind.kind in "biu":  # the quotient of the sum in that dtype
        return (_reduce("sum", x, axis, kind, None, keepdims, _NO_VALUE, where) / _chosen(x, axis, keepdims, where)).astype(kind)
    if where is True:
        return _graphc.reduce("mean", x, axis, keepdims, kind)
    kind = kind or (x.dtype if x.dtype.kind in "fc" else float64)
    total = _reduce("sum", x, axis, kind, None, keepdims, _NO_VALUE, where)
    return total / _chosen(x, axis, keepdims, where).astype(kind)


def _chosen(x, axis, keepdims, where):
    """How many elements a mask leaves."""
    return sum(_graphc.broadcast_to(mask_of(where), x.shape), axis, keepdims=keepdims)


def min(a, axis=None, out=None, keepdims=False, initial=_NO_VALUE, where=True):
    """Smallest element over `axis`; NaN if any is NaN; -0 is smaller than +0. Raises ValueError for no elements."""
    if out is None and initial is _NO_VALUE and where is True:
        return _graphc.reduce("min", operand_once(a), axis, keepdims, None)
    return _reduce("min", a, axis, None, out, keepdims, initial, where)


def max(a, axis=None, out=None, keepdims=False, initial=_NO_VALUE, where=True):
    """Largest element over `axis`; NaN if any is NaN. Raises ValueError for no elements."""
    if out is None and initial is _NO_VALUE and where is True:
        return _graphc.reduce("max", operand_once(a), axis, keepdims, None)
    return _reduce("max", a, axis, None, out, keepdims, initial, where)


amin = min
amax = max


def any(a, axis=None, out=None, keepdims=False, *, where=True):
    """Whether any element over `axis` is nonzero; False for none."""
    if out is None and where is True:
        return _graphc.reduce("any", operand_once(a), axis, keepdims, None)
    return _reduce("any", a, axis, None, out, keepdims, _NO_VALUE, where)


def all(a, axis=None, out=None, keepdims=False, *, where=True):
    """Whether all elements over `axis` are nonzero; True for none."""
    if out is None and where is True:
        return _graphc.reduce("all", operand_once(a), axis, keepdims, None)
    return _reduce("all", a, axis, None, out, keepdims, _NO_VALUE, where)


def _with_place(place, out, name):
    """An index goes to any integers and bool, as in NumPy, but not to floats."""
    return with_out(place, out, "unsafe" if getattr(getattr(out, "dtype", None), "kind", "f") in "biu" else "safe", name)


def argmin(a, axis=None, out=None, *, keepdims=False):
    """int64 index of the first smallest element along one axis, or of the flattened array. NaN wins. Raises
    ValueError for no elements."""
    return _with_place(_graphc.reduce("argmin", operand_once(a), axis, keepdims, None), out, "argmin")


def argmax(a, axis=None, out=None, *, keepdims=False):
    """int64 index of the first largest element along one axis, or of the flattened array. NaN wins. Raises
    ValueError for no elements."""
    return _with_place(_graphc.reduce("argmax", operand_once(a), axis, keepdims, None), out, "argmax")


@_stands_for()
def _cumulative(kind, x, axis, dtype, include_initial):
    x = asarray(x)
    x = x if x.ndim else x.reshape((1,))
    if axis is None and x.ndim != 1:
        raise ArgumentError(f"cumulative_{kind}: an array of {x.ndim} dimensions needs an axis")
    result = _graphc.scan(kind, x, 0 if axis is None else axis, _dtype(dtype))
    if not include_initial:
        return result
    shape = list(result.shape)
    shape[0 if axis is None else axis] = 1
    first = full(shape, 0 if kind == "sum" else 1, dtype=result.dtype, device=result.device)
    return concat((first, result), axis=0 if axis is None else axis)


@_stands_for()
def cumulative_sum(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    """Running sums along `axis`, which only 1-d arrays may leave out; `include_initial` starts with a zero. Float sums
    follow one order (docs/numerics.md)."""
    return with_out(_cumulative("sum", x, axis, dtype, include_initial), out)


@_stands_for()
def cumulative_prod(x, /, *, axis=None, dtype=None, out=None, include_initial=False):
    """Running products along `axis`; see `cumulative_sum`."""
    return with_out(_cumulative("prod", x, axis, dtype, include_initial), out)


@_stands_for()
def _scan(kind, x, axis, dtype):
    """In the memory order of the array, as NumPy."""
    if axis is None or not lies_by_columns(x):
        return scan(kind, x, axis, dtype)
    return turned(scan(kind, x.T, x.ndim - 1 - _axis(axis, x.ndim, f"cum{kind}"), dtype))


@_stands_for()
def cumsum(a, axis=None, dtype=None, out=None):
    """Running sums along `axis`, or of the flattened array; dtypes as `sum`."""
    x = operand(a)
    return with_out(_scan("sum", x, axis, dtype_of_sums(x, out, _dtype(dtype))), out, "unsafe", "cumsum")


@_stands_for()
def cumprod(a, axis=None, dtype=None, out=None):
    """Running products along `axis`, or of the flattened array; dtypes as `prod`."""
    x = operand(a)
    return with_out(_scan("prod", x, axis, dtype_of_sums(x, out, _dtype(dtype))), out, "unsafe", "cumprod")


def count_nonzero(a, axis=None, *, keepdims=False):
    """How many elements over `axis` are nonzero, as int64."""
    x = a if _graphc.is_array(a) else asarray(a)
    return _graphc.reduce("sum", x if x.dtype is bool_ else x != 0, axis, bool(keepdims), None)


@_stands_for()
def _squared_size(x):
    if x.dtype.kind != "c":
        return _graphc.square(x)
    return _graphc.square(x._part(0)) + _graphc.square(x._part(1))


def refuse_complex_spread(x, dtype, kind):
    """Squared distances are added up in a dtype that is given, and stay complex in a complex one."""
    if dtype is not None and "c" in (x.dtype.kind, kind.kind):
        raise ForeignDType("a variance with complex numbers or of a complex dtype")


def freedom_lost(ddof, correction):
    """`ddof` under either of its names."""
    if correction is None:
        return ddof
    if ddof != 0:
        raise ArgumentError("ddof and correction can't be provided simultaneously.")
    return correction


@_stands_for()
def var(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=_NO_VALUE, correction=None):
    """Variance over `axis`: the mean of the squared distances from the mean, times n / (n - ddof); real also of complex
    numbers. `correction` is
    another name for `ddof`; a known `mean` (with kept dimensions) may be given. Two passes, as NumPy."""
    x = operand(a)
    kind = _dtype(dtype) or (x.dtype if x.dtype.kind in "fc" else float64)
    refuse_complex_spread(x, dtype, kind)
    if kind.kind in "biu":
        return with_out(_whole_var(x, axis, kind, freedom_lost(ddof, correction), keepdims, where, mean), out, "unsafe", "var")
    x = x.astype(kind, copy=False)
    is_open = _graphc.is_open(x)
    if where is True and not is_open and _count(x.shape, axis) <= freedom_lost(ddof, correction):
        _tell("Degrees of freedom <= 0 for slice")
    center = _mean(x, axis, None, True, where) if is_missing(mean) else asarray(mean)
    distance = x - center
    squares = _squared_size(distance)
    is_single = where is True and out is None and not keepdims and not is_open and x.size == 0 and _is_single(squares, axis)
    spread = _single_mean(squares, axis) if is_single else _mean(squares, axis, None, keepdims, where)
    ddof = freedom_lost(ddof, correction)
    if where is True and not is_open and 0 < _count(x.shape, axis) <= ddof:
        spread = spread * _count(x.shape, axis) / 0.0  # of which errors are told, as NumPy
    elif ddof != 0:
        if is_open:
            present = _graphc.logical_or(x == x, True)  # a shape that is not known has no number of elements
            count = sum(present, axis, keepdims=keepdims).astype(float64)
            with errstate(all="ignore"):  # what is not chosen is divided as well
                scale = _graphc.select(count > ddof, count / (count - ddof), _graphc.select(count == 0, _math.nan, _math.inf))
            scale = scale.astype(spread.dtype)
        elif where is True:
            count = _count(x.shape, axis)
            scale = count / (count - ddof) if count else _math.nan
        else:
            count = _chosen(x, axis, keepdims, where).astype(kind)
            scale = _graphc.select(count > ddof, count / (count - ddof), _math.inf)
        spread = spread * scale
    return with_out(spread, out, "unsafe", "var")



@_stands_for()
def _whole_var(x, axis, kind, ddof, keepdims, where, mean):
    """The variance in integers: what is divided is cut, the mean as well."""

    def total(y, keeps):
        return _reduce("sum", y, axis, kind, None, keeps, _NO_VALUE, where)

    center = (total(x, True) / _chosen(x, axis, True, where)).astype(kind) if is_missing(mean) else asarray(mean)
    distance = x - center
    return (total(distance * distance, keepdims) / _graphc.maximum(_chosen(x, axis, keepdims, where) - ddof, 0)).astype(kind)


@_stands_for()
def std(a, axis=None, dtype=None, out=None, ddof=0, keepdims=False, *, where=True, mean=_NO_VALUE, correction=None):
    """Standard deviation: the square root of `var`."""
    spread = var(a, axis, dtype, None, ddof, keepdims, where=where, mean=mean, correction=correction)
    if spread.dtype.kind in "biu":
        root = _graphc.sqrt(spread)
        if spread.ndim:  # written over its operand, as by NumPy
            check_output(spread, root.shape, root.dtype, "same_kind", "sqrt")
        return with_out(root.astype(spread.dtype), out, "unsafe", "std")
    return with_out(_graphc.sqrt(spread), out, "unsafe", "std")


def _count(shape, axis):
    if axis is None:
        return _math.prod(shape)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    for a in axes:
        if not -len(shape) <= a < len(shape):
            raise AxisError(f"axis {a} is out of bounds for array of dimension {len(shape)}")
    return _math.prod(shape[a] for a in axes)


@_where_operands_are
def array_equal(a1, a2, equal_nan=False):
    """Whether two arrays have one shape and equal elements, as a Python bool (this evaluates; inside `jit` as a 0-d array). NaN is
    equal to NaN when `equal_nan`."""
    a, b = asarray(a1), asarray(a2)
    if a.shape != b.shape:
        return False
    equal = a == b
    if equal_nan and a.dtype.kind in "fc" and b.dtype.kind in "fc":
        equal = equal | ((a != a) & (b != b))
    same = all(equal)
    return same if _graphc.is_tracing() else bool(same)


@_where_operands_are
@_stands_for()
def average(a, axis=None, weights=None, returned=False, *, keepdims=False):
    """Mean, or weighted mean with weights of the shape of `a` or of its axes `axis`; with the sum of the weights when
    `returned`. Raises ZeroDivisionError when weights sum to zero (this evaluates their sum; in a jitted function the mean
    is NaN)."""
    x = asarray(a)
    if weights is None:
        result = mean(x, axis, keepdims=keepdims)
        scale = asarray(x.size / _math.prod(result.shape) if result.size else 0.0, result.dtype)
    else:
        weights = asarray(weights)
        _count(x.shape, axis)  # sums of numbers take axes that averages refuse
        if x.shape != weights.shape:
            axes = tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
            axes = [i % x.ndim for i in axes] if x.ndim else []
            if axis is None:
                raise TypeError("Axis must be specified when shapes of a and weights differ.")
            if weights.shape != tuple(x.shape[i] for i in axes):
                raise ArgumentError(f"Shape of weights must be consistent with shape of a along specified axis: {weights.shape}, {x.shape}")
            order = sorted(range(len(axes)), key=axes.__getitem__)
            wide = tuple(n if i in axes else 1 for i, n in enumerate(x.shape))
            weights = _graphc.transpose(weights, tuple(order)).reshape(wide)
            weights = _graphc.broadcast_to(weights, x.shape)
        kind = _graphc.result_type(x, weights, *([float64] if x.dtype.kind in "biu" else []))
        scale = sum(weights, axis, kind, keepdims=keepdims)
        if not _graphc.is_tracing() and bool((scale == 0).any()):
            raise ZeroDivisionError("Weights sum to zero, can't be normalized")
        result = sum(x.astype(kind, copy=False) * weights, axis, kind, keepdims=keepdims) / scale
    return (result, _graphc.broadcast_to(scale, result.shape).copy()) if returned else result
