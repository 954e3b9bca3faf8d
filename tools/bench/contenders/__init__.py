"""One file a contender. Each has `start(threads)`, which gives its version, and `contenders(row, inputs)`, which gives
`Entry`s by name, or in an entry's place the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Callable


@dataclass
class Entry:
    """`run` computes one result and returns when it is there; `values` makes NumPy arrays of what run returned."""

    run: Callable
    values: Callable
    clock: Callable | None = None  # (calls) -> seconds of one call, where the contender has a clock of its own


class Missing(Exception):
    """Why a contender has no form of a program."""
