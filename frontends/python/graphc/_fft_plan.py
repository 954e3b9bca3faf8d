"""Lengths of Fourier transforms taken apart, and their roots of unity."""

import functools
import math

import numpy as np

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


# Pairs of float64 whose sum is a number of twice the precision. Only + - * on float64: the same tables on every machine.


def _two_sum(a, b):
    s = a + b
    t = s - a
    return s, (a - (s - t)) + (b - t)


def _split(a):
    c = a * 134217729.0
    high = c - (c - a)
    return high, a - high


def _multiply(a, b):
    p = a[0] * b[0]
    (ah, al), (bh, bl) = _split(a[0]), _split(b[0])
    error = ((ah * bh - p) + ah * bl + al * bh) + al * bl
    return _two_sum(p, error + (a[0] * b[1] + a[1] * b[0]))


def _add(a, b):
    s, error = _two_sum(a[0], b[0])
    return _two_sum(s, error + (a[1] + b[1]))


def _negative(a):
    return -a[0], -a[1]


def _exact(numerator, denominator):
    """An integer quotient as a pair."""
    high = numerator / denominator
    n, d = high.as_integer_ratio()
    return high, float((numerator * d - n * denominator) / (denominator * d))


_TAU = (6.283185307179586, 2.4492935982947064e-16)


#: Coefficients of cosine and sine, two rows, by powers of the square.
_SERIES = [
    tuple(np.array(part).reshape(2, 1) for part in zip(*(_exact((-1) ** k, math.factorial(2 * k + odd)) for odd in (0, 1))))
    for k in range(14)
]


def _series(angle):
    """Cosine and sine of angles up to pi / 4."""
    square = _multiply(angle, angle)
    both = (np.zeros((2, angle[0].size)),) * 2
    for coefficients in reversed(_SERIES):
        both = _add(_multiply(both, square), coefficients)
    return (both[0][0], both[1][0]), _multiply((both[0][1], both[1][1]), angle)


class Roots:
    """exp(2 pi i k / n) for any k, rounded once to float64."""

    def __init__(self, n):
        self.n = n
        self.step = math.gcd(8, n)
        count = n // self.step + 1
        block = math.isqrt(count) + 1
        # Angles are (high * block + low) * step / (8 n) turns, up to an eighth of a turn.
        indices = np.arange(block), np.arange(-(-count // block))
        turns = [_exact(self.step * factor, 8 * n) for factor in (1, block)]
        turn = [np.repeat([t[part] for t in turns], [i.size for i in indices]) for part in (0, 1)]
        index = np.concatenate(indices).astype("f8")
        pairs = _series(_multiply(_multiply((index, 0.0 * index), turn), _TAU))
        (cl, sl), (c, s) = ([(p[0][at], p[1][at]) for p in pairs] for at in (slice(block), slice(block, None)))
        self.cos, self.sin = np.empty((2, indices[1].size, block))
        together = max(1, 4096 // block)
        for i in range(0, indices[1].size, together):
            at = slice(i, i + together)
            ch, sh = [(p[0][at, np.newaxis], p[1][at, np.newaxis]) for p in (c, s)]
            self.cos[at] = _add(_multiply(cl, ch), _negative(_multiply(sl, sh)))[0]
            self.sin[at] = _add(_multiply(sl, ch), _multiply(cl, sh))[0]
        self.cos, self.sin = self.cos.reshape(-1)[:count], self.sin.reshape(-1)[:count]

    def __call__(self, k):
        """Cosines and sines for an array of integers."""
        eight = 8 * (k % self.n)
        octant = eight // self.n
        r = eight - octant * self.n
        at = np.where(octant & 1, self.n - r, r) // self.step
        c, s = self.cos[at], self.sin[at]
        swapped = ((octant + 1) & 2) != 0
        c, s = np.where(swapped, s, c), np.where(swapped, c, s)
        return np.where(((octant + 2) & 4) != 0, -c, c), np.where(octant & 4, -s, s)


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
