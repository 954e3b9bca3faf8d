"""`interp` at many points in loops: one pass where it is met, with the bits of what is recorded."""

import graphc as gc
import numpy as np
import pytest
from graphc import _graphc

pytestmark = pytest.mark.graphc_only


@pytest.mark.parametrize("is_sorted", [False, True])
@pytest.mark.parametrize("points", [1, 2, 3, 8, 31, 200])
@pytest.mark.parametrize("repeats", [False, True])
def test_bits_of_recorded_operations(points, repeats, is_sorted):
    rng = np.random.RandomState(points)
    xp = np.sort(rng.randint(0, 12, points) * 1.0 if repeats else rng.rand(points) * 12)
    at = np.concatenate([rng.rand(2400) * 16 - 2, xp, np.nextafter(xp, np.inf), np.nextafter(xp, -np.inf)])
    at = np.sort(at) if is_sorted else at
    fp = rng.normal(size=points)
    x, places, values = map(gc.asarray, (at, xp, fp))
    gc.eval(x, places, values)
    for _ in range(20):
        found = gc.interp(x, places, values)
    assert not _graphc.pending(found)
    np.testing.assert_allclose(np.asarray(found), np.interp(at, xp, fp), rtol=1e-9, atol=1e-12)
    before = _graphc.set_loop_turns(255)
    recorded = np.array(gc.interp(x, places, values))
    _graphc.set_loop_turns(before)
    assert np.asarray(found).tobytes() == recorded.tobytes()


def test_points_that_are_pending():
    grid = gc.asarray(np.mgrid[:48, :48][0] * 1.0)
    places, values = gc.arange(48.0) - 23.5, gc.cos(gc.arange(48.0))
    total = gc.zeros((48, 48))
    for turn in range(30):
        total += gc.interp(grid * 0.3 + grid.T * 0.1 * turn - 20, places, values)
    plain, grid = np.zeros((48, 48)), np.asarray(grid)
    for turn in range(30):
        plain += np.interp(grid * 0.3 + grid.T * 0.1 * turn - 20, np.arange(48.0) - 23.5, np.cos(np.arange(48.0)))
    np.testing.assert_allclose(np.asarray(total), plain, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("count", [5000, 100_000])
def test_few_numbers_among_many_points(count):
    rng = np.random.RandomState(count)
    xp, fp = np.sort(rng.rand(count)), rng.normal(size=count)
    places, values = gc.asarray(xp), gc.asarray(fp)
    gc.eval(places, values)
    at = np.concatenate([rng.rand(8), xp[[0, 7, -1]], [-1.0, 2.0]])
    np.testing.assert_allclose(np.asarray(gc.interp(gc.asarray(at), places, values)), np.interp(at, xp, fp), rtol=1e-9, atol=1e-12)
    for number in (0.5, float(xp[3]), float(xp[-1]), -2.0, 3, np.float64(0.25), np.nan):
        np.testing.assert_allclose(gc.interp(number, places, values), np.interp(number, xp, fp), rtol=1e-9)


def test_infinite_points_among_many():
    xp, fp = np.arange(5000.0), np.arange(5000.0) * 2
    fp[[0, 10, 4999]] = np.inf, np.nan, -np.inf
    xp[[0, -1]] = -np.inf, np.inf
    at = np.array([-3.0, 0.5, 1.5, 9.5, 10.0, 10.5, 4000.25, 4998.5, 6000.0])
    with np.errstate(all="ignore"):
        wanted = np.interp(at, xp, fp)
    with gc.errstate(all="ignore"):
        found = gc.interp(gc.asarray(at), gc.asarray(xp), gc.asarray(fp))
    np.testing.assert_array_equal(np.asarray(found), wanted)
