"""How the tests reach an elementwise op through its public name."""

import graphc as gc
import numpy as np

from . import edge, optable


def defined(op, arrays):
    """Operands that the op takes: negative powers of integers raise."""
    if op.name == "pow" and arrays[1].dtype.kind == "i":
        return [arrays[0], arrays[1] & int(np.iinfo(str(arrays[1].dtype)).max)]
    return arrays


def apply(op, arrays):
    """The op of the table on graphc arrays (or NumPy's, under the oracle)."""
    arrays = defined(op, arrays)
    if op.name == "select":
        return gc.where(*arrays)
    if op.name in ("clip", "round"):
        return getattr(gc, op.name)(*arrays)
    if op.name == "bit_count":
        return gc.bitwise_count(*arrays).astype(arrays[0].dtype)
    assert op.py_names, f"{op.name} has no Python name: say here how it is reached"
    return getattr(gc, op.py_names[0])(*arrays)


def takes(op, dtype):
    """Whether an operand of this dtype is accepted, directly or by promotion."""
    if dtype in edge.CLASSES[op.operand_dtypes] or op.operand_dtypes == "Boolean":
        return True
    return op.promote_to_float or (op.promote_bool and dtype == "bool")


def accepted(arity, dtype):
    """The ops of an arity that take a dtype; conversions have tests of their own."""
    return [op for op in optable.elementwise() if op.arity == arity and op.result_rule != "Explicit" and takes(op, dtype)]
