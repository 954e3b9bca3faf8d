//===- BufferPool.h - Recycling of device memory ----------------------------------------------===//
#ifndef GRAPHC_RUNTIME_DEVICE_BUFFERPOOL_H
#define GRAPHC_RUNTIME_DEVICE_BUFFERPOOL_H

#include "runtime/base/Fork.h"
#include "runtime/base/Status.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <string>
#include <vector>

namespace graphc::rt {

/// A block of memory as its source knows it: an address or a driver handle.
struct Block {
  void *handle = nullptr;
  int64_t bytes = 0; ///< a size class
};

/// Where blocks come from.
class BlockSource {
public:
  virtual ~BlockSource() = default;
  /// A null handle when there is no memory.
  virtual void *obtain(int64_t bytes) = 0;
  virtual void giveBack(void *handle, int64_t bytes) = 0;
};

/// Keeps freed blocks by size class and hands them out again, most recent first. Live and kept
/// bytes together stay below the budget; kept bytes stay below the cap. Safe from any thread; lives
/// as long as the process.
class BufferPool {
public:
  /// `area` is the device name in error messages.
  BufferPool(BlockSource &source, std::string area, int64_t budgetBytes, int64_t capBytes);

  /// A block of at least `bytes` bytes, contents undefined.
  Result<Block> take(int64_t bytes);
  void put(Block block);
  /// Gives all kept blocks back to the source.
  void release();
  int64_t liveBytes() const { return live.load(std::memory_order_relaxed); }
  int64_t cachedBytes() const { return cached.load(std::memory_order_relaxed); }
  int64_t budget() const { return budgetBytes; }

  /// The class that serves `bytes`: 64, 128, ..., each power of two in eight steps from 512 on,
  /// multiples of 2 MiB from 16 MiB on. Nothing larger than 2^62.
  static int64_t classBytes(int64_t bytes);

private:
  struct Bin {
    int64_t bytes;
    std::vector<void *> blocks;
  };
  Bin &bin(int64_t bytes);
  Status outOfMemory(int64_t bytes) const;

  BlockSource &source;
  std::string area;
  int64_t budgetBytes;
  int64_t capBytes;
  mutable ForkSafeMutex mutex;
  std::vector<Bin> bins; ///< sorted by size
  // Read by anyone, written with the mutex held.
  std::atomic<int64_t> live{0};
  std::atomic<int64_t> cached{0};
};

} // namespace graphc::rt

#endif // GRAPHC_RUNTIME_DEVICE_BUFFERPOOL_H
