"""Diagonals, grids and products of vectors and matrices, as formulas over indexing and `matmul`."""

from __future__ import annotations

import builtins as _py
import math as _math
import operator as _operator
from typing import TYPE_CHECKING

import numpy as _np

from . import _foreign, _graphc
from ._creation import _leave_to, asarray, assigned, eye, full, mask_of, meshgrid, refuse_vast, single, zeros
from ._devices import where_operands_are as _where_operands_are
from ._dtypes import as_dtype, can_cast, complex128, float64, int64
from ._float_errors import number_of as _number_of
from ._float_errors import stands_for as _stands_for
from ._float_errors import tell as _tell
from ._linalg import tensordot
from ._manipulation import _axes, _axis, concatenate, moveaxis, stack
from ._reductions import sum
from ._sequences import along_diagonal as _along_diagonal
from .errors import ArgumentError, DTypeError, ForeignDType, ShapeError

if TYPE_CHECKING:
    from ._types import Array, ArrayLike


def diagonal(a: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1) -> Array:
    """The diagonal of the matrices along two axes, as the last axis: a view. Writing to it is an error, as in NumPy."""
    view = diagonal_view(asarray(a), offset, axis1, axis2)
    return _graphc.broadcast_to(view, view.shape)


def diagonal_view(x, offset, axis1, axis2):
    """`diagonal` that may be written."""
    view = _graphc.diagonal_view(x, offset, axis1, axis2)
    if view is not NotImplemented:
        return view
    if x.ndim < 2:
        raise ShapeError(f"diag requires an array of at least two dimensions, got shape {x.shape}")
    offset = _operator.index(offset)
    if x.ndim == 2 and axis1 == 0 and axis2 == 1 and x.contiguous:
        rows, columns = x.shape
        start = offset if offset >= 0 else -offset * columns
        length = columns - offset if offset > columns - rows else rows  # the shorter of what is left of either
        length = length if offset >= 0 else _py.min(rows + offset, columns)
        if length <= 0:
            return x.reshape(-1)[:0]
        return x.reshape(-1)[start : start + (length - 1) * (columns + 1) + 1 : columns + 1]
    if x.ndim > 2 or (axis1, axis2) != (0, 1):
        x = moveaxis(x, _axes((axis1, axis2), x.ndim, "diagonal"), (-2, -1))
    if x.mT.contiguous and not x.contiguous:  # by columns: the same diagonal of the transpose
        x, offset = x.mT, -offset
    rows, columns = x.shape[-2:]
    length = _py.max(0, _py.min(rows + _py.min(offset, 0), columns - _py.max(offset, 0)))
    if x.size and length and not x.contiguous and _graphc.has_layout(x):
        steps = [s // x.itemsize for s in x.strides]
        where = _graphc.view_offset(x) + (offset * steps[-1] if offset >= 0 else -offset * steps[-2])
        return _graphc.strided(x, (*x.shape[:-2], length), (*steps[:-2], steps[-2] + steps[-1]), where)
    start = offset if offset >= 0 else -offset * columns
    flat = x.reshape(x.shape[:-2] + (rows * columns,))
    return flat[..., start : start + length * (columns + 1) : columns + 1][..., :length] if length else flat[..., :0]


def diag(v: ArrayLike, k: int = 0) -> Array:
    """A matrix with the vector `v` on its k-th diagonal, or the k-th diagonal of a matrix."""
    v = asarray(v)
    if v.ndim == 2:
        return diagonal(v, k)
    if v.ndim != 1:
        raise ShapeError(f"diag: Input must be 1- or 2-d. Got shape {v.shape}")
    k = _operator.index(k)
    size = v.size + _py.abs(k)
    place = _graphc.elsewhere(v)
    made = _graphc.filled((size, size), 0, v.dtype) if place is None else None
    result = zeros((size, size), v.dtype, device=place) if made is None else made
    if v.size:
        start = k if k >= 0 else -k * size
        result.reshape(-1)[start : start + v.size * (size + 1) : size + 1] = v
    return result


def diagflat(v: ArrayLike, k: int = 0) -> Array:
    """`diag` of the flattened array."""
    return diag(_graphc.reshape(asarray(v), (-1,)), k)


@_stands_for()
def fill_diagonal(a: Array, val: ArrayLike, wrap: bool = False) -> None:
    """Writes `val` (one for all, or values repeated along it) to the main diagonal of an array, in place. Arrays of more
    than two axes must have equal sizes. `wrap` starts the diagonal anew below a tall matrix's last column."""
    if not _graphc.is_array(a):
        raise ForeignDType(f"fill_diagonal: an Array is changed in place, not {type(a).__name__}")
    if a.ndim < 2:
        raise ShapeError(f"array must be at least 2-d, got shape {a.shape}")
    if a.ndim > 2 and len(set(a.shape)) != 1:
        raise ShapeError(f"All dimensions of input must be of equal length, got shape {a.shape}")
    if a.ndim == 2 and a.contiguous and not wrap and type(val) in (bool, int, float) and not _graphc.is_tracing():
        a.reshape(-1)[: a.shape[1] ** 2 : a.shape[1] + 1] = val
        return
    value = assigned(val, a).astype(a.dtype, copy=False)
    columns = _graphc.iota(a.shape[-1], int64, a.device)
    on = None
    for axis in range(a.ndim - 1):
        rows = _graphc.iota(a.shape[axis], int64, a.device)
        if wrap and a.ndim == 2:
            place = _graphc.remainder(rows, a.shape[1] + 1)
        else:
            place = rows
        own = (1,) * axis + (-1,) + (1,) * (a.ndim - axis - 1)
        equal = place.reshape(own) == columns
        on = equal if on is None else on & equal
    if value.ndim and value.size:  # the i-th place takes value i, from the start again when they run out
        value = _graphc.reshape(value, (-1,))
        times = -(-_py.max(1, a.shape[0]) // value.size)
        value = _graphc.broadcast_to(value, (times, value.size)).reshape((-1,))[: a.shape[0]]
        if wrap and a.ndim == 2 and a.shape[0] > a.shape[1]:
            parts = [value[i - i // (a.shape[1] + 1)] for i in range(a.shape[0])]
            value = stack(parts)
        value = value.reshape((-1,) + (1,) * (a.ndim - 1))
    elif value.ndim:
        return
    # Through `a` itself: the flattened array is a copy when `a` is not dense.
    a[...] = _graphc.select(on, value, a)


def trace(a: ArrayLike, offset: int = 0, axis1: int = 0, axis2: int = 1, dtype=None, out=None) -> Array:
    """Sum of a diagonal."""
    if type(a) is _graphc.ndarray and a.ndim == 2 and dtype is None and out is None and (offset, axis1, axis2) == (0, 0, 1):
        return _graphc.reduce("sum", diagonal_view(a, 0, 0, 1))
    return sum(diagonal(a, offset, axis1, axis2), -1, dtype, out)


def identity(n: int, dtype=float64, *, like=None) -> Array:
    """The identity matrix of n rows."""
    if like is not None:
        _leave_to(like)
    return eye(n, dtype=dtype)


def tri(N: int, M: int | None = None, k: int = 0, dtype=float64, *, like=None) -> Array:  # noqa: N803
    """Ones on and below the k-th diagonal, zeros above."""
    if like is not None:
        _leave_to(like)
    height, width = (_py.max(_math.ceil(n), 0) for n in (N, N if M is None else M))
    refuse_vast((height, width), as_dtype(dtype))
    columns = _along_diagonal(_graphc.iota(width, int64, None), k)
    return (_graphc.iota(height, int64, None)[:, None] >= columns).astype(as_dtype(dtype))


#: Powers that are recorded together: of more, what was compiled would grow with them.
_COLUMNS = 64


@_stands_for("accumulate")
def vander(x: ArrayLike, N: int | None = None, increasing: bool = False) -> Array:  # noqa: N803
    """Powers of a vector as columns, the highest first unless increasing; by repeated products, as NumPy."""
    x = asarray(x)
    if x.ndim != 1:
        raise ShapeError(f"vander: one axis is needed, got shape {x.shape}")
    n = x.size if N is None else _operator.index(N)
    x = x if x.dtype is float64 else x.astype(_graphc.result_type(x, int64), copy=False)
    if n == 0:
        return zeros((x.size, 0), x.dtype, device=x.device)
    made = _graphc.powers(x, n, _py.bool(increasing))
    if made is not None:
        return made
    refuse_vast((x.size, n), x.dtype)
    blocks, last = [], None
    for first in range(0, n, _COLUMNS):
        columns = []
        for _ in range(first, _py.min(n, first + _COLUMNS)):
            last = _graphc.full(x.shape, 1, x.dtype, x.device) if last is None else last * x
            columns.append(last)
        blocks.append(stack(columns if increasing else columns[::-1], 1))
        if n > _COLUMNS and not _graphc.is_tracing():  # one program for all blocks
            _graphc.eval([blocks[-1], last])
    return blocks[0] if len(blocks) == 1 else concatenate(blocks if increasing else blocks[::-1], 1)


@_where_operands_are
@_where_operands_are
@_stands_for("dot")
def inner(a: ArrayLike, b: ArrayLike) -> Array:
    """Sum of products over the last axes of both operands."""
    x1, x2 = asarray(a), asarray(b)
    if x1.ndim == 0 or x2.ndim == 0:
        return x1 * x2
    if x1.ndim == 1 and x1.shape == x2.shape:
        return _graphc.matmul(x1, x2)
    return single(tensordot(x1, x2, axes=([-1], [-1])))


inner.quick = _graphc.plain_inner(_number_of("dot"))


@_where_operands_are
def vdot(a: ArrayLike, b: ArrayLike) -> Array:
    """Sum of products of the flattened operands; complex numbers of the first are conjugated."""
    x1, x2 = asarray(a), asarray(b)
    x1 = x1.conj() if x1.dtype.kind == "c" else x1
    return _graphc.matmul(_graphc.reshape(x1, (-1,)), _graphc.reshape(x2, (-1,)))


@_where_operands_are
@_stands_for()
def kron(a: ArrayLike, b: ArrayLike) -> Array:
    """Kronecker product: every element of `a` times all of `b`, as blocks."""
    x1, x2 = asarray(a), asarray(b)
    rank = _py.max(x1.ndim, x2.ndim)
    shape1, shape2 = (1,) * (rank - x1.ndim) + x1.shape, (1,) * (rank - x2.ndim) + x2.shape
    left = x1.reshape(tuple(n for size in shape1 for n in (size, 1)))
    right = x2.reshape(tuple(n for size in shape2 for n in (1, size)))
    return (left * right).reshape(tuple(a * b for a, b in zip(shape1, shape2)))


@_where_operands_are
@_stands_for()
def cross(a: ArrayLike, b: ArrayLike, axisa: int = -1, axisb: int = -1, axisc: int = -1, axis: int | None = None) -> Array:
    """Vector product along an axis of size 3 in both operands (`axis`, or `axisa`, `axisb` and, of the result, `axisc`),
    other axes broadcast. Of vectors of size 2 the third component is zero; of two of them, only it is given."""
    x1, x2 = asarray(a), asarray(b)
    if x1.shape == x2.shape == (3,) and axis is None and axisa == axisb == axisc == -1 and x1.dtype.kind in "fc" and x2.dtype.kind in "fc":
        (a0, a1, a2), (b0, b1, b2) = x1, x2
        return asarray([a1 * b2 - a2 * b1, a2 * b0 - a0 * b2, a0 * b1 - a1 * b0])
    if axis is not None:
        axisa = axisb = axisc = axis
    if x1.ndim == 0 or x2.ndim == 0:
        raise ShapeError("At least one array has zero dimension")
    x1 = moveaxis(x1, _axis(axisa, x1.ndim, "cross"), -1)
    x2 = moveaxis(x2, _axis(axisb, x2.ndim, "cross"), -1)
    sizes = x1.shape[-1], x2.shape[-1]
    if not {2, 3}.issuperset(sizes):
        raise ShapeError(f"incompatible dimensions for cross product\n(dimension must be 2 or 3): shapes {x1.shape} and {x2.shape}")
    if 2 in sizes:
        text = "Arrays of 2-dimensional vectors are deprecated. Use arrays of 3-dimensional vectors instead. (deprecated in NumPy 2.0)"
        _tell(text, DeprecationWarning)
    if sizes != (2, 2):
        _axis(axisc, _py.max(x1.ndim, x2.ndim), "cross")
    if x1.ndim == x2.ndim == 1:  # single results would tell of integers that wrap around
        return asarray(_cross(x1[None], x2[None], sizes)[0])
    whole = _cross(x1, x2, sizes)
    return whole if sizes == (2, 2) else moveaxis(whole, -1, axisc)


@_stands_for()
def _cross(x1, x2, sizes):
    a0, a1, b0, b1 = x1[..., 0], x1[..., 1], x2[..., 0], x2[..., 1]
    third = a0 * b1 - a1 * b0
    if sizes == (2, 2):
        return asarray(third if third.contiguous else third.copy())
    if sizes == (3, 3):
        a2, b2 = x1[..., 2], x2[..., 2]
        first, second = a1 * b2 - a2 * b1, a2 * b0 - a0 * b2
    elif sizes == (3, 2):
        a2 = x1[..., 2]
        first, second = -(a2 * b1), a2 * b0
    else:
        b2 = x2[..., 2]
        first, second = a1 * b2, -(a0 * b2)
    whole = stack([first, second, third], -1)
    return whole if whole.contiguous else whole.copy()


def _grid_places(vector, has_dtype):
    if vector.size == 0 and not has_dtype:
        return vector.astype("int64")
    return _graphc.flatnonzero(vector) if vector.dtype.kind == "b" else vector


def ix_(*sequences: ArrayLike) -> tuple[Array, ...]:
    """Vectors as an open grid: each along its own axis. Masks stand for the places where they hold."""
    arrays = [asarray(s) for s in sequences]
    if _py.any(v.ndim != 1 for v in arrays):
        raise ShapeError(f"Cross index must be 1 dimensional, got shapes {[v.shape for v in arrays]}")
    vectors = [_grid_places(v, isinstance(s, (_graphc.Array, _np.ndarray))) for v, s in zip(arrays, sequences)]
    rank = len(vectors)
    return tuple(v.reshape((1,) * i + (-1,) + (1,) * (rank - i - 1)) for i, v in enumerate(vectors))


def fromfunction(function, shape, *, dtype=float64, like=None, **keywords):
    """`function` of the coordinate arrays of a grid."""
    if like is not None:
        _leave_to(like)
    from ._assemble import indices

    return function(*indices(tuple(shape), dtype=dtype), **keywords)


def _literal_dtype(number, dtype, casting):
    """The dtype as which copyto() takes a Python number beside an array of `dtype`."""
    kind = _graphc.result_type(_np.empty(0, dtype), number)
    fits = not isinstance(number, int) or -1 << 63 <= number < 1 << 63
    own = int64 if isinstance(number, int) else float64 if isinstance(number, float) else complex128
    if casting == "equiv" and not (fits and kind == own):
        raise DTypeError(f"cannot cast Python {type(number).__name__} to {kind} under the casting rule 'equiv'")
    if not fits and kind.kind in "iu" and not (kind == _np.uint64 and 0 <= number < 1 << 64):
        raise OverflowError("Python int too large to convert to C long")
    return kind


@_stands_for()
def copyto(dst: Array, src: ArrayLike, casting: str = "same_kind", where=True) -> None:
    """Writes `src`, broadcast, into `dst` where the condition holds. Raises TypeError when the casting rule forbids it."""
    if not _graphc.is_array(dst):
        raise ForeignDType(f"copyto: an Array is changed in place, not {type(dst).__name__}")
    if _graphc.is_array(src) and where is True and src.dtype is dst.dtype and not dst.readonly and casting == "same_kind":
        dst[...] = src
        return
    is_literal = isinstance(src, (int, float, complex)) and not isinstance(src, (bool, _np.generic))
    kind = _literal_dtype(src, dst.dtype, casting) if is_literal else None
    weak = is_literal and kind == dst.dtype
    source = src if weak else asarray(src, kind, device=dst.device)
    kind = source.dtype if kind is None else kind
    if casting != "unsafe" and not can_cast(kind, dst.dtype, casting):
        what = "scalar" if source is src or source.ndim == 0 else "array data"
        raise DTypeError(f"Cannot cast {what} from dtype('{kind}') to dtype('{dst.dtype}') according to the rule '{casting}'")
    if source is dst or (_graphc.is_array(source) and _graphc.is_same_view(source, dst)):  # nothing is written: as NumPy, not even where that is forbidden
        return
    if where is True:
        dst[...] = source
        return
    source = full((), source, dst.dtype) if weak else source.astype(dst.dtype, copy=False)
    where = mask_of(where)
    while source.ndim > dst.ndim and source.shape[0] == 1:
        source = source[0]
    if source.ndim > dst.ndim or _graphc.select(where, source, dst).shape != dst.shape:
        raise ShapeError(f"copyto: could not broadcast input array from shape {source.shape} into shape {dst.shape}")
    dst[...] = _graphc.select(where, source, dst)


def _are_few(bounds):
    """Whether the bounds of a grid are Python's numbers, and its coordinates so few that NumPy makes them sooner."""
    size = len(bounds)
    for start, stop, step, counted in bounds:
        if not {int, float}.issuperset((type(start), type(stop), type(step))) or step <= 0:
            return False
        size *= step if counted else _py.max(0, (stop - start) / step + 1)
    return 0 < size <= 8192


class _Grid:
    """`mgrid[0:3, 0:1:5j]`: coordinates of a grid; an imaginary step is a number of points, the end included."""

    def __init__(self, sparse):
        self._sparse = sparse

    def __getitem__(self, key):
        try:
            return self._grid(key)
        except ForeignDType:  # bounds of a long double, which are no arguments of a function
            if _graphc.is_tracing():
                raise
            return _foreign.to_ours((_np.ogrid if self._sparse else _np.mgrid)[key])

    def _grid(self, key):
        from ._creation import arange

        try:
            items = [key[k] for k in range(len(key))]
        except TypeError:  # a slice has no length
            items = None
        bounds = []  # start, stop, step or number of points of each axis
        for item in [key] if items is None else items:
            counted = isinstance(item.step, (complex, _np.complexfloating))
            step = 1 if item.step is None else _py.abs(item.step) if counted else item.step
            bounds.append((0 if item.start is None else item.start, item.stop, step, counted))
        if items is None and not bounds[0][3]:
            return arange(*bounds[0][:3])
        if _are_few(bounds) and not _graphc.is_tracing():
            theirs = (_np.ogrid if self._sparse else _np.mgrid)[key]
            return tuple(map(_graphc.pack, theirs)) if isinstance(theirs, tuple) else _graphc.pack(theirs)
        values = [value for bound in bounds for value in bound[:3]]
        kind = int64 if {int}.issuperset(map(type, values)) else _graphc.result_type(*values, *([] if items is None else [0]))
        axes = []
        for start, stop, step, counted in bounds:
            if not counted and items is not None and not self._sparse and (stop - start) / step <= -1:
                raise ArgumentError("negative dimensions are not allowed")
            if kind is int64 and not counted:
                axes.append(arange(start, stop, step))
                continue
            size = int(step) if counted else _math.ceil((stop - start) / step)
            if counted:
                step = size if size == 1 else (stop - start) / _py.float(size - 1)
            axes.append((arange(size, dtype=kind) * step + start).astype(kind, copy=False))
        if items is None:
            return axes[0]
        if self._sparse:
            return ix_(*axes)
        return stack(list(meshgrid(*axes, indexing="ij"))) if axes else zeros((0,), dtype=kind)


mgrid = _Grid(False)
ogrid = _Grid(True)
