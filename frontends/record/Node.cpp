#include "frontends/record/Node.h"

#include "frontends/record/Trace.h"

#include <algorithm>
#include <cassert>

namespace graphc {
namespace {

std::atomic<uint64_t> nextNumber{1};
std::atomic<int64_t> pendingByteCount{0};
std::atomic<int64_t> pendingNodeCount{0};
std::atomic<int64_t> recordedCount{0};

uint64_t mix(uint64_t h, uint64_t v) {
  h ^= v * 0x9e3779b97f4a7c15u;
  h = (h << 29 | h >> 35) * 0xbf58476d1ce4e5b9u;
  return h ^ (h >> 32);
}

Digest mix(Digest d, uint64_t v) { return {mix(d.low, v), mix(d.high ^ 0x94d049bb133111ebu, v)}; }

/// Costs memory only when something materialises it, so it does not press on the budget.
bool isCheap(op::OpKind kind) {
  op::Category c = op::opInfo(kind).category;
  return c == op::Category::Movement || c == op::Category::Generator;
}

} // namespace

ForkSafeLongMutex &graphMutex() {
  static auto *mutex = new ForkSafeLongMutex; // outlives thread_local caches of nodes
  return *mutex;
}
uint64_t nextMarkEpoch() {
  static uint64_t epoch = 0;
  return ++epoch;
}
int64_t pendingBytes() { return pendingByteCount.load(std::memory_order_relaxed); }
int64_t pendingNodes() { return pendingNodeCount.load(std::memory_order_relaxed); }
int64_t recordedNodes() { return recordedCount.load(std::memory_order_relaxed); }

Node::Node(op::TensorType t, rt::Device &device, NodeState state)
    : nodeState(state), type(std::move(t)), nodeDevice(&device) {
  reachBytes = bytes();
  hash = mix(mix(Digest{1, 2}, static_cast<uint64_t>(type.dtype)),
             static_cast<uint64_t>(type.shape.rank()));
}

Node::~Node() {
  if (state() != NodeState::Pending)
    return;
  pendingNodeCount.fetch_sub(1, std::memory_order_relaxed);
  if (countsAsPending)
    pendingByteCount.fetch_sub(bytes(), std::memory_order_relaxed);
}

std::optional<NodeRef> Node::pendingOperand(size_t index) const {
  std::lock_guard lock(graphMutex());
  return state() == NodeState::Pending ? std::optional(operands()[index]) : std::nullopt;
}

int64_t Node::bytes() const {
  // The product was checked when the type was inferred.
  int64_t n = itemSize(type.dtype);
  for (int64_t size : type.shape)
    n *= size;
  return n;
}

void Node::setOperands(std::span<const NodeRef> operands) {
  operandCount = static_cast<uint32_t>(operands.size());
  if (operandCount > kInlineOperands)
    many = std::make_unique<NodeRef[]>(operandCount);
  std::copy(operands.begin(), operands.end(), operandData());
}

NodeRef Node::makeOp(op::OpKind kind, std::span<const NodeRef> operands, std::vector<int64_t> attrs,
                     op::TensorType type, rt::Device &device, Location location, uint32_t errors) {
  auto *node = new Node(std::move(type), device, NodeState::Pending);
  node->number = nextNumber.fetch_add(1, std::memory_order_relaxed);
  node->opKind = kind;
  node->madeByOp = true;
  node->userLocation = location;
  node->errorModes = errors;
  node->attributes = std::move(attrs);
  node->setOperands(operands);
  Digest h = mix(node->hash, static_cast<uint64_t>(kind));
  for (int64_t word : node->attributes)
    h = mix(h, static_cast<uint64_t>(word));
  // What is moved or picked from a value in memory costs as much as there is of it.
  op::Category category = op::opInfo(kind).category;
  bool picks = category == op::Category::Movement || category == op::Category::Indexed;
  for (const NodeRef &operand : operands) {
    h = mix(mix(h, operand->hash.low), operand->hash.high);
    const int64_t bytes = operand->bytes();
    node->keptBytes = std::max(node->keptBytes, bytes);
    if (operand->state() != NodeState::Ready) {
      node->reachBytes = std::max(node->reachBytes, operand->reachBytes);
      node->keptBytes = std::max(node->keptBytes, operand->keptBytes);
    } else if (!picks) {
      node->reachBytes = std::max(node->reachBytes, bytes);
    }
    if (operand->readsShared())
      node->fromShared.store(true, std::memory_order_relaxed);
  }
  node->hash = h;
  // What a trace records is kept with its function, and never has values.
  node->countsAsPending = !isCheap(kind) && !Trace::active();
  recordedCount.fetch_add(1, std::memory_order_relaxed);
  pendingNodeCount.fetch_add(1, std::memory_order_relaxed);
  if (node->countsAsPending)
    pendingByteCount.fetch_add(node->bytes(), std::memory_order_relaxed);
  return NodeRef::adopt(node);
}

NodeRef Node::makeReady(op::TensorType type, rt::Device &device, rt::BufferRef buffer) {
  auto *node = new Node(std::move(type), device, NodeState::Ready);
  node->value = std::move(buffer);
  return NodeRef::adopt(node);
}

NodeRef Node::makeShared(op::TensorType type, rt::Device &device, rt::BufferRef buffer) {
  NodeRef node = makeReady(std::move(type), device, std::move(buffer));
  node->fromShared.store(true, std::memory_order_relaxed);
  return node;
}

NodeRef Node::makePlaceholder(op::TensorType type, rt::Device &device) {
  return NodeRef::adopt(new Node(std::move(type), device, NodeState::Placeholder));
}

NodeRef Node::makeKnown(uint64_t bits, DType dtype, rt::Device &device) {
  NodeRef node = makeOp(op::OpKind::Full, {}, {static_cast<int64_t>(bits)}, {dtype, {}}, device, 0);
  node->madeKnown = true;
  return node;
}

void Node::publish(rt::BufferRef buffer, std::vector<NodeRef> &dropped) {
  if (state() != NodeState::Pending)
    return;
  value = std::move(buffer);
  for (NodeRef &operand : std::span(operandData(), operandCount))
    dropped.push_back(std::move(operand));
  operandCount = 0;
  many.reset();
  pendingNodeCount.fetch_sub(1, std::memory_order_relaxed);
  if (countsAsPending)
    pendingByteCount.fetch_sub(bytes(), std::memory_order_relaxed);
  fromShared.store(false, std::memory_order_relaxed);
  nodeState.store(NodeState::Ready, std::memory_order_release);
}

void Node::destroy(Node *node) {
  // A node without references is ours alone: its operands need no lock. The list replaces recursion
  // over the depth.
  std::vector<Node *> dead; // besides `node`; a chain never fills it
  while (node) {
    Node *next = nullptr;
    for (NodeRef &operand : std::span(node->operandData(), node->operandCount)) {
      Node *child = operand.release();
      if (!child || child->refs.fetch_sub(1, std::memory_order_acq_rel) != 1)
        continue;
      if (next)
        dead.push_back(child);
      else
        next = child;
    }
    delete node;
    if (!next && !dead.empty()) {
      next = dead.back();
      dead.pop_back();
    }
    node = next;
  }
}

} // namespace graphc
