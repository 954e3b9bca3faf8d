#include "compiler/pipeline/Pipeline.h"

#include "compiler/passes/Passes.h"
#include "dialects/graph/Graph.h"
#include "dialects/kernel/Kernel.h"
#include "dialects/plan/Plan.h"

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/GPU/IR/GPUDialect.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/UB/IR/UBOps.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace graphc;

namespace {

/// A reduction that computes what it reads takes 10 ms to compile, one that reads memory is
/// compiled once, and memory that it reads again costs a quarter of a program's time at most.
constexpr int64_t kMostReductions = 12;

using AddPasses = void (*)(OpPassManager &, const PipelineOptions &);

// graph: func + graph + index arithmetic
void addGraph(OpPassManager &passes, const PipelineOptions &options) {
  // Before decomposition, which makes updates of joins.
  passes.addNestedPass<func::FuncOp>(pass::createGatherRolls());
  pass::DecomposeOptions decompose;
  decompose.complexProducts = options.vectorBytes > 0;
  decompose.argsorts = options.groups;
  passes.addNestedPass<func::FuncOp>(pass::createDecompose(decompose));
  if (options.groups)
    passes.addNestedPass<func::FuncOp>(pass::createSortPlaces({options.atomicBits}));
  // After decomposition, which repeats extents and literals; before fusion, which would compute
  // both copies.
  passes.addNestedPass<func::FuncOp>(createCSEPass());
  passes.addNestedPass<func::FuncOp>(pass::createBubbleViews());
}

// kernel: kernel.func (graph ops on scalars + arith.constant), func of kernel.call + graph.reshape
// + index arithmetic
void addKernel(OpPassManager &passes, const PipelineOptions &options) {
  pass::FormKernelsOptions kernels;
  // Up to 1024 lanes meet in local memory, of which devices have 32 KiB at least; those with the
  // copy engine's tiles have more than 192.
  if (options.groups)
    kernels.mostPartial = options.bulk ? 192 : 32;
  else
    kernels.mostReductions = kMostReductions;
  passes.addPass(pass::createFormKernels(kernels));
  // Within kernels: equal loads and literals of different members of a group.
  passes.addPass(createCSEPass());
  // Fusion counts a complex operation as one; what follows knows real scalars only.
  passes.addPass(pass::createSplitComplex());
  // Equal parts of a complex number: a schedule, and the plan's block results, count each fold.
  passes.addNestedPass<kernel::FuncOp>(createCSEPass());
  // Last: it takes the parts of complex literals for numbers.
  passes.addPass(pass::createDeduplicateKernels());
}

// schedule: the same, every kernel with a schedule
void addSchedule(OpPassManager &passes, const PipelineOptions &options) {
  pass::AssignSchedulesOptions schedule;
  schedule.vectorBytes = options.vectorBytes;
  schedule.groups = options.groups;
  schedule.tiles = options.tiles;
  schedule.tensors = options.tensors;
  schedule.bulk = options.bulk;
  schedule.tickets = options.tickets;
  schedule.largeGroups = options.largeGroups;
  schedule.ordered = options.ordered;
  schedule.atomicBits = options.atomicBits;
  passes.addPass(pass::createAssignSchedules(schedule));
}

// plan: kernel.func + plan.program
void addPlan(OpPassManager &passes, const PipelineOptions &options) {
  pass::BuildPlanOptions plan;
  plan.groups = options.groups;
  passes.addPass(pass::createBuildPlan(plan));
  // Folds size arithmetic that the plan repeats per launch. Not in kernels: the plan has counted
  // what each of them takes.
  passes.addNestedPass<plan::ProgramOp>(createCSEPass());
  // After it: rows are the same when they are one value.
  if (options.tileRows)
    passes.addPass(pass::createTileRows());
}

// lower: func + scf + vector + memref + arith + math, plan.program
void addLower(OpPassManager &passes, const PipelineOptions &options) {
  pass::LowerKernelsOptions lower;
  lower.straightFolds = options.straightFolds;
  lower.readsAhead = options.readsAhead;
  lower.bytesAhead = options.bytesAhead;
  lower.gathers = options.gathers;
  lower.checksAlone = options.checksAlone;
  passes.addPass(pass::createLowerKernels(lower));
  // Index arithmetic of neighbouring accesses is equal; fewer ops reach the expansions.
  passes.addNestedPass<func::FuncOp>(createCSEPass());
  if (options.vectorBytes)
    passes.addPass(pass::createOutlineElementary({options.vectorBytes}));
  if (!options.narrowMasks)
    passes.addPass(pass::createOutlineMasks());
  pass::ExpandScalarOpsOptions expand;
  expand.hasFloat64 = options.hasFloat64;
  expand.int64Conversions = options.int64Conversions;
  expand.scaleOperation = options.scaleOperation;
  expand.halfConversions = options.halfConversions;
  expand.products52 = options.products52;
  expand.permutes = options.permutes;
  expand.tables = options.vectorBytes == 0;
  expand.nvidia = options.nvidia;
  passes.addNestedPass<func::FuncOp>(pass::createExpandScalarOps(expand));
  // After the expansions, which are shorter on vectors.
  if (options.groups)
    passes.addNestedPass<func::FuncOp>(pass::createUnrollVectors());
  // No canonicalizer: LLVM folds the same things faster than patterns do.
  passes.addNestedPass<func::FuncOp>(createCSEPass());
  passes.addNestedPass<func::FuncOp>(createLoopInvariantCodeMotionPass());
}

struct PhaseEntry {
  Phase phase;
  std::string_view name;
  AddPasses add;
};

/// The only place that knows the order.
constexpr PhaseEntry kPhases[] = {
    {Phase::Graph, "graph", addGraph},          {Phase::Kernel, "kernel", addKernel},
    {Phase::Schedule, "schedule", addSchedule}, {Phase::Plan, "plan", addPlan},
    {Phase::Lower, "lower", addLower},
};

struct TextOptions : PassPipelineOptions<TextOptions> {
  Option<std::string> to{*this, "to", llvm::cl::desc("last phase"), llvm::cl::init("lower")};
  Option<int64_t> vectorBytes{*this, "vector-bytes", llvm::cl::desc("0: device"),
                              llvm::cl::init(64)};
  Option<bool> groups{*this, "groups", llvm::cl::desc("the target is a GPU-class device"),
                      llvm::cl::init(false)};
  Option<bool> float64{*this, "float64", llvm::cl::desc("the target has f64"),
                       llvm::cl::init(true)};
};

} // namespace

std::optional<Phase> graphc::phaseFromName(std::string_view name) {
  for (const PhaseEntry &entry : kPhases)
    if (entry.name == name)
      return entry.phase;
  return std::nullopt;
}

std::string_view graphc::phaseName(Phase phase) { return kPhases[static_cast<int>(phase)].name; }

/// The processor (90 for sm_90) of a target whose only form of code is PTX, else 0.
static unsigned ptxProcessor(std::string_view features) {
  unsigned found = 0;
  for (llvm::StringRef feature : llvm::split(features, ',')) {
    unsigned number = 0;
    if (feature == "c" || feature.starts_with("spirv"))
      return 0;
    if (feature.consume_front("sm_") && !feature.consumeInteger(10, number))
      found = number;
  }
  return found;
}

PipelineOptions graphc::pipelineOptions(const TargetDesc &target, const CompileOptions &options) {
  PipelineOptions result;
  result.verifyPhases = options.verifyPhases;
  auto has = [&](std::string_view feature) {
    return llvm::is_contained(llvm::split(target.features, ','), llvm::StringRef(feature));
  };
  if (target.kind == program::Target::Cpu) {
    result.int64Conversions = has("avx512dq");
    result.scaleOperation = has("avx512f") && has("avx512vl") && has("avx512dq");
    result.halfConversions = has("f16c");
    result.narrowMasks = has("avx512bw") && has("avx512vl");
    result.permutes = has("avx512f") ? 16 : has("avx2") ? 8 : 0;
    result.products52 = result.scaleOperation && has("avx512ifma");
    result.vectorBytes =
        has("avx512f") && has("avx512vl") && has("avx512bw") && has("avx512dq") ? 64 : 32;
    result.readsAhead = has("sse4a"); // AMD's
    // From Zen 5 on, whose first cache has 48 KiB.
    result.bytesAhead = result.readsAhead && has("avx512vp2intersect") ? 8192 : 0;
    // Of Intel's before, a remedy for what they let other programs see made them slow.
    result.gathers = has("avx512fp16") && !has("sse4a");
    result.checksAlone = true;
    result.ordered = true; // pieces of a launch, which the driver cuts
  } else {
    result.vectorBytes = 0;
    result.tileRows = false;
    result.hasFloat64 = has("fp64");
    result.groups = has("gpu");
    unsigned ptx = ptxProcessor(target.features);
    result.tiles = (has("ptx90") && has("c")) || (result.groups && ptx >= 90);
    // A fence is PTX as well.
    result.tickets = result.groups && (result.tiles || ptx >= 70 || has("tickets"));
    result.largeGroups = result.groups && (result.tiles || ptx > 0 || has("groups1024"));
    result.ordered = result.groups && has("ordered");
    result.tensors = result.groups && (result.tiles || has("wgmma"));
    const bool isPtxAlone = !has("c") && !has("spirv1.0") && !has("spirv1.2");
    result.atomicBits = !result.groups ? 0 : ptx >= 60 && isPtxAlone ? 64 : 32;
    // Which only PTX has words for.
    result.bulk = result.groups && has("wgmma") && has("tensormaps") && isPtxAlone;
    // One module is printed in all forms.
    result.nvidia =
        (result.tiles && !has("spirv1.0") && !has("spirv1.2")) || (result.groups && ptx >= 80);
    result.straightFolds = has("straight");
  }
  return result;
}

void graphc::addPhases(PassManager &passes, const PipelineOptions &options, Phase last,
                       std::optional<Phase> done) {
  for (const PhaseEntry &entry : kPhases) {
    if (entry.phase > last || (done && entry.phase <= *done))
      continue;
    entry.add(passes, options);
    if (options.verifyPhases) {
      pass::VerifyPhaseOptions verify;
      verify.phase = std::string(entry.name);
      passes.addPass(pass::createVerifyPhase(verify));
    }
  }
}

void graphc::registerDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, cf::ControlFlowDialect, func::FuncDialect, gpu::GPUDialect,
                  graph::GraphDialect, kernel::KernelDialect, LLVM::LLVMDialect, math::MathDialect,
                  memref::MemRefDialect, plan::PlanDialect, scf::SCFDialect, ub::UBDialect,
                  vector::VectorDialect>();
}

void graphc::registerPipeline() {
  PassPipelineRegistration<TextOptions>(
      "graphc-pipeline", "The compiler's phases up to `to`, verified at every border",
      [](OpPassManager &passes, const TextOptions &text) {
        PipelineOptions options;
        options.vectorBytes = text.vectorBytes;
        options.hasFloat64 = text.float64;
        options.groups = text.groups;
        options.tileRows = !text.groups;
        options.verifyPhases = true;
        Phase last = phaseFromName(text.to).value_or(Phase::Lower);
        for (const PhaseEntry &entry : kPhases) {
          if (entry.phase > last)
            break;
          entry.add(passes, options);
          pass::VerifyPhaseOptions verify;
          verify.phase = std::string(entry.name);
          passes.addPass(pass::createVerifyPhase(verify));
        }
      });
}
