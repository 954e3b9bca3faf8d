"""Loops over small arrays: computed when met, with the bits of kernels and NumPy's values, without a program for each turn."""

import warnings

import graphc as gc
import numpy as np
import pytest
from support import exact

pytestmark = pytest.mark.graphc_only


def turns(count):
    return gc._graphc.set_loop_turns(count)


@pytest.fixture
def at_once():
    before = turns(0)
    yield
    turns(before)


def on_cpu():
    return gc.asarray([0]).device == "cpu"  # records nothing


def both(program):
    """What `program` gives recorded and computed at once, as NumPy arrays."""
    results = []
    for count in (gc._graphc.NEVER, 0):
        before = turns(count)
        try:
            made = program()
            made = made if isinstance(made, (list, tuple)) else [made]
            gc.eval(*made)  # as few programs as possible
            results.append([np.asarray(r) for r in made])
        finally:
            turns(before)
    return results


def same_bits(program):
    recorded, now = both(program)
    for r, n in zip(recorded, now, strict=True):
        assert r.dtype == n.dtype and r.shape == n.shape
        assert r.tobytes() == n.tobytes(), (r, n)


def values(dtype, shape, seed=1):
    rng = np.random.default_rng(seed)
    x = rng.normal(size=shape) * 4 if np.dtype(dtype).kind == "f" else rng.integers(0, 9, shape)
    x = x.astype(dtype)
    if np.dtype(dtype).kind == "f" and x.size > 3:
        x.reshape(-1)[:4] = [0.0, -0.0, 1.0, -0.0]
    return x


INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
DTYPES = ["bool", *INTEGERS, "float16", "float32", "float64", "complex64", "complex128"]
EXACT = ["add", "subtract", "multiply", "divide", "minimum", "maximum", "less", "equal", "greater_equal", "logical_and", "floor_divide",
         "remainder", "negative", "abs", "sign", "square", "sqrt", "logical_not", "bitwise_xor", "left_shift", "fmax", "fmin"]
OTHER = ["hypot", "atan2", "exp", "tanh", "log1p"]


def accepted(name, x):
    """Whether the operation takes this dtype, and how many operands."""
    f = getattr(gc, name)
    for count in (1, 2):
        try:
            f(*[x] * count)
            return count
        except TypeError:
            continue
    return 0


@pytest.mark.parametrize("dtype", DTYPES)
def test_elementwise_bits(dtype):
    x, y = (gc.asarray(values(dtype, (5, 7), seed)) for seed in (2, 3))
    long = gc.asarray(values(dtype, 700))
    pairs = [(x, y), (x[:, ::2], y[:, 1:5]), (x.T, y[0][:, None]), (x[1], y), (x[2:3], y[:, 3:4]), (long, long[::-1]), (long, long[3])]
    with gc.errstate(all="ignore"):
        counts = {name: accepted(name, x) for name in EXACT + (OTHER if dtype in ("float32", "float64") else [])}

    def program():
        with gc.errstate(all="ignore"):
            made = [getattr(gc, name)(*pair[:count]) for name, count in counts.items() if count for pair in pairs]
            made += [gc.where(a == b, a, b) for a, b in pairs]
            return [*made, gc.concatenate([x, x[:, ::-1]]), gc.concatenate([x, y[:, :2]], axis=1)]

    same_bits(program)


def test_conversions():
    def program():
        with gc.errstate(all="ignore"):
            return [gc.asarray(values(a, (3, 4)))[:, ::-1].astype(b) for a in DTYPES for b in DTYPES]

    same_bits(program)


@pytest.mark.parametrize("dtype", ["bool", *INTEGERS, "float32", "float64"])
@pytest.mark.parametrize("shape", [(1,), (9,), (300,), (1, 5), (5, 1), (6, 70), (100, 9), (3, 4, 5)], ids=str)
def test_reduction_bits(dtype, shape):
    x = gc.asarray(values(dtype, shape))

    def program():
        made = [getattr(gc, name)(a, axis=axis, keepdims=axis == 0) for a in (x, x[::-1], x.T) for axis in (None, *range(len(shape)))
                for name in ("sum", "prod", "min", "max", "mean", "any", "all", "argmin", "argmax")]
        if len(shape) == 3:
            made += [x.sum(axis=(0, 1)), x.sum(axis=(1, 2)), x.sum(axis=(0, 2)), x.mean(axis=(0, 1, 2))]
        return made

    same_bits(program)


@pytest.mark.parametrize("dtype", [*INTEGERS, "float32", "float64"])
@pytest.mark.parametrize("shape", [(1,), (16,), (17,), (900,), (1, 5), (6, 40), (50, 4), (3, 20, 5)], ids=str)
def test_scan_bits(dtype, shape):
    x = gc.asarray(values(dtype, shape))

    def program():
        return [f(a, axis=axis) for a in (x, x[::-1], x.T) for axis in range(len(shape))
                for f in (gc.cumsum, gc.cumprod, gc.minimum.accumulate, gc.maximum.accumulate)]

    with gc.errstate(all="ignore"):
        same_bits(program)


def test_running_extremes(at_once):
    for x in (np.array([2.0, 1, np.nan, 0, 3]), values("int32", (6,)), values("float32", (9, 7)) + 0, np.array([[3, 1], [2, 5]], "int8"), np.ones((0, 2))):
        for f in ("minimum", "maximum"):
            for axis in range(x.ndim):
                exact.assert_same(np.asarray(getattr(gc, f).accumulate(gc.asarray(x), axis)), getattr(np, f).accumulate(x, axis))
    exact.assert_same(np.asarray(gc.maximum.accumulate(gc.asarray([1, 5, 2]), dtype="float32")), np.array([1, 5, 5], "float32"))
    assert np.asarray(gc.maximum.accumulate(gc.asarray([False, True, False]))).tolist() == [False, True, True]


def test_small_library_routines():
    a, b = gc.asarray(values("float64", (5, 5)) + 9 * np.eye(5)), gc.asarray(values("float64", (5, 2), 3))
    x, places = gc.asarray(values("float32", (4, 30))), gc.asarray(values("int64", (40,)))
    same_bits(lambda: [gc.linalg.inv(a), gc.linalg.inv(a[::2, ::2]), gc.linalg.solve(a, b), gc.linalg.det(a.T), *gc.linalg.eigh(a),
                       gc.linalg.cholesky(a @ a.T), gc.sort(x), gc.argsort(x[:, ::-1], axis=0, kind="stable"), gc.sort(places[::-1]),
                       gc.searchsorted(gc.sort(places), places)])
    before = turns(0)
    try:
        with pytest.raises(gc.linalg.LinAlgError, match="[Ss]ingular"):
            gc.linalg.inv(gc.zeros((2, 2)))
    finally:
        turns(before)


def test_what_a_loop_collected_is_copied_together():
    if not on_cpu():
        pytest.skip("the CPU's memory")
    rows = [gc.asarray(np.arange(3.0) + i) for i in range(50)]
    for made in (gc.stack(rows), gc.array(rows), gc.concatenate(rows, axis=0).reshape(50, 3), gc.stack(rows, axis=1).T):
        assert not gc._graphc.pending(made.reshape(-1)) or made.base is not None
        exact.assert_same(np.asarray(made), np.arange(3.0) + np.arange(50.0)[:, None])
    lazy = [gc.asarray(np.arange(3.0)) * i for i in range(50)]
    assert gc._graphc.pending(gc.stack(lazy))  # one program for all


def test_very_many_arrays_are_joined_without_a_kernel_for_each():
    if not on_cpu():
        pytest.skip("the CPU's memory")
    before = turns(gc._graphc.NEVER)
    try:
        lengths = [1 + i % 7 for i in range(3000)]
        parts = [np.arange(n) * 0.5 - i for i, n in enumerate(lengths)]
        ready = [gc.asarray(part) for part in parts]
        pending = [x * 3 if i % 2 else x for i, x in enumerate(ready)]
        want = np.concatenate([part * 3 if i % 2 else part for i, part in enumerate(parts)])
        joined = gc.concatenate(pending)
        assert not gc._graphc.pending(joined)
        exact.assert_same(np.asarray(joined), want)
        big = [gc.asarray(np.full((50, 40), i, "f4")) for i in range(100)]  # 400 KB each way
        for axis in (0, 1):
            joined = gc.concatenate([*big, gc.ones((50, 40), dtype="f8")], axis=axis)
            assert not gc._graphc.pending(joined)
            exact.assert_same(np.asarray(joined), np.concatenate([*map(np.asarray, big), np.ones((50, 40))], axis=axis))
        traced = gc.jit(lambda *xs: gc.concatenate(xs))
        exact.assert_same(np.asarray(traced(*ready[:100])), np.concatenate(parts[:100]))
    finally:
        turns(before)


def test_a_list_of_what_a_loop_collected_becomes_an_array():
    if not on_cpu():
        pytest.skip("the CPU's memory")

    def collected(xp):
        x, values, rows = xp.zeros(3), [], []
        for i in range(100):
            x[i % 3] += 0.5 * i
            values.append(x[0])
            rows.append([i, x[1], x.sum() * 2])
        return values, rows, [*range(70), *values]

    for ours, theirs in zip(collected(gc), collected(np)):
        made = gc.array(ours)
        assert not gc._graphc.pending(made.reshape(-1)) or made.base is not None
        exact.assert_same(np.asarray(made), np.array(theirs))
        assert gc.asarray(ours[:70], dtype="f4").tolist() == np.asarray(theirs[:70], "f4").tolist()
    large = gc.asarray(np.arange(300_000.0))
    lazy = [large.sum() * i for i in range(50)]
    assert gc._graphc.pending(gc.array(lazy))  # few stay recorded
    with pytest.raises(ValueError, match="inhomogeneous"):
        gc.array([x for pair in zip(lazy, [gc.ones(2)] * 50) for x in pair])


def gates(xp, steps=200):
    """What a step computes hangs on a matrix above 8 KiB that is not computed when the loop begins."""
    W = xp.asarray(np.cos(np.arange(64.0 * 24).reshape(64, 24))) * 0.5
    h, c = xp.zeros(16), xp.zeros(16)
    x = xp.asarray(np.sin(np.arange(8.0 * steps)).reshape(steps, 8))
    for t in range(steps):
        z = W @ xp.concatenate([x[t], h])
        g = xp.tanh(z)
        c = g[:16] * c + g[16:32] * g[32:48]
        h = xp.tanh(c) * g[48:]
    return h


@pytest.mark.parametrize("dtype", ["int32", "int64", "float32", "float64"])
def test_product_bits(dtype):
    a, b, v, w = (gc.asarray(values(dtype, s)) for s in ((12, 9), (9, 20), (9,), (12,)))
    big = gc.asarray(values(dtype, (70, 110)))
    column = gc.asarray(values(dtype, 110))
    same_bits(lambda: [a @ b, b.T @ a.T, a @ v, v @ b, w @ a, a.T @ w, v @ v, a[::2] @ b[:, ::-3], a[:, 1:] @ b[1:, 2],
                       big @ column, big[:, ::2] @ column[::2], column[:70] @ big, big.T[:5] @ big[:, :3]])


def test_writes_into_parts(at_once):
    def program(xp):
        a = xp.asarray(np.arange(60.0).reshape(6, 10))
        u = xp.asarray(np.arange(12))
        kept = a[1]
        a[1:-1] += a[:-2]  # the two overlap
        a[:, ::2] = a[:, 1::2] * 2
        a[0] = a[5]
        a[2, 3:] -= 0.5 * a[3, 3:]
        a[4, ::-1] = u[:10]
        u[1:] = u[:-1]
        u[::-1][:3] = [7, 8, 9]
        copy = a.copy()
        a[3] = 1
        a[:2] = a[2:4, :1]
        b = a
        b[0] *= 2
        view = a.T[2:4]
        view[:] = view[::-1]
        return a, u, kept, copy, view

    for g, w in zip(program(gc), program(np), strict=True):
        exact.assert_same(np.asarray(g), w)


def test_lines_become_loops():
    """A line computes at once after sixteen turns; until then, and for large arrays always, it records."""
    if not on_cpu():
        pytest.skip("the CPU's loops")
    before = turns(16)
    try:
        x, large = gc.asarray(np.arange(8.0)), gc.asarray(np.arange(9000.0))
        pending = []
        for _ in range(20):
            y, z = x + 1, large + 1
            pending.append(gc._graphc.pending(y))
            assert gc._graphc.pending(z)
        assert pending == [True] * 16 + [False] * 4
        assert gc._graphc.pending(x * 3)
        gc.jit(lambda a: a + 1)(x)
    finally:
        turns(before)


def elimination(xp, n=12):
    A = xp.asarray(np.cos(np.arange(n * n)).reshape(n, n)) + 10 * xp.eye(n)
    b = xp.asarray(np.arange(float(n)))
    for k in range(n):
        p = k + int(xp.argmax(xp.abs(A[k:, k])))
        A[[k, p]] = A[[p, k]]
        for i in range(k + 1, n):
            f = A[i, k] / A[k, k]
            A[i, k:] -= f * A[k, k:]
            b[i] -= f * b[k]
    x = xp.zeros(n)
    for i in range(n - 1, -1, -1):
        x[i] = (b[i] - A[i, i + 1 :] @ x[i + 1 :]) / A[i, i]
    return x


def oscillation(xp, steps=60):
    def f(y):
        return xp.array([y[1], -xp.sin(y[0]) - 0.1 * y[1]])

    y, h, path = xp.array([1.0, 0.0]), 0.01, []
    for _ in range(steps):
        k1 = f(y)
        k2 = f(y + h / 2 * k1)
        y = y + h * k2
        path.append(y)
    return xp.array(path)


def string(xp, steps=200):
    """Whole arrays above 256 elements, of which the same turn reads parts."""
    u = xp.sin(xp.linspace(0, 3, 500))
    v = u.copy()
    for _ in range(steps):
        w = 2 * v - u
        w[1:-1] += 0.5 * (v[2:] - 2 * v[1:-1] + v[:-2])
        w[0] = w[-1] = 0
        u, v = v, w
    return v


def table(xp, steps=200):
    """Rows of an array above 8 KiB that nothing has computed yet."""
    scores = xp.zeros((steps, 20))
    weights = xp.asarray(np.cos(np.arange(400.0)).reshape(20, 20))
    scores[0] = weights[0]
    for t in range(1, steps):
        scores[t] = (scores[t - 1][:, None] + weights).max(axis=0)
    return scores


@pytest.mark.parametrize("program", [string, table, gates])
def test_turns_run_few_programs(program):
    if not on_cpu():
        pytest.skip("the CPU's loops")
    before = turns(16)
    try:
        program(gc).eval()
        runs = gc.cache_info()["segments_run"]
        got = np.asarray(program(gc))
        assert gc.cache_info()["segments_run"] - runs < 40
        np.testing.assert_allclose(got, program(np), rtol=1e-12, atol=1e-12)
    finally:
        turns(before)


@pytest.mark.parametrize("size", [300, 2048])
def test_turns_that_never_repeat_are_computed_when_met(size):
    """Whole arrays of up to 2048 elements, combined in another order in every turn: each would be a program of its own."""
    if not on_cpu():
        pytest.skip("the CPU's loops")

    def turn(xp, order, x, y):
        for kind in order:
            if kind == 0:
                x, y = x * 0.5 + y, x
            elif kind == 1:
                y = xp.where(x > y, x, y) - 0.25
            elif kind == 2:
                x = xp.sqrt(xp.maximum(x, 0.0)) / 1.5
            else:
                y = -xp.minimum(x, y)
        return x, y

    rng = np.random.default_rng(size)
    x = rng.normal(size=(2, size))
    given = gc.asarray(x[0]), gc.asarray(x[1])
    before = turns(16)
    try:
        for i in range(12):
            order = rng.integers(4, size=40)
            got = turn(gc, order, *given)
            assert i < 4 or not any(gc._graphc.pending(g) for g in got)
            for g, w in zip(got, turn(np, order, *x), strict=True):
                np.testing.assert_array_equal(np.asarray(g), w)
    finally:
        turns(before)


def test_lines_turn_into_loops_together():
    """A function of many lines, called again and again: while some of them are loops already and others are not, each mixture would
    be programs of its own."""
    if not on_cpu():
        pytest.skip("the CPU's loops")
    rng = np.random.default_rng(5)
    forms = ["v{a} + v{b}", "v{a} - 0.5 * v{b}", "xp.maximum(v{a}, v{b})", "abs(v{a})", "v{a} - v{b}.mean()", "xp.sqrt(abs(v{a}))"]
    lines = [f" v{i} = " + forms[rng.integers(6)].format(a=rng.integers(max(0, i - 9), i), b=rng.integers(max(0, i - 9), i)) for i in range(2, 120)]
    scope = {}
    exec(compile("def program(xp, v0, v1):\n" + "\n".join(lines) + "\n return v119 + v118 + v117", "many_lines.py", "exec"), scope)
    before = turns(16)
    try:
        for size, calls in ((8, 24), (600, 6)):
            x = rng.random((2, size))
            compiling = 0
            for _ in range(calls):
                met = gc.cache_info()["compiles"]
                got = np.asarray(scope["program"](gc, gc.asarray(x[0]), gc.asarray(x[1])))
                compiling += gc.cache_info()["compiles"] != met
            np.testing.assert_allclose(got, scope["program"](np, *x), rtol=1e-9, atol=1e-9)
            assert compiling <= 3
    finally:
        turns(before)


@pytest.mark.parametrize("program", [elimination, oscillation])
def test_loops_compile_little(program):
    if not on_cpu():
        pytest.skip("the CPU's loops")
    np.testing.assert_allclose(np.asarray(program(gc)), program(np), rtol=1e-12, atol=1e-12)
    before = gc.cache_info()
    np.testing.assert_allclose(np.asarray(program(gc)), program(np), rtol=1e-12, atol=1e-12)
    after = gc.cache_info()
    assert after["compiles"] <= before["compiles"] + 10  # lines that were no loops yet meet others that are
    assert after["nodes_pending"] <= before["nodes_pending"] + 50


def test_errors_are_told_as_ever(at_once):
    x, zero = gc.asarray([1.0, 2.0]), gc.asarray([0.0, 1.0])
    for f in (lambda: x / zero, lambda: gc.log(zero), lambda: gc.sqrt(zero - 1), lambda: gc.asarray([1, 2]) // gc.asarray([0, 1])):
        with warnings.catch_warnings(record=True) as seen:
            warnings.simplefilter("always")
            np.asarray(f())
        assert len(seen) == 1 and issubclass(seen[0].category, RuntimeWarning)
        with gc.errstate(all="raise"), pytest.raises(FloatingPointError):
            np.asarray(f())
        with gc.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("error")
            np.asarray(f())


def test_arrays_of_computed_values():
    def program(xp):
        a = xp.asarray(np.arange(6.0).reshape(2, 3))
        i = xp.asarray([3, 4])
        made = [xp.array([a[0, 1], 2.5]), xp.array([[a[0, 0], 1], [2, i[0]]]), xp.array([a[0], a[1]]), xp.array((i[0], True)),
                xp.array([i, i[::-1]]), xp.array([[a.T[1]], [a[:, 0]]]), xp.array([i[0], 7]), xp.array([a[0], (1, 2, 3)]),
                xp.array([True, False]), xp.asarray([i[1]]), xp.array([a.sum(), a.max()])]
        a[0] = -1
        return made

    for g, w in zip(program(gc), program(np), strict=True):
        exact.assert_same(np.asarray(g), w)
    for wrong in ([[1, 2], [3]], [gc.asarray([1, 2]), 3], [[1], 2]):
        with pytest.raises(ValueError):
            gc.array(wrong)
    assert gc.array([]).dtype == np.float64 and gc.array([2**63]).dtype == np.uint64
    assert gc.zeros((2, 0)).shape == (2, 0) and gc.ones(3, dtype="int8").dtype == np.int8
    assert gc.zeros_like(gc.ones(3, dtype=bool)).dtype == np.bool_ and gc.zeros(()).shape == ()
    with pytest.raises(ValueError):
        gc.zeros(-1)


@pytest.mark.parametrize("key", [[2, 0], [0, 0, 1], [[1, -1], [2, 0]], [3]], ids=str)
def test_rows_by_integers(at_once, key):
    def program(xp):
        a = xp.asarray(np.arange(24.0).reshape(4, 6))
        u, part = xp.asarray(np.arange(5)), xp.asarray(np.arange(20.0))[::-2]
        index = xp.asarray(np.array(key))
        taken = [a[key], a[:, ::-2][index], a.T[1:][key], u[index], part[key]]
        a[key] = a[key] * 2
        a[[1, 3]] = a[[3, 1]]
        a[:, 1:3][key] = [7, 8]
        u[key] = 9
        part[index] = u[: 1 if np.ndim(key) > 1 else len(key)] * 2
        return [*taken, a, u, part]

    for g, w in zip(program(gc), program(np), strict=True):
        exact.assert_same(np.asarray(g), w)
    with pytest.raises(IndexError):
        np.asarray(gc.asarray([1, 2])[[2]])
    with pytest.raises(ValueError):
        gc.asarray([[1, 2], [3, 4]])[[0, 1]] = [1, 2, 3]


@pytest.mark.parametrize("mask", [[1, 0, 1, 1], [0, 0, 0, 0], [1, 1, 1, 1]], ids=str)
def test_rows_by_masks(at_once, mask):
    def program(xp):
        a, u = xp.asarray(np.arange(24.0).reshape(4, 6)), xp.asarray(np.arange(4, dtype="int16"))
        keep, view = xp.asarray(np.array(mask, dtype=bool)), xp.asarray(np.arange(8.0))[::-2]
        taken = [a[keep], a[:, ::-2][keep], u[keep], view[keep], u[u > 1], view[~keep].sum()]
        a[keep] = a[keep] * 2 + 1
        a[:, 1:3][keep] = [7, 8]
        u[keep] = u[keep][::-1]
        view[keep] = u[keep] * 0.5
        view[view > 100] = view[view > 100]
        return [*taken, a, u, view]

    for g, w in zip(program(gc), program(np), strict=True):
        exact.assert_same(np.asarray(g), np.asarray(w))
    with pytest.raises(IndexError):
        gc.asarray([1, 2])[gc.asarray([True])]
    if sum(mask) > 1:
        with pytest.raises(ValueError):
            gc.asarray([[1, 2], [3, 4]])[gc.asarray([True, True])] = [1, 2, 3]


def test_infinities_that_operands_have_tell_nothing(at_once):
    def program(xp):
        x, y = xp.asarray(np.array([np.inf, 1.0, np.nan, -np.inf])), xp.asarray(np.array([2.0, 3.0, 4.0, np.inf]))
        return [x + y[1], x * y[0], xp.minimum(x, y), x / y[0], -x, y[0] - x]

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for g, w in zip(program(gc), program(np), strict=True):
            exact.assert_same(np.asarray(g), w)
    x = gc.asarray([np.inf, 1.0])
    with pytest.warns(RuntimeWarning, match="invalid value"):
        np.asarray(x - x)
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        np.asarray(x / gc.asarray([0.0, 0.0]))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_single_values_have_the_bits_of_vectors(dtype):
    given = np.array([0.3, 2.5, -0.75, 0.0, -0.0, 1e-30, np.inf, -np.inf, np.nan], dtype)

    def program():
        x = gc.asarray(given)
        with gc.errstate(all="ignore"):
            made = [f(x[i]) for f in (gc.exp, gc.sin, gc.cos, gc.tanh, gc.log1p, gc.isnan, gc.floor, gc.sign) for i in range(len(given))]
            made += [f(x[i], x[j]) for f in (gc.arctan2, gc.hypot, gc.power) for i, j in ((0, 1), (2, 3), (4, 0), (6, 7), (8, 1))]
            made += [x[1] ** 3, x[2] ** 3, 2.5 ** x[0], gc.cos(0.7), gc.hypot(x[0], 3)]
            return [*made, gc.exp(x), gc.power(x, x[::-1]), gc.isnan(x)]

    same_bits(program)
    before = turns(0)
    try:
        for function, value, text in ((gc.log, 0.0, "divide by zero"), (gc.exp, 1e5, "overflow"), (gc.sin, np.inf, "invalid value")):
            with pytest.warns(RuntimeWarning, match=text) as told:
                float(function(gc.asarray(np.array([value], dtype))[0]))
            assert told[0].filename == __file__
    finally:
        turns(before)


@pytest.mark.parametrize("dtype", ["int8", "int64", "float32", "float64"])
@pytest.mark.parametrize("size", [1, 15, 16, 17, 33, 700])
def test_extremes_and_where_they_are(at_once, dtype, size):
    rng = np.random.default_rng(size)
    rows = [rng.integers(-5, 5, size).astype(dtype) for _ in range(6)]
    if np.dtype(dtype).kind == "f":
        rows += [np.where(rng.random(size) < 0.5, 0.0, -0.0).astype(dtype), np.full(size, -0.0, dtype), np.full(size, np.inf, dtype)]
        rows += [np.where(np.arange(size) == size // 2, np.nan, r).astype(dtype) for r in rows[:2]]
    matrix = np.stack(rows)
    with np.errstate(all="ignore"):
        whole = gc.asarray(matrix)
        pairs = [(row, gc.asarray(row)) for row in rows] + [(matrix, whole), (matrix.T, whole.T), (matrix[:, ::-1], whole[:, ::-1])]
        for x, g in [*pairs, (matrix[::2], whole[::2])]:
            for name in ("min", "max", "argmin", "argmax"):
                for axis in (None, *range(x.ndim)):
                    w, made = getattr(x, name)(axis=axis), np.asarray(getattr(g, name)(axis=axis))
                    assert np.array_equal(made, w, equal_nan=made.dtype.kind == "f")
    if np.dtype(dtype).kind == "f":  # -0 is smaller
        zeros = gc.asarray(np.where(np.arange(size) == size // 2, -0.0, 0.0).astype(dtype))
        assert np.signbit(np.asarray(zeros.min())) and np.signbit(np.asarray(zeros.max())) == (size == 1)


def test_outputs_of_ufuncs(at_once):
    x, y = np.arange(6.0), np.linspace(1, 2, 6)
    g, h = gc.asarray(x), gc.asarray(y)
    out = gc.zeros(6)
    assert gc.add(g, h, out=out) is out and gc.multiply(out, 2.0, out=(out,)) is out and gc.hypot(out, h, out) is out
    exact.assert_same(np.asarray(out), np.hypot((x + y) * 2, y))
    view = gc.zeros((2, 6))[:, ::2]
    np.testing.assert_array_equal(np.asarray(gc.subtract(g[:3], h[3:], out=view[1])), x[:3] - y[3:])
    assert np.asarray(view)[0].sum() == 0
    narrow = gc.zeros(6, dtype="float32")
    assert gc.add(g, h, out=narrow) is narrow and np.array_equal(np.asarray(narrow), (x + y).astype("float32"))
    wide = gc.zeros((2, 6))
    assert np.array_equal(np.asarray(gc.add(g, h, out=wide)), np.broadcast_to(x + y, (2, 6)))
    with pytest.raises(TypeError):
        gc.add(g, h, out=gc.zeros(6, dtype=int))
    with pytest.raises(ValueError):
        gc.add(g, h, out=gc.zeros(5))
    with pytest.raises(ValueError):
        gc.add(g, h, out=gc.broadcast_to(gc.zeros(1), (6,)))
    gc.add(g[:-1], g[1:], out=g[1:])  # of the operands as they were
    exact.assert_same(np.asarray(g), np.add(x[:-1], x[1:], out=x[1:]).base)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int64", "float32", "complex128"])
def test_copies_of_numpy_arrays(dtype):
    x = values(dtype, (4, 6)) if dtype != "complex128" else np.arange(24).reshape(4, 6) * (1 + 2j)
    for given in (x, x[1:3], x[:, ::2], x.T, np.asfortranarray(x), x[:0], x[0], x.byteswap().view(x.dtype.newbyteorder())):
        for made in (gc.array(given), gc.asarray(given)):
            assert made.dtype == dtype and made.shape == given.shape
            np.testing.assert_array_equal(np.asarray(made), given)
    g = gc.array(x)
    before = x.copy()
    x[0, 0] = not x[0, 0]
    np.testing.assert_array_equal(np.asarray(g), before)
    g[1, 1] = 1
    assert g.base is None and not gc._graphc.is_value(g) and x[1, 1] == before[1, 1]


def test_counts_places_and_orders(at_once):
    rng = np.random.default_rng(4)
    for n in (1, 2, 40, 900):
        k, x, b = rng.integers(0, 9, n), rng.normal(size=n).round(1), rng.random(n) < 0.4
        x[n // 2] = np.nan
        g, y, m = gc.asarray(k), gc.asarray(x), gc.asarray(b)
        for name, made, wanted in (
            ("bincount", gc.bincount(g), np.bincount(k)),
            ("bincount", gc.bincount(g.astype("uint8"), minlength=20), np.bincount(k, minlength=20)),
            ("bincount", gc.bincount(g[::2]), np.bincount(k[::2])),
            ("flatnonzero", gc.flatnonzero(m), np.flatnonzero(b)),
            ("nonzero", gc.nonzero(m[::-1])[0], np.nonzero(b[::-1])[0]),
            ("sort", gc.sort(y), np.sort(x, kind="stable")),
            ("argsort", gc.argsort(y[::-1]), np.argsort(x[::-1], kind="stable")),
            ("searchsorted", gc.searchsorted(gc.sort(g), 4, side="right"), np.searchsorted(np.sort(k), 4, side="right")),
            ("searchsorted", gc.searchsorted(gc.sort(g), y[:3]), np.searchsorted(np.sort(k).astype(float), x[:3])),
            ("append", gc.append(y, y[0]), np.append(x, x[0])),
            ("diff", gc.diff(g), np.diff(k)),
            ("cross", gc.cross(g[:3], g[-3:]) if n > 2 else g, np.cross(k[:3], k[-3:]) if n > 2 else k),
            ("accumulate", gc.minimum.accumulate(g), np.minimum.accumulate(k)),
        ):
            exact.assert_same(np.asarray(made), np.asarray(wanted), name)
        counts, wanted = gc.zeros(9, dtype=int), np.zeros(9, dtype=int)
        gc.add.at(counts, g, 1)
        np.add.at(wanted, k, 1)
        gc.add.at(counts, g[:1], g[:1])
        np.add.at(wanted, k[:1], k[:1])
        exact.assert_same(np.asarray(counts), wanted)
    with pytest.raises(ValueError):
        gc.bincount(gc.asarray([1, -1]))
    with pytest.raises(TypeError):
        gc.bincount(gc.asarray([1.0]))
    with pytest.raises(ValueError):
        gc.bincount(gc.asarray([1]), minlength=-1)


def test_a_loop_that_looks_computes_what_it_looks_at():
    """Arrays of a few thousand elements, too many to be computed for themselves: the loop's condition reads them."""

    def program(xp):
        cost, d = xp.asarray(np.random.default_rng(5).random((60, 60)) + 0.1), xp.full((60, 60), np.inf)
        d[0, 0] = 0.0
        for _ in range(60):
            e = d.copy()
            e[1:, :] = xp.minimum(e[1:, :], d[:-1, :] + cost[1:, :])
            e[:, 1:] = xp.minimum(e[:, 1:], d[:, :-1] + cost[:, 1:])
            if xp.array_equal(e, d):
                break
            d = e
        return d

    before = turns(2)
    try:
        with warnings.catch_warnings(record=True) as told:
            warnings.resetwarnings()  # a filter would have each line computed at once
            run = gc._graphc.counters()["programs_run"]
            exact.assert_same(np.asarray(program(gc)), program(np))
            assert gc._graphc.counters()["programs_run"] < run + 20 or not on_cpu()
        assert not told
    finally:
        turns(before)


def test_stacks(at_once):
    x, y, k = (values(t, 5, seed) for seed, t in ((1, "float32"), (2, "float64"), (3, "int64")))

    def program(xp):
        a, b, c = (xp.asarray(v) for v in (x, y, k))
        m = xp.asarray(y.reshape(5, 1)) + b
        pairs = ([a, b], (a, a), [a, c], [c, c[::-1]], [m, m.T], [b, [1, 2, 3, 4, 5]], [m[0], m[:, 1]], [b[0], c[1]])
        made = [f(pair) for f in (xp.stack, xp.vstack, xp.hstack) for pair in pairs]
        return [*made, xp.concatenate([a, b]), xp.concatenate((m, m), axis=None), xp.append(m, c), xp.stack([a, b], axis=1), xp.eye(4), xp.eye(0)]

    for g, w in zip(program(gc), program(np), strict=True):
        exact.assert_same(np.asarray(g), w)
        assert g.base is None
    for f in (gc.stack, gc.vstack):
        with pytest.raises(ValueError):
            f([gc.asarray([1, 2]), gc.asarray([1, 2, 3])])


@pytest.mark.parametrize("dtype", ["int8", "int64", "float32", "float64", "bool"])
def test_parts_updated_in_place(at_once, dtype):
    start, other = values(dtype, (6, 8)), values(dtype, (6, 8), 2)

    def program(xp):
        x, y = xp.asarray(start.copy()), xp.asarray(other)
        seen, whole = x[2], x[::2, ::-1]
        kept = x.copy()
        if dtype == "bool":
            x[1:3] |= y[1:3]
            x[:, 1:] &= x[:, :-1]
            x[0] ^= y[0]
            return [x, seen, whole, kept]
        x[1:] += y[:-1]
        x[:, 2:] -= x[:, :-2]  # overlaps itself
        x[::-2, ::3] *= y[0, 0]
        x[3] += 1
        x[2:4, 1:3] += y[0, 1:3]
        x[1:2] *= x[1:2]
        if start.dtype.kind == "f":
            x[4] /= 3.0
            x[:, 0] -= 0.25
            x[5] *= True
        whole += y[::2]
        view = x[1:4]
        view -= view[::-1]
        x[6:] += 1
        return [x, seen, whole, kept]

    for g, w in zip(program(gc), program(np), strict=True):
        exact.assert_same(np.asarray(g), w)
    x = gc.asarray(start)
    with pytest.raises((ValueError, TypeError)):
        x[1:3] += gc.asarray(other)[:1, :5]
    with pytest.raises(ValueError):
        gc.broadcast_to(x, (2, 6, 8))[0] += x
    if start.dtype.kind == "f":
        infinite = gc.full((4,), np.inf, dtype=dtype)
        with pytest.warns(RuntimeWarning, match="invalid value"):
            infinite[1:] -= infinite[:-1]
            np.asarray(infinite)
        assert np.isnan(np.asarray(infinite)).tolist() == [False, True, True, True]
    if start.dtype.kind == "i":
        with pytest.raises(TypeError):
            x[1:] += 0.5


def test_arrays_an_axis_name_elements_in_loops():
    def program(xp):
        seen = []
        a, z = xp.arange(30.0).reshape(5, 6) + 0.5, xp.arange(6.0) + 1j
        n, labels = xp.arange(5), xp.array([1, -1, 3, 3, 0])
        b = xp.arange(24).astype("int16").reshape(2, 3, 4)
        for i in range(40):
            a[n, labels] -= 1
            a[[0, 0, 1], [2, 2, 3]] = [i, i + 1, i + 2]
            a[n % 2, labels] = i * 0.25
            seen += [a[n, labels], a[xp.arange(5), labels] * 2, b[labels % 2, labels % 3, labels], z[xp.array([0, 2, 2])].imag, z[z.real > 2].real]
            a[a > 20] -= 3
            seen += [a[a > 15], a[a > 1e9], b[b % 2 == 0]]
            a[a < 3] = xp.arange(float((a < 3).sum()))
        return [*seen, a]

    for got, want in zip(program(gc), program(np), strict=True):
        exact.assert_same(np.asarray(got), want)


def test_places_outside_are_refused_in_loops():
    x, rows, columns = gc.arange(12.0).reshape(3, 4), gc.array([0, 1]), gc.array([1, 4])
    for _ in range(40):
        with pytest.raises(IndexError):
            float(x[rows, columns].sum())
        with pytest.raises(IndexError):
            x[rows, columns] = 1
        with pytest.raises((ValueError, IndexError)):
            x[rows, gc.array([1, 2])] = gc.arange(3.0)
    assert x.tolist() == np.arange(12.0).reshape(3, 4).tolist()


def test_values_of_two_dtypes_in_loops():
    def program(xp):
        e, k, u, f = xp.array([1.5, 2.0]), xp.array([3, -2]), xp.array([200, 3], "uint8"), xp.array([0.5, 2.0], "float32")
        seen = []
        for i in range(20):
            for a in (e[0], k[1], u[0], f[0]):
                for b in (e[1], k[0], u[1], f[1], 2, 0.25):
                    seen += [a + b, a - b, a * b, a / b, b / a, a < b, a == b, b >= a, a % b]
        big = xp.array([2**63], "uint64")[0], xp.array([2**63 - 1])[0]
        return [*seen, big[0] == big[1], big[0] > big[1], k[0] / 2, 7 // k[0]]

    for got, want in zip(program(gc), program(np), strict=True):
        exact.assert_same(np.asarray(got), np.asarray(want))


def test_sorting_and_searching_of_few_elements():
    def program(xp):
        a, m, n = xp.array([3.0, 1.0, 2.0, 0.5]), xp.array([[3, 1], [0, 2], [5, -1]]), xp.array([4, 1, 3])
        seen = []
        for i in range(30):
            seen += [xp.partition(a, 0)[0], xp.argpartition(n, 1)[1], xp.sort(m, axis=0), xp.sort(m * 1.0, axis=0), xp.sort(m, axis=None)]
            seen += [xp.interp(x, [0.0, 1.0, 3.0], [1.0, 5.0, 2.0]) for x in (-1.0, 0.5, 3.0, 7.0)]
            seen += [xp.interp(9.0, xp.array([0.0, 1.0]), xp.array([1.0, 5.0]), right=i), xp.interp(-1, [0, 1], [3, 4], left=-1)]
            m[i % 3, 0] = i
        return [*seen, xp.frombuffer(b"\x00\xff\x02", bool).sum()]

    for got, want in zip(program(gc), program(np), strict=True):
        exact.assert_same(np.asarray(got), np.asarray(want))
