"""Single functions on layouts and arguments of which each has a way of its own, against NumPy."""

import itertools
import warnings

import graphc as gc
import numpy as np
import pytest

LAYOUTS = {
    "rows": lambda xp, a: a, "columns": lambda xp, a: xp.asfortranarray(a), "turned": lambda xp, a: a.T, "every second": lambda xp, a: a[::2],
    "backwards": lambda xp, a: a[:, ::-1], "one row": lambda xp, a: xp.broadcast_to(a[:1], a.shape),
}  # fmt: skip


def both(run, *arrays):
    """The values, dtype, shape and warnings of NumPy and graphc."""
    found = []
    for xp in (np, gc):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            result = np.asarray(run(xp, *(xp.array(a) for a in arrays)))
        found.append((result.dtype, result.shape, result.tolist(), sorted({str(w.message) for w in told})))
    return found


@pytest.mark.parametrize("dtype", ["uint8", "int32", "int64", "float16", "float32", "float64"])
def test_histograms_count_as_numpys(dtype):
    rng = np.random.default_rng(5)
    wide = [-1e300, -2.5, 1e300] if dtype == "float64" else [-9, 2]
    for size, scale in itertools.product((1, 7, 700), (1e-2, 1, 40)):
        x = np.round(rng.normal(size=size) * scale, 1)
        x = (np.abs(x) if dtype == "uint8" else x).astype(dtype)
        for bins, limits in ((1, None), (10, None), (37, (-1, 1.5)), (300, (0, 9)), (wide, None), ([0, 2, 5, 11], None), ([0.5] * 3, None),
                             (np.arange(-30, 31), None), (np.linspace(-3, 3, 24).astype("f4"), None)):  # fmt: skip
            for layout in (lambda a: a, lambda a: a[::-1]):
                want, edges = np.histogram(layout(x), bins, limits)
                got, places = gc.histogram(layout(gc.array(x)), bins, limits)
                assert np.array_equal(got, want) and got.dtype == want.dtype, (bins, limits)
                assert np.array_equal(places, edges) and places.dtype == edges.dtype


def test_histograms_leave_out_what_is_in_no_bin():
    x = np.array([np.nan, -np.inf, np.inf, 0.0, -0.0, 1.0, 1.0 + 2**-52, 5e-324])
    for bins in (4, [0, 1], np.linspace(0, 1, 40)):
        assert both(lambda xp, x: xp.histogram(x, bins, (0, 1))[0], x)[0][2] == gc.histogram(gc.array(x), bins, (0, 1))[0].tolist()
    large = np.array([2**53, 2**53 + 1, 2**53 + 2, 5])
    for bins in ([0, 2**53 + 1, 2**53 + 2], [0.0, 2.0**53, 2.0**54]):
        assert gc.histogram(gc.array(large), bins)[0].tolist() == np.histogram(large, bins)[0].tolist()
    pending = gc.array(x[3:]) * 2
    assert gc.histogram(pending)[0].tolist() == np.histogram(x[3:] * 2)[0].tolist()


@pytest.mark.parametrize("dtype", ["int32", "float32", "float64"])
def test_histograms_are_counted_in_one_loop(dtype):
    """Equal bins of any dtype; nothing of it is recorded."""
    x = (np.random.default_rng(3).random(5000) * 9).astype(dtype)
    g = gc.array(x)
    before = gc.cache_info()["nodes_recorded"]
    counts = gc.histogram(g, 40, (0, 9))[0]
    assert gc.cache_info()["nodes_recorded"] == before
    assert counts.tolist() == np.histogram(x, 40, (0, 9))[0].tolist()
    for first, last in ((1.0, 1.0 + 2**-45), (-3.5, 1e5), (0, 1e-300), (7, 7)):  # next to each other, far apart
        edges = np.histogram_bin_edges(x, 11, (first, last)) if dtype != "float32" or last - first > 1e-3 else None
        assert edges is None or np.array_equal(gc.histogram_bin_edges(g, 11, (first, last)), edges)


@pytest.mark.parametrize("layout", LAYOUTS)
def test_reductions_of_any_order(layout):
    a = np.random.default_rng(3).integers(-9, 9, (6, 8))
    a[2, 3] = 40
    for dtype in ("int8", "int64", "float32", "float64", "bool", "complex64"):
        x = a.astype(dtype)
        g = LAYOUTS[layout](gc, gc.array(x))
        gc.eval(g)
        h = LAYOUTS[layout](np, x)
        for name, axis in itertools.product(("max", "min", "any", "all", "sum", "argmax"), (None, (0, 1), 0)):
            if not (name == "argmax" and axis == (0, 1)):
                got, want = getattr(gc, name)(g, axis=axis, keepdims=True), getattr(np, name)(h, axis=axis, keepdims=True)
                assert np.array_equal(got, want) and got.dtype == want.dtype and got.shape == want.shape
        if dtype.startswith("float"):
            h = h.copy("K")
            h[1::2] = np.nan
            g = LAYOUTS["columns"](gc, gc.array(h))
            gc.eval(g)
            assert gc.nanmax(g) == np.nanmax(h) and gc.nanmin(g) == np.nanmin(h)
            assert gc.nanmin(gc.full((3, 20), -np.inf, dtype=dtype)) == -np.inf
            assert gc.nanmax(gc.array(np.where(h == h, -np.inf, h))) == -np.inf


def test_powers_by_a_number_are_numpys():
    # NumPy's power takes the root for an exponent of 0.5 (of -inf: nan), and names itself in what it warns of.
    for a in (np.array([1e200, 2, -3.0]), np.array([-np.inf, 4, 2.0]), np.arange(4), np.arange(3, dtype="int8"), np.array([True, False]),
              np.array([0.0, 2]), np.float32([2, 3e38]), np.array([1 + 2j, 3])):  # fmt: skip
        for e in (2, 2.0, 0.5, 1, -1.0):
            if not (a.dtype.kind == "c" and e not in (1, 2)):
                want, got = both(lambda xp, a: xp.power(a, e), a)
                assert str(want) == str(got), (a, e)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "int32"])
def test_quantiles_round_differences_as_numpy(dtype):
    # Of float32 with weights of float64 the difference of neighbours is one of float32.
    x = (np.random.default_rng(8).normal(size=(40, 33)) * 100).astype(dtype)
    for q in ([10, 50, 90, 33.3], 12.5, [0, 100]):
        for axis in (None, 0, -1):
            want, got = both(lambda xp, a: xp.percentile(a, q, axis=axis), x)
            assert want == got


@pytest.mark.parametrize("layout", LAYOUTS)
def test_flat_places(layout):
    a = np.arange(48.0).reshape(6, 8)
    h, g = LAYOUTS[layout](np, a), LAYOUTS[layout](gc, gc.array(a))
    for place in (0, 3, 17, h.size - 1, -1, -h.size):
        assert g.flat[place] == h.flat[place]
    for place in (h.size, -h.size - 1):
        with pytest.raises(IndexError):
            g.flat[place]
    theirs, ours = h.flat, g.flat
    for _ in range(11):
        assert next(theirs) == next(ours) and theirs.index == ours.index and theirs.coords == ours.coords
    assert list(theirs) == list(ours) and theirs.index == ours.index == h.size
    if layout == "rows":
        seen = []
        for k, value in enumerate(g.flat):
            seen.append(float(value))
            if k + 1 < g.size:
                g[divmod(k + 1, 8)] = -k
        assert seen == [0.0, *(-float(k) for k in range(47))]


def test_masked_calls():
    rng = np.random.default_rng(4)
    a, b = rng.normal(size=(2, 9, 12))
    b[::2] = 0

    def guarded(xp, a, b):
        return xp.divide(a, b, out=xp.full_like(a, 7), where=b != 0)

    def aliased(xp, a, b):
        view = a[1:]
        made = xp.add(a[:-1], b[1:], where=b[1:] == 0, out=view)
        assert made is view
        return a

    def counted(xp, a, b):
        for _ in range(30):  # a loop
            xp.multiply(a, 1.5, out=a, where=a < 1)
        return a

    def converted(xp, a, b):
        return xp.add(a, b, out=xp.zeros(a.shape, "f4"), where=b != 0)

    def broadcast(xp, a, b):
        return xp.add(a[0], 1, out=xp.zeros(a.shape), where=b[:, :1] != 0)

    def compared(xp, a, b):
        return xp.less(a, b, out=xp.ones(a.shape, bool), where=b != 0)

    for run in (guarded, aliased, counted, converted, broadcast, compared):
        want, got = both(run, a, b)
        assert want == got, run
    for run, error in (
        (lambda xp: xp.add(xp.ones(3), 1, out=xp.zeros(3), where=xp.ones(4, bool)), ValueError),
        (lambda xp: xp.add(xp.ones(4), 1, out=xp.zeros(3), where=xp.ones(3, bool)), ValueError),
        (lambda xp: xp.add(xp.ones(3), 1j, out=xp.zeros(3), where=xp.ones(3, bool)), TypeError),
        (lambda xp: xp.add(xp.ones(3), 1, out=xp.broadcast_to(xp.zeros(()), (3,)), where=xp.ones(3, bool)), ValueError),
    ):
        for xp in (np, gc):
            with pytest.raises(error):
                run(xp)


def test_determinants_near_the_ends_of_the_range():
    rng = np.random.default_rng(2)
    a = rng.normal(size=(50, 3, 3))
    for x in (a, a * 1e100, a * 1e-110, np.stack([np.diag([1e200, 1e200, 1e-300]), np.diag([1e-200, 1e-200, 1e300]), np.zeros((3, 3))]), a.astype("f4")):
        want = np.linalg.slogdet(x.astype("f8"))
        with np.errstate(all="ignore"):
            want = (want[0] * np.exp(want[1])).astype(x.dtype)
        np.testing.assert_allclose(gc.linalg.det(gc.array(x)), want, rtol=1e-9 if x.dtype == "f8" else 1e-3, atol=1e-5 if x.dtype == "f4" else 0)


def test_a_transform_along_no_axis():
    want, got = both(lambda xp, a: xp.fft.fftn(a), np.array(2.0))
    assert want[:3] == got[:3]


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex_elements(dtype):
    z = (np.arange(12.0) + 1j * np.arange(12.0)[::-1]).astype(dtype).reshape(3, 4)
    g = gc.array(z)
    for show in (lambda a: a, lambda a: a.T, lambda a: a[::-1, 1:], lambda a: a + 0):
        h, x = show(z), show(g)
        for place in ((0, 0), (2, 1), (-1, -2)):
            element = x[place]
            assert type(element.item()) is type(x.item(*place)) is complex
            assert element.item() == x.item(*place) == h[place].item() and element.dtype == h.dtype and isinstance(element, type(h[place]))
    kept = g[1, 1]
    g[1, 1] = 7
    assert kept == z[1, 1] and g[1, 1].item() == 7  # a value of its own
    kept += 1
    assert kept == z[1, 1] + 1 and g[1, 1].item() == 7
    assert [v.item() for v in g[0]] == z[0].tolist() and [v * 2 for v in g.flat][3] == z[0, 3] * 2
    with pytest.raises(IndexError):
        g[3, 0]
    with pytest.raises(IndexError):
        g.item(0, 4)


def test_taken_rows():
    a = np.random.default_rng(1).normal(size=(5, 300, 40))
    for places in ([0, 2, 1], [-1], np.array([[0, 1], [4, 3]]), [], 2, np.array([3], "u1")):
        for axis in (None, 0, 1, -1):
            for layout in (lambda xp, a: a, lambda xp, a: a.transpose(1, 0, 2), lambda xp, a: a[:, ::2]):
                for _ in range(20):  # a loop takes them at once
                    got = gc.take(layout(gc, gc.array(a)), places, axis)
                want = np.take(layout(np, a), places, axis)
                assert got.shape == want.shape and np.array_equal(got, want)
    for places in ([9], [-6], [0, 5]):
        with pytest.raises(IndexError):
            np.asarray(gc.take(gc.array(a), places, axis=0))
    with pytest.raises(TypeError):
        gc.take(gc.array(a), np.array([0.5]))
    assert np.array_equal(gc.take(gc.array(a), [0.5, 3.0], 1), np.take(a, [0.5, 3.0], 1))  # of lists NumPy makes integers


def test_borders():
    rng = np.random.default_rng(0)
    for _ in range(300):
        shape = tuple(int(n) for n in rng.integers(1, 6, rng.integers(1, 4)))
        x = rng.integers(0, 99, shape).astype(rng.choice(["f8", "i4", "?", "c16", "f2"]))
        widths = [tuple(int(n) for n in rng.integers(0, 5, 2)) for _ in shape]
        g = gc.array(x)
        if rng.random() < 0.3:
            x, g, widths = x.T, g.T, widths[::-1]
        for mode in ("edge", "wrap", "symmetric", "reflect"):
            want, got = np.pad(x, widths, mode=mode), gc.pad(g, widths, mode=mode)
            assert np.array_equal(got, want) and got.dtype == want.dtype and got.flags.f_contiguous == want.flags.f_contiguous
    assert np.array_equal(gc.jit(lambda x: gc.pad(x, 1, mode="reflect"))(gc.arange(6.0).reshape(2, 3)), np.pad(np.arange(6.0).reshape(2, 3), 1, mode="reflect"))


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_quotients_and_remainders_of_single_floats(dtype):
    """Of known values at once: NumPy's, with the bits that kernels give."""
    rng = np.random.default_rng(2)
    values = [0.0, -0.0, 1.0, -1.0, 0.1, -3.7, 1e308, 5e-324, np.inf, -np.inf, np.nan, 1e16, 1 / 3, *(rng.normal(size=12) * 10.0 ** rng.integers(-9, 9, 12))]
    with np.errstate(all="ignore"), gc.errstate(all="ignore"):
        numbers = np.array(values).astype(dtype)
        rows = gc.asarray(numbers)
        quotients, remainders = (np.asarray(gc.jit(f)(rows[:, None], rows[None])) for f in (gc.floor_divide, gc.remainder))
        for i, a in enumerate(rows):
            for j, b in enumerate(rows):
                for got, kernel in ((a // b, quotients[i, j]), (a % b, remainders[i, j]), (divmod(a, b)[1], remainders[i, j])):
                    assert got.dtype == kernel.dtype and (np.asarray(got).tobytes() == kernel.tobytes() or np.isnan(got) and np.isnan(kernel)), (i, j)
                if np.isfinite(numbers[i]) and np.isfinite(numbers[j]):
                    np.testing.assert_equal(np.asarray(a % b), numbers[i] % numbers[j])
                    np.testing.assert_equal(np.asarray(a // b), numbers[i] // numbers[j])
