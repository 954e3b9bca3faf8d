//===- Scans.h - The tree of scans ----------------------------------------------------------===//
#ifndef GRAPHC_COMPILER_PASSES_LOWER_SCANS_H
#define GRAPHC_COMPILER_PASSES_LOWER_SCANS_H

#include "compiler/passes/lower/BodyEmitter.h"
#include "compiler/passes/lower/ScanShape.h"

namespace graphc::pass {

kernel::ScanOp scanOf(kernel::FuncOp kernel);
mlir::Value scanIdentity(mlir::OpBuilder &b, kernel::ScanOp op, int64_t width);
/// The lanes of each group with those before them, one step of all groups after the other.
void doubleLanes(mlir::OpBuilder &b, kernel::ScanOp op, llvm::MutableArrayRef<mlir::Value> groups);

/// Every element of a group with those before it: 1, 2, 4, 8 apart, last first.
void doubleUp(mlir::OpBuilder &b, kernel::ScanOp op, llvm::MutableArrayRef<mlir::Value> group);

/// Elements of one group and of any number of lanes, in memory.
class ScanStage {
public:
  ScanStage(mlir::Block *entry, kernel::ScanOp op, int64_t lanes);
  mlir::Value get(mlir::OpBuilder &b, mlir::Value number);
  void set(mlir::OpBuilder &b, mlir::Value number, mlir::Value value);
  /// Elements of a buffer from `index`; a mask leaves lanes out.
  mlir::Value read(mlir::OpBuilder &b, mlir::Value buffer, mlir::Value index, mlir::Value mask);
  void write(mlir::OpBuilder &b, mlir::Value value, mlir::Value buffer, mlir::Value index,
             mlir::Value mask);
  /// Every element with those before it, among the first `count`: 1, 2, 4, 8 apart, last first.
  void doubleUp(mlir::OpBuilder &b, mlir::Value count);

private:
  mlir::Value place(mlir::OpBuilder &b, mlir::Value number);

  kernel::ScanOp op;
  mlir::Location loc;
  int64_t lanes;
  mlir::Value memory;
};

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_LOWER_SCANS_H
