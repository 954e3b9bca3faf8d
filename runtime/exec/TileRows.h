//===- TileRows.h - How many rows of a tile are run at a time ---------------------------------===//
#ifndef GRAPHC_RUNTIME_EXEC_TILEROWS_H
#define GRAPHC_RUNTIME_EXEC_TILEROWS_H

#include "runtime/program/Program.h"

#include <algorithm>

namespace graphc::rt {

/// Launches that may be run row by row.
struct TileSize {
  int64_t rows;        ///< > 1
  int64_t bytes;       ///< of all that they touch
  int64_t turnedBytes; ///< of what is turned, program::kRowsTogether rows at once; 0: nothing is
};

/// 0 when whole launches are as good: everything fits in a cache, threads would have nothing to do,
/// or a row alone is too much.
inline int64_t rowsAtATime(const TileSize &tile, int64_t threads) {
  constexpr int64_t kCacheBytes = int64_t{256} << 10, kLargestRow = 16 * kCacheBytes;
  if (tile.turnedBytes == 0) {
    int64_t rowBytes = std::max<int64_t>(tile.bytes / tile.rows, 1);
    if (tile.bytes <= kCacheBytes || rowBytes > kLargestRow || tile.rows < 2 * threads)
      return 0;
    return std::max<int64_t>(std::min(kCacheBytes / rowBytes, tile.rows / threads), 1);
  }
  // What was turned has to stay in a second-level cache, however much is read besides.
  constexpr int64_t kMostLocalBytes = 4 * kCacheBytes;
  int64_t groupBytes = std::max<int64_t>(tile.turnedBytes / tile.rows, 1) * program::kRowsTogether;
  int64_t groups = tile.rows / program::kRowsTogether;
  if (tile.turnedBytes <= kCacheBytes || groupBytes > kMostLocalBytes || groups < threads)
    return 0;
  return std::max<int64_t>(std::min(kCacheBytes / groupBytes, groups / threads), 1) *
         program::kRowsTogether;
}

} // namespace graphc::rt

#endif // GRAPHC_RUNTIME_EXEC_TILEROWS_H
