"""Examples in docstrings and pages are run; what they print is compared."""

import doctest
import importlib
import os
import pathlib
import pkgutil
import re
import subprocess
import sys

import graphc as gc
import pytest

pytestmark = pytest.mark.graphc_only

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = ["frontends/python/README.md", "docs/coming-from-numpy.md", "docs/random.md"]
FLAGS = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE


def modules():
    return [m.name for m in pkgutil.iter_modules(gc.__path__) if m.name not in ("_graphc", "__main__")] if hasattr(gc, "_graphc") else []


@pytest.mark.parametrize("name", modules())
def test_docstrings(name):
    module = importlib.import_module(f"graphc.{name}")
    if not module.__name__.startswith("graphc"):
        pytest.skip("NumPy's own module")
    failed, _ = doctest.testmod(module, optionflags=FLAGS)
    assert failed == 0


def test_the_package_docstring():
    failed, tried = doctest.testmod(gc, optionflags=FLAGS)
    assert failed == 0 and tried > 0


@pytest.mark.parametrize("page", PAGES)
def test_pages(page):
    text = (ROOT / page).read_text()
    blocks = re.findall(r"```python\n(.*?)```", text, re.S)
    sessions = [b for b in blocks if b.lstrip().startswith(">>>")]
    assert sessions, f"{page} has no example"
    parser, runner = doctest.DocTestParser(), doctest.DocTestRunner(optionflags=FLAGS)
    names = {}
    for number, block in enumerate(sessions):
        test = parser.get_doctest(block, names, f"{page}:{number}", page, 0)
        runner.run(test, clear_globs=False)
        names = test.globs
    assert runner.summarize(verbose=False).failed == 0


def test_every_public_function_has_a_docstring():
    for name in dir(gc):
        value = getattr(gc, name)
        if callable(value):
            assert (value.__doc__ or "").strip(), name


@pytest.mark.graphc_only
def test_the_table_of_numpys_names_is_current():
    script = pathlib.Path(__file__).resolve().parents[2] / "tools" / "numpy_names.py"
    done = subprocess.run([sys.executable, script, "--check"], capture_output=True, text=True, env=os.environ)
    assert done.returncode == 0, done.stdout + done.stderr
