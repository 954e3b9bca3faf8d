"""Fast products of small integers, every sum of which is exact in any order: one right answer, whoever adds them."""

import graphc as gc
import numpy as np
import pytest

pytestmark = pytest.mark.graphc_only

# A few tiles; as many as the kernels of large products begin with, whose stages are filled again; edges in rows, columns and k; lines that are not aligned.
SHAPES = ((70, 90, 50), (1536, 392, 2048), (1304, 264, 3016), (1300, 100, 3004))
# Which operand lies in memory the other way round.
LAYOUTS = {
    "plain": lambda a, b: a @ b,
    "left": lambda a, b: a.T @ b,
    "right": lambda a, b: a @ b.T,
    "both": lambda a, b: a.T @ b.T,
}


@pytest.mark.parametrize("dtype", ("float16", "bfloat16"))
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_products_of_integers(device, dtype, shape):
    if device == "null":
        pytest.skip("null runs nothing")
    m, k, n = shape
    rng = np.random.default_rng(5)
    x, y = (rng.integers(-2, 3, s).astype(np.float32) for s in ((m, k), (k, n)))
    want = x @ y
    for name, product in LAYOUTS.items():
        left = x.T if name in ("left", "both") else x
        right = y.T if name in ("right", "both") else y
        a, b = (gc.asarray(np.ascontiguousarray(z), device=device).astype(dtype) for z in (left, right))
        gc.eval(a, b)
        found = gc.jit(lambda a, b, product=product: product(a, b).astype("float32"), numerics="fast")(a, b)
        # The product has the operands' type, which rounds what it cannot hold.
        wanted = gc.asarray(want, device="cpu").astype(dtype).astype("float32")
        np.testing.assert_array_equal(np.asarray(found), np.asarray(wanted), err_msg=f"{name} {shape}")
