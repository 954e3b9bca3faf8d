"""Shapes, joins, selection, rounding. Views alias their array exactly where NumPy's do."""

import builtins as _py
import operator as _operator

import numpy as _np

from . import _graphc
from ._creation import asarray
from ._dtypes import as_dtype  # noqa: F401  (re-exported to the sibling modules)
from .errors import ArgumentError, AxisError, ShapeError, UnsupportedError


def _axis(axis, ndim, what):
    axis = _operator.index(axis)
    if not -ndim <= axis < ndim:
        raise AxisError(f"{what}: axis {axis} is out of bounds for array of dimension {ndim}")
    return axis % ndim


def _axes(axes, ndim, what):
    if not isinstance(axes, (tuple, list)):
        axes = (axes,)
    found = [_axis(a, ndim, what) for a in axes]
    if len(set(found)) != len(found):
        raise AxisError(f"{what}: repeated axis in {tuple(axes)}")
    return found


def reshape(x, /, shape, *, copy=None):
    """The elements in row-major order under another shape; one size may be -1. A view where NumPy gives one.
    Raises ShapeError when the element counts differ."""
    x = asarray(x)
    shape = tuple(shape) if isinstance(shape, (tuple, list)) else (shape,)
    if copy:
        x = x.copy()
    result = _graphc.reshape(x, shape)
    if copy is False and not _graphc.shares_storage(x, result):
        raise ArgumentError(f"reshape from {x.shape} to {shape} needs a copy, and copy=False forbids it")
    return result


def ravel(x, /):
    """One axis, row-major; a view where NumPy gives one."""
    return _graphc.reshape(asarray(x), (-1,))


def transpose(x, /, axes=None):
    """A view with the axes permuted; reversed when `axes` is None."""
    return _graphc.transpose(asarray(x), axes)


def permute_dims(x, /, axes):
    """A view with the axes in the given order."""
    return _graphc.transpose(asarray(x), axes)


def matrix_transpose(x, /):
    """A view with the last two axes swapped."""
    return asarray(x).mT


def swapaxes(x, axis1, axis2, /):
    """A view with two axes swapped."""
    x = asarray(x)
    order = list(range(x.ndim))
    i, j = _axis(axis1, x.ndim, "swapaxes"), _axis(axis2, x.ndim, "swapaxes")
    order[i], order[j] = order[j], order[i]
    return _graphc.transpose(x, tuple(order))


def moveaxis(x, source, destination, /):
    """A view with some axes moved, the others in their order."""
    x = asarray(x)
    source = _axes(source, x.ndim, "moveaxis")
    destination = _axes(destination, x.ndim, "moveaxis")
    if len(source) != len(destination):
        raise ArgumentError(f"moveaxis: {len(source)} source axes but {len(destination)} destinations")
    order = [i for i in range(x.ndim) if i not in source]
    for to, from_ in sorted(zip(destination, source)):
        order.insert(to, from_)
    return _graphc.transpose(x, tuple(order))


def expand_dims(x, /, axis):
    """A view with size-1 axes inserted at the given places of the result."""
    return _graphc.expand_dims(asarray(x), axis)


def squeeze(x, /, axis=None):
    """A view without size-1 axes (all of them, or the named ones). Raises ShapeError if a named one is larger."""
    return _graphc.squeeze(asarray(x), axis)


def broadcast_to(x, /, shape):
    """A read-only view of the given shape, by NumPy's broadcasting."""
    return _graphc.broadcast_to(asarray(x), tuple(shape) if isinstance(shape, (tuple, list)) else (shape,))


def broadcast_shapes(*shapes):
    """The shape several shapes broadcast to. Raises ShapeError naming them all."""
    try:
        return _np.broadcast_shapes(*shapes)
    except ValueError:
        text = " ".join(str(tuple(s) if isinstance(s, (tuple, list)) else (s,)) for s in shapes)
        raise ShapeError(f"shapes could not be broadcast together: {text}") from None


def broadcast_arrays(*arrays):
    """The arrays broadcast against each other, as a tuple of views."""
    arrays = [asarray(a) for a in arrays]
    shape = broadcast_shapes(*[a.shape for a in arrays])
    return tuple(a if a.shape == shape else _graphc.broadcast_to(a, shape) for a in arrays)


def concatenate(arrays, /, axis=0, *, dtype=None):
    """Arrays joined along an axis (flattened first when axis is None), promoted to one dtype. Raises ShapeError
    when ranks or other sizes differ, or when there is nothing to join."""
    result = _graphc.concatenate([asarray(a) for a in arrays], axis)
    return result if dtype is None else result.astype(as_dtype(dtype), copy=False)


def concat(arrays, /, *, axis=0):
    """`concatenate` under its Array API name."""
    return concatenate(arrays, axis)


def stack(arrays, /, axis=0):
    """Arrays of one shape joined along a new axis."""
    arrays = [asarray(a) for a in arrays]
    if not arrays:
        raise ShapeError("stack: need at least one array")
    shapes = {a.shape for a in arrays}
    if len(shapes) > 1:
        raise ShapeError(f"stack: all arrays must have the same shape, got {[a.shape for a in arrays]}")
    place = _axis(axis, arrays[0].ndim + 1, "stack")
    return _graphc.concatenate([_graphc.expand_dims(a, place) for a in arrays], place)


def unstack(x, /, *, axis=0):
    """Views of `x` along an axis, as a tuple."""
    x = moveaxis(asarray(x), axis, 0)
    return tuple(x[i] if x.ndim > 1 else x[i : i + 1].reshape(()) for i in range(x.shape[0]))


def flip(x, /, axis=None):
    """A view with axes reversed (all of them when axis is None)."""
    x = asarray(x)
    axes = range(x.ndim) if axis is None else _axes(axis, x.ndim, "flip")
    return x[tuple(slice(None, None, -1) if i in axes else slice(None) for i in range(x.ndim))] if x.ndim else x


def roll(x, /, shift, axis=None):
    """Elements shifted along axes, those that fall off re-entering at the other end."""
    x = asarray(x)
    if axis is None:
        return roll(_graphc.reshape(x, (-1,)), shift, 0).reshape(x.shape)
    axes = axis if isinstance(axis, (tuple, list)) else (axis,)
    shifts = shift if isinstance(shift, (tuple, list)) else (shift,) * len(axes)
    if len(shifts) != len(axes):
        raise ArgumentError(f"roll: {len(shifts)} shifts for {len(axes)} axes")
    for by, along in zip(shifts, axes):
        along = _axis(along, x.ndim, "roll")
        size = x.shape[along]
        by = _operator.index(by) % size if size else 0
        if by:
            before = (slice(None),) * along
            x = _graphc.concatenate([x[before + (slice(size - by, None),)], x[before + (slice(None, size - by),)]], along)
    return x


def tile(x, repetitions, /):
    """`x` repeated along each axis."""
    x = asarray(x)
    counts = tuple(repetitions) if isinstance(repetitions, (tuple, list)) else (repetitions,)
    counts = (1,) * (x.ndim - len(counts)) + counts
    shape = (1,) * (len(counts) - x.ndim) + x.shape
    spread = tuple(n for pair in zip((1,) * len(shape), shape) for n in pair)
    wide = tuple(n for pair in zip(counts, shape) for n in pair)
    full = tuple(c * n for c, n in zip(counts, shape))
    return _graphc.broadcast_to(x.reshape(spread), wide).reshape(full).copy()


def where(condition, x=None, y=None, /):
    """`x` where the condition is nonzero, else `y`; all three broadcast, `x` and `y` promote. A condition alone gives the
    places where it holds, as nonzero."""
    if x is None and y is None:
        from ._indexing import nonzero

        return nonzero(condition)
    if x is None or y is None:
        raise ArgumentError("either both or neither of x and y should be given")
    return _graphc.select(condition, x, y)


def clip(x, /, min=None, max=None):
    """`x` limited to [min, max]; either may be None. NaN anywhere gives NaN; min above max gives max."""
    if min is None and max is None:
        return asarray(x).copy()
    if min is None:
        return _graphc.minimum(x, max)
    return _graphc.maximum(x, min) if max is None else _graphc.clip(x, min, max)


def round(x, /, decimals=0):
    """Rounded to a number of decimals, ties to even; integers are unchanged."""
    x = asarray(x)
    decimals = _operator.index(decimals)
    if decimals == 0 or (decimals > 0 and x.dtype.kind in "iu"):
        return _graphc.round(x)
    if x.dtype.kind != "f":
        raise UnsupportedError(f"round: {x.dtype} to {decimals} decimals is not supported")
    scale = 10.0 ** _py.abs(decimals)
    return _graphc.round(x * scale) / scale if decimals > 0 else _graphc.round(x / scale) * scale


def copy(x, /):
    """A copy that shares nothing with `x`."""
    return asarray(x).copy()


def ndim(x, /):
    """Number of axes."""
    return asarray(x).ndim


def shape(x, /):
    """Shape as a tuple."""
    return asarray(x).shape


def size(x, /, axis=None):
    """Number of elements, or of one axis."""
    x = asarray(x)
    return x.size if axis is None else x.shape[_axis(axis, x.ndim, "size")]


def shares_memory(a, b, /):
    """Whether two arrays have an element in common."""
    return _graphc.shares_memory(asarray(a), asarray(b))
