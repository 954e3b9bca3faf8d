// Lowered functions to native code: LLVM's form of them, a small LLVM pipeline (the code is already
// vectorized), object files, and a position-independent image of them that the runtime maps as it
// is.
#include "compiler/emit/Emitter.h"
#include "compiler/emit/cpu/CodeMemo.h"
#include "compiler/emit/cpu/CodeParts.h"
#include "compiler/emit/cpu/Image.h"
#include "compiler/emit/cpu/LlvmModule.h"
#include "compiler/math/Apart.h"
#include "compiler/passes/lower/LoopSpace.h"
#include "runtime/base/Trace.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringExtras.h"

#include <algorithm>
#include <deque>
#include <optional>
#include <unordered_map>

using namespace mlir;
using namespace graphc;
using namespace graphc::emit;

namespace {

/// The context's memo, whose keys have the context's addresses in them. Compiles are serialised by
/// the api, and a forked child, whose parent may have been in the middle of one, has a context of
/// its own.
CodeMemo &memoOf(MLIRContext *context) {
  // Never destroyed: exit may come while a thread compiles.
  static CodeMemo *current = nullptr;
  static MLIRContext *owner = nullptr;
  if (owner != context) {
    current = new CodeMemo;
    owner = context;
  }
  return *current;
}

/// Operations of functions that are worth an object file of their own, which programs that have one
/// of them can take from each other.
constexpr size_t kPartOps = 50;

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
    for (StringRef attribute : {StringRef(pass::kSeldomAttr), StringRef(graphc::math::kApartAttr)})
      if (Attribute value = call->getAttr(attribute))
        function->setAttr(attribute, value);
  }
}

/// The functions in modules of kPartOps operations or a little more; those whose loops count on are
/// apart from the others, and longer and seldom ones alone, as other programs may have them
/// (CodeMemo.h). How they are divided depends on nothing but the program.
SmallVector<OwningOpRef<ModuleOp>> divide(ModuleOp module) {
  SmallVector<OwningOpRef<ModuleOp>> parts;
  struct Open {
    size_t ops = kPartOps, part = 0;
  } open[2];
  for (auto func : llvm::make_early_inc_range(module.getOps<func::FuncOp>())) {
    size_t ops = 0;
    func.walk([&](Operation *) { ++ops; });
    bool isAlone = ops >= kPartOps || func->hasAttr(graphc::math::kApartAttr);
    Open alone, &own = isAlone ? alone : open[func->hasAttr("graphc.counted")];
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

/// A module of functions in LLVM's form. Failures are diagnostics.
LogicalResult toLlvm(ModuleOp module, const Kernels &kernels, CodePart &part) {
  TraceSpan span("compile", "translate to LLVM");
  part.counted = llvm::any_of(module.getOps<func::FuncOp>(),
                              [](func::FuncOp func) { return func->hasAttr("graphc.counted"); });
  part.context = std::make_unique<llvm::LLVMContext>();
  part.module = makeLlvmModule(module, kernels, *part.context);
  return success(part.module != nullptr);
}

} // namespace

void emit::beginCpu(const TargetDesc &target, unsigned threads) {
  if (target.kind == program::Target::Cpu && threads > 1)
    Coders::ofProcess().begin(target.features);
}

void emit::finishBeginningCpu() { Coders::ofProcess().join(); }

namespace {

/// Of a program: its functions, whose machine code is made, was made before, or is made for another
/// program.
struct OwnPart {
  Digest key;
  CodePart code;
  const CodePart *other = nullptr;
};

struct ProgramParts {
  EmittedCode code;
  std::vector<std::string> names; ///< of its kernels
  std::vector<OwnPart> parts;
};

} // namespace

struct CpuPrograms::State {
  State(const TargetDesc &target, unsigned threads)
      : features(target.features), threads(std::max(1u, threads)) {}
  Status begin(ModuleOp functions, const Kernels &kernels, OwnPart &part);

  std::string features;
  size_t threads;
  CodeMemo *memo = nullptr;
  std::deque<ProgramParts> programs; // which stay where they are
  std::unordered_map<Digest, const CodePart *> begun;
  std::optional<PartQueue> queue; // goes first, as it works on parts
};

CpuPrograms::CpuPrograms(const TargetDesc &target, unsigned threads)
    : state(std::make_unique<State>(target, threads)) {}
CpuPrograms::~CpuPrograms() = default;

Status CpuPrograms::State::begin(ModuleOp functions, const Kernels &kernels, OwnPart &part) {
  part.key = CodeMemo::key(functions, features);
  if (auto it = begun.find(part.key); it != begun.end()) {
    part.other = it->second;
    return Status::ok();
  }
  if (const CodeMemo::Object *known = memo->find(part.key)) {
    part.code.object = *known;
    return Status::ok();
  }
  if (failed(toLlvm(functions, kernels, part.code)))
    return Status(ErrorCode::Compile, ""); // the diagnostics say why
  // Not before there is a part: until then a thread makes the first coder.
  if (!queue)
    queue.emplace(Coders::ofProcess().get(threads), features);
  begun.emplace(part.key, &part.code);
  queue->add(part.code);
  return Status::ok();
}

Result<size_t> CpuPrograms::begin(ModuleOp module) {
  const size_t number = state->programs.size();
  ProgramParts &program = state->programs.emplace_back();
  // A program may be made of library steps alone.
  if (module.getOps<func::FuncOp>().empty())
    return number;
  state->memo = &memoOf(module.getContext());
  program.code.isa = state->features;
  program.code.kernels = describeKernels(module);
  llvm::StringMap<std::string> symbols = nameByContent(module);
  Kernels kernels;
  for (const EmittedKernel &kernel : program.code.kernels) {
    program.names.push_back(symbols.at(kernel.name));
    kernels[program.names.back()] = &kernel;
  }
  SmallVector<OwningOpRef<ModuleOp>> modules = divide(module);
  program.parts = std::vector<OwnPart>(modules.size());
  for (auto [part, functions] : llvm::zip_equal(program.parts, modules))
    GRAPHC_TRY(state->begin(*functions, kernels, part));
  return number;
}

void CpuPrograms::finish() {
  if (state->queue)
    state->queue->finish();
  for (const auto &[key, part] : state->begun)
    if (part->status)
      state->memo->add(key, part->object);
}

Result<EmittedCode> CpuPrograms::code(size_t number) {
  ProgramParts &program = state->programs[number];
  if (program.parts.empty())
    return std::move(program.code);
  std::vector<llvm::StringRef> objects;
  for (const OwnPart &part : program.parts) {
    const CodePart &made = part.other ? *part.other : part.code;
    if (!made.status)
      return Status(made.status.code(), made.status.message());
    objects.emplace_back(made.object.data(), made.object.size());
  }
  GRAPHC_ASSIGN(Image image, buildImage(objects, program.names));
  program.code.code = std::move(image.bytes);
  for (auto [kernel, entry] : llvm::zip_equal(program.code.kernels, image.entries))
    kernel.entry = entry;
  return std::move(program.code);
}

Result<std::string> emit::printCpu(ModuleOp module, const TargetDesc &target, TextStage stage) {
  Coder &coder = *Coders::ofProcess().get(1).front();
  GRAPHC_ASSIGN(llvm::TargetMachine * machine, coder.machine(target.features));
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
    if (stage == TextStage::Llvm) {
      stream << *part.module;
      continue;
    }
    GRAPHC_ASSIGN(
        CodeGenerator * generator,
        coder.generator(target.features, llvm::CodeGenFileType::AssemblyFile, part.counted));
    stream << llvm::toStringRef(generator->run(*part.module));
  }
  return text;
}
