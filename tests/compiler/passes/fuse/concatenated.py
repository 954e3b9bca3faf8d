"""Prints a function that puts N rows below each other. usage: concatenated.py N"""

import sys

parts = int(sys.argv[1])
row, rows = "tensor<?xf32>", "tensor<1x?xf32>"
arguments = ", ".join(f"%x{i}: {row} {{graph.dims = array<i64: 0>}}" for i in range(parts))
print(f"func.func @parts({arguments}) -> tensor<{parts}x?xf32> {{")
print(f"  %n = graph.dim %x0, 0 : {row}")
for i in range(parts):
    print(f"  %r{i} = graph.reshape %x{i} to(%n) : {row} -> {rows}")
values = ", ".join(f"%r{i}" for i in range(parts))
types = ", ".join([rows] * parts)
print(f"  %all = graph.concatenate {values} to (%n) axis 0 : {types} -> tensor<{parts}x?xf32>")
print(f"  return %all : tensor<{parts}x?xf32>\n}}")
