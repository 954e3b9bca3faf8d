"""Which code around an instruction would catch an error of an index, from the tables of CPython 3.11 and later.

Each code object has a table of ranges of instructions and where their exceptions go (CPython's
InternalDocs/exception_handling.md). What is there says what it is: the handler of a `with` statement begins
with WITH_EXCEPT_START, `except` clauses load what they match, a bare `except` drops the exception.
"""

import bisect
import builtins
import dis
import functools
import itertools

from .errors import IndexOutOfBounds

#: The code would catch the error by a name of its own, or as any exception.
NAMED, ANY = 1, 2

_UNKNOWN = object()
#: What stands between handlers' instructions that matter.
_SKIPPED = frozenset(("PUSH_EXC_INFO", "CACHE", "NOP", "COPY", "EXTENDED_ARG", "BUILD_LIST", "SWAP"))
_LOADS = ("LOAD_", "BUILD_TUPLE", "PUSH_NULL", "PRECALL", "CALL", "KW_NAMES")
_MATCHES = ("CHECK_EXC_MATCH", "CHECK_EG_MATCH")


def _ranges(code):
    """(first, last, handler) in bytes, of numbers in six bits a byte, all but the last of each marked by bit 6."""
    numbers, value = [], 0
    for byte in getattr(code, "co_exceptiontable", b""):
        value = value << 6 | byte & 63
        if not byte & 64:
            numbers.append(2 * value)
            value = 0
    return [(first, first + length, handler) for first, length, handler, _ in zip(*[iter(numbers)] * 4, strict=True)]


@functools.lru_cache(64)
def _read(code):
    """The ranges, and the instructions that say something with their offsets: a function has many places."""
    ranges = _ranges(code)
    instructions = [i for i in dis.get_instructions(code) if i.opname not in _SKIPPED] if ranges else []
    return ranges, instructions, [i.offset for i in instructions]


def _handlers(ranges, offset):
    """Handlers from the innermost outwards."""
    seen = set()
    while (found := next((handler for first, last, handler in ranges if first <= offset < last), None)) is not None and found not in seen:
        seen.add(found)
        yield found
        offset = found


def _catching(kind):
    if isinstance(kind, tuple):
        return functools.reduce(int.__or__, map(_catching, kind), 0)
    if isinstance(kind, type) and issubclass(kind, BaseException):
        return 0 if not issubclass(IndexOutOfBounds, kind) else ANY if kind in (Exception, BaseException) else NAMED
    return ANY if kind is _UNKNOWN else 0


def _loaded(instructions, names):
    """What instructions load: the value of a name, of attributes of one; what nobody knows before it is called stays unknown."""
    found = []
    for i in instructions:
        if i.opname in ("LOAD_GLOBAL", "LOAD_NAME"):
            found.append(names.get(i.argval, getattr(builtins, i.argval, _UNKNOWN)))
        elif i.opname in ("LOAD_ATTR", "LOAD_METHOD") and found:
            found[-1] = _UNKNOWN if found[-1] is _UNKNOWN else getattr(found[-1], i.argval, _UNKNOWN)
        elif i.opname == "BUILD_TUPLE":
            found[len(found) - i.arg :] = [tuple(found[len(found) - i.arg :])]
        elif not i.opname.startswith(("LOAD_CONST", "PUSH_NULL")):
            found.append(_UNKNOWN)
    return found


def _of_clauses(instructions, offsets, place, names):
    """What the clauses of a `try` statement catch; they follow each other where nothing matches."""
    found = 0
    while place < len(instructions):
        clause = list(itertools.takewhile(lambda i: i.opname.startswith(_LOADS), itertools.islice(instructions, place, None)))
        match, jump = (instructions[place + len(clause) :][:2] + [None, None])[:2]
        if not clause:
            return found | (ANY if match is not None and match.opname == "POP_TOP" else 0)
        if match is None or match.opname not in _MATCHES or jump is None or "JUMP" not in jump.opname:
            return found
        found |= _catching(_loaded(clause, names)[-1])
        place = bisect.bisect_left(offsets, jump.argval)
        if match.opname == "CHECK_EG_MATCH":  # nothing of the group is left to drop
            place += 1
    return found


def _of_with(instructions, offsets, first, names):
    """The same of the `with` statement whose body begins at `first`, by what its line names."""
    place = bisect.bisect_left(offsets, first) - 1
    enters = instructions[place].positions
    if enters.lineno is None:
        return 0
    before = itertools.takewhile(lambda i: i.positions.lineno is not None and enters.lineno <= i.positions.lineno <= enters.end_lineno, reversed(instructions[:place]))
    named = [i for i in before if i.opname in ("LOAD_GLOBAL", "LOAD_NAME")]
    return functools.reduce(int.__or__, (_catching(kind) for kind in _loaded(named, names) if kind is not _UNKNOWN), 0)


def caught(code, offset, names):
    """Which of NAMED and ANY an error of the instruction at `offset`, in bytes, would meet in `code`, whose globals are `names`."""
    ranges, instructions, offsets = _read(code)
    found = 0
    for handler in _handlers(ranges, offset):
        place = bisect.bisect_left(offsets, handler)
        if place < len(instructions) and instructions[place].opname == "WITH_EXCEPT_START":
            found |= _of_with(instructions, offsets, min(first for first, _, target in ranges if target == handler), names)
        else:
            found |= _of_clauses(instructions, offsets, place, names)
    return found
