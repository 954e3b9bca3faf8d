#!/usr/bin/env python3
"""graphc beside NumPy, Numba, JAX, PyTorch, tinygrad, numexpr and the machine's limits: `tools/dev bench`.

Every contender runs in a process of its own with its environment; they get the same inputs, their results are checked, and
they take turns in one run. See docs/benchmarks.md.
"""

from __future__ import annotations

import argparse
import fnmatch
import os
import signal
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import auto  # noqa: E402  (the folder's own modules)
import compare  # noqa: E402
import costs  # noqa: E402
import gpu  # noqa: E402
import peers  # noqa: E402
import plot  # noqa: E402
import report  # noqa: E402
import rows  # noqa: E402
import session  # noqa: E402
import whole  # noqa: E402


def arguments() -> argparse.Namespace:
    cores = len(os.sched_getaffinity(0))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=Path, default=HERE.parents[1] / "build", help="build folder")
    parser.add_argument("--rows", action="append", default=[], metavar="PATTERN",
                        help="rows whose name contains this, or fits it with * and ?; again for more")
    parser.add_argument("--threads", default=f"1,{cores}" if cores > 1 else "1", help="thread counts (default: %(default)s)")
    parser.add_argument("--only", default=",".join(p.name for p in peers.PEERS), metavar="NAMES",
                        help="contenders (default: %(default)s)")
    parser.add_argument("--seconds", type=float, default=0.6, help="time of a contender in a row (default: %(default)s)")
    parser.add_argument("--batch", type=int, default=1, metavar="N", help="rows prepared before they are measured: with more, the"
                        " measured part of a run is in fewer pieces and takes more memory (default: %(default)s)")
    parser.add_argument("--quick", action="store_true", help="small sizes, few rounds: shows that it runs")
    parser.add_argument("--device", default="cpu", help="where graphc runs (default: %(default)s)")
    parser.add_argument("--no-costs", action="store_true", help="without the rows of graphc's own cost")
    parser.add_argument("--costs", action="store_true", help="only the rows of graphc's own cost")
    parser.add_argument("--detail", action="store_true", help="print every contender, not only the best")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all figures; into an existing file: its other rows stay")
    parser.add_argument("--show", type=Path, metavar="FILE", help="measure nothing: show what --json wrote")
    parser.add_argument("--against", type=Path, metavar="FILE", help="compare with an earlier --json; regressions exit with 1")
    parser.add_argument("--noise", type=float, default=0.10, help="smallest change that is one (default: %(default)s)")
    parser.add_argument("--svg", type=Path, metavar="FILE", help="write the ratios as a picture")
    parser.add_argument("--markdown", type=Path, metavar="FILE", help="write the tables for a page")
    parser.add_argument("--list", action="store_true", help="name the rows")
    parser.add_argument("--peers", dest="environments", nargs="*", metavar="NAME",
                        help="make the peers' environments (none named: all) and end")
    options = parser.parse_args()
    options.threads = sorted({int(t) for t in options.threads.split(",")}, reverse=True)
    options.peers = options.only.split(",")
    options.build = options.build.resolve()
    options.before = report.load(options.json) if options.json and options.json.exists() else None
    unknown = set(options.peers) - {p.name for p in peers.PEERS}
    if unknown:
        parser.error(f"no such contender: {', '.join(sorted(unknown))}")
    if options.quick:
        options.seconds = min(options.seconds, 0.05)
    return options


def chosen(options) -> list:
    found = rows.rows(options.quick)
    if not options.rows:  # there are a hundred and fifty of indexing
        return [r for r in found if options.list or r.loop is None]
    found = [r for r in found if any(p.lower() in r.name.lower() or fnmatch.fnmatch(r.name, p) for p in options.rows)]
    if not found:
        sys.exit(f"no row fits {' or '.join(options.rows)}; --list names them")
    return found


def measure(options) -> dict:
    """Runs what was asked for; with --json the file grows row by row, so that an interrupted run keeps its rows."""
    with tempfile.TemporaryDirectory(prefix="graphc-bench-logs-") as logs:
        options.logs = Path(logs)
        result = {"rows": {}, "costs": {}}
        running = session.Session(options)
        try:
            wanted = [] if options.costs else chosen(options)
            for begin in range(0, len(wanted), options.batch):
                states = [running.prepare(row) for row in wanted[begin:begin + options.batch]]
                for state in states:
                    running.measure(state)
                for state in states:
                    result["rows"][state.row.name] = found = running.finish(state)
                    print(*report.cells(state.row.name, found, str(options.threads[0])), file=sys.stderr, flush=True)
                result["conditions"] = session.conditions(options, running.versions())
                keep(options, result)
            result["conditions"] = session.conditions(options, running.versions())
        finally:
            running.close()
        if not options.no_costs and (options.costs or not options.rows) and "graphc" in options.peers:
            result["costs"] = costs.measure(options)
    return result


def keep(options, result: dict) -> None:
    if options.json:
        report.save(options.json, report.merge(options.before, result) if options.before else result)


def failures(result: dict) -> list[str]:
    """graphc's own wrong results: a run that has one is no success."""
    return [f"{name}, {t} threads: {e['graphc']['wrong']}" for name, row in result["rows"].items()
            for t, e in row["threads"].items() if e.get("graphc", {}).get("wrong")]


def main() -> int:
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(143))  # so that workers end and shared memory is given back
    if "programs" in sys.argv[1:4]:
        return whole.main([a for a in sys.argv[1:] if a != "programs"])
    if "gpu" in sys.argv[1:4]:
        return gpu.main([a for a in sys.argv[1:] if a != "gpu"])
    if "auto" in sys.argv[1:4]:
        return auto.main([a for a in sys.argv[1:] if a != "auto"])
    options = arguments()
    if options.environments is not None:
        return min(peers.build(options.environments), 1)
    if options.list:
        print("\n".join(r.name for r in chosen(options)))
        return 0
    result = report.load(options.show) if options.show else measure(options)
    print(report.detail(result) + "\n" if options.detail else "", end="")
    if result["rows"]:
        print(report.text(result))
    if result.get("costs"):
        print(report.costs(result))
    status = 0
    for line in failures(result):
        print(f"WRONG: {line}")
        status = 1
    if options.against:
        worse, better = compare.compare(result, report.load(options.against), options.noise)
        print("\n".join([f"better: {x}" for x in better] + [f"WORSE: {x}" for x in worse]) or "no change beyond noise")
        status = status or int(bool(worse))
    if not options.show:
        keep(options, result)
    if options.svg:
        options.svg.write_text(plot.svg(result), encoding="utf-8")
    if options.markdown:
        options.markdown.write_text(report.markdown(result), encoding="utf-8")
    return status


if __name__ == "__main__":
    sys.exit(main())
