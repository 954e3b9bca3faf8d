"""What a reduction meets is told although the operation that follows it in a kernel hides it."""

import warnings

import graphc as gc
import numpy as np
import pytest

PROGRAMS = {
    "sum": lambda xp, x: 1 / xp.sum(x),
    "sum along rows": lambda xp, x: 1 / xp.sum(x, axis=1),
    "sum along columns": lambda xp, x: 1 / xp.sum(x, axis=0),
    "compared": lambda xp, x: xp.sum(x, axis=1) > 3,
    "divided by": lambda xp, x: x / xp.sum(x, axis=1, keepdims=True),
    "prod": lambda xp, x: 1 / xp.prod(x, axis=1),
    "cumsum": lambda xp, x: 1 / xp.cumsum(x, axis=1),
    "cumsum of columns": lambda xp, x: 1 / xp.cumsum(x, axis=0),
}

#: NumPy's BLAS tells nothing of what its own threads meet.
PRODUCTS = {
    "product with a vector": lambda x: 1 / (x @ x[0]),
    "vector with a matrix": lambda x: 1 / (x[:, 0] @ x),
    "product": lambda x: 1 / (x @ x.T),
}
#: Lanes behind the end of rows and columns, several blocks, and rows shorter than a vector.
SHAPES = [(1, 7), (37, 3), (5, 1000), (33, 65), (3, 9001), (901, 3)]
LARGE = {np.float32: 2e38, np.float64: 1e308}


def told(program, xp, x):
    with warnings.catch_warnings(record=True) as found:
        warnings.simplefilter("always")
        np.asarray(program(xp.asarray(x)))
    return sorted({str(warning.message) for warning in found})


@pytest.mark.parametrize("dtype", LARGE, ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", PROGRAMS)
def test_of_one_row_alone(name, shape, dtype):
    program = PROGRAMS[name]
    x = np.ones(shape, dtype)
    for _ in range(2):  # nothing at first
        want = told(lambda a: program(np, a), np, x)
        assert told(gc.jit(lambda a: program(gc, a)), gc, x) == want
        assert told(lambda a: program(gc, a), gc, x) == want
        x[-1] = LARGE[dtype]


@pytest.mark.parametrize("dtype", LARGE, ids=lambda dtype: dtype.__name__)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("name", PRODUCTS)
def test_of_products(name, shape, dtype):
    x = np.ones(shape, dtype)
    for want in ([], ["overflow encountered in matmul"]):
        assert told(gc.jit(PRODUCTS[name]), gc, x) == want
        assert told(PRODUCTS[name], gc, x) == want
        x[-1] = LARGE[dtype]


def test_of_float16_after_a_run_that_nobody_asked():
    x = gc.asarray(np.array([1, np.inf, -np.inf] * 700, np.float16))
    for _ in range(2):
        with gc.errstate(all="ignore", over="raise"):
            assert np.isnan(float(gc.sum(x)))
        with gc.errstate(all="ignore", invalid="raise"), pytest.raises(FloatingPointError, match="invalid value"):
            float(gc.sum(x))


def _divided(xp, size, chooses):
    y = xp.arange(size) % 7 * 1.0
    return xp.divide(xp.ones(size), y, out=xp.zeros(size), where=chooses(y))


#: Elements that a mask leaves out are computed as well, and are told by nobody; those that it chooses are.
MASKED = {
    "divided": lambda xp: _divided(xp, 10, lambda y: y < 5),
    "none of them": lambda xp: _divided(xp, 10, lambda y: y != 0),
    "many": lambda xp: _divided(xp, 5000, lambda y: y < 5),
    "none of many": lambda xp: _divided(xp, 5000, lambda y: y != 0),
    "no output": lambda xp: xp.log(xp.arange(3.0), where=xp.asarray([True, False, True]), out=None),
    "a list": lambda xp: xp.log(xp.arange(3.0), where=[True, False, True], out=xp.zeros(3)),
    "in place": lambda xp: (lambda x: xp.sqrt(x, out=x, where=x > -2))(xp.asarray([-1.0, -2.0])),
    "a wider output": lambda xp: xp.divide(xp.ones(3, "f4"), xp.zeros(3, "f4"), out=xp.zeros(3), where=xp.arange(3) > 1),
    "a larger output": lambda xp: xp.divide(xp.ones(3), xp.zeros(3), out=xp.zeros((2, 3)), where=xp.asarray([[True], [False]])),
    "a number": lambda xp: xp.divide(xp.arange(3.0), 0, out=xp.zeros(3), where=xp.arange(3) < 1),
    "of a number": lambda xp: xp.divide(1, xp.arange(3.0), out=xp.zeros(3), where=xp.arange(3) < 1),
    "integers": lambda xp: xp.floor_divide(xp.arange(3), xp.arange(3), out=xp.zeros(3, int), where=xp.arange(3) < 2),
    "integers by zero": lambda xp: xp.remainder(xp.arange(3), 0, out=xp.zeros(3, int), where=xp.arange(3) < 2),
    "integers become floats": lambda xp: xp.arctanh(xp.arange(3), out=xp.zeros(3), where=xp.arange(3) < 1),
    "overflow": lambda xp: xp.exp(xp.asarray([1e3, 1.0]), out=xp.zeros(2), where=xp.asarray([True, False])),
    "complex": lambda xp: xp.divide(xp.ones(2), xp.zeros(2, complex), out=xp.zeros(2, complex), where=xp.asarray([True, False])),
    "bools by zero": lambda xp: xp.divide(xp.asarray([True, True]), 0, out=xp.zeros(2), where=xp.asarray([True, False])),
    "bools by false": lambda xp: xp.divide(xp.asarray([True, True]), False, out=xp.zeros(2), where=xp.asarray([True, False])),
    "whole bools by zero": lambda xp: xp.floor_divide(xp.asarray([True, True]), 0, out=xp.zeros(2, int), where=xp.asarray([True, False])),
    "a number by zero": lambda xp: xp.remainder(2.0, 0, out=xp.zeros(2), where=xp.asarray([True, False])),
    "a bool by zero": lambda xp: xp.divide(True, 0, out=xp.zeros(2), where=xp.asarray([False, True])),
    "numbers, none chosen": lambda xp: xp.divide(1.0, 0, out=xp.zeros(2), where=xp.asarray([False, False])),
    "an output by place": lambda xp: xp.divide(xp.ones(3), xp.arange(3.0), xp.zeros(3), where=xp.arange(3) < 1),
    "an output by place, none": lambda xp: xp.divide(xp.ones(3), xp.arange(3.0), xp.zeros(3), where=xp.arange(3) > 0),
    "the conversion": lambda xp: xp.multiply(xp.asarray([1e200, 1.0]), 1.0, out=xp.zeros(2, "f4"), where=xp.arange(2) < 1, casting="unsafe"),
}


@pytest.mark.parametrize("name", MASKED)
def test_what_a_mask_chooses_is_told(name):
    said = []
    for xp in (np, gc):
        with warnings.catch_warnings(record=True) as found:
            warnings.simplefilter("always")
            np.asarray(MASKED[name](xp))
        said.append([str(warning.message) for warning in found])
    assert said[0] == said[1]


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8", "c16", "i8", "u1"])
def test_what_a_mask_leaves_out_is_told_by_no_ufunc(dtype):
    values = [0, 1, 2, 7] if dtype in ("i8", "u1") else [0, 1, -1, 3.5, 1e4, np.inf, -np.inf, np.nan]
    a, b = (np.ravel(x).astype(dtype) for x in np.meshgrid(values, values))
    for name in "divide floor_divide remainder fmod power arctan2 logaddexp hypot exp log log1p sqrt reciprocal tan arcsin arccosh arctanh multiply subtract".split():
        f = getattr(gc, name)
        operands = [gc.asarray(x) for x in (a, b)[: f.nin]]
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            try:
                plain = f(*operands)
            except TypeError:  # no such loop
                continue
            wanted = told(lambda _: f(*operands), gc, a)
        assert told(lambda x: f(*operands, where=gc.zeros(x.shape, bool), out=None), gc, a) == [], name
        assert told(lambda x: f(*operands, where=gc.ones(x.shape, bool), out=None), gc, a) == wanted, name
        np.testing.assert_array_equal(np.asarray(f(*operands, where=gc.ones(a.shape, bool), out=None)), np.asarray(plain))
