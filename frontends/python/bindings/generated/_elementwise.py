"""Elementwise functions, generated from dialects/graph/GraphOps.td by tools/opgen.py; do not edit."""

# Python name -> (operation, parameters, summary).
ELEMENTWISE = {
    "abs": (
        "abs",
        ("x",),
        "Absolute value; abs(INT_MIN) is INT_MIN, bool is unchanged; of a complex number its distance from 0, a float",
    ),
    "absolute": (
        "abs",
        ("x",),
        "Absolute value; abs(INT_MIN) is INT_MIN, bool is unchanged; of a complex number its distance from 0, a float",
    ),
    "acos": (
        "acos",
        ("x",),
        "Inverse cosine; NaN outside [-1, 1]",
    ),
    "acosh": (
        "acosh",
        ("x",),
        "Inverse hyperbolic cosine; NaN below 1",
    ),
    "add": (
        "add",
        ("x1", "x2"),
        "Sum; integers wrap, bool is logical or",
    ),
    "arccos": (
        "acos",
        ("x",),
        "Inverse cosine; NaN outside [-1, 1]",
    ),
    "arccosh": (
        "acosh",
        ("x",),
        "Inverse hyperbolic cosine; NaN below 1",
    ),
    "arcsin": (
        "asin",
        ("x",),
        "Inverse sine; NaN outside [-1, 1]",
    ),
    "arcsinh": (
        "asinh",
        ("x",),
        "Inverse hyperbolic sine",
    ),
    "arctan": (
        "atan",
        ("x",),
        "Inverse tangent",
    ),
    "arctan2": (
        "atan2",
        ("x1", "x2"),
        "Angle of the point (x2, x1): its operands are y and x",
    ),
    "arctanh": (
        "atanh",
        ("x",),
        "Inverse hyperbolic tangent; infinite at -1 and 1, NaN outside",
    ),
    "asin": (
        "asin",
        ("x",),
        "Inverse sine; NaN outside [-1, 1]",
    ),
    "asinh": (
        "asinh",
        ("x",),
        "Inverse hyperbolic sine",
    ),
    "atan": (
        "atan",
        ("x",),
        "Inverse tangent",
    ),
    "atan2": (
        "atan2",
        ("x1", "x2"),
        "Angle of the point (x2, x1): its operands are y and x",
    ),
    "atanh": (
        "atanh",
        ("x",),
        "Inverse hyperbolic tangent; infinite at -1 and 1, NaN outside",
    ),
    "bitwise_and": (
        "bitwise_and",
        ("x1", "x2"),
        "Bitwise and",
    ),
    "bitwise_invert": (
        "bitwise_not",
        ("x",),
        "Bitwise complement; logical not for bool",
    ),
    "bitwise_left_shift": (
        "shift_left",
        ("x1", "x2"),
        "a << b; a shift by the width or more, or by a negative count, gives 0. C1: integers",
    ),
    "bitwise_not": (
        "bitwise_not",
        ("x",),
        "Bitwise complement; logical not for bool",
    ),
    "bitwise_or": (
        "bitwise_or",
        ("x1", "x2"),
        "Bitwise or",
    ),
    "bitwise_right_shift": (
        "shift_right",
        ("x1", "x2"),
        "a >> b, arithmetic for signed types; a shift by the width or more, or by a negative count, gives 0 or -1 by the sign of a. C1: integers",
    ),
    "bitwise_xor": (
        "bitwise_xor",
        ("x1", "x2"),
        "Bitwise exclusive or",
    ),
    "cbrt": (
        "cbrt",
        ("x",),
        "Cube root, of negative numbers too",
    ),
    "ceil": (
        "ceil",
        ("x",),
        "Smallest integer not below x; integers and bool are unchanged",
    ),
    "copysign": (
        "copysign",
        ("x1", "x2"),
        "|a| with the sign bit of b",
    ),
    "cos": (
        "cos",
        ("x",),
        "Cosine of x in radians",
    ),
    "cosh": (
        "cosh",
        ("x",),
        "Hyperbolic cosine",
    ),
    "divide": (
        "div",
        ("x1", "x2"),
        "True division, correctly rounded (complex: Smith's method); integers and bool are converted to the default float first",
    ),
    "equal": (
        "equal",
        ("x1", "x2"),
        "a == b",
    ),
    "erf": (
        "erf",
        ("x",),
        "Error function",
    ),
    "erfc": (
        "erfc",
        ("x",),
        "Complementary error function, 1 - erf(x), accurate where it is small",
    ),
    "exp": (
        "exp",
        ("x",),
        "e to the x",
    ),
    "exp2": (
        "exp2",
        ("x",),
        "2 to the x; exact for integers",
    ),
    "expm1": (
        "expm1",
        ("x",),
        "exp(x) - 1, accurate near zero",
    ),
    "floor": (
        "floor",
        ("x",),
        "Largest integer not above x; integers and bool are unchanged",
    ),
    "floor_divide": (
        "floor_divide",
        ("x1", "x2"),
        "floor(a / b) as NumPy defines it, a / b where one of two floats is infinite; an integer divided by 0 is 0, INT_MIN // -1 is INT_MIN",
    ),
    "fma": (
        "fma",
        ("x", "y", "z"),
        "x * y + z rounded once (floats); integers wrap",
    ),
    "greater": (
        "greater",
        ("x1", "x2"),
        "a > b",
    ),
    "greater_equal": (
        "greater_equal",
        ("x1", "x2"),
        "a >= b",
    ),
    "hypot": (
        "hypot",
        ("x1", "x2"),
        "sqrt(a * a + b * b) without overflow on the way; infinite if either operand is",
    ),
    "invert": (
        "bitwise_not",
        ("x",),
        "Bitwise complement; logical not for bool",
    ),
    "isfinite": (
        "isfinite",
        ("x",),
        "x is neither infinite nor NaN; true for integers and bool",
    ),
    "isinf": (
        "isinf",
        ("x",),
        "x is infinite; false for integers and bool",
    ),
    "isnan": (
        "isnan",
        ("x",),
        "x is NaN; false for integers and bool",
    ),
    "left_shift": (
        "shift_left",
        ("x1", "x2"),
        "a << b; a shift by the width or more, or by a negative count, gives 0. C1: integers",
    ),
    "less": (
        "less",
        ("x1", "x2"),
        "a < b",
    ),
    "less_equal": (
        "less_equal",
        ("x1", "x2"),
        "a <= b",
    ),
    "lgamma": (
        "lgamma",
        ("x",),
        "Logarithm of |gamma(x)|; infinite at 0 and negative integers; below 0 the bound is in ulp of the largest of 1, the result and lgamma(-x), above it more than 1 only near 1.4",
    ),
    "log": (
        "log",
        ("x",),
        "Natural logarithm; -inf at zero, NaN below",
    ),
    "log10": (
        "log10",
        ("x",),
        "Logarithm to base 10; exact for powers of ten",
    ),
    "log1p": (
        "log1p",
        ("x",),
        "log(1 + x), accurate near zero",
    ),
    "log2": (
        "log2",
        ("x",),
        "Logarithm to base 2; exact for powers of two",
    ),
    "logaddexp": (
        "logaddexp",
        ("x1", "x2"),
        "log(exp(a) + exp(b)) without overflow on the way; the bound is in ulp of the larger of |a|, |b| and the result",
    ),
    "logical_and": (
        "logical_and",
        ("x1", "x2"),
        "Both are nonzero",
    ),
    "logical_not": (
        "logical_not",
        ("x",),
        "x is zero",
    ),
    "logical_or": (
        "logical_or",
        ("x1", "x2"),
        "Either is nonzero",
    ),
    "logical_xor": (
        "logical_xor",
        ("x1", "x2"),
        "Exactly one is nonzero",
    ),
    "maximum": (
        "maximum",
        ("x1", "x2"),
        "Larger of two values; NaN if either is NaN; +0 is larger than -0",
    ),
    "minimum": (
        "minimum",
        ("x1", "x2"),
        "Smaller of two values; NaN if either is NaN; -0 is smaller than +0",
    ),
    "mod": (
        "remainder",
        ("x1", "x2"),
        "a - floor(a / b) * b with the sign of b; integers modulo 0 give 0",
    ),
    "multiply": (
        "mul",
        ("x1", "x2"),
        "Product; integers wrap, bool is logical and",
    ),
    "negative": (
        "neg",
        ("x",),
        "Negation; integers wrap, unsigned ones too. C1: not bool",
    ),
    "nextafter": (
        "nextafter",
        ("x1", "x2"),
        "The float next to a towards b",
    ),
    "not_equal": (
        "not_equal",
        ("x1", "x2"),
        "a != b (true for NaN)",
    ),
    "pow": (
        "pow",
        ("x1", "x2"),
        "Power; integers wrap. A negative integer exponent gives what the float result truncates to: 1 for base 1, +-1 for base -1, 0 otherwise",
    ),
    "power": (
        "pow",
        ("x1", "x2"),
        "Power; integers wrap. A negative integer exponent gives what the float result truncates to: 1 for base 1, +-1 for base -1, 0 otherwise",
    ),
    "reciprocal": (
        "reciprocal",
        ("x",),
        "1 / x, correctly rounded",
    ),
    "remainder": (
        "remainder",
        ("x1", "x2"),
        "a - floor(a / b) * b with the sign of b; integers modulo 0 give 0",
    ),
    "right_shift": (
        "shift_right",
        ("x1", "x2"),
        "a >> b, arithmetic for signed types; a shift by the width or more, or by a negative count, gives 0 or -1 by the sign of a. C1: integers",
    ),
    "rsqrt": (
        "rsqrt",
        ("x",),
        "1 / sqrt(x); infinite at zeros with their sign, NaN below",
    ),
    "sign": (
        "sign",
        ("x",),
        "-1, 0 or 1; NaN stays NaN, sign(-0.0) is 0.0; x / abs(x) of a complex number. C1: not bool",
    ),
    "signbit": (
        "signbit",
        ("x",),
        "The sign bit of x; that of a computed NaN is not specified",
    ),
    "sin": (
        "sin",
        ("x",),
        "Sine of x in radians",
    ),
    "sinh": (
        "sinh",
        ("x",),
        "Hyperbolic sine",
    ),
    "sqrt": (
        "sqrt",
        ("x",),
        "Square root, correctly rounded; NaN below zero, sqrt(-0.0) is -0.0",
    ),
    "square": (
        "square",
        ("x",),
        "x * x; integers wrap",
    ),
    "subtract": (
        "sub",
        ("x1", "x2"),
        "Difference; integers wrap. C1: operands are not bool",
    ),
    "tan": (
        "tan",
        ("x",),
        "Tangent of x in radians",
    ),
    "tanh": (
        "tanh",
        ("x",),
        "Hyperbolic tangent",
    ),
    "true_divide": (
        "div",
        ("x1", "x2"),
        "True division, correctly rounded (complex: Smith's method); integers and bool are converted to the default float first",
    ),
    "trunc": (
        "trunc",
        ("x",),
        "Integer part; integers and bool are unchanged",
    ),
}
