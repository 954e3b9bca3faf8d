//===- FloatDivide.h - floor_divide and remainder of floats -----------------------------------===//
//
// Exactly what NumPy computes: fmod (which is exact), then an adjustment to the divisor's sign. And
// the quotient by a divisor that many dividends share.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_COMPILER_MATH_FLOATDIVIDE_H
#define GRAPHC_COMPILER_MATH_FLOATDIVIDE_H

#include "compiler/math/Log.h"
#include "compiler/math/Select.h"

#include <bit>
#include <limits>

namespace graphc::math {

/// a mod d for finite 0 <= a < 2^mantissa d: with q = trunc(fl(a / d)), which is the true quotient
/// or one more, a - q d is a multiple of both last places and at most d in size, so the fma is
/// exact, and so is adding d to a negative one.
template <unsigned W, class B, class V>
V remainderStep(B &b, V a, V d) {
  V q = b.trunc(b.div(a, d));
  V r = b.fma(b.neg(q), d, a);
  return b.select(b.lt(r, Format<W>::f(b, 0.0)), b.add(r, d), r);
}

/// C's fmod: x - trunc(x / y) y exactly, with the sign of x; NaN for infinite x, y = 0 or NaN.
///
/// A quotient with more bits than the mantissa is reduced first by multiples d 2^k of the divisor,
/// a mantissa's worth a step (at most 13 steps for f32, 41 for f64). Exponents are those of the
/// fields, where a denormal counts as 0 and a denormal divisor is scaled up to find its own.
template <unsigned W, class B, class V>
V fmod(B &b, V x, V y) {
  using F = Format<W>;
  using I = decltype(b.toBits(x));
  V infinity = F::f(b, kInfinity<W>), zero = F::f(b, 0.0);
  V a = b.abs(x), d = b.abs(y);
  auto valid = b.mand(b.mand(b.lt(a, infinity), b.gt(d, zero)), b.mnot(b.isnan(y)));
  V aSafe = b.select(valid, a, zero), dSafe = b.select(valid, d, F::f(b, 1.0));
  auto exponent = [&](V v) { return b.lshr(b.toBits(v), F::i(b, F::kMantissa)); };

  auto denormal = b.lt(dSafe, F::f(b, LogTable<W>::kMinNormal));
  V scaled = b.select(denormal, b.mul(dSafe, F::f(b, LogTable<W>::kDenormalScale)), dSafe);
  I bound =
      b.iadd(b.select(denormal, b.isub(exponent(scaled), F::i(b, F::kMantissa)), exponent(scaled)),
             F::i(b, F::kMantissa - 1));
  auto excess = [&](V v) { return b.isub(exponent(v), bound); };
  auto [rest] = b.whileAny([&](V v) { return b.sgt(excess(v), F::i(b, 0)); },
                           [&](V v) {
                             I k = excess(v), half = b.ashr(k, F::i(b, 1));
                             V multiple = b.mul(dSafe, powerOfTwo<W>(b, half));
                             multiple = b.mul(multiple, powerOfTwo<W>(b, b.isub(k, half)));
                             return std::tuple<V>{remainderStep<W>(b, v, multiple)};
                           },
                           aSafe);
  V r = b.copysign(remainderStep<W>(b, rest, dSafe), x);
  // Infinite y: the quotient is 0 and 0 * inf must not be formed.
  r = b.select(b.eq(d, infinity), x, r);
  return b.select(valid, r, F::f(b, kNaN));
}

template <class V>
struct FloatDivMod {
  V quotient;
  V remainder;
};

/// NumPy's divmod of floats, step for step.
template <unsigned W, class B, class V>
FloatDivMod<V> divModFloat(B &b, V x, V y) {
  using F = Format<W>;
  V zero = F::f(b, 0.0), one = F::f(b, 1.0);
  V quotient = b.div(x, y);
  V mod = fmod<W>(b, x, y);
  V div = b.div(b.sub(x, mod), y);
  auto nonzero = b.ne(mod, zero);
  auto wrongSign = b.mand(nonzero, b.mxor(b.lt(y, zero), b.lt(mod, zero)));
  V remainder = b.select(wrongSign, b.add(mod, y), mod);
  remainder = b.select(nonzero, remainder, b.copysign(zero, y));
  div = b.select(wrongSign, b.sub(div, one), div);
  V floored = b.floor(div);
  floored = b.select(b.gt(b.sub(div, floored), F::f(b, 0.5)), b.add(floored, one), floored);
  floored = b.select(b.ne(div, zero), floored, b.copysign(zero, quotient));
  auto byZero = b.eq(y, zero);
  return {b.select(byZero, quotient, floored), b.select(byZero, mod, remainder)};
}

/// x // y as NumPy defines it, x / y for y = 0; as the Array API defines it where one of the two is
/// infinite: x / y.
template <unsigned W, class B, class V>
V floorDivideFloat(B &b, V x, V y) {
  V infinity = Format<W>::f(b, kInfinity<W>);
  auto infinite = b.mxor(b.eq(b.abs(x), infinity), b.eq(b.abs(y), infinity));
  auto known = b.mand(infinite, b.mnot(b.mor(b.isnan(x), b.isnan(y))));
  return b.select(known, b.div(x, y), divModFloat<W>(b, x, y).quotient);
}
/// x % y as NumPy defines it: the sign of y, NaN for y = 0.
template <unsigned W, class B, class V>
V remainderFloat(B &b, V x, V y) {
  return divModFloat<W>(b, x, y).remainder;
}

template <unsigned W>
struct SharedDivisorTable;
template <>
struct SharedDivisorTable<32> {
  static constexpr double kMostDivisor = 0x1p24, kMostDividend = 0x1p100;
};
template <>
struct SharedDivisorTable<64> {
  static constexpr double kMostDivisor = 0x1p100, kMostDividend = 0x1p800;
};

/// x / s, correctly rounded, for an s that many x share: its reciprocal r is found once.
///
/// With r the nearest float to 1 / s, q = x r is within an ulp of x / s, from which one step by its
/// remainder rounds correctly (P. Markstein, Computation of elementary functions on the IBM RISC
/// System/6000 processor, IBM J. Res. Dev. 34(1), 1990); or, where the mantissa of x is below that
/// of s, within less than an ulp and a half. More than an ulp needs both mantissas close to 2, and
/// there the step's error of a few parts in 2^mantissa keeps it from the next midpoint, which is
/// further from the quotient than that.
///
/// All of that as long as nothing over- or underflows: then, and for what is not finite, the
/// division itself.
template <unsigned W, class B, class V>
V divideByShared(B &b, V x, V s) {
  using F = Format<W>;
  using T = SharedDivisorTable<W>;
  V r = b.div(F::f(b, 1.0), s);
  auto badDivisor =
      b.mnot(b.mand(b.ge(s, F::f(b, 1 / T::kMostDivisor)), b.le(s, F::f(b, T::kMostDivisor))));
  // One comparison with both ends, of bits, which waits for no product; zeros go the long way: a
  // second look at them costs every vector more than they do.
  using Float = typename F::Float;
  using Bits = typename F::Bits;
  constexpr auto low = std::bit_cast<Bits>(Float(1 / T::kMostDividend)),
                 high = std::bit_cast<Bits>(Float(T::kMostDividend));
  auto size = b.band(b.toBits(x), F::i(b, std::numeric_limits<Bits>::max()));
  auto outside = b.ugt(b.isub(size, F::i(b, low)), F::i(b, high - low));
  V q = b.mul(x, r);
  V y = b.fma(b.neg(b.fma(q, s, b.neg(x))), r, q);
  auto [quotient] =
      b.ifAny(b.mor(outside, badDivisor), [&] { return std::tuple<V>{b.div(x, s)}; }, y);
  return quotient;
}

} // namespace graphc::math

#endif // GRAPHC_COMPILER_MATH_FLOATDIVIDE_H
