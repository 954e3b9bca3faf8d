#include "frontends/record/Pieces.h"

#include "frontends/record/Looks.h"
#include "frontends/record/PiecePlan.h"
#include "frontends/record/Record.h"
#include "frontends/record/Session.h"
#include "runtime/base/Strings.h"
#include "runtime/base/Trace.h"
#include "runtime/device/BufferPool.h"
#include "runtime/drivers/Drivers.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <future>
#include <numeric>
#include <unordered_map>

namespace graphc {
namespace {

using op::OpKind;
using op::ReduceKind;
using pieces::Analysis;
using pieces::Fold;
using pieces::Root;
using pieces::Strip;
using strings::format;

/// The strips of one piece together: longer transfers are no faster.
constexpr int64_t kPieceBytes = int64_t{256} << 20;

std::atomic<int64_t> passCount{0}, pieceCount{0};

/// Set while a piece is computed: what does not fit then is tried with smaller pieces.
thread_local bool inPiece = false;
class PieceScope {
public:
  PieceScope() : before(std::exchange(inPiece, true)) {}
  ~PieceScope() { inPiece = before; }
  PieceScope(const PieceScope &) = delete;
  PieceScope &operator=(const PieceScope &) = delete;

private:
  bool before;
};

int64_t product(std::span<const int64_t> sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{1}, std::multiplies());
}

size_t at(int64_t axis) { return static_cast<size_t>(axis); }

Shape withSize(const Shape &shape, int64_t axis, int64_t size) {
  Shape out = shape;
  out[at(axis)] = size;
  return out;
}

Shape joined(std::initializer_list<std::span<const int64_t>> parts) {
  std::vector<int64_t> all;
  for (std::span<const int64_t> part : parts)
    all.insert(all.end(), part.begin(), part.end());
  return Shape(all);
}

/// A value in host memory, read and written by strips.
struct HostValue {
  char *data;
  const Shape &shape;
  int64_t item;

  /// Copies elements [begin, end) along `axis`, whose outer axes make them several runs.
  template <typename Copy>
  void runs(int64_t axis, int64_t begin, int64_t end, Copy copy) const {
    std::span<const int64_t> sizes = shape;
    int64_t count = product(sizes.subspan(0, at(axis)));
    int64_t inner = product(sizes.subspan(at(axis) + 1)) * item;
    int64_t bytes = (end - begin) * inner;
    for (int64_t i = 0; i < count; ++i)
      copy(data + (i * sizes[at(axis)] + begin) * inner, i * bytes, bytes);
  }
  bool inOrder(int64_t axis) const {
    return product(std::span<const int64_t>(shape).subspan(0, at(axis))) == 1;
  }
};

Status upload(rt::Buffer &to, const HostValue &from, int64_t axis, int64_t begin, int64_t end,
              std::vector<char> &station) {
  rt::Queue &queue = to.device().queue();
  int64_t total =
      end > begin ? product(from.shape) / from.shape[at(axis)] * (end - begin) * from.item : 0;
  if (total == 0)
    return Status::ok();
  if (from.inOrder(axis)) {
    const char *first = nullptr;
    from.runs(axis, begin, end, [&](const char *run, int64_t, int64_t) { first = run; });
    return queue.uploadBeside(to, first, total);
  }
  station.resize(static_cast<size_t>(total));
  from.runs(axis, begin, end, [&](const char *run, int64_t place, int64_t bytes) {
    std::memcpy(station.data() + place, run, static_cast<size_t>(bytes));
  });
  return queue.uploadBeside(to, station.data(), total);
}

Status download(const HostValue &to, int64_t axis, int64_t begin, int64_t end, rt::Buffer &from,
                std::vector<char> &station) {
  rt::Queue &queue = from.device().queue();
  int64_t total = product(to.shape) / to.shape[at(axis)] * (end - begin) * to.item;
  if (total == 0)
    return Status::ok();
  if (to.inOrder(axis)) {
    char *first = nullptr;
    to.runs(axis, begin, end, [&](char *run, int64_t, int64_t) { first = run; });
    return queue.download(first, from, total);
  }
  station.resize(static_cast<size_t>(total));
  GRAPHC_TRY(queue.download(station.data(), from, total));
  to.runs(axis, begin, end, [&](char *run, int64_t place, int64_t bytes) {
    std::memcpy(run, station.data() + place, static_cast<size_t>(bytes));
  });
  return Status::ok();
}

/// Computes the outputs of one segment in pieces.
class Splitter {
public:
  Splitter(const Segment &segment, std::span<const rt::Tensor> inputs, rt::Device &device)
      : segment(segment), device(device) {
    for (const rt::Tensor &t : inputs)
      given.push_back(Node::makeReady({t.dtype, t.shape}, device, t.buffer));
    nodes = segment.replay(given, device);
    for (size_t i = 0; i < nodes.size(); ++i)
      errors[nodes[i].get()] = segment.code.errors[i];
    for (const std::vector<NodeRef> *list : {&given, &nodes})
      for (const NodeRef &n : *list)
        byNode[n.get()] = n;
  }

  Status run(std::vector<rt::Tensor> &outputs) {
    std::vector<NodeRef> targets;
    for (uint32_t number : segment.code.outputs)
      targets.push_back(number & SegmentCode::kInput ? given[number & ~SegmentCode::kInput]
                                                     : nodes[number]);
    GRAPHC_TRY(compute(targets));
    outputs.clear();
    for (const NodeRef &target : targets)
      outputs.push_back(tensorOf(*target));
    return Status::ok();
  }

private:
  /// A pass over pieces of equal units.
  struct Pass {
    std::vector<Root> roots;
    std::set<Strip> strips;
    std::set<const Node *> wholes;
    int64_t units = 0, align = 1;
  };
  /// What a root leaves in host memory: the result, or what its fold puts together.
  struct Collected {
    rt::BufferRef buffer;
    Shape shape;
    DType dtype;
    int64_t axis;
    HostValue host() const { return {static_cast<char *>(buffer->host()), shape, itemSize(dtype)}; }
  };
  /// A ready value that is read from host memory, with room for two pieces on the device.
  struct Feed {
    Strip strip;
    NodeRef node;
    rt::BufferRef room[2];
    std::vector<char> station;
  };
  /// What a piece gives for one root.
  struct Parts {
    std::vector<NodeRef> results; ///< along the collected axis
    NodeRef rest;                 ///< of a fold: elements for the next piece
  };
  using Memo = std::map<Strip, NodeRef>;

  static int64_t wholeBytes(const std::set<const Node *> &nodes) {
    return std::accumulate(nodes.begin(), nodes.end(), int64_t{0},
                           [](int64_t sum, const Node *n) { return sum + n->bytes(); });
  }
  static bool isDone(const NodeRef &n) { return n->state() == NodeState::Ready; }
  static void publish(const NodeRef &n, rt::BufferRef buffer) {
    std::vector<NodeRef> dropped;
    std::lock_guard lock(graphMutex());
    n->publish(std::move(buffer), dropped);
  }

  Status compute(std::span<const NodeRef> targets);
  Status computeOne(const NodeRef &target);
  Status computeFromWholes(const NodeRef &target, bool &fits);
  Status prepare(const std::set<const Node *> &wholes);
  void frontier(const NodeRef &n, std::vector<NodeRef> &priors, std::set<const Node *> &seen) const;
  Status runPass(Pass &pass);
  Status runPieces(Pass &pass, int64_t pieces);
  Result<Collected> collectorOf(const Pass &pass, const Root &root, int64_t pieces);
  Status finishFold(const Root &root, Collected &parts);
  Status feed(std::vector<Feed> &feeds, int64_t begin, int64_t end, int turn);

  Result<NodeRef> whole(const NodeRef &n);
  Result<NodeRef> strip(const Strip &s, int64_t begin, int64_t end, Memo &memo);
  Result<NodeRef> remade(const Node &n, std::span<const NodeRef> operands, const Shape &shape,
                         std::vector<int64_t> attrs);
  Result<NodeRef> iota(const Node &n, int64_t begin, int64_t end);
  Result<NodeRef> grouped(const Root &root, NodeRef x, int64_t length);
  Status partsOf(const Root &root, NodeRef x, int64_t units, bool isLast, Parts &parts);
  Result<NodeRef> reduce(const Node &like, ReduceKind kind, const NodeRef &x,
                         std::vector<int64_t> axes, DType dtype);
  Status tooLarge() const;

  const Segment &segment;
  rt::Device &device;
  std::vector<NodeRef> given, nodes;
  std::unordered_map<const Node *, uint32_t> errors;
  std::unordered_map<const Node *, NodeRef> byNode;
  std::unordered_map<const Node *, NodeRef> wholes; ///< on the device, or made there again
  pieces::Blocker blocker = nullptr;
};

Status Splitter::tooLarge() const {
  int64_t bytes = 0;
  for (const NodeRef &n : given)
    bytes += n->bytes();
  for (uint32_t number : segment.code.outputs)
    bytes += number & SegmentCode::kInput ? 0 : nodes[number]->bytes();
  std::string why;
  if (blocker && blocker->isOp()) {
    std::string line = locationText(blocker->location());
    op::LibraryAttrs routine;
    bool isRoutine = blocker->kind() == OpKind::Library && routine.decode(blocker->attrs());
    why = format("; it cannot be computed in pieces, since '{}'{} needs its operands whole",
                 isRoutine ? routineName(static_cast<Routine>(routine.routine))
                           : op::opInfo(blocker->kind()).name,
                 line.empty() ? "" : format(" at {}", line));
  }
  int64_t room = std::max<int64_t>(freeBytes(device), 1);
  return {ErrorCode::OutOfMemory,
          format("[{}] inputs and results of this program take {} and {} are free{}. Arrays of "
                 "about 1/{} of these sizes would fit",
                 device.info().name, strings::bytesText(bytes),
                 strings::bytesText(freeBytes(device)), why, bytes * 3 / 2 / room + 1)};
}

/// Targets of as many units share a pass, so that what they read goes to the device once.
Status Splitter::compute(std::span<const NodeRef> targets) {
  std::vector<Pass> passes;
  for (const NodeRef &target : targets) {
    bool fits = isDone(target);
    if (!fits)
      GRAPHC_TRY(computeFromWholes(target, fits));
    if (fits)
      continue;
    std::vector<Analysis> ways = pieces::waysToSplit(target, blocker);
    if (ways.empty())
      return tooLarge();
    Analysis &way = ways[0];
    auto pass = std::ranges::find(passes, way.units, &Pass::units);
    if (pass == passes.end())
      pass = passes.insert(pass, Pass{{}, {}, {}, way.units, 1});
    pass->roots.push_back(std::move(way.root));
    pass->strips.merge(way.strips);
    pass->wholes.merge(way.wholes);
    pass->align = std::lcm(pass->align, way.align);
  }
  for (Pass &pass : passes) {
    Status status = wholeBytes(pass.wholes) > freeBytes(device) / 2 ? tooLarge() : runPass(pass);
    wholes.clear();
    if (status.code() == ErrorCode::OutOfMemory)
      for (const Root &root : pass.roots)
        GRAPHC_TRY(computeOne(root.node));
    else
      GRAPHC_TRY(std::move(status));
  }
  return Status::ok();
}

/// Reductions of much under `n`, which are computed by passes of their own.
void Splitter::frontier(const NodeRef &n, std::vector<NodeRef> &priors,
                        std::set<const Node *> &seen) const {
  if (isDone(n)) {
    if (&n->buffer()->device() != &device)
      seen.insert(n.get());
    return;
  }
  if (n->kind() == OpKind::Extent || std::ranges::find(priors, n) != priors.end())
    return;
  bool shrinks = n->kind() == OpKind::Reduce || n->kind() == OpKind::Slice;
  if (shrinks && n->operands()[0]->bytes() > freeBytes(device) / 16) {
    priors.push_back(n);
    return;
  }
  if (!seen.insert(n.get()).second)
    return;
  for (const NodeRef &operand : n->operands())
    frontier(operand, priors, seen);
}

/// Computes values that a pass needs whole and keeps them on the device.
Status Splitter::prepare(const std::set<const Node *> &wanted) {
  std::vector<NodeRef> priors, roots;
  std::set<const Node *> seen;
  for (const Node *n : wanted)
    frontier(byNode.at(n), priors, seen);
  GRAPHC_TRY(compute(priors));
  for (const Node *n : wanted) {
    GRAPHC_ASSIGN(NodeRef made, whole(byNode.at(n)));
    op::Category kind = made->isOp() ? op::opInfo(made->kind()).category : op::Category::None;
    bool isCheap = kind == op::Category::Generator || kind == op::Category::Movement;
    if (!isDone(made) && !isCheap)
      roots.push_back(std::move(made));
  }
  PieceScope scope;
  return roots.empty() ? Status::ok() : computeNow(roots, device);
}

/// A small result of large reductions is computed from them at once.
Status Splitter::computeFromWholes(const NodeRef &target, bool &fits) {
  std::vector<NodeRef> priors;
  std::set<const Node *> seen;
  frontier(target, priors, seen);
  int64_t bytes = 0;
  for (const Node *n : seen)
    bytes += n->bytes();
  fits = bytes <= freeBytes(device) / 2 && (priors.empty() || priors[0] != target);
  if (!fits)
    return Status::ok();
  GRAPHC_TRY(compute(priors));
  GRAPHC_ASSIGN(NodeRef made, whole(target));
  PieceScope scope;
  GRAPHC_TRY(computeNow({&made, 1}, device));
  publish(target, made->buffer());
  wholes.clear();
  return Status::ok();
}

/// Tries one axis after the other.
Status Splitter::computeOne(const NodeRef &target) {
  if (isDone(target))
    return Status::ok();
  Status last = tooLarge();
  for (Analysis &way : pieces::waysToSplit(target, blocker)) {
    if (wholeBytes(way.wholes) > freeBytes(device) / 2) {
      blocker = target.get();
      continue;
    }
    Pass pass{{way.root}, std::move(way.strips), std::move(way.wholes), way.units, way.align};
    last = runPass(pass);
    wholes.clear();
    if (last || last.code() != ErrorCode::OutOfMemory)
      return last;
  }
  return last.code() == ErrorCode::OutOfMemory ? tooLarge() : std::move(last);
}

Status Splitter::runPass(Pass &pass) {
  GRAPHC_TRY(prepare(pass.wholes));
  passCount.fetch_add(1, std::memory_order_relaxed);
  // Strips twice, results, and as much again for what a program keeps meanwhile.
  pieces::UnitBytes bytes = pieces::unitBytes(pass.strips);
  int64_t each = 2 * bytes.read + 3 * bytes.largest;
  int64_t room = std::min(freeBytes(device), kPieceBytes);
  int64_t length = std::max<int64_t>(room / std::max<int64_t>(each, 1), 2);
  Status last;
  // A piece of one row would be of lower rank, for which the trees are others.
  for (int64_t count = (pass.units + length - 1) / length; count == 1 || 2 * count <= pass.units;
       count *= 2) {
    // Pieces that end within blocks cost a copy.
    if (count * pass.align > pass.units || length < pass.align)
      pass.align = 1;
    last = runPieces(pass, count);
    if (last || last.code() != ErrorCode::OutOfMemory)
      return last;
  }
  return tooLarge();
}

Result<Splitter::Collected> Splitter::collectorOf(const Pass &pass, const Root &root,
                                                  int64_t pieces) {
  Collected c{nullptr, root.node->shape(), root.node->dtype(), root.strip.axis};
  if (root.fold) {
    const int64_t sizes[] = {root.fold->block ? root.fold->blocks(pass.units) : pieces};
    c.shape = joined({root.fold->before, sizes, root.fold->after});
    c.axis = root.fold->before.rank();
    c.dtype = isNarrowFloat(c.dtype) ? DType::Float32 : c.dtype;
  }
  auto bytes = byteCount(c.shape, c.dtype);
  GRAPHC_ASSIGN(rt::Device * cpu, rt::findDevice("cpu"));
  GRAPHC_ASSIGN(c.buffer, cpu->allocate(bytes.value_or(-1)));
  return c;
}

Status Splitter::feed(std::vector<Feed> &feeds, int64_t begin, int64_t end, int turn) {
  for (Feed &f : feeds) {
    HostValue from{static_cast<char *>(f.node->buffer()->host()), f.node->shape(),
                   itemSize(f.node->dtype())};
    GRAPHC_TRY(upload(*f.room[turn], from, f.strip.axis, f.strip.begin(begin), f.strip.begin(end),
                      f.station));
  }
  return Status::ok();
}

Status Splitter::runPieces(Pass &pass, int64_t pieces) {
  std::vector<int64_t> bounds;
  for (int64_t i = 0; i <= pieces; ++i)
    bounds.push_back(i == pieces ? pass.units : pass.units / pass.align * i / pieces * pass.align);
  int64_t longest = 0;
  for (size_t i = 0; i + 1 < bounds.size(); ++i)
    longest = std::max(longest, bounds[i + 1] - bounds[i]);
  std::vector<Collected> collected;
  for (const Root &root : pass.roots) {
    GRAPHC_ASSIGN(Collected c, collectorOf(pass, root, pieces));
    collected.push_back(std::move(c));
  }
  std::vector<Feed> feeds;
  for (const Strip &s : pass.strips) {
    NodeRef source = byNode.at(s.node);
    if (source->state() != NodeState::Ready || &source->buffer()->device() == &device)
      continue;
    Feed &f = feeds.emplace_back();
    f.strip = s;
    f.node = source;
    for (rt::BufferRef &room : f.room) {
      GRAPHC_ASSIGN(room, device.allocate(pieces::bytesOf(s) * longest));
    }
  }
  // The rooms may be memory that queued work still uses.
  GRAPHC_TRY(device.queue().finish());
  GRAPHC_TRY(feed(feeds, bounds[0], bounds[1], 0));
  std::vector<int64_t> filled(pass.roots.size(), 0);
  std::vector<Parts> parts(pass.roots.size());
  std::vector<char> station;
  for (size_t i = 0; i + 1 < bounds.size(); ++i) {
    int64_t begin = bounds[i], end = bounds[i + 1];
    auto turn = static_cast<int>(i % 2);
    Memo memo;
    for (Feed &f : feeds)
      memo[f.strip] =
          Node::makeReady({f.node->dtype(), withSize(f.node->shape(), f.strip.axis,
                                                     f.strip.begin(end) - f.strip.begin(begin))},
                          device, f.room[turn]);
    std::vector<NodeRef> roots;
    for (size_t r = 0; r < pass.roots.size(); ++r) {
      GRAPHC_ASSIGN(NodeRef x, strip(pass.roots[r].strip, begin, end, memo));
      GRAPHC_TRY(partsOf(pass.roots[r], std::move(x), end - begin, end == pass.units, parts[r]));
      roots.insert(roots.end(), parts[r].results.begin(), parts[r].results.end());
      if (parts[r].rest)
        roots.push_back(parts[r].rest);
    }
    memo.clear();
    {
      PieceScope scope;
      GRAPHC_TRY(computeNow(roots, device));
    }
    roots.clear();
    // The next piece goes up while this one is computed and comes down.
    std::future<Status> next;
    if (i + 2 < bounds.size())
      next = std::async(std::launch::async, [&, i, turn] {
        return feed(feeds, bounds[i + 1], bounds[i + 2], 1 - turn);
      });
    Status down = Status::ok();
    for (size_t r = 0; r < parts.size() && down; ++r)
      for (const NodeRef &part : std::exchange(parts[r].results, {})) {
        const Collected &c = collected[r];
        int64_t count = part->shape()[at(c.axis)];
        down = download(c.host(), c.axis, filled[r], filled[r] + count, *part->buffer(), station);
        filled[r] += count;
        if (!down)
          break;
      }
    Status up = next.valid() ? next.get() : Status::ok();
    GRAPHC_TRY(std::move(down));
    GRAPHC_TRY(std::move(up));
    pieceCount.fetch_add(1, std::memory_order_relaxed);
  }
  feeds.clear();
  for (size_t r = 0; r < pass.roots.size(); ++r)
    GRAPHC_TRY(finishFold(pass.roots[r], collected[r]));
  return Status::ok();
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

} // namespace

int64_t freeBytes(const rt::Device &device) {
  return std::max<int64_t>(0, device.info().budgetBytes - device.liveBytes());
}

Result<rt::BufferRef> placeFor(rt::Device &device, int64_t bytes) {
  const rt::DeviceInfo &info = device.info();
  if (!info.hostVisible &&
      (bytes > info.largestBuffer || bytes > freeBytes(device) - info.budgetBytes / 8)) {
    GRAPHC_ASSIGN(rt::Device * cpu, rt::findDevice("cpu"));
    return cpu->allocate(bytes);
  }
  return device.allocate(bytes);
}

Status bringTo(rt::Device &device, std::span<rt::Tensor> values) {
  for (rt::Tensor &t : values) {
    if (!isKept(t, device))
      continue;
    int64_t bytes = byteCount(t.shape, t.dtype).value_or(0);
    GRAPHC_ASSIGN(rt::BufferRef room, device.allocate(bytes));
    if (bytes > 0)
      GRAPHC_TRY(device.queue().upload(*room, t.buffer->host(), bytes));
    t.buffer = std::move(room);
  }
  return Status::ok();
}

PieceCounts pieceCounts() { return {passCount.load(), pieceCount.load()}; }

Status runOrSplit(const rt::LoadedProgram &program, const Segment &segment,
                  std::span<const rt::Tensor> inputs, std::span<const int64_t> sizes,
                  std::vector<rt::Tensor> &outputs, rt::RunReport &report) {
  rt::Device &device = program.device();
  bool mayKeep = !device.info().hostVisible;
  report.mayTellLater &= !inPiece; // what a piece reads is overwritten
  if (!mayKeep ||
      std::ranges::none_of(inputs, [&](const rt::Tensor &t) { return isKept(t, device); })) {
    Status status = rt::run(program, inputs, sizes, outputs, &report);
    if (status.code() == ErrorCode::OutOfMemory && looksWait(device)) {
      GRAPHC_TRY(lookNow(device)); // which hold memory
      status = rt::run(program, inputs, sizes, outputs, &report);
    }
    if (status.code() != ErrorCode::OutOfMemory || !mayKeep || inPiece)
      return status;
  } else {
    GRAPHC_TRY(lookNow(device)); // what waits holds memory
    GRAPHC_ASSIGN(rt::RunCost cost, rt::costOf(program, inputs, sizes, outputs));
    int64_t wanted = cost.peakBytes;
    for (const rt::Tensor &t : inputs)
      if (isKept(t, device))
        wanted += rt::BufferPool::classBytes(byteCount(t.shape, t.dtype).value_or(0));
    if (wanted <= freeBytes(device) || inPiece) {
      std::vector<rt::Tensor> there(inputs.begin(), inputs.end());
      Status status = bringTo(device, there);
      if (status)
        status = rt::run(program, there, sizes, outputs, &report);
      if (status.code() != ErrorCode::OutOfMemory || inPiece)
        return status;
    }
  }
  report = {};
  auto literals =
      std::ranges::count(segment.code.literals, true, &SegmentCode::Literal::isArgument);
  size_t before = floatErrorsMet();
  Splitter splitter(segment, inputs.first(inputs.size() - static_cast<size_t>(literals)), device);
  Status status = splitter.run(outputs);
  mergeFloatErrors(before);
  return status;
}

} // namespace graphc
