//===- ScanLoop.h - Blocks of running sums and products ---------------------------------------===//
#ifndef GRAPHC_COMPILER_PASSES_LOWER_SCANLOOP_H
#define GRAPHC_COMPILER_PASSES_LOWER_SCANLOOP_H

#include "compiler/passes/lower/KernelLowering.h"
#include "compiler/passes/lower/ScanShape.h"

namespace graphc::pass {

/// Registers of groups whose steps are taken in turns where the body is short: a step waits for the
/// one before it.
inline constexpr int64_t kRegistersTogether = 4;

class ScanStage;

kernel::ScanOp scanOf(kernel::FuncOp kernel);
mlir::Value scanIdentity(mlir::OpBuilder &b, kernel::ScanOp op, int64_t width);
/// The lanes of each group with those before them, one step of all groups after the other.
void doubleLanes(mlir::OpBuilder &b, kernel::ScanOp op, llvm::MutableArrayRef<mlir::Value> groups);

/// Every element of a group with those before it: 1, 2, 4, 8 apart, last first.
void doubleUp(mlir::OpBuilder &b, kernel::ScanOp op, llvm::MutableArrayRef<mlir::Value> group);

/// One block of elements, of one row or of a vector of columns.
struct KernelLowering::ScanLoop {
  kernel::ScanOp op;
  bool stores;
  Position row;
  mlir::Value first, length; ///< elements
  mlir::Value before;        ///< what precedes the block, for all lanes or each; null: nothing
  mlir::Value total;         ///< set by the loop: result of a whole block
  mlir::Value kept;          ///< memory where values wait for `before`; null: they are stored
  mlir::Value keptFirst;     ///< index of the block's first value there
  bool isLong = false;       ///< of a line of several blocks, most of which are whole

  /// Of a line whose pieces tell each other their blocks' results: all its functions.
  static void lowerOrdered(KernelLowering &l);
  /// Of columns, by groups of work-items: likewise.
  static void lowerGroupColumns(KernelLowering &l);
  class GroupColumns;

  /// Lanes are consecutive elements: a group is a vector.
  void vectors(KernelLowering &l, mlir::OpBuilder &b);
  mlir::Value vectorGroups(KernelLowering &l, mlir::OpBuilder &b, mlir::Value index, int64_t count,
                           mlir::Value limit, mlir::Value carry);
  /// There is one lane: groups pass through memory.
  void groups(KernelLowering &l, mlir::OpBuilder &b);
  void keep(mlir::OpBuilder &b, mlir::Value y, mlir::Value place);
  mlir::Value recall(mlir::OpBuilder &b, mlir::Value place, int64_t lanes);
  void storeKept(KernelLowering &l, mlir::OpBuilder &b);
  class Ordered;
  mlir::Value group(KernelLowering &l, mlir::OpBuilder &b, ScanStage &stage, mlir::Value start,
                    mlir::Value count, mlir::Value carry);
  mlir::Value registerGroup(KernelLowering &l, mlir::OpBuilder &b, mlir::Value start,
                            mlir::Value carry);
  void readBefore(KernelLowering &l, mlir::OpBuilder &b, ScanStage &partial, mlir::Value item,
                  mlir::Value blocks, int64_t lanes);
  mlir::Value complete(mlir::OpBuilder &b, mlir::Value y);
  void store(KernelLowering &l, mlir::OpBuilder &b, Position &at, mlir::Value y);
  void columns(KernelLowering &l, mlir::OpBuilder &b, ColumnRun &run, mlir::Value blocks);
};

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_LOWER_SCANLOOP_H
