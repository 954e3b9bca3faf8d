//===- Trig.h - sin, cos and tan for every finite argument ------------------------------------===//
//
// A polynomial for sin or cos of what is left of quarter turns, by the quadrant (QuarterTurns.h).
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_COMPILER_MATH_TRIG_H
#define GRAPHC_COMPILER_MATH_TRIG_H

#include "compiler/math/QuarterTurns.h"

namespace graphc::math {

/// sin and cos of r, each as a large part and what is to be added.
template <class V>
struct SinCos {
  V sine, sineTail;
  V cosine, cosineTail;
};
template <unsigned W, class B, class R>
auto sinCosParts(B &b, R r) {
  using F = Format<W>;
  using T = TrigTable<W>;
  auto one = F::f(b, 1.0);
  auto z = b.mul(r.high, r.high);
  auto halfZ = b.mul(z, F::f(b, 0.5));
  // sin(h + l) = h + h z S(z) + l (1 - z / 2)
  auto low = b.neg(r.minusLow);
  auto sinLow = b.fma(r.minusLow, halfZ, low);
  auto sineTail = b.fma(b.mul(r.high, z), horner(b, z, T::kSin), sinLow);
  // cos(h + l) = 1 - z / 2 + z^2 C(z) - h l, with what 1 - z / 2 loses
  auto w = b.sub(one, halfZ);
  auto wLow = b.sub(b.sub(one, w), halfZ);
  auto cosLow = b.fma(r.high, r.minusLow, wLow);
  auto cosineTail = b.fma(b.mul(z, z), horner(b, z, T::kCos), cosLow);
  return SinCos<decltype(z)>{r.high, sineTail, w, cosineTail};
}

/// The coefficients of cos where `odd`, else those of sin.
template <unsigned W, class B, class V, class M, std::size_t N, class C>
auto chosenHorner(B &b, V z, M odd, const C (&cos)[N], const C (&sin)[N]) {
  auto chosen = [&](std::size_t i) {
    return b.select(odd, Format<W>::f(b, cos[i]), Format<W>::f(b, sin[i]));
  };
  V p = chosen(N - 1);
  for (std::size_t i = N - 1; i-- > 0;)
    p = b.fma(p, z, chosen(i));
  return p;
}

/// sin of r for an even quadrant, cos of r for an odd one, negated in the upper two. With z = h^2,
/// sin(h + l) = h + (h (z S(z)) + l) and cos(h + l) = 1 + h (h (-1/2 + z C(z)) - l): what is left
/// out of l is below a seventh of the last place, and nothing waits for l but the last two steps.
template <unsigned W, class B, class R>
auto sinOfQuadrant(B &b, R r) {
  using F = Format<W>;
  using T = TrigTable<W>;
  auto h = r.high, low = b.neg(r.minusLow);
  auto z = b.mul(h, h);
  auto zero = F::f(b, 0.0), one = F::f(b, 1.0), minusHalf = F::f(b, -0.5);
  auto odd = b.ine(b.band(r.quadrant, F::i(b, 1)), F::i(b, 0));
  auto added = [&](auto polynomial, auto first, auto last) {
    return b.fma(h, b.fma(z, polynomial, first), last);
  };
  auto unsignedSine = [&] {
    if constexpr (requires { b.blends(h); })
      if (b.blends(h)) {
        auto both = added(chosenHorner<W>(b, z, odd, T::kCos, T::kSin),
                          b.select(odd, minusHalf, zero), b.select(odd, r.minusLow, low));
        return b.fma(b.select(odd, h, one), both, b.select(odd, one, h));
      }
    auto cosine = added(horner(b, z, T::kCos), minusHalf, r.minusLow);
    auto sine = added(horner(b, z, T::kSin), zero, low);
    return b.select(odd, b.fma(h, cosine, one), b.add(h, sine));
  }();
  auto sign = b.shl(b.band(r.quadrant, F::i(b, 2)), F::i(b, W - 2));
  return b.fromBits(b.bxor(b.toBits(unsignedSine), sign));
}

/// <= 1 ulp for every finite x; -0 stays -0; NaN at infinities.
template <unsigned W, class B, class V>
V sin(B &b, V x) {
  return sinOfQuadrant<W>(b, reduceQuarterTurns<W>(b, x));
}

/// cos from what its argument was reduced to.
template <unsigned W, class B, class R>
auto cosOfReduced(B &b, R r) {
  r.quadrant = b.iadd(r.quadrant, Format<W>::i(b, 1));
  return sinOfQuadrant<W>(b, r);
}

/// <= 1 ulp for every finite x; NaN at infinities.
template <unsigned W, class B, class V>
V cos(B &b, V x) {
  return cosOfReduced<W>(b, reduceQuarterTurns<W>(b, x));
}
/// The same of |x| <= kMaxReduced.
template <unsigned W, class B, class V>
V cosOfSmall(B &b, V x) {
  return cosOfReduced<W>(b, reduceMedium<W>(b, x));
}

/// <= 1 ulp for every finite x; -0 stays -0; NaN at infinities. sin r / cos r, or -cos r / sin r in
/// odd quadrants, all in two parts.
template <unsigned W, class B, class V>
V tan(B &b, V x) {
  using F = Format<W>;
  auto r = reduceQuarterTurns<W>(b, x);
  auto parts = sinCosParts<W>(b, r);
  auto [sine, sineLow] = fastTwoSum(b, parts.sine, parts.sineTail);
  V squareLow = twoProduct(b, r.high, r.high).second;
  auto [cosine, cosineLow] =
      fastTwoSum(b, parts.cosine, b.fma(squareLow, F::f(b, -0.5), parts.cosineTail));
  auto odd = b.ine(b.band(r.quadrant, F::i(b, 1)), F::i(b, 0));
  V n = b.select(odd, cosine, sine), nLow = b.select(odd, cosineLow, sineLow);
  V d = b.select(odd, sine, cosine), dLow = b.select(odd, sineLow, cosineLow);
  V inverse = b.div(F::f(b, 1.0), d);
  V q = b.mul(n, inverse);
  V rest = b.fma(b.neg(q), dLow, b.add(b.fma(b.neg(q), d, n), nLow));
  V y = b.fma(rest, inverse, q);
  return b.select(b.eq(x, F::f(b, 0.0)), x, b.select(odd, b.neg(y), y));
}

} // namespace graphc::math

#endif // GRAPHC_COMPILER_MATH_TRIG_H
