//===- ErrorFunction.h - erf and erfc ---------------------------------------------------------===//
//
// erf(x) = x + x P(x^2) near zero, of f32 in pieces. Beyond it, and for erfc everywhere, (1 + 2 a)
// e^(a^2) erfc(a) is close to 1.25 and a polynomial in t = (a - k) / (a + k) (Shepherd and
// Laframboise). Division, a^2 and e^(-a^2) are taken in two parts.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_COMPILER_MATH_ERRORFUNCTION_H
#define GRAPHC_COMPILER_MATH_ERRORFUNCTION_H

#include "compiler/math/Exp.h"
#include "compiler/math/Pieces.h"

namespace graphc::math {

/// Beyond kMax erfc rounds to zero; below kHalf, where erf and erfc are near 1 / 2, erfc is 1 less
/// an odd polynomial.
template <unsigned W>
struct ErrorTable;
template <>
struct ErrorTable<32> {
  static constexpr double kMax = 10.1, kCentre = 2.0, kHalf = 0.46875;
  static constexpr auto &kErf = kErfF32;
  static constexpr auto &kErfcx = kErfcxF32;
};
template <>
struct ErrorTable<64> {
  static constexpr double kMax = 27.3, kCentre = 2.5, kHalf = 0.46875;
  static constexpr auto &kErf = kErfF64;
  static constexpr auto &kErfcx = kErfcxF64;
};

/// Below it erf of f64 is that polynomial.
inline constexpr double kErfCrossing = 0.9;

/// erfc(a) for a >= 0.
template <unsigned W, class B, class V>
V erfcOfPositive(B &b, V a) {
  using F = Format<W>;
  using T = ErrorTable<W>;
  V one = F::f(b, 1.0), centre = F::f(b, T::kCentre);
  a = b.select(b.gt(a, F::f(b, T::kMax)), F::f(b, T::kMax), a);
  auto [square, squareLow] = twoProduct(b, a, a);
  auto [e, eLow, n] = expPair<W>(b, b.neg(square), b.neg(squareLow));
  auto [d, dLow] = twoSum(b, one, b.add(a, a));
  // One division for t and for the quotient by d.
  V shifted = b.add(a, centre);
  V both = b.div(one, b.mul(shifted, d));
  V difference = b.sub(a, centre), scale = b.mul(d, both);
  V t = b.mul(difference, scale);
  t = b.fma(b.fma(b.neg(t), shifted, difference), scale, t);
  auto [p, pLow] = fastTwoSum(b, F::f(b, 1.25), horner(b, t, T::kErfcx));
  V inverse = b.mul(shifted, both);
  V r = b.mul(p, inverse);
  V rLow = b.mul(b.fma(b.neg(r), dLow, b.add(b.fma(b.neg(r), d, p), pLow)), inverse);
  auto [product, low] = twoProduct(b, e, r);
  low = b.add(low, b.fma(e, rLow, b.mul(eLow, r)));
  return scaleByPowerOfTwo<W>(b, b.add(product, low), n);
}

/// x + x P(x^2), erf near zero.
template <unsigned W, class B, class V>
V erfNearZero(B &b, V x) {
  return b.fma(x, horner(b, b.mul(x, x), ErrorTable<W>::kErf), x);
}

/// Complementary error function. <= 1 ulp. Near zero t would have to be more precise than a float.
template <unsigned W, class B, class V>
V erfc(B &b, V x) {
  using F = Format<W>;
  V a = b.abs(x);
  V y = erfcOfPositive<W>(b, a);
  V far = b.select(b.lt(x, F::f(b, 0.0)), b.sub(F::f(b, 2.0), y), y);
  V near = b.sub(F::f(b, 1.0), erfNearZero<W>(b, x));
  return b.select(b.lt(a, F::f(b, ErrorTable<W>::kHalf)), near, far);
}

/// Error function. <= 1 ulp; odd bit by bit; -0 stays -0. Of f32 in pieces.
template <unsigned W, class B, class V>
V erf(B &b, V x) {
  if constexpr (W == 32) {
    return piecewiseOdd(b, x, kErfPiecesF32);
  } else {
    using F = Format<W>;
    V a = b.abs(x);
    V far = b.sub(F::f(b, 1.0), erfcOfPositive<W>(b, a));
    auto near = b.lt(a, F::f(b, kErfCrossing));
    return b.copysign(b.select(near, erfNearZero<W>(b, a), far), x);
  }
}

} // namespace graphc::math

#endif // GRAPHC_COMPILER_MATH_ERRORFUNCTION_H
