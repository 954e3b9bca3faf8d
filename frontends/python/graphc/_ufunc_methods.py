"""Of which dtypes a method of NumPy's ufuncs gives the bits that ours gives: of computed small arrays NumPy's is called."""

import functools as _functools

import numpy as _np

from . import _graphc
from .errors import DTypeError

_INTEGERS, _FLOATS, _COMPLEX, _DIVIDES, _SCATTERED, _SAFE = 1, 2, 4, 8, 16, 32
_ALL = _INTEGERS | _FLOATS
#: Operations that are folded from element to element, since no other order gives what they give, and whose results are exact or rounded once.
_IN_ORDER = {
    "divide": _ALL | _COMPLEX | _DIVIDES, "power": _INTEGERS | _DIVIDES, "floor_divide": _INTEGERS | _DIVIDES,
    **dict.fromkeys(("remainder", "fmod"), _ALL | _DIVIDES), **dict.fromkeys(("copysign", "heaviside"), _ALL | _SAFE),
    "nextafter": _ALL | _DIVIDES, **dict.fromkeys(("left_shift", "right_shift"), _INTEGERS | _SAFE),
}  # fmt: skip
#: By method, in the order in which a ufunc has them: operations and the dtypes of elements. Operations at places and running ones go from element to
#: element in order; what is _SCATTERED has a loop of ours for equal dtypes, and what is _SAFE meets no errors. Of reductions, whose order is not NumPy's,
#: integers alone are the same, which wrap.
_METHODS = {
    "at": {
        **dict.fromkeys(("add", "subtract", "multiply"), _ALL | _COMPLEX | _SCATTERED),
        **dict.fromkeys(("maximum", "minimum"), _INTEGERS | _COMPLEX | _SCATTERED),
        **dict.fromkeys(("fmax", "fmin"), _ALL | _COMPLEX),
        **dict.fromkeys(
            ("logical_and", "logical_or", "logical_xor", "equal", "not_equal", "less", "less_equal", "greater", "greater_equal"), _ALL | _COMPLEX | _SAFE
        ),
        **dict.fromkeys(("bitwise_and", "bitwise_or", "bitwise_xor", "gcd", "lcm"), _INTEGERS),
        **_IN_ORDER,
    },
    "accumulate": {
        "subtract": _ALL | _COMPLEX, "logical_xor": _ALL | _COMPLEX | _SAFE,
        **dict.fromkeys(("fmax", "fmin", "bitwise_and", "bitwise_or", "bitwise_xor", "gcd", "lcm"), _INTEGERS),
        **_IN_ORDER,
    },
    "reduceat": {
        **dict.fromkeys(
            ("add", "multiply", "maximum", "minimum", "fmax", "fmin", "bitwise_and", "bitwise_or", "bitwise_xor", "gcd", "lcm", "subtract"), _INTEGERS
        ),
        "logical_xor": _ALL | _COMPLEX | _SAFE, **_IN_ORDER,
    },
    "reduce": {
        **dict.fromkeys(("fmax", "fmin", "bitwise_and", "bitwise_or", "bitwise_xor", "gcd", "lcm", "subtract"), _INTEGERS),
        "logical_xor": _ALL | _COMPLEX | _SAFE, **_IN_ORDER,
    },
}  # fmt: skip


def quick_method(name):
    """The C function of a method, for plain arguments."""
    first = getattr(_graphc, f"plain_ufunc_{name}", None)
    return _graphc.quick_ufunc_method(getattr(_np.ufunc, name), [*_METHODS].index(name) + 1, first) if name in _METHODS else first


def mark(ufunc):
    """Gives a ufunc NumPy's of its name and, by method, the dtypes."""
    dtypes = [of.get(ufunc.__name__, 0) for of in _METHODS.values()]
    if any(dtypes):
        ufunc.exact = (getattr(_np, ufunc.__name__), *dtypes)


def doubling(self, rows):
    """Running combinations of rows where grouping does not matter."""
    step = 1
    while step < rows.shape[0]:
        rows = _graphc.concatenate([rows[:step], self(rows[:-step], rows[step:])], 0)
        step *= 2
    return rows


def in_order(self, rows):
    """Running combinations of rows, each with all before it."""
    if rows.shape[0] < 2:
        return rows
    parts = [rows[0]]
    for i in range(1, rows.shape[0]):
        parts.append(self(parts[-1], rows[i]))
    kind = parts[-1].dtype
    return _graphc.concatenate([_graphc.expand_dims(p.astype(kind, copy=False), 0) for p in parts], 0)


def in_turns(places):
    """Places, and where among the given ones they are: first each that occurs, then each that occurs again, and so on."""
    if len(places) == 0:
        return
    order = _np.argsort(places, kind="stable")
    sorted_ = places[order]
    starts = _np.flatnonzero(_np.concatenate([[True], sorted_[1:] != sorted_[:-1]]))
    turn = _np.arange(len(places)) - _np.repeat(starts, _np.diff(starts, append=len(places)))
    short = turn.astype("u2") if turn.max() < 1 << 16 else turn  # which are sorted by counting
    by_turn = order[_np.argsort(short, kind="stable")]
    for chosen in _np.split(by_turn, _np.cumsum(_np.bincount(turn))[:-1]):
        yield places[chosen], chosen


@_functools.lru_cache(maxsize=1024)
def loop_dtype(name, dtype):
    """What NumPy's ufunc folds elements of a dtype in. Raises TypeError where it folds none."""
    theirs = getattr(_np, name, None)
    if name == "ldexp" or not isinstance(theirs, _np.ufunc) or not isinstance(dtype, _np.dtype) or dtype.kind not in "biufc":
        return dtype
    try:
        return theirs.resolve_dtypes((None, dtype, None), reduction=True)[0]
    except TypeError as error:
        raise DTypeError(str(error)) from None


#: What may follow any real number and leaves it as it is.
_AFTER = {"divide": 1, "power": 1, "float_power": 1, "left_shift": 0, "right_shift": 0, "ldexp": 0}


def fold_where(self, first, rows, where):
    """`first` and, in order, what a mask leaves of the rows."""
    is_all = self.__name__ in _AFTER and first.dtype.kind != "c"
    if is_all:
        rows = _graphc.select(where, rows, _AFTER[self.__name__])
    result = first
    for i in range(rows.shape[0]):
        following = self(result, rows[i]).astype(first.dtype, copy=False)
        result = following if is_all else _graphc.select(where[i], following, result)
    return result


#: Operations with poles for which NumPy has loops over elements of a vector that an array names.
_LOOPS_OF_PLACES = {"divide", "floor_divide"}


def name_at(name, a, indices, b):
    """What NumPy calls errors of an operation on elements that are named: its name where it has one loop for them, else the method's."""
    if name not in _LOOPS_OF_PLACES or a.ndim != 1 or (type(indices) is tuple and len(indices) != 1):
        return "at"
    values = b if hasattr(b, "dtype") else _np.asarray(b)
    return name if values.ndim <= 1 and values.dtype == a.dtype else "at"


def is_basic(indices):
    """Whether indices name a part of an array and no places, so that it is changed as any other."""
    return all(type(i) in (int, slice) or i is None or i is ... for i in (indices if type(indices) is tuple else (indices,)))
