//===- Apart.h - Long functions that a program has once ---------------------------------------===//
//
// A program for a CPU has a function for what is long and seldom needed (Builder.h, apart). It is
// declared with an attribute and its operand, before the ops that need it are expanded; where it
// is none, they hold all of it.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_COMPILER_MATH_APART_H
#define GRAPHC_COMPILER_MATH_APART_H

#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/TypeUtilities.h"

#include <string>

namespace graphc::math {

/// Of a function that is declared so, and of its calls.
inline constexpr llvm::StringLiteral kApartAttr = "graphc.apart";
/// Its name for operands of the width of `x`: of each there is one, of a vector as long as a
/// register.
inline std::string nameApart(llvm::StringRef name, mlir::Type x) {
  return (name + llvm::Twine(mlir::getElementTypeOrSelf(x).getIntOrFloatBitWidth())).str();
}

/// The results of the program's function for a vector, register by register; none where it has no
/// such function.
llvm::SmallVector<mlir::Value> callApart(mlir::OpBuilder &ops, mlir::Location loc,
                                         llvm::StringRef name, mlir::Value x);

} // namespace graphc::math

#endif // GRAPHC_COMPILER_MATH_APART_H
