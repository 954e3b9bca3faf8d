// Lowered functions to native code: one conversion to the LLVM dialect, a small LLVM pipeline (the
// code is already vectorized), an object file, and a position-independent image of it that the
// runtime maps as it is.
#include "compiler/emit/Emitter.h"
#include "compiler/emit/cpu/Image.h"
#include "compiler/emit/llvm/Llvm.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/Support/TargetSelect.h"

#include <map>

using namespace mlir;
using namespace graphc;
using namespace graphc::emit;

namespace {

/// Gives a kernel the ABI of Program.h, `void name(void *const *buffers, const int64_t *sizes,
/// int64_t begin, int64_t end, void *scratch)`: the memref descriptors it was converted to are
/// loaded in its entry block. A wrapper would be one more function to generate code for and a call
/// with its arguments on the stack.
void adoptKernelAbi(ModuleOp module, const EmittedKernel &kernel) {
  auto function = module.lookupSymbol<LLVM::LLVMFuncOp>(kernel.name);
  OpBuilder b(function.getContext());
  Location loc = function.getLoc();
  Type pointer = LLVM::LLVMPointerType::get(b.getContext()), i64 = b.getI64Type();
  Block &body = function.getBody().front();
  unsigned old = body.getNumArguments();
  for (Type type : {pointer, pointer, i64, i64, pointer})
    body.addArgument(type, loc);
  auto abi = [&](unsigned i) { return body.getArgument(old + i); };
  // The entry block of an LLVM function has no predecessors: loads there run once.
  b.setInsertionPointToStart(&body);
  auto element = [&](Value base, Type of, int32_t i) -> Value {
    Value at = LLVM::GEPOp::create(b, loc, pointer, of, base, ArrayRef<LLVM::GEPArg>{i});
    return LLVM::LoadOp::create(b, loc, of, at);
  };
  SmallVector<Value> values;
  for (size_t i = 0; i < kernel.writes.size(); ++i)
    values.append(flatDescriptor(b, loc, element(abi(0), pointer, i)));
  for (uint32_t i = 0; i < kernel.sizeCount; ++i)
    values.push_back(element(abi(1), i64, i));
  values.append({abi(2), abi(3)});
  if (kernel.scratch > 0)
    values.append(flatDescriptor(b, loc, abi(4)));
  for (auto [argument, value] : llvm::zip_equal(body.getArguments().take_front(old), values))
    argument.replaceAllUsesWith(value);
  body.eraseArguments(0, old);
  function.setFunctionType(LLVM::LLVMFunctionType::get(LLVM::LLVMVoidType::get(b.getContext()),
                                                       {pointer, pointer, i64, i64, pointer}));
  function.removeArgAttrsAttr();
}

Result<std::unique_ptr<llvm::TargetMachine>> makeTargetMachine(StringRef features) {
  auto create = [](StringRef list) {
    return makeMachine("x86_64-unknown-linux-gnu", "x86-64", list, llvm::CodeGenOptLevel::Default);
  };
  GRAPHC_ASSIGN(auto baseline, create(""));
  std::string list;
  for (StringRef feature : llvm::split(features, ',')) {
    if (feature.empty())
      continue;
    // LLVM ignores an unknown feature with a line on stderr.
    if (llvm::none_of(baseline->getMCSubtargetInfo()->getAllProcessorFeatures(),
                      [&](const llvm::SubtargetFeatureKV &known) { return feature == known.Key; }))
      return Status(ErrorCode::InvalidArgument, "[cpu] unknown CPU feature '" + feature.str() +
                                                    "'; features are LLVM's names, such as avx2");
    list += (list.empty() ? "+" : ",+") + feature.str();
  }
  return create(list);
}

/// What is made once and used by every compile: making it costs more than half of a small kernel's
/// compile time. It lives as long as the context: compiles are serialised by the api, and a forked
/// child, whose parent may have been in the middle of one, has a context of its own.
class Backend {
public:
  static Backend &of(MLIRContext *context) {
    // Never destroyed: exit may come while a thread compiles.
    static Backend *current = nullptr;
    if (!current || current->context != context)
      current = new Backend(context);
    return *current;
  }

  const ConversionToLlvm &conversion;

  Result<llvm::TargetMachine *> machine(const std::string &features) {
    auto &machine = machines[features];
    if (!machine) {
      GRAPHC_ASSIGN(machine, makeTargetMachine(features));
    }
    return machine.get();
  }

  Result<CodeGenerator *> generator(llvm::TargetMachine *machine, llvm::CodeGenFileType kind) {
    auto &generator = generators[{machine, kind}];
    if (!generator) {
      GRAPHC_ASSIGN(generator, CodeGenerator::make(*machine, kind));
    }
    return generator.get();
  }

private:
  explicit Backend(MLIRContext *context)
      : conversion(ConversionToLlvm::of(context)), context(context) {
    LLVMInitializeX86TargetInfo();
    LLVMInitializeX86Target();
    LLVMInitializeX86TargetMC();
    LLVMInitializeX86AsmPrinter();
  }

  MLIRContext *context;
  std::map<std::string, std::unique_ptr<llvm::TargetMachine>> machines;
  std::map<std::pair<llvm::TargetMachine *, llvm::CodeGenFileType>, std::unique_ptr<CodeGenerator>>
      generators;
};

/// Maps read and write at one counter plus what does not change, which the processor's addresses
/// are: rewriting it, and what prepares that, would give the same loops and take a fifth of their
/// compile time.
struct CountedLoops : llvm::OptPassGate {
  bool isEnabled() const override { return true; }
  bool shouldRunPass(llvm::StringRef pass, llvm::StringRef) const override {
    return pass != "Loop Strength Reduction" && pass != "Canonicalize Freeze Instructions in Loops";
  }
};

struct Compiled {
  std::unique_ptr<llvm::LLVMContext> context;
  std::unique_ptr<llvm::Module> module;
  llvm::TargetMachine *machine;
  std::vector<EmittedKernel> kernels;
};

Result<Compiled> toLlvm(ModuleOp module, const TargetDesc &target) {
  Compiled result;
  Backend &backend = Backend::of(module.getContext());
  GRAPHC_ASSIGN(result.machine, backend.machine(target.features));
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isPrivate())
      continue;
    EmittedKernel kernel = describeKernel(func);
    // Chunks of whole cache lines, so that no two threads write one.
    bool elements = !func->hasAttr("graphc.tiles") &&
                    (kernel.family == static_cast<uint32_t>(program::KernelFamily::Map) ||
                     kernel.family == static_cast<uint32_t>(program::KernelFamily::Columns));
    kernel.grain = elements ? 64 : 1;
    result.kernels.push_back(std::move(kernel));
  }
  OwningOpRef<ModuleOp> code = takeFunctions(module);
  if (failed(backend.conversion.apply(*code)))
    return Status(ErrorCode::Compile, ""); // the diagnostics say why
  for (const EmittedKernel &kernel : result.kernels)
    adoptKernelAbi(*code, kernel);
  result.context = std::make_unique<llvm::LLVMContext>();
  static CountedLoops countedLoops;
  if (llvm::all_of(result.kernels, [](const EmittedKernel &kernel) {
        return kernel.family == static_cast<uint32_t>(program::KernelFamily::Map);
      }))
    result.context->setOptPassGate(countedLoops);
  result.module = translateModuleToLLVMIR(*code, *result.context);
  if (!result.module)
    return Status(ErrorCode::Compile, "");
  result.module->setDataLayout(result.machine->createDataLayout());
  result.module->setTargetTriple(result.machine->getTargetTriple());
  for (llvm::Function &function : *result.module)
    if (!function.isDeclaration()) {
      function.addFnAttr("prefer-vector-width", "512");
      function.addFnAttr(llvm::Attribute::NoUnwind);
      function.addFnAttr("tune-cpu", "skylake-avx512");
      // Registers that are spilled would straddle cache lines otherwise: LLVM finds out that there
      // are some when it is too late to keep a frame pointer.
      function.addFnAttr("stackrealign");
      function.addFnAttr(
          llvm::Attribute::getWithStackAlignment(function.getContext(), llvm::Align(64)));
      function.setDSOLocal(true);
    }
  for (auto func : code->getOps<LLVM::LLVMFuncOp>())
    if (func.isPrivate())
      result.module->getFunction(func.getName())->setLinkage(llvm::Function::InternalLinkage);
  optimize(*result.module, *result.machine);
  return result;
}

} // namespace

Result<EmittedCode> emit::emitCpu(ModuleOp module, const TargetDesc &target) {
  // A program may be made of library steps alone.
  if (module.getOps<func::FuncOp>().empty())
    return EmittedCode{};
  GRAPHC_ASSIGN(Compiled compiled, toLlvm(module, target));
  GRAPHC_ASSIGN(CodeGenerator * generator,
                Backend::of(module.getContext())
                    .generator(compiled.machine, llvm::CodeGenFileType::ObjectFile));
  llvm::SmallVector<char, 0> object = generator->run(*compiled.module);
  EmittedCode code;
  code.kernels = std::move(compiled.kernels);
  code.isa = target.features;
  std::vector<std::string> names;
  for (const EmittedKernel &kernel : code.kernels)
    names.push_back(kernel.name);
  GRAPHC_ASSIGN(Image image, buildImage(llvm::StringRef(object.data(), object.size()), names));
  code.code = std::move(image.bytes);
  for (auto [kernel, entry] : llvm::zip_equal(code.kernels, image.entries))
    kernel.entry = entry;
  return code;
}

Result<std::string> emit::printCpu(ModuleOp module, const TargetDesc &target, TextStage stage) {
  GRAPHC_ASSIGN(Compiled compiled, toLlvm(module, target));
  if (stage == TextStage::Llvm) {
    std::string text;
    llvm::raw_string_ostream(text) << *compiled.module;
    return text;
  }
  GRAPHC_ASSIGN(CodeGenerator * generator,
                Backend::of(module.getContext())
                    .generator(compiled.machine, llvm::CodeGenFileType::AssemblyFile));
  llvm::SmallVector<char, 0> assembly = generator->run(*compiled.module);
  return std::string(assembly.data(), assembly.size());
}
