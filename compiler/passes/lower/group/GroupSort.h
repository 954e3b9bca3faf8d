//===- GroupSort.h - Sorting by groups of work-items ------------------------------------------===//
//
// A line of elements is cut into tiles; a group sorts a tile in local memory, then runs of tiles
// are merged in pairs until one run is the line. Elements become unsigned keys in the order of
// docs/numerics.md when they are first read (runtime/library/Order.h has the same keys), and lie so
// in two halves of a buffer, which passes read and write in turn; the last pass writes the result.
// Merging takes the earlier run's element of two equal ones, so that places keep their order.
//
// Long lines (kRadixLength, isSortedByDigits) are sorted by one digit of their keys after the
// other, from the last on, each time keeping the order of equal digits: a line is cut into chunks
// of tiles, each chunk's digits are counted, and its elements go behind those of earlier digits and
// chunks. Digits that all elements of all lines have in common are passed over, which memory says,
// not the host.
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
//   _keys     elements, keys, differing                     count
//   _passes   differing, passes                             tiles
//   _count    passes, keys, counts                          lines, length, digit, each, chunks
//   _offsets  passes, counts, totals                        digit, chunks
//   _scatter  passes, totals, counts, keys, [places,] result  lines, length, digit, each, chunks
//
// `differing`: of each tile, the bits in which some key differs from the first of all. `passes`: of
// each digit RadixPass, or -1 where it is passed over. `each`: tiles of a chunk. `counts`: of each
// line, digit and chunk, how many elements; then, how many of that digit are in earlier chunks.
// `totals`: of each line and digit, how many elements.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_COMPILER_PASSES_LOWER_GROUP_GROUPSORT_H
#define GRAPHC_COMPILER_PASSES_LOWER_GROUP_GROUPSORT_H

#include "dialects/kernel/Kernel.h"

namespace graphc::pass {

/// Work-items of a group, elements of each, and of a tile.
inline constexpr int64_t kSortGroup = 256, kSortEach = 8, kSortTile = kSortGroup * kSortEach;

inline constexpr llvm::StringLiteral kSortTiles = "_tiles", kSortSplits = "_splits",
                                     kSortMerge = "_merge";

/// Lines of fewer elements are merged, whose passes are few then.
inline constexpr int64_t kRadixLength = 1 << 17;
/// Whether longer ones are sorted by digits: all those of wide floats differ, and merging is fewer
/// passes then.
inline bool isSortedByDigits(mlir::Type element) {
  return llvm::isa<mlir::IntegerType>(element) || element.getIntOrFloatBitWidth() <= 32;
}
/// Bits of a digit, and its values: a work-item of a group each.
inline constexpr int64_t kDigitBits = 8, kDigits = 1 << kDigitBits;
static_assert(kDigits == kSortGroup);
/// Bits of an element of `passes`: the half of keys and places that is read; places are still
/// those of the elements; the result is written.
enum RadixPass : int64_t { kRadixHalf = 1, kRadixFirst = 2, kRadixLast = 4 };
/// About so many chunks have all lines together: groups that a device can run at once.
inline constexpr int64_t kRadixChunks = 1024;

inline constexpr llvm::StringLiteral kRadixKeys = "_keys", kRadixPasses = "_passes",
                                     kRadixCount = "_count", kRadixOffsets = "_offsets",
                                     kRadixScatter = "_scatter";

/// Adds the functions of `op` beside it.
void lowerGroupSort(kernel::SortOp op);
/// Those for long lines.
void lowerRadixSort(kernel::SortOp op);

/// The same for a search, whose one function takes
///
///   elements, values, places   length, count
///
/// and has kSortGroup values a group.
void lowerGroupSearch(kernel::SearchOp op);

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_LOWER_GROUP_GROUPSORT_H
