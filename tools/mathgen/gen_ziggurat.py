#!/usr/bin/env python3
"""Prints runtime/library/Ziggurat.inc: the 256 strips by which NumPy's Generator draws normal numbers (Marsaglia and Tsang 2000).

NumPy's widths and bounds were computed in rounded arithmetic, which no formula repeats to the bit. So NumPy is asked: a bit generator
that gives chosen words shows what a draw makes of them. Heights are those of the widths; they decide in the last bit only which of two
numbers comes, once in 2**50 draws.
"""

import ctypes
import math
import threading

import numpy as np

STRIPS, BITS = 256, 52
EDGE, INVERSE_EDGE = 3.6541528853610087963519472518, 0.27366123732975827203338247596


class Words:
    """A bit generator that gives `word`, and `unit` for floats, and counts those."""

    def __init__(self):
        self.word, self.unit, self.units = 0, -1e300, 0
        word = ctypes.CFUNCTYPE(ctypes.c_uint64, ctypes.c_void_p)(lambda _: self.word)
        half = ctypes.CFUNCTYPE(ctypes.c_uint32, ctypes.c_void_p)(lambda _: self.word & 0xFFFFFFFF)
        unit = ctypes.CFUNCTYPE(ctypes.c_double, ctypes.c_void_p)(self._unit)
        self._functions = word, half, unit
        pointers = [None] + [ctypes.cast(f, ctypes.c_void_p).value for f in (word, half, unit, word)]
        self._table = (ctypes.c_void_p * 5)(*pointers)
        new = ctypes.pythonapi.PyCapsule_New
        new.restype, new.argtypes = ctypes.py_object, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
        self._name = b"BitGenerator"
        self.capsule = new(ctypes.addressof(self._table), self._name, None)
        self.lock = threading.Lock()

    def _unit(self, _):
        self.units += 1
        return self.unit


def main():
    words = Words()
    normal = np.random.Generator(words).standard_normal

    def draw(strip, place, unit=-1e300):
        words.word, words.unit, words.units = strip | place << 9, unit, 0
        return normal(), words.units == 0

    def bound(strip):
        low, high = 0, 1 << BITS  # the first place that is not inside
        while low < high:
            middle = (low + high) // 2
            if draw(strip, middle, 0.5 if strip == 0 else -1e300)[1]:
                low = middle + 1
            else:
                high = middle
        return low

    widths = [math.ldexp(draw(strip, 1 << 50)[0], -50) for strip in range(STRIPS)]
    inside = [bound(strip) for strip in range(STRIPS)]
    heights = [1.0] + [math.exp(-0.5 * math.ldexp(w, BITS) ** 2) for w in widths[1:]]
    tail = EDGE - INVERSE_EDGE * math.log1p(-0.5)
    assert draw(0, (1 << BITS) - 1, 0.5)[0] in (tail, -tail)

    def table(kind, name, values, per_line):
        lines = [", ".join(values[i : i + per_line]) + "," for i in range(0, STRIPS, per_line)]
        print(f"constexpr {kind} {name}[{STRIPS}] = {{\n    " + "\n    ".join(lines) + "\n};")

    print("// Made by tools/mathgen/gen_ziggurat.py.")
    print(f"constexpr double kEdge = {EDGE.hex()}, kInverseEdge = {INVERSE_EDGE.hex()};")
    table("uint64_t", "kInside", [f"0x{v:014x}" for v in inside], 6)
    table("double", "kWidths", [v.hex() for v in widths], 4)
    table("double", "kHeights", [v.hex() for v in heights], 4)


if __name__ == "__main__":
    main()
