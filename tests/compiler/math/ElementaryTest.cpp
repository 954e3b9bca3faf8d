// Accuracy of the functions of one argument: f32 against double, f64 against long double.
#include "compiler/math/Math.h"
#include "tests/compiler/math/Accuracy.h"
#include "tests/compiler/math/ScalarBuilder.h"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <thread>
#include <vector>

using namespace graphc::math::test;
namespace m = graphc::math;

namespace {

constexpr int kBlock = 1024;

/// The functions over whole blocks, so that the compiler vectorizes them.
template <class T>
using Block = void (*)(const T *, T *);

#define GRAPHC_BLOCK(name)                                                                         \
  template <class T>                                                                               \
  [[gnu::noinline]] void name##Block(const T *x, T *y) {                                           \
    for (int i = 0; i < kBlock; ++i) {                                                             \
      BuilderOf<T, Branch::kBoth> b;                                                               \
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
GRAPHC_BLOCK(acos)
GRAPHC_BLOCK(acosh)
GRAPHC_BLOCK(asin)
GRAPHC_BLOCK(asinh)
GRAPHC_BLOCK(atan)
GRAPHC_BLOCK(atanh)
GRAPHC_BLOCK(cbrt)
GRAPHC_BLOCK(cosh)
GRAPHC_BLOCK(erf)
GRAPHC_BLOCK(erfc)
GRAPHC_BLOCK(exp2)
GRAPHC_BLOCK(log10)
GRAPHC_BLOCK(log2)
GRAPHC_BLOCK(rsqrt)
GRAPHC_BLOCK(sinh)
GRAPHC_BLOCK(tan)
#undef GRAPHC_BLOCK

double inverseRoot(double x) { return 1 / std::sqrt(x); }
long double inverseRoot(long double x) { return 1 / std::sqrt(x); }

struct Case {
  const char *name;
  Block<float> block32;
  Block<double> block64;
  double (*reference32)(double);
  long double (*reference64)(long double);
  double lo, hi; ///< where f64 arguments are drawn uniformly; elsewhere random bits
  double bound64 = 1.0;
};

const std::array kCases{
    Case{"exp", expBlock<float>, expBlock<double>, std::exp, std::exp, -750, 712},
    Case{"expm1", expm1Block<float>, expm1Block<double>, std::expm1, std::expm1, -3, 3},
    Case{"log", logBlock<float>, logBlock<double>, std::log, std::log, 0, 4},
    Case{"log1p", log1pBlock<float>, log1pBlock<double>, std::log1p, std::log1p, -1, 3},
    Case{"sin", sinBlock<float>, sinBlock<double>, std::sin, std::sin, -1000, 1000},
    Case{"cos", cosBlock<float>, cosBlock<double>, std::cos, std::cos, -1000, 1000},
    Case{"tanh", tanhBlock<float>, tanhBlock<double>, std::tanh, std::tanh, -3, 3},
    Case{"acos", acosBlock<float>, acosBlock<double>, std::acos, std::acos, -1, 1},
    Case{"acosh", acoshBlock<float>, acoshBlock<double>, std::acosh, std::acosh, 1, 20},
    Case{"asin", asinBlock<float>, asinBlock<double>, std::asin, std::asin, -1, 1},
    Case{"asinh", asinhBlock<float>, asinhBlock<double>, std::asinh, std::asinh, -20, 20},
    Case{"atan", atanBlock<float>, atanBlock<double>, std::atan, std::atan, -10, 10},
    Case{"atanh", atanhBlock<float>, atanhBlock<double>, std::atanh, std::atanh, -1, 1},
    Case{"cbrt", cbrtBlock<float>, cbrtBlock<double>, std::cbrt, std::cbrt, -100, 100},
    Case{"cosh", coshBlock<float>, coshBlock<double>, std::cosh, std::cosh, -20, 20},
    Case{"erf", erfBlock<float>, erfBlock<double>, std::erf, std::erf, -3, 3},
    Case{"erfc", erfcBlock<float>, erfcBlock<double>, std::erfc, std::erfc, -6, 27.5, 1.5},
    Case{"exp2", exp2Block<float>, exp2Block<double>, std::exp2, std::exp2, -1080, 1030},
    Case{"log10", log10Block<float>, log10Block<double>, std::log10, std::log10, 0, 20},
    Case{"log2", log2Block<float>, log2Block<double>, std::log2, std::log2, 0, 4},
    Case{"rsqrt", rsqrtBlock<float>, rsqrtBlock<double>, inverseRoot, inverseRoot, 0, 100},
    Case{"sinh", sinhBlock<float>, sinhBlock<double>, std::sinh, std::sinh, -20, 20},
    Case{"tan", tanBlock<float>, tanBlock<double>, std::tan, std::tan, -1000, 1000},
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
  uint64_t end = uint64_t{1} << 32, step = floatStep();
  Worst<float> halves[2];
  std::thread upper([&] { halves[1] = sweep(c, end / 2, end, step); });
  halves[0] = sweep(c, 0, end / 2, step);
  upper.join();
  halves[0].merge(halves[1]);
  std::string range = step == 1 ? "every float" : "every " + std::to_string(step) + "th float";
  halves[0].print(c.name, range.c_str());
  EXPECT_LE(halves[0].ulp, 1.0) << "at " << halves[0].x;
}

TEST_P(Elementary, F64) {
  const Case &c = GetParam();
  std::mt19937_64 random(7);
  std::array<double, kBlock> x, y;
  auto run = [&](const char *range, auto draw) {
    Worst<double> worst;
    for (int block = 0; block < (exhaustive() ? 1 << 16 : 1 << 8); ++block) {
      for (double &v : x)
        v = draw();
      c.block64(x.data(), y.data());
      for (int i = 0; i < kBlock; ++i)
        worst.add(errorInUlp(y[i], c.reference64(x[i])), x[i]);
    }
    worst.print(c.name, range);
    EXPECT_LE(worst.ulp, c.bound64) << "at " << worst.x;
  };
  char range[48];
  std::snprintf(range, sizeof range, "[%g, %g]", c.lo, c.hi);
  run(range, [&] { return uniform(random, c.lo, c.hi); });
  run("random bits", [&] { return randomBits64(random); });
}

/// Zeros, infinities, NaN, denormals, the ends of the range and every place where a function
/// changes its form, with neighbours.
template <class T>
std::vector<T> edges() {
  using L = std::numeric_limits<T>;
  std::vector<T> result = {L::infinity(), L::quiet_NaN()};
  const double places[] = {0.0,
                           1e-8,
                           0x1p-28,
                           0x1p-13,
                           0.25,
                           0.41421356,
                           0.5,
                           0.9,
                           1.0,
                           1.5,
                           2.0,
                           2.4142135,
                           3.0,
                           10.0,
                           10.1,
                           20.0,
                           27.3,
                           88.7,
                           89.5,
                           103.9,
                           127.0,
                           128.0,
                           149.0,
                           709.78,
                           710.5,
                           745.2,
                           1023.0,
                           1024.0,
                           1074.0,
                           0x1p30,
                           0x1p60,
                           1e30,
                           0x1p-126,
                           double(L::max()),
                           double(L::min()),
                           double(L::denorm_min())};
  for (double v : places) {
    T x = static_cast<T>(v);
    result.insert(result.end(),
                  {x, std::nextafter(x, T(0)), std::nextafter(x, L::infinity()), x / 2});
  }
  for (size_t i = 0, n = result.size(); i < n; ++i)
    result.push_back(-result[i]);
  return result;
}
template <class T, class Reference>
void checkEdges(const char *name, Block<T> block, Reference reference, double bound) {
  std::array<T, kBlock> x{}, y;
  std::vector<T> values = edges<T>();
  ASSERT_LE(values.size(), x.size());
  std::copy(values.begin(), values.end(), x.begin());
  block(x.data(), y.data());
  for (size_t i = 0; i < values.size(); ++i)
    EXPECT_LE(errorInUlp(y[i], reference(x[i])), bound)
        << name << "(" << x[i] << ") is " << y[i] << ", not " << reference(x[i]);
}
TEST_P(Elementary, Edges) {
  const Case &c = GetParam();
  checkEdges(c.name, c.block32, c.reference32, 1.0);
  checkEdges(c.name, c.block64, c.reference64, c.bound64);
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
  expect("erf(inf)", m::erf<W>(b, inf), T(1));
  expect("erf(-inf)", m::erf<W>(b, -inf), T(-1));
  for (T x : {zero, -zero, tiny, -tiny}) {
    expect("expm1(x)", m::expm1<W>(b, x), x);
    expect("log1p(x)", m::log1p<W>(b, x), x);
    expect("sin(x)", m::sin<W>(b, x), x);
    expect("tanh(x)", m::tanh<W>(b, x), x);
  }
  for (T x : {nan, -nan})
    for (T y : {m::exp<W>(b, x), m::expm1<W>(b, x), m::log<W>(b, x), m::log1p<W>(b, x),
                m::sin<W>(b, x), m::cos<W>(b, x), m::tanh<W>(b, x), m::erf<W>(b, x)})
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
struct Choosing : ScalarBuilder<> {
  static bool looksUp() { return false; }
};
template <class T>
void checkBuilders(T x) {
  constexpr unsigned W = sizeof(T) * 8;
  ScalarBuilder<> taken;
  ScalarBuilder<Branch::kBoth> both;
  Scaling scaling;
  Choosing choosing;
  EXPECT_TRUE(sameValue(m::tanh<W>(taken, x), m::tanh<W>(choosing, x))) << x;
  EXPECT_TRUE(sameValue(m::erf<W>(taken, x), m::erf<W>(choosing, x))) << x;
  EXPECT_TRUE(sameValue(m::sin<W>(taken, x), m::sin<W>(both, x))) << x;
  EXPECT_TRUE(sameValue(m::cos<W>(taken, x), m::cos<W>(both, x))) << x;
  EXPECT_TRUE(sameValue(m::tan<W>(taken, x), m::tan<W>(both, x))) << x;
  EXPECT_TRUE(sameValue(m::lgamma<W>(taken, x), m::lgamma<W>(both, x))) << x;
  EXPECT_TRUE(sameValue(m::exp<W>(taken, x), m::exp<W>(scaling, x))) << x;
  EXPECT_TRUE(sameValue(m::exp2<W>(taken, x), m::exp2<W>(scaling, x))) << x;
  EXPECT_TRUE(sameValue(m::erfc<W>(taken, x), m::erfc<W>(scaling, x))) << x;
  EXPECT_TRUE(sameValue(m::logAddExp<W>(taken, x, T(1)), m::logAddExp<W>(scaling, x, T(1)))) << x;
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
struct Skipping : ScalarBuilder<> {
  static bool skipsBranches() { return true; }
};

// Within the normal numbers the exponent is added, outside it the branch is taken: the same bits,
// on both sides of either border.
TEST(Elementary, ExpWhereBranchesAreSkipped) {
  ScalarBuilder<> plain;
  Skipping skipping;
  long differ = 0;
  auto compare = [&](float x) {
    differ += !sameValue(m::exp<32>(skipping, x), m::exp<32>(plain, x));
    differ += !sameValue(m::expOfSigned<32, true>(skipping, x), m::expOfSigned<32, true>(plain, x));
  };
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 1021)
    compare(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  for (float x = 85.0f; x < 105.0f; x = std::nextafter(x, HUGE_VALF)) {
    compare(x);
    compare(-x);
  }
  EXPECT_EQ(differ, 0);
}

// exp(-x), whose constants take the sign, has the bits of the exponential of the negated number.
TEST(Elementary, ExpOfNegatedNumbers) {
  ScalarBuilder<> b;
  auto differs = [&]<unsigned W, class T>(T x) {
    T here = m::expOfSigned<W, true>(b, x), there = m::exp<W>(b, -x);
    return std::memcmp(&here, &there, sizeof(T)) != 0 && !(std::isnan(here) && std::isnan(there));
  };
  long count = 0;
  for (uint64_t bits = 0; bits < uint64_t{1} << 32; bits += 1021)
    count += differs.operator()<32>(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  for (int64_t i = -4000000; i <= 4000000; ++i)
    count += differs.operator()<64>(static_cast<double>(i) * 0x1.8p-12);
  for (double x : {0.0, -0.0, 1e308, -1e308, HUGE_VAL, -HUGE_VAL, 0x1p-1074, std::nan("")})
    count += differs.operator()<64>(x);
  EXPECT_EQ(count, 0);
}

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
  GRAPHC_COUNT(acos, 45);
  GRAPHC_COUNT(acosh, 100);
  GRAPHC_COUNT(asin, 45);
  GRAPHC_COUNT(asinh, 100);
  GRAPHC_COUNT(atan, 60);
  GRAPHC_COUNT(atanh, 80);
  GRAPHC_COUNT(cbrt, 65);
  GRAPHC_COUNT(cosh, 60);
  GRAPHC_COUNT(erf, 120);
  GRAPHC_COUNT(erfc, 120);
  GRAPHC_COUNT(exp2, 30);
  GRAPHC_COUNT(log10, 62);
  GRAPHC_COUNT(log2, 60);
  GRAPHC_COUNT(rsqrt, 20);
  GRAPHC_COUNT(sinh, 65);
  GRAPHC_COUNT(tan, 75);
#undef GRAPHC_COUNT
  row("pow", count([](auto &b) { m::pow<32>(b, 1.5f, 2.5f); }),
      count([](auto &b) { m::pow<64>(b, 1.5, 2.5); }), 145);
}

} // namespace
