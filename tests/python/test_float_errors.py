"""What is said about divisions by zero, overflows and invalid operations: as NumPy, at the user's line."""

import inspect
import subprocess
import sys
import warnings

import graphc as gc
import numpy as np
import pytest
from support.float_errors import BINARY, INF, NAN, SPECIAL, UNARY, differs, said, same


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", UNARY)
def test_unary(name, dtype):
    with np.errstate(all="ignore"):
        values = np.array(SPECIAL, dtype)
    for v in values:
        x = np.full(3, v)
        same(said(lambda: getattr(gc, name)(gc.asarray(x))), said(lambda: getattr(np, name)(x)), f"{name}({v!r})")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", BINARY)
def test_binary(name, dtype):
    with np.errstate(all="ignore"):
        values = np.array(SPECIAL, dtype)
    for v in values:
        for w in values:
            x, y = np.full(3, v), np.full(3, w)
            if not differs(name, v, w):
                ours = said(lambda: getattr(gc, name)(gc.asarray(x), gc.asarray(y)))
                same(ours, said(lambda: getattr(np, name)(x, y)), f"{name}({v!r}, {w!r})")


INTEGERS = ["int8", "uint8", "int16", "uint16", "int32", "uint32", "int64", "uint64"]


@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", ["floor_divide", "remainder", "fmod", "add", "multiply"])
def test_integers(name, dtype):
    least = np.iinfo(dtype).min
    for v in (7, 0, least):
        for w in (3, 0, -1 if least else 1):
            x, y = np.full(3, v, dtype), np.full(3, w, dtype)
            ours = said(lambda: getattr(gc, name)(gc.asarray(x), gc.asarray(y)))
            same(ours, said(lambda: getattr(np, name)(x, y)), f"{name}({v}, {w})")


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_quotients_that_overflow_are_invalid_besides(dtype):
    """Rounded down they are looked at for a fraction, which an infinity has none of."""
    x, tiny = np.array([4.0, 3.0, 1e-300, 2.0], dtype), np.finfo(dtype).tiny
    for f in (lambda xp, a: a // tiny, lambda xp, a: xp.floor_divide(a, -tiny), lambda xp, a: a[2:] // tiny, lambda xp, a: a // 3):
        same(said(lambda: f(gc, gc.asarray(x))), said(lambda: f(np, x)), f"floor_divide of {dtype}")


FAR = [127.5, 128, 256, -1, -129, 40000, 70000, 2.0**31 - 129, 2.0**31, 2.0**32, -(2.0**31), -(2.0**31) - 0.5, -(2.0**31) - 1]
FAR += [2.0**63, -(2.0**63), -(2.0**63) * 1.001, 2.0**64 * (1 - 2.0**-53), 2.0**64, INF, -INF, NAN]


@pytest.mark.parametrize("source", ["float16", "float32", "float64"])
@pytest.mark.parametrize("target", [*INTEGERS, "bool", "float16", "float32", "float64", "complex64"])
def test_conversions(source, target):
    with np.errstate(all="ignore"):
        values = np.array(FAR, source)
    for v in values:
        # NumPy's vector conversion of float32 has no answer of its own just below 2**64.
        if (source, target) != ("float32", "uint64") or not 2.0**63 < v < 2.0**64:
            x = np.full(3, v)
            same(said(lambda: gc.asarray(x).astype(target)), said(lambda: x.astype(target)), f"{v!r} to {target}")
    big = np.full(3, 70000)
    same(said(lambda: gc.asarray(big).astype(target)), said(lambda: big.astype(target)), f"70000 to {target}")


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
def test_reductions(dtype):
    big = np.finfo(dtype).max
    for values in ([1, 2, 3], [big, big, 1], [INF, -INF, 1], [NAN, 1, 2], [INF, 1, 2]):
        x = np.array(values, dtype)
        for name in ("sum", "prod", "mean", "cumsum") if x.dtype.kind == "f" else ("sum", "cumsum"):
            same(said(lambda: getattr(gc, name)(gc.asarray(x))), said(lambda: getattr(np, name)(x)), f"{name} of {values}")
            same(said(lambda: getattr(gc.asarray(x), name)()), said(lambda: getattr(np, name)(x)), f"x.{name} of {values}")
    m = np.full((2, 2), big, dtype)
    theirs = said(lambda: m @ m)  # of complex numbers also what becomes of an infinity on the way
    same(said(lambda: gc.asarray(m) @ gc.asarray(m)), [t for t in theirs if m.dtype.kind == "f" or "overflow" in t], "matmul")


@pytest.mark.parametrize("dtype", ["complex64", "complex128"])
def test_complex(dtype):
    big = np.finfo(dtype).max
    for v, w in [(1 + 2j, 3 - 1j), (1 + 2j, 0), (big, 2), (complex(0, big), 4j)]:
        x, y = np.full(3, v, dtype), np.full(3, w, dtype)
        for name in ("add", "subtract", "multiply"):
            ours = said(lambda: getattr(gc, name)(gc.asarray(x), gc.asarray(y)))
            same(ours, said(lambda: getattr(np, name)(x, y)), f"{name}({v}, {w})")
    zero = gc.zeros(3, dtype=dtype)
    assert said(lambda: 1 / zero), "a complex division by zero"


def test_values_that_do_not_show():
    """Infinities that nothing infinite comes of."""
    x = gc.asarray([0.0, 1.0, 2.0])
    for make in (lambda: 1 / (1 / x), lambda: 1 / x > 2, lambda: gc.minimum(1 / x, 3.0), lambda: gc.exp(-1 / x), lambda: gc.max(1 / x)):
        assert said(make) == ["divide by zero encountered in divide"]
    assert said(lambda: gc.where(x > 0, gc.log(x), 0.0)) == ["divide by zero encountered in log"]
    assert said(lambda: gc.argmax(1 / x)) == ["divide by zero encountered in divide"]


def test_many_elements():
    """Whichever element it is: first, last, in a tail, in a block of another thread."""
    for n in (1, 15, 16, 17, 1000, 100_003):
        for place in {0, n // 2, n - 1}:
            x = np.ones(n, "float32")
            x[place] = 0
            y = gc.asarray(x)
            assert said(lambda: 1 / y) == ["divide by zero encountered in divide"]
            assert said(lambda: gc.sum(1 / y)) == ["divide by zero encountered in divide"]
            assert said(lambda: 1 / (y + 1)) == []
    m = np.ones((67, 130))
    m[66, 129] = 0
    for axis in (0, 1):
        assert said(lambda: (1 / gc.asarray(m)).sum(axis=axis)) == ["divide by zero encountered in divide"]


def test_place():
    x = gc.zeros(3)
    with pytest.warns(RuntimeWarning, match="divide by zero encountered in divide") as caught:
        line = inspect.currentframe().f_lineno + 1
        y = 1 / x
        y.tolist()
    assert [(w.filename, w.lineno) for w in caught] == [(__file__, line)]
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("ignore")
        warnings.filterwarnings("always", module=__name__.replace(".", r"\."))
        (1 / x).tolist()
    assert len(caught) == 1


def test_modes_are_those_of_the_recording():
    x = gc.zeros(3)
    with gc.errstate(divide="ignore"):
        quiet = 1 / x
        assert gc.geterr() == {"divide": "ignore", "over": "warn", "under": "ignore", "invalid": "warn"}
    assert said(lambda: quiet) == []
    with gc.errstate(all="ignore"), gc.errstate(divide="warn"):
        loud = 1 / x
    assert said(lambda: loud) == ["divide by zero encountered in divide"]


def test_every_mode(capsys):
    x = gc.zeros(3)
    with gc.errstate(divide="raise"), pytest.raises(FloatingPointError, match="divide by zero encountered in divide"):
        1 / x  # at the statement
    with gc.errstate(divide="print"):
        np.asarray(1 / x)
    assert capsys.readouterr().err == "Warning: divide by zero encountered in divide\n"
    calls = []
    with gc.errstate(all="call", call=lambda *given: calls.append(given)):
        np.asarray(gc.asarray([0.0, 1.0]) / gc.zeros(2))
    assert calls == [("divide by zero", 9), ("invalid value", 9)]
    with gc.errstate(all="call", call=lambda *given: calls.append(sys._getframe(1).f_code.co_name)):  # who warns by it counts frames
        gc.zeros(2) / 0.0
    assert calls.pop() == "test_every_mode"

    class Log:
        def write(self, text):
            calls.append(text)

    with gc.errstate(divide="log", call=Log()):
        np.asarray(1 / x)
    assert calls[2:] == ["Warning: divide by zero encountered in divide\n"]
    with gc.errstate(divide="call", call=None), pytest.raises(NameError, match="no function found"):
        np.asarray(1 / x)


def test_settings():
    before = gc.seterr(over="raise", under="print")
    assert gc.geterr() == {**before, "over": "raise", "under": "print"}
    assert gc.seterr(**before) == {**before, "over": "raise", "under": "print"}
    handler = print
    assert gc.seterrcall(handler) is None and gc.geterrcall() is handler and gc.seterrcall(None) is handler
    for wrong in (lambda: gc.seterr(all="loudly"), lambda: gc.seterrcall(3)):
        with pytest.raises(ValueError):
            wrong()

    @gc.errstate(all="ignore")
    def quiet(x):
        return 1 / x

    assert said(lambda: quiet(gc.zeros(3))) == []


def test_underflow():
    for dtype, small in (("float32", 1e-30), ("float64", 1e-200)):
        x = np.array([small, 1.0], dtype)
        assert said(lambda: gc.asarray(x) * gc.asarray(x)) == []
        for name, args in (("multiply", (x, x)), ("divide", (x, 1 / x)), ("exp", (np.array([-800.0], dtype),)), ("multiply", (x, x * 0))):
            with np.errstate(under="warn"), gc.errstate(under="warn"):
                ours = said(lambda: getattr(gc, name)(*(gc.asarray(a) for a in args)))
                same(ours, said(lambda: getattr(np, name)(*args)), name)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("size", [1, 8, 1000, 3_000_000])
def test_underflow_anywhere(dtype, size):
    """On whichever thread it happens, and in values that nobody sees."""
    steps = {"product": lambda xp, a: a * a, "quotient": lambda xp, a: a / xp.asarray(np.asarray(7, dtype)) + 1,
             "hidden": lambda xp, a: xp.exp(-1000 * a) + a, "sum": lambda xp, a: xp.sum(a * a)}

    def update(xp, a):
        a = a.copy()
        a *= a
        return a

    for place in {None, 0, size // 2, size - 1}:
        x = np.full(size, 0.015625, dtype)
        if place is not None:
            x[place] = np.finfo(dtype).tiny
        for name, f in (*steps.items(), ("update", update)):
            for mode in "warn", "raise":
                with np.errstate(all=mode), gc.errstate(all=mode):
                    expected = heard_or_raised(lambda: f(np, x))
                    same(heard_or_raised(lambda: f(gc, gc.asarray(x))), expected, (name, place))
                    if f is not update:
                        jitted = gc.jit(lambda a: f(gc, a))
                        for _ in range(2):
                            same(heard_or_raised(lambda: jitted(gc.asarray(x))), expected, (name, place))


def heard_or_raised(call):
    try:
        return said(call)
    except FloatingPointError as error:
        return str(error)


def test_runs_that_underflow_nothing_are_those_of_other_modes():
    x = gc.asarray(np.arange(1.0, 1001.0))
    f = gc.jit(lambda a: gc.sum(a * a + gc.exp(-a / 100) / a))
    counts = []
    for mode in "ignore", "warn", "raise":
        with gc.errstate(all=mode):
            float(f(x))
            before = gc.cache_info()
            float(f(x))
            after = gc.cache_info()
            counts.append([after[k] - before[k] for k in ("launches", "allocations", "nodes_recorded")])
    assert counts[0] == counts[1] == counts[2]


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize("mode", ["warn", "raise"])
def test_underflow_in_loops_over_small_arrays(dtype, mode):
    """Of which the host has loops: what underflows is told in its turn, and nothing is written then."""
    tiny = np.finfo(dtype).tiny

    def update(xp, a):
        a = a.copy()
        a[1:] *= a[1:]
        return a

    steps = {"product": lambda xp, a: a * a, "quotient": lambda xp, a: a / 7, "exp": lambda xp, a: xp.exp(-a * 0 - 800 * (a < 0.001)), "square": lambda xp, a: xp.square(a),
             "power": lambda xp, a: a**2.5, "difference": lambda xp, a: a - a, "nothing": lambda xp, a: a * 0, "single": lambda xp, a: a[3] * a[3], "update": update}  # fmt: skip
    for name, f in steps.items():
        for turn in range(40):
            x = np.full(8, 0.0625, dtype)
            if turn in (3, 17, 30, 39):
                x[3] = tiny
            with np.errstate(all=mode), gc.errstate(all=mode):
                ours = heard_or_raised(lambda: np.asarray(f(gc, gc.asarray(x))))
                same(ours, heard_or_raised(lambda: f(np, x)), (name, turn))


def test_loops_over_small_arrays_launch_nothing_while_underflow_is_told():
    counts = []
    for mode in "ignore", "raise":
        x = gc.asarray(np.arange(1.0, 9.0))
        with gc.errstate(all=mode):
            for turn in range(40):
                if turn == 20:
                    before = gc.cache_info()
                x = (x * 0.5 + gc.exp(-x) / (x + 1.0) + 1.0) ** 2 / 9.0
                x[1:] -= 0.125
            after = gc.cache_info()
            counts.append([after[k] - before[k] for k in ("launches", "nodes_recorded")])
    assert counts[0] == counts[1]


def test_errors_are_raised_beside_small_values_that_loops_left_pending():
    """Which are computed after the large one that met the error."""
    x, sums = gc.full(400_000, 2.0), []
    for turn in range(12):
        sums.append((x * float(turn)).sum())
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(RuntimeWarning, match="overflow encountered in multiply"):
                x * 1e308
    for turn in range(12):
        sums.append((x * float(turn)).sum())
        with gc.errstate(over="raise"), pytest.raises(FloatingPointError, match="overflow encountered in multiply"):
            x * 1e308
    assert [float(s) for s in sums] == [800_000.0 * turn for turn in range(12)] * 2


def test_traced_functions():
    @gc.jit
    def f(x, y):
        return gc.sqrt(x) + y

    good, bad = gc.asarray([1.0, 4.0]), gc.asarray([-1.0, 4.0])
    for _ in range(2):
        assert said(lambda: f(good, good)) == []
        assert said(lambda: f(bad, good)) == ["invalid value encountered in sqrt"]
    with gc.errstate(invalid="ignore"):
        assert said(lambda: f(bad, good)) == []
    assert said(lambda: f(bad, good)) == ["invalid value encountered in sqrt"]


def test_functions_made_of_operations():
    """Guarded formulas of the package are not the user's errors; masks leave errors out."""
    x = gc.asarray([0.0, 1.0, 2.0])
    for make in (lambda: gc.sinc(x), lambda: gc.nanmean(gc.asarray([[NAN, 1.0]]), axis=1), lambda: gc.fft.fft(x), lambda: gc.frexp(x)[0]):
        assert said(make) == []
    assert said(lambda: gc.divide(1.0, x, where=x > 0, out=gc.zeros(3))) == []
    assert said(lambda: gc.divide(1.0, x, out=gc.zeros(3))) == ["divide by zero encountered in divide"]
    assert said(lambda: gc.var(gc.asarray([INF, 1.0]))) == ["invalid value encountered in subtract"]


def test_functions_that_leave_the_real_numbers():
    for make in (lambda xp: xp.emath.log(xp.asarray([0.0, 1.0])), lambda xp: xp.emath.arctanh(xp.asarray([1.0, -1.0])),
                 lambda xp: xp.emath.power(xp.asarray([0.0, 2.0]), -1)):  # fmt: skip
        same(said(lambda: make(gc)), said(lambda: make(np)), "emath")


def test_numbers():
    """Single values that are computed at once."""
    x = gc.asarray([0.0, 3.0])
    assert said(lambda: x[1] / x[0]) == ["divide by zero encountered in scalar divide"]
    assert said(lambda: gc.asarray(7) // gc.asarray(0)) == ["divide by zero encountered in floor_divide"]


def test_results_made_in_place():
    x = gc.ones(1000)
    x.eval()
    x[100:200] = x[0] / (x[100:200] - 1)
    assert said(lambda: x) == ["divide by zero encountered in divide"]


@pytest.mark.parametrize("xp", [np, gc], ids=["numpy", "graphc"])
def test_updates_of_what_was_infinite_before(xp):
    """Nothing is said of infinities and NaNs that were there, also where a result takes their memory; of new ones, there too."""
    with warnings.catch_warnings(record=True) as caught:
        a = xp.asarray(np.linspace(-1, 1, 200_000)) + 0
        a[a < 0] = np.nan
        a *= 2
        a[1:-1] += 1
        a[7] = np.inf
        a -= 3
        a = a + a
        assert float(a[7]) == np.inf and float(a[-1]) == -2
        b = xp.asarray(np.ones(200_000)) * 1e300
        b[3] = np.inf
        b[3] = 1
        assert not caught
        b *= 1e300
        float(b[0])
        assert [str(w.message) for w in caught] == ["overflow encountered in multiply"]


def updated(xp, x):
    x[1:] *= 1e308
    x *= 1e308


STATEMENTS = {
    "operator": lambda xp, x: 1 / x, "function": lambda xp, x: xp.log(x - 1), "sum": lambda xp, x: xp.sum(x * 1e308) * 1e10,
    "method": lambda xp, x: (x * 1e308).cumsum(), "update": updated, "integers": lambda xp, x: xp.asarray([1, 2]) // 0,
    "small": lambda xp, x: x[:2] / 0, "single": lambda xp, x: x[0] / x[0], "mean": lambda xp, x: xp.mean(x / x),
}  # fmt: skip


@pytest.mark.parametrize("name", STATEMENTS)
def test_statements_that_warnings_are_waited_for(name):
    """Nothing is looked at: the statement itself computes where warnings are errors or are recorded, and only there."""
    texts = []
    for xp in (np, gc):
        x = xp.arange(20_000.0)
        with pytest.warns(RuntimeWarning) as caught:
            STATEMENTS[name](xp, x)
        texts.append({str(w.message).replace("scalar ", "") for w in caught})
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            with pytest.raises(RuntimeWarning):
                STATEMENTS[name](xp, xp.arange(20_000.0))
            with xp.errstate(all="ignore"):
                STATEMENTS[name](xp, xp.arange(20_000.0))
            warnings.simplefilter("ignore")
            STATEMENTS[name](xp, xp.arange(20_000.0))
    assert texts[0] == texts[1]


@pytest.mark.parametrize("filtered", [{"message": "divide by"}, {"message": "DIVIDE .* divide$"}, {"module": __name__}, {"category": RuntimeWarning}], ids=str)
def test_filters_for_some_warnings_are_waited_for(filtered):
    for xp in (np, gc):
        x = xp.arange(20_000.0)
        for action in ("error", "always"):
            with warnings.catch_warnings(record=True) as caught:
                warnings.simplefilter("ignore")
                warnings.filterwarnings(action, **filtered)
                if action == "error":
                    with pytest.raises(RuntimeWarning, match="divide by zero"):
                        1 / x
                else:
                    1 / x
                    assert [str(w.message) for w in caught] == ["divide by zero encountered in divide"]


def test_filters_for_other_warnings_are_not_waited_for():
    with warnings.catch_warnings(record=True):
        warnings.filterwarnings("error", message="numpy.dtype size changed")
        before = gc.cache_info()["segments_run"]
        1 / gc.arange(20_000.0)
        assert gc.cache_info()["segments_run"] == before


@pytest.mark.parametrize("traced", [False, True], ids=["eager", "jit"])
def test_what_is_ignored_when_recorded_is_never_told(traced):
    divide = gc.jit(lambda x: 1 / x) if traced else lambda x: 1 / x
    x = gc.arange(20_000.0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        silent = divide(x)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        warnings.filterwarnings("error", message=".*")
        assert float(silent[0]) == INF
        with pytest.raises(RuntimeWarning, match="divide by zero"):
            float(divide(x)[0])
        warnings.simplefilter("ignore", RuntimeWarning)
        assert float(divide(x)[0]) == INF
        warnings.filters[:] = [("ignore", None, DeprecationWarning, None, 0)]
        assert float(divide(x + 1)[0]) == 1
        warnings.simplefilter("error", append=True)
        with pytest.raises(RuntimeWarning, match="divide by zero"):
            divide(x)


def test_nobody_waits_when_warnings_are_only_recorded():
    """As in every test of pytest: a filter for other warnings, or none, computes nothing."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.filterwarnings("always", category=DeprecationWarning)
        before = gc.cache_info()["segments_run"]
        pending = 1 / gc.arange(20_000.0)
        assert gc.cache_info()["segments_run"] == before and not caught
        float(pending[1])
        assert [w.category for w in caught] == [RuntimeWarning]


@pytest.mark.parametrize("dtype, value", [("float32", 1e300), ("float16", 1e6), ("complex64", 1e300), ("float16", 10**6)])
def test_numbers_too_large_for_the_dtype(dtype, value):
    """NumPy converts a Python number to the array's dtype, and tells of one that has no finite value there, at the statement."""
    for statement in ("x[0] = v", "x[:2] = v", "x.fill(v)", "x[x == 1] = v", "x[[0, 2]] = v", "x + v", "x += v", "xp.where(x == 1, v, x)", "xp.full(3, v, dtype=x.dtype)"):
        told = []
        for xp in (np, gc):
            with warnings.catch_warnings(record=True) as seen:
                warnings.simplefilter("always")
                exec(statement, {"xp": xp, "x": xp.ones(3, dtype=dtype), "v": value})
            told.append({str(w.message) for w in seen})
        assert told[0] == told[1] == {"overflow encountered in cast"}, (statement, told)
        with gc.errstate(over="raise"), pytest.raises(FloatingPointError):
            exec(statement, {"xp": gc, "x": gc.ones(3, dtype=dtype), "v": value})
        with gc.errstate(over="ignore"), warnings.catch_warnings():
            warnings.simplefilter("error")
            exec(statement, {"xp": gc, "x": gc.ones(3, dtype=dtype), "v": value})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert np.asarray(gc.ones(2, dtype=dtype) + float("inf"))[0].real == np.inf


CASTS = {
    "clip": lambda xp, x: xp.clip(x, -1e300, 1e300),
    "method clip": lambda xp, x: x.clip(0, 1e300),
    "put": lambda xp, x: xp.put(x, [0], [1e300]),
    "putmask": lambda xp, x: xp.putmask(x, x == 1, 1e300),
    "full_like": lambda xp, x: xp.full_like(x, 1e300),
    "full_like of columns": lambda xp, x: xp.full_like(xp.asfortranarray(xp.ones((2, 3), "f4")), 1e300),
    "nan_to_num": lambda xp, x: xp.nan_to_num(x, nan=1e300),
    "fill_diagonal": lambda xp, x: xp.fill_diagonal(xp.reshape(x, (2, 2)), 1e300),
    "copyto": lambda xp, x: xp.copyto(x, 1e300),
    "copyto where": lambda xp, x: xp.copyto(x, 1e300, where=x == 1),
}


@pytest.mark.parametrize("name", CASTS)
def test_numbers_too_large_for_an_array_are_told(name):
    for xp in (np, gc):
        x = xp.array([1.0, 2.0, 3.0, 4.0], dtype="f4")
        with pytest.warns(RuntimeWarning, match="overflow encountered in cast"):
            y = CASTS[name](xp, x)
            gc.eval(*[v for v in (x, y) if isinstance(v, gc.Array)])


@pytest.mark.parametrize("shape, axis", [((12_000,), 0), ((12_000, 64), 0), ((12_000, 3), 0), ((3, 12_000), 1)], ids=str)
def test_running_sums_that_overflow_where_blocks_meet(shape, axis):
    """Each block of a line has a finite sum of its own."""
    x = np.zeros(shape, np.float32)
    ends = np.moveaxis(x, axis, 0)
    ends[0], ends[9_000] = 3e38, 3e38
    with pytest.warns(RuntimeWarning, match="overflow encountered in accumulate"):
        y = np.asarray(gc.cumsum(gc.asarray(x), axis=axis))
    assert np.array_equal(np.isinf(np.moveaxis(y, axis, 0)).reshape(12_000, -1).all(1), np.arange(12_000) >= 9_000)


REPEATED = {
    "divide": lambda xp, x, y: x / y,
    "chain": lambda xp, x, y: xp.log(x) + xp.sqrt(y - 1) * 2,
    "sum": lambda xp, x, y: xp.sum(x.reshape(100, -1) * y.reshape(100, -1), axis=1),
    "cumsum": lambda xp, x, y: xp.cumsum(x) - y,
    "softmax": lambda xp, x, y: xp.exp(x - xp.max(x)) / xp.sum(xp.exp(x - xp.max(x))),
    "floor_divide": lambda xp, x, y: x // y,
    "cast": lambda xp, x, y: (x / y).astype("int32"),
    "mask": lambda xp, x, y: 1 / x[y > 0.5],
    "columns": lambda xp, x, y: xp.mean(x.reshape(100, -1) / y[:100].reshape(100, 1), axis=0),
}


@pytest.mark.parametrize("traced", [False, True], ids=["eager", "jit"])
@pytest.mark.parametrize("name", REPEATED)
def test_programs_that_meet_errors_again_and_again(name, traced):
    """As NumPy each time, whatever the runs before met; results are the same, and from the third run on one program computes and tells."""
    f = REPEATED[name]
    run = gc.jit(lambda x, y: f(gc, x, y)) if traced else lambda x, y: f(gc, x, y)
    rng = np.random.default_rng(5)
    fine = rng.random((2, 20_000)) + 1.5
    zeros, infinite = fine.copy(), fine.copy()
    zeros[:, 7] = zeros[0, 77] = 0
    infinite[0, 70] = INF
    turns = [fine] * 2 + [zeros] * 4 + [infinite] * 4 + [fine] * 12 + [zeros, infinite]
    for turn, data in enumerate(turns):
        ours, theirs = [], []
        x, y = (gc.asarray(v.copy()) for v in data)
        gc.eval(x, y)
        before = gc.cache_info()["segments_run"]
        said_here = said(lambda: ours.append(run(x, y)) or ours[0])
        runs = gc.cache_info()["segments_run"] - before
        same(said_here, said(lambda: theirs.append(f(np, *data)) or theirs[0]), f"{name}, turn {turn}")
        if name not in ("cast", "floor_divide"):  # of an infinity: docs/coming-from-numpy.md
            np.testing.assert_allclose(np.asarray(ours[0]), theirs[0], rtol=1e-12)
        most = 3 if name == "softmax" and not traced else 1  # its single results are computed where they are recorded
        assert name == "mask" or turn in (2, 6, 7, 22, 23) or runs <= most, (turn, runs)


def _written(write, dtype):
    def run(xp, value):
        out = xp.zeros(3, dtype)
        write(xp, out, value)
        return out

    return run


def _cell(xp, out, value):
    out.flat[:] = xp.array([value] * 3)


CONVERSIONS = {
    "array": lambda dtype: lambda xp, value: xp.array(value, dtype),
    "array of a list": lambda dtype: lambda xp, value: xp.array([value, value], dtype),
    "array of an array": lambda dtype: lambda xp, value: xp.array(xp.array([value, value]), dtype),
    "asarray": lambda dtype: lambda xp, value: xp.asarray(xp.array([value, value]), dtype=dtype),
    "astype": lambda dtype: lambda xp, value: xp.array([value]).astype(dtype),
    "full": lambda dtype: lambda xp, value: xp.full(3, value, dtype),
    "full_like": lambda dtype: lambda xp, value: xp.full_like(xp.zeros(2, dtype), value),
    "insert": lambda dtype: lambda xp, value: xp.insert(xp.zeros(3, dtype), 1, value),
    "copyto": lambda dtype: _written(lambda xp, out, value: xp.copyto(out, value, casting="unsafe"), dtype),
    "copyto where": lambda dtype: _written(lambda xp, out, value: xp.copyto(out, value, casting="unsafe", where=[True, False, True]), dtype),
    "flat": lambda dtype: _written(_cell, dtype),
    "put": lambda dtype: _written(lambda xp, out, value: out.put([0], value), dtype),
    "element": lambda dtype: _written(lambda xp, out, value: out.__setitem__(0, value), dtype),
}
LARGE = [(70000.0, "float16"), (np.float64(1e300), "float32"), (2e300, "complex64"), (10**100, "float32"), (np.nan, "int64"), (np.float64(np.inf), "int16"), (300.0, "int8")]


@pytest.mark.parametrize("value, dtype", LARGE, ids=[f"{v!r:.8}-{d}" for v, d in LARGE])
@pytest.mark.parametrize("name", CONVERSIONS)
def test_conversions_of_what_a_dtype_does_not_hold(name, value, dtype):
    convert = CONVERSIONS[name](dtype)
    for mode in ("warn", "raise", "ignore"):
        said_by = []
        for xp in (gc, np):
            with warnings.catch_warnings(record=True) as caught, xp.errstate(all=mode):
                warnings.simplefilter("always")
                try:
                    result = np.asarray(convert(xp, value))
                    failure = None
                except (FloatingPointError, ValueError, OverflowError) as error:
                    result, failure = None, type(error).__name__ if not isinstance(error, ValueError) else "ValueError"
            said_by.append((failure, [str(w.message) for w in caught], None if result is None or np.dtype(dtype).kind == "i" else result.tolist()))
        assert said_by[0] == said_by[1], mode


def test_errstate_holds_for_what_numpy_computes():
    for mode, kind in (("raise", FloatingPointError), ("ignore", None)):
        with gc.errstate(divide=mode), warnings.catch_warnings():
            warnings.simplefilter("error")
            if kind is None:
                assert np.float64(1) / 0 == np.inf
            else:
                with pytest.raises(kind):
                    np.float64(1) / 0
    before = gc.seterr(invalid="raise")
    try:
        assert np.geterr()["invalid"] == "raise"
    finally:
        gc.seterr(**before)
    assert np.geterr()["invalid"] == "warn"


@pytest.mark.parametrize("big", [2**70, 10**50])
def test_integers_beyond_64_bits(big):
    for xp in (gc, np):
        out = xp.zeros(3)
        out[0] = big
        out[1:] = 2 * big
        assert out.tolist() == [float(big), 2.0 * big, 2.0 * big]
        assert xp.full(2, big, float).tolist() == [float(big)] * 2 and xp.full(2, big).tolist() == [big] * 2
        assert xp.clip(xp.arange(3.0), 0, big).tolist() == [0, 1, 2]
        assert xp.where(xp.arange(3) > 1, big, 0.5).tolist() == [0.5, 0.5, float(big)]
        assert (xp.arange(3.0) * big).tolist() == [0, float(big), 2.0 * big] and (xp.arange(3) < big).all()
        assert xp.array(big).item() == big and xp.full(2, 2**63).dtype == "uint64"
        with pytest.raises(OverflowError):
            xp.arange(3) * big
        with pytest.raises(OverflowError):
            xp.zeros(3, int)[0] = big


TURNS = """
import sys, warnings
import {module} as xp
import numpy
if {action!r}:
    warnings.simplefilter({action!r})
shown = []
warnings.showwarning = lambda message, category, file, line, *rest: shown.append((line, str(message)))

def turns(c, count):
    z = c
    for _ in range(count):
        z = z * z + c
    w = xp.sqrt(2 - z.real)
    return numpy.asarray(z), numpy.asarray(w)

c = xp.linspace(-2, 2, 3001)[:, None] * (1 + {factor} * xp.linspace(0, 1, 3))
for count in (1, 4, 60, 60, 60, 9):
    turns(c, count)
    print(sorted(shown))
    shown.clear()
"""


def printed(action, factor):
    for module in ("numpy", "graphc"):
        program = TURNS.format(module=module, action=action, factor=factor)
        yield subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout


@pytest.mark.parametrize("action", ["", "default", "module"])
def test_turns_of_a_loop_share_what_a_line_is_told_once(action):
    """A long loop whose values overflow says of each line what NumPy says, whether its runs are asked for the first time or again."""
    theirs, ours = printed(action, "0.5j")
    assert ours == theirs
    assert "overflow encountered in multiply" in ours and "invalid value encountered in sqrt" in ours


def test_filters_for_several_classes():
    """simplefilter() hands what issubclass() takes on, tuples too."""
    for classes, told in (((UserWarning, FutureWarning), 1), ((UserWarning, RuntimeWarning), 0)):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            warnings.simplefilter("ignore", classes)
            np.asarray(1 / gc.zeros(3))
        assert len(caught) == told


def test_every_turn_is_told_where_a_filter_shows_all():
    """ "always" counts each turn, whether the program was run before or not."""
    theirs, ours = printed("always", "0.5")
    assert ours == theirs
    assert ours.count("overflow encountered in multiply") > 100


def test_turns_that_are_asked_keep_no_values(monkeypatch):
    """What 100 turns of a loop are asked is computed beside them: a run stores what passes from one piece of the graph to the next, not every turn."""
    monkeypatch.setattr(warnings, "showwarning", lambda *_: None)
    x = gc.asarray(np.linspace(0.5, 3, 40_000))
    with warnings.catch_warnings():
        warnings.simplefilter("default")
        for _ in range(4):
            y = x
            for _ in range(100):
                y = y * y
            before = gc.cache_info()
            gc.eval(y)
            after = gc.cache_info()
    assert sum(after[k] - before[k] for k in ("allocations", "pool_hits")) <= 24


def test_a_product_that_is_computed_where_it_is_recorded_asks_once():
    """Where underflow matters as well, operations are asked as they are computed, and their conditions are not asked in turn."""
    for x in np.array([1, 6e4, -3], "f2"), np.array([1e30, 1e30], "f4"):
        for xp in np, gc:
            with xp.errstate(all="raise"):
                with pytest.raises(FloatingPointError, match="overflow encountered in dot"):
                    xp.dot(xp.array(x), xp.array(x))


SCALARS = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "floordiv": lambda a, b: a // b,
    "mod": lambda a, b: a % b,
    "neg": lambda a, b: -a,
    "abs": lambda a, b: abs(a),
    "radd": lambda a, b: 100 + a,
    "rmul": lambda a, b: 2 * a,
    "rsub": lambda a, b: 1 - b,
    "shift": lambda a, b: a << 3,
    "pow": lambda a, b: a**2,
}


def heard(call, mode):
    with np.errstate(all=mode), gc.errstate(all=mode), warnings.catch_warnings(record=True) as seen:
        warnings.simplefilter("always")
        try:
            value = int(call())
        except FloatingPointError as error:
            value = str(error)
    return value, {str(w.message) for w in seen}


@pytest.mark.parametrize("mode", ["warn", "raise", "ignore"])
@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize("name", SCALARS)
def test_single_integers_that_overflow(name, dtype, mode):
    info = np.iinfo(dtype)
    values = np.array([info.min, info.max, 0, 1, 2, 100, info.max // 2 + 1, -1 if info.min else 3], dtype)
    ours = gc.asarray(values)
    for i in range(values.size):
        for j in range(values.size):
            got = heard(lambda: SCALARS[name](ours[i], ours[j]), mode)
            want = heard(lambda: SCALARS[name](values[i], values[j]), mode)
            assert got == want, (values[i], values[j])


def test_arrays_of_one_integer_wrap_in_silence():
    for make in (lambda xp: xp.array(200, "uint8") + xp.array(100, "uint8"), lambda xp: xp.add(xp.uint8(200), xp.uint8(100))):
        assert heard(lambda: make(gc), "warn") == heard(lambda: make(np), "warn")


@pytest.mark.parametrize("operation", [lambda x: x[0] * 10, lambda x: x[1] / x[1], lambda x: x[0] / 0, lambda x: x[0] ** 3, lambda x: x[1] % 0])
def test_operators_on_single_floats_have_names_of_their_own(operation):
    ours, theirs = said(lambda: operation(gc.array([1e308, 0]))), said(lambda: operation(np.array([1e308, 0])))
    assert ours == theirs


def test_a_line_is_told_once_of_its_overflows_and_again_under_other_filters():
    def count(xp):
        seen = []
        for _ in range(2):
            with warnings.catch_warnings():
                warnings.simplefilter("default")
                warnings.showwarning = lambda *args, **_: seen.append(str(args[0]))
                s = xp.array([12345, 1])[0]
                for _ in range(20):
                    s = s * 1103515245 + 12345
        return seen

    assert count(gc) == count(np)


@pytest.mark.parametrize("way", [lambda xp: xp.divmod, lambda xp: divmod], ids=["function", "operator"])
@pytest.mark.parametrize("x,y", [([1.0, 2.0], [0.0, 1.0]), ([0.0], [0.0]), ([1, 2], [0, 1]), ([1.0], [np.nan]), ([7.0], 2), ([7.0], 0)])
def test_divmod_tells_of_an_error_once(way, x, y):
    def told(xp):
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            results = way(xp)(xp.asarray(x), y if isinstance(y, int) else xp.asarray(y))
            return [np.asarray(r).tolist() for r in results], [str(w.message) for w in caught]

    assert repr(told(gc)) == repr(told(np))
