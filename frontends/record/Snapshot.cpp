#include "frontends/record/Snapshot.h"

#include "frontends/record/Record.h"

#include <algorithm>
#include <unordered_map>

namespace graphc {
namespace {

/// Longest chain of cheap operations that is repeated in each segment.
constexpr uint8_t kCheapDepth = 8;
/// Movement counts this much less than computation towards the length of a segment.
constexpr size_t kSegmentMembers = 4 * kSegmentNodes;

uint64_t nextEpoch = 0; // guarded by graphMutex()

op::Category category(const Node &n) { return op::opInfo(n.kind()).category; }
bool isMovement(const Node &n) { return category(n) == op::Category::Movement; }
bool isGenerator(const Node &n) { return category(n) == op::Category::Generator; }

} // namespace

Result<Snapshot> Snapshot::take(std::span<const NodeRef> roots, bool placeholders) {
  Snapshot s;
  std::lock_guard lock(graphMutex());
  if (!s.collect(roots) && !placeholders)
    return Status(
        ErrorCode::Trace,
        "a value that depends on the arguments of a traced function is not known while the "
        "function is traced; it cannot be printed, converted or branched on");
  s.classify(roots);
  s.cut();
  return s;
}

bool Snapshot::collect(std::span<const NodeRef> roots) {
  uint64_t epoch = ++nextEpoch;
  bool known = true;
  std::vector<Node *> stack;
  auto visit = [&](const NodeRef &n) {
    known &= n->state() != NodeState::Placeholder;
    if (n->state() != NodeState::Pending || n->markEpoch == epoch)
      return;
    n->markEpoch = epoch;
    entries.push_back({n, n->sequence()});
    stack.push_back(n.get());
  };
  for (const NodeRef &root : roots) {
    visit(root);
    while (!stack.empty()) {
      Node *n = stack.back();
      stack.pop_back();
      for (const NodeRef &operand : n->operands())
        visit(operand);
    }
  }
  std::ranges::sort(entries, {}, &Entry::sequence);
  for (uint32_t i = 0; i < entries.size(); ++i)
    entries[i].node->mark = i;
  return known;
}

void Snapshot::classify(std::span<const NodeRef> roots) {
  for (const NodeRef &root : roots)
    if (root->state() == NodeState::Pending)
      entries[root->mark].isRoot = entries[root->mark].isOutput = true;
  for (Entry &e : entries) {
    bool cheap = !e.isRoot && (isMovement(*e.node) || isGenerator(*e.node));
    uint8_t depth = 0;
    for (const NodeRef &operand : e.node->operands()) {
      if (operand->state() != NodeState::Pending)
        continue;
      Entry &o = entries[operand->mark];
      ++o.internalUses;
      cheap &= o.cheapDepth > 0;
      depth = std::max(depth, o.cheapDepth);
    }
    if (cheap && depth < kCheapDepth)
      e.cheapDepth = static_cast<uint8_t>(depth + 1);
  }
  // One reference is ours. Whoever holds another one may ask for the value later.
  for (Entry &e : entries)
    if (e.cheapDepth == 0 && e.node->references() > e.internalUses + 1)
      e.isOutput = true;
}

void Snapshot::cut() {
  size_t computed = 0, members = 0;
  for (uint32_t i = 0; i < entries.size(); ++i) {
    Entry &e = entries[i];
    if (e.cheapDepth > 0)
      continue;
    e.segment = static_cast<uint32_t>(segmentEnds.size());
    ++members;
    computed += !isMovement(*e.node) && !isGenerator(*e.node);
    for (const NodeRef &operand : e.node->operands()) {
      if (operand->state() != NodeState::Pending)
        continue;
      Entry &o = entries[operand->mark];
      if (o.cheapDepth == 0 && o.segment != e.segment)
        o.isOutput = true;
    }
    // Right after a computation: the movement of its value goes with whoever reads it.
    if (computed == kSegmentNodes || members == kSegmentMembers) {
      segmentEnds.push_back(i + 1);
      computed = members = 0;
    }
  }
  if (members)
    segmentEnds.push_back(static_cast<uint32_t>(entries.size()));
}

const Snapshot::Entry *Snapshot::find(const Node &node) const {
  auto it = std::ranges::lower_bound(entries, node.sequence(), {}, &Entry::sequence);
  return it != entries.end() && it->sequence == node.sequence() ? &*it : nullptr;
}

void Snapshot::drop(size_t segment) {
  size_t begin = segment ? segmentEnds[segment - 1] : 0;
  for (size_t i = begin; i < segmentEnds[segment]; ++i)
    entries[i].node = nullptr;
}

/// Builds one segment's GraphDesc. Needs graphMutex().
class SegmentBuilder {
public:
  SegmentBuilder(const Snapshot &snapshot, uint32_t segment)
      : snapshot(snapshot), segment(segment) {}

  Segment build() {
    size_t begin = segment ? snapshot.segmentEnds[segment - 1] : 0;
    for (size_t i = begin; i < snapshot.segmentEnds[segment]; ++i) {
      const Snapshot::Entry &e = snapshot.entries[i];
      // Another thread may have computed it meanwhile.
      if (!e.node || e.cheapDepth > 0 || e.node->state() != NodeState::Pending)
        continue;
      uint32_t number = emit(e.node);
      if (e.isOutput) {
        out.outputs.push_back(e.node);
        out.graph.outputs.push_back(number);
      }
    }
    numberValues();
    nameSizes();
    return std::move(out);
  }

private:
  static constexpr uint32_t kInput = 0x80000000u;

  /// Depth is bounded: only cheap operands are emitted from here (kCheapDepth).
  uint32_t emit(const NodeRef &n) {
    op::NodeDesc desc;
    desc.kind = n->kind();
    desc.dtype = n->dtype();
    desc.shape.assign(n->shape().begin(), n->shape().end());
    desc.attrs.assign(n->attrs().begin(), n->attrs().end());
    for (const NodeRef &operand : n->operands())
      desc.operands.push_back(valueOf(operand));
    auto number = static_cast<uint32_t>(out.graph.nodes.size());
    out.graph.nodes.push_back(std::move(desc));
    out.locations.push_back(n->location());
    numbers.emplace(n.get(), number);
    return number;
  }

  uint32_t valueOf(const NodeRef &n) {
    if (auto it = numbers.find(n.get()); it != numbers.end())
      return it->second;
    if (n->state() == NodeState::Pending) {
      const Snapshot::Entry *e = snapshot.find(*n);
      if (e && e->cheapDepth > 0)
        return emit(n);
    }
    auto number = kInput | static_cast<uint32_t>(out.inputs.size());
    op::InputDesc desc;
    desc.dtype = n->dtype();
    desc.shape.assign(n->shape().begin(), n->shape().end());
    out.graph.inputs.push_back(std::move(desc));
    out.inputs.push_back(n);
    numbers.emplace(n.get(), number);
    return number;
  }

  void numberValues() {
    auto inputs = static_cast<uint32_t>(out.inputs.size());
    auto final = [&](uint32_t &v) { v = v & kInput ? v & ~kInput : v + inputs; };
    for (op::NodeDesc &node : out.graph.nodes)
      std::ranges::for_each(node.operands, final);
    std::ranges::for_each(out.graph.outputs, final);
  }

  void nameSizes() {
    for (op::InputDesc &input : out.graph.inputs)
      for (int64_t &size : input.shape)
        size = symbol(sizes, size);
    for (op::NodeDesc &node : out.graph.nodes) {
      for (int64_t &size : node.shape)
        size = symbol(sizes, size);
      spans.clear();
      if (!op::splitAttrs(node.kind, node.attrs, spans))
        continue; // refused when it was recorded
      for (const op::AttrSpan &span : spans)
        if (span.kind == op::AttrKind::Extents)
          for (uint32_t i = 0; i < span.count; ++i)
            node.attrs[span.offset + i] = symbol(starts, node.attrs[span.offset + i]);
    }
    out.graph.symbolCount = static_cast<uint32_t>(out.symbols.size());
  }

  op::Extent symbol(std::unordered_map<int64_t, op::Extent> &names, int64_t value) {
    if (value == 0 || value == 1)
      return value;
    auto [it, isNew] =
        names.try_emplace(value, op::symbolExtent(static_cast<uint32_t>(out.symbols.size())));
    if (isNew)
      out.symbols.push_back(value);
    return it->second;
  }

  const Snapshot &snapshot;
  uint32_t segment;
  Segment out;
  std::unordered_map<const Node *, uint32_t> numbers;
  // Sizes and starts of equal value are different symbols: that a slice starts at n is no reason to
  // recompile when only one of the two changes.
  std::unordered_map<int64_t, op::Extent> sizes, starts;
  std::vector<op::AttrSpan> spans;
};

std::vector<int64_t> Segment::sizeArguments(size_t wanted) const {
  return {symbols.begin(),
          symbols.begin() + static_cast<std::ptrdiff_t>(std::min(wanted, symbols.size()))};
}

Segment Snapshot::build(size_t segment) const {
  std::lock_guard lock(graphMutex());
  return SegmentBuilder(*this, static_cast<uint32_t>(segment)).build();
}

void resolveLines(Segment &segment) {
  std::unordered_map<Location, uint32_t> known;
  op::GraphDesc &graph = segment.graph;
  graph.lines.assign(1, "");
  for (size_t i = 0; i < graph.nodes.size() && i < segment.locations.size(); ++i) {
    Location location = segment.locations[i];
    auto [it, isNew] = known.try_emplace(location, 0);
    if (isNew && location) {
      // Resolved outside graphMutex(): it may call into the language binding.
      std::string text = locationText(location);
      if (!text.empty()) {
        it->second = static_cast<uint32_t>(graph.lines.size());
        graph.lines.push_back(std::move(text));
      }
    }
    graph.nodes[i].line = it->second;
  }
}

} // namespace graphc
