//===- Emitter.h - From lowered functions to a target's code ----------------------------------===//
#ifndef GRAPHC_COMPILER_EMIT_EMITTER_H
#define GRAPHC_COMPILER_EMIT_EMITTER_H

#include "compiler/api/Compiler.h"

#include "mlir/IR/BuiltinOps.h"

#include <memory>
#include <string>
#include <vector>

namespace graphc::emit {

/// What the program needs to know of one kernel of the emitted code.
struct EmittedKernel {
  std::string name;
  uint64_t entry = 0;           ///< cpu: offset in the code
  uint32_t family = 0;          ///< program::KernelFamily
  double cost = 0;              ///< ns per element
  std::vector<uint32_t> writes; ///< per buffer
  uint32_t sizeCount = 0;
  /// cpu: bytes of its own that a thread needs; devices: of local memory that a launch gives a
  /// group
  int64_t scratch = 0;
  /// itemsPerThread 0: an item is a group (program::KernelRecord).
  uint32_t grain = 1, itemsPerThread = 1, group = 0;
  bool reports = false;             ///< one of the buffers that it writes is of faults
  uint32_t checks = 0;              ///< program::IndexChecks
  std::vector<uint32_t> checkReads; ///< per buffer, where they are Alone
};

struct EmittedCode {
  std::vector<uint8_t> code;   ///< Section::Code
  std::vector<uint8_t> il;     ///< Section::Il
  std::vector<uint8_t> binary; ///< Section::Binary
  std::vector<EmittedKernel> kernels;
  std::string isa;    ///< MetaRecord::isa
  std::string report; ///< lines for people
};

/// How far an emitter goes when only text is wanted.
enum class TextStage { Llvm, Assembly };

/// Before anything else is done for the process's first program: another of its threads begins
/// with what its code will need, if it is for the cpu.
void beginCpu(const TargetDesc &target, unsigned threads);
/// Waits for that thread, if there is one.
void finishBeginningCpu();

/// Native code of programs of one context, made side by side by at most `threads` threads; the same
/// whatever their number, and whatever other programs there are. Failures are diagnostics or the
/// returned status, and one program's own.
class CpuPrograms {
public:
  CpuPrograms(const TargetDesc &target, unsigned threads);
  /// Waits for what was begun.
  ~CpuPrograms();
  /// Takes the module's lowered functions. The number of the program.
  Result<size_t> begin(mlir::ModuleOp module);
  /// Once, after the last begin() and before code().
  void finish();
  /// Once for each.
  Result<EmittedCode> code(size_t program);

private:
  struct State;
  std::unique_ptr<State> state;
};
Result<std::string> printCpu(mlir::ModuleOp module, const TargetDesc &target, TextStage stage);

/// For OpenCL devices, in the forms that the target's features ask for (TargetDesc). Refuses,
/// naming op, type and user line, what the device lacks and what a form has no words for. At most
/// `threads` make the code.
Result<EmittedCode> emitOpenCL(mlir::ModuleOp module, const TargetDesc &target, unsigned threads);

/// A SPIR-V module as text.
Result<std::string> disassembleSpirv(llvm::ArrayRef<uint8_t> bytes);

/// The program blob of the module's plan.program and the emitted kernels.
Result<std::vector<uint8_t>> writeProgram(mlir::ModuleOp module, const EmittedCode &code,
                                          program::Target target, std::string_view explain,
                                          std::string_view buildId);

/// The facts of one lowered function that all targets share; `func` carries the graphc.* attributes
/// of LowerKernels.
EmittedKernel describeKernel(mlir::Operation *func);

} // namespace graphc::emit

#endif // GRAPHC_COMPILER_EMIT_EMITTER_H
