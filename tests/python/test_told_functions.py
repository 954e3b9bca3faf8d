"""Functions made of several operations tell of what those meet, in NumPy's words."""

import warnings

import graphc as gc
import numpy as np
import pytest

INF, NAN = np.inf, np.nan
LARGE = {"float32": 3e38, "float64": 1e308}

TEXTS = {"empty": []}

#: Programs of a matrix, whose values are plain or in two columns too large to be added, multiplied or squared.
OF_ROWS = {
    "nansum": lambda xp, x: xp.nansum(x, axis=1),
    "nansum of all": lambda xp, x: xp.nansum(x),
    "nanprod": lambda xp, x: xp.nanprod(x, axis=1),
    "nancumsum": lambda xp, x: xp.nancumsum(x, axis=1),
    "nancumprod": lambda xp, x: xp.nancumprod(x, axis=1),
    "nanmean": lambda xp, x: xp.nanmean(x, axis=1),
    "nanmean of columns": lambda xp, x: xp.nanmean(x, axis=0),
    "nanvar": lambda xp, x: xp.nanvar(x, axis=1),
    "nanstd": lambda xp, x: xp.nanstd(x, axis=1, ddof=1),
    "vecdot": lambda xp, x: xp.vecdot(xp.nan_to_num(x), xp.nan_to_num(x)),
    "vecdot of vectors": lambda xp, x: xp.vecdot(xp.nan_to_num(x)[0], xp.nan_to_num(x)[1]),
    "vdot": lambda xp, x: xp.vdot(xp.nan_to_num(x), xp.nan_to_num(x)),
    "matvec": lambda xp, x: xp.matvec(xp.nan_to_num(x), xp.nan_to_num(x)[0]),
    "vecmat": lambda xp, x: xp.vecmat(xp.nan_to_num(x)[:, 0], xp.nan_to_num(x)),
    "vander": lambda xp, x: xp.vander(xp.nan_to_num(x)[0], 3),
}
OF_VECTORS = {
    "nansum": lambda xp: xp.nansum(xp.array([INF, -INF, NAN])),
    "nanmean": lambda xp: xp.nanmean(xp.array([INF, -INF, NAN])),
    "nanvar": lambda xp: xp.nanvar(xp.array([INF, 1, NAN])),
    "nanmean of NaN": lambda xp: xp.nanmean(xp.array([NAN, NAN])),
    "nanvar of NaN": lambda xp: xp.nanvar(xp.array([NAN, NAN])),
    "sinc": lambda xp: xp.sinc(xp.array([INF, 0, 0.5])),
    "sinc of numbers": lambda xp: xp.sinc(xp.array([0, 1, 0.5, NAN])),
    "unwrap": lambda xp: xp.unwrap(xp.array([1, INF, INF, 2])),
    "unwrap of NaN": lambda xp: xp.unwrap(xp.array([[1, NAN, 9.0]])),
    "cov": lambda xp: xp.cov(xp.array([[1.0, 2], [3, 4]]), ddof=2),
    "cov of one": lambda xp: xp.cov(xp.array([1.0])),
    "cov with weights": lambda xp: xp.cov(xp.array([1.0, 2]), fweights=[1, 0]),
    "cov of pairs": lambda xp: xp.cov(xp.array([1.0, 2]), fweights=[1, 2]),
    "corrcoef": lambda xp: xp.corrcoef(xp.array([[1.0], [2]])),
    "histogram": lambda xp: xp.histogram(xp.array([1.0]), range=(2, 3), density=True)[0],
    "histogram of some": lambda xp: xp.histogram(xp.array([1.0]), range=(0, 3), density=True)[0],
    "i0": lambda xp: xp.i0(xp.array([1.0, 1000.0, -INF])),
    "i0 of numbers": lambda xp: xp.i0(xp.array([0.0, 1, 20, NAN])),
    "kaiser": lambda xp: xp.kaiser(3, 1000.0),
    "kaiser of numbers": lambda xp: xp.kaiser(8, 5.0),
    "ptp": lambda xp: xp.ptp(xp.array([INF, INF])),
    "median of none along rows": lambda xp: xp.median(xp.zeros((2, 0)), axis=1),
    "median of large": lambda xp: xp.median(xp.array([1.5e308, 1.5e308])),
    "geomspace": lambda xp: xp.geomspace(1, -1000, 4),
    "geomspace of many": lambda xp: xp.geomspace([1, 2], [10, -20], 3),
    "geomspace of large": lambda xp: xp.geomspace(1, 1e39, 3, dtype="f4"),
    "geomspace of infinity": lambda xp: xp.geomspace(1, INF, 3),
    "geomspace of plain": lambda xp: xp.geomspace([1, -2], [8, -16], 3),
    "mean of none over all axes": lambda xp: xp.mean(xp.zeros((0, 3)), axis=(0, 1)),
    "mean of none of float32": lambda xp: xp.mean(xp.zeros((0, 3), "f4"), axis=(0, 1)),
    "mean of none, axes kept": lambda xp: xp.mean(xp.zeros((0, 3)), axis=(0, 1), keepdims=True),
    "mean of none over two of three": lambda xp: xp.mean(xp.zeros((0, 3, 2)), axis=(0, 1)),
    "var of none": lambda xp: xp.var([]),
    "var of none over all axes": lambda xp: xp.zeros((0, 2)).var(axis=(1, 0)),
    "var of none along columns": lambda xp: xp.var(xp.zeros((0, 2)), axis=0),
    "std of none of float32": lambda xp: xp.std(xp.zeros(0, "f4")),
    "std of one": lambda xp: xp.std([1.0], ddof=1),
    "arctan at i": lambda xp: xp.arctan(xp.array([1j, 2, -1j])),
    "arctan of i": lambda xp: xp.arctan(1j),
    "arctan of no pole": lambda xp: xp.arctan(xp.array([1 + 1j, 1.0000001j, INF, 0])),
    "complex arctanh": lambda xp: xp.arctanh(xp.array([1 + 0j, 2], "F")),
    "complex arctanh of many": lambda xp: xp.arctanh(xp.zeros(5000, complex) - 1),
    "reciprocal of integers": lambda xp: xp.reciprocal(xp.array([0, 1, 2])),
    "reciprocal of bytes": lambda xp: xp.reciprocal(xp.zeros(5000, "u1")),
    "reciprocal of no zero": lambda xp: xp.reciprocal(xp.array([1, 2])),
    "reciprocal of 0": lambda xp: xp.reciprocal(0),
    "polydiv": lambda xp: xp.polydiv([1.0, 2.0], [0.0, 1.0])[0],
    "polydiv of integers": lambda xp: xp.polydiv([1, 2, 3], [0, 1])[1],
    "logaddexp of NaN": lambda xp: xp.logaddexp(xp.array([1, NAN]), 2.0),
    "logaddexp of many": lambda xp: xp.logaddexp(xp.ones(5000), xp.where(xp.arange(5000) == 7, NAN, 1.0)),
    "logaddexp of a number": lambda xp: xp.logaddexp(NAN, 1.0),
    "logaddexp of infinities": lambda xp: xp.logaddexp(xp.array([INF, -INF, INF]), xp.array([INF, -INF, -INF])),
    "logaddexp, none of NaN chosen": lambda xp: xp.logaddexp(xp.array([NAN, 1]), xp.array([1, 2.0]), out=xp.zeros(2), where=xp.array([False, True])),
    "logaddexp of NaN chosen": lambda xp: xp.logaddexp(xp.array([1, 1.0]), xp.array([1, NAN]), out=xp.zeros(2), where=xp.array([False, True])),
    "complex by NaN": lambda xp: xp.array([1, 2j]) / xp.array([NAN, 1j]),
    "complex by a single NaN": lambda xp: xp.array([1, 2j]) / complex(0, NAN),
    "complex NaN by a number": lambda xp: xp.array([NAN, 2j]) / 2j,
    "complex NaN by NaN": lambda xp: xp.zeros(5000, "F") * NAN / (xp.ones(5000, "F") * NAN),
    "corrcoef of a complex number": lambda xp: xp.corrcoef(1j),
    "arctanh to no elements": lambda xp: xp.arctanh(xp.array([1.0, 2.0]), out=xp.zeros((0, 2))),
    "arctanh to none of a number": lambda xp: xp.arctanh(2.0, out=xp.zeros(0)),
    "arctanh to none with a mask": lambda xp: xp.arctanh(xp.array([2.0]), out=xp.zeros(0), where=True),
    "float32 of a list for no element": lambda xp: xp.zeros(3, "f4").__setitem__(slice(0, 0), [1e300]) or xp.zeros(1),
    "gradient by i": lambda xp: xp.gradient(xp.array([1.0, 2, 4]), 1j),
    "float16 of a list": lambda xp: xp.array([1e10, 2], "f2"),
    "float16 of nested lists": lambda xp: xp.asarray([[1e10, 2], [3, 4]], dtype=xp.float16),
    "float32 of lists and integers": lambda xp: xp.array([[1e300, 2], [3, 4]], "f4"),
    "float32 of a tuple of integers": lambda xp: xp.array((10**200, 2**70), "f4"),
    "float32 of a list": lambda xp: xp.array([1e30, INF, NAN, 2], "f4"),
    "complex64 of a list": lambda xp: xp.array([1e300 + 1j, 2], "F"),
    "fromiter": lambda xp: xp.fromiter([1e300, 2], "f4"),
    "loadtxt of nothing": lambda xp: xp.loadtxt(TEXTS["empty"]),
    "genfromtxt of rows": lambda xp: xp.genfromtxt(["1 2", "3"], invalid_raise=False),
    "row_stack": lambda xp: xp.row_stack([[1], [2]]) if hasattr(np, "row_stack") else xp.zeros(2),
}


def told(program, xp):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        np.asarray(program(xp))
    assert all(w.filename == __file__ for w in found) or xp is np
    return sorted({f"{w.category.__name__}: {w.message}" for w in found})


@pytest.mark.parametrize("dtype", LARGE)
@pytest.mark.parametrize("name", OF_ROWS)
def test_of_rows(name, dtype):
    program, plain = OF_ROWS[name], np.array([[1, NAN, 2, 0.5], [3, 4, NAN, 0.25]], dtype)
    large = plain.copy()
    large[:, :2] = LARGE[dtype]
    for x in (plain, large, np.repeat(large, 700, axis=1)):
        want = told(lambda xp, x=x: program(xp, xp.asarray(x)), np)
        assert told(lambda xp, x=x: program(xp, xp.asarray(x)), gc) == want
    with gc.errstate(all="ignore"):
        assert not told(lambda xp: program(xp, xp.asarray(large)), gc)
    if told(lambda xp: program(xp, large), np):
        with gc.errstate(all="raise"), pytest.raises(FloatingPointError):
            np.asarray(program(gc, gc.asarray(large)))


@pytest.mark.parametrize("name", OF_VECTORS)
def test_of_vectors(name):
    assert told(OF_VECTORS[name], gc) == told(OF_VECTORS[name], np)
