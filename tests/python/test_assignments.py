"""What elements take and what they refuse, against NumPy: numbers and sequences beyond a dtype, of another kind, of the wrong shape."""

import warnings
from fractions import Fraction

import graphc as gc
import numpy as np
import pytest
from support import exact
from support.loops import turns_of

KINDS = ["bool", "int8", "uint8", "int16", "uint32", "int64", "uint64", "float16", "float32", "float64", "complex64"]

#: Floats beyond integers are left out where NumPy casts them, which C leaves undefined.
VALUES = [
    True, 1, 300, -1, 2**31, 2**40, 2**63, 2**64, 1.5, 1j, None, "7", "x", b"7", [1], [1, 2], [], (3,), [300, 1, 2], [1.5, 2, 3], [1j, 2, 3],
    [None, 1, 2], ["1", "2", "3"], [2**64, 1, 2], Fraction(1, 2), {}, np.int64(300), np.int64(-1), np.uint64(2**63), np.float64(2.5), np.float64(100.5),
    np.complex128(1j), np.array(300), np.array([300]), np.array([1.5, 2.5, 3.5]),
    lambda xp: xp.array([300, 1, 2]), lambda xp: xp.array(300), lambda xp: xp.array([300, 1, 2])[0], lambda xp: xp.array([300, 1, 2]).sum(),
    lambda xp: xp.array([1.5, 100.0]).max(), lambda xp: xp.array([1j, 2])[0],
]  # fmt: skip


def element(xp, x, v):
    x[0] = v


def slices(xp, x, v):
    x[:] = v


def row(xp, x, v):
    x.reshape(1, 3)[0] = v


def masked(xp, x, v):
    x[x > 0] = v


def chosen(xp, x, v):
    x[xp.array([0, 2, 1])] = v


def listed(xp, x, v):
    x[[0, 2, 1]] = v


def no_axes(xp, x, v):
    y = x[:1].reshape(())
    y[()] = v


def all_of_no_axes(xp, x, v):
    y = x[:1].reshape(())
    y[...] = v


def filled(xp, x, v):
    x.fill(v)


def flat(xp, x, v):
    x.flat[1] = v


def put(xp, x, v):
    xp.put(x, [0, 2], v)


def place(xp, x, v):
    xp.place(x, x > 0, v)


def putmask(xp, x, v):
    xp.putmask(x, x > 0, v)


def inserted(xp, x, v):
    return xp.insert(x, 1, v)


def full(xp, x, v):
    return xp.full(3, v, x.dtype)


def diagonal(xp, x, v):
    y = xp.ones((3, 3), x.dtype)
    xp.fill_diagonal(y, v)
    return y


WAYS = [element, slices, row, masked, chosen, listed, no_axes, all_of_no_axes, filled, flat, put, place, putmask, inserted, full, diagonal]


def outcome(xp, way, kind, value):
    """The values, or the error; and the kinds of warnings but those of overflows."""
    with warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        try:
            x = xp.ones(3, kind)
            made = way(xp, x, value(xp) if callable(value) else value)
            result = np.asarray(x if made is None else made)
        except Exception as error:  # noqa: BLE001
            result = error
    return result, {w.category for w in told} - {RuntimeWarning}


def is_left_open(way, kind, value):
    """Sequences of one value are an element of bools where NumPy counts the elements of arrays."""
    return way is filled and kind == "bool" and callable(value)


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", KINDS)
def test_elements_take_what_numpys_take(kind, way):
    for value in VALUES:
        if is_left_open(way, kind, value):
            continue
        want, told = outcome(np, way, kind, value)
        got, ours = outcome(gc, way, kind, value)
        case = (kind, way.__name__, value, want, got)
        if isinstance(want, Exception):
            assert isinstance(got, Exception) and isinstance(got, type(want)), case
        else:
            assert not isinstance(got, Exception), case
            exact.assert_same(got, want)
            assert told == ours, case


def none_in(xp, dtype, key):
    """What an array holds once None was assigned, and the error that was raised."""
    x, error = xp.ones(4, dtype), None
    try:
        x[xp.arange(4) > 1 if key == "mask" else key] = None
    except (TypeError, ValueError) as raised:
        error = next(kind for kind in (TypeError, ValueError) if isinstance(raised, kind))
    return np.asarray(x), error


@pytest.mark.parametrize("turns", [gc._graphc.NEVER, 1], ids=["recorded", "at once"])
@pytest.mark.parametrize("key", [1, -1, (2,), slice(1, 3), slice(None), ..., [0, 2], "mask"], ids=str)
@pytest.mark.parametrize("dtype", ["float16", "float32", "float64", "complex64", "complex128", "int32", "uint8", "bool"])
def test_none_is_a_nan_where_elements_hold_one(dtype, key, turns):
    wanted, error = none_in(np, dtype, key)
    with turns_of(turns):
        found, raised = none_in(gc, dtype, key)
    np.testing.assert_array_equal(found, wanted)
    assert raised is error and found.dtype == wanted.dtype


@pytest.mark.parametrize("kind", ["int8", "int16", "int64"])
@pytest.mark.parametrize("value", [float("nan"), float("inf"), 1e300, -1e300])
def test_floats_beyond_signed_integers_are_refused(kind, value):
    for given in (value, np.float64(value), [value, 1.0, 2.0], lambda xp: xp.array([value])[0], lambda xp: (xp.array([value]) * 1).sum()):
        for way in (element, slices, filled, flat):
            want, _ = outcome(np, way, kind, given)
            got, _ = outcome(gc, way, kind, given)
            assert isinstance(want, Exception) and isinstance(got, type(want)), (way.__name__, given, want, got)


def test_an_element_that_is_refused_stays():
    x = gc.arange(4, dtype="int8")
    for value in (300, np.int64(-300), gc.array([1e5])[0], [1], "x"):
        for write in (element, filled):
            with pytest.raises((OverflowError, TypeError, ValueError)):
                write(gc, x, value)
    assert x.tolist() == [0, 1, 2, 3]


def test_pending_numbers_are_looked_at_where_they_may_not_fit():
    def program(xp):
        x, y = xp.zeros(4, "int8"), xp.zeros(4, "uint8")
        a = xp.arange(100)
        x[1] = (a * 2).max() - 100
        y[1] = (a * 4).max()
        x[2] = (a * 1.5).mean() - 20
        return x, y

    for got, want in zip(program(gc), program(np), strict=True):
        exact.assert_same(np.asarray(got), want)
    x = gc.zeros(4, "int8")
    with pytest.raises(OverflowError, match="out of bounds for int8"):
        x[1] = (gc.arange(100) * 4).max()


def test_where_wraps_numbers_beyond_the_other_operand():
    def program(xp):
        c = xp.array([True, False])
        return [xp.where(c, v, xp.ones(2, k)) for v in (300, -1, 2**31) for k in ("int8", "uint8", "int32", "uint64", "float32")]

    for got, want in zip(program(gc), program(np), strict=True):
        exact.assert_same(np.asarray(got), want)
    for xp in (np, gc):
        with pytest.raises(OverflowError):
            xp.clip(xp.ones(2, "uint8"), 0, -1)


def test_at_takes_numbers_beyond_the_elements():
    def program(xp):
        x, y = xp.ones(3, "uint8"), xp.ones(3, "int16")
        xp.add.at(x, [0, 0, 2], -1)
        xp.multiply.at(x, [1], 300)
        xp.subtract.at(y, [0, 0], 70000)
        return x, y

    for got, want in zip(program(gc), program(np), strict=True):
        exact.assert_same(np.asarray(got), want)


def test_outputs_take_single_results_whatever_fits():
    def program(xp):
        total, out, small = xp.array([3], "uint32").sum(), xp.zeros(1, "int64"), xp.zeros((), "int8")
        xp.negative(total, out=out)
        xp.add(xp.array([300])[0], 1, out=small)
        taken = xp.zeros((), "int8")
        xp.take(xp.array([5, 300]), 1, out=taken, mode="clip")
        return out, small, taken

    for got, want in zip(program(gc), program(np), strict=True):
        exact.assert_same(np.asarray(got), want)


@pytest.mark.parametrize("key", [slice(None), slice(1, 3), (slice(None), 1), 1, (slice(None, None, -1), slice(0, 2)), ..., slice(0, 0)], ids=str)
@pytest.mark.parametrize("dtype", ["complex128", "complex64", "float32", "int32", "bool"])
def test_numbers_into_parts_again_and_again(dtype, key):
    numbers = [0, True, 2.5, -0.0, 1 + 2j, float("inf"), 10**30, 1e300, 1e300 + 1j, np.float32(2), np.complex64(1 - 2j), np.int8(-3)]
    made = [lambda xp: xp.asarray(3), lambda xp: xp.ones(3, dtype=dtype)[1], lambda xp: xp.asarray(1 - 1j, dtype="complex64"),
            lambda xp: xp.arange(2)[1:].astype("complex64")]
    for give in [lambda xp, number=number: number for number in numbers] + made:
        found = []
        for xp in (np, gc):
            x, value = xp.ones((4, 3), dtype=dtype), give(xp)
            with warnings.catch_warnings(record=True) as told:
                warnings.simplefilter("always")
                try:
                    for _ in range(4):
                        x[key] = value
                except (TypeError, ValueError, OverflowError) as error:
                    found.append(type(error))
                else:
                    found.append((np.asarray(x).tobytes(), {w.category for w in told}))
        assert found[0] == found[1], (dtype, key, value)


@pytest.mark.parametrize("dtype", KINDS + ["complex128"])
def test_masks_take_numbers_again_and_again(dtype):
    mask = np.array([True, False, True, True, False])
    for number in (1, True, 0.5, -1, 1e300, 2j):
        found = []
        for xp in (np, gc):
            x, chosen = xp.zeros(5, dtype=dtype), xp.asarray(mask)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                try:
                    for _ in range(4):
                        x[chosen] = number
                        x[chosen] += x[chosen]
                except (TypeError, ValueError, OverflowError) as error:
                    found.append(type(error))
                else:
                    found.append(np.asarray(x).tobytes())
        assert found[0] == found[1], (dtype, number)


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "i1", "u4", "i8", "?", "c8", "c16"])
def test_masked_elements_have_no_value(dtype):
    """Elements are converted, which a masked one tells of; many are given what lies under the mask."""
    masked = np.ma.masked
    single = np.ma.array([1.0, 2.0], mask=[True, False])
    for value in (masked, single[0], single[1], np.ma.array(5, mask=True), np.ma.array(5, mask=False)):
        for place in ((0, 1), (0,), (slice(None), 1), ..., ([0, 1], [1, 1])):
            found = []
            for xp in (np, gc):
                x = xp.arange(6).astype(dtype).reshape(2, 3)
                with warnings.catch_warnings(record=True) as told:
                    warnings.simplefilter("always")
                    try:
                        x[place] = value
                    except Exception as error:
                        found.append((type(error), str(error)))
                        continue
                found.append((np.asarray(x).tolist(), x.dtype, [(w.category, str(w.message), w.filename) for w in told]))
            assert str(found[0]) == str(found[1]), (value, place)


LAYOUTS = {
    "rows": lambda x: x, "columns": lambda x: x.T, "backwards": lambda x: x[::-1, ::-1], "steps": lambda x: x[::2, 1::3], "turned": lambda x: x[:, ::-1].T,
    "three": lambda x: x.reshape(2, 3, -1).transpose(2, 0, 1), "one": lambda x: x[:1], "none": lambda x: x[:0].T,
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["f8", "f4", "i2", "?", "F"])
@pytest.mark.parametrize("target", LAYOUTS)
def test_arrays_of_any_layout_are_assigned_whole(target, dtype):
    def program(xp):
        made = []
        for source in LAYOUTS:
            x, y = xp.zeros((6, 20), dtype), xp.arange(120).reshape(6, 20).astype(dtype)
            to, value = LAYOUTS[target](x), LAYOUTS[source](y)
            if to.shape != value.shape:
                value = value[..., :1] if value.size and value.ndim == to.ndim and value.shape[:-1] == to.shape[:-1] else y.ravel()[: to.size].reshape(to.shape[::-1]).T
            to[...] = value
            made.append(x.copy())
            to[:] = to[...] if source != "rows" else value
            made.append(x)
        return made

    for turns in (0, gc._graphc.NEVER):
        with turns_of(turns):
            for got, want in zip(program(gc), program(np), strict=True):
                exact.assert_same(got, want)


@pytest.mark.parametrize("value", [0, 1, -1, 2**70, 0.0, -0.0, 2.5, float("nan"), True, False])
def test_numbers_are_truth_values_in_masks(value):
    def program(xp):
        b, c = xp.array([True, False, True, False, True]), xp.zeros((2, 3), bool)
        b[1:4] = value
        c[...] = value
        c.T[0] = 1 - c.T[0]
        c[:, ::-2] = value
        return [b, c]

    for turns in (0, gc._graphc.NEVER):
        with turns_of(turns):
            for got, want in zip(program(gc), program(np), strict=True):
                exact.assert_same(got, want)


#: Values of one to four levels, of which keys take some.
DEEP = [
    lambda xp: [[[1, 2, 3]]], lambda xp: [[[[1]]]], lambda xp: [[1], [2]], lambda xp: [[1, 2, 3]], lambda xp: ((1, 2, 3),), lambda xp: [[1, 2, 3], [4, 5, 6]], lambda xp: [],
    lambda xp: [[]], lambda xp: [range(3)], lambda xp: [["1"]], lambda xp: [[1.5]], lambda xp: xp.ones((1, 1, 3)), lambda xp: xp.ones((1, 1, 1)), lambda xp: [xp.ones((1, 3))],
    lambda xp: [xp.ones(3), xp.ones(3)], lambda xp: [[[xp.float64(3)]]], lambda xp: np.ones((1, 1, 3)), lambda xp: [np.ones((1, 3))], lambda xp: (1, 2, 3), lambda xp: [1],
]  # fmt: skip
KEYS = {
    "row": lambda xp, x: 0, "all": lambda xp, x: slice(None), "part": lambda xp, x: (0, slice(1, None)), "column": lambda xp, x: (slice(None), 0), "ellipsis": lambda xp, x: ...,
    "row and ellipsis": lambda xp, x: (0, ...), "new axis": lambda xp, x: None, "places": lambda xp, x: [0], "columns at places": lambda xp, x: (slice(None), [0]), "mask": lambda xp, x: x == 0,
    "mask alone": lambda xp, x: (x == 0,), "mask of NumPy": lambda xp, x: np.ones(x.shape, bool), "mask of rows": lambda xp, x: xp.arange(x.shape[0]) < 1,
    "mask of another shape": lambda xp, x: xp.array([True] * 7), "mask of NumPy of another shape": lambda xp, x: np.zeros([n + 1 for n in x.shape], bool),
    "outside": lambda xp, x: 5, "column outside": lambda xp, x: (..., -7), "behind a new axis": lambda xp, x: (None, 9),
}  # fmt: skip


@pytest.mark.parametrize("dtype", ["f8", "i4", "F"])
@pytest.mark.parametrize("shape", [(2, 3), (3,)])
@pytest.mark.parametrize("key", KEYS)
def test_sequences_have_no_more_levels_than_what_they_are_assigned_to(key, shape, dtype):
    """Arrays may have leading axes of one element; sequences that slices show may not, and nothing of several axes goes where a mask of all axes is true."""
    for value in DEEP:
        found = []
        for xp in (np, gc):
            x = xp.zeros(shape, dtype)
            try:
                x[KEYS[key](xp, x)] = value(xp)
                found.append(np.asarray(x).tolist())
            except (IndexError, TypeError, ValueError) as error:
                found.append(next(kind.__name__ for kind in (IndexError, TypeError, ValueError) if isinstance(error, kind)))
                if "maximum number of dimension" in str(error) or "requires a 0 or" in str(error):
                    found[-1] += str(error)
                assert not np.asarray(x).any()
        assert found[0] == found[1], value(np)
