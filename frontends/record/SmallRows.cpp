// Rows of small arrays by arrays of integers, or by masks of them.
#include "frontends/record/SmallComplex.h"
#include "frontends/record/SmallElements.h"

#include "frontends/record/Known.h"
#include "frontends/record/RowPlaces.h"
#include "frontends/record/Trace.h"
#include "runtime/library/Library.h"

#include <array>
#include <cstddef>
#include <cstring>
#include <optional>

namespace graphc::small {
namespace {

/// Numbers of rows.
class Rows {
public:
  bool isKnown() const { return known; }
  std::span<const int64_t> list() const { return {data, static_cast<size_t>(count)}; }

  /// Where a mask of the rows holds.
  Status readMask(const Array &mask) {
    Reader<bool> reader;
    GRAPHC_ASSIGN(known, reader.read(mask, DType::Bool, mask.shape()));
    const int64_t size = countOf(mask.shape());
    int64_t *rows = room.get(known ? size : 0);
    Run<bool> given = reader.run();
    for (int64_t i = 0; known && i < size; ++i) {
      rows[count] = i; // stays where the mask holds
      count += given.data[given.steps ? i : 0];
    }
    data = rows;
    return Status::ok();
  }
  /// Integers, broadcast to `of` and all inside an axis of this size; else unknown.
  Status readNumbers(const Array &index, int64_t size, const Shape &of) {
    GRAPHC_ASSIGN(known, numbers.read(index, DType::Int64, of));
    count = known ? countOf(of) : 0;
    const Run<int64_t> given = numbers.run();
    const RowPlaces places({given.data, static_cast<size_t>(given.steps ? count : known)}, size);
    known &= places.areInside();
    if (given.steps && !places.areFromEnd()) {
      data = given.data;
      return Status::ok();
    }
    int64_t *rows = room.get(known ? count : 0), *to = rows;
    if (known)
      places.forEach([&](int64_t row) { to = std::fill_n(to, given.steps ? 1 : count, row); });
    data = rows;
    return Status::ok();
  }
  /// Before what they were read from is written.
  void keep() {
    if (data != numbers.run().data)
      return;
    numbers.keep(count);
    data = numbers.run().data;
  }
  Status read(const Array &index, int64_t size) {
    return index.dtype() == DType::Bool ? readMask(index) : readNumbers(index, size, index.shape());
  }

private:
  Reader<int64_t> numbers;
  Room<int64_t> room;
  const int64_t *data = nullptr;
  int64_t count = 0;
  bool known = false;
};

/// The shape of so many rows.
Shape takenShape(const Array &x, const Array &index, size_t rows, size_t axis = 0) {
  if (index.dtype() != DType::Bool)
    return rowsShape(x, index, axis);
  Shape shape = x.shape();
  shape[axis] = static_cast<int64_t>(rows);
  return shape;
}

/// Appends the chosen lines of an axis, for each place of those before it.
template <typename T>
T *takeLines(const T *from, std::span<const int64_t> shape, std::span<const int64_t> strides,
             size_t axis, std::span<const int64_t> rows, T *to) {
  if (axis > 0) {
    for (int64_t i = 0; i < shape[0]; ++i)
      to = takeLines(from + i * strides[0], shape.subspan(1), strides.subspan(1), axis - 1, rows,
                     to);
    return to;
  }
  const int64_t stride = strides[0];
  if (shape.size() == 1)
    for (int64_t row : rows)
      *to++ = from[row * stride];
  else
    for (int64_t row : rows)
      to = gather(from + row * stride, shape.subspan(1), strides.subspan(1), to);
  return to;
}

std::span<const int64_t> withoutFirst(const Shape &shape) {
  return std::span<const int64_t>(shape).subspan(1);
}

} // namespace

Shape rowsShape(const Array &x, const Array &index, size_t axis) {
  Shape shape;
  shape.resize(index.shape().size() + x.shape().size() - 1);
  const auto replaced = x.shape().begin() + static_cast<std::ptrdiff_t>(axis);
  auto at = std::copy(x.shape().begin(), replaced, shape.begin());
  at = std::copy(index.shape().begin(), index.shape().end(), at);
  std::copy(replaced + 1, x.shape().end(), at);
  return shape;
}

Outcome takeRows(const Array &x, const Array &index, size_t axis) {
  GRAPHC_ASSIGN(Elements elements, elementsOf(x));
  Rows rows;
  GRAPHC_TRY(rows.read(index, x.shape()[axis]));
  if (!elements.base || !rows.isKnown())
    return NodeRef();
  GRAPHC_ASSIGN(NodeRef out,
                makeNode(x.dtype(), takenShape(x, index, rows.list().size(), axis), x.device()));
  withElement(itemSize(x.dtype()), [&]<typename T>(T) {
    takeLines(reinterpret_cast<const T *>(elements.first), x.shape(), x.view().strides(), axis,
              rows.list(), dataOf<T>(out));
  });
  return out;
}

Outcome flatPlaces(std::span<const Array> indices, const Shape &shape, const Shape &of) {
  GRAPHC_ASSIGN(NodeRef out, makeNode(DType::Int64, of, indices[0].device()));
  auto *to = dataOf<int64_t>(out);
  std::fill_n(to, countOf(of), 0);
  for (size_t axis = 0; axis < indices.size(); ++axis) {
    Rows rows;
    GRAPHC_TRY(rows.readNumbers(indices[axis], shape[axis], of));
    if (!rows.isKnown())
      return NodeRef();
    for (size_t i = 0; i < rows.list().size(); ++i)
      to[i] = to[i] * shape[axis] + rows.list()[i];
  }
  return out;
}

Result<bool> putRows(Array &target, const Array &index, const Operand &value) {
  const View &view = target.view();
  if (!view.hasLayout() || view.isRecast())
    return false;
  Rows rows;
  GRAPHC_TRY(rows.read(index, view.shape()[0]));
  Shape shape = takenShape(target, index, rows.list().size());
  if (!rows.isKnown() || !broadcasts(value.shape(), shape))
    return false;
  if (rows.list().empty())
    return true;
  if (index.sharesStorage(target))
    rows.keep();
  auto put = [&]<typename T>(T) -> Result<bool> {
    ReaderOf<T> reader;
    GRAPHC_ASSIGN(bool isRead, reader.read(value, target.dtype(), shape));
    if (!isRead)
      return false;
    int64_t count = countOf(shape);
    if (value.array && !value.array->known() && value.array->sharesStorage(target))
      reader.keep(count);
    Run<T> from = reader.run();
    const bool isNarrow = target.dtype() == DType::Float32 || target.dtype() == DType::Complex64;
    if (mustBeFinite() && isNarrow && !allFinite(from.data, from.steps ? count : 1))
      return false;
    GRAPHC_ASSIGN(bool isOwn, settle(target));
    return isOwn && target.storage()->update([&](rt::Buffer &buffer) {
      T *first = static_cast<T *>(buffer.host()) + view.offset();
      const T *at = from.data;
      const int64_t stride = view.strides()[0];
      if (view.shape().rank() == 1) {
        for (int64_t row : rows.list()) {
          first[row * stride] = *at;
          at += from.steps;
        }
        return;
      }
      for (int64_t row : rows.list()) { // of rows named twice the last stays
        T *to = first + row * stride;
        if (from.steps)
          at = spread(at, withoutFirst(view.shape()), withoutFirst(view.strides()), to);
        else
          fill(*at, withoutFirst(view.shape()), withoutFirst(view.strides()), to);
      }
    });
  };
  if (isFloat(target.dtype()) &&
      itemSize(target.dtype()) == sizeof(uint16_t)) { // moved as they are
    const bool isAlike =
        !value.array || value.array->known() || value.array->dtype() == target.dtype();
    return isAlike ? put(uint16_t()) : Result<bool>(false);
  }
  return withElementType(target.dtype(), put);
}

Outcome flatNonzero(const Array &mask) {
  Rows rows;
  GRAPHC_TRY(rows.readMask(mask));
  if (!rows.isKnown())
    return NodeRef();
  GRAPHC_ASSIGN(NodeRef out,
                makeNode(DType::Int64, {static_cast<int64_t>(rows.list().size())}, mask.device()));
  std::ranges::copy(rows.list(), dataOf<int64_t>(out));
  return out;
}

int64_t numberOfCounts(Run<int64_t> given, int64_t size, int64_t least) {
  constexpr int64_t kMost = kMostBytes / sizeof(int64_t);
  int64_t length = std::max<int64_t>(least, 1);
  bool isOutside = size == 0 || least > kMost;
  for (int64_t i = 0; i < (given.steps ? size : std::min<int64_t>(size, 1)); ++i) {
    const bool isInside = static_cast<uint64_t>(given.data[i]) < static_cast<uint64_t>(kMost);
    length = std::max(length, isInside ? given.data[i] + 1 : 0);
    isOutside |= !isInside;
  }
  return isOutside ? 0 : length;
}

Outcome bincount(const Array &x, int64_t least) {
  const int64_t size = x.size();
  Reader<int64_t> reader;
  GRAPHC_ASSIGN(bool isRead, reader.read(x, DType::Int64, x.shape()));
  Run<int64_t> given = reader.run();
  const int64_t length = isRead ? numberOfCounts(given, size, least) : 0;
  if (length == 0)
    return NodeRef();
  GRAPHC_ASSIGN(NodeRef out, makeNode(DType::Int64, {length}, x.device()));
  auto *counts = dataOf<int64_t>(out);
  std::fill_n(counts, length, 0);
  for (int64_t i = 0; i < size; ++i)
    ++counts[given.data[given.steps ? i : 0]];
  return out;
}

namespace {

template <typename T>
std::optional<T> combined(op::OpKind kind, T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return hostmath::foldFloat(kind, a, b);
  else
    return hostmath::foldInteger(kind, a, b);
}

/// As combined(), where asking for the operation takes longer than the sum; integers wrap.
template <typename T>
T sumOf(T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return a + b;
  else
    return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
}

bool combinesAlways(op::OpKind kind) {
  using enum op::OpKind;
  return kind == Add || kind == Sub || kind == Mul || kind == Minimum || kind == Maximum;
}

} // namespace

Result<bool> combineRows(Array &target, const Array &index, const Operand &value,
                         op::OpKind combine) {
  const View &view = target.view();
  if (!view.hasLayout() || view.isRecast() || target.rank() != 1 || !combinesAlways(combine) ||
      index.dtype() == DType::Bool || target.dtype() == DType::Bool ||
      target.size() * itemSize(target.dtype()) > kMostBytes)
    return false;
  Rows rows;
  GRAPHC_TRY(rows.read(index, view.shape()[0]));
  Shape shape = rowsShape(target, index);
  if (!rows.isKnown() || !broadcasts(value.shape(), shape))
    return false;
  if (index.sharesStorage(target))
    rows.keep();
  return withRealType(target.dtype(), [&]<typename T>(T) -> Result<bool> {
    Reader<T> reader;
    GRAPHC_ASSIGN(bool isRead, reader.read(value, target.dtype(), shape));
    GRAPHC_ASSIGN(bool isOwn, isRead ? settle(target) : Result<bool>(false));
    if (!isOwn)
      return false;
    GRAPHC_ASSIGN(Elements elements, elementsOf(target));
    if (!elements.base)
      return false;
    if constexpr (std::is_same_v<T, bool>) {
      return false;
    } else {
      Room<T> room;
      T *now = room.get(target.size()); // what there is to tell is told before it is written
      gather(reinterpret_cast<const T *>(elements.first), view.shape(), view.strides(), now);
      elements.base = nullptr;
      Run<T> from = reader.run();
      auto each = [&](auto operation) {
        const T *value = from.data;
        for (int64_t row : rows.list()) {
          now[row] = operation(now[row], *value);
          value += from.steps;
        }
      };
      if (combine == op::OpKind::Add)
        each([](T a, T b) { return sumOf(a, b); });
      else
        each([&](T a, T b) { return *combined(combine, a, b); });
      if (mustBeFinite() && !allFinite(now, target.size()))
        return false;
      return target.storage()->update([&](rt::Buffer &buffer) {
        spread<T>(now, view.shape(), view.strides(),
                  static_cast<T *>(buffer.host()) + view.offset());
      });
    }
  });
}

/// Rows of so many elements in ascending order, or the places of those.
static Result<bool> sortRows(Routine routine, DType t, const void *data, int64_t size,
                             int64_t length, const NodeRef &out) {
  const std::array<int64_t, 2> rows = {size / length, length};
  const rt::library::Operand given{const_cast<void *>(data), t, rows}; // is read only
  const int64_t params[] = {0};                                        // ascending
  return rt::library::run(routine, {{&given, 1}, {dataOf<char>(out), out->dtype(), rows}, params})
      .isOk();
}

static DType dtypeOfOrder(const Array &x, Routine routine) {
  return routine == Routine::Argsort ? DType::Int64 : x.dtype();
}

Outcome sorted(const Array &x, Routine routine) {
  if (x.size() == 0 || x.size() * itemSize(x.dtype()) > mostBytes())
    return NodeRef();
  GRAPHC_ASSIGN(Elements elements, elementsOf(x));
  NodeRef dense = elements.base;
  const char *data = elements.first;
  if (dense && !x.view().isContiguous()) {
    GRAPHC_ASSIGN(dense, detached(x));
    data = dense ? dataOf<char>(dense) : nullptr;
  }
  if (!dense)
    return NodeRef();
  GRAPHC_ASSIGN(NodeRef out, makeNode(dtypeOfOrder(x, routine), x.shape(), x.device()));
  return finished(out, sortRows(routine, x.dtype(), data, x.size(), x.size(), out));
}

Outcome distinct(const Array &x) {
  GRAPHC_ASSIGN(NodeRef all, sorted(x, Routine::Sort));
  int64_t count = 0;
  auto isDone = withRealType(x.dtype(), [&]<typename T>(T) -> Result<bool> {
    T *elements = all ? dataOf<T>(all) : nullptr;
    if (!all)
      return false;
    // NaNs come last.
    auto isSame = [](T a, T b) { return a == b || (a != a && b != b); };
    count = std::unique(elements, elements + x.size(), isSame) - elements;
    return true;
  });
  GRAPHC_ASSIGN(bool isFound, std::move(isDone));
  if (!isFound || count == x.size())
    return isFound ? all : NodeRef();
  GRAPHC_ASSIGN(NodeRef out, makeNode(x.dtype(), Shape{count}, x.device()));
  std::memcpy(dataOf<char>(out), dataOf<char>(all), static_cast<size_t>(out->bytes()));
  return out;
}

Outcome parted(const Array &x, int64_t first, int64_t last, Routine routine) {
  GRAPHC_ASSIGN(NodeRef dense, detached(x));
  if (!dense)
    return NodeRef();
  const std::array<int64_t, 2> rows = {1, x.size()}, places = {first, last};
  const std::array<int64_t, 1> two = {2};
  const rt::library::Operand given[] = {
      {dataOf<char>(dense), x.dtype(), rows},
      {const_cast<int64_t *>(places.data()), DType::Int64, two}}; // is read only
  const DType t = routine == Routine::Argpartition ? DType::Int64 : x.dtype();
  GRAPHC_ASSIGN(NodeRef out, makeNode(t, x.shape(), x.device()));
  return finished(out, rt::library::run(routine, {given, {dataOf<char>(out), t, rows}, {}}).isOk());
}

Result<std::optional<int64_t>> placeAmong(const Array &sorted, uint64_t bits, bool isLeft) {
  const Elements elements = denseElementsOf(sorted);
  if (!elements.base)
    return std::optional<int64_t>();
  int64_t place = 0;
  const std::array<int64_t, 1> length = {sorted.size()}, one = {1}, params = {isLeft ? 0 : 1};
  const rt::library::Operand both[] = {
      {const_cast<char *>(elements.first), sorted.dtype(), length}, // is read only
      {&bits, sorted.dtype(), one}};
  GRAPHC_TRY(rt::library::run(Routine::Searchsorted, {both, {&place, DType::Int64, one}, params}));
  return std::optional(place);
}

Outcome sortedAlong(const Array &x, size_t axis, Routine routine) {
  if (x.size() == 0 || x.size() * itemSize(DType::Int64) > mostBytes())
    return NodeRef();
  const size_t rank = x.shape().size();
  const int64_t length = x.shape()[axis];
  const DType t = dtypeOfOrder(x, routine);
  GRAPHC_ASSIGN(Elements elements, elementsOf(x));
  if (!elements.base)
    return NodeRef();
  GRAPHC_ASSIGN(NodeRef out, makeNode(t, x.shape(), x.device()));
  if (axis + 1 == rank)
    return finished(out, sortRows(routine, x.dtype(), elements.first, x.size(), length, out));
  std::vector<int64_t> order;
  for (size_t i = 0; i < rank; ++i)
    if (i != axis)
      order.push_back(static_cast<int64_t>(i));
  order.push_back(static_cast<int64_t>(axis));
  const Array turned = x.withView(x.view().transpose(order));
  GRAPHC_ASSIGN(NodeRef rows, detached(turned));
  GRAPHC_ASSIGN(NodeRef made, makeNode(t, turned.shape(), x.device()));
  if (!rows)
    return NodeRef();
  GRAPHC_ASSIGN(bool isDone,
                sortRows(routine, x.dtype(), dataOf<char>(rows), x.size(), length, made));
  const Shape dense = denseStrides(x.shape());
  Shape strides;
  strides.resize(rank);
  for (size_t i = 0; i < rank; ++i)
    strides[i] = dense[static_cast<size_t>(order[i])];
  if (!isDone)
    return NodeRef();
  withElement(itemSize(t), [&]<typename T>(T) {
    spread(dataOf<const T>(made), turned.shape(), strides, dataOf<T>(out));
  });
  return out;
}

Outcome chosen(const Array &index, std::span<const Array> choices) {
  constexpr size_t kMost = 4;
  const Shape &shape = index.shape();
  const DType t = choices[0].dtype();
  Reader<int64_t> reader;
  GRAPHC_ASSIGN(bool isRead, reader.read(index, DType::Int64, shape));
  if (!isRead || choices.size() > kMost)
    return NodeRef();
  const Run<int64_t> which = reader.run();
  GRAPHC_ASSIGN(NodeRef out, makeNode(t, shape, index.device()));
  auto isDone = withRealType(t, [&]<typename T>(T) -> Result<bool> {
    std::array<Reader<T>, kMost> readers;
    std::array<Run<T>, kMost> from;
    for (size_t i = 0; i < choices.size(); ++i) {
      if (!broadcasts(choices[i].shape(), shape))
        return false;
      GRAPHC_ASSIGN(bool isChoiceRead, readers[i].read(choices[i], t, shape));
      if (!isChoiceRead)
        return false;
      from[i] = readers[i].run();
    }
    T *to = dataOf<T>(out);
    for (int64_t i = 0, count = countOf(shape); i < count; ++i) {
      const auto choice = static_cast<uint64_t>(which.data[which.steps ? i : 0]);
      if (choice >= choices.size())
        return false;
      to[i] = from[choice].data[from[choice].steps ? i : 0];
    }
    return true;
  });
  return finished(out, std::move(isDone));
}

/// Each of `count` elements as often as one of these numbers says; false for other numbers. Of few,
/// a loop for each element costs more than they do.
template <int64_t... Few, typename T>
static bool repeatFew(const T *from, int64_t stride, int64_t count, int64_t times, T *to) {
  auto repeat = [&]<int64_t Times>(std::integral_constant<int64_t, Times>) {
    for (int64_t i = 0; i < count; ++i)
      for (int64_t t = 0; t < Times; ++t)
        to[i * Times + t] = from[i * stride];
    return true;
  };
  return ((times == Few && repeat(std::integral_constant<int64_t, Few>())) || ...);
}

Outcome repeated(const Array &x, int64_t times) {
  const Shape shape{x.size() * times};
  if (x.size() * times * itemSize(x.dtype()) > mostBytes())
    return NodeRef();
  GRAPHC_ASSIGN(Elements elements, elementsOf(x));
  if (!elements.base)
    return NodeRef();
  GRAPHC_ASSIGN(NodeRef out, makeNode(x.dtype(), shape, x.device()));
  withElement(itemSize(x.dtype()), [&]<typename T>(T) {
    auto *from = reinterpret_cast<const T *>(elements.first);
    T *to = dataOf<T>(out);
    const int64_t stride = x.view().strides()[0];
    if (repeatFew<2, 3, 4>(from, stride, x.size(), times, to))
      return;
    for (int64_t i = 0; i < x.size(); ++i)
      to = std::fill_n(to, times, from[i * stride]);
  });
  return out;
}

Result<bool> sortNow(Array &x, bool descending) {
  const View &view = x.view();
  const int64_t bytes = x.size() * itemSize(x.dtype());
  if (Trace::active() || x.rank() == 0 || view.isReadOnly() || !view.hasLayout() ||
      view.isRecast() || !view.isContiguous() || !mayBeOnHost(x.device()) || bytes > kMostBytes)
    return false;
  // What is pending is sorted with what it fuses with.
  if (x.storage()->current()->state() != NodeState::Ready)
    return false;
  if (!x.storage()->exclusive())
    GRAPHC_TRY(ops::detach(x));
  Status status;
  const bool isDone = x.storage()->update([&](rt::Buffer &buffer) {
    char *first = static_cast<char *>(buffer.host()) + view.offset() * itemSize(x.dtype());
    Room<std::max_align_t> room;
    const auto size = static_cast<size_t>(bytes);
    void *from = room.get(static_cast<int64_t>(size / sizeof(std::max_align_t) + 1));
    std::memcpy(from, first, size);
    const int64_t length = x.shape()[x.shape().size() - 1];
    const std::array<int64_t, 2> rows = {length ? x.size() / length : 0, length};
    const rt::library::Operand given{from, x.dtype(), rows};
    const int64_t params[] = {descending};
    status = rt::library::run(Routine::Sort, {{&given, 1}, {first, x.dtype(), rows}, params});
  });
  GRAPHC_TRY(std::move(status));
  return isDone;
}

} // namespace graphc::small
