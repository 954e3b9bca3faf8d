#include "frontends/record/Known.h"
#include "frontends/record/MemoryOrder.h"
#include "frontends/record/Ops.h"
#include "frontends/record/OpsDetail.h"
#include "frontends/record/Record.h"
#include "frontends/record/Recycle.h"
#include "frontends/record/Small.h"
#include "runtime/base/Strings.h"

#include <algorithm>

namespace graphc::ops {
namespace {

using detail::finish;
using detail::inShape;
using detail::trimmed;
using strings::format;

/// Whether shapes differ along `axis` only, which counts from the front.
bool fitTogether(std::span<const Array> xs, int64_t axis) {
  return axis >= 0 && axis < xs[0].rank() &&
         std::ranges::all_of(
             xs,
             [&](const Array &x) {
               Shape shape = x.shape();
               if (shape.rank() != xs[0].rank())
                 return false;
               shape[static_cast<size_t>(axis)] = xs[0].shape()[static_cast<size_t>(axis)];
               return shape == xs[0].shape();
             });
}

} // namespace

Result<Array> index(const Array &x, std::span<const IndexItem> items) {
  GRAPHC_ASSIGN(View view, x.view().index(items));
  return x.withView(std::move(view));
}

Result<Array> transpose(const Array &x, const Axes &axes) {
  GRAPHC_ASSIGN(std::vector<int64_t> permutation,
                inShape(op::resolvePermutation(axes, x.rank()), x.shape()));
  return x.withView(x.view().transpose(permutation));
}

Result<Array> expandDims(const Array &x, std::vector<int64_t> axes) {
  auto rank = x.rank() + static_cast<int64_t>(axes.size());
  if (rank > kMaxRank)
    return Status(ErrorCode::Shape,
                  format("[expand_dims] rank {} is above the limit of {}", rank, kMaxRank));
  GRAPHC_ASSIGN(std::vector<int64_t> sorted,
                inShape(op::normalizeAxes("expand_dims", std::move(axes), rank), x.shape()));
  return x.withView(x.view().expand(sorted));
}

Result<Array> squeeze(const Array &x, const Axes &axes) {
  GRAPHC_ASSIGN(std::vector<int64_t> sorted,
                inShape(op::normalizeAxes("squeeze", axes, x.rank()), x.shape()));
  std::vector<int64_t> chosen;
  for (int64_t axis : sorted) {
    bool isOne = x.shape()[static_cast<size_t>(axis)] == 1;
    if (isOne)
      chosen.push_back(axis);
    else if (axes)
      return Status(ErrorCode::Shape, format("[squeeze] cannot select an axis to squeeze out which "
                                             "has size not equal to one: axis {} of "
                                             "shape {}",
                                             axis, op::compactShape(x.shape())));
  }
  return x.withView(x.view().squeeze(chosen));
}

Result<Array> flip(const Array &x, const Axes &axes) {
  GRAPHC_ASSIGN(std::vector<int64_t> sorted,
                inShape(op::normalizeAxes("flip", axes, x.rank()), x.shape()));
  if (x.rank() == 0) { // a value of its own, as computed results are
    RecordScope scope;
    GRAPHC_ASSIGN(NodeRef n, x.value());
    return detail::finish(
        node::make(op::OpKind::Reshape, {&n, 1}, {}, {x.dtype(), x.shape()}, x.device()));
  }
  return x.withView(x.view().flip(sorted));
}

Result<Array> strided(const Array &x, const Shape &shape, const Shape &strides, int64_t offset) {
  GRAPHC_ASSIGN(int64_t count, op::checkedCount("as_strided", shape));
  static_cast<void>(count);
  if (!x.view().hasLayout())
    return Status(ErrorCode::InvalidArgument, "[as_strided] the array has no layout of its own");
  auto view = x.view().strided(shape, strides, offset);
  if (!view)
    return Status(
        ErrorCode::InvalidArgument,
        format("[as_strided] shape {} at offset {} reaches outside of an array of shape {}",
               op::compactShape(shape), offset, op::compactShape(x.view().base())));
  return x.withView(*std::move(view));
}

Result<Array> part(const Array &x, int64_t number) {
  RecordScope scope;
  if (!isComplex(x.dtype()))
    return Status(ErrorCode::DType, format("[{}] needs a complex dtype, not {}",
                                           number ? "imag" : "real", dtypeName(x.dtype())));
  return x.withView(x.view().part(number, x.dtype()));
}

Result<Array> recast(const Array &x, DType to) {
  RecordScope scope;
  GRAPHC_ASSIGN(View view, x.view().recast(x.dtype(), to));
  return x.withView(std::move(view));
}

Result<Array> broadcastTo(const Array &x, const Shape &shape) {
  GRAPHC_ASSIGN(int64_t count, op::checkedCount("broadcast_to", shape));
  static_cast<void>(count);
  std::span<const int64_t> shapes[] = {x.shape(), shape};
  auto common = op::broadcastShapes("broadcast_to", shapes);
  if (!common || !(*common == shape))
    return Status(
        ErrorCode::Shape,
        format("[broadcast_to] operands could not be broadcast together with remapped shapes "
               "[original->remapped]: {} and requested shape {}",
               op::compactShape(x.shape()), op::compactShape(shape)));
  return x.withView(x.view().broadcast(shape));
}

Result<Array> reshape(const Array &x, const Shape &shape) {
  GRAPHC_ASSIGN(Shape to, op::resolveReshape(x.shape(), shape));
  if (auto view = x.view().reshape(to))
    return x.withView(*std::move(view));
  RecordScope scope;
  if (small::isLoop(op::OpKind::Reshape, x.size(), x.device())) {
    GRAPHC_ASSIGN(NodeRef now, small::cast(x, x.dtype()));
    if (now) {
      Array dense(std::move(now));
      if (auto view = dense.view().reshape(to))
        return dense.withView(*std::move(view));
    }
  }
  GRAPHC_ASSIGN(NodeRef n, x.value());
  return finish(node::reshape(n, to));
}

/// Gives a whole array in a loop another value, broadcast where it is smaller, in memory of its
/// own, which the next turn writes where it lies. False for what is converted, and for what is
/// pending unless it is a part of the array itself, which would never be computed.
static Result<bool> replaceNow(Array &target, const Operand &value) {
  const DType t = target.dtype();
  NodeRef now;
  if (!value.array && !value.dtype) {
    GRAPHC_ASSIGN(now, small::full(target.shape(), value.scalar, t, target.device()));
  } else if (value.array && !value.array->known() && value.array->dtype() == t &&
             value.array->rank() <= target.rank() &&
             (value.array->storage()->current()->state() == NodeState::Ready ||
              value.array->sharesStorage(target))) {
    const View &from = value.array->view();
    const bool isWide = value.array->shape() == target.shape();
    GRAPHC_ASSIGN(now, small::cast(isWide ? *value.array
                                          : value.array->withView(from.broadcast(target.shape())),
                                   t));
  }
  recycle::release();
  if (now)
    GRAPHC_TRY(target.assign(now));
  return now != nullptr;
}

Status setItem(Array &x, std::span<const IndexItem> items, const Operand &value) {
  RecordScope scope;
  GRAPHC_ASSIGN(Array target, index(x, items));
  if (target.view().isReadOnly())
    return Status(ErrorCode::InvalidArgument, "[setitem] assignment destination is read-only");
  if (value.array && &value.array->device() != &x.device())
    return Status(ErrorCode::Device,
                  format("[setitem] target is on {}, value on {}; use to_device",
                         x.device().info().name, value.array->device().info().name));
  // `a[1:-1] += b` ends with a[1:-1] = (the view that was updated): nothing to do.
  if (value.array && isSameView(target, *value.array))
    return Status::ok();
  // A value of the host into a part of what is in memory: a program for it would be compiled anew
  // for every step of a slice, and the part is written once in any case.
  if (!value.array || value.array->rank() == 0)
    if (auto bits = operandBits(value, x.dtype()); bits && fillAtOnce(target, *bits))
      return Status::ok();
  if (small::isLoop(op::OpKind::UpdateSlice, target.size(), x.device()) &&
      small::broadcasts(value.shape(), target.shape())) {
    GRAPHC_ASSIGN(bool isDone, target.view().isWhole() ? replaceNow(target, value)
                                                       : small::assign(target, value));
    if (isDone)
      return Status::ok();
  }
  NodeRef n;
  if (value.array) {
    GRAPHC_ASSIGN(n, value.array->value());
  } else {
    GRAPHC_ASSIGN(n, node::scalar(value.scalar, value.dtype.value_or(x.dtype()), x.device()));
  }
  GRAPHC_ASSIGN(NodeRef converted, node::cast(n, x.dtype()));
  Shape from = trimmed(converted->shape(), target.rank());
  std::span<const int64_t> shapes[] = {from, target.shape()};
  auto common = op::broadcastShapes("setitem", shapes);
  if (!common || !(*common == target.shape()))
    return Status(ErrorCode::Shape,
                  format("[setitem] could not broadcast input array from shape {} into shape {}",
                         op::compactShape(n->shape()), op::compactShape(target.shape())));
  GRAPHC_ASSIGN(NodeRef shaped, node::reshape(converted, from));
  GRAPHC_ASSIGN(NodeRef wide, node::broadcast(shaped, target.shape()));
  GRAPHC_TRY(target.assign(wide));
  noteHolder(x);
  return respectBudget(x.storage()->current());
}

/// The joined arrays in the memory order that they have in common; nothing when that is row-major.
static Result<std::optional<Array>> joinedInOrder(std::span<const Array> xs, int64_t axis) {
  std::vector<Operand> operands(xs.begin(), xs.end());
  int64_t rank = xs[0].rank();
  bool isOneRank = std::ranges::all_of(xs, [&](const Array &x) { return x.rank() == rank; });
  if (!isOneRank || !mayKeepOrder(operands))
    return std::optional<Array>();
  GRAPHC_ASSIGN(int64_t at, inShape(op::normalizeAxis("concatenate", axis, rank), xs[0].shape()));
  if (!fitTogether(xs, at)) // which is refused by the axes that the arrays have
    return std::optional<Array>();
  AxisList order = joinedOrder(operands);
  if (order.size() == 0)
    return std::optional<Array>();
  auto place = std::ranges::find(order, at) - order.begin();
  GRAPHC_ASSIGN(Array joined, inOrder(order, operands, [&](std::span<const Operand> turned) {
                  std::vector<Array> parts;
                  for (const Operand &part : turned)
                    parts.push_back(*part.array);
                  return concatenate(parts, place);
                }));
  return std::optional(std::move(joined));
}

/// Whether arrays are joined while they are recorded: few elements of a loop, or many arrays, each
/// of which would be a kernel of the program.
static bool isJoinedNow(std::span<const Array> xs, DType dtype, std::optional<int64_t> axis) {
  if (!axis || !fitTogether(xs, *axis))
    return false;
  int64_t elements = 0;
  for (const Array &x : xs)
    elements += x.size();
  if (small::isLoop(op::OpKind::Concatenate, xs[0].size(), xs[0].device()) &&
      elements * itemSize(dtype) <= small::mostBytes())
    return true;
  return small::isCollection(xs, dtype);
}

Result<Array> concatenate(std::span<const Array> xs, std::optional<int64_t> axis) {
  RecordScope scope;
  if (xs.empty())
    return Status(ErrorCode::InvalidArgument,
                  "[concatenate] need at least one array to concatenate");
  std::vector<op::OperandType> types;
  for (const Array &x : xs) {
    types.push_back({x.dtype(), op::Weak::None});
    if (&x.device() != &xs[0].device())
      return Status(
          ErrorCode::Device,
          format("[concatenate] operands are on different devices, {} and {}; use to_device",
                 xs[0].device().info().name, x.device().info().name));
    if (axis && x.rank() == 0)
      return Status(ErrorCode::InvalidArgument,
                    "[concatenate] zero-dimensional arrays cannot be concatenated");
  }
  DType dtype = op::resultType(types);
  if (axis) {
    GRAPHC_ASSIGN(std::optional<Array> joined, joinedInOrder(xs, *axis));
    if (joined)
      return *std::move(joined);
  }
  if (isJoinedNow(xs, dtype, axis)) {
    GRAPHC_ASSIGN(NodeRef now, small::concatenate(xs, dtype, static_cast<size_t>(*axis)));
    if (now)
      return small::arrayOf(std::move(now));
  }
  std::vector<NodeRef> nodes;
  for (const Array &x : xs) {
    GRAPHC_ASSIGN(NodeRef n, x.value());
    GRAPHC_ASSIGN(NodeRef converted, node::cast(n, dtype));
    if (!axis) {
      GRAPHC_ASSIGN(converted, node::reshape(converted, Shape{x.size()}));
    }
    nodes.push_back(std::move(converted));
  }
  GRAPHC_ASSIGN(int64_t at, inShape(op::normalizeAxis("concatenate", axis.value_or(0),
                                                      nodes[0]->shape().rank()),
                                    nodes[0]->shape()));
  if (nodes.size() == 1)
    return finish(nodes[0]);
  op::ConcatenateAttrs attrs{at};
  return finish(node::make(op::OpKind::Concatenate, nodes, attrs.encode(), {}, xs[0].device()));
}

} // namespace graphc::ops
