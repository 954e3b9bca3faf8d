//===- HostMemory.h - Blocks of host memory ---------------------------------------------------===//
#ifndef GRAPHC_RUNTIME_DRIVERS_CPU_HOSTMEMORY_H
#define GRAPHC_RUNTIME_DRIVERS_CPU_HOSTMEMORY_H

#include "runtime/device/BufferPool.h"

namespace graphc::rt::cpu {

/// Small blocks from the heap (64-byte aligned), large ones a few lines into own mappings that
/// are aligned to 2 MiB and for which huge pages are asked. Safe from any thread.
class HostMemory final : public BlockSource {
public:
  void *obtain(int64_t bytes) override;
  void giveBack(void *handle, int64_t bytes) override;
};

/// Bytes of memory this process may use: of the machine or of its control group, whichever is less.
int64_t usableMemory();

} // namespace graphc::rt::cpu

#endif // GRAPHC_RUNTIME_DRIVERS_CPU_HOSTMEMORY_H
