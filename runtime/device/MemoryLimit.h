//===- MemoryLimit.h - How much memory buffers may take ---------------------------------------===//
#ifndef GRAPHC_RUNTIME_DEVICE_MEMORYLIMIT_H
#define GRAPHC_RUNTIME_DEVICE_MEMORYLIMIT_H

#include <cstdint>

namespace graphc::rt {

/// `deviceBytes`, or GRAPHC_MEMORY_LIMIT when that is set and less.
int64_t memoryBudget(int64_t deviceBytes);

} // namespace graphc::rt

#endif // GRAPHC_RUNTIME_DEVICE_MEMORYLIMIT_H
