"""Libraries that take arrays of the standard, or of NumPy's protocols: SciPy under SCIPY_ARRAY_API=1, matplotlib."""

import operator
import subprocess
import sys

import graphc as gc
import numpy as np
import pytest

pytestmark = pytest.mark.graphc_only

#: SciPy reads the variable when it is imported, so that this is a process of its own.
PROGRAM = """
import os
os.environ["SCIPY_ARRAY_API"] = "1"
import graphc as gc
import numpy as np
from scipy import integrate, signal, special, stats

rng = np.random.default_rng(0)
X = rng.standard_normal((4, 50))

CALLS = {
    "zscore": lambda x, y: stats.zscore(x, axis=1),
    "moments": lambda x, y: (stats.skew(x, axis=1), stats.kurtosis(x, axis=1)),
    "logsumexp": lambda x, y: (special.logsumexp(x, axis=1), special.softmax(x, axis=1)),
    "means": lambda x, y: (stats.gmean(y, axis=1), stats.hmean(y, axis=1), stats.pmean(y, 2.0, axis=1)),
    "trapezoid": lambda x, y: integrate.trapezoid(y, axis=1),
    "entropy": lambda x, y: stats.entropy(y, axis=1),
    "detrend": lambda x, y: signal.detrend(x, type="constant"),
}
for name, call in CALLS.items():
    got, want = [call(xp.asarray(X), xp.asarray(np.abs(X) + 0.5)) for xp in (gc, np)]
    got, want = (got, want) if isinstance(want, tuple) else ((got,), (want,))
    for g, w in zip(got, want):
        assert isinstance(g, gc.Array), (name, type(g))
        np.testing.assert_allclose(np.asarray(g), w, rtol=1e-12, err_msg=name)
    print(name)
"""


def test_scipy_functions_take_graphc_arrays():
    pytest.importorskip("scipy")
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True)
    assert done.stdout.split() == "zscore moments logsumexp means trapezoid entropy detrend".split(), done.stderr[-2000:]


@pytest.mark.parametrize("kind", ["csr_array", "csc_array", "coo_array", "dia_array", "lil_array", "dok_array", "bsr_array", "csr_matrix"])
def test_sparse_arrays_meet_arrays(kind):
    """SciPy's refuse arrays that are not NumPy's, and are given those."""
    sparse = pytest.importorskip("scipy.sparse")
    dense = np.arange(9.0).reshape(3, 3)
    operators = "add sub mul truediv matmul pow floordiv mod lt le gt ge eq ne".split()

    def made(call):
        with np.errstate(all="ignore"):
            try:
                result = call()
            except Exception as error:
                return type(error), None
        return sparse.issparse(result), result.toarray() if sparse.issparse(result) else np.asarray(result)

    met = 0
    for operate in (getattr(operator, name) for name in operators):
        s = getattr(sparse, kind)(np.eye(3) * 2)
        for x in (dense, dense[1], dense.astype("int32")):
            for call in (lambda v: operate(v, s), lambda v: operate(s, v)):  # noqa: B023
                want, got = made(lambda: call(x)), made(lambda: call(gc.asarray(x)))  # noqa: B023
                assert want[0] is got[0], (operate, want, got)
                if want[1] is not None:
                    met += 1
                    np.testing.assert_array_equal(want[1], got[1])
    assert met > 40


def test_gradients_and_jacobians_reach_compiled_code():
    """SciPy turns what functions of the user return into arrays by `numpy.atleast_1d` and `atleast_2d`."""
    optimize = pytest.importorskip("scipy.optimize")

    def solved(xp):
        x = xp.array([1.3, 0.7])
        value, slope = (lambda v: xp.sum((v - 1) ** 4 + v[0] * v[1] * 0.1)), (lambda v: 4 * (v - 1) ** 3 + 0.1 * v[::-1])
        parts, jacobian = (lambda v: xp.array([v[0] ** 2 + v[1] - 2, v[0] - v[1]])), (lambda v: xp.array([[2 * v[0], 1], [1, -1]]))
        found = [optimize.minimize(lambda v: (value(v), slope(v)), x, method=m, jac=True).x for m in ("L-BFGS-B", "SLSQP", "TNC", "BFGS")]
        return found + [optimize.least_squares(parts, x, jac=jacobian, method=m).x for m in ("trf", "dogbox", "lm")]

    for got, want in zip(solved(gc), solved(np), strict=True):
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-4)
    for dims in (1, 2, 3):
        made = getattr(np, f"atleast_{dims}d")(gc.arange(3.0) * 2)
        assert type(made) is np.ndarray and made.flags.writeable and made.ravel().tolist() == [0, 2, 4]
        assert type(getattr(gc, f"atleast_{dims}d")(gc.arange(3.0))) is gc.ndarray
    one, other = np.atleast_1d(gc.arange(3), 5)
    assert type(one) is type(other) is np.ndarray


def test_matplotlib_plots_graphc_arrays(tmp_path):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    from matplotlib import pyplot

    def drawn(xp):
        x = xp.linspace(0.0, 6.0, 50)
        figure, axes = pyplot.subplots(2, 2)
        (line,) = axes[0, 0].plot(x, xp.sin(x), label="sin")
        axes[0, 1].imshow(xp.sin(x[:, None]) * xp.cos(x))
        axes[1, 0].hist(xp.sin(x), bins=7)
        axes[1, 1].scatter(x, xp.cos(x), c=x)
        axes[1, 0].errorbar(x, xp.cos(x), yerr=x * 0.1)
        axes[0, 0].fill_between(x, xp.sin(x), 0.0)
        figure.canvas.draw()
        pixels = np.asarray(figure.canvas.buffer_rgba()).copy()
        data = np.asarray(line.get_xdata()), np.asarray(line.get_ydata())
        pyplot.close(figure)
        return pixels, data

    (got, (x, y)), (want, _) = drawn(gc), drawn(np)
    np.testing.assert_allclose(y, np.sin(x), rtol=1e-14)
    assert (got != want).mean() < 1e-3


def test_functions_of_scipy_of_complex_numbers():
    """Those that graphc has for real numbers only are SciPy's then."""
    special = pytest.importorskip("scipy.special")
    z, x = np.array([1 + 1j, 2, 0.5j]), np.array([0.5, 1.0, 2.0])
    for name in ("erf", "erfc"):
        function = getattr(special, name)
        for values in (z, x, z):
            np.testing.assert_allclose(np.asarray(function(gc.asarray(values))), function(values), rtol=1e-14)


def test_dense_matrices_are_linear_operators():
    """Solvers that know a matrix by its products ask for those of what is no array of NumPy's."""
    linalg = pytest.importorskip("scipy.sparse.linalg")

    def solved(xp):
        a = xp.asarray(np.random.RandomState(3).rand(12, 12)) + 12 * xp.eye(12)
        s, c = a + a.T, a + 1j * a.T
        operator = linalg.aslinearoperator(c)
        x = xp.arange(12.0)
        products = [operator.matvec(x), operator.rmatvec(x), operator.matmat(xp.eye(12)), (operator.H @ x), (operator @ operator) @ x]
        found = [linalg.cg(s, x, rtol=1e-12)[0], linalg.gmres(a, x, rtol=1e-12)[0], linalg.minres(s, x, rtol=1e-12)[0], linalg.lsqr(a, x, atol=1e-12, btol=1e-12)[0]]
        spectra = [np.sort(linalg.eigsh(s, 3, v0=np.ones(12))[0]), np.sort(linalg.svds(a, 2, v0=np.ones(12))[1])]
        return products + found + spectra + [linalg.expm_multiply(a / 50, x)]

    for got, want in zip(solved(gc), solved(np), strict=True):
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-7)
    assert not any(hasattr(x, "matvec") for x in (gc.arange(3.0)[1], gc.float64(1)))


@pytest.mark.parametrize("dtype", ["f4", "f8", "i8"])
def test_special_functions_of_arrays_and_numbers(dtype):
    """Called again, they are known for another package's."""
    special = pytest.importorskip("scipy.special")
    x = np.array([1, 2, 3]).astype(dtype)
    calls = [
        lambda v: special.expit(v), lambda v: special.expit(v[1]), lambda v: special.xlogy(v, 2.0), lambda v: special.beta(v[0], v),
        lambda v: special.gammaln(v[::-1]), lambda v: special.sici(v), lambda v: special.sici(v[2]), lambda v: special.binom(5, v),
    ]  # fmt: skip
    for _ in range(3):
        for call in calls:
            got, want = call(gc.asarray(x)), call(x)
            for g, w in zip(got, want, strict=True) if isinstance(want, tuple) else [(got, want)]:
                assert isinstance(g, gc.ndarray if isinstance(w, np.ndarray) else gc.Array) and gc._graphc.is_array(g)
                assert g.dtype == w.dtype and np.array_equal(g, w, equal_nan=True)


FILTERS = {
    "gaussian_filter": (1,), "uniform_filter": (3,), "median_filter": (3,), "rank_filter": (2, 3), "sobel": (), "convolve": ("ones",), "zoom": (1,),
    "shift": (0.5,), "grey_erosion": (3,), "white_tophat": (3,), "spline_filter": (), "binary_erosion": (), "binary_dilation": ("ones",), "binary_fill_holes": (),
}  # fmt: skip


@pytest.mark.parametrize("name", FILTERS)
@pytest.mark.parametrize("layout", ["whole", "turned", "part"])
def test_images_are_written_to_arrays_that_were_given(name, layout):
    images = pytest.importorskip("scipy.ndimage")

    def program(xp):
        image = xp.arange(48.0).reshape(6, 8) % 7
        options = [xp.ones((3, 3)) if v == "ones" else v for v in FILTERS[name]]
        output = xp.zeros((8, 6)).T if layout == "turned" else xp.zeros((6, 16))[:, ::2] if layout == "part" else xp.zeros((6, 8))
        output = output.astype(bool) if name.startswith("binary") and layout == "whole" else output
        getattr(images, name)(image > 3 if name.startswith("binary") else image, *options, output=output)
        output[0] += output[1] if output.dtype != bool else True
        return output

    got, want = program(gc), program(np)
    assert isinstance(got, gc.ndarray) and got.dtype == want.dtype and np.array_equal(got, want)


def test_distances_are_written_to_arrays_that_were_given():
    images = pytest.importorskip("scipy.ndimage")

    def program(xp):
        near, distances = xp.zeros((2, 5, 6), dtype=xp.int32), xp.zeros((5, 6))
        mask = xp.arange(30).reshape(5, 6) % 7 > 2
        assert images.distance_transform_edt(mask, distances=distances, return_indices=True, indices=near) is None
        alone = images.distance_transform_edt(mask, return_indices=True, indices=near)
        return [near, distances, alone, *images.distance_transform_cdt(mask, return_indices=True)]

    for got, want in zip(program(gc), program(np), strict=True):
        assert np.array_equal(got, want)


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "bsr", "dia"])
@pytest.mark.parametrize("dtype", ["f4", "f8", "c16", "i4", "?"])
def test_data_of_sparse_arrays_is_replaced(kind, dtype):
    """Their compiled code writes into arrays like it, and into it."""
    sparse = pytest.importorskip("scipy.sparse")

    def program(xp):
        s = sparse.coo_array(np.array([[0, 3, 0, 1], [2, 0, 0, 0], [0, 0, 5, 4]]).astype(dtype)).asformat(kind)
        s.data = xp.asarray(s.data) * xp.asarray(2).astype(dtype)
        made = [s.toarray(), s.tocsr().toarray(), s.tocsc().toarray(), s.tocoo().toarray(), s.T.tocsr().toarray(), s.tobsr().toarray(), s.tolil().toarray(), s.sum(0)]
        t = s.copy()
        t.data = xp.sqrt(t.data) if dtype in ("f4", "f8", "c16") else xp.asarray(t.data)
        return [*made, (s + t).toarray(), s.multiply(t).toarray(), (s @ t.T).toarray(), sparse.vstack([s, t]).toarray(), s @ xp.ones(4, dtype), t.data]

    for got, want in zip(program(gc), program(np), strict=True):
        assert got.dtype == want.dtype
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-6)


@pytest.mark.parametrize("which", ["data", "indices", "both"])
def test_sparse_arrays_sort_what_was_put_into_them(which):
    sparse = pytest.importorskip("scipy.sparse")

    def program(xp):
        s = sparse.csr_array((np.array([3.0, 1, 2, 4]), np.array([1, 0, 2, 2]), np.array([0, 2, 4])), shape=(2, 3))
        if which != "indices":
            s.data = xp.asarray(s.data)
        if which != "data":
            s.indices, s.indptr = xp.asarray(s.indices), xp.asarray(s.indptr)
        s.has_sorted_indices = False
        s.sort_indices()
        rows = [s.toarray(), np.array(s.data), np.array(s.indices)]
        s.sum_duplicates()
        s.eliminate_zeros()
        return [*rows, s.toarray(), s[:, [0, 2]].toarray(), s[xp.asarray([1, 0])].toarray()]

    for got, want in zip(program(gc), program(np), strict=True):
        assert np.array_equal(got, want)


def test_scipy_tells_arrays_from_numbers_and_operators():
    special, signal, optimize, linear = (pytest.importorskip(f"scipy.{n}") for n in ("special", "signal", "optimize", "sparse.linalg"))

    def program(xp):
        n, w = xp.arange(6), xp.array([0.0, 2, 1, 3, 0, 5, 1])
        made = [special.factorial(n, exact=True), special.factorial(n), special.factorial2(n), special.factorialk(n, 3, exact=True), special.factorial(n.reshape(2, 3) + 20, exact=True)]
        made += [signal.find_peaks(w, height=xp.array([1, 1, 1, 3.5, 1, 1, 1]))[0], signal.find_peaks(w, height=(xp.zeros(7), xp.full(7, 4.0)))[0]]
        system = signal.StateSpace(-xp.eye(2), xp.ones((2, 1)), xp.ones((1, 2)), xp.zeros((1, 1)))
        made += [(system * xp.array([[2.0]])).B, (system + xp.array([[1.0]])).D, optimize.root_scalar(lambda x: x**2 - 2, bracket=xp.array([0.0, 2])).root]
        y = 2 * xp.linspace(0, 1, 9) + 1
        y[3] = xp.nan
        with pytest.raises(ValueError, match="NaNs|NaN"):
            optimize.curve_fit(lambda x, a, b: a * x + b, xp.linspace(0, 1, 9), y)
        made += [optimize.curve_fit(lambda x, a, b: a * x + b, xp.linspace(0, 1, 9), y, nan_policy="omit")[0]]
        return [*made, repr(linear.aslinearoperator(xp.eye(3))).split(" with")[0] == "<3x3 MatrixLinearOperator"]

    for got, want in zip(program(gc), program(np), strict=True):
        got = np.asarray(got)
        assert got.dtype == np.asarray(want).dtype and got.shape == np.shape(want)
        np.testing.assert_allclose(got.astype(float), np.asarray(want).astype(float), rtol=1e-6)


@pytest.mark.parametrize("kind", ["csr_array", "csc_matrix", "coo_array", "dia_array", "dok_array", "lil_array"])
def test_sparse_arrays_beside_dense_ones(kind):
    sparse = pytest.importorskip("scipy.sparse")
    values = np.arange(16.0).reshape(4, 4) % 3

    def program(xp):
        s, x, v, number = getattr(sparse, kind)(values), xp.arange(16.0).reshape(4, 4) - 7, xp.arange(4.0), xp.array(2.0)
        made = [s.maximum(x), s.minimum(x), s.multiply(x), s.multiply(v), s + x, x - s, s @ x, v @ s, s * number, number * s, s == x, s < x]
        return [m.toarray().tolist() if sparse.issparse(m) else np.asarray(m).tolist() for m in made]

    assert program(gc) == program(np)


def test_eigenvalues_of_dense_arrays_near_a_number():
    """SciPy factorizes what it takes for a dense array; of anything else it solves by iteration, which may not converge."""
    linalg = pytest.importorskip("scipy.sparse.linalg")

    def program(xp):
        p = xp.random.default_rng(0).normal(size=(30, 30))
        p, start = p.T @ p, xp.ones(30)
        found = [linalg.eigsh(p, v0=start, sigma=s, return_eigenvectors=False, **more) for s, more in ((-1e-6, {}), (5.0, {}), (-1e-10, {"which": "SA", "k": 1}))]
        return [*found, linalg.eigs(p, k=2, sigma=3.0, v0=start)[0].real]

    for got, want in zip(program(gc), program(np), strict=True):
        np.testing.assert_allclose(np.sort(np.asarray(got)), np.sort(want), rtol=1e-6)
