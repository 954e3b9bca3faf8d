#include "compiler/math/ResidueSteps.h"

#include "compiler/math/DivideConst.h"

#include "llvm/ADT/SmallPtrSet.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::math;

namespace {

/// Dividends with more operations than this are left to the general forms.
constexpr unsigned kMostOps = 64;

bool isRing(Operation *op) {
  return op && isa<graph::AddOp, graph::SubOp, graph::MulOp, graph::NegOp, graph::SquareOp>(op);
}

bool isLanesOfInt64(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector && vector.getRank() == 1 && vector.getDimSize(0) > 1 &&
         vector.getElementType().isSignlessInteger(64);
}

/// False if the dividend is too large.
bool grow(ResidueStep &step) {
  SmallVector<Value> stack = {step.dividend};
  SmallVector<Operation *> found;
  while (!stack.empty()) {
    Value value = stack.pop_back_val();
    Operation *op = value.getDefiningOp();
    if (!isRing(op) || op->getBlock() != step.op->getBlock()) {
      step.leaves.insert(value);
      continue;
    }
    if (llvm::is_contained(found, op))
      continue;
    found.push_back(op);
    if (found.size() > kMostOps)
      return false;
    stack.append(op->operand_begin(), op->operand_end());
  }
  llvm::sort(found, [](Operation *a, Operation *b) { return a->isBeforeInBlock(b); });
  step.tree.insert(found.begin(), found.end());
  return true;
}

} // namespace

ResidueSteps graphc::math::residueSteps(func::FuncOp func, Intervals &intervals) {
  ResidueSteps steps;
  func.walk([&](graph::RemainderOp op) {
    if (!isLanesOfInt64(op.getType()))
      return;
    Interval divisor = intervals.of(op.getRhs());
    if (!divisor.isConstant() || divisor.low < 2 || divisor.low > kMaxSmallDivisor)
      return;
    ResidueStep step{op, op.getLhs(), op.getResult(), divisor.low, {}, {}, {}};
    if (grow(step))
      steps.insert({op, std::move(step)});
  });
  return steps;
}

void graphc::math::replaceResidues(
    func::FuncOp func, ResidueSteps &steps, Intervals &intervals,
    llvm::function_ref<Value(OpBuilder &, ResidueStep &)> canonical) {
  llvm::SmallPtrSet<Operation *, 32> replaced;
  for (auto &[op, step] : steps)
    if (step.lazy) {
      replaced.insert(op);
      replaced.insert(step.tree.begin(), step.tree.end());
    }
  SmallVector<Operation *> ordered;
  func.walk([&](Operation *op) {
    if (replaced.contains(op))
      ordered.push_back(op);
  });
  for (Operation *op : llvm::reverse(ordered)) {
    auto step = steps.find(op);
    Value result = op->getResult(0);
    bool converted = step != steps.end() && step->second.lazy;
    if (converted && !result.use_empty()) {
      OpBuilder builder(op);
      Value value = canonical(builder, step->second);
      intervals.note(value, {0, step->second.p - 1});
      result.replaceAllUsesWith(value);
    }
    if (result.use_empty()) {
      // Another operation may get this one's address.
      intervals.forget(result);
      op->erase();
    }
  }
}
