//===- BodyEmitter.h - A kernel body at one position, scalar or vector
//---------------------------------------===//
#ifndef GRAPHC_COMPILER_PASSES_LOWER_BODYEMITTER_H
#define GRAPHC_COMPILER_PASSES_LOWER_BODYEMITTER_H

#include "compiler/passes/lower/LoopSpace.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace graphc::pass {

/// Where a body instance runs. `loops[i]` is the index of loop i; for the vector loop it is that of
/// lane 0.
struct Position {
  llvm::SmallVector<mlir::Value> loops;
  int vectorLoop = -1; ///< loop whose consecutive indices are the lanes; -1: none
  int64_t width = 1;   ///< lanes
  mlir::Value limit; ///< lanes at or beyond this index of the vector loop are masked off; null: all
                     ///< lanes run
  mlir::Value mask;  ///< vector<width x i1>, set with limit when width > 1
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

  /// The lowered form of a kernel value at `position`, emitted once per position.
  mlir::Value value(mlir::OpBuilder &builder, mlir::Value kernelValue, Position &position);
  void store(mlir::OpBuilder &builder, kernel::StoreOp store, Position &position);
  /// Keeps another value of the store's type at the store's place, until the store itself is made.
  void keep(mlir::OpBuilder &builder, kernel::StoreOp store, mlir::Value kernelValue,
            Position &position);
  /// Gives `position` the value that was kept there.
  void recall(mlir::OpBuilder &builder, kernel::StoreOp store, mlir::Value kernelValue,
              Position &position);

  /// Sets limit and mask of a position.
  void maskLanes(mlir::OpBuilder &builder, Position &position, mlir::Value limit);
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
  mlir::Value index(mlir::OpBuilder &builder, const LinearAccess &access, Position &position);
  /// Between a value's type and the type its elements have in memory.
  mlir::Value fromMemory(mlir::OpBuilder &builder, mlir::Value value, mlir::Type type);
  mlir::Value toMemory(mlir::OpBuilder &builder, mlir::Value value);

private:
  mlir::Value load(mlir::OpBuilder &builder, mlir::Value buffer, const LinearAccess &access,
                   mlir::Type type, Position &position);
  mlir::Value gather(mlir::OpBuilder &builder, mlir::Value buffer, mlir::Value first,
                     const Polynomial &stride, Position &position);
  mlir::Value indexValue(mlir::OpBuilder &builder, kernel::IndexOp op, Position &position);
  mlir::Value laneIndex(mlir::OpBuilder &builder, mlir::Value first, mlir::Value stride,
                        int64_t lane, Position &position);

  llvm::SmallVector<mlir::Value> buffers, sizes;
};

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_LOWER_BODYEMITTER_H
