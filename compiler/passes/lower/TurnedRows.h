//===- TurnedRows.h - Operands that are turned some rows at a time ----------------------------===//
#ifndef GRAPHC_COMPILER_PASSES_LOWER_TURNEDROWS_H
#define GRAPHC_COMPILER_PASSES_LOWER_TURNEDROWS_H

#include "compiler/passes/lower/BodyEmitter.h"
#include "runtime/program/Program.h"

namespace graphc::pass {

/// On a reduction by the lane tree whose rows are neighbours in memory, and not turned.
inline constexpr llvm::StringLiteral kFarRowsAttr = "graphc.far_rows";
/// On a map that turns an operand for the rows of another kernel.
inline constexpr llvm::StringLiteral kForRowsAttr = "graphc.for_rows";
/// Columns of its tiles, which have program::kRowsTogether rows and are counted row by row.
inline constexpr int64_t kForRowsColumns = 512;

/// Whether so many rows may be turned at a time: the turned loop is the outermost one.
inline bool turnsForRows(kernel::FuncOp func, std::optional<unsigned> turned) {
  return turned && *turned == 0 && func->hasAttr(kForRowsAttr);
}

/// A block of vectors along a loop other than the last, from `row` and `column` on, that are to be
/// vectors along the last loop.
struct TurnedTile {
  const Position &base;
  unsigned turned; ///< the loop
  mlir::Value row, column;
  mlir::Value rowEnd, columnEnd = {};      ///< at the edges, else null
  llvm::ArrayRef<mlir::Value> memory = {}; ///< where turned vectors wait, for each turned load
};

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_LOWER_TURNEDROWS_H
