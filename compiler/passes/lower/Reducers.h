//===- Reducers.h - What each kind of reduction accumulates -----------------------------------===//
#ifndef GRAPHC_COMPILER_PASSES_LOWER_REDUCERS_H
#define GRAPHC_COMPILER_PASSES_LOWER_REDUCERS_H

#include "dialects/kernel/Kernel.h"

namespace graphc::pass {

/// What a scan makes of what came `earlier` and of what comes `later`.
mlir::Value combineScanned(mlir::OpBuilder &builder, kernel::ScanOp op, mlir::Value earlier,
                           mlir::Value later);

/// What changes no bits when it is combined first, in `width` lanes.
mlir::Value reductionIdentity(mlir::OpBuilder &builder, mlir::Location loc, graph::ReduceKind kind,
                              mlir::Type element, int64_t width);

/// The small integers of which a sum is a sum, or null: as long as they come in order, or make a
/// block of the tree, their sum is the same in integers, and exact in what it is of.
mlir::Value narrowSource(kernel::ReduceOp op);

/// The state of one reduction: one value, or value and index for argmin and argmax. States are
/// scalars or vectors of lanes; combining with the identity changes no bits.
///
/// A sequence state serves while elements come in order, at most 128 of them per lane: its index
/// counts them in an integer of the element's width, so that an index vector costs no more
/// registers than its values. That of a narrow sum is in integers of twice the width of what is
/// summed, which hold so many.
class Reducer {
public:
  /// `narrows`: sums of small integers may be narrow.
  explicit Reducer(kernel::ReduceOp op, bool narrows = false);

  /// What is combined: append() takes values of its type.
  mlir::Value value() const { return source ? source : op.getValue(); }
  bool isNarrow() const { return bool(source); }
  /// Whether states may be combined in any order, and elements be appended to any lane.
  bool isFree() const;
  /// Argmin and argmax: what finds the value alone.
  Reducer ofValue() const;
  unsigned parts() const { return isArg ? 2 : 1; }
  /// Element types of the parts.
  llvm::SmallVector<mlir::Type, 2> types() const;
  llvm::SmallVector<mlir::Type, 2> sequenceTypes() const;
  llvm::SmallVector<mlir::Value, 2> identity(mlir::OpBuilder &builder, int64_t width) const;
  llvm::SmallVector<mlir::Value, 2> sequenceIdentity(mlir::OpBuilder &builder, int64_t width) const;
  /// `state` then `other`, in this order.
  llvm::SmallVector<mlir::Value, 2> combine(mlir::OpBuilder &builder, mlir::ValueRange state,
                                            mlir::ValueRange other) const;
  /// A sequence state and its next element, the one numbered `number` (an index value).
  llvm::SmallVector<mlir::Value, 2> append(mlir::OpBuilder &builder, mlir::ValueRange state,
                                           mlir::Value value, mlir::Value number) const;
  /// The state that a sequence state stands for: element n of lane l is at first + n * step + l *
  /// laneStep.
  llvm::SmallVector<mlir::Value, 2> fromSequence(mlir::OpBuilder &builder, mlir::ValueRange state,
                                                 mlir::Value first, int64_t step,
                                                 int64_t laneStep) const;
  /// Argmin and argmax: of two values the one that is found, whether that is `other`, which comes
  /// later, and where `value` is as good as the best one.
  mlir::Value found(mlir::OpBuilder &builder, mlir::Value value, mlir::Value other) const;
  mlir::Value better(mlir::OpBuilder &builder, mlir::Value state, mlir::Value other) const;
  mlir::Value ties(mlir::OpBuilder &builder, mlir::Value value, mlir::Value best) const;
  mlir::Value result(mlir::ValueRange state) const { return state.back(); }

  mutable kernel::ReduceOp op; ///< ODS accessors are not const

private:
  mlir::Value pick(mlir::OpBuilder &builder, mlir::ValueRange state, mlir::ValueRange other) const;
  bool isArg;
  mlir::Type element;
  mlir::Value source; ///< of a narrow sum, else null
};

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_LOWER_REDUCERS_H
