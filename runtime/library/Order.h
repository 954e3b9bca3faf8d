//===- Order.h - Unsigned keys in the order of elements ---------------------------------------===//
//
// Elements are never compared as floats: their bits become unsigned numbers whose order is that of
// the elements. -0 and +0 are equal elements, NaN is one value above all others. A complex number
// becomes two such numbers.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_RUNTIME_LIBRARY_ORDER_H
#define GRAPHC_RUNTIME_LIBRARY_ORDER_H

#include "runtime/base/DType.h"

#include <cstdint>
#include <limits>
#include <type_traits>

namespace graphc::rt::library {

enum class KeyKind : uint8_t { Unsigned, Signed, Float, BFloat16 };

constexpr KeyKind keyKind(DType t) {
  return t == DType::BFloat16 ? KeyKind::BFloat16
         : isFloat(t)         ? KeyKind::Float
         : isSigned(t)        ? KeyKind::Signed
                              : KeyKind::Unsigned;
}

/// The order of elements that are stored as U.
template <typename U, KeyKind kind>
struct Order {
  static constexpr KeyKind kKind = kind;
  static constexpr bool isFloat = kind == KeyKind::Float || kind == KeyKind::BFloat16;
  static constexpr U kSign = U{1} << (std::numeric_limits<U>::digits - 1);
  /// Bits of infinity: NaN has larger ones.
  static constexpr U kInfinity = [] {
    if constexpr (sizeof(U) == 8)
      return static_cast<U>(0x7ff0000000000000u);
    else if constexpr (sizeof(U) == 4)
      return static_cast<U>(0x7f800000u);
    else
      return static_cast<U>(kind == KeyKind::BFloat16 ? 0x7f80u : 0x7c00u);
  }();
  /// Infinity with the highest bit of its fraction.
  static constexpr U kNan = kInfinity | (kInfinity & (~kInfinity + 1)) >> 1;
  static constexpr U kLast = std::numeric_limits<U>::max();

  /// -0 sorts directly before +0.
  static constexpr U toKey(U bits) {
    if constexpr (kind == KeyKind::Unsigned)
      return bits;
    if constexpr (kind == KeyKind::Signed)
      return bits ^ kSign;
    U key = bits ^ (bits & kSign ? kLast : kSign);
    return (bits & ~kSign) > kInfinity ? kLast : key;
  }
  /// The bits of a key; every NaN comes back as the quiet one.
  static constexpr U fromKey(U key) {
    if constexpr (kind == KeyKind::Unsigned)
      return key;
    if constexpr (kind == KeyKind::Signed)
      return key ^ kSign;
    U bits = key ^ (key & kSign ? kSign : kLast);
    return key == kLast ? kNan : bits;
  }
  /// Equal for equal elements: -0 has the key of +0.
  static constexpr U toEqualKey(U bits) {
    if constexpr (isFloat)
      return toKey(bits == kSign ? U{0} : bits);
    return toKey(bits);
  }
};

/// The order of complex numbers whose parts are stored as U: by real, then by imaginary parts.
/// Those with a NaN are last, as in NumPy: R + nan i by R, then nan + R i by R, then the rest.
template <typename U>
struct ComplexKey {
  using Part = Order<U, KeyKind::Float>;
  U high, low;
  /// Equal for equal elements. No number has one of the largest keys: they name the kinds of NaN.
  static constexpr ComplexKey of(const U *parts) {
    U re = Part::toEqualKey(parts[0]), im = Part::toEqualKey(parts[1]);
    if (re == Part::kLast)
      return im == Part::kLast ? ComplexKey{re, im} : ComplexKey{Part::kLast - 1, im};
    return im == Part::kLast ? ComplexKey{Part::kLast - 2, re} : ComplexKey{re, im};
  }
  friend constexpr bool operator<(const ComplexKey &a, const ComplexKey &b) {
    return a.high != b.high ? a.high < b.high : a.low < b.low;
  }
};

/// Calls `f` with a word as wide as a part of a complex dtype.
template <typename F>
auto withPart(DType t, const F &f) {
  return t == DType::Complex64 ? f(uint32_t()) : f(uint64_t());
}

/// Calls `f` with an Order of the dtype; of a complex one, of its parts.
template <typename F>
auto withOrder(DType t, const F &f) {
  t = realDType(t);
  auto width = [&]<typename U>(U) {
    switch (keyKind(t)) {
    case KeyKind::Unsigned:
      return f(Order<U, KeyKind::Unsigned>(), U());
    case KeyKind::Signed:
      return f(Order<U, KeyKind::Signed>(), U());
    case KeyKind::BFloat16:
      if constexpr (sizeof(U) == 2)
        return f(Order<U, KeyKind::BFloat16>(), U());
      break;
    case KeyKind::Float:
      if constexpr (sizeof(U) >= 2)
        return f(Order<U, KeyKind::Float>(), U());
      break;
    }
    return f(Order<U, KeyKind::Unsigned>(), U()); // no float of one byte exists
  };
  switch (itemSize(t)) {
  case 1:
    return width(uint8_t());
  case 2:
    return width(uint16_t());
  case 4:
    return width(uint32_t());
  default:
    return width(uint64_t());
  }
}

} // namespace graphc::rt::library

#endif // GRAPHC_RUNTIME_LIBRARY_ORDER_H
