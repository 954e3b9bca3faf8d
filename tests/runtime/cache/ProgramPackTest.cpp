//===- ProgramPackTest.cpp - A whole file, damaged ones, other makers -------------------------===//
#include "runtime/cache/ProgramPack.h"

#include <cstdio>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <unistd.h>

using namespace graphc;
using namespace graphc::rt;

namespace {

using Bytes = std::vector<uint8_t>;

class ProgramPackTest : public ::testing::Test {
protected:
  void SetUp() override {
    char name[] = "/tmp/graphc-test-XXXXXX";
    int file = mkstemp(name);
    ASSERT_GE(file, 0);
    close(file);
    path = name;
  }
  void TearDown() override { std::remove(path.c_str()); }

  static ProgramPack::Values some() {
    ProgramPack::Values values;
    for (size_t i = 0; i < 7; ++i)
      values[digestOf("key " + std::to_string(i))] = Bytes(i * 5, static_cast<uint8_t>(i + 1));
    return values;
  }
  Bytes contents() {
    std::ifstream in(path, std::ios::binary);
    return Bytes(std::istreambuf_iterator<char>(in), {});
  }
  void replace(const Bytes &bytes) {
    FILE *f = std::fopen(path.c_str(), "wb");
    ASSERT_NE(f, nullptr);
    ASSERT_EQ(std::fwrite(bytes.data(), 1, bytes.size(), f), bytes.size());
    ASSERT_EQ(std::fclose(f), 0);
  }

  std::string path;
};

TEST_F(ProgramPackTest, FindsWhatWasWritten) {
  const auto values = some();
  ASSERT_TRUE(ProgramPack::write(path, "me", values));
  ProgramPack pack;
  pack.open(path, "me");
  EXPECT_EQ(pack.size(), values.size());
  for (const auto &[key, value] : values)
    EXPECT_EQ(pack.find(key), value);
  EXPECT_FALSE(pack.find(digestOf("key 7")));
}

TEST_F(ProgramPackTest, IsEmptyForOthersAndWithoutAFile) {
  ASSERT_TRUE(ProgramPack::write(path, "me", some()));
  ProgramPack of, without;
  of.open(path, "you");
  without.open(path + "-", "me");
  EXPECT_EQ(of.size() + without.size(), 0u);
  EXPECT_FALSE(of.find(digestOf("key 1")));
}

TEST_F(ProgramPackTest, DamageIsAMiss) {
  const auto values = some();
  ASSERT_TRUE(ProgramPack::write(path, "me", values));
  const Bytes whole = contents();
  auto expectNoneWrong = [&](const Bytes &bytes) {
    replace(bytes);
    ProgramPack pack;
    pack.open(path, "me");
    size_t found = 0;
    for (const auto &[key, value] : values)
      if (auto seen = pack.find(key)) {
        EXPECT_EQ(*seen, value);
        ++found;
      }
    EXPECT_LT(found, values.size());
  };
  for (size_t i = 0; i < whole.size(); ++i) {
    Bytes bytes = whole;
    bytes[i] ^= 0x11;
    expectNoneWrong(bytes);
  }
  for (size_t size = 0; size < whole.size(); size += 3)
    expectNoneWrong(Bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size)));
}

TEST_F(ProgramPackTest, SaysWhereItCannotBeWritten) {
  const std::string below = path + "/pack"; // of a file, which is no folder
  Status status = ProgramPack::write(below, "me", some());
  ASSERT_FALSE(status);
  EXPECT_NE(status.message().find(below), std::string::npos);
}

} // namespace
