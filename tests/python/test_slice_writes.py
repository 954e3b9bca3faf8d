"""Writes into several parts of one array: as many kernels as dependencies force, in NumPy's order, on every device."""

import re
import warnings

import graphc as gc
import numpy as np
import pytest


def kernels(f, *args):
    return sum(line.startswith("kernel ") for line in str(f.explain(*args)).splitlines())


def disjoint_rows(xp, y, a):
    y = y.copy()
    for i in range(40):
        y[4 * i : 4 * i + 4] = a[4 * i : 4 * i + 4] * float(i) + 1
    return y


def disjoint_boxes(xp, y, a):
    """Five axes: 40 boxes, along several axes, with steps that never meet."""
    y, a = (x.reshape((4, 5, 2, 8, 32)).copy() for x in (y, a))
    for i in range(4):
        for j in range(5):
            for k in range(2):
                y[i, j, k, 1:-1, k::2] = a[i, j, 1 - k, 2:, ::2] - i
    return y


def checkerboard(xp, y, a):
    y = y.copy()
    y[1::2, ::2] = a[1::2, ::2] * 2
    y[::2, 1::2] = a[::2, 1::2] * 3
    y[::2, ::2] = 5
    y[1::2, 1::2] = a[1::2, 1::2]
    return y


@pytest.mark.parametrize(("program", "most"), [(disjoint_rows, 1), (disjoint_boxes, 2), (checkerboard, 2)])
def test_disjoint_writes_are_one_kernel(program, most):
    rng = np.random.default_rng(3)
    y, a = rng.random((160, 64)), rng.random((160, 64))
    want = program(np, y, a)
    f = gc.jit(lambda y, a: program(gc, y, a))
    assert np.array_equal(np.asarray(f(gc.asarray(y), gc.asarray(a))), want)
    assert np.array_equal(np.asarray(program(gc, gc.asarray(y), gc.asarray(a))), want)
    assert kernels(f, gc.asarray(y), gc.asarray(a)) <= most


def test_explain_says_why_not():
    f = gc.jit(lambda y, a: overlapping(gc, y, a))
    text = str(f.explain(gc.ones((160, 64)), gc.ones((160, 64))))
    assert re.search(r"test_slice_writes.py:\d+ not fused with kernels 0, 1, 2 and 8 more: it may write what the update before it writes", text)


def overlapping(xp, y, a):
    """Each part begins in the one before it."""
    y = y.copy()
    for i in range(12):
        y[3 * i : 3 * i + 4] = a[3 * i : 3 * i + 4] * float(i + 1)
    return y


def old_values(xp, y, a):
    """Apart from each other, but each reads what the array held before any of them."""
    y = y + 1
    parts = [y[4 * ((i + 1) % 40) : 4 * ((i + 1) % 40) + 4] * 2 for i in range(40)]
    for i in range(40):
        y[4 * i : 4 * i + 4] = parts[i]
    return y


def new_values(xp, y, a):
    """Each reads the part written before it."""
    y = y.copy()
    for i in range(1, 20):
        y[4 * i : 4 * i + 4] = y[4 * i - 4 : 4 * i] + a[4 * i : 4 * i + 4]
    return y


def seen_between(xp, y, a):
    y = y.copy()
    y[:4] = a[:4] * 2
    between = y.max(axis=1)
    y[4:8] = a[4:8] * 3
    y[8:12] = between[:4, None] + a[8:12]
    return y


def mixed(seed):
    def program(xp, y, a):
        rng = np.random.default_rng(seed)
        y = y.copy()
        for i in range(15):
            at, by = rng.integers(0, 12, 2)
            y[at * 2 : at * 2 + 2, by % 4 :: 4] = (y if i % 3 == 0 else a)[by : by + 2, at % 4 :: 4] * float(i)
        return y

    return program


@pytest.mark.parametrize("program", [overlapping, old_values, new_values, seen_between, *map(mixed, range(12))])
def test_writes_that_depend_on_each_other_keep_their_order(program):
    rng = np.random.default_rng(4)
    y, a = rng.random((160, 64)), rng.random((160, 64))
    want = program(np, y, a)
    assert np.array_equal(np.asarray(gc.jit(lambda y, a: program(gc, y, a))(gc.asarray(y), gc.asarray(a))), want)
    assert np.array_equal(np.asarray(program(gc, gc.asarray(y), gc.asarray(a))), want)


def test_places_belong_to_a_program():
    """The same writes at places that are apart, then at such that are not, then again."""
    a = np.arange(160.0).reshape(40, 4)

    def write(xp, first, second):
        y = xp.zeros((40, 4))
        y[first : first + 5] = xp.asarray(a[:5]) + 1
        y[second : second + 5] = xp.asarray(a[5:10]) + 1
        return y

    for first, second in ((2, 9), (2, 4), (9, 3), (5, 9), (9, 5), (2, 9)):
        assert np.array_equal(np.asarray(write(gc, first, second)), write(np, first, second))


LISTS = [
    (194, 178, 128), [1, 2, 3], (1.5, 2.0, 3.25), [1, 2.5, True], [True, False, True], (np.uint8(7), 1, 2), (np.float64(0.5), np.float32(2), 1), [-1, 0, 1], [300, 1, 2],
    [1e300, 0, 1], [float("nan"), 1, 2], (np.int64(5), np.int64(300), 1), (2**40, 1, 2), [1j, 0, 0], [1, 2], [7], [0, 2**80, -1], [0.0, 0.1, float("inf")], ["1", "2", "3"], [[1, 2, 3]], [(1, 2, 3), (4, 5, 6)], range(3), range(300, 0, -100), range(2),
]  # fmt: skip
PARTS = [np.s_[1, 2], np.s_[1:3, 2:4], np.s_[::-1, 1::2], np.s_[..., 0, :], np.s_[2, :, ::-1], np.s_[:0], np.s_[:, None, 1], np.s_[:]]


@pytest.mark.parametrize("dtype", ["bool", "u1", "i4", "i8", "u8", "f2", "f4", "f8", "c8"])
@pytest.mark.parametrize("values", LISTS, ids=str)
def test_numbers_of_a_list_go_to_rows(dtype, values):
    """As in NumPy, with its warnings and refusals, which leave the array as it was."""

    def program(xp, part):
        x = xp.ones((4, 5, 3), dtype)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                x[part] = values
            except Exception as error:
                return next(k for k in type(error).__mro__ if k.__module__ == "builtins"), None, None
            return None, np.asarray(x), sorted({(w.category, str(w.message)) for w in told})

    for part in PARTS:
        (want, x, told), (found, y, heard) = program(np, part), program(gc, part)
        assert found is want and (heard == told or x[part].size == 0)  # nothing is converted then
        if not told:  # what is no integer may be any
            np.testing.assert_array_equal(y, x)


@pytest.mark.parametrize("values", (range(2**63), range(10**30), range(4), range(0)), ids=str)
def test_ranges_that_do_not_fit(values):
    for xp in (gc, np):
        x = xp.ones(3)
        with pytest.raises(ValueError):
            x[:] = values
        assert x.tolist() == [1, 1, 1]
