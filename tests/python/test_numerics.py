"""`numerics="fast"`: where it can be said, what depends on it, and that it changes no bit where there are no tensor cores."""

import os
import subprocess
import sys
import threading

import graphc as gc
import numpy as np
import pytest
from support import exact

pytestmark = pytest.mark.graphc_only

NARROW = ("float16", "bfloat16")


def operands(dtype, device, m=70, k=90, n=50):
    rng = np.random.default_rng(3)
    return [gc.asarray(rng.standard_normal(s).astype(np.float32), device=device).astype(dtype) for s in ((m, k), (k, n))]



def stage(level, dtype="float16", widened=False):
    """The text of a product at a level of numerics."""

    def product(x, y):
        return x.astype("float32") @ y.astype("float32") if widened else x @ y

    return gc.jit(product, numerics=level).lower(*operands(dtype, "cpu")).as_text("graph")


@pytest.mark.parametrize("dtype", NARROW)
@pytest.mark.parametrize("widened", (False, True))
def test_belongs_to_the_product(dtype, widened):
    assert " fast " in stage("fast", dtype, widened)
    assert " fast " not in stage("exact", dtype, widened)
    assert " fast " not in stage(None, dtype, widened)


def test_other_dtypes_are_exact():
    with gc.numerics("fast"):
        assert " fast " not in gc.jit(lambda x: x @ x).lower(gc.ones((20, 20), dtype="float64")).as_text("graph")
        assert " fast " not in gc.jit(lambda x: x @ x).lower(gc.ones((20, 20), dtype="int32")).as_text("graph")


@pytest.mark.parametrize("dtype", NARROW)
def test_without_tensor_cores_nothing_changes(dtype, device):
    if device.startswith("cuda"):
        pytest.skip("may have tensor cores")
    for size in ((70, 90, 50), (1, 33, 129), (130, 2100, 140), (3, 0, 4)):
        x, y = operands(dtype, device, *size)
        want = np.asarray((x @ y).astype("float32"))
        wide = np.asarray(x.astype("float32") @ y.astype("float32"))
        with gc.numerics("fast"):
            exact.assert_same(np.asarray((x @ y).astype("float32")), want)
            exact.assert_same(np.asarray(x.astype("float32") @ y.astype("float32")), wide)
        with gc.device(device):
            found = gc.jit(lambda a, b: (a @ b).astype("float32"), numerics="fast")(x, y)
        exact.assert_same(np.asarray(found), want)


def test_contexts_nest_and_end():
    def is_fast():
        return " fast " in gc.jit(lambda x: x @ x).lower(gc.ones((20, 20), dtype="float16")).as_text("graph")

    assert not is_fast()
    with gc.numerics("fast"):
        assert is_fast()
        with gc.numerics("exact"):
            assert not is_fast()
        assert is_fast()
        others = []
        thread = threading.Thread(target=lambda: others.append(is_fast()))
        thread.start()
        thread.join()
        assert others == [False]
    assert not is_fast()
    with pytest.raises(KeyError), gc.numerics("fast"):
        raise KeyError
    assert not is_fast()
    assert gc.numerics("fast")(is_fast)() and not is_fast()


def test_a_function_is_recorded_for_each_level():
    f = gc.jit(lambda x: x @ x)
    x = gc.ones((20, 20), dtype="float16")
    for _ in range(3):
        f(x)
    assert f.cache_info().traces == 1
    with gc.numerics("fast"):
        for _ in range(3):
            f(x)
    assert f.cache_info().traces == 2
    f(x)
    assert f.cache_info().traces == 2


@pytest.mark.parametrize("level", ("Fast", "", None, 1, "fp16"))
def test_no_level(level):
    with pytest.raises(gc.errors.ArgumentError, match="'exact' or 'fast'"):
        gc.numerics(level)
    if level is not None:
        with pytest.raises(gc.errors.ArgumentError, match="'exact' or 'fast'"):
            gc.jit(lambda x: x, numerics=level)


@pytest.mark.parametrize("value, expected", (("fast", "True"), ("exact", "False"), ("", "False"), ("quick", "GRAPHC_NUMERICS is 'quick'")))
def test_the_environment(value, expected):
    script = """
import graphc as gc
try:
    print(" fast " in gc.jit(lambda x: x @ x).lower(gc.ones((20, 20), dtype="float16")).as_text("graph"))
except gc.errors.GraphcError as error:
    print(error)
"""
    paths = os.pathsep.join(p for p in sys.path if p)
    done = subprocess.run([sys.executable, "-c", script], env=os.environ | {"GRAPHC_NUMERICS": value, "PYTHONPATH": paths},
                          text=True, capture_output=True, timeout=120)
    assert expected in done.stdout, done.stdout + done.stderr
