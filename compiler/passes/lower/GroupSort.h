//===- GroupSort.h - Sorting by groups of work-items ------------------------------------------===//
//
// A line of elements is cut into tiles; a group sorts a tile in local memory, then runs of tiles
// are merged in pairs until one run is the line. Elements become unsigned keys in the order of
// docs/numerics.md when they are first read (runtime/library/Order.h has the same keys), and lie so
// in two halves of a buffer, which passes read and write in turn; the last pass writes the result.
// Merging takes the earlier run's element of two equal ones, so that places keep their order.
//
// The functions, their buffers and their sizes (`of places`: only then):
//
//   _tiles   elements, keys, [places, of places] result   lines, length, segment, last
//   _splits  keys, splits                                  lines, length, run, half
//   _merge   splits, keys, [places, of places] result      lines, length, run, half, last
//
// `segment`: elements of a line in a tile, a power of two; several short lines share a tile. `run`:
// elements of a sorted run, tiles times a power of two. `half`: of keys and places, the one that is
// read, 0 or 1. `last`: 1 when this pass writes the result. `splits`: of each tile of the merged
// runs, how many elements before it are the earlier run's.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_COMPILER_PASSES_LOWER_GROUPSORT_H
#define GRAPHC_COMPILER_PASSES_LOWER_GROUPSORT_H

#include "dialects/kernel/Kernel.h"

namespace graphc::pass {

/// Work-items of a group, elements of each, and of a tile.
inline constexpr int64_t kSortGroup = 256, kSortEach = 8, kSortTile = kSortGroup * kSortEach;

inline constexpr llvm::StringLiteral kSortTiles = "_tiles", kSortSplits = "_splits",
                                     kSortMerge = "_merge";

/// Adds the functions of `op` beside it.
void lowerGroupSort(kernel::SortOp op);

/// The same for a search, whose one function takes
///
///   elements, values, places   length, count
///
/// and has kSortGroup values a group.
void lowerGroupSearch(kernel::SearchOp op);

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_LOWER_GROUPSORT_H
