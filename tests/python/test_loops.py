"""Generated loops: the same bits for every number of threads and every vector width, in every layout."""

import os
import subprocess
import sys

import graphc as gc
import numpy as np
import pytest

PROGRAM = """
import hashlib, sys
import numpy as np, graphc as gc

rng = np.random.default_rng(7)
x = (rng.normal(size=(1300, 700)) * 2.0 ** rng.integers(-6, 6, (1300, 700))).astype(np.float32)
y = np.abs(x[::-1]).copy()
tall, wide, few = x.reshape(-1, 7), x.reshape(7, -1), x.reshape(-1, 20)


def softmax(a):
    e = gc.exp(a - gc.max(a, axis=1, keepdims=True))
    return e / gc.sum(e, axis=1, keepdims=True)


def layernorm(a):
    d = a - gc.mean(a, axis=1, keepdims=True)
    return d / gc.sqrt(gc.mean(d * d, axis=1, keepdims=True) + 1e-5)


def gelu(a, b):
    c = a + b[0]
    return 0.5 * c * (1.0 + gc.tanh(0.7978845608 * (c + 0.044715 * c * c * c)))


def steps(a):
    for _ in range(9):
        a[1:-1, 1:-1] = 0.2 * (a[1:-1, 1:-1] + a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
    return a


ROWS = {
    "a*b+1": lambda a, b: a * b + 1,
    "chain": lambda a, b: a * b + gc.exp(-a) * gc.tanh(b),
    "sum of sin": lambda a, b: gc.sum(gc.sin(a) * 2 + b),
    "sums": lambda a, b: (gc.sum(a), gc.sum(a, axis=0), gc.sum(a, axis=1), gc.prod(b, axis=1)),
    "softmax": lambda a, b: softmax(a),
    "layernorm": lambda a, b: layernorm(a),
    "variance": lambda a, b: (gc.var(a, axis=1), gc.var(a, axis=0), gc.var(a)),
    "logsumexp": lambda a, b: gc.log(gc.sum(gc.exp(a - gc.max(a, axis=1, keepdims=True)), axis=1)),
    "gelu": gelu,
    "arg": lambda a, b: (gc.argmax(a), gc.argmin(a, axis=0), gc.argmax(a, axis=1)),
    "any": lambda a, b: (gc.any(a > 9), gc.all(a < b, axis=0), gc.any(a > b, axis=1)),
    "pi": lambda a, b: gc.sum(a * a + b * b <= 1.0) * 4.0 / a.size,
    "where": lambda a, b: gc.where(a > b, a, b * 2),
    "mixed": lambda a, b: a.astype(gc.float64) + b.astype(gc.int8),
    "strides": lambda a, b: (a[::-1] * 2, a[:, ::-2] + 1, a.T * 3, a[1:-1, 1:-1] - b[:-2, 2:]),
    "scans": lambda a, b: (gc.cumsum(a), gc.cumsum(a, axis=0), gc.cumprod(b, axis=1)),
    "outputs": lambda a, b: (a + 1, a * 2, gc.sum(a + 1, axis=0)),
    "stencil": lambda a, b: steps(a + 0),
}
for name, f in ROWS.items():
    digest = hashlib.sha256()
    for a, b in ((x, y), (tall, tall[::-1]), (wide, wide[::-1]), (few, few[::-1])):
        results = gc.jit(f)(gc.asarray(a), gc.asarray(np.ascontiguousarray(b)))
        for r in results if isinstance(results, tuple) else (results,):
            digest.update(np.asarray(r).tobytes())
    print(name, digest.hexdigest(), sep="\\t")
"""


def digests(**settings):
    done = subprocess.run([sys.executable, "-c", PROGRAM], env={**os.environ, **settings}, text=True,
                          capture_output=True, timeout=300, check=True)
    return dict(line.split("\t") for line in done.stdout.splitlines())


@pytest.fixture(scope="module")
def reference():
    return digests(GRAPHC_NUM_THREADS="1")


@pytest.mark.parametrize("settings", [{"GRAPHC_NUM_THREADS": n} for n in "237"]
                         + [{"GRAPHC_CPU_FEATURES": "avx2,fma", "GRAPHC_NUM_THREADS": "3"}], ids=str)
def test_bits_do_not_depend_on_threads_or_vectors(reference, settings):
    assert digests(**settings) == reference
    assert len(reference) == 18


@pytest.mark.parametrize("shape", [(3, 40000), (40000, 3), (2100, 70), (5, 2100, 33), (1, 9), (64, 32), (64, 33)],
                         ids=str)
@pytest.mark.parametrize("dtype", ["float32", "float64", "int8", "uint16", "int64"])
def test_positions_of_extremes(shape, dtype):
    rng = np.random.default_rng(8)
    x = rng.integers(-100 if np.dtype(dtype).kind != "u" else 0, 100, shape).astype(dtype)  # many equal elements
    g = gc.asarray(x)
    for axis in (None, *range(len(shape))):
        for f in ("argmax", "argmin"):
            np.testing.assert_array_equal(np.asarray(getattr(gc, f)(g, axis=axis)), getattr(np, f)(x, axis=axis))


@pytest.mark.parametrize("n", [1, 8192, 8193, 100000, 1 << 20])
def test_any_and_all_stop_early_and_are_right(n):
    for place in sorted({0, n // 3, n - 1}):
        x = np.zeros(n, np.float32)
        assert not gc.any(gc.asarray(x) > 0) and gc.all(gc.asarray(x) == 0)
        x[place] = 1
        g = gc.asarray(x)
        assert gc.any(g > 0) and not gc.all(g == 0)
        both = gc.jit(lambda a: (gc.any(a > 0), gc.all(a > 0), gc.any(a > 2), gc.all(a < 2)))(g)
        assert [bool(b) for b in both] == [True, n == 1, False, True]


def test_positions_of_nan_and_infinity():
    for n in (1, 40, 300, 9000, 40000):
        x = np.full(n, -np.inf, np.float32)
        assert int(gc.argmax(gc.asarray(x))) == 0
        x[n // 2:] = np.nan
        assert int(gc.argmax(gc.asarray(x))) == int(gc.argmin(gc.asarray(x))) == n // 2
        column = np.stack([x, -x], 1)
        np.testing.assert_array_equal(np.asarray(gc.argmax(gc.asarray(column), axis=0)), [n // 2, n // 2])


@pytest.mark.parametrize("dtype", ["float32", "float64", "int16", "int64", "uint64"])
def test_positions_in_vectors_of_any_order(dtype):
    """Rising, falling and equal elements, and a NaN in any block, where single results are computed at once."""
    rng = np.random.default_rng(9)
    for n in (5, 255, 257, 1023, 4097, 9001, 20000, 32768):
        rising = np.sort(rng.integers(0, 30000, n)).astype(dtype)
        rows = [rising, rising[::-1], np.zeros(n, dtype), rng.permutation(rising)]
        for place in (0, 300, n // 2, n - 1) if dtype.startswith("float") else ():
            rows.append(rows[3].copy())
            rows[-1][place % n] = np.nan
        for x in rows:
            g = gc.asarray(np.ascontiguousarray(x))
            gc.eval(g)
            got, want = [g.argmax(), g.argmin(), g.max(), g.min()], [x.argmax(), x.argmin(), x.max(), x.min()]
            np.testing.assert_array_equal(np.array(got, float), np.array(want, float))


def test_steps_in_place_equal_numpy_and_keep_two_grids():
    def steps(a, count):
        for _ in range(count):
            a[1:-1, 1:-1] = 0.25 * (a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        return a

    start = np.random.default_rng(9).random((300, 200)).astype(np.float32)
    want = steps(start.copy(), 50)
    a = gc.asarray(start)
    first = a + 0
    np.testing.assert_array_equal(np.asarray(steps(a, 50)), want)
    np.testing.assert_array_equal(np.asarray(first), start)
    text = gc.jit(lambda b: steps(b, 50)).lower(gc.asarray(start)).as_text("plan")
    assert text.count("plan.alloc") == 2 and text.count("plan.copy") == 2
    cost = gc.jit(lambda b: steps(b, 50)).lower(gc.asarray(start)).cost()
    assert cost.argument_bytes == cost.output_bytes == start.nbytes
    assert cost.peak_bytes == 2 * start.nbytes  # the caller's grid, which the argument does not need any more, and one
    assert cost.kernels == 50 and cost.copies == 2


def test_cost_counts_bytes_and_kernels():
    x = gc.zeros((1000, 300), dtype=gc.float32)
    cost = gc.jit(lambda a: a * 2 + 1).lower(x).cost()
    assert cost == (1200000, 1200000, 2400000, 1, 0)
    cost = gc.jit(lambda a: gc.sum(a, axis=1)).lower(x).cost()
    assert cost == (1200000, 4000, 1204000, 1, 0)
    # Block results live until they are folded: 300000 / 8192 of them.
    cost = gc.jit(gc.sum).lower(x).cost()
    assert cost == (1200000, 4, 1200000 + 4 + 37 * 4, 2, 0)


def test_kernels_are_cut_between_turns():
    def f(x, y):
        for _ in range(64):
            x = (x * 3 + y) % 1000 ^ y
        return x

    x, y = np.arange(100), np.arange(100) * 7 + 1
    traced = gc.jit(f)
    text = traced.lower(gc.asarray(x), gc.asarray(y)).as_text("kernel")
    calls, kernels = text.count("kernel.call @"), text.count("kernel.func @")
    assert (calls, kernels) == (4, 2), "three kernels of twenty turns are one, a fourth takes the rest"
    np.testing.assert_array_equal(np.asarray(traced(gc.asarray(x), gc.asarray(y))), f(x, y))
