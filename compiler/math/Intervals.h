//===- Intervals.h - What values integer expressions can have ---------------------------------===//
#ifndef GRAPHC_COMPILER_MATH_INTERVALS_H
#define GRAPHC_COMPILER_MATH_INTERVALS_H

#include "mlir/IR/Value.h"
#include "llvm/ADT/DenseMap.h"

#include <cstdint>
#include <limits>

namespace graphc::math {

/// Inclusive bounds as signed 64-bit integers.
struct Interval {
  int64_t low = std::numeric_limits<int64_t>::min();
  int64_t high = std::numeric_limits<int64_t>::max();
  bool isConstant() const { return low == high; }
};

/// Bounds of integer values from constants, casts, remainders, masks, shifts, selections, sums and
/// products of bounded values. An
/// operation whose exact bounds do not fit its type has the type's bounds, because it may wrap.
class Intervals {
public:
  Interval of(mlir::Value value);
  /// Bounds of a value that says nothing itself; before it is asked for.
  void note(mlir::Value value, Interval interval) { known[value] = interval; }
  /// To be called before a value is erased.
  void forget(mlir::Value value) { known.erase(value); }

private:
  Interval compute(mlir::Value value);
  Interval narrowed(mlir::Operation *op, mlir::Type element);
  Interval chosen(mlir::Operation *op, mlir::Type element);
  Interval arithmetic(mlir::Operation *op, mlir::Type element);
  llvm::DenseMap<mlir::Value, Interval> known;
};

} // namespace graphc::math

#endif // GRAPHC_COMPILER_MATH_INTERVALS_H
