//===- Correlate.h - Sums of shifted products -------------------------------------------------===//
#ifndef GRAPHC_RUNTIME_LIBRARY_CORRELATE_H
#define GRAPHC_RUNTIME_LIBRARY_CORRELATE_H

#include <cstdint>

namespace graphc::rt::library {

/// Two vectors, and which of their n + m - 1 sums are wanted: sum j is that of all products
/// factors[i] * values[i + j - (m - 1)] that there are.
template <typename T>
struct Correlation {
  const T *factors;
  int64_t m;
  const T *values;
  int64_t n;
  int64_t first, count; ///< sums
};

/// The sums, on several threads when there are many products. A sum follows chains of fused
/// multiply-adds in the order of the factors, 64 factors a chain where there are at most 256, else
/// 256; chains are added one after the other.
template <typename T>
void correlate(const Correlation<T> &given, T *out);

} // namespace graphc::rt::library

#endif // GRAPHC_RUNTIME_LIBRARY_CORRELATE_H
