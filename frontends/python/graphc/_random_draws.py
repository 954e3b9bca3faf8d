"""The distributions: formulas over uniform bits, and the few ops that repeat attempts (docs/random.md). What draws is a
source of streams: a Generator, which moves on, or a Key, which does not."""

from __future__ import annotations

import builtins as _py
import math as _math
import operator as _operator

import numpy as _np

from . import _graphc
from . import _random_choice as _choice
from ._creation import _shape, asarray, full
from ._dtypes import as_dtype, bool_, float32, float64, int64, uint64
from ._manipulation import broadcast_shapes, broadcast_to, stack, where
from ._random_integers import bounded, limits
from .errors import ArgumentError, DTypeError, ShapeError

_Array = _graphc.Array
_ATTEMPTS = 64  # streams of an op that repeats attempts
_TINY = 2.0**-52
_WHOLE = 2**53  # integers below are floats
_UNIT, _OPEN = 0, 1  # kinds of _graphc.draw


class Parameter:
    """One parameter of a draw: `value` is a number, or a float64 Array; `host` is what is known without computing."""

    __slots__ = ("value", "host", "shape")

    def __init__(self, name, given):
        if type(given) is float or (type(given) is int and -_WHOLE < given < _WHOLE):
            self.value = self.host = float(given)
            self.shape = ()
            return
        if _graphc.is_array(given):
            self.value, self.host, self.shape = given.astype(float64, copy=False), None, given.shape
            return
        host = _np.asarray(given)
        if host.dtype.kind not in "biuf":
            raise DTypeError(f"{name} must be real numbers, not {host.dtype}")
        self.host, self.shape = host.astype(_np.float64), host.shape
        self.value = float(self.host) if host.ndim == 0 else asarray(self.host)

    def all(self, test):
        """Whether `test` holds for every value; None when that would need a computation."""
        if type(self.host) is float:
            return bool(test(self.host))
        return None if self.host is None else bool(_np.all(test(self.host)))


def _device_of(*objects):
    for x in objects:
        if _graphc.is_array(x):
            return x.device
    return None


def _box_muller(first, second):
    return _graphc.sqrt(_graphc.log(first) * -2.0) * _graphc.cos(second * (2 * _math.pi))


# What streams give that are equally far apart, a row each (Ahead), or, where the step is 0, what one does. None where it has
# to be recorded.


def _units(shape, key, first, step):
    return _graphc.draw(_UNIT, shape, first, key, step)


def _normals(shape, key, first, step):
    drawn = _graphc.draw(_OPEN, shape, first, key, step)
    return None if drawn is None else _box_muller(drawn, _graphc.draw(_UNIT, shape, first + 1, key, step))


def _exponentials(shape, key, first, step):
    drawn = _graphc.draw(_OPEN, shape, first, key, step)
    return None if drawn is None else -_graphc.log(drawn)


def _number(given):
    """A parameter that is a single number as Parameter.value has it; None for others."""
    if type(given) is float:
        return given
    if type(given) is int:
        return float(given) if -_WHOLE < given < _WHOLE else None
    return given if _graphc.is_array(given) and given.ndim == 0 and given.dtype is float64 else None


def _scale(given):
    """The same of one that is not negative."""
    value = _number(given)
    return value if type(value) is not float or value > 0 else None


class Draws:
    """Distributions with NumPy's signatures. `size` is a shape, or None for the shape of the parameters; results are
    Arrays (0-d for scalars), recorded and computed like any other."""

    __slots__ = ()

    def _take(self, count, device=None):
        raise NotImplementedError

    def _ahead(self, kind, size, count, make, parameters=None):
        """The next draw of a kind, of `count` streams, where it is known already; else None, and nothing was taken."""
        return None

    # -- uniform bits --------------------------------------------------------------------------------------------

    def _index(self, shape, streams):
        count = _math.prod(shape)
        return _graphc.reshape(_graphc.iota(count, uint64, streams.device), shape)

    def _bits(self, shape, streams, number=0, op="philox64"):
        return _graphc.random(op, self._index(shape, streams), streams[number], streams.key)

    def _unit(self, shape, streams, number=0, dtype=float64):
        """Uniform in [0, 1), a multiple of 2**-53 or 2**-24."""
        drawn = streams.drawn(_UNIT, shape, number, dtype)
        if drawn is not None:
            return drawn
        if dtype == float32:
            word = self._bits(shape, streams, number, "philox32").astype(_np.uint32)
            return _graphc.shift_right(word, 8).astype(_np.int32).astype(float32) * 2.0**-24
        return _graphc.shift_right(self._bits(shape, streams, number), 11).astype(int64).astype(float64) * 2.0**-53

    def _open(self, shape, streams, number=0, dtype=float64):
        """Uniform in (0, 1); float32 may round to 1."""
        drawn = streams.drawn(_OPEN, shape, number, dtype)
        if drawn is not None:
            return drawn
        if dtype == float32:
            word = self._bits(shape, streams, number, "philox32").astype(_np.uint32)
            return (word.astype(float32) + 0.5) * 2.0**-32
        whole = _graphc.shift_right(self._bits(shape, streams, number), 12).astype(int64)
        return (whole.astype(float64) + 0.5) * _TINY

    def _normal(self, shape, streams, number=0, dtype=float64):
        """Box and Muller: the streams `number` and `number + 1`."""
        return _box_muller(self._open(shape, streams, number, dtype), self._unit(shape, streams, number + 1, dtype))

    def _exponential(self, shape, streams, number=0, dtype=float64):
        return -_graphc.log(self._open(shape, streams, number, dtype))

    def _attempts(self, op, shape, streams, number, *parameters):
        given = [_graphc.asarray(p, float64, streams.device, None) for p in parameters]
        return _graphc.random(op, self._index(shape, streams), streams[number], streams.key, *given)

    def _attempts_ahead(self, op, size, count, *parameters):
        """The next draw of an op that repeats attempts, where parameters are numbers that do not change; else None."""
        if not _py.all(type(p) in (int, float) and 0 < p < _WHOLE for p in parameters):
            return None

        def make(shape, key, first, step):
            index = _graphc.reshape(_graphc.iota(_math.prod(shape[1:]), uint64, None), (1, *shape[1:]) if shape[1:] else (1,))
            rows = first + step * _np.arange(shape[0], dtype=_np.uint64).reshape((-1,) + (1,) * len(shape[1:]))
            given = [_graphc.asarray(float(p), float64, None, None) for p in parameters]
            drawn = _graphc.random(op, index, _graphc.asarray(rows, None, None, None), _graphc.random_word(key, None), *given)
            return drawn if op == "random_gamma" else drawn.astype(int64)

        return self._ahead(op, size, count, make, parameters)

    # -- shapes, parameters, results -------------------------------------------------------------------------------

    def _start(self, size, count, *parameters, out=None):
        """(shape, streams) of a draw."""
        shape = broadcast_shapes(*[p.shape for p in parameters]) if parameters else ()
        if size is not None:
            size = _shape(size)
            if parameters and _compatible(shape, size) is False:
                raise ShapeError(
                    f"Output size {size} is not compatible with broadcast dimensions of inputs {shape}."
                )
            shape = size
        if out is not None:
            if not _graphc.is_array(out):
                raise DTypeError(f"out must be a graphc Array, not {type(out).__name__}")
            if size is not None and out.shape != shape:
                raise ShapeError(f"size must match out.shape when used together: {shape} and {out.shape}")
            shape = out.shape
        device = _device_of(out, *[p.value for p in parameters])
        return shape, self._take(count, device)

    def _finish(self, result, out, dtype):
        if out is None:
            return result
        if out.dtype != dtype:
            raise DTypeError(f"Supplied output array has the wrong type. Expected {dtype}, got {out.dtype}")
        out[...] = result
        return out

    # -- uniform, normal, exponential --------------------------------------------------------------------------------

    def random(self, size=None, dtype=float64, out=None):
        """Uniform in [0, 1), float64 or float32."""
        if out is None and dtype is float64:
            value = self._ahead("unit", size, 1, _units)
            if value is not None:
                return value
        dtype = _float_dtype(dtype, "random")
        shape, streams = self._start(size, 1, out=out)
        return self._finish(self._unit(shape, streams, 0, dtype), out, dtype)

    def uniform(self, low=0.0, high=1.0, size=None):
        """Uniform in [low, high)."""
        first, last = _number(low), _number(high)
        if type(first) is type(last) is float and _math.isfinite(last - first):
            value = self._ahead("unit", size, 1, _units)
            if value is not None:
                return value if first == 0.0 and last == 1.0 else value * (last - first) + first
        low, high = Parameter("low", low), Parameter("high", high)
        if low.host is not None and high.host is not None and not _np.all(_np.isfinite(high.host - low.host)):
            raise _overflow("high - low range exceeds valid bounds")
        shape, streams = self._start(size, 1, low, high)
        return self._unit(shape, streams) * (high.value - low.value) + low.value

    def standard_normal(self, size=None, dtype=float64, out=None):
        """Normal with mean 0 and deviation 1, float64 or float32."""
        if out is None and dtype is float64:
            value = self._ahead("normal", size, 2, _normals)
            if value is not None:
                return value
        dtype = _float_dtype(dtype, "standard_normal")
        shape, streams = self._start(size, 2, out=out)
        return self._finish(self._normal(shape, streams, 0, dtype), out, dtype)

    def normal(self, loc=0.0, scale=1.0, size=None):
        """Normal with a mean and a deviation. Raises ArgumentError for a negative deviation."""
        if (mean := _number(loc)) is not None and (deviation := _scale(scale)) is not None:
            value = self._ahead("normal", size, 2, _normals)
            if value is not None:
                is_standard = type(mean) is type(deviation) is float and mean == 0.0 and deviation == 1.0
                return value if is_standard else value * deviation + mean  # a draw is never -0
        loc, scale = Parameter("loc", loc), _positive("scale", scale, zero=True)
        shape, streams = self._start(size, 2, loc, scale)
        return self._normal(shape, streams) * scale.value + loc.value

    def lognormal(self, mean=0.0, sigma=1.0, size=None):
        """The exponential of a normal draw."""
        mean, sigma = Parameter("mean", mean), _positive("sigma", sigma, zero=True)
        shape, streams = self._start(size, 2, mean, sigma)
        return _graphc.exp(self._normal(shape, streams) * sigma.value + mean.value)

    def standard_exponential(self, size=None, dtype=float64, method="zig", out=None):
        """Exponential with mean 1, float64 or float32; by inversion whatever the method."""
        if method not in ("zig", "inv"):
            raise ArgumentError(f"standard_exponential: method is 'zig' or 'inv', not {method!r}")
        dtype = _float_dtype(dtype, "standard_exponential")
        shape, streams = self._start(size, 1, out=out)
        return self._finish(self._exponential(shape, streams, 0, dtype), out, dtype)

    def exponential(self, scale=1.0, size=None):
        """Exponential with a mean."""
        if (mean := _scale(scale)) is not None:
            value = self._ahead("exponential", size, 1, _exponentials)
            if value is not None:
                return value * mean
        scale = _positive("scale", scale, zero=True)
        shape, streams = self._start(size, 1, scale)
        return self._exponential(shape, streams) * scale.value

    def laplace(self, loc=0.0, scale=1.0, size=None):
        """Double exponential."""
        loc, scale = Parameter("loc", loc), _positive("scale", scale, zero=True)
        shape, streams = self._start(size, 1, loc, scale)
        u = self._open(shape, streams)
        below = u < 0.5
        size_ = -_graphc.log(where(below, u, 1.0 - u) * 2.0)
        return where(below, -size_, size_) * scale.value + loc.value

    def logistic(self, loc=0.0, scale=1.0, size=None):
        """Logistic."""
        loc, scale = Parameter("loc", loc), _positive("scale", scale, zero=True)
        shape, streams = self._start(size, 1, loc, scale)
        u = self._open(shape, streams)
        return (_graphc.log(u) - _graphc.log1p(-u)) * scale.value + loc.value

    def gumbel(self, loc=0.0, scale=1.0, size=None):
        """Gumbel: the extreme value distribution of type I."""
        loc, scale = Parameter("loc", loc), _positive("scale", scale, zero=True)
        shape, streams = self._start(size, 1, loc, scale)
        return loc.value - _graphc.log(self._exponential(shape, streams)) * scale.value

    def rayleigh(self, scale=1.0, size=None):
        """Rayleigh."""
        scale = _positive("scale", scale, zero=True)
        shape, streams = self._start(size, 1, scale)
        return _graphc.sqrt(self._exponential(shape, streams) * 2.0) * scale.value

    def weibull(self, a, size=None):
        """Weibull with scale 1."""
        a = _positive("a", a, zero=True)
        shape, streams = self._start(size, 1, a)
        drawn = _graphc.exp(_graphc.log(self._exponential(shape, streams)) / a.value)
        return where(_graphc.equal(a.value, 0.0), 0.0, drawn)

    def pareto(self, a, size=None):
        """Pareto II (Lomax)."""
        a = _positive("a", a)
        shape, streams = self._start(size, 1, a)
        return _graphc.expm1(self._exponential(shape, streams) / a.value)

    def power(self, a, size=None):
        """The power distribution a x**(a - 1) on [0, 1]."""
        a = _positive("a", a)
        shape, streams = self._start(size, 1, a)
        return _graphc.exp(self._exponential(shape, streams) / -a.value)

    def standard_cauchy(self, size=None):
        """Cauchy with mode 0."""
        shape, streams = self._start(size, 1)
        return _graphc.tan((self._open(shape, streams) - 0.5) * _math.pi)

    def triangular(self, left, mode, right, size=None):
        """Triangular on [left, right] with a mode. Raises ArgumentError unless left <= mode <= right, left < right."""
        left, mode, right = Parameter("left", left), Parameter("mode", mode), Parameter("right", right)
        if all(p.host is not None for p in (left, mode, right)):
            if _np.any(left.host > mode.host):
                raise ArgumentError("left > mode")
            if _np.any(mode.host > right.host):
                raise ArgumentError("mode > right")
            if _np.any(left.host == right.host):
                raise ArgumentError("left == right")
        shape, streams = self._start(size, 1, left, mode, right)
        u = self._unit(shape, streams)
        low, peak, high = left.value, mode.value, right.value
        rising = _graphc.sqrt(u * ((high - low) * (peak - low))) + low
        falling = high - _graphc.sqrt((1.0 - u) * ((high - low) * (high - peak)))
        return where(u * (high - low) <= peak - low, rising, falling)

    # -- gamma and what follows from it ------------------------------------------------------------------------------

    def _gamma_parts(self, shape, streams, number, a):
        """(g, e): a standard gamma draw of shape a is g * exp(-e); e is None when it is 0. Uses 65 streams."""
        if a.all(lambda v: v >= 1):
            return self._attempts("random_gamma", shape, streams, number, a.value), None
        below = _graphc.less(a.value, 1.0)
        raised = where(below, a.value + 1.0, a.value)
        drawn = self._attempts("random_gamma", shape, streams, number, raised)
        e = self._exponential(shape, streams, number + _ATTEMPTS) / a.value
        return drawn, where(below, e, 0.0)

    def _gamma(self, shape, streams, number, a):
        drawn, e = self._gamma_parts(shape, streams, number, a)
        return drawn if e is None else drawn * _graphc.exp(-e)

    def _log_gamma(self, shape, streams, number, a):
        drawn, e = self._gamma_parts(shape, streams, number, a)
        drawn = _graphc.log(drawn)
        return drawn if e is None else drawn - e

    def standard_gamma(self, shape, size=None, dtype=float64, out=None):
        """Gamma with scale 1, float64 or float32. Raises ArgumentError for a negative shape."""
        dtype = _float_dtype(dtype, "standard_gamma")
        a = _positive("shape", shape, zero=True)
        dims, streams = self._start(size, _ATTEMPTS + 1, a, out=out)
        return self._finish(self._gamma(dims, streams, 0, a).astype(dtype, copy=False), out, dtype)

    def gamma(self, shape, scale=1.0, size=None):
        """Gamma with a shape and a scale."""
        if type(shape) in (int, float) and shape >= 1 and (factor := _scale(scale)) is not None:
            value = self._attempts_ahead("random_gamma", size, _ATTEMPTS + 1, shape)
            if value is not None:
                return value * factor
        a, scale = _positive("shape", shape, zero=True), _positive("scale", scale, zero=True)
        dims, streams = self._start(size, _ATTEMPTS + 1, a, scale)
        return self._gamma(dims, streams, 0, a) * scale.value

    def beta(self, a, b, size=None):
        """Beta on [0, 1]."""
        a, b = _positive("a", a), _positive("b", b)
        shape, streams = self._start(size, 2 * (_ATTEMPTS + 1), a, b)
        x = self._log_gamma(shape, streams, 0, a)
        y = self._log_gamma(shape, streams, _ATTEMPTS + 1, b)
        return 1.0 / (1.0 + _graphc.exp(y - x))

    def _chisquare(self, shape, streams, number, df):
        return self._gamma(shape, streams, number, _halved(df)) * 2.0

    def chisquare(self, df, size=None):
        """Chi-square with df degrees of freedom."""
        df = _positive("df", df)
        shape, streams = self._start(size, _ATTEMPTS + 1, df)
        return self._chisquare(shape, streams, 0, df)

    def _noncentral(self, shape, streams, number, df, nonc):
        """Uses 130 streams."""
        more = self._attempts("random_poisson", shape, streams, number, nonc.value * 0.5)
        a = Parameter("df", more + df.value * 0.5)
        return self._gamma(shape, streams, number + _ATTEMPTS, a) * 2.0

    def noncentral_chisquare(self, df, nonc, size=None):
        """Chi-square with df degrees of freedom and a noncentrality."""
        df, nonc = _positive("df", df), _positive("nonc", nonc, zero=True)
        shape, streams = self._start(size, 2 * _ATTEMPTS + 2, df, nonc)
        return self._noncentral(shape, streams, 0, df, nonc)

    def f(self, dfnum, dfden, size=None):
        """Fisher's F."""
        dfnum, dfden = _positive("dfnum", dfnum), _positive("dfden", dfden)
        shape, streams = self._start(size, 2 * (_ATTEMPTS + 1), dfnum, dfden)
        upper = self._chisquare(shape, streams, 0, dfnum) * dfden.value
        return upper / (self._chisquare(shape, streams, _ATTEMPTS + 1, dfden) * dfnum.value)

    def noncentral_f(self, dfnum, dfden, nonc, size=None):
        """Noncentral F."""
        dfnum, dfden, nonc = _positive("dfnum", dfnum), _positive("dfden", dfden), _positive("nonc", nonc, zero=True)
        shape, streams = self._start(size, 3 * _ATTEMPTS + 3, dfnum, dfden, nonc)
        upper = self._noncentral(shape, streams, 0, dfnum, nonc) * dfden.value
        return upper / (self._chisquare(shape, streams, 2 * _ATTEMPTS + 2, dfden) * dfnum.value)

    def standard_t(self, df, size=None):
        """Student's t."""
        df = _positive("df", df)
        shape, streams = self._start(size, _ATTEMPTS + 3, df)
        half = _halved(df)
        deviation = self._gamma(shape, streams, 0, half) / half.value
        return self._normal(shape, streams, _ATTEMPTS + 1) / _graphc.sqrt(deviation)

    def dirichlet(self, alpha, size=None):
        """Dirichlet; `alpha` is a vector, which the last axis of the result runs over."""
        alpha = _positive("alpha", alpha, zero=True)
        if len(alpha.shape) != 1:
            raise ShapeError(f"alpha must be a one-dimensional array, not of shape {alpha.shape}")
        size = () if size is None else _shape(size)
        shape, streams = self._start((*size, *alpha.shape), _ATTEMPTS + 1, alpha)
        logs = self._log_gamma(shape, streams, 0, alpha)
        weights = _graphc.exp(logs - _graphc.reduce("max", logs, (len(size),), True))
        return weights / _graphc.reduce("sum", weights, (len(size),), True)

    def wald(self, mean, scale, size=None):
        """Inverse Gaussian (Michael, Schucany and Haas)."""
        mean, scale = _positive("mean", mean), _positive("scale", scale)
        shape, streams = self._start(size, 3, mean, scale)
        mu, lam = mean.value, scale.value
        y = _graphc.square(self._normal(shape, streams)) * mu
        # mu + mu / (2 lam) * (y - sqrt(4 lam y + y^2)), without the cancellation
        x = mu - y * (2.0 * mu) / (y + _graphc.sqrt(y * (4.0 * lam) + y * y))
        x = where(_graphc.equal(y, 0.0), mu, x)
        return where(self._unit(shape, streams, 2) * (x + mu) <= mu, x, mu * mu / x)

    def vonmises(self, mu, kappa, size=None):
        """Von Mises on the circle, in [-pi, pi]."""
        mu, kappa = Parameter("mu", mu), _positive("kappa", kappa, zero=True)
        shape, streams = self._start(size, _ATTEMPTS + 1, mu, kappa)
        angle = self._attempts("random_von_mises", shape, streams, 0, kappa.value) + mu.value
        turn = 2 * _math.pi
        return angle - _graphc.round(angle / turn) * turn

    # -- counts ------------------------------------------------------------------------------------------------------

    def poisson(self, lam=1.0, size=None):
        """Poisson counts, int64."""
        value = self._attempts_ahead("random_poisson", size, _ATTEMPTS, lam)
        if value is not None:
            return value
        lam = Parameter("lam", lam)
        if lam.all(lambda v: v >= 0) is False:
            raise ArgumentError("lam < 0 or lam is NaN")
        if lam.all(lambda v: v <= 9.2233720064847708e18) is False:
            raise ArgumentError("lam value too large")
        shape, streams = self._start(size, _ATTEMPTS, lam)
        return self._attempts("random_poisson", shape, streams, 0, lam.value).astype(int64)

    def binomial(self, n, p, size=None):
        """Successes in n trials, int64."""
        value = self._attempts_ahead("random_binomial", size, _ATTEMPTS, n, p) if type(n) is int and type(p) is float and p <= 1 else None
        if value is not None:
            return value
        n, p = _whole("n", n), _probability("p", p)
        shape, streams = self._start(size, _ATTEMPTS, n, p)
        return self._attempts("random_binomial", shape, streams, 0, n.value, p.value).astype(int64)

    def negative_binomial(self, n, p, size=None):
        """Failures before n successes, int64; n may be any positive number."""
        n, p = _positive("n", n), _probability("p", p, zero=False)
        shape, streams = self._start(size, 2 * _ATTEMPTS + 1, n, p)
        mean = self._gamma(shape, streams, 0, n) * ((1.0 - p.value) / p.value)
        return self._attempts("random_poisson", shape, streams, _ATTEMPTS + 1, mean).astype(int64)

    def geometric(self, p, size=None):
        """Trials up to the first success, int64."""
        p = _probability("p", p, zero=False)
        shape, streams = self._start(size, 1, p)
        rate = _math.log1p(-p.value) if isinstance(p.value, float) and p.value < 1 else None
        rate = -_math.inf if rate is None and isinstance(p.value, float) else rate
        rate = _graphc.log1p(-p.value) if rate is None else rate
        trials = _graphc.ceil(self._exponential(shape, streams) / -rate)
        return _graphc.maximum(trials, 1.0).astype(int64)

    def logseries(self, p, size=None):
        """Logarithmic series counts, int64 (Kemp)."""
        p = _probability("p", p)
        if p.all(lambda v: v < 1) is False:
            raise ArgumentError("p < 0, p >= 1 or p is NaN")
        shape, streams = self._start(size, 2, p)
        rate = _graphc.log1p(asarray(-p.value))
        q = -_graphc.expm1(self._open(shape, streams) * rate)
        v = self._open(shape, streams, 1)
        many = _graphc.floor(1.0 + _graphc.log(v) / _graphc.log(q))
        found = where(v <= q * q, many, where(v >= q, 1.0, 2.0))
        return where(v >= p.value, 1.0, found).astype(int64)

    def multinomial(self, n, pvals, size=None):
        """Counts of n trials over the categories of `pvals`, int64; the last axis of the result runs over them."""
        n, pvals = _whole("n", n), _probability("pvals", pvals)
        if not pvals.shape:
            raise ShapeError("pvals must have at least 1 dimension")
        sums = None if pvals.host is None else pvals.host[..., :-1].sum(-1)
        if sums is not None and _np.any(sums > 1.0 + 1e-12):
            raise ArgumentError("sum(pvals[:-1]) > 1.0")
        kinds = pvals.shape[-1]
        outer = broadcast_shapes(n.shape, pvals.shape[:-1])
        if size is not None:
            size = _shape(size)
            if _compatible(outer, size) is False:
                raise ShapeError(f"Output size {size} is not compatible with broadcast dimensions of inputs {outer}.")
            outer = size
        device = _device_of(n.value, pvals.value)
        streams = self._take(_ATTEMPTS * kinds, device)
        left = broadcast_to(_graphc.asarray(n.value, float64, streams.device, None), outer)
        rest, counts = 1.0, []
        for i in range(kinds - 1):
            own = pvals.value[..., i]
            share = _graphc.clip(where(rest > 0.0, own / rest, 1.0), 0.0, 1.0)
            count = self._attempts("random_binomial", outer, streams, _ATTEMPTS * i, left, share)
            counts.append(count)
            left, rest = left - count, rest - own
        return stack([*counts, left], axis=-1).astype(int64)

    # -- integers ----------------------------------------------------------------------------------------------------

    def integers(self, low, high=None, size=None, dtype=int64, endpoint=False):
        """Uniform integers in [low, high), or [low, high] with endpoint; in [0, low) when `high` is None. Raises
        ArgumentError for an empty range or one that the dtype does not hold."""
        if high is None:
            low, high = 0, low
        if dtype is int64 and type(low) is type(high) is int and not endpoint:
            value = self._few_integers(low, high - 1 - low, size)
            if value is not None:
                return value
        dtype = as_dtype(dtype)
        if dtype.kind not in "biu":
            raise DTypeError(f"Unsupported dtype {dtype} for integers")
        low, high, shape = limits(low, high, dtype, endpoint)
        if size is not None:
            size = _shape(size)
            if _compatible(shape, size) is False:
                raise ShapeError(f"Output size {size} is not compatible with broadcast dimensions of inputs {shape}.")
            shape = size
        streams = self._take(2, _device_of(low, high))
        if dtype == int64 and type(low) is int and streams.host is not None:
            drawn = _graphc.draw_integers(low, high - low, shape, streams.first, streams.host)
            if drawn is not None:
                return drawn
        upper, lower = self._bits(shape, streams, 0), self._bits(shape, streams, 1)
        return bounded(upper, lower, low, high, dtype)

    def _few_integers(self, low, last, size):
        if not (-(1 << 63) <= low and 0 <= last and low + last < 1 << 63):
            return None

        def make(shape, key, first, step):
            return _graphc.draw_integers(low, last, shape, first, key, step)

        return self._ahead(("integers", low, last), size, 2, make)

    def bytes(self, length):
        """`length` random bytes; this computes."""
        return _np.asarray(self.integers(0, 256, _operator.index(length), _np.uint8)).tobytes()

    def choice(self, a, size=None, replace=True, p=None, axis=0, shuffle=True):
        """Elements of `a` along an axis (of range(a) for an integer), all equally probable or with probabilities `p`, with
        or without replacement; the order is random whether `shuffle` asks for it or not."""
        return _choice.choice(self, a, size, replace, p, axis, shuffle)

    def permutation(self, x, axis=0):
        """range(x) in random order for an integer; else a copy of `x` with its slices along an axis in random order."""
        return _choice.permutation(self, x, axis)

    def permuted(self, x, axis=None, out=None):
        """A copy of `x` with each line along an axis in an order of its own; all elements when `axis` is None."""
        return _choice.permuted(self, x, axis, out)

    def multivariate_normal(self, mean, cov, size=None, check_valid="warn", tol=1e-8, *, method="svd"):
        """Normal vectors with a mean and a covariance matrix, factored by method "svd", "eigh" or "cholesky"; the last
        axis of the result runs over the vector. The factor is computed at once."""
        return _choice.multivariate_normal(self, mean, cov, size, check_valid, tol, method)


def _float_dtype(dtype, name):
    dtype = as_dtype(dtype)
    if dtype not in (float32, float64):
        raise DTypeError(f"Unsupported dtype dtype('{dtype}') for {name}")
    return dtype


def _overflow(text):
    class _Overflow(ArgumentError, OverflowError):
        pass

    return _Overflow(text)


def _compatible(shape, size):
    """Whether `shape` broadcasts to `size`."""
    if len(shape) > len(size):
        return False
    return all(a in (1, b) for a, b in zip(shape[::-1], size[::-1]))


def _positive(name, given, zero=False):
    parameter = Parameter(name, given)
    host = parameter.host
    if type(host) is float:
        if host <= 0 and not zero or host < 0 or (host == 0 and _math.copysign(1.0, host) < 0):
            raise ArgumentError(f"{name} {'<' if zero else '<='} 0")
    elif zero:
        if parameter.all(lambda v: ~(_np.signbit(v) & ~_np.isnan(v))) is False:
            raise ArgumentError(f"{name} < 0")
    elif parameter.all(lambda v: ~(v <= 0)) is False:
        raise ArgumentError(f"{name} <= 0")
    return parameter


def _probability(name, given, zero=True):
    parameter = Parameter(name, given)
    if parameter.all(lambda v: ((v >= 0) if zero else (v > 0)) & (v <= 1)) is False:
        raise ArgumentError(f"{name} {'<' if zero else '<='} 0, {name} > 1 or {name} is NaN")
    return parameter


def _whole(name, given):
    parameter = Parameter(name, given)
    if parameter.all(lambda v: v >= 0) is False:
        raise ArgumentError(f"{name} < 0")
    if parameter.host is not None:
        if _np.asarray(given).dtype.kind == "f" and _np.any(parameter.host != _np.trunc(parameter.host)):
            raise DTypeError(f"Cannot cast {name} from float64 to int64 according to the rule 'safe'")
        return parameter
    parameter.value = _graphc.trunc(parameter.value)
    return parameter


def _halved(parameter):
    half = Parameter("half", 1.0)
    half.value, half.shape = parameter.value * 0.5, parameter.shape
    half.host = None if parameter.host is None else parameter.host * 0.5
    return half
