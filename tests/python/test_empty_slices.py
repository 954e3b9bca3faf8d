"""What functions say of slices without elements, or with nothing but NaN: NumPy's words, whatever errstate says."""

import inspect
import warnings

import graphc as gc
import numpy as np
import pytest
from support.float_errors import NAN, said

WHOLE = [[NAN, NAN, NAN], [1.0, NAN, 2.0]]
CASES = {
    "nanmean": lambda m, x: m.nanmean(x, axis=1),
    "nanmean of all": lambda m, x: m.nanmean(x),
    "nanmax": lambda m, x: m.nanmax(x, axis=1),
    "nanmin": lambda m, x: m.nanmin(x, axis=0, keepdims=True),
    "nanvar": lambda m, x: m.nanvar(x, axis=1),
    "nanstd": lambda m, x: m.nanstd(x, axis=1, ddof=2),
    "nanmedian": lambda m, x: m.nanmedian(x, axis=1),
    "nanpercentile": lambda m, x: m.nanpercentile(x, [25, 50], axis=1),
    "nanquantile": lambda m, x: m.nanquantile(x, 0.5),
    "nansum": lambda m, x: m.nansum(x, axis=1),
}
SAID = ("Mean of empty slice", "Degrees of freedom", "All-NaN", "Polyfit")


def of_slices(texts):
    return [t for t in texts if t.startswith(SAID)]


@pytest.mark.parametrize("dtype", ["float16", "float32", "float64"])
@pytest.mark.parametrize("name", CASES)
def test_nothing_but_nan(name, dtype, device):
    with gc.device(device):
        for rows in (WHOLE, WHOLE[1:], WHOLE[:1], np.ones((2, 3)), np.where(np.arange(6000).reshape(2, 3000) < 3000, NAN, 1.0)):
            x = np.array(rows, dtype)
            for modes in ({}, {"all": "ignore"}):
                with np.errstate(**modes), gc.errstate(**modes):
                    ours, theirs = said(lambda: CASES[name](gc, gc.asarray(x))), said(lambda: CASES[name](np, x))
                assert ours == of_slices(theirs), (rows, modes)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                got, want = np.asarray(CASES[name](gc, gc.asarray(x))), CASES[name](np, x)
            # Of several quantiles NumPy takes the dtype of whichever slice comes first.
            assert got.dtype == want.dtype or name == "nanpercentile"
            np.testing.assert_allclose(got, want, rtol=2e-3 if dtype == "float16" else 1e-6)


def test_line_and_jit():
    x = gc.asarray([NAN, NAN])
    with pytest.warns(RuntimeWarning, match="All-NaN slice encountered") as caught:
        line = inspect.currentframe().f_lineno + 1
        float(gc.nanmax(x))
    assert [(w.filename, w.lineno) for w in caught] == [(__file__, line)]
    f = gc.jit(lambda x: gc.nanmean(x) + 1)
    for _ in range(2):
        assert said(lambda: f(x)) == ["Mean of empty slice"]
        assert said(lambda: f(gc.asarray([NAN, 2.0]))) == []


@pytest.mark.parametrize(
    "make",
    [
        lambda m: m.mean(m.zeros((0,))), lambda m: m.mean(m.zeros((3, 0)), axis=1), lambda m: m.mean(m.zeros((3, 0)), axis=0),
        lambda m: m.var(m.zeros(0)), lambda m: m.std(m.ones(1), ddof=1), lambda m: m.var(m.ones((2, 5)), axis=0, ddof=2), lambda m: m.median(m.zeros(0)),
        lambda m: m.cov(m.ones((1, 1))), lambda m: m.polyfit(m.asarray([1.0, 1.0, 1.0]), m.asarray([1.0, 2.0, 1.0]), 2), lambda m: m.mean(m.ones(3)),
    ],
)  # fmt: skip
def test_by_shape(make):
    assert of_slices(said(lambda: make(gc))) == of_slices(said(lambda: make(np)))


def test_weights_that_sum_to_zero():
    for m in (np, gc):
        with pytest.raises(ZeroDivisionError, match="Weights sum to zero"):
            m.average(m.asarray([[1.0, 2.0], [3.0, 4.0]]), axis=1, weights=m.asarray([1.0, -1.0]))
