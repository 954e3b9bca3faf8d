//===- DiskCacheTest.cpp - Damage, races and bad folders --------------------------------------===//
#include "runtime/cache/DiskCache.h"

#include "runtime/base/Trace.h"
#include "runtime/cache/MemoryCache.h"

#include <cstdio>
#include <cstdlib>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace graphc;
using namespace graphc::rt;

namespace {

using Bytes = std::vector<uint8_t>;

Bytes bytesOf(std::string_view text) { return {text.begin(), text.end()}; }

Bytes valueFor(uint32_t n, size_t size = 2000) {
  Bytes value(size);
  for (size_t i = 0; i < size; ++i)
    value[i] = static_cast<uint8_t>(n * 7 + i * i);
  return value;
}

class DiskCacheTest : public ::testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/graphc-test-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    root = name;
    folder = root + "/cache";
    setEventSink(
        [](void *self, const Event &e) {
          if (e.level == EventLevel::Warning)
            static_cast<DiskCacheTest *>(self)->warnings.emplace_back(e.text);
        },
        this);
  }
  void TearDown() override {
    setEventSink(nullptr, nullptr);
    ASSERT_EQ(std::system(("chmod -R u+rwX " + root + "; rm -rf " + root).c_str()), 0);
  }
  DiskCache::Options options(CacheMode mode = CacheMode::ReadWrite, int64_t cap = 1 << 30) {
    return {folder, mode, cap};
  }
  std::string entryPath(const Bytes &key) { return folder + "/" + digestOf(key).hex() + ".gcp"; }
  Bytes readAll(const std::string &path) {
    Bytes bytes;
    FILE *f = std::fopen(path.c_str(), "rb");
    for (int c; f && (c = std::fgetc(f)) != EOF;)
      bytes.push_back(static_cast<uint8_t>(c));
    if (f)
      std::fclose(f);
    return bytes;
  }
  void writeAll(const std::string &path, const Bytes &bytes) {
    FILE *f = std::fopen(path.c_str(), "wb");
    ASSERT_NE(f, nullptr);
    ASSERT_EQ(std::fwrite(bytes.data(), 1, bytes.size(), f), bytes.size());
    ASSERT_EQ(std::fclose(f), 0);
    ASSERT_EQ(chmod(path.c_str(), 0600), 0);
  }
  int files() {
    int n = 0;
    FILE *p = popen(("ls -A " + folder + " | wc -l").c_str(), "r");
    EXPECT_EQ(std::fscanf(p, "%d", &n), 1);
    pclose(p);
    return n;
  }

  std::string root, folder;
  std::vector<std::string> warnings;
};

TEST_F(DiskCacheTest, StoresFindsListsAndClears) {
  DiskCache cache(options());
  Bytes key = bytesOf("key"), other = bytesOf("other");
  EXPECT_EQ(cache.find(key), std::nullopt);
  cache.store(key, valueFor(1), "one");
  cache.store(other, {}, "empty");
  EXPECT_EQ(cache.find(key), valueFor(1));
  EXPECT_EQ(cache.find(other), Bytes());
  cache.store(key, valueFor(2), "two");
  EXPECT_EQ(DiskCache(options()).find(key), valueFor(2));
  auto entries = cache.list();
  ASSERT_EQ(entries.size(), 2u);
  EXPECT_TRUE(entries[0].label == "two" || entries[1].label == "two");
  auto info = cache.info();
  EXPECT_EQ(info.entries, 2);
  EXPECT_EQ(info.problem, "");
  EXPECT_EQ(info.folder, folder);
  EXPECT_EQ(*cache.clear(), 2);
  EXPECT_EQ(cache.find(key), std::nullopt);
  EXPECT_EQ(files(), 0);
  EXPECT_TRUE(warnings.empty());
}

TEST_F(DiskCacheTest, EveryFlippedByteIsAMiss) {
  DiskCache cache(options());
  Bytes key = bytesOf("some key"), value = valueFor(3, 300);
  cache.store(key, value, "label");
  Bytes whole = readAll(entryPath(key));
  ASSERT_GT(whole.size(), 300u);
  int64_t defects = counterValue(Counter::DiskDefects);
  for (size_t i = 0; i < whole.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      Bytes bad = whole;
      bad[i] ^= static_cast<uint8_t>(1 << bit);
      writeAll(entryPath(key), bad);
      ASSERT_EQ(cache.find(key), std::nullopt) << i << " " << bit;
      ASSERT_NE(access(entryPath(key).c_str(), F_OK), 0) << "a damaged entry is removed";
    }
  EXPECT_EQ(counterValue(Counter::DiskDefects) - defects, static_cast<int64_t>(whole.size()) * 8);
  cache.store(key, value, "label");
  EXPECT_EQ(cache.find(key), value);
}

TEST_F(DiskCacheTest, EveryTruncationIsAMiss) {
  DiskCache cache(options());
  Bytes key = bytesOf("some key");
  cache.store(key, valueFor(3, 300), "label");
  Bytes whole = readAll(entryPath(key));
  for (size_t n = 0; n < whole.size(); ++n) {
    writeAll(entryPath(key), Bytes(whole.begin(), whole.begin() + static_cast<long>(n)));
    ASSERT_EQ(cache.find(key), std::nullopt) << n;
  }
  Bytes longer = whole;
  longer.push_back(0);
  writeAll(entryPath(key), longer);
  EXPECT_EQ(cache.find(key), std::nullopt);
}

TEST_F(DiskCacheTest, AnEntryUnderAnotherNameIsAMiss) {
  DiskCache cache(options());
  Bytes a = bytesOf("a"), b = bytesOf("b");
  cache.store(a, valueFor(1), "a");
  writeAll(entryPath(b), readAll(entryPath(a)));
  EXPECT_EQ(cache.find(b), std::nullopt);
  EXPECT_EQ(cache.find(a), valueFor(1));
}

TEST_F(DiskCacheTest, StrangeEntriesAreRefused) {
  DiskCache cache(options());
  Bytes key = bytesOf("a");
  cache.store(key, valueFor(1), "a");
  std::string path = entryPath(key), moved = root + "/moved";
  Bytes whole = readAll(path);
  ASSERT_EQ(rename(path.c_str(), moved.c_str()), 0);
  ASSERT_EQ(symlink(moved.c_str(), path.c_str()), 0);
  EXPECT_EQ(cache.find(key), std::nullopt) << "link";
  ASSERT_EQ(link(moved.c_str(), path.c_str()), 0);
  EXPECT_EQ(cache.find(key), std::nullopt) << "hard link";
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(cache.find(key), std::nullopt) << "pipe";
  unlink(path.c_str());
  writeAll(path, whole);
  ASSERT_EQ(chmod(path.c_str(), 0666), 0);
  EXPECT_EQ(cache.find(key), std::nullopt) << "writable by all";
  writeAll(path, whole);
  EXPECT_EQ(cache.find(key), valueFor(1));
}

TEST_F(DiskCacheTest, ModesAreKept) {
  DiskCache writer(options());
  Bytes key = bytesOf("a"), other = bytesOf("b");
  writer.store(key, valueFor(1), "a");
  DiskCache reader(options(CacheMode::ReadOnly));
  EXPECT_EQ(reader.find(key), valueFor(1));
  reader.store(other, valueFor(2), "b");
  EXPECT_EQ(writer.find(other), std::nullopt);
  EXPECT_FALSE(reader.clear().isOk());
  DiskCache off(options(CacheMode::Off));
  EXPECT_EQ(off.find(key), std::nullopt);
  off.store(other, valueFor(2), "b");
  EXPECT_EQ(writer.find(other), std::nullopt);
}

TEST_F(DiskCacheTest, BadFoldersMeanOneWarningAndNoCache) {
  for (int kind = 0; kind < 3; ++kind) {
    warnings.clear();
    std::string bad = root + "/bad" + std::to_string(kind);
    if (kind == 0)
      writeAll(bad, {1});
    else if (kind == 1)
      ASSERT_EQ(symlink("/tmp", bad.c_str()), 0);
    else {
      ASSERT_EQ(mkdir(bad.c_str(), 0700), 0);
      ASSERT_EQ(chmod(bad.c_str(), 0777), 0);
    }
    DiskCache cache({bad, CacheMode::ReadWrite, 1 << 20});
    Bytes key = bytesOf("a");
    for (int i = 0; i < 3; ++i) {
      cache.store(key, valueFor(1), "a");
      EXPECT_EQ(cache.find(key), std::nullopt);
    }
    EXPECT_EQ(warnings.size(), 1u) << kind;
    EXPECT_NE(cache.info().problem, "");
    EXPECT_FALSE(cache.clear().isOk());
  }
}

TEST_F(DiskCacheTest, AFullDiskMeansOneWarning) {
  ASSERT_EQ(mkdir(folder.c_str(), 0700), 0);
  if (mount("none", folder.c_str(), "tmpfs", 0, "size=64k,mode=0700") != 0)
    GTEST_SKIP() << "needs the right to mount a small file system";
  {
    DiskCache cache(options());
    Bytes large = bytesOf("large"), small = bytesOf("small");
    cache.store(large, valueFor(1, 200000), "large");
    cache.store(large, valueFor(1, 200000), "large");
    EXPECT_EQ(warnings.size(), 1u);
    EXPECT_EQ(cache.find(large), std::nullopt);
    cache.store(small, valueFor(2, 1000), "small");
    EXPECT_EQ(cache.find(small), valueFor(2, 1000));
    EXPECT_EQ(files(), 1) << "no leftovers";
  }
  EXPECT_EQ(umount2(folder.c_str(), MNT_DETACH), 0);
}

TEST_F(DiskCacheTest, EvictsTheLeastRecentlyUsed) {
  DiskCache cache(options(CacheMode::ReadWrite, 11000));
  Bytes keys[6];
  for (uint32_t i = 0; i < 6; ++i) {
    keys[i] = bytesOf("key" + std::to_string(i));
    cache.store(keys[i], valueFor(i, 2300), "entry");
    // Ages of whole minutes, the newest first in line to stay.
    timespec times[2] = {{1'700'000'000 + i * 60, 0}, {1'700'000'000 + i * 60, 0}};
    if (i != 4)
      utimensat(AT_FDCWD, entryPath(keys[i]).c_str(), times, 0);
    if (i == 3) // a use makes an entry young again
      EXPECT_TRUE(cache.find(keys[0]).has_value());
  }
  EXPECT_LE(cache.info().bytes, 11000);
  EXPECT_TRUE(cache.find(keys[0]).has_value());
  EXPECT_FALSE(cache.find(keys[1]).has_value());
  EXPECT_FALSE(cache.find(keys[2]).has_value());
  cache.store(bytesOf("huge"), valueFor(9, 20000), "huge");
  EXPECT_FALSE(cache.find(bytesOf("huge")).has_value()) << "larger than the cap";
}

TEST_F(DiskCacheTest, SweepsStaleTemporaries) {
  DiskCache cache(options(CacheMode::ReadWrite, 5'000)); // every store reads the folder
  std::string stale = folder + "/.tmp-1-1", fresh = folder + "/.tmp-1-2",
              foreign = folder + "/notes";
  for (const std::string &f : {stale, fresh, foreign})
    writeAll(f, {1});
  timespec old[2] = {{1'600'000'000, 0}, {1'600'000'000, 0}};
  utimensat(AT_FDCWD, stale.c_str(), old, 0);
  cache.store(bytesOf("a"), valueFor(1), "a");
  EXPECT_NE(access(stale.c_str(), F_OK), 0);
  EXPECT_EQ(access(fresh.c_str(), F_OK), 0);
  EXPECT_EQ(*cache.clear(), 2);
  EXPECT_EQ(access(foreign.c_str(), F_OK), 0);
}

// Each object stands for a process: short ones, none of which writes much.
TEST_F(DiskCacheTest, ReadsTheFolderSeldomAndKeepsToTheCap) {
  constexpr int64_t kCap = 800'000;
  std::string stale = folder + "/.tmp-1-1"; // what a reading of the folder sweeps
  timespec old[2] = {{1'600'000'000, 0}, {1'600'000'000, 0}};
  int readings = 0;
  int64_t largest = 0;
  for (uint32_t i = 0; i < 600; ++i) {
    DiskCache cache(options(CacheMode::ReadWrite, kCap));
    writeAll(stale, {1});
    utimensat(AT_FDCWD, stale.c_str(), old, 0);
    cache.store(bytesOf("key" + std::to_string(i)), valueFor(i, 3'000), "entry");
    readings += access(stale.c_str(), F_OK) != 0;
    largest = std::max(largest, cache.info().bytes);
  }
  EXPECT_GT(readings, 200); // about a half: a 128th of the cap is two entries
  EXPECT_LT(readings, 400);
  EXPECT_LE(largest, kCap);
  EXPECT_GT(largest, kCap * 7 / 8);
}

TEST_F(DiskCacheTest, ProcessesRaceWithoutHarm) {
  constexpr uint32_t kKeys = 25;
  constexpr int kProcesses = 8;
  std::vector<pid_t> children;
  for (int c = 0; c < kProcesses; ++c) {
    pid_t child = fork();
    if (child == 0) {
      // A small cap makes the processes evict each other's entries too.
      DiskCache cache(options(CacheMode::ReadWrite, 60000));
      for (uint32_t round = 0; round < 4; ++round)
        for (uint32_t i = 0; i < kKeys; ++i) {
          Bytes key = bytesOf("key" + std::to_string(i));
          if (auto value = cache.find(key)) {
            if (*value != valueFor(i, 3000))
              _exit(1);
          } else {
            cache.store(key, valueFor(i, 3000), "race");
          }
        }
      _exit(cache.info().problem.empty() ? 0 : 2);
    }
    children.push_back(child);
  }
  for (pid_t child : children) {
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  DiskCache cache(options());
  EXPECT_LE(cache.info().bytes, 60000 + 3200);
  for (const auto &e : cache.list())
    EXPECT_EQ(e.label, "race");
}

TEST_F(DiskCacheTest, KilledWritersLeaveNoBadEntry) {
  for (int round = 0; round < 40; ++round) {
    pid_t child = fork();
    if (child == 0) {
      DiskCache cache(options());
      for (uint32_t i = 0;; ++i)
        cache.store(bytesOf("key" + std::to_string(i % 5)), valueFor(i % 5, 50000), "killed");
    }
    usleep(static_cast<useconds_t>(500 + round * 137));
    kill(child, SIGKILL);
    waitpid(child, nullptr, 0);
    int64_t defects = counterValue(Counter::DiskDefects);
    DiskCache cache(options());
    for (uint32_t i = 0; i < 5; ++i)
      if (auto value = cache.find(bytesOf("key" + std::to_string(i))))
        ASSERT_EQ(*value, valueFor(i, 50000));
    ASSERT_EQ(counterValue(Counter::DiskDefects), defects);
  }
}

TEST(MemoryCache, KeepsTheMostRecentlyUsed) {
  MemoryCache<int> cache(2);
  Digest a{1, 1}, b{2, 2}, c{3, 3};
  cache.insert(a, std::make_shared<int>(1));
  cache.insert(b, std::make_shared<int>(2));
  EXPECT_EQ(*cache.find(a), 1);
  cache.insert(c, std::make_shared<int>(3));
  EXPECT_EQ(cache.find(b), nullptr);
  EXPECT_EQ(*cache.find(a), 1);
  cache.insert(a, std::make_shared<int>(4));
  EXPECT_EQ(*cache.find(a), 4);
  EXPECT_EQ(cache.size(), 2u);
  cache.clear();
  EXPECT_EQ(cache.size(), 0u);
  EXPECT_EQ(cache.find(a), nullptr);
}

} // namespace
