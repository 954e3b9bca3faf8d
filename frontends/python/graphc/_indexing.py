"""Elements named by arrays: take, put, nonzero and their relatives. All are gathers and scatters that fuse with their
neighbours; a size that depends on values is open until the shape is asked for."""

import builtins as _py
import operator as _operator

import numpy as _np

from . import _graphc
from ._creation import arange, asarray, assigned, operand, zeros
from ._devices import where_operands_are as _where_operands_are
from ._dtypes import float64, int64, refuse_unsafe
from ._float_errors import stands_for as _stands_for, tell as _tell
from ._manipulation import _axis, broadcast_arrays, ravel, reshape, stack
from ._reductions import any as _any
from ._reductions import cumsum, max, min
from ._ufunc import write as _write
from .errors import ArgumentError, DTypeError, ForeignDType, IndexOutOfBounds, ShapeError

_Array = _graphc.Array


def _indices(values, device, what, takes_floats=True):
    """Indices as an array; an empty list has no dtype of its own, an empty array has. One number may be a float."""
    found = values if _graphc.is_array(values) else asarray(values, device=device)
    if found.dtype.kind not in "iu":
        is_single = _graphc.is_array(values) and _graphc.is_value(values) and found.dtype.kind == "f"
        is_number = takes_floats and (is_single or isinstance(values, (float, _np.floating)))
        if found.dtype.kind != "b" and not is_number and (found.size or isinstance(values, (_Array, _np.ndarray))):
            raise DTypeError(f"{what}: only int indices permitted, not {found.dtype}")
        found = found.astype("int64")
    return found


def _whole_numbers(values, found):
    """The array `found` that is made of `values`; of lists of floats the integers that NumPy makes of them, element by element."""
    return found.astype("int64") if isinstance(values, (list, tuple)) and found.dtype.kind == "f" and found.size else found


def _in_mode(indices, size, mode, what, counts_back=True):
    """Indices that need no check in the modes 'wrap' and 'clip'; ones below zero where those count from the end."""
    if mode == "raise":
        return indices
    if mode not in ("wrap", "clip"):
        raise ArgumentError(f"{what}: mode is 'raise', 'wrap' or 'clip', not {mode!r}")
    if size == 0 and indices.size:
        raise IndexOutOfBounds(f"{what}: cannot do a non-empty take from an empty axes.")
    if _graphc.are_inside(indices, -size if mode == "wrap" and counts_back else 0, size):
        return indices
    indices = indices.astype("int64", copy=False)
    return indices % _py.max(size, 1) if mode == "wrap" else _graphc.clip(indices, 0, _py.max(size - 1, 0))


def _deliver(result, out, what, safe=True):
    """The result, or `out`, whose values could be the array's: NumPy asks for the cast in that direction."""
    if out is None:
        return result
    if not isinstance(out, (_graphc.Array, _np.ndarray)):
        raise TypeError(f"{what}: output must be an array, not {type(out).__name__}")
    if out.shape != result.shape:
        raise ShapeError(f"{what}: out has shape {out.shape}, the result {result.shape}")
    if safe:
        refuse_unsafe(out.dtype, result.dtype)
    return _write(result, out, "unsafe", what)


def take(a, indices, axis=None, out=None, mode="raise"):
    """Elements at integer `indices` of any shape along `axis` (None: of the flattened array); the indices' axes take the
    axis's place. Negative indices count from the end. mode: 'raise' refuses an index outside (IndexError, also when
    it is found while computing), 'wrap' takes it modulo the size, 'clip' moves it to the nearest end."""
    x = operand(a)
    if axis is None or (x.ndim == 0 and axis in (0, -1)):
        x, axis = ravel(x), 0
    axis = _axis(axis, x.ndim, "take")
    size = x.shape[axis]
    is_plain = axis and mode == "raise" and type(indices) is list and {*map(type, indices)} == {int} and not _graphc.is_tracing()
    if is_plain and -size <= min(indices) and max(indices) < size:
        return _deliver(x[(slice(None),) * axis + (indices,)], out, "take")
    if isinstance(indices, (list, tuple)):
        indices = _whole_numbers(indices, asarray(indices, device=x.device)) if indices else indices
    indices = _in_mode(_indices(indices, x.device, "take"), x.shape[axis], mode, "take")
    taken = x[(slice(None),) * axis + (indices,)] if axis and not _graphc.is_tracing() else _graphc.take(x, indices, axis)
    return _deliver(taken, out, "take")


@_stands_for()
def _cycled(values, count):
    """The first `count` of the flattened values, repeated as often as needed."""
    flat = ravel(values)
    if flat.shape[0] >= count:
        return flat[:count]
    if flat.shape[0] == 1:
        return _graphc.broadcast_to(flat, (count,))
    return flat[arange(count, device=flat.device) % flat.shape[0]]


def _flat_key(x, places):
    """Flat places of an array as a key of it."""
    key = []
    for size in reversed(x.shape):
        key.append(places % size)
        places = places // size
    return tuple(reversed(key))


def _are_places(indices):
    """Whether it is a list of Python's integers, of which there is one."""
    return type(indices) in (list, tuple) and {*map(type, indices)} == {int}


def _fits(x, values, count):
    """Whether values are an element of the array's dtype for each place, and elsewhere."""
    return type(values) is _graphc.ndarray and values.dtype is x.dtype and values.shape == (count,) and not _graphc.shares_storage(values, x)


def _holds(dtype, number):
    """Whether a dtype has a number of Python's as it is, or as it is rounded."""
    return type(number) in (int, float) and dtype is float64 or type(number) is int and dtype is int64 and -(2**31) < number < 2**31


@_stands_for()
def put(a, ind, v, mode="raise"):
    """Writes `v`, repeated as needed, to flat `ind` of `a`, in order. Modes as in take."""
    x, indices, values = a, ind, v
    if type(x) is _graphc.ndarray and x.ndim == 1 and mode == "raise" and _are_places(ind) and (_holds(x.dtype, v) or _fits(x, v, len(ind))) and not _graphc.is_tracing():
        try:
            x[list(ind)] = v
            return
        except IndexError:
            pass  # said below
    if not _graphc.is_array(x):
        raise ForeignDType(f"argument 1 must be a graphc array, not {type(x).__name__}")
    if mode == "raise" and not _graphc.is_array(indices) and not _graphc.is_tracing():
        given = _np.asarray(indices).ravel()
        outside = given[(given < -x.size) | (given >= x.size)] if given.dtype.kind in "iu" else given[:0]
        if outside.size:
            raise IndexOutOfBounds(f"index {outside[0]} is out of bounds for axis 0 with size {x.size}")
    if isinstance(indices, (list, tuple)):
        indices = _whole_numbers(indices, asarray(indices, device=x.device)) if indices else indices
    indices = _indices(indices, x.device, "put")
    refuse_unsafe(indices.dtype)
    indices = ravel(_in_mode(indices, x.size, mode, "put") if x.size else indices)
    values = assigned(values, x)
    if indices.shape[0] == 0 or values.size == 0:
        return
    if x.size == 0:
        raise IndexOutOfBounds("cannot replace elements of an empty array")
    values = _cycled(values, indices.shape[0])
    flat = _graphc.reshape(x, (-1,))
    if _graphc.shares_storage(x, flat):
        flat[indices] = values
        return
    copied = x.copy()
    flat = _graphc.reshape(copied, (-1,))
    flat[indices] = values
    x[...] = copied


def _along(x, indices, axis, what):
    if indices.dtype.kind not in "iu":
        raise IndexOutOfBounds(f"{what}: `indices` must be an integer array")
    if x.ndim != indices.ndim:
        raise ArgumentError(f"{what}: `indices` and `arr` must have the same number of dimensions")
    key = []
    for d, size in enumerate(x.shape):
        shape = [1] * x.ndim
        shape[d] = size
        key.append(indices if d == axis else reshape(arange(size, device=x.device), tuple(shape)))
    return tuple(key)


def take_along_axis(arr, indices, axis=-1):
    """Elements that `indices`, of x's rank, names along `axis`; the other axes are matched by broadcasting. None
    flattens both."""
    x = asarray(arr)
    indices = indices if _graphc.is_array(indices) else asarray(indices, device=x.device)
    if axis is None:
        if indices.ndim != 1:
            raise ArgumentError("take_along_axis: when axis=None, `indices` must have a single dimension.")
        x, axis = ravel(x), 0
    axis = _axis(axis, x.ndim, "take_along_axis")
    return x[_along(x, indices, axis, "take_along_axis")]


def put_along_axis(arr, indices, values, axis):
    """Writes `values` to the elements that take_along_axis would give."""
    x = arr
    indices = indices if _graphc.is_array(indices) else asarray(indices, device=x.device)
    if axis is None:
        if indices.ndim != 1:
            raise ArgumentError("put_along_axis: when axis=None, `indices` must have a single dimension.")
        x, axis = _graphc.reshape(x, (-1,)), 0
    axis = _axis(axis, x.ndim, "put_along_axis")
    x[_along(x, indices, axis, "put_along_axis")] = values


def flatnonzero(a):
    """Positions of the nonzero elements of the flattened array, int64. Counted when the shape is asked for."""
    x = a
    return _graphc.flatnonzero(asarray(x))


def nonzero(a):
    """Positions of the nonzero elements, one int64 array an axis, in row-major order. Counted when a shape is asked for;
    ValueError for 0-d arrays."""
    if type(a) is _graphc.ndarray and a.ndim == 1:
        return (_graphc.flatnonzero(a),)
    x = asarray(a)
    if x.ndim == 0:
        raise ArgumentError(
            "Calling nonzero on 0d arrays is not allowed. Use np.atleast_1d(scalar).nonzero() instead. If the context of "
            "this error is of the form `arr[nonzero(cond)]`, just use `arr[cond]`."
        )
    flat = flatnonzero(x)
    return (flat,) if x.ndim == 1 else _flat_key(x, flat)


def argwhere(a):
    """Positions of the nonzero elements as rows: shape (count, ndim), int64."""
    x = asarray(a)
    if x.ndim == 0:
        return zeros((flatnonzero(x).shape[0], 0), "int64", device=x.device)
    return stack(nonzero(x), axis=1)


#: So many rows are named by Python's numbers sooner than counted in a mask.
_FEW_CHOSEN = 64


@_where_operands_are
def compress(condition, a, axis=None, out=None):
    """The parts of `a` along `axis` (None: flattened) where a condition of one axis holds. Counted when called."""
    x = asarray(a)
    if type(condition) in (list, tuple) and {*map(type, condition)} <= {bool, int} and ((type(axis) is int and axis == 0) or (axis is None and x.ndim == 1)) and out is None and x.ndim:
        chosen = [i for i, holds in enumerate(condition) if holds]
        if chosen and len(chosen) <= _FEW_CHOSEN:
            return x[chosen]
    condition = asarray(condition, device=None if _graphc.is_array(condition) else x.device)
    if condition.ndim != 1:
        raise ArgumentError("compress: condition must be a 1-d array")
    if axis is None or (x.ndim == 0 and axis in (0, -1)):
        x, axis = ravel(x), 0
    axis = _axis(axis, x.ndim, "compress")
    if axis == 0 and condition.shape[0] == x.shape[0]:
        return _deliver(x[condition.astype("bool", copy=False)], out, "compress")
    return take(x, flatnonzero(condition), axis, out)


@_where_operands_are
def extract(condition, arr):
    """The elements of the flattened `arr` where the flattened condition holds."""
    x = arr
    return compress(ravel(asarray(condition)), ravel(asarray(x)))


@_stands_for()
def place(arr, mask, vals):
    """Writes the values, one after the other and repeated as needed, where the mask holds."""
    x, values = arr, vals
    if not _graphc.is_array(x):
        raise ForeignDType(f"place: argument 1 must be an array, not {type(x).__name__}")
    mask = asarray(mask, device=None if _graphc.is_array(mask) else x.device)
    if mask.size != x.size:
        raise ArgumentError("place: mask and data must be the same size")
    places = flatnonzero(mask)
    values = assigned(values, x, is_safe=True)
    if places.shape[0] and not values.size:
        raise ArgumentError("Cannot insert from an empty array!")
    put(x, places, values)


@_stands_for()
def putmask(a, mask, values):
    """x.flat[i] = values.flat[i % values.size] where the mask holds; nothing is counted."""
    x = a
    mask = asarray(mask, device=None if _graphc.is_array(mask) else x.device)
    values = assigned(values, x, is_safe=True)
    if mask.size != x.size:
        raise ArgumentError("putmask: mask and data must be the same size")
    if values.size and x.size:
        wide = reshape(_cycled(values, x.size), x.shape).astype(x.dtype, copy=False)
        x[...] = _graphc.select(reshape(mask, x.shape), wide, x)


@_where_operands_are
def choose(a, choices, out=None, mode="raise"):
    """For each element the choice that an integer names; all broadcast against each other. An index outside is a
    ValueError (mode 'raise', looked at when called), or taken as in take."""
    index = _indices(a, None, "choose", takes_floats=False)
    refuse_unsafe(index.dtype)
    kind = _graphc.result_type(*choices)
    choices = [asarray(c) for c in choices]
    if mode == "raise":
        if index.size and bool(_any((index < 0) | (index >= len(choices)))):
            raise ArgumentError("invalid entry in choice array")
    index = _in_mode(index, len(choices), mode, "choose", counts_back=False)
    index, *choices = broadcast_arrays(index, *choices)
    result = choices[0].astype(kind)
    for number, choice in enumerate(choices[1:], 1):
        result = _graphc.select(index == number, choice.astype(kind, copy=False), result)
    return _deliver(result if out is not None or result.contiguous else result.copy(), out, "choose", safe=False)


def bincount(x, weights=None, minlength=0):
    """How often each integer from 0 to max(x) occurs in a 1-d array, at least `minlength` counts, int64; with weights
    their sums in float64, added in order. The length is found when called."""
    if getattr(x, "size", 1) == 0 and getattr(x, "dtype", int64).kind not in "iub":
        refuse_unsafe(x.dtype)
    x = _whole_numbers(x, found := asarray(x))
    if found is not x and found.dtype.kind == "f":
        _tell("Non-integer input passed to bincount. In a future version of NumPy, this will be an error. (Deprecated NumPy 2.1)", DeprecationWarning)
    minlength = _operator.index(minlength)
    if type(weights) is _graphc.ndarray and weights.dtype.kind in "iub":
        weights = weights.astype(float64)
    counts = _graphc.bincount(x if x.dtype.kind != "b" else x.astype(int64), minlength, weights)
    if counts is not None:
        return counts
    if x.ndim != 1:
        raise ArgumentError("object of too small depth for desired array" if x.ndim == 0 else "object too deep for desired array")
    if minlength < 0:
        raise ArgumentError("'minlength' must not be negative")
    if x.size and x.dtype.kind not in "iub":
        refuse_unsafe(x.dtype)
    length = minlength
    if x.size:
        if x.dtype != int64:
            x = x.astype(int64)
        ends = [_graphc.reduce(kind, x, None, False, None) for kind in ("min", "max")]
        _graphc.eval(ends, "mask")
        if int(ends[0]) < 0:
            raise ArgumentError("'list' argument must have no negative elements")
        length = _py.max(length, int(ends[1]) + 1)
    counts = zeros((length,), float64 if weights is not None and x.size else int64, device=x.device)  # of no elements: as NumPy
    if weights is not None:
        weights = asarray(weights, dtype="float64", device=x.device)
        if weights.shape != x.shape:
            raise ArgumentError("The weights and list don't have the same length.")
    if x.size:
        _graphc.scatter(counts, x, 1 if weights is None else weights, "add")
    return counts


def repeated_places(counts, total):
    """Which element each of `total` repetitions shows: the number of counts that ended before it."""
    ends = cumsum(counts.astype("int64", copy=False))
    steps = zeros((total + 1,), "int64", device=counts.device)
    if ends.shape[0] > 1:
        _graphc.scatter(steps, ends[:-1], 1, "add")
    return cumsum(steps[:total])


def unravel_index(indices, shape, order="C"):
    """Flat places as one index array an axis of an array of the given shape. ValueError for a place outside, looked at
    when called."""
    if order not in ("C", "F"):
        raise ArgumentError(f"unravel_index: order is 'C' or 'F', not {order!r}")
    sizes = shape if isinstance(shape, (tuple, list)) or getattr(shape, "ndim", 0) == 1 else (shape,)
    shape = tuple(map(_operator.index, sizes))
    if isinstance(indices, (list, tuple)) and not indices:
        raise TypeError("indices must be integral: the provided empty sequence was inferred as float.")
    places = _indices(indices, None, "unravel_index", False).astype("int64", copy=False)
    count = int(_np.prod(shape, dtype=object)) if shape else 1
    if not shape and places.ndim and bool(_any(places != 0)):
        raise ArgumentError(f"index {int(max(places))} is out of bounds for array with size 1")
    if not shape and places.ndim:
        raise ArgumentError("multiple indices are not supported for 0d array")
    if count >= 2**63:
        raise ArgumentError("dimensions are too large; arrays and shapes with a total size greater than 'intp' are not supported.")
    if places.size and bool(_any((places < 0) | (places >= count))):
        low, high = int(min(places)), int(max(places))
        raise ArgumentError(f"index {low if low < 0 else high} is out of bounds for array with size {count}")
    found = []
    for size in reversed(shape) if order == "C" else shape:
        found.append(places % size)
        places = places // size
    return tuple(reversed(found) if order == "C" else found)


@_where_operands_are
def ravel_multi_index(multi_index, dims, mode="raise", order="C"):
    """Flat places from one index array an axis. Modes as in take, one for all axes or one an axis; an index outside is a
    ValueError, looked at when called."""
    if _np.prod(dims, dtype=object) >= 2**63:
        raise ArgumentError("invalid dims: array size defined by dims is larger than the maximum possible size.")
    if _py.any(isinstance(i, (list, tuple)) and not i for i in multi_index):
        raise TypeError("indices must be integral: the provided empty sequence was inferred as float.")
    modes = (mode,) * len(dims) if isinstance(mode, str) else tuple(mode)
    arrays = broadcast_arrays(*[_indices(i, None, "ravel_multi_index", False).astype("int64", copy=False) for i in multi_index])
    if len(arrays) != len(dims):
        raise ArgumentError(f"parameter multi_index must be a sequence of length {len(dims)}")
    flat, step = None, 1
    pairs = list(zip(arrays, dims, modes))
    for index, size, how in reversed(pairs) if order == "C" else pairs:
        if how == "raise" and index.size and bool(_any((index < 0) | (index >= size))):
            raise ArgumentError("invalid entry in coordinates array")
        if how != "raise" and index.size and size == 0:
            raise ArgumentError("cannot unravel if shape has zero entries.")
        index = _in_mode(index, size, how, "ravel_multi_index")
        flat = index * step if flat is None else flat + index * step
        step *= size
    return flat
