//===- Instructions.h - Operations without regions as LLVM's instructions ---------------------===//
#ifndef GRAPHC_COMPILER_EMIT_CPU_INSTRUCTIONS_H
#define GRAPHC_COMPILER_EMIT_CPU_INSTRUCTIONS_H

#include "mlir/IR/Operation.h"
#include "llvm/IR/IRBuilder.h"

namespace graphc::emit {

/// LLVM's type of scalars, vectors of one dimension and indices; a buffer is a pointer to its first
/// element. Null when there is none.
llvm::Type *llvmType(mlir::Type type, llvm::LLVMContext &context);

/// The instructions of one operation at the place of a builder.
struct Instruction {
  llvm::IRBuilderBase &b;
  mlir::Operation *op;
  llvm::ArrayRef<llvm::Value *> x; ///< operands
  llvm::Type *type;                ///< of the result; null without one

  /// False when this form of the operation is unknown. `result` stays null without a result.
  bool build(llvm::Value *&result);
};

} // namespace graphc::emit

#endif // GRAPHC_COMPILER_EMIT_CPU_INSTRUCTIONS_H
