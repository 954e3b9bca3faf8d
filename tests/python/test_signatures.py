"""What `inspect.signature` says, and that calls by position and by keyword mean what they mean to NumPy."""

import inspect
import io

import graphc as gc
import numpy as np
import pytest
from support import exact


def parameters(function):
    """Names, kinds and defaults; None where nothing is said of them."""
    try:
        found = inspect.signature(function).parameters.values()
    except ValueError:
        return None
    return [(p.name, p.kind, "a type" if isinstance(p.default, (type, np.dtype)) else p.default) for p in found]


#: Of which NumPy's keywords come first, without its `**kwargs`, or which are classes of their own.
OTHERS = {"array", "arange", "argsort", "sort", "clip", "einsum", "errstate", "fftfreq", "rfftfreq", "matmul", "vecdot", "test", "vectorize", "ndarray", "fromstring"}


@pytest.mark.parametrize("part", ["", "linalg", "fft"])
def test_functions_take_numpys_parameters(part):
    ours, theirs = (getattr(xp, part) if part else xp for xp in (gc, np))
    seen = 0
    for name in sorted(vars(theirs)):
        function = getattr(theirs, name)
        if name.startswith("_") or not callable(function) or name in OTHERS or isinstance(function, type) or parameters(function) is None:
            continue
        assert parameters(getattr(ours, name)) == parameters(function), name
        seen += 1
    assert seen > 10


@pytest.mark.parametrize("name", ["array", "argsort", "sort", "fft.fftfreq", "fft.rfftfreq"])
def test_what_only_graphc_takes_comes_after_numpys_parameters(name):
    for part in name.split(".")[:-1]:
        ours, theirs = getattr(gc, part), getattr(np, part)
    ours, theirs = (getattr(xp, name.split(".")[-1]) for xp in ((ours, theirs) if "." in name else (gc, np)))
    ours, theirs = parameters(ours), parameters(theirs)
    assert ours[: len(theirs)] == theirs
    assert len(ours) > len(theirs) and all(kind is inspect.Parameter.KEYWORD_ONLY for _, kind, _ in ours[len(theirs) :])


def test_methods_take_numpys_parameters():
    for name in ("reshape", "ravel", "copy", "astype", "fill", "item", "transpose", "swapaxes", "squeeze", "tobytes", "tolist", "sum", "max", "any", "argmin"):
        assert parameters(getattr(gc.ndarray, name)) == parameters(getattr(np.ndarray, name)), name
        assert parameters(getattr(gc.ones(2), name)) == parameters(getattr(np.ones(2), name)), name
        assert getattr(gc.ndarray, name).__doc__
    for name in ("MT19937", "PCG64", "Philox", "SeedSequence"):
        assert parameters(getattr(gc.random, name)) == parameters(getattr(np.random, name)), name


def test_arguments_by_position_and_by_keyword():
    def program(xp):
        x = xp.array([[1.0, xp.nan, -3.0], [4.0, 5.0, xp.nan]])
        chosen = xp.array([[True, True, False], [True, False, True]])
        made = [f(x, 1, None, False, 2.0, chosen) for f in (xp.nanmax, xp.nanmin)]
        made += [f(x, 1, None, None, False, 2.0, chosen) for f in (xp.nansum, xp.nanprod)]
        made += [f(x, axis=0, initial=0.5) for f in (xp.nanmax, xp.nanmin, xp.nansum, xp.nanprod)]
        made += [xp.permute_dims(a=x, axes=(1, 0)), xp.fft.fftfreq(5, 0.5, "cpu"), xp.fft.rfftfreq(5, 0.5, None)]
        made += [xp.array([1, 0]).choose([1, 2], [3, 4])]
        made += [xp.loadtxt(["#1;2", "3;4"], float, "%", ";", {0: lambda s: float(s.strip("#"))}), xp.genfromtxt(["1;2", "3;4"], float, "#", ";", 1)]
        file = io.BytesIO()
        xp.save(file, xp.arange(3))
        file.seek(0)
        made += [xp.load(file, None, False, True, "ASCII"), xp.asarray([xp.finfo(dtype="f4").bits, xp.iinfo(int_type="i2").max])]
        made += [xp.asarray([int(v) for v in xp.nditer(xp.arange(6).reshape(2, 3), None, None, None, "F", "safe", [[1, 0]])])]
        return made

    for got, want in zip(program(gc), program(np), strict=True):
        exact.assert_same(np.asarray(got), np.asarray(want))
    ways = [xp.einsum_path("ij,jk", xp.ones((2, 3)), xp.ones((3, 4)), einsum_call=True)[1] for xp in (gc, np)]
    assert ways[0] == ways[1]
