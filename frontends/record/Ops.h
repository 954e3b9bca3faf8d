//===- Ops.h - Operations on arrays -----------------------------------------------------------===//
//
// NumPy's meaning: promotion, broadcasting, views and in-place rules. Everything records; a result
// is an Array that owns a new storage unless the text says view. Errors are raised here, never at
// evaluation.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_OPS_H
#define GRAPHC_FRONTENDS_RECORD_OPS_H

#include "dialects/opset/Promote.h"
#include "frontends/record/Array.h"
#include "runtime/base/Routine.h"

#include <optional>
#include <span>
#include <vector>

namespace graphc {

/// An array or a number. A number is weak, or has a dtype of its own (a NumPy scalar). Borrows the
/// array.
struct Operand {
  Operand() = default;
  Operand(const Array &a) : array(&a) {}
  Operand(op::Scalar s) : scalar(s) {}
  Operand(op::Scalar s, DType strong) : scalar(s), dtype(strong) {}
  op::OperandType type() const;
  std::span<const int64_t> shape() const;

  const Array *array = nullptr;
  op::Scalar scalar;
  std::optional<DType> dtype; ///< of a scalar that is not weak
};

using Axes = std::optional<std::vector<int64_t>>;

namespace ops {

/// Any op of category Elementwise but cast.
Result<Array> elementwise(op::OpKind kind, std::span<const Operand> operands);
/// x ** y: like elementwise, with NumPy's short cuts for the scalar exponents 0.5, 1, 2 and -1.
Result<Array> power(const Operand &x, const Operand &y);
/// x op= y. DType error unless the result casts to x's dtype by same_kind; Shape error when y
/// broadcasts beyond x.
Status inPlace(op::OpKind kind, Array &x, const Operand &y);
Result<Array> cast(const Array &x, DType dtype);
/// The same value in a storage of its own; costs nothing until one of the two is written.
Result<Array> copy(const Array &x);
Result<DType> resultType(std::span<const Operand> operands);

Result<Array> reduce(op::ReduceKind kind, const Array &x, const Axes &axes, bool keepdims,
                     std::optional<DType> dtype);
/// Running sums or products; no axis: of the flattened array.
Result<Array> scan(op::ReduceKind kind, const Array &x, std::optional<int64_t> axis,
                   std::optional<DType> dtype);
/// Scalars are refused.
Result<Array> matmul(const Array &x, const Array &y);
/// Any random op (DTypeClass::Random): uint64 index, stream and key, float64 parameters, broadcast
/// together.
Result<Array> random(op::OpKind kind, std::span<const Array> operands);
/// A 0-d uint64 for a stream or a key: an argument of the kernels that read it as such, whatever
/// its value.
Result<Array> randomWord(uint64_t bits, rt::Device *device);

/// A routine of the runtime's library on operands of its canonical ranks (runtime/base/Routine.h),
/// which give a result of this type.
Result<Array> library(Routine routine, std::span<const Array> operands, std::vector<int64_t> params,
                      const op::TensorType &result);

/// Views.
Result<Array> index(const Array &x, std::span<const IndexItem> items);
Result<Array> transpose(const Array &x, const Axes &axes);
Result<Array> expandDims(const Array &x, std::vector<int64_t> axes);
Result<Array> squeeze(const Array &x, const Axes &axes);
Result<Array> flip(const Array &x, const Axes &axes);
/// The elements of the storage of `x` at an offset and strides (elements), which may overlap.
/// InvalidArgument when one is outside, or when `x` has no layout.
Result<Array> strided(const Array &x, const Shape &shape, const Shape &strides, int64_t offset);
/// The real (0) or imaginary (1) parts of a complex array.
Result<Array> part(const Array &x, int64_t number);
/// The same bytes as elements of another dtype, along the last axis (NumPy's `view`).
/// InvalidArgument, in NumPy's words, where they do not fit.
Result<Array> recast(const Array &x, DType to);
/// Read-only.
Result<Array> broadcastTo(const Array &x, const Shape &shape);
/// A view where NumPy gives one, else a copy. One size may be -1.
Result<Array> reshape(const Array &x, const Shape &shape);
/// x[items] = value, with NumPy's unsafe cast and broadcasting into the view.
Status setItem(Array &x, std::span<const IndexItem> items, const Operand &value);

/// One item of any index NumPy takes: a basic one, an array of integers, a mask, or a 0-d mask.
struct KeyItem {
  IndexItem basic;
  std::optional<Array> array; ///< integers or bools of any rank
  std::optional<bool> flag;   ///< a 0-d mask
  bool isBasic() const { return !array && !flag; }
  bool isOpen() const { return array && array->isOpen(); }
};
/// A copy of the elements an index with arrays names. Indices whose values are known are checked
/// here (Index error), others when the program runs. A mask of the first axes whose values are not
/// known gives an open size (OpenSize.h), other masks are counted here (reason "mask").
Result<Array> take(const Array &x, std::span<const KeyItem> key);
/// x[key] = value; with `combine`, x[key] = combine(x[key], value) one element after the other, so
/// that places named twice meet both (NumPy's ufunc.at).
Status put(Array &x, std::span<const KeyItem> key, const Operand &value,
           std::optional<op::OpKind> combine);
/// Positions of the true elements of a flattened mask, int64; of an open size when its values are
/// not known.
Result<Array> flatNonzero(const Array &mask);
/// Elements of x at `index` (int64 after conversion, any shape) along one axis; the index's axes
/// take the axis's place.
Result<Array> takeAxis(const Array &x, const Array &index, int64_t axis);
/// Nothing as axis flattens.
Result<Array> concatenate(std::span<const Array> xs, std::optional<int64_t> axis);

/// New arrays on `device`; null means the current one.
Result<Array> full(const Shape &shape, const op::Scalar &value, DType dtype, rt::Device *device);
Result<Array> iota(int64_t count, DType dtype, rt::Device *device);
/// NumPy's arange: count and element values as NumPy computes them. Without a dtype: int64 for
/// integers, else float64.
Result<Array> arange(const op::Scalar &start, const op::Scalar &stop, const op::Scalar &step,
                     std::optional<DType> dtype, rt::Device *device);
/// A copy of dense row-major host memory.
Result<Array> fromHost(const void *data, const op::TensorType &type, rt::Device *device);
/// Host memory of someone else without a copy; `owner` is held while the memory is used.
/// `isShared`: it may change meanwhile, as the array then does, and nothing that was recorded
/// before.
Result<Array> wrapHost(void *data, const op::TensorType &type, std::shared_ptr<void> owner,
                       rt::Device *device, bool isShared);
/// Computes x (reason "exchange") and copies it; x itself when it is there already.
Result<Array> toDevice(Array &x, rt::Device &device);

} // namespace ops
} // namespace graphc

#endif // GRAPHC_FRONTENDS_RECORD_OPS_H
