#include "compiler/passes/fuse/CompareRoots.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Matchers.h"

#include <cmath>
#include <limits>
#include <optional>

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

namespace {

/// Constants whose squares are normal numbers of every format here.
constexpr double kLeast = 0x1p-60, kMost = 0x1p60;

/// Whether it is never below zero; a NaN is not.
bool isNonnegative(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return false;
  if (isa<graph::MulOp>(op))
    return op->getOperand(0) == op->getOperand(1);
  if (isa<graph::AddOp>(op))
    return isNonnegative(op->getOperand(0)) && isNonnegative(op->getOperand(1));
  return isa<graph::SquareOp, graph::AbsOp>(op);
}

/// The least number whose root reaches `bound`, or passes it. Rounded roots never decrease, so the
/// numbers below it are those whose roots do not.
template <typename T>
T leastSquare(T bound, bool passes) {
  auto holds = [&](T x) { return passes ? std::sqrt(x) > bound : std::sqrt(x) >= bound; };
  constexpr T kInfinity = std::numeric_limits<T>::infinity();
  T x = bound * bound;
  while (!holds(x))
    x = std::nextafter(x, kInfinity);
  for (T below = std::nextafter(x, T{0}); holds(below); below = std::nextafter(x, T{0}))
    x = below;
  return x;
}

struct Comparison {
  graph::SqrtOp root;
  double bound;
  bool below;  ///< root < or <= bound, else > or >=
  bool passes; ///< what decides is whether the root is above the bound
};

std::optional<Comparison> match(Operation *op) {
  bool less = isa<graph::LessOp>(op), greater = isa<graph::GreaterOp>(op);
  bool lessEqual = isa<graph::LessEqualOp>(op), greaterEqual = isa<graph::GreaterEqualOp>(op);
  if (!less && !greater && !lessEqual && !greaterEqual)
    return std::nullopt;
  Value x = op->getOperand(0), y = op->getOperand(1);
  bool below = less || lessEqual, passes = lessEqual || greater;
  if (!x.getDefiningOp<graph::SqrtOp>()) {
    std::swap(x, y);
    below = !below;
    passes = less || greaterEqual; // c < root, c >= root: the root is above, or is not
  }
  auto root = x.getDefiningOp<graph::SqrtOp>();
  APFloat bound(0.0);
  if (!root || !root->hasOneUse() || !matchPattern(y, m_ConstantFloat(&bound)) ||
      !isNonnegative(root.getX()) || !(x.getType().isF32() || x.getType().isF64()))
    return std::nullopt;
  double value = bound.convertToDouble();
  if (!(value > kLeast && value < kMost))
    return std::nullopt;
  return Comparison{root, value, below, passes};
}

} // namespace

void pass::compareSquares(kernel::FuncOp kernel) {
  for (Operation &op : llvm::make_early_inc_range(kernel.getBody().front())) {
    std::optional<Comparison> found = match(&op);
    if (!found)
      continue;
    OpBuilder b(&op);
    Location loc = op.getLoc();
    auto type = cast<FloatType>(found->root.getType());
    double least = type.isF32() ? leastSquare(static_cast<float>(found->bound), found->passes)
                                : leastSquare(found->bound, found->passes);
    Value limit = arith::ConstantOp::create(b, loc, b.getFloatAttr(type, least));
    Value operands[] = {found->root.getX(), limit};
    TypeRange types(op.getResultTypes());
    Operation *other = found->below
                           ? graph::LessOp::create(b, loc, types, operands).getOperation()
                           : graph::GreaterEqualOp::create(b, loc, types, operands).getOperation();
    op.replaceAllUsesWith(other);
    op.erase();
    found->root.erase();
  }
}
