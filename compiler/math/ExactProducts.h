//===- ExactProducts.h - Sums of products that need no rounding of their own ------------------===//
#ifndef GRAPHC_COMPILER_MATH_EXACTPRODUCTS_H
#define GRAPHC_COMPILER_MATH_EXACTPRODUCTS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace graphc::math {

/// Sums and differences of a power of two times what is known to be of moderate size become `fma`:
/// the product is exact, so that one rounding gives the bits of two. To be called while operations
/// have their names and types. Float32 and float64.
void fuseExactProducts(mlir::func::FuncOp func);

} // namespace graphc::math

#endif // GRAPHC_COMPILER_MATH_EXACTPRODUCTS_H
