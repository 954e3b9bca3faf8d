"""Known values are objects of NumPy's scalar types, which compiled code of others looks at: answers are those that it gives for NumPy's own."""

import array
import bisect
import datetime
import decimal
import fractions
import functools
import json
import math
import pickle
import sqlite3
import statistics
import struct
import weakref

import graphc as gc
import numpy as np
import pytest
from support import edge

pytestmark = pytest.mark.graphc_only

DTYPES = [*(t for t in edge.DTYPES if t not in ("bool", "bfloat16")), "complex64", "complex128"]


def pairs(dtype):
    """The same element of both, computed and read, the result of an operation, of a reduction, and of a loop."""
    theirs = np.arange(1, 6).astype(dtype)
    ours = gc.asarray(theirs)
    yield ours[2], theirs[2]
    yield ours[2] + ours[1], theirs[2] + theirs[1]
    yield ours.max(), theirs.max()
    yield ours.sum(), theirs.sum()
    yield list(ours)[3], list(theirs)[3]
    yield gc.max(ours * ours), np.max(theirs * theirs)


@pytest.mark.parametrize("dtype", DTYPES)
def test_class(dtype):
    for ours, theirs in pairs(dtype):
        made = type(ours)
        assert issubclass(made, type(theirs)) and issubclass(made, gc.Array) and not issubclass(made, gc.ndarray)
        assert isinstance(ours, type(theirs)) and isinstance(ours, gc.Array) and not isinstance(ours, gc.ndarray)
        assert made == type(theirs) and not made != type(theirs) and hash(made) == hash(type(theirs))
        assert made != np.str_ and made in {type(theirs): 1} and {made: 1}[type(theirs)] == 1
        assert ours.__class__ is type(theirs)
        assert repr(made) == repr(type(theirs)) and made.__name__ == type(theirs).__name__
        assert gc.is_array(ours) if hasattr(gc, "is_array") else True


@pytest.mark.parametrize("dtype", DTYPES)
def test_number_where_compiled_code_looks(dtype):
    for ours, theirs in pairs(dtype):
        assert type(ours).item is not type(theirs).item  # an object of ours, not NumPy's
        # NumPy's C reads the object's number.
        assert np.generic.item(ours) == theirs.item() and type(np.generic.item(ours)) is type(theirs.item())
        assert np.array([ours, theirs]).dtype == theirs.dtype and np.array([ours, theirs]).tolist() == [theirs.item()] * 2
        assert bytes(memoryview(theirs)) == bytes(memoryview(ours)) == theirs.tobytes() == ours.tobytes()
        assert np.dtype(type(ours)) == theirs.dtype == ours.dtype
        assert np.isscalar(ours) and gc.isscalar(ours)
        assert float.__radd__(0.5, ours) is NotImplemented or isinstance(theirs, float)
        assert hasattr(ours, "__index__") == hasattr(theirs, "__index__")
        assert hash(ours) == hash(theirs) and {theirs: 3}[ours] == 3
        assert repr(ours) == repr(theirs) and str(ours) == str(theirs) and f"{ours:6.2f}{ours}" == f"{theirs:6.2f}{theirs}"


FLOATS = [
    json.dumps,
    lambda x: json.dumps({"loss": x, "all": [x, x]}),
    decimal.Decimal,
    lambda x: datetime.timedelta(seconds=x),
    lambda x: datetime.datetime.fromtimestamp(x, datetime.timezone.utc),
    lambda x: sqlite3.connect(":memory:").execute("select ?, typeof(?)", (x, x)).fetchall(),
    float.hex,
    float.as_integer_ratio,
    float.__repr__,
    lambda x: float.__add__(x, 2.0),
    lambda x: (2.5).__mul__(x),
    lambda x: x.hex(),
    lambda x: x.is_integer(),
    fractions.Fraction,
    lambda x: struct.pack("<dd", x, x),
    lambda x: statistics.fmean([x, x]),
    lambda x: statistics.pstdev([x, 3.0]),
    lambda x: array.array("d", [x, x]).tolist(),
    lambda x: bisect.bisect([0.5, 1.5, 2.5, 9.5], x),
    lambda x: math.fsum([x, 1e-30]),
    lambda x: math.frexp(x),
    lambda x: round(x),
    lambda x: "%d %s %.2f %r" % (x, x, x, x),
    lambda x: complex(x, x),
    lambda x: functools.singledispatch(lambda v: type(v).__name__).dispatch(type(x))(x),
    lambda x: np.float64.__add__(x, 1.0),
]


@pytest.mark.parametrize("call", FLOATS)
def test_floats_in_compiled_code(call):
    for ours, theirs in pairs("float64"):
        assert call(ours) == call(theirs)


@pytest.mark.parametrize("call", [int.__add__, lambda x, y: range(9)[x], lambda x, y: [1] * x, lambda x, y: math.comb(x, 2), lambda x, y: "%x" % x, lambda x, y: x.bit_count(), lambda x, y: x.numerator], ids=str)  # fmt: skip
def test_integers_in_compiled_code(call):
    def answer(x):
        try:
            return call(x, 2)
        except (TypeError, IndexError) as e:
            return str(e)

    for ours, theirs in pairs("int64"):
        assert answer(ours) == answer(theirs)


@pytest.mark.parametrize("dtype", DTYPES[:-2])
def test_values_stay_arrays_of_graphc(dtype):
    """What is computed of them is graphc's, of NumPy's dtype."""
    ours, theirs = next(pairs(dtype))
    row, values = gc.arange(4), np.arange(4)
    for f in (
        lambda x, v: x + v,
        lambda x, v: v * x,
        lambda x, v: x**2,
        lambda x, v: -x,
        lambda x, v: 2 * x,
        lambda x, v: 0.5 * x,
        lambda x, v: x // 2,
        lambda x, v: divmod(x, 2)[1],
        lambda x, v: x.reshape(1),
        lambda x, v: x[None],
        lambda x, v: x[...],
        lambda x, v: x[()],
        lambda x, v: x.astype("f4"),
        lambda x, v: x.clip(0, 2),
        lambda x, v: round(x, 1),
        lambda x, v: np.multiply(x, v),
        lambda x, v: x.real,
        lambda x, v: x.sum(),
        lambda x, v: max([x, x + 1]),
        lambda x, v: x < v,
        lambda x, v: abs(x),
    ):
        made, wanted = f(ours, row), f(theirs, values)
        assert isinstance(made, gc.Array) and made.dtype == wanted.dtype and made.shape == wanted.shape
        assert np.array_equal(np.asarray(made), wanted)
        assert isinstance(made, gc.ndarray) == isinstance(wanted, np.ndarray)


@pytest.mark.parametrize("n", [10, 100_000])
def test_single_results_of_small_arrays_are_computed_at_once(n):
    x = gc.ones(n) * 2
    total, top = x.sum(), x.max()
    assert json.dumps([total, top, (x * 2).mean()]) == f"[{2.0 * n}, 2.0, 4.0]"
    assert "array 0: computed already, as single results" in gc.explain(total, x + 1) and "kernel" in gc.explain(total, x + 1)
    large = gc.ones(1_000_000) + x[0]
    assert gc._graphc.pending(large.sum()) and "reduce" in gc.explain(large.sum())
    assert gc._graphc.pending(x * 3) and not gc._graphc.is_value(x * 3)


def test_no_value_is_changed():
    s = t = gc.arange(4.0)[2]
    s += 1
    assert (s, t) == (3.0, 2.0) and s.item() == 3 and np.generic.item(t) == 2
    for change in (lambda: t.__setitem__((), 5.0), lambda: gc.add(1.0, 1.0, out=t), lambda: setattr(t, "name", 1)):
        with pytest.raises((TypeError, AttributeError, ValueError)):
            change()
    assert t.item() == np.generic.item(t) == 2
    with pytest.raises(TypeError, match="weak reference"):
        weakref.ref(t)
    with pytest.raises(TypeError, match="'numpy.float64' object is not iterable"):
        iter(t)
    with pytest.raises(TypeError, match="object of type 'numpy.float64' has no len"):
        len(t)


def test_types_make_numpys_numbers():
    x = gc.arange(4.0)[2]
    assert type(type(x)(3)) is np.float64 and type(x)("1e3") == 1000 and type(x).fromhex("0x1p3") == 8
    with pytest.raises(TypeError):
        type("Derived", (type(x),), {})


def test_pickles_as_before():
    x = gc.arange(4.0)[2]
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        again = pickle.loads(pickle.dumps([x, x], protocol))
        assert again[0] is again[1] and isinstance(again[0], gc.Array) and again[0] == 2 and type(again[0]) is type(x)


def test_many_values_live_and_end():
    """Objects that ended are used again, for every dtype."""
    lists = [list(gc.arange(3000).astype(t)) for t in DTYPES]
    for _ in range(3):
        for values, t in zip(lists, DTYPES, strict=True):
            assert np.array(values).tolist() == np.arange(3000).astype(t).tolist()
        lists = [[v + v for v in gc.arange(3000).astype(t)] for t in DTYPES]
        for values, t in zip(lists, DTYPES, strict=True):
            assert np.array(values).tolist() == (np.arange(3000).astype(t) * np.dtype(t).type(2)).tolist()
        lists = [list(gc.arange(3000).astype(t)) for t in DTYPES]


KEPT_TYPE = np.float64


def shown(x):
    return np.asarray(x)


@pytest.mark.parametrize("name", ["bool_", "int8", "int64", "uint16", "float16", "float32", "float64", "complex128"])
def test_scalar_types_in_variables_give_arrays_that_may_be_written(name):
    def convert(x, kind):
        y = kind(x)
        y[1:] = 0
        return y

    def convert_around(x, kind):
        return (lambda: kind(x))()

    for xp in (np, gc):
        x = xp.arange(4).astype(name)
        made = convert(x | True if name == "bool_" else x + x.dtype.type(1), getattr(xp, name))
        assert made.tolist() == [1, 0, 0, 0]
        made = convert_around(x, getattr(xp, name))
        made[0] = 1
    assert KEPT_TYPE(gc.arange(3.0)).flags.writeable
    assert not shown(gc.arange(3.0) + 1).flags.writeable  # which has no such type: the memory of an array that nobody may write to so


def test_variables_that_were_looked_at_are_let_go_of():
    """Whether one of them is a scalar type is asked of the frame, whose variables the program sees as before."""

    def program(kind):
        x = gc.arange(6.0) + 0
        seen = locals()
        kind(x)
        held = weakref.ref(x)
        assert "x" in seen and "kind" in seen
        del seen, x
        return held

    def other(kind):
        x = gc.arange(6.0) + 0
        kind(x)
        held, y = weakref.ref(x), x
        del x
        assert held() is y
        del y
        return held()

    program(np.float64)
    assert other(np.float64) is None
