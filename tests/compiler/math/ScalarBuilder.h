//===- ScalarBuilder.h - The builder of compiler/math over plain C++ scalars ------------------===//
#ifndef GRAPHC_TESTS_COMPILER_MATH_SCALARBUILDER_H
#define GRAPHC_TESTS_COMPILER_MATH_SCALARBUILDER_H

#include "compiler/math/Builder.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <type_traits>

namespace graphc::math::test {

template <unsigned W>
using IntOf = std::conditional_t<
    W == 8, int8_t,
    std::conditional_t<W == 16, int16_t, std::conditional_t<W == 32, int32_t, int64_t>>>;
template <unsigned W>
using FloatOf = std::conditional_t<W == 32, float, double>;

/// Computes on float, double, int8_t ... int64_t and bool. Compile with contraction off.
///
/// Branches: kTaken runs `ifAny` only where its mask holds, kBoth always (a vectorizer's view); a
/// result may not differ. Operations are counted when Count is set.
enum class Branch { kTaken, kBoth };
template <Branch kBranch = Branch::kTaken, bool Count = false>
struct ScalarBuilder {
  int count = 0;
  template <class T>
  T op(T v) {
    if constexpr (Count)
      ++count;
    return v;
  }
  template <class T>
  using U = std::make_unsigned_t<T>;

  float f32(float v) { return v; }
  double f64(double v) { return v; }
  int32_t i32(int32_t v) { return v; }
  int64_t i64(int64_t v) { return v; }
  template <unsigned W>
  IntOf<W> intConst(Width<W>, int64_t v) {
    return static_cast<IntOf<W>>(v);
  }

  // clang-format off
  template <class T> T add(T a, T b) { return op<T>(a + b); }
  template <class T> T sub(T a, T b) { return op<T>(a - b); }
  template <class T> T mul(T a, T b) { return op<T>(a * b); }
  template <class T> T div(T a, T b) { return op<T>(a / b); }
  float fma(float a, float b, float c) { return op(__builtin_fmaf(a, b, c)); }
  double fma(double a, double b, double c) { return op(__builtin_fma(a, b, c)); }
  template <class T> T neg(T a) { return op<T>(-a); }
  float abs(float a) { return op(__builtin_fabsf(a)); }
  double abs(double a) { return op(__builtin_fabs(a)); }
  float copysign(float a, float s) { return op(__builtin_copysignf(a, s)); }
  double copysign(double a, double s) { return op(__builtin_copysign(a, s)); }
  float sqrt(float a) { return op(__builtin_sqrtf(a)); }
  double sqrt(double a) { return op(__builtin_sqrt(a)); }
  float roundeven(float a) { return op(__builtin_roundevenf(a)); }
  double roundeven(double a) { return op(__builtin_roundeven(a)); }
  float floor(float a) { return op(__builtin_floorf(a)); }
  double floor(double a) { return op(__builtin_floor(a)); }
  float ceil(float a) { return op(__builtin_ceilf(a)); }
  double ceil(double a) { return op(__builtin_ceil(a)); }
  float trunc(float a) { return op(__builtin_truncf(a)); }
  double trunc(double a) { return op(__builtin_trunc(a)); }

  template <class T> bool lt(T a, T b) { return op(a < b); }
  template <class T> bool le(T a, T b) { return op(a <= b); }
  template <class T> bool gt(T a, T b) { return op(a > b); }
  template <class T> bool ge(T a, T b) { return op(a >= b); }
  template <class T> bool eq(T a, T b) { return op(a == b); }
  template <class T> bool ne(T a, T b) { return op(a != b); }
  template <class T> bool isnan(T a) { return op(a != a); }
  template <class T> T select(bool m, T a, T b) { return op(m ? a : b); }

  template <class T> T iadd(T a, T b) { return op(T(U<T>(a) + U<T>(b))); }
  template <class T> T isub(T a, T b) { return op(T(U<T>(a) - U<T>(b))); }
  template <class T> T imul(T a, T b) { return op(T(uint64_t(a) * uint64_t(b))); }
  template <class T> T band(T a, T b) { return op(T(a & b)); }
  template <class T> T bor(T a, T b) { return op(T(a | b)); }
  template <class T> T bxor(T a, T b) { return op(T(a ^ b)); }
  template <class T> T shl(T a, T n) { return op(T(U<T>(a) << n)); }
  template <class T> T ashr(T a, T n) { return op(T(a >> n)); }
  template <class T> T lshr(T a, T n) { return op(T(U<T>(a) >> n)); }
  template <class T> T sdiv(T a, T b) { return op(T(a / b)); }
  template <class T> T srem(T a, T b) { return op(T(a % b)); }
  template <class T> T udiv(T a, T b) { return op(T(U<T>(a) / U<T>(b))); }
  template <class T> T urem(T a, T b) { return op(T(U<T>(a) % U<T>(b))); }
  template <class T> bool ieq(T a, T b) { return op(a == b); }
  template <class T> bool ine(T a, T b) { return op(a != b); }
  template <class T> bool slt(T a, T b) { return op(a < b); }
  template <class T> bool sle(T a, T b) { return op(a <= b); }
  template <class T> bool sgt(T a, T b) { return op(a > b); }
  template <class T> bool sge(T a, T b) { return op(a >= b); }
  template <class T> bool ult(T a, T b) { return op(U<T>(a) < U<T>(b)); }
  template <class T> bool ule(T a, T b) { return op(U<T>(a) <= U<T>(b)); }
  template <class T> bool ugt(T a, T b) { return op(U<T>(a) > U<T>(b)); }
  template <class T> bool uge(T a, T b) { return op(U<T>(a) >= U<T>(b)); }
  bool mand(bool a, bool b) { return op(bool(a & b)); }
  bool mor(bool a, bool b) { return op(bool(a | b)); }
  bool mxor(bool a, bool b) { return op(bool(a ^ b)); }
  bool mnot(bool a) { return op(!a); }

  static bool looksUp() { return true; }
  template <size_t N>
  std::array<float, N> lookup(const float (&rows)[N][16], int32_t index) {
    std::array<float, N> found;
    for (size_t i = 0; i < N; ++i)
      found[i] = op(rows[i][index & 15]);
    return found;
  }

  int32_t toBits(float a) { return std::bit_cast<int32_t>(a); }
  int64_t toBits(double a) { return std::bit_cast<int64_t>(a); }
  float fromBits(int32_t a) { return std::bit_cast<float>(a); }
  double fromBits(int64_t a) { return std::bit_cast<double>(a); }
  double extf(float a) { return op<double>(a); }
  float truncf(double a) { return op(static_cast<float>(a)); }
  template <class T, unsigned W> FloatOf<W> sitofp(T a, Width<W>) { return op(static_cast<FloatOf<W>>(a)); }
  template <class T, unsigned W> FloatOf<W> uitofp(T a, Width<W>) { return op(static_cast<FloatOf<W>>(U<T>(a))); }
  template <class T, unsigned W> IntOf<W> fptosi(T a, Width<W>) {
    // The contract allows any value out of range; a recognisable one shows uses that rely on it.
    constexpr T limit = static_cast<T>(uint64_t{1} << (W - 1));
    return op(a >= -limit && a < limit ? static_cast<IntOf<W>>(a) : static_cast<IntOf<W>>(0x5a5a5a5a5a5a5a5a));
  }
  template <class T, unsigned W> IntOf<W> sext(T a, Width<W>) { return op(static_cast<IntOf<W>>(a)); }
  template <class T, unsigned W> IntOf<W> zext(T a, Width<W>) { return op(static_cast<IntOf<W>>(U<T>(a))); }
  template <class T, unsigned W> IntOf<W> itrunc(T a, Width<W>) { return op(static_cast<IntOf<W>>(a)); }
  // clang-format on

  template <class Fn, class... Vs>
  std::tuple<Vs...> ifAny(bool mask, Fn fn, Vs... otherwise) {
    if constexpr (kBranch == Branch::kBoth) {
      std::tuple<Vs...> taken = fn();
      return std::apply([&](auto... t) { return std::tuple<Vs...>{select(mask, t, otherwise)...}; },
                        taken);
    }
    return mask ? std::tuple<Vs...>(fn()) : std::tuple<Vs...>{otherwise...};
  }
  template <class Cond, class Body, class... Vs>
  std::tuple<Vs...> whileAny(Cond cond, Body body, Vs... init) {
    std::tuple<Vs...> state{init...};
    while (std::apply(cond, state))
      state = std::apply(body, state);
    return state;
  }
};

/// What a device without f64 is given: f32 code that used it would not compile.
template <Branch kBranch = Branch::kTaken>
struct NoFloat64 : ScalarBuilder<kBranch> {
  double f64(double) = delete;
  double extf(float) = delete;
};
template <class T, Branch kBranch = Branch::kTaken>
using BuilderOf = std::conditional_t<sizeof(T) == 4, NoFloat64<kBranch>, ScalarBuilder<kBranch>>;

} // namespace graphc::math::test

#endif // GRAPHC_TESTS_COMPILER_MATH_SCALARBUILDER_H
