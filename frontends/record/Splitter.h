//===- Splitter.h - A segment computed in pieces ----------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_SPLITTER_H
#define GRAPHC_FRONTENDS_RECORD_SPLITTER_H

#include "frontends/record/HostStrips.h"
#include "frontends/record/PiecePlan.h"
#include "frontends/record/Pieces.h"

#include <unordered_map>

namespace graphc {

/// While one exists, this thread computes a piece: what does not fit then is tried with smaller
/// pieces.
class PieceScope {
public:
  PieceScope();
  ~PieceScope();
  PieceScope(const PieceScope &) = delete;
  PieceScope &operator=(const PieceScope &) = delete;
  static bool isOpen();

private:
  bool before;
};

/// Computes the outputs of one segment in pieces.
class Splitter {
public:
  /// `inputs` as of runOrSplit(), without literals.
  Splitter(const Segment &segment, std::span<const rt::Tensor> inputs, rt::Device &device);
  Status run(std::vector<rt::Tensor> &outputs);

private:
  /// A pass over pieces of equal units.
  struct Pass {
    std::vector<pieces::Root> roots;
    std::set<pieces::Strip> strips;
    std::set<const Node *> wholes;
    int64_t units = 0, align = 1;
  };
  /// What a root leaves in host memory: the result, or what its fold puts together.
  struct Collected {
    rt::BufferRef buffer;
    Shape shape;
    DType dtype;
    int64_t axis;
    pieces::HostValue host() const {
      return {static_cast<char *>(buffer->host()), shape, itemSize(dtype)};
    }
  };
  /// A ready value that is read from host memory, with room for two pieces on the device.
  struct Feed {
    pieces::Strip strip;
    NodeRef node;
    rt::BufferRef room[2];
    std::vector<char> station;
  };
  /// What a piece gives for one root.
  struct Parts {
    std::vector<NodeRef> results; ///< along the collected axis
    NodeRef rest;                 ///< of a fold: elements for the next piece
  };
  using Memo = std::map<pieces::Strip, NodeRef>;

  static int64_t wholeBytes(const std::set<const Node *> &nodes) {
    return std::accumulate(nodes.begin(), nodes.end(), int64_t{0},
                           [](int64_t sum, const Node *n) { return sum + n->bytes(); });
  }
  static Shape joined(std::initializer_list<std::span<const int64_t>> parts);
  static bool isDone(const NodeRef &n) { return n->state() == NodeState::Ready; }
  static void publish(const NodeRef &n, rt::BufferRef buffer) {
    std::vector<NodeRef> dropped;
    std::lock_guard lock(graphMutex());
    n->publish(std::move(buffer), dropped);
  }

  Status compute(std::span<const NodeRef> targets);
  Status computeOne(const NodeRef &target);
  Status computeFromWholes(const NodeRef &target, bool &fits);
  /// A place of an extreme as one of two reductions that have folds; null for anything else.
  Result<NodeRef> placeOf(const NodeRef &n);
  Result<NodeRef> firstOf(const NodeRef &n, int64_t axis, bool least);
  Status prepare(const std::set<const Node *> &wholes);
  void frontier(const NodeRef &n, std::vector<NodeRef> &priors, std::set<const Node *> &seen) const;
  Status runPass(Pass &pass);
  Status runPieces(Pass &pass, int64_t pieces, std::span<Collected> collected);
  Result<Collected> collectorOf(const Pass &pass, const pieces::Root &root, int64_t pieces);
  Status finishFold(const pieces::Root &root, Collected &parts);
  Status feed(std::vector<Feed> &feeds, int64_t begin, int64_t end, int turn);

  Result<NodeRef> whole(const NodeRef &n);
  Result<NodeRef> strip(const pieces::Strip &s, int64_t begin, int64_t end, Memo &memo);
  Result<NodeRef> remade(const Node &n, std::span<const NodeRef> operands, const Shape &shape,
                         std::vector<int64_t> attrs);
  Result<NodeRef> iota(const Node &n, int64_t begin, int64_t end);
  Result<NodeRef> grouped(const pieces::Root &root, NodeRef x, int64_t length);
  Status partsOf(const pieces::Root &root, NodeRef x, int64_t units, bool isLast, Parts &parts);
  Result<NodeRef> reduce(const Node &like, op::ReduceKind kind, const NodeRef &x,
                         std::vector<int64_t> axes, DType dtype);
  Status tooLarge() const;

  const Segment &segment;
  rt::Device &device;
  std::vector<NodeRef> given, nodes;
  std::unordered_map<const Node *, uint32_t> errors;
  std::unordered_map<const Node *, NodeRef> byNode;
  std::unordered_map<const Node *, NodeRef> wholes; ///< on the device, or made there again
  pieces::Blocker blocker = nullptr;
};

} // namespace graphc

#endif // GRAPHC_FRONTENDS_RECORD_SPLITTER_H
