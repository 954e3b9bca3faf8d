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
/// How many elements of a real array of the cpu there are between each two of rising edges, the
/// last of which belongs to what is below it; both are computed first. `alike`: at about equal
/// distances. Of other arrays it has to be recorded.
Outcome histogram(const Array &x, const Array &edges, bool alike);
/// Reductions, converted to `t`, of the slices of an array of the cpu along an axis, which is
/// computed first: from each start to the next one, the last to the end; where the next is not
/// larger, the element itself. Starts outside have to be recorded, and what has a floating-point
/// error to tell.
Outcome reduceSlices(op::ReduceKind kind, const Array &x, size_t axis, DType t,
                     std::span<const int64_t> starts);
Outcome reduceSlices(op::ReduceKind kind, const Array &x, size_t axis, DType t,
                     const Array &starts);
/// The least or largest complex number along an axis of an array of the cpu, which is computed
/// first, or its place; `running`: of the elements up to each.
Outcome complexExtremes(op::ReduceKind kind, const Array &x, size_t axis, bool running);
/// The same of the elements at `from`, along the middle one of three axes, into `out`.
void findComplexExtremes(op::ReduceKind kind, const void *from, const std::array<int64_t, 3> &sizes,
                         bool running, DType t, const NodeRef &out);
/// As sorted() (Small.h), along an axis of a row-major array.
Outcome sortedAlong(const Array &x, size_t axis, Routine routine);
/// The least or largest of the floats of a computed array that are not NaN; where there are none,
/// and for many elements, it has to be recorded.
Outcome extremeOfNumbers(bool isLargest, const Array &x);

/// The same as reduce() of bools' extremes and their places, by the loops of integers.
Outcome extremesOfBools(op::ReduceKind kind, const Array &x, std::span<const int64_t> axes,
                        const Shape &shape);
/// A chain of products is no longer (docs/numerics.md).
inline constexpr int64_t kMostDepth = 2048;
/// As matmul() of float32 or float64, where chains are longer: those of their blocks, added.
Outcome productOfBlocks(const Array &x, const Array &y, DType t, const Shape &shape);

} // namespace graphc::small

#endif // GRAPHC_FRONTENDS_RECORD_SMALLNUMERIC_H
