"""Sequences times single results: Python repeats them, or says that the number is no integer, as with NumPy's scalars."""

import array
import collections
import operator

import graphc as gc
import numpy as np
import pytest

SEQUENCES = {
    "list": lambda: [1, 2], "tuple": lambda: (1, 2), "text": lambda: "ab", "bytes": lambda: b"ab", "bytearray": lambda: bytearray(b"z"),
    "array": lambda: array.array("i", [1, 2]), "deque": lambda: collections.deque([1]), "empty": list, "range": lambda: range(2),
    "memory": lambda: memoryview(b"ab"),
}  # fmt: skip


def outcome(operation, left, right, sequence):
    try:
        made = operation(left, right)
    except TypeError as error:
        return "TypeError", str(error)
    numbers = hasattr(made, "dtype")
    return numbers, made.dtype if numbers else type(made), list(made), list(sequence), made is sequence


@pytest.mark.parametrize("dtype", ["?", "i1", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16"])
@pytest.mark.parametrize("name", SEQUENCES)
def test_times_single_results(name, dtype):
    for operation in (operator.mul, operator.imul):
        for turned in (False, True):
            found = []
            for xp in (np, gc):
                number, sequence = xp.array([3, 0], dtype=dtype)[0], SEQUENCES[name]()
                left, right = (sequence, number) if turned else (number, sequence)
                found.append(outcome(operation, left, right, sequence))
            theirs, ours = found
            if theirs[0] == "TypeError":
                assert ours[0] == "TypeError", (operation, turned)
            else:
                assert ours == theirs, (operation, turned)


def test_of_sums_and_of_arrays_without_axes():
    large = gc.ones(1 << 20, dtype="i4")
    assert [0] * large[:3].sum() == [0, 0, 0] and "ab" * large.max() == "ab"
    names = also = ["a"]
    names *= gc.arange(3)[2]
    assert also == ["a", "a"]
    for xp in (np, gc):
        assert (xp.asarray(3) * [1, 2]).tolist() == [3, 6] and ([1.5, 2] * xp.arange(2)).tolist() == [0, 2]
