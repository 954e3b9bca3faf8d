//===- Node.h - One recorded operation --------------------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_NODE_H
#define GRAPHC_FRONTENDS_RECORD_NODE_H

#include "dialects/opset/Infer.h"
#include "runtime/base/Digest.h"
#include "runtime/base/Fork.h"
#include "runtime/device/Device.h"

#include <atomic>
#include <optional>
#include <span>
#include <utility>
#include <vector>

namespace graphc {

class Node;

/// Shared ownership of a Node. Dropping the last reference to a graph of any depth uses constant
/// stack.
class NodeRef {
public:
  NodeRef() = default;
  NodeRef(std::nullptr_t) {}
  /// Takes over one reference.
  static NodeRef adopt(Node *node) {
    NodeRef r;
    r.ptr = node;
    return r;
  }
  inline NodeRef(const NodeRef &other);
  NodeRef(NodeRef &&other) noexcept : ptr(std::exchange(other.ptr, nullptr)) {}
  NodeRef &operator=(NodeRef other) noexcept {
    std::swap(ptr, other.ptr);
    return *this;
  }
  inline ~NodeRef();

  Node *get() const { return ptr; }
  Node *operator->() const { return ptr; }
  Node &operator*() const { return *ptr; }
  explicit operator bool() const { return ptr != nullptr; }
  friend bool operator==(const NodeRef &a, const NodeRef &b) { return a.ptr == b.ptr; }
  Node *release() { return std::exchange(ptr, nullptr); }

private:
  Node *ptr = nullptr;
};

/// Where in the user's program a node was recorded: opaque, resolved by LocationSource only when a
/// message or a printout needs it. 0 is unknown.
using Location = uint64_t;

enum class NodeState : uint8_t {
  Pending,     ///< to be computed from its operands
  Ready,       ///< its value is in a buffer; it has no operands any more
  Placeholder, ///< an argument of a trace: it has no value
};

/// What computes one version of an array. Type, kind and attributes never change; the state goes
/// from Pending to Ready once. Operands may be read only under graphMutex(), because becoming Ready
/// drops them; the rest is safe from any thread.
class Node {
public:
  /// A pending operation whose type was checked (op::infer).
  static NodeRef makeOp(op::OpKind kind, std::span<const NodeRef> operands,
                        std::vector<int64_t> attrs, op::TensorType type, rt::Device &device,
                        Location location, uint32_t errors = 0);
  /// A value in memory: dense, row-major.
  static NodeRef makeReady(op::TensorType type, rt::Device &device, rt::BufferRef buffer);
  /// The same in memory that others may write at any time.
  static NodeRef makeShared(op::TensorType type, rt::Device &device, rt::BufferRef buffer);
  static NodeRef makePlaceholder(op::TensorType type, rt::Device &device);
  /// A 0-d literal whose value is the program's data, not its text: always an argument of what is
  /// compiled.
  static NodeRef makeKnown(uint64_t bits, DType dtype, rt::Device &device);

  op::OpKind kind() const { return opKind; } ///< meaningless unless made by makeOp
  bool isOp() const { return madeByOp; }
  bool isKnown() const { return madeKnown; }
  /// Whether its value lies in memory that others may write, or will be computed from such.
  bool readsShared() const { return fromShared.load(std::memory_order_relaxed); }
  DType dtype() const { return type.dtype; }
  const Shape &shape() const { return type.shape; }
  std::span<const int64_t> attrs() const { return attributes; }
  rt::Device &device() const { return *nodeDevice; }
  Location location() const { return userLocation; }
  /// What is done about floating-point errors (FloatErrors.h), when it is computed.
  uint32_t errors() const { return errorModes; }
  /// Of operations; 0 for other nodes. Increases along every edge between them: recording order is
  /// a topological order.
  uint64_t sequence() const { return number; }
  /// Covers kinds, attributes, dtypes and ranks of the graph above, not sizes and values: equal for
  /// graphs that record the same calls. A filter and a fingerprint for tests; programs are found by
  /// the digest of a GraphDesc.
  const Digest &structuralHash() const { return hash; }
  int64_t bytes() const; ///< of its value
  /// Bytes of the largest value that had to be made or read through for it when it was recorded.
  int64_t reach() const { return reachBytes; }
  /// Of the largest value whose memory it may keep while it is pending.
  int64_t keeps() const { return keptBytes; }

  NodeState state() const { return nodeState.load(std::memory_order_acquire); }
  /// The value; Ready nodes only.
  const rt::BufferRef &buffer() const { return value; }
  /// Needs graphMutex() for pending nodes.
  std::span<const NodeRef> operands() const {
    return operandCount <= kInlineOperands ? std::span<const NodeRef>(few, operandCount)
                                           : std::span<const NodeRef>(many.get(), operandCount);
  }
  /// None when the node is not pending, or no longer. Takes graphMutex().
  std::optional<NodeRef> pendingOperand(size_t index) const;
  /// Makes a pending node Ready and hands its operands to `dropped`, to be released after
  /// graphMutex(). Needs graphMutex(). A node that is Ready already keeps its buffer.
  void publish(rt::BufferRef buffer, std::vector<NodeRef> &dropped);
  uint32_t references() const { return refs.load(std::memory_order_relaxed); }
  /// Set while a run makes a result in this node's memory, when nothing but that run can reach it.
  /// Needs graphMutex().
  bool isTaken = false;

  /// Of the value of a Ready node, as far as somebody has looked (FloatErrors.h).
  enum class Finite : uint8_t { Unknown, All, Not };
  mutable std::atomic<Finite> finite{Finite::Unknown};

  /// Scratch of the snapshot that holds graphMutex().
  uint64_t markEpoch = 0;
  uint32_t mark = 0;

private:
  friend class NodeRef;
  static constexpr uint32_t kInlineOperands = 3;
  Node(op::TensorType type, rt::Device &device, NodeState state);
  ~Node();
  void setOperands(std::span<const NodeRef> operands);
  NodeRef *operandData() { return operandCount <= kInlineOperands ? few : many.get(); }
  static void destroy(Node *node);

  std::atomic<uint32_t> refs{1};
  uint32_t operandCount = 0;
  op::OpKind opKind = {};
  std::atomic<NodeState> nodeState;
  bool madeByOp = false;
  bool madeKnown = false;
  bool countsAsPending = false;
  std::atomic<bool> fromShared{false};
  uint32_t errorModes = 0;
  int64_t reachBytes = 0;
  int64_t keptBytes = 0;
  uint64_t number = 0;
  op::TensorType type;
  std::vector<int64_t> attributes;
  NodeRef few[kInlineOperands];
  std::unique_ptr<NodeRef[]> many;
  rt::Device *nodeDevice;
  rt::BufferRef value;
  Location userLocation = 0;
  Digest hash;
};

inline NodeRef::NodeRef(const NodeRef &other) : ptr(other.ptr) {
  if (ptr)
    ptr->refs.fetch_add(1, std::memory_order_relaxed);
}
inline NodeRef::~NodeRef() {
  if (ptr && ptr->refs.fetch_sub(1, std::memory_order_acq_rel) == 1)
    Node::destroy(ptr);
}

/// Guards the operands of pending nodes, process-wide. Never held while compiling, running or
/// releasing nodes.
ForkSafeLongMutex &graphMutex();
/// A number that no Node::markEpoch has yet. Needs graphMutex().
uint64_t nextMarkEpoch();
/// Bytes of the values of all pending operations, movement and generators left out.
int64_t pendingBytes();
/// Pending operations alive, and operations recorded since the start of the process.
int64_t pendingNodes();
int64_t recordedNodes();

} // namespace graphc

#endif // GRAPHC_FRONTENDS_RECORD_NODE_H
