"""Fourier transforms against NumPy's: speed in turns, errors against long double. python tools/bench/fft.py [--quick] [--dtype complex64]

Prints one line a case: batch x length, times in microseconds, how often graphc is as fast by the best and by the median of the
turns, and graphc's error over NumPy's (root of the mean square).
"""

import argparse
import statistics
import time

import graphc as gc
import numpy as np

SINGLE = [2**k for k in range(3, 23)] + [12, 60, 100, 360, 997, 1000, 1009, 5040, 10000, 100003, 1000000]
BATCHES = [(10000, 8), (4096, 64), (1024, 256), (1000, 1024), (64, 4096), (16, 65536), (1000, 1000)]
TURNS = 9


def turn(function, count):
    start = time.perf_counter()
    for _ in range(count):
        function()
    return (time.perf_counter() - start) / count


def error(got, best):
    return float(np.sqrt(np.mean(np.abs(got - best) ** 2) / np.mean(np.abs(best) ** 2)))


def measure(name, shape, dtype):
    rng = np.random.default_rng(0)
    x = (rng.standard_normal(shape) + 1j * rng.standard_normal(shape)).astype(dtype)
    if name == "rfft":
        x = x.real.copy()
    g = gc.asarray(x)
    theirs, ours = getattr(np.fft, name), getattr(gc.fft, name)
    start = time.perf_counter()
    got = np.asarray(ours(g))
    first = time.perf_counter() - start
    rows = slice(0, max(1, 2**18 // shape[1]))
    best = theirs(x[rows].astype("longdouble" if name == "rfft" else "clongdouble"))
    errors = error(got[rows], best), error(theirs(x[rows]), best)
    count = max(1, min(2000, 10**6 // x.size))
    times = [(turn(lambda: ours(g), count), turn(lambda: theirs(x), count)) for _ in range(TURNS)]
    mine, other = zip(*times)
    print(
        f"{name:5} {shape[0]:6} x {shape[1]:<8} {min(mine) * 1e6:11.1f} {min(other) * 1e6:11.1f}"
        f"  {min(other) / min(mine):5.2f} {statistics.median(other) / statistics.median(mine):5.2f}"
        f"  {errors[0] / errors[1]:5.2f}  first {first * 1e3:.0f} ms",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few cases")
    parser.add_argument("--dtype", default="complex128")
    options = parser.parse_args()
    print("                            graphc us    numpy us   best median error")
    single = SINGLE[::5] if options.quick else SINGLE
    for n in single:
        measure("fft", (1, n), options.dtype)
    for shape in BATCHES[1::3] if options.quick else BATCHES:
        measure("fft", shape, options.dtype)
    for n in single[1::3]:
        measure("rfft", (1, n), options.dtype)


if __name__ == "__main__":
    main()
