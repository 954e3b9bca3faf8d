//===- Pow.h - x to the y for floats ----------------------------------------------------------===//
//
// 2^(y log2 |x|), where log2 and the product are kept in two floats of the same width, so that f32
// needs no f64. With |x| = 2^e m, s = (m - 1) / (m + 1), |s| < 0.172: log2 |x| = e + s (c1 + s^2
// (c3 + s^2 P(s^2))); c1, c3, s and s^2 have two parts, P one. The relative error of the logarithm
// is near 2^-36 (f32) and 2^-65 (f64), which times the largest product that does not overflow stays
// a fraction of an ulp.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_COMPILER_MATH_POW_H
#define GRAPHC_COMPILER_MATH_POW_H

#include "compiler/math/Exp.h"
#include "compiler/math/Log.h"

namespace graphc::math {

/// Results beyond 2^kMax overflow, below 2^kMin round to zero. Exponents y beyond kLargeY give the
/// result of kLargeY.
template <unsigned W>
struct PowTable;
template <>
struct PowTable<32> {
  static constexpr double kMax = 129.0, kMin = -151.0, kLargeY = 0x1p60;
  static constexpr auto &kP = kPowLogF32;
  static constexpr auto &kC1 = kTwoOverLn2F32;
  static constexpr auto &kC3 = kTwoThirdsOverLn2F32;
  static constexpr auto &kLn2Pair = kLn2PairF32;
};
template <>
struct PowTable<64> {
  static constexpr double kMax = 1025.0, kMin = -1076.0, kLargeY = 0x1p80;
  static constexpr auto &kP = kPowLogF64;
  static constexpr auto &kC1 = kTwoOverLn2F64;
  static constexpr auto &kC3 = kTwoThirdsOverLn2F64;
  static constexpr auto &kLn2Pair = kLn2PairF64;
};

/// log2(m) in two parts, m in [sqrt(1/2), sqrt(2)).
template <unsigned W, class B, class V>
std::pair<V, V> log2OfMantissa(B &b, V m) {
  using F = Format<W>;
  using T = PowTable<W>;
  V one = F::f(b, 1.0);
  V f = b.sub(m, one);
  V d = b.add(m, one);
  V dLow = b.sub(m, b.sub(d, one));
  V inverse = b.div(one, d);
  V s = b.mul(f, inverse);
  V minusS = b.neg(s);
  V sLow = b.mul(b.fma(minusS, dLow, b.fma(minusS, d, f)), inverse);

  auto [z, zLow] = twoProduct(b, s, s);
  zLow = b.fma(b.add(s, s), sLow, zLow);
  auto [g, gLow] = fastTwoSum(b, F::f(b, T::kC3[0]), b.mul(z, horner(b, z, T::kP)));
  gLow = b.add(gLow, F::f(b, T::kC3[1]));
  auto [u, uLow] = twoProduct(b, z, g);
  uLow = b.add(uLow, b.fma(z, gLow, b.mul(zLow, g)));
  auto [v, vLow] = fastTwoSum(b, F::f(b, T::kC1[0]), u);
  vLow = b.add(vLow, b.add(uLow, F::f(b, T::kC1[1])));
  auto [l, lLow] = twoProduct(b, s, v);
  return {l, b.add(lLow, b.fma(s, vLow, b.mul(sLow, v)))};
}

/// 2^(high + low), low below the last place of high.
template <unsigned W, class B, class V>
V exp2OfSum(B &b, V high, V low) {
  using F = Format<W>;
  using T = PowTable<W>;
  V top = F::f(b, T::kMax), bottom = F::f(b, T::kMin);
  auto inRange = b.mand(b.lt(high, top), b.gt(high, bottom));
  low = b.select(inRange, low, F::f(b, 0.0));
  high = clampRange<W>(b, high, T::kMin, T::kMax);
  V shifted = b.add(high, F::f(b, F::kRound));
  V n = b.sub(shifted, F::f(b, F::kRound));
  auto ni = b.isub(b.toBits(shifted), F::i(b, F::kRoundBits));
  auto [r, rLow] = fastTwoSum(b, b.sub(high, n), low);
  V ln2 = F::f(b, T::kLn2Pair[0]);
  auto [u, uLow] = twoProduct(b, r, ln2);
  uLow = b.add(uLow, b.fma(r, F::f(b, T::kLn2Pair[1]), b.mul(rLow, ln2)));
  auto [sum, sumLow] = fastTwoSum(b, F::f(b, 1.0), u);
  // e^(u + l) = 1 + u + u^2 q(u) + l (1 + u), to first order in l
  V tail = b.fma(b.mul(u, u), horner(b, u, ExpTable<W>::kExp), b.fma(uLow, u, uLow));
  return scaleByPowerOfTwo<W>(b, b.add(sum, b.add(sumLow, tail)), ni);
}

/// x^y with C99's (and NumPy's) special values. f32 and f64 bounds in README.md.
template <unsigned W, class B, class V>
V pow(B &b, V x, V y) {
  using F = Format<W>;
  using T = PowTable<W>;
  using L = LogTable<W>;
  V zero = F::f(b, 0.0), one = F::f(b, 1.0), infinity = F::f(b, kInfinity<W>);
  V a = b.abs(x);
  auto denormal = b.lt(a, F::f(b, L::kMinNormal));
  auto [e, m] = splitExponent<W>(b, b.select(denormal, b.mul(a, F::f(b, L::kDenormalScale)), a));
  V ef = exponentToFloat<W>(b, e);
  ef = b.select(denormal, b.sub(ef, F::f(b, F::kMantissa)), ef);
  auto [l, lLow] = log2OfMantissa<W>(b, m);
  auto [h, hLow] = fastTwoSum(b, ef, l);
  hLow = b.add(hLow, lLow);
  // log2 of 0 and infinity; the product is then infinite and its low part unused.
  h = b.select(b.eq(a, zero), b.neg(infinity), b.select(b.eq(a, infinity), infinity, h));

  V power = clampRange<W>(b, y, -T::kLargeY, T::kLargeY);
  V t = b.mul(power, h);
  V tLow = b.fma(power, hLow, b.fma(power, h, b.neg(t)));
  V z = exp2OfSum<W>(b, t, tLow);

  auto integral = b.eq(b.trunc(y), y);
  V halfY = b.mul(y, F::f(b, 0.5));
  auto odd = b.mand(integral, b.ne(b.trunc(halfY), halfY));
  z = b.select(odd, b.copysign(z, x), z);
  auto negative = b.mand(b.lt(x, zero), b.lt(a, infinity));
  z = b.select(b.mand(negative, b.mnot(integral)), F::f(b, kNaN), z);
  z = b.select(b.mor(b.isnan(x), b.isnan(y)), b.add(x, y), z);
  return b.select(b.mor(b.eq(x, one), b.eq(y, zero)), one, z);
}

} // namespace graphc::math

#endif // GRAPHC_COMPILER_MATH_POW_H
