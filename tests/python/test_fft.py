"""Fourier transforms against NumPy's in long double, every function and length; frequencies and the order of transforms."""

import graphc as gc
import numpy as np
import pytest
from support import exact

SMOOTH = [*range(1, 19), 20, 24, 25, 26, 32, 49, 64, 77, 121, 128, 221, 256, 1000, 1024, 4096, 5040]
#: With primes above 17: convolutions.
ROUGH = [19, 29, 31, 38, 97, 101, 997, 10007]
RNG = np.random.default_rng(5)


def complex_of(shape):
    return RNG.standard_normal(shape) + 1j * RNG.standard_normal(shape)


def deviation(got, exact_value):
    """Root of the mean square, relative."""
    got = np.asarray(got)
    assert got.shape == exact_value.shape
    size = np.sqrt(np.mean(np.abs(exact_value) ** 2, dtype="longdouble"))
    return float(np.sqrt(np.mean(np.abs(got - exact_value) ** 2, dtype="longdouble")) / size)


def is_rough(*lengths):
    return any(510510**20 % n for n in lengths if n)


def check(name, x, *args, **options):
    """Within twice the error of NumPy's own transform, and a little for its luck with short ones; convolutions and float32,
    which NumPy computes in float64, within a few units of rounding."""
    want = getattr(np.fft, name)(x, *args, **options)
    wide = x.astype("clongdouble" if np.iscomplexobj(x) else "longdouble")
    best = getattr(np.fft, name)(wide, *args, **options)
    got = getattr(gc.fft, name)(gc.asarray(x), *args, **options)
    assert np.asarray(got).dtype == want.dtype
    eps = np.finfo(want.dtype).eps
    found = [deviation(a, best) for a in (got, want)]
    bound = 2 * found[1] + 0.25 * eps
    if eps > 1e-10 or is_rough(*x.shape, *want.shape):
        bound = max(bound, 3 * eps)
    assert found[0] <= bound, (name, x.shape, args, options, found)
    return got


@pytest.mark.parametrize("n", SMOOTH + ROUGH)
def test_lengths(n):
    check("fft", complex_of(n))
    check("ifft", complex_of(n))
    check("rfft", RNG.standard_normal(n))
    check("irfft", complex_of(n // 2 + 1), n)
    check("fft", RNG.standard_normal(n))


@pytest.mark.parametrize("n", [8, 12, 17, 1024])
def test_float32(n):
    x = complex_of((3, n)).astype("complex64")
    for name in ("fft", "ifft"):
        assert check(name, x).dtype == np.complex64
    assert check("rfft", x.real.copy()).dtype == np.complex64
    assert check("irfft", x, n).dtype == np.float32


def test_long_ones():
    for n in (2**16, 3 * 2**15):
        check("fft", complex_of(n))


SHAPES = [((3, 8), -1), ((8, 3), 0), ((2, 12, 5), 1), ((1, 1, 16), 2), ((4, 4, 4), 1), ((7, 1), 0)]


@pytest.mark.parametrize("shape, axis", SHAPES)
def test_axes(shape, axis):
    x = complex_of(shape)
    for name in ("fft", "ifft", "irfft", "hfft"):
        if name in ("fft", "ifft") or shape[axis] > 1:
            check(name, x, axis=axis)
    for name in ("fft", "rfft", "ihfft"):
        check(name, x.real.copy(), axis=axis)


@pytest.mark.parametrize("n", [1, 4, 5, 9, 12])
@pytest.mark.parametrize("norm", [None, "backward", "ortho", "forward"])
def test_points_and_norms(n, norm):
    x = complex_of((2, 9))
    for name in ("fft", "ifft", "irfft", "hfft"):
        check(name, x, n, norm=norm)
    for name in ("rfft", "ihfft", "fft"):
        check(name, x.real.copy(), n, norm=norm)


@pytest.mark.parametrize("axes, norm", [(None, "ortho"), ((0,), None), ((1, 0), "forward"), ((-1, 0, 1), None)], ids=str)
def test_several_axes(axes, norm):
    x = complex_of((4, 6, 7))
    for name in ("fftn", "ifftn", "irfftn"):
        check(name, x, axes=axes, norm=norm)
    for name in ("rfftn", "fftn"):
        check(name, x.real.copy(), axes=axes, norm=norm)


def test_two_axes_and_sizes():
    x = complex_of((5, 8, 6))
    for name in ("fft2", "ifft2", "irfft2"):
        check(name, x)
        check(name, x, axes=(0, 1))
        check(name, x, s=(4, 10))
    check("rfft2", x.real.copy())
    check("rfft2", x.real.copy(), s=(-1, 10))
    check("fftn", x, s=(3, 9), axes=(0, 2))
    check("irfftn", x, s=(3, 9), axes=(0, 2))
    check("fftn", complex_of((64, 64)))


@pytest.mark.parametrize("dtype", ["bool", "uint8", "int32", "float16", "float32", "complex64"])
def test_dtypes(dtype):
    x = np.arange(12).astype(dtype).reshape(2, 6)
    for name in ("fft", "ifft", "rfft") if dtype != "complex64" else ("fft", "ifft", "irfft"):
        want, got = getattr(np.fft, name)(x), getattr(gc.fft, name)(gc.asarray(x))
        assert got.dtype == want.dtype, name
        near = 1e-2 if dtype == "float16" else 1e-5  # NumPy scales in float16
        np.testing.assert_allclose(np.asarray(got), want, rtol=near, atol=near)


def test_layouts_and_results():
    x = complex_of((8, 12))
    g = gc.asarray(x)
    np.testing.assert_allclose(np.asarray(gc.fft.fft(g.T)), np.fft.fft(x.T), atol=1e-13)
    np.testing.assert_allclose(np.asarray(gc.fft.fft(g[::-2, 1:9])), np.fft.fft(x[::-2, 1:9]), atol=1e-13)
    out = gc.zeros((8, 12), dtype="complex128")
    assert gc.fft.fft(g, out=out) is out
    np.testing.assert_allclose(np.asarray(out), np.fft.fft(x), atol=1e-13)
    assert gc.fft.fft(gc.zeros((0, 5))).shape == (0, 5) and gc.fft.rfft(gc.zeros((0, 5))).shape == (0, 3)
    assert gc.fft.irfft(gc.zeros((0, 3), dtype="complex64")).dtype == np.float32
    np.testing.assert_allclose(np.asarray(np.fft.fft(g)), np.fft.fft(x), atol=1e-13)
    np.testing.assert_allclose(np.asarray(gc.fft.fft([1.0, 2.0, 3.0])), np.fft.fft([1.0, 2.0, 3.0]), atol=1e-15)


@pytest.mark.graphc_only
def test_inside_a_jitted_function():
    x = complex_of((3, 48))
    power = gc.jit(lambda x: gc.abs(gc.fft.fft(x * 2)) ** 2)
    for _ in range(2):
        np.testing.assert_allclose(np.asarray(power(gc.asarray(x))), np.abs(np.fft.fft(x * 2)) ** 2, rtol=1e-12)
    with gc.disable_jit():
        np.testing.assert_allclose(np.asarray(gc.fft.fft(gc.asarray(x))), np.fft.fft(x), atol=1e-12)


@pytest.mark.graphc_only
@pytest.mark.parametrize("n", [16, 60, 1024])
def test_another_batch_compiles_nothing(n):
    gc.fft.fft(gc.asarray(complex_of((2300, n)))).block()  # too large for a first call without the compiler
    before = gc.cache_info()["compiles"]
    for batch in (19, 37, 1001):
        gc.fft.fft(gc.asarray(complex_of((batch, n)))).block()
    assert gc.cache_info()["compiles"] == before


@pytest.mark.graphc_only
@pytest.mark.parametrize("n", [252, 240])  # which no other test transforms
def test_few_numbers_need_no_compiler(n, monkeypatch):
    """And have the bits of later ones, which run the compiled transform."""
    from graphc import _fft_transforms

    if gc.default_device() != "cpu":
        pytest.skip("devices compile")
    x = complex_of((31, n))
    before = gc.cache_info()
    calls = [np.asarray(gc.fft.fft(gc.asarray(x))) for _ in range(30)]
    after = gc.cache_info()
    assert after["kernels_compiled"] == before["kernels_compiled"] and after["disk_hits"] == before["disk_hits"]
    monkeypatch.setattr(_fft_transforms, "_MANY", 0)
    monkeypatch.setattr(_fft_transforms, "_FIRST_CALLS", 0)
    _fft_transforms.quick.clear()
    calls += [np.asarray(gc.fft.fft(gc.asarray(x))) for _ in range(2)]
    np.testing.assert_allclose(calls[0], np.fft.fft(x), rtol=1e-10, atol=1e-10)
    assert len({y.tobytes() for y in calls}) == 1
    later = gc.cache_info()
    assert later["kernels_compiled"] + later["disk_hits"] > after["kernels_compiled"] + after["disk_hits"]


def on_host_and_recorded(monkeypatch, function, x):
    """What the host gives, and what the operations of the steps give."""
    from graphc import _fft_transforms

    def call(many):
        _fft_transforms.quick.clear()
        monkeypatch.setattr(_fft_transforms, "_MANY", many)
        return np.asarray(function(x))

    return call(1 << 40), call(0)


@pytest.mark.graphc_only
@pytest.mark.parametrize("dtype", ["f8", "f4"])
@pytest.mark.parametrize("n", [*range(1, 19), 22, 24, 26, 30, 31, 34, 37, 48, 60, 66, 96, 101, 121, 144, 255, 256, 289, 525, 1000, 2046])
def test_the_host_has_the_bits_of_the_steps(n, dtype, monkeypatch):
    z = complex_of((3, n)).astype("c16" if dtype == "f8" else "c8")
    z.flat[::5] = -0.0
    x, z = gc.asarray(z.real.copy()), gc.asarray(z)
    for name, options in (("fft", [x, z]), ("ifft", [x, z]), ("rfft", [x]), ("ihfft", [x]), ("irfft", [z]), ("hfft", [z])):
        for v in options if n > 1 or name not in ("irfft", "hfft") else []:
            host, recorded = on_host_and_recorded(monkeypatch, getattr(gc.fft, name), v)
            assert host.dtype == recorded.dtype and host.tobytes() == recorded.tobytes(), name


@pytest.mark.graphc_only
def test_the_host_has_the_bits_of_the_steps_along_any_axes(monkeypatch):
    z, x = gc.asarray(complex_of((5, 12, 30))), gc.asarray(RNG.standard_normal((5, 12, 30)))
    for call in (
        *(lambda v, axis=axis: gc.fft.fft(v, axis=axis) for axis in range(3)),
        lambda v: gc.fft.ifft(v[:, ::-2, ::3], axis=1),
        lambda v: gc.fft.fft(v.T[1:17], norm="ortho"),
        lambda v: gc.fft.fftn(v, norm="forward"),
        lambda v: gc.fft.ifft2(v, axes=(0, 1)),
        lambda v: gc.fft.irfftn(v * 1j, axes=(1, 0)),
    ):
        host, recorded = on_host_and_recorded(monkeypatch, call, z)
        assert host.tobytes() == recorded.tobytes()
    for call in (lambda v: gc.fft.rfft(v, axis=0), lambda v: gc.fft.rfft2(v), lambda v: gc.fft.rfftn(v[..., ::-1], axes=(2, 0)), lambda v: gc.fft.fft(v[:, 0])):
        host, recorded = on_host_and_recorded(monkeypatch, call, x)
        assert host.tobytes() == recorded.tobytes()


@pytest.mark.graphc_only
def test_what_is_not_finite_is_recorded(monkeypatch):
    for n in (8, 17, 37):
        x = RNG.standard_normal(n)
        x[n // 2] = np.inf
        with gc.errstate(all="ignore"):
            host, recorded = on_host_and_recorded(monkeypatch, gc.fft.fft, gc.asarray(x))
        assert host.tobytes() == recorded.tobytes() and not np.isfinite(host).all()


@pytest.mark.graphc_only
def test_a_short_transform_is_one_program_of_a_kernel_a_pass():
    from graphc import _fft_transforms

    transform = _fft_transforms.transform("complex", (512,), (-1,), "float64", False, None)
    x = gc.asarray(complex_of((2, 512)))
    assert len(transform.stages) == 1 and transform.stages[0].lower(x).cost().kernels == 3


@pytest.mark.graphc_only
@pytest.mark.parametrize("kind", ["real", "whole", "to_real"])
@pytest.mark.parametrize("n", [8, 10, 16, 26, 32])
def test_a_short_real_transform_is_one_kernel(kind, n):
    from graphc import _fft_transforms

    transform = _fft_transforms.transform(kind, (n,), (-1,), "float64", kind == "to_real", None)
    x = gc.asarray(RNG.standard_normal(n) if kind != "to_real" else complex_of(n // 2 + 1))
    assert len(transform.stages) == 1 and transform.stages[0].lower(x).cost().kernels == 1


@pytest.mark.parametrize("dtype", ["float64", "float32"])
@pytest.mark.parametrize("n", [6, 10, 16, 18, 26, 32])
def test_rows_of_a_batch_have_the_bits_of_one(n, dtype):
    for rows in (7, 8, 9, 67):
        x, z = RNG.standard_normal((rows, n)).astype(dtype), complex_of((rows, n // 2 + 1))
        z = z.astype(np.result_type(dtype, "complex64"))
        for name, a in (("rfft", x), ("fft", x), ("irfft", z)):
            for axis, many in ((-1, a), (0, a.T.copy())):
                got = np.asarray(getattr(gc.fft, name)(gc.asarray(many), axis=axis))
                one = [np.asarray(getattr(gc.fft, name)(gc.asarray(row))) for row in a]
                assert np.array_equal(got if axis else got.T, one), (name, axis, rows)


@pytest.mark.graphc_only
def test_plans_are_given_up():
    from graphc import _fft_transforms

    for n in range(1, _fft_transforms._KEPT + 20):
        _fft_transforms.transform("complex", (n,), (-1,), "float64", False, None)
    assert len(_fft_transforms._transforms) == _fft_transforms._KEPT


@pytest.mark.graphc_only
def test_special_values():
    x = complex_of(16)
    x[3], x[5] = np.inf, -np.inf
    assert np.isnan(np.asarray(gc.fft.fft(gc.asarray(x)))).any()
    impulse = np.zeros(64)
    impulse[0] = 1
    np.testing.assert_array_equal(np.asarray(gc.fft.rfft(gc.asarray(impulse))), np.ones(33, "c16"))


@pytest.mark.parametrize("n", [1, 2, 3, 8, 9, 1000])
@pytest.mark.parametrize("d", [1.0, 0.1, 3])
def test_frequencies(n, d):
    exact.assert_same(gc.fft.fftfreq(n, d), np.fft.fftfreq(n, d))
    exact.assert_same(gc.fft.rfftfreq(n, d), np.fft.rfftfreq(n, d))


@pytest.mark.parametrize("shape", [(1,), (5,), (6,), (3, 4), (0, 3), (2, 3, 5)], ids=str)
def test_shifts(shape):
    x = np.arange(np.prod(shape)).reshape(shape)
    for axes in (None, 0, -1, tuple(range(len(shape)))):
        exact.assert_same(gc.fft.fftshift(gc.asarray(x), axes=axes), np.fft.fftshift(x, axes))
        exact.assert_same(gc.fft.ifftshift(gc.asarray(x), axes=axes), np.fft.ifftshift(x, axes))
    exact.assert_same(gc.fft.ifftshift(gc.fft.fftshift(gc.asarray(x))), x)


@pytest.mark.graphc_only
def test_mistakes():
    for n in (0, -3, 2.5):
        with pytest.raises(ValueError):
            gc.fft.fftfreq(n)
    for n, error in ((0, ValueError), (-3, ValueError), (2.5, TypeError), (True, TypeError)):
        for xp in (np, gc):
            with pytest.raises(error):
                xp.fft.fft(xp.ones(4), n)
    with pytest.raises(IndexError):
        gc.fft.fftshift(gc.zeros(3), axes=1)
    with pytest.raises(IndexError):
        gc.fft.fft(gc.zeros(3), axis=1)
    with pytest.raises(IndexError):
        gc.fft.fft(gc.zeros(()))
    with pytest.raises(ValueError, match="norm"):
        gc.fft.fft(gc.zeros(3), norm="mean")
    with pytest.raises(TypeError, match="real"):
        gc.fft.rfft(gc.zeros(3, dtype="complex64"))
    with pytest.raises(ValueError):
        gc.fft.fftn(gc.zeros((3, 3)), s=(3,), axes=(0, 1))
    assert gc.fft.fftfreq(4, dtype="float32").dtype == np.float32


@pytest.mark.graphc_only
def test_tables_are_exact_roots():
    from graphc import _fft_plan

    for n in (1, 2, 7, 8, 12, 1000, 4099):
        c, s = _fft_plan.Roots(n)(np.arange(n))
        turn = 2 * np.longdouble("3.14159265358979323846264338327950288") / n * np.arange(n)
        assert abs(c - np.cos(turn)).max() <= 2.0**-54 * 1.01 and abs(s - np.sin(turn)).max() <= 2.0**-54 * 1.01
        mirrored = c[(-np.arange(n)) % n], -s[(-np.arange(n)) % n]
        assert (mirrored[0] == c).all() and (mirrored[1] == s).all()
        around = np.array([[-1, 0, n], [-n, n + 1, 7 * n - 1]])  # numbers of other turns, in any shape
        for part, found in zip((c, s), _fft_plan.Roots(n)(around)):
            assert found.shape == (2, 3) and (found == part[around % n]).all()


@pytest.mark.parametrize("axes", [(0, 0), (0, 1, 0), (2, 1, 2)])
def test_an_axis_may_come_twice(axes):
    x = np.random.default_rng(5).normal(size=(4, 6, 5))
    for name in ("fftn", "ifftn", "rfftn", "irfftn"):
        for s in (None, (4,) * len(axes), (3, 5, 6)[: len(axes)]):
            want = getattr(np.fft, name)(x, s=s, axes=axes)
            got = np.asarray(getattr(gc.fft, name)(gc.asarray(x), s=s, axes=axes))
            assert got.shape == want.shape
            np.testing.assert_allclose(got, want, rtol=1e-10, atol=1e-10)


def test_jitted_transforms_are_cut_between_passes():
    """A program of many operations ends where one array is passed on, not amid the many parts of a pass."""
    f = gc.jit(lambda x: gc.fft.ifft(gc.fft.fft(x) * 2))
    x = gc.asarray(np.random.default_rng(0).standard_normal((2, 4096)) + 0j)
    f(x)
    before = gc.cache_info()["launches"]
    y = f(x)
    assert gc.cache_info()["launches"] - before <= 2 * 4 + 1  # radix 8, four times, both ways
    assert np.asarray(y).tobytes() == np.asarray(gc.fft.ifft(gc.fft.fft(x) * 2)).tobytes()


@pytest.mark.parametrize("name", ["fft", "ifft", "rfft", "irfft", "hfft", "ihfft", "fft2", "irfft2"])
def test_transforms_of_float16_are_numpys(name):
    x = np.random.default_rng(1).random((6, 9)).astype("float16")
    for given in ({}, {"norm": "ortho"}, {"norm": "forward"}):
        expected, made = getattr(np.fft, name)(x, **given), getattr(gc.fft, name)(gc.asarray(x), **given)
        assert isinstance(made, gc.ndarray) and made.dtype == expected.dtype
        np.testing.assert_array_equal(np.asarray(made), expected)
