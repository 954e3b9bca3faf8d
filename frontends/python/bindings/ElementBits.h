//===- ElementBits.h - Numbers of sequences as elements of a dtype that was asked for ---------===//
#ifndef GRAPHC_FRONTENDS_PYTHON_BINDINGS_ELEMENTBITS_H
#define GRAPHC_FRONTENDS_PYTHON_BINDINGS_ELEMENTBITS_H

#include "frontends/python/bindings/Assigned.h"
#include "frontends/record/HostTypes.h"

#include <cmath>
#include <optional>

namespace graphc::py {

/// An integer as float32; those beyond 2^24 may be rounded twice by NumPy.
inline std::optional<uint64_t> integerAsFloat32(uint64_t bits) {
  constexpr double kMostExact = 1 << 24;
  const auto number = static_cast<double>(static_cast<int64_t>(bits));
  return std::abs(number) <= kMostExact
             ? std::optional<uint64_t>(hostmath::bitsOf(static_cast<float>(number)))
             : std::nullopt;
}

/// A number as float16, rounded once; nothing where it overflows or underflows, which is reported.
inline std::optional<uint64_t> asFloat16(uint64_t bits, DType from) {
  constexpr uint64_t kExponent = 0x7c00;
  const auto number = hostmath::converted(bits, from, DType::Float64);
  if (!number)
    return std::nullopt;
  const auto value = std::bit_cast<double>(*number);
  auto made = op::literalBits(op::Scalar::ofFloat(value), DType::Float16);
  if (!made)
    return std::nullopt;
  const uint64_t exponent = *made & kExponent;
  const bool isReported =
      std::isfinite(value) && value != 0 && (exponent == kExponent || exponent == 0);
  return isReported ? std::nullopt : std::optional(*made);
}

/// The element of real dtype `to` that NumPy makes of a number in a sequence: floats lose their
/// fraction in integers, and all but zeros are true. Nothing where that is an error, is reported,
/// or takes more than one rounding.
inline std::optional<uint64_t> elementOf(uint64_t bits, DType from, DType to) {
  if (from == to)
    return bits;
  if (isComplex(from) || isComplex(to) || from == DType::BFloat16 || to == DType::BFloat16)
    return std::nullopt;
  if (to == DType::Float16)
    return asFloat16(bits, from);
  if (to == DType::Float32 && isInteger(from))
    return from == DType::Int64 ? integerAsFloat32(bits) : std::nullopt;
  if (isInteger(from) && isInteger(to) && !isInRange(bits, from, to))
    return std::nullopt;
  return hostmath::converted(bits, from, to);
}

// Constructors.cpp
/// Nested lists and tuples of numbers and computed arrays as an array of dtype `t`, outside traces;
/// a null array for others, and where elementOf() has nothing for one of them.
Array packElements(PyObject *object, rt::Device &device, DType t);

} // namespace graphc::py

#endif // GRAPHC_FRONTENDS_PYTHON_BINDINGS_ELEMENTBITS_H
