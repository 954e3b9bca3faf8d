//===- Fork.cpp - Surviving fork() ------------------------------------------------------------===//
#include "runtime/base/Fork.h"

#include <atomic>
#include <pthread.h>
#include <utility>

namespace graphc {

struct ForkHandlers {
  // Constant-initialised, so that mutexes of other translation units may register during start-up.
  // `registry` guards the lists and is held while a thread forks. Long mutexes come before it: who
  // holds one may still make or destroy a short one.
  static inline pthread_mutex_t registry = PTHREAD_MUTEX_INITIALIZER;
  static inline pthread_mutex_t longRegistry = PTHREAD_MUTEX_INITIALIZER;
  static inline ForkSafeMutex *head = nullptr;
  static inline ForkSafeLongMutex *longHead = nullptr;
  static inline std::atomic<uint32_t> generation{0};

  static auto listOf(ForkSafeMutex *) { return std::pair(&registry, &head); }
  static auto listOf(ForkSafeLongMutex *) { return std::pair(&longRegistry, &longHead); }

  template <class Mutex>
  static void lockAll() {
    auto [guard, first] = listOf(static_cast<Mutex *>(nullptr));
    pthread_mutex_lock(guard);
    for (Mutex *m = *first; m; m = m->next)
      m->mutex.lock();
  }
  template <class Mutex>
  static void unlockAll() {
    auto [guard, first] = listOf(static_cast<Mutex *>(nullptr));
    for (Mutex *m = *first; m; m = m->next)
      m->mutex.unlock();
    pthread_mutex_unlock(guard);
  }
  static void prepare() {
    lockAll<ForkSafeLongMutex>();
    lockAll<ForkSafeMutex>();
  }
  static void release() {
    unlockAll<ForkSafeMutex>();
    unlockAll<ForkSafeLongMutex>();
  }
  static void child() {
    generation.fetch_add(1);
    release();
  }
  static void install() {
    static const int installed = pthread_atfork(prepare, release, child);
    static_cast<void>(installed);
  }
  template <class Mutex>
  static void add(Mutex *mutex) {
    install();
    auto [guard, first] = listOf(mutex);
    pthread_mutex_lock(guard);
    mutex->next = *first;
    *first = mutex;
    pthread_mutex_unlock(guard);
  }
  template <class Mutex>
  static void remove(Mutex *mutex) {
    auto [guard, link] = listOf(mutex);
    pthread_mutex_lock(guard);
    while (*link != mutex)
      link = &(*link)->next;
    *link = mutex->next;
    pthread_mutex_unlock(guard);
  }
};

template <class Mutex>
HeldAcrossFork<Mutex>::HeldAcrossFork() {
  ForkHandlers::add(this);
}
template <class Mutex>
HeldAcrossFork<Mutex>::~HeldAcrossFork() {
  ForkHandlers::remove(this);
}
template class HeldAcrossFork<SpinLock>;
template class HeldAcrossFork<std::mutex>;

uint32_t forkGeneration() {
  ForkHandlers::install();
  return ForkHandlers::generation.load(std::memory_order_relaxed);
}

namespace {
// Counts forks from the start of the process on, not from the first question.
[[maybe_unused]] const uint32_t startGeneration = forkGeneration();
} // namespace

} // namespace graphc
