//===- QuarterTurns.h - Angles as a multiple of pi / 2 and a rest -----------------------------===//
//
// x = n pi / 2 + r with |r| <= pi / 4 (a little more), r in two parts. Up to kMaxReduced, r comes
// from pi / 2 in three parts; above, x times the bits of 2 / pi is formed modulo 4 in fixed point
// (Payne and Hanek), skipped when no lane needs it.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_COMPILER_MATH_QUARTERTURNS_H
#define GRAPHC_COMPILER_MATH_QUARTERTURNS_H

#include "compiler/math/Coefficients.h"
#include "compiler/math/DivideConst.h"
#include "compiler/math/Select.h"

#include <array>

namespace graphc::math {

template <unsigned W>
struct TrigTable;
template <>
struct TrigTable<32> {
  static constexpr double kMaxReduced = 0x1p17;
  static constexpr auto &kHalfPi = kHalfPiF32;
  static constexpr auto &kTurn = kTurnF32;
  static constexpr auto &kSin = kSinF32;
  static constexpr auto &kCos = kCosF32;
};
template <>
struct TrigTable<64> {
  static constexpr double kMaxReduced = 0x1p28;
  static constexpr auto &kHalfPi = kHalfPiF64;
  static constexpr auto &kTurn = kTurnF64;
  static constexpr auto &kSin = kSinF64;
  static constexpr auto &kCos = kCosF64;
};

/// r = high - minusLow, and an integer whose two low bits are the quadrant. Minus, because then sin
/// keeps the sign of zero without a selection.
template <class V, class I>
struct Reduced {
  V high;
  V minusLow;
  I quadrant;
};

/// |x| <= kMaxReduced. x - n c1 is exact: both are multiples of c1's last place and the difference
/// is below 1. It is a multiple of the last place of p ~ n c2, too, which is small; therefore
/// high - a is exact even where p is the larger one, and the next product finds all that was lost.
template <unsigned W, class B, class V>
auto reduceMedium(B &b, V x) {
  using F = Format<W>;
  auto &c = TrigTable<W>::kTurn;
  V shifted = b.fma(x, F::f(b, 0x1.45f306dc9c883p-1), F::f(b, F::kRound));
  V n = b.sub(shifted, F::f(b, F::kRound));
  V a = b.fma(n, F::f(b, -c[0]), x);
  V high = b.add(a, b.mul(n, F::f(b, -c[1])));
  V moved = b.sub(high, a);
  V minusLow = b.fma(n, F::f(b, c[2]), b.fma(n, F::f(b, c[1]), moved));
  return Reduced<V, decltype(b.toBits(x))>{high, minusLow, b.toBits(shifted)};
}

/// The fraction (high + low) * 2^-scale of a quarter turn, times pi / 2.
template <unsigned W, class B, class V>
std::pair<V, V> timesHalfPi(B &b, V high, V low, double scale) {
  using F = Format<W>;
  auto &c = TrigTable<W>::kHalfPi;
  V c1 = F::f(b, c[0] * scale);
  auto [p, pLow] = twoProduct(b, high, c1);
  return fastTwoSum(b, p, b.add(pLow, b.fma(high, F::f(b, c[1] * scale), b.mul(low, c1))));
}

/// Finite f32 x, |x| >= 2^17. x = m 2^k; the 96 bits of 2 / pi from weight 2^(1-k) down decide x 2
/// / pi modulo 4 to 2^-62 and better, more than the cancellation any f32 can show.
template <class B, class V>
auto reduceLarge32(B &b, V x) {
  auto bits = b.zext(b.band(b.toBits(x), b.i32(0x7fffffff)), kWidth<64>);
  auto m = b.bor(b.band(bits, b.i64(0x7fffff)), b.i64(0x800000));
  // The stream starts with 32 zero bits, so that the first bit needed is never before it.
  auto start = b.isub(b.lshr(bits, b.i64(23)), b.i64(120));
  auto index = b.lshr(start, b.i64(5)), shift = b.band(start, b.i64(31));
  auto word = [](unsigned i) -> uint64_t {
    return i == 0 ? 0 : kTwoOverPi[(i - 1) / 2] >> (i % 2 ? 32 : 0) & 0xffffffff;
  };
  auto pair = [&](unsigned i) { return b.i64(static_cast<int64_t>(word(i) << 32 | word(i + 1))); };
  auto window = [&](unsigned offset) {
    auto w = pair(offset);
    for (unsigned i = 1; i < 5; ++i)
      w = b.select(b.ieq(index, b.i64(i)), pair(i + offset), w);
    return b.imul(m, b.lshr(b.shl(w, shift), b.i64(32)));
  };
  auto s32 = b.i64(32);
  auto turns = b.iadd(b.iadd(b.shl(window(0), s32), window(1)), b.lshr(window(2), s32));
  auto negative = b.lt(x, b.f32(0.0f));
  turns = b.select(negative, b.isub(b.i64(0), turns), turns);
  auto quadrant = b.lshr(b.iadd(turns, b.i64(int64_t{1} << 61)), b.i64(62));
  auto fraction = b.isub(turns, b.shl(quadrant, b.i64(62)));
  V high = b.sitofp(fraction, kWidth<32>);
  V low = b.sitofp(b.isub(fraction, b.fptosi(high, kWidth<64>)), kWidth<32>);
  auto [r, rLow] = timesHalfPi<32>(b, high, low, 0x1p-62);
  return Reduced<V, decltype(b.toBits(x))>{r, b.neg(rLow), b.itrunc(quadrant, kWidth<32>)};
}

/// Four consecutive words of 2 / pi (after one zero word) from word `index` on, 0 <= index <= 16,
/// by halving steps.
template <class B, class I>
std::array<I, 4> twoOverPiWords(B &b, I index) {
  auto word = [&](unsigned i) {
    return b.i64(i == 0 ? 0 : static_cast<int64_t>(kTwoOverPi[i - 1]));
  };
  auto bit = [&](int64_t v) { return b.ine(b.band(index, b.i64(v)), b.i64(0)); };
  std::array<I, 19> w;
  auto b16 = bit(16), b8 = bit(8), b4 = bit(4), b2 = bit(2), b1 = bit(1);
  for (unsigned j = 0; j < 19; ++j)
    w[j] = j < 4 ? b.select(b16, word(16 + j), word(j)) : word(j);
  for (unsigned j = 0; j < 11; ++j)
    w[j] = b.select(b8, w[j + 8], w[j]);
  for (unsigned j = 0; j < 7; ++j)
    w[j] = b.select(b4, w[j + 4], w[j]);
  for (unsigned j = 0; j < 5; ++j)
    w[j] = b.select(b2, w[j + 2], w[j]);
  for (unsigned j = 0; j < 4; ++j)
    w[j] = b.select(b1, w[j + 1], w[j]);
  return {w[0], w[1], w[2], w[3]};
}

/// x 2 / pi modulo 4 as a fixed-point number of 128 bits, 126 after the point: high and low word.
template <class B, class V>
auto turnsOf64(B &b, V x) {
  auto bits = b.band(b.toBits(x), b.i64(0x7fffffffffffffff));
  auto m = b.bor(b.band(bits, b.i64(0xfffffffffffff)), b.i64(0x10000000000000));
  auto start = b.isub(b.lshr(bits, b.i64(52)), b.i64(1013));
  auto shift = b.band(start, b.i64(63)), backShift = b.isub(b.i64(63), shift);
  auto w = twoOverPiWords(b, b.lshr(start, b.i64(6)));
  auto aligned = [&](unsigned j) {
    return b.bor(b.shl(w[j], shift), b.lshr(b.lshr(w[j + 1], b.i64(1)), backShift));
  };
  auto h0 = aligned(0), h1 = aligned(1), h2 = aligned(2);
  auto carryIn = mulHighUnsigned64(b, m, h2);
  auto low = b.iadd(b.imul(m, h1), carryIn);
  auto high = b.iadd(b.imul(m, h0), mulHighUnsigned64(b, m, h1));
  high = b.select(b.ult(low, carryIn), b.iadd(high, b.i64(1)), high);
  // Negate both words for negative x.
  auto negative = b.lt(x, b.f64(0.0));
  auto zero = b.i64(0), minusOne = b.i64(-1);
  auto negatedHigh = b.bxor(high, minusOne);
  negatedHigh = b.select(b.ieq(low, zero), b.iadd(negatedHigh, b.i64(1)), negatedHigh);
  return std::pair{b.select(negative, negatedHigh, high),
                   b.select(negative, b.isub(zero, low), low)};
}

/// Finite f64 x, |x| >= 2^28. As for f32 with 192 bits of 2 / pi; the closest f64 to a multiple of
/// pi / 2 leaves 2^-62.
template <class B, class V>
auto reduceLarge64(B &b, V x) {
  auto [high, low] = turnsOf64(b, x);
  auto quadrant = b.lshr(b.iadd(high, b.i64(int64_t{1} << 61)), b.i64(62));
  high = b.isub(high, b.shl(quadrant, b.i64(62)));
  auto s = b.i64(32), mask = b.i64(0xffffffff);
  auto part = [&](auto i, double weight) { return b.mul(b.sitofp(i, kWidth<64>), b.f64(weight)); };
  auto [s1, e1] = fastTwoSum(b, part(b.ashr(high, s), 0x1p-30), part(b.band(high, mask), 0x1p-62));
  auto [s2, e2] = fastTwoSum(b, part(b.lshr(low, s), 0x1p-94), part(b.band(low, mask), 0x1p-126));
  auto [sum, error] = twoSum(b, s1, s2);
  auto [f, fLow] = fastTwoSum(b, sum, b.add(error, b.add(e1, e2)));
  auto [r, rLow] = timesHalfPi<64>(b, f, fLow, 1.0);
  return Reduced<V, decltype(quadrant)>{r, b.neg(rLow), quadrant};
}

/// The name of the next function in programs that have it.
inline constexpr char kLargeTurns[] = "large_turns";
/// The parts of Reduced as a tuple.
template <unsigned W, class B, class V>
auto largeTurns(B &b, V x) {
  auto parts = [](auto r) { return std::tuple{r.high, r.minusLow, r.quadrant}; };
  if constexpr (W == 32)
    return parts(reduceLarge32(b, x));
  else
    return parts(reduceLarge64(b, x));
}

/// largeTurns, which is long and seldom needed, apart where the builder can.
template <unsigned W, class B, class V>
auto reduceLarge(B &b, V x) {
  auto here = [](B &c, V y) { return largeTurns<W>(c, y); };
  if constexpr (requires { b.apart(kLargeTurns, x, here); })
    return b.apart(kLargeTurns, x, here);
  else
    return here(b, x);
}

/// Infinities and NaN leave NaN in the high part.
template <unsigned W, class B, class V>
auto reduceQuarterTurns(B &b, V x) {
  using F = Format<W>;
  auto m = reduceMedium<W>(b, x);
  V a = b.abs(x);
  auto [high, minusLow, quadrant] = b.ifAny(
      b.gt(a, F::f(b, TrigTable<W>::kMaxReduced)),
      [&] {
        auto finite = b.lt(a, F::f(b, kInfinity<W>));
        auto [large, largeMinusLow, largeQuadrant] = reduceLarge<W>(b, x);
        return std::tuple{b.select(finite, large, F::f(b, kNaN)), largeMinusLow, largeQuadrant};
      },
      m.high, m.minusLow, m.quadrant);
  return Reduced<V, decltype(m.quadrant)>{high, minusLow, quadrant};
}

} // namespace graphc::math

#endif // GRAPHC_COMPILER_MATH_QUARTERTURNS_H
