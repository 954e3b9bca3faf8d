"""Slices of an axis as rows, for `ufunc.reduceat`."""

import numpy as _np

from . import _graphc
from ._creation import asarray
from ._float_errors import stands_for as _stands_for

#: Elements that rows may be filled up with for being one reduction.
_FEW_PADDED = 1 << 15


@_stands_for()
def reduce_by_lengths(ufunc, x, axis, starts, lengths, dtype):
    """Slices of about one length are rows of one reduction that reads them where they lie."""
    longest = int(lengths.max())
    if len(lengths) * longest <= 2 * int(lengths.sum()) + _FEW_PADDED:
        return _reduce_rows(ufunc, x, axis, starts, lengths, longest, dtype)
    exponents = _np.frexp(lengths - 0.5)[1]  # the least power of two that is not smaller
    parts, order = [], []
    for exponent in _np.unique(exponents).tolist():
        chosen = _np.flatnonzero(exponents == exponent)
        parts.append(_reduce_rows(ufunc, x, axis, starts[chosen], lengths[chosen], 1 << exponent, dtype))
        if not _graphc.is_tracing():  # one program for all lengths
            _graphc.eval(parts[-1:])
        order.append(chosen)
    places = asarray(_np.argsort(_np.concatenate(order)), device=x.device)
    return _graphc.concatenate(parts, axis)[(slice(None),) * axis + (places,)]


@_stands_for()
def _reduce_rows(ufunc, x, axis, starts, lengths, longest, dtype):
    """Rows that end early go on with what leaves their result as it is, bit by bit: sums with -0, extremes with the last
    element once more."""
    starts, lengths = (asarray(n[:, None], device=x.device) for n in (starts, lengths))
    at = _graphc.arange(0, longest, 1, "int64", x.device)
    rows = x[(slice(None),) * axis + (starts + _graphc.minimum(at, lengths - 1),)]
    if ufunc.__name__ in ("add", "multiply"):
        present = _graphc.reshape(at < lengths, (*starts.shape[:1], longest) + (1,) * (x.ndim - axis - 1))
        none = asarray(1 if ufunc.__name__ == "multiply" else -0.0 if x.dtype.kind == "f" else 0, x.dtype)
        rows = _graphc.select(present, rows, none.to_device(x.device))
    return ufunc.reduce(rows, axis + 1, dtype)


@_stands_for()
def fold_slices(ufunc, x, axis, starts, lengths, kind):
    """Each slice from its first element on, in order, into that element's copy: one kernel."""
    rest = lengths - 1
    segments = _np.repeat(_np.arange(len(starts)), rest)
    places = _np.repeat(starts + 1 - (_np.cumsum(rest) - rest), rest) + _np.arange(len(segments))
    before = (slice(None),) * axis
    folded = x[before + (asarray(starts, device=x.device),)].astype(kind)
    values = x[before + (asarray(places, device=x.device),)].astype(kind, copy=False)
    _graphc.scatter(folded, before + (asarray(segments, device=x.device),), values, ufunc.__dict__["operation"])
    return folded


def slices(x, axis, starts, length):
    """Slices of one length along an axis as (..., slices, length, ...)."""
    sizes = x.shape[:axis], x.shape[axis + 1 :]
    before = (slice(None),) * axis
    if (_np.diff(starts) == length).all():
        rows = x[before + (slice(int(starts[0]), int(starts[-1]) + length),)]
    else:
        rows = x[before + (asarray((starts[:, None] + _np.arange(length)).ravel(), device=x.device),)]
    return _graphc.reshape(rows, (*sizes[0], len(starts), length, *sizes[1]))


#: Operations whose result does not depend on how operands are grouped, so that they fold by halves.
ANY_ORDER = frozenset(("bitwise_and", "bitwise_or", "bitwise_xor", "logical_xor", "gcd", "lcm", "fmax", "fmin"))


def is_numpys(name, x):
    """Whether values that the host has are folded by NumPy's ufunc: no order of the elements changes a bit, and there is no loop of ours."""
    return name in ANY_ORDER and x.dtype.kind in "biu" and x.device == "cpu" and not _graphc.is_tracing() and not _graphc.pending(x)
