"""Draws from NumPy's own streams, for whoever names them: by a seed, or by one of its bit generators."""

import functools as _functools
import math as _math

import numpy as _np

from . import _foreign, _graphc, _jit_draws
from ._random_generator import Generator, Key, Philox4x32
from ._random_state import Later, bits64
from .errors import TraceError

#: NumPy's draws that change their argument, and its name.
UPDATES = {"shuffle": "x"}
#: What NumPy is given, and gives, as it is.
PLAIN = frozenset({int, float, bool, str, type(None)})
_NUMBERS = frozenset({int, float})
#: Draws that write their `out`, and how many arguments stand before it.
_WITH_OUT = {"random": 2, "standard_normal": 2, "standard_exponential": 3, "standard_gamma": 3, "permuted": 1}
_OTHER = object()
_M64 = 0xFFFFFFFFFFFFFFFF


def _values(value):
    """What NumPy is given for numbers, sequences of them and arrays on the host; `_OTHER` for the rest."""
    if type(value) in PLAIN or type(value) is range or (type(value) in (tuple, list) and PLAIN.issuperset(map(type, value))):
        return value
    if isinstance(value, (type, _np.dtype)):
        return value
    if not _graphc.is_array(value) or value.device != "cpu":
        return _OTHER
    return value.item() if _graphc.is_value(value) else _np.asarray(value)


def _single(value):
    """A single result as the number, and of objects that give arrays of ours NumPy's of those."""
    if _graphc.is_array(value):
        return value.item() if _graphc.is_value(value) else value
    if hasattr(type(value), "__array__") and not isinstance(value, (_np.ndarray, _np.generic)):
        return _np.asarray(value.__array__())
    return value


def _drawn(numbers, name, args, keywords):
    """A draw of parameters that NumPy takes as they are; `_OTHER` where there are others, or something to write to."""
    if name in UPDATES or "out" in keywords or (name in _WITH_OUT and len(args) > _WITH_OUT[name]):
        return _OTHER
    drawn = _graphc.numpys_draw(getattr(type(numbers), name), numbers, *args, **keywords)
    if drawn is not NotImplemented:
        return drawn
    given, named = list(map(_values, args)), {k: _values(v) for k, v in keywords.items()}
    if any(v is _OTHER for v in (*given, *named.values())):
        return _OTHER
    drawn = getattr(numbers, name)(*given, **named)
    if type(drawn) in PLAIN or (isinstance(drawn, _np.generic) and not any(map(_graphc.is_array, (*args, *keywords.values())))):
        return drawn
    packed = _graphc.pack(drawn) if type(drawn) is _np.ndarray else None  # new memory, that nobody shares
    return _foreign.to_ours(drawn) if packed is None else packed


_CHANGING = frozenset((*UPDATES, *_WITH_OUT))


def _changed(numbers, name, args, keywords):
    """A draw that changes an array of ours, in its memory, or a list; `_OTHER` for others."""
    changed = args[0] if name in UPDATES else keywords.get("out")
    others = (*args[1:], *keywords.values()) if name in UPDATES else (*args, *[v for k, v in keywords.items() if k != "out"])
    if changed is None:
        return _OTHER
    others = [v if type(v) in PLAIN else _values(v) for v in others]
    if any(v is _OTHER for v in others):
        return _OTHER
    if _graphc.is_array(changed) and not _graphc.is_value(changed) and changed.device == "cpu":
        memory = changed._lent()
        if not memory.flags.writeable or any(isinstance(v, _np.ndarray) and _np.may_share_memory(v, memory) for v in others):
            return _OTHER
    elif name in UPDATES and (type(changed) is list or type(changed) is _np.ndarray):
        memory = changed
    else:
        return _OTHER
    if name in UPDATES:
        places = len(args) - 1
        return getattr(numbers, name)(memory, *others[:places], **dict(zip(keywords, others[places:])))
    named = dict(zip([k for k in keywords if k != "out"], others[len(args) :]))
    getattr(numbers, name)(*others[: len(args)], out=memory, **named)
    return changed


def draw(numbers, name, args, keywords):
    """A draw of NumPy's, whose arrays become ours: on `device`, or that of those it is given, or else the current one."""
    if "device" in keywords:
        keywords = dict(keywords)
        device = keywords.pop("device")
        drawn = draw(numbers, name, args, keywords)
        return drawn.to_device(device) if device is not None and _graphc.is_array(drawn) else drawn
    if name == "shuffle" and len(args) == 1 and not keywords:
        if type(args[0]) is list:
            return numbers.shuffle(args[0])
        if type(args[0]) is _graphc.ndarray and args[0].device == "cpu":
            memory = args[0]._lent()
            if memory.flags.writeable:
                return numbers.shuffle(memory)
    elif name in _CHANGING and (args or "out" in keywords):
        drawn = _changed(numbers, name, args, keywords)
        if drawn is not _OTHER:
            return drawn
    drawn = _drawn(numbers, name, args, keywords)
    if drawn is not _OTHER:
        return drawn
    args = [_single(a) for a in args]
    keywords = {k: _single(v) for k, v in keywords.items()}
    return _foreign.run(getattr(numbers, name), args, keywords, updates=UPDATES.get(name))


def names(cls):
    """What a class of NumPy's draws."""
    others = {"spawn", "bit_generator", "seed", "get_state", "set_state"}
    return [name for name in dir(cls) if not name.startswith("_") and name not in others]


#: Draws of float64 whose words a PCG64 gives on several threads: whether they are normal, what parameters come before the size and are by
#: default, and of how many numbers on that takes less time than NumPy, its state read and written.
_MANY = {"random": (False, (), 16384), "standard_normal": (True, (), 2048), "uniform": (False, (0.0, 1.0), 8192), "normal": (True, (0.0, 1.0), 2048)}
#: Draws of few numbers by words of any bit generator (bindings/NumpyDraws.h).
_FEW = ("random", "standard_normal", "uniform", "normal", "integers", "rand", "randint")
#: Those of a RandomState, by what they draw.
LEGACY_FEW = {name: _FEW.index("random" if name == "random_sample" else name) for name in ("random", "random_sample", "rand", "randint", "uniform")}


def _many(numbers, name, args, keywords):
    """A draw of many numbers with NumPy's bits and without NumPy; None where NumPy has to draw them."""
    is_normal, default, fewest = _MANY[name]
    count = len(default)
    if len(args) == count + 1 and not keywords:
        size = args[-1]
    elif len(args) <= count and len(keywords) == 1 and "size" in keywords:
        size = keywords["size"]
    else:
        return None
    shape = (size,) if type(size) is int else size
    if type(shape) is not tuple or not all(type(n) is int and n >= 0 for n in shape) or _math.prod(shape) < fewest:
        return None
    bits = numbers.bit_generator
    given = (*args[:count], *default[len(args[:count]) :])
    if type(bits) is not _np.random.PCG64 or not all(type(v) in (int, float) for v in given):
        return None
    shift, factor = map(float, given) if given else (-0.0, 1.0)  # which changes no bit
    if name == "uniform":
        factor -= shift
    if not (_math.isfinite(shift) and 0 < factor < _math.inf):
        return None
    with bits.lock:
        state = bits.state
        words = state["state"]
        now, step = words["state"], words["inc"]
        drawn = _graphc.draw_pcg64(is_normal, shape, shift, factor, now >> 64, now & _M64, step >> 64, step & _M64)
        if drawn is None:
            return None
        array, upper, lower = drawn
        words["state"] = upper << 64 | lower
        bits.state = state
    return array


class NumpyGenerator(Generator):
    """A Generator over one of NumPy's bit generators: its numbers are NumPy's, bit for bit, drawn on the host by graphc where that takes
    less time, else by NumPy, from the one state."""

    __slots__ = ("_source", "_numbers")

    def __init__(self, bit_generator):
        self.bit_generator = bit_generator
        self._source = bit_generator.capsule
        self._numbers = _np.random.Generator(bit_generator)

    def _numpys(self):
        return self.bit_generator

    @property
    def _stream(self):
        """What a jitted function draws from that is given this."""
        return self.bit_generator

    def spawn(self, n_children):
        """`n_children` Generators that are independent of this one."""
        return [NumpyGenerator(child.bit_generator) for child in self._numbers.spawn(n_children)]

    def __str__(self):
        return f"Generator({type(self.bit_generator).__name__})"

    def __reduce__(self):
        return NumpyGenerator, (self.bit_generator,)

    def __deepcopy__(self, memo):
        return NumpyGenerator(_copy(self.bit_generator))


def _copy(bit_generator):
    made = type(bit_generator)()
    made.state = bit_generator.state
    return made


def _method(name):
    own = getattr(Generator, name, None)

    def drawn(numbers, args, keywords):
        many = _many(numbers, name, args, keywords) if name in _MANY else None
        return draw(numbers, name, args, keywords) if many is None else many

    @_functools.wraps(own or getattr(_np.random.Generator, name))
    def method(self, *args, **keywords):
        if _graphc.is_tracing():
            if name in UPDATES or "out" in keywords:
                raise TraceError(f"random.{name}: NumPy writes on the host, which a jitted function cannot do")
            return _jit_draws.record(self.bit_generator, name, lambda bits: drawn(_np.random.Generator(bits), args, keywords), _copy, (args, keywords))
        return drawn(self._numbers, args, keywords)

    return method


def quick(method, theirs, most=0, kind=-1):
    """A method that draws from NumPy's state, without a frame of ours where its arguments are plain and it is for up to `most`
    numbers (0: any). `kind`: a place in _FEW, of what few numbers need no NumPy for."""
    if method.__name__ in UPDATES:
        return method
    made = _graphc.function(method)
    made.quick = _graphc.quick_draw(theirs, _WITH_OUT.get(method.__name__, 8), most, kind)
    made.__dict__.update(__name__=method.__name__, __qualname__=method.__qualname__, __doc__=method.__doc__, __module__=method.__module__)
    return made


def _only_numpys(name):
    """A draw of a Generator of ours that NumPy has alone: NumPy's, of a PCG64 that the next stream seeds."""

    @_functools.wraps(getattr(_np.random.Generator, name))
    def method(self, *args, **keywords):
        if _graphc.is_tracing():
            raise TraceError(f"random.{name} draws on the host, which a jitted function cannot do")
        state = self.bit_generator._state
        with state.lock:
            key, stream = state.read()
            state.write(key, stream + 1)
        numbers = _np.random.Generator(_np.random.PCG64([bits64(i, stream, key) for i in (0, 1)]))
        return draw(numbers, name, args, keywords)

    return method


def _made(name):
    most, kind = _MANY[name][2] - 1 if name in _MANY else 0, _FEW.index(name) if name in _FEW else -1
    return quick(_method(name), getattr(_np.random.Generator, name), most, kind)


_ours = {*dir(Generator)}
for _name in names(_np.random.Generator):
    if _name not in _ours:
        Later(Generator, _name, _only_numpys)
    Later(NumpyGenerator, _name, _made)


def chosen(integers, a, size):
    """Elements of one-dimensional numbers, or rows, at random places, as NumPy chooses them; None for what NumPy has to look at."""
    if type(size) is tuple and not size:
        return None
    if type(a) is int and a > 0:
        return integers(0, a, size) if size is not None else int(integers(0, a))
    if type(a) is range:
        a = _graphc.asarray(_np.arange(a.start, a.stop, a.step))
    if (type(a) in (list, tuple) and a and _NUMBERS.issuperset(map(type, a))) or (type(a) is _graphc.ndarray and a.ndim and a.device == "cpu" and len(a)):
        places = integers(0, len(a), size)
        values = _graphc.asarray(a)
        return values[places] if size is None and values.ndim == 1 else values.take(places, 0)  # a row is a copy
    if type(a) is list and a and set(map(type, a)) == {str}:
        a = _np.array(a)
    if type(a) is _np.ndarray and a.ndim and len(a) and _foreign.stays_theirs(a.dtype):
        places = integers(0, len(a), size)
        return a[int(places)] if size is None and a.ndim == 1 else a.take(_np.asarray(places), 0)
    return None


_numpys_choice = NumpyGenerator.choice
#: Of more elements places are drawn, so that NumPy is given none of them.
_MANY_CHOICES = 2048


@_functools.wraps(_numpys_choice)
def _choice(self, a, size=None, replace=True, p=None, axis=0, shuffle=True, **keywords):
    found = None
    if replace is True and p is None and axis == 0 and not keywords and not _graphc.is_tracing():
        found = chosen(self.integers, a, size)
    if found is None and type(a) is _graphc.ndarray and a.ndim == 1 and a.size > _MANY_CHOICES and not keywords and axis == 0 and not _graphc.is_tracing():
        return a[_numpys_choice(self, a.size, size, replace, p, 0, shuffle)]
    return _numpys_choice(self, a, size, replace, p, axis, shuffle, **keywords) if found is None else found


NumpyGenerator.choice = _choice
Generator.over_numpy = NumpyGenerator
NumpyGenerator.__name__ = "Generator"


def default_rng(seed=None):
    """A Generator with the numbers that NumPy's has: over a PCG64 of the seed (an integer, a sequence of them, a SeedSequence),
    or over the bit generator, Generator or RandomState given. NumPy draws them, on the host. A Generator of graphc's is
    taken as it is. Without a seed, or over a `Philox4x32` or a key, numbers are graphc's own, which are computed where they are used.

    >>> import graphc as gc
    >>> gc.random.default_rng(7).random(3).round(6).tolist()
    [0.625095, 0.897214, 0.775686]
    >>> own = gc.random.default_rng(gc.random.key(7))
    """
    if isinstance(seed, Generator):
        numbers = getattr(seed, "_numbers", None)
        return NumpyGenerator(numbers._bit_generator) if isinstance(numbers, _np.random.RandomState) else seed
    if isinstance(seed, _np.random.Generator):
        return NumpyGenerator(seed.bit_generator)
    if isinstance(seed, _np.random.RandomState):
        return NumpyGenerator(seed._bit_generator)
    if isinstance(seed, Key):
        return seed.generator()
    if seed is None or isinstance(seed, Philox4x32):
        return Generator(seed or Philox4x32())
    if isinstance(seed, _np.random.BitGenerator):
        return NumpyGenerator(seed)
    bits = PCG64(seed)
    _jit_draws.begins(bits)
    return NumpyGenerator(bits)


class _Seeding(type):
    """Of NumPy's bit generators and seeds under our name: arrays of ours seed them as well, and what is made is NumPy's."""

    def __call__(cls, *args, **keywords):
        args = [v.tolist() if _graphc.is_array(v) else v for v in args]
        keywords = {k: v.tolist() if _graphc.is_array(v) else v for k, v in keywords.items()}
        return type.__call__(cls, *args, **keywords) if cls._theirs is not cls.__base__ else cls._theirs(*args, **keywords)

    @property
    def __signature__(cls):
        import inspect

        return inspect.signature(cls._theirs) if cls._theirs is cls.__base__ else None

    def __instancecheck__(cls, value):
        return type.__instancecheck__(cls if cls._theirs is not cls.__base__ else cls._theirs, value)

    def __subclasscheck__(cls, other):
        return type.__subclasscheck__(cls if cls._theirs is not cls.__base__ else cls._theirs, other)


def _seeded(theirs):
    doc = theirs.__doc__.split(">>>")[0]  # whose numbers are made up
    return _Seeding(theirs.__name__, (theirs,), {"__module__": "graphc.random", "__doc__": doc, "_theirs": theirs})


MT19937, PCG64, PCG64DXSM, Philox, SFC64, SeedSequence = map(
    _seeded,
    (_np.random.MT19937, _np.random.PCG64, _np.random.PCG64DXSM, _np.random.Philox, _np.random.SFC64, _np.random.SeedSequence),
)
