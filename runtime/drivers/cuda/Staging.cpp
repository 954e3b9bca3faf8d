//===- Staging.cpp - Host memory on its way to a device ---------------------------------------===//
#include "runtime/drivers/cuda/Staging.h"

#include "runtime/drivers/HostCopy.h"

#include <algorithm>

namespace graphc::rt::cuda {
namespace {
constexpr unsigned kWithoutTiming = 2;
constexpr int64_t kAligned = 64;

/// What is copied on the host while the device moves the piece before: enough for all threads.
int64_t pieceOf(int64_t bytes) {
  constexpr int64_t kFew = int64_t{512} << 10, kMost = int64_t{4} << 20, kPieces = 4;
  return std::clamp(bytes / kPieces / kAligned * kAligned, kFew, kMost);
}
} // namespace

Status Staging::prepare(const Api &api) {
  for (Half &half : halves) {
    if (!half.used)
      if (Code code = api.cuEventCreate(&half.used, kWithoutTiming))
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
  if (Code code = api.cuEventRecord(full.used, stream))
    return api.failure("cuEventRecord", code);
  full.isWaitedFor = true;
  Half &next = halves[1 - current];
  if (next.isWaitedFor)
    if (Code code = api.cuEventSynchronize(next.used))
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
  const int64_t most = pieceOf(bytes);
  const char *next = static_cast<const char *>(from);
  while (bytes > 0) {
    if (used == kHalfBytes)
      GRAPHC_TRY(turn(api, stream));
    int64_t piece = std::min({bytes, kHalfBytes - used, most});
    char *place = halves[current].memory + used;
    copyOnHost(place, next, piece);
    if (Code code = api.cuMemcpyHtoDAsync(to, place, static_cast<size_t>(piece), stream))
      return api.failure("cuMemcpyHtoDAsync", code);
    used = std::min(kHalfBytes, (used + piece + kAligned - 1) / kAligned * kAligned);
    next += piece;
    to += static_cast<Address>(piece);
    bytes -= piece;
  }
  return Status::ok();
}

Status Staging::download(const Api &api, StreamHandle stream, void *to, Address from,
                         int64_t bytes) {
  std::lock_guard lock(mutex);
  GRAPHC_TRY(prepare(api));
  const int64_t most = pieceOf(bytes);
  auto *next = static_cast<char *>(to);
  const Half *full = nullptr;
  int64_t held = 0; // bytes of `full`
  for (int turn = 0; bytes > 0 || full; turn = 1 - turn) {
    const Half &half = halves[turn];
    const int64_t piece = std::min(bytes, most);
    if (piece > 0) {
      if (Code code = api.cuMemcpyDtoHAsync(half.memory, from, static_cast<size_t>(piece), stream))
        return api.failure("cuMemcpyDtoHAsync", code);
      if (Code code = api.cuEventRecord(half.used, stream))
        return api.failure("cuEventRecord", code);
    }
    if (full) {
      if (Code code = api.cuEventSynchronize(full->used))
        return api.failure("cuEventSynchronize", code);
      copyOnHost(next, full->memory, held);
      next += held;
    }
    full = piece > 0 ? &half : nullptr;
    held = piece;
    from += static_cast<Address>(piece);
    bytes -= piece;
  }
  return Status::ok();
}

} // namespace graphc::rt::cuda
