//===- BufferPool.cpp - Recycling of device memory --------------------------------------------===//
#include "runtime/device/BufferPool.h"

#include "runtime/base/Strings.h"
#include "runtime/base/Trace.h"

#include <algorithm>
#include <bit>
#include <mutex>

namespace graphc::rt {

BufferPool::BufferPool(BlockSource &source, std::string area, int64_t budgetBytes, int64_t capBytes)
    : source(source), area(std::move(area)), budgetBytes(budgetBytes), capBytes(capBytes) {}

int64_t BufferPool::classBytes(int64_t bytes) {
  constexpr int64_t kSmallest = 64;
  if (bytes <= 512)
    return std::max(kSmallest, (bytes + kSmallest - 1) / kSmallest * kSmallest);
  int octave = std::bit_width(static_cast<uint64_t>(bytes - 1)) - 1;
  int64_t step = int64_t{1} << (octave - 3);
  return (bytes + step - 1) / step * step;
}

BufferPool::Bin &BufferPool::bin(int64_t bytes) {
  auto at = std::lower_bound(bins.begin(), bins.end(), bytes,
                             [](const Bin &b, int64_t n) { return b.bytes < n; });
  if (at == bins.end() || at->bytes != bytes)
    at = bins.insert(at, Bin{bytes, {}});
  return *at;
}

Status BufferPool::outOfMemory(int64_t bytes) const {
  int64_t used = live.load(std::memory_order_relaxed);
  return {ErrorCode::OutOfMemory,
          strings::format("[{}] out of memory: {} wanted, {} free ({} of {} in use)", area,
                          strings::bytesText(bytes),
                          strings::bytesText(std::max<int64_t>(0, budgetBytes - used)),
                          strings::bytesText(used), strings::bytesText(budgetBytes))};
}

Result<Block> BufferPool::take(int64_t wanted) {
  count(Counter::Allocations);
  if (wanted < 0 || wanted > budgetBytes)
    return outOfMemory(wanted);
  Block block{nullptr, classBytes(wanted)};
  bool mustRelease = false;
  {
    std::lock_guard lock(mutex);
    Bin &b = bin(block.bytes);
    int64_t used = live.load(std::memory_order_relaxed);
    if (!b.blocks.empty()) {
      block.handle = b.blocks.back();
      b.blocks.pop_back();
      cached.store(cached.load(std::memory_order_relaxed) - block.bytes, std::memory_order_relaxed);
    } else if (used + block.bytes > budgetBytes) {
      return outOfMemory(wanted);
    } else {
      mustRelease = used + cached.load(std::memory_order_relaxed) + block.bytes > budgetBytes;
    }
    // Reserved before the source is asked, so that concurrent callers cannot pass the budget
    // together.
    live.store(used + block.bytes, std::memory_order_relaxed);
  }
  if (block.handle) {
    count(Counter::PoolHits);
    return block;
  }
  if (mustRelease)
    release();
  block.handle = source.obtain(block.bytes);
  if (!block.handle) {
    release();
    block.handle = source.obtain(block.bytes);
  }
  if (!block.handle) {
    {
      std::lock_guard lock(mutex);
      live.store(live.load(std::memory_order_relaxed) - block.bytes, std::memory_order_relaxed);
    }
    return outOfMemory(wanted);
  }
  return block;
}

void BufferPool::put(Block block) {
  bool keep = block.bytes <= capBytes;
  // Kept blocks of sizes no longer used must not block the cap for ever: when it is reached, all
  // go.
  if (keep && cached.load(std::memory_order_relaxed) + block.bytes > capBytes)
    release();
  if (!keep)
    source.giveBack(block.handle, block.bytes);
  std::lock_guard lock(mutex);
  live.store(live.load(std::memory_order_relaxed) - block.bytes, std::memory_order_relaxed);
  if (keep) {
    bin(block.bytes).blocks.push_back(block.handle);
    cached.store(cached.load(std::memory_order_relaxed) + block.bytes, std::memory_order_relaxed);
  }
}

void BufferPool::release() {
  std::vector<Bin> taken;
  {
    std::lock_guard lock(mutex);
    taken.swap(bins);
    cached.store(0, std::memory_order_relaxed);
  }
  for (const Bin &b : taken)
    for (void *handle : b.blocks)
      source.giveBack(handle, b.bytes);
}

} // namespace graphc::rt
