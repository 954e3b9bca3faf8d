//===- Hyperbolic.h - tanh --------------------------------------------------------------------===//
#ifndef GRAPHC_COMPILER_MATH_HYPERBOLIC_H
#define GRAPHC_COMPILER_MATH_HYPERBOLIC_H

#include "compiler/math/Exp.h"

namespace graphc::math {

template <unsigned W>
struct TanhTable;
template <>
struct TanhTable<32> {
  static constexpr double kCrossing = 1.0, kOne = 10.0;
  static constexpr auto &kTanh = kTanhF32;
};
template <>
struct TanhTable<64> {
  static constexpr double kCrossing = 1.0, kOne = 20.0;
  static constexpr auto &kTanh = kTanhF64;
};

/// Hyperbolic tangent. <= 1 ulp; odd bit by bit; -0 stays -0.
///
/// Below the crossing x + x^3 P(x^2). Above it 1 - 2 / d with d = e^(2|x|) + 1 rounded once: from 1
/// on the quotient is below 1/4, which keeps its error small beside the result's last place.
template <unsigned W, class B, class V>
V tanh(B &b, V x) {
  using F = Format<W>;
  using T = TanhTable<W>;
  V one = F::f(b, 1.0);
  V a = b.abs(x);
  V z = b.mul(a, a);
  V small = b.fma(b.mul(a, z), horner(b, z, T::kTanh), a);

  V twice = b.select(b.gt(a, F::f(b, T::kOne)), F::f(b, 2 * T::kOne), b.add(a, a));
  auto [n, ni, high] = splitByLn2<W>(b, twice);
  V r = b.fma(n, F::f(b, -ExpTable<W>::kLn2[1]), high);
  V p = b.fma(b.mul(r, r), horner(b, r, ExpTable<W>::kExp), r);
  V s = powerOfTwo<W>(b, ni);
  V denominator = b.fma(p, s, b.add(s, one));
  V large = b.sub(one, b.div(F::f(b, 2.0), denominator));
  // The comparison is false for NaN, and large is then NaN.
  V y = b.select(b.lt(a, F::f(b, T::kCrossing)), small, large);
  return b.copysign(y, x);
}

} // namespace graphc::math

#endif // GRAPHC_COMPILER_MATH_HYPERBOLIC_H
