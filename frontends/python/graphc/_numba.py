"""Numba's functions are given the memory of graphc arrays, to read and write, and mean NumPy's functions where they name ours."""

import importlib as _importlib
import importlib.machinery as _machinery
import sys as _sys
import types as _types
import warnings as _warnings

import numpy as _np

from . import _graphc

_is_array = _graphc.is_array


def _of_numpy(value):
    """What a name of a compiled function stands for."""
    if _is_array(value):
        return _np.asarray(value)[()]
    if isinstance(value, _types.ModuleType):
        package, _, rest = value.__name__.partition(".")
        return _sys.modules.get(f"numpy.{rest}" if rest else "numpy", value) if package == "graphc" else value
    name = getattr(value, "__name__", "")
    for module in ("", ".fft", ".linalg", ".random"):
        ours = _sys.modules.get("graphc" + module)
        if ours is not None and vars(ours).get(name) is value:
            return getattr(_importlib.import_module("numpy" + module), name, value)
    return value


def _given(x):
    """An argument; lists stay the caller's, which sees what the function does to them, unless they hold arrays."""
    if _is_array(x):
        return x._lent() if x.ndim else _np.asarray(x)[()]
    lenders = _sys.modules.get("graphc._random_generator")  # imported before there is one of them
    if lenders is not None and issubclass(type(x), lenders.Lender):  # compiled code reads the state that a bit generator's own object has
        return _np.random.Generator(x._lend())
    if type(x) in (list, tuple) and x and _is_array(x[0] if type(x) is list else next(filter(_is_array, x), None)):
        return type(x)(map(_given, x))
    return x


def _called(function):
    def call(self, *arguments, **keywords):
        for x in arguments:
            if type(x) not in _PLAIN:
                arguments = map(_given, arguments)
                break
        if keywords:
            keywords = {name: _given(x) for name, x in keywords.items()}
        return function(self, *arguments, **keywords)

    return call


_PLAIN = {bool, int, float, complex, str, _np.ndarray, _np.float64, _np.int64}


def register():
    """Once Numba is imported. One whose parts have other names goes on as it is, and a warning says so."""
    try:
        from numba.core import dispatcher, interpreter
        from numba.extending import typeof_impl
        from numba.stencils import stencil

        calls = {kind: kind.__call__ for kind in (dispatcher.Dispatcher, stencil.StencilFunc)}
        look_ups = {name: getattr(interpreter.Interpreter, name) for name in ("get_global_value", "get_closure_value")}
    except (ImportError, AttributeError) as missing:
        _warnings.warn(f"this Numba is not told of graphc's arrays and functions: {missing}", RuntimeWarning, stacklevel=2)
        return
    for kind, call in calls.items():
        kind.__call__ = _called(call)
    typeof_impl.register(_graphc.Array)(lambda x, context: typeof_impl(x._lent(), context))
    for name, look_up in look_ups.items():
        setattr(interpreter.Interpreter, name, lambda self, key, look_up=look_up: _of_numpy(look_up(self, key)))


class Finder:
    """Registers when a program imports Numba: what follows needs no finder. One that only asks whether there is Numba
    (`importlib.util.find_spec`) imports nothing yet."""

    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name != "numba":
            return None
        spec = _machinery.PathFinder.find_spec(name, path)
        if spec is not None:
            load = spec.loader.exec_module

            def exec_module(module):
                _sys.meta_path[:] = [finder for finder in _sys.meta_path if finder is not cls]
                load(module)
                register()

            spec.loader.exec_module = exec_module
        return spec
