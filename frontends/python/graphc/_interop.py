"""What makes graphc arrays at home among NumPy's: printing, `np.sin(g)`, pickling."""

import operator as _operator

import numpy as _np

from . import _graphc
from .errors import TraceError

_Array = _graphc.Array


def _values(x):
    _graphc.eval([x], "print")
    if not isinstance(x.dtype, _np.dtype):
        x = x.astype("float32")
    return _np.asarray(x)


def _repr(self):
    try:
        text = _np.array_repr(_values(self))
        return text if isinstance(self.dtype, _np.dtype) else text.replace("float32", self.dtype.name)
    except TraceError:
        return f"array(<recorded in jit>, shape={self.shape}, dtype={self.dtype.name})"


def _str(self):
    try:
        return _np.array_str(_values(self))
    except TraceError:
        return _repr(self)


def _format(self, spec):
    if not spec:
        return str(self)
    if self.ndim:
        raise TypeError(f"unsupported format string for an array of shape {self.shape}")
    return format(self.item(), spec)


def _rebuild(values, device):
    return _graphc.asarray(values, None, device, None)


def _reduce(self):
    return _rebuild, (_np.array(self), self.device)


def _copy(self):
    return self.copy()


def _deepcopy(self, memo):
    return self.copy()


# NumPy's name of an operation to ours; an array among the operands brings NumPy here.
_UFUNCS = {}
_UFUNC_REDUCTIONS = {"add": "sum", "multiply": "prod", "minimum": "min", "maximum": "max"}
_UFUNC_REDUCTIONS |= {"logical_and": "all", "logical_or": "any"}


def _ufunc_table():
    if not _UFUNCS:
        from . import _functions
        from ._linalg import matmul
        from ._manipulation import round as round_

        _UFUNCS.update({name: getattr(_functions, name) for name in _functions.__all__})
        _UFUNCS.update(matmul=matmul, rint=round_, positive=_operator.pos)
    return _UFUNCS


def _array_ufunc(self, ufunc, method, *inputs, out=None, **keywords):
    import graphc

    if out is not None:
        if len(out) != 1 or keywords or method != "__call__":
            return NotImplemented
        if isinstance(out[0], _np.ndarray):  # a NumPy array is updated: NumPy does it, on values
            return ufunc(*[_np.asarray(x) if isinstance(x, _Array) else x for x in inputs], out=out[0])
        result = _array_ufunc(self, ufunc, method, *inputs)
        if result is not NotImplemented:
            out[0][...] = result
            return out[0]
        return result
    if method == "__call__":
        dtype = keywords.pop("dtype", None)
        function = _ufunc_table().get(ufunc.__name__)
        if function is None or keywords:
            return NotImplemented
        result = function(*inputs)
        return result if dtype is None else graphc.astype(result, dtype)
    if method == "reduce" and ufunc.__name__ in _UFUNC_REDUCTIONS:
        axis = keywords.pop("axis", 0)
        keywords = {k: v for k, v in keywords.items() if k in ("dtype", "keepdims") and v}
        return getattr(graphc, _UFUNC_REDUCTIONS[ufunc.__name__])(inputs[0], axis=axis, **keywords)
    return NotImplemented


def _array_function(self, function, types, args, kwargs):
    import graphc

    home = {"numpy": graphc, "numpy.linalg": graphc.linalg}.get(function.__module__)
    ours = getattr(home, function.__name__, None)
    if ours is None:
        return NotImplemented
    kwargs = {k: v for k, v in kwargs.items() if not (k == "out" and v is None)}
    return ours(*args, **kwargs)


def _var(self, axis=None, dtype=None, *, ddof=0, correction=None, keepdims=False):
    """As graphc.var."""
    from ._reductions import var

    return var(self, axis, dtype, ddof=ddof, correction=correction, keepdims=keepdims)


def _std(self, axis=None, dtype=None, *, ddof=0, correction=None, keepdims=False):
    """As graphc.std."""
    from ._reductions import std

    return std(self, axis, dtype, ddof=ddof, correction=correction, keepdims=keepdims)


def _dot(self, other, /):
    """As graphc.dot."""
    from ._linalg import dot

    return dot(self, other)


def _sort(self, axis=-1, kind=None, order=None, *, stable=None, descending=False):
    """Sorts the array itself along an axis; every view of it sees the new order."""
    from ._sorting import sort_in_place

    sort_in_place(self, axis, kind, order, stable=stable, descending=descending)


def _partition(self, kth, axis=-1, kind="introselect", order=None):
    """Brings the element at `kth` along an axis to its place in the array itself, smaller ones before it."""
    from ._sorting import partition_in_place

    partition_in_place(self, kth, axis, kind, order)


def _tobytes(self):
    """The values in row-major order as bytes."""
    return _np.asarray(self).tobytes()


def _compress(self, condition, axis=None, out=None):
    """As graphc.compress."""
    from ._indexing import compress

    return compress(condition, self, axis, out)


def _method(module, name):
    """The module's function as a method: its first argument is the array."""

    def method(self, *args, **keywords):
        from importlib import import_module

        return getattr(import_module(f".{module}", __package__), name)(self, *args, **keywords)

    method.__name__ = name
    method.__doc__ = f"As graphc.{name}."
    return method


def attach():
    """Gives the extension's Array the methods that are written in Python."""
    for name, function in {
        "__repr__": _repr,
        "__str__": _str,
        "__format__": _format,
        "__reduce__": _reduce,
        "__copy__": _copy,
        "__deepcopy__": _deepcopy,
        "__array_ufunc__": _array_ufunc,
        "__array_function__": _array_function,
        "var": _var,
        "std": _std,
        "dot": _dot,
        "tobytes": _tobytes,
        "diagonal": _method("_matrices", "diagonal"),
        "trace": _method("_matrices", "trace"),
        "repeat": _method("_assemble", "repeat"),
        "take": _method("_indexing", "take"),
        "put": _method("_indexing", "put"),
        "choose": _method("_indexing", "choose"),
        "nonzero": _method("_indexing", "nonzero"),
        "compress": _compress,
        "argsort": _method("_sorting", "argsort"),
        "argpartition": _method("_sorting", "argpartition"),
        "searchsorted": _method("_sorting", "searchsorted"),
        "sort": _sort,
        "partition": _partition,
    }.items():
        setattr(_Array, name, function)
    _Array.__module__ = "graphc"
    _Array.__doc__ = "A lazily computed array: a view of versioned memory on one device. Make one with asarray, zeros, arange."
