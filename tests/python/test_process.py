"""Whole processes: what is mapped, what happens without a home or a writable cache, after fork, under -W error."""

import json
import os
import pathlib
import subprocess
import sys
import textwrap
import warnings

import graphc as gc
import numpy as np
import pytest

pytestmark = pytest.mark.graphc_only

PACKAGE = pathlib.Path(os.path.abspath(gc.__file__)).parent if hasattr(gc, "_graphc") else pathlib.Path()
PACKAGE_PARENT = str(PACKAGE.parent)  # not resolved: a build tree links to the source files

PROGRAM = """
import numpy as np, graphc as gc
x = gc.asarray(np.arange(1000.0).reshape(10, 100))
y = gc.sum(gc.tanh(x * 0.5) + 1, axis=1)
gc.eval(y)  # by a program, which what is only looked at once has no need of
print(repr(float(y.sum())))
"""


def run(code, *options, check=True, **environment):
    """Runs Python code in a fresh process; a value of None removes the variable."""
    env = {**os.environ, "PYTHONPATH": os.pathsep.join([PACKAGE_PARENT, os.environ.get("PYTHONPATH", "")])}
    env.update({k: str(v) for k, v in environment.items() if v is not None})
    for key in [k for k, v in environment.items() if v is None]:
        env.pop(key, None)
    done = subprocess.run(
        [sys.executable, *options, "-c", textwrap.dedent(code)], env=env, capture_output=True, text=True, timeout=120, cwd="/"
    )
    if check:
        assert done.returncode == 0, f"exit {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


@pytest.fixture
def cache(tmp_path):
    folder = tmp_path / "cache"
    folder.mkdir(mode=0o700)
    return folder


MAPS = """
maps = open("/proc/self/maps").read()
print("LLVM" in maps or "MLIR" in maps or "graphc_compiler" in maps, gc._graphc.compiler_loaded())
"""


def test_a_warm_process_never_maps_the_compiler(cache):
    first = run(PROGRAM + MAPS, GRAPHC_CACHE_DIR=cache).stdout.split()
    assert first[1:] == ["True", "True"]
    second = run(PROGRAM + MAPS, GRAPHC_CACHE_DIR=cache).stdout.split()
    assert second == [first[0], "False", "False"]
    assert any(cache.rglob("*"))


def test_jit_in_a_warm_process_never_maps_the_compiler(cache):
    code = "import numpy as np, graphc as gc\nf = gc.jit(lambda x: gc.exp(x) @ x)\nprint(float(f(gc.asarray(np.eye(5)))[0, 0]))\n"
    first = run(code + MAPS, GRAPHC_CACHE_DIR=cache).stdout.split()
    assert run(code + MAPS, GRAPHC_CACHE_DIR=cache).stdout.split() == [first[0], "False", "False"]


def test_programs_are_the_same_however_many_threads_compile_them(cache):
    # Kernels with something between them: more than two parts, which call elementary functions of each other.
    code = """
    import numpy as np, graphc as gc

    @gc.jit
    def chain(y):
        for i in range(30):
            y = gc.tanh(y * 0.9 + i) + y.mean() * gc.exp(-y)
        return y

    print(np.asarray(chain(gc.asarray(np.linspace(-1, 1, 700)))).tobytes().hex())
    """
    made = {}
    for threads in (1, 2, 5):
        folder = cache / str(threads)
        folder.mkdir(mode=0o700)
        bits = run(code, GRAPHC_CACHE_DIR=folder, GRAPHC_NUM_THREADS=threads).stdout
        made[threads] = (bits, {p.name: p.read_bytes() for p in folder.rglob("*") if p.is_file()})
    assert made[1][1] and made[1] == made[2] == made[5]


def test_code_does_not_depend_on_what_was_compiled_before(tmp_path):
    code = """
    import sys, numpy as np, graphc as gc
    def run(more):
        x = gc.asarray(np.arange(3000.0).reshape(60, 50))
        y = x
        for i in range(8):
            y = gc.sqrt(gc.abs(y * 1.5 + x[:, ::-1])) - gc.exp(-y)
        z = y.sum(axis=0) + gc.sin(y).max(axis=1)[:50]
        gc.eval(y, gc.cumsum(z) * 2 if more else z)
    run(True)
    """
    entries = []
    for before in ("", "run(False)"):
        cache = tmp_path / f"cache{len(entries)}"
        run(textwrap.dedent(code).replace("run(True)", f"{before}\nrun(True)"), GRAPHC_CACHE_DIR=cache)
        entries.append({p.name: p.read_bytes() for p in cache.rglob("*.gcp")})
    alone, after = entries
    assert len(alone) == 1 and len(after) == 2
    for name, content in alone.items():
        assert after[name] == content


def test_import_maps_no_compiler_and_no_driver():
    done = run("import graphc\nmaps = open('/proc/self/maps').read()\nprint('LLVM' in maps, 'OpenCL' in maps, 'pocl' in maps)")
    assert done.stdout.split() == ["False"] * 3 and done.stderr == ""


def test_parts_are_imported_without_a_search_for_names_like_theirs():
    done = run("import sys, graphc as gc\ngc.random.RandomState(0), gc.fft.fft, gc.polynomial.chebyshev\nprint('difflib' in sys.modules)\n"
               "try: gc.sinn\nexcept AttributeError as e: print('sin' in str(e), 'difflib' in sys.modules)")
    assert done.stdout.split() == ["False", "True", "True"]


@pytest.mark.parametrize("before", ["pass", "gc.freeze()", "gc.disable()"])
def test_the_import_leaves_the_collector_as_it_was(before):
    """It makes thousands of objects that stay: they are old at once, and what the program froze stays frozen."""
    done = run(
        f"""
        import gc, numpy
        {before}
        frozen, enabled, runs = gc.get_freeze_count(), gc.isenabled(), []
        gc.callbacks.append(lambda phase, info: runs.append(phase))
        import graphc
        gc.callbacks.clear()
        assert gc.isenabled() == enabled and (gc.get_freeze_count() > 0) == (frozen > 0)
        assert len(runs) <= (4 if frozen else 2), runs
        class Cycle: pass
        cycle = Cycle()
        cycle.itself, ended = cycle, []
        import weakref
        weakref.finalize(cycle, ended.append, 1)
        del cycle
        gc.collect()
        print(ended)
        """
    )
    assert done.stdout == "[1]\n"


def test_import_time_over_numpys(tmp_path):
    # Processor time: the wall clock of a busy machine says nothing about the package. An installed package has bytecode.
    code = "import time, numpy; t = time.process_time(); import graphc; print(time.process_time() - t)"
    bytecode = {"PYTHONDONTWRITEBYTECODE": None, "PYTHONPYCACHEPREFIX": tmp_path}
    run(code, **bytecode)
    best = min(float(run(code, **bytecode).stdout) for _ in range(5))
    print(f"import graphc: {best * 1e3:.1f} ms over numpy")
    assert best < 0.08


def test_warnings_as_errors(cache):
    done = run(PROGRAM, "-W", "error", GRAPHC_CACHE_DIR=cache)
    assert done.stderr == ""


@pytest.mark.parametrize(
    "environment",
    [
        {"GRAPHC_CACHE": "off"},
        {"GRAPHC_CACHE_DIR": None, "HOME": None, "XDG_CACHE_HOME": None},
        {"GRAPHC_CACHE_DIR": None, "HOME": "/nonexistent", "XDG_CACHE_HOME": None},
        {"GRAPHC_CACHE_DIR": "/proc/nonexistent/cache"},
        {"GRAPHC_CACHE_DIR": "/dev/null"},
        {"GRAPHC_CACHE_DIR": "relative/folder"},
        {"GRAPHC_NUM_THREADS": "1"},
    ],
    ids=str,
)
def test_unusual_environments_compute_the_same(environment):
    want = run(PROGRAM).stdout
    assert run(PROGRAM, **environment).stdout == want


def test_cache_off_and_read_only(cache):
    want = run(PROGRAM, GRAPHC_CACHE="off", GRAPHC_CACHE_DIR=cache).stdout
    assert not any(p.is_file() for p in cache.rglob("*"))
    assert run(PROGRAM, GRAPHC_CACHE="ro", GRAPHC_CACHE_DIR=cache).stdout == want
    assert not any(p.is_file() for p in cache.rglob("*"))
    assert run(PROGRAM, GRAPHC_CACHE_DIR=cache).stdout == want
    entries = {p: p.read_bytes() for p in cache.rglob("*") if p.is_file()}
    assert entries
    assert run(PROGRAM + MAPS, GRAPHC_CACHE="ro", GRAPHC_CACHE_DIR=cache).stdout.split()[1:] == ["False", "False"]
    assert {p: p.read_bytes() for p in cache.rglob("*") if p.is_file()} == entries


def test_a_folder_open_to_others_is_not_used(cache):
    cache.chmod(0o777)
    want = run(PROGRAM, GRAPHC_CACHE="off").stdout
    assert run(PROGRAM, GRAPHC_CACHE_DIR=cache).stdout == want
    assert not any(p.is_file() for p in cache.rglob("*"))


def test_damaged_entries_are_misses(cache):
    want = run(PROGRAM, GRAPHC_CACHE_DIR=cache).stdout
    files = [p for p in cache.rglob("*") if p.is_file() and p.stat().st_size > 200]
    assert files
    rng = np.random.default_rng(80)
    for damage in ("flip", "cut", "empty", "noise"):
        for p in files:
            data = bytearray(p.read_bytes())
            if damage == "flip" and data:
                data[int(rng.integers(len(data)))] ^= 0xFF
            elif damage == "cut":
                data = data[: len(data) // 2]
            elif damage == "empty":
                data = bytearray()
            elif damage == "noise":
                data = bytearray(rng.bytes(len(data)))
            p.write_bytes(bytes(data))
        assert run(PROGRAM, GRAPHC_CACHE_DIR=cache).stdout == want, damage
    assert run(PROGRAM + MAPS, GRAPHC_CACHE_DIR=cache).stdout.split()[1:] == ["False", "False"], "rewritten"


def test_processes_race_for_one_cache(cache):
    env = {**os.environ, "PYTHONPATH": PACKAGE_PARENT, "GRAPHC_CACHE_DIR": str(cache)}
    racers = [
        subprocess.Popen([sys.executable, "-c", PROGRAM], env=env, stdout=subprocess.PIPE, text=True, cwd="/") for _ in range(4)
    ]
    results = {p.communicate(timeout=120)[0] for p in racers}
    assert len(results) == 1 and all(p.returncode == 0 for p in racers)


FORK = """
import os, sys
import numpy as np, graphc as gc
x = gc.asarray(np.arange(100000.0))
{before}
pid = os.fork()
value = float(gc.sum(gc.sqrt(x) + 1))
if pid == 0:
    sys.stdout.flush()
    os._exit(0 if abs(value - (np.sqrt(np.arange(100000.0)) + 1).sum()) < 1e-3 else 9)
_, status = os.waitpid(pid, 0)
print(os.waitstatus_to_exitcode(status), value == float(gc.sum(gc.sqrt(x) + 1)))
"""


@pytest.mark.parametrize(
    "before",
    ["", "y = x + 1", "gc.eval(x * 2)", "float(gc.sum(gc.sqrt(x) + 1))"],
    ids=["after import", "pending", "after use", "same program"],
)
def test_fork(before, cache):
    done = run(FORK.format(before=before), "-W", "ignore::DeprecationWarning", GRAPHC_CACHE_DIR=cache)
    assert done.stdout.split() == ["0", "True"]


@pytest.mark.parametrize("forked", [False, True])
def test_threads_that_compile_first_at_once(cache, forked):
    """Of a process, or of a child of one that has compiled."""
    code = f"""
        import os, threading, numpy as np, graphc as gc
        steps = ["exp(x * 1e-5)", "sum(x * x)", "cumsum(x)", "sqrt(x) + 1"]
        if {forked}:
            gc.eval(gc.asarray(np.ones(50000)) * 2)
            if pid := os.fork():
                assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
                os._exit(0)
        given = [np.arange(50000.0) + k for k in range(len(steps))]
        barrier, found = threading.Barrier(len(steps)), {{}}
        def work(k):
            x = gc.asarray(given[k])
            barrier.wait(30)
            found[k] = np.asarray(eval("gc." + steps[k]))
        threads = [threading.Thread(target=work, args=(k,)) for k in range(len(steps))]
        for t in threads: t.start()
        for t in threads: t.join()
        for k, step in enumerate(steps):
            x = given[k]
            np.testing.assert_allclose(found[k], eval("np." + step), rtol=1e-13)
        """
    run(code, GRAPHC_CACHE_DIR=cache)


def test_fork_while_another_thread_compiles():
    """The child compiles with nothing that the parent's thread was in the middle of using."""
    code = """
    import os, signal, threading, time, numpy as np, graphc as gc
    x = gc.asarray(np.ones(50))
    gc.eval(x * 3 + 1)
    def busy():
        for i in range(1_000_000):
            c = x
            for j in range(i % 40): c = c + float(j) * x
            gc.eval(gc.max(c * c))
    threading.Thread(target=busy, daemon=True).start()
    for n in range(12):
        time.sleep(0.013)
        pid = os.fork()
        if pid == 0:
            signal.alarm(30)
            c = x
            for j in range(n + 50): c = c - x
            os._exit(0 if float(gc.sum(c * 2)) == 100 * (1 - (n + 50)) else 3)
        print(os.waitpid(pid, 0)[1], flush=True)
    os._exit(0)
    """
    done = run(code, "-W", "ignore::DeprecationWarning", GRAPHC_CACHE="off")
    assert done.stdout.split() == ["0"] * 12


def test_multiprocessing_fork_pool(cache):
    code = """
    import multiprocessing as mp, numpy as np, graphc as gc
    def work(n): return float(gc.sum(gc.asarray(np.arange(float(n))) * 2))
    if __name__ == "__main__":
        float(gc.sum(gc.ones(3)))
        with mp.get_context("fork").Pool(3) as pool:
            print(pool.map(work, range(12)) == [float(n * (n - 1)) for n in range(12)])
    """
    assert run(code, GRAPHC_CACHE_DIR=cache).stdout.split() == ["True"]


def test_exit_while_values_are_pending_or_computing(cache):
    for tail in ("", "gc.eval(y)", "import os; os._exit(0)", "raise SystemExit(0)"):
        code = f"import numpy as np, graphc as gc\nx = gc.asarray(np.ones((300, 300)))\ny = gc.tanh(x @ x)\n{tail}\n"
        done = run(code, GRAPHC_CACHE_DIR=cache)
        assert done.stderr == ""
    threaded = """
    import threading, numpy as np, graphc as gc
    x = gc.asarray(np.ones((200, 200)))
    def work():
        while True: gc.eval(gc.tanh(x @ x))
    for _ in range(2): threading.Thread(target=work, daemon=True).start()
    gc.eval(x + 1)
    """
    for _ in range(5):
        done = run(threaded, GRAPHC_CACHE_DIR=cache)
        assert "Fatal" not in done.stderr and "terminate" not in done.stderr


def test_keyboard_interrupt_leaves_a_usable_session(cache):
    code = """
    import os, signal, threading, time, numpy as np, graphc as gc
    x = gc.asarray(np.random.default_rng(0).normal(size=(500, 500)))
    signal.signal(signal.SIGINT, signal.default_int_handler)  # a shell's background job begins with it ignored
    handler = signal.getsignal(signal.SIGINT)
    threading.Timer(0.2, os.kill, (os.getpid(), signal.SIGINT)).start()
    caught = False
    try:
        deadline = time.time() + 5
        while time.time() < deadline:
            y = x
            for i in range(4): y = gc.tanh(y @ x)
            gc.eval(y)
    except KeyboardInterrupt:
        caught = True
    print(caught, float(gc.sum(gc.ones(5))), signal.getsignal(signal.SIGINT) is handler)
    """
    assert run(code, GRAPHC_CACHE_DIR=cache).stdout.split() == ["True", "5.0", "True"]


def test_floating_point_mode_is_untouched(cache):
    code = """
    import numpy as np
    tiny = np.float32(1e-40)
    import graphc as gc
    gc.eval(gc.exp(gc.ones(1000)))
    print(float(tiny * np.float32(1)) != 0, np.finfo(np.float64).smallest_subnormal > 0)
    """
    done = run(code, "-W", "error", GRAPHC_CACHE_DIR=cache)
    assert done.stdout.split() == ["True", "True"]


def test_results_do_not_depend_on_threads_or_chunks(cache):
    code = """
    import hashlib, numpy as np, graphc as gc
    rng = np.random.default_rng(1)
    x = gc.asarray((rng.normal(size=(301, 4099)) * 2.0 ** rng.integers(-9, 9, (301, 4099))).astype("f4"))
    h = hashlib.sha256()
    for y in (gc.sum(x), gc.sum(x, axis=0), gc.sum(x, axis=1), gc.mean(gc.exp(x * 1e-3)), x[:, :300] @ x[:300, :64], gc.tanh(x)):
        h.update(np.asarray(y).tobytes())
    print(h.hexdigest())
    """
    digests = {run(code, GRAPHC_CACHE_DIR=cache, GRAPHC_NUM_THREADS=n).stdout for n in (1, 2, 3, 8)}
    assert len(digests) == 1


def test_info_as_text_and_json():
    env = {**os.environ, "PYTHONPATH": PACKAGE_PARENT}
    version = gc._graphc.build_info()["version"]
    text = subprocess.run([sys.executable, "-m", "graphc.info"], env=env, capture_output=True, text=True, check=True).stdout
    assert version in text and "cpu" in text and "devices" in text
    out = subprocess.run([sys.executable, "-m", "graphc.info", "--json"], env=env, capture_output=True, text=True, check=True)
    facts = json.loads(out.stdout)
    assert facts["graphc"] == version and facts["devices"][0]["name"] == "cpu" and facts["devices"][0]["usable"]
    for known in facts["devices"]:
        assert known["usable"] or known["reason"]


def test_cuda_is_listed_or_says_what_is_missing():
    code = "import graphc as gc\nfor d in gc.devices(all=True):\n    if d.startswith('cuda'):\n        print(d.usable, d.reason)"
    lines = run(code).stdout.splitlines()
    assert lines
    assert all(line.startswith("True") or "[cuda] " in line or "device" in line for line in lines), lines


def test_missing_opencl_is_listed_with_a_reason():
    code = """
    import graphc as gc
    print([str(d) for d in gc.devices()])
    for d in gc.devices(all=True):
        assert d.usable or d.reason, d
    try:
        gc.ones(3, device="opencl")
        print("no error")
    except gc.DeviceError as error:
        print("GC0302" in str(error))
    """
    done = run(code, OCL_ICD_VENDORS="/nonexistent", OCL_ICD_FILENAMES=None)
    assert done.stdout.splitlines() == ["['cpu']", "True"]


def test_the_default_device_comes_from_the_environment():
    assert run("import graphc as gc; print(gc.ones(3).device)", GRAPHC_DEVICE="cpu").stdout.strip() == "cpu"
    usable = [str(d) for d in gc.devices() if d.startswith("opencl")]
    if usable:
        assert run("import graphc as gc; print(gc.ones(3).device)", GRAPHC_DEVICE="opencl").stdout.strip() == usable[0]


def test_a_source_folder_without_the_extension_says_so(tmp_path):
    (tmp_path / "graphc").mkdir()
    for file in PACKAGE.glob("*.py"):
        (tmp_path / "graphc" / file.name).write_text(file.read_text())
    done = subprocess.run(
        [sys.executable, "-c", "import graphc"], env={**os.environ, "PYTHONPATH": str(tmp_path)}, capture_output=True, text=True
    )
    assert done.returncode == 1 and "tools/dev build" in done.stderr


def test_what_one_task_sets_is_not_anothers():
    import asyncio
    import contextvars

    met = {}

    async def task(name, mode, turns):
        with gc.errstate(all=mode):
            for _ in range(turns):
                await asyncio.sleep(0)
                met.setdefault(name, []).append((gc.geterr()["divide"], _outcome(lambda: gc.ones(3) / gc.zeros(3))))
        await asyncio.sleep(0)
        met[name].append((gc.geterr()["divide"], "warns"))

    def _outcome(f):
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                np.asarray(f())
            except FloatingPointError:
                return "raises"
        return "warns" if told else "nothing"

    async def main():
        await asyncio.gather(task("a", "raise", 3), task("b", "ignore", 5), task("c", "warn", 4))

    asyncio.run(main())
    assert met["a"] == [("raise", "raises")] * 3 + [("warn", "warns")]
    assert met["b"] == [("ignore", "nothing")] * 5 + [("warn", "warns")]
    assert met["c"] == [("warn", "warns")] * 5
    context = contextvars.copy_context()
    context.run(gc.seterr, divide="raise")
    assert gc.geterr()["divide"] == "warn" and context.run(gc.geterr)["divide"] == "raise"

    def steps():
        with gc.errstate(all="ignore"):
            yield gc.geterr()["over"]
        yield gc.geterr()["over"]

    assert list(steps()) == ["ignore", "warn"] and gc.geterr()["over"] == "warn"


LONG = """
import hashlib, os, pathlib
import numpy as np, graphc as gc

def steps(x):
    values = [x, x + 1.5]
    for i in range({length}):
        a, b = values[-1], values[-1 - i * i % 5 % len(values)]
        kind = i * 7 % 11 % 5
        values.append([a + b, a * 0.5 - b, gc.minimum(a, b), gc.maximum(a, b * 0.9), abs(a - b)][kind])
    return values[-1]

x = gc.asarray(np.linspace(-1, 1, 6000).reshape(60, 100))
y = {call}
gc.eval(y)
folder = pathlib.Path(os.environ["GRAPHC_CACHE_DIR"])
files = sorted(str(hashlib.sha256(p.read_bytes()).hexdigest()) for p in folder.rglob("*.gcp"))
print(np.asarray(y).tobytes().hex(), gc.cache_info()["compiles"], files)
"""


@pytest.mark.parametrize("call", ["steps(x)", "gc.jit(steps)(x)"])
def test_programs_of_one_evaluation_are_compiled_together(tmp_path, call):
    outputs = []
    for threads in (1, 2, 3):
        folder = tmp_path / str(threads)
        folder.mkdir(mode=0o700)
        trace = tmp_path / f"{threads}.json"
        code = LONG.format(length=900, call=call)
        done = run(code, GRAPHC_CACHE=None, GRAPHC_CACHE_DIR=folder, GRAPHC_TRACE=trace, GRAPHC_NUM_THREADS=threads)
        outputs.append(done.stdout)
        spans = json.loads(trace.read_text().rstrip().rstrip(",") + "]")
        lowered = [e["ts"] for e in spans if e.get("name") == "lower"]
        together = [e for e in spans if e.get("cat") == "record" and e.get("name") == "programs"]
        assert len(lowered) >= 3
        if threads > 1:
            begin, end = together[0]["ts"], together[0]["ts"] + together[0]["dur"]
            assert len(together) == 1 and all(begin <= at <= end for at in lowered)
    assert outputs[0] == outputs[1] == outputs[2]
