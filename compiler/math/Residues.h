//===- Residues.h - Chains of remainders in f64 -----------------------------------------------===//
#ifndef GRAPHC_COMPILER_MATH_RESIDUES_H
#define GRAPHC_COMPILER_MATH_RESIDUES_H

#include "compiler/math/Intervals.h"
#include "compiler/math/MlirBuilder.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace graphc::math {

/// Vectors of int64 that go through several remainders by one constant p, with sums and products
/// between them, are kept as f64 integers congruent to the true values modulo p: a step then is a
/// few float operations, and only what is used otherwise is made canonical. Steps that read
/// unknown values compare them with the bound up to which this is exact and compute the integers
/// where a lane is beyond it. Ranges of the replaced values are noted in `intervals`.
void expandResidueChains(mlir::func::FuncOp func, Intervals &intervals, MlirBuilder::Target target);

} // namespace graphc::math

#endif // GRAPHC_COMPILER_MATH_RESIDUES_H
