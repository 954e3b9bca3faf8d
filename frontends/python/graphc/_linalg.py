"""Products. Each element of a float product is a chain of fused multiply-adds in increasing k (docs/numerics.md)."""

import builtins as _py
import math as _math
import operator as _operator

import numpy as _np

from . import _graphc
from ._creation import asarray, asarrays
from ._devices import where_operands_are as _where_operands_are
from ._float_errors import number_of as _number_of
from ._float_errors import stands_for as _stands_for
from ._manipulation import _axes, _axis, moveaxis
from ._ufunc import as_ufunc, with_out
from .errors import ArgumentError, AxisError, ShapeError


@as_ufunc(2)
@_stands_for("matmul")
def matmul(x1, x2, /, *, axes=None):
    """Matrix product of the last two axes, earlier axes broadcast; vectors are lifted, as NumPy's `@`. `axes` names the
    matrices' axes in both operands and the result (`moved_operands`). Raises ShapeError when the contracted sizes differ or
    an operand is 0-d."""
    if axes is None:
        return _graphc.matmul(x1, x2)
    x1, x2 = asarray(x1), asarray(x2)
    lengths = (_py.min(x1.ndim, 2), _py.min(x2.ndim, 2), (x1.ndim > 1) + (x2.ndim > 1))
    x1, x2, back = moved_operands((x1, x2), axes, lengths, "matmul")
    return back(_graphc.matmul(x1, x2))


def _core_axes(given, length, operand, item):
    """The axes of one entry of `axes`, as a tuple."""
    if isinstance(given, tuple):
        if len(given) != length:
            raise AxisError(f"{operand} has {length} core dimensions, but {len(given)} dimensions are specified by axes tuple.")
        return given
    try:
        axis = _operator.index(given)
    except TypeError:
        raise TypeError(f"{item} should be a tuple.") from None
    if length != 1:
        raise AxisError(f"{operand} has {length} core dimensions, but the axes item is a single integer.")
    return (axis,)


def moved_operands(operands, axes, lengths, name):
    """Operands of a product with the axes that `axes` names at their ends, and what puts those of the result in their
    place. `axes`: for each operand and the result, which may be left out when it has none of its own, as many axes as
    `lengths` says, in a tuple or, for one, alone. Raises TypeError and ValueError as NumPy."""
    if not isinstance(axes, list):
        raise TypeError("axes should be a list.")
    if len(axes) != len(lengths) and not (lengths[-1] == 0 and len(axes) == len(lengths) - 1):
        raise ArgumentError(f"axes should be a list with an entry for all {len(lengths)} inputs and outputs; entries for outputs can only be omitted if none of them has core axes.")
    entries = [_core_axes(entry, length, f"{name}: operand {i}", f"{name}: axes item {i}") for i, (entry, length) in enumerate(zip(axes, lengths))]
    entries += [()] * (len(lengths) - len(entries))

    def ends(length):
        return tuple(range(-length, 0))

    moved = [moveaxis(x, _axes(entry, x.ndim, name), ends(length)) if length else x for x, entry, length in zip(operands, entries, lengths)]
    last = entries[-1]

    def back(result):
        return moveaxis(result, ends(len(last)), _axes(last, result.ndim, name)) if last else result

    return *moved, back


@_stands_for("dot")
def dot(a, b, out=None):
    """NumPy's dot: a product with a 0-d operand, else the sum over the last axis of `a` and the second last of `b`."""
    try:
        return _dot(a, b, out)
    except ShapeError:
        x1, x2 = asarrays((a, b))
        if x1.ndim == 0 or x2.ndim == 0 or x1.shape[-1] == x2.shape[_py.max(x2.ndim - 2, 0)]:
            raise
        axis = _py.max(x2.ndim - 2, 0)
        shapes = " and ".join(str(x.shape).replace(" ", "") for x in (x1, x2))
        raise ShapeError(f"shapes {shapes} not aligned: {x1.shape[-1]} (dim {x1.ndim - 1}) != {x2.shape[axis]} (dim {axis})") from None


dot.quick = _graphc.plain_dot(_number_of("dot"), 2)


@_stands_for()
def _dot(a, b, out):
    if out is None and _py.all(type(x) in (_graphc.ndarray, _np.ndarray) and 1 <= x.ndim <= 2 for x in (a, b)):
        return _graphc.matmul(a, b)
    if out is None and type(a) is _graphc.ndarray and type(b) is float and a.dtype.char in "dD":  # of its dtype
        return _graphc.mul(a, b)
    x1, x2 = asarrays((a, b))
    if x1.ndim == 0 or x2.ndim == 0:
        result = x1 * x2
    elif x1.ndim <= 2 and x2.ndim <= 2:
        result = _graphc.matmul(x1, x2)
    else:
        result = tensordot(x1, x2, axes=([x1.ndim - 1], [max(x2.ndim - 2, 0)]))
    if out is not None and not (isinstance(out, (_graphc.Array, _np.ndarray)) and out.dtype == result.dtype and out.ndim == result.ndim and out.flags.c_contiguous):
        raise ArgumentError("output array is not acceptable (must have the right datatype, number of dimensions, and be a C-Array)")
    return with_out(result, out, name="dot")


@as_ufunc(2)
@_stands_for("vecdot")
def vecdot(x1, x2, /, *, axis=-1, axes=None, keepdims=False):
    """Sum of products along one axis, in the dtype of the products; other axes broadcast, and complex numbers of the
    first operand are conjugated. `axes` names the axis in each operand (`moved_operands`); `keepdims` leaves it with size 1.
    Raises ShapeError when the axis is not of one size."""
    if type(x1) is type(x2) is _graphc.ndarray and x1.ndim == x2.ndim == 1 and x1.shape == x2.shape and axis == -1 and axes is None and not keepdims:
        return _graphc.matmul(x1.conj(), x2)
    x1, x2 = (asarray(x) for x in (x1, x2))
    if axes is not None:
        given = axes
        if keepdims and isinstance(axes, list) and len(axes) == 3:
            given, last = axes[:2], axes[2] if isinstance(axes[2], tuple) else (axes[2],)
            if len(last) != 1:
                raise AxisError(f"vecdot: operand 2 has 1 core dimensions, but {len(last)} dimensions are specified by axes tuple.")
            axis = last[0]
        x1, x2, _ = moved_operands((x1, x2), given, (1, 1, 0), "vecdot")
    else:
        x1, x2 = (moveaxis(x, _axis(axis, x.ndim, "vecdot"), -1) for x in (x1, x2))
    if x1.shape[-1] != x2.shape[-1]:
        raise ShapeError(f"vecdot: axis {axis} differs in size: {x1.shape[-1]} and {x2.shape[-1]}")
    x1 = x1.conj() if x1.dtype.kind == "c" else x1
    sums = _graphc.matmul(_graphc.expand_dims(x1, -2), _graphc.expand_dims(x2, -1))
    sums = sums[0, 0] if sums.ndim == 2 else sums[..., 0, 0]  # a single result, where there is one
    return _graphc.expand_dims(sums, (_axis(axis, sums.ndim + 1, "vecdot"),)) if keepdims else sums


@_where_operands_are
@_stands_for()
def outer(a, b, out=None):
    """All products of the elements of two arrays, as a matrix."""
    return with_out(asarray(a).reshape((-1, 1)) * asarray(b).reshape((1, -1)), out, name="outer")


def _listed(axes):
    try:
        return tuple(axes)
    except TypeError:
        return (axes,)


@_where_operands_are
@_stands_for("dot")
def tensordot(a, b, axes=2):
    """Sum of products over pairs of axes: the last `axes` of `a` with the first of `b`, or two lists of axes."""
    x1, x2 = asarray(a), asarray(b)
    try:
        count = _operator.index(axes)
        first, second = range(x1.ndim - count, x1.ndim), range(count)
        if count < 0 or count > min(x1.ndim, x2.ndim):
            raise ArgumentError(f"tensordot: {count} axes of arrays of shapes {x1.shape} and {x2.shape}")
    except TypeError:
        first, second = map(_listed, axes)
    first, second = _axes(tuple(first), x1.ndim, "tensordot"), _axes(tuple(second), x2.ndim, "tensordot")
    sizes = [x1.shape[a] for a in first]
    if sizes != [x2.shape[a] for a in second]:
        raise ShapeError(f"shape-mismatch for sum: axes {first} of {x1.shape} and {second} of {x2.shape}")
    kept1 = [a for a in range(x1.ndim) if a not in first]
    kept2 = [a for a in range(x2.ndim) if a not in second]
    shape1, shape2 = [x1.shape[a] for a in kept1], [x2.shape[a] for a in kept2]
    inner = _math.prod(sizes)
    left = _graphc.transpose(x1, tuple(kept1 + first)).reshape((_math.prod(shape1), inner))
    right = _graphc.transpose(x2, tuple(second + kept2)).reshape((inner, _math.prod(shape2)))
    return _graphc.matmul(left, right).reshape(tuple(shape1 + shape2))
