"""NumPy dressed as graphc (GRAPHC_TEST_ORACLE=1): runs the tests against the oracle, to test the tests."""

import contextlib
import sys
import types

import numpy as np


class Module(types.ModuleType):
    def __getattr__(self, name):
        return getattr(np, name)


def _jit(function=None, **_):
    return function if function is not None else lambda f: f


def _with_device(function):
    def apply(*args, device=None, **keywords):
        return function(*args, **keywords)

    return apply


def _documented_differences(gc):
    """Where graphc means something else than NumPy on purpose, the reference stands in."""
    from . import optable, reference

    def through_reference(op):
        def apply(*arrays):
            value, wide = reference.expected(op, list(arrays))
            if value is not None:
                return value
            plain = reference.promoted(op, arrays)
            return getattr(np, op.numpy_name)(*plain) if op.numpy_name else wide.astype(plain[0].dtype)

        return apply

    for op in optable.elementwise():
        if op.name in reference.SPECIAL or op.promote_to_float:
            for name in op.py_names or (op.name,):
                setattr(gc, name, through_reference(op))
    gc.astype = lambda x, dtype, copy=True: reference.cast(x, dtype)


def install():
    gc = Module("graphc")
    gc.__path__ = []
    gc.Array = np.ndarray
    gc.jit = _jit
    gc.eval = lambda *arrays: None
    gc.synchronize = lambda device=None: None
    gc.devices = lambda all=False: ["cpu"]
    gc.device = lambda name: contextlib.nullcontext()
    for name in ("asarray", "array", "zeros", "ones", "full", "empty", "arange", "linspace", "eye"):
        setattr(gc, name, _with_device(getattr(np, name)))
    _documented_differences(gc)
    np.seterr(all="ignore")
    sys.modules["graphc"] = gc
    return gc
