//===- ProgramStoreTest.cpp - One compile for one key -----------------------------------------===//
#include "runtime/exec/ProgramStore.h"

#include "runtime/base/Trace.h"
#include "runtime/drivers/Drivers.h"
#include "tests/runtime/ProgramBuilder.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace graphc;
using namespace graphc::rt;
using test::ProgramBuilder;

namespace {

class ProgramStoreTest : public ::testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/graphc-test-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    root = name;
    disk = std::make_unique<DiskCache>(
        DiskCache::Options{root + "/programs", CacheMode::ReadWrite, 1 << 30});
    nul = *findDevice("null");
  }
  void TearDown() override { ASSERT_EQ(std::system(("rm -rf " + root).c_str()), 0); }

  static std::vector<uint8_t> blob() { return ProgramBuilder(program::Target::Cpu).build(); }
  std::vector<uint8_t> key(uint8_t n) {
    uint8_t graph[] = {1, 2, n};
    return ProgramStore::key(graph, "compiler-1", *nul);
  }

  std::string root;
  std::unique_ptr<DiskCache> disk;
  Device *nul = nullptr;
};

/// A thread that compiles a program until it is told to end.
class Compiling {
public:
  Compiling(ProgramStore &store, std::vector<uint8_t> key, Device &device)
      : thread([this, &store, &device, key = std::move(key)] {
          auto made = store.get(key, device, "f", [this]() -> Result<std::vector<uint8_t>> {
            hasBegun = true;
            while (!mayEnd)
              usleep(1000);
            return ProgramBuilder(program::Target::Cpu).build();
          });
          EXPECT_TRUE(made.isOk());
        }) {
    while (!hasBegun)
      usleep(1000);
  }
  void end() {
    mayEnd = true;
    thread.join();
  }

private:
  std::atomic<bool> hasBegun{false}, mayEnd{false};
  std::thread thread; // last: it uses the others
};

TEST_F(ProgramStoreTest, MemoryThenDiskThenCompiler) {
  int compiles = 0;
  auto compile = [&]() -> Result<std::vector<uint8_t>> {
    ++compiles;
    return blob();
  };
  ProgramStore store(*disk);
  auto k = key(1);
  EXPECT_EQ(store.find(digestOf(k)), nullptr);
  auto first = store.get(k, *nul, "f", compile);
  ASSERT_TRUE(first.isOk()) << first.status().message();
  auto second = store.get(k, *nul, "f", compile);
  EXPECT_EQ(*first, *second);
  EXPECT_EQ(store.find(digestOf(k)), *first);
  EXPECT_EQ(compiles, 1);
  store.clearMemory();
  int64_t hits = counterValue(Counter::DiskHits);
  EXPECT_TRUE(store.get(k, *nul, "f", compile).isOk());
  EXPECT_EQ(compiles, 1);
  EXPECT_EQ(counterValue(Counter::DiskHits), hits + 1);
  ProgramStore another(*disk);
  EXPECT_TRUE(another.get(key(2), *nul, "g", compile).isOk());
  EXPECT_EQ(compiles, 2);
  EXPECT_EQ(disk->list().size(), 2u);
}

TEST_F(ProgramStoreTest, EveryPartOfTheKeyCounts) {
  uint8_t graph[] = {1, 2, 3}, shorter[] = {1, 2};
  Device *cpu = *findDevice("cpu");
  auto base = ProgramStore::key(graph, "compiler-1", *cpu);
  EXPECT_EQ(base, ProgramStore::key(graph, "compiler-1", *cpu));
  EXPECT_NE(base, ProgramStore::key(shorter, "compiler-1", *cpu));
  EXPECT_NE(base, ProgramStore::key(graph, "compiler-2", *cpu));
  EXPECT_NE(base, ProgramStore::key(graph, "compiler-1", *nul));
}

TEST_F(ProgramStoreTest, FailuresAreNotRemembered) {
  ProgramStore store(*disk);
  bool fail = true;
  auto compile = [&]() -> Result<std::vector<uint8_t>> {
    if (fail)
      return Status(ErrorCode::Compile, "no");
    return blob();
  };
  EXPECT_EQ(store.get(key(1), *nul, "f", compile).status().message(), "no");
  fail = false;
  EXPECT_TRUE(store.get(key(1), *nul, "f", compile).isOk());
}

TEST_F(ProgramStoreTest, ABlobThatDoesNotLoadIsCompiledAgain) {
  ProgramStore store(*disk);
  disk->store(key(1), std::vector<uint8_t>{1, 2, 3}, "broken");
  int compiles = 0;
  auto compile = [&]() -> Result<std::vector<uint8_t>> {
    ++compiles;
    return blob();
  };
  EXPECT_TRUE(store.get(key(1), *nul, "f", compile).isOk());
  EXPECT_EQ(compiles, 1);
  store.clearMemory();
  EXPECT_TRUE(store.get(key(1), *nul, "f", compile).isOk());
  EXPECT_EQ(compiles, 1) << "the entry was replaced";
}

TEST_F(ProgramStoreTest, ThreadsWaitForOneCompile) {
  ProgramStore store(*disk);
  std::atomic<int> compiles{0}, failures{0};
  auto compile = [&]() -> Result<std::vector<uint8_t>> {
    ++compiles;
    usleep(20000);
    return blob();
  };
  std::vector<std::thread> threads;
  for (int t = 0; t < 8; ++t)
    threads.emplace_back([&] { failures += !store.get(key(1), *nul, "f", compile).isOk(); });
  for (auto &t : threads)
    t.join();
  EXPECT_EQ(compiles, 1);
  EXPECT_EQ(failures, 0);
}

TEST_F(ProgramStoreTest, WhatIsNowhereIsCompiledTogether) {
  ProgramStore store(*disk);
  auto compile = [] { return Result(blob()); };
  ASSERT_TRUE(store.get(key(1), *nul, "f", compile).isOk());
  store.clearMemory(); // the disk has it
  ASSERT_TRUE(store.get(key(2), *nul, "f", compile).isOk());
  const std::vector<std::vector<uint8_t>> keys{key(1), key(2), key(3), key(4), key(3), key(5)};
  std::vector<size_t> asked;
  auto programs = store.prepare(keys, *nul, "f", [&](std::span<const size_t> numbers) {
    asked.assign(numbers.begin(), numbers.end());
    std::vector<Result<std::vector<uint8_t>>> made;
    made.emplace_back(blob());
    made.emplace_back(Status(ErrorCode::Compile, "no"));
    made.emplace_back(blob());
    return made;
  });
  EXPECT_EQ(asked, (std::vector<size_t>{2, 3, 5}));
  EXPECT_EQ(programs.size(), 2u);
  for (uint8_t n : {1, 2, 3, 5})
    EXPECT_TRUE(store.contains(digestOf(key(n)))) << int{n};
  EXPECT_FALSE(store.contains(digestOf(key(4))));
  EXPECT_EQ(disk->list().size(), 4u);
  auto failed = [] { return Result<std::vector<uint8_t>>(Status(ErrorCode::Compile, "its own")); };
  EXPECT_EQ(store.get(key(4), *nul, "f", failed).status().message(), "its own");
  EXPECT_TRUE(store.get(key(4), *nul, "f", compile).isOk());
}

TEST_F(ProgramStoreTest, WhatSomebodyCompilesIsNotWaitedFor) {
  ProgramStore store(*disk);
  Compiling other(store, key(1), *nul);
  const std::vector<std::vector<uint8_t>> keys{key(1), key(2)};
  auto programs = store.prepare(keys, *nul, "f", [&](std::span<const size_t> numbers) {
    EXPECT_EQ(numbers.size(), 1u);
    std::vector<Result<std::vector<uint8_t>>> made;
    made.emplace_back(blob());
    return made;
  });
  EXPECT_EQ(programs.size(), 1u);
  EXPECT_TRUE(store.contains(digestOf(key(2))));
  other.end();
  EXPECT_TRUE(store.contains(digestOf(key(1))));
}

TEST_F(ProgramStoreTest, AChildDoesNotWaitForItsParentsCompile) {
  ProgramStore store(*disk);
  Compiling parent(store, key(1), *nul);
  pid_t child = fork();
  if (child == 0) {
    alarm(10);
    auto r = store.get(key(1), *nul, "f", [] { return Result(blob()); });
    _exit(r.isOk() ? 0 : 1);
  }
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_EQ(status, 0);
  parent.end();
}

} // namespace
