"""Where random numbers come from: keys, streams, and how a Generator moves through them (docs/random.md)."""

from __future__ import annotations

import os as _os
import threading as _threading
import weakref as _weakref

import numpy as _np

from . import _graphc, _jit
from ._devices import default_device
from ._dtypes import float64

_M32 = 0xFFFFFFFF
_M64 = 0xFFFFFFFFFFFFFFFF
#: Streams of a key that no draw reaches: children, and keys made by folding a number in.
SPLIT_STREAM = _M64
FOLD_STREAM = _M64 - 1


def philox(counter, key):
    """The four words of Philox4x32-10 for a 128-bit counter and a 64-bit key, as Python integers."""
    c = [counter >> 32 * i & _M32 for i in range(4)]
    k = [key & _M32, key >> 32]
    for _ in range(10):
        p0, p1 = 0xD2511F53 * c[0], 0xCD9E8D57 * c[2]
        c = [p1 >> 32 ^ c[1] ^ k[0], p1 & _M32, p0 >> 32 ^ c[3] ^ k[1], p0 & _M32]
        k = [k[0] + 0x9E3779B9 & _M32, k[1] + 0xBB67AE85 & _M32]
    return c


def bits64(index, stream, key):
    """What the kernels compute for an element: 64 bits of its counter."""
    words = philox(8 * (index // 16) + index % 8 | stream << 64, key)
    pair = index // 8 % 2
    return words[2 * pair] | words[2 * pair + 1] << 32


class Later:
    """A draw that is made of `make(name)` when the class is first asked for it: programs use few of a hundred."""

    __slots__ = ("_owner", "_name", "_make")

    def __init__(self, owner, name, make):
        self._owner, self._name, self._make = owner, name, make
        setattr(owner, name, self)

    def __get__(self, instance, cls=None):
        made = vars(self._owner)[self._name]
        if made is self:
            made = self._make(self._name)
            setattr(self._owner, self._name, made)
        return type(made).__get__(made, instance, cls)


def seed_sequence(seed):
    """NumPy's of a seed, which arrays are as well."""
    if hasattr(seed, "generate_state"):
        return seed
    return _np.random.SeedSequence(seed.tolist() if _graphc.is_array(seed) else seed)


def key_of(seed):
    """The 64-bit key of a seed."""
    return int(seed_sequence(seed).generate_state(1, _np.uint64)[0])


#: Generators whose arrays a trace may capture.
_generators = _weakref.WeakSet()


def prepare_trace():
    """Brings the arrays of all Generators up to date, before a function is recorded that may draw from them."""
    for state in list(_generators):
        state.prepare()


_jit.before_trace.append(prepare_trace)


class StreamState:
    """The key and the next stream of a Generator.

    They are Python integers, given to kernels as arguments. A recorded function cannot see integers change from call to
    call, so it reads and advances an array [key, next stream] instead: from the first such function on the array is
    what counts, and each draw outside goes through it. Threads that share a Generator take their streams under its lock.
    """

    __slots__ = ("key", "position", "array", "in_array", "keys", "ahead", "lock", "__weakref__")

    def __init__(self, key, position=0):
        self.key, self.position = key, position
        self.array = None
        self.in_array = False
        self.keys = {}  # what word() made
        self.ahead = {}  # kind of a draw of single numbers -> Ahead
        self.lock = _threading.RLock()
        _generators.add(self)

    def read(self):
        """(key, next stream) as integers; this computes the array where that counts."""
        if self.in_array:
            self.key, self.position = (int(v) for v in _np.asarray(self.array))
        return self.key, self.position

    def write(self, key, position):
        self.key, self.position = key, position
        self.keys, self.ahead = {}, {}
        if self.in_array:
            self.array[...] = _pair(key, position, self.array.device)

    def prepare(self):
        """Makes the array, outside any trace."""
        if not self.in_array:
            device = default_device()
            if self.array is None or self.array.device != device:
                self.array = _pair(self.key, self.position, device)
            else:
                self.array[...] = _pair(self.key, self.position, device)

    def shared(self):
        """The array, which a recorded function that gets this Generator as an argument writes to."""
        if not _graphc.is_tracing():
            self.prepare()
        self.in_array = True
        return self.array

    def take(self, count, device=None):
        """`count` streams, for draws on a device (None: the current one)."""
        if _graphc.is_tracing():
            return self._take_traced(count)
        with self.lock:
            key, position = self.read()
            if self.in_array:
                self.write(key, position + count & _M64)
            else:
                self.position = position + count & _M64
        here = default_device()
        host = key if device is None or device == here else None
        return Streams(position, None, device or here, host, (self, key))

    def word(self, key, device):
        """A key as a word, shared by draws so that a kernel reads it once."""
        found = self.keys.get((key, device))
        if found is None:
            found = self.keys[key, device] = _graphc.random_word(key, device)
        return found

    def _take_traced(self, count):
        if self.array is None:  # made inside the function that is being recorded
            self.array = _pair(self.key, self.position, None)
        self.in_array = True
        first, key = self.array[1], self.array[0]
        self.array[1] = first + count
        return Streams(first, key, self.array.device)


def _unlock_all():
    """In a forked child, where the thread that held a lock is not."""
    for state in list(_generators):
        state.lock = _threading.RLock()


_os.register_at_fork(after_in_child=_unlock_all)


class Ahead:
    """The draws to come, where a loop draws few numbers each time: those of streams that are equally far apart, or where other
    draws come between now and then, of all streams. A number is a function of key, stream and place, so nobody can tell
    when it was computed."""

    __slots__ = ("last", "step", "turns", "values", "first", "stride", "isolated", "place", "parameters")
    MANY, _TURNS, _KINDS, _FAR = 64, 16, 32, 8

    def __init__(self):
        self.last = self.step = self.turns = self.first = self.stride = self.place = 0
        self.values, self.isolated, self.parameters = None, False, None

    @classmethod
    def of(cls, state, kind):
        found = state.ahead.get(kind)
        if found is None:
            if len(state.ahead) == cls._KINDS:
                state.ahead.clear()
            found = state.ahead[kind] = cls()
        return found

    def ready(self, state, count):
        """next() where the draw is made already, else None. Both under the state's lock."""
        if self.values is None or state.in_array or _graphc.draw_place() != self.place:
            return None
        row, rest = divmod(state.position - self.first, self.stride)
        if rest or not 0 <= row < self.MANY:
            return None
        self.last = state.position
        value = self.values[row]
        state.position = self.last + count & _M64
        return value.copy() if type(value) is not float and value.ndim else value

    def next(self, state, count, make):
        """The draw at the state's position, which takes `count` streams; None where it is drawn alone. make(key, first, step)
        gives a row for each of the streams first, first + step, ..."""
        position = state.position
        if state.in_array or _graphc.draw_place() != self.place or not self.place:
            self.place, self.values, self.turns = _graphc.draw_place(), None, 0
            self.last = position
            return None
        row, rest = divmod(position - self.first, self.stride) if self.stride else (0, 1)
        if rest or not 0 <= row < self.MANY or self.values is None:
            if not self._fill(state, position, make, 0 <= row < self.MANY):
                return None
            row = 0
        self.last = position
        value = self.values[row]
        state.position = position + count & _M64
        return value.copy() if type(value) is not float and value.ndim else value

    def _fill(self, state, position, make, is_between):
        """Makes rows from a position on; false where too little is known of the draws to come."""
        step, self.last = position - self.last, position
        self.isolated |= self.values is not None and is_between
        is_regular, self.step, self.values = step == self.step, step, None
        self.turns += 1
        stride = 1 if self.isolated or not is_regular else step
        if self.turns < self._TURNS or step <= 0 or (stride < step and step > self._FAR) or position + stride * self.MANY > _M64:
            return False
        self.values, self.first, self.stride = make(state.key, position, stride), position, stride
        _graphc.eval([self.values], "loop")
        if self.values.ndim == 1 and self.values.dtype.kind == "f":
            self.values = self.values.tolist()  # single draws are Python numbers (_random_generator)
        return True


class Streams:
    """Consecutive streams of one key, which the host may know."""

    __slots__ = ("first", "_word", "device", "host", "_origin")

    def __init__(self, first, key, device, host=None, origin=None):
        """`key`: None where `origin` says the state that makes it, and of what."""
        self.first, self._word, self.device, self.host, self._origin = first, key, device, host, origin

    @property
    def key(self):
        if self._word is None:
            state, key = self._origin
            self._word = state.word(key, self.device)
        return self._word

    def drawn(self, kind, shape, number, dtype):
        """The floats of one of the streams where they need no program, or None. `kind` is that of float64 in _graphc.draw."""
        if self.host is None:
            return None
        return _graphc.draw(kind if dtype == float64 else kind + 2, shape, self.first + number & _M64, self.host)

    def __getitem__(self, number):
        if isinstance(self.first, int):
            return _graphc.random_word(self.first + number & _M64, self.device)
        return self.first + number if number else self.first


def _pair(key, position, device):
    return _graphc.asarray(_np.array([key, position], _np.uint64), None, device, None)
