//===- Hyperbolic.h - sinh, cosh, tanh and their inverses -------------------------------------===//
#ifndef GRAPHC_COMPILER_MATH_HYPERBOLIC_H
#define GRAPHC_COMPILER_MATH_HYPERBOLIC_H

#include "compiler/math/Exp.h"
#include "compiler/math/Log.h"
#include "compiler/math/Pieces.h"

namespace graphc::math {

/// Below kTiny sinh(x) is x; beyond kMax sinh and cosh overflow; beyond kHuge, x^2 + 1 and x^2 - 1
/// are x^2.
template <unsigned W>
struct HyperbolicTable;
template <>
struct HyperbolicTable<32> {
  static constexpr double kTiny = 0x1p-13, kMax = 89.5, kHuge = 0x1p30;
  static constexpr int kLeast = -60;
  static constexpr auto &kSinh = kSinhF32;
  static constexpr auto &kCosh = kCoshF32;
};
template <>
struct HyperbolicTable<64> {
  static constexpr double kTiny = 0x1p-28, kMax = 710.5, kHuge = 0x1p100;
  static constexpr int kLeast = -120;
  static constexpr auto &kSinh = kSinhF64;
  static constexpr auto &kCosh = kCoshF64;
};

/// Hyperbolic tangent. <= 1 ulp; odd bit by bit; -0 stays -0. Of f32 in pieces.
///
/// Of f64 below the crossing x + x^3 P(x^2). Above it 1 - 1 / d with d = (e^(2|x|) + 1) / 2 rounded
/// once: from 1 on the quotient is below 1/4, which keeps its error small beside the result's last
/// place. 2|x| = n ln 2 + 2 h, and everything is kept halved, so that nothing has to be doubled.
template <unsigned W, class B, class V>
V tanh(B &b, V x) {
  if constexpr (W == 32) {
    return piecewiseOdd(b, x, kTanhPiecesF32);
  } else {
    using F = Format<W>;
    constexpr double kOne = 20.0; // from here on tanh rounds to 1
    V one = F::f(b, 1.0), half = F::f(b, 0.5);
    V z = b.mul(x, x);
    V small = b.fma(b.mul(x, z), horner(b, z, kTanhF64), x);

    V a = leastMagnitude(b, x, F::f(b, kOne));
    V shifted = b.fma(a, F::f(b, 2 * kLog2E), F::f(b, F::kRound));
    V n = b.sub(shifted, F::f(b, F::kRound));
    auto ni = b.isub(b.toBits(shifted), F::i(b, F::kRoundBits));
    V h = a;
    for (double part : kLn2F64)
      h = b.fma(n, F::f(b, -0.5 * part), h);
    // Twice the polynomial, in half of its argument.
    V p = b.fma(b.mul(h, h), horner(b, h, kRescaled<ExpTable<W>::kExp, 2, 2>.steps), h);
    V s = powerOfTwo<W>(b, ni, n);
    V large = b.sub(one, b.div(one, b.fma(p, s, b.fma(s, half, half))));
    // The crossing is 1: x^2 is below it where |x| is, and a NaN stays in small.
    V y = b.select(b.ge(z, one), large, small);
    return b.copysign(y, x);
  }
}

/// sinh or cosh of |x|, without division. With |x| = n ln 2 + r:
///   sinh = P sinh r + M cosh r, cosh = P cosh r + M sinh r, P = (2^n + 2^-n) / 2, M = (2^n - 2^-n)
///   / 2.
/// Half of everything is computed, because P may overflow where the result does not.
template <unsigned W, bool Sinh, class B, class V>
V sinhOrCosh(B &b, V a) {
  using F = Format<W>;
  using T = HyperbolicTable<W>;
  V y = b.select(b.gt(a, F::f(b, T::kMax)), F::f(b, T::kMax), a);
  auto [n, ni, high] = splitByLn2<W>(b, y);
  V part = b.mul(n, F::f(b, ExpTable<W>::kLn2[1]));
  V r = b.sub(high, part);
  V rLow = b.sub(b.sub(high, r), part);
  V z = b.mul(r, r);
  // sinh r = r + oddTail, cosh r = 1 + evenTail.
  V oddTail = b.fma(b.mul(r, z), horner(b, z, T::kSinh), rLow);
  V evenTail = b.fma(b.mul(z, z), horner(b, z, T::kCosh), b.fma(r, rLow, b.mul(z, F::f(b, 0.5))));

  auto two = F::i(b, 2), least = F::i(b, T::kLeast);
  auto down = b.isub(F::i(b, -2), ni);
  V up = powerOfTwo<W>(b, b.isub(ni, two));
  V small = powerOfTwo<W>(b, b.select(b.slt(down, least), least, down)); // 2^-n is lost long before
  V p = b.add(up, small), m = b.sub(up, small);
  // What the leading factor lost, then leading + factor r exactly.
  V leading = Sinh ? m : p, factor = Sinh ? p : m;
  V lost = Sinh ? b.sub(b.sub(up, m), small) : b.sub(small, b.sub(p, up));
  auto [product, productLow] = twoProduct(b, factor, r);
  auto [sum, sumLow] = twoSum(b, leading, product);
  V tail = b.fma(leading, evenTail, b.fma(factor, oddTail, b.add(productLow, b.add(sumLow, lost))));
  V result = b.add(sum, tail);
  return b.add(result, result);
}

/// Hyperbolic sine. <= 1 ulp; odd bit by bit; -0 stays -0.
template <unsigned W, class B, class V>
V sinh(B &b, V x) {
  V a = b.abs(x), y = sinhOrCosh<W, true>(b, a);
  return b.select(b.lt(a, Format<W>::f(b, HyperbolicTable<W>::kTiny)), x, b.copysign(y, x));
}

/// Hyperbolic cosine. <= 1 ulp; even bit by bit.
template <unsigned W, class B, class V>
V cosh(B &b, V x) {
  return sinhOrCosh<W, false>(b, b.abs(x));
}

/// The root of q + qLow, q >= 0, as a sum of two.
template <unsigned W, class B, class V>
std::pair<V, V> sqrtPair(B &b, V q, V qLow) {
  using F = Format<W>;
  V s = b.sqrt(q);
  V rest = b.add(b.fma(b.neg(s), s, q), qLow);
  V twice = b.select(b.gt(s, F::f(b, 0.0)), b.add(s, s), F::f(b, 1.0));
  return {s, b.div(rest, twice)};
}

/// a + sqrt(a^2 + Sign) and its logarithm for a >= 0; for huge a log(2 a).
template <unsigned W, int Sign, class B, class V>
V areaOf(B &b, V a) {
  using F = Format<W>;
  V zero = F::f(b, 0.0), one = F::f(b, 1.0);
  auto huge = b.gt(a, F::f(b, HyperbolicTable<W>::kHuge));
  V c = b.select(huge, one, a);
  auto [p, pLow] = twoProduct(b, c, c);
  auto [q, qLow] = twoSum(b, p, F::f(b, Sign));
  auto [s, sLow] = sqrtPair<W>(b, q, b.add(qLow, pLow));
  auto [u, uLow] = twoSum(b, c, s);
  V y = logOfSum<W>(b, b.select(huge, a, u), b.select(huge, zero, b.add(uLow, sLow)),
                    b.select(huge, one, zero));
  return b.select(b.lt(a, F::f(b, kInfinity<W>)), y, a);
}

/// Inverse hyperbolic sine. <= 1 ulp; odd bit by bit; -0 stays -0.
template <unsigned W, class B, class V>
V asinh(B &b, V x) {
  return b.copysign(areaOf<W, 1>(b, b.abs(x)), x);
}

/// Inverse hyperbolic cosine. <= 1 ulp; NaN below 1.
template <unsigned W, class B, class V>
V acosh(B &b, V x) {
  using F = Format<W>;
  return b.select(b.lt(x, F::f(b, 1.0)), F::f(b, kNaN), areaOf<W, -1>(b, x));
}

/// Inverse hyperbolic tangent, log(1 + 2 a / (1 - a)) / 2 with the quotient in two parts. <= 1 ulp;
/// odd bit by bit; infinite at -1 and 1, NaN outside.
template <unsigned W, class B, class V>
V atanh(B &b, V x) {
  using F = Format<W>;
  V one = F::f(b, 1.0), half = F::f(b, 0.5);
  V a = b.abs(x);
  auto inside = b.lt(a, one);
  V c = b.select(inside, a, half);
  auto [d, dLow] = fastTwoSum(b, one, b.neg(c));
  V twice = b.add(c, c);
  V inverse = b.div(one, d);
  V y = b.mul(twice, inverse);
  V yLow = b.mul(b.sub(b.fma(b.neg(y), d, twice), b.mul(y, dLow)), inverse);
  auto [u, uLow] = twoSum(b, one, y);
  V result = b.mul(half, logOfSum<W>(b, u, b.add(uLow, yLow), F::f(b, 0.0)));
  V outside = b.select(b.eq(a, one), F::f(b, kInfinity<W>), F::f(b, kNaN));
  return b.copysign(b.select(inside, result, outside), x);
}

} // namespace graphc::math

#endif // GRAPHC_COMPILER_MATH_HYPERBOLIC_H
