//===- BaseTest.cpp - Shapes, digests, strings, settings, events ------------------------------===//
#include "runtime/base/CacheFolder.h"
#include "runtime/base/Digest.h"
#include "runtime/base/Fork.h"
#include "runtime/base/Setting.h"
#include "runtime/base/Shape.h"
#include "runtime/base/Strings.h"
#include "runtime/base/Trace.h"

#include <cstdlib>
#include <gtest/gtest.h>
#include <limits>
#include <sys/stat.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

using namespace graphc;

namespace {

constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
constexpr int64_t kMin = std::numeric_limits<int64_t>::min();

Setting testNumber{"GRAPHC_TEST_NUMBER", "a setting of this test", "none"};

TEST(Shape, CopiesAndMoves) {
  Shape small{1, 2, 3};
  std::vector<int64_t> many(20);
  for (size_t i = 0; i < many.size(); ++i)
    many[i] = static_cast<int64_t>(i);
  Shape large{std::span<const int64_t>(many)};
  Shape copy = large;
  EXPECT_EQ(copy, large);
  copy[3] = 100;
  EXPECT_NE(copy, large);
  copy = small;
  EXPECT_EQ(copy, small);
  Shape moved = std::move(large);
  EXPECT_EQ(moved.rank(), 20);
  EXPECT_EQ(moved[19], 19);
  small = moved;
  EXPECT_EQ(small, moved);
  EXPECT_NE(Shape({1, 2}), Shape({1, 2, 3}));
}

TEST(Shape, CountsWithoutOverflow) {
  EXPECT_EQ(elementCount(Shape{}), 1);
  EXPECT_EQ(elementCount(Shape{3, 0, 5}), 0);
  EXPECT_EQ(elementCount(Shape{3, -1}), std::nullopt);
  EXPECT_EQ(elementCount(Shape{kMax, 1}), kMax);
  EXPECT_EQ(elementCount(Shape{kMax, 2}), std::nullopt);
  EXPECT_EQ(elementCount(Shape{0, kMax, kMax}), std::nullopt);
  EXPECT_EQ(byteCount(Shape{int64_t{1} << 60}, DType::Float64), std::nullopt);
  EXPECT_EQ(byteCount(Shape{int64_t{1} << 59}, DType::Float64), int64_t{1} << 62);
  EXPECT_EQ(shapeText(Shape{}), "()");
  EXPECT_EQ(shapeText(Shape{3}), "(3,)");
  EXPECT_EQ(shapeText(Shape{3, 4}), "(3, 4)");
}

TEST(Shape, DividesLikeMathematics) {
  EXPECT_EQ(checkedFloorDiv(-7, 2), -4);
  EXPECT_EQ(checkedCeilDiv(-7, 2), -3);
  EXPECT_EQ(checkedFloorDiv(7, -2), -4);
  EXPECT_EQ(checkedCeilDiv(7, 2), 4);
  EXPECT_EQ(checkedFloorDiv(kMin, -1), std::nullopt);
  EXPECT_EQ(checkedCeilDiv(1, 0), std::nullopt);
  EXPECT_EQ(checkedAdd(kMax, 1), std::nullopt);
  EXPECT_EQ(checkedSub(kMin, 1), std::nullopt);
  EXPECT_EQ(checkedMul(kMin, -1), std::nullopt);
}

TEST(Digest, StreamEqualsWhole) {
  std::string text(5000, 'a');
  for (size_t i = 0; i < text.size(); ++i)
    text[i] = static_cast<char>(i * 31);
  DigestStream stream;
  stream.update(text.data(), 1);
  stream.update(text.data() + 1, 998);
  stream.update(text.data() + 999, text.size() - 999);
  EXPECT_EQ(stream.finish(), digestOf(text));
  // XXH3-128 of nothing, as its specification prints it.
  EXPECT_EQ(digestOf(std::string_view()).hex(), "99aa06d3014798d86001c324468d497f");
}

TEST(Strings, SplitQuoteAndDistance) {
  using namespace strings;
  EXPECT_EQ(split(" a, b ,,c", ','), (std::vector<std::string_view>{"a", "b", "c"}));
  EXPECT_TRUE(listContains("avx2,fma", "fma"));
  EXPECT_FALSE(listContains("avx2,fma", "avx"));
  EXPECT_EQ(editDistance("kitten", "sitting"), 3u);
  EXPECT_EQ(jsonQuote("a\"b\\\n\x01\xff\xc3\xa9"), "\"a\\\"b\\\\\\n\\u0001\\ufffd\xc3\xa9\"");
  EXPECT_EQ(bytesText(1536), "1.5 KiB");
  int64_t bytes = 0;
  EXPECT_TRUE(parseBytes("1.5 GiB", bytes));
  EXPECT_EQ(bytes, int64_t{3} << 29);
  EXPECT_TRUE(parseBytes("4096", bytes));
  EXPECT_EQ(bytes, 4096);
  EXPECT_TRUE(parseBytes("2k", bytes));
  EXPECT_EQ(bytes, 2048);
  for (const char *bad : {"", "x", "-1", "1 zebra", "1e30", "nan"})
    EXPECT_FALSE(parseBytes(bad, bytes)) << bad;
}

TEST(Setting, ReadsTheEnvironmentAndOverrides) {
  unsetenv("GRAPHC_TEST_NUMBER");
  EXPECT_EQ(testNumber.get(), std::nullopt);
  setenv("GRAPHC_TEST_NUMBER", "12", 1);
  EXPECT_EQ(**testNumber.integer(0, 100), 12);
  auto outside = testNumber.integer(0, 10);
  ASSERT_FALSE(outside.isOk());
  EXPECT_EQ(outside.status().message(),
            "[setting] GRAPHC_TEST_NUMBER must be an integer from 0 to 10, not '12'");
  EXPECT_FALSE(testNumber.boolean().isOk());
  testNumber.override("1");
  EXPECT_TRUE(testNumber.isOverridden());
  EXPECT_TRUE(**testNumber.boolean());
  testNumber.override(std::nullopt);
  EXPECT_EQ(testNumber.get(), "12");
  EXPECT_EQ(findSetting("GRAPHC_TEST_NUMBER"), &testNumber);
  EXPECT_EQ(findSetting("GRAPHC_NOTHING"), nullptr);
}

TEST(Setting, FindsMisspelledNames) {
  setenv("GRAPHC_TEST_NUMBR", "1", 1);
  setenv("GRAPHC_QQQQQQQQQQQQQQQQQQQQ", "1", 1);
  bool near = false, far = false;
  for (const UnknownSetting &s : unknownSettings()) {
    near |= s.name == "GRAPHC_TEST_NUMBR" && s.nearest == "GRAPHC_TEST_NUMBER";
    far |= s.name == "GRAPHC_QQQQQQQQQQQQQQQQQQQQ" && s.nearest.empty();
    EXPECT_NE(s.name, "GRAPHC_TEST_NUMBER");
  }
  EXPECT_TRUE(near);
  EXPECT_TRUE(far);
  unsetenv("GRAPHC_TEST_NUMBR");
  unsetenv("GRAPHC_QQQQQQQQQQQQQQQQQQQQ");
}

TEST(Trace, CountersAndEvents) {
  int64_t before = counterValue(Counter::Copies);
  count(Counter::Copies, 3);
  EXPECT_EQ(counterValue(Counter::Copies), before + 3);
  EXPECT_EQ(counterName(Counter::FlushExchange), "flush_exchange");
  std::vector<std::string> seen;
  setEventSink(
      [](void *context, const Event &e) {
        static_cast<std::vector<std::string> *>(context)->push_back(std::string(e.area) + ":" +
                                                                    std::string(e.text));
      },
      &seen);
  emitEvent(EventLevel::Warning, "cache", "hello");
  setEventSink(nullptr, nullptr);
  EXPECT_EQ(seen, std::vector<std::string>{"cache:hello"});
}

TEST(Fork, MutexesAreFreeInTheChild) {
  static ForkSafeMutex mutex;
  static ForkSafeLongMutex longMutex;
  static int written = 0, again = 0; // equal while nobody holds `longMutex`
  EXPECT_EQ(forkGeneration(), 0u);
  std::atomic<bool> stop{false};
  std::thread holder([&] {
    while (!stop) {
      std::lock_guard longLock(longMutex);
      ++written;
      usleep(50);
      std::lock_guard lock(mutex);
      usleep(50);
      ++again;
    }
  });
  for (int i = 0; i < 20; ++i) {
    pid_t child = fork();
    if (child == 0) {
      alarm(5);
      longMutex.lock();
      mutex.lock();
      _exit(forkGeneration() == 1 && written == again ? 0 : 1);
    }
    int status = 0;
    waitpid(child, &status, 0);
    EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << status;
  }
  stop = true;
  holder.join();
}

class CacheFolderTest : public ::testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/graphc-test-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    root = name;
  }
  void TearDown() override {
    unsetenv("GRAPHC_CACHE_DIR");
    ASSERT_EQ(std::system(("rm -rf " + root).c_str()), 0);
  }
  std::string root;
};

TEST_F(CacheFolderTest, ChoosesAndMakesFolders) {
  setenv("GRAPHC_CACHE_DIR", (root + "/a/b/").c_str(), 1);
  EXPECT_EQ(*cacheFolderPath(), root + "/a/b");
  auto folder = openCacheFolder("sub");
  ASSERT_TRUE(folder.isOk()) << folder.status().message();
  EXPECT_EQ(folder->path, root + "/a/b/sub");
  struct stat status;
  ASSERT_EQ(stat(folder->path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0700u);
  setenv("GRAPHC_CACHE_DIR", "relative", 1);
  EXPECT_FALSE(cacheFolderPath().isOk());
  unsetenv("GRAPHC_CACHE_DIR");
  std::string home = getenv("HOME") ? getenv("HOME") : "";
  std::string xdg = getenv("XDG_CACHE_HOME") ? getenv("XDG_CACHE_HOME") : "";
  setenv("XDG_CACHE_HOME", "/x", 1);
  EXPECT_EQ(*cacheFolderPath(), "/x/graphc");
  setenv("XDG_CACHE_HOME", "not/absolute", 1);
  setenv("HOME", "/h", 1);
  EXPECT_EQ(*cacheFolderPath(), "/h/.cache/graphc");
  unsetenv("HOME");
  EXPECT_FALSE(cacheFolderPath().isOk());
  setenv("HOME", home.c_str(), 1);
  setenv("XDG_CACHE_HOME", xdg.c_str(), 1);
}

TEST_F(CacheFolderTest, RefusesFoldersOthersCanChange) {
  auto refused = [&](const std::string &path, const char *why) {
    auto folder = openPrivateFolder(path);
    ASSERT_FALSE(folder.isOk());
    EXPECT_EQ(folder.status().code(), ErrorCode::Io);
    EXPECT_NE(folder.status().message().find(why), std::string::npos) << folder.status().message();
  };
  std::string open = root + "/open", inside = open + "/inside", link = root + "/link",
              file = root + "/file";
  ASSERT_EQ(mkdir(open.c_str(), 0700), 0);
  ASSERT_EQ(chmod(open.c_str(), 0777), 0);
  refused(open, "can be written by other users");
  refused(inside, "other users can change");
  ASSERT_EQ(chmod(open.c_str(), 01777), 0);
  EXPECT_TRUE(openPrivateFolder(inside).isOk());
  ASSERT_EQ(symlink(inside.c_str(), link.c_str()), 0);
  refused(link, "is a link");
  ASSERT_EQ(std::system(("touch " + file).c_str()), 0);
  refused(file, "is a link or not a folder");
  refused(file + "/below", "cannot be made");
  if (geteuid() == 0) {
    ASSERT_EQ(chown(inside.c_str(), 12345, 12345), 0);
    refused(inside, "belongs to another user");
  }
}

} // namespace
