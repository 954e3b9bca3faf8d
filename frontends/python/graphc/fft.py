"""Discrete Fourier transforms. Any length: products of 2, 3, 5, 7 and 11 pass by pass, others as convolutions."""

import math as _math
import operator as _operator

import numpy.fft as _theirs

from . import _foreign, _graphc
from . import _dtypes as _d
from ._creation import arange as _arange
from ._creation import asarray as _asarray
from ._creation import zeros as _zeros
from ._fft_transforms import quick as _quick
from ._fft_transforms import transform as _transform
from ._float_errors import tell as _tell
from ._manipulation import _axes as _axis_numbers
from ._manipulation import concatenate as _concatenate
from ._manipulation import roll as _roll
from .errors import ArgumentError as _ArgumentError, IndexOutOfBounds as _IndexOutOfBounds
from .errors import DTypeError as _DTypeError
from .errors import ForeignDType as _ForeignDType

__all__ = [
    "fft",
    "fft2",
    "fftfreq",
    "fftn",
    "fftshift",
    "hfft",
    "ifft",
    "ifft2",
    "ifftn",
    "ifftshift",
    "ihfft",
    "irfft",
    "irfft2",
    "irfftn",
    "rfft",
    "rfft2",
    "rfftfreq",
    "rfftn",
]
_Array = _graphc.Array
_COMPLEX = {"float32": "complex64", "float64": "complex128"}


def _argument(a, what, real=False):
    """The array in the precision of its transform, and that precision."""
    x = _asarray(a)
    name = x.dtype.name
    if name in ("float64", "complex128", "float32", "complex64"):
        if real and name.startswith("c"):
            raise _DTypeError(f"{what}: a real array is needed, not one of {name}")
        return x, "float32" if name in ("float32", "complex64") else "float64"
    if name == "float16" and x.device == "cpu" and not _graphc.is_tracing():
        raise _ForeignDType(f"{what} of float16")  # whose factors NumPy has in float16
    precision = "float32" if name in ("float16", "bfloat16") else "float64"
    return x.astype(precision), precision


def _axis(axis, ndim, what):
    """The axis counted from the end."""
    return _axis_numbers((axis,), ndim, what)[0] - ndim


def _precise(x, precision, out):
    """What is transformed into an output of higher precision is as precise."""
    if out is None or precision != "float32" or getattr(out, "dtype", None) not in (_d.float64, _d.complex128):
        return x, precision
    return x.astype("complex128" if x.dtype.kind == "c" else "float64"), "float64"


def _conj(x):
    return _graphc.elementwise("conj", [x]) if x.dtype.kind == "c" else x


def _points(n, what):
    if type(n) is bool:
        raise TypeError("an integer is required")
    n = _operator.index(n)
    if n < 1:
        raise _ArgumentError(f"{what}: Invalid number of FFT data points ({n}) specified.")
    return n


def _fitted(x, n, axis):
    """Cut to n elements along an axis, or with zeros after them."""
    have = x.shape[axis]
    after = (slice(None),) * (-1 - axis)
    if n < have:
        return x[(..., slice(n), *after)]
    if n == have:
        return x
    shape = list(x.shape)
    shape[axis] = n - have
    return _concatenate([x, _zeros(tuple(shape), dtype=x.dtype, device=x.device)], axis=axis)


def _scale(norm, inverse, lengths, what):
    if norm not in (None, "backward", "ortho", "forward"):
        raise _ArgumentError(f'{what}: norm is "backward", "ortho" or "forward", not {norm!r}')
    if norm == "ortho":
        return 1 / _math.sqrt(_math.prod(lengths))
    return 1 / _math.prod(lengths) if inverse == (norm != "forward") else None


def _finish(result, out):
    if out is None:
        return result
    if not _graphc.is_array(out):
        raise TypeError(f"fft: return arrays must be of ArrayType, not {type(out).__name__}")
    if out.shape != result.shape:
        raise _ArgumentError(f"fft: output array has wrong shape {out.shape}, not {result.shape}")
    if not _d.can_cast(result.dtype, out.dtype, "same_kind"):
        raise TypeError(f"Cannot cast ufunc 'fft' output from {result.dtype!r} to {out.dtype!r} with casting rule 'same_kind'")
    out[...] = result
    return out


def _run(kind, x, precision, lengths, axes, norm, inverse, out, what, key=None):
    """Transforms along axes, counted from the end, that the argument fits. The next call of `key` needs nothing but the
    transform."""
    scale = _scale(norm, inverse, lengths, what)
    if kind == "complex" and not inverse and x.dtype.kind != "c":
        kind = "whole"
    if x.size == 0:
        shape = list(x.shape)
        for n, axis in zip(lengths, axes):
            shape[axis] = n
        if kind == "real":
            shape[axes[-1]] = lengths[-1] // 2 + 1
        return _finish(_zeros(tuple(shape), dtype=precision if kind == "to_real" else _COMPLEX[precision]), out)
    transform = _transform(kind, lengths, axes, precision, inverse, scale)
    result = transform(x)
    if key is not None:
        _quick[key] = transform.runner()
    return _finish(result, out)


def _call(kind, a, n, axis, norm, inverse, out, what):
    """A call of a function; of one without options only what has to be done each time."""
    if n is not None or axis != -1 or norm is not None or out is not None or type(a) is not _graphc.ndarray:
        return _one(kind, a, n, axis, norm, inverse, out, what)
    shape = a.shape
    key = (what, a.dtype, shape[-1:])
    run = _quick.get(key)
    if run is not None and 0 not in shape:
        return run(a)
    return _one(kind, a, n, axis, norm, inverse, out, what, key)


def _one(kind, a, n, axis, norm, inverse, out, what, key=None):
    x, precision = _precise(*_argument(a, what, kind == "real"), out)
    whole = x is a
    axis = _axis(axis, x.ndim, what)
    if n is None:
        n = x.shape[axis] if kind != "to_real" else 2 * (x.shape[axis] - 1)
    n = _points(n, what)
    x = _fitted(x, n if kind != "to_real" else n // 2 + 1, axis)
    return _run(kind, x, precision, (n,), (axis,), norm, inverse, out, what, key if whole else None)


def fft(a, n=None, axis=-1, norm=None, out=None):
    """Frequencies of the points along an axis, complex: sum over j of a[j] * exp(-2 pi i j k / n).

    n: points; a longer array is cut, a shorter one gets zeros at its end. norm: "backward" (no factor), "forward" (1 / n)
    or "ortho" (1 / sqrt(n)). Computed in float64, in float32 for float32, complex64 and floats of 16 bits. The same bits on
    every device. Raises ArgumentError for another norm and for n < 1, AxisError.
    """
    return _call("complex", a, n, axis, norm, False, out, "fft")


def ifft(a, n=None, axis=-1, norm=None, out=None):
    """The inverse of `fft`; norm: "backward" (1 / n), "forward" (no factor) or "ortho"."""
    return _call("complex", a, n, axis, norm, True, out, "ifft")


def rfft(a, n=None, axis=-1, norm=None, out=None):
    """The first n // 2 + 1 frequencies of real points; the others are their conjugates. As `fft`; DTypeError for complex
    arrays."""
    return _call("real", a, n, axis, norm, False, out, "rfft")


def irfft(a, n=None, axis=-1, norm=None, out=None):
    """The inverse of `rfft`: n real points, 2 * (m - 1) of m frequencies unless `n` says otherwise."""
    return _call("to_real", a, n, axis, norm, True, out, "irfft")


_OTHER_WAY = {None: "forward", "backward": "forward", "ortho": "ortho", "forward": "backward"}


def _turned(norm, what):
    if norm not in _OTHER_WAY:
        raise _ArgumentError(f'{what}: norm is "backward", "ortho" or "forward", not {norm!r}')
    return _OTHER_WAY[norm]


def hfft(a, n=None, axis=-1, norm=None, out=None):
    """`n` real frequencies of points of which the second half would be the conjugates of the first."""
    return _one("to_real", _conj(_asarray(a)), n, axis, _turned(norm, "hfft"), True, out, "hfft")


def ihfft(a, n=None, axis=-1, norm=None, out=None):
    """The inverse of `hfft`: n // 2 + 1 points."""
    return _finish(_conj(_one("real", a, n, axis, _turned(norm, "ihfft"), False, None, "ihfft")), out)


def _several(kind, a, s, axes, norm, inverse, out, what):
    x, precision = _precise(*_argument(a, what, kind == "real"), out)
    if axes is None:
        if s is not None:
            _tell(
                "`axes` should not be `None` if `s` is not `None` (Deprecated in NumPy 2.0). In a future version of NumPy, this will"
                " raise an error and `s[i]` will correspond to the size along the transformed axis specified by `axes[i]`.",
                DeprecationWarning,
            )
        axes = tuple(range(-(x.ndim if s is None else len(s)), 0))
    axes = tuple(_axis(axis, x.ndim, what) for axis in axes)
    if s is None:
        s = [x.shape[axis] for axis in axes]
        if kind == "to_real" and axes:
            s[-1] = 2 * (s[-1] - 1)
    if len(s) != len(axes):
        raise _ArgumentError(f"{what}: {len(s)} sizes for {len(axes)} axes")
    if not axes:
        if kind == "complex":
            return _asarray(a)
        raise _IndexOutOfBounds("list index out of range")
    if None in s:
        _tell(
            "Passing an array containing `None` values to `s` is deprecated in NumPy 2.0 and will raise an error in a future"
            " version of NumPy. To use the default behaviour of the corresponding 1-D transform, pass the value matching the"
            " default for its `n` parameter. To use the default behaviour for every axis, the `s` argument can be omitted.",
            DeprecationWarning,
        )
        if kind == "to_real" and s[-1] is None:
            s = (*s[:-1], 2 * (x.shape[axes[-1]] - 1))
    s = tuple(_points(x.shape[axis] if n is None or n == -1 else n, what) for n, axis in zip(s, axes))
    if len(set(axes)) < len(axes):
        return _finish(_one_by_one(kind, x, s, axes, norm, inverse), out)
    for i, (n, axis) in enumerate(zip(s, axes)):
        x = _fitted(x, n // 2 + 1 if kind == "to_real" and i == len(axes) - 1 else n, axis)
    return _run(kind, x, precision, s, axes, norm, inverse, out, what)


def _one_by_one(kind, x, s, axes, norm, inverse):
    """A transform that meets an axis twice, in NumPy's order."""
    steps = list(zip(s, axes))
    last = steps.pop() if kind != "complex" else None
    if kind == "real":
        x = rfft(x, *last, norm)
    for n, axis in steps if kind == "to_real" else reversed(steps):
        x = (ifft if inverse else fft)(x, n, axis, norm)
    return irfft(x, *last, norm) if kind == "to_real" else x


def fftn(a, s=None, axes=None, norm=None, out=None):
    """`fft` along several axes, all unless `axes` says which; s: points along each of them (-1: as many as there are)."""
    return _several("complex", a, s, axes, norm, False, out, "fftn")


def ifftn(a, s=None, axes=None, norm=None, out=None):
    """The inverse of `fftn`."""
    return _several("complex", a, s, axes, norm, True, out, "ifftn")


def rfftn(a, s=None, axes=None, norm=None, out=None):
    """`rfft` along the last of the axes, then `fft` along the others."""
    return _several("real", a, s, axes, norm, False, out, "rfftn")


def irfftn(a, s=None, axes=None, norm=None, out=None):
    """The inverse of `rfftn`."""
    return _several("to_real", a, s, axes, norm, True, out, "irfftn")


def fft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """`fftn` along two axes."""
    return _several("complex", a, s, axes, norm, False, out, "fft2")


def ifft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """The inverse of `fft2`."""
    return _several("complex", a, s, axes, norm, True, out, "ifft2")


def rfft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """`rfftn` along two axes."""
    return _several("real", a, s, axes, norm, False, out, "rfft2")


def irfft2(a, s=None, axes=(-2, -1), norm=None, out=None):
    """The inverse of `rfft2`."""
    return _several("to_real", a, s, axes, norm, True, out, "irfft2")



def _count(n, name):
    try:
        n = _operator.index(n)
    except TypeError:
        raise _ArgumentError(f"{name}: n should be an integer, not {type(n).__name__}") from None
    if n <= 0:
        raise _ArgumentError(f"{name}: n should be positive, not {n}")
    return n


def _frequencies(whole, n, d, dtype):
    dtype = _d.float64 if dtype is None else _d.as_dtype(dtype)
    if dtype.kind != "f":
        raise _DTypeError(f"frequencies are floats, not {dtype}")
    return (whole.astype(_d.float64) * (1.0 / (n * d))).astype(dtype, copy=False)


def fftfreq(n, d=1.0, device=None, *, dtype=None):
    """Frequencies of the elements of a transform of `n` points a distance `d` apart: 0, 1, ..., then the negative ones, over
    n * d. Raises ArgumentError unless n is a positive integer."""
    n = _count(n, "fftfreq")
    half = (n - 1) // 2 + 1
    whole = _concatenate([_arange(half, device=device), _arange(-(n // 2), 0, device=device)])
    return _frequencies(whole, n, d, dtype)


def rfftfreq(n, d=1.0, device=None, *, dtype=None):
    """Frequencies of the elements of a transform of `n` real points a distance `d` apart: 0 to n // 2 over n * d."""
    n = _count(n, "rfftfreq")
    return _frequencies(_arange(n // 2 + 1, device=device), n, d, dtype)


def _shifted(x, axes, shift):
    x = _asarray(x)
    axes = tuple(range(x.ndim)) if axes is None else tuple(_axis_numbers(axes, x.ndim, "fftshift"))
    return _roll(x, tuple(shift(x.shape[a]) for a in axes), axes)


def fftshift(x, axes=None):
    """Elements with the zero frequency moved to the middle of each axis (of all, unless `axes` says which)."""
    return _shifted(x, axes, lambda n: n // 2)


def ifftshift(x, axes=None):
    """The inverse of `fftshift`."""
    return _shifted(x, axes, lambda n: -(n // 2))


__path__ = []  # a package, whose other modules are NumPy's
_foreign.cover(globals(), _theirs)
