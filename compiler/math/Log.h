//===- Log.h - Logarithms ---------------------------------------------------------------------===//
//
// x = 2^e m with m in [sqrt(1/2), sqrt(2)), f = m - 1 (exact): log(x) = e ln 2 + f - f^2 / 2 + f^3
// P(f). The first part of ln 2 times e is exact and so is its sum with f in two parts, which leaves
// one rounding of the result's size.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_COMPILER_MATH_LOG_H
#define GRAPHC_COMPILER_MATH_LOG_H

#include "compiler/math/Exp.h"

namespace graphc::math {

template <unsigned W>
struct LogTable;
template <>
struct LogTable<32> {
  static constexpr int64_t kSqrtHalfBits = 0x3f3504f3;
  static constexpr double kMinNormal = 0x1p-126, kDenormalScale = 0x1p23;
  static constexpr auto &kLn2 = kLn2F32;
  static constexpr auto &kLog = kLogF32;
  static constexpr auto &kLog2E = kLog2EF32;
  static constexpr auto &kLog10E = kLog10EF32;
  static constexpr auto &kLog10Of2 = kLog10Of2F32;
};
template <>
struct LogTable<64> {
  static constexpr int64_t kSqrtHalfBits = 0x3fe6a09e667f3bcd;
  static constexpr double kMinNormal = 0x1p-1022, kDenormalScale = 0x1p52;
  static constexpr auto &kLn2 = kLn2F64;
  static constexpr auto &kLog = kLogF64;
  static constexpr auto &kLog2E = kLog2EF64;
  static constexpr auto &kLog10E = kLog10EF64;
  static constexpr auto &kLog10Of2 = kLog10Of2F64;
};

/// Positive normal x = 2^e m, m in [sqrt(1/2), sqrt(2)): e as an integer, m.
template <unsigned W, class B, class V>
auto splitExponent(B &b, V x) {
  using F = Format<W>;
  auto bits = b.toBits(x);
  auto e = b.ashr(b.isub(bits, F::i(b, LogTable<W>::kSqrtHalfBits)), F::i(b, F::kMantissa));
  V m = b.fromBits(b.isub(bits, b.shl(e, F::i(b, F::kMantissa))));
  return std::pair{e, m};
}

/// The integer e (|e| < 2^(mantissa bits - 2)) as a float.
template <unsigned W, class B, class I>
auto exponentToFloat(B &b, I e) {
  using F = Format<W>;
  return b.sub(b.fromBits(b.iadd(e, F::i(b, F::kRoundBits))), F::f(b, F::kRound));
}

/// e ln 2 + log(1 + f + fLow), |fLow| <= ulp(f), as a sum of two: the first carries the size.
template <unsigned W, class B, class V>
std::pair<V, V> logPairFromParts(B &b, V e, V f, V low) {
  using F = Format<W>;
  using T = LogTable<W>;
  V f2 = b.mul(f, f);
  V p = horner(b, f, T::kLog);
  auto [sum, sumLow] = fastTwoSum(b, b.mul(e, F::f(b, T::kLn2[0])), f);
  V tail = b.fma(e, F::f(b, T::kLn2[1]), b.add(sumLow, low));
  tail = b.fma(b.mul(f2, f), p, tail);
  tail = b.fma(f2, F::f(b, -0.5), tail);
  return {sum, tail};
}
template <unsigned W, class B, class V>
V logFromParts(B &b, V e, V f, V low) {
  auto [sum, tail] = logPairFromParts<W>(b, e, f, low);
  return b.add(sum, tail);
}

/// y, but x itself for +inf and NaN, -inf at zeroOf == 0, NaN below.
template <unsigned W, class B, class V>
V logSpecial(B &b, V x, V zeroOf, V y) {
  using F = Format<W>;
  V zero = F::f(b, 0.0);
  y = b.select(b.lt(x, F::f(b, kInfinity<W>)), y, x);
  V low = b.select(b.eq(zeroOf, zero), F::f(b, -kInfinity<W>), F::f(b, kNaN));
  return b.select(b.le(zeroOf, zero), low, y);
}

/// x = 2^e (1 + f) for positive x, denormals too: e as a float, f.
template <unsigned W, class B, class V>
std::pair<V, V> exponentAndFraction(B &b, V x) {
  using F = Format<W>;
  using T = LogTable<W>;
  auto denormal = b.lt(x, F::f(b, T::kMinNormal));
  V y = b.select(denormal, b.mul(x, F::f(b, T::kDenormalScale)), x);
  auto [e, m] = splitExponent<W>(b, y);
  V ef = exponentToFloat<W>(b, e);
  ef = b.select(denormal, b.sub(ef, F::f(b, F::kMantissa)), ef);
  return {ef, b.sub(m, F::f(b, 1.0))};
}

/// Natural logarithm. <= 1 ulp; denormals right; -inf at both zeros, NaN below zero.
template <unsigned W, class B, class V>
V log(B &b, V x) {
  auto [e, f] = exponentAndFraction<W>(b, x);
  return logSpecial<W>(b, x, x, logFromParts<W>(b, e, f, Format<W>::f(b, 0.0)));
}

/// high + low + scale log(1 + f), the scale in two parts and `high` a multiple of e, exact. The
/// product of the scale and f - f^2 / 2 is taken in two parts, which leaves one rounding of the
/// result's size; f^3 P(f) is small beside it.
template <unsigned W, class B, class V, class Scale>
V scaledLog(B &b, V high, V low, V f, const Scale &scale) {
  using F = Format<W>;
  V c = F::f(b, scale[0]), minusHalf = F::f(b, -0.5);
  auto [f2, f2Low] = twoProduct(b, f, f);
  auto [g, gLow] = fastTwoSum(b, f, b.mul(f2, minusHalf));
  gLow = b.fma(f2Low, minusHalf, gLow);
  auto [product, productLow] = twoProduct(b, g, c);
  productLow = b.fma(gLow, c, b.fma(g, F::f(b, scale[1]), productLow));
  auto [sum, sumLow] = fastTwoSum(b, high, product);
  V cubic = b.mul(b.mul(f2, f), horner(b, f, LogTable<W>::kLog));
  return b.add(sum, b.fma(cubic, c, b.add(b.add(sumLow, low), productLow)));
}

/// Logarithm to base 2. <= 1 ulp; powers of two exact; special values as log.
template <unsigned W, class B, class V>
V log2(B &b, V x) {
  auto [e, f] = exponentAndFraction<W>(b, x);
  V y = scaledLog<W>(b, e, Format<W>::f(b, 0.0), f, LogTable<W>::kLog2E);
  return logSpecial<W>(b, x, x, y);
}

/// Logarithm to base 10. <= 1 ulp; powers of ten exact; special values as log.
template <unsigned W, class B, class V>
V log10(B &b, V x) {
  using F = Format<W>;
  using T = LogTable<W>;
  auto [e, f] = exponentAndFraction<W>(b, x);
  V high = b.mul(e, F::f(b, T::kLog10Of2[0])), low = b.mul(e, F::f(b, T::kLog10Of2[1]));
  return logSpecial<W>(b, x, x, scaledLog<W>(b, high, low, f, T::kLog10E));
}

/// log(u + c) + extra ln 2 as a sum of two, for |c| <= ulp(u), u >= 1/2 finite, and c = 0 where u
/// is large. m and f come from u, and c is scaled by the same power of two and added to f, which is
/// then exact for u near 1.
template <unsigned W, class B, class V>
std::pair<V, V> logPairOfSum(B &b, V u, V c, V extra) {
  using F = Format<W>;
  auto [e, m] = splitExponent<W>(b, u);
  // c is 0 long before e reaches the bias, where 2^-e would not be representable.
  auto largest = F::i(b, F::kBias - 1);
  V scale = powerOfTwo<W>(b, b.isub(F::i(b, 0), b.select(b.sgt(e, largest), largest, e)));
  auto [f, fLow] = fastTwoSum(b, b.sub(m, F::f(b, 1.0)), b.mul(c, scale));
  V low = b.fma(b.neg(fLow), f, fLow);
  return logPairFromParts<W>(b, b.add(exponentToFloat<W>(b, e), extra), f, low);
}
template <unsigned W, class B, class V>
V logOfSum(B &b, V u, V c, V extra) {
  auto [sum, tail] = logPairOfSum<W>(b, u, c, extra);
  return b.add(sum, tail);
}

/// log(1 + x). <= 1 ulp; -0 stays -0; -inf at -1, NaN below. 1 + x = u + c exactly.
template <unsigned W, class B, class V>
V log1p(B &b, V x) {
  using F = Format<W>;
  V one = F::f(b, 1.0);
  auto [u, c] = twoSum(b, one, x);
  V y = logOfSum<W>(b, u, c, F::f(b, 0.0));
  return b.copysign(logSpecial<W>(b, x, b.add(x, one), y), x);
}

/// log(e^x + e^y) = max + log(1 + e^-|x - y|), summed in two parts: <= 1 ulp of the larger of |x|,
/// |y| and the result (where the two cancel no float of the operands' precision holds the result).
template <unsigned W, class B, class V>
V logAddExp(B &b, V x, V y) {
  using F = Format<W>;
  V zero = F::f(b, 0.0);
  V larger = b.select(b.lt(x, y), y, x), smaller = b.select(b.lt(x, y), x, y);
  auto [d, dLow] = twoSum(b, smaller, b.neg(larger));
  auto far = b.mnot(b.gt(d, F::f(b, ExpTable<W>::kMinExp))); // and infinities
  d = b.select(far, F::f(b, ExpTable<W>::kMinExp), d);
  auto [h, l, n] = expPair<W>(b, d, b.select(far, zero, dLow));
  h = scaleByPowerOfTwo<W>(b, h, n);
  // Where 2^n is too small for the low part it does not matter beside 1.
  auto least = F::i(b, 1 - F::kBias);
  l = b.mul(l, powerOfTwo<W>(b, b.select(b.slt(n, least), least, n)));
  auto [u, c] = fastTwoSum(b, F::f(b, 1.0), h);
  auto [s, tail] = logPairOfSum<W>(b, u, b.add(c, l), zero);
  auto [sum, sumLow] = twoSum(b, larger, s);
  V result = b.add(sum, b.add(sumLow, tail));
  result = b.select(b.lt(b.abs(larger), F::f(b, kInfinity<W>)), result, larger);
  result = b.select(b.eq(x, y), b.add(x, F::f(b, 0x1.62e42fefa39efp-1)), result);
  return b.select(b.mor(b.isnan(x), b.isnan(y)), b.add(x, y), result);
}

} // namespace graphc::math

#endif // GRAPHC_COMPILER_MATH_LOG_H
