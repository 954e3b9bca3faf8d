//===- ScanShape.h - Which way running sums go ------------------------------------------------===//
#ifndef GRAPHC_COMPILER_PASSES_LOWER_SCANSHAPE_H
#define GRAPHC_COMPILER_PASSES_LOWER_SCANSHAPE_H

#include "compiler/passes/lower/LoopSpace.h"

namespace graphc::pass {

/// Whether vectors of a scan go along what is scanned, as its results lie, or it has one row.
bool scansAlongRows(kernel::FuncOp func, const LoopSpace &space);

/// Whether elements that follow each other in a scan, of one loop, do so in the memory of all
/// results.
bool scansNeighbours(kernel::FuncOp func, const LoopSpace &space);

/// Scans of columns by groups: lines side by side, kScanColumns of more than kFewScanned elements,
/// of each of which several work-items have kScanGroup elements at a time; else one each.
inline constexpr int64_t kScanColumns = 32, kFewScanned = 64;

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_LOWER_SCANSHAPE_H
