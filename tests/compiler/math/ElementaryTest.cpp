// Accuracy of the functions of one argument: f32 against double, f64 against long double.
#include "compiler/math/Math.h"
#include "tests/compiler/math/Accuracy.h"
#include "tests/compiler/math/ScalarBuilder.h"

#include <gtest/gtest.h>

#include <array>
#include <thread>
#include <vector>

using namespace graphc::math::test;
namespace m = graphc::math;

namespace {

constexpr int kBlock = 1024;

/// The functions over whole blocks, so that the compiler vectorizes them; a builder without f64
/// would not compile the f32 ones if they used it.
struct NoFloat64 : ScalarBuilder<Branch::kBoth> {
  double f64(double) = delete;
  double extf(float) = delete;
};
template <class T>
using BuilderOf = std::conditional_t<sizeof(T) == 4, NoFloat64, ScalarBuilder<Branch::kBoth>>;

template <class T>
using Block = void (*)(const T *, T *);

#define GRAPHC_BLOCK(name)                                                                         \
  template <class T>                                                                               \
  [[gnu::noinline]] void name##Block(const T *x, T *y) {                                           \
    for (int i = 0; i < kBlock; ++i) {                                                             \
      BuilderOf<T> b;                                                                              \
      y[i] = m::name<sizeof(T) * 8>(b, x[i]);                                                      \
    }                                                                                              \
  }
GRAPHC_BLOCK(exp)
GRAPHC_BLOCK(expm1)
GRAPHC_BLOCK(log)
GRAPHC_BLOCK(log1p)
GRAPHC_BLOCK(sin)
GRAPHC_BLOCK(cos)
GRAPHC_BLOCK(tanh)
#undef GRAPHC_BLOCK

struct Case {
  const char *name;
  Block<float> block32;
  Block<double> block64;
  double (*reference32)(double);
  long double (*reference64)(long double);
  double lo, hi; ///< where f64 arguments are drawn uniformly; elsewhere random bits
};

const std::array kCases{
    Case{"exp", expBlock<float>, expBlock<double>, std::exp, std::exp, -750, 712},
    Case{"expm1", expm1Block<float>, expm1Block<double>, std::expm1, std::expm1, -3, 3},
    Case{"log", logBlock<float>, logBlock<double>, std::log, std::log, 0, 4},
    Case{"log1p", log1pBlock<float>, log1pBlock<double>, std::log1p, std::log1p, -1, 3},
    Case{"sin", sinBlock<float>, sinBlock<double>, std::sin, std::sin, -1000, 1000},
    Case{"cos", cosBlock<float>, cosBlock<double>, std::cos, std::cos, -1000, 1000},
    Case{"tanh", tanhBlock<float>, tanhBlock<double>, std::tanh, std::tanh, -3, 3},
};

/// Bit patterns first, first + step, ... below 2^32, and the last block's padding counted once
/// more.
Worst<float> sweep(const Case &c, uint64_t first, uint64_t last, uint64_t step) {
  Worst<float> worst;
  std::array<float, kBlock> x, y;
  for (uint64_t bits = first; bits < last;) {
    for (float &v : x) {
      v = std::bit_cast<float>(static_cast<uint32_t>(std::min(bits, last - 1)));
      bits += step;
    }
    c.block32(x.data(), y.data());
    for (int i = 0; i < kBlock; ++i)
      worst.add(errorInUlp(y[i], c.reference32(x[i])), x[i]);
  }
  return worst;
}

class Elementary : public testing::TestWithParam<Case> {};

TEST_P(Elementary, F32) {
  const Case &c = GetParam();
  uint64_t end = uint64_t{1} << 32, step = exhaustive() ? 1 : 1021;
  Worst<float> halves[2];
  std::thread upper([&] { halves[1] = sweep(c, end / 2, end, step); });
  halves[0] = sweep(c, 0, end / 2, step);
  upper.join();
  halves[0].merge(halves[1]);
  halves[0].print(c.name, exhaustive() ? "every float" : "every 1021st float");
  EXPECT_LE(halves[0].ulp, 1.0) << "at " << halves[0].x;
}

TEST_P(Elementary, F64) {
  const Case &c = GetParam();
  std::mt19937_64 random(7);
  std::array<double, kBlock> x, y;
  auto run = [&](const char *range, auto draw) {
    Worst<double> worst;
    for (int block = 0; block < (exhaustive() ? 1 << 15 : 1 << 8); ++block) {
      for (double &v : x)
        v = draw();
      c.block64(x.data(), y.data());
      for (int i = 0; i < kBlock; ++i)
        worst.add(errorInUlp(y[i], c.reference64(x[i])), x[i]);
    }
    worst.print(c.name, range);
    EXPECT_LE(worst.ulp, 1.0) << "at " << worst.x;
  };
  char range[48];
  std::snprintf(range, sizeof range, "[%g, %g]", c.lo, c.hi);
  run(range, [&] { return uniform(random, c.lo, c.hi); });
  run("random bits", [&] { return randomBits64(random); });
}

INSTANTIATE_TEST_SUITE_P(Functions, Elementary, testing::ValuesIn(kCases),
                         [](const auto &info) { return std::string(info.param.name); });

/// Signs of zero, infinities, NaN and the smallest numbers.
template <class T>
void checkSpecialValues() {
  constexpr unsigned W = sizeof(T) * 8;
  ScalarBuilder<> b;
  T inf = std::numeric_limits<T>::infinity(), nan = std::numeric_limits<T>::quiet_NaN();
  T tiny = std::numeric_limits<T>::denorm_min(), zero = 0;
  auto expect = [](const char *what, T got, T want) {
    EXPECT_TRUE(sameValue(got, want)) << what << ": " << got << " instead of " << want;
  };
  expect("exp(-inf)", m::exp<W>(b, -inf), zero);
  expect("exp(inf)", m::exp<W>(b, inf), inf);
  expect("exp(-0)", m::exp<W>(b, -zero), T(1));
  expect("expm1(-inf)", m::expm1<W>(b, -inf), T(-1));
  expect("expm1(inf)", m::expm1<W>(b, inf), inf);
  expect("log(0)", m::log<W>(b, zero), -inf);
  expect("log(-0)", m::log<W>(b, -zero), -inf);
  expect("log(-1)", m::log<W>(b, T(-1)), nan);
  expect("log(-inf)", m::log<W>(b, -inf), nan);
  expect("log(inf)", m::log<W>(b, inf), inf);
  expect("log(1)", m::log<W>(b, T(1)), zero);
  expect("log1p(-1)", m::log1p<W>(b, T(-1)), -inf);
  expect("log1p(-2)", m::log1p<W>(b, T(-2)), nan);
  expect("log1p(inf)", m::log1p<W>(b, inf), inf);
  expect("sin(inf)", m::sin<W>(b, inf), nan);
  expect("sin(-inf)", m::sin<W>(b, -inf), nan);
  expect("cos(inf)", m::cos<W>(b, inf), nan);
  expect("cos(-0)", m::cos<W>(b, -zero), T(1));
  expect("tanh(inf)", m::tanh<W>(b, inf), T(1));
  expect("tanh(-inf)", m::tanh<W>(b, -inf), T(-1));
  for (T x : {zero, -zero, tiny, -tiny}) {
    expect("expm1(x)", m::expm1<W>(b, x), x);
    expect("log1p(x)", m::log1p<W>(b, x), x);
    expect("sin(x)", m::sin<W>(b, x), x);
    expect("tanh(x)", m::tanh<W>(b, x), x);
  }
  for (T x : {nan, -nan})
    for (T y : {m::exp<W>(b, x), m::expm1<W>(b, x), m::log<W>(b, x), m::log1p<W>(b, x),
                m::sin<W>(b, x), m::cos<W>(b, x), m::tanh<W>(b, x)})
      EXPECT_NE(y, y);
}
TEST(Elementary, SpecialValues) {
  checkSpecialValues<float>();
  checkSpecialValues<double>();
}

/// The skipped branch, the scale hook and the fallback leave the same bits.
struct Scaling : ScalarBuilder<> {
  float scale(float x, int32_t n) { return std::ldexp(x, n); }
  double scale(double x, int64_t n) { return std::ldexp(x, static_cast<int>(n)); }
};
template <class T>
void checkBuilders(T x) {
  constexpr unsigned W = sizeof(T) * 8;
  ScalarBuilder<> taken;
  ScalarBuilder<Branch::kBoth> both;
  Scaling scaling;
  EXPECT_TRUE(sameValue(m::sin<W>(taken, x), m::sin<W>(both, x))) << x;
  EXPECT_TRUE(sameValue(m::cos<W>(taken, x), m::cos<W>(both, x))) << x;
  EXPECT_TRUE(sameValue(m::exp<W>(taken, x), m::exp<W>(scaling, x))) << x;
  EXPECT_TRUE(
      sameValue(m::pow<W>(taken, std::abs(x), T(1.37)), m::pow<W>(scaling, std::abs(x), T(1.37))))
      << x;
}
TEST(Elementary, BuildersAgree) {
  std::mt19937_64 random(11);
  for (int i = 0; i < 200000; ++i) {
    checkBuilders(std::bit_cast<float>(static_cast<uint32_t>(random())));
    checkBuilders(randomBits64(random));
    checkBuilders(uniform(random, -760, 720));
    checkBuilders(static_cast<float>(uniform(random, -110, 90)));
  }
}

/// Operations per function: what a vector of lanes costs when no slow path is taken.
TEST(Elementary, OperationCounts) {
  auto count = [](auto fn) {
    ScalarBuilder<Branch::kTaken, true> b;
    fn(b);
    return b.count;
  };
  auto row = [&](const char *name, int f32, int f64, int limit) {
    std::printf("operations %s: f32 %d, f64 %d\n", name, f32, f64);
    EXPECT_LE(f32, f64);
    EXPECT_LE(f64, limit);
  };
#define GRAPHC_COUNT(name, limit)                                                                  \
  row(#name, count([](auto &b) { m::name<32>(b, 1.5f); }),                                         \
      count([](auto &b) { m::name<64>(b, 1.5); }), limit)
  GRAPHC_COUNT(exp, 40);
  GRAPHC_COUNT(expm1, 50);
  GRAPHC_COUNT(log, 55);
  GRAPHC_COUNT(log1p, 65);
  GRAPHC_COUNT(sin, 65);
  GRAPHC_COUNT(cos, 65);
  GRAPHC_COUNT(tanh, 55);
#undef GRAPHC_COUNT
  row("pow", count([](auto &b) { m::pow<32>(b, 1.5f, 2.5f); }),
      count([](auto &b) { m::pow<64>(b, 1.5, 2.5); }), 145);
}

} // namespace
