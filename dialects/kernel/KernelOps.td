// The kernel dialect: one fused kernel = one iteration space, indexed loads, a scalar body, reductions, stores.
// Movement ops have become index maps; the body is made of elementwise `graph` ops on scalars.
#ifndef GRAPHC_KERNEL_OPS_TD
#define GRAPHC_KERNEL_OPS_TD

include "dialects/graph/GraphBase.td"
include "dialects/graph/GraphOps.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/CallInterfaces.td"
include "mlir/Interfaces/FunctionInterfaces.td"

def Kernel_Dialect : Dialect {
  let name = "kernel";
  let cppNamespace = "::graphc::kernel";
  let summary = "Fused kernels over one iteration space";
  let dependentDialects = ["::graphc::graph::GraphDialect"];
  let useDefaultAttributePrinterParser = 1;
}

class Kernel_Op<string mnemonic, list<Trait> traits = []> : Op<Kernel_Dialect, mnemonic, traits>;

def Kernel_DomainAttr : AttrDef<Kernel_Dialect, "Domain"> {
  let mnemonic = "domain";
  let summary = "Iteration space: extents over the kernel's size arguments; the first `parallel` dimensions are parallel, the rest reduced";
  let parameters = (ins "::mlir::AffineMap":$extents, "int64_t":$parallel);
  let assemblyFormat = "`<` $extents `,` `parallel` `=` $parallel `>`";
}

def Kernel_ScheduleAttr : AttrDef<Kernel_Dialect, "Schedule"> {
  let mnemonic = "schedule";
  let summary = "How a target class runs the iteration space; chosen by graphc-assign-schedules";
  let description = [{ `vector`: lanes of one body instance (1: scalar). `cost`: estimated picoseconds of one work item on one
    core. `group`: device work-items that work together on one item, 0 when an item belongs to one thread or work-item. }];
  let parameters = (ins "Family":$family, "int64_t":$vector, "int64_t":$cost, DefaultValuedParameter<"int64_t", "0">:$group);
  let assemblyFormat = "`<` $family `,` `vector` `=` $vector `,` `cost` `=` $cost (`,` `group` `=` $group^)? `>`";
}

def Kernel_FuncOp : Kernel_Op<"func", [AffineScope, FunctionOpInterface, IsolatedFromAbove]> {
  let summary = "A fused kernel";
  let description = [{
    Arguments: tensors, then `index` sizes (symbols s0, s1, ... of every map inside). `shapes` gives the sizes of each tensor
    argument, then of each result, with size-1 axes left out: maps index tensors by the axes that remain. `inits[r]` is the
    argument whose content result r starts from (an update), or -1.
    K1: every map has the domain's dimension count and the kernel's size count. K2: stores cover each result.
    K3: a value stored under a map that uses no reduced dimension does not depend on reduced dimensions except through
    kernel.reduce and kernel.dot. K4: a kernel that scatters reduces nothing.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<FunctionType>:$function_type, Kernel_DomainAttr:$domain,
    AffineMapArrayAttr:$shapes, DenseI64ArrayAttr:$inits, OptionalAttr<Kernel_ScheduleAttr>:$schedule,
    OptionalAttr<DictArrayAttr>:$arg_attrs, OptionalAttr<DictArrayAttr>:$res_attrs);
  let regions = (region SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    ::mlir::ArrayRef<::mlir::Type> getArgumentTypes() { return getFunctionType().getInputs(); }
    ::mlir::ArrayRef<::mlir::Type> getResultTypes() { return getFunctionType().getResults(); }
    ::mlir::Region *getCallableRegion() { return &getBody(); }
    /// Tensor arguments; size arguments follow them.
    unsigned getNumTensors();
    unsigned getNumSizes() { return getNumArguments() - getNumTensors(); }
    /// Those that loops and accesses use; the ones whose bits are numbers follow them.
    unsigned getNumIndexSizes();
    int64_t getNumDims() { return getDomain().getExtents().getNumResults(); }
    /// Adds size arguments behind those there are: symbols that no map uses yet.
    void appendSizes(unsigned count);
  }];
}

def Kernel_LoadOp : Kernel_Op<"load", [Pure]> {
  let summary = "Element of a tensor argument at an affine map of the iteration point";
  let description = [{ `part` 0 or 1: the real or imaginary part of a complex element. }];
  let arguments = (ins AnyRankedTensor:$tensor, AffineMapAttr:$map, OptionalAttr<I64Attr>:$part);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$tensor `at` $map (`part` $part^)? attr-dict `:` type($tensor) `->` type($result)";
}
def Kernel_IndexOp : Kernel_Op<"index", [Pure]> {
  let summary = "Value of an affine expression of the iteration point, as i64";
  let arguments = (ins AffineMapAttr:$map);
  let results = (outs I64:$result);
  let assemblyFormat = "$map attr-dict";
}
def Kernel_NumberOp : Kernel_Op<"number", [Pure]> {
  let summary = "The number whose bits a size argument holds, in its lowest ones";
  let description = [{ What kernels of equal loops differ in is an argument (graphc-deduplicate-kernels). }];
  let arguments = (ins AffineMapAttr:$map);
  let results = (outs AnyTypeOf<[F32, F64, I8, I16, I32, I64]>:$result);
  let assemblyFormat = "$map attr-dict `:` type($result)";
}
def Kernel_BoundOp : Kernel_Op<"bound", [Pure]> {
  let summary = "An index as a place in [0, size): negative ones count from the end, one outside is reported and gives 0";
  let description = [{ `map` is the size. `site` numbers the check among those of the kernel; the call says where each was recorded. }];
  let arguments = (ins I64:$index, AffineMapAttr:$map, I64Attr:$site);
  let results = (outs I64:$result);
  let assemblyFormat = "$index `below` $map `site` $site attr-dict";
}
def Kernel_InsideOp : Kernel_Op<"inside", [Pure]> {
  let summary = "Whether an index lies in [0, size)";
  let arguments = (ins I64:$index, AffineMapAttr:$map);
  let results = (outs I1:$result);
  let assemblyFormat = "$index `below` $map attr-dict";
}
def Kernel_GatherOp : Kernel_Op<"gather", [Pure]> {
  let summary = "Element of a tensor argument at an affine map of the iteration point and of places";
  let description = [{
    The map's dimensions are those of the kernel, then one a place. `part` as for loads. `runs`: the places are computed from
    positions alone, as parts of a join that begin one after the other (graphc-gather-rolls): where a place steps by 1 along a loop, it jumps
    to other places once, or twice and both times back.
  }];
  let arguments = (ins AnyRankedTensor:$tensor, Variadic<I64>:$places, AffineMapAttr:$map, OptionalAttr<I64Attr>:$part, UnitAttr:$runs);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$tensor `[` $places `]` `at` $map (`part` $part^)? (`runs` $runs^)? attr-dict `:` type($tensor) `->` type($result)";
}
def Kernel_ReduceOp : Kernel_Op<"reduce", [Pure]> {
  let summary = "Combination over all reduced dimensions in the canonical order (docs/numerics.md)";
  let description = [{ `tree` is lane when the reduced group holds the last axis of the reduced tensor, row otherwise. }];
  let arguments = (ins ReduceKindAttr:$kind, AnyType:$value, UnitAttr:$row_tree);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$kind $value (`row_tree` $row_tree^)? attr-dict `:` type($value) `->` type($result)";
}
def Kernel_ScanOp : Kernel_Op<"scan", [Pure, SameOperandsAndResultType]> {
  let summary = "Combination of all points up to this one along the one reduced dimension (docs/numerics.md)";
  let arguments = (ins ReduceKindAttr:$kind, AnyType:$value);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$kind $value attr-dict `:` type($value)";
}
def Kernel_DotOp : Kernel_Op<"dot", [Pure, AllTypesMatch<["lhs", "rhs", "result"]>]> {
  let summary = "Sum of products over the one reduced dimension, as fma chains cut into blocks, or where `fast` in any order (docs/numerics.md)";
  let arguments = (ins AnyType:$lhs, AnyType:$rhs, UnitAttr:$fast);
  let results = (outs AnyType:$result);
  let assemblyFormat = "$lhs `,` $rhs (`fast` $fast^)? attr-dict `:` type($lhs)";
}
def Kernel_StoreOp : Kernel_Op<"store"> {
  let summary = "Writes one element of a result; of a complex one both parts, once graphc-split-complex has made them";
  let arguments = (ins AnyType:$value, Optional<AnyType>:$imaginary, I64Attr:$result, AffineMapAttr:$map);
  let assemblyFormat = "$value (`imaginary` $imaginary^ `:` type($imaginary))? `,` `result` $result `at` $map attr-dict `:` type($value)";
  let extraClassDeclaration = [{
    /// What is written: one value, or both parts.
    ::mlir::OperandRange getValues() { return getOperation()->getOperands(); }
  }];
}
def Kernel_ScatterOp : Kernel_Op<"scatter", [AttrSizedOperandSegments]> {
  let summary = "Writes, or combines with what is there, one element of a result at a map of the iteration point and of places";
  let description = [{ Points follow each other in row-major order unless `unique` says that no two write one place. A guard that does
    not hold leaves the point out. `sorted`: points that write one place follow each other. }];
  let arguments = (ins AnyType:$value, Variadic<I64>:$places, Optional<I1>:$guard, I64Attr:$result, StrAttr:$combine, AffineMapAttr:$map,
    UnitAttr:$unique, UnitAttr:$sorted, OptionalAttr<I64Attr>:$part);
  let assemblyFormat = "$value `,` `result` $result `[` $places `]` (`if` $guard^)? `combine` $combine `at` $map (`unique` $unique^)? (`sorted` $sorted^)? (`part` $part^)? attr-dict `:` type($value)";
}
def Kernel_SortOp : Kernel_Op<"sort", [Symbol]> {
  let summary = "Kernels that sort lines of elements by groups of work-items of a GPU-class device";
  let description = [{
    Lowered to `<name>_tiles`, which sorts tiles, and to `<name>_splits` and `<name>_merge`, which merge sorted runs in pairs; of
    integers and narrow floats also to functions that sort long lines digit after digit, `<name>_keys` to `<name>_scatter`
    (compiler/passes/lower/group/GroupSort.h says what all take). The order is that of docs/numerics.md. `places`: the result is where
    the elements were, equal ones in their order.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttr:$element, UnitAttr:$places, UnitAttr:$descending);
  let assemblyFormat = "$sym_name `of` $element (`places` $places^)? (`descending` $descending^)? attr-dict";
  let hasVerifier = 1;
}
def Kernel_SearchOp : Kernel_Op<"search", [Symbol]> {
  let summary = "A kernel that finds where values belong among sorted elements, by groups of work-items of a GPU-class device";
  let description = [{
    Lowered to a function of its name: for each value, how many elements come before it in the order of docs/numerics.md, or
    (`right`) not behind it.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttr:$element, UnitAttr:$right);
  let assemblyFormat = "$sym_name `of` $element (`right` $right^)? attr-dict";
  let hasVerifier = 1;
}
def Kernel_CorrelateOp : Kernel_Op<"correlate", [Symbol]> {
  let summary = "A kernel of sums of shifted products, by groups of work-items of a GPU-class device";
  let description = [{
    Lowered to a function of its name, which compiler/passes/lower/group/GroupCorrelate.h describes: fused multiply-adds in chains, in
    the order of docs/numerics.md.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttr:$element);
  let assemblyFormat = "$sym_name `of` $element attr-dict";
  let hasVerifier = 1;
}
def Kernel_ReturnOp : Kernel_Op<"return", [Pure, Terminator, HasParent<"FuncOp">]> {
  let summary = "End of a kernel body";
  let assemblyFormat = "attr-dict";
}
def Kernel_CheckOp : Kernel_Op<"check"> {
  let summary = "Refuses the call of the function unless two sizes are equal";
  let arguments = (ins Index:$lhs, Index:$rhs, StrAttr:$what);
  let assemblyFormat = "$lhs `equals` $rhs `,` $what attr-dict";
}
def Kernel_CallOp : Kernel_Op<"call", [Pure, AttrSizedOperandSegments, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Application of a kernel to whole tensors; result sizes are given so that the plan can allocate";
  let description = [{ `result_dims` holds, for every `?` of every result in order, an index into `sizes`. `faults` gives axis and
    line of every site of the kernel that checks an index. }];
  let arguments = (ins FlatSymbolRefAttr:$callee, Variadic<AnyRankedTensor>:$tensors, Variadic<Index>:$sizes,
    DenseI64ArrayAttr:$result_dims, StrAttr:$lines, OptionalAttr<DictArrayAttr>:$faults);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = "$callee `(` $tensors `)` `sizes` `(` $sizes `)` `dims` $result_dims `lines` $lines attr-dict `:` functional-type($tensors, $results)";
  let hasVerifier = 1;
}

#endif // GRAPHC_KERNEL_OPS_TD
