// Casts: saturation, NaN, rounding and wrapping for every pair of formats.
#include "compiler/math/Math.h"
#include "tests/compiler/math/Accuracy.h"
#include "tests/compiler/math/ScalarBuilder.h"

#include <gtest/gtest.h>

using namespace graphc::math::test;
namespace m = graphc::math;

namespace {

template <unsigned W, bool Signed>
using Int = std::conditional_t<Signed, IntOf<W>, std::make_unsigned_t<IntOf<W>>>;

/// Truncation in a type that holds every value concerned, then the limits.
template <class T, class V>
V saturated(T x) {
  if (x != x)
    return 0;
  long double y = std::trunc(static_cast<long double>(x));
  if (y <= static_cast<long double>(std::numeric_limits<V>::min()))
    return std::numeric_limits<V>::min();
  if (y >= static_cast<long double>(std::numeric_limits<V>::max()))
    return std::numeric_limits<V>::max();
  return static_cast<V>(y);
}

template <class T, unsigned W, bool Signed>
void check(T x) {
  ScalarBuilder<> b;
  using V = Int<W, Signed>;
  V got = static_cast<V>(m::floatToInt<sizeof(T) * 8, W, Signed>(b, x));
  EXPECT_EQ(+got, +(saturated<T, V>(x))) << x << (Signed ? " to i" : " to u") << W;
}
template <class T>
void checkAll(T x) {
  check<T, 8, true>(x);
  check<T, 8, false>(x);
  check<T, 16, true>(x);
  check<T, 16, false>(x);
  check<T, 32, true>(x);
  check<T, 32, false>(x);
  check<T, 64, true>(x);
  check<T, 64, false>(x);
  ScalarBuilder<> b;
  EXPECT_EQ(m::floatToBool<sizeof(T) * 8>(b, x), x != 0);
}
template <class T>
void checkFromFloat() {
  using L = std::numeric_limits<T>;
  for (T x : {T(0), T(0.5), T(0.999), L::infinity(), L::quiet_NaN(), L::max(), L::denorm_min()})
    for (T s : {x, -x})
      checkAll(s);
  // Around every power of two, where the ranges end.
  for (int e = 0; e < 70; ++e)
    for (T offset : {T(-1), T(-0.5), T(0), T(0.5), T(1)}) {
      T x = std::ldexp(T(1), e) + offset;
      for (T y : {x, std::nextafter(x, L::max()), std::nextafter(x, -L::max())}) {
        checkAll(y);
        checkAll(-y);
      }
    }
  std::mt19937_64 random(1);
  for (int i = 0; i < 100000; ++i)
    checkAll(std::ldexp(T(uniform(random, -1, 1)), static_cast<int>(random() % 70)));
}
TEST(Convert, FloatToInteger) {
  checkFromFloat<float>();
  checkFromFloat<double>();
}

template <unsigned W, bool Signed>
void checkFromInteger() {
  ScalarBuilder<> b;
  using V = Int<W, Signed>;
  std::mt19937_64 random(W);
  for (int i = 0; i < 20000; ++i) {
    auto x = static_cast<IntOf<W>>(i < 100 ? uint64_t(i) - 50 : random() >> (random() % 64));
    V v = static_cast<V>(x);
    EXPECT_EQ((m::intToFloat<W, Signed, 32>(b, x)), static_cast<float>(v));
    EXPECT_EQ((m::intToFloat<W, Signed, 64>(b, x)), static_cast<double>(v));
    EXPECT_EQ((m::intToInt<W, Signed, 8>(b, x)), static_cast<int8_t>(v));
    EXPECT_EQ((m::intToInt<W, Signed, 16>(b, x)), static_cast<int16_t>(v));
    EXPECT_EQ((m::intToInt<W, Signed, 32>(b, x)), static_cast<int32_t>(v));
    EXPECT_EQ((m::intToInt<W, Signed, 64>(b, x)), static_cast<int64_t>(v));
    EXPECT_EQ(m::intToBool<W>(b, x), v != 0);
  }
  for (bool bit : {false, true})
    EXPECT_EQ(m::boolToInt<W>(b, bit), IntOf<W>(bit));
}
TEST(Convert, FromInteger) {
  checkFromInteger<8, true>();
  checkFromInteger<8, false>();
  checkFromInteger<16, true>();
  checkFromInteger<16, false>();
  checkFromInteger<32, true>();
  checkFromInteger<32, false>();
  checkFromInteger<64, true>();
  checkFromInteger<64, false>();
}
TEST(Convert, BoolToFloat) {
  ScalarBuilder<> b;
  EXPECT_EQ(m::boolToFloat<32>(b, true), 1.0f);
  EXPECT_EQ(m::boolToFloat<64>(b, false), 0.0);
}

} // namespace
