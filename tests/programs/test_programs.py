"""Every program of this folder, unchanged under both imports."""

import os
import pathlib
import tempfile

import numpy as np
import pytest

_cache = tempfile.TemporaryDirectory(prefix="graphc-programs-cache-")
os.environ["GRAPHC_CACHE_DIR"] = _cache.name
os.chmod(_cache.name, 0o700)

import graphc as gc  # noqa: E402

HERE = pathlib.Path(__file__).parent
PROGRAMS = sorted(p.stem for p in HERE.glob("*.py") if not p.stem.startswith("test_"))
# What a program needs of the package beyond arithmetic and slices.
NEEDS = {"k_means": ("bincount",), "pca": ("linalg.svd",), "sieve": ("flatnonzero",)}


def load(name, package):
    text = (HERE / f"{name}.py").read_text()
    assert text.count("import numpy as np\n") == 1
    space = {"__name__": name}
    exec(compile(text.replace("import numpy as np\n", f"import {package} as np\n"), f"{name}.py", "exec"), space)
    return space


def has(path):
    found = gc
    for part in path.split("."):
        found = getattr(found, part, None)
    return found is not None


def test_all_are_here():
    assert len(PROGRAMS) == 21


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name):
    missing = [path for path in NEEDS.get(name, ()) if not has(path)]
    if missing:
        pytest.skip(f"graphc has no {', '.join(missing)}")
    reference = load(name, "numpy")
    with np.errstate(all="ignore"):
        want = reference["main"](reference["SMALL"])
    got = load(name, "graphc")["main"](reference["SMALL"])
    assert len(got) == len(want)
    for g, w in zip(got, want):
        assert isinstance(g, (gc.Array, bool)), type(g)
        g, w = np.asarray(g), np.asarray(w)
        assert g.dtype == w.dtype and g.shape == w.shape
        if w.dtype.kind == "f":
            np.testing.assert_allclose(g, w, rtol=1e-9, atol=1e-9)
        else:
            np.testing.assert_array_equal(g, w)
