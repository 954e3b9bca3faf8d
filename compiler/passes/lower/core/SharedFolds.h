//===- SharedFolds.h - Folds that the reductions of a program share ---------------------------===//
#ifndef GRAPHC_COMPILER_PASSES_LOWER_CORE_SHAREDFOLDS_H
#define GRAPHC_COMPILER_PASSES_LOWER_CORE_SHAREDFOLDS_H

#include "compiler/passes/lower/Trees.h"

namespace graphc::pass {

/// Calls of private functions, one a kind of reduction and type: what is done once a block or a
/// row would otherwise be most of the code of programs with many reductions.
class SharedFolds {
public:
  using Storage = TreeEmitter::Storage;

  /// `module`: where functions are made.
  SharedFolds(mlir::OpBuilder &module, mlir::Location loc) : module(module), loc(loc) {}

  /// What the lanes of a block are together, as TreeEmitter::foldSequences().
  States lanes(mlir::OpBuilder &builder, llvm::ArrayRef<Reducer> reducers, const Storage &lanes,
               int64_t width, mlir::Value first, mlir::Value count, bool fast);
  /// What the results of `count` blocks of the lane tree from `first` on are together.
  States blocks(mlir::OpBuilder &builder, llvm::ArrayRef<Reducer> reducers, const Storage &results,
                mlir::Value first, mlir::Value count);
  /// The lane tree of blocks that come one after the other: gives it the result of block `number`
  /// of `count`, and has its own after the last one. The storages are of kTreeLanes, and nobody
  /// else's.
  States nextBlock(mlir::OpBuilder &builder, llvm::ArrayRef<Reducer> reducers,
                   const Storage &blocks, const Storage &groups, mlir::Value number,
                   mlir::Value count, const States &states);
  /// Row tree: the results of `count` blocks of items [low, high), `apart` from one block to the
  /// next, become one in place of the first.
  void columns(mlir::OpBuilder &builder, llvm::ArrayRef<Reducer> reducers, const Storage &results,
               mlir::Value low, mlir::Value high, mlir::Value count, mlir::Value apart);

private:
  using Body = llvm::function_ref<States(mlir::OpBuilder &, TreeEmitter &, mlir::ValueRange)>;

  llvm::SmallVector<mlir::Value> call(mlir::OpBuilder &builder, const Reducer &reducer,
                                      const llvm::Twine &name, mlir::ValueRange operands,
                                      mlir::TypeRange results, int64_t width, Body body,
                                      bool isSeldom = false);
  void foldStrip(mlir::OpBuilder &builder, TreeEmitter &trees, const Reducer &reducer,
                 mlir::ValueRange arguments, mlir::Value item, int64_t width);

  mlir::OpBuilder &module;
  mlir::Location loc;
};

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_LOWER_CORE_SHAREDFOLDS_H
