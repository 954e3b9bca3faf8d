#include "frontends/record/Constants.h"

#include "runtime/base/Fork.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace graphc {
namespace {

enum class Role : uint8_t {
  Pinned, ///< decides what the code is
  Free,   ///< has had one value
  Argument,
};

/// The literals of a structure and the values they were first seen with.
struct Seen {
  std::vector<uint64_t> bits;
  std::vector<Role> roles;
};
constexpr size_t kMaxStructures = 1 << 16;

struct Structures {
  ForkSafeLongMutex mutex;
  std::unordered_map<Digest, Seen> seen;
};
Structures &structures() {
  static auto *s = new Structures; // in use until the process ends
  return *s;
}

/// Ops whose second operand decides how the first is computed.
bool pinsSecondOperand(op::OpKind kind) {
  return kind == op::OpKind::Div || kind == op::OpKind::Pow || kind == op::OpKind::FloorDivide ||
         kind == op::OpKind::Remainder;
}

/// A stream or key of random numbers: its value never changes the code.
bool isRandomWord(op::OpKind kind, size_t operand) {
  return op::opInfo(kind).operandDTypes == op::DTypeClass::Random && (operand == 1 || operand == 2);
}

/// What each literal of a segment may become.
std::vector<Role> rolesOf(const Segment &segment) {
  op::GraphDesc graph = segment.graph(false);
  auto inputs = static_cast<uint32_t>(graph.inputs.size());
  constexpr uint32_t kNoLiteral = ~0u;
  std::vector<uint32_t> literal(graph.nodes.size(), kNoLiteral); // the literal a node repeats
  std::vector<Role> roles;
  for (const SegmentCode::Literal &l : segment.code.literals) {
    literal[l.node] = static_cast<uint32_t>(roles.size());
    // Integers are arguments unless something else than a random draw reads them (below).
    roles.push_back(l.isKnown || !isFloat(l.dtype) ? Role::Argument : Role::Free);
  }
  auto isWord = [&](uint32_t l) {
    return !segment.code.literals[l].isKnown && !isFloat(segment.code.literals[l].dtype);
  };
  auto literalOf = [&](uint32_t value) {
    return value < inputs ? kNoLiteral : literal[value - inputs];
  };
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    const op::NodeDesc &node = graph.nodes[i];
    if (op::opInfo(node.kind).category == op::Category::Movement || node.kind == op::OpKind::Cast)
      literal[i] = literalOf(node.operands[0]);
    else if (pinsSecondOperand(node.kind) && literalOf(node.operands[1]) != kNoLiteral &&
             roles[literalOf(node.operands[1])] == Role::Free)
      roles[literalOf(node.operands[1])] = Role::Pinned;
    for (size_t o = 0; o < node.operands.size(); ++o)
      if (uint32_t l = literalOf(node.operands[o]);
          l != kNoLiteral && literal[i] == kNoLiteral && isWord(l) && !isRandomWord(node.kind, o))
        roles[l] = Role::Pinned;
  }
  for (uint32_t value : graph.outputs) {
    if (uint32_t l = literalOf(value); l != kNoLiteral && isWord(l))
      roles[l] = Role::Pinned;
    if (value >= inputs && graph.nodes[value - inputs].kind == op::OpKind::Full &&
        literal[value - inputs] != kNoLiteral && roles[literal[value - inputs]] == Role::Free)
      roles[literal[value - inputs]] = Role::Pinned;
  }
  return roles;
}

/// Takes note of this segment's values; literals that may be arguments and have had two values are.
void learn(Seen &seen, std::vector<SegmentCode::Literal> &literals) {
  for (size_t i = 0; i < literals.size(); ++i) {
    if (seen.roles[i] == Role::Free && literals[i].bits != seen.bits[i])
      seen.roles[i] = Role::Argument;
    literals[i].isArgument = seen.roles[i] == Role::Argument;
  }
}

} // namespace

void promoteLiterals(Segment &segment, const Digest &structure) {
  std::vector<SegmentCode::Literal> &literals = segment.code.literals;
  segment.literals.clear();
  if (literals.empty())
    return;
  Structures &all = structures();
  std::lock_guard lock(all.mutex);
  if (all.seen.size() > kMaxStructures)
    all.seen.clear();
  auto [it, isNew] = all.seen.try_emplace(structure);
  if (isNew) {
    it->second.roles = rolesOf(segment);
    for (const SegmentCode::Literal &literal : literals)
      it->second.bits.push_back(literal.bits);
  }
  learn(it->second, literals);
  for (const SegmentCode::Literal &literal : literals)
    if (literal.isArgument)
      segment.literals.push_back({literal.bits, literal.dtype});
}

void forgetLiterals() {
  std::lock_guard lock(structures().mutex);
  structures().seen.clear();
}

} // namespace graphc
