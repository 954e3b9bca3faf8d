"""`graphc.lib`: windows and strided views (`stride_tricks`), and `graphc.emath` as `scimath`. Other names are those of `numpy.lib`."""

import operator as _operator
import sys as _sys
import types as _types

import numpy as _np
import numpy.lib as _theirs
import numpy.lib.mixins as _mixins

from . import _foreign, _graphc, emath as scimath  # noqa: F401
from ._creation import asarray
from ._manipulation import _axis, broadcast_arrays, broadcast_shapes, broadcast_to
from .errors import ArgumentError, ShapeError


def _strided(x, shape, strides, writeable):
    """A view of elements at byte strides from the first of `x`; of a copy where `x` has no layout of its own."""
    x = x if _graphc.has_layout(x) else x.copy()
    strides = [s if n > 1 else 0 for n, s in zip(shape, strides)]  # of one element there is no step
    if any(s % x.itemsize for s in strides):
        raise ArgumentError(f"as_strided: strides {strides} are no multiples of the item size {x.itemsize}")
    view = _graphc.strided(x, shape, [s // x.itemsize for s in strides], _graphc.view_offset(x))
    if not writeable:
        view.setflags(write=False)
    return view


def sliding_window_view(x, window_shape, axis=None, *, subok=False, writeable=False):
    """All windows of a shape over some axes (all when `axis` is None), the window's axes last: a view, read-only unless
    `writeable`. Raises ValueError for a window that does not fit."""
    x = asarray(x)
    sizes = tuple(window_shape) if hasattr(window_shape, "__len__") and getattr(window_shape, "ndim", 1) else (window_shape,)
    sizes = tuple(_operator.index(n) for n in sizes)
    if any(n < 0 for n in sizes):
        raise ArgumentError("`window_shape` cannot contain negative values")
    axes = tuple(range(x.ndim)) if axis is None else axis if hasattr(axis, "__len__") and getattr(axis, "ndim", 1) else (axis,)
    axes = [_axis(a, x.ndim, "sliding_window_view") for a in axes]
    if axis is None and len(sizes) != x.ndim:
        raise ArgumentError(f"Since axis is None, must provide window_shape for all dimensions of `x`; got {len(sizes)} window_shape elements and `x.ndim` is {x.ndim}.")
    if len(sizes) != len(axes):
        raise ArgumentError(f"Must provide matching length window_shape and axis; got {len(sizes)} and {len(axes)}")
    x = x if _graphc.has_layout(x) else x.copy()
    shape = list(x.shape)
    for along, size in zip(axes, sizes):
        if size > shape[along]:
            raise ArgumentError("window shape cannot be larger than input array shape")
        shape[along] -= size - 1
    return _strided(x, (*shape, *sizes), (*x.strides, *(x.strides[a] for a in axes)), writeable)


def as_strided(x, shape=None, strides=None, subok=False, writeable=True):
    """The elements at places given by byte strides from the first one of `x`: a view, through which overlapping places
    are written in no order. Raises ValueError for a place outside of the memory of `x`."""
    x = asarray(x)
    x = x if _graphc.has_layout(x) else x.copy()
    shape = x.shape if shape is None else tuple(shape) if hasattr(shape, "__len__") else (shape,)
    strides = x.strides if strides is None else tuple(strides) if hasattr(strides, "__len__") else (strides,)
    if len(shape) != len(strides):
        raise ShapeError(f"as_strided: shape {shape} and strides {strides} differ in length")
    return _strided(x, shape, strides, writeable and not x.readonly)


stride_tricks = _types.ModuleType(f"{__name__}.stride_tricks", "Windows and strided views.")
for _f in (sliding_window_view, as_strided, broadcast_to, broadcast_arrays, broadcast_shapes):
    setattr(stride_tricks, _f.__name__, _f)
_foreign.cover(vars(stride_tricks), _np.lib.stride_tricks)


def _operators():
    """NumPy's mixin, whose methods call graphc's functions: classes tell what they are asked by name (`ufunc is np.multiply`)."""
    base, package = _mixins.NDArrayOperatorsMixin, _sys.modules[__package__]

    def ours(method):
        cells = [_types.CellType(getattr(package, c.cell_contents.__name__)) if isinstance(c.cell_contents, _np.ufunc) else c for c in method.__closure__]
        made = _types.FunctionType(method.__code__, method.__globals__, method.__name__, method.__defaults__, tuple(cells))
        made.__qualname__ = method.__qualname__
        return made

    methods = {name: ours(m) for name, m in vars(base).items() if isinstance(m, _types.FunctionType) and m.__closure__}
    return type(base.__name__, (base,), {"__slots__": (), "__doc__": base.__doc__, "__module__": f"{__name__}.mixins", **methods})


mixins = _types.ModuleType(f"{__name__}.mixins", _mixins.__doc__)
mixins.NDArrayOperatorsMixin = _operators()
__path__ = []  # a package, whose other modules are NumPy's
# Names of modules, for `from graphc.lib.stride_tricks import ...`.
_sys.modules.update({stride_tricks.__name__: stride_tricks, mixins.__name__: mixins, f"{__name__}.scimath": scimath})


def __dir__():
    return sorted(set(dir(_theirs)).union(name for name in globals() if not name.startswith("_")))


def __getattr__(name):
    if not name.startswith("__"):
        try:
            return getattr(_theirs, name)
        except AttributeError:
            if name in ("format", "npyio", "recfunctions", "user_array"):  # not before they are imported
                import importlib

                return importlib.import_module(f"numpy.lib.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
