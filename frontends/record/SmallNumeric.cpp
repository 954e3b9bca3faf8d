#include "frontends/record/SmallNumeric.h"

#include "frontends/record/Known.h"
#include "frontends/record/Session.h"
#include "frontends/record/SmallElements.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

namespace graphc::small {
namespace {

/// Exact, with the sign of the first.
template <typename T>
T restOf(T a, T b) {
  return std::copysign(std::fmod(std::fabs(a), std::fabs(b)), a);
}

template <typename T>
T spacingOf(T a) {
  T step = std::nextafter(std::fabs(a), std::numeric_limits<T>::infinity()) - std::fabs(a);
  return a < 0 ? -step : step;
}

template <typename T>
bool isFinite(Run<T> values, int64_t count) {
  return allFinite(values.data, values.steps ? count : 1);
}

template <typename T>
Result<bool> numericInto(Numeric kind, std::span<const Operand> operands, DType t,
                         std::span<const int64_t> shape, T *out) {
  const int64_t count = countOf(shape);
  Reader<T> a, b;
  GRAPHC_ASSIGN(bool isRead, a.read(operands[0], t, shape));
  if (isRead && operands.size() > 1) {
    GRAPHC_ASSIGN(isRead, b.read(operands[1], t, shape));
  }
  if (!isRead)
    return false;
  const Run<T> x = a.run(), y = operands.size() > 1 ? b.run() : x;
  if (kind == Numeric::FMax || kind == Numeric::FMin) { // of two numbers as any other extreme
    const auto other = kind == Numeric::FMax ? op::OpKind::Maximum : op::OpKind::Minimum;
    return computeDense(other, t, {x.data, x.steps}, {y.data, y.steps}, count, out) &&
           allFinite(out, count); // NaNs would be among the results
  }
  if (!isFinite(x, count) || !isFinite(y, count))
    return false;
  for (int64_t i = 0; i < count; ++i) {
    const T first = x.data[x.steps ? i : 0];
    out[i] = kind == Numeric::FMod ? restOf(first, y.data[y.steps ? i : 0]) : spacingOf(first);
  }
  return allFinite(out, count);
}

/// The same of integers, among which there are no NaNs.
template <typename T>
Result<bool> wholeInto(Numeric kind, std::span<const Operand> operands, DType t,
                       std::span<const int64_t> shape, T *out) {
  const int64_t count = countOf(shape);
  Reader<T> a, b;
  GRAPHC_ASSIGN(bool isRead, a.read(operands[0], t, shape));
  GRAPHC_ASSIGN(isRead, isRead ? b.read(operands[1], t, shape) : Result<bool>(false));
  if (!isRead)
    return false;
  const Run<T> x = a.run(), y = b.run();
  if (kind != Numeric::FMod)
    return computeDense(kind == Numeric::FMax ? op::OpKind::Maximum : op::OpKind::Minimum, t,
                        {x.data, x.steps}, {y.data, y.steps}, count, out);
  auto isOne = [](T divisor) { // whose remainders are 0, though the quotient may not fit
    return std::is_signed_v<T> && divisor == static_cast<T>(-1);
  };
  for (int64_t i = 0; i < count; ++i) {
    const T divisor = y.data[y.steps ? i : 0];
    if (divisor == 0)
      return false;
    out[i] = isOne(divisor) ? T{0} : static_cast<T>(x.data[x.steps ? i : 0] % divisor);
  }
  return true;
}

/// The larger or smaller ones of complex numbers, as any other extreme where none is a NaN.
Outcome extremeOfComplex(Numeric kind, std::span<const Operand> operands, DType t,
                         const Shape &shape, rt::Device &device) {
  const auto other = kind == Numeric::FMax ? op::OpKind::Maximum : op::OpKind::Minimum;
  GRAPHC_ASSIGN(NodeRef out, elementwise(other, operands, t, shape, device));
  if (!out)
    return NodeRef();
  const int64_t count = 2 * countOf(shape); // NaNs would be among the results
  const bool isFinite = t == DType::Complex64 ? allFinite(dataOf<float>(out), count)
                                              : allFinite(dataOf<double>(out), count);
  return isFinite ? std::move(out) : NodeRef();
}

/// More terms are computed by vectors elsewhere.
constexpr int64_t kMostTerms = 64;

/// Points that a piecewise linear function goes through.
struct Points {
  std::span<const double> places, values;
  const double *slopes = nullptr; ///< between each point and the next one, if they are known

  bool areRising() const {
    return allFinite(places.data(), size()) && allFinite(values.data(), size()) &&
           std::ranges::is_sorted(places);
  }
  int64_t size() const { return static_cast<int64_t>(places.size()); }
  double slopeAt(size_t j) const {
    return (values[j + 1] - values[j]) / (places[j + 1] - places[j]);
  }
  /// Searches go side by side: each waits for its loads, and none for what is chosen.
  static constexpr size_t kTogether = 16;
  using Together = std::array<double, kTogether>;
  /// `near`: the place below those before them, and then below these, which are often next to them.
  void at(const Together &x, Together &found, size_t &near) const {
    if (slopes && areAllBehind(x, near)) {
      for (size_t i = 0; i < kTogether; ++i) {
        const double line = slopes[near] * (x[i] - places[near]) + values[near];
        found[i] = x[i] == places[near] ? values[near] : line;
      }
      return;
    }
    std::array<size_t, kTogether> below{};
    for (size_t count = places.size(); count > 1;) {
      const size_t half = count / 2;
      for (size_t i = 0; i < kTogether; ++i) {
        size_t isBelow = places[below[i] + half] <= x[i];
        __asm__("" : "+r"(isBelow)); // no branch, which would be taken as often as not
        below[i] += half & -isBelow;
      }
      count -= half;
    }
    for (size_t i = 0; i < kTogether; ++i)
      found[i] = between(x[i], below[i]);
    near = below.back();
  }

  /// The same of at most kFew points whose slopes are known, without a search: as vectors.
  static constexpr int64_t kFew = 24;
  GRAPHC_WIDE void ofFew(const Together &x, Together &found) const {
    std::array<int64_t, kTogether> below{};
    const auto last = static_cast<int64_t>(places.size()) - 1;
    const double *p = places.data(), *v = values.data();
    for (int64_t j = 1; j <= last; ++j)
      for (size_t i = 0; i < kTogether; ++i)
        below[i] += p[j] <= x[i] ? 1 : 0;
    for (size_t i = 0; i < kTogether; ++i) {
      const int64_t j = below[i];
      const double line = slopes[j] * (x[i] - p[j]) + v[j];
      const double inside = x[i] == p[j] ? v[j] : line;
      const double above = x[i] >= p[last] ? v[last] : inside;
      found[i] = x[i] < p[0] ? v[0] : above;
    }
  }

private:
  /// Whether all lie between a place and the one after it.
  bool areAllBehind(const Together &x, size_t j) const {
    if (j + 1 >= places.size())
      return false;
    size_t outside = 0;
    for (double each : x)
      outside += !(each >= places[j] && each < places[j + 1]);
    return outside == 0;
  }
  /// `j`: of the last place that is not above `x`, if any.
  double between(double x, size_t j) const {
    if (x < places.front())
      return values.front();
    if (x >= places.back())
      return values.back();
    if (x == places[j])
      return values[j];
    const double slope = slopes ? slopes[j] : slopeAt(j);
    return slope * (x - places[j]) + values[j];
  }
};

} // namespace

std::optional<Numeric> numericFromName(std::string_view name) {
  return name == "fmod"      ? std::optional(Numeric::FMod)
         : name == "fmax"    ? std::optional(Numeric::FMax)
         : name == "fmin"    ? std::optional(Numeric::FMin)
         : name == "spacing" ? std::optional(Numeric::Spacing)
                             : std::nullopt;
}

Outcome numeric(Numeric kind, std::span<const Operand> operands, DType t, const Shape &shape,
                rt::Device &device) {
  if (countOf(shape) * itemSize(t) > kMostBytes)
    return NodeRef();
  if (isComplex(t))
    return extremeOfComplex(kind, operands, t, shape, device);
  GRAPHC_ASSIGN(NodeRef out, makeNode(t, shape, device));
  auto done = withRealType(t, [&]<typename T>(T) -> Result<bool> {
    if constexpr (std::is_floating_point_v<T>)
      return numericInto(kind, operands, t, shape, dataOf<T>(out));
    else if constexpr (std::is_same_v<T, bool>)
      return false;
    else
      return wholeInto(kind, operands, t, shape, dataOf<T>(out));
  });
  return finished(std::move(out), std::move(done));
}

Outcome interpolate(const Operand &x, const Shape &shape, const Array &places,
                    const Array &values) {
  // So many take as long as the kernels that would be run.
  constexpr int64_t kMost = 16384;
  const int64_t count = countOf(shape), size = places.size();
  // A search for few numbers looks at few points: a look at all of them would be most of the time.
  constexpr int64_t kLooked = 64;
  const bool areMany = size / kLooked > count;
  if (count > kMost || (size > kMost && !areMany) || size == 0)
    return NodeRef();
  Reader<double> at, from, to;
  GRAPHC_ASSIGN(bool isRead, at.read(x, DType::Float64, shape));
  if (isRead) {
    GRAPHC_ASSIGN(isRead, from.read(places, DType::Float64, places.shape()));
  }
  if (isRead) {
    GRAPHC_ASSIGN(isRead, to.read(values, DType::Float64, places.shape()));
  }
  const auto length = static_cast<size_t>(size);
  const Run<double> numbers = at.run();
  Points points{{from.run().data, length}, {to.run().data, length}};
  // What points that are not finite give is not finite, but where NumPy gives the same.
  if (!isRead || !isFinite(numbers, count) || (!areMany && !points.areRising()))
    return NodeRef();
  Room<double> room;
  if (count >= size) { // a quotient for each number would be more of them
    double *slopes = room.get(size);
    for (size_t j = 0; j + 1 < length; ++j)
      slopes[j] = points.slopeAt(j);
    slopes[length - 1] = 0;
    points.slopes = slopes;
  }
  GRAPHC_ASSIGN(NodeRef out, makeNode(DType::Float64, shape, places.device()));
  auto *found = dataOf<double>(out);
  constexpr auto kTogether = static_cast<int64_t>(Points::kTogether);
  Points::Together some{}, reached;
  size_t near = 0;
  const bool areFew = points.slopes && size <= Points::kFew && hasWide();
  for (int64_t from = 0; from < count; from += kTogether) {
    const int64_t here = std::min(kTogether, count - from);
    for (int64_t i = 0; i < here; ++i)
      some[static_cast<size_t>(i)] = numbers.data[numbers.steps ? from + i : 0];
    areFew ? points.ofFew(some, reached) : points.at(some, reached, near);
    std::copy_n(reached.begin(), here, found + from);
  }
  return allFinite(found, count) ? out : NodeRef();
}

Outcome polynomial(const Array &coefficients, const Array &x) {
  const int64_t count = x.size(), terms = coefficients.size();
  if (std::max(count, terms) * itemSize(DType::Float64) > kMostBytes || terms > kMostTerms)
    return NodeRef();
  Reader<double> at, factors;
  GRAPHC_ASSIGN(bool isRead, at.read(x, DType::Float64, x.shape()));
  if (isRead) {
    GRAPHC_ASSIGN(isRead, factors.read(coefficients, DType::Float64, coefficients.shape()));
  }
  const Run<double> numbers = at.run(), given = factors.run();
  if (!isRead || !isFinite(numbers, count) || !isFinite(given, terms))
    return NodeRef();
  GRAPHC_ASSIGN(NodeRef out, makeNode(DType::Float64, x.shape(), x.device()));
  auto *found = dataOf<double>(out);
  std::fill_n(found, count, 0.0);
  for (int64_t k = 0; k < terms; ++k) {
    const double term = given.data[given.steps ? k : 0];
    for (int64_t i = 0; i < count; ++i) {
      const double product = found[i] * numbers.data[numbers.steps ? i : 0];
      found[i] = product + term;
    }
  }
  return allFinite(found, count) ? out : NodeRef();
}

Outcome powers(const Array &x, int64_t count, bool isRising) {
  const int64_t rows = x.size();
  if (count < 1 || count > kMostTerms || rows * count * itemSize(DType::Float64) > kMostBytes)
    return NodeRef();
  Reader<double> reader;
  GRAPHC_ASSIGN(bool isRead, reader.read(x, DType::Float64, x.shape()));
  const Run<double> numbers = reader.run();
  if (!isRead || !isFinite(numbers, rows))
    return NodeRef();
  GRAPHC_ASSIGN(NodeRef out, makeNode(DType::Float64, {rows, count}, x.device()));
  auto *found = dataOf<double>(out);
  for (int64_t i = 0; i < rows; ++i) {
    double power = 1;
    for (int64_t k = 0; k < count; ++k) {
      found[i * count + (isRising ? k : count - 1 - k)] = power;
      power *= numbers.data[numbers.steps ? i : 0];
    }
  }
  return allFinite(found, rows * count) ? out : NodeRef();
}

Outcome weightedBincount(const Array &x, const Array &weights, int64_t least) {
  if (weights.dtype() != DType::Float64 || !(weights.shape() == x.shape()))
    return NodeRef();
  Reader<int64_t> places;
  Reader<double> added;
  GRAPHC_ASSIGN(bool isRead, places.read(x, DType::Int64, x.shape()));
  if (isRead) {
    GRAPHC_ASSIGN(isRead, added.read(weights, DType::Float64, weights.shape()));
  }
  const Run<int64_t> at = places.run();
  const int64_t length = isRead ? numberOfCounts(at, x.size(), least) : 0;
  if (length == 0)
    return NodeRef();
  GRAPHC_ASSIGN(NodeRef out, makeNode(DType::Float64, {length}, x.device()));
  auto *sums = dataOf<double>(out);
  std::fill_n(sums, length, 0.0);
  const Run<double> from = added.run();
  for (int64_t i = 0, count = x.size(); i < count; ++i)
    sums[at.data[at.steps ? i : 0]] += from.data[from.steps ? i : 0];
  return !mustBeFinite() || allFinite(sums, length) ? out : NodeRef();
}

namespace {

/// The bin of each number, or the number of bins for those in none. Without branches, which values
/// decide as often one way as the other.
class Bins {
public:
  Bins(std::vector<double> given, bool alike)
      : edges(std::move(given)), first(edges.front()), last(edges.back()),
        count(static_cast<int32_t>(edges.size()) - 1), scale(count / (last - first)),
        isAlike(alike && std::isfinite(scale) && scale > 0) {
    edges.back() =
        std::numeric_limits<double>::infinity(); // nothing inside is in the bin behind it
  }

  static constexpr size_t kBlock = 512;
  using Block = std::array<double, kBlock>;
  using Found = std::array<int32_t, kBlock>;

  [[gnu::always_inline]] void find(const Block &values, Found &found) const {
    if (isAlike)
      divide(values, found);
    else
      search(values, found);
    for (size_t i = 0; i < kBlock; ++i) {
      const int32_t bin = values[i] >= first ? found[i] : count;
      found[i] = values[i] < last ? bin : values[i] == last ? count - 1 : count;
    }
  }
  size_t size() const { return static_cast<size_t>(count) + 1; }
  /// Few edges are compared with everything, which takes less than finding a bin.
  bool areFew() const { return !isAlike && count < kMostCompared; }
  /// Adds to `above` how many values are not below each edge; those above the last one.
  [[gnu::always_inline]] void compare(const Block &values, int64_t *above) const {
    for (size_t e = 0; e + 1 < size(); ++e) {
      int64_t some = 0;
      for (size_t i = 0; i < kBlock; ++i)
        some += values[i] >= edges[e];
      above[e] += some;
    }
    int64_t beyond = 0;
    for (size_t i = 0; i < kBlock; ++i)
      beyond += values[i] > last;
    above[size() - 1] += beyond;
  }

private:
  static constexpr int32_t kMostCompared = 64;

  /// A quotient, which the edges beside it correct.
  [[gnu::always_inline]] void divide(const Block &values, Found &found) const {
    const double most = count - 1;
    const double *at = edges.data();
    for (size_t i = 0; i < kBlock; ++i) {
      const double v = values[i], place = (v - first) * scale;
      int32_t bin = static_cast<int32_t>(place > 0 ? (place < most ? place : most) : 0);
      bin -= v < at[bin] ? std::min(bin, 1) : 0;
      found[i] = bin + (v >= at[bin + 1]);
    }
  }
  void search(const Block &values, Found &found) const {
    for (size_t i = 0; i < kBlock; ++i)
      found[i] =
          static_cast<int32_t>(std::ranges::upper_bound(edges, values[i]) - edges.begin()) - 1;
  }

  std::vector<double> edges;
  double first, last;
  int32_t count;
  double scale;
  bool isAlike;
};

template <typename T>
[[gnu::always_inline]] inline void countBlock(const Bins &bins, const T *values, size_t some,
                                              int64_t *counts) {
  // Neighbours in one bin wait for each other's count, unless it is another one.
  constexpr size_t kTables = 4;
  Bins::Block block;
  Bins::Found found;
  for (size_t i = 0; i < some; ++i)
    block[i] = static_cast<double>(values[i]);
  std::fill(block.begin() + static_cast<std::ptrdiff_t>(some), block.end(),
            std::numeric_limits<double>::quiet_NaN());
  if (bins.areFew())
    return bins.compare(block, counts);
  bins.find(block, found);
  for (size_t i = 0; i < some; ++i)
    ++counts[i % kTables * bins.size() + static_cast<size_t>(found[i])];
}
template <typename T>
GRAPHC_WIDE void countBlockWide(const Bins &bins, const T *values, size_t some, int64_t *counts) {
  countBlock(bins, values, some, counts);
}
template <typename T>
GRAPHC_WIDEST void countBlockWidest(const Bins &bins, const T *values, size_t some,
                                    int64_t *counts) {
  countBlock(bins, values, some, counts);
}

/// Adds the numbers in each bin to `counts`, and those in none behind them.
template <typename T>
void countInBins(const Bins &bins, std::span<const T> values, std::span<int64_t> counts) {
  std::vector<int64_t> tables(4 * bins.size());
  const auto count = bins.areFew() && hasWidest() ? countBlockWidest<T>
                     : hasWide()                  ? countBlockWide<T>
                                                  : countBlock<T>;
  for (size_t from = 0; from < values.size(); from += Bins::kBlock) {
    const size_t some = std::min(Bins::kBlock, values.size() - from);
    count(bins, values.data() + from, some, tables.data());
  }
  if (bins.areFew())
    for (size_t i = 0; i < counts.size(); ++i)
      tables[i] -= tables[i + 1];
  for (size_t i = 0; i < tables.size(); ++i)
    if (i % bins.size() < counts.size())
      counts[i % bins.size()] += tables[i];
}

/// Elements side by side, which are computed for it.
Result<Elements> denseNow(const Array &x) {
  if (Elements there = denseElementsOf(x); there.base)
    return there;
  GRAPHC_ASSIGN(NodeRef n, x.value());
  GRAPHC_TRY(evaluate({&n, 1}, "histogram"));
  GRAPHC_TRY(x.device().queue().finish());
  return Elements{n, static_cast<const char *>(n->buffer()->host())};
}

} // namespace

Outcome histogram(const Array &x, const Array &edges, bool alike) {
  constexpr int64_t kMostEdges = 1 << 24;
  const int64_t length = edges.size();
  if (x.size() == 0 || edges.rank() != 1 || length < 2 || length > kMostEdges ||
      !onHost(x.device()))
    return NodeRef();
  GRAPHC_ASSIGN(const Elements from, denseNow(x));
  GRAPHC_ASSIGN(const Elements ends, denseNow(edges));
  std::vector<double> list(static_cast<size_t>(length));
  GRAPHC_ASSIGN(bool isRead, withRealType(edges.dtype(), [&]<typename T>(T) -> Result<bool> {
                  const std::span from(reinterpret_cast<const T *>(ends.first), list.size());
                  std::ranges::transform(from, list.begin(),
                                         [](T v) { return static_cast<double>(v); });
                  return true;
                }));
  if (!isRead)
    return NodeRef();
  constexpr double kMostWhole =
      0x1p53; // integers of eight bytes are compared with lesser ones exactly
  if (isInteger(x.dtype()) &&
      std::ranges::any_of(list, [](double edge) { return !(std::fabs(edge) < kMostWhole); }))
    return NodeRef();
  GRAPHC_ASSIGN(NodeRef out, makeNode(DType::Int64, {length - 1}, x.device()));
  const Bins bins(std::move(list), alike);
  const std::span counts(dataOf<int64_t>(out), static_cast<size_t>(length - 1));
  std::ranges::fill(counts, 0);
  auto done = withRealType(x.dtype(), [&]<typename T>(T) -> Result<bool> {
    countInBins<T>(bins, {reinterpret_cast<const T *>(from.first), static_cast<size_t>(x.size())},
                   counts);
    return true;
  });
  return finished(std::move(out), std::move(done));
}

Outcome steps(const Steps &steps, int64_t count, rt::Device &device) {
  GRAPHC_ASSIGN(NodeRef out, iota(count, DType::Float64, device));
  auto *to = dataOf<double>(out);
  if (!steps.isUnit)
    for (int64_t i = 0; i < count; ++i)
      to[i] *= steps.step;
  if (!steps.startsAtZero)
    for (int64_t i = 0; i < count; ++i)
      to[i] += steps.first;
  return out;
}

Outcome steps(int64_t first, int64_t step, int64_t count, rt::Device &device) {
  GRAPHC_ASSIGN(NodeRef out, makeNode(DType::Int64, Shape{count}, device));
  auto *to = dataOf<uint64_t>(out);
  for (int64_t i = 0; i < count; ++i)
    to[i] = static_cast<uint64_t>(first) + static_cast<uint64_t>(i) * static_cast<uint64_t>(step);
  return out;
}

Outcome extremesOfBools(op::ReduceKind kind, const Array &x, std::span<const int64_t> axes,
                        const Shape &shape) {
  GRAPHC_ASSIGN(NodeRef wide, reduce(kind, x, axes, DType::UInt8, shape));
  if (!wide || wide->dtype() != DType::UInt8) // places
    return wide;
  GRAPHC_ASSIGN(NodeRef out, makeNode(DType::Bool, shape, x.device()));
  std::copy_n(dataOf<uint8_t>(wide), countOf(shape), dataOf<bool>(out));
  return out;
}

} // namespace graphc::small
