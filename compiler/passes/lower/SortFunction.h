//===- SortFunction.h - A function that sorts, while it is built ------------------------------===//
#ifndef GRAPHC_COMPILER_PASSES_LOWER_SORTFUNCTION_H
#define GRAPHC_COMPILER_PASSES_LOWER_SORTFUNCTION_H

#include "compiler/passes/lower/GroupSort.h"
#include "compiler/passes/lower/IndexMath.h"
#include "compiler/passes/lower/SortKeys.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace graphc::pass {

/// Picoseconds of a tile: what a sort costs where a device is chosen by cost.
inline constexpr int64_t kTilePs = 2000000;

/// What the functions of GroupSort.h have in common: groups of kSortGroup work-items, tiles in
/// local memory, arithmetic there in 32 bits, which is half the work.
class SortFunction {
public:
  struct Signature {
    llvm::SmallVector<mlir::Type> buffers; ///< their elements
    int64_t inputs;                        ///< so many of them are only read
    int64_t sizes;
    int64_t cost; ///< picoseconds of a group
  };
  SortFunction(mlir::Operation *beside, const llvm::Twine &name, SortKeys keys,
               const Signature &signature);

protected:
  /// Local memory for so many elements, each at slot().
  mlir::Value local(mlir::Type type, int64_t count = kSortTile);
  mlir::Value slot(mlir::OpBuilder &at, mlir::Value place) const;
  mlir::Value get(mlir::OpBuilder &at, mlir::Value from, mlir::Value index) const;
  void set(mlir::OpBuilder &at, mlir::Value to, mlir::Value index, mlir::Value value) const;
  mlir::Value getLocal(mlir::OpBuilder &at, mlir::Value from, mlir::Value place) const {
    return get(at, from, slot(at, place));
  }
  void setLocal(mlir::OpBuilder &at, mlir::Value to, mlir::Value place, mlir::Value value) const {
    set(at, to, slot(at, place), value);
  }
  void barrier(mlir::OpBuilder &at) const;

  IndexMath near(mlir::OpBuilder &at) const { return {at, loc, at.getI32Type()}; }
  mlir::Value narrow(mlir::OpBuilder &at, mlir::Value index) const;
  mlir::Value wide(mlir::OpBuilder &at, mlir::Value number) const;
  /// As the elements of a buffer of places.
  mlir::Value stored(mlir::OpBuilder &at, mlir::Value index) const;
  /// body(builder) where the condition holds.
  void when(mlir::OpBuilder &at, mlir::Value condition,
            llvm::function_ref<void(mlir::OpBuilder &)> body) const;
  /// The elements of a tile that a work-item moves: neighbours have neighbouring memory.
  void moved(mlir::OpBuilder &at, llvm::function_ref<void(mlir::Value)> body) const;
  void finish();

  SortKeys keys;
  mlir::Location loc;
  mlir::func::FuncOp func;
  mlir::OpBuilder b;
  IndexMath m;
  mlir::ValueRange memory, sizes;
  mlir::Value group, member;
};

inline SortKeys sortKeys(kernel::SortOp op) {
  return {op.getLoc(), op.getElement(), op.getPlaces(), op.getDescending()};
}

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_LOWER_SORTFUNCTION_H
