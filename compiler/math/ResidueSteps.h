//===- ResidueSteps.h - Remainders by constants and what their dividends are made of ----------===//
#ifndef GRAPHC_COMPILER_MATH_RESIDUESTEPS_H
#define GRAPHC_COMPILER_MATH_RESIDUESTEPS_H

#include "compiler/math/Intervals.h"
#include "dialects/graph/Graph.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/SetVector.h"

#include <optional>

namespace graphc::math {

/// One remainder of int64 vectors by a constant, and the sums and products in its block that its
/// dividend is made of.
struct ResidueStep {
  graph::RemainderOp op;
  mlir::Value dividend, result;
  int64_t p;
  llvm::SetVector<mlir::Operation *> tree; ///< operands before users
  llvm::SetVector<mlir::Value> leaves;
  mlir::Value lazy; ///< a value that stands for the result; null until there is one
};

/// In order of the function; none whose dividend has very many operations.
using ResidueSteps = llvm::MapVector<mlir::Operation *, ResidueStep>;
ResidueSteps residueSteps(mlir::func::FuncOp func, Intervals &intervals);

/// Results of steps with a lazy value that others use become what `canonical` makes of it, in
/// [0, p); what nothing reads any more is erased.
void replaceResidues(mlir::func::FuncOp func, ResidueSteps &steps, Intervals &intervals,
                     llvm::function_ref<mlir::Value(mlir::OpBuilder &, ResidueStep &)> canonical);

/// How large a value can become, with the operations of dividendIn().
struct Magnitude {
  long double most;
  Magnitude operator*(Magnitude b) const { return {most * b.most}; }
  Magnitude operator+(Magnitude b) const { return {most + b.most}; }
  Magnitude operator-(Magnitude b) const { return {most + b.most}; }
  Magnitude operator-() const { return *this; }
};

/// The dividend as a value of a ring T (with +, -, * and negation), from its leaves; nothing when a
/// value on the way does not fit.
template <typename T, typename Leaf, typename Fits>
std::optional<T> dividendIn(const ResidueStep &step, Leaf leaf, Fits fits) {
  llvm::DenseMap<mlir::Value, T> known;
  for (mlir::Value value : step.leaves)
    known.insert({value, leaf(value)});
  for (mlir::Operation *op : step.tree) {
    T a = known.at(op->getOperand(0)), b = known.at(op->getOperand(op->getNumOperands() - 1));
    T result = mlir::isa<graph::MulOp, graph::SquareOp>(op) ? a * b
               : mlir::isa<graph::AddOp>(op)                ? a + b
               : mlir::isa<graph::SubOp>(op)                ? a - b
                                                            : -a;
    if (!fits(result))
      return std::nullopt;
    known.insert({op->getResult(0), result});
  }
  T result = known.at(step.dividend);
  return fits(result) ? std::optional<T>(result) : std::nullopt;
}

} // namespace graphc::math

#endif // GRAPHC_COMPILER_MATH_RESIDUESTEPS_H
