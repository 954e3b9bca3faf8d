"""Complex numbers: dtypes, arithmetic, views of parts, special values, all against NumPy."""

import warnings

import numpy as np
import pytest

import graphc as gc

DTYPES = ("complex64", "complex128")
ELEMENTARY = (
    "exp", "expm1", "exp2", "log", "log1p", "log2", "log10", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", "arcsin",
    "arccos", "arctan", "arcsinh", "arccosh", "arctanh",
)  # fmt: skip


def numbers(shape, dtype, seed=0, spread=2.0):
    rng = np.random.default_rng(seed)
    return (rng.normal(0, spread, shape) + 1j * rng.normal(0, spread, shape)).astype(dtype)


def edges(dtype):
    """Every pair of edge values as real and imaginary part."""
    info = np.finfo(dtype)
    far = 710.0 if dtype == "complex128" else 89.0
    parts = [0.0, -0.0, 1.0, -1.0, 0.5, -2.5, 30.0, far, 1e5, float(info.max), -float(info.max) / 2, float(info.tiny), np.inf, -np.inf, np.nan]
    z = np.empty((len(parts), len(parts)), dtype)
    z.real, z.imag = np.array(parts, info.dtype)[:, None], np.array(parts, info.dtype)[None, :]
    return z.ravel()


def close(got, want, units=64, scale=None):
    """Each part equal, or within some units of rounding of the number it belongs to."""
    got, want = np.asarray(got), np.asarray(want)
    assert got.dtype == want.dtype and got.shape == want.shape
    eps = np.finfo(want.dtype).eps
    with np.errstate(all="ignore"):
        size = np.abs(want) if scale is None else scale
        for g, w in ((got.real, want.real), (got.imag, want.imag)):
            same = (g == w) | (np.isnan(g) & np.isnan(w))
            near = np.abs(g - w) <= units * eps * np.where(np.isfinite(size), size, np.abs(w))
            assert np.all(same | near), (got[~(same | near)][:5], want[~(same | near)][:5])


@pytest.mark.parametrize("dtype", DTYPES)
def test_arithmetic(dtype):
    x, y = numbers((3, 50), dtype), numbers((50,), dtype, 1)
    a, b = gc.asarray(x), gc.asarray(y)
    assert a.dtype == x.dtype and np.array_equal(np.asarray(a), x)
    for name in ("add", "subtract", "multiply", "divide", "power"):
        close(getattr(gc, name)(a, b), getattr(np, name)(x, y), 200)
    for scalar in (2, -1.5, 2 - 3j, np.float32(1.25), np.complex64(1j)):
        close(a * scalar, x * scalar, 8)
        close(scalar / a, scalar / x, 8)
        assert (a + scalar).dtype == (x + scalar).dtype
    assert np.array_equal(np.asarray(-a), -x) and np.array_equal(np.asarray(a.conj()), x.conj())
    close(abs(a), abs(x), 2)
    close(gc.angle(a), np.angle(x), 4)
    close(gc.sign(a), np.sign(x), 4)
    close(gc.reciprocal(a), 1 / x, 8)
    close(gc.square(a), x * x, 8)
    for exponent in (0, 1, 2, 3, 7, -2, 0.5, 1.5):
        close(a**exponent, x**exponent, 400)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ELEMENTARY)
def test_elementary(name, dtype):
    x = numbers((400,), dtype, 2)
    wide = getattr(np, name)(x.astype("clongdouble")).astype(dtype)
    close(getattr(gc, name)(gc.asarray(x)), wide, 16)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["exp", "log", "sqrt", "sin", "cos", "tan", "sinh", "cosh", "tanh", *ELEMENTARY[14:]])
def test_special_values(name, dtype):
    z = edges(dtype)
    with np.errstate(all="ignore"):
        want, wide = getattr(np, name)(z), getattr(np, name)(z.astype("clongdouble")).astype(dtype)
        got = np.asarray(getattr(gc, name)(gc.asarray(z)))
        eps, tiny = np.finfo(dtype).eps, np.finfo(dtype).tiny
        for g, w, x in ((got.real, want.real, wide.real), (got.imag, want.imag, wide.imag)):
            def agrees(v):
                return (g == v) | (np.isnan(g) & np.isnan(v)) | (np.abs(g - v) <= 200 * eps * np.abs(v) + tiny)

            assert np.all(agrees(w) | agrees(x)), [(z[i], got[i], want[i]) for i in np.flatnonzero(~(agrees(w) | agrees(x)))[:5]]


@pytest.mark.parametrize("part", ["real", "imag"])
@pytest.mark.parametrize("name", ["cumsum", "cumprod"])
@pytest.mark.parametrize("shape, axis", [((7,), 0), ((2, 3, 4), 0), ((3, 40), 1), ((0, 3), 1), ((1,), 0)])
def test_a_part_of_a_scan_is_replaced(shape, axis, name, part):
    def replaced(xp):
        z = getattr(xp, name)(xp.asarray(numbers(shape, "complex128") / 4), axis=axis)
        getattr(z, part)[...] = 3.0
        return z, z * 2 + 1

    for got, want in zip(replaced(gc), replaced(np), strict=True):
        close(got, want, 400)


@pytest.mark.parametrize("dtype", DTYPES)
def test_powers_of_zero(dtype):
    """0 where the exponent's real part is positive, else NaN, but for the exponent 0."""
    y = np.array([1 + 4j, 2 - 3j, 1, 0.5 + 1j, -1, -1 + 2j, 1j, 0, -2j, np.inf, complex(np.nan, 1), complex(1, np.nan), -0.0 + 1j], dtype)
    for zero in (0j, complex(-0.0, 0), complex(0, -0.0)):
        x = np.full(len(y), zero, dtype)
        with np.errstate(invalid="ignore"), gc.errstate(invalid="ignore"):
            want, got = np.power(x, y), np.asarray(gc.power(gc.asarray(x), gc.asarray(y)))
        np.testing.assert_array_equal(got.view(got.real.dtype), want.view(want.real.dtype))


@pytest.mark.parametrize("size", [5, 100_000])
@pytest.mark.parametrize("dtype", DTYPES)
def test_negative_whole_powers_of_zero(dtype, size):
    def program(xp):
        z = xp.zeros(size, dtype)
        z[::2] = 1 + 1j
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            made = [p for n in (-1, -2, -3.0, -7) for p in (z**n, xp.power(z, n), z[1] ** n)]
            shown = [repr(xp.asarray(p).ravel()[:3]) for p in made]
        return shown, sorted({str(w.message) for w in told})

    assert program(gc) == program(np)


@pytest.mark.parametrize("dtype", DTYPES)
def test_comparisons(dtype):
    x = np.array([1 + 2j, 1 - 2j, -1 + 2j, np.nan + 1j, 1 + np.nan * 1j, 1 + 2j], dtype)
    a = gc.asarray(x)
    for name in ("equal", "not_equal", "less", "less_equal", "greater", "greater_equal"):
        with np.errstate(invalid="ignore"):
            want = getattr(np, name)(x[:, None], x)
        assert np.array_equal(np.asarray(getattr(gc, name)(a[:, None], a)), want), name
    for name in ("isnan", "isinf", "isfinite"):
        z = edges(dtype)
        assert np.array_equal(np.asarray(getattr(gc, name)(gc.asarray(z))), getattr(np, name)(z))
    finite = numbers((40,), dtype)
    for name in ("minimum", "maximum"):
        want = getattr(np, name)(finite, finite[::-1])
        assert np.array_equal(np.asarray(getattr(gc, name)(gc.asarray(finite), finite[::-1].copy())), want)
    assert np.array_equal(np.asarray(gc.where(a == a, a, 0)), np.where(x == x, x, 0))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("shape", [(7,), (1000,), (20, 500), (3, 1, 9), (0,), (4, 0)])
def test_reductions(dtype, shape):
    x = numbers(shape, dtype)
    a = gc.asarray(x)
    for axis in (None, 0, -1):
        size = np.abs(x).sum(axis) if x.size else 0
        close(a.sum(axis), x.sum(axis), 16, size)
        with np.errstate(all="ignore"):
            if x.size:
                close(a.mean(axis), x.mean(axis), 16, size)
                assert np.allclose(np.asarray(a.var(axis)), x.var(axis), rtol=1e-4 if dtype == "complex64" else 1e-12)
        assert np.array_equal(np.asarray((a != 0).any(axis)), (x != 0).any(axis))
    small = numbers((3, 11), dtype, spread=1)
    close(gc.asarray(small).prod(1), small.prod(1), 64)
    close(gc.cumsum(gc.asarray(small), 1), small.cumsum(1), 16, 30)
    close(gc.cumprod(gc.asarray(small), 1), small.cumprod(1), 64)
    assert complex(gc.asarray(np.zeros(0, dtype)).prod()) == 1


@pytest.mark.parametrize("dtype", DTYPES)
def test_products(dtype):
    for m, k, n in ((5, 7, 6), (1, 3, 1), (40, 130, 33)):
        x, y = numbers((m, k), dtype), numbers((k, n), dtype, 1)
        size = np.abs(x) @ np.abs(y)
        close(gc.asarray(x) @ gc.asarray(y), x @ y, 16, size)
        close(gc.asarray(x) @ gc.asarray(y[:, 0].copy()), x @ y[:, 0], 16, size[:, 0])
    close(gc.vecdot(gc.asarray(x), gc.asarray(x)), np.vecdot(x, x), 64)
    close(gc.vdot(gc.asarray(x), gc.asarray(x)), np.vdot(x, x), 64)


def test_parts_are_views():
    x = numbers((4, 6), "complex128")
    a = gc.asarray(x.copy())
    for array in (a, x):
        real, row = array.real, array.imag[1]
        real[2] = 5
        row += 1
        array.imag[:, 3] = array.real[:, 2]
        array.T[0] *= 2j
        array.real = array.real + array.imag
    assert np.array_equal(np.asarray(a), x)
    assert a.real.strides == x.real.strides and np.array_equal(np.asarray(a.real[1:, ::2]), x.real[1:, ::2])
    assert gc.shares_memory(a, a.imag) and a.real.dtype == np.float64
    assert np.array_equal(np.asarray(gc.real(a.T)), x.T.real)


def test_moves_and_updates():
    x = numbers((5, 7, 3), "complex64")
    a = gc.asarray(x.copy())
    for key in (np.s_[1:4, ::-2], np.s_[..., 1], np.s_[[0, 2], :, [1, 2]]):
        assert np.array_equal(np.asarray(a[key]), x[key])
    mask = x.real > 0
    assert np.array_equal(np.asarray(a[gc.asarray(mask)]), x[mask])
    assert np.array_equal(np.asarray(a.transpose(2, 0, 1).reshape(3, 35)), x.transpose(2, 0, 1).reshape(3, 35))
    for array in (a, x):
        array[1:3, ::2] = 1j
        array[[0, 4], 1] = [[1, 2, 3], [4j, 5j, 6j]]
        array[array.real < -1] = 7 - 7j
    assert np.array_equal(np.asarray(a), x)
    joined = np.concatenate([x, x[::-1]], axis=1)
    assert np.array_equal(np.asarray(gc.concatenate([a, a[::-1]], axis=1)), joined)
    places = np.array([0, 3, 3, 1, 0])
    total, want = gc.zeros(4, "complex64"), np.zeros(4, "complex64")
    gc.add.at(total, places, 1 + 2j)
    np.add.at(want, places, 1 + 2j)
    assert np.array_equal(np.asarray(total), want)
    gc.multiply.at(total, places, 1j)
    np.multiply.at(want, places, 1j)
    assert np.array_equal(np.asarray(total), want)


def test_dtypes_and_scalars():
    for other in ("bool", "int8", "int32", "uint64", "float16", "float32", "float64", "complex64", "complex128"):
        for dtype in DTYPES:
            assert gc.result_type(other, dtype) == np.result_type(other, dtype)
            assert (gc.zeros(1, other) + gc.zeros(1, dtype)).dtype == (np.zeros(1, other) + np.zeros(1, dtype)).dtype
        assert (gc.zeros(1, other) * 1j).dtype == (np.zeros(1, other) * 1j).dtype
    z = gc.asarray(2.5 - 1j)
    assert z.dtype == gc.complex128 and complex(z) == z.item() == 2.5 - 1j
    assert gc.asarray([1, 2j]).tolist() == [1, 2j]
    assert gc.asarray([1.5]).astype("complex64").tolist() == [1.5 + 0j]
    assert gc.asarray([1 + 2j, 0, 1j]).astype(bool).tolist() == [True, False, True]
    assert gc.full((2,), 3 + 1j).dtype == gc.complex128 and gc.ones(2, "complex64").tolist() == [1, 1]
    for dtype in DTYPES:
        zero = gc.zeros_like(gc.ones((), dtype))
        assert complex(zero) == 0 and np.asarray(gc.zeros((), dtype)) == 0
    for convert in (float, int):
        with pytest.raises(TypeError):
            convert(z)
    with pytest.raises(TypeError, match="complex"):
        gc.zeros(2)[0] = 1j
    for name in ("floor", "remainder", "arctan2", "bitwise_and"):
        with pytest.raises(TypeError, match="complex128"):
            getattr(gc, name)(*[gc.zeros(2, complex)] * (1 if name == "floor" else 2))
    assert gc.isdtype(gc.complex64, "complex floating") and gc.finfo(gc.complex64).bits == 32


def test_exchange():
    x = numbers((3, 5), "complex64")
    assert np.array_equal(np.from_dlpack(gc.asarray(x)), x)
    assert np.array_equal(np.asarray(gc.from_dlpack(x)), x)
    assert np.array_equal(np.asarray(memoryview(gc.asarray(x))), x)


def test_one_kernel_for_a_formula():
    @gc.jit
    def f(x, y):
        return gc.exp(x) * y.conj() + abs(x)

    x, y = numbers((300,), "complex128"), numbers((300,), "complex128", 1)
    close(f(x, y), np.exp(x) * y.conj() + abs(x), 16)
    assert f.lower(gc.asarray(x), gc.asarray(y)).as_text("kernel").count("kernel.func") == 1


@pytest.mark.parametrize("xp", [np, gc], ids=["numpy", "graphc"])
def test_elements_of_which_no_part_is_needed(xp):
    """Imaginary parts of real elements are zeros: the kernel holds no gather, and passes nothing that only it takes."""
    x = xp.concatenate([xp.asarray(np.array([1 + 1j, 0, 3 - 2j]))] * 2)[1:].copy()
    xp.putmask(x, x > 0, xp.asarray(np.array([4, 5], dtype="uint16")))
    x[...] = x.imag
    assert np.array_equal(np.asarray(x), [0, 0, 0, 0, 0])


def test_sums_of_equal_parts():
    """Both parts of a complex zero are one value: the kernel and its program agree on what is kept."""
    a = gc.zeros_like(gc.asarray(np.ones((2, 3), np.complex64)))
    assert np.asarray(gc.sum(a, axis=(0, 1))) == 0
    assert np.array_equal(gc.sum(gc.full((3, 5000), 2 + 2j), axis=1), np.full(3, 10000 + 10000j))


def filled(xp, r, z):
    r.flat = z


DISCARDING = {
    "astype": lambda xp, r, z: z.astype("f8"), "as a function": lambda xp, r, z: xp.astype(z, "f8"), "asarray": lambda xp, r, z: xp.asarray(z, dtype="f8"),
    "setitem": lambda xp, r, z: r.__setitem__(0, z[0]), "slice": lambda xp, r, z: r.__setitem__(slice(None), z), "flat": filled,
    "copyto": lambda xp, r, z: xp.copyto(r, z, casting="unsafe"), "put": lambda xp, r, z: xp.put(r, [0, 1], z[:2]),
    "sum": lambda xp, r, z: xp.sum(z, dtype="f8"), "method": lambda xp, r, z: z.prod(dtype="f4"), "cumsum": lambda xp, r, z: xp.cumsum(z, dtype="f8"),
    "mean": lambda xp, r, z: xp.mean(z, dtype="f8"), "take": lambda xp, r, z: xp.take(z, [0, 1, 2], out=r), "linspace": lambda xp, r, z: xp.linspace(1j, 2, 3, dtype="f8"),
    "diagonal": lambda xp, r, z: xp.fill_diagonal(xp.zeros((2, 2)), z[0]), "concatenate": lambda xp, r, z: xp.concatenate([z, z], dtype="f8", casting="unsafe"),
}  # fmt: skip


@pytest.mark.parametrize("name", DISCARDING)
def test_dropped_imaginary_parts_are_told(name):
    for xp in (np, gc):
        r, z = xp.asarray(np.arange(3.0)), xp.asarray(np.arange(3) * (1 + 2j))
        with pytest.warns(np.exceptions.ComplexWarning) as caught:
            DISCARDING[name](xp, r, z)
        assert xp is np or {w.filename for w in caught} == {__file__}


def test_real_parts_that_are_asked_for_are_not_told():
    z = gc.asarray(np.arange(6) * (1 + 2j))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for got in (gc.real(z), z.imag, abs(z), gc.angle(z), gc.fft.ifft(gc.fft.fft(z)).real, gc.std(z), gc.var(z), gc.real_if_close(z), z.astype(bool), gc.sort(z), gc.fft.irfft(z), gc.linalg.norm(z)):
            gc.eval(got)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
@pytest.mark.parametrize("count", [2_000_003, 1_999_998])
def test_results_larger_than_caches(dtype, count):
    """They are stored past the caches in whole lines, and begin and end anywhere."""
    x = (np.arange(count + 1) % 1013 + 1j * (np.arange(count + 1) % 907)).astype(dtype)
    y = x[::-1].copy()
    a, b = gc.asarray(x), gc.asarray(y)
    np.testing.assert_array_equal(np.asarray(a[1:] + b[:-1]), x[1:] + y[:-1])
    np.testing.assert_array_equal(np.asarray(gc.jit(lambda p, q: p.conj() - q)(a, b)), x.conj() - y)
    out = gc.zeros((2, count + 1), dtype)
    out[1] = a * 2
    assert not np.asarray(out[0]).any()
    np.testing.assert_array_equal(np.asarray(out[1]), x * 2)


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_reciprocals_are_those_of_the_operator_or_of_the_quotient(dtype):
    drawn = np.random.default_rng(5).standard_normal((2, 300))
    x = (drawn[0] + 1j * drawn[1]).astype(dtype)
    x[0] = 0

    def program(xp):
        z, updated = xp.array(x), xp.array(x)
        updated **= -1
        return [z**-1, z.reshape(10, -1).T ** -1, updated, z[1:] ** -1.0, xp.power(z[1:], -1), xp.power(z[1:], -1.0), z[1:] ** -2]

    with np.errstate(all="ignore"):
        for got, want in zip(program(gc), program(np), strict=True):
            np.testing.assert_array_equal(np.asarray(got), want, strict=True)


def test_kernels_that_read_one_literal_put_it_together_themselves():
    x = np.arange(100) + 1j

    def f(xp, x):
        return xp.sort(x * (1 + 2j))[::-1] * (1 + 2j) + (1 + 2j)

    given = gc.asarray(x)
    kernels = gc.jit(lambda x: f(gc, x)).lower(given).as_text("kernel")
    assert kernels.count("kernel.func @") == 2
    np.testing.assert_array_equal(np.asarray(gc.jit(lambda x: f(gc, x))(given)), f(np, x))
