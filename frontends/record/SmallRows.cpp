// Rows of small arrays by arrays of integers, or by masks of them.
#include "frontends/record/SmallElements.h"

#include <optional>
#include <vector>

namespace graphc::small {
namespace {

using Rows = std::optional<std::vector<int64_t>>;

/// Where a mask of the rows holds; nothing where that is not known.
Result<Rows> rowsOfMask(const Array &mask) {
  Reader<bool> reader;
  GRAPHC_ASSIGN(bool isRead, reader.read(mask, DType::Bool, mask.shape()));
  if (!isRead)
    return Rows();
  std::vector<int64_t> rows;
  Run<bool> given = reader.run();
  for (int64_t i = 0, n = countOf(mask.shape()); i < n; ++i)
    if (given.data[given.steps ? i : 0])
      rows.push_back(i);
  return Rows(std::move(rows));
}

/// Numbers of rows, all inside the first axis; nothing where they are not known or something is
/// wrong with them.
Result<Rows> rowsOf(const Array &index, int64_t count) {
  if (index.dtype() == DType::Bool)
    return rowsOfMask(index);
  Reader<int64_t> reader;
  GRAPHC_ASSIGN(bool isRead, reader.read(index, DType::Int64, index.shape()));
  if (!isRead)
    return Rows();
  Run<int64_t> given = reader.run();
  std::vector<int64_t> rows;
  for (int64_t i = 0, n = countOf(index.shape()); i < n; ++i) {
    int64_t row = given.data[given.steps ? i : 0];
    row += row < 0 ? count : 0;
    if (row < 0 || row >= count)
      return Rows();
    rows.push_back(row);
  }
  return Rows(std::move(rows));
}

/// The shape of so many rows.
Shape takenShape(const Array &x, const Array &index, size_t rows) {
  if (index.dtype() != DType::Bool)
    return rowsShape(x, index);
  Shape shape = x.shape();
  shape[0] = static_cast<int64_t>(rows);
  return shape;
}

std::span<const int64_t> withoutFirst(const Shape &shape) {
  return std::span<const int64_t>(shape).subspan(1);
}

} // namespace

Shape rowsShape(const Array &x, const Array &index) {
  std::vector<int64_t> dims(index.shape().begin(), index.shape().end());
  dims.insert(dims.end(), x.shape().begin() + 1, x.shape().end());
  return Shape(std::span<const int64_t>(dims));
}

Outcome takeRows(const Array &x, const Array &index) {
  GRAPHC_ASSIGN(Elements elements, elementsOf(x));
  GRAPHC_ASSIGN(Rows rows, rowsOf(index, x.shape()[0]));
  if (!elements.base || !rows)
    return NodeRef();
  GRAPHC_ASSIGN(NodeRef out, makeNode(x.dtype(), takenShape(x, index, rows->size()), x.device()));
  auto done = withLoopType(x.dtype(), [&]<typename T>(T) -> Result<bool> {
    auto *from = reinterpret_cast<const T *>(elements.first);
    T *to = dataOf<T>(out);
    for (int64_t row : *rows)
      to = gather(from + row * x.view().strides()[0], withoutFirst(x.shape()),
                  withoutFirst(x.view().strides()), to);
    return true;
  });
  return finished(std::move(out), std::move(done));
}

Result<bool> putRows(Array &target, const Array &index, const Operand &value) {
  const View &view = target.view();
  if (!view.hasLayout() || view.isPart())
    return false;
  GRAPHC_ASSIGN(Rows rows, rowsOf(index, view.shape()[0]));
  Shape shape = takenShape(target, index, rows ? rows->size() : 0);
  if (!rows || !broadcasts(value.shape(), shape))
    return false;
  if (rows->empty())
    return true;
  return withLoopType(target.dtype(), [&]<typename T>(T) -> Result<bool> {
    Reader<T> reader;
    GRAPHC_ASSIGN(bool isRead, reader.read(value, target.dtype(), shape));
    if (!isRead)
      return false;
    int64_t count = countOf(shape);
    if (value.array && !value.array->known() && value.array->sharesStorage(target))
      reader.keep(count);
    Run<T> from = reader.run();
    if (mustBeFinite() && target.dtype() == DType::Float32 &&
        !allFinite(from.data, from.steps ? count : 1))
      return false;
    GRAPHC_ASSIGN(bool isOwn, settle(target));
    return isOwn && target.storage()->update([&](rt::Buffer &buffer) {
      T *first = static_cast<T *>(buffer.host()) + view.offset();
      const T *at = from.data;
      for (int64_t row : *rows) { // of rows named twice the last stays
        T *to = first + row * view.strides()[0];
        if (from.steps)
          at = spread(at, withoutFirst(view.shape()), withoutFirst(view.strides()), to);
        else
          fill(*at, withoutFirst(view.shape()), withoutFirst(view.strides()), to);
      }
    });
  });
}

namespace {

template <typename T>
std::optional<T> combined(op::OpKind kind, T a, T b) {
  if constexpr (std::is_floating_point_v<T>)
    return hostmath::foldFloat(kind, a, b);
  else
    return hostmath::foldInteger(kind, a, b);
}

bool combinesAlways(op::OpKind kind) {
  using enum op::OpKind;
  return kind == Add || kind == Sub || kind == Mul || kind == Minimum || kind == Maximum;
}

} // namespace

Result<bool> combineRows(Array &target, const Array &index, const Operand &value,
                         op::OpKind combine) {
  const View &view = target.view();
  if (!view.hasLayout() || view.isPart() || target.rank() != 1 || !combinesAlways(combine) ||
      index.dtype() == DType::Bool || target.dtype() == DType::Bool ||
      target.size() * itemSize(target.dtype()) > kMostBytes)
    return false;
  GRAPHC_ASSIGN(Rows rows, rowsOf(index, view.shape()[0]));
  Shape shape = rowsShape(target, index);
  if (!rows || !broadcasts(value.shape(), shape))
    return false;
  return withLoopType(target.dtype(), [&]<typename T>(T) -> Result<bool> {
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
      size_t next = 0;
      for (int64_t row : *rows) {
        now[row] = *combined(combine, now[row], from.data[from.steps ? next : 0]);
        ++next;
      }
      if (mustBeFinite() && !allFinite(now, target.size()))
        return false;
      return target.storage()->update([&](rt::Buffer &buffer) {
        spread<T>(now, view.shape(), view.strides(),
                  static_cast<T *>(buffer.host()) + view.offset());
      });
    }
  });
}

} // namespace graphc::small
