#include "frontends/record/SmallNumeric.h"

#include "frontends/record/SmallElements.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <span>

namespace graphc::small {
namespace {

template <typename T>
T valueOf(Numeric kind, T a, T b) {
  using hostmath::smaller;
  switch (kind) {
  case Numeric::FMod: // exact, with the sign of the first
    return std::copysign(std::fmod(std::fabs(a), std::fabs(b)), a);
  case Numeric::FMax:
    return -smaller(-a, -b);
  case Numeric::FMin:
    return smaller(a, b);
  case Numeric::Spacing:
    T step = std::nextafter(std::fabs(a), std::numeric_limits<T>::infinity()) - std::fabs(a);
    return a < 0 ? -step : step;
  }
  return a;
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
  if (!isFinite(x, count) || !isFinite(y, count))
    return false;
  for (int64_t i = 0; i < count; ++i)
    out[i] = valueOf(kind, x.data[x.steps ? i : 0], y.data[y.steps ? i : 0]);
  return allFinite(out, count);
}

/// More terms are computed by vectors elsewhere.
constexpr int64_t kMostTerms = 64;

/// Points that a piecewise linear function goes through.
struct Points {
  std::span<const double> places, values;

  bool areRising() const {
    return allFinite(places.data(), size()) && allFinite(values.data(), size()) &&
           std::ranges::is_sorted(places);
  }
  int64_t size() const { return static_cast<int64_t>(places.size()); }
  double at(double x) const {
    if (x < places.front())
      return values.front();
    if (x >= places.back())
      return values.back();
    const auto above = std::ranges::upper_bound(places, x) - places.begin();
    const auto j = static_cast<size_t>(std::clamp<int64_t>(above - 1, 0, size() - 2));
    if (x == places[j])
      return values[j];
    const double slope = (values[j + 1] - values[j]) / (places[j + 1] - places[j]);
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
  GRAPHC_ASSIGN(NodeRef out, makeNode(t, shape, device));
  Result<bool> done = false;
  if (t == DType::Float64)
    done = numericInto(kind, operands, t, shape, dataOf<double>(out));
  else if (t == DType::Float32)
    done = numericInto(kind, operands, t, shape, dataOf<float>(out));
  return finished(std::move(out), std::move(done));
}

Outcome interpolate(const Operand &x, const Shape &shape, const Array &places,
                    const Array &values) {
  const int64_t count = countOf(shape), size = places.size();
  if (std::max(count, size) * itemSize(DType::Float64) > kMostBytes || size == 0)
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
  const Points points{{from.run().data, length}, {to.run().data, length}};
  if (!isRead || !isFinite(numbers, count) || !points.areRising())
    return NodeRef();
  GRAPHC_ASSIGN(NodeRef out, makeNode(DType::Float64, shape, places.device()));
  auto *found = dataOf<double>(out);
  for (int64_t i = 0; i < count; ++i)
    found[i] = points.at(numbers.data[numbers.steps ? i : 0]);
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
  // How many there are is counted as without weights, and so is what has to be recorded.
  GRAPHC_ASSIGN(NodeRef counts, bincount(x, least));
  Reader<int64_t> places;
  Reader<double> added;
  GRAPHC_ASSIGN(bool isRead, places.read(x, DType::Int64, x.shape()));
  if (counts && isRead) {
    GRAPHC_ASSIGN(isRead, added.read(weights, DType::Float64, weights.shape()));
  }
  if (!counts || !isRead)
    return NodeRef();
  GRAPHC_ASSIGN(NodeRef out, makeNode(DType::Float64, counts->shape(), x.device()));
  auto *sums = dataOf<double>(out);
  const int64_t length = countOf(counts->shape());
  std::fill_n(sums, length, 0.0);
  const Run<int64_t> at = places.run();
  const Run<double> from = added.run();
  for (int64_t i = 0, count = x.size(); i < count; ++i)
    sums[at.data[at.steps ? i : 0]] += from.data[from.steps ? i : 0];
  return !mustBeFinite() || allFinite(sums, length) ? out : NodeRef();
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

} // namespace graphc::small
