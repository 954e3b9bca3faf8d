//===- Gamma.h - Logarithm of the gamma function ----------------------------------------------===//
//
// For a > 0: log gamma(2 + y) on |y| <= 1/2 is a polynomial; the recurrence leads there from below
// 8 by one logarithm of a product, and Stirling's series holds from 8 on. For a < 0 the reflection
// formula. Sums are kept in two parts, so that the zeros at 1 and 2 keep their relative accuracy.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_COMPILER_MATH_GAMMA_H
#define GRAPHC_COMPILER_MATH_GAMMA_H

#include "compiler/math/Log.h"
#include "compiler/math/Trig.h"

namespace graphc::math {

/// Below kTiny the reflected function is -log |x|.
template <unsigned W>
struct GammaTable;
template <>
struct GammaTable<32> {
  static constexpr double kTiny = 0x1p-30;
  static constexpr auto &kSlope = kOneLessEulerF32;
  static constexpr auto &kGamma = kGammaF32;
  static constexpr auto &kStirling = kStirlingF32;
  static constexpr auto &kHalfLogTwoPi = kHalfLogTwoPiF32;
  static constexpr auto &kLogPi = kLogPiF32;
};
template <>
struct GammaTable<64> {
  static constexpr double kTiny = 0x1p-60;
  static constexpr auto &kSlope = kOneLessEulerF64;
  static constexpr auto &kGamma = kGammaF64;
  static constexpr auto &kStirling = kStirlingF64;
  static constexpr auto &kHalfLogTwoPi = kHalfLogTwoPiF64;
  static constexpr auto &kLogPi = kLogPiF64;
};

/// log(w + low) as a sum of two, w > 0 of any size, |low| <= ulp(w).
template <unsigned W, class B, class V>
std::pair<V, V> logPair(B &b, V w, V low) {
  using F = Format<W>;
  auto [e, f] = exponentAndFraction<W>(b, w);
  // Where w is tiny or large its low part is scaled to nothing.
  V bounded = clampRange<W>(b, e, -60.0, 60.0);
  auto power = b.isub(F::i(b, 0),
                      b.isub(b.toBits(b.add(bounded, F::f(b, F::kRound))), F::i(b, F::kRoundBits)));
  V scaled = b.mul(b.select(b.eq(bounded, e), low, F::f(b, 0.0)), powerOfTwo<W>(b, power));
  auto [g, gLow] = fastTwoSum(b, f, scaled);
  // As logPairFromParts, but the square is exact and added before the polynomial.
  using L = LogTable<W>;
  auto [square, squareLow] = twoProduct(b, g, g);
  auto [sum, sumLow] = fastTwoSum(b, b.mul(e, F::f(b, L::kLn2[0])), g);
  auto [high, highLow] = fastTwoSum(b, sum, b.mul(square, F::f(b, -0.5)));
  V rest = b.add(b.fma(b.neg(gLow), g, gLow), b.add(sumLow, highLow));
  rest = b.fma(e, F::f(b, L::kLn2[1]), b.fma(squareLow, F::f(b, -0.5), rest));
  return fastTwoSum(b, high, b.fma(b.mul(square, g), horner(b, g, L::kLog), rest));
}

/// log gamma(2 + y) as a sum of two: slope y + c0 y^2 exactly, then y^3 (c1 + c2 y + ...).
template <unsigned W, class B, class V>
std::pair<V, V> logGammaNearTwo(B &b, V y) {
  using F = Format<W>;
  using T = GammaTable<W>;
  constexpr std::size_t count = std::size(T::kGamma);
  V c0 = F::f(b, T::kGamma[0]), rest = F::f(b, T::kGamma[count - 1]);
  for (std::size_t i = count - 1; i-- > 1;)
    rest = b.fma(rest, y, F::f(b, T::kGamma[i]));
  auto [linear, linearLow] = twoProduct(b, y, F::f(b, T::kSlope[0]));
  auto [square, squareLow] = twoProduct(b, y, y);
  auto [quadratic, quadraticLow] = twoProduct(b, square, c0);
  auto [sum, sumLow] = fastTwoSum(b, linear, quadratic);
  V low = b.fma(b.mul(y, square), rest, b.fma(squareLow, c0, quadraticLow));
  low = b.add(low, b.fma(y, F::f(b, T::kSlope[1]), b.add(linearLow, sumLow)));
  return {sum, low};
}

/// log gamma(a) as a sum of two, a > 0; infinite where it overflows.
template <unsigned W, class B, class V>
std::pair<V, V> logGammaOfPositive(B &b, V a) {
  using F = Format<W>;
  using T = GammaTable<W>;
  V zero = F::f(b, 0.0), one = F::f(b, 1.0);
  auto half = b.lt(a, F::f(b, 0.5)), low = b.lt(a, F::f(b, 1.5)), large = b.ge(a, F::f(b, 8.0));
  // The product of the recurrence, and y.
  V square = b.fma(a, a, a), squareLow = b.fma(a, a, b.sub(a, square));
  V product = b.select(half, square, b.select(low, a, one));
  V y = b.sub(a, b.select(half, zero, b.select(low, one, F::f(b, 2.0))));
  for (int k = 1; k <= 6; ++k) {
    auto above = b.ge(a, F::f(b, k + 1.5));
    product = b.mul(product, b.select(above, b.sub(a, F::f(b, k)), one));
    y = b.select(above, b.sub(a, F::f(b, k + 2.0)), y);
  }
  auto [l, lLow] = logPair<W>(b, b.select(large, a, product), b.select(half, squareLow, zero));

  // Down: log gamma(2 + y) -+ log of the product.
  auto [p, pLow] = logGammaNearTwo<W>(b, y);
  V sign = b.select(low, F::f(b, -1.0), one);
  // Up: a (log a - 1) - log a / 2 + log(2 pi) / 2 + Q(1 / a).
  auto [m, mLow] = twoSum(b, l, F::f(b, -1.0));
  auto [s, sLow] = twoProduct(b, a, m);
  sLow = b.fma(a, b.add(mLow, lLow), sLow);
  V x = b.div(one, b.select(large, a, one));
  V rest = b.fma(l, F::f(b, -0.5), F::f(b, T::kHalfLogTwoPi[0]));
  rest = b.fma(x, horner(b, b.mul(x, x), T::kStirling), rest);

  auto [sum, sumLow] = twoSum(b, b.select(large, s, b.mul(sign, l)), b.select(large, rest, p));
  V tail = b.add(sumLow, b.select(large, sLow, b.fma(sign, lLow, pLow)));
  auto overflow = b.mnot(b.lt(b.abs(s), F::f(b, kInfinity<W>)));
  return {b.select(overflow, s, sum), b.select(overflow, zero, tail)};
}

/// log(pi / (a |sin(pi a)|)) as a sum of two, for a > 0 that is no integer.
template <unsigned W, class B, class V>
std::pair<V, V> logOfReflection(B &b, V a) {
  using F = Format<W>;
  using T = GammaTable<W>;
  V quarter = F::f(b, 0.25), half = F::f(b, 0.5);
  V f = b.abs(b.sub(a, b.roundeven(a)));
  auto near = b.le(f, quarter);
  V g = b.select(near, f, b.sub(half, f));
  auto [r, rLow] = timesHalfPi<W>(b, b.add(g, g), F::f(b, 0.0), 1.0);
  auto parts = sinCosParts<W>(b, Reduced<V, V>{r, b.neg(rLow), g});
  V large = b.select(near, parts.sine, parts.cosine);
  V small = b.select(near, parts.sineTail, parts.cosineTail);
  auto [s, sLow] = fastTwoSum(b, large, small);
  auto [w, wLow] = twoProduct(b, a, s);
  auto [l, lLow] = logPair<W>(b, w, b.fma(a, sLow, wLow));
  auto [sum, sumLow] = twoSum(b, F::f(b, T::kLogPi[0]), b.neg(l));
  return {sum, b.add(sumLow, b.sub(F::f(b, T::kLogPi[1]), lLow))};
}

/// log |gamma(x)|. Infinite at 0, at negative integers and at both infinities. For x > 0 <= 1.5 ulp
/// (near 1.4, where polynomial and logarithm cancel); for x < 0 of the largest of 1, the result and
/// log gamma(-x), between which it cancels.
template <unsigned W, class B, class V>
V lgamma(B &b, V x) {
  using F = Format<W>;
  V zero = F::f(b, 0.0), infinity = F::f(b, kInfinity<W>);
  V a = b.abs(x);
  auto [high, low] = logGammaOfPositive<W>(b, b.select(b.gt(a, zero), a, F::f(b, 1.0)));
  V y = b.add(high, low);
  auto reflected = b.lt(x, F::f(b, -GammaTable<W>::kTiny));
  auto pole = b.mor(b.eq(a, zero), b.mand(reflected, b.eq(b.trunc(x), x)));
  auto taken = b.mand(reflected, b.mnot(pole));
  std::tie(y) = b.ifAny(
      taken,
      [&] {
        auto [l, lLow] = logOfReflection<W>(b, b.select(taken, a, F::f(b, 0.5)));
        auto [sum, sumLow] = twoSum(b, l, b.neg(high));
        return std::tuple{b.add(sum, b.add(sumLow, b.sub(lLow, low)))};
      },
      y);
  y = b.select(b.mor(pole, b.eq(a, infinity)), infinity, y);
  return b.select(b.isnan(x), x, y);
}

} // namespace graphc::math

#endif // GRAPHC_COMPILER_MATH_GAMMA_H
