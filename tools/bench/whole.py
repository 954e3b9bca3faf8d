#!/usr/bin/env python3
"""The programs of tests/programs at full size: seconds under NumPy and under graphc, in turns, and the ratio.

    tools/dev bench programs [--small] [--rounds N] [NAME ...]

The first run of a program under graphc compiles it and is not counted. Results of both are compared.
"""

import argparse
import statistics
import sys
import time
from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parents[2] / "tests" / "programs"


def load(name, package):
    text = (FOLDER / f"{name}.py").read_text().replace("import numpy as np\n", f"import {package} as np\n")
    space = {"__name__": name}
    exec(compile(text, f"{name}.py", "exec"), space)
    return space


def finished(results):
    """The values of all results: what a user would print."""
    return [np.asarray(r) for r in results]


def measure(name, small, rounds):
    programs = {package: load(name, package) for package in ("numpy", "graphc")}
    size = programs["numpy"]["SMALL" if small else "SIZE"]
    seconds = {package: [] for package in programs}
    results = {}
    for i in range(rounds + 1):
        for package, space in programs.items():
            start = time.perf_counter()
            with np.errstate(all="ignore"):
                results[package] = finished(space["main"](size))
            if i or package == "numpy":
                seconds[package].append(time.perf_counter() - start)
    same = all(
        np.allclose(g, w, rtol=1e-7, atol=1e-7, equal_nan=w.dtype.kind == "f") for g, w in zip(results["graphc"], results["numpy"])
    )
    return min(seconds["numpy"]), min(seconds["graphc"]), same


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("names", nargs="*")
    parser.add_argument("--small", action="store_true", help="the sizes of the tests")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--build", type=Path, default=FOLDER.parents[1] / "build", help="build folder")
    args = parser.parse_args(arguments)
    sys.path.insert(0, str(args.build.resolve() / "python"))
    names = args.names or sorted(p.stem for p in FOLDER.glob("*.py") if p.stem not in ("test_programs", "conftest"))
    ratios = []
    print(f"{'program':24}{'numpy s':>10}{'graphc s':>10}{'ratio':>8}")
    for name in names:
        try:
            theirs, ours, same = measure(name, args.small, args.rounds)
        except AttributeError as error:
            print(f"{name:24}{str(error)[:60]}")
            continue
        ratios.append(theirs / ours)
        print(f"{name:24}{theirs:10.4f}{ours:10.4f}{theirs / ours:8.2f}{'' if same else '  RESULTS DIFFER'}", flush=True)
    if ratios:
        print(f"{'median':24}{'':20}{statistics.median(ratios):8.2f}")


if __name__ == "__main__":
    main()
