#!/usr/bin/env python3
"""Makes everything that follows from the list of operations, dialects/graph/GraphOps.td.

    tools/opgen.py --kind optable --output FILE      one generated file ("-": standard output)
    tools/opgen.py --update                          rewrite the checked-in copies
    tools/opgen.py --check                           exit 1 when a checked-in copy is stale

Kinds: opkinds (enums), optable (rows of the op table), opattrs (attribute structs), pynames (Python table of plain
elementwise functions), stubs (type stubs of those functions), reference (Markdown page).
"""

import argparse
import dataclasses
import json
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[1]
CATEGORIES = ("Elementwise", "Reduction", "Scan", "Movement", "Contraction", "Generator", "Update", "Indexed", "Library")
GENERATED = {
    "opkinds": "dialects/opset/generated/OpsetKinds.inc",
    "optable": "dialects/opset/generated/OpsetTable.inc",
    "opattrs": "dialects/opset/generated/OpsetAttrs.inc",
    "pynames": "frontends/python/bindings/generated/_elementwise.py",
    "stubs": "frontends/python/bindings/generated/_functions.pyi",
}


@dataclasses.dataclass(frozen=True)
class Attr:
    name: str
    kind: str  # Int, Ints, Extents, Literal


@dataclasses.dataclass(frozen=True)
class Op:
    symbol: str
    name: str
    summary: str
    description: str
    category: str
    commutative: bool
    arity: int
    operand_dtypes: str
    result_rule: str
    promote_to_float: bool
    promote_bool: bool
    py_names: tuple
    dunders: tuple
    ulp_f32: str
    ulp_f64: str
    worst_f32: str
    worst_f64: str
    numpy_name: str
    attrs: tuple


@dataclasses.dataclass(frozen=True)
class OpSet:
    ops: tuple
    reduce_kinds: tuple  # (symbol, spelling, value)


def find_tblgen(path):
    for candidate in (path, "llvm-tblgen-22", "llvm-tblgen", "/usr/lib/llvm-22/bin/llvm-tblgen"):
        if candidate and shutil.which(candidate):
            return shutil.which(candidate)
    sys.exit("opgen: llvm-tblgen not found; pass --tblgen (Debian package llvm-22)")


def load(tblgen, mlir_include):
    """The op list in file order."""
    includes = [p for p in mlir_include.split(";") if p] or ["/usr/lib/llvm-22/include"]
    command = [find_tblgen(tblgen), "--dump-json", "-I", str(ROOT)]
    for path in includes:
        command += ["-I", path]
    done = subprocess.run(command + ["dialects/graph/GraphOps.td"], cwd=ROOT, capture_output=True, text=True)
    if done.returncode:
        sys.exit(f"opgen: {' '.join(command)} failed:\n{done.stderr}")
    records = json.loads(done.stdout)

    def line(name):
        return int(records[name]["!locs"][-1].rsplit(":", 1)[1])

    ops = []
    for name in sorted(records["!instanceof"]["Graph_Op"], key=line):
        rule = records[records[name]["resultRule"]["def"]]["name"]
        if rule != "IrOnly":
            ops.append(make_op(records, name, rule))
    kinds = []
    for case in records["ReduceKind"]["enumerants"]:
        record = records[case["def"]]
        kinds.append((record["symbol"], record["str"], record["value"]))
    return OpSet(tuple(ops), tuple(sorted(kinds, key=lambda k: k[2])))


def make_op(records, name, rule):
    record = records[name]
    traits = [records[t["def"]] for t in record["traits"]]
    category = [t["trait"] for t in traits if t.get("cppNamespace") == "::graphc::graph" and t["trait"] in CATEGORIES]
    if len(category) > 1:
        sys.exit(f"opgen: {name} has {len(category)} categories: {', '.join(category)}")
    if not name.endswith("Op"):
        sys.exit(f"opgen: {name} should be named ...Op")
    attrs = [records[a["def"]] for a in record["recordAttrs"]]
    return Op(
        symbol=name[:-2],
        name=record["opName"],
        summary=" ".join(record["summary"].split()),
        description=" ".join(record["description"].split()),
        category=category[0] if category else "None",
        commutative=any(t.get("trait") == "IsCommutative" for t in traits),
        arity=record["arity"],
        operand_dtypes=records[record["operandDTypes"]["def"]]["name"],
        result_rule=rule,
        promote_to_float=bool(record["promoteToFloat"]),
        promote_bool=bool(record["promoteBool"]),
        py_names=tuple(record["pyNames"]),
        dunders=tuple(record["dunders"]),
        ulp_f32=record["ulpF32"],
        ulp_f64=record["ulpF64"],
        worst_f32=record["worstF32"],
        worst_f64=record["worstF64"],
        numpy_name=record["numpyName"],
        attrs=tuple(Attr(a["name"], a["kind"]) for a in attrs),
    )


def quote(text):
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'


HEADER = "// Generated from dialects/graph/GraphOps.td by tools/opgen.py; do not edit.\n"


def emit_opkinds(opset):
    lines = [HEADER, "/// Operations, in the order of the list.\nenum class OpKind : uint16_t {\n"]
    lines += [f"  {op.symbol} = {i},\n" for i, op in enumerate(opset.ops)]
    lines += ["};\n", f"inline constexpr int kOpKindCount = {len(opset.ops)};\n\n"]
    lines += ["/// What a reduction computes.\nenum class ReduceKind : uint8_t {\n"]
    lines += [f"  {symbol} = {value},\n" for symbol, _, value in opset.reduce_kinds]
    lines += ["};\n", f"inline constexpr int kReduceKindCount = {len(opset.reduce_kinds)};\n"]
    return "".join(lines)


def string_list(name, values):
    if not values:
        return ""
    return f"constexpr std::string_view {name}[] = {{{', '.join(quote(v) for v in values)}}};\n"


def emit_optable(opset):
    lines = [HEADER]
    for op in opset.ops:
        lines.append(string_list(f"k{op.symbol}PyNames", op.py_names))
        lines.append(string_list(f"k{op.symbol}Dunders", op.dunders))
        if op.attrs:
            rows = ", ".join(f"{{{quote(a.name)}, AttrKind::{a.kind}}}" for a in op.attrs)
            lines.append(f"constexpr AttrInfo k{op.symbol}AttrInfos[] = {{{rows}}};\n")
    lines.append("\nconstexpr OpInfo kOps[] = {\n")
    for op in opset.ops:
        flags = ", ".join("true" if f else "false" for f in (op.promote_to_float, op.promote_bool, op.commutative))
        names = f"k{op.symbol}PyNames" if op.py_names else "{}"
        dunders = f"k{op.symbol}Dunders" if op.dunders else "{}"
        attrs = f"k{op.symbol}AttrInfos" if op.attrs else "{}"
        lines.append(
            f"    {{{quote(op.name)}, {quote(op.summary)},\n"
            f"     Category::{op.category}, {op.arity}, DTypeClass::{op.operand_dtypes}, ResultRule::{op.result_rule},\n"
            f"     {flags}, {names}, {dunders}, {attrs},\n"
            f"     {quote(op.ulp_f32)}, {quote(op.ulp_f64)}, {quote(op.numpy_name)}}},\n"
        )
    lines.append("};\n\n")
    lines.append(string_list("kReduceNames", [spelling for _, spelling, _ in opset.reduce_kinds]))
    return "".join(lines)


ATTR_TYPES = {"Int": "int64_t", "Ints": "std::vector<int64_t>", "Extents": "std::vector<int64_t>", "Literal": "uint64_t"}


def emit_opattrs(opset):
    lines = [HEADER]
    for op in opset.ops:
        if not op.attrs:
            continue
        lines.append(f"\nstruct {op.symbol}Attrs {{\n  static constexpr OpKind kKind = OpKind::{op.symbol};\n")
        for a in op.attrs:
            initial = " = 0" if a.kind in ("Int", "Literal") else ""
            comment = " ///< Extents" if a.kind == "Extents" else ""
            lines.append(f"  {ATTR_TYPES[a.kind]} {a.name}{initial};{comment}\n")
        lines.append("  std::vector<int64_t> encode() const {\n    std::vector<int64_t> out;\n")
        lines += [f"    detail::put(out, {a.name});\n" for a in op.attrs]
        lines.append("    return out;\n  }\n")
        lines.append(f"  /// False when the words are not an encoding of {op.symbol}Attrs.\n")
        lines.append("  bool decode(std::span<const int64_t> in) {\n    return ")
        lines.append(" && ".join(f"detail::get(in, {a.name})" for a in op.attrs))
        lines.append(" && in.empty();\n  }\n};\n")
    return "".join(lines).rstrip("\n") + "\n"


def plain_functions(opset):
    """(python name, op) of every op reached by a plain elementwise function."""
    return sorted((name, op) for op in opset.ops if op.category == "Elementwise" for name in op.py_names)


PARAMETERS = {1: ("x",), 2: ("x1", "x2"), 3: ("x", "y", "z")}


def emit_pynames(opset):
    lines = ['"""Elementwise functions, generated from dialects/graph/GraphOps.td by tools/opgen.py; do not edit."""\n\n']
    lines.append("# Python name -> (operation, parameters, summary).\nELEMENTWISE = {\n")
    for name, op in plain_functions(opset):
        params = ", ".join(quote(p) for p in PARAMETERS[op.arity]) + ("," if op.arity == 1 else "")
        lines.append(f"    {quote(name)}: (\n        {quote(op.name)},\n        ({params}),\n")
        lines.append(f"        {quote(op.summary)},\n    ),\n")
    lines.append("}\n")
    return "".join(lines)


def emit_stubs(opset):
    lines = ["# Generated from dialects/graph/GraphOps.td by tools/opgen.py; do not edit.\n"]
    lines.append("from ._graphc import ufunc\n\n")
    for name, _ in plain_functions(opset):
        lines.append(f"{name}: ufunc\n")
    return "".join(lines)


def accuracy(bound, worst):
    """The bound in ulp, and what was measured."""
    return f"{bound} ({worst} seen)" if worst else bound


def emit_reference(opset):
    lines = ["# Operations\n\nGenerated from `dialects/graph/GraphOps.td`.\n"]
    for category in CATEGORIES + ("None",):
        ops = [op for op in opset.ops if op.category == category]
        if not ops:
            continue
        title = category if category != "None" else "Other"
        lines.append(f"\n## {title}\n\n| op | Python | operands | result | f32 ulp | f64 ulp | meaning |\n")
        lines.append("|---|---|---|---|---|---|---|\n")
        for op in ops:
            names = ", ".join(f"`{n}`" for n in op.py_names + tuple(f"__{d}__" for d in op.dunders))
            accepts = op.operand_dtypes + (", to float" if op.promote_to_float else "") + (
                ", bool to int8" if op.promote_bool else "")
            text = f"{op.summary}. {op.description}".rstrip(". ") + "."
            text = text.replace("|", "\\|")
            lines.append(f"| `graph.{op.name}` | {names} | {accepts} | {op.result_rule} | "
                         f"{accuracy(op.ulp_f32, op.worst_f32)} | {accuracy(op.ulp_f64, op.worst_f64)} | {text} |\n")
    lines.append("\n## Reductions by kind\n\n")
    lines.append(", ".join(f"`{spelling}`" for _, spelling, _ in opset.reduce_kinds) + "\n")
    return "".join(lines)


EMITTERS = {
    "opkinds": emit_opkinds,
    "optable": emit_optable,
    "opattrs": emit_opattrs,
    "pynames": emit_pynames,
    "stubs": emit_stubs,
    "reference": emit_reference,
}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--kind", choices=sorted(EMITTERS))
    parser.add_argument("--output", default="-")
    parser.add_argument("--tblgen", default="")
    parser.add_argument("--mlir-include", default="")
    parser.add_argument("--update", action="store_true")
    parser.add_argument("--check", action="store_true")
    args = parser.parse_args()
    opset = load(args.tblgen, args.mlir_include)
    if args.update or args.check:
        stale = []
        for kind, path in GENERATED.items():
            text = EMITTERS[kind](opset)
            file = ROOT / path
            if file.exists() and file.read_text() == text:
                continue
            stale.append(path)
            if args.update:
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
        for path in stale:
            print(f"{'updated' if args.update else 'stale (run tools/opgen.py --update)'}: {path}")
        return 1 if stale and args.check else 0
    if not args.kind:
        parser.error("one of --kind, --update, --check is needed")
    text = EMITTERS[args.kind](opset)
    if args.output == "-":
        sys.stdout.write(text)
    else:
        output = pathlib.Path(args.output)
        output.parent.mkdir(parents=True, exist_ok=True)
        output.write_text(text)
    return 0


if __name__ == "__main__":
    sys.exit(main())
