"""x[mask] = what is computed from rows of the same mask: a choice in place, with NumPy's values, and silent about the rows
that were not chosen."""

import warnings

import numpy as np
import pytest

import graphc as gc


def add_number(xp, a, b, m):
    a[m] += 1
    return a


def copy(xp, a, b, m):
    a[m] = b[m]
    return a


def arithmetic(xp, a, b, m):
    a[m] = b[m] * a[m] - 3 * b[m]
    return a


def written_twice(xp, a, b, m):
    a[m] *= 2
    a[m] += a[m]
    return a


def mask_twice(xp, a, b, m):
    a[a > 0] = b[a > 0] + a[a > 0]
    return a


PROGRAMS = (add_number, copy, arithmetic, written_twice, mask_twice)


def ways(program, *arrays):
    """The results of a program with arrays as NumPy's, pending, computed and traced."""
    def fresh():
        return [gc.asarray(x.copy()) for x in arrays]

    want = program(np, *[x.copy() for x in arrays])
    computed = [x.copy() for x in fresh()]
    gc.eval(*computed)
    pending = [x + x.dtype.type(0) if x.dtype != bool else x | False for x in fresh()]
    return want, (program(gc, *fresh()), program(gc, *computed), program(gc, *pending),
                  gc.jit(lambda *xs: program(gc, *xs))(*fresh()))


@pytest.mark.parametrize("share", (0.5, 0.02, 0.0, 1.0))
@pytest.mark.parametrize("dtype", ("float32", "float64", "int8", "uint16", "int64", "complex64", "float16"))
@pytest.mark.parametrize("program", PROGRAMS, ids=lambda p: p.__name__)
def test_values(program, dtype, share):
    if program is mask_twice and dtype == "complex64":
        pytest.skip("complex numbers are not ordered here")
    rng = np.random.default_rng(3)
    for n in (1, 77, 3001):
        a, b = ((rng.standard_normal(n) * 4).astype(dtype) for _ in range(2))
        want, found = ways(program, a, b, rng.random(n) < share)
        for x in found:
            assert x.dtype == want.dtype
            np.testing.assert_array_equal(np.asarray(x), want)


@pytest.mark.parametrize("mask", ((50,), (50, 7)))
def test_rows_and_masks_of_several_axes(mask):
    rng = np.random.default_rng(4)
    a, b, m = rng.integers(-9, 9, (50, 7)), rng.integers(-9, 9, (50, 7)), rng.random(mask) < 0.5

    def rows(xp, a, b, m):
        a[m] = a[m] * xp.asarray([1, 2, 3, 4, 5, 6, 7]) + b[m][:, ::-1]
        return a

    for program in (add_number, copy, arithmetic) + ((rows,) if len(mask) == 1 else ()):
        want, found = ways(program, a, b, m)
        for x in found:
            np.testing.assert_array_equal(np.asarray(x), want)


def test_what_was_not_chosen_meets_no_errors():
    def reciprocal(xp, a, b, m):
        a[a != 0] = 1 / a[a != 0]
        return a

    def behind_a_difference(xp, a, b, m):
        m = a > 1.5
        a[m] = b[m] / (a[m] - 1)
        return a

    def root(xp, a, b, m):
        m = a >= 0
        a[m] = xp.sqrt(a[m]) * 1e30 * 1e5
        return a

    def poles(xp, a, b, m):
        m = abs(a) < 1
        a[m] = xp.atanh(a[m] * 0.5)
        return a

    a = np.asarray([0.0, 1.0, 2.0, -3.0, 0.5] * 40)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for program in (reciprocal, behind_a_difference, root, poles):
            want, found = ways(program, a, a + 2, a > 0)
            for x in found:
                np.testing.assert_allclose(np.asarray(x), want, rtol=1e-14)


def test_chosen_rows_tell_their_errors():
    x = gc.asarray([0.0, 1.0, 2.0])
    m = gc.asarray([True, True, False])
    with pytest.warns(RuntimeWarning, match="divide by zero"):
        x[m] = 1 / x[m]
        assert np.asarray(x).tolist() == [np.inf, 1.0, 2.0]


def test_values_that_are_used_again_and_masks_that_change():
    rng = np.random.default_rng(5)
    a, m = rng.integers(0, 9, 40), np.arange(40) % 3 == 0
    x, mask = gc.asarray(a.copy()), gc.asarray(m.copy())
    chosen = x[mask] * 2
    x[mask] = chosen
    mask[:] = True  # neither value may see this
    want = a.copy()
    want[m] *= 2
    np.testing.assert_array_equal(np.asarray(x), want)
    np.testing.assert_array_equal(np.asarray(chosen), a[m] * 2)
    y, other = gc.asarray(a.copy()), gc.asarray(~m)
    with pytest.raises(ValueError):
        y[other] = y[gc.asarray(m)] + 1


@pytest.mark.parametrize("program", (add_number, copy, arithmetic), ids=lambda p: p.__name__)
def test_one_kernel(program):
    x = gc.asarray(np.arange(1000.0))
    text = gc.jit(lambda a, b, m: program(gc, a, b, m)).lower(x, x + 1, x > 5).as_text("plan")
    launches = [line for line in text.splitlines() if "plan.launch" in line or "plan.library" in line]
    assert len(launches) == 1


@pytest.mark.parametrize("dtype", ["bool", "int8", "float16", "int32", "float32", "float64", "complex64"])
def test_one_value_in_pieces_of_long_arrays(dtype):
    """Blocks of 64 elements, of which the last is shorter, on several threads; what is beside them stays."""
    rng = np.random.default_rng(5)
    for size in (1, 63, 64, 65, 1000, 131_072, 300_001):
        for share in (0.0, 0.001, 0.4, 1.0):
            a = rng.integers(0, 2, size + 7).astype(dtype)
            mask = rng.random(size) < share
            g, m = gc.asarray(a), gc.asarray(mask)
            gc.eval(g, m)
            a[3:-4][mask] = 1
            g[3:-4][m] = 1
            np.testing.assert_array_equal(np.asarray(g), a, f"{size} {share}")


@pytest.mark.parametrize("dtype", ["int8", "bool", "float16", "float32", "float64", "complex128"])
@pytest.mark.parametrize("share", [0.001, 0.5, 1])
def test_values_one_after_the_other(dtype, share):
    """They go where they belong without the places being found first, but where others have to see what was there."""
    rng = np.random.default_rng(4)
    for n in (40, 30_000, 200_001):
        a, m = (rng.random(n) * 90).astype(dtype), rng.random(n) < share
        w = (rng.random(np.count_nonzero(m)) * 90).astype(dtype)

        def write(xp, value=w, a=a, m=m):
            x, k, values = xp.asarray(a.copy()), xp.asarray(m), xp.asarray(value)
            before, part = x[:3] + x[1:4], x[3:]
            x[k] = values
            part[k[3:]] = part[::-1][k[3:]]
            table = xp.asarray(a[: n // 2 * 2].copy()).reshape(2, -1)
            held = table[0] + table[1]
            table[k[: n // 2 * 2].reshape(2, -1)] = values[: np.count_nonzero(m[: n // 2 * 2])]
            values[...] = values[::-1].copy()
            return x, before, part, table, held, values

        for got, want in zip(write(gc), write(np)):
            np.testing.assert_array_equal(np.asarray(got), want)
        x = gc.asarray(a.copy())
        for wrong in (w[:-1], np.append(w, w[:1])):
            if wrong.size > 1:
                with pytest.raises(ValueError):
                    x[gc.asarray(m)] = gc.asarray(wrong)
        np.testing.assert_array_equal(np.asarray(x), a)


@pytest.mark.graphc_only
def test_values_one_after_the_other_are_written_without_a_program():
    a, m = np.zeros(100_000), np.arange(100_000) % 3 == 0
    x, k, values = gc.asarray(a), gc.asarray(m), gc.asarray(np.arange(float(np.count_nonzero(m))))
    x += 0
    gc.eval(x)
    run = gc._graphc.counters()["programs_run"]
    x[k] = values
    gc.eval(x)
    assert gc._graphc.counters()["programs_run"] == run
    assert float(x[99_999]) == values.size - 1
