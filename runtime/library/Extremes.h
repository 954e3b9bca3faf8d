//===- Extremes.h - The smallest and the largest of integers in memory ------------------------===//
#ifndef GRAPHC_RUNTIME_LIBRARY_EXTREMES_H
#define GRAPHC_RUNTIME_LIBRARY_EXTREMES_H

#include "runtime/library/MaskLoops.h"

#include <algorithm>
#include <utility>

namespace graphc::rt::library {
namespace detail {

/// A loop without a way out, which becomes vectors of what the function it is inlined into may use.
template <typename T>
[[gnu::always_inline]] inline std::pair<T, T> extremes(const T *values, int64_t count) {
  T least = values[0], most = values[0];
  for (int64_t i = 1; i < count; ++i) {
    least = std::min(least, values[i]);
    most = std::max(most, values[i]);
  }
  return {least, most};
}

#if defined(__x86_64__)
template <typename T>
__attribute__((target("avx512f,avx512vl,avx512bw,avx512dq"))) std::pair<T, T>
wideExtremes(const T *values, int64_t count) {
  return extremes(values, count);
}

template <typename T>
__attribute__((target("avx2"))) std::pair<T, T> avx2Extremes(const T *values, int64_t count) {
  return extremes(values, count);
}
#endif

} // namespace detail

/// Of at least one integer.
template <typename T>
std::pair<T, T> extremesOf(const T *values, int64_t count) {
#if defined(__x86_64__)
  if (hasAvx512())
    return detail::wideExtremes(values, count);
  if (hasAvx2())
    return detail::avx2Extremes(values, count);
#endif
  return detail::extremes(values, count);
}

} // namespace graphc::rt::library

#endif // GRAPHC_RUNTIME_LIBRARY_EXTREMES_H
