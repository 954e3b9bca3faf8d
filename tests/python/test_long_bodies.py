"""Kernels that compute so much at a point that their body is written once: every length, type and layout against NumPy, and
reductions against the same reduction of what was computed before. Programs of so many reductions that those compute nothing else."""

import random

import graphc as gc
import numpy as np
import pytest
from support import trees

pytestmark = pytest.mark.graphc_only

SIZES = [0, 1, 7, 8, 9, 15, 31, 32, 33, 255, 256, 257, 1000, 8191, 8192, 8193, 20000]


def body(xp, x, y, turns=30):
    """Many operations that are exact in any order of evaluation of others, with a short chain."""
    parts = [xp.maximum(x * (0.125 * i), y - i) + xp.minimum(x + i, y * 0.5) for i in range(turns)]
    while len(parts) > 1:
        parts = [xp.abs(a - b) for a, b in zip(parts[::2], parts[1::2])] + parts[len(parts) // 2 * 2 :]
    return parts[0]


def operands(size, dtype, device, seed=0):
    values = [np.random.default_rng(seed + i).integers(-50, 50, size).astype(dtype) for i in range(2)]
    return values, [gc.asarray(v, device=device) for v in values]


def is_once(function, *arguments):
    return "graphc.once" in gc.jit(function).lower(*arguments).as_text("schedule")


def needs_masks_of_registers(x):
    if "zmm" not in gc.jit(lambda x: x * 2).lower(x).as_text("asm"):
        pytest.skip("a CPU that masks 64 bytes at once is needed")


def test_such_kernels_are_written_once():
    _, (x, y) = operands(1000, "float64", "cpu")
    needs_masks_of_registers(x)
    assert is_once(lambda x, y: body(gc, x, y), x, y)
    assert is_once(lambda x, y: body(gc, x, y).sum(), x, y)
    assert not is_once(lambda x, y: x * y + 1, x, y)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int32"])
def test_maps_of_every_length(dtype):
    for size in SIZES:
        (x, y), (p, q) = operands(size, dtype, "cpu")
        if dtype == "int32":
            wanted, got = (body(xp, a // 1, b // 1).astype("float64") for xp, a, b in ((np, x, y), (gc, p, q)))
        else:
            wanted, got = body(np, x, y), body(gc, p, q)
        np.testing.assert_array_equal(np.asarray(got), wanted, err_msg=str(size))


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("reduce", ["sum", "max", "min", "prod", "argmax", "argmin", "any"])
def test_reductions_are_those_of_what_was_computed_before(dtype, reduce):
    for size in SIZES:
        if size == 0 and reduce in ("max", "min", "argmax", "argmin"):
            continue
        (x, y), (p, q) = operands(size, dtype, "cpu", seed=3)
        kept, both = body(gc, p, q) * 0.01, None
        both = getattr(kept, reduce)(), kept[::2].sum(), kept
        gc.eval(*both)
        alone = gc.asarray(np.asarray(body(np, x, y) * np.asarray(0.01, dtype)))
        assert np.asarray(both[0]).tobytes() == np.asarray(getattr(alone, reduce)()).tobytes(), size
        np.testing.assert_array_equal(np.asarray(both[2]), np.asarray(alone))


def test_layouts_and_broadcasts():
    (x, y), (p, q) = operands((60, 70), "float64", "cpu")
    cases = [
        lambda xp, a, b: body(xp, a[:, ::2], b[:, 1::2]),
        lambda xp, a, b: body(xp, a.T, b.T),
        lambda xp, a, b: body(xp, a.T, b[:, :60]) if a.shape[0] == a.shape[1] else body(xp, a[:60, :60].T, b[:60, :60]),
        lambda xp, a, b: body(xp, a, b[0]),
        lambda xp, a, b: body(xp, a, b[:, :1]),
        lambda xp, a, b: body(xp, a[1:-1, 1:-1], b[2:, 2:]),
        lambda xp, a, b: body(xp, a[::-1], b[:, ::-1]),
        lambda xp, a, b: body(xp, a, b) * (body(xp, a, b) > 3),
    ]
    for number, case in enumerate(cases):
        np.testing.assert_array_equal(np.asarray(case(gc, p, q)), case(np, x, y), err_msg=str(number))


def test_results_too_large_for_caches():
    (x, y), (p, q) = operands(4_300_001, "float64", "cpu")
    got = body(gc, p, q)
    np.testing.assert_array_equal(np.asarray(got), body(np, x, y))


def test_updates_in_place_read_before_they_write():
    (x, y), (p, q) = operands(1003, "float64", "cpu")
    x, p = x.copy(), p.copy()
    for xp, a, b in ((np, x, y), (gc, p, q)):
        a[1:] = body(xp, a[:-1], b[1:])
        a[:] = body(xp, a, b)
    np.testing.assert_array_equal(np.asarray(p), x)


def test_what_is_masked_off_raises_no_warning():
    # Lanes beyond the end would divide by zero.
    _, (p, q) = operands(1003, "float64", "cpu")
    p, q = gc.abs(p) + 1, gc.abs(q) + 1
    with np.errstate(all="raise"):
        np.asarray(body(gc, p, q) / p + gc.log(q) / q)


SHAPES = [(1, 1), (3, 7), (5, 16), (7, 33), (33, 63), (40, 64), (31, 65), (9, 257), (1025, 5), (1030, 70), (3, 8192), (2, 8193), (3, 20000), (2100, 33)]


def sums_of(xp, v, axis):
    """Reductions of what is computed long, of one kernel: the second needs the first."""
    mean = v.mean(axis=axis, keepdims=True)
    far = v - mean
    return v.sum(axis=axis), (far * far).sum(axis=axis), v.max(axis=axis), v.argmin(axis=axis), far * 0.5


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("turns", [30, 60])
def test_rows_and_columns_have_the_canonical_trees(dtype, axis, turns):
    for shape in SHAPES:
        (x, y), (p, q) = operands(shape, dtype, "cpu", seed=5)
        factor = np.asarray(0.01, dtype)
        got = sums_of(gc, body(gc, p, q, turns) * 0.01, axis)
        gc.eval(*got)
        v = body(np, x, y, turns) * factor
        far = v - trees.mean(v, (axis,)).reshape([1 if i == axis else n for i, n in enumerate(shape)])
        wanted = trees.sum(v, (axis,)), trees.sum(far * far, (axis,)), v.max(axis=axis), v.argmin(axis=axis), far * np.asarray(0.5, dtype)
        for number, (a, b) in enumerate(zip(got, wanted)):
            a = np.asarray(a)
            assert a.dtype == b.dtype and a.tobytes() == np.ascontiguousarray(b).tobytes(), (shape, number)


def test_rows_and_columns_of_large_programs_are_written_once():
    _, (x, y) = operands((50, 60), "float64", "cpu")
    needs_masks_of_registers(x)
    for axis in (0, 1):
        assert is_once(lambda x, y: body(gc, x, y, 60).sum(axis=axis), x, y)
        assert not is_once(lambda x, y: body(gc, x, y, 20).sum(axis=axis), x, y)


def chain(xp, x, means, turns, axis):
    """Means of what the mean before is part of, with expensive operations in between."""
    for i in range(means):
        for j in range(turns):
            x = xp.sqrt(xp.abs(x * (1 + 0.125 * i) - j) + 0.5)
        x = x - (x.max(axis=axis, keepdims=True) - i)
    return x


@pytest.mark.parametrize("axis", [0, 1])
@pytest.mark.parametrize("means", [1, 3, 9])
def test_chains_of_reductions_of_rows_are_cut(axis, means):
    """Each value is computed once or a few times, not once for every reduction after it."""
    x = np.random.default_rng(2).random((37, 190))
    p = gc.asarray(x)
    np.testing.assert_array_equal(np.asarray(chain(gc, p, means, 2, axis)), chain(np, x, means, 2, axis))
    function = gc.jit(lambda v: chain(gc, v, means, 2, axis))
    assert ("computed again" in function.explain(p)) == (axis == 1 and means > 1)
    text = function.lower(p).as_text("lower")
    roots = text.count("math.sqrt") + text.count("call @elementary")
    # For the reductions and for the result, whole vectors and last ones, and where rows are short.
    assert roots <= 2 * means * 4 * 2, roots


STEPS = {
    "mean": lambda xp, a, b, axis: a - b.mean(axis=axis, keepdims=True),
    "max": lambda xp, a, b, axis: a * 0.5 - b.max(axis=axis, keepdims=True),
    "norm": lambda xp, a, b, axis: a / (1 + xp.sqrt((b * b).sum(axis=axis, keepdims=True))),
    "softmax": lambda xp, a, b, axis: a * 0.5 + softmax(xp, b, axis),
    "place": lambda xp, a, b, axis: xp.sin(a) + 0.125 * xp.expand_dims(xp.argmax(b * a, axis=axis), axis),
    "total": lambda xp, a, b, axis: a / (1 + xp.abs((a + b).sum())),
    "any": lambda xp, a, b, axis: xp.where((b > a).any(axis=axis, keepdims=True), a, b),
    "running": lambda xp, a, b, axis: a * 0.5 + xp.cumsum(b - a, axis=axis) * 0.0625,
    "turned": lambda xp, a, b, axis: (a.T - b.T.mean(axis=axis, keepdims=True)).T,
    "half": lambda xp, a, b, axis: (a + b) * 0.5,
}


def softmax(xp, x, axis):
    e = xp.exp(x - x.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


CONTINUOUS = [name for name in STEPS if name not in ("place", "any")]


def mixture(xp, a, b, steps, seed, kinds=tuple(STEPS), each=lambda value: value):
    chosen = random.Random(seed)
    for _ in range(steps):
        a, b = b, each(STEPS[chosen.choice(kinds)](xp, a, b, chosen.randrange(2)))
    return a, b


def computed(value):
    gc.eval(value)
    return value


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize(("seed", "shape"), [(0, (13, 70)), (1, (13, 70)), (2, (70, 13)), (3, (300, 3))])
def test_mixtures_of_reductions_have_the_bits_of_single_statements(dtype, seed, shape):
    x, y = (np.random.default_rng(seed + i).random(shape).astype(dtype) for i in range(2))
    p, q = gc.asarray(x), gc.asarray(y)
    for kinds in (tuple(STEPS), CONTINUOUS):
        got = gc.jit(lambda a, b, kinds=kinds: mixture(gc, a, b, 80, seed, kinds))(p, q)
        alone = mixture(gc, p, q, 80, seed, kinds, computed)
        for result, same in zip(got, alone, strict=True):
            assert np.asarray(result).tobytes() == np.asarray(same).tobytes(), kinds
    got = gc.jit(lambda a, b: mixture(gc, a, b, 30, seed, CONTINUOUS))(p, q)  # differences of last digits grow
    for result, wanted in zip(got, mixture(np, x, y, 30, seed, CONTINUOUS), strict=True):
        np.testing.assert_allclose(np.asarray(result), wanted, rtol=1e-3 if dtype == "float32" else 1e-10, atol=1e-4 if dtype == "float32" else 1e-12)


def test_many_different_reductions_are_kernels_of_a_few_kinds():
    p, q = (gc.asarray(np.random.default_rng(i).random((13, 70))) for i in range(2))

    def reductions(steps):
        function = gc.jit(lambda a, b: mixture(gc, a, b, steps, 7))
        kernels = function.lower(p, q).as_text("kernel").split("kernel.func @")[1:]
        fused = [k for k in kernels if ("kernel.reduce" in k or "kernel.scan" in k) and "graph." in k.split("kernel.return")[0]]
        return fused, "share their code" in function.explain(p, q)

    few, told = reductions(4)
    assert few and not told
    many, told = reductions(60)
    assert told and len(many) <= 2, many
