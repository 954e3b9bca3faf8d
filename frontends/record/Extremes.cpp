// Smallest and largest complex numbers: those of their real parts, then of their imaginary parts.
// On the cpu they are found by one pass of the host.
#include "frontends/record/Ops.h"
#include "frontends/record/OpsDetail.h"
#include "frontends/record/SmallNumeric.h"

#include <limits>

namespace graphc::ops {
namespace {

using op::OpKind;
using op::ReduceKind;
using op::Scalar;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

Result<Array> make(OpKind kind, std::initializer_list<Operand> operands) {
  return elementwise(kind, {operands.begin(), operands.size()});
}

/// The smallest (largest) real element along an axis, beside each element.
Result<Array> bound(bool least, const Array &x, int64_t axis) {
  return reduce(least ? ReduceKind::Min : ReduceKind::Max, x, std::vector{axis}, true,
                std::nullopt);
}

/// Which elements along an axis equal the smallest (largest) one; if any is NaN, those that are.
Result<Array> extremes(bool least, const Array &x, int64_t axis) {
  GRAPHC_ASSIGN(Array bad, make(OpKind::IsNan, {x}));
  GRAPHC_ASSIGN(Array real, part(x, 0));
  GRAPHC_ASSIGN(Array imaginary, part(x, 1));
  Scalar nan = Scalar::ofFloat(std::numeric_limits<double>::quiet_NaN());
  // NaN is its own bound and equals none: with one, nothing but `bad` is left.
  GRAPHC_ASSIGN(real, make(OpKind::Select, {bad, nan, real}));
  GRAPHC_ASSIGN(Array realBound, bound(least, real, axis));
  GRAPHC_ASSIGN(Array first, make(OpKind::Equal, {real, realBound}));
  Scalar last = Scalar::ofFloat(least ? kInfinity : -kInfinity);
  GRAPHC_ASSIGN(imaginary, make(OpKind::Select, {first, imaginary, last}));
  GRAPHC_ASSIGN(Array imaginaryBound, bound(least, imaginary, axis));
  GRAPHC_ASSIGN(Array second, make(OpKind::Equal, {imaginary, imaginaryBound}));
  GRAPHC_ASSIGN(first, make(OpKind::LogicalAnd, {first, second}));
  return make(OpKind::LogicalOr, {first, bad});
}

/// The first of these along an axis, which keeps size 1.
Result<Array> extremeAlong(bool least, const Array &x, int64_t axis) {
  GRAPHC_ASSIGN(NodeRef now, small::complexExtremes(least ? ReduceKind::Min : ReduceKind::Max, x,
                                                    static_cast<size_t>(axis), false));
  if (now)
    return Array(std::move(now));
  GRAPHC_ASSIGN(Array found, extremes(least, x, axis));
  GRAPHC_ASSIGN(Array place,
                reduce(ReduceKind::ArgMax, found, std::vector{axis}, true, std::nullopt));
  int64_t count = x.shape()[static_cast<size_t>(axis)];
  GRAPHC_ASSIGN(Array places, iota(count, DType::Int64, &x.device()));
  std::vector<int64_t> own(static_cast<size_t>(x.rank()), 1);
  own[static_cast<size_t>(axis)] = count;
  GRAPHC_ASSIGN(places, reshape(places, Shape(std::span<const int64_t>(own))));
  GRAPHC_ASSIGN(found, make(OpKind::Equal, {places, place}));
  Array parts[2];
  for (int64_t p = 0; p < 2; ++p) {
    GRAPHC_ASSIGN(Array values, part(x, p));
    GRAPHC_ASSIGN(values, make(OpKind::Select, {found, values, Scalar::ofFloat(-kInfinity)}));
    GRAPHC_ASSIGN(parts[p], bound(false, values, axis));
  }
  return make(OpKind::Complex, {parts[0], parts[1]});
}

} // namespace

namespace detail {

Result<Array> reduceExtreme(ReduceKind kind, const Array &x, std::span<const int64_t> axes) {
  bool least = kind == ReduceKind::Min || kind == ReduceKind::ArgMin;
  for (int64_t axis : axes)
    if (x.shape()[static_cast<size_t>(axis)] == 0) { // refused in the name of this reduction
      GRAPHC_ASSIGN(Array real, part(x, 0));
      return reduce(kind, real, std::vector(axes.begin(), axes.end()), true, std::nullopt);
    }
  if (kind == ReduceKind::ArgMin || kind == ReduceKind::ArgMax) {
    GRAPHC_ASSIGN(NodeRef now,
                  small::complexExtremes(kind, x, static_cast<size_t>(axes[0]), false));
    if (now)
      return Array(std::move(now));
    GRAPHC_ASSIGN(Array found, extremes(least, x, axes[0]));
    return reduce(ReduceKind::ArgMax, found, std::vector{axes[0]}, true, std::nullopt);
  }
  Array result = x;
  for (size_t i = axes.size(); i-- > 0;) {
    GRAPHC_ASSIGN(result, extremeAlong(least, result, axes[i]));
  }
  return result;
}

} // namespace detail
} // namespace graphc::ops
