"""Discrete Fourier transforms: frequencies and the order of their results."""

import operator as _operator

from ._creation import arange as _arange
from ._creation import asarray as _asarray
from ._dtypes import as_dtype as _as_dtype
from ._dtypes import float64 as _float64
from ._manipulation import _axes as _axis_numbers
from ._manipulation import concatenate as _concatenate
from ._manipulation import roll as _roll
from .errors import ArgumentError as _ArgumentError
from .errors import DTypeError as _DTypeError

__all__ = ["fftfreq", "fftshift", "ifftshift", "rfftfreq"]


def _count(n, name):
    try:
        n = _operator.index(n)
    except TypeError:
        raise _ArgumentError(f"{name}: n should be an integer, not {type(n).__name__}") from None
    if n <= 0:
        raise _ArgumentError(f"{name}: n should be positive, not {n}")
    return n


def _frequencies(whole, n, d, dtype):
    dtype = _float64 if dtype is None else _as_dtype(dtype)
    if dtype.kind != "f":
        raise _DTypeError(f"frequencies are floats, not {dtype}")
    return (whole.astype(_float64) * (1.0 / (n * d))).astype(dtype, copy=False)


def fftfreq(n, /, d=1.0, *, dtype=None, device=None):
    """Frequencies of the elements of a transform of `n` points a distance `d` apart: 0, 1, ..., then the negative ones, over
    n * d. Raises ArgumentError unless n is a positive integer."""
    n = _count(n, "fftfreq")
    half = (n - 1) // 2 + 1
    whole = _concatenate([_arange(half, device=device), _arange(-(n // 2), 0, device=device)])
    return _frequencies(whole, n, d, dtype)


def rfftfreq(n, /, d=1.0, *, dtype=None, device=None):
    """Frequencies of the elements of a transform of `n` real points a distance `d` apart: 0 to n // 2 over n * d."""
    n = _count(n, "rfftfreq")
    return _frequencies(_arange(n // 2 + 1, device=device), n, d, dtype)


def _shifted(x, axes, shift):
    x = _asarray(x)
    axes = tuple(range(x.ndim)) if axes is None else tuple(_axis_numbers(axes, x.ndim, "fftshift"))
    return _roll(x, tuple(shift(x.shape[a]) for a in axes), axes)


def fftshift(x, /, *, axes=None):
    """Elements with the zero frequency moved to the middle of each axis (of all, unless `axes` says which)."""
    return _shifted(x, axes, lambda n: n // 2)


def ifftshift(x, /, *, axes=None):
    """The inverse of `fftshift`."""
    return _shifted(x, axes, lambda n: -(n // 2))
