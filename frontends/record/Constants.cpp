#include "frontends/record/Constants.h"

#include "runtime/base/Digest.h"

#include <algorithm>
#include <optional>
#include <unordered_map>

namespace graphc {
namespace {

/// A structure and the literal values it was first seen with.
struct Seen {
  std::vector<uint64_t> bits;
  std::vector<bool> isArgument;
};
constexpr size_t kMaxStructures = 1 << 16;

struct Structures {
  std::mutex mutex;
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

/// Node numbers of the float literals that may become arguments.
std::vector<uint32_t> candidates(const op::GraphDesc &graph) {
  auto inputs = static_cast<uint32_t>(graph.inputs.size());
  constexpr uint32_t kNoLiteral = ~0u;
  std::vector<uint32_t> literal(graph.nodes.size(), kNoLiteral); // the literal a node repeats
  std::vector<bool> free(graph.nodes.size(), false);
  auto literalOf = [&](uint32_t value) {
    return value < inputs ? kNoLiteral : literal[value - inputs];
  };
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    const op::NodeDesc &node = graph.nodes[i];
    if (node.kind == op::OpKind::Full && isFloat(node.dtype) && node.shape.empty()) {
      literal[i] = i;
      free[i] = true;
    } else if (op::opInfo(node.kind).category == op::Category::Movement ||
               node.kind == op::OpKind::Cast) {
      literal[i] = literalOf(node.operands[0]);
    } else if (pinsSecondOperand(node.kind) && literalOf(node.operands[1]) != kNoLiteral) {
      free[literalOf(node.operands[1])] = false;
    }
  }
  for (uint32_t value : graph.outputs)
    if (value >= inputs)
      free[value - inputs] = false;
  std::vector<uint32_t> out;
  for (uint32_t i = 0; i < free.size(); ++i)
    if (free[i])
      out.push_back(i);
  return out;
}

uint64_t bitsOf(const op::NodeDesc &literal) { return static_cast<uint64_t>(literal.attrs[0]); }

Digest maskedDigest(op::GraphDesc &graph, const std::vector<uint32_t> &nodes) {
  std::vector<int64_t> saved;
  for (uint32_t n : nodes)
    saved.push_back(std::exchange(graph.nodes[n].attrs[0], 0));
  std::vector<uint8_t> bytes;
  op::appendCanonicalBytes(graph, bytes);
  for (size_t i = 0; i < nodes.size(); ++i)
    graph.nodes[nodes[i]].attrs[0] = saved[i];
  return digestOf(bytes);
}

/// The candidates that are arguments, after taking note of this graph's values.
std::vector<uint32_t> argumentsOf(op::GraphDesc &graph, const std::vector<uint32_t> &nodes) {
  Digest digest = maskedDigest(graph, nodes);
  Structures &all = structures();
  std::lock_guard lock(all.mutex);
  if (all.seen.size() > kMaxStructures)
    all.seen.clear();
  auto [it, isNew] = all.seen.try_emplace(digest);
  Seen &seen = it->second;
  if (isNew) {
    for (uint32_t n : nodes)
      seen.bits.push_back(bitsOf(graph.nodes[n]));
    seen.isArgument.resize(nodes.size());
  }
  std::vector<uint32_t> out;
  for (size_t i = 0; i < nodes.size(); ++i) {
    if (bitsOf(graph.nodes[nodes[i]]) != seen.bits[i])
      seen.isArgument[i] = true;
    if (seen.isArgument[i])
      out.push_back(nodes[i]);
  }
  return out;
}

} // namespace

void promoteLiterals(Segment &segment) {
  op::GraphDesc &graph = segment.graph;
  std::vector<uint32_t> nodes = candidates(graph);
  if (nodes.empty())
    return;
  std::vector<uint32_t> arguments = argumentsOf(graph, nodes);
  if (arguments.empty())
    return;
  auto inputs = static_cast<uint32_t>(graph.inputs.size());
  std::vector<uint32_t> renumbered(inputs + graph.nodes.size());
  for (uint32_t i = 0; i < inputs; ++i)
    renumbered[i] = i;
  for (uint32_t n : arguments) {
    renumbered[inputs + n] = static_cast<uint32_t>(graph.inputs.size());
    graph.inputs.push_back({graph.nodes[n].dtype, {}, {}});
    segment.literals.push_back({bitsOf(graph.nodes[n]), graph.nodes[n].dtype});
  }
  auto next = static_cast<uint32_t>(graph.inputs.size());
  std::vector<op::NodeDesc> kept;
  std::vector<Location> locations;
  for (uint32_t i = 0; i < graph.nodes.size(); ++i) {
    if (std::ranges::binary_search(arguments, i))
      continue;
    renumbered[inputs + i] = next++;
    for (uint32_t &operand : graph.nodes[i].operands)
      operand = renumbered[operand];
    kept.push_back(std::move(graph.nodes[i]));
    locations.push_back(segment.locations[i]);
  }
  graph.nodes = std::move(kept);
  segment.locations = std::move(locations);
  for (uint32_t &output : graph.outputs)
    output = renumbered[output];
}

void forgetLiterals() {
  std::lock_guard lock(structures().mutex);
  structures().seen.clear();
}

} // namespace graphc
