"""Checked-in generated files are what tools/opgen.py makes from dialects/graph/GraphOps.td."""

from __future__ import annotations

import re
import subprocess
import sys

from common import Finding, Tree

GENERATOR = "tools/opgen.py"
SOURCE = "dialects/graph/GraphOps.td"


def check(tree: Tree) -> list[Finding]:
    if GENERATOR not in tree.file_set:
        return [Finding(GENERATOR, 0, "missing")]
    done = subprocess.run([sys.executable, GENERATOR, "--check"], cwd=tree.root, capture_output=True, text=True)
    if done.returncode == 0:
        return []
    said = (done.stdout + done.stderr).strip()
    stale = [p for p in re.findall(r"[\w/.-]+", said) if p in tree.file_set and p not in (GENERATOR, SOURCE)]
    advice = "differs from what tools/opgen.py makes: run `python3 tools/opgen.py --update`"
    if stale:
        return [Finding(path, 0, advice) for path in sorted(set(stale))]
    return [Finding(GENERATOR, 0, f"--check failed: {said[-300:]}")]
