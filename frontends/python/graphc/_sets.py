"""Unique values and sets, by sorting. How many there are depends on values: results have open sizes, as those of masks."""

import sys as _sys
from typing import Any as _Any
from typing import NamedTuple as _NamedTuple

import numpy as _np

from . import _graphc
from ._creation import arange, are_few_known, asarray, full, zeros
from ._devices import where_operands_are as _where_operands_are
from ._dtypes import bool_, int64
from ._indexing import flatnonzero, take
from ._manipulation import _axis, concat, moveaxis
from ._reductions import max, min
from ._sorting import lexsort, searchsorted, sort
from .errors import ArgumentError, ForeignDType


class UniqueAllResult(_NamedTuple):
    """What unique_all gives."""

    values: _Any
    indices: _Any
    inverse_indices: _Any
    counts: _Any


class UniqueCountsResult(_NamedTuple):
    """What unique_counts gives."""

    values: _Any
    counts: _Any


class UniqueInverseResult(_NamedTuple):
    """What unique_inverse gives."""

    values: _Any
    inverse_indices: _Any


def _argsort(x):
    return _graphc.library("argsort", [x.reshape((1, x.size))], [0], (1, x.size), int64).reshape((x.size,))


def _firsts(s, equal_nan):
    """Whether each element of a sorted vector differs from the one before it."""
    low, high = s[:-1], s[1:]
    new = high != low
    if equal_nan and s.dtype.kind in "fc":
        new = _graphc.logical_and(new, _graphc.logical_or(low == low, high == high))
    return concat((full((1,), True, dtype=bool_, device=s.device), new))


def _parts(order, first, values, index, inverse, counts, n, shape):
    """The values and what was asked for besides. `order` sorts, `first` marks the first of each run of equals."""
    found = [values]
    if index:
        found.append(order[first])
    if inverse:
        # The place of an element in the sorted order is the inverse permutation.
        run = first.astype(int64).cumsum() - 1
        found.append(take(run, _argsort(order)).reshape(shape))
    if counts:
        last = concat((first[1:], full((1,), True, dtype=bool_, device=first.device)))
        starts = flatnonzero(first)
        found.append(_graphc.of_size(flatnonzero(last), starts) + 1 - starts)
    return found


def _parts_here(s, order, index, inverse, counts, shape, equal_nan):
    """As _firsts and _parts, of values of the host."""
    first = _np.empty(s.size, bool)
    first[0] = True
    _np.not_equal(s[1:], s[:-1], out=first[1:])
    if equal_nan and s[-1] != s[-1]:  # NaN sort last
        first[1:] &= (s[:-1] == s[:-1]) | (s[1:] == s[1:])
    yield s[first]
    if index:
        yield order[first]
    if inverse:
        places = _np.empty(s.size, _np.int64)
        places[order] = first.cumsum() - 1
        yield places.reshape(shape)
    if counts:
        starts = first.nonzero()[0]
        lengths = _np.empty(starts.size, _np.int64)
        _np.subtract(starts[1:], starts[:-1], out=lengths[:-1])
        lengths[-1] = s.size - starts[-1]
        yield lengths


def _unique(x, index, inverse, counts, equal_nan):
    shape, flat = x.shape, x.reshape((-1,))
    n = flat.size
    if n == 0:
        return [flat.copy()] + [zeros((0,), int64).reshape(shape if k == 1 else (0,)) for k, f in enumerate((index, inverse, counts)) if f]
    if not (index or inverse):
        order, s = None, sort(flat)
    else:
        order = _argsort(flat)
        s = take(flat, order)
    if flat.dtype.kind in "biufc" and are_few_known(flat):  # by NumPy's comparisons, which have the same bits
        host = [None if a is None else _np.asarray(a) for a in (s, order)]
        return [asarray(a) for a in _parts_here(*host, index, inverse, counts, shape, equal_nan)]
    first = _firsts(s, equal_nan)
    return _parts(order, first, s[first], index, inverse, counts, n, shape)


def _order_of_rows(rows):
    """By all columns. Where the first ones tell the rows apart but for equal rows, which one look says, the others are not
    asked."""
    few, all_columns = 4, rows.shape[1]

    def by(count):
        return lexsort([rows[:, k] for k in range(count - 1, -1, -1)])

    if all_columns > few and not _graphc.is_tracing():
        order = by(few)
        s = take(rows, order, axis=0)
        a, b = s[1:], s[:-1]
        tied = ((a == b) | ((a != a) & (b != b)))[:, :few].all(axis=1)
        if not (tied & (a != b).any(axis=1)).any():
            return order
    return by(all_columns)


def _unique_along(x, axis, index, inverse, counts):
    axis = _axis(axis, x.ndim, "unique")
    moved = moveaxis(x, axis, 0)
    n = moved.shape[0]
    rows = moved.reshape((n, x.size // n if n else 0))
    if rows.shape[1] == 0 or n == 0:
        kept = 1 if n and not rows.shape[1] else 0
        first = concat([full((k,), v, dtype=bool_, device=x.device) for k, v in ((kept, True), (n - kept, False))])
        order = _graphc.iota(n, int64, x.device)
    else:
        order = _order_of_rows(rows)
        s = take(rows, order, axis=0)
        first = concat((full((1,), True, dtype=bool_, device=s.device), (s[1:] != s[:-1]).any(axis=1)))
    kept = order[first]
    found = _parts(order, first, moveaxis(take(moved, kept, axis=0), 0, axis).copy(), index, inverse, counts, n, (n,))
    return found


@_where_operands_are
def unique(ar, return_index=False, return_inverse=False, return_counts=False, axis=None, *, equal_nan=True, sorted=True):
    """The sorted distinct elements, or with `axis` the distinct slices along it; with flags also the index of each
    one's first occurrence, the indices that rebuild `ar`, and how often each occurs. NaNs are one value unless
    equal_nan=False. Raises AxisError for an axis out of range."""
    x = asarray(ar)
    if axis is not None:
        try:
            _axis(axis, x.ndim, "unique")
        except TypeError:
            raise TypeError(f"integer argument expected, got {type(axis).__name__}") from None
    if axis is None or x.ndim == 1:
        found = _unique(x, return_index, return_inverse, return_counts, equal_nan)
    else:
        found = _unique_along(x, axis, return_index, return_inverse, return_counts)
    return found[0] if len(found) == 1 else tuple(found)


def _called(name, *args, **keywords):
    """A function of the package as its users call it, which NumPy answers for few elements."""
    return getattr(_sys.modules[__package__], name)(*args, **keywords)


@_where_operands_are
def unique_all(x):
    """(values, indices, inverse_indices, counts) of the distinct elements; every NaN is one of its own."""
    return UniqueAllResult(*_called("unique", x, True, True, True, equal_nan=False))


@_where_operands_are
def unique_counts(x):
    """(values, counts) of the distinct elements; every NaN is one of its own."""
    return UniqueCountsResult(*_called("unique", x, False, False, True, equal_nan=False))


@_where_operands_are
def unique_inverse(x):
    """(values, inverse_indices) of the distinct elements; every NaN is one of its own."""
    return UniqueInverseResult(*_called("unique", x, False, True, equal_nan=False))


@_where_operands_are
def unique_values(x):
    """The sorted distinct elements; every NaN is one of its own."""
    return _unique(asarray(x), False, False, False, False)[0]


#: A table has at most this many places for each element of both operands.
_PLACES = 6


def _in_table(element, tests):
    """Whether integers are among others that lie close together, by a table of those; None where they do not."""
    low, high = _graphc.reduce("min", tests, None, False, None), _graphc.reduce("max", tests, None, False, None)
    _graphc.eval([low, high], "isin")
    low, high = int(low), int(high)
    size = high - low + 1
    if size > _PLACES * (element.size + tests.size):
        return None
    table = _graphc.full((size,), False, bool_, element.device)
    table[(tests - low).astype(int64, copy=False)] = True
    inside = (element >= low) & (element <= high)
    place = _graphc.select(inside, (element - low).astype(int64, copy=False), 0)
    return take(table, place) & inside


@_where_operands_are
def isin(element, test_elements, assume_unique=False, invert=False, *, kind=None):
    """Whether each element is one of `test_elements`. NaN is never one."""
    if kind not in (None, "sort", "table"):
        raise ArgumentError(f"Invalid kind: {kind!r}. Please use None, 'sort' or 'table'.")
    if isinstance(test_elements, (set, frozenset)):
        raise ForeignDType("a set")  # which NumPy takes for one object
    element, tests = asarray(element), asarray(test_elements).reshape((-1,))
    if tests.size == 0:
        return full(element.shape, bool(invert), dtype=bool_, device=element.device)
    if kind == "table" and not (element.dtype.kind in "biu" and tests.dtype.kind in "biu"):
        raise ArgumentError(
            "The 'table' method is only supported for boolean or integer arrays. Please select 'sort' or None for kind."
        )
    dtype = _graphc.result_type(element, tests)
    if element.size == 1 and kind is None:
        found = _graphc.reduce("any", tests.astype(dtype, copy=False) == element.astype(dtype, copy=False).reshape((1,)), None, False, None)
        return asarray(_graphc.logical_not(found) if invert else found).reshape(element.shape)
    if kind == "table" and not _graphc.is_tracing() and _is_beyond(tests):
        raise RuntimeError(
            "You have specified kind='table', but the range of values in `ar2` or `ar1` exceed the maximum integer of the datatype. "
            "Please set `kind` to None or 'sort'."
        )
    if dtype.kind in "iu" and not _graphc.is_tracing():
        wide = dtype if dtype.itemsize == 8 else int64  # differences fit
        found = _in_table(element.astype(wide, copy=False), tests.astype(wide, copy=False))
        if found is not None:
            return asarray(_graphc.logical_not(found) if invert else found)
    element, tests = element.astype(dtype, copy=False), tests.astype(dtype, copy=False)
    if not _graphc.is_tracing() and tests.size <= _FEW:
        found = _is_one_of_few(element, tests)
        return asarray(_graphc.logical_not(found) if invert else found)
    tests = sort(tests)
    place = _graphc.minimum(searchsorted(tests, element), tests.size - 1)
    found = take(tests, place) == element
    return asarray(_graphc.logical_not(found) if invert else found)  # an array and no number, as in NumPy


#: So many comparisons of each element take less than a search among sorted ones.
_FEW = 16


def _is_one_of_few(element, tests):
    """Compared with each, the last one several times: programs are of 4, 8 or 16 comparisons, whatever the number."""
    width = next(w for w in (4, 8, _FEW) if tests.size <= w)
    if tests.size < width:
        tests = take(tests, _graphc.minimum(arange(width, device=tests.device), tests.size - 1))
    found = element == tests[0]
    for i in range(1, width):
        found = _graphc.logical_or(found, element == tests[i])
    return found


def _is_beyond(tests):
    """Whether the distance of the least and the largest value is none of their dtype, for which NumPy has no table."""
    return tests.dtype.kind != "b" and int(max(tests)) - int(min(tests)) > _np.iinfo(tests.dtype).max


@_where_operands_are
def union1d(ar1, ar2):
    """The sorted distinct elements of both arrays."""
    return unique(concat((ar1, ar2), axis=None))


@_where_operands_are
def intersect1d(ar1, ar2, assume_unique=False, return_indices=False):
    """The sorted distinct elements that are in both arrays; with return_indices also the indices of their first
    occurrences in each."""
    a, b = asarray(ar1).reshape((-1,)), asarray(ar2).reshape((-1,))
    if not return_indices:
        if not assume_unique:
            a, b = unique(a), unique(b)
        s = sort(concat((a, b)))
        return s[:-1][s[1:] == s[:-1]]
    first_a = first_b = None
    if not assume_unique:
        a, first_a = unique(a, return_index=True)
        b, first_b = unique(b, return_index=True)
    both = concat((a, b))
    order = _argsort(both)
    s = take(both, order)
    equal = s[1:] == s[:-1]
    in_a, in_b = order[:-1][equal], order[1:][equal] - a.size
    if not assume_unique:
        in_a, in_b = take(first_a, in_a), take(first_b, in_b)
    return s[:-1][equal], in_a, in_b


@_where_operands_are
def setdiff1d(ar1, ar2, assume_unique=False):
    """The distinct elements of `ar1` that are not in `ar2`, sorted (in their order with assume_unique)."""
    a = asarray(ar1).reshape((-1,))
    if not assume_unique:
        a = unique(a)
    return a[isin(a, asarray(ar2).reshape((-1,)), invert=True)]


@_where_operands_are
def setxor1d(ar1, ar2, assume_unique=False):
    """The sorted distinct elements that are in one of the two arrays only."""
    a, b = asarray(ar1).reshape((-1,)), asarray(ar2).reshape((-1,))
    if not assume_unique:
        a, b = unique(a), unique(b)
    s = sort(concat((a, b)))
    if s.size == 0:
        return s
    edge = full((1,), True, dtype=bool_, device=s.device)
    new = concat((edge, s[1:] != s[:-1], edge))
    return s[_graphc.logical_and(new[1:], new[:-1])]
