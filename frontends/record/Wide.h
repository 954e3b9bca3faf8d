//===- Wide.h - Loops that are compiled for wider vectors -----------------------------------===//
//
// A loop is compiled a second time, for vectors that not every machine has; no bit depends on how
// many elements are taken at a time.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_WIDE_H
#define GRAPHC_FRONTENDS_RECORD_WIDE_H

#include <cstdint>

namespace graphc::small {

/// Of a function that is compiled for wider vectors than every machine has, which hasWide() tells.
#if defined(__x86_64__)
#define GRAPHC_WIDE __attribute__((target("avx2,fma")))
inline bool hasWide() {
  static const bool has = __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2");
  return has;
}
/// Of those with twice as wide ones, for loops whose operations are there alone.
#define GRAPHC_WIDEST __attribute__((target("avx512f,avx512dq,avx512vl")))
inline bool hasWidest() {
  static const bool has = __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  return has;
}
#else
#define GRAPHC_WIDE
#define GRAPHC_WIDEST
inline bool hasWide() { return true; }
inline bool hasWidest() { return true; }
#endif

/// Fewer elements are not worth asking.
inline constexpr int64_t kWorthWide = 64;

} // namespace graphc::small

#endif // GRAPHC_FRONTENDS_RECORD_WIDE_H
