//===- Compare.cpp - Comparing and summing arrays ---------------------------------------------===//
#include "tools/graphc/Compare.h"

#include "runtime/base/NarrowFloat.h"
#include "runtime/base/Shape.h"
#include "runtime/base/Strings.h"

#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

namespace graphc::cli {
namespace {

using strings::format;

/// The stored form of a 16-bit float.
template <DType Type>
struct Narrow {
  static constexpr DType kType = Type;
  uint16_t bits;
};

/// Calls `f` with a value of the C++ type for a dtype.
template <typename F>
auto dispatch(DType dtype, F f) {
  switch (dtype) {
  case DType::Bool:
  case DType::UInt8:
    return f(uint8_t{});
  case DType::Int8:
    return f(int8_t{});
  case DType::Int16:
    return f(int16_t{});
  case DType::Int32:
    return f(int32_t{});
  case DType::Int64:
    return f(int64_t{});
  case DType::UInt16:
    return f(uint16_t{});
  case DType::UInt32:
    return f(uint32_t{});
  case DType::UInt64:
    return f(uint64_t{});
  case DType::Float32:
    return f(float{});
  case DType::Float16:
    return f(Narrow<DType::Float16>{});
  case DType::BFloat16:
    return f(Narrow<DType::BFloat16>{});
  case DType::Float64:
  case DType::Complex64: // compared and summed part by part
  case DType::Complex128:
    break;
  }
  return f(double{});
}

template <typename T>
auto load(const uint8_t *data, int64_t i) {
  T value;
  std::memcpy(&value, data + i * static_cast<int64_t>(sizeof(T)), sizeof(T));
  if constexpr (requires { value.bits; })
    return static_cast<float>(narrowValue(value.bits, T::kType)); // exact
  else
    return value;
}

template <typename T>
bool agree(T got, T want, Tolerance tolerance) {
  if constexpr (std::is_floating_point_v<T>) {
    if (got == want || (std::isnan(got) && std::isnan(want)))
      return true;
    double difference = std::fabs(static_cast<double>(got) - static_cast<double>(want));
    return std::isfinite(difference) &&
           difference <=
               tolerance.absolute + tolerance.relative * std::fabs(static_cast<double>(want));
  } else {
    return got == want;
  }
}

template <typename T>
std::string valueText(T value) {
  if constexpr (std::is_floating_point_v<T>)
    return format("{}", value);
  else if constexpr (std::is_signed_v<T>)
    return format("{}", static_cast<int64_t>(value));
  else
    return format("{}", static_cast<uint64_t>(value));
}

std::string indexText(std::span<const int64_t> shape, int64_t flat) {
  std::string text;
  for (size_t d = shape.size(); d-- > 0;) {
    text = format("{}{}{}", flat % shape[d], text.empty() ? "" : ", ", text);
    flat /= shape[d];
  }
  return "[" + text + "]";
}

} // namespace

std::string compareArrays(DType dtype, std::span<const int64_t> shape, const uint8_t *got,
                          const uint8_t *want, Tolerance tolerance) {
  if (isComplex(dtype)) {
    std::vector<int64_t> parts(shape.begin(), shape.end());
    parts.push_back(2);
    return compareArrays(realDType(dtype), parts, got, want, tolerance);
  }
  int64_t count = elementCount(shape).value_or(0);
  return dispatch(dtype, [&](auto zero) -> std::string {
    using T = decltype(zero);
    int64_t wrong = 0, first = 0;
    for (int64_t i = 0; i < count; ++i)
      if (!agree(load<T>(got, i), load<T>(want, i), tolerance) && wrong++ == 0)
        first = i;
    if (wrong == 0)
      return "";
    return format("{} of {} elements, first at {}: {} instead of {}", wrong, count,
                  indexText(shape, first), valueText(load<T>(got, first)),
                  valueText(load<T>(want, first)));
  });
}

std::string sumText(DType dtype, std::span<const int64_t> shape, const uint8_t *data) {
  int64_t count = elementCount(shape).value_or(0);
  if (isComplex(dtype)) {
    // Each part's own, side by side.
    std::string text;
    for (int64_t part = 0; part < 2; ++part)
      text += dispatch(realDType(dtype), [&](auto zero) -> std::string {
        using T = decltype(zero);
        double sum = 0;
        for (int64_t i = 0; i < count; ++i)
          sum += static_cast<double>(load<T>(data, 2 * i + part));
        return format("{}{}", part && !std::signbit(sum) ? "+" : "", valueText(sum));
      });
    return text + "j";
  }
  return dispatch(dtype, [&](auto zero) -> std::string {
    using T = decltype(zero);
    if constexpr (std::is_floating_point_v<decltype(load<T>(data, 0))>) {
      double sum = 0;
      for (int64_t i = 0; i < count; ++i)
        sum += load<T>(data, i);
      return valueText(sum);
    } else {
      uint64_t sum = 0;
      for (int64_t i = 0; i < count; ++i)
        sum += static_cast<uint64_t>(load<T>(data, i));
      return std::is_signed_v<T> ? valueText(static_cast<int64_t>(sum)) : valueText(sum);
    }
  });
}

} // namespace graphc::cli
