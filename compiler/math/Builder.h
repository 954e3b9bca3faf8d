//===- Builder.h - The arithmetic that scalar meanings are written in -------------------------===//
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
//===------------------------------------------------------------------------------------------===//
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

/// What a builder offers. Values are floats of 32 or 64 bits, integers of 8 to 64 bits, or masks.
///
/// Constants, splat to the width of the computation:
/// - f32(float), f64(double), i32(int32_t), i64(int64_t)
/// - intConst(width, int64_t): of any integer width, the value truncated
///
/// Floats, operands of one width:
/// - add, sub, mul, div; fma(a, b, c) rounded once; sqrt
/// - neg, abs, copysign(magnitude, sign): change bits only, of NaN too
/// - roundeven, floor, ceil, trunc: to an integral float
/// - lt, le, gt, ge, eq -> mask, false on NaN; ne -> mask, true on NaN; isnan(x) -> mask
///
/// Integers, operands of one width:
/// - iadd, isub, imul, band, bor, bxor: wrapping
/// - shl, ashr, lshr: by a value of the same width, always below the width
/// - sdiv, srem, udiv, urem: the divisor is never 0 and no quotient overflows
/// - ieq, ine, slt, sle, sgt, sge, ult, ule, ugt, uge -> mask
///
/// Masks: mand, mor, mxor, mnot; select(mask, a, b) is a where the mask holds (a, b no masks).
///
/// Conversions:
/// - toBits(x): float to the integer of its width; fromBits(x): back
/// - extf: f32 to f64; truncf: f64 to f32, rounded
/// - sitofp(x, width), uitofp(x, width): integer to float of that width, rounded
/// - fptosi(x, width): toward zero; a lane out of range or NaN gives any value, without a trap
/// - sext, zext(x, width): to an equal or greater width; itrunc(x, width): or smaller
///
/// Control:
/// - ifAny(mask, fn, else...) -> tuple: per lane `mask ? fn() : else...`; fn returns a tuple of the
///   types of `else...` and may be skipped when no lane holds. The result never shows the branch.
/// - whileAny(cond, body, init...) -> tuple: per lane the state s = init becomes body(s...) while
///   cond(s...); cond returns a mask, body a tuple. A lane whose condition fails keeps its state
///   while others go on. Loops here are bounded.
///
/// Optional:
/// - scale(x, n): x * 2^n rounded once, n an integer of x's width. scaleByProducts (Format.h) gives
///   the same bits in seven operations, for the targets of a builder that lack the operation.
///   Given a third argument, the same n as a float, it may use that instead; this is one operation
///   where scalesByFloats(x).
/// - leastMagnitude(x, bound), where scalesByFloats(x): as the function of Select.h
/// - negatedBy(x): y if x was made as neg(y), else a null value
/// - blends(x): whether a select of values like x costs less than a multiply-add, as it is done by
///   other units; both ways give the same bits
/// - skipsBranches(): whether an ifAny that no lane takes costs less than a few operations
/// - lookup(rows, index), where looksUp(): of rows of sixteen f32 (float[N][16]) the ones that the
///   low four bits of an integer of 32 bits say, as a std::array
/// - apart(name, x, fn): the tuple fn(b, x), by a function that the program has under that name
/// - umulhi(a, b): high half of the unsigned 64-bit product; else four 32-bit products
/// - int64Conversions(): true if sitofp and fptosi between 64-bit integers and f64 are single
///   operations; else forms without them are used where the range allows, with the same results
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
