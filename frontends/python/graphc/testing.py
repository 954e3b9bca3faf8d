"""`graphc.testing`: NumPy's assertions over graphc arrays; everything else is `numpy.testing` itself."""

import functools as _functools

import numpy as _np
import numpy.testing as _testing

from . import _graphc


def _numpy(value):
    """`value` with the graphc arrays in it, also in lists, tuples and dicts, as NumPy's arrays and scalars."""
    if _graphc.is_array(value):
        array = _np.asarray(value)
        return array[()] if _graphc.is_value(value) else array
    if isinstance(value, (list, tuple)):
        plain = list if isinstance(value, list) else tuple  # of a class whose constructor may take other arguments
        return getattr(value, "_make", plain)(_numpy(v) for v in value)
    if type(value) is dict:
        return {key: _numpy(v) for key, v in value.items()}
    if hasattr(type(value), "__array__") and not isinstance(value, (_np.ndarray, _np.generic)) and not hasattr(type(value), "__array_function__"):
        made = value.__array__()  # which NumPy takes for none where it is ours
        return _numpy(made) if _graphc.is_array(made) else value
    return value


def _over_arrays(function):
    @_functools.wraps(function)
    def call(*args, **keywords):
        __tracebackhide__ = True
        return function(*(_numpy(a) for a in args), **{name: _numpy(a) for name, a in keywords.items()})

    return call


#: Assertions on values. The others call what they are given, with what it is given.
_ON_VALUES = (
    "assert_", "assert_allclose", "assert_almost_equal", "assert_approx_equal", "assert_array_almost_equal",
    "assert_array_almost_equal_nulp", "assert_array_compare", "assert_array_equal", "assert_array_less",
    "assert_array_max_ulp", "assert_equal",
)  # fmt: skip

for _name in _ON_VALUES:
    globals()[_name] = _over_arrays(getattr(_testing, _name))
del _name


def __dir__():
    return sorted(set(dir(_testing)))


def __getattr__(name):
    return getattr(_testing, name)
