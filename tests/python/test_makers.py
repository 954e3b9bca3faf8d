"""Objects that make arrays of themselves (`__array__`) are asked as NumPy asks them: for a dtype, and for a copy or none."""

import warnings

import graphc as gc
import numpy as np
import pytest
from support import exact


class Maker:
    """Holds an array of `xp`, and remembers with what it was asked for it."""

    def __init__(self, xp):
        self.xp, self.held, self.asked = xp, xp.arange(3.0), []


class Careful(Maker):
    def __array__(self, dtype=None, copy=None):
        self.asked.append((dtype, copy))
        return self.xp.array(self.held, dtype=dtype, copy=copy)


class Careless(Maker):
    def __array__(self, dtype=None, copy=None):
        self.asked.append((dtype, copy))
        return self.held


class Older(Maker):
    def __array__(self, dtype=None):
        self.asked.append((dtype,))
        return self.held


class Oldest(Maker):
    def __array__(self):
        self.asked.append(())
        return self.held


MAKERS = (Careful, Careless, Older, Oldest)
CALLS = {
    "asarray": lambda xp, o: xp.asarray(o),
    "asarray without copy": lambda xp, o: xp.asarray(o, copy=False),
    "asarray with copy": lambda xp, o: xp.asarray(o, copy=True),
    "asarray of its dtype": lambda xp, o: xp.asarray(o, dtype="f8"),
    "asarray of another dtype": lambda xp, o: xp.asarray(o, dtype="f4"),
    "asarray of another dtype without copy": lambda xp, o: xp.asarray(o, dtype="f4", copy=False),
    "asarray in order": lambda xp, o: xp.asarray(o, dtype="f8", order="F"),
    "array": lambda xp, o: xp.array(o),
    "array without copy": lambda xp, o: xp.array(o, copy=False),
    "array where needed": lambda xp, o: xp.array(o, copy=None),
    "array of its dtype without copy": lambda xp, o: xp.array(o, dtype="f8", copy=False),
    "array of another dtype": lambda xp, o: xp.array(o, dtype="i4"),
    "array of two axes": lambda xp, o: xp.array(o, copy=False, ndmin=2),
    "asanyarray": lambda xp, o: xp.asanyarray(o, dtype="f8"),
    "asanyarray without copy": lambda xp, o: xp.asanyarray(o, copy=False),
    "reshape": lambda xp, o: xp.reshape(o, (3, 1)),
}


def outcome(call, xp, kind):
    """What is made of such an object, what it was asked, what is warned of, and what a write to the result changes."""
    maker = kind(xp)
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        try:
            made = call(xp, maker)
        except ValueError as error:
            return str(error)[:40], maker.asked
    before = np.array(made)
    made[...] = 7
    texts = [(w.category, str(w.message), w.filename) for w in found]
    return type(made) is xp.ndarray, before.dtype, before.tolist(), np.asarray(maker.held).tolist(), maker.asked, texts


#: NumPy refuses to ask for a dtype where none is taken; graphc converts what it is given.
PAIRS = [(name, kind) for kind in MAKERS for name in CALLS if kind is not Oldest or not ("dtype" in name or name in ("asarray in order", "asanyarray"))]


@pytest.mark.parametrize(("name", "kind"), PAIRS)
def test_are_asked_as_numpy_asks(name, kind):
    assert outcome(CALLS[name], gc, kind) == outcome(CALLS[name], np, kind)


def test_that_take_no_dtype():
    maker = Oldest(gc)
    made = gc.asarray(maker, dtype="f4")
    assert made.dtype == np.float32 and made.tolist() == [0, 1, 2] and maker.asked == [()]


def test_errors_of_theirs_and_what_is_no_array():
    class Broken:
        def __array__(self, dtype=None, copy=None):
            raise TypeError("inside")

    class Lists:
        def __array__(self, dtype=None, copy=None):
            return [1, 2]

    for xp in (np, gc):
        with pytest.raises(TypeError, match="inside"):
            xp.asarray(Broken(), copy=True)
        with pytest.raises(ValueError, match="object __array__ method not producing an array"):
            xp.array(Lists())


def test_arrays_of_numpy_that_they_give():
    class Host:
        def __array__(self, dtype=None, copy=None):
            return np.arange(3).astype(dtype or int)

    assert gc.array(Host(), dtype="f4").tolist() == [0, 1, 2] and gc.array(Host(), dtype="f4").dtype == np.float32
    assert np.array_equal(gc.array(Host(), dtype="U3"), np.array(Host(), dtype="U3"))
    assert gc.asarray(Host(), dtype=object).dtype == object


def test_formats_of_graphc_alone_are_made_of_what_they_give():
    for format in ("float8_e4m3fn", "float8_e5m2"):
        got, want = (gc.asarray(o, dtype=format) for o in (Careless(np), np.arange(3.0)))
        assert type(got) is type(want) and np.asarray(got.astype("float32")).tolist() == [0.0, 1.0, 2.0]
        assert type(gc.asanyarray(Careful(np), dtype=format)) is type(want)
    with pytest.raises(TypeError):
        gc.asarray(Careless(np), dtype="no such dtype")


@pytest.mark.parametrize("size", [1, 5])
def test_memory_of_our_arrays_that_makers_give(size):
    x = gc.zeros(size)

    class Maker:
        def __array__(self, dtype=None, copy=None):
            return x._lent()

    y = gc.array(Maker(), copy=False)
    y[0] = 7
    assert isinstance(y, gc.ndarray) and gc.shares_memory(x, y) and float(x[0]) == 7


class Samples:
    """As programs write such classes: an array of ours, by `asarray`."""

    def __init__(self):
        self.values = gc.arange(4.0)

    def __len__(self):
        return 4

    def __array__(self, dtype=None, copy=None):
        return gc.asarray(self.values, dtype=dtype)


def test_code_that_knows_numpy_alone_is_given_numpys_arrays():
    import scipy.integrate
    from matplotlib.cbook import index_of

    s = Samples()
    names = {"np": np}
    exec("def ask(x): return np.asarray(x), np.array([x, x]), np.sin(x)", names)
    same, both, sines = names["ask"](s)
    assert type(same) is np.ndarray and np.array_equal(both, [[0, 1, 2, 3]] * 2) and np.array_equal(sines, np.sin(np.arange(4)))
    same[0] = 7  # the same memory, as in NumPy
    assert s.values.tolist() == [7, 1, 2, 3]
    assert np.array_equal(index_of(s)[1], [7, 1, 2, 3]) and scipy.integrate.simpson(s) == scipy.integrate.simpson([7.0, 1, 2, 3])
    assert np.atleast_1d(s).tolist() == [7, 1, 2, 3]
    assert type(gc.asarray(s)) is gc.ndarray and s.__array__() is s.values  # a program has its own


def test_makers_are_asked_for_dtypes_that_numpy_alone_has():
    def run(xp):
        asked = []

        class Pair:
            def __array__(self, dtype=None, copy=None):
                asked.append(dtype)
                return xp.array([5, [1, 2]] if dtype == object else [5, 1.5], dtype=dtype)

        made = [xp.asarray(Pair(), dtype=object), xp.array(Pair(), object), xp.asarray(Pair(), dtype="U4")]
        return [(m.dtype, m.tolist()) for m in made], [*dict.fromkeys(asked)]

    assert run(gc) == run(np)


@pytest.mark.parametrize("options", [{}, {"endpoint": False}, {"axis": -1}], ids=repr)
def test_samples_to_an_end_that_is_the_start_are_spaced_as_numpys(options):
    rng = np.random.default_rng(0)
    for turn in range(60):
        ends = rng.standard_normal(6) * 10.0 ** rng.integers(-3, 3)
        ends[rng.random(6) < 0.3 * (turn % 2)] = 0.0
        assert np.asarray(gc.linspace(0, gc.asarray(ends), 7, **options)).tobytes() == np.linspace(0, ends, 7, **options).tobytes()


def test_a_range_by_the_name_of_its_stop_without_a_step_is_refused():
    for xp in (np, gc):
        for call in (lambda: xp.arange(stop=5, step=0), lambda: xp.arange(5, step=0)):
            with pytest.raises(ZeroDivisionError):
                call()


@pytest.mark.parametrize("ends", [0, 7, 1.1, np.float32(1.1), (1, 2), (1.5, 2.5), ((1, 2), (1, 2)), ((1.1,), (2.0,)), np.array([1, 2], "f4")], ids=repr)
@pytest.mark.parametrize("shape", [(5, 6), (120, 130)])
@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "i4"])
def test_ramps_count_in_numpys_dtypes(dtype, shape, ends):
    """One number and one pair keep their dtype, pairs of several axes are Python's numbers."""
    host = (np.random.default_rng(1).random(shape) * 100).astype(dtype)
    made = gc.pad(gc.asarray(host), 40, "linear_ramp", end_values=ends)
    exact.assert_same(made, np.pad(host, 40, "linear_ramp", end_values=ends))
