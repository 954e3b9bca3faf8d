"""What NumPy's own suites look at: the errors, warnings and arguments of single functions, under NumPy and under graphc."""

import array
import collections.abc
import ctypes
import importlib
import math
import operator
import pickle
import statistics
import warnings
from datetime import timedelta
from decimal import Decimal
from fractions import Fraction

import graphc as gc
import numpy as np
import pytest

pytestmark = pytest.mark.graphc_only


class Like:
    """Gives an array, and is none."""

    def __array__(self, dtype=None, copy=None):
        return np.array([1, 2])


class Maker:
    """Makes an array of the package that it was written for."""

    def __init__(self, xp):
        self.xp = xp

    def __array__(self, dtype=None, copy=None):
        return self.xp.arange(3)


def squares(xp, x):
    with xp.nditer([x, None]) as it:
        for a, b in it:
            b[...] = a * a
        return it.operands[1]


class Prior:
    """Asked before arrays are."""

    @property
    def __array_priority__(self):
        return 100

    def __rmul__(self, other):
        return "mine"


def outcome(call, xp):
    """The value or the class of the error, and the warnings, of a call."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            found = call(xp)
            found = np.asarray(found).tolist() if isinstance(found, (gc.Array, np.ndarray, np.generic)) else found
        except Exception as error:  # noqa: BLE001
            found = next(c for c in type(error).__mro__ if c.__module__ != "graphc.errors")
    return found, [(w.category, str(w.message)) for w in told]


def updated(xp, x, update):
    update(x)
    return x


BIG = 2**200
CASES = {
    # conversions that lose something
    "complex to real by astype": lambda xp: xp.array([1j, 2]).astype(float),
    "complex to real in a dtype": lambda xp: xp.asarray(xp.array([1j, 2]), "f4"),
    "complex to bool": lambda xp: xp.array([1j, 0]).astype(bool),
    "complex into a real array": lambda xp: updated(xp, xp.zeros((2, 3)), lambda x: x.__setitem__([0, 1], xp.array([1j, 2, 3]))),
    "complex into a row": lambda xp: updated(xp, xp.zeros((2, 3)), lambda x: x.__setitem__(0, xp.array([1j, 2, 3]))),
    "linspace too large": lambda xp: xp.linspace(0, 1e39, 3, dtype="f4"),
    "concatenate too large": lambda xp: xp.concatenate([xp.array([1e39])], dtype="f4", casting="unsafe"),
    "reduceat too large": lambda xp: xp.add.reduceat(xp.array([3e38, 3e38], "f4"), [0]),
    "a NumPy number over zeros": lambda xp: np.float64(1) / xp.zeros(2),
    # arguments
    "can_cast of an array": lambda xp: xp.can_cast(np.array([1.1, 2.2]), "i8", casting="same_kind"),
    "correlate by number": lambda xp: xp.correlate(np.arange(4.0), np.ones(2), mode=2),
    "convolve by number": lambda xp: xp.convolve(np.arange(4.0), np.ones(2), mode=0),
    "isclose of no tolerance": lambda xp: xp.isclose(np.array([1.0]), np.array([2.0]), rtol=np.nan),
    "astype of a list": lambda xp: xp.astype([1, 2], float),
    "require what is not": lambda xp: xp.require([1], requirements=["Q"]),
    "bins below one": lambda xp: xp.histogramdd(np.arange(8).reshape(2, 4), bins=[1, 0.99, 1, 1]),
    "einsum by no rule": lambda xp: xp.einsum("ij->ij", np.ones((2, 2)), casting="bad"),
    "iterators of a broadcast": lambda xp: [len(i) for i in xp.broadcast(np.arange(3), 2).iters],
    "too many to broadcast": lambda xp: xp.broadcast(*[1] * 65),
    "cross of a number": lambda xp: xp.cross(0, np.zeros(3)),
    "item by a tuple": lambda xp: xp.arange(6.0).reshape(2, 3).item((1, xp.asarray(2))),
    "item by a number": lambda xp: xp.arange(6.0).reshape(2, 3).item(4),
    "transpose by an array": lambda xp: xp.zeros((2, 3, 4)).transpose(xp.asarray([2, 0, 1])).shape,
    "reshape by an array": lambda xp: xp.zeros((2, 3)).reshape(xp.asarray([3, 2])).shape,
    "zeros by an array": lambda xp: xp.zeros(xp.arange(2, 4)).shape,
    "select of names": lambda xp: xp.select([[True, False]], [["f4", "i8"]], "c8").tolist(),
    # indices
    "an array-like as an index": lambda xp: xp.arange(4)[Like()],
    "a slice in a list": lambda xp: xp.arange(3)[[0, slice(None)]],
    "strings in a list": lambda xp: xp.arange(3)[["a"]],
    "a string as an index": lambda xp: xp.arange(3)["a"],
    "an index outside of an empty array of floats": lambda xp: xp.take([1, 2], xp.array([])),
    "places of an empty array of floats": lambda xp: xp.unravel_index(xp.array([]), (3, 5)),
    "places of empty lists": lambda xp: xp.ravel_multi_index(([], []), (5, 3)),
    "take nothing": lambda xp: xp.take([1, 2], []),
    # nothing
    "norms of nothing": lambda xp: [float(xp.linalg.norm(xp.zeros(s), o)) for s in ((0, 2), (2, 0)) for o in (1, 2, np.inf, "nuc", "fro")],
    "least norm of nothing": lambda xp: xp.linalg.norm(xp.zeros((0, 2)), -2),
    "percentile of nothing": lambda xp: xp.percentile([], 50),
    "percentiles of empty rows": lambda xp: xp.percentile(np.zeros((3, 0)), [50, 20], axis=1),
    "quantile of nothing": lambda xp: xp.quantile(np.array([]), 0.5),
    # integers that no dtype has
    "less than a large integer": lambda xp: xp.arange(4) < BIG,
    "equal to a large integer": lambda xp: xp.equal(xp.arange(4), -BIG),
    "floats and a large integer": lambda xp: xp.arange(3.0) * BIG,
    "integers and a large integer": lambda xp: xp.arange(3) * BIG,
    "floats and an integer beyond floats": lambda xp: xp.arange(3.0) + 10**400,
    "ufunc and a large integer": lambda xp: xp.add(BIG, xp.arange(3.0)),
    # what is no number of ours
    "a single result and a long double": lambda xp: [bool(xp.array(1)[()] > np.longdouble(2)), float(xp.array(1.5)[()] * np.longdouble(2))],
    "a priority that is a property": lambda xp: xp.arange(2.0)[1] * Prior(),
    "where of None": lambda xp: xp.where([True, False], None, 1).tolist(),
    "where of one array": lambda xp: xp.where([True], 1),
    # limits
    "limits of float64 are strong": lambda xp: (xp.finfo(float).eps * xp.ones(2, "f4")).dtype.name,
    "limits of float32": lambda xp: (xp.finfo("f4").eps * xp.ones(2, "f4")).dtype.name,
    "equal limits": lambda xp: [xp.finfo("f4") == xp.finfo(np.float32), xp.finfo("f4") == xp.finfo(float)],
    "a class of limits": lambda xp: isinstance(xp.iinfo("i1"), xp.iinfo),
    "buffers": lambda xp: xp.getbufsize(),
    # ufuncs
    "accumulate along no axis": lambda xp: xp.add.accumulate(xp.arange(3), axis=None),
    "accumulate along all axes": lambda xp: xp.add.accumulate(xp.zeros((2, 3)), axis=None),
    "reduceat along no axis": lambda xp: xp.add.reduceat(xp.arange(3), [0, 1], axis=None),
    "step of an axis of one": lambda xp: xp.lib.stride_tricks.as_strided(xp.arange(10.0), (1, 10), (-1, 8)),
    # r_ and c_
    "a matrix by r_": lambda xp: xp.r_["r", 1, 2].tolist(),
    "r_ of strings": lambda xp: xp.r_[xp.array(["a"]), xp.array(["b"])].tolist(),
    "r_ of a number too large": lambda xp: xp.r_[xp.arange(5, dtype="i1"), 255],
    "r_ of weak and strong numbers": lambda xp: [xp.r_[xp.arange(2, dtype="f4"), 2.5].dtype.name, xp.r_[1, np.float32(2)].dtype.name],
    # errors of arguments
    "correlate by no mode": lambda xp: xp.correlate([1, 2], [1, 2], mode=None),
    "digitize by complex numbers": lambda xp: xp.digitize([1.0], [0, 1j]),
    "insert at an empty array of floats": lambda xp: xp.insert([0, 1, 2], xp.array([]), []),
    "vectorize to lists": lambda xp: xp.vectorize(lambda x: [x], otypes=[object])([1, 2]),
    "quantile of weights as q is rounded": lambda xp: xp.quantile(xp.arange(5, dtype="f4"), 0.4, method="inverted_cdf", weights=np.ones(5, "f4")),
    "sum of no initial value": lambda xp: xp.sum([1, 2], initial=xp._NoValue),
    # what Python does with numbers
    "text of a short number": lambda xp: f"{xp.ones(2, 'f4')[0] / 3} {xp.array(xp.ones((), 'f2') / 3)}",
    "mean by statistics": lambda xp: float(statistics.mean(xp.arange(4.0))),
    "a polynomial of decimals": lambda xp: xp.poly1d([Decimal(1), Decimal(2)])(Decimal(3)),
    "too many bins in all": lambda xp: xp.histogramdd(xp.ones((1, 10)), bins=2**10),
    # complex numbers where real ones are wanted
    "full complex": lambda xp: xp.full(2, 1j, dtype=float),
    "full complex integers": lambda xp: xp.full((2, 1), 3 + 1j, dtype="i4"),
    "full complex bools": lambda xp: xp.full(2, 1j, dtype=bool),
    "full_like complex": lambda xp: xp.full_like(xp.zeros(2), 1j),
    "full of complex arrays": lambda xp: xp.full(2, xp.array(1j), dtype=float),
    "complex into a slice": lambda xp: updated(xp, xp.ones(3), lambda x: x.__setitem__(slice(0, 2), 2j)),
    "complex into a mask": lambda xp: updated(xp, xp.ones(3), lambda x: x.__setitem__(x > 0, 2j)),
    "fill complex": lambda xp: updated(xp, xp.ones(3), lambda x: x.fill(2 + 2j)),
    "complex into an element": lambda xp: updated(xp, xp.ones(3), lambda x: x.__setitem__(0, 2j)),
    "complex result into an element": lambda xp: updated(xp, xp.ones(3), lambda x: x.__setitem__(0, xp.array([2j])[0])),
    "complex array into an element": lambda xp: updated(xp, xp.ones(3), lambda x: x.__setitem__(0, xp.array(3 + 2j))),
    "float of a complex result": lambda xp: float(xp.array([3 + 1j])[0]),
    "int of a complex sum": lambda xp: int((xp.array([3 + 1j]) * 2).sum()),
    "float of a complex array": lambda xp: float(xp.array(1j)),
    "int of a complex array": lambda xp: int(xp.array(1j)),
    # operands of single functions
    "packbits of a number": lambda xp: (xp.packbits(xp.array(3, "u1"), axis=-1), xp.packbits(xp.array(3, "u1"), axis=0))[0],
    "packbits of a number, axis": lambda xp: xp.packbits(xp.array(3, "u1"), axis=1),
    "unpackbits of a number": lambda xp: xp.unpackbits(xp.array(3, "u1"), axis=-1),
    "heaviside of unsigned": lambda xp: xp.heaviside(xp.arange(3, dtype="u1"), -1),
    "heaviside of small": lambda xp: (lambda r: (r.dtype.name, r.tolist()))(xp.heaviside(xp.arange(3, dtype="i1"), 300)),
    "heaviside by a float": lambda xp: xp.heaviside(xp.arange(3, dtype="u1"), 0.5).dtype.name,
    "heaviside of float32": lambda xp: xp.heaviside(xp.arange(3, dtype="f4"), 0.5).dtype.name,
    "logaddexp2 of small": lambda xp: xp.logaddexp2(xp.arange(3, dtype="u1"), 300).dtype.name,
    "logaddexp2 of both": lambda xp: xp.logaddexp2(xp.arange(3, dtype="i2"), xp.ones(3, "u1")).dtype.name,
    "no such loop": lambda xp: xp.true_divide(xp.arange(3), 2, dtype="i8"),
    "ldexp of a number": lambda xp: xp.ldexp(5, xp.arange(4)),
    "ldexp of two numbers": lambda xp: xp.ldexp(5, 3),
    "ldexp in another dtype": lambda xp: xp.ldexp(xp.array([1.5], "f4"), [2], dtype="f8"),
    # what is converted, and what is not
    "float of one": lambda xp: float(xp.array([1.5])),
    "int of one": lambda xp: int(xp.array([[2]])),
    "trunc of a result": lambda xp: math.trunc(xp.array([-1.5, 2])[0]),
    "trunc of a small result": lambda xp: math.trunc(xp.array([1.5], "f4")[0]),
    "trunc of an array": lambda xp: math.trunc(xp.array(1.5)),
    "complex of two": lambda xp: complex(xp.array([1.0, 2])),
    "item of one": lambda xp: xp.array([[2]]).item(),
    "a sequence as an element": lambda xp: updated(xp, xp.ones(2), lambda x: x.__setitem__(0, [1])),
    "an array as an element": lambda xp: updated(xp, xp.ones((2, 2)), lambda x: x.__setitem__((0, 1), xp.array([1]))),
    "a row of one": lambda xp: updated(xp, xp.ones((2, 1)), lambda x: x.__setitem__(0, [3])),
    "var of no axis": lambda xp: xp.arange(10.0).var(axis=2),
    "std of no axis": lambda xp: xp.std(xp.ones((2, 2)), axis=(0, 3)),
    "arange of no step": lambda xp: xp.arange(0, 10, 0),
    "resize to nothing new": lambda xp: updated(xp, xp.arange(3), lambda x: (x.resize(), x.resize(None))),
    "resize columns": lambda xp: updated(xp, xp.zeros((2, 2), order="F"), lambda x: x.resize((), refcheck=False)),
    "choose by a method": lambda xp: xp.array([0, 3, 1]).choose([1, 2, 3], [4, 5, 6], [7, 8, 9], [10, 11, 12]),
    "dot into integers": lambda xp: xp.dot(xp.ones((2, 2)), xp.ones((2, 2)), out=xp.zeros((2, 2), int)),
    "dot into columns": lambda xp: xp.dot(xp.ones((2, 2)), xp.ones((2, 2)), out=xp.zeros((2, 2), order="F")),
    "dot into an array": lambda xp: xp.dot(xp.ones((2, 2)), xp.ones((2, 2)), out=xp.zeros((2, 2))),
    "sorter of floats": lambda xp: xp.searchsorted([1, 2], 0, sorter=[0.0, 1.0]),
    "ravel in memory order": lambda xp: [xp.arange(16).reshape(4, 4).T[::2].ravel("K"), xp.arange(24).reshape(2, 3, 4).transpose(1, 2, 0)[::2].flatten("K")][1],
    "pad of a turned view is row-major": lambda xp: xp.shares_memory(*(lambda x: (x, x.ravel()))(xp.pad(xp.rot90(xp.ones((4, 4))), 1, mode="symmetric"))),
    "ravel of columns in part": lambda xp: xp.arange(16).reshape(4, 4).T[::2].ravel("K"),
    "ravel of reversed rows": lambda xp: xp.arange(16).reshape(4, 4)[::-1, ::-2].ravel("K"),
    "lists of array-likes": lambda xp: xp.array([Maker(xp), Maker(xp)]),
    "operators of array-likes": lambda xp: [(xp.ones(3) * Maker(xp)).tolist(), (Maker(xp) - xp.ones(3)).tolist(), xp.add(Maker(xp), xp.ones(3)).tolist()],
    "sets of array-likes": lambda xp: xp.intersect1d([Maker(xp)], [Maker(xp), Maker(xp)]),
    # iterations that NumPy makes
    "nditer of objects": lambda xp: [str(x) for x in xp.nditer(np.array([1, "a"], dtype=object), flags=["refs_ok"])],
    "nditer of strings": lambda xp: [str(x) for x in xp.nditer(np.array(["b", "a"]))],
    "nditer that allocates": lambda xp: squares(xp, xp.arange(4.0)),
    "nditer in the order of columns": lambda xp: [int(x) for x in xp.nditer(xp.arange(6).reshape(2, 3), order="F")],
    "nditer of columns": lambda xp: [int(x) for x in xp.nditer(xp.arange(6).reshape(2, 3).T)],
    "nditer by whole lines": lambda xp: [x.tolist() for x in xp.nditer(xp.arange(6).reshape(2, 3), flags=["external_loop"], order="F")],
    "nditer that writes lines": lambda xp: updated(xp, xp.arange(6).reshape(2, 3), lambda a: [x.__imul__(2) for x in xp.nditer(a[:, 1:], ["external_loop"], ["readwrite"], order="F")]),
    "nditer that writes two": lambda xp: updated(xp, xp.zeros(4), lambda a: [y.__setitem__(..., x * x) for x, y in xp.nditer([xp.arange(4.0), a], [], [["readonly"], ["writeonly"]])]),
    "flat by too many": lambda xp: xp.arange(6).reshape(2, 3).flat[1, 2],
    "flat by none": lambda xp: xp.arange(6).flat[None],
    "flat by truths": lambda xp: xp.arange(3).flat[[True, False, True]],
    "flat by a tuple": lambda xp: [xp.arange(6).reshape(2, 3).flat[()].tolist(), xp.arange(6).flat[(2,)], isinstance(xp.arange(3).flat, xp.flatiter)],
    # outputs
    "full of a NumPy scalar": lambda xp: xp.full(2, np.int64(1000), dtype=np.int8),
    "full_like of a NumPy scalar": lambda xp: xp.full_like(xp.zeros(2, np.int8), np.int64(1000)),
    "full of a fraction": lambda xp: xp.full(2, 2.7, dtype=int),
    "full of too much": lambda xp: xp.full(2, 1000, dtype=np.int8),
    "no steps between dates": lambda xp: xp.arange(np.datetime64("2024-01-01"), np.datetime64("2024-01-05"), 0),
    "no times between steps": lambda xp: xp.arange(0, 10, np.timedelta64(0, "s")),
    "einsum of nothing": lambda xp: xp.einsum(),
    "einsum by columns": lambda xp: [xp.einsum("ij,jk->ik", xp.ones((2, 3)), xp.ones((3, 4)), order=o).flags.f_contiguous for o in "CFA"],
    "where without out": lambda xp: xp.add(xp.arange(3.0), 1, where=xp.array([True] * 3)),
    "where and no out": lambda xp: xp.add(xp.arange(3.0), 1, where=xp.array([True] * 3), out=None),
    "where and out": lambda xp: xp.add(xp.arange(3.0), 1, where=xp.arange(3) > 1, out=xp.zeros(3)),
    "out as an array": lambda xp: (lambda r: (r.ndim, type(r) is type(xp.array(1)), r[...].tolist()))(xp.add(1.0, 2, out=...)),
    "sum as an array": lambda xp: (lambda r: (r.ndim, r[...].tolist()))(xp.add.reduce(xp.arange(3.0), out=...)),
    "out of no array": lambda xp: xp.sum(xp.arange(3.0), out="x"),
    "reduce to no array": lambda xp: xp.add.reduce(xp.arange(3.0), 0, None, "invalid"),
    # NumPy's arrays are changed in place
    "put": lambda xp: updated(xp, np.array(["a", "b"]), lambda x: xp.put(x, [1], ["c"])),
    "place": lambda xp: updated(xp, np.arange(3.0), lambda x: xp.place(x, [True, False, True], [7, 8])),
    "putmask": lambda xp: updated(xp, np.arange(3.0), lambda x: xp.putmask(x, x > 0, 5)),
    "copyto": lambda xp: updated(xp, np.arange(3.0), lambda x: xp.copyto(x, xp.ones(3))),
    "fill_diagonal": lambda xp: updated(xp, np.zeros((2, 2)), lambda x: xp.fill_diagonal(x, 3)),
    "add.at": lambda xp: updated(xp, np.zeros(3), lambda x: xp.add.at(x, [0, 0], 1)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_as_numpy(name):
    assert outcome(CASES[name], gc) == outcome(CASES[name], np)


class Asked:
    """Says itself what ufuncs that write to it mean."""

    def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
        return ufunc.__name__, method, len(inputs), [np.asarray(x).tolist() for x in inputs], keywords["out"] == (self,)


WRITES = {
    "call": lambda xp, x, out: xp.add(x, 1, out=out), "positional": lambda xp, x, out: xp.add(x, x, out), "tuple": lambda xp, x, out: xp.sqrt(x, out=(out,)),
    "reduce": lambda xp, x, out: xp.add.reduce(x, out=out), "sum": lambda xp, x, out: xp.sum(x, out=out), "method": lambda xp, x, out: x.sum(out=out),
    "accumulate": lambda xp, x, out: xp.multiply.accumulate(x, out=out),
}  # fmt: skip


@pytest.mark.parametrize("name", WRITES)
def test_outputs_of_other_classes_are_asked(name):
    assert WRITES[name](gc, gc.arange(3.0), Asked()) == WRITES[name](np, np.arange(3.0), Asked())


def test_ufuncs_of_other_packages_take_values():
    """SciPy's are as these: NumPy asks the arrays."""
    theirs = np.frompyfunc(lambda a, b: a + 2 * b, 2, 1)
    x = gc.arange(4.0) * 2
    assert theirs(x, 1).tolist() == [2, 4, 6, 8] and theirs.reduce(x) == theirs.reduce(np.arange(4.0) * 2)
    assert theirs.outer(x[:2], x[:3]).tolist() == theirs.outer(np.array([0.0, 2]), np.array([0.0, 2, 4])).tolist()
    with pytest.raises(gc.TraceError, match="as a whole"):
        gc.jit(lambda x: theirs(x, 1), fullgraph=True)(x)
    special = pytest.importorskip("scipy.special")
    y = gc.linspace(0.5, 3, 20)
    for call in (special.gammaln, special.expit, special.sici, lambda v: special.jv(1, v), lambda v: special.expit(v[::-2]), lambda v: special.jv(v[:4, None], v[1]), lambda v: special.expit(v, out=v.copy()), lambda v: special.gammaln(v[3])):
        for _ in range(3):  # the first call of a ufunc is looked at more closely than the next ones
            got, want = call(y), call(np.linspace(0.5, 3, 20))
            for g, w in zip(*((r if isinstance(r, tuple) else (r,)) for r in (got, want)), strict=True):
                assert isinstance(g, gc.Array) and g.shape == w.shape and g.dtype == w.dtype
                np.testing.assert_array_equal(np.asarray(g), w)


def test_numbers_of_other_classes_stay_numpys():
    """What another class's own method gives is its own again where it collects such numbers (pandas' apply, groupby)."""

    class Column:
        def __array_ufunc__(self, ufunc, method, *inputs, **keywords):
            return np.float64(3)

    for call in (lambda c: gc.add.reduce(c), lambda c: gc.multiply(c, 2), lambda c: gc.sqrt(c)):
        assert type(call(Column())) is np.float64 and call(Column()) == 3
    made = gc.multiply(Column(), gc.ones(2))
    assert isinstance(made, gc.Array) and not isinstance(made, gc.ndarray)
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame({"a": [1.0, 2, 3], "b": [4, 5, 6]})
    assert frame.apply(gc.sum).dtype == float
    assert frame.groupby("b").apply(lambda part: gc.mean(part.a)).dtype == float


def test_memory_that_may_not_be_written():
    locked = np.arange(3.0)
    locked.flags.writeable = False
    for source, copy in ((locked, None), (locked, True), (np.arange(3.0), None)):
        ours, theirs = (xp.from_dlpack(source, copy=copy) for xp in (gc, np))
        assert ours.flags.writeable == theirs.flags.writeable
    with pytest.raises(ValueError, match="read-only"):
        gc.from_dlpack(locked)[0] = 1


def test_points_of_interp_that_do_not_rise():
    """NumPy's result depends on the order of the places; ours is the same in every turn of a loop."""
    points, values = gc.array([3.0, 1.0, 2.0]), gc.array([1.0, 2.0, 4.0])
    places = gc.array([1.5, 2.5, 0.0, 9.0])
    turns = [gc.interp(places, points, values).tolist() for _ in range(40)]
    assert all(turn == turns[0] for turn in turns)
    rising = [gc.interp(places, gc.array([1.0, 2.0, 2.0, 3.0]), gc.arange(4.0)).tolist() for _ in range(40)]
    assert all(turn == np.interp([1.5, 2.5, 0.0, 9.0], [1.0, 2.0, 2.0, 3.0], np.arange(4.0)).tolist() for turn in rising)


OBJECTS = [Decimal("2"), Fraction(1, 2), timedelta(seconds=90), None]


@pytest.mark.parametrize("number", [lambda xp: xp.array([3, 4])[0], lambda xp: xp.array([1.5, 2])[0], lambda xp: xp.array([3, 4]).sum(), lambda xp: (xp.ones(2) * 3).mean()])
@pytest.mark.parametrize("other", OBJECTS, ids=repr)
def test_single_results_beside_objects(number, other):
    """As NumPy's scalars, which are Python's numbers to objects."""
    for f in (operator.mul, operator.add, operator.sub, operator.truediv, operator.pow, operator.lt, operator.ge, operator.eq, operator.ne):
        for call in (lambda xp, f=f: f(number(xp), other), lambda xp, f=f: f(other, number(xp))):
            got, want = outcome(call, gc), outcome(call, np)
            if isinstance(want[0], float) or other == Fraction(1, 2):  # a number, of one type or another
                assert got[0] == want[0], (f, got, want)
            else:
                assert got == want, f


def test_the_memory_of_values_by_numpys_description():
    x = gc.arange(6.0).reshape(2, 3) * 2
    told, numpys = x.__array_interface__, (np.arange(6.0).reshape(2, 3) * 2).__array_interface__
    assert {k: told[k] for k in ("shape", "typestr", "version", "descr")} == {k: numpys[k] for k in ("shape", "typestr", "version", "descr")}
    assert told["data"] == (np.asarray(x).ctypes.data, True)


def test_the_array_interface_leaves_bfloat16_to_others():
    pytest.importorskip("ml_dtypes")
    x = gc.ones(2, gc.bfloat16)
    assert not hasattr(x, "__array_interface__") and np.array(x).dtype == gc.bfloat16
    for make in (gc.zeros, gc.empty, gc.ones):
        assert isinstance(make(2, gc.bfloat16), gc.Array) and isinstance(make((2, 1), dtype=np.dtype(gc.bfloat16)), gc.Array)


def test_functions_as_attributes_of_classes():
    """NumPy's C functions and ufuncs stay as they are, its Python functions are methods."""
    for name in ("array", "zeros", "arange", "fromiter", "sum", "linspace", "tanh", "heaviside", "ldexp"):
        assert hasattr(type(getattr(gc, name)), "__get__") == hasattr(type(getattr(np, name)), "__get__"), name

    class Backend:
        array, heaviside, total = gc.array, gc.heaviside, gc.sum

    assert Backend().array([1, 2]).tolist() == [1, 2] and float(Backend().heaviside(-1.0, 2.0)) == 0
    assert Backend.total([1, 2]) == 3 and pickle.loads(pickle.dumps(gc.array)) is gc.array


@pytest.mark.parametrize("raises", [np.linalg, gc.linalg], ids=lambda m: m.__name__)
def test_errors_of_linalg_are_caught_by_either_name(raises):
    for catches in (np.linalg, gc.linalg):
        with pytest.raises(catches.LinAlgError):
            raises.inv(np.zeros((2, 2)))


SERIES = {"polynomial": "poly", "chebyshev": "cheb", "legendre": "leg", "laguerre": "lag", "hermite": "herm", "hermite_e": "herme"}


@pytest.mark.parametrize("module", SERIES)
def test_series_at_arrays(module):
    """Coefficients of several axes get those of the places, as for NumPy's arrays."""
    c = np.arange(12.0).reshape(3, 4)
    for name, coefficients, where in (
        ("val", c, [(5,)]), ("val", c, [(2, 3)]), ("val", c[:, 0], [()]), ("val2d", c, [(5,), (5,)]), ("grid2d", c, [(2,), (3,)]),
    ):  # fmt: skip
        places = [np.linspace(-1, 1, max(np.prod(s, dtype=int), 1)).reshape(s) for s in where]
        call = f"{SERIES[module]}{name}"
        got = getattr(getattr(gc.polynomial, module), call)(*map(gc.asarray, places), coefficients)
        want = getattr(getattr(np.polynomial, module), call)(*places, coefficients)
        assert isinstance(got, gc.Array) and got.shape == want.shape
        np.testing.assert_allclose(np.asarray(got), want, rtol=1e-14)


def test_series_in_jit():
    f = gc.jit(lambda x: gc.polynomial.legendre.legval(x, [1.0, 2.0, 3.0]), fullgraph=True)
    x = np.linspace(-1, 1, 7)
    np.testing.assert_allclose(np.asarray(f(gc.asarray(x))), np.polynomial.legendre.legval(x, [1.0, 2.0, 3.0]), rtol=1e-14)


def test_functions_of_polynomials_give_arrays():
    x = gc.linspace(0, 1, 9)
    fitted = gc.polynomial.polynomial.polyfit(x, 1 + 2 * x, 1)
    assert isinstance(fitted, gc.Array) and gc.allclose(fitted, [1, 2])
    found = np.polynomial.polynomial.polyval2d(gc.asarray([1.0]), gc.asarray([2.0]), np.ones((2, 2)))
    assert isinstance(found, gc.Array) and found.tolist() == [6.0]


def test_names_of_lib_are_numpys():
    from graphc.lib import recfunctions

    table = recfunctions.unstructured_to_structured(gc.arange(6.0).reshape(3, 2), np.dtype("f8,f8"))
    assert table["f1"].tolist() == [1, 3, 5] and recfunctions.structured_to_unstructured(table).shape == (3, 2)
    assert gc.lib.NumpyVersion("2.1.0") < "2.2.0" and issubclass(gc.lib.mixins.NDArrayOperatorsMixin, object)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        gc.lib.nothing


def test_modules_of_numpy_are_imported_under_this_name():
    import graphc.lib.recfunctions
    import graphc.ma.extras
    from graphc.lib.format import open_memmap
    from graphc.random.mtrand import RandomState

    assert graphc.lib.recfunctions is importlib.import_module("numpy.lib.recfunctions") is gc.lib.recfunctions
    assert graphc.ma.extras is np.ma.extras and open_memmap is np.lib.format.open_memmap and RandomState is gc.random.RandomState
    assert importlib.import_module("graphc.linalg") is gc.linalg and importlib.import_module("graphc.lib.stride_tricks") is gc.lib.stride_tricks
    for name in ("graphc.nothing", "graphc.lib.nothing"):
        with pytest.raises(ModuleNotFoundError, match=name):
            importlib.import_module(name)


def test_archives_are_mappings(tmp_path):
    gc.savez(tmp_path / "two.npz", a=gc.arange(3.0), b=gc.ones((2, 2)))
    with gc.load(tmp_path / "two.npz") as found, np.load(tmp_path / "two.npz") as theirs:
        assert repr(found) == repr(theirs) and list(found) == list(theirs) and found.f.b.shape == (2, 2) and dir(found.f) == ["a", "b"]
        assert {k: v.tolist() for k, v in found.items()} == {k: v.tolist() for k, v in theirs.items()} and found.get("c") is None
        assert isinstance(found, collections.abc.Mapping) and found.fid.name == theirs.fid.name and found.zip is not None
        with pytest.raises(AttributeError):
            found.f.c
    assert found.zip is None


def test_c_functions_write_the_memory_of_arrays():
    import ctypes

    libc = ctypes.CDLL(None)
    libc.memset.argtypes = [gc.ctypeslib.ndpointer(dtype=gc.uint8, ndim=1, flags="C_CONTIGUOUS"), ctypes.c_int, ctypes.c_size_t]
    x = gc.arange(6, dtype=gc.uint8)
    view = x[::-1]
    libc.memset(x, 7, 3)
    assert x.tolist() == [7, 7, 7, 3, 4, 5] and view.tolist() == [5, 4, 3, 7, 7, 7]
    with pytest.raises(ctypes.ArgumentError, match="must have data type uint8"):
        libc.memset(gc.arange(3.0), 0, 1)
    buffer = gc.ctypeslib.as_ctypes(x)
    buffer[5] = 9
    assert x[5] == 9 and gc.ctypeslib.as_array(buffer).tolist() == x.tolist()


def test_nested_iterators_write_arrays():
    def program(xp):
        a = xp.arange(12).reshape(2, 3, 2)
        outer, inner = xp.nested_iters(a, [[1], [0, 2]], ["multi_index"], [["readwrite"]])
        seen = []
        for _ in outer:
            for y in inner:
                seen.append((outer.multi_index, inner.multi_index, int(y)))
                y[...] = -y
        return seen, a.tolist()

    assert program(gc) == program(np)


@pytest.mark.parametrize("xp", [np, gc], ids=["numpy", "graphc"])
def test_views_made_writable(xp):
    """`diagonal` gives a read-only view, which may be made writable where the memory is the program's own."""
    a = xp.arange(12.0).reshape(3, 4)
    d = xp.diagonal(a)
    with pytest.raises(ValueError):
        d[:] = 0
    d.flags.writeable = True
    d[:] = -1
    a.diagonal(1).setflags(write=True)
    assert a.tolist() == [[-1, 1, 2, 3], [4, -1, 6, 7], [8, 9, -1, 11]]
    stack = xp.zeros((2, 3, 3))
    view = xp.diagonal(stack, axis1=-1, axis2=-2)
    view.flags.writeable = True
    view[...] = xp.arange(6).reshape(2, 3)
    assert stack[1].tolist() == [[3, 0, 0], [0, 4, 0], [0, 0, 5]]
    part = xp.zeros((3, 3))[1:, ::-1]
    part.flags.writeable = False
    part.flags.writeable = True
    part[0, 0] = 3
    assert part.tolist() == [[3, 0, 0], [0, 0, 0]]


def test_views_that_stay_read_only():
    for view in (gc.broadcast_to(gc.arange(3), (2, 3)), gc.from_dlpack(locked(np.arange(3.0))), gc.from_dlpack(locked(np.arange(3.0)))[1:]):
        with pytest.raises(ValueError):
            view.flags.writeable = True
        assert not view.flags.writeable


def locked(a):
    a.flags.writeable = False
    return a


@pytest.mark.parametrize("axes", [[np.array([1, 2]), np.array([1, 0])], [range(1, 3), range(1, -1, -1)], ([1, 2], (1, 0)), (2, 0), np.array([[1], [1]])], ids=str)
def test_axes_of_tensordot(axes):
    a, b = np.arange(24.0).reshape(4, 2, 3), np.arange(6.0).reshape(3, 2)
    assert np.array_equal(np.asarray(gc.tensordot(gc.asarray(a), gc.asarray(b), axes)), np.tensordot(a, b, axes))


def test_limits_of_narrow_floats_print_as_numpys():
    for dtype in ("float16", "float32", "float64"):
        ours, theirs = gc.finfo(dtype), np.finfo(dtype)
        for name in ("eps", "max", "min", "tiny", "resolution"):
            a, b = getattr(ours, name), getattr(theirs, name)
            assert isinstance(a, float) and a == b and a.dtype == b.dtype
            assert (repr(a), str(a), f"{a}", f"{a:.3e}") == (repr(b), str(b), f"{b}", f"{b:.3e}")
            assert pickle.loads(pickle.dumps(a)) == a
            assert (gc.ones(2, dtype) * a).dtype == dtype


@pytest.mark.parametrize("xp", [np, gc], ids=["numpy", "graphc"])
def test_memory_seen_by_c(xp):
    libc = ctypes.CDLL(None)
    x = xp.arange(4.0)
    pointer = x.ctypes.data_as(ctypes.POINTER(ctypes.c_double))
    pointer[1] = 7.0
    y = x * 2
    libc.memset(x.ctypes.data_as(ctypes.c_void_p), 0, ctypes.c_size_t(16))
    assert x.tolist() == [0, 0, 2, 3] and y.tolist() == [0, 14, 4, 6] and pointer[2] == 2
    assert list(x.ctypes.shape) == [4] and list(x[::2].ctypes.strides) == [16]
    x[:] = 3
    assert pointer[0] == 3


@pytest.mark.filterwarnings("ignore::PendingDeprecationWarning")
@pytest.mark.parametrize("xp", [np, gc], ids=["numpy", "graphc"])
def test_small_details_of_numpys_docstrings(xp):
    x = xp.array([[1, 2], [3, 4]])
    m = xp.asmatrix(x)
    x[0, 0] = 5
    m[1, 1] = 6
    assert m.tolist() == x.tolist() == [[5, 2], [3, 6]]
    assert xp.isin([1, 2], {1, 2}).tolist() == [False, False]
    composed = xp.polyval([3, 0, 1], xp.poly1d([5, 1]))
    assert type(composed) is xp.poly1d and composed.coeffs.tolist() == [75, 30, 4]
    with pytest.warns(DeprecationWarning, match="2-dimensional vectors"):
        assert xp.cross([1, 2], [3, 4]) == -2


@pytest.mark.parametrize("xp", [np, gc], ids=["numpy", "graphc"])
def test_copy_modes(xp):
    x, modes = xp.arange(3), np._CopyMode
    assert xp.array(x, copy=modes.IF_NEEDED) is x and xp.array(x, copy=modes.NEVER) is x
    assert xp.array(x, copy=modes.ALWAYS) is not x and xp.array([1, 2], copy=modes.IF_NEEDED).tolist() == [1, 2]
    with pytest.raises(ValueError):
        xp.array([1], copy=modes.NEVER)


MEMORY = {
    "array": lambda: array.array("d", [1, 2, 3, 4]), "ints": lambda: memoryview(array.array("i", [1, 2, 3, 4])), "bytes": lambda: bytearray(b"abcd"),
    "ctypes": lambda: (ctypes.c_double * 4)(1, 2, 3, 4), "part": lambda: memoryview(array.array("i", [1, 2, 3, 4]))[::2],
}  # fmt: skip


@pytest.mark.parametrize("kind", MEMORY)
@pytest.mark.parametrize("function", ["asarray", "asanyarray", "ascontiguousarray", "array", "require"])
def test_memory_of_others_is_shared_as_numpy_shares_it(kind, function):
    def program(xp):
        memory, options = MEMORY[kind](), {"copy": False} if function == "array" else {}
        x = getattr(xp, function)(memory, **({} if kind == "part" else options))
        memory[0] = 9
        seen = [np.asarray(x).tolist(), x.flags.writeable]
        x[1] = 7
        y = xp.asarray(memory, dtype="float32")
        y[0] = 5
        return [*seen, list(memory), y.tolist(), str(x.dtype)]

    assert program(gc) == program(np)


def test_memory_that_is_only_read():
    assert not gc.asarray(memoryview(b"abc")).flags.writeable and gc.array(memoryview(b"abc")).flags.writeable


TOLD = [
    "xp.degrees(xp.array([1e308]))", "xp.rad2deg(1e308)", "xp.var(xp.array([1.0]), ddof=1)", "xp.array([1.0, 2.0]).var(ddof=3)", "xp.array([[1.0], [2.0]]).std(axis=1, ddof=1)",
    "xp.zeros((0, 3)).mean(axis=0)", "xp.zeros((3, 0)).mean(axis=1)", "xp.zeros((0, 3)).mean(axis=1)", "xp.float_power(xp.array([2], 'u1'), 300)", "xp.float_power(xp.array([3.0], 'f4'), 2)",
    "xp.logical_and(xp.array([1.0, 0.0]), 1j)", "xp.logical_or(xp.array([1, 0]), 0j)", "xp.logical_xor(xp.array([True, False]), 1j)", "xp.logical_not(1j)", "xp.full(2, 1j, bool)",
    "xp.hypot(xp.array([3], 'i1'), xp.array([4], 'u1'))", "xp.copysign(xp.array([3], 'i2'), xp.array([4], 'u2'))", "xp.arctan2(xp.array([0], 'i1'), xp.array([2], 'u2'))",
    "xp.hypot(xp.array([True]), 2)", "xp.hypot(xp.array([3], 'i1'), 4)", "xp.hypot(True, xp.array([4], 'u1'))", "xp.hypot(3, 4)", "xp.hypot(xp.array([3], 'i4'), xp.array([4], 'u1'))",
    "xp.take(xp.array(3.0), [0], axis=0)", "xp.compress([True], xp.array(3.0), axis=-1)", "xp.take(xp.array(3.0), 0, axis=0)",
]  # fmt: skip


@pytest.mark.parametrize("text", TOLD)
def test_values_and_what_is_told(text):
    def program(xp):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            x = np.asarray(eval(text, {"xp": xp}))
        return repr((x.dtype, x.tolist(), sorted({str(w.message).split(" (")[0] for w in told})))

    assert program(gc) == program(np)


SWAPPED = [
    "x.astype('>f4')", "x.astype(xp.dtype('>f8'))", "xp.array([1, 2], '>i2')", "xp.asarray(x, dtype='>c8')", "xp.zeros(3, '>i4')", "xp.full(3, 7, '>u2')",
    "xp.arange(4, dtype='>i4')", "xp.zeros_like(x, dtype='>f4')", "xp.frombuffer(b'\\0\\1\\0\\2', '>i2')", "xp.fromiter([1, 2], '>i4')", "x[0].astype('>f4')[::2] + 1",
    "xp.sqrt(x.astype('>f4'))", "x + x.astype('>f4')", "x.astype('>i2') @ xp.ones((3, 2))", "x.astype('>i4').sum(axis=0)", "xp.concatenate([x, x.astype('>f8')])",
    "xp.add(x, x, out=xp.zeros((2, 3), '>f4'))",
]  # fmt: skip


@pytest.mark.parametrize("text", SWAPPED)
def test_the_other_byte_order_that_was_asked_for(text):
    got, want = (eval(text, {"xp": xp, "x": xp.arange(6.0).reshape(2, 3)}) for xp in (gc, np))
    assert got.dtype == want.dtype and got.tobytes() == want.tobytes() and got.tolist() == want.tolist()


@pytest.mark.parametrize("function", ["array", "asarray"])
def test_arrays_of_numpys_that_may_not_be_copied_are_themselves(function):
    for x in (np.array(["2020-01-01"], "M8[D]"), np.array(["a"]), np.array([None, 1]), np.arange(3.0), np.arange(3, dtype=">i4")):
        assert getattr(gc, function)(x, copy=False) is x
        with pytest.raises(ValueError, match="avoid copy"):
            getattr(gc, function)(x, dtype="S7", copy=False)


def test_constants_are_the_objects_of_numpy():
    names = ("e", "euler_gamma", "inf", "nan", "newaxis", "pi", "True_", "False_")
    assert all(getattr(gc, name) is getattr(np, name) for name in names)


class Pair(tuple):
    """A tuple whose constructor takes its elements, as results of SciPy's tests are."""

    def __new__(cls, first, second):
        return super().__new__(cls, (first, second))


def test_assertions_take_classes_of_tuples():
    gc.testing.assert_almost_equal(Pair(gc.ones(2), gc.zeros(2)), (np.ones(2), np.zeros(2)))
    with pytest.raises(AssertionError):
        gc.testing.assert_equal(Pair(gc.ones(2), 1.5), Pair(gc.ones(2), 2.5))


@pytest.mark.parametrize("name", ["maximum", "minimum", "add", "multiply", "logical_and", "logical_or", "bitwise_or"])
def test_reductions_of_lists_of_arrays(name):
    def program(xp):
        a = xp.arange(12).reshape(3, 4) % 5
        rows = [a > 1, a < 4, a == 2] if "logical" in name else [a, a[::-1], 3 - a]
        reduce = getattr(xp, name).reduce
        return [reduce(rows), reduce(tuple(rows), 1), reduce(rows, axis=2), reduce(rows[0]), reduce([[1, 0], [0, 0]]), reduce([True, False]), reduce(rows[0][0])]

    for ours, theirs in zip(program(gc), program(np), strict=True):
        assert repr(ours) == repr(theirs)


@pytest.mark.parametrize("name", ["nanmax", "nanmin"])
@pytest.mark.parametrize("dtype", ["f8", "f4", "f2", "F", "D"])
def test_extremes_beside_nan_over_axes(name, dtype):
    x = (np.random.default_rng(2).random((4, 6)) - 0.5).astype(dtype)
    x[0, 2] = np.nan
    x[1, 1], x[1, 2], x[2, :] = np.inf, -np.inf, np.nan
    x[3, :3] = [0.0, -0.0, 0.0]
    for part in (x, x[:2], x[3:], x[2:3], x[:, ::-1].T, x[1:2, 2:3]):
        for axis in (None, 0, 1, -1, (0, 1)):
            for keeps in (False, True):
                made = []
                for xp in (np, gc):
                    with warnings.catch_warnings(record=True) as told:
                        warnings.simplefilter("always")
                        made.append(np.asarray(getattr(xp, name)(xp.asarray(part), axis=axis, keepdims=keeps)))
                    made.append({str(w.message) for w in told})
                np.testing.assert_array_equal(made[2], made[0], strict=True)
                assert made[1] == made[3]


@pytest.mark.graphc_only
def test_pandas_gives_compiled_code_numpys_arrays():
    pandas = pytest.importorskip("pandas")

    def program(xp):
        hours, keys = xp.arange(40.0) / 3, xp.arange(3)
        column = pandas.Series([1.0, 2.0, 3.5])
        made = [
            pandas.to_timedelta(hours, unit="h"), pandas.TimedeltaIndex(hours), pandas.to_datetime(hours * 1e8, unit="s"), column.isin(keys), pandas.Index([1, 7]).isin(keys),
            column + keys, column < keys, column.rolling(xp.array([1, 1]).sum()).mean(), pandas.factorize(hours // 3)[0], pandas.Series(hours).where(hours > 2, hours[3]),
        ]  # fmt: skip
        return [list(map(str, pandas.Series(m))) for m in made]

    assert program(gc) == program(np)
    values = gc.arange(4.0)
    column = pandas.Series(values) + 1
    column[0] = 9
    assert values.tolist() == [0, 1, 2, 3] and not hasattr(values, "_typ")


@pytest.mark.parametrize("ends", [(-(2**56) - 9, -(2**56) - 2, 1.0), (2**60, 2**60 + 5, 1.0), (2**53 - 3, 2**53 + 4, 0.5), (2**62 + 1000, 2**62, -100.0)])
def test_ranges_of_large_integers_by_a_float_step_have_as_many_elements(ends):
    want, got = np.arange(*ends), gc.arange(*ends)
    assert got.dtype == want.dtype and got.tolist() == want.tolist()


REFUSED = {
    "new axes": (IndexError, lambda xp: xp.ones(2)[(None,) * 70]),
    "one new axis": (IndexError, lambda xp: xp.ones((1,) * 64)[None]),
    "new axes of a view": (IndexError, lambda xp: xp.ones((1,) * 40)[0, ::-1][(None,) * 26]),
    "a mode of copies": (ValueError, lambda xp: xp.arange(3).astype(float, copy=np._CopyMode.NEVER)),
    "a mode of no copies": (ValueError, lambda xp: xp.arange(3).astype(int, copy=np._CopyMode.ALWAYS)),
    "copies that are many": (ValueError, lambda xp: xp.arange(3).astype(int, copy=xp.ones(2))),
    "names": (ValueError, lambda xp: xp.broadcast(1, x=1)),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_numpy_refuses(case):
    error, statement = REFUSED[case]
    for xp in (np, gc):
        with pytest.raises(error):
            statement(xp)


def test_as_many_axes_as_there_may_be():
    for xp in (np, gc):
        assert xp.ones((1,) * 62)[None, ..., None].shape == (1,) * 64
        assert xp.arange(3).astype(int, copy=2).tolist() == [0, 1, 2]
