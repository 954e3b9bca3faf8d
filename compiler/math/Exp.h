//===- Exp.h - exp, expm1 and exp2 ------------------------------------------------------------===//
//
// x = n ln 2 + r with n integral and |r| <= ln 2 / 2: exp(x) = 2^n exp(r). n comes from adding a
// constant whose low bits then hold it; n times the first part of ln 2 is exact, so r carries one
// rounding.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_COMPILER_MATH_EXP_H
#define GRAPHC_COMPILER_MATH_EXP_H

#include "compiler/math/Coefficients.h"
#include "compiler/math/Select.h"

namespace graphc::math {

/// What exp and its relatives need per width. Beyond kMaxExp exp overflows, below kMinExp it rounds
/// to zero; below kMinExpm1 expm1 rounds to -1.
template <unsigned W>
struct ExpTable;
template <>
struct ExpTable<32> {
  static constexpr double kMaxExp = 89.0, kMinExp = -104.0, kMinExpm1 = -18.0;
  static constexpr auto &kLn2 = kLn2F32;
  static constexpr auto &kExp = kExpF32;
  static constexpr auto &kExpm1 = kExpm1F32;
  static constexpr double kMaxExp2 = 129.0, kMinExp2 = -151.0;
  static constexpr auto &kExp2 = kExp2F32;
};
template <>
struct ExpTable<64> {
  static constexpr double kMaxExp = 710.0, kMinExp = -746.0, kMinExpm1 = -39.0;
  static constexpr auto &kLn2 = kLn2F64;
  static constexpr auto &kExp = kExpF64;
  static constexpr auto &kExpm1 = kExpm1F64;
  static constexpr double kMaxExp2 = 1025.0, kMinExp2 = -1076.0;
  static constexpr auto &kExp2 = kExp2F64;
};
inline constexpr double kLog2E = 0x1.71547652b82fep0;

/// x within [lo, hi]; NaN stays.
template <unsigned W, class B, class V>
V clampRange(B &b, V x, double lo, double hi) {
  using F = Format<W>;
  return atLeast(b, atMost(b, x, F::f(b, hi)), F::f(b, lo));
}

/// kSign x = n ln 2 + r, x in the clamped range: n as a float and as an integer, and x minus n
/// times the first part of kSign ln 2 (exact), from which the caller subtracts n times the second
/// part.
template <unsigned W, int kSign = 1, class B, class V>
auto splitByLn2(B &b, V x) {
  using F = Format<W>;
  V shifted = b.fma(x, F::f(b, kSign * kLog2E), F::f(b, F::kRound));
  V n = b.sub(shifted, F::f(b, F::kRound));
  auto ni = b.isub(b.toBits(shifted), F::i(b, F::kRoundBits));
  V high = b.fma(n, F::f(b, -kSign * ExpTable<W>::kLn2[0]), x);
  return std::tuple{n, ni, high};
}

/// e^x or e^-x is p 2^n: p, and n as an integer and as a float. The constants take the sign instead
/// of x.
template <unsigned W, bool kNegated, class B, class V>
auto expParts(B &b, V x) {
  using F = Format<W>;
  using T = ExpTable<W>;
  constexpr int sign = kNegated ? -1 : 1;
  auto [n, ni, high] = splitByLn2<W, sign>(b, x);
  V r = b.fma(n, F::f(b, -sign * T::kLn2[1]), high);
  V q = horner(b, r, kRescaled<T::kExp, 1, sign>.steps);
  V slope = b.fma(r, q, F::f(b, sign));
  return std::tuple{b.fma(r, slope, F::f(b, 1.0)), ni, n};
}

template <unsigned W, bool kNegated, class B, class V>
V expOfClamped(B &b, V x) {
  using T = ExpTable<W>;
  V y = kNegated ? clampRange<W>(b, x, -T::kMaxExp, -T::kMinExp)
                 : clampRange<W>(b, x, T::kMinExp, T::kMaxExp);
  auto [p, ni, n] = expParts<W, kNegated>(b, y);
  return scaleByPowerOfTwo<W>(b, p, ni, n);
}

/// e^x, or e^-x with the same bits as e^(-x).
template <unsigned W, bool kNegated, class B, class V>
V expOfSigned(B &b, V x) {
  using F = Format<W>;
  if constexpr (W == 32 && requires { b.skipsBranches(); })
    if (b.skipsBranches()) {
      // Where p and the result are normal numbers, n is added to the exponent of p.
      constexpr double kNormal = 86.0;
      auto [p, ni, n] = expParts<W, kNegated>(b, x);
      V normal = b.fromBits(b.iadd(b.toBits(p), b.shl(ni, F::i(b, F::kMantissa))));
      auto [y] = b.ifAny(
          b.mnot(b.le(b.abs(x), F::f(b, kNormal))),
          [&] { return std::tuple<V>{expOfClamped<W, kNegated>(b, x)}; }, normal);
      return y;
    }
  return expOfClamped<W, kNegated>(b, x);
}

/// e^x. <= 1 ulp (README.md); denormal results, overflow to inf, 0 at -inf, NaN stays NaN.
template <unsigned W, class B, class V>
V exp(B &b, V x) {
  if constexpr (requires { b.negatedBy(x); })
    if (V positive = b.negatedBy(x))
      return expOfSigned<W, true>(b, positive);
  return expOfSigned<W, false>(b, x);
}

/// e^x - 1. <= 1 ulp; -0 stays -0; -1 at -inf.
///
/// With s = 2^n: s e^r - 1 = (s - 1) + s r + s r^2 q, and the first two terms are added exactly
/// because |s - 1| >= |s r| or s = 1. r itself is kept in two parts: for n = 1 the result can be as
/// small as r's own rounding error would show.
template <unsigned W, class B, class V>
V expm1(B &b, V x) {
  using F = Format<W>;
  using T = ExpTable<W>;
  V y = clampRange<W>(b, x, T::kMinExpm1, T::kMaxExp);
  auto [n, ni, high] = splitByLn2<W>(b, y);
  V low = b.mul(n, F::f(b, T::kLn2[1]));
  V r = b.sub(high, low);
  V rLow = b.sub(b.sub(high, r), low);
  rLow = b.fma(rLow, r, rLow); // what it adds to e^r, to first order
  V q = horner(b, r, T::kExpm1);
  // n may be bias + 1, whose power of two does not exist: take one less and double at the end.
  auto tooLarge = b.sgt(ni, F::i(b, F::kBias));
  V s = powerOfTwo<W>(b, b.select(tooLarge, F::i(b, F::kBias), ni));
  V base = b.sub(s, F::f(b, 1.0));
  V baseLow = b.sub(b.sub(s, base), F::f(b, 1.0)); // not 0 when 2^n has more bits than the mantissa
  V linear = b.mul(s, r);
  auto [sum, sumLow] = fastTwoSum(b, base, linear);
  V tail = b.fma(b.mul(linear, r), q, b.fma(s, rLow, b.add(sumLow, baseLow)));
  V result = b.mul(b.add(sum, tail), b.select(tooLarge, F::f(b, 2.0), F::f(b, 1.0)));
  return b.copysign(result, x);
}

/// 2^x. <= 1 ulp; integers give powers of two; special values as exp.
template <unsigned W, class B, class V>
V exp2(B &b, V x) {
  using F = Format<W>;
  using T = ExpTable<W>;
  V y = clampRange<W>(b, x, T::kMinExp2, T::kMaxExp2);
  V shifted = b.add(y, F::f(b, F::kRound));
  V whole = b.sub(shifted, F::f(b, F::kRound)), r = b.sub(y, whole);
  auto n = b.isub(b.toBits(shifted), F::i(b, F::kRoundBits));
  V p = b.fma(r, horner(b, r, T::kExp2), F::f(b, 1.0));
  return scaleByPowerOfTwo<W>(b, p, n, whole);
}

/// e^(x + low) = 2^n (high + low'), the pair more precise than one float by about five bits; x
/// within the clamped range, |low| <= ulp(x).
template <unsigned W, class B, class V>
auto expPair(B &b, V x, V low) {
  using F = Format<W>;
  using T = ExpTable<W>;
  auto [n, ni, high] = splitByLn2<W>(b, x);
  V part = b.mul(n, F::f(b, T::kLn2[1]));
  V r = b.sub(high, part);
  V rLow = b.add(b.sub(b.sub(high, r), part), low);
  V q = horner(b, r, T::kExpm1);
  auto [sum, sumLow] = fastTwoSum(b, F::f(b, 1.0), r);
  auto [h, l] = fastTwoSum(b, sum, b.fma(b.mul(r, r), q, sumLow));
  return std::tuple{h, b.fma(rLow, h, l), ni};
}

} // namespace graphc::math

#endif // GRAPHC_COMPILER_MATH_EXP_H
