"""Programs whose arrays do not fit on an OpenCL device: computed in pieces with the bits of the CPU."""

import json
import os
import pathlib
import subprocess
import sys

import graphc as gc
import pytest

pytestmark = pytest.mark.graphc_only

CHILD = pathlib.Path(__file__).parent / "support" / "large_arrays.py"
PACKAGE = str(pathlib.Path(os.path.abspath(gc.__file__)).parent.parent)


def child(part):
    env = dict(os.environ, GRAPHC_MEMORY_LIMIT="opencl=4MiB", PYTHONPATH=PACKAGE)
    done = subprocess.run([sys.executable, str(CHILD), part], env=env, capture_output=True, text=True, timeout=280)
    assert done.returncode == 0, done.stdout + done.stderr
    return json.loads(done.stdout.splitlines()[-1])


@pytest.fixture(scope="module")
def opencl():
    if not any(str(d).startswith("opencl") for d in gc.devices()):
        pytest.skip("no OpenCL device")


@pytest.mark.parametrize("part", ["maps", "reductions", "products"])
def test_results_are_those_of_the_cpu(opencl, part):
    found = child(part)
    assert len(found) > 3
    assert {name for name, case in found.items() if not case["same"]} == set()
    assert {name for name, case in found.items() if case["passes"] == 0} == set()
    if part == "reductions":
        assert found["together"]["passes"] == 1  # what is read goes to the device once


def test_what_cannot_be_split_says_why(opencl):
    found = child("refusals")
    sort = found["sort"]
    assert "large_arrays.py" in sort and "'sort'" in sort and "in pieces" in sort
    assert "would fit" in sort and "MiB" in sort
    assert found["alive"] is True


def test_errors_and_warnings_name_the_line_once(opencl):
    found = child("errors")
    assert found["warnings"] == 1 and found["line"] is True
    assert found["raised"] is True and "out of bounds" in found["index"] and "large_arrays.py" in found["index"]


@pytest.mark.parametrize("size", [10**11, 10**14])
def test_results_larger_than_the_host(opencl, size):
    """Pieces that are ever smaller would not help."""
    with pytest.raises(gc.errors.OutOfMemory, match="would fit"):
        gc.eval(gc.zeros((size,), dtype="float32", device="opencl") + 1)
