"""A map of so many dependent operations, as a module."""

import sys

count = int(sys.argv[1])
print("func.func @map(%x: tensor<?xf32>, %v0: tensor<?xf32>) -> tensor<?xf32> {")
for i in range(count):
    print(f"  %v{i + 1} = graph.{('add', 'mul')[i % 2]} %v{i}, %x : tensor<?xf32>")
print(f"  return %v{count} : tensor<?xf32>\n}}")
