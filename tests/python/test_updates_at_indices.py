"""Updates at places that an index array names: in the array's own memory where nobody can tell, and whole or not at all."""

import os

import graphc as gc
import numpy as np
import pytest
from test_process import PACKAGE_PARENT, run

COUNT, ROWS = 200_000, 400


def put(xp, a, p, q, v):
    a[p] = v


def add_at(xp, a, p, q, v):
    xp.add.at(a, p, v)


def add(xp, a, p, q, v):
    a[p] += v


def rows(xp, a, p, q, v):
    a.reshape(ROWS, -1)[p % ROWS] = v[:, None]


def pairs(xp, a, p, q, v):
    a.reshape(ROWS, -1)[p % ROWS, q % ROWS] = v


def computed(xp, a, p, q, v):
    a[(p * 3 + q) % 1000] = v * 2


def twice(xp, a, p, q, v):
    a[p] = v
    a[q] = v + 1


def in_turns(xp, a, p, q, v):
    a[p] += v
    xp.add.at(a, q, v)
    a[q] *= 2


def behind_a_sort(xp, a, p, q, v):
    a[xp.sort(p)] = v


def from_itself(xp, a, p, q, v):
    a[p] = a[q] + v
    a[q] = a[p] * 2


PROGRAMS = [put, add_at, add, rows, pairs, computed, twice, in_turns, behind_a_sort, from_itself]


def inputs(count, seed=0):
    rng = np.random.default_rng(seed)
    p, q = rng.integers(-COUNT, COUNT, (2, count))
    return rng.random(COUNT), p, q, rng.random(count)


@pytest.fixture(autouse=True)
def on_the_cpu():
    with gc.device("cpu"):
        yield


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("count", [1, 7, 3000, 40_000])
def test_they_are_numpys(program, count):
    a, p, q, v = inputs(count)
    eager, jitted = gc.asarray(a.copy()) + 0, gc.asarray(a.copy()) + 0
    step = gc.jit(lambda *given: program(gc, *given))
    for _ in range(3):
        program(np, a, p, q, v)
        program(gc, eager, *map(gc.asarray, (p, q, v)))
        step(jitted, *map(gc.asarray, (p, q, v)))
        np.testing.assert_array_equal(np.asarray(eager), a)
        np.testing.assert_array_equal(np.asarray(jitted), a)


@pytest.mark.parametrize("program", [f for f in PROGRAMS if f not in (rows, pairs, computed)], ids=lambda f: f.__name__)
@pytest.mark.parametrize("outside", ["p", "q"])
@pytest.mark.parametrize("place", [0, -1])
def test_an_index_outside_loses_nothing(program, outside, place):
    """A jitted function leaves its arguments as they were; statements by themselves take effect up to the one that fails."""
    a, p, q, v = inputs(3000)
    (p if outside == "p" else q)[place] = COUNT
    uses_q = program in (twice, in_turns, from_itself)
    eager, jitted = gc.asarray(a.copy()) + 0, gc.asarray(a.copy()) + 0
    step = gc.jit(lambda *given: program(gc, *given))
    if outside == "p" or uses_q:
        with pytest.raises(IndexError, match=f"{COUNT} is out of bounds for axis 0 with size {COUNT}"):
            step(jitted, *map(gc.asarray, (p, q, v)))
        np.testing.assert_array_equal(np.asarray(jitted), a)
        want = a.copy()
        with pytest.raises(IndexError):
            program(np, want, p, q, v)
        with pytest.raises(IndexError):
            program(gc, eager, *map(gc.asarray, (p, q, v)))
            gc.eval(eager)
        if program is not behind_a_sort:  # whose places are not known yet where they are used
            np.testing.assert_array_equal(np.asarray(eager), want)
    p, q = p % COUNT, q % COUNT
    step(jitted, *map(gc.asarray, (p, q, v)))  # the same program, after it failed
    program(np, a, p, q, v)
    np.testing.assert_array_equal(np.asarray(jitted), a)


def test_nothing_is_copied_for_them():
    """In a process of one thread, where nobody else can look at what a jitted function works on."""
    code = """
        import graphc as gc
        import numpy as np
        from test_updates_at_indices import PROGRAMS, inputs

        for program in PROGRAMS:
            a, p, q, v = inputs(3000)
            x = gc.asarray(a.copy()) + 0
            given = [gc.asarray(i) + 0 for i in (p, q, v)]
            gc.eval(x, *given)

            def eager(x, *given):
                program(gc, x, *given)

            for act in (eager, gc.jit(eager)):
                for turn in range(4):
                    before = gc.cache_info()["copies"]
                    act(x, *given)
                    gc.eval(x)
                    copied = gc.cache_info()["copies"] - before
                    program(np, a, p, q, v)
                assert copied == 0, (program.__name__, act, copied)
                np.testing.assert_array_equal(np.asarray(x), a)
        """
    run(code, PYTHONPATH=os.pathsep.join([PACKAGE_PARENT, os.path.dirname(__file__)]))


def test_whoever_looks_at_the_old_value_keeps_it():
    for program in (put, add_at, twice):
        a, p, q, v = inputs(3000)
        x = gc.asarray(a.copy()) + 0
        step = gc.jit(lambda *given, program=program: program(gc, *given))
        for act in (lambda x, *given, program=program: program(gc, x, *given), step):
            old = a.copy()
            for look in (lambda x: x * 3, lambda x: x.copy(), lambda x: x[5:50][::-1] + 0):
                seen, want, v = look(x), look(a), v + 1
                act(x, *map(gc.asarray, (p, q, v)))
                gc.eval(x)
                program(np, a, p, q, v)
                np.testing.assert_array_equal(np.asarray(x), a)
                np.testing.assert_array_equal(np.asarray(seen), want)
            assert (old != a).any()


def few_rows(xp, x, m, p, q, v):
    x[m] = 0
    x[m[::-1]] = v[0]


def few_rows_of_a_part(xp, x, m, p, q, v):
    x[:, 5:][m] = -1
    x[::2][m[::2]] *= 3


def places_of_a_part(xp, x, m, p, q, v):
    x[5:][p, q] = v
    x[::-1, 1:][p, q] += v
    x[3:][p] = x[p] + 1
    xp.add.at(x[2:], (p, q), v)


def places_of_turned_axes(xp, x, m, p, q, v):
    x.T[q, p] = v
    x.T[q] = v[0]
    x.reshape(10, -1, x.shape[1]).transpose(2, 0, 1)[q, 3, p % 7] = v


def places_between_slices(xp, x, m, p, q, v):
    x[2:-2, 3:60:2][p] = v[:, None]
    y = x.reshape(2, -1, x.shape[1])
    y[:, p % 50, 4:9] = v[:, None]
    y[1, p % 50, ::40] -= v[:, None]
    y[:, None, p % 50, 1:][..., q] = v


def parts_of_complex(xp, x, m, p, q, v):
    x.real[3:][p, q] = v
    x.imag[p, 2] = v
    x[4:][p, q] = 1j


def places_of_narrow_parts(xp, x, m, p, q, v):
    x[p, 3] = v
    x[q, 2:5] += v[:, None]
    x[:, 7:9][p, 1] -= v
    x.reshape(-1, 4, 100)[p, ::3, q % 100] = 2


def from_other_columns(xp, x, m, p, q, v):
    x[p, 0] = x[q, 1]
    x[p, 2] += x[q, 2]
    x[:, 3][p] = x[:, 3][q][::-1]
    x[:-1, 4][p] = x[1:, 4][: len(v) % 500].sum()
    xp.maximum.at(x[:, 5], p, x[q, 4])


IN_PARTS = [from_other_columns, places_of_narrow_parts, few_rows, few_rows_of_a_part, places_of_a_part, places_of_turned_axes, places_between_slices, parts_of_complex]


@pytest.mark.parametrize("program", IN_PARTS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", ["f8", "i2", "c16"])
@pytest.mark.parametrize("jitted", [False, True])
@pytest.mark.parametrize("count", [40, 1500])
def test_few_and_many_elements_of_parts(program, dtype, jitted, count):
    if (dtype == "c16") != (program is parts_of_complex):
        return
    rng = np.random.default_rng(5)
    x = (rng.random((600, 400)) * 50).astype(dtype)
    p, q = rng.integers(-300, 300, (2, count))
    v = (rng.random(count) * 9).astype(dtype if dtype != "c16" else "f8")
    m = rng.random(600) < 0.02
    y = gc.asarray(x.copy()) + 0
    act = gc.jit(lambda *given: program(gc, *given)) if jitted else (lambda *given: program(gc, *given))
    for _ in range(2):
        program(np, x, m, p, q, v)
        act(y, *map(gc.asarray, (m, p, q, v)))
        np.testing.assert_array_equal(np.asarray(y), x)


def test_few_elements_of_a_part_take_no_memory():
    """Neither the part nor the whole, of 24 MB, is written anew."""
    code = """
        import graphc as gc
        import numpy as np

        @gc.jit
        def jitted(x, p, q, value):
            x[5:][p, q] = value
            x.T[4:][p, q] = value

        x, want = gc.full((3000, 1000), 2.0), np.full((3000, 1000), 2.0)
        for turn in range(3):
            for part in (x[5:], x.T[4:], x[:, ::-1]):
                part[gc.asarray([3, -7, 5]), gc.asarray([1, 2, -3])] = 5.0 + turn
                gc.eval(x)
            jitted(x, gc.asarray([3, -7, 5]), gc.asarray([1, 2, -3]), 5.0 + turn)
        for part in (want[5:], want.T[4:], want[:, ::-1]):
            part[[3, -7, 5], [1, 2, -3]] = 7.0
        np.testing.assert_array_equal(np.asarray(x), want)
        """
    run(code, GRAPHC_MEMORY_LIMIT="cpu=40000000")


@pytest.mark.parametrize("part", [lambda x: x[5:], lambda x: x.T, lambda x: x[::2, ::-1], lambda x: x[:, 3:5]], ids="rows turned strided narrow".split())
@pytest.mark.parametrize("first", [(3, -7), (3, 1), (3, 2), (3, 399), (3, 400), (3, -401), (595, 1), (-596, 1), (300, -1)])
def test_indices_outside_of_a_part(part, first):
    """The words are NumPy's, whether the index is outside of the whole as well or not; nothing is written."""

    def program(x, p, q):
        part(x)[p, q] = 1.0

    x = np.random.default_rng(3).random((600, 400))
    p, q = (np.array([n, 1, 0]) for n in first)
    for act in (program, gc.jit(program)):
        a, y = x.copy(), gc.asarray(x.copy()) + 0
        gc.eval(y)
        told = []
        for f, given in ((program, (a, p, q)), (act, (y, gc.asarray(p), gc.asarray(q)))):
            try:
                f(*given)
                gc.eval(y)
                told.append("")
            except IndexError as e:
                told.append(str(e).split(" (")[0])
        assert told[0] == told[1]
        np.testing.assert_array_equal(np.asarray(y), a)


def moved_on(xp, a, p, v):
    a[p] = v
    p[:] = (p + 1) % a.shape[0]


def moved_before(xp, a, p, v):
    a[p * 2 % a.shape[0]] = v
    p -= 1
    a[p] += 1


def through_themselves(xp, a, p, v):
    p[p] = p[::-1]
    xp.add.at(p, p, 1)
    p %= a.shape[0]


@pytest.mark.parametrize("program", [moved_on, moved_before, through_themselves], ids=lambda f: f.__name__)
@pytest.mark.parametrize("jitted", [False, True])
def test_places_that_change_with_what_they_name(program, jitted):
    a, p, _, v = inputs(40_000)
    a, p = a[:40_000], p % 40_000
    y, places, values = gc.asarray(a.copy()) + 0, gc.asarray(p.copy()) + 0, gc.asarray(v) + 0
    gc.eval(y, places, values)
    act = gc.jit(lambda *given: program(gc, *given)) if jitted else (lambda *given: program(gc, *given))
    for _ in range(4):
        program(np, a, p, v)
        act(y, places, values)
        np.testing.assert_array_equal(np.asarray(y), a)
        np.testing.assert_array_equal(np.asarray(places), p)


@pytest.mark.parametrize("width", [1, 2, 3, 7, 8, 17])
@pytest.mark.parametrize("kind", ["int64", "int8", "negative", "outside"])
def test_places_within_rows(width, kind):
    """Rows are shared out among threads, and their places are looked at in blocks that begin and end within rows."""
    rng = np.random.default_rng(width)
    a, v = rng.random((3001, width)), rng.random((3001, width))
    p = np.argsort(a, axis=1).astype("int8" if kind == "int8" else "int64")
    if kind == "negative":
        p[2000:] -= width
    if kind == "outside":
        p[2987, width - 1] = -width - 1
    y, places, values = gc.asarray(a.copy()), gc.asarray(p), gc.asarray(v)
    take = gc.jit(lambda x, at: gc.take_along_axis(x, at, 1))
    if kind == "outside":
        for act in (lambda: gc.eval(take(y, places)), lambda: (gc.put_along_axis(y, places, values, 1), gc.eval(y))):
            with pytest.raises(IndexError, match=f"index -{width + 1} is out of bounds"):
                act()
    else:
        np.testing.assert_array_equal(take(y, places), np.take_along_axis(a, p.astype(int), 1))
        gc.put_along_axis(y, places, values, 1)
        gc.eval(y)
        np.put_along_axis(a, p.astype(int), v, 1)
    np.testing.assert_array_equal(y, a)


@pytest.mark.parametrize("name", ["add", "subtract", "maximum", "fmin", "logical_xor"])
@pytest.mark.parametrize("kinds", ["?i", "Bd", "fd", "hB", "FF", "DF", "dF", "ef"])
def test_operations_at_places_of_other_dtypes(name, kinds):
    rng = np.random.default_rng(3)
    a, v = (rng.integers(0, 200, 90).astype(kind) for kind in kinds)
    p = rng.integers(-40, 40, 90)
    results = []
    for xp in (np, gc):
        x, y = xp.asarray(a.copy()), xp.asarray(v)
        with np.errstate(all="ignore"), gc.errstate(all="ignore"):
            for value, places in ((y, xp.asarray(p)), (y[:3], slice(5, 8)), (2.5, xp.asarray(p))):
                try:
                    getattr(xp, name).at(x, places, value)
                except TypeError:
                    results.append(TypeError)
        results.append(np.asarray(x))
    half = len(results) // 2
    for expected, seen in zip(results[:half], results[half:]):
        np.testing.assert_array_equal(seen, expected)


@pytest.mark.parametrize("size", [5, 50, 3000])
def test_an_array_that_is_its_own_index(size):
    """What chooses the places is read before it is overwritten."""
    a = np.random.default_rng(size).permutation(size)
    x = gc.asarray(a.copy())
    for xp, of in ((np, a), (gc, x)):
        of[of] = xp.arange(size)[::-1]
        of[of - size] = of
        of[of[::-1]] = of
        xp.add.at(of, of, of)
        of %= size
        of[of] -= of
    np.testing.assert_array_equal(x, a)


@pytest.mark.parametrize("name", ["fmax", "fmin", "maximum", "minimum"])
@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16", "i4"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_extremes_at_places_in_loops(name, dtype):
    """NaN, infinities and places that come again, as a loop meets them for the first and for the last time."""
    rng = np.random.default_rng(11)
    a, v = (rng.integers(-9, 9, 60).astype(dtype) for _ in range(2))
    if dtype != "i4":
        a[::7], v[::5], v[3], a[4] = np.nan, np.nan, np.inf, -np.inf
    p = rng.integers(-60, 60, 60)
    x, values, places = gc.asarray(a.copy()), gc.asarray(v), gc.asarray(p)
    for turn in range(40):
        at, last = getattr(gc, name).at, v[turn].item()
        at(x, places, values)
        at(x[::-2], places[:20] % 30, last)
        getattr(np, name).at(a, p, v)
        getattr(np, name).at(a[::-2], p[:20] % 30, last)
        np.testing.assert_array_equal(x, a)
        x *= -1
        a *= -1
