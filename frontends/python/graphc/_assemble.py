"""Arrays cut apart and put together: NumPy's split, stack, repeat and rotate families. All are views and joins of
`_manipulation`, so they are fused like any other indexing."""

from __future__ import annotations

import builtins as _py
import itertools as _itertools
import math as _math
import operator as _operator
from typing import TYPE_CHECKING

import numpy as _np

from . import _foreign, _graphc
from ._creation import asarray, asarrays, assigned, in_order, lies_by_columns, operand, refuse_vast
from ._devices import where_operands_are as _where_operands_are
from ._dtypes import as_dtype, refuse_unsafe
from ._float_errors import stands_for as _stands_for
from ._manipulation import _axes, _axis, concatenate, flip, in_sequence, moveaxis, stack, transpose
from .errors import ArgumentError, AxisError, DTypeError, IndexOutOfBounds, ShapeError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ._types import Array, ArrayLike


def _along(axis, item):
    """The index that applies `item` to one axis and leaves those before it alone."""
    return (slice(None),) * axis + (item,)


def _atleast(rank, shape_of, arrays):
    results = []
    for x in asarrays(arrays):
        results.append(x if x.ndim >= rank else x.reshape(shape_of(x.shape)))
    return results[0] if len(results) == 1 else tuple(results)


def atleast_1d(*arrays: ArrayLike) -> Array | tuple[Array, ...]:
    """Views with at least one axis; several arguments give a tuple."""
    return _atleast(1, lambda shape: (1,), arrays)


def atleast_2d(*arrays: ArrayLike) -> Array | tuple[Array, ...]:
    """Views with at least two axes, new ones first; several arguments give a tuple."""
    return _atleast(2, lambda shape: (1,) * (2 - len(shape)) + shape, arrays)


def atleast_3d(*arrays: ArrayLike) -> Array | tuple[Array, ...]:
    """Views with at least three axes: (n,) becomes (1, n, 1) and (m, n) becomes (m, n, 1)."""
    return _atleast(3, lambda shape: (1, *shape, 1)[-3:] if len(shape) == 1 else (*shape, 1) if shape else (1, 1, 1), arrays)


def _list(lifted):
    return list(lifted) if isinstance(lifted, tuple) else [lifted]


def vstack(tup: Sequence[ArrayLike], *, dtype=None, casting: str = "same_kind") -> Array:
    """Rows on top of each other: arrays of at least two axes joined along the first."""
    if dtype is None and casting == "same_kind" and type(tup) in (list, tuple) and tup and getattr(tup[0], "ndim", 0) == 1:
        packed = _graphc.pack(tup)  # what is computed
        if packed is not None:
            return packed
    return concatenate(_list(atleast_2d(*in_sequence(tup))), 0, dtype=dtype, casting=casting)


def hstack(tup: Sequence[ArrayLike], *, dtype=None, casting: str = "same_kind") -> Array:
    """Arrays side by side: joined along the second axis, vectors along their only one."""
    if dtype is None and casting == "same_kind" and type(tup) in (list, tuple) and tup and _py.all(type(a) is _graphc.ndarray and a.ndim for a in tup):
        return _graphc.concatenate(tup, 0 if tup[0].ndim == 1 else 1)
    arrays = _list(atleast_1d(*in_sequence(tup)))
    return concatenate(arrays, 0 if arrays and arrays[0].ndim == 1 else 1, dtype=dtype, casting=casting)


def dstack(tup: Sequence[ArrayLike]) -> Array:
    """Arrays of at least three axes joined along the third."""
    return concatenate(_list(atleast_3d(*in_sequence(tup))), 2)


def column_stack(tup: Sequence[ArrayLike]) -> Array:
    """Vectors as the columns of a matrix; matrices are joined as they are."""
    arrays = asarrays(in_sequence(tup))
    return concatenate([a if a.ndim >= 2 else a.reshape((-1, 1)) for a in arrays], 1)


def _mismatch(lists):
    """NumPy's words for lists that are nested to different depths."""

    def outline(item):
        return [outline(i) for i in item] if isinstance(item, list) else 0

    try:
        _np.block(outline(lists))
    except ValueError as error:
        return str(error)
    return "List depths are mismatched"


def block(arrays) -> Array:
    """One array from nested lists of blocks: the innermost lists are joined along the last axis, the next along the one
    before. Raises ArgumentError when the nesting is uneven."""

    def depth(item):
        if isinstance(item, tuple):
            raise TypeError("block: only lists can be used to arrange blocks, and np.block does not allow implicit conversion from tuple to ndarray")
        if not isinstance(item, list):
            return 0
        depths = {depth(i) for i in item}
        if not depths:
            raise ArgumentError("block: List at arrays cannot be empty")
        if len(depths) != 1:
            raise ArgumentError(_mismatch(arrays))
        return depths.pop() + 1

    def leaves(item):
        return [a for i in item for a in leaves(i)] if isinstance(item, list) else [item]

    _foreign.leave_to_classes("block", leaves(arrays))
    levels = depth(arrays)
    rank = _py.max([levels] + [asarray(a).ndim for a in leaves(arrays)])

    def join(item, level):
        if not isinstance(item, list):
            x = asarray(item)
            return x.reshape((1,) * (rank - x.ndim) + x.shape)
        return concatenate([join(i, level + 1) for i in item], rank - levels + level)

    result = join(arrays, 0)
    return result if isinstance(arrays, list) else result.copy()


def _has_length(sections):
    """Whether places to cut at are given, not a number of parts, which NumPy takes of any kind."""
    return hasattr(sections, "__len__") and getattr(sections, "ndim", 1) > 0


def array_split(ary: ArrayLike, indices_or_sections, axis: int = 0) -> list[Array]:
    """Views of consecutive parts: `indices_or_sections` of nearly equal size, or cut at the given indices."""
    x, sections = asarray(ary), indices_or_sections
    axis = _axis(axis, x.ndim, "array_split")
    size = x.shape[axis]
    if _has_length(sections):
        edges = [0, *(_operator.index(i) for i in sections), size]
    else:
        count = int(sections)
        if count <= 0:
            raise ArgumentError(f"array_split: number of sections must be larger than 0, got {count}")
        each, extra = divmod(size, count)
        edges = [0, *_itertools.accumulate([each + 1] * extra + [each] * (count - extra))]
    return [x[_along(axis, slice(a, b))] for a, b in zip(edges[:-1], edges[1:])]


def split(ary: ArrayLike, indices_or_sections, axis: int = 0) -> list[Array]:
    """As `array_split`. Raises ShapeError when a number of sections does not divide the axis."""
    x, sections = asarray(ary), indices_or_sections
    size = x.shape[_axis(axis, x.ndim, "split")]
    if not _has_length(sections) and size % sections:
        raise ShapeError(f"array split does not result in an equal division: an axis of size {size} into {sections} parts (shape {x.shape})")
    return array_split(x, sections, axis)


def vsplit(ary: ArrayLike, indices_or_sections) -> list[Array]:
    """`split` along the first axis of at least two."""
    x, sections = ary, indices_or_sections
    if asarray(x).ndim < 2:
        raise ShapeError(f"vsplit only works on arrays of 2 or more dimensions, got shape {asarray(x).shape}")
    return split(x, sections, 0)


def hsplit(ary: ArrayLike, indices_or_sections) -> list[Array]:
    """`split` along the second axis, or along the only one."""
    x, sections = asarray(ary), indices_or_sections
    if x.ndim == 0:
        raise ShapeError("hsplit only works on arrays of 1 or more dimensions, got shape ()")
    return split(x, sections, 1 if x.ndim > 1 else 0)


def dsplit(ary: ArrayLike, indices_or_sections) -> list[Array]:
    """`split` along the third axis."""
    x, sections = ary, indices_or_sections
    if asarray(x).ndim < 3:
        raise ShapeError(f"dsplit only works on arrays of 3 or more dimensions, got shape {asarray(x).shape}")
    return split(x, sections, 2)


def _check_counts(repeats):
    """NumPy takes arrays of counts by the rule 'safe', and of numbers what is left of them as an `int`."""
    refuse_unsafe(repeats.dtype, kind="array data" if repeats.ndim else "scalar")


def repeat(a: ArrayLike, repeats, axis: int | None = None) -> Array:
    """Each element `repeats` times along `axis` (None: of the flattened array). Counts may differ per element; an array's
    are added up when called."""
    x = operand(a)
    if axis is None:
        x, axis = _graphc.reshape(x, (-1,)), 0
    x = x if x.ndim else _graphc.reshape(x, (1,))
    axis = _axis(axis, x.ndim, "repeat")
    size = x.shape[axis]
    if not isinstance(repeats, (_np.ndarray, _np.generic)) and not _graphc.is_array(repeats) and hasattr(type(repeats), "__array__"):
        repeats = asarray(repeats)
    if isinstance(repeats, _np.ndarray) or (_graphc.is_array(repeats) and not _graphc.is_value(repeats)):
        _check_counts(repeats)
        if repeats.ndim > 1:
            raise ShapeError(f"repeat: counts are of one axis, not of shape {repeats.shape}")
    if _graphc.is_array(repeats) and repeats.ndim == 1 and repeats.shape[0] == size > 1:
        return _repeat_each(x, repeats, axis)
    counts = [int(r) for r in repeats] if getattr(repeats, "ndim", 1) and hasattr(repeats, "__len__") and type(repeats) is not str else [int(repeats)]
    if _py.any(c < 0 for c in counts):
        raise ArgumentError(f"repeat: counts may not be negative, got {repeats}")
    if len(counts) not in (1, size):
        raise ShapeError(f"repeat: operands could not be broadcast together with shape ({size},) ({len(counts)},)")
    if len(counts) == 1:
        spread = x.shape[: axis + 1] + (counts[0],) + x.shape[axis + 1 :]
        wide = _graphc.broadcast_to(_graphc.expand_dims(x, axis + 1), spread)
        return wide.reshape(x.shape[:axis] + (size * counts[0],) + x.shape[axis + 1 :]).copy()
    return _graphc.take(x, asarray([i for i, c in enumerate(counts) for _ in range(c)], dtype="int64", device=x.device), axis)


def _repeat_each(x, counts, axis):
    from ._indexing import repeated_places
    from ._reductions import min, sum

    if counts.dtype.kind not in "iub":
        raise DTypeError(f"repeat: counts are integers, not {counts.dtype}")
    total, low = sum(counts.astype("int64")), min(counts)
    _graphc.eval([total, low], "mask")
    if int(low) < 0:
        raise ArgumentError("repeat: counts may not be negative.")
    return _graphc.take(x, repeated_places(counts, int(total)), axis)


@_where_operands_are
def append(arr: ArrayLike, values: ArrayLike, axis: int | None = None) -> Array:
    """`values` joined to the end of `arr` along `axis`; both are flattened when it is None."""
    x = arr
    return concatenate([asarray(x), asarray(values)], axis)


def _named(index, size, what):
    """Which places of an axis an integer, a slice, a mask or a sequence of integers names."""
    named = _np.zeros(size, bool)
    if not isinstance(index, slice):
        places = _np.asarray(index)
        if places.dtype == bool and places.shape != (size,):
            raise ShapeError(f"{what}: boolean array argument must be of one axis of length {size}, not of shape {places.shape}")
        if places.dtype.kind not in "biu" and (places.size or not isinstance(index, (list, tuple))):
            raise IndexOutOfBounds(f"{what}: arrays used as indices must be of integer (or boolean) type")
        index = places if places.size else slice(0)
    try:
        named[index] = True
    except IndexError as error:
        raise IndexOutOfBounds(f"{what}: {error}") from None
    return named


def _left(index, size):
    """The ranges of an axis that are left without what an integer or a slice of step 1 names; None for others."""
    if type(index) is int and -size <= index < size:
        return [(0, index % size), (index % size + 1, size)]
    if type(index) is slice and index.step in (None, 1):
        first, last, _ = index.indices(size)
        return [(0, first), (_py.max(first, last), size)]
    return None


def _true_of(mask, axis, device):
    """A key of the true places of an axis: the mask itself where it costs less than where they are."""
    return asarray(_np.flatnonzero(mask) if axis or _graphc.is_tracing() else mask, device=device)


#: Parts between as many places are views that one operation joins; what more leave is chosen by a mask.
_MOST_CUTS = 8


def _laid_as(x, result):
    """A result of delete or insert in NumPy's memory order: row-major unless `x` is column-major."""
    return in_order(result, "F" if lies_by_columns(x) else "C")


def delete(arr: ArrayLike, obj, axis: int | None = None) -> Array:
    """A copy without the places that `obj` (Python integers or a slice) names; flattened when `axis` is None."""
    x, index = asarray(arr), obj
    if type(obj) is int and x.ndim == 1 and axis in (None, 0, -1) and -x.shape[0] <= obj < x.shape[0] > 1:
        return _graphc.concatenate([x[:obj], x[obj + 1 or x.shape[0] :]], 0)
    if axis is None:
        x, axis = _graphc.reshape(x, (-1,)), 0
    axis = _axis(axis, x.ndim, "delete")
    size = x.shape[axis]
    ranges = _left(index, size)
    if ranges is None:
        named = _named(index, size, "delete")
        if _np.count_nonzero(named) > _MOST_CUTS:
            return _laid_as(x, x[_along(axis, _true_of(~named, axis, x.device))])
        edges = [-1, *_np.flatnonzero(named).tolist(), size]
        ranges = [(a + 1, b) for a, b in zip(edges[:-1], edges[1:])]
    kept = [x[_along(axis, slice(a, b))] for a, b in ranges if b > a]
    return _laid_as(x, concatenate(kept, axis) if kept else x[_along(axis, slice(0, 0))].copy())


@_where_operands_are
@_stands_for()
def insert(arr: ArrayLike, obj, values: ArrayLike, axis: int | None = None) -> Array:
    """A copy with `values` before the place `obj`, or each before its own when `obj` is a slice, a mask or a sequence of
    places of `arr`; flattened when `axis` is None. Raises IndexError for a place outside."""
    x, index = asarray(arr), obj
    if type(obj) is int and x.ndim == 1 and axis in (None, 0, -1) and -x.shape[0] <= obj <= x.shape[0]:
        values = assigned(values, x).astype(x.dtype, copy=False)
        if values.ndim < 2:
            return _graphc.concatenate([x[:obj], values.reshape((-1,)), x[obj:]], 0)
    if axis is None:
        x, axis = _graphc.reshape(x, (-1,)), 0
    axis = _axis(axis, x.ndim, "insert")
    size = x.shape[axis]
    is_number = True
    try:
        place = _operator.index(index)
    except TypeError:
        places = _np.arange(size)[index] if isinstance(index, slice) else _np.asarray(index)
        if places.ndim > 1 or (places.dtype == bool and places.ndim != 1):
            raise ShapeError(f"insert: places are an integer or of one axis, not of shape {places.shape}") from None
        if places.dtype.kind not in "biu" and (places.size or isinstance(index, (_graphc.Array, _np.ndarray))):
            refuse = DTypeError if places.size == 1 else IndexOutOfBounds
            raise refuse(f"insert: places are integers, not {places.dtype}") from None
        if places.dtype.kind == "u" and places.size != 1:  # they are moved by those before them, in their dtype
            raise DTypeError(f"insert: several places are signed integers, not {places.dtype}") from None
        places = _np.flatnonzero(places) if places.dtype == bool else places.astype(int, copy=False)
        is_number, places = places.ndim == 0, places.ravel()
        if places.size != 1:
            return _insert_each(x, places, values, axis)
        place = int(places[0])
    if not -size <= place <= size:
        raise IndexOutOfBounds(f"insert: index {place} is out of bounds for axis 0 with size {size}")
    place += size if place < 0 else 0
    values = assigned(values, x).astype(x.dtype, copy=False)
    values = values.reshape((1,) * (x.ndim - values.ndim) + values.shape)
    if is_number:  # as in x[:, 0] = values; a sequence of one place is as x[:, [0]]
        values = moveaxis(values, 0, axis)
    count, more = values.shape[axis], values.ndim - x.ndim
    if more > 0 and _math.prod(values.shape[:more]) == 1:  # as an assignment leaves them out
        values = values.reshape(values.shape[more:])
    aligned = _graphc.broadcast_to(values, x.shape[:axis] + (count,) + x.shape[axis + 1 :])
    return _laid_as(x, concatenate([x[_along(axis, slice(0, place))], aligned, x[_along(axis, slice(place, None))]], axis))


def _cut_at(x, places, order, values, axis):
    """The parts of `x` between places, and the values that go there; None for values that have to be converted or refused."""
    if not _graphc.is_array(values):
        values = assigned(values, x)
    shape = x.shape[:axis] + (len(order),) + x.shape[axis + 1 :]
    if values.dtype is not x.dtype or values.ndim > x.ndim or any(n not in (1, m) for n, m in zip(values.shape[::-1], shape[::-1])):
        return None
    aligned, parts, done = _graphc.broadcast_to(values, shape), [], 0
    for i in order:
        place = int(places[i])
        parts += [x[_along(axis, slice(done, place))], aligned[_along(axis, slice(i, i + 1))]]
        done = place
    parts.append(x[_along(axis, slice(done, None))])
    return [part for part in parts if part.size] or None


@_stands_for()
def _insert_each(x, places, values, axis):
    size, count = x.shape[axis], len(places)
    if ((places < -size) | (places > size)).any():
        raise IndexOutOfBounds(f"insert: a place of {places.tolist()} is out of bounds for an axis of size {size}")
    places = _np.where(places < 0, places + size, places)
    order = _np.argsort(places, kind="stable")
    if 0 < count <= _MOST_CUTS and (parts := _cut_at(x, places, order.tolist(), values, axis)):
        return _laid_as(x, concatenate(parts, axis))
    places[order] += _np.arange(count)
    kept = _np.ones(size + count, bool)
    kept[places] = False
    result = _graphc.full(x.shape[:axis] + (size + count,) + x.shape[axis + 1 :], 0, x.dtype, x.device)
    result[_along(axis, asarray(places, device=x.device))] = values
    result[_along(axis, _true_of(kept, axis, x.device))] = x
    return _laid_as(x, result)


def rot90(m: ArrayLike, k: int = 1, axes: Sequence[int] = (0, 1)) -> Array:
    """A view rotated `k` quarter turns from the first axis towards the second."""
    x = asarray(m)
    if len(tuple(axes)) != 2:
        raise ArgumentError(f"rot90: len(axes) must be 2. Got {tuple(axes)}")
    if axes[0] == axes[1] or abs(axes[0] - axes[1]) == x.ndim:
        raise ArgumentError("rot90: Axes must be different.")
    if not _py.all(-x.ndim <= a < x.ndim for a in axes):
        raise ArgumentError(f"rot90: Axes={tuple(axes)} out of range for array of ndim={x.ndim}.")
    first, second = _axes(tuple(axes), x.ndim, "rot90")
    k = k % 4
    if k == 0:
        return x[...]
    if k == 2:
        return flip(flip(x, first), second)
    order = list(range(x.ndim))
    order[first], order[second] = second, first
    return transpose(flip(x, second), tuple(order)) if k == 1 else flip(transpose(x, tuple(order)), second)


def fliplr(m: ArrayLike) -> Array:
    """A view with the second axis reversed."""
    x = asarray(m)
    if x.ndim < 2:
        raise ShapeError(f"fliplr: Input must be >= 2-d. Got shape {x.shape}")
    return x[:, ::-1]


def flipud(m: ArrayLike) -> Array:
    """A view with the first axis reversed."""
    x = asarray(m)
    if x.ndim < 1:
        raise ShapeError("flipud: Input must be >= 1-d. Got shape ()")
    return x[::-1]


def rollaxis(a: ArrayLike, axis: int, start: int = 0) -> Array:
    """A view with `axis` moved until it lies before the axis that is at `start` now."""
    x = asarray(a)
    axis = _axis(axis, x.ndim, "rollaxis")
    if not -x.ndim <= start <= x.ndim:
        raise AxisError(f"rollaxis: start {start} is out of bounds for array of dimension {x.ndim}")
    start += x.ndim if start < 0 else 0
    return moveaxis(x, axis, start - 1 if axis < start else start)


#: Coordinates of so many elements are made by NumPy for less than recording costs.
_FEW_PLACES = 8192


def indices(dimensions: Sequence[int], dtype="int64", sparse: bool = False):
    """For each axis of a grid, the coordinate along it: stacked to one array, or sparse as a tuple of broadcastable
    arrays."""
    dimensions = tuple(dimensions)
    rank = len(dimensions)
    if not sparse and 0 < rank * _math.prod(dimensions) <= _FEW_PLACES and not _graphc.is_tracing():
        made = _graphc.pack(_np.indices(dimensions, dtype)) if dtype in (int, float, "int64") else None
        if made is not None:
            return made
    axes = []
    for i, n in enumerate(dimensions):
        own = (1,) * i + (n,) + (1,) * (rank - i - 1)
        axes.append(_graphc.iota(_operator.index(n), dtype, None).reshape(own))
    if sparse:
        return tuple(axes)
    refuse_vast((rank, *dimensions), as_dtype(dtype))
    return stack([_graphc.broadcast_to(a, tuple(dimensions)) for a in axes]) if rank else _graphc.full((0,), 0, dtype, None)
