#include "runtime/exec/Watch.h"

#include <map>
#include <mutex>

namespace graphc::rt {
namespace {

constexpr int64_t kClear[program::kFaultWords] = {};

struct Words {
  std::mutex mutex;
  std::map<Device *, BufferRef> byDevice;
};
Words &words() {
  static auto *w = new Words; // drivers may be gone when static objects go
  return *w;
}

} // namespace

Result<BufferRef> watchWords(Device &device) {
  std::lock_guard lock(words().mutex);
  BufferRef &buffer = words().byDevice[&device];
  if (!buffer) {
    GRAPHC_ASSIGN(BufferRef made, device.allocate(sizeof kClear));
    GRAPHC_TRY(device.queue().upload(*made, kClear, sizeof kClear));
    buffer = std::move(made);
  }
  return buffer;
}

Result<bool> readWatched(Device &device, std::span<const Readback> others) {
  GRAPHC_ASSIGN(BufferRef buffer, watchWords(device));
  int64_t read[program::kFaultWords] = {};
  std::vector<Readback> all{{read, buffer.get(), sizeof read}};
  all.insert(all.end(), others.begin(), others.end());
  GRAPHC_TRY(device.queue().downloadAll(all));
  if (read[program::kWatchWord] == 0)
    return false;
  GRAPHC_TRY(device.queue().upload(*buffer, kClear, sizeof kClear));
  return true;
}

} // namespace graphc::rt
