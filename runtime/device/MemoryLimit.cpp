//===- MemoryLimit.cpp - How much memory buffers may take -------------------------------------===//
#include "runtime/device/MemoryLimit.h"

#include "runtime/base/Setting.h"
#include "runtime/base/Strings.h"
#include "runtime/base/Trace.h"

#include <algorithm>

namespace graphc::rt {
namespace {
Setting memoryLimit{"GRAPHC_MEMORY_LIMIT",
                    "bytes that the buffers of one device may take together, e.g. \"2GiB\"",
                    "the memory of the device"};
} // namespace

int64_t memoryBudget(int64_t deviceBytes) {
  auto text = memoryLimit.get();
  if (!text)
    return deviceBytes;
  int64_t limit = 0;
  if (!strings::parseBytes(*text, limit)) {
    emitEvent(EventLevel::Warning, "device",
              strings::format("GRAPHC_MEMORY_LIMIT: '{}' is not a number of bytes", *text));
    return deviceBytes;
  }
  return std::min(deviceBytes, limit);
}

} // namespace graphc::rt
