"""Data full of infinities and NaNs: nothing is said of what was there, everything of what is new, and nothing is asked twice."""

import graphc as gc
import numpy as np
import pytest
from support import exact
from support.float_errors import BINARY, INF, NAN, SPECIAL, UNARY, differs, said, same


@pytest.fixture(autouse=True)
def kernels(default_device):
    before = gc._graphc.set_loop_turns(gc._graphc.NEVER)
    yield
    gc._graphc.set_loop_turns(before)


def programs_run(function):
    before = gc.cache_info()["programs_run"]
    function()
    return gc.cache_info()["programs_run"] - before


def in_vain(make):
    """Brings programs of a structure to look at each operation: of such data the values alone tell nothing."""
    for v in (NAN, INF, -INF):
        make(v)


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", UNARY)
def test_unary(name, dtype):
    with np.errstate(all="ignore"):
        values = np.array(SPECIAL, dtype)
    ours = lambda v: said(lambda: getattr(gc, name)(gc.asarray(np.full(19, v))))  # noqa: E731
    in_vain(lambda v: ours(values.dtype.type(v)))
    for v in values:
        same(ours(v), said(lambda: getattr(np, name)(np.full(19, v))), f"{name}({v!r})")


@pytest.mark.parametrize("name", BINARY)
def test_binary(name):
    values = np.array(SPECIAL, "float32")
    ours = lambda v, w: said(lambda: getattr(gc, name)(gc.asarray(np.full(19, v)), gc.asarray(np.full(19, w))))  # noqa: E731
    in_vain(lambda v: ours(np.float32(v), np.float32(1)))
    for v in values:
        for w in values:
            if not differs(name, v, w):
                theirs = said(lambda: getattr(np, name)(np.full(19, v), np.full(19, w)))
                same(ours(v, w), theirs, f"{name}({v!r}, {w!r})")


@pytest.mark.parametrize("target", ["float16", "float32", "int32", "uint8"])
def test_conversions(target):
    ours = lambda v: said(lambda: gc.asarray(np.full(19, v)).astype(target))  # noqa: E731
    in_vain(ours)
    for v in (1.0, 1e5, 1e300, -3.0, 300.0, INF, NAN):
        same(ours(v), said(lambda: np.full(19, v).astype(target)), f"{v!r} to {target}")


def test_complex_numbers():
    ours = lambda v, w: said(lambda: gc.asarray(np.full(19, v)) * gc.asarray(np.full(19, w)))  # noqa: E731
    in_vain(lambda v: ours(complex(v, 0), 1j))
    for v, w in ((1 + 2j, 3j), (1e308, 1e308 + 1j), (complex(1e308, 1e308), 1e10)):
        same(ours(v, w), said(lambda: np.full(19, v) * np.full(19, w)), f"{v} * {w}")


def test_every_operation_of_a_kernel(device):
    """One new infinity or NaN among those that were there, in whichever of several operations, and whether or not it shows in a result."""

    def f(xp, x, y):
        return xp.minimum(x + y, xp.sqrt(y) * 2) / x, xp.exp(x) < y

    with gc.device(device):
        x, y = np.full(1003, INF), np.full(1003, 4.0)
        x[::3] = 1.0
        evaluate = lambda: said(lambda: np.concatenate([np.asarray(v).ravel() for v in f(gc, gc.asarray(x), gc.asarray(y))]))  # noqa: E731
        assert evaluate() == [] == evaluate()
        for place in (0, 3, 501, 1002):
            for v, w in ((1.0, -1.0), (0.0, 4.0), (-INF, INF), (1e308, 1e308), (800.0, 4.0), (INF, 1.0)):
                before = x[place], y[place]
                x[place], y[place] = v, w
                same(evaluate(), said(lambda: np.concatenate(f(np, x, y))), f"{v}, {w} at {place}")
                x[place], y[place] = before


def test_updates_in_place_of_what_looks_fine():
    """Nothing that such a program passed on counts as finite: a later program that writes over it would say so."""
    x = gc.asarray(np.where(np.arange(300_000) % 7 < 3, INF, 1.5))
    x.eval()
    for f in (lambda a: gc.minimum(a, a + 2) * 3, gc.jit(lambda a: gc.minimum(a, a + 3) * 3)):
        for _ in range(4):
            y = f(x)
            y.eval()

        def update(y=y):
            y += 1
            return y

        assert said(update) == []
        y[0] = 1e308
        assert said(lambda y=y: y.__imul__(10)) == ["overflow encountered in multiply"]


def test_asked_once():
    x = gc.asarray(np.where(np.arange(5000) % 7 < 3, INF, 1.5))
    x.eval()

    def step():
        (gc.maximum(x * x, x) / 3).eval()

    counts = [programs_run(step) for _ in range(4)]
    assert counts[0] > 1 and counts[1:] == [1, 1, 1]
    f = gc.jit(lambda a: gc.maximum(a * a, a) / 5 - 1)
    counts = [programs_run(lambda: f(x)) for _ in range(5)]
    assert counts[1] > 1 and counts[2:] == [1, 1, 1] or counts[0] > 1 and counts[1:] == [1, 1, 1, 1]
    x[3] = -INF
    assert said(lambda: f(x) - f(x)) == ["invalid value encountered in subtract"]
    assert said(lambda: f(gc.full(5000, -1e308) * 1.5)) == ["overflow encountered in multiply"]


@pytest.mark.parametrize("axis", [None, 0, -1])
@pytest.mark.parametrize("function", ["percentile", "nanpercentile"])
def test_percentiles_beside_infinities(function, axis):
    """NumPy interpolates at the places of elements as well, so that an infinity beside one, or as the last one, is NaN, and invalid."""
    rows = [[1, INF, INF], [1, 2, INF], [-INF, 1, 2], [-INF, INF, INF], [1, 2, 3], [-0.0, 0.0, -0.0], [1e308, -1.7e308, 0], [NAN, 1, INF]]
    for q in (0, 50, 75, 100, [25, 50], [0, 10, 20, 30, 50, 60, 75, 100]):
        for x in (*rows, rows, [[1, 2], [3, 4]]):
            if np.ndim(x) == 2 or axis != 0:
                for dtype in ("f8", "f4"):
                    with np.errstate(all="ignore"):
                        x_ = np.array(x, dtype)
                        want = getattr(np, function)(x_, q, axis=axis)
                        with gc.errstate(all="ignore"):
                            got = getattr(gc, function)(gc.array(x_), q, axis=axis)
                    exact.assert_same(got, want, f"{function}({x}, {q})")
    whole = [getattr(xp, function.removesuffix("percentile") + "quantile")(xp.array([1, 2, INF]), q).tolist() for xp in (np, gc) for q in (0, 1, [0, 1])]
    assert whole[:3] == whole[3:]


@pytest.mark.parametrize("method", ["linear", "lower", "higher", "nearest", "inverted_cdf", "closest_observation", "midpoint", "hazen"])
def test_quantiles_of_present_elements_beside_infinities(method):
    """Rows with NaN, whose quantiles are of their own many elements; whole quantiles, and fractions that are at elements."""
    rows = np.array([[1, 2, INF, NAN], [INF, NAN, 1, 2], [-INF, 3, NAN, 4], [1, NAN, NAN, INF], [1, 2, 3, NAN]])
    for q in (0, 1, 0.0, 1.0, 0.5, 0.25, [0, 1], [0.0, 0.5, 0.9]):
        with np.errstate(all="ignore"), gc.errstate(all="ignore"):
            want = np.nanquantile(rows, q, axis=1, method=method)
            got = gc.nanquantile(gc.array(rows), q, axis=1, method=method)
        np.testing.assert_array_equal(np.asarray(got), want, err_msg=f"{q}")


def test_percentiles_tell_what_infinities_meet():
    for xp in (np, gc):
        for q in (50, [10, 50], list(range(0, 100, 7))):
            for function in (xp.percentile, xp.quantile):
                with xp.errstate(all="raise"), pytest.raises(FloatingPointError, match="invalid value"):
                    function(xp.array([1.0, 2, INF]), xp.array(q) / (1 if function is xp.percentile else 100.0))
            with xp.errstate(all="raise"):
                xp.percentile(xp.arange(9.0), q)
        with pytest.warns(RuntimeWarning, match="overflow encountered in multiply"):
            xp.round(xp.array([1e308]), 5)
