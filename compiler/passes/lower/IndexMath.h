//===- IndexMath.h - Index arithmetic in few words --------------------------------------------===//
#ifndef GRAPHC_COMPILER_PASSES_LOWER_INDEXMATH_H
#define GRAPHC_COMPILER_PASSES_LOWER_INDEXMATH_H

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace graphc::pass {

/// Index arithmetic at a builder's insertion point. Sizes and positions: never negative unless
/// subtracted, divisors positive.
struct IndexMath {
  mlir::OpBuilder &b;
  mlir::Location loc;
  mlir::Type type = {}; ///< of the numbers; null: index

  mlir::Value operator()(int64_t value) const {
    if (type)
      return mlir::arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
    return mlir::arith::ConstantIndexOp::create(b, loc, value);
  }
  mlir::Value add(mlir::Value x, mlir::Value y) const {
    return mlir::arith::AddIOp::create(b, loc, x, y);
  }
  mlir::Value add(mlir::Value x, int64_t y) const { return y ? add(x, (*this)(y)) : x; }
  mlir::Value sub(mlir::Value x, mlir::Value y) const {
    return mlir::arith::SubIOp::create(b, loc, x, y);
  }
  mlir::Value mul(mlir::Value x, mlir::Value y) const {
    return mlir::arith::MulIOp::create(b, loc, x, y);
  }
  mlir::Value mul(mlir::Value x, int64_t y) const { return y == 1 ? x : mul(x, (*this)(y)); }
  mlir::Value div(mlir::Value x, mlir::Value y) const {
    return mlir::arith::DivUIOp::create(b, loc, x, y);
  }
  mlir::Value div(mlir::Value x, int64_t y) const { return div(x, (*this)(y)); }
  mlir::Value ceilDiv(mlir::Value x, mlir::Value y) const {
    return mlir::arith::CeilDivUIOp::create(b, loc, x, y);
  }
  mlir::Value ceilDiv(mlir::Value x, int64_t y) const { return ceilDiv(x, (*this)(y)); }
  mlir::Value min(mlir::Value x, mlir::Value y) const {
    return mlir::arith::MinSIOp::create(b, loc, x, y);
  }
  mlir::Value min(mlir::Value x, int64_t y) const { return min(x, (*this)(y)); }
  mlir::Value max(mlir::Value x, mlir::Value y) const {
    return mlir::arith::MaxSIOp::create(b, loc, x, y);
  }
  mlir::Value max(mlir::Value x, int64_t y) const { return max(x, (*this)(y)); }
  /// 1 for positive values, else 0.
  mlir::Value some(mlir::Value x) const { return min(max(x, 0), 1); }
  mlir::Value select(mlir::Value condition, mlir::Value x, mlir::Value y) const {
    return mlir::arith::SelectOp::create(b, loc, condition, x, y);
  }
  mlir::Value compare(mlir::arith::CmpIPredicate p, mlir::Value x, mlir::Value y) const {
    return mlir::arith::CmpIOp::create(b, loc, p, x, y);
  }
  mlir::Value less(mlir::Value x, mlir::Value y) const {
    return compare(mlir::arith::CmpIPredicate::slt, x, y);
  }
  mlir::Value atLeast(mlir::Value x, mlir::Value y) const {
    return compare(mlir::arith::CmpIPredicate::sge, x, y);
  }
  mlir::Value equal(mlir::Value x, mlir::Value y) const {
    return compare(mlir::arith::CmpIPredicate::eq, x, y);
  }
  mlir::Value both(mlir::Value x, mlir::Value y) const {
    return mlir::arith::AndIOp::create(b, loc, x, y);
  }
  mlir::Value either(mlir::Value x, mlir::Value y) const {
    return mlir::arith::OrIOp::create(b, loc, x, y);
  }
};

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_LOWER_INDEXMATH_H
