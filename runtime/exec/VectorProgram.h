//===- VectorProgram.h - Programs of one kernel on vectors ------------------------------------===//
#ifndef GRAPHC_RUNTIME_EXEC_VECTORPROGRAM_H
#define GRAPHC_RUNTIME_EXEC_VECTORPROGRAM_H

#include "runtime/exec/Executor.h"

namespace graphc::rt {

/// A program of one launch on vectors of one length, on a device that sees host memory, run without
/// the checks of run(): what calls it has made the program and the vectors. Immutable: run() may be
/// called from several threads at once.
class VectorProgram {
public:
  /// Null for every other program.
  static Result<std::unique_ptr<VectorProgram>> of(std::shared_ptr<LoadedProgram> program);
  Device &device() const { return program->device(); }
  DType resultDType() const;
  /// `inputs` and `output` hold `count` elements each, one or more. Whether a value that the
  /// program watches became infinite or NaN, or integers had no result. Errors of the queue.
  Result<bool> run(std::span<Buffer *const> inputs, Buffer &output, int64_t count) const;

private:
  VectorProgram() = default;

  std::shared_ptr<LoadedProgram> program;
  std::unique_ptr<Module> module;
};

} // namespace graphc::rt

#endif // GRAPHC_RUNTIME_EXEC_VECTORPROGRAM_H
