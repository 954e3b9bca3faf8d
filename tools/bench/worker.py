"""One contender's process: takes orders as lines of JSON and answers each with one. Started by session.py as
`worker.py MODULE THREADS`; the answers go to the original standard output, everything printed goes to standard error."""

from __future__ import annotations

import gc as collector
import hashlib
import importlib
import json
import os
import sys
import time
import traceback
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

import programs
import rows as table
from contenders import Missing


WAKING = 0.012  # seconds of untimed calls before the timed ones
LONG = 0.25  # seconds of a call that needs none


def digest(values: list) -> str:
    h = hashlib.blake2b(digest_size=16)
    for x in values:
        h.update(f"{x.dtype}{x.shape}".encode())
        h.update(np.ascontiguousarray(x).reshape(-1).view(np.uint8))
    return h.hexdigest()


def reason(error: BaseException) -> str:
    """The first line of the message that says something."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return f"{type(error).__name__}: {lines[0] if lines else ''}"[:160]


@dataclass
class Prepared:
    """A row's contenders of this module."""

    entries: dict
    in_place: bool
    first: dict = field(default_factory=dict)  # contender: digest of the first result
    cost: dict = field(default_factory=dict)  # contender: seconds of a call


class Worker:
    """The contenders of one module, for the rows that were prepared and not dropped."""

    def __init__(self, module: str, threads: int):
        self.module = importlib.import_module(f"contenders.{module}")
        self.threads = threads
        self.rows: dict[str, Prepared] = {}

    def start(self) -> dict:
        begin = time.perf_counter()
        version = self.module.start(self.threads)
        return {"version": str(version), "start_ms": 1e3 * (time.perf_counter() - begin)}

    def prepare(self, row: str, quick: bool, folder: str) -> dict:
        """Makes the row's contenders of this module; nothing runs yet."""
        found = next(r for r in table.rows(quick) if r.name == row)
        inputs = [np.load(path) for path in sorted(Path(folder).glob("input-*.npy"))]
        self.rows[row] = Prepared(self.module.contenders(found, inputs), found.program in programs.IN_PLACE)
        return {"contenders": list(self.rows[row].entries)}

    def run(self, row: str, contender: str, folder: str) -> dict:
        """The first result, kept for the check, and how long the first call takes."""
        prepared = self.rows[row]
        entry = prepared.entries[contender]
        begin = time.perf_counter()
        result = entry.run()
        first = time.perf_counter() - begin
        values = entry.values(result)
        prepared.first[contender] = digest(values)
        for i, x in enumerate(values):
            np.save(Path(folder) / f"output-{i:03}.npy", x)
        return {"first_ms": 1e3 * first, "digest": prepared.first[contender], "results": len(values)}

    def warm(self, row: str, contender: str) -> dict:
        """Seconds of a call once everything is compiled: the second and third call may still compile."""
        prepared, seconds = self.rows[row], []
        entry = prepared.entries[contender]
        while len(seconds) < 3 and sum(seconds) < 1.0:
            begin = time.perf_counter()
            entry.run()
            seconds.append(time.perf_counter() - begin)
        prepared.cost[contender] = entry.clock(1) if entry.clock else min(seconds)
        return {"seconds": prepared.cost[contender]}

    def time(self, row: str, contender: str, calls: int) -> dict:
        """Seconds of one of `calls` calls, after untimed ones: caches come back, and the system spreads threads that
        were asleep over the cores, which takes it some milliseconds."""
        prepared = self.rows[row]
        entry = prepared.entries[contender]
        run = (lambda: entry.clock(calls)) if entry.clock else entry.run
        begin = now = time.perf_counter()
        while now - begin < WAKING and prepared.cost[contender] < LONG:
            run()
            now = time.perf_counter()
        if entry.clock:
            return {"seconds": entry.clock(calls)}
        collector.disable()
        begin = time.perf_counter()
        for _ in range(calls):
            run()
        seconds = (time.perf_counter() - begin) / calls
        collector.enable()
        return {"seconds": seconds}

    def again(self, row: str, contender: str, folder: str) -> dict:
        """Whether the last result has the first one's bits; if it has not, it is kept for another check."""
        prepared = self.rows[row]
        if prepared.in_place:
            return {"same": True}
        entry = prepared.entries[contender]
        values = entry.values(entry.run())
        same = digest(values) == prepared.first[contender]
        for i, x in enumerate(values if not same else ()):
            np.save(Path(folder) / f"output-{i:03}.npy", x)
        return {"same": same}

    def drop(self, row: str) -> dict:
        self.rows.pop(row, None)
        collector.collect()
        return {}


def main() -> None:
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    worker = None
    for line in sys.stdin:
        order = json.loads(line)
        try:
            if worker is None:
                worker = Worker(sys.argv[1], int(sys.argv[2]))
            answer = getattr(worker, order.pop("do"))(**order)
        except Missing as missing:
            answer = {"missing": str(missing)}
        except Exception as error:  # of any peer, in any form: it is this contender's answer
            traceback.print_exc()
            answer = {"error": reason(error)}
        answers.write(json.dumps(answer) + "\n")
        answers.flush()


if __name__ == "__main__":
    main()
