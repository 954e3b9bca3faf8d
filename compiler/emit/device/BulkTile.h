//===- BulkTile.h - Tiles of fast matrix products by tensor maps, in PTX ----------------------===//
#ifndef GRAPHC_COMPILER_EMIT_DEVICE_BULKTILE_H
#define GRAPHC_COMPILER_EMIT_DEVICE_BULKTILE_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace graphc::emit {

/// What a function that passes/lower/group/Tensor.cpp calls stands for: a group of 256 work-items
/// and its tile of 128 by 256 sums in float32, 128 a work-item. For sm_90a.
struct BulkTile {
  bool alongKA, alongKB; ///< neighbours in memory follow k, else the own loop
  bool isHalf;           ///< float16, else bfloat16

  /// Null for another function's name.
  static std::optional<BulkTile> named(llvm::StringRef function);
};

/// A block of PTX for inline assembly, lines with ends. $0 to $127 are the sums, $128 the address
/// of the local memory and $129 the work-item's number (.b32), $130 and $131 the address of A's
/// first element and the bytes from one of its lines to the next (.b64), $132 and $133 those of B,
/// all multiples of 16, $134 the address of pass::kMapsBytes of the group's own in global memory,
/// at a multiple of 128, $135 how many k's there are, $136 the rows from the first on and $137 the
/// columns (.b32), at least one of each.
std::string bulkTile(const BulkTile &tile);

} // namespace graphc::emit

#endif // GRAPHC_COMPILER_EMIT_DEVICE_BULKTILE_H
