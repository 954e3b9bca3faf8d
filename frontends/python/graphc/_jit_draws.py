"""NumPy's draws in a jitted function: NumPy draws again at each call, into arrays that the recording reads."""

import _thread
import functools

from . import _graphc, _jit_numbers, _tree
from ._creation import asarray
from .errors import TraceError

_local = _thread._local()


class Draws:
    """Those of one recording, in their order. While it is made it is the active one of its thread, and copies draw, so that it takes no
    numbers."""

    def __init__(self, given):
        """`given`: the bit generators among the arguments, for which each call has its own."""
        self._given = given
        self._made = []  # while recorded: bit generators whose numbers are the same in every call
        self._copies = {}
        self.steps = []  # (bit generator or place of an argument, draw, array that holds its numbers)
        self._lock = _thread.allocate_lock()  # from drawing until a call has read the arrays

    def __enter__(self):
        _local.active = (*getattr(_local, "active", ()), self)
        return self

    def __exit__(self, *_):
        _local.active = _local.active[:-1]
        self._given = self._made = self._copies = None

    def add(self, bits, draw, copy):
        """The numbers of a draw, as the function meets them: a copy, for it may write there."""
        is_made = any(bits is made for made in self._made)
        if not is_made and id(bits) not in self._copies:
            self._copies[id(bits)] = bits, copy(bits)
        source = bits if is_made else self._copies[id(bits)][1]
        drawn = _graphc.outside_trace(functools.partial(draw, source))
        if not _graphc.is_array(drawn):
            if type(drawn) not in (int, float, bool):
                raise TraceError(f"a draw gave {type(drawn).__name__}, which a jitted function has no array for")
            drawn = _graphc.outside_trace(functools.partial(asarray, drawn))
        if not is_made:
            place = next((i for i, given in enumerate(self._given) if given is bits), None)
            self.steps.append((bits if place is None else place, draw, drawn))
        return drawn.copy()

    def call(self, function, arrays, numbers, given):
        """Calls a recorded function with new numbers. Where it raises TraceError, nothing ran and none were drawn."""
        if not self.steps:
            return function.call(arrays, numbers)
        with self._lock:
            before = {}
            for source, draw, held in self.steps:
                bits = given[source] if type(source) is int else source
                before.setdefault(id(bits), (bits, bits.state))
                held[...] = draw(bits)
            try:
                return function.call(arrays, numbers)
            except TraceError:
                for bits, state in before.values():
                    bits.state = state
                raise


def begins(bits):
    """Says that a generator is made here: in a jitted function its numbers are those of a seed, at each call the same."""
    for draws in getattr(_local, "active", ())[-1:]:
        draws._made.append(bits)


def record(bits, name, draw, copy, arguments):
    """A draw of a function that is recorded: `draw(bits)`, while it is recorded of `copy(bits)`. TraceError where its arguments are
    computed there."""
    active = getattr(_local, "active", ())
    for leaf in _tree.leaves(arguments):
        if isinstance(leaf, _jit_numbers.Traced):
            float(leaf)  # which asks for it
    if not active or any(_graphc.is_array(v) and _graphc.is_traced(v) for v in _tree.leaves(arguments)):
        raise TraceError(f"random.{name}: NumPy draws on the host, which has no values of a jitted function; use a key, or default_rng(key)")
    return active[-1].add(bits, draw, copy)
