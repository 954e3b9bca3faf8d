// Values that are watched: a run says that one became infinite or NaN, or that integers had no
// result.
#include "compiler/passes/fuse/Watch.h"
#include "compiler/passes/lower/BodyEmitter.h"
#include "compiler/passes/lower/IndexMath.h"
#include "runtime/program/Program.h"

#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::pass;

namespace {

/// Of many values that are looked at together.
constexpr size_t kWatchSums = 4;
/// Values of a block that one branch tells of: each branch ends a block of the machine's code,
/// which costs compile time, and more than the sum that it waits for.
constexpr int64_t kMostJoined = 16;

/// Conditions on lowered values, scalars or vectors.
struct Conditions {
  OpBuilder &b;
  Location loc;

  template <class Op, class... Operands>
  Value holds(Value x, Operands... rest) {
    return Op::create(b, loc, TypeRange(graph::boolLike(x.getType())), ValueRange{x, rest...});
  }
  Value number(Type type, double value) {
    auto format = cast<FloatType>(graph::elementType(type));
    TypedAttr attr = b.getFloatAttr(format, value);
    if (auto vector = dyn_cast<VectorType>(type))
      attr = DenseElementsAttr::get(vector, Attribute(attr));
    return arith::ConstantOp::create(b, loc, attr);
  }
  Value finite(Value x) { return holds<graph::IsFiniteOp>(x); }
  Value inverse(Value mask) {
    TypedAttr yes = b.getBoolAttr(true);
    if (auto vector = dyn_cast<VectorType>(mask.getType()))
      yes = DenseElementsAttr::get(vector, true);
    return arith::XOrIOp::create(b, loc, mask, arith::ConstantOp::create(b, loc, yes));
  }

  /// Of several registers full of lanes one is made, which costs one instruction each: NaN where
  /// lost() says so. Null for what is no whole registers of floats.
  Value lostLanes(Value x, const Position &position) {
    auto type = dyn_cast<VectorType>(x.getType());
    int64_t lanes = type ? kRegisterBits / type.getElementTypeBitWidth() : 0;
    bool wide = type && (type.getElementType().isF32() || type.getElementType().isF64()) &&
                type.getNumElements() >= lanes && type.getNumElements() % lanes == 0;
    if (!wide)
      return Value();
    if (position.limit) // lanes that are masked off hold anything
      x = arith::SelectOp::create(b, loc, position.mask, x, number(type, 0));
    SmallVector<Value> parts;
    for (int64_t from = 0; from < type.getNumElements(); from += lanes)
      parts.push_back(
          lanes == type.getNumElements()
              ? x
              : vector::ExtractStridedSliceOp::create(b, loc, x, from, lanes, 1).getResult());
    return lost(parts);
  }
  /// NaN in a lane where one of the values has an infinity or a NaN, which times 0 are NaN; else 0.
  Value lost(ArrayRef<Value> values) {
    Value sum, zero = number(values.front().getType(), 0);
    for (Value x : values)
      sum = sum ? math::FmaOp::create(b, loc, x, zero, sum).getResult()
                : arith::MulFOp::create(b, loc, x, zero).getResult();
    return sum;
  }
  Value isNumber(Value sum) {
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ORD, sum, sum);
  }

  /// Inside what the processor converts without a fault, which for narrow integers is more than
  /// they hold: as NumPy.
  Value converts(Value x, Type to) {
    Type from = graph::elementType(x.getType());
    if (from.isF16())
      return finite(x);
    unsigned bits = to.getIntOrFloatBitWidth();
    bool narrow = bits < 32 || (bits == 32 && !to.isUnsignedInteger());
    double low = narrow ? -0x1p31 : -0x1p63;
    double high = narrow ? 0x1p31 : bits == 64 && to.isUnsignedInteger() ? 0x1p64 : 0x1p63;
    // Truncation brings what is less than one below the range inside, where the format tells.
    Value above = narrow && from.isF64()
                      ? holds<graph::GreaterOp>(x, number(x.getType(), low - 1))
                      : holds<graph::GreaterEqualOp>(x, number(x.getType(), low));
    Value below = holds<graph::LessOp>(x, number(x.getType(), high));
    return IndexMath{b, loc}.both(above, below);
  }

  /// Of integers: the divisor is not 0, nor -1 for the least number that `//` divides.
  Value divides(Operation *op) {
    Value x = op->getOperand(0), y = op->getOperand(1);
    Type type = y.getType(), element = graph::elementType(type);
    Value fine = graph::CastOp::create(b, loc, graph::boolLike(type), y);
    if (isa<graph::RemainderOp>(op) || element.isUnsignedInteger() || element.isInteger(1))
      return fine;
    auto constant = [&](const APInt &value) -> Value {
      TypedAttr attr = b.getIntegerAttr(element, value);
      if (auto vector = dyn_cast<VectorType>(type))
        attr = DenseElementsAttr::get(vector, Attribute(attr));
      return arith::ConstantOp::create(b, loc, attr);
    };
    unsigned bits = element.getIntOrFloatBitWidth();
    IndexMath m{b, loc};
    auto differs = [&](Value v, const APInt &from) {
      return m.compare(arith::CmpIPredicate::ne, v, constant(from));
    };
    return m.both(fine, m.either(differs(x, APInt::getSignedMinValue(bits)),
                                 differs(y, APInt::getAllOnes(bits))));
  }
};

} // namespace

void BodyEmitter::watch(OpBuilder &builder, Operation *lowered, Position &position) {
  Conditions c{builder, loc};
  Value result = lowered->getResult(0);
  Type type = graph::elementType(result.getType());
  if (isa<FloatType>(type))
    return watchFloat(builder, result, position);
  if (isa<graph::CastOp>(lowered))
    return reportUnless(builder, c.converts(lowered->getOperand(0), type), position);
  reportUnless(builder, c.divides(lowered), position);
}

/// NumPy's rule: an infinity is told where all operands were finite, a NaN where none was NaN.
void BodyEmitter::watchOperation(OpBuilder &builder, Operation *lowered, Position &position) {
  Conditions c{builder, loc};
  IndexMath m{builder, loc};
  Value result = lowered->getResult(0), finite, number;
  for (Value x : lowered->getOperands()) {
    if (!isa<FloatType>(graph::elementType(x.getType())))
      continue;
    Value isNan = c.holds<graph::IsNanOp>(x);
    Value isNumber = c.inverse(isNan);
    finite = finite ? m.both(finite, c.finite(x)) : c.finite(x);
    number = number ? m.both(number, isNumber) : isNumber;
  }
  if (!finite)
    return reportUnless(builder, c.finite(result), position);
  Value bad = m.either(m.both(c.holds<graph::IsInfOp>(result), finite),
                       m.both(c.holds<graph::IsNanOp>(result), number));
  reportUnless(builder, c.inverse(bad), position);
}

/// A reduction's value has no place of its own in the body: it is looked at where it is stored.
void BodyEmitter::watchReduced(OpBuilder &builder, Value kernelValue, Position &position) {
  Operation *op = kernelValue.getDefiningOp();
  if (position.watched || !op || !op->hasAttr(kWatchAttr) ||
      !isa<kernel::ReduceOp, kernel::ScanOp, kernel::DotOp>(op))
    return;
  watchFloat(builder, position.values.lookup(kernelValue), position);
}

/// A work-item of a group has a place of its own for what it sees: a float that an infinity or a
/// NaN times 0 makes NaN, which costs one operation a value and no branch, and a word.
void BodyEmitter::watchFloat(OpBuilder &builder, Value x, Position &position) {
  Conditions c{builder, loc};
  Type type = graph::elementType(x.getType());
  if (!gathersWatched()) {
    if (Value sum = c.lostLanes(x, position))
      return reportJoined(builder, sum);
    return reportUnless(builder, c.finite(x), position);
  }
  if (!type.isF32() && !type.isF64())
    return reportUnless(builder, c.finite(x), position);
  auto vector = dyn_cast<VectorType>(x.getType());
  if (vector && position.limit && vector.getNumElements() == position.width)
    x = arith::SelectOp::create(builder, loc, position.mask, x, c.number(vector, 0));
  Value place = watchPlace(type), first = IndexMath{builder, loc}(0);
  Value sum = memref::LoadOp::create(builder, loc, place, first), zero = c.number(type, 0);
  for (int64_t lane = 0, count = vector ? vector.getNumElements() : 1; lane < count; ++lane)
    sum = math::FmaOp::create(
        builder, loc, vector ? vector::ExtractOp::create(builder, loc, x, lane).getResult() : x,
        zero, sum);
  memref::StoreOp::create(builder, loc, sum, place, first);
}

void BodyEmitter::reportJoined(OpBuilder &builder, Value sum) {
  bool joins = joined.told && joined.told->getBlock() == builder.getBlock() &&
               joined.sum.getType() == sum.getType() && joined.count < kMostJoined &&
               (builder.getInsertionPoint() == builder.getBlock()->end() ||
                joined.told->isBeforeInBlock(&*builder.getInsertionPoint()));
  if (joins) {
    sum = arith::AddFOp::create(builder, loc, joined.sum, sum);
    joined.told->erase();
  }
  Position everywhere;
  reportUnless(builder, Conditions{builder, loc}.isNumber(sum), everywhere);
  joined = {sum, &*std::prev(builder.getInsertionPoint()), joins ? joined.count + 1 : 1};
}

bool BodyEmitter::gathersWatched() { return func.getSchedule()->getGroup() != 0; }

Value BodyEmitter::watchPlace(Type type) {
  for (Value place : watched)
    if (cast<MemRefType>(place.getType()).getElementType() == type)
      return place;
  OpBuilder b = OpBuilder::atBlockBegin(cast<BlockArgument>(faults).getOwner());
  Value place = memref::AllocaOp::create(b, loc, MemRefType::get({1}, type));
  Value zero = arith::ConstantOp::create(b, loc, b.getZeroAttr(type));
  memref::StoreOp::create(b, loc, zero, place, IndexMath{b, loc}(0));
  watched.push_back(place);
  return place;
}

void BodyEmitter::tellWatched(OpBuilder &builder, bool straight) {
  IndexMath m{builder, loc};
  Value bad;
  for (Value place : watched) {
    Value x = memref::LoadOp::create(builder, loc, place, m(0));
    Value here =
        isa<FloatType>(x.getType())
            ? arith::CmpFOp::create(builder, loc, arith::CmpFPredicate::UNO, x, x).getResult()
            : arith::CmpIOp::create(
                  builder, loc, arith::CmpIPredicate::ne, x,
                  arith::ConstantOp::create(builder, loc, builder.getZeroAttr(x.getType())));
    bad = bad ? m.either(bad, here) : here;
  }
  if (!bad)
    return;
  Value one = arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(1));
  if (straight) {
    Value word = m.select(bad, m(program::kWatchWord), m(program::kSpareWord));
    memref::StoreOp::create(builder, loc, one, faults, word);
    return;
  }
  auto seldom = scf::IfOp::create(builder, loc, bad, /*withElseRegion=*/false);
  OpBuilder inside = seldom.getThenBodyBuilder();
  memref::StoreOp::create(inside, loc, one, faults, IndexMath{inside, loc}(program::kWatchWord));
}

void BodyEmitter::watchTogether(OpBuilder &builder, Value kernelValue, ArrayRef<Value> values) {
  if (!kernelValue.getDefiningOp()->hasAttr(kWatchAttr))
    return;
  // Several sums side by side: one would be a chain as long as there are values.
  Conditions c{builder, loc};
  size_t each = std::max<size_t>(1, values.size() / kWatchSums);
  SmallVector<Value> sums;
  for (; !values.empty(); values = values.drop_front(std::min(each, values.size())))
    sums.push_back(c.lost(values.take_front(each)));
  Position everywhere;
  reportUnless(builder, c.isNumber(c.lost(sums)), everywhere);
}

void BodyEmitter::reportUnless(OpBuilder &builder, Value fine, Position &position) {
  IndexMath m{builder, loc};
  auto vector = dyn_cast<VectorType>(fine.getType());
  Value bad = Conditions{builder, loc}.inverse(fine);
  // Lanes that are masked off hold anything.
  if (vector && position.limit && vector.getNumElements() == position.width)
    bad = m.both(bad, position.mask);
  if (vector)
    bad = vector::ReductionOp::create(builder, loc, vector::CombiningKind::OR, bad);
  if (gathersWatched()) {
    Value place = watchPlace(builder.getI32Type());
    Value seen = memref::LoadOp::create(builder, loc, place, m(0));
    Value set = arith::ConstantOp::create(builder, loc, builder.getI32IntegerAttr(1));
    memref::StoreOp::create(builder, loc, m.select(bad, set, seen), place, m(0));
    return;
  }
  Value one = arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(1));
  auto seldom = scf::IfOp::create(builder, loc, bad, /*withElseRegion=*/false);
  OpBuilder inside = seldom.getThenBodyBuilder();
  memref::StoreOp::create(inside, loc, one, faults, IndexMath{inside, loc}(program::kWatchWord));
}
