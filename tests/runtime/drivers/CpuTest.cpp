//===- CpuTest.cpp - Thread pool, memory, features of the cpu device --------------------------===//
#include "runtime/base/Setting.h"
#include "runtime/base/Shape.h"
#include "runtime/base/Strings.h"
#include "runtime/base/Trace.h"
#include "runtime/drivers/Drivers.h"
#include "runtime/drivers/cpu/CodeImage.h"
#include "runtime/drivers/cpu/CpuFeatures.h"
#include "runtime/drivers/cpu/HostMemory.h"
#include "runtime/drivers/cpu/Scratch.h"
#include "runtime/drivers/cpu/ThreadPool.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <dirent.h>
#include <gtest/gtest.h>
#include <map>
#include <mutex>
#include <numeric>
#include <sched.h>
#include <set>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace graphc;
using namespace graphc::rt;
using namespace graphc::rt::cpu;

// Children of these tests start threads, which ThreadSanitizer allows only when told so.
extern "C" const char *__tsan_default_options() { return "die_after_fork=0"; }

namespace {

/// Counts how often each item is worked on.
struct Marks {
  explicit Marks(int64_t n) : counts(static_cast<size_t>(n)) {}
  std::vector<std::atomic<int>> counts;
  std::atomic<int> pieces{0};
  static void body(void *self, int64_t begin, int64_t end) {
    auto *m = static_cast<Marks *>(self);
    ++m->pieces;
    for (int64_t i = begin; i < end; ++i)
      m->counts[static_cast<size_t>(i)].fetch_add(1, std::memory_order_relaxed);
  }
  bool eachOnce() const {
    for (const auto &c : counts)
      if (c != 1)
        return false;
    return true;
  }
};

/// Threads of this process.
std::set<std::string> tasks() {
  std::set<std::string> found;
  DIR *dir = opendir("/proc/self/task");
  while (dirent *entry = readdir(dir))
    if (entry->d_name[0] != '.')
      found.insert(entry->d_name);
  closedir(dir);
  return found;
}

TEST(ThreadPool, DoesEveryItemOnce) {
  for (int threads : {1, 2, 3, 8}) {
    ThreadPool pool(threads);
    for (int64_t range : {1, 2, 10, 1000, 4099})
      for (int64_t chunk : {1, 3, 64, 5000}) {
        Marks marks(range);
        pool.run({Marks::body, &marks, range, chunk});
        ASSERT_TRUE(marks.eachOnce()) << threads << " " << range << " " << chunk;
      }
  }
}

TEST(ThreadPool, ManyShortJobs) {
  ThreadPool pool(4);
  for (int round = 0; round < 5000; ++round) {
    Marks marks(8);
    pool.run({Marks::body, &marks, 8, 1});
    ASSERT_TRUE(marks.eachOnce()) << round;
  }
}

TEST(ThreadPool, WakesSleepingWorkers) {
  ThreadPool pool(3);
  for (int round = 0; round < 30; ++round) {
    Marks marks(300);
    pool.run({Marks::body, &marks, 300, 1});
    ASSERT_TRUE(marks.eachOnce());
    usleep(1000); // longer than workers spin
  }
}

/// Where the pieces of a job ran.
struct Places {
  std::mutex mutex;
  std::map<pthread_t, int> pieces;
  std::map<pthread_t, int> onCore;
  int core = -1;
  static void body(void *self, int64_t, int64_t) {
    auto *p = static_cast<Places *>(self);
    auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(20);
    while (std::chrono::steady_clock::now() < end)
      ;
    std::scoped_lock lock(p->mutex);
    ++p->pieces[pthread_self()];
    p->onCore[pthread_self()] += sched_getcpu() == p->core;
  }
};

TEST(ThreadPool, AShortJobAloneLetsWorkersSleep) {
  ThreadPool pool(2);
  Places first;
  pool.run({Places::body, &first, 50, 1});
  // On a crowded machine the worker may need long to fall asleep.
  bool isWhole = false;
  for (int round = 0; round < 100 && !isWhole; ++round) {
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    Places alone;
    pool.run({Places::body, &alone, 50, 1, 0, /*isShort=*/true});
    isWhole = alone.pieces == std::map<pthread_t, int>{{pthread_self(), 1}};
  }
  EXPECT_TRUE(isWhole) << "not cut up, and done by the caller";
  Places longer;
  pool.run({Places::body, &longer, 50, 1});
  int pieces = 0;
  for (auto [thread, count] : longer.pieces)
    pieces += count;
  EXPECT_EQ(pieces, 50);
}

TEST(ThreadPool, ShortJobsInARowAreShared) {
  ThreadPool pool(2);
  bool isShared = false;
  for (int i = 0; i < 2000 && !isShared; ++i) {
    Places places;
    pool.run({Places::body, &places, 4, 1, 0, /*isShort=*/true});
    isShared = places.pieces.size() == 2;
  }
  EXPECT_TRUE(isShared);
}

TEST(ThreadPool, WorkersKeepOffTheCallersCore) {
  cpu_set_t all, one;
  ASSERT_EQ(sched_getaffinity(0, sizeof all, &all), 0);
  if (CPU_COUNT(&all) < 2)
    GTEST_SKIP() << "one core";
  ThreadPool pool(2);
  Places first;
  pool.run({Places::body, &first, 50, 1}); // starts the worker, which may run anywhere
  int core = sched_getcpu();
  CPU_ZERO(&one);
  CPU_SET(core, &one);
  ASSERT_EQ(sched_setaffinity(0, sizeof one, &one), 0);
  Places places;
  places.core = core;
  std::set<std::string> before = tasks();
  for (int i = 0; i < 200; ++i) {
    // Every other thread of the process is put where the caller is, and may leave.
    for (const std::string &task : before)
      if (int id = std::stoi(task); id != gettid()) {
        sched_setaffinity(id, sizeof one, &one);
        sched_setaffinity(id, sizeof all, &all);
      }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
    pool.run({Places::body, &places, 20, 1});
  }
  ASSERT_EQ(sched_setaffinity(0, sizeof all, &all), 0);
  int work = 0, together = 0;
  for (auto [thread, count] : places.pieces)
    if (thread != pthread_self()) {
      work += count;
      together += places.onCore[thread];
    }
  EXPECT_GT(work, 0);
  EXPECT_LT(together, work) << "never left";
  // One may be leaving just now.
  auto mayGoAnywhere = [&](const std::string &task) {
    cpu_set_t now;
    return sched_getaffinity(std::stoi(task), sizeof now, &now) == 0 && CPU_EQUAL(&now, &all);
  };
  for (int i = 0; i < 1000 && !std::ranges::all_of(before, mayGoAnywhere); ++i)
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  EXPECT_TRUE(std::ranges::all_of(before, mayGoAnywhere));
}

TEST(ThreadPool, ManyCallersAtOnce) {
  ThreadPool pool(3);
  std::vector<std::thread> callers;
  std::atomic<int> wrong{0};
  for (int t = 0; t < 6; ++t)
    callers.emplace_back([&, t] {
      for (int round = 0; round < 400; ++round) {
        Marks marks(50 + t);
        pool.run({Marks::body, &marks, 50 + t, 1 + round % 7});
        wrong += !marks.eachOnce();
      }
    });
  for (auto &c : callers)
    c.join();
  EXPECT_EQ(wrong, 0);
}

TEST(ThreadPool, HugeRangesFitTheTicket) {
  ThreadPool pool(2);
  std::atomic<int64_t> items{0};
  auto body = [](void *sum, int64_t begin, int64_t end) {
    *static_cast<std::atomic<int64_t> *>(sum) += end - begin;
  };
  // A chunk of one item would need more chunks than a ticket can count; the pool takes larger ones.
  constexpr int64_t kRange = int64_t{1} << 50;
  pool.run({body, &items, kRange, kRange / 1000});
  EXPECT_EQ(items, kRange);
}

/// Pieces of one item that wait for the one before, as those of running sums do.
struct Chain {
  static constexpr int64_t kBytes = 100'000, kPieces = 200;
  std::atomic<int64_t> told{0};
  std::atomic<int> without{0}, strangers{0}, gaveUp{0};
  pthread_t caller = pthread_self();

  static void body(void *self, int64_t begin, int64_t end) {
    auto *c = static_cast<Chain *>(self);
    c->without += !Scratch::ofThread().get(kBytes);
    c->strangers += !pthread_equal(pthread_self(), c->caller);
    auto start = std::chrono::steady_clock::now();
    while (c->told != begin)
      if (std::chrono::steady_clock::now() - start > std::chrono::seconds(20)) {
        ++c->gaveUp;
        break;
      }
    usleep(20); // so that others begin
    c->told = end;
  }
  bool runIn(ThreadPool &pool) { return pool.run({body, this, kPieces, 1, kBytes}); }
};

TEST(ThreadPool, ThreadsWithoutScratchTakeNoPiece) {
  // In a thread of its own, whose memory nobody has asked for.
  std::thread([] {
    ThreadPool pool(4);
    Scratch::setLimit(0);
    Chain none;
    EXPECT_FALSE(none.runIn(pool));
    EXPECT_EQ(none.told, 0);

    Scratch::setLimit(usableMemory());
    ASSERT_NE(Scratch::ofThread().get(Chain::kBytes), nullptr);
    Scratch::setLimit(0);
    Chain alone;
    EXPECT_TRUE(alone.runIn(pool));
    EXPECT_EQ(alone.told, Chain::kPieces);
    EXPECT_EQ(alone.without, 0);
    EXPECT_EQ(alone.strangers, 0);
    EXPECT_EQ(alone.gaveUp, 0);

    // The same threads, once there is memory.
    Scratch::setLimit(usableMemory());
    int strangers = 0;
    for (int round = 0; round < 100 && !strangers; ++round) {
      Chain together;
      EXPECT_TRUE(together.runIn(pool));
      EXPECT_EQ(together.without + together.gaveUp, 0);
      strangers += together.strangers;
    }
    EXPECT_GT(strangers, 0);
  }).join();
}

TEST(ThreadPool, WorkersBlockSignals) {
  ThreadPool pool(3);
  std::atomic<int> unblocked{0};
  auto caller = pthread_self();
  struct Context {
    std::atomic<int> *unblocked;
    pthread_t caller;
  } context{&unblocked, caller};
  auto body = [](void *c, int64_t, int64_t) {
    auto *x = static_cast<Context *>(c);
    sigset_t mask;
    pthread_sigmask(SIG_SETMASK, nullptr, &mask);
    if (!pthread_equal(pthread_self(), x->caller) && !sigismember(&mask, SIGINT))
      ++*x->unblocked;
    usleep(200);
  };
  pool.run({body, &context, 30, 1});
  EXPECT_EQ(unblocked, 0);
}

int threadCount() { return static_cast<int>(tasks().size()); }

TEST(ThreadPool, ForkedChildrenGetTheirOwn) {
  auto work = [] {
    Marks marks(1000);
    ThreadPool::instance().run({Marks::body, &marks, 1000, 1});
    return marks.eachOnce();
  };
  ASSERT_TRUE(work());
  std::atomic<bool> stop{false};
  std::thread busy([&] {
    while (!stop)
      work();
  });
  for (int i = 0; i < 10; ++i) {
    pid_t child = fork();
    if (child == 0) {
      alarm(10);
      // ThreadSanitizer has a thread of its own.
      bool alone = threadCount() <= (__has_feature(thread_sanitizer) ? 2 : 1);
      bool fine = work() && work();
      _exit(alone && fine ? 0 : 1);
    }
    int status = 0;
    ASSERT_EQ(waitpid(child, &status, 0), child);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
    EXPECT_TRUE(work());
  }
  stop = true;
  busy.join();
}

TEST(ThreadPool, ThreadsComeFromTheSetting) {
  Setting *setting = findSetting("GRAPHC_NUM_THREADS");
  ASSERT_NE(setting, nullptr);
  setting->override("3");
  EXPECT_EQ(ThreadPool::defaultThreads(), 3);
  setting->override("0");
  std::string warning;
  setEventSink([](void *w, const Event &e) { *static_cast<std::string *>(w) = e.text; }, &warning);
  EXPECT_GE(ThreadPool::defaultThreads(), 1);
  setEventSink(nullptr, nullptr);
  EXPECT_NE(warning.find("GRAPHC_NUM_THREADS must be an integer from 1"), std::string::npos);
  setting->override(std::nullopt);
}

/// Counts instead of allocating.
class FakeMemory final : public BlockSource {
public:
  void *obtain(int64_t bytes) override {
    if (bytes > limit - given)
      return nullptr;
    given += bytes;
    ++obtained;
    return reinterpret_cast<void *>(++serial);
  }
  void giveBack(void *, int64_t bytes) override { given -= bytes; }
  int64_t limit = INT64_MAX;
  int64_t given = 0;
  int obtained = 0;
  uintptr_t serial = 0;
};

TEST(BufferPool, ClassesWasteLittle) {
  EXPECT_EQ(BufferPool::classBytes(0), 64);
  EXPECT_EQ(BufferPool::classBytes(64), 64);
  EXPECT_EQ(BufferPool::classBytes(65), 128);
  for (int64_t n = 1; n < (int64_t{1} << 62); n += 1 + n / 3) {
    int64_t c = BufferPool::classBytes(n);
    EXPECT_GE(c, n);
    EXPECT_LE(c - n, std::max<int64_t>(63, n / 8)) << n;
    EXPECT_EQ(BufferPool::classBytes(c), c);
    EXPECT_EQ(c % 64, 0);
  }
}

TEST(BufferPool, RecyclesAndKeepsItsLimits) {
  FakeMemory memory;
  BufferPool pool(memory, "test", 10000, 4096);
  auto a = pool.take(1000);
  ASSERT_TRUE(a.isOk());
  void *handle = a->handle;
  pool.put(*a);
  EXPECT_EQ(pool.cachedBytes(), 1024);
  auto b = pool.take(1010);
  EXPECT_EQ(b->handle, handle);
  EXPECT_EQ(pool.liveBytes(), 1024);
  auto tooMuch = pool.take(9000);
  ASSERT_FALSE(tooMuch.isOk());
  EXPECT_EQ(tooMuch.status().code(), ErrorCode::OutOfMemory);
  EXPECT_EQ(tooMuch.status().message(),
            "[test] out of memory: 8.8 KiB wanted, 8.8 KiB free (1.0 KiB of 9.8 KiB in use)");
  EXPECT_FALSE(pool.take(-1).isOk());
  EXPECT_FALSE(pool.take(INT64_MAX).isOk());
  pool.put(*b);
  // 9216 bytes only fit when the kept block goes.
  auto large = pool.take(9000);
  ASSERT_TRUE(large.isOk());
  EXPECT_EQ(pool.cachedBytes(), 0);
  pool.put(*large); // above the cap: given back
  EXPECT_EQ(pool.cachedBytes(), 0);
  EXPECT_EQ(memory.given, 0);
}

TEST(BufferPool, DropsStaleSizesWhenTheCapIsReached) {
  FakeMemory memory;
  BufferPool pool(memory, "test", 1 << 20, 4096);
  std::vector<Block> blocks;
  for (int i = 0; i < 4; ++i)
    blocks.push_back(*pool.take(1024));
  for (Block b : blocks)
    pool.put(b);
  EXPECT_EQ(pool.cachedBytes(), 4096);
  Block other = *pool.take(2048);
  pool.put(other);
  EXPECT_EQ(pool.cachedBytes(), 2048);
  EXPECT_EQ(memory.given, 2048);
}

TEST(BufferPool, RetriesAfterReleasing) {
  FakeMemory memory;
  memory.limit = 4096;
  BufferPool pool(memory, "test", 1 << 20, 1 << 20);
  pool.put(*pool.take(2048));
  auto block = pool.take(4096);
  EXPECT_TRUE(block.isOk());
  auto none = pool.take(64);
  EXPECT_EQ(none.status().code(), ErrorCode::OutOfMemory);
  EXPECT_EQ(pool.liveBytes(), 4096);
}

TEST(HostMemory, IsAlignedAndUsable) {
  HostMemory memory;
  std::set<uintptr_t> places;
  for (int64_t bytes : {int64_t{64}, int64_t{1000}, int64_t{1} << 20, (int64_t{5} << 20) + 12345}) {
    void *block = memory.obtain(bytes);
    ASSERT_NE(block, nullptr);
    std::memset(block, 0x5a, static_cast<size_t>(bytes));
    auto address = reinterpret_cast<uintptr_t>(block);
    EXPECT_EQ(address % 64, 0u);
    // Large ones begin at different places of the first pages of a huge page.
    if (bytes >= (1 << 20)) {
      EXPECT_LT(address % (1 << 21), 8192u);
      EXPECT_TRUE(places.insert(address % (1 << 21)).second);
    }
    memory.giveBack(block, bytes);
  }
  EXPECT_EQ(memory.obtain(int64_t{1} << 60), nullptr);
  EXPECT_GT(usableMemory(), int64_t{1} << 28);
}

TEST(CpuDevice, WrapsForeignMemory) {
  Device &cpu = **findDevice("cpu");
  auto owner = std::make_shared<std::vector<int>>(100, 7);
  std::weak_ptr<std::vector<int>> watch = owner;
  auto buffer = cpu.wrapHost(owner->data(), 400, owner);
  ASSERT_TRUE(buffer.isOk());
  owner.reset();
  EXPECT_FALSE(watch.expired());
  int values[100];
  ASSERT_TRUE(cpu.queue().download(values, **buffer, 400).isOk());
  EXPECT_EQ(values[99], 7);
  *buffer = nullptr;
  EXPECT_TRUE(watch.expired());
  EXPECT_FALSE(cpu.wrapHost(nullptr, 8, nullptr).isOk());
}

TEST(CpuDevice, RecyclesBuffers) {
  Device &cpu = **findDevice("cpu");
  auto first = cpu.allocate(3 << 20);
  void *address = (*first)->host();
  *first = nullptr;
  auto second = cpu.allocate(3 << 20);
  EXPECT_EQ((*second)->host(), address);
}

TEST(CpuFeatures, CanBeRestricted) {
  Setting *setting = findSetting("GRAPHC_CPU_FEATURES");
  ASSERT_NE(setting, nullptr);
  setting->override(std::nullopt);
  EXPECT_EQ(allowedFeatures(), detectedFeatures());
  setting->override("none");
  EXPECT_EQ(allowedFeatures(), "");
  if (strings::listContains(detectedFeatures(), "avx2")) {
    setting->override("avx2");
    EXPECT_EQ(allowedFeatures(), "sse3,ssse3,sse4.1,sse4.2,avx,avx2");
  }
  std::string warning;
  setEventSink([](void *w, const Event &e) { *static_cast<std::string *>(w) = e.text; }, &warning);
  setting->override("avx9000");
  EXPECT_EQ(allowedFeatures(), "");
  setEventSink(nullptr, nullptr);
  EXPECT_NE(warning.find("avx9000"), std::string::npos);
  setting->override(std::nullopt);
  EXPECT_EQ(firstMissingFeature(detectedFeatures()), "");
  EXPECT_EQ(firstMissingFeature("sse3,foo"), detectedFeatures().empty() ? "sse3" : "foo");
}

TEST(CpuFeatures, AgreeWithTheCompiler) {
#if defined(__x86_64__)
  EXPECT_EQ(strings::listContains(detectedFeatures(), "avx2"), __builtin_cpu_supports("avx2") != 0);
  EXPECT_EQ(strings::listContains(detectedFeatures(), "avx512f"),
            __builtin_cpu_supports("avx512f") != 0);
  EXPECT_EQ(strings::listContains(detectedFeatures(), "fma"), __builtin_cpu_supports("fma") != 0);
  EXPECT_EQ(strings::listContains(detectedFeatures(), "bmi2"), __builtin_cpu_supports("bmi2") != 0);
#endif
}

// Generated code carries no type hash for the sanitizer to read in front of it.
__attribute__((no_sanitize("function"))) int call(int (*function)()) { return function(); }

TEST(CodeImage, IsExecutableAndNotWritable) {
#if defined(__x86_64__)
  uint8_t code[] = {0xb8, 42, 0, 0, 0, 0xc3}; // mov eax, 42; ret
  auto image = CodeImage::map(code);
  ASSERT_TRUE(image.isOk());
  auto function = reinterpret_cast<int (*)()>(const_cast<uint8_t *>(image->base()));
  EXPECT_EQ(call(function), 42);
  EXPECT_DEATH(*const_cast<uint8_t *>(image->base()) = 0, "");
#endif
}

TEST(Devices, AreFoundByName) {
  EXPECT_EQ((*findDevice("cpu"))->info().name, "cpu");
  EXPECT_EQ((*findDevice("null"))->info().runsKernels, false);
  auto none = findDevice("abacus");
  ASSERT_FALSE(none.isOk());
  EXPECT_EQ(none.status().code(), ErrorCode::Device);
  EXPECT_NE(none.status().message().find("there is no usable device 'abacus': cpu is usable"),
            std::string::npos)
      << none.status().message();
  Setting *setting = findSetting("GRAPHC_DEVICE");
  setting->override("null");
  EXPECT_EQ((*findDevice(""))->info().name, "null");
  setting->override(std::nullopt);
  EXPECT_EQ((*findDevice(""))->info().name, "cpu");
}

} // namespace
