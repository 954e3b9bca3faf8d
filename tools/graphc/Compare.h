//===- Compare.h - Comparing and summing arrays -----------------------------------------------===//
#ifndef GRAPHC_TOOLS_GRAPHC_COMPARE_H
#define GRAPHC_TOOLS_GRAPHC_COMPARE_H

#include "runtime/base/DType.h"

#include <cstdint>
#include <span>
#include <string>

namespace graphc::cli {

/// |got - want| <= absolute + relative * |want|, for floats; NaN equals NaN.
struct Tolerance {
  double relative = 0;
  double absolute = 0;
};

/// What differs between two arrays of one shape ("3 of 10 elements, first at [0, 5]: 1 instead of
/// 2"), or "".
std::string compareArrays(DType dtype, std::span<const int64_t> shape, const uint8_t *got,
                          const uint8_t *want, Tolerance tolerance);

/// The sum: exact modulo 2^64 for integers, in double precision for floats.
std::string sumText(DType dtype, std::span<const int64_t> shape, const uint8_t *data);

} // namespace graphc::cli

#endif // GRAPHC_TOOLS_GRAPHC_COMPARE_H
