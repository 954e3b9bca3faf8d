"""C++ is as clang-format-22 writes it."""

from __future__ import annotations

import re
import shutil
import subprocess

from common import CPP_SUFFIXES, Finding, Tree

CANDIDATES = ("clang-format-22", "/usr/lib/llvm-22/bin/clang-format")
COMPLAINT = re.compile(r"^(\S+?):(\d+):\d+: (?:error|warning): (.*)$", re.M)


def clang_format() -> str | None:
    return next((found for name in CANDIDATES if (found := shutil.which(name))), None)


def check(tree: Tree) -> list[Finding]:
    paths = tree.select(*CPP_SUFFIXES)
    if not paths:
        return []
    program = clang_format()
    if program is None:
        return [Finding(".clang-format", 0, "clang-format-22 is not installed")]
    findings: dict[str, Finding] = {}
    for start in range(0, len(paths), 50):
        done = subprocess.run([program, "--dry-run", "-Werror", *paths[start:start + 50]], cwd=tree.root,
                              capture_output=True, text=True)
        complaints = COMPLAINT.findall(done.stderr)
        if done.returncode and not complaints:
            return [Finding(".clang-format", 0, f"clang-format failed: {done.stderr.strip()[:200]}")]
        for path, line, message in complaints:  # the first of a file is enough to act on
            findings.setdefault(path, Finding(path, int(line), message + "; run clang-format-22 -i"))
    return sorted(findings.values())
