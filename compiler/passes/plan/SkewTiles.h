//===- SkewTiles.h - Tiles of launches that look at neighbouring rows -------------------------===//
#ifndef GRAPHC_COMPILER_PASSES_PLAN_SKEWTILES_H
#define GRAPHC_COMPILER_PASSES_PLAN_SKEWTILES_H

#include "dialects/plan/Plan.h"

#include "mlir/IR/SymbolTable.h"

namespace graphc::pass {

/// Of the launches that are in no tile yet, puts those that follow each other over the same rows,
/// and touch what one of them writes at rows a fixed distance away, into tiles with a skew. Tiles
/// of the program are numbered in order afterwards.
void skewTiles(plan::ProgramOp program, mlir::SymbolTable &symbols);

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_PLAN_SKEWTILES_H
