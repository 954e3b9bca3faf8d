#include "frontends/record/InterpretPlain.h"

#include "frontends/record/InterpretElements.h"

#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

namespace graphc::plain {
namespace {

using op::OpKind;
using small::countOf;
using small::dataOf;
using small::Outcome;

template <typename T>
std::optional<bool> asked(OpKind kind, T a, T b) {
  if (hostmath::isComparison(kind))
    return hostmath::compared(kind, a, b);
  if constexpr (std::is_floating_point_v<T>)
    return hostmath::answered(kind, a);
  return std::nullopt;
}

/// Whether an operation may meet an error that nobody here would tell of.
template <typename T>
bool mayErr(OpKind kind, const T *b, int64_t count) {
  if (!small::mustBeFinite())
    return false;
  if constexpr (std::is_floating_point_v<T>)
    return kind != OpKind::Floor && kind != OpKind::Ceil && kind != OpKind::Trunc &&
           kind != OpKind::Round && kind != OpKind::Copysign && kind != OpKind::Neg &&
           kind != OpKind::Abs && kind != OpKind::Equal && kind != OpKind::NotEqual &&
           kind != OpKind::IsNan && kind != OpKind::IsInf && kind != OpKind::IsFinite;
  bool isQuotient = kind == OpKind::FloorDivide || kind == OpKind::Remainder;
  return isQuotient && std::any_of(b, b + count, [](T d) {
           return d == 0 || (std::is_signed_v<T> && d == static_cast<T>(-1));
         });
}

/// out[i] = kind(a[i], b[i]); false for other kinds.
template <typename T>
bool pairs(OpKind kind, const T *a, const T *b, DType result, char *out, int64_t count) {
  if (mayErr(kind, b, count))
    return false;
  const bool isTruth = result == DType::Bool && asked(kind, *a, *b);
  if (!isTruth && (result != hostmath::dtypeOf<T>() || !ofNumbers(kind, *a, *b)))
    return false;
  if (isTruth)
    for (int64_t i = 0; i < count; ++i)
      reinterpret_cast<bool *>(out)[i] = *asked(kind, a[i], b[i]);
  else
    for (int64_t i = 0; i < count; ++i)
      reinterpret_cast<T *>(out)[i] = *ofNumbers(kind, a[i], b[i]);
  return true;
}

template <typename T>
Result<bool> clipped(std::span<const Array> x, const Shape &shape, T *out) {
  GRAPHC_ASSIGN(auto a, numbersOf<T>(x[0], shape));
  GRAPHC_ASSIGN(auto low, numbersOf<T>(x[1], shape));
  GRAPHC_ASSIGN(auto high, numbersOf<T>(x[2], shape));
  if (!a || !low || !high)
    return false;
  for (int64_t i = 0, count = countOf(shape); i < count; ++i) {
    auto least = ofNumbers(OpKind::Maximum, a[i], low[i]);
    auto both = least ? ofNumbers(OpKind::Minimum, *least, high[i]) : std::nullopt;
    if (!both)
      return false;
    out[i] = *both;
  }
  return true;
}

/// a * b + c, rounded once.
template <typename T>
Result<bool> fused(std::span<const Array> x, const Shape &shape, T *out) {
  if constexpr (std::is_floating_point_v<T>) {
    GRAPHC_ASSIGN(auto a, numbersOf<T>(x[0], shape));
    GRAPHC_ASSIGN(auto b, numbersOf<T>(x[1], shape));
    GRAPHC_ASSIGN(auto c, numbersOf<T>(x[2], shape));
    const int64_t count = countOf(shape);
    for (int64_t i = 0; a && b && c && i < count; ++i)
      out[i] = std::fma(a[i], b[i], c[i]);
    return a && b && c && (!small::mustBeFinite() || small::allFinite(out, count));
  }
  return false;
}

template <typename T>
Result<bool> selected(std::span<const Array> x, const Shape &shape, T *out) {
  GRAPHC_ASSIGN(auto condition, numbersOf<bool>(x[0], shape));
  GRAPHC_ASSIGN(auto a, numbersOf<T>(x[1], shape));
  GRAPHC_ASSIGN(auto b, numbersOf<T>(x[2], shape));
  for (int64_t i = 0, count = countOf(shape); condition && a && b && i < count; ++i)
    out[i] = condition[i] ? a[i] : b[i];
  return condition && a && b;
}

/// Truncates and saturates; false where there is something to tell of.
template <typename S, typename T>
bool convertInto(const S *from, T *to, int64_t count) {
  if constexpr (std::is_floating_point_v<S> && !std::is_floating_point_v<T> &&
                !std::is_same_v<T, bool>) {
    constexpr auto kLeast = static_cast<S>(std::numeric_limits<T>::min());
    const S above = std::ldexp(S{1}, std::numeric_limits<T>::digits);
    for (int64_t i = 0; i < count; ++i) {
      const S whole = std::trunc(from[i]);
      const bool isInside = whole >= kLeast && whole < above;
      if (!isInside && small::mustBeFinite())
        return false;
      to[i] = isInside         ? static_cast<T>(whole)
              : whole >= above ? std::numeric_limits<T>::max()
              : whole < kLeast ? std::numeric_limits<T>::min()
                               : T{0};
    }
  } else {
    for (int64_t i = 0; i < count; ++i)
      to[i] = static_cast<T>(from[i]);
    if constexpr (std::is_floating_point_v<T> && sizeof(T) < sizeof(S))
      return !small::mustBeFinite() || small::allFinite(to, count);
  }
  return true;
}

} // namespace

bool hasElements(DType t) {
  return hostmath::withType(t, [](auto) { return true; });
}

Outcome elementwise(OpKind kind, std::span<const Array> operands, const Shape &shape, DType result,
                    rt::Device &device) {
  const bool isSelect = kind == OpKind::Select, isClip = kind == OpKind::Clip,
             isFused = kind == OpKind::Fma;
  if (operands.empty() || (operands.size() > 2 && !isSelect && !isClip && !isFused) ||
      !hasElements(result))
    return NodeRef();
  GRAPHC_ASSIGN(NodeRef out, small::makeNode(result, shape, device));
  auto done = small::withRealType(operands.back().dtype(), [&]<typename T>(T) -> Result<bool> {
    auto *to = dataOf<char>(out);
    if (isSelect)
      return selected(operands, shape, reinterpret_cast<T *>(to));
    if (isClip)
      return clipped(operands, shape, reinterpret_cast<T *>(to));
    if (isFused)
      return fused(operands, shape, reinterpret_cast<T *>(to));
    GRAPHC_ASSIGN(auto a, numbersOf<T>(operands.front(), shape));
    GRAPHC_ASSIGN(auto b, numbersOf<T>(operands.back(), shape));
    return a && b && pairs(kind, a.get(), b.get(), result, to, countOf(shape));
  });
  return small::finished(std::move(out), std::move(done));
}

Outcome cast(const Array &x, DType t) {
  if (!hasElements(t))
    return NodeRef();
  GRAPHC_ASSIGN(NodeRef out, small::makeNode(t, x.shape(), x.device()));
  auto done = small::withRealType(x.dtype(), [&]<typename S>(S) -> Result<bool> {
    GRAPHC_ASSIGN(auto from, numbersOf<S>(x, x.shape()));
    return from ? small::withRealType(t,
                                      [&]<typename T>(T) -> Result<bool> {
                                        return convertInto(from.get(), dataOf<T>(out),
                                                           countOf(x.shape()));
                                      })
                : Result<bool>(false);
  });
  return small::finished(std::move(out), std::move(done));
}

} // namespace graphc::plain
