"""CMake source lists are complete, sorted and without ghosts; every folder with a list is reached from its parent."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from common import Finding, Tree, line_of

CALL = re.compile(r"^[ \t]*(\w+)\s*\(((?:[^()\"]|\"[^\"]*\"|\([^()]*\))*)\)", re.M)
KEYWORDS = {"SOURCES", "LINK", "DEPENDS", "PRIVATE", "PUBLIC", "INTERFACE", "HEADERS", "LINK_LIBS", "OBJECT",
            "STATIC", "SHARED", "MODULE", "PARTIAL_SOURCES_INTENDED", "ADDITIONAL_HEADER_DIRS"}
COMMENT = re.compile(r"#[^\n]*")


def source_lists(text: str):
    """(line, [source, ...]) of every run of .cpp names in one call."""
    clean = COMMENT.sub("", text)
    for call in CALL.finditer(clean):
        run: list[str] = []
        run_line = 0
        for token in re.finditer(r"[^\s\"]+|\"[^\"]*\"", call.group(2)):
            word = token.group(0).strip('"')
            if word.endswith(".cpp"):
                run_line = run_line or line_of(clean, call.start(2) + token.start())
                run.append(word)
            elif run:
                yield run_line, run
                run, run_line = [], 0
        if run:
            yield run_line, run


def owner_of(tree: Tree, path: str) -> str | None:
    """The nearest CMakeLists.txt at or above a file."""
    for folder in PurePosixPath(path).parents:
        candidate = (folder / "CMakeLists.txt").as_posix()
        if candidate in tree.file_set:
            return candidate
    return None


def check(tree: Tree) -> list[Finding]:
    findings = []
    listed: dict[str, str] = {}
    for path in tree.select("CMakeLists.txt"):
        folder = PurePosixPath(path).parent
        for line, run in source_lists(tree.text(path)):
            for name in run:
                if "${" in name:
                    continue  # written by the build
                source = (folder / name).as_posix()
                listed[source] = path
                if source not in tree.file_set:
                    findings.append(Finding(path, line, f"lists {name}, which does not exist"))
            if run != sorted(run):
                wrong = next(b for a, b in zip(run, sorted(run)) if a != b)
                findings.append(Finding(path, line, f"source list is not sorted: {wrong} is out of place"))
            if len(set(run)) != len(run):
                findings.append(Finding(path, line, "source list names a file twice"))
        standalone = re.search(r"^project\(", tree.text(path), re.M)  # the root, and projects of somebody else
        parent = None if standalone else owner_of(tree, folder.as_posix())
        if parent:
            relative = folder.relative_to(PurePosixPath(parent).parent).as_posix()
            if not re.search(rf"add_subdirectory\(\s*\"?{re.escape(relative)}\"?[\s)]", tree.text(parent)):
                findings.append(Finding(parent, 0, f"does not add_subdirectory({relative})"))
    for path in tree.select(".cpp"):
        owner = owner_of(tree, path)
        if owner is None:
            findings.append(Finding(path, 0, "no CMakeLists.txt at or above it"))
        elif path not in listed and not any(path in tree.text(rules) for rules in tree.select(".cmake")):
            relative = PurePosixPath(path).relative_to(PurePosixPath(owner).parent)
            findings.append(Finding(owner, 0, f"does not list {relative}"))
    return findings
