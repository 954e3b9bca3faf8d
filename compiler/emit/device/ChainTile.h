//===- ChainTile.h - Tiles of exact matrix products in PTX ------------------------------------===//
#ifndef GRAPHC_COMPILER_EMIT_DEVICE_CHAINTILE_H
#define GRAPHC_COMPILER_EMIT_DEVICE_CHAINTILE_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace graphc::emit {

/// What a function that passes/lower/group/Tiles.cpp calls stands for: the chains of a group's tile
/// of 128 by 128 elements of an exact product, or 64 by 64.
struct ChainTile {
  bool isDouble;         ///< float64, else float32
  bool isSmall;          ///< 64 by 64
  bool inRuns;           ///< large float64 tiles: k is a run of up to four blocks, added in order
  bool alongKA, alongKB; ///< neighbours in memory follow k, else the own loop

  int elementBytes() const { return isDouble ? 8 : 4; }
  /// Of a work-item.
  int sums() const { return isSmall ? 32 : isDouble ? 64 : 128; }
  /// Null for another function's name.
  static std::optional<ChainTile> named(llvm::StringRef function);
};

/// A block of PTX for inline assembly, lines with ends. With n sums: $0 to $n-1 are the sums, $n
/// the address of the local memory, a multiple of 128, and $n+1 the work-item's number (.b32), $n+2
/// and $n+3 the address of A's first element and the bytes from one of its lines to the next
/// (.b64), $n+4 and $n+5 those of B, $n+6 how many k's there are, $n+7 the rows from the first on,
/// $n+8 the columns, at least one of each, and $n+9 whether all of the tile lies inside and its
/// lines start at multiples of 16 bytes (.b32). Float64 has 256 work-items in large tiles, all
/// others 128. In runs 128 KiB of local memory follow the 48 of the others.
std::string chainTile(const ChainTile &tile);

} // namespace graphc::emit

#endif // GRAPHC_COMPILER_EMIT_DEVICE_CHAINTILE_H
