"""Writes PromotionTable.inc: what NumPy 2 answers, for PromoteTest.cpp. Run it by hand when NumPy's rules change.

    python tests/frontends/record/make_promotion_table.py > tests/frontends/record/PromotionTable.inc
"""

import numpy as np

NAMES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "float16", "bfloat16",
         "complex64", "complex128"]


def stand_in(name):
    """What NumPy's rules say of bfloat16 is what they say of float16, with its name."""
    return "float16" if name == "bfloat16" else name


def promoted(a, b):
    if "bfloat16" not in (a, b) or a == b:
        return a if a == b else np.promote_types(a, b).name
    other = b if a == "bfloat16" else a
    if other == "float16":
        return "float32"
    found = np.promote_types("float16", other).name
    return "bfloat16" if found == "float16" else found


def with_scalar(a, scalar):
    found = np.result_type(np.zeros(1, stand_in(a)), scalar).name
    return "bfloat16" if a == "bfloat16" and found == "float16" else found


def reduced(function, a):
    found = function(np.ones(1, stand_in(a))).dtype.name
    return "bfloat16" if a == "bfloat16" else found


def name(dtype):
    if dtype == "bfloat16":
        return "BFloat16"
    dtype = np.dtype(dtype)
    return "".join(p.capitalize() for p in [dtype.name]).replace("Uint", "UInt")


def main():
    print(f"// Made by make_promotion_table.py with NumPy {np.__version__}.")
    print("constexpr DType kPromoted[kDTypeCount][kDTypeCount] = {")
    for a in NAMES:
        row = ", ".join(f"DType::{name(promoted(a, b))}" for b in NAMES)
        print(f"    {{{row}}},")
    print("};")
    for label, scalar in (("Int", 1), ("Float", 1.0), ("Complex", 1j), ("Bool", True)):
        row = ", ".join(f"DType::{name(with_scalar(a, scalar))}" for a in NAMES)
        print(f"constexpr DType kWith{label}[kDTypeCount] = {{{row}}};")
    print("constexpr bool kSameKind[kDTypeCount][kDTypeCount] = {")
    for a in NAMES:
        print("    {" + ", ".join("true" if np.can_cast(stand_in(a), stand_in(b), "same_kind") else "false" for b in NAMES) + "},")
    print("};")
    row = ", ".join(f"DType::{name(reduced(np.sum, a))}" for a in NAMES)
    print(f"constexpr DType kSum[kDTypeCount] = {{{row}}};")
    row = ", ".join(f"DType::{name(reduced(np.mean, a))}" for a in NAMES)
    print(f"constexpr DType kMean[kDTypeCount] = {{{row}}};")


if __name__ == "__main__":
    main()
