// Elementwise operations of loops, whose operands lie in any way.
#include "frontends/python/bindings/Direct.h"

#include "frontends/record/Lend.h"
#include "frontends/record/MemoryOrder.h"
#include "frontends/record/Recycle.h"
#include "frontends/record/Session.h"
#include "frontends/record/SmallElements.h"
#include "frontends/record/Trace.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <tuple>
#include <utility>

namespace graphc::py {
namespace {

using op::OpKind;
using small::Source;

/// What an operation does with operands of one dtype as they are.
struct Direct {
  bool hasLoop = false; ///< else it is a program on vectors
  bool takes = false;
};

Direct directOf(OpKind kind, DType t) {
  const op::OpInfo &info = op::opInfo(kind);
  if (kind == OpKind::Reciprocal && isInteger(t)) // an integer, though dtypes say otherwise
    return {true, true};
  if (info.category != op::Category::Elementwise || info.arity > 2 ||
      info.resultRule == op::ResultRule::Explicit || !op::acceptsDType(info.operandDTypes, t) ||
      (info.promoteToFloat && !isInexact(t)) || (info.promoteBool && t == DType::Bool) ||
      kind == OpKind::Complex || isComplex(t))
    return {};
  const bool hasLoop = small::hasLoop(kind, t);
  return {hasLoop, hasLoop || t == DType::Float64 || t == DType::Float32};
}

Direct direct(OpKind kind, DType t) {
  enum : uint8_t { Known = 1, Loop = 2, Takes = 4 };
  static std::array<std::array<std::atomic<uint8_t>, kDTypeCount>, op::kOpKindCount> known{};
  std::atomic<uint8_t> &found = known[static_cast<size_t>(kind)][static_cast<size_t>(t)];
  uint8_t bits = found.load(std::memory_order_relaxed);
  if (bits == 0) {
    const Direct how = directOf(kind, t);
    bits = static_cast<uint8_t>(Known | (how.hasLoop ? Loop : 0) | (how.takes ? Takes : 0));
    found.store(bits, std::memory_order_relaxed);
  }
  return {(bits & Loop) != 0, (bits & Takes) != 0};
}

/// What an operation does with operands that are arrays like one of them, and numbers.
struct Operation {
  const Array &like;
  DType t;        ///< in which it computes
  AxisList order; ///< of the axes as the result lies (MemoryOrder.h); empty for row-major
  bool converts() const { return like.dtype() != t; }
};

bool isRowMajor(const Array &x) { return x.view().isWhole() || x.view().isContiguous(); }

/// Whether elements lie side by side in the order of the axes.
bool liesDense(std::span<const int64_t> shape, std::span<const int64_t> strides) {
  int64_t expected = 1;
  for (size_t i = shape.size(); i-- > 0; expected *= shape[i])
    if (shape[i] != 1 && strides[i] != expected)
      return false;
  return true;
}

Shape inOrder(std::span<const int64_t> values, std::span<const int64_t> order) {
  if (order.empty())
    return Shape(values);
  Shape turned(order);
  for (int64_t &axis : turned)
    axis = values[static_cast<size_t>(axis)];
  return turned;
}

/// Memory of this thread for copies of operands that do not lie as the result does, or are of
/// another dtype.
rt::Buffer &copiesOf(size_t operand, bool isConverted, int64_t bytes, rt::Device &device) {
  constexpr int64_t kUsual = 16 << 10;
  thread_local std::array<rt::BufferRef, 6> kept;
  rt::BufferRef &buffer = kept[2 * operand + (isConverted ? 1 : 0)];
  if (!buffer || &buffer->device() != &device || buffer->bytes() < bytes)
    buffer = unwrap(device.allocate(std::max(kUsual, bytes)));
  return *buffer;
}

/// An operand, by its number.
class Side {
public:
  explicit Side(size_t number) : number(number) {}

  bool read(PyObject *object, const Array *array, const Operation &of) {
    const Array &like = of.like;
    if (!array)
      return readNumber(object, of);
    if (const KnownValue *known = array->known())
      return known->dtype == of.t && known->device == &like.device() && setValue(known->bits);
    if (array != &like && (array->isOpen() || array->dtype() != like.dtype() ||
                           &array->device() != &like.device() || !(array->shape() == like.shape())))
      return false;
    held = small::computedElementsOf(*array);
    return held.base && readElements(*array, of);
  }
  const Source &source() const { return from; }
  /// Of elements that begin where a memory does.
  rt::Buffer *buffer() const { return memory; }

private:
  bool readNumber(PyObject *object, const Operation &of) {
    const Array &like = of.like;
    const bool isPlain = !of.converts() && of.order.size() == 0;
    if (const void *lent = isPlain ? denseOfNumpy(object, of.t, like.shape()) : nullptr) {
      from = {lent, true};
      return true;
    }
    if (PyBool_Check(object) ||
        (of.converts() && (!PyLong_CheckExact(object) || !scalarBits(object, like.dtype()))))
      return false;
    auto bits = scalarBits(object, of.t);
    return bits && setValue(*bits);
  }

  bool readElements(const Array &x, const Operation &of) {
    const void *first = held.first;
    rt::Buffer *all = held.base->buffer().get();
    if (of.order.size() > 0 || !isRowMajor(x)) {
      const View &view = x.view();
      const Shape shape = inOrder(view.shape(), of.order);
      const Shape steps = inOrder(view.strides(), of.order);
      if (!liesDense(shape, steps)) {
        all = &copiesOf(number, false, x.size() * itemSize(x.dtype()), x.device());
        small::withElement(itemSize(x.dtype()), [&]<typename T>(T) {
          small::gather(reinterpret_cast<const T *>(held.first), shape, steps,
                        static_cast<T *>(all->host()));
        });
        first = all->host();
      }
    }
    if (of.converts()) {
      rt::Buffer &converted = copiesOf(number, true, x.size() * itemSize(of.t), x.device());
      if (!small::castDense(x.dtype(), first, of.t, converted.host(), x.size()))
        return false;
      all = &converted;
      first = all->host();
    }
    memory = all->host() == first ? all : nullptr;
    from = {first, true};
    return true;
  }
  bool setValue(uint64_t bits) {
    value = bits; // little-endian: the low bytes are the value
    from = {&value, false};
    return true;
  }

  size_t number;
  small::Elements held;
  uint64_t value = 0;
  Source from;
  rt::Buffer *memory = nullptr;
};

/// x ** 2 and x ** 0.5 are other operations (ops::power).
OpKind powerOf(PyObject *exponent, DType t) {
  const bool isReal = t == DType::Float64 || t == DType::Float32;
  double e = 0;
  if (PyFloat_CheckExact(exponent) && isReal)
    e = PyFloat_AS_DOUBLE(exponent);
  else if (PyLong_CheckExact(exponent) && t != DType::Bool)
    e = PyLong_AsLong(exponent) == 2 ? 2 : 0;
  PyErr_Clear(); // of integers that are no long
  if (e == 2)
    return OpKind::Mul;
  return e == 0.5 ? OpKind::Sqrt : OpKind::Pow;
}

/// Whether an operation that makes an array like another one is computed at once.
bool isComputed(OpKind kind, const Array &like) {
  return small::isLoop(kind, like.size(), like.device(), /*counts=*/false);
}

} // namespace

/// An operation on truth values of numbers: those that are not zero are true. Null as
/// directOperation().
static PyObject *onTruth(OpKind kind, const Array &like, PyObject *left, PyObject *right) {
  const Array *a = asAnyArray(left), *b = right ? asAnyArray(right) : nullptr;
  const DType t = like.dtype();
  RecordScope scope;
  Side x(0), y(1);
  const Operation of{like, t, {}};
  if (!small::hasLoop(OpKind::NotEqual, t) || like.size() * itemSize(t) > recycle::kMostBytes ||
      !isRowMajor(like) || !isComputed(kind, like) || !x.read(left, a, of) ||
      (right && !y.read(right, b, of)))
    return nullptr;
  Made made = takeMade(DType::Bool, like.shape(), like.device());
  if (!made.object)
    return nullptr;
  const uint64_t zero = 0;
  small::Room<bool> room;
  bool *second = room.get(right ? like.size() : 0);
  auto isTrue = [&](const Source &of, void *to) {
    return small::computeDense(OpKind::NotEqual, t, of, {&zero, false}, like.size(), to);
  };
  const Source first{made.data(), true};
  const bool isDone =
      isTrue(x.source(), made.data()) && (!right || isTrue(y.source(), second)) &&
      small::computeDense(kind, DType::Bool, first, right ? Source{second, true} : first,
                          like.size(), made.data());
  return isDone ? finish(std::move(made)) : nullptr;
}

/// The axes of a result from the slowest to the fastest; empty for row-major.
static AxisList orderOf(const Array &like, const Array *other) {
  if (like.rank() < 2 || (isRowMajor(like) && (!other || other->isOpen() || isRowMajor(*other))))
    return {};
  const Operand both[] = {like, other && !other->isOpen() ? *other : like};
  return ops::keptOrder(like.shape(), both);
}

/// The result of a computation into a buffer: an array of that shape, which may lie in another
/// order. Null where there is none.
template <typename Compute>
static PyObject *madeBy(DType t, const Operation &of, Compute compute) {
  const Array &like = of.like;
  if (of.order.size() == 0) {
    Made made = takeMade(t, like.shape(), like.device());
    return made.object && compute(*made.buffer) ? finish(std::move(made)) : nullptr;
  }
  NodeRef node = unwrap(small::makeNode(t, inOrder(like.shape(), of.order), like.device()));
  if (!compute(*node->buffer()))
    return nullptr;
  check(takeFailure());
  return wrapSilently(ops::turnedBack(small::arrayOf(std::move(node)), of.order));
}

/// In which dtype an operation on arrays of dtype `t` computes.
static DType computedIn(OpKind kind, DType t) {
  if (isInexact(t) || t == DType::Bool || !op::opInfo(kind).promoteToFloat ||
      kind == OpKind::Reciprocal) // of integers an integer
    return t;
  const std::array<op::OperandType, 2> types{op::OperandType{t, op::Weak::None},
                                             op::OperandType{t, op::Weak::None}};
  const auto arity = static_cast<size_t>(op::opInfo(kind).arity);
  auto found = op::promoteOperands(kind, std::span(types).first(std::min<size_t>(arity, 2)));
  return found ? *found : t;
}

PyObject *directOperation(OpKind kind, PyObject *left, PyObject *right) {
  const Array *a = asAnyArray(left), *b = right ? asAnyArray(right) : nullptr;
  const Array &like = *(a && a->rank() > 0 ? a : b);
  if (like.isOpen())
    return nullptr;
  if (kind == OpKind::Pow && a == &like && !b) {
    kind = powerOf(right, like.dtype());
    if (kind == OpKind::Pow) {
      if (!PyLong_CheckExact(right) || !isInteger(like.dtype()))
        return nullptr; // some exponents are other operations (ops::power)
    } else {
      right = kind == OpKind::Mul ? left : nullptr;
      b = right ? a : nullptr;
    }
  }
  const DType t = computedIn(kind, like.dtype());
  const Direct how = direct(kind, t);
  if (op::opInfo(kind).operandDTypes == op::DTypeClass::Boolean && t != DType::Bool)
    return onTruth(kind, like, left, right);
  const int64_t widest = std::max(itemSize(t), itemSize(like.dtype()));
  if (!how.takes || like.size() * widest > recycle::kMostBytes) // of which no object is kept
    return nullptr;
  RecordScope scope;
  if (!isComputed(kind, like))
    return nullptr;
  const Operation of{like, t, orderOf(like, a == &like ? b : nullptr)};
  Side x(0), y(1);
  if (!x.read(left, a, of) || (right && right != left && !y.read(right, b, of)))
    return nullptr;
  const Side &second = right && right != left ? y : x;
  std::array<rt::Buffer *, 2> buffers{x.buffer(), second.buffer()};
  if (!how.hasLoop && (!buffers[0] || !buffers[1]))
    return nullptr;
  return madeBy(
      kind == OpKind::Reciprocal ? t : op::resultDType(kind, t), of, [&](rt::Buffer &out) {
        return how.hasLoop
                   ? small::computeDense(kind, t, x.source(), second.source(), like.size(),
                                         out.host())
                   : unwrap(small::computeByUnit(kind, t, std::span(buffers).first(right ? 2 : 1),
                                                 out, like.size()));
      });
}

PyObject *directCast(const Array &x, DType t) {
  const DType given = x.dtype();
  const bool isMoved = given == t || (!isComplex(given) && !isComplex(t));
  if (x.rank() == 0 || x.isOpen() || !isMoved ||
      x.size() * std::max(itemSize(given), itemSize(t)) > recycle::kMostBytes)
    return nullptr;
  RecordScope scope;
  if (!small::isLoop(OpKind::Cast, x.size(), x.device())) // counted by nobody else
    return nullptr;
  const Operation of{x, given, orderOf(x, nullptr)};
  Side from(0);
  if (!from.read(nullptr, &x, of))
    return nullptr;
  return madeBy(t, of, [&](rt::Buffer &out) {
    if (given != t)
      return small::castDense(given, from.source().data, t, out.host(), x.size());
    std::memcpy(out.host(), from.source().data, static_cast<size_t>(x.size() * itemSize(t)));
    return true;
  });
}

/// A bound after the other, which what clip() gives is, of an array; null as directOperation().
static PyObject *clippedArray(const Array &x, PyObject *object, PyObject *low, PyObject *high) {
  const DType t = x.dtype();
  if (x.rank() == 0 || x.isOpen() || t == DType::Bool || !direct(OpKind::Maximum, t).hasLoop ||
      x.size() * itemSize(t) > recycle::kMostBytes)
    return nullptr;
  RecordScope scope;
  Side from(0), least(1), most(2);
  const Operation of{x, t, {}};
  const OpKind counted = low == Py_None    ? OpKind::Minimum
                         : high == Py_None ? OpKind::Maximum
                                           : OpKind::Clip;
  if (!isRowMajor(x) || !isComputed(counted, x) || !from.read(object, &x, of) ||
      (low != Py_None && !least.read(low, asAnyArray(low), of)) ||
      (high != Py_None && !most.read(high, asAnyArray(high), of)))
    return nullptr;
  Made made = takeMade(t, x.shape(), x.device());
  Source at = from.source();
  for (auto [kind, bound, side] :
       {std::tuple(OpKind::Maximum, low, &least), std::tuple(OpKind::Minimum, high, &most)}) {
    if (!made.object || bound == Py_None)
      continue;
    if (!small::computeDense(kind, t, at, side->source(), x.size(), made.data()))
      return nullptr;
    at = {made.data(), true};
  }
  return made.object ? finish(std::move(made)) : nullptr;
}

PyObject *directClip(PyObject *object, PyObject *low, PyObject *high) {
  if ((low == Py_None && high == Py_None) || Trace::active())
    return nullptr;
  if (const Array *x = knownScalar(object) ? nullptr : asAnyArray(object))
    return clippedArray(*x, object, low, high);
  auto value = pb::reinterpret_borrow<pb::object>(object);
  if (!knownScalar(object)) { // Python's numbers alone: beside others they would be weak
    auto isNumber = [](PyObject *o) { return PyFloat_CheckExact(o) || PyLong_CheckExact(o); };
    rt::Device *device = unwrap(currentDevice());
    const DType t = PyFloat_CheckExact(object) ? DType::Float64 : DType::Int64;
    auto bits = isNumber(object) && isNumber(low) && isNumber(high) && mayBeOnHost(*device)
                    ? scalarBits(object, t)
                    : std::nullopt;
    if (!bits)
      return nullptr;
    value = pb::reinterpret_steal<pb::object>(wrapKnown({*bits, t, device}));
  }
  for (auto [kind, bound] : {std::pair(OpKind::Maximum, low), std::pair(OpKind::Minimum, high)})
    if (value && bound != Py_None)
      value = pb::reinterpret_steal<pb::object>(operationOnValues(kind, value.ptr(), bound));
  return value.release().ptr();
}

} // namespace graphc::py
