"""The device "auto": each program on the cpu or on another device, by what two seconds of timing found."""

import os
import pathlib
import subprocess
import sys
import warnings

import graphc as gc
import numpy as np
import pytest

pytestmark = pytest.mark.graphc_only

PACKAGE = str(pathlib.Path(os.path.abspath(gc.__file__)).parent.parent)
rng = np.random.default_rng(5)

CASES = {
    "map": lambda a, b: gc.exp(a) * b + 1,
    "sum": lambda a, b: gc.sum(a * b),
    "rows": lambda a, b: gc.mean(a.reshape(100, -1), axis=1),
    "product": lambda a, b: a.reshape(100, -1) @ b.reshape(-1, 100),
    "sort": lambda a, b: gc.sort(a),
    "slices": lambda a, b: a[3:50] - b[:47],
}


@pytest.mark.parametrize("n", [100, 10_000, 1_000_000])
@pytest.mark.parametrize("name", CASES)
@pytest.mark.parametrize("wrap", [lambda f: f, gc.jit], ids=["lazy", "jit"])
def test_results_are_those_of_the_cpu(name, n, wrap):
    x, y = rng.random((2, n)).astype("f4")
    want = np.asarray(CASES[name](gc.asarray(x), gc.asarray(y)))
    with gc.device("auto"):
        a, b = gc.asarray(x), gc.asarray(y)
        got = wrap(CASES[name])(a, b)
        assert got.device == "auto" and a.device == "auto"
        again = np.asarray(got + 0)
    assert np.asarray(got).tobytes() == want.tobytes() and again.tobytes() == (want + np.float32(0)).tobytes()


CHILD = """
import runpy, graphc as gc, numpy as np
cases = runpy.run_path({path!r})["CASES"]
rng = np.random.default_rng(8)
for name, f in cases.items():
    x, y = rng.random((2, 40_000)).astype("f4")
    with gc.device("auto"):
        a, b = gc.asarray(x), gc.asarray(y)
        for g in (f, gc.jit(f)):
            got, here = np.asarray(g(a, b) * 1), np.asarray(g(a, b).ravel()[:1].to_device("cpu"))
            want = np.asarray(f(gc.asarray(x, device="cpu"), gc.asarray(y, device="cpu")) * 1)
            assert got.tobytes() == want.tobytes() and here.tobytes() == want.ravel()[:1].tobytes(), name
        a += b
        a[3] = 1
        assert np.asarray(a).sum() > 0
with gc.device("auto"):
    big = gc.asarray(np.arange(3_000_000, dtype="f4"))
    assert np.asarray(big * 2)[-1] == 2 * 2_999_999 and float(gc.sum(big)) > 0
print(gc._graphc.counters()["piece_passes"])
"""


def test_programs_on_the_other_device():
    if not any(str(d).startswith(("opencl", "cuda")) for d in gc.devices()):
        pytest.skip("no other device")
    env = dict(os.environ, PYTHONPATH=PACKAGE, GRAPHC_AUTO="other", GRAPHC_MEMORY_LIMIT="opencl=8MiB,cuda=8MiB")
    code = CHILD.format(path=__file__)
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", code], env=env, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr
    assert int(done.stdout) > 0  # what did not fit went in pieces


def test_updates_elements_and_transfers():
    x = rng.random(50_000).astype("f4")
    with gc.device("auto"):
        a = gc.asarray(x)
        a += 1
        a[5] = 7
        want = x + np.float32(1)
        want[5] = 7
        assert float(a[5]) == 7 and bool((a == gc.asarray(want)).all())
        assert np.array_equal(np.asarray(a.to_device("cpu")), want)
        assert np.array_equal(np.asarray(a.to_device("cpu").to_device("auto") * 1), want)


def test_errors_come_as_everywhere():
    with gc.device("auto"), warnings.catch_warnings(record=True) as told:
        warnings.simplefilter("always")
        np.asarray(1 / gc.zeros(100_000, dtype="float32"))
        with pytest.raises(gc.errors.DeviceError, match="auto"):
            gc.ones(3) + gc.ones(3, device="cpu")
    assert len(told) == 1


ASKED = """
import warnings, graphc as gc, numpy as np
with gc.device("auto"):
    zeros = gc.zeros(100_000, dtype="float32")
    for x in [zeros] * 4 + [gc.ones(100_000, dtype="float32"), zeros]:
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            np.asarray(1 / x)
        assert len(told) == bool(x[0] == 0), [str(w.message) for w in told]
"""


@pytest.mark.parametrize("where", ["", "timing", "cpu", "other"])
def test_errors_come_at_each_run(where):
    """Operations that met errors before are asked where they are computed: on either device the answers are read."""
    env = os.environ | {"PYTHONPATH": PACKAGE, "GRAPHC_AUTO": where}
    done = subprocess.run([sys.executable, "-c", ASKED], env=env, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr


SMALL = """
import graphc as gc, numpy as np

def program(xp):
    a = xp.zeros((6, 6))
    for i in range(6):
        for j in range(6):
            a[i, j] = i * 10 + j + (a[i, j - 1] if j else 0)
    a[a > 100] += 0.5
    a[:, ::2] *= 2
    b = xp.exp(-a / 50) + xp.sin(a[2]) @ a
    k = xp.array([3, 1, 5, 1])
    b[k] = b[k[::-1]] + 1
    xp.add.at(b, k, 0.25)
    b[0] = xp.sort(b[1])[::-1]
    c = (b[:, 1:4] - 1j).sum(axis=0)
    return [a, b, c * c, xp.maximum.accumulate(b, axis=1), xp.asarray([float(x) for x in b[3]]), b.max(), a[1:3].any()]

def counted(device):
    with gc.device(device):
        for _ in range(12):
            before = gc.cache_info()["programs_run"]
            results = program(gc)
            gc.eval(*results)
    return results, gc.cache_info()["programs_run"] - before

counted("cpu")  # until the loops are known
want, (here, runs), (there, runs_of_auto) = program(np), counted("cpu"), counted("auto")
assert runs == runs_of_auto, (runs, runs_of_auto)
for w, x, y in zip(want, here, there):
    assert y.device == "auto" and np.asarray(x).tobytes() == np.asarray(y).tobytes()
    np.testing.assert_allclose(np.asarray(y), w, rtol=1e-12)

with gc.device("auto"):
    large = gc.asarray(np.arange(300_000.0))
    few = gc.asarray(np.ones(4))
    view = few[1:3]
    for turn in range(60):  # what the other device has a copy of is written to all the same
        few[1] = turn
        view[1] += turn
        got = np.asarray(large * few[1] + few[2])[-1]
        assert got == 299_999 * turn + 1 + turn * (turn + 1) // 2, (turn, got)
"""


@pytest.mark.parametrize("where", ["", "timing", "cpu", "other"])
def test_small_statements_are_computed_as_on_the_cpu(where):
    """Loops over elements, views and small arrays run no program that they would not run on the cpu."""
    env = os.environ | {"PYTHONPATH": PACKAGE, "GRAPHC_AUTO": where}
    done = subprocess.run([sys.executable, "-c", SMALL], env=env, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr


MASKS = """
import graphc as gc, numpy as np

def program(xp, x, labels, mask, given):
    out = []
    for j in range(4):
        mine = x[labels == j]
        out += [mine.sum(axis=0), xp.asarray(len(mine)), x[given & (labels != j)] * 2]
    y = x + 1
    y[mask & given] += 1
    y[labels == 2] = y[labels == 2][::-1]
    y[given] = xp.arange(float(np.asarray(given).sum()))[:, None]
    places = xp.flatnonzero(mask)
    return [*out, y, y[mask, 1], y[given], xp.asarray(places), y[places[:3]], xp.bincount(labels, minlength=6), *xp.nonzero(given)]

rng = np.random.default_rng(8)
kept = {}
for n in (1_000, 60_000):
    x, labels, given = rng.random((n, 2)), rng.integers(0, 4, n), rng.random(n) < 0.3
    want = program(np, x, labels, x[:, 0] > 0.5, given)
    for device in ("cpu", "auto"):
        with gc.device(device):
            a, b, c = gc.asarray(x), gc.asarray(labels), gc.asarray(given)
            d = a[:, 0] > 0.5
            gc.eval(d, b + 1)
            for turn in range(3):
                before = gc._graphc.counters()["library_calls"]
                got = program(gc, a, b, d, c)
                gc.eval(*got)
                kept[n, device] = gc._graphc.counters()["library_calls"] - before
            for w, g in zip(want, got):
                assert g.device == device and g.shape == w.shape and g.dtype == w.dtype
                np.testing.assert_allclose(np.asarray(g), w, rtol=1e-13)
assert kept[1_000, "auto"] >= kept[1_000, "cpu"] > 0, kept
"""


@pytest.mark.parametrize("where", ["", "timing", "cpu", "other"])
def test_masks_are_counted_where_they_are(where):
    """Masks and what they choose from, each on the host or elsewhere; those on the host are counted there, by no running sum."""
    env = os.environ | {"PYTHONPATH": PACKAGE, "GRAPHC_AUTO": where, "GRAPHC_LOOP_TURNS": "never"}
    done = subprocess.run([sys.executable, "-c", MASKS], env=env, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr


def test_elements_of_what_is_elsewhere_come_home():
    """A result on the other device that a loop reads one by one is brought to the host, and written there from then on."""
    code = (
        "import graphc as gc, numpy as np\n"
        "runs = lambda: gc.cache_info()['programs_run']\n"
        "with gc.device('auto'):\n"
        "    x = gc.asarray(np.arange(40_000.0)) * 2\n"
        "    gc.eval(x)\n"
        "    for i in range(20_000):\n"
        "        assert x[i] == 2 * i\n"
        "    before = runs()\n"
        "    want = np.arange(40_000.0) * 2\n"
        "    for i in range(200):\n"
        "        for v in (x, want):\n"
        "            v[i + 9] = v[2 * i] + 1\n"
        "            v[::2][i] += 0.5\n"
        "    assert runs() == before\n"
        "    assert np.asarray(x + 1).tobytes() == (want + 1).tobytes()\n"
    )
    env = os.environ | {"PYTHONPATH": PACKAGE, "GRAPHC_AUTO": "other"}
    done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=200)
    assert done.returncode == 0, done.stderr


def test_timing_is_kept_on_disk(tmp_path):
    code = ("import graphc as gc, numpy as np\nwith gc.device('auto'):\n"
            "    x = gc.asarray(np.ones(100_000, 'f4')); np.asarray(x + 1)\n"
            "print(gc._graphc.counters()['kernels_compiled'])")
    env = dict(os.environ, PYTHONPATH=PACKAGE, GRAPHC_AUTO="timing", GRAPHC_CACHE_DIR=str(tmp_path))
    compiled = []
    for _ in range(2):
        done = subprocess.run([sys.executable, "-c", code], env=env, capture_output=True, text=True, timeout=200)
        assert done.returncode == 0, done.stderr
        compiled.append(int(done.stdout))
    assert compiled[1] == 0


def test_arrays_that_are_read_again_move():
    """A function is computed where its arrays are at first, and on the better device once it was called often enough."""
    code = (
        "import os, sys, graphc as gc, numpy as np\n"
        "x = np.random.default_rng(1).random(300_000, dtype='f4')\n"
        "f = gc.jit(lambda a: gc.sum(gc.sin(gc.cos(gc.exp(a)))))\n"
        "want = np.asarray(f(gc.asarray(x)))\n"
        "with gc.device('auto'):\n"
        "    a = gc.asarray(x)\n"
        "    for _ in range(50):\n"
        "        assert np.asarray(f(a)).tobytes() == want.tobytes()\n"
        "        assert np.asarray(f(gc.asarray(x))).tobytes() == want.tobytes()\n"
    )
    env = os.environ | {"PYTHONPATH": PACKAGE, "GRAPHC_AUTO": "timing"}
    subprocess.run([sys.executable, "-c", code], check=True, env=env, timeout=300)


def test_parts_and_scalars_of_results_are_waited_for():
    """block() of a value computed on either device, of a part of a pending one, and reads of single results."""
    code = (
        "import graphc as gc, numpy as np\n"
        "x = np.random.default_rng(3).random((40, 3000), dtype='f4')\n"
        "f, g = gc.jit(lambda a: gc.exp(a) * 2), gc.jit(lambda a: gc.sum(a))\n"
        "want, total = np.asarray(f(gc.asarray(x))), float(g(gc.asarray(x)))\n"
        "with gc.device('auto'):\n"
        "    a = gc.asarray(x)\n"
        "    for _ in range(12):\n"
        "        assert np.asarray(f(a).block()).tobytes() == want.tobytes()\n"
        "        assert float(g(a).block()) == float(g(a)) == g(a).item() == total\n"
        "        part = (gc.exp(a) * 2)[3, 5:9].block()\n"
        "        assert np.asarray(part).tobytes() == want[3, 5:9].tobytes()\n"
        "        few = g(a[0, :20])\n"
        "        assert float(few) == float(few.block()) and abs(float(few) - x[0, :20].sum()) < 1e-3\n"
        "    gc.synchronize('auto')\n"
    )
    for where in ("timing", "cpu", "other"):
        env = os.environ | {"PYTHONPATH": PACKAGE, "GRAPHC_AUTO": where}
        subprocess.run([sys.executable, "-c", code], check=True, env=env, timeout=300)


def test_statements_that_go_on_are_the_same_wherever_they_run(tmp_path):
    """What runs of statements alike took is remembered: they may go to the other device now and then, also those between
    which an array is updated, whose results are read or dropped, and of several sizes."""
    code = (
        "import graphc as gc, numpy as np\n"
        "x = np.random.default_rng(3).random(400_000, dtype='f4')\n"
        "def step(xp, a, total, n):\n"
        "    y = xp.sqrt(a[:n]) * 2 + 1\n"
        "    a[:n] += np.float32(0.125)\n"
        "    total += float(xp.max(y))\n"
        "    return total + float(y[n // 2]) if n % 3 else total\n"
        "a, b, ours, theirs = gc.asarray(x, device='auto'), x.copy(), 0.0, 0.0\n"
        "with gc.device('auto'):\n"
        "    for turn in range(240):\n"
        "        n = (400_000, 100_000, 30_000)[turn % 3]\n"
        "        ours, theirs = step(gc, a, ours, n), step(np, b, theirs, n)\n"
        "        assert ours == theirs, turn\n"
        "assert np.asarray(a).tobytes() == b.tobytes()\n"
    )
    for where in ("timing", "other"):
        env = os.environ | {"PYTHONPATH": PACKAGE, "GRAPHC_AUTO": where, "GRAPHC_CACHE_DIR": str(tmp_path)}
        subprocess.run([sys.executable, "-c", code], check=True, env=env, timeout=300)
