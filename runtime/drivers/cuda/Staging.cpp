//===- Staging.cpp - Host memory on its way to a device ---------------------------------------===//
#include "runtime/drivers/cuda/Staging.h"

#include <algorithm>
#include <cstring>

namespace graphc::rt::cuda {
namespace {
constexpr unsigned kWithoutTiming = 2;
constexpr int64_t kAligned = 64;
} // namespace

Status Staging::prepare(const Api &api) {
  for (Half &half : halves) {
    if (!half.read)
      if (Code code = api.cuEventCreate(&half.read, kWithoutTiming))
        return api.failure("cuEventCreate", code);
    void *memory = nullptr;
    if (!half.memory)
      if (Code code = api.cuMemHostAlloc(&memory, kHalfBytes, 0))
        return api.failure("cuMemHostAlloc", code);
    half.memory = half.memory ? half.memory : static_cast<char *>(memory);
  }
  return Status::ok();
}

Status Staging::turn(const Api &api, StreamHandle stream) {
  Half &full = halves[current];
  if (Code code = api.cuEventRecord(full.read, stream))
    return api.failure("cuEventRecord", code);
  full.isWaitedFor = true;
  Half &next = halves[1 - current];
  if (next.isWaitedFor)
    if (Code code = api.cuEventSynchronize(next.read))
      return api.failure("cuEventSynchronize", code);
  next.isWaitedFor = false;
  current = 1 - current;
  used = 0;
  return Status::ok();
}

Status Staging::upload(const Api &api, StreamHandle stream, Address to, const void *from,
                       int64_t bytes) {
  std::lock_guard lock(mutex);
  GRAPHC_TRY(prepare(api));
  const char *next = static_cast<const char *>(from);
  while (bytes > 0) {
    if (used == kHalfBytes)
      GRAPHC_TRY(turn(api, stream));
    int64_t piece = std::min(bytes, kHalfBytes - used);
    char *place = halves[current].memory + used;
    std::memcpy(place, next, static_cast<size_t>(piece));
    if (Code code = api.cuMemcpyHtoDAsync(to, place, static_cast<size_t>(piece), stream))
      return api.failure("cuMemcpyHtoDAsync", code);
    used = std::min(kHalfBytes, (used + piece + kAligned - 1) / kAligned * kAligned);
    next += piece;
    to += static_cast<Address>(piece);
    bytes -= piece;
  }
  return Status::ok();
}

} // namespace graphc::rt::cuda
