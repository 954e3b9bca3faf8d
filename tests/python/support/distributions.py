"""What each distribution of graphc.random must be: densities and probabilities written from their definitions, and the
two tests that draws are put to. No function here shares anything with how graphc draws."""

import dataclasses
import math

import numpy as np

_lgamma = np.vectorize(math.lgamma, otypes=[float])


@dataclasses.dataclass(frozen=True)
class Continuous:
    """A density over (low, high); `grid` maps evenly spaced points of (0, 1) into it where the density is steep."""

    name: str
    draw: object  # (rng, count) -> Array
    density: object
    low: float
    high: float
    warp: object = None

    def table(self, points=400_001):
        """(x, distribution function, mean, variance, fourth central moment) by the midpoint rule."""
        t = np.linspace(0, 1, points)
        warp = self.warp or (lambda t: t)
        x = self.low + (self.high - self.low) * warp(t)
        middle = (x[1:] + x[:-1]) / 2
        with np.errstate(all="ignore"):
            mass = np.nan_to_num(self.density(middle) * np.diff(x), posinf=0)
        cumulative = np.concatenate([[0], np.cumsum(mass)])
        assert abs(cumulative[-1] - 1) < 2e-4, (self.name, cumulative[-1])
        mass, cumulative = mass / cumulative[-1], cumulative / cumulative[-1]
        mean = float(np.sum(mass * middle))
        return x, cumulative, mean, *(float(np.sum(mass * (middle - mean) ** k)) for k in (2, 4))


@dataclasses.dataclass(frozen=True)
class Discrete:
    """Probabilities of low, low + 1, ... as far as they matter."""

    name: str
    draw: object
    low: int
    probabilities: np.ndarray


def _log_choose(n, k):
    return math.lgamma(n + 1) - _lgamma(k + 1) - _lgamma(n - k + 1)


def _binomial(n, p):
    k = np.arange(n + 1)
    return np.exp(_log_choose(n, k) + k * math.log(p) + (n - k) * math.log1p(-p))


def _poisson(mean):
    k = np.arange(int(mean + 12 * math.sqrt(mean) + 30))
    return np.exp(k * math.log(mean) - mean - _lgamma(k + 1))


def _gamma(a):
    return lambda x: np.exp((a - 1) * np.log(x) - x - math.lgamma(a))


def _beta(a, b):
    scale = math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)
    return lambda x: np.exp(scale + (a - 1) * np.log(x) + (b - 1) * np.log1p(-x))


def _student(df):
    scale = math.lgamma((df + 1) / 2) - math.lgamma(df / 2) - math.log(df * math.pi) / 2
    return lambda x: np.exp(scale - (df + 1) / 2 * np.log1p(x * x / df))


def _fisher(m, n):
    scale = math.lgamma((m + n) / 2) - math.lgamma(m / 2) - math.lgamma(n / 2) + m / 2 * math.log(m / n)
    return lambda x: np.exp(scale + (m / 2 - 1) * np.log(x) - (m + n) / 2 * np.log1p(m * x / n))


def _wald(mu, lam):
    return lambda x: np.sqrt(lam / (2 * math.pi * x**3)) * np.exp(-lam * (x - mu) ** 2 / (2 * mu * mu * x))


def _triangular(a, c, b):
    return lambda x: np.where(x < c, 2 * (x - a) / ((b - a) * (c - a)), 2 * (b - x) / ((b - a) * (b - c)))


def _noncentral(df, nonc):
    """Chi-square densities with df + 2 k degrees, weighted by Poisson probabilities of k."""
    weights = _poisson(nonc / 2)

    def density(x):
        return sum(w * _gamma(df / 2 + k)(x / 2) / 2 for k, w in enumerate(weights) if w > 1e-12)

    return density


def _normal(x):
    return np.exp(-x * x / 2) / math.sqrt(2 * math.pi)


def _square(t):
    return t * t


def _fourth(t):
    return t**4


CONTINUOUS = (
    Continuous("random", lambda r, n: r.random(n), lambda x: np.ones_like(x), 0, 1),
    Continuous("random float32", lambda r, n: r.random(n, dtype="float32"), lambda x: np.ones_like(x), 0, 1),
    Continuous("uniform", lambda r, n: r.uniform(-2, 3, n), lambda x: np.full_like(x, 0.2), -2, 3),
    Continuous("normal", lambda r, n: r.normal(1, 2, n), lambda x: _normal((x - 1) / 2) / 2, -19, 21),
    Continuous("standard_normal float32", lambda r, n: r.standard_normal(n, dtype="float32"), _normal, -9, 9),
    Continuous("exponential", lambda r, n: r.exponential(2, n), lambda x: np.exp(-x / 2) / 2, 0, 90),
    Continuous("standard_exponential float32", lambda r, n: r.standard_exponential(n, dtype="float32"), lambda x: np.exp(-x), 0, 45),
    Continuous("laplace", lambda r, n: r.laplace(1, 2, n), lambda x: np.exp(-np.abs(x - 1) / 2) / 4, -80, 82),
    Continuous("logistic", lambda r, n: r.logistic(0, 1, n), lambda x: np.exp(-np.abs(x)) / (1 + np.exp(-np.abs(x))) ** 2, -40, 40),
    Continuous("gumbel", lambda r, n: r.gumbel(0, 1, n), lambda x: np.exp(-x - np.exp(-x)), -6, 40),
    Continuous("rayleigh", lambda r, n: r.rayleigh(2, n), lambda x: x / 4 * np.exp(-x * x / 8), 0, 20),
    Continuous("weibull", lambda r, n: r.weibull(1.5, n), lambda x: 1.5 * np.sqrt(x) * np.exp(-(x**1.5)), 0, 14),
    Continuous("pareto", lambda r, n: r.pareto(12, n), lambda x: 12 * (1 + x) ** -13, 0, 12, _square),
    Continuous("power", lambda r, n: r.power(3, n), lambda x: 3 * x * x, 0, 1),
    Continuous("lognormal", lambda r, n: r.lognormal(0, 0.25, n), lambda x: _normal(np.log(x) / 0.25) / (0.25 * x), 0, 8),
    Continuous("triangular", lambda r, n: r.triangular(-1, 0, 3, n), _triangular(-1, 0, 3), -1, 3),
    Continuous("gamma 0.3", lambda r, n: r.gamma(0.3, 1, n), _gamma(0.3), 0, 40, lambda t: t**12),
    Continuous("gamma 1", lambda r, n: r.gamma(1, 1, n), _gamma(1), 0, 45),
    Continuous("gamma 2.5", lambda r, n: r.gamma(2.5, 1, n), _gamma(2.5), 0, 50),
    Continuous("gamma 100", lambda r, n: r.gamma(100, 1, n), _gamma(100), 20, 260),
    Continuous("standard_gamma float32", lambda r, n: r.standard_gamma(2, n, dtype="float32"), _gamma(2), 0, 50),
    Continuous("beta 2 3", lambda r, n: r.beta(2, 3, n), _beta(2, 3), 0, 1),
    Continuous("beta 0.5 0.7", lambda r, n: r.beta(0.5, 0.7, n), _beta(0.5, 0.7), 0, 1, lambda t: t**6 / (t**6 + (1 - t) ** 6)),
    Continuous("chisquare", lambda r, n: r.chisquare(3, n), lambda x: _gamma(1.5)(x / 2) / 2, 0, 90, _square),
    Continuous("noncentral_chisquare", lambda r, n: r.noncentral_chisquare(3, 2, n), _noncentral(3, 2), 0, 110, _square),
    Continuous("f", lambda r, n: r.f(5, 40, n), _fisher(5, 40), 0, 40, _fourth),
    Continuous("standard_t", lambda r, n: r.standard_t(30, n), _student(30), -20, 20),
    Continuous("wald", lambda r, n: r.wald(1, 3, n), _wald(1, 3), 0, 30, _square),
    Continuous("vonmises 4", lambda r, n: r.vonmises(0, 4, n), lambda x: np.exp(4 * np.cos(x)) / (2 * math.pi * float(np.i0(4))), -math.pi, math.pi),
    Continuous("vonmises 0.1", lambda r, n: r.vonmises(0, 0.1, n), lambda x: np.exp(0.1 * np.cos(x)) / (2 * math.pi * float(np.i0(0.1))), -math.pi, math.pi),
)


def _negative_binomial(n, p):
    k = np.arange(400)
    return np.exp(_lgamma(k + n) - math.lgamma(n) - _lgamma(k + 1) + n * math.log(p) + k * math.log1p(-p))


DISCRETE = (
    Discrete("integers 10", lambda r, n: r.integers(0, 10, n), 0, np.full(10, 0.1)),
    Discrete("integers 7 int8", lambda r, n: r.integers(-3, 3, n, dtype="int8", endpoint=True), -3, np.full(7, 1 / 7)),
    Discrete("integers wide", lambda r, n: r.integers(0, 3 << 60, n) >> 58, 0, np.full(12, 1 / 12)),
    Discrete("poisson 0.5", lambda r, n: r.poisson(0.5, n), 0, _poisson(0.5)),
    Discrete("poisson 9.5", lambda r, n: r.poisson(9.5, n), 0, _poisson(9.5)),
    Discrete("poisson 10", lambda r, n: r.poisson(10, n), 0, _poisson(10)),
    Discrete("poisson 500", lambda r, n: r.poisson(500, n), 0, _poisson(500)),
    Discrete("binomial 10 0.3", lambda r, n: r.binomial(10, 0.3, n), 0, _binomial(10, 0.3)),
    Discrete("binomial 40 0.5", lambda r, n: r.binomial(40, 0.5, n), 0, _binomial(40, 0.5)),
    Discrete("binomial 300 0.9", lambda r, n: r.binomial(300, 0.9, n), 0, _binomial(300, 0.9)),
    Discrete("geometric", lambda r, n: r.geometric(0.2, n), 1, 0.2 * 0.8 ** np.arange(150)),
    Discrete("negative_binomial", lambda r, n: r.negative_binomial(3, 0.3, n), 0, _negative_binomial(3, 0.3)),
    Discrete("logseries", lambda r, n: r.logseries(0.6, n), 1, -(0.6 ** np.arange(1, 100)) / (np.arange(1, 100) * math.log(0.4))),
    Discrete("choice p", lambda r, n: r.choice(4, n, p=[0.1, 0.2, 0.3, 0.4]), 0, np.array([0.1, 0.2, 0.3, 0.4])),
)

#: Of sqrt(n) times the largest distance between distribution functions: exceeded with a probability of 1e-4.
KOLMOGOROV = 2.225


def check_continuous(case, values):
    """(sqrt(n) D, mean and variance off by so many standard errors)."""
    values = np.sort(np.asarray(values).astype(np.float64))
    n = len(values)
    x, cumulative, mean, variance, fourth = case.table()
    assert values[0] >= case.low and values[-1] <= case.high, (case.name, values[0], values[-1])
    wanted = np.interp(values, x, cumulative)
    steps = np.arange(n + 1) / n
    distance = max(np.max(steps[1:] - wanted), np.max(wanted - steps[:-1]))
    off_mean = (np.mean(values) - mean) / math.sqrt(variance / n)
    off_variance = (np.mean((values - mean) ** 2) - variance) / math.sqrt((fourth - variance**2) / n)
    return math.sqrt(n) * distance, off_mean, off_variance


def check_discrete(case, values):
    """(chi-square in standard deviations above its mean, mean and variance off by so many standard errors)."""
    values = np.asarray(values)
    n = len(values)
    p = case.probabilities
    assert abs(p.sum() - 1) < 1e-9, case.name
    assert values.min() >= case.low and values.max() < case.low + len(p), (case.name, values.min(), values.max())
    counts = np.bincount(values - case.low, minlength=len(p)).astype(float)
    # Cells of at least 20 expected draws; the rest together.
    kept = p * n >= 20
    seen, expected = np.append(counts[kept], counts[~kept].sum()), np.append(p[kept], p[~kept].sum()) * n
    cells = expected > 5
    chi = np.sum((seen[cells] - expected[cells]) ** 2 / expected[cells])
    freedom = max(int(cells.sum()) - 1, 1)
    # Wilson and Hilferty: the cube root of chi-square over its degrees is nearly normal.
    spread = 2 / (9 * freedom)
    score = ((chi / freedom) ** (1 / 3) - (1 - spread)) / math.sqrt(spread)
    k = np.arange(len(p)) + case.low
    mean = np.sum(p * k)
    variance, fourth = np.sum(p * (k - mean) ** 2), np.sum(p * (k - mean) ** 4)
    off_mean = (values.mean() - mean) / math.sqrt(variance / n)
    off_variance = (np.mean((values - mean) ** 2) - variance) / math.sqrt(max(fourth - variance**2, 1e-30) / n)
    return score, off_mean, off_variance
