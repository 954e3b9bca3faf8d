"""Warm calls of jitted functions: which arguments and outer values a recording is found again for, without its Python code
and without the package's, and that every other call is recorded anew."""

import sys

import graphc as gc
import numpy as np
import pytest
from support import exact

pytestmark = pytest.mark.graphc_only

X, Y = np.array([1.0, -2.5, 4.0]), np.array([0.5, 3.0, -1.0])


def of(function, namespace=None, **options):
    """Jitted, with its globals in `namespace`; `slow` counts calls that went through the package's Python code."""
    if namespace is not None:
        namespace.setdefault("gc", gc)
        exec("def f(x, y=None):\n    return " + function, namespace)
        function = namespace["f"]
    compiled = gc.jit(function, **options)
    return compiled, compiled.cache_info


CALLS = {
    "positions": (lambda x, y: x * y, lambda c, x, y: c(x, y), X * Y),
    "names": (lambda x, y: x - y, lambda c, x, y: c(x, y=y), X - Y),
    "names alone": (lambda x, y: x - y, lambda c, x, y: c(y=y, x=x), X - Y),
    "numbers": (lambda x, y, a, n: x * a + y * n, lambda c, x, y: c(x, y, 0.5, 3), X * 0.5 + Y * 3),
    "a tuple": (lambda p: p[0] + p[1], lambda c, x, y: c((x, y)), X + Y),
    "a list": (lambda p: p[0] + p[1][0], lambda c, x, y: c([x, [y]]), X + Y),
    "a dict": (lambda p: p["u"] - p["v"], lambda c, x, y: c({"u": x, "v": y}), X - Y),
    "the same twice": (lambda x, y: x * y, lambda c, x, y: c(x, x), X * X),
    "None and strings": (lambda x, how, other: x + x if how == "twice" else x, lambda c, x, y: c(x, "twice", None), X + X),
    "handed back": (lambda p, q: (q, p["x"] + q), lambda c, x, y: c({"x": x}, y)[1], X + Y),
}


@pytest.mark.parametrize("give", (gc.asarray, np.array), ids=("arrays", "numpy"))
@pytest.mark.parametrize("what", CALLS)
def test_calls_of_every_form_are_found_again(what, give):
    function, call, expected = CALLS[what]
    runs = []
    compiled = gc.jit(lambda *args, **kwargs: (runs.append(1), function(*args, **kwargs))[1])
    for _ in range(3):
        exact.assert_same(call(compiled, give(X), give(Y)), expected)
    assert len(runs) == 1 and compiled.cache_info().bound == 1


def test_numpy_arrays_are_read_at_each_call_and_updated_in_place():
    compiled = gc.jit(lambda x, y: x * 2 + y)
    x, y = X.copy(), Y.copy()
    for i in range(3):
        x[0] = i
        exact.assert_same(compiled(x, y), x * 2 + y)

    def step(x, y):
        x += y

    compiled, want = gc.jit(step), X.copy()
    compiled(gc.asarray(X), gc.asarray(Y))
    x = X.copy()
    for _ in range(3):
        compiled(x, y)
        want += Y
        exact.assert_same(x, want)
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        compiled(x, Y)
    exact.assert_same(x, want)

    def halve(x):
        while float(x[0]) > 0.25:
            x *= 0.5

    with pytest.warns(gc.errors.PerformanceWarning):
        x = np.array([1.0, 8.0])
        gc.jit(halve)(x)
    exact.assert_same(x, np.array([0.25, 2.0]))


def test_numpy_scalars_are_values():
    """`s += 1` gives a scalar another value, and no other name of it."""

    def f(s, y):
        s += 1
        return s * y

    compiled = gc.jit(f)
    for _ in range(3):
        for s in (np.float64(2), np.float32(2)):
            exact.assert_same(compiled(s, gc.asarray(X)), 3 * X)
            exact.assert_same(compiled(s, X), 3 * X)


def test_arguments_handed_back_are_the_callers_objects():
    compiled = gc.jit(lambda p, q: (q, p))
    for _ in range(3):
        x, y = gc.asarray(X), gc.asarray(Y)
        a, b = compiled(x, y)
        assert a is y and b is x
    compiled = gc.jit(lambda p: p["x"])
    for _ in range(3):
        x = gc.asarray(X)
        assert compiled({"x": x}) is x


def test_results_of_every_form():
    compiled = {
        "dict": gc.jit(lambda x, y: {"sum": x + y, 3: x * y}),
        "mixed": gc.jit(lambda x, y: {"sum": x + y, "pair": (x * y, 2)}),
        "twice": gc.jit(lambda x, y: (lambda s: {"a": s, "b": s})(x + y)),
        "list": gc.jit(lambda x, y: [x + y, x * y]),
    }
    for _ in range(3):
        got = {name: f(gc.asarray(X), gc.asarray(Y)) for name, f in compiled.items()}
        assert list(got["dict"]) == ["sum", 3] and type(got["list"]) is list and got["mixed"]["pair"][1] == 2
        for first in (got["dict"]["sum"], got["mixed"]["sum"], got["twice"]["a"], got["list"][0]):
            exact.assert_same(first, X + Y)
        for second in (got["dict"][3], got["mixed"]["pair"][0], got["list"][1]):
            exact.assert_same(second, X * Y)
        assert got["twice"]["a"] is got["twice"]["b"]


def test_what_differs_is_recorded_anew():
    seen = []

    def f(x, a, b=None):
        seen.append((type(a), a))
        return x * a

    compiled = gc.jit(f)
    x = gc.asarray(np.arange(3))
    calls = [(x, 1), (x, 1.0), (x, True), (x, 0.0), (x, -0.0), (x, 2)]
    for _ in range(3):
        for args in calls:
            exact.assert_same(compiled(*args), np.arange(3) * args[1])
    assert len(seen) == len(calls)
    signs = gc.jit(lambda x, a: gc.copysign(x, a))
    for _ in range(2):
        assert signs(gc.ones(1), 0.0).tolist() == [1.0] and signs(gc.ones(1), -0.0).tolist() == [-1.0]
    pair = gc.jit(lambda p: p["u"] - p["v"])
    x, y = gc.asarray(X), gc.asarray(Y)
    for _ in range(2):
        exact.assert_same(pair({"u": x, "v": y}), X - Y)
        exact.assert_same(pair({"v": y, "u": x}), X - Y)
    kinds = gc.jit(lambda p: (type(p).__name__, p[0] + p[1]))
    for _ in range(2):
        assert kinds((x, y))[0] == "tuple" and kinds([x, y])[0] == "list"


def test_an_array_given_twice_is_not_two():
    """Where the function changes one of them, it is the other one as well."""

    def f(p, q):
        p += 1
        return p + q

    compiled = gc.jit(f)
    for _ in range(2):
        x, y = gc.asarray(X.copy()), gc.asarray(Y.copy())
        exact.assert_same(compiled(x, y), X + 1 + Y)
        x = gc.asarray(X.copy())
        exact.assert_same(compiled(x, x), (X + 1) * 2)
        shared = X.copy()
        exact.assert_same(compiled(shared, shared), (X + 1) * 2)


@pytest.mark.parametrize("first, second", ((3, 4), (1, 1.0), (1, True), (0.0, -0.0), ("a", "b"), ([2.0], [3.0])))
def test_outer_values_that_are_bound_anew_are_seen(first, second):
    namespace = {"w": first}
    compiled, info = of("(type(w).__name__, repr(w), x * (w[0] if type(w) is list else 2 if type(w) is str else w))", namespace)
    x = gc.asarray(np.arange(1, 4))
    for value in (first, second, first, second):
        namespace["w"] = value
        for _ in range(2):
            name, text, result = compiled(x)
            factor = value[0] if isinstance(value, list) else 2 if isinstance(value, str) else value
            assert (name, text) == (type(value).__name__, repr(value))
            exact.assert_same(result, np.arange(1, 4) * factor)
    assert info().bound == 2
    del namespace["w"]
    with pytest.raises(NameError):
        compiled(x)


def test_cells_that_change_are_seen():
    k = 2.0
    compiled = gc.jit(lambda x: x * k)
    for k in (2.0, 3.0, 2.0, 3.0):
        exact.assert_same(compiled(gc.asarray(X)), X * k)
    assert compiled.cache_info().traces == 2


def test_a_call_that_rebinds_what_it_reads_is_right_the_next_time():
    namespace = {"gc": gc, "w": 1.0}
    exec("def f(x):\n    global w\n    y = x * w\n    w = w + 1\n    return y", namespace)
    compiled = gc.jit(namespace["f"])
    exact.assert_same(compiled(gc.asarray(X)), X * 1.0)
    exact.assert_same(compiled(gc.asarray(X)), X * 2.0)


def test_statics_and_devices():
    runs = []
    compiled = gc.jit(lambda x, shape, axis: (runs.append(1), gc.sum(gc.reshape(x, shape), axis=axis))[1], static_argnames="axis", static_argnums=1)
    x = np.arange(6.0)
    for _ in range(3):
        exact.assert_same(compiled(gc.asarray(x), (2, 3), axis=0), x.reshape(2, 3).sum(axis=0))
        exact.assert_same(compiled(gc.asarray(x), (3, 2), axis=0), x.reshape(3, 2).sum(axis=0))
        exact.assert_same(compiled(gc.asarray(x), (3, 2), axis=1), x.reshape(3, 2).sum(axis=1))
    assert len(runs) == 3 and compiled.cache_info().bound == 3
    placed = gc.jit(lambda x: x + 1, device="cpu")
    for device in ("cpu", "null"):
        for _ in range(3):
            result = placed(gc.asarray(x, device="cpu"))
            assert result.device == "cpu"
            exact.assert_same(result, x + 1)
    default = gc.jit(lambda x: gc.zeros(3) + x)
    y = gc.asarray(np.ones(3))
    for _ in range(2):
        exact.assert_same(default(y), np.ones(3))


def test_values_whose_equality_is_the_users_are_not_compared():
    class Odd(str):
        def __eq__(self, other):
            raise AssertionError("compared")

        __hash__ = str.__hash__

    compiled = gc.jit(lambda x, how: x + 1 if how is not None else x)
    exact.assert_same(compiled(gc.asarray(X), None), X)
    exact.assert_same(compiled(gc.asarray(X), "a"), X + 1)
    before = compiled.cache_info().bound
    with pytest.raises(AssertionError):
        compiled(gc.asarray(X), Odd("a"))
        compiled(gc.asarray(X), Odd("a"))
    assert compiled.cache_info().bound == before


def test_other_calls_of_one_function_do_not_pile_up():
    compiled = gc.jit(lambda x, n: x + n)
    for n in range(200):
        exact.assert_same(compiled(gc.asarray(X), n), X + n)
    assert compiled.cache_info().bound <= 64


LENT = {
    "elements": lambda x: x * 2 + 1,
    "columns": lambda x: x.T + x[0, 0],
    "rows": lambda x: abs(x).max(axis=1),
    "chosen": lambda x: x[x > 1],
    "itself": lambda x: x,
    "a part": lambda x: x[1:],
    "itself beside another": lambda x: (x + 1, x),
    "an update": lambda x: x.__iadd__(1),
}


@pytest.mark.filterwarnings("ignore::graphc.errors.PerformanceWarning")  # parts of columns are not recorded
@pytest.mark.parametrize("layout", ("dense", "a part", "columns", "read-only", "other bytes"))
@pytest.mark.parametrize("what", LENT)
def test_what_a_call_reads_in_numpys_memory_is_not_seen_later(what, layout, device):
    """Large NumPy arrays are read where they lie, by calls that leave no results there."""
    function = LENT[what]
    for where in (device, "auto"):
        compiled = gc.jit(lambda x: function(x), device=where)
        outer = np.zeros((201, 100))
        given = {
            "dense": lambda: outer,
            "a part": lambda: outer[3:],
            "columns": lambda: outer.T,
            "read-only": lambda: np.frombuffer(memoryview(outer).toreadonly()).reshape(201, 100),
            "other bytes": lambda: outer.view(outer.dtype.newbyteorder()),
        }[layout]()
        if what == "an update" and not given.flags.writeable:
            continue
        kept = []
        for turn in range(4):
            outer[...] = np.arange(outer.size).reshape(outer.shape) / 8000 + turn
            before = given.astype(np.float64)
            result = compiled(given)
            expected = function(before.copy())
            exact.assert_same(given.astype(np.float64), expected if what == "an update" else before)
            for r, e in zip(result, expected) if isinstance(result, tuple) else [(result, expected)]:
                exact.assert_same(r, e)
                kept.append((r, np.array(e)))
            outer[...] = -1
        for r, e in kept:
            exact.assert_same(r, e)


COPIES = {
    "copy": lambda x: x.copy(),
    "plus": lambda x: +x,
    "dtype": lambda x: x.astype(np.float64, copy=True),
    "roll": lambda x: gc.roll(x, 0),
    "tile": lambda x: gc.tile(x, 1),
    "array": lambda x: gc.array(x),
    "flatten": lambda x: x.flatten(),
    "sort": lambda x: gc.sort(x),
    "two": lambda x: (x.copy(), x.copy()),
}


@pytest.mark.parametrize("what", COPIES)
def test_copies_of_lent_arrays_are_copies(what, device):
    for where in (device, "auto"):
        compiled, given = gc.jit(COPIES[what], device=where), np.zeros(5000)
        for turn in range(4):
            given[:] = np.arange(5000.0) + turn
            expected, result = given.copy(), compiled(given)
            given[:] = -7
            for r in result if isinstance(result, tuple) else (result,):
                exact.assert_same(r, expected)


def test_outer_arrays_take_copies_of_lent_ones():
    outer = gc.zeros(5000)

    def whole(x):
        outer[:] = x
        return gc.sum(x)

    def part(x):
        outer[:2500] = x[:2500]
        return x + 1

    for function, rows in ((whole, 5000), (part, 2500)):
        compiled, given = gc.jit(function), np.zeros(5000)
        for turn in range(4):
            given[:] = np.arange(5000.0) + turn
            expected = given.copy()
            compiled(given)
            given[:] = -7
            exact.assert_same(outer[:rows], expected[:rows])


def test_a_lent_array_may_end_before_its_result():
    compiled = gc.jit(lambda x, y: x @ y)
    for turn in range(4):
        x = np.full((100, 100), turn + 1.0)
        result = compiled(x, x)
        del x
        exact.assert_same(result, np.full((100, 100), 100.0 * (turn + 1) ** 2))


@pytest.mark.filterwarnings("ignore::graphc.PerformanceWarning")
def test_what_cannot_be_recorded_is_called_as_it_is():
    """Calls like one that was refused are not taken apart each time; others, and what changes later, are found."""
    limit = 0.5

    @gc.jit
    def chosen(x, scale):
        return x[x > limit][:2] * scale if limit else x * scale

    x, calls = gc.asarray(np.random.default_rng(0).random(50)), []
    for scale in (2.0, 3.0, 2.0):
        for _ in range(3):
            found = chosen(x, scale)
            sys.setprofile(lambda *call: calls.append(call[1]))
            try:
                chosen(x, scale)
            finally:
                sys.setprofile(None)
            np.testing.assert_array_equal(np.asarray(found), np.asarray(x)[np.asarray(x) > 0.5][:2] * scale)
    assert len(calls) < 9 * 30
    assert chosen.cache_info().eager == 18
    np.testing.assert_array_equal(np.asarray(chosen(x[::2], 2.0)), np.asarray(x)[::2][np.asarray(x)[::2] > 0.5][:2] * 2)
    np.testing.assert_array_equal(chosen(np.ones(3), 2.0).tolist(), [2, 2])
    limit = 0.0
    for _ in range(140):
        assert chosen(x, 2.0).shape == (50,)
    assert chosen.cache_info().eager < 160
