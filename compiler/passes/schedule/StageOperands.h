//===- StageOperands.h - Turned operands of kernels that cannot turn them ---------------------===//
#ifndef GRAPHC_COMPILER_PASSES_SCHEDULE_STAGEOPERANDS_H
#define GRAPHC_COMPILER_PASSES_SCHEDULE_STAGEOPERANDS_H

#include "mlir/IR/BuiltinOps.h"

namespace graphc::pass {

/// Where a vector of a kernel would read one element a line of memory, although the operand is
/// dense along another loop: the operand becomes one of the kernel's own order, which a map that
/// turns tiles in registers makes before. Maps that turn what they read are left as they are, and
/// so are matrix products. Reductions that any order gives are made along columns instead, where
/// rows are neighbours in memory. The time of such a read is that of a line each; turning takes
/// about as long as a copy.
void stageTurnedOperands(mlir::ModuleOp module);

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_SCHEDULE_STAGEOPERANDS_H
