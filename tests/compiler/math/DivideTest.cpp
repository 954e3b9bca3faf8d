// Integer and float floor division and remainder, by values and by constants, against 128-bit
// integers and C's fmod.
#include "compiler/math/Math.h"
#include "tests/compiler/math/Accuracy.h"
#include "tests/compiler/math/ScalarBuilder.h"

#include <gtest/gtest.h>

using namespace graphc::math::test;
using graphc::math::DivideBy;
using graphc::math::DivMod;
namespace m = graphc::math;

namespace {

using Wide = __int128;

/// No f64 anywhere: what a device without it is given.
struct IntegersOnly : ScalarBuilder<> {
  double f64(double) = delete;
  template <class T>
  double sitofp(T, m::Width<64>) = delete;
  template <class T>
  float sitofp(T a, m::Width<32> w) {
    return ScalarBuilder<>::sitofp(a, w);
  }
};
/// One-operation conversions of 64-bit integers.
struct Converting : ScalarBuilder<> {
  bool int64Conversions() { return true; }
};

template <unsigned W, bool Signed>
Wide widen(IntOf<W> x) {
  if constexpr (Signed)
    return x;
  else
    return static_cast<std::make_unsigned_t<IntOf<W>>>(x);
}

/// NumPy's floor division.
template <unsigned W, bool Signed>
DivMod<IntOf<W>> expected(IntOf<W> x, IntOf<W> y) {
  Wide a = widen<W, Signed>(x), d = widen<W, Signed>(y);
  if (d == 0)
    return {0, 0};
  Wide q = a / d, r = a % d;
  if (r != 0 && (r < 0) != (d < 0)) {
    --q;
    r += d;
  }
  return {static_cast<IntOf<W>>(q), static_cast<IntOf<W>>(r)};
}

template <unsigned W, bool Signed>
void check(IntOf<W> x, IntOf<W> y) {
  DivMod<IntOf<W>> want = expected<W, Signed>(x, y);
  auto same = [&](const char *form, DivMod<IntOf<W>> got) {
    if (got.quotient != want.quotient || got.remainder != want.remainder)
      ADD_FAILURE() << form << (Signed ? " i" : " u") << W << ": " << +x << ", " << +y << " gives "
                    << +got.quotient << ", " << +got.remainder << ", not " << +want.quotient << ", "
                    << +want.remainder;
  };
  ScalarBuilder<> b;
  IntegersOnly integers;
  Converting converting;
  auto p = static_cast<int64_t>(y);
  same("f64", m::divModInt<W, Signed, DivideBy::kFloat64>(b, x, y));
  same("integer", m::divModInt<W, Signed, DivideBy::kInteger>(integers, x, y));
  same("constant f64", m::divModConst<W, Signed, DivideBy::kFloat64>(b, x, p));
  same("constant integer", m::divModConst<W, Signed, DivideBy::kInteger>(integers, x, p));
  Wide a = widen<W, Signed>(x);
  if (W == 64 && a < m::kSmallDividend && a > -m::kSmallDividend) {
    same("small", m::divModConst<W, Signed, DivideBy::kFloat64>(b, x, p, true));
    same("small converting", m::divModConst<W, Signed, DivideBy::kFloat64>(converting, x, p, true));
  }
}

TEST(Divide, EveryPairOf8Bits) {
  for (int x = -128; x < 128; ++x)
    for (int y = -128; y < 128; ++y) {
      check<8, true>(static_cast<int8_t>(x), static_cast<int8_t>(y));
      check<8, false>(static_cast<int8_t>(x), static_cast<int8_t>(y));
    }
}

TEST(Divide, Every16BitDivisor) {
  for (int y = -32768; y < 32768; ++y)
    for (int k = -24; k < 24; ++k) {
      // Around multiples of the divisor and around the ends.
      int x = k < 0 ? (k % 2 ? 32767 + k : -32768 - k) : y * (k / 3 * 311) + k % 3 - 1;
      check<16, true>(static_cast<int16_t>(x), static_cast<int16_t>(y));
      check<16, false>(static_cast<int16_t>(x), static_cast<int16_t>(y));
    }
}

/// Random magnitudes, powers of two +-2 and small numbers; dividends at multiples of the divisor
/// +-4 and at the ends.
template <unsigned W>
void checkRandom(int count) {
  std::mt19937_64 random(W);
  auto any = [&]() -> int64_t {
    uint64_t bits = random(), shift = random() % 64;
    int64_t near = static_cast<int64_t>(random() % 5) - 2;
    switch (random() % 6) {
    case 0:
      return static_cast<int64_t>(bits);
    case 1:
      return static_cast<int64_t>(bits >> shift);
    case 2:
      return -static_cast<int64_t>(bits >> shift >> 1);
    case 3:
      return static_cast<int64_t>((uint64_t{1} << shift) + static_cast<uint64_t>(near));
    case 4:
      return static_cast<int64_t>(uint64_t{0} - (uint64_t{1} << shift) +
                                  static_cast<uint64_t>(near));
    default:
      return near;
    }
  };
  constexpr auto max = static_cast<int64_t>((uint64_t{1} << (W - 1)) - 1);
  for (int i = 0; i < count; ++i) {
    int64_t y = any(), x = any();
    if (random() % 2)
      x = static_cast<int64_t>(static_cast<uint64_t>(y) * static_cast<uint64_t>(any()) +
                               random() % 9 - 4);
    if (random() % 8 == 0)
      x = random() % 2 ? max - static_cast<int64_t>(random() % 5)
                       : static_cast<int64_t>(random() % 5) - max - 1;
    check<W, true>(static_cast<IntOf<W>>(x), static_cast<IntOf<W>>(y));
    check<W, false>(static_cast<IntOf<W>>(x), static_cast<IntOf<W>>(y));
  }
}
TEST(Divide, Random) {
  checkRandom<16>(200000);
  checkRandom<32>(400000);
  checkRandom<64>(exhaustive() ? 20000000 : 600000);
}

/// The ends of the forms' ranges: largest divisors and dividends of the one- and two-step f64
/// remainder.
TEST(Divide, EndsOfTheFloat64Forms) {
  for (int64_t p : {int64_t{3}, int64_t{5}, int64_t{6700417}, (int64_t{1} << 49) + 1,
                    m::kMaxSmallDivisor, m::kMaxSmallDivisor + 2, m::kMaxFloatDivisor,
                    m::kMaxFloatDivisor - 2, m::kMaxFloatDivisor + 2, INT64_MAX, INT64_MAX - 1})
    for (int64_t end :
         {INT64_MIN, INT64_MAX, m::kSmallDividend - 1, 1 - m::kSmallDividend, int64_t{0}})
      for (int64_t k = -2000; k <= 2000; ++k) {
        int64_t x = end == INT64_MIN   ? end + (k + 2000)
                    : end == INT64_MAX ? end - (k + 2000)
                                       : end + k;
        int64_t multiple = x / p * p;
        for (int64_t y :
             {x, multiple, multiple > INT64_MIN ? multiple - 1 : multiple, multiple + 1})
          check<64, true>(y, p);
      }
}

/// A chain of signed representatives ends at the same residue.
TEST(Divide, LazyRemainder) {
  ScalarBuilder<> b;
  constexpr int64_t p = 6700417;
  for (int64_t start = 0; start < 100000; ++start) {
    double lazy = static_cast<double>(start);
    int64_t exact = start;
    for (int k = 0; k < 10; ++k) {
      lazy = m::remainderSmallF64<false>(b, 22 * lazy * (lazy + 1), p);
      exact = 22 * exact * (exact + 1) % p;
    }
    ASSERT_EQ(static_cast<int64_t>(m::remainderSmallF64<true>(b, lazy, p)), exact) << start;
  }
}

/// NumPy's algorithm on top of C's fmod.
template <class T>
std::pair<T, T> numpyDivMod(T x, T y) {
  T mod = std::fmod(x, y);
  if (y == 0)
    return {x / y, mod};
  T div = (x - mod) / y;
  if (mod != 0) {
    if ((y < 0) != (mod < 0)) {
      mod += y;
      div -= 1;
    }
  } else {
    mod = std::copysign(T(0), y);
  }
  T quotient = std::copysign(T(0), x / y);
  if (div != 0) {
    quotient = std::floor(div);
    if (div - quotient > T(0.5))
      quotient += 1;
  }
  return {quotient, mod};
}

template <class T>
void checkFloat(int count) {
  using L = std::numeric_limits<T>;
  constexpr unsigned W = sizeof(T) * 8;
  ScalarBuilder<> b;
  ScalarBuilder<Branch::kBoth> both;
  const T special[] = {0,
                       T(-0.0),
                       1,
                       -1,
                       2,
                       3,
                       T(0.5),
                       T(0.1),
                       -7,
                       T(1e10),
                       L::infinity(),
                       -L::infinity(),
                       L::quiet_NaN(),
                       L::max(),
                       -L::max(),
                       L::min(),
                       L::denorm_min(),
                       -L::denorm_min(),
                       3 * L::denorm_min(),
                       std::nextafter(L::min(), T(0))};
  constexpr int n = std::size(special);
  std::mt19937_64 random(9);
  auto any = [&]() -> T {
    switch (random() % 4) {
    case 0:
      return special[random() % n];
    case 1:
      return std::bit_cast<T>(static_cast<BitsOf<T>>(random()));
    default:
      return std::ldexp(T(uniform(random, -1, 1)), static_cast<int>(random() % 60) - 10);
    }
  };
  for (int i = 0; i < count; ++i) {
    T x = i < n * n ? special[i / n] : any(), y = i < n * n ? special[i % n] : any();
    if (i >= n * n && random() % 3 == 0)
      x = std::nextafter(y * T(random() % 100000), random() % 2 ? x : y);
    EXPECT_TRUE(sameValue(m::fmod<W>(b, x, y), std::fmod(x, y))) << x << " fmod " << y;
    EXPECT_TRUE(sameValue(m::fmod<W>(both, x, y), std::fmod(x, y))) << x << " fmod " << y;
    auto [quotient, remainder] = numpyDivMod(x, y);
    if (std::isinf(x) != std::isinf(y) && x == x && y == y) // as the Array API has it
      quotient = x / y;
    EXPECT_TRUE(sameValue(m::floorDivideFloat<W>(b, x, y), quotient)) << x << " // " << y;
    EXPECT_TRUE(sameValue(m::remainderFloat<W>(b, x, y), remainder)) << x << " % " << y;
  }
}
/// Divisors whose reciprocals round badly, among others; dividends next to midpoints of quotients.
template <class T>
void checkShared(int64_t divisors, int dividends) {
  constexpr unsigned W = sizeof(T) * 8;
  using Bits = std::make_unsigned_t<IntOf<W>>;
  std::mt19937_64 random(11);
  ScalarBuilder<> taken;
  ScalarBuilder<Branch::kBoth> both;
  auto check = [&](T x, T s) {
    T want = x / s, got = m::divideByShared<W>(taken, x, s);
    ASSERT_EQ(std::bit_cast<Bits>(got) == std::bit_cast<Bits>(want) ||
                  (std::isnan(got) && std::isnan(want)),
              true)
        << x << " / " << s << " = " << got << ", not " << want;
    T other = m::divideByShared<W>(both, x, s);
    ASSERT_TRUE(std::bit_cast<Bits>(other) == std::bit_cast<Bits>(got) || std::isnan(got));
  };
  const T infinity = std::numeric_limits<T>::infinity();
  const T special[] = {T(0),
                       -T(0),
                       T(1),
                       T(-1),
                       std::numeric_limits<T>::min(),
                       infinity,
                       T(3),
                       T(1e30),
                       T(0.1),
                       std::numeric_limits<T>::denorm_min(),
                       -infinity,
                       std::numeric_limits<T>::max(),
                       std::numeric_limits<T>::quiet_NaN()};
  constexpr int kMantissa = std::numeric_limits<T>::digits - 1;
  for (int64_t i = 0; i < divisors; ++i) {
    Bits bits = static_cast<Bits>(random());
    if (i % 4 == 1) // all ones but a few
      bits |= (Bits{1} << kMantissa) - 1 - (static_cast<Bits>(random()) & 7);
    if (i % 4 == 2) // all zeros but a few
      bits &= ~((Bits{1} << kMantissa) - 8);
    T s = std::bit_cast<T>(bits);
    int exponent;
    if (i % 8 && std::isfinite(s)) // mostly what the short form takes
      s = std::ldexp(std::abs(std::frexp(s, &exponent)), static_cast<int>(random() % 60) - 30);
    for (T x : special)
      check(x, s);
    for (T x : special)
      check(s, x);
    for (int j = 0; j < dividends; ++j) {
      T x = std::bit_cast<T>(static_cast<Bits>(random()));
      check(x, s);
      T near =
          std::ldexp(T(1) + std::abs(std::fmod(x, T(1))), static_cast<int>(random() % 40) - 20);
      check(std::isfinite(near) ? near * s : T(2), s);
      check(std::nextafter(near * s, infinity), s);
    }
  }
}
/// Mantissas close to 2 of both, where the first quotient is furthest from the right one.
template <class T>
void checkSharedNearTwo(int divisors, int dividends) {
  ScalarBuilder<> b;
  T s = 2;
  for (int i = 0; i < divisors; ++i) {
    s = std::nextafter(s, T(1));
    T x = 2;
    for (int j = 0; j < dividends; ++j) {
      x = std::nextafter(x, T(1));
      ASSERT_EQ(m::divideByShared<sizeof(T) * 8>(b, x, s), x / s) << x << " / " << s;
    }
  }
}
TEST(Divide, SharedNearTwo) {
  checkSharedNearTwo<float>(exhaustive() ? 4000 : 100, 2000);
  checkSharedNearTwo<double>(exhaustive() ? 4000 : 100, 2000);
}
TEST(Divide, SharedFloat32) { checkShared<float>(exhaustive() ? 1000000 : 3000, 100); }
TEST(Divide, SharedFloat64) { checkShared<double>(exhaustive() ? 1000000 : 3000, 100); }

TEST(Divide, Float32) { checkFloat<float>(exhaustive() ? 100000000 : 600000); }
TEST(Divide, Float64) { checkFloat<double>(exhaustive() ? 20000000 : 200000); }

} // namespace
