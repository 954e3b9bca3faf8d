"""Functions that make arrays. Nothing is computed until a value is needed."""

import builtins as _py
import math as _math
import operator as _operator

import numpy as _np

from . import _graphc
from ._dtypes import as_dtype, float64, int64
from .errors import ArgumentError, ShapeError

_Array = _graphc.Array


def _dtype(dtype):
    return None if dtype is None else as_dtype(dtype)


def _shape(shape):
    try:
        shape = (_operator.index(shape),)
    except TypeError:
        shape = tuple(_operator.index(n) for n in shape)
    if _py.any(n < 0 for n in shape):
        raise ShapeError(f"negative dimensions are not allowed: {shape}")
    return shape


def asarray(obj, /, dtype=None, *, device=None, copy=None):
    """`obj` as an Array: an Array (unchanged if nothing has to change), a NumPy array, a buffer or DLPack exporter, or
    nested sequences of Python scalars. copy=True always copies, False never (ValueError if that cannot be).
    Raises DTypeError for a dtype that graphc does not have."""
    if dtype is None and device is None and copy is None and type(obj) is _Array:
        return obj
    return _graphc.asarray(obj, _dtype(dtype), device, copy)


def array(obj, /, dtype=None, *, copy=True, device=None):
    """As `asarray`, but a copy unless told otherwise."""
    return _graphc.asarray(obj, _dtype(dtype), device, True if copy else None)


def full(shape, fill_value, *, dtype=None, device=None):
    """An Array of one value. The dtype follows the value as in NumPy: bool, int64, float64, or an array's own."""
    shape = _shape(shape)
    if isinstance(fill_value, (_Array, _np.ndarray)):
        from ._manipulation import broadcast_to

        value = asarray(fill_value, dtype, device=device)
        return broadcast_to(value, shape).copy()
    return _graphc.full(shape, fill_value, _dtype(dtype), device)


def zeros(shape, dtype=float64, *, device=None):
    """An Array of zeros."""
    return _graphc.full(_shape(shape), 0, as_dtype(dtype), device)


def ones(shape, dtype=float64, *, device=None):
    """An Array of ones."""
    return _graphc.full(_shape(shape), 1, as_dtype(dtype), device)


def empty(shape, dtype=float64, *, device=None):
    """An Array whose values do not matter (they are zeros)."""
    return zeros(shape, dtype, device=device)


def full_like(x, /, fill_value, *, dtype=None, device=None):
    """`full` with the shape, dtype and device of `x`."""
    x = asarray(x)
    return full(x.shape, fill_value, dtype=x.dtype if dtype is None else dtype, device=device or x.device)


def zeros_like(x, /, dtype=None, *, device=None):
    """Zeros with the shape, dtype and device of `x`."""
    return full_like(x, 0, dtype=dtype, device=device)


def ones_like(x, /, dtype=None, *, device=None):
    """Ones with the shape, dtype and device of `x`."""
    return full_like(x, 1, dtype=dtype, device=device)


def empty_like(x, /, dtype=None, *, device=None):
    """`empty` with the shape, dtype and device of `x`."""
    return zeros_like(x, dtype, device=device)


def arange(start, /, stop=None, step=1, dtype=None, *, device=None):
    """start, start + step, ... below `stop`, as NumPy counts them. One argument is `stop`. Raises ValueError for a
    zero step."""
    start, stop, step = (v.item() if isinstance(v, (_np.generic, _Array)) else v for v in (start, stop, step))
    if stop is None:
        start, stop = 0, start
    if step == 0:
        raise ArgumentError("arange: the step is zero")
    return _graphc.arange(start, stop, step, _dtype(dtype), device)


def linspace(start, stop, /, num=50, *, endpoint=True, retstep=False, dtype=None, device=None):
    """`num` evenly spaced values from `start` to `stop` (which is left out when endpoint is false); float64 unless a
    dtype is given. NumPy's arithmetic, so NumPy's bits. `start` and `stop` are scalars."""
    num = _operator.index(num)
    if num < 0:
        raise ArgumentError(f"linspace: number of samples, {num}, must be non-negative")
    intervals = num - 1 if endpoint else num
    wanted = float64 if dtype is None else as_dtype(dtype)
    start, stop = float(start), float(stop)
    index = _graphc.iota(num, float64, device)
    delta = stop - start
    step = delta / intervals if intervals > 0 else _math.nan
    if intervals > 0 and step == 0:
        values = index / intervals * delta + start
    else:
        values = index * (step if intervals > 0 else delta) + start
    if endpoint and num > 1:
        values = _graphc.select(_graphc.equal(index, float(num - 1)), stop, values)
    if wanted.kind in "iu":
        values = _graphc.floor(values)
    values = values.astype(wanted, copy=False)
    return (values, step) if retstep else values


def eye(n_rows, n_cols=None, /, k=0, dtype=float64, *, device=None):
    """Ones on the k-th diagonal, zeros elsewhere."""
    n_cols = n_rows if n_cols is None else n_cols
    rows = _graphc.iota(_operator.index(n_rows), int64, device)
    columns = _graphc.iota(_operator.index(n_cols), int64, device)
    return (rows[:, None] + _operator.index(k) == columns).astype(as_dtype(dtype))


def meshgrid(*arrays, indexing="xy"):
    """Coordinate arrays of a grid, as a tuple of read-only views."""
    from ._manipulation import broadcast_to

    if indexing not in ("xy", "ij"):
        raise ArgumentError(f"meshgrid: indexing is 'xy' or 'ij', not {indexing!r}")
    arrays = [asarray(a) for a in arrays]
    if _py.any(a.ndim > 1 for a in arrays):
        raise ShapeError(f"meshgrid: one-dimensional arrays expected, got shapes {[a.shape for a in arrays]}")
    order = list(range(len(arrays)))
    if indexing == "xy" and len(order) > 1:
        order[0], order[1] = 1, 0
    shape = [0] * len(arrays)
    for place, x in zip(order, arrays):
        shape[place] = x.size
    grids = []
    for place, x in zip(order, arrays):
        own = [1] * len(arrays)
        own[place] = x.size
        grids.append(broadcast_to(x.reshape(tuple(own)), tuple(shape)))
    return tuple(grids)


def _triangle(x, k, keep):
    x = asarray(x)
    if x.ndim < 2:
        raise ShapeError(f"tril and triu need two axes, got shape {x.shape}")
    rows = _graphc.iota(x.shape[-2], int64, x.device)[:, None] + _operator.index(k)
    columns = _graphc.iota(x.shape[-1], int64, x.device)
    return _graphc.select(keep(rows, columns), x, zeros((), x.dtype, device=x.device))


def tril(x, /, *, k=0):
    """`x` with zeros above its k-th diagonal."""
    return _triangle(x, k, _operator.ge)


def triu(x, /, *, k=0):
    """`x` with zeros below its k-th diagonal."""
    return _triangle(x, k, _operator.le)


def from_dlpack(x, /, *, device=None, copy=None):
    """An Array over the memory of a DLPack exporter (NumPy, torch, ...): no copy on the CPU unless asked for."""
    result = _graphc.from_dlpack(x, copy)
    return result if device is None else result.to_device(device)
