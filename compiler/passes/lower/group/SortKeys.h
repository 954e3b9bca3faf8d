//===- SortKeys.h - Elements as numbers in their order ----------------------------------------===//
#ifndef GRAPHC_COMPILER_PASSES_LOWER_GROUP_SORTKEYS_H
#define GRAPHC_COMPILER_PASSES_LOWER_GROUP_SORTKEYS_H

#include "mlir/Dialect/Arith/IR/Arith.h"

namespace graphc::pass {

/// Unsigned keys in the order of elements, and back; the numbers are those of
/// runtime/library/Order.h.
class SortKeys {
public:
  /// `places`: elements are told apart by their keys alone; zeros of both signs have one.
  SortKeys(mlir::Location loc, mlir::Type element, bool places, bool descending = false)
      : loc(loc), element(element), places(places), descending(descending),
        type(mlir::IntegerType::get(element.getContext(),
                                    std::max(8u, element.getIntOrFloatBitWidth()))) {}

  mlir::Value last(mlir::OpBuilder &b) const {
    return number(b, llvm::APInt::getAllOnes(type.getWidth()));
  }

  mlir::Value of(mlir::OpBuilder &b, mlir::Value raw) const {
    mlir::Value bits =
        raw.getType() == type ? raw : mlir::arith::BitcastOp::create(b, loc, type, raw);
    mlir::Value key = bits;
    if (llvm::isa<mlir::FloatType>(element)) {
      // Equal elements keep their order, and zeros of both signs are equal.
      if (places)
        bits = select(b, equal(b, bits, sign(b)), number(b, llvm::APInt(type.getWidth(), 0)), bits);
      mlir::Value negative = compare(b, mlir::arith::CmpIPredicate::slt, bits, zero(b));
      key = exclusive(b, bits, select(b, negative, last(b), sign(b)));
      mlir::Value magnitude = mlir::arith::AndIOp::create(b, loc, bits, number(b, ~signBit()));
      mlir::Value nan =
          compare(b, mlir::arith::CmpIPredicate::ugt, magnitude, number(b, infinity()));
      key = select(b, nan, last(b), key);
    } else if (isSigned()) {
      key = exclusive(b, bits, sign(b));
    }
    return descending ? exclusive(b, key, last(b)) : key;
  }

  /// The element of a key, as memory has it; every NaN is the quiet one.
  mlir::Value elementOf(mlir::OpBuilder &b, mlir::Value key, mlir::Type memory) const {
    if (descending)
      key = exclusive(b, key, last(b));
    mlir::Value bits = key;
    if (llvm::isa<mlir::FloatType>(element)) {
      mlir::Value positive =
          compare(b, mlir::arith::CmpIPredicate::slt, key, zero(b)); // its highest bit
      bits = exclusive(b, key, select(b, positive, sign(b), last(b)));
      llvm::APInt quiet = infinity() | fractionTop();
      bits = select(b, equal(b, key, last(b)), number(b, quiet), bits);
    } else if (isSigned()) {
      bits = exclusive(b, key, sign(b));
    }
    return memory == type ? bits : mlir::arith::BitcastOp::create(b, loc, memory, bits);
  }

  /// A key of elements that keep their own: -0 becomes +0, its neighbour, to be compared.
  mlir::Value asEqual(mlir::OpBuilder &b, mlir::Value key) const {
    if (places || !llvm::isa<mlir::FloatType>(element))
      return key;
    llvm::APInt plus = descending ? ~signBit() : signBit(), minus = ~plus;
    return select(b, equal(b, key, number(b, minus)), number(b, plus), key);
  }
  mlir::Value less(mlir::OpBuilder &b, mlir::Value x, mlir::Value y) const {
    return compare(b, mlir::arith::CmpIPredicate::ult, asEqual(b, x), asEqual(b, y));
  }
  mlir::Value select(mlir::OpBuilder &b, mlir::Value condition, mlir::Value x,
                     mlir::Value y) const {
    return mlir::arith::SelectOp::create(b, loc, condition, x, y);
  }

  mlir::Location loc;
  mlir::Type element;
  bool places, descending;
  mlir::IntegerType type;

private:
  bool isSigned() const { return !element.isUnsignedInteger() && !element.isInteger(1); }
  llvm::APInt signBit() const { return llvm::APInt::getSignMask(type.getWidth()); }
  llvm::APInt infinity() const {
    auto &semantics = llvm::cast<mlir::FloatType>(element).getFloatSemantics();
    return llvm::APFloat::getInf(semantics).bitcastToAPInt();
  }
  llvm::APInt fractionTop() const {
    unsigned fraction = llvm::cast<mlir::FloatType>(element).getFPMantissaWidth() - 1;
    return llvm::APInt::getOneBitSet(type.getWidth(), fraction - 1);
  }
  mlir::Value number(mlir::OpBuilder &b, const llvm::APInt &value) const {
    return mlir::arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
  }
  mlir::Value zero(mlir::OpBuilder &b) const { return number(b, llvm::APInt(type.getWidth(), 0)); }
  mlir::Value sign(mlir::OpBuilder &b) const { return number(b, signBit()); }
  mlir::Value exclusive(mlir::OpBuilder &b, mlir::Value x, mlir::Value y) const {
    return mlir::arith::XOrIOp::create(b, loc, x, y);
  }
  mlir::Value compare(mlir::OpBuilder &b, mlir::arith::CmpIPredicate p, mlir::Value x,
                      mlir::Value y) const {
    return mlir::arith::CmpIOp::create(b, loc, p, x, y);
  }
  mlir::Value equal(mlir::OpBuilder &b, mlir::Value x, mlir::Value y) const {
    return compare(b, mlir::arith::CmpIPredicate::eq, x, y);
  }
};

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_LOWER_GROUP_SORTKEYS_H
