"""Which exceptions the code around an instruction would catch, from the tables of CPython 3.11 and later.

Each code object has a table of ranges of instructions and where their exceptions go (CPython's
InternalDocs/exception_handling.md). What is there says what it is: the handler of a `with` statement begins
with WITH_EXCEPT_START, `except` clauses name what they match, a bare `except` drops the exception.
"""

import dis
import itertools

_INDEX = frozenset({"IndexError", "LookupError"})
_ANY = frozenset({"Exception", "BaseException"})

#: The code would catch an IndexError by its name, or as any exception.
NAMED, ANY = 1, 2


def _ranges(code):
    """(first, last, handler) in bytes, of numbers in six bits a byte of which all but the last of each have bit 6 set."""
    numbers, value = [], 0
    for byte in getattr(code, "co_exceptiontable", b""):
        value = value << 6 | byte & 63
        if not byte & 64:
            numbers.append(2 * value)
            value = 0
    return [(first, first + length, handler) for first, length, handler, _ in zip(*[iter(numbers)] * 4, strict=True)]


def _around(ranges, offset):
    """Handlers from the innermost outwards, each with where its range begins."""
    seen = set()
    while (found := next(((first, handler) for first, last, handler in ranges if first <= offset < last), None)) and found not in seen:
        seen.add(found)
        yield found
        offset = found[1]


def _names(instructions):
    return {str(i.argval) for i in instructions if i.opname.startswith("LOAD_")}


def _matched(instructions):
    """What the clauses of a handler match: names, of which those of variables say nothing; None for a bare one."""
    if instructions and instructions[0].opname == "POP_TOP":
        return None
    matched = set()
    at = {i.offset: number for number, i in enumerate(instructions)}
    place = 0
    while place is not None:
        clause = list(itertools.takewhile(lambda i: i.opname.startswith(("LOAD_", "BUILD_TUPLE", "PUSH_NULL")), instructions[place:]))
        following = instructions[place + len(clause) : place + len(clause) + 2]
        if not clause or not following or following[0].opname != "CHECK_EXC_MATCH":
            return matched
        matched |= {"Exception"} if any(i.opname.startswith(("LOAD_FAST", "LOAD_DEREF")) for i in clause) else _names(clause)
        place = at.get(following[1].argval)
        if place is not None and instructions[place].opname == "POP_TOP":
            return None
    return matched


def _of_with(instructions, first):
    """Names in the line that enters the `with` statement whose body begins at `first`."""
    before = [i for i in instructions if i.offset < first]
    line = before[-1].positions.lineno if before else None
    return _names(itertools.takewhile(lambda i: i.positions.lineno == line, reversed(before)))


def caught(code, offset):
    """Which of NAMED and ANY an IndexError of the instruction at `offset`, in bytes, would meet in `code`."""
    ranges = _ranges(code)
    instructions = list(dis.get_instructions(code)) if ranges else []
    found = 0
    for first, handler in _around(ranges, offset):
        there = [i for i in instructions if i.offset >= handler and i.opname not in ("PUSH_EXC_INFO", "CACHE", "NOP", "COPY", "EXTENDED_ARG")]
        if there and there[0].opname == "WITH_EXCEPT_START":
            found |= NAMED if _of_with(instructions, first) & _INDEX else 0
            continue
        names = _matched(there)
        found |= ANY if names is None or names & _ANY else 0
        found |= NAMED if names and names & _INDEX else 0
    return found
