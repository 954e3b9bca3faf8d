// float16 and bfloat16 between bits and float32, against the host's conversions.
#include "compiler/math/Narrow.h"
#include "runtime/base/NarrowFloat.h"
#include "tests/compiler/math/ScalarBuilder.h"

#include <gtest/gtest.h>

#include <random>

using namespace graphc::math::test;
using graphc::DType;
namespace m = graphc::math;

namespace {

template <m::Narrow Kind>
constexpr DType kType = Kind == m::Narrow::kHalf ? DType::Float16 : DType::BFloat16;

template <m::Narrow Kind>
void everyPattern() {
  ScalarBuilder<> b;
  for (int i = 0; i < 0x10000; ++i) {
    auto bits = static_cast<int16_t>(i);
    float value = m::widen<Kind>(b, bits);
    double want = graphc::narrowValue(static_cast<uint16_t>(bits), kType<Kind>);
    if (std::isnan(want)) {
      EXPECT_TRUE(std::isnan(value)) << i;
      continue;
    }
    EXPECT_EQ(std::bit_cast<uint64_t>(static_cast<double>(value)), std::bit_cast<uint64_t>(want))
        << i;
    EXPECT_EQ(m::narrow<Kind>(b, value), bits);
  }
}

/// One float32 or float64, rounded; the middles of two neighbours included.
template <m::Narrow Kind>
void rounds(double x) {
  ScalarBuilder<> b;
  auto f = static_cast<float>(x);
  auto same = [](int16_t got, uint16_t want) {
    auto isNan = [](int bits) {
      return (bits & 0x7fff) > graphc::narrowFormat(kType<Kind>).infinity;
    };
    return static_cast<uint16_t>(got) == want || (isNan(want) && isNan(got));
  };
  EXPECT_TRUE(same(m::narrow<Kind>(b, f), graphc::narrowBits(f, kType<Kind>))) << f;
  EXPECT_TRUE(same(m::narrow<Kind>(b, m::truncateToOdd(b, x)), graphc::narrowBits(x, kType<Kind>)))
      << x;
}

template <m::Narrow Kind>
void manyValues() {
  std::mt19937_64 random(7);
  for (int i = 0; i < 0x7fff; ++i) {
    double low = graphc::narrowValue(static_cast<uint16_t>(i), kType<Kind>);
    double high = graphc::narrowValue(static_cast<uint16_t>(i + 1), kType<Kind>);
    double middle = (low + high) / 2;
    for (double x : {middle, std::nextafter(middle, 0.0), std::nextafter(middle, 1e300)})
      rounds<Kind>(random() % 2 ? x : -x);
  }
  for (int i = 0; i < 200000; ++i)
    rounds<Kind>(std::bit_cast<float>(static_cast<uint32_t>(random())));
  for (int i = 0; i < 200000; ++i)
    rounds<Kind>(std::bit_cast<double>(random()));
}

TEST(Narrow, EveryPattern) {
  everyPattern<m::Narrow::kHalf>();
  everyPattern<m::Narrow::kBFloat>();
}
TEST(Narrow, RoundsOnce) {
  manyValues<m::Narrow::kHalf>();
  manyValues<m::Narrow::kBFloat>();
}

} // namespace
