//===- DivideConst.h - Floor division and remainder by a constant -----------------------------===//
//
// The divisor is known when the code is made, so no division is left. Up to 16 bits: the
// high half of one product; 32 bits: one 64-bit multiplication; 64 bits: f64 quotients where the
// target has f64 lanes, else the high half of a product.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_COMPILER_MATH_DIVIDECONST_H
#define GRAPHC_COMPILER_MATH_DIVIDECONST_H

#include "compiler/math/Integer.h"

#include <bit>

namespace graphc::math {

/// Largest divisors of the f64 forms, and the bound on |y| of the one-step form (kSmallDividend).
inline constexpr int64_t kMaxFloatDivisor = (int64_t{1} << 51) - 1;
inline constexpr int64_t kMaxSmallDivisor = (int64_t{1} << 50) - 1;
inline constexpr int64_t kSmallDividend = int64_t{1} << 51;

/// One-step form on values that are f64 integers: y mod p in [0, p), for |y| < 2^51 and 2 <= p <
/// 2^50.
///
/// With M = 1.5 2^52, q = (y / p + M) - M is an integer. y * fl(1/p) errs by at most |y| / p 2^-53
/// <= 1/8, so |q - y / p| <= 5/8 and r = y - q p lies in [-5/8 p, 5/8 p]; it is an integer below
/// 2^50, so the fma gives it exactly. Canonical = false leaves that signed representative: sums and
/// products of such values may follow before the last remainder makes it canonical.
template <bool Canonical, class B, class V>
V remainderSmallF64(B &b, V y, int64_t p) {
  V divisor = b.f64(static_cast<double>(p));
  V round = b.f64(Format<64>::kRound);
  V q = b.sub(b.fma(y, b.f64(1.0 / static_cast<double>(p)), round), round);
  V r = b.fma(b.neg(q), divisor, y);
  if constexpr (!Canonical)
    return r;
  return b.select(b.lt(r, b.f64(0.0)), b.add(r, divisor), r);
}

/// The integer |x| < 2^51 as f64 and back. Not every vector unit converts 64-bit integers in one
/// operation; adding into the low bits of 1.5 2^52 needs two that all have. A builder for a target
/// that converts says so by int64Conversions().
template <class B>
bool convertsInt64(B &b) {
  if constexpr (requires { b.int64Conversions(); })
    return b.int64Conversions();
  else
    return false;
}
template <class B, class V>
auto smallToF64(B &b, V x) {
  if (convertsInt64(b))
    return b.sitofp(x, kWidth<64>);
  return b.sub(b.fromBits(b.iadd(x, b.i64(Format<64>::kRoundBits))), b.f64(Format<64>::kRound));
}
template <class B, class V>
auto smallFromF64(B &b, V x) {
  if (convertsInt64(b))
    return b.fptosi(x, kWidth<64>);
  return b.isub(b.toBits(b.add(x, b.f64(Format<64>::kRound))), b.i64(Format<64>::kRoundBits));
}

/// |y| < 2^51, 2 <= p < 2^50: the one-step form on int64 values.
template <class B, class V>
DivMod<V> divModSmall64(B &b, V y, int64_t p) {
  auto yf = smallToF64(b, y);
  auto round = b.f64(Format<64>::kRound);
  auto divisor = b.f64(static_cast<double>(p));
  auto shifted = b.fma(yf, b.f64(1.0 / static_cast<double>(p)), round);
  auto r = b.fma(b.neg(b.sub(shifted, round)), divisor, yf);
  auto negative = b.lt(r, b.f64(0.0));
  V q = b.isub(b.toBits(shifted), b.i64(Format<64>::kRoundBits));
  V quotient = b.select(negative, b.isub(q, b.i64(1)), q);
  return {quotient, smallFromF64(b, b.select(negative, b.add(r, divisor), r))};
}

/// Any int64 y, 2 <= p < 2^51: two f64 quotients.
///
/// q1 = trunc(fl(fl(y) fl(1/p))) fits (|y| / p <= 2^62) and errs by less than 1 + 3 2^-53 2^63 / p,
/// so |r1| = |y - q1 p| < p + 3072 < 2^52 and is an exact f64. The second quotient is at most 1 +
/// 3072 / p in size, so its error before rounding is below 2^-41 and |q2 - r1 / p| < 1/2 + 2^-41: r
/// = r1 - q2 p lies strictly within (-p, p), as an exact fma result, and one conditional addition
/// makes it canonical.
template <class B, class V>
DivMod<V> divModConstFloat64(B &b, V y, int64_t p) {
  auto inverse = b.f64(1.0 / static_cast<double>(p));
  auto divisor = b.f64(static_cast<double>(p));
  auto round = b.f64(Format<64>::kRound);
  V q1 = b.fptosi(b.mul(b.sitofp(y, kWidth<64>), inverse), kWidth<64>);
  auto r1 = b.sitofp(b.isub(y, b.imul(q1, b.i64(p))), kWidth<64>);
  auto shifted = b.fma(r1, inverse, round);
  auto r = b.fma(b.neg(b.sub(shifted, round)), divisor, r1);
  auto negative = b.lt(r, b.f64(0.0));
  V q2 = b.isub(b.toBits(shifted), b.i64(Format<64>::kRoundBits));
  V q = b.iadd(q1, q2);
  V quotient = b.select(negative, b.isub(q, b.i64(1)), q);
  return {quotient, b.fptosi(b.select(negative, b.add(r, divisor), r), kWidth<64>)};
}

/// High 64 bits of the unsigned product, from 32-bit halves (or the builder's own umulhi).
template <class B, class V>
V mulHighUnsigned64(B &b, V x, V y) {
  if constexpr (requires { b.umulhi(x, y); }) {
    return b.umulhi(x, y);
  } else {
    V mask = b.i64(0xffffffff), s = b.i64(32);
    V xl = b.band(x, mask), xh = b.lshr(x, s), yl = b.band(y, mask), yh = b.lshr(y, s);
    V middle = b.iadd(b.imul(xh, yl), b.lshr(b.imul(xl, yl), s));
    V middle2 = b.iadd(b.imul(xl, yh), b.band(middle, mask));
    return b.iadd(b.imul(xh, yh), b.iadd(b.lshr(middle, s), b.lshr(middle2, s)));
  }
}

/// m = ceil(2^(bits + s) / p) for s = ceil(log2 p), which divides `bits`-bit dividends: u / p = (u
/// m) >> (bits + s). m has bits + 1 bits; its top bit is dropped when `bits` is 64 (the caller adds
/// the dividend back).
struct Magic {
  uint64_t multiplier;
  unsigned shift;
};
inline Magic magicOf(uint64_t p, unsigned bits) {
  unsigned s = 64 - static_cast<unsigned>(std::countl_zero(p - 1));
  // Long division of 2^(bits + s) by p, one bit at a time: the quotient modulo 2^64.
  uint64_t quotient = 0, rest = 0;
  for (unsigned i = 0; i <= bits + s; ++i) {
    bool carry = rest >> 63;
    rest = rest << 1 | (i == 0);
    quotient <<= 1;
    if (carry || rest >= p) {
      rest -= p;
      quotient |= 1;
    }
  }
  return {quotient + (rest != 0), s};
}

/// Any signed 64-bit y, any p >= 2, without f64: floor(y / p) = ~(~y / p) for negative y, and the
/// non-negative of y and ~y has 63 bits.
template <class B, class V>
DivMod<V> divModMagicSigned64(B &b, V y, int64_t p) {
  Magic magic = magicOf(static_cast<uint64_t>(p), 63);
  V sign = b.ashr(y, b.i64(63));
  V u = b.bxor(y, sign);
  V high = mulHighUnsigned64(b, u, b.i64(static_cast<int64_t>(magic.multiplier)));
  V q = b.bxor(b.lshr(high, b.i64(magic.shift - 1)), sign);
  return {q, b.isub(y, b.imul(q, b.i64(p)))};
}

/// Any unsigned 64-bit y, any p >= 3 that is no power of two, without f64.
template <class B, class V>
DivMod<V> divModMagicUnsigned64(B &b, V y, uint64_t p) {
  Magic magic = magicOf(p, 64);
  V high = mulHighUnsigned64(b, y, b.i64(static_cast<int64_t>(magic.multiplier)));
  V sum = b.iadd(b.lshr(b.isub(y, high), b.i64(1)), high); // (y + high) / 2 without overflow
  V q = b.lshr(sum, b.i64(magic.shift - 1));
  return {q, b.isub(y, b.imul(q, b.i64(static_cast<int64_t>(p))))};
}

/// The high half of the unsigned product by a constant of W bits.
template <unsigned W, class B, class V>
V mulHighNarrow(B &b, V x, uint64_t factor) {
  auto wide =
      b.imul(b.zext(x, kWidth<2 * W>), b.intConst(kWidth<2 * W>, static_cast<int64_t>(factor)));
  return b.itrunc(b.lshr(wide, b.intConst(kWidth<2 * W>, W)), kWidth<W>);
}

/// 8 and 16 bits, p >= 2 (unsigned: no power of two): the forms of 64 bits without f64.
template <unsigned W, bool Signed, class B, class V>
DivMod<V> divModConstNarrow(B &b, V y, int64_t p) {
  auto constant = [&](int64_t v) { return b.intConst(kWidth<W>, v); };
  V q;
  if constexpr (Signed) {
    Magic magic = magicOf(static_cast<uint64_t>(p), W - 1);
    V sign = b.ashr(y, constant(W - 1));
    V high = mulHighNarrow<W>(b, b.bxor(y, sign), magic.multiplier);
    q = b.bxor(b.lshr(high, constant(magic.shift - 1)), sign);
  } else {
    Magic magic = magicOf(static_cast<uint64_t>(p), W);
    V high = mulHighNarrow<W>(b, y, magic.multiplier & ((uint64_t{1} << W) - 1));
    V sum = b.iadd(b.lshr(b.isub(y, high), constant(1)), high); // (y + high) / 2
    q = b.lshr(sum, constant(magic.shift - 1));
  }
  return {q, b.isub(y, b.imul(q, constant(p)))};
}

/// 32 bits, p >= 2: a 31-bit dividend (sign removed as above) times a 32-bit multiplier, or a
/// 32-bit one times 33 bits.
template <bool Signed, class B, class V>
DivMod<V> divModConst32(B &b, V y, int64_t p) {
  V q;
  if constexpr (Signed) {
    Magic magic = magicOf(static_cast<uint64_t>(p), 31);
    V sign = b.ashr(y, b.i32(31));
    auto wide = b.zext(b.bxor(y, sign), kWidth<64>);
    auto product = b.imul(wide, b.i64(static_cast<int64_t>(magic.multiplier)));
    q = b.bxor(b.itrunc(b.lshr(product, b.i64(31 + magic.shift)), kWidth<32>), sign);
  } else {
    Magic magic = magicOf(static_cast<uint64_t>(p), 32);
    auto wide = b.zext(y, kWidth<64>);
    auto low = b.imul(wide, b.i64(static_cast<int64_t>(magic.multiplier & 0xffffffff)));
    auto sum = b.iadd(b.lshr(low, b.i64(32)), wide); // the multiplier's 33rd bit is set
    q = b.itrunc(b.lshr(sum, b.i64(magic.shift)), kWidth<32>);
  }
  return {q, b.isub(y, b.imul(q, b.i32(static_cast<int32_t>(p))))};
}

/// p >= 2 and no power of two, or any positive p of 8 to 32 signed bits but 1.
template <unsigned W, bool Signed, DivideBy Method, class B, class V>
DivMod<V> divModPositive(B &b, V y, uint64_t p, bool small) {
  if constexpr (W <= 16) {
    return divModConstNarrow<W, Signed>(b, y, static_cast<int64_t>(p));
  } else if constexpr (W == 32) {
    return divModConst32<Signed>(b, y, static_cast<int64_t>(p));
  } else {
    if constexpr (Method == DivideBy::kFloat64) {
      if (small && p <= static_cast<uint64_t>(kMaxSmallDivisor))
        return divModSmall64(b, y, static_cast<int64_t>(p));
      if (Signed && p <= static_cast<uint64_t>(kMaxFloatDivisor))
        return divModConstFloat64(b, y, static_cast<int64_t>(p));
    }
    if constexpr (Signed)
      return divModMagicSigned64(b, y, static_cast<int64_t>(p));
    else
      return divModMagicUnsigned64(b, y, p);
  }
}

/// Floor division and remainder of integers of W bits by the constant p (for unsigned types its
/// bits). `small`: every dividend is known to satisfy |y| < 2^51.
template <unsigned W, bool Signed, DivideBy Method, class B, class V>
DivMod<V> divModConst(B &b, V y, int64_t p, bool small = false) {
  constexpr uint64_t mask = W == 64 ? ~uint64_t{0} : (uint64_t{1} << (W % 64)) - 1;
  V zero = b.intConst(kWidth<W>, 0);
  bool negative = Signed && p < 0;
  uint64_t magnitude =
      (negative ? uint64_t{0} - static_cast<uint64_t>(p) : static_cast<uint64_t>(p)) & mask;
  if (magnitude == 0)
    return {zero, zero};
  DivMod<V> r;
  if (magnitude == 1) {
    r = {y, zero};
  } else if (Signed && magnitude == mask / 2 + 1) {
    auto below = b.slt(y, zero);
    r = {b.select(below, b.intConst(kWidth<W>, -1), zero),
         b.select(below, b.isub(y, b.intConst(kWidth<W>, p)), y)};
  } else if (std::has_single_bit(magnitude)) {
    V shift = b.intConst(kWidth<W>, std::countr_zero(magnitude));
    r.quotient = Signed ? b.ashr(y, shift) : b.lshr(y, shift);
    r.remainder = b.band(y, b.intConst(kWidth<W>, static_cast<int64_t>(magnitude - 1)));
  } else {
    r = divModPositive<W, Signed, Method>(b, y, magnitude, small);
  }
  if (!negative)
    return r;
  // y / -p = -ceil(y / p).
  auto inexact = b.ine(r.remainder, zero);
  V up = b.select(inexact, b.iadd(r.quotient, b.intConst(kWidth<W>, 1)), r.quotient);
  V back = b.select(inexact, b.iadd(r.remainder, b.intConst(kWidth<W>, p)), r.remainder);
  return {b.isub(zero, up), back};
}

template <unsigned W, bool Signed, DivideBy Method, class B, class V>
V floorDivideConst(B &b, V y, int64_t p, bool small = false) {
  return divModConst<W, Signed, Method>(b, y, p, small).quotient;
}
template <unsigned W, bool Signed, DivideBy Method, class B, class V>
V remainderConst(B &b, V y, int64_t p, bool small = false) {
  return divModConst<W, Signed, Method>(b, y, p, small).remainder;
}

} // namespace graphc::math

#endif // GRAPHC_COMPILER_MATH_DIVIDECONST_H
