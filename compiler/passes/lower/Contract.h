//===- Contract.h - What the forms of matrix products share -----------------------------------===//
#ifndef GRAPHC_COMPILER_PASSES_LOWER_CONTRACT_H
#define GRAPHC_COMPILER_PASSES_LOWER_CONTRACT_H

#include "compiler/passes/lower/KernelShape.h"

#include "mlir/IR/Builders.h"

namespace graphc::pass {

/// On a product in float64 for which there may be <kernel>_run as well, whose groups keep the sums
/// of a run in so much local memory.
inline constexpr llvm::StringLiteral kRunsAttr = "graphc.runs";
inline constexpr int64_t kRunBytes = 128 << 10;

/// On a product with a vector whose groups read rows together: so many rows, and so many elements
/// of each at once.
inline constexpr llvm::StringLiteral kVectorAttr = "graphc.vector_product";
inline constexpr int64_t kVectorRows = 32, kVectorDepth = 64;

/// Whether a product is one of those: neighbours of what changes with its rows lie along k or along
/// the rows.
bool multipliesVector(kernel::FuncOp func, const LoopSpace &space);

/// Whether both operands of a product can be copied as they lie in memory.
bool copiesSides(mlir::Value left, mlir::Value right, const LoopSpace &space);

/// The product of a kernel of its family.
kernel::DotOp dotOf(kernel::FuncOp kernel);

/// The products of a kernel for a CPU, which are computed side by side: one, or those of the parts
/// of complex operands.
struct Products {
  Products(kernel::FuncOp kernel, const LoopSpace &space);

  struct Product {
    kernel::DotOp dot;
    unsigned row, column; ///< its operands, of those below
  };
  llvm::SmallVector<Product, 4> all;
  /// Their operands: those that the columns share, and those that change with them.
  llvm::SmallVector<mlir::Value, 2> rows, columns;

  mlir::Type element() const { return all.front().dot->getResult(0).getType(); }
  /// The product of two operands, or null.
  kernel::DotOp at(unsigned row, unsigned column) const;
};

/// x * y + sum as a product's chain does it: one rounding, integers wrap, bool is or of ands.
mlir::Value multiplyAdd(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Value y,
                        mlir::Value sum);
/// Sum of two chains or runs.
mlir::Value chainSum(mlir::OpBuilder &b, mlir::Location loc, mlir::Value x, mlir::Value y);
/// What a chain starts from, in every lane.
mlir::Value chainZero(mlir::OpBuilder &b, mlir::Location loc, mlir::Type element, int64_t lanes);

/// The run after chain `number` of `chains`, then the total after it: a run grows by every chain,
/// the total by every finished run. The first chain of a run and the first run start their sums, so
/// that no zero is added.
llvm::SmallVector<mlir::Value> addChain(mlir::OpBuilder &b, mlir::Location loc, mlir::Value number,
                                        mlir::Value chains, mlir::ValueRange sums,
                                        mlir::ValueRange run, mlir::ValueRange total);

/// The totals of sums over k in [0, depth) that start from `zeros`, with the chains of a run beside
/// each other: `add` gives the sums after one more k.
llvm::SmallVector<mlir::Value>
sumsBeside(mlir::OpBuilder &b, mlir::Location loc, mlir::Value depth, mlir::ValueRange zeros,
           llvm::function_ref<llvm::SmallVector<mlir::Value>(mlir::OpBuilder &, mlir::Value k,
                                                             mlir::ValueRange sums)>
               add);

/// Lane j of vector i becomes lane i of vector j; as many vectors as lanes, a power of two.
void transposeVectors(mlir::OpBuilder &b, mlir::Location loc,
                      llvm::SmallVectorImpl<mlir::Value> &vectors);

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_LOWER_CONTRACT_H
