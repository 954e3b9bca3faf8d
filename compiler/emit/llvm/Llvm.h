//===- Llvm.h - What the emitters through LLVM share ------------------------------------------===//
#ifndef GRAPHC_COMPILER_EMIT_LLVM_LLVM_H
#define GRAPHC_COMPILER_EMIT_LLVM_LLVM_H

#include "runtime/base/Status.h"

#include "mlir/Conversion/LLVMCommon/ConversionTarget.h"
#include "mlir/Conversion/LLVMCommon/TypeConverter.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>

namespace graphc::emit {

/// All conversions to the LLVM dialect at once: separate passes would walk the module eight times.
/// Building the set costs as much as applying it to a small kernel.
class ConversionToLlvm {
public:
  /// The context's own, kept as long as it lives: compiles are serialised by the api, and a forked
  /// child, whose parent may have been in the middle of one, has a context of its own.
  static const ConversionToLlvm &of(mlir::MLIRContext *context);
  llvm::LogicalResult apply(mlir::ModuleOp module) const;

private:
  explicit ConversionToLlvm(mlir::MLIRContext *context);

  mlir::LLVMTypeConverter types;
  mlir::FrozenRewritePatternSet patterns;
  mlir::LLVMConversionTarget legal;
};

/// What groups or pieces of one launch tell each other is read and written as it stands: of a
/// function not yet converted, whose buffers lie in an address space.
void placeVolatile(mlir::func::FuncOp function, unsigned addressSpace);

/// The five values of the flat memref descriptor of a buffer that starts at `pointer`.
llvm::SmallVector<mlir::Value> flatDescriptor(mlir::OpBuilder &builder, mlir::Location loc,
                                              mlir::Value pointer);

/// A code generator that contracts nothing. Compile error when LLVM was built without it.
Result<std::unique_ptr<llvm::TargetMachine>> makeMachine(llvm::StringRef triple,
                                                         llvm::StringRef processor,
                                                         llvm::StringRef features,
                                                         llvm::CodeGenOptLevel level);

/// Of threads that LLVM works on: it goes down into long expressions, and without a limit of its
/// own a process gives threads little.
inline constexpr size_t kStackBytes = size_t{8} << 20;

/// LLVM's code generation passes for a target machine and kind of file.
class CodeGenerator {
public:
  /// With `counted`, of loops that read and write at one counter plus what does not change, which
  /// the processor's addresses are (LowerKernels says which): rewriting them, and what prepares
  /// that, would give the same loops and take a fifth of their compile time.
  static Result<std::unique_ptr<CodeGenerator>>
  make(llvm::TargetMachine &machine, llvm::CodeGenFileType kind, bool counted = false);
  llvm::SmallVector<char, 0> run(llvm::Module &module);

private:
  struct Passes : llvm::legacy::PassManager {
    void add(llvm::Pass *pass) override;
    bool counted = false;
  };

  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream{bytes};
  Passes passes;
};

/// A small pipeline of function passes: the code is already in the form that it is to run in.
/// `combine` allows rewriting into other operations than those of the source; with `registerBits`,
/// longer vectors become parts of that size where their operations allow it.
void optimize(llvm::Module &module, llvm::TargetMachine &machine, bool combine = true,
              unsigned registerBits = 0);

} // namespace graphc::emit

#endif // GRAPHC_COMPILER_EMIT_LLVM_LLVM_H
