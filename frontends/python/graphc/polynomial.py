"""`graphc.polynomial`: NumPy's classes of polynomials, and its functions of coefficients (`polynomial`, `chebyshev`, `legendre`,
`laguerre`, `hermite`, `hermite_e`, `polyutils`) for graphc arrays.

The classes give NumPy's arrays. The functions are NumPy's of the values and give graphc arrays; those that evaluate a series at
graphc arrays record."""

import functools as _functools
import sys as _sys
import types as _types

import numpy as _np
import numpy.polynomial as _theirs
from numpy.polynomial import Chebyshev, Hermite, HermiteE, Laguerre, Legendre, Polynomial, set_default_printstyle  # noqa: F401

from . import _foreign, _graphc

#: The modules, and the function of each that evaluates a series.
_MODULES = {
    "polynomial": "polyval", "chebyshev": "chebval", "legendre": "legval", "laguerre": "lagval", "hermite": "hermval",
    "hermite_e": "hermeval", "polyutils": None,
}  # fmt: skip


def _of_values(theirs):
    @_functools.wraps(theirs)
    def call(*args, **keywords):
        return _foreign.run(theirs, args, keywords)

    return _with_quick(call, theirs)


def _with_quick(call, theirs, is_real=False):
    """A function of which NumPy takes the calls of small arrays itself; those that have bits of ours only for real numbers."""
    made = _graphc.plain_function(call)
    made.quick = _graphc.quick_numpys(theirs, is_real)
    made.__dict__.update(__name__=theirs.__name__, __qualname__=theirs.__name__, __doc__=theirs.__doc__, hand=None)
    return made


def _of_series(theirs):
    """NumPy's function computes with whatever `x` is, but sees only in its own arrays how many axes the coefficients have to get."""
    by_values = _of_values(theirs)

    @_functools.wraps(theirs)
    def call(x, c, tensor=True):
        if not _graphc.is_array(x):
            return by_values(x, c, tensor)
        c = _np.array(c, ndmin=1)
        return theirs(x, c.reshape(c.shape + (1,) * x.ndim) if tensor else c, False)

    return _with_quick(call, theirs, True)


def _module(name, series):
    theirs = getattr(_theirs, name)
    ours = _types.ModuleType(f"{__name__}.{name}", theirs.__doc__)
    for key, value in vars(theirs).items():
        if key.startswith("__"):
            continue
        if callable(value) and not isinstance(value, type) and getattr(value, "__module__", None) == theirs.__name__:
            value = _of_series(value) if key == series else _of_values(value)
            value.__module__ = ours.__name__
        setattr(ours, key, value)
    return ours


for _name, _series in _MODULES.items():
    # In the table of modules, for `from graphc.polynomial.polynomial import ...`.
    globals()[_name] = _sys.modules[f"{__name__}.{_name}"] = _module(_name, _series)
del _name, _series
