#include "frontends/record/Recast.h"

#include "frontends/record/Record.h"

#include <vector>

namespace graphc {
namespace {

using op::OpKind;

DType unsignedOf(int64_t bytes) {
  return bytes == 1   ? DType::UInt8
         : bytes == 2 ? DType::UInt16
         : bytes == 4 ? DType::UInt32
                      : DType::UInt64;
}

Result<NodeRef> make(OpKind kind, std::initializer_list<NodeRef> operands, DType dtype = {}) {
  const NodeRef &first = *operands.begin();
  return node::make(kind, {operands.begin(), operands.size()}, {}, {dtype, first->shape()},
                    first->device());
}

/// The bits of real elements as unsigned integers of their width.
Result<NodeRef> bitsOf(const NodeRef &x) {
  DType wanted = unsignedOf(itemSize(x->dtype()));
  if (x->dtype() == wanted || x->dtype() == DType::Bool)
    return node::cast(x, wanted);
  return make(OpKind::Bitcast, {x}, wanted);
}

Result<NodeRef> ofBits(const NodeRef &bits, DType to) {
  if (to == bits->dtype() || to == DType::Bool)
    return node::cast(bits, to);
  return make(OpKind::Bitcast, {bits}, to);
}

/// The last two axes as one.
Shape joined(const Shape &shape) {
  Shape out;
  out.resize(shape.size() - 1);
  std::copy(shape.begin(), shape.end() - 1, out.begin());
  out[out.size() - 1] *= shape[shape.size() - 1];
  return out;
}

/// Every element `count` times along a new last axis.
Result<NodeRef> repeated(const NodeRef &x, int64_t count) {
  Shape one = x->shape(), many;
  many.resize(one.size() + 1);
  std::copy(one.begin(), one.end(), many.begin());
  many[one.size()] = 1;
  GRAPHC_ASSIGN(NodeRef column, node::reshape(x, many));
  many[one.size()] = count;
  return node::broadcast(column, many);
}

/// 0, 1, ... along the last axis of a shape.
Result<NodeRef> numbers(const Shape &shape, DType dtype, rt::Device &device) {
  int64_t count = shape[shape.size() - 1];
  GRAPHC_ASSIGN(NodeRef along, node::make(OpKind::Iota, {}, {}, {dtype, Shape{count}}, device));
  return node::broadcast(along, shape);
}

Result<NodeRef> filled(uint64_t bits, DType dtype, const NodeRef &like) {
  return node::broadcast(node::literal(bits, dtype, like->device()), like->shape());
}

/// Element `k` of every group of `count` along the last axis.
Result<NodeRef> every(const NodeRef &x, int64_t k, int64_t count) {
  Shape shape = x->shape();
  std::vector<int64_t> starts(shape.size(), 0), steps(shape.size(), 1);
  int64_t &last = shape[shape.size() - 1];
  last /= count;
  if (last > 1)
    steps.back() = count;
  starts.back() = last > 0 ? k : 0;
  return node::slice(x, std::move(starts), std::move(steps), shape);
}

/// Real and imaginary parts in turns.
Result<NodeRef> partsOf(const NodeRef &x) {
  GRAPHC_ASSIGN(NodeRef real, make(OpKind::Real, {x}));
  GRAPHC_ASSIGN(NodeRef imaginary, make(OpKind::Imag, {x}));
  GRAPHC_ASSIGN(real, repeated(real, 2));
  GRAPHC_ASSIGN(imaginary, repeated(imaginary, 2));
  GRAPHC_ASSIGN(NodeRef number, numbers(real->shape(), DType::Int64, x->device()));
  GRAPHC_ASSIGN(NodeRef isSecond, node::cast(number, DType::Bool));
  GRAPHC_ASSIGN(NodeRef both, make(OpKind::Select, {isSecond, imaginary, real}));
  return node::reshape(both, joined(both->shape()));
}

Result<NodeRef> ofParts(const NodeRef &x) {
  GRAPHC_ASSIGN(NodeRef real, every(x, 0, 2));
  GRAPHC_ASSIGN(NodeRef imaginary, every(x, 1, 2));
  return make(OpKind::Complex, {real, imaginary});
}

/// Unsigned integers cut into narrower ones, the lowest first (as the bytes of all machines that
/// graphc runs on lie).
Result<NodeRef> cutBits(const NodeRef &x, DType to) {
  int64_t count = itemSize(x->dtype()) / itemSize(to);
  GRAPHC_ASSIGN(NodeRef wide, repeated(x, count));
  GRAPHC_ASSIGN(NodeRef distance, numbers(wide->shape(), x->dtype(), x->device()));
  GRAPHC_ASSIGN(NodeRef width,
                filled(static_cast<uint64_t>(8 * itemSize(to)), x->dtype(), distance));
  GRAPHC_ASSIGN(distance, make(OpKind::Mul, {distance, width}));
  GRAPHC_ASSIGN(wide, make(OpKind::ShiftRight, {wide, distance}));
  GRAPHC_ASSIGN(NodeRef narrow, node::cast(wide, to));
  return node::reshape(narrow, joined(narrow->shape()));
}

Result<NodeRef> joinBits(const NodeRef &x, DType to) {
  int64_t count = itemSize(to) / itemSize(x->dtype());
  NodeRef all;
  for (int64_t k = 0; k < count; ++k) {
    GRAPHC_ASSIGN(NodeRef part, every(x, k, count));
    GRAPHC_ASSIGN(part, node::cast(part, to));
    if (k > 0) {
      GRAPHC_ASSIGN(NodeRef distance,
                    filled(static_cast<uint64_t>(8 * k * itemSize(x->dtype())), to, part));
      GRAPHC_ASSIGN(part, make(OpKind::ShiftLeft, {part, distance}));
      GRAPHC_ASSIGN(part, make(OpKind::BitwiseOr, {all, part}));
    }
    all = std::move(part);
  }
  return all;
}

Result<NodeRef> recastReal(const NodeRef &x, DType to) {
  if (x->dtype() == to)
    return x;
  GRAPHC_ASSIGN(NodeRef bits, bitsOf(x));
  DType wanted = unsignedOf(itemSize(to));
  if (itemSize(to) < itemSize(bits->dtype())) {
    GRAPHC_ASSIGN(bits, cutBits(bits, wanted));
  } else if (itemSize(to) > itemSize(bits->dtype())) {
    GRAPHC_ASSIGN(bits, joinBits(bits, wanted));
  }
  return ofBits(bits, to);
}

} // namespace

Result<Shape> recastShape(std::span<const int64_t> shape, DType from, DType to) {
  Shape out;
  out.assign(shape);
  int64_t old = itemSize(from), now = itemSize(to);
  if (old == now)
    return out;
  if (shape.empty())
    return Status(ErrorCode::InvalidArgument, "[view] Changing the dtype of a 0d array is only "
                                              "supported if the itemsize is unchanged");
  int64_t &last = out[out.size() - 1];
  if (now > old && last * old % now != 0)
    return Status(ErrorCode::InvalidArgument,
                  "[view] When changing to a larger dtype, its size must be a divisor of the total "
                  "size in bytes of the last axis of the array.");
  last = last * old / now;
  return out;
}

Result<NodeRef> recast(const NodeRef &x, DType to) {
  if (x->dtype() == to)
    return x;
  if (x->shape().rank() == 0 && (isComplex(x->dtype()) || isComplex(to))) { // parts need an axis
    GRAPHC_ASSIGN(NodeRef row, node::reshape(x, Shape{1}));
    GRAPHC_ASSIGN(row, recast(row, to));
    return node::reshape(row, {});
  }
  NodeRef real = x;
  if (isComplex(x->dtype())) {
    GRAPHC_ASSIGN(real, partsOf(x));
  }
  GRAPHC_ASSIGN(real, recastReal(real, realDType(to)));
  return isComplex(to) ? ofParts(real) : Result<NodeRef>(real);
}

} // namespace graphc
