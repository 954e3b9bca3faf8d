"""Draws of few numbers in loops: computed when they are drawn, or ahead, with the bits of kernels."""

import copy
import functools
import pickle

import graphc as gc
import numpy as np
import pytest

from support.loops import in_turns
from support.threads import side_by_side

pytestmark = pytest.mark.graphc_only


DRAWS = {
    "random": lambda r, size: r.random(size), "float32": lambda r, size: r.random(size, dtype=np.float32), "normal": lambda r, size: r.normal(0.5, 2.0, size),
    "standard_normal": lambda r, size: r.standard_normal(size), "uniform": lambda r, size: r.uniform(-1.0, 3.0, size),
    "exponential": lambda r, size: r.exponential(2.0, size), "integers": lambda r, size: r.integers(-5, 100, size),
    "wide": lambda r, size: r.integers(-(2**63), 2**63 - 1, size), "half": lambda r, size: r.integers(0, 2**62 + 12345, size), "choice": lambda r, size: r.choice(9, size),
    "plain normal": lambda r, size: r.normal(size=size), "plain uniform": lambda r, size: r.uniform(size=size),
    "poisson": lambda r, size: r.poisson(3.5, size), "binomial": lambda r, size: r.binomial(12, 0.25, size), "gamma": lambda r, size: r.gamma(2.5, 3.0, size),
}  # fmt: skip


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("size", [1, 5, 16, 33, 100, (3, 7), 1000, 2049, 16384, 16385], ids=str)
def test_bits_of_small_draws(name, size):
    def program():
        rng = gc.random.default_rng(gc.random.Philox4x32(12))
        return [np.asarray(DRAWS[name](rng, size)) for _ in range(3)]

    recorded, now = in_turns(gc._graphc.NEVER, program), in_turns(0, program)
    for r, n in zip(recorded, now):
        assert r.dtype == n.dtype and r.shape == n.shape and r.tobytes() == n.tobytes()


@pytest.mark.parametrize("name", DRAWS)
@pytest.mark.parametrize("size", [None, 1, 7, (3, 4), 64, 70, 300], ids=str)
def test_draws_ahead_have_the_bits_of_streams(name, size):
    """Far enough that numbers are drawn ahead, more than once; those of a Generator that is set to each place are not."""
    rng, placed = gc.random.default_rng(gc.random.Philox4x32(5)), gc.random.default_rng(gc.random.Philox4x32(5))
    states, got, want = [], [], []
    for _ in range(200):
        states.append(rng.bit_generator.state)
        got.append(DRAWS[name](rng, size))
    for state in states[::9]:
        placed.bit_generator.state = state
        want.append(in_turns(gc._graphc.NEVER, lambda: DRAWS[name](placed, (1,) if size is None else size)))
    gc.eval(*want)
    for g, w in zip(got[::9], want, strict=True):
        if size is None and not isinstance(g, gc.Array):
            assert g == w.item()  # a Python number, as NumPy's
            continue
        assert g.dtype == w.dtype and np.shape(g) == (() if size is None else w.shape)
        assert np.asarray(g).tobytes() == np.asarray(w).tobytes()
    assert all(v.base is None for v in got if isinstance(v, gc.Array)) and len({repr(v) for v in got}) > 5


def test_threads_that_share_a_generator():
    rng, drawn = gc.random.default_rng(gc.random.Philox4x32(5)), [[] for _ in range(4)]
    for _ in range(40):
        rng.random()

    def draw(mine):
        for _ in range(1000):
            mine.append(rng.random())
            mine.extend(rng.normal(size=2).tolist())

    side_by_side(*[functools.partial(draw, mine) for mine in drawn])
    assert len(set(sum(drawn, []))) == 12_000
    alone = gc.random.default_rng(gc.random.Philox4x32(5))
    for _ in range(40):
        alone.random()
    for _ in range(4000):
        alone.random(), alone.normal(size=2)
    assert rng.bit_generator.state == alone.bit_generator.state


def test_draws_ahead_of_changing_programs():
    """Kinds in turns, other parameters, states that are set, copies, arrays and jitted functions between."""
    drawn = []
    for size in (None, (1,)):
        rng, values = gc.random.default_rng(gc.random.Philox4x32(6)), []
        step = gc.jit(lambda r: r.random(2))

        def take(draw):
            values.append(np.asarray(draw).reshape(-1).tolist())

        for turn in range(150):
            take(rng.normal(size=size))
            take(rng.random(size))
            take(rng.integers(0, 6 if turn < 60 else 7, size))
            if turn % 40 == 39:
                take(rng.random(3))
            if turn == 70:
                saved = rng.bit_generator.state
            if turn == 90:
                rng.bit_generator.state = saved
            if turn == 100:
                rng = copy.deepcopy(rng)
            if turn == 110:
                rng = pickle.loads(pickle.dumps(rng))
            if turn == 130:
                take(step(rng))
        drawn.append(values)
    assert drawn[0] == drawn[1]


def test_negative_deviations_in_loops():
    rng = gc.random.default_rng(gc.random.Philox4x32(1))
    for _ in range(40):
        rng.normal(0.0, 1.0)
    for draw in (lambda: rng.normal(0.0, -1.0), lambda: rng.normal(0.0, -0.0), lambda: rng.exponential(-2.0)):
        with pytest.raises(ValueError, match="scale < 0"):
            draw()


# -- without a seed ------------------------------------------------------------------------------------------------------------


def test_few_numbers_without_a_seed():
    state = gc.random.RandomState()
    assert type(state.rand()) is float and type(state.randint(10)) is int
    x = state.rand(3, 4)
    assert isinstance(x, gc.Array) and x.shape == (3, 4) and not gc._graphc.pending(x)
    many = state.rand(1000, 1000)
    assert gc._graphc.pending(many)
    numbers = [state.normal(size=(2, 3)), state.choice(5, p=[0.5, 0.5, 0, 0, 0]), state.uniform(0, 1, size=2), state.permutation(5)]
    assert [np.shape(v) for v in numbers] == [(2, 3), (), (2,), (5,)]
    with pytest.raises(ValueError):
        state.rand(-1)


def test_states_without_a_seed_are_copied_and_named():
    for first in (False, True):
        state = gc.random.RandomState()
        if first:
            state.rand(2)
        for other in (copy.deepcopy(state), pickle.loads(pickle.dumps(state))):
            twin = copy.deepcopy(state)
            assert twin.rand(3).tolist() == other.rand(3).tolist()
            assert twin.rand(5000).tolist() == other.rand(5000).tolist()
        named = state.get_state()
        drawn = [state.rand(), *state.rand(2).tolist(), *state.rand(5000).tolist()]
        state.set_state(named)
        assert [state.rand(), *state.rand(2).tolist(), *state.rand(5000).tolist()] == drawn


def test_a_bit_generator_that_was_asked_for_is_the_one():
    before = gc.random.get_bit_generator()
    try:
        gc.random.seed()
        philox = gc.random.get_bit_generator()
        saved = philox.state
        drawn = [float(gc.random.rand()), gc.random.rand(3).tolist()]
        philox.state = saved
        assert [float(gc.random.rand()), gc.random.rand(3).tolist()] == drawn
    finally:
        gc.random.set_bit_generator(before)
        gc.random.seed()


def test_parameters_that_are_arrays_are_numpys_streams():
    """Single results and arrays on the host as parameters, in loops and outside, of every state over NumPy's numbers."""
    draws = [
        lambda r, xp: r.normal(xp.arange(3.0)[1], xp.asarray([2.0, 3.0])[0]), lambda r, xp: r.normal(xp.arange(3.0), 2, size=(2, 3)),
        lambda r, xp: r.choice(xp.arange(10.0), 4), lambda r, xp: r.choice(xp.arange(10.0)), lambda r, xp: r.permutation(xp.arange(6)),
        lambda r, xp: r.choice(5, p=xp.asarray([0.1, 0.2, 0.3, 0.2, 0.2])), lambda r, xp: r.choice(4, size=2, replace=False), lambda r, xp: r.uniform(size=3),
        lambda r, xp: r.multivariate_normal(xp.zeros(2), xp.eye(2)), lambda r, xp: r.choice(["a", "b"]), lambda r, xp: r.binomial(xp.asarray([3, 9]), 0.5),
        lambda r, xp: r.permutation(xp.arange(6.0).reshape(3, 2)), lambda r, xp: r.exponential(xp.asarray(2.0)), lambda r, xp: r.random(),
    ]  # fmt: skip
    pairs = [(gc.random.RandomState(3), np.random.RandomState(3)), (gc.random.Generator(gc.random.PCG64(3)), np.random.Generator(np.random.PCG64(3)))]
    for ours, theirs in pairs:
        for _ in range(20):
            for draw in draws:
                g, w = draw(ours, gc), draw(theirs, np)
                assert np.shape(g) == np.shape(w) and getattr(g, "dtype", type(g)) == getattr(w, "dtype", type(w))
                assert np.asarray(g).tolist() == np.asarray(w).tolist()
        with pytest.raises(ValueError, match="scale < 0"):
            ours.normal(0, gc.asarray([-1.0])[0])
    rows = gc.arange(6.0).reshape(3, 2)
    chosen = gc.random.Generator(gc.random.PCG64(1)).choice(rows, axis=0)
    chosen[...] = -1
    assert rows.tolist() == [[0, 1], [2, 3], [4, 5]]
    out = gc.zeros(3)
    ours, theirs = pairs[1]
    ours.random(out=out)
    assert out.tolist() == theirs.random(3).tolist()


def test_parameters_without_a_seed():
    state, x = gc.random.RandomState(), gc.asarray(np.arange(4.0))
    assert type(state.normal(x[1], 1)) is float and state.normal(x, 1).shape == (4,)
    assert state.choice(4, p=x / x.sum()) > 0 and not gc._graphc.pending(state.normal(x, 1))


def test_sizes_of_numpys_draws():
    """Of a stream that is NumPy's, by tuples of sizes as by numbers."""
    rng, theirs = gc.random.RandomState(3), np.random.RandomState(3)
    for draw in (lambda r: r.uniform(-1, 2, (3, 4)), lambda r: r.normal(0.5, 2.0, (2, 1, 5)), lambda r: r.randint(0, 9, (3, 3)), lambda r: r.uniform(size=(0, 2)), lambda r: r.normal(0, 1, (70, 70))):
        for _ in range(20):
            got, want = draw(rng), draw(theirs)
            assert isinstance(got, gc.ndarray) and got.shape == want.shape and got.dtype == want.dtype and got.tolist() == want.tolist()


def test_few_draws_take_the_streams_that_others_take():
    """Draws that are computed at once, recorded and in a jitted function, from one Generator in turn."""
    def program():
        rng = gc.random.default_rng(gc.random.Philox4x32(9))
        made = [rng.random(3), rng.random(), rng.uniform(-1, 1, (2, 2)), rng.random((50, 50)), rng.random(7), rng.normal(size=2)]
        made += [gc.jit(lambda r: r.random(4))(rng), rng.random(4), rng.uniform(size=5), rng.random(0), rng.random(2)]
        return [np.asarray(m).tobytes() for m in made]

    assert in_turns(gc._graphc.NEVER, program) == in_turns(16, program) == in_turns(0, program)


SIZES = (np.int64(3), np.array(3), np.array([2, 3]), [2, 3], (np.int32(2), 3), range(2, 4))


@pytest.mark.parametrize("size", SIZES, ids=str)
@pytest.mark.parametrize("name", ["random", "standard_normal", "standard_exponential", "uniform", "normal", "exponential", "integers"])
def test_sizes_are_whatever_gives_integers(name, size):
    arguments = {"integers": (0, 9)}.get(name, ())
    shape = (3,) if np.ndim(size) == 0 else (2, 3)
    want = getattr(gc.random.default_rng(5), name)(*arguments, size=shape)
    given = [size] if isinstance(size, (list, tuple, range)) else [size, gc.asarray(size)]
    for s in given + ([gc.arange(4).max()] if shape == (3,) else []):
        got = getattr(gc.random.default_rng(5), name)(*arguments, size=s)
        assert got.shape == shape and np.array_equal(got, want)


def test_sizes_that_are_none_are_refused():
    for size in (np.array([2.0, 3.0]), np.float64(3), "3"):
        with pytest.raises(TypeError):
            gc.random.default_rng(5).random(size)
    with pytest.raises(ValueError, match="negative dimensions"):
        gc.random.default_rng(5).random(np.array([2, -3]))
