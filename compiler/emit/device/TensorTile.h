//===- TensorTile.h - Tiles of fast matrix products in PTX ------------------------------------===//
#ifndef GRAPHC_COMPILER_EMIT_DEVICE_TENSORTILE_H
#define GRAPHC_COMPILER_EMIT_DEVICE_TENSORTILE_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace graphc::emit {

/// What a function that passes/lower/group/Tensor.cpp calls stands for: a group of 256 work-items
/// and its tile of 128 by 128 sums in float32, 64 a work-item.
struct TensorTile {
  bool alongKA, alongKB; ///< neighbours in memory follow k, else the own loop
  bool isHalf;           ///< float16, else bfloat16
  /// One piece of 32 k's that lies in the local memory is added to the sums; otherwise the sums of
  /// all pieces start from 0, and the pieces are copied from global memory.
  bool isStep;

  /// Null for another function's name.
  static std::optional<TensorTile> named(llvm::StringRef function);
};

/// Sums of a work-item.
inline constexpr unsigned kTensorSums = 64;
/// The swizzles of wgmma's operands follow the address.
inline constexpr unsigned kTensorAlign = 1024;

/// A block of PTX for inline assembly, lines with ends. $0 to $63 are the sums, $64 the address of
/// the local memory and $65 the work-item's number (.b32); besides, where this is no step, $66 and
/// $67 the address of A's first element and the bytes from one of its lines to the next (.b64), $68
/// and $69 those of B, $70 the number of pieces, $71 the rows from the first on and $72 the columns
/// (.b32), of which there may be fewer than the tile has. `wgmma`: sm_90a's instructions of four
/// warps, else mma.sync of sm_80.
std::string tensorTile(const TensorTile &tile, bool wgmma);

} // namespace graphc::emit

#endif // GRAPHC_COMPILER_EMIT_DEVICE_TENSORTILE_H
