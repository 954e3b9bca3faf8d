//===- Convert.h - Casts between element types ------------------------------------------------===//
#ifndef GRAPHC_COMPILER_MATH_CONVERT_H
#define GRAPHC_COMPILER_MATH_CONVERT_H

#include "compiler/math/Select.h"

#include <cassert>

namespace graphc::math {

/// Calls fn.operator()<Width, Signed>() for an integer format known only at run time.
template <class Fn>
auto withIntFormat(unsigned width, bool isSigned, Fn fn) {
  switch (width) {
  case 8:
    return isSigned ? fn.template operator()<8, true>() : fn.template operator()<8, false>();
  case 16:
    return isSigned ? fn.template operator()<16, true>() : fn.template operator()<16, false>();
  case 32:
    return isSigned ? fn.template operator()<32, true>() : fn.template operator()<32, false>();
  default:
    assert(width == 64 && "no such integer width");
    return isSigned ? fn.template operator()<64, true>() : fn.template operator()<64, false>();
  }
}

/// Toward zero, saturating, NaN to 0: float of width FW to a signed integer of IW bits.
template <unsigned FW, unsigned IW, class B, class V>
auto floatToSigned(B &b, V x) {
  using F = Format<FW>;
  constexpr int64_t max = static_cast<int64_t>((uint64_t{1} << (IW - 1)) - 1), min = -max - 1;
  constexpr bool exact = IW - 1 <= F::kMantissa + 1; // max is a float
  x = b.select(b.isnan(x), F::f(b, 0.0), x);
  V lo = F::f(b, static_cast<double>(min));
  V low = b.select(b.lt(x, lo), lo, x);
  if constexpr (exact) {
    V hi = F::f(b, static_cast<double>(max));
    V y = b.select(b.gt(low, hi), hi, low);
    return b.itrunc(b.fptosi(y, kWidth<(IW < 32 ? 32 : IW)>), kWidth<IW>);
  } else {
    // 2^(IW-1) is the first value out of range; its conversion is not used.
    auto big = b.ge(low, F::f(b, -static_cast<double>(min)));
    V y = b.select(big, F::f(b, 0.0), low);
    return b.select(big, b.intConst(kWidth<IW>, max), b.fptosi(y, kWidth<IW>));
  }
}

/// Toward zero, saturating (negative to 0), NaN to 0: float of width FW to an unsigned integer of
/// IW bits.
template <unsigned FW, unsigned IW, class B, class V>
auto floatToUnsigned(B &b, V x) {
  using F = Format<FW>;
  V zero = F::f(b, 0.0);
  V low = b.select(b.gt(x, zero), x, zero); // NaN to 0
  if constexpr (IW < 32) {
    V hi = F::f(b, static_cast<double>((1 << IW) - 1));
    return b.itrunc(b.fptosi(b.select(b.gt(low, hi), hi, low), kWidth<32>), kWidth<IW>);
  } else {
    // The upper half of the range is moved down by 2^(IW-1), exactly, and its top bit put back.
    constexpr double half = IW == 32 ? 0x1p31 : 0x1p63;
    constexpr int64_t topBit = static_cast<int64_t>(uint64_t{1} << (IW - 1));
    auto tooBig = b.ge(low, F::f(b, 2 * half));
    auto upper = b.ge(low, F::f(b, half));
    V y = b.select(upper, b.sub(low, F::f(b, half)), low);
    y = b.select(tooBig, zero, y);
    auto bits = b.fptosi(y, kWidth<IW>);
    bits = b.bxor(bits, b.select(upper, b.intConst(kWidth<IW>, topBit), b.intConst(kWidth<IW>, 0)));
    return b.select(tooBig, b.intConst(kWidth<IW>, -1), bits);
  }
}

template <unsigned FW, unsigned IW, bool Signed, class B, class V>
auto floatToInt(B &b, V x) {
  if constexpr (Signed)
    return floatToSigned<FW, IW>(b, x);
  else
    return floatToUnsigned<FW, IW>(b, x);
}

/// Integer of IW bits to a float of FW bits, rounded to nearest even.
template <unsigned IW, bool Signed, unsigned FW, class B, class V>
auto intToFloat(B &b, V x) {
  if constexpr (IW < 32) {
    if constexpr (Signed)
      return b.sitofp(b.sext(x, kWidth<32>), kWidth<FW>);
    else
      return b.sitofp(b.zext(x, kWidth<32>), kWidth<FW>);
  } else if constexpr (Signed) {
    return b.sitofp(x, kWidth<FW>);
  } else {
    return b.uitofp(x, kWidth<FW>);
  }
}

/// Integer to integer: the sign of the source says how it widens; narrowing keeps the low bits.
template <unsigned From, bool FromSigned, unsigned To, class B, class V>
auto intToInt(B &b, V x) {
  if constexpr (To < From)
    return b.itrunc(x, kWidth<To>);
  else if constexpr (To == From)
    return x;
  else if constexpr (FromSigned)
    return b.sext(x, kWidth<To>);
  else
    return b.zext(x, kWidth<To>);
}

/// x != 0 as a mask (NaN is true).
template <unsigned W, class B, class V>
auto floatToBool(B &b, V x) {
  return b.ne(x, Format<W>::f(b, 0.0));
}
template <unsigned W, class B, class V>
auto intToBool(B &b, V x) {
  return b.ine(x, b.intConst(kWidth<W>, 0));
}
/// 1 where the mask holds, else 0.
template <unsigned W, class B, class M>
auto boolToInt(B &b, M m) {
  return b.select(m, b.intConst(kWidth<W>, 1), b.intConst(kWidth<W>, 0));
}
template <unsigned W, class B, class M>
auto boolToFloat(B &b, M m) {
  return b.select(m, Format<W>::f(b, 1.0), Format<W>::f(b, 0.0));
}

} // namespace graphc::math

#endif // GRAPHC_COMPILER_MATH_CONVERT_H
