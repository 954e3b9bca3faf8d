//===- Infer.h - Shape and dtype rules of every operation -------------------------------------===//
//
// Concrete shapes only: the recorder always knows them. A rule C<n> of an op's record is marked `//
// <op>_c<n>` where it is enforced. Messages use NumPy's wording and start with `[op]`.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_DIALECTS_OPSET_INFER_H
#define GRAPHC_DIALECTS_OPSET_INFER_H

#include "dialects/opset/OpTable.h"
#include "runtime/base/Shape.h"
#include "runtime/base/Status.h"

#include <optional>
#include <span>

namespace graphc::op {

/// A tensor's type without ownership.
struct TensorView {
  DType dtype;
  std::span<const int64_t> shape;
};
struct TensorType {
  DType dtype = DType::Float32;
  Shape shape;
  operator TensorView() const { return {dtype, shape}; }
};

/// Checks one operation and gives its result type. `wanted` is the result type the caller asks for;
/// ops whose result follows from the operands use its dtype only where their rule is Explicit, the
/// others (broadcast, reshape, slice, full, iota) take their shape from it. Elementwise operands
/// must have equal shapes and dtypes here: promotion and broadcasting are separate nodes.
Result<TensorType> infer(OpKind kind, std::span<const TensorView> operands,
                         std::span<const int64_t> attrs, const TensorType &wanted);

/// "(2,3)" as NumPy writes shapes in broadcast errors.
std::string compactShape(std::span<const int64_t> shape);
/// NumPy broadcasting of several shapes. Shape error naming all of them.
Result<Shape> broadcastShapes(std::string_view op,
                              std::span<const std::span<const int64_t>> shapes);
/// Product of sizes; Shape error when it does not fit or a size is negative.
Result<int64_t> checkedCount(std::string_view op, std::span<const int64_t> shape);
/// An axis in [-rank, rank) as [0, rank). Axis error in NumPy's words.
Result<int64_t> normalizeAxis(std::string_view op, int64_t axis, int64_t rank);
/// Distinct axes, normalised and sorted; nothing means all of them.
Result<std::vector<int64_t>>
normalizeAxes(std::string_view op, const std::optional<std::vector<int64_t>> &axes, int64_t rank);
/// Replaces one -1 by what the element count leaves. Shape error: "cannot reshape array of size 6
/// into shape (4,4)".
Result<Shape> resolveReshape(std::span<const int64_t> from, std::span<const int64_t> to);
/// A permutation of the axes with negative entries resolved; nothing reverses them.
Result<std::vector<int64_t>> resolvePermutation(const std::optional<std::vector<int64_t>> &axes,
                                                int64_t rank);
/// Shape of a reduction; `keepdims` leaves size-1 axes. `axes` are normalised.
Shape reducedShape(std::span<const int64_t> shape, std::span<const int64_t> axes, bool keepdims);
/// Shape of x @ y for any ranks. Shape error in NumPy's words.
Result<Shape> matmulShape(std::span<const int64_t> x, std::span<const int64_t> y);

namespace detail {
Result<TensorType> inferMovement(OpKind kind, std::span<const TensorView> operands,
                                 std::span<const int64_t> attrs, const TensorType &wanted);
Result<TensorType> inferIndexed(OpKind kind, std::span<const TensorView> operands,
                                std::span<const int64_t> attrs);
/// update_slice and slice share this: every element addressed lies inside `shape`.
Status checkRegion(std::string_view op, std::span<const int64_t> shape,
                   std::span<const int64_t> starts, std::span<const int64_t> steps,
                   std::span<const int64_t> counts);
} // namespace detail

} // namespace graphc::op

#endif // GRAPHC_DIALECTS_OPSET_INFER_H
