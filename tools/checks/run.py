#!/usr/bin/env python3
"""Runs the checks: `run.py [--json FILE] [name ...]`. Prints file:line: message; exits 1 when anything was found."""

from __future__ import annotations

import argparse
import importlib
import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
sys.dont_write_bytecode = True

from common import ROOT, Tree  # noqa: E402

NAMES = ["layers", "names", "sizes", "filelists", "generated", "links", "example", "text", "format"]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=", ".join(NAMES))
    parser.add_argument("--json", metavar="FILE", help="write {name: number of findings}")
    options = parser.parse_args()
    unknown = set(options.names) - set(NAMES)
    if unknown:
        parser.error(f"no such check: {', '.join(sorted(unknown))}; there are {', '.join(NAMES)}")
    sys.stdout.reconfigure(line_buffering=True)  # findings stay before their check's verdict in a log
    tree = Tree(ROOT)
    counts = {}
    for name in options.names or NAMES:
        start = time.perf_counter()
        findings = sorted(importlib.import_module(name).check(tree))
        for finding in findings:
            print(f"{finding}  [{name}]")
        counts[name] = len(findings)
        verdict = "ok" if not findings else f"{len(findings)} findings"
        print(f"check {name:<10} {verdict}  ({time.perf_counter() - start:.2f} s)", file=sys.stderr)
    if options.json:
        Path(options.json).write_text(json.dumps(counts), encoding="utf-8")
    return 1 if any(counts.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
