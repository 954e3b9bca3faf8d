"""What NumPy's own test suites and random programs found: the same statements under both imports."""

import ctypes
import fractions
import operator
import sys
import warnings

import graphc as gc
import numpy as np
import pytest
from support import exact


def both(program, *args):
    got, want = program(gc, *args), program(np, *args)
    got, want = (r if isinstance(r, (list, tuple)) else [r] for r in (got, want))
    for g, w in zip(got, want, strict=True):
        exact.assert_same(np.asarray(g), np.asarray(w))


def test_windows_are_views():
    def program(xp):
        windows = xp.lib.stride_tricks.sliding_window_view
        x = xp.arange(10.0)
        w = windows(x, 3)
        x[2] = 100
        seen = [w.sum(axis=1), w[::2, 1], w.copy()]
        w = windows(x, 3, writeable=True)
        w[0, 1] = -5
        w[3] = 7
        image = windows(xp.arange(20).reshape(4, 5), (2, 2))
        z = windows(xp.arange(6.0) + 1j, 2)
        return [*seen, x, w, image.max(axis=(2, 3)), image.reshape(3, 4, 4)[1], z.real.copy(), z[::-1].imag.copy()]

    both(program)
    x = gc.arange(4)
    w = gc.lib.stride_tricks.sliding_window_view(x, 2)
    assert gc.shares_memory(x, w) and w.strides == (8, 8) and not w.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        w[0] = 1


def test_strided_views():
    def program(xp):
        x = xp.arange(12.0)
        s = xp.lib.stride_tricks.as_strided(x[1:], (4, 3), (16, 8))
        first = s.copy()
        s[1, 2] = -1
        a = xp.zeros((3, 3))
        xp.lib.stride_tricks.as_strided(a, (3,), (32,))[:] = [1, 2, 3]
        return first, x, s.T.copy(), a

    both(program)
    with pytest.raises(ValueError, match="outside"):
        gc.lib.stride_tricks.as_strided(gc.arange(4), (5,), (8,))


@pytest.mark.parametrize("offset", [-2, -1, 0, 1, 5])
def test_diagonals_of_any_layout_are_views(offset):
    def program(xp):
        a = xp.arange(60).reshape(3, 4, 5)
        views = [xp.diagonal(a, offset, i, j) for i in range(3) for j in range(3) if i != j]
        views += [xp.diagonal(a[:, ::-1, ::2], offset, 2, 0), xp.diagonal(a.T[1:], offset)]
        a *= 2
        return views

    both(program)
    a = gc.arange(60).reshape(3, 4, 5)
    assert gc.shares_memory(a, gc.diagonal(a, 0, 2, 0))


def test_dtypes_of_small_integers():
    def program(xp):
        results = []
        for kind in ("bool", "int8", "uint8", "int16", "uint16", "int32"):
            x = xp.ones(2, kind)
            results += [xp.sqrt(x), xp.rint(x), xp.hypot(x, x), x / x, xp.deg2rad(x), xp.fabs(x)]
        b = xp.asarray([True, False])
        results += [xp.fmax(xp.zeros(2, "uint16"), 3), xp.heaviside(xp.ones(2, "float32"), 0.5), b**2, xp.conj(b), xp.round(b)]
        return [*results, xp.fmod(xp.ones(2, "int8"), 3), xp.choose([0, 1], [xp.uint8(3), xp.uint8(4)])]

    for g, w in zip(program(gc), program(np), strict=True):
        g = np.asarray(g)
        assert g.dtype == w.dtype and np.allclose(g, w, rtol=1e-3)


def test_reductions_of_ufuncs():
    def program(xp):
        x, e = xp.arange(12.0).reshape(3, 4), xp.zeros((2, 0, 3), "uint32")
        return (
            xp.subtract.reduce(x, axis=1, initial=1, keepdims=True), xp.subtract.reduce(x), xp.bitwise_and.reduce(e, axis=1),
            xp.bitwise_or.reduce(e, axis=0), xp.fmax.reduceat(xp.zeros((2, 0, 3)), [0, 0], axis=2), xp.subtract.reduce(x.astype(int), initial=3),
            xp.logical_and.reduceat(xp.ones((2, 3)), [], axis=1), xp.divide.reduce(x + 1, axis=1, initial=2.0),
        )  # fmt: skip

    both(program)
    x = gc.ones((1, 1))
    assert not gc.shares_memory(x, gc.bitwise_and.reduce(x.astype(int), axis=1)) and not gc.shares_memory(x, gc.roll(x, 1))


def test_long_float_differences_are_few_operations():
    x = gc.asarray(np.random.default_rng(0).random(2000))
    result = gc.subtract.reduce(x)
    assert len(gc.explain(result).splitlines()) < 20
    assert abs(float(result) - np.subtract.reduce(np.asarray(x))) < 1e-9


def test_insert_and_delete_by_sequences():
    def program(xp):
        a = xp.arange(12).reshape(3, 4)
        return (
            xp.insert(a, [1, 3], [[9, 8], [7, 6], [5, 4]], axis=1), xp.insert(a, [0, 0], 99), xp.insert(a, slice(0, 2), 7, axis=0),
            xp.insert(a, [-1], 5, axis=0), xp.insert(a[0], np.array([True, False, True, False]), [1, 2]), xp.delete(a, [True, False, True], axis=0),
        )  # fmt: skip

    both(program)
    with pytest.raises(IndexError):
        gc.insert(gc.arange(3), [1, 7], 0)


def test_matmul_in_place():
    def program(xp):
        a = xp.arange(4.0).reshape(2, 2)
        b = a
        a @= xp.asarray([[1.0, 2], [3, 4]])
        return a, b

    both(program)
    a = gc.ones((2, 2))
    with pytest.raises(ValueError):
        a @= gc.ones(2)


def test_foreign_byte_order():
    def program(xp):
        return (
            xp.asarray(np.arange(3, dtype=">i4")) + 0, xp.frombuffer(b"\0\1\0\2", ">i2") + 0, xp.zeros(3, ">u2") + 0,
            xp.array([1, 2], ">f8") * 2, xp.asarray([1, 2]).astype(">f4") + 0,
        )  # fmt: skip

    both(program)


def test_outputs_have_the_shape_of_the_result():
    x = gc.ones((3, 4))
    for reduce in (gc.sum, gc.argmax, gc.mean, gc.cumsum):
        with pytest.raises(ValueError, match="shape"):
            reduce(x, axis=0, out=gc.zeros((2, 4)))


def test_errors_are_numpys():
    with pytest.raises(np.exceptions.AxisError, match="axis 3 is out of bounds"):
        gc.sum(gc.ones((2, 3)), axis=3)
    for spread in (gc.var, gc.std, gc.nanvar, gc.nanstd):
        with pytest.raises(ValueError, match="simultaneously"):
            spread(gc.arange(4.0), ddof=1, correction=0)


def test_einsum_casts_its_output():
    def program(xp):
        out = xp.zeros((2, 2), dtype="int64")
        xp.einsum("ij,jk", xp.ones((2, 2)), xp.ones((2, 2)), out=out, casting="unsafe")
        return out

    both(program)


@pytest.mark.parametrize("dtype", ["bool", "int16", "float32", "float64", "complex64"])
def test_masks_that_are_in_memory(dtype):
    def program(xp):
        x = xp.asarray((np.arange(101) % 7).astype(dtype)).copy()
        y, square = x, xp.asarray((np.arange(30) % 5).reshape(5, 6).astype(dtype)).copy()
        mask, rows = xp.asarray(np.arange(101) % 9 == 4), xp.asarray(np.arange(12).reshape(2, 6) % 5 == 1)
        if xp is gc:
            gc.eval(x, square, mask, rows)
        x[mask] = 1
        mask[0] = True
        x[mask] = 0
        square[1:3][rows] = 1
        square.T[rows.T[:, :1].repeat(5, axis=1)] = 0
        return x, y, square, x[mask]

    both(program)


def test_outputs_of_reductions_are_cast():
    def program(xp):
        x = xp.asarray([1.5, 2.75, -3.25])
        results = []
        for kind in ("int64", "float32", "float64"):
            o, wide = (lambda: xp.zeros((), kind)), (lambda: xp.zeros(3, kind))  # noqa: B023
            results += [xp.min(x, out=o()), xp.maximum.reduce(x, out=o()), xp.max(x, 0, o()), xp.add.reduce(x.astype(int), out=o())]
            results += [xp.maximum.accumulate(x, out=wide()), xp.multiply.reduce(x.astype(int), out=(o(),)), xp.any(x, out=o())]
        return [*results, xp.argmax(x, out=xp.zeros((), "uint8")), xp.cumsum(x.astype(int), out=xp.zeros(3, "int16"))]

    both(program)


def test_numbers_joined_to_arrays_are_weak():
    def program(xp):
        small = xp.zeros(2, "uint8")
        return xp.concatenate([small, -1], axis=None), xp.union1d(xp.ones(2, "float16"), 3), xp.append(xp.ones(2, "float32"), 1.5)

    both(program)


def test_empty_products_and_running_results():
    def program(xp):
        return (
            xp.einsum("ij,jk", xp.ones((1, 1)), xp.ones((0, 1)).T[:, :0]), xp.einsum("ij,jk", xp.ones((0, 1)), xp.ones((0, 3))),
            xp.logical_and.accumulate(xp.asarray([[1, 1, 0], [1, 0, 1]]), axis=1),
        )  # fmt: skip

    both(program)
    assert gc.bitwise_or.accumulate(gc.ones((2, 3), dtype=int), axis=1).flags.c_contiguous


def test_views_of_another_dtype():
    x = np.arange(24, dtype=np.int32).reshape(2, 3, 4) - 7
    f = (x / 3).astype(np.float64)
    for a in (x, f, x[:, ::-1], f[0], x[..., :2], f.T, x[..., :1], np.float32(2.5).reshape(())):
        for t in ("int8", "uint8", "int16", "uint32", "float32", "int64", "float64", "complex64", "complex128", bool):
            a = np.ascontiguousarray(a) if a.ndim else a
            g = gc.asarray(a)
            try:
                want = a.view(t)
            except ValueError:
                with pytest.raises(ValueError):
                    g.view(t)
                continue
            exact.assert_same(np.asarray(g.view(t)).view(np.uint8) if a.ndim else g.view(t), want.view(np.uint8) if a.ndim else want)
    g = gc.asarray(f)
    with pytest.raises(ValueError, match="last axis must be contiguous"):
        g[..., ::2].view("int32")
    exact.assert_same(g[..., ::2].view("int64"), f[..., ::2].view("int64"))
    view = g.view("uint8")
    assert view.shape == (2, 3, 32) and g.view().flags.writeable and gc.shares_memory(g, g.view())
    assert type(g.view("S8")) is np.ndarray and (g.view("S8") == f.view("S8")).all()


def test_elements_of_complex_arrays_need_no_program():
    x = np.arange(12.0).reshape(3, 4) + 1j
    g = gc.asarray(x)
    before = gc.cache_info()["runs"]
    total = 0
    for i in range(3):
        for j in range(4):
            total += complex(g[:, ::-1][i, j]) * complex(g.real[i, j])
    a = b = g[1, 2]
    a += 1
    assert gc.cache_info()["runs"] == before
    assert total == sum(x[:, ::-1][i, j] * x.real[i, j] for i in range(3) for j in range(4))
    assert complex(b) == x[1, 2] and complex(a) == x[1, 2] + 1 and complex(g[1, 2]) == x[1, 2]
    half = gc.asarray(np.arange(3, dtype=np.float16))
    assert float(half[2]) == 2.0


def test_insert_before_one_place():
    """A number and a sequence of one number are different places."""

    def program(xp):
        a, b = xp.asarray(np.array([[1, 1], [2, 2], [3, 3]])), xp.arange(24).reshape(2, 3, 4)
        return [
            xp.insert(a, 1, [1, 2, 3], axis=1), xp.insert(a, [1], [1, 2, 3], axis=1), xp.insert(a, [1], [[1], [2], [3]], axis=1),
            xp.insert(b, 1, 5, axis=2), xp.insert(b, -1, xp.arange(4), axis=1), xp.insert(b, 1, xp.arange(8).reshape(2, 4), axis=1),
            xp.insert(xp.arange(4), 2, [7, 8, 9]), xp.insert(xp.arange(4), [2], [7, 8, 9]), xp.insert(xp.arange(4), np.array(2), [7, 8]),
        ]  # fmt: skip

    both(program)


def test_grids_of_masks_and_numpys_numbers():
    def program(xp):
        a = xp.arange(9).reshape(3, 3)
        a[xp.ix_([True, False, True], [0, 2])] += 10
        return [
            a, xp.ix_(a[0] > 1, [1])[0], xp.ix_([], [1])[0], xp.linspace(np.float32(0), 1, 5), xp.linspace(np.int32(0), np.int32(7), 5),
            xp.r_[0 : 1 : np.complex128(5j)], xp.mgrid[0 : 1 : np.complex128(5j)],
        ]  # fmt: skip

    both(program)


def test_histograms_of_small_integers_and_complex_weights():
    def program(xp):
        small = xp.asarray(np.array([-100, 0, 100, 127], dtype="int8"))
        weights = xp.asarray(np.array([1, 2j, 3, 4 + 1j]))
        sums = xp.histogram(xp.asarray([1.0, 2, 2, 3]), 3, weights=weights)[0]
        return [
            *xp.histogram(small, 5), *xp.histogram(small, "auto"), *xp.histogram(small, "fd"), *xp.histogram(small.astype("uint8"), 3),
            sums.real, sums.imag,
        ]  # fmt: skip

    both(program)


@pytest.mark.parametrize(
    "error, call",
    [
        (TypeError, lambda xp: xp.concatenate([xp.zeros(2), xp.ones(2)], out=xp.zeros(4, "float32"), casting="no")),
        (TypeError, lambda xp: xp.concatenate([xp.zeros(2), xp.ones(2, "int32")], dtype="float64", casting="no")),
        (TypeError, lambda xp: xp.concatenate([xp.zeros(2)], out=xp.zeros(2), dtype="float64")),
        (ValueError, lambda xp: xp.trim_zeros(xp.arange(4), "q")),
        (ValueError, lambda xp: xp.unravel_index([0], ())),
        (ValueError, lambda xp: xp.unravel_index(1, (2**32, 2**32))),
        (ValueError, lambda xp: xp.ravel_multi_index(np.zeros((3, 1), int), (2, 1, 0), mode="clip")),
        (TypeError, lambda xp: xp.average(xp.ones((2, 3)), weights=xp.ones(3))),
        (np.exceptions.AxisError, lambda xp: xp.average(0.1, axis=0, weights=10)), (np.exceptions.AxisError, lambda xp: xp.average(xp.array(0.1), axis=-1, weights=xp.array(2.0))),
        (TypeError, lambda xp: xp.gradient(xp.ones((2, 3)), 1.0, 2.0, axis=0)),
        (TypeError, lambda xp: xp.place([1, 2], [True, False], [1])),
        (IndexError, lambda xp: xp.insert(xp.arange(4), [1.5, 2.0], 1)),
    ],
)
def test_refused_as_by_numpy(error, call):
    for xp in (np, gc):
        with pytest.raises(error):
            call(xp)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_frexp_of_every_power_of_two(dtype):
    """And their neighbours, every subnormal power, random bits, what is no number; no floating-point error is met."""
    info = np.finfo(dtype)
    powers = np.ldexp(np.ones(1, dtype), np.arange(info.minexp - info.nmant, info.maxexp)).astype(dtype)
    bits = np.frombuffer(np.random.default_rng(41).bytes(160_000), dtype)
    values = [powers, -powers, np.nextafter(powers, np.zeros(1, dtype)), np.nextafter(powers, np.full(1, np.inf, dtype)), bits]
    x = np.concatenate([*values, np.array([0.0, -0.0, np.inf, -np.inf, np.nan, info.max], dtype)])
    with np.errstate(all="ignore"):
        want = np.frexp(x)
    with gc.errstate(all="raise"):
        got = [np.asarray(part) for part in gc.frexp(gc.asarray(x))]
    for part, expected in zip(got, want):
        assert part.dtype == expected.dtype
        np.testing.assert_array_equal(part, expected)
    np.testing.assert_array_equal(np.signbit(got[0]), np.signbit(want[0]))


def test_ldexp_by_a_number():
    for dtype in ("float16", "float32", "float64"):
        x = np.array([1.5, -0.0, 1e-4, 3.0, np.inf, np.nan], dtype)
        for n in (0, 3, -7, 15, 126, 127, 128, -126, -130, 1023, 1024, -1022, -1074, 3000, -3000):
            with np.errstate(all="ignore"), gc.errstate(all="ignore"):
                got, want = np.asarray(gc.ldexp(gc.asarray(x), n)), np.ldexp(x, n)
            assert got.dtype == want.dtype
            np.testing.assert_array_equal(got, want, f"{dtype} by {n}")
    with pytest.warns(RuntimeWarning, match="overflow encountered in ldexp"):
        gc.eval(gc.ldexp(gc.asarray(np.full(3, 1e300)), 500))


def test_ldexp_of_halves_is_rounded_once():
    x, n = np.array([1.5, 1.0, -1.25, 65504, 1e-4], "f2"), np.array([-24, -25, -23, -20, 12])
    both(lambda xp: [xp.ldexp(xp.asarray(x), xp.asarray(n)), xp.ldexp(xp.asarray(x), -14), xp.ldexp(xp.asarray(x[1:2]), 15)])


def test_ndmax_bounds_sequences_only():
    both(lambda xp: xp.array(xp.ones((2, 3)), ndmax=1))
    with pytest.raises(ValueError, match="exceed"):
        gc.array([[1, 2], [3, 4]], ndmax=1)


def test_negative_exponents_in_views():
    big = gc.asarray(np.arange(20_000) % 5)
    exact.assert_same(np.asarray(2 ** big[::2]), 2 ** (np.arange(20_000) % 5)[::2])
    negative = big - 1
    gc.eval(negative)
    for exponent in (negative[::5], negative[5], negative[5:6], negative.reshape(5, -1).T[1:]):
        with pytest.raises(ValueError, match="negative integer powers"):
            2**exponent


@pytest.mark.parametrize("call", [
    lambda xp: xp.average(xp.ones((2, 2, 3)), axis=0, weights=xp.ones((2, 2))), lambda xp: xp.gradient(xp.arange(5.0), xp.ones((5, 2))),
    lambda xp: xp.gradient(xp.arange(5.0), xp.ones(4)), lambda xp: xp.i0(xp.asarray([1j])), lambda xp: xp.delete([0, 1, 2], np.array([], float)),
    lambda xp: xp.unpackbits(xp.asarray([1], dtype="u1"), count=-9), lambda xp: xp.unravel_index([1], ()),
    lambda xp: xp.isin(xp.asarray([0, 1], dtype="i2"), xp.asarray([-128, 127], dtype="i1"), kind="table"),
    lambda xp: xp.ediff1d(xp.asarray([1, 2, 3]), to_end=1.5), lambda xp: xp.ediff1d(xp.asarray([1, 2, 3]), 4, 0.5),
    lambda xp: xp.vecdot(xp.ones((2, 2)), xp.ones((2, 2)), axes=[0, 0, ()], keepdims=True),
])  # fmt: skip
def test_mistakes_in_numpys_words(call):
    with pytest.raises(Exception) as theirs:  # noqa: PT011
        call(np)
    with pytest.raises(type(theirs.value)) as ours:
        call(gc)
    words = [w for w in str(theirs.value).lower().replace("`", " ").split() if w.isalpha() and len(w) > 3]
    assert isinstance(theirs.value, np.exceptions.AxisError) or sum(w in str(ours.value).lower() for w in words) >= 0.6 * len(words)


def test_a_list_is_no_shape_of_ndindex():
    for xp in (np, gc):
        assert list(xp.ndindex((2, 1))) == list(xp.ndindex(2, 1)) == [(0, 0), (1, 0)]
        with pytest.raises(TypeError):
            list(xp.ndindex([2, 3]))


def test_axes_of_vecdot_that_are_kept():
    a = np.arange(24.0).reshape(2, 3, 4)
    for axes in ([1, 1, 1], [1, 1, 0], [1, 1], [(1,), (1,)], [0, 0, -1], [0, 0]):
        exact.assert_same(np.asarray(gc.vecdot(gc.asarray(a), gc.asarray(a), axes=axes, keepdims=True)), np.vecdot(a, a, axes=axes, keepdims=True))


def test_copies_of_a_view_onto_itself_write_nothing():
    for xp in (np, gc):
        x = xp.arange(6.0).reshape(2, 3)
        xp.copyto(xp.diagonal(x), xp.diagonal(x))
        xp.copyto(xp.diagonal(x[:0]), xp.diagonal(x[:0]), where=False)
        with pytest.raises(ValueError, match="read-only"):
            xp.copyto(xp.diagonal(x), xp.diagonal(x[:, ::-1]))


def test_the_first_of_two_errors_of_a_statement_is_told():
    memory = np.zeros(3)
    x = gc.from_dlpack(memory)
    with gc.errstate(all="raise"), pytest.raises(FloatingPointError):
        x / 0
    assert (x + 1).tolist() == [1, 1, 1]  # nothing of it is left
    with pytest.raises(ValueError, match="broadcast"):
        x + gc.ones(2)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
def test_limits_are_numpys_numbers(dtype):
    def program(xp):
        f, x = xp.finfo(dtype), xp.ones(2, dtype)
        with np.errstate(over="ignore"):
            made = [f.max * 2, -f.max, f.eps / 2, f.tiny * x, f.eps * xp.ones(2, "f2"), xp.ones(2, "f2") - f.eps, xp.sqrt(f.eps)]
        made += [xp.array([f.eps, f.max]), xp.array(f.min), xp.full(3, f.max), xp.where(x > 2, xp.ones(2, "f2"), f.max), xp.array([f.eps, 1.0])]
        return [*made, xp.maximum(xp.ones(2, "f2"), f.tiny), xp.clip(x, -f.max, f.max)]

    both(program)
    assert str(gc.finfo(dtype)) == str(np.finfo(dtype)) and np.dtype(type(gc.finfo(dtype).eps)) == dtype
    assert isinstance(gc.finfo(dtype).eps, float) and isinstance(gc.finfo(dtype).eps, np.dtype(dtype).type)


def test_arrays_in_arrays_of_objects_are_themselves():
    for xp in (np, gc):
        a, b = xp.arange(3), xp.arange(2.0)
        for made in (xp.array([a, b], dtype=object), xp.asarray((a, b, None), object)):
            made[0][1] += 6
            assert made[0] is a and made[1] is b and made.shape == (len(made),)
        assert a.tolist() == [0, 13, 2] and xp.concatenate(made[:2]).tolist() == [0, 13, 2, 0, 1]
        assert xp.array([a, a], dtype=object).shape == (2, 3)


def test_sizes_of_arrays_in_memory():
    def program(xp):
        x = xp.zeros((20, 3))
        arrays = [x, x + 1, x[0], x.T, x.copy(), xp.zeros(0), xp.array(2.0), x[0, 0], xp.arange(5, dtype="i1"), x.sum(), (x > 0)[0, 0]]
        return [sys.getsizeof(a) for a in arrays]

    both(program)


def test_text_and_dates_go_to_numpy_at_once():
    def program(xp):
        words, days = xp.array(["pear", "fig", "fig"]), xp.array(["2024-03-01", "2024-01-05"], "M8[D]")
        rows = xp.zeros(2, dtype=[("a", "M8[D]"), ("b", float)])
        numbers = [xp.diff(days).astype(int), xp.argsort(words, kind="stable"), xp.unique(words, return_inverse=True)[1], xp.array(["1", "2.5"], "f8")]
        texts = [xp.sort(words), xp.unique(words), xp.sort(days), xp.concatenate([words, words[:1]]), xp.sort(rows, order="b"), xp.max(days)]
        return numbers, [np.asarray(t).tolist() for t in texts]

    (got, texts), (want, expected) = program(gc), program(np)
    assert texts == expected and all(isinstance(x, gc.Array) for x in got[1:])
    for g, w in zip(got, want, strict=True):
        exact.assert_same(np.asarray(g), np.asarray(w))
    called = []
    words = gc.array(["b", "a"])
    sys.setprofile(lambda frame, event, arg: called.append(frame.f_code.co_name))
    try:
        gc.sort(words), gc.array(["b", "a"]), gc.unique(words)
    finally:
        sys.setprofile(None)
    assert "_call" not in called  # which is asked after our function has refused


def test_narrow_floats_of_a_package_are_not_taken_for_structures():
    narrow = pytest.importorskip("ml_dtypes")
    x = np.array([3, 1, 2], narrow.bfloat16)
    assert isinstance(gc.sort(x), gc.Array) and gc.sort(x).tolist() == [1, 2, 3] and gc.sum(x).dtype == narrow.bfloat16


def test_text_and_dates_after_numbers_go_to_numpy_at_once():
    def program(xp):
        x = xp.arange(6.0)
        mask, days = x > 2, np.array(["2024-03-01", "NaT"], "M8[D]")
        holes = xp.where(mask, x, None)
        moved = [xp.where(mask, "big", "small"), xp.where(mask, days[0], days[1]), xp.where(x[:2] > 0, days, days[::-1]), xp.full((2, 3), "ab")]
        moved += [xp.where(True, "a", ["b", "c"]), xp.where([1, 0], np.timedelta64(3, "h"), np.timedelta64("NaT")), xp.full(2, None), xp.where(mask[3], "y", "n")]
        numbers = [xp.full(3, "2.5", float), xp.full(2, None, float), xp.where(mask, x, 0), xp.full((2, 3), 7)]
        return holes, [np.asarray(m) for m in moved], numbers

    (holes, moved, numbers), (h, m, n) = program(gc), program(np)
    assert holes.dtype == h.dtype == object and holes.tolist() == h.tolist() and [*map(type, holes)] == [*map(type, h)]
    for got, want in zip(moved, m, strict=True):
        assert got.dtype == want.dtype and got.shape == want.shape and got.astype(str).tolist() == want.astype(str).tolist()
    for got, want in zip(numbers, n, strict=True):
        assert isinstance(got, gc.Array)
        exact.assert_same(np.asarray(got), np.asarray(want))
    called, mask = [], gc.arange(6.0) > 2
    sys.setprofile(lambda frame, event, arg: called.append(frame.f_code.co_name))
    try:
        gc.where(mask, "a", "b"), gc.where(mask, 1, None), gc.full(3, "a")
    finally:
        sys.setprofile(None)
    assert "_call" not in called  # which is asked after our function has refused


def test_values_of_full_lose_axes_in_front():
    both(lambda xp: [xp.full((), xp.array([2.5])), xp.full((), [1]), xp.full(2, xp.array([[3.0]])), xp.full((2, 2), xp.array([[[1.0, 2]]]), "f4"), xp.full((2, 0), [[[]]])])
    for shape, value in (((), [1, 2]), ((2,), [[1, 2], [3, 4]])):
        for xp in (np, gc):
            with pytest.raises(ValueError, match="could not broadcast input array from shape"):
                xp.full(shape, value)


def test_vectorize_asks_a_number_of_numpys_for_dtypes_and_calls_as_numpy_does():
    def program(xp):
        def seen(**options):
            calls = []

            def value(x):
                calls.append(type(x) if isinstance(x, (int, float, str)) and type(x) in (int, float, str) else "numpys")
                return {"x": x} if options.pop("as_dict", False) else x * 2

            made = xp.vectorize(value, **options)(xp.arange(3))
            return str(made.tolist()), str(made.dtype), calls

        class Number:
            def __float__(self):
                return 2.5

            def __len__(self):
                return 0

        kept = xp.vectorize(lambda x: {"x": x})(xp.arange(2.0))
        numbers = xp.vectorize(lambda x: Number(), otypes=[float])([1, 2])
        text = xp.vectorize(lambda x, n: str(x) + str(int(n)))(xp.array(["a", "bb"]), [1, 2])
        return [seen(), seen(cache=True), seen(otypes=[float]), str(kept.tolist()), numbers.tolist(), text.tolist()]

    assert program(gc) == program(np)
    for result in ([1.5, 2.5], []):
        for xp in (np, gc):
            with pytest.raises(ValueError, match="setting an array element with a sequence"):
                xp.vectorize(lambda x, result=result: result)(xp.arange(2.0))


@pytest.mark.parametrize("casting", ["no", "equiv", "safe", "same_kind", "unsafe", "same_value", "any", None])
@pytest.mark.parametrize("name", ["concatenate", "of one dtype", "flattened", "dtype", "stack", "vstack", "hstack", "clip", "clipped by a float", "clipped by an array"])
def test_casting_is_a_rule_that_holds_for_joins_and_clip(name, casting):
    program = {
        "concatenate": lambda xp: xp.concatenate([[1], [2.0]], casting=casting),
        "of one dtype": lambda xp: xp.concatenate([xp.arange(2), xp.arange(3)], casting=casting),
        "flattened": lambda xp: xp.concatenate([xp.ones((2, 2), "f4"), [2.0]], axis=None, casting=casting),
        "dtype": lambda xp: xp.concatenate([[1], [2.0]], dtype="f4", casting=casting),
        "stack": lambda xp: xp.stack([xp.arange(2), xp.arange(2.0)], casting=casting),
        "vstack": lambda xp: xp.vstack([xp.arange(2), xp.arange(2.0)], casting=casting),
        "hstack": lambda xp: xp.hstack([xp.arange(2), xp.arange(2.0)], casting=casting),
        "clip": lambda xp: xp.clip(xp.arange(5), 1, 3, casting=casting),
        "clipped by a float": lambda xp: xp.clip(xp.arange(5), 0.5, 3, casting=casting),
        "clipped by an array": lambda xp: xp.clip(xp.arange(5), xp.full(5, 0.5), 3, casting=casting),
    }[name]
    try:
        want = program(np)
    except (TypeError, ValueError) as error:
        with pytest.raises(TypeError if isinstance(error, TypeError) else ValueError):
            program(gc)
    else:
        exact.assert_same(program(gc), want)


def test_a_broadcast_stands_for_its_arrays():
    def program(xp, cls):
        a, b = xp.arange(3), xp.arange(2).reshape(2, 1)
        made = xp.broadcast(cls(a, b), 5)
        nested = xp.broadcast(xp.broadcast(xp.broadcast(a), b), xp.broadcast(), cls(b, 7))
        return made.shape, made.numiter, [tuple(map(int, t)) for t in made], nested.shape, nested.numiter, nested.nd

    assert program(gc, gc.broadcast) == program(gc, np.broadcast) == program(np, np.broadcast)
    with pytest.raises(ValueError, match="at most 64"):
        gc.broadcast(*[gc.broadcast(*[gc.arange(2)] * 13)] * 5)


def test_c_codes_sequence_calls():
    api = ctypes.pythonapi
    api.PySequence_GetItem.restype = api.PySequence_Concat.restype = ctypes.py_object
    api.PySequence_GetItem.argtypes = [ctypes.py_object, ctypes.c_ssize_t]
    api.PySequence_SetItem.argtypes = [ctypes.py_object, ctypes.c_ssize_t, ctypes.py_object]

    for x in (gc.arange(4), gc.arange(8).reshape(4, 2)):
        for i in range(-4, 4):
            exact.assert_same(np.asarray(api.PySequence_GetItem(x, i)), np.asarray(x)[i])
            api.PySequence_SetItem(x, i, i)
            exact.assert_same(np.asarray(x[i]), np.full(x.shape[1:], i))
        for i in (-9, -5, 4, 9):
            with pytest.raises(IndexError):
                api.PySequence_GetItem(x, i)
            with pytest.raises(IndexError):
                api.PySequence_SetItem(x, i, 0)
    for left, right in ((gc.arange(2), gc.arange(2)), (gc.arange(2), [1, 2]), ([1, 2], gc.arange(2))):
        with pytest.raises(TypeError):
            operator.concat(left, right)
        exact.assert_same(left + right, np.asarray(left) + np.asarray(right))


def infinite(xp, dtype):
    return xp.array([1, 1], dtype=dtype), xp.array([-xp.inf, xp.inf], dtype=dtype)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("name", ["add.outer", "divide.outer", "dot", "matrix_power", "cov", "corrcoef", "median", "median of rows", "nanmedian"])
def test_functions_that_stand_for_operations_report_them(name, dtype):
    program = {
        "add.outer": lambda xp, a, b: xp.add.outer(b, b),
        "divide.outer": lambda xp, a, b: xp.divide.outer(a, a * 0),
        "dot": lambda xp, a, b: xp.dot(a[None, None], b[None, :, None]),
        "matrix_power": lambda xp, a, b: xp.linalg.matrix_power(xp.diag(b), 2),
        "cov": lambda xp, a, b: xp.cov(b),
        "corrcoef": lambda xp, a, b: xp.corrcoef(xp.stack([b, a])),
        "median": lambda xp, a, b: xp.median(b),
        "median of rows": lambda xp, a, b: xp.median(xp.stack([a, b]), axis=1),
        "nanmedian": lambda xp, a, b: xp.nanmedian(xp.append(b, xp.nan)),
    }[name]
    for errors in ({"invalid": "raise"}, {"divide": "raise"}, {"over": "raise"}):
        raised = []
        for xp in (np, gc):
            with xp.errstate(all="ignore"):
                a, b = infinite(xp, dtype)
                try:
                    with xp.errstate(**errors):
                        program(xp, a, b)
                    raised.append(False)
                except FloatingPointError:
                    raised.append(True)
        assert raised[0] == raised[1], errors


def test_what_nothing_is_undefined_in_reports_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        x = gc.array([[gc.inf, gc.inf, 1.0], [gc.nan, 2.0, 3.0]])
        exact.assert_same(gc.median(x, axis=1), np.array([np.inf, np.nan]))
        exact.assert_same(gc.nanmedian(x, axis=1), np.array([np.inf, 2.5]))
        assert gc.isnan(gc.cov(gc.array([1.0, gc.nan, 2.0])))
        exact.assert_same(gc.linalg.matrix_power(gc.array([[2.0, 1.0], [0.0, 2.0]]), 3), np.array([[8.0, 12.0], [0.0, 8.0]]))


def test_a_third_power_is_multiplied_from_the_left():
    a = np.random.default_rng(3).integers(-9, 9, (4, 4)) * np.array([1e200, 1, 1, 1])
    a = np.where(a == 0, 0.0, a)
    with np.errstate(all="ignore"), gc.errstate(all="ignore"):
        want = np.linalg.matrix_power(a, 3)
        got = np.asarray(gc.linalg.matrix_power(gc.asarray(a), 3))
    assert (np.isnan(got) == np.isnan(want)).all() and (np.isinf(got) == np.isinf(want)).all()


def test_covariances_with_weights_of_no_sum_are_refused():
    for xp in (np, gc):
        with pytest.raises(ZeroDivisionError):
            xp.cov(xp.arange(6.0).reshape(2, 3), aweights=xp.zeros(3))
        with pytest.raises(ZeroDivisionError):
            xp.cov(xp.arange(3.0), fweights=[0, 0, 0])


def test_quantiles_at_fractions_and_long_doubles():
    half, third = fractions.Fraction(1, 2), fractions.Fraction(1, 3)
    for program in (
        lambda xp: xp.quantile([1, 2], half),
        lambda xp: xp.percentile(xp.arange(5), fractions.Fraction(50)),
        lambda xp: xp.quantile(xp.arange(4), [third, half]).tolist(),
        lambda xp: xp.nanquantile(xp.arange(8).reshape(2, 4), third, axis=1).tolist(),
        lambda xp: xp.quantile(xp.arange(4), xp.longdouble(0.5)),
        lambda xp: xp.nanpercentile(xp.arange(4.0), xp.longdouble(50)),
    ):
        got, want = program(gc), program(np)
        assert type(got) is type(want) and got == want
    assert gc.quantile(gc.arange(4.0), half) == 1.5


@pytest.mark.parametrize("name", ["mgrid", "ogrid"])
def test_grids_of_long_doubles(name):
    def program(xp):
        grid, one = getattr(xp, name), xp.longdouble(1)
        return [grid[0:one:3j], grid[0 : xp.clongdouble(2) : 3j], grid[0 : one : xp.longdouble(0.25)], *grid[0:one:0.5, 0:2]]

    for got, want in zip(program(gc), program(np), strict=True):
        assert got.dtype == want.dtype and got.tolist() == want.tolist()


def test_classes_of_limits_take_parameters():
    assert gc.finfo[np.float64].__origin__ is gc.finfo
    assert gc.finfo(gc.float64).eps == np.finfo(np.float64).eps


IN_ORDER = ["subtract", "divide", "floor_divide", "remainder", "fmod", "power", "float_power", "left_shift", "arctan2", "copysign", "heaviside", "nextafter"]


@pytest.mark.parametrize("shape, axis", [((6,), 0), ((3, 4), 0), ((3, 4), 1), ((2, 3, 4), -2), ((), ()), ((2, 2), ())])
@pytest.mark.parametrize("name", IN_ORDER)
def test_folds_in_order_leave_out_what_a_mask_does(name, shape, axis):
    """Each element that is left out changes nothing, whatever the fold begins at."""
    rng = np.random.default_rng(len(name))
    for dtype in ("i4", "u1", "f8"):
        if dtype == "f8" and name == "left_shift":
            continue
        x, mask = rng.integers(1, 4, shape).astype(dtype), rng.random(shape) < 0.5
        theirs = getattr(np, name)
        kind = theirs.reduce(x.ravel()[:1]).dtype
        rows, masks = (x[None], mask[None]) if axis == () else (np.moveaxis(v, axis, 0) for v in (x, mask))
        want = np.full(rows.shape[1:], 2, kind)
        for row, chosen in zip(rows, masks, strict=True):
            want = np.where(chosen, theirs(want, row.astype(kind)).astype(kind), want)
        for keeps in (False, True):
            got = getattr(gc, name).reduce(gc.asarray(x), axis=axis, initial=2, where=gc.asarray(mask), keepdims=keeps)
            assert got.dtype == want.dtype
            np.testing.assert_allclose(np.asarray(got).reshape(want.shape), want, rtol=1e-6)


@pytest.mark.parametrize("method", ["reduce", "accumulate"])
@pytest.mark.parametrize("dtype", ["?", "i1", "u8", "f4", "c8"])
def test_folds_of_one_element_have_the_dtype_of_many(method, dtype):
    for name in (*IN_ORDER, "hypot", "logaddexp", "logaddexp2", "gcd", "lcm", "bitwise_or", "fmax"):
        for shape in ((1,), (2,), (1, 2)):
            x = np.ones(shape, dtype)
            try:
                want = getattr(getattr(np, name), method)(x)
            except TypeError:
                with pytest.raises(TypeError):
                    getattr(getattr(gc, name), method)(gc.asarray(x))
            else:
                got = getattr(getattr(gc, name), method)(gc.asarray(x))
                assert (got.dtype, got.shape) == (want.dtype, want.shape), (name, shape)


def test_a_fold_of_integers_begins_at_the_identity_of_its_floats():
    x, mask = np.array([[1, 2], [3, 4]], "i1"), np.array([[True, False], [True, False]])
    for name in ("logaddexp", "logaddexp2", "hypot"):
        got = getattr(gc, name).reduce(gc.asarray(x), where=gc.asarray(mask))
        np.testing.assert_allclose(np.asarray(got), getattr(np, name).reduce(x, where=mask), rtol=2e-3)
        assert got.dtype == np.float16


def test_the_only_axis_of_no_axes_is_squeezed():
    def program(xp):
        x = xp.array(5)
        return [xp.squeeze(x, 0), xp.squeeze(x, axis=-1), x.squeeze(0), x.squeeze(axis=-1), xp.array([3.0]).sum().squeeze(0), x.squeeze(())]

    both(program)
    for axis in (1, -2, (0,), (0, -1)):
        for call in (lambda axis=axis: gc.squeeze(gc.array(5), axis), lambda axis=axis: gc.array(5).squeeze(axis)):
            with pytest.raises(ValueError):
                call()


def test_a_star_binds_the_parts_and_leaves_eval():
    names = {}
    exec("from graphc import *; left = eval('1 + 1'), fft.fft([1.0, 2.0]), ma.array([1]), random.default_rng(0), __version__", names)
    assert names["left"][0] == 2 and names["left"][4] == np.__version__
    theirs = {}
    exec("from numpy import *", theirs)
    assert {n for n in theirs if n not in names} <= {"core", "f2py", "test", "__builtins__"}


def test_functions_of_fields_write_into_arrays():
    from numpy.lib import recfunctions

    x, y = gc.array(3), gc.zeros(3)
    recfunctions.assign_fields_by_name(x, gc.array(7))
    recfunctions.assign_fields_by_name(y, gc.arange(3.0))
    assert int(x) == 7 and y.tolist() == [0, 1, 2]


def test_signs_of_infinite_numbers_are_single_results():
    for xp in (gc, np):
        assert isinstance(xp.isposinf(np.inf), np.bool) and isinstance(xp.isneginf(xp.float64(3)), np.bool)
    with pytest.warns(DeprecationWarning, match="`np.chararray` is deprecated"):
        assert gc.chararray is np.char.chararray
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PendingDeprecationWarning)
        assert gc.matlib.eye(2).shape == (2, 2)


def test_extremes_of_three_arguments_are_deprecated():
    for xp in (gc, np):
        out = xp.empty(2)
        with pytest.warns(DeprecationWarning, match="^Passing more than 2 positional arguments to np.maximum and np.minimum is deprecated. If you meant .* relevant axis.$") as told:
            xp.maximum(xp.ones(2), xp.zeros(2), out)
        assert told[0].filename == __file__ and out.tolist() == [1, 1]
