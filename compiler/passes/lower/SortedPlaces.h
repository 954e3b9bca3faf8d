//===- SortedPlaces.h - Scatters whose points lie in the order of their places ----------------===//
#ifndef GRAPHC_COMPILER_PASSES_LOWER_SORTEDPLACES_H
#define GRAPHC_COMPILER_PASSES_LOWER_SORTEDPLACES_H

#include "compiler/passes/lower/LoopSpace.h"

namespace graphc::pass {

/// On a kernel of a GPU-class device: the points that write one place follow each other along one
/// loop, and a work-item writes it.
inline constexpr llvm::StringLiteral kSortedAttr = "graphc.sorted";

/// Whether all points write to the same places by all scatters, which are sorted.
bool sharePlaces(llvm::ArrayRef<kernel::ScatterOp> scatters);

/// The one loop that the places of a scatter depend on.
std::optional<unsigned> placedLoop(kernel::ScatterOp scatter, const LoopSpace &space);

/// Whether the points of a kernel whose places are sorted are combined by groups of so many
/// work-items: they are all that it loops over, so that neighbours share a place, and local memory
/// holds what a group reads.
bool combinesByGroups(kernel::FuncOp func, const LoopSpace &space, int64_t group);

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_LOWER_SORTEDPLACES_H
