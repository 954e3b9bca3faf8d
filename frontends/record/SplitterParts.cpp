// What the pieces of a pass are made of: nodes once more on strips of their operands, and what a
// reduction leaves of a piece, by blocks of its tree.
#include "frontends/record/Record.h"
#include "frontends/record/Session.h"
#include "frontends/record/Splitter.h"

namespace graphc {

using op::OpKind;
using op::ReduceKind;
using pieces::at;
using pieces::Fold;
using pieces::Root;
using pieces::Strip;
using pieces::withSize;

Shape Splitter::joined(std::initializer_list<std::span<const int64_t>> parts) {
  std::vector<int64_t> all;
  for (std::span<const int64_t> part : parts)
    all.insert(all.end(), part.begin(), part.end());
  return Shape(all);
}

Result<NodeRef> Splitter::reduce(const Node &like, ReduceKind kind, const NodeRef &x,
                                 std::vector<int64_t> axes, DType dtype) {
  if (axes.empty())
    return x;
  op::ReduceAttrs attrs{static_cast<int64_t>(kind), std::move(axes)};
  op::TensorView view{x->dtype(), x->shape()};
  std::vector<int64_t> words = attrs.encode();
  GRAPHC_ASSIGN(op::TensorType type,
                op::infer(OpKind::Reduce, {&view, 1}, words, op::TensorType{dtype, {}}));
  auto found = errors.find(&like);
  return Node::makeOp(OpKind::Reduce, {&x, 1}, std::move(words), std::move(type), device,
                      like.location(), found == errors.end() ? 0 : found->second);
}

/// The group of a fold as one axis of the strip, the axes behind it as the fold leaves them.
Result<NodeRef> Splitter::grouped(const Root &root, NodeRef x, int64_t length) {
  const Fold &fold = *root.fold;
  DType dtype = root.node->dtype();
  if (isNarrowFloat(dtype)) {
    dtype = DType::Float32;
    GRAPHC_ASSIGN(x, node::cast(x, dtype));
  }
  // Axes of size 1 leave first, but the streamed one stays.
  std::vector<int64_t> squeezed;
  const Shape &whole = root.strip.node->shape();
  for (int64_t i = 0; i < whole.rank(); ++i)
    if (whole[at(i)] > 1)
      squeezed.push_back(x->shape()[at(i)]);
  GRAPHC_ASSIGN(x, node::reshape(x, Shape(squeezed)));
  int64_t taken = 1;
  size_t last = at(fold.before.rank());
  while (taken < length && last < squeezed.size())
    taken *= squeezed[last++];
  const int64_t sizes[] = {length};
  GRAPHC_ASSIGN(x,
                node::reshape(x, joined({fold.before, sizes, std::span(squeezed).subspan(last)})));
  return reduce(*root.node, fold.kind, x, fold.inner, dtype);
}

/// The strip itself, or the results of its blocks. What is no whole block goes before the next
/// piece, and is one after the last.
Status Splitter::partsOf(const Root &root, NodeRef x, int64_t units, bool isLast, Parts &parts) {
  if (!root.fold) {
    parts.results.push_back(std::move(x));
    return Status::ok();
  }
  const Fold &fold = *root.fold;
  GRAPHC_ASSIGN(x, grouped(root, std::move(x), units * fold.each));
  int64_t axis = fold.before.rank();
  if (parts.rest) {
    NodeRef both[] = {std::move(parts.rest), x};
    op::ConcatenateAttrs attrs{axis};
    GRAPHC_ASSIGN(x, node::make(OpKind::Concatenate, both, attrs.encode(), {}, device));
    parts.rest = nullptr;
  }
  int64_t length = x->shape()[at(axis)], block = fold.block ? fold.block : length;
  int64_t full = length / block * block;
  auto cut = [&](int64_t from, int64_t count) {
    std::vector<int64_t> starts(x->shape().size(), 0), steps(x->shape().size(), 1);
    starts[at(axis)] = from;
    return node::slice(x, starts, steps, withSize(x->shape(), axis, count));
  };
  auto foldPart = [&](NodeRef y, int64_t each) -> Status {
    const int64_t sizes[] = {y->shape()[at(axis)] / each, each};
    GRAPHC_ASSIGN(y, node::reshape(y, joined({fold.before, sizes, fold.after})));
    GRAPHC_ASSIGN(y, reduce(*root.node, fold.kind, y, {axis + 1}, x->dtype()));
    parts.results.push_back(std::move(y));
    return Status::ok();
  };
  if (full > 0) {
    GRAPHC_ASSIGN(NodeRef blocks, cut(0, full));
    GRAPHC_TRY(foldPart(std::move(blocks), block));
  }
  if (full == length)
    return Status::ok();
  GRAPHC_ASSIGN(NodeRef tail, cut(full, length - full));
  if (isLast)
    return foldPart(std::move(tail), length - full);
  parts.rest = std::move(tail);
  return Status::ok();
}

/// Puts together what the pieces left.
Status Splitter::finishFold(const Root &root, Collected &parts) {
  if (!root.fold) {
    publish(root.node, std::move(parts.buffer));
    return Status::ok();
  }
  const Fold &fold = *root.fold;
  rt::Tensor t{std::move(parts.buffer), parts.dtype, parts.shape};
  GRAPHC_TRY(bringTo(device, {&t, 1}));
  NodeRef x = Node::makeReady({t.dtype, t.shape}, device, std::move(t.buffer));
  GRAPHC_ASSIGN(x, reduce(*root.node, fold.kind, x, {fold.before.rank()}, parts.dtype));
  GRAPHC_ASSIGN(x, reduce(*root.node, fold.kind, x, fold.outer, parts.dtype));
  op::ReduceAttrs attrs;
  if (attrs.decode(root.node->attrs()) && static_cast<ReduceKind>(attrs.kind) == ReduceKind::Mean) {
    int64_t count = 1;
    for (int64_t axis : attrs.axes)
      count *= root.node->operands()[0]->shape()[at(axis)];
    GRAPHC_ASSIGN(NodeRef by, node::scalar(op::Scalar::ofFloat(static_cast<double>(count)),
                                           x->dtype(), device));
    GRAPHC_ASSIGN(by, node::broadcast(by, x->shape()));
    NodeRef both[] = {x, by};
    GRAPHC_ASSIGN(x, node::make(OpKind::Div, both, {}, {}, device));
  }
  GRAPHC_ASSIGN(x, node::cast(x, root.node->dtype()));
  GRAPHC_ASSIGN(x, node::reshape(x, root.node->shape()));
  PieceScope scope;
  GRAPHC_TRY(computeNow({&x, 1}, device));
  publish(root.node, x->buffer());
  return Status::ok();
}

Result<NodeRef> Splitter::placeOf(const NodeRef &n) {
  op::ReduceAttrs attrs;
  if (n->kind() != OpKind::Reduce || !attrs.decode(n->attrs()) || attrs.axes.size() != 1)
    return NodeRef();
  auto kind = static_cast<ReduceKind>(attrs.kind);
  if (kind != ReduceKind::ArgMin && kind != ReduceKind::ArgMax)
    return NodeRef();
  GRAPHC_ASSIGN(NodeRef made, firstOf(n, attrs.axes[0], kind == ReduceKind::ArgMin));
  std::vector<NodeRef> fresh = {made};
  while (!fresh.empty()) {
    NodeRef next = std::move(fresh.back());
    fresh.pop_back();
    if (byNode.emplace(next.get(), next).second && !isDone(next))
      fresh.insert(fresh.end(), next->operands().begin(), next->operands().end());
  }
  return made;
}

/// The least of the places at which the extreme is, which is NaN where there is one.
Result<NodeRef> Splitter::firstOf(const NodeRef &n, int64_t axis, bool least) {
  NodeRef x = n->operands()[0];
  auto make = [&](OpKind kind, std::initializer_list<NodeRef> operands) {
    return node::make(kind, {operands.begin(), operands.size()}, {}, {}, device);
  };
  if (x->dtype() == DType::Bool) {
    GRAPHC_ASSIGN(x, node::cast(x, DType::UInt8));
  }
  const Shape &shape = x->shape();
  GRAPHC_ASSIGN(NodeRef most,
                reduce(*n, least ? ReduceKind::Min : ReduceKind::Max, x, {axis}, x->dtype()));
  GRAPHC_ASSIGN(most, node::reshape(most, withSize(shape, axis, 1)));
  GRAPHC_ASSIGN(most, node::broadcast(most, shape));
  GRAPHC_ASSIGN(NodeRef isThere, make(OpKind::Equal, {x, most}));
  if (isInexact(x->dtype())) {
    GRAPHC_ASSIGN(NodeRef isNan, make(OpKind::IsNan, {x}));
    GRAPHC_ASSIGN(isThere, make(OpKind::LogicalOr, {isThere, isNan}));
  }
  const int64_t count[] = {shape[at(axis)]};
  GRAPHC_ASSIGN(NodeRef place,
                node::make(OpKind::Iota, {}, {}, {DType::Int64, Shape(count)}, device));
  Shape alone = shape;
  for (int64_t i = 0; i < shape.rank(); ++i)
    alone[at(i)] = i == axis ? count[0] : 1;
  GRAPHC_ASSIGN(place, node::reshape(place, alone));
  GRAPHC_ASSIGN(place, node::broadcast(place, shape));
  GRAPHC_ASSIGN(NodeRef none, node::scalar(op::Scalar::ofInt(count[0]), DType::Int64, device));
  GRAPHC_ASSIGN(none, node::broadcast(none, shape));
  GRAPHC_ASSIGN(place, make(OpKind::Select, {isThere, place, none}));
  GRAPHC_ASSIGN(place, reduce(*n, ReduceKind::Min, place, {axis}, DType::Int64));
  return node::cast(place, n->dtype());
}

/// The node once more on other operands; `shape` is that of what it gives where it is not inferred.
Result<NodeRef> Splitter::remade(const Node &n, std::span<const NodeRef> operands,
                                 const Shape &shape, std::vector<int64_t> attrs) {
  std::vector<op::TensorView> views;
  for (const NodeRef &o : operands)
    views.push_back({o->dtype(), o->shape()});
  GRAPHC_ASSIGN(op::TensorType type,
                op::infer(n.kind(), views, attrs, op::TensorType{n.dtype(), shape}));
  auto found = errors.find(&n);
  NodeRef made = Node::makeOp(n.kind(), operands, std::move(attrs), std::move(type), device,
                              n.location(), found == errors.end() ? 0 : found->second);
  return made;
}

/// A value that is needed whole, on the device or made there again.
Result<NodeRef> Splitter::whole(const NodeRef &n) {
  if (auto it = wholes.find(n.get()); it != wholes.end())
    return it->second;
  if (isDone(n)) {
    rt::Tensor t = tensorOf(*n);
    GRAPHC_TRY(bringTo(device, {&t, 1}));
    return wholes[n.get()] = Node::makeReady({t.dtype, t.shape}, device, std::move(t.buffer));
  }
  std::vector<int64_t> attrs(n->attrs().begin(), n->attrs().end());
  if (n->kind() == OpKind::Extent) {
    op::ExtentAttrs extent;
    if (!extent.decode(attrs))
      return Status(ErrorCode::Internal, "[record] attributes of extent");
    __int128 count = 1;
    for (int64_t axis : extent.axes)
      count *= n->operands()[0]->shape()[at(axis)];
    op::Scalar size = op::Scalar::ofInt(count);
    GRAPHC_ASSIGN(uint64_t bits,
                  op::literalBits(isFloat(n->dtype()) ? op::Scalar::ofFloat(static_cast<double>(
                                                            static_cast<int64_t>(count)))
                                                      : size,
                                  n->dtype()));
    return wholes[n.get()] = Node::makeKnown(bits, n->dtype(), device);
  }
  std::vector<NodeRef> operands;
  for (const NodeRef &o : n->operands()) {
    GRAPHC_ASSIGN(NodeRef made, whole(o));
    operands.push_back(std::move(made));
  }
  GRAPHC_ASSIGN(NodeRef made, remade(*n, operands, n->shape(), std::move(attrs)));
  return wholes[n.get()] = made;
}

/// Counting from somewhere else than 0; the conversion to the dtype comes last, as it does there.
Result<NodeRef> Splitter::iota(const Node &n, int64_t begin, int64_t end) {
  GRAPHC_ASSIGN(NodeRef x,
                node::make(OpKind::Iota, {}, {}, {DType::Int64, Shape{end - begin}}, device));
  NodeRef from = Node::makeKnown(static_cast<uint64_t>(begin), DType::Int64, device);
  GRAPHC_ASSIGN(from, node::broadcast(from, x->shape()));
  NodeRef both[] = {x, from};
  GRAPHC_ASSIGN(x, node::make(OpKind::Add, both, {}, {}, device));
  return node::cast(x, n.dtype());
}

/// What the pass's units [begin, end) need of a node.
Result<NodeRef> Splitter::strip(const Strip &s, int64_t begin, int64_t end, Memo &memo) {
  if (auto it = memo.find(s); it != memo.end())
    return it->second;
  int64_t from = s.begin(begin), to = s.begin(end);
  const NodeRef &n = byNode.at(s.node);
  if (n->state() == NodeState::Ready) {
    std::vector<int64_t> starts(n->shape().size(), 0), steps(n->shape().size(), 1);
    starts[at(s.axis)] = from;
    GRAPHC_ASSIGN(NodeRef made,
                  node::slice(n, starts, steps, withSize(n->shape(), s.axis, to - from)));
    return memo[s] = made;
  }
  if (n->kind() == OpKind::Iota) {
    GRAPHC_ASSIGN(NodeRef made, iota(*n, from, to));
    return memo[s] = made;
  }
  pieces::OperandStrips needs;
  if (!pieces::stripsOfOperands(s, needs))
    return Status(ErrorCode::Internal, "[record] a strip that was found is none");
  std::vector<NodeRef> operands;
  for (size_t i = 0; i < needs.strips.size(); ++i) {
    const std::optional<Strip> &part = needs.strips[i];
    GRAPHC_ASSIGN(NodeRef made, part ? strip(*part, begin, end, memo) : whole(n->operands()[i]));
    operands.push_back(std::move(made));
  }
  std::vector<int64_t> attrs(n->attrs().begin(), n->attrs().end());
  op::SliceAttrs slice;
  if (n->kind() == OpKind::Slice && slice.decode(attrs)) {
    slice.starts[at(s.axis)] = 0; // the strip begins where the slice does
    attrs = slice.encode();
  }
  GRAPHC_ASSIGN(NodeRef made,
                remade(*n, operands, withSize(n->shape(), s.axis, to - from), std::move(attrs)));
  return memo[s] = made;
}

} // namespace graphc
