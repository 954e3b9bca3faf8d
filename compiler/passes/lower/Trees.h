//===- Trees.h - Canonical reduction trees as loops -------------------------------------------===//
#ifndef GRAPHC_COMPILER_PASSES_LOWER_TREES_H
#define GRAPHC_COMPILER_PASSES_LOWER_TREES_H

#include "compiler/passes/lower/Reducers.h"

#include <functional>

namespace graphc::pass {

/// States of several reductions, one after the other.
using States = llvm::SmallVector<llvm::SmallVector<mlir::Value, 2>>;

/// Emits the canonical trees of docs/numerics.md. The order of combinations depends on lengths
/// only.
class TreeEmitter {
public:
  /// What is combined at `width` consecutive elements from `index`, one value per reducer; or, when
  /// `limit` is set, at `rest` elements, of which the caller ignores those at or beyond it.
  using Body = std::function<llvm::SmallVector<mlir::Value>(mlir::OpBuilder &, mlir::Value index,
                                                            mlir::Value limit)>;
  /// The complete state at one place of a sequence of states.
  using StateBody = std::function<States(mlir::OpBuilder &, mlir::Value index)>;
  using Storage = llvm::SmallVector<mlir::Value>; ///< one memref per part of every reducer

  /// `entry`: the block that takes stack storage. `rest`: 0 for as many as `width`.
  TreeEmitter(mlir::Block *entry, mlir::Location loc, llvm::ArrayRef<Reducer> reducers,
              int64_t width, int64_t rest = 0);

  /// Lane tree over [0, length): scalar states.
  States laneTree(mlir::OpBuilder &builder, mlir::Value length, const Body &body);
  /// One block of the lane tree: elements [first, first + length), length in 0..8192.
  States laneBlock(mlir::OpBuilder &builder, mlir::Value first, mlir::Value length,
                   const Body &body);
  /// Lane tree over the results of `count` blocks, one at a time.
  States foldBlocks(mlir::OpBuilder &builder, mlir::Value count, const StateBody &body);
  /// Row tree over rows [first, first + length) of at most 1024: states as wide as the body's.
  States rowBlock(mlir::OpBuilder &builder, mlir::Value first, mlir::Value length,
                  const Body &body);
  /// The same of what `chain` makes of at most 32 rows in order: the first one and how many.
  States rowBlocks(mlir::OpBuilder &builder, mlir::Value first, mlir::Value length,
                   llvm::function_ref<States(mlir::OpBuilder &, mlir::Value, mlir::Value)> chain);
  /// `count` rows in order, at most 32.
  States rowChain(mlir::OpBuilder &builder, mlir::Value first, mlir::Value count, const Body &body);
  /// `count` states of `lanes`, by default of vectors, in order.
  States foldChain(mlir::OpBuilder &builder, mlir::Value count, const StateBody &body,
                   int64_t lanes = 0);
  /// Row tree over the results of `count` such blocks.
  States foldRows(mlir::OpBuilder &builder, mlir::Value count, const StateBody &body);

  // What schedules that keep states of their own are made of.
  Storage allocate(int64_t elements, bool sequence);
  /// The same in the local memory of a group.
  Storage allocateShared(int64_t elements);
  /// Halves of vectors combined until `until` of their `lanes` are left.
  States foldVector(mlir::OpBuilder &builder, States states, int64_t lanes, int64_t until = 1);
  /// Whether all states may be combined in any order: a block is then read straight on.
  bool isFree() const;
  mlir::Value findFirst(mlir::OpBuilder &builder, mlir::Value first, mlir::Value length,
                        mlir::Value best, const Body &body);
  llvm::SmallVector<mlir::Value> lastRow(mlir::OpBuilder &builder,
                                         llvm::SmallVector<mlir::Value> state, mlir::Value start,
                                         mlir::Value number, mlir::Value end, const Body &body);
  void save(mlir::OpBuilder &builder, const Storage &storage, mlir::Value index,
            const States &states);
  States restore(mlir::OpBuilder &builder, const Storage &storage, mlir::Value index, int64_t width,
                 bool sequence);
  States combine(mlir::OpBuilder &builder, const States &a, const States &b);
  States identity(mlir::OpBuilder &builder, int64_t width);
  States sequenceIdentity(mlir::OpBuilder &builder, int64_t width);
  States append(mlir::OpBuilder &builder, const States &states, llvm::ArrayRef<mlir::Value> values,
                mlir::Value number);
  States fromSequence(mlir::OpBuilder &builder, const States &states, mlir::Value first,
                      int64_t step, int64_t laneStep);
  /// Halves 128, 64, ... down to `step` lanes of storage of 256; lanes at or beyond `count` are
  /// absent. Strips of `step` that hold a present lane are whole in memory, with the identity in
  /// absent lanes.
  void foldStrips(mlir::OpBuilder &builder, const Storage &storage, mlir::Value count,
                  int64_t step);
  /// What the sequence states of `count` lanes are together, whose first rows begin at `first`.
  /// Strips of vectors that hold a present lane are whole, with the identity in absent lanes.
  /// `fast`: with more code, where all lanes are present.
  States foldSequences(mlir::OpBuilder &builder, const Storage &storage, mlir::Value first,
                       mlir::Value count, bool fast);
  /// Set: does that.
  std::function<States(mlir::OpBuilder &, const Storage &lanes, mlir::Value first,
                       mlir::Value count)>
      foldElsewhere;
  /// The tree over blocks that come one after the other: gives it the result of block `number` of
  /// `count`, and has its own after the last one.
  States nextBlock(mlir::OpBuilder &builder, const Storage &blocks, const Storage &groups,
                   mlir::Value number, mlir::Value count, const States &states);
  /// Set: does that.
  std::function<States(mlir::OpBuilder &, const Storage &blocks, const Storage &groups,
                       mlir::Value number, mlir::Value count, const States &)>
      nextElsewhere;
  /// 0: a block is read strip by strip, with the lanes in registers. Else in the order in which it
  /// lies, but for so many rows of a strip that are read at a time.
  int64_t straight = 0;
  /// A block is read in the order in which it lies, with all lanes in registers.
  bool held = false;
  /// Elements from which on a block is `straight`; 0: blocks of any length.
  int64_t longFrom = 0;
  /// A block is read as it lies, and one body serves whole and last vectors: `rest` is `width`.
  bool once = false;
  /// Rows that rowBlock reads ahead, 0 where the machine does that.
  int64_t unroll = 0;
  /// While a body is made for a vector of a strip: how many elements come before it in the order in
  /// which a row's are visited. Null elsewhere.
  mlir::Value visited;
  static llvm::SmallVector<mlir::Value> flatten(const States &states);
  States unflatten(mlir::ValueRange values);

private:
  void eachStrip(mlir::OpBuilder &builder, mlir::Value count,
                 llvm::function_ref<void(mlir::OpBuilder &, mlir::Value)> body);
  States stripRows(mlir::OpBuilder &builder, mlir::Value from, mlir::Value to, mlir::Value start,
                   const States &states, const Body &body, mlir::Value before = {});
  States wholeStrip(mlir::OpBuilder &builder, mlir::Value strip, mlir::Value first,
                    mlir::Value length, const Body &body);
  States freeBlock(mlir::OpBuilder &builder, mlir::Value first, mlir::Value length,
                   const Body &body);
  void straightRows(mlir::OpBuilder &builder, const Storage &running, mlir::Value first,
                    mlir::Value count, const Body &body);
  States heldRows(mlir::OpBuilder &builder, mlir::Value first, mlir::Value length,
                  const Body &body);
  States chooseByLength(mlir::OpBuilder &builder, mlir::Value first, mlir::Value length,
                        const Body &body);
  States foldWhole(mlir::OpBuilder &builder, llvm::SmallVector<States> strips);
  void lastLanes(mlir::OpBuilder &builder, const Storage &running, mlir::Value first,
                 mlir::Value length, const Body &body);
  void maskedLanes(mlir::OpBuilder &builder, const Storage &running, mlir::Value index,
                   mlir::Value lane, mlir::Value number, mlir::Value end, const Body &body);
  void eachVector(mlir::OpBuilder &builder, const Storage &running, mlir::Value first,
                  mlir::Value length, const Body &body);
  States foldLanes(mlir::OpBuilder &builder, const Storage &storage, mlir::Value count);
  States foldWhole(mlir::OpBuilder &builder, const Storage &storage);
  States foldNarrow(mlir::OpBuilder &builder, const Storage &storage, mlir::Value count);
  States findPlace(mlir::OpBuilder &builder, const Storage &storage, mlir::Value first,
                   mlir::Value count);
  void push(mlir::OpBuilder &builder, const Storage &storage, mlir::Value number,
            const States &states);
  States rowLevel(mlir::OpBuilder &builder, llvm::ArrayRef<mlir::Value> counts, int level,
                  mlir::Value first, mlir::Value last, const StateBody &body);
  mlir::Value constant(mlir::OpBuilder &builder, int64_t value);

  mlir::Block *entry;
  mlir::Location loc;
  llvm::ArrayRef<Reducer> reducers;
  int64_t width, rest;
  Storage lanes; ///< within a block
};

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_LOWER_TREES_H
