"""Products of stacks of small matrices in loops: computed where they are met, with the bits of recorded ones."""

import graphc as gc
import numpy as np
import pytest
from graphc import _graphc

pytestmark = pytest.mark.graphc_only

SHAPES = [
    ((8, 3, 3), (8, 3, 3)),
    ((8, 3, 3), (3, 3)),
    ((3, 3), (8, 3, 2)),
    ((8, 3, 3), (3,)),
    ((3,), (8, 3, 3)),
    ((2, 1, 3, 4), (5, 4, 2)),
    ((8, 1, 4), (8, 4, 1)),
    ((1, 1, 40), (6, 40, 1)),
    ((4, 5, 3), (1, 3, 1)),
    ((2, 2, 3, 3), (2, 1, 3, 9)),
]


def turns(f):
    for _ in range(20):
        x = f()
    return x


def recorded(f):
    before = _graphc.set_loop_turns(255)
    try:
        return np.array(f())
    finally:
        _graphc.set_loop_turns(before)


def operand(shape, dtype, seed, turned):
    rng = np.random.RandomState(seed)
    x = rng.normal(size=shape) * 3 + (1j * rng.normal(size=shape) if dtype[0] == "c" else 0)
    x = gc.asarray(x.astype(dtype))
    x = x.mT.copy().mT if turned and x.ndim > 1 else x
    gc.eval(x)
    return x


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("dtype", ["f8", "f4", "c16", "i8", "i2", "?"])
@pytest.mark.parametrize("shapes", SHAPES)
def test_products_of_stacks(shapes, dtype, turned):
    x, y = operand(shapes[0], dtype, 0, turned), operand(shapes[1], dtype, 1, turned)
    found = turns(lambda: x @ y)
    assert _graphc.pending(found) == (dtype in ("i2", "?"))
    expected = np.asarray(x) @ np.asarray(y)
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-4, atol=1e-4)
    assert np.asarray(found).tobytes() == recorded(lambda: x @ y).tobytes()


@pytest.mark.parametrize("dtype", ["f8", "c8", "i8", "?"])
@pytest.mark.parametrize(
    "equation",
    ["ij,ij->i", "ij,kj->ik", "ij,ij->", "ij->ji", "ij->", "ij,k->", "i...,i...->...", "ij,jk,kl->il", "nii->n", "nij,nj->ni", "aib,bjc,cka->ijk"],
)  # fmt: skip
def test_einsum(equation, dtype):
    terms = equation.split("->")[0].split(",")
    shapes = [(3,) * len(term.replace("...", "x")) for term in terms]
    values = [operand(shape, dtype, i, False) for i, shape in enumerate(shapes)]
    found = turns(lambda: gc.einsum(equation, *values))
    expected = np.einsum(equation, *map(np.asarray, values))
    assert found.dtype == expected.dtype and found.shape == expected.shape
    assert isinstance(found, type(expected) if expected.ndim == 0 and dtype != "?" else gc.Array)
    np.testing.assert_allclose(np.asarray(found), expected, rtol=1e-5)
    if dtype != "?" and equation != "ij->ji":  # which is a view
        assert not _graphc.pending(found)
    assert np.asarray(found).tobytes() == recorded(lambda: gc.einsum(equation, *values)).tobytes()


def test_einsum_of_one_operand_is_a_view():
    x = gc.arange(6.0).reshape(2, 3)
    y = gc.einsum("ij->ij", x)
    y[0, 0] = 7
    gc.einsum("ij->ji", x)[0, 1] = 8
    assert x is not y and x[0, 0] == 7 and x[1, 0] == 8


def test_einsum_refuses_at_the_call():
    x = gc.ones((2, 3))
    with pytest.raises(ValueError, match="subscripts"):
        gc.einsum("i,ij->j", x, x)
    with pytest.raises(ValueError, match="sizes"):
        gc.einsum("ij,jk->ik", x, x)
