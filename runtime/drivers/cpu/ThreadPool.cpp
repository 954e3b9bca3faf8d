//===- ThreadPool.cpp - Fork-join threads of the cpu device -----------------------------------===//
#include "runtime/drivers/cpu/ThreadPool.h"

#include "runtime/base/Fork.h"
#include "runtime/base/Setting.h"
#include "runtime/base/Threads.h"
#include "runtime/base/Trace.h"
#include "runtime/drivers/cpu/FloatMode.h"
#include "runtime/drivers/cpu/Scratch.h"

#include <algorithm>
#include <climits>
#include <linux/futex.h>
#include <pthread.h>
#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <vector>

namespace graphc::rt::cpu {
namespace {

Setting numThreads{"GRAPHC_NUM_THREADS", "threads of the cpu device",
                   "one per core this process may use"};

/// How long a worker looks for the next job before it sleeps; after the first part of it, whoever
/// else wants the core has it between two looks.
constexpr int64_t kSpinNanos = 200'000, kAloneNanos = 5'000;
/// A worker that has left the caller's core stays for so long wherever the system puts it then.
constexpr int64_t kStayNanos = 1'000'000;
constexpr int kPausesPerCheck = 64;

void pause() {
#if defined(__x86_64__)
  _mm_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

void futexWait(std::atomic<uint32_t> &word, uint32_t expected) {
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), FUTEX_WAIT_PRIVATE, expected, nullptr,
          nullptr, 0);
}

void futexWake(std::atomic<uint32_t> &word) {
  syscall(SYS_futex, reinterpret_cast<uint32_t *>(&word), FUTEX_WAKE_PRIVATE, INT_MAX, nullptr,
          nullptr, 0);
}

} // namespace

struct ThreadPool::Workers {
  std::vector<pthread_t> threads;
};

ThreadPool::ThreadPool(int threads) : threadCount(std::max(1, threads)) {}

ThreadPool::~ThreadPool() {
  if (!workers)
    return;
  stopping.store(true);
  epoch.fetch_add(1);
  futexWake(epoch);
  for (pthread_t t : workers->threads)
    pthread_join(t, nullptr);
  delete workers;
}

void ThreadPool::start() {
  workers = new Workers;
  auto entry = [](void *pool) -> void * {
    static_cast<ThreadPool *>(pool)->workerLoop();
    return nullptr;
  };
  // When the system grants fewer threads than wanted, the pool works with those.
  pthread_t thread;
  for (int i = 1; i < threadCount; ++i)
    if (startThread(entry, this, thread))
      workers->threads.push_back(thread);
}

// Claims and runs one chunk of the current job; false when none is left, or no memory to work in.
bool ThreadPool::workOnce() {
  uint64_t seen = tickets.load(std::memory_order_acquire);
  do {
    if (static_cast<uint32_t>(seen) == 0)
      return false;
    // Of these tickets or of a later job, and then the exchange fails.
    if (int64_t bytes = scratch.load(std::memory_order_acquire);
        bytes > 0 && !Scratch::ofThread().get(bytes))
      return false;
  } while (!tickets.compare_exchange_weak(seen, seen - 1, std::memory_order_acq_rel,
                                          std::memory_order_acquire));
  // The claimed chunk keeps the job's caller waiting, so `current` is stable until `finished` is
  // raised. Chunks are handed out from the front.
  Job job = current;
  int64_t left = static_cast<uint32_t>(seen);
  int64_t chunks = (job.range - currentFirst + job.chunk - 1) / job.chunk;
  int64_t begin = currentFirst + (chunks - left) * job.chunk;
  bool tells = job.underflow && job.underflow != UnderflowFlag::ofThread();
  if (tells)
    UnderflowFlag::clear();
  job.body(job.context, begin, std::min(job.range, begin + job.chunk));
  if (tells)
    job.underflow->gather();
  finished.fetch_add(1, std::memory_order_release);
  return true;
}

// Two threads of a job on one core take turns while another core may be idle, and the system sees
// no reason to move either as long as both run for microseconds only.
void ThreadPool::leaveCoreOfCaller(int64_t now, int64_t &leftAt) const {
  int core = callerCore.load(std::memory_order_relaxed);
  if (now - leftAt < kStayNanos || core < 0 || sched_getcpu() != core)
    return;
  leftAt = now;
  cpu_set_t all, others;
  if (sched_getaffinity(0, sizeof all, &all) != 0)
    return;
  others = all;
  CPU_CLR(static_cast<size_t>(core), &others);
  // The thread is moved at once, and may go anywhere again afterwards.
  if (CPU_COUNT(&others) > 0 && sched_setaffinity(0, sizeof others, &others) == 0)
    sched_setaffinity(0, sizeof all, &all);
}

void ThreadPool::workerLoop() {
  FloatMode mode;
  uint32_t seen = 0;
  int64_t leftAt = 0;
  for (;;) {
    int64_t spinStart = TraceSpan::now();
    uint32_t now;
    while ((now = epoch.load(std::memory_order_acquire)) == seen) {
      for (int i = 0; i < kPausesPerCheck && epoch.load(std::memory_order_relaxed) == seen; ++i)
        pause();
      if (int64_t spun = TraceSpan::now() - spinStart; spun < kSpinNanos) {
        if (spun > kAloneNanos) {
          leaveCoreOfCaller(spinStart + spun, leftAt);
          sched_yield();
        }
        continue;
      }
      // Sequentially consistent on both sides: either the caller sees a sleeper, or the sleeper
      // sees the new epoch.
      sleepers.fetch_add(1, std::memory_order_seq_cst);
      if (epoch.load(std::memory_order_seq_cst) == seen)
        futexWait(epoch, seen);
      sleepers.fetch_sub(1, std::memory_order_seq_cst);
      spinStart = TraceSpan::now();
    }
    seen = now;
    if (stopping.load(std::memory_order_acquire))
      return;
    leaveCoreOfCaller(TraceSpan::now(), leftAt);
    while (workOnce())
      ;
  }
}

// Called by the owner of `busy`.
bool ThreadPool::isWorthWaking(const Job &job, int64_t now) const {
  bool allSleep = !workers || sleepers.load(std::memory_order_relaxed) == workers->threads.size();
  return !job.isShort || !allSleep || now - lastJob < kSpinNanos;
}

// Called by the owner of `busy`.
void ThreadPool::runShared(const Job &job, int64_t firstItem) {
  if (!workers)
    start();
  current = job;
  currentFirst = firstItem;
  int64_t chunks = (job.range - firstItem + job.chunk - 1) / job.chunk;
  finished.store(0, std::memory_order_relaxed);
  scratch.store(job.scratch, std::memory_order_release);
  uint64_t generation = (tickets.load(std::memory_order_relaxed) >> 32) + 1;
  tickets.store(generation << 32 | static_cast<uint32_t>(chunks), std::memory_order_release);
  callerCore.store(sched_getcpu(), std::memory_order_relaxed);
  epoch.fetch_add(1, std::memory_order_seq_cst);
  if (sleepers.load(std::memory_order_seq_cst) != 0)
    futexWake(epoch);
  while (workOnce())
    ;
  // Whoever still works has claimed a chunk already; on a crowded machine it may need this core to
  // go on.
  int64_t spins = 0;
  while (finished.load(std::memory_order_acquire) != chunks) {
    pause();
    if (++spins > 2000)
      sched_yield();
  }
}

bool ThreadPool::run(const Job &job) {
  if (job.scratch > 0 && !Scratch::ofThread().get(job.scratch))
    return false;
  if (job.range <= 0)
    return true;
  Job mine = job;
  mine.underflow = UnderflowFlag::ofThread();
  // The number of chunks must fit the ticket's half word.
  mine.chunk = std::max(job.chunk, (job.range >> 31) + 1);
  int64_t item = 0;
  while (item < mine.range) {
    bool several = mine.range - item > mine.chunk;
    if (threadCount > 1 && several && !busy.test_and_set(std::memory_order_acquire)) {
      int64_t now = TraceSpan::now();
      bool shares = isWorthWaking(mine, now);
      lastJob = now;
      if (shares)
        runShared(mine, item);
      else
        mine.body(mine.context, item, mine.range);
      busy.clear(std::memory_order_release);
      return true;
    }
    int64_t end = threadCount > 1 ? std::min(mine.range, item + mine.chunk) : mine.range;
    mine.body(mine.context, item, end);
    item = end;
  }
  return true;
}

int ThreadPool::defaultThreads() {
  int cores = 1;
  cpu_set_t set;
  if (sched_getaffinity(0, sizeof set, &set) == 0)
    cores = std::max(1, CPU_COUNT(&set));
  auto wanted = numThreads.integer(1, 1024);
  if (!wanted) {
    emitEvent(EventLevel::Warning, "exec", wanted.status().message());
    return cores;
  }
  return static_cast<int>(wanted->value_or(cores));
}

namespace {
struct Instance {
  uint32_t generation;
  ThreadPool *pool;
};
std::atomic<Instance *> processPool{nullptr};
} // namespace

ThreadPool &ThreadPool::instance() {
  uint32_t generation = forkGeneration();
  Instance *seen = processPool.load(std::memory_order_acquire);
  while (!seen || seen->generation != generation) {
    // A parent's pool is abandoned, not destroyed: its workers do not exist here. Workers start
    // with the first job, so a pool that loses this race costs nothing.
    auto *fresh = new Instance{generation, new ThreadPool(defaultThreads())};
    if (processPool.compare_exchange_strong(seen, fresh, std::memory_order_acq_rel,
                                            std::memory_order_acquire)) {
      seen = fresh;
    } else {
      delete fresh->pool;
      delete fresh;
    }
  }
  return *seen->pool;
}

} // namespace graphc::rt::cpu
