//===- Select.h - Order and sign of floats and integers ---------------------------------------===//
#ifndef GRAPHC_COMPILER_MATH_SELECT_H
#define GRAPHC_COMPILER_MATH_SELECT_H

#include "compiler/math/Format.h"

namespace graphc::math {

//===----------------------------------------------------------------------------------------===//
// Floats
//===----------------------------------------------------------------------------------------===//

template <unsigned W, class B, class V>
auto isInf(B &b, V x) {
  return b.eq(b.abs(x), Format<W>::f(b, kInfinity<W>));
}
template <unsigned W, class B, class V>
auto isFinite(B &b, V x) {
  return b.lt(b.abs(x), Format<W>::f(b, kInfinity<W>));
}

/// Smaller value; NaN if either is NaN (x's first); -0 < +0.
template <class B, class V>
V minimumFloat(B &b, V x, V y) {
  if constexpr (requires { b.keepsNan(x); })
    if (b.keepsNan(x))
      return b.minimum(x, y);
  if constexpr (requires { b.smallerNumber(x, y); })
    if (b.scalesByFloats(x))
      return b.select(b.mor(b.isnan(x), b.isnan(y)), b.add(x, y), b.smallerNumber(x, y));
  V r = b.select(b.lt(x, y), x, y);
  r = b.select(b.isnan(x), x, r);
  // Equal values differ at most in the sign of zero.
  return b.select(b.eq(x, y), b.fromBits(b.bor(b.toBits(x), b.toBits(y))), r);
}
/// Larger value; NaN if either is NaN (x's first); +0 > -0.
template <class B, class V>
V maximumFloat(B &b, V x, V y) {
  if constexpr (requires { b.keepsNan(x); })
    if (b.keepsNan(x))
      return b.maximum(x, y);
  if constexpr (requires { b.largerNumber(x, y); })
    if (b.scalesByFloats(x))
      return b.select(b.mor(b.isnan(x), b.isnan(y)), b.add(x, y), b.largerNumber(x, y));
  V r = b.select(b.gt(x, y), x, y);
  r = b.select(b.isnan(x), x, r);
  return b.select(b.eq(x, y), b.fromBits(b.band(b.toBits(x), b.toBits(y))), r);
}
/// x, but at most or at least a bound that is not 0; NaN stays NaN.
template <class B, class V>
V atMost(B &b, V x, V bound) {
  if constexpr (requires { b.keepsNan(x); })
    if (b.keepsNan(x))
      return b.minimum(x, bound);
  return b.select(b.gt(x, bound), bound, x);
}
template <class B, class V>
V atLeast(B &b, V x, V bound) {
  if constexpr (requires { b.keepsNan(x); })
    if (b.keepsNan(x))
      return b.maximum(x, bound);
  return b.select(b.lt(x, bound), bound, x);
}

/// The lesser of |x| and a positive bound; of NaN either of the two.
template <class B, class V>
V leastMagnitude(B &b, V x, V bound) {
  if constexpr (requires { b.leastMagnitude(x, bound); })
    if (b.scalesByFloats(x))
      return b.leastMagnitude(x, bound);
  return atMost(b, b.abs(x), bound);
}
/// minimum(maximum(x, lo), hi).
template <class B, class V>
V clipFloat(B &b, V x, V lo, V hi) {
  return minimumFloat(b, maximumFloat(b, x, lo), hi);
}
/// -1, 0 or 1; NaN stays NaN; +0 for both zeros.
template <unsigned W, class B, class V>
V signFloat(B &b, V x) {
  using F = Format<W>;
  V zero = F::f(b, 0.0);
  V r = b.select(b.lt(x, zero), F::f(b, -1.0), b.select(b.eq(x, zero), zero, x));
  return b.select(b.gt(x, zero), F::f(b, 1.0), r);
}

/// The sign bit, of a NaN too.
template <unsigned W, class B, class V>
auto signbit(B &b, V x) {
  return b.slt(b.toBits(x), Format<W>::i(b, 0));
}
/// |x| with the sign bit of y.
template <unsigned W, class B, class V>
V copySign(B &b, V x, V y) {
  return b.copysign(x, y);
}
/// The neighbour of x towards y; y where they are equal.
template <unsigned W, class B, class V>
V nextAfter(B &b, V x, V y) {
  using F = Format<W>;
  V zero = F::f(b, 0.0);
  auto bits = b.toBits(x), one = F::i(b, 1);
  auto grows = b.mxor(b.lt(x, y), b.lt(x, zero)); // away from zero
  V r = b.fromBits(b.select(grows, b.iadd(bits, one), b.isub(bits, one)));
  r = b.select(b.eq(x, zero), b.copysign(b.fromBits(one), y), r);
  r = b.select(b.eq(x, y), y, r);
  return b.select(b.mor(b.isnan(x), b.isnan(y)), b.add(x, y), r);
}

//===----------------------------------------------------------------------------------------===//
// Integers of width W
//===----------------------------------------------------------------------------------------===//

template <bool Signed, class B, class V>
auto lessInt(B &b, V x, V y) {
  if constexpr (Signed)
    return b.slt(x, y);
  else
    return b.ult(x, y);
}
template <bool Signed, class B, class V>
V minimumInt(B &b, V x, V y) {
  return b.select(lessInt<Signed>(b, x, y), x, y);
}
template <bool Signed, class B, class V>
V maximumInt(B &b, V x, V y) {
  return b.select(lessInt<Signed>(b, y, x), x, y);
}
template <bool Signed, class B, class V>
V clipInt(B &b, V x, V lo, V hi) {
  return minimumInt<Signed>(b, maximumInt<Signed>(b, x, lo), hi);
}
template <unsigned W, class B, class V>
V negInt(B &b, V x) {
  V zero = b.intConst(kWidth<W>, 0);
  return b.isub(zero, x);
}
/// |x|, INT_MIN unchanged; the identity for unsigned.
template <unsigned W, bool Signed, class B, class V>
V absInt(B &b, V x) {
  if constexpr (!Signed) {
    return x;
  } else {
    V zero = b.intConst(kWidth<W>, 0);
    return b.select(b.slt(x, zero), b.isub(zero, x), x);
  }
}
template <unsigned W, bool Signed, class B, class V>
V signInt(B &b, V x) {
  V zero = b.intConst(kWidth<W>, 0), one = b.intConst(kWidth<W>, 1);
  V r = b.select(b.ine(x, zero), one, zero);
  if constexpr (Signed)
    r = b.select(b.slt(x, zero), b.intConst(kWidth<W>, -1), r);
  return r;
}
/// x << n; 0 when n is negative or at least W.
template <unsigned W, class B, class V>
V shiftLeft(B &b, V x, V n) {
  V zero = b.intConst(kWidth<W>, 0);
  auto inRange = b.ult(n, b.intConst(kWidth<W>, W));
  return b.select(inRange, b.shl(x, b.select(inRange, n, zero)), zero);
}
/// x >> n, arithmetic if signed; a count that is negative or at least W gives 0, or -1 for negative
/// x.
template <unsigned W, bool Signed, class B, class V>
V shiftRight(B &b, V x, V n) {
  auto inRange = b.ult(n, b.intConst(kWidth<W>, W));
  if constexpr (Signed) {
    return b.ashr(x, b.select(inRange, n, b.intConst(kWidth<W>, W - 1)));
  } else {
    V zero = b.intConst(kWidth<W>, 0);
    return b.select(inRange, b.lshr(x, b.select(inRange, n, zero)), zero);
  }
}

} // namespace graphc::math

#endif // GRAPHC_COMPILER_MATH_SELECT_H
