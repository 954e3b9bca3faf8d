//===- ResidueSquares.h - Chains of quadratics modulo a constant, in 52-bit products ----------===//
#ifndef GRAPHC_COMPILER_MATH_RESIDUESQUARES_H
#define GRAPHC_COMPILER_MATH_RESIDUESQUARES_H

#include "compiler/math/Intervals.h"
#include "compiler/math/MlirBuilder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace graphc::math {

/// Vectors of int64 that go through x -> (a x^2 + b x + c) % p several times, with constants a, b
/// and c of each step and one odd p below 2^25, are kept as u = s x + t modulo p with s and t such
/// that a step is u^2 + C: three 52-bit products for each, in integers below 2 p. What is used
/// otherwise is made canonical. A first step that reads an unknown value compares it with the bound
/// up to which this is exact and computes the integers where a lane is beyond it. For targets with
/// `products52`; ranges of the replaced values are noted in `intervals`.
void expandResidueSquares(mlir::func::FuncOp func, Intervals &intervals,
                          MlirBuilder::Target target);

} // namespace graphc::math

#endif // GRAPHC_COMPILER_MATH_RESIDUESQUARES_H
