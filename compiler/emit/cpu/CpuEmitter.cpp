// Lowered functions to native code: one conversion to the LLVM dialect, a small LLVM pipeline (the
// code is already vectorized), object files, and a position-independent image of them that the
// runtime maps as it is.
#include "compiler/emit/Emitter.h"
#include "compiler/emit/cpu/CodeMemo.h"
#include "compiler/emit/cpu/CodeParts.h"
#include "compiler/emit/cpu/Image.h"
#include "compiler/passes/lower/LoopSpace.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/IR/OptBisect.h"
#include "llvm/Support/TargetSelect.h"

#include <algorithm>

using namespace mlir;
using namespace graphc;
using namespace graphc::emit;

namespace {

/// Gives a kernel the ABI of Program.h, `void name(void *const *buffers, const int64_t *sizes,
/// int64_t begin, int64_t end, void *scratch)`: the memref descriptors it was converted to are
/// loaded in its entry block. A wrapper would be one more function to generate code for and a call
/// with its arguments on the stack.
void adoptKernelAbi(LLVM::LLVMFuncOp function, const EmittedKernel &kernel) {
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

/// What is made once and used by every compile. It lives as long as the context: compiles are
/// serialised by the api, and a forked child, whose parent may have been in the middle of one, has
/// a context of its own.
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
  CodeMemo memo;

  /// Of the caller's thread, then of `threads` - 1 others.
  SmallVector<Coder *> coders(size_t threads) {
    while (made.size() < threads)
      made.push_back(std::make_unique<Coder>());
    SmallVector<Coder *> result;
    for (size_t i = 0; i < threads; ++i)
      result.push_back(made[i].get());
    return result;
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
  std::vector<std::unique_ptr<Coder>> made;
};

/// Some loops read and write at one counter plus what does not change, which the processor's
/// addresses are (LowerKernels says which): rewriting it, and what prepares that, would give the
/// same loops and take a fifth of their compile time.
struct CountedLoops : llvm::OptPassGate {
  bool isEnabled() const override { return true; }
  bool shouldRunPass(llvm::StringRef pass, llvm::StringRef) const override {
    return pass != "Loop Strength Reduction" && pass != "Canonicalize Freeze Instructions in Loops";
  }
};

/// Operations of functions that are worth an object file of their own, which takes 10 ms or so.
constexpr size_t kPartOps = 200;

std::vector<EmittedKernel> describeKernels(ModuleOp module) {
  std::vector<EmittedKernel> kernels;
  for (auto func : module.getOps<func::FuncOp>()) {
    if (func.isPrivate())
      continue;
    EmittedKernel kernel = describeKernel(func);
    // Chunks of whole cache lines, so that no two threads write one.
    bool elements = !func->hasAttr("graphc.tiles") &&
                    (kernel.family == static_cast<uint32_t>(program::KernelFamily::Map) ||
                     kernel.family == static_cast<uint32_t>(program::KernelFamily::Columns));
    kernel.grain = elements ? 64 : 1;
    kernels.push_back(std::move(kernel));
  }
  return kernels;
}

/// What functions call of other modules.
void declareCallees(ModuleOp module) {
  llvm::MapVector<StringRef, func::CallOp> called;
  module.walk([&](func::CallOp call) {
    if (!module.lookupSymbol(call.getCallee()))
      called[call.getCallee()] = call;
  });
  OpBuilder b = OpBuilder::atBlockEnd(module.getBody());
  for (auto [name, call] : called) {
    auto function = func::FuncOp::create(b, module.getLoc(), name, call.getCalleeType());
    function.setPrivate();
    if (Attribute seldom = call->getAttr(pass::kSeldomAttr))
      function->setAttr(pass::kSeldomAttr, seldom);
  }
}

/// The functions in modules of kPartOps operations or a little more; those whose loops count on are
/// apart from the others, and longer ones alone, as other programs may have them (CodeMemo.h). How
/// they are divided depends on nothing but the program.
SmallVector<OwningOpRef<ModuleOp>> divide(ModuleOp module) {
  SmallVector<OwningOpRef<ModuleOp>> parts;
  struct Open {
    size_t ops = kPartOps, part = 0;
  } open[2];
  for (auto func : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
    size_t ops = 0;
    func.walk([&](Operation *) { ++ops; });
    Open alone, &own = ops >= kPartOps ? alone : open[func->hasAttr("graphc.counted")];
    if (own.ops >= kPartOps) {
      own = {0, parts.size()};
      parts.push_back(ModuleOp::create(module.getLoc()));
    }
    func->remove();
    parts[own.part]->push_back(func);
    own.ops += ops;
  }
  for (OwningOpRef<ModuleOp> &part : parts)
    declareCallees(*part);
  return parts;
}

/// By the names of their functions.
using Kernels = llvm::StringMap<const EmittedKernel *>;

/// A module of functions in LLVM's form. Failures are diagnostics.
LogicalResult toLlvm(ModuleOp module, const Kernels &kernels, CodePart &part) {
  bool counted = llvm::any_of(module.getOps<func::FuncOp>(),
                              [](func::FuncOp func) { return func->hasAttr("graphc.counted"); });
  SmallVector<StringAttr> seldom;
  for (auto func : module.getOps<func::FuncOp>()) {
    placeVolatile(func, /*addressSpace=*/0);
    if (func->hasAttr(pass::kSeldomAttr))
      seldom.push_back(func.getSymNameAttr());
  }
  if (failed(Backend::of(module.getContext()).conversion.apply(module)))
    return failure();
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    if (auto kernel = kernels.find(function.getSymName()); kernel != kernels.end())
      adoptKernelAbi(function, *kernel->second);
  part.context = std::make_unique<llvm::LLVMContext>();
  static CountedLoops countedLoops;
  if (counted)
    part.context->setOptPassGate(countedLoops);
  part.module = translateModuleToLLVMIR(module, *part.context);
  if (!part.module)
    return failure();
  for (StringAttr name : seldom)
    part.module->getFunction(name)->addFnAttr(llvm::Attribute::Cold);
  return success();
}

} // namespace

Result<EmittedCode> emit::emitCpu(ModuleOp module, const TargetDesc &target, unsigned threads) {
  // A program may be made of library steps alone.
  if (module.getOps<func::FuncOp>().empty())
    return EmittedCode{};
  Backend &backend = Backend::of(module.getContext());
  GRAPHC_ASSIGN([[maybe_unused]] auto *machine,
                backend.coders(1).front()->machine(target.features)); // or why there is none
  EmittedCode code;
  code.isa = target.features;
  code.kernels = describeKernels(module);
  llvm::StringMap<std::string> symbols = nameByContent(module);
  Kernels kernels;
  std::vector<std::string> names;
  for (const EmittedKernel &kernel : code.kernels) {
    names.push_back(symbols.at(kernel.name));
    kernels[names.back()] = &kernel;
  }
  SmallVector<OwningOpRef<ModuleOp>> modules = divide(module);
  std::vector<CodePart> parts(modules.size());
  SmallVector<Digest> keys;
  for (OwningOpRef<ModuleOp> &functions : modules)
    keys.push_back(CodeMemo::key(*functions, target.features));
  {
    size_t most = std::clamp<size_t>(modules.size(), 1, std::max(1u, threads));
    PartQueue queue(backend.coders(most), target.features);
    for (auto [part, functions, key] : llvm::zip_equal(parts, modules, keys)) {
      if (const CodeMemo::Object *known = backend.memo.find(key)) {
        part.object = *known;
        continue;
      }
      if (failed(toLlvm(*functions, kernels, part)))
        return Status(ErrorCode::Compile, ""); // the diagnostics say why
      queue.add(part);
    }
    GRAPHC_TRY(queue.finish());
  }
  for (auto [part, key] : llvm::zip_equal(parts, keys))
    backend.memo.add(key, part.object);
  std::vector<llvm::StringRef> objects;
  for (const CodePart &part : parts)
    objects.emplace_back(part.object.data(), part.object.size());
  GRAPHC_ASSIGN(Image image, buildImage(objects, names));
  code.code = std::move(image.bytes);
  for (auto [kernel, entry] : llvm::zip_equal(code.kernels, image.entries))
    kernel.entry = entry;
  return code;
}

Result<std::string> emit::printCpu(ModuleOp module, const TargetDesc &target, TextStage stage) {
  Coder &coder = *Backend::of(module.getContext()).coders(1).front();
  GRAPHC_ASSIGN(llvm::TargetMachine * machine, coder.machine(target.features));
  GRAPHC_ASSIGN(CodeGenerator * generator,
                coder.generator(target.features, llvm::CodeGenFileType::AssemblyFile));
  std::vector<EmittedKernel> described = describeKernels(module);
  Kernels kernels;
  for (const EmittedKernel &kernel : described)
    kernels[kernel.name] = &kernel;
  std::string text;
  llvm::raw_string_ostream stream(text);
  for (OwningOpRef<ModuleOp> &functions : divide(module)) {
    CodePart part;
    if (failed(toLlvm(*functions, kernels, part)))
      return Status(ErrorCode::Compile, "");
    prepare(*part.module, *machine);
    if (stage == TextStage::Llvm)
      stream << *part.module;
    else
      stream << llvm::toStringRef(generator->run(*part.module));
  }
  return text;
}
