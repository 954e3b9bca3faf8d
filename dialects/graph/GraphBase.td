// The graph dialect: whole tensors, value semantics, explicit broadcasts. Traits carry what passes may ask of an op;
// no pass holds a list of op names.
#ifndef GRAPHC_GRAPH_BASE_TD
#define GRAPHC_GRAPH_BASE_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Graph_Dialect : Dialect {
  let name = "graph";
  let cppNamespace = "::graphc::graph";
  let summary = "Whole-tensor array operations";
  let description = [{
    What is computed. Values are ranked tensors; a size that is not known at compile time is `?`, and ops whose result
    sizes do not follow from their operands take them as `index` operands. Signed integers are signless (`i8`..`i64`),
    unsigned ones `ui8`..`ui64`, bool is `i1`. Elementwise ops also accept scalars and vectors: the same op is the body
    of a fused kernel (dialects/kernel) and of a vectorized loop, so its meaning is written once.
  }];
  let useDefaultAttributePrinterParser = 1;
}

// Categories. Passes ask for these; `tools/opgen.py` copies them into the op table of dialects/opset.
def Graph_Elementwise : NativeOpTrait<"Elementwise"> { let cppNamespace = "::graphc::graph"; }
def Graph_Reduction : NativeOpTrait<"Reduction"> { let cppNamespace = "::graphc::graph"; }
def Graph_Scan : NativeOpTrait<"Scan"> { let cppNamespace = "::graphc::graph"; }
def Graph_Movement : NativeOpTrait<"Movement"> { let cppNamespace = "::graphc::graph"; }
// Computed by a routine of the runtime on host memory (runtime/base/Routine.h), never inside a kernel.
def Graph_Library : NativeOpTrait<"Library"> { let cppNamespace = "::graphc::graph"; }
def Graph_Contraction : NativeOpTrait<"Contraction"> { let cppNamespace = "::graphc::graph"; }
def Graph_Generator : NativeOpTrait<"Generator"> { let cppNamespace = "::graphc::graph"; }
// Costs about as much as ten to twenty simple operations; recomputing it is not free.
def Graph_Expensive : NativeOpTrait<"Expensive"> { let cppNamespace = "::graphc::graph"; }
def Graph_Update : NativeOpTrait<"Update"> { let cppNamespace = "::graphc::graph"; }
// Reads or writes one tensor at places that others name.
def Graph_Indexed : NativeOpTrait<"Indexed"> { let cppNamespace = "::graphc::graph"; }

// Operand dtype classes and result dtype rules, enforced by opset inference when recorded and by the verifier here.
// AnyDType: every dtype. Numeric: every dtype but bool. Inexact: floats and complex numbers. Floating: the floats.
// IntegerOrBool: bool and integers. Boolean. Real in a name leaves complex numbers out.
class DTypeClass<string n> { string name = n; }
def AnyDType : DTypeClass<"Any">;
def AnyRealDType : DTypeClass<"AnyReal">;
def NumericDType : DTypeClass<"Numeric">;
def RealNumericDType : DTypeClass<"RealNumeric">;
def InexactDType : DTypeClass<"Inexact">;
def FloatingDType : DTypeClass<"Floating">;
def ComplexFloatingDType : DTypeClass<"ComplexFloating">;
def IntegerDType : DTypeClass<"Integer">;
def IntegerOrBoolDType : DTypeClass<"IntegerOrBool">;
def BooleanDType : DTypeClass<"Boolean">;
// Three ui64 words (element index, stream, key), then f64 parameters.
def RandomDType : DTypeClass<"Random">;

// SameAsOperands: promoted operand dtype. BoolResult: bool. Explicit: carried by the node. RealPart: the dtype of one part of
// a complex operand, other dtypes as they are. ComplexOf: the complex dtype of two parts.
class ResultRule<string n> { string name = n; }
def SameAsOperands : ResultRule<"SameAsOperands">;
def BoolResult : ResultRule<"Bool">;
def ExplicitResult : ResultRule<"Explicit">;
def RealPartResult : ResultRule<"RealPart">;
def ComplexOfResult : ResultRule<"ComplexOf">;
// Not recorded: exists in IR only and is left out of the op table.
def IrOnlyResult : ResultRule<"IrOnly">;

// Attribute payloads as the recorder knows them. `Extents` entries are sizes: symbolic in a GraphDesc, index operands here.
class RecordAttr<string n, string k> { string name = n; string kind = k; }
class IntAttr<string n> : RecordAttr<n, "Int">;
class IntsAttr<string n> : RecordAttr<n, "Ints">;
class ExtentsAttr<string n> : RecordAttr<n, "Extents">;
class LiteralAttr<string n> : RecordAttr<n, "Literal">;

class Graph_Op<string mnemonic, list<Trait> traits = []>
    : Op<Graph_Dialect, mnemonic, !listconcat([Pure], traits)> {
  // Names under which Python reaches the op: module functions and array methods with the plain elementwise or
  // reduction signature. Ops whose Python signature is special leave this empty.
  list<string> pyNames = [];
  // Python operator dunders (without underscores): "add" gives __add__, __radd__, __iadd__.
  list<string> dunders = [];
  DTypeClass operandDTypes = AnyDType;
  ResultRule resultRule = SameAsOperands;
  // Integer and bool operands are converted to the default float first (NumPy: sqrt(int64) is float64).
  bit promoteToFloat = 0;
  // Bool operands are converted to int8 first (NumPy refuses or widens; see the rule in the description).
  bit promoteBool = 0;
  int arity = 1;
  list<RecordAttr> recordAttrs = [];
  // Largest difference from the correctly rounded value, in ulp, as published ("" = exact or correctly rounded).
  string ulpF32 = "";
  string ulpF64 = "";
  // The largest error measured (compiler/math/README.md says over what), for the reference page.
  string worstF32 = "";
  string worstF64 = "";
  // Reference expression for generated tests: NumPy function name.
  string numpyName = "";
  // Read by the Elementwise trait's verifier.
  let extraClassDeclaration = "static constexpr const char *kOperandDTypes = \"" # operandDTypes.name # "\";";
}

// The dtypes: bool, signed (signless) and unsigned integers, floats (those of 16 bits are computed in f32), complex numbers.
defvar Graph_RealDTypes = [I1, I8, I16, I32, I64, UI8, UI16, UI32, UI64, F16, BF16, F32, F64];
defvar Graph_ComplexDTypes = [Complex<F32>, Complex<F64>];
def Graph_DType : AnyTypeOf<!listconcat(!foreach(t, Graph_RealDTypes, !cast<Type>(t)), !foreach(t, Graph_ComplexDTypes, !cast<Type>(t)))>;
def Graph_Tensor : RankedTensorOf<[Graph_DType]>;
// Vectors appear where complex numbers have become two values.
def Graph_Type : AnyTypeOf<[Graph_Tensor, VectorOfAnyRankOf<Graph_RealDTypes>, Graph_DType]>;

class Graph_UnaryOp<string mnemonic, list<Trait> traits = []>
    : Graph_Op<mnemonic, !listconcat([Graph_Elementwise, SameOperandsAndResultType], traits)> {
  let arguments = (ins Graph_Type:$x);
  let results = (outs Graph_Type:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let arity = 1;
  let numpyName = mnemonic;
}

class Graph_BinaryOp<string mnemonic, list<Trait> traits = []>
    : Graph_Op<mnemonic, !listconcat([Graph_Elementwise, SameOperandsAndResultType], traits)> {
  let arguments = (ins Graph_Type:$lhs, Graph_Type:$rhs);
  let results = (outs Graph_Type:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs)";
  let arity = 2;
  let numpyName = mnemonic;
}

// Result: bool of the operands' shape.
class Graph_CompareOp<string mnemonic, list<Trait> traits = []>
    : Graph_Op<mnemonic, !listconcat([Graph_Elementwise, SameTypeOperands,
        TypesMatchWith<"result is bool of the operands' shape", "lhs", "result", "::graphc::graph::boolLike($_self)">], traits)> {
  let arguments = (ins Graph_Type:$lhs, Graph_Type:$rhs);
  let results = (outs Graph_Type:$result);
  let assemblyFormat = "$lhs `,` $rhs attr-dict `:` type($lhs)";
  let arity = 2;
  let resultRule = BoolResult;
  let numpyName = mnemonic;
}

class Graph_PredicateOp<string mnemonic>
    : Graph_Op<mnemonic, [Graph_Elementwise,
        TypesMatchWith<"result is bool of the operand's shape", "x", "result", "::graphc::graph::boolLike($_self)">]> {
  let arguments = (ins Graph_Type:$x);
  let results = (outs Graph_Type:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let arity = 1;
  let resultRule = BoolResult;
  let numpyName = mnemonic;
}

// Result: the parts' dtype of a complex operand, the operand's otherwise.
class Graph_RealPartOp<string mnemonic, list<Trait> traits = []>
    : Graph_Op<mnemonic, !listconcat([Graph_Elementwise,
        TypesMatchWith<"result has the dtype of one part of the operand", "x", "result", "::graphc::graph::realLike($_self)">], traits)> {
  let arguments = (ins Graph_Type:$x);
  let results = (outs Graph_Type:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let arity = 1;
  let resultRule = RealPartResult;
  let numpyName = mnemonic;
}

#endif // GRAPHC_GRAPH_BASE_TD
