#include "frontends/record/Spread.h"

#include "frontends/record/Record.h"

#include <mutex>
#include <unordered_map>
#include <unordered_set>

namespace graphc {
namespace {

using op::Category;
using op::OpKind;

/// Operations of the longest value that is recorded again for all rows.
constexpr size_t kMostOps = 32;

std::vector<NodeRef> operandsOf(const NodeRef &n) {
  if (!n->isOp())
    return {};
  std::lock_guard guard(graphMutex());
  if (n->state() != NodeState::Pending)
    return {};
  return {n->operands().begin(), n->operands().end()};
}

/// The value that other shapes of it are made of.
NodeRef unshaped(NodeRef n) {
  while (n->isOp() && n->kind() == OpKind::Reshape) {
    std::optional<NodeRef> inner = n->pendingOperand(0);
    if (!inner)
      break;
    n = std::move(*inner);
  }
  return n;
}

std::optional<Routine> routineOf(const NodeRef &n) {
  op::LibraryAttrs attrs;
  if (!n->isOp() || n->kind() != OpKind::Library || !attrs.decode(n->attrs()))
    return std::nullopt;
  return static_cast<Routine>(attrs.routine);
}

/// Whether it has rows beyond the true elements of a mask, for others to be computed from.
bool isUpToBound(const NodeRef &n) {
  auto routine = routineOf(n);
  return n->state() == NodeState::Pending &&
         (routine == Routine::NonzeroFilled || routine == Routine::CompressFilled);
}

class Spreader {
public:
  Spreader(const NodeRef &mask, int64_t count) : mask(unshaped(mask)), count(count) {
    for (int64_t size : mask->shape())
      total *= size;
  }

  Result<Spread> run(const NodeRef &value) {
    GRAPHC_ASSIGN(Found found, spread(value));
    return Spread{found.node, functions};
  }

private:
  /// Null where there is none.
  struct Found {
    NodeRef node;
    bool isGuarded = false; ///< one where the mask is false, or the same in every row
  };

  bool isMask(const NodeRef &n) const { return unshaped(n) == mask; }

  bool isPlaces(const NodeRef &n) const {
    auto routine = routineOf(n);
    if (routine != Routine::Nonzero && routine != Routine::NonzeroFilled)
      return false;
    std::vector<NodeRef> operands = operandsOf(n);
    return !operands.empty() && isMask(operands[0]);
  }

  /// Whether a condition is that the mask has a true element at all, which every row of it has
  /// (OpenValue.cpp: harmless).
  bool isAny(const NodeRef &condition) const {
    NodeRef n = condition;
    for (OpKind kind : {OpKind::Broadcast, OpKind::Greater, OpKind::Reduce, OpKind::Cast}) {
      std::vector<NodeRef> operands = operandsOf(n);
      if (operands.empty() || n->kind() != kind)
        return false;
      n = operands[0];
    }
    return isMask(n);
  }

  Shape wide(const Shape &rows) const {
    Shape all = rows;
    all[0] = total;
    return all;
  }

  /// All rows that a node chooses some of.
  std::optional<NodeRef> source(const NodeRef &n, std::span<const NodeRef> operands) const {
    auto routine = routineOf(n);
    if (routine == Routine::Compress || routine == Routine::CompressFilled)
      return isMask(operands[1]) ? std::optional(operands[0]) : std::nullopt;
    op::GatherAttrs attrs;
    bool isRows = n->kind() == OpKind::Gather && operands.size() == 2 && attrs.decode(n->attrs()) &&
                  attrs.axes == std::vector<int64_t>{0} && attrs.position == 0;
    return isRows && isPlaces(operands[1]) && operands[0]->shape()[0] == total
               ? std::optional(operands[0])
               : std::nullopt;
  }

  Result<Found> spread(const NodeRef &n) {
    if (auto known = done.find(n.get()); known != done.end())
      return known->second;
    Found found;
    if (n->shape().rank() > 0 && n->shape()[0] == count && done.size() < kMostOps) {
      RecordScope scope(n->location(), n->errors());
      GRAPHC_ASSIGN(found, make(n));
    }
    done[n.get()] = found;
    kept.push_back(n);
    return found;
  }

  Result<Found> make(const NodeRef &n) {
    std::vector<NodeRef> operands = operandsOf(n);
    if (operands.empty())
      return Found();
    if (auto all = source(n, operands)) {
      GRAPHC_ASSIGN(NodeRef table, node::reshape(*all, wide(n->shape())));
      return Found{std::move(table), false};
    }
    if (n->kind() == OpKind::Broadcast)
      return broadcast(n, operands[0]);
    if (n->kind() == OpKind::Reshape) {
      GRAPHC_ASSIGN(Found from, spread(operands[0]));
      if (from.node) {
        GRAPHC_ASSIGN(from.node, node::reshape(from.node, wide(n->shape())));
      }
      return from;
    }
    if (n->kind() == OpKind::Select && isAny(operands[0]))
      return spread(operands[1]);
    // The pole of atanh is at one.
    if (op::opInfo(n->kind()).category != Category::Elementwise || n->kind() == OpKind::Atanh)
      return Found();
    functions += !op::opInfo(n->kind()).ulpF32.empty();
    for (NodeRef &operand : operands) {
      GRAPHC_ASSIGN(operand, guarded(operand));
      if (!operand)
        return Found();
    }
    std::vector<int64_t> attrs(n->attrs().begin(), n->attrs().end());
    GRAPHC_ASSIGN(NodeRef made, node::make(n->kind(), operands, std::move(attrs),
                                           {n->dtype(), wide(n->shape())}, n->device()));
    return Found{std::move(made), false};
  }

  Result<Found> broadcast(const NodeRef &n, const NodeRef &from) {
    op::BroadcastAttrs attrs;
    if (!attrs.decode(n->attrs()))
      return Found();
    bool hasRows = !attrs.dims.empty() && attrs.dims[0] == 0 && from->shape()[0] != 1;
    Found found{from, true};
    if (hasRows) {
      GRAPHC_ASSIGN(found, spread(from));
      if (!found.node)
        return found;
    }
    GRAPHC_ASSIGN(found.node, node::make(OpKind::Broadcast, {&found.node, 1}, attrs.encode(),
                                         {n->dtype(), wide(n->shape())}, n->device()));
    return found;
  }

  /// An operand that is one where the mask is false.
  Result<NodeRef> guarded(const NodeRef &operand) {
    GRAPHC_ASSIGN(Found found, spread(operand));
    if (!found.node || found.isGuarded || operand->dtype() == DType::Bool)
      return found.node;
    const Shape &shape = found.node->shape();
    rt::Device &device = operand->device();
    std::vector<int64_t> column(static_cast<size_t>(shape.rank()), 1);
    column[0] = total;
    GRAPHC_ASSIGN(NodeRef chosen, node::reshape(mask, Shape(std::span<const int64_t>(column))));
    GRAPHC_ASSIGN(chosen, node::broadcast(chosen, shape));
    GRAPHC_ASSIGN(NodeRef one, node::scalar(op::Scalar::ofInt(1), operand->dtype(), device));
    GRAPHC_ASSIGN(one, node::broadcast(one, shape));
    NodeRef operands[] = {chosen, found.node, one};
    GRAPHC_ASSIGN(found.node, node::make(OpKind::Select, operands, {}, {}, device));
    found.isGuarded = true;
    done[operand.get()] = found;
    return found.node;
  }

  NodeRef mask;
  int64_t count, total = 1, functions = 0;
  std::unordered_map<const Node *, Found> done;
  std::vector<NodeRef> kept; ///< alive, so that no address is met again
};

} // namespace

Result<Spread> spreadOver(const NodeRef &mask, const NodeRef &value) {
  if (value->shape().rank() == 0)
    return Spread();
  return Spreader(mask, value->shape()[0]).run(value);
}

bool choosesUpToBound(std::span<const NodeRef> roots) {
  std::unordered_set<const Node *> seen;
  std::vector<NodeRef> stack(roots.begin(), roots.end());
  while (!stack.empty()) {
    NodeRef n = std::move(stack.back());
    stack.pop_back();
    if (!seen.insert(n.get()).second)
      continue;
    if (isUpToBound(n))
      return true;
    std::ranges::move(operandsOf(n), std::back_inserter(stack));
  }
  return false;
}

Status leaveBeyondCount(std::span<NodeRef> roots, size_t results) {
  std::unordered_map<const Node *, int> uses; // as operands of what the roots are computed from
  std::vector<NodeRef> stack(roots.begin(), roots.end());
  for (std::unordered_set<const Node *> seen; !stack.empty();) {
    NodeRef n = std::move(stack.back());
    stack.pop_back();
    if (!seen.insert(n.get()).second)
      continue;
    for (NodeRef &operand : operandsOf(n)) {
      ++uses[operand.get()];
      stack.push_back(std::move(operand));
    }
  }
  for (NodeRef &root : roots.first(results)) {
    NodeRef n = root;
    int expected = 0;
    for (; uses[n.get()] == expected && unshaped(n) != n; expected = 1)
      n = operandsOf(n)[0];
    if (!isUpToBound(n) || uses[n.get()] != expected)
      continue;
    std::vector<NodeRef> operands = operandsOf(n);
    RecordScope scope(n->location(), n->errors());
    GRAPHC_ASSIGN(NodeRef left,
                  node::library(*routineOf(n), operands, {1}, {n->dtype(), n->shape()}));
    GRAPHC_ASSIGN(root, node::reshape(left, root->shape()));
  }
  return Status::ok();
}

} // namespace graphc
