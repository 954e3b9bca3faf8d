"""Sorting and searching against NumPy: every dtype, axis and layout, ties, NaN and zeros of both signs."""

import os
import pathlib
import subprocess
import sys

import graphc as gc
import numpy as np
import pytest

DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float16", "float32", "float64")
SHAPES = ((0,), (1,), (7,), (300,), (3, 50), (50, 3), (4, 1, 6), (2, 0, 3), (2, 3, 4, 5), (2, 2, 3, 2, 4))


def values(shape, dtype, seed=0):
    rng = np.random.default_rng(seed)
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.startswith("float"):
        x = rng.integers(-9, 9, shape).astype(dtype) / 2
        return np.where(x == 0, rng.choice(np.array([0.0, -0.0, np.nan, np.inf, -np.inf], dtype), shape), x)
    info = np.iinfo(dtype)
    return np.where(rng.integers(0, 2, shape) == 1, rng.integers(info.min, info.max, shape, dtype, endpoint=True),
                    rng.integers(0, 5, shape).astype(dtype)).astype(dtype)


def same(got, want):
    got = np.asarray(got)
    assert got.dtype == want.dtype and got.shape == want.shape
    np.testing.assert_array_equal(got, want)
    if want.dtype.kind == "f":
        real = ~np.isnan(want)
        np.testing.assert_array_equal(np.signbit(got)[real], np.signbit(want)[real])


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype_shape_and_axis(dtype):
    for shape in SHAPES:
        x = values(shape, dtype)
        g = gc.asarray(x)
        for axis in (None, *range(-len(shape), len(shape))):
            same(gc.sort(g, axis=axis), np.sort(x, axis=axis, kind="stable"))
            same(gc.argsort(g, axis=axis), np.argsort(x, axis=axis, kind="stable"))


@pytest.mark.parametrize("dtype", ("int8", "uint16", "int32", "float32", "float64"))
def test_long_rows(dtype, device):
    if dtype == "float64" and not next(d for d in gc.devices() if d == device).fp64:
        pytest.skip("the device has no float64")
    for n in (16385, 65536, 200003):
        x = values(n, dtype, n)
        g = gc.asarray(x, device=device)
        same(gc.sort(g), np.sort(x, kind="stable"))
        same(gc.argsort(g), np.argsort(x, kind="stable"))


def test_descending_is_stable():
    for dtype in DTYPES:
        x = values((5, 40), dtype)
        if dtype.startswith("float"):
            x = np.nan_to_num(x)
        order = np.asarray(gc.argsort(gc.asarray(x), axis=1, descending=True))
        want = np.stack([np.array(sorted(range(40), key=lambda i, row=row: -np.float64(row[i]) if dtype[0] == "f" else -int(row[i]))) for row in x])
        np.testing.assert_array_equal(order, want)
        same(gc.sort(gc.asarray(x), axis=1, descending=True), np.take_along_axis(x, want, axis=1))


def test_views_and_fusion():
    x = values((40, 30), "float32")
    g = gc.asarray(x)
    same(gc.sort(g.T, axis=0), np.sort(x.T, axis=0, kind="stable"))
    same(gc.sort(g[::-2, 3::4]), np.sort(x[::-2, 3::4], kind="stable"))
    same(gc.sort(g * 2 + 1, axis=0) * 3, np.sort(x * 2 + 1, axis=0, kind="stable") * 3)
    same(gc.sort(gc.broadcast_to(g[0], (5, 30)), axis=0), np.broadcast_to(x[0], (5, 30)))
    assert gc.sort(g, axis=0).strides == np.sort(x, axis=0).strides


def test_in_place():
    for axis in (0, 1, -1):
        x = values((6, 7), "int32")
        g = gc.asarray(x)
        view = g[1:]
        assert g.sort(axis=axis) is None
        x.sort(axis=axis)
        same(g, x)
        same(view, x[1:])
        g[:, 2].sort()
        x[:, 2].sort()
        same(g, x)
    with pytest.raises(ValueError):
        gc.broadcast_to(gc.asarray(x[0]), (6, 7)).sort()


def test_inside_jit():
    @gc.jit
    def f(x):
        return gc.sort(x * 2)[::-1] + 1

    for n in (5, 80000, 7):
        x = np.random.default_rng(n).normal(size=n).astype("float32")
        same(f(gc.asarray(x)), np.sort(x * np.float32(2))[::-1] + np.float32(1))


def test_partition():
    x = values((5, 31), "float64")
    for kth in (0, 15, -1, [3, 20]):
        got = np.asarray(gc.partition(gc.asarray(x), kth, axis=1))
        want = np.partition(x, kth, axis=1)
        np.testing.assert_array_equal(got[:, kth], want[:, kth])
        np.testing.assert_array_equal(np.sort(got, axis=1), np.sort(x, axis=1))
        order = np.asarray(gc.argpartition(gc.asarray(x), kth, axis=1))
        np.testing.assert_array_equal(np.take_along_axis(x, order, 1)[:, kth], want[:, kth])
    with pytest.raises(ValueError, match="out of bounds"):
        gc.partition(gc.asarray(x), 31)


def rows_to_part(dtype):
    """Long rows: all different, few different, equal, sorted, and (floats) with NaN, infinities and zeros of both signs."""
    rng, n = np.random.default_rng(3), 20_011
    kinds = [rng.permutation(n), rng.integers(0, 3, n), np.full(n, 7), np.arange(n), np.arange(n)[::-1]]
    rows = np.stack(kinds).astype(dtype)
    if rows.dtype.kind in "fc":
        rows[0, ::5], rows[1, ::3], rows[2, ::2] = np.nan, -np.inf, np.inf
        rows[4, 1::2] = rng.choice([0.0, -0.0], n // 2)
    return rows


@pytest.mark.parametrize("dtype", ["int8", "uint16", "int32", "uint64", "int64", "float16", "float32", "float64", "complex64"])
def test_long_rows_are_parted(dtype):
    x = rows_to_part(dtype)
    n = x.shape[1]
    given = gc.asarray(x)
    for kth in (0, 17, n // 3, n // 2, n - 1, -2, [5, 9000], [100, n - 100, 4000], np.array([], int)):
        got, order = np.asarray(gc.partition(given, kth)), np.asarray(gc.argpartition(given, kth))
        whole = np.sort(x, axis=1)
        np.testing.assert_array_equal(np.sort(got, axis=1), whole)
        np.testing.assert_array_equal(np.sort(order, axis=1), np.tile(np.arange(n), (len(x), 1)))
        ordered = np.take_along_axis(x, order, 1)
        for k in np.atleast_1d(kth).astype(int) % n:
            for rows in (got, ordered):
                np.testing.assert_array_equal(rows[:, k], whole[:, k])
                np.testing.assert_array_equal(np.sort(rows[:, :k], axis=1), whole[:, :k])
    column = np.asarray(gc.partition(gc.asarray(x[:, :99].T.copy()), 50, axis=0))
    np.testing.assert_array_equal(column[50], np.sort(x[:, :99], axis=1)[:, 50])


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_rows_are_parted_by_both_parts(dtype):
    """Real parts of few values, whose order the imaginary parts decide; NaN in either part; one row and several."""
    rng, n = np.random.default_rng(12), 6007
    x = (rng.integers(-3, 4, (3, n)) + 1j * rng.standard_normal((3, n))).astype(dtype)
    for part in (x.real, x.imag):
        part[1, rng.integers(0, n, 40)] = np.nan
        part[2, rng.integers(0, n, 4000)] = np.inf
    for rows in (x, x[1], x[1:2]):
        whole = np.sort(rows, axis=-1)
        for kth in (0, 40, n // 2, n - 90, n - 1, [3, n // 2], [n - 50, 7]):
            got, order = gc.partition(gc.asarray(rows), kth), gc.argpartition(gc.asarray(rows), kth)
            ordered = np.take_along_axis(rows, np.asarray(order), -1)
            np.testing.assert_array_equal(np.sort(np.asarray(order), axis=-1), np.broadcast_to(np.arange(n), rows.shape))
            for found in (np.asarray(got), ordered):
                for k in np.atleast_1d(kth):
                    np.testing.assert_array_equal(found[..., k], whole[..., k])
                    np.testing.assert_array_equal(np.sort(found[..., :k], axis=-1), whole[..., :k])
                    np.testing.assert_array_equal(np.sort(found, axis=-1), whole)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "uint16", "float16"])
def test_narrow_elements_are_counted(dtype):
    """Lengths around what is ranked, sorted as wider keys and counted; the order of equal elements stays."""
    rng = np.random.default_rng(13)
    for length in (1, 16, 17, 64, 65, 80, 1024, 1025, 5000, 140_000):
        for spread in (2, 90, 30_000):
            x = rng.integers(-spread if np.dtype(dtype).kind in "if" else 0, spread, length).astype(dtype)
            if dtype == "float16":
                x[::7], x[1::9] = np.nan, -0.0
            y = rng.integers(0, 3, length).astype(dtype)
            same(gc.sort(gc.asarray(x)), np.sort(x, kind="stable"))
            same(gc.argsort(gc.asarray(x), stable=True), np.argsort(x, kind="stable"))
            same(gc.lexsort((gc.asarray(x), gc.asarray(y))), np.lexsort((x, y)))


def test_other_places_compile_nothing():
    x = gc.asarray(np.random.default_rng(4).normal(size=5000))
    whole = np.sort(np.asarray(x))
    first = gc.partition(x, 3)
    gc.eval(first)
    assert float(first[3]) == whole[3]
    before = gc.cache_info()
    for k in range(10, 20):
        parts = gc.partition(x, k)
        gc.eval(parts)  # by a program, however small it is
        assert float(parts[k]) == whole[k]
    after = gc.cache_info()
    assert after["programs_run"] > before["programs_run"] and after["kernels_compiled"] == before["kernels_compiled"]


def test_lexsort():
    rng = np.random.default_rng(1)
    keys = [rng.integers(0, 4, (3, 50)).astype(t) for t in ("int8", "float32", "bool", "uint64")]
    for axis in (0, 1, -1):
        same(gc.lexsort([gc.asarray(k) for k in keys], axis=axis), np.lexsort(keys, axis=axis))
    same(gc.lexsort(gc.asarray(keys[0])), np.lexsort(keys[0]))
    with pytest.raises(ValueError):
        gc.lexsort([gc.zeros(3), gc.zeros(4)])
    with pytest.raises(TypeError):
        gc.lexsort([])


@pytest.mark.parametrize("length", [2, 33, 65, 3000, 150_000])
def test_lexsort_breaks_ties_by_the_other_keys(length):
    """Keys of few and of many values in every place: runs of ties of every length, NaN and zeros of both signs equal."""
    rng = np.random.default_rng(14)
    few, many = rng.integers(0, 3, length), rng.standard_normal(length)
    zeros = rng.choice([0.0, -0.0, np.nan, 1.5], length).astype("float32")
    wide = rng.integers(-(2**62), 2**62, length) // 2**60 * 2**60
    mixed = few + 1j * zeros
    for keys in ((many, few), (few, many), (few.astype("uint8"), zeros, few.astype("int16")), (many, wide, zeros), (few, mixed), (mixed, wide), (zeros,), (few * 0, zeros * 0, few.astype(bool))):
        same(gc.lexsort([gc.asarray(k) for k in keys]), np.lexsort(keys))
    if length < 5000:
        rows = [np.stack([k, k[::-1]]) for k in (many, wide, few)]
        same(gc.lexsort([gc.asarray(k) for k in rows]), np.lexsort(rows))


@pytest.mark.parametrize("dtype", ["uint8", "int64", "float64"])
def test_unique_rows_of_many_columns(dtype):
    """Rows that differ in the first columns, in the last one, in none, and with NaN."""
    rng = np.random.default_rng(15)
    x = rng.integers(0, 3, (60, 40)).astype(dtype)
    early, late, alike = x.copy(), np.repeat(x[:1], 60, 0), x[rng.integers(0, 5, 60)]
    late[:, -1] = rng.integers(0, 9, 60)
    kinds = [early, late, alike, x.reshape(60, 5, 8)]
    if dtype == "float64":
        kinds.append(np.where(rng.random(x.shape) < 0.1, np.nan, late))
    for y in kinds:
        for axis in range(y.ndim):
            want = np.unique(y, True, True, True, axis)
            for g, w in zip(gc.unique(gc.asarray(y), True, True, True, axis), want):
                np.testing.assert_array_equal(np.asarray(g), w)


@pytest.mark.parametrize("dtype", DTYPES)
def test_searchsorted(dtype):
    a = np.sort(values(200, dtype), kind="stable")
    v = values((20, 3), dtype, 5)
    for side in ("left", "right"):
        same(gc.searchsorted(gc.asarray(a), gc.asarray(v), side=side), np.searchsorted(a, v, side=side))
        same(gc.searchsorted(gc.asarray(a[:0]), gc.asarray(v), side=side), np.searchsorted(a[:0], v, side=side))
    same(gc.searchsorted(gc.asarray(a), a[3].item()), np.asarray(np.searchsorted(a, a[3].item())))


def test_searchsorted_promotes_and_refuses():
    a = np.array([1, 3, 5])
    same(gc.searchsorted(gc.asarray(a), 2.5), np.asarray(np.searchsorted(a, 2.5)))
    with pytest.raises(ValueError, match="side"):
        gc.searchsorted(gc.asarray(a), 2, side="middle")
    with pytest.raises(ValueError):
        gc.searchsorted(gc.asarray(a).reshape((1, 3)), 2)


def test_digitize():
    x = np.array([0.2, 6.4, 3.0, 1.6, np.nan, -1, 10])
    for bins in ([0.0, 1.0, 2.5, 4.0, 10.0], [10.0, 4.0, 2.5, 1.0, 0.0], [3.0], [1.0, 1.0]):
        for right in (False, True):
            same(gc.digitize(gc.asarray(x), gc.asarray(bins), right), np.digitize(x, bins, right))
    with pytest.raises(ValueError, match="monotonic"):
        gc.digitize(gc.asarray(x), gc.asarray([1.0, 3.0, 2.0]))


def test_errors_name_the_line():
    x = gc.zeros((3, 4))
    with pytest.raises(gc.AxisError, match=r"test_sorting\.py:\d+.*GC0102"):
        gc.sort(x, axis=2)
    with pytest.raises(IndexError):
        gc.sort(gc.asarray(3.0))
    with pytest.raises(ValueError, match="kind"):
        gc.sort(x, kind="bogo")
    with pytest.raises(ValueError):
        gc.argsort(x, order="f")


@pytest.mark.graphc_only
def test_one_step_and_its_read_back():
    x = gc.asarray(values(50, "float32"))
    with gc.errstate(all="ignore"):  # a NaN among the values would be looked for by a second run
        y = gc.sort(x + 1) * 2
    text = gc.explain(y)
    assert "library sort" in text and text.count("kernel main") == 2
    before = gc.cache_info()
    gc.eval(y)
    after = gc.cache_info()
    assert after["library_calls"] == before["library_calls"] + 1
    assert after["read_backs"] == before["read_backs"]
    for device in gc.devices():
        if device != "cpu":
            gc.eval(gc.sort(gc.asarray(values(50, "float32"), device=str(device)) + 1))
            assert gc.cache_info()["read_backs"] == after["read_backs"] + 1
            break


SCRIPT = """
import sys, hashlib
import graphc as gc, numpy as np
rng = np.random.default_rng(3)
digest = hashlib.sha256()
for dtype in ("float32", "float64", "int32", "uint64", "int16"):
    x = (rng.normal(size=300001) * 20).round(1).astype(dtype)
    for f in (gc.sort, gc.argsort):
        digest.update(np.asarray(f(gc.asarray(x))).tobytes())
        digest.update(np.asarray(f(gc.asarray(np.maximum(x, 7)))).tobytes())  # one value fills most of the row
        digest.update(np.asarray(f(gc.asarray(x[:300000].reshape(100, 3000)), axis=0)).tobytes())
print(digest.hexdigest())
"""


@pytest.mark.graphc_only
def test_threads_and_instruction_sets_agree():
    found = set()
    package = str(pathlib.Path(gc.__file__).parents[1])
    for changes in ({"GRAPHC_NUM_THREADS": "1"}, {"GRAPHC_NUM_THREADS": "2"}, {"GRAPHC_NUM_THREADS": "3"},
                    {"GRAPHC_NUM_THREADS": "7"}, {"GRAPHC_CPU_FEATURES": "avx2,fma,bmi,bmi2,f16c,lzcnt"}, {"GRAPHC_CPU_FEATURES": "none"}):
        env = {**os.environ, **changes, "PYTHONPATH": package}
        done = subprocess.run([sys.executable, "-c", SCRIPT], env=env, capture_output=True, text=True, check=True)
        found.add(done.stdout.strip())
    assert len(found) == 1


def test_partitions_of_vectors_in_recorded_functions():
    x = np.array([3.0, 1, 2, 9, -4])
    f = gc.jit(lambda a: (gc.partition(a, 1), gc.argpartition(a, -1)), fullgraph=True)
    for _ in range(3):
        parted, places = f(gc.asarray(x))
        assert parted[1] == 1 and set(np.asarray(parted[:1]).tolist()) == {-4.0} and int(places[-1]) == 3


def test_places_of_partitions_as_numpy():
    for xp in (np, gc):
        for f in (xp.partition, xp.argpartition):
            for kth, error in ((True, ValueError), ([True], ValueError), ([], TypeError), (1.0, TypeError), (3, ValueError), (-4, ValueError)):
                with pytest.raises(error):
                    f(xp.asarray([3, 1, 2]), kth)
            assert f(xp.asarray([]), 1).shape == (0,)
        assert xp.argpartition(xp.asarray(3), 0).shape == (1,)


@pytest.mark.parametrize("dtype", ("float32", "float64", "float16", "int8", "uint8", "int16", "uint32", "int64", "uint64", "complex64"))
def test_searches_of_every_length(dtype):
    """Searches run side by side: lengths and counts of values around what is done together, NaNs and zeros of both signs."""
    rng = np.random.default_rng(8)
    for length in (0, 1, 2, 3, 15, 16, 17, 100, 1000):
        for count in (0, 1, 15, 16, 17, 33, 5000):
            a, v = ((rng.standard_normal(n) * 9).astype(dtype) for n in (length, count))
            if a.dtype.kind == "f":
                a[::7], v[::5], v[1::5], v[2::9] = np.nan, np.nan, -0.0, np.inf
                a[1::7] = 0.0
            a = np.sort(a)
            for side in ("left", "right"):
                found = gc.searchsorted(gc.asarray(a), gc.asarray(v), side=side)
                np.testing.assert_array_equal(np.asarray(found), np.searchsorted(a, v, side=side))


@pytest.mark.graphc_only
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "int32", "uint64", "float16", "float32", "float64", "complex64", "complex128"])
def test_sorting_in_place_of_what_is_computed(dtype):
    """At once where the memory is at hand; whoever had the values before keeps them."""
    values = np.random.default_rng(3).integers(-9, 9, (4, 7)).astype(dtype)
    if values.dtype.kind in "fc":
        values[1, 2], values[2, 5], values[0, 0] = np.nan, -0.0, np.inf

    def program(xp):
        kept = xp.array(values)
        x, row = kept.copy(), kept[1].copy()
        x.sort(), row.sort()
        part, column, pending, turned = kept.copy(), kept.copy(), kept + kept, kept.copy().T
        part[1:3].sort(), column[:, 2].sort(), pending.sort(), turned.sort()
        view = kept.copy()
        shown = view[::2]
        view.sort(axis=-1)
        rows = kept.copy()
        rows.sort(axis=0)
        return [x, row, part, column, pending, turned, shown, rows, kept]

    with np.errstate(all="ignore"):
        for got, want in zip(program(gc), program(np), strict=True):
            np.testing.assert_array_equal(np.asarray(got), want)
    fixed = gc.array(values)
    fixed.setflags(write=False)
    with pytest.raises(ValueError, match="read-only"):
        fixed.sort()


@pytest.mark.graphc_only
def test_sorting_in_place_of_memory_that_is_lent():
    x = gc.array([3.0, 1.0, 2.0])
    shown = x._lent()
    x.sort()
    assert shown.tolist() == [1, 2, 3] == x.tolist()
    shown[0] = 9
    x.sort()
    assert shown.tolist() == [2, 3, 9]


@pytest.mark.parametrize("dtype", ("int16", "uint16", "float16", "int8", "complex64", "complex128"))
@pytest.mark.parametrize("count", (5, 129, 2049, 70000))
def test_narrow_and_complex_partitions(dtype, count):
    x = values((count,), "float64", count).astype(dtype) if dtype.startswith("complex") else values((count,), dtype, count)
    if dtype.startswith("complex"):
        x = x + 1j * values((count,), "float64", 1).astype(dtype)
    # NumPy's own sort of many float16 leaves some out of place.
    in_order = lambda y: np.sort(y.astype("f4")).astype(y.dtype) if dtype == "float16" else np.sort(y)
    ordered = in_order(x)
    for places in ((0,), (count // 2,), (count - 1,), (1, count - 2)):
        parted, order = np.asarray(gc.partition(gc.asarray(x), places)), np.asarray(gc.argpartition(gc.asarray(x), places))
        assert sorted(order) == list(range(count))
        for k in places:
            np.testing.assert_array_equal(parted[k : k + 1], ordered[k : k + 1])
            np.testing.assert_array_equal(x[order[k : k + 1]], ordered[k : k + 1])
            np.testing.assert_array_equal(in_order(parted[:k]), ordered[:k])
            np.testing.assert_array_equal(in_order(x[order[:k]]), ordered[:k])


@pytest.mark.parametrize("dtype", ("complex64", "complex128"))
@pytest.mark.parametrize("shape", ((500, 3), (40, 16), (40, 17), (3, 300), (7, 1)))
def test_complex_rows(dtype, shape):
    x = (values(shape, "float64", 2) + 1j * values(shape, "float64", 3)).astype(dtype)
    for axis in (0, 1):
        np.testing.assert_array_equal(gc.sort(gc.asarray(x), axis), np.sort(x, axis))
        np.testing.assert_array_equal(gc.argsort(gc.asarray(x), axis), np.argsort(x, axis, kind="stable"))
        np.testing.assert_array_equal(gc.sort(gc.asarray(x), axis, descending=True)[::-1] if axis == 0 else gc.sort(gc.asarray(x), axis, descending=True)[:, ::-1], np.sort(x, axis))


def test_real_numbers_sorted_as_complex():
    for dtype in DTYPES[1:]:
        x = values((4, 50), dtype, 5)
        same(gc.sort_complex(gc.asarray(x)), np.sort_complex(x))
    x = np.array([2**62 + 1, 2**62, -1])
    same(gc.sort_complex(gc.asarray(x)), np.sort_complex(x))


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float16", "float64", "complex128"])
def test_small_rows_are_sorted_where_they_lie(dtype):
    rng = np.random.default_rng(3)
    for shape in ((9,), (4, 3), (2, 3, 4)):
        host = (rng.random(shape) * 5 - 2).astype(dtype) if dtype != "uint8" else (rng.random(shape) * 5).astype(dtype)
        if dtype.startswith("f"):
            host.flat[2:5] = np.nan, -0.0, 0.0
        for part in (slice(None), slice(None, None, -1), slice(None, None, 2)):
            for axis in range(-1, len(shape)):
                mine, other = gc.asarray(host.copy()), host.copy()
                shown, places = mine.T, []
                for _ in range(20):
                    mine[...] = gc.asarray(host)
                    places = mine[part].argsort(axis)
                    mine[part].sort(axis)
                expected = np.argsort(other[part], axis, kind="stable")
                other[part].sort(axis)
                np.testing.assert_array_equal(np.asarray(places), expected)
                np.testing.assert_array_equal(np.asarray(mine), other)
                np.testing.assert_array_equal(np.asarray(shown), other.T)
    for _ in range(20):
        with pytest.raises(ValueError):
            gc.broadcast_to(gc.arange(3), (2, 3)).sort(0)
        with pytest.raises(ValueError, match="out of bounds"):
            gc.ones((2, 3)).sort(2)


@pytest.mark.parametrize("dtype", ["i1", "u2", "i8", "u8", "f2", "f4", "f8", "c16"])
@pytest.mark.parametrize("length", [0, 1, 2, 15, 16, 17, 400])
def test_searchsorted_of_values_that_follow_each_other(length, dtype):
    """Rising, falling, jumping ones, with NaN among either, of the same results as NumPy."""
    rng = np.random.default_rng(length)
    a = np.sort(rng.integers(0, 120, length).astype(dtype))
    v = np.concatenate([np.arange(120), np.arange(120)[::-1], rng.integers(0, 120, 200), np.repeat([3, 90], 40), np.arange(40) * 3]).astype(dtype)
    sets = [(a, v)]
    if np.dtype(dtype).kind in "fc":
        holes = v.copy()
        holes[rng.integers(0, v.size, 60)] = np.nan
        ends = a.copy()
        ends[length - length // 5 :] = np.nan
        sets += [(a, holes), (ends, v), (ends, holes), (a, np.where(v > 60, np.inf, -np.inf).astype(dtype))]
    for sides in ("left", "right"):
        for held, wanted in sets:
            seen = np.asarray(gc.searchsorted(gc.asarray(held), gc.asarray(wanted), side=sides))
            assert np.array_equal(seen, np.searchsorted(held, wanted, side=sides))
