//===- ComplexFunctions.h - Hyperbolic functions of Complex.h and inverse ones ----------------===//
//
// The tail of Complex.h, which includes it; circular functions are these on a turned argument.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_COMPILER_MATH_COMPLEXFUNCTIONS_H
#define GRAPHC_COMPILER_MATH_COMPLEXFUNCTIONS_H

#include "compiler/math/Complex.h"

namespace graphc::math {

template <class B>
auto Complex<B>::sinh(Z z) -> Z {
  V c = b.cos(z.im), s = b.sin(z.im), zero = b.num(0);
  V size = b.abs(z.re), far = b.gt(size, b.num(22));
  V half = b.num(0.5);
  Z large = scaledByExp(size, b.mul(c, half), b.mul(s, half));
  V re = b.select(far, b.copysign(b.num(1), z.re), b.sinh(z.re));
  re = b.mul(re, b.select(far, large.re, c));
  V im = b.select(far, large.im, b.mul(b.cosh(z.re), s));
  V nowhere = b.mand(b.isinf(z.re), b.mnot(finite(z.im)));
  V lost = b.mand(b.eq(z.re, zero), b.mnot(finite(z.im)));
  re = b.select(b.mor(nowhere, lost), z.re, re);
  V straight = b.eq(z.im, zero);
  return {b.select(straight, b.sinh(z.re), re),
          b.select(b.mand(straight, b.mnot(finite(z.re))), z.im, im)};
}

template <class B>
auto Complex<B>::cosh(Z z) -> Z {
  V c = b.cos(z.im), s = b.sin(z.im), zero = b.num(0);
  V size = b.abs(z.re), far = b.gt(size, b.num(22));
  V half = b.num(0.5);
  Z large = scaledByExp(size, b.mul(c, half), b.mul(s, half));
  V re = b.select(far, large.re, b.mul(b.cosh(z.re), c));
  V im = b.select(far, b.mul(b.copysign(b.num(1), z.re), large.im), b.mul(b.sinh(z.re), s));
  V nowhere = b.mand(b.isinf(z.re), b.mnot(finite(z.im)));
  V straight = b.eq(z.im, zero);
  re = b.select(nowhere, inf(), b.select(straight, b.cosh(z.re), re));
  V none = b.mul(b.copysign(zero, z.re), b.copysign(b.num(1), z.im));
  V lost =
      b.mor(b.mand(straight, b.mnot(finite(z.re))), b.mand(b.eq(z.re, zero), b.mnot(finite(z.im))));
  return {re, b.select(lost, none, im)};
}

template <class B>
auto Complex<B>::tanh(Z z) -> Z {
  V zero = b.num(0), one = b.num(1);
  V t = b.tan(z.im), s = b.sinh(z.re);
  V beta = b.add(one, b.mul(t, t)), square = b.mul(s, s);
  V below = b.add(one, b.mul(beta, square));
  V re = b.div(b.mul(b.mul(beta, b.sqrt(b.add(one, square))), s), below);
  V im = b.div(t, below);
  V size = b.abs(z.re), far = b.gt(size, b.num(22));
  V turn = b.mul(b.sin(z.im), b.cos(z.im));
  V decay = b.mul(b.num(4), b.exp(b.mul(b.num(-2), size)));
  // C99 gives the zero at infinity the sign of sin(2 im), the Array API that of im.
  V bounded = b.mand(finite(z.im), b.mnot(b.isinf(z.re)));
  V vanishing = b.select(bounded, b.mul(turn, decay), b.copysign(zero, z.im));
  Z value = select(far, {b.copysign(one, z.re), vanishing}, {re, im});
  // Without a bounded angle only what follows from a part of 0 or infinity is known.
  V lost = b.mand(b.mnot(finite(z.im)), b.mnot(b.isinf(z.re)));
  V nan = b.sub(inf(), inf());
  value = select(lost, {b.select(b.eq(z.re, zero), z.re, nan), nan}, value);
  return {value.re, b.select(b.eq(z.im, zero), z.im, value.im)};
}

template <class B>
auto Complex<B>::asin(Z z) -> Z {
  Z low = sqrt(plusOne(z, true)), high = sqrt(plusOne(z, false));
  Z product = mul(low, high), turn = mul(conj(low), high);
  Z value = {b.atan2(z.re, product.re), b.asinh(turn.im)};
  V far = b.gt(largest(z), b.num(kSquareLost));
  value = select(far, {b.atan2(z.re, b.abs(z.im)), b.copysign(logTwice(z), z.im)}, value);
  value.re = b.select(b.eq(z.re, b.num(0)), z.re, value.re);
  V angle = b.atan2(direction(z.re), b.abs(direction(z.im)));
  angle = b.select(isnan(z), b.add(z.re, z.im), angle);
  return select(isinf(z), {angle, b.copysign(inf(), z.im)}, value);
}

template <class B>
auto Complex<B>::acos(Z z) -> Z {
  Z low = sqrt(plusOne(z, true)), high = sqrt(plusOne(z, false));
  Z turn = mul(conj(high), low);
  Z value = {b.mul(b.num(2), b.atan2(low.re, high.re)), b.asinh(turn.im)};
  V far = b.gt(largest(z), b.num(kSquareLost));
  value = select(far, {b.atan2(b.abs(z.im), z.re), b.neg(b.copysign(logTwice(z), z.im))}, value);
  value.re = b.select(b.mand(b.eq(z.re, b.num(0)), b.isnan(z.im)), b.num(kPi / 2), value.re);
  V angle = b.atan2(b.abs(direction(z.im)), direction(z.re));
  angle = b.select(isnan(z), b.add(z.re, z.im), angle);
  return select(isinf(z), {angle, b.neg(b.copysign(inf(), z.im))}, value);
}

template <class B>
auto Complex<B>::atanh(Z z) -> Z {
  V zero = b.num(0), one = b.num(1), less = b.sub(z.re, one), square = b.mul(z.im, z.im);
  V near = b.add(b.mul(less, less), square);
  V re = b.mul(b.num(0.25), b.log1p(b.div(b.mul(b.num(4), z.re), near)));
  // Odd, and accurate where the argument of the logarithm is above -1/2.
  V flipped = b.add(b.mul(b.add(z.re, one), b.add(z.re, one)), square);
  V mirrored = b.mul(b.num(-0.25), b.log1p(b.div(b.mul(b.num(-4), z.re), flipped)));
  re = b.select(b.lt(z.re, zero), mirrored, re);
  V across = b.sub(b.mul(b.sub(one, z.re), b.add(one, z.re)), square);
  V im = b.mul(b.num(0.5), b.atan2(b.mul(b.num(2), z.im), across));
  // Far out it is 1 / z beside a quarter turn.
  V far = b.gt(largest(z), b.num(kLost)), h = abs(z);
  V outside = b.select(isinf(z), b.copysign(zero, z.re), b.div(b.div(z.re, h), h));
  V quarter = b.select(b.isnan(z.im), z.im, b.copysign(b.num(kPi / 2), z.im));
  quarter = b.select(b.mand(b.isnan(z.re), b.mnot(b.isinf(z.im))), z.re, quarter);
  // Beside the poles the square of the distance underflows.
  V pole = b.mand(b.eq(b.abs(z.re), one), b.lt(b.abs(z.im), b.num(kTiny)));
  V close = b.mul(b.num(0.5), b.sub(b.num(kLn2), b.log(b.abs(z.im))));
  re = b.select(pole, b.copysign(close, z.re), re);
  re = b.select(b.eq(z.re, zero), z.re, re);
  return select(b.mor(far, isinf(z)), {outside, quarter}, {re, im});
}

} // namespace graphc::math

#endif // GRAPHC_COMPILER_MATH_COMPLEXFUNCTIONS_H
