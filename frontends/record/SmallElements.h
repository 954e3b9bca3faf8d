//===- SmallElements.h - Elements of views in host memory -------------------------------------===//
#ifndef GRAPHC_FRONTENDS_RECORD_SMALLELEMENTS_H
#define GRAPHC_FRONTENDS_RECORD_SMALLELEMENTS_H

#include "frontends/record/HostMath.h"
#include "frontends/record/Known.h"
#include "frontends/record/Recycle.h"
#include "frontends/record/Small.h"
#include "frontends/record/SmallGather.h"
#include "frontends/record/Wide.h"

#include <array>
#include <limits>
#include <memory>

namespace graphc::small {

/// Runs `f` with an unsigned integer of the size of an element, at most 8 bytes.
template <typename F>
void withWord(int64_t size, F f) {
  switch (size) {
  case 1:
    return f(uint8_t{});
  case 2:
    return f(uint16_t{});
  case 4:
    return f(uint32_t{});
  default:
    return f(uint64_t{});
  }
}

/// What is moved as it is, of 16 bytes.
struct Two {
  uint64_t words[2];
};
/// withWord() of any element.
template <typename F>
void withElement(int64_t size, F f) {
  return size == sizeof(Two) ? f(Two{}) : withWord(size, f);
}

/// What a view of a computed array shows, in host memory.
struct Elements {
  NodeRef base; ///< keeps the memory; null where there is nothing to read
  const char *first = nullptr;
};

inline int64_t countOf(std::span<const int64_t> shape) {
  int64_t n = 1;
  for (int64_t size : shape)
    n *= size;
  return n;
}

/// Computes `x` first when that takes no value of more bytes. Nothing for large or foreign values,
/// parts of complex numbers and arrays of no layout.
Result<Elements> elementsOf(const Array &x);
/// The same of elements that are computed already.
inline Elements computedElementsOf(const Array &x) {
  const View &view = x.view();
  if (x.isOpen() || !view.hasLayout())
    return {};
  NodeRef base = x.storage()->current();
  if (base->state() != NodeState::Ready ||
      (x.dtype() == DType::Bool && (view.isRecast() || !base->buffer()->isPrivate())))
    return {};
  const char *first = whereRead(*base, x.size() * itemSize(x.dtype()));
  return first ? Elements{std::move(base), first + view.offset() * itemSize(x.dtype())}
               : Elements();
}
/// The same of elements that lie side by side; nothing for others.
inline Elements denseElementsOf(const Array &x) {
  const View &view = x.view();
  return view.isWhole() || view.isContiguous() ? computedElementsOf(x) : Elements();
}
/// Whether a floating-point error of what is recorded now has to be told.
bool mustBeFinite();
/// Whether it is told of results that underflow (UnderflowFlag): then they have to be recorded.
bool hearsUnderflow(op::OpKind kind, DType t);

/// Makes what `x` shows computed and nobody else's, when that is not too large.
Result<bool> settle(Array &x);
/// A buffer of so many bytes, as a computed value.
Result<NodeRef> makeNode(DType t, const Shape &shape, rt::Device &device);
/// An operation that is neither exact nor correctly rounded: a program on vectors.
Outcome byUnit(op::OpKind kind, std::span<const Operand> operands, DType t, const Shape &shape,
               rt::Device &device);
/// `node` when it is done.
Outcome finished(NodeRef node, Result<bool> done);

/// Runs `f` with a value of the type of `t`; false where no C++ type holds its elements.
template <typename F>
Result<bool> withRealType(DType t, F f) {
  Result<bool> done = false;
  hostmath::withType(t, [&](auto v) {
    done = f(v);
    return true;
  });
  return done;
}

template <typename T>
T *dataOf(const NodeRef &node) {
  return static_cast<T *>(node->buffer()->host());
}

/// Appends the elements of a view in row-major order, converted.
template <typename S, typename T>
T *gather(const S *from, std::span<const int64_t> shape, std::span<const int64_t> strides, T *to) {
  if (shape.size() < 3)
    return gatherLines(from, shape, strides, to);
  Shape sizes, steps;
  joinAxes(shape, strides, sizes, steps);
  return gatherLines<S, T>(from, sizes, steps, to);
}

/// The other way round.
template <typename T>
const T *spread(const T *from, std::span<const int64_t> shape, std::span<const int64_t> strides,
                T *to) {
  if (shape.empty()) {
    *to = *from;
    return from + 1;
  }
  int64_t count = shape[0], stride = strides[0];
  if (shape.size() > 1) {
    for (int64_t i = 0; i < count; ++i)
      from = spread(from, shape.subspan(1), strides.subspan(1), to + i * stride);
    return from;
  }
  if (stride == 1)
    std::copy_n(from, count, to);
  else
    for (int64_t i = 0; i < count; ++i)
      to[i * stride] = from[i];
  return from + count;
}

/// One value for all. Every axis but the last is walked by recursion.
template <typename T>
void fill(T value, std::span<const int64_t> shape, std::span<const int64_t> strides, T *to) {
  if (shape.empty()) {
    *to = value;
    return;
  }
  int64_t count = shape[0], stride = strides[0];
  if (shape.size() > 1)
    for (int64_t i = 0; i < count; ++i)
      fill(value, shape.subspan(1), strides.subspan(1), to + i * stride);
  else if (stride == 1)
    std::fill_n(to, count, value);
  else
    for (int64_t i = 0; i < count; ++i)
      to[i * stride] = value;
}

/// Memory for a few thousand elements, on the stack where they fit.
template <typename T>
class Room {
public:
  T *get(int64_t count) {
    if (count <= static_cast<int64_t>(few.size()))
      return few.data();
    many = recycle::Scratch::take(static_cast<size_t>(count) * sizeof(T));
    return static_cast<T *>(many.get());
  }

private:
  std::array<T, 2048 / sizeof(T)> few;
  std::unique_ptr<void, recycle::Scratch::Kept> many;
};

/// One operand of a loop, as elements of type T in row-major order of the loop's shape.
template <typename T>
struct Run {
  const T *data = nullptr;
  bool steps = true; ///< else one value for all
};
/// How many counts bincount() gives of so many integers, at least `least`; 0 where that has to be
/// recorded.
int64_t numberOfCounts(Run<int64_t> given, int64_t size, int64_t least);

template <typename T>
class Reader {
public:
  /// False when it cannot be read here.
  Result<bool> read(const Operand &operand, DType t, std::span<const int64_t> shape) {
    if (!operand.array || operand.array->known()) {
      auto bits = ops::operandBits(operand, t);
      if (!bits)
        return false;
      setValue(hostmath::valueOf<T>(*bits));
      return true;
    }
    GRAPHC_ASSIGN(elements, elementsOf(*operand.array));
    return elements.base && readView(*operand.array, t, shape);
  }
  Run<T> run() const { return values; }
  /// Copies what is still in the array's memory.
  void keep(int64_t count) {
    if (values.steps && !isOwn) {
      T *to = room.get(count);
      std::copy_n(values.data, count, to);
      values.data = to;
    }
    elements.base = nullptr;
  }

  /// Leaves the elements where they are, without holding them: as long as somebody else does.
  void letGo() { elements.base = nullptr; }

private:
  void setValue(T v) {
    value = v;
    values = {&value, false};
  }
  bool readView(const Array &x, DType t, std::span<const int64_t> shape) {
    const View &view = x.view();
    bool isOne = countOf(view.shape()) == 1;
    if (x.dtype() == t && !isOne && isDense(view, shape)) {
      values = {reinterpret_cast<const T *>(elements.first), true};
      return true;
    }
    if (isFloat(x.dtype()) && !isFloat(t))
      return false;
    Shape strides; // in the loop's shape
    if (!isOne)
      strides = broadcastStrides(view, shape);
    return hostmath::withType(x.dtype(), [&](auto s) {
      using S = decltype(s);
      auto *from = reinterpret_cast<const S *>(elements.first);
      if (isOne) {
        setValue(static_cast<T>(*from));
        return true;
      }
      T *to = room.get(countOf(shape));
      gather(from, shape, strides, to);
      values = {to, true};
      isOwn = true;
      return true;
    });
  }
  static bool isDense(const View &view, std::span<const int64_t> shape) {
    return std::ranges::equal(view.shape(), shape) && view.isContiguous();
  }
  static Shape broadcastStrides(const View &view, std::span<const int64_t> shape) {
    Shape strides;
    strides.resize(shape.size());
    size_t skip = shape.size() - view.shape().size();
    for (size_t i = 0; i < shape.size(); ++i)
      strides[i] = i < skip || view.shape()[i - skip] == 1 ? 0 : view.strides()[i - skip];
    return strides;
  }

  Elements elements;
  Run<T> values;
  T value{};
  bool isOwn = false; ///< the values are in `room`
  Room<T> room;
};

template <typename T>
[[gnu::always_inline]] inline bool allFiniteOf(const T *values, int64_t count) {
  if constexpr (std::is_floating_point_v<T>) {
    using Bits = std::conditional_t<sizeof(T) == 8, uint64_t, uint32_t>;
    Bits found = 0; // what an infinity or a NaN minus itself is, a NaN; +0 of all others
    for (int64_t i = 0; i < count; ++i)
      found |= std::bit_cast<Bits>(values[i] - values[i]);
    return !found;
  }
  return true;
}
template <typename T>
GRAPHC_WIDE bool allFiniteWide(const T *values, int64_t count) {
  return allFiniteOf(values, count);
}
template <typename T>
bool allFinite(const T *values, int64_t count) {
  return count >= kWorthWide && hasWide() ? allFiniteWide(values, count)
                                          : allFiniteOf(values, count);
}

} // namespace graphc::small

#endif // GRAPHC_FRONTENDS_RECORD_SMALLELEMENTS_H
