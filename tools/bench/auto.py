"""The device "auto" beside the two that it chooses from: `tools/dev bench auto`. The five seed programs and three more at
every size, called in four ways: jitted and waited for, queued, or of NumPy's arrays, and not jitted; the devices take
turns. A case holds where auto takes at most a tenth longer than the better one, by the median of the turns' ratios: what
slows a machine for a while slows all in a turn. Beside it stands how far that device, measured a second time in the same
turns, is from itself."""

from __future__ import annotations

import argparse
import json
import statistics
import sys
import time
from pathlib import Path
from typing import Callable

import numpy as np

import programs

F4, F8, I8 = np.float32, np.float64, np.int64
ALLOWED = 1.10
AGAIN = " again"
TURNS = 11
WAYS = ("waited for", "queued", "NumPy's", "eager")
CALLS_BEFORE = 40  # "auto" knows a program by then


def two(rng, n):
    return [rng.random(n, dtype=F4), rng.random(n, dtype=F4)]


def series(rng, n):
    odd = (2 * np.arange(50) + 1).astype(F4)
    return [np.linspace(0, np.pi, n).astype(F4), odd, (4 / np.pi / odd).astype(F4)]


def wave_functions(rng, n):
    rows = min(64, max(2, n // 64))
    return rng.random((rows, n // rows))


CASES: list[tuple[str, Callable, Callable]] = [  # name, program(xp, *inputs), inputs(rng, elements)
    ("logistic map x10", lambda gc, x: programs.logistic(gc, x, 10), lambda rng, n: [np.arange(1, n + 1, dtype=I8)]),
    ("pi, given points", programs.pi, two),
    ("Fourier K=50", lambda gc, *x: programs.fourier(gc, *x, 1e-3), series),
    ("GPAW integrate", programs.integrate, lambda rng, n: [wave_functions(rng, n)] * 2),
    ("GPAW rotate", programs.matmul, lambda rng, n: [rng.random((len(wave_functions(rng, n)),) * 2), wave_functions(rng, n)]),
    ("a*b+exp(-a)*tanh(b)", programs.chain, two),
    ("sum(sin(a)*2+b)", programs.sin_sum, two),
    ("softmax rows of 100", programs.softmax, lambda rng, n: [rng.random((n // 100, 100), dtype=F4)]),
]


class Ways:
    """How a program is called: (call, end of a group of calls)."""

    def __init__(self, gc, device: str, program: Callable, given: list):
        self.gc, self.device, self.given = gc, device, given
        self.arrays = [gc.asarray(x, device=device) for x in given]
        self.functions = {way: gc.jit(lambda *x: program(gc, *x), fullgraph=True) for way in WAYS[:3]}
        self.functions["eager"] = lambda *x: gc.eval(program(gc, *x))

    def call(self, way: str) -> None:
        gc, function = self.gc, self.functions[way]
        if way == "NumPy's":
            result = function(*[gc.asarray(x, device=self.device) for x in self.given])
            for leaf in result if isinstance(result, tuple) else (result,):
                np.asarray(leaf)
            return
        function(*self.arrays)
        if way != "queued":
            gc.synchronize(self.device)

    def group(self, way: str, calls: int) -> float:
        """Seconds of a call, of a device that has work: threads sleep while another one has its turn."""
        with self.gc.device(self.device):
            for _ in range(2 + calls // 4):
                self.call(way)
            self.gc.synchronize(self.device)
            start = time.perf_counter()
            for _ in range(calls):
                self.call(way)
            self.gc.synchronize(self.device)
            return (time.perf_counter() - start) / calls


def measure(gc, devices: list[str], case, size: int, seconds: float) -> list[dict]:
    name, program, inputs = case
    given = inputs(np.random.default_rng(1), size)
    ways = {d: Ways(gc, d, program, given) for d in devices} | {d + AGAIN: Ways(gc, d, program, given) for d in devices[:2]}
    found = []
    for way in WAYS:
        calls = {d: w.group(way, CALLS_BEFORE) and max(1, min(400, int(seconds / 5 / w.group(way, 3)))) for d, w in ways.items()}
        times = {d: [] for d in ways}
        for _ in range(TURNS):
            for d in ways:
                times[d].append(ways[d].group(way, calls[d]))
        medians = {d: statistics.median(t) for d, t in times.items()}
        better = min(devices[:2], key=medians.__getitem__)

        def over_better(device: str) -> float:
            return statistics.median(t / b for t, b in zip(times[device], times[better]))

        found.append({"case": name, "size": size, "way": way, "us": {d: t * 1e6 for d, t in medians.items()},
                      "ratio": over_better("auto"), "itself": over_better(better + AGAIN)})
    return found


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="tools/dev bench auto", description=__doc__)
    parser.add_argument("--other", default="gpu", help="the device that \"auto\" chooses from beside the cpu (default: %(default)s)")
    parser.add_argument("--rows", default="", metavar="TEXT", help="cases whose name contains this")
    parser.add_argument("--quick", action="store_true", help="two sizes")
    parser.add_argument("--seconds", type=float, default=0.1, help="time of a case on a device (default: %(default)s)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures")
    parser.add_argument("--build", type=Path, help="build folder with the package")
    options = parser.parse_args(arguments)
    if options.build and (options.build / "python").exists():
        sys.path.insert(0, str(options.build / "python"))
    import graphc as gc

    devices = ["cpu", options.other, "auto"]  # measure() takes the first two again
    results = []
    for case in CASES:
        for size in (1000, 10**5) if options.quick else (10**3, 10**4, 10**5, 10**6, 10**7):
            if options.rows in case[0]:
                results += measure(gc, devices, case, size, options.seconds)
                for r in results[-len(WAYS):]:
                    print(f"{r['case']:20} {size:9} {r['way']:10}  us " + "  ".join(f"{d} {t:.1f}" for d, t in r["us"].items())
                          + f"  ratio {r['ratio']:.2f} (itself {r['itself']:.2f})" + ("" if r["ratio"] <= ALLOWED else "  LOSES"), flush=True)
    for way in WAYS:
        for what, name in (("ratio", "auto"), ("itself", "the better device itself")):
            ratios = [r[what] for r in results if r["way"] == way]
            print(f"{way}, {name}: {sum(r <= ALLOWED for r in ratios)} of {len(ratios)} within {ALLOWED}, worst {max(ratios, default=1):.2f}")
    if options.json:
        options.json.write_text(json.dumps(results, indent=1))
    return 0
