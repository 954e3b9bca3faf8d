"""Loops over small arrays, whose lines compute at once from a number of turns on."""

import graphc as gc


def in_turns(count, program):
    """What a program gives where that number is `count` (0: at once, gc._graphc.NEVER)."""
    before = gc._graphc.set_loop_turns(count)
    try:
        return program()
    finally:
        gc._graphc.set_loop_turns(before)
