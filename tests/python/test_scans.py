"""Running sums and products: the published order bit for bit, NumPy's dtypes and axes."""

import os
import subprocess
import sys
import warnings

import graphc as gc
import numpy as np
import pytest
from support import exact, trees
from support.session import ORACLE

SIZES = (0, 1, 2, 15, 16, 17, 33, 4095, 4096, 4097, 8192, 3 * 4096 + 21, 40 * 4096 + 5)


def floats(shape, dtype, seed):
    rng = np.random.default_rng(seed)
    return (rng.normal(size=shape) * 2.0 ** rng.integers(-6, 6, shape)).astype(dtype)


def same(got, want, what=""):
    if ORACLE:
        np.testing.assert_allclose(np.asarray(got), want, rtol=2e-3, atol=1e-2)
    else:
        exact.assert_same(got, want, what)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_size(dtype):
    for n in SIZES:
        x = floats(n, dtype, 40)
        g = gc.asarray(x)
        sums, products = gc.cumsum(g), gc.cumprod(g)
        gc.eval(sums, products)
        same(sums, trees.scan(x, 0, np.add), f"sum of {n}")
        with np.errstate(all="ignore"):
            want = trees.scan(x, 0, np.multiply)
        np.testing.assert_array_equal(np.asarray(products), want, f"product of {n}")


@pytest.mark.parametrize("shape", [(5, 40), (40, 5), (3, 9000), (9000, 3), (70, 3, 20), (2, 4100, 33), (1, 7), (7, 1), (3, 1, 5)],
                         ids=str)
def test_every_axis(shape):
    x = floats(shape, "float32", 41)
    g = gc.asarray(x)
    for axis in range(-len(shape), len(shape)):
        same(gc.cumsum(g, axis=axis), trees.scan(x, axis, np.add), f"axis {axis}")
        same(gc.cumsum(g[::-1] * 2, axis=axis), trees.scan(x[::-1] * 2, axis, np.add), f"of a view, axis {axis}")
    same(gc.cumsum(g), trees.scan(x.reshape(-1), 0, np.add), "flattened")
    same(gc.cumsum(g.T, axis=0), trees.scan(np.ascontiguousarray(x.T), 0, np.add), "transposed")


@pytest.mark.parametrize("columns", [1, 7, 16, 17, 64, 250, 257, 300])
def test_columns(columns):
    for rows in (3, 15, 16, 17, 33, 4097):
        x = floats((rows, columns), "float32", rows)
        g = gc.asarray(x)
        same(gc.cumsum(g * 2 + 1, axis=0), trees.scan(x * 2 + 1, 0, np.add), f"{rows} rows")
        # Many operations are written once for all rows of a group.
        logs = np.asarray(gc.log(gc.abs(g)))
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # the logarithm of a lane beyond the last column is nobody's
            same(gc.cumsum(gc.log(gc.abs(g)), axis=0), trees.scan(logs, 0, np.add), f"logarithms, {rows} rows")


@pytest.mark.parametrize("columns", [2048, 2051])
def test_columns_too_large_for_caches(columns):
    x = floats((4100, columns), "float32", columns)
    want = trees.scan(x, 0, np.add)
    same(gc.cumsum(gc.asarray(x), axis=0), want)


@pytest.mark.skipif(ORACLE, reason="NumPy's own messages")
@pytest.mark.parametrize("place", [(0, 0), (17, 3), (18, 63), (39, 69), (33, 66)])
def test_overflow_in_columns_is_told(place):
    x = np.zeros((40, 70), np.float32)
    x[0, place[1]] = x[place] = 3e38
    if place == (0, 0):
        x[1, 0] = 3e38
    with pytest.warns(RuntimeWarning, match="overflow"):
        assert np.isinf(np.asarray(gc.cumsum(gc.asarray(x), axis=0))).any()


@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "uint32", "int64", "uint64"])
def test_integers_equal_numpy(dtype):
    x = np.random.default_rng(42).integers(0, 2 if dtype == "bool" else 100, (37, 4099)).astype(dtype)
    g = gc.asarray(x)
    for axis in (None, 0, 1):
        for f in ("cumsum", "cumprod"):
            want = getattr(np, f)(x, axis=axis)
            got = np.asarray(getattr(gc, f)(g, axis=axis))
            assert got.dtype == want.dtype
            np.testing.assert_array_equal(got, want)
    np.testing.assert_array_equal(np.asarray(gc.cumsum(g, axis=1, dtype=gc.int32)), np.cumsum(x, axis=1, dtype=np.int32))


def test_fused_before_and_after():
    x = floats((6, 5000), "float32", 43)
    g = gc.asarray(x)
    same(gc.cumsum(g * 2, axis=1) + 1, trees.scan(x * 2, 1, np.add) + 1)
    same(gc.sum(gc.cumsum(g, axis=0), axis=0), trees.reduce(trees.scan(x, 0, np.add), (0,), np.add, 0) + np.float32(0))
    same(gc.cumsum(gc.cumsum(g, axis=0), axis=1), trees.scan(trees.scan(x, 0, np.add), 1, np.add))
    same(gc.cumsum(gc.max(g, axis=1)), trees.scan(x.max(1), 0, np.add))


def test_zeros_keep_their_sign():
    for n in (1, 20, 5000):
        x = np.full(n, -0.0, np.float32)
        assert np.signbit(np.asarray(gc.cumsum(gc.asarray(x)))).all()
    assert np.asarray(gc.cumsum(gc.zeros((0, 3)), axis=0)).shape == (0, 3)
    assert np.asarray(gc.cumsum(gc.asarray(2.0))).tolist() == [2.0]


def test_array_api_names():
    x = np.arange(12.0).reshape(3, 4)
    g = gc.asarray(x)
    np.testing.assert_array_equal(np.asarray(gc.cumulative_sum(g, axis=1, include_initial=True)),
                                  np.concatenate([np.zeros((3, 1)), x.cumsum(1)], axis=1))
    np.testing.assert_array_equal(np.asarray(gc.cumulative_prod(g[0] + 1)), np.cumprod(x[0] + 1))
    with pytest.raises(gc.errors.ArgumentError, match="needs an axis"):
        gc.cumulative_sum(g)


def test_wrong_axes_and_dtypes():
    g = gc.zeros((2, 3))
    with pytest.raises(gc.errors.AxisError, match="cumulative_sum"):
        gc.cumsum(g, axis=2)
    exact.assert_same(gc.cumsum(g + 1, axis=1, dtype=gc.bool_), np.ones((2, 3), bool))


def test_gradual_sums_of_many_blocks():
    x = floats(1 << 20, "float32", 44)
    same(gc.cumsum(gc.asarray(x)), trees.scan(x, 0, np.add))


SCAN_OF_MANY_BLOCKS = """
import hashlib, threading
import numpy as np
import graphc as gc

rng = np.random.default_rng(50)
lines = {}
for dtype in ("float32", "float64", "int8", "float16", "complex64"):
    x = (rng.normal(size=(3, 70_001)) * 8).astype(dtype)
    lines[dtype] = x

def digest(name, found):
    total = hashlib.sha256()
    for dtype, x in lines.items():
        g = gc.asarray(x)
        for f in (gc.cumsum, gc.maximum.accumulate) if dtype != "complex64" else (gc.cumsum,):
            total.update(np.asarray(f(g * 2, axis=1) + 1).tobytes())
            total.update(np.asarray(f(gc.reshape(g, -1))).tobytes())
    found[name] = total.hexdigest()

found = {}
digest("alone", found)
threads = [threading.Thread(target=digest, args=(i, found)) for i in range(4)]
for t in threads: t.start()
for t in threads: t.join()
assert len(found) == 5 and len(set(found.values())) == 1, found
print(found["alone"])
"""


@pytest.mark.graphc_only
def test_blocks_wait_for_those_before_them():
    """Whoever computes a block: one thread, more than there are cores, or several callers at once."""
    settings = [{"GRAPHC_NUM_THREADS": n} for n in "1237"]
    settings.append({"GRAPHC_NUM_THREADS": "2", "GRAPHC_CPU_FEATURES": "avx,avx2,fma,bmi,bmi2,f16c,lzcnt"})
    results = {subprocess.run([sys.executable, "-c", SCAN_OF_MANY_BLOCKS], env={**os.environ, **changes}, text=True,
                              capture_output=True, timeout=300, check=True).stdout for changes in settings}
    assert len(results) == 1


@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "int64", "float16", "bool"])
@pytest.mark.parametrize("n", [16 * 4096, 16 * 4096 + 1, 17 * 4096, 33 * 4096 + 15, 270_000])
def test_groups_of_blocks(n, dtype):
    x = floats((2, n), "float64", n).astype(dtype)
    g = gc.asarray(x)
    if np.issubdtype(x.dtype, np.floating):
        wide = x.astype("float32") if dtype == "float16" else x
        want = trees.scan(wide, 1, np.add).astype(dtype)
        same(gc.cumsum(g, axis=1), want, f"rows of {n}")
        same(gc.cumsum(g[1]), want[1], f"line of {n}")
    else:
        np.testing.assert_array_equal(np.asarray(gc.cumsum(g, axis=1)), np.cumsum(x, axis=1))
    np.testing.assert_array_equal(np.asarray(gc.maximum.accumulate(g, axis=1)), np.maximum.accumulate(x, axis=1))


@pytest.mark.parametrize("dtype", ["int32", "float16", "float64", "complex64", "bool"])
def test_columns_that_are_gathered(dtype):
    """Whatever is scanned, a kernel that loads nothing element by element among it: diagonals, generated and chosen values."""
    a = (np.arange(2 * 3 * 2 * 2 * 3) % 5).reshape(2, 3, 2, 2, 3).astype(dtype)
    x = gc.asarray(a)
    for scan in ("cumsum", "cumprod"):
        same = getattr(np, scan), getattr(gc, scan)
        for take in (lambda xp, v: xp.diagonal(v, -1, 0, 4), lambda xp, v: xp.diagonal(v)[..., :1], lambda xp, v: v[:, [2, 0, 2]], lambda xp, v: xp.broadcast_to(xp.arange(6).reshape(3, 2, 1), (3, 2, 9)).astype(dtype)):
            for axis in (0, 1):
                np.testing.assert_array_equal(np.asarray(same[1](take(gc, x), axis=axis)), same[0](take(np, a), axis=axis))


def test_running_sums_and_products_in_truth_values():
    def program(xp):
        x, y = xp.array([[0, 1, 2], [0, 0, 3]]), xp.array([2.5, 1, 0, 4])
        made = [xp.cumsum(x, 1, dtype=bool), xp.cumsum(x, dtype="?"), y.cumprod(dtype=bool), xp.cumprod(x.T, 0, bool)]
        return [*made, xp.add.accumulate(y - 2.5, dtype=bool), xp.multiply.accumulate(y, dtype="?"), xp.add.accumulate(x.T, 1, bool)]

    for got, want in zip(program(gc), program(np), strict=True):
        exact.assert_same(got, want)
