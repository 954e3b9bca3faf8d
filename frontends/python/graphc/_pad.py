"""`pad`: arrays with borders, in NumPy's modes. One axis after the other; each border is a view, a reduction or a
constant joined to the array."""

from __future__ import annotations

import operator as _operator
from typing import TYPE_CHECKING

import numpy as _np

from . import _graphc
from ._assemble import _along
from ._creation import asarray, full, in_order, lies_by_columns
from ._float_errors import stands_for as _stands_for
from ._manipulation import concatenate, flip
from .errors import ArgumentError, UnsupportedError

if TYPE_CHECKING:
    from ._types import Array, ArrayLike

_OPTIONS = {
    "constant": ("constant_values",), "edge": (), "empty": (), "wrap": (), "linear_ramp": ("end_values",),
    "maximum": ("stat_length",), "mean": ("stat_length",), "median": ("stat_length",), "minimum": ("stat_length",),
    "reflect": ("reflect_type",), "symmetric": ("reflect_type",),
}  # fmt: skip


def _pairs(value, rank, name, is_count=True):
    """A value, a pair, or a pair an axis, as a pair an axis."""
    if type(value) is int and value >= 0:
        return [(value, value) if is_count else (_np.int64(value),) * 2] * rank
    if type(value) is tuple and len(value) == 2 and type(value[0]) is type(value[1]) is int and is_count and min(value) >= 0:
        return [value] * rank
    if type(value) is tuple and len(value) == rank and is_count and all(type(p) is tuple and len(p) == 2 and type(p[0]) is type(p[1]) is int and min(p) >= 0 for p in value):
        return list(value)
    if isinstance(value, dict):
        pairs = [(0, 0)] * rank
        for axis, pair in value.items():
            pairs[axis] = tuple(pair) if hasattr(pair, "__len__") else (pair, pair)
        value = pairs
    if name == "pad_width":
        try:
            kind = _np.asarray(value).dtype.kind
        except ValueError:
            kind = "O"  # pairs of different lengths
        if kind not in "iu":
            raise TypeError("`pad_width` must be of integral type.")
    try:
        given = _np.asarray(value)
        wide = _np.broadcast_to(given, (rank, 2))
        # As NumPy's: one number, or one pair, keeps its dtype.
        is_typed = given.size <= 2 and given.shape != (2, 1) and not is_count
        wide = [list(p) for p in wide] if is_typed else wide.tolist()
    except ValueError as error:
        raise ArgumentError(f"pad: {name} of {value!r} does not fit {rank} axes: {error}") from None
    if not is_count:
        return [tuple(p) for p in wide]
    pairs = [tuple(None if n is None else _operator.index(n) for n in p) for p in wide]
    if any(n is not None and n < 0 for p in pairs for n in p):
        raise ArgumentError("index can't contain negative values")
    return pairs


@_stands_for()
def pad(array: ArrayLike, pad_width, mode="constant", **options) -> Array:
    """The array with `pad_width` more elements before and after (a number, a pair, a pair an axis, or a dict of axes).
    Modes: constant, edge, linear_ramp, maximum, mean, median, minimum, reflect, symmetric, wrap, empty, or a function of
    (vector, widths, axis, keywords) that changes the vector in place. Raises ValueError as NumPy."""
    x = asarray(array)
    if lies_by_columns(x):  # in the memory order of the array, as NumPy
        return pad(x.copy(), pad_width, mode, **options).copy("F")
    if callable(mode):
        return _by_function(x, _pairs(pad_width, x.ndim, "pad_width"), mode, options)
    if mode not in _OPTIONS:
        raise ArgumentError(f"mode '{mode}' is not supported")
    unknown = set(options) - set(_OPTIONS[mode])
    if unknown:
        raise ArgumentError(f"unsupported keyword arguments for mode '{mode}': {unknown}")
    widths = _pairs(pad_width, x.ndim, "pad_width")
    if not x.ndim:
        return x.copy()
    value = options.get("constant_values", 0)
    if mode in ("constant", "empty") and type(value) in (int, float, bool):
        return _framed(x, widths, value)
    if mode in _MOST and options.get("reflect_type", "even") == "even" and not _graphc.is_tracing():
        if all(0 < size and max(pair) <= size - _MOST[mode] for size, pair in zip(x.shape, widths)):
            return _bordered(x, widths, mode)
    values = _pairs(options.get("constant_values", options.get("end_values", 0)), x.ndim, "values", False)
    lengths = _pairs(options.get("stat_length"), x.ndim, "stat_length")
    if mode in ("maximum", "minimum") and any(0 in pair for pair in lengths):
        raise ArgumentError("stat_length of 0 yields no value for padding")
    for axis, (before, after) in enumerate(widths):
        if before == 0 and after == 0:
            continue
        size = x.shape[axis]
        if size == 0 and mode not in ("constant", "empty"):
            raise ArgumentError(f"can't extend empty axis {axis} using modes other than 'constant' or 'empty'")
        x = _axis_padded(x, axis, before, after, mode, values[axis], lengths[axis], options.get("reflect_type", "even"))
    return in_order(x, "C") if any(sum(w) for w in widths) else x.copy()


#: Modes whose borders are parts of the array, and how many of its elements one of them has not.
_MOST = {"edge": 0, "wrap": 0, "symmetric": 0, "reflect": 1}


@_stands_for()
def _bordered(x, widths, mode):
    """The array in a frame whose borders are copied from inside of it, one axis after the other."""
    if x.ndim == 1:
        return _lined(x, *widths[0], mode)
    out = _framed(x, widths, 0)
    for axis, (before, after) in enumerate(widths):
        size = x.shape[axis]
        end = before + size
        if mode == "edge":
            left, right = slice(before, before + 1), slice(end - 1, end)
        elif mode == "wrap":
            left, right = slice(size, end), slice(before, before + after)
        else:
            skip = _MOST[mode]
            last = end - 1 - skip
            left, right = slice(2 * before - 1 + skip, before - 1 + skip, -1), slice(last, last - after if last >= after else None, -1)
        if before:
            out[_along(axis, slice(0, before))] = out[_along(axis, left)]
        if after:
            out[_along(axis, slice(end, None))] = out[_along(axis, right)]
    return out


def _between(left, right, x):
    """A vector with others, if any, on both sides: written once."""
    parts = [p for p in (left, x, right) if p is not None]
    return concatenate(parts) if len(parts) > 1 else x.copy()


def _lined(x, before, after, mode):
    """A vector between parts of itself."""
    size, skip = x.shape[0], _MOST[mode]
    if mode == "edge":
        left, right = _wide(x[:1], 0, before), _wide(x[-1:], 0, after)
    elif mode == "wrap":
        left, right = x[size - before :], x[:after]
    else:
        left, right = flip(x[skip : skip + before], 0), flip(x[size - skip - after : size - skip], 0)
    return _between(left if before else None, right if after else None, x)


def _as_element(value, x):
    """A number as an array of integers takes it: truncated, and modulo the range of an unsigned one. OverflowError for what a
    signed one does not hold."""
    if x.dtype.kind == "u":
        with _np.errstate(all="ignore"):
            return _np.asarray(value).astype(x.dtype.name).item()
    return int(value) if x.dtype.kind == "i" else value


@_stands_for()
def _framed(x, widths, value):
    """The array inside of one value."""
    if x.ndim == 1:
        value = _as_element(value, x)
        return _between(*(full((count,), value, x.dtype, device=x.device) if count else None for count in widths[0]), x)
    shape = tuple(before + size + after for size, (before, after) in zip(x.shape, widths))
    out = full(shape, _as_element(value, x), x.dtype, device=x.device)
    out[tuple(slice(before, before + size) for size, (before, _) in zip(x.shape, widths))] = x
    return out


@_stands_for()
def _axis_padded(x, axis, before, after, mode, values, lengths, reflect_type):
    if mode in ("constant", "empty"):
        parts = [_constant(x, axis, before, values[0]), x, _constant(x, axis, after, values[1])]
    elif mode == "edge":
        parts = [_repeated(x, axis, before, 0), x, _repeated(x, axis, after, -1)]
    elif mode == "linear_ramp":
        parts = [_ramp(x, axis, before, 0, values[0]), x, flip(_ramp(x, axis, after, -1, values[1]), axis)]
    elif mode == "wrap":
        parts = [_periodic(x, axis, -before, 0, False), x, _periodic(x, axis, x.shape[axis], x.shape[axis] + after, False)]
    elif mode in ("reflect", "symmetric"):
        return _mirrored(x, axis, before, after, mode == "symmetric", reflect_type)
    else:
        left, right = _statistics(x, axis, mode, lengths)
        parts = [_wide(left, axis, before), x, _wide(right, axis, after)]
    return concatenate([p.astype(x.dtype, copy=False) for p in parts if p.shape[axis]], axis)


def _wide(x, axis, count):
    return _graphc.broadcast_to(x, x.shape[:axis] + (count,) + x.shape[axis + 1 :])


@_stands_for()
def _constant(x, axis, count, value):
    return full(x.shape[:axis] + (count,) + x.shape[axis + 1 :], _as_element(value, x), x.dtype, device=x.device)


def _edge(x, axis, place):
    return x[_along(axis, slice(0, 1) if place == 0 else slice(-1, None))]


def _repeated(x, axis, count, place):
    return _wide(_edge(x, axis, place), axis, count)


def _ramp(x, axis, count, place, end):
    """From the end value to the edge, which is left out."""
    from ._creation import are_few_known, linspace

    edge = _edge(x, axis, place)
    flat = edge.reshape(edge.shape[:axis] + edge.shape[axis + 1 :])
    if not isinstance(x.dtype, _np.dtype):
        return linspace(full(flat.shape, end, device=x.device), flat, count, endpoint=False, axis=axis)
    if are_few_known(edge):
        return asarray(_np.linspace(end, _np.asarray(flat), count, endpoint=False, dtype=x.dtype, axis=axis))
    first = full(flat.shape, end, _np.result_type(end, x.dtype, 1.0), device=x.device)
    return linspace(first, flat, count, endpoint=False, dtype=x.dtype, axis=axis)


def _statistics(x, axis, mode, lengths):
    size = x.shape[axis]
    found = []
    for place, length in enumerate(lengths):
        length = size if length is None or length > size else length
        part = x[_along(axis, slice(0, length) if place == 0 else slice(size - length, size))]
        if mode == "median":
            import graphc

            if not hasattr(graphc, "median"):
                raise UnsupportedError("pad: mode 'median' needs a sort")
            value = graphc.median(part, axis, keepdims=True)
        else:
            kind = {"maximum": "max", "minimum": "min", "mean": "mean"}[mode]
            value = _graphc.reduce(kind, part, axis, True, None)
        found.append(_graphc.round(value) if x.dtype.kind in "iu" and value.dtype.kind == "f" else value)
    return found


def _periodic(x, axis, start, stop, reversing):
    """Elements start..stop of the array repeated without end along an axis; with `reversing` every other repetition
    runs backwards."""
    size = x.shape[axis]
    parts, at = [], start
    while at < stop:
        turn, offset = divmod(at, size)
        count = min(size - offset, stop - at)
        if reversing and turn % 2:
            part = flip(x, axis)[_along(axis, slice(offset, offset + count))]
        else:
            part = x[_along(axis, slice(offset, offset + count))]
        parts.append(part)
        at += count
    return concatenate(parts, axis) if len(parts) > 1 else parts[0] if parts else x[_along(axis, slice(0, 0))]


def _mirrored(x, axis, before, after, with_edge, reflect_type):
    if reflect_type not in ("even", "odd"):
        raise ArgumentError(f"pad: reflect_type is 'even' or 'odd', not {reflect_type!r}")
    if x.shape[axis] == 1 and not with_edge:
        parts = [_repeated(x, axis, before, 0), x, _repeated(x, axis, after, -1)]
        return concatenate([p for p in parts if p.shape[axis]], axis)
    period = x.shape[axis] - (0 if with_edge else 1)
    while before or after:  # at most one length of the original on either side at a time
        size = x.shape[axis]
        parts = [x]
        skip = 0 if with_edge else 1
        left, right = min(before, period), min(after, period)
        if left:
            part = flip(x[_along(axis, slice(skip, skip + left))], axis)
            parts.insert(0, part if reflect_type == "even" else 2 * _edge(x, axis, 0) - part)
        if right:
            part = flip(x[_along(axis, slice(size - skip - right, size - skip))], axis)
            parts.append(part if reflect_type == "even" else 2 * _edge(x, axis, -1) - part)
        before, after = before - left, after - right
        x = concatenate([p.astype(x.dtype, copy=False) for p in parts], axis)
    return x


def _by_function(x, widths, function, options):
    for axis, (before, after) in enumerate(widths):
        x = concatenate([p for p in (_constant(x, axis, before, 0), x, _constant(x, axis, after, 0)) if p.shape[axis]], axis)
    x = x.copy()
    from ._functional import ndindex

    for axis in range(x.ndim):
        rows = _graphc.transpose(x, (*[i for i in range(x.ndim) if i != axis], axis))
        for place in ndindex(*rows.shape[:-1]):
            function(rows[place], widths[axis], axis, options)
    return x
