// Reductions of slices that begin anywhere (`ufunc.reduceat`), by the trees of docs/numerics.md, on
// the threads of the cpu device.
#include "frontends/record/HostTrees.h"
#include "frontends/record/Record.h"
#include "frontends/record/Session.h"
#include "frontends/record/SmallComplex.h"
#include "frontends/record/SmallNumeric.h"
#include "runtime/library/Parallel.h"

#include <vector>

namespace graphc::small {
namespace {

using op::ReduceKind;

/// Slices of [outer, count, inner] elements along the middle, one row of the result each; elements
/// are converted on the way.
template <typename S, typename T>
struct Slices {
  const S *from;
  int64_t outer, count, inner;
  std::span<const int64_t> starts;
  T *to;

  int64_t results() const { return outer * static_cast<int64_t>(starts.size()); }
  template <typename F>
  [[gnu::always_inline]] void reduce(int64_t first, int64_t last, F combine) const {
    const auto each = static_cast<int64_t>(starts.size());
    std::vector<T> converted;
    auto slice = static_cast<size_t>(first % each);
    const S *rows = from + first / each * count * inner;
    for (int64_t i = first; i < last; ++i) {
      const int64_t begin = starts[slice];
      const int64_t next = slice + 1 < starts.size() ? starts[slice + 1] : count;
      const int64_t length = std::max<int64_t>(next - begin, 1);
      const T *x;
      if constexpr (std::is_same_v<S, T>) {
        x = rows + begin * inner;
      } else {
        const int64_t all = length * inner;
        converted.resize(std::max(converted.size(), static_cast<size_t>(all)));
        for (int64_t k = 0; k < all; ++k)
          converted[static_cast<size_t>(k)] = static_cast<T>(rows[begin * inner + k]);
        x = converted.data();
      }
      if (inner == 1)
        to[i] = laneTree(x, length, combine);
      else
        rowTree(x, length, inner, to + i * inner, combine);
      if (++slice == starts.size())
        slice = 0, rows += count * inner;
    }
  }
};

template <typename T>
struct Add {
  T operator()(T a, T b) const {
    if constexpr (kIsNumber<T>)
      return {a.re + b.re, a.im + b.im};
    else if constexpr (std::is_floating_point_v<T>)
      return a + b;
    else
      return *hostmath::foldInteger(op::OpKind::Add, a, b);
  }
};

template <typename T>
struct Multiply {
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>)
      return a * b;
    else
      return *hostmath::foldInteger(op::OpKind::Mul, a, b);
  }
};

template <typename T, bool kIsLargest>
struct Extreme {
  T operator()(T a, T b) const {
    if constexpr (std::is_floating_point_v<T>)
      return hostmath::extreme<kIsLargest>(a, b);
    else
      return (kIsLargest ? a > b : a < b) ? a : b;
  }
};

/// Compiled twice: no bit depends on how many elements are taken at a time.
template <typename S, typename T, typename F>
[[gnu::flatten]] GRAPHC_WIDE void reduceWide(const Slices<S, T> &slices, int64_t first,
                                             int64_t last, F combine) {
  slices.reduce(first, last, combine);
}

template <typename S, typename T, typename F>
bool reduceAll(const Slices<S, T> &slices, F combine) {
  constexpr int64_t kChunk = 1 << 15; // elements
  const int64_t results = slices.results();
  const int64_t length = slices.outer * slices.count * slices.inner / results;
  rt::library::parallelFor(results, std::max<int64_t>(1, kChunk / std::max<int64_t>(1, length)),
                           [&](int64_t first, int64_t last) {
                             if (hasWide())
                               reduceWide(slices, first, last, combine);
                             else
                               slices.reduce(first, last, combine);
                           });
  return true;
}

template <typename S, typename T>
bool reduceBy(ReduceKind kind, const Slices<S, T> &slices) {
  if constexpr (kIsNumber<T>)
    return kind == ReduceKind::Sum && reduceAll(slices, Add<T>());
  else if constexpr (std::is_same_v<T, bool>)
    return kind == ReduceKind::Any || kind == ReduceKind::Max
               ? reduceAll(slices, [](bool a, bool b) { return a || b; })
               : (kind == ReduceKind::All || kind == ReduceKind::Min) &&
                     reduceAll(slices, [](bool a, bool b) { return a && b; });
  else if (kind == ReduceKind::Sum)
    return reduceAll(slices, Add<T>());
  else if (kind == ReduceKind::Prod)
    return reduceAll(slices, Multiply<T>());
  else if constexpr (std::is_same_v<S, T>)
    return kind == ReduceKind::Min
               ? reduceAll(slices, Extreme<T, false>())
               : kind == ReduceKind::Max && reduceAll(slices, Extreme<T, true>());
  return false;
}

/// +0 is added to the root of a sum.
template <typename T>
void finishSums(T *to, int64_t count) {
  if constexpr (kIsNumber<T>)
    finishSums(&to->re, 2 * count);
  else if constexpr (std::is_floating_point_v<T>)
    for (int64_t i = 0; i < count; ++i)
      to[i] += T{0};
}

template <typename R>
bool holdsInfinity(const R *values, int64_t count) {
  bool found = false;
  for (int64_t i = 0; i < count; ++i)
    found |= std::fabs(values[i]) == std::numeric_limits<R>::infinity();
  return found;
}

/// Whether an operation met fine operands and made what is not; of infinite operands nobody knows.
template <typename T>
bool mayTell(const Slices<T, T> &slices, int64_t count) {
  if constexpr (kIsNumber<T>) {
    using R = decltype(T::re);
    return !allFinite(slices.to, slices.results() * slices.inner) &&
           (holdsInfinity(&slices.from->re, 2 * count) ||
            holdsInfinity(&slices.to->re, 2 * slices.results() * slices.inner) ||
            allFinite(reinterpret_cast<const R *>(slices.from), 2 * count));
  } else if constexpr (std::is_floating_point_v<T>) {
    const int64_t results = slices.results() * slices.inner;
    return !allFinite(slices.to, results) &&
           (holdsInfinity(slices.from, count) || holdsInfinity(slices.to, results) ||
            allFinite(slices.from, count));
  }
  return false;
}

/// Calls `f` with a value of the C++ type of a real or complex dtype.
template <typename F>
Result<bool> withNumberType(DType t, F f) {
  if (t == DType::Complex128)
    return f(Number<double>());
  return t == DType::Complex64 ? f(Number<float>()) : withRealType(t, f);
}

} // namespace

Outcome reduceSlices(ReduceKind kind, const Array &x, size_t axis, DType t,
                     std::span<const int64_t> starts) {
  const bool isSum = kind == ReduceKind::Sum, isProduct = kind == ReduceKind::Prod;
  int64_t outer = 1, inner = 1;
  for (size_t i = 0; i < x.shape().size(); ++i)
    if (i != axis)
      (i < axis ? outer : inner) *= x.shape()[i];
  const int64_t count = countOf(x.shape());
  auto isOutside = [&](int64_t start) { return start < 0 || start >= x.shape()[axis]; };
  if (count == 0 || starts.empty() || std::ranges::any_of(starts, isOutside) ||
      !onHost(x.device()) || (isFloat(t) && itemSize(t) < 4) || (isComplex(t) && !isSum))
    return NodeRef();
  GRAPHC_ASSIGN(NodeRef n, x.value());
  // Sums of narrow integers convert them on the way.
  const bool converts = (isSum || isProduct) && isInteger(t) && itemSize(t) == 8 &&
                        (isInteger(x.dtype()) || x.dtype() == DType::Bool);
  if (!converts) {
    GRAPHC_ASSIGN(n, node::cast(n, t));
  }
  GRAPHC_TRY(evaluate({&n, 1}, "reduceat"));
  Shape shape = x.shape();
  shape[axis] = static_cast<int64_t>(starts.size());
  GRAPHC_ASSIGN(NodeRef out, makeNode(t, shape, x.device()));
  auto reduced = [&]<typename S, typename T>(S, T) -> Result<bool> {
    const Slices<S, T> slices{dataOf<const S>(n), outer, x.shape()[axis], inner, starts,
                              dataOf<T>(out)};
    if (!reduceBy(kind, slices))
      return false;
    if (isSum)
      finishSums(slices.to, countOf(shape));
    if constexpr (std::is_same_v<S, T>)
      return !((isSum || isProduct) && mustBeFinite() && mayTell(slices, count));
    return true;
  };
  auto done = !converts ? withNumberType(t, [&](auto v) { return reduced(v, v); })
                        : withRealType(n->dtype(), [&]<typename S>(S v) -> Result<bool> {
                            if constexpr (std::is_floating_point_v<S>)
                              return false;
                            else if (t == DType::Int64)
                              return reduced(v, int64_t{});
                            else
                              return reduced(v, uint64_t{});
                          });
  return finished(std::move(out), std::move(done));
}

Outcome reduceSlices(ReduceKind kind, const Array &x, size_t axis, DType t, const Array &starts) {
  Reader<int64_t> reader;
  if (starts.rank() != 1 || !isInteger(starts.dtype()))
    return NodeRef();
  GRAPHC_ASSIGN(bool isRead, reader.read(starts, DType::Int64, starts.shape()));
  if (!isRead)
    return NodeRef();
  const Run<int64_t> given = reader.run();
  const std::vector<int64_t> one(static_cast<size_t>(starts.size()), given.steps ? 0 : *given.data);
  const std::span<const int64_t> all(given.data, one.size());
  return reduceSlices(kind, x, axis, t, given.steps ? all : one);
}

} // namespace graphc::small
