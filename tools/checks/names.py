"""Names that derive from each other: files, header guards, and the four names of a pass; and Python's, each given once."""

from __future__ import annotations

import ast
import re
from pathlib import PurePosixPath

from common import Finding, Tree, line_of, strip_cpp

PATTERNS = {
    ".h": (r"[A-Z][A-Za-z0-9]*", "CamelCase"),
    ".cpp": (r"[A-Z][A-Za-z0-9]*", "CamelCase"),
    ".td": (r"[A-Z][A-Za-z0-9]*", "CamelCase"),
    ".py": (r"_{0,2}[a-z][a-z0-9_]*|lit(\.site)?\.cfg", "snake_case"),
    ".pyi": (r"_{0,2}[a-z][a-z0-9_]*", "snake_case"),
    ".mlir": (r"[a-z0-9]+(-[a-z0-9]+)*", "kebab-case"),
    ".md": (r"[a-z0-9]+(-[a-z0-9]+)*|[A-Z]+", "kebab-case"),
}
C_HEADERS = {"frontends/c/graphc.h"}  # included by C programs as <graphc.h>
PASSES_TD = "compiler/passes/Passes.td"
PASS_TESTS = "tests/compiler/passes/"
PASS_DEF = re.compile(r"^def\s+(\w+)\s*:\s*(?:Interface)?Pass<\s*\"([^\"]+)\"", re.M)
VAGUE = re.compile(r"(Manager|Helpers?|Utils?|Impl2|Misc)\.(h|cpp)$")


def kebab(name: str) -> str:
    """FormKernels -> form-kernels."""
    return re.sub(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])", "-", name).lower()


def guard(path: str) -> str:
    return "GRAPHC_" + re.sub(r"[^A-Za-z0-9]", "_", path.removesuffix(".h")).upper() + "_H"


def check_files(tree: Tree) -> list[Finding]:
    findings = []
    for path in tree.files:
        name = PurePosixPath(path)
        rule = PATTERNS.get(name.suffix)
        if rule and path not in C_HEADERS and not re.fullmatch(rule[0], name.stem):
            findings.append(Finding(path, 0, f"file name is not {rule[1]}"))
        if VAGUE.search(path):
            findings.append(Finding(path, 0, "a name that says nothing: name it by what it does"))
        if path.endswith(".h") and path not in C_HEADERS:
            text, wanted = tree.text(path), guard(path)
            if f"#ifndef {wanted}\n#define {wanted}\n" not in text:
                findings.append(Finding(path, 0, f"header guard is not {wanted}"))
    return findings


def check_passes(tree: Tree) -> list[Finding]:
    if PASSES_TD not in tree.file_set:
        return [Finding(PASSES_TD, 0, "missing: passes are declared here")] if tree.select(".cpp", under="compiler/passes/") else []
    findings = []
    text = strip_cpp(tree.text(PASSES_TD), keep_strings=True)
    sources = {PurePosixPath(f).stem: f for f in tree.select(".cpp", under="compiler/")}
    defined = {}
    for match in PASS_DEF.finditer(text):
        name, flag = match.groups()
        line = line_of(text, match.start())
        defined[kebab(name)] = name
        if flag != "graphc-" + kebab(name):
            findings.append(Finding(PASSES_TD, line, f"pass {name} has the flag {flag}, not graphc-{kebab(name)}"))
        source = sources.get(name)
        if source is None:
            findings.append(Finding(PASSES_TD, line, f"pass {name} has no source {name}.cpp in compiler/"))
            continue
        if not re.search(rf"\bstruct\s+{name}\b[^;{{]*\b{name}Base<{name}>", tree.text(source)):
            findings.append(Finding(source, 0, f"no `struct {name} : impl::{name}Base<{name}>`"))
        test = f"tests/{PurePosixPath(source).parent}/{kebab(name)}.mlir"
        if test not in tree.file_set:
            findings.append(Finding(PASSES_TD, line, f"pass {name} has no test {test}"))
    if not defined:
        findings.append(Finding(PASSES_TD, 0, "no pass found: the pattern of this check no longer matches"))
    for path in tree.select(".mlir", under=PASS_TESTS):
        stem = PurePosixPath(path).stem
        if not any(stem == p or stem.startswith(p + "-") for p in defined):
            findings.append(Finding(path, 0, f"no pass graphc-{stem}: a pass test starts with its pass's name"))
    return findings


def check_definitions(tree: Tree) -> list[Finding]:
    """A second test of a name replaces the first, which then never runs."""
    findings = []
    for path in tree.select(".py"):
        module = ast.parse(tree.text(path))
        for scope in ast.walk(module):
            if not isinstance(scope, ast.Module | ast.ClassDef):
                continue
            seen = {}
            for made in scope.body:
                if not isinstance(made, ast.FunctionDef | ast.ClassDef):
                    continue
                # The getter and setter of a property, and overloads, share a name.
                shared = any(isinstance(d, ast.Attribute) and d.attr in ("setter", "deleter", "overload") for d in made.decorator_list)
                if made.name in seen and not shared:
                    findings.append(Finding(path, made.lineno, f"{made.name} is defined in line {seen[made.name]} already"))
                seen[made.name] = made.lineno
    return findings


def check(tree: Tree) -> list[Finding]:
    return check_files(tree) + check_passes(tree) + check_definitions(tree)
