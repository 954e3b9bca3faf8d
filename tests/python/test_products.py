"""Matrix products in every form the compiler has for them: panels, packed or not, products with vectors, edges, long k."""

import graphc as gc
import numpy as np
import pytest
from support import edge, exact, trees
from support.loops import in_turns
from test_process import run
from test_reductions import floats, same

# Sizes around tiles (6 rows), strips (16 to 256 columns), panels of four strips, pieces (512) and chains (2048) of k.
PANELS = [(6, 512, 64), (7, 513, 65), (5, 511, 300), (200, 40, 33), (230, 600, 70), (13, 2049, 17), (8, 4 * 2048 + 5, 5)]
# A few rows and columns, whose chains are summed beside each other as long as they are.
NARROW = [(2, 5000, 2), (3, 1000, 3), (5, 40, 2), (7, 33, 6), (1, 100, 3), (4, 31, 3), (3, 64, 7), (3, 2049, 5), (4, 6150, 3), (6, 4 * 2048 + 5, 8), (5, 8192 + 3 * 2048 + 9, 16), (1, 2 * 8192, 3), (7, 4100, 9)]
LAYOUTS = ["ab", "Ab", "aB", "AB"]


def sample(rng, size):
    """All of few, else the edges and some between: the reference takes a step for every k."""
    return np.arange(size) if size <= 24 else np.unique(np.r_[0:4, rng.integers(0, size, 8), size - 4 : size])


@pytest.mark.parametrize("dtype", edge.FLOATS)
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("sizes", PANELS + NARROW, ids=str)
def test_chains_in_every_layout(sizes, layout, dtype):
    m, k, n = sizes
    rng = np.random.default_rng(50)
    x, y = floats(rng, (m, k), dtype), floats(rng, (k, n), dtype)
    left = gc.asarray(np.ascontiguousarray(x.T)).T if layout[0] == "A" else gc.asarray(x)
    right = gc.asarray(np.ascontiguousarray(y.T)).T if layout[1] == "B" else gc.asarray(y)
    got = np.asarray(left @ right)
    rows, columns = sample(rng, m), sample(rng, n)
    same(got[np.ix_(rows, columns)], trees.matmul(x[rows], y[:, columns]), f"{sizes} {layout}")
    np.testing.assert_allclose(got, x @ y, rtol=0, atol=(1e-5 if dtype == "float32" else 1e-13) * np.abs(x).max() * np.abs(y).max() * max(k, 1))


@pytest.mark.parametrize("dtype", edge.FLOATS)
@pytest.mark.parametrize("sizes", [(1, 3), (17, 15), (33, 700), (300, 70), (5, 5000), (4200, 9), (40, 4 * 2048 + 19),
                                   (5, 2 * 8192 + 3 * 2048 + 7), (16, 7000), (9, 2048), (3001, 24), (2, 8192)], ids=str)
def test_products_with_vectors(sizes, dtype):
    rng = np.random.default_rng(51)
    a, x = floats(rng, sizes, dtype), floats(rng, sizes[1:], dtype)
    want = trees.matmul(a, x[:, None])[:, 0]
    transposed = gc.asarray(np.ascontiguousarray(a.T))
    same(gc.asarray(a) @ gc.asarray(x), want, "A @ x")
    same(gc.asarray(x) @ transposed, want, "x @ A")
    same(transposed.T @ gc.asarray(x), want, "A.T @ x")
    same(gc.asarray(x) @ gc.asarray(a).T, want, "x @ A.T")


@pytest.mark.parametrize("dtype", edge.FLOATS)
def test_batches(dtype):
    rng = np.random.default_rng(52)
    x, y, v = floats(rng, (5, 9, 40), dtype), floats(rng, (5, 40, 70), dtype), floats(rng, (5, 40), dtype)
    gx, gy, gv = gc.asarray(x), gc.asarray(y), gc.asarray(v)
    same(gx @ gy, np.stack([trees.matmul(a, b) for a, b in zip(x, y)]))
    same(gx @ gy[2], np.stack([trees.matmul(a, y[2]) for a in x]), "one right operand")
    same(gx[1] @ gy, np.stack([trees.matmul(x[1], b) for b in y]), "one left operand")
    same((gx @ gv[:, :, None])[:, :, 0], np.stack([trees.matmul(a, b[:, None])[:, 0] for a, b in zip(x, v)]), "vectors")
    same((gv[:, None, :] @ gy)[:, 0], np.stack([trees.matmul(b[None], a)[0] for a, b in zip(y, v)]), "vectors on the left")
    same((gv[:, None, :] @ gv[:, :, None])[:, 0, 0], np.array([trees.matmul(b[None], b[:, None])[0, 0] for b in v]), "dots")


@pytest.mark.parametrize("dtype", [*edge.FLOATS, "float16", "complex64", "int8", "uint64", "bool"])
@pytest.mark.parametrize("k", [0, 1, 3, 255, 5000])
def test_one_row_times_one_column(k, dtype, device):
    """Is a sum of products in every spelling, on every device, and of a computed operand."""
    rng = np.random.default_rng(54)
    x, y = (rng.integers(-3, 4, (2, k)) * (1 + (np.dtype(dtype).kind in "fc") * rng.random((2, k)))).astype(dtype)
    with gc.device(device):
        gx, gy = gc.asarray(x), gc.asarray(y)
        made = [gx @ gy, gc.dot(gx, gy), gc.inner(gx, gy), (gx[None] @ gy[:, None])[0, 0], gc.einsum("i,i->", gx, gy)]
        made += [gc.vecdot(gx, gy), gc.vdot(gx, gy), (gc.stack([gx, gy])[:, None] @ gc.stack([gy, gx])[:, :, None])[0, 0, 0]]
    want = np.dot(x, y)
    for got in made[:5] + made[7:] + (made[5:7] if x.dtype.kind != "c" else []):
        assert got.dtype == want.dtype and got.shape == ()
        same(np.asarray(got), np.asarray(made[0]))
    if dtype in edge.FLOATS:
        same(np.asarray(made[0]), trees.matmul(x[None], y[:, None])[0, 0])
    elif x.dtype.kind in "fc":
        wide = "complex128" if x.dtype.kind == "c" else "float64"
        np.testing.assert_allclose(np.asarray(made[0]).astype(wide), np.dot(x.astype(wide), y.astype(wide)), rtol=2e-3, atol=2e-3 * max(k, 1) ** 0.5)
    else:
        assert made[0] == want


@pytest.mark.parametrize("dtype", edge.FLOATS)
def test_what_is_computed_around_a_product(dtype):
    """Prologues on either side in either layout, and epilogues short and long, change no bit."""
    rng = np.random.default_rng(53)
    x, y, bias = floats(rng, (70, 90), dtype), floats(rng, (90, 130), dtype), floats(rng, (130,), dtype)
    gx, gy, gb = gc.asarray(x), gc.asarray(y), gc.asarray(bias)
    want = trees.matmul(x * 2, y - 1)
    same((gx * 2) @ (gy - 1), want)
    xt, yt = gc.asarray(np.ascontiguousarray(x.T)), gc.asarray(np.ascontiguousarray(y.T))
    same((xt * 2).T @ (yt - 1).T, want, "transposed")
    plain = trees.matmul(x, y)
    same(gc.maximum(gx @ gy + gb, 0), np.maximum(plain + bias, 0), "bias and relu")
    long = gx @ gy
    long, plain = gc.tanh(long), np.asarray(gc.tanh(gc.asarray(plain)))
    for _ in range(3):
        long, plain = long * (1 / 64) + gb * (1 / 64), plain * plain.dtype.type(1 / 64) + bias * plain.dtype.type(1 / 64)
    same(long, plain, "a long epilogue")


def by_parts(x, y):
    """x @ y of complex numbers: four real products."""
    with np.errstate(all="ignore"):
        re = trees.matmul(x.real, y.real) - trees.matmul(x.imag, y.imag)
        return re + 1j * (trees.matmul(x.real, y.imag) + trees.matmul(x.imag, y.real))


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("sizes", [(2, 0, 3), (5, 20, 7), (40, 130, 33), (13, 2500, 70), (3, 9000, 4), (1, 37, 50), (33, 8300, 1)], ids=str)
def test_complex_numbers_are_multiplied_by_parts(sizes, dtype):
    multiply_by_parts(sizes, dtype)


def test_complex_products_on_devices(device):
    with gc.device(device):
        multiply_by_parts((7, 30, 5), "complex64")


def multiply_by_parts(sizes, dtype):
    """However operands lie, with what is computed around the product, and where one part is asked for."""
    m, k, n = sizes
    rng = np.random.default_rng(55)
    real = "float32" if dtype == "complex64" else "float64"
    x, y = (floats(rng, s, real) + 1j * floats(rng, s, real) for s in ((m, k), (k, n)))

    def both(got, want, what=""):
        same(gc.real(got), want.real, what)
        same(gc.imag(got), want.imag, what)

    gx, gy = gc.asarray(x), gc.asarray(y)
    want = by_parts(x, y)
    both(gx @ gy, want)
    same((gx @ gy).real, want.real, "the real part alone")
    tx, ty = gc.asarray(np.ascontiguousarray(x.T)).T, gc.asarray(np.ascontiguousarray(y.T)).T
    both(tx @ ty, want, "transposed")
    both(gx @ ty, want, "columns along k")
    both(gx.conj() @ (gy * 2), by_parts(x.conj(), y * 2), "computed operands")
    both(gx @ gy + 1, want + 1, "an epilogue")
    both(gc.stack([gx, gx * 2]) @ gy, np.stack([want, by_parts(x * 2, y)]), "a batch")
    if min(m, n) > 1:
        both(gx @ gy[:, 0], by_parts(x, y[:, :1])[:, 0], "A @ v")
        both(gx[0] @ gy, by_parts(x[:1], y)[0], "v @ A")


@pytest.mark.parametrize("dtype", [d for d in edge.DTYPES if np.dtype(d).kind in "iub"])
@pytest.mark.parametrize("sizes", [(1, 7, 1), (7, 600, 9), (40, 33, 300), (200, 2500, 20), (3, 5000, 2)], ids=str)
def test_integers_wrap_as_in_numpy(sizes, dtype):
    m, k, n = sizes
    rng = np.random.default_rng(54)
    if dtype == "bool":
        x, y = rng.random((m, k)) < 0.05, rng.random((k, n)) < 0.05
    else:
        info = np.iinfo(dtype)
        x, y = (rng.integers(info.min, info.max, s, dtype, endpoint=True) for s in ((m, k), (k, n)))
    gx, gy = gc.asarray(x), gc.asarray(y)
    with np.errstate(all="ignore"):
        want = x @ y
    exact.assert_same(gx @ gy, want)
    exact.assert_same(gc.asarray(np.ascontiguousarray(x.T)).T @ gc.asarray(np.ascontiguousarray(y.T)).T, want, "transposed")
    exact.assert_same(gx @ gy[:, 0], want[:, 0], "A @ x")
    exact.assert_same(gx[0] @ gy, want[0], "x @ A")


def test_steps_and_reversal():
    rng = np.random.default_rng(55)
    x, y = floats(rng, (80, 90), "float32"), floats(rng, (30, 170), "float32")
    want = trees.matmul(x[::2, ::3], y[::-1, 1::2])
    same(gc.asarray(x)[::2, ::3] @ gc.asarray(y)[::-1, 1::2], want)


def test_bits_do_not_depend_on_threads_or_instructions():
    code = """
    import hashlib, numpy as np, graphc as gc
    rng = np.random.default_rng(1)
    h = hashlib.sha256()
    for dtype in ("f4", "f8"):
        make = lambda *s: (rng.normal(size=s) * 2.0 ** rng.integers(-9, 9, s)).astype(dtype)
        for m, k, n in ((300, 700, 500), (70, 9000, 130), (1000, 64, 10), (3, 300, 2000)):
            x, y, v = make(m, k), make(k, n), make(k)
            a, b, c = gc.asarray(x), gc.asarray(y), gc.asarray(v)
            for z in (a @ b, gc.asarray(x.T.copy()).T @ b, a @ gc.asarray(y.T.copy()).T, a @ c, c @ b, gc.tanh(a @ b * 1e-3)):
                h.update(np.asarray(z).tobytes())
    print(h.hexdigest())
    """
    settings = [{"GRAPHC_NUM_THREADS": str(n)} for n in (1, 2, 3, 7)]
    settings += [{"GRAPHC_NUM_THREADS": str(n), "GRAPHC_CPU_FEATURES": "avx,avx2,fma"} for n in (1, 3)]
    assert len({run(code, GRAPHC_CACHE="off", **setting).stdout for setting in settings}) == 1


GRAMS = [(1, 200), (5, 128), (6, 127), (33, 500), (70, 129), (130, 520), (301, 140), (64, 2049), (95, 4 * 2048 + 5)]


@pytest.mark.parametrize("dtype", edge.FLOATS)
@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("sizes", GRAMS, ids=str)
def test_a_matrix_times_its_own_transpose(sizes, turned, dtype):
    """Tiles below the diagonal are images of those above: as the product of two matrices that happen to be equal, which has none."""
    m, k = sizes
    x = floats(np.random.default_rng(52), (k, m), dtype)
    around = floats(np.random.default_rng(53), (m, m), dtype)
    if turned:
        x = np.ascontiguousarray(x.T).T
    a, b, c = gc.asarray(x), gc.asarray(x.copy(order="K")), gc.asarray(around)
    own, other = a.T @ a, a.T @ b
    same(np.asarray(own), np.asarray(other), f"{sizes}")
    same(np.asarray(own.T), np.asarray(own), "symmetric")
    same(np.asarray(a.T @ a * 2 + c), np.asarray(a.T @ b * 2 + c), "what follows it need not be symmetric")
    same(np.asarray((a.T @ a - c).astype("float64")), np.asarray((a.T @ b - c).astype("float64")), "another dtype")
    same(np.asarray(gc.sum(a.T @ a, axis=0)), np.asarray(gc.sum(a.T @ b, axis=0)), "sums of it")


def test_batches_of_matrices_times_their_own_transposes():
    x = np.random.default_rng(54).normal(size=(3, 150, 70))
    a, b = gc.asarray(x), gc.asarray(x.copy())
    same(np.asarray(a.transpose(0, 2, 1) @ a), np.asarray(a.transpose(0, 2, 1) @ b), "batches")
    same(np.asarray(a @ a.transpose(0, 2, 1)), np.asarray(a @ b.transpose(0, 2, 1)), "batches of rows")
    x[1, 3, 5] = 1e200
    with pytest.raises(FloatingPointError, match="overflow encountered in matmul"):
        with gc.errstate(over="raise"):
            np.asarray(gc.asarray(x).transpose(0, 2, 1) @ gc.asarray(x))


@pytest.mark.parametrize("dtype", ["bool", "int32", "float32", "float64", "complex64", "complex128"])
def test_products_of_vectors_and_stacks_are_numpys(dtype):
    rng = np.random.default_rng(4)

    def made(shape):
        x = rng.integers(-4, 5, shape)
        return (x + 1j * rng.integers(-4, 5, shape)).astype(dtype) if dtype.startswith("c") else x.astype(dtype)

    shapes = {
        "vecdot": [((4,), (4,)), ((3, 4), (3, 4)), ((3, 4), (4,)), ((2, 1, 4), (3, 4)), ((0, 4), (4,)), ((3, 0), (3, 0)), ((3,), (4,))],
        "matvec": [((3, 4), (4,)), ((2, 3, 4), (2, 4)), ((3, 4), (5, 4)), ((3, 4), (3,))],
        "vecmat": [((3,), (3, 4)), ((2, 3), (2, 3, 4)), ((5, 3), (3, 4)), ((4,), (3, 4))],
        "inner": [((4,), (4,)), ((3, 4), (4,)), ((4,), (3, 4)), ((3, 4), (2, 4)), ((2, 3, 4), (5, 4)), ((3, 0), (2, 0)), ((3,), (4,))],
        "vdot": [((4,), (4,)), ((3, 4), (3, 4)), ((3, 4), (12,)), ((2, 2, 3), (4, 3)), ((0,), (0,)), ((3,), (4,))],
    }
    for name, pairs in shapes.items():
        for left, right in pairs:
            a, b = made(left), made(right)
            for turned in (False, True):
                given = (a[..., ::-1], b[..., ::-1]) if turned else (a, b)
                try:
                    expected = getattr(np, name)(*given)
                except ValueError:
                    with pytest.raises(ValueError):
                        getattr(gc, name)(gc.asarray(a), gc.asarray(b))
                    continue
                x, y = gc.asarray(a), gc.asarray(b)
                got = getattr(gc, name)(*((x[..., ::-1], y[..., ::-1]) if turned else (x, y)))
                assert got.dtype == expected.dtype and got.shape == expected.shape
                np.testing.assert_array_equal(np.asarray(got), expected)


def test_einsum_gives_the_memory_order_that_is_asked_for():
    def made(xp, order, memory, **options):
        return xp.einsum("...ft,mf->...mt", xp.ones((2, 3, 5), order=memory), xp.ones((4, 3), order=memory), order=order, **options)

    for order, memory, optimize in [(o, m, p) for o in "cfaCFA" for m in "CF" for p in (False, True)]:
        got, want = (made(xp, order, memory, optimize=optimize) for xp in (gc, np))
        assert got.strides == want.strides, (order, memory, optimize)
        exact.assert_same(np.ascontiguousarray(got), np.ascontiguousarray(want))


@pytest.mark.parametrize("dtype", ["f8", "f4", "D", "i8", "u1"])
def test_products_with_numbers(dtype):
    for number in (2.0, 3, True, 1j, np.float32(2)):
        for a in (np.arange(6).reshape(2, 3).astype(dtype), np.arange(3).astype(dtype)[::-1], np.ones((), dtype), np.zeros((0, 2), dtype)):
            for call in (lambda xp, x, n=number: x.dot(n), lambda xp, x, n=number: xp.dot(x, n), lambda xp, x, n=number: xp.dot(n, x)):
                got, want = call(gc, gc.asarray(a)), call(np, a)
                np.testing.assert_array_equal(np.asarray(got), np.asarray(want), strict=True)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32", "int64"])
def test_products_of_vectors_of_several_blocks(dtype):
    """Added up as they are made, by the tree of the kernel: a last block of a few elements, and one of more than a row of lanes."""
    for n in (256, 257, 8192, 8193, 8448, 8449, 16641, 20000):
        x, y = (gc.asarray((np.random.default_rng(n + i).normal(size=n) * 100).astype(dtype)) for i in (0, 1))
        gc.eval([x, y])
        now, recorded = (in_turns(turns, lambda: np.asarray(x @ y)) for turns in (0, gc._graphc.NEVER))
        exact.assert_same(now, recorded)
