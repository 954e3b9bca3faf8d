// Float functions of two arguments: every pair of special values, and accuracy.
#include "compiler/math/Math.h"
#include "tests/compiler/math/Accuracy.h"
#include "tests/compiler/math/ScalarBuilder.h"

#include <gtest/gtest.h>

#include <vector>

using namespace graphc::math::test;
namespace m = graphc::math;

namespace {

struct Atan2 {
  static constexpr const char *kName = "atan2";
  template <class T>
  static T ours(T y, T x) {
    BuilderOf<T> b;
    return m::atan2<sizeof(T) * 8>(b, y, x);
  }
  template <class F>
  static F exact(F y, F x) {
    return std::atan2(y, x);
  }
  /// What the last place is that of.
  template <class F>
  static F size(F, F, F result) {
    return result;
  }
};

struct Hypot : Atan2 {
  static constexpr const char *kName = "hypot";
  template <class T>
  static T ours(T x, T y) {
    BuilderOf<T> b;
    return m::hypot<sizeof(T) * 8>(b, x, y);
  }
  template <class F>
  static F exact(F x, F y) {
    return std::hypot(x, y);
  }
};

struct LogAddExp {
  static constexpr const char *kName = "logaddexp";
  template <class T>
  static T ours(T x, T y) {
    BuilderOf<T> b;
    return m::logAddExp<sizeof(T) * 8>(b, x, y);
  }
  template <class F>
  static F exact(F x, F y) {
    if (std::isnan(x) || std::isnan(y))
      return x + y;
    F larger = std::max(x, y);
    return std::isinf(larger) ? larger : larger + std::log1p(std::exp(std::min(x, y) - larger));
  }
  template <class F>
  static F size(F x, F y, F result) {
    return std::max({std::abs(x), std::abs(y), std::abs(result)});
  }
};

/// errorInUlp, with the last place of `size` where that is more.
template <class T>
double error(T got, long double exact, long double size) {
  double own = errorInUlp(got, exact);
  if (own <= 0.5 || got != got || exact != exact || std::isinf(got) || std::isinf(exact))
    return own;
  T place = static_cast<T>(std::abs(size));
  long double ulp = std::nextafter(place, std::numeric_limits<T>::infinity()) - place;
  return static_cast<double>(std::abs(got - exact) / std::max<long double>(ulp, 0));
}

template <class T>
std::vector<T> specials() {
  using L = std::numeric_limits<T>;
  std::vector<T> values = {0,
                           1,
                           T(1.5),
                           2,
                           3,
                           T(0.1),
                           T(1e-8),
                           T(1e8),
                           T(0.41421356),
                           L::max(),
                           L::min(),
                           L::denorm_min(),
                           L::infinity(),
                           L::min() / 8,
                           T(1e30),
                           T(1e-30),
                           L::max() / 4};
  for (size_t i = 0, n = values.size(); i < n; ++i)
    values.push_back(-values[i]);
  values.push_back(L::quiet_NaN());
  return values;
}

template <class Function, class T>
void check() {
  using W = Wide<T>;
  auto of = [](T x, T y) {
    W exact = Function::exact(W(x), W(y));
    return error(Function::ours(x, y), exact, Function::size(W(x), W(y), exact));
  };
  for (T x : specials<T>())
    for (T y : specials<T>())
      EXPECT_LE(of(x, y), 1.0) << Function::kName << "(" << x << ", " << y << ") is "
                               << Function::ours(x, y);
  std::mt19937_64 random(3);
  auto run = [&](const char *range, auto draw) {
    Worst<T> worst;
    for (int i = 0; i < (exhaustive() ? 1 << 26 : 1 << 18); ++i) {
      T x = draw(), y = draw();
      worst.add(of(x, y), x, y);
    }
    worst.print(Function::kName, range);
    EXPECT_LE(worst.ulp, 1.0) << worst.x << ", " << worst.y;
  };
  run("[-4, 4]", [&] { return static_cast<T>(uniform(random, -4, 4)); });
  run("[-100, 100]", [&] { return static_cast<T>(uniform(random, -100, 100)); });
  run("random bits", [&] { return std::bit_cast<T>(static_cast<BitsOf<T>>(random())); });
}

template <class Function>
class Binary : public testing::Test {};
using Functions = testing::Types<Atan2, Hypot, LogAddExp>;
TYPED_TEST_SUITE(Binary, Functions);
TYPED_TEST(Binary, F32) { check<TypeParam, float>(); }
TYPED_TEST(Binary, F64) { check<TypeParam, double>(); }

template <class T>
void checkRepresentation() {
  constexpr unsigned W = sizeof(T) * 8;
  ScalarBuilder<> b;
  for (T x : specials<T>()) {
    EXPECT_EQ(m::signbit<W>(b, x), std::signbit(x)) << x;
    for (T y : specials<T>()) {
      EXPECT_TRUE(sameValue(m::nextAfter<W>(b, x, y), std::nextafter(x, y))) << x << ", " << y;
      EXPECT_TRUE(sameValue(m::copySign<W>(b, x, y), std::copysign(x, y))) << x << ", " << y;
    }
  }
}
TEST(Representation, SpecialPairs) {
  checkRepresentation<float>();
  checkRepresentation<double>();
}

} // namespace
