//===- SmallTruths.h - What is zero, and what masks choose ------------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_SMALLTRUTHS_H
#define GRAPHC_FRONTENDS_RECORD_SMALLTRUTHS_H

#include "frontends/record/Wide.h"
#include "runtime/library/MaskLoops.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>

namespace graphc::small {

/// Larger arrays are counted by kernels, on several threads.
inline constexpr int64_t kMostCounted = 2 << 20;

namespace detail {
/// Lanes as wide as an element count up to 255 rounds.
template <typename T>
[[gnu::always_inline]] inline int64_t countZeros(std::span<const T> x) {
  constexpr size_t kLanes = 64 / sizeof(T), kRounds = 255;
  using Lane = std::conditional_t<
      sizeof(T) == 1, uint8_t,
      std::conditional_t<sizeof(T) == 2, uint16_t,
                         std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>;
  int64_t zeros = 0;
  size_t i = 0;
  while (x.size() - i >= kLanes) {
    const size_t rounds = std::min(kRounds, (x.size() - i) / kLanes);
    Lane counts[kLanes] = {};
    for (size_t round = 0; round < rounds; ++round, i += kLanes)
      for (size_t k = 0; k < kLanes; ++k)
        counts[k] = static_cast<Lane>(counts[k] + (x[i + k] == T{0}));
    for (Lane count : counts)
      zeros += static_cast<int64_t>(count);
  }
  return zeros + std::ranges::count(x.subspan(i), T{0});
}

template <typename T>
GRAPHC_WIDE int64_t countZerosWide(std::span<const T> x) {
  return countZeros(x);
}
} // namespace detail

/// How many elements are zero.
template <typename T>
int64_t countZeros(std::span<const T> x) {
  return hasWide() ? detail::countZerosWide(x) : detail::countZeros(x);
}

/// How many are true.
inline int64_t countTrue(std::span<const bool> mask) {
  return rt::library::maskLoops().count(reinterpret_cast<const uint8_t *>(mask.data()),
                                        std::ssize(mask));
}
/// Their places; there are `count`.
inline void placesOfTrue(std::span<const bool> mask, int64_t count, int64_t *to) {
  rt::library::maskLoops().places(reinterpret_cast<const uint8_t *>(mask.data()), std::ssize(mask),
                                  count, 0, to);
}
/// The words at their places; there are `count`.
template <typename T>
void takeTrue(std::span<const bool> mask, int64_t count, const T *from, T *to) {
  rt::library::maskLoops().compress[rt::library::loopOf(sizeof(T))](
      reinterpret_cast<const uint8_t *>(mask.data()), std::ssize(mask), count, from, to);
}
/// Writes one word, or after each other `count` of them, there.
template <typename T>
void fillTrue(std::span<const bool> mask, T value, T *to) {
  uint64_t bits = 0;
  std::memcpy(&bits, &value, sizeof value); // little-endian
  rt::library::maskLoops().fill[rt::library::loopOf(sizeof(T))](
      reinterpret_cast<const uint8_t *>(mask.data()), std::ssize(mask), bits, to);
}
template <typename T>
void putTrue(std::span<const bool> mask, int64_t count, const T *from, T *to) {
  rt::library::maskLoops().expand[rt::library::loopOf(sizeof(T))](
      reinterpret_cast<const uint8_t *>(mask.data()), std::ssize(mask), count, from, to);
}

} // namespace graphc::small

#endif
