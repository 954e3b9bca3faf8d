//===- BodyEmitter.h - A kernel body at one position, scalar or vector ------------------------===//
#ifndef GRAPHC_COMPILER_PASSES_LOWER_BODYEMITTER_H
#define GRAPHC_COMPILER_PASSES_LOWER_BODYEMITTER_H

#include "compiler/passes/lower/LoopSpace.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace graphc::pass {

/// Of the widest registers of CPUs. Devices have no vectors as wide.
inline constexpr int64_t kRegisterBits = 512;
/// A line of the cache. A vector that lies across two of them is read and written twice.
inline constexpr int64_t kLineBytes = 64;
/// Localities of what is asked for ahead.
inline constexpr unsigned kFirstCache = 3, kSecondCache = 2;
/// What a stage asks for of a row further on.
enum class RowPart { All, FirstQuarter, Rest };

/// Where a body instance runs. `loops[i]` is the index of loop i; for the vector loop it is that of
/// lane 0.
struct Position {
  llvm::SmallVector<mlir::Value> loops;
  mlir::Value further; ///< added to the index of a loop; null: nothing. Positions that differ in it
                       ///< alone share what the rest of an address takes.
  int furtherLoop = 0;
  int vectorLoop = -1; ///< loop whose consecutive indices are the lanes; -1: none
  int64_t width = 1;   ///< lanes
  mlir::Value limit; ///< lanes at or beyond this index of the vector loop are masked off; null: all
                     ///< lanes run
  mlir::Value mask;  ///< vector<width x i1>, set with limit when width > 1
  mlir::Value from;  ///< with limit: lanes before this one are masked off too; null: none
  mlir::Value whole; ///< with limit: true where no lane is masked off; null: a few always are
  mlir::Value apart; ///< with mask: where this holds, no memory of the lanes that are masked off is
                     ///< touched; null: nowhere
  bool aligned = false; ///< whole vectors lie at multiples of their size
  bool watched = false; ///< what reductions gave has been looked at
  llvm::DenseMap<mlir::Value, mlir::Value>
      values; ///< kernel value -> lowered value (scalar, or vector over the lanes)
};

/// Emits loads, scalar ops and stores of one kernel. A value that is equal in all lanes stays
/// scalar and is broadcast only where it meets a vector.
class BodyEmitter {
public:
  /// `buffers`: flat memrefs of tensor arguments, then of results; `sizes`: index values.
  BodyEmitter(kernel::FuncOp func, const LoopSpace &space, mlir::ValueRange buffers,
              mlir::ValueRange sizes);

  /// Where checks of indices report: a flat memref of words of 64 bits (program::FaultWord), and
  /// the number of the kernel's first site as an index.
  void setFaults(mlir::Value buffer, mlir::Value firstSite);
  /// Whole lines of the store's result may pass the caches by where `word` is 0.
  void stream(kernel::StoreOp store, mlir::Value word);
  mlir::Value streamWord(kernel::StoreOp store) const;

  /// The lowered form of a kernel value at `position`, emitted once per position.
  mlir::Value value(mlir::OpBuilder &builder, mlir::Value kernelValue, Position &position);
  void store(mlir::OpBuilder &builder, kernel::StoreOp store, Position &position);
  /// All of them in order; those whose lanes alternate in memory are written as whole vectors.
  void storeAll(mlir::OpBuilder &builder, llvm::ArrayRef<kernel::StoreOp> stores,
                Position &position);
  /// Looks at all `values` of a reduction at once, where it is watched: positions that store them
  /// say so.
  void watchTogether(mlir::OpBuilder &builder, mlir::Value kernelValue,
                     llvm::ArrayRef<mlir::Value> values);
  /// Looks at the value of a reduction at `position`, where it is watched.
  void watchReduced(mlir::OpBuilder &builder, mlir::Value kernelValue, Position &position);
  /// At the end of a function: what the work-item of a group has gathered. `straight`: without a
  /// branch.
  void tellWatched(mlir::OpBuilder &builder, bool straight);
  /// Asks for the first element along the last loop of a gather or scatter whose places are all
  /// plain indices that stay along it: they are read, at `row`, and not checked.
  void prefetchRow(mlir::OpBuilder &builder, mlir::Operation *op, mlir::ValueRange places,
                   Position row);
  /// Lanes follow each other in order.
  void scatter(mlir::OpBuilder &builder, kernel::ScatterOp scatter, Position &position);
  /// Of a scatter, for one point: where it writes, what is there, the two combined, and the write.
  mlir::Value placeOf(mlir::OpBuilder &builder, kernel::ScatterOp op, Position &position);
  mlir::Value readPlace(mlir::OpBuilder &builder, kernel::ScatterOp op, mlir::Value at);
  mlir::Value combined(mlir::OpBuilder &builder, kernel::ScatterOp op, mlir::Value old,
                       mlir::Value value);
  void writePlace(mlir::OpBuilder &builder, kernel::ScatterOp op, mlir::Value value,
                  mlir::Value at);
  /// Where `use`, values that wait for the store lie in a row of `memory` instead of in the result.
  void waitIn(kernel::StoreOp store, mlir::Value memory, mlir::Value use);
  /// Keeps another value of the store's type until the store itself is made, in its place or where
  /// waitIn() says.
  void keep(mlir::OpBuilder &builder, kernel::StoreOp store, mlir::Value kernelValue,
            Position &position);
  /// Gives `position` the value that was kept there.
  void recall(mlir::OpBuilder &builder, kernel::StoreOp store, mlir::Value kernelValue,
              Position &position);

  /// Sets limit and mask of a position.
  void maskLanes(mlir::OpBuilder &builder, Position &position, mlir::Value limit);
  /// The same where lanes are seldom masked off.
  void maskAll(mlir::OpBuilder &builder, Position &position, mlir::Value limit);
  /// Splits a linear index over loops [first, last) into `position.loops`.
  void delinearize(mlir::OpBuilder &builder, mlir::Value linear, unsigned first, unsigned last,
                   Position &position);
  mlir::Value extent(mlir::OpBuilder &builder, unsigned loop) {
    return space.extents[loop].emit(builder, loc, sizes);
  }
  mlir::Value emit(mlir::OpBuilder &builder, const Polynomial &p) {
    return p.emit(builder, loc, sizes);
  }
  /// Splat to `width` lanes unless already a vector (width 1: unchanged).
  static mlir::Value splat(mlir::OpBuilder &builder, mlir::Location loc, mlir::Value value,
                           int64_t width);
  static mlir::Type vectorOf(mlir::Type element, int64_t width);

  kernel::FuncOp func;
  const LoopSpace &space;
  mlir::Location loc;

  /// The buffer of a tensor argument and the position of an element in it.
  mlir::Value buffer(kernel::LoadOp op) {
    return buffers[llvm::cast<mlir::BlockArgument>(op.getTensor()).getArgNumber()];
  }
  mlir::Value buffer(kernel::StoreOp op) { return buffers[func.getNumTensors() + op.getResult()]; }
  llvm::ArrayRef<mlir::Value> operands() {
    return llvm::ArrayRef<mlir::Value>(buffers).take_front(func.getNumTensors());
  }
  mlir::Value index(mlir::OpBuilder &builder, const LinearAccess &access, Position &position);
  /// Between a value's type and the type its elements have in memory.
  mlir::Value fromMemory(mlir::OpBuilder &builder, mlir::Value value, mlir::Type type);
  mlir::Value toMemory(mlir::OpBuilder &builder, mlir::Value value);

private:
  size_t alternating(llvm::ArrayRef<kernel::StoreOp> stores, const Position &position);
  void storeAlternating(mlir::OpBuilder &builder, llvm::ArrayRef<kernel::StoreOp> stores,
                        Position &position);
  mlir::Value load(mlir::OpBuilder &builder, mlir::Value buffer, const LinearAccess &access,
                   mlir::Type type, Position &position);
  mlir::Value loadFrom(mlir::OpBuilder &builder, mlir::Value buffer, mlir::Value first,
                       const LinearAccess &access, Position &position);
  mlir::Value loadParts(mlir::OpBuilder &builder, mlir::Value buffer, mlir::Value first,
                        int64_t part, Position &position);
  void storeValue(mlir::OpBuilder &builder, kernel::StoreOp op, mlir::Value kernelValue,
                  Position &position);
  struct Waiting {
    mlir::Value memory, use;
  };
  /// The memory and the index there of a value that waits for `op`; null when it is not to wait in
  /// memory of its own.
  std::pair<mlir::Value, mlir::Value> waitingPlace(mlir::OpBuilder &builder, kernel::StoreOp op,
                                                   Position &position);
  void storeVector(mlir::OpBuilder &builder, kernel::StoreOp op, mlir::Value raw, mlir::Value first,
                   const Position &position, mlir::Value mask, llvm::MaybeAlign alignment);
  void storeParts(mlir::OpBuilder &builder, kernel::StoreOp op, Position &position);
  void storeApart(mlir::OpBuilder &builder, mlir::Value raw, mlir::Value memory, mlir::Value first,
                  mlir::Value count);
  /// The step of a stride that is known and short, for vectors of a core.
  std::optional<int64_t> shortStep(const Polynomial &stride);
  mlir::Value loadSteps(mlir::OpBuilder &builder, mlir::Value buffer, mlir::Value first,
                        int64_t step, const Position &position);
  void storeSteps(mlir::OpBuilder &builder, mlir::Value raw, mlir::Value buffer, mlir::Value first,
                  int64_t step, const Position &position);
  mlir::Value maskSteps(mlir::OpBuilder &builder, int64_t start, int64_t last, int64_t step,
                        const Position &position);
  mlir::Value partsMask(mlir::OpBuilder &builder, Position &position);
  void forLanes(mlir::OpBuilder &builder, mlir::Value first, const Polynomial &stride,
                Position &position,
                llvm::function_ref<void(mlir::OpBuilder &, int64_t, mlir::Value)> body);
  mlir::Value gather(mlir::OpBuilder &builder, mlir::Value buffer, mlir::Value first,
                     const Polynomial &stride, Position &position);
  bool gathers(mlir::Type element);
  mlir::Value lanesAt(mlir::OpBuilder &builder, mlir::Value buffer, mlir::Value first,
                      mlir::Value offsets, Position &position);
  mlir::Value laneSteps(mlir::OpBuilder &builder, const Polynomial &stride, int64_t width);

  // Places that are values
  struct Place {
    mlir::Value first;   ///< index of the element, for lane 0 where lanes differ by a stride
    mlir::Value offsets; ///< i64 lanes to add, or null
    bool strided;        ///< lanes differ by the access's stride
  };
  Place place(mlir::OpBuilder &builder, const LinearAccess &access, mlir::ValueRange places,
              Position &position);
  mlir::Value bound(mlir::OpBuilder &builder, kernel::BoundOp op, Position &position);
  void report(mlir::OpBuilder &builder, kernel::BoundOp op, mlir::Value index, mlir::Value bad,
              mlir::Value size);
  mlir::Value inside(mlir::OpBuilder &builder, kernel::InsideOp op, Position &position);

  // Values that are watched (Watch.h)
  void watch(mlir::OpBuilder &builder, mlir::Operation *lowered, Position &position);
  void watchOperation(mlir::OpBuilder &builder, mlir::Operation *lowered, Position &position);
  void watchFloat(mlir::OpBuilder &builder, mlir::Value x, Position &position);
  /// Whether a work-item tells of what it saw once, at its end.
  bool gathersWatched();
  mlir::Value watchPlace(mlir::Type type);
  void reportUnless(mlir::OpBuilder &builder, mlir::Value fine, Position &position);
  /// Tells of lanes of `sum` that are NaN, together with those told of before in this block.
  void reportJoined(mlir::OpBuilder &builder, mlir::Value sum);
  mlir::Value gathered(mlir::OpBuilder &builder, kernel::GatherOp op, Position &position);
  bool goesInRuns(kernel::GatherOp op, const Position &position);
  mlir::Value gatheredRun(mlir::OpBuilder &builder, kernel::GatherOp op, const Position &position);
  void scatterLane(mlir::OpBuilder &builder, kernel::ScatterOp op, mlir::Value value,
                   mlir::Value at);
  kernel::LoadOp loadedIndex(mlir::Value place);
  kernel::LoadOp plainIndex(mlir::Value place, const Position &position);
  mlir::Value anyWrapped(mlir::OpBuilder &builder, const LinearAccess &access,
                         mlir::ValueRange places, Position &position);
  mlir::Value plainPlace(mlir::OpBuilder &builder, const LinearAccess &access,
                         mlir::ValueRange places, const Place &at, int64_t lane,
                         Position &position);
  void scatterLanes(mlir::OpBuilder &builder, kernel::ScatterOp op, const Place &at,
                    Position &position);
  void scatterEach(mlir::OpBuilder &builder, kernel::ScatterOp op, const Place &at,
                   Position &position);
  mlir::Value sizeOf(mlir::OpBuilder &builder, mlir::AffineMap map);
  mlir::Value indexValue(mlir::OpBuilder &builder, kernel::IndexOp op, Position &position);
  mlir::Value number(mlir::OpBuilder &builder, kernel::NumberOp op, Position &position);
  mlir::Value laneIndex(mlir::OpBuilder &builder, mlir::Value first, mlir::Value stride,
                        int64_t lane, Position &position);

  llvm::SmallVector<mlir::Value> buffers, sizes;
  mlir::Value faults, firstSite;
  llvm::SmallVector<mlir::Value, 2> watched; ///< places of watchPlace()
  /// The values told of last: the sum that is NaN, and the branch.
  struct Joined {
    mlir::Value sum;
    mlir::Operation *told = nullptr;
    int64_t count = 0;
  };
  Joined joined;
  llvm::DenseMap<int64_t, mlir::Value> streamed;      ///< result -> word
  llvm::DenseMap<mlir::Operation *, Waiting> waiting; ///< of a store
};

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_LOWER_BODYEMITTER_H
