//===- ThreadPool.h - Fork-join threads of the cpu device -------------------------------------===//
#ifndef GRAPHC_RUNTIME_DRIVERS_CPU_THREADPOOL_H
#define GRAPHC_RUNTIME_DRIVERS_CPU_THREADPOOL_H

#include <atomic>
#include <cstdint>

namespace graphc {
class UnderflowFlag;
}

namespace graphc::rt::cpu {

/// Work over a range of items; any split into [begin, end) pieces must be allowed. Pieces begin in
/// the order of their items, so that one may wait for what an earlier one does on its own.
struct Job {
  void (*body)(void *context, int64_t begin, int64_t end);
  void *context;
  int64_t range;
  int64_t chunk; ///< items per piece, > 0
  /// Bytes of Scratch::ofThread() that a thread gets before it takes its first piece; one that gets
  /// none takes no piece, so that nobody waits for what it would have done.
  int64_t scratch = 0;
  /// Done before a worker that sleeps would be awake.
  bool isShort = false;
  UnderflowFlag *underflow = nullptr; ///< the caller's; run() sets it
};

/// A pool that runs one job at a time on the caller and `threads - 1` workers. Workers look for
/// the next job for about 200 us, leaving the core to others meanwhile, then sleep; they keep off
/// the core of the caller. A short job wakes them only where jobs follow each other. run() may be
/// called from any number of threads at once: while the pool serves another caller, a caller works
/// through its own chunks and joins the pool as soon as it is free, so nobody waits for a
/// stranger's job.
///
/// Workers start on the first parallel job. They block all signals and use the default
/// floating-point mode.
class ThreadPool {
public:
  explicit ThreadPool(int threads);
  /// Stops and joins the workers; no job may be running.
  ~ThreadPool();
  ThreadPool(const ThreadPool &) = delete;
  ThreadPool &operator=(const ThreadPool &) = delete;

  /// Returns when every item has been done: true. False, and nothing has been done, when the job
  /// wants scratch and the caller cannot get it. `body` must not call run() of the same pool.
  bool run(const Job &job);
  int threads() const { return threadCount; }

  /// The pool of this process, made on first use; a forked child gets a new one. Never destroyed,
  /// so that work at exit is safe; workers of a dead process need no join.
  static ThreadPool &instance();
  /// GRAPHC_NUM_THREADS, else the number of cores this process may run on.
  static int defaultThreads();

private:
  struct Workers;
  void runShared(const Job &job, int64_t firstItem);
  bool isWorthWaking(const Job &job, int64_t now) const;
  void leaveCoreOfCaller(int64_t now, int64_t &leftAt) const;
  bool workOnce();
  void workerLoop();
  void start();

  const int threadCount;
  Workers *workers = nullptr; ///< guarded by `busy`
  std::atomic_flag busy;      ///< a caller owns the fields below

  Job current = {};
  int64_t currentFirst = 0;
  int64_t lastJob = 0; ///< when it began, of those that were worth sharing

  // Hot words on lines of their own. `tickets` is generation << 32 | unclaimed chunks: claiming a
  // chunk is one compare-exchange, which a late worker of an older job cannot win.
  alignas(64) std::atomic<uint64_t> tickets{0};
  std::atomic<int64_t> scratch{0}; ///< of the job of these tickets; written before them
  alignas(64) std::atomic<uint32_t> epoch{0};
  std::atomic<int> callerCore{-1}; ///< of the last epoch
  alignas(64) std::atomic<uint32_t> sleepers{0};
  alignas(64) std::atomic<int64_t> finished{0};
  alignas(64) std::atomic<bool> stopping{false};
};

} // namespace graphc::rt::cpu

#endif // GRAPHC_RUNTIME_DRIVERS_CPU_THREADPOOL_H
