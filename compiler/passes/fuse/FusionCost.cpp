// What it costs to compute a value in a kernel, and to compile kernels.
#include "compiler/passes/fuse/FusionPlan.h"

#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

int pass::costOf(Operation *op) {
  // Nothing is computed: parts are put together, or stored.
  if (isa<graph::ComplexOp, graph::UpdateSliceOp>(op))
    return 0;
  // A gather misses the cache.
  return op->hasTrait<graph::Expensive>() ? 16 : op->hasTrait<graph::Indexed>() ? 4 : 1;
}

int pass::costOf(const Node &node) { return (node.op ? costOf(node.op) : 1) + node.again; }

// Sums of narrow numbers are wider, places go with extremes.
int64_t pass::partialOf(const Node &node) {
  auto reduce = dyn_cast_or_null<graph::ReduceOp>(node.op);
  if (!reduce)
    return 0;
  auto bytes = [](Value value) -> int64_t {
    Type type = getElementTypeOrSelf(value.getType());
    if (auto complex = dyn_cast<ComplexType>(type))
      return complex.getElementType().getIntOrFloatBitWidth() / 4;
    return type.getIntOrFloatBitWidth() / 8;
  };
  int64_t in = std::max(bytes(reduce.getX()), int64_t{4}), out = bytes(reduce.getResult());
  bool isPlace = reduce.getKind() == graph::ReduceKind::ArgMin ||
                 reduce.getKind() == graph::ReduceKind::ArgMax;
  return isPlace ? in + out : std::max(in, out);
}

bool pass::readsAnew(const Leaf &leaf, const Node &node, const Group &group) {
  return llvm::any_of(leaf.indices, [](AffineExpr e) { return !e.isSymbolicOrConstant(); }) &&
         llvm::none_of(group.nodes, [&](const Node *member) {
           return member == leaf.producer ||
                  (member != &node && llvm::any_of(member->leaves, [&](const Leaf &other) {
                     return leaf.root == other.root && leaf.indices == other.indices;
                   }));
         });
}

/// Whether the kernel has room for more partial results. Once it has none it is closed, so that
/// what the next reductions read is not computed there and stored for them.
bool FusionPlan::fits(Group &group, int64_t partial) {
  if (mostPartial && partial && group.partial + partial > mostPartial)
    group.isSated = true;
  return !group.isSated;
}

/// What the reductions of a kernel of rows, `node` among them, compute again of what reductions
/// before them did: each that needs the result of another one is a visit of its own to the row.
int FusionPlan::revisits(const Node &node, int index) {
  Group &group = groups[index];
  if (node.reduced.empty() || group.family != kernel::Family::Rows)
    return 0;
  llvm::SmallDenseMap<const Node *, unsigned> visits;
  auto within = [&](const Leaf &leaf) {
    return leaf.producer && find(leaf.producer->group) == index ? leaf.producer : nullptr;
  };
  auto visitOf = [&](const Node &reader) {
    unsigned visit = 0;
    for (const Leaf &leaf : reader.leaves)
      if (const Node *producer = within(leaf))
        visit = std::max(visit, visits.lookup(producer) + producer->reduces());
    return visit;
  };
  SmallVector<const Node *> reductions;
  for (const Node *member : group.nodes) {
    visits[member] = visitOf(*member);
    if (member->reduces())
      reductions.push_back(member);
  }
  unsigned last = visits[&node] = visitOf(node);
  reductions.push_back(&node);
  int again = 0;
  for (unsigned visit = 1; visit <= last; ++visit) {
    llvm::SmallPtrSet<const Node *, 16> seen;
    SmallVector<const Node *> stack;
    for (const Node *reduction : reductions)
      if (visits[reduction] == visit)
        stack.push_back(reduction);
    while (!stack.empty())
      for (const Leaf &leaf : stack.pop_back_val()->leaves) {
        const Node *producer = within(leaf);
        if (!producer || producer->row || !seen.insert(producer).second)
          continue;
        again += visits[producer] < visit ? costOf(*producer) : 0;
        stack.push_back(producer);
      }
  }
  return again;
}

/// Equal of groups that do the same with what they read, wherever that is.
llvm::hash_code FusionPlan::kindOf(const Group &group) {
  llvm::hash_code kind = llvm::hash_combine(group.family, group.space.size());
  llvm::SmallDenseMap<const Node *, size_t> places;
  for (const Node *node : group.nodes) {
    kind = llvm::hash_combine(kind, node->op ? node->op->getName().getAsOpaquePointer() : nullptr,
                              node->op ? node->op->hashProperties() : llvm::hash_code(0),
                              node->result.getType(), node->stored);
    for (const Leaf &leaf : node->leaves)
      kind = llvm::hash_combine(kind, places.lookup(leaf.producer), leaf.root.getType());
    places[node] = places.size() + 1;
  }
  return kind;
}

size_t FusionPlan::differentReductions() {
  llvm::DenseSet<size_t> kinds;
  size_t count = 0;
  for (const Group &group : groups)
    if (group.mergedInto < 0 && group.nodes.size() > 1 && isReduced(group) &&
        kinds.insert(static_cast<size_t>(kindOf(group))).second)
      count += llvm::count_if(group.nodes, [](Node *node) { return !node->reduced.empty(); });
  return count;
}
