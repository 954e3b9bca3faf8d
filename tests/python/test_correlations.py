"""Convolutions and correlations at the ends of the longer vector, against NumPy: products that are not there are no zeros."""

import graphc as gc
import numpy as np
import pytest
from support.loops import in_turns

pytestmark = pytest.mark.graphc_only

SIZES = [(5, 3), (3, 5), (4, 4), (7, 1), (40, 9), (300, 20), (90, 300), (5000, 9)]


def assert_sums(got, want):
    """Integers, so that sums are exact in any order; parts of complex infinities depend on the order."""
    got = np.asarray(got)
    assert got.dtype == want.dtype and got.shape == want.shape
    finite = np.isfinite(want)
    np.testing.assert_array_equal(np.isfinite(got), finite)
    np.testing.assert_array_equal(got[finite], want[finite])
    if want.dtype.kind == "f":
        np.testing.assert_array_equal(got, want)


def operands(n, m, dtype):
    rng = np.random.default_rng(n * m)
    a, v = (rng.integers(-3, 4, size).astype(dtype) for size in (n, m))
    v[rng.integers(m)] = rng.choice([np.inf, -np.inf, np.nan])
    return a, v


@pytest.mark.parametrize("mode", ["full", "same", "valid"])
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64"])
def test_infinite_elements_meet_no_padding(dtype, mode):
    for n, m in SIZES:
        a, v = operands(n, m, dtype)
        for name in ("convolve", "correlate"):
            want = getattr(np, name)(a, v, mode)
            assert_sums(getattr(gc, name)(gc.array(a), gc.array(v), mode), want)
            assert_sums(getattr(gc, name)(gc.array(a) * 1, gc.array(v) * 1, mode), want)  # whose values are not known yet


@pytest.mark.parametrize("name", ["convolve", "correlate"])
@pytest.mark.parametrize("turns", [0, gc._graphc.NEVER])
def test_infinite_elements_in_loops(name, turns):
    def program():
        for n, m in SIZES[:6]:
            a, v = operands(n, m, "float64")
            for mode in ("full", "same"):
                assert_sums(getattr(gc, name)(gc.array(a), gc.array(v), mode), getattr(np, name)(a, v, mode))

    in_turns(turns, program)


def test_infinite_elements_in_jit():
    @gc.jit
    def smooth(a, v):
        return gc.convolve(a, v, "same"), gc.correlate(a, v, "full")

    a, v = operands(40, 9, "float64")
    for got, want in zip(smooth(gc.array(a), gc.array(v)), (np.convolve(a, v, "same"), np.correlate(a, v, "full"))):
        assert_sums(got, want)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex128"])
@pytest.mark.parametrize(("n", "m"), [(4, 2), (50, 9), (5000, 9), (1, 1)])
def test_sums_begin_with_positive_zero(dtype, n, m):
    a, v = np.full(n, -0.0, dtype), np.ones(m, dtype)
    for mode in ("full", "valid"):
        for got in (gc.convolve(gc.array(a), gc.array(v), mode), gc.convolve(gc.array(a) * 1, gc.array(v) * 1, mode)):
            want = np.convolve(a, v, mode)
            assert not np.signbit(want.real).any() and not np.signbit(np.asarray(got).real).any()


def test_modes():
    for mode in (3, -1, None, 1.0, "foo", "f", ""):
        for name in ("convolve", "correlate"):
            with pytest.raises((TypeError, ValueError)) as theirs:
                getattr(np, name)([1, 2, 3], [1, 2], mode)
            with pytest.raises(theirs.type):
                getattr(gc, name)([1, 2, 3], [1, 2], mode)


@pytest.mark.parametrize("name", ["convolve", "correlate"])
@pytest.mark.parametrize("dtypes", [("complex128", "complex128"), ("complex64", "complex64"), ("complex128", "float64"), ("float32", "complex64"), ("complex64", "float64")], ids=str)
def test_complex_vectors(name, dtypes):
    """Of whole numbers, whose sums are exact: in a loop, by the library and recorded, of either order and of strided vectors."""
    rng = np.random.default_rng(3)
    for n, m in ((1, 1), (8, 3), (3, 8), (5, 5), (300, 70), (70, 300), (3000, 257)):
        x, y = ((rng.integers(-9, 9, k) + (1j * rng.integers(-9, 9, k) if d[0] == "c" else 0)).astype(d) for k, d in zip((n, m), dtypes))
        a, b = gc.asarray(x), gc.asarray(y)
        for mode in ("full", "same", "valid"):
            want = getattr(np, name)(x, y, mode)
            function = getattr(gc, name)
            found = [in_turns(0, lambda: function(a, b, mode)), function(a, b, mode), gc.jit(lambda p, q: function(p, q, mode))(a, b), function(a[::-1][::-1], b, mode)]  # noqa: B023
            for got in found:
                assert_sums(got, want)


def test_complex_bits_do_not_depend_on_who_computes_them():
    rng = np.random.default_rng(4)
    a, b = (gc.asarray(rng.normal(size=k) + 1j * rng.normal(size=k)) for k in (90, 40))
    for name in ("convolve", "correlate"):
        function = getattr(gc, name)
        found = [in_turns(0, lambda: function(a, b)), function(a, b), gc.jit(lambda p, q: function(p, q))(a, b)]  # noqa: B023
        assert len({np.asarray(got).tobytes() for got in found}) == 1


def by_chains(a, v):
    """The sums as docs/numerics.md has them, of float32 numbers: fused multiply-adds in float64 are exact but for the last rounding."""
    short, n, m = v[::-1].astype(np.float64), a.size, v.size
    chain = 64 if m <= 256 else 256
    sums = []
    for j in range(n + m - 1):
        total = None
        for begin in range(0, m, chain):
            part = np.float32(0)
            for i in range(begin, min(begin + chain, m)):
                if 0 <= j + i - m + 1 < n:
                    part = np.float32(np.float64(a[j + i - m + 1]) * short[i] + np.float64(part))
            total = part if total is None else np.float32(total + part)
        sums.append(total)
    return np.array(sums)


@pytest.mark.parametrize(("n", "m"), [(9, 9), (12, 3), (40, 30), (64, 64), (300, 100), (300, 300), (5000, 12), (1, 1)])
def test_bits_do_not_depend_on_who_computes_them(n, m):
    """Where the whole sums are few, many and one, recorded and at once; products are made such that they need no more than float64 has."""
    rng = np.random.default_rng(n + m)
    a, v = (rng.normal(size=k).astype(np.float16).astype(np.float32) for k in (n, m))
    x, y = gc.asarray(a), gc.asarray(v)
    for name in ("convolve", "correlate"):
        for mode in ("full", "same", "valid"):
            function = getattr(gc, name)
            at_once = np.asarray(function(x, y, mode))
            for got in (gc.jit(lambda p, q: function(p, q, mode))(x, y), function(x * 1, y * 1, mode)):  # noqa: B023
                assert np.asarray(got).tobytes() == at_once.tobytes()
    if n <= 300:
        assert np.asarray(gc.convolve(x, y)).tobytes() == by_chains(a, v).tobytes()


def test_sizes_do_not_compile():
    smooth = gc.jit(lambda a, v: gc.convolve(a, v, "same"))
    sizes = [(500, 40), (701, 33), (90, 90)]
    smooth(gc.ones(600), gc.ones(50))
    before = gc.cache_info()["kernels_compiled"]
    for n, m in sizes:
        a, v = np.arange(n, dtype=float), np.arange(m, dtype=float)
        np.testing.assert_array_equal(np.asarray(smooth(gc.asarray(a), gc.asarray(v))), np.convolve(a, v, "same"))
    assert gc.cache_info()["kernels_compiled"] == before
