"""Values that operations meet errors at, and what is said of them."""

import warnings

import numpy as np

INF, NAN = float("inf"), float("nan")
SPECIAL = [0.0, -0.0, 1.0, -1.0, 0.5, -2.0, 3.0, 1e-30, 200.0, 800.0, 2e4, 1e30, -1e30, INF, -INF, NAN]
UNARY = [
    "negative", "absolute", "sign", "square", "floor", "rint", "sqrt", "exp", "log", "sin", "cos", "tanh", "expm1", "log1p", "exp2", "log2",
    "log10", "tan", "arcsin", "arccos", "arctan", "sinh", "cosh", "arcsinh", "arccosh", "arctanh", "cbrt", "reciprocal", "isnan", "signbit",
]  # fmt: skip
BINARY = [
    "add", "subtract", "multiply", "divide", "floor_divide", "remainder", "power", "minimum", "maximum", "arctan2", "hypot", "logaddexp",
    "copysign", "less", "equal", "float_power", "fmod",
]  # fmt: skip


def said(function):
    """Texts of the warnings of a call whose result is looked at. There is no filter, so that nobody waits for the warnings of each
    statement."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.resetwarnings()
        np.asarray(function())
    return sorted({str(w.message) for w in caught if w.category is RuntimeWarning})


def same(ours, theirs, what):
    assert ours == theirs, f"{what}: {ours} here, {theirs} by NumPy"


def differs(name, x, y):
    """Where NumPy names errors of its own formulas, which the value that comes out does not have."""
    if name == "logaddexp":  # a NaN is compared with the other operand
        return np.isnan(x) or np.isnan(y)
    if name in ("power", "float_power"):  # some of them, of some infinite exponents
        return np.isinf(y)
    if name == "floor_divide":  # an overflown quotient is rounded down by a subtraction from itself
        with np.errstate(all="ignore"):
            return np.isfinite(x) and np.isfinite(y) and y != 0 and np.isinf(x / y)
    return False
