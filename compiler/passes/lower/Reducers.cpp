#include "compiler/passes/lower/Reducers.h"

#include "compiler/passes/lower/BodyEmitter.h"

#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;
using graph::ReduceKind;

Value pass::narrowSource(kernel::ReduceOp op) {
  auto cast = op.getValue().getDefiningOp<graph::CastOp>();
  if (op.getKind() != ReduceKind::Sum || !cast)
    return {};
  Type from = cast->getOperand(0).getType(), to = op.getValue().getType();
  if (!isa<IntegerType>(from) || from.getIntOrFloatBitWidth() > 16)
    return {};
  // The largest sum of a block, 8192 elements, fits float32 for 8 bits, and float64 for 16.
  bool fits = to.isF64() || (to.isF32() && from.getIntOrFloatBitWidth() <= 8) ||
              (isa<IntegerType>(to) && to.getIntOrFloatBitWidth() >= 32);
  return fits ? cast->getOperand(0) : Value();
}

Reducer::Reducer(kernel::ReduceOp op, bool narrows)
    : op(op), isArg(op.getKind() == ReduceKind::ArgMin || op.getKind() == ReduceKind::ArgMax),
      element(op.getValue().getType()), source(narrows ? narrowSource(op) : Value()) {}

bool Reducer::isFree() const {
  if (isArg || source)
    return false;
  bool adds = op.getKind() == ReduceKind::Sum || op.getKind() == ReduceKind::Mean ||
              op.getKind() == ReduceKind::Prod;
  return !adds || isa<IntegerType>(element);
}

Reducer Reducer::ofValue() const {
  Reducer other = *this;
  other.isArg = false;
  return other;
}

SmallVector<Type, 2> Reducer::types() const {
  SmallVector<Type, 2> result = {element};
  if (isArg)
    result.push_back(IntegerType::get(op.getContext(), 64));
  return result;
}

SmallVector<Type, 2> Reducer::sequenceTypes() const {
  SmallVector<Type, 2> result = types();
  if (source) {
    unsigned bits = source.getType().getIntOrFloatBitWidth();
    bool isUnsigned = bits == 1 || source.getType().isUnsignedInteger();
    return {IntegerType::get(op.getContext(), bits == 1 ? 8 : 2 * bits,
                             isUnsigned ? IntegerType::Unsigned : IntegerType::Signless)};
  }
  if (isArg)
    result[1] = IntegerType::get(op.getContext(), std::max(8u, element.getIntOrFloatBitWidth()));
  return result;
}

static TypedAttr extreme(Type type, bool largest, Builder &builder) {
  if (auto f = dyn_cast<FloatType>(type))
    return builder.getFloatAttr(type, APFloat::getInf(f.getFloatSemantics(), !largest));
  unsigned bits = type.getIntOrFloatBitWidth();
  bool isUnsigned = type.isUnsignedInteger() || bits == 1;
  APInt value = isUnsigned
                    ? (largest ? APInt::getMaxValue(bits) : APInt::getMinValue(bits))
                    : (largest ? APInt::getSignedMaxValue(bits) : APInt::getSignedMinValue(bits));
  return builder.getIntegerAttr(IntegerType::get(type.getContext(), bits), value);
}

static TypedAttr identityOf(ReduceKind kind, Type type, Builder &builder) {
  unsigned bits = type.getIntOrFloatBitWidth();
  Type signless = isa<FloatType>(type) ? type : Type(IntegerType::get(type.getContext(), bits));
  switch (kind) {
  case ReduceKind::Sum:
  case ReduceKind::Mean:
    // -0.0 + x is x for every x, +0.0 is not.
    return isa<FloatType>(type)
               ? TypedAttr(builder.getFloatAttr(
                     type, APFloat::getZero(cast<FloatType>(type).getFloatSemantics(), true)))
               : TypedAttr(builder.getIntegerAttr(signless, 0));
  case ReduceKind::Prod:
    return isa<FloatType>(type) ? TypedAttr(builder.getFloatAttr(type, 1.0))
                                : TypedAttr(builder.getIntegerAttr(signless, 1));
  case ReduceKind::Any:
    return builder.getIntegerAttr(signless, 0);
  case ReduceKind::All:
    return builder.getIntegerAttr(signless, 1);
  case ReduceKind::Min:
  case ReduceKind::ArgMin:
    return extreme(type, /*largest=*/true, builder);
  case ReduceKind::Max:
  case ReduceKind::ArgMax:
    return extreme(type, /*largest=*/false, builder);
  }
  return {};
}

Value pass::reductionIdentity(OpBuilder &builder, Location loc, ReduceKind kind, Type element,
                              int64_t width) {
  Value value = arith::ConstantOp::create(builder, loc, identityOf(kind, element, builder));
  if (element.isUnsignedInteger())
    value = graph::CastOp::create(builder, loc, element, value);
  return BodyEmitter::splat(builder, loc, value, width);
}

Value pass::combineScanned(OpBuilder &builder, kernel::ScanOp op, Value earlier, Value later) {
  Location loc = op.getLoc();
  Type type = later.getType();
  switch (op.getKind()) {
  case ReduceKind::Min:
    return graph::MinimumOp::create(builder, loc, type, earlier, later);
  case ReduceKind::Max:
    return graph::MaximumOp::create(builder, loc, type, earlier, later);
  case ReduceKind::Prod:
    return graph::MulOp::create(builder, loc, type, earlier, later);
  default:
    return graph::AddOp::create(builder, loc, type, earlier, later);
  }
}

SmallVector<Value, 2> Reducer::identity(OpBuilder &builder, int64_t width) const {
  Location loc = op.getLoc();
  SmallVector<Value, 2> state = {reductionIdentity(builder, loc, op.getKind(), element, width)};
  // Larger than every real position, so that any element wins against the identity.
  if (isArg)
    state.push_back(BodyEmitter::splat(
        builder, loc, arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(INT64_MAX)),
        width));
  return state;
}

/// Any element that counts is at number 0 or later, and one equal to the identity may stay there.
SmallVector<Value, 2> Reducer::sequenceIdentity(OpBuilder &builder, int64_t width) const {
  if (source)
    return {reductionIdentity(builder, op.getLoc(), op.getKind(), sequenceTypes()[0], width)};
  SmallVector<Value, 2> state = identity(builder, width);
  if (isArg)
    state[1] = arith::ConstantOp::create(
        builder, op.getLoc(),
        builder.getZeroAttr(BodyEmitter::vectorOf(sequenceTypes()[1], width)));
  return state;
}

/// Mask of lanes in which `other` is better than `state`, or NaN where `state` is not.
Value Reducer::better(OpBuilder &builder, Value state, Value other) const {
  Location loc = op.getLoc();
  Type mask = graph::boolLike(state.getType());
  bool least = op.getKind() == ReduceKind::ArgMin;
  if (!isa<FloatType>(element))
    return least ? graph::LessOp::create(builder, loc, mask, other, state).getResult()
                 : graph::GreaterOp::create(builder, loc, mask, other, state).getResult();
  // Not "no better", which a NaN on either side makes true, and the state is a number.
  Value wins = arith::CmpFOp::create(
      builder, loc, least ? arith::CmpFPredicate::ULT : arith::CmpFPredicate::UGT, other, state);
  Value number = arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::ORD, state, state);
  return arith::AndIOp::create(builder, loc, number, wins);
}

SmallVector<Value, 2> Reducer::append(OpBuilder &builder, ValueRange state, Value value,
                                      Value number) const {
  if (source)
    value = graph::CastOp::create(builder, op.getLoc(), state[0].getType(), value);
  if (!isArg)
    return combine(builder, state, value);
  Location loc = op.getLoc();
  auto vector = dyn_cast<VectorType>(value.getType());
  int64_t width = vector ? vector.getNumElements() : 1;
  // Later elements win only when they are better.
  Value take = better(builder, state[0], value);
  Value place = arith::IndexCastOp::create(builder, loc, sequenceTypes()[1], number);
  place = BodyEmitter::splat(builder, loc, place, width);
  return {arith::SelectOp::create(builder, loc, take, value, state[0]),
          arith::SelectOp::create(builder, loc, take, place, state[1])};
}

SmallVector<Value, 2> Reducer::fromSequence(OpBuilder &builder, ValueRange state, Value first,
                                            int64_t step, int64_t laneStep) const {
  if (source) {
    auto lanes = dyn_cast<VectorType>(state[0].getType());
    Type wide = lanes ? Type(lanes.clone(element)) : element;
    return {graph::CastOp::create(builder, op.getLoc(), wide, state[0])};
  }
  if (!isArg)
    return SmallVector<Value, 2>(state);
  Location loc = op.getLoc();
  auto vector = dyn_cast<VectorType>(state[0].getType());
  int64_t width = vector ? vector.getNumElements() : 1;
  Type i64 = builder.getI64Type(), wide = BodyEmitter::vectorOf(i64, width);
  Value number = state[1];
  if (number.getType() != wide)
    number = arith::ExtUIOp::create(builder, loc, wide, number);
  auto splat = [&](Value v) { return BodyEmitter::splat(builder, loc, v, width); };
  Value factor = arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(step));
  Value base = arith::IndexCastOp::create(builder, loc, i64, first);
  Value index = arith::AddIOp::create(builder, loc, splat(base),
                                      arith::MulIOp::create(builder, loc, number, splat(factor)));
  if (vector && laneStep) {
    SmallVector<int64_t> lanes(width);
    for (int64_t i = 0; i < width; ++i)
      lanes[i] = i * laneStep;
    Value steps = arith::ConstantOp::create(
        builder, loc, DenseElementsAttr::get(cast<VectorType>(wide), ArrayRef<int64_t>(lanes)));
    index = arith::AddIOp::create(builder, loc, index, steps);
  }
  return {state[0], index};
}

Value Reducer::found(OpBuilder &builder, Value value, Value other) const {
  Value take = better(builder, value, other);
  return arith::SelectOp::create(builder, op.getLoc(), take, other, value);
}

/// Every NaN is as good as another one, which is better than any number.
Value Reducer::ties(OpBuilder &builder, Value value, Value best) const {
  Location loc = op.getLoc();
  Type mask = graph::boolLike(value.getType());
  Value equal = graph::EqualOp::create(builder, loc, mask, value, best);
  if (!isa<FloatType>(element))
    return equal;
  return arith::OrIOp::create(builder, loc, equal,
                              graph::IsNanOp::create(builder, loc, mask, value));
}

/// Mask of lanes in which `other` replaces `state`: it is better, it is NaN and the state is not,
/// or it is equal and earlier.
Value Reducer::pick(OpBuilder &builder, ValueRange state, ValueRange other) const {
  Location loc = op.getLoc();
  Type mask = graph::boolLike(state[0].getType());
  Value earlier = graph::LessOp::create(builder, loc, mask, other[1], state[1]);
  Value equal = graph::EqualOp::create(builder, loc, mask, other[0], state[0]);
  if (isa<FloatType>(element)) {
    Value newNan = graph::IsNanOp::create(builder, loc, mask, other[0]);
    Value oldNan = graph::IsNanOp::create(builder, loc, mask, state[0]);
    equal = arith::OrIOp::create(builder, loc, equal,
                                 arith::AndIOp::create(builder, loc, newNan, oldNan));
  }
  return arith::OrIOp::create(builder, loc, better(builder, state[0], other[0]),
                              arith::AndIOp::create(builder, loc, equal, earlier));
}

SmallVector<Value, 2> Reducer::combine(OpBuilder &builder, ValueRange state,
                                       ValueRange other) const {
  Location loc = op.getLoc();
  Type type = state[0].getType();
  switch (op.getKind()) {
  case ReduceKind::Sum:
  case ReduceKind::Mean:
    return {graph::AddOp::create(builder, loc, type, state[0], other[0])};
  case ReduceKind::Prod:
    return {graph::MulOp::create(builder, loc, type, state[0], other[0])};
  case ReduceKind::Min:
    return {graph::MinimumOp::create(builder, loc, type, state[0], other[0])};
  case ReduceKind::Max:
    return {graph::MaximumOp::create(builder, loc, type, state[0], other[0])};
  case ReduceKind::Any:
    return {arith::OrIOp::create(builder, loc, state[0], other[0])};
  case ReduceKind::All:
    return {arith::AndIOp::create(builder, loc, state[0], other[0])};
  case ReduceKind::ArgMin:
  case ReduceKind::ArgMax: {
    if (!isArg) // the same value, or an equal one
      return {op.getKind() == ReduceKind::ArgMin
                  ? graph::MinimumOp::create(builder, loc, type, state[0], other[0]).getResult()
                  : graph::MaximumOp::create(builder, loc, type, state[0], other[0]).getResult()};
    Value take = pick(builder, state, other);
    return {arith::SelectOp::create(builder, loc, take, other[0], state[0]),
            arith::SelectOp::create(builder, loc, take, other[1], state[1])};
  }
  }
  return {};
}
