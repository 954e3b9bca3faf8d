//===- HostMemory.cpp - Blocks of host memory -------------------------------------------------===//
#include "runtime/drivers/cpu/HostMemory.h"

#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <sys/mman.h>
#include <unistd.h>

namespace graphc::rt::cpu {
namespace {

constexpr int64_t kMappedFrom = int64_t{1} << 20;
constexpr int64_t kHugePage = int64_t{1} << 21;
/// Blocks begin so many bytes apart within their first pages, in turns: elements of one number in
/// the operands and the result of an operation would meet in the same sets of all caches and the
/// same banks of memory (a tenth of the time of `a + b`).
constexpr int64_t kColourBytes = 17 * 64, kColours = 8;
std::atomic<int64_t> nextColour{0};

int64_t pageRounded(int64_t bytes) {
  int64_t page = sysconf(_SC_PAGESIZE);
  return (bytes + page - 1) / page * page;
}

} // namespace

void *HostMemory::obtain(int64_t bytes) {
  if (bytes < kMappedFrom)
    return std::aligned_alloc(64, static_cast<size_t>((bytes + 63) / 64 * 64));
  // Mapped with room for alignment, of which the ends go back at once.
  int64_t offset = nextColour.fetch_add(1, std::memory_order_relaxed) % kColours * kColourBytes;
  int64_t usable = pageRounded(offset + bytes);
  size_t mapped = static_cast<size_t>(usable + kHugePage);
  void *base = mmap(nullptr, mapped, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED)
    return nullptr;
  auto start = reinterpret_cast<uintptr_t>(base);
  uintptr_t aligned = (start + kHugePage - 1) / kHugePage * kHugePage;
  if (aligned > start)
    munmap(base, aligned - start);
  uintptr_t end = aligned + static_cast<uintptr_t>(usable);
  if (start + mapped > end)
    munmap(reinterpret_cast<void *>(end), start + mapped - end);
  auto *address = reinterpret_cast<void *>(aligned);
  // Only advice: without huge pages everything works, more slowly.
  if (bytes >= kHugePage)
    static_cast<void>(madvise(address, static_cast<size_t>(usable), MADV_HUGEPAGE));
  return static_cast<char *>(address) + offset;
}

void HostMemory::giveBack(void *handle, int64_t bytes) {
  if (bytes < kMappedFrom)
    return std::free(handle);
  int64_t offset = static_cast<int64_t>(reinterpret_cast<uintptr_t>(handle) % kHugePage);
  munmap(static_cast<char *>(handle) - offset, static_cast<size_t>(pageRounded(offset + bytes)));
}

int64_t usableMemory() {
  int64_t bytes = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  if (FILE *file = std::fopen("/sys/fs/cgroup/memory.max", "re")) {
    long long limit = 0;
    if (std::fscanf(file, "%lld", &limit) == 1 && limit > 0)
      bytes = std::min<int64_t>(bytes, limit);
    std::fclose(file);
  }
  return bytes;
}

} // namespace graphc::rt::cpu
