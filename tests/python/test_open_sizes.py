"""Arrays whose size depends on data: nobody counts before a shape or a value is asked for, and what is recorded up to
a bound has the bits of what is recorded at the exact size."""

import numpy as np
import pytest
from support.loops import in_turns

import graphc as gc

rng = np.random.default_rng(5)
DTYPES = ["bool", "uint16", "int64", "float16", "float32", "float64", "complex64"]


def values(n, dtype):
    if np.dtype(dtype).kind == "c":
        return (rng.normal(size=n) + 1j * rng.normal(size=n)).astype(dtype)
    return (rng.normal(size=n) * 40).astype(dtype)


def same_bits(found, wanted):
    found, wanted = np.asarray(found), np.asarray(wanted)
    assert found.dtype == wanted.dtype and found.shape == wanted.shape
    assert found.tobytes() == wanted.tobytes()


def looks():
    return gc._graphc.counters()["eval_reasons"].get("mask", 0)


@pytest.fixture(autouse=True)
def kernels():
    """No loop over small arrays computes at once what is to be recorded."""
    before = gc._graphc.set_loop_turns(gc._graphc.NEVER)
    yield
    gc._graphc.set_loop_turns(before)


@pytest.mark.graphc_only
def test_nothing_is_counted_when_it_is_recorded(device):
    a = values(5000, "float32")
    x = gc.asarray(a, device=device)
    before = gc._graphc.counters()["eval_reasons"]
    m = x > 0
    y = x[m]
    z = gc.log(y) * 2 - y.astype("float32")
    (i,) = gc.nonzero(m)
    results = [gc.sum(z), z.mean(), gc.cumsum(y), x[i], y[y < 1], gc.unique_values(gc.floor(x)), gc.std(y), y + 1]
    assert y.ndim == 1 and y.dtype == np.float32 and str(y.device) == str(x.device)
    assert gc._graphc.counters()["eval_reasons"] == before
    counted = looks()
    assert y.shape == (np.count_nonzero(a > 0),)
    assert looks() == counted + 1
    np.testing.assert_allclose(np.asarray(results[0]), np.sum(np.log(a[a > 0]) * 2 - a[a > 0]), rtol=1e-4)
    same_bits(results[3], a[a > 0])
    same_bits(results[4], a[(a > 0) & (a < 1)])
    same_bits(results[5], np.unique(np.floor(a)))
    assert len(results[7]) == len(y)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("share", [0, 0.4])
def test_reductions_have_the_bits_of_the_exact_size(dtype, share, device):
    def each(x, m):
        y = x[m]
        found = [gc.sum(y), gc.any(y), gc.all(y), gc.sum(y, keepdims=True)]
        if y.dtype.kind not in "c":
            found.append(gc.prod(y))
        if y.dtype.kind != "b":
            found += [gc.sum(y + y), gc.cumsum(y), y * 2]
        return found

    for n in (3, 17001):
        a, chosen = values(n, dtype), rng.random(n) < share
        x = gc.asarray(a, device=device)
        exact = each(gc.asarray(a[chosen], device=device), Ellipsis)
        m = gc.asarray(chosen.astype("float32"), device=device) > 0
        with gc.errstate(all="ignore"):
            for recorded in (each(x, m), gc.jit(each, fullgraph=True)(x, m)):
                for found, wanted in zip(recorded, exact):
                    same_bits(found, wanted)


@pytest.mark.parametrize("share", [0.02, 0.6, 1])
@pytest.mark.parametrize("dtype", ["int32", "float32", "float64"])
def test_statistics(dtype, share, device):
    def each(x, m):
        y = x[m]
        return y.mean(), gc.var(y), gc.std(y, ddof=1), gc.mean(y, keepdims=True)

    a = values(9001, dtype)
    chosen = rng.random(9001) < share
    x, m = gc.asarray(a, device=device), gc.asarray(chosen.astype("float32"), device=device) > 0
    for recorded in (each(x, m), gc.jit(each, fullgraph=True)(x, m)):
        for found, wanted in zip(recorded, each(gc.asarray(a[chosen], device=device), Ellipsis)):
            same_bits(found, wanted)


@pytest.mark.parametrize("share", [0, 0.3, 1])
def test_rows_of_a_matrix(share, device):
    def each(x, m):
        y = x[m]
        return gc.sum(y, axis=0), gc.sum(y, axis=1), gc.sum(y), y * x[0], gc.cumsum(y, axis=0), gc.cumsum(y, axis=1), y.mean(axis=1)

    a = values(300 * 17, "float32").reshape(300, 17)
    chosen = rng.random(300) < share
    x, m = gc.asarray(a, device=device), gc.asarray(chosen.astype("float32"), device=device) > 0
    exact = gc.asarray(a[chosen], device=device)
    wanted = [gc.sum(exact, axis=0), gc.sum(exact, axis=1), gc.sum(exact), exact * x[0], gc.cumsum(exact, axis=0),
              gc.cumsum(exact, axis=1), exact.mean(axis=1)]  # fmt: skip
    for recorded in (each(x, m), gc.jit(each, fullgraph=True)(x, m)):
        for found, other in zip(recorded, wanted):
            same_bits(found, other)


def program_of_masks(np, x, w):
    """What masks do in programs, each result of another kind."""
    m = x > 0
    filled = x.copy()
    filled[m] = np.sqrt(x[m]) * w[m]
    added = x.copy()
    added[m] += 1
    added[~m] *= w[~m]
    y = x[m]
    y -= 1
    i, j = np.nonzero(x > 1)
    nested = y[y < 0.5]
    return filled, added, y, i, x[i, j], nested, np.sum(nested), x[i], y > 0, np.where(y > 0, y, -y)


@pytest.mark.parametrize("share", [0, 0.4, 1])
def test_a_program_of_masks(share, device):
    a = np.where(rng.random((80, 90)) < share, 1, -1) * np.abs(values(80 * 90, "float64").reshape(80, 90))
    w = values(80 * 90, "float64").reshape(80, 90)
    wanted = program_of_masks(np, a, w)
    x, v = gc.asarray(a, device=device), gc.asarray(w, device=device)
    for recorded in (program_of_masks(gc, x, v), gc.jit(lambda x, w: program_of_masks(gc, x, w), fullgraph=True)(x, v)):
        for k, (found, other) in enumerate(zip(recorded, wanted)):
            np.testing.assert_allclose(np.asarray(found), other, rtol=0 if k != 6 else 1e-12, err_msg=str(k))
            assert np.asarray(found).shape == np.shape(other)


@pytest.mark.graphc_only
def test_jit_runs_one_program(device):
    @gc.jit(fullgraph=True)
    def f(x, y):
        m = x > y
        chosen = x[m]
        x[m] = chosen * 2
        return gc.sum(chosen), chosen, gc.nonzero(m)[0]

    for n in (1000, 1001, 5):
        a = values(n, "float32")
        for limit in (0, 30, 1e9):
            x = gc.asarray(a, device=device)
            counted = looks()
            total, chosen, places = f(x, gc.asarray(np.float32(limit), device=device))
            assert looks() == counted
            assert len(chosen) == np.count_nonzero(a > limit)
            same_bits(chosen, a[a > np.float32(limit)])
            same_bits(places, np.nonzero(a > np.float32(limit))[0])
            same_bits(x, np.where(a > np.float32(limit), a * 2, a))
            same_bits(total, gc.sum(gc.asarray(a[a > np.float32(limit)])))
    assert f.cache_info().eager == 0


@pytest.mark.graphc_only
def test_a_shape_inside_of_jit_is_told():
    @gc.jit(fullgraph=True)
    def f(x):
        return x[x > 0].shape[0] * x

    with pytest.raises(gc.TraceError, match="the size of an array that a mask chose is not known.*test_open_sizes.py"):
        f(gc.ones(10))


def test_values_are_those_of_the_time(device):
    a = values(4000, "float64")
    x = gc.asarray(a, device=device)
    y = x[x > 0]
    z = y + 1
    x[...] = -1
    y[0] = 100
    wanted = a[a > 0]
    same_bits(z, wanted + 1)
    wanted[0] = 100
    same_bits(y, wanted)
    w = y
    w += 1
    same_bits(y, wanted + 1)


@pytest.mark.graphc_only
def test_outer_arrays_in_a_traced_function(device):
    x = gc.asarray(np.arange(12.0), device=device)
    one = gc.asarray(np.ones(6), device=device)

    def fresh():
        return x[x + 0 > 5]

    y, z, s = fresh(), fresh(), gc.sum(fresh())
    f = gc.jit(lambda v: v * y + s, fullgraph=True)
    same_bits(f(one), np.arange(6.0, 12) + 51)
    y += 100
    same_bits(f(one), np.arange(106.0, 112) + 51)
    returned = gc.jit(lambda v: (z, s), fullgraph=True)(x)
    assert returned[0] is z and float(returned[1]) == 51
    z += 1
    same_bits(returned[0], np.arange(7.0, 13))


def test_one_result_returned_twice(device):
    def twice(v):
        q = v[v > 3]
        return q, q

    a, b = gc.jit(twice)(gc.asarray(np.arange(12.0), device=device))
    a += 100
    same_bits(b, np.arange(104.0, 112))


def test_single_results_as_indices(device):
    x = gc.asarray(np.arange(12.0), device=device)
    m = x > 5
    assert float(x[m[m].sum() - 1]) == 5
    x[m[m].sum()] = -1
    assert float(x[6]) == -1
    assert x[gc.any(m[m])].shape == (1, 12)
    s = x[x > 9].sum()
    t = s
    s += 1
    assert (float(s), float(t), t.shape, t.ndim) == (22, 21, (), 0)
    same_bits(gc.stack([s, t]), np.array([22.0, 21.0]))
    same_bits(gc.asarray(x[x > 9].sum()), np.float64(21))


@pytest.mark.graphc_only
def test_too_few_for_a_variance():
    x = gc.asarray(np.arange(12.0))
    with gc.errstate(divide="raise"):
        assert np.isnan(float(gc.var(gc.asarray(np.arange(11.0, 12.0)), ddof=1))) == np.isnan(float(gc.var(x[x + 0 > 10], ddof=1)))


def test_views_of_a_chosen_array_share_its_memory():
    x = gc.asarray(values(4000, "float64"))
    y = x[x > 0]
    tail = y[2:]
    tail[0] = 7
    assert float(y[2]) == 7 and gc.shares_memory(y, tail)
    y = x[x > 0]
    flat = y.reshape(1, -1)
    flat[0, 0] = 5
    assert float(y[0]) == 5


def test_long_chains_end():
    x = gc.asarray(np.arange(6000.0))
    y = x[x >= 3000]
    total = gc.sum(y)
    for _ in range(500):
        y = y + 1
        total = total + gc.sum(y)
    same_bits(y, np.arange(3000.0, 6000.0) + 500)
    assert float(total) == sum(np.sum(np.arange(3000.0, 6000.0) + k) for k in range(501))


def test_warnings_are_of_what_was_chosen(device):
    a = values(3000, "float32")
    x = gc.asarray(a, device=device)
    with gc.errstate(all="raise"):
        np.asarray(gc.sum(gc.log(x[x > 0])))
        gc.jit(lambda x: gc.sum(gc.log(x[x > 0])))(x).block()
        gc.jit(lambda x: gc.sum(gc.sqrt(x[x > 1e9])))(-gc.abs(x)).block()
    with pytest.warns(RuntimeWarning, match="invalid value encountered in log"):
        np.asarray(gc.sum(gc.log(x[x < 0])))


def test_errors_come_when_the_size_is_needed():
    x = gc.asarray(values(3000, "float32"))
    with pytest.raises(ValueError, match="zero-size array"):
        gc.max(x[x > 1e9])
    with pytest.raises(IndexError):
        x[x > 1e9][0]
    with pytest.raises(ValueError, match="broadcast"):
        x[x > 0] + gc.ones(7)
    with pytest.raises(IndexError, match="boolean index did not match"):
        x[gc.ones(5) > 0]
    y, z = x[x > 0], x[x > 1]
    with pytest.raises(ValueError, match="broadcast"):
        y + z


@pytest.mark.parametrize("dtype", ["int16", "float32", "bool"])
def test_unique(dtype, device):
    a = (values(5000, "float32") / 8).astype("int64").astype(dtype)
    x = gc.asarray(a, device=device)
    every = np.unique(a, return_index=True, return_inverse=True, return_counts=True)
    for found, wanted in zip(gc.unique_all(x), every):
        same_bits(found, wanted)
    same_bits(gc.unique_values(x), every[0])
    for found, wanted in zip(gc.unique_counts(x), (every[0], every[3])):
        same_bits(found, wanted)
    for found, wanted in zip(gc.unique_inverse(x), (every[0], every[2])):
        same_bits(found, wanted)
    same_bits(gc.sum(gc.unique_counts(x).counts), np.int64(5000))


@pytest.mark.parametrize("name", ["argmax", "argmin", "max", "min", "sort", "cumsum", "maximum.accumulate"])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_along_the_rows_of_chosen_ones(dtype, name, device):
    """Of values that are pending, by itself and in a jitted function that asks for the size besides."""
    x = values(60, dtype).reshape(12, 5)

    def along(xp, rows):
        function = xp.maximum.accumulate if "." in name else getattr(xp, name)
        return function(rows, axis=-1)

    with gc.device(device):
        pending = gc.asarray(x) * 2
        want = along(np, (x * 2)[x[:, 0].real > 0])
        np.testing.assert_allclose(np.asarray(along(gc, pending[pending[:, 0].real > 0])), want)
        jitted = gc.jit(lambda a: (lambda rows: along(gc, rows) + rows.shape[0])(a[a[:, 0].real > 0]))
        with pytest.warns(gc.errors.PerformanceWarning):
            np.testing.assert_allclose(np.asarray(jitted(gc.asarray(x) * 2)), want + len(want))


def test_totals_of_chosen_elements_have_one_axis_as_numpys():
    values = np.array([1, 2, 1], "u8")

    def results(xp):
        x = xp.asarray(values)
        found = [f(xp.sum(x[x == 1]), axis) for f in (xp.sum, xp.max, xp.any, xp.count_nonzero, xp.prod) for axis in (0, -1)]
        return [*found, xp.sum(xp.sum(x[x == 1]), axis=0, keepdims=True)]

    for g, w in zip(results(gc), results(np), strict=True):
        assert np.asarray(g).dtype == np.asarray(w).dtype and np.array_equal(np.asarray(g), w)


@pytest.mark.parametrize("dtype", ["bool", "int32", "float64", "complex64"])
def test_products_of_chosen_ones(dtype, device):
    """A product is of a fixed size, whichever of its operands was chosen and however it is written."""
    a, w, given = values(500, dtype), values(1500, dtype).reshape(500, 3), rng.random(500)
    x, y, pending = (gc.asarray(v, device=device) for v in (a, w, given))
    few, rows = a[given < 0.5], w[given < 0.5]
    products = [
        (lambda np, v, r, c: np.dot(v(), v()), True),
        (lambda np, v, r, c: np.dot(v().copy(), c), True),
        (lambda np, v, r, c: np.dot(c, v()), True),
        (lambda np, v, r, c: np.matmul(v(), r()), False),
        (lambda np, v, r, c: c @ r(), False),
        (lambda np, v, r, c: r().T @ c, False),
        (lambda np, v, r, c: r().T.dot(v()), False),
        (lambda np, v, r, c: np.inner(v(), v()), True),
        (lambda np, v, r, c: np.vdot(v(), c), True),
    ]
    for product, is_number in products:
        for chosen in (few, gc.asarray(few, device=device)):
            found = np.asarray(product(gc, lambda: x[pending < 0.5], lambda: y[pending < 0.5], chosen))
            wanted = product(np, lambda: few, lambda: rows, few)
            assert found.dtype == wanted.dtype and found.shape == wanted.shape and (found.ndim == 0) == is_number
            np.testing.assert_allclose(found, wanted, rtol=1e-3 if dtype == "complex64" else 1e-9, atol=1e-2)


@pytest.mark.parametrize("width", [0, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 63, 64, 65, 200, 511, 512, 513, 700])
def test_rows_of_any_number_of_bytes(width):
    rng = np.random.default_rng(width)
    for rows, part in ((1, 1.0), (1500, 0.0), (1500, 0.01), (1500, 0.5), (70_000 if width < 20 else 3000, 0.9)):
        a, m = rng.integers(0, 255, (rows, width)).astype("u1"), rng.random(rows) < part
        for x in (gc.asarray(a), gc.asarray(a.copy())[:, ::-1]):
            np.testing.assert_array_equal(np.asarray(x[gc.asarray(m)]), np.asarray(x)[m])


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("share", [0, 0.1, 1])
def test_rows_beyond_the_count_have_values_where_they_are_read_alone(dtype, share):
    """What a traced function hands out is cut at the count, so that nobody fills what follows; whatever is computed of it
    reads rows up to the bound."""
    a, w = values(3 * 50_000, dtype).reshape(50_000, 3), rng.random(50_000)
    x, m = gc.asarray(a), gc.asarray(w < share)
    alone = gc.jit(lambda x, m: (x[m], gc.nonzero(m)[0], m.sum()), fullgraph=True)
    used = gc.jit(lambda x, m: (lambda y: (y, gc.where(y == 0, y, y), gc.sum(y, axis=0)))(x[m]), fullgraph=True)
    for _ in range(2):
        rows, places, _ = alone(x, m)
        same_bits(rows, a[w < share])
        same_bits(places, np.nonzero(w < share)[0])
        rows, again, total = used(x, m)
        same_bits(rows, a[w < share])
        same_bits(again, a[w < share])
        same_bits(total, gc.sum(x[m], axis=0))
    chosen = [[line.split("params")[1][:4] for line in f.lower(x, m).as_text("graph").splitlines() if "compress_filled" in line] for f in (alone, used)]
    assert chosen == [[" [1]"], [" [0]"]]


def chosen_rows(np, x, w, k, ran):
    ran.append(k)
    y = x[w > 0.9] * k
    x[w < 0.1] += 1
    return y, np.sum(y, axis=0), np.cumsum(w[w > 0.5])


@pytest.mark.parametrize("rows, runs", [(100, 0), (40_000, 3)])
def test_large_arrays_under_jit_are_chosen_from_once_counted(rows, runs):
    """What a mask leaves of large arrays is worked on at its number: the function runs at each call. Small ones, and
    functions that have to be one program, are recorded once."""
    rng = np.random.default_rng(8)
    a, w, ran, ignored = rng.random((rows, 3)), rng.random(rows), [], []
    x, v = gc.asarray(a.copy()) + 0, gc.asarray(w)
    step = gc.jit(lambda x, w: chosen_rows(gc, x, w, 2, ran))
    whole = gc.jit(lambda x, w: chosen_rows(gc, x, w, 2, ignored), fullgraph=True)
    for call in range(4):
        if call == 1:
            ran.clear()
        results = step(x, v), whole(gc.asarray(a.copy()), v), chosen_rows(np, a, w, 2, ignored)
        for got, same, want in zip(*results):
            np.testing.assert_array_equal(np.asarray(got), np.asarray(same))
            np.testing.assert_allclose(np.asarray(got), want, rtol=1e-13)
        np.testing.assert_array_equal(np.asarray(x), a)
    assert len(ran) == runs
    assert ("run the function itself" in step.explain(x, v)) == (runs > 0)
    b = a.copy()
    np.testing.assert_array_equal(np.asarray(step(b, w)[0]), chosen_rows(np, a, w, 2, ignored)[0])
    np.testing.assert_array_equal(b, a)  # NumPy's own array is written to


@pytest.mark.parametrize("name", ["max", "min", "ptp", "argmax", "cumsum", "std"])
@pytest.mark.parametrize("dtype", ["complex64", "complex128", "float64"])
def test_loops_over_values_that_are_made_of_chosen_rows(name, dtype):
    """Their types are all that is recorded at first: loops of the host have nothing to compute them from."""
    rng = np.random.default_rng(4)

    def both(xp, a):
        v = xp.sum(a[a == 1]) - a
        first = getattr(xp, name)(v, axis=0)
        return first, getattr(xp, name)(v, axis=1)

    def loop():
        for _ in range(6):
            x = (rng.integers(-1, 2, (4, 3)) + (1j * rng.integers(-1, 2, (4, 3)) if dtype[0] == "c" else 0)).astype(dtype)
            for wanted, got in zip(both(np, x), both(gc, gc.asarray(x))):
                np.testing.assert_allclose(np.asarray(got), wanted, rtol=1e-5)

    in_turns(2, loop)


@pytest.mark.parametrize("part", [(), (slice(1, 3),), (slice(None), 0), (slice(None, None, -1),)], ids=str)
@pytest.mark.parametrize("name", ["multiply", "maximum", "subtract"])
def test_outputs_of_what_is_made_of_chosen_elements(name, part):
    def program(xp):
        x, y = xp.asarray(np.arange(24).reshape(4, 3, 2)).copy(), xp.zeros((4, 3, 2), dtype="int64")
        total = xp.sum(x[x != 2])
        function = getattr(xp, name)
        function(total, x[part], out=y[part])
        function(x[part], xp.sum(x[x > 5]), out=x[part])
        function(x, xp.sum(y[y > 3]), x)
        return x, y

    for got, wanted in zip(program(gc), program(np), strict=True):
        np.testing.assert_array_equal(np.asarray(got), wanted)


@pytest.mark.parametrize("take", [lambda m, k: m.where(k)[0], lambda m, k: m.flatnonzero(k), lambda m, k: m.arange(k.size)[k], lambda m, k: m.nonzero(k)[0][::-1]])
def test_places_that_a_loop_writes_to_again_and_again(take):
    """Once they are counted they are places as any others: what they were made of may change."""
    def program(m):
        x, among = m.zeros((40, 30)), m.arange(30) % 7 == 1
        source = m.arange(30)
        at, total = take(m, among), []
        for turn in range(40):
            x[turn, at] = x[turn - 1, 8] + turn
            if turn == 20:
                among[:], source[:] = True, 0
            x[turn, at[1:]] += 1
            total.append(float(x[turn, 8]) + float(x[turn][at].sum()))
        with pytest.raises(IndexError):
            x[:, :5][0, at] = 1
        return x.tolist(), total, at.tolist(), at.shape

    assert program(gc) == program(np)
