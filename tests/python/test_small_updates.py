"""Updates of small parts of large arrays from other parts of them: NumPy's order, and nothing else is copied."""

import os

import graphc as gc
import numpy as np
import pytest
from support.loops import in_turns, turns_of
from test_process import PACKAGE_PARENT, run

ROWS, COLUMNS = 300, 400


def edges(xp, x):
    x[0] = x[1]
    x[-1] = x[-2]
    x[:, 0] = x[:, -2]
    x[:, -1] = x[:, 1]


def swapped(xp, x):
    a, b = x[3].copy(), x[5].copy()
    x[3], x[5] = b, a
    x[:, [2, 7]] = x[:, [7, 2]]
    x[4], x[6] = x[6].copy(), x[4].copy()


def eliminated(xp, x):
    for i in range(3):
        x[i + 1 : i + 6] -= x[i] * 0.125
        x[i + 9, i:] -= x[i, i:] * 0.5


def outer(xp, x):
    x[5:35, 5:35] -= xp.outer(x[5:35, 4], x[4, 5:35]) * 0.25


def totals(xp, x):
    x[3] = x[4:8].max(0)
    x[:, 2] = x[:, 10:20].min(1)
    x[7] = xp.cumsum(xp.round(x[8]))


def shifted(xp, x):
    x[1:40] = x[0:39]
    x[10:30] = x[12:32]
    x[3, 1:] = x[3, :-1]
    x[5, ::-1] = x[5]
    x[20:30, 5:9] = x[20:30, 4:8]
    x[40:50] = x[49:39:-1]


def chosen(xp, x):
    x[3] = xp.where(x[4] > 0.5, x[3], x[5])
    x[6:8] = x[[50, 6]]
    x[9, x[9] > 0.5] = x[10, x[9] > 0.5] * 2


def of_views(xp, x):
    y = x.reshape(30, 10, COLUMNS)
    y[2] = y[3] + y[2, ::-1]
    x.T[4:6] = x.T[5:7]
    z = x[::2]
    z[3:6] = z[4:7] - z[3:6]


def kept(xp, x):
    old = x[2:5] * 2
    x[2:5] = 0
    x[9:12] = old
    x[2:5] = x[9:12] + old


def total(xp, x):
    x[3] = x[4:8].max(0)


def scanned(xp, x):
    x[7] = xp.cumsum(xp.round(x[8]))


def gathered(xp, x):
    x[6:8] = x[[50, 6]]


def of_columns(xp, x):
    x.T[4:6] = x.T[5:7]


COPY_NOTHING = [edges, swapped, eliminated, outer, shifted, kept, total, totals, scanned, gathered, of_columns]
PROGRAMS = [*COPY_NOTHING, chosen, of_views]


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
@pytest.mark.parametrize("dtype", ["f4", "f8", "i2", "c16"])
@pytest.mark.parametrize("jitted", [False, True])
def test_they_are_numpys(program, dtype, jitted):
    if program in (eliminated, outer) and dtype == "i2" or program in (totals, total, scanned, chosen) and dtype == "c16":
        return
    rng = np.random.default_rng(4)
    x = (rng.integers(-64, 64, (ROWS, COLUMNS)) / (1 if dtype == "i2" else 16)).astype(dtype)
    y = gc.asarray(x.copy()) + gc.asarray(0, dtype=dtype)
    act = gc.jit(lambda y: program(gc, y)) if jitted else (lambda y: program(gc, y))
    for turn in range(3):
        program(np, x)
        act(y)
        if turn:
            gc.eval(y)
    np.testing.assert_array_equal(np.asarray(y), x)


@pytest.mark.parametrize("beside", [False, True])
def test_nothing_else_is_copied(beside):
    """Of 1 MB; in a process of one thread, and beside another one."""
    code = f"""
        import threading
        import graphc as gc
        import numpy as np
        from test_small_updates import COPY_NOTHING

        stop = threading.Event()
        if {beside}:
            threading.Thread(target=stop.wait, daemon=True).start()
        for program in COPY_NOTHING:
            x = np.random.default_rng(4).integers(-64, 64, (300, 400)) / 16
            y = gc.asarray(x.copy()) + 0
            gc.eval(y)

            def eager(y):
                program(gc, y)

            for act in (eager, gc.jit(eager)):
                for turn in range(4):
                    before = gc.cache_info()["copies"]
                    act(y)
                    gc.eval(y)
                    copied = gc.cache_info()["copies"] - before
                    program(np, x)
                assert copied == 0, (program.__name__, act, copied)
                np.testing.assert_array_equal(np.asarray(y), x)
        """
    run(code, PYTHONPATH=os.pathsep.join([PACKAGE_PARENT, os.path.dirname(__file__)]))


@pytest.mark.parametrize("dtype", ["int8", "int32", "uint64", "float32", "float64", "complex64", "complex128"])
def test_places_named_twice(dtype):
    """The last of what is put stays, and all that is added counts, in the order of the places."""
    rng = np.random.default_rng(7)
    a, v, p = (rng.random(40) * 90).astype(dtype), (rng.random(90) * 90).astype(dtype), rng.integers(-40, 40, 90)
    if np.dtype(dtype).kind == "c":
        a, v = a + 1j * a[::-1], v * 2j
    x, y, places, values = gc.asarray(a.copy()), gc.asarray(a.copy()), gc.asarray(p), gc.asarray(v)
    put, added = a.copy(), a.copy()
    for turn in range(40):
        x[places] = values
        gc.add.at(y, places, values)
        put[p] = v
        np.add.at(added, p, v)
        values, v = values[::-1].copy(), v[::-1].copy()
        assert np.asarray(x).tobytes() == put.tobytes() and np.asarray(y).tobytes() == added.tobytes()


def test_whole_arrays_of_a_loop_are_written_where_they_lie():
    """Of parts that are broadcast, and of what the array itself shows: nothing is left to be computed."""

    def program(xp):
        rng = np.random.default_rng(2)
        u, v, w, q = (xp.array(rng.random(shape)) for shape in ((5, 4), 4, (5, 1), (4, 5)))
        found = []
        for _ in range(40):
            u[...] = u[::-1]
            u[1:] = v
            u[:, 1:] = w
            v[:] = v[::-1]
            found.append(u.copy())
            u[:] = q.T
            u[...] = w
            u[2:, :2] = v[1]
            q[...] = q
            q[:] = q.T.reshape(4, 5)
            v += 1
        u[...] = v
        pending = False if xp is np else any(gc._graphc.pending(x) for x in (u, v, q))
        return [*found, u, v, q], pending

    (ours, pending), (theirs, _) = in_turns(0, lambda: program(gc)), program(np)
    assert not pending
    for got, want in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(np.asarray(got), want)
    for got, want in zip(program(gc)[0], theirs, strict=True):
        np.testing.assert_array_equal(np.asarray(got), want)


def test_an_array_that_is_written_from_itself_again_and_again_becomes_a_loop():
    x = gc.array(np.arange(6.0))
    with turns_of(16):
        for _ in range(41):
            x[...] = x[::-1]
    assert not gc._graphc.pending(x) and x.tolist() == [5, 4, 3, 2, 1, 0]
