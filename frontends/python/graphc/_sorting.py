"""Sorting and searching. NaN sorts last; -0.0 and 0.0 are equal; complex numbers are ordered by real, then by imaginary
parts; every sort is stable, so `kind=` changes nothing."""

import builtins as _py
import operator as _operator

import numpy as _np

from . import _graphc
from ._creation import _real, asarray, asarrays, lies_by_columns, operand, single, turned
from ._devices import where_operands_are as _where_operands_are
from ._dtypes import complex64, complex128, int64
from ._exact import sorting as _sorting
from ._indexing import take
from ._manipulation import _axis
from .errors import ArgumentError, DTypeError, ShapeError

_KINDS = ("quicksort", "mergesort", "heapsort", "stable")


#: Arrays of so many elements are sorted at once where they are computed.
_SMALL = 2048


def _check_kind(name, kind, order, stable):
    if kind is not None and kind not in _KINDS and str(kind)[:1].lower() not in "qmhs":
        raise ArgumentError(f"{name}: sort kind must be one of 'quick', 'heap', or 'stable' (got {kind!r})")
    if kind is not None and stable is not None:
        raise ArgumentError("`kind` and keyword parameters can't be provided at the same time. Use only one of them.")
    if order is not None:
        raise ArgumentError(f"{name}: Cannot specify order when the array has no fields")


def _along(x, axis, name):
    """`x` (flattened when axis is None) with the axis as an int."""
    if axis is None:
        return x.reshape((-1,)), 0
    return x, _axis(axis, x.ndim, name)


def _rows(x, axis):
    """`x` as a matrix whose rows run along `axis`."""
    n = x.shape[axis]
    if axis != x.ndim - 1:
        x = _graphc.transpose(x, _last(x.ndim, axis))
    return _graphc.reshape(x, (x.size // n if n else 0, n))


def _last(ndim, axis):
    return tuple(a for a in range(ndim) if a != axis) + (axis,)


def _unrow(rows, shape, axis, length=None):
    """A matrix of rows along `axis`, as an array of `shape` (with another length of that axis)."""
    moved = [n for a, n in enumerate(shape) if a != axis] + [shape[axis] if length is None else length]
    x = _graphc.reshape(rows, tuple(moved))
    if axis == len(shape) - 1:
        return x
    order = list(range(len(shape) - 1))
    order.insert(axis, len(shape) - 1)
    return _graphc.transpose(x, tuple(order)).copy()


def _sorted(x, axis, descending=False):
    if x.shape[axis] <= 1:
        return x.copy()
    if x.ndim == 1:
        return _graphc.row("sort", x, int(descending), x.dtype)
    if x.ndim == 2 and axis == 0 and x.size <= _SMALL and not _graphc.is_tracing():
        rows = x.T.copy("C")
        if _graphc.sort_now(rows, descending):
            return rows.T.copy("C")
    rows = _rows(x, axis)
    return _unrow(_graphc.library("sort", [rows], [int(descending)], rows.shape, x.dtype), x.shape, axis)


def _order(x, axis, descending=False):
    if x.ndim == 1 and x.shape[0]:
        return _graphc.row("argsort", x, int(descending), int64)
    rows = _rows(x, axis)
    return _unrow(_graphc.library("argsort", [rows], [int(descending)], rows.shape, int64), x.shape, axis)


def sort(a, axis=-1, kind=None, order=None, *, stable=None, descending=False):
    """A sorted copy along `axis` (None: flattened). Raises AxisError for an axis out of range or a 0-d array."""
    x = asarray(a)
    if kind is not None or order is not None:
        _check_kind("sort", kind, order, stable)
    if x.ndim == 1 and type(axis) is int and axis == -1:
        return _sorted(x, 0, descending)
    x, axis = _along(x, axis, "sort")
    if lies_by_columns(x):  # in the memory order of the array, as NumPy
        return turned(_sorted(x.T, x.ndim - 1 - axis, descending))
    return _sorted(x, axis, descending)


def argsort(a, axis=-1, kind=None, order=None, *, stable=None, descending=False):
    """int64 indices that sort along `axis` (None: of the flattened array); equal elements keep their order. Raises
    AxisError for an axis out of range or a 0-d array."""
    x = operand(a)
    if kind is not None or order is not None:
        _check_kind("argsort", kind, order, stable)
    if x.ndim == 1 and type(axis) is int and axis == -1:
        return _order(x, 0, descending)
    if x.ndim == 0 and axis in (0, -1):
        x = x.reshape((1,))
    x, axis = _along(x, axis, "argsort")
    return _order(x, axis, descending)


def sort_complex(a):
    """A copy as complex numbers (8- and 16-bit integers: complex64), sorted along the last axis."""
    x = sort(asarray(a))
    if x.dtype.kind != "c":
        x = x.astype(complex64 if x.dtype.kind in "iu" and x.dtype.itemsize <= 2 else complex128)
    return x


def sort_in_place(x, axis=-1, kind=None, order=None, *, stable=None, descending=False):
    """Sorts the array itself along `axis`; every view of it sees the new order. Raises AxisError for an axis out of
    range and ValueError for a read-only array."""
    if kind is not None or order is not None:
        _check_kind("sort", kind, order, stable)
    axis = _axis(axis, x.ndim, "sort")
    x[...] = _sorted(x, axis, descending)


sort_rows_in_place = _sorting(lambda x, axis: sort_in_place(x, axis))


def _places(kth, n, name):
    """The first and the last place that `kth` names in rows of `n`."""
    given = _np.asarray(kth)
    if given.dtype.kind == "b":
        raise ArgumentError("Booleans unacceptable as partition index")
    if given.dtype.kind not in "iu":
        raise DTypeError("Partition index must be integer")
    places = given.ravel().tolist()
    for k in places:
        if n and not -n <= k < n:
            raise ArgumentError(f"kth(={k}) out of bounds ({n})")
    places = [k % n for k in places] if n else [0]
    return [_py.min(places), _py.max(places)] if places else [0, 0]


def _parted(routine, x, kth, axis, dtype):
    """Rows along `axis` by a routine that parts them at `kth`."""
    n = x.shape[axis]
    if x.ndim == 1 and type(kth) is int and -n <= kth < n:
        place = _graphc.pack([kth % n] * 2) if x.device == "cpu" else None  # also where a function is recorded
        place = asarray([kth % n] * 2, int64, device=x.device) if place is None else place
        return _graphc.library(routine, [x.reshape((1, n)), place], [], (1, n), dtype).reshape((n,))
    places = _places(kth, n, routine)
    rows = _rows(x, axis)
    return _unrow(_graphc.library(routine, [rows, asarray(places, int64, device=x.device)], [], rows.shape, dtype), x.shape, axis)


def _check_selection(kind):
    if kind == "introselect":
        return
    if not isinstance(kind, str):
        raise TypeError(f"partition kind must be str, not {type(kind).__name__}")
    raise ArgumentError(f"{kind!r} is an unrecognized kind of selection")


def partition(a, kth, axis=-1, kind="introselect", order=None):
    """A copy in which the elements at `kth` along `axis` (an integer or several; None: flattened) are where sorting puts
    them, smaller ones before and larger ones after them. Raises ValueError for a `kth` out of bounds."""
    _check_selection(kind)
    x, axis = _along(asarray(a), axis, "partition")
    return _parted("partition", x, kth, axis, x.dtype)


def argpartition(a, kth, axis=-1, kind="introselect", order=None):
    """Indices (int64) of a `partition`."""
    _check_selection(kind)
    x = asarray(a)
    x, axis = _along(x.reshape((1,)) if x.ndim == 0 and axis in (0, -1) else x, axis, "argpartition")
    return _parted("argpartition", x, kth, axis, int64)


def partition_in_place(x, kth, axis=-1, kind="introselect", order=None):
    """`partition` of the array itself."""
    _check_selection(kind)
    x[...] = _parted("partition", x, kth, _axis(axis, x.ndim, "partition"), x.dtype)


@_where_operands_are
def lexsort(keys, axis=-1):
    """Indices that sort by several keys, the last of them first. `keys` are arrays of one shape, or the rows of an
    array. Raises ValueError when shapes differ and TypeError without keys."""
    if _graphc.is_array(keys) or isinstance(keys, _np.ndarray):
        keys = asarray(keys)
        keys = [] if keys.ndim == 0 else [keys[i] if keys.ndim > 1 else keys[i : i + 1].reshape(()) for i in range(keys.shape[0])]
    else:
        keys = [asarray(k) for k in keys] if hasattr(keys, "__len__") else []
    if not keys:
        raise DTypeError("lexsort: need sequence of keys with len > 0 in lexsort")
    shape = keys[0].shape
    if any(k.shape != shape for k in keys):
        raise ShapeError(f"lexsort: all keys need to be the same shape, got {[k.shape for k in keys]}")
    if not shape:
        _axis(axis, 1, "lexsort")
        return single(_graphc.full((), 0, int64, None))
    axis = _axis(axis, len(shape), "lexsort")
    rows = [_rows(k, axis) for k in keys]
    return _unrow(_graphc.library("lexsort", rows, [], rows[0].shape, int64), shape, axis)


#: Of what has no axis, and of what has several.
_NO_VECTOR = "object of too small depth for desired array", "object too deep for desired array"


def searchsorted(a, v, side="left", sorter=None):
    """Where each element of `v` would be inserted into the sorted vector `a`: before equal elements for side
    "left", behind them for "right". Raises ValueError for another side or an `a` that is not a vector."""
    x1, x2 = asarrays((a, v))
    if side not in ("left", "right"):
        raise ArgumentError(f"searchsorted: search side must be 'left' or 'right' (got {side!r})")
    if x1.ndim != 1:
        raise ShapeError(f"searchsorted: {_NO_VECTOR[x1.ndim > 0]}: shape {x1.shape} is not a vector")
    if sorter is not None:
        sorter = asarray(sorter)
        if sorter.dtype.kind not in "iu":
            raise TypeError("sorter must only contain integers")
        if sorter.shape != x1.shape:
            raise ShapeError(f"searchsorted: sorter.size must equal a.size: {sorter.shape} and {x1.shape}")
        try:
            if not (_graphc.are_inside(sorter, 0, x1.shape[0]) or bool(_graphc.reduce("all", sorter >= 0, None, False, None))):
                raise IndexError
            x1 = take(x1, sorter)
        except IndexError:
            raise ArgumentError("Sorter index out of range.") from None
    if x1.dtype is not x2.dtype:
        dtype = _graphc.result_type(x1, x2)
        x1, x2 = x1.astype(dtype, copy=False), x2.astype(dtype, copy=False)
    values = x2 if x2.ndim == 1 else x2.reshape((-1,))
    found = _graphc.library("searchsorted", (x1, values), (int(side == "right"),), values.shape, int64)
    return found if x2.ndim == 1 else single(found.reshape(x2.shape))


@_where_operands_are
def digitize(x, bins, right=False):
    """The bin of each element: i where bins[i-1] <= x < bins[i] (right=True: < and <=), bins rising or falling.
    Raises ValueError when `bins` are not monotonic and TypeError for complex `x`."""
    x, bins = _real(x, "digitize"), _real(bins, "digitize")
    if bins.ndim != 1:
        raise ShapeError(f"digitize: {_NO_VECTOR[bins.ndim > 0]}: shape {bins.shape} is not a vector")
    rising = falling = True
    if bins.size > 1:
        low, high = bins[:-1], bins[1:]
        falls, rises = (low > high).any(), (low < high).any()
        _graphc.eval([falls, rises], "monotonic")
        rising, falling = not bool(falls), not bool(rises)
    if not rising and not falling:
        raise ArgumentError("digitize: bins must be monotonically increasing or decreasing")
    side = "left" if right else "right"
    if rising:
        return searchsorted(bins, x, side=side)
    return bins.size - searchsorted(bins[::-1], x, side=side)
