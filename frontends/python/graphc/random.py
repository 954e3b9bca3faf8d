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

beta = _global.beta
binomial = _global.binomial
bytes = _global.bytes
chisquare = _global.chisquare
choice = _global.choice
dirichlet = _global.dirichlet
exponential = _global.exponential
f = _global.f
gamma = _global.gamma
geometric = _global.geometric
get_state = _global.get_state
gumbel = _global.gumbel
hypergeometric = _global.hypergeometric
laplace = _global.laplace
logistic = _global.logistic
lognormal = _global.lognormal
logseries = _global.logseries
multinomial = _global.multinomial
multivariate_normal = _global.multivariate_normal
negative_binomial = _global.negative_binomial
noncentral_chisquare = _global.noncentral_chisquare
noncentral_f = _global.noncentral_f
normal = _global.normal
pareto = _global.pareto
permutation = _global.permutation
poisson = _global.poisson
power = _global.power
rand = _global.rand
randint = _global.randint
randn = _global.randn
random = _global.random
random_integers = _global.random_integers
random_sample = _global.random_sample
ranf = _global.random_sample
rayleigh = _global.rayleigh
sample = _global.random_sample
shuffle = _global.shuffle
standard_cauchy = _global.standard_cauchy
standard_exponential = _global.standard_exponential
standard_gamma = _global.standard_gamma
standard_normal = _global.standard_normal
standard_t = _global.standard_t
triangular = _global.triangular
uniform = _global.uniform
vonmises = _global.vonmises
wald = _global.wald
weibull = _global.weibull
zipf = _global.zipf


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


__all__ = sorted(name for name in globals() if not name.startswith("_"))
