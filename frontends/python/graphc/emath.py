"""`graphc.emath`: functions that have complex results where those of real numbers would be NaN, as NumPy's.

The dtype of a result depends on the data, so operands are computed when a function is called, and a traced function cannot
call one on real arguments (TraceError). Integers become float64 first.
"""

import graphc as _gc

from ._float_errors import stands_for as _stands_for

__all__ = ["sqrt", "log", "log2", "logn", "log10", "power", "arccos", "arcsin", "arctanh"]

_TO_COMPLEX64 = ("float32", "int8", "int16", "uint8", "uint16", "complex64")


def _complex_where(x, leaves):
    """`x`, of a complex dtype when there is an element for which a real function has no real result."""
    x = _gc.asarray(x)
    if x.dtype.kind == "c" or not bool(_gc.any(leaves(x))):
        return x
    return x.astype("complex64" if x.dtype.name in _TO_COMPLEX64 else "complex128")


def _with_negative(x):
    return _complex_where(x, lambda v: v < 0)


def _beyond_one(x):
    return _complex_where(x, lambda v: abs(v) > 1)


@_stands_for()
def sqrt(x):
    """The square root; complex when a real element is negative."""
    return _gc.sqrt(_with_negative(x))


@_stands_for()
def log(x):
    """The natural logarithm; complex when a real element is negative."""
    return _gc.log(_with_negative(x))


@_stands_for()
def log2(x):
    """The logarithm to base 2; complex when a real element is negative."""
    return _gc.log2(_with_negative(x))


@_stands_for()
def log10(x):
    """The logarithm to base 10; complex when a real element is negative."""
    return _gc.log10(_with_negative(x))


@_stands_for()
def logn(n, x):
    """The logarithm of `x` to base `n`; complex when a real element of either is negative."""
    return log(x) / log(n)


@_stands_for()
def power(x, p):
    """`x` to the power `p`; complex when a real element of `x` is negative, float64 for integers to negative integers."""
    x, p = _with_negative(x), _gc.asarray(p)
    if p.dtype.kind == "i" and bool(_gc.any(p < 0)):
        p = p * 1.0
    return _gc.power(x, p)


@_stands_for()
def arccos(x):
    """The inverse cosine; complex when a real element is beyond -1 or 1."""
    return _gc.arccos(_beyond_one(x))


@_stands_for()
def arcsin(x):
    """The inverse sine; complex when a real element is beyond -1 or 1."""
    return _gc.arcsin(_beyond_one(x))


@_stands_for()
def arctanh(x):
    """The inverse hyperbolic tangent; complex when a real element is beyond -1 or 1."""
    return _gc.arctanh(_beyond_one(x))
