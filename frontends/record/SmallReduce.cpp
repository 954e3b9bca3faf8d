// Reductions and scans of small arrays, by the trees of docs/numerics.md.
#include "frontends/record/HostExtremes.h"
#include "frontends/record/HostTrees.h"
#include "frontends/record/MemoryOrder.h"
#include "frontends/record/SmallComplex.h"
#include "frontends/record/SmallNumeric.h"

#include <cstring>

namespace graphc::small {
namespace {

using op::ReduceKind;

/// The elements of a value as [outer, count, inner], combined along the middle.
struct Layout {
  int64_t outer = 1, count = 1, inner = 1;
};

/// One group of neighbouring axes, those of size 1 left out; nothing for several groups.
std::optional<Layout> layoutOf(std::span<const int64_t> shape, std::span<const int64_t> axes) {
  Layout out;
  bool isMet = false, isPast = false;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1)
      continue;
    if (std::ranges::find(axes, static_cast<int64_t>(i)) != axes.end()) {
      if (isPast)
        return std::nullopt;
      isMet = true;
      out.count *= shape[i];
      continue;
    }
    isPast = isMet;
    (isMet ? out.inner : out.outer) *= shape[i];
  }
  return out;
}

/// out[i] = combine(out[i], x[i])
template <typename T, typename F>
void mergeRow(T *out, const T *x, int64_t count, F combine) {
  for (int64_t i = 0; i < count; ++i)
    out[i] = combine(out[i], x[i]);
}

/// The same without those that are NaN; an infinity where all are.
template <typename T>
[[gnu::flatten]] GRAPHC_WIDE T extremeOfNumbersWide(const T *x, int64_t count, bool isLargest) {
  constexpr int64_t kLanes = 64;
  T lanes[kLanes];
  std::fill_n(lanes, kLanes,
              isLargest ? -std::numeric_limits<T>::infinity() : std::numeric_limits<T>::infinity());
  auto pass = [&](auto isBetter) { // one instruction: a NaN is not better
    int64_t i = 0;
    for (; i + kLanes <= count; i += kLanes)
      for (int64_t lane = 0; lane < kLanes; ++lane)
        lanes[lane] = isBetter(x[i + lane], lanes[lane]) ? x[i + lane] : lanes[lane];
    for (; i < count; ++i)
      lanes[0] = isBetter(x[i], lanes[0]) ? x[i] : lanes[0];
    T found;
    best(lanes, kLanes, isBetter, found);
    return found;
  };
  const T found =
      isLargest ? pass([](T a, T b) { return a > b; }) : pass([](T a, T b) { return a < b; });
  if (found == 0)
    for (int64_t i = 0; i < count; ++i)
      if (x[i] == 0 && std::signbit(x[i]) != isLargest)
        return x[i];
  return found;
}

template <typename T, typename F>
void combineAll(const T *x, const Layout &l, T *out, F combine) {
  for (int64_t i = 0; i < l.outer; ++i, x += l.count * l.inner, out += l.inner)
    if (l.inner == 1)
      *out = laneTree(x, l.count, combine);
    else
      rowTree(x, l.count, l.inner, out, combine);
}

/// The first place along the middle of the smallest or largest; false where an element is NaN.
template <bool kIsLargest, typename T>
[[gnu::always_inline]] inline bool findAll(const T *x, const Layout &l, int64_t *out) {
  if (l.inner == 1) {
    for (int64_t i = 0; i < l.outer; ++i)
      if ((out[i] = placeOfExtreme<kIsLargest>(x + i * l.count, l.count)) < 0)
        return false;
    return true;
  }
  if (holdsNan(x, l.outer * l.count * l.inner))
    return false;
  for (int64_t i = 0; i < l.outer; ++i, x += l.count * l.inner, out += l.inner) {
    Room<T> room;
    T *found = room.get(l.inner);
    std::copy_n(x, l.inner, found);
    std::fill_n(out, l.inner, 0);
    for (int64_t j = 1; j < l.count; ++j)
      for (int64_t k = 0; k < l.inner; ++k) {
        const T value = x[j * l.inner + k];
        const bool isNew = kIsLargest ? value > found[k] : value < found[k];
        found[k] = isNew ? value : found[k];
        out[k] = isNew ? j : out[k];
      }
  }
  return true;
}

/// False where an element is NaN.
template <typename T>
[[gnu::always_inline]] inline bool findExtremes(const T *x, const Layout &l, T *out,
                                                bool isLargest) {
  if (l.inner == 1) {
    for (int64_t i = 0; i < l.outer; ++i)
      if (!findExtreme(x + i * l.count, l.count, isLargest, out[i]))
        return false;
    return true;
  }
  if (holdsNan(x, l.outer * l.count * l.inner))
    return false;
  for (int64_t i = 0; i < l.outer; ++i, out += l.inner) {
    std::copy_n(x, l.inner, out);
    x += l.inner;
    for (int64_t j = 1; j < l.count; ++j, x += l.inner)
      isLargest
          ? mergeRow(out, x, l.inner, [](T a, T b) { return folded(op::OpKind::Maximum, a, b); })
          : mergeRow(out, x, l.inner, [](T a, T b) { return folded(op::OpKind::Minimum, a, b); });
  }
  return true;
}

/// Integers, whose sums wrap and are the same in any order.
template <typename T>
[[gnu::always_inline]] inline T wrappingSum(const T *x, int64_t count) {
  uint64_t sum = 0;
  for (int64_t i = 0; i < count; ++i)
    sum += static_cast<uint64_t>(x[i]);
  return static_cast<T>(sum);
}
/// Rows of fewer integers are as quickly summed as others.
constexpr int64_t kLongRow = 64;

template <typename T>
bool reduceNumbers(ReduceKind kind, const T *x, const Layout &l, void *out) {
  using enum op::OpKind;
  auto *to = static_cast<T *>(out);
  const int64_t results = l.outer * l.inner;
  switch (kind) {
  case ReduceKind::Sum:
  case ReduceKind::Mean:
    if constexpr (std::is_integral_v<T>)
      if (l.inner == 1 && l.count >= kLongRow) {
        for (int64_t i = 0; i < l.outer; ++i, x += l.count)
          to[i] = wrappingSum(x, l.count);
        return kind == ReduceKind::Sum;
      }
    combineAll(x, l, to, [](T a, T b) { return folded(Add, a, b); });
    if constexpr (std::is_floating_point_v<T>)
      for (int64_t i = 0; i < results; ++i)
        to[i] = kind == ReduceKind::Sum ? to[i] + T{0} : (to[i] + T{0}) / static_cast<T>(l.count);
    return kind == ReduceKind::Sum || std::is_floating_point_v<T>;
  case ReduceKind::Prod:
    combineAll(x, l, to, [](T a, T b) { return folded(Mul, a, b); });
    return true;
  case ReduceKind::Min:
  case ReduceKind::Max:
    return findExtremes(x, l, to, kind == ReduceKind::Max);
  case ReduceKind::ArgMin:
    return findAll<false>(x, l, static_cast<int64_t *>(out));
  case ReduceKind::ArgMax:
    return findAll<true>(x, l, static_cast<int64_t *>(out));
  default:
    return false;
  }
}

/// The same for wider vectors, whose lanes are combined in the same order.
template <typename T>
[[gnu::flatten]] GRAPHC_WIDE bool reduceWide(ReduceKind kind, const T *x, const Layout &l,
                                             void *out) {
  return reduceNumbers(kind, x, l, out);
}

bool reduceBools(ReduceKind kind, const bool *x, const Layout &l, bool *out) {
  const bool isAny = kind == ReduceKind::Any;
  if (!isAny && kind != ReduceKind::All)
    return false;
  if (l.inner > 1)
    combineAll(x, l, out, [isAny](bool a, bool b) { return isAny ? a || b : a && b; });
  else // what decides is looked for
    for (int64_t row = 0; row < l.outer; ++row)
      out[row] =
          isAny == (std::memchr(x + row * l.count, isAny, static_cast<size_t>(l.count)) != nullptr);
  return true;
}

/// Sixteen elements, which add up by doubling distances.
template <typename T, typename F>
[[gnu::always_inline]] inline void scanChunk(T *y, F combine) {
  constexpr int kChunk = 16;
  T other[kChunk];
  auto step = [&]<int h>(const T *from, T *to, std::integral_constant<int, h>) {
    for (int i = 0; i < h; ++i)
      to[i] = from[i];
    for (int i = h; i < kChunk; ++i)
      to[i] = combine(from[i - h], from[i]);
  };
  step(y, other, std::integral_constant<int, 1>{});
  step(other, y, std::integral_constant<int, 2>{});
  step(y, other, std::integral_constant<int, 4>{});
  step(other, y, std::integral_constant<int, 8>{});
}

/// Elements of a block of a scan; what precedes one is added to its own scan.
constexpr int64_t kScanBlock = 4096;

/// A block of `count` rows of `inner` elements: groups of sixteen, then what precedes each.
template <typename T, typename F>
void scanBlock(T *y, int64_t count, int64_t inner, F combine) {
  constexpr int64_t kGroup = 16;
  auto each = [&](int64_t before, int64_t at) {
    for (int64_t k = 0; k < inner; ++k)
      y[at * inner + k] = combine(y[before * inner + k], y[at * inner + k]);
  };
  for (int64_t first = 0; first < count; first += kGroup) {
    const int64_t end = std::min(first + kGroup, count);
    if (inner == 1 && end - first == kGroup) {
      scanChunk(y + first, combine);
      for (int64_t i = first; first > 0 && i < end; ++i)
        y[i] = combine(y[first - 1], y[i]);
      continue;
    }
    for (int64_t h = 1; h < end - first; h *= 2)
      for (int64_t i = end - 1; i >= first + h; --i)
        each(i - h, i);
    for (int64_t i = first; first > 0 && i < end; ++i)
      each(first - 1, i);
  }
}

/// The scan of docs/numerics.md along the middle, in place.
template <typename T, typename F>
void scanAll(T *y, const Layout &l, bool isExact, F combine) {
  const int64_t inner = l.inner, row = l.count * inner, block = kScanBlock * inner;
  std::vector<T> lasts;
  for (int64_t o = 0; o < l.outer; ++o, y += row) {
    // What is exact in any order needs no tree.
    for (int64_t i = inner; isExact && i < row; ++i)
      y[i] = combine(y[i - inner], y[i]);
    for (int64_t first = 0; !isExact && first < l.count; first += kScanBlock)
      scanBlock(y + first * inner, std::min(kScanBlock, l.count - first), inner, combine);
    if (isExact || l.count <= kScanBlock)
      continue;
    lasts.clear();
    for (int64_t end = block; end < row; end += block)
      lasts.insert(lasts.end(), y + end - inner, y + end);
    scanBlock(lasts.data(), static_cast<int64_t>(lasts.size()) / inner, inner, combine);
    for (int64_t i = block; i < row; ++i)
      y[i] = combine(lasts[static_cast<size_t>((i / block - 1) * inner + i % inner)], y[i]);
  }
}

template <typename T>
bool scanNumbers(ReduceKind kind, T *y, const Layout &l) {
  using enum op::OpKind;
  constexpr bool isInteger = !std::is_floating_point_v<T>;
  switch (kind) {
  case ReduceKind::Sum:
    scanAll(y, l, isInteger, [](T a, T b) { return folded(Add, a, b); });
    return true;
  case ReduceKind::Prod:
    scanAll(y, l, isInteger, [](T a, T b) { return folded(Mul, a, b); });
    return true;
  case ReduceKind::Min:
    scanAll(y, l, true, [](T a, T b) { return folded(Minimum, a, b); });
    return true;
  case ReduceKind::Max:
    scanAll(y, l, true, [](T a, T b) { return folded(Maximum, a, b); });
    return true;
  default:
    return false;
  }
}

DType resultDType(ReduceKind kind, DType t) {
  return kind == ReduceKind::ArgMin || kind == ReduceKind::ArgMax ? DType::Int64 : t;
}

/// Sums of complex numbers are those of their parts.
template <typename R>
Result<bool> reduceParts(ReduceKind kind, const Array &x, DType t, const Layout &l, Number<R> *to) {
  NumberReader<R> reader;
  GRAPHC_ASSIGN(bool isRead, reader.read(x, t, x.shape()));
  if (!isRead || (kind != ReduceKind::Sum && kind != ReduceKind::Mean))
    return false;
  const int64_t count = countOf(x.shape()), results = l.outer * l.inner;
  Room<R> room, sums;
  R *part = room.get(count), *sum = sums.get(results);
  for (bool isReal : {true, false}) {
    for (int64_t i = 0; i < count; ++i)
      part[i] = isReal ? reader.run().data[i].re : reader.run().data[i].im;
    reduceNumbers(kind, part, l, sum);
    for (int64_t i = 0; i < results; ++i)
      (isReal ? to[i].re : to[i].im) = sum[i];
  }
  return allFinite(to, results);
}

/// The product of complex numbers along the middle: halves are multiplied until one is left, and
/// what an odd count leaves over comes last.
template <typename R>
Result<bool> multiplyAll(const Array &x, DType t, const Layout &l, Number<R> *to) {
  NumberReader<R> reader;
  GRAPHC_ASSIGN(bool isRead, reader.read(x, t, x.shape()));
  if (!isRead || l.count == 0)
    return false;
  auto times = [&](Number<R> a, Number<R> b) {
    multiplyNumbers(&a, &b, 1, &a);
    return a;
  };
  Room<Number<R>> room;
  Number<R> *line = room.get(l.count);
  const Run<Number<R>> from = reader.run();
  for (int64_t place = 0; place < l.outer * l.inner; ++place) {
    const int64_t first = place / l.inner * l.count * l.inner + place % l.inner;
    for (int64_t i = 0; i < l.count; ++i)
      line[i] = from.data[from.steps ? first + i * l.inner : 0];
    std::optional<Number<R>> left;
    for (int64_t count = l.count; count > 1; count /= 2) {
      if (count % 2)
        left = left ? times(line[count - 1], *left) : line[count - 1];
      multiplyNumbers(line, line + count / 2, count / 2, line);
    }
    to[place] = left ? times(line[0], *left) : line[0];
  }
  return allFinite(to, l.outer * l.inner);
}

/// Running products of complex numbers along the middle, as a program has them: distances double.
template <typename R>
Result<bool> multiplyRunning(const Array &x, DType t, const Layout &l, Number<R> *to) {
  NumberReader<R> reader;
  GRAPHC_ASSIGN(bool isRead, reader.read(x, t, x.shape()));
  if (!isRead)
    return false;
  const Run<Number<R>> from = reader.run();
  const int64_t all = l.outer * l.count * l.inner;
  for (int64_t i = 0; i < all; ++i)
    to[i] = from.data[from.steps ? i : 0];
  const int64_t row = l.count * l.inner;
  Room<Number<R>> room;
  Number<R> *before = room.get(row);
  for (Number<R> *line = to; line < to + all; line += row)
    for (int64_t apart = l.inner; apart < row; apart *= 2) {
      std::copy_n(line, row, before);
      multiplyNumbers(before, before + apart, row - apart, line + apart);
    }
  return allFinite(to, all);
}

} // namespace

Outcome reduce(ReduceKind kind, const Array &x, std::span<const int64_t> axes, DType t,
               const Shape &shape) {
  auto layout = layoutOf(x.shape(), axes);
  int64_t count = countOf(x.shape());
  if (count == 0 || count * itemSize(t) > mostBytes())
    return NodeRef();
  if (!layout)
    return reduceByGroups(kind, x, axes, t, shape);
  const bool isExtreme = kind == ReduceKind::Min || kind == ReduceKind::Max ||
                         kind == ReduceKind::ArgMin || kind == ReduceKind::ArgMax;
  if (isExtreme && t == DType::Bool)
    return extremesOfBools(kind, x, axes, shape);
  if ((kind == ReduceKind::Any || kind == ReduceKind::All) && x.dtype() != DType::Bool) {
    const Operand both[] = {x, Operand(op::Scalar::ofInt(0))};
    GRAPHC_ASSIGN(NodeRef truth,
                  elementwise(op::OpKind::NotEqual, both, x.dtype(), x.shape(), x.device()));
    return truth ? reduce(kind, Array(std::move(truth)), axes, t, shape) : NodeRef();
  }
  GRAPHC_ASSIGN(NodeRef out, makeNode(resultDType(kind, t), shape, x.device()));
  if (isExtreme && isComplex(t) && x.dtype() == t) {
    GRAPHC_ASSIGN(const Elements elements, elementsOf(x));
    if (!elements.base || !x.view().isContiguous())
      return NodeRef();
    findComplexExtremes(kind, elements.first, {layout->outer, layout->count, layout->inner}, false,
                        t, out);
    return out;
  }
  if (isComplex(t)) {
    auto made = withElementType(t, [&]<typename T>(T) -> Result<bool> {
      if constexpr (kIsNumber<T>)
        return kind == ReduceKind::Prod && axes.size() == 1
                   ? multiplyAll(x, t, *layout, dataOf<T>(out))
                   : reduceParts(kind, x, t, *layout, dataOf<T>(out));
      return false;
    });
    return finished(std::move(out), std::move(made));
  }
  const bool isWide = count >= kWorthWide && hasWide();
  auto done = withRealType(t, [&]<typename T>(T) -> Result<bool> {
    Reader<T> reader;
    GRAPHC_ASSIGN(bool isRead, reader.read(x, t, x.shape()));
    if (!isRead)
      return false;
    const T *from = reader.run().data; // of one value there is one
    void *to = dataOf<char>(out);
    if constexpr (std::is_same_v<T, bool>)
      return reduceBools(kind, from, *layout, static_cast<bool *>(to));
    else
      return (isWide ? reduceWide(kind, from, *layout, to)
                     : reduceNumbers(kind, from, *layout, to)) &&
             (isExtreme || !mustBeFinite() || out->dtype() != t ||
              allFinite(static_cast<const T *>(to), countOf(shape)));
  });
  return finished(std::move(out), std::move(done));
}

Outcome extremeOfNumbers(bool isLargest, const Array &given) {
  const Array x = ops::inMemoryOrder(given);
  constexpr int64_t kMost = 1 << 17;
  const int64_t count = x.size();
  if (count == 0 || count > kMost || !mayBeOnHost(x.device()) || !hasWide())
    return NodeRef();
  const Elements elements = denseElementsOf(x);
  if (!elements.base)
    return NodeRef();
  auto find = [&]<typename T>(T) -> Outcome {
    const T found =
        extremeOfNumbersWide(reinterpret_cast<const T *>(elements.first), count, isLargest);
    if (std::isinf(found))
      return NodeRef();
    GRAPHC_ASSIGN(NodeRef out, makeNode(x.dtype(), Shape{}, x.device()));
    *dataOf<T>(out) = found;
    return out;
  };
  return x.dtype() == DType::Float64   ? find(double())
         : x.dtype() == DType::Float32 ? find(float())
                                       : Outcome(NodeRef());
}

Outcome scan(ReduceKind kind, const Array &x, size_t axis, DType t, const Shape &shape) {
  Layout l;
  for (size_t i = 0; i < x.shape().size(); ++i)
    (i < axis ? l.outer : i == axis ? l.count : l.inner) *= x.shape()[i];
  if (countOf(shape) * itemSize(t) > mostBytes() || t == DType::Bool)
    return NodeRef();
  if (isComplex(t) && kind != ReduceKind::Prod)
    return NodeRef();
  GRAPHC_ASSIGN(NodeRef out, makeNode(t, shape, x.device()));
  auto done = withElementType(t, [&]<typename T>(T) -> Result<bool> {
    if constexpr (std::is_same_v<T, bool>) {
      return false;
    } else if constexpr (kIsNumber<T>) {
      return multiplyRunning(x, t, l, dataOf<T>(out));
    } else {
      Reader<T> reader;
      GRAPHC_ASSIGN(bool isRead, reader.read(x, t, x.shape()));
      if (!isRead)
        return false;
      T *to = dataOf<T>(out);
      int64_t count = countOf(shape);
      std::copy_n(reader.run().data, count, to); // of one value there is one
      if (holdsNan(to, count) || !scanNumbers(kind, to, l))
        return false;
      const bool isExtreme = kind == ReduceKind::Min || kind == ReduceKind::Max;
      return isExtreme || !mustBeFinite() || allFinite(to, count);
    }
  });
  return finished(std::move(out), std::move(done));
}

} // namespace graphc::small
