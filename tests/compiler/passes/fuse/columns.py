"""Prints a function that makes the columns of an array one after the other, each of the one before it; of a given
type they are written at places that are values, and known to lie apart. usage: columns.py N [TYPE]"""

import sys

columns = int(sys.argv[1])
element = sys.argv[2] if len(sys.argv) > 2 else "f64"
whole, column = f"tensor<?x{columns}x{element}>", f"tensor<?x1x{element}>"
placed = len(sys.argv) > 2
places = "".join(f", %p{i}: index" for i in range(columns if placed else 0))
print(f"func.func @columns(%x: {whole}, %y: {whole}, %d0: {column}{places}) -> {whole} {{")
print(f"  %n = graph.dim %x, 0 : {whole}")
for i in range(columns):
    apart = ", ".join(str(-1 - k) for k in range(i))
    place, known = (f"%p{i}", f" {{graphc.update = {-1 - i} : i64, graphc.apart = array<i64: {apart}>}}" if i else " {graphc.update = -1 : i64}") if placed else (i, "")
    print(f"""  %a{i} = graph.slice %x from [0, {i}] step [1, 1] to (%n) : {whole} -> {column}
  %m{i} = graph.mul %a{i}, %d{i} : {column}
  %d{i + 1} = graph.add %a{i}, %m{i} : {column}
  %v{i + 1} = graph.update_slice %d{i + 1} into {f'%v{i}' if i else '%y'} from [0, {place}] step [1, 1]{known} : {column} into {whole} -> {whole}""")
print(f"  return %v{columns} : {whole}\n}}")
