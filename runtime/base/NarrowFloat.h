//===- NarrowFloat.h - float16 and bfloat16 on the host ---------------------------------------===//
#ifndef GRAPHC_RUNTIME_BASE_NARROWFLOAT_H
#define GRAPHC_RUNTIME_BASE_NARROWFLOAT_H

#include "runtime/base/DType.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace graphc {

/// Layout of a 16-bit float: stored mantissa bits and the exponent of the smallest normal number.
struct NarrowFormat {
  int mantissa, minExponent;
  uint16_t infinity;
};
constexpr NarrowFormat narrowFormat(DType t) {
  return t == DType::Float16 ? NarrowFormat{10, -14, 0x7c00} : NarrowFormat{7, -126, 0x7f80};
}

/// Bits of `v` in a 16-bit float dtype, rounded once to nearest even; NaN is quiet and positive.
inline uint16_t narrowBits(double v, DType t) {
  NarrowFormat f = narrowFormat(t);
  if (std::isnan(v))
    return static_cast<uint16_t>(f.infinity | 1u << (f.mantissa - 1));
  unsigned sign = std::signbit(v) ? 0x8000u : 0u, bits = f.infinity;
  double magnitude = std::fabs(v);
  if (magnitude == 0) {
    bits = 0;
  } else if (std::isfinite(magnitude)) {
    int exponent = std::clamp(std::ilogb(magnitude), f.minExponent, 1 - f.minExponent);
    double units = std::nearbyint(std::ldexp(magnitude, f.mantissa - exponent));
    // Units of a normal number hold the implicit bit, which adds one to the exponent field.
    double whole = std::ldexp(exponent - f.minExponent, f.mantissa) + units;
    bits = static_cast<unsigned>(std::min<double>(whole, f.infinity));
  }
  return static_cast<uint16_t>(sign | bits);
}

/// The value of such bits, exactly.
inline double narrowValue(uint16_t bits, DType t) {
  NarrowFormat f = narrowFormat(t);
  int magnitude = bits & 0x7fff, field = magnitude >> f.mantissa;
  int fraction = magnitude & ((1 << f.mantissa) - 1);
  double v = 0;
  if (magnitude > f.infinity)
    v = std::numeric_limits<double>::quiet_NaN();
  else if (magnitude == f.infinity)
    v = std::numeric_limits<double>::infinity();
  else if (field == 0)
    v = std::ldexp(fraction, f.minExponent - f.mantissa);
  else
    v = std::ldexp(fraction + (1 << f.mantissa), field - 1 + f.minExponent - f.mantissa);
  return bits & 0x8000 ? -v : v;
}

} // namespace graphc

#endif // GRAPHC_RUNTIME_BASE_NARROWFLOAT_H
