#include "frontends/record/InterpretPlain.h"

#include "frontends/record/SmallComplex.h"
#include "frontends/record/SmallElements.h"

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

/// The elements of a computed array, broadcast to a shape, in row-major order; null where they
/// cannot be read.
template <typename T>
Result<std::unique_ptr<T[]>> elementsAs(const Array &x, std::span<const int64_t> shape) {
  const int64_t count = countOf(shape);
  auto out = std::make_unique_for_overwrite<T[]>(static_cast<size_t>(count));
  if (const KnownValue *known = x.known()) {
    std::fill_n(out.get(), count, hostmath::valueOf<T>(known->bits));
    return out;
  }
  GRAPHC_ASSIGN(small::Elements elements, small::elementsOf(x));
  if (!elements.base || x.dtype() != hostmath::dtypeOf<T>())
    return std::unique_ptr<T[]>();
  Shape strides;
  strides.resize(shape.size());
  const size_t skip = shape.size() - x.shape().size();
  for (size_t i = 0; i < shape.size(); ++i)
    strides[i] = i < skip || x.shape()[i - skip] == 1 ? 0 : x.view().strides()[i - skip];
  small::gather(reinterpret_cast<const T *>(elements.first), shape, strides, out.get());
  return out;
}

template <typename T>
std::optional<T> ofInteger(OpKind kind, T a, T b) {
  switch (kind) {
  case OpKind::Floor:
  case OpKind::Ceil:
  case OpKind::Trunc:
  case OpKind::Round:
    return a;
  default:
    return hostmath::foldInteger(kind, a, b);
  }
}

/// What the kinds below give of one or two elements.
template <typename T>
std::optional<T> ofNumbers(OpKind kind, T a, T b) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
    return ofInteger(kind, a, b);
  else
    return hostmath::folded(kind, a, b);
}

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
  GRAPHC_ASSIGN(auto a, elementsAs<T>(x[0], shape));
  GRAPHC_ASSIGN(auto low, elementsAs<T>(x[1], shape));
  GRAPHC_ASSIGN(auto high, elementsAs<T>(x[2], shape));
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
    GRAPHC_ASSIGN(auto a, elementsAs<T>(x[0], shape));
    GRAPHC_ASSIGN(auto b, elementsAs<T>(x[1], shape));
    GRAPHC_ASSIGN(auto c, elementsAs<T>(x[2], shape));
    const int64_t count = countOf(shape);
    for (int64_t i = 0; a && b && c && i < count; ++i)
      out[i] = std::fma(a[i], b[i], c[i]);
    return a && b && c && (!small::mustBeFinite() || small::allFinite(out, count));
  }
  return false;
}

template <typename T>
Result<bool> selected(std::span<const Array> x, const Shape &shape, T *out) {
  GRAPHC_ASSIGN(auto condition, elementsAs<bool>(x[0], shape));
  GRAPHC_ASSIGN(auto a, elementsAs<T>(x[1], shape));
  GRAPHC_ASSIGN(auto b, elementsAs<T>(x[2], shape));
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

/// Where the elements lie that indices name, in the order of a gather's result.
class Named {
public:
  /// False where an index is outside, or not to be read.
  Result<bool> find(const Shape &of, const Shape &strides, std::span<const Array> indices,
                    std::span<const int64_t> axes, size_t position) {
    const Shape &shape = indices[0].shape();
    const int64_t count = countOf(shape);
    std::vector<int64_t> named(static_cast<size_t>(count), 0);
    for (size_t i = 0; i < indices.size(); ++i) {
      const auto axis = static_cast<size_t>(axes[i]);
      GRAPHC_ASSIGN(auto index, elementsAs<int64_t>(indices[i], shape));
      for (int64_t k = 0; index && k < count; ++k) {
        const int64_t at = index[k] + (index[k] < 0 ? of[axis] : 0);
        if (at < 0 || at >= of[axis])
          return false;
        named[static_cast<size_t>(k)] += at * strides[axis];
      }
      if (!index)
        return false;
    }
    std::vector<int64_t> sizes, steps;
    for (size_t i = 0; i < of.size(); ++i)
      if (!std::ranges::binary_search(axes, static_cast<int64_t>(i))) {
        sizes.push_back(of[i]);
        steps.push_back(strides[i]);
      }
    places = {0};
    for (size_t i = 0; i <= sizes.size(); ++i) {
      if (i == position)
        extend(named);
      if (i == sizes.size())
        break;
      std::vector<int64_t> along(static_cast<size_t>(sizes[i]));
      for (size_t k = 0; k < along.size(); ++k)
        along[k] = static_cast<int64_t>(k) * steps[i];
      extend(along);
    }
    return true;
  }
  std::vector<int64_t> places;

private:
  void extend(std::span<const int64_t> inner) {
    std::vector<int64_t> all;
    all.reserve(places.size() * inner.size());
    for (int64_t place : places)
      for (int64_t step : inner)
        all.push_back(place + step);
    places = std::move(all);
  }
};

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
    GRAPHC_ASSIGN(auto a, elementsAs<T>(operands.front(), shape));
    GRAPHC_ASSIGN(auto b, elementsAs<T>(operands.back(), shape));
    return a && b && pairs(kind, a.get(), b.get(), result, to, countOf(shape));
  });
  return small::finished(std::move(out), std::move(done));
}

Outcome cast(const Array &x, DType t) {
  if (!hasElements(t))
    return NodeRef();
  GRAPHC_ASSIGN(NodeRef out, small::makeNode(t, x.shape(), x.device()));
  auto done = small::withRealType(x.dtype(), [&]<typename S>(S) -> Result<bool> {
    GRAPHC_ASSIGN(auto from, elementsAs<S>(x, x.shape()));
    return from ? small::withRealType(t,
                                      [&]<typename T>(T) -> Result<bool> {
                                        return convertInto(from.get(), dataOf<T>(out),
                                                           countOf(x.shape()));
                                      })
                : Result<bool>(false);
  });
  return small::finished(std::move(out), std::move(done));
}

Outcome gather(const Array &x, std::span<const Array> indices, const op::GatherAttrs &attrs,
               const Shape &shape) {
  GRAPHC_ASSIGN(small::Elements elements, x.known() ? small::Elements() : small::elementsOf(x));
  if (!elements.base)
    return NodeRef();
  Named named;
  GRAPHC_ASSIGN(bool isFound, named.find(x.shape(), x.view().strides(), indices, attrs.axes,
                                         static_cast<size_t>(attrs.position)));
  if (!isFound)
    return NodeRef();
  GRAPHC_ASSIGN(NodeRef out, small::makeNode(x.dtype(), shape, x.device()));
  auto copy = [&]<typename T>(T) -> Result<bool> {
    auto *from = reinterpret_cast<const T *>(elements.first);
    T *to = dataOf<T>(out);
    for (int64_t place : named.places)
      *to++ = from[place];
    return true;
  };
  auto done = isComplex(x.dtype()) ? small::withElementType(x.dtype(), copy)
                                   : small::withRealType(x.dtype(), copy);
  return small::finished(std::move(out), std::move(done));
}

Outcome scatter(const Array &x, const Array &value, std::span<const Array> indices,
                const op::ScatterAttrs &attrs) {
  constexpr int64_t kDrop = 2;
  Named named;
  if (attrs.mode & kDrop)
    return NodeRef();
  GRAPHC_ASSIGN(bool isFound, named.find(x.shape(), denseStrides(x.shape()), indices, attrs.axes,
                                         static_cast<size_t>(attrs.position)));
  GRAPHC_ASSIGN(NodeRef out, isFound ? cast(x, x.dtype()) : Outcome(NodeRef()));
  if (!out)
    return NodeRef();
  auto done = small::withRealType(x.dtype(), [&]<typename T>(T) -> Result<bool> {
    GRAPHC_ASSIGN(auto from, elementsAs<T>(value, value.shape()));
    T *to = dataOf<T>(out);
    for (size_t i = 0; from && i < named.places.size(); ++i) {
      T &element = to[named.places[i]];
      if (attrs.combine < 0) {
        element = from[i];
        continue;
      }
      auto combined = ofNumbers(static_cast<OpKind>(attrs.combine), element, from[i]);
      if (!combined)
        return false;
      element = *combined;
    }
    if constexpr (std::is_floating_point_v<T>)
      return from != nullptr && (attrs.combine < 0 || !small::mustBeFinite() ||
                                 small::allFinite(to, countOf(x.shape())));
    bool isQuotient = attrs.combine == static_cast<int64_t>(OpKind::FloorDivide) ||
                      attrs.combine == static_cast<int64_t>(OpKind::Remainder);
    return from != nullptr && !isQuotient;
  });
  return small::finished(std::move(out), std::move(done));
}

} // namespace graphc::plain
