//===- Reducers.h - What each kind of reduction accumulates
//--------------------------------------------------===//
#ifndef GRAPHC_COMPILER_PASSES_LOWER_REDUCERS_H
#define GRAPHC_COMPILER_PASSES_LOWER_REDUCERS_H

#include "dialects/kernel/Kernel.h"

namespace graphc::pass {

/// The state of one reduction: one value, or value and index for argmin and argmax. States are
/// scalars or vectors of lanes; combining with the identity changes no bits.
class Reducer {
public:
  explicit Reducer(kernel::ReduceOp op);

  unsigned parts() const { return isArg ? 2 : 1; }
  /// Element types of the parts.
  llvm::SmallVector<mlir::Type, 2> types() const;
  llvm::SmallVector<mlir::Value, 2> identity(mlir::OpBuilder &builder, int64_t width) const;
  /// `state` then `other`, in this order.
  llvm::SmallVector<mlir::Value, 2> combine(mlir::OpBuilder &builder, mlir::ValueRange state,
                                            mlir::ValueRange other) const;
  /// The state of one element; `index` is its i64 position among the reduced elements.
  llvm::SmallVector<mlir::Value, 2> lift(mlir::Value value, mlir::Value index) const;
  mlir::Value result(mlir::ValueRange state) const { return state.back(); }
  bool needsIndex() const { return isArg; }

  mutable kernel::ReduceOp op; ///< ODS accessors are not const

private:
  mlir::Value pick(mlir::OpBuilder &builder, mlir::ValueRange state, mlir::ValueRange other) const;
  bool isArg;
  mlir::Type element; ///< signless
};

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_LOWER_REDUCERS_H
