//===- Samplers.h - Draws that take a number of attempts --------------------------------------===//
//
// Attempt t of an element is the counter (index, stream + t), so a draw depends on nothing but its
// index, stream, key and parameters. The number of attempts is bounded (docs/random.md); the bound
// is met with a probability below 1e-18.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_COMPILER_MATH_SAMPLERS_H
#define GRAPHC_COMPILER_MATH_SAMPLERS_H

#include "compiler/math/Exp.h"
#include "compiler/math/Gamma.h"
#include "compiler/math/InverseTrig.h"
#include "compiler/math/Log.h"
#include "compiler/math/Random.h"
#include "compiler/math/Trig.h"

namespace graphc::math {

inline constexpr int64_t kMostAttempts = 64;
/// Below this mean counts are found by adding up probabilities, in at most kMostCounts steps.
inline constexpr double kSmallMean = 10;
inline constexpr int64_t kMostCounts = 160;

/// Attempts until one is accepted: attempt(words) gives {accepted, value}. Where `needed` does not
/// hold, and after kMostAttempts, the value is `otherwise`.
template <class B, class V, class F, class M, class Attempt>
F attempts(B &b, V index, V stream, V key, M needed, F otherwise, Attempt attempt) {
  PhiloxKeys<V> keys = philoxKeys(b, key);
  V most = b.i64(kMostAttempts);
  auto [last, value] =
      b.whileAny([&](V t, F) { return b.slt(t, most); },
                 [&](V t, F old) {
                   auto [accepted, candidate] = attempt(philox(b, index, b.iadd(stream, t), keys));
                   return std::tuple<V, F>{b.select(accepted, most, b.iadd(t, b.i64(1))),
                                           b.select(accepted, candidate, old)};
                 },
                 b.select(needed, b.i64(0), most), otherwise);
  static_cast<void>(last);
  return value;
}

/// A normal draw by Box and Muller from a unit float and 32 random bits for the angle.
template <class B, class F, class V>
F normalFrom(B &b, F radius, V angle) {
  F turn = openUnit(b, b.shl(angle, b.i64(32)));
  F root = b.sqrt(b.mul(b.f64(-2.0), log<64>(b, radius)));
  return b.mul(root, cosOfSmall<64>(b, b.mul(b.f64(0x1.921fb54442d18p+2), turn)));
}

/// Standard gamma of shape >= 1 (Marsaglia and Tsang 2000); an attempt succeeds with a probability
/// above 0.95.
template <class B, class V, class F>
F randomGamma(B &b, V index, V stream, V key, F shape) {
  F one = b.f64(1.0);
  F d = b.sub(shape, b.f64(0x1.5555555555555p-2));
  F c = b.div(one, b.mul(b.f64(3.0), b.sqrt(d)));
  auto valid = b.ge(shape, one);
  auto needed = b.mand(valid, b.lt(shape, b.f64(0x1p1000)));
  return attempts(b, index, stream, key, needed, b.select(valid, shape, b.f64(kNaN)),
                  [&](const std::array<V, 4> &w) {
                    F x = normalFrom(b, openUnit(b, joinWords(b, w[0], w[1])), w[2]);
                    F u = openUnit(b, b.shl(w[3], b.i64(32)));
                    F v = b.add(one, b.mul(c, x));
                    auto positive = b.gt(v, b.f64(0.0));
                    F cube = b.select(positive, b.mul(b.mul(v, v), v), one);
                    // log u < x^2 / 2 + d (1 - v^3 + log v^3)
                    F inner = b.add(b.sub(one, cube), log<64>(b, cube));
                    F bound = b.add(b.mul(b.mul(b.f64(0.5), x), x), b.mul(d, inner));
                    auto accepted = b.mand(positive, b.lt(log<64>(b, u), bound));
                    return std::pair{accepted, b.mul(d, cube)};
                  });
}

/// The smallest count whose distribution function reaches u: adds up probabilities from `first`,
/// each `ratio(k)` of the one before. Where `needed` does not hold the count is 0.
template <class B, class F, class M, class Ratio>
F countByInversion(B &b, F u, M needed, F first, Ratio ratio) {
  F zero = b.f64(0.0), one = b.f64(1.0), most = b.f64(kMostCounts);
  auto [count, rest, p] =
      b.whileAny([&](F k, F rest, F p) { return b.mand(b.gt(rest, p), b.lt(k, most)); },
                 [&](F k, F rest, F p) {
                   F next = b.add(k, one);
                   return std::tuple<F, F, F>{next, b.sub(rest, p), b.mul(p, ratio(next))};
                 },
                 zero, b.select(needed, u, zero), first);
  static_cast<void>(rest);
  static_cast<void>(p);
  return count;
}

/// Poisson draws of a large mean by transformed rejection (PTRS, Hörmann 1993).
template <class B, class V, class F, class M>
F poissonByRejection(B &b, V index, V stream, V key, M needed, F mean) {
  F root = b.sqrt(mean), logMean = log<64>(b, mean);
  F scale = b.add(b.f64(0.931), b.mul(b.f64(2.53), root));
  F a = b.add(b.f64(-0.059), b.mul(b.f64(0.02483), scale));
  F inverse = b.add(b.f64(1.1239), b.div(b.f64(1.1328), b.sub(scale, b.f64(3.4))));
  F squeeze = b.sub(b.f64(0.9277), b.div(b.f64(3.6224), b.sub(scale, b.f64(2.0))));
  F logInverse = log<64>(b, inverse);
  return attempts(b, index, stream, key, needed, b.floor(mean), [&](const std::array<V, 4> &w) {
    F u = b.sub(openUnit(b, joinWords(b, w[0], w[1])), b.f64(0.5));
    F v = openUnit(b, joinWords(b, w[2], w[3]));
    F edge = b.sub(b.f64(0.5), b.abs(u));
    F slope = b.add(b.div(b.mul(b.f64(2.0), a), edge), scale);
    F k = b.floor(b.add(b.add(b.mul(slope, u), mean), b.f64(0.43)));
    auto quick = b.mand(b.ge(edge, b.f64(0.07)), b.le(v, squeeze));
    auto possible =
        b.mand(b.ge(k, b.f64(0.0)), b.mnot(b.mand(b.lt(edge, b.f64(0.013)), b.gt(v, edge))));
    F safe = b.select(possible, k, b.f64(0.0));
    F spread = b.add(b.div(a, b.mul(edge, edge)), scale);
    F left = b.sub(b.add(log<64>(b, v), logInverse), log<64>(b, spread));
    F right = b.sub(b.sub(b.mul(safe, logMean), mean), lgamma<64>(b, b.add(safe, b.f64(1.0))));
    return std::pair{b.mor(quick, b.mand(possible, b.le(left, right))), k};
  });
}

/// A Poisson draw as a float.
template <class B, class V, class F>
F randomPoisson(B &b, V index, V stream, V key, F mean) {
  auto valid = b.ge(mean, b.f64(0.0));
  auto large = b.mand(b.ge(mean, b.f64(kSmallMean)), b.lt(mean, b.f64(0x1p1000)));
  auto small = b.mand(valid, b.lt(mean, b.f64(kSmallMean)));
  F few = b.select(small, mean, b.f64(1.0)), many = b.select(large, mean, b.f64(kSmallMean));
  std::array<V, 4> w = philox(b, index, stream, philoxKeys(b, key));
  F u = openUnit(b, joinWords(b, w[0], w[1]));
  F counted =
      countByInversion(b, u, small, exp<64>(b, b.neg(few)), [&](F k) { return b.div(few, k); });
  auto [drawn] = b.ifAny(
      large, [&] { return std::tuple<F>{poissonByRejection(b, index, stream, key, large, many)}; },
      counted);
  // An infinite mean stays what it is.
  return b.select(valid, b.select(b.mor(small, large), drawn, mean), b.f64(kNaN));
}

/// log k! less the leading terms of Stirling's series at k + 1.
template <class B, class F>
F stirlingTail(B &b, F k) {
  constexpr double kTail[] = {0.0810614667953272,  0.0413406959554092, 0.0276779256849983,
                              0.02079067210376509, 0.0166446911898211, 0.0138761288230707,
                              0.0118967099458917,  0.0104112652619720, 0.00925546218271273,
                              0.00833056343336287};
  F next = b.add(k, b.f64(1.0)), square = b.mul(next, next);
  F inner = b.sub(b.f64(1.0 / 360), b.div(b.f64(1.0 / 1260), square));
  F tail = b.div(b.sub(b.f64(1.0 / 12), b.div(inner, square)), next);
  for (int i = 0; i < 10; ++i)
    tail = b.select(b.eq(k, b.f64(i)), b.f64(kTail[i]), tail);
  return tail;
}

/// Binomial draws of a large mean by transformed rejection (BTRS, Hörmann 1993), p <= 1/2.
template <class B, class V, class F, class M>
F binomialByRejection(B &b, V index, V stream, V key, M needed, F n, F p) {
  F one = b.f64(1.0), half = b.f64(0.5);
  F odds = b.div(p, b.sub(one, p));
  F deviation = b.sqrt(b.mul(b.mul(n, p), b.sub(one, p)));
  F scale = b.add(b.f64(1.15), b.mul(b.f64(2.53), deviation));
  F a = b.add(b.add(b.f64(-0.0873), b.mul(b.f64(0.0248), scale)), b.mul(b.f64(0.01), p));
  F center = b.add(b.mul(n, p), half);
  F squeeze = b.sub(b.f64(0.92), b.div(b.f64(4.2), scale));
  F alpha = b.mul(b.add(b.f64(2.83), b.div(b.f64(5.1), scale)), deviation);
  F mode = b.floor(b.mul(b.add(n, one), p)), above = b.add(b.sub(n, mode), one);
  F atMode =
      b.add(b.mul(b.add(mode, half), log<64>(b, b.div(b.add(mode, one), b.mul(odds, above)))),
            b.add(stirlingTail(b, mode), stirlingTail(b, b.sub(n, mode))));
  return attempts(b, index, stream, key, needed, mode, [&](const std::array<V, 4> &w) {
    F u = b.sub(openUnit(b, joinWords(b, w[0], w[1])), half);
    F v = openUnit(b, joinWords(b, w[2], w[3]));
    F edge = b.sub(half, b.abs(u));
    F slope = b.add(b.div(b.mul(b.f64(2.0), a), edge), scale);
    F k = b.floor(b.add(b.mul(slope, u), center));
    auto quick = b.mand(b.ge(edge, b.f64(0.07)), b.le(v, squeeze));
    auto possible = b.mand(b.ge(k, b.f64(0.0)), b.le(k, n));
    F safe = b.select(possible, k, mode), beyond = b.add(b.sub(n, safe), one);
    F spread = b.add(b.div(a, b.mul(edge, edge)), scale);
    F left = log<64>(b, b.div(b.mul(v, alpha), spread));
    F atK =
        b.add(b.mul(b.add(n, one), log<64>(b, b.div(above, beyond))),
              b.mul(b.add(safe, half), log<64>(b, b.div(b.mul(odds, beyond), b.add(safe, one)))));
    F tails = b.add(stirlingTail(b, safe), stirlingTail(b, b.sub(n, safe)));
    auto accepted = b.mand(possible, b.le(left, b.sub(b.add(atMode, atK), tails)));
    return std::pair{b.mor(b.mand(quick, possible), accepted), k};
  });
}

/// A binomial draw as a float; `trials` is an integer value.
template <class B, class V, class F>
F randomBinomial(B &b, V index, V stream, V key, F trials, F probability) {
  F zero = b.f64(0.0), one = b.f64(1.0), half = b.f64(0.5);
  auto valid = b.mand(b.ge(trials, zero), b.mand(b.ge(probability, zero), b.le(probability, one)));
  auto flipped = b.gt(probability, half);
  F p = b.select(valid, b.select(flipped, b.sub(one, probability), probability), zero);
  F n = b.select(valid, trials, zero);
  F mean = b.mul(n, p);
  auto large = b.ge(mean, b.f64(kSmallMean));
  auto small = b.mnot(large);
  F fewN = b.select(large, one, n), fewP = b.select(large, half, p);
  F manyN = b.select(large, n, b.f64(40.0)), manyP = b.select(large, p, half);
  std::array<V, 4> w = philox(b, index, stream, philoxKeys(b, key));
  F u = openUnit(b, joinWords(b, w[0], w[1]));
  F odds = b.div(fewP, b.sub(one, fewP));
  F none = exp<64>(b, b.mul(fewN, log1p<64>(b, b.neg(fewP))));
  F counted = countByInversion(
      b, u, small, none, [&](F k) { return b.div(b.mul(b.add(b.sub(fewN, k), one), odds), k); });
  // Rounding may leave something of u when all trials are counted.
  counted = b.select(b.gt(counted, fewN), fewN, counted);
  auto [drawn] = b.ifAny(
      large,
      [&] {
        return std::tuple<F>{binomialByRejection(b, index, stream, key, large, manyN, manyP)};
      },
      counted);
  F k = b.select(flipped, b.sub(n, drawn), drawn);
  return b.select(valid, k, b.f64(kNaN));
}

/// Von Mises around 0 (Best and Fisher 1979); an attempt succeeds with a probability above 0.65. A
/// concentration above 1e6 is drawn as a normal, one below 1e-8 as uniform.
template <class B, class V, class F>
F randomVonMises(B &b, V index, V stream, V key, F kappa) {
  F one = b.f64(1.0), two = b.f64(2.0), pi = b.f64(0x1.921fb54442d18p+1);
  auto valid = b.ge(kappa, b.f64(0.0));
  auto flat = b.lt(kappa, b.f64(1e-8)), sharp = b.gt(kappa, b.f64(1e6));
  auto needed = b.mand(valid, b.mnot(b.mor(flat, sharp)));
  F k = b.select(needed, kappa, one);
  F r = b.add(one, b.sqrt(b.add(one, b.mul(b.f64(4.0), b.mul(k, k)))));
  F rho = b.div(b.sub(r, b.sqrt(b.mul(two, r))), b.mul(two, k));
  // The formula for s cancels for a small concentration.
  F s = b.select(b.lt(k, b.f64(1e-5)), b.add(b.div(one, k), k),
                 b.div(b.add(one, b.mul(rho, rho)), b.mul(two, rho)));
  std::array<V, 4> w = philox(b, index, b.iadd(stream, b.i64(kMostAttempts)), philoxKeys(b, key));
  F u = openUnit(b, joinWords(b, w[0], w[1]));
  F uniform = b.mul(pi, b.sub(b.mul(two, u), one));
  F normal = b.div(normalFrom(b, u, w[2]), b.sqrt(b.select(sharp, kappa, one)));
  F drawn = attempts(
      b, index, stream, key, needed, b.select(sharp, normal, uniform),
      [&](const std::array<V, 4> &w) {
        F turn = openUnit(b, joinWords(b, w[0], w[1]));
        F v = openUnit(b, joinWords(b, w[2], w[3]));
        F z = cosOfSmall<64>(b, b.mul(pi, turn));
        F c = b.div(b.add(one, b.mul(s, z)), b.add(s, z));
        F y = b.mul(k, b.sub(s, c));
        auto quick = b.ge(b.sub(b.mul(y, b.sub(two, y)), v), b.f64(0.0));
        F slow = b.sub(b.add(log<64>(b, b.div(y, v)), one), y);
        F inside = b.select(b.gt(c, one), one, c);
        F angle = acos<64>(b, b.select(b.lt(inside, b.neg(one)), b.neg(one), inside));
        // The side is a bit that no other use of these words reads.
        auto left = b.ine(b.band(w[0], b.i64(1)), b.i64(0));
        return std::pair{b.mor(quick, b.ge(slow, b.f64(0.0))), b.select(left, b.neg(angle), angle)};
      });
  return b.select(valid, drawn, b.f64(kNaN));
}

} // namespace graphc::math

#endif // GRAPHC_COMPILER_MATH_SAMPLERS_H
