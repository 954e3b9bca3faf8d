"""Loops that once ran a program each turn: places behind the first axis, ranges, shifts, arrays written element by element."""

import graphc as gc
import numpy as np
import pytest
from support.loops import in_turns

pytestmark = pytest.mark.graphc_only


def programs_of(loop, counter="programs_run"):
    """How many programs a loop runs once its lines are known to be one, or what else is counted."""
    for _ in range(2):
        loop()
    before = gc.cache_info()[counter]
    loop()
    return gc.cache_info()[counter] - before


def on_cpu():
    return gc.asarray([0]).device == "cpu"  # records nothing


KEYS = {
    "columns": lambda xp: (slice(None), [1, 3]),
    "tuple": lambda xp: (slice(None), (2,)),
    "pairs": lambda xp: (xp.arange(4), xp.arange(4)[::-1]),
    "grid": lambda xp: xp.ix_([0, -1], [1, 3, 0]),
    "middle": lambda xp: (slice(1, None), [[0, 1], [1, -1]], slice(None, None, 2)),
    "apart": lambda xp: ([0, 1], slice(None), [2, 0]),
    "last": lambda xp: (Ellipsis, [0, 2]),
}


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "int64", "float16", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("key", KEYS)
def test_places_of_any_axes(key, dtype):
    shape = (4, 5, 6) if key in ("middle", "apart", "last") else (4, 5)
    a = (np.arange(np.prod(shape)).reshape(shape) % 7).astype(dtype)
    x, flipped = gc.asarray(a), gc.asarray(a[::-1].T.copy()).T[::-1]
    at = KEYS[key]
    got = in_turns(0, lambda: [np.asarray(x[at(gc)]), np.asarray(flipped[at(gc)])])
    for g in got:
        np.testing.assert_array_equal(g, a[at(np)])
        assert g.dtype == a.dtype


def test_places_outside_are_refused_at_their_line():
    x = gc.arange(12.0).reshape(3, 4)
    with pytest.raises(IndexError, match="out of bounds"):
        in_turns(0, lambda: np.asarray(x[:, [0, 4]]))
    with pytest.raises(IndexError, match="out of bounds"):
        in_turns(0, lambda: np.asarray(x[gc.arange(3), gc.arange(3) + 2]))


def test_taking_places_runs_no_programs():
    x, total = gc.asarray(np.arange(600.0).reshape(120, 5)), []
    gc.eval(x)

    def loop():
        for i in range(20):
            total.append(x[:, [i % 5, 1]])
            total.append(x[gc.arange(5), gc.arange(5)])

    count = programs_of(loop)
    assert not on_cpu() or count == 0
    np.testing.assert_array_equal(total[-1], np.arange(5) * 6)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "uint64", "int64", "float32", "float64", "complex64"])
def test_ranges(dtype):
    def program(xp):
        return [xp.arange(9, dtype=dtype), xp.arange(2, 9, 3, dtype=dtype), xp.arange(5, 0, -1, dtype=dtype), xp.arange(0, dtype=dtype)]

    for got, want in zip(in_turns(0, lambda: [np.asarray(x) for x in program(gc)]), program(np), strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


def test_a_range_can_be_written():
    def program():
        x = gc.arange(6)
        y = x[2:]
        x[3] = 50
        return [np.asarray(x), np.asarray(y)]

    x, y = in_turns(0, program)
    np.testing.assert_array_equal(x, [0, 1, 2, 50, 4, 5])
    np.testing.assert_array_equal(y, [2, 50, 4, 5])


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "uint32", "int64", "uint64"])
def test_shifts_of_single_values_and_loops(dtype):
    a = np.array([0, 1, 5, 100]).astype(dtype)
    if dtype[0] == "i":
        a[1] = -7
    counts = np.arange(4).astype(dtype)
    x, by = gc.asarray(a), gc.asarray(counts)
    gc.eval(x, by)
    before = gc.cache_info()["nodes_recorded"]
    single = [~x[i] for i in range(4)]
    if dtype != "bool":
        single += [x[i] << by[i] for i in range(4)] + [x[i] >> by[i] for i in range(4)] + [x[3] >> 1, x[1] >> 60, x[3] << 2, 1 << x[2]]
    assert not on_cpu() or gc.cache_info()["nodes_recorded"] == before
    want = [~a[i] for i in range(4)]
    if dtype != "bool":
        bits = 8 * a.itemsize
        far = np.array(-1 if a[1] < 0 else 0).astype(dtype) if bits <= 60 else a[1] >> 60
        want += [a[i] << counts[i] for i in range(4)] + [a[i] >> counts[i] for i in range(4)] + [a[3] >> 1, far, a[3] << 2, 1 << a[2]]
    for s, w in zip(single, want, strict=True):
        assert s.dtype == w.dtype and int(s) == int(w)
    many = in_turns(0, lambda: [np.asarray(v) for v in ([~x] if dtype == "bool" else [~x, x << by, x >> by, x >> 2])])
    for m, w in zip(many, [~a] if dtype == "bool" else [~a, a << counts, a >> counts, a >> 2], strict=True):
        np.testing.assert_array_equal(m, w)
        assert m.dtype == w.dtype


@pytest.mark.parametrize("make", ["zeros", "ones", "empty", "full"])
def test_arrays_that_are_written_element_by_element(make):
    values = gc.asarray(np.arange(1.0, 121.0))
    gc.eval(values)
    arguments = ((120, 120), 2.5) if make == "full" else ((120, 120),)

    def diagonal():
        x = getattr(gc, make)(*arguments)
        for i in range(120):
            x[i, i] = values[i]
        return x

    count = programs_of(diagonal)
    assert not on_cpu() or count == 0
    got, want = np.asarray(diagonal()), getattr(np, make)(*arguments)
    np.testing.assert_array_equal(np.diag(got), np.arange(1.0, 121.0))
    if make != "empty":
        np.fill_diagonal(want, np.arange(1.0, 121.0))
        np.testing.assert_array_equal(got, want)


def squares_about_mean(xp, a, count):
    x = xp.asarray(a)
    x = x - xp.sum(xp.stack([x, x * x], axis=1), axis=1)  # made of what is larger than it
    mean, total = xp.mean(x), 0
    for i in range(count):
        total = total + (x[i] - mean) * (x[i + 1] - mean)
    return float(total)


@pytest.mark.parametrize("size", [20_000, 60_000])
def test_single_values_of_large_pending_ones_are_computed_at_their_line(size):
    a = np.random.default_rng(7).standard_normal(size)
    np.testing.assert_allclose(squares_about_mean(gc, a, 4000), squares_about_mean(np, a, 4000), rtol=1e-9)
    if on_cpu():
        assert programs_of(lambda: squares_about_mean(gc, a, 4000), "nodes_recorded") < 1000


def test_a_long_chain_of_single_values_is_computed_as_it_grows():
    a = np.random.default_rng(8).standard_normal(60_000)

    def chain(xp, turns):
        value = xp.sum(xp.asarray(a) * 2.0)
        for _ in range(turns):
            value = value * 0.999 + 1.0
        return float(value)

    np.testing.assert_allclose(chain(gc, 5000), chain(np, 5000), rtol=1e-9)
    if on_cpu():
        assert programs_of(lambda: chain(gc, 5000), "nodes_recorded") < 1000


@pytest.mark.skipif(not on_cpu(), reason="other devices have no loops on the host")
@pytest.mark.parametrize("dtypes", [("float64", "complex128"), ("complex64", "float32"), ("int64", "float64"), ("float32", "float64"), ("bool", "int64")])
def test_products_of_two_dtypes_record_nothing(dtypes):
    a, b = (gc.asarray(np.arange(1, 7).reshape(2, 3).astype(t)) for t in dtypes)
    made = []

    def loop():
        for _ in range(40):
            made.append(a @ b.T)

    assert programs_of(loop, "nodes_recorded") == 0
    for got in made[-2:]:
        want = np.asarray(a) @ np.asarray(b).T
        assert got.dtype == want.dtype and np.array_equal(np.asarray(got), want)


@pytest.mark.parametrize("dtype", ["?", "i2", "u1", "i8", "f2", "f4", "f8", "c8", "c16", complex, float, None])
def test_constants(dtype):
    def program(xp, turn):
        made = [xp.zeros((2, 3), dtype), xp.ones(4, dtype=dtype), xp.full((3, 2), True, dtype), xp.full(2, 1, dtype), xp.full((2,), fill_value=0, dtype=dtype)]
        if np.dtype(dtype).kind in "fc":
            made += [xp.full(3, -1.5, dtype), xp.full((1, 1), np.inf, dtype), xp.full(2, -0.0, dtype)]
        made[0][1] = turn % 2  # a value of its own
        return made

    for turn in range(40):
        for got, want in zip(program(gc, turn), program(np, turn), strict=True):
            assert got.dtype == want.dtype and np.asarray(got).tobytes() == want.tobytes()


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
@pytest.mark.parametrize("size", [63, 256, 1500, 2304, 3333, 4096])
def test_sums_of_vectors_run_no_programs(size, dtype):
    """In the trees of the programs, whose bits they have; of columns as of rows."""
    a = np.random.default_rng(size).normal(size=(size, 3)) * 100
    a[size // 2 :, 0] = a[0, 0] + 1e6  # which the first place of is asked for
    w = gc.asarray(a.astype(dtype))
    gc.eval(w)

    def results():
        x, column = gc.ascontiguousarray(w[:, 0]), w[:, 1]
        gc.eval(x)
        return [x.sum(), x.prod(), x.max(), x.min(), x.argmax(), x.argmin(), x.mean(), x @ x, x @ column, column @ column]

    got, want = in_turns(0, lambda: np.array(results())), in_turns(gc._graphc.NEVER, lambda: np.array(results()))
    np.testing.assert_array_equal(got, want)
    assert got[4] == size // 2
    x, kept = gc.ascontiguousarray(w[:, 0]), []

    def loop():
        for _ in range(20):
            kept.append(x @ x)
            kept.append(x.argmax())
            kept.append(x.sum())

    assert programs_of(loop) == 0 or not on_cpu()


@pytest.mark.parametrize("dtype", ["bool", "int8", "int16", "uint16", "int32", "uint32", "int64", "uint64", "float32", "float64", "complex128"])
@pytest.mark.parametrize("rows", [20, 3000])
def test_rows_are_written_as_they_come(rows, dtype):
    """Into arrays of any size that were made for it, of values of the same dtype and of others."""

    def program(xp, kind):
        made, x = xp.zeros((rows, 130), dtype=dtype), xp.arange(130) % 3
        copied = (xp.ones((rows, 130), dtype=dtype) + 0).astype(dtype).copy()
        x = x.astype(kind)
        for i in range(rows):
            x = (x != 0) if kind == "bool" else x + 1
            made[i] = x
            copied[rows - 1 - i, 1::2] = x[1::2]
        return made, copied, x

    for kind in (dtype, "int64"):
        with np.errstate(all="ignore"):
            want = program(np, kind)
        got = program(gc, kind)
        assert not on_cpu() or not gc._graphc.pending(got[0])
        for g, w in zip(got, want, strict=True):
            assert g.dtype == w.dtype
            np.testing.assert_array_equal(np.asarray(g), w)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint32", "int64", "float16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("size", [9, 600])
def test_elements_of_rows_are_written_as_they_come(size, dtype):
    """Places in a row at a time, named by integers or a mask, of arrays that were made for it."""
    at = np.random.default_rng(size).integers(0, size, (size, 3))

    def program(xp):
        made, places = xp.zeros((size, size), dtype=dtype), xp.asarray(at)
        turned, masked = xp.ones((size, size), dtype=dtype).T, xp.full((size, size), 2, dtype=dtype)
        x = xp.arange(3).astype(dtype)
        for i in range(size):
            made[i, places[i]] = x
            turned[i, ::2][places[i] // 2] = x  # strides, of a part
            masked[size - 1 - i, xp.arange(size) % 7 == i % 7] = i % 2
        return made, turned, masked

    want, got = program(np), program(gc)
    assert not on_cpu() or size == 9 or not gc._graphc.pending(got[0])
    for g, w in zip(got, want, strict=True):
        np.testing.assert_array_equal(np.asarray(g), w)


@pytest.mark.parametrize("dtype", ["int8", "uint16", "float64"])
def test_rows_of_what_is_written_and_seen_by_others(dtype):
    def program(xp):
        made = xp.zeros((3000, 130), dtype=dtype)
        kept = []
        for i in range(1, 60):
            made[i] = xp.arange(130).astype(dtype)
            made[i, 1:] = made[i, :-1]
            made[i] = made[i - 1] + made[i]
            if i % 20 == 0:
                kept += [made, made.copy(), made[i - 1 :]]
                made[0] += 1
        return kept

    for g, w in zip(program(gc), program(np), strict=True):
        np.testing.assert_array_equal(np.asarray(g), w)


def test_steps_of_large_arrays_stay_together():
    """Rows written at the edges of what a loop computes do not cut it apart."""
    start = np.random.default_rng(1).normal(size=(300, 200))

    def program(xp):
        u = xp.array(start)
        for i in range(30):
            u[1:-1] = u[1:-1] + 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
            u[0] = u[1]
            u[-1] = i
        return u

    np.testing.assert_allclose(np.asarray(program(gc)), program(np), rtol=1e-12)
    before = gc.cache_info()["programs_run"]
    np.asarray(program(gc))
    assert gc.cache_info()["programs_run"] - before <= 20 or not on_cpu()


ASKED = {
    "sum": (lambda xp, x, y, p, m: x + y, "?84"),
    "number": (lambda xp, x, y, p, m: x * 2, "84"),
    "comparison": (lambda xp, x, y, p, m: x < y, "?84"),
    "logical": (lambda xp, x, y, p, m: xp.logical_and(x, y), "?84"),
    "function": (lambda xp, x, y, p, m: xp.sqrt(xp.abs(x)), "f"),
    "chain": (lambda xp, x, y, p, m: (x + 1) * y, "84"),
    "cast": (lambda xp, x, y, p, m: x.astype("int16"), "?84"),
    "rows": (lambda xp, x, y, p, m: x[p], "?84"),
    "joined": (lambda xp, x, y, p, m: xp.concatenate([x[:3000], y[:3000]]), "?84"),
    "running": (lambda xp, x, y, p, m: xp.cumsum(x), "i"),
    "columns": (lambda xp, x, y, p, m: x.reshape(100, -1).max(axis=0), "84"),
    "part": (lambda xp, x, y, p, m: x[::2] + y[1::2], "?84"),
    "matrix": (lambda xp, x, y, p, m: x.reshape(100, -1).T + y.reshape(100, -1).T, "?84"),
}


@pytest.mark.skipif(not on_cpu(), reason="other devices have no loops on the host")
@pytest.mark.parametrize("dtype", ["?", "f4", "f8", "i8"])
@pytest.mark.parametrize("name", ASKED)
def test_operations_that_are_looked_at_alone_run_no_program(name, dtype):
    operation, kinds = ASKED[name]
    if dtype[0] not in kinds and dtype[-1] not in kinds:
        pytest.skip("has another loop")
    rng = np.random.default_rng(5)
    a, b = ((rng.random(10_000) * 90).astype(dtype) for _ in range(2))
    p, m = rng.integers(-10_000, 10_000, 9_000), rng.random(10_000) > 0.3
    x, y, q, n = (gc.asarray(v) for v in (a, b, p, m))
    made = []

    def loop():
        for _ in range(40):
            z = operation(gc, x, y, q, n)
            z[0].tolist()
            made.append(z)

    assert programs_of(loop) == 0
    want = operation(np, a, b, p, m)
    for got in (made[0], made[50], made[-1]):
        assert got.dtype == want.dtype and np.array_equal(np.asarray(got), want)


@pytest.mark.skipif(not on_cpu(), reason="other devices have no loops on the host")
def test_what_fusing_is_worth_for_stays_lazy():
    x = gc.asarray(np.linspace(0.0, 1.0, 10_000))

    def loop():
        for _ in range(40):
            z = x
            for _ in range(6):
                z = z * 0.5 + x
            z[0].tolist()

    assert programs_of(loop, "nodes_recorded") > 40 * 12


@pytest.mark.skipif(not on_cpu(), reason="other devices have no loops on the host")
def test_lines_that_compute_small_arrays_at_once_fuse_larger_ones():
    def steps(x):
        for _ in range(6):
            x = 22 * x * (x + 1) % 6700417
        return x

    for _ in range(60):
        steps(gc.arange(1000))[0].tolist()
    large = gc.arange(10_000)
    large[0].tolist()
    assert programs_of(lambda: [np.asarray(steps(large)) for _ in range(5)], "nodes_recorded") >= 5 * 24


@pytest.mark.skipif(not on_cpu(), reason="other devices have no loops on the host")
@pytest.mark.parametrize("dtype", ["?", "u1", "f4", "f8", "c16"])
def test_masks_of_vectors(dtype):
    rng = np.random.default_rng(8)
    for turn in range(60):
        a, m = (rng.random(300) * 9).astype(dtype), rng.random(300) > (0.1, 0.5, 0.97)[turn % 3]
        x, n = gc.asarray(a), gc.asarray(m)
        want = a[m]
        assert np.array_equal(np.asarray(x[n]), want)
        x[n] = 3
        a[m] = 3
        x[n] = gc.asarray(want[::-1].copy())
        a[m] = want[::-1]
        x[1::2][n[1::2]] = 1
        a[1::2][m[1::2]] = 1
        assert np.array_equal(np.asarray(x), a)


@pytest.mark.parametrize("count", [1, 63, 300, 5000])
def test_places_of_true_elements(count):
    rng = np.random.default_rng(9)
    for turn in range(40):
        m = rng.random(count) > (0.0, 0.5, 0.95)[turn % 3]
        found = gc.flatnonzero(gc.asarray(m))
        assert found.dtype == np.int64 and np.array_equal(np.asarray(found), np.flatnonzero(m))
