//===- Fork.cpp - Surviving fork() ------------------------------------------------------------===//
#include "runtime/base/Fork.h"

#include <atomic>
#include <pthread.h>

namespace graphc {

struct ForkHandlers {
  // Constant-initialised, so that mutexes of other translation units may register during start-up.
  // `registry` guards the list and is held, before all others, while a thread forks.
  static inline pthread_mutex_t registry = PTHREAD_MUTEX_INITIALIZER;
  static inline ForkSafeMutex *head = nullptr;
  static inline std::atomic<uint32_t> generation{0};

  static void prepare() {
    pthread_mutex_lock(&registry);
    for (ForkSafeMutex *m = head; m; m = m->next)
      m->mutex.lock();
  }
  static void release() {
    for (ForkSafeMutex *m = head; m; m = m->next)
      m->mutex.unlock();
    pthread_mutex_unlock(&registry);
  }
  static void child() {
    generation.fetch_add(1);
    release();
  }
  static void install() {
    static const int installed = pthread_atfork(prepare, release, child);
    static_cast<void>(installed);
  }
  static void add(ForkSafeMutex *mutex) {
    install();
    pthread_mutex_lock(&registry);
    mutex->next = head;
    head = mutex;
    pthread_mutex_unlock(&registry);
  }
  static void remove(ForkSafeMutex *mutex) {
    pthread_mutex_lock(&registry);
    ForkSafeMutex **link = &head;
    while (*link != mutex)
      link = &(*link)->next;
    *link = mutex->next;
    pthread_mutex_unlock(&registry);
  }
};

ForkSafeMutex::ForkSafeMutex() { ForkHandlers::add(this); }
ForkSafeMutex::~ForkSafeMutex() { ForkHandlers::remove(this); }

uint32_t forkGeneration() {
  ForkHandlers::install();
  return ForkHandlers::generation.load(std::memory_order_relaxed);
}

namespace {
// Counts forks from the start of the process on, not from the first question.
[[maybe_unused]] const uint32_t startGeneration = forkGeneration();
} // namespace

} // namespace graphc
