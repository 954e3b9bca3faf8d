"""Writes PromotionTable.inc: what NumPy 2 answers, for PromoteTest.cpp. Run it by hand when NumPy's rules change.

    python tests/frontends/record/make_promotion_table.py > tests/frontends/record/PromotionTable.inc
"""

import numpy as np

NAMES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64"]


def name(dtype):
    return "".join(p.capitalize() for p in [dtype.name]).replace("Uint", "UInt")


def main():
    print(f"// Made by make_promotion_table.py with NumPy {np.__version__}.")
    print("constexpr DType kPromoted[kDTypeCount][kDTypeCount] = {")
    for a in NAMES:
        row = ", ".join(f"DType::{name(np.promote_types(a, b))}" for b in NAMES)
        print(f"    {{{row}}},")
    print("};")
    for label, scalar in (("Int", 1), ("Float", 1.0), ("Bool", True)):
        row = ", ".join(f"DType::{name(np.result_type(np.zeros(1, a), scalar))}" for a in NAMES)
        print(f"constexpr DType kWith{label}[kDTypeCount] = {{{row}}};")
    print("constexpr bool kSameKind[kDTypeCount][kDTypeCount] = {")
    for a in NAMES:
        print("    {" + ", ".join("true" if np.can_cast(a, b, "same_kind") else "false" for b in NAMES) + "},")
    print("};")
    row = ", ".join(f"DType::{name(np.sum(np.ones(1, a)).dtype)}" for a in NAMES)
    print(f"constexpr DType kSum[kDTypeCount] = {{{row}}};")
    row = ", ".join(f"DType::{name(np.mean(np.ones(1, a)).dtype)}" for a in NAMES)
    print(f"constexpr DType kMean[kDTypeCount] = {{{row}}};")


if __name__ == "__main__":
    main()
