//===- ScanLoop.h - Blocks of running sums and products ---------------------------------------===//
#ifndef GRAPHC_COMPILER_PASSES_LOWER_CORE_SCANLOOP_H
#define GRAPHC_COMPILER_PASSES_LOWER_CORE_SCANLOOP_H

#include "compiler/passes/lower/Scans.h"
#include "compiler/passes/lower/core/CoreLowering.h"

namespace graphc::pass {

/// Registers of groups whose steps are taken in turns where the body is short: a step waits for the
/// one before it.
inline constexpr int64_t kRegistersTogether = 4;

/// One block of elements, of one row or of a vector of columns.
struct CoreLowering::ScanLoop {
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
  static void lowerOrdered(CoreLowering &l);

  /// Lanes are consecutive elements: a group is a vector.
  void vectors(CoreLowering &l, mlir::OpBuilder &b);
  mlir::Value vectorGroups(CoreLowering &l, mlir::OpBuilder &b, mlir::Value index, int64_t count,
                           mlir::Value limit, mlir::Value carry);
  /// There is one lane: groups pass through memory.
  void groups(CoreLowering &l, mlir::OpBuilder &b);
  void keep(mlir::OpBuilder &b, mlir::Value y, mlir::Value place);
  mlir::Value recall(mlir::OpBuilder &b, mlir::Value place, int64_t lanes);
  void storeKept(CoreLowering &l, mlir::OpBuilder &b);
  class Ordered;
  mlir::Value group(CoreLowering &l, mlir::OpBuilder &b, ScanStage &stage, mlir::Value start,
                    mlir::Value count, mlir::Value carry);
  mlir::Value registerGroup(CoreLowering &l, mlir::OpBuilder &b, mlir::Value start,
                            mlir::Value carry);
  mlir::Value longGroup(CoreLowering &l, mlir::OpBuilder &b, ScanStage &stage, mlir::Value start,
                        mlir::Value carry);
  void readBefore(CoreLowering &l, mlir::OpBuilder &b, ScanStage &partial, mlir::Value item,
                  mlir::Value blocks, int64_t lanes);
  mlir::Value complete(mlir::OpBuilder &b, mlir::Value y);
  void store(CoreLowering &l, mlir::OpBuilder &b, Position &at, mlir::Value y);
  void columns(CoreLowering &l, mlir::OpBuilder &b, ColumnRun &run, mlir::Value blocks);
};

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_LOWER_CORE_SCANLOOP_H
