"""Strings, objects, dates, structures: what graphc does not compute stays NumPy's, and functions given it answer as NumPy's do."""

import array
import datetime
import fractions
import inspect
import io
import operator
import pickle
import sys
from decimal import Decimal

import graphc as gc
import numpy as np
import pytest

pytestmark = pytest.mark.graphc_only

LABELS = np.array(["cat", "dog", "cat", "owl"])


def same(ours, theirs):
    """Equal values, dtypes and shapes; numeric arrays are ours, all others NumPy's."""
    if isinstance(theirs, (tuple, list)):
        assert type(ours) is type(theirs) and len(ours) == len(theirs)
        for a, b in zip(ours, theirs):
            same(a, b)
        return
    if isinstance(theirs, (np.ndarray, np.generic)):
        numeric = theirs.dtype.kind in "biufc" and theirs.dtype.name in gc._dtypes._NAMES
        assert (isinstance(ours, gc.Array)) == numeric, type(ours)
        assert ours.dtype == theirs.dtype and ours.shape == theirs.shape
        np.testing.assert_array_equal(np.asarray(ours), theirs)
        return
    assert type(ours) is type(theirs) and ours == theirs


CREATED = {
    "strings": lambda xp: xp.array(["a", "bc"]),
    "bytes": lambda xp: xp.asarray([b"a", b"bc"]),
    "decimals": lambda xp: xp.array([Decimal(1), Decimal("2.5")]),
    "fractions": lambda xp: xp.array([fractions.Fraction(1, 3), 2]),
    "none": lambda xp: xp.asarray([None, 1]),
    "only none": lambda xp: xp.asarray(None),
    "large integers": lambda xp: xp.array([2**70, 1]),
    "zeros of objects": lambda xp: xp.zeros(3, dtype=object),
    "empty of strings": lambda xp: xp.equal(xp.empty((2, 2), "U5"), ""),
    "full of strings": lambda xp: xp.full(3, "ab"),
    "full of objects": lambda xp: xp.full((2,), None),
    "ones of objects": lambda xp: xp.ones(2, "O"),
    "structured": lambda xp: xp.array([(1, 2.0), (3, 4.0)], dtype=[("a", int), ("b", float)]),
    "dates": lambda xp: xp.arange("2020-01", "2020-05", dtype="datetime64[M]"),
    "durations": lambda xp: xp.array([1, 2], "timedelta64[s]"),
    "python dates": lambda xp: xp.array([datetime.date(2020, 1, 2)]),
    "long double": lambda xp: xp.linspace(0, 1, 3, dtype=xp.longdouble),
    "like": lambda xp: xp.zeros_like(LABELS),
    "like another": lambda xp: xp.full_like(xp.arange(3), "x", dtype="U1"),
    "ndarray": lambda xp: xp.ndarray((2,), dtype="S3").shape,
    "from text": lambda xp: xp.loadtxt(io.StringIO("a 1\nb 2"), dtype=str),
    "from text with names": lambda xp: xp.genfromtxt(io.StringIO("a,1\nb,2"), delimiter=",", dtype=None, encoding="utf-8"),
    "numbers from text": lambda xp: xp.genfromtxt(io.StringIO("1,2\n3,4"), delimiter=",", dtype=None),
    "by iteration": lambda xp: xp.fromiter("abc", "U1"),
    "strings as numbers": lambda xp: xp.array(["1", "2.5"], dtype=float),
    "decimals as numbers": lambda xp: xp.asarray([Decimal(1), Decimal("2.5")], float),
}


@pytest.mark.parametrize("name", CREATED)
def test_arrays_of_other_dtypes_are_numpys(name):
    same(CREATED[name](gc), CREATED[name](np))


X = np.array([3.0, 1.0, 2.0, 5.0])
FUNCTIONS = {
    "unique": lambda xp, x: xp.unique(LABELS),
    "unique with counts": lambda xp, x: tuple(xp.unique(LABELS, return_counts=True, return_inverse=True)),
    "where of strings": lambda xp, x: xp.where(x > 2, "high", "low"),
    "where of strings and labels": lambda xp, x: xp.where(x > 2, LABELS, "none"),
    "mask of labels": lambda xp, x: x[LABELS == "cat"],
    "labels by a mask": lambda xp, x: LABELS[x > 1],
    "labels by an order": lambda xp, x: LABELS[xp.argsort(x)],
    "choose by labels": lambda xp, x: xp.select([LABELS == "cat", LABELS == "dog"], [x, -x], 0.0),
    "select labels": lambda xp, x: xp.select([x > 2, x > 1], ["a", "b"], "c"),
    "sort": lambda xp, x: xp.sort(LABELS),
    "argsort": lambda xp, x: xp.argsort(LABELS, kind="stable"),
    "searchsorted": lambda xp, x: xp.searchsorted(["a", "c", "e"], LABELS),
    "isin": lambda xp, x: xp.isin(LABELS, ["cat", "cow"]),
    "concatenate": lambda xp, x: xp.concatenate([LABELS, ["x"]]),
    "numbers and strings": lambda xp, x: xp.concatenate([x, LABELS]),
    "stack": lambda xp, x: xp.stack([LABELS, LABELS], axis=1),
    "repeat": lambda xp, x: xp.repeat(LABELS, xp.asarray([1, 0, 2, 1])),
    "take": lambda xp, x: xp.take(LABELS, xp.asarray([0, 3])),
    "reshape": lambda xp, x: xp.reshape(LABELS, (2, 2)),
    "transpose": lambda xp, x: xp.transpose(xp.reshape(LABELS, (2, 2))),
    "array_equal": lambda xp, x: xp.array_equal(LABELS, LABELS.copy()),
    "equal": lambda xp, x: xp.equal(LABELS, "cat"),
    "count_nonzero": lambda xp, x: xp.count_nonzero(LABELS == "cat"),
    "sum of decimals": lambda xp, x: xp.sum([Decimal(1), Decimal(2)]),
    "mean of fractions": lambda xp, x: xp.mean(np.array([fractions.Fraction(1, 2), fractions.Fraction(1, 3)])),
    "add of decimals": lambda xp, x: xp.add([Decimal(1)], [Decimal(2)]),
    "reduce": lambda xp, x: xp.add.reduce(np.array(["a", "b"], object)),
    "accumulate": lambda xp, x: xp.add.accumulate(np.array([Decimal(1), Decimal(2)])),
    "outer": lambda xp, x: xp.multiply.outer(np.array([Decimal(2)]), [Decimal(3), Decimal(4)]),
    "max of dates": lambda xp, x: xp.max(np.array(["2020-01-01", "2021-01-01"], "M8[D]")),
    "differences of dates": lambda xp, x: xp.diff(np.array(["2020-01-01", "2021-01-01"], "M8[D]")),
    "isnat": lambda xp, x: xp.isnat(np.array(["NaT", "2020-01-01"], "M8[D]")),
    "weekdays": lambda xp, x: xp.busday_count(np.array(["2020-01-01"], "M8[D]"), np.datetime64("2020-02-01")),
    "dot of objects": lambda xp, x: xp.dot(np.array([Decimal(2), Decimal(3)]), [Decimal(1), Decimal(1)]),
    "labels as numbers": lambda xp, x: xp.asarray(np.array(["1", "2"]), float),
    "vectorize to strings": lambda xp, x: xp.vectorize(lambda v: "a" if v > 2 else "bb")(x),
    "vectorize of strings": lambda xp, x: xp.vectorize(len)(LABELS),
    "ufunc with a mask": lambda xp, x: xp.maximum([Decimal(1), Decimal(5)], Decimal(3)),
    "percent of long doubles": lambda xp, x: xp.sum(x, dtype=xp.longdouble),
    "apply_along_axis": lambda xp, x: xp.apply_along_axis(lambda row: "ab"[int(row[0]) % 2], 0, x),
    "can_cast": lambda xp, x: xp.can_cast("i4", "U20"),
    "result_type": lambda xp, x: xp.result_type("U3", "U5") == np.dtype("U5"),
    "lexsort": lambda xp, x: xp.lexsort((LABELS, x)),
    "split": lambda xp, x: xp.split(LABELS, 2),
    "histogram of field": lambda xp, x: xp.sum(CREATED["structured"](xp)["b"]),
    "char": lambda xp, x: np.asarray(xp.char.upper(LABELS)),
    "strings": lambda xp, x: xp.sum(xp.strings.str_len(LABELS)),
    "masked arrays": lambda xp, x: float(xp.ma.masked_array(x, [1, 0, 0, 0]).mean()),
    "sum of a masked array": lambda xp, x: float(xp.sum(np.ma.masked_array(X, [1, 0, 0, 0]))),
    "asarray of a matrix": lambda xp, x: xp.asarray(np.matrix([[1, 2]])),
    "polynomials": lambda xp, x: xp.asarray(xp.polynomial.Polynomial([1.0, 2.0])(x)),
}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_answer_as_numpys(name):
    same(FUNCTIONS[name](gc, gc.asarray(X)), FUNCTIONS[name](np, X))


OPERATORS = {
    "equal to a string": lambda x: x == "cat",
    "not equal to a string": lambda x: x != "cat",
    "equal to None": lambda x: x == None,  # noqa: E711
    "equal to labels": lambda x: x == LABELS,
    "a decimal's product": lambda x: x.astype(int) * Decimal("0.5"),
    "a product by a fraction": lambda x: x.astype(int) * fractions.Fraction(1, 3),
    "from the left": lambda x: Decimal("0.5") * x.astype(int),
    "sum with objects": lambda x: x + np.array([1, 2, 3, 4], object),
    "durations": lambda x: np.datetime64("2020-01-01") + x.astype("m8[D]"),
    "contains": lambda x: ["cat" in x, 3.0 in x, None in x],
    "astype": lambda x: x.astype(str),
    "astype of objects": lambda x: x.astype(object),
    "view": lambda x: x.view("V8").dtype == np.dtype("V8"),
    "tolist": lambda x: x.astype("S").tolist(),
    "sum": lambda x: x.sum(dtype=object),
}


@pytest.mark.parametrize("name", OPERATORS)
def test_operators_and_methods_answer_as_numpys(name):
    same(OPERATORS[name](gc.asarray(X)), OPERATORS[name](X.copy()))


def test_single_results_leave_other_objects_their_operators():
    assert gc.asarray([2, 4])[0] * fractions.Fraction(1, 2) == np.int64(2) * fractions.Fraction(1, 2)
    assert (gc.asarray([2])[0] == "cat") is False or not gc.asarray([2])[0] == "cat"


@pytest.mark.parametrize("value", [None, "3.5", Decimal("3.5"), np.str_("3.5"), fractions.Fraction(7, 2)])
def test_assigned_objects_are_converted_as_numpys(value):
    x, g = X.copy(), gc.asarray(X)
    x[1] = value
    g[1] = value
    x[2:] = value
    g[2:] = value
    same(g, x)


@pytest.mark.parametrize("value", ["a", object(), ["1", "b"]])
def test_what_has_no_number_is_refused_as_by_numpy(value):
    x, g = X.copy(), gc.asarray(X)
    with pytest.raises((TypeError, ValueError)) as theirs:
        x[:2] = value
    with pytest.raises(theirs.type):
        g[:2] = value
    same(g, X)


@pytest.mark.parametrize("call", [lambda xp, x: xp.add(x, None), lambda xp, x: x + "a", lambda xp, x: xp.sin("a"), lambda xp, x: xp.mean(LABELS),
                                  lambda xp, x: x @ LABELS, lambda xp, x: xp.fft.fft(LABELS), lambda xp, x: xp.linalg.det(LABELS)])  # fmt: skip
def test_what_numpy_refuses_is_refused(call):
    with pytest.raises(Exception) as theirs:  # noqa: PT011
        call(np, X)
    with pytest.raises(theirs.type.__mro__[-4] if issubclass(theirs.type, TypeError) else theirs.type):
        call(gc, gc.asarray(X))


def test_updates_in_place_reach_our_arrays_or_are_refused():
    x, g = X.copy(), gc.asarray(X)
    np.put(x, [0, 2], np.array([Decimal(7)] * 2))
    gc.put(g, [0, 2], np.array([Decimal(7)] * 2))
    same(g, x)
    np.copyto(x, np.array(list("1234")), casting="unsafe")
    gc.copyto(g, np.array(list("1234")), casting="unsafe")
    same(g, x)
    out, ours = np.zeros(4, bool), gc.zeros(4, bool)
    view = ours[:2]
    np.equal(LABELS, "cat", out=out)
    assert gc.equal(LABELS, "cat", out=ours) is ours
    same(ours, out)
    same(view, out[:2])
    with pytest.raises(TypeError):
        g += np.array(list("abcd"))
    with pytest.raises(TypeError):
        g += Decimal(1)
    same(g, x)


def test_classes_that_define_numpys_functions_are_asked():
    class Own:
        def __array__(self, dtype=None, copy=None):
            return np.ones(3)

        def __array_function__(self, function, types, args, kwargs):
            return function.__name__, [type(a) for a in args]

        def __array_ufunc__(self, ufunc, method, *inputs, **kwargs):
            return ufunc.__name__, method, [type(i) for i in inputs]

    own, x = Own(), gc.arange(3.0)
    assert gc.sum(own) == ("sum", [Own])
    assert gc.add(x, own) == ("add", "__call__", [gc.ndarray, Own]) == np.add(x, own)
    assert gc.add(own, x)[2] == [Own, gc.ndarray] and gc.sin(own)[0] == "sin"
    assert gc.dot(x, own) == ("dot", [gc.ndarray, Own]) == np.dot(x, own)
    assert x + own == ("add", "__call__", [gc.ndarray, Own]) and (x < own)[0] == "less"
    same(gc.asarray(own), np.ones(3))


def test_classes_that_refuse_ufuncs_are_left_alone():
    class Closed:
        __array_ufunc__ = None

        def __radd__(self, other):
            return "radd", type(other)

        def __eq__(self, other):
            return "eq"

    assert gc.arange(3) + Closed() == ("radd", gc.ndarray)
    assert (gc.arange(3) == Closed()) == "eq"


def test_jit_refuses_at_the_line():
    @gc.jit(fullgraph=True)
    def f(x):
        return gc.where(x > 1, "a", "b")

    with pytest.raises(gc.TraceError, match=rf"{__file__}:{inspect.getsourcelines(f.__wrapped__)[1] + 2}"):
        f(gc.arange(3.0))


def test_functions_are_known_by_name_and_signature():
    assert pickle.loads(pickle.dumps(gc.mean)) is gc.mean and pickle.loads(pickle.dumps(gc.linalg.norm)) is gc.linalg.norm
    assert list(inspect.signature(gc.mean).parameters) == ["a", "axis", "dtype", "out", "keepdims", "where"]
    assert gc.mean.__name__ == "mean" and "mean" in gc.mean.__doc__ and gc.mean.__module__ == "graphc"
    assert gc.arange(4.0).cumsum().tolist() == [0, 1, 3, 6]


def test_numbers_never_take_this_way(monkeypatch):
    monkeypatch.setattr(gc._foreign, "plan", None)  # what a call handed over would come to
    x = gc.arange(4.0)
    assert float(gc.sum(gc.add(x, [1, 2, 3, 4]) * np.ones(4))) == 16 and (x == x).all() and float(gc.linalg.norm(x)) > 3
    assert gc.sin(range(2000)).tolist() == gc.sin(list(range(2000))).tolist()
    assert (x + range(4)).tolist() == (array.array("d", [0, 1, 2, 3]) + x).tolist() == (x * memoryview(np.full(4, 2.0))).tolist() == [0, 2, 4, 6]
    y = x
    y += range(4)
    assert y is x and x.tolist() == [0, 2, 4, 6] and gc.where(x > 2, range(4), x).tolist() == [0, 2, 2, 3]


def test_results_are_on_the_device_of_the_operands(device):
    x = gc.arange(3, device=device)
    found = x != None  # noqa: E711
    assert found.device == device and x[found].tolist() == [0, 1, 2]
    assert gc.lexsort((x, np.array(["b", "a", "a"]))).device == device and (x + range(3)).device == device
    x.put([0], [Decimal(7)])
    assert x.device == device and x.tolist() == [7, 1, 2]


def test_outputs_by_place_and_by_name():
    long = np.array([1, 2, 3], np.longdouble)
    for write, want in [
        (lambda out: gc.cumsum(long, None, None, out), [1, 3, 6]),
        (lambda out: gc.clip(long, 0, 2, out), [1, 2, 2]),
        (lambda out: gc.take(long, [2, 1, 0], None, out), [3, 2, 1]),
        (lambda out: gc.round(long, out=out), [1, 2, 3]),
    ]:
        out = gc.zeros(3)
        assert write(out) is out and out.tolist() == want
    x = gc.zeros(3)
    gc.copyto(src=np.array(["1", "2", "3"], object), dst=x, casting="unsafe")
    assert x.tolist() == [1, 2, 3]
    gc.place(arr=x, mask=[True, False, True], vals=[Decimal(9)])
    assert x.tolist() == [9, 2, 9]
    gc.random.Generator(gc.random.PCG64(0)).shuffle(x=x)
    assert sorted(x.tolist()) == [2, 9, 9]


def test_warnings_and_errors_of_numpys_functions_name_this_file():
    objects = gc.array([1, None, "a"], dtype=object)
    with pytest.warns(RuntimeWarning) as caught:
        gc.log(gc.array([-1], dtype="longdouble"))
        gc.nanmean(gc.array([np.nan], dtype="longdouble"))
        gc.zeros(1) / gc.array([0], dtype="longdouble")
    assert len(caught) == 3
    assert {w.filename for w in caught} == {__file__}
    for call in (lambda: gc.sort(objects), lambda: objects.sort(), lambda: gc.add(objects, gc.ones(3)), lambda: gc.ones(3) + objects):
        with pytest.raises(TypeError) as refused:
            call()
        assert not [frame for frame in refused.traceback if frame.path.name == "_foreign.py"]


class Column:
    """An array of another package (as those of pandas): leaves ufuncs to classes that have their own, and has methods."""

    def __init__(self, values):
        self.values = np.asarray(values)

    def __array__(self, dtype=None, copy=None):
        return self.values

    def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
        if any(hasattr(type(x), "__array_ufunc__") and not isinstance(x, (Column, np.ndarray)) for x in inputs):
            return NotImplemented
        return Column(getattr(ufunc, method)(*[x.values if isinstance(x, Column) else x for x in inputs]))

    def clip(self, *limits, **_):
        return Column(self.values.clip(*limits))

    def sum(self, **_):
        return "its sum"

    def argsort(self, *_, **__):
        return Column(self.values.argsort())


COLUMNS = {
    "maximum": lambda xp, c: xp.maximum(xp.arange(3.0), c),
    "sum of both": lambda xp, c: xp.arange(3.0) + c,
    "sum with a number": lambda xp, c: xp.arange(3.0)[1] + c,
    "in place": lambda xp, c: operator.iadd(xp.arange(3.0), c),
    "where": lambda xp, c: xp.where(c, xp.arange(3), 0),
    "where of its values": lambda xp, c: xp.where(xp.arange(3) > 1, c, xp.arange(3)),
    "clip": lambda xp, c: xp.clip(c, 1, 3),
    "sum": lambda xp, c: xp.sum(c),
    "argsort": lambda xp, c: xp.argsort(c),
    "cumsum": lambda xp, c: xp.cumsum(c),
    "median": lambda xp, c: xp.median(c),
}


@pytest.mark.parametrize("name", COLUMNS)
def test_arrays_of_other_packages(name):
    got, want = (COLUMNS[name](xp, Column([3.0, 0.0, 5.0])) for xp in (gc, np))
    assert isinstance(got, Column) == isinstance(want, Column)
    if isinstance(want, str):
        assert got == want
    else:
        np.testing.assert_array_equal(np.asarray(got), np.asarray(want))


def test_what_gives_an_array_of_ours():
    class Quantity(Column):
        def __array__(self, dtype=None, copy=None):
            return gc.asarray(self.values)

        def __array_function__(self, *_):
            return NotImplemented

    assert gc.asarray(Quantity([1, 2])).tolist() == gc.array(Quantity([1, 2])).tolist() == [1, 2]
    assert gc.asarray(Quantity([1, 2]), float).dtype == float


def test_methods_are_called_as_numpys():
    x, g = np.ones(2), gc.ones(2)
    for name in dir(x):
        ours = getattr(gc.Array, name, None)
        if not name.startswith("_") and callable(ours):
            assert getattr(g, name).__name__ == getattr(x, name).__name__, name


def test_a_column_is_a_constant_in_jit():
    f = gc.jit(lambda x: x * gc.sum(Column([1.0, 2.0])), fullgraph=True)
    assert f(gc.ones(2)).tolist() == [3.0, 3.0]


def test_structures_are_sorted_by_fields():
    def program(xp):
        rows = xp.array([("ann", 31, 8.5), ("bob", 25, 9.25), ("cid", 42, 7.0), ("dee", 25, 6.5)], dtype=[("name", "U5"), ("age", "i4"), ("score", "f8")])
        return xp.sort(rows, order=["age", "score"]).tolist(), xp.argsort(rows, order="score").tolist(), xp.sort(xp.array(["b", "a"]), kind="stable").tolist()

    assert program(gc) == program(np)
    with pytest.raises(ValueError, match="Cannot specify order when the array has no fields"):
        gc.sort(gc.ones(3), order="x")


def test_functions_as_ufuncs_have_objects_as_results():
    def program(xp):
        f = xp.frompyfunc(lambda a, b: a * 10 + b, 2, 1)
        pair = xp.frompyfunc(divmod, 2, 2)(xp.arange(5), 3)
        found = [f(xp.arange(3), 2), f(xp.arange(3.0), [[1], [2]]), f.accumulate([1, 2, 3]), f.outer([1, 2], xp.array([3, 4])), *pair]
        return [(str(x.dtype), x.tolist()) for x in found], f.reduce(xp.arange(1, 5)), f(2, 3), xp.sum(f(xp.ones(2), 1).astype(float)).item(), isinstance(f, np.ufunc)

    assert program(gc) == program(np)


def test_memory_maps(tmp_path):
    def program(xp):
        path = tmp_path / f"{xp.__name__}.dat"
        written = xp.memmap(path, dtype="f4", mode="w+", shape=(4, 5))
        written[:] = xp.arange(20.0).reshape(4, 5)
        written[1] *= 2
        written.flush()
        read = xp.memmap(path, dtype="f4", mode="r", shape=(4, 5))
        return type(read[1:]).__name__, xp.asarray(read + 1).tolist(), xp.mean(read).item(), xp.dot(read[0], xp.ones(5, "f4")).item()

    assert program(gc) == program(np)


def test_views_as_structures_share_memory():
    def program(xp):
        rows = xp.array([[3.0, 1.0], [1.0, 2.0], [2.0, 0.0], [1.0, 1.0]])
        records = rows.view("f8,f8")
        records.sort(order=["f0", "f1"], axis=0)
        sorted_rows = rows.tolist()
        records["f1"][:, 0] += 10
        rows[0] = -1
        dates = xp.arange(4).view("M8[D]")
        letters = (xp.zeros(8, dtype="u1") + 97)[1:7].view("S3")
        return sorted_rows, rows.tolist(), records["f0"].tolist(), dates.astype(str).tolist(), letters.tolist(), xp.unique(rows.view("V16").ravel()).size

    assert program(gc) == program(np)


def test_signatures_and_windows_of_what_numpy_computes():
    def program(xp):
        days = xp.array(["2024-01-01", "2024-01-03"], dtype="datetime64[ns]")
        found = xp.vectorize(lambda d: d[::-1], signature="(i)->(i)", otypes=["datetime64[ns]"])(days), xp.hanning(np.longdouble(4)), xp.kaiser(4, 2.0)
        return [(str(f.dtype), f.astype(str).tolist() if f.dtype.kind == "M" else f.astype(float).round(12).tolist()) for f in found]

    assert program(gc) == program(np)


def test_dtypes_of_other_packages():
    """NumPy's arrays, as all that graphc does not compute."""
    ml_dtypes = pytest.importorskip("ml_dtypes")
    for make in (lambda xp: xp.array([1, 2], dtype=ml_dtypes.int4), lambda xp: xp.zeros(3, ml_dtypes.int4), lambda xp: xp.ones((2, 2), ml_dtypes.uint4).sum()):
        ours, theirs = make(gc), make(np)
        assert type(ours) is type(theirs) and np.array_equal(ours, theirs)
    assert (gc.arange(2.0) + np.ones(2, ml_dtypes.int4)).tolist() == [1, 2]


RECORDS = np.array([("2024-01-05", 3.0, "b"), ("2024-01-01", 1.0, "a"), ("2024-01-03", 1.0, "c")], [("day", "M8[D]"), ("price", "f8"), ("name", "U3")])
ROWS = np.array([[1, 0, 2], [0, 1, 0], [1, 0, 2]]).view("V24")
AT_ONCE = {
    "structures": lambda xp: xp.zeros(4, RECORDS.dtype), "other order": lambda xp: xp.arange(4, dtype=">u2"), "letters": lambda xp: xp.empty((0, 3), dtype="<U1"),
    "no text": lambda xp: xp.zeros((3, 3), dtype=str), "nothing": lambda xp: xp.array([None] * 4),
    "dtype by name": lambda xp: xp.array([1, 2], dtype="U4"),
    "sorted by fields": lambda xp: xp.sort(RECORDS, order=["price", "name"]), "days": lambda xp: xp.datetime64("2024-01-01") + xp.arange(5),
    "durations": lambda xp: xp.multiply(xp.arange(3), xp.timedelta64(2, "h")), "business": lambda xp: xp.busday_count("2024-01-01", "2024-03-01"),
    "choices": lambda xp: xp.select([xp.arange(3) == 0, xp.arange(3) == 1], ["a", "b"], "c"),
    "rows of bytes": lambda xp: xp.unique(ROWS), "views of rows": lambda xp: xp.arange(6).view([("x", "i8"), ("y", "i8")]),
    "choices of days": lambda xp: xp.select([xp.arange(3) == 0], [RECORDS["day"]], xp.datetime64("NaT")),
}  # fmt: skip


@pytest.mark.parametrize("name", AT_ONCE)
def test_what_only_numpy_has_a_dtype_for_is_asked_at_once(name):
    """Nothing of ours is tried first, which would fail after some twenty calls."""
    program, calls = AT_ONCE[name], []
    found, wanted = program(gc), program(np)
    sys.setprofile(lambda *call: calls.append(call[1]))
    try:
        program(gc)
    finally:
        sys.setprofile(None)
    theirs = calls.copy()
    calls.clear()
    sys.setprofile(lambda *call: calls.append(call[1]))
    try:
        program(np)
    finally:
        sys.setprofile(None)
    assert type(found) is type(wanted) and repr(found) == repr(wanted)
    assert len(theirs) < len(calls) + 55


def test_text_and_dtypes_of_text_by_place_are_numpys():
    words, places = np.array(["b", "a", "cc"]), gc.asarray([2, 0])
    for made, expected in ((gc.zeros(2, "U3"), np.zeros(2, "U3")), (gc.ones(2, "S2"), np.ones(2, "S2")), (gc.empty(0, "M8[D]"), np.empty(0, "M8[D]")),
                           (gc.concatenate([words, words]), np.concatenate([words, words])), (gc.stack((words, words)), np.stack((words, words))),
                           (gc.take(words, places), words[[2, 0]]), (gc.asarray([1, 25]).astype(str), np.array([1, 25]).astype(str)),
                           (gc.asarray([1.5, 2]).astype("S5"), np.array([1.5, 2]).astype("S5")), (gc.arange(3)[::-1].astype("U"), np.arange(3)[::-1].astype("U")),
                           (gc.arange(2).astype("m8[s]"), np.arange(2).astype("m8[s]")), (gc.arange(2).astype(object), np.arange(2).astype(object)),
                           (gc.asarray([True, False]).astype(bytes), np.array([True, False]).astype(bytes))):  # fmt: skip
        assert type(made) is np.ndarray and made.dtype == expected.dtype
        np.testing.assert_array_equal(made, expected)
    # Arrays of numbers are ours, whatever stands beside them.
    assert isinstance(np.array([1.0, 2.0]) * gc.arange(2.0), gc.Array) and isinstance(gc.concatenate([np.arange(2), gc.arange(2)]), gc.Array)


@pytest.mark.parametrize("name", ["zeros", "ones", "empty"])
@pytest.mark.parametrize("dtype", ["O", object, "object", "U3", "<U3", str, "S2", "M8[s]", "<M8[D]", np.dtype("O"), [("a", int)], ">f8"])
def test_arrays_of_others_dtypes_are_made_by_numpy(name, dtype):
    for arguments, keywords in (((3, dtype), {}), (((2, 1), dtype), {}), ((3,), {"dtype": dtype}), ((), {"shape": 2, "dtype": dtype})):
        if name == "ones" and np.dtype(dtype).kind in "MV":
            continue
        got, want = getattr(gc, name)(*arguments, **keywords), getattr(np, name)(*arguments, **keywords)
        assert type(got) is np.ndarray and got.dtype == want.dtype and got.shape == want.shape
        assert name == "empty" or got.tolist() == want.tolist()
    with pytest.raises(ValueError):
        getattr(gc, name)(-1, dtype)


@pytest.mark.parametrize("dtype", ["U3", "S2", "O", object, "M8[s]", np.dtype("U3"), [("a", int)]], ids=str)
def test_new_arrays_of_a_shape(dtype):
    for name in ("zeros", "empty", "ones"):
        for shape in (3, (2, 2), (0,), ()):
            if name == "ones" and not (dtype is object or dtype == "O"):
                continue
            got, want = getattr(gc, name)(shape, dtype=dtype), getattr(np, name)(shape, dtype=dtype)
            assert type(got) is type(want) and got.dtype == want.dtype and got.shape == want.shape
            if name != "empty":
                np.testing.assert_array_equal(got, want)
    assert type(gc.zeros(2, dtype)) is np.ndarray and gc.array((1, 2), object).tolist() == [1, 2]


def test_sequences_of_text_alone_are_numpys_arrays():
    texts = ["['a', 'bc']", "('x',)", "['1', '2'], dtype=float", "['2020-01-01', 'NaT'], 'M8[D]'", "['a'], object", "['a'], 'S3'", "['a'], dtype=str", "['x'], order='F'", "['a'], ndmin=2", "['a', 1]",
             "[None, None]", "['a', None]", "[None, 1.5]", "[[None] * 2] * 3", "[None, 2], dtype=float", "[None], object", "[None, 'a'], dtype=str", "[1, 25], dtype=str", "[[1, None]], '<U4'", "[]", "[[]]"]  # fmt: skip
    for call in [f"{f}({t})" for f in ("array", "asarray", "asanyarray") for t in texts if not (f != "array" and "ndmin" in t)]:
        got, want = (eval(f"xp.{call}", {"xp": xp}) for xp in (gc, np))
        assert got.dtype == want.dtype and got.tolist() == want.tolist() or str(got) == str(want), call
    for call, kind in (("['a'], float", ValueError), ("['a'], 'M8[D]'", ValueError), ("['\\xe9'], 'S2'", UnicodeEncodeError), ("['a'], dtype='foo'", TypeError), ("['a'], copy=False", ValueError)):
        with pytest.raises(kind):
            eval(f"xp.array({call})", {"xp": gc})
