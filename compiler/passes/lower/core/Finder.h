//===- Finder.h - The places of extremes ------------------------------------------------------===//
#ifndef GRAPHC_COMPILER_PASSES_LOWER_CORE_FINDER_H
#define GRAPHC_COMPILER_PASSES_LOWER_CORE_FINDER_H

#include "compiler/passes/lower/core/CoreLowering.h"

namespace graphc::pass {

/// One argmin or argmax along consecutive elements: the best value first, for which no places are
/// kept but the part of the row in which each lane found its own, and then the place in that part.
struct CoreLowering::Finder {
  CoreLowering &l;
  const Reducer &reducer;

  /// A row, or a block of at most kTreeBlock elements of one.
  States row(mlir::OpBuilder &b, const Position &row, mlir::Value first, mlir::Value length);
  /// Everything, in `count` blocks, which are the items.
  void blocks(mlir::OpBuilder &b, mlir::Value count);

private:
  /// The best value, and the elements among which its first place is.
  struct Part {
    mlir::Value value, first, length;
  };
  int64_t lanes() const;
  mlir::Value value(mlir::OpBuilder &b, const Position &row, mlir::Value index, mlir::Value limit,
                    bool asks);
  Part best(mlir::OpBuilder &b, const Position &row, mlir::Value first, mlir::Value length);
  mlir::Value place(mlir::OpBuilder &b, const Position &row, const Part &part);
};

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_LOWER_CORE_FINDER_H
