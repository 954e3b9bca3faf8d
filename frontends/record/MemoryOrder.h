//===- MemoryOrder.h - How results lie in memory ----------------------------------------------===//
//
// A result of elementwise operations lies as its operands do (NumPy's order "K"): it is computed
// with its axes in the order of their strides, and shown with them in their places. Values do not
// depend on it.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_MEMORYORDER_H
#define GRAPHC_FRONTENDS_RECORD_MEMORYORDER_H

#include "frontends/record/Ops.h"

#include <algorithm>
#include <functional>

namespace graphc::ops {

/// Whether an operand lies in another order than row-major, as no array does that was made whole.
inline bool mayKeepOrder(std::span<const Operand> operands) {
  return std::ranges::any_of(operands, [](const Operand &o) {
    return o.array && o.array->rank() > 1 && !o.array->view().isWhole() &&
           !o.array->view().isContiguous();
  });
}

/// Whether two arrays show the same elements of one storage in the same places.
bool isSameView(const Array &a, const Array &b);

/// The axes of a result of this shape from the slowest to the fastest, as the operands, which
/// broadcast to it, lie; row-major where they disagree. Empty for row-major, and inside a trace.
AxisList keptOrder(const Shape &shape, std::span<const Operand> operands);

/// The same of what arrays of one rank are joined to: an axis that orders nothing stays behind
/// those before it, where keptOrder leaves it in front of those after it.
AxisList joinedOrder(std::span<const Operand> operands);

/// `x` with its axes in the order in which they lie; inside a trace as it is.
Array inMemoryOrder(const Array &x);

/// An array that was made with its axes in that order with them in their places: it owns its memory
/// still. Of no order, as it is.
Array turnedBack(Array made, std::span<const int64_t> order);

/// What `apply` gives of the operands with their axes in that order, with its axes in their places.
Result<Array> inOrder(std::span<const int64_t> order, std::span<const Operand> operands,
                      const std::function<Result<Array>(std::span<const Operand>)> &apply);

} // namespace graphc::ops

#endif // GRAPHC_FRONTENDS_RECORD_MEMORYORDER_H
