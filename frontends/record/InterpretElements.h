//===- InterpretElements.h - Elements that interpreted programs read --------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_INTERPRETELEMENTS_H
#define GRAPHC_FRONTENDS_RECORD_INTERPRETELEMENTS_H

#include "frontends/record/SmallComplex.h"

#include <memory>

namespace graphc::plain {

/// Elements side by side: where they lie, or a copy.
template <typename T>
class Numbers {
public:
  Numbers() = default;
  explicit Numbers(small::Elements where)
      : base(std::move(where.base)), data(reinterpret_cast<const T *>(where.first)) {}
  explicit Numbers(std::unique_ptr<T[]> copy) : own(std::move(copy)), data(own.get()) {}
  explicit operator bool() const { return data != nullptr; }
  const T *get() const { return data; }
  T operator[](int64_t i) const { return data[i]; }

private:
  NodeRef base; ///< keeps the memory
  std::unique_ptr<T[]> own;
  const T *data = nullptr;
};

/// The elements of a computed array, broadcast to a shape, in row-major order; null where they
/// cannot be read.
template <typename T>
Result<Numbers<T>> numbersOf(const Array &x, std::span<const int64_t> shape) {
  const int64_t count = small::countOf(shape);
  auto copy = [&] { return std::make_unique_for_overwrite<T[]>(static_cast<size_t>(count)); };
  if (const KnownValue *known = x.known()) {
    auto out = copy();
    std::fill_n(out.get(), count, hostmath::valueOf<T>(known->bits));
    return Numbers<T>(std::move(out));
  }
  GRAPHC_ASSIGN(small::Elements elements, small::elementsOf(x));
  if (!elements.base || x.dtype() != hostmath::dtypeOf<T>())
    return Numbers<T>();
  if (std::ranges::equal(x.shape(), shape) && x.view().isContiguous())
    return Numbers<T>(std::move(elements));
  Shape strides;
  strides.resize(shape.size());
  const size_t skip = shape.size() - x.shape().size();
  for (size_t i = 0; i < shape.size(); ++i)
    strides[i] = i < skip || x.shape()[i - skip] == 1 ? 0 : x.view().strides()[i - skip];
  auto out = copy();
  small::gather(reinterpret_cast<const T *>(elements.first), shape, strides, out.get());
  return Numbers<T>(std::move(out));
}

template <typename T>
std::optional<T> ofInteger(op::OpKind kind, T a, T b) {
  switch (kind) {
  case op::OpKind::Floor:
  case op::OpKind::Ceil:
  case op::OpKind::Trunc:
  case op::OpKind::Round:
    return a;
  default:
    return hostmath::foldInteger(kind, a, b);
  }
}

/// What exact kinds give of one or two elements.
template <typename T>
std::optional<T> ofNumbers(op::OpKind kind, T a, T b) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
    return ofInteger(kind, a, b);
  else
    return hostmath::folded(kind, a, b);
}

} // namespace graphc::plain

#endif // GRAPHC_FRONTENDS_RECORD_INTERPRETELEMENTS_H
