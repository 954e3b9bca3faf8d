//===- NpyTest.cpp - Arrays in NumPy's file format --------------------------------------------===//
#include "tools/graphc/Npy.h"

#include "runtime/base/Strings.h"
#include "tools/graphc/Compare.h"

#include <cstring>
#include <gtest/gtest.h>
#include <limits>

using namespace graphc;
using namespace graphc::cli;

namespace {

std::vector<uint8_t> file(std::string_view dict, size_t dataBytes, uint8_t version = 1) {
  std::vector<uint8_t> bytes = {0x93, 'N', 'U', 'M', 'P', 'Y', version, 0};
  for (size_t i = 0; i < (version == 1 ? 2u : 4u); ++i)
    bytes.push_back(static_cast<uint8_t>(dict.size() >> (8 * i)));
  bytes.insert(bytes.end(), dict.begin(), dict.end());
  bytes.resize(bytes.size() + dataBytes);
  return bytes;
}

std::string refusal(std::span<const uint8_t> bytes) {
  auto header = parseNpy(bytes, "x.npy");
  EXPECT_FALSE(header.isOk());
  return header.status().message();
}

TEST(Npy, RoundTrips) {
  for (int d = 0; d < kDTypeCount; ++d)
    for (Shape shape : {Shape{}, Shape{3}, Shape{2, 0, 5}, Shape{4, 5}}) {
      DType dtype = static_cast<DType>(d);
      std::vector<uint8_t> bytes = npyHeader(dtype, shape);
      EXPECT_EQ(bytes.size() % 64, 0u);
      size_t offset = bytes.size();
      bytes.resize(offset + static_cast<size_t>(*byteCount(shape, dtype)));
      auto header = parseNpy(bytes, "x.npy");
      ASSERT_TRUE(header.isOk()) << header.status().message();
      EXPECT_EQ(header->dtype, dtype);
      EXPECT_EQ(header->shape, shape);
      EXPECT_EQ(header->dataOffset, offset);
    }
}

TEST(Npy, ReadsWhatNumPyWrites) {
  for (uint8_t version : {1, 2, 3}) {
    auto bytes =
        file("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }   \n", 24, version);
    auto header = parseNpy(bytes, "x.npy");
    ASSERT_TRUE(header.isOk()) << header.status().message();
    EXPECT_EQ(header->shape, Shape({2, 3}));
  }
  // One-dimensional arrays are in both orders at once.
  EXPECT_TRUE(
      parseNpy(file("{'descr': '|b1', 'fortran_order': True, 'shape': (3,)}", 3), "x").isOk());
}

TEST(Npy, RefusesWhatItCannotRead) {
  EXPECT_EQ(refusal(std::vector<uint8_t>(100, 1)), "x.npy: error: not a .npy file");
  EXPECT_NE(
      refusal(file("{'descr': '>f4', 'fortran_order': False, 'shape': (1,)}", 4)).find("'>f4'"),
      std::string::npos);
  EXPECT_NE(
      refusal(file("{'descr': '<f4', 'fortran_order': True, 'shape': (1, 1)}", 4)).find("Fortran"),
      std::string::npos);
  EXPECT_NE(refusal(file("{'descr': '<f4', 'fortran_order': False, 'shape': (2,)}", 7))
                .find("needs more data"),
            std::string::npos);
  for (const char *dict :
       {"", "{", "{}", "{'descr': '<f4'}", "{'descr': [('a', '<f4')], 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1 2)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (4294967296, 4294967296)}"})
    EXPECT_NE(refusal(file(dict, 8)), "") << dict;
}

TEST(Npy, SurvivesEveryTruncationAndFlip) {
  auto bytes = file("{'descr': '<i8', 'fortran_order': False, 'shape': (2, 3), }\n", 48);
  for (size_t n = 0; n < bytes.size(); ++n)
    refusal(std::span(bytes).first(n));
  for (size_t i = 0; i < bytes.size(); ++i)
    for (int bit = 0; bit < 8; ++bit) {
      auto bad = bytes;
      bad[i] ^= static_cast<uint8_t>(1 << bit);
      if (auto header = parseNpy(bad, "x.npy"); header.isOk())
        EXPECT_LE(static_cast<size_t>(*byteCount(header->shape, header->dtype)),
                  bad.size() - header->dataOffset);
    }
}

template <typename T>
std::string compare(DType dtype, std::vector<T> got, std::vector<T> want, Tolerance t = {}) {
  int64_t shape[] = {static_cast<int64_t>(got.size())};
  return compareArrays(dtype, shape, reinterpret_cast<uint8_t *>(got.data()),
                       reinterpret_cast<uint8_t *>(want.data()), t);
}

TEST(Compare, FindsDifferences) {
  float nan = std::numeric_limits<float>::quiet_NaN(), inf = std::numeric_limits<float>::infinity();
  EXPECT_EQ(compare<float>(DType::Float32, {1, nan, inf}, {1, nan, inf}), "");
  EXPECT_EQ(compare<float>(DType::Float32, {1, 2}, {1, 2.5f}),
            "1 of 2 elements, first at [1]: 2 instead of 2.5");
  EXPECT_EQ(compare<float>(DType::Float32, {1, 2}, {1, 2.5f}, {0, 0.5}), "");
  EXPECT_NE(compare<float>(DType::Float32, {inf}, {-inf}, {1, 1}), "");
  EXPECT_NE(compare<float>(DType::Float32, {nan}, {1}, {1, 1}), "");
  EXPECT_EQ(compare<int64_t>(DType::Int64, {1, 2, 3}, {1, 0, 0}),
            "2 of 3 elements, first at [1]: 2 instead of 0");
  EXPECT_NE(compare<uint64_t>(DType::UInt64, {~0ull}, {~0ull - 1}), "");
  int8_t a[] = {1, 2, 3, 4, 5, 6}, b[] = {1, 2, 3, 4, 5, -6};
  int64_t shape[] = {2, 3};
  EXPECT_EQ(compareArrays(DType::Int8, shape, reinterpret_cast<uint8_t *>(a),
                          reinterpret_cast<uint8_t *>(b), {}),
            "1 of 6 elements, first at [1, 2]: 6 instead of -6");
}

TEST(Compare, Sums) {
  int64_t values[] = {std::numeric_limits<int64_t>::max(), 1, -5};
  int64_t shape[] = {3};
  EXPECT_EQ(sumText(DType::Int64, shape, reinterpret_cast<uint8_t *>(values)),
            "9223372036854775803");
  double reals[] = {0.5, 0.25, 1};
  EXPECT_EQ(sumText(DType::Float64, shape, reinterpret_cast<uint8_t *>(reals)), "1.75");
}

} // namespace
