//===- GroupContract.h - Tiles of matrix products for groups of work-items --------------------===//
#ifndef GRAPHC_COMPILER_PASSES_LOWER_GROUP_GROUPCONTRACT_H
#define GRAPHC_COMPILER_PASSES_LOWER_GROUP_GROUPCONTRACT_H

#include "compiler/passes/lower/IndexMath.h"
#include "compiler/passes/lower/group/GroupLowering.h"

namespace graphc::pass {

/// Adjacent columns of a work-item.
inline constexpr int64_t kQuad = 4;

/// One side of the product: what is multiplied, and how its pieces are read.
struct GroupLowering::Side {
  mlir::Value value;           ///< of the kernel
  int loopNumber;              ///< the parallel loop that it depends on
  mlir::Value first;           ///< of the tile
  mlir::Value end;             ///< of the loop
  mlir::Value skipped;         ///< of 32 bits: so many are stored by others at an edge; null: none
  bool alongK;                 ///< neighbours in memory follow k, else the loop
  int64_t lanes;               ///< elements of one read
  int64_t start = 0;           ///< of its two pieces in the local memory
  unsigned parts = 0;          ///< reads of a work-item
  mutable kernel::LoadOp load; ///< when the value is just that

  /// Whether `inside`, and `place`, from the tile's first, is none that others store.
  mlir::Value owns(const IndexMath &m, mlir::Value inside, mlir::Value place) const {
    if (!skipped)
      return inside;
    mlir::Value narrow = mlir::arith::IndexCastOp::create(m.b, m.loc, skipped.getType(), place);
    return m.both(inside, m.atLeast(narrow, skipped));
  }
};

/// The elements of a work-item, from the tile's first: `rows` times `runs`, of `lanes` each.
struct GroupLowering::Spread {
  llvm::SmallVector<mlir::Value> rows, runs; ///< of columns, by the first
  int64_t lanes = kQuad;

  int64_t count() const { return rows.size() * runs.size() * lanes; }
};

struct GroupLowering::ContractTile {
  mutable kernel::DotOp dot; ///< ODS accessors are not const
  Position base;             ///< outer loops set
  Side rows, columns;
  mlir::Value memory; ///< local
  int64_t depth;      ///< of a piece of k
  mlir::Value from, to;
  int64_t columnCount; ///< of the tile
  Spread spread;
  mlir::Value block, blocks; ///< null: k is one chain
  bool keeps = false;        ///< chains are kept for the fold
  /// Both sides are the same elements: only tiles on and below the diagonal are computed, the
  /// others are their mirror images, since fma(a, b, c) = fma(b, a, c).
  bool symmetric = false;
};

/// The place of read number `part` of a side's piece that starts at k: along the loop, along k.
std::pair<mlir::Value, mlir::Value> placeInPiece(mlir::OpBuilder &b, mlir::Location loc,
                                                 bool alongK, int64_t lanes, int64_t tile,
                                                 int64_t depth, mlir::Value member, int64_t part,
                                                 int64_t group);

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_LOWER_GROUP_GROUPCONTRACT_H
