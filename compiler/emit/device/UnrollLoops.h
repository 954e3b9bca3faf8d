//===- UnrollLoops.h - Turns of a loop beside each other --------------------------------------===//
#ifndef GRAPHC_COMPILER_EMIT_DEVICE_UNROLLLOOPS_H
#define GRAPHC_COMPILER_EMIT_DEVICE_UNROLLLOOPS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace graphc::emit {

/// Of a work-item's own arrays elements with constant places become registers: their loops are
/// unrolled here, as compilers of OpenCL C do it by themselves. Loops that say how many turns are
/// to be beside each other (kUnrollAttr) have as many as their length allows.
void unrollLoops(mlir::func::FuncOp function);

} // namespace graphc::emit

#endif // GRAPHC_COMPILER_EMIT_DEVICE_UNROLLLOOPS_H
