#include "frontends/python/bindings/Direct.h"
#include "frontends/python/bindings/ComplexScalar.h"

#include "frontends/record/HostMath.h"
#include "frontends/record/Lend.h"
#include "frontends/record/Recycle.h"
#include "frontends/record/RowPlaces.h"
#include "frontends/record/Session.h"
#include "frontends/record/SmallElements.h"
#include "frontends/record/SmallTruths.h"
#include "frontends/record/Trace.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <utility>

namespace graphc::py {
namespace {

using op::OpKind;
using small::Source;

std::span<const int64_t> integersOf(const small::Elements &elements, int64_t count) {
  return {reinterpret_cast<const int64_t *>(elements.first), static_cast<size_t>(count)};
}
std::span<const bool> boolsOf(const small::Elements &elements, int64_t count) {
  return {reinterpret_cast<const bool *>(elements.first), static_cast<size_t>(count)};
}

/// Rows of `width` words each.
template <typename T>
void takeRows(const T *from, int64_t width, const small::RowPlaces &places, T *to) {
  if (width == 1)
    places.forEach([&](int64_t place) { *to++ = from[place]; });
  else
    places.forEach([&](int64_t place) { to = std::copy_n(from + place * width, width, to); });
}

/// `count` rows of what the mask chooses.
template <typename T>
void takeMasked(const T *from, int64_t width, std::span<const bool> mask, int64_t count, T *to) {
  if constexpr (sizeof(T) <= 8)
    if (width == 1)
      return small::takeTrue(mask, count, from, to);
  for (bool chosen : mask) {
    if (chosen)
      to = std::copy_n(from, width, to);
    from += width;
  }
}

/// Values after each other, or one for all, where a mask is true; there are `count`.
template <typename T>
void putMasked(std::span<const bool> mask, int64_t count, const T *from, int64_t step, T *to,
               int64_t stride) {
  if (stride == 1 && step == 1)
    return small::putTrue(mask, count, from, to);
  if constexpr (sizeof(T) <= 8)
    if (stride == 1)
      return small::fillTrue(mask, *from, to);
  for (bool chosen : mask) {
    if (chosen) {
      *to = *from;
      from += step;
    }
    to += stride;
  }
}

/// What a key of integers, slices, `...` and None shows of a view that has a layout.
struct Part {
  std::array<int64_t, 8> shape, strides;
  size_t rank = 0;
  int64_t offset = 0;

  /// False where something is wrong, or there is more to it.
  bool set(const View &view, std::span<const IndexItem> items) {
    size_t used = 0;
    for (const IndexItem &item : items)
      used += item.kind == IndexItem::Kind::Integer || item.kind == IndexItem::Kind::Slice;
    if (used > view.shape().size() || view.shape().size() + items.size() > shape.size())
      return false;
    offset = view.offset();
    size_t axis = 0;
    bool hasEllipsis = false;
    for (const IndexItem &item : items) {
      switch (item.kind) {
      case IndexItem::Kind::NewAxis:
        add(1, 0);
        break;
      case IndexItem::Kind::Ellipsis:
        if (std::exchange(hasEllipsis, true))
          return false;
        for (size_t left = view.shape().size() - used; left > 0; --left, ++axis)
          add(view.shape()[axis], view.strides()[axis]);
        break;
      case IndexItem::Kind::Slice:
        if (!slice(item, view.shape()[axis], view.strides()[axis]))
          return false;
        ++axis;
        break;
      case IndexItem::Kind::Integer: {
        const int64_t size = view.shape()[axis];
        const int64_t at = item.integer < 0 ? item.integer + size : item.integer;
        if (at < 0 || at >= size)
          return false;
        offset += at * view.strides()[axis++];
        break;
      }
      }
    }
    for (; axis < view.shape().size(); ++axis)
      add(view.shape()[axis], view.strides()[axis]);
    return true;
  }
  std::span<const int64_t> sizes() const { return {shape.data(), rank}; }
  std::span<const int64_t> steps() const { return {strides.data(), rank}; }

private:
  void add(int64_t count, int64_t stride) {
    shape[rank] = count;
    strides[rank++] = stride;
  }
  bool slice(const IndexItem &item, int64_t size, int64_t stride) {
    Py_ssize_t start = *item.start, stop = *item.stop;
    if (*item.step == 0)
      return false;
    const Py_ssize_t count = PySlice_AdjustIndices(size, &start, &stop, *item.step);
    if (count > 0)
      offset += start * stride;
    add(count, stride * *item.step);
    return true;
  }
};

/// x[part] = value everywhere.
bool fillPart(Array &x, const Part &part, const ComplexBytes &bits) {
  return x.storage()->update([&](rt::Buffer &buffer) {
    small::withElement(itemSize(x.dtype()), [&]<typename T>(T one) {
      std::memcpy(&one, bits.data(), sizeof one); // little-endian
      small::fill(one, part.sizes(), part.steps(), static_cast<T *>(buffer.host()) + part.offset);
    });
  });
}

template <typename T>
void copyPart(const T *from, std::span<const int64_t> steps, std::span<const int64_t> sizes,
              std::span<const int64_t> strides, T *to) {
  if (sizes.size() > 1) {
    for (int64_t i = 0; i < sizes[0]; ++i)
      copyPart(from + i * steps[0], steps.subspan(1), sizes.subspan(1), strides.subspan(1),
               to + i * strides[0]);
    return;
  }
  if (steps[0] == 1 && strides[0] == 1) {
    std::copy_n(from, sizes[0], to);
    return;
  }
  for (int64_t i = 0; i < sizes[0]; ++i)
    to[i * strides[0]] = from[i * steps[0]];
}

/// The axes of a copy, so that the target's memory is walked as it lies; neighbours that are one
/// run in both arrays are one axis.
struct Walk {
  std::array<int64_t, 8> sizes{1}, steps{1}, strides{1};
  size_t rank = 0;

  Walk(std::span<const int64_t> all, std::span<const int64_t> from, std::span<const int64_t> to) {
    std::array<size_t, 8> order;
    for (size_t axis = 0; axis < all.size(); ++axis) {
      size_t place = rank;
      if (all[axis] == 1)
        continue;
      for (; place > 0 && std::abs(to[order[place - 1]]) < std::abs(to[axis]); --place)
        order[place] = order[place - 1];
      order[place] = axis;
      ++rank;
    }
    const size_t count = std::exchange(rank, 0);
    for (size_t i = 0; i < count; ++i) {
      const size_t axis = order[i];
      const int64_t n = all[axis];
      const bool isRun =
          rank > 0 && strides[rank - 1] == n * to[axis] && steps[rank - 1] == n * from[axis];
      rank += !isRun;
      sizes[rank - 1] = isRun ? sizes[rank - 1] * n : n;
      steps[rank - 1] = from[axis];
      strides[rank - 1] = to[axis];
    }
    rank = std::max<size_t>(rank, 1);
  }
};

/// Whether an array shows the part of another one, as it is.
bool showsPart(const Array &given, const Array &x, const Part &part) {
  const View &from = given.view();
  return !given.isOpen() && !given.known() && given.dtype() == x.dtype() && from.hasLayout() &&
         from.offset() == part.offset && std::ranges::equal(from.shape(), part.sizes()) &&
         std::ranges::equal(from.strides(), part.steps()) && given.sharesStorage(x);
}

/// The steps of a view that is broadcast to these sizes; false for one that does not fit.
bool stepsOver(const View &view, std::span<const int64_t> sizes, int64_t *steps) {
  const size_t rank = view.shape().size();
  if (rank > sizes.size())
    return false;
  const size_t more = sizes.size() - rank;
  std::fill_n(steps, more, 0);
  for (size_t axis = 0; axis < rank; ++axis) {
    const int64_t n = view.shape()[axis];
    if (n != sizes[more + axis] && n != 1)
      return false;
    steps[more + axis] = n == 1 ? 0 : view.strides()[axis];
  }
  return true;
}

} // namespace

std::optional<uint64_t> numpyScalarBits(PyObject *object, DType t) {
  const auto &number = reinterpret_cast<const ScalarHead *>(object)->number;
  std::optional<uint64_t> bits;
  hostmath::withType(t, [&]<typename T>(T value) {
    std::memcpy(&value, number.data(), sizeof value);
    bits = hostmath::bitsOf(value);
    return true;
  });
  return bits;
}

/// Of dtypes that no C++ type holds.
static std::optional<uint64_t> narrowBits(const op::Scalar &value, DType t) {
  auto bits = op::literalBits(value, t);
  return bits && !isOverflown(value, t, *bits) ? std::optional(*bits) : std::nullopt;
}

std::optional<uint64_t> scalarBits(PyObject *object, DType t) {
  const bool isNarrow = t == DType::Float16 || t == DType::BFloat16;
  if (PyFloat_CheckExact(object)) {
    double v = PyFloat_AS_DOUBLE(object);
    if (isNarrow)
      return narrowBits(op::Scalar::ofFloat(v), t);
    if (t == DType::Float64)
      return std::bit_cast<uint64_t>(v);
    if (t != DType::Float32)
      return std::nullopt;
    auto bits = std::bit_cast<uint32_t>(static_cast<float>(v));
    return isOverflown(op::Scalar::ofFloat(v), t, bits) ? std::nullopt : std::optional(bits);
  }
  bool isBool = PyBool_Check(object);
  if (!isBool && !PyLong_CheckExact(object))
    return numpyScalarDType(object) == t ? numpyScalarBits(object, t) : std::nullopt;
  int overflow = 0;
  int64_t v = PyLong_AsLongLongAndOverflow(object, &overflow);
  if (overflow || (t == DType::Bool && !isBool))
    return std::nullopt;
  if (t == DType::Float64)
    return std::bit_cast<uint64_t>(static_cast<double>(v));
  if (t == DType::Float32)
    return std::bit_cast<uint32_t>(static_cast<float>(v));
  if (isNarrow)
    return narrowBits(op::Scalar::ofInt(v), t);
  return !isInexact(t) && op::fits(v, t) ? std::optional(static_cast<uint64_t>(v)) : std::nullopt;
}

std::optional<uint64_t> heldBits(PyObject *object, DType t) {
  const Array *x = asAnyArray(object);
  const KnownValue *known = x ? x->known() : nullptr;
  const auto own = known ? std::optional(known->dtype)
                   : x   ? std::nullopt
                         : numpyScalarDType(object);
  if (!own)
    return x ? std::nullopt : scalarBits(object, t);
  if (*own != t && (isComplex(*own) || op::promoteTypes(*own, t) != t))
    return std::nullopt;
  const auto bits = known ? std::optional(known->bits) : numpyScalarBits(object, *own);
  return bits && *own != t ? hostmath::converted(*bits, *own, t) : bits;
}

std::optional<std::complex<double>> complexElement(const Array &x, std::span<const int64_t> index) {
  const View &view = x.view();
  if (!isComplex(x.dtype()) || Trace::active() || !view.hasLayout() || view.isRecast() ||
      !mayBeOnHost(x.device()))
    return std::nullopt;
  int64_t place = view.offset();
  for (size_t i = 0; i < index.size(); ++i)
    place += index[i] * view.strides()[i];
  return x.storage()->withCurrent([&](const Node &base) -> std::optional<std::complex<double>> {
    const char *first =
        base.state() == NodeState::Ready ? whereRead(base, itemSize(x.dtype())) : nullptr;
    if (!first)
      return std::nullopt;
    if (x.dtype() == DType::Complex128)
      return reinterpret_cast<const std::complex<double> *>(first)[place];
    return std::complex<double>(reinterpret_cast<const std::complex<float> *>(first)[place]);
  });
}

PyObject *finish(Made made) {
  check(takeFailure());
  return made.object.release().ptr();
}

PyObject *directFull(const Shape &shape, uint64_t bits, DType t, rt::Device &device) {
  RecordScope scope;
  const int64_t count = small::countOf(shape);
  if (shape.rank() == 0 || !small::isLoop(OpKind::Full, count, device, /*counts=*/false))
    return nullptr;
  Made made = takeMade(t, shape, device);
  if (!made.object)
    return nullptr;
  const DType part = realDType(t);
  small::withWord(itemSize(part), [&]<typename T>(T) {
    auto *to = static_cast<T *>(made.data());
    if (part == t)
      std::fill_n(to, count, static_cast<T>(bits)); // little-endian
    else
      std::fill_n(reinterpret_cast<std::array<T, 2> *>(to), count,
                  std::array<T, 2>{static_cast<T>(bits), T{0}});
  });
  return finish(std::move(made));
}

PyObject *directCopy(const Array &x, const Shape &shape) {
  if (x.isOpen() || x.rank() == 0)
    return nullptr;
  RecordScope scope;
  // What is whole is counted by nobody else: its value would be shared.
  if (!small::isLoop(OpKind::Slice, x.size(), x.device(), /*counts=*/x.view().isWhole()))
    return nullptr;
  const small::Elements from = small::computedElementsOf(x);
  Made made = from.base ? takeMade(x.dtype(), shape, x.device()) : Made();
  if (!made.object)
    return nullptr;
  const View &view = x.view();
  if (view.isWhole() || view.isContiguous())
    std::memcpy(made.data(), from.first, static_cast<size_t>(x.size() * itemSize(x.dtype())));
  else
    small::withElement(itemSize(x.dtype()), [&]<typename T>(T) {
      small::gather(reinterpret_cast<const T *>(from.first), view.shape(), view.strides(),
                    static_cast<T *>(made.data()));
    });
  return finish(std::move(made));
}

PyObject *directJoin(std::span<PyObject *const> items, int64_t axis) {
  const Array *first = items.empty() ? nullptr : asPlainArray(items[0]);
  if (!first || first->rank() == 0 || Trace::active() || !mayBeOnHost(first->device()))
    return nullptr;
  const auto along = static_cast<size_t>(axis < 0 ? axis + first->rank() : axis);
  Shape shape = first->shape();
  if (along >= shape.size())
    return nullptr;
  const int64_t inner = small::countOf(std::span<const int64_t>(shape).subspan(along + 1));
  const int64_t outer = small::countOf(std::span<const int64_t>(shape).first(along));
  const int64_t word = itemSize(first->dtype()), row = inner * word;
  int64_t most = 0;
  shape[along] = 0;
  for (PyObject *item : items) {
    const Array *x = asPlainArray(item);
    if (!x || x->known() || x->dtype() != first->dtype() || &x->device() != &first->device() ||
        x->rank() != first->rank())
      return nullptr;
    for (size_t i = 0; i < shape.size(); ++i)
      if (i != along && x->shape()[i] != shape[i])
        return nullptr;
    shape[along] += x->shape()[along];
    most = std::max(most, x->size() * word);
  }
  RecordScope scope;
  const int64_t bytes = shape[along] * outer * row;
  if (bytes == 0 || !(small::isCollection(items.size(), most, bytes) ||
                      (bytes <= small::mostBytes() &&
                       small::isLoop(OpKind::Concatenate, first->size(), first->device(),
                                     /*counts=*/false))))
    return nullptr;
  NodeRef out = unwrap(small::makeNode(first->dtype(), shape, first->device()));
  auto *to = static_cast<char *>(out->buffer()->host());
  for (PyObject *item : items) {
    const Array *x = asPlainArray(item);
    const small::Elements from = small::denseElementsOf(*x);
    if (!from.base)
      return nullptr;
    const int64_t piece = x->shape()[along] * row;
    if (outer > 1 && piece == word)
      small::withElement(word, [&]<typename T>(T) {
        const int64_t step = shape[along] * row / word;
        auto *elements = reinterpret_cast<const T *>(from.first);
        for (int64_t i = 0; i < outer; ++i)
          reinterpret_cast<T *>(to)[i * step] = elements[i];
      });
    else
      for (int64_t i = 0; i < outer; ++i)
        std::memcpy(to + i * shape[along] * row, from.first + i * piece,
                    static_cast<size_t>(piece));
    to += piece;
  }
  return wrapSilently(small::arrayOf(std::move(out)));
}

PyObject *directNonzero(const Array &x) {
  RecordScope scope;
  const bool isMask = x.dtype() == DType::Bool;
  if (x.rank() != 1 || (!isMask && x.size() > small::kFew) ||
      !small::isLoop(OpKind::Gather, x.size(), x.device(), /*counts=*/false))
    return nullptr;
  const small::Elements from = small::denseElementsOf(x);
  if (!from.base)
    return nullptr;
  Made made;
  if (isMask) {
    const std::span<const bool> mask = boolsOf(from, x.size());
    const int64_t count = small::countTrue(mask);
    made = count > 0 ? takeMade(DType::Int64, Shape{count}, x.device()) : Made();
    if (!made.object)
      return nullptr;
    small::placesOfTrue(mask, count, static_cast<int64_t *>(made.data()));
    return finish(std::move(made));
  }
  hostmath::withType(x.dtype(), [&]<typename T>(T) {
    std::span elements(reinterpret_cast<const T *>(from.first), static_cast<size_t>(x.size()));
    const int64_t count = x.size() - std::ranges::count(elements, T{0});
    made = count > 0 ? takeMade(DType::Int64, Shape{count}, x.device()) : Made();
    auto *to = made.object ? static_cast<int64_t *>(made.data()) : nullptr;
    for (int64_t i = 0, found = 0; to && found < count; ++i) {
      to[found] = i; // stays where the element is not zero
      found += elements[static_cast<size_t>(i)] != T{0};
    }
    return true;
  });
  return made.object ? finish(std::move(made)) : nullptr;
}

PyObject *directCount(const Array &x) {
  RecordScope scope;
  if (x.rank() == 0 || x.size() * itemSize(x.dtype()) > small::kMostCounted ||
      small::loopTurns() == small::kNever || Trace::active() || !mayBeOnHost(x.device()))
    return nullptr;
  const small::Elements from = small::denseElementsOf(x);
  int64_t zeros = 0;
  const bool isCounted =
      from.base && hostmath::withType(x.dtype(), [&]<typename T>(T) {
        zeros = small::countZeros(
            std::span(reinterpret_cast<const T *>(from.first), static_cast<size_t>(x.size())));
        return true;
      });
  if (!isCounted)
    return nullptr;
  return wrapKnown({static_cast<uint64_t>(x.size() - zeros), DType::Int64, &x.device()});
}

PyObject *directRows(const Array &x, const Array &index) {
  const bool isMask = index.dtype() == DType::Bool, isOfAll = isMask && index.shape() == x.shape();
  if ((!isMask && index.dtype() != DType::Int64) || x.rank() == 0 || index.rank() == 0 ||
      &index.device() != &x.device() || index.size() > small::kMostRead ||
      (isMask && !isOfAll && (index.rank() != 1 || index.shape()[0] != x.shape()[0])))
    return nullptr;
  const int64_t rows = isOfAll ? x.size() : x.shape()[0], width = rows > 0 ? x.size() / rows : 0;
  RecordScope scope;
  if (!small::isLoop(OpKind::Gather, isMask ? x.size() : index.size() * width, x.device(),
                     /*counts=*/false))
    return nullptr;
  const small::Elements from = small::denseElementsOf(x), places = small::denseElementsOf(index);
  if (!from.base || !places.base)
    return nullptr;
  const small::RowPlaces chosen(
      isMask ? std::span<const int64_t>() : integersOf(places, index.size()), rows);
  if (!chosen.areInside())
    return nullptr;
  Shape shape;
  if (isMask) {
    shape = isOfAll ? Shape{0} : x.shape();
    shape[0] = small::countTrue(boolsOf(places, rows));
    if (shape[0] == 0)
      return nullptr;
  } else {
    shape = small::rowsShape(x, index);
  }
  Made made = takeMade(x.dtype(), shape, x.device());
  if (!made.object)
    return nullptr;
  small::withElement(itemSize(x.dtype()), [&]<typename T>(T) {
    auto *words = reinterpret_cast<const T *>(from.first);
    if (isMask)
      takeMasked(words, width, boolsOf(places, rows), shape[0], static_cast<T *>(made.data()));
    else
      takeRows(words, width, chosen, static_cast<T *>(made.data()));
  });
  return finish(std::move(made));
}

bool directPut(Array &x, PyObject *key, PyObject *value) {
  const Array *index = asAnyArray(key), *given = asAnyArray(value);
  const View &view = x.view();
  if (!index || index->isOpen() || index->rank() != 1 || x.rank() != 1 || view.isReadOnly() ||
      !view.hasLayout() || &index->device() != &x.device() || itemSize(x.dtype()) > 16 ||
      index->size() > small::kMostRead)
    return false;
  const bool isMask = index->dtype() == DType::Bool;
  if (isMask ? index->shape()[0] != x.shape()[0] : index->dtype() != DType::Int64)
    return false;
  RecordScope scope;
  if (!small::isLoop(OpKind::Scatter, isMask ? x.size() : index->size(), x.device(),
                     /*counts=*/false))
    return false;
  const small::Elements places = small::denseElementsOf(*index);
  if (!places.base)
    return false;
  const int64_t rows = x.shape()[0];
  const int64_t count = isMask ? small::countTrue(boolsOf(places, rows)) : index->size();
  const small::RowPlaces chosen(isMask ? std::span<const int64_t>() : integersOf(places, count),
                                rows);
  if (!chosen.areInside())
    return false;
  small::Elements held;
  ComplexBytes bits{};
  if (!given || given->rank() == 0) {
    const KnownValue *known = given ? given->known() : nullptr;
    if (isComplex(x.dtype())) {
      const auto number = complexBytes(value, x.dtype());
      if (!number)
        return false;
      bits = *number;
    } else if (given) {
      if (!known || known->dtype != x.dtype())
        return false;
      bits[0] = known->bits;
    } else {
      const bool isTruth =
          x.dtype() == DType::Bool && (PyLong_CheckExact(value) || PyFloat_CheckExact(value));
      const auto number =
          isTruth ? std::optional<uint64_t>(PyObject_IsTrue(value)) : scalarBits(value, x.dtype());
      if (!number)
        return false;
      bits[0] = *number;
    }
  } else {
    if (given->isOpen() || given->rank() != 1 || given->shape()[0] != count ||
        given->dtype() != x.dtype() || &given->device() != &x.device())
      return false;
    held = small::denseElementsOf(*given); // of x itself: the update below refuses it
    if (!held.base)
      return false;
  }
  return x.storage()->update([&](rt::Buffer &buffer) {
    auto write = [&]<typename T>(T one) {
      std::memcpy(&one, bits.data(), sizeof one); // little-endian
      const T *from = held.base ? reinterpret_cast<const T *>(held.first) : &one;
      const int64_t step = held.base ? 1 : 0, stride = view.strides()[0];
      T *to = static_cast<T *>(buffer.host()) + view.offset();
      if (isMask)
        return putMasked(boolsOf(places, rows), count, from, step, to, stride);
      chosen.forEach([&](int64_t place) { // of places named twice the last stays
        to[place * stride] = *from;
        from += step;
      });
    };
    small::withElement(itemSize(x.dtype()), write);
  });
}

bool directAssign(Array &x, std::span<const IndexItem> items, PyObject *value) {
  const View &view = x.view();
  if (view.isReadOnly() || !view.hasLayout() || itemSize(x.dtype()) > 16 || Trace::active() ||
      !mayBeOnHost(x.device()) || x.rank() == 0)
    return false;
  Part part;
  if (!part.set(view, items) || part.rank == 0)
    return false;
  int64_t count = small::countOf(part.sizes());
  if (count == 0)
    return false;
  const Array *given = asAnyArray(value);
  // x[part] op= y changed the part already.
  if (given && showsPart(*given, x, part))
    return true;
  // All of what lies in memory has another value outside of loops (ops::setItem).
  RecordScope scope;
  const bool isLoop = small::isLoop(OpKind::UpdateSlice, count, x.device(), /*counts=*/false);
  if (!isLoop && count == x.size() && view.isWhole())
    return false;
  const KnownValue *known = given ? given->known() : nullptr;
  if (isComplex(x.dtype()) && (!given || given->rank() == 0)) {
    const auto number = complexBytes(value, x.dtype());
    return number && fillPart(x, part, *number);
  }
  if (!given || known) {
    if (known && known->dtype != x.dtype())
      return false;
    const bool isTruth =
        x.dtype() == DType::Bool && (PyLong_CheckExact(value) || PyFloat_CheckExact(value));
    const auto bits = known     ? std::optional(known->bits)
                      : isTruth ? std::optional<uint64_t>(PyObject_IsTrue(value) == 1)
                                : scalarBits(value, x.dtype());
    return bits && fillPart(x, part, {*bits, 0});
  }
  const View &from = given->view();
  if (given->isOpen() || given->dtype() != x.dtype() || &given->device() != &x.device() ||
      !from.hasLayout() || !isLoop)
    return false;
  std::array<int64_t, 8> room;
  if (!stepsOver(from, part.sizes(), room.data()))
    return false;
  const std::span<const int64_t> steps(room.data(), part.rank);
  NodeRef base = given->storage()->current();
  if (base->state() != NodeState::Ready || !base->buffer()->host() ||
      (x.dtype() == DType::Bool && (from.isRecast() || !base->buffer()->isPrivate())))
    return false;
  if (given->sharesStorage(x)) {
    bool isDone = false;
    small::withElement(itemSize(x.dtype()), [&]<typename T>(T) {
      small::Room<T> copied;
      T *kept = copied.get(count);
      small::gather(static_cast<const T *>(base->buffer()->host()) + from.offset(), part.sizes(),
                    steps, kept);
      base = nullptr;
      isDone = x.storage()->update([&](rt::Buffer &buffer) {
        small::spread<T>(kept, part.sizes(), part.steps(),
                         static_cast<T *>(buffer.host()) + part.offset);
      });
    });
    return isDone;
  }
  const Walk walk(part.sizes(), steps, part.steps());
  return x.storage()->update([&](rt::Buffer &buffer) {
    small::withElement(itemSize(x.dtype()), [&]<typename T>(T) {
      copyPart(static_cast<const T *>(base->buffer()->host()) + from.offset(),
               std::span(walk.steps).first(walk.rank), std::span(walk.sizes).first(walk.rank),
               std::span(walk.strides).first(walk.rank),
               static_cast<T *>(buffer.host()) + part.offset);
    });
  });
}

PyObject *writtenTo(PyObject *out, const pb::object &result) {
  Array *target = asAnyArray(out);
  const Array *made = result ? asArray(result.ptr()) : nullptr;
  if (!target || !made || made->isValue() || target->isOpen() || target->isValue() ||
      target->view().isReadOnly() || target->dtype() != made->dtype() ||
      !(target->shape() == made->shape()) || &target->device() != &made->device())
    return nullptr;
  IndexItem everything;
  if (!directAssign(*target, {&everything, 1}, result.ptr()))
    check(ops::setItem(*target, {&everything, 1}, *made));
  tellAtOnce(*target);
  return Py_NewRef(out);
}

} // namespace graphc::py
