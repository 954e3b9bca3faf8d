#!/usr/bin/env python3
"""Everything `tools/dev test` runs, in order, each step counted; the last line is `N passed, M failed[, K skipped]`.

A step never stops the ones after it: what cannot run because a build failed counts as one failure.
Logs are build/logs/test-<name>.log.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import xml.etree.ElementTree as ElementTree
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from pathlib import Path

import runtimes

ROOT = Path(__file__).resolve().parents[2]
LLVM_BIN = Path("/usr/lib/llvm-22/bin")
LOGS = ROOT / "build" / "logs"
LIT_PASSED = {"PASS", "XFAIL", "FLAKYPASS"}
LIT_SKIPPED = {"UNSUPPORTED", "SKIPPED", "EXCLUDED"}
SHOWN = 40  # names of failures, lines of a log


class Suite:
    """Runs steps and adds up their results."""

    def __init__(self, build: Path):
        self.build = build
        # Of this run alone: two runs in one checkout must not take each other's files.
        self.scratch = LOGS.parent / "test-scratch" / str(os.getpid())
        shutil.rmtree(self.scratch, ignore_errors=True)
        self.scratch.mkdir(parents=True)
        LOGS.mkdir(parents=True, exist_ok=True)
        self.passed = self.failed = self.skipped = 0
        self.jobs = os.environ.get("JOBS", str(os.cpu_count() or 1))
        self.built: dict[str, bool] = {}
        self.lock = threading.Lock()  # of the sums and of what is printed
        self.children: set[subprocess.Popen] = set()
        self.env = {**os.environ, "GRAPHC_CACHE_DIR": self.private("cache"), "POCL_CACHE_DIR": self.private("pocl")}

    def private(self, name: str) -> str:
        folder = self.scratch / name
        folder.mkdir(mode=0o700, parents=True, exist_ok=True)
        return str(folder)

    def run(self, name: str, command: list, timeout: int, cwd: Path = ROOT, env: dict | None = None) -> int:
        """The exit status (124 after a time-out); output goes to the step's log."""
        with open(LOGS / f"test-{name}.log", "w", encoding="utf-8", errors="replace") as log:
            log.write("$ " + " ".join(map(str, command)) + "\n")
            log.flush()
            try:
                with subprocess.Popen([str(c) for c in command], cwd=cwd, env=env or self.env, stdin=subprocess.DEVNULL,
                                      stdout=log, stderr=subprocess.STDOUT, start_new_session=True) as child:
                    self.children.add(child)
                    try:
                        return child.wait(timeout)
                    except BaseException as stop:  # time-out or Ctrl-C: the child's children go as well
                        os.killpg(child.pid, signal.SIGKILL)
                        if not isinstance(stop, subprocess.TimeoutExpired):
                            raise
                        log.write(f"\nstopped after {timeout} s\n")
                        return 124
                    finally:
                        self.children.discard(child)
            except OSError as error:
                log.write(f"\n{error}\n")
                return 127

    def side_by_side(self, steps: list) -> None:
        """Runs the steps on two threads, the first ones first; Ctrl-C ends what they have started."""
        pool = ThreadPoolExecutor(min(2, int(self.jobs)))
        started = [pool.submit(step) for step in steps]
        try:
            for step in started:
                step.result()
        except BaseException:
            pool.shutdown(wait=False, cancel_futures=True)
            for child in list(self.children):
                os.killpg(child.pid, signal.SIGKILL)
            raise
        pool.shutdown()

    def tail(self, name: str) -> None:
        lines = (LOGS / f"test-{name}.log").read_text(encoding="utf-8", errors="replace").splitlines()
        print("\n".join("    " + line for line in lines[-SHOWN:]))

    def count(self, what: str, start: float, passed: int = 0, failures: list[str] | None = None, skipped: int = 0) -> None:
        failures = failures or []
        extra = f", {skipped} skipped" if skipped else ""
        with self.lock:
            self.passed += passed
            self.failed += len(failures)
            self.skipped += skipped
            print(f"{what:<28} {passed} passed, {len(failures)} failed{extra}  ({time.monotonic() - start:.0f} s)")
            for failure in failures[:SHOWN]:
                print(f"  FAILED {failure}")
            if len(failures) > SHOWN:
                print(f"  ... and {len(failures) - SHOWN} more, see {LOGS}")
            sys.stdout.flush()

    def one(self, name: str, command: list, timeout: int, **options) -> bool:
        """A step that is one test."""
        start = time.monotonic()
        ok = self.run(name, command, timeout, **options) == 0
        self.count(name, start, passed=int(ok), failures=[] if ok else [name])
        if not ok:
            self.tail(name)
        return ok

    def build_step(self, kind: str, timeout: int = 3000) -> bool:
        if kind not in self.built:
            self.built[kind] = self.one(f"build-{kind}", [ROOT / "tools/dev", "build-step", kind], timeout,
                                        env={**os.environ, "TAIL_LINES": "40"})
        return self.built[kind]

    def needs(self, kind: str, step: str) -> bool:
        """Builds `kind` once; without it the step is one failure."""
        if self.build_step(kind):
            return True
        self.count(step, time.monotonic(), failures=[f"{step}: not run, the {kind} build failed"])
        return False

    def lit(self, name: str, folders: list[Path]) -> None:
        start = time.monotonic()
        results = self.scratch / f"{name}.json"
        status = self.run(name, [LLVM_BIN / "lit", "-v", "-j", self.jobs, "-o", results, *folders], 1500)
        try:
            tests = json.loads(results.read_text(encoding="utf-8"))["tests"]
        except (OSError, ValueError, KeyError):
            self.count(name, start, failures=[f"{name}: lit gave no results (exit {status})"])
            self.tail(name)
            return
        codes = [(t["name"], t["code"]) for t in tests]
        failures = [f"{n} ({c})" for n, c in codes if c not in LIT_PASSED | LIT_SKIPPED]
        if status and not failures:
            failures = [f"{name}: lit exits {status}"]
        self.count(name, start, sum(c in LIT_PASSED for _, c in codes), failures, sum(c in LIT_SKIPPED for _, c in codes))

    def pytest(self, name: str, arguments: list, timeout: int, env: dict | None = None) -> None:
        start = time.monotonic()
        report = self.scratch / f"{name}.xml"
        status = self.run(name, [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", f"--junitxml={report}",
                                 *arguments], timeout, env=env)
        try:
            cases = list(ElementTree.parse(report).getroot().iter("testcase"))
        except (OSError, ElementTree.ParseError):
            self.count(name, start, failures=[f"{name}: pytest died (exit {status})"])
            self.tail(name)
            return
        failures, skipped = [], 0
        for case in cases:
            if case.find("failure") is not None or case.find("error") is not None:
                failures.append(f"{case.get('classname')}::{case.get('name')}")
            elif case.find("skipped") is not None:
                skipped += 1
        passed = len(cases) - len(failures) - skipped
        if (status and not failures) or not cases:
            failures.append(f"{name}: pytest exits {status} after {len(cases)} tests")
        self.count(name, start, passed, failures, skipped)
        if failures:
            self.tail(name)


def step_checks(suite: Suite) -> None:
    """The source checks, one test each."""
    start, report = time.monotonic(), suite.scratch / "checks.json"
    status = suite.run("checks", [sys.executable, ROOT / "tools/checks/run.py", "--json", report], 300)
    try:
        counts = json.loads(report.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        counts = {f"run.py (exit {status})": 1}
    suite.count("checks", start, sum(n == 0 for n in counts.values()),
                [f"check {name}: {n} findings" for name, n in counts.items() if n])
    if any(counts.values()):
        suite.tail("checks")
    suite.pytest("checks-can-fail", [ROOT / "tests/tools"], 300)


def step_build(suite: Suite) -> None:
    """The full build: compiler, runtime, tools, Python extension."""
    suite.build_step("main")


def step_lit(suite: Suite) -> None:
    """.mlir tests and unit test programs of the full build."""
    if suite.needs("main", "lit"):
        suite.lit("lit", [suite.build / "tests"])
        suite.lit("unit", [suite.build / "tests/unit"])


PYTHON_PARTS = 4  # a process each: what a process computes with stays in its memory


def step_python(suite: Suite) -> None:
    """The Python package on every device, the conformance suite, whole programs, and a bounded run of the fuzzer."""
    files = sorted((ROOT / "tests/python").glob("test_*.py"))
    steps = {"conformance": [ROOT / "tests/conformance"]}
    steps |= {f"python-{part + 1}": files[part::PYTHON_PARTS] for part in range(PYTHON_PARTS)}
    steps |= {name: [ROOT / "tests" / name] for name in ("programs", "fuzz")}
    if not all([suite.needs("main", name) for name in steps]):
        return
    environment = {**suite.env, "PYTHONPATH": str(suite.build / "python")}
    # Most of their time is a compiler on one core.
    suite.side_by_side([partial(suite.pytest, name, tests, 2400, env=environment) for name, tests in steps.items()])


# What a driver of its own runs of the conformance suite: all of it, or what stands for it where a kernel takes seconds. On
# llvmpipe atan2 of denormals and gathers by negative indices differ, whose fault is not known: it runs neither.
SAMPLE = ("row_local or generators or (elementwise and 2-int16) or (casts and int32) or (edge_values and 33 and float32)"
          " or (scans and 40 and float32) or (matmul and float32)")
# Intel's runtime adds in another order than the SPIR-V it is given where one loop sums two things down columns.
DRIVERS = {"intel": ("spirv", "opencl and not combinations"), "mesa": ("c", f"opencl and ({SAMPLE})"),
           "oclgrind": ("c", f"opencl and ({SAMPLE} or (elementwise and 2-float32) or (places and int32))")}


def step_drivers(suite: Suite) -> None:
    """The conformance suite on further OpenCL runtimes: SPIR-V, a device without float64, a simulator that looks for races."""
    if suite.needs("main", "drivers"):
        suite.side_by_side([partial(conformance_on, suite, name) for name in DRIVERS])


def conformance_on(suite: Suite, name: str) -> None:
    start, (emitter, cases) = time.monotonic(), DRIVERS[name]
    runtime = runtimes.environment(name)
    if runtime is None:
        print(f"{name}: this runtime cannot be installed here")
        suite.count(f"conformance-{name}", start, skipped=1)
        return
    log = suite.scratch / f"{name}.log"
    environment = {**suite.env, **runtime, "PYTHONPATH": str(suite.build / "python"), "GRAPHC_OPENCL_EMITTER": emitter,
                   "OCLGRIND_LOG": str(log)}
    suite.pytest(f"conformance-{name}", [ROOT / "tests/conformance", "-k", cases], 1500, env=environment)
    if name == "oclgrind":
        # What it finds it writes; that it finds something, a kernel with a race shows.
        found = log.read_text(encoding="utf-8", errors="replace") if log.exists() else ""
        suite.count("oclgrind-clean", start, passed=int(not found), failures=[f"oclgrind: {found[:2000]}"] if found else [])
        log.unlink(missing_ok=True)
        suite.run("oclgrind-race", [suite.build / "tests/unit/opencl-test", "--gtest_also_run_disabled_tests",
                                    "--gtest_filter=*ARace"], 120, env=environment)
        seen = log.exists() and "race" in log.read_text(encoding="utf-8", errors="replace")
        suite.count("oclgrind-finds-races", start, passed=int(seen), failures=[] if seen else ["oclgrind: the race was not found"])


def step_sanitize(suite: Suite) -> None:
    """The runtime and the recorder without LLVM, under AddressSanitizer and UndefinedBehaviorSanitizer."""
    if suite.needs("sanitize", "unit-sanitize"):
        unit = ROOT / "build-sanitize/tests/unit"
        suite.lit("unit-sanitize", [unit])
        start = time.monotonic()
        programs = [p for p in unit.iterdir() if p.is_file() and os.access(p, os.X_OK) and p.suffix != ".py"]
        linked = [p.name for p in programs if "libLLVM" in (ldd := subprocess.run(
            ["ldd", p], capture_output=True, text=True).stdout) or "libMLIR" in ldd]
        suite.count("no LLVM is linked", start, len(programs) - len(linked), [f"{p} links LLVM" for p in linked])


PROGRAM = """
import sys, numpy as np, graphc as gc
assert "site-packages" in gc.__file__, gc.__file__
x = gc.asarray(np.arange(12.0).reshape(3, 4))
y = np.asarray(gc.exp(x - x.max(axis=1, keepdims=True)).sum(axis=1))
np.testing.assert_allclose(y, np.exp(np.arange(4.0) - 3).sum(), rtol=1e-14)
print("ok", gc.__file__)
"""


def step_package(suite: Suite) -> None:
    """`pip install .` into an empty environment, used from another folder."""
    environment = suite.scratch / "venv"
    python = environment / "bin/python"
    if not suite.one("package-venv", [sys.executable, "-m", "venv", environment], 300):
        return
    # The developer's build type keeps the compiler cache warm; a user's `pip install .` builds Release.
    if suite.one("pip-install", [python, "-m", "pip", "install", "--disable-pip-version-check", "--no-input",
                                 f"-Cbuild-dir={ROOT / 'build-wheel'}", "-Ccmake.build-type=RelWithDebInfo", ROOT], 3000,
                 env={**suite.env, "CMAKE_BUILD_PARALLEL_LEVEL": suite.jobs}):
        suite.one("package-program", [python, "-c", PROGRAM], 300, cwd=suite.scratch)
        suite.one("package-cli", [environment / "bin/graphc", "devices"], 300, cwd=suite.scratch)
        suite.one("package-compile", [environment / "bin/graphc", "compile", ROOT / "tests/install/program.mlir",
                                      "-o", suite.scratch / "package.gco"], 300, cwd=suite.scratch)


def step_install(suite: Suite) -> None:
    """`cmake --install`, then a project that finds the result."""
    if not suite.needs("main", "install"):
        return
    prefix, consumer = suite.scratch / "prefix", suite.scratch / "consumer"
    if not suite.one("install", ["cmake", "--install", suite.build, "--prefix", prefix], 300):
        return
    source = ROOT / "tests/install"
    if suite.one("consumer-configure", ["cmake", "-G", "Ninja", "-S", source, "-B", consumer, "-DCMAKE_CXX_COMPILER=clang++-22",
                                        f"-DCMAKE_PREFIX_PATH={prefix}"], 300):
        if suite.one("consumer-build", ["cmake", "--build", consumer], 600):
            program = suite.scratch / "program.gco"
            suite.one("installed-cli", [prefix / "bin/graphc", "compile", source / "program.mlir", "-o", program, "--target=cpu"], 120)
            suite.one("consumer-run", [consumer / "consumer", program], 120, cwd=suite.scratch)


def step_tools(suite: Suite) -> None:
    """The demonstration and the benchmarks, small."""
    if suite.needs("main", "tools"):
        env = {**suite.env, "PYTHONPATH": str(suite.build / "python")}
        suite.one("demo-small", [sys.executable, ROOT / "tools/demo/logistic_map.py", "--build", suite.build, "--small"], 600, env=env)
        table = suite.scratch / "bench.json"
        bench = [sys.executable, ROOT / "tools/bench/run.py", "--build", suite.build, "--quick", "--only=limit,graphc,numpy"]
        if suite.one("bench-quick", [*bench, f"--json={table}"], 600, env=env):
            suite.one("bench-show", [*bench, f"--show={table}", f"--against={table}", f"--svg={suite.scratch / 'bench.svg'}",
                                     f"--markdown={suite.scratch / 'bench.md'}"], 60, env=env)
        auto = [sys.executable, ROOT / "tools/bench/run.py", "auto", "--build", suite.build, "--other=cpu", "--quick", "--rows=pi", "--seconds=0.001"]
        suite.one("bench-auto", auto, 300, env=env)


STEPS = {"checks": step_checks, "build": step_build, "lit": step_lit, "python": step_python, "drivers": step_drivers, "sanitize": step_sanitize,
         "install": step_install, "package": step_package, "tools": step_tools}


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, required=True, help="folder of the full build")
    parser.add_argument("--list", action="store_true", help="print the steps and stop")
    parser.add_argument("steps", nargs="*", metavar="step", help=", ".join(STEPS))
    options = parser.parse_args()
    if options.list:
        for name, step in STEPS.items():
            print(f"{name:<10} {step.__doc__}")
        return 0
    unknown = set(options.steps) - set(STEPS)
    if unknown:
        parser.error(f"no such step: {', '.join(sorted(unknown))}")
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # unwinds, which ends the running step's processes
    suite = Suite(options.build.resolve())
    start = time.monotonic()
    for name in options.steps or STEPS:
        STEPS[name](suite)
    shutil.rmtree(suite.scratch, ignore_errors=True)
    print(f"in {time.monotonic() - start:.0f} s; logs: {LOGS}")
    skipped = f", {suite.skipped} skipped" if suite.skipped else ""
    print(f"{suite.passed} passed, {suite.failed} failed{skipped}")
    return 1 if suite.failed else 0


if __name__ == "__main__":
    sys.exit(main())
