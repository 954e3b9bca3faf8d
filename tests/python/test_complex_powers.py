"""Complex numbers to arrays of integer powers are products, as in NumPy: powers of 1j have no rounding."""

import graphc as gc
import numpy as np
import pytest
from support.loops import KINDS, of_kind


@pytest.fixture(params=KINDS, autouse=True)
def turns(request):
    with of_kind(request.param):
        yield


@pytest.mark.parametrize("f", [lambda np_, z, n: z**n, lambda np_, z, n: np_.power(z, n)])
@pytest.mark.parametrize("dtype", [np.int64, np.int32, np.int8, np.uint8])
def test_powers_of_i_are_exact(dtype, f):
    n = np.arange(12, dtype=dtype)
    for z in (1j, -1j, np.array([[1j], [1 + 1j], [-2j]])):
        expected = f(np, z, n)
        found = f(gc, gc.asarray(z) if isinstance(z, np.ndarray) else z, gc.asarray(n))
        assert found.dtype == expected.dtype and np.array_equal(np.asarray(found), expected)
    assert str(1j ** gc.arange(4)) == str(1j ** np.arange(4))
    assert (gc.array([1j, 2.0])[0] ** gc.arange(4)[3]) == -1j


@pytest.mark.parametrize("dtype", ["c16", "c8"])
@pytest.mark.parametrize("shape", [(9,), (40, 5), (3000,)])
def test_mixed_exponents(shape, dtype):
    rng = np.random.RandomState(3)
    z = np.exp(1j * rng.normal(size=shape)).astype(dtype) * np.asarray(1.1).astype(dtype).real
    for n in (rng.randint(-130, 130, shape), rng.randint(0, 5, shape[-1:]), np.int64(7), np.zeros(shape, int)):
        n = n.astype("i2")
        expected = z**n
        x, m = gc.asarray(z), gc.asarray(n)
        np.testing.assert_allclose(np.asarray(x**m), expected, rtol=2e-4 if dtype == "c8" else 1e-11)
        assert (x**m).dtype == expected.dtype
        traced = gc.jit(lambda a, b: a**b)(x, m)
        assert np.asarray(traced).tobytes() == np.asarray(x**m).tobytes()


def test_poles_and_overflows_warn_as_numpy():
    with pytest.warns(RuntimeWarning):
        found = np.asarray(gc.array([0j, 2.0]) ** gc.array([-1, -1]))
    assert not np.isfinite(found[0]) and found[1] == 0.5
    with pytest.warns(RuntimeWarning, match="power|multiply"):
        np.asarray(gc.array([1e200 + 0j, 2.0]) ** gc.array([2, 3]))
    with np.errstate(all="raise"):
        assert np.array_equal(np.asarray(gc.array([1e200 + 0j, 2.0]) ** gc.array([1, 3])), [1e200, 8])
