// PTX as NVIDIA's OpenCL driver takes it for a program binary: LLVM's triple of that flavour
// declares the kernels' buffers so that the driver knows them as memory objects.
#include "compiler/emit/device/DeviceModule.h"
#include "compiler/emit/llvm/Llvm.h"
#include "runtime/base/Threads.h"
#include "runtime/base/Trace.h"

#include "llvm/ADT/StringSet.h"
#include "llvm/IR/IRBuilder.h"
#include "llvm/IR/InlineAsm.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Support/TargetSelect.h"

#include <algorithm>
#include <atomic>

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

/// One kernel with what it names.
Result<std::string> textOf(llvm::Module &module, StringRef kernel, bool dependent,
                           llvm::TargetMachine &machine) {
  GRAPHC_TRY(finish(module, Language::Ptx, machine));
  if (dependent)
    waitForKernelBefore(*module.getFunction(kernel));
  GRAPHC_ASSIGN(std::unique_ptr<CodeGenerator> generator,
                CodeGenerator::make(machine, llvm::CodeGenFileType::AssemblyFile));
  llvm::SmallVector<char, 0> text = generator->run(module);
  return std::string(text.data(), text.size());
}

/// The texts as one: what stands before their kernels is said once.
std::string joined(ArrayRef<std::string> texts) {
  std::string head, kernels;
  llvm::StringSet<> said;
  for (StringRef text : texts) {
    auto [own, kernel] = text.split("\n.entry ");
    for (StringRef line : llvm::split(own, '\n'))
      if (!line.ltrim().starts_with("//") && said.insert(line).second)
        head += (line + "\n").str();
    kernels += ("\n.entry " + kernel).str();
  }
  return head + kernels;
}

} // namespace

Result<std::string> emit::emitPtx(ModuleOp module, ArrayRef<EmittedKernel> kernels,
                                  StringRef processor, bool dependent, unsigned threads) {
  // Tiles with tensor maps (BulkTile.h) are the kernels that are given local memory.
  bool maps = llvm::any_of(kernels, [](const EmittedKernel &kernel) { return kernel.scratch > 0; });
  const StringRef version = maps ? "+ptx83" : "";
  GRAPHC_ASSIGN(std::unique_ptr<llvm::TargetMachine> machine, makePtxMachine(processor, version));
  GRAPHC_ASSIGN(std::vector<DeviceModule> made,
                makeDeviceModules(module, kernels, Language::Ptx, *machine));
  TraceSpan span("compile", "generate code");
  std::vector<std::string> texts(made.size());
  std::vector<Status> failed;
  for (size_t i = 0; i < made.size(); ++i)
    failed.push_back(Status::ok());
  std::atomic<size_t> next{0};
  auto work = [&] {
    auto own = makePtxMachine(processor, version);
    for (size_t i = next++; i < made.size(); i = next++) {
      auto text = own ? textOf(*made[i].module, kernels[i].name, dependent, **own)
                      : Result<std::string>(Status(own.status().code(), own.status().message()));
      if (text)
        texts[i] = text.take();
      else
        failed[i] = text.takeStatus();
    }
  };
  runTogether(std::min<size_t>(made.size(), threads), work, kStackBytes);
  for (Status &status : failed)
    GRAPHC_TRY(std::move(status));
  return joined(texts);
}
