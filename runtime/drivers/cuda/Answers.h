//===- Answers.h - Small results without the copy engine --------------------------------------===//
#ifndef GRAPHC_RUNTIME_DRIVERS_CUDA_ANSWERS_H
#define GRAPHC_RUNTIME_DRIVERS_CUDA_ANSWERS_H

#include "runtime/device/Device.h"
#include "runtime/drivers/cuda/Api.h"

#include <mutex>

namespace graphc::rt::cuda {

/// A kernel behind the work of a stream writes a few results into pinned memory and then a number
/// that the host looks for: on an H200 seven microseconds less than a copy and a wait. The device's
/// context must be current. Kept for the life of the process.
class Answers {
public:
  /// Errors leave it unusable. `isDependent`: the device knows kernels that wait for the one before
  /// them, as Api::launch means it.
  Status open(const Api &api, bool isDependent);

  /// Whether these can be brought: few, small, and nobody else is at it, who would be waited for.
  /// When true, `lock` is taken.
  bool take(std::span<const Readback> all, std::unique_lock<std::mutex> &lock);
  /// Waits for all work of the stream.
  Status bring(const Api &api, StreamHandle stream, std::span<const Readback> all);

private:
  static constexpr int64_t kMost = 4, kBytes = 4096;
  std::mutex mutex;
  ModuleHandle module = nullptr;
  FunctionHandle kernel = nullptr;
  bool isDependent = false;
  char *memory = nullptr; ///< kBytes for each, and the number behind them
  uint64_t last = 0;
};

} // namespace graphc::rt::cuda

#endif // GRAPHC_RUNTIME_DRIVERS_CUDA_ANSWERS_H
