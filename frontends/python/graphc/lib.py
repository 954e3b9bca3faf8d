"""`graphc.lib.stride_tricks`: NumPy's windows. What is a strided view there is a copy here, computed where it is used."""

import operator as _operator
import types as _types

import numpy as _np

from . import _graphc
from ._creation import asarray
from ._manipulation import _axis, broadcast_arrays, broadcast_shapes, broadcast_to
from .errors import ArgumentError, ShapeError


def sliding_window_view(x, window_shape, axis=None, *, subok=False, writeable=False):
    """All windows of a shape over some axes (all when `axis` is None), the window's axes last. A read-only copy: later
    updates of `x` do not show. Raises ValueError for a window that does not fit."""
    x = asarray(x)
    sizes = tuple(window_shape) if hasattr(window_shape, "__len__") else (window_shape,)
    sizes = tuple(_operator.index(n) for n in sizes)
    if any(n < 0 for n in sizes):
        raise ArgumentError("`window_shape` cannot contain negative values")
    axes = tuple(range(x.ndim)) if axis is None else axis if isinstance(axis, (tuple, list)) else (axis,)
    axes = [_axis(a, x.ndim, "sliding_window_view") for a in axes]
    if len(sizes) != len(axes):
        raise ArgumentError(f"Must provide matching length window_shape and axis; got {len(sizes)} and {len(axes)}")
    if writeable:
        raise ArgumentError("sliding_window_view: windows are copies, which cannot be written through")
    for along, size in zip(axes, sizes):
        x = _windows(x, along, size)
    return broadcast_to(x, x.shape)


def _windows(x, axis, size):
    """The windows of `size` along one axis, as a new last axis; by a view of repetitions of the axis."""
    length = x.shape[axis]
    if size > length:
        raise ArgumentError("window shape cannot be larger than input array shape")
    count = length - size + 1
    order = [i for i in range(x.ndim) if i != axis] + [axis]
    back = [order.index(i) for i in range(x.ndim)]
    rows = _graphc.transpose(x, tuple(order))
    lead = rows.shape[:-1]
    wide = _graphc.broadcast_to(_graphc.expand_dims(rows, -2), (*lead, size + 1, length)).reshape((*lead, (size + 1) * length))
    wide = wide[..., : size * (length + 1)].reshape((*lead, size, length + 1))[..., :count]
    turned = _graphc.transpose(wide, (*range(len(lead)), len(lead) + 1, len(lead)))  # ..., places, window
    return _graphc.transpose(turned, (*back, x.ndim))


def as_strided(x, shape=None, strides=None, subok=False, writeable=True):
    """The elements at places given by byte strides from the first one of `x`. A read-only copy. Raises ValueError for a
    place outside of the memory of `x`, which must be dense."""
    x = asarray(x)
    shape = x.shape if shape is None else tuple(shape) if hasattr(shape, "__len__") else (shape,)
    strides = x.strides if strides is None else tuple(strides) if hasattr(strides, "__len__") else (strides,)
    if len(shape) != len(strides):
        raise ShapeError(f"as_strided: shape {shape} and strides {strides} differ in length")
    if any(s % x.itemsize for s in strides):
        raise ArgumentError(f"as_strided: strides {strides} are no multiples of the item size {x.itemsize}")
    flat = x.ravel() if x.contiguous else None
    if flat is None:
        raise ArgumentError("as_strided: a dense array is needed")
    steps = [s // x.itemsize for s in strides]
    low = sum(min(0, (n - 1) * s) for n, s in zip(shape, steps))
    high = sum(max(0, (n - 1) * s) for n, s in zip(shape, steps))
    if 0 in shape:
        return broadcast_to(_graphc.full(shape, 0, x.dtype, x.device), shape)
    if low < 0 or high >= x.size:
        raise ArgumentError(f"as_strided: places {low} to {high} of an array of {x.size} elements")
    places = _graphc.full((), 0, _np.dtype("int64"), x.device)
    for n, s in zip(shape, steps):
        places = _graphc.expand_dims(places, places.ndim) + _graphc.iota(n, _np.dtype("int64"), x.device) * s
    return broadcast_to(flat[places], shape)


stride_tricks = _types.SimpleNamespace(
    sliding_window_view=sliding_window_view, as_strided=as_strided, broadcast_to=broadcast_to,
    broadcast_arrays=broadcast_arrays, broadcast_shapes=broadcast_shapes,
)  # fmt: skip
