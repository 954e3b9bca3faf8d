//===- ContractPanels.h - Matrix products of many rows on a CPU -------------------------------===//
#ifndef GRAPHC_COMPILER_PASSES_LOWER_CORE_CONTRACTPANELS_H
#define GRAPHC_COMPILER_PASSES_LOWER_CORE_CONTRACTPANELS_H

#include "compiler/passes/lower/Contract.h"
#include "compiler/passes/lower/core/CoreLowering.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

namespace graphc::pass {

/// Elements from k to k + 1 where the rows of a tile lie side by side.
inline constexpr int64_t kRowPitch = 8;
inline constexpr int64_t kPrefetch = 8;     ///< k ahead
inline constexpr int64_t kPanelDepth = 512; ///< k's of a piece
/// Row tiles whose sums wait in scratch at once.
inline constexpr int64_t kRowTilesPerBlock = 352;

struct CoreLowering::Panels {
  CoreLowering &l;
  mlir::Location loc;
  Products products;
  /// Each row of a tile has a line of accumulators for every row operand, and a line the vectors of
  /// the strip for every column operand: of complex operands a tile has half as many rows and
  /// columns.
  int64_t rowParts, columnParts;
  llvm::SmallVector<kernel::LoadOp> rowLoads; ///< of the row operands when they are read in place
  kernel::LoadOp columnLoad;                  ///< set when the one column operand is
  bool sideBySide;                            ///< packed rows of a tile lie side by side, k by k
  int rowLoop, columnLoop, depthLoop;
  int64_t lanes, rows, strip; ///< rows and columns of a tile
  int64_t vectors, pitch;     ///< of a strip; elements of a line
  int64_t bytes;              ///< of an element in memory
  int64_t panelStrips;        ///< of a panel, which a core's second cache holds
  mlir::Type element, stored;
  mlir::Value extentRows, extentColumns, depth; ///< M, N, K
  mlir::Value packed, rowPacked, sums, runs, totals;
  mlir::Value mirrors; ///< i1: the product is symmetric, and tiles are mirrored; null: it is not

  explicit Panels(CoreLowering &l);
  int64_t panelElements() const { return panelStrips * kPanelDepth * pitch; }
  int64_t rowElements() const { return rowParts * kRowPitch * kPanelDepth; }
  int64_t lines() const { return rows * rowParts; }
  int64_t slots() const { return kRowTilesPerBlock * panelStrips * lines() * pitch; }
  int64_t scratchBytes() const { return bytes * (panelElements() + rowElements() + 3 * slots()); }
  void prepare(mlir::OpBuilder &b);

  // ContractNarrow.cpp
  bool mayBeNarrow() const;
  mlir::Value isNarrow(mlir::OpBuilder &b) const;
  void narrow(mlir::OpBuilder &b, const Position &base);

  /// What a chunk of work items is cut into: tiles [low, high) of a panel, counted rows first.
  struct Panel {
    Position base;                  ///< batch loops set
    mlir::Value firstStrip, strips; ///< of the panel
    mlir::Value low, high;          ///< items of the panel
    mlir::Value firstTile, endTile; ///< row tiles of the block at work
    mlir::Value k0, length;         ///< piece of k
    mlir::Value last, first;        ///< i1: last piece of all, first piece of its chain
    mlir::Value usePacked;          ///< i1, of whole strips
  };
  void chunk(mlir::OpBuilder &b);
  void panels(mlir::OpBuilder &b, const Position &base, mlir::Value before, mlir::Value tiles,
              mlir::Value strips);
  void panel(mlir::OpBuilder &b, Panel &p);
  void block(mlir::OpBuilder &b, Panel &p);
  void stripRange(mlir::OpBuilder &b, const Panel &p, mlir::Value tile, mlir::Value &low,
                  mlir::Value &high);

  // ContractPack.cpp
  mlir::Value wantsPacking(mlir::OpBuilder &b, const Panel &p);
  void packStrips(mlir::OpBuilder &b, const Panel &p);
  void packLanes(mlir::OpBuilder &b, const Panel &p, mlir::Value s, mlir::Value k, bool whole);
  void packVector(mlir::OpBuilder &b, const Panel &p, mlir::Value s, mlir::Value k,
                  mlir::Value offset, bool whole);
  void packTurned(mlir::OpBuilder &b, const Panel &p, mlir::Value s);
  void packRow(mlir::OpBuilder &b, const Panel &p, mlir::Value tile);
  void packSideBySide(mlir::OpBuilder &b, const Panel &p, mlir::Value row);

  struct Tile {
    mlir::Value row, column;                      ///< first
    mlir::Value slot;                             ///< element of `sums`
    mlir::Value source, sourceBase, sourceStride; ///< of the column operand
    mlir::Value strip;                            ///< in the panel
  };
  void tile(mlir::OpBuilder &b, Panel &p, mlir::Value tile, mlir::Value strip);
  /// An accumulator: a vector of a strip, from some column of it on, in a line.
  struct Cell {
    int64_t line, part, vector; ///< part: of the column operands
  };
  llvm::SmallVector<Cell> cells(int64_t count) const;
  int64_t slotOf(const Cell &cell) const {
    return cell.line * pitch + cell.part * strip + cell.vector * lanes;
  }
  llvm::SmallVector<mlir::Value> accumulate(mlir::OpBuilder &b, const Panel &p, const Tile &t,
                                            int64_t count, mlir::Value firstVector);
  mlir::Value rowElement(mlir::OpBuilder &b, const Panel &p, int64_t part, Position &here,
                         int64_t r);
  void requestRows(mlir::OpBuilder &b, const Panel &p, const Tile &t, mlir::Value done);
  mlir::Value wholeTile(mlir::OpBuilder &b, const Panel &p, const Tile &t);
  mlir::Value edgeTile(mlir::OpBuilder &b, const Panel &p, const Tile &t);
  mlir::Value isDone(mlir::OpBuilder &b, const Panel &p);
  void storeRows(mlir::OpBuilder &b, const Tile &t, llvm::ArrayRef<Position> columns,
                 mlir::ValueRange values);
  void finish(mlir::OpBuilder &b, const Panel &p, const Tile &t);
  mlir::Value isAbove(mlir::OpBuilder &b, const Tile &t);
  void mirror(mlir::OpBuilder &b, const Panel &p, const Tile &t, mlir::Value buffer);
  void joinChains(mlir::OpBuilder &b, const Panel &p, mlir::Value at);
  bool smallEpilogue();
  Position place(const Panel &p, mlir::Value row, mlir::Value column) const;

  mlir::Value load(mlir::OpBuilder &b, mlir::Value buffer, mlir::Value at) {
    auto type = mlir::VectorType::get({lanes}, stored);
    return l.emitter->fromMemory(b, mlir::vector::LoadOp::create(b, loc, type, buffer, at),
                                 element);
  }
  void store(mlir::OpBuilder &b, mlir::Value value, mlir::Value buffer, mlir::Value at) {
    mlir::vector::StoreOp::create(b, loc, l.emitter->toMemory(b, value), buffer, at);
  }
};

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_LOWER_CORE_CONTRACTPANELS_H
