#include "frontends/record/View.h"

#include "frontends/record/Layout.h"
#include "frontends/record/Recast.h"
#include "frontends/record/Record.h"
#include "runtime/base/Strings.h"

#include <algorithm>
#include <numeric>

namespace graphc {
namespace {

using strings::format;

Shape toShape(const std::vector<int64_t> &v) { return Shape(std::span<const int64_t>(v)); }

Shape resultShape(const StridedStep &s) {
  AxisList dims;
  for (int64_t axis : s.axes)
    dims.push_back(axis < 0 ? 1 : s.counts[static_cast<size_t>(axis)]);
  return dims;
}

/// The order in which `axes` takes source axes, unused ones last: a full permutation of the source.
std::vector<int64_t> fullPermutation(const StridedStep &s) {
  std::vector<int64_t> order;
  for (int64_t axis : s.axes)
    if (axis >= 0)
      order.push_back(axis);
  // Dropped axes have size 1: when the kept ones are in order nothing needs to move.
  bool sorted = std::ranges::is_sorted(order);
  for (int64_t i = 0; i < static_cast<int64_t>(s.starts.size()); ++i)
    if (std::ranges::find(order, i) == order.end())
      order.push_back(i);
  if (sorted)
    std::ranges::sort(order);
  return order;
}

Shape permuted(const Shape &counts, const std::vector<int64_t> &permutation) {
  std::vector<int64_t> dims;
  for (int64_t axis : permutation)
    dims.push_back(counts[static_cast<size_t>(axis)]);
  return toShape(dims);
}

int64_t elementsOf(std::span<const int64_t> shape) {
  int64_t n = 1;
  for (int64_t s : shape)
    n *= s;
  return n;
}

Result<NodeRef> partOf(const NodeRef &x, int64_t part) {
  return node::make(part ? op::OpKind::Imag : op::OpKind::Real, {&x, 1}, {}, {}, x->device());
}

Result<NodeRef> getPlaces(const NodeRef &x, const LayoutStep &layout) {
  if (elementsOf(layout.shape) == 0)
    return node::broadcast(node::literal(0, x->dtype(), x->device()), layout.shape);
  GRAPHC_ASSIGN(NodeRef flat, node::reshape(x, Shape{elementsOf(x->shape())}));
  GRAPHC_ASSIGN(NodeRef places, placesOf(layout, x->device()));
  return node::gather(flat, {{places}, {0}, 0});
}

/// Where places overlap, the value of one of them stays.
Result<NodeRef> putPlaces(const NodeRef &x, const LayoutStep &layout, const NodeRef &value) {
  if (elementsOf(layout.shape) == 0)
    return x;
  GRAPHC_ASSIGN(NodeRef flat, node::reshape(x, Shape{elementsOf(x->shape())}));
  GRAPHC_ASSIGN(NodeRef places, placesOf(layout, x->device()));
  GRAPHC_ASSIGN(NodeRef written, node::scatter(flat, value, {{places}, {0}, 0}, {}));
  return node::reshape(written, x->shape());
}

Result<NodeRef> getStep(const NodeRef &x, const ViewStep &step) {
  if (auto *s = std::get_if<StridedStep>(&step)) {
    GRAPHC_ASSIGN(NodeRef part, node::slice(x, s->starts.vector(), s->steps.vector(), s->counts));
    GRAPHC_ASSIGN(NodeRef turned, node::transpose(part, fullPermutation(*s)));
    return node::reshape(turned, resultShape(*s));
  }
  if (auto *r = std::get_if<ReshapeStep>(&step))
    return node::reshape(x, r->to);
  if (auto *p = std::get_if<PartStep>(&step))
    return partOf(x, p->part);
  if (auto *c = std::get_if<RecastStep>(&step))
    return graphc::recast(x, c->to);
  if (auto *l = std::get_if<LayoutStep>(&step))
    return getPlaces(x, *l);
  auto &b = std::get<BroadcastStep>(step);
  return node::broadcast(x, b.to);
}

/// x with the part that `step` shows replaced by `value`.
Result<NodeRef> putStep(const NodeRef &x, const ViewStep &step, const NodeRef &value,
                        const Shape &source) {
  if (auto *s = std::get_if<StridedStep>(&step)) {
    std::vector<int64_t> order = fullPermutation(*s);
    GRAPHC_ASSIGN(NodeRef full, node::reshape(value, permuted(s->counts, order)));
    std::vector<int64_t> inverse(order.size());
    for (size_t i = 0; i < order.size(); ++i)
      inverse[static_cast<size_t>(order[i])] = static_cast<int64_t>(i);
    GRAPHC_ASSIGN(NodeRef part, node::transpose(full, std::move(inverse)));
    if (s->counts == source && std::ranges::all_of(s->steps, [](int64_t k) { return k == 1; }))
      return part;
    return node::updateSlice(x, part, s->starts.vector(), s->steps.vector());
  }
  if (std::holds_alternative<ReshapeStep>(step))
    return node::reshape(value, source);
  if (auto *p = std::get_if<PartStep>(&step)) {
    GRAPHC_ASSIGN(NodeRef other, partOf(x, 1 - p->part));
    NodeRef both[] = {p->part ? other : value, p->part ? value : other};
    return node::make(op::OpKind::Complex, both, {}, {}, x->device());
  }
  if (auto *c = std::get_if<RecastStep>(&step))
    return graphc::recast(value, c->from);
  if (auto *l = std::get_if<LayoutStep>(&step))
    return putPlaces(x, *l, value);
  return Status(ErrorCode::InvalidArgument, "[setitem] assignment destination is read-only");
}

} // namespace

void compose(StridedStep &first, const StridedStep &second) {
  const AxisList before = first.axes;
  for (size_t i = 0; i < second.starts.size(); ++i) {
    const int64_t axis = before[i];
    if (axis < 0)
      continue; // of size 1: a slice of it either keeps it or, when empty, see below
    const auto a = static_cast<size_t>(axis);
    first.starts[a] += second.starts[i] * first.steps[a];
    first.steps[a] *= second.steps[i];
    first.counts[a] = second.counts[i];
    if (first.counts[a] <= 1) // canonical form: equal parts have equal steps
      first.steps[a] = 1;
    if (first.counts[a] == 0)
      first.starts[a] = 0;
  }
  first.axes.resize(second.axes.size());
  for (size_t i = 0; i < second.axes.size(); ++i) {
    const int64_t axis = second.axes[i];
    first.axes[i] = axis < 0 ? -1 : before[static_cast<size_t>(axis)];
  }
}

bool emptiesNewAxis(const StridedStep &first, const StridedStep &second) {
  for (size_t i = 0; i < second.counts.size(); ++i)
    if (first.axes[i] < 0 && second.counts[i] != 1)
      return true;
  return false;
}

bool isIdentity(const StridedStep &s, std::span<const int64_t> source) {
  if (s.axes.size() != source.size())
    return false;
  for (size_t i = 0; i < source.size(); ++i)
    if (s.axes[i] != static_cast<int64_t>(i) || s.counts[i] != source[i] || s.steps[i] != 1)
      return false;
  return true;
}

Result<NodeRef> placesOf(const LayoutStep &layout, rt::Device &device) {
  auto number = [&](int64_t v, const Shape &shape) {
    return node::broadcast(node::literal(static_cast<uint64_t>(v), DType::Int64, device), shape);
  };
  GRAPHC_ASSIGN(NodeRef sum, number(layout.offset, {}));
  // From the last axis on: all but the last sums are of few elements, and may be computed ahead.
  constexpr int64_t kFewOf = 64;
  const int64_t all = elementsOf(layout.shape);
  for (size_t axis = layout.shape.size(); axis-- > 0;) {
    int64_t count = layout.shape[axis];
    if (count == 1 || layout.strides[axis] == 0)
      continue;
    Shape part(std::span<const int64_t>(layout.shape).subspan(axis));
    if (elementsOf(part) > all / kFewOf)
      part = layout.shape;
    std::vector<int64_t> dims(layout.shape.size() - axis, 1);
    dims[0] = count;
    GRAPHC_ASSIGN(NodeRef along,
                  node::make(op::OpKind::Iota, {}, {}, {DType::Int64, Shape{count}}, device));
    GRAPHC_ASSIGN(NodeRef stride, number(layout.strides[axis], Shape{count}));
    NodeRef factors[] = {along, stride};
    GRAPHC_ASSIGN(along, node::make(op::OpKind::Mul, factors, {}, {}, device));
    GRAPHC_ASSIGN(along, node::reshape(along, toShape(dims)));
    NodeRef terms[2];
    GRAPHC_ASSIGN(terms[0], node::broadcast(sum, part));
    GRAPHC_ASSIGN(terms[1], node::broadcast(along, part));
    GRAPHC_ASSIGN(sum, node::make(op::OpKind::Add, terms, {}, {}, device));
  }
  return node::broadcast(sum, layout.shape);
}

Shape denseStrides(std::span<const int64_t> shape) {
  Shape out;
  out.resize(shape.size());
  int64_t stride = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    out[i] = stride;
    stride *= std::max<int64_t>(shape[i], 1);
  }
  return out;
}

View::View(const Shape &base) : baseShape(base), viewShape(base), viewStrides(denseStrides(base)) {}

bool View::isContiguous() const {
  int64_t expected = 1;
  for (size_t i = viewShape.size(); i-- > 0;) {
    if (viewShape[i] != 1 && viewStrides[i] != expected)
      return std::ranges::find(viewShape, 0) != viewShape.end(); // of no elements any order is one
    expected *= viewShape[i];
  }
  return true;
}

bool View::isReshape() const {
  if (isWhole())
    return true;
  if (!layoutKnown || viewOffset != 0 || !isContiguous() || shown == DType::Bool)
    return false;
  return elementsOf(viewShape) * (shown ? itemSize(*shown) : 1) ==
         elementsOf(baseShape) * (shown ? itemSize(baseDType()) : 1);
}

std::pair<int64_t, int64_t> View::extent() const {
  int64_t low = viewOffset, high = viewOffset + 1;
  for (size_t i = 0; i < viewShape.size(); ++i) {
    if (viewShape[i] == 0)
      return {viewOffset, viewOffset};
    int64_t span = (viewShape[i] - 1) * viewStrides[i];
    (span < 0 ? low : high) += span;
  }
  return {low, high};
}

Shape View::sourceShape(size_t step) const {
  if (step == 0)
    return baseShape;
  const ViewStep &before = steps[step - 1];
  if (std::holds_alternative<PartStep>(before))
    return sourceShape(step - 1);
  if (auto *c = std::get_if<RecastStep>(&before))
    return *recastShape(sourceShape(step - 1), c->from, c->to);
  if (auto *s = std::get_if<StridedStep>(&before))
    return resultShape(*s);
  if (auto *r = std::get_if<ReshapeStep>(&before))
    return r->to;
  if (auto *l = std::get_if<LayoutStep>(&before))
    return l->shape;
  return std::get<BroadcastStep>(before).to;
}

StridedStep View::identity() const {
  StridedStep s;
  for (Shape *list : {static_cast<Shape *>(&s.starts), static_cast<Shape *>(&s.steps),
                      static_cast<Shape *>(&s.counts), static_cast<Shape *>(&s.axes)})
    list->resize(viewShape.size());
  std::ranges::fill(s.starts, 0);
  std::ranges::fill(s.steps, 1);
  std::ranges::copy(viewShape, s.counts.begin());
  std::iota(s.axes.begin(), s.axes.end(), int64_t{0});
  return s;
}

View View::withStep(StridedStep step, Shape shape, Shape strides, int64_t offset) const {
  View out;
  out.baseShape = baseShape;
  out.readOnly = readOnly;
  out.shown = shown;
  out.layoutKnown = layoutKnown;
  if (steps.empty()) {
    if (!isIdentity(step, baseShape))
      out.steps.emplace_back(std::move(step));
    out.viewShape = std::move(shape);
    out.viewStrides = std::move(strides);
    out.viewOffset = offset;
    return out;
  }
  out.steps.reserve(steps.size() + 1); // once
  out.steps.insert(out.steps.end(), steps.begin(), steps.end());
  auto *last = std::get_if<StridedStep>(&out.steps.back());
  if (last && !emptiesNewAxis(*last, step))
    compose(*last, step);
  else
    out.steps.emplace_back(std::move(step));
  size_t top = out.steps.size() - 1;
  if (isIdentity(std::get<StridedStep>(out.steps[top]), out.sourceShape(top)))
    out.steps.pop_back();
  out.viewShape = std::move(shape);
  out.viewStrides = std::move(strides);
  out.viewOffset = offset;
  return out;
}

View View::transpose(std::span<const int64_t> permutation) const {
  View out;
  transpose(permutation, out);
  return out;
}

void View::transpose(std::span<const int64_t> permutation, View &out) const {
  Shape shape, strides;
  shape.resize(permutation.size());
  strides.resize(permutation.size());
  for (size_t i = 0; i < permutation.size(); ++i) {
    shape[i] = viewShape[static_cast<size_t>(permutation[i])];
    strides[i] = viewStrides[static_cast<size_t>(permutation[i])];
  }
  if (!steps.empty()) {
    StridedStep step = identity();
    step.axes.assign(permutation);
    out = withStep(std::move(step), std::move(shape), std::move(strides), viewOffset);
    return;
  }
  StridedStep &step = begin(out); // made where it stays
  step.counts.assign(viewShape);
  step.starts.resize(permutation.size());
  step.steps.resize(permutation.size());
  std::ranges::fill(step.starts, 0);
  std::ranges::fill(step.steps, 1);
  step.axes.assign(permutation);
  if (std::ranges::is_sorted(permutation))
    out.steps.clear();
  out.viewShape = std::move(shape);
  out.viewStrides = std::move(strides);
  out.viewOffset = viewOffset;
}

StridedStep &View::begin(View &out) const {
  out.baseShape = baseShape;
  out.readOnly = readOnly;
  out.shown = shown;
  out.layoutKnown = layoutKnown;
  if (out.steps.size() != 1 || !std::holds_alternative<StridedStep>(out.steps[0])) {
    out.steps.clear();
    out.steps.emplace_back(std::in_place_type<StridedStep>);
  }
  return std::get<StridedStep>(out.steps[0]);
}

View View::expand(std::span<const int64_t> axes) const {
  StridedStep step = identity();
  AxisList dims(viewShape), strides(viewStrides);
  for (int64_t axis : axes) {
    auto at = static_cast<size_t>(axis);
    step.axes.insert(at, -1);
    dims.insert(at, 1);
    strides.insert(at, 0);
  }
  return withStep(std::move(step), dims, strides, viewOffset);
}

View View::squeeze(std::span<const int64_t> axes) const {
  StridedStep step = identity();
  AxisList dims, strides;
  step.axes.clear();
  for (int64_t i = 0; i < viewShape.rank(); ++i) {
    if (std::ranges::find(axes, i) != axes.end())
      continue;
    step.axes.push_back(i);
    dims.push_back(viewShape[static_cast<size_t>(i)]);
    strides.push_back(viewStrides[static_cast<size_t>(i)]);
  }
  return withStep(std::move(step), dims, strides, viewOffset);
}

View View::flip(std::span<const int64_t> axes) const {
  StridedStep step = identity();
  Shape strides = viewStrides;
  int64_t offset = viewOffset;
  for (int64_t axis : axes) {
    auto a = static_cast<size_t>(axis);
    if (viewShape[a] <= 1)
      continue;
    step.starts[a] = viewShape[a] - 1;
    step.steps[a] = -1;
    offset += (viewShape[a] - 1) * viewStrides[a];
    strides[a] = -viewStrides[a];
  }
  return withStep(std::move(step), viewShape, std::move(strides), offset);
}

View View::broadcast(const Shape &to) const {
  if (to == viewShape) {
    View same = *this;
    same.readOnly = true;
    return same;
  }
  View out = *this;
  size_t skip = to.size() - viewShape.size();
  std::vector<int64_t> strides(to.size(), 0);
  for (size_t i = 0; i < viewShape.size(); ++i)
    strides[skip + i] = viewShape[i] == to[skip + i] ? viewStrides[i] : 0;
  out.steps.emplace_back(BroadcastStep{to});
  out.viewShape = to;
  out.viewStrides = toShape(strides);
  out.readOnly = true;
  return out;
}

/// The strides of axes of sizes `to` that show the elements (there are some) of a view that is not
/// dense, by NumPy's rule; nothing where it would copy.
static std::optional<Shape> cutAnew(const Shape &viewShape, const Shape &viewStrides,
                                    const Shape &to) {
  // Axes of size 1 have no layout. Runs of axes that lie dense in each other can be cut anew.
  std::vector<std::pair<int64_t, int64_t>> old; // size, stride
  for (size_t i = 0; i < viewShape.size(); ++i)
    if (viewShape[i] != 1)
      old.emplace_back(viewShape[i], viewStrides[i]);
  std::vector<int64_t> strides(to.size(), 0);
  size_t oi = 0, ni = 0;
  while (oi < old.size() && ni < to.size()) {
    int64_t np = to[ni], op = old[oi].first;
    size_t oj = oi + 1, nj = ni + 1;
    while (np != op) {
      if (np < op)
        np *= to[nj++];
      else
        op *= old[oj++].first;
    }
    for (size_t k = oi; k + 1 < oj; ++k)
      if (old[k].second != old[k + 1].first * old[k + 1].second)
        return std::nullopt;
    int64_t stride = old[oj - 1].second;
    for (size_t k = nj; k-- > ni;) {
      strides[k] = stride;
      stride *= to[k];
    }
    oi = oj;
    ni = nj;
  }
  // Axes of size 1 behind them count on, as NumPy's do.
  for (size_t k = ni; k < to.size(); ++k)
    strides[k] = ni > 0 ? strides[ni - 1] : 1;
  return toShape(strides);
}

std::optional<View> View::reshape(const Shape &to) const {
  if (to == viewShape)
    return *this;
  std::optional<Shape> strides = denseStrides(to); // of what is dense, or has no elements
  if (!isContiguous())
    strides = cutAnew(viewShape, viewStrides, to);
  if (!strides)
    return std::nullopt;
  View out = *this;
  if (!out.steps.empty() && std::holds_alternative<ReshapeStep>(out.steps.back()))
    out.steps.pop_back();
  if (!(out.sourceShape(out.steps.size()) == to))
    out.steps.emplace_back(ReshapeStep{to});
  out.viewShape = to;
  out.viewStrides = *std::move(strides);
  return out;
}

View View::part(int64_t number, DType of) const {
  View out = *this;
  out.steps.emplace_back(PartStep{number, of});
  for (int64_t &stride : out.viewStrides)
    stride *= 2;
  out.viewOffset = 2 * out.viewOffset + number;
  out.shown = realDType(of);
  return out;
}

Result<View> View::recast(DType from, DType to) const {
  bool hasGaps = layoutKnown && viewShape.rank() > 0 && elementsOf(viewShape) > 0 &&
                 viewShape[viewShape.size() - 1] != 1 && viewStrides[viewStrides.size() - 1] != 1;
  if (itemSize(from) != itemSize(to) && hasGaps)
    return Status(ErrorCode::InvalidArgument,
                  "[view] To change to a dtype of a different size, the "
                  "last axis must be contiguous");
  GRAPHC_TRY(recastShape(viewShape, from, to).takeStatus());
  return withRecast({from, to});
}

View View::withRecast(RecastStep step) const {
  View out = *this;
  out.steps.emplace_back(step);
  out.shown = step.to;
  out.readOnly |= step.from == DType::Bool; // of which there are two: other bytes have no place
  int64_t old = itemSize(step.from), now = itemSize(step.to);
  if (old == now)
    return out;
  out.viewShape = *recastShape(viewShape, step.from, step.to);
  size_t last = viewShape.size() - 1;
  out.layoutKnown &= viewShape[last] == 1 || viewStrides[last] == 1 || elementsOf(viewShape) == 0;
  auto rescale = [&](int64_t &count) {
    out.layoutKnown &= count * old % now == 0;
    count = count * old / now;
  };
  rescale(out.viewOffset);
  for (size_t i = 0; i < last; ++i)
    rescale(out.viewStrides[i]);
  out.viewStrides[last] = 1;
  return out;
}

View View::then(const View &inner) const {
  View out = *this;
  for (const ViewStep &step : inner.steps) {
    if (auto *s = std::get_if<StridedStep>(&step)) {
      std::vector<int64_t> strides;
      int64_t offset = out.viewOffset;
      for (size_t i = 0; i < s->starts.size(); ++i)
        offset += s->starts[i] * out.viewStrides[i];
      for (int64_t axis : s->axes)
        strides.push_back(axis < 0 ? 0
                                   : out.viewStrides[static_cast<size_t>(axis)] *
                                         s->steps[static_cast<size_t>(axis)]);
      out = out.withStep(*s, resultShape(*s), toShape(strides), offset);
    } else if (auto *r = std::get_if<ReshapeStep>(&step)) {
      if (auto reshaped = out.reshape(r->to)) {
        out = *std::move(reshaped);
      } else {
        out.steps.push_back(step);
        out.viewStrides = denseStrides(r->to);
        out.layoutKnown = false;
        out.viewShape = r->to;
      }
    } else if (auto *p = std::get_if<PartStep>(&step)) {
      out = out.part(p->part, p->of);
    } else if (auto *c = std::get_if<RecastStep>(&step)) {
      out = out.withRecast(*c);
    } else if (auto *l = std::get_if<LayoutStep>(&step)) {
      out.steps.push_back(step); // its base is dense: what this view shows, not where that lies
      out.viewShape = l->shape;
      out.viewStrides = l->strides;
      out.viewOffset = l->offset;
      out.layoutKnown = isWhole();
    } else {
      out = out.broadcast(std::get<BroadcastStep>(step).to);
    }
  }
  return out;
}

std::optional<View> View::strided(const Shape &to, const Shape &strides, int64_t offset) const {
  View out(baseShape);
  int64_t count = elementsOf(baseShape);
  if (shown) {
    DType base = baseDType();
    if (count * itemSize(base) % itemSize(*shown) != 0)
      return std::nullopt;
    out = out.reshape(Shape{count})->withRecast({base, *shown});
    count = out.viewShape[0];
  }
  out.viewShape = to;
  out.viewStrides = strides;
  out.viewOffset = offset;
  out.readOnly = readOnly;
  auto [low, high] = out.extent();
  if (low < high && (low < 0 || high > count))
    return std::nullopt;
  out.steps.emplace_back(LayoutStep{to, strides, offset});
  return out;
}

DType View::baseDType() const {
  for (const ViewStep &step : steps) {
    if (auto *p = std::get_if<PartStep>(&step))
      return p->of;
    if (auto *c = std::get_if<RecastStep>(&step))
      return c->from;
  }
  return *shown; // what only a step of those sets
}

bool View::isByLayout() const {
  return !steps.empty() && std::holds_alternative<LayoutStep>(steps.front()) && layoutKnown &&
         !shown;
}

Result<NodeRef> View::get(NodeRef base) const {
  if (isByLayout())
    return getStep(base, LayoutStep{viewShape, viewStrides, viewOffset});
  for (const ViewStep &step : steps) {
    GRAPHC_ASSIGN(base, getStep(base, step));
  }
  return base;
}

Status View::mayBeWritten() const {
  return readOnly
             ? Status(ErrorCode::InvalidArgument, "[setitem] assignment destination is read-only")
             : Status::ok();
}

Result<NodeRef> View::put(NodeRef base, NodeRef value) const {
  GRAPHC_TRY(mayBeWritten());
  if (isByLayout())
    return putStep(base, LayoutStep{viewShape, viewStrides, viewOffset}, value, baseShape);
  // Down the chain for the sources, then up: each step replaces its part of its source.
  std::vector<NodeRef> sources{base};
  for (size_t i = 0; i + 1 < steps.size(); ++i) {
    GRAPHC_ASSIGN(NodeRef next, getStep(sources.back(), steps[i]));
    sources.push_back(std::move(next));
  }
  for (size_t i = steps.size(); i-- > 0;) {
    GRAPHC_ASSIGN(value, putStep(sources[i], steps[i], value, sourceShape(i)));
  }
  return value;
}

} // namespace graphc
