#include "frontends/record/Record.h"

#include "frontends/record/FloatErrors.h"
#include "frontends/record/Known.h"
#include "frontends/record/Trace.h"

#include "runtime/base/Strings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>

namespace graphc {
namespace {

LocationSource locationSource;
thread_local int scopeDepth = 0;
thread_local Location scopeLocation = 0;
thread_local uint32_t scopeErrors = 0;

} // namespace

void setLocationSource(LocationSource source) { locationSource = source; }

std::string locationText(Location location) {
  return location && locationSource.text ? locationSource.text(location) : std::string();
}

bool catchesIndexErrors(const rt::Device &device) {
  return !Trace::active() && locationSource.catchesIndexErrors &&
         locationSource.catchesIndexErrors(!device.info().hostVisible);
}

RecordScope::RecordScope() {
  if (scopeDepth++ > 0)
    return;
  UserPlace place = locationSource.current ? locationSource.current() : UserPlace{};
  scopeLocation = place.location;
  uint32_t modes = place.meetsErrors ? modesNow() : 0;
  const uint32_t name = modes >> kErrorNameShift ? 0 : place.errorName; // the outer one is told
  scopeErrors = modes & FloatModes::kAll ? modes | name : 0;
}
RecordScope::RecordScope(Location location, uint32_t errors)
    : outer(std::pair(scopeLocation, scopeErrors)) {
  ++scopeDepth;
  scopeLocation = location;
  scopeErrors = errors;
}
RecordScope::~RecordScope() {
  --scopeDepth;
  if (outer)
    std::tie(scopeLocation, scopeErrors) = *outer;
}
Location RecordScope::location() { return scopeDepth ? scopeLocation : 0; }
uint32_t RecordScope::errors() { return scopeDepth ? scopeErrors : 0; }

uint32_t errorsUnder(op::OpKind kind) {
  uint32_t word = RecordScope::errors();
  return word && !(word >> kErrorNameShift)
             ? word | (kOperationNames + static_cast<uint32_t>(kind)) << kErrorNameShift
             : word;
}

namespace node {
namespace {

/// The last few literals and their broadcasts, latest first, so that `x = x + 1` in a loop records
/// one node a turn. Pending nodes only: a computed literal would be an input and change the
/// structure of what uses it. The one that goes is the one not used for longest: whether two uses
/// share a node must not depend on what was recorded before the first.
struct RecentLiteral {
  uint64_t bits = 0;
  NodeRef scalar;
  NodeRef wide;
};
constexpr size_t kRecentLiterals = 8;
thread_local std::array<RecentLiteral, kRecentLiterals> recentLiterals;

RecentLiteral *findRecent(const NodeRef &scalar) {
  for (RecentLiteral &r : recentLiterals)
    if (r.scalar && r.scalar == scalar)
      return &r;
  return nullptr;
}

void moveToFront(RecentLiteral &r) { std::rotate(recentLiterals.data(), &r, &r + 1); }

bool usable(const NodeRef &n) { return n && n->state() == NodeState::Pending; }

} // namespace

Result<NodeRef> make(op::OpKind kind, std::span<const NodeRef> operands, std::vector<int64_t> attrs,
                     const op::TensorType &wanted, rt::Device &device) {
  constexpr size_t kFew = 4;
  std::array<op::TensorView, kFew> few;
  std::vector<op::TensorView> many;
  std::span<op::TensorView> views(few.data(), std::min(kFew, operands.size()));
  if (operands.size() > kFew) {
    many.resize(operands.size());
    views = many;
  }
  for (size_t i = 0; i < operands.size(); ++i)
    views[i] = {operands[i]->dtype(), operands[i]->shape()};
  GRAPHC_ASSIGN(op::TensorType type, op::infer(kind, views, attrs, wanted));
  return Node::makeOp(kind, operands, std::move(attrs), std::move(type), device,
                      RecordScope::location(), RecordScope::errors());
}

NodeRef literal(uint64_t bits, DType dtype, rt::Device &device) {
  for (RecentLiteral &r : recentLiterals)
    if (r.bits == bits && usable(r.scalar) && r.scalar->dtype() == dtype &&
        &r.scalar->device() == &device) {
      moveToFront(r);
      return recentLiterals.front().scalar;
    }
  op::FullAttrs attrs{bits};
  NodeRef n = Node::makeOp(op::OpKind::Full, {}, attrs.encode(), {dtype, {}}, device,
                           RecordScope::location());
  recentLiterals.back() = {bits, n, nullptr};
  moveToFront(recentLiterals.back());
  return n;
}

/// The pattern of a number, which tells of one that is too large.
static Result<uint64_t> numberBits(const op::Scalar &value, DType t) {
  GRAPHC_ASSIGN(uint64_t bits, op::literalBits(value, t));
  if (isOverflown(value, t, bits))
    GRAPHC_TRY(tellNow(FloatError::Over, op::OpKind::Cast,
                       RecordScope::errors() & ((1u << kErrorNameShift) - 1)));
  return bits;
}

Result<NodeRef> scalar(const op::Scalar &value, DType dtype, rt::Device &device) {
  if (value.variable)
    return Trace::active() ? Trace::active()->variable(value, dtype, device)
                           : op::literalBits(value, dtype).takeStatus();
  DType part = realDType(dtype);
  bool parts = isComplex(dtype);
  GRAPHC_ASSIGN(uint64_t bits, numberBits(parts ? value.real() : value, part));
  if (!parts || (bits == 0 && value.imaginary == 0 && !std::signbit(value.imaginary)))
    return literal(bits, dtype, device);
  GRAPHC_ASSIGN(uint64_t imaginary, numberBits(value.imag(), part));
  NodeRef both[] = {literal(bits, part, device), literal(imaginary, part, device)};
  return make(op::OpKind::Complex, both, {}, {}, device);
}

Result<NodeRef> cast(const NodeRef &x, DType dtype) {
  if (x->dtype() == dtype)
    return x;
  return make(op::OpKind::Cast, {&x, 1}, {}, {dtype, x->shape()}, x->device());
}

Result<NodeRef> broadcast(const NodeRef &x, const Shape &shape) {
  if (x->shape() == shape)
    return x;
  RecentLiteral *recent = x->shape().rank() == 0 ? findRecent(x) : nullptr;
  if (recent && usable(recent->wide) && recent->wide->shape() == shape)
    return recent->wide;
  op::BroadcastAttrs attrs;
  for (int64_t i = 0, skip = shape.rank() - x->shape().rank(); i < x->shape().rank(); ++i)
    attrs.dims.push_back(skip + i);
  GRAPHC_ASSIGN(NodeRef wide, make(op::OpKind::Broadcast, {&x, 1}, attrs.encode(),
                                   {x->dtype(), shape}, x->device()));
  if (recent)
    recent->wide = wide;
  return wide;
}

Result<NodeRef> reshape(const NodeRef &x, const Shape &shape) {
  if (x->shape() == shape)
    return x;
  return make(op::OpKind::Reshape, {&x, 1}, {}, {x->dtype(), shape}, x->device());
}

Result<NodeRef> transpose(const NodeRef &x, std::vector<int64_t> permutation) {
  if (std::ranges::is_sorted(permutation))
    return x;
  op::TransposeAttrs inner;
  if (x->kind() == op::OpKind::Transpose && inner.decode(x->attrs()))
    if (std::optional<NodeRef> turned = x->pendingOperand(0)) {
      for (int64_t &axis : permutation)
        axis = inner.permutation[static_cast<size_t>(axis)];
      return transpose(*turned, std::move(permutation));
    }
  op::TransposeAttrs attrs{std::move(permutation)};
  return make(op::OpKind::Transpose, {&x, 1}, attrs.encode(), {x->dtype(), {}}, x->device());
}

Result<NodeRef> slice(const NodeRef &x, std::vector<int64_t> starts, std::vector<int64_t> steps,
                      const Shape &counts) {
  if (counts == x->shape() && std::ranges::all_of(steps, [](int64_t s) { return s == 1; }))
    return x;
  op::SliceAttrs attrs{std::move(starts), std::move(steps)};
  return make(op::OpKind::Slice, {&x, 1}, attrs.encode(), {x->dtype(), counts}, x->device());
}

Result<NodeRef> updateSlice(const NodeRef &x, const NodeRef &value, std::vector<int64_t> starts,
                            std::vector<int64_t> steps) {
  if (value->shape() == x->shape() && std::ranges::all_of(steps, [](int64_t s) { return s == 1; }))
    return value;
  if (value->bytes() == 0)
    return x;
  op::UpdateSliceAttrs attrs{std::move(starts), std::move(steps)};
  NodeRef operands[] = {x, value};
  return make(op::OpKind::UpdateSlice, operands, attrs.encode(), {}, x->device());
}

Result<NodeRef> scan(op::ReduceKind kind, const NodeRef &x, int64_t axis) {
  if (x->shape()[static_cast<size_t>(axis)] <= 1)
    return x;
  op::ScanAttrs attrs{static_cast<int64_t>(kind), axis};
  return make(op::OpKind::Scan, {&x, 1}, attrs.encode(), {}, x->device());
}

Result<NodeRef> reduce(op::ReduceKind kind, const NodeRef &x, std::vector<int64_t> axes) {
  op::ReduceAttrs attrs{static_cast<int64_t>(kind), std::move(axes)};
  return make(op::OpKind::Reduce, {&x, 1}, attrs.encode(), {}, x->device());
}

Result<NodeRef> library(Routine routine, std::span<const NodeRef> operands,
                        std::vector<int64_t> params, const op::TensorType &result) {
  op::LibraryAttrs attrs{static_cast<int64_t>(routine), std::move(params)};
  return make(op::OpKind::Library, operands, attrs.encode(), result, operands[0]->device());
}

Result<NodeRef> gather(const NodeRef &x, const Places &places) {
  std::vector<NodeRef> operands{x};
  operands.insert(operands.end(), places.indices.begin(), places.indices.end());
  op::GatherAttrs attrs{places.axes, places.position};
  return make(op::OpKind::Gather, operands, attrs.encode(), {}, x->device());
}

Result<NodeRef> scatter(const NodeRef &x, const NodeRef &value, const Places &places,
                        const ScatterRule &rule) {
  std::vector<NodeRef> operands{x, value};
  operands.insert(operands.end(), places.indices.begin(), places.indices.end());
  op::ScatterAttrs attrs{places.axes, places.position,
                         rule.combine ? static_cast<int64_t>(*rule.combine) : -1,
                         (rule.unique ? 1 : 0) | (rule.drop ? 2 : 0)};
  return make(op::OpKind::Scatter, operands, attrs.encode(), {}, x->device());
}

} // namespace node
} // namespace graphc
