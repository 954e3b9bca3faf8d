#include "compiler/math/Registers.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace graphc::math;

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
  auto slice = [&](Value v, int64_t from) -> Value {
    return each == lanes ? v : vector::ExtractStridedSliceOp::create(ops, loc, v, from, each, 1);
  };
  Value result = x;
  for (int64_t from = 0; from < lanes; from += each) {
    Value part = slice(x, from);
    SmallVector<Value> operands{part, slice(y, from)};
    if (how)
      operands.push_back(number(32, *how));
    operands.append({part, number(single ? 16 : 8, -1), number(32, 4)});
    Value made =
        LLVM::CallIntrinsicOp::create(ops, loc, part.getType(), ops.getStringAttr(full), operands)
            .getResult(0);
    result = each == lanes
                 ? made
                 : Value(vector::InsertStridedSliceOp::create(ops, loc, made, result, from, 1));
  }
  return result;
}
