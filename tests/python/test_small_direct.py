"""What loops over small arrays compute without the recorder: every result beside NumPy's, all of them alive at once."""

import gc as collector
import operator
import warnings
import weakref

import graphc as gc
import numpy as np
import pytest

pytestmark = pytest.mark.graphc_only

TURNS = 40  # more than a line takes to become a loop
RNG = np.random.default_rng(41)
DTYPES = ("f8", "f4", "i8", "i4", "u1", "?")
BINARY = (
    operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod, operator.lt, operator.ge, operator.eq,
    operator.and_, operator.or_, operator.xor,
)  # fmt: skip
UNARY = (operator.neg, operator.abs, operator.invert, np.floor, np.ceil, np.trunc, np.rint, np.sqrt, np.square)


def values(dtype, count):
    if dtype == "?":
        return RNG.random(count) > 0.5
    if dtype[0] == "f":
        return (RNG.random(count) * 20 - 8).astype(dtype)
    return RNG.integers(1, 100, count).astype(dtype)


def same(ours, theirs):
    theirs = np.asarray(theirs)
    assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
    assert np.asarray(ours).tobytes() == theirs.tobytes()


def outcome(function, *operands):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*operands)
        except TypeError:
            return None


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", BINARY, ids=lambda f: f.__name__)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_operators_of_two(function, dtype):
    pairs = []
    for turn in range(TURNS):
        x, y = values(dtype, 12), values(dtype, 12)
        a, b = gc.asarray(x), gc.asarray(y)
        numbers = {"f": 2.5, "i": 3, "u": 3, "b": True}
        number = numbers[x.dtype.kind]
        cases = [(x, y, a, b), (x[2:9], y[3:10], a[2:9], b[3:10]), (x[::2], y[1::2], a[::2], b[1::2]), (x, number, a, number),
                 (number, x, number, a), (x, y[5], a, b[5]), (x.reshape(3, 4), y.reshape(3, 4), a.reshape(3, 4), b.reshape(3, 4))]  # fmt: skip
        for u, v, c, d in cases:
            theirs = outcome(function, u, v)
            if theirs is None or (function in (operator.floordiv, operator.mod) and dtype[0] == "f"):
                continue
            pairs.append((function(c, d), theirs))
    for ours, theirs in pairs:
        same(ours, theirs)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", UNARY, ids=lambda f: f.__name__)
def test_operators_of_one(function, dtype):
    pairs = []
    for turn in range(TURNS):
        x = np.abs(values(dtype, 9)) if function is np.sqrt and dtype != "?" else values(dtype, 9)
        a = gc.asarray(x)
        theirs = outcome(function, x)
        if theirs is None or (function is np.sqrt and dtype[0] != "f") or theirs.dtype == "f2":
            continue
        called = getattr(gc, function.__name__) if isinstance(function, np.ufunc) else function
        pairs += [(called(a), theirs), (called(a[2:]), theirs[2:])]
    for ours, theirs in pairs:
        same(ours, theirs)


def test_rounding_of_single_values_and_special_numbers():
    special = np.array([-0.0, 0.0, -0.5, 0.5, 1.5, 2.5, -2.5, 2.0**52 + 1, -(2.0**53), 1e300, 5e-324])
    for dtype in ("f8", "f4"):
        with np.errstate(over="ignore"):
            x = special.astype(dtype)
        x = x[np.isfinite(x)]
        for name in ("floor", "ceil", "trunc", "rint"):
            for turn in range(TURNS):
                made = getattr(gc, name)(gc.asarray(x))
            same(made, getattr(np, name)(x))
            for value in x:
                same(gc.asarray(getattr(gc, name)(gc.asarray(x)[0] * 0 + value)), getattr(np, name)(x[0] * 0 + value))


@pytest.mark.parametrize("exponent", [2, 2.0, 0.5, 3, True])
@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "?"])
def test_powers(exponent, dtype):
    for turn in range(TURNS):
        x = np.abs(values(dtype, 7)) if dtype != "?" else values(dtype, 7)
        ours, theirs = gc.asarray(x) ** exponent, x**exponent
    assert ours.dtype == theirs.dtype
    np.testing.assert_allclose(np.asarray(ours), theirs, rtol=1e-6 if dtype == "f4" else 1e-14)


def test_errors_are_told_at_the_line_that_meets_them():
    x = gc.asarray(np.ones(6))
    for turn in range(TURNS):
        y = gc.asarray(np.full(6, 0.0 if turn == TURNS - 1 else 2.0))
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            z = x / y
            np.asarray(z)
        assert len(told) == (turn == TURNS - 1)
    assert "divide by zero" in str(told[0].message) and told[0].filename == __file__
    with np.errstate(), gc.errstate(over="raise"):
        for turn in range(TURNS):
            big = gc.asarray(np.full(3, 1e308 if turn == TURNS - 1 else 1.0))
            if turn < TURNS - 1:
                big * 10.0
            else:
                with pytest.raises(FloatingPointError):
                    big * 10.0


@pytest.mark.parametrize("dtype", DTYPES)
def test_rows(dtype):
    pairs = []
    for turn in range(TURNS):
        x, m = values(dtype, 12), RNG.random(12) > 0.4
        i = RNG.integers(-12, 12, 5)
        a = gc.asarray(x)
        n = gc.asarray(m)
        j = gc.asarray(i)
        pairs += [(a[j], x[i]), (a[n], x[m]), (a[::2][gc.asarray(i // 2)], x[::2][i // 2]), (gc.take(a, j), np.take(x, i))]
        table, rows = x.reshape(4, 3), gc.asarray(x).reshape(4, 3)
        pairs += [(rows[gc.asarray(i % 4)], table[i % 4]), (rows[gc.asarray(m[:4])], table[m[:4]]), (rows.T[gc.asarray(i % 3)], table.T[i % 3])]
        pairs += [(rows[gc.asarray(i.reshape(5, 1) % 4)], table[i.reshape(5, 1) % 4])]
        pairs += [(gc.nonzero(a)[0], np.nonzero(x)[0]), (gc.flatnonzero(n), np.flatnonzero(m))]
        assert int(gc.count_nonzero(n)) == np.count_nonzero(m)
    for ours, theirs in pairs:
        same(ours, theirs)


@pytest.mark.parametrize("dtype", DTYPES)
def test_lines_of_any_axis(dtype):
    """Where no axis has to be moved, and where the lines are of views."""
    pairs = []
    for turn in range(TURNS):
        x, i = values(dtype, 60).reshape(3, 4, 5), RNG.integers(-4, 4, 6)
        a, j, m = gc.asarray(x), gc.asarray(i), RNG.random(4) > 0.4
        pairs += [(a[:, j], x[:, i]), (a[:, j, 1:], x[:, i, 1:]), (a[..., j], x[..., i]), (a[::-1, j, ::2], x[::-1, i, ::2])]
        pairs += [(a.T[:, j], x.T[:, i]), (a[1][:, j], x[1][:, i]), (a[:, gc.asarray(m)], x[:, m]), (a[0:0, j], x[0:0, i])]
        pairs += [(a[:, [0, -1]], x[:, [0, -1]]), (a[:, :, j], x[:, :, i]), (a[1:, 1:][:, gc.asarray(i[:2] % 3)], x[1:, 1:][:, i[:2] % 3])]
        if turn == TURNS - 1:
            with pytest.raises(IndexError):
                a[:, gc.asarray(np.array([0, 4]))] + 1
    for ours, theirs in pairs:
        same(ours, theirs)


@pytest.mark.parametrize("dtype", ["f8", "f4", "c16"])
def test_many_places_before_and_behind_the_ends(dtype):
    """Several thousand, whose extremes are looked at first."""
    x, y = RNG.standard_normal(5000).astype(dtype), RNG.standard_normal(6000).astype(dtype)
    for low, high in ((0, 5000), (-5000, 5000), (-5000, 0)):
        i = RNG.integers(low, high, 6000)
        i[[7, 11]] = low, high - 1
        a, b, j = gc.asarray(x), gc.asarray(y), gc.asarray(i)
        expected, taken = x.copy(), []
        expected[i] = y
        for _ in range(TURNS):
            taken.append(a[j])
            taken[-1].item(3)
            c = a.copy()
            c[j] = b
            c.item(3)
        same(taken[-1], x[i])
        same(c, expected)
        for wrong in (-5001, 5000):
            j[4321] = wrong
            with pytest.raises(IndexError, match=f"index {wrong} is out of bounds"):
                c[j] = b
            with pytest.raises(IndexError, match=f"index {wrong} is out of bounds"):
                a[j].item(3)
        same(c, expected)


def test_places_outside_are_refused_and_change_nothing():
    a, c = gc.asarray(np.arange(5.0)), gc.zeros(5)
    for turn in range(TURNS):
        i = gc.asarray(np.array([0, 5 if turn == TURNS - 1 else 4]))
        if turn < TURNS - 1:
            a[i], c.__setitem__(i, 1.0)
            continue
        before = np.asarray(c).copy()
        with pytest.raises(IndexError):
            np.asarray(a[i])
        with pytest.raises(IndexError):
            c[i] = 7.0
            np.asarray(c)
        d = gc.zeros(5)
        np.testing.assert_array_equal(before, [1, 0, 0, 0, 1])
        np.testing.assert_array_equal(np.asarray(d), np.zeros(5))
    with pytest.raises(ValueError):
        for turn in range(TURNS):
            c[gc.asarray([True, turn != 30, False, False, True])] = gc.asarray([1.0, 2.0, 3.0])


@pytest.mark.parametrize("dtype", DTYPES)
def test_writes_at_places(dtype):
    x, a = values(dtype, 10), None
    a = gc.asarray(x.copy())
    part, other = a[1:9], x[1:9]
    for turn in range(TURNS):
        i, m = RNG.integers(-8, 8, 4), RNG.random(10) > 0.5
        v, w = values(dtype, 4), values(dtype, int(m.sum()))
        number = {"f": 2.5, "i": 3, "u": 3, "b": True}[x.dtype.kind]
        other[i] = v
        part[gc.asarray(i)] = gc.asarray(v)
        x[m] = w
        a[gc.asarray(m)] = gc.asarray(w)
        x[i] = number
        a[gc.asarray(i)] = number
        x[m] = x[3]
        a[gc.asarray(m)] = a[3]
        x[::-2][i % 5] = x[i]
        a[::-2][gc.asarray(i % 5)] = a[gc.asarray(i)]
        if dtype == "i8":
            x[i] = x[x[:4] % 10]
            a[gc.asarray(i)] = a[a[:4] % 10]
        same(a, x)


@pytest.mark.parametrize("dtype", DTYPES)
def test_writes_of_parts(dtype):
    x = values(dtype, 24)
    a = gc.asarray(x.copy())
    table, grid = x.reshape(4, 6), a.reshape(4, 6)
    for turn in range(TURNS):
        v, s = values(dtype, 6), values(dtype, 24).reshape(4, 6)
        r, w = gc.asarray(v), gc.asarray(s)
        number = {"f": 2.5, "i": 3, "u": 3, "b": True}[x.dtype.kind]
        k = turn % 4
        table[k], grid[k] = v, r
        table[:, k], grid[:, k] = v[:4], r[:4]
        table[1:, ::2], grid[1:, ::2] = s[:3, 3:], w[:3, 3:]
        table[::-1, 2], grid[::-1, 2] = s[:, 0], w[:, 0]
        table[..., 5], grid[..., 5] = number, number
        table[None, k, 1:3], grid[None, k, 1:3] = v[:2], r[:2]
        table[1:], grid[1:] = table[:-1].copy(), grid[:-1].copy()
        table[:-1], grid[:-1] = table[1:], grid[1:]  # of the same memory
        table[2:2], grid[2:2] = number, number
        same(a, x)
    for turn in range(TURNS):
        v = values(dtype, 24)
        x[:], a[:] = v, gc.asarray(v)
        b = a.copy()
        a[::-1] = a
        x[::-1] = x.copy()
        c = a.flatten()
        a.fill(1)
        same(b, v)
        same(c, x)
        same(a, np.ones(24, dtype))
        gc.copyto(a, b)
        same(a, v)


def test_parts_that_do_not_fit_raise():
    a = gc.zeros((3, 4))
    b = gc.asarray(np.ones(3))
    for turn in range(TURNS):
        for key, wrong in ((0, b), ((slice(None), 1), gc.asarray(np.ones(4)))):
            with pytest.raises(ValueError):
                a[key] = wrong
        with pytest.raises(IndexError):
            a[3] = b
        with pytest.raises(IndexError):
            a[3]
        with pytest.raises(IndexError):
            a[0, 0, 0, ...]
        with pytest.raises(ValueError):
            a[:, ::0]
        with pytest.raises(ValueError):
            gc.broadcast_to(b, (2, 3))[0] = 1.0
        np.testing.assert_array_equal(np.asarray(a[2, 1:]), np.zeros(3))


def random_key(shape):
    key = []
    for size in shape[: RNG.integers(0, len(shape) + 1)]:
        kind = RNG.integers(0, 3)
        if kind == 0:
            key.append(int(RNG.integers(-size, size)))
        else:
            low, high = sorted(RNG.integers(0, size + 1, 2).tolist())
            key.append(slice(low, high) if kind == 1 else slice(None, None, int(RNG.choice([-2, -1, 1, 2]))))
    if RNG.random() < 0.3:
        key.insert(int(RNG.integers(0, len(key) + 1)), None)
    if RNG.random() < 0.3 and len([k for k in key if k is not None]) < len(shape):
        key.append(Ellipsis)
    return tuple(key)


def test_views_of_views_in_objects_that_were_others():
    x = np.arange(120.0).reshape(4, 5, 6)
    a = gc.asarray(x.copy())
    kept = []
    for turn in range(300):
        u, v = x, a
        for depth in range(RNG.integers(1, 4)):
            key = random_key(u.shape)
            u, v = u[key], v[key]
            if u.ndim == 0 or u.size == 0:
                break
        if u.ndim and RNG.random() < 0.5:
            kept.append((v, u))
        same(gc.asarray(v), np.asarray(u))
        if len(kept) > 20:
            kept.pop(0)
        if u.ndim and u.size and RNG.random() < 0.5:
            u[...] = turn
            v[...] = turn
    for ours, theirs in kept:
        same(ours, theirs)
    same(a, x)


def test_objects_that_ended_are_new_when_they_come_again():
    a, b = gc.asarray(np.arange(6.0)), gc.asarray(np.ones(6))
    ended = []
    for turn in range(TURNS):
        c = a + b
        watch = weakref.ref(c, lambda _: ended.append(1))
        part = c[1:]
        assert part.base is c and c.base is None
        del c
        np.testing.assert_array_equal(np.asarray(part), np.arange(2.0, 7.0))
        assert part.base is not None or watch() is None
        del part
        collector.collect()
        assert watch() is None and len(ended) == turn + 1
        d = a - b
        assert d.base is None and d.flags.writeable
        d.flags.writeable = False
        with pytest.raises(ValueError):
            d[0] = 1.0
        del d
        e = a * b
        e[0] = 5.0
        shown = np.asarray(e)
        del e
        f = a * b
        np.testing.assert_array_equal(shown, [5, 1, 2, 3, 4, 5])
        np.testing.assert_array_equal(np.asarray(f), np.arange(6.0))


def test_arithmetic_of_single_results():
    a = gc.asarray(np.array([0.1, 3.0, 1e308, 0.0]))
    x = np.array([0.1, 3.0, 1e308, 0.0])
    for turn in range(TURNS):
        for function in (operator.add, operator.sub, operator.mul, operator.truediv):
            same(gc.asarray(function(a[0], a[1])), function(x[0], x[1]))
            same(gc.asarray(function(a[0], 7.0)), function(x[0], 7.0))
            same(gc.asarray(function(7.0, a[1])), function(7.0, x[1]))
        with pytest.warns(RuntimeWarning, match="divide by zero"):
            assert np.isinf(float(a[1] / a[3]))
        with pytest.warns(RuntimeWarning, match="overflow"):
            assert np.isinf(float(a[2] * 10.0))


def test_filled_arrays_are_as_asked():
    kept = []
    for turn in range(TURNS):
        for dtype in (float, "f4", int, bool):
            kept += [(gc.zeros(5, dtype), np.zeros(5, dtype)), (gc.ones((2, 3), dtype), np.ones((2, 3), dtype)),
                     (gc.zeros_like(kept[0][0]) if kept else gc.zeros(5), np.zeros(5))]  # fmt: skip
        kept[-1][0][0] = kept[-1][1][0] = turn
    for ours, theirs in kept:
        same(ours, theirs)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "i4", "u1"])
@pytest.mark.parametrize("count", [1, 15, 16, 17, 64, 100, 1000, 1500])
def test_extremes(dtype, count):
    for turn in range(TURNS):
        x = values(dtype, count)
        if turn % 3 == 0:
            x = (x % 4).astype(dtype)  # found at many places
        if turn % 5 == 0 and dtype[0] == "f":
            x[: count // 2] = -0.0
            x[count // 2 :] = 0.0
        a = gc.asarray(x)
        assert int(a.argmax()) == x.argmax() and int(a.argmin()) == x.argmin()
        assert float(a.max()) == x.max() and float(a.min()) == x.min()
    if dtype[0] == "f" and count > 20:
        x[7] = x[19] = np.nan
        for turn in range(TURNS):
            a = gc.asarray(x)
            assert int(a.argmax()) == 7 and int(a.argmin()) == 7 and np.isnan(float(a.max()))


def test_functions_of_whole_numbers_and_texts_of_single_results():
    a = gc.asarray(np.array([2.5, -1e300, 4.0]))
    b = gc.asarray(np.array([3, -70]))
    for turn in range(TURNS):
        for n in (1, 2, 7, 2**53, 2**70):
            for name in ("log", "sqrt", "exp", "log2", "cbrt"):
                if name != "exp" or n < 700:
                    same(gc.asarray(getattr(gc, name)(n)), np.asarray(getattr(gc, name)(float(n))))
        with pytest.warns(RuntimeWarning, match="divide by zero"):
            assert np.isneginf(float(gc.log(0)))
        for spec in ("", ".3f", "12.4e", "g", ">30"):
            assert format(a[0], spec) == format(2.5, spec) and f"{a[1]:{spec}}" == f"{-1e300:{spec}}"
        for spec in ("", "d", "05d", "x", ",.1f"):
            assert format(b[1], spec) == format(-70, spec)
    with pytest.raises(ValueError):
        format(b[0], "y")
    with pytest.raises(TypeError):
        format(a, ".2f")


LAYOUTS = {
    "rows": lambda a: a, "every second": lambda a: np.repeat(a, 2, axis=-1)[..., ::2], "backwards": lambda a: a[..., ::-1].copy()[..., ::-1],
    "columns": lambda a: np.asfortranarray(a), "turned": lambda a: np.ascontiguousarray(np.moveaxis(a, 0, -1)), "one row": lambda a: np.broadcast_to(a[:1], a.shape),
}  # fmt: skip


def placed(np_, layout, a):
    """The values of `a` in an array of `np_` that lies so."""
    if layout == "columns":
        return np_.asarray(np.ascontiguousarray(a.T)).T
    if layout == "turned":
        return np_.moveaxis(np_.asarray(LAYOUTS[layout](a)), -1, 0)
    if layout == "one row":
        return np_.broadcast_to(np_.asarray(a[:1]), a.shape)
    if layout == "every second":
        return np_.asarray(np.repeat(a, 2, axis=-1))[..., ::2]
    return np_.asarray(np.ascontiguousarray(a[..., ::-1]))[..., ::-1] if layout == "backwards" else np_.asarray(a)


@pytest.mark.parametrize("shape", [(7,), (3, 4), (2, 3, 4), (1, 5), (4, 1), (0, 3), (1,)])
@pytest.mark.parametrize("dtype", DTYPES)
def test_operands_lie_in_any_way(dtype, shape):
    given = [np.array(values(dtype, int(np.prod(shape)))).reshape(shape) for _ in range(2)]
    names = list(LAYOUTS)[: 3 if len(shape) == 1 else None]
    functions = ["add", "multiply", "maximum", "less", "sqrt", "exp", "isnan", "arctan2", "divide", "logical_and", "negative", "floor"]
    for first in names:
        for second in names:
            results = []
            for np_ in (gc, np):
                a, b = placed(np_, first, given[0]), placed(np_, second, given[1])
                out = placed(np_, first if first != "one row" else "rows", np.zeros_like(given[0]))
                done = []
                for name in functions:
                    f = getattr(np_, name)
                    operands = (a, b)[: f.nin]
                    with np.errstate(all="ignore"):
                        for _ in range(TURNS // 2):
                            made = outcome(f, *operands)
                        done.append(made)
                        done.append(outcome(lambda *o: f(*o, out=out).copy(), *operands))
                results.append(done)
            for ours, theirs in zip(*results):
                if theirs is None:
                    assert ours is None
                    continue
                assert ours.dtype == theirs.dtype and ours.shape == theirs.shape and (theirs.size == 0 or ours.strides == theirs.strides)
                np.testing.assert_allclose(np.asarray(ours), theirs, rtol=1e-6)
