"""Indices with arrays against NumPy: every key NumPy takes, reads and writes, aliasing, errors."""

import itertools
import traceback

import graphc as gc
import numpy as np
import pytest
from support import edge, exact

DTYPES = edge.DTYPES


def pair(shape, dtype="float64", seed=0):
    rng = np.random.default_rng(seed)
    a = rng.integers(0, 100, shape).astype(dtype) if dtype != "bool" else rng.integers(0, 2, shape).astype(bool)
    return a, gc.asarray(a)


def ours(key):
    """The key with its arrays as graphc arrays."""
    if isinstance(key, tuple):
        return tuple(ours(k) for k in key)
    return gc.asarray(key) if isinstance(key, np.ndarray) else key


def same(got, want, what=""):
    got = np.asarray(got)
    assert got.shape == np.shape(want), (what, got.shape, np.shape(want))
    assert got.dtype == np.asarray(want).dtype, what
    np.testing.assert_array_equal(got, want, err_msg=str(what))


KEYS = [
    ((7,), [2, 0, -1]),
    ((7,), np.array([], int)),
    ((7,), []),
    ((7,), np.array([[1, 2], [3, 3]])),
    ((4, 5), np.array([3, 0])),
    ((4, 5), (np.array([3, 0]), np.array([1, 4]))),
    ((4, 5), (slice(None), np.array([1, 4]))),
    ((4, 5), (np.array([[1], [2]]), np.array([1, 4]))),
    ((4, 5), (slice(None, None, -2), [1, -1])),
    ((4, 5), (..., np.array([1, 4]))),
    ((4, 5), (np.array([1, 2]), ...)),
    ((4, 5), (None, np.array([1, 2]))),
    ((4, 5), (np.array([1, 2]), None)),
    ((4, 5), (1, np.array([1, 2]))),
    ((4, 5), (np.array([1, 2]), -1)),
    ((3, 4, 5), (np.array([1, 2]), slice(None), np.array([0, 4]))),
    ((3, 4, 5), (0, slice(None), np.array([0, 4]))),
    ((3, 4, 5), (slice(None), np.array([1, 2]), np.array([0, 4]))),
    ((3, 4, 5), (slice(1, 3), np.array([1, 2]), 2)),
    ((3, 4, 5), (np.array([1, 2]), None, np.array([0, 1]))),
    ((3, 4, 5), (np.array([1, 2]), ..., np.array([0, 1]))),
    ((3, 4, 5), (slice(None), slice(None), np.array([[0, 1], [2, 3]]))),
    ((3, 4, 5), np.ix_([0, 2], [1, 3], [4, 0])),
    ((4, 5), np.arange(20).reshape(4, 5) % 3 == 0),
    ((4, 5), np.array([True, False, True, True])),
    ((4, 5), (slice(None), np.array([True, False, True, True, False]))),
    ((4, 5), (np.array([True, False, True, False]), np.array([0, 3]))),
    ((4, 5), (np.array([True, False, True, False]), 2)),
    ((3, 4, 5), np.arange(12).reshape(3, 4) % 2 == 0),
    ((3, 4, 5), (slice(None), np.arange(20).reshape(4, 5) % 3 == 0)),
    ((3, 4, 5), (1, np.arange(20).reshape(4, 5) % 3 == 0)),
    ((3, 4, 5), (np.arange(12).reshape(3, 4) % 2 == 0, slice(1, 3))),
    ((4, 5), np.zeros((4, 5), bool)),
    ((4, 5), True),
    ((4, 5), False),
    ((4, 5), (True, np.array([0, 1]))),
    ((4, 5), (..., True)),
    ((), True),
    ((), np.array(False)),
    ((), (None, True)),
    ((0, 3), np.zeros((0, 3), bool)),
    ((5, 0), np.array([0, 4])),
    ((4, 5), (np.array(2), np.array([1, 2]))),
    ((4, 5), (np.array(2), slice(None))),
    ((4, 5), np.array(2)),
    ((1, 1, 1), (np.array([0, 0]), np.array([0, -1]))),
]


@pytest.mark.parametrize("shape,key", KEYS, ids=str)
def test_reads(shape, key):
    a, g = pair(shape)
    same(g[key], a[key])
    same(g[ours(key)], a[key])


@pytest.mark.parametrize("shape,key", KEYS, ids=str)
def test_writes(shape, key):
    for kind in ("scalar", "full", "row"):
        a, g = pair(shape)
        part = np.asarray(a[key])
        value = {"scalar": 7, "full": np.arange(part.size).reshape(part.shape), "row": np.arange(part.shape[-1] if part.ndim else 1)}[kind]
        value = value if kind != "row" or part.ndim else 3
        a[key] = value
        g[key] = value
        same(g, a, kind)
        h = gc.asarray(pair(shape)[0])
        h[ours(key)] = gc.asarray(value)
        same(h, a, kind)


@pytest.mark.parametrize("shape,key", KEYS, ids=str)
def test_updates(shape, key):
    a, g = pair(shape)
    a[key] += 5
    g[key] += 5
    same(g, a)


def random_key(rng, shape):
    """A key for an array of the shape, with everything NumPy mixes."""
    key, axis = [], 0
    common = tuple(rng.integers(1, 4, rng.integers(0, 3)))
    spent = False
    while axis < len(shape):
        size = shape[axis]
        kind = rng.choice(["slice", "int", "array", "mask", "none", "all", "stop"], p=[0.25, 0.1, 0.3, 0.1, 0.1, 0.1, 0.05])
        if kind == "stop":
            break
        if kind == "none":
            key.append(None)
            continue
        if kind == "all":
            if not spent and rng.random() < 0.5:
                spent = True
                skip = rng.integers(0, len(shape) - axis + 1)
                key.append(...)
                # What follows an ellipsis counts from the end.
                rest = len(shape) - axis - skip
                key += [slice(None)] * rest
                axis = len(shape)
                break
            key.append(slice(None))
        elif kind == "slice":
            bounds = [None if rng.random() < 0.3 else int(rng.integers(-size - 2, size + 3)) for _ in range(2)]
            key.append(slice(*bounds, int(rng.choice([-3, -2, -1, 1, 1, 1, 2, 3]))))
        elif kind == "int" and size:
            key.append(int(rng.integers(-size, size)))
        elif kind == "mask" and not any(isinstance(k, np.ndarray) for k in key):
            mask = rng.random(size) < 0.5
            want = common[-1] if common else 1
            mask[:] = False
            if size >= want:
                mask[rng.permutation(size)[:want]] = True
                key.append(mask)
            else:
                key.append(slice(None))
        elif size:
            dims = tuple(1 if rng.random() < 0.2 else n for n in common)[int(rng.integers(0, len(common) + 1)) :]
            dtype = rng.choice(["int64", "int32", "int8", "uint8", "uint64"])
            low = -size if dtype[0] == "i" else 0
            key.append(rng.integers(low, size, dims).astype(dtype))
        else:
            key.append(slice(None))
        axis += 1
    return tuple(key)


@pytest.mark.parametrize("seed", range(40))
def test_random_keys(seed):
    rng = np.random.default_rng(1000 + seed)
    for _ in range(12):
        shape = tuple(int(n) for n in rng.choice([0, 1, 2, 3, 5], rng.integers(0, 6), p=[0.05, 0.2, 0.25, 0.25, 0.25]))
        key = random_key(rng, shape)
        dtype = str(rng.choice(["float64", "int32", "bool", "uint8", "float32"]))
        a, g = pair(shape, dtype, seed)
        # Views of views, too.
        if len(shape) > 1 and rng.random() < 0.4:
            order = rng.permutation(len(shape)).tolist()
            back = np.argsort(order).tolist()
            a, g = a.transpose(order).copy().transpose(back), gc.transpose(gc.transpose(g, order).copy(), back)
        if shape and rng.random() < 0.3:
            a, g = a[::-1], g[::-1]
        want = a[key]
        what = (shape, key, dtype)
        same(g[ours(key)], want, what)
        value = rng.integers(0, 50, np.shape(want)).astype(str(rng.choice(["int64", "float64"])))
        a, g = a.copy(), g.copy()
        a[key] = value
        g[ours(key)] = gc.asarray(value)
        same(g, a, what)


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_dtype(dtype):
    a = np.resize(edge.values(dtype), (6, 8))
    for make in (np.array([5, 0, -6, 3]), np.array([[True] * 4 + [False] * 4] * 6)):
        g = gc.asarray(a)
        exact.assert_same(g[gc.asarray(make)], a[make], dtype)
        b = a.copy()
        b[make] = a[make][::-1]
        g[gc.asarray(make)] = gc.asarray(a[make][::-1])
        exact.assert_same(g, b, dtype)


@pytest.mark.parametrize("kind", ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"])
def test_every_index_dtype(kind):
    a, g = pair((100,))
    index = np.array([0, 99, 50, 7], kind)
    same(g[gc.asarray(index)], a[index])
    if kind[0] == "i":
        same(g[gc.asarray(-index)], a[-index.astype("int64")])


def test_large_arrays_on_all_threads():
    rng = np.random.default_rng(3)
    a, index = rng.normal(size=100_003), rng.integers(-100_003, 100_003, 300_001)
    g, i = gc.asarray(a), gc.asarray(index)
    same(g[i], a[index])
    same(gc.sum(g[i] > 0), np.sum(a[index] > 0))
    b = a.copy()
    b[index] = np.arange(index.size)
    g[i] = gc.arange(index.size, dtype="float64")
    same(g, b)
    mask = rng.random(100_003) < 0.3
    same(g[gc.asarray(mask)], b[mask])
    table, rows = rng.normal(size=(1000, 37)).astype("f4"), rng.integers(0, 1000, 5000)
    same(gc.asarray(table)[gc.asarray(rows)], table[rows])


def test_the_last_of_equal_places_wins():
    a, g = np.zeros(5), gc.zeros(5)
    index = np.array([1, 3, 1, 1, 3])
    a[index] = [1, 2, 3, 4, 5]
    g[index] = [1, 2, 3, 4, 5]
    same(g, a)
    rows, grows = np.zeros((3, 20)), gc.zeros((3, 20))
    value = np.arange(80.0).reshape(4, 20)
    rows[[0, 2, 0, 2]] = value
    grows[[0, 2, 0, 2]] = value
    same(grows, rows)


def test_compound_updates_read_old_values():
    a, g = np.arange(6.0), gc.arange(6.0)
    a[[1, 1, 2]] += 10
    g[[1, 1, 2]] += 10
    same(g, a)
    a[[0, 1, 2]] = a[[2, 0, 1]]
    g[[0, 1, 2]] = g[[2, 0, 1]]
    same(g, a)
    a[1:][[0, 1]] = a[:-1][[1, 2]]
    g[1:][[0, 1]] = g[:-1][[1, 2]]
    same(g, a)


def test_scatter_combines_in_order():
    from graphc import _graphc

    rng = np.random.default_rng(5)
    for ufunc, name in ((np.add, "add"), (np.multiply, "mul"), (np.subtract, "sub"), (np.minimum, "minimum"), (np.maximum, "maximum"), (np.divide, "div")):
        a = rng.normal(size=50)
        index, value = rng.integers(-50, 50, 1000), rng.uniform(0.9, 1.1, 1000)
        g = gc.asarray(a)
        ufunc.at(a, index, value)
        _graphc.scatter(g, index, value, name)
        exact.assert_same(g, a, name)
    a = np.zeros((4, 6), "int32")
    g = gc.asarray(a)
    np.add.at(a, (slice(None), [1, 1, 3]), 2)
    _graphc.scatter(g, (slice(None), [1, 1, 3]), 2, "add")
    same(g, a)
    b = np.array([12, 7], "uint8")
    h = gc.asarray(b)
    np.bitwise_and.at(b, [0, 0, 1], [4, 6, 3])
    _graphc.scatter(h, [0, 0, 1], [4, 6, 3], "bitwise_and")
    same(h, b)


def test_views_see_each_others_writes():
    a = np.arange(24.0).reshape(2, 3, 4)
    g = gc.asarray(a)
    va, vg = a[:, ::-1].T, g[:, ::-1].T
    va[[0, 2]] = -1
    vg[[0, 2]] = -1
    same(g, a)
    row, grow = a[1], g[1]
    a[a > 10] = 0
    g[g > 10] = 0
    same(grow, row)
    same(vg, va)
    row[row == 0] += 2
    grow[grow == 0] += 2
    same(g, a)
    same(vg, va)
    copied, gcopied = a[[0, 1]], g[[0, 1]]
    copied[:] = 9
    gcopied[:] = 9
    same(g, a)


def test_a_masked_scalar_is_one_kernel_without_a_count():
    gc.cache_info()
    x = gc.asarray(np.linspace(-1, 1, 100))
    gc._graphc.reset_counters()
    y = x * 2
    y[y < 0] = 0
    z = gc.sqrt(y)
    assert "mask" not in gc._graphc.counters().get("eval_reasons", {})
    np.testing.assert_array_equal(np.asarray(z), np.sqrt(np.maximum(np.linspace(-1, 1, 100) * 2, 0)))


ERRORS = [
    ((4,), [4], "index 4 is out of bounds for axis 0 with size 4"),
    ((4,), [0, -5], "index -5 is out of bounds for axis 0 with size 4"),
    ((3, 4), ([0], [7]), "index 7 is out of bounds for axis 1 with size 4"),
    ((3, 4), (slice(None), [0, 9]), "index 9 is out of bounds for axis 1 with size 4"),
    ((3, 4), ([0], [1], [2]), "too many indices for array: array is 2-dimensional, but 3 were indexed"),
    ((3, 4), ([0, 1], [1, 2, 3]), "shape mismatch: indexing arrays could not be broadcast together with shapes (2,) (3,)"),
    ((3, 4), np.zeros(4, bool), "boolean index did not match indexed array along axis 0; size of axis is 3 but size of corresponding boolean axis is 4"),
    ((3, 4), np.array([1.0]), "arrays used as indices must be of integer (or boolean) type"),
    ((3, 4), "a", "only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and integer or boolean arrays are valid indices"),
]


@pytest.mark.parametrize("shape,key,message", ERRORS, ids=str)
def test_errors(shape, key, message):
    a, g = pair(shape)
    with pytest.raises(IndexError) as numpys:
        a[key]
    assert message in str(numpys.value)
    with pytest.raises(IndexError) as raised:
        g[key]
    assert message in str(raised.value) and __file__ in str(raised.value)
    with pytest.raises(IndexError):
        g[key] = 1
    same(g, a)


def test_an_index_outside_is_found_while_computing():
    a, g = pair((40,))
    index = gc.arange(50) * 1
    bad = g[index]
    line = traceback.extract_stack()[-1].lineno - 1
    with pytest.raises(IndexError, match="is out of bounds for axis 0 with size 40") as raised:
        np.asarray(bad)
    assert f"{__file__}:{line}" in str(raised.value) and raised.value.code == "GC0104"
    # The same program recorded elsewhere names its own line.
    again = g[gc.arange(50) * 1]
    line = traceback.extract_stack()[-1].lineno - 1
    with pytest.raises(IndexError) as raised:
        np.asarray(again)
    assert f"{__file__}:{line}" in str(raised.value)
    with pytest.raises(IndexError, match="index -41 is out of bounds"):
        float(gc.sum(g[gc.asarray([-41]) + 0]))
    h = g.copy()
    h[gc.asarray([40]) + 0] = 1
    with pytest.raises(IndexError):
        np.asarray(h)
    same(g, a)
    same(g[gc.arange(40) - 40], a)


def test_an_index_outside_is_found_where_the_result_has_no_elements():
    """No gather or scatter meets these places, which are known when they are computed."""
    for pick in (
        lambda np, i: np.zeros((3, 0))[i],
        lambda np, i: np.zeros((3, 4))[i, :0],
        lambda np, i: np.take(np.zeros((2, 3, 0)), i, axis=1),
        lambda np, i: np.zeros((3, 0)).__setitem__(i, 1),
        lambda np, i: np.zeros((3, 4)).__setitem__((i, slice(0)), np.zeros((1, 0))),
    ):
        for places in ([5], [-4]):
            for xp in (np, gc):
                with pytest.raises(IndexError, match=f"index {places[0]} is out of bounds for axis . with size 3"):
                    pick(xp, xp.asarray(places) * 1)
        assert np.shape(pick(gc, gc.asarray([2, -3]) * 1)) == np.shape(pick(np, np.asarray([2, -3])))


def test_jit():
    a, g = pair((10, 3))

    @gc.jit
    def rows(x, i):
        return x[i] * 2

    @gc.jit
    def masked(x):
        x = x.copy()
        x[x > 50] = 0
        return x

    @gc.jit
    def counted(x):
        return x[x > 50]

    index = np.array([3, -1, 0])
    same(rows(g, gc.asarray(index)), a[index] * 2)
    same(masked(g), np.where(a > 50, 0, a))
    with pytest.raises(IndexError, match="index 10 is out of bounds for axis 0 with size 10"):
        np.asarray(rows(g, gc.asarray([3, 10, 1])))
    same(rows(g, gc.asarray(index)), a[index] * 2)
    same(counted(g), a[a > 50])


@pytest.mark.parametrize("shape", [(7,), (3, 4), (2, 3, 4)])
def test_take(shape):
    a, g = pair(shape)
    for axis in (None, *range(-len(shape), len(shape))):
        for index in (1, [0, 1, -1], [[0], [1]], np.array([], int)):
            same(gc.take(g, index, axis=axis), np.take(a, index, axis=axis))
        for mode in ("wrap", "clip"):
            same(gc.take(g, [-30, 2, 50], axis=axis, mode=mode), np.take(a, [-30, 2, 50], axis=axis, mode=mode))
    out = gc.zeros(3)
    assert gc.take(g, [0, 1, 2], out=out) is out
    same(out, np.take(a, [0, 1, 2]))
    same(g.take([1, 0], axis=0), a.take([1, 0], axis=0))
    with pytest.raises(IndexError, match="index 99 is out of bounds for axis 0 with size"):
        gc.take(g, [99])


def test_take_of_columns():
    """Columns that a list names, of an array that is no small one; what the list may hold, and outputs."""
    a, g = pair((900, 4))
    for index in ([1, 2], [-1, 0, -4], [True, False], [np.int64(3), 1], (0, 3)):
        same(gc.take(g, index, axis=1), np.take(a, index, axis=1))
    out = gc.zeros((900, 2))
    assert gc.take(g, [1, 2], 1, out) is out
    same(out, a[:, 1:3])
    for index in ([0, 4], [-5], [[0], [1, 2]], ["a"]):
        with pytest.raises((IndexError, TypeError, ValueError)) as want:
            np.take(a, index, axis=1)
        with pytest.raises(want.type):
            gc.take(g, index, axis=1)


def test_put_and_friends():
    for shape in ((7,), (3, 4)):
        for index, values, mode in (([0, 5, -1], [1, 2, 3], "raise"), ([0, 1, 2, 3], [9, 8], "raise"), ([100, -100], 5, "wrap"), ([100, -100], 5, "clip")):
            for turn in (False, True):
                a, g = pair(shape)
                va, vg = (a.T, g.T) if turn else (a, g)
                np.put(va, index, values, mode)
                gc.put(vg, index, values, mode)
                same(g, a)
    a, g = pair((4, 5))
    order = np.argsort(a, axis=1)
    same(gc.take_along_axis(g, order, axis=1), np.take_along_axis(a, order, axis=1))
    few = order[:1] % 4
    same(gc.take_along_axis(g, few, axis=0), np.take_along_axis(a, few, axis=0))
    np.put_along_axis(a, order[:, :1], -1, axis=1)
    gc.put_along_axis(g, order[:, :1], -1, axis=1)
    same(g, a)
    for values in ([1, 2, 3], [7]):
        np.place(a, a > 30, values)
        gc.place(g, g > 30, values)
        same(g, a)
        np.putmask(a, a < 5, values)
        gc.putmask(g, g < 5, values)
        same(g, a)
    choices = [[0, 1, 2, 3], [10, 11, 12, 13], [20, 21, 22, 23]]
    same(gc.choose([2, 1, 0, 1], choices), np.choose([2, 1, 0, 1], choices))
    for mode in ("wrap", "clip"):
        same(gc.choose([2, 4, -1, 1], choices, mode=mode), np.choose([2, 4, -1, 1], choices, mode=mode))
    with pytest.raises(ValueError, match="invalid entry in choice array"):
        gc.choose([3], choices)


@pytest.mark.parametrize("shape", [(0,), (1,), (9,), (3, 4), (2, 0, 3), (2, 3, 4)])
def test_nonzero_family(shape):
    a, g = pair(shape)
    a, g = a % 3, g % 3
    for got, want in zip(gc.nonzero(g), np.nonzero(a), strict=True):
        same(got, want)
    for got, want in zip(gc.where(g), np.where(a), strict=True):
        same(got, want)
    same(gc.flatnonzero(g), np.flatnonzero(a))
    same(gc.argwhere(g), np.argwhere(a))
    same(gc.count_nonzero(g), np.count_nonzero(a))
    same(gc.extract(g > 1, g), np.extract(a > 1, a))
    same(g[gc.nonzero(g)], a[np.nonzero(a)])
    if len(shape) == 2:
        same(gc.compress([True, False, True], g, axis=0), np.compress([True, False, True], a, axis=0))
    same(gc.compress([0, 1, 1], gc.arange(5)), np.compress([0, 1, 1], np.arange(5)))


def test_bincount_and_repeat():
    rng = np.random.default_rng(8)
    x, w = rng.integers(0, 20, 500), rng.normal(size=500)
    same(gc.bincount(gc.asarray(x)), np.bincount(x))
    same(gc.bincount(gc.asarray(x), minlength=30), np.bincount(x, minlength=30))
    exact.assert_same(gc.bincount(gc.asarray(x), gc.asarray(w)), np.bincount(x, w), "weights")
    same(gc.bincount(gc.asarray(np.array([], int))), np.bincount(np.array([], int)))
    with pytest.raises(ValueError, match="must have no negative elements"):
        gc.bincount(gc.asarray([1, -1]))
    counts = rng.integers(0, 4, 12)
    a, g = pair((3, 12))
    same(gc.repeat(g, gc.asarray(counts), axis=1), np.repeat(a, counts, axis=1))
    same(gc.repeat(g, counts, axis=1), np.repeat(a, counts, axis=1))
    same(gc.repeat(g[0], counts.tolist()), np.repeat(a[0], counts.tolist()))
    same(gc.repeat(g, gc.asarray(counts * 0), axis=1), np.repeat(a, counts * 0, axis=1))


def test_flat_places():
    flat = np.array([[0, 5], [11, 7]])
    for got, want in zip(gc.unravel_index(flat, (3, 4)), np.unravel_index(flat, (3, 4)), strict=True):
        same(got, want)
    index = (np.array([0, 2]), np.array([3, 1]))
    same(gc.ravel_multi_index(index, (3, 4)), np.ravel_multi_index(index, (3, 4)))
    same(gc.ravel_multi_index(index, (3, 4), order="F"), np.ravel_multi_index(index, (3, 4), order="F"))
    with pytest.raises(ValueError, match="index 12 is out of bounds for array with size 12"):
        gc.unravel_index([12], (3, 4))


@pytest.mark.parametrize("shape", [(2, 0, 3), (0, 0, 3), (7, 2, 0, 3), (0, 3), (2, 3), (5,), (0, 4), (3, 0)])
def test_nothing_is_written_to_nothing(shape):
    a, g = pair((4, 3))
    for key in (np.zeros(0, int), np.zeros(4, bool)):
        try:
            a[key] = np.zeros(shape)
        except ValueError:
            with pytest.raises(ValueError, match="shape mismatch"):
                g[gc.asarray(key)] = gc.zeros(shape)
        else:
            g[gc.asarray(key)] = gc.zeros(shape)
    same(g, a)


def test_mask_counts_must_agree():
    a, g = pair((6,))
    mask = a >= 0
    with pytest.raises(ValueError, match="NumPy boolean array indexing assignment cannot assign 3 input values to the 6 output values where the mask is true"):
        g[gc.asarray(mask)] = [1, 2, 3]
    with pytest.raises(ValueError, match=r"shape mismatch: value array of shape \(3,\) could not be broadcast to indexing result of shape \(2,\)"):
        g[[0, 1]] = [1, 2, 3]
    same(g, a)


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint16", "float32", "float64"])
def test_masks_of_values_in_memory_move_them_once(dtype):
    """Computed values go through one library step; what is pending is gathered, so that it fuses."""
    rng = np.random.default_rng(5)
    a = rng.integers(0, 100, (300, 7)).astype(dtype)
    x = gc.asarray(a)
    gc.eval(x)
    for mask in (rng.random((300, 7)) < 0.4, rng.random(300) < 0.9, np.zeros(300, bool), np.ones((300, 7), bool)):
        m = gc.asarray(mask)
        before = gc.cache_info()["library_calls"]
        np.testing.assert_array_equal(np.asarray(x[m]), a[mask])
        assert gc.cache_info()["library_calls"] - before <= 1
        np.testing.assert_array_equal(np.asarray((x != 3)[m]), (a != 3)[mask])
        np.testing.assert_array_equal(np.asarray(x[::-1][m]), a[::-1][mask])
        for got, want in zip(gc.nonzero(m), np.nonzero(mask), strict=True):
            np.testing.assert_array_equal(np.asarray(got), want)
    none = gc.asarray(np.zeros(0, bool))  # a mask without elements fits any axis
    np.testing.assert_array_equal(np.asarray(x[none]), a[np.zeros(0, bool)])
    column = rng.random(7) < 0.5
    np.testing.assert_array_equal(np.asarray(gc.compress(gc.asarray(column), x, axis=1)), a[:, column])
    np.testing.assert_array_equal(np.asarray(gc.compress([True, False, True], x, axis=0)), a[[0, 2]])


@pytest.mark.parametrize("integer", [np.int8, np.uint8, np.int32, np.int64, np.uint64])
def test_integers_of_numpy_are_indices(integer):
    a = np.arange(24).reshape(2, 3, 4)
    x = gc.asarray(a, copy=True)
    for key in [(integer(1),), (integer(1), integer(2), integer(3)), (slice(None), integer(2)), (..., integer(0)), (None, integer(1), slice(1, 3))]:
        same(x[key], a[key], key)
        same(gc.jit(lambda v, key=key: v[key] + 1)(x), a[key] + 1, key)
    x[:, integer(1)][...] = -1  # a view, as of a Python integer
    a[:, integer(1)][...] = -1
    x[integer(0), integer(2), integer(3)] += 5
    a[integer(0), integer(2), integer(3)] += 5
    same(x, a)
    with pytest.raises(IndexError, match="out of bounds"):
        x[integer(3)]
    with pytest.raises(IndexError, match="out of bounds"):
        x[0, integer(3), 0]
    with pytest.raises(IndexError):
        gc.arange(3)[np.uint64(2**64 - 1)]
    same(x[np.True_], a[np.True_])
    same(x[0, 0, np.array(2)], a[0, 0, np.array(2)])


@pytest.mark.parametrize("n", [5, 1000, 30000])
def test_what_is_written_through_a_mask_is_also_reduced(n, device):
    values = np.random.default_rng(n).normal(size=n)
    x = gc.asarray(np.zeros(n), device=device)
    every = gc.asarray(np.ones(n), device=device) > 0
    np.asarray(every)
    doubled = gc.asarray(values, device=device) * 2
    x[every] = doubled
    largest, total = gc.max(doubled), gc.sum(doubled, keepdims=True)
    gc.eval(x, largest, total)
    same(x, values * 2)
    assert float(largest) == values.max() * 2


def test_sequences_and_computed_integers_as_indices():
    import collections

    a, b = gc.arange(12.0).reshape(3, 4), np.arange(12.0).reshape(3, 4)
    for key in (range(2), range(0), (slice(None), range(3)), (range(2), range(1, 3)), collections.deque([2, 0]), (np.newaxis, range(2, -1, -1))):
        exact.assert_same(np.asarray(a[key]), b[key])
    a[range(2)] += 1
    b[range(2)] += 1
    exact.assert_same(np.asarray(a), b)
    with pytest.raises(IndexError, match="not str"):
        a["x"]
    x, y = a.ravel(), b.ravel()
    assert x.item(gc.argmin(x)) == y.item(np.argmin(y)) and a.item(gc.asarray(1), gc.argmax(a[1])) == b.item(1, 3)
    with pytest.raises(IndexError):
        x.item(gc.asarray(12))


@pytest.mark.parametrize("dtype", ["bool", "float64", "uint8"])
@pytest.mark.parametrize("value", [[1], [[0]], (1,), [], [1, 2], "one", "several axes", "none"])
def test_elements_set_to_sequences(value, dtype):
    """Truth is known of lists and of arrays of one element; numbers are made of single ones."""
    found = []
    for xp in (np, gc):
        a = xp.zeros(3, dtype)
        given = {"one": xp.ones(1), "several axes": xp.ones((1, 1), bool), "none": xp.ones(0)}[value] if isinstance(value, str) else value
        try:
            a[1] = given
            found.append(np.asarray(a).tolist())
        except (TypeError, ValueError):
            found.append("refused")
    assert found[0] == found[1]


@pytest.mark.graphc_only
@pytest.mark.parametrize("shape", [(5, 6), (4, 5, 6), (3, 4, 5, 2)])
def test_an_array_among_integers(shape):
    """x[i, array, j] reads and writes rows of a part of x; what is wrong is said of the axis where it is."""
    base = np.random.default_rng(1).random(shape)

    def outcome(xp, key):
        x, key = xp.array(base), tuple(xp.array(k) if isinstance(k, np.ndarray) else k for k in key)
        gc.eval(*[v for v in (x, *key) if isinstance(v, gc.Array)])
        try:
            taken = x[key]
            x[key] = 7.0
            x[key] += 1
            x[key] = np.arange(float(x[key].size)).reshape(x[key].shape)
        except IndexError as error:
            return str(error).split("] ")[-1].split(": shape")[0].split(" (at")[0]
        return np.asarray(taken).tolist(), np.asarray(x).tolist()

    for place in range(len(shape)):
        size = shape[place]
        arrays = [np.arange(size) % 2 == 0, np.array([1, 0, 1]), np.array([-1, -2]), np.array([0, size]), np.ones(size + 1, bool), np.array([0.0])]
        arrays += [np.array([], int), np.zeros(size, bool), np.array([0, 1], np.uint8)]
        for array, first, last in itertools.product(arrays, [0, -1], [1, np.int64(0)]):
            key = [first] * place + [array] + [last] * (len(shape) - 1 - place)
            assert outcome(gc, key) == outcome(np, key)
            if place + 2 <= len(shape):  # axes are left over
                assert outcome(gc, key[: place + 2]) == outcome(np, key[: place + 2])


@pytest.mark.parametrize("turns", [0, 16])
def test_arrays_and_lists_among_slices(turns):
    """One array or list of an axis among integers and slices, also in a loop, where it is taken at once."""

    def program(xp):
        x = xp.arange(60.0).reshape(3, 4, 5)
        results = []
        for key in (
            ([2, 0], slice(1, None)), (slice(None), [1, 1, 0]), (slice(0, 2), slice(None), [4, -1]), ([0, 2], slice(None), slice(None, None, -2)),
            (1, [3, 0], slice(1, 3)), ([1, 2], slice(None), 0), (1, slice(None), [2, 3]), (slice(None), xp.asarray([True, False, True, True])),
            (slice(None), xp.asarray([3, 1])), (xp.asarray([2, 1]), slice(None, 2)), (slice(None), 2, [1, 0]), (slice(None), [0], slice(None, 0)),
        ):  # fmt: skip
            results += [x[key], x[key] * 2]
            x[key] += 1
            x[key] = x[key] - 0.5
        x[[0, 1], 2:] = x[[1, 0], 2:]
        k, p = 0, xp.argmax(x[:, 1, 1])  # a single result among integers
        x[[k, p], 1:] = x[[p, k], 1:]
        x[[k, p]] = x[[p, k]]
        results += [x[[p, p - 1, k]], x[:, [p, xp.asarray([1, 0], dtype="int8")[0]]], x[[xp.asarray([2], dtype="uint8")[0], 1]]]
        x[[2, 2], :1, 1] = [[-1], [-2]]
        return [*results, x]

    before = gc._graphc.set_loop_turns(turns)
    try:
        for _ in range(3):
            for g, w in zip(program(gc), program(np), strict=True):
                exact.assert_same(np.asarray(g), np.asarray(w))
    finally:
        gc._graphc.set_loop_turns(before)
    x = gc.ones((2, 3))
    for key in (([0, 2], slice(None)), (slice(None), [0, 3]), ([0, -3], slice(1))):
        with pytest.raises(IndexError, match="is out of bounds for axis"):
            gc.eval(x[key])


@pytest.mark.parametrize("dtype", ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"])
def test_small_arrays_by_indices_of_any_integers(dtype):
    """Met often enough for nothing to be compiled for them."""
    x = np.arange(10.0) ** 2
    g = gc.asarray(x)
    for _ in range(4):
        for places in ([1, 3, 3], [[0, 9], [2, 2]]):
            p = np.array(places, dtype)
            exact.assert_same(np.asarray(g[gc.asarray(p)]), x[p])
            y, want = gc.asarray(x.copy()) + 0, x.copy()
            y[gc.asarray(p)] = 5
            want[p] = 5
            exact.assert_same(np.asarray(y), want)
            exact.assert_same(np.asarray(g + gc.asarray(p.ravel()[:1])), x + p.ravel()[:1])
        with pytest.raises(IndexError, match="index 10 is out of bounds for axis 0 with size 10"):
            g[gc.asarray(np.array([0, 10], dtype))]


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "float32", "float64", "complex64", "complex128"])
def test_one_element_of_each_row(dtype):
    """Rows shorter than a register and longer ones; the row's own number as an index, which needs no check."""
    rng = np.random.default_rng(21)
    for height, width in ((1, 1), (50, 1), (200, 3), (40, 8), (33, 17), (9, 70), (1, 5), (70_000, 3)):
        x = (rng.standard_normal((height, width)) * 50).astype(dtype)
        q = rng.integers(-width, width, (height, width))
        p = rng.integers(-width, width, height)

        def program(xp, x, q, p):
            i = xp.arange(height)
            out = [xp.take_along_axis(x, q, 1), x[i, p], x[i[:, None], q], x[:, p[:5]], x.T[p, i]]
            return (*out, x[i, i] if height <= width else x[:width][xp.arange(width), xp.arange(width)] if height >= width else x)

        want = program(np, x, q, p)
        given = [gc.asarray(v) for v in (x, q, p)]
        for got in (program(gc, *given), gc.jit(lambda *a: program(gc, *a))(*given)):
            for g, w in zip(got, want):
                assert g.dtype == w.dtype and np.asarray(g).tobytes() == np.ascontiguousarray(w).tobytes()
    for bad in ((np.zeros((4, 3)), np.arange(5)), (np.zeros((4, 3)), np.arange(4))):  # rows, columns
        x, i = (gc.asarray(v) for v in bad)
        with pytest.raises(IndexError):
            gc.eval(x[gc.arange(len(i)), i])
        with pytest.raises(IndexError):
            gc.eval(gc.jit(lambda a, b: a[gc.arange(len(b)), b])(x, i))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_rows_of_complex_numbers_by_a_mask(dtype):
    """Rows that stay are passed over, or copied where somebody sees the old ones."""
    rng = np.random.default_rng(22)
    for height, width in ((40, 1), (300, 2), (100, 31), (2000, 8)):
        x, y = ((rng.standard_normal((2, height, width)) + 1j * rng.standard_normal((2, height, width))).astype(dtype))
        m = rng.random(height) < 0.4

        def program(x, y, m, keeps):
            old = x.copy() if keeps else None
            x[m] = 2 - 1j
            x[~m] += y[~m]
            y[m] = x[m] * 2
            return x, y, old if keeps else x

        for keeps in (False, True):
            want = program(x.copy(), y.copy(), m, keeps)
            for f in (program, gc.jit(lambda x, y, m, _: program(x, y, m, keeps))):
                got = f(gc.asarray(x.copy()), gc.asarray(y.copy()), gc.asarray(m), keeps)
                for g, w in zip(got, want):
                    np.testing.assert_array_equal(np.asarray(g), w)


def test_shapes_of_flat_places_may_be_arrays():
    for xp in (np, gc):
        for shape in (xp.array([3, 4]), [3, 4], (np.int64(3), 4)):
            assert [int(i) for i in xp.unravel_index(7, shape)] == [1, 3]
