//===- Format.h - Formats of floats, powers of two, sums in two parts, polynomials ------------===//
#ifndef GRAPHC_COMPILER_MATH_FORMAT_H
#define GRAPHC_COMPILER_MATH_FORMAT_H

#include "compiler/math/Builder.h"

#include <cstddef>
#include <limits>
#include <type_traits>

namespace graphc::math {

/// The float format of a width: constants of that width and its layout.
template <unsigned W>
struct Format;

template <>
struct Format<32> {
  using Float = float;
  using Bits = int32_t;
  static constexpr int kMantissa = 23;
  static constexpr int kBias = 127;
  /// Adding it to |x| < 2^22 rounds x to an integer (ties to even), which the low bits of the sum
  /// then hold.
  static constexpr float kRound = 0x1.8p23f;
  static constexpr int32_t kRoundBits = 0x4b400000;
  template <class B>
  static auto f(B &b, double v) {
    return b.f32(static_cast<float>(v));
  }
  template <class B>
  static auto i(B &b, int64_t v) {
    return b.i32(static_cast<int32_t>(v));
  }
};

template <>
struct Format<64> {
  using Float = double;
  using Bits = int64_t;
  static constexpr int kMantissa = 52;
  static constexpr int kBias = 1023;
  /// As above, for |x| < 2^51.
  static constexpr double kRound = 0x1.8p52;
  static constexpr int64_t kRoundBits = 0x4338000000000000;
  template <class B>
  static auto f(B &b, double v) {
    return b.f64(v);
  }
  template <class B>
  static auto i(B &b, int64_t v) {
    return b.i64(v);
  }
};

template <unsigned W>
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// 2^n for an integer n (of the float's width) in [-bias + 1, bias].
template <unsigned W, class B, class I>
auto powerOfTwo(B &b, I n) {
  using F = Format<W>;
  return b.fromBits(b.shl(b.iadd(n, F::i(b, F::kBias)), F::i(b, F::kMantissa)));
}

/// The same where n is known as a float too.
template <unsigned W, class B, class V, class I>
V powerOfTwo(B &b, I n, V floatN) {
  if constexpr (requires { b.scalesByFloats(floatN); })
    if (b.scalesByFloats(floatN))
      return b.scale(Format<W>::f(b, 1.0), n, floatN);
  return powerOfTwo<W>(b, n);
}

/// x * 2^n rounded once (overflow to infinity, gradual underflow), for 1/2 <= |x| < 4 or x NaN and
/// |n| <= 2 * bias - 2. The first product is exact, so only the second rounds.
template <unsigned W, class B, class V, class I>
V scaleByProducts(B &b, V x, I n) {
  using F = Format<W>;
  auto mantissa = F::i(b, F::kMantissa);
  // Both halves of n with their biases: floor(n / 2) + bias and the rest.
  I biased = b.iadd(n, F::i(b, 2 * F::kBias));
  I half = b.lshr(biased, F::i(b, 1));
  V first = b.mul(x, b.fromBits(b.shl(half, mantissa)));
  return b.mul(first, b.fromBits(b.shl(b.isub(biased, half), mantissa)));
}

/// The same where n is known as a float too: half of it is rounded by an addition (Format::kRound).
template <unsigned W, class B, class V, class I>
V scaleByProducts(B &b, V x, I n, V whole) {
  using F = Format<W>;
  I half = b.isub(b.toBits(b.fma(whole, F::f(b, 0.5), F::f(b, F::kRound))), F::i(b, F::kRoundBits));
  V first = b.mul(x, powerOfTwo<W>(b, half));
  return b.mul(first, powerOfTwo<W>(b, b.isub(n, half)));
}

/// The same, by the builder's own operation if it has one.
template <unsigned W, class B, class V, class I>
V scaleByPowerOfTwo(B &b, V x, I n) {
  if constexpr (requires { b.scale(x, n); })
    return b.scale(x, n);
  else
    return scaleByProducts<W>(b, x, n);
}

/// The same where n is known as a float too.
template <unsigned W, class B, class V, class I>
V scaleByPowerOfTwo(B &b, V x, I n, V floatN) {
  if constexpr (requires { b.scale(x, n, floatN); })
    return b.scale(x, n, floatN);
  else
    return scaleByPowerOfTwo<W>(b, x, n);
}

/// Sum of a and b as s + e exactly, for |a| >= |b| or a = 0 (or any a, b whose exponents say so).
template <class B, class V>
std::pair<V, V> fastTwoSum(B &b, V x, V y) {
  V s = b.add(x, y);
  return {s, b.add(b.sub(x, s), y)};
}

/// Sum of x and y as s + e exactly, in any order of magnitude.
template <class B, class V>
std::pair<V, V> twoSum(B &b, V x, V y) {
  V s = b.add(x, y);
  V fromY = b.sub(s, x);
  V fromX = b.sub(s, fromY);
  return {s, b.add(b.sub(x, fromX), b.sub(y, fromY))};
}

/// Product of x and y as p + e exactly (barring underflow).
template <class B, class V>
std::pair<V, V> twoProduct(B &b, V x, V y) {
  V p = b.mul(x, y);
  return {p, b.fma(x, y, b.neg(p))};
}

/// c[0] + c[1] x + ... + c[N-1] x^(N-1) by Horner's rule, one fma a step.
template <class B, class V, std::size_t N>
V horner(B &b, V x, const float (&c)[N]) {
  V p = b.f32(c[N - 1]);
  for (std::size_t i = N - 1; i-- > 0;)
    p = b.fma(p, x, b.f32(c[i]));
  return p;
}
template <class B, class V, std::size_t N>
V horner(B &b, V x, const double (&c)[N]) {
  V p = b.f64(c[N - 1]);
  for (std::size_t i = N - 1; i-- > 0;)
    p = b.fma(p, x, b.f64(c[i]));
  return p;
}

/// The coefficients c[k] * kFirst * kStep^k, which are exact where both are powers of two or their
/// negatives: horner then gives the bits of kFirst times the polynomial at kStep times x.
template <const auto &kPolynomial, int kFirst, int kStep>
inline constexpr auto kRescaled = [] {
  using T = std::remove_cvref_t<decltype(kPolynomial[0])>;
  struct {
    T steps[std::extent_v<std::remove_reference_t<decltype(kPolynomial)>>];
  } result{};
  T factor = kFirst;
  for (std::size_t k = 0; T &step : result.steps) {
    step = kPolynomial[k++] * factor;
    factor *= kStep;
  }
  return result;
}();

} // namespace graphc::math

#endif // GRAPHC_COMPILER_MATH_FORMAT_H
