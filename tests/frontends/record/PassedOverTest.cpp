//===- PassedOverTest.cpp - "gpu" is a device that passed its self-test -----------------------===//
#include "compiler/api/Loader.h"
#include "frontends/record/SelfTest.h"
#include "runtime/drivers/Choice.h"
#include "runtime/drivers/Drivers.h"
#include "runtime/exec/SelfTest.h"

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>

using namespace graphc;

namespace {

// The fake libcuda has two GPUs, cuda:0 and cuda:3, of different names.
TEST(PassedOver, TheNextGpuIsUsedAndTheReasonTold) {
  char folder[] = "/tmp/graphc-passed-over-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  setenv("GRAPHC_CACHE_DIR", folder, 1); // read when the cache is opened, by this test first
  auto bad = rt::findDevice("cuda:0"), good = rt::findDevice("cuda:3");
  ASSERT_TRUE(bad.isOk() && good.isOk());
  std::string_view id = compilerBuildId();
  rt::rememberSelfTest(**bad, "ptx", id, "a sum gave 3 instead of 4");
  rt::rememberSelfTest(**good, "ptx", id, "");

  auto gpu = findTested("gpu");
  ASSERT_TRUE(gpu.isOk()) << gpu.status().message();
  EXPECT_EQ(*gpu, *good);
  auto again = rt::findDevice("gpu"), named = findTested("cuda:0");
  EXPECT_TRUE(again.isOk() && *again == *good);
  EXPECT_TRUE(named.isOk() && *named == *bad);

  EXPECT_FALSE(rt::passOver(**bad, "a sum gave 3 instead of 4"));
  EXPECT_TRUE(rt::passOver(**good, "it is too loud"));
  Status none = findTested("gpu").takeStatus();
  EXPECT_EQ(none.code(), ErrorCode::Device);
  for (const char *part : {"cuda:0 is passed over", "a sum gave 3 instead of 4", "too loud"})
    EXPECT_NE(none.message().find(part), std::string::npos) << none.message();
  // No GPU is left: what "auto" has beside the cpu is none, whatever it is called.
  auto automatic = rt::findDevice("auto");
  ASSERT_TRUE(automatic.isOk());
  rt::Device *other = rt::choicesOf(**automatic)->other;
  EXPECT_TRUE(!other || other->info().cpuClass) << other->info().name;
  std::filesystem::remove_all(folder);
}

} // namespace
