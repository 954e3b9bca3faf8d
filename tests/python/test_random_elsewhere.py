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
        assert isinstance(make(gc), getattr(gc.random, name)) and type(make(gc)) is getattr(gc.random, name)
        for other in (copy.copy(make(gc)), copy.deepcopy(make(gc)), pickle.loads(pickle.dumps(make(gc)))):
            assert type(other) is type(make(gc)) and other.random(3).tolist() == make(gc).random(3).tolist()


def test_seeds_by_name():
    assert gc.random.RandomState(seed=5).rand(2).tolist() == np.random.RandomState(seed=5).rand(2).tolist()


@pytest.mark.parametrize("name", ["PCG64", "PCG64DXSM", "MT19937", "SFC64"])
def test_numpys_bit_generators_take_our_seeds(name):
    drawn = []
    for xp in (np, gc):
        seed = xp.random.SeedSequence(12345)
        bits = [getattr(xp.random, name)(s) for s in (seed, *seed.spawn(2))]
        drawn.append([xp.random.Generator(b).random(3).tolist() for b in bits] + [bits[0].spawn(1)[0].random_raw()])
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
        ours = gc.random.default_rng(7)
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
        call(gc, gc.random.default_rng(3))


@pytest.mark.parametrize("seed", [7, [1, 2, 3], np.int64(9)], ids=str)
def test_libraries_draw_from_the_seed(seed):
    """SciPy draws from NumPy's global state, as scikit-learn does."""
    from scipy import stats

    drawn = []
    for xp in (np, gc, gc):
        np.random.seed(99)  # of another program
        xp.random.seed(seed)
        drawn.append([stats.norm.rvs(size=4).tolist(), np.random.rand(2).tolist()])
        xp.random.seed(seed)
        drawn[-1].append(np.asarray(xp.random.rand(3)).tolist())
    assert drawn[0] == drawn[1] == drawn[2]
    np.random.seed(5)
    gc.random.seed()  # of nothing: NumPy's goes on
    assert np.random.rand() == np.random.RandomState(5).rand()
