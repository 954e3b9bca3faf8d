"""Polynomials and convolutions against NumPy."""

import graphc as gc
import numpy as np
import pytest


def near(got, want, scale=50):
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype and got.shape == want.shape, (got.dtype, want.dtype, got.shape, want.shape)
    eps = np.finfo(want.dtype).eps if want.dtype.kind in "fc" else 0
    np.testing.assert_allclose(got, want, rtol=scale * eps, atol=scale * eps * np.abs(want).max(initial=1))


@pytest.mark.parametrize("dtype", ["bool", "int8", "int64", "uint16", "float32", "float64"])
def test_convolve_and_correlate(dtype):
    rng = np.random.default_rng(0)
    for n, m in ((1, 1), (5, 1), (7, 3), (3, 7), (6, 6), (4, 2), (2, 5), (300, 150)):
        a, v = (rng.integers(0, 2 if dtype == "bool" else 4, k).astype(dtype) for k in (n, m))
        for mode in ("full", "same", "valid"):
            near(gc.convolve(gc.asarray(a), gc.asarray(v), mode), np.convolve(a, v, mode))
            near(gc.correlate(gc.asarray(a), gc.asarray(v), mode), np.correlate(a, v, mode))
    for f in ("convolve", "correlate"):
        for wrong in (lambda m, f=f: getattr(m, f)([], [1]), lambda m, f=f: getattr(m, f)([1], [1], mode="most")):
            with pytest.raises(ValueError):
                wrong(np)
            with pytest.raises(ValueError):
                wrong(gc)


def test_arithmetic():
    a, b = np.array([1.0, -3.0, 2.0, 5.0]), np.array([2.0, 1.0])
    ga, gb = gc.asarray(a), gc.asarray(b)
    for name in ("polyadd", "polysub", "polymul"):
        near(getattr(gc, name)(ga, gb), getattr(np, name)(a, b))
        near(getattr(gc, name)(gb, ga), getattr(np, name)(b, a))
    for u, v in ((a, b), (b, a), (np.convolve(a, b), b)):
        for got, want in zip(gc.polydiv(gc.asarray(u), gc.asarray(v)), np.polydiv(u, v)):
            near(got, want)
    for m in (0, 1, 2, 5):
        near(gc.polyder(ga, m), np.polyder(a, m))
        near(gc.polyint(ga, m), np.polyint(a, m))
    near(gc.polyint(ga, 2, [3, 4]), np.polyint(a, 2, [3, 4]))


@pytest.mark.parametrize("dtype", ["?", "i1", "u1", "i8", "f2", "f4", "f8", "c8", "c16"])
def test_derivatives_of_any_dtype_and_length(dtype):
    for size in (0, 1, 2, 5, 300):
        host = np.arange(size).astype(dtype)
        for m in (0, 1, 2):
            for name in ("polyder", "polyint"):
                got, want = np.asarray(getattr(gc, name)(gc.array(host), m)), getattr(np, name)(host, m)
                assert got.dtype == want.dtype and np.array_equal(got, want), (name, size, m)


def test_roots():
    for p in ([1, -6, 11, -6], [0, 0, 2, -3, 1, 0, 0], [1.0, 2.0], [5.0], [0, 0], []):
        got, want = np.asarray(gc.roots(gc.asarray(p, dtype="float64"))), np.roots(np.asarray(p, "float64"))
        near(np.sort(got), np.sort(want), 1e5)
    near(gc.poly(gc.asarray([1.0, -2.0, 0.5])), np.poly([1.0, -2.0, 0.5]))
    near(gc.poly(gc.asarray([[2.0, 1.0], [1.0, 3.0]])), np.poly([[2.0, 1.0], [1.0, 3.0]]), 1e3)


def test_polyfit():
    rng = np.random.default_rng(2)
    x = np.linspace(-1, 2, 30)
    y = 1 + 2 * x - x**3 + rng.normal(size=30) / 10
    gx, gy = gc.asarray(x), gc.asarray(y)
    w = rng.random(30)
    for deg in (0, 1, 3, 5):
        near(gc.polyfit(gx, gy, deg), np.polyfit(x, y, deg), 1e4)
        near(gc.polyfit(gx, gy, deg, w=gc.asarray(w)), np.polyfit(x, y, deg, w=w), 1e4)
        for scaled in (True, "unscaled"):
            for got, want in zip(gc.polyfit(gx, gy, deg, cov=scaled), np.polyfit(x, y, deg, cov=scaled)):
                near(got, want, 1e5)
    two = np.stack([y, 2 * y], axis=1)
    near(gc.polyfit(gx, gc.asarray(two), 2), np.polyfit(x, two, 2), 1e4)
    got, want = gc.polyfit(gx, gy, 2, full=True), np.polyfit(x, y, 2, full=True)
    near(got[0], want[0], 1e4)
    assert got[2] == want[2] and got[4] == want[4] and type(got[4]) is np.float64
    for wrong in (lambda m: m.polyfit([1, 2], [1], 1), lambda m: m.polyfit([], [], 1), lambda m: m.polyfit([[1]], [1], 1)):
        with pytest.raises(TypeError):
            wrong(np)
        with pytest.raises(TypeError):
            wrong(gc)


@pytest.mark.parametrize("dtype", ["int64", "float32", "float64", "complex128"])
def test_series_of_small_arrays_are_numpys(dtype):
    c, d, x = np.array([3, 1, 2, 5]).astype(dtype), np.array([2, 7, 1]).astype(dtype), (np.arange(6) / 4).astype(dtype).reshape(2, 3)
    for module, short in (("polynomial", "poly"), ("chebyshev", "cheb"), ("legendre", "leg"), ("laguerre", "lag"), ("hermite", "herm"), ("hermite_e", "herme")):
        ours, theirs = getattr(gc.polynomial, module), getattr(np.polynomial, module)
        for name in ("add", "sub", "mul", "div", "der", "int", "roots", "companion", "val", "vander", "line"):
            f, g = getattr(ours, short + name), getattr(theirs, short + name)
            args = {"val": (x, c), "vander": (x, 3), "line": (2, 3)}.get(name, (c, d) if name in ("add", "sub", "mul", "div") else (c,))
            expected = g(*args)
            for _ in range(2):
                made = f(*[gc.asarray(a) if isinstance(a, np.ndarray) else a for a in args])
                for m, e in zip(made if isinstance(made, tuple) else [made], expected if isinstance(expected, tuple) else [expected], strict=True):
                    assert gc.isscalar(m) or isinstance(m, gc.Array)
                    assert m.dtype == e.dtype
                    np.testing.assert_allclose(np.asarray(m), e, rtol=1e-6, atol=1e-12)
        assert f.__name__.startswith(short) and f.__doc__ == g.__doc__
        with pytest.raises(ValueError):
            getattr(ours, short + "add")(gc.ones((2, 2)), gc.ones(2))


def test_poly_of_half_floats_is_of_float64():
    for dtype in ("f2", "f4", "f8", "i4", "u1", "c8"):
        x = np.arange(4).astype(dtype)
        want, found = np.poly(x), gc.poly(gc.asarray(x))
        assert found.dtype == want.dtype and np.allclose(np.asarray(found), want)
