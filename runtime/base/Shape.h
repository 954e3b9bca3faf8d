//===- Shape.h - Shapes and overflow-checked size arithmetic ----------------------------------===//
#ifndef GRAPHC_RUNTIME_BASE_SHAPE_H
#define GRAPHC_RUNTIME_BASE_SHAPE_H

#include "runtime/base/DType.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace graphc {

/// Largest rank accepted anywhere (NumPy's limit).
inline constexpr int64_t kMaxRank = 64;

/// A list of dimension sizes; up to six need no allocation. Copies are deep, moves are cheap.
class Shape {
public:
  Shape() = default;
  Shape(std::initializer_list<int64_t> dims) { assign({dims.begin(), dims.size()}); }
  explicit Shape(std::span<const int64_t> dims) { assign(dims); }
  Shape(const Shape &other) : length(other.length) {
    if (other.large)
      assign(other);
    else
      std::copy_n(other.small, kInline, small); // of a known length: no loop, no call
  }
  Shape(Shape &&other) noexcept = default;
  Shape &operator=(const Shape &other) {
    if (other.large && this != &other) {
      assign(other);
    } else if (!other.large) {
      length = other.length;
      std::copy_n(other.small, kInline, small);
      large.reset();
    }
    return *this;
  }
  Shape &operator=(Shape &&other) noexcept = default;

  int64_t rank() const { return length; }
  size_t size() const { return static_cast<size_t>(length); }
  int64_t *data() { return large ? large.get() : small; }
  const int64_t *data() const { return large ? large.get() : small; }
  int64_t *begin() { return data(); }
  int64_t *end() { return data() + length; }
  const int64_t *begin() const { return data(); }
  const int64_t *end() const { return data() + length; }
  int64_t &operator[](size_t i) { return data()[i]; }
  int64_t operator[](size_t i) const { return data()[i]; }
  operator std::span<const int64_t>() const { return {data(), size()}; }
  void assign(std::span<const int64_t> dims) {
    resize(dims.size());
    std::copy(dims.begin(), dims.end(), data());
  }
  /// Contents are unspecified afterwards.
  void resize(size_t rank) {
    if (rank > kInline) {
      if (!large || rank > capacity) {
        large = std::make_unique<int64_t[]>(rank);
        capacity = rank;
      }
    } else {
      large.reset();
    }
    length = static_cast<int64_t>(rank);
  }
  /// Keeps the first `rank` sizes.
  void shrink(size_t rank) {
    if (large && rank <= kInline) {
      std::copy_n(large.get(), rank, small);
      large.reset();
    }
    length = static_cast<int64_t>(rank);
  }
  friend bool operator==(const Shape &a, const Shape &b) {
    return std::equal(a.begin(), a.end(), b.begin(), b.end());
  }

private:
  static constexpr size_t kInline = 6;
  int64_t length = 0;
  size_t capacity = 0;
  int64_t small[kInline] = {};
  std::unique_ptr<int64_t[]> large;
};

/// Nothing when the exact result does not fit in 64 bits.
inline std::optional<int64_t> checkedAdd(int64_t a, int64_t b) {
  int64_t r;
  return __builtin_add_overflow(a, b, &r) ? std::nullopt : std::optional(r);
}
inline std::optional<int64_t> checkedSub(int64_t a, int64_t b) {
  int64_t r;
  return __builtin_sub_overflow(a, b, &r) ? std::nullopt : std::optional(r);
}
inline std::optional<int64_t> checkedMul(int64_t a, int64_t b) {
  int64_t r;
  return __builtin_mul_overflow(a, b, &r) ? std::nullopt : std::optional(r);
}
/// Division rounding down / up; nothing for division by zero and INT64_MIN / -1.
std::optional<int64_t> checkedFloorDiv(int64_t a, int64_t b);
std::optional<int64_t> checkedCeilDiv(int64_t a, int64_t b);

/// Elements of a shape (1 for rank 0). Nothing when a size is negative or when the product of the
/// non-zero sizes does not fit: a shape with a zero in it must still be addressable.
std::optional<int64_t> elementCount(std::span<const int64_t> shape);
/// Bytes of a dense array; nothing when they do not fit.
std::optional<int64_t> byteCount(std::span<const int64_t> shape, DType dtype);
/// "(3, 4)", "(3,)", "()" as NumPy prints a shape.
std::string shapeText(std::span<const int64_t> shape);

} // namespace graphc

#endif // GRAPHC_RUNTIME_BASE_SHAPE_H
