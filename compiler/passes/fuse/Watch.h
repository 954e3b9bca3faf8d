//===- Watch.h - Which values of a kernel are looked at for infinities and NaN ----------------===//
#ifndef GRAPHC_COMPILER_PASSES_FUSE_WATCH_H
#define GRAPHC_COMPILER_PASSES_FUSE_WATCH_H

#include "dialects/kernel/Kernel.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace graphc::pass {

/// Of a module: its kernels report values that became infinite or NaN. Of a kernel: it does, and
/// takes the words to report to. Of an operation in it: its value is looked at where it is
/// computed.
inline constexpr const char *kWatchAttr = "graphc.watch";
/// Its value, or of a module: kWatchAttr is a unit attribute otherwise. What an operation passes on
/// is not reported.
inline constexpr const char *kWatchOperations = "operations";

/// Whether the module of a graph function is watched.
bool isWatched(mlir::func::FuncOp func);

/// Whether finite operands, of one element or of whole tensors, may give an infinity or a NaN, or
/// integers have no result.
bool mayRaise(mlir::Operation *op);
/// Whether operands that are not huge may: sums and products do no more than overflow.
bool raisesOfOrdinary(mlir::Operation *op);

/// Marks as few operations as show everything: an infinity or a NaN that one of their operands
/// would pass on is seen later. False when nothing in the kernel can give one.
bool watchValues(kernel::FuncOp kernel);
/// Marks every operation that can give one: those of elements by their operands, too.
bool watchOperations(kernel::FuncOp kernel);

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_FUSE_WATCH_H
