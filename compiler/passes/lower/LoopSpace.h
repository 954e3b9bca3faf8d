//===- LoopSpace.h - Iteration space of a kernel with linear accesses -------------------------===//
#ifndef GRAPHC_COMPILER_PASSES_LOWER_LOOPSPACE_H
#define GRAPHC_COMPILER_PASSES_LOWER_LOOPSPACE_H

#include "compiler/passes/analysis/Polynomial.h"
#include "dialects/kernel/Kernel.h"

namespace graphc::pass {

/// Rows of lanes in the canonical trees (docs/numerics.md).
inline constexpr int64_t kTreeLanes = 256, kTreeBlock = 8192, kRowBlock = 32;
/// Rows of a row tree that are one work item: two levels.
inline constexpr int64_t kRowTreeBlock = kRowBlock * kRowBlock;
/// A scan doubles within groups, adds groups in order within blocks, and scans the blocks' results.
inline constexpr int64_t kScanGroup = 16, kScanBlock = 4096;
/// k is cut into chains of this length, four chains make a run.
inline constexpr int64_t kChain = 2048, kChainsPerRun = 4;
/// The same on tensor cores: few tiles of a long k share the device, and what blocks of many tiles
/// write besides is little.
inline constexpr int64_t kTensorChain = 8192;

/// Maps that turn what they read are cut into tiles: so many elements along the turned loop, by so
/// many along the last.
inline constexpr int64_t kTurnedRows = 256, kTurnedColumns = 64;

/// Elements along both sides of a tile that a group of work-items turns, and the local memory it
/// may have: devices promise 32 KiB, those of this class have 48.
inline constexpr int64_t kGroupTile = 64, kGroupMemory = 40 << 10;

/// Rows and columns of a group's tile of a matrix product, and bytes of k that it has at once;
/// those of a small tile, which has twice the bytes.
inline constexpr int64_t kContractTile = 128, kContractBytes = 64, kSmallTile = 64;

/// On a product whose groups may call the tiles of emit/device/ChainTile.h.
inline constexpr llvm::StringLiteral kTilesAttr = "graphc.tiles";
/// Of a kernel::FuncOp whose fast product runs on tensor cores.
inline constexpr llvm::StringLiteral kTensorsAttr = "graphc.tensors";
/// Of one for which there is, where it is large and aligned, <kernel>_bulk as well, whose tiles the
/// copy engine feeds (emit/device/BulkTile.h): so many columns, k's at once, bytes of local memory
/// and bytes of global memory that a group needs.
inline constexpr llvm::StringLiteral kBulkAttr = "graphc.bulk";
inline constexpr int64_t kBulkColumns = 256, kBulkDepth = 64, kBulkBytes = 193 << 10,
                         kMapsBytes = 256;
/// On a function: bytes of local memory that a group is given at the launch.
inline constexpr llvm::StringLiteral kGroupMemoryAttr = "graphc.group_memory";
/// Local memory of the others.
inline constexpr int64_t kTileBytes = 48 << 10, kTileAlignment = 128;

/// Of a full reduction whose last group folds the block results; how many such folds, of a block of
/// the tree each, and one of their results, a launch may have.
inline constexpr llvm::StringLiteral kTicketsAttr = "graphc.tickets";
/// On kernels of rows by groups: one may have kLargeGroup work-items, where kUsualGroup are what
/// every device has.
inline constexpr llvm::StringLiteral kLargeGroupsAttr = "graphc.large_groups";
inline constexpr int64_t kLargeGroup = 1024, kUsualGroup = 256;
inline constexpr int64_t kTickets = 64, kLastFolds = kTickets - 1;

/// Words in which a value is handed on, a mark and 32 bits each.
inline int64_t handedWords(mlir::Type memory) {
  return memory.getIntOrFloatBitWidth() > 32 ? 2 : 1;
}
/// Of a scan whose groups or pieces hand their block results on within one launch; on loads and
/// stores of what they tell each other.
inline constexpr llvm::StringLiteral kHandedAttr = "graphc.handed";
inline constexpr llvm::StringLiteral kVolatileAttr = "graphc.volatile";

/// Of a kernel::FuncOp with a body so long that there is one of it: all its vectors are masked.
inline constexpr llvm::StringLiteral kOnceAttr = "graphc.once";

/// Of a division once in many points, unprepared, and of a function that most runs never call.
inline constexpr llvm::StringLiteral kSeldomAttr = "graphc.seldom";

/// Of more streams, as a transform's pass has, nothing is asked for ahead: loads have their place.
inline constexpr int64_t kMostStreamsAhead = 8;

/// Of a kernel of a program of few: a form for short rows takes little of its time to compile.
inline constexpr llvm::StringLiteral kOfFewAttr = "graphc.of_few";
/// Of a kernel for a machine that follows several operands by itself, as long as they are read in
/// the order in which they lie: what is asked for further ahead disturbs it, and so do rows out of
/// order.
inline constexpr llvm::StringLiteral kReadsAheadAttr = "graphc.reads_ahead";
/// Bytes of a single operand that such a machine is asked for, where more than adding its elements
/// keeps it from looking as far ahead; 0: none.
int64_t bytesFarAhead(kernel::FuncOp kernel);
/// On a kernel: gathers take less time than loads of their lanes.
inline constexpr llvm::StringLiteral kGathersAttr = "graphc.gathers";
/// On a kernel: a launch may be asked to check its indices and write nothing.
inline constexpr llvm::StringLiteral kChecksAloneAttr = "graphc.checks_alone";

/// Elements of a short row, here and by groups, and the most operations of a body emitted for both.
inline constexpr int64_t kShortRow = 32, kGroupShortRow = 64;
inline constexpr int64_t kMostOpsTwice = 192, kGroupMostOpsTwice = 64;
/// On kernels by groups: short rows have a work-item each; sums at places are added in any order.
inline constexpr llvm::StringLiteral kShortRowsAttr = "graphc.short_rows";
inline constexpr llvm::StringLiteral kAtomicAttr = "graphc.atomic";

/// Bodies of a loop whose loads go ahead of their use; on a kernel: of chains and running sums.
inline constexpr llvm::StringLiteral kUnrollAttr = "graphc.unroll";
/// On a kernel: for each result, whether nothing else in the program reads it.
inline constexpr llvm::StringLiteral kLastReadAttr = "graphc.last_read";
/// Rows of a column that a work-item of a group reads ahead.
inline constexpr int64_t kColumnsAhead = 16;
/// Columns of so many rows have a work-item of a group each; of more they are cut into
/// kColumnParts, whose results fit into the same local memory.
inline constexpr int64_t kFewRows = 128, kColumnParts = 8;
/// So many block results of a row are folded by one work-item of a group, more by the group.
inline constexpr int64_t kFewBlocks = 32;

/// Position of an access (load, store, gather, scatter or index op), linear in the loops.
struct LinearAccess {
  Polynomial offset;
  llvm::SmallVector<Polynomial> strides; ///< per loop
  llvm::SmallVector<Polynomial> places;  ///< gather, scatter: factor of each place
  /// Of a complex element: positions count parts, and this is part 0 or 1 of two side by side.
  std::optional<int64_t> part;

  /// Whether consecutive indices of a loop are consecutive elements.
  bool isDense(unsigned loop) const { return strides[loop].isConstant(part ? 2 : 1); }
};

/// The loops of a kernel after adjacent dimensions that every access walks through as one have been
/// merged. Parallel loops come first.
struct LoopSpace {
  explicit LoopSpace(kernel::FuncOp func);

  llvm::SmallVector<Polynomial> extents;
  unsigned parallel = 0;
  llvm::DenseMap<mlir::Operation *, LinearAccess> accesses;

  unsigned count() const { return extents.size(); }
  unsigned reducedLoops() const { return count() - parallel; }
  Polynomial product(unsigned first, unsigned last) const;
  Polynomial items() const { return product(0, parallel); }
  Polynomial reducedItems() const { return product(parallel, count()); }
  /// Whether a value read at a point changes with a loop.
  bool dependsOn(mlir::Value value, unsigned loop) const;
  /// Whether everything a value is computed from is read at a step of 1, or not at all, along a
  /// loop.
  bool contiguous(mlir::Value value, unsigned loop) const;
  /// Likewise element after element: of complex ones a part, past the other.
  bool isDense(mlir::Value value, unsigned loop) const;
  /// Whether the elements of a gather along a loop are neighbours in its operand but at the seams
  /// of what was rolled, where what follows lies anywhere once, or before (graphc-gather-rolls).
  bool isRun(kernel::GatherOp op, unsigned loop) const;
  /// Whether they lie in pieces of memory, or are one.
  bool readsPieces(kernel::GatherOp op, unsigned loop) const;

private:
  std::optional<int64_t> stepAlong(mlir::Value value, unsigned loop) const;
  /// Whether `holds` for an access that `value` is computed from.
  bool anyAccess(mlir::Value value,
                 llvm::function_ref<bool(mlir::Operation *, const LinearAccess &)> holds) const;
  void merge(unsigned loop);
};

/// Whether no reduction and no value of a point needs the result of a reduction: one pass over the
/// points is enough.
bool reducesOnce(kernel::FuncOp func);

/// The loop along which a map reads what it writes along its last loop, if it does. Groups of
/// work-items turn short bodies of real numbers, the cores' vectors everything that reads no
/// places.
std::optional<unsigned> turnedLoop(kernel::FuncOp func, const LoopSpace &space, bool groups);

/// Whether the loop at which neighbours are read lies apart in memory: nothing, or few elements
/// apart, is read in whole lines anyway.
bool isFar(const Polynomial &stride);

/// The reduced loop of a reduction by the row tree along which all operands of both loops lie, so
/// that lanes of neighbouring columns have to be turned; nothing where some lie otherwise.
std::optional<unsigned> turnedColumns(kernel::FuncOp func, const LoopSpace &space);

/// Whether a body is so short that it is repeated for every line of a turned block.
bool turnsInRegisters(kernel::FuncOp func);

/// The loads whose neighbours lie along `turned` instead of the last loop.
llvm::SmallVector<kernel::LoadOp> turnedLoads(kernel::FuncOp kernel, const LoopSpace &space,
                                              unsigned turned);

/// Whether elements are scattered to places that may be equal.
bool writesOneByOne(kernel::FuncOp func);
/// Whether indices are checked while the kernel runs.
bool reportsFaults(kernel::FuncOp func);
bool checksIndices(kernel::FuncOp func);
/// Tensors that the indices depend on which a kernel checks.
llvm::SmallVector<int32_t> indexTensors(kernel::FuncOp func);

/// Of vectors along a loop, the offsets, steps of other loops and sizes of `also` that are not
/// known to be multiples of `lanes`.
llvm::SmallVector<Polynomial> unalignedSteps(kernel::FuncOp func, const LoopSpace &space,
                                             unsigned loop, int64_t lanes,
                                             llvm::ArrayRef<Polynomial> also);

/// Element type in memory: unsigned and 16-bit floats as signless, bool as i8, of complex numbers a
/// part.
mlir::Type memoryType(mlir::Type type);

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_LOWER_LOOPSPACE_H
