//===- Roots.h - rsqrt, cbrt and hypot --------------------------------------------------------===//
//
// A good approximation, then one correction by its exact residual.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_COMPILER_MATH_ROOTS_H
#define GRAPHC_COMPILER_MATH_ROOTS_H

#include "compiler/math/Log.h"

namespace graphc::math {

template <unsigned W>
struct RootTable;
/// kThird: bits of the guess for x^(-1/3) are kThird - bits(x) / 3. hypot scales operands beyond
/// kHuge or below kTiny by 2^-kScale or 2^kScale.
template <>
struct RootTable<32> {
  static constexpr double kThird = 0x54a2fa8d, kHuge = 0x1p40, kTiny = 0x1p-40;
  static constexpr double kUp = 0x1p90, kDown = 0x1p-90;
  static constexpr double kDenormalScale = 0x1p24, kDenormalRoot = 0x1p-8;
  static constexpr double kDenormalSquare = 0x1p48, kDenormalRootOf = 0x1p24;
  static constexpr int kSteps = 2;
};
template <>
struct RootTable<64> {
  static constexpr double kThird = 0x553ef0ff * 0x1p32, kHuge = 0x1p400, kTiny = 0x1p-400;
  static constexpr double kUp = 0x1p700, kDown = 0x1p-700;
  static constexpr double kDenormalScale = 0x1p54, kDenormalRoot = 0x1p-18;
  static constexpr double kDenormalSquare = 0x1p108, kDenormalRootOf = 0x1p54;
  static constexpr int kSteps = 3;
};

/// 1 / sqrt(x). <= 1 ulp; infinite at zeros with their sign, NaN below.
template <unsigned W, class B, class V>
V rsqrt(B &b, V x) {
  using F = Format<W>;
  V zero = F::f(b, 0.0), one = F::f(b, 1.0);
  // The residual of a denormal's root would underflow.
  auto denormal = b.lt(x, F::f(b, LogTable<W>::kMinNormal));
  V c = b.select(denormal, b.mul(x, F::f(b, RootTable<W>::kDenormalSquare)), x);
  V s = b.sqrt(c);
  V y = b.div(one, s);
  // What division and root lost: 1 - s y, and x - s^2 which changes y by half of it over x.
  V lost = b.fma(b.neg(s), y, one);
  V root = b.fma(b.neg(s), s, c);
  V relative = b.fma(b.mul(b.mul(root, y), y), F::f(b, -0.5), lost);
  auto ordinary = b.mand(b.gt(x, zero), b.lt(x, F::f(b, kInfinity<W>)));
  y = b.select(ordinary, b.fma(y, relative, y), y);
  return b.select(denormal, b.mul(y, F::f(b, RootTable<W>::kDenormalRootOf)), y);
}

/// Cube root. <= 1 ulp; odd bit by bit; exact for cubes; -0 stays -0.
///
/// y ~ a^(-1/3) by Newton's rule of third order without division, then t = a y^2 is corrected once
/// by t^3 - a in two parts.
template <unsigned W, class B, class V>
V cbrt(B &b, V x) {
  using F = Format<W>;
  using T = RootTable<W>;
  V zero = F::f(b, 0.0), infinity = F::f(b, kInfinity<W>);
  V a = b.abs(x);
  auto denormal = b.lt(a, F::f(b, LogTable<W>::kMinNormal));
  auto ordinary = b.mand(b.gt(a, zero), b.lt(a, infinity));
  a = b.select(denormal, b.mul(a, F::f(b, T::kDenormalScale)), a);
  a = b.select(ordinary, a, F::f(b, 1.0));
  // Exponent and leading bits as a float of one third of the size, rounded to a few bits.
  V third;
  if constexpr (W == 32) {
    third = b.fma(b.sitofp(b.toBits(a), kWidth<32>), F::f(b, -1.0 / 3), F::f(b, T::kThird));
  } else {
    auto high = b.lshr(b.toBits(a), b.i64(32));
    V asFloat = b.sub(b.fromBits(b.iadd(high, b.i64(F::kRoundBits))), F::f(b, F::kRound));
    third = b.fma(asFloat, F::f(b, -1.0 / 3), F::f(b, T::kThird * 0x1p-32));
  }
  V y;
  if constexpr (W == 32) {
    y = b.fromBits(b.fptosi(third, kWidth<32>));
  } else {
    auto bits = b.isub(b.toBits(b.add(third, F::f(b, F::kRound))), b.i64(F::kRoundBits));
    y = b.fromBits(b.shl(bits, b.i64(32)));
  }
  for (int step = 0; step < T::kSteps; ++step) {
    V e = b.fma(b.mul(b.mul(b.neg(a), y), y), y, F::f(b, 1.0)); // 1 - a y^3
    V c = b.fma(e, b.fma(e, F::f(b, 14.0 / 81), F::f(b, 2.0 / 9)), F::f(b, 1.0 / 3));
    y = b.fma(b.mul(y, e), c, y);
  }
  V y2 = b.mul(y, y);
  V t = b.mul(a, y2);
  auto [square, squareLow] = twoProduct(b, t, t);
  V residual = b.fma(squareLow, t, b.fma(square, t, b.neg(a)));
  t = b.fma(b.mul(residual, y2), F::f(b, -1.0 / 3), t);
  t = b.select(denormal, b.mul(t, F::f(b, T::kDenormalRoot)), t);
  return b.select(ordinary, b.copysign(t, x), x);
}

/// sqrt(x^2 + y^2) without overflow or underflow on the way. <= 1 ulp; infinite if either is, else
/// NaN if either is.
template <unsigned W, class B, class V>
V hypot(B &b, V x, V y) {
  using F = Format<W>;
  using T = RootTable<W>;
  V one = F::f(b, 1.0), infinity = F::f(b, kInfinity<W>);
  V ax = b.abs(x), ay = b.abs(y);
  auto swap = b.lt(ax, ay);
  V large = b.select(swap, ay, ax), small = b.select(swap, ax, ay);
  auto huge = b.gt(large, F::f(b, T::kHuge)), tiny = b.lt(large, F::f(b, T::kTiny));
  V down = b.select(huge, F::f(b, T::kDown), b.select(tiny, F::f(b, T::kUp), one));
  V up = b.select(huge, F::f(b, T::kUp), b.select(tiny, F::f(b, T::kDown), one));
  V u = b.mul(large, down), v = b.mul(small, down);
  auto [p, pLow] = twoProduct(b, u, u);
  auto [q, qLow] = twoProduct(b, v, v);
  auto [sum, sumLow] = fastTwoSum(b, p, q);
  V s = b.sqrt(sum);
  V rest = b.add(b.fma(b.neg(s), s, sum), b.add(sumLow, b.add(pLow, qLow)));
  V safe = b.select(b.gt(s, F::f(b, 0.0)), b.add(s, s), one);
  V result = b.mul(b.add(s, b.div(rest, safe)), up);
  result = b.select(b.mor(b.isnan(x), b.isnan(y)), b.add(x, y), result);
  return b.select(b.mor(b.eq(ax, infinity), b.eq(ay, infinity)), infinity, result);
}

} // namespace graphc::math

#endif // GRAPHC_COMPILER_MATH_ROOTS_H
