#!/usr/bin/env python3
"""The logistic map on every device, from Python and from the command line, against NumPy in the same run.

x = 22 * x * (x + 1) % 6700417, ten times over the int64 numbers 1..N: one fused kernel, one read and one write an
element. The sum of the result is known; every way must reach it, or the exit status is 1.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

MODULUS, RATE, STEPS = 6_700_417, 22, 10
FULL, FULL_SUM = 0x2000000, 112374114484872  # N and the sum over 1..N, computed with two C compilers
REPEATS = 3


def logistic_map(x):
    for _ in range(STEPS):
        x = RATE * x * (x + 1) % MODULUS
    return x


def milliseconds(start: float) -> float:
    return 1e3 * (time.perf_counter() - start)


class Table:
    """Rows as they are measured, printed once at the end."""

    def __init__(self, reference, numpy_ms: float, golden: int | None):
        self.reference, self.numpy_ms, self.golden = reference, numpy_ms, golden
        self.rows: list[tuple] = []
        self.wrong = 0

    def add(self, device: str, way: str, compile_ms: float, run_ms: float, result) -> None:
        import numpy as np

        total = int(result.sum())
        right = bool(np.array_equal(result, self.reference)) and self.golden in (None, total)
        self.wrong += not right
        self.rows.append((device, way, compile_ms, run_ms, total, right))

    def fail(self, device: str, way: str, reason: str) -> None:
        self.wrong += 1
        print(f"{device} from {way}: {reason}", file=sys.stderr)

    def print(self, count: int) -> None:
        print(f"\nlogistic map, {STEPS} steps over {count:,} int64; median of {REPEATS} warm runs")
        print(f"{'device':<12}{'way':<8}{'compile ms':>11}{'run ms':>10}{'NumPy ms':>11}{'ratio':>8}   sum")
        for device, way, compile_ms, run_ms, total, right in sorted(self.rows):
            ratio = f"{self.numpy_ms / run_ms:.1f}x"
            print(f"{device:<12}{way:<8}{compile_ms:>11.1f}{run_ms:>10.1f}{self.numpy_ms:>11.1f}{ratio:>8}   "
                  f"{total} {'ok' if right else 'WRONG'}")


def from_python(device: str, host, table: Table) -> None:
    import numpy as np

    import graphc as gc

    with gc.device(device):
        function = gc.jit(logistic_map)
        small = gc.asarray(host[:8]).to_device(device)
        times = []
        for _ in range(2):  # sizes are arguments: these eight elements compile the program that the full size runs
            start = time.perf_counter()
            gc.eval(function(small))
            gc.synchronize()
            times.append(milliseconds(start))
        x = gc.asarray(host).to_device(device)
        gc.eval(function(x))
        gc.synchronize()
        runs = []
        for _ in range(REPEATS):
            start = time.perf_counter()
            y = function(x)
            gc.eval(y)
            gc.synchronize()
            runs.append(milliseconds(start))
        table.add(device, "python", times[0] - times[1], statistics.median(runs), np.asarray(y))


def call(command: list) -> subprocess.CompletedProcess:
    done = subprocess.run([str(c) for c in command], capture_output=True, text=True, stdin=subprocess.DEVNULL)
    if done.returncode:
        raise RuntimeError(f"{' '.join(map(str, command))} exits {done.returncode}: {done.stderr.strip()[-800:]}")
    return done


def from_cli(cli: Path, device: str, files: dict, table: Table) -> None:
    import numpy as np

    kind = device.split(":")[0]
    program, out = files["folder"] / f"{kind}.gco", files["folder"] / "y.npy"
    start = time.perf_counter()
    call([cli, "compile", files["mlir"], "-o", program, f"--target={kind}"])
    compile_ms = milliseconds(start)
    done = call([cli, "run", program, files["x"], "-o", out, f"--device={device}", f"--repeat={REPEATS + 1}", "--time",
                 "--json", f"--check={files['reference']}"])
    times = json.loads(done.stdout)
    # Loading is where an OpenCL driver compiles the text it is given; from Python that is part of the first call.
    compile_ms += times["load_ms"]
    table.add(device, "cli", compile_ms, statistics.median(times["runs_ms"][1:]), np.load(out))


def find_cli(build: Path) -> Path:
    for folder in ("bin", "tools/graphc", "."):
        if os.access(build / folder / "graphc", os.X_OK) and (build / folder / "graphc").is_file():
            return build / folder / "graphc"
    raise SystemExit(f"no graphc program under {build}; run tools/dev build")


def demonstrate(count: int, golden: int | None, cli: Path, folder: Path) -> int:
    import numpy as np

    import graphc as gc

    print("NumPy computes the same ...", flush=True)
    host = np.arange(1, count + 1, dtype=np.int64)
    start = time.perf_counter()
    reference = logistic_map(host)
    table = Table(reference, milliseconds(start), golden)

    files = {"folder": folder, "mlir": folder / "logistic_map.mlir", "x": folder / "x.npy", "reference": folder / "reference.npy"}
    np.save(files["x"], host)
    np.save(files["reference"], reference)
    devices = [str(d) for d in gc.devices()]
    if not devices:
        table.fail("none", "python", "no usable device")
    # Python first: exporting compiles the same program, and its compile time is one of the results.
    for way in ("python", "cli"):
        if way == "cli":
            gc.export(logistic_map, [gc.asarray(host[:8])], str(files["mlir"]))
        for device in devices:
            print(f"{device} from {way} ...", flush=True)
            try:
                from_python(device, host, table) if way == "python" else from_cli(cli, device, files, table)
            except Exception as error:  # one broken way must not hide the others
                table.fail(device, way, f"{type(error).__name__}: {error}")
    table.print(count)
    return 1 if table.wrong else 0


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True, help="build folder")
    parser.add_argument("--small", action="store_true", help="2^20 numbers, compared with NumPy only")
    options = parser.parse_args()
    sys.path.insert(0, str(options.build / "python"))
    # A private, empty cache: compile times are those of a first run, and nothing of the user's is touched.
    folder = Path(tempfile.mkdtemp(prefix="graphc-demo-"))
    try:
        for variable in ("GRAPHC_CACHE_DIR", "POCL_CACHE_DIR"):
            (folder / variable).mkdir(mode=0o700)
            os.environ[variable] = str(folder / variable)
        count, golden = (1 << 20, None) if options.small else (FULL, FULL_SUM)
        return demonstrate(count, golden, find_cli(options.build.resolve()), folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    sys.exit(main())
