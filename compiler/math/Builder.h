//===- Builder.h - The arithmetic that scalar meanings are written in
//---------------------------===//
//
// The functions of this folder are templates over a builder `b`: an object whose methods either
// compute (tests: plain C++ scalars) or create operations (the compiler: arith and math ops on
// scalars or vectors). The same source therefore defines the bits of every target. A builder has no
// value type of its own: functions deduce it, so values may be one dynamic type (mlir::Value) or
// several static ones (float, int32_t, bool). Values have a kind: float of 32 or 64 bits, integer
// of 8, 16, 32 or 64 bits (signless), or mask.
//
// Every float operation is the IEEE one: correctly rounded to nearest even, denormals kept, no
// contraction, no assumption about NaN, infinities or signed zeros. Integer operations wrap.
//
//===--------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_COMPILER_MATH_BUILDER_H
#define GRAPHC_COMPILER_MATH_BUILDER_H

#include <concepts>
#include <cstdint>
#include <tuple>
#include <type_traits>
#include <utility>

namespace graphc::math {

/// A width in bits as an argument. Converts to `unsigned`, so a dynamically typed builder takes
/// `unsigned width` where a statically typed one overloads on the tag.
template <unsigned N>
using Width = std::integral_constant<unsigned, N>;
template <unsigned N>
inline constexpr Width<N> kWidth{};

/// What a builder offers. F and D are values of 32 and 64 bit floats, I and L of 32 and 64 bit
/// integers, M masks; with a dynamically typed builder they are one type.
///
/// constants (splat to the width of the computation)
///   f32(float) f64(double) i32(int32_t) i64(int64_t); intConst(width, int64_t) of any integer
///   width (value truncated)
/// float (both operands of one width; result of that width)
///   add sub mul div; fma(a, b, c) rounded once; neg abs copysign(magnitude, sign) change bits only
///   (NaN too); sqrt, roundeven floor ceil trunc (to an integral float)
/// float comparisons -> mask, ordered (false on NaN) but for ne (true on NaN): lt le gt ge eq ne;
/// isnan(x) integer (one width)
///   iadd isub imul band bor bxor; shl ashr lshr by a value of the same width, always below the
///   width; sdiv srem udiv urem: the divisor is never 0 and no quotient overflows
/// integer comparisons -> mask: ieq ine slt sle sgt sge ult ule ugt uge
/// masks: mand mor mxor mnot
/// select(mask, a, b): a where the mask holds; values of any one kind, not masks
/// conversions
///   toBits(x): float -> integer of its width; fromBits(x): back; extf: f32 -> f64; truncf: f64 ->
///   f32, rounded sitofp(x, width) uitofp(x, width): integer -> float of that width, rounded
///   fptosi(x, width): toward zero; lanes whose value is out of range or NaN give any value,
///   without a trap sext zext (x, width) to a wider or equal width; itrunc(x, width) to a narrower
///   or equal one
/// control
///   ifAny(mask, fn, else...) -> tuple: per lane `mask ? fn() : else...`, where fn returns a tuple
///   of the types of
///     `else...`. fn's operations may be skipped when no lane of the mask holds. The result never
///     depends on the branch.
///   whileAny(cond, body, init...) -> tuple: per lane `s = init; while (cond(s...)) s =
///   body(s...)`; cond returns a mask,
///     body a tuple. A lane whose condition fails keeps its state while others go on. Loops here
///     are bounded.
/// optional
///   scale(x, n): x * 2^n rounded once, x float, n integer of x's width and |n| <= 2 * bias +
///   mantissa bits. When a
///     builder lacks it, scaleByPowerOfTwo (Select.h) does it with two multiplications and the same
///     bits.
///   umulhi(a, b): high half of the unsigned 64-bit product; else four 32-bit products
///   int64Conversions(): true if sitofp and fptosi between 64-bit integers and f64 are single
///   operations; else forms that
///     need none are used where the range allows, with the same results
template <class B>
concept Builder = requires(B &b) {
  b.add(b.f32(1.0f), b.fma(b.f32(1.0f), b.f32(1.0f), b.f32(1.0f)));
  b.sqrt(b.roundeven(b.floor(b.ceil(b.trunc(b.f64(1.0))))));
  b.select(b.mor(b.lt(b.f32(0.0f), b.f32(1.0f)), b.isnan(b.f32(0.0f))), b.i64(0), b.i64(1));
  b.iadd(b.i32(1), b.toBits(b.truncf(b.extf(b.f32(1.0f)))));
  b.fromBits(b.shl(b.i64(1), b.i64(1)));
  b.sitofp(b.sext(b.intConst(kWidth<8>, 1), kWidth<64>), kWidth<32>);
  b.fptosi(b.uitofp(b.itrunc(b.i64(1), kWidth<16>), kWidth<64>), kWidth<32>);
};

} // namespace graphc::math

#endif // GRAPHC_COMPILER_MATH_BUILDER_H
