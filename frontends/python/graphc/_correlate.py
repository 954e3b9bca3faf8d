"""Convolution and correlation of vectors: sums of shifted products, of which those beyond the ends of the longer vector are left out."""

from __future__ import annotations

from . import _graphc
from ._complex import of_parts
from ._creation import arange, asarray
from ._devices import where_operands_are as _where_operands_are
from ._dtypes import float32
from ._manipulation import concatenate
from .errors import ArgumentError, ShapeError


@_where_operands_are
def convolve(a, v, mode: str = "full"):
    """Discrete convolution of two vectors; mode "full", "same" or "valid". As a sum of shifted products, the shorter
    vector's elements one after the other, 64 products a chain, 256 of more than 256 elements."""
    return _converted(a, v, mode, "convolve", False)


@_where_operands_are
def correlate(a, v, mode: str = "valid"):
    """Cross-correlation of two vectors: sums of a[n + k] * v[n]."""
    return _converted(a, v, mode, "correlate", True)


_QUICK = convolve.quick, correlate.quick = _graphc.plain_convolve(False), _graphc.plain_convolve(True)


def _converted(a, v, mode, name, turned):
    """Of lists, and of arrays of two dtypes, what the extension makes of arrays alike, else what is recorded."""
    x, y = asarray(a), asarray(v)
    if (x is not a or y is not v) and x.ndim == y.ndim == 1 and not _graphc.is_tracing():
        kind = _graphc.result_type(x, y)
        made = _QUICK[turned](x.astype(kind, copy=False), y.astype(kind, copy=False), mode)
        if made is not NotImplemented:
            return made
    return _correlation(x, y, mode, name, turned)


#: Products written as one sum; of all sums, more (of integers) are matrix products; windows in one.
_CHAIN, _WRITTEN_OUT, _ROWS = 64, 256, 256
#: Float factors whose sums are written out where they may be fused: up to so many, of few sums up to fewer.
_FUSED, _FUSED_OF_FEW, _FEW = 16, 7, 4096


def _windows(x, count, length):
    """The matrix of x[i : i + length] for i < count, from a view of repetitions of `x`."""
    wide = _graphc.broadcast_to(x, (count + 1, x.size)).reshape((-1,))
    return wide[: count * (x.size + 1)].reshape((count, x.size + 1))[:, :length]


def _chain(factors, parts, present=None):
    """The sum of factors[i] * parts[i], i rising, from +0 on: fused multiply-adds of floats. Where not present[i], a product is left out."""
    total = None
    for i, part in enumerate(parts):
        before = 0 if total is None else total
        if part.dtype.kind == "f":
            after = _graphc.fma(factors[i], part, before)
        else:
            after = factors[i] * part
            after = after if total is None else before + after
        total = after if present is None else _graphc.select(present[i], after, before)
    return total


def _sums(padded, short, length):
    """So many sums of short[i] * padded[i + j], j being their numbers."""
    result = None
    is_written = short.size <= _WRITTEN_OUT
    count = _CHAIN if is_written else _ROWS
    for i in range(0, short.size, count):
        some, rest = short[i : i + count], padded[i:]
        if is_written:
            part = _chain(some, [rest[k : k + length] for k in range(some.size)])
        else:
            part = _graphc.matmul(some, _windows(rest, some.size, length))
        result = part if result is None else result + part
    return result


def _edge_sums(padded, short, present):
    """The sums of which the products are left out that are not `present`, a matrix of sums and products, of one chain's factors."""
    sums = present.shape[0]
    return _chain(short, [padded[k : k + sums] for k in range(short.size)], [present[:, k] for k in range(short.size)])


def _by_parts(a, v, mode, name, turned):
    """Complex sums by those of the parts; turned ones have conjugates of `v`."""
    sums = {x + y: _correlation(p, q, mode, name, turned) for x, p in (("r", a.real), ("i", a.imag)) for y, q in (("r", v.real), ("i", v.imag))}
    if turned:
        return of_parts(sums["rr"] + sums["ii"], sums["ir"] - sums["ri"])
    return of_parts(sums["rr"] - sums["ii"], sums["ri"] + sums["ir"])


def _correlation(a, v, mode, name, turned):
    if a.ndim > 1 or v.ndim > 1:
        raise ShapeError(f"object too deep for desired array: {name} of shapes {a.shape} and {v.shape}")
    if a.ndim != 1 or v.ndim != 1:
        if turned:
            raise ShapeError(f"object of too small depth for desired array: {name} of shapes {a.shape} and {v.shape}")
        a, v = a.reshape((-1,)), v.reshape((-1,))
    if a.size == 0 or v.size == 0:
        raise ArgumentError(f"{'a' if a.size == 0 else 'v'} cannot be empty")
    mode = _mode(mode)
    kind = a.dtype if a.dtype is v.dtype else _graphc.result_type(a, v)
    if kind.kind == "c":
        if a.dtype is not v.dtype:
            return (correlate if turned else convolve)(a.astype(kind, copy=False), v.astype(kind, copy=False), mode)
        return _by_parts(a, v, mode, name, turned)
    if turned:
        v = v[::-1]
    long, short = (a, v) if a.size >= v.size else (v, a)
    if a.dtype is not v.dtype:
        long, short = long.astype(kind, copy=False), short.astype(kind, copy=False)
    n, m = long.size, short.size
    full_length = n + m - 1
    first, length = {"full": (0, full_length), "valid": (m - 1, n - m + 1)}.get(mode, (m // 2 if turned and a.size < v.size else (m - 1) // 2, n))
    short = short[::-1]
    if kind.kind in "fV" and kind.itemsize == 2:  # rounded once
        long, short = long.astype(float32), short.astype(float32)
    is_float = long.dtype.kind == "f"
    if is_float and not _is_fused(long, m, full_length):
        which = 0 if mode == "full" else 1 if mode == "valid" else 2 if first == (m - 1) // 2 else 3
        return _graphc.library("correlate", (long, short), (which,), (length,), long.dtype).astype(kind, copy=False)
    if mode == "valid":
        result = _sums(long, short, length)
    else:
        edge = _graphc.full((m - 1,), 0, long.dtype, long.device)
        if m > 1 and is_float:  # zeros beyond an end must not be multiplied: by infinities, or to a zero that has a sign
            result = concatenate(_parts(long, short, edge, first, length))
        else:
            result = _sums(concatenate([edge, long, edge]), short, full_length)
            result = result[first : first + length]
    result = result.astype(kind, copy=False)
    return result if length == full_length else result.copy()


def _is_fused(long, factors, sums):
    """Whether sums of floats are written out rather than the library's: those of a few factors, which are then one kernel with what is around."""
    if long.device == "cpu" and not _graphc.is_tracing():
        return False
    return factors <= (_FUSED if sums > _FEW else _FUSED_OF_FEW)


def _parts(long, short, edge, first, length):
    """The sums at the left edge, those of all products, and those at the right edge."""
    n, m = long.size, short.size
    left, right = m - 1 - first, first + length - n
    products = arange(m).reshape((1, m))
    parts = [_sums(long, short, n - m + 1)]
    if left > 0:
        present = products >= arange(left, 0, -1).reshape((left, 1))
        parts.insert(0, _edge_sums(concatenate([edge[:left], long[: m - 1]]), short, present))
    if right > 0:
        present = products < arange(m - 1, m - 1 - right, -1).reshape((right, 1))
        parts.append(_edge_sums(concatenate([long[n - m + 1 :], edge[:right]]), short, present))
    return parts


def _mode(mode):
    if isinstance(mode, int):
        if mode not in (0, 1, 2):
            raise ArgumentError("integer convolve/correlate mode must be 0, 1, or 2")
        return ("valid", "same", "full")[mode]
    if not isinstance(mode, str):
        raise TypeError("convolve/correlate mode not understood")
    if mode not in ("full", "same", "valid"):
        raise ArgumentError(f"mode must be one of 'valid', 'same', or 'full' (got {mode!r})")
    return mode
