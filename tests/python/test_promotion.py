"""NumPy 2 promotion, the whole table, with weak Python scalars."""

import itertools
import operator

import graphc as gc
import numpy as np
import pytest
from support import edge, exact


@pytest.mark.parametrize("left", edge.DTYPES)
def test_every_pair_of_dtypes(left):
    for right in edge.DTYPES:
        a, b = np.ones(3, left), np.ones(3, right)
        assert (gc.asarray(a) + gc.asarray(b)).dtype == (a + b).dtype, (left, right)
        assert (gc.asarray(a) * b).dtype == (a * b).dtype
        assert (a * gc.asarray(b)).dtype == (a * b).dtype
        assert gc.result_type(gc.asarray(a), gc.asarray(b)) == np.result_type(a, b)
        assert (gc.asarray(a) / gc.asarray(b)).dtype == (a / b).dtype
        assert (gc.asarray(a) < gc.asarray(b)).dtype == np.bool_
        assert gc.where(gc.asarray(a) > 0, gc.asarray(a), gc.asarray(b)).dtype == np.where(a > 0, a, b).dtype


@pytest.mark.parametrize("scalar", [True, 2, 2.5], ids=repr)
@pytest.mark.parametrize("dtype", edge.DTYPES)
def test_weak_scalars(dtype, scalar):
    x = np.array([0, 1, 1], dtype)
    g = gc.asarray(x)
    for name in ("add", "mul", "truediv", "floordiv", "mod", "pow", "lt", "eq"):
        function = getattr(operator, name)
        if name == "pow" and dtype == "bool":
            continue  # NumPy: int8 for a square, int64 for a cube
        with np.errstate(all="ignore"):
            for got, want in ((lambda: function(g, scalar), lambda: function(x, scalar)), (lambda: function(scalar, g + 1), lambda: function(scalar, x + 1))):
                want = want()
                assert got().dtype == want.dtype, (name, dtype, scalar)


def test_weak_scalars_keep_the_arrays_dtype():
    g = gc.asarray(np.ones(3, "float32"))
    assert (g + 1.5).dtype == np.float32 and (2 * g).dtype == np.float32 and gc.maximum(g, 0).dtype == np.float32
    assert (gc.asarray(np.ones(3, "int8")) + 1).dtype == np.int8
    assert (gc.asarray(np.ones(3, "int8")) + 1.5).dtype == np.float64
    assert (gc.asarray(np.ones(3, "float32")) + np.float64(1)).dtype == np.float64
    assert (gc.asarray(np.ones(3, bool)) + 1).dtype == np.int64


def test_a_python_integer_must_fit():
    g = gc.asarray(np.ones(3, "uint8"))
    with pytest.raises(OverflowError, match="300.*uint8|uint8.*300"):
        g + 300
    with pytest.raises(OverflowError):
        g + (-1)
    exact.assert_same(g + 255, np.zeros(3, "uint8"))
    with pytest.raises(OverflowError):
        gc.asarray(np.ones(3, "int64")) + 2**63


@pytest.mark.parametrize("dtype", ["uint8", "int8", "uint64", "int64"])
def test_comparison_with_a_python_integer_out_of_range(dtype):
    """NumPy 2 compares with the mathematical value."""
    x = edge.values(dtype)
    g = gc.asarray(x)
    for scalar in (-1, 300, -(2**63) - 1, 2**64):
        for name in ("lt", "le", "gt", "ge", "eq", "ne"):
            function = getattr(operator, name)
            exact.assert_same(function(g, scalar), function(x, scalar), f"{name} {scalar}")


def test_three_dtypes_in_any_order():
    """Integers that together need a wider float than each of them."""
    dtypes = [np.dtype(c) for c in "?bBhHiIlLefdFD"]
    for three in itertools.product(dtypes, repeat=3):
        assert gc.result_type(*three) == np.result_type(*three), three
    three = [np.ones(1, d) for d in ("int16", "uint16", "float16")]
    assert gc.concatenate([gc.asarray(x) for x in three]).dtype == np.concatenate(three).dtype


def test_numpy_scalars_are_strong():
    x = np.ones(3, "float32")
    assert (gc.asarray(x) * np.float64(2)).dtype == np.float64
    assert (np.float64(2) * gc.asarray(x)).dtype == np.float64
    assert type(np.float64(2) * gc.asarray(x)) is gc.ndarray


def test_dtype_functions():
    assert gc.float32 == np.float32 and gc.asarray(np.ones(2, "f4")).dtype == "float32"
    assert gc.can_cast("int32", "float64") and not gc.can_cast("float64", "int32")
    assert gc.isdtype(np.dtype("float32"), "real floating") and gc.isdtype(np.dtype("uint8"), ("bool", "unsigned integer"))
    assert gc.finfo("float32").eps == np.finfo("float32").eps and gc.iinfo("int8").max == 127
    assert gc.result_type("int8", "uint8") == np.int16


@pytest.mark.parametrize("value", [5, 2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1])
def test_a_number_alone_has_the_type_that_holds_it(value):
    assert gc.result_type(value) == np.result_type(value)
    ours, theirs = gc.r_[value], np.r_[value]
    assert ours.dtype == theirs.dtype and ours.tolist() == theirs.tolist()


def test_in_place_operations_keep_the_dtype():
    x, g = np.ones(3, "float32"), gc.asarray(np.ones(3, "float32"))
    x += np.ones(3, "float64")
    g += gc.asarray(np.ones(3, "float64"))
    exact.assert_same(g, x)
    i = gc.asarray(np.ones(3, "int32"))
    with pytest.raises(TypeError, match="float64.*int32"):
        i += 1.5
    exact.assert_same(i, np.ones(3, "int32"))


def test_assignment_casts():
    x, g = np.zeros(4, "int32"), gc.asarray(np.zeros(4, "int32"))
    x[1:3] = 2.9
    g[1:3] = 2.9
    x[3] = True
    g[3] = True
    exact.assert_same(g, x)


@pytest.mark.graphc_only
def test_unsupported_dtypes_are_named_where_numpy_cannot_compute():
    for dtype in ("longdouble", "clongdouble", "U3", "O"):
        with pytest.raises(TypeError, match="longdouble|float128|complex256|<U3|str|object"):
            gc.jit(lambda dtype=dtype: gc.zeros(2, dtype), fullgraph=True)()
        with pytest.raises(TypeError, match="longdouble|float128|complex256|<U3|str|object"):
            gc.erf(np.zeros(2, dtype))
