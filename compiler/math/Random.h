//===- Random.h - Random bits as a function of index, stream and key --------------------------===//
//
// Philox4x32-10 (Salmon, Moraes, Dror, Shaw: Parallel random numbers, as easy as 1, 2, 3). Which
// counter and which of its words an element has is promised by docs/random.md.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_COMPILER_MATH_RANDOM_H
#define GRAPHC_COMPILER_MATH_RANDOM_H

#include "compiler/math/Builder.h"

#include <array>

namespace graphc::math {

inline constexpr int kPhiloxRounds = 10;
/// Counters of a block: its elements take the first words of all of them, then the second, ...
inline constexpr int64_t kPhiloxCounters = 8;
inline constexpr int64_t kLow32 = 0xffffffff;

/// The two 32-bit keys of each round, as 64-bit integers whose upper halves mean nothing.
template <class V>
using PhiloxKeys = std::array<std::array<V, 2>, kPhiloxRounds>;

template <class B, class V>
PhiloxKeys<V> philoxKeys(B &b, V key) {
  constexpr int64_t kWeyl[2] = {0x9e3779b9, 0xbb67ae85};
  PhiloxKeys<V> keys;
  keys[0] = {key, b.lshr(key, b.i64(32))};
  for (int round = 1; round < kPhiloxRounds; ++round)
    for (int i = 0; i < 2; ++i)
      keys[round][i] = b.iadd(keys[round - 1][i], b.i64(kWeyl[i]));
  return keys;
}

/// The four words of a 128-bit counter, in 64-bit integers whose upper halves mean nothing: a
/// product of low halves is one instruction of every vector unit, and its operands need no mask.
template <class B, class V>
std::array<V, 4> philox(B &b, V counterLow, V counterHigh, const PhiloxKeys<V> &keys) {
  V low = b.i64(kLow32), half = b.i64(32), m0 = b.i64(0xd2511f53), m1 = b.i64(0xcd9e8d57);
  std::array<V, 4> c = {counterLow, b.lshr(counterLow, half), counterHigh,
                        b.lshr(counterHigh, half)};
  for (const std::array<V, 2> &key : keys) {
    V p0 = b.imul(b.band(c[0], low), m0), p1 = b.imul(b.band(c[2], low), m1);
    c = {b.bxor(b.bxor(b.lshr(p1, half), c[1]), key[0]), p1,
         b.bxor(b.bxor(b.lshr(p0, half), c[3]), key[1]), p0};
  }
  return c;
}

/// One number of 64 bits from the low halves of two.
template <class B, class V>
V joinWords(B &b, V low, V high) {
  return b.bor(b.band(low, b.i64(kLow32)), b.shl(high, b.i64(32)));
}

/// The counter of an element when `Words` words each serve one element.
template <int Words, class B, class V>
V philoxCounter(B &b, V index) {
  constexpr int64_t kShift = Words == 1 ? 5 : 4; // elements of a block: 32 or 16
  return b.bor(b.shl(b.lshr(index, b.i64(kShift)), b.i64(3)),
               b.band(index, b.i64(kPhiloxCounters - 1)));
}

/// 32 (one word, zero extended) or 64 (two words) random bits of an element.
template <int Words, class B, class V>
V randomBits(B &b, V index, V stream, const PhiloxKeys<V> &keys) {
  std::array<V, 4> w = philox(b, philoxCounter<Words>(b, index), stream, keys);
  auto bit = [&](int n) { return b.ine(b.band(index, b.i64(kPhiloxCounters << n)), b.i64(0)); };
  auto first = bit(0);
  if constexpr (Words == 2) {
    return joinWords(b, b.select(first, w[2], w[0]), b.select(first, w[3], w[1]));
  } else {
    V word = b.select(bit(1), b.select(first, w[3], w[2]), b.select(first, w[1], w[0]));
    return b.band(word, b.i64(kLow32));
  }
}

/// A float64 between 0 and 1, never either, from the upper 52 of 64 bits.
template <class B, class V>
auto openUnit(B &b, V bits) {
  V oneToTwo = b.bor(b.lshr(bits, b.i64(12)), b.i64(0x3ff0000000000000));
  return b.sub(b.fromBits(oneToTwo), b.f64(1.0 - 0x1p-53));
}

} // namespace graphc::math

#endif // GRAPHC_COMPILER_MATH_RANDOM_H
