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
