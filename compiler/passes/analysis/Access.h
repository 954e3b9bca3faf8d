//===- Access.h - Movement ops as index maps --------------------------------------------------===//
#ifndef GRAPHC_COMPILER_PASSES_ANALYSIS_ACCESS_H
#define GRAPHC_COMPILER_PASSES_ANALYSIS_ACCESS_H

#include "compiler/passes/analysis/Sizes.h"
#include "dialects/graph/Graph.h"

namespace graphc::pass {

/// Where an element of a tensor comes from: element `indices` (one per axis of root) of a value
/// that is not an affine movement: a function argument, a computed value, a generator, or a reshape
/// that no affine map expresses (an alias: the same buffer under another shape).
struct Access {
  mlir::Value root;
  llvm::SmallVector<mlir::AffineExpr> indices;
};

/// Follows broadcast, transpose, slice and affine reshape from element `indices` of `tensor`.
Access resolveAccess(mlir::Value tensor, llvm::ArrayRef<mlir::AffineExpr> indices,
                     SizeAnalysis &sizes);

/// Whether `tensor`, through the views that it is, shows every element of what resolveAccess finds.
bool showsAll(mlir::Value tensor, SizeAnalysis &sizes);

/// What a gather reads, or a scatter writes, at a point of the elements moved: one index per axis
/// of `whole`, where the places are dimensions `firstPlace`, ... and `points` has one entry per
/// axis of the moved elements.
llvm::SmallVector<mlir::AffineExpr> placedIndices(mlir::Value whole, llvm::ArrayRef<int64_t> axes,
                                                  int64_t position, int64_t indexRank,
                                                  llvm::ArrayRef<mlir::AffineExpr> points,
                                                  unsigned firstPlace);

/// The element of its result that an update of a slice writes at `points` of its value.
llvm::SmallVector<mlir::AffineExpr> updatedIndices(graph::UpdateSliceOp update,
                                                   llvm::ArrayRef<mlir::AffineExpr> points,
                                                   SizeAnalysis &sizes);

/// Index expressions d0, d1, ... for the axes whose size is not 1, constant 0 for the others;
/// `next` is the first dimension number and is advanced.
llvm::SmallVector<mlir::AffineExpr> identityIndices(llvm::ArrayRef<Size> sizes, unsigned &next,
                                                    mlir::MLIRContext *context);

/// Sizes other than 1.
llvm::SmallVector<Size> squeezed(llvm::ArrayRef<Size> sizes);

/// The entries of `indices` on axes whose size is not 1.
llvm::SmallVector<mlir::AffineExpr> squeezedIndices(llvm::ArrayRef<mlir::AffineExpr> indices,
                                                    llvm::ArrayRef<Size> sizes);

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_ANALYSIS_ACCESS_H
