//===- Snapshot.h - Pending nodes as GraphDescs
//-------------------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_SNAPSHOT_H
#define GRAPHC_FRONTENDS_RECORD_SNAPSHOT_H

#include "dialects/opset/GraphDesc.h"
#include "frontends/record/Node.h"

#include <span>
#include <vector>

namespace graphc {

/// A literal that became an argument (Constants.h).
struct LiteralInput {
  uint64_t bits;
  DType dtype;
};

/// One program's worth of a snapshot. `inputs` and then `literals` are the graph's inputs in order.
struct Segment {
  op::GraphDesc graph;
  std::vector<NodeRef> inputs;
  std::vector<LiteralInput> literals;
  std::vector<NodeRef> outputs;
  std::vector<int64_t> symbols;    ///< value of each symbol
  std::vector<Location> locations; ///< of each graph node

  /// What a call passes as size arguments: the values of the first `wanted` symbols. Programs take
  /// sizes by symbol number and read most of them from their inputs' shapes.
  std::vector<int64_t> sizeArguments(size_t wanted) const;
};

/// Compute nodes of one segment. Long graphs are cut, so that a chain of a million equal steps is a
/// few programs.
inline constexpr size_t kSegmentNodes = 256;

/// The pending nodes that some roots need, in recording order, cut into segments. Cheap operations
/// (generators, movement of inputs) belong to no segment: each segment that uses one has its own
/// copy.
///
/// A node becomes an output of its segment when it is a root, when a later segment needs it, or
/// when something outside the snapshot refers to it: an array the user still holds, or another
/// pending node. The latter is what avoids recomputing.
class Snapshot {
public:
  /// Takes graphMutex(). TraceError when a root depends on a placeholder and `placeholders` is
  /// false.
  static Result<Snapshot> take(std::span<const NodeRef> roots, bool placeholders);
  size_t segmentCount() const { return segmentEnds.size(); }
  /// Takes graphMutex(). Nodes that became ready since are inputs.
  Segment build(size_t segment) const;
  /// Gives up the nodes of a finished segment.
  void drop(size_t segment);

private:
  friend class SegmentBuilder;
  struct Entry {
    NodeRef node;
    uint64_t sequence = 0;
    uint32_t segment = 0;
    uint32_t internalUses = 0;
    uint8_t cheapDepth = 0; ///< 0: computed in its segment
    bool isRoot = false;
    bool isOutput = false;
  };
  /// False when a placeholder was met.
  bool collect(std::span<const NodeRef> roots);
  void classify(std::span<const NodeRef> roots);
  void cut();
  const Entry *find(const Node &node) const;

  std::vector<Entry> entries; ///< by sequence
  std::vector<uint32_t> segmentEnds;
};

/// Writes "file:line" of every node into graph.lines; only a compilation needs it.
void resolveLines(Segment &segment);

} // namespace graphc

#endif // GRAPHC_FRONTENDS_RECORD_SNAPSHOT_H
