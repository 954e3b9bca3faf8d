//===- Staging.h - Host memory on its way to a device -----------------------------------------===//
#ifndef GRAPHC_RUNTIME_DRIVERS_CUDA_STAGING_H
#define GRAPHC_RUNTIME_DRIVERS_CUDA_STAGING_H

#include "runtime/drivers/cuda/Api.h"

#include <mutex>

namespace graphc::rt::cuda {

/// Pinned memory of two halves: one is filled while the device reads the other, so that what a
/// caller gave may be reused without waiting for the stream; or one is emptied while the device
/// fills the other. Safe from any thread; the device's context must be current. Kept for the life
/// of the process.
class Staging {
public:
  /// Queues a copy on `stream`, the same for every call.
  Status upload(const Api &api, StreamHandle stream, Address to, const void *from, int64_t bytes);
  /// Waits for all work of `stream`; `to` is not written to after the return.
  Status download(const Api &api, StreamHandle stream, void *to, Address from, int64_t bytes);

private:
  static constexpr int64_t kHalfBytes = int64_t{4} << 20;
  struct Half {
    char *memory = nullptr;
    EventHandle used = nullptr; ///< the device is done with what it was told last
    bool isWaitedFor = false;
  };
  Status prepare(const Api &api);
  /// To the other half, as soon as the device is done with it.
  Status turn(const Api &api, StreamHandle stream);

  std::mutex mutex;
  Half halves[2];
  int current = 0;
  int64_t used = 0; ///< of the current half
};

} // namespace graphc::rt::cuda

#endif // GRAPHC_RUNTIME_DRIVERS_CUDA_STAGING_H
