"""Parts of computed arrays are computed: functions that look at few values look at theirs, and rows named by Python's numbers are written where they lie."""

import warnings

import graphc as gc
import numpy as np
import pytest
from support import exact

pytestmark = pytest.mark.graphc_only

PARTS = {"step": lambda x: x[::2], "turned": lambda x: x.T, "back": lambda x: x[::-1, 1:], "whole": lambda x: x}


@pytest.mark.parametrize("part", PARTS)
def test_a_part_is_pending_as_its_array_is(part):
    x = gc.asarray(np.arange(6000.0).reshape(60, 100))
    assert not gc._graphc.pending(PARTS[part](x))
    x = gc.asarray(np.ones((600, 1000))) + 1
    assert gc._graphc.pending(PARTS[part](x))
    gc.eval(x)
    x[3] = x[4] * 2
    assert PARTS[part](x).sum() == PARTS[part](np.asarray(x)).sum()


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("name", ["nanmin", "nanmax"])
@pytest.mark.parametrize("part", PARTS)
def test_extremes_without_nan_of_parts(part, name, axis):
    rng = np.random.default_rng(4)
    for share in (0.0, 0.1, 0.7, 1.0):
        host = rng.standard_normal((4, 6)) * np.where(rng.random((4, 6)) < 0.2, np.inf, 1)
        host[rng.random((4, 6)) < share] = np.nan
        found = []
        for xp, x in ((np, host), (gc, gc.asarray(host))):
            with warnings.catch_warnings(record=True) as met:
                warnings.simplefilter("always")
                value = np.asarray(getattr(xp, name)(PARTS[part](x), axis))
            found.append((value.tolist(), [str(w.message) for w in met]))
        assert repr(found[0]) == repr(found[1])


@pytest.mark.parametrize("places", [[0, 1], (2,), [-1, 2, -1], [], [7], [0, 9], [True, False], 3])
@pytest.mark.parametrize("value", [1, 2.5, True, [4, 5], -1, "as many", "shared"])
@pytest.mark.parametrize("dtype", ["f8", "i8", "u1", "f4", "?"])
def test_few_places_are_put_as_numpys(places, value, dtype):
    def run(xp):
        x = xp.asarray(np.arange(8).astype(dtype))
        try:
            count = np.size(places)
            values = {"as many": xp.asarray(np.arange(count).astype(dtype)), "shared": x[:count]}
            xp.put(x, places, values[value] if isinstance(value, str) else value)
        except (IndexError, TypeError, OverflowError) as error:
            return type(error).__mro__[-3:], np.asarray(x)[:1].tolist()
        return np.asarray(x).tolist()

    if places != [0, 9]:  # items before a refused one stay unwritten
        assert run(gc) == run(np)


@pytest.mark.parametrize("axis", [None, 0, 1, -1])
@pytest.mark.parametrize("condition", [[True, False, True], (1, 0), [0, 0], [], [False, True, 2, -1], [0] * 9 + [1]])
def test_few_chosen_rows_are_numpys(condition, axis):
    for host in (np.arange(5.0), np.arange(20).reshape(4, 5), np.float64(3)):
        def run(xp):
            try:
                return np.asarray(xp.compress(condition, xp.asarray(host), axis))
            except (IndexError, ValueError) as error:
                return type(error).__mro__[-3:]

        ours, theirs = run(gc), run(np)
        if isinstance(theirs, tuple):
            assert isinstance(ours, tuple)
        else:
            exact.assert_same(ours, theirs)


def test_complex_numbers_of_a_loop_are_rounded_as_numpys():
    host = np.array([1.5 - 2.5j, -0.4 + 0.4j, complex(np.inf, -0.0), complex(np.nan, 3.5)])
    x = gc.asarray(host)
    for _ in range(20):
        made = np.asarray(gc.rint(x))
    assert made.tobytes() == np.rint(host).tobytes()


@pytest.mark.parametrize("places", [[0, 2**70], [2**63], [0, 99]])
def test_places_no_array_has_are_refused(places):
    x = gc.zeros(3)
    with pytest.raises((OverflowError, IndexError), match=r"too large|out of bounds"):
        gc.put(x, places, 1.0)
    assert np.asarray(x).tolist() == [0.0, 0.0, 0.0]


def test_an_axis_is_an_integer():
    for xp in (np, gc):
        with pytest.raises(TypeError):
            xp.compress([0, 1], xp.arange(5), axis=0.0)
