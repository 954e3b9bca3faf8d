//===- Sizes.h - Sizes of tensors as canonical values -----------------------------------------===//
#ifndef GRAPHC_COMPILER_PASSES_ANALYSIS_SIZES_H
#define GRAPHC_COMPILER_PASSES_ANALYSIS_SIZES_H

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/AffineExpr.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVector.h"

namespace graphc::pass {

/// A size of a graph function: a constant, or an index value of the function (when `value` is set).
struct Size {
  int64_t constant = 0;
  mlir::Value value;
  bool isConstant(int64_t c) const { return !value && constant == c; }
  bool operator==(const Size &other) const {
    return value == other.value && (value || constant == other.constant);
  }
};

/// Sizes of every tensor of one graph function. Elementwise operands have equal sizes, so their `?`
/// get one name; an argument attribute `graph.dims` (symbol numbers, -1: none) names equal sizes
/// across arguments. `graph.dim` ops are created at the function's start for argument sizes that
/// have no name yet. Valid until the function changes.
class SizeAnalysis {
public:
  explicit SizeAnalysis(mlir::func::FuncOp func);

  llvm::ArrayRef<Size> of(mlir::Value tensor);
  /// Gives a new tensor the sizes of the one it replaces.
  void replace(mlir::Value old, mlir::Value replacement);
  /// Symbol number of an index value in maps that use all sizes of this function.
  unsigned symbol(mlir::Value index);
  /// The size as an affine expression over those symbols.
  mlir::AffineExpr expr(const Size &size);
  /// Index values by symbol number.
  llvm::ArrayRef<mlir::Value> symbols() const { return symbolValues; }
  /// The canonical form of an index value: a constant or the representative of its class.
  Size canonical(mlir::Value index);
  /// Sizes that the program needs equal without knowing it: checked when it is called.
  struct Equality {
    Size a, b;
    std::string what;
  };
  llvm::ArrayRef<Equality> equalities() const { return checks; }

private:
  void visit(mlir::Operation *op);
  void unifyPlaces(mlir::Operation *op);
  void unify(mlir::Operation *op, unsigned axis, Size a, Size b);
  llvm::SmallVector<Size> resultSizes(mlir::Operation *op, mlir::RankedTensorType type);

  mlir::MLIRContext *context;
  llvm::DenseMap<mlir::Value, llvm::SmallVector<Size>> sizes;
  llvm::DenseMap<mlir::Value, mlir::Value> parent; // union-find over index values
  llvm::DenseMap<mlir::Value, int64_t> pinned;     // representatives found equal to a constant
  llvm::DenseMap<mlir::Value, unsigned> numbers;
  llvm::SmallVector<mlir::Value> symbolValues;
  llvm::SmallVector<Equality> checks;
};

/// Index operands for the `?` of a tensor with the given sizes.
llvm::SmallVector<mlir::Value> dynamicSizes(mlir::RankedTensorType type, llvm::ArrayRef<Size> sizes,
                                            mlir::OpBuilder &builder, mlir::Location loc);

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_ANALYSIS_SIZES_H
