"""Uniform integers: the upper part of a product with 128 random bits."""

import operator as _operator

import numpy as _np

from . import _graphc
from ._dtypes import int64, uint64
from ._manipulation import broadcast_shapes, where
from .errors import ArgumentError, DTypeError

_M32 = 0xFFFFFFFF


def _bounds(dtype):
    if dtype.kind == "b":
        return 0, 1
    info = _np.iinfo(dtype)
    return int(info.min), int(info.max)


def _host_integers(name, value):
    """A nested sequence or NumPy array as an array of Python integers; None for graphc Arrays."""
    if _graphc.is_array(value):
        return None
    found = _np.asarray(value)
    if found.dtype.kind == "f":
        if not _np.all(found == _np.trunc(found)):
            raise DTypeError(f"integers: {name} must be integers, not {found.dtype}")
        found = _np.vectorize(int, otypes=[object])(found)
    elif found.dtype.kind not in "biuO":
        raise DTypeError(f"integers: {name} must be integers, not {found.dtype}")
    return found.astype(object)


def limits(low, high, dtype, endpoint):
    """(low, highest, shape): Python integers, or Arrays of int64 or uint64. What is known without computing is
    checked."""
    smallest, largest = _bounds(dtype)
    if type(low) is type(high) is int and smallest <= low < high <= largest:
        return low, high if endpoint else high - 1, ()
    first, last = _host_integers("low", low), _host_integers("high", high)
    if last is not None and not endpoint:
        last = _np.asarray(last - 1, object)  # a 0-d array would become a number
    if first is not None and _np.any(_np.asarray(first < smallest, bool)):
        raise ArgumentError(f"low is out of bounds for {dtype}")
    if last is not None and _np.any(_np.asarray(last > largest, bool)):
        raise ArgumentError(f"high is out of bounds for {dtype}")
    if first is not None and last is not None:
        if _np.any(_np.asarray(first > last, bool)):
            raise ArgumentError("low > high" if endpoint else "low >= high")
        if first.ndim == last.ndim == 0:
            return _operator.index(first.item()), _operator.index(last.item()), ()
    wide = uint64 if dtype == uint64 else int64
    first = low.astype(wide) if first is None else _graphc.asarray(first.astype(wide), None, None, None)
    if last is None:
        last = high.astype(wide) if endpoint else high.astype(wide) - 1
    else:
        last = _graphc.asarray(last.astype(wide), None, None, None)
    return first, last, broadcast_shapes(first.shape, last.shape)


def _upper_half(a, b):
    """The upper 64 bits of the product of two uint64 arrays, and the lower."""
    a0, a1 = a & _M32, _graphc.shift_right(a, 32)
    b0, b1 = b & _M32, _graphc.shift_right(b, 32)
    middle = a1 * b0 + _graphc.shift_right(a0 * b0, 32)
    other = a0 * b1 + (middle & _M32)
    return a1 * b1 + _graphc.shift_right(middle, 32) + _graphc.shift_right(other, 32), a * b


def _word(value, dtype, device):
    return _graphc.asarray(_np.array(value, dtype), None, device, None)


def bounded(upper, lower, low, high, dtype):
    """low + floor(r * (upper * 2**64 + lower) / 2**128) for the r integers of [low, high]. The values are arguments of
    the kernel: another range does not compile again."""
    if isinstance(low, int):
        count = high - low + 1
        if count == 1 << 64:
            found = upper
        elif count <= 1 << 32:
            # The digits of 128 bits in base 2^32, lowest first: each product and carry fits 64 bits.
            r = _word(count, uint64, upper.device)
            carry = _graphc.shift_right((lower & _M32) * r, 32)
            for digit in (_graphc.shift_right(lower, 32), upper & _M32, _graphc.shift_right(upper, 32)):
                carry = _graphc.shift_right(digit * r + carry, 32)
            found = carry
        else:
            found = _scaled(upper, lower, _word(count, uint64, upper.device))
        found = found.astype(dtype)
        if low == 0:
            return found
        return found + _word(low, dtype, upper.device)
    count = high.astype(uint64) - low.astype(uint64) + 1  # 0 means 2**64
    found = where(_graphc.equal(count, 0), upper, _scaled(upper, lower, count)) + low.astype(uint64)
    return found.astype(dtype)


def _scaled(upper, lower, count):
    carry, _ = _upper_half(lower, count)
    high, low = _upper_half(upper, count)
    return high + _graphc.less(low + carry, carry).astype(uint64)
