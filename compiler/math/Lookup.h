//===- Lookup.h - Floats by an index of four bits ---------------------------------------------===//
#ifndef GRAPHC_COMPILER_MATH_LOOKUP_H
#define GRAPHC_COMPILER_MATH_LOOKUP_H

#include "compiler/math/Pieces.h"

#include "mlir/IR/Builders.h"

namespace graphc::math {

/// What a target has for it.
enum class Lookup {
  kNone,
  kMemory,    ///< loads from a table, a constant vector that emitters place
  kPermute8,  ///< permutations of eight floats (AVX2)
  kPermute16, ///< of sixteen (AVX-512)
};
constexpr int64_t kLookupEntries = kPieces;

/// Rows of kLookupEntries floats, one after the other, each at the low four bits of an index of 32
/// bits or of every lane of a vector of such. Not for kNone.
llvm::SmallVector<mlir::Value> lookUp(mlir::OpBuilder &ops, mlir::Location loc, Lookup how,
                                      llvm::ArrayRef<float> rows, mlir::Value index);

/// A read of one vector of a constant of several, at an index that is no constant; such a constant.
bool isTableRead(mlir::Operation *op);
bool isTable(mlir::Operation *op);

} // namespace graphc::math

#endif // GRAPHC_COMPILER_MATH_LOOKUP_H
