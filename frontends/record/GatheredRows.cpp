#include "frontends/record/GatheredRows.h"

#include "frontends/record/OpenSize.h"
#include "frontends/record/Session.h"
#include "frontends/record/Trace.h"

#include <algorithm>

namespace graphc {
namespace {

/// Columns are gathered from where rows lie if those have so many times as many elements.
constexpr int64_t kWideRows = 8;

/// A gather that is still to be made.
struct Rows {
  NodeRef table;
  node::Places places;

  Shape placesShape() const { return places.indices[0]->shape(); }
};

/// Null table for what is none. What a mask chose is gathered at its places.
Result<Rows> pendingRows(const NodeRef &n) {
  Rows none;
  if (!n->isOp() || n->state() != NodeState::Pending)
    return none;
  op::GatherAttrs gather;
  if (n->kind() == op::OpKind::Gather && gather.decode(n->attrs())) {
    Rows rows{n->pendingOperand(0).value_or(nullptr), {{}, gather.axes, gather.position}};
    for (size_t i = 0; i < gather.axes.size(); ++i)
      rows.places.indices.push_back(n->pendingOperand(i + 1).value_or(nullptr));
    return rows.table && rows.places.indices.back() ? rows : none;
  }
  NodeRef chosen = n->kind() == op::OpKind::Reshape ? n->pendingOperand(0).value_or(n) : n;
  op::LibraryAttrs library;
  if (!chosen->isOp() || chosen->kind() != op::OpKind::Library ||
      !library.decode(chosen->attrs()) ||
      static_cast<Routine>(library.routine) != Routine::Compress)
    return none;
  auto table = chosen->pendingOperand(0), mask = chosen->pendingOperand(1);
  if (!table || !mask || n->shape().rank() == 0 || n->shape()[0] != chosen->shape()[0])
    return none;
  Shape all = n->shape();
  all[0] = (*mask)->shape()[0];
  GRAPHC_ASSIGN(NodeRef rows, node::reshape(*table, all));
  GRAPHC_ASSIGN(NodeRef places, countedPositions(*mask));
  return Rows{rows, {{places}, {0}, 0}};
}

/// Whether a view has all of the axes [first, first + count) of its base.
bool hasAxes(const View &view, size_t first, size_t count) {
  Shape strides = denseStrides(view.base());
  for (size_t axis = first; axis < first + count; ++axis) {
    bool found = view.base()[axis] == 1;
    for (size_t i = 0; i < view.shape().size(); ++i)
      found |= view.shape()[i] == view.base()[axis] && view.strides()[i] == strides[axis];
    if (!found)
      return false;
  }
  return true;
}

/// The value `part` of a view of `all`, with what it leaves out left out of the table: other uses
/// of the rows, each of a part of its own, then share no gather of whole ones.
Result<NodeRef> narrowed(const NodeRef &part, const NodeRef &all, const Rows &rows) {
  std::optional<NodeRef> inner = part->pendingOperand(0);
  op::SliceAttrs slice;
  if (part == all || !inner)
    return part;
  if (part->kind() == op::OpKind::Slice && *inner == all && slice.decode(part->attrs())) {
    auto rank = static_cast<size_t>(rows.table->shape().rank()), kept = size_t{0};
    auto first = static_cast<size_t>(rows.places.position);
    auto count = static_cast<size_t>(rows.placesShape().rank());
    std::vector<int64_t> starts(rank, 0), steps(rank, 1);
    Shape counts = rows.table->shape();
    for (size_t axis = 0; axis < rank; ++axis) {
      if (std::ranges::find(rows.places.axes, static_cast<int64_t>(axis)) != rows.places.axes.end())
        continue;
      size_t from = kept < first ? kept : kept + count;
      starts[axis] = slice.starts[from], steps[axis] = slice.steps[from];
      counts[axis] = part->shape()[from];
      ++kept;
    }
    GRAPHC_ASSIGN(NodeRef table,
                  node::slice(rows.table, std::move(starts), std::move(steps), counts));
    return node::gather(table, rows.places);
  }
  if (part->kind() != op::OpKind::Reshape && part->kind() != op::OpKind::Transpose)
    return part;
  GRAPHC_ASSIGN(NodeRef less, narrowed(*inner, all, rows));
  return node::make(part->kind(), {&less, 1}, {part->attrs().begin(), part->attrs().end()},
                    {part->dtype(), part->shape()}, part->device());
}

} // namespace

Status separate(Array &x) {
  const View &view = x.view();
  // Nothing of an axis of one row is not all of it.
  if (!x.hasStorage() || view.isReadOnly() || view.isRecast() || !view.hasLayout() ||
      x.size() == 0 || showsMost(x) || Trace::active())
    return Status::ok();
  const Storage &store = *x.storage();
  if (x.storage().use_count() != 1 || store.traceId() || store.isShared() || store.isLent() ||
      store.dtype() != x.dtype())
    return Status::ok();
  NodeRef whole = store.current();
  RecordScope scope(whole->location(), whole->errors());
  GRAPHC_ASSIGN(Rows rows, pendingRows(whole));
  if (!rows.table || !hasAxes(view, static_cast<size_t>(rows.places.position),
                              static_cast<size_t>(rows.placesShape().rank())))
    return Status::ok();
  GRAPHC_ASSIGN(NodeRef all, node::gather(rows.table, rows.places));
  GRAPHC_ASSIGN(NodeRef part, view.get(all));
  GRAPHC_ASSIGN(part, narrowed(part, all, rows));
  x = Array(std::move(part));
  return Status::ok();
}

Result<NodeRef> gatherOfGathered(const NodeRef &n, const node::Places &places) {
  bool isColumns = places.indices.size() == 1 && places.axes[0] == 1 && places.position == 1;
  if (!isColumns || places.indices[0]->shape().rank() != 1 || n->shape().rank() < 2)
    return NodeRef();
  GRAPHC_ASSIGN(Rows rows, pendingRows(n));
  if (!rows.table || rows.places.axes != std::vector<int64_t>{0} || rows.places.position != 0 ||
      rows.placesShape().rank() != 1)
    return NodeRef();
  // Of short rows that are moved whole neighbours are at hand.
  int64_t count = rows.placesShape()[0], columns = places.indices[0]->shape()[0];
  if (columns == 0 || columns * kWideRows > n->shape()[1])
    return NodeRef();
  GRAPHC_ASSIGN(NodeRef row, node::reshape(rows.places.indices[0], Shape{count, 1}));
  GRAPHC_ASSIGN(row, node::broadcast(row, Shape{count, columns}));
  GRAPHC_ASSIGN(NodeRef column, node::broadcast(places.indices[0], Shape{count, columns}));
  return node::gather(rows.table, {{row, column}, {0, 1}, 0});
}

} // namespace graphc
