"""The suite that every driver runs; it shares the support code of tests/python."""

import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "python"))

from support.session import (  # noqa: E402, F401
    default_device,
    pytest_collection_modifyitems,
    pytest_configure,
    pytest_generate_tests,
)
