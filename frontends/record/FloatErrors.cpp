#include "frontends/record/FloatErrors.h"

#include "frontends/record/Record.h"
#include "frontends/record/Session.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <mutex>
#include <unordered_set>
#include <utility>

namespace graphc {
namespace {

using op::OpKind;
using op::ReduceKind;

thread_local uint32_t threadModes = FloatModes::kDefault;
thread_local std::vector<FloatReport> met;
FloatSink floatSink = nullptr;

/// Conditions as recorded nodes. The first failure stays; what is made after it is null.
class Conditions {
public:
  explicit Conditions(rt::Device &device) : device(device) {}
  Status status = Status::ok();

  template <typename... Nodes>
  NodeRef op(OpKind kind, const Nodes &...operands) {
    if (!status || !(operands && ...))
      return {};
    NodeRef list[] = {operands...};
    return kept(node::make(kind, list, {}, {}, device));
  }
  NodeRef both(const NodeRef &x, const NodeRef &y) {
    return x && y ? op(OpKind::LogicalAnd, x, y) : x ? x : y;
  }
  NodeRef without(const NodeRef &x, const NodeRef &y) {
    return y ? both(x, op(OpKind::LogicalNot, y)) : x;
  }
  NodeRef number(const NodeRef &like, double value) {
    if (!status)
      return {};
    NodeRef scalar = kept(node::scalar(op::Scalar::ofFloat(value), like->dtype(), device));
    return scalar ? kept(node::broadcast(scalar, like->shape())) : NodeRef();
  }
  NodeRef integer(const NodeRef &like, int64_t value) {
    if (!status)
      return {};
    NodeRef scalar = kept(node::scalar(op::Scalar::ofInt(value), like->dtype(), device));
    return scalar ? kept(node::broadcast(scalar, like->shape())) : NodeRef();
  }
  NodeRef reduce(ReduceKind kind, const NodeRef &x, std::vector<int64_t> axes) {
    return !status || !x || axes.empty() ? x : kept(node::reduce(kind, x, std::move(axes)));
  }
  NodeRef over(ReduceKind kind, const NodeRef &x) {
    std::vector<int64_t> axes;
    for (int64_t i = 0; x && i < x->shape().rank(); ++i)
      axes.push_back(i);
    return reduce(kind, x, std::move(axes));
  }
  /// All but the first, or all but the last, along an axis.
  NodeRef shifted(const NodeRef &x, int64_t axis, bool last) {
    if (!status || !x)
      return {};
    auto rank = static_cast<size_t>(x->shape().rank());
    std::vector<int64_t> starts(rank, 0), steps(rank, 1);
    Shape counts = x->shape();
    counts[static_cast<size_t>(axis)] -= 1;
    starts[static_cast<size_t>(axis)] = last ? 1 : 0;
    return kept(node::slice(x, std::move(starts), std::move(steps), counts));
  }

private:
  NodeRef kept(Result<NodeRef> made) {
    if (!made) {
      status = made.takeStatus();
      return {};
    }
    return made.take();
  }
  rt::Device &device;
};

/// What an operation met, by error; null: nothing of the kind.
using Errors = std::array<NodeRef, kFloatErrors>;
NodeRef &at(Errors &errors, FloatError e) { return errors[static_cast<size_t>(e)]; }

bool hasPole(OpKind kind) {
  switch (kind) {
  case OpKind::Div:
  case OpKind::FloorDivide:
  case OpKind::Log:
  case OpKind::Log2:
  case OpKind::Log10:
  case OpKind::Log1p:
  case OpKind::Atanh:
  case OpKind::Reciprocal:
  case OpKind::Rsqrt:
    return true;
  default:
    return false;
  }
}

/// Where an infinite result is exact, and so no overflow.
NodeRef pole(Conditions &c, const Node &n, std::span<const NodeRef> x) {
  switch (n.kind()) {
  case OpKind::Div:
  case OpKind::FloorDivide:
    return c.op(OpKind::Equal, x[1], c.number(x[1], 0));
  case OpKind::Log:
  case OpKind::Log2:
  case OpKind::Log10:
  case OpKind::Reciprocal:
  case OpKind::Rsqrt:
  case OpKind::Pow:
  case OpKind::Lgamma:
    return c.op(OpKind::Equal, x[0], c.number(x[0], 0));
  case OpKind::Log1p:
    return c.op(OpKind::Equal, x[0], c.number(x[0], -1));
  case OpKind::Atanh:
    return isComplex(n.dtype()) ? NodeRef()
                                : c.op(OpKind::Equal, c.op(OpKind::Abs, x[0]), c.number(x[0], 1));
  default:
    return {};
  }
}

double leastNormal(DType t) {
  switch (realDType(t)) {
  case DType::Float16:
    return 0x1p-14;
  case DType::Float64:
    return std::numeric_limits<double>::min();
  default:
    return std::numeric_limits<float>::min();
  }
}

/// Results below the normal numbers that lost something. What is exact there underflows for nobody.
NodeRef underflow(Conditions &c, const Node &n, const NodeRef &r, std::span<const NodeRef> x) {
  if (isComplex(n.dtype()))
    return {};
  NodeRef tiny = c.op(OpKind::Less, c.op(OpKind::Abs, r), c.number(r, leastNormal(n.dtype())));
  auto nonzero = [&](const NodeRef &v) { return c.op(OpKind::NotEqual, v, c.number(v, 0)); };
  auto finite = [&](const NodeRef &v) { return c.op(OpKind::IsFinite, v); };
  switch (n.kind()) {
  case OpKind::Mul:
  case OpKind::Square: {
    const NodeRef &y = x[x.size() - 1];
    NodeRef lost = c.op(OpKind::NotEqual, c.op(OpKind::Div, r, y), x[0]);
    return c.both(c.both(tiny, lost), c.both(nonzero(x[0]), nonzero(y)));
  }
  case OpKind::Div: {
    NodeRef lost = c.op(OpKind::NotEqual, c.op(OpKind::Mul, r, x[1]), x[0]);
    return c.both(c.both(tiny, lost), c.both(nonzero(x[0]), finite(x[1])));
  }
  case OpKind::Exp:
  case OpKind::Exp2:
    return c.both(tiny, finite(x[0]));
  case OpKind::Pow:
    return c.both(c.both(tiny, nonzero(x[0])), c.both(finite(x[0]), finite(x[1])));
  default:
    return {};
  }
}

void ofElements(Conditions &c, const Node &n, const NodeRef &r, std::span<const NodeRef> x,
                Errors &out) {
  NodeRef fine, known;
  for (const NodeRef &operand : x)
    if (isInexact(operand->dtype())) {
      fine = c.both(fine, c.op(OpKind::IsFinite, operand));
      known = c.without(known, c.op(OpKind::IsNan, operand));
      if (!known)
        known = c.op(OpKind::LogicalNot, c.op(OpKind::IsNan, operand));
    }
  NodeRef infinite = c.both(c.op(OpKind::IsInf, r), fine);
  at(out, FloatError::Invalid) = c.both(c.op(OpKind::IsNan, r), known);
  NodeRef exact = pole(c, n, x);
  if (exact)
    at(out, FloatError::Divide) = c.both(infinite, exact);
  if (n.kind() != OpKind::Atanh)
    at(out, FloatError::Over) = c.without(infinite, exact);
  // As NumPy, where the quotient of an infinity is NaN, but for a zero divisor.
  if (n.kind() == OpKind::FloorDivide) {
    NodeRef divides =
        c.without(c.without(c.op(OpKind::IsInf, x[0]), c.op(OpKind::IsNan, x[1])), exact);
    at(out, FloatError::Invalid) = c.op(OpKind::LogicalOr, at(out, FloatError::Invalid), divides);
  }
}

void ofCast(Conditions &c, const Node &n, const NodeRef &r, const NodeRef &x, Errors &out) {
  DType to = n.dtype(), from = x->dtype();
  if (isInexact(to)) {
    NodeRef infinite = c.op(OpKind::IsInf, r);
    at(out, FloatError::Over) =
        isInexact(from) ? c.both(infinite, c.op(OpKind::IsFinite, x)) : infinite;
    return;
  }
  if (!isInexact(from) || to == DType::Bool)
    return;
  NodeRef v = isComplex(from) ? c.op(OpKind::Real, x) : x;
  if (!v)
    return;
  NodeRef fits = c.op(OpKind::IsFinite, v);
  if (v->dtype() != DType::Float16) {
    bool narrow = itemSize(to) < 4 || to == DType::Int32;
    bool wide = v->dtype() == DType::Float64;
    NodeRef above = narrow && wide
                        ? c.op(OpKind::Greater, v, c.number(v, -0x1p31 - 1))
                        : c.op(OpKind::GreaterEqual, v, c.number(v, narrow ? -0x1p31 : -0x1p63));
    double most = narrow ? 0x1p31 : to == DType::UInt64 ? 0x1p64 : 0x1p63;
    fits = c.both(above, c.op(OpKind::Less, v, c.number(v, most)));
  }
  at(out, FloatError::Invalid) = c.op(OpKind::LogicalNot, fits);
}

void ofIntegers(Conditions &c, const Node &n, std::span<const NodeRef> x, Errors &out) {
  at(out, FloatError::Divide) = c.op(OpKind::Equal, x[1], c.integer(x[1], 0));
  if (n.kind() != OpKind::FloorDivide || !isSigned(n.dtype()))
    return;
  int64_t least = std::numeric_limits<int64_t>::min() >> (64 - 8 * itemSize(n.dtype()));
  at(out, FloatError::Over) = c.both(c.op(OpKind::Equal, x[0], c.integer(x[0], least)),
                                     c.op(OpKind::Equal, x[1], c.integer(x[1], -1)));
}

void ofReduction(Conditions &c, const Node &n, const NodeRef &r, const NodeRef &x, Errors &out) {
  op::ReduceAttrs attrs;
  if (!attrs.decode(n.attrs()))
    return; // refused when it was recorded
  NodeRef fine = c.reduce(ReduceKind::All, c.op(OpKind::IsFinite, x), attrs.axes);
  NodeRef unknown = c.reduce(ReduceKind::Any, c.op(OpKind::IsNan, x), attrs.axes);
  at(out, FloatError::Over) = c.both(c.op(OpKind::IsInf, r), fine);
  at(out, FloatError::Invalid) = c.without(c.op(OpKind::IsNan, r), unknown);
}

void ofScan(Conditions &c, const Node &n, const NodeRef &r, const NodeRef &x, Errors &out) {
  op::ScanAttrs attrs;
  if (!attrs.decode(n.attrs()))
    return; // refused when it was recorded
  NodeRef before = c.shifted(r, attrs.axis, false), now = c.shifted(r, attrs.axis, true),
          added = c.shifted(x, attrs.axis, true);
  auto finite = [&](const NodeRef &v) { return c.op(OpKind::IsFinite, v); };
  auto unknown = [&](const NodeRef &v) { return c.op(OpKind::IsNan, v); };
  at(out, FloatError::Over) =
      c.both(c.op(OpKind::IsInf, now), c.both(finite(before), finite(added)));
  at(out, FloatError::Invalid) =
      c.without(c.without(unknown(now), unknown(before)), unknown(added));
}

void ofProduct(Conditions &c, const NodeRef &r, std::span<const NodeRef> x, Errors &out) {
  NodeRef fine, unknown;
  for (const NodeRef &operand : x) {
    fine = c.both(fine, c.over(ReduceKind::All, c.op(OpKind::IsFinite, operand)));
    NodeRef any = c.over(ReduceKind::Any, c.op(OpKind::IsNan, operand));
    unknown = unknown ? c.op(OpKind::LogicalOr, unknown, any) : any;
  }
  at(out, FloatError::Over) = c.both(c.over(ReduceKind::Any, c.op(OpKind::IsInf, r)), fine);
  at(out, FloatError::Invalid) =
      c.without(c.over(ReduceKind::Any, c.op(OpKind::IsNan, r)), unknown);
}

/// The errors of an operation whose value is asked for again by `r`.
Errors errorsOf(Conditions &c, const NodeRef &r) {
  const Node &n = *r;
  std::vector<NodeRef> x(n.operands().begin(), n.operands().end());
  Errors out;
  if (n.kind() == OpKind::Cast)
    ofCast(c, n, r, x[0], out);
  else if (n.kind() == OpKind::Reduce)
    ofReduction(c, n, r, x[0], out);
  else if (n.kind() == OpKind::Scan)
    ofScan(c, n, r, x[0], out);
  else if (n.kind() == OpKind::Matmul)
    ofProduct(c, r, x, out);
  else if (!isInexact(n.dtype()))
    ofIntegers(c, n, x, out);
  else
    ofElements(c, n, r, x, out);
  return out;
}

/// Whether no number of `count` has all bits of the exponent.
template <typename Bits>
bool finiteBits(const void *data, int64_t count, Bits exponent) {
  constexpr int64_t kBlock = 4096;
  auto *numbers = static_cast<const Bits *>(data);
  for (int64_t from = 0; from < count; from += kBlock) {
    Bits found = 0;
    for (int64_t i = from, end = std::min(count, from + kBlock); i < end; ++i)
      found |= (numbers[i] & exponent) == exponent ? static_cast<Bits>(~Bits{0}) : Bits{0};
    if (found)
      return false;
  }
  return true;
}

bool finiteNumbers(const void *data, int64_t count, DType t) {
  int64_t parts = isComplex(t) ? 2 * count : count;
  switch (realDType(t)) {
  case DType::Float64:
    return finiteBits<uint64_t>(data, parts, 0x7ff0000000000000);
  case DType::Float32:
    return finiteBits<uint32_t>(data, parts, 0x7f800000);
  case DType::Float16:
    return finiteBits<uint16_t>(data, parts, 0x7c00);
  case DType::BFloat16:
    return finiteBits<uint16_t>(data, parts, 0x7f80);
  default:
    return true;
  }
}

/// Conditions to compute, and what each says.
struct Questions {
  std::vector<NodeRef> nodes;
  std::vector<FloatReport> reports;

  Status ask() {
    if (nodes.empty())
      return Status::ok();
    GRAPHC_TRY(computeNow(nodes, nodes[0]->device()));
    for (size_t i = 0; i < nodes.size(); ++i) {
      uint8_t answer = 0;
      const rt::BufferRef &buffer = nodes[i]->buffer();
      GRAPHC_TRY(buffer->device().queue().download(&answer, *buffer, 1));
      if (answer)
        met.push_back(reports[i]);
    }
    return Status::ok();
  }
};

/// Structures whose operations were asked and had met nothing.
class VainLooks {
public:
  void add(const Digest &structure) {
    std::lock_guard lock(mutex);
    if (known.size() >= kMost)
      known.clear();
    known.insert(structure);
    any.store(true, std::memory_order_release);
  }
  bool contains(const Digest &structure) {
    if (!any.load(std::memory_order_acquire))
      return false;
    std::lock_guard lock(mutex);
    return known.contains(structure);
  }

private:
  static constexpr size_t kMost = 1 << 16;
  std::atomic<bool> any{false};
  std::mutex mutex;
  std::unordered_set<Digest> known;
};

VainLooks &vainLooks() {
  static auto *looks = new VainLooks; // in use until the process ends
  return *looks;
}

} // namespace

uint32_t setFloatModes(uint32_t word) { return std::exchange(threadModes, word); }
uint32_t floatModes() { return threadModes; }
void setFloatSink(FloatSink sink) { floatSink = sink; }

Status tellNow(FloatError error, OpKind kind) {
  uint32_t modes = RecordScope::errors() & FloatModes::kAll;
  if (!floatSink || FloatModes::of(modes, error) == 0)
    return Status::ok();
  FloatReport report{error, kind, RecordScope::location(), modes};
  return floatSink({&report, 1});
}

bool mayMeetFloatErrors(const Node &n) {
  switch (n.kind()) {
  case OpKind::Cast:
    return isInexact(n.dtype()) ? itemSize(n.dtype()) < itemSize(n.operands()[0]->dtype())
                                : isInexact(n.operands()[0]->dtype()) && n.dtype() != DType::Bool;
  case OpKind::FloorDivide:
  case OpKind::Remainder:
    return n.dtype() != DType::Bool;
  case OpKind::Reduce: {
    auto kind = static_cast<ReduceKind>(n.attrs()[0]);
    return isInexact(n.dtype()) &&
           (kind == ReduceKind::Sum || kind == ReduceKind::Prod || kind == ReduceKind::Mean);
  }
  case OpKind::Abs:
    return isComplex(n.operands()[0]->dtype());
  case OpKind::Neg:
  case OpKind::Sign:
  case OpKind::Conj:
  case OpKind::Real:
  case OpKind::Imag:
  case OpKind::Complex:
  case OpKind::Floor:
  case OpKind::Ceil:
  case OpKind::Trunc:
  case OpKind::Round:
  case OpKind::Copysign:
  case OpKind::Minimum:
  case OpKind::Maximum:
  case OpKind::Clip:
  case OpKind::Select:
    return false;
  default:
    break;
  }
  op::Category category = op::opInfo(n.kind()).category;
  return isInexact(n.dtype()) &&
         (category == op::Category::Elementwise || category == op::Category::Scan ||
          category == op::Category::Contraction) &&
         op::opInfo(n.kind()).operandDTypes != op::DTypeClass::Random;
}

bool isFinite(const Node &input) {
  if (!isInexact(input.dtype()))
    return true;
  if (auto known = input.finite.load(std::memory_order_relaxed); known != Node::Finite::Unknown)
    return known == Node::Finite::All;
  bool all =
      input.buffer()->host() &&
      finiteNumbers(input.buffer()->host(), input.bytes() / itemSize(input.dtype()), input.dtype());
  if (input.buffer()->isPrivate()) // others may write to theirs
    input.finite.store(all ? Node::Finite::All : Node::Finite::Not, std::memory_order_relaxed);
  return all;
}

bool areFinite(std::span<const SegmentCode::Literal> literals) {
  return std::ranges::all_of(literals, [](const SegmentCode::Literal &literal) {
    return finiteNumbers(&literal.bits, 1, realDType(literal.dtype));
  });
}

void noteFinite(const SegmentCode &code, op::Watch watch, std::span<const NodeRef> inputs,
                std::span<const NodeRef> outputs, bool look) {
  bool fromFinite =
      areFinite(code.literals) && std::ranges::all_of(inputs, [&](const NodeRef &input) {
        auto known = input->finite.load(std::memory_order_relaxed);
        return !isInexact(input->dtype()) || known == Node::Finite::All ||
               (look && isFinite(*input));
      });
  for (size_t i = 0; i < outputs.size(); ++i) {
    uint32_t node = code.outputs[i];
    bool isWatched = node < SegmentCode::kInput && code.errors[node];
    if (fromFinite || (isWatched && watch == op::Watch::Values))
      outputs[i]->finite.store(Node::Finite::All, std::memory_order_relaxed);
  }
}

Status lookForFloatErrors(const Segment &segment, std::span<const NodeRef> inputs,
                          rt::Device &device) {
  Conditions c(device);
  Questions questions;
  std::vector<NodeRef> nodes = segment.replay(inputs, device);
  for (size_t i = 0; i < nodes.size() && c.status; ++i) {
    uint32_t modes = segment.code.errors[i];
    if (!modes)
      continue;
    Errors errors = errorsOf(c, nodes[i]);
    if (modes & FloatModes::kUnder && isInexact(nodes[i]->dtype()))
      at(errors, FloatError::Under) =
          underflow(c, *nodes[i], nodes[i],
                    std::vector<NodeRef>(nodes[i]->operands().begin(), nodes[i]->operands().end()));
    for (int e = 0; e < kFloatErrors; ++e) {
      auto error = static_cast<FloatError>(e);
      NodeRef any = FloatModes::of(modes, error) ? c.over(ReduceKind::Any, errors[e]) : NodeRef();
      if (!any)
        continue;
      questions.nodes.push_back(std::move(any));
      questions.reports.push_back({error, nodes[i]->kind(), segment.code.locations[i], modes});
    }
  }
  GRAPHC_TRY(std::move(c.status));
  size_t before = met.size();
  GRAPHC_TRY(questions.ask());
  if (met.size() == before && segment.code.watch == op::Watch::Values)
    vainLooks().add(segment.code.structure());
  return Status::ok();
}

bool looksInVain(const Digest &structure) { return vainLooks().contains(structure); }

/// An error of finite inputs that no result shows: an infinity that was divided by or compared.
static FloatReport hiddenError(const Segment &segment, size_t last) {
  for (size_t i = last + 1; i-- > 0;)
    if (segment.code.errors[i] && hasPole(segment.kindOf(i)))
      return {FloatError::Divide, segment.kindOf(i), segment.code.locations[i],
              segment.code.errors[i]};
  OpKind kind = segment.kindOf(last);
  bool givesNan = kind == OpKind::Sqrt || kind == OpKind::Asin || kind == OpKind::Acos ||
                  kind == OpKind::Acosh || kind == OpKind::Remainder;
  return {givesNan ? FloatError::Invalid : FloatError::Over, kind, segment.code.locations[last],
          segment.code.errors[last]};
}

Status lookAtResults(const Segment &segment, std::span<const NodeRef> results) {
  std::optional<size_t> last;
  for (size_t i = 0; i < segment.code.errors.size(); ++i)
    if (segment.code.errors[i])
      last = i;
  if (!last || results.empty())
    return Status::ok();
  Conditions c(results[0]->device());
  Questions questions;
  uint32_t modes = segment.code.errors[*last];
  OpKind kind = segment.kindOf(*last);
  auto ask = [&](OpKind predicate, FloatError error) {
    for (const NodeRef &r : results)
      if (isInexact(r->dtype()) && FloatModes::of(modes, error)) {
        questions.nodes.push_back(c.over(ReduceKind::Any, c.op(predicate, r)));
        questions.reports.push_back({error, kind, segment.code.locations[*last], modes});
      }
  };
  ask(OpKind::IsInf, hasPole(kind) ? FloatError::Divide : FloatError::Over);
  ask(OpKind::IsNan, FloatError::Invalid);
  GRAPHC_TRY(std::move(c.status));
  size_t before = met.size();
  GRAPHC_TRY(questions.ask());
  FloatReport hidden = hiddenError(segment, *last);
  if (met.size() == before && FloatModes::of(hidden.modes, hidden.error))
    met.push_back(hidden);
  return Status::ok();
}

size_t floatErrorsMet() { return met.size(); }

void mergeFloatErrors(size_t first) {
  for (size_t i = first; i < met.size();) {
    bool known = std::find(met.begin() + static_cast<std::ptrdiff_t>(first),
                           met.begin() + static_cast<std::ptrdiff_t>(i),
                           met[i]) != met.begin() + static_cast<std::ptrdiff_t>(i);
    if (known)
      met.erase(met.begin() + static_cast<std::ptrdiff_t>(i));
    else
      ++i;
  }
}

Status deliverFloatErrors() {
  if (met.empty())
    return Status::ok();
  std::vector<FloatReport> reports = std::move(met);
  met.clear();
  return floatSink ? floatSink(reports) : Status::ok();
}

} // namespace graphc
