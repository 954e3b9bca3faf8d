//===- Atomic.h - Sums that are made in one step each -----------------------------------------===//
#ifndef GRAPHC_COMPILER_PASSES_ANALYSIS_ATOMIC_H
#define GRAPHC_COMPILER_PASSES_ANALYSIS_ATOMIC_H

#include "mlir/IR/BuiltinTypes.h"

namespace graphc::pass {

/// Whether a device that adds integers of up to `atomicBits` bits in one step may combine points
/// that share a place in any order: what it adds are such integers.
inline bool addsInOneStep(llvm::StringRef combine, mlir::Type element, int64_t atomicBits) {
  auto type = llvm::dyn_cast<mlir::IntegerType>(element);
  return combine == "add" && type && type.getWidth() >= 32 && type.getWidth() <= atomicBits;
}

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_ANALYSIS_ATOMIC_H
