"""Random numbers: NumPy's Generators and legacy functions with NumPy's numbers, and streams and splittable keys over
Philox4x32-10, which are computed where they are used.

>>> import graphc as gc
>>> gc.random.default_rng(1).random(2).round(6)              # NumPy's numbers
array([0.511822, 0.950464])
>>> rng = gc.random.key(1).generator()
>>> x, y = rng.random(1 << 20), rng.random(1 << 20)
>>> abs(4 * float(gc.mean(x * x + y * y < 1)) - 3.14159) < 0.02     # one kernel, nothing of that size in memory
True

Values are a function of the seed and of how many draws came before, the same on every device. Whatever is seeded as NumPy
is (`default_rng(0)`, `seed(0)`, `RandomState(0)`, `Generator(PCG64(0))`) has NumPy's numbers; keys, `Philox4x32` and what
has no seed have graphc's own. What is promised is in docs/random.md.
"""

import sys as _sys

from numpy.random import BitGenerator, bit_generator

from . import _random_shared as _shared
from ._random_generator import Generator, Key, Philox4x32, key
from ._random_legacy import RandomState
from ._random_numpy import MT19937, PCG64, PCG64DXSM, SFC64, Philox, SeedSequence, default_rng

_global = _rand = RandomState()
__path__ = []
_sys.modules[f"{__name__}.mtrand"] = mtrand = _sys.modules[__name__]  # NumPy's module of these functions, which some programs name

#: Methods of the global state, which are looked up when they are first asked for.
_DRAWS = frozenset(
    """
    beta binomial bytes chisquare choice dirichlet exponential f gamma geometric get_state gumbel hypergeometric laplace logistic lognormal logseries
    multinomial multivariate_normal negative_binomial noncentral_chisquare noncentral_f normal pareto permutation poisson power rand randint randn
    random random_integers random_sample ranf rayleigh sample shuffle standard_cauchy standard_exponential standard_gamma standard_normal standard_t
    triangular uniform vonmises wald weibull zipf
    """.split()
)


def __getattr__(name):
    if name not in _DRAWS:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    draw = globals()[name] = getattr(_global, "random_sample" if name in ("ranf", "sample") else name)
    return draw


def __dir__():
    return sorted({*globals(), *_DRAWS})


def seed(seed=None):
    """Starts again from a seed. Libraries that draw from NumPy's global state (SciPy, scikit-learn) draw from the same stream."""
    _shared.begin(_global, "seed", seed)


def set_state(state):
    """Sets what `get_state` gave."""
    _shared.begin(_global, "set_state", state)


def get_bit_generator():
    """The bit generator of these functions: NumPy's once there is a seed, else a Philox4x32, which draws all numbers from here on."""
    _global._few = False
    return _global.bit_generator if _global._numbers is None else _global._numbers._bit_generator


def set_bit_generator(bitgen):
    """Makes a Philox4x32, or a bit generator of NumPy's, the one of these functions."""
    _global.seed(bitgen)


__all__ = sorted(name for name in __dir__() if not name.startswith("_"))
