// Passes of a segment: which results share one, how long its pieces are, and what goes up and comes
// down meanwhile.
#include "frontends/record/Splitter.h"

#include "frontends/record/Record.h"
#include "frontends/record/Session.h"
#include "runtime/base/Strings.h"
#include "runtime/drivers/Drivers.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <future>
#include <utility>

namespace graphc {

using op::OpKind;
using pieces::Analysis;
using pieces::at;
using pieces::HostValue;
using pieces::Root;
using pieces::Strip;
using pieces::withSize;
using strings::format;

namespace {

/// The strips of one piece together: longer transfers are no faster.
constexpr int64_t kPieceBytes = int64_t{256} << 20;

std::atomic<int64_t> passCount{0}, pieceCount{0};

thread_local bool inPiece = false;

} // namespace

PieceScope::PieceScope() : before(std::exchange(inPiece, true)) {}
PieceScope::~PieceScope() { inPiece = before; }
bool PieceScope::isOpen() { return inPiece; }

PieceCounts pieceCounts() { return {passCount.load(), pieceCount.load()}; }

Splitter::Splitter(const Segment &segment, std::span<const rt::Tensor> inputs, rt::Device &device)
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

Status Splitter::run(std::vector<rt::Tensor> &outputs) {
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
    if (ways.empty()) {
      GRAPHC_ASSIGN(NodeRef other, placeOf(target));
      if (!other)
        return tooLarge();
      GRAPHC_TRY(compute({&other, 1}));
      publish(target, other->buffer());
      continue;
    }
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
    // Smaller pieces make no more room for results on the host.
    std::vector<Collected> collected;
    for (const Root &root : pass.roots) {
      GRAPHC_ASSIGN(Collected c, collectorOf(pass, root, count));
      collected.push_back(std::move(c));
    }
    last = runPieces(pass, count, collected);
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

Status Splitter::runPieces(Pass &pass, int64_t pieces, std::span<Collected> collected) {
  std::vector<int64_t> bounds;
  for (int64_t i = 0; i <= pieces; ++i)
    bounds.push_back(i == pieces ? pass.units : pass.units / pass.align * i / pieces * pass.align);
  int64_t longest = 0;
  for (size_t i = 0; i + 1 < bounds.size(); ++i)
    longest = std::max(longest, bounds[i + 1] - bounds[i]);
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

} // namespace graphc
