//===- LlvmModule.h - Lowered functions as a module of LLVM's ---------------------------------===//
#ifndef GRAPHC_COMPILER_EMIT_CPU_LLVMMODULE_H
#define GRAPHC_COMPILER_EMIT_CPU_LLVMMODULE_H

#include "compiler/emit/Emitter.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/IR/Module.h"

#include <memory>

namespace graphc::emit {

/// By the names of their functions.
using Kernels = llvm::StringMap<const EmittedKernel *>;

/// The functions of a module in LLVM's form, kernels with the ABI of Program.h. At once: by way of
/// MLIR's LLVM dialect, its conversions and translation, a small kernel takes a fifth longer to
/// compile. Null when there is an operation without LLVM's words, which is a diagnostic.
std::unique_ptr<llvm::Module> makeLlvmModule(mlir::ModuleOp module, const Kernels &kernels,
                                             llvm::LLVMContext &context);

} // namespace graphc::emit

#endif // GRAPHC_COMPILER_EMIT_CPU_LLVMMODULE_H
