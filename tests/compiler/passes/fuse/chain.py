"""Prints a function of N equal steps: an elementwise update of a grid's inside, then a sum of rows. usage: chain.py N"""

import sys

steps = int(sys.argv[1])
grid, inside = "tensor<?x16xf32>", "tensor<?x14xf32>"
print(f"func.func @steps(%v0: {grid}) -> {grid} {{")
print(f"  %n = graph.dim %v0, 0 : {grid}")
for i in range(steps):
    print(f"""  %l{i} = graph.slice %v{i} from [0, 0] step [1, 1] to (%n) : {grid} -> {inside}
  %r{i} = graph.slice %v{i} from [0, 2] step [1, 1] to (%n) : {grid} -> {inside}
  %s{i} = graph.add %l{i}, %r{i} : {inside}
  %v{i + 1} = graph.update_slice %s{i} into %v{i} from [0, 1] step [1, 1] : {inside} into {grid} -> {grid}""")
print(f"  return %v{steps} : {grid}\n}}")
