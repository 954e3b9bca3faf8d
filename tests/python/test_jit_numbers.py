"""Numbers that calls of a jitted function differ in are arguments of what was recorded, and computed with as Python does."""

import math

import graphc as gc
import numpy as np
import pytest
from support import exact

pytestmark = pytest.mark.graphc_only


def data(dtype=np.float64, seed=71):
    return np.random.default_rng(seed).normal(size=(3, 5)).astype(dtype)


def counted(function):
    """The function, of the same code as far as jit looks at it, and a list that grows when it runs."""
    runs = []

    def wrapper(*args, **kwargs):
        runs.append(1)
        return function(*args, **kwargs)

    wrapper.__code__ = wrapper.__code__.replace(co_consts=(*wrapper.__code__.co_consts, function.__code__))
    return wrapper, runs


def agree(function, calls, runs):
    """Each call gives the plain function's bits, and the function runs that often beside."""
    wrapper, seen = counted(function)
    compiled = gc.jit(wrapper)
    for args in calls:
        expected = [np.asarray(v) for v in gc._tree.leaves(function(*args))]
        got = [np.asarray(v) for v in gc._tree.leaves(compiled(*args))]
        assert len(got) == len(expected)
        for g, e in zip(got, expected):
            assert g.dtype == e.dtype
            exact.assert_same(g, e)
    assert len(seen) == runs, compiled._state.eager_reason
    return compiled


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.float16])
def test_once_for_all_values(dtype):
    x, y = gc.asarray(data(dtype)), gc.asarray(data(dtype, 72))
    values = [0.1, 0.25, -0.0, 0.0, 1.0, 2.0, 1 / 3, 1e-40, math.inf, math.nan] + [0.01 * i for i in range(20)]
    compiled = agree(lambda x, y, lr: x - lr * y, [(x, y, v) for v in values], 2)
    assert compiled.cache_info().traces == 2
    assert compiled.cache_info().eager == 0


@pytest.mark.parametrize("operator", ["add", "subtract", "multiply", "divide", "floor_divide", "remainder", "maximum", "minimum", "arctan2",
                                      "hypot", "copysign", "less", "equal", "nextafter", "logaddexp"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_operations(operator, dtype):
    op = getattr(gc, operator)
    x = gc.asarray(data(dtype))
    values = [(x, v) for v in [2.0, 0.5, 3.0, 0.3, -1.7, 1.0, 4.0, 1e-3]]
    agree(lambda x, c: (op(x, c), op(c, x)), values, 2)


def test_operators_on_both_sides():
    x = gc.asarray(data())
    agree(lambda x, c: (c + x, x + c, c - x, x - c, c * x, c / x, x / c, x // c, x % c, c % x, x < c, c < x, x == c),
          [(x, v) for v in (2.0, 0.5, 3.0, 7)] + [(x, 0.1)], 3)  # 7 is an int: of another structure


def test_python_computes_with_them():
    x = gc.asarray(data(np.float32))
    agree(lambda x, dt, n: x + dt * 0.5 + dt**2 / 6 - abs(-dt) * 3 + (1 - 0.9**n) + n // 2 % 3 + (+dt),
          [(x, 0.1 * i, i) for i in range(1, 20)], 2)


def test_returned():
    x = gc.asarray(data())
    compiled = agree(lambda x, t, dt: {"x": x * t, "t": t + dt, "dt": dt, "given": x}, [(x, 0.1 * i, 0.1) for i in range(12)], 2)
    result = compiled(x, 3.5, 0.1)
    assert type(result["t"]) is float and result["t"] == 3.6
    assert result["given"] is x
    assert agree(lambda x, t: t, [(x, 0.1 * i) for i in range(5)], 2)(x, 7.25) == 7.25


def test_nested_and_named():
    x = gc.asarray(data())
    wrapper, runs = counted(lambda x, options, *, scale=1.0: x * options["lr"] + options["more"][0] * scale)
    compiled = gc.jit(wrapper)
    for i in range(12):
        options = {"lr": 0.1 * i, "more": [1.0 + i, 2.0]}
        exact.assert_same(np.asarray(compiled(x, options, scale=i + 0.5)), np.asarray(x) * options["lr"] + options["more"][0] * (i + 0.5))
    assert len(runs) == 2
    assert compiled.cache_info().bound == 2


def test_only_those_that_change():
    """What has had one value stays a constant, until it has had another."""
    x = gc.asarray(data())
    agree(lambda x, a, b: x * a + b, [(x, 0.1 * i, 2.0) for i in range(5)] + [(x, 0.3, 0.1 * i) for i in range(5)], 3)


def test_values_that_decide():
    x = gc.asarray(data())
    agree(lambda x, c: x * c if math.floor(c * 2) else x + c, [(x, v) for v in (0.1, 0.7, 0.2, 0.9, 0.5)], 6)
    # n decides, c does not: a recording for each n.
    agree(lambda x, c, n: gc.sum(x, axis=n) * c, [(x, 0.1 * i, i % 2) for i in range(12)], 4)


def test_comparisons_hold_for_other_values():
    """One recording serves all numbers that answer alike; after eight others each value is recorded."""
    x = gc.asarray(data())

    def f(x, c, m):
        if m:
            x = x * m
        return x * c if 0 < c <= 0.5 else x + max(c, 0.7) - (1 if c == m else 0)

    agree(f, [(x, 0.01 * i, 0.9) for i in range(1, 40)], 2)
    compiled = agree(f, [(x, v, 0.9) for v in (0.1, 0.2, 0.3, 0.8, 0.4, 0.9, 0.8)], 4)  # 0.4 answers as 0.2
    assert compiled.cache_info().eager == 0
    agree(f, [(x, 0.6, v) for v in (0.9, 0.8, 0.0, -0.0, 0.6, 0.5)], 4)
    compiled = agree(f, [(x, 0.1 * (i % 7) - 0.1, 0.9) for i in range(40)], 4)
    assert compiled.cache_info()[:3] == (4, 0, 4)

    def steps(x, c):
        return x * sum(c > k for k in range(12))

    compiled = agree(steps, [(x, i + 0.5) for i in range(11)] + [(x, i + 0.25) for i in range(9)], 12)  # 10.5 and 0.25 by value
    assert compiled.cache_info().eager == 0
    agree(lambda x, c: x * c if 1 / c > 2 else x, [(x, v) for v in (0.1, 0.2, 0.3, 0.9)], 3)


ASKING = {
    "sqrt": math.sqrt,
    "float": float,
    "int": int,
    "text": lambda c: float(f"{c:.1f}"),
    "a scalar of NumPy's": np.float32,
    "in a list": lambda c: np.asarray([c])[0],
    "with an array of NumPy's": lambda c: np.multiply(np.ones(2), c)[0],
    "times an array of NumPy's": lambda c: (np.ones(2) * c)[0],
    "round": round,
    "a method": lambda c: c.is_integer(),
    "a key": lambda c: {0.1: 1.5}.get(c, 2.0),
    "divmod": lambda c: divmod(c, 0.3)[1],
}


@pytest.mark.parametrize("how", ASKING)
def test_asking_for_the_value_records_by_value(how):
    x = gc.asarray(data())
    agree(lambda x, c: x * float(ASKING[how](c)), [(x, v) for v in (0.1, 2.7, 0.2, 0.9, 1.5)], 6)


def test_functions_that_ask_for_types_are_recorded_by_value():
    x = gc.asarray(data())
    agree(lambda x, c: x * c if type(c) is float else x, [(x, v) for v in (0.1, 2.7, 0.2)], 3)


def _scaled(x, c):
    return x * c if type(c) is float else x


class _Model:
    def __init__(self):
        self.step = _scaled

    def __call__(self, x, c):
        return self.inner(x, c)

    def inner(self, x, c):
        return self.step(x, c)


def test_functions_that_others_ask_for_types():
    x, model, table, inner = gc.asarray(data()), _Model(), {"scaled": _scaled}, lambda x, c: _scaled(x, c)
    for f in (lambda x, c: _scaled(x, c), lambda x, c: inner(x, c), model.__call__, model.inner, lambda x, c: model(x, c),
              lambda x, c: _Model().inner(x, c), lambda x, c: table["scaled"](x, c)):  # fmt: skip
        agree(f, [(x, v) for v in (0.1, 2.7, 0.2)], 3)


def test_a_caught_question():
    """A function that catches what asking raises is recorded by value."""
    x = gc.asarray(data())

    def f(x, c):
        try:
            return x * math.floor(c)
        except Exception:
            return x

    compiled = gc.jit(f)
    for v in (1.5, 2.5, 3.5):
        exact.assert_same(np.asarray(compiled(x, v)), np.asarray(x) * math.floor(v))


def test_powers_ask():
    x = gc.asarray(abs(data()))
    agree(lambda x, p: x**p, [(x, v) for v in (0.5, 2.0, 3.0, -1.0)], 5)
    agree(lambda x, p: p**x, [(x, v) for v in (0.5, 2.0, 3.0)], 4)


def test_integers():
    whole = gc.asarray(np.arange(6, dtype=np.int32))
    x = gc.asarray(data(np.float32))
    agree(lambda w, n: w + n, [(whole, i) for i in range(4)], 5)  # of an integer array only the value says what fits
    agree(lambda x, n: x * n, [(x, i) for i in range(10)], 2)
    agree(lambda x, n: x * n, [(x, v) for v in (1, 2, True, 3)], 3)


def test_updates_of_arguments():
    compiled = gc.jit(lambda p, g, lr: p.__isub__(g * lr))
    p, g = gc.asarray(data()), gc.asarray(data(seed=73))
    plain = data()
    for i in range(12):
        compiled(p, g, 0.1 * i)
        plain -= data(seed=73) * (0.1 * i)
        exact.assert_same(np.asarray(p), plain)
    given = data()
    update = gc.jit(lambda p, lr: p.__imul__(lr))
    for i in range(5):
        update(given, 1.0 + 0.1 * i)
    expected = data()
    for i in range(5):
        expected *= 1.0 + 0.1 * i
    exact.assert_same(given, expected)


def test_errors_of_python():
    x = gc.asarray(data())
    compiled = gc.jit(lambda x, c: x * (1 / c))
    for v in (1.0, 2.0, 4.0):
        exact.assert_same(np.asarray(compiled(x, v)), np.asarray(x) * (1 / v))
    with pytest.raises(ZeroDivisionError):
        compiled(x, 0.0)
    exact.assert_same(np.asarray(compiled(x, 5.0)), np.asarray(x) * (1 / 5.0))


def test_too_large_for_the_dtype():
    x = gc.asarray(data(np.float32))
    compiled = gc.jit(lambda x, c: x * c)
    for v in (1.0, 2.0):
        compiled(x, v)
    with pytest.warns(RuntimeWarning, match="overflow"):
        result = np.asarray(compiled(x, 1e300))
    assert np.isinf(result).all()


def test_kept_numbers_are_numbers():
    """What a function keeps of its arguments has the value of the call that was recorded."""
    x, kept = gc.asarray(data()), []

    def f(x, c):
        kept.append(c + 1)
        return x * c

    compiled = gc.jit(f)
    for v in (1.0, 2.0, 3.0):
        compiled(x, v)
    assert kept == [2.0, 3.0]
    assert float(kept[1]) == 3.0 and f"{kept[1]:.2f}" == "3.00" and kept[1] * 2 == 6.0
    exact.assert_same(np.asarray(x * kept[1]), np.asarray(x) * 3.0)


def test_text_shows_the_number():
    x = gc.asarray(data())
    compiled = gc.jit(lambda x, c: x * c)
    for v in (1.5, 2.5, 3.5):
        compiled(x, v)
    assert "3.5" in compiled.lower(x, 3.5).as_text()
