"""Loops over small arrays, whose lines compute at once from a number of turns on."""

import contextlib

import graphc as gc
import numpy as np


KINDS = ["recorded", "at once"]


@contextlib.contextmanager
def turns_of(count):
    """Operations are computed when they are met from that turn of a loop on (0: at once, gc._graphc.NEVER)."""
    before = gc._graphc.set_loop_turns(count)
    try:
        yield
    finally:
        gc._graphc.set_loop_turns(before)


def of_kind(kind):
    """The turns of one of KINDS."""
    return turns_of(gc._graphc.NEVER if kind == "recorded" else 0)


def in_turns(count, program):
    """What a program gives with turns_of(count)."""
    with turns_of(count):
        return program()


def leaves(result):
    return [v for r in result for v in leaves(r)] if isinstance(result, (tuple, list)) else [result]


def assert_same(got, want, rtol=0.0):
    """Shapes, dtypes or types, values and signs of zeros, of nested results."""
    got, want = leaves(got), leaves(want)
    assert len(got) == len(want)
    for g, w in zip(got, want):
        assert np.shape(g) == np.shape(w) and getattr(g, "dtype", type(g)) == getattr(w, "dtype", type(w)), (g, w)
        g, w = np.asarray(g), np.asarray(w)
        if rtol:
            np.testing.assert_allclose(g, w, rtol=rtol, atol=0)
        else:
            np.testing.assert_array_equal(g, w)
        if w.dtype.kind == "f":
            np.testing.assert_array_equal(np.signbit(g), np.signbit(w))
