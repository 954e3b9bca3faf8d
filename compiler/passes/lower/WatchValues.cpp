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

/// Of the widest registers of CPUs. Devices have no vectors as wide.
constexpr int64_t kRegisterBits = 512;
/// Of many values that are looked at together.
constexpr size_t kWatchSums = 4;

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

  /// Of several registers full of lanes one is made, which costs one instruction each: an infinity
  /// or a NaN times 0 is NaN.
  Value allFinite(Value x, const Position &position) {
    auto type = dyn_cast<VectorType>(x.getType());
    int64_t lanes = type ? kRegisterBits / type.getElementTypeBitWidth() : 0;
    bool wide = type && (type.getElementType().isF32() || type.getElementType().isF64()) &&
                type.getNumElements() >= lanes && type.getNumElements() % lanes == 0;
    if (!wide)
      return finite(x);
    if (position.limit) // lanes that are masked off hold anything
      x = arith::SelectOp::create(b, loc, position.mask, x, number(type, 0));
    SmallVector<Value> parts;
    for (int64_t from = 0; from < type.getNumElements(); from += lanes)
      parts.push_back(
          lanes == type.getNumElements()
              ? x
              : vector::ExtractStridedSliceOp::create(b, loc, x, from, lanes, 1).getResult());
    return noneLost(parts);
  }
  /// NaN in a lane where one of the values has an infinity or a NaN, else 0.
  Value lost(ArrayRef<Value> values) {
    Value sum, zero = number(values.front().getType(), 0);
    for (Value x : values)
      sum = sum ? math::FmaOp::create(b, loc, x, zero, sum).getResult()
                : arith::MulFOp::create(b, loc, x, zero).getResult();
    return sum;
  }
  Value noneLost(ArrayRef<Value> values) {
    Value sum = lost(values);
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
    return reportUnless(builder, c.allFinite(result, position), position);
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
  Value fine = Conditions{builder, loc}.finite(position.values.lookup(kernelValue));
  reportUnless(builder, fine, position);
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
  reportUnless(builder, c.noneLost(sums), everywhere);
}

/// Whether what a group computes comes after the barriers of a fold. There PoCL 3.1 loses results
/// when a work-item branches.
static bool followsFold(kernel::FuncOp func) {
  return func.getSchedule()->getGroup() && !func.getBody().getOps<kernel::ReduceOp>().empty();
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
  Value one = arith::ConstantOp::create(builder, loc, builder.getI64IntegerAttr(1));
  if (!vector && followsFold(func)) {
    Value word = m.select(bad, m(program::kWatchWord), m(program::kSpareWord));
    memref::StoreOp::create(builder, loc, one, faults, word);
    return;
  }
  auto seldom = scf::IfOp::create(builder, loc, bad, /*withElseRegion=*/false);
  OpBuilder inside = seldom.getThenBodyBuilder();
  memref::StoreOp::create(inside, loc, one, faults, IndexMath{inside, loc}(program::kWatchWord));
}
