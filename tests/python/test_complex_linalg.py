"""gc.linalg on complex matrices, against NumPy's and against what the factors have to be."""

import graphc as gc
import numpy as np
import pytest

DTYPES = ("complex64", "complex128")
SQUARE = (((), 0), ((), 1), ((3,), 2), ((2, 2), 5), ((0,), 5), ((), 33))
OBLONG = (((), 4, 4), ((3,), 6, 3), ((2, 2), 3, 6), ((), 1, 5), ((), 0, 3), ((2,), 3, 0), ((0,), 3, 2), ((), 40, 33))


def matrices(batch, m, n, dtype="complex128", seed=0):
    rng = np.random.default_rng(seed)
    return (rng.normal(size=(*batch, m, n)) + 1j * rng.normal(size=(*batch, m, n))).astype(dtype)


def adjoint(x):
    return np.swapaxes(np.asarray(x), -1, -2).conj()


def positive(batch, n, dtype="complex128"):
    a = matrices(batch, n, n)
    return (a @ adjoint(a) / max(n, 1) + np.eye(n)).astype(dtype)


def near(got, want, units=1000):
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype and got.shape == want.shape, (got.dtype, want.dtype, got.shape, want.shape)
    eps = np.finfo(want.dtype).eps if want.dtype.kind in "fc" else 0
    scale = np.abs(want[np.isfinite(want)]).max(initial=1)
    np.testing.assert_allclose(got, want, rtol=units * eps, atol=units * eps * scale)


def unitary(q, dtype):
    """Columns are orthonormal."""
    q = np.asarray(q)
    near(adjoint(q) @ q, np.broadcast_to(np.eye(q.shape[-1], dtype=dtype), (*q.shape[:-2], q.shape[-1], q.shape[-1])))


@pytest.mark.parametrize("dtype", DTYPES)
def test_square(dtype):
    for batch, n in SQUARE:
        a = positive(batch, n, dtype)
        g = gc.asarray(a)
        near(gc.linalg.inv(g), np.linalg.inv(a))
        near(gc.linalg.det(g), np.linalg.det(a))
        for got, want in zip(gc.linalg.slogdet(g), np.linalg.slogdet(a)):
            near(got, want)
        general = matrices(batch, n, n, dtype, 7)
        near(gc.linalg.det(gc.asarray(general)), np.linalg.det(general))
        for got, want in zip(gc.linalg.slogdet(gc.asarray(general)), np.linalg.slogdet(general)):
            near(got, want)
        for upper in (False, True):
            near(gc.linalg.cholesky(g, upper=upper), np.linalg.cholesky(a, upper=upper))
        for triangle in "LU":
            # What the other triangle holds does not matter.
            half = (np.tril if triangle == "L" else np.triu)(a) + 9 * (np.triu if triangle == "L" else np.tril)(a, 1 if triangle == "L" else -1)
            want = np.linalg.eigvalsh(a)
            near(gc.linalg.eigvalsh(gc.asarray(half), UPLO=triangle), want)
            w, v = gc.linalg.eigh(gc.asarray(half), UPLO=triangle)
            near(w, want)
            unitary(v, dtype)
            near(np.asarray(v) * np.asarray(w)[..., None, :] @ adjoint(v), a)
        for k in (0, 1, 4):
            b = matrices(batch, n, k, dtype, 1)
            near(gc.linalg.solve(g, gc.asarray(b)), np.linalg.solve(a, b))
        b = matrices((), 1, n, dtype, 2)[0]
        near(gc.linalg.solve(g, gc.asarray(b)), np.linalg.solve(a, b))


def test_dtypes_of_mixed_operands():
    for first in ("int64", "float32", "float64", "complex64", "complex128"):
        for second in ("int64", "float32", "float64", "complex64", "complex128"):
            a, b = np.eye(3, dtype=first) * 2, np.ones((3, 2), second)
            near(gc.linalg.solve(gc.asarray(a), gc.asarray(b)), np.linalg.solve(a, b))
            for got, want in zip(gc.linalg.lstsq(gc.asarray(a), gc.asarray(b))[::3], np.linalg.lstsq(a, b)[::3]):
                near(got, want)


@pytest.mark.parametrize("dtype", DTYPES)
def test_oblong(dtype):
    for batch, m, n in OBLONG:
        a = matrices(batch, m, n, dtype)
        g = gc.asarray(a)
        for mode in ("reduced", "complete"):
            q, r = gc.linalg.qr(g, mode=mode)
            near(r, np.linalg.qr(a, mode=mode)[1])
            near(q, np.linalg.qr(a, mode=mode)[0])
            unitary(q, dtype)
            near(np.asarray(q) @ np.asarray(r), a)
        near(gc.linalg.qr(g, mode="r"), np.linalg.qr(a, mode="r"))
        for got, want in zip(gc.linalg.qr(g, mode="raw"), np.linalg.qr(a, mode="raw")):
            near(got, want)
        near(gc.linalg.svdvals(g), np.linalg.svdvals(a))
        k = min(m, n)
        for full in (True, False):
            found, want = gc.linalg.svd(g, full_matrices=full), np.linalg.svd(a, full_matrices=full)
            assert [x.shape for x in found] == [x.shape for x in want]
            assert [x.dtype for x in found] == [x.dtype for x in want]
            u, s, vh = (np.asarray(x) for x in found)
            near(s, want[1])
            near(u[..., :k] * s[..., None, :] @ vh[..., :k, :], a)
            unitary(u, dtype)
            unitary(adjoint(vh), dtype)
        near(gc.linalg.pinv(g), np.linalg.pinv(a))
        near(gc.linalg.matrix_rank(g), np.asarray(np.linalg.matrix_rank(a)))
        low = a.copy()
        low[..., : m // 2, :] = 0
        near(gc.linalg.matrix_rank(gc.asarray(low)), np.asarray(np.linalg.matrix_rank(low)))


@pytest.mark.parametrize("dtype", DTYPES)
def test_eig(dtype):
    for batch in ((), (3,)):
        for n in (1, 2, 6, 20):
            a = matrices(batch, n, n, dtype)
            w, v = (np.asarray(x) for x in gc.linalg.eig(gc.asarray(a)))
            assert w.dtype == v.dtype == a.dtype
            near(a @ v, v * w[..., None, :])
            near(np.linalg.norm(v, axis=-2), np.ones(w.shape, np.finfo(dtype).dtype))
            near(np.sort(w), np.sort(np.linalg.eigvals(a)))
            near(np.sort(np.asarray(gc.linalg.eigvals(gc.asarray(a)))), np.sort(w))
    with pytest.raises(gc.linalg.LinAlgError, match="infs or NaNs"):
        gc.linalg.eigvals(gc.asarray(np.array([[1, complex(0, np.inf)], [0, 1]], dtype)))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_eig_of_real_matrices_is_complex(dtype):
    for n in (0, 1, 2, 7, 20):
        a = matrices((2,), n, n, seed=3).real.astype(dtype)
        w, v = (np.asarray(x) for x in gc.linalg.eig(gc.asarray(a)))
        assert w.dtype == v.dtype == np.result_type(dtype, "complex64")
        near(a @ v, v * w[..., None, :])
        want = np.linalg.eigvals(a).astype(w.dtype)
        near(np.sort(np.round(w, 4)), np.sort(np.round(want, 4)), 1e4)
    a = (a + adjoint(a)).astype(dtype)
    w, v = (np.asarray(x) for x in gc.linalg.eig(gc.asarray(a)))
    assert not w.imag.any() and not v.imag.any()
    near(np.sort(w.real), np.linalg.eigvalsh(a))


@pytest.mark.parametrize("dtype", DTYPES)
def test_lstsq(dtype):
    for m, n, k in ((5, 3, 2), (3, 5, 2), (4, 4, 1), (6, 2, 0), (0, 3, 2)):
        a, b = matrices((), m, n, dtype), matrices((), m, k, dtype, 1)
        found, want = gc.linalg.lstsq(gc.asarray(a), gc.asarray(b)), np.linalg.lstsq(a, b)
        for i in (0, 1, 3):
            near(found[i], want[i])
        assert found[2] == want[2]
    a = matrices((), 6, 3, dtype)
    a[:, 1] = 2j * a[:, 0]
    b = matrices((), 6, 1, dtype, 1)[:, 0]
    found, want = gc.linalg.lstsq(gc.asarray(a), gc.asarray(b), 1e-4), np.linalg.lstsq(a, b, 1e-4)
    near(found[0], want[0])
    assert found[1].size == 0 and found[2] == want[2] == 2


@pytest.mark.parametrize("dtype", DTYPES)
def test_norms_and_products(dtype):
    a, v = matrices((2,), 4, 4, dtype), matrices((), 3, 5, dtype)
    g = gc.asarray(a)
    for order in (None, 0, 1, -1, 2, 3, 2.5, np.inf, -np.inf):
        near(gc.linalg.norm(gc.asarray(v), order, axis=1), np.linalg.norm(v, order, axis=1))
        if order is not None:
            near(gc.linalg.vector_norm(gc.asarray(v), ord=order, axis=0), np.linalg.vector_norm(v, ord=order, axis=0))
    for order in ("fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf):
        near(gc.linalg.matrix_norm(g, ord=order), np.linalg.matrix_norm(a, ord=order))
        near(gc.linalg.cond(g, order), np.linalg.cond(a, order), 1e5)
    near(gc.linalg.norm(g), np.asarray(np.linalg.norm(a)))
    for n in (-2, 0, 1, 5):
        near(gc.linalg.matrix_power(g, n), np.linalg.matrix_power(a, n), 1e5)
    near(gc.linalg.multi_dot([g[0], g[1], gc.asarray(v[0, :4].copy())]), np.linalg.multi_dot([a[0], a[1], v[0, :4]]))
    near(gc.linalg.trace(g), np.linalg.trace(a))
    near(gc.linalg.cross(g[..., :3], g[..., 1:]), np.linalg.cross(a[..., :3], a[..., 1:]))
    near(gc.linalg.outer(g[0, 0], g[0, 1]), np.linalg.outer(a[0, 0], a[0, 1]))
    near(gc.linalg.vecdot(g, g[0]), np.linalg.vecdot(a, a[0]))
    near(gc.linalg.tensordot(g[0], g[1], axes=([0], [1])), np.linalg.tensordot(a[0], a[1], axes=([0], [1])))
    big = matrices((), 6, 6, dtype).reshape(2, 3, 6)
    near(gc.linalg.tensorinv(gc.asarray(big)), np.linalg.tensorinv(big), 1e5)
    near(gc.linalg.tensorsolve(gc.asarray(big), gc.asarray(a[0, :2, :3].copy())), np.linalg.tensorsolve(big, a[0, :2, :3].copy()), 1e5)
    singular = np.ones((2, 2), dtype)
    assert np.isinf(float(gc.linalg.cond(gc.asarray(singular), 1)))


def test_determinants_that_overflow_on_the_way():
    a = np.diag([1e200, 1e200j, 1e-200, -1e-200j]).astype("complex128")
    near(gc.linalg.det(gc.asarray(a)), np.complex128(1))
    sign, size = gc.linalg.slogdet(gc.asarray(np.array([[0, 0], [1j, 2]])))
    assert complex(sign) == 0 and float(size) == -np.inf


def test_errors():
    with pytest.raises(gc.linalg.LinAlgError, match="Singular"):
        gc.linalg.inv(gc.asarray(np.zeros((2, 2), complex)))
    with pytest.raises(gc.linalg.LinAlgError, match="Singular"):
        gc.linalg.solve(gc.asarray(np.zeros((2, 2), complex)), gc.ones(2))
    with pytest.raises(gc.linalg.LinAlgError, match="positive definite"):
        gc.linalg.cholesky(gc.asarray(np.array([[1, 2j], [-2j, 1]])))


def test_in_a_function():
    a, b = positive((), 5), matrices((), 5, 2)
    f = gc.jit(lambda a, b: (gc.linalg.solve(a, b), gc.linalg.eigh(a).eigenvalues, gc.linalg.eig(a)[0]))
    x, w, values = f(gc.asarray(a), gc.asarray(b))
    near(x, np.linalg.solve(a, b))
    near(w, np.linalg.eigvalsh(a))
    near(np.sort(np.asarray(values).real), np.linalg.eigvalsh(a))


VECTORS = {
    "eigh": lambda xp, a: xp.linalg.eigh(a + xp.conj(xp.swapaxes(a, -1, -2)))[1],
    "eigh of the upper triangle": lambda xp, a: xp.linalg.eigh(a, UPLO="U")[1],
    "u": lambda xp, a: xp.linalg.svd(a)[0],
    "vh": lambda xp, a: xp.linalg.svd(a)[2],
    "vh of a tall matrix": lambda xp, a: xp.linalg.svd(a[..., : a.shape[-1] // 2 + 1], full_matrices=False)[2],
    "u of a wide matrix": lambda xp, a: xp.linalg.svd(a[..., : a.shape[-1] // 2 + 1, :])[0],
}


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("name", VECTORS)
def test_vectors_have_the_signs_of_numpys(name, dtype):
    """Each is one of several that the definition allows; programs that print them, or what they project on, see which."""
    for batch in ((), (4,)):
        for n in (1, 2, 3, 5, 12):
            a = matrices(batch, n, n, "complex128", seed=n)
            a = a.astype(dtype) if np.dtype(dtype).kind == "c" else a.real.astype(dtype)
            got, want = np.asarray(VECTORS[name](gc, gc.asarray(a))), VECTORS[name](np, a)
            assert got.dtype == want.dtype
            np.testing.assert_allclose(got, want, rtol=0, atol=1e-3 if np.finfo(dtype).bits == 32 else 1e-9)


NEARLY_SINGULAR = [[0.1, 0.2, 0.3], [0.4, 0.5, 0.6], [0.7, 0.8, 0.9]]


def test_matrices_that_only_rounding_keeps_from_singular():
    """Whether a pivot is exactly zero depends on the order of the factorisation, and that on the memory order LAPACK is given."""
    rng = np.random.default_rng(0)
    found = set()
    for a in [np.array(NEARLY_SINGULAR), *(np.outer(u, v) + np.outer(v, w) for u, v, w in rng.integers(-4, 5, (200, 3, 3)) / 10.0)]:
        try:
            want = np.linalg.inv(a)
        except np.linalg.LinAlgError:
            want = None
        found.add(want is None)
        if want is None:
            with pytest.raises(gc.linalg.LinAlgError):
                np.asarray(gc.linalg.inv(gc.asarray(a)))
        else:
            near(gc.linalg.inv(gc.asarray(a)), want)
        sign, size = np.linalg.slogdet(a)
        got = [float(v) for v in gc.linalg.slogdet(gc.asarray(a))]
        assert got[0] == sign and np.signbit(got[0]) == np.signbit(sign) and np.isclose(got[1], size)
        det = float(gc.linalg.det(gc.asarray(a)))
        assert np.signbit(det) == np.signbit(np.linalg.det(a)) and (det == 0) == (sign == 0)
    assert found == {True, False}
