"""Bits against Random123's known answers and a NumPy implementation of docs/random.md, draws against the definitions of
their distributions, and what NumPy's users rely on: shapes, dtypes, errors, seeds."""

import copy
import math
import os
import pickle
import subprocess
import sys

import graphc as gc
import numpy as np
import pytest
from graphc import _random_state
from support import distributions, exact, philox

pytestmark = pytest.mark.graphc_only


def compiles():
    return gc.cache_info()["compiles"]


def key_of(seed):
    return int(np.random.SeedSequence(seed).generate_state(1, np.uint64)[0])


# -- bits ----------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "counter,key,want",
    [
        ((0, 0, 0, 0), (0, 0), (0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8)),
        ((0xFFFFFFFF,) * 4, (0xFFFFFFFF,) * 2, (0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD)),
        (
            (0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344),
            (0xA4093822, 0x299F31D0),
            (0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1),
        ),
    ],
)
def test_known_answers_of_random123(counter, key, want):
    """Of both implementations that the tests and the package have outside the kernels."""
    assert tuple(int(w) for w in philox.words(counter, key)) == want
    own = _random_state.philox(sum(w << 32 * i for i, w in enumerate(counter)), key[0] | key[1] << 32)
    assert tuple(own) == want


@pytest.mark.parametrize("shape", [(), (0,), (1,), (7,), (1000,), (100_003,), (5, 33), (3, 4, 5), (40, 1, 48), (2, 0, 3)], ids=str)
@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_bits_of_random(device, shape, dtype):
    if dtype == "float64" and not next(d for d in gc.devices() if d == device).fp64:
        pytest.skip("no float64")
    with gc.device(device):
        rng = gc.random.default_rng(gc.random.Philox4x32(11))
        draws = [rng.random(shape, dtype=dtype) for _ in range(2)]
    for stream, x in enumerate(draws):
        assert x.shape == shape and x.dtype == dtype and x.device == device
        want = philox.random(math.prod(shape), stream, key_of(11), dtype).reshape(shape)
        np.testing.assert_array_equal(np.asarray(x), want)


def test_parts_of_a_draw():
    """Views of a draw that was not computed: rows that start anywhere, transposes, steps, single elements."""
    want = philox.random(37 * 101, 0, key_of(3)).reshape(37, 101)
    for part in (np.s_[5], np.s_[:, 7], np.s_[3:9, 11:], np.s_[::-1, ::3], np.s_[4, 9]):
        np.testing.assert_array_equal(np.asarray(gc.random.default_rng(gc.random.Philox4x32(3)).random((37, 101))[part]), want[part])
    np.testing.assert_array_equal(np.asarray(gc.random.default_rng(gc.random.Philox4x32(3)).random((37, 101)).T * 2), want.T * 2)
    rows = gc.max(gc.random.default_rng(gc.random.Philox4x32(3)).random((37, 101)), axis=1)
    np.testing.assert_array_equal(np.asarray(rows), want.max(axis=1))


def test_integers_are_the_upper_part_of_a_product():
    key, n = key_of(5), 5000
    upper, lower = (philox.bits64(n, s, key).astype(object) for s in (0, 1))
    bits = upper * 2**64 + lower
    for low, high, dtype in ((0, 10, "int64"), (-5, 250, "int16"), (0, 2**32, "uint64"), (-(2**62), 2**62, "int64"),
                             (0, 2**64, "uint64"), (-(2**63), 2**63, "int64"), (0, 2, "bool"), (-128, 128, "int8")):  # fmt: skip
        got = np.asarray(gc.random.default_rng(gc.random.Philox4x32(5)).integers(low, high, n, dtype=dtype))
        want = low + (bits * (high - low) >> 128)
        assert got.dtype == dtype and (got.astype(object) == want).all(), (low, high, dtype)
    lows, highs = np.array([0, -7, -(2**63)]), np.array([9, 2**40, 2**63 - 1])
    got = np.asarray(gc.random.default_rng(gc.random.Philox4x32(5)).integers(lows, highs, (4, 3), endpoint=True)).astype(object)
    want = lows.astype(object) + ((bits[:12].reshape(4, 3) * (highs.astype(object) - lows.astype(object) + 1)) >> 128)
    assert (got == want).all()


def test_draws_have_the_same_bits_on_every_device(device):
    """Each op of random numbers, and formulas over them; one at a time, since drivers take long to build large kernels."""
    if device == "cpu" or not next(d for d in gc.devices() if d == device).fp64:
        pytest.skip("another device with float64 is needed")
    draws = {
        "normal": lambda r: r.normal(size=(3, 77)),
        "gamma": lambda r: r.gamma(2.5, size=(3, 77)),
        "poisson": lambda r: r.poisson(gc.asarray([[3.0], [400.0]]), size=(2, 77)),
        "binomial": lambda r: r.binomial(200, gc.asarray([[0.01], [0.7]]), size=(2, 77)),
        "vonmises": lambda r: r.vonmises(0, 2, size=77),
        "integers": lambda r: r.integers(-5, 10**12, (3, 77)),
    }
    for name, draw in draws.items():
        values = []
        for where in ("cpu", device):
            with gc.device(where):
                values.append(np.asarray(draw(gc.random.default_rng(gc.random.Philox4x32(20)))))
        exact.assert_same(values[1], values[0], name)


PROGRAM = """
import hashlib, numpy as np, graphc as gc
digest = hashlib.sha256()
rng = gc.random.default_rng(gc.random.Philox4x32(5))
for x in (rng.random(100_003), rng.random((301, 333)), rng.random(100_003, dtype="float32"), rng.normal(size=50_001),
          rng.gamma(0.7, size=20_001), rng.poisson(20, 20_001), rng.binomial(90, 0.3, 20_001), rng.integers(0, 9, 30_001),
          gc.sum(rng.random((97, 1021)), axis=1), gc.sum(rng.random((1021, 97), dtype="float32"), axis=0)):
    digest.update(np.asarray(x).tobytes())
print(digest.hexdigest())
"""


def test_bits_do_not_depend_on_threads_or_vectors():
    settings = [{"GRAPHC_NUM_THREADS": n} for n in "1237"] + [{"GRAPHC_CPU_FEATURES": "avx,avx2,fma", "GRAPHC_NUM_THREADS": "2"}]
    seen = set()
    for own in settings:
        done = subprocess.run([sys.executable, "-c", PROGRAM], env={**os.environ, **own}, text=True, capture_output=True, check=True)
        seen.add(done.stdout)
    assert len(seen) == 1


# -- programs ------------------------------------------------------------------------------------------------------------


def test_pi_is_one_kernel_without_memory():
    n = 1 << 24
    rng = gc.random.default_rng(gc.random.Philox4x32(2))

    @gc.jit
    def count(rng):
        x, y = rng.random(n), rng.random(n)
        return gc.sum(x * x + y * y < 1)

    cost = count.lower(rng).cost()
    assert cost.peak_bytes < 1 << 20
    text = count.lower(rng).as_text("kernel")
    assert text.count("kernel.func") <= 2 and text.count("= graph.philox64") == 2  # the state's own update is the second
    x, y = rng.random(n), rng.random(n)
    before = gc.cache_info()["launches"]
    inside = int(gc.sum(x * x + y * y < 1))
    assert gc.cache_info()["launches"] - before <= 2  # one kernel; blocks and their fold are two launches
    sigma = math.sqrt(n * math.pi / 4 * (1 - math.pi / 4))
    assert abs(inside - n * math.pi / 4) < 6 * sigma


def test_seeds_and_later_draws_compile_nothing():
    def mean(seed, draws):
        rng = gc.random.default_rng(gc.random.Philox4x32(seed))
        for _ in range(draws):
            value = float(gc.mean(rng.normal(size=1000) * rng.random(1000)))
        return value

    first = mean(1, 1)
    before = compiles()
    values = {first, mean(2, 1), mean(3, 4), mean(2**80 + 1, 2)}
    assert compiles() == before and len(values) == 4
    rng = gc.random.default_rng(gc.random.Philox4x32(1))
    int(rng.integers(0, 10, 100)[0])
    before = compiles()
    for high in (7, 1000, 2**31):
        int(rng.integers(0, high, 100)[0])
    assert compiles() == before


def test_a_generator_inside_jit_moves_on():
    rng, plain = gc.random.default_rng(gc.random.Philox4x32(4)), gc.random.default_rng(gc.random.Philox4x32(4))

    @gc.jit
    def noisy(x):
        return x + rng.random(x.shape) * rng.normal(size=x.shape)

    def same(x):
        return x + plain.random(x.shape) * plain.normal(size=x.shape)

    zero = gc.zeros(50)
    for _ in range(3):
        np.testing.assert_array_equal(np.asarray(noisy(zero)), np.asarray(same(zero)))
    assert noisy.cache_info().traces == 1 and noisy.cache_info().eager == 0
    # Draws outside and inside take turns on one sequence.
    for _ in range(2):
        np.testing.assert_array_equal(np.asarray(rng.random(5)), np.asarray(plain.random(5)))
        np.testing.assert_array_equal(np.asarray(noisy(zero)), np.asarray(same(zero)))
    assert rng.bit_generator.state == plain.bit_generator.state


def test_generators_and_keys_as_arguments_of_jit():
    @gc.jit
    def draw(rng, x):
        return x + rng.random(x.shape)

    zero = gc.zeros(9)
    for seed in (1, 2):
        rng, plain = gc.random.default_rng(gc.random.Philox4x32(seed)), gc.random.default_rng(gc.random.Philox4x32(seed))
        plain.random(3), rng.random(3)
        for _ in range(2):
            np.testing.assert_array_equal(np.asarray(draw(rng, zero)), np.asarray(plain.random(9)))
    assert draw.cache_info().traces == 1

    @gc.jit
    def split(key):
        key, own = key.split()
        return key, own.normal(size=3)

    key = plain = gc.random.key(8)
    for _ in range(3):
        key, x = split(key)
        plain, own = plain.split()
        np.testing.assert_array_equal(np.asarray(x), np.asarray(own.normal(size=3)))
        assert key == plain
    assert split.cache_info().traces == 1


def test_keys():
    key = gc.random.key(1)
    np.testing.assert_array_equal(np.asarray(key.random(20)), philox.random(20, 0, key_of(1)))
    children = key.split(5)
    want = philox.bits64(5, 2**64 - 1, key_of(1))
    assert [c.data for c in children] == [int(v) for v in want] and len(set(children)) == 5
    assert key.fold_in(3).data == int(philox.bits64(4, 2**64 - 2, key_of(1))[3])
    assert pickle.loads(pickle.dumps(key)) == key
    rng = children[0].generator()
    np.testing.assert_array_equal(np.asarray(rng.random(4)), np.asarray(children[0].random(4)))
    assert bool(gc.any(rng.random(4) != children[0].random(4)))


# -- seeds and states ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", [0, 1, 2**32 - 1, 2**64 + 7, 10**60, [1, 2, 3], (5, 2**40), []], ids=str)
def test_seed_sequences_are_numpys(seed):
    ours, theirs = gc.random.SeedSequence(seed), np.random.SeedSequence(seed)
    for dtype in (np.uint32, np.uint64):
        np.testing.assert_array_equal(ours.generate_state(7, dtype), theirs.generate_state(7, dtype))
    for _ in range(2):
        for a, b in zip(ours.spawn(2), theirs.spawn(2)):
            np.testing.assert_array_equal(a.generate_state(4), b.generate_state(4))
            np.testing.assert_array_equal(a.spawn(1)[0].generate_state(4), b.spawn(1)[0].generate_state(4))


def test_states_and_copies():
    rng = gc.random.default_rng(gc.random.Philox4x32(5))
    rng.random(3)
    state = rng.bit_generator.state
    first = rng.random(10).tolist()
    rng.bit_generator.state = state
    assert rng.random(10).tolist() == first
    rng.bit_generator.state = state
    for other in (copy.deepcopy(rng), pickle.loads(pickle.dumps(rng))):
        assert other.random(10).tolist() == first
    assert rng.random(10).tolist() == first
    assert gc.random.default_rng(rng) is rng
    children = rng.spawn(2)
    assert children[0].random(3).tolist() != children[1].random(3).tolist()
    assert gc.random.default_rng().random(3).tolist() != gc.random.default_rng().random(3).tolist()
    same = gc.random.Generator(gc.random.Philox4x32(5)).random(3).tolist()
    assert same == gc.random.default_rng(gc.random.Philox4x32(gc.random.SeedSequence(5))).random(3).tolist()


def test_the_global_generator():
    gc.random.seed(12)
    first = [gc.random.rand(2, 3).tolist(), gc.random.randn(4).tolist(), gc.random.randint(5, size=6).tolist()]
    gc.random.seed(12)
    again = [gc.random.random_sample((2, 3)).tolist(), gc.random.standard_normal(4).tolist()]
    assert again == first[:2] and gc.random.randint(0, 5, 6).tolist() == first[2]
    state = gc.random.get_state()
    x = gc.random.normal(0, 1, 3).tolist()
    gc.random.set_state(state)
    assert gc.random.normal(0, 1, 3).tolist() == x
    own = gc.random.RandomState(12)
    assert own.rand(2, 3).tolist() == first[0]


#: Draws of the legacy interface, and of Generators, on the module given.
LEGACY = [
    "rand(2, 3)", "randn(3)", "randn()", "random_sample((2, 2))", "random()", "randint(10)", "randint(5, 50, (2, 3))", "randint(0, 200, 5, dtype='u1')",
    "uniform(-1, 1, 3)", "uniform(xp.asarray([0.0, 5.0]), xp.asarray([1.0, 9.0]))", "normal(0, [1, 2])", "permutation(7)",
    "permutation(xp.arange(12).reshape(4, 3))", "choice(5, 3, replace=False)", "choice(xp.asarray([1.5, 2.5, 3.5]), 4, p=[0.2, 0.3, 0.5])",
    "choice(['a', 'b'], 5)", "beta(2, 3, 2)", "binomial(10, 0.5, 3)", "exponential(2.0, 3)", "gamma(2, 1, 3)", "geometric(0.3, 3)",
    "hypergeometric(5, 6, 7, 4)", "zipf(2.5, 4)", "multinomial(20, [0.2, 0.8], 3)", "multivariate_normal([0, 1], xp.eye(2), 3)", "poisson(4, (2, 2))",
    "dirichlet([1, 2, 3], 2)", "standard_t(3, 2)", "vonmises(0, 1, 2)", "bytes(5)", "random_integers(3, 9, 4)",
]  # fmt: skip
MODERN = [
    "random((2, 3))", "random(3, dtype='f4')", "standard_normal(3)", "integers(10, size=4)", "integers(0, 9, 3, endpoint=True)", "normal(1, 2, 3)",
    "permuted(xp.arange(12).reshape(3, 4), axis=1)", "permutation(6)", "choice(xp.arange(9.0), 4, replace=False, shuffle=False)",
    "multivariate_hypergeometric([3, 4, 5], 6)", "gamma(2.5, size=2)", "bytes(3)",
]  # fmt: skip


def assert_draws_are_numpys(ours, theirs, draws):
    for text in draws:
        got, want = (eval(f"rng.{text}", {"rng": rng, "xp": xp}) for rng, xp in ((ours, gc), (theirs, np)))
        if isinstance(want, np.ndarray) and want.dtype.kind in "biuf":
            assert isinstance(got, gc.Array)
            exact.assert_same(np.asarray(got), want)
        else:
            assert type(got) is type(want) and np.all(got == want), text


@pytest.mark.filterwarnings("ignore:.*random_integers:DeprecationWarning")
@pytest.mark.parametrize("seed", [0, 42, [3, 1, 4]])
def test_a_seeded_legacy_interface_draws_numpys_numbers(seed):
    np.random.seed(seed)
    gc.random.seed(seed)
    assert_draws_are_numpys(gc.random, np.random, LEGACY)
    assert_draws_are_numpys(gc.random.RandomState(seed), np.random.RandomState(seed), [*LEGACY, "tomaxint(2)"])
    x, y = gc.arange(12).reshape(4, 3), np.arange(12).reshape(4, 3)
    gc.random.shuffle(x.T)
    np.random.shuffle(y.T)
    exact.assert_same(np.asarray(x), y)
    assert_draws_are_numpys(gc.random, np.random, LEGACY)  # both are as far as before
    gc.random.seed()
    with pytest.raises(ValueError, match="between 0 and 2"):
        gc.random.seed(2**32)


def test_states_of_the_legacy_interface():
    own, theirs = gc.random.RandomState(7), np.random.RandomState(7)
    own.rand(5), theirs.rand(5)
    state = own.get_state()
    assert state[0] == "MT19937" and state[2] == theirs.get_state()[2] and np.array_equal(state[1], theirs.get_state()[1])
    other = gc.random.RandomState()
    other.set_state(theirs.get_state())
    copies = [other, pickle.loads(pickle.dumps(own)), copy.deepcopy(own)]
    want = theirs.rand(3).tolist()
    assert [x.rand(3).tolist() for x in (own, *copies)] == [want] * 4
    fresh = gc.random.RandomState()
    saved = fresh.get_state()
    first = fresh.normal(size=4).tolist()
    fresh.set_state(saved)
    assert fresh.normal(size=4).tolist() == first
    for name in ("PCG64", "SFC64", "MT19937"):
        named = gc.random.RandomState(getattr(gc.random, name)(1))
        saved = named.get_state(legacy=False)
        first = named.rand(3).tolist()
        named.set_state(saved)
        assert named.rand(3).tolist() == first
    same = [gc.random.RandomState(seed) for seed in (1, np.int64(2))]
    for state in same:
        state.set_state(theirs.get_state())
    draws = [gc.jit(lambda: state.rand(3))().tolist() for state in same]  # noqa: B023
    assert draws[0] == draws[1] and draws[0] != gc.jit(gc.random.RandomState(1).rand)(3).tolist()
    assert gc.random.RandomState(np.uint32(7)).rand() == np.random.RandomState(np.uint32(7)).rand()
    for seed in (-1, np.int64(-1), 2**32):
        with pytest.raises(ValueError, match="Seed must be between 0 and 2"):
            gc.random.RandomState(seed)
    before = gc.random.get_bit_generator()
    gc.random.set_bit_generator(gc.random.PCG64(3))
    assert gc.random.rand() == np.random.RandomState(np.random.PCG64(3)).rand()
    gc.random.set_bit_generator(before)
    assert gc.random.mtrand._rand.random_sample.__self__ is gc.random.random_sample.__self__


def test_a_seeded_legacy_interface_in_jit():
    @gc.jit
    def step(x, rng):
        return x + rng.rand(3), gc.random.rand(3)

    def run():
        gc.random.seed(5)
        rng = gc.random.RandomState(5)
        return [[np.asarray(v).tolist() for v in step(gc.zeros(3), rng)] for _ in range(3)]

    wanted, numbers = [], np.random.RandomState(5)
    for _ in range(3):
        wanted.append([numbers.rand(3).tolist()] * 2)
    before = compiles()
    assert run() == run() == wanted
    assert compiles() - before <= 2
    gc.random.seed()


def test_a_seed_reaches_what_was_recorded_without():
    gc.random.seed()
    step = gc.jit(lambda x: x + gc.random.rand(3))
    assert step(gc.zeros(3)).tolist() != step(gc.zeros(3)).tolist()
    gc.random.seed(5)
    numbers = np.random.RandomState(5)
    for _ in range(2):
        assert step(gc.zeros(3)).tolist() == numbers.rand(3).tolist()
        assert np.random.rand() == numbers.rand()  # NumPy's functions draw from the same stream
    gc.random.seed()
    assert step(gc.zeros(3)).tolist() != step(gc.zeros(3)).tolist()


@pytest.mark.parametrize("draw", ["zipf", "hypergeometric"])
def test_draws_that_only_numpy_has_are_no_constants_of_jit(draw):
    parameters = {"zipf": (1.5,), "hypergeometric": (50, 50, 40)}[draw]
    rng, numbers = gc.random.RandomState(3), np.random.RandomState(3)
    step = gc.jit(lambda x: x + getattr(rng, draw)(*parameters, 8))
    for _ in range(3):
        assert step(gc.zeros(8)).tolist() == getattr(numbers, draw)(*parameters, 8).tolist()
    own = gc.random.key(3).generator()
    step = gc.jit(lambda x: x + getattr(own, draw)(*parameters, 8))
    with pytest.warns(gc.PerformanceWarning, match="draws on the host"):
        assert len({tuple(step(gc.zeros(8)).tolist()) for _ in range(3)}) == 3


@pytest.mark.parametrize("seed", [None, 4])
def test_shuffling_keeps_elements_and_reaches_views(seed):
    gc.random.seed(seed)
    x = gc.arange(40)
    rows = x[:20].reshape(5, 4)
    before = x.copy()
    gc.random.shuffle(x[20:])
    assert x[:20].tolist() == list(range(20)) and sorted(x.tolist()) == before.tolist() != x.tolist()
    gc.random.shuffle(rows)
    assert sorted(x[:20].tolist()) == list(range(20)) and all(row.tolist() == list(range(int(row[0]), int(row[0]) + 4)) for row in rows)
    if seed is not None:
        want = np.arange(40)
        numbers = np.random.RandomState(seed)
        numbers.shuffle(want[20:]), numbers.shuffle(want[:20].reshape(5, 4))
        assert x.tolist() == want.tolist()
    pending = gc.arange(6.0) + 1
    gc.random.shuffle(pending)
    assert sorted(pending.tolist()) == [1, 2, 3, 4, 5, 6] and before.tolist() == list(range(40))
    fixed = gc.broadcast_to(gc.arange(3), (3,))
    with pytest.raises(ValueError, match="read-only"):
        gc.random.shuffle(fixed)
    gc.random.seed()


def test_draws_that_only_numpy_has_follow_the_seed():
    def draws(seed):
        rng = gc.random.default_rng(gc.random.Philox4x32(seed))
        return [rng.zipf(2.5, 6).tolist(), rng.hypergeometric(9, 8, 7), rng.multivariate_hypergeometric([4, 5, 6], 5).tolist(), rng.random()]

    assert draws(1) == draws(1) != draws(2)
    ahead = gc.random.default_rng(gc.random.Philox4x32(1))
    assert ahead.zipf(2.5, 6).tolist() != ahead.zipf(2.5, 6).tolist()
    counts = gc.random.default_rng(gc.random.Philox4x32(0)).hypergeometric(30, 10, 8, size=20_000)
    assert counts.max() <= 8 and abs(float(counts.mean()) - 8 * 30 / 40) < 0.05
    assert sum(draws(3)[2]) == 5


@pytest.mark.parametrize("seed", [0, 2**70, [1, 2, 3], np.random.SeedSequence(8), np.int64(5)], ids=str)
def test_seeded_generators_have_numpys_numbers(seed):
    ours, theirs = gc.random.default_rng(seed), np.random.default_rng(seed)
    assert_draws_are_numpys(ours, theirs, MODERN)
    assert type(ours).__name__ == "Generator" and str(ours) == "Generator(PCG64)" and repr(ours) == f"Generator(PCG64) at 0x{id(ours):X}" and ours.bit_generator.state == theirs.bit_generator.state
    assert gc.random.default_rng(gc.asarray([1, 2])).random() == np.random.default_rng([1, 2]).random()
    for bad in (-1, 1.5, "a"):
        with pytest.raises((ValueError, TypeError)) as ours_said:
            gc.random.default_rng(bad)
        with pytest.raises((ValueError, TypeError)) as numpys:
            np.random.default_rng(bad)
        assert str(ours_said.value) == str(numpys.value)


def test_keys_and_philox_have_own_numbers():
    first = gc.random.default_rng(gc.random.key(7)).random(5).tolist()
    assert first == gc.random.key(7).generator().random(5).tolist() == gc.random.default_rng(gc.random.Philox4x32(7)).random(5).tolist()
    assert first != gc.random.default_rng(7).random(5).tolist()


@pytest.mark.parametrize("name", ["MT19937", "PCG64", "PCG64DXSM", "Philox", "SFC64"])
def test_generators_over_numpys_bit_generators(name):
    ours, theirs = gc.random.Generator(getattr(gc.random, name)(9)), np.random.Generator(getattr(np.random, name)(9))
    assert isinstance(ours, gc.random.Generator) and str(ours) == f"Generator({name})"
    assert_draws_are_numpys(ours, theirs, MODERN)
    x, y = gc.arange(10.0), np.arange(10.0)
    ours.shuffle(x), theirs.shuffle(y)
    exact.assert_same(np.asarray(x), y)
    copies = [pickle.loads(pickle.dumps(ours)), copy.deepcopy(ours)]
    want = theirs.random()
    assert [r.random() for r in (ours, *copies)] == [want] * 3
    assert ours.spawn(2)[1].random() == theirs.spawn(2)[1].random()
    assert gc.random.default_rng(np.random.default_rng(4)).random() == np.random.default_rng(4).random()
    assert gc.random.default_rng(np.random.RandomState(4)).random() == np.random.Generator(np.random.RandomState(4)._bit_generator).random()
    modern = gc.random.default_rng(gc.random.RandomState(4)).integers(0, 100, 5)
    assert modern.tolist() == np.random.default_rng(np.random.RandomState(4)).integers(0, 100, 5).tolist()
    with pytest.raises(ValueError, match="takes a bit generator, not str"):
        gc.random.Generator("x")


# -- distributions -------------------------------------------------------------------------------------------------------

DRAWS = 1_000_000


@pytest.mark.parametrize("case", distributions.CONTINUOUS, ids=lambda c: c.name)
def test_continuous_distributions(case):
    values = case.draw(gc.random.default_rng(gc.random.Philox4x32(123)), DRAWS)
    assert values.shape == (DRAWS,) and values.dtype == ("float32" if "float32" in case.name else "float64")
    distance, mean, variance = distributions.check_continuous(case, values)
    assert distance < distributions.KOLMOGOROV and abs(mean) < 5 and abs(variance) < 5, (distance, mean, variance)


@pytest.mark.parametrize("case", distributions.DISCRETE, ids=lambda c: c.name)
def test_discrete_distributions(case):
    values = case.draw(gc.random.default_rng(gc.random.Philox4x32(321)), DRAWS)
    score, mean, variance = distributions.check_discrete(case, values)
    assert score < 4 and abs(mean) < 5 and abs(variance) < 5, (score, mean, variance)


def test_neighbours_are_not_correlated():
    x = np.asarray(gc.random.default_rng(gc.random.Philox4x32(1)).normal(size=(2, 500_000)))
    y = np.asarray(gc.random.default_rng(gc.random.Philox4x32(2)).normal(size=500_000))
    for lag in (1, 8, 16, 32, 64):
        assert abs(np.mean(x[0, lag:] * x[0, :-lag])) < 5 / math.sqrt(500_000 - lag)
    assert abs(np.mean(x[0] * x[1])) < 5 / math.sqrt(500_000) and abs(np.mean(x[0] * y)) < 5 / math.sqrt(500_000)


def test_multinomial_and_dirichlet():
    rng = gc.random.default_rng(gc.random.Philox4x32(6))
    p = np.array([0.1, 0.2, 0.3, 0.4])
    counts = np.asarray(rng.multinomial(50, p, 20_000))
    assert counts.shape == (20_000, 4) and (counts.sum(axis=1) == 50).all() and (counts >= 0).all()
    deviation = np.sqrt(50 * p * (1 - p) / 20_000)
    assert (np.abs(counts.mean(axis=0) - 50 * p) < 5 * deviation).all()
    assert abs(np.cov(counts.T)[0, 3] + 50 * 0.1 * 0.4) < 0.15
    assert rng.multinomial([3, 4], [0.5, 0.5]).shape == (2, 2) and rng.multinomial(3, [1.0]).tolist() == [3]
    alpha = np.array([0.2, 1.0, 3.0])
    x = np.asarray(rng.dirichlet(alpha, (100, 200)))
    assert x.shape == (100, 200, 3) and np.allclose(x.sum(axis=-1), 1)
    mean, total = alpha / alpha.sum(), alpha.sum()
    deviation = np.sqrt(mean * (1 - mean) / (total + 1) / 20_000)
    assert (np.abs(x.reshape(-1, 3).mean(axis=0) - mean) < 5 * deviation).all()
    tiny = np.asarray(rng.dirichlet([1e-5, 1e-5], 100))
    assert np.isfinite(tiny).all()


# -- NumPy's interface ---------------------------------------------------------------------------------------------------

SCALARS = {
    "beta": (2, 3), "binomial": (5, 0.5), "chisquare": (3,), "exponential": (2,), "f": (3, 9), "gamma": (2, 3),
    "geometric": (0.3,), "gumbel": (0, 1), "laplace": (0, 1), "logistic": (0, 1), "lognormal": (0, 1), "logseries": (0.5,),
    "negative_binomial": (3, 0.5), "noncentral_chisquare": (3, 1), "noncentral_f": (3, 9, 1), "normal": (0, 1), "pareto": (3,),
    "poisson": (4,), "power": (3,), "random": (), "rayleigh": (1,), "standard_cauchy": (), "standard_exponential": (),
    "standard_gamma": (2,), "standard_normal": (), "standard_t": (9,), "triangular": (0, 1, 2), "uniform": (0, 1),
    "vonmises": (0, 1), "wald": (1, 1), "weibull": (2,),
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(SCALARS))
def test_shapes_and_dtypes_are_numpys(name):
    ours, theirs = gc.random.default_rng(gc.random.Philox4x32(1)), np.random.default_rng(1)
    args = SCALARS[name]
    for size in ((), 3, (2, 3), (0,), (2, 0), 1):
        got, want = getattr(ours, name)(*args, size=size), getattr(theirs, name)(*args, size=size)
        assert got.shape == want.shape and got.dtype == want.dtype, size
        assert np.isfinite(np.asarray(got)).all()
    assert type(getattr(ours, name)(*args)) is type(getattr(theirs, name)(*args))
    assert (gc.ones(2, dtype="f4") * getattr(ours, name)(*args)).dtype == "float32"
    made = gc.jit(lambda rng: getattr(rng, name)(*args))(ours)
    assert isinstance(made, gc.Array)
    if args:
        wide = [np.array([[v], [v]], float if name not in ("binomial",) or i else int) for i, v in enumerate(args)]
        wide[-1] = np.array([args[-1]] * 3)
        assert getattr(ours, name)(*wide).shape == ((2, 3) if len(args) > 1 else (3,))
        lazy = [gc.asarray(w) for w in wide]
        assert getattr(ours, name)(*lazy).shape == ((2, 3) if len(args) > 1 else (3,))
        with pytest.raises(ValueError):
            getattr(ours, name)(*wide, size=(3, 2))
    legacy = getattr(gc.random, name)(*args, 4)
    assert legacy.shape == (4,)


def test_array_parameters_equal_scalar_ones():
    for name, args in SCALARS.items():
        if args:
            a = getattr(gc.random.default_rng(gc.random.Philox4x32(3)), name)(*args, size=40)
            b = getattr(gc.random.default_rng(gc.random.Philox4x32(3)), name)(*[np.full(40, v) for v in args])
            np.testing.assert_allclose(np.asarray(a), np.asarray(b), rtol=1e-12, err_msg=name)


@pytest.mark.parametrize(
    "call",
    [
        lambda r: r.normal(0, -1),
        lambda r: r.normal([0, 1], [1, -1]),
        lambda r: r.exponential(-1),
        lambda r: r.gamma(-1),
        lambda r: r.beta(0, 1),
        lambda r: r.chisquare(0),
        lambda r: r.f(1, 0),
        lambda r: r.standard_t(0),
        lambda r: r.poisson(-1),
        lambda r: r.poisson(1e30),
        lambda r: r.poisson(float("nan")),
        lambda r: r.binomial(-1, 0.5),
        lambda r: r.binomial(1, 1.5),
        lambda r: r.binomial(1, float("nan")),
        lambda r: r.geometric(0),
        lambda r: r.negative_binomial(0, 0.5),
        lambda r: r.logseries(1),
        lambda r: r.pareto(0),
        lambda r: r.power(0),
        lambda r: r.weibull(-1),
        lambda r: r.rayleigh(-1),
        lambda r: r.wald(0, 1),
        lambda r: r.vonmises(0, -1),
        lambda r: r.triangular(1, 0, 2),
        lambda r: r.triangular(0, 3, 2),
        lambda r: r.triangular(1, 1, 1),
        lambda r: r.uniform(0, float("inf")),
        lambda r: r.random(-1),
        lambda r: r.random(3, dtype="int64"),
        lambda r: r.integers(5, 5),
        lambda r: r.integers(5, 4, endpoint=True),
        lambda r: r.integers(0, 300, dtype="uint8"),
        lambda r: r.integers(-1, 3, dtype="uint8"),
        lambda r: r.integers(0, 3, dtype="float64"),
        lambda r: r.integers([0, 5], [3, 5]),
        lambda r: r.multinomial(3, [0.9, 0.9, 0.1]),
        lambda r: r.multinomial(-3, [0.5, 0.5]),
        lambda r: r.dirichlet([1, -1]),
        lambda r: r.choice(0, 3),
        lambda r: r.choice(3, p=[0.5, 0.5]),
        lambda r: r.choice(3, p=[0.5, 0.6, 0.1]),
        lambda r: r.choice(3, p=[0.5, -0.5, 1]),
        lambda r: r.normal(1j),
    ],
)
def test_errors_have_numpys_class(call):
    with pytest.raises(Exception) as theirs:
        call(np.random.default_rng(1))
    with pytest.raises(gc.GraphcError) as ours:
        call(gc.random.default_rng(gc.random.Philox4x32(1)))
    expected = theirs.type if theirs.type in (ValueError, TypeError, OverflowError) else ValueError
    assert isinstance(ours.value, expected), (theirs.value, ours.value)


@pytest.mark.parametrize("seed", [-1, [1, -2]])
def test_negative_seeds_are_refused(seed):
    with pytest.raises(ValueError, match="non-negative"):
        gc.random.default_rng(gc.random.Philox4x32(seed))


def test_out():
    rng, plain = gc.random.default_rng(gc.random.Philox4x32(1)), gc.random.default_rng(gc.random.Philox4x32(1))
    out = gc.zeros((2, 3))
    view = out[1]
    assert rng.random(out=out) is out
    np.testing.assert_array_equal(np.asarray(out), np.asarray(plain.random((2, 3))))
    assert rng.standard_normal(3, out=view) is view
    np.testing.assert_array_equal(np.asarray(out[1]), np.asarray(plain.standard_normal(3)))
    small = gc.zeros(4, dtype="float32")
    rng.standard_gamma(2.0, out=small, dtype="float32")
    assert small.dtype == np.float32 and bool(gc.all(small > 0))
    with pytest.raises(TypeError):
        rng.random(out=small)
    with pytest.raises(ValueError):
        rng.random(5, out=out)


def test_choice_of_integers():
    rng = gc.random.default_rng(gc.random.Philox4x32(9))
    x = np.asarray(rng.choice(10, (3, 1000)))
    assert x.shape == (3, 1000) and x.dtype == np.int64 and set(np.unique(x)) == set(range(10))
    assert rng.choice(5).shape == () and rng.choice(5, 0).shape == (0,)
    picked = np.asarray(rng.choice(4, 1000, p=[0, 0.5, 0, 0.5]))
    assert set(np.unique(picked)) == {1, 3}


def test_choice_of_values():
    rng = gc.random.default_rng(gc.random.Philox4x32(2))
    for words in (["a", "b"], ("a", "b"), np.array(["a", "b"])):
        drawn = rng.choice(words, 50)
        assert type(drawn) is np.ndarray and drawn.dtype == "<U1" and set(drawn.tolist()) == {"a", "b"} and rng.choice(words) in ("a", "b")
    x = np.arange(12.0).reshape(3, 4) * 10
    picked = np.asarray(rng.choice(gc.asarray(x), (5, 2), axis=1))
    assert picked.shape == (3, 5, 2) and np.isin(picked[1], x[1]).all() and (picked[1] == picked[0] + 40).all()
    assert rng.choice([5, 7, 9]).tolist() in (5, 7, 9)
    many = np.asarray(rng.choice(300, 200_000, p=np.arange(300) / (299 * 150)))
    assert abs(many.mean() - 199.67) < 5 * 70.7 / np.sqrt(200_000) and many.min() > 0


def test_choice_without_replacement():
    rng = gc.random.default_rng(gc.random.Philox4x32(3))
    assert sorted(rng.choice(10, 10, replace=False).tolist()) == list(range(10))
    assert len(set(rng.choice(100, (4, 5), replace=False).ravel().tolist())) == 20
    firsts = np.array([rng.choice(3, 2, replace=False, p=[0.5, 0.3, 0.2]).tolist() for _ in range(1500)])
    assert (firsts[:, 0] != firsts[:, 1]).all()
    assert abs((firsts[:, 0] == 0).mean() - 0.5) < 0.07
    assert abs(((firsts[:, 0] == 0) & (firsts[:, 1] == 1)).mean() - 0.5 * 0.3 / 0.5) < 0.07
    for wrong in (lambda: rng.choice(3, 4, replace=False), lambda: rng.choice(3, 3, replace=False, p=[0.5, 0.5, 0])):
        with pytest.raises(ValueError):
            wrong()


def test_permutations():
    rng = gc.random.default_rng(gc.random.Philox4x32(4))
    order = np.asarray(rng.permutation(1000))
    assert order.dtype == np.int64 and sorted(order) == list(range(1000)) and (order != np.arange(1000)).any()
    counts = {}
    orders = np.asarray(rng.permuted(np.tile(np.arange(3), (60_000, 1)), axis=1))
    for row in orders.tolist():
        counts[tuple(row)] = counts.get(tuple(row), 0) + 1
    assert len(counts) == 6 and max(abs(c - 10_000) for c in counts.values()) < 5 * np.sqrt(10_000)
    x = np.arange(24).reshape(4, 3, 2)
    moved = np.asarray(rng.permutation(gc.asarray(x), axis=1))
    assert sorted(moved[0, :, 0]) == [0, 2, 4] and (moved[1:] == moved[:1] + 6 * np.arange(1, 4)[:, None, None]).all()
    flat = np.asarray(rng.permuted(gc.asarray(x)))
    assert flat.shape == x.shape and sorted(flat.ravel()) == list(range(24))
    out = gc.zeros((4, 3, 2), dtype="int64")
    assert rng.permuted(gc.asarray(x), axis=2, out=out) is out and sorted(np.asarray(out).ravel()) == list(range(24))


def test_shuffle():
    rng = gc.random.default_rng(gc.random.Philox4x32(5))
    x = gc.arange(100).reshape(50, 2)
    view = x[:, 0]
    rng.shuffle(x)
    rows = np.asarray(x)
    assert (rows[:, 1] == rows[:, 0] + 1).all() and sorted(rows[:, 0]) == list(range(0, 100, 2))
    np.testing.assert_array_equal(np.asarray(view), rows[:, 0])
    assert (rows[:, 0] != np.arange(0, 100, 2)).any()
    for other in (list(range(20)), np.arange(20)):
        rng.shuffle(other)
        assert sorted(other) == list(range(20)) and list(other) != list(range(20))
    gc.random.shuffle(x)
    with pytest.raises(TypeError):
        rng.shuffle((1, 2))


@pytest.mark.parametrize("method", ["svd", "eigh", "cholesky"])
def test_multivariate_normal(method):
    rng = gc.random.default_rng(gc.random.Philox4x32(6))
    mean, cov = np.array([1.0, -2, 3]), np.array([[2.0, 0.5, 0.2], [0.5, 1.0, -0.3], [0.2, -0.3, 0.7]])
    x = np.asarray(rng.multivariate_normal(mean, cov, (400, 500), method=method)).reshape(-1, 3)
    assert np.allclose(x.mean(axis=0), mean, atol=5 * np.sqrt(2 / 200_000))
    assert np.allclose(np.cov(x.T), cov, atol=0.04)
    assert rng.multivariate_normal(mean, cov, method=method).shape == (3,)
    for wrong in ((mean, cov[:2]), (mean[:2], cov), (mean[None], cov)):
        with pytest.raises(ValueError):
            rng.multivariate_normal(*wrong, method=method)
    if method != "cholesky":
        with pytest.warns(RuntimeWarning):
            rng.multivariate_normal([0, 0], [[1, 2], [2, 1]], method=method)


def test_bytes():
    data = gc.random.default_rng(gc.random.Philox4x32(1)).bytes(1000)
    assert isinstance(data, bytes) and len(data) == 1000 and len(set(data)) > 200


def test_strings_and_objects_are_chosen_as_numpy_does():
    class Move:
        pass

    moves, words = [Move(), Move(), None], ["left", "right", "up"]
    rng, theirs = gc.random.default_rng(gc.random.Philox4x32(3)), np.random.default_rng(3)
    for values in (moves, words, np.array(words), [("a", 1), ("b", 2)]):
        for draw in (
            lambda r: r.choice(values),  # noqa: B023
            lambda r: r.choice(values, 4),  # noqa: B023
            lambda r: r.choice(values, (2, 3)),  # noqa: B023
            lambda r: r.choice(values, 2, replace=False),  # noqa: B023
            lambda r: r.choice(values, 5, p=[1.0] + [0.0] * (len(values) - 1)),  # noqa: B023
            lambda r: r.permutation(values),  # noqa: B023
        ):
            ours, expected = draw(rng), draw(theirs)
            assert type(ours) is type(expected) or isinstance(values[0], Move)
            if isinstance(expected, np.ndarray):
                assert ours.shape == expected.shape and ours.dtype == expected.dtype
                assert {str(v) for v in ours.flat} <= {str(v) for v in np.asarray(values).flat}
            else:
                assert ours in values
    assert (rng.choice(words, 5, p=[0, 1, 0]) == "right").all()
    assert sorted(rng.permutation(words)) == sorted(words)
    assert sorted(rng.choice(words, 3, replace=False)) == sorted(words)
    assert gc.random.choice(moves, p=[0, 1, 0]) is moves[1]
    with pytest.warns(gc.errors.PerformanceWarning, match="recorded anew at each call: strings"):
        gc.jit(lambda x: (gc.random.choice(words, 2), x)[1])(gc.arange(3))
