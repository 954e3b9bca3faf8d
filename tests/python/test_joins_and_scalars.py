"""Joins of arrays that are computed, single results beside NumPy's scalars, and what only NumPy has: values and dtypes beside NumPy's."""

import warnings

import graphc as gc
import numpy as np
import pytest
from support.loops import in_turns

pytestmark = pytest.mark.graphc_only

RNG = np.random.default_rng(7)
NUMBERS = ("uint8", "int16", "uint32", "int32", "int64", "uint64", "float32", "float64")
OPERATORS = ("__add__", "__rsub__", "__mul__", "__xor__", "__rshift__", "__lshift__", "__mod__", "__floordiv__", "__truediv__", "__lt__", "__eq__", "__rand__")


def same(ours, theirs):
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
    assert np.asarray(ours).tobytes() == np.asarray(theirs).tobytes()


@pytest.mark.parametrize("dtype", ["?", "u1", "i2", "f2", "f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("axis", [0, 1, -1])
def test_joins_along_an_axis(dtype, axis):
    parts = [(RNG.random((3, 3, 2)) * 9).astype(dtype) for _ in range(20)]
    theirs = [p[:, : 1 + i % 3] if axis == 1 else p[..., : 1 + i % 2] if axis == -1 else p[i % 3 :] for i, p in enumerate(parts)]
    ours = [gc.asarray(p) for p in theirs]
    for count in (2, 3, 20):
        want = np.concatenate(theirs[:count], axis)
        same(in_turns(0, lambda n=count: gc.concatenate(ours[:n], axis=axis)), want)
        same(in_turns(0, lambda n=count: gc.concatenate(tuple(ours[:n]), axis)), want)


def test_joins_of_what_is_not_alike():
    a, b = np.arange(4.0), np.arange(3, dtype="i4")
    x, y = gc.asarray(a), gc.asarray(b)
    cases = [([x, y], [a, b]), ([x[::2], x[::-1]], [a[::2], a[::-1]]), ([x, [1, 2]], [a, [1, 2]]), ([x * 2, x[:0]], [a * 2, a[:0]]),
             ([x[:2].reshape(1, 2).T, x.reshape(4, 1)], [a[:2].reshape(1, 2).T, a.reshape(4, 1)])]  # fmt: skip
    for ours, theirs in cases:
        same(in_turns(0, lambda ours=ours: gc.concatenate(ours)), np.concatenate(theirs))
    for wrong in ([x, x.reshape(2, 2)], [x.reshape(2, 2), x.reshape(1, 4)], [gc.float64(1), gc.float64(2)]):
        with pytest.raises(ValueError):
            in_turns(0, lambda wrong=wrong: gc.concatenate(wrong))
    with pytest.raises(IndexError):
        in_turns(0, lambda: gc.concatenate([x, x], axis=1))


def test_a_join_has_memory_of_its_own():
    parts = [gc.arange(3.0) + i for i in range(30)]
    joined = gc.concatenate(parts)
    parts[0][0] = 99.0
    assert joined[0] == 0.0
    joined[1] = 7.0
    assert parts[0][1] == 1.0


def test_what_is_pending_is_joined_as_it_will_be():
    x = gc.arange(5.0)
    pending = [x * i for i in range(40)]
    joined = gc.concatenate(pending)
    x[:] = 1.0
    np.testing.assert_array_equal(np.asarray(joined), np.concatenate([np.arange(5.0) * i for i in range(40)]))


@pytest.mark.parametrize("theirs", NUMBERS)
@pytest.mark.parametrize("ours", (*NUMBERS, "bool"))
def test_single_results_beside_numpys_scalars(ours, theirs):
    n = np.arange(-3, 4).astype(ours) if np.dtype(ours).kind != "u" else np.arange(250, 256).astype(ours)
    x = gc.asarray(n)
    scalars = [np.dtype(theirs).type(v) for v in (1, 3, 100)] + ([np.dtype(theirs).type(-2)] if np.dtype(theirs).kind != "u" else [])
    for at in range(n.size):
        for scalar in scalars:
            for name in OPERATORS:
                told = []
                got = []
                for one in (n[at], x[at]):
                    with warnings.catch_warnings(record=True) as heard:
                        warnings.simplefilter("always")
                        try:
                            made = getattr(one, name)(scalar)
                        except TypeError:
                            made = NotImplemented
                    got.append(made)
                    told.append([str(w.message) for w in heard])
                want, have = got
                assert (want is NotImplemented) == (have is NotImplemented), (name, n[at], scalar)
                if want is not NotImplemented:
                    assert have.dtype == want.dtype, (name, n[at], scalar)
                    assert np.asarray(have).tobytes() == np.asarray(want).tobytes(), (name, n[at], scalar)
                    assert told[0] == told[1], (name, n[at], scalar)


@pytest.mark.parametrize("dtype", NUMBERS)
def test_small_arrays_beside_numpys_scalars(dtype):
    n = np.arange(8).astype(dtype)
    x, scalar = gc.asarray(n), np.dtype(dtype).type(3)
    got = in_turns(0, lambda: [x + scalar, scalar - x, x * scalar, x == scalar])
    for a, b in zip(got, [n + scalar, scalar - n, n * scalar, n == scalar], strict=True):
        same(a, b)


BOUNDS = [(0, 5), (1, None), (None, 4), (-1.5, 2.5), (3, 1), (np.float32(1), 4), (np.nan, 2.0), (-0.0, 0.0), (0.0, -0.0), (-5, 300), (None, 1e300)]


@pytest.mark.parametrize("bounds", BOUNDS, ids=str)
@pytest.mark.parametrize("dtype", (*NUMBERS, "float16"))
def test_clip_of_arrays_and_values(dtype, bounds):
    n = np.arange(-2, 7).astype("i8").astype(dtype)
    if n.dtype.kind == "f":
        n[2], n[3], n[4] = -0.0, np.nan, np.inf
    x = gc.asarray(n)
    low, high = bounds
    calls = [lambda xp, v: xp.clip(v, low, high), lambda xp, v: v.clip(low, high), lambda xp, v: xp.clip(v, min=low, max=high),
             lambda xp, v: v.clip(max=high) if low is None else v.clip(min=low)]  # fmt: skip
    for call in calls:
        for ours, theirs in [(x, n), (x[::2], n[::2]), *((x[i], n[i]) for i in range(9))]:
            try:
                want = call(np, theirs)
            except (OverflowError, ValueError) as error:
                with pytest.raises(type(error)):
                    in_turns(0, lambda call=call, ours=ours: call(gc, ours))
                continue
            got, recorded = (in_turns(turns, lambda call=call, ours=ours: call(gc, ours)) for turns in (0, gc._graphc.NEVER))
            assert got.dtype == want.dtype and got.shape == want.shape
            np.testing.assert_array_equal(np.asarray(got), want)  # which zero is left of two the numerics say, not NumPy
            same(got, recorded)


@pytest.mark.parametrize("value", [3, -1, 2.5, -0.0, float("nan"), True, 2**70, 2**63 - 1, 1j])
@pytest.mark.parametrize("bounds", [(0, 2), (0.0, 2), (-1.5, 1.5), (0, 2**70), (np.float32(0), 2), (np.int8(0), np.int8(2))], ids=str)
def test_clip_of_numbers(value, bounds):
    try:
        want = np.clip(value, *bounds)
    except (OverflowError, TypeError) as error:
        with pytest.raises(type(error)):
            gc.clip(value, *bounds)
        return
    got = gc.clip(value, *bounds)
    assert getattr(got, "dtype", type(got)) == getattr(want, "dtype", type(want))
    np.testing.assert_array_equal(np.asarray(got), want)


def test_clip_by_arrays_alike():
    n, low, high = np.arange(8.0), np.arange(8.0)[::-1].copy() - 3, np.full(8, 5.0)
    x, least, most = map(gc.asarray, (n, low, high))
    same(in_turns(0, lambda: gc.clip(x, least, most)), np.clip(n, low, high))
    same(in_turns(0, lambda: gc.clip(x, x[2], most)), np.clip(n, n[2], high))
    same(in_turns(0, lambda: x.clip(least[:, None], most)), n.clip(low[:, None], high))


@pytest.mark.parametrize("dtype", (*NUMBERS, "float16", "bool", "complex64"))
def test_truth_of_numbers(dtype):
    n, m = np.array([0, 1, 2, 0, 3, 0, 1]).astype(dtype), np.array([0, 0, 1, 2, 1, 0, 5]).astype(dtype)
    if n.dtype.kind in "fc":
        n[0], n[1], m[2] = -0.0, np.nan, np.inf
    x, y = gc.asarray(n), gc.asarray(m)
    for name in ("logical_and", "logical_or", "logical_xor"):
        ours, theirs = getattr(gc, name), getattr(np, name)
        for a, b, c, d in [(x, y, n, m), (x[::2], y[::2], n[::2], m[::2]), (x, 2, n, 2), (0.0, y, 0.0, m), (x, y[1], n, m[1]), (x, True, n, True), (x, x, n, n)]:
            same(in_turns(0, lambda ours=ours, a=a, b=b: ours(a, b)), theirs(c, d))
    same(in_turns(0, lambda: gc.logical_not(x)), np.logical_not(n))
    same(in_turns(0, lambda: gc.logical_not(x.reshape(7, 1))), np.logical_not(n.reshape(7, 1)))


FIELDS = [("a", "u1"), ("b", "f8"), ("c", "U3")]
THEIRS = {
    "fields": lambda xp: xp.array([(1, 2.0, "x"), (3, 4.0, "yz")], dtype=FIELDS),
    "a dtype of fields": lambda xp: xp.array([(1, 2.0, "x")], np.dtype(FIELDS)),
    "zeros of fields": lambda xp: xp.zeros(3, dtype=FIELDS),
    "objects": lambda xp: xp.array([1, None, "x", (2, 3)], dtype=object),
    "nested objects": lambda xp: xp.array([[1, 2], [3, None]], dtype="O"),
    "ragged": lambda xp: xp.array([[1, 2], [3]], dtype=object),
    "empty": lambda xp: xp.empty(2, object),
    "full": lambda xp: xp.full((2, 2), None, dtype=object),
    "nested text": lambda xp: xp.array([["a", "bc"], ["d", ""]]),
    "text and a number": lambda xp: xp.array([["a", "bc"], ["d", 1]]),
    "text of any depth": lambda xp: xp.array([[[["a"], ["b"]]]]),
    "choices among objects": lambda xp: xp.where(xp.array([True, False, True]), np.array([2**80, 2, None], dtype=object), 5),
    "a choice by objects": lambda xp: np.asarray(xp.where(np.array([2**80, 0, None], dtype=object), xp.arange(3), [4, 5, 6])),
    "selected objects": lambda xp: xp.select([xp.array([True, False])], [np.array([2**80, 1], dtype=object)], 7),
    "numbers of objects": lambda xp: xp.sum([2**80, 1], dtype=object),
}


@pytest.mark.parametrize("what", THEIRS)
def test_arrays_of_what_only_numpy_has(what):
    got, want = THEIRS[what](gc), THEIRS[what](np)
    assert type(got) is type(want)
    if isinstance(want, np.ndarray):
        assert got.dtype == want.dtype and got.shape == want.shape
        assert got.tolist() == want.tolist()


def test_objects_keep_our_arrays():
    x = gc.arange(3.0)
    held = gc.array([x, None], dtype=object)
    held[0][1] = 9.0
    assert x[1] == 9.0
    np.testing.assert_array_equal(np.asarray(gc.array([[x[0], x[1]], [x[2], 4]], dtype=object).astype(float)), [[0, 9], [2, 4]])


PARTS = [
    "np.delete(x, 3)",
    "np.delete(x, -12)",
    "np.delete(x, slice(1, 5))",
    "np.delete(x, slice(5, 1))",
    "np.delete(x, slice(-3, None))",
    "np.delete(x, slice(1, 9, 2))",
    "np.delete(A, -1, axis=1)",
    "np.delete(A, slice(0, 9), axis=0)",
    "np.delete(e, slice(None))",
    "np.insert(x, [5, 1, 1, 12, -1], one)",
    "np.insert(x, [3, 0], y[:2])",
    "np.insert(A, [1, 1], B[:, :2], axis=1)",
    "np.insert(A, [2, 0], B[0], axis=0)",
    "np.insert(E, [0, 0], one, axis=0)",
    "np.trim_zeros(np.concatenate([x[:3] * 0, x, x[:2] * 0]))",
    "np.trim_zeros(x * 0)",
    "np.trim_zeros(x * 0, 'b')",
    "np.trim_zeros(np.concatenate([x[:3] * 0, x]), 'f')",
]  # fmt: skip


@pytest.mark.parametrize("dtype", ["?", "u1", "i8", "f2", "f8", "c16"])
def test_parts_left_out_and_put_between(dtype):
    def made(xp):
        rng = np.random.default_rng(3)

        def numbers(*shape):
            return xp.array(rng.integers(0, 2 if dtype == "?" else 100, shape).astype(dtype))

        return {"np": xp, "x": numbers(12), "y": numbers(12), "A": numbers(5, 6), "B": numbers(5, 6), "one": numbers(1), "e": numbers(0), "E": numbers(0, 3)}

    ours, theirs = made(gc), made(np)
    for program in PARTS:
        got, want = eval(program, ours), eval(program, theirs)
        assert got.dtype == want.dtype and got.shape == want.shape, program
        np.testing.assert_array_equal(np.asarray(got), want)


def test_insert_converts_and_refuses_as_numpy():
    for values in (2.7, [1, 2], np.array([[1], [2]]), [1.5, 2.5], True):
        x = np.arange(5)
        try:
            want = np.insert(x, [1, 3], values)
        except ValueError:
            with pytest.raises(ValueError):
                gc.insert(gc.array(x), [1, 3], values)
        else:
            np.testing.assert_array_equal(np.asarray(gc.insert(gc.array(x), [1, 3], values)), want)
    with pytest.raises(ValueError):
        gc.insert(gc.arange(5), [1, 3], [1, 2, 3])
    with pytest.raises(IndexError):
        gc.insert(gc.arange(5), [1, 9], 0)
    with pytest.raises(IndexError):
        gc.delete(gc.arange(5), 5)


def outcome(program, xp):
    with warnings.catch_warnings(record=True) as met:
        warnings.simplefilter("always")
        try:
            made = program(xp)
        except Exception as error:  # noqa: BLE001
            return type(error).__mro__[-3], [w.category for w in met]
    return np.asarray(made), [w.category for w in met]


def alike(program):
    """Value, dtype, class of error and warnings under both, recorded and at once."""
    want, told = outcome(program, np)
    for turns in (0, gc._graphc.NEVER):
        got, heard = in_turns(turns, lambda: outcome(program, gc))
        if isinstance(want, type):
            assert isinstance(got, type) and issubclass(got, want), got
        else:
            assert not isinstance(got, type), got
            same(got, want)
        assert heard == told


SINGLES = {
    "float64": lambda xp: xp.arange(4.0)[3] * 0.5, "sum": lambda xp: xp.arange(4.0).sum(), "int64": lambda xp: xp.arange(9)[7], "uint64": lambda xp: xp.arange(9, dtype="u8")[8],
    "large": lambda xp: xp.asarray([2**63 + 3], dtype="u8")[0], "int8": lambda xp: xp.asarray([-5], dtype="i1")[0], "float32": lambda xp: xp.asarray([1.1], dtype="f4")[0],
    "float16": lambda xp: xp.asarray([0.1], dtype="f2")[0], "bool": lambda xp: xp.arange(3)[1] == 1, "complex": lambda xp: xp.asarray([1 + 2j])[0], "nan": lambda xp: xp.asarray([xp.nan])[0],
    "no axes": lambda xp: xp.asarray(2.5), "numpy's": lambda xp: np.float64(0.25), "numpy's int": lambda xp: np.int16(-3), "number": lambda xp: 3, "huge": lambda xp: 2**70, "true": lambda xp: True,
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["float64", "int64", "float32", "uint8", "complex128", "bool"])
@pytest.mark.parametrize("kind", SINGLES)
def test_lists_of_single_values_written_into_rows(dtype, kind):
    def write(xp, make, at):
        x, value = xp.zeros((4, 6), dtype=dtype), SINGLES[kind](xp)
        x[at] = make(value, SINGLES["int8" if dtype != "uint8" else "bool"](xp), 1)
        return x

    for make in (lambda *v: v, lambda *v: list(v), lambda *v: [v[0], 2, v[0]]):
        for at in ((1, slice(3)), (2, slice(None, None, -2)), (slice(1, None), 3)):
            alike(lambda xp, make=make, at=at: write(xp, make, at))


@pytest.mark.parametrize("first", SINGLES)
@pytest.mark.parametrize("last", ["number", "float64", "int8", "float32", "complex", "nan"])
def test_ranges_between_single_values(first, last):
    if "huge" in (first, last):
        return  # beyond the integers that a float64 tells apart NumPy adds objects
    for more in ((5,), (), (1,), (0,)):
        alike(lambda xp, more=more: xp.linspace(SINGLES[first](xp), SINGLES[last](xp), *more))
    alike(lambda xp: xp.linspace(SINGLES[first](xp), SINGLES[last](xp), 7, endpoint=False))
    alike(lambda xp: xp.linspace(SINGLES[first](xp), SINGLES[last](xp), 7, retstep=True)[1])


@pytest.mark.parametrize("kind", SINGLES)
@pytest.mark.parametrize("dtype", ["f8", "i8", "f4", "?", "c16"])
def test_joins_by_keys(kind, dtype):
    def vectors(xp, n=3):
        return xp.arange(n).astype(dtype), xp.ones(n), xp.arange(2 * n)[::2]

    if kind != "huge":
        alike(lambda xp: xp.r_[vectors(xp)[0], SINGLES[kind](xp), 1, 2.5])
        alike(lambda xp: xp.r_[SINGLES[kind](xp), vectors(xp)[2], 1:4, SINGLES[kind](xp)])
        alike(lambda xp: xp.r_[SINGLES[kind](xp), 2])
    alike(lambda xp: xp.c_[vectors(xp)])
    alike(lambda xp: xp.c_[vectors(xp)[0], xp.ones((3, 2), dtype="f4"), vectors(xp)[2]])
    alike(lambda xp: xp.c_[vectors(xp)[0], vectors(xp, 4)[1]])
    alike(lambda xp: xp.c_[vectors(xp)[0], xp.ones((3, 1, 2))])
    alike(lambda xp: xp.c_[vectors(xp)[0][:0], vectors(xp)[1][:0]])


@pytest.mark.parametrize("size", [None, 7, (2, 3), (), 0])
def test_choices_of_what_numpy_holds(size):
    for values in (list("ACGT"), np.array(list("ACGT")), np.array(["2026-01-01", "2026-02-03"], dtype="M8[D]"), np.array([[1, "a"], [None, 2]], dtype=object),
                   np.array([(1, 2.0), (3, 4.0)], dtype=[("a", int), ("b", float)]), np.array([])[:0].astype("S3"), np.array("a"), ["a", 1]):  # fmt: skip
        for source in ("default_rng", "RandomState"):
            results = []
            for xp in (np, gc):
                rng = getattr(xp.random, source)(5)
                try:
                    made = rng.choice(values, size)
                    results.append((type(made).__name__, np.asarray(made).dtype, np.shape(made), np.asarray(made).tolist(), rng.random()))
                except ValueError as error:
                    results.append(type(error))
            assert results[0] == results[1], (values, source)


@pytest.mark.parametrize("kind", SINGLES)
@pytest.mark.parametrize("function", ["atleast_1d", "atleast_2d", "atleast_3d"])
def test_axes_for_single_values_and_lists(function, kind):
    def results(xp):
        made, value = getattr(xp, function), SINGLES[kind](xp)
        return [made(value), made([value, value]), made((value,)), made([[value], [value]]), made([[[value]]]), made([]), made([[]])]

    if kind == "huge":
        return
    for i in range(7):
        alike(lambda xp, i=i: results(xp)[i])
    for xp in (np, gc):  # a view of an array of no axes, an array of its own of a number
        x = xp.asarray(2.5)
        getattr(xp, function)(x)[...] = 1
        assert x == 1


@pytest.mark.parametrize("dtype", [None, "?", "i1", "u8", "f2", "f4", "f8", "c8", "c16", "U3", "O", "M8[s]"])
def test_arrays_of_no_elements(dtype):
    for make in (lambda xp: xp.array([], dtype), lambda xp: xp.asarray((), dtype=dtype), lambda xp: xp.array([], dtype=dtype).reshape(3, 0), lambda xp: xp.array([[], []], dtype)):
        want = make(np)
        for turns in (0, gc._graphc.NEVER):
            got = in_turns(turns, lambda make=make: make(gc))
            assert got.dtype == want.dtype and got.shape == want.shape
            assert np.append(np.asarray(got), want).size == 0
    with pytest.raises(TypeError):
        gc.array([], 1.5)
