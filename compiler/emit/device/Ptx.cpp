// PTX as NVIDIA's OpenCL driver takes it for a program binary: LLVM's triple of that flavour
// declares the kernels' buffers so that the driver knows them as memory objects.
#include "compiler/emit/device/DeviceModule.h"
#include "compiler/emit/llvm/Llvm.h"

#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Support/TargetSelect.h"

using namespace mlir;
using namespace graphc;
using namespace graphc::emit;

namespace {

/// `features`: an LLVM list, the version of PTX where that of the processor's first is not enough.
Result<std::unique_ptr<llvm::TargetMachine>> makePtxMachine(StringRef processor,
                                                            StringRef features) {
  static const bool ready = [] {
    LLVMInitializeNVPTXTargetInfo();
    LLVMInitializeNVPTXTarget();
    LLVMInitializeNVPTXTargetMC();
    LLVMInitializeNVPTXAsmPrinter();
    return true;
  }();
  (void)ready;
  auto create = [&](StringRef name) {
    return makeMachine("nvptx64-nvidia-nvcl", name, features, llvm::CodeGenOptLevel::Default);
  };
  // LLVM takes another processor for an unknown one, with a line on stderr.
  GRAPHC_ASSIGN(auto baseline, create(""));
  if (!baseline->getMCSubtargetInfo()->isCPUStringValid(processor))
    return Status(ErrorCode::InvalidArgument,
                  "[ptx] unknown processor '" + processor.str() + "'; one is called sm_90");
  return create(processor);
}

/// First of all a kernel waits until the one before it has ended and its memory is seen, so that
/// work-items which leave early wait as well; then the next one's groups may be placed.
void waitForKernelBefore(llvm::Function &kernel) {
  llvm::IRBuilder<> b(&kernel.getEntryBlock(), kernel.getEntryBlock().getFirstInsertionPt());
  auto *type = llvm::FunctionType::get(b.getVoidTy(), /*isVarArg=*/false);
  llvm::CallInst *wait = b.CreateCall(
      type, llvm::InlineAsm::get(type, "griddepcontrol.wait;\n\tgriddepcontrol.launch_dependents;",
                                 "~{memory}", /*hasSideEffects=*/true));
  wait->setConvergent();
}

} // namespace

Result<std::string> emit::emitPtx(ModuleOp module, ArrayRef<EmittedKernel> kernels,
                                  StringRef processor, bool dependent) {
  // Tiles with tensor maps (BulkTile.h) are the kernels that are given local memory.
  bool maps = llvm::any_of(kernels, [](const EmittedKernel &kernel) { return kernel.scratch > 0; });
  GRAPHC_ASSIGN(std::unique_ptr<llvm::TargetMachine> machine,
                makePtxMachine(processor, maps ? "+ptx83" : ""));
  GRAPHC_ASSIGN(DeviceModule made, makeDeviceModule(module, kernels, Language::Ptx, *machine));
  if (dependent)
    for (const EmittedKernel &kernel : kernels)
      waitForKernelBefore(*made.module->getFunction(kernel.name));
  GRAPHC_ASSIGN(std::unique_ptr<CodeGenerator> generator,
                CodeGenerator::make(*machine, llvm::CodeGenFileType::AssemblyFile));
  llvm::SmallVector<char, 0> text = generator->run(*made.module);
  return std::string(text.data(), text.size());
}
