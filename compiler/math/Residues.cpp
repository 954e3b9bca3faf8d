#include "compiler/math/Residues.h"

#include "compiler/math/Math.h"
#include "compiler/math/ResidueSteps.h"

#include "mlir/IR/IRMapping.h"

#include <optional>

using namespace mlir;
using namespace graphc;
using namespace graphc::math;

namespace {

using Step = ResidueStep; ///< `lazy` is f64, within 5/8 p of zero

class Chains {
public:
  Chains(func::FuncOp func, Intervals &intervals, MlirBuilder::Target target)
      : func(func), intervals(intervals), target(target) {}
  void run();

private:
  bool continues(const Step &step);
  const Step *residue(Value leaf, int64_t p) const;
  bool exactUpTo(const Step &step, int64_t limit);
  std::optional<int64_t> limitOf(const Step &step);
  void convert(Step &step, int64_t limit);
  Value inFloat64(MlirBuilder &b, const Step &step, Value value);
  Value canonical(MlirBuilder &b, const Step &step);
  bool isUnknown(const Step &step, Value leaf);

  func::FuncOp func;
  Intervals &intervals;
  MlirBuilder::Target target;
  ResidueSteps steps;
  DenseMap<std::pair<Value, int64_t>, Value> floats;
};

const Step *Chains::residue(Value leaf, int64_t p) const {
  auto it = steps.find(leaf.getDefiningOp());
  return it != steps.end() && it->second.p == p && it->second.lazy ? &it->second : nullptr;
}

/// Whether a later step with the same divisor is computed from this one.
bool Chains::continues(const Step &step) {
  return llvm::any_of(steps, [&](auto &entry) {
    return entry.second.p == step.p && entry.second.leaves.contains(step.result);
  });
}

bool Chains::isUnknown(const Step &step, Value leaf) {
  if (residue(leaf, step.p))
    return false;
  Interval range = intervals.of(leaf);
  return range.low <= -kSmallDividend || range.high >= kSmallDividend;
}

/// With unknown leaves within +-limit: no integer wraps (with canonical residues), and with lazy
/// ones every value is an exact f64 and the last one small enough for a remainder.
bool Chains::exactUpTo(const Step &step, int64_t limit) {
  using Wide = long double;
  auto bound = [&](Value leaf, Wide residueBound) -> Magnitude {
    if (residue(leaf, step.p))
      return {residueBound};
    if (isUnknown(step, leaf))
      return {Wide(limit)};
    Interval range = intervals.of(leaf);
    return {std::max(-Wide(range.low), Wide(range.high))};
  };
  auto lazy = [&](Value leaf) { return bound(leaf, Wide(step.p) * 0.625L + 1); };
  auto exact = [&](Value leaf) { return bound(leaf, Wide(step.p)); };
  return dividendIn<Magnitude>(step, lazy,
                               [](Magnitude v) { return v.most < Wide(kSmallDividend); }) &&
         dividendIn<Magnitude>(step, exact, [](Magnitude v) { return v.most < 0x1p62L; });
}

/// The largest bound on unknown leaves that is exact; 0 when none is needed, nothing when even a
/// small one does not help.
std::optional<int64_t> Chains::limitOf(const Step &step) {
  if (llvm::none_of(step.leaves, [&](Value leaf) { return isUnknown(step, leaf); }))
    return exactUpTo(step, 0) ? std::optional<int64_t>(0) : std::nullopt;
  int64_t low = int64_t{1} << 10, high = int64_t{1} << 50;
  if (!exactUpTo(step, low))
    return std::nullopt;
  while (high - low > 1) {
    int64_t middle = low + (high - low) / 2;
    (exactUpTo(step, middle) ? low : high) = middle;
  }
  return low;
}

/// The f64 integer of a leaf or of a sum or product, which are exact, so that fma may be used.
Value Chains::inFloat64(MlirBuilder &b, const Step &step, Value value) {
  if (Value known = floats.lookup({value, step.p}))
    return known;
  Interval range = intervals.of(value);
  Operation *op = value.getDefiningOp();
  Value result;
  auto of = [&](Value operand) { return floats.lookup({operand, step.p}); };
  auto isOne = [&](Value v) {
    Interval r = intervals.of(v);
    return r.isConstant() && r.low == 1;
  };
  if (const Step *earlier = residue(value, step.p)) {
    result = earlier->lazy;
  } else if (range.isConstant()) {
    result = b.f64(static_cast<double>(range.low));
  } else if (!step.tree.contains(op)) {
    result = smallToF64(b, value);
  } else {
    Value x = op->getOperand(0), y = op->getOperand(op->getNumOperands() - 1);
    auto addsOne = [&](Value v) { // v = u + 1: the u
      auto add = v.getDefiningOp<graph::AddOp>();
      if (!add || !step.tree.contains(add))
        return Value();
      return isOne(add.getRhs()) ? add.getLhs() : isOne(add.getLhs()) ? add.getRhs() : Value();
    };
    auto product = [&](Value v) {
      auto mul = v.getDefiningOp<graph::MulOp>();
      return mul && step.tree.contains(mul) ? mul : graph::MulOp();
    };
    if (isa<graph::MulOp>(op)) {
      if (Value u = addsOne(y))
        result = b.fma(of(x), of(u), of(x));
      else if (Value u = addsOne(x))
        result = b.fma(of(y), of(u), of(y));
      else
        result = b.mul(of(x), of(y));
    } else if (isa<graph::AddOp>(op)) {
      if (auto mul = product(x))
        result = b.fma(of(mul.getLhs()), of(mul.getRhs()), of(y));
      else if (auto mul = product(y))
        result = b.fma(of(mul.getLhs()), of(mul.getRhs()), of(x));
      else
        result = b.add(of(x), of(y));
    } else if (isa<graph::SubOp>(op)) {
      result = b.sub(of(x), of(y));
    } else {
      result = isa<graph::SquareOp>(op) ? b.mul(of(x), of(x)) : b.neg(of(x));
    }
  }
  floats[{value, step.p}] = result;
  return result;
}

Value Chains::canonical(MlirBuilder &b, const Step &step) {
  Value below = b.lt(step.lazy, b.f64(0.0));
  Value up = b.add(step.lazy, b.f64(static_cast<double>(step.p)));
  return smallFromF64(b, b.select(below, up, step.lazy));
}

void Chains::convert(Step &step, int64_t limit) {
  OpBuilder builder(step.op);
  int64_t lanes = cast<VectorType>(step.result.getType()).getDimSize(0);
  MlirBuilder b(builder, step.op.getLoc(), lanes, target);
  for (Value leaf : step.leaves)
    inFloat64(b, step, leaf);
  for (Operation *op : step.tree)
    inFloat64(b, step, op->getResult(0));
  Value r = remainderSmallF64<false>(b, inFloat64(b, step, step.dividend), step.p);
  if (limit > 0) {
    Value beyond;
    for (Value leaf : step.leaves) {
      if (!isUnknown(step, leaf))
        continue;
      Value outside = b.ugt(b.iadd(leaf, b.i64(limit)), b.i64(2 * limit));
      beyond = beyond ? b.mor(beyond, outside) : outside;
    }
    auto integers = [&] {
      IRMapping map;
      for (Value leaf : step.leaves)
        if (const Step *earlier = residue(leaf, step.p))
          map.map(leaf, canonical(b, *earlier));
      for (Operation *op : step.tree)
        builder.clone(*op, map);
      return std::tuple{smallToF64(b, builder.clone(*step.op, map)->getResult(0))};
    };
    std::tie(r) = b.ifAny(beyond, integers, r);
  }
  step.lazy = r;
}

void Chains::run() {
  steps = residueSteps(func, intervals);
  for (auto &[op, step] : steps) {
    bool chained = continues(step);
    for (Value leaf : step.leaves)
      chained |= residue(leaf, step.p) != nullptr;
    if (!chained)
      continue;
    if (std::optional<int64_t> limit = limitOf(step))
      convert(step, *limit);
  }
  replaceResidues(func, steps, intervals, [&](OpBuilder &builder, Step &step) {
    int64_t lanes = cast<VectorType>(step.result.getType()).getDimSize(0);
    MlirBuilder b(builder, step.op.getLoc(), lanes, target);
    return canonical(b, step);
  });
}

} // namespace

void graphc::math::expandResidueChains(func::FuncOp func, Intervals &intervals,
                                       MlirBuilder::Target target) {
  Chains(func, intervals, target).run();
}
