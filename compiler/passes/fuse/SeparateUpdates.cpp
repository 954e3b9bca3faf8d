// Updates of small parts of arrays whose values come from elsewhere in them.
#include "compiler/passes/fuse/FusionPlan.h"

#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

namespace {

/// Values that are looked at for one update, and updates before it: more are rare.
constexpr size_t kMostSeen = 256, kMostBefore = 64;

/// Looks for what keeps an update from being made in its array's memory: reads of elements that it
/// writes, but each where it is written, and of what the array was before earlier updates.
class ReadsElsewhere {
public:
  ReadsElsewhere(graph::UpdateSliceOp update, SizeAnalysis &sizes) : update(update), sizes(sizes) {
    Value base = stripReshapes(update.getX());
    for (size_t i = 0; i < kMostBefore && roots.insert(base); ++i) {
      Operation *op = base.getDefiningOp();
      if (!isa_and_nonnull<graph::UpdateSliceOp, graph::ScatterOp>(op))
        break;
      base = stripReshapes(op->getOperand(0));
    }
  }

  bool find() { return visit(update.getValue(), true); }

private:
  /// `isAligned`: elements are those of the update's value, in order.
  bool visit(Value value, bool isAligned) {
    value = stripReshapes(value);
    if (roots.contains(value))
      return true;
    if (!seen[isAligned].insert(value).second)
      return false;
    Operation *op = value.getDefiningOp();
    if (!op || seen[isAligned].size() > kMostSeen)
      return false;
    if (auto slice = dyn_cast<graph::SliceOp>(op)) {
      if (slice.getX() == update.getX() && isAligned && (isOtherPoint(slice) || isRegion(slice)))
        return false;
      return visit(slice.getX(), false);
    }
    bool staysAligned = isAligned && op->hasTrait<graph::Elementwise>();
    return llvm::any_of(op->getOperands(), [&](Value v) {
      return isa<RankedTensorType>(v.getType()) && visit(v, staysAligned);
    });
  }

  bool isRegion(graph::SliceOp slice) {
    return slice.getStarts() == update.getStarts() &&
           slice.getStaticStarts() == update.getStaticStarts() &&
           slice.getSteps() == update.getSteps() &&
           sizes.of(slice.getResult()) == sizes.of(update.getValue());
  }

  /// Whether on some axis both are one point, and not the same: such updates are in place as they
  /// are, unless others read the old value as well.
  bool isOtherPoint(graph::SliceOp slice) {
    if (llvm::count_if(slice.getX().getUsers(), llvm::IsaPred<graph::SliceOp>) > 1)
      return false;
    ArrayRef<Size> read(sizes.of(slice.getResult())), written(sizes.of(update.getValue()));
    SmallVector<Start> from = startsOf(slice.getStaticStarts(), slice.getStarts());
    SmallVector<Start> to = startsOf(update.getStaticStarts(), update.getStarts());
    for (size_t axis = 0; axis < written.size(); ++axis)
      if (read[axis].isConstant(1) && written[axis].isConstant(1) && from[axis] != to[axis])
        return true;
    return false;
  }

  using Start = std::pair<Value, int64_t>;
  static SmallVector<Start> startsOf(ArrayRef<int64_t> fixed, ValueRange dynamic) {
    SmallVector<Start> all;
    for (int64_t start : fixed)
      if (ShapedType::isDynamic(start)) {
        all.push_back({dynamic.front(), 0});
        dynamic = dynamic.drop_front();
      } else {
        all.push_back({Value(), start});
      }
    return all;
  }

  graph::UpdateSliceOp update;
  SizeAnalysis &sizes;
  llvm::SmallSetVector<Value, 8> roots; ///< what is updated, and what that was before
  llvm::DenseSet<Value> seen[2];
};

} // namespace

void pass::separateUpdates(func::FuncOp func) {
  SmallVector<graph::UpdateSliceOp> small;
  for (auto update : func.getOps<graph::UpdateSliceOp>())
    if (update->hasAttr("graphc.small"))
      small.push_back(update);
  if (small.empty())
    return;
  SizeAnalysis sizes(func);
  SmallVector<graph::UpdateSliceOp> found;
  for (graph::UpdateSliceOp update : small)
    if (!scatterIntoPart(update, sizes) && ReadsElsewhere(update, sizes).find())
      found.push_back(update);
  for (graph::UpdateSliceOp update : found) {
    // Where the value comes about: kernels run in that order, and nothing is written before.
    OpBuilder builder(func.getContext());
    builder.setInsertionPointAfterValue(update.getValue());
    Value own = graph::CastOp::create(builder, update.getLoc(), update.getValue().getType(),
                                      update.getValue());
    update.getValueMutable().assign(own);
    update->setAttr(kSeparateAttr, builder.getUnitAttr());
  }
}
