//===- Integer.h - Integer division, remainder, power, bits -----------------------------------===//
//
// Division rounds toward minus infinity (NumPy): x // 0 = 0, x % 0 = 0, INT_MIN // -1 = INT_MIN,
// INT_MIN % -1 = 0. Vectors have no integer division, so quotients are computed in floats wide
// enough to be exact after one correction. Division by a constant is in DivideConst.h.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_COMPILER_MATH_INTEGER_H
#define GRAPHC_COMPILER_MATH_INTEGER_H

#include "compiler/math/Convert.h"

namespace graphc::math {

/// Where quotients of 32 and 64 bit integers come from. The results are the same.
enum class DivideBy {
  kFloat64, ///< float64 division: vectors with float64 lanes
  kInteger, ///< the integer division of the target: scalars, devices without float64
};

/// Floor quotient and remainder.
template <class V>
struct DivMod {
  V quotient;
  V remainder;
};

/// 8 and 16 bits through f32, 32 bits through f64: an inexact quotient of integers below 2^n
/// differs from the nearest integer by at least 2^-n of itself, so rounding it cannot reach that
/// integer and floor is right.
template <unsigned W, bool Signed, unsigned FW, class B, class V>
DivMod<V> divModSmall(B &b, V x, V y) {
  using F = Format<FW>;
  V zero = b.intConst(kWidth<W>, 0);
  auto byZero = b.ieq(y, zero);
  V safe = b.select(byZero, b.intConst(kWidth<W>, 1), y);
  auto q = b.floor(b.div(intToFloat<W, Signed, FW>(b, x), intToFloat<W, Signed, FW>(b, safe)));
  V quotient;
  if constexpr (W < 32) {
    quotient = b.itrunc(b.fptosi(q, kWidth<32>), kWidth<W>);
  } else {
    // In [-2^31, 2^32): adding 1.5 * 2^52 leaves it in the low bits, modulo 2^32.
    quotient = b.itrunc(b.toBits(b.add(q, F::f(b, F::kRound))), kWidth<32>);
  }
  V remainder = b.isub(x, b.imul(quotient, safe));
  return {b.select(byZero, zero, quotient), b.select(byZero, zero, remainder)};
}

/// Floor quotient and remainder of signed 64-bit x and y, |y| >= 2 (INT64_MIN included), by two
/// quotients in f64.
///
/// The first, q1, errs by less than 2^-51 of itself, so r1 = x - q1 y is below |y| + 2^-51 |x| in
/// size and fits. The second, r1 / y, is at most 1 + 2^11, errs by less than 2^-40 and is rounded
/// to nearest: the rest r is at most (1/2 + 2^-40) |y| in size, and where it has the wrong sign one
/// y more makes it the remainder.
template <class B, class V>
DivMod<V> divModFloat64(B &b, V x, V y) {
  auto yf = b.sitofp(y, kWidth<64>);
  V q1 = b.fptosi(b.div(b.sitofp(x, kWidth<64>), yf), kWidth<64>);
  V r1 = b.isub(x, b.imul(q1, y));
  V q2 = b.fptosi(b.roundeven(b.div(b.sitofp(r1, kWidth<64>), yf)), kWidth<64>);
  V r = b.isub(r1, b.imul(q2, y));
  V q = b.iadd(q1, q2);
  auto adjust = b.mand(b.ine(r, b.i64(0)), b.slt(b.bxor(r, y), b.i64(0)));
  return {b.select(adjust, b.isub(q, b.i64(1)), q), b.select(adjust, b.iadd(r, y), r)};
}

/// Floor quotient and remainder from the target's truncating division.
template <class B, class V>
DivMod<V> divModHardware(B &b, V x, V y, V zero, V one) {
  V q = b.sdiv(x, y), r = b.srem(x, y);
  auto adjust = b.mand(b.ine(r, zero), b.slt(b.bxor(r, y), zero));
  return {b.select(adjust, b.isub(q, one), q), b.select(adjust, b.iadd(r, y), r)};
}

template <DivideBy Method, class B, class V>
DivMod<V> divModSigned64(B &b, V x, V y) {
  V zero = b.i64(0), one = b.i64(1);
  auto unit = b.ule(b.iadd(y, one), b.i64(2)); // -1, 0 or 1
  V safe = b.select(unit, b.i64(2), y);
  DivMod<V> t;
  if constexpr (Method == DivideBy::kFloat64)
    t = divModFloat64(b, x, safe);
  else
    t = divModHardware(b, x, safe, zero, one);
  // x * y is x, -x (wrapping) or 0 for the unit divisors.
  return {b.select(unit, b.imul(x, y), t.quotient), b.select(unit, zero, t.remainder)};
}

template <DivideBy Method, class B, class V>
DivMod<V> divModUnsigned64(B &b, V x, V y) {
  V zero = b.i64(0), one = b.i64(1);
  auto byZero = b.ieq(y, zero);
  if constexpr (Method == DivideBy::kInteger) {
    V safe = b.select(byZero, one, y);
    return {b.select(byZero, zero, b.udiv(x, safe)), b.select(byZero, zero, b.urem(x, safe))};
  } else {
    // Divide x / 2, which is a signed number, by y if that is one too: q = 2 (x / 2 / y), r = x - q
    // y < 2 y.
    auto small = b.sgt(y, one);
    V safe = b.select(small, y, b.i64(2));
    V half = divModFloat64(b, b.lshr(x, one), safe).quotient;
    V q = b.select(small, b.iadd(half, half), zero);
    V r = b.isub(x, b.imul(q, y));
    auto again = b.uge(r, y);
    q = b.select(again, b.iadd(q, one), q);
    r = b.select(again, b.isub(r, y), r);
    auto unit = b.ule(y, one);
    return {b.select(unit, b.imul(x, y), q), b.select(unit, zero, r)};
  }
}

/// Floor division and remainder of integers of W bits.
template <unsigned W, bool Signed, DivideBy Method, class B, class V>
DivMod<V> divModInt(B &b, V x, V y) {
  if constexpr (W <= 16) {
    return divModSmall<W, Signed, 32>(b, x, y);
  } else if constexpr (W == 32 && Method == DivideBy::kFloat64) {
    return divModSmall<W, Signed, 64>(b, x, y);
  } else if constexpr (W == 32) {
    V zero = b.i32(0), one = b.i32(1);
    if constexpr (!Signed) {
      auto byZero = b.ieq(y, zero);
      V safe = b.select(byZero, one, y);
      return {b.select(byZero, zero, b.udiv(x, safe)), b.select(byZero, zero, b.urem(x, safe))};
    } else {
      auto unit = b.ule(b.iadd(y, one), b.i32(2));
      V safe = b.select(unit, b.i32(2), y);
      DivMod<V> t = divModHardware(b, x, safe, zero, one);
      return {b.select(unit, b.imul(x, y), t.quotient), b.select(unit, zero, t.remainder)};
    }
  } else if constexpr (Signed) {
    return divModSigned64<Method>(b, x, y);
  } else {
    return divModUnsigned64<Method>(b, x, y);
  }
}

template <unsigned W, bool Signed, DivideBy Method, class B, class V>
V floorDivideInt(B &b, V x, V y) {
  return divModInt<W, Signed, Method>(b, x, y).quotient;
}
template <unsigned W, bool Signed, DivideBy Method, class B, class V>
V remainderInt(B &b, V x, V y) {
  return divModInt<W, Signed, Method>(b, x, y).remainder;
}

/// x ** n, wrapping. A negative exponent gives 1 for base 1, +-1 for base -1, else 0.
template <unsigned W, bool Signed, class B, class V>
V powInt(B &b, V x, V n) {
  V zero = b.intConst(kWidth<W>, 0), one = b.intConst(kWidth<W>, 1);
  V exponent = n;
  if constexpr (Signed)
    exponent = b.select(b.slt(n, zero), zero, n);
  auto bit = [&](V e) { return b.ine(b.band(e, one), zero); };
  auto [result, base, rest] = b.whileAny(
      [&](V, V, V e) { return b.ine(e, zero); },
      [&](V r, V p, V e) {
        return std::tuple<V, V, V>{b.select(bit(e), b.imul(r, p), r), b.imul(p, p), b.lshr(e, one)};
      },
      one, x, exponent);
  if constexpr (!Signed) {
    return result;
  } else {
    V minusOne = b.intConst(kWidth<W>, -1);
    V inverse = b.select(b.ieq(x, one), one, zero);
    inverse = b.select(b.ieq(x, minusOne), b.select(bit(n), minusOne, one), inverse);
    return b.select(b.slt(n, zero), inverse, result);
  }
}

/// How many bits of a W-bit integer are set: pairs, nibbles and bytes add up, and a product adds
/// all bytes in the highest one. Code generators know the form.
template <unsigned W, class B, class V>
V bitCount(B &b, V x) {
  auto mask = [&](int64_t byte) { return b.intConst(kWidth<W>, byte * 0x0101010101010101); };
  auto down = [&](V v, int64_t by) { return b.lshr(v, b.intConst(kWidth<W>, by)); };
  x = b.isub(x, b.band(down(x, 1), mask(0x55)));
  x = b.iadd(b.band(x, mask(0x33)), b.band(down(x, 2), mask(0x33)));
  x = b.band(b.iadd(x, down(x, 4)), mask(0x0f));
  return W == 8 ? x : down(b.imul(x, mask(0x01)), W - 8);
}

} // namespace graphc::math

#endif // GRAPHC_COMPILER_MATH_INTEGER_H
