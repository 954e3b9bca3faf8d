// Fourier transforms of small arrays, with the bits of the package's programs.
#include "frontends/record/SmallFourier.h"

#include "frontends/record/FloatErrors.h"
#include "frontends/record/Record.h"
#include "frontends/record/SmallElements.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>

// All of it for vectors that hasWide() tells, lambdas among it; elsewhere std::fma is a call.
#if defined(__clang__) && defined(__x86_64__)
#pragma clang attribute push(__attribute__((target("avx2,fma"))), apply_to = function)
#endif

namespace graphc::small {
namespace {

/// Points that are computed together.
template <typename T>
struct Points {
  typedef T Vector __attribute__((vector_size(32)));
  static constexpr int64_t kCount = 32 / sizeof(T);
  Vector re, im;
};

#define GRAPHC_INLINE [[gnu::always_inline]] inline

/// a * b + c, rounded once.
template <typename V>
GRAPHC_INLINE void multiplyAdd(const V &a, const V &b, const V &c, V &out) {
#if defined(__clang__)
  out = __builtin_elementwise_fma(a, b, c);
#else
  for (size_t i = 0; i < sizeof(V) / sizeof(a[0]); ++i)
    out[i] = std::fma(a[i], b[i], c[i]);
#endif
}

template <typename T>
GRAPHC_INLINE void add(const Points<T> &x, const Points<T> &y, Points<T> &out) {
  out = {x.re + y.re, x.im + y.im};
}
template <typename T>
GRAPHC_INLINE void subtract(const Points<T> &x, const Points<T> &y, Points<T> &out) {
  out = {x.re - y.re, x.im - y.im};
}
/// x * (c + i s).
template <typename T, typename V = typename Points<T>::Vector>
GRAPHC_INLINE void multiply(Points<T> &x, const V &c, const V &s) {
  V re, im;
  multiplyAdd<V>(x.re, c, -(x.im * s), re);
  multiplyAdd<V>(x.re, s, x.im * c, im);
  x = {re, im};
}
template <typename T>
GRAPHC_INLINE void timesMinusI(Points<T> &x) {
  x = {x.im, -x.re};
}

template <typename T>
GRAPHC_INLINE void four(const Points<T> &a, const Points<T> &b, const Points<T> &c,
                        const Points<T> &d, Points<T> (&out)[4]) {
  Points<T> even, odd, s, t;
  add(a, c, even);
  subtract(a, c, s);
  add(b, d, odd);
  subtract(b, d, t);
  add(even, odd, out[0]);
  out[1] = {s.re + t.im, s.im - t.re};
  subtract(even, odd, out[2]);
  out[3] = {s.re - t.im, s.im + t.re};
}

/// The square root of a half, as the package has it.
constexpr double kHalf = 0.70710678118654757;

/// x * exp(-2 pi i m / 16) for m of 2 and 6.
template <typename T>
GRAPHC_INLINE void turnEighth(Points<T> &x) {
  const T half = static_cast<T>(kHalf);
  x = {(x.re + x.im) * half, (x.im - x.re) * half};
}
template <typename T>
GRAPHC_INLINE void turnThreeEighths(Points<T> &x) {
  const T half = static_cast<T>(kHalf);
  x = {(x.im - x.re) * half, (x.re + x.im) * -half};
}

/// The radix of a pass, and the roots of unity of its order.
template <typename T>
struct Roots {
  const T *cosine, *sine;
  int64_t radix;
};
constexpr int kMostRadix = 17;

template <typename T>
GRAPHC_INLINE void eight(Points<T> *x) {
  Points<T> sums[4], rest[4], even[4], odd[4];
  for (int i = 0; i < 4; ++i) {
    add(x[i], x[i + 4], sums[i]);
    subtract(x[i], x[i + 4], rest[i]);
  }
  turnEighth(rest[1]);
  timesMinusI(rest[2]);
  turnThreeEighths(rest[3]);
  four(sums[0], sums[1], sums[2], sums[3], even);
  four(rest[0], rest[1], rest[2], rest[3], odd);
  for (int i = 0; i < 4; ++i) {
    x[2 * i] = even[i];
    x[2 * i + 1] = odd[i];
  }
}

template <typename T>
GRAPHC_INLINE void sixteen(Points<T> *x, const Roots<T> &roots) {
  using V = typename Points<T>::Vector;
  Points<T> columns[4][4], row[4];
  for (int b = 0; b < 4; ++b)
    four(x[b], x[b + 4], x[b + 8], x[b + 12], columns[b]);
  for (int k = 0; k < 4; ++k) {
    for (int b = 0; b < 4; ++b) {
      const int m = b * k;
      if (m == 2)
        turnEighth(columns[b][k]);
      else if (m == 4)
        timesMinusI(columns[b][k]);
      else if (m == 6)
        turnThreeEighths(columns[b][k]);
      else if (m != 0)
        multiply<T>(columns[b][k], V{} + roots.cosine[m], V{} - roots.sine[m]);
    }
    four(columns[0][k], columns[1][k], columns[2][k], columns[3][k], row);
    for (int a = 0; a < 4; ++a)
      x[k + 4 * a] = row[a];
  }
}

template <typename T>
GRAPHC_INLINE void odd(Points<T> *x, const Roots<T> &roots) {
  using V = typename Points<T>::Vector;
  const int64_t n = roots.radix, half = n / 2;
  Points<T> sums[kMostRadix / 2], differences[kMostRadix / 2];
  for (int64_t j = 1; j <= half; ++j) {
    add(x[j], x[n - j], sums[j - 1]);
    subtract(x[j], x[n - j], differences[j - 1]);
  }
  const Points<T> first = x[0];
  for (int64_t j = 0; j < half; ++j)
    add(x[0], sums[j], x[0]);
  for (int64_t k = 1; k <= half; ++k) {
    Points<T> a = first, b;
    for (int64_t j = 1; j <= half; ++j) {
      const V c = V{} + roots.cosine[j * k % n], s = V{} + roots.sine[j * k % n];
      multiplyAdd<V>(sums[j - 1].re, c, a.re, a.re);
      multiplyAdd<V>(sums[j - 1].im, c, a.im, a.im);
      if (j == 1) {
        b = {differences[0].re * s, differences[0].im * s};
        continue;
      }
      multiplyAdd<V>(differences[j - 1].re, s, b.re, b.re);
      multiplyAdd<V>(differences[j - 1].im, s, b.im, b.im);
    }
    x[k] = {a.re + b.im, a.im - b.re};
    x[n - k] = {a.re - b.im, a.im + b.re};
  }
}

template <typename T, int kRadix>
GRAPHC_INLINE void butterfly(Points<T> *x, const Roots<T> &roots) {
  if constexpr (kRadix == 2) {
    const Points<T> first = x[0];
    add(first, x[1], x[0]);
    subtract(first, x[1], x[1]);
  } else if constexpr (kRadix == 4) {
    Points<T> out[4];
    four(x[0], x[1], x[2], x[3], out);
    std::copy_n(out, 4, x);
  } else if constexpr (kRadix == 8) {
    eight(x);
  } else if constexpr (kRadix == 16) {
    sixteen(x, roots);
  } else {
    odd(x, roots);
  }
}

/// Pairs of numbers, along an axis of so many with so many others around it.
template <typename T>
struct Pairs {
  std::vector<T> re, im;
  int64_t before = 1, length = 1, after = 1;

  void make(int64_t points) {
    length = points;
    re.resize(static_cast<size_t>(before * length * after));
    im.resize(re.size());
  }
};

/// One pass of a row of the axes before: x is read at [j][p, q], y written at [p][k][q].
template <typename T, int kRadix>
void passRow(const T *re, const T *im, T *toRe, T *toIm, int64_t m, int64_t inner, const T *cosine,
             const T *sine, const Roots<T> &roots) {
  using V = typename Points<T>::Vector;
  constexpr int64_t kCount = Points<T>::kCount;
  const int64_t radix = kRadix ? kRadix : roots.radix, points = m * inner;
  Points<T> x[kRadix ? kRadix : kMostRadix];
  for (int64_t t = 0; t < points; t += kCount) {
    const int64_t lanes = std::min(kCount, points - t);
    const int64_t p = t / inner, q = t - p * inner;
    const bool isOneRow = q + kCount <= inner, isFull = lanes == kCount;
    for (int64_t j = 0; j < radix; ++j) {
      if (isFull) {
        std::memcpy(&x[j].re, re + j * points + t, sizeof(V));
        std::memcpy(&x[j].im, im + j * points + t, sizeof(V));
      } else {
        x[j] = {};
        for (int64_t lane = 0; lane < lanes; ++lane) {
          x[j].re[lane] = re[j * points + t + lane];
          x[j].im[lane] = im[j * points + t + lane];
        }
      }
    }
    butterfly<T, kRadix>(x, roots);
    if (cosine)
      for (int64_t k = 1; k < radix; ++k) {
        V c{}, s{};
        const T *cs = cosine + (k - 1) * m, *ss = sine + (k - 1) * m;
        if (isOneRow) {
          c += cs[p];
          s += ss[p];
        } else if (inner == 1 && isFull) {
          std::memcpy(&c, cs + t, sizeof(V));
          std::memcpy(&s, ss + t, sizeof(V));
        } else {
          for (int64_t lane = 0; lane < lanes; ++lane) {
            c[lane] = cs[(t + lane) / inner];
            s[lane] = ss[(t + lane) / inner];
          }
        }
        multiply<T>(x[k], c, s);
      }
    for (int64_t k = 0; k < radix; ++k) {
      if (isOneRow) {
        const int64_t at = (p * radix + k) * inner + q;
        std::memcpy(toRe + at, &x[k].re, sizeof(V));
        std::memcpy(toIm + at, &x[k].im, sizeof(V));
        continue;
      }
      for (int64_t lane = 0; lane < lanes; ++lane) {
        const int64_t row = (t + lane) / inner;
        const int64_t at = (row * radix + k) * inner + (t + lane - row * inner);
        toRe[at] = x[k].re[lane];
        toIm[at] = x[k].im[lane];
      }
    }
  }
}

/// All steps of one transform.
template <typename T>
class Runner {
public:
  Runner(Pairs<T> &from, Pairs<T> &to) : from(from), to(to) {}

  /// False where it does not know the step.
  bool run(const FourierStep &step, Shape &shape) {
    const auto at = static_cast<size_t>(static_cast<int64_t>(shape.size()) + step.axis);
    from.before = countOf(std::span<const int64_t>(shape).first(at));
    from.after = countOf(std::span<const int64_t>(shape).subspan(at + 1));
    from.length = shape[at];
    if (step.halves)
      takeHalves();
    if (step.turnsFirst)
      std::swap(from.re, from.im);
    to.before = from.before;
    to.after = from.after;
    table(step);
    if (!compute(step))
      return false;
    if (step.turnsLast)
      std::swap(to.re, to.im);
    if (step.scale)
      for (auto *part : {&to.re, &to.im})
        for (T &value : *part)
          value *= static_cast<T>(*step.scale);
    shape[at] = to.length;
    std::swap(from, to);
    return true;
  }

private:
  using Kind = FourierStep::Kind;

  /// Even elements as real parts, odd ones as imaginary parts.
  void takeHalves() {
    const int64_t half = from.length / 2, after = from.after;
    Pairs<T> halves{{}, {}, from.before, half, after};
    halves.make(half);
    for (int64_t b = 0; b < from.before; ++b)
      for (int64_t i = 0; i < half; ++i)
        for (int64_t a = 0; a < after; ++a) {
          const auto source = static_cast<size_t>((b * from.length + 2 * i) * after + a);
          const auto target = static_cast<size_t>((b * half + i) * after + a);
          halves.re[target] = from.re[source];
          halves.im[target] = from.re[source + static_cast<size_t>(after)];
        }
    from = std::move(halves);
  }

  void table(const FourierStep &step) {
    cosine.assign(step.cosine.begin(), step.cosine.end());
    sine.assign(step.sine.begin(), step.sine.end());
  }

  bool compute(const FourierStep &step) {
    switch (step.kind) {
    case Kind::Pass:
      return pass(step);
    case Kind::Same:
      to.make(step.length ? step.length : from.length);
      each(to.length, [](T re, T im, int64_t) { return std::pair(re, im); });
      return true;
    case Kind::Chirp:
      to.make(step.length);
      std::ranges::fill(to.re, T{0});
      std::ranges::fill(to.im, T{0});
      return each(from.length, [&](T re, T im, int64_t i) { return times(re, im, i); });
    case Kind::Convolve:
      to.make(from.length);
      each(from.length, [&](T re, T im, int64_t i) { return times(re, im, i); });
      std::swap(to.re, to.im);
      return true;
    case Kind::Unchirp:
      to.make(step.length);
      return each(step.length, [&](T im, T re, int64_t i) { return times(re, im, i); });
    case Kind::Unfold:
      return unfold(step.isWhole);
    case Kind::Fold:
      return fold();
    case Kind::Mirror:
      return mirror(step.length);
    case Kind::Weave:
      return weave();
    case Kind::Real:
      to.make(from.length);
      return each(from.length, [](T, T re, int64_t) { return std::pair(re, T{0}); });
    }
    return false;
  }

  std::pair<T, T> times(T re, T im, int64_t i) const {
    const T c = cosine[static_cast<size_t>(i)], s = sine[static_cast<size_t>(i)];
    return {std::fma(re, c, -(im * s)), std::fma(re, s, im * c)};
  }

  size_t source(int64_t b, int64_t i, int64_t a) const {
    return static_cast<size_t>((b * from.length + i) * from.after + a);
  }
  void put(int64_t b, int64_t i, int64_t a, std::pair<T, T> value) {
    const auto at = static_cast<size_t>((b * to.length + i) * to.after + a);
    to.re[at] = value.first;
    to.im[at] = value.second;
  }
  template <typename F>
  void around(F f) const {
    for (int64_t b = 0; b < from.before; ++b)
      for (int64_t a = 0; a < from.after; ++a)
        f(b, a);
  }
  /// The first `count` points.
  template <typename F>
  bool each(int64_t count, F f) {
    for (int64_t b = 0; b < from.before; ++b)
      for (int64_t i = 0; i < count; ++i)
        for (int64_t a = 0; a < from.after; ++a) {
          const size_t at = source(b, i, a);
          put(b, i, a, f(from.re[at], from.im[at], i));
        }
    return true;
  }

  bool pass(const FourierStep &step) {
    const std::vector<T> c(step.rootCosine.begin(), step.rootCosine.end());
    const std::vector<T> s(step.rootSine.begin(), step.rootSine.end());
    const Roots<T> roots{c.data(), s.data(), step.radix};
    if (from.length != step.radix * step.m * step.s || step.radix > kMostRadix)
      return false;
    auto *row = step.radix == 2    ? &passRow<T, 2>
                : step.radix == 4  ? &passRow<T, 4>
                : step.radix == 8  ? &passRow<T, 8>
                : step.radix == 16 ? &passRow<T, 16>
                                   : &passRow<T, 0>;
    to.make(from.length);
    for (int64_t b = 0; b < from.before; ++b) {
      const size_t at = source(b, 0, 0);
      row(&from.re[at], &from.im[at], &to.re[at], &to.im[at], step.m, step.s * from.after,
          cosine.empty() ? nullptr : cosine.data(), sine.data(), roots);
    }
    return true;
  }

  bool unfold(bool isWhole) {
    const int64_t half = from.length;
    to.make(isWhole ? 2 * half : half + 1);
    around([&](int64_t b, int64_t a) {
      const size_t first = source(b, 0, a);
      const T r = from.re[first], i = from.im[first];
      put(b, 0, a, {r + i, T{0}});
      put(b, half, a, {r - i, T{0}});
      for (int64_t k = 1; k < half; ++k) {
        const size_t x = source(b, k, a), y = source(b, half - k, a);
        const T ar = from.re[x], ai = from.im[x], br = from.re[y], bi = from.im[y];
        const auto odd = times(ai + bi, br - ar, k - 1);
        const std::pair mean((ar + br + odd.first) * T{0.5}, (ai - bi + odd.second) * T{0.5});
        put(b, k, a, mean);
        if (isWhole)
          put(b, 2 * half - k, a, {mean.first, -mean.second});
      }
    });
    return true;
  }

  bool fold() {
    const int64_t half = from.length - 1;
    to.make(half);
    around([&](int64_t b, int64_t a) {
      const T first = from.re[source(b, 0, a)], last = from.re[source(b, half, a)];
      put(b, 0, a, {first - last, first + last});
      for (int64_t k = 1; k < half; ++k) {
        const size_t x = source(b, k, a), y = source(b, half - k, a);
        const T ar = from.re[x], ai = from.im[x], br = from.re[y], bi = from.im[y];
        const auto m = times(ar - br, ai + bi, k - 1);
        put(b, k, a, {ai - bi + m.first, ar + br - m.second});
      }
    });
    return true;
  }

  bool mirror(int64_t length) {
    const int64_t half = length / 2;
    to.make(length);
    around([&](int64_t b, int64_t a) {
      const T first = from.re[source(b, 0, a)];
      put(b, 0, a, {first * T{0}, first});
      for (int64_t k = 1; k <= half; ++k) {
        const size_t at = source(b, k, a);
        put(b, k, a, {from.im[at], from.re[at]});
        put(b, length - k, a, {-from.im[at], from.re[at]});
      }
    });
    return true;
  }

  bool weave() {
    to.make(2 * from.length);
    std::ranges::fill(to.im, T{0});
    around([&](int64_t b, int64_t a) {
      for (int64_t k = 0; k < from.length; ++k) {
        const size_t at = source(b, k, a);
        put(b, 2 * k, a, {from.im[at], T{0}});
        put(b, 2 * k + 1, a, {from.re[at], T{0}});
      }
    });
    return true;
  }

  Pairs<T> &from, &to;
  std::vector<T> cosine, sine;
};

template <typename T>
Outcome run(const FourierSteps &steps, const Array &x, DType result) {
  Elements elements = denseElementsOf(x);
  if (!elements.base) {
    GRAPHC_ASSIGN(NodeRef copy, cast(x, x.dtype()));
    if (!copy)
      return NodeRef();
    elements = denseElementsOf(Array(std::move(copy), 0));
  }
  thread_local Pairs<T> from, to;
  const auto count = static_cast<size_t>(x.size());
  from.re.resize(count);
  from.im.assign(count, T{0});
  const auto *first = reinterpret_cast<const T *>(elements.first);
  if (isComplex(x.dtype()))
    for (size_t i = 0; i < count; ++i) {
      from.re[i] = first[2 * i];
      from.im[i] = first[2 * i + 1];
    }
  else
    std::copy_n(first, count, from.re.begin());
  Shape shape = x.shape();
  Runner<T> runner(from, to);
  for (const FourierStep &step : steps.steps)
    if (!runner.run(step, shape))
      return NodeRef();
  GRAPHC_ASSIGN(NodeRef out, makeNode(result, shape, x.device()));
  T *data = dataOf<T>(out);
  if (isComplex(result))
    for (size_t i = 0; i < from.re.size(); ++i) {
      data[2 * i] = from.re[i];
      data[2 * i + 1] = from.im[i];
    }
  else
    std::ranges::copy(from.re, data);
  const auto values = static_cast<int64_t>(from.re.size()) * (isComplex(result) ? 2 : 1);
  return finished(std::move(out), allFinite(data, values));
}

} // namespace
} // namespace graphc::small

#if defined(__clang__) && defined(__x86_64__)
#pragma clang attribute pop
#endif

namespace graphc::small {

std::optional<FourierStep::Kind> FourierStep::kindFromName(std::string_view name) {
  constexpr std::string_view kNames[] = {"Pass",   "Same", "Chirp", "Convolve", "Unchirp",
                                         "Unfold", "Fold", "Weave", "Mirror",   "Real"};
  auto found = std::ranges::find(kNames, name);
  return found == std::end(kNames) ? std::nullopt
                                   : std::optional(static_cast<Kind>(found - kNames));
}

Outcome fourier(const FourierSteps &steps, const Array &x, bool isComplexResult) {
  const DType real = realDType(x.dtype());
  if (!hasWide() || x.rank() == 0 || (RecordScope::errors() & FloatModes::kUnder))
    return NodeRef();
  if (real == DType::Float64)
    return run<double>(steps, x, isComplexResult ? DType::Complex128 : DType::Float64);
  if (real == DType::Float32)
    return run<float>(steps, x, isComplexResult ? DType::Complex64 : DType::Float32);
  return NodeRef();
}

} // namespace graphc::small
