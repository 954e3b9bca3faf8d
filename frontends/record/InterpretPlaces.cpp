// Places that arrays of indices name, in interpreted programs.
#include "frontends/record/InterpretElements.h"
#include "frontends/record/InterpretPlain.h"
#include "frontends/record/Wide.h"

#include <algorithm>
#include <vector>

namespace graphc::plain {
namespace {

using op::OpKind;
using small::countOf;
using small::dataOf;
using small::Outcome;

/// to[k] += place[k] * stride, negative places counted from the end; false where one is outside.
template <typename I>
[[gnu::always_inline]] inline bool addPlacesOf(const I *place, int64_t count, int64_t size,
                                               int64_t stride, int64_t *to) {
  bool isOutside = false;
  for (int64_t k = 0; k < count; ++k) {
    auto at = static_cast<int64_t>(place[k]);
    at += at < 0 ? size : 0;
    isOutside |= static_cast<uint64_t>(at) >= static_cast<uint64_t>(size);
    to[k] += at * stride;
  }
  return !isOutside;
}
template <typename I>
GRAPHC_WIDE bool addPlacesWide(const I *place, int64_t count, int64_t size, int64_t stride,
                               int64_t *to) {
  return addPlacesOf(place, count, size, stride, to);
}

/// Where the elements lie that indices name, in the order of a gather's result: steps along the
/// axes before the indices', along theirs, and along those after them.
class Named {
public:
  /// False where an index is outside, or not to be read.
  Result<bool> find(const Shape &of, const Shape &strides, std::span<const Array> indices,
                    std::span<const int64_t> axes, size_t position) {
    const Shape &shape = indices[0].shape();
    named.assign(static_cast<size_t>(countOf(shape)), 0);
    for (size_t i = 0; i < indices.size(); ++i) {
      const auto axis = static_cast<size_t>(axes[i]);
      GRAPHC_ASSIGN(bool isInside, add(indices[i], shape, of[axis], strides[axis]));
      if (!isInside)
        return false;
    }
    outer = inner = {0};
    for (size_t i = 0, rest = 0; i < of.size(); ++i)
      if (!std::ranges::binary_search(axes, static_cast<int64_t>(i)))
        extend(rest++ < position ? outer : inner, of[i], strides[i]);
    isRow = true;
    for (size_t k = 0; k < inner.size(); ++k)
      isRow &= inner[k] == static_cast<int64_t>(k);
    return true;
  }
  /// row(where, count) for elements side by side, in order.
  template <typename F>
  void eachRow(F &&row) const {
    for (int64_t before : outer)
      for (int64_t place : named)
        if (isRow)
          row(before + place, static_cast<int64_t>(inner.size()));
        else
          for (int64_t after : inner)
            row(before + place + after, 1);
  }
  /// Elements one by one at `named`, with nothing before or after.
  bool isOnes() const { return outer.size() == 1 && inner.size() == 1; }
  std::vector<int64_t> named;

private:
  Result<bool> add(const Array &index, const Shape &shape, int64_t size, int64_t stride) {
    return small::withRealType(index.dtype(), [&]<typename I>(I) -> Result<bool> {
      if constexpr (std::is_integral_v<I> && !std::is_same_v<I, bool>) {
        GRAPHC_ASSIGN(auto places, numbersOf<I>(index, shape));
        auto *addPlaces = small::hasWide() ? addPlacesWide<I> : addPlacesOf<I>;
        return places && addPlaces(places.get(), countOf(shape), size, stride, named.data());
      }
      return false;
    });
  }
  static void extend(std::vector<int64_t> &steps, int64_t size, int64_t stride) {
    std::vector<int64_t> all;
    all.reserve(steps.size() * static_cast<size_t>(size));
    for (int64_t step : steps)
      for (int64_t k = 0; k < size; ++k)
        all.push_back(step + k * stride);
    steps = std::move(all);
  }
  std::vector<int64_t> outer, inner;
  bool isRow = false; ///< `inner` counts
};

/// element = combine(element, value), in order.
template <typename T, typename F>
void combineAll(const Named &named, const T *from, T *to, F &&combine) {
  named.eachRow([&](int64_t first, int64_t count) {
    for (int64_t k = 0; k < count; ++k, ++from)
      to[first + k] = combine(to[first + k], *from);
  });
}

/// False for kinds that are not exact.
template <typename T>
bool combineBy(OpKind kind, const Named &named, const T *from, T *to) {
  if (kind == OpKind::Add) {
    if constexpr (std::is_floating_point_v<T>)
      return combineAll(named, from, to, [](T a, T b) { return a + b; }), true;
    else if constexpr (!std::is_same_v<T, bool>)
      return combineAll(named, from, to,
                        [](T a, T b) {
                          using U = std::make_unsigned_t<T>;
                          return static_cast<T>(
                              static_cast<U>(static_cast<U>(a) + static_cast<U>(b)));
                        }),
             true;
  }
  if (named.named.empty() || !ofNumbers(kind, to[0], to[0]))
    return named.named.empty();
  combineAll(named, from, to, [kind](T a, T b) { return *ofNumbers(kind, a, b); });
  return true;
}

template <typename T>
void write(const Named &named, const T *from, T *to) {
  if (named.isOnes())
    for (int64_t place : named.named)
      to[place] = *from++;
  else
    named.eachRow([&](int64_t first, int64_t count) {
      std::copy_n(from, count, to + first);
      from += count;
    });
}

} // namespace

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
    if (named.isOnes())
      for (int64_t place : named.named)
        *to++ = from[place];
    else
      named.eachRow(
          [&](int64_t first, int64_t count) { to = std::copy_n(from + first, count, to); });
    return true;
  };
  auto done = isComplex(x.dtype()) ? small::withElementType(x.dtype(), copy)
                                   : small::withRealType(x.dtype(), copy);
  return small::finished(std::move(out), std::move(done));
}

Outcome scatter(const Array &x, NodeRef own, const Array &value, std::span<const Array> indices,
                const op::ScatterAttrs &attrs) {
  constexpr int64_t kDrop = 2;
  Named named;
  if (attrs.mode & kDrop)
    return NodeRef();
  GRAPHC_ASSIGN(bool isFound, named.find(x.shape(), denseStrides(x.shape()), indices, attrs.axes,
                                         static_cast<size_t>(attrs.position)));
  if (!isFound)
    return NodeRef();
  if (!own) {
    GRAPHC_ASSIGN(own, cast(x, x.dtype()));
  }
  if (!own)
    return NodeRef();
  const auto kind = static_cast<OpKind>(attrs.combine);
  auto done = small::withRealType(x.dtype(), [&]<typename T>(T) -> Result<bool> {
    GRAPHC_ASSIGN(auto from, numbersOf<T>(value, value.shape()));
    T *to = dataOf<T>(own);
    if (!from)
      return false;
    if (attrs.combine < 0)
      return write(named, from.get(), to), true;
    if (!combineBy(kind, named, from.get(), to))
      return false;
    if constexpr (std::is_floating_point_v<T>)
      return !small::mustBeFinite() || small::allFinite(to, countOf(x.shape()));
    return kind != OpKind::FloorDivide && kind != OpKind::Remainder;
  });
  return small::finished(std::move(own), std::move(done));
}

} // namespace graphc::plain
