"""NumPy's draws in a jitted function: NumPy draws again at each call, into arrays that the recording reads."""

import functools
import threading

from . import _graphc, _jit_numbers, _tree
from ._creation import asarray
from .errors import TraceError

_thread = threading.local()


class Draws:
    """Those of one recording, in their order. While it is made it is the active one of its thread, and what is drawn then is given
    back, so that recordings that nobody runs take no numbers."""

    def __init__(self, given):
        """`given`: the bit generators among the arguments, for which each call has its own."""
        self._given = given
        self._made = []  # while recorded: bit generators whose numbers are the same in every call
        self._before = {}
        self.steps = []  # (bit generator or place of an argument, draw, array that holds its numbers)

    def __enter__(self):
        _thread.active = (*getattr(_thread, "active", ()), self)
        return self

    def __exit__(self, *_):
        _thread.active = _thread.active[:-1]
        restore(self._before.values())
        self._given = self._made = self._before = None

    def add(self, bits, draw):
        """The numbers of a draw, as the function meets them: a copy, for it may write there."""
        is_made = any(bits is made for made in self._made)
        if not is_made:
            self._before.setdefault(id(bits), (bits, bits.state))
        drawn = _graphc.outside_trace(functools.partial(draw, bits))
        if not _graphc.is_array(drawn):
            if type(drawn) not in (int, float, bool):
                raise TraceError(f"a draw gave {type(drawn).__name__}, which a jitted function has no array for")
            drawn = _graphc.outside_trace(functools.partial(asarray, drawn))
        if not is_made:
            place = next((i for i, given in enumerate(self._given) if given is bits), None)
            self.steps.append((bits if place is None else place, draw, drawn))
        return drawn.copy()

    def again(self, given):
        """Draws for a call. Returns the states before it, for `restore`."""
        before = {}
        for source, draw, held in self.steps:
            bits = given[source] if type(source) is int else source
            before.setdefault(id(bits), (bits, bits.state))
            held[...] = draw(bits)
        return before.values()


def restore(states):
    for bits, state in states:
        bits.state = state


def begins(bits):
    """Says that a generator is made here: in a jitted function its numbers are those of a seed, at each call the same."""
    for draws in getattr(_thread, "active", ())[-1:]:
        draws._made.append(bits)


def record(bits, name, draw, arguments):
    """A draw of a function that is recorded. TraceError where its arguments are computed there."""
    active = getattr(_thread, "active", ())
    for leaf in _tree.leaves(arguments):
        if isinstance(leaf, _jit_numbers.Traced):
            float(leaf)  # which asks for it
    if not active or any(_graphc.is_array(v) and _graphc.is_traced(v) for v in _tree.leaves(arguments)):
        raise TraceError(f"random.{name}: NumPy draws on the host, which has no values of a jitted function; use a key, or default_rng(key)")
    return active[-1].add(bits, draw)
