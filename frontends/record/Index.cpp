// View::index: NumPy's basic indexing as one strided step.
#include "frontends/record/Layout.h"
#include "frontends/record/View.h"
#include "runtime/base/Strings.h"

#include <algorithm>
#include <limits>

namespace graphc {
namespace {

using strings::format;

struct Range {
  int64_t start;
  int64_t step;
  int64_t count;
};

/// Python's rules for slices of a sequence of `size` elements.
Range adjust(const IndexItem &item, int64_t size) {
  int64_t step = std::max(item.step.value_or(1), -std::numeric_limits<int64_t>::max());
  bool forward = step > 0;
  int64_t low = forward ? 0 : -1, high = forward ? size : size - 1;
  auto clamp = [&](int64_t v) {
    if (v < 0)
      return std::max(v + size, low);
    return std::min(v, high);
  };
  int64_t start = item.start ? clamp(*item.start) : (forward ? low : high);
  int64_t stop = item.stop ? clamp(*item.stop) : (forward ? high : low);
  int64_t count = 0;
  if (forward && start < stop)
    count = (stop - start - 1) / step + 1;
  if (!forward && stop < start)
    count = (start - stop - 1) / -step + 1;
  // One spelling for equal parts, so that they record equal structure.
  if (count == 0)
    return {0, 1, 0};
  return {start, count == 1 ? 1 : step, count};
}

Result<size_t> countedAxes(std::span<const IndexItem> items, int64_t rank) {
  size_t used = 0, ellipses = 0;
  for (const IndexItem &item : items) {
    used += item.kind == IndexItem::Kind::Integer || item.kind == IndexItem::Kind::Slice;
    ellipses += item.kind == IndexItem::Kind::Ellipsis;
  }
  if (ellipses > 1)
    return Status(ErrorCode::Index, "[getitem] an index can only have a single ellipsis ('...')");
  if (static_cast<int64_t>(used) > rank)
    return Status(
        ErrorCode::Index,
        format("[getitem] too many indices for array: array is {}-dimensional, but {} were indexed",
               rank, used));
  return used;
}

} // namespace

Result<View> View::index(std::span<const IndexItem> items) const {
  View out;
  GRAPHC_TRY(index(items, out));
  return out;
}

// Loops take parts again and again: every list is made where it stays.
Status View::index(std::span<const IndexItem> items, View &out) const {
  if (!steps.empty()) {
    StridedStep later;
    GRAPHC_TRY(indexBy(items, later, out));
    const auto *first = steps.size() == 1 ? std::get_if<StridedStep>(&steps[0]) : nullptr;
    if (!first || emptiesNewAxis(*first, later)) {
      out = withStep(std::move(later), std::move(out.viewShape), std::move(out.viewStrides),
                     out.viewOffset);
      return Status::ok();
    }
    StridedStep &step = begin(out);
    step = *first;
    compose(step, later);
    if (isIdentity(step, baseShape))
      out.steps.clear();
    return Status::ok();
  }
  StridedStep &step = begin(out);
  GRAPHC_TRY(indexBy(items, step, out));
  if (isIdentity(step, baseShape))
    out.steps.clear();
  return Status::ok();
}

/// As a step from this view; shape, strides and offset become those of `out`.
Status View::indexBy(std::span<const IndexItem> items, StridedStep &step, View &out) const {
  GRAPHC_ASSIGN(size_t used, countedAxes(items, viewShape.rank()));
  Shape &dims = out.viewShape, &strides = out.viewStrides;
  size_t most = viewShape.size() + items.size();
  for (Shape *list : {static_cast<Shape *>(&step.starts), static_cast<Shape *>(&step.steps),
                      static_cast<Shape *>(&step.counts)})
    list->resize(viewShape.size());
  for (Shape *list : {static_cast<Shape *>(&step.axes), &dims, &strides})
    list->resize(most);
  int64_t offset = viewOffset;
  size_t axis = 0, kept = 0;
  auto take = [&](const Range &r) {
    offset += r.start * viewStrides[axis];
    step.starts[axis] = r.start;
    step.steps[axis] = r.step;
    step.counts[axis] = r.count;
    return axis++;
  };
  auto show = [&](int64_t from, int64_t count, int64_t stride) {
    step.axes[kept] = from;
    dims[kept] = count;
    strides[kept++] = stride;
  };
  auto keep = [&](const Range &r) {
    size_t from = take(r);
    show(static_cast<int64_t>(from), r.count, viewStrides[from] * r.step);
  };
  auto keepWhole = [&](size_t count) {
    for (size_t i = 0; i < count; ++i)
      keep({0, 1, viewShape[axis]});
  };
  for (const IndexItem &item : items) {
    switch (item.kind) {
    case IndexItem::Kind::NewAxis:
      show(-1, 1, 0);
      break;
    case IndexItem::Kind::Ellipsis:
      keepWhole(viewShape.size() - used);
      break;
    case IndexItem::Kind::Slice:
      if (item.step == 0)
        return Status(ErrorCode::InvalidArgument, "[getitem] slice step cannot be zero");
      keep(adjust(item, viewShape[axis]));
      break;
    case IndexItem::Kind::Integer: {
      int64_t size = viewShape[axis];
      int64_t at = item.integer < 0 ? item.integer + size : item.integer;
      if (at < 0 || at >= size)
        return Status(
            ErrorCode::Index,
            format("[getitem] index {} is out of bounds for axis {} with size {}: shape {}",
                   item.integer, axis, size, op::compactShape(viewShape)));
      take({at, 1, 1});
      break;
    }
    }
  }
  keepWhole(viewShape.size() - axis);
  if (kept > static_cast<size_t>(kMaxRank))
    return Status(ErrorCode::Index, format("number of dimensions must be within [0, {}], indexing "
                                           "result would have {}",
                                           kMaxRank, kept));
  for (Shape *list : {static_cast<Shape *>(&step.axes), &dims, &strides})
    list->shrink(kept);
  out.viewOffset = offset;
  return Status::ok();
}

} // namespace graphc
