//===- PlanSort.h - The launches of a sort ----------------------------------------------------===//
#ifndef GRAPHC_COMPILER_PASSES_PLAN_PLANSORT_H
#define GRAPHC_COMPILER_PASSES_PLAN_PLANSORT_H

#include "dialects/graph/Graph.h"

#include "mlir/IR/SymbolTable.h"

namespace graphc::pass {

/// Lines of a matrix, and what becomes of them.
struct SortedLines {
  mlir::Value elements, result; ///< buffers
  mlir::Value lines, length;    ///< index values
};

/// Whether groups of work-items have kernels for a library step: `sort` and `argsort` of real
/// numbers.
bool isSortedByGroups(graph::LibraryOp step);

/// The same for `searchsorted`.
bool isSearchedByGroups(graph::LibraryOp step);

/// Adds the launch that finds where `values`, a buffer of `count`, belong among the sorted
/// elements, and beside the program its kernel.search.
void planSearch(mlir::OpBuilder &builder, mlir::SymbolTable &symbols, graph::LibraryOp step,
                const SortedLines &sorted, mlir::Value values, mlir::Value count);

/// Adds the launches that sort, and beside the program the kernel.sort that they run.
void planSort(mlir::OpBuilder &builder, mlir::SymbolTable &symbols, graph::LibraryOp step,
              const SortedLines &sorted);

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_PLAN_PLANSORT_H
