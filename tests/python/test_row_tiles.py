"""Programs whose kernels are run on some rows at a time: the same bits as from whole launches, less memory."""

import os
import subprocess
import sys

import graphc as gc
import numpy as np
import pytest


def chain(x):
    """More elementary functions than one kernel holds."""
    for i in range(7):
        x = gc.sin(gc.exp(-x * x) + gc.tanh(x) * i) + gc.log1p(gc.abs(x))
    return x


def staged(x):
    """Rows that are read again after their maximum, between maps."""
    y = gc.exp(x - gc.max(x, axis=1, keepdims=True))
    y = y / gc.max(y + 1, axis=1, keepdims=True)
    return chain(y)


def pieces(f, x, rows):
    return np.concatenate([np.asarray(f(gc.asarray(x[i : i + rows]))) for i in range(0, len(x), rows)])


CASES = [(chain, (200_003,), 1000), (chain, (3001, 77), 10), (staged, (1501, 130), 10), (gc.fft.fft, (257, 1024), 3),
         (gc.fft.fft, (1003, 360), 3), (gc.fft.ifft, (33, 4096), 1), (gc.fft.rfft, (301, 1000), 2)]


@pytest.mark.parametrize("f, shape, rows", CASES, ids=lambda v: getattr(v, "__name__", str(v)))
def test_tiles_give_what_whole_launches_give(f, shape, rows):
    x = np.random.default_rng(1).standard_normal(shape)
    expected = pieces(f, x, rows)
    assert expected.nbytes > 1 << 20  # tiles are for what fits in no cache
    assert np.array_equal(f(gc.asarray(x)), expected)


def pair(x):
    """Two values go from kernel to kernel: one has room in the result."""
    y = x
    for i in range(7):
        x, y = gc.sin(gc.exp(-x * y) + gc.tanh(x) * i), gc.log1p(gc.abs(y)) + x
    return x + y


def test_what_only_a_tile_sees_takes_no_memory():
    x = np.zeros((4000, 300))
    cost = gc.jit(pair).lower(x).cost()
    assert cost.kernels > 1 and cost.peak_bytes == 2 * x.nbytes
    small = np.zeros((4, 300))
    assert gc.jit(pair).lower(small).cost().peak_bytes > 2 * small.nbytes


def test_an_input_that_is_updated_after_its_last_use():
    x = gc.asarray(np.linspace(-3, 3, 100_000))
    before = np.asarray(chain(gc.asarray(np.asarray(x).copy())))
    y = chain(x)
    x *= 0
    assert np.array_equal(y, before) and not np.asarray(x).any()


def softmax(x):
    e = gc.exp(x - gc.max(x, axis=-1, keepdims=True))
    return e / gc.sum(e, axis=-1, keepdims=True)


# What reads rows of a turned operand, and whether blocks of the result are folded by a launch of their own.
TURNED = [softmax, lambda x: gc.var(x, axis=-1), lambda x: gc.argmax(x, axis=1), lambda x: gc.sum(x * 2, axis=-1), lambda x: gc.cumsum(x, axis=-1),
          lambda x: gc.sum(x * 2), lambda x: gc.sum(x * gc.flip(x, axis=1)), lambda x: gc.max(x * 2), lambda x: gc.argmax(x + x)]


@pytest.mark.parametrize("f", range(len(TURNED)))
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8"])
@pytest.mark.parametrize("shape", [(1024, 1024), (1000, 900), (4100, 500), (301, 8300), (70, 9000)])
def test_turned_operands_some_rows_at_a_time(f, dtype, shape):
    if dtype == "int8" and f == 0:
        return  # exp of int8 is one of float16
    x = (np.random.default_rng(3).standard_normal(shape[::-1]) * 40).astype(dtype)
    turned, straight = gc.asarray(x).T, gc.asarray(np.ascontiguousarray(x.T))
    assert np.array_equal(TURNED[f](turned), TURNED[f](straight))


def test_what_is_turned_takes_no_memory():
    """One kernel reads rows that are neighbours as they lie, where it reads them once; others have another that turns."""
    x = np.zeros((1024, 1024), "float32")
    for f in TURNED[:-1]:  # argmax of everything goes through one loop, which has no rows
        cost = gc.jit(lambda x: f(x.T)).lower(x).cost()
        assert cost.peak_bytes < cost.argument_bytes + cost.output_bytes + x.nbytes / 4, (f, cost)


def test_turned_operands_with_indices_out_of_bounds():
    x = gc.asarray(np.zeros((1024, 1024), "float32"))
    with pytest.raises(IndexError):
        gc.eval(gc.sum(x.T[:, gc.asarray(np.full(1024, 2000))] * 2, axis=1))


CODE = """
import hashlib, sys
import numpy as np
import graphc as gc
sys.path.insert(0, sys.argv[1])
import test_row_tiles as t
for f, shape in [(f, shape) for f, shape, rows in t.CASES] + [(lambda x, f=f: f(x.T), (1024, 1056)) for f in t.TURNED]:
    x = np.random.default_rng(2).standard_normal(shape)
    print(hashlib.sha256(np.asarray(f(gc.asarray(x))).tobytes()).hexdigest())
"""


def test_threads_and_vectors():
    settings = [{"GRAPHC_NUM_THREADS": n} for n in "137"] + [{"GRAPHC_CPU_FEATURES": "avx,avx2,fma", "GRAPHC_NUM_THREADS": "2"}]
    seen = {subprocess.run([sys.executable, "-c", CODE, os.path.dirname(__file__)], env=os.environ | s, capture_output=True, text=True, check=True).stdout
            for s in settings}
    assert len(seen) == 1 and len(seen.pop().split()) == len(CASES) + len(TURNED)
