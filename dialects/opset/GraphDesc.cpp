#include "dialects/opset/GraphDesc.h"

namespace graphc::op {
namespace {

/// Canonical numbers are LEB128 of the zigzag form: short, and the same on every machine.
void putNumber(std::vector<uint8_t> &out, int64_t v) {
  auto u = (static_cast<uint64_t>(v) << 1) ^ static_cast<uint64_t>(v >> 63);
  while (u >= 0x80) {
    out.push_back(static_cast<uint8_t>(u) | 0x80);
    u >>= 7;
  }
  out.push_back(static_cast<uint8_t>(u));
}

template <typename Numbers>
void putNumbers(std::vector<uint8_t> &out, const Numbers &numbers) {
  putNumber(out, static_cast<int64_t>(numbers.size()));
  for (auto n : numbers)
    putNumber(out, static_cast<int64_t>(n));
}

} // namespace

void appendCanonicalBytes(const GraphDesc &graph, std::vector<uint8_t> &out) {
  // Every list is preceded by its length and every field has its place: no two graphs share bytes.
  putNumber(out, graph.symbolCount);
  putNumber(out, static_cast<int64_t>(graph.inputs.size()));
  for (const InputDesc &input : graph.inputs) {
    out.push_back(static_cast<uint8_t>(input.dtype));
    putNumbers(out, input.shape);
  }
  putNumber(out, static_cast<int64_t>(graph.nodes.size()));
  for (const NodeDesc &node : graph.nodes) {
    putNumber(out, static_cast<int64_t>(node.kind));
    out.push_back(static_cast<uint8_t>(node.dtype));
    putNumbers(out, node.shape);
    putNumbers(out, node.operands);
    putNumbers(out, node.attrs);
    putNumber(out, node.apart);
    putNumber(out, node.isSmall);
  }
  putNumbers(out, graph.outputs);
  out.push_back(static_cast<uint8_t>(graph.watch));
}

} // namespace graphc::op
