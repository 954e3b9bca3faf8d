"""Vectors of 8 and 16 bits of which the first lanes are there, where masks know 32 and 64 bits only (AVX2)."""

import os
import subprocess
import sys

import pytest

pytestmark = pytest.mark.graphc_only

# Every length up to two vectors, behind other bytes, with an element behind each row that a store must leave; results of every width from operands of every width.
PROGRAM = """
import numpy as np, graphc as gc

rng = np.random.default_rng(5)
kinds = {"copied": lambda x: x + 0, "wider": lambda x: x.astype(gc.float32), "bools": lambda x: x > 3, "chosen": lambda x: gc.where(x > 3, x, x[:, ::-1]),
         "down": lambda x: gc.cumulative_sum(x, axis=0, dtype=x.dtype), "least": lambda x: gc.min(x, axis=0)}
numpys = {"copied": lambda x: x + 0, "wider": lambda x: x.astype(np.float32), "bools": lambda x: x > 3, "chosen": lambda x: np.where(x > 3, x, x[:, ::-1]),
          "down": lambda x: np.cumsum(x, axis=0, dtype=x.dtype), "least": lambda x: x.min(axis=0)}
compiled = {name: gc.jit(kind) for name, kind in kinds.items()}

@gc.jit
def written(x, y):
    x[:, 1:-1] = y * 2
    return x

for dtype in ("u1", "i1", "u2", "i2", "f2", "?"):
    for n in range(1, 131):
        a = rng.integers(0, 9, (3, n + 2)).astype(dtype)
        for name, kind in compiled.items():
            if dtype == "?" and name == "down":
                continue
            part = np.ascontiguousarray(a[:, 1:-1])
            for got, want in ((kind(part), numpys[name](part)), (kind(gc.asarray(a)[:, 1:-1]), numpys[name](a[:, 1:-1]))):
                got = np.asarray(got)
                assert got.dtype == want.dtype and got.tobytes() == want.tobytes(), (dtype, n, name)
        if dtype != "?":
            target, y = a.copy(), rng.integers(0, 9, (3, n)).astype(dtype)
            got = np.asarray(written(gc.asarray(target), y))
            target[:, 1:-1] = y * 2
            assert got.tobytes() == target.tobytes(), (dtype, n)
print("ok")
"""


@pytest.mark.parametrize("features", ["avx2,fma,f16c,bmi2", "avx2,fma"])
def test_first_lanes_of_narrow_vectors(features):
    done = subprocess.run([sys.executable, "-c", PROGRAM], env={**os.environ, "GRAPHC_CPU_FEATURES": features}, text=True, capture_output=True)
    assert done.stdout == "ok\n", done.stderr[-3000:]
