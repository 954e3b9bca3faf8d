#include "compiler/math/ExactProducts.h"

#include "dialects/graph/Graph.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/TypeSwitch.h"

#include <cfloat>
#include <cmath>
#include <optional>

using namespace mlir;
using namespace graphc;

namespace {

/// Bounds of |x| where it is neither zero nor NaN.
struct Magnitude {
  double least, most;
};

/// Operands of operands are followed this far.
constexpr int kMaxDepth = 4;

/// The number that `value` is, in all lanes.
std::optional<double> constantOf(Value value) {
  if (auto splat = value.getDefiningOp<vector::BroadcastOp>())
    value = splat.getSource();
  APFloat known(0.0);
  return matchPattern(value, m_ConstantFloat(&known)) ? std::optional(known.convertToDouble())
                                                      : std::nullopt;
}

double smallestNormal(Type element) { return element.isF32() ? FLT_MIN : DBL_MIN; }
double largest(Type element) { return element.isF32() ? FLT_MAX : DBL_MAX; }

std::optional<Magnitude> magnitudeOf(Value value, int depth = 0);

/// Of a product with a constant; rounding moves it by less than a factor of two.
std::optional<Magnitude> magnitudeOfProduct(graph::MulOp product, int depth) {
  Type element = graph::elementType(product.getType());
  for (unsigned side : {0, 1}) {
    auto factor = constantOf(product->getOperand(1 - side));
    if (!factor || !std::isfinite(*factor) || *factor == 0)
      continue;
    auto of = magnitudeOf(product->getOperand(side), depth);
    if (!of)
      return std::nullopt;
    double scale = std::fabs(*factor);
    Magnitude scaled{of->least * scale / 2, of->most * scale * 2};
    if (scaled.most > largest(element))
      return std::nullopt;
    return Magnitude{scaled.least < smallestNormal(element) ? 0 : scaled.least, scaled.most};
  }
  return std::nullopt;
}

/// Nothing where |x| may be infinite, or is not known.
std::optional<Magnitude> magnitudeOf(Value value, int depth) {
  Operation *op = value.getDefiningOp();
  if (!op || depth == kMaxDepth)
    return std::nullopt;
  auto operand = [&] { return magnitudeOf(op->getOperand(0), depth + 1); };
  auto rounded = [&]() -> std::optional<Magnitude> {
    auto of = operand();
    return of ? std::optional(Magnitude{1, of->most + 1}) : std::nullopt;
  };
  return TypeSwitch<Operation *, std::optional<Magnitude>>(op)
      .Case<graph::SinOp, graph::CosOp, graph::TanhOp, graph::ErfOp>(
          [](auto) { return Magnitude{0, 1}; })
      .Case<graph::AsinOp, graph::AcosOp, graph::AtanOp, graph::Atan2Op, graph::ErfcOp>(
          [](auto) { return Magnitude{0, 4}; })
      .Case([](graph::SignOp) { return Magnitude{1, 1}; })
      .Case([](graph::CastOp cast) -> std::optional<Magnitude> {
        Type from = graph::elementType(cast.getX().getType());
        if (!isa<IntegerType>(from))
          return std::nullopt;
        return Magnitude{1, std::ldexp(1, static_cast<int>(from.getIntOrFloatBitWidth()))};
      })
      .Case<graph::NegOp, graph::AbsOp>([&](auto) { return operand(); })
      .Case<graph::FloorOp, graph::CeilOp, graph::TruncOp, graph::RoundOp>(
          [&](auto) { return rounded(); })
      .Case([&](graph::MulOp product) { return magnitudeOfProduct(product, depth + 1); })
      .Default(std::nullopt);
}

/// One factor and a power of two, the other one.
struct ExactProduct {
  Value factor, scale;
};
std::optional<ExactProduct> exactProduct(Value value) {
  auto product = value.getDefiningOp<graph::MulOp>();
  if (!product || !product->hasOneUse())
    return std::nullopt;
  Type element = graph::elementType(product.getType());
  for (unsigned side : {0, 1}) {
    Value factor = product->getOperand(side), scale = product->getOperand(1 - side);
    auto number = constantOf(scale);
    int exponent = 0;
    if (!number || std::fabs(std::frexp(*number, &exponent)) != 0.5)
      continue;
    auto of = magnitudeOf(factor);
    double power = std::fabs(*number);
    if (of && of->most * power <= largest(element) &&
        (power >= 1 || of->least * power >= smallestNormal(element)))
      return ExactProduct{factor, scale};
  }
  return std::nullopt;
}

/// a + b or a - b as one operation where a or b is an exact product.
void fuseSum(Operation *sum) {
  OpBuilder builder(sum);
  auto negatedIf = [&](bool negated, Value x) -> Value {
    return negated ? graph::NegOp::create(builder, sum->getLoc(), x) : x;
  };
  for (unsigned side : {0, 1}) {
    Value product = sum->getOperand(side), other = sum->getOperand(1 - side);
    auto exact = exactProduct(product);
    if (!exact)
      continue;
    bool isDifference = isa<graph::SubOp>(sum);
    auto fused = graph::FmaOp::create(builder, sum->getLoc(), exact->factor,
                                      negatedIf(isDifference && side == 1, exact->scale),
                                      negatedIf(isDifference && side == 0, other));
    fused->setDiscardableAttrs(sum->getDiscardableAttrDictionary());
    sum->getResult(0).replaceAllUsesWith(fused);
    sum->erase();
    product.getDefiningOp()->erase();
    return;
  }
}

} // namespace

void graphc::math::fuseExactProducts(func::FuncOp func) {
  SmallVector<Operation *> sums;
  func.walk([&](Operation *op) {
    if (isa<graph::AddOp, graph::SubOp>(op))
      if (Type element = graph::elementType(op->getResult(0).getType());
          element.isF32() || element.isF64())
        sums.push_back(op);
  });
  for (Operation *sum : sums)
    fuseSum(sum);
}
