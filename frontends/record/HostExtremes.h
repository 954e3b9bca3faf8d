//===- HostExtremes.h - The smallest and the largest in host memory ---------------------------===//
//
// Loops without a way out, which become vectors of what the function they are inlined into may use.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_HOSTEXTREMES_H
#define GRAPHC_FRONTENDS_RECORD_HOSTEXTREMES_H

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <type_traits>

namespace graphc::small {

/// What counts elements of this type in lanes of its width, so that none is narrowed.
template <typename T>
using Tally = std::conditional_t<sizeof(T) == 8, uint64_t,
                                 std::conditional_t<sizeof(T) == 4, uint32_t, uint16_t>>;

template <typename T>
[[gnu::always_inline]] inline bool holdsNan(const T *x, int64_t count) {
  bool found = false;
  if constexpr (std::is_floating_point_v<T>) {
    Tally<T> isNan = 0;
    for (int64_t i = 0; i < count; ++i)
      isNan |= static_cast<Tally<T>>(x[i] != x[i]);
    found = isNan != 0;
  }
  return found;
}

/// That of at least `kLanes` elements, side by side; `isNan` is not 0 where one of them is NaN.
template <int64_t kLanes, typename T, typename F>
[[gnu::always_inline]] inline T bestOfLanes(const T *x, int64_t count, F isBetter,
                                            Tally<T> &isNan) {
  T lanes[kLanes];
  std::copy_n(x, kLanes, lanes);
  isNan = 0;
  for (int64_t lane = 0; lane < kLanes; ++lane)
    isNan |= static_cast<Tally<T>>(x[lane] != x[lane]);
  int64_t i = kLanes;
  for (; i + kLanes <= count; i += kLanes)
    for (int64_t lane = 0; lane < kLanes; ++lane) {
      const T here = x[i + lane];
      lanes[lane] = isBetter(here, lanes[lane]) ? here : lanes[lane];
      isNan |= static_cast<Tally<T>>(here != here);
    }
  for (int64_t half = kLanes / 2; half > 0; half /= 2)
    for (int64_t lane = 0; lane < half; ++lane)
      lanes[lane] = isBetter(lanes[lane + half], lanes[lane]) ? lanes[lane + half] : lanes[lane];
  T found = lanes[0];
  for (; i < count; ++i) {
    found = isBetter(x[i], found) ? x[i] : found;
    isNan |= static_cast<Tally<T>>(x[i] != x[i]);
  }
  return found;
}

/// The value of which no other is better: the order of comparisons changes nothing but which of
/// two zeros is found. False where an element is NaN.
template <typename T, typename F>
[[gnu::always_inline]] inline bool best(const T *x, int64_t count, F isBetter, T &found) {
  constexpr int64_t kFew = 16, kMany = sizeof(T) == 4 ? 128 : 64;
  Tally<T> isNan;
  found = count >= 4 * kMany ? bestOfLanes<kMany>(x, count, isBetter, isNan)
          : count >= kFew    ? bestOfLanes<kFew>(x, count, isBetter, isNan)
                             : bestOfLanes<1>(x, count, isBetter, isNan);
  return isNan == 0;
}

/// The least or largest number of a vector; -0 is smaller than +0. False where one is NaN.
template <typename T>
[[gnu::always_inline]] inline bool findExtreme(const T *x, int64_t count, bool isLargest,
                                               T &found) {
  const bool isKnown = isLargest ? best(
                                       x, count, [](T a, T b) { return a > b; }, found)
                                 : best(x, count, [](T a, T b) { return a < b; }, found);
  if constexpr (std::is_floating_point_v<T>)
    if (isKnown && found == 0)
      for (int64_t i = 0; i < count; ++i)
        if (x[i] == 0 && std::signbit(x[i]) != isLargest) {
          found = x[i];
          break;
        }
  return isKnown;
}

/// Where a value stands first that is among the elements.
template <typename T>
[[gnu::always_inline]] inline int64_t firstPlace(const T *x, int64_t count, T value) {
  constexpr int64_t kLanes = 64;
  int64_t i = 0;
  for (Tally<T> isHere = 0; i + kLanes <= count; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane)
      isHere |= static_cast<Tally<T>>(x[i + lane] == value);
    if (isHere)
      break;
  }
  return std::find(x + i, x + count, value) - x;
}

/// The first place of the smallest or largest; negative where an element is NaN.
template <bool kIsLargest, typename T>
[[gnu::always_inline]] inline int64_t placeOfExtreme(const T *x, int64_t count) {
  constexpr int64_t kBlock = 2048; // whose elements are looked at again
  auto isBetter = [](T a, T b) { return kIsLargest ? a > b : a < b; };
  T found{};
  int64_t first = -1;
  for (int64_t i = 0; i < count; i += kBlock) {
    T here;
    if (!best(x + i, std::min(kBlock, count - i), isBetter, here))
      return -1;
    if (first < 0 || isBetter(here, found)) {
      found = here;
      first = i;
    }
  }
  return first + firstPlace(x + first, std::min(kBlock, count - first), found);
}

} // namespace graphc::small

#endif // GRAPHC_FRONTENDS_RECORD_HOSTEXTREMES_H
