"""Prints a function of two loops: 3 N turns that read nothing new, then N that each read another row. usage: loops.py N"""

import sys

turns = int(sys.argv[1])
whole, row = f"tensor<{turns}x?xf64>", "tensor<1x?xf64>"
print(f"func.func @loops(%x: {whole}, %v0: {row}) -> {row} {{")
print(f"  %n = graph.dim %x, 1 : {whole}")
for i in range(3 * turns):
    print(f"""  %m{i} = graph.neg %v{i} : {row}
  %v{i + 1} = graph.abs %m{i} : {row}""")
for i in range(3 * turns, 4 * turns):
    print(f"""  %a{i} = graph.slice %x from [{i - 3 * turns}, 0] step [1, 1] to (%n) : {whole} -> {row}
  %m{i} = graph.mul %a{i}, %v{i} : {row}
  %v{i + 1} = graph.add %a{i}, %m{i} : {row}""")
print(f"  return %v{4 * turns} : {row}\n}}")
