//===- KernelNumbers.h - What kernels of equal loops differ in ------------------------------===//
#ifndef GRAPHC_COMPILER_PASSES_FUSE_KERNELNUMBERS_H
#define GRAPHC_COMPILER_PASSES_FUSE_KERNELNUMBERS_H

#include "dialects/kernel/Kernel.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/AffineMap.h"

namespace graphc::pass {

/// The numbers of a kernel that could as well be size arguments: literals, and offsets of elements
/// from where the loops are. Another kernel has the same numbers when it is the same but for them.
class KernelNumbers {
public:
  explicit KernelNumbers(kernel::FuncOp func);

  /// Takes the numbers out of the text, and puts them back.
  void hide();
  void restore();

  size_t count() const { return numbers.size(); }
  bool isSame(const KernelNumbers &other, size_t number) const {
    return numbers[number].value() == other.numbers[number].value();
  }
  bool operator==(const KernelNumbers &other) const;

  /// Makes some numbers, which are not hidden, the last size arguments of the kernel.
  void makeArguments(llvm::ArrayRef<size_t> which);
  /// Gives them, as this kernel has them, to a call.
  void appendTo(kernel::CallOp call, llvm::ArrayRef<size_t> which) const;

private:
  /// Of a literal, or of one coordinate of an access.
  struct Number {
    mlir::Operation *op;
    mlir::TypedAttr literal;
    unsigned coordinate = 0;
    mlir::AffineExpr loops, offset; ///< whose sum is the coordinate

    const void *value() const {
      return literal ? literal.getAsOpaquePointer() : offset.getAsOpaquePointer();
    }
  };

  void addLiteral(mlir::arith::ConstantOp op, bool integers);
  void addOffsets(mlir::Operation *op, mlir::AffineMap map, bool ofLoops);
  static void setCoordinate(const Number &number, mlir::AffineExpr expr);

  kernel::FuncOp func;
  llvm::SmallVector<Number> numbers;
  llvm::SmallVector<std::pair<mlir::Operation *, mlir::AffineMapAttr>> maps; ///< as they were
};

} // namespace graphc::pass

#endif // GRAPHC_COMPILER_PASSES_FUSE_KERNELNUMBERS_H
