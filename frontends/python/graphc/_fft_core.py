"""Discrete Fourier transforms along the last axis, on pairs of reals.

A transform of n = a * b points is a product with the a x a matrix of roots, a multiplication by twiddle factors, and a
transform of b points (Cooley and Tukey's decomposition with the matrix products that kernels are good at). Lengths with a
large prime factor go through a convolution of a power of two (Bluestein). Values are arrays (..., 2, n): real parts, then
imaginary parts.
"""

import functools
import math

import numpy as np

from . import _graphc
from ._creation import asarray
from ._manipulation import concatenate

_LARGEST = 32  # radix of a step
_DIRECT = 64  # up to here one product
_MOST_TABLES = 256


def _roots(n, exponents, dtype):
    """cos and sin of -2 pi k / n for integer exponents k, each correctly rounded or nearly so: computed in an eighth of
    a turn, where they are accurate."""
    k = exponents % n
    # Eighths of a turn and the rest, as exact integers: 8 k = q n + r.
    q, r = np.divmod(8 * k, n)
    odd = q % 2 == 1
    angle = np.where(odd, n - r, r) * (math.pi / 4 / n)
    c, s = np.cos(angle), np.sin(angle)
    c, s = np.where(odd ^ (q // 2 % 2 == 1), s, c), np.where(odd ^ (q // 2 % 2 == 1), c, s)
    c = np.where((q >= 2) & (q < 6), -c, c)
    s = np.where(q >= 4, -s, s)
    return c.astype(dtype), (-s).astype(dtype)


@functools.lru_cache(_MOST_TABLES)
def _matrix(n, sign, dtype, device):
    """The real 2n x 2n matrix [[C, -S], [S, C]] of a transform of n points."""
    k = np.arange(n, dtype=np.int64)
    c, s = _roots(n, np.outer(k, k), dtype)
    s = s * sign
    return asarray(np.block([[c, -s], [s, c]]), device=device)


@functools.lru_cache(_MOST_TABLES)
def _twiddles(a, b, sign, dtype, device):
    """(2, a, b) factors of the value itself and of the other part, for exponents k1 * j2 of a * b."""
    exponents = np.outer(np.arange(a, dtype=np.int64), np.arange(b, dtype=np.int64))
    c, s = _roots(a * b, exponents, dtype)
    s = s * sign
    return asarray(np.stack([c, c]), device=device), asarray(np.stack([-s, s]), device=device)


def _largest_factor(n):
    """The largest divisor of n up to the largest radix, preferring balanced ones; 1 when there is none."""
    return next((r for r in range(min(_LARGEST, n), 1, -1) if n % r == 0), 1)


def _is_smooth(n):
    while n > _DIRECT:
        r = _largest_factor(n)
        if r == 1:
            return False
        n //= r
    return True


def transform(x, sign):
    """The transform of x (..., 2, n) without a factor; sign 1 is forward, -1 backward."""
    n = x.shape[-1]
    if n <= 1:
        return x
    if n <= _DIRECT:
        return _direct(x, sign)
    if not _is_smooth(n):
        return _bluestein(x, sign)
    return _step(x, sign)


def _dtype(x):
    return x.dtype.name


def _direct(x, sign):
    n, outer = x.shape[-1], x.shape[:-2]
    rows = _graphc.reshape(x, (math.prod(outer), 2 * n))
    matrix = _matrix(n, sign, _dtype(x), x.device)
    return _graphc.reshape(_graphc.matmul(rows, matrix.T), (*outer, 2, n))


def _step(x, sign):
    n, outer = x.shape[-1], x.shape[:-2]
    a = _largest_factor(n)
    b, count = n // a, math.prod(outer)
    matrix = _matrix(a, sign, _dtype(x), x.device)
    y = _graphc.matmul(matrix, _graphc.reshape(x, (count, 2 * a, b)))
    y = _graphc.reshape(y, (count, 2, a, b))
    own, other = _twiddles(a, b, sign, _dtype(x), x.device)
    y = y * own + _graphc.flip(y, (1,)) * other
    z = transform(_graphc.transpose(y, (0, 2, 1, 3)), sign)  # (count, a, 2, b)
    return _graphc.reshape(_graphc.transpose(z, (0, 2, 3, 1)), (*outer, 2, n))


@functools.lru_cache(_MOST_TABLES)
def _chirp(n, m, sign, dtype, device):
    """exp(-i pi j^2 / n) for j < n as the factors of a product, and the transform of its conjugate wrapped to m points."""
    j = np.arange(n, dtype=np.int64)
    c, s = _roots(2 * n, j * j % (2 * n), np.float64)
    s = s * sign
    wrapped = np.zeros((2, m))
    wrapped[0, :n], wrapped[1, :n] = c, -s
    wrapped[:, m - n + 1 :] = wrapped[:, n - 1 : 0 : -1]
    factors = asarray(np.stack([c, c]).astype(dtype), device=device), asarray(np.stack([-s, s]).astype(dtype), device=device)
    filtered = transform(asarray(wrapped.astype(dtype), device=device), 1) * (1.0 / m)
    _graphc.eval([filtered])
    return factors, filtered


def product(x, y):
    """The complex product of pairs (..., 2, n)."""
    xr, xi, yr, yi = x[..., 0:1, :], x[..., 1:2, :], y[..., 0:1, :], y[..., 1:2, :]
    return concatenate([xr * yr - xi * yi, xr * yi + xi * yr], -2)


def _bluestein(x, sign):
    n = x.shape[-1]
    m = 1 << (2 * n - 2).bit_length()
    (own, other), filtered = _chirp(n, m, sign, _dtype(x), x.device)
    turned = lambda v: v * own + _graphc.flip(v, (v.ndim - 2,)) * other  # noqa: E731
    padding = _graphc.full((*x.shape[:-1], m - n), 0, x.dtype, x.device)
    spectrum = transform(concatenate([turned(x), padding], -1), 1)
    back = transform(product(spectrum, filtered), -1)
    return turned(back[..., :n])
