"""Values that one kernel writes at several places of one array."""

import sys

import graphc as gc
import numpy as np
import pytest
from support import exact


@pytest.mark.parametrize("parts", [2, 3, 4, 5, 7, 8, 16, 17])
@pytest.mark.parametrize("dtype", ["float64", "float32", "int16", "bool", "float16"])
def test_stack_along_the_last_axis(parts, dtype):
    rng = np.random.default_rng(parts)
    for n in (1, 2, 7, 100, 1000):
        x = rng.integers(0, 100, n).astype(dtype)
        want = np.stack([np.logical_xor(x, k % 2) if dtype == "bool" else x * np.array(k, dtype) for k in range(parts)], -1)
        g = gc.asarray(x)
        made = [gc.logical_xor(g, bool(k % 2)) if dtype == "bool" else g * gc.asarray(k, dtype=dtype) for k in range(parts)]
        exact.assert_same(gc.stack(made, axis=-1), want)


@pytest.mark.parametrize("axis", [0, 1, 2, 3])
@pytest.mark.parametrize("shape", [(5, 40, 3), (1, 37, 1), (4, 4, 4), (2, 1, 9)], ids=str)
def test_stack_along_each_axis(axis, shape):
    rng = np.random.default_rng(1)
    a, b = rng.standard_normal(shape), rng.standard_normal(shape)

    def parts(a, b, np):
        return np.stack([a + b, a - b, a * b, a - 2 * b], axis=axis)

    want = parts(a, b, np)
    exact.assert_same(parts(gc.asarray(a), gc.asarray(b), gc), want)
    exact.assert_same(gc.jit(lambda a, b: parts(a, b, gc))(gc.asarray(a), gc.asarray(b)), want)


@pytest.mark.graphc_only
def test_a_stack_of_computed_parts_is_one_kernel():
    x = gc.ones((5, 40))
    f = gc.jit(lambda x: gc.stack([x + 1, x - 1, x * x], axis=1))
    assert f.lower(x).cost().kernels == 1


def updates(np, a):
    x = np.zeros((4, 6)) + a
    y = x * 2
    x[:, 0] = y[:, 1] + x[:, 2]
    x[:, 1] = y[:, 2] - x[:, 0]
    x[:, 0] = y[:, 3] * 3
    z = x + 0
    x[::2, 4] = y[::2, 0] + 5
    x[1::2, 4] = y[1::2, 0] + 7
    return x, z


def test_updates_of_overlapping_and_disjoint_parts():
    a = np.arange(24.0).reshape(4, 6)
    for got, want in zip(updates(gc, gc.asarray(a)), updates(np, a)):
        exact.assert_same(got, want)
    for got, want in zip(gc.jit(lambda a: updates(gc, a))(gc.asarray(a)), updates(np, a)):
        exact.assert_same(got, want)


def test_two_columns_from_the_other_two():
    def turn(np, x):
        a, b = x[:, 0] + 1, x[:, 1] * 2
        x[:, 0] = b
        x[:, 1] = a
        return x

    a = np.arange(200.0).reshape(100, 2)
    exact.assert_same(turn(gc, gc.asarray(a)), turn(np, a.copy()))


@pytest.mark.parametrize("turns", ["C", "F", "moved", "stepped"])
def test_memory_order_of_deleted_and_inserted(turns):
    def made(xp):
        x = xp.asarray(np.arange(60, dtype="u2").reshape(3, 4, 5)) + xp.uint16(0)
        x = {"C": x, "F": x.copy("F"), "moved": xp.moveaxis(x, 0, -1), "stepped": x[:, ::2].transpose(1, 0, 2)}[turns]
        n = x.shape[0]
        found = [xp.delete(x, n - 1, axis=0), xp.delete(x, 0, 1), xp.delete(x, slice(0, 1), 2), xp.insert(x, 1, 7, axis=0), xp.insert(x, 0, 7, axis=2)]
        return [(y.strides, y.tolist()) for y in found]

    assert made(gc) == made(np)


@pytest.mark.parametrize("named", ["integers", "list", "mask", "slice", "short"])
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_many_places_are_deleted_and_inserted_without_a_loop_in_python(named, axis):
    rng = np.random.default_rng(4)
    a = rng.random((900, 80) if axis != 1 else (80, 900))
    size = a.size if axis is None else a.shape[axis]
    places = rng.integers(0, size, 600) - size // 3
    places = {"integers": places, "list": places.tolist(), "mask": rng.random(size) < 0.3, "slice": slice(None, 1, -2), "short": places.astype("i4")}[named]
    x, calls = gc.asarray(a), []
    sys.setprofile(lambda *call: calls.append(call[1]))
    try:
        found = gc.delete(x, places, axis), gc.insert(x, places, 7, axis)
    finally:
        sys.setprofile(None)
    assert len(calls) < 400
    traced = gc.jit(lambda x: (gc.delete(x, places, axis), gc.insert(x, places, 7, axis)), fullgraph=True)(x)
    for got in (found, traced):
        exact.assert_same(got[0], np.delete(a, places, axis))
        exact.assert_same(got[1], np.insert(a, places, 7, axis))


@pytest.mark.parametrize("axes", [(0, 1, 2), (2, 1, 0), (1, 0, 2), (0, 2, 1), (2, 0, 1)])
@pytest.mark.parametrize("shape", [(2, 3, 4), (2, 1, 3), (1, 3, 1)])
def test_memory_order_of_what_is_joined(axes, shape):
    base = np.arange(np.prod(shape) * 1.0).reshape(shape)
    for name in ("stack", "concatenate"):
        for axis in range(-3, 3):
            want, got = (getattr(xp, name)([xp.asarray(base).transpose(axes)] * 2, axis) for xp in (np, gc))
            assert got.tolist() == want.tolist()
            assert [s for s, n in zip(got.strides, got.shape) if n > 1] == [s for s, n in zip(want.strides, want.shape) if n > 1]


@pytest.mark.parametrize("dtype", ["i1", "f8", "c16", "?"])
def test_one_place_of_a_vector(dtype):
    for n in (1, 2, 5):
        x = np.arange(n).astype(dtype)
        for axis in (None, 0, -1):
            for place in range(-n, n + 1):
                for value in (1, True, [1], [1, 0], np.array(0), np.zeros((1, 1))):
                    want, got = np.insert(x, place, value, axis), gc.insert(gc.asarray(x), place, value, axis)
                    assert got.dtype == want.dtype and got.tolist() == want.tolist()
            for place in range(-n, n):
                want, got = np.delete(x, place, axis), gc.delete(gc.asarray(x), place, axis)
                assert got.dtype == want.dtype and got.tolist() == want.tolist()


@pytest.mark.graphc_only
@pytest.mark.parametrize("shape", [(5, 3), (301, 40), (40, 301), (9, 5000)])
def test_parts_computed_with_reductions_take_one_kernel(shape):
    """What is stacked of reductions and scans, and of what follows them, is written where it is computed."""
    x = np.random.default_rng(0).integers(-9, 10, shape).astype(float)

    def centred(m, x):
        y = x - m.max(x, axis=1, keepdims=True)
        return m.stack([y, y * 2, y + 1], axis=-1)

    def ends(m, x):
        return m.stack([m.max(x, axis=1), m.min(x, axis=1), m.sum(x, axis=1)], axis=-1)

    def running(m, x):
        y = m.cumsum(x, axis=0)
        return m.stack([y, -y, y * x], axis=-1), m.concatenate([y, x * y], axis=1)

    def along(m, x):
        y = m.cumsum(x * 2, axis=1)
        return m.stack([y, x, y - x, x + 1], axis=-1)

    for function, kernels in ((centred, 1), (ends, 1), (running, 2), (along, 1)):
        jitted = gc.jit(lambda x, function=function: function(gc, x))
        given, expected = jitted(gc.asarray(x)), function(np, x)
        for got, want in zip(given, expected) if isinstance(expected, tuple) else [(given, expected)]:
            np.testing.assert_array_equal(np.asarray(got), want)
        assert jitted.lower(gc.asarray(x)).as_text("kernel").count("kernel.func @") == kernels, function


@pytest.mark.graphc_only
@pytest.mark.parametrize("shape", [(3001, 37), (401, 513), (7, 40001)])
@pytest.mark.parametrize("axis", (0, -1))
def test_parts_that_wait_for_sums_wait_apart(shape, axis):
    """Each part's exponentials wait in memory for the row's sum."""
    x = gc.asarray(np.random.default_rng(0).standard_normal(shape))

    def parts(x):
        a, b = gc.exp(x), gc.exp(x * 0.5)
        return a / a.sum(axis=1, keepdims=True), b / b.sum(axis=1, keepdims=True)

    stacked = np.asarray(gc.jit(lambda x: gc.stack(list(parts(x)), axis=axis))(x))
    for number, part in enumerate(parts(x)):
        np.testing.assert_array_equal(np.take(stacked, number, axis), np.asarray(part))
