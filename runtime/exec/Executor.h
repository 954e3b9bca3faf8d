//===- Executor.h - Loading and running programs ----------------------------------------------===//
#ifndef GRAPHC_RUNTIME_EXEC_EXECUTOR_H
#define GRAPHC_RUNTIME_EXEC_EXECUTOR_H

#include "runtime/base/DType.h"
#include "runtime/base/Shape.h"
#include "runtime/base/Status.h"
#include "runtime/device/Device.h"

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace graphc::rt {

/// A dense, C-ordered array in device memory that starts at the buffer's first byte.
struct Tensor {
  BufferRef buffer;
  DType dtype = DType::Float32;
  Shape shape;
  /// Of an input that LoadedProgram::takes() or reuses() and that nobody else sees: a result is
  /// made in its memory, and what it held is lost.
  bool isGiven = false;
};

/// What a run tells besides its results.
struct RunReport {
  /// Asked for: a run that only watches need not wait for what it met. It says so by
  /// `isWatchedLater`, and readWatched() (Watch.h) tells.
  bool mayTellLater = false;
  bool isWatchedLater = false;
  /// Of an Index error: the number of the gather or scatter among those of the graph.
  std::optional<uint32_t> place;
  /// A value that the program watches became infinite or NaN, or integers had no result.
  bool watched = false;
  bool underflowed = false; ///< perhaps; of runs that are listened to
};

/// What one run takes, known without running.
struct RunCost {
  int64_t peakBytes = 0; ///< most bytes of outputs and temporaries alive together; inputs left out
  int64_t launches = 0;  ///< kernels started
  int64_t copies = 0;    ///< whole buffers copied
  int64_t calls = 0;     ///< library routines run on the host
};

/// A program ready to run on one device. Immutable: run() may be called from several threads at
/// once.
class LoadedProgram {
public:
  ~LoadedProgram();
  const program::Program &program() const;
  Device &device() const;
  /// Whether a result can be made in the memory of this input, which is otherwise copied first. A
  /// run that takes one fails before it has written anything, or not at all.
  bool takes(size_t input) const;
  /// The same for an input that would not be copied, only kept beside the result.
  bool reuses(size_t input) const;

private:
  struct Impl;
  friend Result<std::unique_ptr<LoadedProgram>> load(std::vector<uint8_t> bytes, Device &device);
  friend Status run(const LoadedProgram &program, std::span<const Tensor> inputs,
                    std::span<const int64_t> sizeArguments, std::vector<Tensor> &outputs,
                    RunReport *report);
  friend Result<RunCost> costOf(const LoadedProgram &program, std::span<const Tensor> inputs,
                                std::span<const int64_t> sizeArguments,
                                std::vector<Tensor> &outputs);
  explicit LoadedProgram(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl;
};

/// Checks a program blob and loads its code and constants. Corrupt for damaged bytes, Unsupported
/// when the device cannot run it, Device or Compile errors of the driver.
Result<std::unique_ptr<LoadedProgram>> load(std::vector<uint8_t> bytes, Device &device);

/// Runs a program. Inputs must be on the program's device and stay unchanged until the work has
/// ended (Queue::finish, at once on the cpu); only those that are given are written. `outputs` is
/// replaced; its buffers belong to the caller. An output that is an input shares that input's
/// buffer. Errors: InvalidArgument (counts, devices), DType, Shape (message with the shapes given),
/// OutOfMemory, and those of the queue; Index when a kernel met an index outside its axis: then
/// there are no outputs, and `report` gets the place, or, where that is not asked for or not known,
/// the message has the line the program was compiled for.
Status run(const LoadedProgram &program, std::span<const Tensor> inputs,
           std::span<const int64_t> sizeArguments, std::vector<Tensor> &outputs,
           RunReport *report = nullptr);

/// The cost of a run with inputs of these dtypes and shapes, whose buffers may be null; `outputs`
/// gets dtypes and shapes without buffers. Errors as run(), those of devices and buffers left out.
Result<RunCost> costOf(const LoadedProgram &program, std::span<const Tensor> inputs,
                       std::span<const int64_t> sizeArguments, std::vector<Tensor> &outputs);

} // namespace graphc::rt

#endif // GRAPHC_RUNTIME_EXEC_EXECUTOR_H
