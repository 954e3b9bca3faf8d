"""Generators, which move on with each draw, and keys, which do not."""

from __future__ import annotations

import functools as _functools
import operator as _operator

import numpy as _np

from . import _graphc, _tree
from . import _random_choice as _choice
from ._creation import asarray
from ._devices import default_device
from ._dtypes import uint64
from ._random_draws import Draws
from ._random_state import (
    FOLD_STREAM,
    SPLIT_STREAM,
    Ahead,
    Later,
    Streams,
    StreamState,
    bits64,
    key_of,
    seed_sequence,
)
from .errors import ArgumentError

_M64 = 0xFFFFFFFFFFFFFFFF
_Array = _graphc.Array


#: Draws of so many numbers and less are drawn ahead.
_SHORT = 512
_FEW_SIZES = {n: (n,) for n in range(1, _SHORT + 1)}


def _is_short(shape):
    count = 1
    for n in shape:
        if type(n) is not int:
            return False
        count *= n
    return 0 < count <= _SHORT


class Philox4x32:
    """Philox4x32-10 as a bit generator: what numpy.random.Generator takes. `state` is a dict that can be set.

    seed: None (from the operating system), a non-negative integer, a sequence of them, or a SeedSequence.
    """

    __slots__ = ("seed_seq", "_state")

    def __init__(self, seed=None):
        self.seed_seq = seed_sequence(seed)
        self._state = StreamState(key_of(self.seed_seq))

    @property
    def state(self):
        key, position = self._state.read()
        return {"bit_generator": "Philox4x32", "state": {"key": key, "stream": position}}

    @state.setter
    def state(self, value):
        try:
            key, position = (_operator.index(value["state"][name]) for name in ("key", "stream"))
        except (KeyError, TypeError):
            raise ArgumentError("state must be a dict as Philox4x32.state gives it") from None
        self._state.write(key & _M64, position & _M64)

    def spawn(self, n_children):
        """`n_children` bit generators that are independent of this one."""
        return [type(self)(child) for child in self.seed_seq.spawn(n_children)]

    def __reduce__(self):
        return _restore_philox, (self.seed_seq, self.state)


def _restore_philox(seed_seq, state):
    made = Philox4x32(seed_seq)
    made.state = state
    return made


class Lender:
    """What NumPy's own functions take for a bit generator, as they do a Generator and a RandomState."""

    #: `_lent`: NumPy's bit generators that others hold the memory of.
    __slots__ = ("_lent", "__weakref__")

    # What numpy.random.default_rng(self) asks a bit generator for.

    @property
    def capsule(self):
        return self._lend().capsule

    @property
    def lock(self):
        return self._lend().lock

    @property
    def _bit_generator(self):
        return self._lend()

    def _lend(self):
        """One of NumPy's bit generators for NumPy's Generator over this one: its numbers are NumPy's, from a seed of the next draw."""
        lent = getattr(self, "_lent", ())
        own = self._numpys() if self._numpys else lent[-1] if lent else _np.random.PCG64(self.integers(0, 2**32, 8, "uint32").tolist())
        if not any(own is known for known in lent):
            self._lent = (*lent, own)
        return own

    #: What NumPy draws from already.
    _numpys = None

    def __repr__(self):
        return f"{self} at 0x{id(self):X}"


class Generator(Lender, Draws):
    """NumPy's Generator. Over a bit generator of NumPy's, as `default_rng(seed)` makes it, NumPy draws its numbers. Over a
    Philox4x32 each draw takes the next streams of a key: values are graphc's own (docs/random.md), the same on every device; used
    inside `graphc.jit` it moves on at each call, and neither another seed nor a later draw compiles anything."""

    __slots__ = ("bit_generator",)
    #: The subclass for NumPy's bit generators; _random_numpy sets it.
    over_numpy = None

    def __new__(cls, bit_generator=None, **_):
        is_numpys = cls is Generator and isinstance(bit_generator, _np.random.BitGenerator)
        return object.__new__(cls.over_numpy if is_numpys else cls)

    @property
    def __class__(self):
        """As `isinstance` sees it: SciPy and others take none that is not NumPy's."""
        return _np.random.Generator

    def __init__(self, bit_generator):
        if not isinstance(bit_generator, Philox4x32):
            raise ArgumentError(f"Generator takes a bit generator, not {type(bit_generator).__name__}")
        self.bit_generator = bit_generator

    def _take(self, count, device=None):
        return self.bit_generator._state.take(count, device)

    def _ahead(self, kind, size, count, make, parameters=None):
        size = int(size) if isinstance(size, _np.integer) else size
        shape = _FEW_SIZES.get(size) if type(size) is int else () if size is None else size if type(size) is tuple else None
        if shape is None or (shape and not _is_short(shape)) or (size is not None and not shape):
            return self._at_once(size, count, make) if parameters is None else None
        state = self.bit_generator._state
        ahead = Ahead.of(state, (kind, shape))
        if ahead.parameters != parameters:
            ahead = state.ahead[kind, shape] = Ahead()
            ahead.parameters = parameters
        with state.lock:
            value = ahead.ready(state, count)
            return ahead.next(state, count, lambda key, first, step: make((Ahead.MANY, *shape), key, first, step)) if value is None else value

    def _at_once(self, size, count, make):
        """A draw of more numbers than are made ahead, where loops of the host make them; else None, and nothing was taken."""
        shape = (size,) if type(size) is int else size if type(size) in (tuple, list) else None
        if _graphc.is_tracing() or not shape or not all(type(n) is int and n > 0 for n in shape):
            return None
        state = self.bit_generator._state
        with state.lock:
            if state.in_array or state.position + count > _M64:
                return None
            value = make(shape, state.key, state.position, 0)
            if value is not None:
                state.position += count
        return value

    def spawn(self, n_children):
        """`n_children` Generators that are independent of this one."""
        return [Generator(child) for child in self.bit_generator.spawn(n_children)]

    def shuffle(self, x, axis=0):
        """Puts the slices of an array (or the elements of a sequence) along an axis in random order, in place."""
        _choice.shuffle(self, x, axis)

    def __str__(self):
        return "Generator(Philox4x32)"

    def __reduce__(self):
        return Generator, (self.bit_generator,)

    def __deepcopy__(self, memo):
        return Generator(_restore_philox(self.bit_generator.seed_seq, self.bit_generator.state))

    @staticmethod
    def from_leaves(array):
        """The Generator whose state an array [key, next stream] is (jit)."""
        made = Generator(Philox4x32(0))
        made.bit_generator._state.array, made.bit_generator._state.in_array = array, True
        return made


def _as_number(draw, number):
    """A draw whose single results are Python numbers, as NumPy's are: weak beside arrays of any dtype. While a function is recorded,
    and where a parameter is an Array, they are Arrays."""

    @_functools.wraps(draw)
    def run(self, *args, **keywords):
        drawn = draw(self, *args, **keywords)
        if not _graphc.is_array(drawn) or drawn.ndim or _graphc.is_tracing():
            return drawn
        if args or keywords:
            given = *args, *keywords.values()
            if any(map(_graphc.is_array, given)) or tuple in map(type, given):  # a tuple: size=()
                return drawn
        return number(drawn)

    return run


_AS_NUMBERS = {
    **dict.fromkeys(
        ("random", "standard_normal", "normal", "uniform", "standard_exponential", "exponential", "standard_gamma", "gamma", "beta", "chisquare", "f",
         "standard_t", "wald", "vonmises", "laplace", "logistic", "gumbel", "rayleigh", "weibull", "pareto", "power", "lognormal", "triangular",
         "standard_cauchy", "noncentral_chisquare", "noncentral_f"), float,
    ),
    **dict.fromkeys(("poisson", "binomial", "geometric", "negative_binomial", "logseries"), int),
}  # fmt: skip
#: Kinds of draws that are made ahead, the streams that each takes, and how parameters change it.
_AHEAD = {
    "random": ("unit", 1, 0), "standard_normal": ("normal", 2, 0), "normal": ("normal", 2, 1), "uniform": ("unit", 1, 2),
    "exponential": ("exponential", 1, 3),
}  # fmt: skip


def _quick(draw, key, streams, scaled):
    """A draw without a frame of ours where it was made ahead; `scaled` says how its parameters change it (bindings/Random.cpp)."""
    made = _graphc.function(draw)
    made.quick = _graphc.draw_ahead(key, streams, scaled)
    made.__dict__.update(__name__=draw.__name__, __qualname__=draw.__qualname__, __doc__=draw.__doc__, __module__=draw.__module__)
    return made


def _made(name):
    draw = _as_number(getattr(Draws, name), _AS_NUMBERS[name])
    if name not in _AHEAD:
        return draw
    kind, streams, scaled = _AHEAD[name]
    return _quick(draw, (kind, ()), streams, scaled)


for _name in _AS_NUMBERS:
    Later(Generator, _name, _made)


class Key(Draws):
    """A splittable key. Drawing from a key is a function of it: the same key gives the same values each time, so use
    each key once and `split` it for more. A key may be an argument or a result of a jitted function."""

    __slots__ = ("data",)

    def __init__(self, data):
        """`data`: 64 bits, as an integer or a 0-d uint64 Array."""
        self.data = data & _M64 if isinstance(data, int) else data

    def _take(self, count, device=None):
        if isinstance(self.data, int):
            device = device or default_device()
            word = asarray(_np.uint64(self.data), device=device) if _graphc.is_tracing() else None
            return Streams(0, _graphc.random_word(self.data, device) if word is None else word, device)
        return Streams(0, self.data, self.data.device)

    def _derived(self, numbers, stream):
        """Keys number by number: the 64 bits that element `number` of a reserved stream has."""
        if isinstance(self.data, int):
            return [Key(bits64(i, stream, self.data)) for i in numbers]
        index = asarray(_np.array(numbers, _np.uint64), device=self.data.device)
        found = _graphc.random("philox64", index, _graphc.random_word(stream, self.data.device), self.data)
        return [Key(found[i]) for i in range(len(numbers))]

    def split(self, num=2):
        """`num` keys that are independent of each other and of this one, as a tuple."""
        num = _operator.index(num)
        if num < 0:
            raise ArgumentError(f"split: the number of keys must be non-negative, got {num}")
        return tuple(self._derived(range(num), SPLIT_STREAM))

    def fold_in(self, number):
        """The key that belongs to this key and a non-negative integer."""
        if _graphc.is_array(number):
            stream = _graphc.random_word(FOLD_STREAM, number.device)
            key = self.data if not isinstance(self.data, int) else _graphc.random_word(self.data, number.device)
            return Key(_graphc.random("philox64", number.astype(uint64), stream, key))
        return self._derived([_operator.index(number) & _M64], FOLD_STREAM)[0]

    def generator(self):
        """A Generator that starts at this key; this computes a key that is an Array."""
        made = Philox4x32(0)
        made._state.write(int(self.data), 0)
        return Generator(made)

    @staticmethod
    def from_leaves(data):
        """The key whose bits an Array holds (jit)."""
        return Key(data)

    def __eq__(self, other):
        return isinstance(other, Key) and int(self.data) == int(other.data)

    def __hash__(self):
        return hash(int(self.data))

    def __repr__(self):
        return f"Key(0x{int(self.data):016x})" if not _graphc.is_tracing() else "Key(traced)"

    def __reduce__(self):
        return Key, (int(self.data),)


def key(seed):
    """The key of a seed: a non-negative integer, a sequence of them, or a SeedSequence."""
    return Key(key_of(seed))


_tree.CONTAINERS[Generator] = lambda rng: [rng.bit_generator._state.shared()]
_tree.CONTAINERS[Key] = lambda key: [asarray(_np.uint64(key.data)) if isinstance(key.data, int) else key.data]
