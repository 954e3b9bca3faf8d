//===- GraphDesc.h - A recorded graph as flat data --------------------------------------------===//
#ifndef GRAPHC_DIALECTS_OPSET_GRAPHDESC_H
#define GRAPHC_DIALECTS_OPSET_GRAPHDESC_H

#include "dialects/opset/OpTable.h"
#include "runtime/base/DType.h"

#include <cstdint>
#include <string>
#include <vector>

namespace graphc::op {

/// A size in a GraphDesc: a literal when >= 0, else the symbol with number ~extent. Sizes 0 and 1
/// are always literals; equal larger sizes share a symbol, so that one program serves every set of
/// sizes with the same equalities.
using Extent = int64_t;
constexpr bool isSymbol(Extent e) { return e < 0; }
constexpr uint32_t symbolOf(Extent e) { return static_cast<uint32_t>(~e); }
constexpr Extent symbolExtent(uint32_t symbol) { return ~static_cast<int64_t>(symbol); }

/// One operation. `attrs` is the flat encoding of the op's attribute struct (OpTable.h:
/// encode/decode); entries of Extents attributes are Extents, a Literal is its 64-bit pattern.
struct NodeDesc {
  OpKind kind = OpKind{};
  DType dtype = DType::Float32;
  std::vector<Extent> shape;
  std::vector<uint32_t> operands; ///< value numbers: inputs first, then nodes in order
  std::vector<int64_t> attrs;
  /// Of an update: so many updates before it, each of the result of the former, write elements that
  /// it does not write.
  uint32_t apart = 0;
  bool isSmall = false; ///< of an update: it writes a small part of a large array
  uint32_t line = 0;    ///< index into GraphDesc::lines; not part of the digest
};

struct InputDesc {
  DType dtype = DType::Float32;
  std::vector<Extent> shape;
  std::string name; ///< not part of the digest
};

/// What programs look at to report values that became infinite or NaN (program::kFaultWords).
enum class Watch : uint8_t {
  None,
  Values,     ///< few of them: an operand that was so already shows, too
  Operations, ///< each operation with its operands: slower, for data with infinities and NaN
};

/// A pure function of its inputs, in topological order. Values are numbered inputs first, then
/// nodes.
struct GraphDesc {
  std::string name = "main"; ///< not part of the digest
  std::vector<InputDesc> inputs;
  std::vector<NodeDesc> nodes;
  std::vector<uint32_t> outputs; ///< value numbers
  uint32_t symbolCount = 0;
  Watch watch = Watch::None;
  /// lines[0] is "": unknown. "file:line".
  std::vector<std::string> lines{""};
};

/// Appends the canonical bytes that the digest covers: everything but names and lines.
void appendCanonicalBytes(const GraphDesc &graph, std::vector<uint8_t> &out);

} // namespace graphc::op

#endif // GRAPHC_DIALECTS_OPSET_GRAPHDESC_H
