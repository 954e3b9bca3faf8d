"""gc.linalg against NumPy's: batches, shapes, dtypes, sizes 0 and 1, errors with their lines."""

import os
import pathlib
import subprocess
import sys

import graphc as gc
import numpy as np
import pytest
from support import exact

BATCHES = ((), (3,), (2, 2), (0,))
SIZES = (0, 1, 2, 5, 33)


def matrices(batch, m, n, dtype="float64", seed=0):
    return np.random.default_rng(seed).normal(size=(*batch, m, n)).astype(dtype)


def positive(batch, n, dtype="float64"):
    a = matrices(batch, n, n, dtype)
    return (a @ np.swapaxes(a, -1, -2) + n * np.eye(n)).astype(dtype)


def near(got, want):
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype and got.shape == want.shape, (got.dtype, want.dtype, got.shape, want.shape)
    eps = np.finfo(want.dtype).eps if want.dtype.kind in "fc" else 0
    scale = np.abs(want[np.isfinite(want)]).max(initial=1)
    np.testing.assert_allclose(got, want, rtol=500 * eps, atol=500 * eps * scale)


def spans(q, r, a):
    """q r = a with orthonormal columns."""
    near(np.asarray(q) @ np.asarray(r), a)
    q = np.asarray(q)
    near(np.swapaxes(q, -1, -2) @ q, np.broadcast_to(np.eye(q.shape[-1], dtype=q.dtype), (*q.shape[:-2], q.shape[-1], q.shape[-1])))


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "bool"])
def test_square(dtype):
    for batch in BATCHES:
        for n in SIZES:
            a = positive(batch, n)
            if dtype in ("float32", "float64"):
                a = a.astype(dtype)
            elif dtype == "int64":
                a = np.rint(a * 4).astype(dtype)
                a = np.tril(a) + np.swapaxes(np.tril(a, -1), -1, -2)
            else:
                a = np.broadcast_to(np.eye(n, dtype=bool), (*batch, n, n))
            g = gc.asarray(a)
            near(gc.linalg.inv(g), np.linalg.inv(a))
            near(gc.linalg.det(g), np.linalg.det(a))
            for got, want in zip(gc.linalg.slogdet(g), np.linalg.slogdet(a)):
                near(got, want)
            near(gc.linalg.cholesky(g), np.linalg.cholesky(a))
            near(gc.linalg.cholesky(g, upper=True), np.linalg.cholesky(a, upper=True))
            near(gc.linalg.eigvalsh(g), np.linalg.eigvalsh(a))
            w, v = gc.linalg.eigh(g)
            near(w, np.linalg.eigh(a)[0])
            want = np.linalg.eigh(a)[0]
            v = np.asarray(v)
            near(v * np.asarray(w)[..., None, :] @ np.swapaxes(v, -1, -2), a.astype(want.dtype))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_solve(dtype):
    for batch in BATCHES:
        for n in SIZES:
            a = positive(batch, n, dtype)
            for k in (0, 1, 4):
                b = matrices(batch, n, k, dtype, 1)
                near(gc.linalg.solve(gc.asarray(a), gc.asarray(b)), np.linalg.solve(a, b))
            b = matrices((), 1, n, dtype, 2)[0]
            near(gc.linalg.solve(gc.asarray(a), gc.asarray(b)), np.linalg.solve(a, b))
    a, b = positive((3, 1), 4, dtype), matrices((2,), 4, 2, dtype)
    near(gc.linalg.solve(gc.asarray(a), gc.asarray(b)), np.linalg.solve(a, b))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_oblong(dtype):
    for batch in BATCHES:
        for m, n in ((4, 4), (6, 3), (3, 6), (1, 5), (0, 3), (3, 0), (40, 33)):
            a = matrices(batch, m, n, dtype)
            g = gc.asarray(a)
            q, r = gc.linalg.qr(g)
            spans(q, r, a)
            near(r, np.linalg.qr(a)[1])
            q, r = gc.linalg.qr(g, mode="complete")
            spans(q, r, a)
            assert q.shape == np.linalg.qr(a, mode="complete")[0].shape
            near(gc.linalg.qr(g, mode="r"), np.linalg.qr(a, mode="r"))
            for got, want in zip(gc.linalg.qr(g, mode="raw"), np.linalg.qr(a, mode="raw")):
                near(got, want)
            near(gc.linalg.svdvals(g), np.linalg.svdvals(a))
            for full in (True, False):
                u, s, vh = gc.linalg.svd(g, full_matrices=full)
                want = np.linalg.svd(a, full_matrices=full)
                assert [x.shape for x in (u, s, vh)] == [x.shape for x in want]
                near(s, want[1])
                u, s, vh, k = *(np.asarray(x) for x in (u, s, vh)), min(m, n)
                near(u[..., :k] * s[..., None, :] @ vh[..., :k, :], a)
                near(np.swapaxes(u, -1, -2) @ u, np.broadcast_to(np.eye(u.shape[-1], dtype=dtype), (*batch, u.shape[-1], u.shape[-1])))
                near(vh @ np.swapaxes(vh, -1, -2), np.broadcast_to(np.eye(vh.shape[-2], dtype=dtype), (*batch, vh.shape[-2], vh.shape[-2])))
            near(gc.linalg.pinv(g), np.linalg.pinv(a))
            assert np.asarray(gc.linalg.matrix_rank(g)).tolist() == np.asarray(np.linalg.matrix_rank(a)).tolist()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_lstsq(dtype):
    for m, n in ((6, 3), (3, 6), (4, 4), (0, 3), (3, 0)):
        a = matrices((), m, n, dtype)
        for b in (matrices((), m, 2, dtype, 1), matrices((), 1, m, dtype, 2)[0]):
            got, want = gc.linalg.lstsq(gc.asarray(a), gc.asarray(b)), np.linalg.lstsq(a, b)
            for i in (0, 1, 3):
                near(got[i], want[i])
            assert got[2] == want[2]
    a = np.ones((5, 3))
    got, want = gc.linalg.lstsq(gc.asarray(a), gc.ones(5)), np.linalg.lstsq(a, np.ones(5))
    near(got[0], want[0])
    assert got[2] == 1 and got[1].shape == (0,)


def test_norms():
    x = matrices((2, 3), 4, 5)
    g = gc.asarray(x)
    for order in (None, 0, 1, 2, 3, 0.5, -1, np.inf, -np.inf):
        for axis in (0, 1, -1):
            near(gc.linalg.norm(g, order, axis), np.linalg.norm(x, order, axis))
            near(gc.linalg.norm(g, order, axis, keepdims=True), np.linalg.norm(x, order, axis, keepdims=True))
    for order in (None, "fro", "nuc", 1, -1, 2, -2, np.inf, -np.inf):
        for axis in ((2, 3), (3, 2), (0, -1)):
            near(gc.linalg.norm(g, order, axis), np.linalg.norm(x, order, axis))
            near(gc.linalg.norm(g, order, axis, True), np.linalg.norm(x, order, axis, True))
        if order is not None:
            near(gc.linalg.matrix_norm(g, ord=order), np.linalg.matrix_norm(x, ord=order))
    for axis in (None, 0, (0, 2), (1, 2, 3)):
        for order in (1, 2, np.inf, 0):
            near(gc.linalg.vector_norm(g, axis=axis, ord=order), np.linalg.vector_norm(x, axis=axis, ord=order))
            near(gc.linalg.vector_norm(g, axis=axis, ord=order, keepdims=True), np.linalg.vector_norm(x, axis=axis, ord=order, keepdims=True))
    near(gc.linalg.norm(g), np.linalg.norm(x))
    near(gc.linalg.norm(gc.arange(5)), np.linalg.norm(np.arange(5)))
    for wrong in (lambda l, x: l.norm(x[0, 0], "nuc", 0), lambda l, x: l.norm(x, 3, (0, 1)), lambda l, x: l.norm(x, 2)):
        with pytest.raises(ValueError):
            wrong(np.linalg, x)
        with pytest.raises(ValueError):
            wrong(gc.linalg, g)


def test_cond_and_powers():
    a = matrices((3,), 4, 4)
    a[1] = 1
    g = gc.asarray(a)
    for p in (None, 2, -2, 1, -1, "fro", np.inf):
        got, want = np.asarray(gc.linalg.cond(g, p)), np.linalg.cond(a, p)
        np.testing.assert_allclose(got[[0, 2]], want[[0, 2]], rtol=1e-9)
        assert got[1] < 1e-15 if p == -2 else got[1] > 1e15
    near(gc.linalg.cond(g[::2], "nuc"), np.linalg.cond(a[::2], "nuc"))
    for n in (-3, -1, 0, 1, 2, 5, 10):
        near(gc.linalg.matrix_power(g[0], n), np.linalg.matrix_power(a[0], n))
    i = np.array([[1, 1], [1, 0]])
    near(gc.linalg.matrix_power(gc.asarray(i), 20), np.linalg.matrix_power(i, 20))
    parts = [matrices((), m, n) for m, n in ((3, 7), (7, 2), (2, 9), (9, 4))]
    near(gc.linalg.multi_dot([gc.asarray(p) for p in parts]), np.linalg.multi_dot(parts))
    near(gc.linalg.multi_dot([gc.asarray(parts[0][0]), *map(gc.asarray, parts[1:3]), gc.asarray(parts[3][:, 0])]),
         np.linalg.multi_dot([parts[0][0], *parts[1:3], parts[3][:, 0]]))
    a = np.eye(24).reshape(4, 6, 8, 3) + np.random.default_rng(0).normal(size=(4, 6, 8, 3)) / 50
    near(gc.linalg.tensorinv(gc.asarray(a)), np.linalg.tensorinv(a))
    b = matrices((), 4, 6)
    near(gc.linalg.tensorsolve(gc.asarray(a), gc.asarray(b)), np.linalg.tensorsolve(a, b))


def test_products_of_the_standard():
    x, y = matrices((2,), 4, 3), matrices((2,), 4, 3, seed=1)
    gx, gy = gc.asarray(x), gc.asarray(y)
    near(gc.linalg.cross(gx, gy), np.linalg.cross(x, y))
    near(gc.linalg.outer(gx[0, 0], gy[0, 1]), np.linalg.outer(x[0, 0], y[0, 1]))
    near(gc.linalg.vecdot(gx, gy), np.linalg.vecdot(x, y))
    near(gc.linalg.trace(gx), np.linalg.trace(x))
    near(gc.linalg.diagonal(gx, offset=-1), np.linalg.diagonal(x, offset=-1))
    near(gc.linalg.matmul(gx, gy.mT), np.linalg.matmul(x, np.swapaxes(y, 1, 2)))
    near(gc.linalg.tensordot(gx, gy, axes=3), np.linalg.tensordot(x, y, axes=3))
    for wrong in (lambda l, x: l.cross(x[..., :2], x[..., :2]), lambda l, x: l.outer(x, x)):
        with pytest.raises(ValueError):
            wrong(np.linalg, x)
        with pytest.raises(ValueError):
            wrong(gc.linalg, gx)


def test_errors():
    cases = [
        lambda l, xp: l.inv(xp.asarray([[1.0, 2.0], [2.0, 4.0]])),
        lambda l, xp: l.solve(xp.asarray([[0.0, 0.0], [0.0, 0.0]]), xp.ones(2)),
        lambda l, xp: l.cholesky(xp.asarray([[1.0, 2.0], [2.0, 1.0]])),
        lambda l, xp: l.inv(xp.ones((2, 3))),
        lambda l, xp: l.det(xp.ones(3)),
        lambda l, xp: l.eig(xp.asarray([[np.nan, 1.0], [1.0, 1.0]])),
        lambda l, xp: l.svd(xp.ones(3)),
        lambda l, xp: l.lstsq(xp.ones((3, 2)), xp.ones(4)),
        lambda l, xp: l.cond(xp.zeros((0, 2))),
    ]
    for case in cases:
        with pytest.raises(np.linalg.LinAlgError):
            case(np.linalg, np)
        with pytest.raises(gc.linalg.LinAlgError, match=r"test_linalg\.py:\d+.*\[GC0105\]") as caught:
            case(gc.linalg, gc)
        assert isinstance(caught.value, (np.linalg.LinAlgError, gc.GraphcError))
    with pytest.raises(ValueError):
        gc.linalg.qr(gc.ones((2, 2)), mode="thin")
    with pytest.raises(ValueError):
        gc.linalg.solve(gc.ones((2, 2)), gc.ones((3, 1)))


@pytest.mark.graphc_only
def test_error_inside_jit_names_the_recorded_line():
    @gc.jit
    def f(x):
        y = x * 2
        z = gc.linalg.inv(y)  # the line
        return z + 1

    good = gc.asarray([[1.0, 2.0], [3.0, 4.0]])
    near(f(good), np.linalg.inv(np.asarray(good) * 2) + 1)
    line = f.__wrapped__.__code__.co_firstlineno + 3
    with pytest.raises(gc.linalg.LinAlgError, match=rf"Singular matrix \(recorded at .*test_linalg\.py:{line}\)"):
        gc.eval(f(gc.asarray([[1.0, 2.0], [2.0, 4.0]])))
    near(f(good), np.linalg.inv(np.asarray(good) * 2) + 1)


def test_fused_around(device):
    if not next(d for d in gc.devices() if d == device).fp64:
        pytest.skip("the device has no float64")
    a, b = positive((), 20), matrices((), 20, 3)
    ga, gb = gc.asarray(a, device=device), gc.asarray(b, device=device)
    near(gc.linalg.solve(ga + 1, gb * 2) - 1, np.linalg.solve(a + 1, b * 2) - 1)
    near(gc.linalg.inv(ga[::2, ::2]).T, np.linalg.inv(a[::2, ::2]).T)


SCRIPT = """
import sys
import graphc as gc
try:
    gc.linalg.inv(gc.asarray([[2.0]]))
except gc.UnsupportedError as error:
    print(error)
"""


@pytest.mark.graphc_only
def test_no_lapack_is_an_error():
    env = {**os.environ, "GRAPHC_LAPACK": "/nonexistent/libopenblas.so", "PYTHONPATH": str(pathlib.Path(gc.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", SCRIPT], env=env, capture_output=True, text=True, check=True)
    assert "no LAPACK was found (tried /nonexistent/libopenblas.so)" in done.stdout


THREADS = """
import os
import numpy as np
import graphc as gc
a = np.random.default_rng(3).random((500, 500))
x = gc.asarray(a)
gc.eval(x @ x)  # starts the threads of the cpu device
before = len(os.listdir("/proc/self/task"))
same = np.array_equal(np.asarray(gc.linalg.inv(x)), np.linalg.inv(a))
print(len(os.listdir("/proc/self/task")) - before, same)
"""


@pytest.mark.graphc_only
def test_lapack_takes_no_more_threads_than_it_was_told():
    env = {**os.environ, "OPENBLAS_NUM_THREADS": "1", "GRAPHC_NUM_THREADS": "3", "PYTHONPATH": str(pathlib.Path(gc.__file__).parents[1])}
    done = subprocess.run([sys.executable, "-c", THREADS], env=env, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["0", "True"]


@pytest.mark.graphc_only
def test_results_repeat():
    a = gc.asarray(matrices((), 300, 300))
    first = [np.asarray(x) for x in gc.linalg.svd(a)]
    for _ in range(2):
        for got, want in zip(gc.linalg.svd(a), first):
            np.testing.assert_array_equal(np.asarray(got), want)
    # A matrix of a batch has the bits it has alone.
    batch = gc.asarray(matrices((5,), 30, 30))
    np.testing.assert_array_equal(np.asarray(gc.linalg.inv(batch))[3], np.asarray(gc.linalg.inv(batch[3])))


def test_axes_of_products():
    a, b, v = (np.arange(float(n)).reshape(s) for n, s in ((24, (2, 3, 4)), (60, (3, 5, 4)), (4, (4,))))
    for call in (
        lambda xp, a, b, v: xp.matmul(a, b, axes=[(0, 1), (0, 1), (0, 1)]),
        lambda xp, a, b, v: xp.matmul(a, v, axes=[(1, 2), 0, 0]),
        lambda xp, a, b, v: xp.matvec(a, v, axes=[(0, 2), 0, -1]),
        lambda xp, a, b, v: xp.vecmat(v, a, axes=[0, (2, 1), 0]),
        lambda xp, a, b, v: xp.vecdot(a, b[:, :2], axes=[1, 0]),
        lambda xp, a, b, v: xp.vecdot(a, a, axes=[(1,), (1,), ()]),
        lambda xp, a, b, v: xp.vecdot(a, a, axes=[1, 1, 0], keepdims=True),
        lambda xp, a, b, v: xp.vecdot(a, a, axis=1, keepdims=True),
    ):
        try:
            want = call(np, a, b, v)
        except ValueError:
            want = None
        if want is None:
            with pytest.raises(ValueError):
                call(gc, *(gc.asarray(x) for x in (a, b, v)))
        else:
            got = np.asarray(call(gc, *(gc.asarray(x) for x in (a, b, v))))
            assert got.shape == want.shape
            np.testing.assert_allclose(got, want)
    for axes, error in (((0, 0), TypeError), ([0], ValueError), ([(0, 1), 0], ValueError), ([5, 0], ValueError)):
        for xp in (np, gc):
            with pytest.raises(error):
                xp.vecdot(xp.asarray(a), xp.asarray(a), axes=axes)


@pytest.mark.parametrize("dtype", ["?", "i1", "u2", "i8", "u8", "f4", "c8"])
def test_traces_of_stacks_are_of_the_last_axes(dtype):
    for shape in ((3, 3), (2, 3, 4), (4, 2, 3, 3), (0, 2, 2), (2, 0, 3)):
        a = (np.arange(np.prod(shape)).reshape(shape) % 7).astype(dtype)
        x = gc.asarray(a)
        for _ in range(20):  # in a loop NumPy's functions are asked for the same bits
            for name in ("trace", "diagonal"):
                exact.assert_same(np.asarray(getattr(gc.linalg, name)(x, offset=1)).real, getattr(np.linalg, name)(a, offset=1).real)
                exact.assert_same(np.asarray(getattr(gc, name)(x)).real, getattr(np, name)(a).real)


@pytest.mark.parametrize("name", ["det", "inv", "slogdet", "eigvals", "eigh", "cholesky"])
def test_shapes_are_refused_before_dtypes(name):
    for shape in ((2, 3), (2,)):
        for xp in (np, gc):
            with pytest.raises(xp.linalg.LinAlgError):
                getattr(xp.linalg, name)(xp.ones(shape, "f2"))
    for xp in (np, gc):
        with pytest.raises(TypeError):
            getattr(xp.linalg, name)(xp.ones((2, 2), "f2"))


@pytest.mark.parametrize("name", ["matmul", "matvec", "vecmat", "vecdot"])
def test_products_of_lists_in_a_dtype(name):
    a = [[1, 2], [3, 4]] if name in ("matmul", "matvec") else [1, 2]
    b = [[1, 2], [3, 4]] if name in ("matmul", "vecmat") else [1, 2]
    for options in ({"dtype": "f4"}, {"dtype": "c16"}, {"casting": "no"}, {"signature": "dd->d"}):
        got, want = getattr(gc, name)(a, b, **options), getattr(np, name)(a, b, **options)
        assert np.asarray(got).tolist() == want.tolist() and got.dtype == want.dtype
    for wrong in ((1, 2), (a, 2)):
        for xp in (np, gc):
            with pytest.raises(ValueError):
                getattr(xp, name)(*wrong, dtype="f4")
