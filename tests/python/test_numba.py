"""Functions that Numba compiles name graphc where they mean NumPy, and are given graphc arrays."""

import importlib.machinery
import subprocess
import sys

import numpy as np
import pytest

import graphc as gc

WEIGHTS = gc.arange(5.0)

STAND_IN = {
    "numba/__init__.py": "from numba.core.dispatcher import Dispatcher\n",
    "numba/extending.py": "import functools\ntypeof_impl = functools.singledispatch(lambda x, context: type(x).__name__)\n",
    "numba/core/__init__.py": "",
    "numba/core/dispatcher.py": "class Dispatcher:\n    def __init__(self, function):\n        self.function = function\n"
    "    def __call__(self, *x, **k):\n        return self.function(*x, **k)\n",
    "numba/core/interpreter.py": "class Interpreter:\n    def __init__(self, names):\n        self.names = names\n"
    "    def get_global_value(self, name):\n        return self.names[name]\n    get_closure_value = get_global_value\n",
    "numba/stencils/__init__.py": "",
    "numba/stencils/stencil.py": "class StencilFunc:\n    def __call__(self, x):\n        return type(x).__name__\n",
}

PROGRAM = """
import graphc as gc, numpy as np
import numba
from numba.core.interpreter import Interpreter
seen = numba.Dispatcher(lambda *x, **k: (x, k))
x = gc.arange(3.0)
(a, b, c), k = seen(x, (1, x), x.sum(), y=x)
a[0] = 7
assert type(a) is type(k["y"]) is type(b[1]) is np.ndarray and x.tolist() == [7, 1, 2] and c == 3, (a, b, c, k)
rng, seeded = gc.random.default_rng(), gc.random.default_rng(3)
(r, s), _ = seen(rng, seeded)
assert type(r) is type(s) is np.random.Generator and s.bit_generator is seeded.bit_generator and seen(rng)[0][0].bit_generator is r.bit_generator
names = Interpreter(dict(gc=gc, l=gc.linalg, sqrt=gc.sqrt, norm=gc.linalg.norm, x=x, one=1, print=print, f64=gc.float64, none=None))
got = [names.get_global_value(name) for name in names.names]
assert got[:4] == [np, np.linalg, np.sqrt, np.linalg.norm] and type(got[4]) is np.ndarray and got[5:] == [1, print, np.float64, None], got
"""


PROBE = "import importlib.util, graphc\nassert importlib.util.find_spec('numba') and importlib.util.find_spec('numba.core')"


@pytest.mark.parametrize("first", ["", "import numba", PROBE])
def test_numba_is_told_when_it_is_imported(tmp_path, first):
    for name, text in STAND_IN.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\n{first}{PROGRAM}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def test_another_numba_is_left_as_it_is(tmp_path):
    (tmp_path / "numba.py").write_text("answer = 42\n")
    program = f"import sys; sys.path.insert(0, {str(tmp_path)!r})\nimport graphc, numba\nprint(numba.answer)"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.returncode == 0 and done.stdout == "42\n" and "this Numba is not told" in done.stderr, done.stderr


def test_a_ufunc_without_loops_yet_is_asked():
    """As Numba's, which are compiled when they are called."""

    class Empty:
        __name__, types, nin, nout = "made_later", [], 2, 1

        def __call__(self, *inputs):
            return np.multiply(*inputs)

    assert gc._interop._array_ufunc(gc.arange(3.0), Empty(), "__call__", gc.arange(3.0), 2.0).tolist() == [0, 2, 4]


@pytest.mark.skipif(importlib.machinery.PathFinder.find_spec("numba") is None, reason="needs Numba")
class TestCompiled:
    def test_arguments_and_results(self):
        import numba

        def scaled(x, y):
            x[:] = x + y * 2
            return gc.sqrt(x).sum() + WEIGHTS[2] + gc.linalg.norm(y)

        for make in numba.njit, numba.njit("float64(float64[:], float64[:])"), numba.njit(parallel=True):
            x, y = np.arange(4.0), np.ones(4)
            a, b = gc.asarray(x.copy()), gc.ones(4)
            compiled = make(scaled)
            assert compiled(a, b) == pytest.approx(scaled(x, y), rel=1e-14)
            assert a.tolist() == x.tolist() == [2, 3, 4, 5]

    def test_views_containers_and_pending_values(self):
        import numba

        @numba.njit
        def total(arrays):
            s = 0.0
            for x in arrays:
                s += x.sum()
            return s

        m = gc.arange(12.0).reshape(3, 4)
        assert total((m[1], m[1] + 1)) == 22 + 26
        assert total([m[:, 1], m[:, 1]]) == 30
        assert numba.typeof(m) == numba.typeof(np.ones((3, 4)))

    def test_generators(self):
        """Compiled code reads the state of a bit generator of NumPy's, and moves it on."""
        import numba

        @numba.njit
        def drawn(rng):
            return rng.random()

        theirs, ours, own = np.random.default_rng(3), gc.random.default_rng(3), gc.random.default_rng()
        assert [drawn(ours), ours.random(), drawn(ours)] == theirs.random(3).tolist()
        assert len({drawn(own) for _ in range(5)}) == 5

    def test_ufuncs(self):
        import numba

        @numba.vectorize
        def shifted(a, b):
            return a * b + 1

        x = gc.arange(3.0)
        assert shifted(x, 2.0).tolist() == [1, 3, 5]
        assert shifted(x, x).sum() == 8
