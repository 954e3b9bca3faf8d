// Every pass: def <-> <phase>/<Name>.cpp <-> tests/compiler/passes/<phase>/<kebab>.mlir <-> struct of the same name.
#ifndef GRAPHC_COMPILER_PASSES_TD
#define GRAPHC_COMPILER_PASSES_TD

include "mlir/Pass/PassBase.td"

//===----------------------------------------------------------------------===//
// graph: whole tensors in, simpler whole tensors out
//===----------------------------------------------------------------------===//

def Decompose : Pass<"graphc-decompose", "::mlir::func::FuncOp"> {
  let summary = "Rewrite ops that are combinations of others";
  let description = [{
    Input and output: the graph dialect. `mean` becomes a sum divided by an extent, `concatenate` a chain of updates of an
    uninitialised tensor, `flip` a slice with step -1, a reduction over several axis groups one reduction per group (last
    group first: the canonical order), a reduction over size-1 axes only a reshape, an update of everything its value. Sums, means
    and scans of complex numbers become those of their parts, and so do matrix products unless a kernel multiplies all parts.
    ```mlir
    %m = graph.reduce <mean> %x axes [1]  ->  %s = graph.reduce <sum> %x axes [1]; %n = graph.extent %x axes [1]; graph.div
    ```
  }];
  let dependentDialects = ["::graphc::graph::GraphDialect", "::mlir::arith::ArithDialect"];
  let options = [Option<"complexProducts", "complex-products", "bool", "false", "Kernels multiply complex matrices.">,
    Option<"argsorts", "argsorts", "bool", "false", "Sorts by several keys are sorts by one key after the other, which are kernels.">];
}

def GatherRolls : Pass<"graphc-gather-rolls", "::mlir::func::FuncOp"> {
  let summary = "Read rolled arrays where they lie";
  let description = [{
    Input and output: the graph dialect. A join of a part of an array with parts of it from the front on (`concatenate x[s:], x[:s]`, or
    `x[-1:], x, x[:1]`), with which something is computed and nothing else done, becomes a gather at places that are computed from positions,
    so that it shares its readers' kernels; rolls along several axes become one gather. Gather and places are computed by each reader.
    ```mlir
    graph.concatenate %x[%s:], %x[:%s]  ->  graph.gather %x[select(%i < %n, %i + %s, %i - %n)]
    ```
  }];
  let dependentDialects = ["::graphc::graph::GraphDialect", "::mlir::arith::ArithDialect"];
}

def BubbleViews : Pass<"graphc-bubble-views", "::mlir::func::FuncOp"> {
  let summary = "Move views of computed values to what these are computed from";
  let description = [{
    Input and output: the graph dialect. A reshape, transpose or slice of what elementwise operations compute for it alone becomes one
    of each of their operands, where something is computed with it: the operations have the shape of their reader then, and share
    its kernel instead of storing what is under the view. A reshape that joins axes stays unless all operands lie in memory as a
    whole, or are one number. Nothing is computed twice, and of a slice only what is read; where float errors are watched, slices that
    leave elements out stay behind operations that raise them of ordinary operands (quotients, logarithms, not sums).
    ```mlir
    graph.reshape (graph.sin %x)  ->  graph.sin (graph.reshape %x)
    ```
  }];
  let dependentDialects = ["::graphc::graph::GraphDialect"];
}

//===----------------------------------------------------------------------===//
// fuse: where
//===----------------------------------------------------------------------===//

def SortPlaces : Pass<"graphc-sort-places", "::mlir::func::FuncOp"> {
  let summary = "Give points that write one place neighbouring numbers";
  let description = [{
    Input and output: the graph dialect. For GPU-class devices. Points of a scatter that may share places have an order: they are
    sorted by their places, equal ones staying as they are, so that a work-item can have all points of a place. What memory combines
    in one step, in any order, stays. Of points that write, the last one of a place wins: where places are not many more than points,
    these find its number in a table, and all write what it has.
    ```mlir
    graph.scatter %v into %x[%i] ...  ->  %p = graph.library "argsort" %places; graph.scatter %v[%p] into %x[%i[%p]] ... sorted
    ```
  }];
  let dependentDialects = ["::graphc::graph::GraphDialect", "::mlir::arith::ArithDialect"];
  let options = [Option<"atomicBits", "atomic-bits", "int64_t", "0", "integers of up to so many bits are combined in memory in one step">];
}
def FormKernels : Pass<"graphc-form-kernels", "::mlir::ModuleOp"> {
  let summary = "Group ops into kernels of one iteration space each";
  let description = [{
    Input: one graph function. Output: kernel.func ops and the function as kernel.call ops, graph.reshape aliases and size
    arithmetic. FusionPlan decides the groups; here movement ops become index maps and bodies become scalar.
    The reasons why neighbours stayed apart are kept in the module attribute `graphc.cuts`.
  }];
  let dependentDialects = ["::graphc::kernel::KernelDialect", "::mlir::arith::ArithDialect"];
  let options = [
    Option<"mostPartial", "most-partial", "int64_t", "0", "bytes of partial results a lane that a kernel's reductions may have; 0: any">,
    Option<"mostReductions", "most-reductions", "int64_t", "0", "reductions and scans in kernels that differ; with more, their kernels compute nothing else, so that they differ less; 0: any">];
}

def DeduplicateKernels : Pass<"graphc-deduplicate-kernels", "::mlir::ModuleOp"> {
  let summary = "One kernel for equal bodies";
  let description = [{
    Input and output: the kernel level. Kernels whose text is equal but for the name are merged, so that a loop of fifty equal
    steps compiles its step once. Four or more that differ in numbers alone become one whose size arguments hold them: literals of 32
    and 64 bits and of integers (where nothing divides, shifts or checks integers), and offsets of what is read and written.
    ```mlir
    %c = arith.constant 0.5 : f64  ->  %c = kernel.number affine_map<(d0)[s0, s1] -> (s1)> : f64
    ```
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect"]; // sizes of calls
}

def SplitComplex : Pass<"graphc-split-complex", "::mlir::ModuleOp"> {
  let summary = "Compute complex numbers of kernel bodies as two values";
  let description = [{
    Input and output: the kernel level. Loads and gathers of complex elements become those of a part, stores take both parts,
    operations on complex scalars become real arithmetic (compiler/math/Complex.h). No value is complex afterwards; tensors
    are, with the parts of an element side by side in memory.
    ```mlir
    %z = kernel.load %x at #map : tensor<?xcomplex<f32>> -> complex<f32>; %w = graph.conj %z; kernel.store %w, result 0 at #map
    -> %a = kernel.load %x at #map part 0 ... -> f32; %b = ... part 1; %c = graph.neg %b; kernel.store %a imaginary %c ...
    ```
  }];
  let dependentDialects = ["::graphc::graph::GraphDialect", "::mlir::arith::ArithDialect"];
}

//===----------------------------------------------------------------------===//
// schedule: how
//===----------------------------------------------------------------------===//

def AssignSchedules : Pass<"graphc-assign-schedules", "::mlir::ModuleOp"> {
  let summary = "Choose family, vector width and cost of every kernel for a target class";
  let description = [{ Input and output: the kernel level; adds kernel.func's `schedule`. }];
  let options = [
    Option<"vectorBytes", "vector-bytes", "int64_t", "64", "native vector register width; 0: one lane (device work-items)">,
    Option<"groups", "groups", "bool", "false", "work-items of a group share items and local memory (GPU-class devices)">,
    Option<"tiles", "tiles", "bool", "false", "matrix products by groups call the tiles of emit/device/ChainTile.h">,
    Option<"tensors", "tensors", "bool", "false", "fast matrix products by groups call the tiles of emit/device/TensorTile.h">,
    Option<"bulk", "bulk", "bool", "false", "large ones of them call the tiles of emit/device/BulkTile.h">,
    Option<"tickets", "tickets", "bool", "false", "the last of a reduction's groups folds what all stored">,
    Option<"largeGroups", "large-groups", "bool", "false", "a group may have 1024 work-items; else 256">,
    Option<"ordered", "ordered", "bool", "false", "groups, or pieces of a launch, begin in the order of their numbers: those of a scan wait for earlier ones">,
    Option<"atomicBits", "atomic-bits", "int64_t", "0", "integers of up to so many bits are combined in memory in one step; 0: none">];
}

//===----------------------------------------------------------------------===//
// plan: when
//===----------------------------------------------------------------------===//

def BuildPlan : Pass<"graphc-build-plan", "::mlir::ModuleOp"> {
  let summary = "Turn the calls into buffers, launches and copies";
  let description = [{
    Input: scheduled kernels and the function of kernel calls. Output: one plan.program. Results of calls become allocations,
    reshapes aliases, updates happen in place when the old value has no later reader and the kernel reads it at no other
    place than it writes, else after a copy. With `groups`, sorts, searches and correlations are
    launches of kernels instead of calls of the library.
  }];
  let options = [Option<"groups", "groups", "bool", "false", "the target is a GPU-class device">];
  let dependentDialects = ["::graphc::kernel::KernelDialect", "::graphc::plan::PlanDialect", "::mlir::arith::ArithDialect"];
}

def TileRows : Pass<"graphc-tile-rows", "::mlir::ModuleOp"> {
  let summary = "Find launches that can be run row by row, one after the other";
  let description = [{
    Input and output: the plan level, kernels scheduled for a CPU. Neighbouring launches whose outermost loops are the same, and that
    touch what one of them writes at the outermost index only, get one `tile` number and the extent of that loop as `rows`; copies that turn
    an operand, and what reads them, count parts of 32 rows instead. The runtime then takes some rows through all of them while they are in
    a cache; buffers that only they use need memory for those rows alone. Other neighbouring launches over the same rows, which touch what one of
    them writes at rows a fixed distance away (steps of a stencil), get a tile with a `skew`, the rows that each stays behind those before it.
  }];
}

//===----------------------------------------------------------------------===//
// lower: loops
//===----------------------------------------------------------------------===//

def LowerKernels : Pass<"graphc-lower-kernels", "::mlir::ModuleOp"> {
  let summary = "Kernels to loops over flat buffers";
  let description = [{
    Input: scheduled kernel.func ops. Output: one or two func.func each (a full reduction has a second for the block results)
    over scf, memref, vector, arith and elementwise graph ops on scalars or vectors. Arguments: flat memrefs of tensors and
    results, index sizes, the work-item range [begin, end), scratch.
  }];
  let dependentDialects = ["::mlir::scf::SCFDialect", "::mlir::memref::MemRefDialect", "::mlir::vector::VectorDialect",
    "::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::gpu::GPUDialect", "::mlir::math::MathDialect",
    "::mlir::LLVM::LLVMDialect"]; // fences of device groups
  let options = [
    Option<"straightFolds", "straight-folds", "bool", "false", "work-items must not branch after a group's barriers">,
    Option<"readsAhead", "reads-ahead", "bool", "false", "the machine follows several operands by itself, in their order">,
    Option<"bytesAhead", "bytes-ahead", "int64_t", "0", "which such a machine is asked for of a single operand; 0: none">,
    Option<"gathers", "gathers", "bool", "false", "lanes at any places of 32 bits or more are gathered by one operation">,
    Option<"checksAlone", "checks-alone", "bool", "false", "launches of updates check indices without writing where the fault words ask for it">];
}

def OutlineElementary : Pass<"graphc-outline-elementary", "::mlir::ModuleOp"> {
  let summary = "One function for each elementary function that a large program uses often";
  let description = [{
    Input: functions with elementwise graph ops on vectors. In a module with many elementary functions (exp, sin, pow, ...) of floats those
    that are used a few times become private functions of one op, which is expanded once; results have the same bits.
    What sin, cos and tan of large arguments need is declared as a function of one register, whose body the expansion of ops makes.
  }];
  let options = [Option<"registerBytes", "register-bytes", "int64_t", /*default=*/"0", "of a vector register; 0 declares none">];
  let dependentDialects = ["::mlir::func::FuncDialect"];
}

def OutlineMasks : Pass<"graphc-outline-masks", "::mlir::ModuleOp"> {
  let summary = "One function for each type of 8 or 16 bits of which vectors are read or written in part";
  let description = [{
    Input: lowered functions for a CPU whose masks know elements of 32 and 64 bits only, where LLVM makes a branch of each lane of
    narrower ones. Output: masked loads and stores of the first lanes of such vectors are calls of a private function, which joins
    integers of up to 8 bytes, those of more than 16 by way of the stack; a whole vector is read and written as one there.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::func::FuncDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

def ExpandScalarOps : Pass<"graphc-expand-scalar-ops", "::mlir::func::FuncOp"> {
  let summary = "Elementwise graph ops on scalars and vectors to arith and math";
  let description = [{
    Input: lowered functions. Output: no graph op is left. The arithmetic is that of compiler/math, the same for every
    target; unsigned types and floats of 16 bits become signless integers.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::LLVM::LLVMDialect", "::mlir::math::MathDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
  let options = [
    Option<"hasFloat64", "has-float64", "bool", "true", "the target computes in f64">,
    Option<"int64Conversions", "int64-conversions", "bool", "true", "vectors of i64 convert to f64 and back in one operation">,
    Option<"scaleOperation", "scale-operation", "bool", "false", "LLVM's ldexp on vectors is one operation of the target">,
    Option<"halfConversions", "half-conversions", "bool", "false", "the target converts between f16 and f32">,
    Option<"products52", "products52", "bool", "false", "registers of i64 add the halves of 52-bit products in one operation">,
    Option<"permutes", "permutes", "unsigned", "0", "floats of 32 bits of which lanes of a register choose in one operation: 16, 8 or 0">,
    Option<"tables", "tables", "bool", "false", "emitters place constant vectors that are read by an index in memory">,
    Option<"nvidia", "nvidia", "bool", "false", "the target has maxima that keep a NaN">];
}

def UnrollVectors : Pass<"graphc-unroll-vectors", "::mlir::func::FuncOp"> {
  let summary = "Vectors to scalars, for the work-items of a device";
  let description = [{
    Input: functions without graph ops. Output: the same on scalars, lane by lane, but for loads and stores of whole
    vectors at aligned places, whose lanes are taken by vector.extract and given by vector.from_elements.
  }];
  let dependentDialects = ["::mlir::arith::ArithDialect", "::mlir::memref::MemRefDialect", "::mlir::scf::SCFDialect", "::mlir::vector::VectorDialect"];
}

//===----------------------------------------------------------------------===//
// verify
//===----------------------------------------------------------------------===//

def VerifyPhase : Pass<"graphc-verify-phase", "::mlir::ModuleOp"> {
  let summary = "Check that only ops of a phase are present";
  let description = [{ Input and output: unchanged. Fails, naming the op, when one does not belong after the phase. }];
  let options = [Option<"phase", "phase", "std::string", "", "graph, kernel, schedule, plan or lower">];
}

#endif // GRAPHC_COMPILER_PASSES_TD
