"""Functions whose dtype, values of none, or warnings follow from the kinds of their operands."""

import functools
import warnings

import graphc as gc
import numpy as np
import pytest
from support import exact

DTYPES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"]


def outcome(program, xp):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        try:
            made = np.asarray(program(xp))
        except TypeError:
            return "TypeError", []
    return made, sorted(str(w.message) for w in found)


def alike(program):
    (ours, said), (theirs, their_said) = outcome(program, gc), outcome(program, np)
    assert said == their_said
    if isinstance(theirs, str):
        assert isinstance(ours, str)
    elif theirs.dtype.kind == "c":
        assert ours.dtype == theirs.dtype
        exact.assert_same(ours.real, theirs.real)
        exact.assert_same(ours.imag, theirs.imag)
    else:
        exact.assert_same(ours, theirs)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("number", [7, -1, True, 2.5])
def test_heaviside_with_numbers(dtype, number):
    for values in ([[1, 0, 2]], 1):
        alike(lambda xp, values=values: xp.heaviside(xp.array(values, dtype=dtype), number))
        alike(lambda xp, values=values: xp.heaviside(number, xp.array(values, dtype=dtype)))


@pytest.mark.parametrize("first", DTYPES[1:9])
@pytest.mark.parametrize("second", DTYPES[:9])
def test_vector_products_of_integers_wrap_around_in_silence(first, second):
    for a, b in (([0, 3, 1], [2, 1, 1]), ([0, 3], [2, 1, 1]), ([0, 3, 1], [2, 1]), ([0, 3], [2, 1])):
        alike(lambda xp, a=a, b=b: xp.cross(xp.array(a, dtype=first), xp.array(b, dtype=second)))
    alike(lambda xp: xp.cross(xp.array([[0, 3, 1], [1, 1, 0]], dtype=first), xp.array([2, 1, 1], dtype=second)))
    alike(lambda xp: xp.cross(xp.array([[0, 3, 1], [1, 1, 0]], dtype=first), xp.array([2, 1, 1], dtype=second), axisc=0))


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c8", "c16"])
def test_means_of_none(dtype):
    alike(lambda xp: xp.nanmean(xp.zeros((0, 3), dtype), axis=0))
    alike(lambda xp: xp.nanmean(xp.full((2, 3), np.nan, dtype), axis=1))
    alike(lambda xp: xp.nanmean(xp.array([[np.nan, 1], [np.nan, np.nan]], dtype), axis=1))


def test_unwrap_of_bools():
    for values in ([True, False, False, True], [[True, True], [False, True]]):
        alike(lambda xp, values=values: xp.unwrap(xp.array(values)))
    alike(lambda xp: xp.unwrap(xp.array([True, False, True]), period=1.5))


@pytest.mark.parametrize("second", DTYPES)
@pytest.mark.parametrize("first", DTYPES)
def test_powers_of_two_take_what_int64_holds(first, second):
    alike(lambda xp: xp.ldexp(xp.array([1, 0, 3], dtype=first), xp.array([1, 3, 0], dtype=second)))
    alike(lambda xp: xp.ldexp(2.5, xp.array([1, 3, 0], dtype=second)))
    alike(lambda xp: xp.ldexp(3, xp.array([1, 3, 0], dtype=second)))
    alike(lambda xp: xp.ldexp(xp.array([1, 0, 3], dtype=first), 2))


@pytest.mark.parametrize("first", ["?", "i1", "i8", "f4", "f8", "c16"])
def test_products_of_two_vectors_are_single_results(first):
    for xp in (np, gc):
        x = xp.array([1, 0, 1], dtype=first)
        for made in (xp.vecdot(x, [1, 2, 3]), xp.vecdot([1, 2, 3], x), xp.linalg.vecdot(x, [1, 2, 3]), xp.vecdot([1, 2], [3, 4]),
                     xp.vecdot(x, xp.arange(3.0)), xp.vecdot(x, [1, 2, 3], axes=[0, 0, ()])):  # fmt: skip
            assert isinstance(made, np.generic) and not isinstance(made, xp.ndarray)
        assert xp.vecdot(x, [1, 2, 3], keepdims=True).shape == (1,)
        assert xp.vecdot(x, [[1, 2, 3]]).shape == (1,)


@pytest.mark.parametrize("dtype", ["?", "i4", "f2", "f4", "f8"])
@pytest.mark.parametrize(("shape", "axis"), [((0,), 0), ((0, 3), 0), ((0, 3), 1), ((3, 0), 1), ((0, 3), None)])
def test_quantiles_of_nothing_are_means(shape, axis, dtype):
    for keepdims in (False, True):
        for name, given in (("nanmedian", ()), ("nanpercentile", (50,)), ("nanpercentile", ([10, 90],)), ("nanquantile", (0.5,)), ("nanquantile", ([0.1, 0.9],))):
            x = np.zeros(shape, dtype)
            ours, theirs = (outcome(lambda xp, n=name, g=given: getattr(xp, n)(xp.asarray(x), *g, axis=axis, keepdims=keepdims), xp) for xp in (gc, np))
            exact.assert_same(ours[0], theirs[0])
            assert [text.replace("scalar ", "") for text in ours[1]] == [text.replace("scalar ", "") for text in theirs[1]]
    for xp in (np, gc):
        with pytest.raises(ValueError, match="range"):
            xp.nanquantile(xp.zeros(0), 2)


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("dtype", ["i1", "u1", "i8", "f4"])
def test_spreads_of_integers_wrap_around_in_silence(dtype, axis):
    alike(lambda xp: xp.ptp(xp.array([[100, -100], [-128, 127]], "i8").astype(dtype), axis=axis))


@pytest.mark.parametrize("program", [
    lambda xp: xp.poly([]), lambda xp: xp.polyval(xp.zeros(0, "f2"), xp.arange(3)), lambda xp: xp.polyval([], xp.arange(3, dtype="f4")),
    lambda xp: xp.polyval(xp.zeros(0, "c16"), 3), lambda xp: xp.linalg.pinv(xp.zeros((0, 0), int)), lambda xp: xp.linalg.pinv(xp.zeros((2, 3, 0), "i2")),
    lambda xp: xp.linalg.pinv(xp.zeros((0, 3), "f4")),
])  # fmt: skip
def test_dtypes_of_nothing(program):
    alike(program)


def test_the_polynomial_without_roots_is_a_number():
    assert type(gc.poly([])) is type(np.poly([])) is float


IN_NUMPYS_PLACE = """
handlers = {xp.ndarray: "array", list: "list", xp.float64: "number"}
values = [xp.arange(3), theirs, xp.array(["a", "b"]), [1], xp.arange(3.0).mean(), xp.matrix([[1]])]
found = [(handlers.get(type(v)), type(v) == xp.ndarray, type(v) != xp.ndarray, type(v) in (list, xp.ndarray)) for v in values]
"""


def test_the_class_of_arrays_is_numpys_to_a_program_that_names_graphc_alone():
    """It compares types, and looks them up: of results of SciPy, of arrays of text. What others keep by class is kept of each."""
    found = []
    for xp in (gc, np):
        names = {"xp": xp, "theirs": np.arange(3.0)}
        exec(IN_NUMPYS_PLACE, names)
        found.append(names["found"])
    assert found[0] == found[1]
    # This module names both packages.
    assert gc.ndarray != np.ndarray and len({gc.ndarray, np.ndarray}) == 2 and {gc.ndarray: 1, np.ndarray: 2}[gc.ndarray] == 1
    for file, is_one in (("/e/lib/python3.11/functools.py", False), ("/e/site-packages/package/core.py", False), ("/srv/program/core.py", True)):
        names = {"kinds": (gc.ndarray, np.ndarray), "__file__": file}
        exec("found = [kinds[0] == kinds[1], kinds[0] != kinds[1], kinds[1] in kinds[:1], len({*kinds})]", names)
        assert names["found"] == ([True, False, True, 1] if is_one else [False, True, False, 2])

    # A package's function that has an array in hand asks a table that another module of it has filled.
    names = {"__name__": "package.boxes", "__file__": "/e/site-packages/package/boxes.py", "boxes": {np.ndarray: "array", float: "number"}}
    exec("import numpy as np\ndef box(value): return boxes[type(value)]\ndef is_known(value): return type(value) in boxes", names)
    assert names["box"](gc.arange(3)) == names["box"](np.arange(3)) == "array" and names["is_known"](gc.arange(3.0)) and not names["is_known"](gc.arange)
    names = {"__name__": "package.boxes", "__file__": "/e/site-packages/package/boxes.py", "np": np, "xp": gc}
    exec("def are_one(value): return type(value) == np.ndarray\ndef kept(value): return {xp.ndarray: 1, np.ndarray: 2}[type(value)]", names)
    assert not names["are_one"](gc.arange(3)) and names["kept"](gc.arange(3)) == 1 and names["kept"](np.arange(3)) == 2

    @functools.singledispatch
    def kind(value):
        return "other"

    @kind.register(gc.ndarray)
    def _(value):
        return "array"

    assert [kind(gc.arange(3)), kind(np.arange(3)), kind(gc.arange(3.0).mean()), kind([])] == ["array", "array", "other", "other"]


def test_numpys_arrays_and_ours_are_told_apart_where_they_are_computed():
    """What looks at the types of its operands goes by the classes themselves."""
    ours, theirs = gc.arange(4.0), np.arange(4.0)
    for made in (ours + theirs, theirs + ours, np.add(theirs, ours), gc.concatenate([ours, theirs]), gc.concatenate([theirs, theirs]), gc.stack([theirs, ours])):
        assert type(made) is gc.ndarray
    words = np.array(["a", "b", "c", "d"])
    assert gc.where(ours > 1, words, "x").tolist() == np.where(theirs > 1, words, "x").tolist()
    assert gc.vectorize(lambda a, b: a + b)(ours, theirs).tolist() == (theirs + theirs).tolist()
    assert ours.view(np.ndarray) is not None and type(ours.view(gc.ndarray)) is gc.ndarray


@pytest.mark.parametrize("dtype", ["i4", "f2", "f4", "f8", "c8", "c16"])
def test_means_of_nothing_divide_as_numpys(dtype):
    for program in (lambda xp: xp.mean(xp.zeros(0, dtype)), lambda xp: xp.zeros((0, 2), dtype).mean(), lambda xp: xp.zeros((0, 2), dtype).mean(axis=0), lambda xp: xp.zeros(0, dtype).mean(keepdims=True)):
        alike(program)
