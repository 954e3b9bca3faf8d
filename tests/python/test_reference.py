"""The oracles themselves: a wrong oracle would bless a wrong result."""

import numpy as np
import pytest
from support import edge, exact, optable, reference, trees


@pytest.mark.parametrize("dtype", edge.FLOATS)
def test_fma_is_the_c_librarys(dtype):
    rng = np.random.default_rng(1)
    a, b, c = ((rng.normal(size=5000) * 2.0 ** rng.integers(-20, 20, 5000)).astype(dtype) for _ in range(3))
    c[::2] = (-a * b)[::2]  # cancellation shows the single rounding
    exact.assert_same(exact.fma(a, b, c), exact.libm_fma(dtype)(a, b, c))
    assert (exact.fma(a, b, c) != a * b + c).any()


@pytest.mark.parametrize("n", [1, 5, 255, 256, 257, 8191, 8192, 8193, 3 * 8192 + 5, 256 * 8192 + 1])
def test_trees_sum_integers_exactly(n):
    x = (np.arange(n) % 97 - 48).astype(np.float64)
    assert trees.lane_tree(x, np.add) == x.sum()
    if n < 100_000:
        assert trees.row_tree(x, np.add) == x.sum()


def test_trees_differ_from_the_plain_order():
    x = np.random.default_rng(2).normal(size=8192).astype(np.float32)
    in_order = np.add.accumulate(x)[-1]
    assert trees.lane_tree(x, np.add) != in_order
    assert trees.lane_tree(x, np.add) != trees.row_tree(x, np.add)


def test_short_matmul_is_one_chain():
    rng = np.random.default_rng(3)
    x, y = rng.normal(size=(2, 40)), rng.normal(size=(40, 3))
    fma = exact.libm_fma("float64")
    want = np.zeros((2, 3))
    for k in range(40):
        want = fma(x[:, k : k + 1], y[k : k + 1], want)
    exact.assert_same(trees.matmul(x, y), want)
    long_x, long_y = rng.normal(size=(1, 5 * 2048 + 7)), rng.normal(size=(5 * 2048 + 7, 1))
    assert abs(trees.matmul(long_x, long_y)[0, 0] - (long_x @ long_y)[0, 0]) < 1e-9


def test_every_elementwise_op_has_an_oracle():
    for op in optable.elementwise():
        if op.result_rule == "Explicit":
            continue
        for dtype in edge.CLASSES[op.operand_dtypes]:
            arrays = edge.grid(op.arity, dtype)
            if op.name == "select":
                arrays[0] = arrays[0] != 0
            value, wide = reference.expected(op, arrays)
            assert (value is None) != (wide is None)


def test_ulp_distance():
    one = np.float32(1)
    assert exact.ulp_distance(np.nextafter(one, np.float32(2)), np.float64(1)) == 1
    assert exact.ulp_distance(np.float32(np.nan), np.float64(1)) == np.inf
    assert exact.ulp_distance(np.float32(np.inf), np.float64(1e60)) == 0
    assert exact.ulp_distance(np.float32(np.inf), np.float64(np.inf)) == 0
    assert exact.ulp_distance(np.float32(1e30), np.float64(np.inf)) == np.inf


def test_cast_reference_saturates():
    x = np.array([np.nan, np.inf, -np.inf, 1e30, -1e30, 300.7, -1.9])
    np.testing.assert_array_equal(reference.cast(x, "int8"), np.array([0, 127, -128, 127, -128, 127, -1], "i1"))
    np.testing.assert_array_equal(reference.cast(x, "uint64")[1:3], np.array([2**64 - 1, 0], "u8"))
    np.testing.assert_array_equal(reference.cast(x, "int64")[1:3], np.array([2**63 - 1, -(2**63)], "i8"))
