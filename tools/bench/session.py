"""Runs rows: a process a contender and thread count, which take turns while one clock runs through all of them."""

from __future__ import annotations

import contextlib
import json
import math
import os
import select
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np

import checks
import peers

HERE = Path(__file__).resolve().parent
ROUNDS = 15
TURN = 8e-3  # seconds of one turn, where calls are shorter
SLOW = 0.5  # seconds of a call of a peer that is not run once more for another check
PATIENCE = 180.0  # seconds for any one answer: far more than the slowest compilation of a peer


class Worker:
    """A contender's process. An answer that does not come ends it; the next row starts another."""

    def __init__(self, peer, threads: int, options):
        self.peer, self.threads, self.options = peer, threads, options
        self.process, self.version = None, None

    def _spawn(self) -> dict:
        interpreter = peers.python(self.peer)
        if interpreter is None:
            return {"missing": f"no environment: run `tools/dev bench --peers {self.peer.name}`"}
        command = [str(interpreter), str(HERE / "worker.py"), self.peer.module, str(self.threads)]
        cores = sorted(os.sched_getaffinity(0))[-self.threads:]
        self.log = open(self.options.logs / f"{self.peer.name}-{self.threads}.log", "a", encoding="utf-8")
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log, text=True, bufsize=1,
            env=peers.environment(self.peer, self.threads, self.options.build, self.options.device),
            cwd=self.options.logs, preexec_fn=lambda: os.sched_setaffinity(0, cores))
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
            self.process.stdin.write(json.dumps(order) + "\n")
            if not select.select([self.process.stdout], [], [], PATIENCE)[0]:
                self.close()
                return {"error": f"no answer in {PATIENCE:.0f} s"}
            line = self.process.stdout.readline()
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


class Session:
    """All workers of a run; `measure(row)` gives what the report needs, and lets go of the row's arrays."""

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

    def measure(self, row) -> dict:
        checks.forget()
        inputs = row.inputs(np.random.default_rng(1))
        for i, x in enumerate(inputs):
            np.save(self.folder / f"input-{i}.npy", x)
        found = {"bytes": row.bytes, "flops": row.flops, "limit": row.limit.loop if row.limit else None,
                 "target": row.target, "threads": {}}
        for threads, workers in self.workers.items():
            found["threads"][str(threads)] = self._threads(row, inputs, workers, threads)
        self._same_bits(found["threads"])
        for path in self.folder.iterdir():
            path.unlink()
        return found

    def _threads(self, row, inputs, workers, threads) -> dict:
        found, runners = {}, []
        for worker in workers:
            name = worker.peer.name
            if name in row.without:
                found[name] = {"missing": row.without[name]}
            else:
                runners += self._prepare(row, inputs, worker, found)
        self._rounds(runners, found)
        for worker, name in runners:
            slow = found[name]["warm"] > SLOW and name != "graphc"
            if found[name].get("seconds") and name != "limit" and not slow:
                self._again(row, inputs, worker, name, found[name])
        for worker in workers:
            if worker.process:
                worker.ask(do="drop")
        return {name: self._summary(row, entry) for name, entry in found.items()}

    def _prepare(self, row, inputs, worker, found) -> list:
        answer = worker.ask(do="prepare", row=row.name, quick=self.options.quick, folder=str(self.folder))
        if "contenders" not in answer:
            found[worker.peer.name] = answer
            return []
        runners = []
        for name in answer["contenders"]:
            found[name] = entry = worker.ask(do="run", contender=name, folder=str(self.folder))
            if "error" not in entry and name != "limit":
                entry["wrong"] = self._check(row, inputs)
            if "error" not in entry:
                entry.update(worker.ask(do="warm", contender=name))
            if "error" not in entry:
                entry["warm"] = entry.pop("seconds")
                runners.append((worker, name))
        return runners

    def _check(self, row, inputs) -> str | None:
        paths = sorted(self.folder.glob("output-*.npy"))
        got = [np.load(path, mmap_mode="r") for path in paths]
        with contextlib.suppress(ValueError, IndexError):
            wrong = row.check(got, inputs, row.params, row.program)
            for path in paths:
                path.unlink()
            return wrong
        return "results of other shapes"

    def _again(self, row, inputs, worker, name, entry) -> None:
        answer = worker.ask(do="again", contender=name, folder=str(self.folder))
        if "error" in answer:
            entry["wrong"] = entry["wrong"] or answer["error"]
        elif not answer["same"]:
            entry["varies"] = True
            entry["wrong"] = entry["wrong"] or self._check(row, inputs)

    def _rounds(self, runners, found) -> None:
        """Every contender once a round, beginning with another one each time, until its time is used up."""
        budget, spent = self.options.seconds, {name: 0.0 for _, name in runners}
        for round_ in range(ROUNDS):
            shift = round_ % max(1, len(runners))
            for worker, name in runners[shift:] + runners[:shift]:
                entry = found[name]
                calls = max(1, min(1 << 20, math.ceil(TURN / entry["warm"])))
                if round_ >= 1 and spent[name] * (round_ + 1) / round_ > budget:
                    continue
                time.sleep(1e-3)  # threads of the one before may still spin for work
                begin = time.perf_counter()
                answer = worker.ask(do="time", contender=name, calls=calls)
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
