"""Creation, shapes, joins, selection and products against NumPy, call by call."""

import graphc as gc
import numpy as np
import pytest
from support import edge, exact

X = np.arange(24.0).reshape(2, 3, 4)
M = np.arange(12.0).reshape(3, 4) - 5


def both(call):
    """`call(xp)` on NumPy and on graphc: equal bits, shapes and dtypes."""
    want, got = call(np), call(gc)
    if isinstance(want, (tuple, list)):
        assert len(got) == len(want)
        for g, w in zip(got, want):
            exact.assert_same(g, w)
    else:
        exact.assert_same(got, want)


CREATION = {
    "zeros": lambda xp: xp.zeros((2, 3)),
    "zeros int": lambda xp: xp.zeros(4, dtype="int16"),
    "zeros 0-d": lambda xp: xp.zeros(()),
    "ones": lambda xp: xp.ones((2, 0, 3), dtype=np.float32),
    "full": lambda xp: xp.full((2, 2), 7),
    "full float": lambda xp: xp.full(3, 2.5),
    "full bool": lambda xp: xp.full((1,), True),
    "full cast": lambda xp: xp.full(3, 2, dtype="float32"),
    "full nan": lambda xp: xp.full(3, xp.nan),
    "full array": lambda xp: xp.full((2, 3), xp.arange(3)),
    "arange": lambda xp: xp.arange(7),
    "arange two": lambda xp: xp.arange(3, 9),
    "arange step": lambda xp: xp.arange(10, 0, -3),
    "arange float": lambda xp: xp.arange(0.0, 1.0, 0.1),
    "arange float step": lambda xp: xp.arange(1, 2, 0.25),
    "arange empty": lambda xp: xp.arange(5, 2),
    "arange dtype": lambda xp: xp.arange(5, dtype="float32"),
    "arange uint8": lambda xp: xp.arange(3, 250, 13, dtype="uint8"),
    "linspace": lambda xp: xp.linspace(0, 1, 5),
    "linspace 50": lambda xp: xp.linspace(-3, 3.7),
    "linspace open": lambda xp: xp.linspace(2, 9, 13, endpoint=False),
    "linspace one": lambda xp: xp.linspace(2, 9, 1),
    "linspace none": lambda xp: xp.linspace(2, 9, 0),
    "linspace flat": lambda xp: xp.linspace(2, 2, 4),
    "linspace f4": lambda xp: xp.linspace(0, 1, 7, dtype="float32"),
    "linspace int": lambda xp: xp.linspace(0, 10, 4, dtype="int64"),
    "eye": lambda xp: xp.eye(3),
    "eye k": lambda xp: xp.eye(3, 5, k=-1, dtype="int32"),
    "zeros_like": lambda xp: xp.zeros_like(xp.asarray(M.astype("f4"))),
    "ones_like": lambda xp: xp.ones_like(xp.asarray(M), dtype="int8"),
    "full_like": lambda xp: xp.full_like(xp.asarray(M), 9),
    "meshgrid": lambda xp: xp.meshgrid(xp.arange(3), xp.arange(4)),
    "meshgrid ij": lambda xp: xp.meshgrid(xp.arange(3), xp.arange(4), indexing="ij"),
    "tril": lambda xp: xp.tril(xp.asarray(M)),
    "triu": lambda xp: xp.triu(xp.asarray(X), k=1),
}


@pytest.mark.parametrize("name", sorted(CREATION))
def test_creation(name):
    both(CREATION[name])


SHAPES = {
    "reshape": lambda xp, x: xp.reshape(x, (4, 6)),
    "reshape -1": lambda xp, x: x.reshape(2, -1),
    "reshape method": lambda xp, x: x.reshape((6, 4)),
    "ravel": lambda xp, x: xp.ravel(x),
    "flatten": lambda xp, x: x.flatten(),
    "transpose": lambda xp, x: xp.transpose(x),
    "transpose axes": lambda xp, x: x.transpose(1, 2, 0),
    "T": lambda xp, x: x.T,
    "permute_dims": lambda xp, x: xp.permute_dims(x, (2, 0, 1)),
    "matrix_transpose": lambda xp, x: xp.matrix_transpose(x),
    "swapaxes": lambda xp, x: xp.swapaxes(x, 0, -1),
    "moveaxis": lambda xp, x: xp.moveaxis(x, 0, -1),
    "moveaxis two": lambda xp, x: xp.moveaxis(x, (0, 1), (-1, 0)),
    "expand_dims": lambda xp, x: xp.expand_dims(x, axis=1),
    "expand_dims two": lambda xp, x: xp.expand_dims(x, axis=(0, -1)),
    "squeeze": lambda xp, x: xp.squeeze(x[:1, :, :1]),
    "squeeze axis": lambda xp, x: xp.squeeze(x[:1], axis=0),
    "broadcast_to": lambda xp, x: xp.broadcast_to(x, (5, 2, 3, 4)),
    "broadcast_arrays": lambda xp, x: xp.broadcast_arrays(x, x[0, :1]),
    "concatenate": lambda xp, x: xp.concatenate([x, x[:1], x[:0]]),
    "concatenate axis": lambda xp, x: xp.concatenate([x, x[..., ::2]], axis=-1),
    "concatenate flat": lambda xp, x: xp.concatenate([x, x[0]], axis=None),
    "concatenate dtypes": lambda xp, x: xp.concatenate([x.astype("int32"), x.astype("float32")]),
    "concat": lambda xp, x: xp.concat([x, x], axis=1),
    "stack": lambda xp, x: xp.stack([x, x * 2], axis=1),
    "unstack": lambda xp, x: xp.unstack(x, axis=1),
    "flip": lambda xp, x: xp.flip(x),
    "flip axis": lambda xp, x: xp.flip(x, axis=(0, 2)),
    "roll": lambda xp, x: xp.roll(x, 5),
    "roll axis": lambda xp, x: xp.roll(x, (1, -1), (0, 2)),
    "tile": lambda xp, x: xp.tile(x, (2, 1, 3)),
    "tile more axes": lambda xp, x: xp.tile(x, (2, 1, 1, 2)),
    "slices": lambda xp, x: x[1:, ::-2, 3:0:-1],
    "index": lambda xp, x: x[1, 2, -1],
    "newaxis": lambda xp, x: x[:, xp.newaxis, 1, ..., None],
    "ellipsis": lambda xp, x: x[..., 1],
    "empty slice": lambda xp, x: x[:, 3:1],
    "numpy integer": lambda xp, x: x[np.int64(1), np.int8(-1)],
    "iterate": lambda xp, x: list(x),
    "clip": lambda xp, x: xp.clip(x, 3, 17.5),
    "clip one side": lambda xp, x: x.clip(max=9),
    "round": lambda xp, x: xp.round(x / 7, 2),
    "round method": lambda xp, x: (x / 2).round(),
    "round tens": lambda xp, x: xp.round(x, -1),
    "where": lambda xp, x: xp.where(x > 5, x, -1),
    "where broadcast": lambda xp, x: xp.where(x[:, :1] > 5, x, x[0]),
    "astype": lambda xp, x: x.astype("int8"),
    "copy": lambda xp, x: x[::-1].copy(),
    "array_equal": lambda xp, x: xp.asarray(xp.array_equal(x, x + 0)),
    "count_nonzero": lambda xp, x: xp.asarray(xp.count_nonzero(x % 3, axis=1)),
    "dot vectors": lambda xp, x: xp.dot(x[0, 0], x[1, 1]),
    "dot matrices": lambda xp, x: xp.dot(x[0], x[1].T),
    "dot scalar": lambda xp, x: xp.dot(x, 2),
    "dot many": lambda xp, x: xp.dot(x, xp.permute_dims(x, (0, 2, 1))),
    "vecdot": lambda xp, x: xp.vecdot(x, x[0]),
    "outer": lambda xp, x: xp.outer(x[0, 0], x[1]),
    "tensordot": lambda xp, x: xp.tensordot(x, x.T, axes=1),
    "tensordot axes": lambda xp, x: xp.tensordot(x, x, axes=([0, 2], [0, 2])),
}


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_shapes(name):
    both(lambda xp: SHAPES[name](xp, xp.asarray(X)))


@pytest.mark.parametrize("name", sorted(SHAPES))
def test_shapes_of_pending_values(name):
    both(lambda xp: SHAPES[name](xp, xp.asarray(X) * 2 - 4))


UPDATES = {
    "element": lambda x: x.__setitem__((1, 2, 3), -1),
    "row": lambda x: x.__setitem__(1, 7),
    "steps": lambda x: x.__setitem__((slice(None), slice(None, None, 2)), x[:, :2] + 1),
    "negative": lambda x: x.__setitem__((0, slice(None, None, -1)), x[1]),
    "broadcast": lambda x: x.__setitem__((slice(None), 1), x[0, 0]),
    "ellipsis": lambda x: x.__setitem__(..., 3.5),
    "empty": lambda x: x.__setitem__((slice(2, 2),), 9),
    "list": lambda x: x.__setitem__((0, 0), [1, 2, 3, 4]),
    "leading ones": lambda x: x.__setitem__((0, 0), x[1:2, 1:2, :][0]),
    "+=": lambda x: x.__iadd__(x[0]),
    "*=": lambda x: x[:, ::-1].__imul__(x),
    "//=": lambda x: x.__ifloordiv__(3),
    "%=": lambda x: x[0].__imod__(5),
    "/=": lambda x: x.__itruediv__(2),
    "**=": lambda x: x[1].__ipow__(2),
    "-= scalar": lambda x: x.__isub__(1.5),
}


@pytest.mark.parametrize("name", sorted(UPDATES))
def test_updates(name):
    a = X.copy()
    g = gc.array(X)
    UPDATES[name](a)
    UPDATES[name](g)
    exact.assert_same(g, a)


@pytest.mark.parametrize("name", ["__iand__", "__ior__", "__ixor__", "__ilshift__", "__irshift__"])
def test_bitwise_updates(name):
    a = np.arange(12).reshape(3, 4)
    g = gc.array(a)
    getattr(a, name)(a[0] % 5)
    getattr(g, name)(g[0] % 5)
    exact.assert_same(g, a)


@pytest.mark.parametrize("dtype", edge.DTYPES)
def test_movement_of_every_dtype(dtype):
    x = np.resize(edge.values(dtype), (4, 6))

    def moved(xp):
        y = xp.asarray(x)
        return [
            y.T, y[::-1, ::2], y.reshape(3, 8), xp.concatenate([y, y[:1]]), xp.broadcast_to(y[:, :1], (4, 5)),
            xp.flip(y, axis=1), xp.where(y == y[::-1], y, y[::-1]), y[2:3].reshape(-1), xp.stack([y, y]),
        ]  # fmt: skip

    both(moved)


def test_unary_operators():
    x = np.array([-3, 0, 5])
    g = gc.asarray(x)
    for got, want in ((-g, -x), (+g, +x), (abs(g), abs(x)), (~g, ~x)):
        exact.assert_same(got, want)


def test_reflected_operators():
    x = np.array([1.0, 2.0, 4.0])
    i = np.array([1, 2, 4])
    g, h = gc.asarray(x), gc.asarray(i)
    for got, want in (
        (3 + g, 3 + x), (3 - g, 3 - x), (3 * g, 3 * x), (3 / g, 3 / x), (3 // g, 3 // x), (3 % g, 3 % x), (2**g, 2**x),
        (6 & h, 6 & i), (6 | h, 6 | i), (6 ^ h, 6 ^ i), (6 << h, 6 << i), (600 >> h, 600 >> i),
        (2 < g, 2 < x), (2 == g, 2 == x), (2 >= g, 2 >= x),
    ):  # fmt: skip
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-15)
        assert got.dtype == want.dtype


def test_constants_and_namespace():
    assert gc.pi == np.pi and gc.e == np.e and gc.inf == np.inf and np.isnan(gc.nan) and gc.newaxis is None
    assert gc.float32 == np.dtype("float32") and gc.bool == np.bool_ == gc.bool_


@pytest.mark.graphc_only
def test_every_public_name_works_or_says_why():
    for name in dir(gc):
        assert getattr(gc, name) is not None or name == "newaxis"
    for name in ("sin", "subtract", "matmul", "sum", "asarray", "jit"):
        assert (getattr(gc, name).__doc__ or "").strip(), name


@pytest.mark.parametrize("dtype", ("int8", "uint8", "int16", "int32", "uint32", "int64", "uint64"))
def test_counts_of_many_integers(dtype):
    """Counted at once: vectors that threads share, results longer than a thread's own table, pending ones, views."""
    rng = np.random.default_rng(12)
    most = min(np.iinfo(dtype).max, 60_000)
    for size in (1, 1000, 300_001):
        for top in (most, min(most, 900)):
            a = rng.integers(0, top, size, endpoint=True).astype(dtype)
            x = gc.asarray(a)
            for given, want in ((x, a), (x // 2, a // 2), (x[::-3], a[::-3])):
                for least in (0, 70_000):
                    found = gc.bincount(given, minlength=least)
                    assert found.dtype == "int64"
                    np.testing.assert_array_equal(np.asarray(found), np.bincount(want.astype("int64"), minlength=least))
    if np.iinfo(dtype).min < 0:
        with pytest.raises(ValueError, match="negative"):
            gc.bincount(gc.asarray(np.asarray([3, -1, 2], dtype)))


@pytest.mark.parametrize("order", ["big", "little"])
def test_many_truth_values_become_bits(order):
    """Values in memory are gathered eight at a time: rows, ends that are no byte, views, bytes that NumPy made."""
    rng = np.random.default_rng(31)
    x = rng.random((400, 320)) < 0.4
    odd = np.frombuffer(rng.integers(0, 256, 80_000).astype("uint8").tobytes(), "uint8").view(bool)
    for y in (x, x.ravel(), x[1:], x[:, 8:], x[:, ::2], x.T, x.ravel()[:-3], odd, x.astype("int32")):
        for axis in (None, 0, -1):
            want = np.packbits(y.view("uint8") != 0 if y is odd else y, axis, order)
            for f in (gc.packbits, gc.jit(lambda a, axis=axis: gc.packbits(a, axis, order))):
                got = f(gc.asarray(y), axis, order) if f is gc.packbits else f(gc.asarray(y))
                assert got.dtype == want.dtype
                np.testing.assert_array_equal(np.asarray(got), want)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_extremes_without_nan_of_computed_arrays(dtype):
    """Around a register's elements and beyond what is searched at once; zeros of both signs; only NaN."""
    rng = np.random.default_rng(32)
    for size in (1, 2, 15, 16, 17, 1000, 200_000):
        x = rng.standard_normal(size).astype(dtype)
        x[rng.random(size) < 0.4] = np.nan
        for sign in (1, -1):
            zeros = np.where(np.isnan(x), x, np.where(rng.random(size) < 0.5, 0.0, -0.0)).astype(dtype)
            zeros[rng.random(size) < 0.5] = np.nan
            for y in (sign * x, zeros, np.where(zeros == 0, zeros, -sign).astype(dtype), np.full(size, -sign * np.inf, dtype)):
                if np.isnan(y).all():
                    with pytest.warns(RuntimeWarning, match="All-NaN"):
                        assert np.isnan(float(gc.nanmax(gc.asarray(y))))
                    continue
                for name, largest in (("nanmax", True), ("nanmin", False)):
                    got = np.asarray(getattr(gc, name)(gc.asarray(y)))
                    assert got.dtype == y.dtype and got == getattr(np, name)(y)
                    if got == 0:  # -0 is smaller than +0
                        signs = np.signbit(y[y == 0])
                        assert np.signbit(got) == (signs.all() if largest else signs.any())


def test_short_convolutions_have_the_bits_of_recorded_ones():
    rng = np.random.default_rng(33)
    for dtype in ("float32", "float64"):
        for size, short in ((5000, 9), (9, 5000), (20_000, 1), (3000, 80)):
            a, b = (rng.standard_normal(n).astype(dtype) for n in (size, short))
            for mode in ("full", "same", "valid"):
                for name in ("convolve", "correlate"):
                    now = np.asarray(getattr(gc, name)(gc.asarray(a), gc.asarray(b), mode))
                    traced = np.asarray(gc.jit(lambda a, b: getattr(gc, name)(a, b, mode))(gc.asarray(a), gc.asarray(b)))
                    assert now.tobytes() == traced.tobytes()
                    np.testing.assert_allclose(now, getattr(np, name)(a, b, mode), atol=1e-4 if dtype == "float32" else 1e-12)
    a, b = np.full(5000, 1e308), np.full(9, 10.0)
    np.testing.assert_array_equal(np.asarray(gc.convolve(gc.asarray(a), gc.asarray(b))), np.full(5008, np.inf))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "int64"])
def test_elements_among_few_and_many_others(dtype):
    rng = np.random.default_rng(12)
    for count in (1, 2, 4, 5, 8, 9, 16, 17, 40):
        tests = rng.integers(-3, 50, count).astype(dtype)
        if dtype == "int64":
            tests[-1] = 2**62  # no table
        elif count > 2:
            tests[1], tests[2] = np.nan, -0.0
        for shape in ((1,), (2, 3), (90, 100)):
            x = rng.integers(0, 50, shape).astype(dtype)
            if dtype != "int64":
                x.flat[0] = np.nan
            for invert in (False, True):
                got, want = gc.isin(gc.asarray(x), gc.asarray(tests), invert=invert), np.isin(x, tests, invert=invert)
                assert got.dtype == want.dtype and got.shape == want.shape
                np.testing.assert_array_equal(got, want)


PIECES = {
    "statistics of pieces": lambda xp, x, m: xp.piecewise(x, [x < 0, x >= 0], [lambda v: v - v.mean(), lambda v: v.sum()]),
    "values": lambda xp, x, m: (xp.piecewise(x, [x < 0], [1, 2]), xp.piecewise(m, [m < 2, m > 3], [1.7, lambda v: v * 1.5, 9]), xp.piecewise(x, x > 1, [5])),
    "arguments": lambda xp, x, m: xp.piecewise(m, [m < 2, m > 4], [-1, lambda v, a, b=0: v + a, lambda v, a, b=0: v - a - b], 100, b=7),
    "overlapping": lambda xp, x, m: xp.piecewise(x, [x < 2, x < -1], [1, lambda v: v * 3]),
    "nothing chosen": lambda xp, x, m: xp.piecewise(x, [x > 99], [lambda v: 1 / 0]),
    "only where it is defined": lambda xp, x, m: xp.piecewise(x, [x > 0], [xp.log, np.nan]),
    "one number": lambda xp, x, m: (xp.piecewise(3.0, [True], [4.0]), xp.piecewise(x[2], [x[2] > 2, x[2] <= 2], [1, lambda v: v + 1])),
    "lists of conditions": lambda xp, x, m: (xp.piecewise(x, [[True, False] * 3 + [True]], [1, 2]), xp.piecewise(x[::2], [x[::2] > 0], [xp.sqrt])),
}


@pytest.mark.parametrize("name", PIECES)
@pytest.mark.filterwarnings("error")
def test_functions_of_pieces_are_given_their_elements(name):
    def program(xp):
        made = PIECES[name](xp, xp.asarray(np.arange(-3.0, 4.0)), xp.asarray(np.arange(6).reshape(2, 3)))
        return [np.asarray(v) for v in (made if isinstance(made, tuple) else (made,))]

    for got, want in zip(program(gc), program(np)):
        assert got.dtype == want.dtype
        np.testing.assert_array_equal(got, want)


def test_rows_of_conditions_are_conditions():
    for xp in (np, gc):
        m = xp.asarray(np.arange(6).reshape(2, 3))
        with pytest.raises(ValueError, match="with 2 condition"):
            xp.piecewise(m, m > 2, [5])


def test_pieces_in_a_jitted_function_have_no_counts():
    x = np.linspace(-2, 2, 9)
    f = gc.jit(lambda v: gc.piecewise(v, [v < 0, v > 1], [lambda t: -t, lambda t: t * t, 0.5]))
    np.testing.assert_array_equal(np.asarray(f(gc.asarray(x))), np.piecewise(x, [x < 0, x > 1], [lambda t: -t, lambda t: t * t, 0.5]))


def test_histograms_of_complex_numbers():
    z = np.array([1 + 1j, 2, 3j])
    with pytest.warns(np.exceptions.ComplexWarning):
        want = np.histogram(z)
    with pytest.warns(np.exceptions.ComplexWarning):
        got = gc.histogram(gc.asarray(z))
    for g, w in zip(got, want):
        np.testing.assert_array_equal(np.asarray(g), w)


@pytest.mark.parametrize("scalars", range(1, 8))
@pytest.mark.parametrize("dtype", ["float16", "float32", "int8", "uint8", "int32", "uint64", "int64", "float64", "bool"])
def test_ranges_between_single_results_are_counted_in_their_dtype(dtype, scalars):
    """The step is what adding it to the first number gives, and how many there are is what their difference gives."""
    for bounds in ((-1.02235067, 1.02, 0.001), (0, 5, 1), (100, 120, 7), (10, 0, -2), (1, 3, 0.3)):
        found = []
        for xp in (np, gc):
            given = [xp.array([abs(v) if dtype[0] == "u" else v]).astype(dtype)[0] if scalars >> i & 1 else v for i, v in enumerate(bounds)]
            if given[2] == 0:
                continue
            try:
                made = xp.arange(*given)
                assert isinstance(made, gc.Array if xp is gc else np.ndarray)
                found.append((made.dtype, made.tolist()))
            except (TypeError, ValueError, MemoryError) as error:
                found.append(str(error))
        assert found[1:] == found[:1] or not found, bounds
