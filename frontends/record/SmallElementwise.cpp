// Elementwise operations on small arrays: a loop for each kind and type, what it may meet, and
// in-place updates.
#include "frontends/record/FloatErrors.h"
#include "frontends/record/HostDivide.h"
#include "frontends/record/InterpretPlain.h"
#include "frontends/record/Known.h"
#include "frontends/record/Record.h"
#include "frontends/record/Small.h"
#include "frontends/record/SmallComplex.h"
#include "frontends/record/ToldErrors.h"
#include "runtime/base/UnderflowFlag.h"

#include <array>
#include <atomic>
#include <cmath>
#include <vector>

namespace graphc::small {
namespace {

using op::OpKind;

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
    zip(static_cast<T *>(out), a, b, count, [](T x, T y) { return *hostmath::folded(Kind, x, y); });
}

/// The same loop twice: no bit depends on how many elements are taken at a time.
template <OpKind Kind, typename T>
GRAPHC_WIDE void wideLoopOf(void *out, Run<T> a, Run<T> b, int64_t count) {
  loopOf<Kind>(out, a, b, count);
}

template <typename T, OpKind... Kinds>
bool loopOfOne(OpKind kind, void *out, Run<T> a, Run<T> b, int64_t count) {
  if (count >= kWorthWide && hasWide())
    return ((kind == Kinds && (wideLoopOf<Kinds>(out, a, b, count), true)) || ...);
  return ((kind == Kinds && (loopOf<Kinds>(out, a, b, count), true)) || ...);
}

/// Integers divided by one above 0.
template <typename T>
[[gnu::always_inline]] inline void divideAll(bool isRest, T *out, const T *x, T by, int64_t count) {
  const Divider<T> divider(by);
  if (isRest)
    for (int64_t i = 0; i < count; ++i)
      out[i] = divider.remainder(x[i]);
  else
    for (int64_t i = 0; i < count; ++i)
      out[i] = divider.quotient(x[i]);
}
template <typename T>
GRAPHC_WIDE void divideAllWide(bool isRest, T *out, const T *x, T by, int64_t count) {
  divideAll(isRest, out, x, by, count);
}
/// False where that is no such division, or of too few to find the factor for.
template <typename T>
bool dividesAll(OpKind kind, void *out, Run<T> a, Run<T> b, int64_t count) {
  constexpr int64_t kWorth = 32;
  const bool isRest = kind == OpKind::Remainder;
  if ((!isRest && kind != OpKind::FloorDivide) || !a.steps || b.steps || *b.data <= 0 ||
      count < kWorth)
    return false;
  auto *divide = count >= kWorthWide && hasWide() ? divideAllWide<T> : divideAll<T>;
  divide(isRest, static_cast<T *>(out), a.data, *b.data, count);
  return true;
}

/// Integers raised to one that is not negative, which wraps: all of a piece by one bit of the
/// exponent after the other.
template <typename T>
[[gnu::always_inline]] inline void raiseAll(T *out, const T *x, T exponent, int64_t count) {
  constexpr int64_t kPiece = 256;
  using U = std::make_unsigned_t<std::common_type_t<T, int>>; // no product overflows a signed one
  std::array<U, kPiece> base, power;
  for (int64_t from = 0; from < count; from += kPiece) {
    const int64_t some = std::min(kPiece, count - from);
    for (int64_t i = 0; i < some; ++i) {
      base[static_cast<size_t>(i)] = static_cast<U>(x[from + i]);
      power[static_cast<size_t>(i)] = exponent & 1 ? base[static_cast<size_t>(i)] : U{1};
    }
    for (T left = exponent >> 1; left; left >>= 1)
      for (size_t i = 0; i < static_cast<size_t>(some); ++i) {
        base[i] *= base[i];
        power[i] = left & 1 ? power[i] * base[i] : power[i];
      }
    for (int64_t i = 0; i < some; ++i)
      out[from + i] = static_cast<T>(power[static_cast<size_t>(i)]);
  }
}
template <typename T>
GRAPHC_WIDE void raiseAllWide(T *out, const T *x, T exponent, int64_t count) {
  raiseAll(out, x, exponent, count);
}
/// False where that is no such power.
template <typename T>
bool raisesAll(OpKind kind, void *out, Run<T> a, Run<T> b, int64_t count) {
  if (kind != OpKind::Pow || !a.steps || b.steps || *b.data < 0)
    return false;
  auto *raise = count >= kWorthWide && hasWide() ? raiseAllWide<T> : raiseAll<T>;
  raise(static_cast<T *>(out), a.data, *b.data, count);
  return true;
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
    return dividesAll(kind, out, a, b, count) || raisesAll(kind, out, a, b, count) ||
           loopOfOne<T, Add, Sub, Mul, Neg, Abs, Sign, Square, FloorDivide, Remainder, Minimum,
                     Maximum, BitwiseAnd, BitwiseOr, BitwiseXor, BitwiseNot, BitCount, ShiftLeft,
                     ShiftRight, Pow, Reciprocal>(kind, out, a, b, count);
}

/// A quotient that integers do not have is told of, by a kernel; powers that they do not have are
/// refused. `b` is a unary operation's own operand.
template <typename T>
bool hasResults(OpKind kind, Run<T> b, int64_t count) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
    const std::span all(b.data, static_cast<size_t>(b.steps ? count : 1));
    if (kind == OpKind::FloorDivide || kind == OpKind::Remainder)
      return std::ranges::none_of(all, [](T d) { return d == 0 || d == static_cast<T>(-1); });
    if (kind == OpKind::Reciprocal)
      return std::ranges::find(all, T{0}) == all.end();
    if (kind == OpKind::Pow)
      return std::ranges::none_of(all, [](T exponent) { return exponent < 0; });
  }
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
bool meetsErrors(OpKind kind, const T *out, Run<T> a, Run<T> b, int64_t count) {
  auto at = [](Run<T> r) { return [r](int64_t i) { return r.data[r.steps ? i : 0]; }; };
  return !allFinite(out, count) &&
         (hasWide() ? givesErrorsWide(out, a, b, count) : givesErrors(out, a, b, count)) &&
         hasToTell(kind, out, at(a), at(b), count);
}

/// The same in pieces that are in the first cache when they are looked at.
template <typename T>
bool computeFinite(OpKind kind, T *out, Run<T> a, Run<T> b, int64_t count) {
  constexpr int64_t kPiece = 1024;
  for (int64_t i = 0; i < count; i += kPiece) {
    const int64_t some = std::min(kPiece, count - i);
    auto from = [i](Run<T> r) { return r.steps ? Run<T>{r.data + i, true} : r; };
    if (!loop(kind, out + i, from(a), from(b), some) ||
        meetsErrors(kind, out + i, from(a), from(b), some))
      return false;
  }
  return true;
}

/// out[i] = kind(a[i], b[i]); false where that has to be recorded.
template <typename T>
bool computeRuns(OpKind kind, Run<T> a, Run<T> b, int64_t count, void *out) {
  UnderflowFlag flag(hearsUnderflow(kind, hostmath::dtypeOf<T>()));
  if (!hasResults(kind, b, count))
    return false;
  // The others give an operand, or what is as finite.
  bool mayErr = kind == OpKind::Add || kind == OpKind::Sub || kind == OpKind::Mul ||
                kind == OpKind::Div || kind == OpKind::Square || kind == OpKind::Sqrt ||
                kind == OpKind::Reciprocal;
  if constexpr (std::is_floating_point_v<T>)
    if (mayErr && mustBeFinite())
      return computeFinite(kind, static_cast<T *>(out), a, b, count) && !flag.isSet();
  return loop(kind, out, a, b, count) && !flag.isSet();
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

/// out[i] = c[i] ? x[i] : y[i], without branches.
template <typename T>
[[gnu::always_inline]] inline void chooseOf(Run<bool> c, Run<T> x, Run<T> y, int64_t count,
                                            T *out) {
  auto each = [&](auto left, auto right) {
    for (int64_t i = 0; i < count; ++i) {
      const T a = left(i), b = right(i);
      out[i] = c.data[i] ? a : b;
    }
  };
  auto all = [](Run<T> r) { return [data = r.data](int64_t i) { return data[i]; }; };
  auto same = [](Run<T> r) { return [value = *r.data](int64_t) { return value; }; };
  if (x.steps)
    y.steps ? each(all(x), all(y)) : each(all(x), same(y));
  else
    y.steps ? each(same(x), all(y)) : each(same(x), same(y));
}
template <typename T>
GRAPHC_WIDE void chooseWide(Run<bool> c, Run<T> x, Run<T> y, int64_t count, T *out) {
  chooseOf(c, x, y, count, out);
}

template <typename T>
void selectRuns(Run<bool> c, Run<T> x, Run<T> y, int64_t count, T *out) {
  if (!c.steps)
    zip(out, x, y, count, [isFirst = *c.data](T a, T b) { return isFirst ? a : b; });
  else
    hasWide() ? chooseWide(c, x, y, count, out) : chooseOf(c, x, y, count, out);
}

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
  selectRuns(condition.run(), a.run(), b.run(), countOf(shape), static_cast<T *>(out));
  return true;
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
  // Each is asked for when it is met: all of them are two hundred pages of code.
  enum : uint8_t { Unknown, No, Yes };
  static std::array<std::array<std::atomic<uint8_t>, kDTypeCount>, op::kOpKindCount> known{};
  std::atomic<uint8_t> &found = known[static_cast<size_t>(kind)][static_cast<size_t>(t)];
  uint8_t has = found.load(std::memory_order_relaxed);
  if (has == Unknown) {
    has = hostmath::withType(t,
                             [&]<typename T>(T) {
                               T none[1] = {};
                               uint64_t to[1];
                               return loop<T>(kind, to, {none, false}, {none, false}, 0);
                             })
              ? Yes
              : No;
    found.store(has, std::memory_order_relaxed);
  }
  return has == Yes;
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
  return hostmath::withType(t, [&]<typename T>(T) {
    return computeRuns<T>(kind, {static_cast<const T *>(a.data), a.steps},
                          {static_cast<const T *>(b.data), b.steps}, count, out);
  });
}

bool selectDense(DType t, Source condition, Source a, Source b, int64_t count, void *out) {
  return hostmath::withType(t, [&]<typename T>(T) {
    selectRuns<T>({static_cast<const bool *>(condition.data), condition.steps},
                  {static_cast<const T *>(a.data), a.steps},
                  {static_cast<const T *>(b.data), b.steps}, count, static_cast<T *>(out));
    return true;
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

} // namespace graphc::small
