//===- Complex.h - Complex arithmetic and elementary functions over real ones -----------------===//
//
// Templates over a builder `B` of one real format with values `B::V`: num(double), add, sub, mul,
// div, neg, abs, copysign, sqrt, lt, gt, ge, eq, isnan, isinf, mand, mor, mnot, select and the real
// elementary functions by their names. `B::kWide` says whether the format is f64. Everything is
// branch-free, so that all targets compute the same bits.
//
// Products and quotients are NumPy's (Smith's method for the latter); special values are those of
// C's annex G. Inverse functions: W. Kahan, "Branch cuts for complex elementary functions", 1987.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_COMPILER_MATH_COMPLEX_H
#define GRAPHC_COMPILER_MATH_COMPLEX_H

namespace graphc::math {

template <class V>
struct Parts {
  V re, im;
};

template <class B>
class Complex {
public:
  using V = typename B::V;
  using Z = Parts<V>;
  explicit Complex(B &builder) : b(builder) {}

  Z add(Z x, Z y) { return {b.add(x.re, y.re), b.add(x.im, y.im)}; }
  Z sub(Z x, Z y) { return {b.sub(x.re, y.re), b.sub(x.im, y.im)}; }
  Z neg(Z z) { return {b.neg(z.re), b.neg(z.im)}; }
  Z conj(Z z) { return {z.re, b.neg(z.im)}; }
  Z scale(Z z, double by) { return {b.mul(z.re, b.num(by)), b.mul(z.im, b.num(by))}; }
  Z mul(Z x, Z y) {
    return {b.sub(b.mul(x.re, y.re), b.mul(x.im, y.im)),
            b.add(b.mul(x.re, y.im), b.mul(x.im, y.re))};
  }
  Z div(Z x, Z y);
  Z select(V mask, Z x, Z y) { return {b.select(mask, x.re, y.re), b.select(mask, x.im, y.im)}; }
  V abs(Z z) { return b.hypot(z.re, z.im); }
  Z sign(Z z);
  Z reciprocal(Z z);

  V equal(Z x, Z y) { return b.mand(b.eq(x.re, y.re), b.eq(x.im, y.im)); }
  /// By real parts, then by imaginary ones; `orEqual` decides between equal numbers.
  V less(Z x, Z y, bool orEqual) {
    V last = orEqual ? b.le(x.im, y.im) : b.lt(x.im, y.im);
    V known = b.mnot(b.mor(b.isnan(x.im), b.isnan(y.im)));
    return b.mor(b.mand(b.lt(x.re, y.re), known), b.mand(b.eq(x.re, y.re), last));
  }
  V isnan(Z z) { return b.mor(b.isnan(z.re), b.isnan(z.im)); }
  V isinf(Z z) { return b.mor(b.isinf(z.re), b.isinf(z.im)); }
  V isfinite(Z z) { return b.mand(finite(z.re), finite(z.im)); }
  /// The smaller (larger) in the order of `less`; NaN wins, the first operand's before the
  /// second's.
  Z minimum(Z x, Z y) { return select(b.mor(less(x, y, true), isnan(x)), x, y); }
  Z maximum(Z x, Z y) { return select(b.mor(less(y, x, true), isnan(x)), x, y); }

  Z sqrt(Z z);
  Z exp(Z z);
  Z expm1(Z z);
  Z exp2(Z z) { return exp(scale(z, kLn2)); }
  Z log(Z z);
  Z log1p(Z z);
  Z log2(Z z) { return scale(log(z), kLog2E); }
  Z log10(Z z) { return scale(log(z), kLog10E); }
  Z pow(Z x, Z y);

  Z sinh(Z z);
  Z cosh(Z z);
  Z tanh(Z z);
  Z sin(Z z) { return unturned(sinh(turned(z))); }
  Z cos(Z z) { return cosh(turned(z)); }
  Z tan(Z z) { return unturned(tanh(turned(z))); }

  Z asin(Z z);
  Z acos(Z z);
  Z atanh(Z z);
  Z asinh(Z z) { return unturned(asin(turned(z))); }
  Z acosh(Z z) {
    Z w = acos(z);
    return {b.abs(w.im), b.copysign(w.re, z.im)};
  }
  Z atan(Z z) { return unturned(atanh(turned(z))); }

private:
  static constexpr double kLn2 = 0.69314718055994530942, kLog2E = 1.44269504088896340736;
  static constexpr double kLog10E = 0.43429448190325182765, kPi = 3.14159265358979323846;
  // exp(kFar) is finite, as is the square of its square root's exponential.
  static constexpr double kFar = B::kWide ? 709 : 88;
  static constexpr double kExpFar = B::kWide ? 8.2184074615549724e307 : 1.6516362549940018e38;
  static constexpr double kHuge = B::kWide ? 4e307 : 8e37, kTiny = B::kWide ? 1e-290 : 1e-30;
  /// A power of four that brings kTiny to where squares are normal, its root, twice log of the
  /// root.
  static constexpr double kLift = B::kWide ? 0x1p120 : 0x1p60,
                          kLiftRoot = B::kWide ? 0x1p60 : 0x1p30;
  static constexpr double kLiftLog = (B::kWide ? 120 : 60) * kLn2;
  /// Beyond this 1 is lost beside a number, and beside the square of one.
  static constexpr double kLost = B::kWide ? 0x1p54 : 0x1p26;
  static constexpr double kSquareLost = B::kWide ? 0x1p28 : 0x1p14;

  V finite(V x) { return b.mnot(b.mor(b.isnan(x), b.isinf(x))); }
  V inf() { return b.div(b.num(1), b.num(0)); }
  Z turned(Z z) { return {b.neg(z.im), z.re}; }
  Z unturned(Z z) { return {z.im, b.neg(z.re)}; }
  /// exp(x) c and exp(x) s, also where exp(x) alone overflows.
  Z scaledByExp(V x, V c, V s) {
    V far = b.gt(x, b.num(kFar));
    V rest = b.sub(x, b.num(kFar));
    rest = b.select(b.gt(rest, b.num(kFar)), b.num(kFar), rest);
    V e = b.exp(b.select(far, rest, x));
    V more = b.select(far, b.num(kExpFar), b.num(1));
    return {b.mul(b.mul(c, more), e), b.mul(b.mul(s, more), e)};
  }
  /// Factors that keep the squares of a number's parts in range: 1/4, 1 or kLift.
  V rangeFactor(V most) {
    return b.select(b.gt(most, b.num(kHuge)), b.num(0.25),
                    b.select(b.lt(most, b.num(kTiny)), b.num(kLift), b.num(1)));
  }
  V largest(Z z) {
    V x = b.abs(z.re), y = b.abs(z.im);
    return b.select(b.gt(x, y), x, y);
  }
  Z plusOne(Z z, bool negative) {
    V one = b.num(1);
    return negative ? Z{b.sub(one, z.re), b.neg(z.im)} : Z{b.add(one, z.re), z.im};
  }
  /// log(2 |z|), also where |z| overflows.
  V logTwice(Z z) {
    V quarter = b.hypot(b.mul(z.re, b.num(0.25)), b.mul(z.im, b.num(0.25)));
    return b.add(b.log(quarter), b.num(3 * kLn2));
  }
  /// An infinite part as 1 with its sign, anything else as 0 with its sign.
  V direction(V x) { return b.copysign(b.select(b.isinf(x), b.num(1), b.num(0)), x); }

  B &b;
};

template <class B>
auto Complex<B>::div(Z x, Z y) -> Z {
  V wide = b.ge(b.abs(y.re), b.abs(y.im));
  V big = b.select(wide, y.re, y.im), small = b.select(wide, y.im, y.re);
  V zero = b.mand(b.eq(big, b.num(0)), b.eq(small, b.num(0)));
  V ratio = b.div(small, big);
  V factor = b.div(b.num(1), b.add(big, b.mul(small, ratio)));
  V re = b.select(wide, b.add(x.re, b.mul(x.im, ratio)), b.add(b.mul(x.re, ratio), x.im));
  V im = b.select(wide, b.sub(x.im, b.mul(x.re, ratio)), b.sub(b.mul(x.im, ratio), x.re));
  V none = b.abs(y.re);
  return select(zero, {b.div(x.re, none), b.div(x.im, none)},
                {b.mul(re, factor), b.mul(im, factor)});
}

template <class B>
auto Complex<B>::sign(Z z) -> Z {
  V h = abs(z);
  V zero = b.eq(h, b.num(0));
  Z unit = {b.div(z.re, h), b.div(z.im, h)};
  V one = b.mnot(b.mand(b.isinf(z.re), b.isinf(z.im)));
  unit = select(b.mand(isinf(z), one), {direction(z.re), direction(z.im)}, unit);
  return select(zero, {b.num(0), b.num(0)}, unit);
}

template <class B>
auto Complex<B>::reciprocal(Z z) -> Z {
  V wide = b.ge(b.abs(z.re), b.abs(z.im));
  V big = b.select(wide, z.re, z.im), small = b.select(wide, z.im, z.re);
  V ratio = b.div(small, big), below = b.add(big, b.mul(small, ratio));
  return {b.div(b.select(wide, b.num(1), ratio), below),
          b.div(b.neg(b.select(wide, ratio, b.num(1))), below)};
}

template <class B>
auto Complex<B>::sqrt(Z z) -> Z {
  V factor = rangeFactor(largest(z));
  V root = b.select(b.eq(factor, b.num(0.25)), b.num(2),
                    b.select(b.eq(factor, b.num(1)), b.num(1), b.num(1 / kLiftRoot)));
  V x = b.mul(b.abs(z.re), factor), y = b.mul(b.abs(z.im), factor);
  V major = b.sqrt(b.mul(b.add(x, b.hypot(x, y)), b.num(0.5)));
  V minor = b.div(y, b.add(major, major));
  V right = b.mnot(b.lt(z.re, b.num(0)));
  V re = b.mul(b.select(right, major, minor), root),
    im = b.mul(b.select(right, minor, major), root);
  Z value = {re, b.copysign(im, z.im)};
  value = select(b.mand(b.eq(z.re, b.num(0)), b.eq(z.im, b.num(0))), {b.num(0), z.im}, value);
  // Along the real axis at infinity one part is 0, or NaN with an imaginary part that is NaN.
  V rest = b.abs(b.sub(z.im, z.im));
  Z far = {b.select(right, inf(), rest), b.copysign(b.select(right, rest, inf()), z.im)};
  value = select(b.isinf(z.re), far, value);
  return select(b.isinf(z.im), {inf(), z.im}, value);
}

template <class B>
auto Complex<B>::exp(Z z) -> Z {
  Z value = scaledByExp(z.re, b.cos(z.im), b.sin(z.im));
  V zero = b.num(0), unbounded = b.mnot(finite(z.im));
  V nowhere = b.mand(b.isinf(z.re), unbounded), low = b.lt(z.re, zero);
  value.re = b.select(nowhere, b.select(low, zero, inf()), value.re);
  value.im = b.select(b.mand(nowhere, low), zero, value.im);
  V real = b.eq(z.im, zero);
  return select(real, {b.exp(z.re), z.im}, value);
}

template <class B>
auto Complex<B>::expm1(Z z) -> Z {
  V half = b.sin(b.mul(z.im, b.num(0.5)));
  V re = b.sub(b.mul(b.expm1(z.re), b.cos(z.im)), b.mul(b.num(2), b.mul(half, half)));
  Z whole = exp(z);
  // Where exp is large or has a special value, 1 is all the difference.
  V far = b.mor(b.mnot(finite(re)), b.gt(b.abs(z.re), b.num(40)));
  // A real part of -0 becomes +0.
  return {b.select(far, b.sub(whole.re, b.num(1)), b.add(re, b.num(0))), whole.im};
}

template <class B>
auto Complex<B>::log(Z z) -> Z {
  V x = b.abs(z.re), y = b.abs(z.im);
  V most = largest(z), least = b.select(b.gt(x, y), y, x);
  V factor = rangeFactor(most);
  V added = b.select(b.eq(factor, b.num(0.25)), b.num(2 * kLn2),
                     b.select(b.eq(factor, b.num(1)), b.num(0), b.num(-kLiftLog)));
  V h = b.hypot(b.mul(x, factor), b.mul(y, factor));
  V general = b.add(b.log(h), added);
  // Near the unit circle the logarithm is small.
  V one = b.num(1);
  V near = b.mul(b.num(0.5),
                 b.log1p(b.add(b.mul(b.sub(most, one), b.add(most, one)), b.mul(least, least))));
  V isNear = b.mand(b.mand(b.gt(h, b.num(0.71)), b.lt(h, b.num(1.73))), b.eq(factor, one));
  return {b.select(isNear, near, general), b.atan2(z.im, z.re)};
}

template <class B>
auto Complex<B>::log1p(Z z) -> Z {
  Z whole = log(plusOne(z, false));
  V small = b.lt(largest(z), b.num(0.7));
  V square = b.add(b.mul(z.re, b.add(z.re, b.num(2))), b.mul(z.im, z.im));
  return {b.select(small, b.mul(b.num(0.5), b.log1p(square)), whole.re), whole.im};
}

template <class B>
auto Complex<B>::pow(Z x, Z y) -> Z {
  V zero = b.num(0), one = b.num(1);
  Z value = exp(mul(y, log(x)));
  V fromZero = b.mand(b.eq(x.re, zero), b.eq(x.im, zero));
  V vanishes = b.gt(y.re, zero);
  V nan = b.sub(inf(), inf());
  Z ofZero = {b.select(vanishes, zero, nan), b.select(vanishes, zero, nan)};
  value = select(fromZero, ofZero, value);
  V byZero = b.mand(b.eq(y.re, zero), b.eq(y.im, zero));
  return select(byZero, {one, zero}, value);
}

} // namespace graphc::math

#include "compiler/math/ComplexFunctions.h"

#endif // GRAPHC_COMPILER_MATH_COMPLEX_H
