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
/// By the same hash: whether such a result had to be computed for an operation of a loop. Once is
/// enough: as long as a line goes now one way, now the other, each mixture is another program.
std::array<std::atomic<bool>, kPlaces> reads;

size_t placeOf(Location location, OpKind kind) {
  constexpr uint64_t kSpread = 0x9e3779b97f4a7c15u;
  return (location * op::kOpKindCount + static_cast<uint64_t>(kind)) * kSpread >> (64 - kPlaceBits);
}

/// out[i] = f(a[i], b[i]).
template <typename R, typename T, typename F>
[[gnu::always_inline]] inline void zip(R *out, Run<T> a, Run<T> b, int64_t count, F f) {
  if (a.steps && b.steps) {
    for (int64_t i = 0; i < count; ++i)
      out[i] = f(a.data[i], b.data[i]);
  } else if (a.steps) {
    for (int64_t i = 0; i < count; ++i)
      out[i] = f(a.data[i], *b.data);
  } else if (b.steps) {
    for (int64_t i = 0; i < count; ++i)
      out[i] = f(*a.data, b.data[i]);
  } else {
    std::fill_n(out, count, f(*a.data, *b.data));
  }
}

template <typename T>
std::optional<T> folded(OpKind kind, T a, T b) {
  if constexpr (std::is_same_v<T, bool>)
    return hostmath::foldBool(kind, a, b);
  else if constexpr (std::is_floating_point_v<T>)
    return hostmath::foldFloat(kind, a, b);
  else
    return hostmath::foldInteger(kind, a, b);
}

/// The kinds below are known at compile time in each loop, so that it becomes the loop of one
/// operation.
template <OpKind Kind, typename T>
[[gnu::always_inline]] inline void loopOf(void *out, Run<T> a, Run<T> b, int64_t count) {
  if constexpr (hostmath::isComparison(Kind))
    zip(static_cast<bool *>(out), a, b, count,
        [](T x, T y) { return *hostmath::compared(Kind, x, y); });
  else if constexpr (hostmath::isQuestion(Kind))
    zip(static_cast<bool *>(out), a, b, count, [](T x, T) { return *hostmath::answered(Kind, x); });
  else
    zip(static_cast<T *>(out), a, b, count, [](T x, T y) { return *folded(Kind, x, y); });
}

/// The same loop twice: no bit depends on how many elements are taken at a time.
template <OpKind Kind, typename T>
GRAPHC_WIDE void wideLoopOf(void *out, Run<T> a, Run<T> b, int64_t count) {
  loopOf<Kind>(out, a, b, count);
}

template <typename T, OpKind... Kinds>
bool loopOfOne(OpKind kind, void *out, Run<T> a, Run<T> b, int64_t count) {
  constexpr int64_t kWorthWide = 64;
  if (count >= kWorthWide && hasWide())
    return ((kind == Kinds && (wideLoopOf<Kinds>(out, a, b, count), true)) || ...);
  return ((kind == Kinds && (loopOf<Kinds>(out, a, b, count), true)) || ...);
}

template <typename T>
GRAPHC_WIDE bool allFiniteWide(const T *values, int64_t count) {
  return allFinite(values, count);
}

/// False for kinds that have no loop here.
template <typename T>
bool loop(OpKind kind, void *out, Run<T> a, Run<T> b, int64_t count) {
  using enum OpKind;
  if (loopOfOne<T, Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual>(kind, out, a, b, count))
    return true;
  if constexpr (std::is_same_v<T, bool>)
    return loopOfOne<T, LogicalAnd, LogicalOr, LogicalXor, LogicalNot, BitwiseAnd, BitwiseOr,
                     BitwiseXor, BitwiseNot, Add, Mul, Minimum, Maximum>(kind, out, a, b, count);
  else if constexpr (std::is_floating_point_v<T>)
    return loopOfOne<T, Add, Sub, Mul, Div, Neg, Abs, Square, Sqrt, Floor, Ceil, Trunc, Round,
                     Minimum, Maximum, Reciprocal, Copysign, Sign, IsNan, IsInf, IsFinite, Signbit>(
        kind, out, a, b, count);
  else
    return loopOfOne<T, Add, Sub, Mul, Neg, Abs, Square, FloorDivide, Remainder, Minimum, Maximum,
                     BitwiseAnd, BitwiseOr, BitwiseXor, BitwiseNot, ShiftLeft, ShiftRight>(
        kind, out, a, b, count);
}

/// A quotient that integers do not have is told of, by a kernel.
template <typename T>
bool hasQuotients(OpKind kind, Run<T> divisors, int64_t count) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
    if (kind == OpKind::FloorDivide || kind == OpKind::Remainder)
      return std::none_of(divisors.data, divisors.data + (divisors.steps ? count : 1),
                          [](T d) { return d == 0 || d == static_cast<T>(-1); });
  return true;
}

/// Whether results are NaN of numbers, or infinities of finite ones; without a branch an element.
template <typename T>
[[gnu::always_inline]] inline bool givesErrors(const T *out, Run<T> a, Run<T> b, int64_t count) {
  auto anyOf = [&](auto left, auto right) {
    bool found = false;
    for (int64_t i = 0; i < count; ++i) {
      const T o = out[i], x = left(i), y = right(i);
      const bool isNan = o != o, isInfinite = (o - o != T{0}) & !isNan;
      found |= (isNan & (x == x) & (y == y)) | (isInfinite & (x - x == T{0}) & (y - y == T{0}));
    }
    return found;
  };
  auto each = [](Run<T> r) { return [data = r.data](int64_t i) { return data[i]; }; };
  auto same = [](Run<T> r) { return [value = *r.data](int64_t) { return value; }; };
  if (a.steps)
    return b.steps ? anyOf(each(a), each(b)) : anyOf(each(a), same(b));
  return b.steps ? anyOf(same(a), each(b)) : anyOf(same(a), same(b));
}

template <typename T>
GRAPHC_WIDE bool givesErrorsWide(const T *out, Run<T> a, Run<T> b, int64_t count) {
  return givesErrors(out, a, b, count);
}

/// Whether an exact operation has something to tell of. What operands have goes on silently.
template <typename T>
bool meetsErrors(const T *out, Run<T> a, Run<T> b, int64_t count) {
  if (hasWide())
    return !allFiniteWide(out, count) && givesErrorsWide(out, a, b, count);
  return !allFinite(out, count) && givesErrors(out, a, b, count);
}

/// out[i] = kind(a[i], b[i]); false where that has to be recorded.
template <typename T>
bool computeRuns(OpKind kind, Run<T> a, Run<T> b, int64_t count, void *out) {
  UnderflowFlag flag(hearsUnderflow(kind, hostmath::dtypeOf<T>()));
  if (!hasQuotients(kind, b, count) || !loop(kind, out, a, b, count) || flag.isSet())
    return false;
  // The others give an operand, or what is as finite.
  bool mayErr = kind == OpKind::Add || kind == OpKind::Sub || kind == OpKind::Mul ||
                kind == OpKind::Div || kind == OpKind::Square || kind == OpKind::Sqrt ||
                kind == OpKind::Reciprocal;
  if constexpr (std::is_floating_point_v<T>)
    return !mustBeFinite() || !mayErr || !meetsErrors(static_cast<const T *>(out), a, b, count);
  return true;
}

template <typename T>
Result<bool> computeInto(T, OpKind kind, std::span<const Operand> operands, DType t,
                         std::span<const int64_t> shape, void *out) {
  Reader<T> a, b;
  GRAPHC_ASSIGN(bool isRead, a.read(operands[0], t, shape));
  if (isRead && operands.size() > 1) {
    GRAPHC_ASSIGN(isRead, b.read(operands[1], t, shape));
  }
  return isRead &&
         computeRuns(kind, a.run(), operands.size() > 1 ? b.run() : a.run(), countOf(shape), out);
}

template <typename R>
Result<bool> computeInto(Number<R>, OpKind kind, std::span<const Operand> operands, DType t,
                         std::span<const int64_t> shape, void *out) {
  return computeNumbers<R>(kind, operands, t, shape, out);
}

bool hasAnyLoop(OpKind kind, DType t) {
  return isComplex(t) ? hasComplexLoop(kind) : hasLoop(kind, t);
}

/// Whether values of other dtypes may have been finite before they were converted to `t`.
bool isNarrow(DType t) { return t == DType::Float32 || t == DType::Complex64; }

template <typename T>
Result<bool> selectInto(std::span<const Operand> operands, DType t, std::span<const int64_t> shape,
                        void *out) {
  Reader<bool> condition;
  ReaderOf<T> a, b;
  GRAPHC_ASSIGN(bool isRead, condition.read(operands[0], DType::Bool, shape));
  GRAPHC_ASSIGN(isRead, isRead ? a.read(operands[1], t, shape) : Result<bool>(false));
  GRAPHC_ASSIGN(isRead, isRead ? b.read(operands[2], t, shape) : Result<bool>(false));
  if (!isRead)
    return false;
  Run<bool> c = condition.run();
  Run<T> x = a.run(), y = b.run();
  auto *to = static_cast<T *>(out);
  for (int64_t i = 0, count = countOf(shape); i < count; ++i)
    to[i] = c.data[c.steps ? i : 0] ? x.data[x.steps ? i : 0] : y.data[y.steps ? i : 0];
  return true;
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
    reads[placeOf(n->location(), n->kind())].store(true, std::memory_order_relaxed);
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

/// Of dtypes and kinds that have no loop.
static Outcome byElement(OpKind kind, std::span<const Operand> operands, DType t,
                         const Shape &shape, rt::Device &device) {
  if (!plain::hasElements(t))
    return NodeRef();
  std::vector<Array> arrays;
  for (const Operand &operand : operands) {
    if (auto bits = ops::operandBits(operand, t)) {
      arrays.emplace_back(KnownValue{*bits, t, &device});
      continue;
    }
    if (!operand.array)
      return NodeRef();
    arrays.push_back(*operand.array);
    if (operand.array->dtype() != t) {
      GRAPHC_ASSIGN(NodeRef converted, plain::cast(*operand.array, t));
      if (!converted)
        return NodeRef();
      arrays.back() = Array(std::move(converted), 0);
    }
  }
  return plain::elementwise(kind, arrays, shape, op::resultDType(kind, t), device);
}

bool hasLoop(OpKind kind, DType t) {
  static const auto known = [] {
    std::array<std::array<bool, kDTypeCount>, op::kOpKindCount> out{};
    for (int k = 0; k < op::kOpKindCount; ++k)
      for (int d = 0; d < kDTypeCount; ++d)
        out[static_cast<size_t>(k)][static_cast<size_t>(d)] =
            withSmallType(static_cast<DType>(d), [&]<typename T>(T) {
              T none[1] = {};
              uint64_t to[1];
              return loop<T>(static_cast<OpKind>(k), to, {none, false}, {none, false}, 0);
            });
    return out;
  }();
  return known[static_cast<size_t>(kind)][static_cast<size_t>(t)];
}

bool broadcasts(std::span<const int64_t> from, std::span<const int64_t> to) {
  for (size_t i = 1; i <= std::min(from.size(), to.size()); ++i)
    if (from[from.size() - i] != 1 && from[from.size() - i] != to[to.size() - i])
      return false;
  return from.size() <= to.size();
}

int setLoopTurns(int wanted) {
  for (std::atomic<uint8_t> &place : turns)
    place.store(0, std::memory_order_relaxed);
  for (std::atomic<bool> &place : reads)
    place.store(false, std::memory_order_relaxed);
  return turnsWanted().exchange(wanted);
}

namespace {
thread_local int widerDepth = 0;
} // namespace

Wider::Wider() { ++widerDepth; }
Wider::~Wider() { --widerDepth; }
int64_t mostBytes() { return widerDepth ? 64 * kMostBytes : kMostBytes; }
int64_t mostWork() { return int64_t{1} << (widerDepth ? 23 : 15); }

int loopTurns() { return turnsWanted().load(std::memory_order_relaxed); }

bool isLoop(OpKind kind, int64_t elements, const rt::Device &device, bool counts) {
  constexpr int64_t kMostElements = kMostBytes / 4; // of narrow ones
  int wanted = turnsWanted().load(std::memory_order_relaxed);
  // Whose loops are several operations nobody listens to.
  const bool isSeveral = kind == OpKind::Fma || kind == OpKind::Iota;
  if (elements > kMostElements || elements == 0 || wanted == kNever || Trace::active() ||
      !onHost(device) || (isSeveral && (RecordScope::errors() & FloatModes::kUnder)))
    return false;
  if (elements > kFew && !isReadAtOnce(kind))
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

bool isReadAtOnce(OpKind kind) {
  Location location = RecordScope::location();
  return location && reads[placeOf(location, kind)].load(std::memory_order_relaxed);
}

bool isComputedAtOnce(const Node &single) {
  return single.state() == NodeState::Pending && single.reach() <= kMostReach &&
         turnsWanted().load(std::memory_order_relaxed) != kNever && !Trace::active() &&
         onHost(single.device());
}

void noteLook(const NodeRef &value) {
  if (value->state() == NodeState::Pending && value->reach() <= kMostBytes && !Trace::active() &&
      onHost(value->device()))
    noteReads(value);
}

void noteWritten(const NodeRef &value) {
  if (value->state() == NodeState::Pending && value->bytes() <= kMostTarget)
    noteReads(value);
}

bool isWrittenAtOnce(int64_t bytes, const rt::Device &device) {
  return bytes <= kMostTarget && isReadAtOnce(OpKind::Broadcast) && !Trace::active() &&
         onHost(device) && turnsWanted().load(std::memory_order_relaxed) != kNever;
}

/// Whether a value is made of literals alone, by at most `most` operations.
static bool isConstant(const Node &n, int &most) {
  return knownBits(n).has_value() ||
         (n.state() == NodeState::Pending && --most >= 0 &&
          std::ranges::all_of(n.operands(),
                              [&](const NodeRef &operand) { return isConstant(*operand, most); }));
}

/// Whether a pending value is a constant, or one operation on what is computed, with small parts
/// written into it: a loop fills it, and there is nothing that it fuses with.
static bool isFilledInParts(const NodeRef &value) {
  std::lock_guard lock(graphMutex());
  const Node *n = value.get();
  for (int most = 32; most > 0 && n->state() == NodeState::Pending &&
                      n->kind() == OpKind::UpdateSlice && n->operands()[1]->reach() <= kMostBytes;
       --most)
    n = n->operands()[0].get();
  if (n->state() != NodeState::Pending || n->kind() == OpKind::UpdateSlice)
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
  if (!x.view().hasLayout() || (mayBeNone && x.view().isRecast()) || !onHost(x.device()))
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
  auto *first =
      static_cast<const char *>(base->buffer()->host()) + x.view().offset() * itemSize(x.dtype());
  return Elements{std::move(base), first};
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

Outcome elementwise(OpKind kind, std::span<const Operand> operands, DType t, const Shape &shape,
                    rt::Device &device) {
  // What is larger is better fused.
  if (isComplex(t) && countOf(shape) * itemSize(t) > mostBytes())
    return NodeRef();
  if (kind == OpKind::Complex && isFloat(t))
    return numbersOfParts(operands, op::resultDType(kind, t), shape, device);
  bool isSelect = kind == OpKind::Select;
  if (!isSelect && (operands.size() > 2 || !hasAnyLoop(kind, t))) {
    GRAPHC_ASSIGN(NodeRef made, byUnit(kind, operands, t, shape, device));
    return made ? std::move(made) : byElement(kind, operands, t, shape, device);
  }
  GRAPHC_ASSIGN(NodeRef out, makeNode(op::resultDType(kind, t), shape, device));
  void *to = out->buffer()->host();
  auto done = withElementType(t, [&]<typename T>(T) {
    return isSelect ? selectInto<T>(operands, t, shape, to)
                    : computeInto(T(), kind, operands, t, shape, to);
  });
  return finished(std::move(out), std::move(done));
}

bool computeDense(OpKind kind, DType t, Source a, Source b, int64_t count, void *out) {
  return withSmallType(t, [&]<typename T>(T) {
    return computeRuns<T>(kind, {static_cast<const T *>(a.data), a.steps},
                          {static_cast<const T *>(b.data), b.steps}, count, out);
  });
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
  for (int64_t i = 0; i < count; ++i)
    to[i] = static_cast<T>(from[i]);
}
template <typename S, typename T>
GRAPHC_WIDE void convertWide(const S *from, T *to, int64_t count) {
  convertOf(from, to, count);
}

/// One loop over elements that lie side by side; false where there is more to it.
template <typename S, typename T>
bool convertDense(const S *from, T *to, int64_t count) {
  if constexpr (std::is_same_v<S, T> || std::is_same_v<S, bool> || std::is_same_v<T, bool>)
    return false;
  else if constexpr (std::is_floating_point_v<S> && std::is_integral_v<T>)
    return hasWide() ? wholeWide(from, to, count) : wholeOf(from, to, count);
  else
    hasWide() ? convertWide(from, to, count) : convertOf(from, to, count);
  if constexpr (std::is_floating_point_v<T> && sizeof(T) < sizeof(S))
    return !mustBeFinite() || (hasWide() ? allFiniteWide(to, count) : allFinite(to, count));
  return true;
}

} // namespace

/// A copy of computed elements that lie side by side; null for others.
static Outcome castDense(const Array &x, DType t) {
  const Elements from = denseElementsOf(x);
  if (!from.base || x.size() == 0 || x.known() || x.rank() == 0)
    return NodeRef();
  GRAPHC_ASSIGN(NodeRef out, makeNode(t, x.shape(), x.device()));
  auto done = withRealType(x.dtype(), [&]<typename S>(S) -> Result<bool> {
    return withRealType(t, [&]<typename T>(T) -> Result<bool> {
      return convertDense(reinterpret_cast<const S *>(from.first), dataOf<T>(out), x.size());
    });
  });
  return finished(std::move(out), std::move(done));
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
  if (Trace::active() || !onHost(xs[0].device()))
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
  if (!isComplex(t) && !withSmallType(t, [](auto) { return true; }))
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

Result<bool> update(OpKind kind, Array &target, const Operand &value) {
  const View &view = target.view();
  const DType t = target.dtype();
  if (view.isReadOnly() || !view.hasLayout() || !hasAnyLoop(kind, t) ||
      op::resultDType(kind, t) != t || !broadcasts(value.shape(), view.shape()))
    return false;
  return withElementType(t, [&]<typename T>(T) -> Result<bool> {
    Room<T> room; // what there is to tell is told before it is written
    T *made = room.get(countOf(view.shape()));
    const Operand both[] = {target, value};
    GRAPHC_ASSIGN(bool isDone, computeInto(T(), kind, both, t, view.shape(), made));
    GRAPHC_ASSIGN(bool isOwn, isDone ? settle(target) : Result<bool>(false));
    return isOwn && target.storage()->update([&](rt::Buffer &buffer) {
      spread<T>(made, view.shape(), view.strides(),
                static_cast<T *>(buffer.host()) + view.offset());
    });
  });
}

Outcome detached(const Array &x) {
  GRAPHC_ASSIGN(Elements elements, elementsOf(x));
  if (!elements.base)
    return NodeRef();
  GRAPHC_ASSIGN(NodeRef out, makeNode(x.dtype(), x.shape(), x.device()));
  auto done = withElementType(x.dtype(), [&]<typename T>(T) -> Result<bool> {
    gather(reinterpret_cast<const T *>(elements.first), x.shape(), x.view().strides(),
           dataOf<T>(out));
    return true;
  });
  GRAPHC_ASSIGN(bool isDone, std::move(done));
  return isDone ? out : NodeRef();
}

} // namespace graphc::small
