// Reductions, matrix products, library routines.
#include "frontends/record/MemoryOrder.h"
#include "frontends/record/Numerics.h"
#include "frontends/record/OpenSize.h"
#include "frontends/record/Ops.h"
#include "frontends/record/OpsDetail.h"
#include "frontends/record/Record.h"
#include "frontends/record/SmallElements.h"
#include "frontends/record/SmallNumeric.h"
#include "frontends/record/Trace.h"
#include "runtime/base/Strings.h"

#include <algorithm>

namespace graphc::ops {
namespace {

using detail::finish;
using detail::inShape;
using op::ReduceKind;
using strings::format;

bool isExtreme(ReduceKind kind) {
  return kind == ReduceKind::Min || kind == ReduceKind::Max || kind == ReduceKind::ArgMin ||
         kind == ReduceKind::ArgMax;
}

/// Whether the same is found of elements of dtype `t` in any order.
bool isOfAnyOrder(ReduceKind kind, DType t) {
  return kind == ReduceKind::Min || kind == ReduceKind::Max || kind == ReduceKind::Any ||
         kind == ReduceKind::All || (kind == ReduceKind::Sum && (isInteger(t) || t == DType::Bool));
}
/// What is pending fuses as it is.
bool isComputed(const Array &x) {
  return x.hasStorage() && x.storage()->current()->state() == NodeState::Ready;
}
/// `x` with its axes in the order in which they lie, and where `axis` is then, if the others stay
/// in their order. Nothing where they lie so.
std::optional<std::pair<Array, int64_t>> turnedAlong(const Array &x, int64_t axis) {
  if (x.rank() < 2 || x.view().isWhole() || x.size() <= small::kFew)
    return std::nullopt;
  const Operand one[] = {x};
  const AxisList order = keptOrder(x.shape(), one);
  const auto at = std::ranges::find(order, axis);
  int64_t before = -1;
  for (int64_t other : order) {
    if (other == axis)
      continue;
    if (other < before)
      return std::nullopt;
    before = other;
  }
  const Array turned = inMemoryOrder(x);
  if (at == order.end() || !(isComputed(x) || turned.view().isWhole()))
    return std::nullopt;
  return std::pair(turned, at - order.begin());
}
/// What is computed and lies in short lines apart, side by side: a kernel would go line by line.
/// Null for what lies otherwise.
Result<NodeRef> gathered(const Array &x) {
  constexpr int64_t kShort = 8;
  const View &view = x.view();
  if (Trace::active() || x.rank() < 2 || view.isWhole() || view.isContiguous() || !isComputed(x) ||
      x.size() <= small::kFew || x.size() * itemSize(x.dtype()) > small::kMostReach)
    return NodeRef();
  const small::Elements from = small::computedElementsOf(x);
  if (x.shape()[x.shape().size() - 1] >= kShort || !from.base)
    return NodeRef();
  GRAPHC_ASSIGN(NodeRef out, small::makeNode(x.dtype(), x.shape(), x.device()));
  small::withElement(itemSize(x.dtype()), [&]<typename T>(T) {
    Shape sizes, steps;
    small::joinAxes(view.shape(), view.strides(), sizes, steps);
    small::gatherLines(reinterpret_cast<const T *>(from.first), sizes, steps,
                       small::dataOf<T>(out));
  });
  return out;
}
bool isArg(ReduceKind kind) { return kind == ReduceKind::ArgMin || kind == ReduceKind::ArgMax; }

/// The dtype in which a reduction computes; nothing keeps the operand's.
std::optional<DType> computeDType(ReduceKind kind, DType x, std::optional<DType> wanted) {
  if (kind == ReduceKind::Any || kind == ReduceKind::All)
    return DType::Bool;
  if (kind == ReduceKind::Sum || kind == ReduceKind::Prod || kind == ReduceKind::Mean)
    return wanted ? *wanted : op::reduceDType(kind, x);
  return std::nullopt;
}

/// Batch axes broadcast to `batch`, in front of the last two axes.
Result<NodeRef> withBatch(const NodeRef &x, std::span<const int64_t> batch) {
  std::vector<int64_t> dims(batch.begin(), batch.end());
  dims.push_back(x->shape()[x->shape().size() - 2]);
  dims.push_back(x->shape()[x->shape().size() - 1]);
  return node::broadcast(x, Shape(std::span<const int64_t>(dims)));
}

/// Elements [first, first + count) of one axis.
Result<NodeRef> piece(const NodeRef &x, int64_t axis, int64_t first, int64_t count) {
  std::vector<int64_t> starts(x->shape().size(), 0), steps(x->shape().size(), 1);
  Shape counts = x->shape();
  starts[static_cast<size_t>(axis)] = first;
  counts[static_cast<size_t>(axis)] = count;
  return node::slice(x, std::move(starts), std::move(steps), counts);
}

Result<NodeRef> product(const NodeRef &x, const NodeRef &y) {
  NodeRef both[] = {x, y};
  return node::make(op::OpKind::Mul, both, {}, {}, x->device());
}

/// The product of complex elements along an axis, which keeps size 1. A complex product needs both
/// parts of both factors, so it is no reduction of parts: halves are multiplied until one element
/// is left, and what an odd count leaves over comes last.
Result<NodeRef> productAlong(NodeRef x, int64_t axis) {
  auto count = [&] { return x->shape()[static_cast<size_t>(axis)]; };
  if (count() == 0) {
    Shape shape = x->shape();
    shape[static_cast<size_t>(axis)] = 1;
    GRAPHC_ASSIGN(NodeRef one, node::scalar(op::Scalar::ofInt(1), x->dtype(), x->device()));
    return node::broadcast(one, shape);
  }
  NodeRef left;
  while (count() > 1) {
    int64_t half = count() / 2;
    if (count() % 2) {
      GRAPHC_ASSIGN(NodeRef last, piece(x, axis, count() - 1, 1));
      if (left) {
        GRAPHC_ASSIGN(left, product(last, left));
      } else {
        left = last;
      }
    }
    GRAPHC_ASSIGN(NodeRef low, piece(x, axis, 0, half));
    GRAPHC_ASSIGN(NodeRef high, piece(x, axis, half, half));
    GRAPHC_ASSIGN(x, product(low, high));
  }
  return left ? product(x, left) : Result<NodeRef>(x);
}

/// Running combinations of an associative operation: distances double.
Result<NodeRef> byDoubling(op::OpKind kind, NodeRef x, int64_t axis) {
  int64_t count = x->shape()[static_cast<size_t>(axis)];
  for (int64_t apart = 1; apart < count; apart *= 2) {
    GRAPHC_ASSIGN(NodeRef first, piece(x, axis, 0, apart));
    GRAPHC_ASSIGN(NodeRef before, piece(x, axis, 0, count - apart));
    GRAPHC_ASSIGN(NodeRef after, piece(x, axis, apart, count - apart));
    NodeRef pairs[] = {before, after};
    GRAPHC_ASSIGN(NodeRef rest, node::make(kind, pairs, {}, {}, x->device()));
    NodeRef both[] = {first, rest};
    op::ConcatenateAttrs attrs{axis};
    GRAPHC_ASSIGN(x, node::make(op::OpKind::Concatenate, both, attrs.encode(), {}, x->device()));
  }
  return x;
}

/// Rows times columns, one of each: sums of products.
Result<NodeRef> innerProduct(NodeRef row, NodeRef column, DType dtype) {
  RecordScope whole(RecordScope::location(), errorsUnder(op::OpKind::Matmul));
  rt::Device &device = row->device();
  std::span<const int64_t> sizes = row->shape();
  std::vector<int64_t> vectors(sizes.begin(), sizes.end() - 2);
  auto last = static_cast<int64_t>(vectors.size());
  vectors.push_back(sizes.back());
  GRAPHC_ASSIGN(row, node::reshape(row, Shape(std::span<const int64_t>(vectors))));
  GRAPHC_ASSIGN(column, node::reshape(column, Shape(std::span<const int64_t>(vectors))));
  DType computed = isFloat(dtype) && itemSize(dtype) == 2 ? DType::Float32 : dtype;
  GRAPHC_ASSIGN(row, node::cast(row, computed));
  GRAPHC_ASSIGN(column, node::cast(column, computed));
  NodeRef operands[] = {row, column};
  bool isBool = dtype == DType::Bool;
  op::OpKind times = isBool ? op::OpKind::LogicalAnd : op::OpKind::Mul;
  GRAPHC_ASSIGN(NodeRef products, node::make(times, operands, {}, {}, device));
  GRAPHC_ASSIGN(NodeRef sum,
                node::reduce(isBool ? ReduceKind::Any : ReduceKind::Sum, products, {last}));
  return node::cast(sum, dtype);
}

/// What is wrong there is the division, as in NumPy.
Result<NodeRef> meanOfNone(const NodeRef &x, const std::vector<int64_t> &axes) {
  GRAPHC_ASSIGN(NodeRef sum, node::reduce(ReduceKind::Sum, x, axes));
  NodeRef zero = node::literal(0, x->dtype(), x->device());
  GRAPHC_ASSIGN(zero, node::broadcast(zero, sum->shape()));
  NodeRef both[] = {sum, zero};
  return node::make(op::OpKind::Div, both, {}, {}, x->device());
}

/// A sum begins at zero: that of -0 alone is 0.
Result<NodeRef> plusZero(const NodeRef &x) {
  GRAPHC_ASSIGN(NodeRef zero, node::scalar(op::Scalar::ofFloat(0.0), x->dtype(), x->device()));
  GRAPHC_ASSIGN(zero, node::broadcast(zero, x->shape()));
  NodeRef both[] = {x, zero};
  return node::make(op::OpKind::Add, both, {}, {}, x->device());
}

} // namespace

/// Bytes of which a loop over computed elements takes no longer than running a program; 0 where
/// there is nothing to say.
static int64_t mostOfSingle(ReduceKind kind, DType t) {
  if (isExtreme(kind) || isArg(kind))
    return isInteger(t) ? 256 << 10 : !isFloat(t) ? 64 << 10 : isArg(kind) ? 256 << 10 : 128 << 10;
  return isFloat(t) && (kind == ReduceKind::Sum || kind == ReduceKind::Mean) ? 128 << 10 : 0;
}

static small::Outcome reduceNow(ReduceKind kind, const Array &x, std::span<const int64_t> axes,
                                std::optional<DType> wanted, const Shape &result, bool isSingle) {
  std::optional<small::Wider> wider;
  if (isSingle && x.size() * itemSize(x.dtype()) <= mostOfSingle(kind, x.dtype()))
    wider.emplace();
  return small::reduce(kind, x, axes, wanted.value_or(x.dtype()), result);
}

Result<Array> reduce(ReduceKind kind, const Array &x, const Axes &given, bool keepdims,
                     std::optional<DType> wanted) {
  // Added as truth values, and multiplied.
  if (wanted == DType::Bool && (kind == ReduceKind::Sum || kind == ReduceKind::Prod))
    return reduce(kind == ReduceKind::Sum ? ReduceKind::Any : ReduceKind::All, x, given, keepdims,
                  wanted);
  RecordScope scope;
  if (x.isOpen())
    return open::reduce(kind, x, given, keepdims, wanted);
  std::string_view name = op::reduceKindName(kind);
  GRAPHC_ASSIGN(std::vector<int64_t> axes,
                inShape(op::normalizeAxes(name, given, x.rank()), x.shape()));
  if (kind == ReduceKind::Mean && wanted && !isInexact(*wanted))
    return Status(ErrorCode::DType,
                  format("[mean] dtype {} is not a floating dtype", dtypeName(*wanted)));
  if (axes.size() > 1 && std::ssize(axes) == x.rank() &&
      isOfAnyOrder(kind, wanted.value_or(x.dtype())))
    if (const Array turned = inMemoryOrder(x);
        !isSameView(turned, x) && (isComputed(x) || turned.view().isWhole()))
      return reduce(kind, turned, std::nullopt, keepdims, wanted);
  const bool isOfAll = std::ssize(axes) == x.rank() && !keepdims && (!given || x.rank() == 1);
  if (const auto found = isOfAll ? small::decided(kind, x, wanted) : std::nullopt)
    return Array(*found);
  if (axes.size() == 1 && given && !keepdims &&
      (isArg(kind) || isOfAnyOrder(kind, wanted.value_or(x.dtype()))))
    if (auto turned = turnedAlong(x, axes[0]))
      return reduce(kind, turned->first, std::vector<int64_t>{turned->second}, false, wanted);
  GRAPHC_ASSIGN(NodeRef dense, gathered(x));
  if (dense)
    return reduce(kind, small::arrayOf(std::move(dense)), given, keepdims, wanted);
  Shape result = op::reducedShape(x.shape(), axes, keepdims);
  auto dtype = computeDType(kind, x.dtype(), wanted);
  // A single result of what is computed has nothing to fuse with, before it or behind it.
  const int64_t read = result.rank() == 0 && isComputed(x) ? 1 : x.size();
  if (small::isLoop(op::OpKind::Reduce, read, x.device()) && !axes.empty() &&
      !(isArg(kind) && given && axes.size() != 1)) {
    GRAPHC_ASSIGN(NodeRef now, reduceNow(kind, x, axes, dtype, result, read == 1));
    if (now)
      return small::arrayOf(std::move(now));
  }
  GRAPHC_ASSIGN(NodeRef n, x.value());
  if (dtype) {
    GRAPHC_ASSIGN(n, node::cast(n, *dtype));
  }
  if (isArg(kind)) {
    if (given && axes.size() != 1)
      return Status(ErrorCode::Axis,
                    format("[{}] takes one axis or none, not {}", name, axes.size()));
    if (!given) {
      GRAPHC_ASSIGN(n, node::reshape(n, Shape{x.size()}));
      axes = {0};
    }
  }
  if (axes.empty() && !isArg(kind)) { // nothing to combine
    if ((kind == ReduceKind::Sum || kind == ReduceKind::Mean) && isInexact(n->dtype())) {
      GRAPHC_ASSIGN(n, plusZero(n));
    }
    return finish(node::reshape(n, result));
  }
  if (isExtreme(kind) && isComplex(x.dtype())) {
    GRAPHC_ASSIGN(Array found, given || !isArg(kind) ? x : reshape(x, Shape{x.size()}));
    GRAPHC_ASSIGN(found, detail::reduceExtreme(kind, found, axes));
    GRAPHC_ASSIGN(found, reshape(found, result));
    return copy(found);
  }
  if (kind == ReduceKind::Prod && isComplex(n->dtype())) {
    for (size_t i = axes.size(); i-- > 0;) {
      GRAPHC_ASSIGN(n, productAlong(n, axes[i]));
    }
    return finish(node::reshape(n, result));
  }
  bool isEmpty = std::ranges::any_of(
      axes, [&](int64_t axis) { return n->shape()[static_cast<size_t>(axis)] == 0; });
  GRAPHC_ASSIGN(NodeRef reduced, kind == ReduceKind::Mean && isEmpty ? meanOfNone(n, axes)
                                                                     : node::reduce(kind, n, axes));
  return finish(node::reshape(reduced, result));
}

Result<Array> scan(ReduceKind kind, const Array &x, std::optional<int64_t> given,
                   std::optional<DType> wanted) {
  RecordScope scope;
  if (x.isOpen())
    return open::scan(kind, x, given, wanted);
  std::string name = format("cumulative_{}", op::reduceKindName(kind));
  if (wanted == DType::Bool)
    return Status(ErrorCode::DType, format("[{}] dtype bool is not supported", name));
  bool isOfExtremes = kind == ReduceKind::Min || kind == ReduceKind::Max;
  DType t = wanted ? *wanted : isOfExtremes ? x.dtype() : op::reduceDType(kind, x.dtype());
  int64_t axis = 0;
  if (given && x.rank() == 0 && (*given == 0 || *given == -1))
    given = std::nullopt; // there is nothing to combine, as in NumPy
  if (given) {
    GRAPHC_ASSIGN(std::vector<int64_t> axes,
                  op::normalizeAxes(name, std::vector<int64_t>{*given}, x.rank()));
    axis = axes[0];
  }
  if ((given || x.rank() == 1) && small::isLoop(op::OpKind::Scan, x.size(), x.device())) {
    GRAPHC_ASSIGN(NodeRef now, small::scan(kind, x, static_cast<size_t>(axis), t, x.shape()));
    if (now)
      return small::arrayOf(std::move(now));
  }
  GRAPHC_ASSIGN(NodeRef n, x.value());
  GRAPHC_ASSIGN(n, node::cast(n, t));
  if (!given) {
    GRAPHC_ASSIGN(n, node::reshape(n, Shape{x.size()}));
  }
  if (isOfExtremes && t == DType::Bool) { // 0 and 1
    GRAPHC_ASSIGN(n, node::cast(n, DType::UInt8));
    GRAPHC_ASSIGN(n, node::scan(kind, n, axis));
    return finish(node::cast(n, t));
  }
  if (isOfExtremes && isComplex(t)) {
    GRAPHC_ASSIGN(NodeRef now,
                  small::complexExtremes(kind, Array(n), static_cast<size_t>(axis), true));
    if (now)
      return Array(std::move(now));
    return finish(
        byDoubling(kind == ReduceKind::Min ? op::OpKind::Minimum : op::OpKind::Maximum, n, axis));
  }
  if (kind == ReduceKind::Prod && isComplex(t))
    return finish(byDoubling(op::OpKind::Mul, n, axis));
  return finish(node::scan(kind, n, axis));
}

Result<Array> matmul(const Array &x, const Array &y) {
  RecordScope scope;
  GRAPHC_ASSIGN(Shape shape, op::matmulShape(x.shape(), y.shape()));
  if (&x.device() != &y.device())
    return Status(ErrorCode::Device,
                  format("[matmul] operands are on different devices, {} and {}; use to_device",
                         x.device().info().name, y.device().info().name));
  DType dtype = op::promoteTypes(x.dtype(), y.dtype());
  // A sum of products of two dtypes is a single result, which is computed now anyway.
  const bool isDirect = x.dtype() == y.dtype() || shape.rank() > 0;
  if (isDirect && small::isLoop(op::OpKind::Matmul, elementCount(shape).value_or(0), x.device())) {
    // A view that needs no conversion stays one.
    auto as = [dtype](const Array &a) -> Result<Array> {
      return a.dtype() == dtype ? Result<Array>(a) : cast(a, dtype);
    };
    GRAPHC_ASSIGN(const Array left, as(x));
    GRAPHC_ASSIGN(const Array right, as(y));
    GRAPHC_ASSIGN(NodeRef now, small::matmul(left, right, dtype, shape));
    if (now)
      return small::arrayOf(std::move(now));
  }
  GRAPHC_ASSIGN(NodeRef a, x.value());
  GRAPHC_ASSIGN(NodeRef b, y.value());
  GRAPHC_ASSIGN(a, node::cast(a, dtype));
  GRAPHC_ASSIGN(b, node::cast(b, dtype));
  if (x.rank() == 1) {
    GRAPHC_ASSIGN(a, node::reshape(a, Shape{1, x.shape()[0]}));
  }
  if (y.rank() == 1) {
    GRAPHC_ASSIGN(b, node::reshape(b, Shape{y.shape()[0], 1}));
  }
  std::span<const int64_t> batches[] = {
      std::span<const int64_t>(a->shape()).first(a->shape().size() - 2),
      std::span<const int64_t>(b->shape()).first(b->shape().size() - 2)};
  GRAPHC_ASSIGN(Shape batch, op::broadcastShapes("matmul", batches));
  GRAPHC_ASSIGN(a, withBatch(a, batch));
  GRAPHC_ASSIGN(b, withBatch(b, batch));
  NodeRef operands[] = {a, b};
  op::MatmulAttrs attrs;
  if (isNarrowFloat(dtype) || dtype == DType::Float32) {
    GRAPHC_ASSIGN(Numerics asked, numerics());
    attrs.fast = asked == Numerics::Fast;
  }
  bool isInner = a->shape()[a->shape().size() - 2] == 1 && *(b->shape().end() - 1) == 1;
  GRAPHC_ASSIGN(NodeRef product,
                isInner ? innerProduct(a, b, dtype)
                        : node::make(op::OpKind::Matmul, operands, attrs.encode(), {}, x.device()));
  return finish(node::reshape(product, shape));
}

Result<Array> library(Routine routine, std::span<const Array> operands, std::vector<int64_t> params,
                      const op::TensorType &result) {
  RecordScope scope;
  if (!operands.empty() &&
      small::isLoop(op::OpKind::Library, elementCount(result.shape).value_or(0),
                    operands[0].device())) {
    GRAPHC_ASSIGN(NodeRef now, small::library(routine, operands, params, result));
    if (now)
      return small::arrayOf(std::move(now));
  }
  std::vector<NodeRef> nodes;
  for (const Array &x : operands) {
    if (&x.device() != &operands[0].device())
      return Status(ErrorCode::Device,
                    format("[{}] operands are on different devices, {} and {}; use to_device",
                           routineName(routine), operands[0].device().info().name,
                           x.device().info().name));
    GRAPHC_ASSIGN(NodeRef n, x.value());
    nodes.push_back(std::move(n));
  }
  if (nodes.empty())
    return Status(ErrorCode::InvalidArgument,
                  format("[{}] needs an operand", routineName(routine)));
  return finish(node::library(routine, nodes, std::move(params), result));
}

} // namespace graphc::ops
