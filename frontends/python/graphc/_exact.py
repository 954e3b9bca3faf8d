"""Functions that NumPy answers for small arrays in loops, with the same bits."""

import operator as _operator

import numpy as _np

from . import _graphc
from ._float_errors import number_of as _number_of

#: Functions that change their first argument, and its name.
UPDATES = {"copyto": "dst", "put": "a", "place": "arr", "putmask": "a", "fill_diagonal": "a", "put_along_axis": "arr", "assign_fields_by_name": "dst"}

#: Functions whose results no rounding or order of operations decides: of small arrays in a loop NumPy's own gives the same bits for less than recording
#: costs. Of any operands; of any, where integers may ask for long results; of integers and bools only; of any, and of larger arrays too; those of as many
#: passes as numbers have bits; of any, the first of any size. None of them gives views, and none changes its arguments.
_EXACT = dict.fromkeys(
    ("append", "argsort", "argwhere", "array_equal", "choose", "column_stack", "compress", "cross", "delete", "diagflat", "digitize", "dstack", "ediff1d", "extract", "flatnonzero",
     "heaviside", "hstack", "insert", "interp", "ldexp", "modf", "nonzero", "pad", "polyadd", "polyder", "polyint", "polysub", "ravel_multi_index", "rint", "select", "take", "take_along_axis", "tril", "triu", "unique", "unravel_index", "vstack"), 0
) | dict.fromkeys(("repeat", "resize", "tile"), 1) | dict.fromkeys(
    ("convolve", "correlate", "intersect1d", "setdiff1d", "setxor1d", "trace", "union1d"), 2
) | dict.fromkeys(
    ("bitwise_count", "frexp", "isin", "lexsort", "packbits", "unpackbits"), 3
) | {"gcd": 5, "lcm": 5, "searchsorted": 6}  # fmt: skip


_REAL = _np.dtype(float)


def _rise(points):
    if len(points) > 32:  # of fewer, Python's numbers are compared sooner
        points = _np.asarray(points)
        return (points[1:] >= points[:-1]).all()
    points = points.tolist() if isinstance(points, _np.ndarray) else points
    return all(map(_operator.le, points, points[1:]))


def _interp(x, xp, fp, left=None, right=None, period=None):
    """NumPy's, where it is one function: between points that do not rise what it finds depends on the element before."""
    if period is None and not _rise(xp):
        return NotImplemented
    return _np.interp(x, xp, fp, left, right, period)


def _cross(a, b):
    """NumPy's of real vectors of three: complex products are rounded in another way, and those of two are warned of."""
    for x in (a, b):
        if type(x) is not _np.ndarray or x.dtype.kind == "c" or x.shape[-1:] != (3,):
            return NotImplemented
    return _np.cross(a, b)


def _isin(element, test_elements, *options, **named):
    """NumPy's of arrays: that of one element is a single result."""
    return _np.isin(element, test_elements, *options, **named) if getattr(element, "ndim", 0) else NotImplemented


def _unique(ar, *options, **named):
    """NumPy's, but among zeros of both signs, of which any one stays there, and NaNs, which need not have the same bits."""
    kind = getattr(ar, "dtype", _REAL).kind
    if kind == "c" or type(ar) is list:
        return NotImplemented
    if kind == "f":
        least = _np.minimum.reduce(ar, None)
        if least != least or (_np.count_nonzero(ar) < ar.size and _np.signbit(ar[ar == 0]).any()):
            return NotImplemented
    return _np.unique(ar, *options, **named)


def _pad(array, pad_width, mode="constant", **options):
    """NumPy's of borders that take it a pass each here: the mean's sum has another order, and of extremes zeros have signs."""
    is_passes = mode in ("linear_ramp", "median") or (mode in ("maximum", "minimum") and array.dtype.kind in "biu")
    is_moved = mode in ("edge", "reflect", "symmetric", "wrap") and array.ndim > 1
    is_plain = array.flags.c_contiguous  # whose border lies in the same order
    return _np.pad(array, pad_width, mode, **options) if is_plain and (is_passes or is_moved) else NotImplemented


def _argsort(a, axis=-1):
    return _np.argsort(a, axis, "stable")


def _sort_in_place(a, axis=-1):
    a.sort(axis, "stable")


def _byteswap(a, inplace=False):
    return NotImplemented if inplace else a.byteswap()


_THEIRS = {"argsort": _argsort, "cross": _cross, "interp": _interp, "isin": _isin, "pad": _pad, "unique": _unique}

#: Those whose arguments are the method's, which is called without a frame of Python's.
_METHODS = frozenset(("nonzero", "repeat", "searchsorted", "take", "trace"))


def exact(inner, theirs):
    """What _graphc.function takes for a function of the package, to call NumPy's function for it where that gives the same bits."""
    kind = 4 if inner.__name__ in UPDATES else _EXACT.get(inner.__name__)
    if kind is None or not callable(theirs):
        return (inner,)
    if theirs is getattr(_np, inner.__name__, None) and inner.__name__ in _METHODS:  # not linalg.trace, of the last axes
        return (inner, theirs, kind, getattr(_np.ndarray, inner.__name__))
    return (inner, _THEIRS.get(inner.__name__, theirs), kind)


def sorting(method):
    """What sorts an array in place, in its memory where it is small."""
    made = _graphc.function(method, _sort_in_place, 4)
    made.__name__ = method.__name__
    return made


def swapping(method):
    """What gives an array's elements with their bytes in the other order."""
    made = _graphc.function(method, _byteswap, 0)
    made.__dict__.update(__name__="byteswap", __qualname__="byteswap", __doc__=method.__doc__, hand=None)
    return made


def exact_part(called):
    """The function of a ufunc: its plain calls are the extension's, and where results are exact NumPy's ufunc is asked first."""
    theirs, quick = getattr(_np, called.__name__, None), getattr(_graphc, f"plain_{called.__name__}", None)
    if called.__name__ in ("vecdot", "matvec", "vecmat"):  # which say what their errors are called
        quick = quick(_number_of(called.__name__))
    if quick is None and (called.__name__ not in _EXACT or theirs is None):
        return called
    made = _graphc.function(*exact(called, theirs))
    made.quick = quick
    made.__dict__.update(__name__=called.__name__, __module__=called.__module__)
    return made
