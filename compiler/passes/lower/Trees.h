//===- Trees.h - Canonical reduction trees as loops
//-----------------------------------------------------------===//
#ifndef GRAPHC_COMPILER_PASSES_LOWER_TREES_H
#define GRAPHC_COMPILER_PASSES_LOWER_TREES_H

#include "compiler/passes/lower/Reducers.h"

#include <functional>

namespace graphc::pass {

/// States of several reductions, one after the other.
using States = llvm::SmallVector<llvm::SmallVector<mlir::Value, 2>>;

/// Emits the canonical trees of docs/numerics.md. The order of combinations depends on lengths
/// only.
class TreeEmitter {
public:
  /// The states of `width` consecutive elements from `index`; lanes at or beyond `limit` (when set)
  /// are ignored by the caller.
  using Body = std::function<States(mlir::OpBuilder &, mlir::Value index, mlir::Value limit)>;

  /// `entry`: the block that takes stack storage.
  TreeEmitter(mlir::Block *entry, mlir::Location loc, llvm::ArrayRef<Reducer> reducers,
              int64_t width);

  /// Lane tree over [0, length): scalar states.
  States laneTree(mlir::OpBuilder &builder, mlir::Value length, const Body &body);
  /// One block of the lane tree: elements [first, first + length), length in 1..8192.
  States laneBlock(mlir::OpBuilder &builder, mlir::Value first, mlir::Value length,
                   const Body &body);
  /// Row tree over [0, length): states as wide as the body's.
  States rowTree(mlir::OpBuilder &builder, mlir::Value length, const Body &body);

private:
  using Storage = llvm::SmallVector<mlir::Value>; ///< one memref<256xT> per part of every reducer
  Storage allocate();
  void save(mlir::OpBuilder &builder, const Storage &storage, mlir::Value index,
            const States &states);
  States restore(mlir::OpBuilder &builder, const Storage &storage, mlir::Value index,
                 int64_t width);
  States combine(mlir::OpBuilder &builder, const States &a, const States &b);
  States identity(mlir::OpBuilder &builder, int64_t width);
  void foldStrips(mlir::OpBuilder &builder, const Storage &storage, mlir::Value count,
                  int64_t width);
  States foldLanes(mlir::OpBuilder &builder, const Storage &storage, mlir::Value count);
  States foldVector(mlir::OpBuilder &builder, States states);
  void push(mlir::OpBuilder &builder, const Storage &storage, mlir::Value number,
            const States &states);
  States rowLevel(mlir::OpBuilder &builder, llvm::ArrayRef<mlir::Value> counts, int level,
                  mlir::Value first, mlir::Value last, const Body &body);
  static llvm::SmallVector<mlir::Value> flatten(const States &states);
  States unflatten(mlir::ValueRange values);
  mlir::Value constant(mlir::OpBuilder &builder, int64_t value);

  mlir::Block *entry;
  mlir::Location loc;
  llvm::ArrayRef<Reducer> reducers;
  int64_t width;
  Storage lanes, blocks,
      groups; ///< within a block; block results; results of groups of 8192 blocks
};

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_LOWER_TREES_H
