"""Updates of arrays in memory: in the memory itself where nobody can tell, in new memory where somebody looks at the old."""

import os
import subprocess
import sys
import threading
import warnings

import graphc as gc
import numpy as np
import pytest
from test_process import run


def fresh(count=5000):
    a = np.arange(float(count))
    x = gc.asarray(a.copy()) * 1
    gc.eval(x)
    return a, x


def copies(act):
    before = gc.cache_info()["copies"]
    act()
    return gc.cache_info()["copies"] - before


@pytest.fixture(autouse=True)
def on_the_cpu():
    with gc.device("cpu"):
        yield


def test_a_part_is_updated_without_a_copy_of_the_rest():
    a, x = fresh()

    def steps():
        for _ in range(5):
            x[10:3000] = x[10:3000] * 2
            x[100:200] += x[100:200]
            gc.eval(x)

    assert copies(steps) == 0
    for _ in range(5):
        a[10:3000] = a[10:3000] * 2
        a[100:200] += a[100:200]
    np.testing.assert_array_equal(np.asarray(x), a)


def test_whoever_looks_at_the_old_value_keeps_it():
    for watch in (
        lambda x: x * 3,  # pending
        lambda x: x.copy(),
        lambda x: x[5:50][::-1] + 0,
        lambda x: np.asarray(x),
        lambda x: gc.broadcast_to(x.copy(), (2, x.shape[0])),
    ):
        a, x = fresh()
        seen = watch(x)
        want = np.array(watch(gc.asarray(a)))
        x[1:4000] = x[1:4000] + 1
        gc.eval(x)
        x[7:9] = -1.0
        gc.eval(x)
        a[1:4000] = a[1:4000] + 1
        a[7:9] = -1.0
        np.testing.assert_array_equal(np.asarray(x), a)
        np.testing.assert_array_equal(np.asarray(seen), want)


def test_overlapping_parts_read_the_old_values():
    a, x = fresh()
    for _ in range(4):
        x[1:] = x[:-1] + 1
        a[1:] = a[:-1] + 1
        gc.eval(x)
        x[:-3] = x[3:]
        a[:-3] = a[3:]
        gc.eval(x)
    np.testing.assert_array_equal(np.asarray(x), a)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "float32", "int64", "float64"])
def test_values_are_filled_in_at_once(dtype):
    a = (np.arange(2 * 6 * 10) % 5).astype(dtype).reshape(2, 6, 10)
    x = gc.asarray(a.copy())
    gc.eval(x)
    x[0, 0, 0] = 0
    a[0, 0, 0] = 0
    for _ in range(9):  # a shared memory is copied once
        x[1, 1, 1] = 1
    a[1, 1, 1] = 1
    gc.eval(x)
    view, mirror = x.transpose(2, 0, 1)[::-2], a.transpose(2, 0, 1)[::-2]

    def fills():
        for i in range(1, 5):
            x[1, i::i] = i % 2
            view[i % 3 :: i, 0] = True
            x[:, i - 1, ::-i] = x[0, 0, i]
            x[..., 5:5] = 1
        gc.eval(x)

    before = gc.cache_info()["programs_run"]
    fills()
    assert gc.cache_info()["programs_run"] == before
    for i in range(1, 5):
        a[1, i::i] = i % 2
        mirror[i % 3 :: i, 0] = True
        a[:, i - 1, ::-i] = a[0, 0, i]
    np.testing.assert_array_equal(np.asarray(x), a)
    with pytest.raises(ValueError):
        gc.broadcast_to(x, (3, 2, 6, 10))[0, 0] = 1


def test_threads_that_evaluate_while_another_updates():
    """Threads share what they read: nobody sees memory that is being overwritten."""
    rounds, failures = 60, []

    def work(number):
        try:
            a, x = fresh(20000)
            for i in range(rounds):
                x[i:15000] = x[i:15000] + number
                a[i:15000] = a[i:15000] + number
                total = shared * number
                gc.eval(x)
                assert float(total[17]) == 17.0 * number
            np.testing.assert_array_equal(np.asarray(x), a)
        except BaseException as error:
            failures.append(error)

    shared = gc.asarray(np.arange(20000.0))
    threads = [threading.Thread(target=work, args=(n,)) for n in range(1, 5)]
    for t in threads:
        t.start()
    for t in threads:
        t.join(120)
    assert not failures and not any(t.is_alive() for t in threads)


def test_threads_that_ask_for_one_array():
    for _ in range(30):
        a, x = fresh(200000)
        x[5:190000] = x[5:190000] * 2 + 1
        a[5:190000] = a[5:190000] * 2 + 1
        results = [None] * 4

        def ask(i, x=x, results=results):
            results[i] = np.array(x[i:])

        threads = [threading.Thread(target=ask, args=(i,)) for i in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join(60)
        for i, got in enumerate(results):
            np.testing.assert_array_equal(got, a[i:])


LARGE = 1 << 19  # float32: 2 MiB, from 1 MiB on memory is reused


def test_a_result_is_made_in_the_memory_of_what_it_replaces():
    """Of a process of its own: a program that met errors before allocates what tells of them."""
    run(
        f"""
        import graphc as gc
        import numpy as np

        x = gc.asarray(np.ones({LARGE}, "f")) + 0
        b = gc.asarray(np.arange({LARGE}, dtype="f")) + 0
        gc.eval(x, b)
        before = gc.cache_info()["allocations"]
        for _ in range(6):
            x += b
            gc.eval(x)
        assert gc.cache_info()["allocations"] == before
        np.testing.assert_array_equal(np.asarray(x), 1 + 6 * np.arange({LARGE}, dtype="f"))
        """
    )


@pytest.mark.parametrize("shape", [(LARGE,), (512, 1024), (1021, 777)])
def test_nobody_sees_memory_that_is_made_over(shape):
    rng = np.random.default_rng(5)
    a, c = rng.random(shape, np.float32), rng.random(shape, np.float32)
    x, y = gc.asarray(a.copy()) + 0, gc.asarray(c.copy()) + 0
    gc.eval(x, y)
    view, other, transposed = x[1:], x + 1, x.T * 2  # pending, or of the same memory
    old = x
    x = x * y - x
    np.testing.assert_array_equal(np.asarray(x), a * c - a)
    np.testing.assert_array_equal(np.asarray(old), a)
    np.testing.assert_array_equal(np.asarray(view), a[1:])
    np.testing.assert_array_equal(np.asarray(other), a + 1)
    np.testing.assert_array_equal(np.asarray(transposed), a.T * 2)
    x, want = x + 0, a * c - a
    del old, view, other, transposed
    for _ in range(3):
        y = x + y  # x is asked for again
        x = x * y
        gc.eval(x)
        c = want + c
        want = want * c
    np.testing.assert_array_equal(np.asarray(x), want)
    np.testing.assert_array_equal(np.asarray(y), c)


@pytest.mark.parametrize("shape", [(9_000_001,), (3000, 3001), (2100, 4096)])
def test_results_that_pass_the_caches_by(shape):
    """32 MiB and more are written with other instructions, on lines of the cache only."""
    a = np.arange(np.prod(shape), dtype=np.float32).reshape(shape)
    row = np.arange(shape[-1], dtype=np.float32)
    x, r = gc.asarray(a), gc.asarray(row)
    np.testing.assert_array_equal(np.asarray(x * 0.5 + r), a * np.float32(0.5) + row)
    if len(shape) == 2:
        np.testing.assert_array_equal(np.asarray((x + 1).T.copy()), (a + 1).T)
        low = a - a.max(axis=1, keepdims=True)
        np.testing.assert_array_equal(np.asarray(x - gc.max(x, axis=1, keepdims=True)), low)
    out = gc.zeros(shape, dtype="float32")
    out[..., 5:] = x[..., 5:] + 1
    want = np.zeros(shape, np.float32)
    want[..., 5:] = a[..., 5:] + 1
    np.testing.assert_array_equal(np.asarray(out), want)


def test_a_jitted_update_is_made_in_the_memory_of_the_argument():
    """Beside other threads as well, which wait for a call as short as this one."""
    run(
        """
        import threading
        import graphc as gc
        import numpy as np

        @gc.jit
        def step(a, b):
            a *= b
            a += 1

        a, b = np.random.default_rng(3).random((2, 777 * 102)).astype("f")
        x, y = gc.asarray(a) + 0, gc.asarray(b) + 0
        gc.eval(x, y)

        def turns(count):
            global a
            made = []
            for turn in range(count):
                before = gc.cache_info()["allocations"]
                step(x, y)
                made.append(gc.cache_info()["allocations"] - before)
                a = a * b + 1
            np.testing.assert_array_equal(np.asarray(x), a)
            return made

        assert turns(6)[2:] == [0] * 4
        wait = threading.Event()
        threading.Thread(target=wait.wait, daemon=True).start()
        assert turns(4) == [0] * 4
        wait.set()
        """
    )


def test_nobody_sees_memory_that_a_jitted_update_makes_over():
    @gc.jit
    def grow(a, b):
        a *= b
        a += 1

    a, c = np.random.default_rng(7).random((2, 777, 1021)).astype("f")
    x, y = gc.asarray(a) + 0, gc.asarray(c) + 0
    gc.eval(x, y)
    for holds in (lambda x: x + 0, lambda x: x.T * 2, lambda x: np.asarray(x), lambda x: x[3:].copy(), lambda x: x):
        held = holds(x)
        other = gc.asarray(a) + 0  # pending on nothing of x
        grow(x, y)
        want = a * c + 1
        np.testing.assert_array_equal(np.asarray(x), want)
        expected = holds(want if held is x else a)
        if not isinstance(held, np.ndarray):  # that one sees what NumPy's own view would, or the old values
            np.testing.assert_array_equal(np.asarray(held), expected)
        else:
            assert (held == a).all() or (held == want).all()
        np.testing.assert_array_equal(np.asarray(other), a)
        a = want
        del held
    grow(x[5:], y[5:])  # part of what is updated
    np.testing.assert_array_equal(np.asarray(x), np.vstack([a[:5], a[5:] * c[5:] + 1]))


def test_a_jitted_update_of_what_is_read_only_changes_nothing():
    @gc.jit
    def grow(a, b):
        a += 1
        b *= 2

    x, y = gc.asarray(np.ones(LARGE)) * 1.0, gc.asarray(np.ones(LARGE)) * 3.0
    gc.eval(x, y)
    grow(x, y)
    for given in ((gc.broadcast_to(x, x.shape), y), (x, gc.broadcast_to(y, y.shape))):
        with pytest.raises(ValueError, match="read-only"):
            grow(*given)
        assert (np.asarray(x) == 2).all() and (np.asarray(y) == 6).all()
    x.setflags(write=False)
    with pytest.raises(ValueError, match="read-only"):
        grow(x, y)
    assert (np.asarray(x) == 2).all() and (np.asarray(y) == 6).all()


def test_other_threads_see_whole_values():
    """While one thread's jitted steps update an array, another computes with it: the value before or after, no grid in between."""

    @gc.jit
    def steps(a):
        for _ in range(20):
            a[1:-1, 1:-1] = a[1:-1, :-2] + a[1:-1, 2:] - 2 * a[:-2, 1:-1] + 1

    total = gc.jit(lambda a: gc.sum(a))
    x = gc.asarray(np.ones((512, 1024))) + 0
    gc.eval(x)
    seen, known = [], [float(total(x))]
    done = threading.Event()

    def watch():
        while not done.is_set():
            seen.append(float(total(x)))

    other = threading.Thread(target=watch)
    other.start()
    for _ in range(6):
        steps(x)
        known.append(float(total(x)))
    done.set()
    other.join()
    assert set(seen) <= set(known)


def test_updates_beside_infinities_warn_as_numpy_does():
    """Of infinities in another operand nothing is said; of ones that no result shows, what NumPy says."""

    def programs(xp):
        def added(x, o):
            x += o

        def hidden(x, o):
            x[...] = xp.minimum(1 / x, 5.0)

        def twice(x, o):
            x[...] = 1 / (1 / x)

        return added, hidden, twice

    o = np.ones(LARGE)
    o[5] = np.inf
    start = np.full(LARGE, 2.0)
    start[7] = 0
    for number in range(3):
        for wrap in (lambda f: f, gc.jit):
            x, other = gc.asarray(start) + 0, gc.asarray(o) + 0
            gc.eval(x, other)
            expected = start.copy()
            with warnings.catch_warnings(record=True) as theirs:
                warnings.simplefilter("always")
                programs(np)[number](expected, o)
            with warnings.catch_warnings(record=True) as ours:
                warnings.simplefilter("always")
                wrap(programs(gc)[number])(x, other)
                np.testing.assert_array_equal(np.asarray(x), expected)
            assert {str(w.message) for w in ours} == {str(w.message) for w in theirs}, number


def test_jitted_updates_of_infinities_warn_where_they_come_about():
    @gc.jit
    def double(a):
        a *= 2

    x = gc.asarray(np.full(LARGE, 1e38, "f")) + 0
    gc.eval(x)
    double(x)
    with pytest.warns(RuntimeWarning, match="overflow"):
        double(x)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        double(x)  # infinite already
    assert np.isinf(np.asarray(x)).all()


def test_programs_of_one_function_hand_memory_on():
    def steps(a):
        for i in range(130):
            a = gc.flip(a) * 0.5 + i
        return a

    a = np.random.default_rng(1).random(LARGE).astype("f")
    x = gc.asarray(a)
    f = gc.jit(steps)
    for i in range(130):
        a = a[::-1] * np.float32(0.5) + np.float32(i)
    np.testing.assert_array_equal(np.asarray(f(x)), a)
    assert f.lower(x).cost().peak_bytes <= 3 * x.nbytes


STENCIL = """
import sys
import numpy as np
import graphc as gc

def steps(a):
    for _ in range(50):
        a[1:-1, 1:-1] = 0.25 * (a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])

start = np.random.default_rng(9).random((1024, 2048)).astype("f")  # 8 MiB
jitted, eager = gc.asarray(start) + 0, gc.asarray(start[:1]) + 0
gc.eval(jitted, eager)
f = gc.jit(steps)
cost = f.lower(jitted).cost()
assert (cost.peak_bytes, cost.output_bytes) == (2 * start.nbytes, start.nbytes), cost
try:
    f(jitted)
except MemoryError as e:
    assert sys.argv[1] == "fails", e
    np.testing.assert_array_equal(np.asarray(jitted), start)
else:
    assert sys.argv[1] == "runs"
    steps(start)
    np.testing.assert_array_equal(np.asarray(jitted), start)
    steps(jitted)
    gc.eval(jitted)
    steps(start)
    np.testing.assert_array_equal(np.asarray(jitted), start)
"""


@pytest.mark.parametrize("limit, ends", [("17MiB", "runs"), ("15MiB", "fails")])
def test_fifty_steps_run_in_the_memory_that_their_cost_says(limit, ends):
    """A budget of the planned bytes is enough; with less, the argument keeps its value."""
    package = os.path.dirname(os.path.dirname(gc.__file__))
    env = dict(os.environ, GRAPHC_MEMORY_LIMIT=f"cpu={limit}", PYTHONPATH=package)
    done = subprocess.run([sys.executable, "-c", STENCIL, ends], env=env, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_places_of_a_scatter_are_read_before_their_memory_is_taken():
    """A result computed beside a scatter has the memory of the places, which nobody needs later."""

    def program(xp):
        v = xp.asarray(np.arange(25.0).reshape(5, 5)).copy() * 1.5
        line = +v.T.reshape(-1)
        counted = xp.count_nonzero(line > 6) + xp.asarray(np.ones((5, 1), dtype=bool))
        xp.put_along_axis(v, xp.argmax(v, axis=-1, keepdims=True), counted, axis=-1)
        return v, counted, line

    for g, w in zip(program(gc), program(np), strict=True):
        assert np.array_equal(np.asarray(g), w)


@pytest.mark.graphc_only
def test_temporaries_of_one_size_are_handed_on():
    def running(x):
        for _ in range(10):
            x = gc.cumsum(x) * 0.5
        return x

    step = gc.jit(running)
    x = np.arange(8, dtype=np.float32)
    want = x
    for _ in range(10):
        want = np.cumsum(want) * np.float32(0.5)
    g = gc.asarray(x)
    first = np.asarray(step(g))
    before = gc.cache_info()["allocations"]
    again = step(g)
    made = gc.cache_info()["allocations"] - before
    np.testing.assert_allclose(first, want, rtol=1e-5)
    assert np.array_equal(np.asarray(again), first)
    assert np.array_equal(np.asarray(g), x)
    # Two temporaries take turns, and the result begins in one of them; each by itself would be ten.
    assert made <= 3
    assert step.lower(g).cost().peak_bytes == 3 * x.nbytes
