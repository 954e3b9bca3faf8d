// THE list of operations. One record here gives: the op, the recorder's op table, the importer's case, the Python function
// and stub, the reference page and the generated tests (tools/opgen.py). Nothing else lists ops.
#ifndef GRAPHC_GRAPH_OPS_TD
#define GRAPHC_GRAPH_OPS_TD

include "dialects/graph/GraphBase.td"

//===----------------------------------------------------------------------===//
// Elementwise arithmetic
//===----------------------------------------------------------------------===//

def AddOp : Graph_BinaryOp<"add", [Commutative]> {
  let summary = "Sum; integers wrap, bool is logical or";
  let pyNames = ["add"]; let dunders = ["add"];
}
def SubOp : Graph_BinaryOp<"sub"> {
  let summary = "Difference; integers wrap. C1: operands are not bool";
  let pyNames = ["subtract"]; let dunders = ["sub"]; let operandDTypes = NumericDType; let numpyName = "subtract";
}
def MulOp : Graph_BinaryOp<"mul", [Commutative]> {
  let summary = "Product; integers wrap, bool is logical and";
  let pyNames = ["multiply"]; let dunders = ["mul"]; let numpyName = "multiply";
}
def DivOp : Graph_BinaryOp<"div", [Graph_Expensive]> {
  let summary = "True division, correctly rounded (complex: Smith's method); integers and bool are converted to the default float first";
  let pyNames = ["divide", "true_divide"]; let dunders = ["truediv"]; let operandDTypes = InexactDType; let promoteToFloat = 1; let numpyName = "divide";
}
def FloorDivideOp : Graph_BinaryOp<"floor_divide", [Graph_Expensive]> {
  let summary = "floor(a / b) as NumPy defines it, a / b where one of two floats is infinite; an integer divided by 0 is 0, INT_MIN // -1 is INT_MIN";
  let pyNames = ["floor_divide"]; let dunders = ["floordiv"]; let operandDTypes = RealNumericDType; let promoteBool = 1;
}
def RemainderOp : Graph_BinaryOp<"remainder", [Graph_Expensive]> {
  let summary = "a - floor(a / b) * b with the sign of b; integers modulo 0 give 0";
  let pyNames = ["remainder", "mod"]; let dunders = ["mod"]; let operandDTypes = RealNumericDType; let promoteBool = 1;
}
def PowOp : Graph_BinaryOp<"pow", [Graph_Expensive]> {
  let summary = "Power; integers wrap. A negative integer exponent gives what the float result truncates to: 1 for base 1, +-1 for base -1, 0 otherwise";
  let pyNames = ["pow", "power"]; let dunders = ["pow"]; let operandDTypes = NumericDType; let promoteBool = 1; let numpyName = "power"; let ulpF32 = "1"; let ulpF64 = "1.5"; let worstF32 = "0.782"; let worstF64 = "0.971";
}
def MinimumOp : Graph_BinaryOp<"minimum", [Commutative]> {
  let summary = "Smaller of two values; NaN if either is NaN; -0 is smaller than +0";
  let pyNames = ["minimum"];
}
def MaximumOp : Graph_BinaryOp<"maximum", [Commutative]> {
  let summary = "Larger of two values; NaN if either is NaN; +0 is larger than -0";
  let pyNames = ["maximum"];
}
def FmaOp : Graph_Op<"fma", [Graph_Elementwise, SameOperandsAndResultType]> {
  let summary = "x * y + z rounded once (floats); integers wrap";
  let arguments = (ins Graph_Type:$x, Graph_Type:$y, Graph_Type:$z);
  let results = (outs Graph_Type:$result);
  let assemblyFormat = "$x `,` $y `,` $z attr-dict `:` type($x)";
  let arity = 3; let pyNames = ["fma"]; let operandDTypes = RealNumericDType;
}
def ClipOp : Graph_Op<"clip", [Graph_Elementwise, SameOperandsAndResultType]> {
  let summary = "minimum(maximum(x, lo), hi); NaN in any operand gives NaN";
  let arguments = (ins Graph_Type:$x, Graph_Type:$lo, Graph_Type:$hi);
  let results = (outs Graph_Type:$result);
  let assemblyFormat = "$x `,` $lo `,` $hi attr-dict `:` type($x)";
  let arity = 3; let operandDTypes = AnyRealDType; let numpyName = "clip";
}
def NegOp : Graph_UnaryOp<"neg"> {
  let summary = "Negation; integers wrap, unsigned ones too. C1: not bool";
  let pyNames = ["negative"]; let dunders = ["neg"]; let operandDTypes = NumericDType; let numpyName = "negative";
}
def AbsOp : Graph_RealPartOp<"abs"> {
  let summary = "Absolute value; abs(INT_MIN) is INT_MIN, bool is unchanged; of a complex number its distance from 0, a float";
  let pyNames = ["abs", "absolute"]; let dunders = ["abs"]; let numpyName = "absolute";
}
def SignOp : Graph_UnaryOp<"sign"> {
  let summary = "-1, 0 or 1; NaN stays NaN, sign(-0.0) is 0.0; x / abs(x) of a complex number. C1: not bool";
  let pyNames = ["sign"]; let operandDTypes = NumericDType;
}
def SquareOp : Graph_UnaryOp<"square"> {
  let summary = "x * x; integers wrap";
  let pyNames = ["square"]; let operandDTypes = NumericDType; let promoteBool = 1;
}
def ComplexOp : Graph_Op<"complex", [Graph_Elementwise, AllTypesMatch<["re", "im"]>,
    TypesMatchWith<"result is complex of the operands' dtype", "re", "result", "::graphc::graph::complexLike($_self)">]> {
  let summary = "The complex number of two floats, real part first. C1: the operands are float32 or float64";
  let arguments = (ins Graph_Type:$re, Graph_Type:$im);
  let results = (outs Graph_Type:$result);
  let assemblyFormat = "$re `,` $im attr-dict `:` type($re)";
  let arity = 2; let operandDTypes = FloatingDType; let promoteToFloat = 1; let resultRule = ComplexOfResult;
}
def RealOp : Graph_RealPartOp<"real"> { let summary = "Real part of a complex number"; let operandDTypes = ComplexFloatingDType; }
def ImagOp : Graph_RealPartOp<"imag"> { let summary = "Imaginary part of a complex number"; let operandDTypes = ComplexFloatingDType; }
def ConjOp : Graph_UnaryOp<"conj"> { let summary = "Complex conjugate"; let operandDTypes = ComplexFloatingDType; let numpyName = "conjugate"; }
def FloorOp : Graph_UnaryOp<"floor"> { let summary = "Largest integer not above x; integers and bool are unchanged"; let operandDTypes = AnyRealDType; let pyNames = ["floor"]; }
def CeilOp : Graph_UnaryOp<"ceil"> { let summary = "Smallest integer not below x; integers and bool are unchanged"; let operandDTypes = AnyRealDType; let pyNames = ["ceil"]; }
def TruncOp : Graph_UnaryOp<"trunc"> { let summary = "Integer part; integers and bool are unchanged"; let operandDTypes = AnyRealDType; let pyNames = ["trunc"]; }
def RoundOp : Graph_UnaryOp<"round"> {
  let summary = "Nearest integer, ties to even; integers are unchanged. C1: not bool";
  let numpyName = "rint"; let operandDTypes = NumericDType;
}

//===----------------------------------------------------------------------===//
// Elementary functions (own polynomials, compiler/math; ulp bounds are tested and published)
//===----------------------------------------------------------------------===//

// The bounds are those of floats; parts of complex results are computed from them.
class Graph_ElementaryOp<string mnemonic, DTypeClass dtypes = FloatingDType> : Graph_UnaryOp<mnemonic, [Graph_Expensive]> {
  let operandDTypes = dtypes; let promoteToFloat = 1; let pyNames = [mnemonic];
}
class Graph_ComplexElementaryOp<string mnemonic> : Graph_ElementaryOp<mnemonic, InexactDType>;
def SqrtOp : Graph_ComplexElementaryOp<"sqrt"> { let summary = "Square root, correctly rounded; NaN below zero, sqrt(-0.0) is -0.0"; }
def ExpOp : Graph_ComplexElementaryOp<"exp"> { let summary = "e to the x"; let ulpF32 = "1"; let ulpF64 = "1"; let worstF32 = "0.891"; let worstF64 = "0.887"; }
def LogOp : Graph_ComplexElementaryOp<"log"> { let summary = "Natural logarithm; -inf at zero, NaN below"; let ulpF32 = "1"; let ulpF64 = "1"; let worstF32 = "0.848"; let worstF64 = "0.855"; }
def SinOp : Graph_ComplexElementaryOp<"sin"> { let summary = "Sine of x in radians"; let ulpF32 = "1"; let ulpF64 = "1"; let worstF32 = "0.884"; let worstF64 = "0.865"; }
def CosOp : Graph_ComplexElementaryOp<"cos"> { let summary = "Cosine of x in radians"; let ulpF32 = "1"; let ulpF64 = "1"; let worstF32 = "0.891"; let worstF64 = "0.887"; }
def TanhOp : Graph_ComplexElementaryOp<"tanh"> { let summary = "Hyperbolic tangent"; let ulpF32 = "1"; let ulpF64 = "1.5"; let worstF32 = "0.708"; let worstF64 = "0.941"; }
def Expm1Op : Graph_ComplexElementaryOp<"expm1"> { let summary = "exp(x) - 1, accurate near zero"; let ulpF32 = "1"; let ulpF64 = "1"; let worstF32 = "0.865"; let worstF64 = "0.876"; }
def Log1pOp : Graph_ComplexElementaryOp<"log1p"> { let summary = "log(1 + x), accurate near zero"; let ulpF32 = "1"; let ulpF64 = "1"; let worstF32 = "0.854"; let worstF64 = "0.855"; }
def Exp2Op : Graph_ComplexElementaryOp<"exp2"> { let summary = "2 to the x; exact for integers"; let ulpF32 = "1"; let ulpF64 = "1"; let worstF32 = "0.828"; let worstF64 = "0.783"; }
def Log2Op : Graph_ComplexElementaryOp<"log2"> { let summary = "Logarithm to base 2; exact for powers of two"; let ulpF32 = "1"; let ulpF64 = "1"; let worstF32 = "0.895"; let worstF64 = "0.916"; }
def Log10Op : Graph_ComplexElementaryOp<"log10"> { let summary = "Logarithm to base 10; exact for powers of ten"; let ulpF32 = "1"; let ulpF64 = "1"; let worstF32 = "0.830"; let worstF64 = "0.805"; }
def TanOp : Graph_ComplexElementaryOp<"tan"> { let summary = "Tangent of x in radians"; let ulpF32 = "1"; let ulpF64 = "1"; let worstF32 = "0.898"; let worstF64 = "0.869"; }
def AsinOp : Graph_ComplexElementaryOp<"asin"> { let summary = "Inverse sine; NaN outside [-1, 1]"; let pyNames = ["asin", "arcsin"]; let numpyName = "arcsin"; let ulpF32 = "1"; let ulpF64 = "1"; let worstF32 = "0.638"; let worstF64 = "0.734"; }
def AcosOp : Graph_ComplexElementaryOp<"acos"> { let summary = "Inverse cosine; NaN outside [-1, 1]"; let pyNames = ["acos", "arccos"]; let numpyName = "arccos"; let ulpF32 = "1"; let ulpF64 = "1"; let worstF32 = "0.606"; let worstF64 = "0.689"; }
def AtanOp : Graph_ComplexElementaryOp<"atan"> { let summary = "Inverse tangent"; let pyNames = ["atan", "arctan"]; let numpyName = "arctan"; let ulpF32 = "1"; let ulpF64 = "1"; let worstF32 = "0.823"; let worstF64 = "0.783"; }
def SinhOp : Graph_ComplexElementaryOp<"sinh"> { let summary = "Hyperbolic sine"; let ulpF32 = "1"; let ulpF64 = "1"; let worstF32 = "0.863"; let worstF64 = "0.774"; }
def CoshOp : Graph_ComplexElementaryOp<"cosh"> { let summary = "Hyperbolic cosine"; let ulpF32 = "1"; let ulpF64 = "1"; let worstF32 = "0.626"; let worstF64 = "0.736"; }
def AsinhOp : Graph_ComplexElementaryOp<"asinh"> { let summary = "Inverse hyperbolic sine"; let pyNames = ["asinh", "arcsinh"]; let numpyName = "arcsinh"; let ulpF32 = "1"; let ulpF64 = "1"; let worstF32 = "0.857"; let worstF64 = "0.829"; }
def AcoshOp : Graph_ComplexElementaryOp<"acosh"> { let summary = "Inverse hyperbolic cosine; NaN below 1"; let pyNames = ["acosh", "arccosh"]; let numpyName = "arccosh"; let ulpF32 = "1"; let ulpF64 = "1"; let worstF32 = "0.738"; let worstF64 = "0.707"; }
def AtanhOp : Graph_ComplexElementaryOp<"atanh"> { let summary = "Inverse hyperbolic tangent; infinite at -1 and 1, NaN outside"; let pyNames = ["atanh", "arctanh"]; let numpyName = "arctanh"; let ulpF32 = "1"; let ulpF64 = "1"; let worstF32 = "0.824"; let worstF64 = "0.851"; }
def CbrtOp : Graph_ElementaryOp<"cbrt"> { let summary = "Cube root, of negative numbers too"; let ulpF32 = "1"; let ulpF64 = "1"; let worstF32 = "0.735"; let worstF64 = "0.681"; }
def ReciprocalOp : Graph_ComplexElementaryOp<"reciprocal"> { let summary = "1 / x, correctly rounded"; }
def RsqrtOp : Graph_ElementaryOp<"rsqrt"> { let summary = "1 / sqrt(x); infinite at zeros with their sign, NaN below"; let numpyName = ""; let ulpF32 = "1"; let ulpF64 = "1"; let worstF32 = "0.952"; let worstF64 = "0.674"; }
def ErfOp : Graph_ElementaryOp<"erf"> { let summary = "Error function"; let numpyName = ""; let ulpF32 = "1"; let ulpF64 = "1"; let worstF32 = "0.686"; let worstF64 = "0.768"; }
def ErfcOp : Graph_ElementaryOp<"erfc"> { let summary = "Complementary error function, 1 - erf(x), accurate where it is small"; let numpyName = ""; let ulpF32 = "1"; let ulpF64 = "1.5"; let worstF32 = "0.803"; let worstF64 = "1.108"; }
def LgammaOp : Graph_ElementaryOp<"lgamma"> {
  let summary = "Logarithm of |gamma(x)|; infinite at 0 and negative integers; below 0 the bound is in ulp of the largest of 1, the result and lgamma(-x), above it more than 1 only near 1.4";
  let numpyName = ""; let ulpF32 = "1.5"; let ulpF64 = "1.5"; let worstF32 = "0.979"; let worstF64 = "0.989";
}

class Graph_Elementary2Op<string mnemonic, list<Trait> traits = []> : Graph_BinaryOp<mnemonic, !listconcat([Graph_Expensive], traits)> {
  let operandDTypes = FloatingDType; let promoteToFloat = 1; let pyNames = [mnemonic];
}
def Atan2Op : Graph_Elementary2Op<"atan2"> { let summary = "Angle of the point (x2, x1): its operands are y and x"; let pyNames = ["atan2", "arctan2"]; let numpyName = "arctan2"; let ulpF32 = "1"; let ulpF64 = "1"; let worstF32 = "0.808"; let worstF64 = "0.732"; }
def HypotOp : Graph_Elementary2Op<"hypot", [Commutative]> { let summary = "sqrt(a * a + b * b) without overflow on the way; infinite if either operand is"; let ulpF32 = "1"; let ulpF64 = "1"; let worstF32 = "0.500"; let worstF64 = "0.500"; }
def LogAddExpOp : Graph_Elementary2Op<"logaddexp", [Commutative]> {
  let summary = "log(exp(a) + exp(b)) without overflow on the way; the bound is in ulp of the larger of |a|, |b| and the result"; let ulpF32 = "1"; let ulpF64 = "1"; let worstF32 = "0.627"; let worstF64 = "0.635";
}
def CopysignOp : Graph_BinaryOp<"copysign"> {
  let summary = "|a| with the sign bit of b"; let pyNames = ["copysign"]; let operandDTypes = FloatingDType; let promoteToFloat = 1;
}
def NextafterOp : Graph_BinaryOp<"nextafter"> {
  let summary = "The float next to a towards b"; let pyNames = ["nextafter"]; let operandDTypes = FloatingDType; let promoteToFloat = 1;
}

//===----------------------------------------------------------------------===//
// Comparison, logic, bits, selection, conversion
//===----------------------------------------------------------------------===//

def EqualOp : Graph_CompareOp<"equal", [Commutative]> { let summary = "a == b"; let pyNames = ["equal"]; let dunders = ["eq"]; }
def NotEqualOp : Graph_CompareOp<"not_equal", [Commutative]> { let summary = "a != b (true for NaN)"; let pyNames = ["not_equal"]; let dunders = ["ne"]; }
def LessOp : Graph_CompareOp<"less"> { let summary = "a < b"; let pyNames = ["less"]; let dunders = ["lt"]; }
def LessEqualOp : Graph_CompareOp<"less_equal"> { let summary = "a <= b"; let pyNames = ["less_equal"]; let dunders = ["le"]; }
def GreaterOp : Graph_CompareOp<"greater"> { let summary = "a > b"; let pyNames = ["greater"]; let dunders = ["gt"]; }
def GreaterEqualOp : Graph_CompareOp<"greater_equal"> { let summary = "a >= b"; let pyNames = ["greater_equal"]; let dunders = ["ge"]; }

// The frontend casts operands of logical ops to bool (x != 0), so the primitive sees bool only.
class Graph_LogicalOp<string mnemonic> : Graph_BinaryOp<mnemonic, [Commutative]> {
  let operandDTypes = BooleanDType; let pyNames = [mnemonic];
}
def LogicalAndOp : Graph_LogicalOp<"logical_and"> { let summary = "Both are nonzero"; }
def LogicalOrOp : Graph_LogicalOp<"logical_or"> { let summary = "Either is nonzero"; }
def LogicalXorOp : Graph_LogicalOp<"logical_xor"> { let summary = "Exactly one is nonzero"; }
def LogicalNotOp : Graph_UnaryOp<"logical_not"> { let summary = "x is zero"; let operandDTypes = BooleanDType; let pyNames = ["logical_not"]; }

class Graph_BitwiseOp<string mnemonic, list<Trait> traits = []> : Graph_BinaryOp<mnemonic, traits> {
  let operandDTypes = IntegerOrBoolDType; let pyNames = [mnemonic];
}
def BitwiseAndOp : Graph_BitwiseOp<"bitwise_and", [Commutative]> { let summary = "Bitwise and"; let dunders = ["and"]; }
def BitwiseOrOp : Graph_BitwiseOp<"bitwise_or", [Commutative]> { let summary = "Bitwise or"; let dunders = ["or"]; }
def BitwiseXorOp : Graph_BitwiseOp<"bitwise_xor", [Commutative]> { let summary = "Bitwise exclusive or"; let dunders = ["xor"]; }
def BitwiseNotOp : Graph_UnaryOp<"bitwise_not"> {
  let summary = "Bitwise complement; logical not for bool";
  let operandDTypes = IntegerOrBoolDType; let pyNames = ["bitwise_not", "bitwise_invert", "invert"]; let dunders = ["invert"]; let numpyName = "invert";
}
def BitCountOp : Graph_UnaryOp<"bit_count"> { let summary = "How many bits are set, in the dtype of x; bool as it is"; let operandDTypes = IntegerOrBoolDType; let numpyName = ""; }
def ShiftLeftOp : Graph_BinaryOp<"shift_left"> {
  let summary = "a << b; a shift by the width or more, or by a negative count, gives 0. C1: integers";
  let operandDTypes = IntegerDType; let promoteBool = 1; let pyNames = ["bitwise_left_shift", "left_shift"]; let dunders = ["lshift"]; let numpyName = "left_shift";
}
def ShiftRightOp : Graph_BinaryOp<"shift_right"> {
  let summary = "a >> b, arithmetic for signed types; a shift by the width or more, or by a negative count, gives 0 or -1 by the sign of a. C1: integers";
  let operandDTypes = IntegerDType; let promoteBool = 1; let pyNames = ["bitwise_right_shift", "right_shift"]; let dunders = ["rshift"]; let numpyName = "right_shift";
}
def IsNanOp : Graph_PredicateOp<"isnan"> { let summary = "x is NaN; false for integers and bool"; let pyNames = ["isnan"]; }
def IsInfOp : Graph_PredicateOp<"isinf"> { let summary = "x is infinite; false for integers and bool"; let pyNames = ["isinf"]; }
def IsFiniteOp : Graph_PredicateOp<"isfinite"> { let summary = "x is neither infinite nor NaN; true for integers and bool"; let pyNames = ["isfinite"]; }
def SignbitOp : Graph_PredicateOp<"signbit"> { let operandDTypes = AnyRealDType; let summary = "The sign bit of x; that of a computed NaN is not specified"; let pyNames = ["signbit"]; }

def SelectOp : Graph_Op<"select", [Graph_Elementwise, AllTypesMatch<["x", "y", "result"]>,
    TypesMatchWith<"condition is bool of the operands' shape", "x", "condition", "::graphc::graph::boolLike($_self)">]> {
  let summary = "x where the condition holds, else y";
  let arguments = (ins Graph_Type:$condition, Graph_Type:$x, Graph_Type:$y);
  let results = (outs Graph_Type:$result);
  let assemblyFormat = "$condition `,` $x `,` $y attr-dict `:` type($x)";
  let arity = 3; let numpyName = "where";
}
def CastOp : Graph_Op<"cast", [Graph_Elementwise, SameOperandsAndResultShape]> {
  let summary = "Conversion to the result's dtype: float to integer truncates and saturates (NaN gives 0), integers wrap, anything to bool is x != 0";
  let arguments = (ins Graph_Type:$x);
  let results = (outs Graph_Type:$result);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($result)";
  let arity = 1; let resultRule = ExplicitResult; let numpyName = "astype"; let hasVerifier = 1;
}
def BitcastOp : Graph_Op<"bitcast", [Graph_Elementwise, SameOperandsAndResultShape]> {
  let summary = "The bits of x as the result's dtype. C1: both are real numbers (not bool) of one width";
  let arguments = (ins Graph_Type:$x);
  let results = (outs Graph_Type:$result);
  let assemblyFormat = "$x attr-dict `:` type($x) `->` type($result)";
  let arity = 1; let resultRule = ExplicitResult; let operandDTypes = RealNumericDType; let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Random numbers: functions of an element's index, a stream and a key (docs/random.md)
//===----------------------------------------------------------------------===//

class Graph_BitsOp<string mnemonic>
    : Graph_Op<mnemonic, [Graph_Elementwise, Graph_Expensive, SameOperandsAndResultType]> {
  let arguments = (ins Graph_Type:$index, Graph_Type:$stream, Graph_Type:$key);
  let results = (outs Graph_Type:$result);
  let assemblyFormat = "$index `,` $stream `,` $key attr-dict `:` type($index)";
  let arity = 3; let operandDTypes = RandomDType;
}
def Philox64Op : Graph_BitsOp<"philox64"> { let summary = "64 random bits of an element by Philox4x32-10; two elements share a counter"; }
def Philox32Op : Graph_BitsOp<"philox32"> { let summary = "32 random bits of an element by Philox4x32-10, zero extended; four elements share a counter"; }

// Attempts follow each other in the words of streams stream, stream + 1, ...; docs/random.md says how many an op may use.
def RandomGammaOp : Graph_Op<"random_gamma", [Graph_Elementwise, Graph_Expensive, AllTypesMatch<["index", "stream", "key"]>,
    AllTypesMatch<["shape", "result"]>]> {
  let summary = "A draw of the standard gamma distribution of a shape of at least 1 (Marsaglia and Tsang); NaN below";
  let arguments = (ins Graph_Type:$index, Graph_Type:$stream, Graph_Type:$key, Graph_Type:$shape);
  let results = (outs Graph_Type:$result);
  let assemblyFormat = "$index `,` $stream `,` $key `,` $shape attr-dict `:` type($index) `,` type($shape)";
  let arity = 4; let operandDTypes = RandomDType;
}
def RandomPoissonOp : Graph_Op<"random_poisson", [Graph_Elementwise, Graph_Expensive, AllTypesMatch<["index", "stream", "key"]>,
    AllTypesMatch<["mean", "result"]>]> {
  let summary = "A draw of the Poisson distribution of a mean, as a float: inversion below 10, Hörmann's PTRS from there; NaN for a negative mean";
  let arguments = (ins Graph_Type:$index, Graph_Type:$stream, Graph_Type:$key, Graph_Type:$mean);
  let results = (outs Graph_Type:$result);
  let assemblyFormat = "$index `,` $stream `,` $key `,` $mean attr-dict `:` type($index) `,` type($mean)";
  let arity = 4; let operandDTypes = RandomDType;
}
def RandomBinomialOp : Graph_Op<"random_binomial", [Graph_Elementwise, Graph_Expensive, AllTypesMatch<["index", "stream", "key"]>,
    AllTypesMatch<["trials", "probability", "result"]>]> {
  let summary = "A draw of the binomial distribution, as a float: inversion for a mean below 10, Hörmann's BTRS from there; NaN for a probability outside [0, 1]";
  let arguments = (ins Graph_Type:$index, Graph_Type:$stream, Graph_Type:$key, Graph_Type:$trials, Graph_Type:$probability);
  let results = (outs Graph_Type:$result);
  let assemblyFormat = "$index `,` $stream `,` $key `,` $trials `,` $probability attr-dict `:` type($index) `,` type($trials)";
  let arity = 5; let operandDTypes = RandomDType;
}

def RandomVonMisesOp : Graph_Op<"random_von_mises", [Graph_Elementwise, Graph_Expensive, AllTypesMatch<["index", "stream", "key"]>,
    AllTypesMatch<["kappa", "result"]>]> {
  let summary = "A draw of the von Mises distribution around 0, in radians (Best and Fisher); NaN for a negative concentration";
  let arguments = (ins Graph_Type:$index, Graph_Type:$stream, Graph_Type:$key, Graph_Type:$kappa);
  let results = (outs Graph_Type:$result);
  let assemblyFormat = "$index `,` $stream `,` $key `,` $kappa attr-dict `:` type($index) `,` type($kappa)";
  let arity = 4; let operandDTypes = RandomDType;
}

//===----------------------------------------------------------------------===//
// Generators: values without tensor operands
//===----------------------------------------------------------------------===//

def FullOp : Graph_Op<"full", [Graph_Generator]> {
  let summary = "A tensor of one value, a typed literal; sizes of `?` dimensions are operands";
  let description = [{ C1: the literal has the result's dtype; of complex numbers it is the real part, and the imaginary one is 0. C2: one operand per `?`. }];
  let arguments = (ins TypedAttrInterface:$value, Variadic<Index>:$sizes);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$value (`to` `(` $sizes^ `)`)? attr-dict `:` type($result)";
  let arity = 0; let resultRule = ExplicitResult; let hasVerifier = 1;
  let recordAttrs = [LiteralAttr<"value">];
}
def IotaOp : Graph_Op<"iota", [Graph_Generator]> {
  let summary = "0, 1, 2, ... along axis 0 of a rank-1 tensor, converted to the result's dtype";
  let arguments = (ins Variadic<Index>:$sizes);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "(`to` `(` $sizes^ `)`)? attr-dict `:` type($result)";
  let arity = 0; let resultRule = ExplicitResult; let hasVerifier = 1;
}
def ExtentOp : Graph_Op<"extent", [Graph_Generator]> {
  let summary = "Product of the named sizes of a tensor as a 0-d value: a count that follows the sizes without recompiling";
  let arguments = (ins Graph_Tensor:$x, DenseI64ArrayAttr:$axes);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$x `axes` $axes attr-dict `:` type($x) `->` type($result)";
  let arity = 1; let resultRule = ExplicitResult; let hasVerifier = 1;
  let recordAttrs = [IntsAttr<"axes">];
}

def DimOp : Graph_Op<"dim", []> {
  let summary = "Size of one axis (IR only: the recorder names sizes by symbols)";
  let arguments = (ins Graph_Tensor:$x, I64Attr:$axis);
  let results = (outs Index:$result);
  let assemblyFormat = "$x `,` $axis attr-dict `:` type($x)";
  let arity = 0; let resultRule = IrOnlyResult; let hasVerifier = 1;
}

//===----------------------------------------------------------------------===//
// Movement: index maps, never arithmetic
//===----------------------------------------------------------------------===//

def BroadcastOp : Graph_Op<"broadcast", [Graph_Movement]> {
  let summary = "Repeat along new or size-1 axes: axis i of the operand is axis dims[i] of the result";
  let description = [{ C1: dims is strictly increasing, one entry per operand axis. C2: an operand size is 1 or equals the result's. }];
  let arguments = (ins Graph_Tensor:$x, Variadic<Index>:$sizes, DenseI64ArrayAttr:$dims);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$x (`to` `(` $sizes^ `)`)? `dims` $dims attr-dict `:` type($x) `->` type($result)";
  let arity = 1; let hasVerifier = 1;
  let recordAttrs = [IntsAttr<"dims">];
}
def TransposeOp : Graph_Op<"transpose", [Graph_Movement]> {
  let summary = "Axis i of the result is axis permutation[i] of the operand";
  let description = [{ C1: permutation is a permutation of the axes. }];
  let arguments = (ins Graph_Tensor:$x, DenseI64ArrayAttr:$permutation);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$x `permutation` $permutation attr-dict `:` type($x) `->` type($result)";
  let arity = 1; let hasVerifier = 1;
  let recordAttrs = [IntsAttr<"permutation">];
}
def ReshapeOp : Graph_Op<"reshape", [Graph_Movement]> {
  let summary = "The same elements in row-major order under another shape";
  let description = [{ C1: element counts agree. }];
  let arguments = (ins Graph_Tensor:$x, Variadic<Index>:$sizes);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$x (`to` `(` $sizes^ `)`)? attr-dict `:` type($x) `->` type($result)";
  let arity = 1; let hasVerifier = 1;
}
def SliceOp : Graph_Op<"slice", [Graph_Movement, AttrSizedOperandSegments]> {
  let summary = "Elements starts + i * steps of each axis; a step may be negative, not zero";
  let description = [{ Entries of static_starts that are ShapedType::kDynamic take the next operand of starts. C1: one start and step per axis. C2: no step is 0. C3: every element read lies inside the operand. }];
  let arguments = (ins Graph_Tensor:$x, Variadic<Index>:$starts, Variadic<Index>:$sizes, DenseI64ArrayAttr:$static_starts, DenseI64ArrayAttr:$steps);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$x `from` custom<DynamicIndexList>($starts, $static_starts) `step` $steps (`to` `(` $sizes^ `)`)? attr-dict `:` type($x) `->` type($result)";
  let arity = 1; let hasVerifier = 1;
  let recordAttrs = [ExtentsAttr<"starts">, IntsAttr<"steps">];
}
def FlipOp : Graph_Op<"flip", [Graph_Movement]> {
  let summary = "Reverse the named axes (decomposed into a slice with step -1)";
  let description = [{ C1: axes are distinct and in range. }];
  let arguments = (ins Graph_Tensor:$x, DenseI64ArrayAttr:$axes);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$x `axes` $axes attr-dict `:` type($x) `->` type($result)";
  let arity = 1; let hasVerifier = 1;
  let recordAttrs = [IntsAttr<"axes">];
}
def ConcatenateOp : Graph_Op<"concatenate", [AttrSizedOperandSegments]> {
  let summary = "Tensors joined along an axis (decomposed into updates of one new tensor)";
  let description = [{ C1: ranks and dtypes agree. C2: sizes off the axis agree. C3: axis is in range. }];
  let arguments = (ins Variadic<Graph_Tensor>:$inputs, Variadic<Index>:$sizes, I64Attr:$axis);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$inputs (`to` `(` $sizes^ `)`)? `axis` $axis attr-dict `:` type($inputs) `->` type($result)";
  let arity = -1; let hasVerifier = 1;
  let recordAttrs = [IntAttr<"axis">];
}
def UpdateSliceOp : Graph_Op<"update_slice", [Graph_Update]> {
  let summary = "x with the elements starts + i * steps replaced by value; in place when x has no other reader";
  let description = [{ C1: one start and step per axis, no step 0. C2: dtypes agree. C3: the region lies inside x. }];
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$value, Variadic<Index>:$starts, DenseI64ArrayAttr:$static_starts, DenseI64ArrayAttr:$steps);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$value `into` $x `from` custom<DynamicIndexList>($starts, $static_starts) `step` $steps attr-dict `:` type($value) `into` type($x) `->` type($result)";
  let arity = 2; let hasVerifier = 1;
  let recordAttrs = [ExtentsAttr<"starts">, IntsAttr<"steps">];
}

//===----------------------------------------------------------------------===//
// Places that are values
//===----------------------------------------------------------------------===//

def GatherOp : Graph_Op<"gather", [Graph_Indexed]> {
  let summary = "Elements of x at the places that index tensors name along some axes; the other axes are whole";
  let description = [{
    The result has the sizes of x without `axes`, with those of the indices inserted at `position`. A negative index counts
    from the end; an index outside the axis refuses the call while it runs. C1: indices are i64 of one shape, one an axis.
    C2: axes are increasing and in range. C3: position lies among the other axes.
  }];
  let arguments = (ins Graph_Tensor:$x, Variadic<Graph_Tensor>:$indices, DenseI64ArrayAttr:$axes, I64Attr:$position);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$x `[` $indices `]` `axes` $axes `at` $position attr-dict `:` type($x) `[` type($indices) `]` `->` type($result)";
  let arity = -1; let hasVerifier = 1;
  let recordAttrs = [IntsAttr<"axes">, IntAttr<"position">];
}
def ScatterOp : Graph_Op<"scatter", [Graph_Indexed]> {
  let summary = "x with value written at the places that index tensors name, or combined with what is there, in row-major order of value";
  let description = [{
    Sizes and indices as for a gather whose result is value. C1: indices are i64 of one shape, one an axis. C2: axes are
    increasing and in range. C3: position lies among the other axes. C4: value has x's dtype and the sizes of the gather.
    C5: `combine` is empty (write) or names an elementwise operation of two operands. `unique`: no place is named twice, so
    that the order does not matter. `drop`: an index that is not in [0, size) is left out. `sorted`: what is written to one place is
    written by neighbours of the axis of indices (graphc-sort-places).
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$value, Variadic<Graph_Tensor>:$indices, DenseI64ArrayAttr:$axes, I64Attr:$position,
    StrAttr:$combine, UnitAttr:$unique, UnitAttr:$drop, UnitAttr:$sorted);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$value `into` $x `[` $indices `]` `axes` $axes `at` $position `combine` $combine (`unique` $unique^)? (`drop` $drop^)? (`sorted` $sorted^)? attr-dict `:` type($value) `into` type($x) `[` type($indices) `]` `->` type($result)";
  let arity = -1; let hasVerifier = 1;
  // combine: number of the operation, -1 to write. mode: 1 unique, 2 drop, or both.
  let recordAttrs = [IntsAttr<"axes">, IntAttr<"position">, IntAttr<"combine">, IntAttr<"mode">];
}

//===----------------------------------------------------------------------===//
// Reductions and contractions
//===----------------------------------------------------------------------===//

def ReduceKind : I32EnumAttr<"ReduceKind", "what a reduction computes", [
  I32EnumAttrCase<"Sum", 0, "sum">, I32EnumAttrCase<"Prod", 1, "prod">, I32EnumAttrCase<"Min", 2, "min">,
  I32EnumAttrCase<"Max", 3, "max">, I32EnumAttrCase<"Any", 4, "any">, I32EnumAttrCase<"All", 5, "all">,
  I32EnumAttrCase<"Mean", 6, "mean">, I32EnumAttrCase<"ArgMin", 7, "argmin">, I32EnumAttrCase<"ArgMax", 8, "argmax">]> {
  let cppNamespace = "::graphc::graph"; let genSpecializedAttr = 0;
}
def ReduceKindAttr : EnumAttr<Graph_Dialect, ReduceKind, "reduce_kind"> { let assemblyFormat = "`<` $value `>`"; }

def ReduceOp : Graph_Op<"reduce", [Graph_Reduction]> {
  let summary = "Combine along axes: sum, prod, min, max, any, all, mean, argmin, argmax";
  let description = [{
    C1: axes are distinct, increasing, in range. C2: any and all take bool; sum, prod and mean do not.
    C3: argmin and argmax give i64, reduce one axis, and return the first of equal elements; NaN wins.
    C4: min, max, argmin and argmax of zero elements are refused. C5: mean is of a float or complex dtype.
    C6: complex numbers have sums and means only. Axes are removed from the
    result (keepdims is a reshape). Float sums and products follow the canonical tree (docs/numerics.md).
  }];
  let arguments = (ins ReduceKindAttr:$kind, Graph_Tensor:$x, DenseI64ArrayAttr:$axes);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$kind $x `axes` $axes attr-dict `:` type($x) `->` type($result)";
  let arity = 1; let resultRule = ExplicitResult; let hasVerifier = 1;
  let recordAttrs = [IntAttr<"kind">, IntsAttr<"axes">];
}
def ScanOp : Graph_Op<"scan", [Graph_Scan, SameOperandsAndResultType]> {
  let summary = "Running sums, products or extremes along an axis: element i combines elements 0 to i";
  let description = [{
    C1: axis is in range. C2: the kind is sum, prod, min or max, and the dtype is not bool. C3: complex numbers have sums only.
    Integers wrap; sums and products of floats follow the tree of
    scans (docs/numerics.md).
  }];
  let arguments = (ins ReduceKindAttr:$kind, Graph_Tensor:$x, I64Attr:$axis);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$kind $x `axis` $axis attr-dict `:` type($x)";
  let arity = 1; let hasVerifier = 1;
  let recordAttrs = [IntAttr<"kind">, IntAttr<"axis">];
}
def MatmulOp : Graph_Op<"matmul", [Graph_Contraction]> {
  let summary = "Matrix product over the last axis of x and the second last of y; leading axes are batch axes";
  let description = [{
    C1: both operands have the same rank, at least 2, and the same dtype (the frontend broadcasts batch axes and lifts vectors).
    C2: contracted sizes agree. C3: batch sizes agree. Floats: per element an fma chain in increasing k, cut into blocks of
    2048, four blocks a run (docs/numerics.md). Integers wrap, bool is or of ands. `fast`: products of 16-bit floats may be
    summed in float32 in any order.
  }];
  let arguments = (ins Graph_Tensor:$x, Graph_Tensor:$y, UnitAttr:$fast);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$x `,` $y (`fast` $fast^)? attr-dict `:` type($x) `,` type($y) `->` type($result)";
  let arity = 2; let hasVerifier = 1;
  // fast: 0 or 1.
  let recordAttrs = [IntAttr<"fast">];
}

//===----------------------------------------------------------------------===//
// Library
//===----------------------------------------------------------------------===//

def LibraryOp : Graph_Op<"library", [Graph_Library, AttrSizedOperandSegments]> {
  let summary = "A routine of the runtime's host library: sorting, searching, linear algebra";
  let description = [{
    C1: the routine exists and takes these operands and parameters (runtime/base/Routine.h). It reads whole tensors and fuses
    with nothing; its operands and its result are the only temporaries. On a device that is not the CPU its operands are read
    back and its result is uploaded, but for those that have kernels on GPUs (hasGroupKernels). Sorting and searching give the same bits everywhere; linear algebra by LAPACK repeats on
    one machine with one LAPACK and is exempt from equality between machines.
  }];
  let arguments = (ins StrAttr:$routine, Variadic<Graph_Tensor>:$inputs, Variadic<Index>:$sizes, DenseI64ArrayAttr:$params);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "$routine $inputs (`to` `(` $sizes^ `)`)? `params` $params attr-dict `:` type($inputs) `->` type($result)";
  let arity = -1; let resultRule = ExplicitResult; let hasVerifier = 1;
  let recordAttrs = [IntAttr<"routine">, IntsAttr<"params">];
}

#endif // GRAPHC_GRAPH_OPS_TD
