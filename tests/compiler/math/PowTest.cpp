// Float pow: special values as C99 says, accuracy, exact cases; integer pow.
#include "compiler/math/Math.h"
#include "tests/compiler/math/Accuracy.h"
#include "tests/compiler/math/ScalarBuilder.h"

#include <gtest/gtest.h>

using namespace graphc::math::test;
namespace m = graphc::math;

namespace {

float ours(float x, float y) {
  BuilderOf<float> b;
  return m::pow<32>(b, x, y);
}
double ours(double x, double y) {
  ScalarBuilder<> b;
  return m::pow<64>(b, x, y);
}
long double exactly(float x, float y) {
  return std::pow(static_cast<double>(x), static_cast<double>(y));
}
long double exactly(double x, double y) {
  return std::pow(static_cast<long double>(x), static_cast<long double>(y));
}

/// Every pair of 28 values: zeros, infinities, NaN, odd, even and fractional exponents, the ends of
/// the range.
template <class T>
void checkSpecialPairs() {
  using L = std::numeric_limits<T>;
  T odd = std::ldexp(T(1), L::digits - 1) + 1, even = std::ldexp(T(1), L::digits);
  const T values[] = {T(0.0),
                      T(-0.0),
                      T(1),
                      T(-1),
                      T(2),
                      T(-2),
                      T(3),
                      T(-3),
                      T(0.5),
                      T(-0.5),
                      T(1.5),
                      T(-2.5),
                      L::infinity(),
                      -L::infinity(),
                      L::quiet_NaN(),
                      L::max(),
                      -L::max(),
                      L::min(),
                      L::denorm_min(),
                      -L::denorm_min(),
                      odd,
                      -odd,
                      even,
                      -even,
                      T(7),
                      T(-7),
                      std::nextafter(T(1), T(2)),
                      std::nextafter(T(1), T(0))};
  for (T x : values)
    for (T y : values) {
      T got = ours(x, y), want = std::pow(x, y);
      bool special = want != want || std::isinf(want) || want == 0 || std::abs(x) == 1 || y == 0;
      EXPECT_TRUE(special ? sameValue(got, want) : errorInUlp(got, exactly(x, y)) <= 1.0)
          << x << " ** " << y << " is " << got << ", not " << want;
    }
}
TEST(Pow, SpecialPairs) {
  checkSpecialPairs<float>();
  checkSpecialPairs<double>();
}

/// Results that are floats are found exactly: the error before the last rounding is below a half
/// ulp.
template <class T>
void checkExact(int bits) {
  for (int x = -99; x <= 99; ++x)
    for (int n = 0; n <= 60; ++n) {
      long double want = 1;
      for (int i = 0; i < n; ++i)
        want *= x;
      if (std::abs(want) < std::ldexp(1.0L, bits))
        EXPECT_EQ(ours(T(x), T(n)), T(want)) << x << " ** " << n;
    }
  for (int n = std::numeric_limits<T>::min_exponent - bits;
       n < std::numeric_limits<T>::max_exponent; ++n)
    EXPECT_EQ(ours(T(2), T(n)), std::ldexp(T(1), n)) << n;
}
TEST(Pow, ExactResults) {
  checkExact<float>(24);
  checkExact<double>(53);
}

template <class T>
void checkAccuracy(int count) {
  std::mt19937_64 random(3);
  constexpr double top = std::numeric_limits<T>::max_exponent;
  auto unit = [&] { return uniform(random, -1, 1); };
  auto run = [&](const char *range, auto draw) {
    Worst<T> worst;
    for (int i = 0; i < count; ++i) {
      auto [x, y] = draw();
      worst.add(errorInUlp(ours(T(x), T(y)), exactly(T(x), T(y))), T(x), T(y));
    }
    worst.print("pow", range);
    EXPECT_LE(worst.ulp, 1.0) << worst.x << " ** " << worst.y;
  };
  // Exponents up to where the result leaves the range, a little beyond it too.
  auto reaching = [&](double x) {
    return std::pair{x, unit() * top * 1.1 / std::max(1e-12, std::abs(std::log2(std::abs(x))))};
  };
  run("any base, any result", [&] {
    T x = std::abs(std::bit_cast<T>(static_cast<BitsOf<T>>(random())));
    return std::isfinite(x) && x > 0 ? reaching(x) : std::pair{double(x), unit()};
  });
  run("base near 1",
      [&] { return reaching(1 + std::ldexp(unit(), -1 - static_cast<int>(random() % 20))); });
  run("base (0, 100), |y| < 20", [&] { return std::pair{uniform(random, 0, 100), 20 * unit()}; });
}
TEST(Pow, Accuracy) {
  checkAccuracy<float>(exhaustive() ? 1 << 28 : 1 << 20);
  checkAccuracy<double>(exhaustive() ? 1 << 25 : 1 << 18);
}

/// Square and multiply in 64 bits, truncated: what wrapping means.
template <unsigned W, bool Signed>
void checkInteger() {
  using T = IntOf<W>;
  using Wide = std::conditional_t<Signed, T, std::make_unsigned_t<T>>;
  ScalarBuilder<> b;
  std::mt19937_64 random(5);
  for (int i = 0; i < 20000; ++i) {
    T x = static_cast<T>(i < 4000 ? i % 20 - 10 : random()),
      n = static_cast<T>(i < 4000 ? i / 20 - 100 : random() % 200);
    uint64_t want = 1;
    if (Signed && n < 0) {
      want = x == 1 ? 1 : x == -1 ? (n % 2 ? -1 : 1) : 0;
    } else {
      uint64_t base = static_cast<uint64_t>(x);
      for (auto e = static_cast<uint64_t>(static_cast<Wide>(n)); e; e >>= 1, base *= base)
        want *= e & 1 ? base : 1;
    }
    EXPECT_EQ((m::powInt<W, Signed>(b, x, n)), static_cast<T>(want)) << +x << " ** " << +n;
  }
}
TEST(Pow, Integers) {
  checkInteger<8, true>();
  checkInteger<8, false>();
  checkInteger<16, true>();
  checkInteger<16, false>();
  checkInteger<32, true>();
  checkInteger<32, false>();
  checkInteger<64, true>();
  checkInteger<64, false>();
}

} // namespace
