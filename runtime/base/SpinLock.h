//===- SpinLock.h - A lock of one byte for a few instructions ---------------------------------===//
#ifndef GRAPHC_RUNTIME_BASE_SPINLOCK_H
#define GRAPHC_RUNTIME_BASE_SPINLOCK_H

#include <atomic>
#include <thread>

namespace graphc {

/// For data that is hardly ever asked for by two threads at once and is held for a few instructions
/// only: a third of a mutex's cost, and no system call. Works with std::lock_guard.
class SpinLock {
public:
  void lock() {
    while (busy.test_and_set(std::memory_order_acquire))
      std::this_thread::yield();
  }
  bool try_lock() { return !busy.test_and_set(std::memory_order_acquire); }
  void unlock() { busy.clear(std::memory_order_release); }

private:
  std::atomic_flag busy;
};

} // namespace graphc

#endif // GRAPHC_RUNTIME_BASE_SPINLOCK_H
