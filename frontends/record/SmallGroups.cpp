// Reductions and products that are computed in several.
#include "frontends/record/SmallElements.h"
#include "frontends/record/SmallNumeric.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

namespace graphc::small {

using op::ReduceKind;

Outcome reduceByGroups(ReduceKind kind, const Array &x, std::span<const int64_t> axes, DType t,
                       const Shape &shape) {
  if (kind == ReduceKind::ArgMin || kind == ReduceKind::ArgMax)
    return NodeRef();
  if (kind == ReduceKind::Mean) { // its number of elements is that of all groups
    if (!isFloat(t))
      return NodeRef();
    GRAPHC_ASSIGN(NodeRef sum, reduceByGroups(ReduceKind::Sum, x, axes, t, shape));
    if (!sum)
      return NodeRef();
    const int64_t count = countOf(x.shape()) / countOf(shape);
    const Array whole(std::move(sum), 0);
    const Operand parts[] = {whole, op::Scalar::ofFloat(static_cast<double>(count))};
    return elementwise(op::OpKind::Div, parts, t, shape, x.device());
  }
  auto isReduced = [&](int64_t axis) { return std::ranges::find(axes, axis) != axes.end(); };
  int64_t first = x.rank();
  for (int64_t axis = x.rank(); axis-- > 0;) {
    if (x.shape()[axis] == 1)
      continue;
    if (isReduced(axis))
      first = axis;
    else if (first < x.rank())
      break;
  }
  std::vector<int64_t> last, others, between;
  for (int64_t axis = 0; axis < x.rank(); ++axis) {
    if (isReduced(axis))
      (axis < first ? others : last).push_back(axis);
    if (axis < first || !isReduced(axis))
      between.push_back(x.shape()[axis]);
  }
  GRAPHC_ASSIGN(NodeRef part, reduce(kind, x, last, t, Shape(between)));
  if (!part)
    return NodeRef();
  const DType made = part->dtype();
  return reduce(kind, Array(std::move(part), 0), others, made, shape);
}

/// `count` elements along an axis; nothing where they cannot be shown.
static std::optional<Array> partOf(const Array &x, size_t axis, int64_t from, int64_t count) {
  Shape shape = x.shape();
  shape[axis] = count;
  const Shape &strides = x.view().strides();
  auto view = x.view().strided(shape, strides, x.view().offset() + from * strides[axis]);
  return view ? std::optional(x.withView(std::move(*view))) : std::nullopt;
}

Outcome productOfBlocks(const Array &x, const Array &y, DType t, const Shape &shape) {
  constexpr int64_t kRun = 4;
  if ((t != DType::Float32 && t != DType::Float64))
    return NodeRef();
  const size_t along = x.shape().size() - 1;
  const int64_t depth = x.shape()[along];
  NodeRef all, run;
  auto add = [&](NodeRef &sum, NodeRef part) -> Result<bool> {
    if (sum && part) {
      const Array first(std::move(sum), 0), second(std::move(part), 0);
      const Operand both[] = {first, second};
      GRAPHC_ASSIGN(part, elementwise(op::OpKind::Add, both, t, shape, x.device()));
    }
    sum = std::move(part);
    return sum != nullptr;
  };
  for (int64_t from = 0, block = 1; from < depth; from += kMostDepth, ++block) {
    const int64_t count = std::min(kMostDepth, depth - from);
    auto left = partOf(x, along, from, count), right = partOf(y, 0, from, count);
    if (!left || !right)
      return NodeRef();
    GRAPHC_ASSIGN(NodeRef part, matmul(*left, *right, t, shape));
    bool isAdded = part != nullptr;
    if (isAdded) {
      GRAPHC_ASSIGN(isAdded, add(run, std::move(part)));
    }
    if (isAdded && (block % kRun == 0 || from + count == depth)) {
      GRAPHC_ASSIGN(isAdded, add(all, std::exchange(run, {})));
    }
    if (!isAdded)
      return NodeRef();
  }
  return all;
}

} // namespace graphc::small
