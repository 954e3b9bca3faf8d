"""NumPy's smaller functions against NumPy: parts of floats, integer arithmetic, borders, windows, functions of
functions, constructors. One program of results each, compared element by element."""

import inspect

import graphc as gc
import numpy as np
import pytest
from support import exact

pytestmark = pytest.mark.graphc_only

F = np.array([0.5, -3.25, 0.0, -0.0, np.inf, -np.inf, np.nan, 1e-310, 8.0, 1e300, -7.999])
I8 = np.array([[12, -18, 0], [7, 0, -128]], "int8")
J8 = np.array([[8, 27, 0], [0, 5, -128]], "int8")
I64 = np.array([0, 1, -1, 2**62, -(2**63), 12345678901])
SQUARE, CUBE = np.arange(6.0).reshape(2, 3), np.arange(24.0).reshape(2, 3, 4)



def filled(xp, shape, value, **options):
    x = xp.zeros(shape, dtype=int)
    xp.fill_diagonal(x, value, **options)
    return x


def copied(xp, value, where):
    x = xp.zeros((2, 3))
    xp.copyto(x, value, where=where)
    return x


EXACT = {
    "frexp": lambda xp, a: xp.frexp(a(F)),
    "modf": lambda xp, a: xp.modf(a(F)),
    "ldexp": lambda xp, a: (xp.ldexp(a(F), np.arange(11) * 200 - 1000), xp.ldexp(a(F.astype("f4")), 3)),
    "spacing": lambda xp, a: (xp.spacing(a(F)),),
    "gcd and lcm": lambda xp, a: (xp.gcd(a(I8), a(J8)), xp.lcm(a(I8), a(J8)), xp.gcd(12, 18)),
    "bitwise_count": lambda xp, a: (xp.bitwise_count(a(I8)), xp.bitwise_count(a(I64))),
    "angle": lambda xp, a: (xp.angle(a([1.0, -1.0, 0.0])),),
    "pad constant": lambda xp, a: (
        xp.pad(a(np.arange(6)), (1, 2), constant_values=(4, 5)), xp.pad(a(np.ones((2, 2))), {0: (1, 0)}), xp.pad(a(SQUARE), 1),
    ),
    "pad odd": lambda xp, a: (
        xp.pad(a(np.arange(6.0) ** 2), 3, "reflect", reflect_type="odd"),
        xp.pad(a(np.arange(6.0) ** 2), (4, 2), "symmetric", reflect_type="odd"),
    ),
    "pad statistics": lambda xp, a: (xp.pad(a(np.arange(6)), 3, "mean", stat_length=2),),
    "apply_along_axis": lambda xp, a: (
        xp.apply_along_axis(lambda v: v.sum(), 0, a(SQUARE)), xp.apply_along_axis(lambda v: v[::-1], 1, a(SQUARE)),
        xp.apply_along_axis(lambda v: xp.outer(v, v), 1, a(CUBE)), xp.apply_over_axes(xp.sum, a(CUBE), [0, 2]),
    ),
    "piecewise": lambda xp, a: (
        xp.piecewise(a(F), [a(F) < 0, a(F) >= 0], [lambda x: -x, lambda x: x]), xp.piecewise(a(I64), a(I64) > 1, [5, 7]),
    ),
    "vectorize": lambda xp, a: (
        xp.vectorize(lambda p, q: p + q if p > q else 0)(a(np.arange(4.0)), 2),
        xp.vectorize(lambda p: (p, p * 2))(a(np.arange(3)))[1],
    ),
    "trim_zeros": lambda xp, a: (xp.trim_zeros(a([0, 0, 1, 2, 0])), xp.trim_zeros(a([0, 1, 0]), "f"), xp.trim_zeros(a([0, 0]))),
    "bits": lambda xp, a: (
        xp.packbits(a(np.arange(20) % 3 == 0)), xp.packbits(a(np.arange(20).reshape(2, 10) % 2), axis=1, bitorder="little"),
        xp.unpackbits(a(np.array([[2], [7], [23]], "u1")), axis=1), xp.unpackbits(a(np.array([2, 255], "u1")), count=-3),
    ),
    "index arithmetic": lambda xp, a: (
        xp.ravel_multi_index(a(np.array([[3, 6, 6], [4, 5, 1]])), (7, 6)), *xp.unravel_index(a(np.array([22, 41, 37])), (7, 6)),
        xp.ravel_multi_index(a(np.array([[3, 6, 6], [4, 5, 1]])), (4, 6), mode=("clip", "wrap"), order="F"),
    ),
    "r_ and c_": lambda xp, a: (
        xp.r_[1:4, 0, 4], xp.r_[a([1, 2]), 0.5, xp.zeros(2)], xp.c_[a([1, 2, 3]), a([4, 5, 6])], xp.r_[0:1:5j],
        xp.r_["1", a([[1, 2]]), a([[3, 4]])], xp.c_[xp.ones((2, 2)), xp.zeros((2, 1))],
    ),
    "index grids": lambda xp, a: (*xp.tril_indices(4, 1), *xp.triu_indices_from(a(SQUARE)), *xp.diag_indices(3), xp.resize(a([1, 2, 3]), (2, 4))),
    "linspace": lambda xp, a: (
        xp.linspace(a([0.0, 1.0]), a([3.0, 5.0]), 5), xp.linspace(a([0.0, 1.0]), 4.0, 3, axis=1, endpoint=False),
        xp.linspace(0, 10, 5, dtype=int), xp.linspace(start=1, stop=2, num=3),
    ),
    "clip and round": lambda xp, a: (
        xp.clip(a(np.array([1, 200, 50], "u1")), -5, 300), xp.clip(a(I64), None, 3), a(SQUARE).clip(1, out=xp.zeros((2, 3))),
        xp.round(a([1.25, -0.5, 2.675]), 2), a([15, 25, -25]).round(-1), xp.around(a([1.5])), xp.clip(a(SQUARE), min=1, max=2),
    ),
    "constructors": lambda xp, a: (
        xp.arange(2, dtype=bool), xp.arange(stop=4), xp.arange(1, 10, 3, "f4"), xp.array([[1, 2], [3, 4]], ndmin=3),
        xp.full((2, 2), [1, 2]), xp.zeros_like(a([1, 2]), shape=(3,), dtype=float), xp.array([a([1.0, 2.0]).sum(), 3]),
        xp.array([[a(1), 2], [3, 4]]), xp.eye(3, M=4, k=1), xp.tril(xp.ones((3, 3)), -1), xp.tri(3, 4),
        *xp.meshgrid(a([1, 2]), a([3, 4, 5]), sparse=True), xp.asarray([(1, 2.5)]), xp.float32(3) * a([1, 2]),
    ),
    "matrices": lambda xp, a: (
        filled(xp, (3, 4), 5), filled(xp, (5, 3), 7, wrap=True), filled(xp, (3, 3, 3), 2), filled(xp, (4, 4), [1, 2]),
        filled(xp, (7, 3), [1, 2, 3], wrap=True), copied(xp, [1, 2, 3], True), copied(xp, 5, a([True, False, True])),
        xp.tri(3, M=4, k=1), xp.vander(a([1, 2, 3]), N=2), xp.trace(a(SQUARE), out=xp.zeros(())), xp.diff(a=a(SQUARE), axis=0),
        xp.vstack([a([1, 2]), a([3, 4])], dtype=float), xp.ediff1d(a([1, 4, 9]), to_begin=0, to_end=[5, 6]),
    ),
    "windows of arrays": lambda xp, a: (
        xp.lib.stride_tricks.sliding_window_view(a(np.arange(7)), 3), xp.lib.stride_tricks.sliding_window_view(a(SQUARE), (2, 2)),
        xp.lib.stride_tricks.sliding_window_view(a(CUBE), 2, axis=1), xp.lib.stride_tricks.sliding_window_view(a(CUBE), (2, 3), axis=(0, 2)),
        xp.lib.stride_tricks.as_strided(a(np.arange(8)), (3, 2), (16, 8)), xp.einsum("ij,kj->ik", a(SQUARE), a(SQUARE), optimize=True),
        xp.einsum(a(SQUARE), [0, 1], a(SQUARE), [2, 1], [0, 2]), xp.cross(a([1.0, 2, 3]), a([4.0, 5, 6]), axisc=0),
    ),
    "nan": lambda xp, a: (
        xp.nansum(a(F[:4])), xp.nanargmax(a(F[6:])), xp.nanmax(a(F[6:9])), xp.nanprod(a(F[6:9])), xp.nancumprod(a(F[6:9])),
    ),
}  # fmt: skip
CLOSE = {
    "logaddexp2": lambda xp, a: (xp.logaddexp2(a(F), a(F[::-1].copy())),),
    "i0": lambda xp, a: (xp.i0(a(np.linspace(-30, 30, 41))),),
    "windows": lambda xp, a: [getattr(xp, w)(n) for w in ("hanning", "hamming", "blackman", "bartlett") for n in (11, 1, 0)]
    + [xp.kaiser(12, 14.0)],
    "unwrap": lambda xp, a: (
        xp.unwrap(a([0, 3.0, 6.4, -4.0, 9.0])), xp.unwrap(a(np.arange(12.0).reshape(3, 4) * 2.9), axis=0),
        xp.unwrap(a([0, 100, 254, 3]), period=256),
    ),
    "geomspace": lambda xp, a: (xp.geomspace(1, 1000, 4), xp.geomspace(256, 1, 9, endpoint=False), xp.logspace(0, 3, 4)),
    "pad linear_ramp": lambda xp, a: (xp.pad(a(SQUARE), 2, "linear_ramp", end_values=5),),
    "average": lambda xp, a: (
        xp.average(a(SQUARE), axis=1, weights=a([0.25, 0.5, 0.25])), *xp.average(a(I8), weights=a(abs(J8)), returned=True),
        xp.nanmean(a(F[:4])), xp.nanstd(a(F[:4]), ddof=1),
    ),
    "covariance": lambda xp, a: (
        xp.cov(a(CUBE[0])), xp.cov(a(SQUARE), rowvar=False), xp.cov(a(SQUARE), fweights=a([1, 2, 3])),
        xp.cov(a(SQUARE), aweights=a([1.0, 2, 3])), xp.cov(a(SQUARE), aweights=a([1.0, 2, 3]), fweights=a([1, 2, 3]), ddof=0),
    ),
    "matvec": lambda xp, a: (xp.matvec(a(CUBE), a(np.arange(4.0))), xp.vecmat(a(np.arange(3.0)), a(CUBE))),
}  # fmt: skip


def compare(program, check):
    want = program(np, lambda x: np.asarray(x))
    got = program(gc, lambda x: gc.asarray(x))
    gc.eval([g for g in got if isinstance(g, gc.Array)])
    for i, (g, w) in enumerate(zip(got, want, strict=True)):
        assert isinstance(g, gc.Array), i
        check(g, w, i)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", EXACT)
def test_exact(name):
    compare(EXACT[name], exact.assert_same)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", CLOSE)
def test_close(name):
    def check(g, w, i):
        g, w = np.asarray(g), np.asarray(w)
        assert (g.dtype, g.shape) == (w.dtype, w.shape), i
        np.testing.assert_allclose(g, w, rtol=1e-13, atol=1e-300)

    compare(CLOSE[name], check)


@pytest.mark.parametrize("mode", ("edge", "maximum", "mean", "minimum", "reflect", "symmetric", "wrap"))
def test_pad(mode):
    def program(xp, a):
        return [
            xp.pad(a(SQUARE), ((1, 2), (5, 3)), mode), xp.pad(a(np.arange(5)), 2, mode=mode), xp.pad(a(np.arange(4.0)), (0, 9), mode),
        ]  # fmt: skip

    compare(program, exact.assert_same)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("mode", ["edge", "linear_ramp", "maximum", "median", "minimum", "reflect", "symmetric", "wrap"])
@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "i8", "u1", "c16", "?"])
def test_pads_of_a_loop_have_the_bits_of_one(mode, dtype):
    rng = np.random.default_rng(3)
    for shape in ((7,), (4, 5), (2, 3, 4), (90, 60)):
        host = (rng.standard_normal(shape) * 50).astype(dtype)
        for widths in (1, (2, 0), (0, 3)):
            try:
                expected = np.pad(host, widths, mode=mode)
            except (TypeError, ValueError):
                continue
            x = gc.asarray(host)
            for _ in range(20):
                made = np.asarray(gc.pad(x, widths, mode=mode))
            assert made.dtype == expected.dtype and made.shape == expected.shape
            assert made.tobytes() == expected.tobytes()


@pytest.mark.parametrize("dtype", ["float64", "float16", "int32", "uint8", "bool", "complex128"])
@pytest.mark.parametrize("value", [0, 7, 2.5, -2.7, 300, -1, True, (1, 2), (300, -1)])
def test_pad_by_values(value, dtype):
    if dtype == "int32":
        for wrong, error in ((np.nan, ValueError), (2**40, OverflowError), (np.inf, OverflowError)):
            with pytest.raises(error):
                gc.pad(gc.ones(3, dtype=dtype), 1, constant_values=wrong)

    def program(xp, a):
        some = (a(np.ones(3, dtype)), a(np.ones((2, 3), dtype)), a(np.ones((0, 3), dtype)), a(np.ones((2, 1, 3), dtype)))
        return [xp.pad(x, width, constant_values=value) for x in some for width in (0, 1, (1, 2))]

    def check(g, w, i):
        assert g.dtype == w.dtype and g.shape == w.shape and np.array_equal(np.asarray(g), w), i

    compare(program, check)


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@pytest.mark.parametrize("m", [8, 50, 64, 65, 200])
def test_short_convolutions_have_the_bits_of_long_ones(m, dtype):
    """Few results are a matrix product, many a chain written out."""
    rng = np.random.default_rng(m)
    x, v = rng.standard_normal(6000).astype(dtype), gc.asarray(rng.standard_normal(m).astype(dtype))
    many = np.asarray(gc.convolve(gc.asarray(x), v, "valid"))
    few = np.asarray(gc.convolve(gc.asarray(x[100:1000]), v, "valid"))
    assert np.array_equal(few, many[100 : 100 + few.size])


@pytest.mark.parametrize("mode", ("full", "same", "valid"))
def test_convolve_and_correlate(mode):
    def program(xp, a):
        long, short = a(np.arange(40.0)), a(np.array([1.0, 2.0, 3.0, 0.5]))
        return [
            xp.convolve(long, short, mode), xp.correlate(long, short, mode), xp.convolve(a(np.arange(3)), a(np.arange(6)), mode),
            xp.correlate(a(np.arange(3)), a(np.arange(6)), mode), xp.convolve(long, a(np.arange(30.0)), mode),
        ]  # fmt: skip

    def check(g, w, i):
        assert np.asarray(g).dtype == w.dtype
        np.testing.assert_allclose(np.asarray(g), w, rtol=1e-13)

    compare(program, check)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "int8", "int64", "bool"])
def test_long_convolutions(dtype):
    rng = np.random.default_rng(8)
    for n, m in ((30, 30), (3, 70), (400, 90), (300, 300)):
        a, v = (rng.standard_normal(n) * 3).astype(dtype), (rng.standard_normal(m) * 3).astype(dtype)
        for name in ("convolve", "correlate"):
            got, want = np.asarray(getattr(gc, name)(gc.asarray(a), gc.asarray(v), "same")), getattr(np, name)(a, v, "same")
            assert got.dtype == want.dtype and got.shape == want.shape
            if want.dtype.kind in "biu":
                np.testing.assert_array_equal(got, want)
                continue
            wide = np.result_type(dtype, "float64")
            exact = getattr(np, name)(a.astype(wide), v.astype(wide), "same")
            eps = float(np.finfo(want.dtype).eps)
            squares = getattr(np, name)(np.abs(a.astype(wide)) ** 2, np.abs(v.astype(wide)) ** 2, "same").real
            # Partial sums grow like the root of the sum of squares; roundings of a chain, and of the sum of chains, add up likewise.
            roundings = min(64 if min(n, m) <= 256 else 256, n, m) + min(n, m) / 64
            assert (np.abs(got - exact) <= eps * (np.abs(exact) + (roundings * squares) ** 0.5)).all()


def test_bfloat16_convolutions_round_once():
    import ml_dtypes

    rng = np.random.default_rng(10)
    a, v = (rng.standard_normal(300).astype(ml_dtypes.bfloat16) for _ in range(2))
    for x, y in ((a, v), (a, v[:70])):
        got = np.asarray(gc.convolve(gc.asarray(x), gc.asarray(y)).astype("float64"))
        want = np.convolve(x.astype("float64"), y.astype("float64"))
        np.testing.assert_allclose(got, want, rtol=2**-8, atol=1e-4)


def test_files(tmp_path):
    x = gc.arange(6.0).reshape(2, 3)
    gc.save(tmp_path / "x.npy", x)
    np.save(tmp_path / "y.npy", x)
    gc.savez(tmp_path / "z.npz", x, named=x[0])
    exact.assert_same(gc.load(tmp_path / "x.npy"), np.load(tmp_path / "y.npy"))
    with gc.load(tmp_path / "z.npz") as archive:
        assert sorted(archive) == ["arr_0", "named"] and isinstance(archive["named"], gc.Array)
    gc.savetxt(tmp_path / "t.txt", x)
    exact.assert_same(gc.loadtxt(tmp_path / "t.txt"), np.asarray(x))
    exact.assert_same(gc.frombuffer(b"\1\0\2\0", dtype="int16"), np.array([1, 2], "int16"))
    exact.assert_same(gc.fromiter((i * i for i in range(4)), "int64"), np.arange(4) ** 2)
    exact.assert_same(gc.fromstring("1 2 3", sep=" "), np.array([1.0, 2, 3]))


def test_names_of_the_module():
    from graphc import power, zeros  # noqa: F401

    assert gc.pi == np.pi and gc.newaxis is None and gc.euler_gamma == np.euler_gamma
    assert gc.zeros(2, dtype=gc.intp).dtype == np.intp and gc.issubdtype(gc.zeros(2).dtype, gc.floating)
    assert gc.promote_types("int8", "uint8") == np.int16 and type(gc.zeros(1)) is gc.ndarray
    with pytest.raises(AttributeError, match="NumPy does"):
        gc.test  # noqa: B018
    with pytest.raises(AttributeError, match="did you mean 'linspace'"):
        gc.linspce  # noqa: B018


def test_nditer():
    def program(xp):
        x = xp.arange(6).reshape(2, 3)
        seen = [int(v) for v in xp.nditer(x)] + [int(a) * int(b) for a, b in xp.nditer([x, xp.arange(3)])]
        with xp.nditer(x, op_flags=["readwrite"]) as it:
            for v in it:
                v[...] = 2 * v
        it = xp.nditer(x, flags=["multi_index"])
        places = []
        while not it.finished:
            places.append((*it.multi_index, int(it[0])))
            it.iternext()
        return x, xp.asarray(seen), xp.asarray(places)

    for g, w in zip(program(gc), program(np), strict=True):
        exact.assert_same(g, w)


def test_poly1d():
    def program(xp):
        p, q = xp.poly1d([1.0, -3.0, 2.0]), xp.poly1d([2.0, 1.0])
        made = [p + q, p - 1, 2 * p, p * q, p.deriv(), q.integ(), p**2, -p, p(q), (p * q / q)[0]]
        return [m.coeffs for m in made] + [p(xp.asarray([0.0, 1.0, 5.0])), xp.asarray([p.order, p[0], p[2], len(p)])]

    for g, w in zip(program(gc), program(np), strict=True):
        exact.assert_same(np.asarray(g), np.asarray(w))
    assert str(gc.poly1d([1, 2])) == str(np.poly1d([1, 2])) and gc.poly1d([1, 2]) == gc.poly1d([0, 1, 2])


def test_a_copy_onto_itself_writes_nothing():
    for xp in (np, gc):
        x = xp.broadcast_to(xp.asarray([1.0, 2.0]), (3, 2))
        xp.copyto(x, x)
        xp.copyto(x, x, where=x > 1)
        with pytest.raises(ValueError, match="read-only"):
            xp.copyto(x, 1.0)


def test_modules_are_imported_by_their_names():
    import importlib


    assert gc.random.mtrand.RandomState is gc.random.RandomState
    for name in ("exceptions", "dtypes", "typing", "lib.stride_tricks", "lib.scimath", "testing", "random", "fft", "linalg"):
        ours = importlib.import_module("graphc." + name)
        theirs = importlib.import_module("numpy." + name.replace("scimath", "_scimath_impl"))
        assert ours.__doc__
        if name in ("exceptions", "dtypes"):
            assert ours is theirs
    from graphc.lib.stride_tricks import sliding_window_view
    from graphc.typing import NDArray

    assert sliding_window_view(gc.arange(3), 2).shape == (2, 2)
    assert NDArray[np.float64] == np.typing.NDArray[np.float64]


def test_arguments_have_numpys_names():
    """What NumPy takes by name is taken by that name."""

    def named(function):
        try:
            return inspect.signature(function).parameters.values()
        except (TypeError, ValueError):
            return ()

    by_name = (inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY)
    seen, missing = 0, []
    for ours, theirs in ((gc, np), (gc.linalg, np.linalg), (gc.fft, np.fft)):
        for name in dir(theirs):
            f, g = getattr(theirs, name), getattr(ours, name, None)
            if name[0] == "_" or isinstance(f, (type, np.ufunc)) or not callable(f) or g is None or g is f:
                continue
            taken = named(g)
            if not taken or any(p.kind is inspect.Parameter.VAR_KEYWORD for p in taken):
                continue
            names = {p.name for p in taken if p.kind in by_name}
            seen += 1
            missing += [(theirs.__name__, name, p.name) for p in named(f) if p.kind in by_name and p.name not in names]
    assert seen > 250
    assert missing == []
    a, b = np.array([[4.0, 1.0], [1.0, 3.0]]), np.array([1.0, 2.0])
    for name in ("inv", "det", "eigvalsh", "pinv", "matrix_rank"):
        value = {"A": a} if name == "matrix_rank" else {"a": a}
        assert np.allclose(getattr(gc.linalg, name)(**{k: gc.asarray(v) for k, v in value.items()}), getattr(np.linalg, name)(**value))
    assert np.allclose(gc.linalg.solve(a=gc.asarray(a), b=gc.asarray(b)), np.linalg.solve(a=a, b=b))
