"""What every check shares: the repository's files, findings, and C++ text without comments."""

from __future__ import annotations

import re
import subprocess
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CPP_SUFFIXES = (".h", ".cpp")
SKIPPED_FOLDERS = {".git", ".venv", ".cache", "__pycache__", ".pytest_cache", "dist"}


@dataclass(frozen=True, order=True)
class Finding:
    """One defect: a path relative to the root, a line (0: the whole file) and what is wrong."""

    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line or 1}: {self.message}"


class Tree:
    """The files of a checkout: those git tracks or would track; every file where git is absent."""

    def __init__(self, root: Path = ROOT):
        self.root = Path(root).resolve()
        self.files = sorted(self._list())
        self.file_set = set(self.files)
        self.folders = {str(p) for f in self.files for p in Path(f).parents if str(p) != "."}
        self._text: dict[str, str] = {}

    def _list(self) -> list[str]:
        if (self.root / ".git").exists():
            command = ["git", "-C", str(self.root), "ls-files", "-co", "--exclude-standard", "-z"]
            try:
                done = subprocess.run(command, capture_output=True, text=True, check=True)
                names = [n for n in done.stdout.split("\0") if n]
                return [n for n in set(names) if (self.root / n).is_file()]
            except (OSError, subprocess.CalledProcessError):
                pass  # no git, or a checkout owned by somebody else: fall through to the file system
        found = []
        for path in self.root.rglob("*"):
            relative = path.relative_to(self.root)
            parts = relative.parts
            if parts[0].startswith("build") or SKIPPED_FOLDERS.intersection(parts):
                continue
            if path.is_file() and path.suffix not in (".so", ".o", ".pyc"):
                found.append(relative.as_posix())
        return found

    def text(self, path: str) -> str:
        if path not in self._text:
            self._text[path] = (self.root / path).read_text(encoding="utf-8", errors="replace")
        return self._text[path]

    def lines(self, path: str) -> list[str]:
        return self.text(path).splitlines()

    def select(self, *suffixes: str, under: str = "") -> list[str]:
        return [f for f in self.files if f.endswith(suffixes) and f.startswith(under)]


_CPP_TOKEN = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<tag>[^()\\\s]*)\(.*?\)(?P=tag)"'
    r"|\"(?:\\.|[^\"\\\n])*\"|(?<![0-9A-Fa-f])'(?:\\.|[^'\\\n])*'",
    re.S,
)


def strip_cpp(text: str, keep_strings: bool = False) -> str:
    """C++ text with comments (and string and character literals) blanked; line numbers stay."""

    def blank(match: re.Match) -> str:
        token = match.group(0)
        if not token.startswith("/") and keep_strings:
            return token
        filler = "\n" * token.count("\n")
        return filler if token.startswith("/") else '""' + filler

    return _CPP_TOKEN.sub(blank, text)


def line_of(text: str, offset: int) -> int:
    return text.count("\n", 0, offset) + 1
