// The plan dialect: when and where. One program: sizes, buffers, launches, copies in execution order.
#ifndef GRAPHC_PLAN_OPS_TD
#define GRAPHC_PLAN_OPS_TD

include "mlir/IR/OpBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Plan_Dialect : Dialect {
  let name = "plan";
  let cppNamespace = "::graphc::plan";
  let summary = "Buffers and the order of work of one program";
  let useDefaultTypePrinterParser = 1;
}
class Plan_Op<string mnemonic, list<Trait> traits = []> : Op<Plan_Dialect, mnemonic, traits>;

def Plan_BufferType : TypeDef<Plan_Dialect, "Buffer"> {
  let mnemonic = "buffer";
  let summary = "Flat storage of elements of one type, row-major when it holds a tensor";
  let parameters = (ins "::mlir::Type":$element);
  let assemblyFormat = "`<` $element `>`";
}

def Plan_ProgramOp : Plan_Op<"program", [Symbol, IsolatedFromAbove]> {
  let summary = "The steps of one program";
  let description = [{ Block arguments are the input buffers. `inputs` and `outputs` give the tensor types of the call. }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeArrayAttr:$inputs, TypeArrayAttr:$outputs);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = "$sym_name `inputs` $inputs `outputs` $outputs attr-dict-with-keyword $body";
}
def Plan_DimOp : Plan_Op<"dim", [Pure]> {
  let summary = "Size of an axis of an input";
  let arguments = (ins I64Attr:$input, I64Attr:$axis);
  let results = (outs Index:$result);
  let assemblyFormat = "`input` $input `,` $axis attr-dict";
}
def Plan_SizeOp : Plan_Op<"size", [Pure]> {
  let summary = "The n-th size argument of the call";
  let arguments = (ins I64Attr:$number);
  let results = (outs Index:$result);
  let assemblyFormat = "$number attr-dict";
}
def Plan_CheckOp : Plan_Op<"check"> {
  let summary = "Refuses the call unless two sizes are equal";
  let arguments = (ins Index:$lhs, Index:$rhs, StrAttr:$what);
  let assemblyFormat = "$lhs `equals` $rhs `,` $what attr-dict";
}
def Plan_AllocOp : Plan_Op<"alloc"> {
  let summary = "Storage for a number of elements; the program's input `donor` may become it when nobody else needs that any more";
  let arguments = (ins Index:$elements, OptionalAttr<I64Attr>:$donor);
  let results = (outs Plan_BufferType:$buffer);
  let assemblyFormat = "$elements attr-dict `:` type($buffer)";
}
def Plan_FaultsOp : Plan_Op<"faults"> {
  let summary = "Where kernels report what they refuse; `sites` gives axis and line of every check of the program";
  let arguments = (ins DictArrayAttr:$sites);
  let results = (outs Plan_BufferType:$buffer);
  let assemblyFormat = "$sites attr-dict `:` type($buffer)";
}
def Plan_LaunchOp : Plan_Op<"launch", [AttrSizedOperandSegments]> {
  let summary = "Runs a lowered kernel over a range of work items of `work` elements each";
  let description = [{
    Launches that follow each other with the same `tile` may be run row by row: each range is `rows` equal parts, and what one of
    them writes the others touch in the same row only. With `skew` they touch neighbouring rows, too: a launch may be run on a row once
    those before it have been run on the rows up to `skew` further on.
  }];
  let arguments = (ins FlatSymbolRefAttr:$kernel, Variadic<Plan_BufferType>:$buffers, Variadic<Index>:$sizes, Index:$range, Index:$work,
    StrAttr:$lines, Optional<Index>:$rows, OptionalAttr<I64Attr>:$tile, Optional<Index>:$skew);
  let assemblyFormat = "$kernel `(` $buffers `:` type($buffers) `)` `sizes` `(` $sizes `)` `over` $range `work` $work `lines` $lines (`rows` $rows^ `tile` $tile)? (`skew` $skew^)? attr-dict";
}
def Plan_CopyOp : Plan_Op<"copy"> {
  let summary = "Whole-buffer copy";
  let arguments = (ins Plan_BufferType:$source, Plan_BufferType:$target);
  let assemblyFormat = "$source `to` $target attr-dict `:` type($source) `,` type($target)";
}
def Plan_CallOp : Plan_Op<"call", [AttrSizedOperandSegments]> {
  let summary = "Runs a routine of the runtime's host library (runtime/base/Routine.h)";
  let description = [{
    `sizes` are all sizes of the operands in order, then those of the result; `ranks` says which belong to which. `node` is the
    recorded node that the step computes, or -1: an error of the step names its line.
  }];
  let arguments = (ins StrAttr:$routine, Variadic<Plan_BufferType>:$inputs, Plan_BufferType:$output, Variadic<Index>:$sizes,
    DenseI64ArrayAttr:$ranks, DenseI64ArrayAttr:$params, I64Attr:$node, StrAttr:$lines);
  let assemblyFormat = "$routine `(` $inputs `:` type($inputs) `)` `to` $output `:` type($output) `sizes` `(` $sizes `)` `ranks` $ranks `params` $params `node` $node `lines` $lines attr-dict";
  let hasVerifier = 1;
}
def Plan_ReturnOp : Plan_Op<"return", [Terminator, AttrSizedOperandSegments]> {
  let summary = "Buffers handed to the caller; `sizes` holds the sizes of the outputs' `?` axes in order";
  let arguments = (ins Variadic<Plan_BufferType>:$buffers, Variadic<Index>:$sizes);
  let assemblyFormat = "($buffers^ `:` type($buffers))? `sizes` `(` $sizes `)` attr-dict";
}

#endif // GRAPHC_PLAN_OPS_TD
