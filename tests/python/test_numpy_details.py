"""What NumPy's own suites look at: the errors, warnings and arguments of single functions, under NumPy and under graphc."""

import warnings

import graphc as gc
import numpy as np
import pytest

pytestmark = pytest.mark.graphc_only


class Like:
    """Gives an array, and is none."""

    def __array__(self, dtype=None, copy=None):
        return np.array([1, 2])


def outcome(call, xp):
    """The value or the class of the error, and the warnings, of a call."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            found = call(xp)
            found = np.asarray(found).tolist() if isinstance(found, (gc.Array, np.ndarray, np.generic)) else found
        except Exception as error:  # noqa: BLE001
            found = next(c for c in type(error).__mro__ if c.__module__ != "graphc.errors")
    return found, [(w.category, str(w.message)) for w in told]


def updated(xp, x, update):
    update(x)
    return x


BIG = 2**200
CASES = {
    # conversions that lose something
    "complex to real by astype": lambda xp: xp.array([1j, 2]).astype(float),
    "complex to real in a dtype": lambda xp: xp.asarray(xp.array([1j, 2]), "f4"),
    "complex to bool": lambda xp: xp.array([1j, 0]).astype(bool),
    "complex into a real array": lambda xp: updated(xp, xp.zeros((2, 3)), lambda x: x.__setitem__([0, 1], xp.array([1j, 2, 3]))),
    "complex into a row": lambda xp: updated(xp, xp.zeros((2, 3)), lambda x: x.__setitem__(0, xp.array([1j, 2, 3]))),
    "linspace too large": lambda xp: xp.linspace(0, 1e39, 3, dtype="f4"),
    "concatenate too large": lambda xp: xp.concatenate([xp.array([1e39])], dtype="f4", casting="unsafe"),
    "reduceat too large": lambda xp: xp.add.reduceat(xp.array([3e38, 3e38], "f4"), [0]),
    "a NumPy number over zeros": lambda xp: np.float64(1) / xp.zeros(2),
    # arguments
    "can_cast of an array": lambda xp: xp.can_cast(np.array([1.1, 2.2]), "i8", casting="same_kind"),
    "correlate by number": lambda xp: xp.correlate(np.arange(4.0), np.ones(2), mode=2),
    "convolve by number": lambda xp: xp.convolve(np.arange(4.0), np.ones(2), mode=0),
    "isclose of no tolerance": lambda xp: xp.isclose(np.array([1.0]), np.array([2.0]), rtol=np.nan),
    "astype of a list": lambda xp: xp.astype([1, 2], float),
    "require what is not": lambda xp: xp.require([1], requirements=["Q"]),
    "bins below one": lambda xp: xp.histogramdd(np.arange(8).reshape(2, 4), bins=[1, 0.99, 1, 1]),
    "einsum by no rule": lambda xp: xp.einsum("ij->ij", np.ones((2, 2)), casting="bad"),
    "iterators of a broadcast": lambda xp: [len(i) for i in xp.broadcast(np.arange(3), 2).iters],
    "too many to broadcast": lambda xp: xp.broadcast(*[1] * 65),
    "cross of a number": lambda xp: xp.cross(0, np.zeros(3)),
    "item by a tuple": lambda xp: xp.arange(6.0).reshape(2, 3).item((1, xp.asarray(2))),
    "item by a number": lambda xp: xp.arange(6.0).reshape(2, 3).item(4),
    "transpose by an array": lambda xp: xp.zeros((2, 3, 4)).transpose(xp.asarray([2, 0, 1])).shape,
    "reshape by an array": lambda xp: xp.zeros((2, 3)).reshape(xp.asarray([3, 2])).shape,
    "zeros by an array": lambda xp: xp.zeros(xp.arange(2, 4)).shape,
    "select of names": lambda xp: xp.select([[True, False]], [["f4", "i8"]], "c8").tolist(),
    # indices
    "an array-like as an index": lambda xp: xp.arange(4)[Like()],
    "a slice in a list": lambda xp: xp.arange(3)[[0, slice(None)]],
    "strings in a list": lambda xp: xp.arange(3)[["a"]],
    "a string as an index": lambda xp: xp.arange(3)["a"],
    # nothing
    "percentile of nothing": lambda xp: xp.percentile([], 50),
    "percentiles of empty rows": lambda xp: xp.percentile(np.zeros((3, 0)), [50, 20], axis=1),
    "quantile of nothing": lambda xp: xp.quantile(np.array([]), 0.5),
    # integers that no dtype has
    "less than a large integer": lambda xp: xp.arange(4) < BIG,
    "equal to a large integer": lambda xp: xp.equal(xp.arange(4), -BIG),
    "floats and a large integer": lambda xp: xp.arange(3.0) * BIG,
    "integers and a large integer": lambda xp: xp.arange(3) * BIG,
    "floats and an integer beyond floats": lambda xp: xp.arange(3.0) + 10**400,
    "ufunc and a large integer": lambda xp: xp.add(BIG, xp.arange(3.0)),
    # NumPy's arrays are changed in place
    "put": lambda xp: updated(xp, np.array(["a", "b"]), lambda x: xp.put(x, [1], ["c"])),
    "place": lambda xp: updated(xp, np.arange(3.0), lambda x: xp.place(x, [True, False, True], [7, 8])),
    "putmask": lambda xp: updated(xp, np.arange(3.0), lambda x: xp.putmask(x, x > 0, 5)),
    "copyto": lambda xp: updated(xp, np.arange(3.0), lambda x: xp.copyto(x, xp.ones(3))),
    "fill_diagonal": lambda xp: updated(xp, np.zeros((2, 2)), lambda x: xp.fill_diagonal(x, 3)),
    "add.at": lambda xp: updated(xp, np.zeros(3), lambda x: xp.add.at(x, [0, 0], 1)),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_as_numpy(name):
    assert outcome(CASES[name], gc) == outcome(CASES[name], np)


def test_the_memory_of_values_by_numpys_description():
    x = gc.arange(6.0).reshape(2, 3) * 2
    told, numpys = x.__array_interface__, (np.arange(6.0).reshape(2, 3) * 2).__array_interface__
    assert {k: told[k] for k in ("shape", "typestr", "version", "descr")} == {k: numpys[k] for k in ("shape", "typestr", "version", "descr")}
    assert told["data"] == (np.asarray(x).ctypes.data, True)


def test_the_array_interface_leaves_bfloat16_to_others():
    pytest.importorskip("ml_dtypes")
    x = gc.ones(2, gc.bfloat16)
    assert not hasattr(x, "__array_interface__") and np.array(x).dtype == gc.bfloat16
