// Philox against Random123's known answers, the layout of words, and the samplers against their
// distributions.
#include "compiler/math/Math.h"
#include "tests/compiler/math/ScalarBuilder.h"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <map>

using namespace graphc::math::test;
namespace m = graphc::math;

namespace {

using Words = std::array<uint32_t, 4>;

Words philox(Words counter, std::array<uint32_t, 2> key) {
  ScalarBuilder<> b;
  auto join = [](uint32_t low, uint32_t high) {
    return static_cast<int64_t>(uint64_t{high} << 32 | low);
  };
  auto words = m::philox(b, join(counter[0], counter[1]), join(counter[2], counter[3]),
                         m::philoxKeys(b, join(key[0], key[1])));
  Words out;
  for (size_t i = 0; i < 4; ++i)
    out[i] = static_cast<uint32_t>(words[i]);
  return out;
}

// Random123 1.14.0, tests/kat_vectors, philox4x32 10.
TEST(Philox, knownAnswers) {
  EXPECT_EQ(philox({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  uint32_t ones = 0xffffffff;
  EXPECT_EQ(philox({ones, ones, ones, ones}, {ones, ones}),
            (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

// docs/random.md: blocks of 8 counters; element i of 64 bits has counter 8 (i div 16) + i mod 8.
TEST(Philox, wordsOfAnElement) {
  ScalarBuilder<> b;
  int64_t stream = 5, key = 0x123456789abcdef;
  auto keys = m::philoxKeys(b, key);
  for (uint32_t i : {0u, 7u, 8u, 15u, 16u, 31u, 100u, 12345u}) {
    Words two = philox({8 * (i / 16) + i % 8, 0, 5, 0}, {0x89abcdef, 0x1234567});
    uint32_t pair = i / 8 % 2;
    auto bits = static_cast<uint64_t>(m::randomBits<2>(b, int64_t{i}, stream, keys));
    EXPECT_EQ(bits, uint64_t{two[2 * pair + 1]} << 32 | two[2 * pair]);
    Words four = philox({8 * (i / 32) + i % 8, 0, 5, 0}, {0x89abcdef, 0x1234567});
    auto word = static_cast<uint64_t>(m::randomBits<1>(b, int64_t{i}, stream, keys));
    EXPECT_EQ(word, four[i / 8 % 4]);
  }
}

TEST(Philox, openUnitNeverReachesItsEnds) {
  ScalarBuilder<> b;
  EXPECT_EQ(m::openUnit(b, int64_t{0}), 0x1p-53);
  EXPECT_EQ(m::openUnit(b, int64_t{-1}), 1 - 0x1p-53);
}

/// Mean and variance of draws, each within 5 standard errors (`kurtosis` bounds the fourth moment).
template <class Draw>
void checkMoments(double mean, double variance, double kurtosis, Draw draw) {
  constexpr int64_t kCount = 50000;
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < kCount; ++i) {
    double x = draw(i) - mean;
    sum += x;
    squares += x * x;
  }
  EXPECT_LT(std::abs(sum / kCount), 5 * std::sqrt(variance / kCount));
  EXPECT_LT(std::abs(squares / kCount - variance), 5 * variance * std::sqrt(kurtosis / kCount));
}

TEST(Samplers, gamma) {
  ScalarBuilder<> b;
  for (double shape : {1.0, 1.5, 4.0, 100.0, 1e6})
    checkMoments(shape, shape, 3 + 6 / shape,
                 [&](int64_t i) { return m::randomGamma(b, i, int64_t{1}, int64_t{2}, shape); });
  EXPECT_TRUE(std::isnan(m::randomGamma(b, int64_t{0}, int64_t{0}, int64_t{0}, 0.5)));
  EXPECT_TRUE(std::isinf(m::randomGamma(b, int64_t{0}, int64_t{0}, int64_t{0}, double{INFINITY})));
}

TEST(Samplers, poisson) {
  ScalarBuilder<> b;
  for (double mean : {0.01, 1.0, 9.9, 10.0, 30.0, 1e5})
    checkMoments(mean, mean, 3 + 1 / mean,
                 [&](int64_t i) { return m::randomPoisson(b, i, int64_t{1}, int64_t{2}, mean); });
  EXPECT_EQ(m::randomPoisson(b, int64_t{3}, int64_t{0}, int64_t{0}, 0.0), 0.0);
  EXPECT_TRUE(std::isnan(m::randomPoisson(b, int64_t{0}, int64_t{0}, int64_t{0}, -1.0)));
}

TEST(Samplers, binomial) {
  ScalarBuilder<> b;
  struct {
    double n, p;
  } cases[] = {{1, 0.3}, {10, 0.5}, {100, 0.05}, {100, 0.5}, {40, 0.9}, {1e6, 0.3}, {25, 0.999}};
  for (auto [n, p] : cases)
    checkMoments(n * p, n * p * (1 - p), 4 + 1 / (n * p * (1 - p)), [&, n = n, p = p](int64_t i) {
      double k = m::randomBinomial(b, i, int64_t{1}, int64_t{2}, n, p);
      EXPECT_TRUE(k >= 0 && k <= n && k == std::floor(k));
      return k;
    });
  EXPECT_EQ(m::randomBinomial(b, int64_t{3}, int64_t{0}, int64_t{0}, 7.0, 1.0), 7.0);
  EXPECT_EQ(m::randomBinomial(b, int64_t{3}, int64_t{0}, int64_t{0}, 0.0, 0.5), 0.0);
  EXPECT_TRUE(std::isnan(m::randomBinomial(b, int64_t{0}, int64_t{0}, int64_t{0}, 5.0, 1.5)));
}

TEST(Samplers, vonMises) {
  ScalarBuilder<> b;
  // E cos = I1(kappa) / I0(kappa), by its continued fraction.
  for (double kappa : {1e-6, 0.5, 4.0, 1e3, 1e8}) {
    double ratio = 0;
    for (int n = 3000; n >= 1; --n)
      ratio = 1 / (2 * n / kappa + ratio);
    if (kappa > 1e6)
      ratio = 1 - 0.5 / kappa;
    double variance = kappa > 1e6 ? 0.5 / kappa / kappa : 1 - ratio / kappa - ratio * ratio;
    constexpr int64_t kCount = 50000;
    double cosines = 0, sines = 0;
    for (int64_t i = 0; i < kCount; ++i) {
      double x = m::randomVonMises(b, i, int64_t{1}, int64_t{2}, kappa);
      EXPECT_LE(std::abs(x), 3.1415926535897936);
      cosines += std::cos(x) - ratio;
      sines += std::sin(x);
    }
    EXPECT_LT(std::abs(cosines / kCount), 5 * std::sqrt(variance / kCount) + 1e-12) << kappa;
    EXPECT_LT(std::abs(sines / kCount), 5 * std::sqrt(ratio / kappa / kCount)) << kappa;
  }
}

} // namespace
