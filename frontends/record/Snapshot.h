//===- Snapshot.h - Pending nodes as GraphDescs -----------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_SNAPSHOT_H
#define GRAPHC_FRONTENDS_RECORD_SNAPSHOT_H

#include "dialects/opset/GraphDesc.h"
#include "frontends/record/Node.h"

#include <functional>
#include <span>
#include <utility>
#include <vector>

namespace graphc {

/// A literal that became an argument (Constants.h).
struct LiteralInput {
  uint64_t bits;
  DType dtype;
};

/// A segment's graph as flat words, made without allocating when its vectors are used again: what
/// decides which program runs is found by their digest, and a GraphDesc is made of them only for
/// the compiler. Nodes are numbered from 0, inputs from kInput.
struct SegmentCode {
  static constexpr uint32_t kInput = 0x80000000u;
  /// A 0-d float or uint64 literal or a known value: its word in `nodes` only says whether it is
  /// known, so that the code stands for every value of it.
  struct Literal {
    uint64_t bits;
    DType dtype;
    uint32_t node;
    bool isKnown;
    bool isArgument = false; ///< decided by promoteLiterals
  };

  std::vector<int64_t> nodes;  ///< per node: head, attribute count, shape, operands, attributes
  std::vector<int64_t> inputs; ///< per input: head, shape
  std::vector<uint32_t> outputs;
  std::vector<Literal> literals;
  std::vector<Location> locations;   ///< of each node
  std::vector<uint32_t> errors;      ///< likewise, what is done about errors it may meet
  op::Watch watch = op::Watch::None; ///< something is done, so the program tells of some
  bool asksForUnderflow = false;     ///< which no program tells of
  bool underflowsUnheard = false;    ///< of 16 bits, which processors do not tell of

  bool watches() const { return watch != op::Watch::None; }
  /// Of everything but the values of literals and the locations.
  Digest structure() const { return structure(watch); }
  /// That of the code that watches so.
  Digest structure(op::Watch as) const;
};

/// One program's worth of a snapshot. `inputs` and then `literals` are the program's inputs in
/// order.
/// Met with each node when it was recorded again, and its number.
using Replayed = std::function<void(size_t number, const NodeRef &node)>;

struct Segment {
  SegmentCode code;
  std::vector<NodeRef> inputs;
  std::vector<LiteralInput> literals; ///< the arguments among code.literals
  std::vector<NodeRef> outputs;
  std::vector<int64_t> symbols; ///< value of each symbol

  /// What a call passes as size arguments: the values of the first `wanted` symbols. Programs take
  /// sizes by symbol number and read most of them from their inputs' shapes.
  std::vector<int64_t> sizeArguments(size_t wanted) const;
  /// The graph for the compiler; literals that are arguments are its last inputs. With `lines`,
  /// "file:line" of every node is looked up.
  op::GraphDesc graph(bool lines) const;
  /// Its nodes once more, pending, on other inputs; they do nothing about errors.
  std::vector<NodeRef> replay(std::span<const NodeRef> inputs, rt::Device &device,
                              const Replayed &replayed = {}) const;
  op::OpKind kindOf(size_t node) const;
  bool has(op::OpKind kind) const;
  /// Where its gathers and scatters were recorded, in order.
  std::vector<Location> placeLocations() const;
  /// Where the nodes of that graph were recorded, by number.
  std::vector<Location> locations() const;
  /// "file:line" of one of them; "" for -1 and when it is unknown.
  std::string lineOf(int64_t node) const;
  /// Keeps the memory of the vectors.
  void clear();
};

/// About the compute nodes of one segment. Long graphs are cut where least is passed on, between
/// half and twice as far; the turns of a loop are cut at one place, so that a million equal steps
/// are a few programs.
inline constexpr size_t kSegmentNodes = 256;

/// Values in whose memory a run makes its results, when nobody can ask for them any more. While one
/// is listed no snapshot begins, so that nobody meets it.
class Overwrites {
public:
  Overwrites() = default;
  Overwrites(Overwrites &&) = default;
  Overwrites &operator=(Overwrites &&) = default;
  ~Overwrites() { release(); }
  /// Lists a value that the caller refers to `holders` times, when nothing else does and no
  /// snapshot is under way. Takes graphMutex().
  bool claim(const NodeRef &value, uint32_t holders);
  /// For one that nobody else sees. Needs graphMutex().
  void add(const NodeRef &value);
  /// The run leaves the last one of the list alone.
  void dropLast();
  /// After the results of the run were published, or when there was none.
  void release();
  bool empty() const { return nodes.empty(); }

private:
  void end(size_t first);
  std::vector<NodeRef> nodes;
};

/// The pending nodes that some roots need, in recording order, cut into segments. Cheap operations
/// (generators, movement of inputs) belong to no segment: each segment that uses one has its own
/// copy.
///
/// A node becomes an output of its segment when it is a root, when a later segment needs it, or
/// when something outside the snapshot refers to it: an array the user still holds, or another
/// pending node. The latter is what avoids recomputing. Of a traced function only the first two
/// count.
class Snapshot {
public:
  /// Takes graphMutex(). TraceError when a root depends on a placeholder and `placeholders` is
  /// false.
  static Result<Snapshot> take(std::span<const NodeRef> roots, bool placeholders,
                               size_t segmentNodes = kSegmentNodes);
  /// The same in place of what this one held, whose memory is used again.
  Status retake(std::span<const NodeRef> roots, bool placeholders,
                size_t segmentNodes = kSegmentNodes);
  size_t segmentCount() const { return segmentEnds.size(); }
  /// Takes graphMutex(). Nodes that became ready since are inputs.
  Segment build(size_t segment) const;
  void build(size_t segment, Segment &out) const;
  /// Gives up the nodes of a finished segment.
  void drop(size_t segment);
  void clear();
  /// Whether the run of the last segment may make a result in the memory of `input`, one of its
  /// inputs: then nobody can ask for that value any more.
  bool claim(const NodeRef &input);
  /// What was claimed.
  Overwrites &overwrites() { return claimed; }

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
    bool readsClaimed = false; ///< of claim(): needs the value it is asked about
  };
  /// False when a placeholder was met.
  bool collect(std::span<const NodeRef> roots);
  void classify(std::span<const NodeRef> roots);
  void markHeld();
  void cut(size_t segmentNodes);
  class Length;
  /// Of each entry, the last that has it as an operand; 0 without one.
  std::vector<uint32_t> lastUses() const;
  /// Where a segment from `first` on that should end at `wanted` leaves least to be stored for the
  /// next: between half and twice the length.
  uint32_t narrowest(uint32_t first, uint32_t wanted, size_t segmentNodes,
                     std::vector<uint32_t> &lastUse) const;
  /// Which segment each node is in, and what a later segment needs.
  void shareValues();
  const Entry *find(const Node &node) const;

  /// Counts the snapshots that hold nodes. Needs graphMutex() but to be moved.
  class Presence {
  public:
    Presence() = default;
    Presence(Presence &&other) noexcept
        : present(std::exchange(other.present, false)), generation(other.generation) {}
    Presence &operator=(Presence &&other) noexcept {
      std::swap(present, other.present);
      std::swap(generation, other.generation);
      return *this;
    }
    ~Presence();
    void enter();

  private:
    bool present = false;
    uint32_t generation = 0;
  };

  std::vector<Entry> entries; ///< by sequence
  std::vector<uint32_t> segmentEnds;
  std::vector<Node *> stack; ///< of collect()
  Overwrites claimed;
  Presence presence;
};

} // namespace graphc

#endif // GRAPHC_FRONTENDS_RECORD_SNAPSHOT_H
