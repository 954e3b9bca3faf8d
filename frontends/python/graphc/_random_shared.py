"""One global state for NumPy's legacy functions and graphc's.

Libraries draw from NumPy's (SciPy's `rvs`, scikit-learn without `random_state`), between the draws of the program that has seeded
it. A program that seeds graphc's has the two joined: its draws and theirs are one stream, as with NumPy. Whoever seeds or sets
NumPy's state by NumPy's functions has that for himself: graphc's goes on with a copy.
"""

import numpy as _np
from numpy.random import BitGenerator
from numpy.random import MT19937 as BITS

from ._random_generator import Philox4x32

_theirs = _np.random.mtrand._rand
_joined = []  # graphc's global RandomState, and its own numbers, while it draws NumPy's
_telling = []  # what graphc does to it parts nobody


class MT19937(BITS):
    """The bit generator of NumPy's global state, which tells when somebody begins another stream."""

    def _legacy_seeding(self, seed):
        part(self)
        return super()._legacy_seeding(seed)

    @property
    def state(self):
        return BITS.state.__get__(self)

    @state.setter
    def state(self, value):
        part(self)
        BITS.state.__set__(self, value)


def part(bits=None, copies=True):
    """Leaves NumPy's state to NumPy: graphc's goes on with a copy. With `bits`: where those are that state's."""
    if not _joined or _telling or (bits is not None and bits is not _theirs._bit_generator):
        return
    state, own = _joined.pop()
    if state._numbers is _theirs:
        if copies:
            own.set_state(_theirs.get_state(legacy=False))
        state._numbers = own


def restore(numbers, state):
    """Sets a state that was there before: what is joined stays so."""
    _telling.append(True)
    try:
        numbers.set_state(state)
    finally:
        _telling.pop()


def _words(numbers):
    """The words of a Mersenne Twister and its place among them."""
    state = numbers._bit_generator.state["state"]
    return state["key"].tobytes(), state["pos"]


def begin(state, how, value):
    """`seed` or `set_state` of graphc's global state, which NumPy's then is as well; unless somebody else has begun the same stream
    there: who seeds both compares them."""
    before = list(_joined)
    part(copies=False)
    try:
        getattr(state, how)(value)
    except BaseException:
        if before:
            _take(state)
        raise
    if isinstance(value, (BitGenerator, Philox4x32, type(None))) or not all(isinstance(n._bit_generator, BITS) for n in (state._numbers, _theirs)):
        return
    if not before and _words(state._numbers) == _words(_theirs):
        return
    _telling.append(True)
    try:
        if not isinstance(_theirs._bit_generator, MT19937):
            _np.random.set_bit_generator(MT19937(0))
        getattr(_theirs, how)(value)
    finally:
        _telling.pop()
    _take(state)


def _take(state):
    _joined.append((state, state._numbers))
    state._numbers = _theirs
