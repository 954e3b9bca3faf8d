// Order, sign, shifts and predicates against their definitions.
#include "compiler/math/Math.h"
#include "tests/compiler/math/Accuracy.h"
#include "tests/compiler/math/ScalarBuilder.h"

#include <gtest/gtest.h>

using namespace graphc::math::test;
namespace m = graphc::math;

namespace {

template <class T>
constexpr T kFloats[] = {T(0.0),
                         T(-0.0),
                         T(1),
                         T(-1),
                         T(2.5),
                         T(-2.5),
                         std::numeric_limits<T>::infinity(),
                         -std::numeric_limits<T>::infinity(),
                         std::numeric_limits<T>::quiet_NaN(),
                         std::numeric_limits<T>::denorm_min(),
                         -std::numeric_limits<T>::denorm_min(),
                         std::numeric_limits<T>::max()};

/// -0 counts as smaller than +0.
template <class T>
bool less(T a, T b) {
  return a < b || (a == b && std::signbit(a) && !std::signbit(b));
}
template <class T>
T minimumOf(T a, T b) {
  return a != a ? a : b != b ? b : less(b, a) ? b : a;
}
template <class T>
T maximumOf(T a, T b) {
  return a != a ? a : b != b ? b : less(a, b) ? b : a;
}

template <class T>
void checkFloats() {
  constexpr unsigned W = sizeof(T) * 8;
  ScalarBuilder<> b;
  for (T x : kFloats<T>) {
    T sign = x != x ? x : x > 0 ? T(1) : x < 0 ? T(-1) : T(0);
    EXPECT_TRUE(sameValue(m::signFloat<W>(b, x), sign)) << x;
    EXPECT_EQ(m::isInf<W>(b, x), std::isinf(x)) << x;
    EXPECT_EQ(m::isFinite<W>(b, x), std::isfinite(x)) << x;
    for (T y : kFloats<T>) {
      EXPECT_TRUE(sameValue(m::minimumFloat(b, x, y), minimumOf(x, y))) << x << ", " << y;
      EXPECT_TRUE(sameValue(m::maximumFloat(b, x, y), maximumOf(x, y))) << x << ", " << y;
      for (T z : kFloats<T>)
        EXPECT_TRUE(sameValue(m::clipFloat(b, x, y, z), minimumOf(maximumOf(x, y), z)))
            << x << ", " << y << ", " << z;
    }
  }
}
TEST(Select, Floats) {
  checkFloats<float>();
  checkFloats<double>();
}

template <unsigned W, bool Signed>
void checkIntegers() {
  using T = IntOf<W>;
  using U = std::make_unsigned_t<T>;
  using V = std::conditional_t<Signed, T, U>;
  ScalarBuilder<> b;
  std::mt19937_64 random(W);
  auto any = [&](int i) {
    constexpr int64_t edges[] = {0,
                                 1,
                                 -1,
                                 2,
                                 W - 1,
                                 W,
                                 W + 1,
                                 int64_t(uint64_t{1} << (W - 1)),
                                 int64_t((uint64_t{1} << (W - 1)) - 1)};
    return static_cast<T>(i < 9 ? edges[i] : static_cast<int64_t>(random()));
  };
  for (int i = 0; i < 40; ++i)
    for (int k = 0; k < 40; ++k) {
      T x = any(i), y = any(k), z = any(40);
      V a = static_cast<V>(x), c = static_cast<V>(y), top = static_cast<V>(z);
      EXPECT_EQ(m::minimumInt<Signed>(b, x, y), static_cast<T>(std::min(a, c)));
      EXPECT_EQ(m::maximumInt<Signed>(b, x, y), static_cast<T>(std::max(a, c)));
      EXPECT_EQ(m::clipInt<Signed>(b, x, y, z), static_cast<T>(std::min(std::max(a, c), top)));
      EXPECT_EQ((m::signInt<W, Signed>(b, x)), static_cast<T>((a > 0) - (a < 0)));
      EXPECT_EQ((m::absInt<W, Signed>(b, x)), static_cast<T>(a < 0 ? U(0) - U(x) : U(x)));
      EXPECT_EQ(m::negInt<W>(b, x), static_cast<T>(U(0) - U(x)));
      bool inRange = static_cast<U>(y) < W;
      EXPECT_EQ(m::shiftLeft<W>(b, x, y), static_cast<T>(inRange ? uint64_t(U(x)) << U(y) : 0))
          << +x << " << " << +y;
      V right = inRange ? static_cast<V>(a >> U(y)) : a < 0 ? static_cast<V>(-1) : V(0);
      EXPECT_EQ((m::shiftRight<W, Signed>(b, x, y)), static_cast<T>(right)) << +x << " >> " << +y;
    }
}
TEST(Select, Integers) {
  checkIntegers<8, true>();
  checkIntegers<8, false>();
  checkIntegers<16, true>();
  checkIntegers<16, false>();
  checkIntegers<32, true>();
  checkIntegers<32, false>();
  checkIntegers<64, true>();
  checkIntegers<64, false>();
}

} // namespace
