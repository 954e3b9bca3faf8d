#include "frontends/record/Constants.h"

#include "runtime/base/Fork.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace graphc {
namespace {

enum class Role : uint8_t {
  Pinned,  ///< decides what the code is
  Free,    ///< has had one value
  Divisor, ///< decides it too, until it has had kDivisors values
  Argument,
};

/// A program each: what is left out of one by knowing a divisor is worth less than more of them.
constexpr size_t kDivisors = 3;

/// The literals of a structure and the different values they were seen with, the first ones.
struct Seen {
  std::vector<std::vector<uint64_t>> values;
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
  return kind == op::OpKind::Pow || kind == op::OpKind::FloorDivide ||
         kind == op::OpKind::Remainder;
}

/// Not decided for good: another value may make it an argument.
bool isOpen(Role role) { return role == Role::Free || role == Role::Divisor; }

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
    else if (node.kind == op::OpKind::Div || pinsSecondOperand(node.kind)) {
      uint32_t l = literalOf(node.operands[1]);
      if (l != kNoLiteral && isOpen(roles[l]))
        roles[l] = pinsSecondOperand(node.kind) ? Role::Pinned : Role::Divisor;
    }
    for (size_t o = 0; o < node.operands.size(); ++o)
      if (uint32_t l = literalOf(node.operands[o]);
          l != kNoLiteral && literal[i] == kNoLiteral && isWord(l) && !isRandomWord(node.kind, o))
        roles[l] = Role::Pinned;
  }
  for (uint32_t value : graph.outputs) {
    if (uint32_t l = literalOf(value); l != kNoLiteral && isWord(l))
      roles[l] = Role::Pinned;
    if (value >= inputs && graph.nodes[value - inputs].kind == op::OpKind::Full &&
        literal[value - inputs] != kNoLiteral && isOpen(roles[literal[value - inputs]]))
      roles[literal[value - inputs]] = Role::Pinned;
  }
  return roles;
}

/// Takes note of this segment's values; literals that may be arguments and have had more values
/// than programs are made for are.
void learn(Seen &seen, std::vector<SegmentCode::Literal> &literals) {
  for (size_t i = 0; i < literals.size(); ++i) {
    std::vector<uint64_t> &values = seen.values[i];
    if (isOpen(seen.roles[i]) && std::ranges::find(values, literals[i].bits) == values.end()) {
      if (values.size() < (seen.roles[i] == Role::Divisor ? kDivisors : 1))
        values.push_back(literals[i].bits);
      else
        seen.roles[i] = Role::Argument;
    }
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
    // Set by an earlier look at the segment: its graph would lack their nodes.
    for (SegmentCode::Literal &literal : literals)
      literal.isArgument = false;
    it->second.roles = rolesOf(segment);
    it->second.values.resize(literals.size());
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
