//===- KernelShape.h - Work items of a kernel
//---------------------------------------------------===//
#ifndef GRAPHC_COMPILER_PASSES_LOWER_KERNELSHAPE_H
#define GRAPHC_COMPILER_PASSES_LOWER_KERNELSHAPE_H

#include "compiler/passes/lower/LoopSpace.h"

#include <optional>

namespace graphc::pass {
struct RowForms;

/// How a matrix product runs.
enum class ContractForm {
  Item,   ///< a work-item has a tile of its own (devices)
  Point,  ///< one element
  Panels, ///< many rows share the operand of the columns
  Stream, ///< a row for each operand of the columns, which is read in order of k
  Lanes,  ///< the same, read in order of the columns and turned in registers
};

/// What a tile of a matrix product costs a multiprocessor: `step` for each k, and as much as
/// `around` k's for what comes before and after them.
struct TileCost {
  int64_t step, around;
};

/// How groups take rows that several stages visit.
enum class RowForm {
  Any,   ///< every stage reads the row again
  Whole, ///< aligned, and as long as what work-items keep: all loads are waited for together
};

/// A form for rows of at most `longest` elements that several stages visit: <kernel><suffix>, whose
/// groups have teams of work-items for `rows` rows at once. A team has the first `span` lanes of
/// each of `blocks` blocks of the tree: of each lane a work-item has `pieces` elements, 256 apart,
/// and it has `lanes` neighbours, or, where rows lie anywhere, `strips` lanes that are as far apart
/// as there are work-items.
struct RowsAtOnce {
  llvm::StringLiteral suffix;
  int64_t longest, span, lanes, strips, pieces, blocks = 1;
  int64_t rows = 1, group = 0; ///< as many as a work-item has registers for; work-items

  int64_t items() const { return blocks * span / lanes / strips; }
  int64_t perGroup() const { return group / items() * rows; }
  int64_t perRow() const { return strips * pieces; } ///< reads of a work-item
  /// Work-items that fold the lanes of a row, at most, and from row to row in local memory, so that
  /// they meet in no bank.
  static constexpr int64_t kFolding = 8;
  int64_t pitch() const { return span + kFolding; }
};

/// Work items of a kernel as its launch counts them, and what follows from the family. Shared by
/// the plan (ranges, block buffers) and the lowering, which must agree.
struct KernelShape {
  explicit KernelShape(kernel::FuncOp func) : KernelShape(func, LoopSpace(func)) {}
  KernelShape(kernel::FuncOp func, const LoopSpace &space);

  kernel::Family family;
  mlir::AffineExpr range; ///< over the kernel's sizes; before splitting
  mlir::AffineExpr work;  ///< elements visited per item; before splitting
  /// Not 0: the reduced elements of an item are split into max(1, ceil(work / splitBlock)) blocks,
  /// each an item of its own: row by row for lane trees, block by block of all columns for row
  /// trees. When there are several, <kernel>_fold combines their results. A scan needs them before
  /// its own pass: <kernel>_blocks computes them, the fold makes them what precedes each block.
  int64_t splitBlock = 0;
  /// Split: block results per reduction, as element types in order (argmin and argmax: value, then
  /// index), one element an item.
  llvm::SmallVector<mlir::Type> partials;
  /// Work-items of a group: an item of a launch is a group then, which takes `perGroup` of the
  /// strips (`vector` neighbours along the last parallel loop), rows or blocks that `pieces`
  /// counts.
  int64_t group = 0, perGroup = 1;
  /// Strips of a work-item of a map of several loops: neighbours along the first one, so that they
  /// share what finds them and what is read for every line.
  int64_t strips = 1;
  /// Full, split, by groups: up to kLastFolds blocks of block results are folded by the last
  /// groups. The last of the function's buffers are the device's tickets.
  bool lastFolds = false;
  /// Scan, split: not 0 when a line's blocks hand their results on. Each has so many words of the
  /// extra buffer, which <kernel>_clear clears, and by groups each line of several one group more.
  int64_t handedWords = 0;
  /// Scan by groups, of neighbours that lie in other lines (ScanShape.h).
  bool scansColumns = false;
  /// Rows by groups: a work-item has a row; always, or in <kernel>_short where they are short.
  bool isShort = false, mayBeShort = false;
  /// Rows by groups in several stages: their form where sizes are known. Else there is
  /// <kernel>_whole besides, for rows of `keptElements` where all `keptMultiples` are multiples of
  /// keptLanes: functions of their own, so that a device compiles and gives registers for what it
  /// runs.
  std::optional<RowForm> rowForm;
  /// Before that, and behind; shortest first: the first that holds a row has it.
  llvm::SmallVector<RowsAtOnce> rowsAtOnce, longRows;
  int64_t keptLanes = 1, keptElements = 0;
  llvm::SmallVector<mlir::AffineExpr> keptMultiples;
  /// Columns by groups: work-items that share a strip of more than kFewRows rows.
  int64_t columnParts = 1;
  mlir::AffineExpr pieces; ///< before splitting; the range where pieces are items
  /// Points follow each other in row-major order: there is one work item.
  bool oneByOne = false;
  /// Map: the loop along which something is read that is written along the last one. Columns: the
  /// reduced loop, where operands lie along it.
  std::optional<unsigned> turned;
  int64_t turnedTile = 0; ///< groups: elements along both loops
  /// Contract by groups: rows and columns of a group's tile.
  int64_t groupTile = 0;
  /// The same, sizes open: not null when there is <kernel>_small, the pieces of its small tiles,
  /// which have groups of kSmallGroup and run where tileCost says that they are done earlier.
  mlir::AffineExpr smallPieces;
  TileCost largeCost = {}, smallCost = {};
  /// Contract by groups: not null when there is <kernel>_run, its pieces, which take k of several
  /// blocks but one run as a whole.
  mlir::AffineExpr runPieces;
  static constexpr int64_t kSmallGroup = 128;
  /// Contract by groups: not null when there are <kernel>_each and <kernel>_quads, for k of
  /// kShallow at most, whose work-items have kFewSide columns of a row, or, from kQuadColumns on,
  /// of as many rows: batches, and extents of a product. They run where a small tile would be
  /// filled to a quarter or less.
  mlir::AffineExpr batches, rows, columns;
  static constexpr int64_t kFewSide = 4, kQuadColumns = 16;
  static constexpr int64_t kShallow = 64, kFewInTile = kSmallTile * kSmallTile / 4;
  /// Contract on tensor cores: not null when there is <kernel>_bulk, its pieces; and what has to be
  /// a multiple of kBulkAligned for it to run.
  mlir::AffineExpr bulkPieces;
  llvm::SmallVector<mlir::AffineExpr> bulkMultiples;
  static constexpr int64_t kBulkAligned = 8;
  /// Wide tiles from which on there are enough for the multiprocessors of a large GPU (a 1024 x
  /// 1024 product has 32).
  static constexpr int64_t kEnoughBulk = 96;
  /// Contract: tile sizes.
  ContractForm form = ContractForm::Item;
  int64_t tileRows = 0, tileColumns = 0;

private:
  void setGroups(kernel::FuncOp func, const LoopSpace &space);
  void setRows(kernel::FuncOp func, const LoopSpace &space);
  void setRowsAtOnce(RowForms &forms), setLongRows(RowForms &forms);
  void setContract(kernel::FuncOp func, const LoopSpace &space);
  void setTiles(kernel::FuncOp func, const LoopSpace &space);
  void setEach(kernel::DotOp dot, const LoopSpace &space);
  void setBulk(kernel::FuncOp func, const LoopSpace &space);
};

/// Work-items that share a row which every stage reads again.
int64_t longRowGroup(kernel::FuncOp func);

/// The form of a contract kernel of `vector` lanes.
ContractForm contractForm(kernel::FuncOp func, const LoopSpace &space, int64_t vector);

/// Whether groups of work-items run a contract kernel: each operand has a parallel loop of its own.
bool contractsByGroups(kernel::FuncOp func, const LoopSpace &space);

/// Whether both operands are one load, with rows and columns exchanged.
bool isSymmetricProduct(kernel::DotOp dot, const LoopSpace &space);

/// Multiprocessors of a large GPU.
inline constexpr int64_t kMultiprocessors = 132;
/// Of large tiles a work-item has more elements for each that it reads, but small ones spread
/// better and, in float64, store while others multiply. Whichever take less time run.
TileCost tileCost(mlir::Type type, bool isSmall);

/// Rows and columns of a group's tile of a product, of large tiles where sizes are open. Symmetric
/// ones in float64, of which half the tiles are left out, have small ones.
int64_t contractTile(kernel::DotOp dot, const LoopSpace &space);

/// What both operands of a fast product in float32 are widened from, when that is one type of 16
/// bits; null otherwise.
mlir::Type tensorElement(kernel::DotOp dot);

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_LOWER_KERNELSHAPE_H
