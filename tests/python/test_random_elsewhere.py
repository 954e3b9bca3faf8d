"""Generators and RandomStates of graphc in the hands of NumPy and SciPy, which ask whether they are NumPy's."""

import copy
import pickle

import graphc as gc
import numpy as np
import pytest

pytestmark = pytest.mark.graphc_only


def test_classes():
    for make, name in ((lambda xp: xp.random.default_rng(3), "Generator"), (lambda xp: xp.random.RandomState(3), "RandomState")):
        for xp in (np, gc):
            for cls in (np.random.Generator, np.random.RandomState):
                assert isinstance(make(xp), cls) == (cls.__name__ == name)
        assert isinstance(make(gc), getattr(gc.random, name)) and type(make(gc)).__name__ == name
        for other in (copy.copy(make(gc)), copy.deepcopy(make(gc)), pickle.loads(pickle.dumps(make(gc)))):
            assert type(other) is type(make(gc)) and other.random(3).tolist() == make(gc).random(3).tolist()


def test_each_class_has_its_own_methods_alone():
    """Libraries ask `isinstance(rng, Generator)` or for `integers`, and draw otherwise where the answer is no."""
    for state in (gc.random.RandomState(3), gc.random.RandomState(), gc.random.mtrand._rand):
        assert not isinstance(state, gc.random.Generator) and not hasattr(state, "integers") and not hasattr(state, "spawn")
    assert not isinstance(gc.random.default_rng(3), gc.random.RandomState) and not hasattr(gc.random.default_rng(), "randint")
    for xp in (np, gc):
        made = xp.random.default_rng(xp.random.RandomState(3))
        assert isinstance(made, xp.random.Generator) and made.random(2).tolist() == [0.5507979025745755, 0.7081478226181048]
    assert isinstance(gc.random.default_rng(gc.random.RandomState()), gc.random.Generator)


def test_seeds_by_name():
    assert gc.random.RandomState(seed=5).rand(2).tolist() == np.random.RandomState(seed=5).rand(2).tolist()


@pytest.mark.parametrize("name", ["PCG64", "PCG64DXSM", "MT19937", "Philox", "SFC64"])
def test_numpys_bit_generators_take_our_seeds(name):
    drawn = []
    for xp in (np, gc):
        seed = xp.random.SeedSequence(12345)
        bits = [getattr(xp.random, name)(s) for s in (seed, *seed.spawn(2))]
        drawn.append([xp.random.Generator(b).random(3).tolist() for b in bits] + [bits[0].spawn(1)[0].random_raw()])
    assert drawn[0] == drawn[1]


def test_numpys_bit_generators_take_keys():
    drawn = [xp.random.Generator(xp.random.Philox(key=xp.array([5, 6]), counter=3)).random(3).tolist() for xp in (np, gc)]
    assert drawn[0] == drawn[1]


@pytest.mark.parametrize("make", [lambda xp: xp.random.RandomState(5), lambda xp: xp.random.Generator(xp.random.PCG64(5))], ids=["RandomState", "PCG64"])
def test_numpys_generator_shares_the_state(make):
    drawn = []
    for xp in (np, gc):
        ours = make(xp)
        theirs = np.random.default_rng(ours if xp is gc or isinstance(ours, np.random.Generator) else ours._bit_generator)
        drawn.append([float(ours.uniform()), theirs.random(), theirs.integers(10), float(ours.uniform()), float(np.random.default_rng(ours).random())])
    assert drawn[0] == drawn[1]


def test_numpys_generator_over_streams():
    """Of graphc's own streams there is no bit generator of NumPy's: it has a seed of the next draw."""

    def drawn():
        ours = gc.random.default_rng(gc.random.Philox4x32(7))
        first = np.random.default_rng(ours)
        values = [first.random(), np.random.default_rng(ours).random(), float(ours.random())]
        return values, first.spawn(1)[0].random()

    assert drawn() == drawn()
    assert len(set(drawn()[0])) == 3


def test_memory_outlives_a_seed():
    ours = gc.random.RandomState(5)
    theirs = np.random.Generator(ours)
    for seed in range(20):
        ours.seed(seed)
        ours.rand(3)
    assert 0 <= theirs.random() < 1
    # A seed starts the bit generator again that both have, as NumPy's does: `theirs` has drawn the fourth number.
    assert np.random.Generator(ours).random() == np.random.Generator(np.random.RandomState(19)._bit_generator).random(5)[4]


def test_scipy_takes_them():
    pytest.importorskip("scipy")
    from scipy import optimize, stats

    calls = [
        lambda xp, rng: stats.norm.rvs(size=3, random_state=rng),
        lambda xp, rng: stats.gamma(2.0).rvs(3, random_state=rng),
        lambda xp, rng: stats.multivariate_normal.rvs([0, 0], random_state=rng),
        lambda xp, rng: stats.ortho_group.rvs(3, random_state=rng),
        lambda xp, rng: stats.bootstrap((xp.arange(10.0),), xp.mean, n_resamples=20, rng=rng).standard_error,
        lambda xp, rng: optimize.differential_evolution(lambda x: float((x**2).sum()), [(-1, 1)] * 2, rng=rng, maxiter=3).x,
    ]
    for call in calls:
        for make in (lambda xp: xp.random.RandomState(3), lambda xp: xp.random.Generator(xp.random.PCG64(3))):
            got, want = call(gc, make(gc)), call(np, make(np))
            np.testing.assert_allclose(np.asarray(got), want, rtol=1e-12)
        call(gc, gc.random.default_rng(gc.random.Philox4x32(3)))


@pytest.mark.parametrize("seed", [7, [1, 2, 3], np.int64(9)], ids=str)
def test_libraries_and_the_program_draw_one_stream(seed):
    """SciPy draws from NumPy's global state, as scikit-learn does."""
    from scipy import stats

    def program(xp):
        np.random.seed(99)  # of another program
        np.random.rand(3)
        xp.random.seed(seed)
        drawn = [stats.norm.rvs(size=3), xp.random.randn(3), stats.norm.rvs(size=3), xp.random.rand(), np.random.permutation(4)]
        state = xp.random.get_state()
        drawn += [xp.random.permutation(5), stats.uniform.rvs(size=2)]
        xp.random.set_state(state)
        return [np.asarray(v).tolist() for v in (*drawn, stats.expon.rvs(size=2), xp.random.normal(size=3))]

    want = program(np)
    assert program(gc) == want and program(np) == want and program(gc) == want
    gc.random.seed(seed)
    with pytest.raises(ValueError):
        gc.random.seed(-1)
    assert float(gc.random.rand()) == np.random.RandomState(seed).rand()
    np.random.seed(5)
    gc.random.seed()  # of nothing: NumPy's goes on
    assert np.random.rand() == np.random.RandomState(5).rand()


@pytest.mark.parametrize("order", [(np, gc), (gc, np)], ids=["NumPy first", "graphc first"])
def test_who_seeds_both_compares_them(order):
    for again in range(2):
        for xp in order:
            xp.random.seed(11)
        drawn = [[np.asarray(v).tolist() for v in (np.random.rand(2), gc.random.rand(2), np.random.randn(), gc.random.randn())] for _ in range(3)]
        assert all(a == b and c == d for a, b, c, d in drawn)
    gc.random.seed(12)
    want = np.random.RandomState(12).rand(4).tolist()
    assert gc.random.rand(2).tolist() == want[:2]
    np.random.set_state(np.random.RandomState(1).get_state())  # NumPy's alone
    assert gc.random.rand(2).tolist() == want[2:] and np.random.rand() == np.random.RandomState(1).rand()
    assert type(pickle.loads(pickle.dumps(np.random.mtrand._rand))) is np.random.RandomState


@pytest.mark.parametrize("draws", [0, 1, 2, 3])
@pytest.mark.parametrize("between", ["normal", "rand", "none"])
def test_a_state_set_again_is_still_one_with_numpys(draws, between):
    """Half of a pair of normal numbers may be left, which changes none of the state's words when it is drawn."""

    def program(xp):
        xp.random.seed(1)
        made = [xp.random.normal() for _ in range(draws)]
        state = xp.random.get_state()
        for _ in range(2):
            if between != "none":
                made.append(getattr(np.random, between)())  # as SciPy draws
            xp.random.set_state(state)
            made += [np.random.normal(), xp.random.normal(), np.random.rand(), xp.random.rand()]
        return [float(v) for v in made]

    assert program(gc) == program(np)
