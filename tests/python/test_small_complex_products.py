"""Products of complex numbers that loops take: the bits of recorded operations, NumPy's values, dtypes and aliases."""

import graphc as gc
import numpy as np
import pytest
from graphc import _graphc

pytestmark = pytest.mark.graphc_only


def numbers(dtype, *shape):
    rng = np.random.RandomState(len(shape))
    return (rng.normal(size=shape) + 1j * rng.normal(size=shape)).astype(dtype)


def both_ways(f):
    for _ in range(20):
        found = np.array(f())
    before = _graphc.set_loop_turns(255)
    recorded = np.array(f())
    _graphc.set_loop_turns(before)
    assert found.tobytes() == recorded.tobytes() and found.dtype == recorded.dtype
    return found


@pytest.mark.parametrize("dtype", ["c16", "c8"])
@pytest.mark.parametrize("count", [1, 2, 3, 5, 8, 13, 31, 100])
def test_prod(count, dtype):
    z = numbers(dtype, 3, count, 2)
    x = gc.asarray(z)
    gc.eval(x)
    for axis in (0, 1, 2, (0, 2), None):
        np.testing.assert_allclose(both_ways(lambda: x.prod(axis)), z.prod(axis), rtol=1e-3 if dtype == "c8" else 1e-9)
    np.testing.assert_allclose(both_ways(lambda: gc.prod(x[0, ::-1, 1])), z[0, ::-1, 1].prod(), rtol=1e-4)
    np.testing.assert_allclose(both_ways(lambda: gc.prod(x.real, dtype="c16")), z.real.prod(dtype="c16"), rtol=1e-3)


def test_prod_that_is_not_finite():
    z = np.array([1 + 2j, complex(np.inf, 1), 3 - 1j])
    x = gc.asarray(z)
    with gc.errstate(all="ignore"):
        assert np.isnan(both_ways(x.prod)) == np.isnan(z.prod())


@pytest.mark.parametrize("name", ["dot", "vdot", "inner"])
def test_sums_of_products(name):
    z, w = numbers("c16", 2, 7)
    mine, numpys = getattr(gc, name), getattr(np, name)
    x, y = gc.asarray(z), gc.asarray(w)
    for a, b, c, d in ((x, y, z, w), (x[::2], y[1::2], z[::2], w[1::2]), (x, y.real, z, w.real), (x.real, y, z.real, w)):
        if a.shape != b.shape:
            a, b, c, d = a[:3], b[:3], c[:3], d[:3]
        np.testing.assert_allclose(both_ways(lambda: mine(a, b)), numpys(c, d), rtol=1e-12)
    with pytest.raises(ValueError):
        mine(x, y[:3])


@pytest.mark.parametrize("dtype", ["c16", "c8"])
def test_updates_of_single_results_are_new_ones(dtype):
    z = gc.asarray(numbers(dtype, 4))
    plain = np.array(z)
    for f in ("a += b", "a -= 2", "a *= b", "a /= 1j", "a **= 2"):
        names = [{"a": x[1], "b": x[2]} for x in (z, plain)]
        before = complex(names[0]["a"])
        other = names[0]["a"]
        for each in names:
            exec(f, each)
        np.testing.assert_allclose(complex(names[0]["a"]), complex(names[1]["a"]), rtol=1e-5)
        assert names[0]["a"].dtype == names[1]["a"].dtype and isinstance(names[0]["a"], gc.Array)
        assert complex(other) == before == complex(z[1])
    a = z[1]
    a += gc.ones(2)
    assert a.shape == (2,) and z[1] == plain[1]
    z[1] -= z[2]
    assert z[1] == plain[1] - plain[2]
