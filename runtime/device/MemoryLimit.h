//===- MemoryLimit.h - How much memory buffers may take ---------------------------------------===//
#ifndef GRAPHC_RUNTIME_DEVICE_MEMORYLIMIT_H
#define GRAPHC_RUNTIME_DEVICE_MEMORYLIMIT_H

#include <cstdint>
#include <string_view>

namespace graphc::rt {

/// `deviceBytes`, or what GRAPHC_MEMORY_LIMIT says of the device of that name when that is less.
int64_t memoryBudget(int64_t deviceBytes, std::string_view device);

} // namespace graphc::rt

#endif // GRAPHC_RUNTIME_DEVICE_MEMORYLIMIT_H
