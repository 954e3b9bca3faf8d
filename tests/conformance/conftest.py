"""The suite that every driver runs; it shares the support code of tests/python."""

import pathlib
import sys

import graphc as gc

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))

from support.session import (  # noqa: E402, F401
    default_device,
    pytest_collection_modifyitems,
    pytest_configure,
)


def pytest_generate_tests(metafunc):
    """Every usable device, and the one that runs nothing."""
    if "device" in metafunc.fixturenames:
        metafunc.parametrize("device", [str(d) for d in gc.devices()] + ["null"])
