//===- KernelLaunches.h - The launches of one kernel
//--------------------------------------------===//
#ifndef GRAPHC_COMPILER_PASSES_PLAN_KERNELLAUNCHES_H
#define GRAPHC_COMPILER_PASSES_PLAN_KERNELLAUNCHES_H

#include "compiler/passes/lower/IndexMath.h"
#include "compiler/passes/lower/KernelShape.h"

namespace graphc::pass {

/// The value of an expression over a kernel's sizes.
mlir::Value evaluateSizes(mlir::OpBuilder &b, mlir::Location loc, mlir::AffineExpr expr,
                          mlir::ValueRange sizes);

/// Adds the launches of a kernel's functions to the plan. Of a kernel's forms, named by suffixes,
/// all are launched and one has something to do: which, the sizes say when the program runs. Where
/// items are split into blocks, the launches that fold block results follow.
class KernelLaunches {
public:
  /// `tickets` gives the buffer of the device's tickets to kernels that take them.
  KernelLaunches(mlir::OpBuilder &builder, kernel::CallOp call, kernel::FuncOp kernel,
                 llvm::ArrayRef<mlir::Value> buffers, mlir::ValueRange sizes,
                 llvm::function_ref<mlir::Value()> tickets);
  void plan();

private:
  mlir::Value evaluate(mlir::AffineExpr expr) { return evaluateSizes(m.b, m.loc, expr, sizes); }
  /// A launch of <kernel><suffix>; folds see no points.
  void step(llvm::StringRef suffix, mlir::Value items, mlir::Value each);
  void stepFold(llvm::StringRef suffix, mlir::Value items, mlir::Value each);
  void launch(llvm::StringRef suffix, llvm::ArrayRef<mlir::Value> touched, mlir::Value items,
              mlir::Value each);
  void bulkStep(mlir::Value items, mlir::Value each);
  void planBlocks();
  void planHanded(mlir::Value kept, mlir::Value items, mlir::Value several, mlir::Value each);

  mlir::Value groups(mlir::Value count, int64_t each) const;
  mlir::Value areMultiples(llvm::ArrayRef<mlir::AffineExpr> these, int64_t of);
  mlir::Value sharesOfStrip() const, sharedPieces() const;
  mlir::Value runsInBulk(mlir::Value wide);
  void takeShort(), takeRows(), takeEach(), takeBulk(), takeSmall(), takeRun();
  mlir::Value foldItems(mlir::Value blocks);
  void addPartials(mlir::Value count);

  IndexMath m;
  kernel::CallOp call;
  kernel::FuncOp kernel;
  KernelShape shape;
  llvm::SmallVector<mlir::Value> buffers, sizes;
  llvm::function_ref<mlir::Value()> tickets;
  mlir::Value range, work, strips;
  mlir::Value pieces;           ///< of the kernel's own form: none where another runs
  mlir::Value bulk, small, run; ///< pieces of those; null where there is no such form
};

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_PLAN_KERNELLAUNCHES_H
