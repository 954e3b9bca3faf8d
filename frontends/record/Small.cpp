#include "frontends/record/Small.h"

#include "frontends/record/FloatErrors.h"
#include "frontends/record/InterpretPlain.h"
#include "frontends/record/Known.h"
#include "frontends/record/Record.h"
#include "frontends/record/Recycle.h"
#include "frontends/record/Session.h"
#include "frontends/record/SmallComplex.h"
#include "frontends/record/Trace.h"
#include "runtime/base/Setting.h"
#include "runtime/base/UnderflowFlag.h"
#include "runtime/library/Library.h"

#include <atomic>
#include <cmath>
#include <vector>

namespace graphc::small {
namespace {

using op::OpKind;

Setting loopTurns{"GRAPHC_LOOP_TURNS",
                  "how often a line records an operation on small arrays before its operations are "
                  "computed at once; 'never' records all",
                  "16"};
int turnsFromSetting() {
  constexpr int kUsual = 16;
  if (loopTurns.get() == "never")
    return kNever;
  auto number = loopTurns.integer(0, kNever - 1);
  return number && *number ? static_cast<int>(**number) : kUsual;
}

/// Larger arrays are not computed, nor copied, for the sake of a part.
constexpr int64_t kMostTarget = 256 << 10;

/// Read when it is first asked for.
std::atomic<int> &turnsWanted() {
  static std::atomic<int> turns{turnsFromSetting()};
  return turns;
}

/// Turns of a line and kind of operation, by a hash of the two: lines that share a place are loops
/// somewhat earlier, which lines beside them, recorded still, pay with programs of their own. So
/// there are many places.
constexpr int kPlaceBits = 16;
constexpr size_t kPlaces = 1 << kPlaceBits;
std::array<std::atomic<uint8_t>, kPlaces> turns;
/// By the same hash: whether such a result had to be computed for an operation of a loop, and
/// whether one of more than kFew elements had to, for which another loop may fuse. Once is enough:
/// as long as a line goes now one way, now the other, each mixture is another program.
enum Reads : uint8_t { kOfAny = 1, kOfMany = 2 };
std::array<std::atomic<uint8_t>, kPlaces> reads;

size_t placeOf(Location location, OpKind kind) {
  constexpr uint64_t kSpread = 0x9e3779b97f4a7c15u;
  return (location * op::kOpKindCount + static_cast<uint64_t>(kind)) * kSpread >> (64 - kPlaceBits);
}

/// Takes down that a pending value, and with it what it is made of, is computed for an operation of
/// a loop. All of them at once: else one line more would be computed at once each turn, and each
/// turn would be another program.
void noteReads(const NodeRef &value) {
  std::lock_guard lock(graphMutex());
  uint64_t epoch = nextMarkEpoch();
  std::vector<Node *> stack{value.get()};
  while (!stack.empty()) {
    Node *n = stack.back();
    stack.pop_back();
    const uint8_t size = n->bytes() > kFew * itemSize(n->dtype()) ? kOfAny | kOfMany : kOfAny;
    reads[placeOf(n->location(), n->kind())].fetch_or(size, std::memory_order_relaxed);
    for (const NodeRef &operand : n->operands())
      if (operand->state() == NodeState::Pending && operand->markEpoch != epoch) {
        operand->markEpoch = epoch;
        stack.push_back(operand.get());
      }
  }
}

/// Whether a pending value still needs one that is large: what it was recorded with may have been
/// computed since. A loop may never read what it makes of large values, so that a long graph needs
/// none: what is left of it would be as long each turn.
bool needsLarge(const NodeRef &value) {
  constexpr int kMost = 256;
  if (value->reach() <= kMostTarget)
    return false;
  std::lock_guard lock(graphMutex());
  uint64_t epoch = nextMarkEpoch();
  std::vector<Node *> stack{value.get()};
  for (int met = 0; !stack.empty() && met < kMost; ++met) {
    Node *n = stack.back();
    stack.pop_back();
    op::Category category = op::opInfo(n->kind()).category;
    bool picks = category == op::Category::Movement || category == op::Category::Indexed;
    if (n->bytes() > kMostTarget)
      return true;
    for (const NodeRef &operand : n->operands()) {
      if (operand->state() == NodeState::Ready) {
        if (!picks && operand->bytes() > kMostTarget)
          return true;
      } else if (operand->reach() > kMostTarget && operand->markEpoch != epoch) {
        operand->markEpoch = epoch;
        stack.push_back(operand.get());
      }
    }
  }
  return false;
}

} // namespace

bool broadcasts(std::span<const int64_t> from, std::span<const int64_t> to) {
  for (size_t i = 1; i <= std::min(from.size(), to.size()); ++i)
    if (from[from.size() - i] != 1 && from[from.size() - i] != to[to.size() - i])
      return false;
  return from.size() <= to.size();
}

int setLoopTurns(int wanted) {
  for (std::atomic<uint8_t> &place : turns)
    place.store(0, std::memory_order_relaxed);
  for (std::atomic<uint8_t> &place : reads)
    place.store(0, std::memory_order_relaxed);
  return turnsWanted().exchange(wanted);
}

namespace {
thread_local int widerDepth = 0;
} // namespace

Wider::Wider() { ++widerDepth; }
Wider::~Wider() { --widerDepth; }
int64_t mostBytes() {
  constexpr int64_t kUsual = kMostRead * sizeof(double);
  return widerDepth ? 64 * kMostBytes : kUsual;
}
int64_t mostWork() { return int64_t{1} << (widerDepth ? 23 : 15); }

int loopTurns() { return turnsWanted().load(std::memory_order_relaxed); }

/// Of what the line that records now records of this kind.
static uint8_t readsOf(OpKind kind) {
  Location location = RecordScope::location();
  return location ? reads[placeOf(location, kind)].load(std::memory_order_relaxed) : 0;
}

bool isLoop(OpKind kind, int64_t elements, const rt::Device &device, bool counts) {
  int wanted = turnsWanted().load(std::memory_order_relaxed);
  // Whose loops are several operations nobody listens to.
  const bool isSeveral = kind == OpKind::Fma || kind == OpKind::Iota;
  if (elements > kMostRead || elements == 0 || wanted == kNever || Trace::active() ||
      !mayBeOnHost(device) || (isSeveral && (RecordScope::errors() & FloatModes::kUnder)))
    return false;
  if (elements > kFew && !(readsOf(kind) & kOfMany))
    return false;
  if (wanted == 0)
    return true;
  Location location = RecordScope::location();
  if (!location)
    return false;
  auto &count = turns[placeOf(location, kind)];
  uint8_t now = count.load(std::memory_order_relaxed);
  if (now >= wanted)
    return true;
  if (counts)
    count.store(static_cast<uint8_t>(now + 1), std::memory_order_relaxed);
  return false;
}

bool isComputedAtOnce(const Node &single) {
  return single.state() == NodeState::Pending && single.reach() <= kMostReach &&
         turnsWanted().load(std::memory_order_relaxed) != kNever && !Trace::active() &&
         mayBeOnHost(single.device());
}

void noteLook(const NodeRef &value) {
  if (value->state() == NodeState::Pending && value->reach() <= kMostBytes && !Trace::active() &&
      mayBeOnHost(value->device()))
    noteReads(value);
}

/// What operations that are pending write, and read of each other, as long as that is little; too
/// much where it is not known.
static int64_t bytesBetween(const NodeRef &value) {
  constexpr int kMost = 8;
  int64_t bytes = 0;
  std::array<const Node *, kMost> met{value.get()};
  int count = 1;
  std::lock_guard lock(graphMutex());
  for (int next = 0; next < count; ++next) {
    const Node *n = met[static_cast<size_t>(next)];
    const op::Category category = op::opInfo(n->kind()).category;
    bytes += category == op::Category::Movement ? 0 : n->bytes();
    for (const NodeRef &operand : n->operands()) {
      if (operand->state() != NodeState::Pending || knownBits(*operand) ||
          std::find(met.begin(), met.begin() + count, operand.get()) != met.begin() + count)
        continue;
      if (count == kMost)
        return std::numeric_limits<int64_t>::max();
      met[static_cast<size_t>(count++)] = operand.get();
    }
  }
  return bytes;
}

void noteAsked(const NodeRef &value) {
  // About what a core moves within its second cache while a program is recorded and launched.
  constexpr int64_t kWorthFusing = 256 << 10;
  if (value->state() == NodeState::Pending && !Trace::active() && mayBeOnHost(value->device()) &&
      turnsWanted().load(std::memory_order_relaxed) != kNever &&
      bytesBetween(value) <= kWorthFusing)
    noteReads(value);
}

void noteWritten(const NodeRef &value) {
  if (value->state() == NodeState::Pending && value->bytes() <= kMostTarget)
    noteReads(value);
}

bool isWrittenAtOnce(int64_t bytes, const rt::Device &device) {
  return bytes <= kMostTarget && readsOf(OpKind::Broadcast) && !Trace::active() &&
         mayBeOnHost(device) && turnsWanted().load(std::memory_order_relaxed) != kNever;
}

/// Whether a value is made of literals alone, by at most `most` operations.
static bool isConstant(const Node &n, int &most) {
  return knownBits(n).has_value() ||
         (n.state() == NodeState::Pending && --most >= 0 &&
          std::ranges::all_of(n.operands(),
                              [&](const NodeRef &operand) { return isConstant(*operand, most); }));
}

static bool isSmall(const NodeRef &value) { return value->reach() <= kMostBytes; }

/// What `n` is, in another shape.
static const Node *unshaped(const Node *n) {
  while (n->state() == NodeState::Pending && n->kind() == OpKind::Reshape)
    n = n->operands()[0].get();
  return n;
}

/// What small values were written into by a scatter; null where `n` is none.
static const Node *scatteredInto(const Node *n) {
  const bool isOne = n->state() == NodeState::Pending && n->kind() == OpKind::Scatter;
  return isOne && std::all_of(n->operands().begin() + 1, n->operands().end(), isSmall)
             ? unshaped(n->operands()[0].get())
             : nullptr;
}

/// What a small part was written into: one that is made of small values, or was there before but
/// for a few elements. Null where `n` is no such write.
static const Node *writtenInto(const Node *n) {
  if (n->state() != NodeState::Pending || n->kind() != OpKind::UpdateSlice)
    return scatteredInto(n);
  const NodeRef &whole = n->operands()[0], &part = n->operands()[1];
  if (isSmall(part))
    return unshaped(whole.get());
  const Node *into = unshaped(whole.get());
  const Node *from = part->bytes() <= kMostBytes ? scatteredInto(unshaped(part.get())) : nullptr;
  while (from && from != into && from->state() == NodeState::Pending &&
         op::opInfo(from->kind()).category == op::Category::Movement)
    from = unshaped(from->operands()[0].get());
  return from == into ? into : nullptr;
}

/// Whether a pending value is a constant, or one operation on what is computed, with small parts
/// written into it: a loop fills it, and there is nothing that it fuses with.
static bool isFilledInParts(const NodeRef &value) {
  std::lock_guard lock(graphMutex());
  const Node *n = unshaped(value.get());
  for (int most = 32; most > 0; --most)
    if (const Node *before = writtenInto(n))
      n = before;
    else
      break;
  if (n->state() != NodeState::Pending || n->kind() == OpKind::UpdateSlice ||
      n->kind() == OpKind::Scatter)
    return n->state() == NodeState::Ready && n != value.get();
  int most = 8;
  return isConstant(*n, most) || std::ranges::all_of(n->operands(), [](const NodeRef &operand) {
           return operand->state() != NodeState::Pending || knownBits(*operand);
         });
}

Result<bool> settle(Array &x) {
  if (x.storage()->exclusive())
    return true;
  int64_t bytes = x.storage()->current()->reach();
  if ((bytes > kMostBytes && x.storage()->countElementWrite() < ops::kLazyWrites) ||
      (bytes > kMostTarget && !isFilledInParts(x.storage()->current())))
    return false;
  noteWritten(x.storage()->current());
  GRAPHC_TRY(ops::detach(x));
  return x.storage()->exclusive();
}

bool mustBeFinite() { return RecordScope::errors() != 0; }

bool hearsUnderflow(OpKind kind, DType t) {
  return (RecordScope::errors() & FloatModes::kUnder) && mayUnderflow(kind, t);
}

Result<Elements> elementsOf(const Array &x) {
  // Bytes of another dtype may be no bools, nor those of someone else.
  const bool mayBeNone = x.dtype() == DType::Bool;
  if (!x.view().hasLayout() || (mayBeNone && x.view().isRecast()) || !mayBeOnHost(x.device()))
    return Elements();
  NodeRef base = x.storage()->current();
  if (base->state() == NodeState::Pending) {
    // What is larger, or needs much larger ones, is computed for a loop that reads it again and
    // again: were it left pending, so would be all that the loop makes of it.
    bool isLarge = base->bytes() > kMostBytes || needsLarge(base);
    if (isLarge && !ops::isWalkedOver(x))
      return Elements();
    noteReads(base);
    GRAPHC_ASSIGN(bool isKnown, hasValue(base, "loop"));
    if (!isKnown)
      return Elements();
  }
  if (base->state() != NodeState::Ready || (mayBeNone && !base->buffer()->isPrivate()))
    return Elements();
  const char *first = whereRead(*base, x.size() * itemSize(x.dtype()));
  return first ? Elements{std::move(base), first + x.view().offset() * itemSize(x.dtype())}
               : Elements();
}

Result<NodeRef> makeNode(DType t, const Shape &shape, rt::Device &device) {
  if (NodeRef kept = recycle::take(t, shape, device))
    return kept;
  GRAPHC_ASSIGN(rt::BufferRef buffer, device.allocate(countOf(shape) * itemSize(t)));
  return Node::makeReady({t, shape}, device, std::move(buffer));
}

Outcome finished(NodeRef node, Result<bool> done) {
  GRAPHC_ASSIGN(bool isDone, std::move(done));
  return isDone ? std::move(node) : NodeRef();
}

Array arrayOf(NodeRef node) {
  if (node->shape().rank() == 0)
    if (auto bits = knownBits(*node)) {
      const KnownValue value{*bits, node->dtype(), &node->device()};
      recycle::keepSingle(std::move(node));
      return Array(value);
    }
  return Array(std::move(node));
}

Outcome full(const Shape &shape, const op::Scalar &value, DType t, rt::Device &device) {
  GRAPHC_ASSIGN(NodeRef out, makeNode(t, shape, device));
  auto done = withElementType(t, [&]<typename T>(T) -> Result<bool> {
    ReaderOf<T> reader;
    GRAPHC_ASSIGN(bool isRead, reader.read(Operand(value), t, shape));
    if (isRead)
      std::fill_n(dataOf<T>(out), countOf(shape), *reader.run().data);
    return isRead;
  });
  return finished(std::move(out), std::move(done));
}

Outcome iota(int64_t count, DType t, rt::Device &device) {
  GRAPHC_ASSIGN(NodeRef out, makeNode(t, {count}, device));
  auto done = withRealType(t, [&]<typename T>(T) -> Result<bool> {
    if constexpr (std::is_integral_v<T>)
      if (count - 1 > static_cast<int64_t>(std::numeric_limits<T>::max()) && sizeof(T) < 8)
        return false;
    for (int64_t i = 0; i < count; ++i)
      dataOf<T>(out)[i] = static_cast<T>(i);
    return true;
  });
  return finished(std::move(out), std::move(done));
}

namespace {

/// Floats without their fractions, where all of them have a place among the integers of a type;
/// false, with nothing that counts written, for others.
template <typename S, typename T>
[[gnu::always_inline]] inline bool wholeOf(const S *from, T *to, int64_t count) {
  constexpr int kBits = std::min(std::numeric_limits<T>::digits, 62);
  constexpr auto kEnd = static_cast<S>(int64_t{1} << kBits);
  constexpr S kBegin = std::is_signed_v<T> ? -kEnd : S{-1};
  using Wide = std::conditional_t<(sizeof(T) < 4), int32_t, T>;
  bool isInside = true;
  for (int64_t i = 0; i < count; ++i) // neither is a NaN
    isInside &= (from[i] > kBegin) & (from[i] < kEnd);
  for (int64_t i = 0; isInside && i < count; ++i)
    to[i] = static_cast<T>(static_cast<Wide>(from[i]));
  return isInside;
}
template <typename S, typename T>
GRAPHC_WIDE bool wholeWide(const S *from, T *to, int64_t count) {
  return wholeOf(from, to, count);
}

template <typename S, typename T>
[[gnu::always_inline]] inline void convertOf(const S *from, T *to, int64_t count) {
  using Byte = std::conditional_t<std::is_same_v<S, bool>, uint8_t, S>; // any but 0 is true
  const auto *elements = reinterpret_cast<const Byte *>(from);
  for (int64_t i = 0; i < count; ++i)
    if constexpr (std::is_same_v<S, bool> || std::is_same_v<T, bool>)
      to[i] = static_cast<T>(elements[i] != Byte{0});
    else
      to[i] = static_cast<T>(elements[i]);
}
template <typename S, typename T>
GRAPHC_WIDE void convertWide(const S *from, T *to, int64_t count) {
  convertOf(from, to, count);
}

/// One loop over elements that lie side by side; false where there is more to it.
template <typename S, typename T>
bool convertDense(const S *from, T *to, int64_t count) {
  if constexpr (std::is_same_v<S, T>)
    return false;
  else if constexpr (std::is_floating_point_v<S> && std::is_integral_v<T> &&
                     !std::is_same_v<T, bool>)
    return hasWide() ? wholeWide(from, to, count) : wholeOf(from, to, count);
  else
    hasWide() ? convertWide(from, to, count) : convertOf(from, to, count);
  if constexpr (std::is_floating_point_v<T> && sizeof(T) < sizeof(S))
    return !mustBeFinite() || allFinite(to, count);
  return true;
}

} // namespace

bool castDense(DType from, const void *elements, DType to, void *out, int64_t count) {
  return hostmath::withType(from, [&]<typename S>(S) {
    return hostmath::withType(to, [&]<typename T>(T) {
      return convertDense(static_cast<const S *>(elements), static_cast<T *>(out), count);
    });
  });
}

/// A copy of computed elements that lie side by side; null for others.
static Outcome castDense(const Array &x, DType t) {
  const Elements from = denseElementsOf(x);
  if (!from.base || x.size() == 0 || x.known() || x.rank() == 0)
    return NodeRef();
  GRAPHC_ASSIGN(NodeRef out, makeNode(t, x.shape(), x.device()));
  return finished(out, castDense(x.dtype(), from.first, t, out->buffer()->host(), x.size()));
}

Outcome cast(const Array &x, DType t) {
  if (plain::hasElements(x.dtype()) && plain::hasElements(t) && x.dtype() != t) {
    GRAPHC_ASSIGN(NodeRef made, castDense(x, t));
    if (made)
      return made;
  }
  GRAPHC_ASSIGN(NodeRef out, makeNode(t, x.shape(), x.device()));
  auto done = withElementType(t, [&]<typename T>(T) -> Result<bool> {
    ReaderOf<T> reader;
    GRAPHC_ASSIGN(bool isRead, reader.read(x, t, x.shape()));
    if (!isRead)
      return false;
    Run<T> from = reader.run();
    int64_t count = countOf(x.shape());
    if (from.steps)
      std::copy_n(from.data, count, dataOf<T>(out));
    else
      std::fill_n(dataOf<T>(out), count, *from.data);
    return x.dtype() == t || !mustBeFinite() || allFinite(dataOf<T>(out), count);
  });
  GRAPHC_ASSIGN(bool isDone, std::move(done));
  return isDone ? std::move(out) : plain::cast(x, t);
}

bool isCollection(std::span<const Array> xs, DType t) {
  if (Trace::active() || !mayBeOnHost(xs[0].device()))
    return false;
  int64_t joined = 0, most = 0;
  for (const Array &x : xs) {
    most = std::max(most, x.size() * itemSize(x.dtype()));
    joined += x.size() * itemSize(t);
  }
  return isCollection(xs.size(), most, joined) && std::ranges::all_of(xs, [](const Array &x) {
           return x.known() || x.storage()->current()->state() == NodeState::Ready;
         });
}

/// Whether values of other dtypes may have been finite before they were converted to `t`.
static bool isNarrow(DType t) { return t == DType::Float32 || t == DType::Complex64; }

Outcome concatenate(std::span<const Array> xs, DType t, size_t axis) {
  Shape shape = xs[0].shape();
  shape[axis] = 0;
  for (const Array &x : xs)
    shape[axis] += x.shape()[axis];
  GRAPHC_ASSIGN(NodeRef out, makeNode(t, shape, xs[0].device()));
  int64_t inner = countOf(std::span<const int64_t>(shape).subspan(axis + 1));
  int64_t outer = countOf(std::span<const int64_t>(shape).first(axis));
  auto done = withElementType(t, [&]<typename T>(T) -> Result<bool> {
    T *to = dataOf<T>(out);
    for (const Array &x : xs) {
      ReaderOf<T> reader;
      GRAPHC_ASSIGN(bool isRead, reader.read(x, t, x.shape()));
      if (!isRead)
        return false;
      Run<T> from = reader.run();
      const int64_t piece = x.shape()[axis] * inner, step = shape[axis] * inner;
      for (int64_t i = 0; i < outer; ++i)
        if (piece == 1)
          to[i * step] = from.data[from.steps ? i : 0];
        else if (from.steps)
          std::copy_n(from.data + i * piece, piece, to + i * step);
        else
          std::fill_n(to + i * step, piece, *from.data);
      to += piece;
    }
    return !mustBeFinite() || !isNarrow(t) || allFinite(dataOf<T>(out), countOf(shape));
  });
  return finished(std::move(out), std::move(done));
}

Outcome library(Routine routine, std::span<const Array> operands, std::span<const int64_t> params,
                const op::TensorType &result) {
  constexpr size_t kMost = 3;
  if (operands.size() > kMost || countOf(result.shape) * itemSize(result.dtype) > mostBytes())
    return NodeRef();
  std::array<NodeRef, kMost> kept;
  std::array<rt::library::Operand, kMost> given;
  for (size_t i = 0; i < operands.size(); ++i) {
    const Array &x = operands[i];
    // What is searched is looked at in few places, however long it is.
    const bool isSearched = routine == Routine::Searchsorted && i == 0 && x.view().isContiguous() &&
                            !x.known() && x.storage()->current()->state() == NodeState::Ready;
    if (x.size() == 0 || (x.size() * itemSize(x.dtype()) > mostBytes() && !isSearched))
      return NodeRef();
    GRAPHC_ASSIGN(Elements elements, elementsOf(x));
    if (!elements.base)
      return NodeRef();
    void *data = const_cast<char *>(elements.first); // operands are read only
    kept[i] = std::move(elements.base);
    if (!x.view().isContiguous()) {
      GRAPHC_ASSIGN(kept[i], detached(x));
      if (!kept[i])
        return NodeRef();
      data = dataOf<char>(kept[i]);
    }
    given[i] = {data, x.dtype(), x.shape()};
  }
  GRAPHC_ASSIGN(NodeRef out, makeNode(result.dtype, result.shape, operands[0].device()));
  rt::library::Operand to{dataOf<char>(out), result.dtype, result.shape};
  if (!rt::library::run(routine, {std::span(given).first(operands.size()), to, params}))
    return NodeRef();
  return out;
}

/// Of dtypes that have no loops: elements of the target's shape, converted and moved as words.
static Result<bool> assignWords(Array &target, const Array &value) {
  const View &view = target.view();
  if (value.dtype() != target.dtype()) {
    GRAPHC_ASSIGN(NodeRef converted, castDense(value, target.dtype()));
    return converted ? assignWords(target, Array(std::move(converted), 0)) : Result<bool>(false);
  }
  const Elements from = denseElementsOf(value);
  if (!from.base || !(value.shape() == target.shape()) || value.sharesStorage(target))
    return false;
  GRAPHC_ASSIGN(bool isOwn, settle(target));
  return isOwn && target.storage()->update([&](rt::Buffer &buffer) {
    withWord(itemSize(target.dtype()), [&]<typename W>(W) {
      spread(reinterpret_cast<const W *>(from.first), view.shape(), view.strides(),
             static_cast<W *>(buffer.host()) + view.offset());
    });
  });
}

Result<bool> assign(Array &target, const Operand &value) {
  const View &view = target.view();
  const DType t = target.dtype();
  if (view.isReadOnly() || !view.hasLayout() || value.shape().size() > view.shape().size())
    return false;
  if (!isComplex(t) && !hostmath::withType(t, [](auto) { return true; }))
    return value.array ? assignWords(target, *value.array) : Result<bool>(false);
  int64_t count = countOf(view.shape());
  return withElementType(target.dtype(), [&]<typename T>(T) -> Result<bool> {
    ReaderOf<T> reader;
    GRAPHC_ASSIGN(bool isRead, reader.read(value, target.dtype(), view.shape()));
    if (!isRead)
      return false;
    // The value may be a part of what is written.
    if (value.array && !value.array->known() && value.array->sharesStorage(target)) {
      reader.letGo(); // it would be one more who sees the memory
      if (value.array->mayShareMemory(target) || !target.storage()->exclusive())
        reader.keep(count);
    }
    if (mustBeFinite() && isNarrow(target.dtype()) && reader.run().steps &&
        !allFinite(reader.run().data, count))
      return false;
    GRAPHC_ASSIGN(bool isOwn, settle(target));
    return isOwn && target.storage()->update([&, from = reader.run()](rt::Buffer &buffer) {
      T *to = static_cast<T *>(buffer.host()) + view.offset();
      if (from.steps)
        spread(from.data, view.shape(), view.strides(), to);
      else
        fill(*from.data, view.shape(), view.strides(), to);
    });
  });
}

Outcome detached(const Array &x) {
  GRAPHC_ASSIGN(Elements elements, elementsOf(x));
  if (!elements.base)
    return NodeRef();
  GRAPHC_ASSIGN(NodeRef out, makeNode(x.dtype(), x.shape(), x.device()));
  withElement(itemSize(x.dtype()), [&]<typename T>(T) {
    gather(reinterpret_cast<const T *>(elements.first), x.shape(), x.view().strides(),
           dataOf<T>(out));
  });
  return out;
}

} // namespace graphc::small
