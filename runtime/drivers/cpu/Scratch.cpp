//===- Scratch.cpp - Memory of a thread of the cpu device -------------------------------------===//
#include "runtime/drivers/cpu/Scratch.h"

#include "runtime/drivers/HostScratch.h"
#include "runtime/drivers/cpu/HostMemory.h"

#include <atomic>

namespace graphc::rt::cpu {
namespace {

std::atomic<int64_t> &limit() {
  static std::atomic<int64_t> bytes{usableMemory()};
  return bytes;
}

} // namespace

Scratch::~Scratch() { HostMemory().giveBack(memory, bytes); }

void *Scratch::get(int64_t wanted) {
  if (wanted <= bytes)
    return memory;
  if (wanted > limit().load(std::memory_order_relaxed))
    return nullptr;
  int64_t rounded = (wanted + 4095) / 4096 * 4096;
  void *larger = HostMemory().obtain(rounded);
  if (!larger)
    return nullptr;
  HostMemory().giveBack(memory, bytes);
  memory = larger;
  bytes = rounded;
  return memory;
}

Scratch &Scratch::ofThread() {
  thread_local Scratch scratch;
  return scratch;
}

void Scratch::setLimit(int64_t bytes) { limit().store(bytes, std::memory_order_relaxed); }

} // namespace graphc::rt::cpu

bool graphc::rt::holdScratch(int64_t bytes) { return cpu::Scratch::ofThread().get(bytes); }
