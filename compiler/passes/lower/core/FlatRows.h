//===- FlatRows.h - Maps of rows of a few vectors at most
//----------------------------------------===//
#ifndef GRAPHC_COMPILER_PASSES_LOWER_CORE_FLATROWS_H
#define GRAPHC_COMPILER_PASSES_LOWER_CORE_FLATROWS_H

#include "compiler/passes/lower/core/CoreLowering.h"

namespace graphc::pass {

/// A map as one run over all its points: which of its operands, and results, do not lie as the
/// points follow each other and have to be laid out for that.
struct FlatRows {
  /// `lanes` of a register.
  FlatRows(kernel::FuncOp kernel, const LoopSpace &space, llvm::ArrayRef<kernel::StoreOp> stores,
           int64_t lanes);

  enum class Use { Never, Sometimes, Always };
  /// Sets `longest`.
  Use use();

  kernel::FuncOp kernel;
  const LoopSpace &space;
  int64_t lanes;
  int64_t longest = 0; ///< longer rows are gone through one by one
  llvm::SmallVector<mlir::Value> operands;
  llvm::SmallVector<kernel::StoreOp> straight, apart; ///< stores that follow the points, and others
};

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_LOWER_CORE_FLATROWS_H
