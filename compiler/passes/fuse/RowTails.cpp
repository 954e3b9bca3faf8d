// What is computed of the results of rows after them.
#include "compiler/passes/fuse/FusionPlan.h"

#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;
using kernel::Family;

/// Simple operations on the results of rows up to which one row at a time costs less than storing
/// them for a kernel that takes a vector of rows at a time.
static constexpr int kMostTail = 16;
/// What an elementary function counts for.
static constexpr int kElementary = 4;

static int tailCost(Operation *op) {
  bool isOne = isa<graph::DivOp, graph::SqrtOp>(op) || !op->hasTrait<graph::Expensive>();
  return isOne ? 1 : kElementary;
}

/// Marks values of rows that are computed of reductions, and that no element of a row waits for,
/// where they are many.
void FusionPlan::markTails() {
  llvm::DenseSet<Node *> awaited;
  for (Node &node : llvm::reverse(nodes))
    for (const Leaf &leaf : node.leaves)
      if (leaf.producer && !leaf.alias && leaf.producer->kind != NodeKind::Update &&
          (node.space.size() > leaf.producer->space.size() ||
           (awaited.contains(&node) && node.space == leaf.producer->space)))
        awaited.insert(leaf.producer);
  llvm::EquivalenceClasses<Node *> tails; // with the reductions whose results they share
  auto isOfRows = [&](const Node &row, Node *producer) {
    if (!producer->reduces() || familyOf(producer->space, producer->reduced) != Family::Rows)
      return tails.contains(producer);
    SmallVector<Size> rows;
    for (auto [dim, size] : llvm::enumerate(producer->space))
      if (!llvm::is_contained(producer->reduced, dim))
        rows.push_back(size);
    return rows == row.space;
  };
  for (Node &node : nodes) {
    if (node.kind != NodeKind::Map || node.inlined || awaited.contains(&node))
      continue;
    for (const Leaf &leaf : node.leaves)
      if (leaf.producer && isIdentity(leaf.indices, node.space.size()) &&
          isOfRows(node, leaf.producer))
        tails.unionSets(&node, leaf.producer);
  }
  for (const auto *set : tails) {
    if (!set->isLeader())
      continue;
    int cost = 0;
    for (Node *node : tails.members(*set))
      cost += node->reduces() ? 0 : tailCost(node->op);
    for (Node *node : tails.members(*set))
      node->apart = cost > kMostTail && !node->reduces();
  }
}
