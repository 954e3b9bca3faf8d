"""Prints a module with every elementwise op of dialects/graph/GraphOps.td on every dtype it takes, as the lowering hands
them to graphc-expand-scalar-ops: signless arguments, unsigned values named by casts. One function an op and dtype.

usage: all_ops.py LANES [DTYPES]    LANES 1: scalars; DTYPES: comma separated, default all"""

import json
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
FLOATS = ("f32", "f64")
INTEGERS = ("i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64")
CLASSES = {"Any": FLOATS + INTEGERS + ("i1",), "Numeric": FLOATS + INTEGERS, "Floating": FLOATS, "Integer": INTEGERS,
           "AnyReal": FLOATS + INTEGERS + ("i1",), "RealNumeric": FLOATS + INTEGERS, "Inexact": FLOATS,
           "ComplexFloating": (),  # two floats by now
           "IntegerOrBool": INTEGERS + ("i1",), "Boolean": ("i1",), "Random": ("ui64",)}


def elementwise_ops():
    """(name, operand dtype class, operand names, result rule) of every elementwise op."""
    tblgen = pathlib.Path(shutil.which("llvm-tblgen")).resolve()
    text = subprocess.run(
        [tblgen, "--dump-json", "-I", ROOT, "-I", tblgen.parents[1] / "include", ROOT / "dialects/graph/GraphOps.td"],
        check=True, capture_output=True, text=True).stdout
    records = json.loads(text)
    for name in records["!instanceof"]["Graph_Op"]:
        record = records[name]
        if records[record["resultRule"]["def"]]["name"] == "ComplexOf":
            continue  # made of two floats before bodies are lowered
        if any(trait["def"] == "Graph_Elementwise" for trait in record["traits"]):
            yield (record["opName"], records[record["operandDTypes"]["def"]]["name"],
                   [argument[1] for argument in record["arguments"]["args"]], records[record["resultRule"]["def"]]["name"])


class Printer:
    def __init__(self, lanes, dtypes):
        self.lanes, self.dtypes, self.count = lanes, dtypes, 0

    def shaped(self, dtype):
        return dtype if self.lanes == 1 else f"vector<{self.lanes}x{dtype}>"

    def function(self, name, op, operands, results):
        """operands: (name, dtype); results: dtype."""
        signless = [self.shaped(dtype.lstrip("u")) for _, dtype in operands]
        print(f"func.func @{name}(" + ", ".join(f"%a{i}: {t}" for i, t in enumerate(signless))
              + f") -> {self.shaped(results.lstrip('u'))} {{")
        for i, (_, dtype) in enumerate(operands):
            if dtype.startswith("u"):
                print(f"  %x{i} = graph.cast %a{i} : {signless[i]} -> {self.shaped(dtype)}")
        values = [("%x" if dtype.startswith("u") else "%a") + str(i) for i, (_, dtype) in enumerate(operands)]
        types = ", ".join(self.shaped(dtype) for _, dtype in operands)
        print(f'  %r = "graph.{op}"({", ".join(values)}) : ({types}) -> {self.shaped(results)}')
        if results.startswith("u"):
            print(f"  %s = graph.cast %r : {self.shaped(results)} -> {self.shaped(results[1:])}")
        print(f"  return {'%s' if results.startswith('u') else '%r'} : {self.shaped(results.lstrip('u'))}\n}}")
        self.count += 1

    def op(self, name, dtype_class, operands, rule):
        for dtype in CLASSES[dtype_class]:
            if dtype not in self.dtypes:
                continue
            if rule == "Explicit":  # a conversion: to every dtype, of bits to those as wide
                for target in self.dtypes:
                    if name == "bitcast" and (target == "i1" or target.lstrip("uif") != dtype.lstrip("uif")):
                        continue
                    self.function(f"{name}_{dtype}_{target}", name, [(operands[0], dtype)], target)
                continue
            if dtype_class == "Random":
                typed = [(o, dtype if i < 3 else "f64") for i, o in enumerate(operands)]
                if any(t not in self.dtypes for _, t in typed):
                    continue
                self.function(f"{name}_{dtype}", name, typed, typed[-1][1])
                continue
            typed = [(o, "i1" if o == "condition" else dtype) for o in operands]
            self.function(f"{name}_{dtype}", name, typed, "i1" if rule == "Bool" else dtype)


def main():
    dtypes = sys.argv[2].split(",") if len(sys.argv) > 2 else CLASSES["Any"]
    printer = Printer(int(sys.argv[1]), dtypes)
    for op in elementwise_ops():
        printer.op(*op)
    print(f"// {printer.count} functions")


if __name__ == "__main__":
    main()
