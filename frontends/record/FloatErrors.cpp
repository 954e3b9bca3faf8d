#include "frontends/record/FloatErrors.h"

#include "frontends/record/Choose.h"
#include "frontends/record/FloatConditions.h"
#include "frontends/record/Known.h"
#include "frontends/record/Record.h"
#include "frontends/record/Session.h"
#include "runtime/base/Fork.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>
#include <unordered_map>
#include <utility>

namespace graphc {
namespace {

using op::OpKind;
using op::ReduceKind;

thread_local uint32_t threadModes = FloatModes::kDefault;
thread_local std::vector<FloatReport> met;
FloatSink floatSink = nullptr;
ModesFilter modesFilter = nullptr;
ModesKeeper modesKeeper;

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

/// How runs of a structure tell what they met, by what was found before.
class Findings {
public:
  void looked(const Digest &structure, op::Watch by, bool met) {
    std::lock_guard lock(mutex);
    if (known.size() >= kMost)
      known.clear();
    bool later = met || by == op::Watch::Operations;
    known.insert_or_assign(structure, Entry{later ? Telling::Results : Telling::Operations});
    any.store(true, std::memory_order_release);
  }
  void asked(const Digest &structure, bool met) {
    std::lock_guard lock(mutex);
    auto it = known.find(structure);
    if (it == known.end())
      return;
    it->second.quiet = met ? 0 : it->second.quiet + 1;
    if (it->second.quiet == kQuiet)
      known.erase(it);
  }
  Telling of(const Digest &structure) {
    std::lock_guard lock(mutex);
    auto it = known.find(structure);
    return it == known.end() ? Telling::Values : it->second.telling;
  }
  bool empty() const { return !any.load(std::memory_order_acquire); }

private:
  static constexpr size_t kMost = 1 << 16;
  /// Runs that were asked and met nothing, after which values are watched again.
  static constexpr int kQuiet = 8;
  struct Entry {
    Telling telling;
    int quiet = 0;
  };
  std::atomic<bool> any{false};
  ForkSafeMutex mutex;
  std::unordered_map<Digest, Entry> known;
};

Findings &findings() {
  static auto *all = new Findings; // in use until the process ends
  return *all;
}

} // namespace

uint32_t setFloatModes(uint32_t word) {
  return modesKeeper.change ? modesKeeper.change(word) : std::exchange(threadModes, word);
}
uint32_t floatModes() { return modesKeeper.now ? modesKeeper.now() : threadModes; }
void setModesKeeper(ModesKeeper keeper) { modesKeeper = keeper; }
void setModesFilter(ModesFilter filter) { modesFilter = filter; }
uint32_t modesNow() { return modesFilter ? modesFilter(floatModes()) : floatModes(); }
void setFloatSink(FloatSink sink) { floatSink = sink; }

Status tellNow(FloatError error, OpKind kind, uint32_t modes) {
  if (!floatSink || FloatModes::of(modes, error) == 0)
    return Status::ok();
  FloatReport report{error, kind, RecordScope::location(), modes};
  return floatSink({&report, 1});
}

bool mayMeetFloatErrors(const Node &n) {
  switch (n.kind()) {
  case OpKind::Cast:
    return isInexact(n.dtype())
               ? itemSize(realDType(n.dtype())) < itemSize(realDType(n.operands()[0]->dtype()))
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
  case OpKind::Bitcast:
    return false;
  case OpKind::Scan: {
    op::ScanAttrs attrs;
    bool isExtreme =
        attrs.decode(n.attrs()) && (attrs.kind == static_cast<int64_t>(op::ReduceKind::Min) ||
                                    attrs.kind == static_cast<int64_t>(op::ReduceKind::Max));
    if (isExtreme)
      return false;
    break;
  }
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

bool mayUnderflow(OpKind kind, DType t) {
  switch (kind) {
  case OpKind::Mul:
  case OpKind::Square:
  case OpKind::Div:
  case OpKind::Exp:
  case OpKind::Exp2:
  case OpKind::Pow:
    return isInexact(t) && !isComplex(t);
  default:
    return false;
  }
}

bool listensForUnderflow(const SegmentCode &code, const rt::Device &device) {
  return code.asksForUnderflow && !code.underflowsUnheard && onHost(device) &&
         !rt::choicesOf(device);
}

Telling tellingOf(const Digest &structure) {
  return findings().empty() ? Telling::Values : findings().of(structure);
}

Telling tellingOf(const SegmentCode &code, const rt::Device &device) {
  if (mustAskForUnderflow(code, device))
    return Telling::Results;
  return findings().empty() ? Telling::Values : findings().of(code.structure(op::Watch::Values));
}

Result<bool> readAnswers(const Questions &questions) {
  size_t before = met.size();
  for (size_t i = 0; i < questions.nodes.size(); ++i) {
    uint8_t answer = 0;
    const rt::BufferRef &buffer = questions.nodes[i]->buffer();
    GRAPHC_TRY(buffer->device().queue().download(&answer, *buffer, 1));
    if (answer)
      met.push_back(questions.reports[i]);
  }
  return met.size() > before;
}

Status noteAnswers(const Questions &questions) {
  GRAPHC_ASSIGN(bool any, readAnswers(questions));
  findings().asked(questions.structure, any);
  return Status::ok();
}

Status lookForFloatErrors(const Segment &segment, std::span<const NodeRef> inputs,
                          rt::Device &device, bool mayInterpret) {
  Questions questions;
  {
    // Whoever is held would be a result of the program that answers.
    std::vector<NodeRef> nodes;
    GRAPHC_ASSIGN(questions, questionsOf(segment, inputs, device, Repeats::Apart, nodes));
  }
  if (!questions.nodes.empty())
    GRAPHC_TRY(computeNow(questions.nodes, device, mayInterpret));
  GRAPHC_ASSIGN(bool any, readAnswers(questions));
  findings().looked(questions.structure, segment.code.watch, any);
  return Status::ok();
}

Result<std::vector<NodeRef>> computeAsking(const Segment &segment, std::span<const NodeRef> inputs,
                                           rt::Device &device, bool mayInterpret,
                                           Questions &questions) {
  std::vector<NodeRef> nodes, roots;
  GRAPHC_ASSIGN(questions, questionsOf(segment, inputs, device, Repeats::Joined, nodes));
  for (uint32_t output : segment.code.outputs)
    roots.push_back(output & SegmentCode::kInput ? inputs[output & ~SegmentCode::kInput]
                                                 : nodes[output]);
  nodes.clear();
  std::vector<NodeRef> pending = questions.nodes;
  std::ranges::copy_if(roots, std::back_inserter(pending),
                       [](const NodeRef &n) { return n->state() == NodeState::Pending; });
  GRAPHC_TRY(computeNow(pending, device, mayInterpret));
  return roots;
}

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
  GRAPHC_ASSIGN(Questions questions, questionsOfResults(segment, *last, results));
  if (!questions.nodes.empty())
    GRAPHC_TRY(computeNow(questions.nodes, results[0]->device()));
  GRAPHC_ASSIGN(bool any, readAnswers(questions));
  findings().looked(questions.structure, segment.code.watch, true);
  FloatReport hidden = hiddenError(segment, *last);
  if (!any && FloatModes::of(hidden.modes, hidden.error))
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
