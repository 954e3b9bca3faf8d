// log gamma: accuracy by range, poles, zeros and reflection.
#include "compiler/math/Math.h"
#include "tests/compiler/math/Accuracy.h"
#include "tests/compiler/math/ScalarBuilder.h"

#include <gtest/gtest.h>

using namespace graphc::math::test;
namespace m = graphc::math;

namespace {

template <class T>
T ours(T x) {
  BuilderOf<T> b;
  return m::lgamma<sizeof(T) * 8>(b, x);
}

/// For negative x in ulp of the largest of 1, the result and log gamma(-x).
template <class T>
double error(T x) {
  Wide<T> exact = std::lgamma(static_cast<Wide<T>>(x));
  T got = ours(x);
  double own = errorInUlp(got, exact);
  if (own <= 0.5 || !(x < 0) || got != got || std::isinf(got) || std::isinf(exact))
    return own;
  Wide<T> size = std::max<Wide<T>>({1, std::abs(exact), std::lgamma(static_cast<Wide<T>>(-x))});
  T place = static_cast<T>(size);
  return static_cast<double>(std::abs(got - exact) /
                             (std::nextafter(place, std::numeric_limits<T>::infinity()) - place));
}

template <class T>
void checkRanges(double bound) {
  std::mt19937_64 random(9);
  auto run = [&](const char *range, auto draw) {
    Worst<T> worst;
    for (int i = 0; i < (exhaustive() ? 1 << 26 : 1 << 17); ++i) {
      T x = draw();
      worst.add(error(x), x);
    }
    worst.print("lgamma", range);
    EXPECT_LE(worst.ulp, bound) << worst.x;
  };
  run("(0, 3]", [&] { return static_cast<T>(uniform(random, 0, 3)); });
  run("[0.9, 1.1]", [&] { return static_cast<T>(uniform(random, 0.9, 1.1)); });
  run("[1.9, 2.1]", [&] { return static_cast<T>(uniform(random, 1.9, 2.1)); });
  run("[3, 20]", [&] { return static_cast<T>(uniform(random, 3, 20)); });
  run("positive, any",
      [&] { return std::abs(std::bit_cast<T>(static_cast<BitsOf<T>>(random()))); });
  run("[-20, 0]", [&] { return static_cast<T>(uniform(random, -20, 0)); });
}
TEST(LogGamma, F32) { checkRanges<float>(1.5); }
TEST(LogGamma, F64) { checkRanges<double>(1.5); }

template <class T>
void checkSpecial() {
  using L = std::numeric_limits<T>;
  for (T x :
       {T(0), T(-0.0), T(-1), T(-2), T(-1e6), L::infinity(), -L::infinity(), -L::max(), L::max()})
    EXPECT_EQ(ours(x), L::infinity()) << x;
  EXPECT_TRUE(sameValue(ours(T(1)), T(0)));
  EXPECT_TRUE(sameValue(ours(T(2)), T(0)));
  EXPECT_NE(ours(L::quiet_NaN()), ours(L::quiet_NaN()));
  for (T x : {L::min(), L::denorm_min(), -L::min(), -L::denorm_min(), T(0.5), T(1.5), T(2.5), T(8),
              T(1e-30), T(-1e-30), std::nextafter(T(1), T(0)), std::nextafter(T(2), T(3)),
              std::nextafter(T(8), T(0)), std::nextafter(T(-1), T(0)), T(1e30), T(-2.5)})
    EXPECT_LE(error(x), 1.0) << x;
}
TEST(LogGamma, SpecialValues) {
  checkSpecial<float>();
  checkSpecial<double>();
}

} // namespace
