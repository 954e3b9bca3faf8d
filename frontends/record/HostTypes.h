//===- HostTypes.h - dtypes as C++ types, and conversions between them ------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_HOSTTYPES_H
#define GRAPHC_FRONTENDS_RECORD_HOSTTYPES_H

#include "dialects/opset/OpTable.h"

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <optional>
#include <type_traits>

namespace graphc::hostmath {

/// The dtype of a C++ type.
template <typename T>
constexpr DType dtypeOf() {
  if constexpr (std::is_same_v<T, bool>)
    return DType::Bool;
  else if constexpr (std::is_floating_point_v<T>)
    return sizeof(T) == 8 ? DType::Float64 : DType::Float32;
  else if constexpr (std::is_signed_v<T>)
    return sizeof(T) == 1   ? DType::Int8
           : sizeof(T) == 2 ? DType::Int16
           : sizeof(T) == 4 ? DType::Int32
                            : DType::Int64;
  else
    return sizeof(T) == 1   ? DType::UInt8
           : sizeof(T) == 2 ? DType::UInt16
           : sizeof(T) == 4 ? DType::UInt32
                            : DType::UInt64;
}

/// Calls `f` with a value of the one of these types that `t` is; false when it is none of them.
template <typename... Ts, typename F>
bool withTypeAmong(DType t, F f) {
  return ((t == dtypeOf<Ts>() && f(Ts{})) || ...);
}

/// Calls `f` with a value of the C++ type of `t`; false for dtypes that are no C++ type.
template <typename F>
bool withType(DType t, F f) {
  return withTypeAmong<bool, int8_t, int16_t, int32_t, int64_t, uint8_t, uint16_t, uint32_t,
                       uint64_t, float, double>(t, f);
}

template <typename T>
T valueOf(uint64_t bits) {
  if constexpr (std::is_same_v<T, bool>)
    return bits != 0;
  else if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<float>(static_cast<uint32_t>(bits));
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<double>(bits);
  else
    return static_cast<T>(bits);
}

template <typename T>
uint64_t bitsOf(T v) {
  if constexpr (std::is_same_v<T, float>)
    return std::bit_cast<uint32_t>(v);
  else if constexpr (std::is_same_v<T, double>)
    return std::bit_cast<uint64_t>(v);
  else
    return static_cast<uint64_t>(static_cast<int64_t>(v));
}

/// Whether a float has a place among the integers of a type, without its fraction.
template <typename T, typename F>
bool isWithin(F value) {
  constexpr double kEnd = 2.0 * (uint64_t{1} << (std::numeric_limits<T>::digits - 1));
  double whole = std::trunc(static_cast<double>(value));
  return whole < kEnd && whole >= static_cast<double>(std::numeric_limits<T>::min());
}

/// Nothing for what saturates and for finite numbers that become infinite, which a kernel reports.
inline std::optional<uint64_t> converted(uint64_t bits, DType from, DType to) {
  if (from == to)
    return bits;
  uint64_t out = 0;
  bool ok = withType(from, [&](auto f) {
    return withType(to, [&](auto t) {
      using From = decltype(f);
      using To = decltype(t);
      From value = valueOf<From>(bits);
      if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To> &&
                    !std::is_same_v<To, bool>)
        if (!isWithin<To>(value))
          return false;
      To result = static_cast<To>(value);
      if constexpr (std::is_floating_point_v<To>)
        if (!std::isfinite(result) && std::isfinite(static_cast<double>(value)))
          return false;
      out = bitsOf(result);
      return true;
    });
  });
  return ok ? std::optional(out) : std::nullopt;
}

} // namespace graphc::hostmath

#endif // GRAPHC_FRONTENDS_RECORD_HOSTTYPES_H
