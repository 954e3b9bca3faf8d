//===- MemoryLimit.cpp - How much memory buffers may take -------------------------------------===//
#include "runtime/device/MemoryLimit.h"

#include "runtime/base/Setting.h"
#include "runtime/base/Strings.h"
#include "runtime/base/Trace.h"

#include <algorithm>

namespace graphc::rt {
namespace {
Setting memoryLimit{"GRAPHC_MEMORY_LIMIT",
                    "bytes that the buffers of one device may take together: \"2GiB\", or "
                    "\"opencl=8GiB,cpu=2GiB\" by device or driver",
                    "the memory of the device"};

bool isFor(std::string_view name, std::string_view device) {
  return name == device ||
         (device.starts_with(name) && device.substr(name.size()).starts_with(':'));
}
} // namespace

int64_t memoryBudget(int64_t deviceBytes, std::string_view device) {
  int64_t budget = deviceBytes;
  const std::string limits = memoryLimit.get().value_or(""); // the entries are parts of it
  for (std::string_view entry : strings::split(limits, ',')) {
    size_t equals = entry.find('=');
    std::string_view bytes = strings::trim(entry.substr(equals == entry.npos ? 0 : equals + 1));
    int64_t limit = 0;
    if (equals != entry.npos && !isFor(strings::trim(entry.substr(0, equals)), device))
      continue;
    if (strings::parseBytes(std::string(bytes), limit))
      budget = std::min(budget, limit);
    else if (!bytes.empty())
      emitEvent(EventLevel::Warning, "device",
                strings::format("GRAPHC_MEMORY_LIMIT: '{}' is not a number of bytes", bytes));
  }
  return budget;
}

} // namespace graphc::rt
