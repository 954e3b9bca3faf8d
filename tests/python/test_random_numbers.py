"""Numbers of Generators that graphc draws for NumPy: few of any bit generator, many of a PCG64, by bits and with the same state
afterwards."""

import graphc as gc
import numpy as np
import pytest
from support import exact

pytestmark = pytest.mark.graphc_only

MANY = [("random", ()), ("standard_normal", ()), ("uniform", (2.5, 7)), ("normal", (-1, 3)), ("normal", (0.0, 1e300)), ("uniform", (-1e308, 0)), ("uniform", (5,))]


def assert_same_stream(ours, theirs, name, args, size):
    """Numbers by NumPy's bits, and the same state afterwards. What NumPy refuses is refused."""
    try:
        want = getattr(theirs, name)(*args, size=size)
    except (ValueError, OverflowError) as error:
        with pytest.raises(type(error)) as said:
            getattr(ours, name)(*args, size=size)
        assert str(said.value) == str(error)
        return
    exact.assert_same(np.asarray(getattr(ours, name)(*args, size=size)), want)
    assert ours.bit_generator.state == theirs.bit_generator.state


@pytest.mark.parametrize("name, args", MANY, ids=str)
def test_many_numbers_are_numpys(name, args):
    ours, theirs = gc.random.default_rng(17), np.random.default_rng(17)
    for size in (2047, 2048, 8193, 16384, (300, 200), (1, 40_000), 65_536, 0, 1_000_003):
        assert_same_stream(ours, theirs, name, args, size)
        assert ours.integers(10) == theirs.integers(10)  # half of a word
    assert_same_stream(ours, theirs, "normal", (0, -1), 5000)
    assert_same_stream(ours, theirs, "uniform", (1, 0), 20_000)


FEW = [
    "random()", "random(5)", "random((2, 3))", "random(None)", "standard_normal()", "standard_normal(7)", "uniform()", "uniform(2)", "uniform(-1, 3)", "uniform(1, 2, 4)",
    "uniform(size=3)", "normal()", "normal(2)", "normal(2, 3)", "normal(0, 0.5, 9)", "normal(1, size=(2, 2))", "normal(0, 0)", "normal(2, -1)", "uniform(1, 0)",
    "normal(0, -0.0)", "uniform(-1e308, 1e308)", "integers(10)", "integers(5, 50)", "integers(5, 50, 6)", "integers(0, 1)", "integers(0, 2**31 - 1, 3)", "integers(0, 2**32, 3)",
    "integers(-5, 5, size=(2, 3))", "integers(5, 5)", "integers(7, 3)", "integers(0, 2**40)", "integers(10, endpoint=True)", "integers(0, 2**62, 3)", "random(3, 'f4')",
    "random(0)", "random(-1)", "random(())", "normal(size=())", "integers(3, size=())", "random(2.5)", "integers(2.5)", "integers(0, 3.0, 2)", "choice(5)", "choice(5, 7)",
    "choice([1.5, 2.5, 3])", "choice([4, 5, 6], 5)", "choice(xp.arange(6).reshape(3, 2), 4)", "choice(xp.arange(3.0))", "choice(0)", "choice([])", "choice(5, (2, 2))",
    "choice(1)", "choice(4, 3, False)", "choice(4, 3, p=[0.1, 0.2, 0.3, 0.4])", "choice(xp.eye(3), 2, axis=1)", "choice(['a', 'b'], 3)", "choice([True, False], 3)",
    "choice(range(4))", "choice(range(2, 9, 3), 5)", "choice(range(4), p=[0.1, 0.2, 0.3, 0.4])", "choice(range(4), 2, p=xp.arange(4) / 6)", "choice(range(0))", "choice((4, 5.5))",
    "choice((1, 2, 3), (2, 2))", "choice(range(9), 3, False)", "choice(range(3), size=0)",
]  # fmt: skip


LEGACY = [
    "rand()", "rand(3)", "rand(2, 3)", "rand(0)", "rand(-1)", "rand(2.5)", "random()", "random(4)", "random_sample()", "random_sample((2, 2))", "randn()", "randn(3)", "uniform()",
    "uniform(2, 5)", "uniform(5, 2)", "uniform(-1, 1, 3)", "uniform(size=(2, 2))", "randint(10)", "randint(5, 9)", "randint(0, 7, 5)", "randint(0, 2**32, 3)", "randint(3, size=(2, 2))",
    "randint(5, 5)", "randint(9, 2)", "randint(0, 2**31 + 5, 2)", "randint(2.5)", "randint(0, 200, 3, 'u1')", "randint(1, 2)", "randint(-5, 5)", "choice(5)", "choice(5, 4)",
    "choice([1.5, 2, 3])", "choice([4, 5, 6], (2, 2))", "choice(xp.arange(4.0), 3)", "choice(xp.arange(4))", "choice(xp.eye(2), 2)", "choice(0)", "choice([])", "choice(5, 3, False)",
    "choice(3, 4, p=[0.2, 0.3, 0.5])", "choice(['a', 'b'])", "normal()", "normal(1, 2, 3)", "permutation(5)", "random_integers(3)", "choice(1)", "choice(4, size=2)", "choice(a=4, size=2)",
    "choice(range(4))", "choice(range(2, 9, 3), 5)", "choice(range(4), p=[0.1, 0.2, 0.3, 0.4])", "choice(range(4), 2, p=xp.arange(4) / 6)", "choice(range(0))", "choice((4, 5.5))",
    "choice((1, 2, 3), (2, 2))", "choice(range(9), 3, False)", "normal(range(3), 0.5)", "binomial(range(1, 4), 0.5)",
]  # fmt: skip


@pytest.mark.parametrize("name", ["PCG64", "MT19937", "SFC64", "RandomState"])
def test_few_numbers_are_numpys(name):
    """One stream for all of them: whatever is drawn takes the words that NumPy takes."""
    if name == "RandomState":
        ours, theirs = (xp.random.RandomState(3) for xp in (gc, np))
    else:
        ours, theirs = (xp.random.Generator(getattr(xp.random, name)(3)) for xp in (gc, np))
    for text in (LEGACY if name == "RandomState" else FEW) * 3:
        found = []
        for rng, xp in ((ours, gc), (theirs, np)):
            try:
                found.append(eval(f"rng.{text}", {"rng": rng, "xp": xp}))
            except (ValueError, TypeError, OverflowError) as error:
                found.append((ValueError if isinstance(error, ValueError) else type(error), str(error).split(" (at ")[0]))
        got, want = found
        if isinstance(want, np.ndarray):
            exact.assert_same(np.asarray(got), want)
            assert isinstance(got, gc.Array) or want.dtype.kind == "U" or not want.ndim, text
        elif isinstance(want, np.generic):
            assert got.dtype == want.dtype and got == want, text
        elif isinstance(want, tuple):
            assert got[0] is want[0], (text, got, want)
        else:
            assert type(got) is type(want) and got == want, (text, got, want)
        assert ours.bytes(8) == theirs.bytes(8), text


def test_global_functions_are_numpys():
    for text in LEGACY:
        drawn = []
        for xp in (gc, np):
            xp.random.seed(12)
            try:
                drawn.append([np.asarray(eval(f"r.{text}", {"r": xp.random, "xp": xp})).tolist() for _ in range(2)] + [xp.random.bytes(8)])
            except (ValueError, TypeError, OverflowError) as error:
                drawn.append(str(error).split(" (at ")[0])
        assert drawn[0] == drawn[1], text
    gc.random.seed()


def test_normal_numbers_of_many_seeds():
    """Numbers that take several words, wherever threads meet."""
    for seed in range(300):
        assert_same_stream(gc.random.default_rng(seed), np.random.default_rng(seed), "standard_normal", (), 150_000)


def test_objects_that_give_arrays():
    class Holder:
        def __init__(self, xp):
            self.a = xp.arange(5)

        def __array__(self, dtype=None, copy=None):
            return self.a

    for make in (lambda xp: xp.random.default_rng(1), lambda xp: xp.random.RandomState(1)):
        for draw in (lambda r, x: r.permutation(x), lambda r, x: r.choice(x, 3)):
            got, want = draw(make(gc), Holder(gc)), draw(make(np), Holder(np))
            assert np.asarray(got).tolist() == want.tolist()


@pytest.mark.parametrize("make", [lambda np: np.random.default_rng(5), lambda np: np.random.RandomState(5)], ids=["Generator", "RandomState"])
def test_what_is_put_in_random_order_is_changed_where_it_lies(make):
    ours, theirs = make(gc), make(np)
    for made in ([], [3, "a", None, 2.5], list(range(300))):
        mine, other = list(made), list(made)
        ours.shuffle(mine), theirs.shuffle(other)
        assert mine == other
    host = np.arange(60.0).reshape(12, 5)
    for part in (slice(None), slice(None, None, -2)):
        mine, other = gc.asarray(host.copy())[part], host.copy()[part]
        for given in ([{}, {"axis": 1}, {"axis": -1}] if hasattr(ours, "permuted") else [{}]):
            ours.shuffle(mine, **given), theirs.shuffle(other, **given)
            np.testing.assert_array_equal(np.asarray(mine), other)
    held = [gc.arange(3), gc.ones(2)]
    kept = list(held)
    ours.shuffle(held)
    assert sorted(map(id, held)) == sorted(map(id, kept))
    with pytest.raises(ValueError):
        ours.shuffle(gc.broadcast_to(gc.arange(3), (2, 3)))


def test_draws_into_an_array_are_numpys():
    ours, theirs = gc.random.default_rng(5), np.random.default_rng(5)
    for name, args, given, dtype in (("random", (), {}, "f8"), ("random", ((2, 3), "f4"), {}, "f4"), ("standard_normal", ((2, 3),), {"dtype": "f4"}, "f4"),
                                     ("standard_exponential", (), {"method": "inv"}, "f8"), ("standard_gamma", (2.0,), {}, "f8")):  # fmt: skip
        mine, other = gc.zeros((2, 3), dtype), np.zeros((2, 3), dtype)
        shown = mine[1]
        assert getattr(ours, name)(*args, out=mine, **given) is mine
        getattr(theirs, name)(*args, out=other, **given)
        np.testing.assert_array_equal(np.asarray(mine), other)
        np.testing.assert_array_equal(np.asarray(shown), other[1])
    x = np.arange(12).reshape(3, 4)
    mine, other = gc.asarray(x.copy()), x.copy()
    assert ours.permuted(mine, axis=1, out=mine) is mine
    theirs.permuted(other, axis=1, out=other)
    np.testing.assert_array_equal(np.asarray(mine), other)
    for f in (ours, theirs):
        with pytest.raises((ValueError, TypeError)):
            f.random(out=gc.zeros(3, "f4"))
    assert ours.integers(0, 2, 9, dtype=bool).tolist() == theirs.integers(0, 2, 9, dtype=bool).tolist()
    np.testing.assert_array_equal(np.asarray(ours.random(5, "f4")), theirs.random(5, "f4"))


def test_one_of_strings_or_objects_chosen_by_a_shape_is_an_array():
    for values in (np.array([1, "a", None], object), np.array(["a", "b"]), [1.5, 2.5]):
        gc.random.seed(3)
        np.random.seed(3)
        for size in ((), None, 2, (), (1,)):
            got, want = gc.random.choice(values, size), np.random.choice(values, size)
            assert np.shape(got) == np.shape(want) and isinstance(got, gc.ndarray) == isinstance(want, np.ndarray)
            assert np.asarray(got).tolist() == np.asarray(want).tolist()
