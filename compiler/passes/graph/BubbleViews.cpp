#include "compiler/passes/Passes.h"
#include "compiler/passes/analysis/Access.h"
#include "compiler/passes/fuse/FusionPlan.h"
#include "compiler/passes/fuse/Watch.h"
#include "dialects/graph/Graph.h"

#include "llvm/ADT/SetVector.h"

namespace graphc::pass {
#define GEN_PASS_DEF_BUBBLEVIEWS
#include "compiler/passes/Passes.h.inc"
} // namespace graphc::pass

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

namespace {

/// Operands, other than single numbers, that are read under a view in place of one value; of a
/// transpose, whose reads are far apart, fewer.
constexpr size_t kMostOperands = 8, kMostTransposed = 2;
/// Operations of a function that are moved, those under several views as often.
constexpr size_t kMostMoved = 4096;

bool isElementwise(Operation *op) { return op && op->hasTrait<graph::Elementwise>(); }
bool isMovement(Operation *op) { return op && op->hasTrait<graph::Movement>(); }

/// Whether something is computed with a value, maybe under further views.
bool isComputedWith(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    if (isMovement(user))
      return isComputedWith(user->getResult(0));
    return user->hasTrait<graph::Elementwise>() || user->hasTrait<graph::Reduction>() ||
           user->hasTrait<graph::Scan>();
  });
}

/// One number at every point.
bool isNumber(Value value) {
  if (auto broadcast = value.getDefiningOp<graph::BroadcastOp>())
    return cast<RankedTensorType>(broadcast.getX().getType()).getRank() == 0;
  return static_cast<bool>(value.getDefiningOp<graph::FullOp>());
}

/// A view and the operations whose value it shows and nobody else reads.
struct Bubble {
  Operation *view;
  llvm::SetVector<Operation *> computed; ///< readers first
  llvm::SetVector<Value> operands;       ///< of those, computed elsewhere

  explicit Bubble(Operation *view) : view(view) {
    if (isElementwise(view->getOperand(0).getDefiningOp()))
      take(view->getOperand(0).getDefiningOp());
    for (Operation *op : computed)
      for (Value operand : op->getOperands())
        if (!computed.contains(operand.getDefiningOp()))
          operands.insert(operand);
  }

  /// Adds `op`, and what it reads, unless others need their values as well.
  void take(Operation *op) {
    auto isOurs = [&](Operation *user) { return user == view || computed.contains(user); };
    SmallVector<Operation *> left = {op};
    while (!left.empty()) {
      Operation *next = left.pop_back_val();
      if (!isElementwise(next) || !llvm::all_of(next->getUsers(), isOurs))
        continue;
      computed.insert(next);
      for (Value operand : next->getOperands())
        if (Operation *producer = operand.getDefiningOp(); producer && !computed.contains(producer))
          left.push_back(producer);
    }
  }

  bool isWorthIt(bool splits) const;
  /// Whether something is to be told of what is not shown (Watch.h).
  bool raises() const { return llvm::any_of(computed, raisesOfOrdinary); }
  void move() const;

private:
  Value underView(OpBuilder &b, Value operand) const;
  Type typeOf(Value value) const {
    return cast<RankedTensorType>(view->getResult(0).getType())
        .clone(getElementTypeOrSelf(value.getType()));
  }
};

/// `splits`: the index of each element under the view is affine.
bool Bubble::isWorthIt(bool splits) const {
  if (computed.empty() || !isComputedWith(view->getResult(0)))
    return false;
  size_t others = llvm::count_if(operands, [](Value operand) { return !isNumber(operand); });
  if (others > (isa<graph::TransposeOp>(view) ? kMostTransposed : kMostOperands))
    return false;
  return splits || llvm::all_of(operands, [](Value operand) {
           Operation *op = stripReshapes(operand).getDefiningOp();
           return isNumber(operand) ||
                  !(isMovement(op) || (op && op->hasTrait<graph::Generator>()));
         });
}

Value Bubble::underView(OpBuilder &b, Value operand) const {
  auto reshape = dyn_cast<graph::ReshapeOp>(view);
  if (reshape && isNumber(operand)) {
    if (auto full = operand.getDefiningOp<graph::FullOp>())
      return graph::FullOp::create(b, operand.getLoc(), typeOf(operand), full.getValueAttr(),
                                   reshape.getSizes());
    auto broadcast = operand.getDefiningOp<graph::BroadcastOp>();
    return graph::BroadcastOp::create(b, operand.getLoc(), typeOf(operand), broadcast.getX(),
                                      reshape.getSizes(), b.getDenseI64ArrayAttr({}));
  }
  Operation *moved = b.clone(*view);
  moved->setOperand(0, operand);
  moved->getResult(0).setType(typeOf(operand));
  return moved->getResult(0);
}

void Bubble::move() const {
  OpBuilder b(view);
  IRMapping values;
  for (Value operand : operands)
    values.map(operand, underView(b, operand));
  // In their order in the function, whatever the order in which they were found.
  SmallVector<Operation *> ordered(computed.begin(), computed.end());
  llvm::sort(ordered, [](Operation *a, Operation *c) { return a->isBeforeInBlock(c); });
  for (Operation *op : ordered)
    b.clone(*op, values)->getResult(0).setType(typeOf(op->getResult(0)));
  view->getResult(0).replaceAllUsesWith(values.lookup(view->getOperand(0)));
  view->erase();
  for (Operation *op : llvm::reverse(ordered))
    op->erase();
}

struct BubbleViews : pass::impl::BubbleViewsBase<BubbleViews> {
  using BubbleViewsBase::BubbleViewsBase;

  void runOnOperation() override {
    func::FuncOp func = getOperation();
    SizeAnalysis sizes(func);
    // Operands under views have the sizes of the view, and nobody would look at their own.
    if (!sizes.equalities().empty())
      return;
    const bool tellsErrors = isWatched(func);
    SmallVector<Operation *> views;
    llvm::DenseSet<Operation *> splits, leavesOut;
    func.walk([&](Operation *op) {
      if (!isa<graph::ReshapeOp, graph::TransposeOp, graph::SliceOp>(op))
        return;
      views.push_back(op);
      unsigned next = 0;
      Value shown = op->getResult(0);
      SmallVector<AffineExpr> indices = identityIndices(sizes.of(shown), next, &getContext());
      if (resolveAccess(shown, indices, sizes).root != shown)
        splits.insert(op);
      if (!showsAll(shown, sizes))
        leavesOut.insert(op);
    });
    size_t left = kMostMoved;
    // Views of views first; what they show may be computed for them alone afterwards.
    while (!views.empty()) {
      Operation *view = views.pop_back_val();
      Bubble bubble(view);
      if (bubble.computed.size() > left || !bubble.isWorthIt(splits.contains(view)) ||
          (tellsErrors && leavesOut.contains(view) && bubble.raises()))
        continue;
      left -= bubble.computed.size();
      for (Operation *user : view->getResult(0).getUsers())
        if (isa<graph::ReshapeOp, graph::TransposeOp, graph::SliceOp>(user))
          views.push_back(user);
      bubble.move();
    }
  }
};

} // namespace
