//===- Compiler.h - What the compiler offers --------------------------------------------------===//
//
// MLIR-free. libgraphc_compiler.so exports graphcCompilerApi(); frontends load it by dlopen on the
// first cache miss (compiler/api/Loader.h), and so do tools.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_COMPILER_API_COMPILER_H
#define GRAPHC_COMPILER_API_COMPILER_H

#include "dialects/opset/GraphDesc.h"
#include "runtime/base/Status.h"
#include "runtime/program/Program.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace graphc {

/// What code is generated for. `features` of a cpu target: comma separated LLVM feature names that
/// may be used ("avx2,fma,avx512f,..."), as runtime/drivers/cpu detects them. Of an opencl target:
/// "fp64" when the device has it, "cpu" when work-items run on CPU cores, "gpu" when groups of
/// them share local memory and neighbours read neighbouring memory, and the forms of code
/// that the program is to carry: "c" (OpenCL C), "spirv1.0" or "spirv1.2", an NVIDIA processor
/// ("sm_90") for PTX; without any of these OpenCL C. "ptx90", with "c": the device's compiler takes
/// PTX of sm_90 inline. "wgmma": the device takes PTX of sm_90a, in which programs with fast
/// products of 16-bit floats are given besides. "straight": work-items must not branch after a
/// group's barriers. "tickets" (so "ptx90"): a group that counts itself atomically sees what
/// groups stored that did so before it. "groups1024" (so NVIDIA's processors): groups may have as
/// many work-items, where 256 are what all devices have. "ordered": groups begin in the order of
/// their numbers, and those that have begun get on while they wait for each other. "dependent",
/// with PTX of sm_90: each kernel waits for the one before it, so that the launch need not.
struct TargetDesc {
  program::Target kind = program::Target::Cpu;
  std::string features;
  /// Of programs that come as text: all products of 16-bit floats may be fast (docs/numerics.md),
  /// as if they said so themselves.
  bool fastProducts = false;
};

struct CompileOptions {
  /// Verify the IR at every phase border.
  bool verifyPhases = false;
  /// Threads that may make machine code at once, the caller's among them.
  unsigned threads = 1;
};

/// A program blob (runtime/program/Program.h) of each graph, or why there is none.
using Programs = std::vector<Result<std::vector<uint8_t>>>;

/// One entry point per product of the compiler. Calls are thread-safe (serialised inside).
struct CompilerApi {
  uint32_t version;    ///< kApiVersion
  const char *buildId; ///< changes whenever generated code may; part of every cache key
  /// Each program is what it is alone; code of several is made side by side.
  Programs (*compile)(std::span<const op::GraphDesc> graphs, const TargetDesc &target,
                      const CompileOptions &options);
  Result<std::vector<uint8_t>> (*compileText)(std::string_view mlir, std::string_view fileName,
                                              const TargetDesc &target,
                                              const CompileOptions &options);
  /// The text after a phase: "graph", "kernel", "schedule", "plan", "lower", "llvm", "asm",
  /// "opencl", "spirv", "ptx", or "explain".
  Result<std::string> (*printStage)(const op::GraphDesc &graph, const TargetDesc &target,
                                    std::string_view stage);
  Result<std::string> (*printStageText)(std::string_view mlir, std::string_view fileName,
                                        const TargetDesc &target, std::string_view stage);
  /// Where spans of compilation go (TraceSpan::writeTo).
  void (*trace)(int descriptor);
};
inline constexpr uint32_t kApiVersion = 3;

} // namespace graphc

extern "C" const graphc::CompilerApi *graphcCompilerApi();

#endif // GRAPHC_COMPILER_API_COMPILER_H
