"""Steps of stencils, which a program takes through the rows one behind the other: what NumPy's statements give, bit for bit."""

import os
import subprocess
import sys

import graphc as gc
import numpy as np
import pytest


def jacobi(xp, a, b, steps=20):
    for _ in range(steps // 2):
        b[1:-1, 1:-1] = 0.25 * (a[1:-1, :-2] + a[1:-1, 2:] + a[2:, 1:-1] + a[:-2, 1:-1])
        a[1:-1, 1:-1] = 0.25 * (b[1:-1, :-2] + b[1:-1, 2:] + b[2:, 1:-1] + b[:-2, 1:-1])
    return a, b


def wave(xp, a, b, steps=21):
    """Each step is written over the values of two steps ago."""
    for _ in range(steps):
        a[1:-1, 1:-1] = 2 * b[1:-1, 1:-1] - a[1:-1, 1:-1] + 0.1 * (b[2:, 1:-1] + b[:-2, 1:-1] + b[1:-1, 2:] + b[1:-1, :-2] - 4 * b[1:-1, 1:-1])
        a, b = b, a
    return a, b


def far(xp, a, b, steps=9):
    """Rows on one side only, three and one away."""
    for _ in range(steps):
        b[:-3] = a[3:] * 0.5 - b[:-3]
        a[:-3] = b[1:-2] + a[:-3] * 0.25
    return a, b


def back(xp, a, b, steps=8):
    for _ in range(steps):
        b[2:, 1:] = a[:-2, :-1] * 0.75
        a[2:, 1:] = b[:-2, :-1] + 1
    return a, b


def table(xp, a, b, steps=12):
    """An operand of all rows that nobody writes, by places."""
    line, places = a[0] * 1, xp.asarray(np.arange(a.shape[1])[::-1].copy())
    for _ in range(steps):
        b[1:-1] = a[:-2] * 0.5 + line[places]
        a[1:-1] = b[2:] - line
    return a, b


def upside_down(xp, a, b, steps=10):
    """Rows that are read in the other order."""
    for _ in range(steps):
        b[1:-1] = a[::-1][1:-1] + a[:-2]
        a[1:-1] = b[2:] * 0.5
    return a, b


def line(xp, a, b, steps=16):
    for _ in range(steps):
        b[1:-1] = (a[:-2] + a[2:]) * 0.5
        a[2:-2] = b[:-4] * 0.5 + b[4:] * 0.25
    return a, b


def reshaped(xp, a, b, steps=8):
    """The same memory as rows of two lengths."""
    n, m = a.shape
    wide = a.reshape(n // 2, 2 * m)
    for _ in range(steps):
        b[1:-1] = a[:-2] + a[2:] * 0.5
        wide[1:-1] = wide[1:-1] * 0.5 + b.reshape(n // 2, 2 * m)[2:]
    return a, b


# Programs and shapes; those that are tiled say so.
CASES = [(jacobi, (1003, 517), True), (jacobi, (150, 6000), True), (jacobi, (300, 50, 31), True), (wave, (1200, 401), True), (far, (1501, 400), True),
         (back, (1024, 512), True), (table, (1100, 430), True), (upside_down, (1000, 512), False), (line, (1_000_001,), False),
         (reshaped, (1200, 500), False)]


def inputs(shape, dtype="float64"):
    rng = np.random.default_rng(4)
    return [rng.standard_normal(shape).astype(dtype) for _ in range(2)]


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("f, shape, tiled", CASES, ids=lambda v: getattr(v, "__name__", str(v)))
def test_steps_give_what_numpy_gives(f, shape, tiled, dtype):
    x = inputs(shape, dtype)
    given = [v.copy() for v in x]
    expected = f(np, *given)
    def program(a, b):
        return f(gc, a.copy(), b.copy())
    for got, want in zip(gc.jit(program)(*map(gc.asarray, x)), expected):
        assert np.array_equal(got, want)
    assert ("skew" in gc.jit(program).lower(*map(gc.asarray, x)).as_text("plan")) == tiled
    # As statements, and on arrays that the program may write over.
    a, b = map(gc.asarray, x)
    for got, want in zip(f(gc, a, b), expected):
        assert np.array_equal(got, want)
    a, b = map(gc.asarray, x)
    for got, want in zip(gc.jit(lambda a, b: f(gc, a, b))(a, b), expected):
        assert np.array_equal(got, want)
    assert np.array_equal(a, given[0]) and np.array_equal(b, given[1])


def walls(xp, u, steps=4):
    """Edges that repeat what is beside them."""
    for _ in range(steps):
        old = u.copy()
        u[1:-1, 1:-1] = old[1:-1, 1:-1] + 0.1 * (old[2:, 1:-1] + old[:-2, 1:-1] - 2 * old[1:-1, 1:-1])
        u[0, :] = u[1, :]
        u[-1, :] = u[-2, :]
        u[:, 0] = 1
        u[:, -1] = u[:, -2]
    return u


def periodic(xp, u, steps=4):
    for _ in range(steps):
        u[1:-1, 1:-1] = u[1:-1, 1:-1] * 0.5 + u[:-2, 1:-1]
        u[0], u[-1] = u[-2], u[1]
        u[:, 0] = u[:, -2]
        u[:, -1] = u[:, 1]
    return u


def rows(xp, u, steps=3):
    """One row from itself and another, and rows that overlap themselves."""
    for _ in range(steps):
        u[2] = u[2] * 0.5 + u[0]
        u[3, 1:] = u[3, :-1] + u[1, 1:]
        u[-1, ::2] = u[-2, ::2] - u[-1, ::2]
        u[:, 2] = u[:, -1] + u[:, 2]
        u[4, 2] = u[4, 3] + u[5, 2]
        u[5] = u[5, ::-1] + u[4]
    return u


@pytest.mark.parametrize("f", [walls, periodic, rows])
def test_updates_from_other_rows(f):
    once = gc.jit(lambda u: f(gc, u.copy()))
    for shape in [(6, 6), (6, 7), (7, 6), (8, 8), (9, 30), (700, 300)]:
        x = np.random.default_rng(6).standard_normal(shape)
        expected = f(np, x.copy())
        assert np.array_equal(once(gc.asarray(x)), expected), shape
        assert np.array_equal(f(gc, gc.asarray(x)), expected), shape


def test_edges_are_written_in_place():
    cost = gc.jit(lambda u: walls(gc, u.copy())).lower(np.zeros((700, 300))).cost()
    assert cost.copies == 4  # of whole steps: that of the first is the caller's array


@pytest.mark.parametrize("rows", [0, 1, 2, 3, 5, 64])
def test_few_rows(rows):
    x = [np.random.default_rng(5).standard_normal((rows, 40_000)) for _ in range(2)]
    expected = jacobi(np, *(v.copy() for v in x))
    for got, want in zip(jacobi(gc, *map(gc.asarray, x)), expected):
        assert np.array_equal(got, want)


def test_an_overflow_in_a_step_is_told():
    def grow(a, b):
        for _ in range(20):
            b[1:-1] = (a[:-2] + a[2:]) * 1e10
            a[1:-1] = b[1:-1] * 1e10
        return a
    a, b = np.ones((1000, 600)), np.zeros((1000, 600))
    with pytest.warns(RuntimeWarning, match="overflow"):
        got = gc.jit(grow)(gc.asarray(a), gc.asarray(b))
        gc.eval(got)
    with np.errstate(all="ignore"):
        assert np.array_equal(got, grow(a, b), equal_nan=True)


def test_steps_take_two_grids():
    x = np.zeros((2000, 600))
    def program(a):
        b = a.copy()
        return jacobi(gc, a, b)[0]
    cost = gc.jit(program).lower(x).cost()
    assert cost.peak_bytes == 2 * x.nbytes and cost.kernels == 20


CODE = """
import hashlib, sys
import numpy as np
import graphc as gc
sys.path.insert(0, sys.argv[1])
import test_stencils as t
for f, shape, tiled in t.CASES:
    for v in f(gc, *map(gc.asarray, t.inputs(shape))):
        print(hashlib.sha256(np.asarray(v).tobytes()).hexdigest())
"""


def test_threads_and_vectors():
    settings = [{"GRAPHC_NUM_THREADS": n} for n in "1237"] + [{"GRAPHC_CPU_FEATURES": "avx,avx2,fma", "GRAPHC_NUM_THREADS": "2"}]
    seen = {subprocess.run([sys.executable, "-c", CODE, os.path.dirname(__file__)], env=os.environ | s, capture_output=True, text=True, check=True).stdout
            for s in settings}
    assert len(seen) == 1 and len(seen.pop().split()) == 2 * len(CASES)
