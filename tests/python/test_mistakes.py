"""Mistakes raise when recorded, as NumPy's class, and the message names the shapes and the line of this file."""

import os
import re

import graphc as gc
import numpy as np
import pytest

pytestmark = pytest.mark.graphc_only

HERE = os.path.abspath(__file__)


def mistake(kind, call):
    """Runs `call`, which is one line, and returns the message after checking that it names that line."""
    with pytest.raises(kind) as caught:
        call()
    message = str(caught.value)
    line = call.__code__.co_firstlineno
    assert re.search(re.escape(f"{HERE}:") + rf"({line}|{line + 1})\b", message), f"no line {line} in: {message}"
    return message


@pytest.fixture
def a():
    return gc.ones((2, 3))


def has(message, *parts):
    flat = message.replace(" ", "")
    for part in parts:
        assert part.replace(" ", "") in flat, f"{part!r} is not in: {message}"


def test_shapes_that_do_not_broadcast(a):
    b = gc.ones((4, 5))
    has(mistake(ValueError, lambda: a + b), "(2,3)", "(4,5)", "broadcast", "[GC0101]")


def test_matmul_sizes(a):
    b = gc.ones((4, 5))
    has(mistake(ValueError, lambda: a @ b), "(2,3)", "(4,5)", "[GC0101]")


def test_axis_out_of_range(a):
    message = mistake(ValueError, lambda: gc.sum(a, axis=7))
    has(message, "7", "(2,3)", "[GC0102]")
    with pytest.raises(IndexError):
        gc.sum(a, axis=-3)
    with pytest.raises(ValueError, match="duplicate"):
        a.max(axis=(0, 0))


def test_index_out_of_range(a):
    has(mistake(IndexError, lambda: a[9, 0]), "9", "axis 0", "size 2", "[GC0104]")


def test_too_many_indices(a):
    has(mistake(IndexError, lambda: a[0, 0, 0]), "3", "2", "[GC0104]")


def test_misspelt_dtype():
    has(mistake(TypeError, lambda: gc.ones(3, dtype="flaot32")), "flaot32", "float32", "[GC0103]")


def test_misspelt_function(a):
    message = mistake(AttributeError, lambda: gc.sumn(a))
    has(message, "sumn", "sum")


def test_a_numpy_name_that_graphc_lacks():
    has(mistake(AttributeError, lambda: gc.test), "test", "NumPy")


def test_missing_device():
    message = mistake(RuntimeError, lambda: gc.ones(3, device="opencl:99"))
    has(message, "opencl:99", "usable", "[GC0302]")


def test_reshape_to_another_size(a):
    has(mistake(ValueError, lambda: a.reshape(4, 4)), "(2,3)", "(4,4)", "[GC0101]")


def test_branching_on_a_traced_value(a):
    message = mistake(TypeError, lambda: gc.jit(lambda x: x if x.sum() > 0 else -x, fullgraph=True)(a))
    has(message, "[GC0201]", "graphc.where", "fullgraph")


def test_the_nine_are_all_graphc_errors(a):
    for call in (lambda: a + gc.ones((4, 5)), lambda: a[9, 0], lambda: gc.ones(3, dtype="flaot32"), lambda: a.reshape(4, 4)):
        with pytest.raises(gc.GraphcError) as caught:
            call()
        assert re.fullmatch(r"GC\d{4}", caught.value.code) and caught.value.where.startswith(HERE)


def test_nothing_was_recorded_or_damaged_by_a_mistake(a):
    b = gc.ones((2, 3))
    for wrong in (lambda: a.__iadd__(gc.ones((4, 5))), lambda: a.__setitem__((0, 9), 1)):
        with pytest.raises((ValueError, IndexError)):
            wrong()
    np.testing.assert_array_equal(np.asarray(a + b), np.full((2, 3), 2.0))


def test_bool_of_many_elements(a):
    message = mistake(ValueError, lambda: bool(a))
    has(message, "ambiguous", "(2,3)")


def test_conversion_of_many_elements(a):
    with pytest.raises(TypeError, match="(2|6)"):
        float(a)
    with pytest.raises(TypeError):
        gc.asarray(np.ones(3)).__index__()


def test_unhashable_and_wrong_operands(a):
    with pytest.raises(TypeError):
        a + "text"
    with pytest.raises(IndexError, match="float"):
        a[0.5]
    with pytest.raises(TypeError):
        hash(a)
    with pytest.raises(TypeError):
        gc.sin("text")


def test_concatenate_mistakes(a):
    has(mistake(ValueError, lambda: gc.concatenate([a, gc.ones((2, 4))])), "(2,3)", "(2,4)")
    with pytest.raises(ValueError):
        gc.concatenate([])
    with pytest.raises(ValueError):
        gc.concatenate([a, gc.ones(3)])


def test_transpose_and_permute_mistakes(a):
    for wrong in (lambda: gc.transpose(a, (0, 0)), lambda: gc.permute_dims(a, (0,)), lambda: gc.expand_dims(a, axis=5)):
        with pytest.raises(ValueError):
            wrong()
    with pytest.raises(ValueError):
        gc.squeeze(a, axis=0)
    with pytest.raises(ValueError):
        gc.broadcast_to(a, (3, 2))


def test_negative_sizes_and_overflow():
    with pytest.raises(ValueError):
        gc.ones(-1)
    with pytest.raises((ValueError, MemoryError)):
        gc.ones((2**62, 2**62))
    with pytest.raises(ZeroDivisionError):
        gc.arange(0, 10, 0)


def test_error_classes_are_numpys_too():
    e = gc.errors
    for child, parents in {
        e.ShapeError: (ValueError,),
        e.AxisError: (ValueError, IndexError),
        e.DTypeError: (TypeError,),
        e.IndexOutOfBounds: (IndexError,),
        e.TraceError: (TypeError,),
        e.UnsupportedError: (NotImplementedError,),
        e.DeviceError: (RuntimeError,),
        e.OutOfMemory: (e.DeviceError, MemoryError),
        e.CompileError: (RuntimeError,),
        e.CacheError: (OSError,),
    }.items():
        assert issubclass(child, gc.GraphcError) and all(issubclass(child, p) for p in parents)


def test_every_code_has_a_page():
    import pathlib

    page = (pathlib.Path(HERE).parents[2] / "docs" / "errors.md").read_text()
    for kind in gc.errors.BY_CODE.values():
        assert kind is OverflowError or f"## {kind.code} " in page


def test_errors_survive_pickling(a):
    import pickle

    with pytest.raises(ValueError) as caught:
        a + gc.ones((4, 5))
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is type(caught.value) and str(again) == str(caught.value)


NOT_INTEGERS = {
    "concatenate": lambda xp, v: xp.concatenate([xp.ones(3)], axis=v), "sort": lambda xp, v: xp.sort(xp.zeros(3), axis=v),
    "argsort": lambda xp, v: xp.argsort(xp.zeros(3), axis=v), "diff": lambda xp, v: xp.diff(xp.zeros(3), axis=v),
    "accumulate": lambda xp, v: xp.add.accumulate(xp.zeros(3), axis=v), "stack": lambda xp, v: xp.stack([[1, 2], [3, 4]], axis=v),
    "eye": lambda xp, v: xp.eye(3, k=v), "bincount": lambda xp, v: xp.bincount(xp.asarray([1, 1]), minlength=v),
}  # fmt: skip


@pytest.mark.parametrize("name, value", [(n, v) for n in NOT_INTEGERS for v in (0.0, -1.0)] + [("concatenate", 2**70), ("bincount", 2**70)])
def test_numbers_that_are_no_indices(name, value):
    """NumPy's classes, also where a call takes a short way."""
    with pytest.raises((TypeError, OverflowError)) as theirs:
        NOT_INTEGERS[name](np, value)
    with pytest.raises(type(theirs.value)):
        NOT_INTEGERS[name](gc, value)


def test_outputs_in_a_tuple_by_position():
    for xp in (np, gc):
        with pytest.raises(TypeError):
            xp.add(xp.ones(3), 2, (xp.ones(3),))


def test_sizes_of_a_collapsing_index():
    for xp in (np, gc):
        with pytest.raises(ValueError, match="collapsing index 'i'"):
            xp.einsum("ii", xp.ones((1, 3)))


WORDS = {
    "products": lambda xp: xp.ones((2, 3)) @ xp.ones(4), "dot": lambda xp: xp.dot(xp.ones((2, 3)), xp.ones((2, 3))), "reshape": lambda xp: xp.ones((2, 3)).reshape(4, 2),
    "ranks to join": lambda xp: xp.concatenate([xp.ones((2, 3)), xp.ones(4)]), "samples": lambda xp: xp.linspace(0, 1, -1), "parts": lambda xp: xp.split(xp.ones(4), 3),
    "dtype": lambda xp: xp.ones(2).astype("foo"), "repeats": lambda xp: xp.repeat(xp.ones(9), [1, 2]), "places": lambda xp: xp.delete(xp.ones(9), 9), "cross": lambda xp: xp.cross(xp.ones(4), xp.ones(4)),
    "grids": lambda xp: xp.ix_(xp.ones((2, 3))), "cases": lambda xp: xp.select([xp.ones(2) > 1], []), "right sides": lambda xp: xp.linalg.solve(xp.eye(2), xp.ones(4)),
}  # fmt: skip


@pytest.mark.parametrize("name", WORDS)
def test_words_of_numpy(name):
    def told(xp):
        with pytest.raises(Exception) as error:
            WORDS[name](xp)
        return error.type, str(error.value)

    (ours, text), (theirs, words) = told(gc), told(np)
    assert issubclass(ours, theirs) and words.removeprefix("matmul: ") in text


@pytest.mark.parametrize("function", ["sum", "prod", "min", "max", "any", "all", "argmin", "cumsum", "mean", "var", "std", "average", "nanmean", "nanmax", "count_nonzero", "ptp", "median"])
def test_axes_of_no_axes(function):
    """Axes 0 and -1 of a 0-d array are taken by what NumPy folds, not in a tuple, and not by what counts elements itself."""
    for axis in (0, -1, 1, -2, (0,), (-1,), ()):
        for make in (lambda xp: xp.array(2.0), lambda xp: xp.array([2.0, 1.0])[0]):
            found = []
            for xp in (np, gc):
                for call in (lambda x, xp=xp: getattr(xp, function)(x, axis=axis), lambda x: getattr(x, function)(axis=axis)):
                    try:
                        found.append((float(np.asarray(call(make(xp))).ravel()[0]),))
                    except Exception as error:  # noqa: BLE001
                        found.append(next(c for c in (np.exceptions.AxisError, TypeError, AttributeError, ValueError) if isinstance(error, c)))
            assert found[:2] == found[2:], (axis, found)


def test_lists_that_contain_themselves():
    one = [1]
    one.append(one)
    for given in (one, [one], [[1, one]]):
        for call in ("array", "asarray", "sum", "mean", "shape", "ndim"):
            with pytest.raises(ValueError, match="inhomogeneous"):
                getattr(gc, call)(given)
    ours = [gc.array(1.0)]
    ours.append(ours)
    other = [ours, gc.array(2.0)]
    ours.append(other)
    for given in (ours, [ours], other, [[gc.array(3.0), ours]]):
        for call in ("array", "asarray", "sum", "mean", "stack"):
            with pytest.raises(ValueError, match="inhomogeneous"):
                getattr(gc, call)(given)


def test_dates_are_no_numbers_of_elements():
    for value in (np.timedelta64(3, "s"), np.datetime64("2020-01-01"), np.str_("4"), np.str_("x"), np.bytes_(b"5"), np.longdouble(2.5)):
        for dtype in ("i8", "f8", "?", "c16", "u1"):
            for key in (0, slice(None), [1], "mask"):
                found = []
                for xp in (np, gc):
                    x = xp.zeros(2, dtype)
                    try:
                        x[xp.array([False, True]) if key == "mask" else key] = value
                        found.append(x.tolist())
                    except (TypeError, ValueError) as error:
                        found.append(next(c for c in (TypeError, ValueError) if isinstance(error, c)))
                assert found[0] == found[1], (value, dtype, key, found)
