#include "frontends/record/InterpretSteps.h"

#include "frontends/record/InterpretPlain.h"
#include "frontends/record/Record.h"

#include <algorithm>
#include <limits>
#include <mutex>

namespace graphc {
namespace {

using op::OpKind;

constexpr size_t kMostNodes = 2048;
constexpr int64_t kMostOfOne = 2 << 20;

/// Kinds that a step may be of.
bool isKnownKind(const Node &n) {
  switch (n.kind()) {
  case OpKind::Full:
    return n.shape().rank() == 0;
  case OpKind::Iota:
  case OpKind::Cast:
  case OpKind::Concatenate:
  case OpKind::UpdateSlice:
  case OpKind::Gather:
  case OpKind::Scatter:
  case OpKind::Reduce:
  case OpKind::Scan:
  case OpKind::Matmul:
  case OpKind::Library:
    return true;
  default:
    return isMovement(n.kind()) || op::opInfo(n.kind()).category == op::Category::Elementwise;
  }
}

} // namespace

bool isMovement(OpKind kind) {
  return kind == OpKind::Broadcast || kind == OpKind::Transpose || kind == OpKind::Reshape ||
         kind == OpKind::Slice || kind == OpKind::Flip;
}

bool isTooLarge(const Segment &segment) {
  return std::ranges::any_of(segment.outputs, [](const NodeRef &n) {
    return !isMovement(n->kind()) && n->bytes() > kMostOfOne;
  });
}

Interpreted Steps::collect(const Segment &segment, int64_t mostBytes, uint64_t epoch) {
  int64_t bytes = 0;
  auto take = [&](const NodeRef &n) {
    if (n->state() == NodeState::Ready || n->markEpoch == epoch)
      return Interpreted::Done;
    n->markEpoch = epoch;
    if (n->state() != NodeState::Pending || nodes.size() == kMostNodes ||
        (!plain::hasElements(n->dtype()) && !isComplex(n->dtype())) || !isKnownKind(*n))
      return Interpreted::Refused;
    if (!isMovement(n->kind()) && n->bytes() > kMostOfOne)
      return Interpreted::Refused;
    bytes += n->bytes();
    nodes.push_back(n);
    return bytes <= mostBytes ? Interpreted::Done : Interpreted::TooLarge;
  };
  for (const NodeRef &output : segment.outputs)
    if (Interpreted taken = take(output); taken != Interpreted::Done)
      return taken;
  for (size_t i = 0; i < nodes.size(); ++i) {
    const Node &n = *nodes[i]; // which stays where it is when the list grows
    for (const NodeRef &operand : n.operands())
      if (Interpreted taken = take(operand); taken != Interpreted::Done)
        return taken;
  }
  return Interpreted::Done;
}

void Steps::number(const Segment &segment, uint64_t epoch) {
  std::ranges::sort(nodes, {}, [](const NodeRef &n) { return n->sequence(); });
  steps = static_cast<uint32_t>(nodes.size());
  for (uint32_t i = 0; i < steps; ++i)
    nodes[i]->mark = i;
  for (uint32_t i = 0; i < steps; ++i) {
    firstOperand.push_back(static_cast<uint32_t>(operandList.size()));
    const Node &n = *nodes[i];
    for (const NodeRef &operand : n.operands()) {
      if (operand->markEpoch != epoch) {
        operand->markEpoch = epoch;
        operand->mark = static_cast<uint32_t>(nodes.size());
        nodes.push_back(operand);
      }
      operandList.push_back(operand->mark);
    }
  }
  firstOperand.push_back(static_cast<uint32_t>(operandList.size()));
  for (const NodeRef &output : segment.outputs)
    outputList.push_back(output->mark);
}

void Steps::findEnds() {
  constexpr uint32_t kNever = std::numeric_limits<uint32_t>::max();
  std::vector<uint32_t> last(nodes.size(), kNever);
  for (uint32_t i = 0; i < steps; ++i)
    for (uint32_t operand : operands(i))
      last[operand] = i;
  for (uint32_t output : outputList)
    last[output] = kNever;
  firstEnd.assign(steps + 1, 0);
  for (uint32_t step : last)
    if (step != kNever)
      ++firstEnd[step + 1];
  for (uint32_t i = 0; i < steps; ++i)
    firstEnd[i + 1] += firstEnd[i];
  endList.resize(firstEnd[steps]);
  std::vector<uint32_t> next(firstEnd.begin(), firstEnd.end() - 1);
  for (uint32_t value = 0; value < last.size(); ++value)
    if (last[value] != kNever)
      endList[next[last[value]]++] = value;
}

Interpreted Steps::find(const Segment &segment, int64_t mostBytes) {
  {
    std::lock_guard lock(graphMutex());
    const uint64_t epoch = nextMarkEpoch();
    if (Interpreted found = collect(segment, mostBytes, epoch); found != Interpreted::Done)
      return found;
    // One that another thread computed since the segment was made is no step.
    for (const NodeRef &output : segment.outputs)
      if (output->state() != NodeState::Pending)
        return Interpreted::Refused;
    number(segment, epoch);
  }
  findEnds();
  return Interpreted::Done;
}

} // namespace graphc
