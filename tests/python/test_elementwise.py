"""Every elementwise op of the op list, on every dtype it takes, over all combinations of edge values.

Generated from the op table: a new record is tested by being listed. Ops of one dtype are recorded together and
evaluated at once, so a dtype costs a few kernels and not fifty.
"""

import graphc as gc
import numpy as np
import pytest
from support import edge, exact, optable, reference
from support.ops import accepted, apply, defined, takes


def compare(op, dtype, got, arrays):
    value, wide = reference.expected(op, arrays)
    if wide is None:
        exact.assert_same(got, value, f"{op.name} {dtype}")
        return
    got = np.asarray(got)
    result_dtype = dtype if dtype in edge.CLASSES["Floating"] else optable.float_of(op, dtype)
    assert got.dtype == result_dtype and got.shape == arrays[0].shape
    off = exact.ulp_distance(got, wide, reference.size(op, arrays, wide))
    worst = int(np.argmax(off))
    assert off[worst] <= reference.bound(op, result_dtype), (
        f"{op.name} {dtype}: {off[worst]:.2f} ulp at {tuple(a[worst] for a in arrays)}: "
        f"{got[worst]!r}, exact {wide[worst]!r}"
    )


@pytest.mark.parametrize("dtype", edge.DTYPES)
@pytest.mark.parametrize("arity", [1, 2, 3])
def test_edge_values(arity, dtype):
    # Reciprocals of integers are integers, unlike what the table promotes to floats (test_integers.py).
    ops = [op for op in accepted(arity, dtype) if op.name != "reciprocal" or dtype in edge.FLOATS]
    inputs = {False: edge.grid(arity, dtype)}
    inputs[True] = [inputs[False][0] != 0] + inputs[False][1:]
    recorded = {k: [gc.asarray(a) for a in v] for k, v in inputs.items()}
    results = [apply(op, recorded[op.name == "select"]) for op in ops]
    gc.eval(*results)
    for op, got in zip(ops, results):
        compare(op, dtype, got, defined(op, inputs[op.name == "select"]))


@pytest.mark.graphc_only
@pytest.mark.parametrize("dtype", edge.DTYPES)
def test_refused_dtypes_are_refused_when_recorded(dtype):
    for op in optable.elementwise():
        if op.result_rule == "Explicit" or takes(op, dtype) or (op.name, dtype) == ("round", "bool"):  # float16, as in NumPy
            continue
        arrays = [gc.asarray(edge.values(dtype)) for _ in range(op.arity)]
        with pytest.raises(TypeError, match=dtype):
            apply(op, arrays)


@pytest.mark.parametrize("dtype", edge.FLOATS)
def test_elementary_functions_on_random_values(dtype):
    """The published bound over ranges where each function is interesting, 20,000 values each."""
    rng = np.random.default_rng(20)
    ops = [op for op in optable.elementwise() if reference.bound(op, dtype) and op.arity == 1]
    assert len(ops) >= 7
    ranges = [rng.uniform(-1, 1, 4000), rng.uniform(-100, 100, 8000), rng.uniform(0, 1e4, 4000)]
    ranges += [2.0 ** rng.uniform(-120, 120, 4000) * rng.choice([-1, 1], 4000)]
    x = np.concatenate(ranges).astype(dtype)
    recorded = gc.asarray(x)
    results = [apply(op, [recorded]) for op in ops]
    gc.eval(*results)
    for op, got in zip(ops, results):
        compare(op, dtype, got, [x])


@pytest.mark.parametrize("n", [3, 40, 1003])
@pytest.mark.parametrize("dtype", edge.FLOATS)
def test_large_angles_beside_other_values(n, dtype):
    """What reduces them is a function apart, called while a loop's other values stay where they are."""
    rng = np.random.default_rng(22)
    x = (2.0 ** rng.uniform(-20, 90, n) * rng.choice([-1, 1], n)).astype(dtype)
    x[rng.random(n) < 0.1] = np.inf
    others = [rng.normal(size=n).astype(dtype) for _ in range(6)]
    named = {op.name: op for op in optable.elementwise() if op.name in ("sin", "cos", "tan")}

    @gc.jit
    def program(x, *others):
        return [getattr(gc, name)(x) for name in named] + [v * 3 for v in others] + [gc.sin(x) * 2 + others[0]]

    found = program(gc.asarray(x), *map(gc.asarray, others))
    for name, got in zip(named, found):
        compare(named[name], dtype, got, [x])
    for got, v in zip(found[len(named) :], others):
        exact.assert_same(np.asarray(got), v * np.asarray(3, dtype))
    exact.assert_same(np.asarray(found[-1]), np.asarray(found[list(named).index("sin")]) * np.asarray(2, dtype) + others[0])


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_large_angles_of_products_beside_nan(dtype):
    """Registers are looked at together: a NaN in one of them hides no large angle of another."""
    x = np.linspace(-2, 2, 256).astype(dtype)
    y = np.ones(256, dtype)
    for lane in range(8):
        x[[lane, lane + 32]] = np.nan
        y[[lane + 8, lane + 16, lane + 64]] = 1e30
    for function, wanted in ((gc.sin, np.sin), (gc.cos, np.cos)):
        got = np.asarray(gc.jit(lambda a, b, f=function: f(a * b))(gc.asarray(x), gc.asarray(y)))
        with np.errstate(invalid="ignore"):
            exact_bits = np.array([np.asarray(function(gc.asarray(v))) for v in x * y])
            np.testing.assert_allclose(got, wanted((x * y).astype("f8")), rtol=1e-6)
        assert np.isnan(got).sum() == np.isnan(x).sum()
        np.testing.assert_array_equal(got, exact_bits)


@pytest.mark.parametrize("dtype", edge.FLOATS)
def test_pow_on_random_values(dtype):
    (op,) = [op for op in optable.elementwise() if op.name == "pow"]
    rng = np.random.default_rng(21)
    base = np.concatenate([rng.uniform(0, 10, 4000), 2.0 ** rng.uniform(-60, 60, 4000), -rng.integers(1, 9, 2000)])
    power = np.concatenate([rng.uniform(-20, 20, 8000), rng.integers(-5, 6, 2000)])
    x, y = base.astype(dtype), power.astype(dtype)
    compare(op, dtype, gc.pow(gc.asarray(x), gc.asarray(y)), [x, y])


@pytest.mark.parametrize("dtype", edge.FLOATS)
def test_functions_of_two_on_random_values(dtype):
    ops = [op for op in optable.elementwise() if reference.bound(op, dtype) and op.arity == 2 and op.name != "pow"]
    assert len(ops) >= 3
    rng = np.random.default_rng(23)
    spread = 2.0 ** rng.uniform(-120, 120, (2, 4000)) * rng.choice([-1, 1], (2, 4000))
    x, y = np.concatenate([rng.uniform(-5, 5, (2, 4000)), rng.uniform(-200, 200, (2, 4000)), spread], axis=1).astype(dtype)
    recorded = [gc.asarray(x), gc.asarray(y)]
    results = [apply(op, recorded) for op in ops]
    gc.eval(*results)
    for op, got in zip(ops, results):
        compare(op, dtype, got, [x, y])


@pytest.mark.parametrize("source", edge.DTYPES)
def test_cast(source):
    x = edge.values(source)
    g = gc.asarray(x)
    results = [gc.astype(g, target) for target in edge.DTYPES]
    gc.eval(*results)
    for target, got in zip(edge.DTYPES, results):
        exact.assert_same(got, reference.cast(x, target), f"{source} -> {target}")


#: Layouts of the same 3 x 4 values: the op must see the same numbers through any of them.
LAYOUTS = {
    "contiguous": lambda xp, x: x,
    "transposed": lambda xp, x: xp.reshape(x, (4, 3)).T,
    "negative steps": lambda xp, x: x[::-1, ::-1],
    "every other": lambda xp, x: xp.concatenate([x, x], axis=1)[:, ::2],
    "offset": lambda xp, x: xp.concatenate([x, x], axis=0)[2:5],
    "broadcast row": lambda xp, x: xp.broadcast_to(x[1], (3, 4)),
    "broadcast column": lambda xp, x: xp.broadcast_to(x[:, 2:3], (3, 4)),
    "reshaped slice": lambda xp, x: xp.reshape(xp.concatenate([x, x], axis=0)[::2], (3, 4)),
    "overlapping": lambda xp, x: xp.reshape(x, (12,))[1:11][::-1][:4] + xp.reshape(x, (12,))[3:7],
    "scalar": lambda xp, x: x[1, 2],
    "empty": lambda xp, x: x[:, 2:2],
    "new axes": lambda xp, x: x[None, :, None, 1],
}


@pytest.mark.parametrize("layout", sorted(LAYOUTS))
def test_layouts(layout):
    """Views of every kind as operands. Exact ops of three kinds, since the question is which elements are read."""
    make = LAYOUTS[layout]
    rng = np.random.default_rng(22)
    a, b = (rng.integers(1, 9, (3, 4)).astype(d) for d in ("float32", "int16"))
    view_a, view_b = make(np, a), make(np, b)
    g, h = make(gc, gc.asarray(a)), make(gc, gc.asarray(b))
    number = view_a.flat[0] if view_a.size else np.float32(3)
    results = [g - h, h // 3, gc.minimum(h, g), g < number, gc.where(g < h, g, number)]
    gc.eval(*results)
    wants = [view_a - view_b, view_b // 3, np.minimum(view_b, view_a), view_a < number, np.where(view_a < view_b, view_a, number)]
    for number, (got, want) in enumerate(zip(results, wants)):
        exact.assert_same(got, want, f"{layout} {number}")


@pytest.mark.parametrize(
    "shapes",
    [((), ()), ((3,), ()), ((2, 3), (3,)), ((2, 1), (1, 3)), ((4, 1, 3), (2, 1)), ((0, 3), (3,)), ((1, 0), (5, 1)), ((1,), (0,))],
    ids=str,
)
def test_broadcasting(shapes):
    a = np.arange(np.prod(shapes[0], dtype=int)).reshape(shapes[0]).astype("float64")
    b = np.arange(np.prod(shapes[1], dtype=int)).reshape(shapes[1]).astype("float64") + 10
    g, h = gc.asarray(a), gc.asarray(b)
    results = [g + h, h - g, g * h, g / h, g < h, gc.maximum(g, h), gc.where(g > 1, g, h)]
    gc.eval(*results)
    wants = [a + b, b - a, a * b, a / b, a < b, np.maximum(a, b), np.where(a > 1, a, b)]
    for got, want in zip(results, wants):
        exact.assert_same(got, want)


@pytest.mark.graphc_only
@pytest.mark.parametrize("dtype", ["float64", "float32", "float16"])
@pytest.mark.parametrize("name", ["arctan2", "hypot", "tanh", "sin"])
def test_large_programs_have_the_bits_of_small_ones(name, dtype):
    """Functions that a program uses often are called there, and written out where each result is computed alone."""
    f = getattr(gc, name)
    x, y = (gc.asarray(np.linspace(lo, lo + 1, 500).astype(dtype)) for lo in (0.25, 1.5))

    def turns(look):
        r = f(x, x) if f.nin == 2 else f(x)
        for _ in range(30):
            r = (f(r, y) if f.nin == 2 else f(r * y)) * 0.75
            if look:
                gc.eval(r)
        return np.asarray(r)

    np.testing.assert_array_equal(turns(False), turns(True))
