// Scatters into a part of an array: x[p, 0] = v reads the column, writes its elements and puts it
// back, which is a scatter into x.
#include "compiler/passes/fuse/FusionPlan.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

/// Values that are looked at for one scatter: more are rare.
static constexpr size_t kMostSeen = 256;

/// Whether `value` is computed from elements of `array`, other than by a gather: that has read them
/// before anything is written.
static bool readsArray(Value value, Value array, llvm::DenseSet<Value> &seen) {
  value = stripReshapes(value);
  if (value == array || seen.size() > kMostSeen)
    return true;
  Operation *op = value.getDefiningOp();
  if (!op || !seen.insert(value).second)
    return false;
  ValueRange operands = op->getOperands();
  if (auto gather = dyn_cast<graph::GatherOp>(op))
    operands = gather.getIndices();
  return llvm::any_of(operands, [&](Value operand) {
    return isa<RankedTensorType>(operand.getType()) && readsArray(operand, array, seen);
  });
}

graph::ScatterOp pass::scatterIntoPart(graph::UpdateSliceOp update, SizeAnalysis &sizes) {
  Value part = update.getValue();
  while (part.hasOneUse() &&
         isa_and_nonnull<graph::ReshapeOp, graph::TransposeOp>(part.getDefiningOp()))
    part = part.getDefiningOp()->getOperand(0);
  auto scatter = part.getDefiningOp<graph::ScatterOp>();
  if (!scatter || !part.hasOneUse() || update.getX().getDefiningOp<graph::FullOp>())
    return {};
  unsigned dims = 0;
  SmallVector<AffineExpr> points =
      identityIndices(sizes.of(update.getValue()), dims, update.getContext());
  Access back = resolveAccess(update.getValue(), points, sizes);
  if (back.root != part)
    return {};
  Access from = resolveAccess(scatter.getX(), back.indices, sizes);
  if (from.root != update.getX())
    return {};
  for (auto [read, written] : llvm::zip_equal(from.indices, updatedIndices(update, points, sizes)))
    if (simplifyAffineExpr(read - written, dims, sizes.symbols().size()) != 0)
      return {};
  Value array = stripReshapes(update.getX());
  llvm::DenseSet<Value> seen;
  if (readsArray(scatter.getValue(), array, seen) ||
      llvm::any_of(scatter.getIndices(), [&](Value i) { return readsArray(i, array, seen); }))
    return {};
  return scatter;
}
