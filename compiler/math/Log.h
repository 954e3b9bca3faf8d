//===- Log.h - log and log1p ------------------------------------------------------------------===//
//
// x = 2^e m with m in [sqrt(1/2), sqrt(2)), f = m - 1 (exact): log(x) = e ln 2 + f - f^2 / 2 + f^3
// P(f). The first part of ln 2 times e is exact and so is its sum with f in two parts, which leaves
// one rounding of the result's size.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_COMPILER_MATH_LOG_H
#define GRAPHC_COMPILER_MATH_LOG_H

#include "compiler/math/Coefficients.h"
#include "compiler/math/Select.h"

namespace graphc::math {

template <unsigned W>
struct LogTable;
template <>
struct LogTable<32> {
  static constexpr int64_t kSqrtHalfBits = 0x3f3504f3;
  static constexpr double kMinNormal = 0x1p-126, kDenormalScale = 0x1p23;
  static constexpr auto &kLn2 = kLn2F32;
  static constexpr auto &kLog = kLogF32;
};
template <>
struct LogTable<64> {
  static constexpr int64_t kSqrtHalfBits = 0x3fe6a09e667f3bcd;
  static constexpr double kMinNormal = 0x1p-1022, kDenormalScale = 0x1p52;
  static constexpr auto &kLn2 = kLn2F64;
  static constexpr auto &kLog = kLogF64;
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

/// e ln 2 + log(1 + f + fLow), |fLow| <= ulp(f).
template <unsigned W, class B, class V>
V logFromParts(B &b, V e, V f, V low) {
  using F = Format<W>;
  using T = LogTable<W>;
  V f2 = b.mul(f, f);
  V p = horner(b, f, T::kLog);
  auto [sum, sumLow] = fastTwoSum(b, b.mul(e, F::f(b, T::kLn2[0])), f);
  V tail = b.fma(e, F::f(b, T::kLn2[1]), b.add(sumLow, low));
  tail = b.fma(b.mul(f2, f), p, tail);
  tail = b.fma(f2, F::f(b, -0.5), tail);
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

/// Natural logarithm. <= 1 ulp; denormals right; -inf at both zeros, NaN below zero.
template <unsigned W, class B, class V>
V log(B &b, V x) {
  using F = Format<W>;
  using T = LogTable<W>;
  auto denormal = b.lt(x, F::f(b, T::kMinNormal));
  V y = b.select(denormal, b.mul(x, F::f(b, T::kDenormalScale)), x);
  auto [e, m] = splitExponent<W>(b, y);
  V ef = exponentToFloat<W>(b, e);
  ef = b.select(denormal, b.sub(ef, F::f(b, F::kMantissa)), ef);
  V f = b.sub(m, F::f(b, 1.0));
  return logSpecial<W>(b, x, x, logFromParts<W>(b, ef, f, F::f(b, 0.0)));
}

/// log(1 + x). <= 1 ulp; -0 stays -0; -inf at -1, NaN below.
///
/// 1 + x = u + c exactly; m and f come from u, and c is scaled by the same power of two and added
/// to f, which is then exactly x for u near 1.
template <unsigned W, class B, class V>
V log1p(B &b, V x) {
  using F = Format<W>;
  V one = F::f(b, 1.0);
  auto [u, c] = twoSum(b, one, x);
  auto [e, m] = splitExponent<W>(b, u);
  // c is 0 long before e reaches the bias, where 2^-e would not be representable.
  auto largest = F::i(b, F::kBias - 1);
  V scale = powerOfTwo<W>(b, b.isub(F::i(b, 0), b.select(b.sgt(e, largest), largest, e)));
  auto [f, fLow] = fastTwoSum(b, b.sub(m, one), b.mul(c, scale));
  V low = b.fma(b.neg(fLow), f, fLow);
  V y = logFromParts<W>(b, exponentToFloat<W>(b, e), f, low);
  return b.copysign(logSpecial<W>(b, x, b.add(x, one), y), x);
}

} // namespace graphc::math

#endif // GRAPHC_COMPILER_MATH_LOG_H
