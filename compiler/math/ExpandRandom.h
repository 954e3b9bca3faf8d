//===- ExpandRandom.h - Random ops as arith and math ops --------------------------------------===//
#ifndef GRAPHC_COMPILER_MATH_EXPANDRANDOM_H
#define GRAPHC_COMPILER_MATH_EXPANDRANDOM_H

#include "compiler/math/MlirBuilder.h"

namespace graphc::math {

/// The value of a random op on scalars (lanes 1) or vectors; null for any other op.
mlir::Value expandRandom(mlir::Operation *op, mlir::OpBuilder &builder, int64_t lanes,
                         MlirBuilder::Target target);

} // namespace graphc::math

#endif // GRAPHC_COMPILER_MATH_EXPANDRANDOM_H
