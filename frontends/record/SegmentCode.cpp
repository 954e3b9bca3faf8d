// From the nodes of one segment to flat words, and from the words to a GraphDesc.
#include "frontends/record/FloatErrors.h"
#include "frontends/record/Record.h"
#include "frontends/record/Snapshot.h"

#include <algorithm>
#include <array>
#include <unordered_map>

namespace graphc {
namespace {

/// What every node and input starts with.
struct Head {
  uint16_t kind = 0;
  uint8_t dtype = 0;
  uint8_t rank = 0;
  uint32_t operands = 0;
  uint8_t apart = 0;    ///< NodeDesc::apart
  bool isSmall = false; ///< NodeDesc::isSmall

  int64_t word() const {
    return static_cast<int64_t>(kind | uint64_t{dtype} << 16 | uint64_t{rank} << 24 |
                                uint64_t{operands} << 32 | uint64_t{apart} << 56 |
                                uint64_t{isSmall} << 63);
  }
  static Head of(int64_t word) {
    auto w = static_cast<uint64_t>(word);
    return {static_cast<uint16_t>(w),
            static_cast<uint8_t>(w >> 16),
            static_cast<uint8_t>(w >> 24),
            static_cast<uint32_t>(w >> 32 & 0xff'ffff),
            static_cast<uint8_t>(w >> 56 & 0x7f),
            w >> 63 != 0};
  }
};

/// Whether two parts of an array have no element in common: along some axis one ends before the
/// other begins, or their steps never meet.
bool areApart(const Node &a, const Node &b) {
  op::UpdateSliceAttrs x, y;
  if (!x.decode(a.attrs()) || !y.decode(b.attrs()))
    return false;
  for (size_t axis = 0; axis < x.starts.size(); ++axis) {
    auto endsOf = [axis](const Node &n, const op::UpdateSliceAttrs &at) {
      int64_t first = at.starts[axis];
      int64_t last = first + (n.operands()[1]->shape()[axis] - 1) * at.steps[axis];
      return std::minmax({first, last});
    };
    auto [low, high] = endsOf(a, x);
    auto [otherLow, otherHigh] = endsOf(b, y);
    if (high < otherLow || otherHigh < low)
      return true;
    if (x.steps[axis] == y.steps[axis] && (x.starts[axis] - y.starts[axis]) % x.steps[axis] != 0)
      return true;
  }
  return false;
}

/// Whether sizes are among an op's attributes.
bool hasExtents(op::OpKind kind) {
  static const auto known = [] {
    std::array<bool, op::kOpKindCount> out{};
    for (int i = 0; i < op::kOpKindCount; ++i)
      out[static_cast<size_t>(i)] = std::ranges::any_of(
          op::opInfo(static_cast<op::OpKind>(i)).attrs,
          [](const op::AttrInfo &a) { return a.kind == op::AttrKind::Extents; });
    return out;
  }();
  return known[static_cast<size_t>(kind)];
}

/// Names of equal sizes. Programs have few: they are compared one by one before a table is made.
class SizeNames {
public:
  op::Extent name(int64_t value, std::vector<int64_t> &symbols) {
    if (value == 0 || value == 1)
      return value;
    if (table.empty()) {
      for (size_t i = 0; i < fewCount; ++i)
        if (few[i].first == value)
          return few[i].second;
      if (fewCount == few.size())
        table.insert(few.begin(), few.end());
    }
    if (!table.empty())
      if (auto it = table.find(value); it != table.end())
        return it->second;
    op::Extent made = op::symbolExtent(static_cast<uint32_t>(symbols.size()));
    symbols.push_back(value);
    if (table.empty())
      few[fewCount++] = {value, made};
    else
      table.emplace(value, made);
    return made;
  }

private:
  std::array<std::pair<int64_t, op::Extent>, 16> few;
  size_t fewCount = 0;
  std::unordered_map<int64_t, op::Extent> table;
};

} // namespace

/// Writes one segment's words. Needs graphMutex().
class SegmentBuilder {
public:
  SegmentBuilder(const Snapshot &snapshot, uint32_t segment, Segment &out)
      : snapshot(snapshot), segment(segment), epoch(nextMarkEpoch()), out(out), code(out.code) {}

  void build() {
    size_t begin = segment ? snapshot.segmentEnds[segment - 1] : 0;
    for (size_t i = begin; i < snapshot.segmentEnds[segment]; ++i) {
      const Snapshot::Entry &e = snapshot.entries[i];
      // Another thread may have computed it meanwhile.
      if (!e.node || e.cheapDepth > 0 || e.node->state() != NodeState::Pending)
        continue;
      uint32_t number = emit(e.node);
      if (e.isOutput) {
        out.outputs.push_back(e.node);
        code.outputs.push_back(number);
      }
    }
  }

private:
  /// Depth is bounded: only cheap operands are emitted from here (kCheapDepth).
  uint32_t emit(const NodeRef &n) {
    std::span<const NodeRef> operands = n->operands();
    std::array<uint32_t, 4> few;
    std::vector<uint32_t> many;
    std::span<uint32_t> values(few.data(), std::min(few.size(), operands.size()));
    if (operands.size() > few.size()) {
      many.resize(operands.size());
      values = many;
    }
    for (size_t i = 0; i < operands.size(); ++i)
      values[i] = valueOf(operands[i]);
    auto number = static_cast<uint32_t>(code.locations.size());
    code.locations.push_back(n->location());
    code.errors.push_back(n->errors() && mayMeetFloatErrors(*n) ? n->errors() : 0);
    if (code.errors.back()) {
      code.watch = op::Watch::Values;
      bool asks = (n->errors() & FloatModes::kUnder) != 0 && mayUnderflow(*n);
      code.asksForUnderflow |= asks;
      code.underflowsUnheard |= asks && itemSize(n->dtype()) < itemSize(DType::Float32);
    }
    code.nodes.push_back(Head{static_cast<uint16_t>(n->kind()), static_cast<uint8_t>(n->dtype()),
                              static_cast<uint8_t>(n->shape().rank()),
                              static_cast<uint32_t>(operands.size()), countApart(*n), isSmall(*n)}
                             .word());
    code.nodes.push_back(static_cast<int64_t>(n->attrs().size()));
    for (int64_t size : n->shape())
      code.nodes.push_back(sizes.name(size, out.symbols));
    for (uint32_t value : values)
      code.nodes.push_back(value);
    emitAttributes(*n, number);
    n->markEpoch = epoch;
    n->mark = number;
    return number;
  }

  /// How many updates of this segment come before `n`, each of the result of the former, that write
  /// parts of its size elsewhere.
  uint8_t countApart(const Node &n) const {
    constexpr uint8_t kMost = 63;
    uint8_t count = 0;
    if (n.kind() != op::OpKind::UpdateSlice)
      return 0;
    for (const Node *before = n.operands()[0].get(); count < kMost; ++count) {
      bool isHere = before->markEpoch == epoch && !(before->mark & SegmentCode::kInput) &&
                    before->kind() == op::OpKind::UpdateSlice;
      if (!isHere || !(before->operands()[1]->shape() == n.operands()[1]->shape()) ||
          !areApart(n, *before))
        break;
      before = before->operands()[0].get();
    }
    return count;
  }

  /// Whether `n` writes so small a part of so large an array that the rest is not to be touched.
  static bool isSmall(const Node &n) {
    constexpr int64_t kLargeBytes = 1 << 16, kLeastShare = 4;
    return n.kind() == op::OpKind::UpdateSlice && n.bytes() >= kLargeBytes &&
           n.operands()[1]->bytes() * kLeastShare <= n.bytes();
  }

  void emitAttributes(const Node &n, uint32_t number) {
    size_t begin = code.nodes.size();
    code.nodes.insert(code.nodes.end(), n.attrs().begin(), n.attrs().end());
    if (n.kind() == op::OpKind::Full && n.shape().rank() == 0 &&
        (n.isKnown() || isFloat(n.dtype()) || n.dtype() == DType::UInt64)) {
      code.literals.push_back(
          {static_cast<uint64_t>(n.attrs()[0]), n.dtype(), number, n.isKnown()});
      code.nodes[begin] = n.isKnown();
      return;
    }
    if (!hasExtents(n.kind()))
      return;
    spans.clear();
    if (!op::splitAttrs(n.kind(), n.attrs(), spans))
      return; // refused when it was recorded
    for (const op::AttrSpan &span : spans)
      if (span.kind == op::AttrKind::Extents)
        for (uint32_t i = 0; i < span.count; ++i) {
          int64_t &word = code.nodes[begin + span.offset + i];
          word = starts.name(word, out.symbols);
        }
  }

  uint32_t valueOf(const NodeRef &n) {
    if (n->markEpoch == epoch)
      return n->mark;
    if (n->state() == NodeState::Pending) {
      const Snapshot::Entry *e = snapshot.find(*n);
      if (e && e->cheapDepth > 0)
        return emit(n);
    }
    uint32_t number = SegmentCode::kInput | static_cast<uint32_t>(out.inputs.size());
    code.inputs.push_back(
        Head{0, static_cast<uint8_t>(n->dtype()), static_cast<uint8_t>(n->shape().rank()), 0}
            .word());
    for (int64_t size : n->shape())
      code.inputs.push_back(sizes.name(size, out.symbols));
    out.inputs.push_back(n);
    n->markEpoch = epoch;
    n->mark = number;
    return number;
  }

  const Snapshot &snapshot;
  uint32_t segment;
  uint64_t epoch;
  Segment &out;
  SegmentCode &code;
  // Sizes and starts of equal value are different symbols: that a slice starts at n is no reason to
  // recompile when only one of the two changes.
  SizeNames sizes, starts;
  std::vector<op::AttrSpan> spans;
};

void Snapshot::build(size_t segment, Segment &out) const {
  out.clear();
  std::lock_guard lock(graphMutex());
  SegmentBuilder(*this, static_cast<uint32_t>(segment), out).build();
}

Digest SegmentCode::structure(op::Watch as) const {
  auto bytes = [](const auto &list) {
    return std::span(reinterpret_cast<const uint8_t *>(list.data()), list.size() * sizeof(list[0]));
  };
  // The word of a literal that may be an argument is one that another literal has for a value.
  thread_local std::vector<uint32_t> open;
  open.clear();
  for (const Literal &literal : literals)
    open.push_back(literal.node);
  Digest parts[] = {digestOf(bytes(nodes)), digestOf(bytes(inputs)), digestOf(bytes(outputs)),
                    digestOf(bytes(open)), Digest{static_cast<uint64_t>(as), 0}};
  return digestOf(std::span(reinterpret_cast<const uint8_t *>(parts), sizeof parts));
}

namespace {

/// Numbers of a GraphDesc: inputs, then the literals that are arguments, then the other nodes.
std::vector<uint32_t> finalNumbers(const SegmentCode &code, size_t inputs) {
  std::vector<uint32_t> out(code.locations.size(), ~0u);
  auto next = static_cast<uint32_t>(inputs);
  for (const SegmentCode::Literal &literal : code.literals)
    if (literal.isArgument)
      out[literal.node] = next++;
  for (uint32_t &number : out)
    if (number == ~0u)
      number = next++;
  return out;
}

class LineTable {
public:
  explicit LineTable(std::vector<std::string> &lines) : lines(lines) {}
  uint32_t number(Location location) {
    auto [it, isNew] = known.try_emplace(location, 0);
    if (!isNew || !location)
      return it->second;
    std::string text = locationText(location);
    if (!text.empty()) {
      it->second = static_cast<uint32_t>(lines.size());
      lines.push_back(std::move(text));
    }
    return it->second;
  }

private:
  std::vector<std::string> &lines;
  std::unordered_map<Location, uint32_t> known;
};

} // namespace

std::vector<Location> Segment::placeLocations() const {
  std::vector<Location> out;
  size_t at = 0;
  for (Location location : code.locations) {
    Head head = Head::of(code.nodes[at]);
    if (op::opInfo(static_cast<op::OpKind>(head.kind)).category == op::Category::Indexed)
      out.push_back(location);
    at += 2 + head.rank + head.operands + static_cast<size_t>(code.nodes[at + 1]);
  }
  return out;
}

op::GraphDesc Segment::graph(bool lines) const {
  op::GraphDesc out;
  for (size_t at = 0; at < code.inputs.size();) {
    Head head = Head::of(code.inputs[at++]);
    op::InputDesc &input = out.inputs.emplace_back();
    input.dtype = static_cast<DType>(head.dtype);
    for (uint8_t i = 0; i < head.rank; ++i)
      input.shape.push_back(code.inputs[at++]);
  }
  std::vector<uint32_t> numbers = finalNumbers(code, out.inputs.size());
  for (const SegmentCode::Literal &literal : code.literals)
    if (literal.isArgument)
      out.inputs.push_back({literal.dtype, {}, {}});
  auto final = [&](uint32_t v) {
    return v & SegmentCode::kInput ? v & ~SegmentCode::kInput : numbers[v];
  };
  LineTable table(out.lines);
  size_t literal = 0, at = 0;
  for (uint32_t n = 0; n < code.locations.size(); ++n) {
    Head head = Head::of(code.nodes[at++]);
    auto attrs = static_cast<size_t>(code.nodes[at++]);
    bool isLiteral = literal < code.literals.size() && code.literals[literal].node == n;
    if (isLiteral && code.literals[literal++].isArgument) {
      at += attrs;
      continue;
    }
    op::NodeDesc &node = out.nodes.emplace_back();
    node.kind = static_cast<op::OpKind>(head.kind);
    node.dtype = static_cast<DType>(head.dtype);
    node.apart = head.apart;
    node.isSmall = head.isSmall;
    for (uint8_t i = 0; i < head.rank; ++i)
      node.shape.push_back(code.nodes[at++]);
    for (uint32_t i = 0; i < head.operands; ++i)
      node.operands.push_back(final(static_cast<uint32_t>(code.nodes[at++])));
    for (size_t i = 0; i < attrs; ++i)
      node.attrs.push_back(code.nodes[at++]);
    if (isLiteral)
      node.attrs[0] = static_cast<int64_t>(code.literals[literal - 1].bits);
    if (lines)
      node.line = table.number(code.locations[n]);
  }
  for (uint32_t v : code.outputs)
    out.outputs.push_back(final(v));
  out.symbolCount = static_cast<uint32_t>(symbols.size());
  out.watch = code.watch;
  return out;
}

std::vector<NodeRef> Segment::replay(std::span<const NodeRef> given, rt::Device &device,
                                     const Replayed &replayed) const {
  std::vector<NodeRef> out;
  std::vector<op::AttrSpan> spans;
  size_t literal = 0, at = 0;
  auto size = [&](int64_t word) { return op::isSymbol(word) ? symbols[op::symbolOf(word)] : word; };
  for (uint32_t n = 0; n < code.locations.size(); ++n) {
    Head head = Head::of(code.nodes[at++]);
    auto attrCount = static_cast<size_t>(code.nodes[at++]);
    auto kind = static_cast<op::OpKind>(head.kind);
    op::TensorType type{static_cast<DType>(head.dtype), {}};
    type.shape.resize(head.rank);
    for (uint8_t i = 0; i < head.rank; ++i)
      type.shape[i] = size(code.nodes[at++]);
    std::vector<NodeRef> operands;
    for (uint32_t i = 0; i < head.operands; ++i) {
      auto v = static_cast<uint32_t>(code.nodes[at++]);
      operands.push_back(v & SegmentCode::kInput ? given[v & ~SegmentCode::kInput] : out[v]);
    }
    std::vector<int64_t> attrs(code.nodes.begin() + static_cast<std::ptrdiff_t>(at),
                               code.nodes.begin() + static_cast<std::ptrdiff_t>(at + attrCount));
    at += attrCount;
    if (literal < code.literals.size() && code.literals[literal].node == n)
      attrs[0] = static_cast<int64_t>(code.literals[literal++].bits);
    spans.clear();
    if (hasExtents(kind) && op::splitAttrs(kind, attrs, spans))
      for (const op::AttrSpan &span : spans)
        for (uint32_t i = 0; span.kind == op::AttrKind::Extents && i < span.count; ++i)
          attrs[span.offset + i] = size(attrs[span.offset + i]);
    out.push_back(
        Node::makeOp(kind, operands, std::move(attrs), std::move(type), device, code.locations[n]));
    if (replayed)
      replayed(n, out.back());
  }
  return out;
}

op::OpKind Segment::kindOf(size_t node) const {
  size_t at = 0;
  for (; node > 0; --node) {
    Head head = Head::of(code.nodes[at]);
    at += 2 + head.rank + head.operands + static_cast<size_t>(code.nodes[at + 1]);
  }
  return static_cast<op::OpKind>(Head::of(code.nodes[at]).kind);
}

bool Segment::has(op::OpKind kind) const {
  for (size_t at = 0; at < code.nodes.size();) {
    Head head = Head::of(code.nodes[at]);
    if (static_cast<op::OpKind>(head.kind) == kind)
      return true;
    at += 2 + head.rank + head.operands + static_cast<size_t>(code.nodes[at + 1]);
  }
  return false;
}

std::vector<Location> Segment::locations() const {
  std::vector<Location> out;
  size_t literal = 0;
  for (uint32_t n = 0; n < code.locations.size(); ++n) {
    bool isLiteral = literal < code.literals.size() && code.literals[literal].node == n;
    if (!isLiteral || !code.literals[literal++].isArgument)
      out.push_back(code.locations[n]);
  }
  return out;
}

std::string Segment::lineOf(int64_t node) const {
  if (node < 0)
    return "";
  std::vector<Location> all = locations();
  auto number = static_cast<size_t>(node);
  return number < all.size() && all[number] ? locationText(all[number]) : std::string();
}

} // namespace graphc
