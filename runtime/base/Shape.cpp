//===- Shape.cpp - Shapes and overflow-checked size arithmetic --------------------------------===//
#include "runtime/base/Shape.h"

#include <limits>

namespace graphc {

std::optional<int64_t> checkedFloorDiv(int64_t a, int64_t b) {
  if (b == 0 || (a == std::numeric_limits<int64_t>::min() && b == -1))
    return std::nullopt;
  int64_t q = a / b;
  return q - ((a % b != 0) && ((a < 0) != (b < 0)));
}

std::optional<int64_t> checkedCeilDiv(int64_t a, int64_t b) {
  if (b == 0 || (a == std::numeric_limits<int64_t>::min() && b == -1))
    return std::nullopt;
  int64_t q = a / b;
  return q + ((a % b != 0) && ((a < 0) == (b < 0)));
}

std::optional<int64_t> elementCount(std::span<const int64_t> shape) {
  int64_t product = 1;
  bool empty = false;
  for (int64_t dim : shape) {
    if (dim < 0)
      return std::nullopt;
    if (dim == 0)
      empty = true;
    else if (__builtin_mul_overflow(product, dim, &product))
      return std::nullopt;
  }
  return empty ? 0 : product;
}

std::optional<int64_t> byteCount(std::span<const int64_t> shape, DType dtype) {
  auto elements = elementCount(shape);
  return elements ? checkedMul(*elements, itemSize(dtype)) : std::nullopt;
}

std::string shapeText(std::span<const int64_t> shape) {
  std::string text = "(";
  for (size_t i = 0; i < shape.size(); ++i)
    text += (i ? ", " : "") + std::to_string(shape[i]);
  return text + (shape.size() == 1 ? ",)" : ")");
}

} // namespace graphc
