"""Views of what is computed for them alone: one kernel computes under the view, with NumPy's numbers."""

import sys
import warnings

import graphc as gc
import numpy as np
import pytest
from support import exact

pytestmark = pytest.mark.graphc_only

RNG = np.random.default_rng(11)
FLAT = RNG.standard_normal(48 * 20 * 6)
OTHER = RNG.standard_normal(48 * 20 * 6)
TABLE, SECOND = FLAT.reshape(48, 120), OTHER.reshape(48, 120)
ROW = RNG.standard_normal(120)

# what is computed, of what; in how many kernels
CASES = {
    "split": (lambda xp, x, y: xp.max((x * 3 + y).reshape(48, -1), axis=1), (FLAT, OTHER), 1),
    "split of rows": (lambda xp, x, y: xp.min((x * ROW - y).reshape(48, 6, 20), axis=2), (TABLE, SECOND), 1),
    "joined": (lambda xp, x, y: xp.abs((x * 3 + y).reshape(-1)) + 1, (TABLE, SECOND), 1),
    "joined rows": (lambda xp, x, y: xp.abs((x * ROW + y).reshape(-1)) + 1, (TABLE, SECOND), 2),
    "several types": (lambda xp, x, y: xp.where((x > y).reshape(-1, 10), 1, 2).sum(axis=0), (FLAT, OTHER), 1),
    "transposed": (lambda xp, x, y: xp.max((x * 3 + 1).T, axis=0), (TABLE, SECOND), 1),
    "transposed, of three": (lambda xp, x, y: xp.max((x * ROW + y).T, axis=0), (TABLE, SECOND), 2),
    "part": (lambda xp, x, y: xp.where(x > y, x, -y)[3:-1] * 2, (FLAT, OTHER), 1),
    "backwards": (lambda xp, x, y: (x * y)[::-1] - 1, (FLAT, OTHER), 1),
    "every second, backwards": (lambda xp, x, y: xp.maximum(x, y)[::-2] - 1, (FLAT, OTHER), 1),
    "column": (lambda xp, x, y: xp.maximum(abs(x), y)[:, 7] * 2, (TABLE, SECOND), 1),
    "part of a part": (lambda xp, x, y: xp.maximum(abs(x), y)[5:].T[::3].max(axis=1), (TABLE, SECOND), 1),
    "part of sums": (lambda xp, x, y: (x * y + x)[3:-1] * 2, (FLAT, OTHER), 1),
    "part of quotients": (lambda xp, x, y: (x / y + x)[3:-1] * 2, (FLAT, OTHER), 2),
    "read twice": (lambda xp, x, y: xp.max(xp.square(x - y).reshape(48, -1), axis=1), (FLAT, OTHER), 1),
    "shared parts": (lambda xp, x, y: (x * y)[1:] - (x * y)[:-1], (FLAT, OTHER), None),
    "kept as well": (lambda xp, x, y: (lambda p: (p[1:] * 2, p))(x * y), (FLAT, OTHER), 2),
    "view of the result": (lambda xp, x, y: (x * y).reshape(48, -1), (FLAT, OTHER), 1),
    "product": (lambda xp, x, y: (x * 2).reshape(48, -1) @ y.reshape(-1, 48), (FLAT, OTHER), None),
    "single rows": (lambda xp, x, y: xp.minimum(x, y)[:1].reshape(-1)[::2] + 1, (TABLE, SECOND), 1),
}


@pytest.mark.parametrize("name", CASES)
def test_values(name, device):
    compute, given, _ = CASES[name]
    with gc.device(device):
        found = gc.jit(lambda x, y: compute(gc, x, y))(*[gc.asarray(a, device=device) for a in given])
    want = compute(np, *given)
    for got, expected in zip(*((r if isinstance(r, tuple) else (r,)) for r in (found, want)), strict=True):
        if name == "product":
            np.testing.assert_allclose(np.asarray(got), expected, rtol=1e-11, atol=1e-11)
        else:
            exact.assert_same(np.asarray(got), expected)


@pytest.mark.parametrize("name", [name for name in CASES if CASES[name][2]])
def test_kernels(name):
    compute, given, kernels = CASES[name]
    program = gc.jit(lambda x, y: compute(gc, x, y)).lower(*map(gc.asarray, given))
    assert program.as_text("kernel").count("kernel.func") == kernels


def test_parts_of_what_nobody_watches_are_all_that_is_computed():
    def program(x, y):
        return (x / y + x)[3:-1] * 2

    with gc.errstate(all="ignore"):
        text = gc.jit(program).lower(gc.asarray(FLAT), gc.asarray(OTHER)).as_text("kernel")
    assert text.count("kernel.func") == 1


# what NumPy tells of elements that are left out
TOLD = {
    "quotients": lambda xp, x: (1 / x)[1:] + 1,
    "quotients, doubled": lambda xp, x: (1 / x * 2)[1:] + 1,
    "logarithms": lambda xp, x: xp.sum(xp.log(x)[1:]),
    "of an axis": lambda xp, x: -(1 / x.reshape(-1, 4))[:, 1:],
    "negated": lambda xp, x: (-(xp.log(x).reshape(4, -1).T))[1:] * 2,
    "integers": lambda xp, x: (7 // x.astype("i8"))[1:] + 1,
    "none": lambda xp, x: xp.sqrt(x)[1:] + 1,
}


@pytest.mark.parametrize("jitted", (False, True))
@pytest.mark.parametrize("size", (12, 40000))
@pytest.mark.parametrize("name", TOLD)
def test_elements_that_are_left_out_are_told_of(name, size, jitted):
    program, x = TOLD[name], np.arange(float(size))

    def told(xp):
        run = gc.jit(lambda x: program(gc, x)) if jitted and xp is gc else lambda x: program(xp, x)
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            np.asarray(run(xp.asarray(x)))
        return sorted({str(warning.message) for warning in found})

    assert told(gc) == told(np)
    assert bool(told(np)) == (name != "none")


def test_float_errors_keep_their_lines():
    x = gc.asarray(np.array([1.0, 0.0, 2.0, 4.0]))
    with pytest.warns(RuntimeWarning, match="divide by zero") as caught:
        quotients = 1 / x
        line = sys._getframe().f_lineno - 1
        assert np.isinf(float(gc.max(quotients.reshape(2, 2) * 2)))
    assert {w.lineno for w in caught} == {line}
