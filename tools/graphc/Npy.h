//===- Npy.h - Arrays in NumPy's file format --------------------------------------------------===//
#ifndef GRAPHC_TOOLS_GRAPHC_NPY_H
#define GRAPHC_TOOLS_GRAPHC_NPY_H

#include "runtime/base/DType.h"
#include "runtime/base/Shape.h"
#include "runtime/base/Status.h"

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace graphc::cli {

/// What a .npy header says.
struct NpyHeader {
  DType dtype = DType::Float32;
  Shape shape;
  size_t dataOffset = 0; ///< of the first element in the file
};

/// Reads the header of a .npy file (format 1 to 3). The data is C-ordered, little-endian and
/// complete when this succeeds; InvalidArgument or DType say what graphc cannot read. `name` is
/// used in messages.
Result<NpyHeader> parseNpy(std::span<const uint8_t> file, const std::string &name);

/// The header that precedes a C-ordered array; its size is a multiple of 64.
std::vector<uint8_t> npyHeader(DType dtype, std::span<const int64_t> shape);

} // namespace graphc::cli

#endif // GRAPHC_TOOLS_GRAPHC_NPY_H
