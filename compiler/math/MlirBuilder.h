//===- MlirBuilder.h - Scalar meanings as arith and math ops ----------------------------------===//
#ifndef GRAPHC_COMPILER_MATH_MLIRBUILDER_H
#define GRAPHC_COMPILER_MATH_MLIRBUILDER_H

#include "compiler/math/Apart.h"
#include "compiler/math/Lookup.h"
#include "compiler/math/MlirTuples.h"
#include "compiler/math/Narrow.h"
#include "compiler/math/Registers.h"
#include "compiler/math/Select.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <array>
#include <string>
#include <tuple>

namespace graphc::math {

/// The builder of Builder.h over MLIR values: scalars (lanes 1) or vectors; signless integers.
class MlirBuilder {
public:
  using V = mlir::Value;
  /// What the target's vectors do in one operation.
  struct Target {
    bool int64Conversions = true; ///< i64 to f64 and back
    bool scale = false;           ///< x * 2^n; of whole registers the lesser |x|, too (AVX-512)
    bool half = false;            ///< f16 to f32 and back
    bool products52 = false;      ///< a + either half of a 52-bit product (AVX-512 IFMA)
    bool nvidia = false;          ///< maxima of f32 that keep a NaN; by lanes
    bool skips = false;           ///< a branch that no lane takes costs less than a few operations
    Lookup lookup = Lookup::kNone;
  };
  MlirBuilder(mlir::OpBuilder &builder, mlir::Location loc, int64_t lanes, Target target)
      : ops(builder), loc(loc), lanes(lanes), target(target) {}

  V f32(float v) { return constant(ops.getF32FloatAttr(v)); }
  V f64(double v) { return constant(ops.getF64FloatAttr(v)); }
  V i32(int32_t v) { return intConst(32, v); }
  V i64(int64_t v) { return intConst(64, v); }
  V intConst(unsigned width, int64_t v) {
    return constant(mlir::IntegerAttr::get(
        ops.getIntegerType(width), llvm::APInt(width, static_cast<uint64_t>(v), false, true)));
  }

  V add(V a, V b) { return mlir::arith::AddFOp::create(ops, loc, a, b); }
  V sub(V a, V b) { return mlir::arith::SubFOp::create(ops, loc, a, b); }
  V mul(V a, V b) { return mlir::arith::MulFOp::create(ops, loc, a, b); }
  V div(V a, V b) { return mlir::arith::DivFOp::create(ops, loc, a, b); }
  V fma(V a, V b, V c) { return mlir::math::FmaOp::create(ops, loc, a, b, c); }
  V neg(V a) { return mlir::arith::NegFOp::create(ops, loc, a); }
  V abs(V a) { return mlir::math::AbsFOp::create(ops, loc, a); }
  V copysign(V magnitude, V sign) {
    return mlir::math::CopySignOp::create(ops, loc, magnitude, sign);
  }
  V sqrt(V a) { return mlir::math::SqrtOp::create(ops, loc, a); }
  V roundeven(V a) { return mlir::math::RoundEvenOp::create(ops, loc, a); }
  V floor(V a) { return mlir::math::FloorOp::create(ops, loc, a); }
  V ceil(V a) { return mlir::math::CeilOp::create(ops, loc, a); }
  V trunc(V a) { return mlir::math::TruncOp::create(ops, loc, a); }

  V lt(V a, V b) { return compare(mlir::arith::CmpFPredicate::OLT, a, b); }
  V le(V a, V b) { return compare(mlir::arith::CmpFPredicate::OLE, a, b); }
  V gt(V a, V b) { return compare(mlir::arith::CmpFPredicate::OGT, a, b); }
  V ge(V a, V b) { return compare(mlir::arith::CmpFPredicate::OGE, a, b); }
  V eq(V a, V b) { return compare(mlir::arith::CmpFPredicate::OEQ, a, b); }
  V ne(V a, V b) { return compare(mlir::arith::CmpFPredicate::UNE, a, b); }
  V isnan(V a) { return compare(mlir::arith::CmpFPredicate::UNO, a, a); }

  V iadd(V a, V b) { return mlir::arith::AddIOp::create(ops, loc, a, b); }
  V isub(V a, V b) { return mlir::arith::SubIOp::create(ops, loc, a, b); }
  V imul(V a, V b) { return mlir::arith::MulIOp::create(ops, loc, a, b); }
  V band(V a, V b) { return mlir::arith::AndIOp::create(ops, loc, a, b); }
  V bor(V a, V b) { return mlir::arith::OrIOp::create(ops, loc, a, b); }
  V bxor(V a, V b) { return mlir::arith::XOrIOp::create(ops, loc, a, b); }
  V shl(V a, V b) { return mlir::arith::ShLIOp::create(ops, loc, a, b); }
  V ashr(V a, V b) { return mlir::arith::ShRSIOp::create(ops, loc, a, b); }
  V lshr(V a, V b) { return mlir::arith::ShRUIOp::create(ops, loc, a, b); }
  V sdiv(V a, V b) { return mlir::arith::DivSIOp::create(ops, loc, a, b); }
  V srem(V a, V b) { return mlir::arith::RemSIOp::create(ops, loc, a, b); }
  V udiv(V a, V b) { return mlir::arith::DivUIOp::create(ops, loc, a, b); }
  V urem(V a, V b) { return mlir::arith::RemUIOp::create(ops, loc, a, b); }
  V ieq(V a, V b) { return compare(mlir::arith::CmpIPredicate::eq, a, b); }
  V ine(V a, V b) { return compare(mlir::arith::CmpIPredicate::ne, a, b); }
  V slt(V a, V b) { return compare(mlir::arith::CmpIPredicate::slt, a, b); }
  V sle(V a, V b) { return compare(mlir::arith::CmpIPredicate::sle, a, b); }
  V sgt(V a, V b) { return compare(mlir::arith::CmpIPredicate::sgt, a, b); }
  V sge(V a, V b) { return compare(mlir::arith::CmpIPredicate::sge, a, b); }
  V ult(V a, V b) { return compare(mlir::arith::CmpIPredicate::ult, a, b); }
  V ule(V a, V b) { return compare(mlir::arith::CmpIPredicate::ule, a, b); }
  V ugt(V a, V b) { return compare(mlir::arith::CmpIPredicate::ugt, a, b); }
  V uge(V a, V b) { return compare(mlir::arith::CmpIPredicate::uge, a, b); }

  V mand(V a, V b) { return band(a, b); }
  V mor(V a, V b) { return bor(a, b); }
  V mxor(V a, V b) { return bxor(a, b); }
  V mnot(V a) { return bxor(a, constant(ops.getBoolAttr(true))); }
  V select(V mask, V a, V b) { return mlir::arith::SelectOp::create(ops, loc, mask, a, b); }

  V toBits(V a) {
    return mlir::arith::BitcastOp::create(ops, loc, shaped(ops.getIntegerType(bits(a))), a);
  }
  V fromBits(V a) { return mlir::arith::BitcastOp::create(ops, loc, floatType(bits(a)), a); }
  V extf(V a) { return mlir::arith::ExtFOp::create(ops, loc, floatType(64), a); }
  V truncf(V a) { return mlir::arith::TruncFOp::create(ops, loc, floatType(32), a); }
  V sitofp(V a, unsigned width) {
    return mlir::arith::SIToFPOp::create(ops, loc, floatType(width), a);
  }
  V uitofp(V a, unsigned width) {
    return mlir::arith::UIToFPOp::create(ops, loc, floatType(width), a);
  }
  V fptosi(V a, unsigned width) {
    return mlir::arith::FPToSIOp::create(ops, loc, shaped(ops.getIntegerType(width)), a);
  }
  V sext(V a, unsigned width) { return resized<mlir::arith::ExtSIOp>(a, width); }
  V zext(V a, unsigned width) { return resized<mlir::arith::ExtUIOp>(a, width); }
  V itrunc(V a, unsigned width) { return resized<mlir::arith::TruncIOp>(a, width); }
  bool int64Conversions() const { return target.int64Conversions; }

  /// Between f32 and the bits of an f16: the target's operations if it has them.
  V halfToFloat(V a) {
    if (!target.half)
      return halfToFloatByBits(*this, a);
    V half = mlir::arith::BitcastOp::create(ops, loc, shaped(ops.getF16Type()), a);
    return mlir::arith::ExtFOp::create(ops, loc, floatType(32), half);
  }
  V floatToHalf(V a) {
    if (!target.half)
      return floatToHalfByBits(*this, a);
    V half = mlir::arith::TruncFOp::create(ops, loc, shaped(ops.getF16Type()), a);
    return mlir::arith::BitcastOp::create(ops, loc, shaped(ops.getIntegerType(16)), half);
  }

  /// x * 2^n rounded once: LLVM's ldexp, which is one operation where the target says so.
  V scale(V x, V n) {
    if (!target.scale || lanes == 1)
      return bits(x) == 32 ? scaleByProducts<32>(*this, x, n) : scaleByProducts<64>(*this, x, n);
    std::string name = "llvm.ldexp.v" + std::to_string(lanes) + (bits(x) == 32 ? "f32" : "f64") +
                       ".v" + std::to_string(lanes) + (bits(n) == 32 ? "i32" : "i64");
    return call(name, {x, n});
  }

  /// The same where `whole` is n as a float: whole registers take it as it is.
  V scale(V x, V n, V whole) {
    if (target.nvidia)
      return bits(x) == 32 ? scaleByProducts<32>(*this, x, n, whole)
                           : scaleByProducts<64>(*this, x, n, whole);
    if (!scalesByFloats(x))
      return scale(x, n);
    return onRegisters(ops, loc, "scalef", x, whole);
  }
  bool scalesByFloats(V x) const { return !target.nvidia && target.scale && fillsRegisters(x); }
  bool blends(V x) const { return scalesByFloats(x); }
  V leastMagnitude(V x, V bound) { return range(x, bound, 0b1010); }
  /// Of two numbers, where scalesByFloats(); -0 < +0.
  V largerNumber(V x, V y) { return range(x, y, 0b0101); }
  V smallerNumber(V x, V y) { return range(x, y, 0b0100); }
  V negatedBy(V x) {
    auto made = x.getDefiningOp<mlir::arith::NegFOp>();
    return made ? made.getOperand() : V();
  }

  bool skipsBranches() const { return target.skips; }

  bool looksUp() const { return target.lookup != Lookup::kNone; }
  template <std::size_t N>
  std::array<V, N> lookup(const float (&rows)[N][kLookupEntries], V index) {
    std::array<V, N> found;
    llvm::copy(lookUp(ops, loc, target.lookup, {&rows[0][0], N * kLookupEntries}, index),
               found.begin());
    return found;
  }

  /// The larger or smaller of two: NaN if one of them is, whose bits are any NaN's; -0 < +0.
  bool keepsNan(V x) const { return target.nvidia && bits(x) == 32; }
  V maximum(V x, V y) { return call("llvm.nvvm.fmax.nan.f", {x, y}); }
  V minimum(V x, V y) { return call("llvm.nvvm.fmin.nan.f", {x, y}); }

  /// A branch that is skipped when no lane needs it; lanes of the result are selected all the same.
  template <class Fn, class... Else>
  auto ifAny(V mask, Fn fn, Else... otherwise) {
    constexpr size_t count = sizeof...(Else);
    std::array<V, count> rest{otherwise...};
    auto branch =
        mlir::scf::IfOp::create(ops, loc, mlir::TypeRange(mlir::ValueRange(rest)), any(mask), true);
    mlir::OpBuilder::InsertionGuard guard(ops);
    ops.setInsertionPointToStart(branch.thenBlock());
    std::array<V, count> computed = toArray(fn());
    for (size_t i = 0; i < count; ++i)
      computed[i] = select(mask, computed[i], rest[i]);
    mlir::scf::YieldOp::create(ops, loc, computed);
    ops.setInsertionPointToStart(branch.elseBlock());
    mlir::scf::YieldOp::create(ops, loc, rest);
    return toTuple<count>(branch.getResults());
  }

  template <class Cond, class Body, class... Init>
  auto whileAny(Cond cond, Body body, Init... init) {
    constexpr size_t count = sizeof...(Init);
    std::array<V, count> start{init...};
    mlir::TypeRange types{mlir::ValueRange(start)};
    auto loop = mlir::scf::WhileOp::create(
        ops, loc, types, mlir::ValueRange(start),
        [&](mlir::OpBuilder &inside, mlir::Location, mlir::ValueRange args) {
          mlir::OpBuilder::InsertionGuard guard(ops);
          ops.setInsertionPoint(inside.getInsertionBlock(), inside.getInsertionPoint());
          V go = any(apply<count>(cond, args));
          mlir::scf::ConditionOp::create(ops, loc, go, args);
        },
        [&](mlir::OpBuilder &inside, mlir::Location, mlir::ValueRange args) {
          // The callbacks hold a reference to this builder, so creation is redirected into the
          // region.
          mlir::OpBuilder::InsertionGuard guard(ops);
          ops.setInsertionPoint(inside.getInsertionBlock(), inside.getInsertionPoint());
          V mask = apply<count>(cond, args);
          std::array<V, count> next = toArray(apply<count>(body, args));
          for (size_t i = 0; i < count; ++i)
            next[i] = select(mask, next[i], args[i]);
          mlir::scf::YieldOp::create(ops, loc, next);
        });
    return toTuple<count>(loop.getResults());
  }

  /// fn(*this, x), register by register, by the function that the program has for it, if any.
  template <class Fn>
  auto apart(llvm::StringRef name, V x, Fn fn) {
    constexpr size_t count = std::tuple_size_v<decltype(fn(*this, x))>;
    llvm::SmallVector<V> results = callApart(ops, loc, name, x);
    return results.empty() ? fn(*this, x) : toTuple<count>(results);
  }

private:
  V range(V x, V y, int64_t how) { return onRegisters(ops, loc, "range", x, y, how); }
  bool fillsRegisters(V x) const { return lanes > 1 && lanes * bits(x) % kRegisterBits == 0; }
  V call(llvm::StringRef intrinsic, llvm::ArrayRef<V> operands) {
    return mlir::LLVM::CallIntrinsicOp::create(ops, loc, operands.front().getType(),
                                               ops.getStringAttr(intrinsic),
                                               mlir::ValueRange(operands))
        .getResult(0);
  }
  template <class Op>
  V resized(V a, unsigned width) {
    return bits(a) == width ? a : V(Op::create(ops, loc, shaped(ops.getIntegerType(width)), a));
  }
  V any(V mask) { return lanes == 1 ? mask : anyLane(ops, loc, mask, target.scale); }
  V compare(mlir::arith::CmpFPredicate p, V a, V b) {
    return mlir::arith::CmpFOp::create(ops, loc, p, a, b);
  }
  V compare(mlir::arith::CmpIPredicate p, V a, V b) {
    return mlir::arith::CmpIOp::create(ops, loc, p, a, b);
  }
  mlir::Type shaped(mlir::Type element) {
    return lanes == 1 ? element : mlir::Type(mlir::VectorType::get({lanes}, element));
  }
  mlir::Type floatType(unsigned width) {
    return shaped(width == 32 ? mlir::Type(ops.getF32Type()) : mlir::Type(ops.getF64Type()));
  }
  static unsigned bits(V v) {
    return mlir::getElementTypeOrSelf(v.getType()).getIntOrFloatBitWidth();
  }
  V constant(mlir::TypedAttr scalar) {
    if (lanes == 1)
      return mlir::arith::ConstantOp::create(ops, loc, scalar);
    auto type = mlir::VectorType::get({lanes}, scalar.getType());
    return mlir::arith::ConstantOp::create(
        ops, loc, mlir::DenseElementsAttr::get(type, mlir::Attribute(scalar)));
  }

  mlir::OpBuilder &ops;
  mlir::Location loc;
  int64_t lanes;
  Target target;
};

} // namespace graphc::math

#endif // GRAPHC_COMPILER_MATH_MLIRBUILDER_H
