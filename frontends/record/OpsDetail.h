//===- OpsDetail.h - Shared by the files that implement Ops.h ---------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_OPSDETAIL_H
#define GRAPHC_FRONTENDS_RECORD_OPSDETAIL_H

#include "frontends/record/Array.h"
#include "frontends/record/Holders.h"
#include "frontends/record/Session.h"

namespace graphc::ops::detail {

/// The array of a node that was just recorded; evaluates it when the pending bytes are above the
/// budget.
inline Result<Array> finish(Result<NodeRef> made) {
  if (!made)
    return made.takeStatus();
  GRAPHC_TRY(respectBudget(*made));
  Array out(made.take());
  noteHolder(out);
  return out;
}

/// An error about an axis, with the shape it was meant for.
template <typename T>
Result<T> inShape(Result<T> r, const Shape &shape) {
  if (r)
    return r;
  return Status(r.status().code(), r.status().message() + ", shape " + op::compactShape(shape));
}

/// Shape of a value without its leading size-1 axes beyond `rank`: NumPy lets them go when
/// assigning.
inline Shape trimmed(std::span<const int64_t> shape, int64_t rank) {
  while (static_cast<int64_t>(shape.size()) > rank && shape.front() == 1)
    shape = shape.subspan(1);
  return Shape(shape);
}

/// Min, max, argmin (argmax) of complex numbers over `axes` (over one), which keep size 1.
Result<Array> reduceExtreme(op::ReduceKind kind, const Array &x, std::span<const int64_t> axes);

} // namespace graphc::ops::detail

#endif // GRAPHC_FRONTENDS_RECORD_OPSDETAIL_H
