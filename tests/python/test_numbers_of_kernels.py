"""Kernels of one program that differ in numbers alone are one kernel, which gets them as arguments: the same bits as with each
compiled in, in fewer kernels."""

import graphc as gc
import numpy as np
import pytest

pytestmark = pytest.mark.graphc_only

NUMBERS = [0.0, -0.0, 0.1, -1.5, 1e-310, 1e300, np.inf, -np.inf, np.nan, 7.0]


def kernels(function, *arguments):
    return gc.jit(function).lower(*arguments).as_text("kernel").count("kernel.func @")


def same_bits(got, wanted):
    got, wanted = np.asarray(got), np.asarray(wanted)
    assert got.dtype == wanted.dtype and got.shape == wanted.shape
    np.testing.assert_array_equal(got, wanted)
    if got.dtype.kind == "f":
        np.testing.assert_array_equal(np.signbit(got), np.signbit(wanted))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("size", [1, 7, 100, 5001])
def test_steps_of_other_numbers(device, dtype, size):
    rng = np.random.default_rng(size)
    x, places = rng.normal(size=size).astype(dtype), rng.permutation(size)

    def steps(x, places):
        found = []
        for number in NUMBERS:
            x = x[places]
            found.append(x * dtype_of(x).type(number) + dtype_of(x).type(0.5))
        return found

    def dtype_of(x):
        return np.dtype(dtype)

    with np.errstate(all="ignore"), gc.errstate(all="ignore"):
        wanted = steps(x, places)
        got = gc.jit(steps)(gc.asarray(x, device=device), gc.asarray(places, device=device))
        for a, b in zip(got, wanted):
            same_bits(a, b)


@pytest.mark.parametrize("dtype", ["int8", "int16", "int32", "int64"])
def test_integers(device, dtype):
    x, places = np.arange(-50, 50).astype(dtype), np.arange(100)[::-1].copy()

    def steps(x, places):
        for number in (1, -2, 3, 100, -128, 5):
            x = x[places] * 3 + number
        return x

    with np.errstate(all="ignore"):
        wanted = steps(x, places)
    same_bits(gc.jit(steps)(gc.asarray(x, device=device), gc.asarray(places, device=device)), wanted)


def test_they_are_one_kernel():
    x, places = gc.asarray(np.arange(100.0)), gc.asarray(np.arange(100)[::-1].copy())

    def chain(numbers, each):
        def steps(x, places):
            for number in numbers:
                x = each(x[places], number)
            return x

        return kernels(steps, x, places)

    assert chain(range(2, 52), lambda x, n: x * (0.01 * n) + n) == 1
    assert chain(range(2, 5), lambda x, n: x + n) == 3, "few are compiled with what they know"
    assert chain([2, 2, 2], lambda x, n: x + n) == 1
    # Exponents choose other code, and divisions of integers by what is known are products.
    assert chain([2.5, 3.5, 4.5, 5.5], lambda x, n: x**n) == 4
    whole = gc.asarray(np.arange(100))

    def divide(x, places):
        for n in (3, 5, 6, 7):
            x = (x[places] + n) // 3
        return x

    assert kernels(divide, whole, places) == 4


def test_a_division_by_zero_is_heard_at_its_line(device):
    x, places = np.ones(100), np.arange(100)

    def steps(x, places):
        for number in (1.0, 2.0, 0.0, 4.0, 5.0):
            x = x[places] / number
        return x

    with pytest.warns(RuntimeWarning, match="divide by zero"):
        got = np.asarray(gc.jit(steps)(gc.asarray(x, device=device), gc.asarray(places, device=device)))
    assert np.isinf(got).all()
    with gc.errstate(all="raise"), pytest.raises(FloatingPointError, match="divide by zero"):
        np.asarray(gc.jit(steps)(gc.asarray(x, device=device), gc.asarray(places, device=device)))


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("parts", [3, 70, 200])
def test_parts_of_a_concatenation(device, axis, parts):
    x = np.arange(35.0).reshape(5, 7)

    def join(xp, x):
        return xp.concatenate([x * i for i in range(parts)], axis=axis)

    same_bits(gc.jit(lambda x: join(gc, x))(gc.asarray(x, device=device)), join(np, x))
    row = x[0]
    stacked = gc.jit(lambda x: gc.stack([x + i for i in range(parts)], axis=axis))(gc.asarray(row, device=device))
    same_bits(stacked, np.stack([row + i for i in range(parts)], axis=axis))


def test_rows_that_are_written(device):
    x = np.arange(300.0).reshape(100, 3)

    def write(x):
        x = x.copy()
        for i in range(0, 99, 2):
            x[i] = x[(7 * i + 3) % 100] * 2 + i
            x[i, 1:] = x[i + 1, :2] - i
        return x

    same_bits(gc.jit(write)(gc.asarray(x, device=device)), write(x))


def test_stencils_of_other_numbers_take_two_grids():
    x = np.random.default_rng(0).random((30, 40))

    def steps(x):
        x = x.copy()
        for i in range(20):
            x[1:-1, 1:-1] = x[2:, 1:-1] * 0.5 + x[:-2, 1:-1] * (0.4 - 0.001 * i)
        return x

    given = gc.asarray(x)
    plan = gc.jit(steps).lower(given).as_text("plan")
    assert plan.count("kernel.func @") == 1 and plan.count("plan.alloc") <= 2 and plan.count("plan.copy") <= 2
    assert "skew" in plan
    same_bits(gc.jit(steps)(given), steps(x))
