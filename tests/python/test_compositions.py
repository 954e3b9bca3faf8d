"""NumPy's functions that graphc writes as formulas over its operations, call by call against NumPy."""

import operator

import graphc as gc
import numpy as np
import pytest
from support import exact

RNG = np.random.default_rng(12)
X = np.arange(24.0).reshape(2, 3, 4)
M = np.arange(12.0).reshape(3, 4) - 5
V = np.array([3.0, -1.0, 4.5, 0.0, -0.0, 2.0])
I = np.array([[7, -3, 5], [-8, 2, 6]])  # noqa: E741
R = RNG.normal(size=(5, 7))
N = np.where(RNG.random((5, 7)) < 0.3, np.nan, R)
SPECIAL = np.array([np.nan, np.inf, -np.inf, -0.0, 0.0, 1.5, -2.5, 1e300])

# Equal bits.
EXACT = {
    "atleast_1d": lambda xp: xp.atleast_1d(3.0),
    "atleast_2d": lambda xp: xp.atleast_2d(V, 3),
    "atleast_3d": lambda xp: xp.atleast_3d(V, M, X, 1.0),
    "vstack": lambda xp: xp.vstack([V, V]),
    "vstack matrices": lambda xp: xp.vstack((M, M[:1])),
    "hstack": lambda xp: xp.hstack([V, V[:2]]),
    "hstack matrices": lambda xp: xp.hstack([M, M[:, :1]]),
    "dstack": lambda xp: xp.dstack([M, M]),
    "dstack vectors": lambda xp: xp.dstack([V, V]),
    "column_stack": lambda xp: xp.column_stack([V, np.stack([V, V], 1)]),
    "block": lambda xp: xp.block([[M, M[:, :1]], [M[:1], M[:1, :1]]]),
    "block of numbers": lambda xp: xp.block([[1, 2], [3, 4]]),
    "block of vectors": lambda xp: xp.block([V, V]),
    "array_split": lambda xp: xp.array_split(V, 4),
    "array_split places": lambda xp: xp.array_split(X, [1, 2], axis=2),
    "split": lambda xp: xp.split(X, 2, axis=2),
    "hsplit": lambda xp: xp.hsplit(M, [1, 3]),
    "hsplit vector": lambda xp: xp.hsplit(V, 3),
    "vsplit": lambda xp: xp.vsplit(M, 3),
    "dsplit": lambda xp: xp.dsplit(X, 2),
    "repeat": lambda xp: xp.repeat(M, 3),
    "repeat axis": lambda xp: xp.repeat(X, 2, axis=1),
    "repeat each": lambda xp: xp.repeat(M, [2, 0, 1], axis=0),
    "repeat none": lambda xp: xp.repeat(V, 0),
    "append": lambda xp: xp.append(M, V),
    "append axis": lambda xp: xp.append(M, M[:1], axis=0),
    "delete": lambda xp: xp.delete(V, -2),
    "delete several": lambda xp: xp.delete(M, [0, 2, -1], axis=1),
    "delete slice": lambda xp: xp.delete(V, slice(None, None, 2)),
    "delete all": lambda xp: xp.delete(M, slice(None), axis=0),
    "insert": lambda xp: xp.insert(V, 2, 9.0),
    "insert column": lambda xp: xp.insert(M, 1, [1, 2, 3], axis=1),
    "insert row": lambda xp: xp.insert(M, -1, 7, axis=0),
    "insert several": lambda xp: xp.insert(V, 6, [1, 2]),
    "rot90": lambda xp: [xp.rot90(M, k) for k in range(-1, 5)],
    "rot90 axes": lambda xp: [xp.rot90(X, k, (2, 0)) for k in range(4)],
    "fliplr": lambda xp: xp.fliplr(M),
    "flipud": lambda xp: xp.flipud(X),
    "rollaxis": lambda xp: [xp.rollaxis(X, a, s) for a in range(3) for s in range(4)],
    "indices": lambda xp: xp.indices((2, 3)),
    "indices sparse": lambda xp: xp.indices((2, 3), sparse=True),
    "diagonal": lambda xp: [xp.diagonal(M, k) for k in range(-2, 4)],
    "diagonal layouts": lambda xp: [xp.diagonal(xp.asarray(M)[::-1], k) for k in (-1, 0, 2)] + [xp.diagonal(xp.asarray(X)[..., ::2], 1, 0, 2)],
    "diagonal axes": lambda xp: xp.diagonal(X, 1, 2, 1),
    "diag": lambda xp: [xp.diag(V[:3], k) for k in (-2, 0, 1)] + [xp.diag(M, 1)],
    "diagflat": lambda xp: xp.diagflat(M[:2, :2], 1),
    "trace": lambda xp: xp.trace(M, 1),
    "trace axes": lambda xp: xp.trace(X, 0, 1, 2),
    "identity": lambda xp: xp.identity(3, dtype="int32"),
    "tri": lambda xp: xp.tri(3, 5, 1),
    "vander": lambda xp: [xp.vander(I[0]), xp.vander(V, 3, increasing=True)],
    "inner": lambda xp: xp.inner(I, I),
    "vdot": lambda xp: xp.vdot(I, I),
    "kron": lambda xp: [xp.kron(I, M), xp.kron(V, M), xp.kron(2.0, V)],
    "cross": lambda xp: [xp.cross(I, I[::-1]), xp.cross(I[0], I), xp.cross(X.transpose(0, 2, 1), M.T, axis=-1)],
    "ix_": lambda xp: xp.ix_([1, 2], [3, 4, 5]),
    "mgrid": lambda xp: [xp.mgrid[0:3, 1:4:2], xp.mgrid[0:1:5j], xp.mgrid[-1:1:3j, 0:2]],
    "ogrid": lambda xp: xp.ogrid[0:3, 0:1:4j],
    "fromfunction": lambda xp: xp.fromfunction(lambda i, j: i * 10 + j, (2, 3)),
    "diff": lambda xp: [xp.diff(V), xp.diff(X, 2, axis=0), xp.diff(I, axis=0, prepend=0), xp.diff(V, append=[1, 2])],
    "diff bool": lambda xp: xp.diff(V > 1),
    "diff unsigned": lambda xp: xp.diff(np.array([3, 1, 250], "uint8")),
    "ediff1d": lambda xp: xp.ediff1d(M),
    "gradient": lambda xp: xp.gradient(V),
    "gradient axes": lambda xp: xp.gradient(R, 0.5),
    "gradient edge": lambda xp: xp.gradient(R, 2.0, axis=1, edge_order=2),
    "polyval": lambda xp: xp.polyval([2.0, -1.0, 0.5], V),
    "deg2rad": lambda xp: xp.deg2rad(R * 90),
    "rad2deg": lambda xp: xp.rad2deg(R),
    "degrees": lambda xp: xp.degrees(I),
    "fix": lambda xp: xp.fix(R * 3),
    "rint": lambda xp: xp.rint(R * 3),
    "fabs": lambda xp: xp.fabs(I),
    "fmod": lambda xp: [xp.fmod(R * 5, 0.75), xp.fmod(I, [3, -4, 5]), xp.fmod(np.array([-0.0, 0.0, -6.0]), 3.0)],
    "fmod special": lambda xp: xp.fmod(SPECIAL, 2.0),
    "fmod lowest": lambda xp: xp.fmod(np.array([-128, 127, -7], "int8"), np.array([3, -5, 7], "int8")),
    "fmax": lambda xp: [xp.fmax(SPECIAL, np.roll(SPECIAL, 3)), xp.fmax(I, 2), xp.fmax(N, 0.0)],
    "fmin": lambda xp: [xp.fmin(SPECIAL, np.roll(SPECIAL, 3)), xp.fmin(N.astype("f4"), np.float32(0.5))],
    "positive": lambda xp: xp.positive(I),
    "divmod": lambda xp: xp.divmod(I, 3),
    "heaviside": lambda xp: xp.heaviside(SPECIAL, 0.5),
    "isneginf": lambda xp: xp.isneginf(SPECIAL),
    "isposinf": lambda xp: xp.isposinf(SPECIAL),
    "nan_to_num": lambda xp: [xp.nan_to_num(SPECIAL), xp.nan_to_num(SPECIAL.astype("f4"), nan=3, posinf=1, neginf=-1)],
    "isclose": lambda xp: [xp.isclose(SPECIAL, SPECIAL), xp.isclose(SPECIAL, SPECIAL, equal_nan=True)],
    "isclose near": lambda xp: xp.isclose(R, R + [0, 1e-9, 1e-6, 1e-5, 1e-4, 1e-3, 1e-2]),
    "isclose int": lambda xp: xp.isclose(I, I + 1, rtol=0.2),
    "allclose": lambda xp: [np.asarray(xp.allclose(R, R)), np.asarray(xp.allclose(R, R + 1))],
    "select": lambda xp: xp.select([V > 2, V < 0], [V * 10, -V], 7),
    "ptp": lambda xp: [xp.ptp(R), xp.ptp(R, axis=0), xp.ptp(I, axis=1, keepdims=True)],
    "nanmax": lambda xp: [xp.nanmax(N), xp.nanmax(N, axis=0), xp.nanmax(I, axis=1)],
    "nanmin": lambda xp: [xp.nanmin(N), xp.nanmin(N, axis=1, keepdims=True)],
    "einsum trace": lambda xp: xp.einsum("ii", I[:, :2]),
    "einsum int": lambda xp: [xp.einsum("ij,kj->ik", I, I), xp.einsum("ij,ij->i", I, I), xp.einsum("ij->ji", I)],
    "einsum three": lambda xp: xp.einsum("ij,jk,kl->il", I, I.T, I),
    "einsum batch": lambda xp: xp.einsum("...ij,...jk->...ik", np.arange(12).reshape(2, 2, 3), np.arange(12).reshape(2, 3, 2)),
    "einsum outer": lambda xp: xp.einsum("i,j", I[0], I[1]),
    "einsum sum": lambda xp: [xp.einsum("ijk->k", np.arange(24).reshape(2, 3, 4)), xp.einsum("ij->", I)],
    "einsum diagonal": lambda xp: xp.einsum("iij->ij", np.arange(12).reshape(2, 2, 3)),
    "einsum one": lambda xp: xp.einsum("ij,ij->j", I, I[:1]),
    "einsum left over": lambda xp: xp.einsum("ij,k->k", I, I[0]),
}  # fmt: skip

# Sums and elementary functions in another order or to another last place than NumPy's.
CLOSE = {
    "trapezoid": lambda xp: [xp.trapezoid(V), xp.trapezoid(R, dx=0.1, axis=0), xp.trapezoid(R, np.arange(7.0) ** 2)],
    "gradient coordinates": lambda xp: [xp.gradient(R, np.arange(7.0) ** 2, axis=1, edge_order=e) for e in (1, 2)],
    "sinc": lambda xp: xp.sinc(R),
    "float_power": lambda xp: xp.float_power(I, 0.5),
    "logspace": lambda xp: [xp.logspace(0, 3, 7), xp.logspace(1, 2, 5, base=2.0, endpoint=False)],
    "nansum": lambda xp: [xp.nansum(N), xp.nansum(N, axis=1), xp.nansum(I, axis=0)],
    "nanprod": lambda xp: xp.nanprod(N, axis=0),
    "nanmean": lambda xp: [xp.nanmean(N), xp.nanmean(N, axis=0), xp.nanmean(I)],
    "nanvar": lambda xp: [xp.nanvar(N), xp.nanvar(N, axis=1, ddof=1)],
    "nanstd": lambda xp: xp.nanstd(N, axis=0, keepdims=True),
    "cov": lambda xp: [xp.cov(R), xp.cov(R, rowvar=False), xp.cov(V, V[::-1]), xp.cov(R, bias=True), xp.cov(V)],
    "corrcoef": lambda xp: [xp.corrcoef(R), xp.corrcoef(V, V**2)],
    "einsum": lambda xp: [xp.einsum("bij,bjk->bik", X[:, :, :3], X), xp.einsum("ij,jk,k->i", R, R.T, R[:, 0])],
}


def parts(result):
    return list(result) if isinstance(result, (tuple, list)) else [result]


def flat(result):
    return [p for part in parts(result) for p in (parts(part) if isinstance(part, (tuple, list)) else [part])]


# NumPy warns of NaN among the inputs; graphc does not.
pytestmark = pytest.mark.filterwarnings("ignore::RuntimeWarning")


@pytest.mark.parametrize("name", EXACT)
def test_equal(name):
    want, got = flat(EXACT[name](np)), flat(EXACT[name](gc))
    assert len(want) == len(got)
    for g, w in zip(got, want):
        exact.assert_same(g, w)


@pytest.mark.parametrize("name", CLOSE)
def test_close(name):
    want, got = flat(CLOSE[name](np)), flat(CLOSE[name](gc))
    assert len(want) == len(got)
    for g, w in zip(got, want):
        assert (g.shape, g.dtype) == (np.shape(w), np.asarray(w).dtype)
        np.testing.assert_allclose(np.asarray(g), w, rtol=1e-12, atol=1e-14)


def test_all_nan_rows_are_nan():
    x = gc.asarray(np.full((2, 3), np.nan))
    for f in (gc.nanmax, gc.nanmin, gc.nanmean, gc.nanvar):
        assert np.isnan(np.asarray(f(x, axis=1))).all()


def test_in_place():
    def fill(xp):
        x = xp.asarray(np.zeros((3, 4)))
        xp.fill_diagonal(x, 5.0)
        y = xp.asarray(np.arange(6.0))
        xp.copyto(y, 9.0, where=np.arange(6) % 2 == 0)
        xp.copyto(x[0], y[:4])
        z = xp.asarray(np.zeros((3, 3)))
        xp.fill_diagonal(z, np.array([1.0, 2.0, 3.0]))
        w = xp.asarray(np.zeros((3, 4)))
        xp.fill_diagonal(w.T, 2.0)
        xp.fill_diagonal(w[:, 1:], np.array([7.0, 8.0, 9.0]))
        return x, y, z, w

    for g, w in zip(fill(gc), fill(np)):
        exact.assert_same(g, w)


def test_diagonals_are_views():
    def views(xp):
        x = xp.asarray(np.arange(12.0).reshape(3, 4))
        seen = [xp.diagonal(x), xp.diagonal(x, 1), xp.diagonal(x, -2), xp.diagonal(x.T, -2)]
        x[...] = x * 10
        return seen

    for g, w in zip(views(gc), views(np)):
        exact.assert_same(g, w)


def test_split_gives_views():
    x = gc.zeros((4, 4))
    top, bottom = gc.split(x, 2)
    bottom[:] = 3
    assert float(x.sum()) == 24 and float(top.sum()) == 0
    with pytest.raises(OverflowError):  # before any part is made
        gc.array_split(x, 2**70)


@pytest.mark.parametrize(
    "error, call",
    [
        (ValueError, lambda: gc.split(M, 2)),
        (ValueError, lambda: gc.array_split(M, 0)),
        (ValueError, lambda: gc.repeat(M, [1, 2], axis=1)),
        (ValueError, lambda: gc.repeat(M, -1)),
        (IndexError, lambda: gc.delete(V, 6)),
        (IndexError, lambda: gc.insert(V, 7, 0)),
        (ValueError, lambda: gc.vsplit(V, 2)),
        (ValueError, lambda: gc.rot90(M, axes=(0, 0))),
        (ValueError, lambda: gc.diag(X)),
        (ValueError, lambda: gc.diagonal(V)),
        (ValueError, lambda: gc.cross(M, M)),
        (ValueError, lambda: gc.gradient(V[:1])),
        (ValueError, lambda: gc.diff(V, -1)),
        (ValueError, lambda: gc.einsum("ij,jk->ik", I, I)),
        (ValueError, lambda: gc.einsum("ij", V)),
        (ValueError, lambda: gc.einsum("i,j->ijk", V, V)),
        (ValueError, lambda: gc.einsum("i", V, V)),
        (ValueError, lambda: gc.select([V > 0], [V, V])),
        (ValueError, lambda: gc.block([[V], V])),
        (TypeError, lambda: gc.positive(V > 0)),
    ],
)
def test_errors_name_this_line(error, call):
    with pytest.raises(error) as caught:
        call()
    assert isinstance(caught.value, gc.GraphcError) and "test_compositions.py" in str(caught.value)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_comparisons_of_roots_with_constants(dtype):
    rng = np.random.default_rng(5)
    for c in (1.0, 0.1, 3.0, 1 + 2.0**-20, 7.3e5, 1e-6):
        c = float(np.dtype(dtype).type(c))
        near = np.dtype(dtype).type(c) * (1 + np.finfo(dtype).eps * np.arange(-40, 41)).astype(dtype)
        x = np.concatenate([near, rng.normal(size=50).astype(dtype) * np.dtype(dtype).type(c), [0, np.inf, np.nan]]).astype(dtype)
        y = np.concatenate([np.zeros(81), rng.normal(size=50) * c, [0, 1, 2]]).astype(dtype)
        for compare in (operator.lt, operator.le, operator.gt, operator.ge):
            for f in (lambda xp, x, y: compare(xp.sqrt(x * x + y * y), c), lambda xp, x, y: compare(c, xp.sqrt(xp.square(y) + xp.abs(x)))):
                got = gc.jit(lambda x, y: f(gc, x, y))(gc.asarray(x), gc.asarray(y))
                np.testing.assert_array_equal(np.asarray(got), f(np, x, y))
