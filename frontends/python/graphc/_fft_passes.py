"""Passes of Fourier transforms over pairs (real parts, imaginary parts) of arrays.

Stockham's form: a pass of radix r reads x[b, j, p, q] and writes y[b, p, k, q] = w[k, p] * sum over j of
exp(-2 pi i j k / r) * x[b, j, p, q], so that after the last pass the frequencies are in order. A pass is one kernel.
"""

import math

from . import _complex, _fft_plan, _graphc
from ._creation import asarray as _asarray
from ._graphc import fma as _fma
from ._manipulation import stack as _stack

_HALF = math.sqrt(0.5)
_SIXTEENTH = _fft_plan.roots_of(16)(_fft_plan.np.arange(16))


def _add(x, y):
    return x[0] + y[0], x[1] + y[1]


def _subtract(x, y):
    return x[0] - y[0], x[1] - y[1]


def _minus_i(x):
    return x[1], -x[0]


def multiply(x, c, s):
    """x * (c + i s)."""
    return _fma(x[0], c, -(x[1] * s)), _fma(x[0], s, x[1] * c)


def _two(x):
    return [_add(x[0], x[1]), _subtract(x[0], x[1])]


def _four(x):
    even, odd = _two([x[0], x[2]]), _two([x[1], x[3]])
    (sr, si), (dr, di) = even[1], odd[1]
    return [_add(even[0], odd[0]), (sr + di, si - dr), _subtract(even[0], odd[0]), (sr - di, si + dr)]


def _eight(x):
    sums = [_add(x[i], x[i + 4]) for i in range(4)]
    (a, b, c, d) = [_subtract(x[i], x[i + 4]) for i in range(4)]
    b = (b[0] + b[1]) * _HALF, (b[1] - b[0]) * _HALF
    d = (d[1] - d[0]) * _HALF, (d[0] + d[1]) * -_HALF
    even, odd = _four(sums), _four([a, b, _minus_i(c), d])
    return [pair for both in zip(even, odd) for pair in both]


def _times_root(x, m):
    """x * exp(-2 pi i m / 16)."""
    if m == 0:
        return x
    if m == 4:
        return _minus_i(x)
    if m == 2:
        return (x[0] + x[1]) * _HALF, (x[1] - x[0]) * _HALF
    if m == 6:
        return (x[1] - x[0]) * _HALF, (x[0] + x[1]) * -_HALF
    return multiply(x, float(_SIXTEENTH[0][m]), -float(_SIXTEENTH[1][m]))


def _sixteen(x):
    columns = [_four([x[b + 4 * a] for a in range(4)]) for b in range(4)]
    rows = [_four([_times_root(columns[b][k], b * k) for b in range(4)]) for k in range(4)]
    return [rows[k % 4][k // 4] for k in range(16)]


def _odd(x):
    """An odd number of points: of each pair of mirrored points the sum meets cosines and the difference sines."""
    n, half = len(x), len(x) // 2
    cos, sin = _fft_plan.roots_of(n)(_fft_plan.np.arange(n))
    sums = [_add(x[j], x[n - j]) for j in range(1, half + 1)]
    differences = [_subtract(x[j], x[n - j]) for j in range(1, half + 1)]
    first = x[0]
    for s in sums:
        first = _add(first, s)
    out = [first] + [None] * (n - 1)
    for k in range(1, half + 1):
        (ar, ai), (br, bi) = x[0], (None, None)
        for j in range(1, half + 1):
            c, s = float(cos[j * k % n]), float(sin[j * k % n])
            (pr, pi), (mr, mi) = sums[j - 1], differences[j - 1]
            ar, ai = _fma(pr, c, ar), _fma(pi, c, ai)
            br, bi = (mr * s, mi * s) if br is None else (_fma(mr, s, br), _fma(mi, s, bi))
        out[k], out[n - k] = (ar + bi, ai - br), (ar - bi, ai + br)
    return out


_BUTTERFLIES = {2: _two, 4: _four, 8: _eight, 16: _sixteen} | dict.fromkeys(_fft_plan.ODD_RADICES, _odd)


def cost(radix, m):
    """About how many operations a pass records."""
    butterfly = {2: 4, 4: 16, 8: 60, 16: 168}.get(radix) or 6 * radix + (radix - 1) ** 2
    return butterfly + (5 * (radix - 1) if m > 1 else 0) + 3 * radix + 4


class Tables:
    """Arrays of a plan on each device that asked for them."""

    def __init__(self, dtype, *values):
        self.values = [v.astype(dtype) for v in values]
        self._arrays = {}
        self.bytes = sum(v.nbytes for v in self.values)

    def on(self, device):
        found = self._arrays.get(device)
        if found is None:
            found = [_asarray(v, device=device) for v in self.values]
            # What a trace makes belongs to it.
            if not _graphc.is_tracing():
                self._arrays[device] = found
        return found


def _factor(radix, m=1, s=1):
    """What the host's passes know of a factor."""
    order = 16 if radix == 16 else radix if radix % 2 else 0
    roots = _fft_plan.roots_of(order)(_fft_plan.np.arange(order)) if order else None
    return {"factor": (radix, m, s), "roots": roots}


class Ends:
    """How the first step of a transform takes its argument and the last one gives its result: as complex numbers or one
    real number instead of pairs, pairs exchanged for the other direction, scaled."""

    def __init__(self, pairs=False, inverse=False, scale=None):
        self.pairs, self.inverse, self.scale = pairs, inverse, scale

    def enter(self, values):
        re, im = values if self.pairs else _complex.parts(values[0])
        return (im, re) if self.inverse else (re, im)

    def leave(self, pair):
        re, im = pair[::-1] if self.inverse else pair
        if self.scale is not None:
            re, im = re * self.scale, im * self.scale
        return (re, im) if self.pairs else (_complex.of_parts(re, im),)


_PAIRS = Ends(pairs=True)


def _around(shape, axis):
    """Sizes before, on and after an axis that is counted from the end."""
    at = len(shape) + axis
    return math.prod(shape[:at]), shape[at], math.prod(shape[at + 1 :])


def _joined(pieces, shape, axis):
    """Pieces along axis 1, each a tuple of arrays, as arrays of `shape` with another size of `axis`."""
    wholes = [_graphc.concatenate(list(parts), 1) if len(parts) > 1 else parts[0] for parts in zip(*pieces)]
    shape = list(shape)
    shape[axis] = wholes[0].shape[1]
    return tuple(w.reshape(*shape) for w in wholes)


def _stacked(points, shape, axis):
    """The same of points, each a tuple of arrays of the sizes before and after the axis."""
    shape = list(shape)
    shape[axis] = len(points)
    return tuple(_stack(parts, axis=1).reshape(*shape) for parts in zip(*points))


class Step:
    """A part of a transform along one axis, counted from the end; `first` and `last` are its ends."""

    cost = 16
    tables = ()

    def __init__(self, axis):
        self.axis = axis
        self.first = self.last = _PAIRS

    def on_host(self, steps):
        """Adds what it does to the list of the host (record/SmallFourier.h), which does the same in the same order."""
        what = self._for_host()
        table = self.tables[0].values if self.tables else None
        steps.add(type(self).__name__, self.axis, self.first.inverse, self.last.inverse, self.last.scale, table, **what)

    def _for_host(self):
        return {}

    def _open(self, values):
        """The argument as (before, length, after)."""
        sizes = _around(values[0].shape, self.axis)
        return [v.reshape(*sizes) for v in values]


class Pass(Step):
    """One factor of the length. With `halves` the argument is real, its even elements real parts, its odd ones imaginary
    parts of half as many points."""

    def __init__(self, axis, radix, m, s, table, halves=False):
        super().__init__(axis)
        self.radix, self.m, self.s, self.halves = radix, m, s, halves
        self.tables = (table,) if table else ()
        self.cost = cost(radix, m)

    def _for_host(self):
        return _factor(self.radix, self.m, self.s) | {"halves": self.halves}

    def __call__(self, *values):
        shape = list(values[0].shape)
        if self.halves:
            x = self._open(values)[0]
            values = x[:, ::2], x[:, 1::2]
            shape[self.axis] //= 2
        batch, _, inner = _around(shape, self.axis)
        inputs = [v.reshape(batch, self.radix, self.m, self.s * inner) for v in values]
        points = [self.first.enter([v[:, j] for v in inputs]) for j in range(self.radix)]
        results = _BUTTERFLIES[self.radix](points)
        if self.tables:
            c, s = self.tables[0].on(values[0].device)
            for k in range(1, self.radix):
                factors = [w[k - 1].reshape(self.m, 1) for w in (c, s)]
                results[k] = multiply(results[k], *factors)
        results = [self.last.leave(pair) for pair in results]
        return tuple(_stack(parts, axis=2).reshape(*shape) for parts in zip(*results))


class Same(Step):
    """The transform of one point, or the last step of one whose other steps cannot end it: its first `length` results."""

    def __init__(self, axis, length=None):
        super().__init__(axis)
        self.length = length

    def _for_host(self):
        return {"length": self.length or 0}

    def __call__(self, *values):
        x = [v[:, : self.length] for v in self._open(values)]
        return _joined([self.last.leave(self.first.enter(x))], values[0].shape, self.axis)


class Chirp(Step):
    """Points times the chirp, zeros after them up to a length: the first step of a transform as a convolution."""

    def __init__(self, axis, length, table, halves=False):
        super().__init__(axis)
        self.length, self.tables, self.halves = length, (table,), halves

    def _for_host(self):
        return {"length": self.length, "halves": self.halves}

    def __call__(self, *values):
        x = self._open(values)
        if self.halves:
            x = x[0][:, ::2], x[0][:, 1::2]
        before, n, after = x[0].shape
        points = multiply(self.first.enter(x), *[w.reshape(n, 1) for w in self.tables[0].on(values[0].device)])
        zeros = _graphc.full((before, self.length - n, after), 0, points[0].dtype, values[0].device)
        return _joined([points, (zeros, zeros)], values[0].shape, self.axis)


class Convolve(Step):
    """Between the two transforms of a convolution; the second one is of exchanged pairs."""

    def __init__(self, axis, table):
        super().__init__(axis)
        self.tables = (table,)

    def __call__(self, *values):
        pair = self._open(values)
        table = self.tables[0].on(values[0].device)
        re, im = multiply(pair, *[w.reshape(pair[0].shape[1], 1) for w in table])
        return im.reshape(*values[0].shape), re.reshape(*values[0].shape)


class Unchirp(Step):
    """The end of a convolution: its first `length` points times the chirp."""

    def __init__(self, axis, length, table):
        super().__init__(axis)
        self.length, self.tables = length, (table,)

    def _for_host(self):
        return {"length": self.length}

    def __call__(self, *values):
        im, re = [v[:, : self.length] for v in self._open(values)]
        table = self.tables[0].on(values[0].device)
        pair = multiply((re, im), *[w.reshape(self.length, 1) for w in table])
        return _joined([self.last.leave(pair)], values[0].shape, self.axis)


def _unfolded(a, b, c, s):
    """The frequency k of real points: a and b are the frequencies k and n/2 - k of half as many pairs."""
    (ar, ai), (br, bi) = a, b
    odd = multiply((ai + bi, br - ar), c, s)
    return (ar + br + odd[0]) * 0.5, (ai - bi + odd[1]) * 0.5


def _folded(a, b, c, s):
    """The inverse of `_unfolded`, times two; an exchanged pair."""
    (ar, ai), (br, bi) = a, b
    mr, mi = multiply((ar - br, ai + bi), c, s)
    return ai - bi + mr, ar + br - mi


class Unfold(Step):
    """From the transform of half as many points to that of real ones (see Pass.halves); `whole`: to all frequencies, of which
    the second half are the conjugates of the first."""

    def __init__(self, axis, table, whole=False):
        super().__init__(axis)
        self.tables, self.whole = (table,), whole

    def _for_host(self):
        return {"whole": self.whole}

    def __call__(self, *values):
        re, im = self._open(values)
        half = re.shape[1]
        (r, i), zero = (re[:, :1], im[:, :1]), _graphc.full((re.shape[0], 1, re.shape[2]), 0, re.dtype, re.device)
        pieces = [(r + i, zero), (r - i, zero)]
        if half > 1:
            table = [w.reshape(half - 1, 1) for w in self.tables[0].on(re.device)]
            mean = _unfolded((re[:, 1:], im[:, 1:]), (re[:, :0:-1], im[:, :0:-1]), *table)
            pieces.insert(1, mean)
            if self.whole:
                pieces.append((mean[0][:, ::-1], -mean[1][:, ::-1]))
        return _joined([self.last.leave(p) for p in pieces], values[0].shape, self.axis)


class Fold(Step):
    """The inverse of Unfold, times the length: pairs, exchanged for the inverse transform that follows. Imaginary parts of
    the first and the last frequency do not count."""

    def __init__(self, axis, half, table):
        super().__init__(axis)
        self.half, self.tables = half, (table,)

    def __call__(self, *values):
        x, half = self._open(values), self.half
        ends = [self.first.enter([v[:, k : k + 1] for v in x])[0] for k in (0, half)]
        pieces = [(ends[0] - ends[1], ends[0] + ends[1])]
        if half > 1:
            a, b = [self.first.enter([v[:, k] for v in x]) for k in (slice(1, half), slice(half - 1, 0, -1))]
            pieces.append(_folded(a, b, *[w.reshape(half - 1, 1) for w in self.tables[0].on(x[0].device)]))
        return _joined(pieces, values[0].shape, self.axis)


class Weave(Step):
    """Exchanged pairs as twice as many real numbers."""

    def __call__(self, *values):
        im, re = self._open(values)
        if self.last.scale is not None:
            re, im = re * self.last.scale, im * self.last.scale
        before, half, after = re.shape
        both = _stack([re, im], axis=2).reshape(before, 2 * half, after)
        return _joined([(both,)], values[0].shape, self.axis)


class RealButterfly(Step):
    """A whole transform of real points whose half is one factor: as a kernel of one piece, where Unfold would be a few
    operations on each of few pieces."""

    halves = True

    def __init__(self, axis, half, roots, whole=False):
        super().__init__(axis)
        self.half, self.whole = half, whole
        self.roots = [[float(v) for v in w] for w in roots]
        self.cost = cost(half, 1) + 12 * half

    def on_host(self, steps):
        cosine, sine = self.roots
        steps.add("Pass", self.axis, False, False, None, halves=True, **_factor(self.half))
        steps.add("Unfold", self.axis, False, self.last.inverse, self.last.scale, (cosine, [-v for v in sine]), whole=self.whole)

    def __call__(self, *values):
        x, half = self._open(values)[0], self.half
        z = _BUTTERFLIES[half]([(x[:, 2 * j], x[:, 2 * j + 1]) for j in range(half)])
        (r, i), zero = z[0], _graphc.full((x.shape[0], x.shape[2]), 0, x.dtype, x.device)
        middle = [_unfolded(z[k], z[half - k], self.roots[0][k - 1], -self.roots[1][k - 1]) for k in range(1, half)]
        results = [(r + i, zero), *middle, (r - i, zero)]
        if self.whole:
            results += [(re, -im) for re, im in middle[::-1]]
        return _stacked([self.last.leave(pair) for pair in results], values[0].shape, self.axis)


class ToRealButterfly(Step):
    """The inverse of RealButterfly."""

    def __init__(self, axis, half, roots):
        super().__init__(axis)
        self.half = half
        self.roots = [[float(v) for v in w] for w in roots]
        self.cost = cost(half, 1) + 12 * half

    def on_host(self, steps):
        steps.add("Fold", self.axis, self.first.inverse, False, None, self.roots)
        steps.add("Pass", self.axis, False, False, None, **_factor(self.half))
        steps.add("Weave", self.axis, False, self.last.inverse, self.last.scale)

    def __call__(self, *values):
        x, half = self._open(values), self.half
        z = [self.first.enter([v[:, k] for v in x]) for k in range(half + 1)]
        ends = z[0][0], z[half][0]
        points = [(ends[0] - ends[1], ends[0] + ends[1])]
        points += [_folded(z[k], z[half - k], self.roots[0][k - 1], self.roots[1][k - 1]) for k in range(1, half)]
        parts = [part for im, re in _BUTTERFLIES[half](points) for part in (re, im)]
        if self.last.scale is not None:
            parts = [part * self.last.scale for part in parts]
        return _stacked([(part,) for part in parts], values[0].shape, self.axis)


class Mirror(Step):
    """All `length` frequencies of an odd number of real points from the first half; exchanged pairs."""

    def __init__(self, axis, length):
        super().__init__(axis)
        self.length = length

    def _for_host(self):
        return {"length": self.length}

    def __call__(self, *values):
        x, half = self._open(values), self.length // 2
        first = self.first.enter([v[:, :1] for v in x])[0]
        pieces = [(first * 0, first)]
        if half:
            re, im = self.first.enter([v[:, 1 : half + 1] for v in x])
            back = self.first.enter([v[:, half:0:-1] for v in x])
            pieces += [(im, re), (-back[1], back[0])]
        return _joined(pieces, values[0].shape, self.axis)


class Real(Step):
    """Real parts of exchanged pairs."""

    def __call__(self, *values):
        re = values[1]
        # Of one point it would be a view of the argument.
        return (re.copy() if self.last.scale is None else re * self.last.scale,)
