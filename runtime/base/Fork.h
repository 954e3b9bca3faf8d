//===- Fork.h - Surviving fork() --------------------------------------------------------------===//
#ifndef GRAPHC_RUNTIME_BASE_FORK_H
#define GRAPHC_RUNTIME_BASE_FORK_H

#include "runtime/base/SpinLock.h"

#include <cstdint>
#include <mutex>

namespace graphc {

/// A mutex that fork() never leaves locked in the child, nor what it guards half changed: while a
/// thread forks, all of them are held. Meets Lockable.
template <class Mutex>
class HeldAcrossFork {
public:
  HeldAcrossFork();
  ~HeldAcrossFork();
  HeldAcrossFork(const HeldAcrossFork &) = delete;
  HeldAcrossFork &operator=(const HeldAcrossFork &) = delete;
  void lock() { mutex.lock(); }
  bool try_lock() { return mutex.try_lock(); }
  void unlock() { mutex.unlock(); }

private:
  friend struct ForkHandlers;
  Mutex mutex;
  HeldAcrossFork *next = nullptr;
};

/// For leaf locks that are held for a few instructions: no lock of either kind may be taken, made
/// or destroyed while one is held.
using ForkSafeMutex = HeldAcrossFork<SpinLock>;

/// For work that others rather sleep through. ForkSafeMutexes may be taken while one is held, a
/// second one of this kind may not; nor may the interpreter's lock, which a forking thread holds.
using ForkSafeLongMutex = HeldAcrossFork<std::mutex>;

/// How many forks lie between the first call of this function's library and now: 0 in the original
/// process, one more in each child generation. Things owned by threads or drivers of another
/// generation are unusable.
uint32_t forkGeneration();

} // namespace graphc

#endif // GRAPHC_RUNTIME_BASE_FORK_H
