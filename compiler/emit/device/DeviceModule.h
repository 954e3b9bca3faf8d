//===- DeviceModule.h - Device kernels as LLVM IR ---------------------------------------------===//
#ifndef GRAPHC_COMPILER_EMIT_DEVICE_DEVICEMODULE_H
#define GRAPHC_COMPILER_EMIT_DEVICE_DEVICEMODULE_H

#include "compiler/emit/Emitter.h"
#include "compiler/emit/device/Accepted.h"

#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>

namespace graphc::emit {

struct DeviceModule {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
};

/// Kernels of a module of lowered functions, with the ABI of program::KernelRecord, in the dialect
/// of LLVM IR that the language's code generator reads; everything in it is accepted by
/// checkAccepted. The functions stay as they are.
Result<DeviceModule> makeDeviceModule(mlir::ModuleOp module, llvm::ArrayRef<EmittedKernel> kernels,
                                      Language language, llvm::TargetMachine &machine);

/// SPIR-V 1.0 or 1.2 ("spirv1.0", "spirv1.2") of the kernels in one module, validated.
Result<std::vector<uint8_t>> emitSpirv(mlir::ModuleOp module, llvm::ArrayRef<EmittedKernel> kernels,
                                       llvm::StringRef version);

/// PTX text for an NVIDIA processor ("sm_90") as that vendor's OpenCL driver takes it. `dependent`:
/// kernels wait for the one before them, so that their groups may be placed while it runs.
Result<std::string> emitPtx(mlir::ModuleOp module, llvm::ArrayRef<EmittedKernel> kernels,
                            llvm::StringRef processor, bool dependent);

} // namespace graphc::emit

#endif // GRAPHC_COMPILER_EMIT_DEVICE_DEVICEMODULE_H
