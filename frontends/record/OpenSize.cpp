#include "frontends/record/OpenSize.h"

#include "frontends/record/Known.h"
#include "frontends/record/Session.h"
#include "frontends/record/Small.h"
#include "frontends/record/Trace.h"
#include "runtime/library/Library.h"

#include <algorithm>
#include <array>
#include <mutex>

namespace graphc {
namespace {

int64_t elementsOf(std::span<const int64_t> shape) {
  int64_t n = 1;
  for (int64_t s : shape)
    n *= s;
  return n;
}

Result<int64_t> readInteger(const NodeRef &n) {
  int64_t value = 0;
  GRAPHC_TRY(n->buffer()->device().queue().download(&value, *n->buffer(), sizeof value));
  return value;
}

Result<NodeRef> flattened(const NodeRef &mask) {
  return node::reshape(mask, Shape{elementsOf(mask->shape())});
}

Result<NodeRef> sumOf(const NodeRef &mask) {
  GRAPHC_ASSIGN(NodeRef flat, flattened(mask));
  GRAPHC_ASSIGN(NodeRef ones, node::cast(flat, DType::Int64));
  return node::reduce(op::ReduceKind::Sum, ones, {0});
}

/// The places by operations that every device has: each true element writes its own place where the
/// running count says.
Result<NodeRef> positionsByScan(const NodeRef &flat) {
  rt::Device &device = flat->device();
  Shape shape = flat->shape();
  op::TensorType places{DType::Int64, shape};
  GRAPHC_ASSIGN(NodeRef own, node::make(op::OpKind::Iota, {}, {}, places, device));
  GRAPHC_ASSIGN(NodeRef ones, node::cast(flat, DType::Int64));
  GRAPHC_ASSIGN(NodeRef ends, node::scan(op::ReduceKind::Sum, ones, 0));
  auto wide = [&](int64_t value) {
    return node::broadcast(node::literal(static_cast<uint64_t>(value), DType::Int64, device),
                           shape);
  };
  GRAPHC_ASSIGN(NodeRef one, wide(1));
  GRAPHC_ASSIGN(NodeRef zero, wide(0));
  GRAPHC_ASSIGN(NodeRef outside, wide(shape[0]));
  NodeRef difference[] = {ends, one};
  GRAPHC_ASSIGN(NodeRef before, node::make(op::OpKind::Sub, difference, {}, {}, device));
  NodeRef targets[] = {flat, before, outside};
  GRAPHC_ASSIGN(NodeRef target, node::make(op::OpKind::Select, targets, {}, {}, device));
  NodeRef trues[] = {flat, own, zero};
  GRAPHC_ASSIGN(NodeRef found, node::make(op::OpKind::Select, trues, {}, {}, device));
  GRAPHC_ASSIGN(NodeRef last, node::reduce(op::ReduceKind::Max, found, {0}));
  GRAPHC_ASSIGN(NodeRef base, node::broadcast(last, shape));
  return node::scatter(base, own, {{target}, {0}, 0}, {.unique = true, .drop = true});
}

/// The positions of the mask that was counted last: `a[m] += 1` reads and writes through one.
struct CountedMask {
  NodeRef mask, positions;
};
constexpr int64_t kMostKept = 1 << 20;
thread_local CountedMask lastMask;

/// Whether two nodes are one operation on the same values, such as `x > 0` written twice. Needs
/// graphMutex().
bool isSameValue(const NodeRef &a, const NodeRef &b, int depth) {
  if (a == b)
    return true;
  bool isOp = a->isOp() && b->isOp() && a->state() == NodeState::Pending &&
              b->state() == NodeState::Pending;
  if (depth == 0 || !isOp || a->kind() != b->kind() || a->dtype() != b->dtype() ||
      !(a->shape() == b->shape()) || &a->device() != &b->device() ||
      !std::ranges::equal(a->attrs(), b->attrs()))
    return false;
  return std::ranges::equal(a->operands(), b->operands(), [&](const NodeRef &x, const NodeRef &y) {
    return isSameValue(x, y, depth - 1);
  });
}
constexpr int kDeepestMask = 4;

/// Sizes that somebody may still hold: arrays chosen by one mask have one size.
constexpr size_t kRecentSizes = 8;
thread_local std::array<std::weak_ptr<OpenSize>, kRecentSizes> recentSizes;
thread_local size_t nextSize = 0;

} // namespace

Result<int64_t> countTrue(const NodeRef &mask) {
  rt::Device &device = mask->device();
  if (!device.info().runsKernels || mask->bytes() == 0)
    return 0;
  if (mayBeOnHost(device)) {
    small::noteLook(mask);
    GRAPHC_TRY(evaluate({&mask, 1}, "mask"));
    if (const char *truths = whereRead(*mask, mask->bytes()))
      return rt::library::countTrue(
          {reinterpret_cast<const uint8_t *>(truths), static_cast<size_t>(mask->bytes())});
  }
  GRAPHC_ASSIGN(NodeRef sum, sumOf(mask));
  NodeRef roots[] = {mask, sum};
  GRAPHC_TRY(evaluate(roots, "mask"));
  return readInteger(sum);
}

Result<NodeRef> countedPositions(const NodeRef &mask) {
  if (lastMask.mask == mask)
    return lastMask.positions;
  GRAPHC_ASSIGN(int64_t count, countTrue(mask));
  GRAPHC_ASSIGN(NodeRef flat, flattened(mask));
  op::TensorType type{DType::Int64, Shape{count}};
  NodeRef positions;
  if (count == 0) {
    GRAPHC_ASSIGN(positions, node::make(op::OpKind::Iota, {}, {}, type, mask->device()));
  } else if (isReadHere(*mask)) {
    GRAPHC_ASSIGN(positions, node::library(Routine::Nonzero, {&flat, 1}, {}, type));
  } else {
    GRAPHC_ASSIGN(NodeRef filled, positionsByScan(flat));
    GRAPHC_ASSIGN(positions, firstRows(filled, count));
  }
  lastMask = {};
  if (flat->shape()[0] <= kMostKept && !Trace::active())
    lastMask = {mask, positions};
  return positions;
}

Result<NodeRef> firstRows(const NodeRef &x, int64_t count) {
  auto rank = static_cast<size_t>(x->shape().rank());
  Shape counts = x->shape();
  counts[0] = count;
  return node::slice(x, std::vector<int64_t>(rank, 0), std::vector<int64_t>(rank, 1), counts);
}

std::shared_ptr<OpenSize> OpenSize::ofMask(const NodeRef &mask) {
  std::array<std::shared_ptr<OpenSize>, kRecentSizes> alive; // released after the mutex
  std::ranges::transform(recentSizes, alive.begin(), &std::weak_ptr<OpenSize>::lock);
  {
    std::lock_guard guard(graphMutex());
    for (const std::shared_ptr<OpenSize> &size : alive)
      if (size && isSameValue(size->maskNode, mask, kDeepestMask))
        return size;
  }
  auto size = std::make_shared<OpenSize>(nullptr, elementsOf(mask->shape()));
  size->maskNode = mask;
  recentSizes[nextSize++ % kRecentSizes] = size;
  return size;
}

Result<NodeRef> OpenSize::count() {
  if (!countNode) {
    GRAPHC_ASSIGN(countNode, sumOf(maskNode));
  }
  return countNode;
}

Result<NodeRef> OpenSize::present(const Shape &shape) {
  GRAPHC_ASSIGN(NodeRef total, count());
  rt::Device &device = total->device();
  GRAPHC_ASSIGN(NodeRef row,
                node::make(op::OpKind::Iota, {}, {}, {DType::Int64, Shape{most}}, device));
  GRAPHC_ASSIGN(NodeRef wide, node::broadcast(total, Shape{most}));
  NodeRef both[] = {row, wide};
  GRAPHC_ASSIGN(NodeRef before, node::make(op::OpKind::Less, both, {}, {}, device));
  std::vector<int64_t> column(static_cast<size_t>(shape.rank()), 1);
  column[0] = most;
  GRAPHC_ASSIGN(before, node::reshape(before, Shape(std::span<const int64_t>(column))));
  return node::broadcast(before, shape);
}

Result<NodeRef> OpenSize::positions() {
  if (positionsNode)
    return positionsNode;
  GRAPHC_ASSIGN(NodeRef flat, flattened(maskNode));
  if (most == 0 || !flat->device().info().hostVisible) {
    GRAPHC_ASSIGN(positionsNode, positionsByScan(flat));
  } else {
    op::TensorType type{DType::Int64, Shape{most}};
    GRAPHC_ASSIGN(positionsNode, node::library(Routine::NonzeroFilled, {&flat, 1}, {0}, type));
  }
  return positionsNode;
}

Result<int64_t> OpenSize::look() {
  if (!known && maskNode) {
    GRAPHC_ASSIGN(known, countTrue(maskNode));
  } else if (!known) {
    GRAPHC_TRY(evaluate({&countNode, 1}, "mask"));
    GRAPHC_ASSIGN(known, readInteger(countNode));
  }
  return *known;
}

} // namespace graphc
