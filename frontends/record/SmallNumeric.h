//===- SmallNumeric.h - Functions of small arrays that are several operations -----------------===//
//
// Formulas over operations whose results no rounding decides, or whose order is given, in one loop.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_SMALLNUMERIC_H
#define GRAPHC_FRONTENDS_RECORD_SMALLNUMERIC_H

#include "frontends/record/Small.h"

#include <string_view>

namespace graphc::small {

enum class Numeric : uint8_t { FMod, FMax, FMin, Spacing };
std::optional<Numeric> numericFromName(std::string_view name);
/// The exact function of operands that broadcast to `shape`, as float32 or float64. What meets or
/// gives an infinity or a NaN has to be recorded.
Outcome numeric(Numeric kind, std::span<const Operand> operands, DType t, const Shape &shape,
                rt::Device &device);
/// The piecewise linear function through points (`places`, which rise, and `values`) at the numbers
/// `x`, by the operations that the package records for it; the end values beyond them. Finite
/// float64 vectors of one size.
Outcome interpolate(const Operand &x, const Shape &shape, const Array &places, const Array &values);
/// A polynomial with these coefficients, the highest power first, at numbers, by Horner's rule; and
/// so many powers of each number of a vector as rows, by repeated products. Of float64; what meets
/// or gives an infinity or a NaN has to be recorded.
Outcome polynomial(const Array &coefficients, const Array &x);
Outcome powers(const Array &x, int64_t count, bool isRising);
/// Sums of the weights of each integer from 0 to the largest of a vector, at least `least` of them,
/// added in order. Float64 weights; as bincount() otherwise.
Outcome weightedBincount(const Array &x, const Array &weights, int64_t least);
/// Reductions of the parts of a vector from each start to the next one, the last to the end; where
/// the next is not larger, the element itself. Starts outside have to be recorded.
Outcome reduceAt(op::ReduceKind kind, const Array &x, const Array &starts);

} // namespace graphc::small

#endif // GRAPHC_FRONTENDS_RECORD_SMALLNUMERIC_H
