// Reductions and products of small arrays, by the trees and chains of docs/numerics.md.
#include "frontends/record/HostTrees.h"
#include "frontends/record/MemoryOrder.h"
#include "frontends/record/SmallComplex.h"
#include "frontends/record/SmallNumeric.h"

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

template <typename T>
T folded(op::OpKind kind, T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return *hostmath::foldFloat(kind, a, b);
  else
    return *hostmath::foldInteger(kind, a, b);
}

/// out[i] = combine(out[i], x[i])
template <typename T, typename F>
void mergeRow(T *out, const T *x, int64_t count, F combine) {
  for (int64_t i = 0; i < count; ++i)
    out[i] = combine(out[i], x[i]);
}

/// The value of which no other is better, side by side: the order of comparisons changes nothing
/// but which of two zeros is found.
template <typename T, typename F>
T best(const T *x, int64_t count, F isBetter) {
  constexpr int64_t kLanes = 16;
  if (count < kLanes) {
    T found = x[0];
    for (int64_t i = 1; i < count; ++i)
      found = isBetter(x[i], found) ? x[i] : found;
    return found;
  }
  T lanes[kLanes];
  std::copy_n(x, kLanes, lanes);
  int64_t i = kLanes;
  for (; i + kLanes <= count; i += kLanes)
    for (int64_t lane = 0; lane < kLanes; ++lane)
      lanes[lane] = isBetter(x[i + lane], lanes[lane]) ? x[i + lane] : lanes[lane];
  T found = lanes[0];
  for (int64_t lane = 1; lane < kLanes; ++lane)
    found = isBetter(lanes[lane], found) ? lanes[lane] : found;
  for (; i < count; ++i)
    found = isBetter(x[i], found) ? x[i] : found;
  return found;
}

/// The least or largest number of a vector without NaN; -0 is smaller than +0.
template <typename T>
T extremeOf(const T *x, int64_t count, bool isLargest) {
  T found = isLargest ? best(x, count, [](T a, T b) { return a > b; })
                      : best(x, count, [](T a, T b) { return a < b; });
  if constexpr (std::is_floating_point_v<T>)
    if (found == 0)
      for (int64_t i = 0; i < count; ++i)
        if (x[i] == 0 && std::signbit(x[i]) != isLargest)
          return x[i];
  return found;
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
    return best(lanes, kLanes, isBetter);
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

/// Where a value stands first that is among the elements.
template <typename T>
int64_t firstPlace(const T *x, int64_t count, T value) {
  // As wide as what is compared, so that no lane is narrowed.
  using Word = std::conditional_t<sizeof(T) == 8, uint64_t,
                                  std::conditional_t<sizeof(T) == 4, uint32_t, uint16_t>>;
  constexpr int64_t kLanes = 64;
  int64_t i = 0;
  for (Word isHere = 0; i + kLanes <= count; i += kLanes) {
    for (int64_t lane = 0; lane < kLanes; ++lane)
      isHere |= static_cast<Word>(x[i + lane] == value);
    if (isHere)
      break;
  }
  return std::find(x + i, x + count, value) - x;
}

/// The first place along the middle where `isBetter` than all before holds.
template <typename T, typename F>
void findAll(const T *x, const Layout &l, int64_t *out, F isBetter) {
  for (int64_t i = 0; i < l.outer; ++i, x += l.count * l.inner, out += l.inner) {
    if (l.inner == 1) {
      const T found = best(x, l.count, isBetter);
      *out = firstPlace(x, l.count, found);
      continue;
    }
    Room<T> room;
    T *found = room.get(l.inner);
    std::copy_n(x, l.inner, found);
    std::fill_n(out, l.inner, 0);
    for (int64_t j = 1; j < l.count; ++j)
      for (int64_t k = 0; k < l.inner; ++k) {
        const T value = x[j * l.inner + k];
        const bool isNew = isBetter(value, found[k]);
        found[k] = isNew ? value : found[k];
        out[k] = isNew ? j : out[k];
      }
  }
}

template <typename T>
void findExtremes(const T *x, const Layout &l, T *out, bool isLargest) {
  if (l.inner == 1) {
    for (int64_t i = 0; i < l.outer; ++i)
      out[i] = extremeOf(x + i * l.count, l.count, isLargest);
    return;
  }
  for (int64_t i = 0; i < l.outer; ++i, out += l.inner) {
    std::copy_n(x, l.inner, out);
    x += l.inner;
    for (int64_t j = 1; j < l.count; ++j, x += l.inner)
      isLargest
          ? mergeRow(out, x, l.inner, [](T a, T b) { return folded(op::OpKind::Maximum, a, b); })
          : mergeRow(out, x, l.inner, [](T a, T b) { return folded(op::OpKind::Minimum, a, b); });
  }
}

template <typename T>
bool holdsNan(const T *x, int64_t count) {
  bool found = false;
  if constexpr (std::is_floating_point_v<T>)
    for (int64_t i = 0; i < count; ++i)
      found |= x[i] != x[i];
  return found;
}

template <typename T>
bool reduceNumbers(ReduceKind kind, const T *x, const Layout &l, void *out) {
  using enum op::OpKind;
  auto *to = static_cast<T *>(out);
  int64_t results = l.outer * l.inner, count = results * l.count;
  switch (kind) {
  case ReduceKind::Sum:
  case ReduceKind::Mean:
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
    if (holdsNan(x, count))
      return false;
    findExtremes(x, l, to, kind == ReduceKind::Max);
    return true;
  case ReduceKind::ArgMin:
  case ReduceKind::ArgMax:
    if (holdsNan(x, count))
      return false;
    if (kind == ReduceKind::ArgMin)
      findAll(x, l, static_cast<int64_t *>(out), [](T a, T b) { return a < b; });
    else
      findAll(x, l, static_cast<int64_t *>(out), [](T a, T b) { return a > b; });
    return true;
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

bool reduceBools(ReduceKind kind, const bool *x, const Layout &l, void *out) {
  bool isAny = kind == ReduceKind::Any;
  if (!isAny && kind != ReduceKind::All)
    return false;
  combineAll(x, l, static_cast<bool *>(out),
             [isAny](bool a, bool b) { return isAny ? a || b : a && b; });
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

/// Elements of a factor that is copied before it is multiplied.
constexpr int64_t kMostTurned = 1024;
/// Columns of a single row that stay in registers.
constexpr int64_t kMostRow = 32;
/// Rows too few to be multiplied by one column at a time, where what is to be added is so much.
constexpr int64_t kFewRows = 8, kLongDepth = 32;

/// One factor of a product: element (i, k) is at i * row + k * column.
template <typename T>
struct Matrix {
  const T *data;
  int64_t row, column;
};

template <typename T>
[[gnu::always_inline]] inline T multiplyAdd(T a, T b, T c) {
  if constexpr (sizeof(T) == 8 && std::is_floating_point_v<T>)
    return __builtin_fma(a, b, c);
  else if constexpr (std::is_floating_point_v<T>)
    return __builtin_fmaf(a, b, c);
  else
    return *hostmath::foldInteger(op::OpKind::Add, *hostmath::foldInteger(op::OpKind::Mul, a, b),
                                  c);
}

/// Chains of neighbouring results side by side: of columns of a row, or of rows of a column.
template <typename T>
GRAPHC_WIDE void multiplyRow(const T *a, int64_t step, Matrix<T> b, int64_t depth, int64_t width,
                             T *out) {
  std::fill_n(out, width, T{0});
  for (int64_t k = 0; k < depth; ++k) {
    const T factor = a[k * step];
    const T *from = b.data + k * b.row;
    if (b.column == 1)
      for (int64_t j = 0; j < width; ++j)
        out[j] = multiplyAdd(factor, from[j], out[j]);
    else
      for (int64_t j = 0; j < width; ++j)
        out[j] = multiplyAdd(factor, from[j * b.column], out[j]);
  }
}

/// A matrix times a column, to results `apart` from each other.
template <typename T>
GRAPHC_WIDE void multiplyColumn(Matrix<T> a, const T *b, int64_t step, int64_t depth,
                                int64_t height, T *out, int64_t apart) {
  constexpr int64_t kTogether = 8;
  int64_t i = 0;
  for (; i + kTogether <= height; i += kTogether) {
    T sums[kTogether] = {};
    const T *from = a.data + i * a.row;
    for (int64_t k = 0; k < depth; ++k)
      for (int64_t r = 0; r < kTogether; ++r)
        sums[r] = multiplyAdd(from[r * a.row + k * a.column], b[k * step], sums[r]);
    for (int64_t r = 0; r < kTogether; ++r)
      out[(i + r) * apart] = sums[r];
  }
  for (; i < height; ++i) {
    T sum{0};
    for (int64_t k = 0; k < depth; ++k)
      sum = multiplyAdd(a.data[i * a.row + k * a.column], b[k * step], sum);
    out[i * apart] = sum;
  }
}

/// Elements that are multiplied together.
template <typename T>
struct Lanes {
  typedef T Type __attribute__((vector_size(32), aligned(alignof(T))));
  static constexpr int64_t kCount = 32 / sizeof(T);
};

template <typename T>
GRAPHC_WIDE [[gnu::always_inline]] inline void multiplyAddLanes(T a, const T *b,
                                                                typename Lanes<T>::Type &c) {
#if defined(__clang__)
  using Vector = typename Lanes<T>::Type;
  c = __builtin_elementwise_fma(Vector{} + a, *reinterpret_cast<const Vector *>(b), c);
#else
  for (int64_t lane = 0; lane < Lanes<T>::kCount; ++lane)
    c[lane] = multiplyAdd(a, b[lane], c[lane]);
#endif
}

/// Adds to chains of some rows and of neighbouring columns, which stay in registers.
template <typename T, int kRows, int kVectors>
GRAPHC_WIDE [[gnu::always_inline]] inline void
addTile(Matrix<T> a, Matrix<T> b, int64_t depth, typename Lanes<T>::Type (&sums)[kRows][kVectors]) {
  for (int64_t k = 0; k < depth; ++k)
    for (int row = 0; row < kRows; ++row)
      for (int v = 0; v < kVectors; ++v)
        multiplyAddLanes<T>(a.data[row * a.row + k * a.column],
                            b.data + k * b.row + v * Lanes<T>::kCount, sums[row][v]);
}

template <typename T, int kRows, int kVectors>
GRAPHC_WIDE void multiplyTile(Matrix<T> a, Matrix<T> b, int64_t depth, T *out, int64_t width) {
  using Vector = typename Lanes<T>::Type;
  Vector sums[kRows][kVectors] = {};
  addTile(a, b, depth, sums);
  for (int row = 0; row < kRows; ++row)
    for (int v = 0; v < kVectors; ++v)
      *reinterpret_cast<Vector *>(out + row * width + v * Lanes<T>::kCount) = sums[row][v];
}

/// All rows of a strip of columns, which are dense in `b`.
template <typename T, int kVectors>
GRAPHC_WIDE void multiplyStrip(Matrix<T> a, Matrix<T> b, int64_t height, int64_t depth,
                               int64_t width, T *out) {
  auto rest = [&](int64_t i) { return Matrix<T>{a.data + i * a.row, a.row, a.column}; };
  int64_t i = 0;
  for (; i + 4 <= height; i += 4)
    multiplyTile<T, 4, kVectors>(rest(i), b, depth, out + i * width, width);
  if (height - i >= 2) {
    multiplyTile<T, 2, kVectors>(rest(i), b, depth, out + i * width, width);
    i += 2;
  }
  if (i < height)
    multiplyTile<T, 1, kVectors>(rest(i), b, depth, out + i * width, width);
}

/// Strips of columns; the last may begin within the one before and compute some of its columns
/// once more.
template <typename T>
void multiplyStrips(Matrix<T> a, Matrix<T> b, int64_t height, int64_t depth, int64_t width,
                    T *out) {
  constexpr int64_t kOne = Lanes<T>::kCount, kTwo = 2 * kOne;
  auto from = [&](int64_t j) { return Matrix<T>{b.data + j, b.row, 1}; };
  int64_t j = 0;
  for (; j + kTwo <= width; j += kTwo)
    multiplyStrip<T, 2>(a, from(j), height, depth, width, out + j);
  if (width - j > kOne && width >= kTwo)
    return multiplyStrip<T, 2>(a, from(width - kTwo), height, depth, width, out + width - kTwo);
  if (width - j >= kOne) {
    multiplyStrip<T, 1>(a, from(j), height, depth, width, out + j);
    j += kOne;
  }
  if (j < width)
    multiplyStrip<T, 1>(a, from(width - kOne), height, depth, width, out + width - kOne);
}

/// Some rows of fewer columns than lanes, which are dense in `b`. Lanes beyond read the rows after:
/// of the last ones a copy.
template <typename T, int kRows>
GRAPHC_WIDE void multiplyFewColumns(Matrix<T> a, Matrix<T> b, int64_t depth, T *out,
                                    int64_t width) {
  constexpr int64_t kOne = Lanes<T>::kCount;
  const int64_t copied = std::min(depth, kOne), before = depth - copied;
  std::array<T, kOne * kOne> last{};
  for (int64_t k = 0; k < copied; ++k)
    std::copy_n(b.data + (before + k) * b.row, width, last.data() + k * kOne);
  typename Lanes<T>::Type sums[kRows][1] = {};
  addTile(a, b, before, sums);
  addTile(Matrix<T>{a.data + before * a.column, a.row, a.column}, Matrix<T>{last.data(), kOne, 1},
          copied, sums);
  for (int row = 0; row < kRows; ++row)
    for (int64_t j = 0; j < width; ++j)
      out[row * width + j] = sums[row][0][j];
}

/// A few rows of fewer columns than lanes.
template <typename T>
void multiplyFew(Matrix<T> a, Matrix<T> b, int64_t height, int64_t depth, int64_t width, T *out) {
  for (int64_t i = 0; i < height; i += 4) {
    const Matrix<T> rest{a.data + i * a.row, a.row, a.column};
    T *to = out + i * width;
    switch (height - i) {
    case 1:
      return multiplyFewColumns<T, 1>(rest, b, depth, to, width);
    case 2:
      return multiplyFewColumns<T, 2>(rest, b, depth, to, width);
    case 3:
      return multiplyFewColumns<T, 3>(rest, b, depth, to, width);
    default:
      multiplyFewColumns<T, 4>(rest, b, depth, to, width);
    }
  }
}

/// One row times one column is the sum of the products.
template <typename T>
[[gnu::flatten]] GRAPHC_WIDE T innerProduct(Matrix<T> a, Matrix<T> b, int64_t depth) {
  using enum op::OpKind;
  if (depth == 0)
    return T{0};
  Room<T> room;
  T *products = room.get(depth);
  if (a.column == 1 && b.row == 1)
    for (int64_t k = 0; k < depth; ++k)
      products[k] = folded(Mul, a.data[k], b.data[k]);
  else
    for (int64_t k = 0; k < depth; ++k)
      products[k] = folded(Mul, a.data[k * a.column], b.data[k * b.row]);
  return laneTree(products, depth, [](T x, T y) { return folded(Add, x, y); }) + T{0};
}

template <typename T>
void multiply(Matrix<T> a, Matrix<T> b, int64_t height, int64_t depth, int64_t width, T *out) {
  if (width == 1 && height == 1) {
    *out = innerProduct(a, b, depth);
    return;
  }
  if (width == 1 && a.row == 1 && height > 1) // columns are dense: rows of the transposed product
    return multiplyRow(b.data, b.row, Matrix<T>{a.data, a.column, a.row}, depth, height, out);
  if (width == 1)
    return multiplyColumn(a, b.data, b.row, depth, height, out, 1);
  if constexpr (std::is_floating_point_v<T>) {
    // Columns that do not lie side by side are copied so that they do, if that is little work.
    std::array<T, kMostTurned> turned;
    if (b.column != 1 && height >= 4 && depth * width <= kMostTurned) {
      for (int64_t j = 0; j < width; ++j)
        for (int64_t k = 0; k < depth; ++k)
          turned[static_cast<size_t>(k * width + j)] = b.data[k * b.row + j * b.column];
      b = {turned.data(), width, 1};
    }
    // Of one row, chains of many columns keep the core busy as they lie.
    bool isLong = height == 1 && width > kMostRow;
    if (b.column == 1 && width >= Lanes<T>::kCount && !isLong)
      return multiplyStrips(a, b, height, depth, width, out);
    if (width < Lanes<T>::kCount && height < kFewRows && depth >= kLongDepth && b.column == 1 &&
        b.row > 0)
      return multiplyFew(a, b, height, depth, width, out);
    if (width < Lanes<T>::kCount) {
      for (int64_t j = 0; j < width; ++j)
        multiplyColumn(a, b.data + j * b.column, b.row, depth, height, out + j, width);
      return;
    }
  }
  for (int64_t i = 0; i < height; ++i)
    multiplyRow(a.data + i * a.row, a.column, b, depth, width, out + i * width);
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

/// Four real products; of one row and one column the sum of the products.
template <typename R>
void multiplyNumbers(Matrix<Number<R>> x, Matrix<Number<R>> y, int64_t height, int64_t depth,
                     int64_t width, Number<R> *out) {
  Room<R> rooms[6];
  const int64_t left = height * depth, right = depth * width, made = height * width;
  R *a[] = {rooms[0].get(left), rooms[1].get(left)};
  R *b[] = {rooms[2].get(right), rooms[3].get(right)};
  for (int64_t i = 0, at = 0; i < height; ++i)
    for (int64_t k = 0; k < depth; ++k, ++at) {
      const Number<R> z = x.data[i * x.row + k * x.column];
      a[0][at] = z.re, a[1][at] = z.im;
    }
  for (int64_t k = 0, at = 0; k < depth; ++k)
    for (int64_t j = 0; j < width; ++j, ++at) {
      const Number<R> z = y.data[k * y.row + j * y.column];
      b[0][at] = z.re, b[1][at] = z.im;
    }
  if (made == 1) {
    for (int64_t k = 0; k < depth; ++k) {
      const R re = a[0][k] * b[0][k] - a[1][k] * b[1][k];
      const R im = a[0][k] * b[1][k] + a[1][k] * b[0][k];
      a[0][k] = re, a[1][k] = im;
    }
    const Layout whole{1, depth, 1};
    reduceNumbers(ReduceKind::Sum, a[0], whole, &out->re);
    reduceNumbers(ReduceKind::Sum, a[1], whole, &out->im);
    return;
  }
  R *one = rooms[4].get(made), *other = rooms[5].get(made);
  auto times = [&](const R *p, const R *q, R *to) {
    multiply<R>({p, depth, 1}, {q, width, 1}, height, depth, width, to);
  };
  times(a[0], b[0], one);
  times(a[1], b[1], other);
  for (int64_t i = 0; i < made; ++i)
    out[i].re = one[i] - other[i];
  times(a[0], b[1], one);
  times(a[1], b[0], other);
  for (int64_t i = 0; i < made; ++i)
    out[i].im = one[i] + other[i];
}

/// Unsigned sums and products of eight bytes have the bits of signed ones, which have loops.
DType loopOf(ReduceKind kind, DType t) {
  bool wraps = kind == ReduceKind::Sum || kind == ReduceKind::Prod;
  return wraps && t == DType::UInt64 ? DType::Int64 : t;
}

/// A vector is a row on the left and a column on the right.
struct Factor {
  int64_t rows, columns, row, column;
  Factor(const View &view, bool isLeft) {
    bool isMatrix = view.shape().rank() == 2;
    std::span<const int64_t> shape = view.shape(), strides = view.strides();
    rows = isMatrix ? shape[0] : isLeft ? 1 : shape[0];
    columns = isMatrix ? shape[1] : isLeft ? shape[0] : 1;
    row = isMatrix ? strides[0] : isLeft ? 0 : strides[0];
    column = isMatrix ? strides[1] : isLeft ? strides[0] : 0;
  }
};

/// Integers without a loop of their own, and bools, as wider ones: the low bits of a sum of
/// products depend on the low bits of the factors alone, and a count of pairs of truths tells
/// whether there is one.
template <typename W>
Outcome productOfBits(const Array &x, const Array &y, const Factor &a, const Factor &b, DType t,
                      const Shape &shape) {
  constexpr DType kWide = sizeof(W) == 8 ? DType::Int64 : DType::Int32;
  Reader<W> left, right;
  GRAPHC_ASSIGN(bool isRead, left.read(x, kWide, x.shape()));
  if (isRead) {
    GRAPHC_ASSIGN(isRead, right.read(y, kWide, y.shape()));
  }
  if (!isRead)
    return NodeRef();
  GRAPHC_ASSIGN(NodeRef out, makeNode(t, shape, x.device()));
  const int64_t count = countOf(shape);
  Room<W> room;
  W *wide = room.get(count);
  multiply<W>({left.run().data, a.columns, 1}, {right.run().data, b.columns, 1}, a.rows, a.columns,
              b.columns, wide);
  auto done = withRealType(t, [&]<typename T>(T) -> Result<bool> {
    std::copy_n(wide, count, dataOf<T>(out));
    return true;
  });
  return finished(std::move(out), std::move(done));
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
  if (auto wider = widerLoop(kind, t))
    return reduceByWider(kind, x, axes, *wider, t, shape);
  GRAPHC_ASSIGN(NodeRef out, makeNode(resultDType(kind, t), shape, x.device()));
  if (isComplex(t)) {
    auto made = withElementType(t, [&]<typename T>(T) -> Result<bool> {
      if constexpr (kIsNumber<T>)
        return reduceParts(kind, x, t, *layout, dataOf<T>(out));
      return false;
    });
    return finished(std::move(out), std::move(made));
  }
  constexpr int64_t kWorthWide = 64;
  const bool isWide = count >= kWorthWide && hasWide();
  auto done = withLoopType(loopOf(kind, t), [&]<typename T>(T) -> Result<bool> {
    Reader<T> reader;
    GRAPHC_ASSIGN(bool isRead, reader.read(x, t, x.shape()));
    if (!isRead)
      return false;
    const T *from = reader.run().data; // of one value there is one
    void *to = dataOf<char>(out);
    if constexpr (std::is_same_v<T, bool>)
      return reduceBools(kind, from, *layout, to);
    else
      return (isWide ? reduceWide(kind, from, *layout, to)
                     : reduceNumbers(kind, from, *layout, to)) &&
             (!mustBeFinite() || out->dtype() != t ||
              allFinite(static_cast<const T *>(to), countOf(shape)));
  });
  return finished(std::move(out), std::move(done));
}

Outcome extremeOfNumbers(bool isLargest, const Array &given) {
  const Array x = ops::inMemoryOrder(given);
  constexpr int64_t kMost = 1 << 17;
  const int64_t count = x.size();
  if (count == 0 || count > kMost || !onHost(x.device()) || !hasWide())
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
  GRAPHC_ASSIGN(NodeRef out, makeNode(t, shape, x.device()));
  auto done = withLoopType(loopOf(kind, t), [&]<typename T>(T) -> Result<bool> {
    if constexpr (std::is_same_v<T, bool>) {
      return false;
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
      return !mustBeFinite() || allFinite(to, count);
    }
  });
  return finished(std::move(out), std::move(done));
}

Outcome matmul(const Array &x, const Array &y, DType t, const Shape &shape) {
  if (x.rank() > 2 || y.rank() > 2 || x.dtype() != t || y.dtype() != t || !hasWide())
    return NodeRef();
  Factor a(x.view(), true), b(y.view(), false);
  const int64_t work = a.rows * a.columns * b.columns * (isComplex(t) ? 4 : 1);
  if (work > mostWork() || (isComplex(t) && a.columns == 0))
    return NodeRef();
  if (a.columns > kMostDepth && (a.rows > 1 || b.columns > 1))
    return productOfBlocks(x, y, t, shape);
  if (t == DType::UInt64)
    return productOfBits<int64_t>(x, y, a, b, t, shape);
  if (!isInexact(t) && t != DType::Int64 && t != DType::Int32)
    return productOfBits<int32_t>(x, y, a, b, t, shape);
  GRAPHC_ASSIGN(Elements left, elementsOf(x));
  GRAPHC_ASSIGN(Elements right, elementsOf(y));
  if (!left.base || !right.base)
    return NodeRef();
  GRAPHC_ASSIGN(NodeRef out, makeNode(t, shape, x.device()));
  auto done = withElementType(t, [&]<typename T>(T) -> Result<bool> {
    const Matrix<T> first{reinterpret_cast<const T *>(left.first), a.row, a.column};
    const Matrix<T> second{reinterpret_cast<const T *>(right.first), b.row, b.column};
    if constexpr (kIsNumber<T>)
      multiplyNumbers(first, second, a.rows, a.columns, b.columns, dataOf<T>(out));
    else
      multiply<T>(first, second, a.rows, a.columns, b.columns, dataOf<T>(out));
    return (!mustBeFinite() && !isComplex(t)) || allFinite(dataOf<T>(out), countOf(shape));
  });
  return finished(std::move(out), std::move(done));
}

} // namespace graphc::small
