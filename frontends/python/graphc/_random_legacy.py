"""numpy.random's legacy interface: RandomState, and the functions over one global state."""

import functools as _functools

import numpy as _np

from . import _graphc, _tree
from ._dtypes import int64
from ._random_generator import Generator, Philox
from ._random_numpy import draw, names
from .errors import TraceError


class _OverPhilox(Generator):
    """The legacy names over the streams of a Philox."""

    __slots__ = ()

    def rand(self, *shape):
        """Uniform in [0, 1) of the shape given as arguments."""
        return self.random(shape)

    def randn(self, *shape):
        """Standard normal of the shape given as arguments."""
        return self.standard_normal(shape)

    def random_sample(self, size=None):
        """Uniform in [0, 1)."""
        return self.random(size)

    def randint(self, low, high=None, size=None, dtype=int64):
        """Uniform integers in [low, high), or in [0, low) when `high` is None."""
        return self.integers(low, high, size, dtype)

    def random_integers(self, low, high=None, size=None):
        """Uniform integers in [low, high], or in [1, low] when `high` is None."""
        if high is None:
            low, high = 1, low
        return self.integers(low, high, size, endpoint=True)

    def tomaxint(self, size=None):
        """Uniform integers from 0 to the largest int64."""
        return self.integers(0, 2**63 - 1, size, endpoint=True)


class RandomState(Generator):
    """NumPy's legacy interface. A seed, or a state that was set, names NumPy's Mersenne Twister, whose numbers NumPy
    promises for all versions: it draws them, on the host and bit for bit. Without a seed the numbers are Philox's,
    computed where they are used; so are those of a jitted function, where the seed is that of the Philox as well.

    seed: None, an integer in [0, 2**32), a sequence of them, a Philox, or a bit generator of NumPy's.

    >>> import graphc as gc
    >>> gc.random.RandomState(0).rand(3).round(4).tolist()
    [0.5488, 0.7152, 0.6028]
    """

    __slots__ = ("_numbers", "_philox")

    def __init__(self, seed=None):
        if isinstance(seed, Philox):
            self._begin(seed, None)
        elif isinstance(seed, _np.random.BitGenerator):
            self._begin(Philox(), _np.random.RandomState(seed))
        else:
            self._begin(Philox(seed), None if seed is None else _np.random.RandomState(seed))

    def _begin(self, philox, numbers):
        self._philox = _OverPhilox(philox)
        self.bit_generator = philox
        self._numbers = numbers

    def _named(self):
        """NumPy's state, which is made when it is first asked for."""
        if self._numbers is None:
            self._numbers = _np.random.RandomState()
        return self._numbers

    def seed(self, seed=None):
        """Starts again from a seed."""
        fresh = RandomState(seed)
        self._restart(fresh.bit_generator)
        self._numbers = fresh._numbers

    def _restart(self, philox):
        """Jitted functions that draw hold the bit generator: it stays."""
        self.bit_generator.seed_seq = philox.seed_seq
        self.bit_generator.state = philox.state

    def get_state(self, legacy=True):
        """The state, as numpy.random.get_state gives it; from here on the numbers are NumPy's."""
        return self._named().get_state(legacy)

    def set_state(self, state):
        """Sets what `get_state` gave."""
        self._named().set_state(state)
        words = self._numbers.get_state(legacy=False)["state"]
        numbers = [*words["key"][:4], words["pos"]] if "pos" in words else [n for v in words.values() for n in _np.ravel(v)]
        self._restart(Philox([*map(int, numbers)]))

    @staticmethod
    def from_leaves(array):
        """The RandomState whose Philox has the state of an array [key, next stream] (jit)."""
        return RandomState(Generator.from_leaves(array).bit_generator)

    def __repr__(self):
        return f"RandomState({'Philox4x32' if self._numbers is None else type(self._numbers._bit_generator).__name__})"

    def __reduce__(self):
        return _restored, (self.bit_generator, self._numbers)

    def __deepcopy__(self, memo):
        philox = _OverPhilox(self.bit_generator).__deepcopy__(memo).bit_generator
        numbers = None
        if self._numbers is not None:
            numbers = _np.random.RandomState(type(self._numbers._bit_generator)())
            numbers.set_state(self._numbers.get_state(legacy=False))
        return _restored(philox, numbers)


def _restored(philox, numbers):
    made = RandomState(philox)
    made._numbers = numbers
    return made


def _method(name):
    own = getattr(_OverPhilox, name, None)

    @_functools.wraps(own or getattr(_np.random.RandomState, name))
    def method(self, *args, **keywords):
        if own is not None and (self._numbers is None or _graphc.is_tracing()):
            return own(self._philox, *args, **keywords)
        if _graphc.is_tracing():
            raise TraceError(f"random.{name}: NumPy draws on the host, which a jitted function cannot do")
        return draw(self._named(), name, args, keywords)

    return method


for _name in names(_np.random.RandomState):
    setattr(RandomState, _name, _method(_name))
_tree.CONTAINERS[RandomState] = _tree.CONTAINERS[Generator]
