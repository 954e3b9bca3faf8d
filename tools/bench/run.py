#!/usr/bin/env python3
"""Speed against C loops, NumPy and the machine: `tools/dev bench [--json FILE] [--device NAME] [name ...]`.

The contenders of a case take turns in one run, so that a noisy machine disturbs all of them; the median and the smallest
time are shown. C loops are compiled by clang-22 -O3 -march=native and run on as many threads as graphc uses.
"""

from __future__ import annotations

import argparse
import concurrent.futures
import ctypes
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
THREADS = len(os.sched_getaffinity(0))


class Loops:
    """tools/bench/loops.c as a library; each call is split over threads (ctypes releases the interpreter's lock)."""

    def __init__(self, folder: Path):
        library = folder / "loops.so"
        subprocess.run(["clang-22", "-O3", "-march=native", "-ffp-contract=off", "-shared", "-fPIC", HERE / "loops.c", "-o", library],
                       check=True)
        self.library = ctypes.CDLL(str(library))
        self.pool = concurrent.futures.ThreadPoolExecutor(THREADS)

    def call(self, name: str, count: int, *arrays) -> None:
        function = getattr(self.library, name)
        pointers = [ctypes.c_void_p(a.ctypes.data) for a in arrays]
        share = -(-count // THREADS) // 16 * 16 + 16
        jobs = [self.pool.submit(function, *pointers, ctypes.c_size_t(b), ctypes.c_size_t(min(b + share, count)))
                for b in range(0, count, share)]
        for job in jobs:
            job.result()


class Bench:
    """Collects rows; a row is one contender of one case."""

    def __init__(self, options, folder: Path):
        import numpy
        import graphc

        self.np, self.gc, self.options, self.folder = numpy, graphc, options, folder
        self.loops = Loops(folder)
        self.rows: list[dict] = []
        self.rng = numpy.random.default_rng(1)

    def size(self, full: int) -> int:
        return max(16, full // 256) if self.options.small else full

    def array(self, host):
        return self.gc.asarray(host).to_device(self.options.device)

    def ready(self, value):
        self.gc.eval(value)
        self.gc.synchronize()
        return value

    def compare(self, case: str, contenders: dict, work: float, unit: str, rounds: int = 9) -> None:
        """Runs every contender once a round. `work` / seconds is shown in `unit`."""
        rounds = 3 if self.options.small else rounds
        times = {name: [] for name in contenders}
        for run in contenders.values():
            run()
        for _ in range(rounds):
            for name, run in contenders.items():
                start = time.perf_counter()
                run()
                times[name].append(time.perf_counter() - start)
        base = statistics.median(times["graphc"])
        for name, seconds in times.items():
            median, best = statistics.median(seconds), min(seconds)
            self.rows.append({"case": case, "contender": name, "median_ms": 1e3 * median, "min_ms": 1e3 * best,
                              "rate": work / median, "unit": unit, "graphc_takes": base / median})

    def single(self, case: str, contender: str, milliseconds: float) -> None:
        self.rows.append({"case": case, "contender": contender, "median_ms": milliseconds})


def chain(bench: Bench) -> None:
    np, n = bench.np, bench.size(1 << 24)
    a, b = (bench.rng.random(n, np.float32) for _ in range(2))
    y = np.empty_like(a)
    x0, x1 = bench.array(a), bench.array(b)
    function = bench.gc.jit(lambda p, q: (p * q + p) * (q - 0.5))
    got = np.asarray(function(x0, x1))
    bench.loops.call("chain", n, a, b, y)
    assert np.array_equal(got, y), "the C loop and graphc disagree"
    bench.compare("chain f32", {"graphc": lambda: bench.ready(function(x0, x1)),
                                "C": lambda: bench.loops.call("chain", n, a, b, y),
                                "NumPy": lambda: (a * b + a) * (b - np.float32(0.5))}, 12e-9 * n, "GB/s")


def total(bench: Bench) -> None:
    np, n = bench.np, bench.size(1 << 26)
    a, sums = bench.rng.random(n, np.float32), np.zeros(bench.size(1 << 26) // 16 + 1, np.float32)
    x = bench.array(a)
    function = bench.gc.jit(lambda p: bench.gc.sum(p))
    bench.compare("sum f32", {"graphc": lambda: bench.ready(function(x)),
                              "C read": lambda: bench.loops.call("readAll", n, a, sums),
                              "NumPy": lambda: a.sum()}, 4e-9 * n, "GB/s")


def matmul(bench: Bench) -> None:
    np, n = bench.np, 128 if bench.options.small else 1024
    a, b = (bench.rng.standard_normal((n, n), np.float32) for _ in range(2))
    x0, x1 = bench.array(a), bench.array(b)
    function = bench.gc.jit(lambda p, q: p @ q)
    bench.compare(f"matmul {n} f32", {"graphc": lambda: bench.ready(function(x0, x1)),
                                      "NumPy (BLAS)": lambda: a @ b}, 2e-9 * n ** 3, "GFLOP/s")


def softmax(bench: Bench) -> None:
    np, gc = bench.np, bench.gc
    a = bench.rng.standard_normal((bench.size(8192), 1024), np.float32)
    x = bench.array(a)

    def program(xp, p):
        e = xp.exp(p - p.max(axis=-1, keepdims=True))
        return e / e.sum(axis=-1, keepdims=True)

    function = gc.jit(lambda p: program(gc, p))
    bench.compare("softmax f32", {"graphc": lambda: bench.ready(function(x)), "NumPy": lambda: program(np, a)}, 8e-9 * a.size, "GB/s", 5)


def logistic(bench: Bench) -> None:
    np, n = bench.np, bench.size(1 << 22)
    a = np.arange(1, n + 1, dtype=np.int64)
    y, x = np.empty_like(a), bench.array(a)

    def program(v):
        for _ in range(10):
            v = 22 * v * (v + 1) % 6700417
        return v

    function = bench.gc.jit(program)
    bench.compare("logistic map", {"graphc": lambda: bench.ready(function(x)),
                                   "C": lambda: bench.loops.call("logisticMap", n, a, y),
                                   "NumPy": lambda: program(a)}, 1e-6 * n, "M/s", 5)


def dispatch(bench: Bench) -> None:
    np = bench.np
    a = np.arange(8, dtype=np.float32)
    x, function = bench.array(a), bench.gc.jit(lambda p: p * 2.0 + 1.0)
    calls = 200 if bench.options.small else 5000

    def repeat(run):
        for _ in range(calls):
            run()

    def evaluated():
        bench.gc.eval(function(x))

    bench.compare(f"{calls} calls, 8 elements", {"graphc": lambda: repeat(lambda: function(x)), "graphc, evaluated": lambda: repeat(evaluated),
                                                 "NumPy": lambda: repeat(lambda: a * 2.0 + 1.0)}, 1e-3 * calls, "k/s", 5)


START = """
import time; t0 = time.perf_counter()
import numpy; t1 = time.perf_counter()
import graphc as gc; t2 = time.perf_counter()
import json, sys
x = gc.asarray(numpy.arange(8, dtype="float32")).to_device(sys.argv[1]); gc.eval(x)
def once(f):
    t = time.perf_counter(); gc.eval(f(x)); gc.synchronize(); return 1e3 * (time.perf_counter() - t)
first = once(lambda v: v * 2 + 1)
second = once(lambda v: (v - 3) * v)
third = once(lambda v: v * v - v)
print(json.dumps([1e3 * (t2 - t1), first, second, third]))
"""


def start(bench: Bench) -> None:
    """Fresh processes: import, first and further kernels with an empty cache, then with a full one."""
    cold, warm, imports = [], [], []
    for _ in range(2 if bench.options.small else 5):
        cache = Path(tempfile.mkdtemp(dir=bench.folder))
        environment = {**os.environ, "GRAPHC_CACHE_DIR": str(cache), "PYTHONPATH": str(bench.options.build / "python")}
        for results in (cold, warm):
            done = subprocess.run([sys.executable, "-c", START, bench.options.device], env=environment, capture_output=True, text=True,
                                  check=True)
            results.append(json.loads(done.stdout))
            imports.append(results[-1][0])
    bench.single("import", "graphc after numpy", statistics.median(imports))
    for number, name in ((1, "first kernel"), (2, "second kernel"), (3, "third kernel")):
        bench.single(name, "compiled", statistics.median(r[number] for r in cold))
        bench.single(name, "from disk", statistics.median(r[number] for r in warm))


CASES = {"chain": chain, "sum": total, "matmul": matmul, "softmax": softmax, "logistic": logistic, "dispatch": dispatch, "start": start}


def show(rows: list[dict]) -> None:
    print(f"{'case':<26}{'contender':<20}{'median ms':>11}{'min ms':>11}{'rate':>18}  graphc takes")
    for row in rows:
        best = f"{row['min_ms']:.3f}" if "min_ms" in row else ""
        rate = f"{row['rate']:.1f} {row['unit']}" if "rate" in row else ""
        ratio = f"{row['graphc_takes']:.2f} x" if "graphc_takes" in row and row["contender"] != "graphc" else ""
        print(f"{row['case']:<26}{row['contender']:<20}{row['median_ms']:>11.3f}{best:>11}{rate:>18}  {ratio}")


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True, help="build folder")
    parser.add_argument("--device", default="cpu")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the rows as JSON")
    parser.add_argument("--small", action="store_true", help="small sizes, few rounds: shows that it runs")
    parser.add_argument("cases", nargs="*", metavar="case", help=", ".join(CASES))
    options = parser.parse_args()
    unknown = set(options.cases) - set(CASES)
    if unknown:
        parser.error(f"no such case: {', '.join(sorted(unknown))}")
    options.build = options.build.resolve()
    sys.path.insert(0, str(options.build / "python"))
    folder = Path(tempfile.mkdtemp(prefix="graphc-bench-"))
    try:
        os.environ["GRAPHC_CACHE_DIR"] = tempfile.mkdtemp(dir=folder)
        bench = Bench(options, folder)
        for name in options.cases or CASES:
            CASES[name](bench)
        show(bench.rows)
        if options.json:
            options.json.write_text(json.dumps(bench.rows, indent=1) + "\n", encoding="utf-8")
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
