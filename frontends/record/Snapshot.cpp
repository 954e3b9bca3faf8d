#include "frontends/record/Snapshot.h"

#include "runtime/base/Fork.h"

#include <algorithm>
#include <condition_variable>
#include <functional>
#include <optional>
#include <tuple>

namespace graphc {
namespace {

/// Longest chain of cheap operations that is repeated in each segment.
constexpr uint8_t kCheapDepth = 8;
/// Movement counts this much less than computation towards the length of a segment.
constexpr size_t kMembersPerNode = 4;

op::Category category(const Node &n) { return op::opInfo(n.kind()).category; }
bool isMovement(const Node &n) { return category(n) == op::Category::Movement; }
bool isGenerator(const Node &n) { return category(n) == op::Category::Generator; }
/// The same operation at the same place of the user's program.
bool sameCall(const Node &a, const Node &b) {
  return a.location() != 0 && a.location() == b.location() && a.kind() == b.kind();
}

/// Who is between retake() and clear(), and who overwrites a value. Needs graphMutex().
struct Presences {
  int64_t snapshots = 0;
  int64_t claims = 0;
  uint32_t generation = 0; ///< of forks
  std::condition_variable_any *released = new std::condition_variable_any;

  /// In a forked child: the other threads are gone, and with them what they held.
  void renew() {
    if (generation == forkGeneration())
      return;
    generation = forkGeneration();
    snapshots = claims = 0;
    released = new std::condition_variable_any; // the old one may count waiters that are gone
  }
};
Presences &presences() {
  static auto *p = new Presences; // used until the process ends
  return *p;
}

} // namespace

Snapshot::Presence::~Presence() {
  if (!present)
    return;
  std::lock_guard lock(graphMutex());
  presences().renew();
  presences().snapshots -= generation == presences().generation;
}
void Snapshot::Presence::enter() {
  present = true;
  generation = presences().generation;
  ++presences().snapshots;
}

Result<Snapshot> Snapshot::take(std::span<const NodeRef> roots, bool placeholders,
                                size_t segmentNodes) {
  Snapshot s;
  GRAPHC_TRY(s.retake(roots, placeholders, segmentNodes));
  return s;
}

void Snapshot::clear() {
  claimed.release();
  entries.clear();
  segmentEnds.clear();
  presence = {};
}

bool Snapshot::claim(const NodeRef &input) {
  std::lock_guard lock(graphMutex());
  // Another snapshot may hold nodes that lead to this value.
  if (presences().snapshots != 1 || input->buffer().use_count() != 1 ||
      !input->buffer()->isPrivate())
    return false;
  uint32_t uses = 1; // the segment's
  for (Entry &e : entries) {
    e.readsClaimed = false;
    if (!e.node || e.node->state() != NodeState::Pending)
      continue;
    for (const NodeRef &operand : e.node->operands()) {
      const Entry *from = operand == input ? nullptr : find(*operand);
      e.readsClaimed |= operand == input || (from && from->readsClaimed);
      uses += operand == input;
    }
    // What others hold stays pending unless it is a result of this run.
    if (e.readsClaimed && !e.isOutput && e.node->references() > e.internalUses + 1)
      return false;
  }
  if (input->references() > uses)
    return false;
  claimed.add(input);
  return true;
}

bool Overwrites::claim(const NodeRef &value, uint32_t holders) {
  std::lock_guard lock(graphMutex());
  presences().renew();
  if (presences().snapshots != 0 || value->references() > holders ||
      value->buffer().use_count() != 1 || !value->buffer()->isPrivate())
    return false;
  add(value);
  return true;
}

void Overwrites::add(const NodeRef &value) {
  presences().claims += nodes.empty();
  value->isTaken = true;
  nodes.push_back(value);
}

void Overwrites::end(size_t first) {
  if (first >= nodes.size())
    return;
  {
    std::lock_guard lock(graphMutex());
    for (const NodeRef &node : std::span(nodes).subspan(first))
      node->isTaken = false;
    // None are counted in a child that was forked meanwhile.
    presences().claims -= first == 0 && presences().claims > 0;
    presences().released->notify_all();
  }
  nodes.resize(first);
}

void Overwrites::dropLast() { end(nodes.size() - 1); }
void Overwrites::release() { end(0); }

Status Snapshot::retake(std::span<const NodeRef> roots, bool placeholders, size_t segmentNodes) {
  clear();
  std::unique_lock lock(graphMutex());
  presences().renew();
  presences().released->wait(lock, [] { return presences().claims == 0; });
  presence.enter();
  if (!collect(roots) && !placeholders)
    return Status(
        ErrorCode::Trace,
        "a value that depends on the arguments of a traced function is not known while the "
        "function is traced; it cannot be printed, converted or branched on");
  classify(roots);
  // What is held of a function besides its roots, most often an array whose view is returned, has
  // no value outside of its calls.
  if (!placeholders)
    markHeld();
  cut(segmentNodes);
  return Status::ok();
}

bool Snapshot::collect(std::span<const NodeRef> roots) {
  uint64_t epoch = nextMarkEpoch();
  bool known = true;
  stack.clear();
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
  // Most programs are met from their end on.
  if (std::ranges::is_sorted(entries, std::greater{}, &Entry::sequence))
    std::ranges::reverse(entries);
  else
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
}

/// One reference is ours. Whoever holds another one may ask for the value later.
void Snapshot::markHeld() {
  for (Entry &e : entries)
    if (e.cheapDepth == 0 && e.node->references() > e.internalUses + 1)
      e.isOutput = true;
}

std::vector<uint32_t> Snapshot::lastUses() const {
  std::vector<uint32_t> last(entries.size(), 0);
  for (uint32_t i = 0; i < entries.size(); ++i)
    for (const NodeRef &operand : entries[i].node->operands())
      if (operand->state() == NodeState::Pending)
        last[operand->mark] = i;
  return last;
}

/// Of a part of a segment.
class Snapshot::Length {
public:
  explicit Length(size_t nodes) : nodes(nodes) {}
  void add(const Node &n) {
    ++members;
    computed += !isMovement(n) && !isGenerator(n);
  }
  bool isHalf() const { return 2 * computed >= nodes || 2 * members >= kMembersPerNode * nodes; }
  bool isWhole() const { return computed >= nodes || members >= kMembersPerNode * nodes; }
  bool isTwice() const { return computed >= 2 * nodes || members >= 2 * kMembersPerNode * nodes; }

private:
  size_t nodes, computed = 0, members = 0;
};

uint32_t Snapshot::narrowest(uint32_t first, uint32_t wanted, size_t segmentNodes,
                             std::vector<uint32_t> &lastUse) const {
  if (lastUse.empty())
    lastUse = lastUses();
  // A value that is stored anyway costs its second reader little.
  auto bytesOf = [&](uint32_t i) { return entries[i].isOutput ? 0 : entries[i].node->bytes(); };
  int64_t bytes = 0, values = 0;
  auto count = static_cast<uint32_t>(entries.size());
  Length length(segmentNodes);
  // Many parts of one array are worse than the array: in front of the operation that joins them.
  // Among equals the turn of a loop, so that all its segments are one program.
  using Width = std::tuple<int64_t, bool, uint32_t>;
  std::optional<Width> least;
  uint32_t best = wanted;
  for (uint32_t i = first; i < count && !length.isTwice(); ++i) {
    std::span<const NodeRef> operands = entries[i].node->operands();
    for (size_t k = 0; k < operands.size(); ++k) {
      if (operands[k]->state() != NodeState::Pending)
        continue;
      uint32_t x = operands[k]->mark;
      auto end = operands.begin() + static_cast<std::ptrdiff_t>(k);
      bool isMet = std::find(operands.begin(), end, operands[k]) != end;
      if (x < first || lastUse[x] != i || isMet || entries[x].cheapDepth > 0)
        continue;
      bytes -= bytesOf(x);
      --values;
    }
    if (entries[i].cheapDepth > 0)
      continue;
    length.add(*entries[i].node);
    if (lastUse[i] > i) {
      bytes += bytesOf(i);
      ++values;
    }
    uint32_t end = i + 1, distance = end > wanted ? end - wanted : wanted - end;
    bool isTurn = end < count && sameCall(*entries[end].node, *entries[first].node);
    Width width{bytes * values, !isTurn, distance};
    if (length.isHalf() && (!least || width < *least)) {
      least = width;
      best = end;
    }
  }
  return best;
}

void Snapshot::cut(size_t segmentNodes) {
  std::vector<uint32_t> lastUse;
  Length length(segmentNodes);
  std::optional<uint32_t> first;
  for (uint32_t i = 0; i < entries.size(); ++i) {
    if (entries[i].cheapDepth > 0)
      continue;
    first = first.value_or(i);
    length.add(*entries[i].node);
    if (!length.isWhole())
      continue;
    segmentEnds.push_back(narrowest(*first, i + 1, segmentNodes, lastUse));
    i = segmentEnds.back() - 1;
    length = Length(segmentNodes);
    first.reset();
  }
  if (first)
    segmentEnds.push_back(static_cast<uint32_t>(entries.size()));
  shareValues();
}

void Snapshot::shareValues() {
  uint32_t segment = 0;
  for (uint32_t i = 0; i < entries.size(); ++i) {
    Entry &e = entries[i];
    segment += segment < segmentEnds.size() && i == segmentEnds[segment];
    if (e.cheapDepth > 0)
      continue;
    e.segment = segment;
    for (const NodeRef &operand : e.node->operands()) {
      if (operand->state() != NodeState::Pending)
        continue;
      Entry &o = entries[operand->mark];
      if (o.cheapDepth == 0 && o.segment != segment)
        o.isOutput = true;
    }
  }
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

std::vector<int64_t> Segment::sizeArguments(size_t wanted) const {
  return {symbols.begin(),
          symbols.begin() + static_cast<std::ptrdiff_t>(std::min(wanted, symbols.size()))};
}

void Segment::clear() {
  code.nodes.clear();
  code.inputs.clear();
  code.outputs.clear();
  code.literals.clear();
  code.locations.clear();
  code.errors.clear();
  code.watch = op::Watch::None;
  code.asksForUnderflow = code.underflowsUnheard = false;
  inputs.clear();
  literals.clear();
  outputs.clear();
  symbols.clear();
}

Segment Snapshot::build(size_t segment) const {
  Segment out;
  build(segment, out);
  return out;
}

} // namespace graphc
