// Smallest and largest complex numbers by one pass, on the threads of the cpu device.
#include "frontends/record/Session.h"
#include "frontends/record/SmallComplex.h"
#include "frontends/record/SmallNumeric.h"
#include "frontends/record/Trace.h"
#include "runtime/library/Parallel.h"

#include <vector>

namespace graphc::small {
namespace {

using op::ReduceKind;

/// Whether the second is taken in place of the first, as math::Complex::minimum() and maximum() do:
/// the first of equal elements stays, and so does the first with a NaN.
template <bool kIsLargest, typename R>
bool isBetter(Number<R> first, Number<R> second) {
  const bool isOrdered = kIsLargest ? second.re < first.re : first.re < second.re;
  const bool isTie =
      first.re == second.re && (kIsLargest ? second.im <= first.im : first.im <= second.im);
  const bool isNan = first.re != first.re || first.im != first.im;
  return !((isOrdered && second.im == second.im) || isTie || isNan);
}

/// [outer, count, inner] elements and what is found along the middle.
template <typename R>
struct Layout {
  const Number<R> *from;
  int64_t outer, count, inner;

  template <bool kIsLargest>
  void running(int64_t first, int64_t last, Number<R> *to) const {
    for (int64_t o = first; o < last; ++o) {
      const Number<R> *x = from + o * count * inner;
      Number<R> *y = to + o * count * inner;
      std::copy_n(x, inner, y);
      if (inner == 1) {
        Number<R> found = x[0];
        for (int64_t j = 1; j < count; ++j)
          y[j] = found = isBetter<kIsLargest>(found, x[j]) ? x[j] : found;
        continue;
      }
      for (int64_t j = inner; j < count * inner; ++j)
        y[j] = isBetter<kIsLargest>(y[j - inner], x[j]) ? x[j] : y[j - inner];
    }
  }

  /// Places among the elements [begin, end) of the middle.
  template <bool kIsLargest>
  void places(int64_t o, int64_t begin, int64_t end, int64_t *to) const {
    const Number<R> *x = from + o * count * inner;
    if (inner == 1) {
      int64_t place = begin;
      Number<R> found = x[begin];
      for (int64_t j = begin + 1; j < end; ++j)
        if (isBetter<kIsLargest>(found, x[j]))
          found = x[j], place = j;
      *to = place;
      return;
    }
    // Columns whose state stays in the first cache.
    constexpr int64_t kColumns = 256;
    std::array<Number<R>, kColumns> found;
    for (int64_t column = 0; column < inner; column += kColumns) {
      const int64_t width = std::min(kColumns, inner - column);
      std::copy_n(x + begin * inner + column, width, found.data());
      std::fill_n(to + column, width, begin);
      for (int64_t j = begin + 1; j < end; ++j)
        for (int64_t k = 0; k < width; ++k) {
          Number<R> &best = found[static_cast<size_t>(k)];
          const Number<R> value = x[j * inner + column + k];
          const bool isNew = isBetter<kIsLargest>(best, value);
          best = isNew ? value : best;
          to[column + k] = isNew ? j : to[column + k];
        }
    }
  }
};

constexpr int64_t kChunk = 1 << 15; ///< elements
/// Elements of a part: what is best so far changes most often at its beginning, which no processor
/// foresees.
constexpr int64_t kPart = 1 << 18;

/// Parts of the middle, whose places are looked at in order.
template <bool kIsLargest, typename R>
void findPlaces(const Layout<R> &l, int64_t *to) {
  const int64_t parts = std::clamp<int64_t>(l.count * l.inner / kPart, 1, l.count);
  const int64_t items = l.outer * parts, all = l.outer * l.inner;
  std::vector<int64_t> found(static_cast<size_t>(items * l.inner));
  const int64_t size = (l.count + parts - 1) / parts;
  rt::library::parallelFor(
      items, std::max<int64_t>(1, kChunk / (size * l.inner)), [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < last; ++i) {
          const int64_t begin = std::min(i % parts * size, l.count - 1);
          l.template places<kIsLargest>(i / parts, begin, std::min(begin + size, l.count),
                                        found.data() + i * l.inner);
        }
      });
  for (int64_t i = 0; i < all; ++i) {
    const int64_t o = i / l.inner, k = i % l.inner;
    const Number<R> *x = l.from + o * l.count * l.inner + k;
    const int64_t *places = found.data() + o * parts * l.inner + k;
    int64_t place = places[0];
    for (int64_t part = 1; part < parts; ++part)
      if (const int64_t other = places[part * l.inner];
          isBetter<kIsLargest>(x[place * l.inner], x[other * l.inner]))
        place = other;
    to[i] = place;
  }
}

template <bool kIsLargest, typename R>
void find(const Layout<R> &l, bool isPlace, bool running, const NodeRef &out) {
  if (running) {
    rt::library::parallelFor(l.outer, std::max<int64_t>(1, kChunk / (l.count * l.inner)),
                             [&](int64_t first, int64_t last) {
                               l.template running<kIsLargest>(first, last, dataOf<Number<R>>(out));
                             });
    return;
  }
  const int64_t all = l.outer * l.inner;
  std::vector<int64_t> room(isPlace ? 0 : static_cast<size_t>(all));
  int64_t *places = isPlace ? dataOf<int64_t>(out) : room.data();
  findPlaces<kIsLargest>(l, places);
  if (!isPlace)
    for (int64_t i = 0; i < all; ++i)
      dataOf<Number<R>>(out)[i] =
          l.from[(i / l.inner * l.count + places[i]) * l.inner + i % l.inner];
}

} // namespace

void findComplexExtremes(ReduceKind kind, const void *from, const std::array<int64_t, 3> &sizes,
                         bool running, DType t, const NodeRef &out) {
  const bool isPlace = kind == ReduceKind::ArgMin || kind == ReduceKind::ArgMax;
  const bool isLargest = kind == ReduceKind::Max || kind == ReduceKind::ArgMax;
  auto search = [&]<typename R>(R) {
    const Layout<R> layout{static_cast<const Number<R> *>(from), sizes[0], sizes[1], sizes[2]};
    isLargest ? find<true>(layout, isPlace, running, out)
              : find<false>(layout, isPlace, running, out);
  };
  t == DType::Complex128 ? search(double()) : search(float());
}

Outcome complexExtremes(ReduceKind kind, const Array &x, size_t axis, bool running) {
  const int64_t count = countOf(x.shape());
  if (Trace::active() || count == 0 || !onHost(x.device()))
    return NodeRef();
  GRAPHC_ASSIGN(NodeRef n, x.value());
  GRAPHC_ASSIGN(bool isKnown, hasValue(n, "extreme"));
  if (!isKnown)
    return NodeRef();
  const bool isPlace = kind == ReduceKind::ArgMin || kind == ReduceKind::ArgMax;
  Shape shape = x.shape();
  int64_t outer = 1, inner = 1;
  for (size_t i = 0; i < shape.size(); ++i)
    if (i != axis)
      (i < axis ? outer : inner) *= shape[i];
  const int64_t length = shape[axis];
  if (!running)
    shape[axis] = 1;
  GRAPHC_ASSIGN(NodeRef out, makeNode(isPlace ? DType::Int64 : x.dtype(), shape, x.device()));
  findComplexExtremes(kind, dataOf<const char>(n), {outer, length, inner}, running, x.dtype(), out);
  return out;
}

} // namespace graphc::small
