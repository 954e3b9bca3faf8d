"""Arrays made of NumPy's arrays: of the dtype that they have, of several of one shape, joined with arrays; as NumPy makes them."""

import graphc as gc
import numpy as np
import pytest

pytestmark = pytest.mark.graphc_only

DTYPES = ["?", "i1", "u2", "i4", "i8", "f2", "f4", "f8", "c8", "c16"]


def same(ours, theirs):
    assert isinstance(ours, gc.Array)
    assert (ours.dtype, ours.shape, ours.tolist()) == (theirs.dtype, theirs.shape, theirs.tolist())


@pytest.mark.parametrize("make", ["array", "asarray", "asanyarray"])
@pytest.mark.parametrize("held", DTYPES)
def test_dtypes_that_arrays_have_or_not(make, held):
    made = [np.arange(6).astype(held), np.arange(6).reshape(2, 3).astype(held), np.asfortranarray(np.arange(6).reshape(2, 3)).astype(held), np.array(3, held)]
    for a in [*made, np.arange(12).astype(held)[::2], np.zeros((0, 2), held)]:
        for asked in [held, np.dtype(held), np.dtype(held).type, float, complex]:
            if np.dtype(held).kind == "c" and asked is float:
                continue
            same(getattr(gc, make)(a, dtype=asked), getattr(np, make)(a, dtype=asked))
            same(getattr(gc, make)(a, asked), getattr(np, make)(a, asked))


def test_copies_of_arrays_of_the_dtype_asked_for():
    a = np.arange(4.0)
    copied = gc.array(a, dtype=float)
    a[0] = 9
    assert copied.tolist() == [0, 1, 2, 3]
    copied[1] = 7
    assert a.tolist() == [9, 1, 2, 3]


@pytest.mark.parametrize("name", ["array", "asarray"])
def test_sequences_of_arrays_of_one_shape(name):
    x, y, n, z = np.arange(3.0), np.arange(3, dtype="f4"), np.arange(3), np.array(2.5)
    for values in ([x, y], (x, n), [n, n], [z, z], [x.reshape(1, 3), x.reshape(1, 3)], [x > 1, n], [np.zeros(0), np.zeros(0)], [x[::2], x[1:]], [n.astype(">i4"), n]):
        same(getattr(gc, name)(values), getattr(np, name)(values))
    for xp in (np, gc):
        with pytest.raises(ValueError, match="inhomogeneous"):
            getattr(xp, name)([x, x[:2]])
    text = getattr(gc, name)([np.array(["a"]), np.array(["b"])])
    assert type(text) is np.ndarray and text.tolist() == [["a"], ["b"]]


def test_numpys_arrays_are_joined_with_arrays():
    x, n = np.arange(3.0), np.arange(3)
    for make in (lambda xp, a: [x, a], lambda xp, a: (a, n), lambda xp, a: [x, n], lambda xp, a: [a.reshape(1, 3), x.reshape(1, 3)]):
        for axis in (0, None):
            same(gc.concatenate(make(gc, gc.arange(3)), axis=axis), np.concatenate(make(np, np.arange(3)), axis=axis))
    for xp in (np, gc):
        with pytest.raises(ValueError, match="zero-dimensional"):
            xp.concatenate([np.array(1.0), xp.arange(2)])
        with pytest.raises(ValueError):
            xp.concatenate([x, xp.zeros((2, 2))])
    assert gc.concatenate([np.array(["a"]), x]).tolist() == np.concatenate([np.array(["a"]), x]).tolist()


def test_values_are_constants_of_jitted_functions():
    a = np.arange(3.0)

    @gc.jit
    def f(x):
        return x + gc.asarray(a, dtype=float) + gc.array([a, a])[0] + gc.concatenate([a[:1], x[1:]])

    assert f(gc.ones(3)).tolist() == [1, 4, 6]
