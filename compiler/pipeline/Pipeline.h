//===- Pipeline.h - The order of the phases ---------------------------------------------------===//
#ifndef GRAPHC_COMPILER_PIPELINE_PIPELINE_H
#define GRAPHC_COMPILER_PIPELINE_PIPELINE_H

#include "compiler/api/Compiler.h"

#include "mlir/IR/DialectRegistry.h"
#include "mlir/Pass/PassManager.h"

#include <optional>
#include <string_view>

namespace graphc {

/// Phases in order; each is a place to stop. See Pipeline.cpp for what is legal after each.
enum class Phase { Graph, Kernel, Schedule, Plan, Lower };
std::optional<Phase> phaseFromName(std::string_view name);
std::string_view phaseName(Phase phase);

/// What passes need to know of a target.
struct PipelineOptions {
  int64_t vectorBytes = 64; ///< 0: device work-items, one lane
  bool groups = false;      ///< work-items of a group share items (GPU-class devices)
  bool tiles = false;       ///< OpenCL C with inline PTX of sm_90
  bool tensors = false;     ///< the device has tensor cores, for products that may be fast
  bool bulk = false;        ///< large ones of them by the copy engine of sm_90a
  bool tickets = false;     ///< groups see what groups stored that took an earlier ticket
  bool largeGroups = false; ///< a group may have 1024 work-items; else 256
  bool ordered = false;     ///< groups begin in the order of their numbers, and all get on
  int64_t atomicBits = 0;   ///< of integers that memory combines in one step (Atomic.h)
  bool tileRows = true;     ///< the executor runs launches row by row
  bool hasFloat64 = true;
  bool int64Conversions = true; ///< vectors of i64 convert to f64 and back in one operation
  bool scaleOperation = false;  ///< vectors of floats times powers of two are one operation
  bool halfConversions = false; ///< the target converts between f16 and f32
  bool narrowMasks = true;      ///< lanes of 8 and 16 bits are masked in one operation
  unsigned permutes = 0;        ///< floats of which lanes choose in one operation
  bool products52 = false;      ///< halves of 52-bit products are added in one operation
  bool nvidia = false;          ///< operations of NVIDIA's processors may be used for scalars
  bool readsAhead = false;      ///< the machine follows several operands by itself
  int64_t bytesAhead = 0;       ///< of one operand asked for where more is done than adding
  bool gathers = false;         ///< gathers take less time than loads of their lanes
  bool checksAlone = false;     ///< the executor asks launches to check their indices alone
  bool straightFolds = false;   ///< work-items must not branch after a group's barriers
  bool verifyPhases = false;
};
PipelineOptions pipelineOptions(const TargetDesc &target, const CompileOptions &options);

/// Appends the passes of all phases up to and including `last`, after those up to `done`.
void addPhases(mlir::PassManager &passes, const PipelineOptions &options, Phase last,
               std::optional<Phase> done = std::nullopt);

/// Dialects that any phase uses.
void registerDialects(mlir::DialectRegistry &registry);
/// --graphc-pipeline=to=PHASE for graphc-opt.
void registerPipeline();

} // namespace graphc

#endif // GRAPHC_COMPILER_PIPELINE_PIPELINE_H
