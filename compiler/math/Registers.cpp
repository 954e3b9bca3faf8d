#include "compiler/math/Registers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace graphc::math;

static Value slice(OpBuilder &ops, Location loc, Value v, int64_t from, int64_t lanes) {
  return vector::ExtractStridedSliceOp::create(ops, loc, v, from, lanes, 1);
}

Value graphc::math::onRegisters(OpBuilder &ops, Location loc, StringRef name, Value x, Value y,
                                std::optional<int64_t> how) {
  auto type = cast<VectorType>(x.getType());
  bool single = type.getElementType().isF32();
  int64_t lanes = type.getNumElements(), each = kRegisterBits / type.getElementTypeBitWidth();
  std::string full = ("llvm.x86.avx512.mask." + name + (single ? ".ps.512" : ".pd.512")).str();
  auto number = [&](unsigned width, int64_t value) -> Value {
    return arith::ConstantOp::create(ops, loc,
                                     ops.getIntegerAttr(ops.getIntegerType(width), value));
  };
  auto part = [&](Value v, int64_t from) {
    return each == lanes ? v : slice(ops, loc, v, from, each);
  };
  Value result = x;
  for (int64_t from = 0; from < lanes; from += each) {
    Value first = part(x, from);
    SmallVector<Value> operands{first, part(y, from)};
    if (how)
      operands.push_back(number(32, *how));
    operands.append({first, number(single ? 16 : 8, -1), number(32, 4)});
    Value made =
        LLVM::CallIntrinsicOp::create(ops, loc, first.getType(), ops.getStringAttr(full), operands)
            .getResult(0);
    result = each == lanes
                 ? made
                 : Value(vector::InsertStridedSliceOp::create(ops, loc, made, result, from, 1));
  }
  return result;
}

/// The greatest magnitude of every lane of a register of x, none of which is a signaling NaN:
/// others give way to numbers. Null where the mask does not compare that of a result with one
/// bound.
static Value greatestMagnitude(OpBuilder &ops, Location loc, arith::CmpFOp compared, int64_t each) {
  auto magnitude = compared.getLhs().getDefiningOp<math::AbsFOp>();
  if (compared.getPredicate() != arith::CmpFPredicate::OGT || !magnitude ||
      !matchPattern(compared.getRhs(), m_Constant()))
    return {};
  Value x = magnitude.getOperand(), most;
  if (!isa_and_nonnull<arith::AddFOp, arith::SubFOp, arith::MulFOp, math::FmaOp>(x.getDefiningOp()))
    return {};
  for (int64_t from = 0; from < cast<VectorType>(x.getType()).getNumElements(); from += each) {
    Value part = slice(ops, loc, x, from, each);
    most = most ? onRegisters(ops, loc, "range", most, part, 0b1011) : part;
  }
  return most;
}

Value graphc::math::anyLane(OpBuilder &ops, Location loc, Value mask, bool byRegister) {
  auto any = [&](Value m) {
    return vector::ReductionOp::create(ops, loc, vector::CombiningKind::OR, m);
  };
  auto made = mask.getDefiningOp<arith::CmpFOp>();
  if (!byRegister || !made)
    return any(mask);
  const int64_t lanes = cast<VectorType>(mask.getType()).getNumElements();
  const int64_t each = kRegisterBits / getElementTypeOrSelf(made.getLhs()).getIntOrFloatBitWidth();
  if (each >= lanes || lanes % each != 0)
    return any(mask);
  if (Value most = greatestMagnitude(ops, loc, made, each))
    return any(arith::CmpFOp::create(ops, loc, made.getPredicate(), most,
                                     slice(ops, loc, made.getRhs(), 0, each)));
  Value all = slice(ops, loc, mask, 0, each);
  for (int64_t from = each; from < lanes; from += each)
    all = arith::OrIOp::create(ops, loc, all, slice(ops, loc, mask, from, each));
  return any(all);
}
