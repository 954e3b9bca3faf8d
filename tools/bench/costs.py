"""What graphc itself costs, apart from what it computes: starting, compiling, calling. The first rows come from fresh
processes, with an empty cache on disk and with a full one; the others from one warm process."""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

FRESH = """
import time; t0 = time.perf_counter()
import numpy; t1 = time.perf_counter()
import graphc as gc; t2 = time.perf_counter()
import json
x = gc.asarray(numpy.arange(8, dtype="float32")); gc.eval(x)
def once(f):
    t = time.perf_counter(); gc.eval(f(x)); return 1e3 * (time.perf_counter() - t)
kernels = [once(f) for f in (lambda v: v * 2 + 1, lambda v: (v - 3) * v, lambda v: v * v - v, lambda v: gc.exp(v) + v)]
print(json.dumps([1e3 * (t2 - t1), *kernels]))
"""

WARM = """
import json, sys, time
import numpy, graphc as gc
repeat = int(sys.argv[1])
a, b, c = (gc.asarray(numpy.random.default_rng(i).random(8, dtype="float32")) for i in range(3))
gc.eval(a, b, c)
f = gc.jit(lambda a, b, c: a * b + c)
def jitted():
    f(a, b, c)
f(a, b, c)
before = gc.cache_info()["programs_run"]
f(a, b, c)
assert gc.cache_info()["programs_run"] == before + 1, "a jitted call no longer computes at once: evaluate it here"
def eager():
    gc.eval(a * b + c)
def each(run):
    for _ in range(100):
        run()
    found = []
    for _ in range(15):
        t = time.perf_counter()
        for _ in range(repeat):
            run()
        found.append(1e6 * (time.perf_counter() - t) / repeat)
    return found
def warm_kernels():
    found = []
    for k in range(16):  # four operations, each time others: no program is another's
        steps = [(gc.add, gc.multiply, gc.subtract, gc.maximum)[k // 4 ** i % 4] for i in range(2)]
        t = time.perf_counter()
        gc.eval(gc.jit(lambda v: steps[1](gc.abs(steps[0](v, b)), v) + c)(a))
        found.append(1e3 * (time.perf_counter() - t))
    return found[1:]
print(json.dumps({"jitted": each(jitted), "eager": each(eager), "kernels": warm_kernels()}))
"""

# name: (unit, target)
ROWS = {
    "import graphc, after NumPy": ("ms", 80),
    "first kernel of a process, compiled": ("ms", 15),
    "each further kernel, compiled": ("ms", 6),
    "first kernel of a process, from disk": ("ms", 2),
    "further kernel in a warm process, compiled": ("ms", 6),
    "jitted a*b+c, 8 elements, computed": ("us", 2),
    "a*b+c written eagerly, 8 elements, computed": ("us", 4),
}


def run(options, program: str, cache: Path, *arguments: str):
    environment = {**os.environ, "GRAPHC_CACHE_DIR": str(cache), "PYTHONPATH": str(options.build / "python"),
                   "PYTHONPYCACHEPREFIX": str(options.bytecode)}
    environment.pop("GRAPHC_CACHE", None)  # the rows say themselves what is in the cache
    environment.pop("PYTHONDONTWRITEBYTECODE", None)  # installed packages have their bytecode
    done = subprocess.run([sys.executable, "-c", program, *arguments], env=environment, capture_output=True, text=True)
    if done.returncode:
        raise RuntimeError((done.stderr.strip().splitlines() or ["no message"])[-1])
    return json.loads(done.stdout)


def measure(options) -> dict:
    try:
        with tempfile.TemporaryDirectory(prefix="graphc-bench-bytecode-") as folder:
            options.bytecode = Path(folder)
            run(options, "import numpy, graphc; print(0)", Path(folder))
            samples = _samples(options)
    except (RuntimeError, OSError) as error:
        return {name: {"why": str(error)} for name in ROWS}
    return {name: {"median": statistics.median(samples[name]), "min": min(samples[name]), "unit": unit, "target": target}
            for name, (unit, target) in ROWS.items()}


def _samples(options) -> dict:
    names = list(ROWS)
    found = {name: [] for name in names}
    for _ in range(2 if options.quick else 9):
        with tempfile.TemporaryDirectory(prefix="graphc-bench-cache-") as folder:
            cold, warm = (run(options, FRESH, Path(folder)) for _ in range(2))
        found[names[0]] += [cold[0], warm[0]]
        found[names[1]].append(cold[1])
        found[names[2]] += cold[2:]
        found[names[3]].append(warm[1])
    with tempfile.TemporaryDirectory(prefix="graphc-bench-cache-") as folder:
        measured = run(options, WARM, Path(folder), "50" if options.quick else "3000")
    found[names[4]], found[names[5]], found[names[6]] = measured["kernels"], measured["jitted"], measured["eager"]
    return found
