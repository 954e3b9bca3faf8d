//===- Elementary.h - Elementary functions as arith and math ops ------------------------------===//
#ifndef GRAPHC_COMPILER_MATH_ELEMENTARY_H
#define GRAPHC_COMPILER_MATH_ELEMENTARY_H

#include "compiler/math/MlirBuilder.h"

namespace graphc::math {

/// The value of a float function of one or two operands of `width` bits; null for any other op.
mlir::Value expandElementary(mlir::Operation *op, MlirBuilder &builder, mlir::ValueRange operands,
                             unsigned width);

/// The body of a function that was declared for ops of the program (Apart.h).
void defineApart(mlir::func::FuncOp function, MlirBuilder::Target target);

} // namespace graphc::math

#endif // GRAPHC_COMPILER_MATH_ELEMENTARY_H
