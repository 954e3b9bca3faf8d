//===- Tiles.h - Tiles of matrix products with inline PTX -------------------------------------===//
#ifndef GRAPHC_COMPILER_EMIT_OPENCL_TILES_H
#define GRAPHC_COMPILER_EMIT_OPENCL_TILES_H

#include <string_view>

namespace graphc::emit {

/// OpenCL C of the functions that LowerGroupTiles.cpp calls, for compilers of NVIDIA that take
/// inline PTX of sm_90; it stands before the kernels.
extern const std::string_view kTileSource;

} // namespace graphc::emit

#endif // GRAPHC_COMPILER_EMIT_OPENCL_TILES_H
