//===- ChainTile.h - Tiles of exact matrix products in PTX ------------------------------------===//
#ifndef GRAPHC_COMPILER_EMIT_DEVICE_CHAINTILE_H
#define GRAPHC_COMPILER_EMIT_DEVICE_CHAINTILE_H

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>

namespace graphc::emit {

/// What a function that LowerGroupTiles.cpp calls stands for (opencl/Tiles.cpp says what it does).
struct ChainTile {
  enum class Kind { Float32, Float64, SmallFloat64 };
  Kind kind;
  bool alongKA, alongKB; ///< neighbours in memory follow k, else the own loop

  bool isDouble() const { return kind != Kind::Float32; }
  int elementBytes() const { return isDouble() ? 8 : 4; }
  /// Of a work-item.
  int sums() const { return kind == Kind::Float32 ? 128 : kind == Kind::Float64 ? 64 : 32; }
  /// Null for another function's name.
  static std::optional<ChainTile> named(llvm::StringRef function);
};

/// A block of PTX for inline assembly, lines with ends. With n sums: $0 to $n-1 are the sums, $n
/// the address of the local memory and $n+1 the work-item's number (.b32), $n+2 and $n+3 the
/// address of A's first element and the bytes from one of its lines to the next (.b64), $n+4 and
/// $n+5 those of B, $n+6 the number of pieces (.b32).
std::string chainTile(const ChainTile &tile);

} // namespace graphc::emit

#endif // GRAPHC_COMPILER_EMIT_DEVICE_CHAINTILE_H
