#include "frontends/record/PiecePlan.h"

#include <algorithm>
#include <numeric>
#include <unordered_map>

namespace graphc::pieces {
namespace {

using op::OpKind;
using op::ReduceKind;

/// Blocks of the canonical trees (docs/numerics.md).
constexpr int64_t kLaneBlock = 8192, kRowBlock = 32;

int64_t product(std::span<const int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies());
}

size_t at(int64_t axis) { return static_cast<size_t>(axis); }

bool contains(const std::vector<int64_t> &list, int64_t value) {
  return std::ranges::find(list, value) != list.end();
}

/// What one node needs of its operands for a strip of it.
class Rule {
public:
  Rule(const Strip &of, OperandStrips &out) : n(*of.node), of(of), out(out) {
    out.strips.assign(n.operands().size(), std::nullopt);
  }
  bool find();

private:
  bool movement();
  bool reshape();
  bool gather();
  bool take(size_t operand, int64_t axis) {
    out.strips[operand] = Strip{n.operands()[operand].get(), axis, of.scale, of.offset};
    return true;
  }
  bool takeAll() {
    for (size_t i = 0; i < n.operands().size(); ++i)
      take(i, of.axis);
    return true;
  }

  const Node &n;
  const Strip &of;
  OperandStrips &out;
};

bool Rule::find() {
  int64_t rank = n.shape().rank();
  switch (op::opInfo(n.kind()).category) {
  case op::Category::Elementwise:
    return takeAll();
  case op::Category::Generator:
    return n.kind() == OpKind::Iota;
  case op::Category::Reduction: {
    op::ReduceAttrs attrs;
    if (!attrs.decode(n.attrs()))
      return false;
    int64_t kept = of.axis;
    for (int64_t reduced : attrs.axes)
      kept += reduced <= kept;
    return take(0, kept);
  }
  case op::Category::Scan: {
    op::ScanAttrs attrs;
    return attrs.decode(n.attrs()) && attrs.axis != of.axis && take(0, of.axis);
  }
  case op::Category::Contraction:
    if (of.axis < rank - 2)
      return takeAll();
    return take(of.axis == rank - 2 ? 0 : 1, of.axis);
  default:
    return movement();
  }
}

bool Rule::movement() {
  switch (n.kind()) {
  case OpKind::Broadcast: {
    op::BroadcastAttrs attrs;
    if (!attrs.decode(n.attrs()))
      return false;
    auto from = std::ranges::find(attrs.dims, of.axis);
    auto own = static_cast<size_t>(from - attrs.dims.begin());
    bool repeats =
        from == attrs.dims.end() || n.operands()[0]->shape()[own] != n.shape()[at(of.axis)];
    return repeats || take(0, static_cast<int64_t>(own));
  }
  case OpKind::Transpose: {
    op::TransposeAttrs attrs;
    return attrs.decode(n.attrs()) && take(0, attrs.permutation[at(of.axis)]);
  }
  case OpKind::Reshape:
    return reshape();
  case OpKind::Slice: {
    op::SliceAttrs attrs;
    if (!attrs.decode(n.attrs()) || attrs.steps[at(of.axis)] != 1)
      return false;
    take(0, of.axis);
    out.strips[0]->offset += attrs.starts[at(of.axis)];
    return true;
  }
  case OpKind::Flip: {
    op::FlipAttrs attrs;
    return attrs.decode(n.attrs()) && !contains(attrs.axes, of.axis) && take(0, of.axis);
  }
  case OpKind::Concatenate: {
    op::ConcatenateAttrs attrs;
    return attrs.decode(n.attrs()) && attrs.axis != of.axis && takeAll();
  }
  case OpKind::UpdateSlice: {
    op::UpdateSliceAttrs attrs;
    return attrs.decode(n.attrs()) && attrs.starts[at(of.axis)] == 0 &&
           attrs.steps[at(of.axis)] == 1 &&
           n.operands()[1]->shape()[at(of.axis)] == n.shape()[at(of.axis)] && takeAll();
  }
  case OpKind::Gather:
    return gather();
  default:
    return false;
  }
}

/// The axis of the operand that begins where this one does, counted in elements from the front.
bool Rule::reshape() {
  std::span<const int64_t> to = n.shape(), from = n.operands()[0]->shape();
  int64_t front = product(to.subspan(0, at(of.axis)));
  int64_t behind = product(to.subspan(at(of.axis) + 1));
  int64_t passed = 1;
  for (size_t own = 0; own < from.size(); ++own) {
    bool begins = passed == front && (from[own] > 1 || to[at(of.axis)] == 1);
    passed *= from[own];
    if (!begins)
      continue;
    int64_t step = product(from.subspan(own + 1));
    if (from[own] * step != to[at(of.axis)] * behind)
      return false;
    if (of.scale * behind % step != 0)
      out.wantedScale = step / std::gcd(of.scale * behind, step);
    if (out.wantedScale != 1 || of.offset * behind % step != 0)
      return false;
    out.strips[0] = Strip{n.operands()[0].get(), static_cast<int64_t>(own),
                          of.scale * behind / step, of.offset * behind / step};
    return true;
  }
  return false;
}

bool Rule::gather() {
  op::GatherAttrs attrs;
  if (!attrs.decode(n.attrs()))
    return false;
  size_t indices = n.operands().size() - 1;
  int64_t rank = indices ? n.operands()[1]->shape().rank() : 0;
  if (of.axis >= attrs.position && of.axis < attrs.position + rank) {
    for (size_t i = 1; i <= indices; ++i)
      take(i, of.axis - attrs.position);
    return true;
  }
  int64_t kept = of.axis < attrs.position ? of.axis : of.axis - rank;
  for (int64_t taken : attrs.axes)
    kept += taken <= kept;
  return take(0, kept);
}

/// Follows one strip of a root to everything it needs.
struct Follower {
  Analysis &out;
  Blocker blocker = nullptr;
  int64_t wantedScale = 1; ///< a scale that is a multiple of this might do

  bool follow(const Strip &s) {
    if (!out.strips.insert(s).second || s.node->state() == NodeState::Ready)
      return true;
    OperandStrips needs;
    if (!stripsOfOperands(s, needs)) {
      blocker = s.node;
      wantedScale = needs.wantedScale;
      return false;
    }
    for (size_t i = 0; i < needs.strips.size(); ++i) {
      if (!needs.strips[i])
        out.wholes.insert(s.node->operands()[i].get());
      else if (!follow(*needs.strips[i]))
        return false;
    }
    return true;
  }
};

/// What a reduction along `axis` of its operand, in units of `scale` of its elements, puts
/// together; nothing when the tree does not allow it.
std::optional<Fold> foldOf(const Node &n, const op::ReduceAttrs &attrs, int64_t axis,
                           int64_t scale) {
  Fold fold;
  fold.kind = static_cast<ReduceKind>(attrs.kind);
  if (fold.kind == ReduceKind::ArgMin || fold.kind == ReduceKind::ArgMax)
    return std::nullopt;
  bool isTree =
      isInexact(n.dtype()) && (fold.kind == ReduceKind::Sum || fold.kind == ReduceKind::Prod ||
                               fold.kind == ReduceKind::Mean);
  if (isComplex(n.dtype()) && fold.kind != ReduceKind::Sum)
    return std::nullopt;
  if (fold.kind == ReduceKind::Mean)
    fold.kind = ReduceKind::Sum;
  std::span<const int64_t> shape = n.operands()[0]->shape();
  std::vector<int64_t> before, after;
  bool inGroup = false, isLast = false;
  int64_t inside = 1, behind = 0; // axes behind the group so far
  for (size_t i = 0; i < shape.size(); ++i) {
    auto own = static_cast<int64_t>(i);
    bool reduced = contains(attrs.axes, own);
    if (shape[i] == 1)
      continue;
    if (own < axis) {
      if (reduced)
        fold.outer.push_back(static_cast<int64_t>(before.size()));
      before.push_back(shape[i]);
      continue;
    }
    if (own == axis) {
      // The group must begin here: its elements are taken in row-major order.
      if (!fold.outer.empty() && fold.outer.back() == static_cast<int64_t>(before.size()) - 1)
        return std::nullopt;
      inGroup = isLast = true;
    } else if (inGroup && reduced && behind == 0) {
      inside *= shape[i];
    } else {
      isLast = false;
      if (reduced)
        fold.inner.push_back(static_cast<int64_t>(before.size()) + 1 + behind);
      else
        after.push_back(shape[i]);
      ++behind;
    }
  }
  fold.before = Shape(before);
  fold.after = Shape(after);
  fold.each = scale * inside;
  if (isTree) {
    // Two levels of the row tree, where there are rows enough, keep what is put together small.
    int64_t rows = shape[at(axis)] * inside;
    fold.block = isLast ? kLaneBlock
                        : (rows >= 64 * kRowBlock * kRowBlock ? kRowBlock * kRowBlock : kRowBlock);
  }
  return fold;
}

/// Whether strips of ready nodes lie in one piece of memory.
bool inOrder(const Analysis &a) {
  return std::ranges::all_of(a.strips, [](const Strip &s) {
    return s.node->state() != NodeState::Ready ||
           product(std::span<const int64_t>(s.node->shape()).subspan(0, at(s.axis))) == 1;
  });
}

std::optional<Analysis> analyse(const NodeRef &node, const NodeRef &from, int64_t axis,
                                const op::ReduceAttrs *attrs, Blocker &blocker) {
  int64_t extent = from->shape()[at(axis)], scale = 1;
  for (int attempt = 0; attempt < 4; ++attempt) {
    Analysis a;
    a.root = {node, {from.get(), axis, scale, 0}, std::nullopt};
    a.units = extent / scale;
    Follower follower{a};
    if (attrs) {
      a.root.fold = foldOf(*node, *attrs, axis, scale);
      if (!a.root.fold) {
        blocker = node.get();
        return std::nullopt;
      }
      if (a.root.fold->block > 0)
        a.align = a.root.fold->block / std::gcd(a.root.fold->block, a.root.fold->each);
    }
    if (follower.follow(a.root.strip))
      return a;
    blocker = follower.blocker;
    scale *= follower.wantedScale;
    if (follower.wantedScale == 1 || extent % scale != 0)
      break;
  }
  return std::nullopt;
}

} // namespace

bool stripsOfOperands(const Strip &of, OperandStrips &out) { return Rule(of, out).find(); }

int64_t Fold::blocks(int64_t units) const {
  return block ? (units * each + block - 1) / block : int64_t{units > 0};
}

std::vector<Analysis> waysToSplit(const NodeRef &node, Blocker &blocker) {
  auto price = [](const Analysis &a) {
    int64_t bytes = 0;
    for (const Node *n : a.wholes)
      bytes += n->bytes();
    return std::pair(!inOrder(a), bytes);
  };
  std::vector<Analysis> ways;
  auto consider = [&](const NodeRef &from, int64_t axis, const op::ReduceAttrs *attrs) {
    if (from->shape()[at(axis)] == 0)
      return;
    if (auto a = analyse(node, from, axis, attrs, blocker)) {
      auto place = std::ranges::upper_bound(ways, price(*a), {}, price);
      ways.insert(place, std::move(*a));
    }
  };
  for (int64_t axis = 0; axis < node->shape().rank(); ++axis)
    consider(node, axis, nullptr);
  op::ReduceAttrs attrs;
  if (node->kind() == OpKind::Reduce && attrs.decode(node->attrs()))
    for (int64_t axis : attrs.axes)
      consider(node->operands()[0], axis, &attrs);
  return ways;
}

int64_t bytesOf(const Strip &strip) {
  return strip.node->bytes() / strip.node->shape()[at(strip.axis)] * strip.scale;
}

UnitBytes unitBytes(const std::set<Strip> &strips) {
  UnitBytes out;
  for (const Strip &s : strips) {
    if (s.node->state() == NodeState::Ready)
      out.read += bytesOf(s);
    out.largest = std::max(out.largest, bytesOf(s));
  }
  return out;
}

} // namespace graphc::pieces
