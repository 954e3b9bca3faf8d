"""GRAPHC_TRACE: where the time of a process goes, as spans in Chrome's format."""

import json
import os
import pathlib
import subprocess
import sys

import graphc as gc
import pytest

pytestmark = pytest.mark.graphc_only

PACKAGE = str(pathlib.Path(os.path.abspath(gc.__file__)).parent.parent)
CODE = """
import graphc as gc, numpy as np
f = gc.jit(lambda x, w: gc.sum(gc.exp(x) * w, axis=1))
x, w = gc.ones((300, 200), dtype="f4"), gc.ones(200, dtype="f4")
for _ in range(3):
    np.asarray(f(x, w))
"""
COMPILING = {"import", "form kernels", "lower", "emit", "translate to LLVM", "optimize", "generate code"}


def spans_of(tmp_path, cache):
    file = tmp_path / f"{cache.name}.json"
    env = os.environ | {"PYTHONPATH": PACKAGE, "GRAPHC_TRACE": str(file), "GRAPHC_CACHE_DIR": str(cache)}
    subprocess.run([sys.executable, "-c", CODE], check=True, env=env, timeout=200)
    text = file.read_text()
    assert text.startswith("[\n")
    file.unlink()
    return json.loads(text.rstrip().rstrip(",") + "]")  # a process may end at any time: the end is left open


def test_spans_tell_where_compilation_goes(tmp_path):
    spans = spans_of(tmp_path, tmp_path / "cache")
    assert all(s["ph"] == "X" and s["dur"] >= 0 for s in spans)
    compiling = [s for s in spans if s["cat"] == "compile"]
    assert COMPILING <= {s["name"] for s in compiling}
    programs = [s for s in spans if s["name"] == "program"]
    for s in compiling:
        inside = [p for p in programs if p["ts"] <= s["ts"] and s["ts"] + s["dur"] <= p["ts"] + p["dur"] + 1]
        assert inside, s
    # One after the other, and none twice in a program.
    for p in programs:
        steps = sorted((s["ts"], s["name"]) for s in compiling if p["ts"] <= s["ts"] <= p["ts"] + p["dur"])
        names = [name for _, name in steps if name in {"import", "form kernels", "lower", "emit"}]
        assert names == ["import", "form kernels", "lower", "emit"]


def test_nothing_is_compiled_twice(tmp_path):
    cache = tmp_path / "cache"
    first = {s["name"] for s in spans_of(tmp_path, cache)}
    again = {s["name"] for s in spans_of(tmp_path, cache)}
    assert not again & (COMPILING | {"load compiler"}) and "program" in again and again < first
