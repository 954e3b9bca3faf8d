"""Functions above the operations on complex arrays, against NumPy: order, sets, statistics, polynomials, forms."""

import io
import pickle

import graphc as gc
import numpy as np
import pytest

DTYPES = ("complex64", "complex128")
NAN, INF = np.nan, np.inf


def numbers(shape, dtype="complex128", seed=0):
    rng = np.random.default_rng(seed)
    return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)


def tied(shape, dtype="complex128", seed=0):
    """Few different numbers, zeros of both signs, infinities and NaN in every place."""
    values = np.array([0.0, -0.0, 1.0, -1.0, 2.0, INF, -INF, NAN])
    rng = np.random.default_rng(seed)
    z = np.empty(shape, dtype)
    z.real, z.imag = rng.choice(values, shape), rng.choice(values, shape)
    return z


def same(got, want):
    """Equal elements; NaN in the same parts."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype and got.shape == want.shape, (got.dtype, want.dtype, got.shape, want.shape)
    for g, w in ((got.real, want.real), (got.imag, want.imag)):
        assert np.array_equal(g, w, equal_nan=True), (got, want)


def near(got, want, units=200):
    if isinstance(want, (tuple, list)):
        assert len(got) == len(want)
        for g, w in zip(got, want):
            near(g, w, units)
        return
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype and got.shape == want.shape, (got.dtype, want.dtype, got.shape, want.shape)
    if want.dtype.kind not in "fc":
        assert np.array_equal(got, want)
        return
    eps = np.finfo(want.dtype).eps
    for g, w in ((got.real, want.real), (got.imag, want.imag)):
        np.testing.assert_allclose(g, w, rtol=units * eps, atol=units * eps * np.abs(want[np.isfinite(want)]).max(initial=1))


# Order.


@pytest.mark.parametrize("dtype", DTYPES)
def test_sort(dtype):
    for x in (tied((400,), dtype), tied((5, 60), dtype, 1), numbers((3, 7, 11), dtype), tied((0, 3), dtype)):
        g = gc.asarray(x)
        for axis in range(-1, x.ndim):
            order = np.argsort(x, axis, stable=True)
            same(gc.argsort(g, axis), order)
            same(gc.sort(g, axis), np.take_along_axis(x, order, axis))
            same(gc.sort(g, axis), np.sort(x, axis))
    # Stable downwards too, NaN first.
    x = tied((300,), dtype, 2)
    order = np.asarray(gc.argsort(gc.asarray(x), descending=True))
    same(gc.sort(gc.asarray(x), descending=True), x[order])
    same(x[order][::-1].real + 0.0, np.sort(x).real + 0.0)
    for value in np.unique(x):
        places = order[x[order] == value]
        assert np.all(np.diff(places) > 0)
    g.sort(axis=0)


@pytest.mark.parametrize("dtype", DTYPES)
def test_sort_of_a_long_row(dtype):
    x = numbers((70001,), dtype)
    x.real = np.round(x.real, 1)
    order = np.argsort(x, stable=True)
    same(gc.argsort(gc.asarray(x)), order)
    same(gc.sort(gc.asarray(x)), x[order])
    rows = np.ascontiguousarray(np.broadcast_to(x[:500], (40, 500)))
    same(gc.sort(gc.asarray(rows)), np.sort(rows))


@pytest.mark.parametrize("dtype", DTYPES)
def test_search(dtype):
    a, v = np.sort(tied((200,), dtype)), tied((90,), dtype, 4)
    for side in ("left", "right"):
        same(gc.searchsorted(gc.asarray(a), gc.asarray(v), side=side), np.searchsorted(a, v, side=side))
        same(gc.searchsorted(gc.asarray(a), gc.asarray(v.real.copy()), side=side), np.searchsorted(a, v.real, side=side))
    keys = [tied((150,), dtype, 5), tied((150,), dtype, 6).real.copy(), tied((150,), dtype, 7)]
    want = np.argsort(keys[0], stable=True)
    for key in keys[1:]:
        want = want[np.argsort(key[want], stable=True)]
    same(gc.lexsort([gc.asarray(k) for k in keys]), want)
    for given in (a[::-1], a.real, np.array([3, 1, 2], "int16"), np.array([3, 1, 2])):
        same(gc.sort_complex(gc.asarray(given.copy())), np.sort_complex(given))
    same(gc.partition(gc.asarray(a[::-1].copy()), 5)[5], a[5])


@pytest.mark.parametrize("dtype", DTYPES)
def test_sets(dtype):
    x = tied((300,), dtype)
    plain = x[np.isfinite(x)]
    for z in (plain, plain.reshape(2, -1) if plain.size % 2 == 0 else plain[1:].reshape(2, -1), plain[:0]):
        flags = {"return_index": True, "return_inverse": True, "return_counts": True}
        for got, want in zip(gc.unique(gc.asarray(z), **flags), np.unique(z, **flags)):
            same(got, want)
        for name in ("unique_all", "unique_counts", "unique_inverse"):
            for got, want in zip(getattr(gc, name)(gc.asarray(z)), getattr(np, name)(z)):
                same(got, want)
        same(gc.unique_values(gc.asarray(z)), np.unique(z))
    for equal_nan in (True, False):
        got, want = gc.unique(gc.asarray(x), equal_nan=equal_nan), np.unique(x, equal_nan=equal_nan)
        assert got.size == want.size and np.array_equal(np.asarray(got), want, equal_nan=True)
    other = tied((40,), dtype, 9)
    for invert in (False, True):
        same(gc.isin(gc.asarray(x), gc.asarray(other), invert=invert), np.isin(x, other, invert=invert))
    a, b = plain[:40], plain[30:90]
    for name in ("union1d", "intersect1d", "setdiff1d", "setxor1d"):
        same(getattr(gc, name)(gc.asarray(a), gc.asarray(b)), getattr(np, name)(a, b))
    same(gc.unique(gc.asarray(plain[:60].reshape(20, 3)), axis=0), np.unique(plain[:60].reshape(20, 3), axis=0))


@pytest.mark.parametrize("dtype", DTYPES)
def test_extremes(dtype):
    with_nan = tied((6, 40), dtype)
    plain = with_nan.copy()
    plain[np.isnan(plain)] = 3 - 1j
    for x in (plain, with_nan, plain[0, :1].reshape(())):
        g = gc.asarray(x)
        for axis in (None, 1) if x.ndim else (None,):
            for keepdims in (False, axis is not None):
                same(gc.argmin(g, axis, keepdims=keepdims), np.asarray(np.argmin(x, axis, keepdims=keepdims)))
                same(gc.argmax(g, axis, keepdims=keepdims), np.asarray(np.argmax(x, axis, keepdims=keepdims)))
                for name in ("min", "max"):
                    with np.errstate(invalid="ignore"):
                        want = np.asarray(getattr(np, name)(x, axis, keepdims=keepdims))
                    got = np.asarray(getattr(gc, name)(g, axis, keepdims=keepdims))
                    assert got.dtype == want.dtype and np.array_equal(got, want, equal_nan=True)
    x = numbers((3, 4, 5), dtype)
    same(gc.max(gc.asarray(x), (0, 2)), x.max((0, 2)))
    same(gc.min(gc.asarray(x), 1, initial=-0.5j), x.min(1, initial=-0.5j))
    same(gc.max(gc.asarray(x), 1, where=x.real > 0, initial=-9), x.max(1, where=x.real > 0, initial=-9))
    same(gc.clip(gc.asarray(x), -0.5, 0.5 + 1j), np.clip(x, -0.5, 0.5 + 1j))
    same(gc.ptp(gc.asarray(x), 0), np.ptp(x, 0))
    for name in ("min", "argmax"):
        with pytest.raises(ValueError, match=name):
            getattr(gc, name)(gc.zeros((0,), dtype))


# Formulas: each of a library (graphc or NumPy), a matrix and a vector.

FUNCTIONS = {
    "diff": lambda m, x, v: m.diff(x, 2, 0),
    "ediff1d": lambda m, x, v: m.ediff1d(v),
    "gradient": lambda m, x, v: m.gradient(x),
    "gradient with steps": lambda m, x, v: m.gradient(v, 0.5, edge_order=2),
    "trapezoid": lambda m, x, v: m.trapezoid(x, dx=0.5),
    "trapezoid over x": lambda m, x, v: m.trapezoid(v, v * v),
    "convolve": lambda m, x, v: m.convolve(v, x[0]),
    "convolve same": lambda m, x, v: m.convolve(v, x[0].real, "same"),
    "correlate": lambda m, x, v: m.correlate(v, x[0], "full"),
    "correlate same": lambda m, x, v: m.correlate(x[0], v, "same"),
    "correlate long": lambda m, x, v: m.correlate(m.concatenate([v, v, v]), m.concatenate([v, v]), "valid"),
    "interp": lambda m, x, v: m.interp(m.linspace(-1, 12, 30), m.linspace(0.0, 10, v.size), v),
    "interp ends": lambda m, x, v: m.interp(m.linspace(-1, 12, 30), m.linspace(0.0, 10, v.size), v, left=1j, right=2 - 1j),
    "average": lambda m, x, v: m.average(x, 1),
    "weighted average": lambda m, x, v: m.average(x, 1, weights=abs(x[0])),
    "median": lambda m, x, v: m.median(x, 1),
    "median of an odd number": lambda m, x, v: m.median(x[:, :5], 1),
    "mean": lambda m, x, v: m.mean(x, 0, where=x.real > -1),
    "var": lambda m, x, v: m.var(x, 0, ddof=1),
    "std": lambda m, x, v: m.std(x, where=x.real > 0),
    "cov": lambda m, x, v: m.cov(x),
    "cov of two": lambda m, x, v: m.cov(v.real, v, aweights=m.arange(24.0)),
    "corrcoef": lambda m, x, v: m.corrcoef(x),
    "polyval": lambda m, x, v: m.polyval(v[:4], x),
    "polyadd": lambda m, x, v: m.polyadd(v, x[0]),
    "polymul": lambda m, x, v: m.polymul(v[:3], x[0]),
    "polydiv": lambda m, x, v: m.polydiv(v[:6], x[0, :3]),
    "polyder": lambda m, x, v: m.polyder(v[:5]),
    "polyint": lambda m, x, v: m.polyint(v[:5], 2, [1j, 2]),
    "polyfit": lambda m, x, v: m.polyfit(v, x.reshape((-1,))[:24], 2),
    "poly": lambda m, x, v: m.poly(v[:4]),
    "poly of pairs": lambda m, x, v: m.poly(m.concatenate([v[:2], m.conj(v[:2])])),
    "vander": lambda m, x, v: m.vander(v, 4),
    "sinc": lambda m, x, v: m.sinc(x),
    "round": lambda m, x, v: m.round(x * 10, 1),
    "around": lambda m, x, v: m.around(x * 100, -1),
    "rint": lambda m, x, v: m.rint(x * 3),
    "float_power": lambda m, x, v: m.float_power(x, 3),
    "linspace": lambda m, x, v: m.linspace(1j, 2 - 1j, 7),
    "linspace of arrays": lambda m, x, v: m.linspace(v, 2, 5, endpoint=False, axis=1),
    "logspace": lambda m, x, v: m.logspace(1j, 2, 5),
    "geomspace": lambda m, x, v: m.geomspace(1j, 1000j, 4),
    "geomspace of a spiral": lambda m, x, v: m.geomspace(-1 + 1j, 5, 6),
    "einsum": lambda m, x, v: m.einsum("ij,kj->ik", x, m.conj(x)),
    "einsum of a trace": lambda m, x, v: m.einsum("ii", x[:5, :5]),
    "tensordot": lambda m, x, v: m.tensordot(x, x, axes=([1], [1])),
    "kron": lambda m, x, v: m.kron(x[:2, :2], x[2:4, :3]),
    "outer": lambda m, x, v: m.outer(v, x[0]),
    "inner": lambda m, x, v: m.inner(x, x[0]),
    "vdot": lambda m, x, v: m.vdot(x, x * 1j),
    "dot": lambda m, x, v: m.dot(x, x.T),
    "matvec": lambda m, x, v: m.matvec(x, x[0]),
    "vecmat": lambda m, x, v: m.vecmat(x[:, 0], x),
    "cross": lambda m, x, v: m.cross(x[:, :3], x[:, 3:6]),
    "trace": lambda m, x, v: m.trace(x, 1),
    "angle": lambda m, x, v: m.angle(x, deg=True),
    "isreal": lambda m, x, v: m.isreal(m.concatenate([v, v.real])),
    "iscomplex": lambda m, x, v: m.iscomplex(m.concatenate([v, v.real])),
    "real_if_close": lambda m, x, v: m.real_if_close(v.real + 1e-20j),
    "real_if_not_close": lambda m, x, v: m.real_if_close(v),
    "nan_to_num": lambda m, x, v: m.nan_to_num(x, nan=3, neginf=-1),
    "isclose": lambda m, x, v: m.isclose(x, x + 1e-9j),
    "select": lambda m, x, v: m.select([x.real > 0, x.imag > 0], [x, -x], 2j),
    "where": lambda m, x, v: m.where(x.real > 0, x, 1j),
    "tril": lambda m, x, v: m.tril(x),
    "pad": lambda m, x, v: m.pad(x, 2, mode="reflect"),
    "pad with ends": lambda m, x, v: m.pad(v, 2, mode="linear_ramp", end_values=1j),
    "roll": lambda m, x, v: m.roll(x, 3),
    "repeat": lambda m, x, v: m.repeat(x, 2, axis=1),
    "tile": lambda m, x, v: m.tile(x, (2, 1)),
    "cumsum": lambda m, x, v: m.cumsum(x, 1),
    "cumprod": lambda m, x, v: m.cumprod(x, 1),
    "cumulative_prod": lambda m, x, v: m.cumulative_prod(v, include_initial=True),
    "count_nonzero": lambda m, x, v: m.count_nonzero(x.imag * 1j),
    "nonzero": lambda m, x, v: m.nonzero(m.round(x)),
    "fmax": lambda m, x, v: m.fmax(x, x[0]),
    "fmin.reduce": lambda m, x, v: m.fmin.reduce(x, 1),
    "maximum.reduce": lambda m, x, v: m.maximum.reduce(x, 1),
    "minimum.accumulate": lambda m, x, v: m.minimum.accumulate(v),
    "add.reduceat": lambda m, x, v: m.add.reduceat(v, [0, 3, 5]),
    "multiply.outer": lambda m, x, v: m.multiply.outer(v, v),
    "i in piecewise": lambda m, x, v: m.piecewise(v, [v.real > 0], [2j, lambda z: z * 2]),
    "take": lambda m, x, v: m.take(x, [1, 0], axis=1),
    "bincount": lambda m, x, v: m.histogram(abs(v), 4)[0],
    "array_equal": lambda m, x, v: m.array_equal(x, x),
    "power": lambda m, x, v: m.power(x, 2),
    "square": lambda m, x, v: m.square(x),
    "sign": lambda m, x, v: m.sign(x),
    "mT": lambda m, x, v: m.matrix_transpose(x),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", FUNCTIONS)
def test_function(name, dtype):
    x, v = numbers((7, 8), dtype), numbers((24,), dtype, 1)
    near(FUNCTIONS[name](gc, gc.asarray(x), gc.asarray(v)), FUNCTIONS[name](np, x, v))


NAN_FUNCTIONS = ("nansum", "nanprod", "nanmean", "nanvar", "nanstd", "nanmin", "nanmax", "nancumsum", "nancumprod", "nanmedian")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_functions_that_skip_nan(dtype):
    x = numbers((6, 9), dtype)
    x[1, 2], x[3, :2], x[0, 0] = complex(NAN, 1), complex(2, NAN), complex(NAN, NAN)
    g = gc.asarray(x)
    for axis in (None, 1) if dtype == "complex128" else (0,):
        for name in NAN_FUNCTIONS:
            near(getattr(gc, name)(g, axis), np.asarray(getattr(np, name)(x, axis)))
        for name in ("nanargmin", "nanargmax"):
            same(getattr(gc, name)(g, axis), np.asarray(getattr(np, name)(x, axis)))
    odd = np.array([complex(INF, NAN), complex(-INF, INF), complex(NAN, -INF), 1 + 2j], dtype)
    near(gc.nan_to_num(gc.asarray(odd)), np.nan_to_num(odd))
    for equal_nan in (False, True):
        same(gc.isclose(gc.asarray(odd), gc.asarray(odd), equal_nan=equal_nan), np.isclose(odd, odd, equal_nan=equal_nan))
    assert gc.allclose(gc.asarray(x), gc.asarray(x), equal_nan=True) and not gc.allclose(g, g)
    assert not gc.allclose(gc.asarray([1 + 1j]), gc.asarray([1 + 2j]))


def test_roots():
    for p in ([1, -6, 11, -6], [1, 0, 1], [1, 2j, -1 + 1j, 0, 0], [2j, 1], [1.0]):
        got, want = np.asarray(gc.roots(gc.asarray(p))), np.roots(p)
        assert got.dtype == want.dtype
        near(np.sort(got), np.sort(want), 1e4)
    a = np.array([[1.0, 2], [-3, 1]])
    near(gc.poly(gc.asarray(a)), np.poly(a))


@pytest.mark.parametrize("name", ["floor", "trunc", "fix", "deg2rad", "fabs", "heaviside", "fmod", "divmod", "frexp", "modf", "spacing", "i0", "unwrap", "quantile", "digitize", "arctan2", "signbit", "cbrt", "isposinf", "logaddexp2"])
def test_real_functions_refuse(name):
    x = np.array([1 + 2j, 3])
    second = {"heaviside": [x], "fmod": [x], "divmod": [x], "quantile": [0.5], "digitize": [np.array([0.0, 1.0])], "arctan2": [x], "logaddexp2": [x]}.get(name, [])
    with pytest.raises(TypeError):
        getattr(np, name)(x, *second)
    with pytest.raises(TypeError):
        getattr(gc, name)(gc.asarray(x), *(gc.asarray(s) if isinstance(s, np.ndarray) else s for s in second))


@pytest.mark.parametrize("dtype", DTYPES)
def test_text_and_files(dtype, tmp_path):
    for x in (numbers((3, 4), dtype), tied((5,), dtype), numbers((), dtype), numbers((40, 40), dtype), np.zeros((0,), dtype)):
        g = gc.asarray(x)
        assert str(g) == str(x)
        assert gc.array2string(g, precision=3) == np.array2string(x, precision=3)
        same(pickle.loads(pickle.dumps(g)), x)
        file = io.BytesIO()
        gc.save(file, g)
        file.seek(0)
        same(np.load(file), x)
        file.seek(0)
        same(gc.load(file), x)
        assert g.tolist() == x.tolist() or np.isnan(x).any()
    assert repr(gc.asarray([1 + 2j, 3])).startswith("array([1.+2.j, 3.+0.j]")
    assert f"{complex(gc.asarray(1 + 2j)):.1f}" == "1.0+2.0j"


@pytest.mark.parametrize("dtype", "int8 uint8 int16 uint32 int32 int64 float16 float32 float64 complex64 complex128".split())
def test_functions_that_leave_the_real_numbers(dtype):
    """`emath`: results and dtypes by the data, also through NumPy's own function."""
    close = {"rtol": 1e-2 if dtype == "float16" else 1e-5, "atol": 1e-6}
    with np.errstate(all="ignore"), gc.errstate(all="ignore"):
        for values in ([1, 0, 1], [-1, 0, 1], [-2, 3, 0.5], [2, 3, 4], []):
            x = np.array(values).astype(dtype)
            for name in ("sqrt", "log", "log2", "log10", "arccos", "arcsin", "arctanh"):
                want = getattr(np.emath, name)(x)
                for found in (getattr(gc.emath, name)(gc.asarray(x)), getattr(np.emath, name)(gc.asarray(x))):
                    assert isinstance(found, gc.Array) and found.dtype == want.dtype, (name, values)
                    np.testing.assert_allclose(np.asarray(found), want, **close)
            for exponent in (2, -2, 0.5, -1.5, np.array([2, 1, -1])[: x.size]):
                want, found = np.emath.power(x, exponent), gc.emath.power(gc.asarray(x), exponent)
                assert found.dtype == want.dtype
                np.testing.assert_allclose(np.asarray(found), want, **close)
            for base in (2, -2.5):
                want, found = np.emath.logn(base, x), gc.lib.scimath.logn(base, gc.asarray(x))
                assert found.dtype == want.dtype
                np.testing.assert_allclose(np.asarray(found), want, **close)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("side", ["left", "right"])
def test_search_among_numbers_and_nans(dtype, side):
    rng, nan, inf = np.random.default_rng(8), np.nan, np.inf
    a = (rng.integers(0, 9, 300) + 1j * rng.integers(0, 4, 300)).astype(dtype)
    a[:12] = [complex(1, nan), complex(nan, 1), complex(nan, nan), complex(1, nan), complex(0, nan), complex(nan, 0), complex(inf, 1), -inf, complex(1, -inf), -0.0, 0.0, complex(-0.0, -0.0)]
    v = np.concatenate([a, (rng.random(50) * 9 + 1j).astype(dtype)])
    for among in (np.sort(a), np.sort(a[12:]), np.sort(a[:6]), a[:0]):
        same(gc.searchsorted(gc.asarray(among), gc.asarray(v), side=side), np.searchsorted(among, v, side=side))


@pytest.mark.parametrize("name", ["var", "std", "nanvar", "nanstd"])
@pytest.mark.parametrize("dtype", ["f4", "f8", "c8", "c16"])
@pytest.mark.filterwarnings("ignore:Casting complex values")
def test_spreads_in_a_dtype_that_is_given(name, dtype):
    """Distances keep their imaginary parts in a real one, and sums of squares are complex in a complex one."""
    z = (np.arange(1, 13) * (1 + 0.5j) + 1j).reshape(4, 3)
    for x in (z, z.astype("c8"), z.real) if dtype.startswith("c") or not name.startswith("nan") else (z.real,):
        for axis in (None, 0):
            got, want = (np.asarray(getattr(xp, name)(xp.asarray(x), axis=axis, dtype=dtype, ddof=1)) for xp in (gc, np))
            assert got.dtype == want.dtype and got.shape == want.shape
            np.testing.assert_allclose(got, want, rtol=1e-5 if dtype in ("f4", "c8") else 1e-14)


def test_spreads_of_integers_in_an_integer_dtype():
    for xp in (np, gc):
        made = xp.nanstd(xp.asarray(np.arange(6)), dtype="i8")
        assert made == 1 and made.dtype == "int64"
