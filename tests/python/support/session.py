"""One cache folder per run, the choice between graphc and its oracle, and the hooks both test folders share."""

import os
import tempfile

import pytest

ORACLE = os.environ.get("GRAPHC_TEST_ORACLE") == "1"
_cache = tempfile.TemporaryDirectory(prefix="graphc-test-cache-")
os.environ["GRAPHC_CACHE_DIR"] = _cache.name
os.chmod(_cache.name, 0o700)

if ORACLE:
    from . import shim

    shim.install()

import graphc as gc  # noqa: E402  (the cache folder must be set before)

MARKERS = {
    "graphc_only": "has no meaning with NumPy in graphc's place",
    "full_size": "uses hundreds of megabytes",
}


def pytest_configure(config):
    for name, meaning in MARKERS.items():
        config.addinivalue_line("markers", f"{name}: {meaning}")


def pytest_collection_modifyitems(config, items):
    if ORACLE:
        skip = pytest.mark.skip(reason="NumPy stands in for graphc")
        for item in items:
            if "graphc_only" in item.keywords:
                item.add_marker(skip)


def pytest_generate_tests(metafunc):
    """`device` runs a test once for each usable device."""
    if "device" in metafunc.fixturenames:
        metafunc.parametrize("device", [str(d) for d in gc.devices()])


# Their small arrays are there for kernels, which a line that they pass often would not run any more.
OF_KERNELS = {
    "test_conformance", "test_complex", "test_groups", "test_elementwise", "test_reductions", "test_products", "test_scans", "test_integers",
    "test_narrow_floats", "test_complex_functions", "test_random", "test_loops", "test_lazy", "test_indexing",
}  # fmt: skip


@pytest.fixture(autouse=True)
def default_device(request):
    """A test that leaves a device selected must not disturb the next one."""
    always = request.module.__name__.rpartition(".")[2] in OF_KERNELS and not ORACLE
    before = gc._graphc.set_loop_turns(gc._graphc.NEVER) if always else None
    with gc.device("cpu"):
        yield
    if always:
        gc._graphc.set_loop_turns(before)
