//===- InverseTrig.h - asin, acos, atan and atan2 ---------------------------------------------===//
//
// Odd polynomials on a reduced range. Whatever the reduction loses (a quotient, a root) is kept as
// a second part, and offsets of pi / 4 are added in two parts, so that one rounding of the result's
// size is left.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_COMPILER_MATH_INVERSETRIG_H
#define GRAPHC_COMPILER_MATH_INVERSETRIG_H

#include "compiler/math/Hyperbolic.h"
#include "compiler/math/Trig.h"

namespace graphc::math {

/// Beyond kFar atan is pi / 2 minus nothing. atan2 scales its larger operand to about 2^kScaled.
template <unsigned W>
struct ArcTable;
template <>
struct ArcTable<32> {
  static constexpr double kFar = 0x1p60;
  static constexpr int kScaled = 60;
  static constexpr auto &kAsin = kAsinF32;
  static constexpr auto &kAtan = kAtanF32;
  static constexpr auto &kHalfPi = kHalfPiF32;
  static constexpr auto &kQuarterPi = kQuarterPiF32;
};
template <>
struct ArcTable<64> {
  static constexpr double kFar = 0x1p200;
  static constexpr int kScaled = 500;
  static constexpr auto &kAsin = kAsinF64;
  static constexpr auto &kAtan = kAtanF64;
  static constexpr auto &kHalfPi = kHalfPiF64;
  static constexpr auto &kQuarterPi = kQuarterPiF64;
};

/// asin of |x| <= 1/2, or of sqrt((1 - |x|) / 2) above, as arc + rest, and which it is.
template <unsigned W, class B, class V>
auto arcOf(B &b, V a) {
  using F = Format<W>;
  V half = F::f(b, 0.5);
  auto near = b.le(a, half);
  V z = b.select(near, b.mul(a, a), b.fma(a, F::f(b, -0.5), half));
  auto [root, rootLow] = sqrtPair<W>(b, b.select(near, half, z), F::f(b, 0.0));
  V arc = b.select(near, a, root);
  V low = b.select(near, F::f(b, 0.0), rootLow);
  V rest = b.fma(b.mul(arc, z), horner(b, z, ArcTable<W>::kAsin), low);
  return std::tuple{arc, rest, near};
}

/// <= 1 ulp; odd bit by bit; NaN outside [-1, 1].
template <unsigned W, class B, class V>
V asin(B &b, V x) {
  using F = Format<W>;
  auto &c = ArcTable<W>::kHalfPi;
  auto [arc, rest, near] = arcOf<W>(b, b.abs(x));
  auto [sum, sumLow] = fastTwoSum(b, F::f(b, c[0]), b.mul(arc, F::f(b, -2.0)));
  V far = b.add(sum, b.fma(rest, F::f(b, -2.0), b.add(sumLow, F::f(b, c[1]))));
  return b.copysign(b.select(near, b.add(arc, rest), far), x);
}

/// <= 1 ulp; NaN outside [-1, 1].
template <unsigned W, class B, class V>
V acos(B &b, V x) {
  using F = Format<W>;
  auto &c = ArcTable<W>::kHalfPi;
  V zero = F::f(b, 0.0);
  auto [arc, rest, near] = arcOf<W>(b, b.abs(x));
  auto negative = b.lt(x, zero);
  // pi / 2 - arc near zero; 2 arc near 1; pi - 2 arc near -1.
  V times = b.select(near, F::f(b, 1.0), b.select(negative, F::f(b, 2.0), zero));
  V factor = b.select(near, b.copysign(F::f(b, 1.0), b.neg(x)),
                      b.select(negative, F::f(b, -2.0), F::f(b, 2.0)));
  auto [sum, sumLow] = fastTwoSum(b, b.mul(times, F::f(b, c[0])), b.mul(factor, arc));
  return b.add(sum, b.fma(factor, rest, b.fma(times, F::f(b, c[1]), sumLow)));
}

/// multiple pi / 4 + sign atan((n + nLow) / (d + dLow)), the quotient at most 0.4143 in size.
template <unsigned W, class B, class V>
V atanOfQuotient(B &b, V n, V nLow, V d, V dLow, V multiple, V sign) {
  using F = Format<W>;
  using T = ArcTable<W>;
  V inverse = b.div(F::f(b, 1.0), d);
  V t = b.mul(n, inverse);
  V tLow = b.mul(b.fma(b.neg(t), dLow, b.add(b.fma(b.neg(t), d, n), nLow)), inverse);
  V z = b.mul(t, t);
  V tail = b.fma(b.mul(t, z), horner(b, z, T::kAtan), tLow);
  auto [sum, low] = fastTwoSum(b, b.mul(multiple, F::f(b, T::kQuarterPi[0])), b.mul(sign, t));
  return b.add(sum, b.fma(sign, tail, b.fma(multiple, F::f(b, T::kQuarterPi[1]), low)));
}

/// <= 1 ulp; odd bit by bit; pi / 2 at infinity.
template <unsigned W, class B, class V>
V atan(B &b, V x) {
  using F = Format<W>;
  V zero = F::f(b, 0.0), one = F::f(b, 1.0), two = F::f(b, 2.0);
  V a = b.abs(x);
  a = b.select(b.gt(a, F::f(b, ArcTable<W>::kFar)), F::f(b, ArcTable<W>::kFar), a);
  // tan(pi / 8) and tan(3 pi / 8) are where the three forms meet.
  auto middle = b.gt(a, F::f(b, 0.41421356)), far = b.gt(a, F::f(b, 2.4142135));
  auto [below, belowLow] = twoSum(b, a, b.neg(one));
  auto [above, aboveLow] = twoSum(b, a, one);
  V n = b.select(far, b.neg(one), b.select(middle, below, a));
  V d = b.select(far, a, b.select(middle, above, one));
  auto between = b.mand(middle, b.mnot(far));
  V y = atanOfQuotient<W>(b, n, b.select(between, belowLow, zero), d,
                          b.select(between, aboveLow, zero),
                          b.select(far, two, b.select(middle, one, zero)), one);
  return b.copysign(y, x);
}

/// The angle of (x, y), C99's special values. <= 1 ulp.
template <unsigned W, class B, class V>
V atan2(B &b, V y, V x) {
  using F = Format<W>;
  V zero = F::f(b, 0.0), one = F::f(b, 1.0);
  V ay = b.abs(y), ax = b.abs(x);
  auto steep = b.gt(ay, ax);
  V large = b.select(steep, ay, ax), small = b.select(steep, ax, ay);
  // Infinities: only their ratio matters, 1 for two of them and 0 for one.
  auto infinite = b.eq(large, F::f(b, kInfinity<W>));
  small = b.select(infinite, b.select(b.eq(small, large), one, zero), small);
  large = b.select(b.mor(infinite, b.eq(large, zero)), one, large);
  // The quotient's parts must neither underflow nor overflow before the quotient does.
  auto field = b.lshr(b.toBits(large), F::i(b, F::kMantissa));
  auto power = b.isub(F::i(b, F::kBias + ArcTable<W>::kScaled), field);
  auto most = F::i(b, F::kBias - 1);
  V scale = powerOfTwo<W>(b, b.select(b.sgt(power, most), most, power));
  V n = b.mul(small, scale), d = b.mul(large, scale);
  // Above pi / 8 the quotient (n - d) / (n + d) and pi / 4.
  auto middle = b.gt(n, b.mul(d, F::f(b, 0.41421356)));
  auto [below, belowLow] = fastTwoSum(b, b.neg(d), n);
  auto [above, aboveLow] = fastTwoSum(b, d, n);
  V multiple = b.select(middle, one, zero), sign = one;
  multiple = b.select(steep, b.sub(F::f(b, 2.0), multiple), multiple);
  sign = b.select(steep, b.neg(sign), sign);
  auto negative = b.slt(b.toBits(x), F::i(b, 0));
  multiple = b.select(negative, b.sub(F::f(b, 4.0), multiple), multiple);
  sign = b.select(negative, b.neg(sign), sign);
  V angle = atanOfQuotient<W>(b, b.select(middle, below, n), b.select(middle, belowLow, zero),
                              b.select(middle, above, d), b.select(middle, aboveLow, zero),
                              multiple, sign);
  angle = b.copysign(angle, y);
  return b.select(b.mor(b.isnan(x), b.isnan(y)), b.add(x, y), angle);
}

} // namespace graphc::math

#endif // GRAPHC_COMPILER_MATH_INVERSETRIG_H
