//===- Fork.h - Surviving fork() --------------------------------------------------------------===//
#ifndef GRAPHC_RUNTIME_BASE_FORK_H
#define GRAPHC_RUNTIME_BASE_FORK_H

#include "runtime/base/SpinLock.h"

#include <cstdint>

namespace graphc {

/// A mutex that fork() never leaves locked in the child: while a thread forks, all of them are
/// held. Meets Lockable. Only for leaf locks that are held for a few instructions: no other
/// ForkSafeMutex may be taken, made or destroyed while one is held.
class ForkSafeMutex {
public:
  ForkSafeMutex();
  ~ForkSafeMutex();
  ForkSafeMutex(const ForkSafeMutex &) = delete;
  ForkSafeMutex &operator=(const ForkSafeMutex &) = delete;
  void lock() { mutex.lock(); }
  bool try_lock() { return mutex.try_lock(); }
  void unlock() { mutex.unlock(); }

private:
  friend struct ForkHandlers;
  SpinLock mutex;
  ForkSafeMutex *next = nullptr;
};

/// How many forks lie between the first call of this function's library and now: 0 in the original
/// process, one more in each child generation. Things owned by threads or drivers of another
/// generation are unusable.
uint32_t forkGeneration();

} // namespace graphc

#endif // GRAPHC_RUNTIME_BASE_FORK_H
