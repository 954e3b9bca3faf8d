#include "dialects/opset/Infer.h"
#include "dialects/opset/Promote.h"
#include "runtime/base/Strings.h"

#include <algorithm>

namespace graphc::op {
namespace {

using strings::format;

/// Sizes of a gather from `x`: those off the axes, with the indices' inserted at `position`.
Result<Shape> gatheredShape(std::string_view op, std::span<const int64_t> x,
                            std::span<const TensorView> indices, std::span<const int64_t> axes,
                            int64_t position) {
  // gather_c1, scatter_c1
  if (indices.empty() || indices.size() != axes.size())
    return Status(ErrorCode::InvalidArgument,
                  format("[{}] one index an axis is needed: {} indices, {} axes", op,
                         indices.size(), axes.size()));
  for (const TensorView &index : indices) {
    if (index.dtype != DType::Int64)
      return Status(ErrorCode::DType,
                    format("[{}] indices are int64, not {}", op, dtypeName(index.dtype)));
    if (!std::ranges::equal(index.shape, indices[0].shape))
      return Status(ErrorCode::Shape,
                    format("[{}] indices have shapes {} and {}", op, compactShape(indices[0].shape),
                           compactShape(index.shape)));
  }
  // gather_c2, scatter_c2
  std::vector<int64_t> dims;
  for (size_t i = 0; i < axes.size(); ++i)
    if (axes[i] < (i ? axes[i - 1] + 1 : 0) || axes[i] >= static_cast<int64_t>(x.size()))
      return Status(ErrorCode::Axis,
                    format("[{}] axes must increase and lie in [0, {})", op, x.size()));
  for (size_t i = 0; i < x.size(); ++i)
    if (!std::ranges::binary_search(axes, static_cast<int64_t>(i)))
      dims.push_back(x[i]);
  // gather_c3, scatter_c3
  if (position < 0 || position > static_cast<int64_t>(dims.size()))
    return Status(ErrorCode::Axis,
                  format("[{}] position {} is not in [0, {}]", op, position, dims.size()));
  dims.insert(dims.begin() + position, indices[0].shape.begin(), indices[0].shape.end());
  return Shape(std::span<const int64_t>(dims));
}

Result<TensorType> inferScatter(std::span<const TensorView> operands,
                                std::span<const int64_t> attrs) {
  ScatterAttrs a;
  if (!a.decode(attrs) || operands.size() < 2 || a.combine < -1 || a.combine >= kOpKindCount ||
      a.mode < 0 || a.mode > 3)
    return Status(ErrorCode::Internal, "[scatter] malformed attributes");
  const TensorView &x = operands[0], &value = operands[1];
  GRAPHC_ASSIGN(Shape shape,
                gatheredShape("scatter", x.shape, operands.subspan(2), a.axes, a.position));
  // scatter_c4
  if (value.dtype != x.dtype)
    return Status(ErrorCode::DType, format("[scatter] value has dtype {}, target has {}",
                                           dtypeName(value.dtype), dtypeName(x.dtype)));
  if (!std::ranges::equal(value.shape, shape))
    return Status(ErrorCode::Shape, format("[scatter] value has shape {}, the places have {}",
                                           compactShape(value.shape), compactShape(shape)));
  // scatter_c5
  if (a.combine >= 0) {
    auto kind = static_cast<OpKind>(a.combine);
    const OpInfo &info = opInfo(kind);
    if (info.category != Category::Elementwise || info.arity != 2 ||
        !acceptsDType(info.operandDTypes, x.dtype) || resultDType(kind, x.dtype) != x.dtype)
      return Status(ErrorCode::DType, format("[scatter] {} does not combine elements of dtype {}",
                                             info.name, dtypeName(x.dtype)));
  }
  return TensorType{x.dtype, Shape(x.shape)};
}

} // namespace

Result<TensorType> detail::inferIndexed(OpKind kind, std::span<const TensorView> operands,
                                        std::span<const int64_t> attrs) {
  if (kind == OpKind::Scatter)
    return inferScatter(operands, attrs);
  GatherAttrs a;
  if (!a.decode(attrs))
    return Status(ErrorCode::Internal, "[gather] malformed attributes");
  GRAPHC_ASSIGN(Shape shape, gatheredShape("gather", operands[0].shape, operands.subspan(1), a.axes,
                                           a.position));
  return TensorType{operands[0].dtype, std::move(shape)};
}

} // namespace graphc::op
