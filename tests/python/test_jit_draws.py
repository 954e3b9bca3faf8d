"""Jitted functions that draw by NumPy's generators: at each call the numbers that the plain function would draw."""

import warnings

import graphc as gc
import numpy as np
import pytest
from support import exact
from support.threads import side_by_side

pytestmark = pytest.mark.graphc_only


@pytest.fixture(autouse=True)
def nothing_is_recorded_anew():
    with warnings.catch_warnings():
        warnings.simplefilter("error", gc.PerformanceWarning)
        yield


def test_each_call_draws():
    ours, theirs = gc.random.default_rng(3), np.random.default_rng(3)

    def function(xp, rng, x):
        y = rng.normal(size=x.shape)
        y += 1
        return x + y, rng.random() * x, y, rng.integers(0, 9, (2, 2)), rng.permutation(5)

    jitted = gc.jit(lambda x: function(gc, ours, x))
    for n in (3, 3, 5, 3):
        for got, want in zip(jitted(gc.ones(n)), function(np, theirs, np.ones(n)), strict=True):
            exact.assert_same(np.asarray(got), want)
    assert jitted.cache_info().traces == 2 and not jitted.cache_info().eager
    assert ours.random() == theirs.random()


def test_results_of_earlier_calls_stay():
    ours, theirs = gc.random.default_rng(3), np.random.default_rng(3)
    draw = gc.jit(lambda x: ours.standard_normal(4))
    kept = [draw(gc.zeros(1)) for _ in range(3)]
    for got in kept:
        exact.assert_same(np.asarray(got), theirs.standard_normal(4))


def test_generators_as_arguments():
    function = gc.jit(lambda x, a, b: x * a.random(4) + b.integers(0, 9, 4))
    for i in range(20):
        a, b = np.random.default_rng(i), np.random.default_rng(i + 1)
        wanted = np.arange(4.0) * a.random(4) + b.integers(0, 9, 4)
        exact.assert_same(np.asarray(function(gc.arange(4.0), gc.random.default_rng(i), gc.random.default_rng(i + 1))), wanted)
        one, ours = np.random.default_rng(i), gc.random.default_rng(i)
        exact.assert_same(np.asarray(function(gc.arange(4.0), ours, ours)), np.arange(4.0) * one.random(4) + one.integers(0, 9, 4))
    assert function.cache_info().traces == 2


def test_threads_draw_one_stream():
    """Each call has numbers of its own, whichever order the calls come in."""
    ours, theirs = gc.random.default_rng(3), np.random.default_rng(3)
    draw = gc.jit(lambda x: x + ours.integers(0, 2**31, 2))
    draw(gc.zeros(2, dtype="int64"))
    theirs.integers(0, 2**31, 2)
    drawn = []
    side_by_side(*[lambda: drawn.extend([draw(gc.zeros(2, dtype="int64")) for _ in range(50)])] * 4)
    assert len(drawn) == 200
    assert sorted(x.tolist() for x in drawn) == sorted(theirs.integers(0, 2**31, 2).tolist() for _ in range(200))


def test_numpys_own_generators_are_refused():
    """Their numbers would be those of the recording, at each call the same."""
    for rng in (np.random.default_rng(1), np.random.RandomState(1)):
        with pytest.raises(gc.TraceError, match="cannot trace an argument of type"):
            gc.jit(lambda x, r: x + r.random(3))(gc.zeros(3), rng)


def test_generators_that_the_function_makes_begin_anew():
    function = gc.jit(lambda x: x + gc.random.default_rng(5).random(3))
    for _ in range(3):
        exact.assert_same(np.asarray(function(gc.zeros(3))), np.random.default_rng(5).random(3))


def test_recordings_take_no_numbers():
    ours, theirs = gc.random.default_rng(3), np.random.default_rng(3)
    function = gc.jit(lambda x: x + ours.random(3))
    function.lower(gc.zeros(3))
    function.explain(gc.zeros(3))
    exact.assert_same(np.asarray(function(gc.zeros(3))), theirs.random(3))

    @gc.jit
    def broken(x):
        ours.random(2)
        raise KeyError("x")

    with pytest.raises(KeyError):
        broken(gc.zeros(3))
    assert ours.random() == theirs.random()


def test_numbers_of_calls_as_parameters():
    ours, theirs = gc.random.default_rng(3), np.random.default_rng(3)
    function = gc.jit(lambda x, scale: x + ours.normal(0, scale, 3))
    for scale in (1.0, 2.0, 2.0, 3.5):
        exact.assert_same(np.asarray(function(gc.zeros(3), scale)), theirs.normal(0, scale, 3))


def test_draws_of_computed_parameters_run_as_plain_python():
    ours, theirs = gc.random.default_rng(3), np.random.default_rng(3)
    function = gc.jit(lambda x: ours.normal(x * 2, 1))
    with pytest.warns(gc.PerformanceWarning, match="recorded anew at each call: random.normal: NumPy draws on the host"):
        for _ in range(2):
            exact.assert_same(np.asarray(function(gc.arange(3.0))), theirs.normal(np.arange(3.0) * 2, 1))
    with pytest.raises(gc.TraceError, match="random.normal: NumPy draws on the host"):
        gc.jit(lambda x: ours.normal(x * 2, 1), fullgraph=True)(gc.arange(3.0))
