#include "runtime/drivers/HostCopy.h"

#include "runtime/drivers/cpu/ThreadPool.h"

#include <cstring>

namespace graphc::rt {

/// Bytes that a thread copies at a time.
static constexpr int64_t kChunk = int64_t{64} << 10;

void copyOnHost(void *destination, const void *source, int64_t bytes) {
  if (bytes <= kChunk) {
    if (bytes > 0)
      std::memcpy(destination, source, static_cast<size_t>(bytes));
    return;
  }
  struct Both {
    char *destination;
    const char *source;
  } both{static_cast<char *>(destination), static_cast<const char *>(source)};
  auto body = [](void *context, int64_t begin, int64_t end) {
    auto *b = static_cast<Both *>(context);
    std::memcpy(b->destination + begin, b->source + begin, static_cast<size_t>(end - begin));
  };
  cpu::ThreadPool::instance().run({body, &both, bytes, kChunk});
}

} // namespace graphc::rt
