//===- Routine.h - What the host library of the runtime can do --------------------------------===//
//
// A routine is a step that no fused kernel computes: sorting, LAPACK. The recorder checks one
// when it is recorded, the compiler when it verifies IR, the executor before it runs (a program is
// not trusted); all three ask here. runtime/library has the code.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_RUNTIME_BASE_ROUTINE_H
#define GRAPHC_RUNTIME_BASE_ROUTINE_H

#include "runtime/base/DType.h"
#include "runtime/base/Status.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace graphc {

/// The numbers are part of the digest of a graph; programs hold names.
enum class Routine : uint32_t {
  Sort = 0,
  Argsort = 1,
  Lexsort = 2,
  Searchsorted = 3,
  Cholesky = 4,
  Qr = 5,
  Solve = 6,
  Inv = 7,
  Det = 8,
  Slogdet = 9,
  Eigh = 10,
  Eig = 11,
  Svd = 12,
  Lstsq = 13,
  Nonzero = 14,
  Compress = 15,
  Partition = 16,
  Argpartition = 17,
  NonzeroFilled = 18,
  CompressFilled = 19,
  Correlate = 20,
};
inline constexpr int kRoutineCount = 21;

/// A dense row-major tensor without its elements; a size of -1 is not known yet.
struct RoutineTensor {
  DType dtype;
  std::span<const int64_t> shape;
};

/// Whether devices of class `gpu` have kernels for it, of real numbers; the others run on the host.
constexpr bool hasGroupKernels(Routine routine) {
  return routine == Routine::Sort || routine == Routine::Argsort || routine == Routine::Lexsort ||
         routine == Routine::Searchsorted || routine == Routine::Correlate;
}

/// "sort", "argsort", ...
std::string_view routineName(Routine routine);
std::optional<Routine> routineFromName(std::string_view name);

/// Whether the routine takes these operands and parameters and gives this result. Every tensor has
/// the routine's canonical rank (leading axes merged into one batch axis):
///
///   sort          x(b, n) -> x(b, n)                params: descending
///   argsort       x(b, n) -> int64(b, n)            params: descending
///   lexsort       keys(b, n)... -> int64(b, n)      the last key is the first to decide
///   searchsorted  a(n), v(m) -> int64(m)            params: right
///   partition     x(b, n), int64(2) -> x(b, n)      places, first to last, that are as sorted
///   argpartition  x(b, n), int64(2) -> int64(b, n)
///   nonzero       bool(n) -> int64(m)               positions; a run checks that m are true
///   compress      x(n, k), bool(n) -> x(m, k)       rows where the mask is true; m likewise
///   nonzero_filled   bool(n) -> int64(n)            positions, then (params: 0) copies of the last
///   compress_filled  x(n, k), bool(n) -> x(n, k)    rows likewise; 0 and ones where none is true
///   correlate     float x(n), w(m) -> y, m <= n     sums over i of w[i] * x[i + j - m + 1], where
///                                                   those are in x. params: which j. 0: all
///                                                   n + m - 1; 1: the n - m + 1 whole ones; 2, 3:
///                                                   n of them from (m - 1) / 2, m / 2 on
///   cholesky      a(b, n, n) -> a(b, n, n)          params: upper
///   solve         a(b, n, n), y(b, n, k) -> x(b, n, k)
///   inv           a(b, n, n) -> a(b, n, n)          params: NaN for a singular matrix, no error
///   det           a(b, n, n) -> a(b)
///
/// Several results share a result in the matrix's dtype, real ones of a complex matrix too: for
/// each matrix the parts follow one another, each row-major (k is the smaller of m and n).
///
///   slogdet  a(b, n, n) -> sign, logarithm of the absolute value
///   qr       a(b, m, n) -> params: mode. 0: q(m, k), r(k, n); 1: q(m, m), r(m, n); 2: r(k, n);
///                          3: h(n, m), tau(k)
///   eigh     a(b, n, n) -> w(n), v(n, n)            params: values only, lower
///   eig      a(b, n, n) -> w(n), v(n, n), both complex     params: values only
///   svd      a(b, m, n) -> params: mode. 0: s(k); 1: u(m, k), s(k), vh(k, n); 2: u(m, m), s(k),
///                          vh(n, n)
///   lstsq    a(m, n), y(m, k), rcond(1) -> x(n, k), residuals(k), rank, s(min(m, n)); one matrix
///
/// InvalidArgument (counts, parameters), DType or Shape, with the routine's name.
Status checkRoutine(Routine routine, std::span<const RoutineTensor> operands,
                    const RoutineTensor &result, std::span<const int64_t> params);

} // namespace graphc

#endif // GRAPHC_RUNTIME_BASE_ROUTINE_H
