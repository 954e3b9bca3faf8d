#include "compiler/api/Compiler.h"

#include "compiler/emit/Emitter.h"
#include "compiler/import/Importer.h"
#include "compiler/import/OneFunction.h"
#include "compiler/pipeline/Pipeline.h"
#include "dialects/graph/Graph.h"
#include "dialects/kernel/Kernel.h"
#include "runtime/base/Trace.h"

#include "BuildId.inc"

#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/Support/Process.h"
#include "llvm/Support/SourceMgr.h"

#include <atomic>
#include <mutex>

using namespace mlir;
using namespace graphc;

namespace {

/// Text nested deeper than this would exhaust the parser's stack.
constexpr int kMaxNesting = 512;

/// The process's one context: creating it costs as much as a kernel. Guarded by `mutex`; never
/// destroyed, because exit may run while a thread compiles. A forked child starts its own: the
/// parent's may be locked by a thread that is not there.
struct Session {
  explicit Session(int owner) : owner(owner) {}
  /// `first` is done before the context is made, which takes a while. Needs `mutex`.
  MLIRContext &contextAfter(llvm::function_ref<void()> first);

  const int owner;
  std::mutex mutex;

private:
  std::unique_ptr<MLIRContext> context;
};

MLIRContext &Session::contextAfter(llvm::function_ref<void()> first) {
  if (!context) {
    first();
    DialectRegistry registry;
    registerDialects(registry);
    context = std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
    context->loadAllAvailableDialects();
  }
  return *context;
}

Session &session() {
  static std::atomic<Session *> current{nullptr};
  int self = llvm::sys::Process::getProcessId();
  Session *seen = current.load(std::memory_order_acquire);
  while (!seen || seen->owner != self) {
    auto fresh = std::make_unique<Session>(self);
    if (current.compare_exchange_strong(seen, fresh.get(), std::memory_order_acq_rel,
                                        std::memory_order_acquire))
      seen = fresh.release();
  }
  return *seen;
}

/// Collects diagnostics as "file:line:col: error: text" lines.
class Diagnostics {
public:
  explicit Diagnostics(MLIRContext &context)
      : handler(&context, [this](Diagnostic &diagnostic) {
          llvm::raw_string_ostream stream(text);
          if (!text.empty())
            stream << "\n";
          if (auto file = diagnostic.getLocation()->findInstanceOf<FileLineColLoc>())
            stream << file.getFilename().getValue() << ":" << file.getLine() << ":"
                   << file.getColumn() << ": ";
          stream << (diagnostic.getSeverity() == DiagnosticSeverity::Error ? "error: " : "note: ")
                 << diagnostic;
        }) {}
  Status error(ErrorCode code, StringRef fallback) {
    return Status(code, text.empty() ? fallback.str() : text);
  }

private:
  std::string text;
  ScopedDiagnosticHandler handler;
};

Status runPhases(ModuleOp module, const PipelineOptions &options, Phase last,
                 std::optional<Phase> done = std::nullopt) {
  TraceSpan span("compile", last == Phase::Lower ? "lower" : "form kernels");
  PassManager passes(module.getContext());
  passes.enableVerifier(options.verifyPhases);
  addPhases(passes, options, last, done);
  if (failed(passes.run(module)))
    return Status(ErrorCode::Compile, "");
  return Status::ok();
}

/// What a kernel computes, in the order of its body.
std::string operationsOf(kernel::FuncOp func) {
  constexpr size_t kMostNamed = 40;
  SmallVector<StringRef> names;
  func.getBody().walk([&](Operation *op) {
    if (isa<graph::GraphDialect>(op->getDialect()) ||
        isa<kernel::ReduceOp, kernel::DotOp, kernel::ScanOp, kernel::GatherOp, kernel::ScatterOp>(
            op))
      names.push_back(op->getName().stripDialect());
  });
  std::string text = llvm::join(ArrayRef(names).take_front(kMostNamed), " ");
  if (names.size() > kMostNamed)
    text += " and " + std::to_string(names.size() - kMostNamed) + " more";
  return text;
}

/// How the work was cut into kernels, for people: from the module after phase kernel.
std::string explainText(ModuleOp module) {
  std::string text, call;
  llvm::raw_string_ostream stream(text);
  for (auto func : module.getOps<kernel::FuncOp>())
    stream << "kernel " << func.getSymName() << ": " << operationsOf(func) << "\n";
  unsigned times = 0;
  auto endCalls = [&] {
    if (times)
      stream << call << (times > 1 ? ", " + std::to_string(times) + " times" : "") << "\n";
    times = 0;
  };
  module.walk([&](kernel::CallOp op) {
    std::string next = ("call " + op.getCallee() + " for " + op.getLines()).str();
    if (next != call)
      endCalls();
    call = std::move(next);
    ++times;
  });
  endCalls();
  module.walk([&](graph::LibraryOp op) {
    stream << "library " << op.getRoutine() << " for "
           << op->getAttrOfType<StringAttr>("graph.lines").getValue()
           << ": on the host; a device other than the cpu reads its operands back\n";
  });
  if (auto cuts = module->getAttrOfType<ArrayAttr>("graphc.cuts"))
    for (Attribute cut : cuts)
      stream << "cut: " << cast<StringAttr>(cut).getValue() << "\n";
  return text;
}

Status badText(std::string_view text, std::string_view fileName) {
  if (text.size() >= 4 && text.substr(0, 4) == "ML\xEFR")
    return Status(ErrorCode::Compile,
                  std::string(fileName) + ":1:1: error: MLIR bytecode is not accepted, only text");
  int depth = 0;
  for (char c : text) {
    depth += c == '{' || c == '[' || c == '(' || c == '<';
    depth -= c == '}' || c == ']' || c == ')' || c == '>';
    if (depth > kMaxNesting)
      return Status(ErrorCode::Compile, std::string(fileName) + ":1:1: error: nested too deeply");
  }
  return Status::ok();
}

void allowFastProducts(ModuleOp module) {
  module.walk([](graph::MatmulOp product) {
    Type element = cast<RankedTensorType>(product.getX().getType()).getElementType();
    if (element.isF16() || element.isBF16())
      product.setFast(true);
  });
}

Result<OwningOpRef<ModuleOp>> parseText(MLIRContext &context, std::string_view text,
                                        std::string_view fileName, const TargetDesc &target) {
  GRAPHC_TRY(badText(text, fileName));
  llvm::SourceMgr sources;
  auto buffer = llvm::MemoryBuffer::getMemBufferCopy(StringRef(text.data(), text.size()),
                                                     StringRef(fileName.data(), fileName.size()));
  sources.AddNewSourceBuffer(std::move(buffer), llvm::SMLoc());
  OwningOpRef<ModuleOp> module = parseSourceFile<ModuleOp>(sources, ParserConfig(&context));
  if (!module)
    return Status(ErrorCode::Compile, "");
  if (target.fastProducts)
    allowFastProducts(*module);
  return module;
}

/// A program whose code is on its way.
struct Lowered {
  OwningOpRef<ModuleOp> module;
  std::string explain;
  size_t number = 0;      ///< of CpuPrograms
  emit::EmittedCode code; ///< of other targets
};

Result<Lowered> lower(OwningOpRef<ModuleOp> module, const TargetDesc &target,
                      const CompileOptions &options, emit::CpuPrograms *cpu) {
  if (failed(requireOneFunction(*module)))
    return Status(ErrorCode::Compile, "");
  PipelineOptions pipeline = pipelineOptions(target, options);
  GRAPHC_TRY(runPhases(*module, pipeline, Phase::Kernel));
  Lowered lowered{std::move(module), {}, 0, {}};
  lowered.explain = explainText(*lowered.module);
  GRAPHC_TRY(runPhases(*lowered.module, pipeline, Phase::Lower, Phase::Kernel));
  TraceSpan span("compile", "emit");
  if (cpu) {
    GRAPHC_ASSIGN(lowered.number, cpu->begin(*lowered.module));
  } else {
    GRAPHC_ASSIGN(lowered.code, emit::emitOpenCL(*lowered.module, target, options.threads));
  }
  return lowered;
}

Result<std::vector<uint8_t>> finished(Lowered &lowered, const TargetDesc &target,
                                      emit::CpuPrograms *cpu) {
  if (cpu) {
    GRAPHC_ASSIGN(lowered.code, cpu->code(lowered.number));
  }
  return emit::writeProgram(*lowered.module, lowered.code, target.kind,
                            lowered.explain + lowered.code.report, graphcCompilerApi()->buildId);
}

/// The form of code that a stage prints, as a feature of an opencl target; "" for other stages.
std::string_view formOfStage(std::string_view stage) {
  return stage == "opencl" ? "c" : stage == "spirv" ? "spirv1.2" : stage == "ptx" ? "sm_90" : "";
}

/// The text of a stage belongs to a kind of target: device code of a program for the CPU is what a
/// device with everything would get, and native stages of a device program do not exist.
Result<TargetDesc> targetOfStage(const TargetDesc &target, std::string_view stage) {
  bool native = stage == "llvm" || stage == "asm";
  if (native && target.kind != program::Target::Cpu)
    return Status(ErrorCode::InvalidArgument,
                  "stage '" + std::string(stage) + "' exists for target cpu only");
  std::string_view form = formOfStage(stage);
  if (form.empty())
    return target;
  if (target.kind == program::Target::Cpu)
    return TargetDesc{program::Target::OpenCL, "fp64,cpu," + std::string(form)};
  // Of the forms that the target names, the one that is asked for.
  std::string features;
  std::string chosen(form);
  for (StringRef feature : llvm::split(target.features, ',')) {
    if (feature == "c" || feature.empty())
      continue;
    if (feature.starts_with("spirv") || feature.starts_with("sm_"))
      chosen = feature.starts_with(form.substr(0, 2)) ? feature.str() : chosen;
    else
      features += feature.str() + ",";
  }
  return TargetDesc{target.kind, features + chosen};
}

/// The code of a device program as text.
Result<std::string> printDevice(ModuleOp module, const TargetDesc &target, std::string_view stage) {
  GRAPHC_ASSIGN(emit::EmittedCode code, emit::emitOpenCL(module, target, /*threads=*/1));
  if (stage == "spirv")
    return emit::disassembleSpirv(code.il);
  const std::vector<uint8_t> &text = stage == "ptx" ? code.binary : code.code;
  return std::string(text.begin(), text.end());
}

Result<std::string> printModule(ModuleOp module, const TargetDesc &asked, std::string_view stage) {
  GRAPHC_ASSIGN(TargetDesc target, targetOfStage(asked, stage));
  PipelineOptions pipeline = pipelineOptions(target, {});
  std::string text;
  llvm::raw_string_ostream stream(text);
  std::optional<Phase> phase = phaseFromName(stage);
  bool explain = stage == "explain";
  if (stage == "graph") { // as recorded, before decomposition
    module->print(stream);
    return text;
  }
  if (!phase && !explain && stage != "llvm" && stage != "asm" && formOfStage(stage).empty())
    return Status(ErrorCode::InvalidArgument, "unknown stage '" + std::string(stage) +
                                                  "'; stages are graph, kernel, schedule, plan, "
                                                  "lower, llvm, asm, opencl, spirv, ptx, explain");
  GRAPHC_TRY(runPhases(module, pipeline, explain ? Phase::Kernel : phase.value_or(Phase::Lower)));
  if (explain)
    return explainText(module);
  if (stage == "llvm" || stage == "asm")
    return emit::printCpu(module, target,
                          stage == "llvm" ? emit::TextStage::Llvm : emit::TextStage::Assembly);
  if (!formOfStage(stage).empty())
    return printDevice(module, target, stage);
  module->print(stream);
  return text;
}

/// What `work` gives, with diagnostics as the error text.
template <typename T>
Result<T> diagnosed(MLIRContext &context, llvm::function_ref<Result<T>()> work) {
  Diagnostics diagnostics(context);
  Result<T> result = work();
  if (!result && result.status().message().empty())
    return diagnostics.error(result.status().code(), "compilation failed");
  return result;
}

using Module = OwningOpRef<ModuleOp>;

/// What `work` makes of a module. Needs the session's lock.
template <typename T, typename Make, typename Work>
Result<T> withModule(MLIRContext &context, Make make, Work work) {
  return diagnosed<T>(context, [&]() -> Result<T> {
    Result<Module> module = [&] {
      TraceSpan span("compile", "import");
      return make(context);
    }();
    if (!module)
      return module.takeStatus();
    if (failed(verify(**module)) || failed(writeOutCalls(**module)))
      return Status(ErrorCode::Compile, "");
    return work(module.take());
  });
}

/// Runs `work` with the process's context under the session's lock. `first`: as
/// Session::contextAfter() takes it.
template <typename Work>
auto inSession(llvm::function_ref<void()> first, Work work) {
  Session &s = session();
  std::lock_guard<std::mutex> lock(s.mutex);
  // A child that is forked after this must not inherit what a thread is in the middle of.
  llvm::scope_exit end(emit::finishBeginningCpu);
  return work(s.contextAfter(first));
}

/// Programs of `count` modules. All are lowered in turn; what machine code they have is made
/// meanwhile, and by all threads in the end.
template <typename Make>
Programs compileEach(size_t count, const TargetDesc &target, const CompileOptions &options,
                     Make make) {
  auto first = [&] { emit::beginCpu(target, options.threads); };
  return inSession(first, [&](MLIRContext &context) {
    std::optional<emit::CpuPrograms> cpuPrograms;
    if (target.kind == program::Target::Cpu)
      cpuPrograms.emplace(target, options.threads);
    emit::CpuPrograms *cpu = cpuPrograms ? &*cpuPrograms : nullptr;
    std::vector<Result<Lowered>> lowered;
    for (size_t i = 0; i < count; ++i)
      lowered.push_back(withModule<Lowered>(
          context, [&](MLIRContext &c) { return make(i, c); },
          [&](Module m) { return lower(std::move(m), target, options, cpu); }));
    TraceSpan span("compile", "finish");
    if (cpu)
      cpu->finish();
    Programs programs;
    for (Result<Lowered> &one : lowered)
      programs.push_back(one ? diagnosed<std::vector<uint8_t>>(
                                   context, [&] { return finished(*one, target, cpu); })
                             : one.takeStatus());
    return programs;
  });
}

Programs compile(std::span<const op::GraphDesc> graphs, const TargetDesc &target,
                 const CompileOptions &options) {
  return compileEach(graphs.size(), target, options,
                     [&](size_t i, MLIRContext &c) { return importGraph(c, graphs[i]); });
}

Result<std::vector<uint8_t>> compileText(std::string_view text, std::string_view file,
                                         const TargetDesc &target, const CompileOptions &options) {
  Programs programs = compileEach(
      1, target, options, [&](size_t, MLIRContext &c) { return parseText(c, text, file, target); });
  return std::move(programs.front());
}

template <typename Make>
Result<std::string> printed(const TargetDesc &target, std::string_view stage, Make make) {
  return inSession([] {},
                   [&](MLIRContext &context) {
                     return withModule<std::string>(
                         context, make, [&](Module m) { return printModule(*m, target, stage); });
                   });
}

Result<std::string> printStage(const op::GraphDesc &graph, const TargetDesc &target,
                               std::string_view stage) {
  return printed(target, stage, [&](MLIRContext &c) { return importGraph(c, graph); });
}

Result<std::string> printStageText(std::string_view text, std::string_view file,
                                   const TargetDesc &target, std::string_view stage) {
  return printed(target, stage, [&](MLIRContext &c) { return parseText(c, text, file, target); });
}

} // namespace

extern "C" __attribute__((visibility("default"))) const CompilerApi *graphcCompilerApi() {
  static const CompilerApi api{kApiVersion, GRAPHC_BUILD_ID, compile,           compileText,
                               printStage,  printStageText,  TraceSpan::writeTo};
  return &api;
}
