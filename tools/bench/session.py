"""Runs rows: a process a contender and thread count, which take turns while one clock runs through all of them."""

from __future__ import annotations

import contextlib
import ctypes
import json
import math
import os
import select
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import checks
import peers

HERE = Path(__file__).resolve().parent
ROUNDS = 15
END_WITH_PARENT = 1  # PR_SET_PDEATHSIG
TURN = 8e-3  # seconds of one turn, where calls are shorter
SLOW = 0.5  # seconds of a call of a peer that is not run once more for another check
PATIENCE = 180.0  # seconds for any one answer: far more than the slowest compilation of a peer


class Worker:
    """A contender's process, stopped but while it answers: threads of some libraries (OpenBLAS, OpenMP) spin for tens of
    milliseconds after their work. An answer that does not come ends it; the next row starts another."""

    def __init__(self, peer, threads: int, options):
        self.peer, self.threads, self.options = peer, threads, options
        self.process, self.version = None, None

    def _spawn(self) -> dict:
        interpreter = peers.python(self.peer)
        if interpreter is None:
            return {"missing": f"no environment: run `tools/dev bench --peers {self.peer.name}`"}
        command = [str(interpreter), str(HERE / "worker.py"), self.peer.module, str(self.threads)]
        cores = sorted(os.sched_getaffinity(0))[-self.threads:]

        def begin() -> None:
            # While it has no turn it is stopped, and would stay so with its arrays if the system ended this process.
            ctypes.CDLL(None).prctl(END_WITH_PARENT, signal.SIGKILL)
            os.sched_setaffinity(0, cores)

        self.log = open(self.options.logs / f"{self.peer.name}-{self.threads}.log", "a", encoding="utf-8")
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True, bufsize=1,
            env=peers.environment(self.peer, self.threads, self.options.build, self.options.device),
            cwd=self.options.logs, preexec_fn=begin)
        answer = self._ask({"do": "start"})
        self.version = answer.get("version")
        return answer

    def ask(self, **order) -> dict:
        if self.process is None:
            answer = self._spawn()
            if "version" not in answer:
                self.close()
                return answer
        return self._ask(order)

    def _ask(self, order: dict) -> dict:
        try:
            self.process.send_signal(signal.SIGCONT)
            self.process.stdin.write(json.dumps(order) + "\n")
            if not select.select([self.process.stdout], [], [], PATIENCE)[0]:
                self.close()
                return {"error": f"no answer in {PATIENCE:.0f} s"}
            line = self.process.stdout.readline()
            self.process.send_signal(signal.SIGSTOP)
        except OSError:
            line = ""
        if line:
            return json.loads(line)
        return {"error": f"its process ended ({self.close()})"}

    def close(self) -> int | None:
        """The exit status, if there was a process."""
        process, self.process = self.process, None
        if process is None:
            return None
        process.kill()
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        process.stdout.close()
        self.log.close()
        return process.wait()


@dataclass
class State:
    """A row between its preparation and its result: what was found of each contender, and which of them can run, by
    thread count."""

    row: object
    inputs: list
    folder: Path
    found: dict = field(default_factory=dict)
    runners: dict = field(default_factory=dict)


class Session:
    """All workers of a run. A row is prepared (compiled, checked), measured, and finished; several may be prepared
    before the first is measured, so that nothing else happens between their turns."""

    def __init__(self, options):
        self.options = options
        self.workers = {t: [Worker(p, t, options) for p in peers.PEERS if p.name in options.peers]
                        for t in options.threads}
        memory = Path("/dev/shm")
        self.folder = Path(tempfile.mkdtemp(prefix="graphc-bench-", dir=memory if memory.is_dir() else None))

    def close(self) -> None:
        for workers in self.workers.values():
            for worker in workers:
                worker.close()
        shutil.rmtree(self.folder, ignore_errors=True)

    def versions(self) -> dict:
        return {w.peer.name: w.version for workers in self.workers.values() for w in workers if w.version}

    def prepare(self, row) -> State:
        checks.forget()
        state = State(row, row.inputs(np.random.default_rng(1)), Path(tempfile.mkdtemp(dir=self.folder)))
        for i, x in enumerate(state.inputs):
            np.save(state.folder / f"input-{i:03}.npy", x)
        for threads, workers in self.workers.items():
            found, runners = state.found.setdefault(threads, {}), state.runners.setdefault(threads, [])
            for worker in workers:
                if worker.peer.name in row.without:
                    found[worker.peer.name] = {"missing": row.without[worker.peer.name]}
                else:
                    runners += self._prepare(state, worker, found)
        for path in state.folder.glob("input-*.npy"):
            path.unlink()
        return state

    def measure(self, state: State) -> None:
        for threads, runners in state.runners.items():
            self._rounds(state.row, runners, state.found[threads])

    def finish(self, state: State) -> dict:
        """The row's entry of the result; its arrays are let go of."""
        checks.forget()
        row = state.row
        result = {"bytes": row.bytes, "flops": row.flops, "limit": row.limit.loop if row.limit else row.loop,
                  "target": row.target, "threads": {}}
        for threads, runners in state.runners.items():
            found = state.found[threads]
            for worker, name in runners:
                slow = found[name]["warm"] > SLOW and name != "graphc"
                if found[name].get("seconds") and name != "limit" and not slow:
                    self._again(state, worker, name, found[name])
            for worker in self.workers[threads]:
                if worker.process:
                    worker.ask(do="drop", row=row.name)
            result["threads"][str(threads)] = {name: self._summary(row, entry) for name, entry in found.items()}
        self._same_bits(result["threads"])
        shutil.rmtree(state.folder)
        return result

    def _prepare(self, state, worker, found) -> list:
        row, folder = state.row.name, str(state.folder)
        answer = worker.ask(do="prepare", row=row, quick=self.options.quick, folder=folder)
        if "contenders" not in answer:
            found[worker.peer.name] = answer
            return []
        runners = []
        for name in answer["contenders"]:
            found[name] = entry = worker.ask(do="run", row=row, contender=name, folder=folder)
            if entry.pop("results", 0):  # a limit of the machine has none
                entry["wrong"] = self._check(state)
            if "error" not in entry:
                entry.update(worker.ask(do="warm", row=row, contender=name))
            if "error" not in entry:
                entry["warm"] = entry.pop("seconds")
                runners.append((worker, name))
        return runners

    def _check(self, state) -> str | None:
        paths = sorted(state.folder.glob("output-*.npy"))
        got = [np.load(path, mmap_mode="r") for path in paths]
        with contextlib.suppress(ValueError, IndexError):
            wrong = state.row.check(got, state.inputs, state.row.params, state.row.program)
            for path in paths:
                path.unlink()
            return wrong
        return "results of other shapes"

    def _again(self, state, worker, name, entry) -> None:
        answer = worker.ask(do="again", row=state.row.name, contender=name, folder=str(state.folder))
        if "error" in answer:
            entry["wrong"] = entry["wrong"] or answer["error"]
        elif not answer["same"]:
            entry["varies"] = True
            entry["wrong"] = entry["wrong"] or self._check(state)

    def _rounds(self, row, runners, found) -> None:
        """Every contender once a round, beginning with another one each time, until its time is used up."""
        budget, spent = self.options.seconds, {name: 0.0 for _, name in runners}
        for round_ in range(ROUNDS):
            shift = round_ % max(1, len(runners))
            for worker, name in runners[shift:] + runners[:shift]:
                entry = found[name]
                calls = max(1, min(1 << 20, math.ceil(TURN / entry["warm"])))
                if round_ >= 1 and spent[name] * (round_ + 1) / round_ > budget:
                    continue
                begin = time.perf_counter()
                answer = worker.ask(do="time", row=row.name, contender=name, calls=calls)
                spent[name] += time.perf_counter() - begin
                if "seconds" in answer:
                    entry.setdefault("seconds", []).append(answer["seconds"])
                else:
                    entry.update(answer)
                    spent[name] = math.inf

    def _summary(self, row, entry: dict) -> dict:
        seconds = entry.pop("seconds", None)
        entry = {k: v for k, v in entry.items() if v is not None and k != "warm"}
        if not seconds or "error" in entry:
            return entry
        median = statistics.median(seconds)
        entry.update(median_ms=1e3 * median, min_ms=1e3 * min(seconds), rounds=len(seconds),
                     spread=statistics.median(abs(s - median) for s in seconds) / median)
        if row.bytes:
            entry["gb_s"] = 1e-9 * row.bytes / median
        if row.flops:
            entry["gflop_s"] = 1e-9 * row.flops / median
        return entry

    def _same_bits(self, by_threads: dict) -> None:
        """graphc promises one result for every thread count."""
        digests = {t: e["graphc"]["digest"] for t, e in by_threads.items() if "digest" in e.get("graphc", {})}
        varies = any(e.get("graphc", {}).get("varies") for e in by_threads.values())
        if len(set(digests.values())) > 1 or varies:
            for t in digests:
                by_threads[t]["graphc"]["wrong"] = "other bits with other threads or another call"


def conditions(options, versions: dict) -> dict:
    """What a reader needs to know about the machine and the programs."""
    def first(path, key=None):
        with contextlib.suppress(OSError):
            for line in Path(path).read_text(encoding="utf-8").splitlines():
                if key is None or line.startswith(key):
                    return line.split(":", 1)[-1].strip()
        return "unknown"

    commit = subprocess.run(["git", "describe", "--always", "--dirty"], cwd=HERE, capture_output=True, text=True)
    return {"date": time.strftime("%Y-%m-%d %H:%M UTC", time.gmtime()), "cpu": first("/proc/cpuinfo", "model name"),
            "cores": len(os.sched_getaffinity(0)), "memory": first("/proc/meminfo", "MemTotal"),
            "kernel": os.uname().release, "huge_pages": first("/sys/kernel/mm/transparent_hugepage/enabled"),
            "python": sys.version.split()[0], "commit": commit.stdout.strip() or "unknown", "quick": options.quick,
            "device": options.device, "versions": versions}
