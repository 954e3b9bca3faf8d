#include "frontends/record/FloatConditions.h"

#include "frontends/record/Record.h"

#include <array>
#include <limits>
#include <utility>

namespace graphc {
namespace {

using op::OpKind;
using op::ReduceKind;

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
  /// A line that is being recorded may be what evaluates: its conditions are nobody's to ask about.
  RecordScope quiet{RecordScope::location(), 0};
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
    return isComplex(n.dtype())
               ? c.op(OpKind::Equal, c.op(OpKind::Mul, x[0], x[0]), c.number(x[0], 1))
               : c.op(OpKind::Equal, c.op(OpKind::Abs, x[0]), c.number(x[0], 1));
  case OpKind::Atan: // i and -i
    return isComplex(n.dtype())
               ? c.op(OpKind::Equal, c.op(OpKind::Mul, x[0], x[0]), c.number(x[0], -1))
               : NodeRef();
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
  if (!mayUnderflow(n))
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
  // NumPy compares operands there, which is invalid of NaN.
  if (n.kind() == OpKind::LogAddExp)
    at(out, FloatError::Invalid) = c.op(OpKind::IsNan, r);
  if (n.kind() == OpKind::Div && isComplex(n.dtype()))
    at(out, FloatError::Invalid) =
        c.op(OpKind::LogicalOr, at(out, FloatError::Invalid), c.op(OpKind::IsNan, x[1]));
  NodeRef exact = pole(c, n, x);
  if (exact)
    at(out, FloatError::Divide) = c.both(infinite, exact);
  if (n.kind() != OpKind::Atanh && n.kind() != OpKind::Atan)
    at(out, FloatError::Over) = c.without(infinite, exact);
  // As NumPy, where the quotient of an infinity is NaN, but for a zero divisor, and one that
  // overflows is looked at for its fraction.
  if (n.kind() == OpKind::FloorDivide) {
    NodeRef divides =
        c.without(c.without(c.op(OpKind::IsInf, x[0]), c.op(OpKind::IsNan, x[1])), exact);
    for (const NodeRef &found : {divides, c.without(infinite, exact)})
      at(out, FloatError::Invalid) = c.op(OpKind::LogicalOr, at(out, FloatError::Invalid), found);
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

/// Which question it is whose report is the same and whose condition has that shape, or their
/// number.
size_t sameQuestion(const Questions &questions, const FloatReport &report, const Shape &shape) {
  size_t i = 0;
  while (i < questions.nodes.size() && !(questions.reports[i] == report && questions.nodes[i] &&
                                         questions.nodes[i]->shape() == shape))
    ++i;
  return i;
}

/// Whether it is the quotient that reciprocal() is of integers.
bool isReciprocalOfIntegers(const Node &n, uint32_t modes) {
  constexpr uint32_t kName = kOperationNames + static_cast<uint32_t>(OpKind::Reciprocal);
  return n.kind() == OpKind::FloorDivide && !isInexact(n.dtype()) &&
         modes >> kErrorNameShift == kName;
}

/// Adds the conditions of one operation, whole arrays of them.
void ask(Conditions &c, const NodeRef &node, uint32_t modes, Location location, Repeats repeats,
         Questions &questions) {
  Errors errors = errorsOf(c, node);
  // NumPy's is a quotient of floats that becomes an integer, which infinity is none of.
  if (isReciprocalOfIntegers(*node, modes))
    at(errors, FloatError::Invalid) = at(errors, FloatError::Divide);
  if (modes & FloatModes::kUnder && isInexact(node->dtype())) {
    std::vector<NodeRef> operands(node->operands().begin(), node->operands().end());
    at(errors, FloatError::Under) = underflow(c, *node, node, operands);
  }
  for (int e = 0; e < kFloatErrors; ++e) {
    auto error = static_cast<FloatError>(e);
    if (!errors[e] || !FloatModes::of(modes, error))
      continue;
    FloatReport report{error, node->kind(), location, modes};
    bool joins = repeats == Repeats::Joined && FloatModes::of(modes, error) == FloatModes::kOnce;
    size_t same =
        joins ? sameQuestion(questions, report, errors[e]->shape()) : questions.nodes.size();
    if (same < questions.nodes.size()) {
      questions.nodes[same] = c.op(OpKind::LogicalOr, questions.nodes[same], errors[e]);
      continue;
    }
    questions.nodes.push_back(std::move(errors[e]));
    questions.reports.push_back(report);
  }
}

} // namespace

bool hasPole(OpKind kind) {
  switch (kind) {
  case OpKind::Div:
  case OpKind::FloorDivide:
  case OpKind::Log:
  case OpKind::Log2:
  case OpKind::Log10:
  case OpKind::Log1p:
  case OpKind::Atan:
  case OpKind::Atanh:
  case OpKind::Reciprocal:
  case OpKind::Rsqrt:
    return true;
  default:
    return false;
  }
}

Result<Questions> questionsOf(const Segment &segment, std::span<const NodeRef> inputs,
                              rt::Device &device, Repeats repeats, std::vector<NodeRef> &nodes) {
  Conditions c(device);
  Questions questions;
  questions.structure = segment.code.structure(op::Watch::Values);
  // Conditions follow what they ask about at once: a long graph is cut in that order.
  nodes = segment.replay(inputs, device, [&](size_t i, const NodeRef &node) {
    if (segment.code.errors[i] && c.status)
      ask(c, node, segment.code.errors[i], segment.code.locations[i], repeats, questions);
  });
  for (NodeRef &condition : questions.nodes)
    condition = c.over(ReduceKind::Any, condition);
  GRAPHC_TRY(std::move(c.status));
  return questions;
}

Result<Questions> questionsOfResults(const Segment &segment, size_t node,
                                     std::span<const NodeRef> results) {
  Conditions c(results[0]->device());
  Questions questions;
  questions.structure = segment.code.structure(op::Watch::Values);
  uint32_t modes = segment.code.errors[node];
  OpKind kind = segment.kindOf(node);
  auto ask = [&](OpKind predicate, FloatError error) {
    for (const NodeRef &r : results)
      if (isInexact(r->dtype()) && FloatModes::of(modes, error)) {
        questions.nodes.push_back(c.over(ReduceKind::Any, c.op(predicate, r)));
        questions.reports.push_back({error, kind, segment.code.locations[node], modes});
      }
  };
  ask(OpKind::IsInf, hasPole(kind) ? FloatError::Divide : FloatError::Over);
  ask(OpKind::IsNan, FloatError::Invalid);
  GRAPHC_TRY(std::move(c.status));
  return questions;
}

} // namespace graphc
