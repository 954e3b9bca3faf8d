// The nodes of a fusion plan that write parts of tensors, or read them at places that are values.
#include "compiler/passes/fuse/FusionPlan.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

/// Updates of one new value that a kernel may hold. Columns are long code each, and a line of
/// memory or two of them are as good as more: there the next kernel goes on. Of complex columns at
/// places that are values nobody sees that they lie apart, and LLVM chooses instructions for twice
/// as many of them in ten times the time.
static constexpr unsigned kMostContinued = 64, kMostColumns = 44, kMostPlacedComplexColumns = 12;

/// What the recorder knew of the places of two updates of one chain (the importer's
/// `graphc.apart`).
static bool recordedApart(graph::UpdateSliceOp update, graph::UpdateSliceOp other) {
  auto from = update->getAttrOfType<DenseI64ArrayAttr>("graphc.apart");
  auto name = other->getAttrOfType<IntegerAttr>("graphc.update");
  return from && name && llvm::is_contained(from.asArrayRef(), name.getInt());
}

/// The update whose result `op` updates, when nobody else reads that and no two updates so far
/// write one element: whoever computes what they write may then write all of it.
Node *FusionPlan::continuedUpdate(Operation *op, bool &isFull) {
  auto update = cast<graph::UpdateSliceOp>(op);
  auto apart = [&](graph::UpdateSliceOp other) {
    if (recordedApart(update, other))
      return true;
    if (!update.getStarts().empty() || !other.getStarts().empty() ||
        other.getSteps() != update.getSteps())
      return false;
    for (auto [axis, size] : llvm::enumerate(sizes.of(update.getValue())))
      if (size.isConstant(1) && sizes.of(other.getValue())[axis].isConstant(1) &&
          other.getStaticStarts()[axis] != update.getStaticStarts()[axis])
        return true;
    return false;
  };
  ArrayRef<Size> shape = sizes.of(update.getValue());
  const bool isColumn = !shape.empty() && shape.back().isConstant(1);
  const bool isComplex = isa<ComplexType>(update.getValue().getType().getElementType());
  const unsigned mostColumns =
      isComplex && !update.getStarts().empty() ? kMostPlacedComplexColumns : kMostColumns;
  unsigned count = 0;
  for (Value base = update.getX();;) {
    auto other = base.getDefiningOp<graph::UpdateSliceOp>();
    if (Node *node = byValue.lookup(base); !other || (node && node->op != other))
      break;
    if (!base.hasOneUse() || !apart(other))
      return nullptr;
    isFull = ++count == mostColumns && isColumn;
    if (isFull || count == kMostContinued)
      return nullptr;
    if (Node *first = byValue.lookup(base); isColumn && first && !first->continues)
      break;
    base = other.getX();
  }
  return count ? byValue.lookup(update.getX()) : nullptr;
}

void FusionPlan::addUpdate(Operation *op) {
  auto update = cast<graph::UpdateSliceOp>(op);
  auto full = update.getX().getDefiningOp<graph::FullOp>();
  bool fresh = full && full->hasAttr("graphc.uninitialized");
  if (!fresh)
    materialize(update.getX());
  if (update->hasAttr(kSeparateAttr))
    materialize(update.getValue());
  unsigned next = 0;
  SmallVector<AffineExpr> indices = identityIndices(sizes.of(update.getValue()), next, context);
  prepareRead(update.getValue(), indices);
  Node &node = addNode(NodeKind::Update, op, update.getResult());
  node.space = squeezed(sizes.of(update.getValue()));
  node.base = fresh ? Value() : update.getX();
  bool isFull = false;
  node.continues = continuedUpdate(op, isFull);
  node.follows = isFull ? byValue.lookup(update.getX()) : nullptr;
  addRead(node, update.getValue(), indices);
}

/// Where a gather's or scatter's indices are read at points of its elements.
template <typename Op>
static ArrayRef<AffineExpr> indexPointsOf(Op op, ArrayRef<AffineExpr> points) {
  auto index = cast<RankedTensorType>(op.getIndices()[0].getType());
  return points.slice(op.getPosition(), index.getRank());
}

/// A gather is a map over its indices; what it reads from must be in memory.
void FusionPlan::addGather(Operation *op) {
  auto gather = cast<graph::GatherOp>(op);
  unsigned next = 0;
  SmallVector<AffineExpr> points = identityIndices(sizes.of(gather.getResult()), next, context);
  ArrayRef<AffineExpr> indexPoints = indexPointsOf(gather, points);
  for (Value index : gather.getIndices())
    prepareRead(index, indexPoints);
  Value source = resolveAccess(gather.getX(),
                               placedIndices(gather.getX(), gather.getAxes(), gather.getPosition(),
                                             indexPoints.size(), points, next),
                               sizes)
                     .root;
  materialize(source);
  Node &node = addNode(NodeKind::Map, op, gather.getResult());
  node.space = squeezed(sizes.of(gather.getResult()));
  node.sources.push_back(source);
  for (Value index : gather.getIndices())
    addRead(node, index, indexPoints);
}

void FusionPlan::addScatter(Operation *op) {
  auto scatter = cast<graph::ScatterOp>(op);
  unsigned next = 0;
  SmallVector<AffineExpr> points = identityIndices(sizes.of(scatter.getValue()), next, context);
  ArrayRef<AffineExpr> indexPoints = indexPointsOf(scatter, points);
  graph::UpdateSliceOp whole = intoPart.lookup(scatter);
  Value base = whole ? whole.getX() : scatter.getX();
  materialize(base);
  prepareRead(scatter.getValue(), points);
  for (Value index : scatter.getIndices())
    prepareRead(index, indexPoints);
  Node &node = addNode(NodeKind::Update, op, whole ? whole.getResult() : scatter.getResult());
  node.space = squeezed(sizes.of(scatter.getValue()));
  node.base = base;
  addRead(node, scatter.getValue(), points);
  for (Value index : scatter.getIndices())
    addRead(node, index, indexPoints);
}
