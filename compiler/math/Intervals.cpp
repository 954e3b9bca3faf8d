#include "compiler/math/Intervals.h"

#include "dialects/graph/Graph.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

#include <algorithm>

using namespace mlir;
using namespace graphc;
using namespace graphc::math;

/// Deeper expressions than this get no bounds; the walk over a function visits operands first, so
/// this is rare.
static constexpr int kMaxDepth = 512;

static Interval ofType(Type element) {
  unsigned width = element.getIntOrFloatBitWidth();
  if (width >= 64)
    return {};
  if (element.isUnsignedInteger() || width == 1)
    return {0, static_cast<int64_t>((uint64_t{1} << width) - 1)};
  return {-(int64_t{1} << (width - 1)), (int64_t{1} << (width - 1)) - 1};
}

static Interval clamp(__int128 low, __int128 high, Type element) {
  Interval whole = ofType(element);
  if (element.isUnsignedInteger() && element.getIntOrFloatBitWidth() == 64)
    return low >= 0 && high <= std::numeric_limits<int64_t>::max()
               ? Interval{static_cast<int64_t>(low), static_cast<int64_t>(high)}
               : whole;
  if (low < whole.low || high > whole.high)
    return whole;
  return {static_cast<int64_t>(low), static_cast<int64_t>(high)};
}

Interval Intervals::of(Value value) {
  if (auto it = known.find(value); it != known.end())
    return it->second;
  // Operands first, iteratively.
  SmallVector<Value> stack = {value};
  while (!stack.empty()) {
    Value current = stack.back();
    Operation *op = current.getDefiningOp();
    bool ready = true;
    if (op && static_cast<int>(stack.size()) < kMaxDepth &&
        isa<graph::AddOp, graph::SubOp, graph::MulOp, graph::SquareOp, graph::NegOp, graph::AbsOp,
            graph::CastOp, graph::MinimumOp, graph::MaximumOp, graph::ClipOp, graph::SelectOp,
            graph::BitwiseAndOp, graph::ShiftRightOp, graph::FloorDivideOp, vector::BroadcastOp>(
            op))
      for (Value operand : op->getOperands())
        if (!known.count(operand)) {
          stack.push_back(operand);
          ready = false;
        }
    if (!ready)
      continue;
    known[current] = compute(current);
    stack.pop_back();
  }
  return known.lookup(value);
}

Interval Intervals::compute(Value value) {
  Type element = graph::elementType(value.getType());
  if (!isa<IntegerType>(element))
    return {};
  Operation *op = value.getDefiningOp();
  if (!op)
    return ofType(element);
  Attribute constant;
  if (matchPattern(op, m_Constant(&constant))) {
    if (auto dense = dyn_cast<SplatElementsAttr>(constant))
      constant = dense.getSplatValue<Attribute>();
    if (auto integer = dyn_cast<IntegerAttr>(constant)) {
      int64_t v = element.isInteger(1) ? integer.getValue().getZExtValue()
                                       : integer.getValue().getSExtValue();
      return {v, v};
    }
  }
  if (isa<vector::BroadcastOp>(op))
    return known.lookup(op->getOperand(0));
  if (auto cast = dyn_cast<graph::CastOp>(op)) {
    if (!isa<IntegerType>(graph::elementType(cast.getX().getType())))
      return ofType(element);
    Interval from = known.lookup(cast.getX());
    return clamp(from.low, from.high, element);
  }
  if (auto remainder = dyn_cast<graph::RemainderOp>(op)) {
    Interval divisor = of(remainder.getRhs());
    if (divisor.isConstant() && divisor.low > 0)
      return {0, divisor.low - 1};
    return ofType(element);
  }
  if (isa<graph::BitwiseAndOp, graph::ShiftRightOp, graph::FloorDivideOp>(op))
    return narrowed(op, element);
  if (isa<graph::MinimumOp, graph::MaximumOp, graph::ClipOp, graph::SelectOp>(op))
    return chosen(op, element);
  if (isa<graph::AddOp, graph::SubOp, graph::MulOp, graph::SquareOp, graph::NegOp, graph::AbsOp>(
          op))
    return arithmetic(op, element);
  return ofType(element);
}

/// Masks, shifts and quotients by constants bring values nearer to zero.
Interval Intervals::narrowed(Operation *op, Type element) {
  Interval a = known.lookup(op->getOperand(0)), b = known.lookup(op->getOperand(1));
  Interval whole = ofType(element);
  // What an unsigned 64-bit value with its top bit set would be.
  bool isSigned = !element.isUnsignedInteger() || element.getIntOrFloatBitWidth() < 64;
  if (isa<graph::BitwiseAndOp>(op)) {
    bool first = a.low >= 0, second = b.low >= 0;
    if (first || second)
      return {0, first && second ? std::min(a.high, b.high) : first ? a.high : b.high};
    return whole;
  }
  if (!b.isConstant() || !(isSigned || a.low >= 0))
    return whole;
  if (isa<graph::ShiftRightOp>(op))
    return b.low >= 0 && b.low < 63 ? Interval{a.low >> b.low, a.high >> b.low} : whole;
  auto floored = [&](int64_t v) { return v / b.low - (v % b.low < 0); };
  return b.low > 0 ? Interval{floored(a.low), floored(a.high)} : whole;
}

Interval Intervals::chosen(Operation *op, Type element) {
  auto operand = [&](unsigned i) { return known.lookup(op->getOperand(i)); };
  auto smaller = [](Interval x, Interval y) {
    return Interval{std::min(x.low, y.low), std::min(x.high, y.high)};
  };
  auto larger = [](Interval x, Interval y) {
    return Interval{std::max(x.low, y.low), std::max(x.high, y.high)};
  };
  if (isa<graph::SelectOp>(op))
    return {std::min(operand(1).low, operand(2).low), std::max(operand(1).high, operand(2).high)};
  // 64-bit unsigned values with a top bit compare as large but are noted as negative.
  if (element.isUnsignedInteger() && element.getIntOrFloatBitWidth() == 64)
    for (unsigned i = 0; i < op->getNumOperands(); ++i)
      if (operand(i).low < 0)
        return ofType(element);
  if (isa<graph::ClipOp>(op))
    return smaller(larger(operand(0), operand(1)), operand(2));
  return isa<graph::MinimumOp>(op) ? smaller(operand(0), operand(1))
                                   : larger(operand(0), operand(1));
}

Interval Intervals::arithmetic(Operation *op, Type element) {
  using Wide = __int128;
  Interval a = known.lookup(op->getOperand(0));
  Interval b = known.lookup(op->getOperand(op->getNumOperands() - 1));
  if (isa<graph::NegOp>(op))
    return clamp(-Wide(a.high), -Wide(a.low), element);
  if (isa<graph::AbsOp>(op))
    return clamp(a.low >= 0 ? a.low : 0, std::max(-Wide(a.low), Wide(a.high)), element);
  if (isa<graph::AddOp>(op))
    return clamp(Wide(a.low) + b.low, Wide(a.high) + b.high, element);
  if (isa<graph::SubOp>(op))
    return clamp(Wide(a.low) - b.high, Wide(a.high) - b.low, element);
  Wide corners[] = {Wide(a.low) * b.low, Wide(a.low) * b.high, Wide(a.high) * b.low,
                    Wide(a.high) * b.high};
  return clamp(*std::min_element(corners, corners + 4), *std::max_element(corners, corners + 4),
               element);
}
