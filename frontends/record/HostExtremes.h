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

/// That of at least `kLanes` elements, side by side.
template <int64_t kLanes, typename T, typename F>
[[gnu::always_inline]] inline T bestOfLanes(const T *x, int64_t count, F isBetter) {
  T lanes[kLanes];
  std::copy_n(x, kLanes, lanes);
  int64_t i = kLanes;
  for (; i + kLanes <= count; i += kLanes)
    for (int64_t lane = 0; lane < kLanes; ++lane)
      lanes[lane] = isBetter(x[i + lane], lanes[lane]) ? x[i + lane] : lanes[lane];
  for (int64_t half = kLanes / 2; half > 0; half /= 2)
    for (int64_t lane = 0; lane < half; ++lane)
      lanes[lane] = isBetter(lanes[lane + half], lanes[lane]) ? lanes[lane + half] : lanes[lane];
  T found = lanes[0];
  for (; i < count; ++i)
    found = isBetter(x[i], found) ? x[i] : found;
  return found;
}

/// The value of which no other is better: the order of comparisons changes nothing but which of
/// two zeros is found.
template <typename T, typename F>
[[gnu::always_inline]] inline T best(const T *x, int64_t count, F isBetter) {
  constexpr int64_t kFew = 16, kMany = 64;
  if (count >= 4 * kMany)
    return bestOfLanes<kMany>(x, count, isBetter);
  return count >= kFew ? bestOfLanes<kFew>(x, count, isBetter) : bestOfLanes<1>(x, count, isBetter);
}

/// The least or largest number of a vector; -0 is smaller than +0. False where one is NaN.
template <typename T>
[[gnu::always_inline]] inline bool findExtreme(const T *x, int64_t count, bool isLargest,
                                               T &found) {
  if (holdsNan(x, count))
    return false;
  found = isLargest ? best(x, count, [](T a, T b) { return a > b; })
                    : best(x, count, [](T a, T b) { return a < b; });
  if constexpr (std::is_floating_point_v<T>)
    if (found == 0)
      for (int64_t i = 0; i < count; ++i)
        if (x[i] == 0 && std::signbit(x[i]) != isLargest) {
          found = x[i];
          break;
        }
  return true;
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
  constexpr int64_t kBlock = 256;
  auto isBetter = [](T a, T b) { return kIsLargest ? a > b : a < b; };
  if (x[0] != x[0])
    return -1;
  if (count <= 16 * kBlock) { // in the first cache
    if (holdsNan(x, count))
      return -1;
    return firstPlace(x, count, best(x, count, isBetter));
  }
  T found = x[0];
  int64_t place = 0;
  auto look = [&](int64_t first, int64_t some) {
    if (holdsNan(x + first, some))
      return false;
    if (const T here = best(x + first, some, isBetter); isBetter(here, found)) {
      found = here;
      place = first + firstPlace(x + first, some, here);
    }
    return true;
  };
  constexpr int kMostMet = 4; // blocks of numbers that rise
  int met = 0;
  int64_t i = 0;
  for (; i + kBlock <= count && met < kMostMet; i += kBlock) {
    Tally<T> isMet = 0; // a better one or a NaN: of random elements seldom, once some were seen
    for (int64_t k = 0; k < kBlock; ++k)
      isMet |= static_cast<Tally<T>>(kIsLargest ? !(x[i + k] <= found) : !(x[i + k] >= found));
    if (isMet && !look(i, kBlock))
      return -1;
    met += isMet != 0;
  }
  return i == count || look(i, count - i) ? place : -1;
}

} // namespace graphc::small

#endif // GRAPHC_FRONTENDS_RECORD_HOSTEXTREMES_H
