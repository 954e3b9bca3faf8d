"""Rolled arrays are read where they lie: in the kernel of what is computed with them, with NumPy's numbers."""

import graphc as gc
import numpy as np
import pytest
from support import exact

pytestmark = pytest.mark.graphc_only

RNG = np.random.default_rng(17)
LINE, TABLE, BOX = RNG.standard_normal(1003), RNG.standard_normal((37, 70)), RNG.standard_normal((5, 9, 33))


def neighbours(xp, u):
    return sum(xp.roll(u, s, a) for a in range(u.ndim) for s in (1, -1)) - 2 * u.ndim * u


def corners(xp, u):
    return sum(xp.roll(xp.roll(u, i, 0), j, 1) * (i + 2 * j) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0))


def life(xp, cells):
    count = sum(xp.roll(cells, (i, j), (0, 1)) for i in (-1, 0, 1) for j in (-1, 0, 1) if (i, j) != (0, 0))
    return (count == 3) | ((cells == 1) & (count == 2))


def framed(xp, u, axis):
    some = [slice(None)] * u.ndim
    last, first, before, after = [list(some) for _ in range(4)]
    last[axis], first[axis], before[axis], after[axis] = slice(-1, None), slice(None, 1), slice(None, -2), slice(2, None)
    w = xp.concatenate([u[tuple(last)], u, u[tuple(first)]], axis)
    return w[tuple(before)] + w[tuple(after)] - 2 * u


def steps(xp, u):
    for _ in range(5):
        u = u + 0.1 * neighbours(xp, u)
    return u


# what is computed, of what; in how many kernels
CASES = {
    "line": (neighbours, LINE, 1),
    "table": (neighbours, TABLE, 1),
    "box": (neighbours, BOX, 1),
    "box, far": (lambda xp, u: xp.roll(u, 7, 2) * xp.roll(u, -11, 2) + xp.roll(u, 100, 1), BOX, 1),
    "float32": (neighbours, TABLE.astype("f4"), 1),
    "float16": (neighbours, TABLE.astype("f2"), 1),
    "int8": (neighbours, (TABLE * 20).astype("i1"), 1),
    "uint64": (lambda xp, u: xp.roll(u, 1) ^ xp.roll(u, -1), RNG.integers(0, 2**63, 500, "u8"), 1),
    "bool": (lambda xp, u: xp.roll(u, 1, 0) & ~xp.roll(u, 3, 1), TABLE > 0, 1),
    "complex": (lambda xp, u: xp.roll(u, 1, 1) + xp.roll(u, -1, 0) * 2, TABLE + 1j * TABLE[::-1], 1),
    "corners": (corners, TABLE, 1),
    "life": (life, (TABLE > 0).astype("i8"), 1),
    "life of bytes": (life, (TABLE > 0).astype("u1"), 1),
    "all axes at once": (lambda xp, u: xp.roll(u, (1, 2, -3), (0, 1, 2)) - u, BOX, 1),
    "twice along an axis": (lambda xp, u: xp.roll(xp.roll(u, 1), 2) + u, LINE, None),
    "of a column": (lambda xp, u: xp.roll(u[:, 3], 2) * 3, TABLE, 1),
    "of a layer": (lambda xp, u: xp.roll(xp.roll(u[2], 2, 0), -1, 1) * 3, BOX, 1),
    "of part of a roll": (lambda xp, u: xp.roll(xp.roll(u, 2, 0)[3:], -1, 1) * 3, TABLE, 1),
    "of every second": (lambda xp, u: xp.roll(u[::2, 1:], 5, 1) - u[::2, 1:], TABLE, 1),
    "of columns backwards": (lambda xp, u: xp.roll(u[::-1], 5, 1) - u, TABLE, 1),
    "flattened": (lambda xp, u: xp.roll(u, 75) + u, TABLE, None),
    "transposed": (lambda xp, u: xp.roll(u.T, 2, 0).T + u, TABLE, 1),
    "of rows backwards": (lambda xp, u: xp.roll(u[1:-1, ::-1], 1, 1) * 2, TABLE, None),
    "part of a roll": (lambda xp, u: xp.roll(u, 3, 0)[2:-2, 5:] + 1, TABLE, 1),
    "sum of a roll": (lambda xp, u: xp.sum(xp.roll(u, 3, 1) * u, axis=1), np.round(TABLE * 8), 1),
    "extreme of rolls": (lambda xp, u: xp.max(xp.roll(u, 1, 0) - xp.roll(u, 1, 1)), TABLE, 1),
    "running sums": (lambda xp, u: xp.cumsum(xp.roll(u, 1, 1) + 1, axis=1), TABLE, 1),
    "of what is computed": (lambda xp, u: (lambda v: v - xp.roll(v, 1, 1))(u * u + 1), TABLE, 2),
    "kept as well": (lambda xp, u: (lambda v: (v, v * 2))(xp.roll(u, 1, 0)), TABLE, None),
    "product": (lambda xp, u: xp.roll(u, 1, 0) @ xp.roll(u, 1, 1).T, np.round(TABLE * 8), None),
    "steps": (steps, TABLE, None),
    "frame": (lambda xp, u: framed(xp, u, 0), TABLE, 1),
    "frame of rows": (lambda xp, u: framed(xp, u, 1), TABLE, 1),
    "frame of a line": (lambda xp, u: framed(xp, u, 0), LINE, 1),
    "parts of any size": (lambda xp, u: xp.concatenate([u[30:33], u[:900]]) * 2, LINE, 1),
    "parts from anywhere": (lambda xp, u: xp.concatenate([u[30:40], u[35:80]]) * 2, LINE, 1),
    "three from anywhere": (lambda xp, u: xp.concatenate([u[:3], u[10:11], u[4:70]]) * 2, LINE, None),
    "backwards": (lambda xp, u: xp.concatenate([u[40::-1], u[:80]]) * 2, LINE, None),
    "of steps": (lambda xp, u: xp.concatenate([u[500:], u[:500:3]]) * 2, LINE, None),
}


def same(found, want):
    for got, expected in zip(*((r if isinstance(r, tuple) else (r,)) for r in (found, want)), strict=True):
        parts = (np.real, np.imag) if np.iscomplexobj(expected) else (np.asarray,)
        for part in parts:
            exact.assert_same(part(np.asarray(got)), part(np.asarray(expected)))


@pytest.mark.parametrize("name", CASES)
def test_values(name, device):
    compute, given, _ = CASES[name]
    with gc.device(device):
        found = gc.jit(lambda u: compute(gc, u))(gc.asarray(given, device=device))
    if name == "running sums":
        np.testing.assert_allclose(np.asarray(found), compute(np, given), rtol=1e-13)
    else:
        same(found, compute(np, given))


@pytest.mark.parametrize("name", [name for name in CASES if CASES[name][2]])
def test_kernels(name):
    compute, given, kernels = CASES[name]
    program = gc.jit(lambda u: compute(gc, u)).lower(gc.asarray(given))
    assert program.as_text("kernel").count("kernel.func") == kernels


@pytest.mark.parametrize("size", [1, 2, 3, 5, 8, 16, 17, 31, 33, 64, 130])
def test_sizes(size, device):
    u = RNG.standard_normal((3, size)).astype("f4")
    for by in (-size - 1, -1, 0, 1, 2, size // 2, size, 3 * size + 1):
        with gc.device(device):
            v = gc.asarray(u, device=device)
            found = gc.roll(v, by, 1) * 2 + gc.roll(v, by, 0) + gc.roll(v, 1 - by, 1)
            gc.eval(found)
        same(found, np.roll(u, by, 1) * 2 + np.roll(u, by, 0) + np.roll(u, 1 - by, 1))


VIEWS = {
    "flipped": lambda xp, x: xp.flip(x, -1),
    "every second": lambda xp, x: x[..., ::2],
    "every third, backwards": lambda xp, x: x[..., ::-3],
    "transposed": lambda xp, x: x.T,
    "columns": lambda xp, x: x.reshape(-1, 2).T if x.size % 2 == 0 else x,
    "twice": lambda xp, x: xp.stack([x, x], -1).reshape(-1),
}


@pytest.mark.parametrize("dtype", ["u1", "f4", "f8"])
@pytest.mark.parametrize("name", VIEWS)
def test_views_of_rolls(name, dtype, device):
    lanes = 64 // np.dtype(dtype).itemsize
    for size in (5, lanes - 2, 2 * lanes - 2, 2 * lanes, 3 * lanes - 2):
        x = np.arange(size, dtype=dtype)
        for by in {1, 2, size // 2, size // 2 + 2, size - 1}:
            with gc.device(device):
                v = gc.asarray(x, device=device)
                same(VIEWS[name](gc, gc.roll(v, by)) * 2, VIEWS[name](np, np.roll(x, by)) * x.dtype.type(2))
                joined = gc.concatenate([v[: by + 1], v])
                same(VIEWS[name](gc, joined) * 2, VIEWS[name](np, np.concatenate([x[: by + 1], x])) * x.dtype.type(2))


def test_short_rows_of_joins(device):
    x, y = np.arange(6.0).reshape(3, 2), np.array([[1.0, 2, 3], [3, 1, 0]])
    with gc.device(device):
        v, w = gc.asarray(x, device=device), gc.asarray(y, device=device)
        same(gc.concatenate([v[:2], v]).T * 2, np.concatenate([x[:2], x]).T * 2)
        same(gc.concatenate([v[:, 1], v[1:, 1]]) * 2, np.concatenate([x[:, 1], x[1:, 1]]) * 2)
        doubled = np.vstack([y, y])
        same((lambda t: t * 2 - gc.max(t * 2, axis=-1, keepdims=True))(gc.vstack([w, w])), doubled * 2 - (doubled * 2).max(-1, keepdims=True))
        same(gc.sum((gc.roll(w, 1, 0)[:, ::-1] * 2)), np.sum(y * 2))


def test_one_program_serves_all_sizes_and_shifts_of_them():
    program = gc.jit(lambda u: gc.roll(u, 1, 1) - gc.roll(u, -1, 0))
    for shape in ((4, 7), (30, 64), (1, 5), (9, 1), (200, 3)):
        u = RNG.standard_normal(shape)
        same(program(gc.asarray(u)), np.roll(u, 1, 1) - np.roll(u, -1, 0))


def test_arrays_that_are_updated_are_read_before(device):
    u = RNG.standard_normal((40, 50))

    def program(xp, v):
        v[:] = v + xp.roll(v, 1, 0) - xp.roll(v, 1, 1)
        v[1:] -= xp.roll(v, -1, 1)[:-1] * 0.5
        v += xp.roll(v, 2, 0)
        return v

    with gc.device(device):
        mine = gc.asarray(u, device=device)
        same(gc.jit(lambda v: program(gc, v))(mine.copy()), program(np, u.copy()))
        same(program(gc, mine.copy()), program(np, u.copy()))


def test_errors_of_what_is_rolled_are_told_once():
    x = np.array([1.0, 0.0, 2.0, 0.0] * 40)
    with np.errstate(divide="ignore"):
        want = np.roll(1 / x, 1) + np.roll(1 / x, -1)
    with pytest.warns(RuntimeWarning, match="divide by zero") as told:
        quotients = 1 / gc.asarray(x)
        same(gc.roll(quotients, 1) + gc.roll(quotients, -1), want)
    assert len(told) == 1
