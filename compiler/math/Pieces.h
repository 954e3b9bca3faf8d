//===- Pieces.h - Functions that level off, piece by piece ------------------------------------===//
//
// An odd function that rises to 1 is a polynomial on each of sixteen pieces, whose coefficients a
// permutation of registers looks up (on devices, loads): no division, no exponential. Pieces become
// longer where the function levels off. Elsewhere than next to zero a piece has its centre where
// the function is nearly a float, so that the constant term, which is rounded, is as good as the
// rest (Gal, "Computing elementary functions", 1986).
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_COMPILER_MATH_PIECES_H
#define GRAPHC_COMPILER_MATH_PIECES_H

#include "compiler/math/Format.h"
#include "compiler/math/Select.h"

#include <array>

namespace graphc::math {

inline constexpr std::size_t kPieces = 16;

/// Of |x| up to `last`, beyond which the value is 1, piece number
/// round((slope + bend |x|) |x|). Rows are the centre, then coefficients of powers of |x| less the
/// centre, the lowest first; a constant term of 0 stands for |x| itself.
template <std::size_t N>
struct Pieces {
  float slope, bend, last;
  float rows[N][kPieces];
};

/// The one of sixteen values that the low four bits of an index say.
template <class B, class V, class I>
V chosen(B &b, const float (&row)[kPieces], I index, V) {
  std::array<V, kPieces> left;
  for (std::size_t i = 0; i < kPieces; ++i)
    left[i] = b.f32(row[i]);
  for (std::size_t count = kPieces, bit = 1; count > 1; count /= 2, bit *= 2) {
    auto odd = b.ine(b.band(index, b.i32(static_cast<int32_t>(bit))), b.i32(0));
    for (std::size_t i = 0; i < count / 2; ++i)
      left[i] = b.select(odd, left[2 * i + 1], left[2 * i]);
  }
  return left[0];
}

template <class B, class V, class I, std::size_t N>
std::array<V, N> lookUpRows(B &b, const float (&rows)[N][kPieces], I index, V like) {
  if constexpr (requires { b.lookup(rows, index); })
    if (b.looksUp())
      return b.lookup(rows, index);
  std::array<V, N> found;
  for (std::size_t i = 0; i < N; ++i)
    found[i] = chosen(b, rows[i], index, like);
  return found;
}

/// Odd bit by bit; -0 stays -0, NaN stays NaN.
template <class B, class V, std::size_t N>
V piecewiseOdd(B &b, V x, const Pieces<N> &pieces) {
  V a = atMost(b, b.abs(x), b.f32(pieces.last));
  V shifted = b.fma(b.fma(a, b.f32(pieces.bend), b.f32(pieces.slope)), a,
                    b.f32(static_cast<float>(Format<32>::kRound)));
  std::array<V, N> row = lookUpRows(b, pieces.rows, b.toBits(shifted), x);
  V t = b.sub(a, row[0]);
  V p = row[N - 1];
  for (std::size_t i = N - 2; i > 1; --i)
    p = b.fma(p, t, row[i]);
  V base = b.select(b.eq(row[1], b.f32(0.0f)), a, row[1]);
  return b.copysign(b.fma(p, t, base), x);
}

} // namespace graphc::math

#endif // GRAPHC_COMPILER_MATH_PIECES_H
