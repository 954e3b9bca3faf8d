"""Sets, order statistics, histograms and interpolation against NumPy."""

import warnings

import graphc as gc
import numpy as np
import pytest
from support import exact

METHODS = ("inverted_cdf", "averaged_inverted_cdf", "closest_observation", "interpolated_inverted_cdf", "hazen", "weibull", "linear",
           "median_unbiased", "normal_unbiased", "lower", "higher", "midpoint", "nearest")
DTYPES = ("bool", "int8", "int32", "int64", "uint8", "uint64", "float32", "float64")


def values(shape, dtype="float64", seed=0):
    rng = np.random.default_rng(seed)
    x = rng.integers(0, 2 if dtype == "bool" else 9, shape)
    if dtype.startswith("float"):
        x = np.where(rng.integers(0, 8, shape) == 0, np.nan, x / 2)
    return x.astype(dtype)


def same(got, want):
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype and got.shape == want.shape, (got.dtype, want.dtype, got.shape, want.shape)
    np.testing.assert_array_equal(got, want)


def near(got, want):
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype and got.shape == want.shape, (got.dtype, want.dtype, got.shape, want.shape)
    eps = np.finfo(want.dtype).eps if want.dtype.kind == "f" else 0
    np.testing.assert_allclose(got, want, rtol=8 * eps, atol=8 * eps)


@pytest.mark.parametrize("dtype", DTYPES)
def test_unique(dtype):
    for shape in ((0,), (1,), (40,), (5, 6), (2, 0, 3), ()):
        x = values(shape, dtype)
        g = gc.asarray(x)
        same(gc.unique(g), np.unique(x))
        for flags in ((True, False, False), (False, True, False), (False, False, True), (True, True, True)):
            for got, want in zip(gc.unique(g, *flags), np.unique(x, *flags)):
                same(got, want)
        for nan in (True, False):
            same(gc.unique(g, equal_nan=nan), np.unique(x, equal_nan=nan))
        for name in ("unique_all", "unique_counts", "unique_inverse"):
            got, want = getattr(gc, name)(g), getattr(np, name)(x)
            assert got._fields == want._fields
            for field, a, b in zip(got._fields, got, want):
                if field == "inverse_indices":  # which of several NaNs is which is nobody's promise
                    same(np.asarray(got.values)[np.asarray(a)], x)
                else:
                    same(a, b)
        same(gc.unique_values(g), np.sort(np.unique_values(x)))


def test_unique_along_an_axis():
    x = np.random.default_rng(1).integers(0, 2, (12, 3, 2))
    for axis in range(-3, 3):
        for flags in ((False, False, False), (True, True, True)):
            got, want = gc.unique(gc.asarray(x), *flags, axis=axis), np.unique(x, *flags, axis=axis)
            for a, b in zip(got if any(flags) else (got,), want if any(flags) else (want,)):
                same(a, b)
    with pytest.raises(IndexError):
        gc.unique(gc.asarray(x), axis=3)


@pytest.mark.parametrize("dtype", DTYPES)
def test_sets(dtype):
    a, b = values((30,), dtype), values((4, 3), dtype, 3)
    if dtype.startswith("float"):
        a, b = np.nan_to_num(a), np.nan_to_num(b)
    b = b[:, :2]
    ga, gb = gc.asarray(a), gc.asarray(b)
    same(gc.isin(ga, gb), np.isin(a, b))
    same(gc.isin(gb, ga, invert=True), np.isin(b, a, invert=True))
    same(gc.isin(gb, ga[:0]), np.isin(b, a[:0]))
    same(gc.union1d(ga, gb), np.union1d(a, b))
    same(gc.intersect1d(ga, gb), np.intersect1d(a, b))
    same(gc.setdiff1d(ga, gb), np.setdiff1d(a, b))
    same(gc.setxor1d(ga, gb), np.setxor1d(a, b))
    for got, want in zip(gc.intersect1d(ga, gb, return_indices=True), np.intersect1d(a, b, return_indices=True)):
        same(got, want)


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int32", "int64", "uint64"])
def test_isin_of_integers_close_together(dtype):
    """By a table: at the ends of the dtype too, for elements outside of the table, and where there is none."""
    info, rng = np.iinfo(dtype), np.random.default_rng(6)
    for low in (max(info.min, -40), info.min, info.max - 60):
        tests = (np.arange(60, dtype=dtype) + np.array(low, dtype))[rng.integers(0, 60, 25)]
        x = np.concatenate([tests[::2], tests[::3] + np.array(1, dtype), np.array([info.min, info.max, 0, 7], dtype)])
        for t in (tests, tests[:1], np.array([info.min, info.max], dtype)):
            for invert in (False, True):
                same(gc.isin(gc.asarray(x), gc.asarray(t), invert=invert), np.isin(x, t, invert=invert))


def test_isin_with_nan_and_scalars():
    x = np.array([1.0, np.nan, 3.0])
    same(gc.isin(gc.asarray(x), [np.nan, 3]), np.isin(x, [np.nan, 3]))
    same(gc.isin(3, gc.asarray(x)), np.isin(3, x))


@pytest.mark.parametrize("dtype", DTYPES)
def test_median(dtype):
    for shape in ((1,), (6,), (7,), (3, 8), (2, 3, 5)):
        x = values(shape, dtype)
        g = gc.asarray(x)
        for axis in (None, 0, -1, tuple(range(len(shape)))):
            for keep in (False, True):
                near(gc.median(g, axis, keepdims=keep), np.median(x, axis, keepdims=keep))
                with np.testing.suppress_warnings() as quiet:
                    quiet.filter(RuntimeWarning)
                    near(gc.nanmedian(g, axis, keepdims=keep), np.nanmedian(x, axis, keepdims=keep))


@pytest.mark.parametrize("dtype", ["int8", "uint8", "int16", "int64", "uint64"])
@pytest.mark.parametrize("n", [1, 2, 9, 100, 2048, 2049])
def test_median_of_integers_that_floats_round(n, dtype):
    """Floats keep the order of integers, so that vectors of few are converted before they are sorted."""
    info = np.iinfo(dtype)
    x = np.random.default_rng(n).integers(info.max - min(5000, info.max), info.max, n, dtype=dtype, endpoint=True)
    for some in (x, np.where(np.arange(n) % 2, x, info.min).astype(dtype), x[::-1]):
        y = gc.asarray(some)
        same(gc.median(y), np.median(some))
        same(gc.median(y, axis=0, keepdims=True), np.median(some, axis=0, keepdims=True))
        same(y, some)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("n", [2049, 4000])
def test_median_of_many_complex_numbers(n, dtype):
    rng = np.random.default_rng(n)
    x = (rng.integers(-40, 40, (3, n)) + 1j * rng.standard_normal((3, n))).astype(dtype)
    x[1, 7] = complex(0, np.nan)
    for part in (x[0], x[1], x[:1], x, x[::2], x[:, ::-1]):
        for axis in (None, -1):
            same(gc.median(gc.asarray(part), axis), np.median(part, axis))


@pytest.mark.parametrize("method", METHODS)
def test_quantiles(method):
    for dtype in ("int32", "float32", "float64"):
        for n in (1, 2, 7, 10):
            x = np.nan_to_num(values((n, 4), dtype, n))
            g = gc.asarray(x)
            for q in (0.0, 0.3, 0.5, 1.0, [0.1, 0.5, 0.99], [[0.0], [0.75]], []):
                for axis in (0, 1, None):
                    near(gc.quantile(g, q, axis, method=method), np.quantile(x, q, axis, method=method))
                near(gc.percentile(g, np.asarray(q) * 100, 0, method=method, keepdims=True),
                     np.percentile(x, np.asarray(q) * 100, 0, method=method, keepdims=True))


@pytest.mark.parametrize("method", METHODS)
def test_nan_quantiles(method):
    x = values((9, 5), "float64", 4)
    x[:, 2] = np.nan
    g = gc.asarray(x)
    with np.testing.suppress_warnings() as quiet:
        quiet.filter(RuntimeWarning)
        for q in (0.25, [0.0, 0.6, 1.0]):
            for axis in (0, 1, None):
                near(gc.nanquantile(g, q, axis, method=method), np.nanquantile(x, q, axis, method=method))
                near(gc.quantile(g, q, axis, method=method), np.quantile(x, q, axis, method=method))
        near(gc.nanpercentile(g, 30, 0, method=method), np.nanpercentile(x, 30, 0, method=method))


@pytest.mark.parametrize("name", ["percentile", "quantile", "nanpercentile", "nanquantile", "nanmedian", "median"])
@pytest.mark.parametrize("shape", [(), (1,), (3,), (2, 1), (2, 3), (3, 2)], ids=str)
def test_results_are_spread_over_out(name, shape):
    """As ufuncs spread what they compute; the mean of `median` reduces, into what has its shape."""

    def run(xp, x, q):
        given = (xp.asarray(x),) if "median" in name else (xp.asarray(x), q)
        try:
            return np.asarray(getattr(xp, name)(*given, axis=0, out=xp.zeros(shape))).tolist()
        except ValueError:
            return "refused"

    for x in (np.arange(10.0), np.arange(12.0).reshape(4, 3)):
        for q in (0.25, [0.25, 0.5]):
            assert run(gc, x, q) == run(np, x, q)


def test_whole_quantiles_keep_integers():
    x = np.random.default_rng(7).integers(0, 99, (8, 3))
    for q in (0, 1, [0, 1]):
        same(gc.quantile(gc.asarray(x), q, 0), np.quantile(x, q, 0))


@pytest.mark.parametrize("axis", [0, -1, np.int64(1), (0, 1), (1, 0), (2, 0), (0, 1, 2)], ids=str)
def test_weights_along_axes(axis):
    rng = np.random.default_rng(31)
    x = rng.normal(size=(4, 5, 3))
    axes = axis if isinstance(axis, tuple) else (axis,)
    w = rng.integers(0, 9, [x.shape[i] for i in axes]) + 1
    for q in (0.5, [0.2, 0.7]):
        for keepdims in (False, True):
            got = gc.quantile(gc.asarray(x), q, axis, method="inverted_cdf", keepdims=keepdims, weights=gc.asarray(w))
            np.testing.assert_array_equal(got, np.quantile(x, q, axis, method="inverted_cdf", keepdims=keepdims, weights=w))
    for xp, a in ((np, x), (gc, gc.asarray(x))):
        with pytest.raises(TypeError, match="Axis must be specified when shapes of a and weights differ"):
            xp.quantile(a, 0.5, method="inverted_cdf", weights=w if w.ndim < 3 else w[0])
        with pytest.raises(ValueError, match="Shape of weights must be consistent"):
            xp.quantile(a, 0.5, axis, method="inverted_cdf", weights=np.ones(7))


def test_extremes_of_nothing_say_which():
    for xp in (np, gc):
        for x in (np.zeros(0), np.zeros(0, int), np.zeros((0, 3), "f4")):
            for name in ("min", "max"):
                with pytest.raises(ValueError, match=f"zero-size array to reduction operation f{name} which has no identity"):
                    getattr(xp, f"nan{name}")(xp.asarray(x), axis=0 if x.ndim == 2 else None)
        assert xp.nanmin(xp.zeros((0, 3)), axis=1).shape == (0,)


def test_quantile_weights_and_errors():
    x, w = np.random.default_rng(2).normal(size=(11, 3)), np.random.default_rng(3).integers(0, 4, (11, 3)).astype(float)
    for q in (0.0, 0.5, [0.2, 1.0]):
        near(gc.quantile(gc.asarray(x), q, 0, method="inverted_cdf", weights=gc.asarray(w)), np.quantile(x, q, 0, method="inverted_cdf", weights=w))
    for wrong in (lambda m, a: m.quantile(a, 1.5), lambda m, a: m.percentile(a, -1), lambda m, a: m.quantile(a, 0.5, method="bogus")):
        with pytest.raises(ValueError):
            wrong(np, x)
        with pytest.raises(ValueError):
            wrong(gc, gc.asarray(x))


def test_histogram():
    rng = np.random.default_rng(5)
    for x in (rng.normal(size=1000), rng.normal(size=500).astype("float32"), rng.integers(-5, 20, 300), rng.integers(0, 2, 50).astype(bool), np.zeros(0)):
        g = gc.asarray(x)
        w = rng.integers(0, 5, x.shape).astype("float64")
        for bins in (10, 1, 33, [-1, 0, 0.5, 4], np.array([0, 3, 9])):
            with np.testing.suppress_warnings() as quiet:
                quiet.filter(RuntimeWarning)
                quiet.filter(DeprecationWarning)
                for kw in ({}, {"density": True}, {"range": (-2, 2)}, {"weights": w}):
                    if kw.get("density") and (x.size == 0 or x.dtype == bool):
                        continue
                    got = gc.histogram(g, bins, **{k: gc.asarray(v) if k == "weights" else v for k, v in kw.items()})
                    want = np.histogram(x, bins, **kw)
                    near(got[0], want[0])
                    near(got[1], want[1])
                near(gc.histogram_bin_edges(g, bins), np.histogram_bin_edges(x, bins))
    x = rng.normal(size=400)
    for rule in ("auto", "fd", "doane", "scott", "rice", "sturges", "sqrt", "stone"):
        np.testing.assert_allclose(np.asarray(gc.histogram_bin_edges(gc.asarray(x), rule)), np.histogram_bin_edges(x, rule))
    for wrong in (lambda m: m.histogram([1.0], 0), lambda m: m.histogram([1.0], [2, 1]), lambda m: m.histogram([1.0], 3, (2, 1)),
                  lambda m: m.histogram([np.nan, 1.0]), lambda m: m.histogram([1.0], "sometimes")):
        with pytest.raises(ValueError):
            wrong(np)
        with pytest.raises(ValueError):
            wrong(gc)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
@pytest.mark.parametrize("bins", [1, 7, 1000])
def test_equal_bins_at_their_edges(bins, dtype):
    """Values on each edge and beside it, outside of the range, NaN and infinities: in the bins that NumPy puts them in."""
    x = (np.random.default_rng(7).standard_normal(500) * 9).astype(dtype)
    for limits in (None, (-1, 1.7), (x.min(), x.max())):
        edges = np.histogram(x, bins, limits)[1]
        y = np.concatenate([edges, np.nextafter(edges, edges.dtype.type(99)), np.nextafter(edges, edges.dtype.type(-99)), x.astype(edges.dtype)])
        y = np.concatenate([y, np.array([np.nan, np.inf, -np.inf], edges.dtype)])
        for data, ends in ((x, limits), (y, (edges[0], edges[-1]))):
            (got, at), (want, where) = gc.histogram(gc.asarray(data), bins, ends), np.histogram(data, bins, ends)
            same(got, want)
            same(at, where)


@pytest.mark.parametrize("dtype, top, bins", [("float64", 3e-310, 4), ("float32", 5e-39, 10), ("float64", 1.7e308, 3)])
def test_bins_of_extreme_ranges(dtype, top, bins):
    x = np.array([0, top / 3, top / 2, top], dtype)
    same(gc.histogram(gc.asarray(x), bins)[0], np.histogram(x, bins)[0])


def test_histograms_of_points():
    rng = np.random.default_rng(6)
    x, y = rng.normal(size=300), rng.normal(size=300)
    for bins in (5, (4, 7), [np.linspace(-2, 2, 5), 3]):
        for got, want in zip(gc.histogram2d(gc.asarray(x), gc.asarray(y), bins), np.histogram2d(x, y, bins)):
            near(got, want)
    sample = rng.normal(size=(200, 3))
    got, want = gc.histogramdd(gc.asarray(sample), (3, 4, 2), density=True), np.histogramdd(sample, (3, 4, 2), density=True)
    near(got[0], want[0])
    for a, b in zip(got[1], want[1]):
        near(a, b)


def test_interp():
    xp, fp = np.array([0.0, 1.0, 2.5, 4.0]), np.array([1.0, -1.0, np.inf, 3.0])
    x = np.array([[-1.0, 0.0, 0.3], [1.0, 2.5, 3.0], [4.0, 9.0, np.nan]])
    for kw in ({}, {"left": -7.0}, {"right": 5.0, "left": 2}, {"period": 3.0}):
        with np.errstate(all="ignore"):
            near(gc.interp(gc.asarray(x), gc.asarray(xp), gc.asarray(fp), **kw), np.interp(x, xp, fp, **kw))
    near(gc.interp(gc.asarray(x), gc.asarray(xp[:1]), gc.asarray(fp[:1])), np.interp(x, xp[:1], fp[:1]))
    near(gc.interp(2.5, [1, 2, 3], [3, 2, 0]), np.asarray(np.interp(2.5, [1, 2, 3], [3, 2, 0])))
    for wrong in (lambda m: m.interp(0, [1, 2], [1]), lambda m: m.interp(0, [], []), lambda m: m.interp(0, [1], [1], period=0)):
        with pytest.raises(ValueError):
            wrong(np)
        with pytest.raises(ValueError):
            wrong(gc)


@pytest.mark.parametrize("size", [1, 2, 9, 700, 20_000])
@pytest.mark.parametrize("share", [0, 0.3, 1])
def test_what_is_there_of_a_vector_has_its_own_quantiles(size, share):
    rng = np.random.default_rng(size)
    x = rng.normal(size=size)
    x[rng.random(size) < share] = np.nan
    g = gc.asarray(x)
    for keepdims in (False, True):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results = [(xp.nanpercentile(a, q, keepdims=keepdims), xp.nanmedian(a, keepdims=keepdims)) for xp, a in ((gc, g), (np, x)) for q in (30, [10, 50, 99.5])]
        for got, want in zip(results[:2], results[2:]):
            for ours, theirs in zip(got, want):
                assert ours.shape == theirs.shape
                np.testing.assert_allclose(np.asarray(ours), theirs, rtol=1e-15)
        if not np.isnan(x).all():
            assert np.array_equal(gc.nanquantile(g, 0.3), gc.quantile(gc.asarray(x[x == x]), 0.3))
    if share == 1:
        with pytest.warns(RuntimeWarning, match="All-NaN slice encountered"):
            gc.nanmedian(g).item()


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("kind", ["float16", "float32", "float64", "int64"])
def test_quantiles_in_arrays_have_their_dtype(method, kind):
    """Places and weights are computed in the dtype of q, and so is the result."""
    shares = np.array([0, 1] if kind == "int64" else [0.0, 0.4, 0.7, 1.0], kind)
    for dtype in ("float16", "float32", "float64", "int32"):
        x = np.array([15, 20, 35, 40, 50], dtype)
        for q in (shares, shares[1], shares[1:2, None]):
            for name, factor in (("quantile", 1), ("percentile", 100), ("nanquantile", 1)):
                theirs = np.asarray(q * np.array(factor, kind))
                got, want = getattr(gc, name)(gc.asarray(x), gc.asarray(theirs), method=method), getattr(np, name)(x, theirs, method=method)
                same(got, want)


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8", "u1", "?"])
@pytest.mark.parametrize("method", ["linear", "lower", "nearest", "midpoint", "hazen", "inverted_cdf", "averaged_inverted_cdf", "closest_observation"])
def test_many_quantiles_are_those_of_each(method, dtype):
    """Also beside NaN and infinities, of rows, and of quantiles in narrow floats."""
    if dtype == "?" and method not in ("lower", "nearest", "inverted_cdf", "closest_observation"):
        return
    x = (np.random.default_rng(3).random((5, 40)) * 9).astype(dtype)
    if x.dtype.kind == "f":
        x[1, 3], x[2, 4], x[3, :2] = np.nan, np.inf, [-np.inf, np.inf]
    for q in (np.linspace(0, 1, 21), np.linspace(0, 1, 9).astype("f4"), np.linspace(0, 1, 12).reshape(3, 4)):
        for a, axis in ((x[0], None), (x, 1), (x, 0), (x.T[:, ::-1], 0), (x[:3], (0, 1))):
            for pend in (False, True):
                y = gc.asarray(a) + 0 if pend and dtype != "?" else gc.asarray(a)
                got = gc.quantile(y, q, axis=axis, method=method)
                each = [gc.quantile(y, v, axis=axis, method=method) for v in q.ravel()]
                want = np.stack([np.asarray(e) for e in each]).reshape(got.shape)
                exact.assert_same(got, want)
                if not pend and np.isfinite(a).all():
                    exact.assert_same(got, np.quantile(a, q, axis=axis, method=method))


@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "F", "D", "i8", "u1", "?"])
@pytest.mark.parametrize("computed", [True, False])
def test_distinct_values_and_what_they_come_with(dtype, computed):
    x = (np.random.default_rng(4).random((6, 20)) * 6 - 2 * (dtype != "u1")).round().astype(dtype)
    if x.dtype.kind in "fc":
        x[1, 2:5], x[2, 3], x[3, :2] = np.nan, -np.inf, [0.0, -0.0]
    for part in (x, x[0], x.T[::2], x[:1, :1], x[:0], x[1, 2:4]):
        y = gc.asarray(part) if computed else gc.concatenate([gc.asarray(part), gc.asarray(part)[:0]])
        for name in ("unique_all", "unique_counts", "unique_inverse", "unique_values"):
            if name == "unique_inverse" and (part != part).any():  # NumPy's order of NaN is that of its sort
                continue
            got, want = getattr(gc, name)(y), getattr(np, name)(part)
            for g, w in zip(*([r] if name == "unique_values" else r for r in (got, want)), strict=True):
                if name == "unique_values":  # NumPy sorts none
                    w = np.sort(w)
                np.testing.assert_array_equal(np.asarray(g), w, strict=True)
        for equal_nan in (True, False):
            got, want = (xp.unique(a, True, True, True, equal_nan=equal_nan) for xp, a in ((gc, y), (np, part)))
            for g, w in zip(got, want, strict=True):
                np.testing.assert_array_equal(np.asarray(g), w, strict=True)
            got, want = (xp.unique(a, return_counts=True, equal_nan=equal_nan) for xp, a in ((gc, y), (np, part)))
            for g, w in zip(got, want, strict=True):
                np.testing.assert_array_equal(np.asarray(g), w, strict=True)
