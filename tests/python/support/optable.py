"""The op table as the tests see it: every record of dialects/graph/GraphOps.td, so that a new op is tested by being
listed."""

import dataclasses
import functools
import json
import pathlib
import shutil
import subprocess

import numpy as np

ROOT = pathlib.Path(__file__).resolve().parents[3]


@dataclasses.dataclass(frozen=True)
class Op:
    name: str
    category: str  # Elementwise, Reduction, Movement, Contraction, Generator, Update or ""
    arity: int
    py_names: tuple
    dunders: tuple
    operand_dtypes: str  # Any, Numeric, Floating, Integer, IntegerOrBool, Boolean, Random
    result_rule: str  # SameAsOperands, Bool, Explicit, IrOnly
    promote_to_float: bool
    promote_bool: bool
    ulp_f32: float  # 0 = exact or correctly rounded
    ulp_f64: float
    numpy_name: str

    def __str__(self):
        return self.name


_CATEGORIES = ("Elementwise", "Reduction", "Movement", "Contraction", "Generator", "Update")


def _category(traits):
    for trait in traits:
        for category in _CATEGORIES:
            if trait == category or trait == f"Graph_{category}":
                return category
    return ""


@functools.cache
def all_ops():
    """Every recorded op, by name."""
    tblgen = shutil.which("llvm-tblgen-22") or shutil.which("llvm-tblgen") or "/usr/lib/llvm-22/bin/llvm-tblgen"
    text = subprocess.run(
        [tblgen, "--dump-json", "-I", ".", "-I", "/usr/lib/llvm-22/include", "dialects/graph/GraphOps.td"],
        cwd=ROOT, check=True, capture_output=True, text=True,
    ).stdout
    records = json.loads(text)
    ops = []
    for key in records["!instanceof"]["Graph_Op"]:
        record = records[key]
        op = Op(
            name=record["opName"],
            category=_category([t["def"] for t in record["traits"]]),
            arity=record["arity"],
            py_names=tuple(record["pyNames"]),
            dunders=tuple(record["dunders"]),
            operand_dtypes=records[record["operandDTypes"]["def"]]["name"],
            result_rule=records[record["resultRule"]["def"]]["name"],
            promote_to_float=bool(record["promoteToFloat"]),
            promote_bool=bool(record["promoteBool"]),
            ulp_f32=float(record["ulpF32"] or 0),
            ulp_f64=float(record["ulpF64"] or 0),
            numpy_name=record["numpyName"],
        )
        if op.result_rule != "IrOnly":
            ops.append(op)
    return tuple(sorted(ops, key=lambda op: op.name))


def elementwise():
    """The elementwise ops of real numbers; random and complex ones have tests of their own."""
    return tuple(op for op in all_ops() if op.category == "Elementwise" and op.result_rule != "ComplexOf"
                 and op.operand_dtypes not in ("Random", "ComplexFloating"))


def float_of(op, dtype):
    """The dtype in which an op of floats takes integers and bool: the smallest that has their values; quotients float64."""
    return "float64" if op.name == "div" else {1: "float16", 2: "float32"}.get(np.dtype(dtype).itemsize, "float64")
