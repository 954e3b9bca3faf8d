"""Edge values of every dtype."""

import numpy as np

DTYPES = ("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64", "float32", "float64", "float16")
#: Floats that are computed in their own format; float16 is computed in float32 and rounded.
FLOATS = ("float32", "float64")
INTEGERS = DTYPES[1:9]

CLASSES = {
    "Any": DTYPES,  # complex numbers have tests of their own (test_complex.py)
    "AnyReal": DTYPES,
    "Numeric": DTYPES[1:],
    "RealNumeric": DTYPES[1:],
    "Inexact": DTYPES[9:],
    "Floating": DTYPES[9:],
    "Integer": INTEGERS,
    "IntegerOrBool": DTYPES[:9],
    "Boolean": ("bool",),
    "Random": (),
}


def values(dtype):
    """Every special value of a dtype plus a few ordinary ones."""
    dtype = np.dtype(dtype)
    if dtype == np.bool_:
        return np.array([False, True, True, False])
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        wanted = [info.min, info.min + 1, info.min // 2, -64, -33, -7, -3, -2, -1, 0, 1, 2, 3, 5, 7, 8, 9, 15, 16, 31, 32]
        wanted += [33, 63, 64, 65, 100, 127, info.max // 2, info.max // 3, info.max - 1, info.max]
        kept = sorted({v for v in wanted if info.min <= v <= info.max})
        return np.array(kept, dtype)
    info = np.finfo(dtype)
    wanted = [0.0, 0.5, 1.0, 1.5, 2.0, 2.5, 3.0, 7.0, 0.1, np.pi, np.e, 100.25, 1e-3, 1e10, 2147483648.0, 16777217.0]
    wanted += [9007199254740993.0, 1.8446744073709552e19, float(info.max), float(info.tiny), float(info.smallest_subnormal)]
    wanted += [float(info.tiny) / 2, 1 + float(info.eps), 1 - float(info.epsneg), np.inf]
    with np.errstate(over="ignore"):  # of float16 some are infinite
        return np.array(wanted + [-v for v in wanted] + [np.nan], dtype)


def few(dtype):
    """A dozen of them, for ternary products."""
    dtype = np.dtype(dtype)
    if dtype == np.bool_:
        return np.array([False, True])
    if dtype.kind in "iu":
        info = np.iinfo(dtype)
        return np.array(sorted({info.min, max(-3, info.min), 0, 1, 2, 7, info.max - 1, info.max}), dtype)
    info = np.finfo(dtype)
    return np.array(
        [0.0, -0.0, 1.0, -1.5, 3.25, float(info.max), -float(info.tiny), float(info.smallest_subnormal), np.inf, -np.inf, np.nan],
        dtype,
    )


def grid(count, dtype):
    """`count` arrays of one shape that together hold every combination of edge values (1-d)."""
    base = values(dtype) if count <= 2 else few(dtype)
    axes = np.meshgrid(*[base] * count, indexing="ij") if count > 1 else [base]
    return [np.ascontiguousarray(a).ravel() for a in axes]
