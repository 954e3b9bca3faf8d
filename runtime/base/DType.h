//===- DType.h - Element types ----------------------------------------------------------------===//
#ifndef GRAPHC_RUNTIME_BASE_DTYPE_H
#define GRAPHC_RUNTIME_BASE_DTYPE_H

#include <cstdint>
#include <optional>
#include <string_view>

namespace graphc {

/// Element types. The numbers are part of the program format: append, never renumber.
enum class DType : uint8_t {
  Bool = 0,
  Int8 = 1,
  Int16 = 2,
  Int32 = 3,
  Int64 = 4,
  UInt8 = 5,
  UInt16 = 6,
  UInt32 = 7,
  UInt64 = 8,
  Float32 = 9,
  Float64 = 10,
  Float16 = 11,
  BFloat16 = 12,
  Complex64 = 13,
  Complex128 = 14,
};
inline constexpr int kDTypeCount = 15;

/// Bytes of one stored element (bool is one byte, 0 or 1).
constexpr int64_t itemSize(DType t) {
  constexpr int64_t kSizes[kDTypeCount] = {1, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8, 2, 2, 8, 16};
  return kSizes[static_cast<int>(t)];
}
constexpr bool isFloat(DType t) { return t >= DType::Float32 && t <= DType::BFloat16; }
/// Two floats, the real part first.
constexpr bool isComplex(DType t) { return t == DType::Complex64 || t == DType::Complex128; }
constexpr bool isInexact(DType t) { return isFloat(t) || isComplex(t); }
/// Kept in 16 bits, computed in float32 (docs/numerics.md).
constexpr bool isNarrowFloat(DType t) { return t == DType::Float16 || t == DType::BFloat16; }
constexpr bool isSigned(DType t) { return t >= DType::Int8 && t <= DType::Int64; }
constexpr bool isUnsigned(DType t) { return t >= DType::UInt8 && t <= DType::UInt64; }
constexpr bool isInteger(DType t) { return isSigned(t) || isUnsigned(t); }

/// The dtype of one part of a complex number; other dtypes as they are.
constexpr DType realDType(DType t) {
  return t == DType::Complex64 ? DType::Float32 : t == DType::Complex128 ? DType::Float64 : t;
}
/// The complex dtype whose parts hold a float dtype; a complex dtype as it is.
constexpr DType complexDType(DType t) {
  return t == DType::Float64 || t == DType::Complex128 ? DType::Complex128 : DType::Complex64;
}

/// NumPy's name: "bool", "int8", ..., "complex128".
constexpr std::string_view dtypeName(DType t) {
  constexpr std::string_view kNames[kDTypeCount] = {
      "bool",   "int8",    "int16",   "int32",   "int64",    "uint8",     "uint16",    "uint32",
      "uint64", "float32", "float64", "float16", "bfloat16", "complex64", "complex128"};
  return kNames[static_cast<int>(t)];
}
constexpr std::optional<DType> dtypeFromName(std::string_view name) {
  for (int i = 0; i < kDTypeCount; ++i)
    if (dtypeName(static_cast<DType>(i)) == name)
      return static_cast<DType>(i);
  return std::nullopt;
}

} // namespace graphc

#endif // GRAPHC_RUNTIME_BASE_DTYPE_H
