"""Who may include whom. The table below is the architecture (docs/architecture.md); change both together."""

from __future__ import annotations

import re

from common import CPP_SUFFIXES, Finding, Tree, line_of, strip_cpp

# Lowest first; a folder of the runtime sees itself and what stands before it.
RUNTIME_ORDER = ["base", "program", "device", "drivers", "library", "cache", "exec"]
RUNTIME_ALL = [f"runtime/{name}/" for name in RUNTIME_ORDER]
BASE = "runtime/base/"

# Component -> prefixes of graphc headers it may include besides its own. Every component also sees runtime/base.
ALLOWED: dict[str, list[str]] = {
    **{f"runtime/{n}/": RUNTIME_ALL[:i] for i, n in enumerate(RUNTIME_ORDER)},
    "dialects/opset/": [],
    "dialects/graph/": ["dialects/opset/"],
    "dialects/kernel/": ["dialects/opset/", "dialects/graph/"],
    "dialects/plan/": ["dialects/opset/", "dialects/graph/", "dialects/kernel/"],
    "compiler/": ["dialects/", "runtime/program/Program.h"],
    "frontends/record/": ["dialects/opset/", "compiler/api/", *RUNTIME_ALL],
    "frontends/python/bindings/": ["frontends/record/"],
    "frontends/c/": ["frontends/record/"],
    "tools/": ["compiler/", "dialects/", "frontends/record/", *RUNTIME_ALL],
    "tests/": [""],
}
# Components that may include MLIR and LLVM headers, and the compiler's MLIR-free face: what others include or link.
MLIR_USERS = ["dialects/graph/", "dialects/kernel/", "dialects/plan/", "compiler/", "tools/", "tests/"]
MLIR_FREE = re.compile(r"compiler/api/(.*\.h|Loader\.cpp)$")
# External headers that belong to one component.
OWNED = {"pybind11/": "frontends/python/bindings/", "Python.h": "frontends/python/bindings/",
         "CLI/": "tools/", "CL/": "runtime/drivers/opencl/", "gtest/": "tests/", "gmock/": "tests/"}

INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(["<])([^">]+)[">]', re.M)
OUR_FOLDERS = ("runtime/", "dialects/", "compiler/", "frontends/", "tools/", "tests/")


def component_of(path: str) -> str | None:
    """The longest component prefix of a path."""
    matches = [c for c in ALLOWED if path.startswith(c)]
    return max(matches, key=len) if matches else None


def driver_of(path: str) -> str | None:
    """`runtime/drivers/cpu/` for a file of one driver; None for the folder's shared files."""
    match = re.match(r"runtime/drivers/[^/]+/", path)
    return match.group(0) if match else None


def judge_ours(path: str, header: str) -> str | None:
    component = component_of(path)
    if component is None:
        return f"{path} belongs to no layer: add its folder to tools/checks/layers.py"
    if header.startswith((component, BASE)):
        mine, theirs = driver_of(path), driver_of(header)
        if mine and theirs and mine != theirs:
            return f"driver {mine} includes another driver: {header}"
        return None
    if any(header.startswith(prefix) for prefix in ALLOWED[component]):
        return None
    return f"{component} may not include {header}"


def judge_external(path: str, header: str) -> str | None:
    if header.startswith(("mlir/", "llvm/", "mlir-c/", "llvm-c/", "lld/", "clang/")):
        if not path.startswith(tuple(MLIR_USERS)) or MLIR_FREE.match(path):
            return f"no MLIR or LLVM here: {header}"
    for prefix, owner in OWNED.items():
        if header.startswith(prefix) and not path.startswith((owner, "tests/")):
            return f"only {owner} may include {header}"
    return None


def check(tree: Tree) -> list[Finding]:
    findings = []
    for path in tree.select(*CPP_SUFFIXES):
        text = strip_cpp(tree.text(path), keep_strings=True)
        for match in INCLUDE.finditer(text):
            quote, header = match.groups()
            message = None
            if header.startswith(OUR_FOLDERS):
                message = judge_ours(path, header)
                if not message and not header.endswith(".inc") and header not in tree.file_set:
                    message = None if generated(header) else f"no such header: {header}"
                if not message and quote == "<":
                    message = f"include graphc headers with quotes: {header}"
            elif quote == '"' and (header.startswith(".") or (
                    tree.root / path).parent.joinpath(header).is_file() and not header.endswith(".inc")):
                message = f"include by the path from the repository root: {header}"
            else:
                message = judge_external(path, header)
            if message:
                findings.append(Finding(path, line_of(text, match.start()), message))
    return findings


def generated(header: str) -> bool:
    """Headers that the build writes into the build folder."""
    return header in {"dialects/opset/OpTable.h"}
