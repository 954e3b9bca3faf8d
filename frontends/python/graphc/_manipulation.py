"""Shapes, joins, selection, rounding. Views alias their array exactly where NumPy's do."""

import builtins as _py
import operator as _operator
import sys as _sys

import numpy as _np

from . import _graphc
from ._complex import of_parts as _of_parts
from ._creation import asarray, asarrays, given, mask_of, operand, single
from ._dtypes import as_dtype, can_cast, float64, refuse_casting
from ._ufunc import _NO_VALUE, is_missing, refuse_cast
from ._ufunc import with_out as _with_out
from ._float_errors import stands_for as _stands_for
from .errors import ArgumentError, AxisError, DTypeError, ShapeError


def _axis(axis, ndim, what):
    axis = _operator.index(axis)
    if not -ndim <= axis < ndim:
        raise AxisError(f"{what}: axis {axis} is out of bounds for array of dimension {ndim}")
    return axis % ndim


def _axes(axes, ndim, what):
    if not isinstance(axes, (tuple, list)):
        try:
            axes = (_operator.index(axes),)
        except TypeError:  # of several axes in an array as well
            axes = tuple(axes) if hasattr(axes, "__iter__") else (axes,)
    found = [_axis(a, ndim, what) for a in axes]
    if len(set(found)) != len(found):
        raise AxisError(f"repeated axis in `{what}` argument: {tuple(axes)}")
    return found


def reshape(a, /, shape, order="C", *, copy=None):
    """The elements in row-major order under another shape; one size may be -1. A view where NumPy gives one.
    Raises ShapeError when the element counts differ."""
    x = asarray(a)
    shape = x.shape if shape is None else shape
    shape = tuple(shape) if isinstance(shape, (tuple, list)) or hasattr(shape, "__len__") else (shape,)
    if copy:
        x = x.copy()
    result = _graphc.reshape(x, shape) if order == "C" else x.reshape(shape, order=order)
    if copy is False and not _graphc.shares_storage(x, result):
        raise ArgumentError(f"Unable to avoid creating a copy while reshaping: from {x.shape} to {shape}.")
    return result


def ravel(a, order="C"):
    """One axis, row-major unless `order` says otherwise; a view where NumPy gives one."""
    return (a if type(a) is _graphc.ndarray else asarray(a)).ravel(order)


def transpose(a, axes=None):
    """A view with the axes permuted; reversed when `axes` is None."""
    return _graphc.transpose(given(a), axes)


def permute_dims(a, axes=None):
    """A view with the axes in the given order."""
    return _graphc.transpose(given(a), axes)


def matrix_transpose(x, /):
    """A view with the last two axes swapped."""
    x = asarray(x)
    if x.ndim < 2:
        raise ShapeError(f"Input array must be at least 2-dimensional, but it is {x.ndim}")
    return x.mT


def swapaxes(a, axis1, axis2):
    """A view with two axes swapped."""
    x = asarray(a)
    order = list(range(x.ndim))
    i, j = _axis(axis1, x.ndim, "swapaxes"), _axis(axis2, x.ndim, "swapaxes")
    order[i], order[j] = order[j], order[i]
    return _graphc.transpose(x, tuple(order))


def moveaxis(a, source, destination):
    """A view with some axes moved, the others in their order."""
    x = asarray(a)
    source = _axes(source, x.ndim, "source")
    destination = _axes(destination, x.ndim, "destination")
    if len(source) != len(destination):
        raise ArgumentError("`source` and `destination` arguments must have the same number of elements")
    order = [i for i in range(x.ndim) if i not in source]
    for to, from_ in sorted(zip(destination, source)):
        order.insert(to, from_)
    return _graphc.transpose(x, tuple(order))


def expand_dims(a, axis):
    """A view with size-1 axes inserted at the given places of the result."""
    return _graphc.expand_dims(asarray(a), tuple(map(_operator.index, axis)) if isinstance(axis, (tuple, list)) else _operator.index(axis))


def squeeze(a, axis=None):
    """A view without size-1 axes (all of them, or the named ones). Raises ShapeError if a named one is larger."""
    return _graphc.squeeze(given(a), axis)


def broadcast_to(array, shape, subok=False):
    """A read-only view of the given shape, by NumPy's broadcasting."""
    return _graphc.broadcast_to(asarray(array), tuple(shape) if hasattr(shape, "__len__") else (shape,))


def broadcast_shapes(*shapes):
    """The shape several shapes broadcast to. Raises ShapeError naming them all."""
    try:
        return _np.broadcast_shapes(*shapes)
    except ValueError as e:
        raise ShapeError(str(e)) from None


def broadcast_arrays(*arrays, subok=False):
    """The arrays broadcast against each other, as a tuple of views."""
    arrays = asarrays(arrays)
    shapes = [a.shape for a in arrays]
    if len(set(shapes)) < 2:
        return tuple(arrays)
    shape = broadcast_shapes(*shapes)
    return tuple(a if a.shape == shape else _graphc.broadcast_to(a, shape) for a in arrays)


_NUMBERS = {bool, int, float}


@_stands_for()
def concatenate(arrays, /, axis=0, out=None, *, dtype=None, casting="same_kind"):
    """Arrays joined along an axis (flattened first when axis is None), promoted to one dtype. Raises ShapeError
    when ranks or other sizes differ, or when there is nothing to join."""
    arrays = list(arrays)
    is_plain = out is None and dtype is None and casting == "same_kind"
    if is_plain and arrays and _py.all(map(_graphc.is_array, arrays)):
        return _graphc.concatenate(arrays, axis)
    if is_plain and arrays and _py.all([type(a) is _np.ndarray or _graphc.is_array(a) for a in arrays]):
        return _graphc.concatenate(asarrays(arrays), axis)
    if is_plain and axis is not None and arrays and _py.all(map(_is_plain, arrays)):
        return _graphc.concatenate(arrays, axis)
    refuse_casting(casting)
    if axis is None:  # Python numbers, which have no axis to join along, are weak
        kind = _graphc.result_type(*(a if isinstance(a, (bool, int, float, complex)) else asarray(a) for a in arrays)) if arrays else None
        arrays = [asarray(a).astype(kind) if isinstance(a, (bool, int, float, complex)) else a for a in arrays]
    if out is not None and dtype is not None:
        raise TypeError("concatenate() only takes `out` or `dtype` as an argument, but both were provided.")
    arrays = asarrays(arrays)
    result = _graphc.concatenate(arrays, axis)
    if is_plain:
        return result
    target = out.dtype if out is not None else result.dtype if dtype is None else as_dtype(dtype)
    for x in arrays:
        if not can_cast(x.dtype, target, casting):
            raise DTypeError(f"Cannot cast array data from dtype('{x.dtype}') to dtype('{target}') according to the rule '{casting}'")
    if out is None:
        return result.astype(target, copy=False)
    if out.shape != result.shape:
        raise ShapeError(f"concatenate: output array of shape {out.shape} for a result of shape {result.shape}")
    return _with_out(result, out, "unsafe", "concatenate")


def _is_plain(x):
    """Whether it is an Array or a list of Python numbers."""
    return _graphc.is_array(x) or (type(x) is list and x and not set(map(type, x)) - _NUMBERS)


concat = concatenate


def in_sequence(arrays):
    """What is joined: a sequence. Raises TypeError for an iterator."""
    if not hasattr(arrays, "__getitem__"):
        raise TypeError('arrays to stack must be passed as a "sequence" type such as list or tuple.')
    return arrays


def _lies_otherwise(arrays):
    """Whether the first one of some arrays lies in another order than row-major, which what they are joined to has too."""
    first = arrays[0] if arrays else None
    return type(first) is _graphc.ndarray and first.ndim > 1 and not first.contiguous


def stack(arrays, axis=0, out=None, *, dtype=None, casting="same_kind"):
    """Arrays of one shape joined along a new axis."""
    is_plain = out is None and dtype is None and casting == "same_kind"
    if is_plain and type(axis) is int and axis == 0 and type(arrays) in (list, tuple) and not _lies_otherwise(arrays):
        packed = _graphc.pack(arrays)  # what is computed
        if packed is not None:
            return packed
    arrays = asarrays(in_sequence(arrays))
    if not arrays:
        raise ShapeError("need at least one array to stack")
    shapes = {a.shape for a in arrays}
    if len(shapes) > 1:
        raise ShapeError(f"stack: all input arrays must have the same shape, got {[a.shape for a in arrays]}")
    place = _axis(axis, arrays[0].ndim + 1, "stack")
    rows = [_graphc.expand_dims(a, place) for a in arrays]
    return _graphc.concatenate(rows, place) if is_plain else concatenate(rows, place, out, dtype=dtype, casting=casting)


def unstack(x, /, *, axis=0):
    """Views of `x` along an axis, as a tuple."""
    x = moveaxis(asarray(x), axis, 0)
    return tuple(x[i] for i in range(x.shape[0]))


def flip(m, axis=None):
    """A view with axes reversed (all of them when axis is None); of a single value a copy."""
    x = asarray(m)
    if axis is None and x.ndim == 1:
        return x[::-1]
    axes = range(x.ndim) if axis is None else _axes(axis, x.ndim, "flip")
    if len(axes) == 1:
        return x[(slice(None),) * axes[0] + (slice(None, None, -1),)]
    return x[tuple(slice(None, None, -1) if i in axes else slice(None) for i in range(x.ndim))] if x.ndim else _graphc.flip(x, None)


def roll(a, shift, axis=None):
    """Elements shifted along axes, those that fall off re-entering at the other end."""
    x = asarray(a)
    if axis is None:
        return roll(_graphc.reshape(x, (-1,)), shift, 0).reshape(x.shape)
    is_plain = type(shift) is int and type(axis) is int
    pairs = None if is_plain else _np.broadcast(*(_np.asarray(v) if _graphc.is_array(v) else v for v in (shift, axis)))
    if pairs is not None and pairs.ndim > 1:
        raise ArgumentError("'shift' and 'axis' should be scalars or 1D sequences")
    shifts = {}
    for by, along in pairs or ((shift, axis),):
        along = _axis(along, x.ndim, "roll")
        shifts[along] = shifts.get(along, 0) + int(by)
    given = x
    for along, by in shifts.items():
        size = x.shape[along]
        by = by % size if size else 0
        if by:
            before = (slice(None),) * along
            x = _graphc.concatenate([x[before + (slice(size - by, None),)], x[before + (slice(None, size - by),)]], along)
    return x.copy() if x is given else x


def tile(A, reps):
    """`A` repeated along each axis."""
    x = asarray(A)
    counts = tuple(reps) if hasattr(reps, "__iter__") and getattr(reps, "ndim", 1) else (reps,)
    if _py.all(r == 1 for r in counts):
        counts = (1,) * len(counts)  # as NumPy, which looks at no kind here
    counts = tuple(_operator.index(r) for r in counts)
    counts = (1,) * (x.ndim - len(counts)) + counts
    shape = (1,) * (len(counts) - x.ndim) + x.shape
    spread = tuple(n for pair in zip((1,) * len(shape), shape) for n in pair)
    wide = tuple(n for pair in zip(counts, shape) for n in pair)
    full = tuple(c * n for c, n in zip(counts, shape))
    return _graphc.broadcast_to(x.reshape(spread), wide).reshape(full).copy()


@_stands_for()
def where(condition, x=_np._NoValue, y=_np._NoValue, /):
    """`x` where the condition is nonzero, else `y`; all three broadcast, `x` and `y` promote. A condition alone gives the
    places where it holds, as nonzero."""
    if x is _np._NoValue and y is _np._NoValue:
        return _sys.modules[__package__].nonzero(condition)  # as users call it
    if x is _np._NoValue or y is _np._NoValue:
        raise ArgumentError("either both or neither of x and y should be given")
    try:
        return asarray(_graphc.select(condition, x, y))
    except OverflowError:
        return asarray(_graphc.select(condition, _wrapped(x, y), _wrapped(y, x)))


where.quick = _graphc.plain_where


def _wrapped(value, other):
    """A Python integer beyond the dtype of the other operand as what NumPy's `where` makes of it."""
    if type(value) is not int or type(other) is int:
        return value
    dtype = _graphc.result_type(asarray(other), 0)
    if dtype.kind not in "iu" or not -(1 << 63) <= value < 1 << 64:
        return value
    bits = value & ((1 << 8 * dtype.itemsize) - 1)
    return _np.dtype(f"u{dtype.itemsize}").type(bits).astype(dtype)


@_stands_for()
def clip(a, a_min=_NO_VALUE, a_max=_NO_VALUE, out=None, *, min=_NO_VALUE, max=_NO_VALUE, where=True, casting="same_kind", dtype=None, order="K", subok=True):
    """`a` limited to [a_min, a_max], of which both are given and either may be None, or to what `min` and `max` name. NaN anywhere
    gives NaN; min above max gives max."""
    if is_missing(a_min) and is_missing(a_max):
        a_min, a_max = min, max
    elif is_missing(a_min) or is_missing(a_max):
        raise TypeError(f"clip() missing 1 required positional argument: '{'a_min' if is_missing(a_min) else 'a_max'}'")
    elif not (is_missing(min) and is_missing(max)):
        raise ArgumentError("Passing `min` or `max` keyword argument when `a_min` and `a_max` are provided is forbidden.")
    refuse_casting(casting)
    low, high = (None if is_missing(v) else v for v in (a_min, a_max))
    x = operand(a) if dtype is None else operand(a).astype(as_dtype(dtype))
    low, high = (_weak_bound(v, x.dtype, up) for v, up in ((low, False), (high, True)))
    if low is None and high is None:
        if x.dtype.kind == "b":
            raise DTypeError("ufunc 'positive' did not contain a loop with signature matching types <class 'numpy.dtypes.BoolDType'> -> None")
        result = x.copy() if _graphc.is_array(a) and a.ndim else single(x.copy())
    elif low is None:
        result = _graphc.minimum(x, high)
    elif high is None:
        result = _graphc.maximum(x, low)
    elif _graphc.result_type(x, low, high).kind == "c":
        x = x.astype(_graphc.result_type(x, low, high), copy=False)
        result = _graphc.minimum(_graphc.maximum(x, low), high)
    else:
        result = _graphc.clip(x, low, high)
    if casting != "same_kind":
        for v in (x, low, high):
            refuse_cast(getattr(v, "dtype", result.dtype), result.dtype, casting, "clip")
    if where is not True:
        result = _graphc.select(mask_of(where), result, x.astype(result.dtype, copy=False))
    return _with_out(result, out, casting, "clip")


def _weak_bound(value, dtype, is_upper):
    """A Python integer outside an integer dtype bounds nothing, or everything at the dtype's end."""
    if type(value) is not int or dtype.kind not in "iu":
        return value
    limits = _np.iinfo(dtype)
    if limits.min <= value <= limits.max:
        return value
    if (value > limits.max) == is_upper:
        return None
    raise OverflowError(f"Python integer {value} out of bounds for {dtype}")


@_stands_for()
def round(a, decimals=0, out=None):
    """Rounded to a number of decimals, ties to even; both parts of a complex number."""
    x = operand(a)
    if x.dtype.kind == "c":
        return _with_out(_of_parts(*(round(p, decimals) for p in (x.real, x.imag))), out, "same_kind", "round")
    decimals = _operator.index(decimals)
    kind = x.dtype if x.dtype.kind == "b" or (decimals < 0 and out is not None) else None
    if decimals and kind is not None and kind.kind in "biu":  # NumPy scales into an output of that dtype
        what = "multiply" if decimals > 0 else "divide"
        refuse_cast(float64, kind if out is None else out.dtype, "same_kind", what)
    if x.dtype.kind == "b":
        x = x.astype("float16")
    if decimals == 0 or (decimals > 0 and x.dtype.kind in "iu"):
        return _with_out(_graphc.round(x), out, "same_kind", "rint")
    scale = 10.0 ** _py.abs(decimals)
    scaled = _graphc.round(x * scale) / scale if decimals > 0 else _graphc.round(x / scale) * scale
    return _with_out(scaled.astype(x.dtype, copy=False), out, "same_kind", "round")


around = round


def copy(a, order="K", subok=False):
    """A copy that shares nothing with `a`, in its memory order unless `order` is another one."""
    return asarray(a).copy("K" if order is None else order)


def ndim(a):
    """Number of axes."""
    return a.ndim if hasattr(a, "ndim") else asarray(a).ndim


def shape(a):
    """Shape as a tuple."""
    return tuple(a.shape) if hasattr(a, "shape") else asarray(a).shape


def size(a, axis=None):
    """Number of elements, or of one axis, or of several."""
    x = asarray(a)
    if isinstance(axis, (tuple, list)):
        return int(_np.prod([x.shape[i] for i in _axes(axis, x.ndim, "size")], dtype=int))
    return x.size if axis is None else x.shape[_axis(axis, x.ndim, "size")]


def _root(x):
    """An array whose memory `x` shows: both kinds of arrays, and nested sequences, which have none."""
    if not isinstance(x, (list, tuple, _np.ndarray, _np.generic)) and not _graphc.is_array(x) and hasattr(x, "__array_interface__"):
        x = _np.asarray(x)
    elif not _graphc.is_array(x) and not isinstance(x, _np.ndarray) and hasattr(type(x), "__array__"):
        x = x.__array__()
    shared = _graphc.Array._borrowed(x) if isinstance(x, _np.ndarray) else None
    return x if shared is None and isinstance(x, (_graphc.Array, _np.ndarray)) else shared


def shares_memory(a, b, /, max_work=None):
    """Whether two arrays have an element in common. Exact: strides are solved for, not only ranges."""
    if max_work is not None:
        _np.shares_memory(_NOTHING, _NOTHING, max_work)  # refuses what is no such number
    a, b = _root(a), _root(b)
    if a is None or b is None:
        return False
    if _graphc.is_array(a) and _graphc.is_array(b):
        if not _graphc.shares_memory(a, b):
            return False
        return (a.contiguous and b.contiguous and a.size * b.size > 0) or _overlap(_np.shares_memory, a, b, max_work)
    return _np.shares_memory(_np.asarray(a), _np.asarray(b), max_work)


_NOTHING = _np.empty(0)


def _overlap(solve, a, b, max_work):
    """Whether two views of one storage have an element in common; NumPy's function solves it for stand-ins without memory."""
    low = _graphc.view_offset(a), _graphc.view_offset(b)
    ranges = [(o * x.itemsize, x) for o, x in zip(low, (a, b))]
    first = _py.min(o + _py.sum(_py.min(0, (n - 1) * s) for n, s in zip(x.shape, x.strides)) for o, x in ranges)
    last = _py.max(o + _py.sum(_py.max(0, (n - 1) * s) for n, s in zip(x.shape, x.strides)) for o, x in ranges)
    stage = _np.lib.stride_tricks.as_strided(_np.empty(1, "u1"), (last - first + _py.max(a.itemsize, b.itemsize),), (1,))
    stands = [
        _np.ndarray(x.shape, x.dtype, buffer=stage, offset=o - first, strides=x.strides)
        for o, x in ranges
    ]
    return solve(*stands, max_work)


def may_share_memory(a, b, /, max_work=None):
    """Whether the ranges of memory of two arrays overlap; with `max_work`, as far as that goes, whether they have an element in common."""
    a, b = _root(a), _root(b)
    if a is None or b is None:
        return False
    if _graphc.is_array(a) and _graphc.is_array(b):
        return _graphc.shares_memory(a, b) and (max_work in (None, 0) or _overlap(_np.may_share_memory, a, b, max_work))
    return _np.may_share_memory(_np.asarray(a), _np.asarray(b), max_work)
