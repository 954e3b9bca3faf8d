#include "frontends/record/Known.h"

#include "frontends/record/Choose.h"
#include "frontends/record/FloatErrors.h"
#include "frontends/record/HostMath.h"
#include "frontends/record/Looks.h"
#include "frontends/record/Session.h"
#include "frontends/record/SmallElements.h"
#include "frontends/record/ToldErrors.h"
#include "frontends/record/Trace.h"
#include "runtime/drivers/Choice.h"
#include "runtime/library/Library.h"
#include "runtime/library/MaskLoops.h"
#include "runtime/library/Parallel.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <vector>

namespace graphc {
namespace {

using namespace hostmath;

std::optional<uint64_t> load(const void *address, DType t) {
  uint64_t out = 0;
  bool ok = withType(t, [&](auto v) {
    if constexpr (std::is_same_v<decltype(v), bool>) {
      v = *static_cast<const uint8_t *>(address) != 0;
    } else {
      std::memcpy(&v, address, sizeof v);
    }
    out = bitsOf(v);
    return true;
  });
  return ok ? std::optional(out) : std::nullopt;
}

/// Whether there may be something to say about it, which an evaluation does.
template <typename T>
bool meetsError(OpKind kind, T a, T b, T result) {
  if constexpr (std::is_floating_point_v<T>)
    return (!std::isfinite(result) &&
            (!showsErrors(kind) || haveToBeTold(kind, errorOf(kind, a, b, result)))) ||
           ((floatModes() & FloatModes::kUnder) != 0 && mayUnderflow(kind, dtypeOf<T>()) &&
            a != 0 && (b != 0 || kind != OpKind::Mul) &&
            std::fabs(result) < std::numeric_limits<T>::min());
  else if constexpr (std::is_same_v<T, bool>)
    return false;
  bool divides = kind == OpKind::FloorDivide || kind == OpKind::Remainder;
  bool wraps = std::is_signed_v<T> && b == static_cast<T>(-1) && a == std::numeric_limits<T>::min();
  return divides && (b == 0 || wraps);
}

/// Whether a result of integers has no place in their type, of what NumPy asks of its scalars.
template <typename T>
bool overflows(OpKind kind, T a, T b) {
  T out;
  switch (kind) {
  case OpKind::Add:
    return __builtin_add_overflow(a, b, &out);
  case OpKind::Sub:
    return __builtin_sub_overflow(a, b, &out);
  case OpKind::Mul:
    return __builtin_mul_overflow(a, b, &out);
  case OpKind::Neg:
    return __builtin_sub_overflow(T{0}, a, &out);
  case OpKind::Abs:
    return std::is_signed_v<T> && a == std::numeric_limits<T>::min();
  default:
    return false;
  }
}

/// NumPy's quotient and remainder, rounded down (compiler/math/FloatDivide.h); nothing of what is
/// not finite and for a divisor of 0.
template <typename T>
std::optional<T> dividedDown(OpKind kind, T a, T b) {
  if (!std::isfinite(a) || !std::isfinite(b) || b == 0)
    return std::nullopt;
  const T rest = std::fmod(a, b);
  const bool isOfOtherSign = rest != 0 && (b < 0) != (rest < 0);
  if (kind == OpKind::Remainder)
    return rest == 0 ? std::copysign(T{0}, b) : isOfOtherSign ? rest + b : rest;
  T quotient = (a - rest) / b;
  if (isOfOtherSign)
    quotient -= 1;
  if (quotient == 0)
    return std::copysign(T{0}, a / b);
  const T whole = std::floor(quotient);
  return quotient - whole > T{0.5} ? whole + 1 : whole;
}

/// The pattern of the result, and its dtype when the operands have dtype `t`.
template <typename T>
std::optional<std::pair<uint64_t, DType>> fold(OpKind kind, T a, T b, DType t, bool *wraps) {
  if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
    if (wraps)
      *wraps = overflows(kind, a, b);
  if (auto answer = compared(kind, a, b))
    return std::pair(uint64_t{*answer}, DType::Bool);
  if constexpr (std::is_floating_point_v<T>)
    if (auto answer = answered(kind, a))
      return std::pair(uint64_t{*answer}, DType::Bool);
  std::optional<T> out;
  if constexpr (std::is_same_v<T, bool>)
    out = foldBool(kind, a, b);
  else if constexpr (std::is_floating_point_v<T>)
    out = kind == OpKind::FloorDivide || kind == OpKind::Remainder ? dividedDown(kind, a, b)
                                                                   : foldFloat(kind, a, b);
  else
    out = foldInteger(kind, a, b);
  return out && !meetsError(kind, a, b, *out) ? std::optional(std::pair(bitsOf(*out), t))
                                              : std::nullopt;
}

} // namespace

bool onHost(const rt::Device &device) {
  const rt::DeviceInfo &info = device.info();
  return info.target == program::Target::Cpu && info.hostVisible && info.runsKernels;
}

const char *whereRead(const Node &value, int64_t bytes) {
  const rt::Buffer &buffer = *value.buffer();
  const void *first = rt::hostAddress(buffer);
  if (first && !buffer.host())
    rt::ReadScope told(buffer, bytes);
  return static_cast<const char *>(first);
}

bool isReadHere(const Node &value) {
  return value.state() == NodeState::Ready && rt::hostAddress(*value.buffer());
}

bool mayBeOnHost(const rt::Device &device) { return onHost(device) || rt::choicesOf(device); }

std::optional<uint64_t> knownBits(const Node &node) {
  if (node.shape().rank() != 0 || isComplex(node.dtype()))
    return std::nullopt;
  NodeState state = node.state();
  if (state == NodeState::Pending && node.kind() == OpKind::Full)
    return static_cast<uint64_t>(node.attrs()[0]);
  const void *memory = knownMemory(node);
  return memory ? std::optional(load(memory, node.dtype())) : std::nullopt;
}

bool isOverflown(const op::Scalar &value, DType t, uint64_t bits) {
  if (value.kind == op::Scalar::Kind::Float && !std::isfinite(value.number))
    return false;
  uint64_t exponent = t == DType::Float16    ? 0x7c00
                      : t == DType::BFloat16 ? 0x7f80
                      : t == DType::Float32  ? 0x7f800000
                                             : 0;
  return exponent && (bits & exponent) == exponent;
}

namespace ops {
namespace {

/// Where the element lies in a dense base, in elements.
int64_t placeOf(const View &view, std::span<const int64_t> index) {
  int64_t place = view.offset();
  for (size_t i = 0; i < index.size(); ++i)
    place += index[i] * view.strides()[i];
  return place;
}

/// After this many element reads an array is taken for one that a loop walks over.
constexpr uint32_t kLazyReads = 8;

} // namespace

Status detach(Array &x) {
  Array whole = Array::ofStorage(x.storage());
  Array *arrays[] = {&whole};
  GRAPHC_ASSIGN(std::vector<NodeRef> nodes, evaluateArrays(arrays, "item"));
  nodes.clear();
  if (x.storage()->exclusive() || x.storage()->isLent() || x.storage()->isShared())
    return Status::ok();
  NodeRef old = x.storage()->current();
  if (old->state() != NodeState::Ready)
    return detach(x); // updated meanwhile
  rt::Device &device = x.device();
  GRAPHC_ASSIGN(rt::BufferRef copy, device.allocate(old->bytes()));
  GRAPHC_TRY(device.queue().copy(*copy, *old->buffer(), old->bytes()));
  GRAPHC_TRY(device.queue().finish());
  x.storage()->replace(Node::makeReady({old->dtype(), old->shape()}, device, std::move(copy)));
  return Status::ok();
}

std::optional<KnownValue> readElement(const Array &x, std::span<const int64_t> index) {
  if (Trace::active() || !x.view().hasLayout() || !mayBeOnHost(x.device()))
    return std::nullopt;
  int64_t place = placeOf(x.view(), index) * itemSize(x.dtype());
  auto bits = x.storage()->withCurrent([&](const Node &base) {
    const char *first =
        base.state() == NodeState::Ready ? whereRead(base, itemSize(x.dtype())) : nullptr;
    return first ? load(first + place, x.dtype()) : std::nullopt;
  });
  return bits ? std::optional(KnownValue{*bits, x.dtype(), &x.device()}) : std::nullopt;
}

Result<bool> bringHome(const Array &x) {
  const rt::Choices *choices = rt::choicesOf(x.device());
  if (!choices || !choices->other || Trace::active() || x.isOpen() || !x.view().hasLayout())
    return false;
  const NodeRef value = x.storage()->current();
  if (value->state() != NodeState::Ready || rt::isOn(*value->buffer(), *choices->cpu))
    return false;
  GRAPHC_ASSIGN(const DeviceSpeed *speed, speedOf(*choices->other));
  const double read = speed->launchNanos + speed->answerNanos; // a program gives an element
  if (x.storage()->countElementRead() * read < static_cast<double>(value->bytes()) / speed->down)
    return false;
  Array whole = Array::ofStorage(x.storage());
  GRAPHC_TRY(detach(whole));
  return true;
}

Status settleElement(const Array &x, const NodeRef &element) {
  NodeRef base = x.storage()->current();
  if (Trace::active() || x.view().isRecast() || !x.view().hasLayout() || !mayBeOnHost(x.device()) ||
      base->state() != NodeState::Ready || !base->buffer()->host())
    return Status::ok();
  auto size = static_cast<size_t>(itemSize(x.dtype()));
  GRAPHC_ASSIGN(rt::BufferRef buffer, x.device().allocate(itemSize(x.dtype())));
  std::memcpy(buffer->host(),
              static_cast<const char *>(base->buffer()->host()) +
                  x.view().offset() * itemSize(x.dtype()),
              size);
  std::vector<NodeRef> dropped;
  std::lock_guard lock(graphMutex());
  element->publish(std::move(buffer), dropped);
  return Status::ok();
}

bool isWalkedOver(const Array &x) {
  return !Trace::active() && mayBeOnHost(x.device()) &&
         x.storage()->current()->state() == NodeState::Pending &&
         x.storage()->countElementRead() >= kLazyReads;
}

std::optional<uint64_t> operandBits(const Operand &o, DType t) {
  if (o.array) {
    if (o.array->rank() != 0)
      return std::nullopt;
    if (const KnownValue *known = o.array->known())
      return converted(known->bits, known->dtype, t);
    auto value = o.array->value();
    auto bits = value ? knownBits(**value) : std::nullopt;
    return bits ? converted(*bits, o.array->dtype(), t) : std::nullopt;
  }
  DType own = o.dtype.value_or(t);
  if (isComplex(own) || o.scalar.kind == op::Scalar::Kind::Complex)
    return std::nullopt;
  // What does not fit raises, which the caller's general way does best.
  if (!isFloat(own) && o.scalar.kind == op::Scalar::Kind::Float)
    return std::nullopt;
  // As for what is too large.
  auto bits = op::literalBits(o.scalar, own);
  return bits && !isOverflown(o.scalar, own, *bits) ? converted(*bits, own, t) : std::nullopt;
}

Result<bool> writeElement(Array &x, std::span<const int64_t> index, uint64_t bits) {
  // Little-endian: the low bytes are the value.
  return writeElement(
      x, index, std::as_bytes(std::span(&bits, 1)).first(static_cast<size_t>(itemSize(x.dtype()))));
}

Result<bool> writeElement(Array &x, std::span<const int64_t> index,
                          std::span<const std::byte> value) {
  if (Trace::active() || x.view().isReadOnly() || !x.view().hasLayout() || !mayBeOnHost(x.device()))
    return false;
  int64_t place = placeOf(x.view(), index) * itemSize(x.dtype());
  auto write = [&](rt::Buffer &buffer) {
    std::memcpy(static_cast<char *>(buffer.host()) + place, value.data(), value.size());
  };
  if (x.storage()->update(write))
    return true;
  if (x.storage()->countElementWrite() < kLazyWrites)
    return false;
  small::noteWritten(x.storage()->current());
  GRAPHC_TRY(detach(x));
  return x.storage()->update(write);
}

namespace {

template <typename T>
void fillView(void *base, const View &view, uint64_t bits) {
  small::fill(static_cast<T>(bits), view.shape(), view.strides(),
              static_cast<T *>(base) + view.offset());
}

} // namespace

bool fillAtOnce(Array &x, uint64_t bits) {
  const View &view = x.view();
  if (Trace::active() || view.isWhole() || view.isReadOnly() || !view.hasLayout() ||
      !mayBeOnHost(x.device()) || itemSize(x.dtype()) > 8)
    return false;
  return x.storage()->update([&](rt::Buffer &buffer) {
    switch (itemSize(x.dtype())) { // little-endian: the low bytes are the value
    case 1:
      return fillView<uint8_t>(buffer.host(), view, bits);
    case 2:
      return fillView<uint16_t>(buffer.host(), view, bits);
    case 4:
      return fillView<uint32_t>(buffer.host(), view, bits);
    default:
      return fillView<uint64_t>(buffer.host(), view, bits);
    }
  });
}

/// Calls `write` with the memory of what x shows, where elements are written by a mask in order.
template <typename Write>
static bool writeMasked(Array &x, rt::Device &other, const Write &write) {
  if (Trace::active() || x.view().isReadOnly() || !x.view().hasLayout() ||
      !x.view().isContiguous() || x.view().isRecast() || !mayBeOnHost(x.device()) ||
      !mayBeOnHost(other) || itemSize(x.dtype()) > 16)
    return false;
  return x.storage()->update([&](rt::Buffer &buffer) {
    write(static_cast<char *>(buffer.host()) + x.view().offset() * itemSize(x.dtype()));
  });
}

static std::span<const uint8_t> bytesOf(const NodeRef &mask) {
  const char *first = whereRead(*mask, mask->bytes());
  return {reinterpret_cast<const uint8_t *>(first), static_cast<size_t>(mask->bytes())};
}

/// A mask that is computed and not empty; else null.
static NodeRef computedMask(const Array &mask) {
  if (!mask.view().isWhole() || mask.known())
    return nullptr;
  NodeRef node = mask.storage()->current();
  return isReadHere(*node) && node->bytes() > 0 ? node : nullptr;
}

/// Calls `write(first, size)` for pieces of whole blocks: what is not chosen is written over as it
/// is.
template <typename Write>
static void eachPiece(int64_t count, const Write &write) {
  constexpr int64_t kBlock = 64, kBlocks = 1 << 11;
  rt::library::parallelFor((count + kBlock - 1) / kBlock, kBlocks, [&](int64_t low, int64_t high) {
    low *= kBlock;
    write(low, std::min(high * kBlock, count) - low);
  });
}

bool fillMasked(Array &x, const Array &mask, uint64_t bits) {
  NodeRef node = itemSize(x.dtype()) <= 8 ? computedMask(mask) : nullptr; // what `bits` holds
  return node && writeMasked(x, mask.device(), [&](char *first) {
           int64_t size = itemSize(x.dtype());
           // Little-endian: the low bytes are the value.
           auto fill = rt::library::maskLoops().fill[rt::library::loopOf(size)];
           const std::span<const uint8_t> chosen = bytesOf(node);
           eachPiece(x.size(), [&](int64_t from, int64_t count) {
             fill(chosen.data() + from, count, bits, first + from * size);
           });
         });
}

/// Calls `write(first, mask, values)` where all of that is in memory; of x itself it is not: the
/// values would be one more who sees its memory.
template <typename Write>
static bool writeComputed(Array &x, const Array &mask, const Array &values, const Write &write) {
  if (values.known() || values.dtype() != x.dtype() || &values.device() != &x.device() ||
      !(mask.shape() == x.shape()) || values.size() == 0 || mask.dtype() != DType::Bool)
    return false;
  NodeRef node = computedMask(mask);
  const small::Elements from = node ? small::denseElementsOf(values) : small::Elements();
  return from.base && writeMasked(x, mask.device(),
                                  [&](char *first) { write(first, bytesOf(node), from.first); });
}

bool chooseMasked(Array &x, const Array &mask, const Array &values) {
  return values.shape() == x.shape() &&
         writeComputed(x, mask, values,
                       [&](char *first, std::span<const uint8_t> chosen, const char *from) {
                         int64_t size = itemSize(x.dtype());
                         auto choose = rt::library::maskLoops().choose[rt::library::loopOf(size)];
                         eachPiece(x.size(), [&](int64_t at, int64_t count) {
                           choose(chosen.data() + at, count, from + at * size, first + at * size);
                         });
                       });
}

/// Of many elements of 16 bytes a kernel writes those of an expansion sooner.
static bool isExpandedHere(const Array &x) {
  return itemSize(x.dtype()) <= 8 || x.size() <= small::kFew;
}

bool repeatMasked(Array &x, const Array &mask, const Array &values) {
  auto write = [&](char *first, std::span<const uint8_t> chosen, const char *from) {
    const int64_t size = itemSize(x.dtype()), count = rt::library::countTrue(chosen);
    const auto bytes = static_cast<size_t>(count * size);
    std::vector<char> repeated;
    if (count > values.size()) {
      repeated.resize(bytes);
      auto done = static_cast<size_t>(values.size() * size);
      std::memcpy(repeated.data(), from, done);
      for (; done < bytes; done *= 2)
        std::memcpy(repeated.data() + done, repeated.data(), std::min(done, bytes - done));
      from = repeated.data();
    }
    rt::library::expandInto(first, chosen, from, count, size);
  };
  return isExpandedHere(x) && writeComputed(x, mask, values, write);
}

bool expandMasked(Array &x, const NodeRef &mask, const NodeRef &values) {
  if (!isReadHere(*mask) || !isReadHere(*values) || mask->bytes() != x.size() ||
      values->dtype() != x.dtype() || values->bytes() == 0 || !isExpandedHere(x) ||
      &values->device() != &x.device())
    return false;
  bool isWritten = false;
  return writeMasked(x, mask->device(),
                     [&](char *first) {
                       int64_t size = itemSize(x.dtype());
                       const char *from = whereRead(*values, values->bytes());
                       isWritten = rt::library::expandInto(first, bytesOf(mask), from,
                                                           values->bytes() / size, size);
                     }) &&
         isWritten;
}

std::optional<KnownValue> foldValues(OpKind kind, const KnownValue &a, uint64_t b, bool *wraps) {
  std::optional<std::pair<uint64_t, DType>> out;
  withType(a.dtype, [&](auto v) {
    using T = decltype(v);
    out = fold(kind, valueOf<T>(a.bits), valueOf<T>(b), a.dtype, wraps);
    return true;
  });
  return out ? std::optional(KnownValue{out->first, out->second, a.device}) : std::nullopt;
}

std::optional<KnownValue> foldKnown(OpKind kind, std::span<const Operand> operands, DType t,
                                    rt::Device &device) {
  if (operands.size() > 2 || isComplex(t) || Trace::active())
    return std::nullopt;
  std::array<uint64_t, 2> bits{};
  for (size_t i = 0; i < operands.size(); ++i) {
    auto known = operandBits(operands[i], t);
    if (!known)
      return std::nullopt;
    bits[i] = *known;
  }
  return foldValues(kind, {bits[0], t, &device}, bits[1]);
}

} // namespace ops
} // namespace graphc
