"""Transposes and what is computed from them: every element type, sizes around blocks of 16 and tiles of 64."""

import pickle
import warnings

import graphc as gc
import numpy as np
import pytest
from support import edge, exact

SHAPES = [(1, 5), (2, 3), (16, 16), (17, 15), (64, 64), (65, 130), (8, 700), (300, 3), (200, 129)]


def numbers(shape, dtype):
    rng = np.random.default_rng(60)
    return (rng.integers(0, 100, shape) % (2 if dtype == "bool" else 101)).astype(dtype)


@pytest.mark.parametrize("dtype", edge.DTYPES)
def test_transposes(dtype):
    for shape in SHAPES:
        x = numbers(shape, dtype)
        exact.assert_same(gc.asarray(x).T, np.ascontiguousarray(x.T), f"{shape}")


@pytest.mark.parametrize("dtype", ["uint8", "float32", "float64"])
@pytest.mark.parametrize("axes", [(0, 2, 1), (1, 0, 2), (2, 0, 1), (1, 2, 0), (2, 1, 0)])
def test_permutations(axes, dtype):
    for shape in ((3, 70, 33), (20, 17, 65), (65, 2, 31)):
        x = numbers(shape, dtype)
        exact.assert_same(gc.permute_dims(gc.asarray(x), axes), np.ascontiguousarray(x.transpose(axes)), f"{shape}")


def test_four_axes():
    x = numbers((5, 18, 3, 66), "float32")
    for axes in ((0, 3, 2, 1), (3, 1, 2, 0), (2, 3, 0, 1), (1, 3, 0, 2)):
        exact.assert_same(gc.permute_dims(gc.asarray(x), axes), np.ascontiguousarray(x.transpose(axes)), str(axes))


@pytest.mark.parametrize("dtype", ["int16", "int64", "float32"])
def test_what_is_computed_from_a_transpose(dtype):
    x, y = numbers((130, 75), dtype), numbers((75, 130), dtype)
    gx, gy = gc.asarray(x), gc.asarray(y)
    exact.assert_same(gx.T + gy * 2, x.T + y * 2, "a transposed operand and one that is not")
    exact.assert_same(gx.T * gx.T + gx[:, 0], x.T * x.T + x[:, 0], "a broadcast operand")
    exact.assert_same(gx[::2, 1:].T - gy[1:, ::2], x[::2, 1:].T - y[1:, ::2], "slices")
    exact.assert_same((gx == gy.T).T, (x == y.T).T.copy(), "comparison")
    exact.assert_same(gx[:, ::-1].T + gx[::-1].T, x[:, ::-1].T + x[::-1].T, "reversed")


def test_updates_from_a_transpose():
    x, base = numbers((90, 90), "float32"), numbers((100, 100), "float32")
    g = gc.asarray(base) + 0
    g[5:95, 5:95] = gc.asarray(x).T
    want = base.copy()
    want[5:95, 5:95] = x.T
    exact.assert_same(g, want)
    g[:90, :90] += g[10:, 10:].T
    want[:90, :90] += want[10:, 10:].T.copy()
    exact.assert_same(g, want, "of itself")


LAYOUTS = {
    "turned": lambda x: x.T,
    "turned part": lambda x: x.T[1:, ::2],
    "turned and reversed": lambda x: x.T[:, ::-1],
    "every second": lambda x: x[:, ::2],
    "every third, backwards": lambda x: x[:, ::-3],
    "reversed": lambda x: x[:, ::-1],
    "columns 1 on": lambda x: x[:, 1:],
    "three axes reversed": lambda x: x.reshape(5, -1, x.shape[1]).transpose(2, 1, 0),
    "rows last": lambda x: x.reshape(5, -1, x.shape[1]).transpose(0, 2, 1),
    "blocks last": lambda x: x.reshape(5, -1, x.shape[1]).transpose(1, 2, 0),
}


SOME = ["turned part", "every third, backwards", "three axes reversed"]


@pytest.mark.parametrize(
    "layout, dtype", [(name, "float32") for name in LAYOUTS] + [(name, d) for d in ("bool", "int16") for name in SOME]
)
def test_every_layout_gives_the_bits_of_a_copy(layout, dtype):
    view = LAYOUTS[layout]
    for shape in ((5, 9000), (40, 70), (515, 33)):
        x = numbers(shape, dtype)
        straight = np.ascontiguousarray(view(x))
        y = numbers(straight.shape, dtype)
        g, gy, copy = view(gc.asarray(x)), gc.asarray(y), gc.asarray(straight)
        for f in (
            lambda v: gc.sum(v * gy),
            lambda v: gc.sum(v * gy, axis=-1),
            lambda v: gc.sum(v * gy, axis=0),
            lambda v: gc.any(v == 77, axis=-1),
            lambda v: gc.var(v, axis=-1) if dtype != "bool" else v,
            lambda v: gc.exp(v / 101) + gy,
            lambda v: v - gc.mean(v, axis=-1, keepdims=True) if dtype != "bool" else ~v,
            lambda v: gc.cumsum(v, axis=-1),
        ):
            assert np.asarray(f(g)).tobytes() == np.asarray(f(copy)).tobytes(), shape
        want = straight * y
        exact.assert_same(g * gy, want, f"{shape}")
        target, base = gc.asarray(x) + np.zeros((), dtype), x.copy()
        view(target)[...] = g * gy
        view(base)[...] = want
        exact.assert_same(target, base, f"written, {shape}")


NEW = [
    'xp.zeros((2, 3), order="F")', 'xp.empty((2, 3, 4), "i2", "F")', 'xp.ones((2, 3), order="F")', 'xp.full((2, 3), 1.5, order="F")',
    'xp.full((2, 3), xp.arange(3), order="F")', 'xp.eye(3, 4, 1, order="F")', 'xp.array([[1, 2], [3, 4]], order="F")', 'xp.asarray(c, order="F")',
    'xp.asarray(f, order="C")', 'xp.asarray(t, order="A")', 'xp.asanyarray(c, order="F")', "xp.array(f)", "xp.array(t)", 'xp.array(f, "f4")',
    'xp.array(f, order="C", copy=None)', "f.copy(None)", "xp.copy(f, order=None)", 'f.flatten("f")', "f.ravel(None)", 't.ravel("a")', "t.flatten(None)",
    'xp.array(f, order="C")', 'xp.array(f, order="A")', 'xp.array(t, order="A")', "xp.copy(f)", "xp.copy(t)",
    'xp.copy(f, order="C")', "f.copy()", 'f.copy("F")', 'c.copy(order="F")', 't.copy("K")', 't.copy("A")', 'f.copy("A")', 'f.astype("f4")',
    't.astype("i8")', 'f.astype("f4", order="C")', 'c.astype("f4", order="F")', 'c.astype("f8", order="F", copy=False)', "xp.zeros_like(f)",
    "xp.zeros_like(t)", 'xp.ones_like(f, order="C")', 'xp.full_like(c, 2, order="F")', "xp.zeros_like(f, shape=(4, 5))", 'xp.zeros_like(f, order="A", shape=(4, 5, 6))',
    'xp.ones_like(c, order="A", shape=(2, 3))', "xp.zeros_like(f, shape=(4, 5, 6))",
    'xp.zeros_like(f[::2, ::-1], "u1")', "f[::-1].copy('K')", "xp.copy(t[:, ::-1])", "t[:1].astype('f4')", "xp.asfortranarray(c)", "xp.ascontiguousarray(f)",
]  # fmt: skip


@pytest.mark.parametrize("expression", NEW)
def test_memory_order_of_new_arrays(expression):
    def made(xp):
        c = xp.asarray(np.arange(12.0).reshape(3, 4))
        f = xp.asarray(np.arange(12.0).reshape(4, 3)).T
        t = xp.asarray(np.arange(24.0).reshape(2, 3, 4)).transpose(2, 0, 1)
        return eval(expression, {"xp": xp, "c": c, "f": f, "t": t}), (c, f, t)

    (got, given), (want, _) = made(gc), made(np)
    assert (got.strides, got.flags.c_contiguous, got.flags.f_contiguous) == (want.strides, want.flags.c_contiguous, want.flags.f_contiguous)
    exact.assert_same(got, np.ascontiguousarray(want))
    assert got.flags.writeable and (got.flags.owndata or any(got is x for x in given))
    for x in given:
        assert not gc.shares_memory(got, x) or got is x
    got[...] = 7
    assert (np.asarray(got) == 7).all()


def test_new_arrays_are_of_one_order():
    for xp in (np, gc):
        for order in "AKak":
            for make in (xp.zeros, xp.ones, xp.empty, lambda shape, order: xp.full(shape, 1.5, order=order), lambda shape, order: xp.eye(2, order=order)):
                with pytest.raises(ValueError, match="only 'C' or 'F' order is permitted"):
                    make((2, 2), order=order)
        with pytest.raises(ValueError):
            xp.array(xp.asarray([[1, 2], [3, 4]]).T, order="C", copy=False)


def test_orders_are_names_of_orders():
    for f in (lambda o: gc.zeros((2, 2), order=o), lambda o: gc.asarray([[1]], order=o), lambda o: gc.ones((2, 2)).copy(o), lambda o: gc.ones((2, 2)).astype("f4", o)):
        with pytest.raises(ValueError, match="order must be one of"):
            f("Z")
    x = gc.ones((2, 3))
    assert gc.asarray(x, order="C") is x and gc.asarray(x.T, order="F").base is x
    with pytest.raises(ValueError):
        gc.asarray(x, order="F", copy=False)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float32", "float64"])
def test_short_rows_a_few_elements_apart(dtype):
    """Rows shorter than a vector, read and written by small steps: what is masked off is neither read beyond the array nor written."""
    for length in (1, 2, 3, 7, 8, 17, 33, 65):
        x = np.arange(5 * (4 * length + 3)).reshape(5, -1).astype(dtype)
        for step in (-1, 2, -2, 3, -3, 4, -4):
            a, g = x.copy(), gc.asarray(x.copy())
            np.testing.assert_array_equal(np.asarray(g[:, ::step] + 1), a[:, ::step] + 1)
            a[:, ::step] = a[:, ::step] * 2
            g[:, ::step] = g[:, ::step] * 2
            np.testing.assert_array_equal(np.asarray(g), a)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "float16", "float32", "float64", "complex64"])
def test_rows_written_over_themselves(dtype):
    """Rows of every length around a register, whole arrays and parts whose neighbours keep their values."""
    for length in [*range(1, 36), 63, 64, 65, 100, 131]:
        x = (np.arange(21 * (length + 2)).reshape(21, -1) % 100).astype(dtype)
        v, c = (np.arange(length) % 7).astype(dtype), (np.arange(21)[:, None] % 5).astype(dtype)
        for part in (np.s_[:, 1:-1], np.s_[2:, :-2], np.s_[::2, 2:]):
            a, g = x.copy(), gc.asarray(x.copy())
            rows = len(a[part])
            for xp, whole in ((np, a), (gc, g)):
                whole[part] += xp.asarray(v)
                whole[part] *= xp.asarray(c[:rows])
            np.testing.assert_array_equal(np.asarray(g), a)
        a, g = x[:, 1:-1].copy(), gc.asarray(x[:, 1:-1].copy())
        for xp, whole in ((np, a), (gc, g)):
            whole -= xp.asarray(v)
            whole *= xp.asarray(c)
        np.testing.assert_array_equal(np.asarray(g), a)


COMPUTED = [
    "f + f", "f + c", "c + f", "f * 2", "2.0 - f", "-f", "abs(f)", "f > 3", "f == c", "f ** 2", "f ** 0.5", "f // 2", "f % 3", "xp.sqrt(f)", "xp.where(f > 3, f, -f)", "xp.where(f > 3, f, 0)",
    "xp.maximum(t, 3)", "t + t", "t[:, ::-1] * 2", "t[::2] + 1", "t + c[0, :3]", "f + xp.arange(4)", "xp.arange(4) + f", "f + xp.arange(3)[:, None]", "f[:, :1] + f[:1]", "c[:, :1] + f[:1]", "f + f[0]",
    "t.transpose(1, 0, 2) + t.transpose(1, 0, 2)", "t + t.transpose(0, 2, 1).copy().transpose(0, 2, 1)", "f.astype('f4') * f", "xp.isnan(f)", "xp.logical_not(f)", "xp.arctan2(f, c)", "f[::2, ::-1] + 1",
    "xp.concatenate([f, f])", "xp.concatenate([f, f], 1)", "xp.concatenate([f, c])", "xp.vstack([f, f])", "xp.hstack([f, f])", "xp.concatenate([t, t], 2)", "xp.clip(f, 1, 5)", "xp.round(f, 1)", "xp.positive(f)", "f.conj()",
    "xp.broadcast_to(f, (2, 3, 4)) + 1", "xp.add(c, c, order='F')", "xp.add(f, f, order='C')", "xp.sqrt(f, order='A')", "xp.sqrt(t, order='K')", "xp.multiply(c, f, order='F')", "(f + f)[1:]", "(f + f) + c",
]  # fmt: skip


@pytest.mark.parametrize("expression", COMPUTED)
def test_memory_order_of_results(expression):
    def made(xp):
        c = xp.asarray(np.arange(12.0).reshape(3, 4))
        f = xp.asarray(np.arange(12.0).reshape(4, 3)).T
        t = xp.asarray(np.arange(24.0).reshape(2, 3, 4)).transpose(2, 0, 1)
        return eval(expression, {"xp": xp, "c": c, "f": f, "t": t})

    got, want = made(gc), made(np)
    assert (got.strides, got.flags.c_contiguous, got.flags.f_contiguous) == (want.strides, want.flags.c_contiguous, want.flags.f_contiguous)
    if (got.base is None) or (want.base is None):
        assert (got.base is None) == (want.base is None)
    exact.assert_same(got, np.ascontiguousarray(want))
    assert np.asarray(got).strides == want.strides
    if want.flags.writeable:
        got[...] = 1
        assert (np.asarray(got) == 1).all() and got.flags.writeable


def test_updates_of_computed_columns():
    def program(xp):
        f = xp.asarray(np.arange(12.0).reshape(4, 3)).T
        g = f + f
        h = g[1:]
        g += f
        g[:, 0] = -1
        h[0] *= 2
        k = g.ravel(order="K")
        k[1] = 99
        flat = g.reshape(-1)
        flat[0] = 5
        return g, h, k, flat, g.T @ g, g.sum(axis=0), xp.cumsum(g, 1)

    for got, want in zip(program(gc), program(np)):
        exact.assert_same(got, np.ascontiguousarray(want))


def test_results_in_jit_have_their_values():
    x = np.arange(12.0).reshape(3, 4)
    exact.assert_same(gc.jit(lambda a: a.T + 1)(gc.asarray(x)), np.ascontiguousarray(x.T + 1))
    exact.assert_same(gc.jit(lambda a: a + 1)(gc.asarray(x).T + 1), np.ascontiguousarray(x.T + 2))


@pytest.mark.graphc_only
@pytest.mark.parametrize("name", ["sort", "cumsum", "cumprod", "pad", "pad by axis", "positive", "copy", "deepcopy"])
def test_results_of_column_major_arrays_are_column_major(name):
    """By elements and by strides, along both axes."""
    import copy

    calls = {
        "sort": lambda xp, f, k: xp.sort(f, axis=k), "cumsum": lambda xp, f, k: xp.cumsum(f, axis=k - 1),
        "cumprod": lambda xp, f, k: xp.cumprod(f, axis=k), "pad": lambda xp, f, k: xp.pad(f, k + 1, mode="edge"),
        "pad by axis": lambda xp, f, k: xp.pad(f, ((1, 2), (k, 3)), constant_values=((1, 2), (3, 4))),
        "positive": lambda xp, f, k: +f, "copy": lambda xp, f, k: copy.copy(f), "deepcopy": lambda xp, f, k: copy.deepcopy(f),
    }  # fmt: skip
    values = np.array([[3.0, 1.0, 2.0], [9.0, 7.0, 8.0]])
    for x in (np.asfortranarray(values), values):
        for axis in (0, 1):
            theirs, ours = calls[name](np, x, axis), calls[name](gc, gc.asarray(x), axis)
            assert np.asarray(ours).tolist() == theirs.tolist() and ours.strides == theirs.strides
            assert ours.flags.f_contiguous == theirs.flags.f_contiguous


@pytest.mark.graphc_only
def test_a_locked_column_major_array_is_unlocked():
    f = gc.asarray(np.asfortranarray(np.arange(6.0).reshape(2, 3)))
    f.setflags(write=False)
    with pytest.raises(ValueError):
        f[0] = 1
    f.setflags(write=True)
    f[0] = 1
    assert f.tolist() == [[1, 1, 1], [3, 4, 5]] and f.strides == (8, 16)
    part = f[:1]
    part.setflags(write=False)
    with pytest.raises(ValueError):
        part[0, 2] = 7
    part.setflags(write=True)
    part[0, 2] = 7
    assert f[0, 2] == 7


@pytest.mark.graphc_only
@pytest.mark.parametrize("shape", [(3, 2), (2, 2), (3, 4), (6,)])
def test_resize_takes_column_major_elements_in_memory_order(shape):
    x = np.asfortranarray(np.arange(6.0).reshape(2, 3))
    g = gc.asarray(x)
    x = x.copy("F")
    x.resize(shape, refcheck=False)
    g.resize(shape)
    assert g.tolist() == x.tolist() and g.strides == x.strides


def test_numpys_arrays_have_the_layout_of_the_view(device):
    base = np.arange(24.0).reshape(4, 6)
    with gc.device(device):
        x = gc.asarray(base)
        for view in (lambda a: a.T, lambda a: a[1:], lambda a: a[:, ::-1], lambda a: a[::-1, 1:].T, lambda a: a.reshape(2, 2, 6)[:, ::-1], lambda a: (a.T + 1)):
            got, want = np.asarray(view(x)), view(base)
            assert got.strides == want.strides and got.tolist() == want.tolist()
        assert pickle.loads(pickle.dumps(x.T)).strides == base.T.strides


@pytest.mark.parametrize("dtype", ["int16", "bool", "float32"])
@pytest.mark.parametrize("name", ["positive", "rint", "fabs", "negative", "sqrt"])
def test_results_of_broadcast_operands_lie_as_numpys(name, dtype):
    if dtype == "bool" and name in ("positive", "negative"):
        pytest.skip("bools have no sign")
    for shape, wide, axes in [((4, 2), (3, 4, 2), (0, 1, 2)), ((2, 1, 3), (2, 2, 4, 3), (0, 1, 2, 3)), ((2, 3), (2, 2, 3), (2, 0, 1)), ((3, 1), (3, 2), (1, 0))]:
        x = np.arange(np.prod(shape)).reshape(shape).astype(dtype)
        want = getattr(np, name)(np.broadcast_to(x, wide).transpose(axes))
        got = getattr(gc, name)(gc.broadcast_to(gc.asarray(x), wide).transpose(axes))
        exact.assert_same(got, want, name)
        assert got.strides == want.strides
        assert gc.shares_memory(got, got.ravel()) == np.shares_memory(want, want.ravel())


@pytest.mark.parametrize("shape", [(2, 2, 0), (2, 0, 2), (0, 2, 2), (0,), (0, 0), (1, 0, 3)])
def test_arrays_of_no_elements_have_both_orders(shape):
    for order in "CF":
        for name in ("zeros", "ones", "empty"):
            want, got = (getattr(xp, name)(shape, order=order).flags for xp in (np, gc))
            assert (got.c_contiguous, got.f_contiguous) == (want.c_contiguous, want.f_contiguous) == (True, True)
    assert gc.zeros((4, *shape))[1].flags.c_contiguous and gc.zeros(shape).T.reshape(-1).shape == (0,)


def test_divisors_of_one_element(device):
    """Read once, whatever the result is written over; in maps, reductions and scans."""
    x = np.random.default_rng(4).normal(size=(37, 45)).astype("float32")
    for divisor in (np.float32(1.7), np.array([-0.3], "float32"), np.array([[0.0]], "float32")):
        p, d = gc.asarray(x, device=device), gc.asarray(divisor, device=device)
        with np.errstate(all="ignore"), gc.errstate(all="ignore"):
            np.testing.assert_array_equal(np.asarray(p / d), x / divisor)
            np.testing.assert_array_equal(np.asarray(gc.max(p / d, axis=0)), (x / divisor).max(axis=0))
            np.testing.assert_array_equal(np.asarray(p[:, 0] / p[3, 3]), x[:, 0] / x[3, 3])
            q, y = gc.asarray(x, device=device, copy=True), x.copy()
            q /= q[2, 2]
            y /= y[2, 2].copy()
            q[1:] /= d
            y[1:] /= divisor
            np.testing.assert_array_equal(np.asarray(q), y)


@pytest.mark.parametrize("dtype", ["f8", "f4", "i8", "u1", "bool"])
def test_views_of_many_axes_are_read_in_order(dtype):
    """Axes that one step walks are read as one, short ones column by column, those of one element and of none not at all."""
    rng = np.random.default_rng(61)
    for _ in range(60):
        base = numbers(tuple(rng.integers(1, 6, 5)), dtype)
        axes = rng.permutation(5)
        key = tuple(slice(None, None, int(rng.choice([1, 1, 2, -1]))) for _ in range(5))
        rows = int(rng.integers(1, 40))
        if rng.integers(10) == 0:
            key = (slice(0, 0), *key[1:])

        def read(xp):
            x = xp.asarray(base).transpose(*axes)[key]
            windows = xp.lib.stride_tricks.sliding_window_view(x, x.shape[-1] // 2 + 1, axis=-1)
            return xp.maximum(xp.broadcast_to(x, (rows, *x.shape)), x), windows.copy(), x.astype("f8")

        for own, theirs in zip(read(gc), read(np)):
            exact.assert_same(np.asarray(own), theirs)


def test_lines_of_any_layout():
    """ravel() shows memory where it lies in order, and copies elsewhere; flatten() copies; r_ joins lines of the same."""

    def program(xp):
        x = xp.arange(24.0).reshape(4, 6)
        views = [
            x, x[::2], x[:, 1:3], x.T, x[:, ::2], x[1], x[1, ::2], x[:, 0], x[::-1], xp.broadcast_to(x[0], (3, 6)), x[2:2], x[:1, ::3],
            x.reshape(2, 2, 6)[:, ::-1], (x > 3)[:, ::2], x.astype("f4").T, (x + 1j).T,
        ]  # fmt: skip
        made = []
        for v in views:
            for line in (v.ravel(), v.flatten()):
                made.append((repr(line), line.flags.c_contiguous, xp.shares_memory(line, v)))
                if not made[-1][-1]:
                    before = v.tolist()
                    line[...] = 0
                    assert v.tolist() == before
        return made, repr([xp.r_[x[0], x[1]], xp.r_[x, x[:1]], xp.r_[x[0], xp.arange(3)], xp.r_[x[:, 0] > 3, xp.arange(3)], xp.r_[xp.arange(3),]])

    want = program(np)
    for _ in range(20):  # recorded, then computed as in a loop
        assert program(gc) == want


def test_vectors_in_an_order_are_contiguous():
    def run(xp):
        x = xp.ones(10)[::2]
        made = [xp.asarray(x, order="C"), xp.asarray(x, order="F"), xp.array(x, copy=None, order="C"), xp.asarray(x, dtype="f8", order="C")]
        return [m.flags.c_contiguous for m in made], xp.asarray(x, order="A").flags.c_contiguous, xp.asarray(x[:1], order="C").shape

    assert run(gc) == run(np)


STRIDES = ["y = x[:3]; y.strides = (16,)", "x.strides = 8", "y = x[::-1]; y.strides = (-8,)", "y = x[2:5]; y.strides = -8", "y.strides = (8, 24)", "y.strides = (0, 8)", "y = y[1:]; y.strides = (-32, 8)"]
OVERLAPPING = [
    "x.strides = (0,); x[np.array([0, 1, 2])] = np.array([1, 2, 3])", "x.strides = (0,); x[[0, 1]] = 8", "y = y[:2, :2]; y.strides = (8, 8); y[np.array([0])] = [[70, 71]]",
    "x.strides = (0,); x[x > -1] = 4", "y = y[:2, :2]; y.strides = (8, 8); y[[1, 0], [0, 1]] = [5, 6]",
]  # fmt: skip
REFUSED_STRIDES = ["x.strides = (16,)", "x.strides = (8, 8)", "x.strides = 'a'", "x.strides = 8.0", "x.strides = (-8,)", "del x.strides", "x.flags.writeable = False; x.strides = 8; x[0] = 1"]


@pytest.mark.parametrize("program", STRIDES + REFUSED_STRIDES + OVERLAPPING)
def test_strides_are_set_as_deprecated(program):
    def run(xp):
        space = {"x": xp.arange(6), "y": xp.arange(12.0).reshape(3, 4), "np": xp}
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                exec(program, space)
                space["y"][0] = -1
                raised = None
            except Exception as error:
                raised = next(k for k in type(error).__mro__ if k.__module__ == "builtins")
        return raised, [space[n].tolist() for n in "xy"], [space[n].strides for n in "xy"], [(w.category, str(w.message)) for w in told]

    assert run(gc) == run(np)


@pytest.mark.parametrize("convert", ["asarray(x, {t!r})", "asarray(x, dtype={t!r}, copy=True)", "array(x, {t!r}, copy=None)", "asanyarray(x, {t!r})", "asarray(x, {t!r}, order='C')", "asarray(x, {t!r}, order='A')", "asarray(x, copy=True)"])
def test_conversions_keep_the_order(convert):
    def run(xp):
        shown = [lambda x: x.T, lambda x: x[:, ::2].T, lambda x: x[::-1], lambda x: xp.swapaxes(xp.zeros((2, 3, 4), x.dtype), 0, 1), lambda x: x]
        made = []
        for held, t in (("f4", "f8"), ("f8", "f4"), ("i4", "i8"), ("?", "i2"), ("f8", "c16"), ("f8", "f8")):
            for show in shown:
                y = eval("xp." + convert.format(t=t), {"xp": xp, "x": show(xp.arange(12).reshape(3, 4).astype(held))})
                made.append((str(y.dtype), y.strides, y.tolist()))
        return made

    assert run(gc) == run(np)


@pytest.mark.parametrize("name", ["asarray", "array", "asanyarray"])
def test_what_no_copy_gives_is_refused(name):
    for xp in (np, gc):
        make, x = getattr(xp, name), xp.arange(6.0).reshape(2, 3)
        for given, dtype in ((x, "f4"), (x.T, "f4"), (x, "i8"), (x[0], bool), (x[0, 0], None)):
            with pytest.raises(ValueError, match="Unable to avoid copy"):
                make(given, dtype, copy=False)
        assert make(x, "f8", copy=False) is x and make(x.T, copy=False).strides == (8, 24)
        assert np.shares_memory(np.asarray(make(x[1:], "f8", copy=False)), np.asarray(x))
