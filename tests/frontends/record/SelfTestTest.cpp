//===- SelfTestTest.cpp - Devices that failed their self-test are not used --------------------===//
#include "frontends/record/SelfTest.h"
#include "compiler/api/Loader.h"
#include "frontends/record/Record.h"
#include "frontends/record/Session.h"
#include "runtime/drivers/Drivers.h"
#include "runtime/exec/SelfTest.h"

#include <cstdlib>
#include <filesystem>
#include <gtest/gtest.h>

using namespace graphc;

namespace {

class SelfTest : public ::testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/graphc-self-test-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder = name;
    setenv("GRAPHC_CACHE_DIR", name, 1); // read when the cache is opened, by this test first
    auto found = rt::findDevice("opencl");
    if (!found)
      GTEST_SKIP() << found.status().message();
    device = *found;
  }
  void TearDown() override { std::filesystem::remove_all(folder); }

  std::filesystem::path folder;
  rt::Device *device = nullptr;
};

TEST_F(SelfTest, WhatFailedIsRemembered) {
  std::string_view id = compilerBuildId();
  std::string form(device->codeForm());
  ASSERT_FALSE(form.empty());
  EXPECT_EQ(rt::selfTestVerdict(*device, form, id), std::nullopt);
  rt::rememberSelfTest(*device, form, id, "");
  EXPECT_EQ(rt::selfTestVerdict(*device, form, id), "");
  EXPECT_EQ(rt::selfTestVerdict(*device, "another", id), std::nullopt);
  EXPECT_EQ(rt::selfTestVerdict(*device, form, "another"), std::nullopt);

  // Every form was found wrong: what there is of the device is an error, and its other forms too.
  for (const char *every : {"c", "spirv", "ptx"})
    rt::rememberSelfTest(*device, every, id, "a sum gave 3 instead of 4");
  auto one = node::scalar(op::Scalar::ofFloat(1), DType::Float32, *device);
  ASSERT_TRUE(one.isOk());
  auto x = node::broadcast(*one, Shape{5});
  ASSERT_TRUE(x.isOk());
  Status status = evaluate({&*x, 1}, "eval");
  EXPECT_EQ(status.code(), ErrorCode::Unsupported);
  EXPECT_NE(status.message().find("a sum gave 3 instead of 4"), std::string::npos)
      << status.message();
  EXPECT_NE(status.message().find("GRAPHC_SELF_TEST"), std::string::npos);
  setenv("GRAPHC_SELF_TEST", "off", 1);
  EXPECT_TRUE(selfTest(*device, /*fast=*/true).isOk());
}

} // namespace
