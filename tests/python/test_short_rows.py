"""Rows of a few elements met by a vector, in place and not: NumPy's values, the same on any number of threads."""

import hashlib
import os
import subprocess
import sys

import graphc as gc
import numpy as np
import pytest

pytestmark = pytest.mark.graphc_only

DTYPES = ("?", "u1", "i2", "i4", "i8", "f2", "f4", "f8", "c8", "c16")
LENGTHS = (1, 2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 32, 33)


def numbers(dtype, *shape):
    rng = np.random.default_rng(sum(shape))
    values = rng.integers(0, 2 if dtype == "?" else 9, shape)
    return (values + 1j * rng.integers(0, 9, shape) if dtype[0] == "c" else values).astype(dtype)


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_vector_for_all_rows(dtype):
    for length in LENGTHS:
        for rows in (1, 7, 8, 9, 4001):
            x, v = numbers(dtype, rows, length), numbers(dtype, length)
            a, b = gc.array(x), gc.array(v)
            mask = v != 0
            sums = a + b
            assert np.array_equal(sums, x + v)
            for _ in range(2):
                a += b
                x += v
                gc.eval(a)
                a[:, gc.array(mask)] = 1
                x[:, mask] = True
                gc.eval(a)
            assert np.array_equal(a, x)
            assert np.array_equal(sums, numbers(dtype, rows, length) + v)


@pytest.mark.parametrize("dtype", ["u1", "i4", "f4", "f8"])
def test_other_layouts_and_several_results(dtype):
    for length in (2, 3, 5):
        x, v, w = numbers(dtype, 3000, length), numbers(dtype, length), numbers(dtype, 3000, 1)
        a, b, c = map(gc.array, (x, v, w))

        @gc.jit
        def both(p, q, r):
            return p * q + r, p - q

        for found, wanted in zip(both(a, b, c), (x * v + w, x - v)):
            assert np.array_equal(found, wanted)
        a[1:-1] += b[::-1]
        x[1:-1] += v[::-1]
        gc.eval(a)
        a[:, ::-1] -= c
        x[:, ::-1] -= w
        gc.eval(a)
        a[::2, :2] *= b[:2]
        x[::2, :2] *= v[:2]
        assert np.array_equal(a, x)


PROGRAM = """
import hashlib, graphc as gc, numpy as np
digest = hashlib.sha256()
for length in (1, 3, 4, 6):
    for dtype in ("f4", "f8", "u1"):
        a = gc.array((np.arange(200_003 * length) % 251).reshape(-1, length).astype(dtype))
        a += gc.array(np.arange(length).astype(dtype))
        gc.eval(a)
        a *= gc.array((np.arange(length) % 2 + 1).astype(dtype))
        digest.update(np.asarray(a).tobytes())
print(digest.hexdigest())
"""


def test_the_same_on_any_number_of_threads():
    found = {subprocess.check_output([sys.executable, "-c", PROGRAM], env={**os.environ, "GRAPHC_NUM_THREADS": n}) for n in "123"}
    avx2 = {**os.environ, "GRAPHC_CPU_FEATURES": "avx2,fma"}
    assert found == {subprocess.check_output([sys.executable, "-c", PROGRAM], env=avx2)}
    x = [(np.arange(200_003 * n) % 251).reshape(-1, n).astype(t) for n in (1, 3, 4, 6) for t in ("f4", "f8", "u1")]
    expected = hashlib.sha256()
    for a in x:
        n = a.shape[1]
        a += np.arange(n).astype(a.dtype)
        a *= (np.arange(n) % 2 + 1).astype(a.dtype)
        expected.update(a.tobytes())
    assert found == {expected.hexdigest().encode() + b"\n"}
