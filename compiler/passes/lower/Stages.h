//===- Stages.h - What a kernel computes for points and for rows
//--------------------------------===//
#ifndef GRAPHC_COMPILER_PASSES_LOWER_STAGES_H
#define GRAPHC_COMPILER_PASSES_LOWER_STAGES_H

#include "compiler/passes/lower/LoopSpace.h"

namespace graphc::pass {

/// Values of a kernel in the order in which its reductions depend on each other. The loop space has
/// to live as long.
class Stages {
public:
  explicit Stages(const LoopSpace &space) : space(space) {}

  /// Point-level: depends on reduced loops other than through a reduction.
  bool isPoint(mlir::Value value);
  bool isPoint(kernel::StoreOp store) const;
  /// Number of reductions on the longest path to the value.
  int of(mlir::Value value);
  int of(kernel::StoreOp store);

private:
  const LoopSpace &space;
  llvm::DenseMap<mlir::Value, int> stages;
  llvm::DenseMap<mlir::Value, bool> points;
};

/// What a group's work-items keep of a row that several stages visit.
struct KeptRow {
  /// Points that a later stage needs again, because they were read or are expensive, and the stage
  /// that computes each.
  llvm::SmallVector<std::pair<mlir::Value, int>> values;
  int64_t bytes;  ///< of a piece, `lanes` elements, between two stages, at most
  int64_t pieces; ///< of a row that a work-item keeps
};
KeptRow keptRow(kernel::FuncOp kernel, const LoopSpace &space, Stages &stages, int64_t lanes);

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_LOWER_STAGES_H
