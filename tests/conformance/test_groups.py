"""The schedules of GPU-class devices have the CPU's bits, on a device that is made to count as one."""

import os
import pathlib
import subprocess
import sys

import graphc as gc
import groups
import pytest

pytestmark = pytest.mark.graphc_only

HERE = pathlib.Path(__file__).resolve().parent


@pytest.mark.parametrize("family", groups.FAMILIES)
def test_groups_of_work_items(family):
    devices = [str(d) for d in gc.devices() if d.startswith("opencl") and d.fp64]
    if not devices:
        pytest.skip("no OpenCL device with float64")
    paths = [str(HERE.parent / "python"), *sys.path]
    environment = os.environ | {"GRAPHC_OPENCL_CLASS": "gpu", "PYTHONPATH": os.pathsep.join(p for p in paths if p)}
    done = subprocess.run([sys.executable, str(HERE / "groups.py"), devices[0], family], env=environment, text=True,
                          capture_output=True, timeout=600)
    assert done.returncode == 0, done.stderr[-4000:]
