//===- DeviceModule.h - Device kernels as LLVM IR ---------------------------------------------===//
#ifndef GRAPHC_COMPILER_EMIT_DEVICE_DEVICEMODULE_H
#define GRAPHC_COMPILER_EMIT_DEVICE_DEVICEMODULE_H

#include "compiler/emit/Emitter.h"
#include "compiler/emit/device/Accepted.h"

#include "llvm/IR/Module.h"
#include "llvm/Target/TargetMachine.h"

#include <memory>
#include <vector>

namespace graphc::emit {

struct DeviceModule {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
};

/// Kernels of a module of lowered functions, with the ABI of program::KernelRecord, in the dialect
/// of LLVM IR that the language's code generator reads once finish() has seen it: of PTX each in a
/// module and context of its own, of SPIR-V together. The functions stay as they are.
Result<std::vector<DeviceModule>> makeDeviceModules(mlir::ModuleOp module,
                                                    llvm::ArrayRef<EmittedKernel> kernels,
                                                    Language language,
                                                    llvm::TargetMachine &machine);
/// LLVM's passes; everything in the module is accepted by checkAccepted then. Modules of several
/// contexts may be finished at once, each with a machine of its thread.
Status finish(llvm::Module &module, Language language, llvm::TargetMachine &machine);

/// SPIR-V 1.0 or 1.2 ("spirv1.0", "spirv1.2") of the kernels in one module, validated.
Result<std::vector<uint8_t>> emitSpirv(mlir::ModuleOp module, llvm::ArrayRef<EmittedKernel> kernels,
                                       llvm::StringRef version);

/// PTX text for an NVIDIA processor ("sm_90") as that vendor's OpenCL driver takes it. `dependent`:
/// kernels wait for the one before them, so that their groups may be placed while it runs. At most
/// `threads` make it; it is the same whatever their number.
Result<std::string> emitPtx(mlir::ModuleOp module, llvm::ArrayRef<EmittedKernel> kernels,
                            llvm::StringRef processor, bool dependent, unsigned threads);

} // namespace graphc::emit

#endif // GRAPHC_COMPILER_EMIT_DEVICE_DEVICEMODULE_H
