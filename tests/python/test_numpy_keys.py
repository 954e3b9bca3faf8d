"""Indices that NumPy made: small ones are taken for arrays of graphc, in loops and outside of them."""

import graphc as gc
import numpy as np
import pytest

pytestmark = pytest.mark.graphc_only


@pytest.fixture(params=["at once", "recorded"])
def loops(request):
    before = gc._graphc.set_loop_turns(0 if request.param == "at once" else gc._graphc.NEVER)
    yield
    gc._graphc.set_loop_turns(before)


KEYS = {
    "rows": lambda: np.array([3, 0, -1, 3]),
    "narrow": lambda: np.array([1, 2], np.uint8),
    "mask": lambda: np.array([True, False, True, False, True]),
    "plane": lambda: np.array([[0, 4], [-5, 2]]),
    "columns": lambda: (slice(None), np.array([2, 0, 2])),
    "pairs": lambda: (np.array([0, -1, 3]), np.array([1, 1, 2])),
    "beside": lambda: (np.array([4, 1]), slice(1, None)),
    "steps": lambda: np.arange(8)[::2] % 5,
    "one": lambda: np.array(2),
    "whole": lambda: np.arange(20).reshape(5, 4) % 3 == 0,
    "none": lambda: np.array([], np.int64),
    "lent": lambda: np.asarray(gc.asarray([2, 2, 0])),
}


@pytest.mark.parametrize("key", KEYS)
def test_keys_that_numpy_made(loops, key):
    """Of a few KiB they are taken for arrays of ours; whatever is written to them later shows nowhere."""
    k = KEYS[key]()
    want = np.arange(20.0).reshape(5, 4)
    got = gc.asarray(want)
    parts = [x[k] for x in (got, want)]
    for x in (got, want):
        x[k] = x[k] * 2 + 1
        x[k] = -3.5
        x[k] -= 0.25
    if isinstance(k, np.ndarray) and k.flags.writeable and k.ndim:
        k[...] = False
    assert np.asarray(parts[0]).tobytes() == parts[1].tobytes() and np.shape(parts[0]) == parts[1].shape
    assert np.asarray(got).tobytes() == want.tobytes()


@pytest.mark.parametrize("key", [np.array([5]), np.array([-6, 0]), np.array([True] * 4), np.array([0.5]), (np.array([0]), np.array([4]))], ids=repr)
def test_wrong_keys_that_numpy_made(loops, key):
    x = gc.asarray(np.arange(20.0).reshape(5, 4))
    for use in (lambda x: x[key], lambda x: x.__setitem__(key, 1.0)):
        with pytest.raises(IndexError) as ours:
            use(x)
        with pytest.raises(IndexError) as theirs:
            use(np.arange(20.0).reshape(5, 4))
        assert str(theirs.value).split(" (")[0].split(";")[0] in str(ours.value)
    np.testing.assert_array_equal(np.asarray(x), np.arange(20.0).reshape(5, 4))
