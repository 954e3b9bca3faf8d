"""Names of NumPy that are about dtypes, printing, settings and grids of indices: they touch no elements."""

from __future__ import annotations

import builtins as _py
import functools as _functools
import math as _math
import sys as _sys

import numpy as _np

from . import _foreign, _graphc, _numpys_classes
from ._creation import arange, asarray, linspace
from ._devices import where_operands_are as _where_operands_are
from ._float_errors import tell as _tell
from ._manipulation import concatenate
from .errors import ArgumentError, DTypeError, ForeignDType, ShapeError

# NumPy's own objects: dtypes and their classes, and settings of printing, which graphc's arrays follow.
SHARED = (
    "True_", "False_", "euler_gamma", "s_", "index_exp", "little_endian", "sctypeDict", "typecodes", "ScalarType",
    "dtype", "generic", "number", "integer", "inexact", "floating", "signedinteger", "unsignedinteger", "flexible",
    "character", "complexfloating", "byte", "ubyte", "short", "ushort", "intc", "uintc", "int_", "uint", "long", "ulong",
    "longlong", "ulonglong", "intp", "uintp", "single", "double", "bool_", "int8", "int16", "int32", "int64", "uint8",
    "uint16", "uint32", "uint64", "float32", "float64", "str_", "bytes_", "object_", "void", "datetime64", "timedelta64",
    "float16", "half", "complex64", "complex128", "csingle", "cdouble", "longdouble", "clongdouble",
    "promote_types", "issubdtype", "typename", "mintypecode", "base_repr", "binary_repr", "format_float_positional",
    "format_float_scientific", "get_printoptions", "set_printoptions", "printoptions", "exceptions", "isscalar",
    "get_include", "_CopyMode", "show_config", "show_runtime", "dtypes", "getbufsize", "setbufsize", "_NoValue",
)  # fmt: skip
shared = {name: getattr(_np, name) for name in SHARED if hasattr(_np, name)}
# NumPy's own modules, for `from graphc.exceptions import ...`.
_sys.modules.update({f"{__package__}.{name}": shared[name] for name in ("exceptions", "dtypes")})


def isscalar(element) -> _py.bool:
    """Whether an object is a number, also one computed from arrays, or a string, and no array."""
    return _graphc.is_value(element) if _graphc.is_array(element) else _np.isscalar(element)


shared["isscalar"] = isscalar


@_functools.wraps(_np.promote_types, updated=())
def promote_types(*types, **named):
    if any(isinstance(t, _graphc.Array) and not _graphc.is_value(t) for t in types):  # whose dtype NumPy would ask for
        raise DTypeError("Cannot construct a dtype from an array")
    return _np.promote_types(*types, **named)


shared["promote_types"] = promote_types


def common_type(*arrays):
    """The float dtype class that all arrays convert to; integers count as float64."""
    if any(a.dtype.kind not in "iufc" for a in arrays):
        raise DTypeError("can't get common type for non-numeric array")
    return _np.result_type(*[_np.float64 if a.dtype.kind in "iu" else a.dtype for a in arrays]).type


def min_scalar_type(a, /):
    """The smallest dtype that holds a number; the dtype of an array with axes."""
    if isinstance(a, (_graphc.Array, _np.ndarray)) and a.ndim:
        return a.dtype
    return _np.min_scalar_type(a.item() if _graphc.is_array(a) else a)


def isfortran(a) -> _py.bool:
    """Whether an array is column-major and not row-major."""
    return a.flags.fnc


def _parts_of(value):
    """The arrays that an argument of `broadcast` stands for: those of another one, or itself."""
    if isinstance(value, broadcast):
        return value._arrays
    return [i.base for i in value.iters] if isinstance(value, _np.broadcast) else [value]


class broadcast:  # noqa: N801  (NumPy's name)
    """Arrays broadcast against each other: their common shape, and tuples of elements in row-major order."""

    __module__ = "graphc"

    def __init__(self, *arrays, **names):
        from ._manipulation import broadcast_arrays

        if names:
            raise ArgumentError("keyword arguments not accepted.")
        arrays = [part for a in arrays for part in _parts_of(a)]
        if len(arrays) > 64:
            raise ArgumentError("Need at least 0 and at most 64 array objects.")
        try:
            self._arrays = broadcast_arrays(*arrays) if arrays else ()
        except ForeignDType:
            self._arrays = _np.broadcast_arrays(*map(_np.asarray, arrays))
        self.shape = self._arrays[0].shape if arrays else ()
        self.nd = self.ndim = len(self.shape)
        self.size = _math.prod(self.shape)
        self.numiter = len(self._arrays)
        self.reset()

    def reset(self):
        self.index, self._places = 0, None

    @property
    def iters(self):
        """An iterator over each broadcast array."""
        return tuple(a.flat for a in self._arrays)

    def __iter__(self):
        return self

    def __next__(self):
        if self._places is None:
            self._places = zip(*[iter(a.ravel()) for a in self._arrays])
        found = next(self._places)
        self.index += 1
        return found


def _bounded(index):
    return tuple(asarray(i) for i in index)


def diag_indices(n: int, ndim: int = 2):
    """Index arrays of the main diagonal of an array of `ndim` axes of size n."""
    return (arange(n),) * ndim


def diag_indices_from(arr):
    """`diag_indices` of an array, whose axes must be equally long."""
    if arr.ndim < 2:
        raise ShapeError("input array must be at least 2-d")
    if len(set(arr.shape)) != 1:
        raise ShapeError("All dimensions of input must be of equal length")
    return diag_indices(arr.shape[0], arr.ndim)


def tril_indices(n: int, k: int = 0, m: int | None = None):
    """Index arrays of the lower triangle of an (n, m) matrix."""
    return _bounded(_np.tril_indices(n, k, m))


def triu_indices(n: int, k: int = 0, m: int | None = None):
    """Index arrays of the upper triangle of an (n, m) matrix."""
    return _bounded(_np.triu_indices(n, k, m))


def tril_indices_from(arr, k: int = 0):
    """`tril_indices` of a matrix."""
    if arr.ndim != 2:
        raise ShapeError("input array must be 2-d")
    return tril_indices(arr.shape[0], k, arr.shape[1])


def triu_indices_from(arr, k: int = 0):
    """`triu_indices` of a matrix."""
    if arr.ndim != 2:
        raise ShapeError("input array must be 2-d")
    return triu_indices(arr.shape[0], k, arr.shape[1])


def resize(a, new_shape):
    """The elements repeated in row-major order, or cut, to fill a shape."""
    x = asarray(a).ravel()
    shape = (new_shape,) if not hasattr(new_shape, "__len__") else tuple(new_shape)
    if _py.any(n < 0 for n in shape):
        raise ArgumentError("all elements of `new_shape` must be non-negative")
    size = int(_np.prod(shape, dtype=object))
    if x.size == 0 or size == 0:
        return _graphc.full(shape, 0, x.dtype, x.device)
    times = -(-size // x.size)
    return _graphc.broadcast_to(x, (times, x.size)).reshape((-1,))[:size].reshape(shape).copy()


def _along(key):
    """One item of r_ as an array."""
    if isinstance(key, slice):
        start = 0 if key.start is None else key.start
        step = 1 if key.step is None else key.step
        if isinstance(step, (complex, _np.complexfloating)):
            return linspace(start, key.stop, int(_py.abs(step)))
        return arange(start, key.stop, step)
    return asarray(key)


def _plain_parts(key):
    """Vectors to join for a key of Python's numbers, slices of them and vectors, whose dtypes promote as those numbers do; None for others."""
    parts, run = [], None
    for k in key:
        kind = type(k)
        if issubclass(kind, (_np.float64, _np.int64)):
            k = k.item()
            kind = type(k)
        if kind is float or kind is int and -(1 << 63) <= k < 1 << 63:
            if run is None:
                run = []
                parts.append(run)
            run.append(k)
            continue
        run = None
        if kind is slice:
            start, stop, step = 0 if k.start is None else k.start, k.stop, 1 if k.step is None else k.step
            if not (type(start) is type(stop) is type(step) is int):
                return None
            parts.append(arange(start, stop, step))
        elif kind is _graphc.ndarray and k.ndim == 1 and k.dtype.char in "dl":
            parts.append(k)
        else:
            return None
    return parts or None


class _Concatenator:
    """`r_[1:4, 0, [5, 6]]`: slices, numbers and arrays joined along an axis."""

    def __init__(self, axis, ndmin=1, trans=-1):
        self._axis, self._ndmin, self._trans = axis, ndmin, trans

    def __getitem__(self, key):
        if isinstance(key, str):
            caller = _sys._getframe(1)
            return _numpys_classes.bmat(key, caller.f_globals, caller.f_locals)
        key = key if isinstance(key, tuple) else (key,)
        try:
            return self._joined(key)
        except ForeignDType:
            theirs = _np.r_ if self._axis == 0 else _np.c_
            return _foreign.run(lambda *key: theirs[key], key, {})

    def _joined(self, key):
        axis, ndmin, trans = self._axis, self._ndmin, self._trans
        if axis == 0 and key and _py.all(type(k) is _graphc.ndarray and k.ndim for k in key):
            return concatenate(key)
        if trans == 0 and key and _py.all(type(k) is _graphc.ndarray and 0 < k.ndim <= ndmin for k in key):
            return concatenate([k if k.ndim > 1 else k[:, None] for k in key], -1)
        parts = _plain_parts(key) if axis == 0 and ndmin == 1 else None
        if parts is not None:
            return concatenate(parts)
        if key and isinstance(key[0], str):
            if key[0] in ("r", "c"):
                raise ForeignDType("r_: a matrix")
            try:
                numbers = [int(n) for n in key[0].split(",")]
            except ValueError as error:
                raise ArgumentError(f"unknown special directive {key[0]!r}") from error
            axis, ndmin, trans = (numbers + [ndmin, trans][len(numbers) - 1 :])[:3]
            key = key[1:]
        parts = []
        scalars = [k for k in key if isscalar(k)]
        arrays = [_along(k) for k in key if not isscalar(k)]
        kind = _graphc.result_type(*arrays, *scalars)
        rest = iter(arrays)
        for k in key:
            x = asarray(k, kind) if isscalar(k) else next(rest).astype(kind, copy=False)
            if x.ndim < ndmin:
                new = ndmin - x.ndim
                place = trans if trans >= 0 else new + trans + 1 if x.ndim or trans != -1 else new
                place = _py.min(_py.max(place, 0), new)
                order = [n for n in (1,) * place] + list(x.shape) + [1] * (new - place)
                x = x.reshape(tuple(order))
            parts.append(x)
        return concatenate(parts, axis)

    def __len__(self):
        return 0


r_ = _Concatenator(0)
c_ = _Concatenator(-1, 2, 0)


def row_stack(tup, *, dtype=None, casting="same_kind"):
    """`vstack` under its old name."""
    from ._assemble import vstack

    _tell("`row_stack` alias is deprecated. Use `np.vstack` directly.", DeprecationWarning)
    return vstack(tup, dtype=dtype, casting=casting)


def mask_indices(n: int, mask_func, k=0):
    """Index arrays of the places where `mask_func` of an (n, n) matrix of ones, with `k`, is not zero."""
    from ._indexing import nonzero

    return nonzero(asarray(mask_func(_graphc.full((n, n), 1, None, None), k)) != 0)
