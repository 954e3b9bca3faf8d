"""Fourier transforms against NumPy's and SciPy's: speed in turns, errors against long double. python tools/bench/fft.py [--quick] [--dtype complex64]

Prints one line a case: batch x length, times in microseconds (the best of the turns; SciPy's, where it is installed, on all cores), how often
graphc is as fast as NumPy and as the better of the two, and graphc's error over NumPy's (root of the mean square).
"""

import argparse
import os
import time

import graphc as gc
import numpy as np

try:
    import scipy.fft as scipy_fft
except ImportError:
    scipy_fft = None

SINGLE = [2**k for k in range(3, 23)] + [12, 60, 100, 360, 13, 17, 169, 997, 1000, 1009, 5040, 10000, 100003, 1000000]
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
    contenders = [lambda: ours(g), lambda: theirs(x)]
    if scipy_fft:
        contenders.append(lambda: getattr(scipy_fft, name)(x, workers=os.cpu_count()))
    turns = [[turn(f, count) for f in contenders] for _ in range(TURNS)]
    mine, *others = (min(times) for times in zip(*turns))
    scipy = f"{others[1] * 1e6:11.1f}" if scipy_fft else f"{'-':>11}"
    print(
        f"{name:5} {shape[0]:6} x {shape[1]:<8} {mine * 1e6:11.1f} {others[0] * 1e6:11.1f} {scipy}"
        f"  {others[0] / mine:5.2f} {min(others) / mine:5.2f}  {errors[0] / errors[1]:5.2f}  first {first * 1e3:.0f} ms",
        flush=True,
    )


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a few cases")
    parser.add_argument("--dtype", default="complex128")
    options = parser.parse_args()
    print("                            graphc us    numpy us    scipy us  numpy  best  error")
    single = SINGLE[::5] if options.quick else SINGLE
    for n in single:
        measure("fft", (1, n), options.dtype)
    for shape in BATCHES[1::3] if options.quick else BATCHES:
        measure("fft", shape, options.dtype)
    for n in single[1::3]:
        measure("rfft", (1, n), options.dtype)


if __name__ == "__main__":
    main()
