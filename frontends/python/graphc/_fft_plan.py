"""Lengths of Fourier transforms taken apart, and their roots of unity."""

import functools

import numpy as np

from . import _graphc

#: Lengths are products of powers of two and of these, in this order, where they can be; other lengths become convolutions.
ODD_RADICES = (3, 5, 7, 11, 13, 17)


def factors(n):
    """Radices whose product is n in the order of their passes, or None when a larger prime divides n."""
    twos = (n & -n).bit_length() - 1
    rest = n >> twos
    odd = []
    for prime in ODD_RADICES:
        while rest % prime == 0:
            odd.append(prime)
            rest //= prime
    if rest > 1:
        return None
    # As few passes as there can be: eights, and sixteens for what is left over.
    eights, left = divmod(twos, 3)
    if left <= eights:
        return [16] * left + [8] * (eights - left) + odd
    return [8] * eights + [2**left] + odd


def smooth_length(least):
    """The length of at least `least` whose transform is cheapest."""
    best = 1 << (least - 1).bit_length()
    for odd in (3, 5, 9, 15):
        n = odd << max(3, (-(-least // odd) - 1).bit_length())
        if least <= n < best:
            best = n
    return best


#: Roots(n)(k) is exp(2 pi i k / n) for an array of integers: cosines and sines, rounded once to float64; the same on every machine.
Roots = _graphc.FourierRoots


@functools.lru_cache(maxsize=256)
def _few_roots(n):
    return Roots(n)


def roots_of(n):
    """Roots(n); those of small numbers, which many lengths have in common, are kept."""
    return _few_roots(n) if n <= 1024 else Roots(n)


def twiddles(roots, r, m, s):
    """Factors of a forward pass of radix r over m butterflies after passes of product s: two arrays (r - 1, m)."""
    k, p = np.arange(1, r).reshape(-1, 1), np.arange(m)
    c, sine = roots(k * p * s)
    return c, -sine


def transform(re, im):
    """The forward transform of a vector whose length `factors` knows, in float64, by additions and products only."""
    n, s = len(re), 1
    roots = roots_of(n)
    for r in factors(n):
        m = n // (r * s)
        x = re.reshape(r, m, s), im.reshape(r, m, s)
        c, sine = roots(np.arange(r).reshape(-1, 1) * np.arange(m) * s)
        w, v = roots_of(r)(np.arange(r))
        re, im = np.zeros((m, r, s)), np.zeros((m, r, s))
        for k in range(r):
            a, b = np.zeros((m, s)), np.zeros((m, s))
            for j in range(r):
                cos, sin = w[j * k % r], v[j * k % r]
                a, b = a + (x[0][j] * cos + x[1][j] * sin), b + (x[1][j] * cos - x[0][j] * sin)
            cos, sin = c[k].reshape(m, 1), sine[k].reshape(m, 1)
            re[:, k], im[:, k] = a * cos + b * sin, b * cos - a * sin
        s *= r
    return re.reshape(n), im.reshape(n)


def chirp(n):
    """exp(-i pi k^2 / n) for 0 <= k < n."""
    k = np.arange(n)
    c, s = roots_of(2 * n)(k * k % (2 * n))
    return c, -s


def convolver(n, length):
    """The transform of the conjugated chirp, on a circle of `length` points, over length."""
    c, s = chirp(n)
    re, im = np.zeros(length), np.zeros(length)
    re[:n], im[:n] = c, -s
    re[length - n + 1 :], im[length - n + 1 :] = c[:0:-1], -s[:0:-1]
    re, im = transform(re, im)
    return re / length, im / length
