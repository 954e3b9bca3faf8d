#include "compiler/passes/fuse/FusionPlan.h"

#include "compiler/passes/fuse/Turns.h"
#include "compiler/passes/fuse/Watch.h"

#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;
using kernel::Family;

/// In simple operations (costOf): a kernel larger than this costs more in registers and compile
/// time than a pass over memory.
static constexpr int kMaxCostPerKernel = 384;
/// Kernels that only read the same tensor become one up to this cost: beyond it, the second read is
/// a small part of either.
static constexpr int kMaxCostOfSharing = 128;
/// Tensors one kernel reads and writes, where a second read is the only thing to gain.
static constexpr size_t kMaxSharedStreams = 32;
/// Of what is computed again for further reductions of rows, whose values do not wait: beyond it, a
/// kernel of its own that reads them costs less.
static constexpr int kMostRevisited = 64;
/// Elements that the turns of a loop in one kernel read at a point: with more, addresses wait in
/// memory, and compiling takes longer than in proportion.
static constexpr int kMostReadByTurns = 48;
/// Recomputed per reader when cheaper than this many simple operations.
static constexpr int kCheapOps = 2;

static bool isComputed(Operation *op) {
  return op && (op->hasTrait<graph::Elementwise>() || op->hasTrait<graph::Reduction>() ||
                op->hasTrait<graph::Contraction>() || op->hasTrait<graph::Update>() ||
                op->hasTrait<graph::Scan>() || op->hasTrait<graph::Indexed>() ||
                op->hasTrait<graph::Library>());
}

Value pass::stripReshapes(Value v) {
  while (auto reshape = v.getDefiningOp<graph::ReshapeOp>())
    v = reshape.getX();
  return v;
}

FusionPlan::FusionPlan(func::FuncOp func, SizeAnalysis &sizes, int64_t mostPartial, bool isApart)
    : sizes(sizes), mostPartial(mostPartial), isApart(isApart), tellsErrors(isWatched(func)),
      context(func.getContext()) {
  collect(func);
  decideInlining();
  markTurns();
  for (Node &node : nodes)
    if (!node.inlined)
      expandLeaves(node);
  markTails();
  for (Node &node : nodes)
    if (!node.inlined)
      assign(node);
  markStored();
}

Node &FusionPlan::addNode(NodeKind kind, Operation *op, Value result) {
  Node &node = nodes.emplace_back();
  node.kind = kind;
  node.op = op;
  node.result = result;
  byValue[result] = &node;
  return node;
}

void FusionPlan::addRead(Node &node, Value tensor, ArrayRef<AffineExpr> indices) {
  node.reads.push_back(tensor);
  node.readIndices.emplace_back(indices);
  Value root = resolveAccess(tensor, indices, sizes).root;
  if (Node *producer = byValue.lookup(root))
    ++producer->uses;
}

/// Makes a whole buffer of what a read goes through when no index map expresses it. Before the
/// reader becomes a node, so that nodes stay in topological order.
void FusionPlan::prepareRead(Value tensor, ArrayRef<AffineExpr> indices) {
  Value root = resolveAccess(tensor, indices, sizes).root;
  if (root.getDefiningOp<graph::ReshapeOp>())
    materialize(root);
}

/// Ensures that `tensor` is a whole buffer: an argument, a stored node, or a reshape of one.
void FusionPlan::materialize(Value tensor) {
  Value value = stripReshapes(tensor);
  if (Node *producer = byValue.lookup(value)) {
    ++producer->outside;
    return;
  }
  if (isa<BlockArgument>(value))
    return;
  unsigned next = 0;
  SmallVector<AffineExpr> indices = identityIndices(sizes.of(value), next, context);
  // The node is registered only after its reads are resolved, so that it does not read itself.
  Value root = resolveAccess(value, indices, sizes).root;
  if (root.getDefiningOp<graph::ReshapeOp>())
    materialize(root);
  Node &node = addNode(NodeKind::Copy, nullptr, value);
  node.space = squeezed(sizes.of(value));
  node.reads.push_back(value);
  node.readIndices.push_back(std::move(indices));
  if (Node *producer = byValue.lookup(root); producer && producer != &node)
    ++producer->uses;
  ++node.outside;
}

void FusionPlan::addContract(Operation *op) {
  auto matmul = cast<graph::MatmulOp>(op);
  SmallVector<Size> x(sizes.of(matmul.getX())), y(sizes.of(matmul.getY()));
  unsigned rank = x.size(), next = 0;
  SmallVector<Size> out(sizes.of(matmul.getResult()));
  SmallVector<AffineExpr> result = identityIndices(out, next, context);
  AffineExpr k = getAffineDimExpr(next, context);
  SmallVector<AffineExpr> xi(result), yi(result);
  xi[rank - 1] = k;
  yi[rank - 2] = k;
  Value xv = matmul.getX(), yv = matmul.getY();
  prepareRead(xv, xi);
  prepareRead(yv, yi);
  Node &node = addNode(NodeKind::Contract, op, matmul.getResult());
  node.space = squeezed(out);
  node.reduced = {static_cast<unsigned>(node.space.size())};
  node.space.push_back(x[rank - 1]);
  addRead(node, xv, xi);
  addRead(node, yv, yi);
}

/// Whole buffers in, a whole buffer out; no index maps.
void FusionPlan::addLibrary(Operation *op) {
  SmallVector<Value> tensors;
  for (Value operand : op->getOperands())
    if (isa<RankedTensorType>(operand.getType()))
      tensors.push_back(operand);
  for (Value tensor : tensors)
    materialize(tensor);
  Node &node = addNode(NodeKind::Library, op, op->getResult(0));
  node.space = squeezed(sizes.of(node.result));
  node.stored = true;
  for (Value tensor : tensors)
    if (Node *producer = byValue.lookup(stripReshapes(tensor)))
      node.leaves.push_back({tensor, producer, {}, /*alias=*/true});
}

/// Ops whose elements some output depends on. An extent asks for sizes only.
static llvm::DenseSet<Operation *> readOps(func::FuncOp func) {
  llvm::DenseSet<Operation *> read;
  for (Operation &op : llvm::reverse(func.getBody().front())) {
    bool reads = isa<func::ReturnOp>(op) || (read.contains(&op) && !isa<graph::ExtentOp>(op));
    for (Value operand : op.getOperands())
      if (Operation *producer = operand.getDefiningOp(); producer && reads)
        read.insert(producer);
  }
  return read;
}

void FusionPlan::collect(func::FuncOp func) {
  llvm::DenseSet<Operation *> read = readOps(func);
  for (auto update : func.getOps<graph::UpdateSliceOp>())
    if (graph::ScatterOp scatter = scatterIntoPart(update, sizes); scatter && read.contains(update))
      intoPart[scatter] = update;
  for (Operation &opRef : func.getBody().front()) {
    Operation *op = &opRef;
    if (auto ret = dyn_cast<func::ReturnOp>(op)) {
      for (Value v : ret.getOperands())
        materialize(v);
      continue;
    }
    if (!isComputed(op) || !read.contains(op))
      continue;
    Value result = op->getResult(0);
    if (op->hasTrait<graph::Contraction>()) {
      addContract(op);
      continue;
    }
    if (op->hasTrait<graph::Library>()) {
      addLibrary(op);
      continue;
    }
    if (isa<graph::UpdateSliceOp>(op)) {
      // Not where a scatter has made it.
      if (!byValue.contains(result))
        addUpdate(op);
      continue;
    }
    if (isa<graph::GatherOp>(op)) {
      addGather(op);
      continue;
    }
    if (isa<graph::ScatterOp>(op)) {
      addScatter(op);
      continue;
    }
    bool isReduce = op->hasTrait<graph::Reduction>();
    auto scan = dyn_cast<graph::ScanOp>(op);
    Value shaped = isReduce ? op->getOperand(0) : result;
    unsigned next = 0;
    SmallVector<AffineExpr> indices = identityIndices(sizes.of(shaped), next, context);
    for (Value operand : op->getOperands())
      prepareRead(operand, indices);
    Node &node = addNode(isReduce ? NodeKind::Reduce
                         : scan   ? NodeKind::Scan
                                  : NodeKind::Map,
                         op, result);
    node.space = squeezed(sizes.of(shaped));
    if (isReduce)
      for (int64_t axis : cast<graph::ReduceOp>(op).getAxes())
        if (auto dim = dyn_cast<AffineDimExpr>(indices[axis]))
          node.reduced.push_back(dim.getPosition());
    if (scan)
      if (auto dim = dyn_cast<AffineDimExpr>(indices[scan.getAxis()]))
        node.reduced.push_back(dim.getPosition());
    for (Value operand : op->getOperands())
      addRead(node, operand, indices);
  }
}

/// Whether `reader` is a fast product and takes the 16-bit floats that `cast` widens as they are.
static bool takesNarrow(const Node &reader, Operation *cast) {
  if (reader.kind != NodeKind::Contract || !mlir::cast<graph::MatmulOp>(reader.op).getFast() ||
      !isa_and_present<graph::CastOp>(cast))
    return false;
  Type from = getElementTypeOrSelf(cast->getOperand(0).getType());
  return from.isF16() || from.isBF16();
}

static bool isComplexLiteral(const Node &node) {
  return isa_and_present<graph::ComplexOp>(node.op) &&
         llvm::all_of(node.op->getOperands(),
                      [](Value part) { return part.getDefiningOp<graph::FullOp>(); });
}

/// A map node that is read at other points than its own is recomputed by its reader when that is
/// cheap: one reader, and either few operations or a read that visits no element twice. What a fast
/// product takes as it is, and complex literals, have any number of readers. Where values are
/// watched, what raises float errors of ordinary operands is computed whole.
void FusionPlan::decideInlining() {
  DenseMap<Node *, int> shifted;
  llvm::DenseSet<Node *> narrow, leftOut, raises;
  DenseMap<Node *, bool> repeats;
  for (Node &node : nodes)
    for (auto [read, indices] : llvm::zip_equal(node.reads, node.readIndices)) {
      Access access = resolveAccess(read, indices, sizes);
      Node *producer = byValue.lookup(access.root);
      if (!producer || producer->kind != NodeKind::Map || producer == &node)
        continue;
      SmallVector<AffineExpr> squeezedAccess =
          squeezedIndices(access.indices, sizes.of(access.root));
      bool identity = squeezedAccess.size() == node.space.size() && producer->space == node.space;
      for (auto [i, e] : llvm::enumerate(squeezedAccess))
        identity &= e == getAffineDimExpr(i, context);
      if (identity)
        continue;
      ++shifted[producer];
      if (tellsErrors && !showsAll(read, sizes))
        leftOut.insert(producer);
      if (takesNarrow(node, producer->op))
        narrow.insert(producer);
      repeats[producer] |=
          squeezedAccess.size() < node.space.size() || node.kind == NodeKind::Contract;
    }
  for (Node &node : nodes) {
    if (node.op && node.op->hasAttr(kAgainAttr)) {
      node.inlined = !node.outside;
      continue;
    }
    if (node.op && node.op->hasTrait<graph::Elementwise>() && raisesOfOrdinary(node.op))
      raises.insert(&node);
    auto it = shifted.find(&node);
    bool anyReaders = narrow.contains(&node) || isComplexLiteral(node);
    if (it == shifted.end() || node.outside || (node.uses != 1 && !anyReaders))
      continue;
    int cost = costOf(node.op);
    bool readsReduction = false;
    for (auto [read, indices] : llvm::zip_equal(node.reads, node.readIndices))
      if (Node *producer = byValue.lookup(resolveAccess(read, indices, sizes).root)) {
        readsReduction |= producer->kind != NodeKind::Map;
        if (!producer->inlined)
          continue;
        cost += costOf(producer->op) + 1;
        if (raises.contains(producer))
          raises.insert(&node);
      }
    node.inlined = !readsReduction && (!repeats[&node] || cost <= kCheapOps) &&
                   !(leftOut.contains(&node) && raises.contains(&node));
  }
}

/// Kernels that are cut between turns of a loop are the same kernel.
void FusionPlan::markTurns() {
  llvm::DenseMap<std::pair<const void *, const void *>, unsigned> known;
  SmallVector<unsigned> kinds;
  SmallVector<Node *> computed;
  for (Node &node : nodes)
    if (!node.inlined) {
      const void *name = node.op ? node.op->getName().getAsOpaquePointer() : nullptr;
      std::pair kind(name, node.result.getType().getAsOpaquePointer());
      kinds.push_back(known.try_emplace(kind, known.size()).first->second);
      computed.push_back(&node);
    }
  for (const Turns &turns : findLoops(kinds))
    for (size_t i = turns.first; i < turns.last; i += turns.length)
      if (turns.startsAt(i))
        for (Node *node : ArrayRef(computed).slice(i, turns.length))
          computed[i]->turn += costOf(*node);
}

void FusionPlan::appendLeaves(Node &reader, Value tensor, ArrayRef<AffineExpr> indices) {
  Access access = resolveAccess(tensor, indices, sizes);
  Operation *op = access.root.getDefiningOp();
  bool alias = op && isa<graph::ReshapeOp>(op);
  Node *producer = byValue.lookup(alias ? stripReshapes(access.root) : access.root);
  // Generators are cheaper to repeat than to read, also where a copy of one exists.
  if (producer == &reader || (!alias && op && op->hasTrait<graph::Generator>()))
    producer = nullptr;
  SmallVector<AffineExpr> points = squeezedIndices(access.indices, sizes.of(access.root));
  if (producer && producer->inlined) {
    reader.sources.append(producer->sources);
    if (isa<graph::GatherOp>(producer->op))
      reader.again += costOf(producer->op);
    for (auto [read, readIndices] : llvm::zip_equal(producer->reads, producer->readIndices)) {
      SmallVector<AffineExpr> moved;
      for (AffineExpr e : readIndices)
        moved.push_back(e.replaceDims(points));
      appendLeaves(reader, read, moved);
    }
    return;
  }
  reader.leaves.push_back({access.root, producer, std::move(points), alias});
}

void FusionPlan::expandLeaves(Node &node) {
  // A Copy node's own value resolves past itself: its root is what the movement chain starts from.
  for (auto [read, indices] : llvm::zip_equal(node.reads, node.readIndices))
    appendLeaves(node, read, indices);
}

int FusionPlan::find(int group) {
  while (groups[group].mergedInto >= 0)
    group = groups[group].mergedInto;
  return group;
}

Family FusionPlan::familyOf(ArrayRef<Size> space, ArrayRef<unsigned> reduced) {
  if (reduced.empty())
    return Family::Map;
  if (reduced.size() == space.size())
    return Family::Full;
  return reduced.back() + 1 == space.size() ? Family::Rows : Family::Columns;
}

static SmallVector<Size> rowSpace(const Group &group) {
  SmallVector<Size> result;
  for (auto [i, size] : llvm::enumerate(group.space))
    if (!llvm::is_contained(group.reduced, i))
      result.push_back(size);
  return result;
}

bool pass::isIdentity(ArrayRef<AffineExpr> indices, size_t dims) {
  if (indices.size() != dims)
    return false;
  for (auto [i, e] : llvm::enumerate(indices))
    if (e != getAffineDimExpr(i, e.getContext()))
      return false;
  return true;
}

static bool isRowRead(ArrayRef<AffineExpr> indices, const Group &group) {
  unsigned next = 0;
  for (unsigned dim = 0; dim < group.space.size(); ++dim) {
    if (llvm::is_contained(group.reduced, dim))
      continue;
    if (next >= indices.size() ||
        indices[next] != getAffineDimExpr(dim, indices[next].getContext()))
      return false;
    ++next;
  }
  return next == indices.size();
}

/// Whether a scatter's order matters.
static bool isOneByOne(const Node &node) {
  auto scatter = dyn_cast_or_null<graph::ScatterOp>(node.op);
  return scatter && !scatter.getUnique();
}

/// A scatter's elements are written as they come, those of a reduction are not visited one by one.
static bool hasScatter(const Group &group) {
  return llvm::any_of(group.nodes,
                      [](Node *node) { return isa_and_nonnull<graph::ScatterOp>(node->op); });
}

/// Ops of a body that one thread may as well compute on the way.
static constexpr size_t kMostOneByOneOps = 8;

/// Whether what `node` needs as a whole keeps it out of a group.
CutReason FusionPlan::needsWhole(Node &node, int index) {
  Group &group = groups[index];
  auto inside = [&](Value tensor) {
    Node *producer = byValue.lookup(stripReshapes(tensor));
    if (!producer || producer->group < 0)
      return false;
    int from = find(producer->group);
    return from == index || groups[from].ancestors.test(index);
  };
  bool continues = node.continues && find(node.continues->group) == index;
  if (node.base && !continues && inside(node.base))
    return CutReason::UpdateBase;
  for (Value source : node.sources)
    if (inside(source))
      return CutReason::WholeSource;
  if (group.oneByOne)
    return CutReason::OneByOne;
  if (!node.reduced.empty() && hasScatter(group))
    return CutReason::DifferentSpace;
  if (!isa_and_nonnull<graph::ScatterOp>(node.op))
    return CutReason::None;
  if (!group.reduced.empty())
    return CutReason::DifferentSpace;
  // A gather of what is updated would see the new elements.
  for (Node *member : group.nodes) {
    for (Value source : member->sources)
      if (stripReshapes(source) == stripReshapes(node.base))
        return CutReason::UpdateBase;
    if (isOneByOne(node) && (group.nodes.size() > kMostOneByOneOps ||
                             (member->op && member->op->hasTrait<graph::Expensive>())))
      return CutReason::OneByOne;
  }
  return CutReason::None;
}

/// Whether the turn of a loop that `node` begins does not fit into a kernel any more.
static bool closes(const Node &node, const Group &group) {
  return (node.turn <= kMaxCostPerKernel && group.cost + node.turn > kMaxCostPerKernel) ||
         (node.turn && group.reads >= kMostReadByTurns);
}

bool pass::isReduced(const Group &group) {
  return !group.reduced.empty() && group.family != Family::Contract;
}

/// Whether an update's elements are parts of elements, as of a stack along its last axis.
static bool writesParts(const Node &node, SizeAnalysis &sizes) {
  auto update = dyn_cast_or_null<graph::UpdateSliceOp>(node.op);
  if (!update)
    return false;
  ArrayRef<Size> value = sizes.of(update.getValue()), whole = sizes.of(update.getX());
  return value.size() > 1 && value.back().isConstant(1) && !whole.back().isConstant(1);
}

/// Whether `node` can be computed in `group`, from which at least one of its leaves comes; sets the
/// level it gets there.
CutReason FusionPlan::joins(Node &node, int index, bool &row) {
  Group &group = groups[index];
  if (node.kind == NodeKind::Library || group.isLibrary())
    return CutReason::LibraryStep;
  if (isApart && (!node.reduced.empty() || isReduced(group)))
    return CutReason::SharedCode;
  if (group.closed || closes(node, group) || group.cost + costOf(node) > kMaxCostPerKernel ||
      !fits(group, partialOf(node)))
    return CutReason::KernelFull;
  bool point = node.space == group.space;
  row = !point && !group.reduced.empty() && node.reduced.empty() && node.space == rowSpace(group);
  // With no parallel dimension left the row space is empty and equals the space of any 0-d value.
  if (!point && !row)
    return CutReason::DifferentSpace;
  if (!node.reduced.empty() && !group.reduced.empty() && node.reduced != group.reduced)
    return CutReason::DifferentSpace;
  if (row && node.apart && group.family == Family::Rows)
    return CutReason::RowByRow;
  if (mostPartial && point && isReduced(group) && writesParts(node, sizes))
    return CutReason::FarApart;
  if (node.kind == NodeKind::Contract)
    return CutReason::DifferentSpace;
  // A scan is the only pass over its points.
  if (group.family == Family::Scan && (row || !node.reduced.empty()))
    return CutReason::WholeReduction;
  if (node.kind == NodeKind::Scan && (!group.reduced.empty() || node.reduced.empty()))
    return CutReason::DifferentSpace;
  if (group.family == Family::Contract && !row)
    return CutReason::WholeReduction;
  if (CutReason reason = needsWhole(node, index); reason != CutReason::None)
    return reason;
  if (!mostPartial && revisits(node, index) > kMostRevisited)
    return CutReason::Revisited;
  for (const Leaf &leaf : node.leaves) {
    if (!leaf.producer)
      continue;
    int from = find(leaf.producer->group);
    if (from != index) {
      if (groups[from].ancestors.test(index))
        return CutReason::WouldCycle;
      continue;
    }
    if (leaf.alias)
      return CutReason::ShiftedRead;
    if (leaf.producer->kind == NodeKind::Update)
      return CutReason::UpdateBase;
    if (node.kind == NodeKind::Update && node.op->hasAttr(kSeparateAttr))
      return CutReason::ReadsElsewhere;
    if (leaf.producer->row && point) {
      if (!isRowRead(leaf.indices, group))
        return CutReason::ShiftedRead;
      // Only a row is short enough to be visited again while it is in cache.
      if (group.family != Family::Rows)
        return CutReason::WholeReduction;
    } else if (leaf.producer->row != row || !isIdentity(leaf.indices, node.space.size())) {
      return CutReason::ShiftedRead;
    }
    if (leaf.producer->afterReduce && !node.reduced.empty() && group.family != Family::Rows)
      return CutReason::WholeReduction;
  }
  Family family = group.reduced.empty() ? familyOf(node.space, node.reduced) : group.family;
  if (family != Family::Rows && point)
    for (const Leaf &leaf : node.leaves)
      if (leaf.producer && find(leaf.producer->group) == index && leaf.producer->row)
        return CutReason::WholeReduction;
  return CutReason::None;
}

/// Whether `node` can join a group it does not read from but shares an input with: both then read
/// it once.
CutReason FusionPlan::shares(Node &node, int index) {
  Group &group = groups[index];
  if (node.kind == NodeKind::Library || group.isLibrary())
    return CutReason::LibraryStep;
  if (isApart && (!node.reduced.empty() || isReduced(group)))
    return CutReason::SharedCode;
  if (node.kind == NodeKind::Contract || node.kind == NodeKind::Update ||
      node.kind == NodeKind::Scan || group.family == Family::Scan ||
      group.family == Family::Contract || node.space != group.space || node.space.empty())
    return CutReason::DifferentSpace;
  if (!node.reduced.empty() && !group.reduced.empty() && node.reduced != group.reduced)
    return CutReason::DifferentSpace;
  if (CutReason reason = needsWhole(node, index); reason != CutReason::None)
    return reason;
  for (const Leaf &leaf : node.leaves)
    if (leaf.producer) {
      int from = find(leaf.producer->group);
      if (from == index || groups[from].ancestors.test(index))
        return CutReason::WouldCycle;
    }
  for (const Leaf &leaf : node.leaves)
    for (Node *member : group.nodes)
      for (const Leaf &other : member->leaves)
        if (member->readsPoints() && leaf.root == other.root && leaf.indices == other.indices &&
            !leaf.indices.empty())
          return group.cost + costOf(node) <= kMaxCostOfSharing && fits(group, partialOf(node)) &&
                         group.nodes.size() < kMaxSharedStreams
                     ? CutReason::None
                     : CutReason::SharingFull;
  return CutReason::DifferentSpace;
}

void FusionPlan::dependOn(int group, int producer) {
  if (group == producer)
    return;
  llvm::BitVector more = groups[producer].ancestors;
  more.resize(groups.size());
  more.set(producer);
  for (int i = 0, e = groups.size(); i < e; ++i) {
    Group &other = groups[i];
    if (other.mergedInto < 0 &&
        (i == group ||
         (other.ancestors.size() > static_cast<unsigned>(group) && other.ancestors.test(group)))) {
      other.ancestors.resize(groups.size());
      other.ancestors |= more;
    }
  }
}

void FusionPlan::join(Node &node, int index, bool row) {
  Group &group = groups[index];
  node.group = index;
  node.row = row || node.reduces();
  if (group.reduced.empty() && !node.reduced.empty()) {
    group.reduced = node.reduced;
    group.family = node.kind == NodeKind::Contract ? Family::Contract
                   : node.kind == NodeKind::Scan   ? Family::Scan
                                                   : familyOf(node.space, node.reduced);
  }
  group.nodes.push_back(&node);
  group.cost += costOf(node);
  group.partial += partialOf(node);
  group.oneByOne |= isOneByOne(node);
  for (const Leaf &leaf : node.leaves)
    group.reads += readsAnew(leaf, node, group);
  for (const Leaf &leaf : node.leaves)
    if (leaf.producer) {
      int from = find(leaf.producer->group);
      if (from == index)
        node.afterReduce |= leaf.producer->row || leaf.producer->afterReduce;
      dependOn(index, from);
    }
  auto dependOnWhole = [&](Value tensor) {
    if (Node *whole = byValue.lookup(stripReshapes(tensor)); whole && whole->group >= 0)
      dependOn(index, find(whole->group));
  };
  if (node.base)
    dependOnWhole(node.base);
  for (Value source : node.sources)
    dependOnWhole(source);
}

/// Two producers of one node over the same space become one kernel when neither needs the other.
CutReason FusionPlan::mergeGroups(int into, int from) {
  Group &a = groups[into], &b = groups[from];
  if (into == from)
    return CutReason::None;
  if (a.oneByOne || b.oneByOne)
    return CutReason::OneByOne;
  if (a.space != b.space)
    return CutReason::DifferentSpace;
  if (isApart && (isReduced(a) || isReduced(b)))
    return CutReason::SharedCode;
  if (a.cost + b.cost > kMaxCostPerKernel || (mostPartial && a.partial + b.partial > mostPartial))
    return CutReason::KernelFull;
  if (a.family == Family::Contract || b.family == Family::Contract ||
      (a.family == Family::Scan && !b.reduced.empty()) ||
      (b.family == Family::Scan && !a.reduced.empty()))
    return CutReason::WholeReduction;
  if (!a.reduced.empty() && !b.reduced.empty() && a.reduced != b.reduced)
    return CutReason::DifferentSpace;
  if ((hasScatter(a) && !b.reduced.empty()) || (hasScatter(b) && !a.reduced.empty()))
    return CutReason::DifferentSpace;
  a.ancestors.resize(groups.size());
  b.ancestors.resize(groups.size());
  if (a.ancestors.test(from) || b.ancestors.test(into))
    return CutReason::WouldCycle;
  if (a.reduced.empty()) {
    a.reduced = b.reduced;
    a.family = b.family;
  }
  for (Node *node : b.nodes) {
    a.nodes.push_back(node);
    for (const Leaf &leaf : node->leaves)
      a.reads += readsAnew(leaf, *node, a);
  }
  a.cost += b.cost;
  a.partial += b.partial;
  b.mergedInto = into;
  llvm::BitVector more = b.ancestors;
  a.ancestors |= more;
  for (int i = 0, e = groups.size(); i < e; ++i) {
    Group &other = groups[i];
    if (other.mergedInto >= 0 || i == into)
      continue;
    other.ancestors.resize(groups.size());
    if (other.ancestors.test(from) || other.ancestors.test(into)) {
      other.ancestors |= a.ancestors;
      other.ancestors.set(into);
      other.ancestors.reset(from);
    }
  }
  return CutReason::None;
}

/// The group of the update before it takes the next one along, with what computes its elements
/// (`chosen`, if any), as long as their spaces are the same.
int FusionPlan::besideContinued(Node &node, int chosen, bool &row) {
  int before = find(node.continues->group);
  if (before == chosen || groups[before].space != node.space || groups[before].oneByOne)
    return chosen;
  if (chosen >= 0)
    return !row && groups[chosen].reduced.empty() && mergeGroups(before, chosen) == CutReason::None
               ? before
               : chosen;
  bool isRow = false;
  if (CutReason reason = joins(node, before, isRow); reason != CutReason::None || isRow) {
    noteCut(node, before, reason);
    return chosen;
  }
  row = false;
  return before;
}

void FusionPlan::assign(Node &node) {
  // What is computed for the updates from here on would only wait in memory for them.
  if (node.follows)
    groups[find(node.follows->group)].closed = true;
  SmallVector<int> candidates;
  for (const Leaf &leaf : node.leaves)
    if (leaf.producer)
      if (int from = find(leaf.producer->group); !llvm::is_contained(candidates, from))
        candidates.push_back(from);
  for (Group &group : groups)
    group.ancestors.resize(groups.size() + 1);
  int chosen = -1;
  bool row = false;
  SmallVector<int> told; // groups that a reason was noted for
  for (int candidate : candidates) {
    CutReason reason = joins(node, candidate, row);
    if (reason == CutReason::None) {
      chosen = candidate;
      break;
    }
    groups[candidate].closed |= closes(node, groups[candidate]);
    noteCut(node, candidate, reason);
    told.push_back(candidate);
  }
  for (int i = static_cast<int>(groups.size()) - 1; i >= 0 && chosen < 0; --i) {
    if (groups[i].mergedInto >= 0)
      continue;
    CutReason reason = shares(node, i);
    if (reason == CutReason::None)
      chosen = i, row = false;
    else if (reason == CutReason::SharingFull)
      noteCut(node, i, reason);
  }
  if (node.continues)
    chosen = besideContinued(node, chosen, row);
  else if (Node *base = node.base ? byValue.lookup(stripReshapes(node.base)) : nullptr;
           base && base->kind == NodeKind::Update)
    noteCut(node, find(base->group), CutReason::MayMeet), told.push_back(find(base->group));
  if (chosen < 0) {
    chosen = groups.size();
    Group &group = groups.emplace_back();
    group.space = node.space;
    for (Group &other : groups)
      other.ancestors.resize(groups.size());
    noteWhole(node, chosen, told);
    join(node, chosen, false);
    return;
  }
  // Other producers over the same space come along when the node could have joined them as well.
  // Before the node joins, which makes its kernel depend on all of them.
  for (int candidate : candidates) {
    bool otherRow = false, isTold = llvm::is_contained(told, candidate);
    if (candidate = find(candidate); candidate == chosen)
      continue;
    CutReason reason = joins(node, candidate, otherRow);
    if (reason == CutReason::None)
      reason = otherRow == row ? mergeGroups(chosen, candidate) : CutReason::DifferentSpace;
    if (reason != CutReason::None && !isTold) {
      noteCut(node, candidate, reason);
      told.push_back(candidate);
    }
  }
  noteWhole(node, chosen, told);
  join(node, chosen, row);
}
