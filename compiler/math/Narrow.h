//===- Narrow.h - float16 and bfloat16 as bits of 16 ------------------------------------------===//
//
// Values of these types are computed in float32: operands are widened, which is exact, and a result
// is rounded to nearest even. In between they are integers of 16 bits.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_COMPILER_MATH_NARROW_H
#define GRAPHC_COMPILER_MATH_NARROW_H

#include "compiler/math/Builder.h"

namespace graphc::math {

enum class Narrow { kNone, kHalf, kBFloat };

/// The float32 value of float16 bits.
template <class B, class V>
auto halfToFloatByBits(B &b, V bits) {
  auto x = b.zext(bits, kWidth<32>);
  auto sign = b.shl(b.band(x, b.i32(0x8000)), b.i32(16));
  auto shifted = b.shl(b.band(x, b.i32(0x7fff)), b.i32(13));
  // As float32 bits the value is 2^112 too small, subnormal numbers too; the product is exact.
  auto finite = b.toBits(b.mul(b.fromBits(shifted), b.f32(0x1p112f)));
  auto special = b.bor(shifted, b.i32(0x7f800000));
  auto isSpecial = b.sge(shifted, b.i32(0x7c00 << 13));
  return b.fromBits(b.bor(sign, b.select(isSpecial, special, finite)));
}

/// float16 bits of a float32 value, rounded to nearest even; NaN becomes quiet.
template <class B, class V>
auto floatToHalfByBits(B &b, V value) {
  auto x = b.toBits(value);
  auto sign = b.band(b.lshr(x, b.i32(16)), b.i32(0x8000));
  auto magnitude = b.band(x, b.i32(0x7fffffff));
  auto odd = b.band(b.lshr(magnitude, b.i32(13)), b.i32(1));
  // Exponents move from bias 127 to 15; the added half unit carries into them.
  auto rounded = b.iadd(magnitude, b.iadd(odd, b.i32(0xfff - (112 << 23))));
  auto normal = b.lshr(rounded, b.i32(13));
  // Adding 0.5, whose unit is that of a subnormal float16, rounds as the addition does.
  auto sum = b.toBits(b.add(b.fromBits(magnitude), b.f32(0.5f)));
  auto subnormal = b.isub(sum, b.i32(0x3f000000));
  auto r = b.select(b.slt(magnitude, b.i32(0x38800000)), subnormal, normal);
  r = b.select(b.sge(magnitude, b.i32(0x477ff000)), b.i32(0x7c00), r);
  r = b.select(b.sgt(magnitude, b.i32(0x7f800000)), b.i32(0x7e00), r);
  return b.itrunc(b.bor(sign, r), kWidth<16>);
}

/// The float32 value of 16 bits.
template <Narrow Kind, class B, class V>
auto widen(B &b, V bits) {
  if constexpr (Kind == Narrow::kBFloat)
    return b.fromBits(b.shl(b.zext(bits, kWidth<32>), b.i32(16)));
  else if constexpr (requires { b.halfToFloat(bits); })
    return b.halfToFloat(bits);
  else
    return halfToFloatByBits(b, bits);
}

/// The 16 bits of a float32 value, rounded to nearest even.
template <Narrow Kind, class B, class V>
auto narrow(B &b, V value) {
  if constexpr (Kind == Narrow::kBFloat) {
    auto x = b.toBits(value);
    auto odd = b.band(b.lshr(x, b.i32(16)), b.i32(1));
    auto rounded = b.iadd(x, b.iadd(odd, b.i32(0x7fff)));
    auto r = b.select(b.isnan(value), b.bor(x, b.i32(0x400000)), rounded);
    return b.itrunc(b.lshr(r, b.i32(16)), kWidth<16>);
  } else if constexpr (requires { b.floatToHalf(value); }) {
    return b.floatToHalf(value);
  } else {
    return floatToHalfByBits(b, value);
  }
}

/// float64 to float32 rounded to odd: rounding the result again to 16 bits rounds once.
template <class B, class V>
auto truncateToOdd(B &b, V x) {
  auto y = b.truncf(x);
  auto back = b.extf(y);
  auto bits = b.toBits(y);
  auto even = b.ieq(b.band(bits, b.i32(1)), b.i32(0));
  auto move = b.select(b.lt(b.abs(back), b.abs(x)), b.i32(1), b.i32(-1));
  // False for NaN.
  auto inexact = b.mor(b.lt(back, x), b.gt(back, x));
  return b.fromBits(b.select(b.mand(inexact, even), b.iadd(bits, move), bits));
}

/// The neighbour of x towards y in a 16-bit float, from bits and values; x where they are equal.
template <Narrow Kind, class B, class I, class V>
I nextAfterNarrow(B &b, I xBits, I yBits, V x, V y) {
  auto one = b.intConst(kWidth<16>, 1), top = b.intConst(kWidth<16>, -0x8000);
  V zero = b.f32(0.0f);
  auto grows = b.mxor(b.lt(x, y), b.lt(x, zero)); // away from zero
  I r = b.select(grows, b.iadd(xBits, one), b.isub(xBits, one));
  r = b.select(b.eq(x, zero), b.bor(one, b.band(yBits, top)), r);
  r = b.select(b.eq(x, y), xBits, r); // NumPy's, where C says y
  return b.select(b.mor(b.isnan(x), b.isnan(y)), narrow<Kind>(b, b.add(x, y)), r);
}

} // namespace graphc::math

#endif // GRAPHC_COMPILER_MATH_NARROW_H
