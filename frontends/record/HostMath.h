//===- HostMath.h - What a kernel computes, on the host ---------------------------------------===//
//
// Operations that are exact or correctly rounded have one result: computed here, a value has the
// bits a kernel gives it.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_HOSTMATH_H
#define GRAPHC_FRONTENDS_RECORD_HOSTMATH_H

#include "dialects/opset/OpTable.h"
#include "frontends/record/HostTypes.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

namespace graphc::hostmath {

using op::OpKind;

constexpr bool isComparison(OpKind kind) {
  return kind >= OpKind::Equal && kind <= OpKind::GreaterEqual;
}

template <typename T>
std::optional<bool> compared(OpKind kind, T a, T b) {
  switch (kind) {
  case OpKind::Equal:
    return a == b;
  case OpKind::NotEqual:
    return a != b;
  case OpKind::Less:
    return a < b;
  case OpKind::LessEqual:
    return a <= b;
  case OpKind::Greater:
    return a > b;
  case OpKind::GreaterEqual:
    return a >= b;
  default:
    return std::nullopt;
  }
}

/// What is asked of one float.
constexpr bool isQuestion(OpKind kind) {
  return kind == OpKind::IsNan || kind == OpKind::IsInf || kind == OpKind::IsFinite ||
         kind == OpKind::Signbit;
}
template <typename T>
std::optional<bool> answered(OpKind kind, T x) {
  if (kind == OpKind::IsNan)
    return x != x;
  if (kind == OpKind::IsInf)
    return std::fabs(x) == std::numeric_limits<T>::infinity();
  if (kind == OpKind::IsFinite)
    return std::fabs(x) < std::numeric_limits<T>::infinity();
  return kind == OpKind::Signbit ? std::optional(std::signbit(x)) : std::nullopt;
}

/// NaN when either is NaN; -0 is smaller than +0. Without branches.
template <bool kIsLargest, typename T>
T extreme(T a, T b) {
  using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
  const auto x = std::bit_cast<Bits>(a), y = std::bit_cast<Bits>(b);
  const T zero = std::bit_cast<T>(kIsLargest ? x & y : x | y); // or what both are
  return a == b ? zero : (kIsLargest ? a > b : a < b) || a != a ? a : b;
}

template <typename T>
std::optional<T> foldFloat(OpKind kind, T a, T b) {
  switch (kind) {
  case OpKind::Add:
    return a + b;
  case OpKind::Sub:
    return a - b;
  case OpKind::Mul:
    return a * b;
  case OpKind::Div:
    return a / b;
  case OpKind::Neg:
    return -a;
  case OpKind::Abs:
    return std::fabs(a);
  case OpKind::Square:
    return a * a;
  case OpKind::Sqrt:
    return std::sqrt(a);
  case OpKind::Floor:
    return std::floor(a);
  case OpKind::Ceil:
    return std::ceil(a);
  case OpKind::Trunc:
    return std::trunc(a);
  case OpKind::Round: // ties to even, as everywhere: nobody changes the mode
    return std::nearbyint(a);
  case OpKind::Minimum:
    return extreme<false>(a, b);
  case OpKind::Maximum:
    return extreme<true>(a, b);
  case OpKind::Reciprocal:
    return T{1} / a;
  case OpKind::Copysign:
    return std::copysign(a, b);
  case OpKind::Sign: // of -0 too +0
    return a != a ? a : static_cast<T>(a > 0) - static_cast<T>(a < 0);
  default:
    return std::nullopt;
  }
}

/// A shift by the width or more, or by a negative count, leaves nothing but the sign.
template <typename T>
T shifted(OpKind kind, T a, T b) {
  constexpr auto kWidth = static_cast<int>(8 * sizeof(T));
  using U = std::make_unsigned_t<T>;
  const bool isBeyond = b < 0 || static_cast<U>(b) >= static_cast<U>(kWidth);
  if (kind == OpKind::ShiftLeft)
    return isBeyond ? T{0} : static_cast<T>(static_cast<uint64_t>(a) << static_cast<int>(b));
  return isBeyond ? static_cast<T>(a < 0 ? -1 : 0) : static_cast<T>(a >> static_cast<int>(b));
}

/// A power that wraps, of an exponent that is not negative: products have one result in any order.
template <typename U, typename T>
U raised(U base, T exponent) {
  U out = 1;
  for (; exponent; exponent >>= 1, base *= base)
    out *= exponent & 1 ? base : U{1};
  return out;
}

/// Integers wrap; `//` and `%` round down, and division by zero gives 0.
template <typename T>
std::optional<T> foldInteger(OpKind kind, T a, T b) {
  // Wide enough that no product of narrow ones overflows a signed int on the way.
  using U = std::make_unsigned_t<std::common_type_t<T, int>>;
  auto wide = [](T v) { return static_cast<U>(v); };
  bool wraps = std::is_signed_v<T> && b == static_cast<T>(-1);
  switch (kind) {
  case OpKind::Add:
    return static_cast<T>(wide(a) + wide(b));
  case OpKind::Sub:
    return static_cast<T>(wide(a) - wide(b));
  case OpKind::Mul:
    return static_cast<T>(wide(a) * wide(b));
  case OpKind::Neg:
    return static_cast<T>(U{0} - wide(a));
  case OpKind::Abs:
    return a < 0 ? static_cast<T>(U{0} - wide(a)) : a;
  case OpKind::Sign:
    return static_cast<T>((a > 0) - (a < 0));
  case OpKind::Square:
    return static_cast<T>(wide(a) * wide(a));
  case OpKind::FloorDivide:
    if (b == 0)
      return T{0};
    if (wraps)
      return static_cast<T>(U{0} - wide(a));
    return static_cast<T>(a / b - (a % b != 0 && (a < 0) != (b < 0)));
  case OpKind::Remainder:
    if (b == 0 || wraps)
      return T{0};
    return static_cast<T>(a % b + (a % b != 0 && (a < 0) != (b < 0) ? b : T{0}));
  case OpKind::Pow:
    return b < 0 ? std::nullopt : std::optional(static_cast<T>(raised(wide(a), b)));
  case OpKind::Reciprocal: // of 0 there is none
    if (a == 0)
      return std::nullopt;
    return a == 1 || (std::is_signed_v<T> && a == static_cast<T>(-1)) ? a : T{0};
  case OpKind::Minimum:
    return std::min(a, b);
  case OpKind::Maximum:
    return std::max(a, b);
  case OpKind::BitwiseAnd:
    return static_cast<T>(a & b);
  case OpKind::BitwiseOr:
    return static_cast<T>(a | b);
  case OpKind::BitwiseXor:
    return static_cast<T>(a ^ b);
  default:
    break;
  }
  if constexpr (!std::is_same_v<T, bool>) {
    if (kind == OpKind::ShiftLeft || kind == OpKind::ShiftRight)
      return shifted(kind, a, b);
    if (kind == OpKind::BitwiseNot)
      return static_cast<T>(~a);
    if (kind == OpKind::BitCount)
      return static_cast<T>(std::popcount(static_cast<std::make_unsigned_t<T>>(a)));
  }
  return std::nullopt;
}

inline std::optional<bool> foldBool(OpKind kind, bool a, bool b) {
  switch (kind) {
  case OpKind::LogicalAnd:
  case OpKind::BitwiseAnd:
  case OpKind::Mul:
  case OpKind::Minimum:
    return a && b;
  case OpKind::LogicalOr:
  case OpKind::BitwiseOr:
  case OpKind::Add:
  case OpKind::Maximum:
    return a || b;
  case OpKind::LogicalXor:
  case OpKind::BitwiseXor:
    return a != b;
  case OpKind::LogicalNot:
  case OpKind::BitwiseNot:
    return !a;
  default:
    return std::nullopt;
  }
}

/// Of elements of any type.
template <typename T>
std::optional<T> folded(OpKind kind, T a, T b) {
  if constexpr (std::is_same_v<T, bool>)
    return foldBool(kind, a, b);
  else if constexpr (std::is_floating_point_v<T>)
    return foldFloat(kind, a, b);
  else
    return foldInteger(kind, a, b);
}

} // namespace graphc::hostmath

#endif // GRAPHC_FRONTENDS_RECORD_HOSTMATH_H
