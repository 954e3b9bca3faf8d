#include "dialects/opset/Infer.h"

#include "dialects/opset/Promote.h"
#include "runtime/base/Routine.h"
#include "runtime/base/Strings.h"

#include <algorithm>

namespace graphc::op {
namespace {

using strings::format;

Status malformed(OpKind kind) {
  return Status(ErrorCode::Internal, format("[{}] malformed attributes", opInfo(kind).name));
}

/// Index, stream and key are uint64, the parameters float64; the result is as the last operand.
Result<TensorType> inferRandom(OpKind kind, std::span<const TensorView> operands) {
  constexpr size_t kWords = 3;
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!std::ranges::equal(operands[i].shape, operands[0].shape))
      return Status(ErrorCode::Shape,
                    format("[{}] operand {} has shape {}, operand 0 has {}", opInfo(kind).name, i,
                           compactShape(operands[i].shape), compactShape(operands[0].shape)));
    DType wanted = i < kWords ? DType::UInt64 : DType::Float64;
    if (operands[i].dtype != wanted)
      return Status(ErrorCode::DType,
                    format("[{}] operand {} has dtype {}, expected {}", opInfo(kind).name, i,
                           dtypeName(operands[i].dtype), dtypeName(wanted)));
  }
  TensorType out;
  out.dtype = operands.back().dtype;
  out.shape.assign(operands[0].shape);
  return out;
}

Result<TensorType> inferElementwise(OpKind kind, std::span<const TensorView> operands,
                                    const TensorType &wanted) {
  const OpInfo &info = opInfo(kind);
  if (info.operandDTypes == DTypeClass::Random)
    return inferRandom(kind, operands);
  bool isSelect = kind == OpKind::Select;
  const TensorView &first = operands[isSelect ? 1 : 0];
  for (size_t i = 0; i < operands.size(); ++i) {
    if (!std::ranges::equal(operands[i].shape, first.shape))
      return Status(ErrorCode::Shape,
                    format("[{}] operand {} has shape {}, operand 0 has {}", info.name, i,
                           compactShape(operands[i].shape), compactShape(first.shape)));
    DType expected = isSelect && i == 0 ? DType::Bool : first.dtype;
    if (operands[i].dtype != expected)
      return Status(ErrorCode::DType, format("[{}] operand {} has dtype {}, expected {}", info.name,
                                             i, dtypeName(operands[i].dtype), dtypeName(expected)));
  }
  if (!acceptsDType(info.operandDTypes, first.dtype))
    return Status(ErrorCode::DType,
                  format("[{}] not supported for operands of dtype {}: it needs {}", info.name,
                         dtypeName(first.dtype), dtypeClassText(info.operandDTypes)));
  // complex_c1
  if (info.resultRule == ResultRule::ComplexOf && isNarrowFloat(first.dtype))
    return Status(ErrorCode::DType, format("[{}] parts are float32 or float64, not {}", info.name,
                                           dtypeName(first.dtype)));
  // bitcast_c1
  if (kind == OpKind::Bitcast && (itemSize(wanted.dtype) != itemSize(first.dtype) ||
                                  !acceptsDType(info.operandDTypes, wanted.dtype)))
    return Status(ErrorCode::DType, format("[bitcast] {} and {} are not real numbers of one width",
                                           dtypeName(first.dtype), dtypeName(wanted.dtype)));
  TensorType out;
  out.dtype =
      info.resultRule == ResultRule::Explicit ? wanted.dtype : resultDType(kind, first.dtype);
  out.shape.assign(first.shape);
  return out;
}

Status checkReduceDType(ReduceKind kind, DType t) {
  bool logical = kind == ReduceKind::Any || kind == ReduceKind::All;
  bool order = kind == ReduceKind::Min || kind == ReduceKind::Max || kind == ReduceKind::ArgMin ||
               kind == ReduceKind::ArgMax;
  // reduce_c2
  if (logical != (t == DType::Bool) && !order)
    return Status(ErrorCode::DType,
                  format("[{}] not supported for dtype {}", reduceKindName(kind), dtypeName(t)));
  // reduce_c5
  if (kind == ReduceKind::Mean && !isInexact(t))
    return Status(ErrorCode::DType, format("[mean] needs a floating dtype, not {}", dtypeName(t)));
  // reduce_c6
  if (isComplex(t) && kind != ReduceKind::Mean && kind != ReduceKind::Sum)
    return Status(ErrorCode::DType,
                  format("[{}] not supported for dtype {}", reduceKindName(kind), dtypeName(t)));
  return Status::ok();
}

Result<TensorType> inferReduce(const TensorView &x, std::span<const int64_t> attrs) {
  ReduceAttrs a;
  if (!a.decode(attrs) || a.kind < 0 || a.kind >= kReduceKindCount)
    return malformed(OpKind::Reduce);
  auto kind = static_cast<ReduceKind>(a.kind);
  GRAPHC_TRY(checkReduceDType(kind, x.dtype));
  // reduce_c1
  auto rank = static_cast<int64_t>(x.shape.size());
  for (size_t i = 0; i < a.axes.size(); ++i)
    if (a.axes[i] < 0 || a.axes[i] >= rank || (i && a.axes[i] <= a.axes[i - 1]))
      return Status(ErrorCode::Axis, format("[{}] axes must increase and lie in [0, {})",
                                            reduceKindName(kind), rank));
  bool arg = kind == ReduceKind::ArgMin || kind == ReduceKind::ArgMax;
  // reduce_c3
  if (arg && a.axes.size() != 1)
    return Status(ErrorCode::Axis,
                  format("[{}] reduces one axis, not {}", reduceKindName(kind), a.axes.size()));
  // reduce_c4
  if (arg || kind == ReduceKind::Min || kind == ReduceKind::Max)
    for (int64_t axis : a.axes)
      if (x.shape[static_cast<size_t>(axis)] == 0)
        return Status(
            ErrorCode::Shape,
            arg ? format("[{0}] attempt to get {0} of an empty sequence: shape {1}, axis {2}",
                         reduceKindName(kind), compactShape(x.shape), axis)
                : format("[{}] zero-size array to reduction operation {} which has no identity: "
                         "shape {}, axis {}",
                         reduceKindName(kind), kind == ReduceKind::Min ? "minimum" : "maximum",
                         compactShape(x.shape), axis));
  return TensorType{arg ? DType::Int64 : x.dtype, reducedShape(x.shape, a.axes, false)};
}

Result<TensorType> inferScan(const TensorView &x, std::span<const int64_t> attrs) {
  ScanAttrs a;
  if (!a.decode(attrs) || a.kind < 0 || a.kind >= kReduceKindCount)
    return malformed(OpKind::Scan);
  auto kind = static_cast<ReduceKind>(a.kind);
  // scan_c1
  if (a.axis < 0 || a.axis >= static_cast<int64_t>(x.shape.size()))
    return Status(ErrorCode::Axis, format("[cumulative_{}] axis {} is out of bounds for rank {}",
                                          reduceKindName(kind), a.axis, x.shape.size()));
  // scan_c2
  if (kind != ReduceKind::Sum && kind != ReduceKind::Prod && kind != ReduceKind::Min &&
      kind != ReduceKind::Max)
    return malformed(OpKind::Scan);
  if (x.dtype == DType::Bool)
    return Status(ErrorCode::DType,
                  format("[cumulative_{}] not supported for dtype bool", reduceKindName(kind)));
  // scan_c3
  if (isComplex(x.dtype) && kind != ReduceKind::Sum)
    return Status(ErrorCode::DType, format("[cumulative_{}] not supported for dtype {}",
                                           reduceKindName(kind), dtypeName(x.dtype)));
  TensorType out{x.dtype, {}};
  out.shape.assign(x.shape);
  return out;
}

Result<TensorType> inferMatmul(std::span<const TensorView> operands) {
  const TensorView &x = operands[0], &y = operands[1];
  // matmul_c1
  if (x.shape.size() != y.shape.size() || x.shape.size() < 2)
    return Status(ErrorCode::Shape,
                  format("[matmul] operands need equal ranks of at least 2: shapes {} {}",
                         compactShape(x.shape), compactShape(y.shape)));
  if (x.dtype != y.dtype)
    return Status(ErrorCode::DType, format("[matmul] operands have dtypes {} and {}",
                                           dtypeName(x.dtype), dtypeName(y.dtype)));
  // matmul_c3
  if (!std::equal(x.shape.begin(), x.shape.end() - 2, y.shape.begin()))
    return Status(ErrorCode::Shape, format("[matmul] batch axes differ: shapes {} {}",
                                           compactShape(x.shape), compactShape(y.shape)));
  // matmul_c2
  GRAPHC_ASSIGN(Shape shape, matmulShape(x.shape, y.shape));
  return TensorType{x.dtype, std::move(shape)};
}

Result<TensorType> inferGenerator(OpKind kind, std::span<const TensorView> operands,
                                  std::span<const int64_t> attrs, const TensorType &wanted) {
  if (kind == OpKind::Extent) {
    ExtentAttrs a;
    if (!a.decode(attrs))
      return malformed(kind);
    for (int64_t axis : a.axes)
      if (axis < 0 || axis >= static_cast<int64_t>(operands[0].shape.size()))
        return Status(ErrorCode::Axis, format("[extent] axis {} is out of bounds", axis));
    return TensorType{wanted.dtype, {}};
  }
  if (kind == OpKind::Iota && isComplex(wanted.dtype))
    return Status(ErrorCode::DType, format("[iota] does not give {}", dtypeName(wanted.dtype)));
  if (kind == OpKind::Iota && wanted.shape.rank() != 1)
    return Status(ErrorCode::Shape,
                  format("[iota] gives one axis, not shape {}", compactShape(wanted.shape)));
  return wanted;
}

/// The result is what the recorder asks for when the routine gives that.
Result<TensorType> inferLibrary(std::span<const TensorView> operands,
                                std::span<const int64_t> attrs, const TensorType &wanted) {
  LibraryAttrs a;
  if (!a.decode(attrs) || a.routine < 0 || a.routine >= kRoutineCount)
    return malformed(OpKind::Library);
  std::vector<RoutineTensor> tensors;
  for (const TensorView &operand : operands)
    tensors.push_back({operand.dtype, operand.shape});
  // library_c1
  GRAPHC_TRY(checkRoutine(static_cast<Routine>(a.routine), tensors, {wanted.dtype, wanted.shape},
                          a.params));
  return wanted;
}

} // namespace

Result<TensorType> infer(OpKind kind, std::span<const TensorView> operands,
                         std::span<const int64_t> attrs, const TensorType &wanted) {
  const OpInfo &info = opInfo(kind);
  if (info.arity >= 0 ? operands.size() != static_cast<size_t>(info.arity) : operands.empty())
    return Status(ErrorCode::InvalidArgument,
                  format("[{}] takes {} operands, got {}", info.name, info.arity, operands.size()));
  Result<TensorType> type = [&]() -> Result<TensorType> {
    switch (info.category) {
    case Category::Elementwise:
      return inferElementwise(kind, operands, wanted);
    case Category::Reduction:
      return inferReduce(operands[0], attrs);
    case Category::Scan:
      return inferScan(operands[0], attrs);
    case Category::Contraction:
      return inferMatmul(operands);
    case Category::Generator:
      return inferGenerator(kind, operands, attrs, wanted);
    case Category::Library:
      return inferLibrary(operands, attrs, wanted);
    case Category::Movement:
    case Category::Update:
    case Category::None:
      return detail::inferMovement(kind, operands, attrs, wanted);
    case Category::Indexed:
      return detail::inferIndexed(kind, operands, attrs);
    }
    return malformed(kind);
  }();
  if (!type)
    return type;
  if (type->shape.rank() > kMaxRank)
    return Status(ErrorCode::Shape, format("[{}] rank {} is above the limit of {}", info.name,
                                           type->shape.rank(), kMaxRank));
  if (!byteCount(type->shape, type->dtype))
    return Status(ErrorCode::Shape,
                  format("[{}] an array of shape {} and dtype {} is too large", info.name,
                         compactShape(type->shape), dtypeName(type->dtype)));
  return type;
}

std::string compactShape(std::span<const int64_t> shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i)
    text += format("{}{}", i ? "," : "", shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

Result<Shape> broadcastShapes(std::string_view op,
                              std::span<const std::span<const int64_t>> shapes) {
  size_t rank = 0;
  for (auto s : shapes)
    rank = std::max(rank, s.size());
  Shape out;
  out.resize(rank);
  std::fill(out.begin(), out.end(), 1);
  for (auto s : shapes)
    for (size_t i = 0; i < s.size(); ++i) {
      int64_t &size = out[rank - s.size() + i];
      if (size == s[i] || s[i] == 1)
        continue;
      if (size != 1) {
        std::string all;
        for (auto t : shapes)
          all += " " + compactShape(t);
        return Status(
            ErrorCode::Shape,
            format("[{}] operands could not be broadcast together with shapes{}", op, all));
      }
      size = s[i];
    }
  return out;
}

Result<int64_t> checkedCount(std::string_view op, std::span<const int64_t> shape) {
  for (int64_t size : shape)
    if (size < 0)
      return Status(ErrorCode::Shape, format("[{}] negative dimensions are not allowed: {}", op,
                                             compactShape(shape)));
  if (shape.size() > static_cast<size_t>(kMaxRank))
    return Status(ErrorCode::Shape,
                  format("[{}] rank {} is above the limit of {}", op, shape.size(), kMaxRank));
  if (auto count = elementCount(shape))
    return *count;
  return Status(ErrorCode::Shape,
                format("[{}] an array of shape {} is too large", op, compactShape(shape)));
}

Result<int64_t> normalizeAxis(std::string_view op, int64_t axis, int64_t rank) {
  if (axis < -rank || axis >= rank)
    return Status(ErrorCode::Axis, format("[{}] axis {} is out of bounds for array of dimension {}",
                                          op, axis, rank));
  return axis < 0 ? axis + rank : axis;
}

Result<std::vector<int64_t>>
normalizeAxes(std::string_view op, const std::optional<std::vector<int64_t>> &axes, int64_t rank) {
  std::vector<int64_t> out;
  if (!axes) {
    for (int64_t i = 0; i < rank; ++i)
      out.push_back(i);
    return out;
  }
  for (int64_t axis : *axes) {
    GRAPHC_ASSIGN(int64_t a, normalizeAxis(op, axis, rank));
    if (std::ranges::find(out, a) != out.end())
      return Status(ErrorCode::InvalidArgument,
                    format("[{}] duplicate value in 'axis': {}", op, axis));
    out.push_back(a);
  }
  std::ranges::sort(out);
  return out;
}

Shape reducedShape(std::span<const int64_t> shape, std::span<const int64_t> axes, bool keepdims) {
  std::vector<int64_t> dims;
  for (size_t i = 0; i < shape.size(); ++i) {
    bool reduced = std::ranges::find(axes, static_cast<int64_t>(i)) != axes.end();
    if (!reduced || keepdims)
      dims.push_back(reduced ? 1 : shape[i]);
  }
  return Shape(std::span<const int64_t>(dims));
}

Result<Shape> matmulShape(std::span<const int64_t> x, std::span<const int64_t> y) {
  if (x.empty() || y.empty())
    return Status(
        ErrorCode::Shape,
        format("[matmul] Input operand {} does not have enough dimensions (has 0, gufunc core with "
               "signature (n?,k),(k,m?)->(n?,m?) requires 1): shapes {} {} (scalars use *)",
               x.empty() ? 0 : 1, compactShape(x), compactShape(y)));
  int64_t k = x.back();
  size_t contracted = y.size() == 1 ? 0 : y.size() - 2;
  if (k != y[contracted])
    return Status(ErrorCode::Shape, format("[matmul] Input operand 1 has a mismatch in its core "
                                           "dimension 0, with gufunc signature "
                                           "(n?,k),(k,m?)->(n?,m?) (size {} is different from {}): "
                                           "shapes {} and {}",
                                           y[contracted], k, compactShape(x), compactShape(y)));
  std::span<const int64_t> batches[] = {x.first(x.size() < 2 ? 0 : x.size() - 2),
                                        y.first(y.size() < 2 ? 0 : y.size() - 2)};
  auto batch = broadcastShapes("matmul", batches);
  if (!batch)
    return Status(ErrorCode::Shape,
                  format("[matmul] batch axes of shapes {} and {} could not be broadcast together",
                         compactShape(x), compactShape(y)));
  std::vector<int64_t> dims(batch->begin(), batch->end());
  if (x.size() >= 2)
    dims.push_back(x[x.size() - 2]);
  if (y.size() >= 2)
    dims.push_back(y.back());
  return Shape(std::span<const int64_t>(dims));
}

} // namespace graphc::op
