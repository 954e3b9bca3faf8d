"""Loops over single elements: reads, arithmetic and writes happen at once, with the values and the order of NumPy."""

import collections
import collections.abc
import copy
import numbers
import operator
import pickle
import weakref

import graphc as gc
import numpy as np
import pytest

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]
OPERATORS = ["add", "sub", "mul", "truediv", "floordiv", "mod", "and_", "or_", "xor", "lt", "le", "eq", "ne", "gt", "ge"]


def samples(dtype):
    t = np.dtype(dtype)
    if t.kind == "f":
        return np.array([0.0, -0.0, 1.5, -2.25, 1e-40, np.inf, -np.inf, np.nan, 3.0e38], dtype)
    if t.kind == "b":
        return np.array([False, True])
    i = np.iinfo(t)
    return np.array([0, 1, 2, 7, i.max, i.max - 1, i.min, i.min // 2 + 3], dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", OPERATORS)
def test_two_elements_give_what_arrays_give(name, dtype):
    """The value computed on the spot has the bits that the kernel of the whole array gives."""
    f = getattr(operator, name)
    a, b = (v.ravel() for v in np.meshgrid(samples(dtype), samples(dtype)))
    x, y = gc.asarray(a), gc.asarray(b)
    try:
        whole = np.asarray(f(x, y))
    except TypeError:
        with pytest.raises(TypeError):
            f(x[0], y[0])
        return
    for i in range(len(a)):
        one = f(x[i], y[i])
        assert one.dtype == whole.dtype and one.shape == ()
        one = np.asarray(one)
        same = one.tobytes() == whole[i].tobytes() or (one != one and whole[i] != whole[i])
        assert same, (name, a[i], b[i], one, whole[i])


@pytest.mark.parametrize("f", [operator.neg, abs, operator.invert, gc.sqrt, gc.square, gc.exp], ids=str)
@pytest.mark.parametrize("dtype", ["int8", "uint16", "int64", "float32", "float64", "bool"])
def test_one_element(f, dtype):
    x = gc.asarray(samples(dtype))
    try:
        whole = np.asarray(f(x))
    except TypeError:
        with pytest.raises(TypeError):
            f(x[0])
        return
    for i in range(len(x)):
        np.testing.assert_array_equal(np.asarray(f(x[i])), whole[i])


def test_mixed_dtypes_promote_as_arrays_do():
    for s in DTYPES:
        for t in DTYPES:
            a, b = np.ones(3, s), np.ones(3, t)
            x, y = gc.asarray(a), gc.asarray(b)
            one = x[1] + y[2]
            assert one.dtype == (x + y).dtype
            assert float(one) == float(np.asarray(x + y)[0])


def test_python_numbers_with_elements():
    x = gc.asarray(np.array([3, -4, 5], np.int16))
    assert int(x[0] * 2 - 1) == 5
    assert float(x[1] / 8) == -0.5 and (x[1] / 8).dtype == np.float64
    assert (x[0] + 1).dtype == np.int16
    assert bool(2 < x[0]) and not bool(x[1] > 0)
    with pytest.raises(OverflowError):
        x[0] + 100000
    assert min(x[0], x[1], x[2]) is not None and int(min(x[0], x[1], x[2])) == -4
    assert [int(v) for v in x] == [3, -4, 5] and sum(x) == 4 and sorted(x)[0] == -4


def fill(xp, n):
    """Levenshtein distance of two words by single elements."""
    s, t = "kitten sitting on the mat"[:n], "sitting kitten at the mat"[:n]
    d = xp.zeros((len(s) + 1, len(t) + 1), dtype=np.int64)
    for i in range(len(s) + 1):
        d[i, 0] = i
    for j in range(len(t) + 1):
        d[0, j] = j
    for i in range(1, len(s) + 1):
        for j in range(1, len(t) + 1):
            cost = 0 if s[i - 1] == t[j - 1] else 1
            d[i, j] = min(d[i - 1, j] + 1, d[i, j - 1] + 1, d[i - 1, j - 1] + cost)
    return d


def lu(xp, m):
    a = xp.asarray(m).copy()
    n = a.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] = a[i, k] / a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]
    return a


def test_programs_of_elements_compile_next_to_nothing():
    m = np.random.default_rng(3).normal(size=(9, 9)) + 9 * np.eye(9)
    before = gc.cache_info()["kernels_compiled"]
    np.testing.assert_array_equal(np.asarray(fill(gc, 18)), fill(np, 18))
    np.testing.assert_array_equal(np.asarray(lu(gc, m)), lu(np, m))
    assert gc.cache_info()["kernels_compiled"] - before <= 8


@pytest.mark.parametrize("dtype", DTYPES)
def test_writes_through_views_reach_the_array(dtype):
    a = np.arange(60).astype(dtype).reshape(3, 4, 5)
    x = gc.asarray(a)
    for u, v in [(a, x)]:
        parts = (u[1:, ::2, ::-1], u.T[2], u.reshape(12, 5)[3:9:2])
        for turn in range(12):
            parts[0][1, turn % 2, turn % 5] = turn % 2
            parts[1][turn % 4, -1] = turn % 2
            parts[2][-2, turn % 5] = (turn + 1) % 2
        mirror = (v[1:, ::2, ::-1], v.T[2], v.reshape(12, 5)[3:9:2])
        for turn in range(12):
            mirror[0][1, turn % 2, turn % 5] = turn % 2
            mirror[1][turn % 4, -1] = turn % 2
            mirror[2][-2, turn % 5] = (turn + 1) % 2
    np.testing.assert_array_equal(np.asarray(x), a)


def test_values_read_before_a_write_keep_their_value():
    x = gc.asarray(np.arange(6.0))
    gc.eval(x)
    old, late, view = x[2], x * 10, x[1:4]
    exported = np.asarray(x)
    for i in range(20):
        x[2] = 100.0 + i
    assert float(old) == 2.0
    np.testing.assert_array_equal(np.asarray(late), np.arange(6.0) * 10)
    np.testing.assert_array_equal(exported, np.arange(6.0))
    assert float(view[1]) == 119.0 and float(x[2]) == 119.0


def test_reads_of_cached_views_see_later_writes():
    x = gc.asarray(np.arange(12.0).reshape(3, 4))
    row = x[1] * 1
    column = x[:, 2]
    np.testing.assert_array_equal(np.asarray(column), [2, 6, 10])
    for i in range(15):
        x[0, 2] = float(i)
    np.testing.assert_array_equal(np.asarray(column), [14, 6, 10])
    np.testing.assert_array_equal(np.asarray(row), [4, 5, 6, 7])


def test_mistakes_raise_as_before():
    x = gc.asarray(np.arange(4, dtype=np.int8))
    with pytest.raises(IndexError, match="index 4 is out of bounds for axis 0 with size 4"):
        x[4]
    with pytest.raises(IndexError):
        x[-5] = 0
    with pytest.raises(OverflowError):
        x[0] = 300
    with pytest.raises(IndexError):
        x[0, 0]
    with pytest.raises(ValueError):
        gc.broadcast_to(x, (2, 4))[0, 0] = 1
    x[0] = 2.9  # NumPy truncates
    assert int(x[0]) == 2
    with pytest.raises(ValueError, match="cannot delete array elements"):
        del x[0]


def test_elements_inside_jit_are_traced():
    @gc.jit
    def step(a):
        a[0] = a[1] + a[2]
        return a * a[0]

    for first in (1.0, 5.0):
        m = np.array([0.0, first, 2.0])
        x = gc.asarray(m)
        m[0] = m[1] + m[2]
        np.testing.assert_array_equal(np.asarray(step(x)), m * m[0])
        np.testing.assert_array_equal(np.asarray(x), m)


def test_known_values_never_recompile():
    """A value that was read from an array is an argument: integers and divisors too."""
    x = gc.asarray(np.arange(1, 40, dtype=np.int64))
    y = gc.asarray(np.arange(100.0))
    np.asarray(y / x[3]), np.asarray(y * x[3])
    before = gc.cache_info()["kernels_compiled"]
    for i in range(10):
        np.testing.assert_array_equal(np.asarray(y / x[i]), np.arange(100.0) / (i + 1))
        np.testing.assert_array_equal(np.asarray(y * x[i]), np.arange(100.0) * (i + 1))
    assert gc.cache_info()["kernels_compiled"] == before


def test_an_element_is_an_array_of_its_own():
    """What a value shares with others starts when somebody asks for it."""
    x = gc.asarray(np.arange(6.0))
    gc.eval(x)
    value = x[3]
    same = value
    made = value.reshape(1)
    assert value.base is None and not gc.shares_memory(made, value) and gc.shares_memory(same, value)
    made[0] = 9.0
    assert float(value) == 3.0 and float(same) == 3.0 and float(x[3]) == 3.0
    other = x[3]
    assert not gc.shares_memory(other, x[3]) and not gc.shares_memory(other, x)
    other += 1
    assert float(other) == 4.0 and float(x[3]) == 3.0
    kept = [x[i % 6] for i in range(500)]
    assert [float(v) for v in kept] == [i % 6 for i in range(500)]
    with pytest.raises(TypeError, match="weak reference"):
        weakref.ref(kept[7])


def test_an_element_outside_a_traced_function_is_read_at_each_call():
    x = gc.asarray(np.arange(4.0))
    gc.eval(x)
    value = x[2]
    add = gc.jit(lambda y: y + value)
    y = gc.asarray(np.ones(3))
    np.testing.assert_array_equal(np.asarray(add(y)), [3.0, 3.0, 3.0])
    x[2] = 7.0
    np.testing.assert_array_equal(np.asarray(add(y)), [3.0, 3.0, 3.0])
    value = x[2]
    np.testing.assert_array_equal(np.asarray(add(y)), [8.0, 8.0, 8.0])


def test_walking_over_a_pending_array_computes_it_once():
    a = np.arange(200.0)
    x = gc.asarray(a) * 3 + 1
    before = gc.cache_info()["programs_run"]
    assert [float(v) for v in x] == list(a * 3 + 1)
    assert gc.cache_info()["programs_run"] - before <= 8


def test_elements_as_python_numbers():
    x = gc.asarray(np.array([2, 0, -1], np.int32))
    f = gc.asarray(np.array([0.0, -0.0, np.nan, 1e-320]))
    gc.eval(x, f)
    words = ["a", "b", "c"]
    assert words[x[0]] == "c" and words[x[2]] == "c" and x[x[0]] == -1
    assert [bool(v) for v in f] == [False, False, True, True]
    assert isinstance(float(x[0]), float) and isinstance(int(f[3]), int)
    with pytest.raises(TypeError, match="list indices must be integers or slices, not numpy.float64"):
        words[f[0]]
    with pytest.raises(TypeError, match="only integer scalar arrays"):
        words[x > 0]
    with pytest.raises(IndexError):
        x[gc.asarray(np.array([2**64 - 1], np.uint64))[0]]
    with pytest.raises(TypeError, match="iteration over a 0-d array"):
        iter(gc.asarray(1.0))
    with pytest.raises(TypeError, match="unsized"):
        len(gc.asarray(1.0))


def singles(xp):
    x = xp.asarray(np.array([[1.5, -2.0, 0.25], [4.0, 9.0, 3.0]]))
    elements = [x[0, 0], x.astype("int32")[1, 2], (x > 1)[0, 0], (x * 1j)[0, 1], next(iter(x[0])), x[1].item]
    results = [x.sum(), xp.mean(x), x.argmax(), xp.sqrt(2.0), x[0, 0] + 1, -x[1, 1], x[0, 0] > 1, xp.float64(2) * x[0, 0], xp.asarray(3.0) + 1]
    arrays = [x, x[0], x[:0], xp.asarray(3.0), xp.zeros(()), x[0, 0, ...], x[0, 0][...], x.T, x.sum(keepdims=True), x[0, 0].reshape(1)]
    return elements + results + arrays + [copy.copy(x[0, 0]), copy.deepcopy(x), pickle.loads(pickle.dumps(x.sum())), pickle.loads(pickle.dumps(x))]


def test_classes_tell_elements_from_arrays():
    """isinstance() and the abstract classes say of single results what they say of NumPy's scalars, and of arrays what they say of those."""
    kinds = [collections.abc.Iterable, collections.abc.Sized, collections.abc.Container, collections.abc.Collection, collections.abc.Sequence]
    kinds += [collections.abc.Hashable, collections.abc.Callable, numbers.Number, numbers.Real, numbers.Integral, numbers.Complex, float, int, complex]
    names = ["ndarray", "generic", "number", "inexact", "floating", "integer", "float64", "int64", "complex128", "bool_"]
    methods = ["__len__", "__iter__", "__contains__", "__setitem__", "__getitem__"]
    for i, (g, w) in enumerate(zip(singles(gc), singles(np), strict=True)):
        assert [isinstance(g, k) for k in kinds] == [isinstance(w, k) for k in kinds], i
        assert [isinstance(g, getattr(gc, n)) for n in names] == [isinstance(w, getattr(np, n)) for n in names], i
        assert [hasattr(g, n) for n in methods] == [hasattr(w, n) for n in methods], i
        assert (type(g) is gc.ndarray) == (type(g) == gc.ndarray) == (type(w) is np.ndarray), i
        assert isinstance(g, gc.Array) == isinstance(w, (np.ndarray, np.generic)), i
    assert not isinstance(np.ones(2), gc.Array) and isinstance(np.ones(2), gc.ndarray)


def test_what_elements_refuse_has_words_of_scalars():
    def words(f, *args):
        with pytest.raises((TypeError, IndexError)) as error:
            f(*args)
        return error.type.__mro__[-4:], str(error.value).partition(" (at ")[0]

    x = np.array([1.5, 2.0])
    keys = [0, -1, slice(None), (0, 0), [0], np.array([1])]
    for t in ("float64", "int8", "bool", "complex64"):
        g, w = (xp.asarray(x).astype(t)[1] for xp in (gc, np))
        for f in (len, iter, list, lambda s: 1 in s):
            assert words(f, g)[1] == words(f, w)[1]
        for key in keys:
            assert words(operator.getitem, g, key)[1] == words(operator.getitem, w, key)[1]
        for key in ((), ..., None, (None, ...), True, np.array(True)):
            assert np.shape(g[key]) == np.shape(w[key]) and np.array_equal(g[key], w[key])


def test_powers_and_items_of_elements():
    def program(xp):
        x = xp.asarray(np.array([[1.5, -2.0, 0.25], [4.0, 9.0, 3.0]]))
        i, f = xp.asarray(np.array([3, -7])), x.astype("float32")
        made = [x[0, 0] ** 2, x[0, 1] ** 2.0, x[1, 1] ** 0.5, x[0, 2] ** -1, x[1, 2] ** 1, f[1, 1] ** 0.5, f[0, 1] ** -1, i[1] ** 2, i[0] ** 1, i[0] ** 2.0]
        return [*made, x.item(4), x.item(-1), x.item(1, 2), i.item(0), x[0, 1] ** 3, f.item(1, -1)]

    for g, w in zip(program(gc), program(np), strict=True):
        assert np.asarray(g).dtype == np.asarray(w).dtype and np.asarray(g) == np.asarray(w)
        assert isinstance(g, gc.Array) or type(g) is type(w)
    with pytest.raises(IndexError):
        gc.asarray([1.0, 2.0]).item(2)


def test_numbers_that_are_known_and_numbers_that_are_written():
    """The same operation with both in other places is another program: a known 1 is an argument, a written 1 a constant."""
    x = gc.asarray(np.array(6)).copy()
    gc.maximum(x, True, out=x)
    written = gc.asarray(bool(x.item()))
    known = gc.fmin(x, 2)
    gc.subtract(known, x, out=x, where=written)
    chosen = gc.piecewise(known, [known > 0], [1, 2])
    assert int(np.asarray(x)) == -4 and int(np.asarray(known)) == 2 and int(np.asarray(chosen)) == 1


@pytest.mark.parametrize("target", DTYPES)
@pytest.mark.parametrize("source", DTYPES)
def test_an_element_takes_values_of_other_dtypes(source, target):
    """At once where the value is known, as a kernel converts it where it is not."""
    values = [v for v in samples(source) if not (np.dtype(target).kind in "iu" and not fits(v, target))]
    want, known, pending = (np.zeros(len(values), target) for _ in range(3))
    known, pending, x = gc.asarray(known), gc.asarray(pending), gc.asarray(np.array(values, source))
    gc.eval(x)
    before = gc._graphc.counters()["programs_run"]
    with np.errstate(all="ignore"):
        for i, v in enumerate(values):
            want[i], known[i] = v, x[i]
        at_once = gc._graphc.counters()["programs_run"] - before
        for i in range(len(values)):
            pending[i] = (x * x.dtype.type(1))[i] if np.dtype(source).kind != "b" else (x | False)[i]
        assert np.asarray(known).tobytes() == np.asarray(pending).tobytes()
        assert np.array_equal(np.asarray(known), want, equal_nan=np.dtype(target).kind == "f")
    if not (source.startswith("float") and target == "float32"):  # what becomes infinite is reported by a kernel
        assert at_once == 0


def fits(value, dtype):
    info = np.iinfo(dtype)
    return bool(np.isfinite(value)) and info.min <= int(value) <= info.max


def test_fractions_are_dropped_in_elements_of_integers():
    for xp in (gc, np):
        x = xp.zeros(6, "int32")
        for i, value in enumerate([2.7, -2.7, np.float64(-0.5), 1e9, True, np.float64(2**31 - 0.5)]):
            x[i] = value
        assert x.tolist() == [2, -2, 0, 1_000_000_000, 1, 2**31 - 1]
        for wrong in (float("nan"), float("inf")):
            with pytest.raises((ValueError, OverflowError)):
                x[0] = wrong


def test_a_loop_that_writes_floats_into_integers_runs_no_programs():
    x, z = gc.asarray(np.linspace(-3, 3, 400).reshape(20, 20)), gc.zeros((20, 20), int)
    gc.eval(x, z)
    before = gc._graphc.counters()["programs_run"]
    for i in range(20):
        for j in range(20):
            if x[i, j] > 0.5:
                z[i, j] = x[i, j]
    assert gc._graphc.counters()["programs_run"] == before
    assert z.tolist() == np.where(np.asarray(x) > 0.5, np.asarray(x), 0).astype(int).tolist()


def test_elements_in_sets_and_dicts():
    values = np.array([3, 1, 3, -1, 1])
    x, pending = gc.asarray(values), gc.asarray(values) + 0
    gc.eval(x)
    assert set(x) == {3, 1, -1} == set(pending) and collections.Counter(x) == collections.Counter(values.tolist())
    assert {x[0]: "a"}[3] == "a" and hash(x[3]) == hash(-1) and hash(gc.asarray([0.5])[0]) == hash(0.5)
    assert hash(gc.asarray([1 + 2j])[0]) == hash(1 + 2j) and hash(gc.asarray([True])[0]) == hash(True)
    with pytest.raises(TypeError, match="unhashable type: 'graphc.ndarray'"):
        hash(x)
    assert len({x.sum(), pending.sum(), 7}) == 1


def test_single_complex_values_are_combined_and_written_where_they_lie():
    """A tridiagonal solution of few rows, as of Crank and Nicolson: no turn of it is recorded."""

    def solve(xp, dtype):
        below, on = xp.full(6, -0.25j, dtype=dtype), xp.linspace(1, 2, 6) * xp.asarray(1 + 0.5j, dtype=dtype)
        d = (xp.arange(6) - 2j).astype(dtype)
        x, ratio = (xp.arange(6) * 1j).astype(dtype), (xp.arange(6) * 2j).astype(dtype)
        parts = []
        if xp is gc:
            gc.eval(below, on, d, x, ratio)
        before = gc._graphc.counters()["nodes_recorded"]
        ratio[0], x[0] = below[0] / on[0], d[0] / on[0]
        for i in range(1, 6):
            m = on[i] - below[i] * ratio[i - 1]
            ratio[i] = below[i] / m
            x[i] = (d[i] - below[i] * x[i - 1]) / m
        for i in range(4, -1, -1):
            x[i] = x[i] - ratio[i] * x[i + 1]
            parts += [x[i].real, -x[i].imag, (2 * x[i] + 1j == -x[i]), x[i] * x[0].real]
        x[2] = x[1].imag
        x[3] = 1
        return x, parts, gc._graphc.counters()["nodes_recorded"] - before

    for dtype in ("complex128", "complex64"):
        (x, parts, recorded), (want, others, _) = solve(gc, dtype), solve(np, dtype)
        assert recorded == 0
        np.testing.assert_allclose(np.asarray(x), want, rtol=1e-13 if dtype == "complex128" else 1e-5)
        assert [str(p.dtype) for p in parts] == [str(p.dtype) for p in others]
        np.testing.assert_allclose([complex(p) for p in parts], [complex(p) for p in others], rtol=1e-5)


@pytest.mark.parametrize("dtype", ("i4", "f8", "c16"))
def test_items_by_flat_indices(dtype):
    a = np.arange(24).reshape(2, 3, 4).astype(dtype)
    for x, y in ((gc.asarray(a), a), (gc.asarray(a).T[:, ::2], a.T[:, ::2]), (gc.asarray(a)[0, 0, 0], a[0, 0, 0])):
        for place in (*range(y.size), -1, -y.size):
            assert x.item(place) == y.item(place) and type(x.item(place)) is type(y.item(place))
        for place in (y.size, -y.size - 1):
            with pytest.raises(IndexError):
                x.item(place)
