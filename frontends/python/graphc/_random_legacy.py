"""numpy.random's functions over one global state, and RandomState."""

from . import _tree
from ._dtypes import int64
from ._random_generator import Generator, Philox


class RandomState(Generator):
    """NumPy's legacy interface over the same streams as Generator."""

    __slots__ = ()

    def __init__(self, seed=None):
        super().__init__(seed if isinstance(seed, Philox) else Philox(seed))

    def seed(self, seed=None):
        """Starts again from a seed."""
        fresh = Philox(seed)
        self.bit_generator.seed_seq = fresh.seed_seq
        self.bit_generator.state = fresh.state

    def get_state(self, legacy=True):
        """The state, as a dict."""
        return self.bit_generator.state

    def set_state(self, state):
        """Sets what `get_state` gave."""
        self.bit_generator.state = state

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

    def __repr__(self):
        return "RandomState(Philox4x32)"

    def __reduce__(self):
        return RandomState, (self.bit_generator,)


_tree.CONTAINERS[RandomState] = _tree.CONTAINERS[Generator]
