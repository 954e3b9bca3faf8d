"""Functions of few elements that are one call instead of a recording of many operations: NumPy's values, dtypes and shapes, in every turn of a loop."""

import warnings

import graphc as gc
import numpy as np
import pytest
from support.loops import KINDS, assert_same, of_kind

pytestmark = pytest.mark.graphc_only

RNG = np.random.default_rng(3)
X, Y, V, W = RNG.random(12), RNG.random(12), RNG.random((5, 3)), RNG.random((5, 3))
ZEROS = np.array([0.0, -0.0, 1.0, np.nan, -0.0, np.nan, 0.5])
LABELS = np.array([2, 0, 1, 2, 2, -1])


def each(found, wanted, rtol=0.0):
    if isinstance(wanted, (tuple, list)):
        assert type(found) is type(wanted) and len(found) == len(wanted)
        for f, w in zip(found, wanted):
            each(f, w, rtol)
    else:
        assert np.shape(found) == np.shape(wanted)
        assert_same(found, wanted, rtol)


CALLS = {
    "unique": lambda m, a: [m.unique(a(v), **named) for v in (X, V, LABELS, LABELS * 0.5, X.astype("f4"), np.array([0.0, 0.0, 2.0])) for named in ({}, {"return_index": True}, {"return_inverse": True}, {"return_counts": True}, {"return_index": True, "return_inverse": True, "return_counts": True})],
    "unique rows": lambda m, a: [m.unique(a(np.tile(LABELS, (3, 1))), axis=0), m.unique(a(V), axis=1, return_index=True)],
    "isin": lambda m, a: [m.isin(v, a(t), invert=i) for v in (3, 1, 0.5, True, np.int8(2), np.float64(0.25)) for t in (LABELS, LABELS * 0.5, LABELS.astype("u1")) for i in (False, True)],
    "isin of one": lambda m, a: [m.isin(a(np.array([[2]])), a(LABELS)), m.isin(a(np.array([np.nan])), a(ZEROS)), m.isin([1], [1.0, 2.0])],
    "diff": lambda m, a: [m.diff(a(X), n=2), m.diff(a(V), axis=0), m.diff(a(V), n=3, axis=1), m.diff(a(LABELS), prepend=0, append=[1, 2]), m.diff(a(LABELS > 0)), m.diff(a(X), n=0), m.diff(a(LABELS.astype("u1")))],
    "cross": lambda m, a: [m.cross(a(V), a(W[0])), m.cross(a(V[0]), a(W)), m.cross(a(V.T), a(W.T), axis=0), m.cross(a(LABELS[:3]), a(V)), m.cross(a(V), a(W), axisc=0), m.cross(a(V), [1, 2, 3])],
    "indices": lambda m, a: [m.indices((3, 4)), m.indices((40, 50)), m.indices((2, 3), dtype=float), m.indices((3, 4), "f4"), m.indices((0, 3)), m.indices((2,), sparse=True), m.fromfunction(lambda i, j: i + j, (3, 4)), m.indices([2, 2], dtype=bool)],
    "grids": lambda m, a: [m.mgrid[0:3, 0:4], m.mgrid[0:1:5j, 0:1:3j], m.ogrid[0:3, 0:2:0.5], m.mgrid[0:0, 0:2], m.mgrid[-1:1:4j], m.mgrid[0:3:2, 1:2:0.25], m.mgrid[3:0:-1, 0:2], m.mgrid[0:1:1j, 0:2], m.mgrid[0:2.5], m.ogrid[0:2, 0:3, 0:4], m.mgrid[: a(np.array(3)), 0:2]],
    "polynomials": lambda m, a: [m.poly([1, 2, 3]), m.poly(a(X)), m.poly([0.5]), m.poly([]), m.poly([1.5, -0.0, 2]), m.polyint([1, 2, 3]), m.polyint(a(X), 2, [1, 2]), m.polyint(a(LABELS), k=3), m.polyder([1, 2, 3]), m.polyder(a(X), 3), m.polyder(a(LABELS)), m.polyder([5])],
    "products": lambda m, a: [m.linalg.multi_dot([a(v) for v in chain]) for chain in ((V.T, V), (V.T, V, W.T), (V[0], W.T, V, W[1]), (V, W.T, V[:, 0]), (V[0], W.T, V[:, 1]))],
    "pad": lambda m, a: [m.pad(a(X), (3, 0)), m.pad(a(X), (0, 0)), m.pad(a(V), ((1, 2), (0, 3))), m.pad(a(V), (1, 2), mode="edge"), m.pad(a(V), ((1, 0), (2, 1)), mode="reflect"), m.pad(a(V), [(1, 0), (2, 1)], constant_values=5)],
    "calls": lambda m, a: [m.vectorize(f)(a(v)) for f in (lambda x: x * 2 + 1, lambda x: 1 if x > 0.5 else 0, lambda x: x > 0.5, lambda x: (x, 1), lambda x: 2.0 if x > 0.5 else 1, lambda x: complex(x)) for v in (X, V, LABELS, X[:1])],
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", CALLS)
def test_few_elements(name, kind):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        wanted = CALLS[name](np, np.asarray)
        with of_kind(kind):
            for _ in range(3):
                each(CALLS[name](gc, gc.asarray), wanted, 1e-14 if name == "products" else 0.0)


@pytest.mark.parametrize("kind", KINDS)
def test_unique_zeros_and_nans(kind):
    with of_kind(kind):
        for _ in range(3):
            for named in ({}, {"equal_nan": False}, {"return_index": True}, {"return_inverse": True, "return_counts": True}):
                found, wanted = gc.unique(gc.asarray(ZEROS), **named), np.unique(ZEROS, **named)
                for f, w in zip(found if named.keys() - {"equal_nan"} else [found], wanted if named.keys() - {"equal_nan"} else [wanted]):
                    np.testing.assert_array_equal(np.asarray(f), w)


def test_wide_pads_are_refused_as_before():
    for wrong in ((-1, 2), ((1, -2), (0, 0)), ((1, 2), (3, 4), (5, 6)), (1.0, 2)):
        with pytest.raises((ValueError, TypeError)) as theirs:
            np.pad(V, wrong)
        with pytest.raises(theirs.type):
            gc.pad(gc.asarray(V), wrong)


def test_slices_of_flat():
    for base in (V, LABELS, np.arange(6).astype("i1"), V.T, V[:, ::2], LABELS > 0):
        for key in (slice(None, None, 2), slice(None, None, -1), slice(1, 3), ...):
            for value in (2, 2.5, True, [1, 0]):
                x, a = base.copy(), gc.asarray(base.copy())
                if isinstance(value, float) and base.dtype.kind in "iub":
                    continue
                x.flat[key] = value
                a.flat[key] = value
                np.testing.assert_array_equal(np.asarray(a), x)
                assert_same(a.flat[key], x.flat[key])
    a = gc.zeros((3, 4))
    part = a.flat[::5]
    a.flat[::5] = 1
    assert part.tolist() == [0, 0, 0] and a.sum() == 3 and a[1, 1] == 1
    small = gc.zeros(4, "i1")
    with pytest.raises(OverflowError):
        small.flat[:2] = 300
    with pytest.raises(OverflowError):
        np.zeros(4, "i1").flat[:2] = 300


def test_python_functions_as_ufuncs():
    for m, a in ((np, np.asarray), (gc, gc.asarray)):
        add, both = m.frompyfunc(lambda x, y: x + y, 2, 1), m.frompyfunc(divmod, 2, 2)
        made = add(a(X), a(Y))
        assert type(made) is np.ndarray and made.dtype == object and all(type(v) is float for v in made)
        assert made.tolist() == [x + y for x, y in zip(X.tolist(), Y.tolist())]
        high, low = both(a(LABELS), 2)
        assert high.tolist() == [1, 0, 0, 1, 1, -1] and low.tolist() == [0, 0, 1, 0, 0, 1] and high.dtype == object
        assert add(1, 2) == 3 and add(a(X)[0], 1) == X[0] + 1
        with pytest.raises(ZeroDivisionError):
            both(a(LABELS), 0)


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
def test_operators_of_classes():
    class Own(np.ndarray):
        pass

    own, x = V[:3].view(Own), W[0]
    a = gc.asarray(x)
    for call in (lambda v: own @ v, lambda v: v @ own, lambda v: v @ np.matrix(V[:3]), lambda v: v * own, lambda v: own - v):
        found, wanted = call(a), call(x)
        assert type(found) is type(wanted)
        np.testing.assert_allclose(np.asarray(found), np.asarray(wanted), rtol=1e-12)
    with pytest.raises(ValueError):
        a[:2] @ own
    with pytest.raises(ValueError):
        x[:2] @ own


@pytest.mark.parametrize("kind", KINDS)
def test_results_of_calls_in_dtypes(kind):
    with of_kind(kind):
        for otypes in ([float], [int], "d", "l", [np.float32], [bool], [complex], [object], ["f8"], "dl", [np.int64]):
            function = (lambda x: (x + 1, 2)) if len(otypes) == 2 else (lambda x: x + 1)
            for v in (X, V, LABELS):
                found, wanted = gc.vectorize(function, otypes=otypes)(gc.asarray(v)), np.vectorize(function, otypes=otypes)(v)
                each(found, wanted)


@pytest.mark.parametrize("size", [5, 9000])
def test_vectors_in_borders(size):
    for x in (np.arange(size) * 0.5, np.arange(size).astype("i2"), np.arange(size) % 2 == 0, np.arange(2 * size)[::2], np.arange(size)[::-1]):
        for mode in ("constant", "edge", "wrap", "reflect", "symmetric"):
            for widths in (2, (0, 3), (3, 0), (0, 0), (4, 4)):
                each(gc.pad(gc.asarray(x), widths, mode=mode), np.pad(x, widths, mode=mode))
    x = gc.arange(5.0)
    for mode in ("constant", "edge", "wrap"):
        made = gc.pad(x, (0, 0), mode=mode)
        made[0] = 9
        assert x[0] == 0
    each(gc.pad(gc.arange(5), 2, constant_values=2.7), np.pad(np.arange(5), 2, constant_values=2.7))


def test_coefficients_of_polynomials():
    for c in ([1, 2, 3], [0, 0, 1.5, 2], [0, 0], [np.nan, 1], [2], 3, [], [True, False]):
        for v in (X, LABELS, 0.5):
            found, wanted = gc.poly1d(c), np.poly1d(c)
            each(found.coeffs, wanted.coeffs)
            each(found(gc.asarray(v)) if np.ndim(v) else found(v), wanted(v))
            each(gc.polyval(c, gc.asarray(v)), np.polyval(c, v)) if np.ndim(c) else None
    c, d = gc.arange(1.0, 4.0), np.arange(1.0, 4.0)
    p, q = gc.poly1d(c), np.poly1d(d)
    c[1], d[1] = 7, 7
    each(p.coeffs, q.coeffs)
    p.coeffs[0], q.coeffs[0] = 5, 5
    each(c, d)


def test_choices_of_many():
    values, chances = RNG.random(5000), np.full(5000, 1 / 5000)

    def program(m):
        rng, x = m.random.default_rng(7), m.asarray(values)
        made = [rng.choice(x, 5, replace=False), rng.choice(x), rng.choice(x, (2, 3)), rng.choice(x, 4, p=chances), rng.choice(x, 4, False, chances, 0, False), rng.choice(x, 0)]
        made += [rng.choice(x, size=2, axis=0), rng.choice(x, replace=False), rng.choice(m.asarray(LABELS.repeat(900)), 3, replace=False)]
        for wrong in (lambda: rng.choice(x, 6000, replace=False), lambda: rng.choice(x, 3, p=[0.1, 0.9])):
            with pytest.raises(ValueError):
                wrong()
        return [*made, rng.random()]

    for found, wanted in zip(program(gc), program(np)):
        assert np.shape(found) == np.shape(wanted) and np.asarray(found).dtype == np.asarray(wanted).dtype
        np.testing.assert_array_equal(np.asarray(found), wanted)


@pytest.mark.parametrize("kind", KINDS)
def test_distinct_elements_by_name(kind):
    with of_kind(kind):
        for v in (LABELS, X, V, np.tile(LABELS, (2, 3)), LABELS > 0, np.array([1.0, np.nan, np.nan]), np.zeros(0), np.array(3)):
            for name in ("unique_all", "unique_counts", "unique_inverse"):
                found, wanted = getattr(gc, name)(gc.asarray(v)), getattr(np, name)(v)
                assert type(found).__name__ == type(wanted).__name__ and found._fields == wanted._fields
                for f, w in zip(found, wanted):
                    assert_same(f, w)
        assert gc.unique_counts([3, 1, 3]).counts.tolist() == [1, 2]


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_said_of_polynomials_and_grids(kind):
    big, infinite = np.array([1e308, -1e308, 1.0]), np.array([1 + 1j, np.inf + 0j])
    for call in (lambda m, a: m.polyder(a(big)), lambda m, a: m.polyint(a(infinite))):
        said = []
        for m in (np, gc):
            with of_kind(kind), warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                np.asarray(call(m, m.asarray))
            said.append([str(w.message) for w in told])
        assert said[0] == said[1] and said[0]
    for wrong in (lambda m: m.poly(3), lambda m: m.mgrid[3:0, 0:2], lambda m: m.mgrid[0:3, 0.0:1.0:-1]):
        with pytest.raises((ValueError, TypeError)) as theirs:
            wrong(np)
        with pytest.raises(theirs.type):
            wrong(gc)
    each(gc.ogrid[3:0, 0:2], np.ogrid[3:0, 0:2])
    for m in (np, gc):
        with pytest.warns(DeprecationWarning, match="2-dimensional vectors") as told:
            m.cross([1, 2], [3, 4])
        assert len(told) == 1 and told[0].filename == __file__


@pytest.mark.parametrize("name", ["fmax", "fmin", "maximum", "minimum"])
def test_extremes_beside_single_results(name):
    """A single result has a dtype, which a number has not."""
    for dtype in ("float32", "float64"):
        for other in ("float32", "float64", "int64"):
            a, b = np.arange(-3, 4).astype(dtype), np.arange(2, 5).astype(other)
            x, y = gc.asarray(a), gc.asarray(b)
            for ours, theirs in ((y.min(), b.min()), (y[0], b[0]), (2, 2), (2.5, 2.5), (np.float64(2), np.float64(2)), (-0.0, -0.0)):
                for got, want in ((getattr(gc, name)(x, ours), getattr(np, name)(a, theirs)), (getattr(gc, name)(ours, x), getattr(np, name)(theirs, a))):
                    assert got.dtype == want.dtype
                    np.testing.assert_array_equal(np.asarray(got), want)
