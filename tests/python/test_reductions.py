"""Reductions and matrix products: float results equal the canonical trees bit for bit, the rest equals NumPy."""

import itertools
import warnings

import graphc as gc
import numpy as np
import pytest
from support.session import ORACLE
from support import edge, exact, trees

SIZES = (0, 1, 5, 31, 32, 33, 255, 256, 257, 1023, 1024, 1025, 8191, 8192, 8193, 3 * 8192 + 5)


def same(got, want, what=""):
    """Bit for bit; NumPy in graphc's place adds in another order."""
    if ORACLE:
        np.testing.assert_allclose(np.asarray(got), want, rtol=2e-3, atol=1e-2)
    else:
        exact.assert_same(got, want, what)


def floats(rng, shape, dtype):
    """Values of many magnitudes: any change of order shows in the last bits."""
    return (rng.normal(size=shape) * 2.0 ** rng.integers(-6, 6, shape)).astype(dtype)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("f", ["sum", "mean", "prod", "max"])
def test_minus_zero_alone(f, dtype):
    """A sum begins at zero, also of no axes."""
    zero = np.array(-0.0 - 0.0j if dtype.startswith("c") else -0.0, dtype)
    for x, axis in [(zero, None), (zero, ()), (zero.reshape(1, 1), ()), (zero.reshape(1), 0), (np.full((2, 3), zero), ())]:
        want = np.asarray(getattr(np, f)(x, axis=axis))
        for got in (getattr(gc, f)(gc.asarray(x), axis=axis), gc.jit(lambda a: getattr(gc, f)(a, axis=axis))(gc.asarray(x))):
            got = np.asarray(got)
            assert [np.signbit(p).tolist() for p in (got.real, got.imag)] == [
                np.signbit(p).tolist() for p in (want.real, want.imag)], (f, axis)


@pytest.mark.parametrize("dtype", edge.FLOATS)
def test_lane_tree_of_every_size(dtype):
    rng = np.random.default_rng(30)
    for n in SIZES:
        x = floats(rng, (3, n), dtype)
        g = gc.asarray(x)
        results = [gc.sum(g, axis=1), gc.sum(g), g.sum(axis=-1, keepdims=True)]
        gc.eval(*results)
        same(results[0], trees.sum(x, (1,)), f"rows of {n}")
        same(results[1], trees.sum(x, (0, 1)), f"all of 3 x {n}")
        same(results[2], trees.sum(x, (1,))[:, None], f"keepdims {n}")


@pytest.mark.parametrize("dtype", edge.FLOATS)
def test_lane_tree_of_computed_rows(dtype):
    """Rows that are read as they lie or by strips, of two operands, and again with their mean known."""
    rng = np.random.default_rng(29)
    for n in SIZES:
        x, y = floats(rng, (5, n), dtype), floats(rng, (5, n), dtype)
        a, b = gc.asarray(x), gc.asarray(y)
        products, centred = gc.sum(a * b, axis=1), gc.sum(a - gc.sum(a, axis=1, keepdims=True), axis=1)
        gc.eval(products, centred)
        same(products, trees.sum(x * y, (1,)), f"products, rows of {n}")
        same(centred, trees.sum(x - trees.sum(x, (1,))[:, None], (1,)), f"centred, rows of {n}")


@pytest.mark.parametrize("rows, columns, dtype", [(1077, 4157, "float32"), (1077, 2101, "float64"), (131, 70_001, "float32"), (31, 140_003, "int32")])
def test_wide_columns_beyond_the_caches(rows, columns, dtype):
    """More than a tile of columns, with rows left over from eight, 32 and 1024, where rows are written out."""
    rng = np.random.default_rng(32)
    x = rng.integers(-9, 9, (rows, columns)).astype(dtype) if dtype == "int32" else floats(rng, (rows, columns), dtype)
    g = gc.asarray(x)
    if dtype == "int32":
        same(gc.sum(g * g, axis=0), (x.astype(np.int64) ** 2).sum(axis=0))
    else:
        same(gc.sum(g, axis=0), trees.sum(x, (0,)))
        same(gc.sum(g * g, axis=0), trees.sum(x * x, (0,)))
        same(gc.mean(g, axis=0), trees.mean(x, (0,)))
    same(gc.max(g, axis=0), x.max(axis=0))
    same(gc.any(g > 8, axis=0), (x > 8).any(axis=0))


@pytest.mark.parametrize("dtype", edge.FLOATS)
def test_row_tree_of_every_size(dtype):
    rng = np.random.default_rng(31)
    for n in SIZES:
        x = floats(rng, (n, 3), dtype)
        same(gc.sum(gc.asarray(x), axis=0), trees.sum(x, (0,)), f"columns of {n}")


def test_two_levels_of_blocks():
    x = floats(np.random.default_rng(32), 256 * 8192 + 3 * 8192 + 77, "float32")
    same(gc.sum(gc.asarray(x)), trees.sum(x, (0,)))


@pytest.mark.parametrize("dtype", edge.FLOATS)
@pytest.mark.parametrize("shape", [(4, 5, 6), (33, 7, 40), (3, 300, 2), (1, 9, 1), (2, 1, 5), (70, 3, 2, 5)], ids=str)
def test_every_axes_choice(shape, dtype):
    x = floats(np.random.default_rng(33), shape, dtype)
    g = gc.asarray(x)
    choices = [c for r in range(1, len(shape) + 1) for c in itertools.combinations(range(len(shape)), r)]
    results = [(gc.sum(g, axis=c), gc.mean(g, axis=c), gc.prod(g / 2, axis=c)) for c in choices]
    gc.eval(*itertools.chain(*results))
    for axes, (total, mean, product) in zip(choices, results):
        same(total, trees.sum(x, axes), f"sum {axes}")
        same(mean, trees.mean(x, axes), f"mean {axes}")
        if not ORACLE:
            same(product, trees.prod(x / x.dtype.type(2), axes), f"prod {axes}")


def test_the_layout_of_the_operand_changes_nothing():
    x = floats(np.random.default_rng(34), (40, 300), "float32")
    base = np.asarray(gc.sum(gc.asarray(x), axis=1))
    transposed = gc.asarray(np.ascontiguousarray(x.T)).T
    flipped = gc.asarray(np.ascontiguousarray(x[::-1, ::-1]))[::-1, ::-1]
    computed = gc.asarray(x - 1) * 1 + 1
    for other in (transposed, flipped, gc.asarray(np.asfortranarray(x))):
        same(gc.sum(other, axis=1), base)
    same(gc.sum(computed, axis=1), trees.sum((x - 1) * np.float32(1) + np.float32(1), (1,)))


@pytest.mark.parametrize("dtype", edge.DTYPES)
def test_order_free_reductions_equal_numpy(dtype):
    x = np.random.default_rng(35).choice(edge.values(dtype), (5, 6, 37))
    g = gc.asarray(x)
    names = ["min", "max", "any", "all", "argmin", "argmax"]
    names += ["sum", "prod"] if np.dtype(dtype).kind != "f" else []
    cases = [(name, axis) for name in names for axis in ((None, 1) if name.startswith("arg") else (None, 0, -1, (0, 2)))]
    results = [getattr(gc, name)(g, axis=axis, keepdims=name == "min") for name, axis in cases]
    gc.eval(*results)
    for (name, axis), got in zip(cases, results):
        with np.errstate(all="ignore"):
            want = np.asarray(getattr(np, name)(x, axis=axis, keepdims=name == "min"))
        if name in ("min", "max") and np.dtype(dtype).kind == "f":
            np.testing.assert_array_equal(np.asarray(got), want)  # the sign of a zero is tested below
            assert got.dtype == want.dtype
        else:
            exact.assert_same(got, want, f"{name} axis={axis}")


@pytest.mark.parametrize("dtype", edge.DTYPES)
def test_the_first_of_equal_places(dtype):
    """Few values, so that most lanes hold the extreme; lanes that are absent hold its identity, as elements may."""
    rng = np.random.default_rng(40)
    values = edge.values(dtype)
    for n in (33, 64, 255, 256, 300, 511, 512, 8191, 8192, 8200, 17000):
        for few in (values[:1], values[-1:], rng.choice(values, 2), values):
            x = rng.choice(few, (3, n))
            x[1, rng.integers(n) :] = x[1, 0]
            g = gc.asarray(x)
            for name in ("argmin", "argmax"):
                exact.assert_same(getattr(gc, name)(g, axis=1), getattr(np, name)(x, axis=1), f"{name} of rows of {n}")
                exact.assert_same(getattr(gc, name)(g), getattr(np, name)(x), f"{name} of 3 x {n}")


@pytest.mark.parametrize("n", [1, 31, 63, 64, 65, 200, 256, 257, 511, 512, 513, 1000, 1025, 8192, 8193])
def test_places_in_rows(n):
    """Values are found before their places: ties, NaN, zeros of both signs, and rows of the worst element there is."""
    rng = np.random.default_rng(n)
    for dtype in ("float32", "float64", "int8", "uint16", "int64"):
        x = rng.integers(0, 20, (6, n)).astype(dtype)
        if np.dtype(dtype).kind == "f":
            x[0, n // 2 :] = np.nan
            x[1] = -np.inf
            x[2] = np.where(rng.integers(0, 2, n) == 1, -0.0, 0.0)
            x[3] = np.inf
            x[5, -1] = np.nan
        else:
            x[0], x[1] = np.iinfo(dtype).min, np.iinfo(dtype).max
        g = gc.asarray(x)
        for name in ("argmax", "argmin"):
            want = getattr(np, name)
            np.testing.assert_array_equal(np.asarray(getattr(gc, name)(g, axis=1)), want(x, axis=1), f"{name} {dtype}")
            np.testing.assert_array_equal(np.asarray(getattr(gc, name)(g * g, axis=1)), want(x * x, axis=1))
            np.testing.assert_array_equal(np.asarray(getattr(gc, name)(g[:, ::-1], axis=1)), want(x[:, ::-1], axis=1))


@pytest.mark.parametrize("dtype", ["bool", "int16", "int64", "float32", "float64"])
@pytest.mark.parametrize("shape", [(3, 2500), (2500, 3), (300, 257), (40, 1025), (1, 5000)])
def test_order_free_reductions_of_rows_that_are_neighbours(shape, dtype):
    """Each row is a column of memory: the first place, NaN and zeros of both signs are those of rows all the same."""
    rng = np.random.default_rng(shape[0])
    x = rng.integers(0, 2 if dtype == "bool" else 40, shape).astype(dtype)
    isfloat = np.dtype(dtype).kind == "f"
    if isfloat:
        x[rng.integers(0, shape[0]), 0] = np.nan
        x[:, -1] = np.where(rng.integers(0, 2, shape[0]) == 1, -0.0, 0.0)
        x[-1, shape[1] // 2 :] = -np.inf
    g, t = gc.asarray(x).T, x.T
    names = ["min", "max", "any", "all", "argmin", "argmax"] + ([] if isfloat else ["sum", "prod"])
    cases = [(g, t), (g[::-1, ::2], t[::-1, ::2])] + ([(g * 3 + g[:, :1], t * 3 + t[:, :1])] if dtype != "bool" else [])
    for name in names:
        for case, values in cases:
            got = np.asarray(getattr(gc, name)(case, axis=1))
            np.testing.assert_array_equal(got, getattr(np, name)(values, axis=1), name)
            exact.assert_same(got, np.asarray(getattr(gc, name)(gc.asarray(np.ascontiguousarray(values)), axis=1)), name)
    straight = gc.asarray(np.ascontiguousarray(t))
    both = gc.max(g, axis=1), gc.sum(g, axis=1)
    gc.eval(*both)
    for got, name in zip(both, ("max", "sum")):
        exact.assert_same(got, np.asarray(getattr(gc, name)(straight, axis=1)), f"{name} beside another")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("shape", [(1, 9), (3, 70), (100, 33), (129, 520), (256, 64), (257, 65), (1000, 1030), (8192, 9), (8193, 33), (20_000, 17)])
def test_sums_of_rows_that_are_neighbours(shape, dtype):
    """They are read as they lie, by the tree of rows: lanes that are absent, several blocks, computed values."""
    x = floats(np.random.default_rng(shape[0]), shape, dtype)
    g, t = gc.asarray(x).T, np.ascontiguousarray(x.T)
    same(gc.sum(g, axis=1), trees.sum(t, (1,)))
    straight = gc.asarray(t)
    for f in (lambda a: gc.mean(a * a + 1, axis=1), lambda a: gc.prod(1 + a * 1e-3, axis=1), lambda a: gc.sum(a - a[:, :1], axis=1) * 2,
              lambda a: gc.sum(a[::-1, 1:], axis=1), lambda a: gc.max(a, axis=1) - gc.sum(a, axis=1), lambda a: gc.sum(gc.exp(-a * a), axis=1)):
        exact.assert_same(f(g), np.asarray(f(straight)))


@pytest.mark.parametrize("n", [8192, 8193, 40_000, 300_001])
def test_places_in_everything(n):
    """Of the blocks that a thread takes it searches the first best one: that is any of them, none is better than the
    worst value there is, or all are equal; NaN comes late, and zeros of both signs are equal."""
    rng = np.random.default_rng(n)
    for dtype in ("float32", "float64", "int8", "int64", "bool"):
        least, most = (-np.inf, np.inf) if dtype.startswith("float") else (0, 1) if dtype == "bool" else (np.iinfo(dtype).min, np.iinfo(dtype).max)
        for other in (least, most):
            x = np.full(n, other, dtype)
            same_places(x)
            for place in {0, 511, 512, 8191, n // 2, n - 1}:
                one = x.copy()
                one[place] = most if other == least else least
                same_places(one)
        values = rng.integers(0, 2, n) if dtype == "bool" else rng.integers(-9, 9, n)
        same_places(values.astype(dtype))
        same_places(np.sort(values).astype(dtype))
        same_places(np.sort(values)[::-1].astype(dtype))
        if dtype.startswith("float"):
            numbers = rng.normal(size=n).astype(dtype)
            same_places(np.where(rng.integers(0, 2, n) == 1, -0.0, 0.0).astype(dtype))
            for place in (0, n // 3, n - 1):
                numbers[place:] = np.where(rng.integers(0, 2, n - place) == 1, np.nan, numbers[place:])
                same_places(numbers)


def same_places(x):
    g = gc.asarray(x)
    for name in ("argmax", "argmin"):
        exact.assert_same(getattr(gc, name)(g), getattr(np, name)(x), f"{name} of {len(x)} {x.dtype}")


@pytest.mark.parametrize("wide", ["float32", "float64", "int32", "int64", "uint64"])
@pytest.mark.parametrize("narrow", ["bool", "int8", "uint8", "int16", "uint16"])
def test_sums_of_small_integers(narrow, wide):
    """They add up narrow within a block of the tree: its largest and smallest sums, and every order."""
    least, most = (0, 1) if narrow == "bool" else (np.iinfo(narrow).min, np.iinfo(narrow).max)
    rng = np.random.default_rng(60)
    for n in (1, 31, 255, 256, 257, 8191, 8192, 8193, 3 * 8192 + 5):
        for x in (rng.integers(least, most + 1, (3, n)), np.full((3, n), most), np.full((3, n), least)):
            x = x.astype(narrow)
            g, y = gc.asarray(x), x.astype(wide)
            tall = np.ascontiguousarray(x.T)
            results = [gc.sum(g, axis=1, dtype=wide), gc.sum(g, dtype=wide), gc.sum(gc.asarray(tall), axis=0, dtype=wide)]
            gc.eval(*results)
            if np.dtype(wide).kind == "f":
                wants = [trees.sum(y, (1,)), trees.sum(y, (0, 1)), trees.sum(np.ascontiguousarray(y.T), (0,))]
            else:
                wants = [y.sum(axis=1, dtype=wide), y.sum(dtype=wide), y.sum(axis=1, dtype=wide)]
            for got, want in zip(results, wants):
                same(got, want, f"{n} of {narrow} as {wide}")
    x = rng.normal(size=(50, 700))
    g = gc.asarray(x)
    np.testing.assert_array_equal(np.asarray(gc.count_nonzero(g > 0, axis=1)), np.count_nonzero(x > 0, axis=1))
    assert float(gc.mean(g * g < 1)) == np.mean(x * x < 1)


@pytest.mark.parametrize("axis", [None, 0, 1, -1, (0, 2), (0, 1, 2)], ids=str)
def test_keepdims(axis):
    x = np.random.default_rng(35).integers(0, 100, (2, 3, 4))
    g = gc.asarray(x)
    for name in ("sum", "max", "any", "mean"):
        exact.assert_same(getattr(gc, name)(g, axis=axis, keepdims=True), getattr(np, name)(x, axis=axis, keepdims=True), name)
    if not isinstance(axis, tuple):
        exact.assert_same(gc.argmax(g, axis=axis, keepdims=True), np.argmax(x, axis=axis, keepdims=True))


@pytest.mark.graphc_only
@pytest.mark.parametrize("dtype", edge.FLOATS)
def test_minimum_of_zeros_is_the_negative_one(dtype):
    x = np.array([[0.0, -0.0], [-0.0, 0.0]] * 200, dtype)
    g = gc.asarray(x)
    assert np.signbit(np.asarray(gc.min(g, axis=1))).all() and np.signbit(np.asarray(gc.min(g, axis=0))).all()
    assert not np.signbit(np.asarray(gc.max(g, axis=1))).any() and not np.signbit(np.asarray(gc.max(g, axis=0))).any()


def test_sums_start_from_positive_zero():
    x = np.full((3, 300), -0.0)
    for axis in (None, 0, 1):
        exact.assert_same(gc.sum(gc.asarray(x), axis=axis), np.sum(x, axis=axis))
    exact.assert_same(gc.prod(gc.asarray(x), axis=1), np.prod(x, axis=1))


def test_nan_and_infinity_pass_through():
    x = np.ones((6, 700), "float32")
    x[1, 3] = np.nan
    x[2, 699] = np.inf
    x[3, 0], x[3, 1] = np.inf, -np.inf
    g = gc.asarray(x)
    with np.errstate(all="ignore"):
        for name in ("sum", "mean", "min", "max", "prod"):
            exact.assert_same(getattr(gc, name)(g, axis=1), getattr(np, name)(x, axis=1), name)


@pytest.mark.parametrize("name", ["sum", "prod", "mean"])
@pytest.mark.parametrize("dtype", edge.DTYPES)
def test_result_dtypes(name, dtype):
    x = np.ones((2, 3), dtype)
    got = getattr(gc, name)(gc.asarray(x))
    assert got.dtype == getattr(np, name)(x).dtype
    for wanted in ("float32", "float64", "int64"):
        if name == "mean" and wanted == "int64":
            continue
        got = getattr(gc, name)(gc.asarray(x), axis=0, dtype=wanted)
        exact.assert_same(got, getattr(np, name)(x, axis=0, dtype=wanted), f"{name} {dtype} -> {wanted}")


def test_zero_size():
    g = gc.asarray(np.zeros((0, 3)))
    exact.assert_same(gc.sum(g, axis=0), np.zeros(3))
    exact.assert_same(gc.prod(g, axis=0), np.ones(3))
    exact.assert_same(gc.sum(g, axis=1), np.zeros(0))
    exact.assert_same(gc.max(g, axis=1), np.zeros(0))
    exact.assert_same(gc.any(g), np.bool_(False))
    exact.assert_same(gc.all(g), np.bool_(True))
    for name in ("min", "max", "argmin", "argmax"):
        with pytest.raises(ValueError):
            getattr(gc, name)(g)
        with pytest.raises(ValueError):
            getattr(gc, name)(g, axis=0)


def test_empty_axes_reduce_nothing():
    x = np.arange(6.0).reshape(2, 3)
    exact.assert_same(gc.sum(gc.asarray(x), axis=()), x)
    exact.assert_same(gc.any(gc.asarray(x), axis=()), x != 0)


def test_zero_dimensional_operands():
    g = gc.asarray(np.float32(2.5))
    for name in ("sum", "prod", "min", "max", "mean"):
        exact.assert_same(getattr(gc, name)(g), np.float32(2.5), name)
    exact.assert_same(gc.argmax(g), np.int64(0))


def test_variance_and_deviation():
    x = np.random.default_rng(36).normal(size=(7, 300))
    g = gc.asarray(x)
    for axis in (None, 0, 1, (0, 1)):
        np.testing.assert_allclose(np.asarray(gc.var(g, axis=axis)), np.var(x, axis=axis), rtol=1e-13)
        np.testing.assert_allclose(np.asarray(gc.std(g, axis=axis, keepdims=True)), np.std(x, axis=axis, keepdims=True), rtol=1e-13)
    np.testing.assert_allclose(np.asarray(gc.var(g, ddof=1)), np.var(x, ddof=1), rtol=1e-13)


def test_methods_agree_with_functions():
    x = np.random.default_rng(37).normal(size=(3, 4))
    g = gc.asarray(x)
    for name in ("sum", "prod", "min", "max", "mean", "any", "all", "argmin", "argmax", "var", "std"):
        exact.assert_same(getattr(g, name)(axis=1), np.asarray(getattr(gc, name)(g, axis=1)), name)


def test_row_local_programs():
    """Softmax and centring: reductions with their producers and epilogues."""
    x = floats(np.random.default_rng(38), (20, 300), "float32")
    g = gc.asarray(x)
    centred = x - trees.mean(x, (1,))[:, None]
    same(g - g.mean(axis=1, keepdims=True), centred)
    e = np.exp((x - x.max(1, keepdims=True)).astype(np.float64))
    soft = gc.exp(g - g.max(axis=1, keepdims=True))
    soft = soft / soft.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(np.asarray(soft), e / e.sum(1, keepdims=True), rtol=3e-6, atol=1e-37)


MATMULS = [(1, 1, 1), (2, 3, 4), (5, 0, 3), (0, 4, 2), (17, 31, 9), (3, 2047, 2), (3, 2048, 2), (3, 2049, 2), (2, 5 * 2048 + 3, 3), (70, 65, 66)]


@pytest.mark.parametrize("dtype", edge.FLOATS)
@pytest.mark.parametrize("sizes", MATMULS, ids=str)
def test_matmul_chains(sizes, dtype):
    m, k, n = sizes
    rng = np.random.default_rng(39)
    x, y = floats(rng, (m, k), dtype), floats(rng, (k, n), dtype)
    got = gc.matmul(gc.asarray(x), gc.asarray(y))
    same(got, trees.matmul(x, y), f"matmul {sizes}")


@pytest.mark.parametrize("dtype", edge.DTYPES)
def test_matmul_of_every_dtype_and_rank(dtype):
    rng = np.random.default_rng(40)
    shapes = [((3,), (3,)), ((2, 3), (3,)), ((3,), (3, 4)), ((2, 3), (3, 4)), ((5, 2, 3), (3, 4)), ((5, 1, 2, 3), (6, 3, 4))]
    pairs = [(rng.integers(0, 4, a).astype(dtype), rng.integers(0, 4, b).astype(dtype)) for a, b in shapes]
    results = [gc.matmul(gc.asarray(a), gc.asarray(b)) for a, b in pairs]
    operators = [gc.asarray(a) @ gc.asarray(b) for a, b in pairs]
    gc.eval(*results, *operators)
    for (a, b), got, other in zip(pairs, results, operators):
        exact.assert_same(got, np.asarray(a @ b), f"{a.shape} @ {b.shape}")
        exact.assert_same(other, np.asarray(a @ b))


def test_symmetric_product_is_symmetric():
    x = floats(np.random.default_rng(41), (37, 50), "float32")
    g = gc.asarray(x)
    got = np.asarray(g @ g.T)
    exact.assert_same(got, got.T.copy())


def test_matmul_with_prologue_and_epilogue():
    rng = np.random.default_rng(42)
    x, y = floats(rng, (9, 40), "float64"), floats(rng, (40, 7), "float64")
    g = (gc.asarray(x) * 2) @ gc.asarray(y)[::-1] + 1
    same(g, trees.matmul(x * 2, y[::-1].copy()) + 1)


@pytest.mark.parametrize("columns", [5, 33, 4096, 40_001])
def test_rows_whose_points_wait_for_their_sums(columns):
    """Beside the result where rows are short, in it where they are longer than the memory kept for that; quotients are the
    IEEE ones for all dividends, also where one divisor serves a row."""
    rng = np.random.default_rng(columns)
    a = rng.standard_normal((7, columns)).astype(np.float32) * 30
    a[1] = -np.inf
    a[2, ::2] = -np.inf
    a[3, 0] = np.nan
    a[4] *= 1e-38
    x = gc.asarray(a)
    with np.errstate(all="ignore"), gc.errstate(all="ignore"):
        e = gc.exp(x - gc.max(x, axis=1, keepdims=True))
        s = gc.sum(e, axis=1, keepdims=True)
        fused = np.asarray(e / s)
        want = np.asarray(e) / np.asarray(s)
        np.testing.assert_array_equal(fused, want)
        for divisor in (3.0, -7e-20, 1e38, 1e-45, 0.0, np.inf, np.nan):
            d = np.full(1, divisor, np.float32)
            np.testing.assert_array_equal(np.asarray(x / gc.asarray(d)), a / d)
            np.testing.assert_array_equal(np.asarray(x * 1e-30 / gc.asarray(d)), a * np.float32(1e-30) / d)


@pytest.mark.parametrize("dtype", ["float32", "float16", "uint8", "int64", "bool", "complex64"])
@pytest.mark.parametrize("shape", [(7, 3), (64, 256), (9, 2049), (20, 31, 65)])
def test_rows_that_do_not_lie_one_behind_the_other(shape, dtype):
    """The same bits as of the values side by side: the tree knows their order only."""
    rng = np.random.default_rng(len(shape))
    a = (rng.standard_normal(shape) * 9).astype(dtype) if dtype != "bool" else rng.random(shape) < 0.9
    row, column = a[(0,) * (a.ndim - 1)].copy(), a[..., :1].copy()
    x, r, c = gc.asarray(a), gc.asarray(row), gc.asarray(column)
    pairs = [(x * r, a * row), (x * c, a * column), (x[1:, 1:], a[1:, 1:]), (x[:-1, :-1] * x[1:, 1:], a[:-1, :-1] * a[1:, 1:])]
    for view, values in pairs:
        dense = gc.asarray(np.ascontiguousarray(values))
        for axes in (None, tuple(range(1, a.ndim))):
            for reduce in (gc.sum, gc.prod, gc.max, gc.any, gc.all) if dtype != "complex64" else (gc.sum, gc.prod, gc.any):
                with gc.errstate(all="ignore"):
                    got, want = reduce(view, axis=axes), reduce(dense, axis=axes)
                    np.testing.assert_array_equal(np.asarray(got), np.asarray(want))


@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "uint8", "int16", "int64", "bool", "complex64"])
def test_columns_that_lie_along_the_reduced_axis(dtype):
    """The bits of the row-major array's columns: 1 to 1024 rows of a block and more, 1 to 3 vectors of columns."""
    rng = np.random.default_rng(38)
    for rows, columns in ((1, 5), (3, 70), (16, 16), (31, 8), (33, 17), (1024, 33), (1029, 3), (2111, 20)):
        a = (rng.standard_normal((rows, columns)) * 9).astype(dtype) if dtype != "bool" else rng.random((rows, columns)) < 0.1
        turned, dense = gc.asarray(np.ascontiguousarray(a.T)).T, gc.asarray(a)
        functions = [gc.sum, gc.prod, gc.any, gc.all]
        if dtype != "complex64":
            functions += [gc.mean, gc.max, gc.argmin, lambda x, axis: gc.max(x * 2 + 1, axis=axis)]
        if dtype in ("float32", "float64"):
            functions += [lambda x, axis: gc.sum(gc.exp(x / 4) * gc.sin(x), axis=axis), gc.var, gc.cumsum]
        with gc.errstate(all="ignore"):
            for function in functions:
                same(function(turned, axis=0), np.asarray(function(dense, axis=0)), f"{rows} x {columns}")
        if dtype in ("float32", "float64"):
            same(gc.sum(turned, axis=0), trees.sum(a, (0,)))
        elif dtype in ("uint8", "int16", "int64", "bool"):
            np.testing.assert_array_equal(np.asarray(gc.sum(turned, axis=0)), a.sum(axis=0))
            np.testing.assert_array_equal(np.asarray(gc.argmin(turned, axis=0)), a.argmin(axis=0))


def test_columns_of_several_operands_that_lie_differently():
    """Three parallel loops, two turned operands, one that the rows share and one of other columns."""
    rng = np.random.default_rng(39)
    a, b = (rng.standard_normal((65, 4, 37)).astype("float32") for _ in range(2))
    w = rng.standard_normal((65, 1, 1)).astype("float32")
    by_rows, by_columns = gc.asarray(a), gc.asarray(np.asfortranarray(a))
    factors, weights = gc.asarray(np.asfortranarray(b)), gc.asarray(w)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        same(gc.sum(by_columns, axis=0), trees.sum(a, (0,)))
        same(gc.sum(by_columns * factors, axis=0), trees.sum(a * b, (0,)))
        same(gc.sum(by_columns * factors * weights, axis=0), trees.sum(a * b * w, (0,)))
        same(gc.sum(by_rows * factors, axis=0), trees.sum(a * b, (0,)))
        same(gc.max(by_columns[::-1] - factors[:, ::-1], axis=0), (a[::-1] - b[:, ::-1]).max(axis=0))
    overflows = np.full((37, 100), 3e38, "float32")
    with pytest.warns(RuntimeWarning, match="overflow"):
        gc.eval(gc.sum(gc.asarray(overflows).T, axis=0))


def test_watched_rows_that_do_not_merge():
    x = gc.asarray(np.full((50, 300), 3e38, np.float32))
    with pytest.warns(RuntimeWarning, match="overflow"):
        gc.eval(gc.sum(x[:, 1:] * gc.asarray(np.full(299, 2, np.float32))))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        gc.eval(gc.max(x[:, 1:] * gc.asarray(np.full(299, 1, np.float32))))


def test_more_results_than_one_kernel_holds(device):
    """Partial results of a kernel meet in local memory."""
    x = np.arange(5000.0)
    with gc.device(device):
        ours = gc.asarray(x)
        found = [f(ours - k) for k in range(12) for f in (gc.sum, gc.max, gc.argmax, gc.min)]
        gc.eval(*found)
    want = [f(x - k) for k in range(12) for f in (np.sum, np.max, np.argmax, np.min)]
    assert [float(f) for f in found] == [float(w) for w in want]


@pytest.mark.parametrize("kind", ["sum", "prod", "any", "all", "mean"])
@pytest.mark.parametrize("dtype", ["uint8", "int64", "float32", "float64", "complex64", "bool"])
def test_reductions_of_what_has_no_columns(kind, dtype):
    """Of a value that is computed from others along the axis without elements."""
    x = np.array([[3], [0], [5]]).astype(dtype)

    def program(xp, x):
        none = xp.asarray(x)[:, 1:] * xp.asarray(x)[:, :-1]
        grown = none[:1] + xp.asarray(np.array([[1], [2]], dtype))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            found = [getattr(xp, kind)(grown, axis=axis) for axis in (None, 0, 1, (0, 1))]
            return [(f.dtype, f.shape, repr(np.asarray(f).tolist())) for f in found]

    assert program(gc, x) == program(np, x)


@pytest.mark.filterwarnings("ignore:overflow encountered")
@pytest.mark.parametrize("dtype", ["bool", "uint8", "float16", "float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("sizes", [(1, 70), (70, 1), (3, 5), (61, 41), (16, 64), (300, 7), (7, 3000), (5, 6, 37)], ids=str)
def test_what_is_reduced_and_stored_over_rows_of_any_length(sizes, dtype):
    """Vectors go over the ends of rows where operands do not lie in one piece; results are those of the array itself."""
    rng = np.random.default_rng(7)
    parts = [gc.asarray(rng.integers(-3, 9, n).astype(dtype) if dtype != "uint8" else rng.integers(0, 9, n).astype(dtype)) for n in sizes]

    def spread():
        z = parts[0].reshape(-1, *[1] * (len(sizes) - 1))
        for i, part in enumerate(parts[1:], 1):
            z = z * part.reshape(*[-1 if j == i else 1 for j in range(len(sizes))])
        return z

    for both in (lambda z: (z, gc.sum(z), gc.any(z == 0)), lambda z: (gc.sum(z), z.T, z + z), lambda z: (gc.all(z != 6), z[::-1])):
        whole = spread().copy()
        gc.eval(whole)
        for got, want in zip(gc.jit(lambda: both(spread()))(), both(whole)):
            got, want = np.asarray(got), np.asarray(want)
            assert got.dtype == want.dtype and got.tobytes() == want.tobytes()



LYING = {
    "turned": lambda xp, a: xp.asarray(np.ascontiguousarray(a.T)).T, "every second": lambda xp, a: xp.asarray(np.repeat(a, 2, -1))[..., ::2],
    "backwards": lambda xp, a: xp.asarray(np.ascontiguousarray(a[::-1, ..., ::-1]))[::-1, ..., ::-1],
    "swapped": lambda xp, a: xp.asarray(np.ascontiguousarray(a.swapaxes(0, -1))).swapaxes(0, -1), "part": lambda xp, a: xp.asarray(np.pad(a, 2))[tuple([slice(2, -2)] * a.ndim)],
}  # fmt: skip


@pytest.mark.parametrize("lies", LYING)
@pytest.mark.parametrize("shape", ((3000, 3), (3, 3000), (60, 70), (40, 5, 30)))
@pytest.mark.parametrize("dtype", ("?", "u1", "i4", "i8", "f2", "f4", "f8", "c16"))
def test_lines_are_combined_alike_wherever_they_lie(dtype, shape, lies):
    rng = np.random.default_rng(8)
    values = rng.random(shape) * (2 if dtype == "?" else 50) + (1j * rng.random(shape) if dtype == "c16" else 0)
    values = values.astype(dtype)
    dense, apart = gc.asarray(values), LYING[lies](gc, values)
    gc.eval(apart)
    axes = (None, *range(-1, len(shape)), (0, 1))
    for axis in axes:
        for name in ("sum", "min", "max", "any", "all", "prod", "mean", "argmin", "argmax", "count_nonzero"):
            if name[:3] == "arg" and isinstance(axis, tuple):
                continue
            made = [getattr(gc, name)(x, axis=axis) for x in (apart, dense)]
            ours, same = map(np.asarray, made)
            assert ours.tobytes() == same.tobytes() and ours.dtype == same.dtype and ours.shape == same.shape, (name, axis)
            assert made[0].strides == made[1].strides
            if name in ("min", "max", "any", "all", "count_nonzero", "argmin", "argmax") or dtype[0] in "iu?" and name == "sum":
                np.testing.assert_array_equal(ours, getattr(np, name)(values, axis=axis))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_pending_lines_that_are_turned():
    a = np.arange(12000.0).reshape(4000, 3)
    x = gc.asarray(np.ascontiguousarray(a.T)).T
    assert gc.array_equal(x, x + 0) and not gc.array_equal(x, x + 1)
    np.testing.assert_array_equal((x * 2).max(axis=0), (a * 2).max(axis=0))
    np.testing.assert_array_equal((x * 2).argmin(axis=1), (a * 2).argmin(axis=1))


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("name", ("mean", "var", "std"))
@pytest.mark.parametrize("dtype", (int, "i4", "u1"))
def test_integer_moments_are_cut(name, dtype):
    a = np.random.default_rng(3).integers(0, 9, (5, 7))
    for options in ({}, {"axis": 0}, {"axis": 1, "keepdims": True}) + (() if name == "mean" else ({"ddof": 1}, {"axis": 1, "ddof": 2})):
        results = []
        for xp in (gc, np):
            try:
                results.append(np.asarray(getattr(xp, name)(xp.asarray(a), dtype=dtype, **options)))
            except TypeError as error:
                results.append(str(error))
        if isinstance(results[1], str):
            assert results[0].startswith(results[1])
        else:
            assert results[0].dtype == results[1].dtype
            np.testing.assert_array_equal(*results)


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int16", "int64", "float16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("name", ["sum", "prod", "min", "max", "any", "all"])
def test_masks_and_first_values_are_taken_without_a_frame(name, dtype):
    rng = np.random.default_rng(3)
    host, mask = (rng.random((5, 4)) * 3).astype(dtype), rng.random((5, 4)) < 0.5
    x, m = gc.asarray(host), gc.asarray(mask)
    takes_first = name not in ("any", "all")
    cases = [{}, {"axis": 0}, {"axis": -1, "keepdims": True}, {"axis": (0, 1)}, {"axis": (1,), "keepdims": True}]
    for given in cases:
        for more in ({"where": m}, {"initial": 2}, {"where": m, "initial": 2}, {"where": m[2], "initial": 2}):
            if ("initial" in more) != takes_first and not (name in ("sum", "prod") and "initial" not in more):
                continue
            theirs = {k: np.asarray(v) if k == "where" else v for k, v in more.items()}
            expected = getattr(np, name)(host, **given, **theirs)
            if not ORACLE:
                assert (getattr(gc, name).quick(x, **given, **more) is NotImplemented) == (dtype == "bool" and "initial" in more)
            for made in (getattr(gc, name)(x, **given, **more), getattr(x, name)(**given, **more)):
                assert made.dtype == expected.dtype and made.shape == expected.shape
                np.testing.assert_allclose(np.asarray(made), expected, rtol=5e-3 if dtype == "float16" else 1e-6)


def test_what_masks_and_first_values_refuse_is_told_as_ever():
    x = gc.arange(6.0).reshape(2, 3)
    for given in ({"axis": 2, "initial": 1}, {"axis": (0, 0), "initial": 1}, {"axis": True, "initial": 1}, {"where": gc.ones(4, bool)}):
        for wrong in (gc.sum, gc.ndarray.sum):
            with pytest.raises((ValueError, TypeError)):
                wrong(x, **given)
    with pytest.raises(ValueError, match="does not have an identity"):
        gc.max(x, where=x > 2)
    assert np.signbit(float(gc.sum(gc.asarray([-0.0]), initial=-0.0))) and gc.max(x[:0], initial=4) == 4


@pytest.mark.parametrize("name", ["power", "divide", "float_power", "left_shift", "right_shift", "floor_divide", "copysign"])
@pytest.mark.parametrize("dtype", ["i8", "u1", "f4", "f8", "c16"])
def test_masked_folds_in_order(name, dtype):
    """What follows a number and leaves it as it is takes the place of what a mask leaves out: one choice for all rows."""
    rng = np.random.default_rng(5)
    x = rng.integers(1, 4, (12, 5)).astype(dtype)
    if dtype[0] in "fc" and name != "floor_divide":  # of which infinities are quotients here
        x[rng.random(x.shape) < 0.3] = -0.0
        x[2, 3] = np.inf
    mask = rng.random(x.shape) < 0.4

    def fold(xp, x, mask):
        return getattr(xp, name).reduce(x, axis=0, initial=3, where=mask)

    try:
        with np.errstate(all="ignore"):
            want = fold(np, x, mask)
    except TypeError:
        with pytest.raises(TypeError):
            fold(gc, gc.asarray(x), gc.asarray(mask))
        return
    with gc.errstate(all="ignore"):
        got = np.asarray(fold(gc, gc.asarray(x), gc.asarray(mask)))
    assert got.dtype == want.dtype
    np.testing.assert_allclose(got, want, rtol=1e-5)
    if name in ("power", "divide") and dtype == "f8":
        text = gc.jit(lambda x, m: fold(gc, x, m)).lower(gc.asarray(x), gc.asarray(mask)).as_text("graph")
        assert text.count("graph.select") <= 2


@pytest.mark.parametrize("name", ["power", "divide", "float_power", "left_shift", "right_shift"])
def test_what_a_mask_leaves_out_changes_no_bit(name):
    """Of folds in order, whose masked rows are followed by what leaves a number as it is."""
    floats = [0.1, -0.1, -0.0, np.inf, -np.inf, 5e-324, -1e-310, 1.7e308, np.nan, -3.0]
    for start in [-7, 0, 2**62 + 1] if "shift" in name else floats:
        dtype = "i8" if "shift" in name else "f8"
        x, mask = np.full((5, 3), 9).astype(dtype), np.zeros((5, 3), bool)
        with np.errstate(all="raise"), gc.errstate(all="raise"):
            got = np.asarray(getattr(gc, name).reduce(gc.asarray(x), axis=0, initial=start, where=gc.asarray(mask), dtype=dtype))
        np.testing.assert_array_equal(got, np.full(3, start, dtype))
        assert np.isnan(start) or got.tobytes() == np.full(3, start, dtype).tobytes()


@pytest.mark.parametrize("rows, columns", [(4001, 1), (4001, 2), (1003, 9), (77, 32), (77, 33), (5, 700)])
def test_much_is_computed_before_and_after_rows_are_reduced(rows, columns):
    def program(xp, x):
        long = sum((x * (k + 1) + k) * (x - 2 * k) for k in range(14))
        most, total = xp.max(long, axis=1), xp.sum(long, axis=1)
        after = sum((most - k) * (total + k) for k in range(14))
        return xp.argmax(long, axis=1), after, long - most[:, None] * 2

    x = np.random.default_rng(rows).integers(-9, 10, (rows, columns)).astype("f8")
    for found, want in zip(gc.jit(lambda x: program(gc, x))(gc.asarray(x)), program(np, x), strict=True):
        assert np.array_equal(found, want)


@pytest.mark.parametrize("dtype", ["f4", "f8", "i2", "?", "c16"])
def test_sums_over_all_axes_of_rows_that_are_named(dtype, device):
    rng = np.random.default_rng(3)
    for rows, columns in ((1, 1), (7, 3), (40, 17), (300, 65), (12, 1003)):
        x = rng.integers(0, 2 if dtype == "?" else 9, (rows, columns)).astype(dtype)
        places = rng.integers(-rows, rows, 2 * rows + 1)
        for program in (lambda xp, x, p: xp.sum(x[p]), lambda xp, x, p: xp.sum(x[p] * 2 + x[p], axis=(0, 1)), lambda xp, x, p: xp.sum(xp.roll(x, 1, 0)[p] + xp.roll(x[p], 2, 1))):
            with gc.device(device):
                found = gc.jit(lambda x, p: program(gc, x, p))(gc.asarray(x, device=device), gc.asarray(places, device=device))
            assert np.array_equal(found, program(np, x, places))
