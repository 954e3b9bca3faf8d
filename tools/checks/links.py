"""Documentation points at things that exist, and every README's map is the file system."""

from __future__ import annotations

import re
from pathlib import PurePosixPath

from common import Finding, Tree, line_of

TOP_FOLDERS = ("frontends", "dialects", "compiler", "runtime", "tests", "tools")
LINK = re.compile(r"(?<!!)\[[^\]\n]*\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```(\S*)[^\n]*\n(.*?)^```", re.M | re.S)
ENTRY = re.compile(r"^( *)(\S+)(?:  .*|)$")


def anchors(markdown: str) -> set[str]:
    """GitHub's anchors of the headings."""
    found = set()
    for heading in re.findall(r"^#+\s+(.*)$", FENCE.sub("", markdown), re.M):
        text = re.sub(r"[^\w\- ]", "", heading.replace("`", "").lower())
        found.add(text.strip().replace(" ", "-"))
    return found


def exists(tree: Tree, path: str) -> bool:
    path = path.rstrip("/")
    return path in tree.file_set or path in tree.folders or path in ("", ".")


def normal(folder: PurePosixPath, target: str) -> str:
    parts: list[str] = []
    for part in (folder / target).parts:
        if part == ".." and parts:
            parts.pop()
        elif part != ".":
            parts.append(part)
    return "/".join(parts)


def check_links(tree: Tree, path: str) -> list[Finding]:
    findings, text = [], tree.text(path)
    clean = FENCE.sub(lambda m: "\n" * m.group(0).count("\n"), text)
    for match in LINK.finditer(clean):
        target, _, anchor = match.group(1).partition("#")
        if re.match(r"[a-z]+:", target):
            continue
        line = line_of(clean, match.start())
        file = normal(PurePosixPath(path).parent, target) if target else path
        if not exists(tree, file):
            findings.append(Finding(path, line, f"link to {match.group(1)}, which does not exist"))
        elif anchor and file in tree.file_set and file.endswith(".md") and anchor not in anchors(tree.text(file)):
            findings.append(Finding(path, line, f"no heading #{anchor} in {file}"))
    return findings


def check_maps(tree: Tree, path: str) -> tuple[list[Finding], set[str]]:
    """Blocks fenced as `tree`: two spaces of indent a level, then a name, then two spaces and words."""
    findings, named, text = [], set(), tree.text(path)
    for block in FENCE.finditer(text):
        if block.group(1) != "tree":
            continue
        stack: list[tuple[int, str]] = []
        first = line_of(text, block.start(2))
        for number, row in enumerate(block.group(2).splitlines(), first):
            match = ENTRY.match(row)
            if not match:
                continue
            indent, name = len(match.group(1)), match.group(2)
            if indent >= 14:
                continue  # a continued description
            while stack and stack[-1][0] >= indent:
                stack.pop()
            parent = stack[-1][1] if stack else PurePosixPath(path).parent.as_posix()
            entry = normal(PurePosixPath(parent), name.rstrip("/"))
            stack.append((indent, entry))
            named.add(entry)
            if not exists(tree, entry) or (name.endswith("/") and entry not in tree.folders):
                findings.append(Finding(path, number, f"the map names {entry}, which does not exist"))
    return findings, named


def check(tree: Tree) -> list[Finding]:
    findings = []
    for path in tree.select(".md"):
        findings += check_links(tree, path)
        wrong, named = check_maps(tree, path)
        findings += wrong
        folder = PurePosixPath(path).parent.as_posix()
        if PurePosixPath(path).name != "README.md" or (folder != "." and folder not in TOP_FOLDERS):
            continue
        prefix = "" if folder == "." else folder + "/"
        children = {f for f in tree.folders if f.startswith(prefix) and "/" not in f[len(prefix):] and f != folder}
        for child in sorted(children - named):
            name = PurePosixPath(child).name
            if not name.startswith(".") and not re.search(rf"(?<![\w-]){re.escape(name)}/|`{re.escape(name)}`", tree.text(path)):
                findings.append(Finding(path, 0, f"the map does not name {child}/"))
    for folder in TOP_FOLDERS:
        if folder in tree.folders and f"{folder}/README.md" not in tree.file_set:
            findings.append(Finding(f"{folder}/README.md", 0, "missing: every top folder has a map"))
    return findings
