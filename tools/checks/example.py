"""The worked example of README.md is the one that tests/compiler/worked-example.mlir proves."""

from __future__ import annotations

import re

from common import Finding, Tree, line_of

README = "README.md"
TEST = "tests/compiler/worked-example.mlir"
BLOCK = re.compile(r"<!-- worked example: (\w+) -->\n```\w*\n(.*?)^```", re.M | re.S)
STAGES = ("graph", "kernel", "plan", "llvm", "opencl")
CHECK_LINE = re.compile(r"^//\s*([A-Z]+)(?:-NEXT|-SAME|-DAG|-LABEL|-EMPTY)?:\s?(.*)$")
CAPTURE = re.compile(r"\[\[#?(\w+)(?::[^\[\]]*(?:\[[^\]]*\][^\[\]]*)*)?\]\]")
REGEX = re.compile(r"\{\{.*?\}\}")


def words(text: str) -> str:
    return " ".join(text.split())


def expected_lines(test: str, stage: str) -> list[tuple[int, str]]:
    """(line, pattern) of the FileCheck lines with the stage's prefix."""
    found = []
    for number, line in enumerate(test.splitlines(), 1):
        match = CHECK_LINE.match(line.strip())
        if match and match.group(1) == stage.upper():
            found.append((number, match.group(2)))
    return found


def pattern_of(check_line: str) -> re.Pattern:
    """A FileCheck line as a regular expression: captures and {{...}} match what a value name may be."""
    pieces, rest = [], words(check_line)
    while rest:
        hole = min((m for m in (CAPTURE.search(rest), REGEX.search(rest)) if m), key=lambda m: m.start(), default=None)
        if hole is None:
            pieces.append(re.escape(rest))
            break
        pieces.append(re.escape(rest[:hole.start()]))
        pieces.append(r".*?")
        rest = rest[hole.end():]
    return re.compile("".join(pieces))


def check(tree: Tree) -> list[Finding]:
    for path in (README, TEST):
        if path not in tree.file_set:
            return [Finding(path, 0, "missing")]
    readme, test = tree.text(README), tree.text(TEST)
    blocks = {m.group(1): m for m in BLOCK.finditer(readme)}
    findings = []
    for stage in STAGES:
        if stage not in blocks:
            findings.append(Finding(README, 0, f"no worked example block for {stage}"))
            continue
        block = words(blocks[stage].group(2))
        line = line_of(readme, blocks[stage].start())
        expected = expected_lines(test, stage)
        if not expected:
            findings.append(Finding(TEST, 0, f"no {stage.upper()}: lines"))
        position = 0
        for number, pattern in expected:
            match = pattern_of(pattern).search(block, position)
            if match is None:
                findings.append(Finding(README, line, f"{stage} block lacks what {TEST}:{number} proves: {words(pattern)}"))
                break
            position = match.end()
    return findings
