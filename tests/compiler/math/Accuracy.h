//===- Accuracy.h - Errors in ulp, sampled arguments and the printed table --------------------===//
#ifndef GRAPHC_TESTS_COMPILER_MATH_ACCURACY_H
#define GRAPHC_TESTS_COMPILER_MATH_ACCURACY_H

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <type_traits>

namespace graphc::math::test {

template <class T>
using BitsOf = std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>;

/// Exact enough for results of type T: double for float.
template <class T>
using Wide = std::conditional_t<sizeof(T) == 4, double, long double>;

/// Equal bits, or both NaN (of any sign and payload).
template <class T>
bool sameValue(T a, T b) {
  return (a != a && b != b) || std::bit_cast<BitsOf<T>>(a) == std::bit_cast<BitsOf<T>>(b);
}

/// Distance of `got` from the exact value in units of the last place that T has there; 1/2 stands
/// for all correctly rounded results. Infinite when one is NaN and the other is not, when a zero
/// has the wrong sign, or when an infinity stands for a value more than one step below it.
template <class T>
double errorInUlp(T got, long double exact) {
  constexpr int precision = std::numeric_limits<T>::digits;
  constexpr int least = std::numeric_limits<T>::min_exponent - precision;
  constexpr double wrong = std::numeric_limits<double>::infinity();
  T rounded = static_cast<T>(exact);
  if (sameValue(got, rounded))
    return 0.5;
  if (got != got || exact != exact || std::signbit(got) != std::signbit(exact))
    return wrong;
  T largest = std::numeric_limits<T>::max();
  if (std::isinf(got) || std::isinf(rounded))
    return std::abs(got) >= largest && std::abs(rounded) >= largest ? 1 : wrong;
  int exponent = 0;
  (void)std::frexp(exact, &exponent);
  long double ulp = std::ldexp(1.0L, std::max(exponent - precision, least));
  return static_cast<double>(std::abs(static_cast<long double>(got) - exact) / ulp);
}

/// Every f32 and many more samples: minutes instead of seconds.
inline bool exhaustive() {
  const char *value = std::getenv("GRAPHC_EXHAUSTIVE");
  return value && std::string(value) == "1";
}

/// Of how many f32 one is tested: all when exhaustive; any other number in the variable is that
/// step.
inline uint64_t floatStep() {
  const char *value = std::getenv("GRAPHC_EXHAUSTIVE");
  uint64_t step = value ? std::strtoull(value, nullptr, 10) : 0;
  return step ? step : 1021;
}

/// The worst error of one table row.
template <class T>
struct Worst {
  double ulp = 0;
  T x = 0;
  T y = 0;
  uint64_t samples = 0;

  void add(double error, T atX, T atY = 0) {
    ++samples;
    if (error > ulp)
      *this = {error, atX, atY, samples};
  }
  void merge(const Worst &o) {
    uint64_t total = samples + o.samples;
    if (o.ulp > ulp)
      *this = o;
    samples = total;
  }
  void print(const char *function, const char *range) const {
    std::printf("| %s | %s | %s | %llu | %.3f | %a | %a |\n", function,
                sizeof(T) == 4 ? "f32" : "f64", range, static_cast<unsigned long long>(samples),
                ulp, static_cast<double>(x), static_cast<double>(y));
  }
};

/// A float64 with uniformly random bits (every magnitude, NaN and infinities included).
inline double randomBits64(std::mt19937_64 &random) { return std::bit_cast<double>(random()); }
inline double uniform(std::mt19937_64 &random, double lo, double hi) {
  return lo + (hi - lo) * (static_cast<double>(random() >> 11) * 0x1p-53);
}

} // namespace graphc::math::test

#endif // GRAPHC_TESTS_COMPILER_MATH_ACCURACY_H
