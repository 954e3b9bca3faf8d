//===- KernelLowering.h - One kernel to loops
//---------------------------------------------------===//
#ifndef GRAPHC_COMPILER_PASSES_LOWER_KERNELLOWERING_H
#define GRAPHC_COMPILER_PASSES_LOWER_KERNELLOWERING_H

#include "compiler/passes/lower/BodyEmitter.h"
#include "compiler/passes/lower/KernelShape.h"
#include "compiler/passes/lower/Stages.h"
#include "compiler/passes/lower/Trees.h"

#include <memory>

namespace graphc::pass {

/// Lowers a scheduled kernel to functions of (buffers..., sizes..., begin, end) over flat memrefs;
/// work items are counted as KernelShape says. What schedules for cores (core/CoreLowering.h) and
/// for groups of work-items (group/GroupLowering.h) have in common: the frame of a function, points
/// and rows of a kernel, and the stages in which reductions depend on each other.
class KernelLowering {
public:
  /// `straightFolds`: work-items must not branch after a group's barriers.
  KernelLowering(kernel::FuncOp kernel, mlir::OpBuilder &module, bool straightFolds);
  virtual ~KernelLowering() = default;
  /// The main function, and others that the plan launches by suffixes of its name.
  virtual void run() = 0;

protected:
  using Values = llvm::SmallVector<mlir::Value>;
  using Reducers = llvm::ArrayRef<Reducer>;

  /// Opens a function; `extra` buffers follow the kernel's own, `scratch` bytes of a thread's own
  /// memory come last when there are any.
  void open(llvm::StringRef name, llvm::ArrayRef<mlir::Type> extra, int64_t scratch = 0);
  /// Called by open: decides which results are stored past the caches.
  virtual void openStreams() {}
  void close();
  /// for i in [lower, upper) step `step`; the body gets a builder and i.
  void loop(mlir::OpBuilder &builder, mlir::Value lower, mlir::Value upper, int64_t step,
            llvm::function_ref<void(mlir::OpBuilder &, mlir::Value)> body);
  /// Strips of `width` lanes over [low, high) of `loopNumber`, then masked strips of `rest` lanes,
  /// 0 for as many: narrow ones are less code. Of 1: strips of a register, then single elements.
  void strips(mlir::OpBuilder &builder, const Position &base, int loopNumber, int64_t width,
              mlir::Value low, mlir::Value high,
              llvm::function_ref<void(mlir::OpBuilder &, Position &)> body, int64_t rest = 0);
  /// Lanes of the widest type that fill a register, at most `lanes`.
  int64_t registerLanes(int64_t lanes);
  Position position();
  mlir::Value constant(mlir::OpBuilder &builder, int64_t value);
  void storeAll(mlir::OpBuilder &builder, Position &at), writeAll(mlir::OpBuilder &b, Position &at);

  int lastStage();
  llvm::SmallVector<Reducer> reducersOfStage(int stage);
  Values pointValues(mlir::OpBuilder &builder, Reducers reducers, Position &at);
  /// Values of a stage that belong to the row, before any loop over points.
  void rowValues(mlir::OpBuilder &builder, Position &row, int stage);
  llvm::SmallVector<kernel::StoreOp> pointStores(int stage);
  void storeRow(mlir::OpBuilder &builder, Position &row);
  /// An expensive value of an earlier stage from which the store's value is computed, of its type:
  /// it waits in the result for the stage of the store instead of being computed again. Or null.
  mlir::Value keptValue(kernel::StoreOp store);
  void storePoints(mlir::OpBuilder &builder, int stage, Position &at);
  void bind(Reducers reducers, const States &states, Position &row, mlir::OpBuilder &builder);
  /// Reductions and point stores of one stage of rows of at most `longest` elements, for a vector
  /// of rows.
  void shortStage(mlir::OpBuilder &builder, Position &row, int stage, int64_t longest);
  int64_t reduceWidth();
  void setReduced(mlir::OpBuilder &builder, Position &at, mlir::Value index, mlir::Value limit,
                  int64_t width);

  // Split reductions
  /// Blocks of an item's reduced elements; null when there is always one.
  mlir::Value blockCount(mlir::OpBuilder &builder);
  /// Stores the row when this was its only block, the block's states at `item` otherwise.
  void finish(mlir::OpBuilder &builder, Reducers reducers, const States &states,
              const Position &row, mlir::Value item, mlir::Value blocks);
  void savePartials(mlir::OpBuilder &builder, const States &states, const Position &row,
                    mlir::Value item);
  States loadPartials(mlir::OpBuilder &builder, Reducers reducers, mlir::ValueRange buffers,
                      const Position &row, mlir::Value item);
  /// Runs of columns: the item of column c is `offset` + c.
  struct ColumnRun {
    Position outer;
    mlir::Value block, low, high, offset;
  };
  /// <kernel>_fold of a scan: what precedes each block, from the blocks' results.
  void scanFold();
  bool scansAlongVector();

  kernel::FuncOp kernel;
  mlir::OpBuilder &module;
  bool straightFolds;
  LoopSpace space;
  Stages stages;
  KernelShape shape;
  int64_t width;      ///< lanes of the schedule
  mlir::Value member; ///< number of the work-item in its group
  llvm::SmallVector<kernel::StoreOp> stores;
  llvm::SmallVector<kernel::ScatterOp> scatters;

  mlir::func::FuncOp function;
  std::unique_ptr<BodyEmitter> emitter;
  mlir::OpBuilder builder; ///< in the open function
  mlir::Location loc;
  Values extraBuffers;
  mlir::Value begin, end, scratchMemory, writes; ///< writes: whether the launch does, or null

private:
  void markSeldom(), readSingles(), openChecks(mlir::Value faults);
  bool countsOn();

  llvm::DenseMap<mlir::Value, mlir::Value> singles; ///< read once
};

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_LOWER_KERNELLOWERING_H
