"""numpy.random's legacy interface: RandomState, and the functions over one global state."""

import functools as _functools
import math as _math
import weakref as _weakref

import numpy as _np

from . import _graphc, _jit, _jit_draws, _tree
from . import _random_shared as _shared
from ._dtypes import int64
from ._foreign import to_ours
from ._random_generator import Generator, Lender, Philox4x32
from ._random_numpy import LEGACY_FEW, PLAIN, UPDATES, chosen, draw, names, quick
from ._random_state import Later
from .errors import ArgumentError, TraceError, warn


def _is_deep(values):
    """Whether an array or a sequence has more than one axis."""
    if isinstance(values, (list, tuple)):
        return len(values) > 0 and _np.ndim(values[0]) > 0
    return getattr(values, "ndim", 0) > 1


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
        warn(f"This function is deprecated. Please call randint({low}, {high} + 1) instead", DeprecationWarning)
        return self.integers(low, high, size, endpoint=True)

    def tomaxint(self, size=None):
        """Uniform integers from 0 to the largest int64."""
        return self.integers(0, 2**63 - 1, size, endpoint=True)

    def choice(self, a, size=None, replace=True, p=None):
        """Of the integers below `a`, or of the elements of a vector; ValueError for rows of anything."""
        if _is_deep(a):
            raise ArgumentError("a must be 1-dimensional")
        return super().choice(a, size, replace, p)

    def multinomial(self, n, pvals, size=None):
        """Counts of outcomes of one set of probabilities; ValueError for several."""
        if _is_deep(pvals):
            raise ArgumentError("object too deep for desired array")
        return super().multinomial(n, pvals, size)


class _Stream:
    """What a RandomState draws from, which a seed may replace, in a jitted function."""

    __slots__ = ("owner",)

    def __init__(self, owner):
        self.owner = owner

    def numbers(self):
        return self.owner._named()

    @property
    def state(self):
        return self.owner._named().get_state(legacy=False)

    @state.setter
    def state(self, value):
        _shared.restore(self.owner._named(), value)


class _Fixed:
    """The same with a state of its own."""

    def __init__(self, stream):
        self._numbers = _copy(stream.numbers())

    def numbers(self):
        return self._numbers


class RandomState(Lender):
    """NumPy's legacy interface. A seed, or a state that was set, names NumPy's Mersenne Twister, whose numbers NumPy
    promises for all versions: it draws them, on the host and bit for bit. Without a seed nobody can tell which numbers
    come next: many are Philox's, computed where they are used, few are NumPy's; those of a jitted function are Philox's.

    seed: None, an integer in [0, 2**32), a sequence of them, a Philox, or a bit generator of NumPy's.

    >>> import graphc as gc
    >>> gc.random.RandomState(0).rand(3).round(4).tolist()
    [0.5488, 0.7152, 0.6028]
    """

    #: `_few`: NumPy's state for draws of few numbers without a seed; False where the Philox has one. `_own`: what draws over
    #: the Philox, which is made from `_seed` when it is first asked for. `_seen`: whether others may hold that Philox, so that it
    #: has to stay the same object.
    __slots__ = ("_few", "_numbers", "_own", "_seed", "_seen", "_stream")

    def __init__(self, seed=None):
        self._few, self._own, self._seed, self._seen = None if seed is None else False, None, None, False
        self._stream = _Stream(self)
        _unseen.add(self)
        if seed is None:
            self._numbers = None
        elif type(seed) is int or isinstance(seed, _np.integer):
            self._numbers, self._seed = _np.random.RandomState(seed), int(seed)
        elif isinstance(seed, Philox4x32):
            self._begin(seed, None)
            self._see()
        elif isinstance(seed, _np.random.BitGenerator):
            self._begin(Philox4x32(), _np.random.RandomState(seed))
        else:
            self._begin(Philox4x32(seed), _np.random.RandomState(seed))

    @property
    def __class__(self):
        return _np.random.RandomState

    def _numpys(self):
        return self._named()._bit_generator

    def _begin(self, philox, numbers):
        self._own = _OverPhilox(philox)
        self._numbers = numbers

    @property
    def _philox(self):
        if self._own is None:
            self._own = _OverPhilox(Philox4x32(self._seed))
        return self._own

    def _see(self):
        self._seen = True
        _unseen.discard(self)

    @property
    def bit_generator(self):
        if not self._seen:
            self._see()
        return self._philox.bit_generator

    def _named(self):
        """NumPy's state, which is made when it is first asked for."""
        if self._numbers is None:
            self._numbers = self._few or _np.random.RandomState()
        return self._numbers

    def _unseeded(self):
        """NumPy's state for few numbers, or False."""
        if self._few is None:
            self._few = _np.random.RandomState()
        return self._few

    def seed(self, seed=None):
        """Starts again from a seed."""
        numbers = self._numbers
        if numbers is not None and isinstance(seed, int) and isinstance(numbers._bit_generator, _np.random.MT19937):
            numbers.seed(seed)
            if self._seen:
                self._restart(Philox4x32(seed))
            else:
                self._own, self._seed = None, seed
            self._few = False
            return
        fresh = RandomState(seed)
        if self._seen or fresh._seen:
            self._restart(fresh.bit_generator)
        else:
            self._own, self._seed = fresh._own, fresh._seed
        if numbers is None and fresh._numbers is not None:
            _jit.forget_all()  # recordings that draw Philox's numbers
        self._numbers, self._few = fresh._numbers, fresh._few

    def _restart(self, philox):
        """Jitted functions that draw hold the bit generator: it stays."""
        self.bit_generator.seed_seq = philox.seed_seq
        self.bit_generator.state = philox.state

    def get_state(self, legacy=True):
        """The state, as numpy.random.get_state gives it; from here on the numbers are NumPy's."""
        return self._named().get_state(legacy)

    def set_state(self, state):
        """Sets what `get_state` gave."""
        if self._numbers is None:
            _jit.forget_all()
        self._named().set_state(state)
        words = state["state"] if isinstance(state, dict) else {"key": state[1], "pos": state[2]}
        numbers = [*words["key"][:4], words["pos"]] if "pos" in words else [n for v in words.values() for n in _np.ravel(v)]
        numbers = [*map(int, numbers)]
        if self._seen:
            self._restart(Philox4x32(numbers))
        else:
            self._own, self._seed = None, numbers

    @staticmethod
    def from_leaves(array):
        """The RandomState whose Philox has the state of an array [key, next stream] (jit)."""
        return RandomState(Generator.from_leaves(array).bit_generator)

    def __str__(self):
        return f"RandomState({'Philox4x32' if self._numbers is None else type(self._numbers._bit_generator).__name__})"

    def __reduce__(self):
        return _restored, (self.bit_generator, self._numbers, self._unseeded())

    def __deepcopy__(self, memo):
        philox = _OverPhilox(self.bit_generator).__deepcopy__(memo).bit_generator
        return _restored(philox, _copy(self._numbers), _copy(self._unseeded()))


#: Those whose Philox nobody else holds; some have none yet.
_unseen = _weakref.WeakSet()


def _show_all():
    """What a recorded function draws from exists before it is recorded, and stays."""
    for state in list(_unseen):
        state.bit_generator._state.prepare()


_jit.before_trace.append(_show_all)


def _copy(numbers):
    if not numbers:
        return numbers
    made = _np.random.RandomState(type(numbers._bit_generator)())
    made.set_state(numbers.get_state(legacy=False))
    return made


def _restored(philox, numbers, few=False):
    made = RandomState(philox)
    made._numbers, made._few = numbers, few
    return made


#: Draws of more numbers are Philox's where there is no seed.
_FEW = 2048
_INTEGERS = frozenset({int})


def _parameters(own):
    """Where a draw has its `size`; -1 where all arguments are sizes."""
    while hasattr(own, "__wrapped__"):
        own = own.__wrapped__
    code = own.__code__  # inspect.signature takes longer than all else that the module does
    found = code.co_varnames[1 : code.co_argcount + code.co_kwonlyargcount]
    return found.index("size") if "size" in found else -1


def _count(size):
    """How many numbers a size asks for; too many where it is none."""
    if size is None:
        return 1
    if type(size) in (tuple, list):
        return _math.prod(size) if _INTEGERS.issuperset(map(type, size)) else _FEW + 1
    return size if type(size) is int else _FEW + 1


def _is_host(value):
    """Whether a parameter is a number, or few of them in a sequence or an array, that nobody has to compute."""
    if type(value) in (tuple, list):
        return len(value) <= _FEW and PLAIN.issuperset(map(type, value))
    if _graphc.is_array(value):
        return value.size <= _FEW and not _graphc.pending(value)
    return type(value) in PLAIN


def _is_few(name, place, args, keywords):
    """Whether a draw gives few numbers, of parameters that the host has."""
    if name == "shuffle" and len(args) == 1 and _graphc.is_array(args[0]):
        return args[0].size <= _FEW and not keywords and not _graphc.pending(args[0])
    if not (all(map(_is_host, args)) and all(_is_host(v) or k == "dtype" for k, v in keywords.items())):
        return False
    if place < 0:
        return _count(args) <= _FEW
    if name == "choice" and args and _count(args[0]) > _FEW:
        return False
    return _count(args[place] if len(args) > place else keywords.get("size")) <= _FEW


def _method(name):
    own, theirs = getattr(_OverPhilox, name, None), getattr(_np.random.RandomState, name)
    place = -1 if own is None else _parameters(own)

    def few(self, args):
        """NumPy's state for plain arguments that ask for few numbers, where there is no seed; or False."""
        if name == "choice" and _count(args[0] if args else None) > _FEW:
            return False
        size = args if place < 0 else args[place] if len(args) > place else None
        return (size is None or _count(size) <= _FEW) and (self._few or self._unseeded())

    @_functools.wraps(own or theirs)
    def method(self, *args, **keywords):
        numbers = self._numbers
        if _graphc.is_tracing():
            if numbers is not None and name not in UPDATES:
                return _jit_draws.record(self._stream, name, lambda stream: draw(stream.numbers(), name, args, keywords), _Fixed, (args, keywords))
            if numbers is None and own is not None:
                return own(self._philox, *args, **keywords)
            raise TraceError(f"random.{name}: NumPy draws on the host, which a jitted function cannot do")
        is_plain = not keywords and (not args or PLAIN.issuperset(map(type, args)))
        if numbers is None and own is not None:
            if is_plain:
                numbers = few(self, args)
            else:
                numbers = self._unseeded() and _is_few(name, place, args, keywords) and self._few
            if not numbers:
                return own(self._philox, *args, **keywords)
        if not is_plain:
            return draw(numbers or self._named(), name, args, keywords)
        drawn = theirs(numbers or self._named(), *args)
        if type(drawn) in PLAIN:
            return drawn
        packed = _graphc.pack(drawn) if type(drawn) is _np.ndarray else None  # new memory, that nobody shares
        return to_ours(drawn) if packed is None else packed

    return method


def _made(name):
    return quick(_method(name), getattr(_np.random.RandomState, name), kind=LEGACY_FEW.get(name, -1))


for _name in names(_np.random.RandomState):
    Later(RandomState, _name, _made)
_any_choice = RandomState.choice


@_functools.wraps(_any_choice)
def _choice(self, a, size=None, replace=True, p=None, **keywords):
    found = None
    if replace is True and p is None and not keywords and self._numbers is not None and not _graphc.is_tracing() and getattr(a, "ndim", 1) == 1:
        found = chosen(self.randint, a, size)
    return _any_choice(self, a, size, replace, p, **keywords) if found is None else found


RandomState.choice = _choice
_tree.CONTAINERS[RandomState] = lambda rng: None if rng._numbers is not None else _tree.CONTAINERS[Generator](rng)
