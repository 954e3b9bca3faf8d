"""What makes graphc arrays at home among NumPy's: printing, `np.sin(g)`, pickling."""

import builtins as _py
import sys as _sys

import numpy as _np

from . import _foreign, _graphc
from ._exact import UPDATES as _UPDATES
from ._float_errors import stands_for as _stands_for
from ._wrapping import valued as _valued
from .errors import ArgumentError, ForeignDType, TraceError

_Array = _graphc.Array


def _values(x):
    base = x.base
    if _graphc.pending(x if base is None else base):  # a part of what is computed is read where it lies
        _graphc.eval([x], "print")
    if not isinstance(x.dtype, _np.dtype):
        x = x.astype("float32")
    return _np.asarray(x)


def _repr(self):
    """NumPy's text; of a single result that of NumPy's scalar, with all its digits."""
    try:
        if _graphc.is_value(self) and isinstance(self.dtype, _np.dtype):
            return repr(self.dtype.type(self.item()))
        text = _np.array_repr(_values(self))
        return text if isinstance(self.dtype, _np.dtype) else text.replace("float32", self.dtype.name)
    except TraceError:
        return f"array(<recorded in jit>, shape={self.shape}, dtype={self.dtype.name})"


def _str(self):
    try:
        if _graphc.is_value(self) and isinstance(self.dtype, _np.dtype):
            return str(self.dtype.type(self.item()))
        return _np.array_str(_values(self))
    except TraceError:
        return _repr(self)


def _format(self, spec):
    if self.ndim and spec:
        raise TypeError(f"unsupported format string passed to numpy.ndarray.__format__: an array of shape {self.shape}")
    try:
        return str(self) if self.ndim else format(self.item(), spec)
    except TraceError:
        if spec:
            raise
        return str(self)


def _rebuild(values, device):
    from ._creation import asarray

    return asarray(values, device=device)


def _rebuild_value(values, device):
    return _rebuild(values, device)[()]


def _reduce(self):
    return _rebuild_value if _graphc.is_value(self) else _rebuild, (_np.array(self), self.device)


def _copied(self, memo=None):
    """For the module copy."""
    return self.copy("K") if self.ndim > 1 else self.copy()


def _dask_tokenize(self):
    """What Dask names a task by: equal values of one dtype and shape have one token, in every process."""
    import hashlib

    values = _np.ascontiguousarray(_values(self))
    digest = hashlib.blake2b(values.reshape(-1).view("u1").data, digest_size=16).hexdigest()
    return "graphc.Array", self.dtype.name, self.shape, digest


#: Our ufunc for NumPy's, of those that were called with operands that need no look; and those of other packages.
_ours, _others = {}, set()
_OPERANDS = {_Array, _graphc.ndarray, _np.ndarray, bool, int, float, *(_np.dtype(code).type for code in "?bhilBHILefdFD")}
_graphc.set_own_ufuncs(_ours)


def _is_complex(x):
    return type(x) is complex or getattr(getattr(x, "dtype", None), "kind", None) == "c"


#: Whether a file is of an installed package whose code names NumPy and not us.
_theirs = {}


def _is_of_theirs(frame):
    """Whether the running code is of a package that knows NumPy alone, and may give what it computes to compiled code."""
    names = frame.f_globals
    file = names.get("__file__")
    known = _theirs.get(file)
    if known is None:
        import graphc

        is_installed = isinstance(file, str) and ("site-packages" in file or "dist-packages" in file)
        modules = [v for v in list(names.values()) if v is _np or v is graphc] if is_installed else []
        known = _theirs[file] = _py.bool(modules) and not _py.any(m is graphc for m in modules)
    return known


@_stands_for()
def _array_ufunc(self, ufunc, method, *inputs, **keywords):
    is_plain = method == "__call__" and not keywords and _OPERANDS.issuperset(map(type, inputs))
    if _graphc.is_value(self) and method == "__call__" and not keywords and _py.any(type(x) is _np.ndarray for x in inputs) and _is_of_theirs(_sys._getframe(1)):
        if not _py.any(_graphc.is_array(x) and not _graphc.is_value(x) for x in inputs):
            return ufunc(*[x.dtype.type(x.item()) if _graphc.is_array(x) else x for x in inputs])
    if is_plain and ufunc in _ours:
        return _ours[ufunc](*inputs)
    if is_plain and ufunc in _others:
        made = _graphc.applied(ufunc, *inputs)
        return made if type(made) is _graphc.ndarray else _foreign.applied(ufunc, inputs, made)
    if is_plain and len(ufunc.types) == 1 and ufunc.types[0][-1:] == "O":  # a Python function's
        made = _graphc.applied(ufunc, *inputs)
        if made is not NotImplemented:
            return made
    planned = _foreign.of_classes(ufunc, inputs, keywords) if method == "__call__" else None
    if planned is not None:
        return planned[3](planned[0](*planned[1], **keywords))
    import graphc

    ours = vars(graphc).get(ufunc.__name__)
    out = keywords.get("out")
    others = [x for x in (*inputs, *(out or ())) if _foreign.has_own(type(x), "__array_ufunc__")]
    if others:
        for x in others:
            found = type(x).__array_ufunc__(x, ufunc, method, *inputs, **keywords)
            if found is not NotImplemented:
                return found
        return _foreign.of_values(getattr(ufunc, method), inputs, keywords)
    if not isinstance(ours, _graphc.ufunc):  # of another package, as SciPy's: of values
        if is_plain and "O" not in "".join(ufunc.types[:1]):  # one of a Python function ends with it
            _others.add(ufunc)
        return _foreign.run(getattr(ufunc, method), inputs, keywords, "a" if method == "at" else None)
    if ufunc is getattr(_np, ufunc.__name__, None):
        if is_plain:
            _ours[ufunc] = ours
    elif _py.any(_is_complex(x) for x in inputs):  # SciPy's `erf` takes complex numbers
        return _foreign.run(getattr(ufunc, method), inputs, keywords, "a" if method == "at" else None)
    if out is not None and not _py.any(_graphc.is_array(x) for x in (*inputs, *out)):
        return NotImplemented
    if method != "__call__" and out is not None and len(out) == 1:
        keywords["out"] = out[0]
    return (ours if method == "__call__" else getattr(ours, method))(*inputs, **keywords)


#: NumPy's functions that are called, as `asarray` is, for arrays that are NumPy's: by libraries in front of compiled code.
_CONVERSIONS = {_np.atleast_1d, _np.atleast_2d, _np.atleast_3d}
#: Those that make what packages that know NumPy alone go on to give to compiled code, to be written to.
_MAKING = {_np.empty_like, _np.zeros_like, _np.ones_like, _np.full_like}
#: Those that call a function of whoever calls them, which knows NumPy's arrays.
_CALLING = {_np.apply_along_axis, _np.apply_over_axes, _np.piecewise}


@_stands_for()
def _array_function(self, func, types, args, kwargs):
    import graphc

    if not isinstance(args, tuple) or not isinstance(kwargs, dict):
        raise TypeError("args must be a tuple." if not isinstance(args, tuple) else "kwargs must be a dict.")
    if func in _MAKING and not _graphc.is_tracing() and _is_of_theirs(_sys._getframe(1)):
        return func(*(_np.asarray(a) if _graphc.is_array(a) else a for a in args), **{k: _np.asarray(v) if _graphc.is_array(v) else v for k, v in kwargs.items()})
    if func in _CONVERSIONS and not _graphc.is_tracing():
        return func(*(_np.array(a) if _graphc.is_array(a) else a for a in args), **kwargs)
    if _py.any(_foreign.has_own(cls, "__array_function__") for cls in types):
        return NotImplemented
    package, _, inner = (func.__module__ or "").partition(".")
    ours = graphc if package == "numpy" else None
    for part in inner.split(".") if inner else ():
        ours = ours if part.startswith("_") else getattr(ours, part, None)
    ours = getattr(ours, func.__name__, None) if ours is not graphc else vars(graphc).get(func.__name__)
    if ours is None or ours is func or func in _CALLING:
        return _foreign.run(func, args, kwargs, _UPDATES.get(func.__name__))
    kwargs = {k: v for k, v in kwargs.items() if v is not _np._NoValue and not (k == "out" and v is None)}
    # NumPy asks classes of some arguments alone; those of others say nothing here.
    return ours(*map(_valued, args), **{k: _valued(v) for k, v in kwargs.items()})


def _sort(self, axis=-1, kind=None, order=None, *, stable=None, descending=False):
    """Sorts the array itself along an axis; every view of it sees the new order."""
    if kind is None and order is None and type(axis) is int and axis == -1 and _graphc.sort_now(self, descending):
        return
    if self.readonly:
        raise ArgumentError("sort array is read-only")
    from ._sorting import sort_in_place, sort_rows_in_place

    if kind is None and order is None and stable is None and not descending:
        sort_rows_in_place(self, axis)
    else:
        sort_in_place(self, axis, kind, order, stable=stable, descending=descending)


def _partition(self, kth, axis=-1, kind="introselect", order=None):
    """Brings the element at `kth` along an axis to its place in the array itself, smaller ones before it."""
    if self.readonly:
        raise ArgumentError("partition array is read-only")
    made = _graphc.plain_partition(self, kth) if self.ndim == 1 and axis in (-1, 0) and kind == "introselect" and order is None else NotImplemented
    if made is not NotImplemented:
        self[...] = made
        return
    from ._sorting import partition_in_place

    partition_in_place(self, kth, axis, kind, order)


def _compress(self, condition, axis=None, out=None):
    """As graphc.compress."""
    from ._indexing import compress

    try:
        return compress(condition, self, axis, out)
    except ForeignDType as error:
        theirs, args, keywords, ours = _foreign._method("compress", self, (condition, axis, out), {}, error)
        return ours(theirs(*args, **keywords))


def _array_wrap(self, array, context=None, return_scalar=False):
    """NumPy's hook, which classes made of `ndarray` extend: what became of an operation on `self` and others."""
    if not _graphc.is_array(self):
        return _np.ndarray.__array_wrap__(self, array, context, return_scalar)
    made = _foreign.to_ours(array)
    return made[()] if return_scalar and _graphc.is_array(made) and not made.ndim else made


def _array_finalize(self, obj, /):
    """NumPy's hook, which classes made of `ndarray` extend."""


def _to_numpy(self, dtype=None, copy=False):
    """The values as NumPy's array, for libraries that ask for them by this name: matplotlib looks at single elements of what has none.
    pandas gives them to compiled code that takes what may be written alone."""
    copy = copy or _sys._getframe(1).f_globals.get("__name__") == _EXTRACTS[0]
    return self.__array__(dtype, copy=copy or None)


#: pandas' function in front of compiled code, to which an array of ours says that it holds one of NumPy's.
_EXTRACTS = "pandas.core.construction", "extract_array"


def _typ(self):
    frame = _sys._getframe(1)
    if (frame.f_globals.get("__name__"), frame.f_code.co_name) != _EXTRACTS:
        raise AttributeError("_typ")
    return "npy_extension"


def _matvec(self, x):
    """The product with a vector, by which SciPy's iterative solvers and eigenvalues know a matrix that is none of NumPy's arrays; of one of
    NumPy's it is one, which they write to."""
    return self @ x if _graphc.is_array(x) else _np.array(self @ x)


def _rmatvec(self, x):
    """The same of the conjugate transpose."""
    return _matvec(self.conj().T, x)


def _sympy(self):
    """What makes SymPy's number of a single result, as of NumPy's scalar; arrays have none."""
    if not _graphc.is_value(self):
        raise AttributeError("_sympy_")

    def made():
        import sympy

        return sympy.sympify(self.dtype.type(self.item()))

    return made


def attach():
    """Gives the extension's Array the methods that are written in Python."""
    from ._methods import called

    for name, function in {
        "__repr__": _repr,
        "__str__": _str,
        "_format": _format,
        "__reduce__": _reduce,
        "_copied": _copied,
        "__dask_tokenize__": _dask_tokenize,
        "_array_ufunc": _array_ufunc,
        "__array_function__": _array_function,
        "__array_wrap__": _array_wrap,
        "__array_finalize__": _array_finalize,
        "compress": _compress,
        "sort": _sort,
        "partition": _partition,
    }.items():
        setattr(_Array, name, called(function, name))
    for name, function in {"to_numpy": _to_numpy, "matvec": _matvec, "rmatvec": _rmatvec, "matmat": _matvec, "rmatmat": _rmatvec}.items():
        setattr(_graphc.ndarray, name, called(function, name))
    # SymPy's mark of classes whose operators take its expressions: others are converted to one.
    _graphc.ndarray._op_priority = 0.0
    _graphc.ndarray._typ = property(_typ)
    _Array._sympy_ = property(_sympy)
    _Array.__module__ = "graphc"
    _Array.__doc__ = "A lazily computed array: a view of versioned memory on one device. Make one with asarray, zeros, arange."
