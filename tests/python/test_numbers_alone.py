"""Functions of numbers alone, and of numbers among arrays: what NumPy gives, and as what."""

import itertools
import warnings

import numpy as np
import pytest

import graphc as gc

FLOATS = [5.5, -5.5, 0.0, 2.0, -1e30, 1e-30, float("inf"), float("nan")]


def outcome(function, *args):
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        try:
            made = function(*args)
        except Exception as error:
            return next(c for c in type(error).__mro__ if c.__module__ in ("builtins", "numpy.exceptions"))
        values = np.asarray(made)
    return str(values.dtype), values.shape, repr(values.tolist()), isinstance(made, np.generic), [str(w.message) for w in said]


@pytest.mark.parametrize("name", ["fmod", "fmax", "fmin"])
def test_pairs(name):
    kinds = (float, np.float64, np.float32)
    for (a, b), first, second in itertools.product(itertools.product(FLOATS, repeat=2), kinds, kinds):
        ours = outcome(getattr(gc, name), first(a), second(b))
        assert ours == outcome(getattr(np, name), first(a), second(b)), (name, first(a), second(b))
    assert outcome(lambda x: getattr(gc, name)(x[0], x[1]), gc.asarray([5.5, 2.0])) == outcome(getattr(np, name), np.float64(5.5), np.float64(2.0))


@pytest.mark.parametrize("name", ["conj", "fabs", "rint"])
def test_single_numbers(name):
    for x in [*FLOATS, -0.0, 3, True, np.float32(-2.5), np.float64(-2.5), 2 - 3j]:
        assert outcome(getattr(gc, name), x) == outcome(getattr(np, name), x), x


def operands(module):
    m = module.asarray([0.0, 1.5, -2.0])
    return {
        "true": True, "one": 1, "minus": -1, "least": -128, "more": -129, "large": 200, "huge": 1 << 40, "float": 0.5, "complex": 1j,
        "single": m[1], "array": m, "uint8": m.astype("int8").astype("uint8"), "int8": m.astype("int8"), "float32": m.astype("float32"), "bool": m > 0,
        "uint64": module.asarray([1, 2, 3], dtype="uint64"),
    }  # fmt: skip


@pytest.mark.parametrize("condition", ["True", "False", "x[1] > 0", "x[0] > 0", "x[1]", "x > 0", "np.asarray(True)", "x.astype(bool)[:, None]", "1", "np.float64(0)"])
def test_where(condition):
    sides = operands(np), operands(gc)
    masks = [eval(condition, {"np": m, "x": s["array"]}) for m, s in zip((np, gc), sides)]  # noqa: S307
    for a, b in itertools.product(sides[0], repeat=2):
        want, got = (outcome(m.where, mask, s[a], s[b]) for m, mask, s in zip((np, gc), masks, sides))
        assert got == want, (condition, a, b)


def test_what_where_makes_of_single_values_is_an_array():
    x = gc.asarray([1.0])
    y = gc.where(x[0] > 0, 1, 2)
    z = y
    y += 5
    assert y.shape == () and z == 6 and gc.where(True, x[0], 0.0).shape == ()
    assert gc.jit(lambda x: gc.where(x.sum() > 0, x, -x))(gc.asarray([-2.0, 1.0])).tolist() == [2, -1]


def test_count_nonzero():
    for values in ([0.0, np.nan, -0.0, 1e-30], [0, 5, -1], [[True, False], [True, True]], 3, 0.0, [], [[1, 0], [0, 0]]):
        for dtype in (None, "float32", "complex64"):
            a = np.asarray(values).astype(dtype) if dtype else np.asarray(values)
            got, want = gc.count_nonzero(gc.asarray(a)), np.count_nonzero(a)
            assert got == want and np.asarray(got).dtype == np.asarray(want).dtype


def test_broadcast_arrays():
    def seen(module, *make):
        x = module.arange(3.0)
        given = [f(module, x) for f in make]
        made = module.broadcast_arrays(*given)
        return [(np.asarray(m).tolist(), str(m.dtype), m.shape, isinstance(m, np.generic), m is g) for m, g in zip(made, given, strict=True)]

    kinds = [lambda m, x: 2, lambda m, x: 2.5, lambda m, x: x[1], lambda m, x: x, lambda m, x: [1, 2, 3], lambda m, x: x[:, None], lambda m, x: True, lambda m, x: m.ones((2, 1, 3), "f4")]
    for make in itertools.chain(itertools.product(kinds, repeat=1), itertools.product(kinds, repeat=2)):
        assert seen(gc, *make) == seen(np, *make)
    assert gc.broadcast_arrays() == ()
    with pytest.raises(ValueError):
        gc.broadcast_arrays(gc.ones(2), gc.ones(3))


@pytest.mark.parametrize("dtype", ["float64", "float32", "float16", "int64", "int32", "int8", "uint8", "uint64"])
def test_clip(dtype):
    limits = [0, -1, 1, 2.5, -0.5, 100, 255, 1 << 20, 1 << 30, -(1 << 40), True, None, np.float32(1.5), float("nan"), float("inf")]
    a = np.asarray([-300.0, -2, 0, 1, 3, 120, 1 << 21])
    a = (a if dtype[0] == "f" else a.astype("i8") % 128 if dtype[0] == "u" or dtype == "int8" else a).astype(dtype)
    for low, high in itertools.product(limits, repeat=2):
        if dtype[0] in "iu" and {type(low), type(high)} in ({int, float}, {int, np.float32}):  # what is refused then depends on the order
            continue
        for x, y in ((a, gc.asarray(a)), (a[::2], gc.asarray(a)[::2])):
            assert outcome(gc.clip, y, low, high) == outcome(np.clip, x, low, high), (low, high)
            assert outcome(lambda z: z.clip(low, high), y) == outcome(lambda z: z.clip(low, high), x), (low, high)


def test_clip_of_one():
    limits = [0, -1, 1.5, np.float64(-0.5), 255, 1 << 60, float("nan"), float("inf"), None, True, np.float32(0.25)]
    makes = [lambda m: 2.5, lambda m: float("nan"), lambda m: np.float64(-3), lambda m: m.arange(3.0)[1], lambda m: m.asarray(-0.75), lambda m: m.ones(2, "f4")[0], lambda m: 7, lambda m: m.arange(4)[3]]
    for low, high in itertools.product(limits, repeat=2):
        for make in makes:
            x, y = make(np), make(gc)
            assert outcome(gc.clip, y, low, high) == outcome(np.clip, x, low, high), (x, low, high)
            assert outcome(gc.clip, y, gc.asarray([0.5])[0], high) == outcome(np.clip, x, np.float64(0.5), high), (x, high)
            if hasattr(x, "clip"):
                assert outcome(lambda z: z.clip(low, high), y) == outcome(lambda z: z.clip(low, high), x), (x, low, high)
