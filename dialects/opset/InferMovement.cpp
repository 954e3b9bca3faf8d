#include "dialects/opset/Infer.h"
#include "runtime/base/Strings.h"

#include <algorithm>

namespace graphc::op {
namespace {

using strings::format;

Status malformed(OpKind kind) {
  return Status(ErrorCode::Internal, format("[{}] malformed attributes", opInfo(kind).name));
}

Result<TensorType> inferBroadcast(const TensorView &x, std::span<const int64_t> attrs,
                                  const TensorType &wanted) {
  BroadcastAttrs a;
  if (!a.decode(attrs))
    return malformed(OpKind::Broadcast);
  // broadcast_c1
  if (a.dims.size() != x.shape.size())
    return Status(ErrorCode::Shape, format("[broadcast] {} axes named for shape {}", a.dims.size(),
                                           compactShape(x.shape)));
  for (size_t i = 0; i < a.dims.size(); ++i) {
    if (a.dims[i] < (i ? a.dims[i - 1] + 1 : 0) || a.dims[i] >= wanted.shape.rank())
      return Status(ErrorCode::Axis, "[broadcast] axes must increase and lie in the result");
    // broadcast_c2
    int64_t size = wanted.shape[static_cast<size_t>(a.dims[i])];
    if (x.shape[i] != 1 && x.shape[i] != size)
      return Status(ErrorCode::Shape,
                    format("[broadcast_to] operands could not be broadcast together with remapped "
                           "shapes [original->remapped]: {} and requested shape {}",
                           compactShape(x.shape), compactShape(wanted.shape)));
  }
  return TensorType{x.dtype, wanted.shape};
}

Result<TensorType> inferTranspose(const TensorView &x, std::span<const int64_t> attrs) {
  TransposeAttrs a;
  if (!a.decode(attrs))
    return malformed(OpKind::Transpose);
  // transpose_c1
  std::vector<int64_t> sorted = a.permutation;
  std::ranges::sort(sorted);
  for (size_t i = 0; i < sorted.size(); ++i)
    if (sorted[i] != static_cast<int64_t>(i))
      return Status(ErrorCode::Axis, "[transpose] axes are not a permutation");
  if (sorted.size() != x.shape.size())
    return Status(ErrorCode::InvalidArgument, "[transpose] axes don't match array");
  TensorType out{x.dtype, {}};
  out.shape.resize(x.shape.size());
  for (size_t i = 0; i < sorted.size(); ++i)
    out.shape[i] = x.shape[static_cast<size_t>(a.permutation[i])];
  return out;
}

Result<TensorType> inferReshape(const TensorView &x, const TensorType &wanted) {
  // reshape_c1
  GRAPHC_ASSIGN(Shape shape, resolveReshape(x.shape, wanted.shape));
  return TensorType{x.dtype, std::move(shape)};
}

Result<TensorType> inferSlice(const TensorView &x, std::span<const int64_t> attrs,
                              const TensorType &wanted) {
  SliceAttrs a;
  if (!a.decode(attrs))
    return malformed(OpKind::Slice);
  // slice_c1, slice_c2, slice_c3
  GRAPHC_TRY(detail::checkRegion("slice", x.shape, a.starts, a.steps, wanted.shape));
  return TensorType{x.dtype, wanted.shape};
}

Result<TensorType> inferFlip(const TensorView &x, std::span<const int64_t> attrs) {
  FlipAttrs a;
  if (!a.decode(attrs))
    return malformed(OpKind::Flip);
  // flip_c1
  for (size_t i = 0; i < a.axes.size(); ++i)
    if (a.axes[i] < 0 || a.axes[i] >= static_cast<int64_t>(x.shape.size()) ||
        std::count(a.axes.begin(), a.axes.end(), a.axes[i]) != 1)
      return Status(ErrorCode::Axis, "[flip] axes must be distinct and in range");
  return TensorType{x.dtype, Shape(x.shape)};
}

Result<TensorType> inferConcatenate(std::span<const TensorView> xs,
                                    std::span<const int64_t> attrs) {
  ConcatenateAttrs a;
  if (!a.decode(attrs))
    return malformed(OpKind::Concatenate);
  auto rank = static_cast<int64_t>(xs[0].shape.size());
  // concatenate_c3
  if (a.axis < 0 || a.axis >= rank)
    return Status(
        ErrorCode::Axis,
        format("[concatenate] axis {} is out of bounds for array of dimension {}", a.axis, rank));
  TensorType out{xs[0].dtype, Shape(xs[0].shape)};
  for (size_t i = 1; i < xs.size(); ++i) {
    // concatenate_c1
    if (xs[i].shape.size() != xs[0].shape.size())
      return Status(
          ErrorCode::Shape,
          format("[concatenate] all the input arrays must have same number of dimensions, but the "
                 "array at index 0 has {} dimension(s) and the array at index {} has {} "
                 "dimension(s): shapes {} {}",
                 xs[0].shape.size(), i, xs[i].shape.size(), compactShape(xs[0].shape),
                 compactShape(xs[i].shape)));
    if (xs[i].dtype != xs[0].dtype)
      return Status(ErrorCode::DType, format("[concatenate] array {} has dtype {}, array 0 has {}",
                                             i, dtypeName(xs[i].dtype), dtypeName(xs[0].dtype)));
    for (int64_t axis = 0; axis < rank; ++axis) {
      auto at = static_cast<size_t>(axis);
      if (axis == a.axis) {
        auto sum = checkedAdd(out.shape[at], xs[i].shape[at]);
        if (!sum)
          return Status(ErrorCode::Shape, "[concatenate] the result is too large");
        out.shape[at] = *sum;
      } else if (xs[i].shape[at] != xs[0].shape[at]) { // concatenate_c2
        return Status(ErrorCode::Shape,
                      format("[concatenate] all the input array dimensions except for the "
                             "concatenation axis must match "
                             "exactly, but along dimension {}, the array at index 0 has size {} "
                             "and the array at index {} "
                             "has size {}: shapes {} {}",
                             axis, xs[0].shape[at], i, xs[i].shape[at], compactShape(xs[0].shape),
                             compactShape(xs[i].shape)));
      }
    }
  }
  return out;
}

Result<TensorType> inferUpdate(std::span<const TensorView> operands,
                               std::span<const int64_t> attrs) {
  UpdateSliceAttrs a;
  if (!a.decode(attrs))
    return malformed(OpKind::UpdateSlice);
  const TensorView &x = operands[0], &value = operands[1];
  // update_slice_c2
  if (x.dtype != value.dtype)
    return Status(ErrorCode::DType, format("[update_slice] value has dtype {}, target has {}",
                                           dtypeName(value.dtype), dtypeName(x.dtype)));
  // update_slice_c1, update_slice_c3
  GRAPHC_TRY(detail::checkRegion("update_slice", x.shape, a.starts, a.steps, value.shape));
  return TensorType{x.dtype, Shape(x.shape)};
}

} // namespace

namespace detail {

Status checkRegion(std::string_view op, std::span<const int64_t> shape,
                   std::span<const int64_t> starts, std::span<const int64_t> steps,
                   std::span<const int64_t> counts) {
  if (starts.size() != shape.size() || steps.size() != shape.size() ||
      counts.size() != shape.size())
    return Status(ErrorCode::Shape,
                  format("[{}] one start, step and size per axis of {}", op, compactShape(shape)));
  for (size_t i = 0; i < shape.size(); ++i) {
    if (steps[i] == 0)
      return Status(ErrorCode::InvalidArgument, format("[{}] slice step cannot be zero", op));
    if (counts[i] == 0)
      continue;
    auto span = checkedMul(counts[i] - 1, steps[i]);
    auto last = span ? checkedAdd(starts[i], *span) : std::nullopt;
    if (!last || counts[i] < 0 || starts[i] < 0 || starts[i] >= shape[i] || *last < 0 ||
        *last >= shape[i])
      return Status(ErrorCode::Index,
                    format("[{}] elements {} + i * {} (i < {}) of axis {} leave its size {}", op,
                           starts[i], steps[i], counts[i], i, shape[i]));
  }
  return Status::ok();
}

Result<TensorType> inferMovement(OpKind kind, std::span<const TensorView> operands,
                                 std::span<const int64_t> attrs, const TensorType &wanted) {
  switch (kind) {
  case OpKind::Broadcast:
    return inferBroadcast(operands[0], attrs, wanted);
  case OpKind::Transpose:
    return inferTranspose(operands[0], attrs);
  case OpKind::Reshape:
    return inferReshape(operands[0], wanted);
  case OpKind::Slice:
    return inferSlice(operands[0], attrs, wanted);
  case OpKind::Flip:
    return inferFlip(operands[0], attrs);
  case OpKind::Concatenate:
    return inferConcatenate(operands, attrs);
  case OpKind::UpdateSlice:
    return inferUpdate(operands, attrs);
  default:
    return Status(ErrorCode::Internal, format("[{}] has no inference rule", opInfo(kind).name));
  }
}

} // namespace detail

Result<Shape> resolveReshape(std::span<const int64_t> from, std::span<const int64_t> to) {
  GRAPHC_ASSIGN(int64_t count, checkedCount("reshape", from));
  auto mismatch = [&] {
    return Status(ErrorCode::Shape,
                  format("[reshape] cannot reshape array of size {} into shape {}: its shape is {}",
                         count, compactShape(to), compactShape(from)));
  };
  Shape out(to);
  std::optional<size_t> unknown;
  for (size_t i = 0; i < to.size(); ++i) {
    if (to[i] >= 0)
      continue;
    if (unknown)
      return Status(ErrorCode::Shape, "[reshape] can only specify one unknown dimension");
    unknown = i; // Any size below zero is one, as in NumPy.
    out[i] = 1;
  }
  GRAPHC_ASSIGN(int64_t known, checkedCount("reshape", out));
  if (unknown) {
    if (known == 0 || count % known != 0)
      return mismatch();
    out[*unknown] = count / known;
    return out;
  }
  if (known != count)
    return mismatch();
  return out;
}

Result<std::vector<int64_t>> resolvePermutation(const std::optional<std::vector<int64_t>> &axes,
                                                int64_t rank) {
  std::vector<int64_t> out;
  if (!axes) {
    for (int64_t i = rank; i-- > 0;)
      out.push_back(i);
    return out;
  }
  if (static_cast<int64_t>(axes->size()) != rank)
    return Status(
        ErrorCode::InvalidArgument,
        format("[transpose] axes don't match array: {} axes for rank {}", axes->size(), rank));
  for (int64_t axis : *axes) {
    GRAPHC_ASSIGN(int64_t a, normalizeAxis("transpose", axis, rank));
    if (std::ranges::find(out, a) != out.end())
      return Status(ErrorCode::InvalidArgument, "[transpose] repeated axis in transpose");
    out.push_back(a);
  }
  return out;
}

} // namespace graphc::op
