// Products of small matrices, by the chains of docs/numerics.md.
#include "frontends/record/HostTrees.h"
#include "frontends/record/SmallComplex.h"
#include "frontends/record/SmallNumeric.h"

namespace graphc::small {
namespace {

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

/// Integers wrap; as they are written, so that loops of them become vectors.
template <typename T>
[[gnu::always_inline]] inline T product(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a * b;
  else
    return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
}
template <typename T>
[[gnu::always_inline]] inline T sum(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a + b;
  else
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
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

/// Elements that are multiplied together.
template <typename T>
struct Lanes {
  typedef T Type __attribute__((vector_size(32), aligned(alignof(T))));
  static constexpr int64_t kCount = 32 / sizeof(T);
};

#if defined(__clang__)
/// Four rows of four elements, or eight of eight, by columns.
[[gnu::always_inline]] GRAPHC_WIDE inline void turn(Lanes<double>::Type (&x)[4]) {
  const auto a = __builtin_shufflevector(x[0], x[1], 0, 4, 2, 6);
  const auto b = __builtin_shufflevector(x[0], x[1], 1, 5, 3, 7);
  const auto c = __builtin_shufflevector(x[2], x[3], 0, 4, 2, 6);
  const auto d = __builtin_shufflevector(x[2], x[3], 1, 5, 3, 7);
  x[0] = __builtin_shufflevector(a, c, 0, 1, 4, 5);
  x[1] = __builtin_shufflevector(b, d, 0, 1, 4, 5);
  x[2] = __builtin_shufflevector(a, c, 2, 3, 6, 7);
  x[3] = __builtin_shufflevector(b, d, 2, 3, 6, 7);
}
[[gnu::always_inline]] GRAPHC_WIDE inline void turn(Lanes<float>::Type (&x)[8]) {
  Lanes<float>::Type pairs[8], fours[8];
  for (int i = 0; i < 8; i += 2) {
    pairs[i] = __builtin_shufflevector(x[i], x[i + 1], 0, 8, 1, 9, 4, 12, 5, 13);
    pairs[i + 1] = __builtin_shufflevector(x[i], x[i + 1], 2, 10, 3, 11, 6, 14, 7, 15);
  }
  for (int i = 0; i < 8; i += 4)
    for (int half = 0; half < 2; ++half) {
      const auto low = pairs[i + half], high = pairs[i + half + 2];
      fours[i + 2 * half] = __builtin_shufflevector(low, high, 0, 1, 8, 9, 4, 5, 12, 13);
      fours[i + 2 * half + 1] = __builtin_shufflevector(low, high, 2, 3, 10, 11, 6, 7, 14, 15);
    }
  for (int i = 0; i < 4; ++i) {
    x[i] = __builtin_shufflevector(fours[i], fours[i + 4], 0, 1, 2, 3, 8, 9, 10, 11);
    x[i + 4] = __builtin_shufflevector(fours[i], fours[i + 4], 4, 5, 6, 7, 12, 13, 14, 15);
  }
}

/// The chains of sixteen rows at a time, whose elements are dense: turned in registers. Returns how
/// many rows there were.
template <typename T>
GRAPHC_WIDE int64_t multiplyTurned(Matrix<T> a, const T *b, int64_t step, int64_t depth,
                                   int64_t height, T *out, int64_t apart) {
  using Vector = typename Lanes<T>::Type;
  constexpr int64_t kLanes = Lanes<T>::kCount, kTogether = 16, kGroups = kTogether / kLanes;
  int64_t i = 0;
  for (; i + kTogether <= height; i += kTogether) {
    Vector sums[kGroups] = {};
    const T *from = a.data + i * a.row;
    int64_t k = 0;
    for (; k + kLanes <= depth; k += kLanes)
      for (int64_t group = 0; group < kGroups; ++group) {
        Vector x[kLanes];
        for (int64_t r = 0; r < kLanes; ++r)
          x[r] = *reinterpret_cast<const Vector *>(from + (group * kLanes + r) * a.row + k);
        turn(x);
        for (int64_t l = 0; l < kLanes; ++l)
          sums[group] = __builtin_elementwise_fma(x[l], b[(k + l) * step] - Vector{}, sums[group]);
      }
    for (int64_t r = 0; r < kTogether; ++r) {
      T sum = sums[r / kLanes][r % kLanes];
      for (int64_t rest = k; rest < depth; ++rest)
        sum = multiplyAdd(from[r * a.row + rest], b[rest * step], sum);
      out[(i + r) * apart] = sum;
    }
  }
  return i;
}
#endif

/// A matrix times a column, to results `apart` from each other.
template <typename T>
GRAPHC_WIDE void multiplyColumn(Matrix<T> a, const T *b, int64_t step, int64_t depth,
                                int64_t height, T *out, int64_t apart) {
  constexpr int64_t kTogether = 8;
  int64_t i = 0;
#if defined(__clang__)
  if constexpr (std::is_floating_point_v<T>)
    if (a.column == 1)
      i = multiplyTurned(a, b, step, depth, height, out, apart);
#endif
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

template <typename T>
GRAPHC_WIDE [[gnu::always_inline]] inline void multiplyAddLanes(T a, const T *b,
                                                                typename Lanes<T>::Type &c) {
#if defined(__clang__)
  using Vector = typename Lanes<T>::Type;
  // Everywhere: what 0 is added to would lose the sign of a zero.
  c = __builtin_elementwise_fma(a - Vector{}, *reinterpret_cast<const Vector *>(b), c);
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
  if (depth == 0)
    return T{0};
  auto add = [](T x, T y) { return sum(x, y); };
  Room<T> room;
  if (a.column == 1 && b.row == 1 && depth > kLanes) {
    T *blocks = room.get((depth + kLaneBlock - 1) / kLaneBlock);
    int64_t found = 0;
    for (int64_t first = 0; first < depth; first += kLaneBlock) {
      const T *x = a.data + first, *y = b.data + first;
      const int64_t some = std::min(kLaneBlock, depth - first);
      auto times = [x, y](int64_t k) { return product(x[k], y[k]); };
      if (some > kLanes) {
        blocks[found++] = foldBlock<T>(times, some, add);
        continue;
      }
      std::array<T, kLanes> last;
      for (int64_t k = 0; k < some; ++k)
        last[static_cast<size_t>(k)] = times(k);
      blocks[found++] = foldLanes(last.data(), some, add);
    }
    return laneTree(blocks, found, add) + T{0};
  }
  T *products = room.get(depth);
  if (a.column == 1 && b.row == 1)
    for (int64_t k = 0; k < depth; ++k)
      products[k] = product(a.data[k], b.data[k]);
  else
    for (int64_t k = 0; k < depth; ++k)
      products[k] = product(a.data[k * a.column], b.data[k * b.row]);
  return laneTree(products, depth, add) + T{0};
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

/// The parts of the products of two vectors whose elements are so far apart.
template <typename R>
[[gnu::always_inline]] inline void partsOf(const Number<R> *x, int64_t xStep, const Number<R> *y,
                                           int64_t yStep, int64_t count, R *re, R *im) {
  for (int64_t k = 0; k < count; ++k) {
    const Number<R> a = x[k * xStep], b = y[k * yStep];
    re[k] = a.re * b.re - a.im * b.im;
    im[k] = a.re * b.im + a.im * b.re;
  }
}
template <typename R>
GRAPHC_WIDE void partsOfDense(const Number<R> *x, const Number<R> *y, int64_t count, R *re, R *im) {
  partsOf(x, 1, y, 1, count, re, im);
}

/// The product of a row and a column: the sum of the products.
template <typename R>
Number<R> dotOf(const Number<R> *x, int64_t xStep, const Number<R> *y, int64_t yStep,
                int64_t count) {
  Room<R> first, second;
  R *re = first.get(count), *im = second.get(count);
  if (xStep == 1 && yStep == 1 && hasWide())
    partsOfDense(x, y, count, re, im);
  else
    partsOf(x, xStep, y, yStep, count, re, im);
  auto add = [](R p, R q) { return p + q; };
  return {laneTree(re, count, add) + R{0}, laneTree(im, count, add) + R{0}};
}

/// Four real products.
template <typename R>
void multiplyNumbers(Matrix<Number<R>> x, Matrix<Number<R>> y, int64_t height, int64_t depth,
                     int64_t width, Number<R> *out) {
  if (height == 1 && width == 1) {
    *out = dotOf(x.data, x.column, y.data, y.row, depth);
    return;
  }
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

/// A vector is a row on the left and a column on the right.
struct Factor {
  int64_t rows, columns, row, column;
  Factor(const View &view, bool isLeft) {
    const size_t rank = view.shape().size();
    bool isMatrix = rank > 1;
    std::span<const int64_t> shape = view.shape(), strides = view.strides();
    rows = isMatrix ? shape[rank - 2] : isLeft ? 1 : shape[0];
    columns = isMatrix ? shape[rank - 1] : isLeft ? shape[0] : 1;
    row = isMatrix ? strides[rank - 2] : isLeft ? 0 : strides[0];
    column = isMatrix ? strides[rank - 1] : isLeft ? strides[0] : 0;
  }
};

/// The matrices of a stack, one after another, and those that they meet in a product.
struct Stack {
  static constexpr int64_t kMostAxes = 6;
  std::array<int64_t, kMostAxes> sizes{}, first{}, second{}, at{};
  size_t rank;
  int64_t count = 1;

  Stack(const View &x, const View &y)
      : rank(std::max<size_t>({x.shape().size(), y.shape().size(), 2}) - 2) {
    for (size_t axis = 0; axis < rank; ++axis)
      sizes[axis] = 1;
    note(x, first);
    note(y, second);
    for (size_t axis = 0; axis < rank; ++axis)
      count *= sizes[axis];
  }

  /// Moves places of elements to the next matrices.
  void step(int64_t &x, int64_t &y) {
    for (size_t axis = rank; axis-- > 0;) {
      x += first[axis], y += second[axis];
      if (++at[axis] < sizes[axis])
        return;
      x -= first[axis] * sizes[axis], y -= second[axis] * sizes[axis];
      at[axis] = 0;
    }
  }

private:
  void note(const View &view, std::span<int64_t> steps) {
    for (size_t from = view.shape().size(), axis = rank; from > 2; --from) {
      const int64_t size = view.shape()[from - 3];
      steps[--axis] = size == 1 ? 0 : view.strides()[from - 3];
      sizes[axis] = std::max(sizes[axis], size);
    }
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

Outcome matmul(const Array &x, const Array &y, DType t, const Shape &shape) {
  if (std::max(x.rank(), y.rank()) > Stack::kMostAxes + 2 || x.dtype() != t || y.dtype() != t ||
      !hasWide())
    return NodeRef();
  Factor a(x.view(), true), b(y.view(), false);
  Stack stack(x.view(), y.view());
  const int64_t work = stack.count * a.rows * a.columns * b.columns * (isComplex(t) ? 4 : 1);
  if (work > mostWork() || (isComplex(t) && a.columns == 0))
    return NodeRef();
  const bool isDeep = a.columns > kMostDepth && (a.rows > 1 || b.columns > 1);
  const bool isOwn = isInexact(t) || t == DType::Int64 || t == DType::Int32;
  if (stack.rank > 0 && (isDeep || !isOwn))
    return NodeRef();
  if (isDeep)
    return productOfBlocks(x, y, t, shape);
  if (t == DType::UInt64)
    return productOfBits<int64_t>(x, y, a, b, t, shape);
  if (!isOwn)
    return productOfBits<int32_t>(x, y, a, b, t, shape);
  GRAPHC_ASSIGN(Elements left, elementsOf(x));
  GRAPHC_ASSIGN(Elements right, elementsOf(y));
  if (!left.base || !right.base)
    return NodeRef();
  GRAPHC_ASSIGN(NodeRef out, makeNode(t, shape, x.device()));
  auto done = withElementType(t, [&]<typename T>(T) -> Result<bool> {
    const auto *one = reinterpret_cast<const T *>(left.first);
    const auto *other = reinterpret_cast<const T *>(right.first);
    T *to = dataOf<T>(out);
    for (int64_t i = 0, p = 0, q = 0; i < stack.count; ++i, stack.step(p, q)) {
      const Matrix<T> first{one + p, a.row, a.column}, second{other + q, b.row, b.column};
      if constexpr (kIsNumber<T>)
        multiplyNumbers(first, second, a.rows, a.columns, b.columns, to);
      else
        multiply<T>(first, second, a.rows, a.columns, b.columns, to);
      to += a.rows * b.columns;
    }
    return (!mustBeFinite() && !isComplex(t)) || allFinite(dataOf<T>(out), countOf(shape));
  });
  return finished(std::move(out), std::move(done));
}

} // namespace graphc::small
