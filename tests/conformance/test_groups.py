"""The schedules of GPU-class devices have the CPU's bits, on a device that is made to count as one."""

import json
import os
import pathlib
import subprocess
import sys

import graphc as gc
import groups
import pytest

pytestmark = pytest.mark.graphc_only

HERE = pathlib.Path(__file__).resolve().parent


def run_by_groups(*command, **variables):
    devices = [str(d) for d in gc.devices() if d.startswith("opencl") and d.fp64]
    if not devices:
        pytest.skip("no OpenCL device with float64")
    paths = [str(HERE.parent / "python"), *sys.path]
    environment = os.environ | {"GRAPHC_OPENCL_CLASS": "gpu", "PYTHONPATH": os.pathsep.join(p for p in paths if p)} | variables
    arguments = [devices[0] if part is None else part for part in command]
    done = subprocess.run([sys.executable, *arguments], env=environment, text=True, capture_output=True, timeout=600)
    assert done.returncode == 0, done.stderr[-4000:]


@pytest.mark.parametrize("family", groups.FAMILIES)
def test_groups_of_work_items(family):
    run_by_groups(str(HERE / "groups.py"), None, family)


ROWS = """
import sys, numpy as np, graphc as gc

@gc.jit
def softmax(x):
    e = gc.exp(x - gc.max(x, axis=1, keepdims=True))
    return e / gc.sum(e, axis=1, keepdims=True)

with gc.device(sys.argv[1]):
    for length in sys.argv[2:]:
        np.asarray(softmax(gc.asarray(np.ones((500, int(length)), np.float32))))
"""


def traced(folder, program, *arguments):
    """Names of all spans of a program in their order."""
    trace = folder / "trace.json"
    run_by_groups("-c", program, None, *arguments)  # a device's self-test, which is remembered, is in no trace then
    run_by_groups("-c", program, None, *arguments, GRAPHC_TRACE=str(trace))
    events = [json.loads(line.rstrip(",")) for line in trace.read_text(encoding="utf-8").splitlines() if line.startswith("{")]
    return [e["name"] for e in sorted((e for e in events if "ts" in e), key=lambda e: e["ts"])]


def launched(folder, program, *arguments):
    return [name for name in traced(folder, program, *arguments) if name.startswith("main_")]


PRODUCTS = """
import sys, numpy as np, graphc as gc

product = gc.jit(lambda a, b: a @ b)
with gc.device(sys.argv[1]):
    for shapes in sys.argv[2:]:
        a, b = (np.ones([int(n) for n in shape.split("x")], np.float32) for shape in shapes.split("@"))
        np.asarray(product(gc.asarray(a), gc.asarray(b)))
"""


def test_only_the_form_for_a_products_size_runs(tmp_path):
    forms = {"3000x4x4@3000x4x4": "_each", "90x32x15@90x15x15": "_each", "90x32x15@90x15x16": "_quads", "90x32x64@90x64x32": "_quads", "90x32x65@90x65x32": "_small", "90x32x9@90x9x33": "_small"}
    assert launched(tmp_path, PRODUCTS, *forms) == [f"main_0{form}" for form in forms.values()]


def test_only_the_form_for_a_rows_length_runs(tmp_path):
    forms = {16: "_16", 50: "_64", 64: "_64", 65: "_256_any", 68: "_256", 256: "_256", 1023: "_1024_any", 1024: "_1024", 1025: "_4096_any",
             1028: "_4096", 4095: "_4096_any", 4096: "_whole", 4097: "_8192", 8192: "_8192", 8193: "_16384", 16384: "_16384", 16385: "_32768",
             32768: "_32768", 32769: ""}  # fmt: skip
    assert launched(tmp_path, ROWS, *map(str, forms)) == [f"main_0{form}" for form in forms.values()]


def test_forms_for_other_sizes_are_not_built(tmp_path):
    steps = [name for name in traced(tmp_path, ROWS, "50", "64", "70_000") if name == "load" or name.startswith("main_")]
    at = steps.index("main_0_64")
    assert steps[at - 1 :] == ["load", "main_0_64", "main_0_64", "load", "main_0"]


PLACES = """
import sys, numpy as np, graphc as gc

@gc.jit
def written(a, i, x):
    a[i] = x
    return a

places, points = int(sys.argv[2]), int(sys.argv[3])
with gc.device(sys.argv[1]):
    np.asarray(written(*map(gc.asarray, (np.ones(places), np.arange(points) % places, np.ones(points)))))
"""


@pytest.mark.parametrize(("places", "points", "sorts"), [(8000, 1000, False), (8001, 1000, True), (10, 5000, False)])
def test_points_are_sorted_where_places_are_many(tmp_path, places, points, sorts):
    found = traced(tmp_path, PLACES, str(places), str(points))
    assert found and sorts == any(name.startswith("argsort") for name in found)
