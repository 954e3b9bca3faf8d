//===- GroupFunction.h - A function of groups, while it is built ------------------------------===//
#ifndef GRAPHC_COMPILER_PASSES_LOWER_GROUP_GROUPFUNCTION_H
#define GRAPHC_COMPILER_PASSES_LOWER_GROUP_GROUPFUNCTION_H

#include "compiler/passes/lower/IndexMath.h"
#include "dialects/kernel/Kernel.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace graphc::pass {

/// What functions have in common that are written for groups of kGroupItems work-items rather than
/// scheduled: buffers, sizes, tiles in local memory. Arithmetic there is in 32 bits, half the work.
class GroupFunction {
public:
  static constexpr int64_t kGroupItems = 256;
  struct Signature {
    llvm::SmallVector<mlir::Type> buffers; ///< their elements
    int64_t inputs;                        ///< so many of them are only read
    int64_t sizes;
    int64_t cost; ///< picoseconds of a group
  };
  GroupFunction(mlir::Operation *beside, const llvm::Twine &name, kernel::Family family,
                const Signature &signature);

protected:
  /// Local memory for so many elements, each at slot().
  mlir::Value local(mlir::Type type, int64_t count);
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
  void finish();

  mlir::Location loc;
  mlir::func::FuncOp func;
  mlir::OpBuilder b;
  IndexMath m;
  mlir::ValueRange memory, sizes;
  mlir::Value group, member;
};

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_LOWER_GROUP_GROUPFUNCTION_H
