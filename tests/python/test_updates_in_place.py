"""Updates of arrays in memory: in the memory itself where nobody can tell, in new memory where somebody looks at the old."""

import threading

import graphc as gc
import numpy as np
import pytest


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
    x = gc.asarray(np.ones(LARGE, "f")) + 0
    b = gc.asarray(np.arange(LARGE, dtype="f")) + 0
    gc.eval(x, b)
    before = gc.cache_info()["allocations"]
    for _ in range(6):
        x += b
        gc.eval(x)
    assert gc.cache_info()["allocations"] == before
    np.testing.assert_array_equal(np.asarray(x), 1 + 6 * np.arange(LARGE, dtype="f"))


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
