// What a plan says when every value has its kernel: what is stored, and in which order kernels run.
#include "compiler/passes/fuse/FusionPlan.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

/// What is gathered from, and what is updated, are no leaves.
void FusionPlan::noteWhole(const Node &node, int group, ArrayRef<int> told) {
  auto note = [&](Value tensor, CutReason reason) {
    while (auto reshape = tensor.getDefiningOp<graph::ReshapeOp>())
      tensor = reshape.getX();
    Node *whole = byValue.lookup(tensor);
    if (!whole || whole->group < 0)
      return;
    if (int from = find(whole->group); from != group && !llvm::is_contained(told, from))
      noteCut(node, from, reason);
  };
  if (node.base && !node.continues)
    note(node.base, CutReason::UpdateBase);
  for (Value source : node.sources)
    note(source, CutReason::WholeSource);
}

void FusionPlan::markStored() {
  for (Node &node : nodes) {
    if (node.inlined)
      continue;
    if (node.outside || node.kind == NodeKind::Update)
      node.stored = true;
    for (const Leaf &leaf : node.leaves)
      if (leaf.producer && find(leaf.producer->group) != find(node.group))
        leaf.producer->stored = true;
  }
  // A value nobody reads (dead code) still defines its kernel; storing it keeps the kernel well
  // formed.
  for (Group &group : groups)
    if (group.mergedInto < 0 && llvm::none_of(group.nodes, [](Node *n) { return n->stored; }))
      group.nodes.back()->stored = true;
}

SmallVector<Group *> FusionPlan::order() {
  DenseMap<Node *, unsigned> position;
  for (auto [i, node] : llvm::enumerate(nodes))
    position[&node] = i;
  SmallVector<int> live;
  for (int i = 0, e = groups.size(); i < e; ++i)
    if (groups[i].mergedInto < 0)
      live.push_back(i);
  for (int i : live)
    llvm::sort(groups[i].nodes, [&](Node *a, Node *b) { return position[a] < position[b]; });
  // Kahn's algorithm over ancestor sets keeps the recorded order among independent kernels.
  SmallVector<Group *> result;
  llvm::BitVector done(groups.size());
  while (result.size() < live.size()) {
    bool progressed = false;
    for (int i : live) {
      if (done.test(i))
        continue;
      bool ready = true;
      for (int j : live)
        ready &= j == i || !groups[i].ancestors.test(j) || done.test(j);
      if (!ready)
        continue;
      done.set(i);
      result.push_back(&groups[i]);
      progressed = true;
    }
    if (!progressed)
      return {};
  }
  return result;
}
