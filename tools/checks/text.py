"""Words that must not appear: unfinished work, exceptions and exits in library code, paths of somebody's machine."""

from __future__ import annotations

import re

from common import CPP_SUFFIXES, Finding, Tree, strip_cpp

TEXT_SUFFIXES = (".h", ".cpp", ".c", ".td", ".py", ".pyi", ".md", ".mlir", ".txt", ".cmake", ".in", ".toml", ".yml", ".sh")
TODO = re.compile(r"\b(TODO|FIXME|XXX|HACK)\b(?!\(#\d+\))")
# Written in pieces, so that this file passes its own check.
MACHINE = re.compile("|".join([r"\.\./" + "shared", r"(?<![\w.])/" + r"work/", r"(?<![\w.])/home/" + r"\w", r"/root" + r"/"]))
ENDS_PROCESS = r"(?:std::|(?<![\w>])::)(abort|exit|_exit|quick_exit)\s*\(|(?<![\w.>:~])(exit|_exit|quick_exit)\s*\("
# pattern, message, folders where it is allowed (none: allowed in sources, banned in headers)
BANNED_CPP = [
    # CLI11 reports wrong usage by exceptions.
    (re.compile(r"\b(throw|try|catch)\b"), "no exceptions outside frontends/python/bindings",
     ("frontends/python/bindings/", "tools/graphc/")),
    (re.compile(ENDS_PROCESS), "no exit or abort in a library", ("tools/", "tests/")),
    (re.compile(r"\busing\s+namespace\b"), "no using namespace in a header", ()),
]


def check_cpp(tree: Tree, path: str) -> list[Finding]:
    findings = []
    for number, line in enumerate(strip_cpp(tree.text(path)).splitlines(), 1):
        for pattern, message, allowed in BANNED_CPP:
            if path.startswith(allowed) if allowed else path.endswith(".cpp"):
                continue
            if pattern.search(line) and not path.startswith("tests/"):
                findings.append(Finding(path, number, message))
    return findings


def check(tree: Tree) -> list[Finding]:
    findings = []
    for path in tree.files:
        if not path.endswith(TEXT_SUFFIXES) and path not in ("tools/dev", ".ci/run"):
            continue
        text = tree.text(path)
        for number, line in enumerate(text.splitlines(), 1):
            if TODO.search(line) and not path.endswith(".md") and path != "tools/checks/text.py" and "no-todo-check" not in line:
                findings.append(Finding(path, number, "unfinished work needs an issue: TODO(#123)"))
            if MACHINE.search(line):
                findings.append(Finding(path, number, "a path of one machine"))
            if line != line.rstrip() and not path.endswith(".md"):
                findings.append(Finding(path, number, "trailing white space"))
            if "\t" in line and not path.endswith(".in"):
                findings.append(Finding(path, number, "tab"))
        if text and not text.endswith("\n"):
            findings.append(Finding(path, text.count("\n") + 1, "no newline at the end"))
        if path.endswith(CPP_SUFFIXES):
            findings += check_cpp(tree, path)
    return findings
