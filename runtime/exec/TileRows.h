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

/// Launches each of which stays some rows behind those before it.
struct SkewedSize {
  int64_t rows;  ///< > 1
  int64_t bytes; ///< of all that they touch
  int64_t skew;  ///< > 0
  int64_t steps;
};

/// How the rows of a tile and its steps are cut.
struct TileShape {
  int64_t rows = 0; ///< at a time; 0: whole launches are as good
  int64_t groups = 0;
};

/// The rows at hand of all steps of a group lie in a second-level cache. Threads take groups, of
/// which each has to get one, and there are blocks of rows enough for all to be busy.
inline TileShape skewedShape(const SkewedSize &size, int64_t threads) {
  constexpr int64_t kCacheBytes = int64_t{512} << 10, kBlocksPerThread = 8;
  // Threads that share few steps get unequal parts of them.
  constexpr int64_t kStepsPerThread = 4;
  if (size.bytes / threads <= kCacheBytes ||
      (threads > 1 && size.steps < kStepsPerThread * threads))
    return {};
  int64_t window = std::min(kCacheBytes / std::max<int64_t>(size.bytes / size.rows, 1),
                            size.rows / (kBlocksPerThread * threads));
  // The steps of a group are half of that apart at most.
  int64_t deepest = std::min(window / 2 / size.skew, size.steps / threads);
  if (deepest < 2)
    return {};
  int64_t groups = (size.steps + deepest - 1) / deepest;
  groups = (groups + threads - 1) / threads * threads;
  int64_t deep = (size.steps + groups - 1) / groups;
  return deep < 2 ? TileShape{} : TileShape{window - deep * size.skew, groups};
}

} // namespace graphc::rt

#endif // GRAPHC_RUNTIME_EXEC_TILEROWS_H
