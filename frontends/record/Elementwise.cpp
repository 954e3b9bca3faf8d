#include "frontends/record/Known.h"
#include "frontends/record/MemoryOrder.h"
#include "frontends/record/OpenSize.h"
#include "frontends/record/Ops.h"
#include "frontends/record/OpsDetail.h"
#include "frontends/record/Record.h"
#include "frontends/record/Session.h"
#include "frontends/record/SmallComplex.h"
#include "frontends/record/Trace.h"
#include "runtime/base/Strings.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace graphc {

using strings::format;

op::OperandType Operand::type() const {
  if (array)
    return {array->dtype(), op::Weak::None};
  return dtype ? op::OperandType{*dtype, op::Weak::None} : scalar.type();
}

std::span<const int64_t> Operand::shape() const {
  return array ? std::span<const int64_t>(array->shape()) : std::span<const int64_t>();
}

namespace ops {
namespace {

using detail::finish;
using op::OpKind;

Result<rt::Device *> commonDevice(std::string_view name, std::span<const Operand> operands) {
  rt::Device *device = nullptr;
  for (const Operand &o : operands) {
    if (!o.array || device == &o.array->device())
      continue;
    if (device)
      return Status(ErrorCode::Device,
                    format("[{}] operands are on different devices, {} and {}; use to_device", name,
                           device->info().name, o.array->device().info().name));
    device = &o.array->device();
  }
  return device ? Result<rt::Device *>(device) : currentDevice();
}

/// In a loop over small arrays, so as to record the same for every part of an array.
Result<NodeRef> valueIn(bool isLoop, const Array &x) {
  if (isLoop && !x.view().isWhole()) {
    GRAPHC_ASSIGN(NodeRef n, small::detached(x));
    if (n)
      return n;
  }
  return x.value();
}

Result<NodeRef> operandNode(const Operand &o, DType dtype, rt::Device &device,
                            bool isLoop = false) {
  if (o.array) {
    GRAPHC_ASSIGN(NodeRef n, valueIn(isLoop, *o.array));
    return node::cast(n, dtype);
  }
  if (o.dtype) { // a strong scalar has been rounded to its own dtype already
    GRAPHC_ASSIGN(NodeRef n, node::scalar(o.scalar, *o.dtype, device));
    return node::cast(n, dtype);
  }
  return node::scalar(o.scalar, dtype, device);
}

bool isComparison(OpKind kind) {
  const op::OpInfo &info = op::opInfo(kind);
  return info.resultRule == op::ResultRule::Bool && info.arity == 2 &&
         info.operandDTypes == op::DTypeClass::Any;
}

/// Comparison of every value below (or above) with every value of the other side: `less` is whether
/// lhs < rhs.
bool orderedResult(OpKind kind, bool less) {
  switch (kind) {
  case OpKind::NotEqual:
    return true;
  case OpKind::Less:
  case OpKind::LessEqual:
    return less;
  case OpKind::Greater:
  case OpKind::GreaterEqual:
    return !less;
  default:
    return false;
  }
}

/// A Python integer outside the dtype it is compared in decides the result (NumPy 2).
std::optional<bool> decidedComparison(OpKind kind, std::span<const Operand> operands, DType dtype) {
  if (!isComparison(kind) || isInexact(dtype))
    return std::nullopt;
  for (size_t i = 0; i < 2; ++i) {
    const Operand &o = operands[i];
    if (o.array || o.dtype || o.scalar.kind != op::Scalar::Kind::Int || o.scalar.variable ||
        op::fits(o.scalar.integer, dtype))
      continue;
    bool scalarIsLow = o.scalar.integer < 0;
    return orderedResult(kind, scalarIsLow == (i == 0));
  }
  return std::nullopt;
}

bool mixesSignAt64(std::span<const Operand> operands) {
  DType a = operands[0].type().dtype, b = operands[1].type().dtype;
  bool strong =
      operands[0].type().weak == op::Weak::None && operands[1].type().weak == op::Weak::None;
  return strong && op::promoteTypes(a, b) == DType::Float64 && !isFloat(a) && !isFloat(b);
}

/// uint64 against a signed dtype: exact as in NumPy 2, not through float64.
Result<Array> compareMixed(OpKind kind, std::span<const Operand> operands) {
  size_t s = isSigned(operands[0].type().dtype) ? 0 : 1;
  const Operand &given = operands[s];
  GRAPHC_ASSIGN(rt::Device * device, commonDevice(op::opInfo(kind).name, operands));
  GRAPHC_ASSIGN(NodeRef asSigned, operandNode(given, DType::Int64, *device));
  GRAPHC_ASSIGN(NodeRef asUnsigned, node::cast(asSigned, DType::UInt64));
  Array signedArray(asSigned), unsignedArray(asUnsigned);
  Operand compared[2] = {operands[0], operands[1]};
  compared[s] = Operand(unsignedArray);
  GRAPHC_ASSIGN(Array plain, elementwise(kind, compared));
  Operand sign[] = {signedArray, op::Scalar::ofInt(0)};
  GRAPHC_ASSIGN(Array negative, elementwise(OpKind::Less, sign));
  Operand choose[] = {negative, op::Scalar::ofBool(orderedResult(kind, s == 0)), plain};
  return elementwise(OpKind::Select, choose);
}

/// Whether the elements can be read where they lie.
bool liesOnHost(const Array &x) {
  if (!mayBeOnHost(x.device()) || !x.view().hasLayout() || x.view().isRecast())
    return false;
  const NodeRef base = x.storage()->current();
  return base->state() == NodeState::Ready && base->buffer()->host();
}

/// The first negative element of an array that is computed already; nothing is computed for it.
std::optional<int64_t> negativeElement(const Array &x) {
  if (!isSigned(x.dtype()) || isInexact(x.dtype()) || x.size() == 0)
    return std::nullopt;
  if (x.rank() == 0) {
    auto bits = operandBits(x, DType::Int64);
    auto value = static_cast<int64_t>(bits.value_or(0));
    return value < 0 ? std::optional(value) : std::nullopt;
  }
  if (Trace::active() || !liesOnHost(x))
    return std::nullopt;
  NodeRef base = x.storage()->current();
  std::optional<int64_t> found;
  hostmath::withTypeAmong<int8_t, int16_t, int32_t, int64_t>(x.dtype(), [&]<typename T>(T) {
    std::vector<T> values(static_cast<size_t>(x.size()));
    small::gather(static_cast<const T *>(base->buffer()->host()) + x.view().offset(), x.shape(),
                  x.view().strides(), values.data());
    auto at = std::ranges::find_if(values, [](T v) { return v < 0; });
    if (at != values.end())
      found = *at;
    return true;
  });
  return found;
}

/// Whether the operations that give an integer say that it is not below zero. Needs graphMutex().
bool saysNeverNegative(const Node &n, int depth = 0) {
  constexpr int kDeepest = 8;
  if (n.dtype() == DType::Bool || !isSigned(n.dtype()))
    return true;
  if (n.state() != NodeState::Pending || depth == kDeepest)
    return false;
  auto of = [&](size_t i) { return saysNeverNegative(*n.operands()[i], depth + 1); };
  switch (n.kind()) {
  case OpKind::Iota:
    return true;
  case OpKind::Full:
    return static_cast<int64_t>(n.attrs()[0] << (64 - 8 * itemSize(n.dtype()))) >= 0;
  case OpKind::Broadcast:
  case OpKind::Reshape:
  case OpKind::Transpose:
  case OpKind::Slice:
  case OpKind::Gather:
    return of(0);
  case OpKind::Cast:
    return itemSize(n.dtype()) > itemSize(n.operands()[0]->dtype()) &&
           !isInexact(n.operands()[0]->dtype()) && of(0);
  case OpKind::Remainder:
    return of(1);
  case OpKind::Minimum:
    return of(0) && of(1);
  case OpKind::Maximum:
    return of(0) || of(1);
  default:
    return false;
  }
}

bool isNeverNegative(const Node &n) {
  std::lock_guard lock(graphMutex());
  return saysNeverNegative(n);
}

/// An exponent that is pending is computed, unless what it is made of says enough; inside a trace
/// it is not known.
Status refusePower(std::span<const Operand> operands, DType dtype) {
  const Operand &exponent = operands[1];
  for (const Operand &o : operands.first(2))
    if (o.scalar.variable) // some values of either make it another operation
      return op::literalBits(o.scalar, DType::Float64).takeStatus();
  if (isInexact(dtype))
    return Status::ok();
  bool isNegative = false;
  if (exponent.array) {
    Array x = *exponent.array;
    if (!Trace::active() && onHost(x.device()) && !(x.rank() && liesOnHost(x)) &&
        isSigned(x.dtype()) && !isInexact(x.dtype())) {
      GRAPHC_ASSIGN(NodeRef value, x.value());
      if (value->state() == NodeState::Pending && !isNeverNegative(*value)) {
        Array *looked[] = {&x};
        GRAPHC_ASSIGN(std::vector<NodeRef> nodes, evaluateArrays(looked, "power"));
        x = Array(nodes[0]);
      }
    }
    isNegative = negativeElement(x).has_value();
  } else if (exponent.scalar.kind == op::Scalar::Kind::Int && exponent.scalar.integer < 0 &&
             isSigned(dtype)) {
    isNegative = true;
  }
  return isNegative ? Status(ErrorCode::InvalidArgument,
                             "[pow] Integers to negative integer powers are not allowed.")
                    : Status::ok();
}

/// No elementwise operation has more operands.
constexpr size_t kMostOperands = 4;

Result<DType> computeDType(OpKind kind, std::span<const Operand> operands) {
  std::array<op::OperandType, kMostOperands> types;
  size_t count = 0;
  for (const Operand &o : operands.subspan(kind == OpKind::Select ? 1 : 0))
    types[count++] = o.type();
  return op::promoteOperands(kind, std::span(types).first(count));
}

Result<Shape> commonShape(std::string_view name, std::span<const Operand> operands) {
  std::array<std::span<const int64_t>, kMostOperands> shapes;
  size_t count = 0;
  for (const Operand &o : operands)
    shapes[count++] = o.shape();
  return op::broadcastShapes(name, std::span(shapes).first(count));
}

/// The first array when all operands are arrays of one shape, dtype and device that the operation
/// takes as they are, or real Python numbers beside floats: most operations of a program, and then
/// there is nothing to check. Null otherwise, and for rank 0.
const Array *fitAsTheyAre(const op::OpInfo &info, std::span<const Operand> operands) {
  const Array *first = nullptr;
  for (const Operand &o : operands)
    if (!first)
      first = o.array;
  if (!first || first->rank() == 0)
    return nullptr;
  DType t = first->dtype();
  if (!op::acceptsDType(info.operandDTypes, t) || (info.promoteToFloat && !isInexact(t)) ||
      (info.promoteBool && t == DType::Bool))
    return nullptr;
  bool fit = std::ranges::all_of(operands, [&](const Operand &o) {
    if (!o.array)
      return isFloat(t) && !o.dtype && o.scalar.kind != op::Scalar::Kind::Complex;
    return o.array == first || (o.array->dtype() == t && &o.array->device() == &first->device() &&
                                o.array->shape() == first->shape());
  });
  return fit ? first : nullptr;
}

Result<Array> elementwiseOfEqual(OpKind kind, std::span<const Operand> operands,
                                 const Array &first) {
  if (kind == OpKind::Pow)
    GRAPHC_TRY(refusePower(operands, first.dtype()));
  bool isLoop = small::isLoop(kind, first.size(), first.device());
  if (isLoop) {
    GRAPHC_ASSIGN(NodeRef now,
                  small::elementwise(kind, operands, first.dtype(), first.shape(), first.device()));
    if (now)
      return small::arrayOf(std::move(now));
  }
  std::array<NodeRef, kMostOperands> nodes;
  for (size_t i = 0; i < operands.size(); ++i) {
    GRAPHC_ASSIGN(nodes[i], operandNode(operands[i], first.dtype(), first.device(), isLoop));
    if (!operands[i].array) {
      GRAPHC_ASSIGN(nodes[i], node::broadcast(nodes[i], first.shape()));
    }
  }
  return finish(Node::makeOp(kind, std::span(nodes).first(operands.size()), {},
                             {op::resultDType(kind, first.dtype()), first.shape()}, first.device(),
                             RecordScope::location(), RecordScope::errors()));
}

/// With the result in row-major order.
Result<Array> elementwiseInRows(OpKind kind, std::span<const Operand> operands) {
  const op::OpInfo &info = op::opInfo(kind);
  if (info.category != op::Category::Elementwise ||
      operands.size() != static_cast<size_t>(info.arity) || operands.size() > kMostOperands)
    return Status(ErrorCode::InvalidArgument,
                  format("[{}] takes {} operands, got {}", info.name, info.arity, operands.size()));
  const bool isFinite = kind == OpKind::IsFinite;
  if ((isFinite || kind == OpKind::IsNan || kind == OpKind::IsInf) && operands.size() == 1 &&
      operands[0].array && operands[0].array->rank() > 0 && !isInexact(operands[0].type().dtype))
    return full(Shape(operands[0].shape()), op::Scalar::ofInt(isFinite), DType::Bool,
                &operands[0].array->device());
  // Values of rank 0 may be known (below).
  if (kind != OpKind::Select && info.resultRule != op::ResultRule::Explicit)
    if (const Array *first = fitAsTheyAre(info, operands))
      return elementwiseOfEqual(kind, operands, *first);
  GRAPHC_ASSIGN(DType dtype, computeDType(kind, operands));
  GRAPHC_ASSIGN(rt::Device * device, commonDevice(info.name, operands));
  if (isComparison(kind) && mixesSignAt64(operands))
    return compareMixed(kind, operands);
  if (kind == OpKind::Pow)
    GRAPHC_TRY(refusePower(operands, dtype));
  GRAPHC_ASSIGN(Shape shape, commonShape(info.name, operands));
  if (shape.rank() == 0)
    if (auto known = foldKnown(kind, operands, dtype, *device))
      return Array(*known);
  if (auto decided = decidedComparison(kind, operands, dtype))
    return finish(node::broadcast(node::literal(*decided, DType::Bool, *device), shape));
  int64_t count = elementCount(shape).value_or(0);
  bool isLoop = small::isLoop(kind, count, *device);
  if (isLoop && shape.rank() == 0 && !small::hasLoop(kind, dtype)) {
    GRAPHC_ASSIGN(auto value, small::valueByUnit(kind, operands, dtype, *device));
    if (value)
      return Array(*value);
  }
  if (isLoop) {
    GRAPHC_ASSIGN(NodeRef now, small::elementwise(kind, operands, dtype, shape, *device));
    if (now)
      return small::arrayOf(std::move(now));
  }
  std::array<NodeRef, kMostOperands> nodes;
  for (size_t i = 0; i < operands.size(); ++i) {
    DType wanted = kind == OpKind::Select && i == 0 ? DType::Bool : dtype;
    GRAPHC_ASSIGN(NodeRef n, operandNode(operands[i], wanted, *device, isLoop));
    GRAPHC_ASSIGN(nodes[i], node::broadcast(n, shape));
  }
  return finish(node::make(kind, std::span(nodes).first(operands.size()), {}, {}, *device));
}

} // namespace

/// 1 / x in x's own dtype: 1 and -1 have one, the others 0; that of 0 is a division by zero, and
/// the least number of 32 bits and more.
static Result<Array> wholeReciprocal(const Operand &x) {
  RecordScope named(RecordScope::location(), errorsUnder(OpKind::Reciprocal));
  const DType given = x.type().dtype, t = given == DType::Bool ? DType::Int8 : given;
  Array values;
  if (x.array) {
    small::isLoop(OpKind::Reciprocal, x.array->size(), x.array->device()); // counted nowhere else
    GRAPHC_ASSIGN(values, cast(*x.array, t));
  } else {
    GRAPHC_ASSIGN(rt::Device * device, currentDevice());
    GRAPHC_ASSIGN(values, full({}, x.scalar, t, device));
  }
  const auto number = [](int64_t n) { return Operand(op::Scalar::ofInt(n)); };
  const Operand ratio[] = {number(1), values};
  GRAPHC_ASSIGN(Array quotient, elementwise(OpKind::FloorDivide, ratio));
  if (!isSigned(t))
    return quotient;
  const auto where = [&](OpKind kind, int64_t n, const Operand &chosen) -> Status {
    const Operand asked[] = {values, number(n)};
    GRAPHC_ASSIGN(const Array found, elementwise(kind, asked));
    const Operand choices[] = {found, chosen, quotient};
    GRAPHC_ASSIGN(quotient, elementwise(OpKind::Select, choices));
    return Status::ok();
  };
  GRAPHC_TRY(where(OpKind::Less, -1, number(0)));
  if (itemSize(t) >= 4)
    GRAPHC_TRY(where(OpKind::Equal, 0,
                     number(t == DType::Int32 ? std::numeric_limits<int32_t>::min()
                                              : std::numeric_limits<int64_t>::min())));
  return quotient;
}

Result<Array> elementwise(OpKind kind, std::span<const Operand> operands) {
  RecordScope scope;
  if (open::isAny(operands))
    return open::apply(operands,
                       [kind](std::span<const Operand> o) { return elementwise(kind, o); });
  if (kind == OpKind::Reciprocal && operands.size() == 1 && !isInexact(operands[0].type().dtype))
    return wholeReciprocal(operands[0]);
  if (mayKeepOrder(operands)) {
    GRAPHC_ASSIGN(Shape shape, commonShape(op::opInfo(kind).name, operands));
    if (AxisList order = keptOrder(shape, operands); order.size() > 0)
      return inOrder(order, operands,
                     [kind](std::span<const Operand> o) { return elementwiseInRows(kind, o); });
  }
  return elementwiseInRows(kind, operands);
}

static Result<Array> choose(const Array &where, const Operand &yes, const Operand &no) {
  const Operand three[] = {where, yes, no};
  return elementwise(OpKind::Select, three);
}

/// 1 / product of complex numbers; NaN, which is invalid, where `x` is zero.
static Result<Array> inversePower(const Array &x, const Array &product) {
  RecordScope named(RecordScope::location(), errorsUnder(OpKind::Pow));
  const Operand one = op::Scalar::ofInt(1), zeros[] = {x, op::Scalar::ofInt(0)};
  GRAPHC_ASSIGN(Array isPole, elementwise(OpKind::Equal, zeros));
  GRAPHC_ASSIGN(Array pole, choose(isPole, x, one));
  const Operand atPole[] = {pole};
  GRAPHC_ASSIGN(pole, elementwise(OpKind::Reciprocal, atPole));
  GRAPHC_ASSIGN(Array regular, choose(isPole, one, product));
  const Operand quotient[] = {one, regular};
  GRAPHC_ASSIGN(regular, elementwise(OpKind::Div, quotient));
  return choose(isPole, pole, regular);
}

static Result<Array> wholePower(const Operand &x, DType dtype, int64_t exponent) {
  GRAPHC_ASSIGN(const Array base, cast(*x.array, dtype));
  Array square = base;
  std::optional<Array> product;
  for (int64_t left = exponent < 0 ? -exponent : exponent; left; left /= 2) {
    if (left % 2) {
      if (product) {
        Operand factors[] = {*product, square};
        GRAPHC_ASSIGN(product, elementwise(OpKind::Mul, factors));
      } else {
        product = square;
      }
    }
    if (left > 1) {
      Operand same[] = {square, square};
      GRAPHC_ASSIGN(square, elementwise(OpKind::Mul, same));
    }
  }
  if (!product)
    return full(x.array->shape(), op::Scalar::ofInt(1), dtype, &x.array->device());
  return exponent > 0 ? Result<Array>(*product) : inversePower(base, *product);
}

/// Products of `base` whose numbers of factors are below kMostFactors. None is formed that its
/// element does not need: it might be infinite.
static Result<Array> products(const Array &base, const Array &factors) {
  const Operand one = op::Scalar::ofInt(1);
  auto test = [&](OpKind kind, const Operand &a, int64_t b) {
    const Operand two[] = {a, op::Scalar::ofInt(b)};
    return elementwise(kind, two);
  };
  Array square = base;
  std::optional<Array> product;
  for (int64_t bit = 1; bit < small::kMostFactors; bit *= 2) {
    GRAPHC_ASSIGN(Array isFactor, test(OpKind::BitwiseAnd, factors, bit));
    GRAPHC_ASSIGN(isFactor, test(OpKind::NotEqual, isFactor, 0));
    Array next = square;
    if (product) {
      const Operand two[] = {*product, square};
      GRAPHC_ASSIGN(next, elementwise(OpKind::Mul, two));
    }
    GRAPHC_ASSIGN(product, choose(isFactor, next, product ? Operand(*product) : one));
    if (2 * bit < small::kMostFactors) {
      GRAPHC_ASSIGN(Array isLeft, test(OpKind::GreaterEqual, factors, 2 * bit));
      GRAPHC_ASSIGN(square, choose(isLeft, square, one));
      const Operand two[] = {square, square};
      GRAPHC_ASSIGN(square, elementwise(OpKind::Mul, two));
    }
  }
  return *product;
}

/// Powers of complex numbers by an array of integers: products, as NumPy forms them in this order,
/// where there are few factors.
static Result<Array> wholePowers(const Operand &x, const Array &y, DType dtype) {
  const Operand both[] = {x, y}, one = op::Scalar::ofInt(1), none = op::Scalar::ofInt(0);
  GRAPHC_ASSIGN(Shape shape, commonShape("power", both));
  if (!Trace::active()) {
    GRAPHC_ASSIGN(NodeRef now, small::wholePowers(x, y, dtype, shape));
    if (now)
      return small::arrayOf(std::move(now));
  }
  RecordScope named(RecordScope::location(), errorsUnder(OpKind::Pow));
  GRAPHC_ASSIGN(const Array base,
                x.array ? cast(*x.array, dtype) : full(Shape{}, x.scalar, dtype, &y.device()));
  GRAPHC_ASSIGN(const Array exponents, cast(y, DType::Int64));
  const Operand size[] = {exponents};
  GRAPHC_ASSIGN(Array factors, elementwise(OpKind::Abs, size));
  const Operand few[] = {factors, op::Scalar::ofInt(small::kMostFactors)};
  GRAPHC_ASSIGN(const Array isFew, elementwise(OpKind::Less, few));
  GRAPHC_ASSIGN(factors, choose(isFew, factors, none));
  GRAPHC_ASSIGN(Array product, products(base, factors));
  const Operand sign[] = {exponents, none};
  GRAPHC_ASSIGN(Array isInverse, elementwise(OpKind::Less, sign));
  const Operand two[] = {isInverse, isFew};
  GRAPHC_ASSIGN(isInverse, elementwise(OpKind::LogicalAnd, two));
  GRAPHC_ASSIGN(const Array divisor, choose(isInverse, product, one));
  GRAPHC_ASSIGN(const Array root, choose(isInverse, base, one));
  GRAPHC_ASSIGN(const Array inverse, inversePower(root, divisor));
  GRAPHC_ASSIGN(product, choose(isInverse, inverse, product));
  GRAPHC_ASSIGN(const Array others, choose(isFew, one, base));
  GRAPHC_ASSIGN(Array many, choose(isFew, none, exponents));
  GRAPHC_ASSIGN(many, cast(many, dtype));
  const Operand general[] = {others, many};
  GRAPHC_ASSIGN(const Array power, elementwise(OpKind::Pow, general));
  return choose(isFew, product, power);
}

/// With the result in row-major order.
static Result<Array> powerInRows(const Operand &x, const Operand &y) {
  Operand both[] = {x, y};
  if (y.array && isInteger(y.array->dtype()) && y.array->dtype() != DType::UInt64) {
    GRAPHC_ASSIGN(const DType t, computeDType(OpKind::Pow, both));
    if (isComplex(t) && !x.scalar.variable)
      return wholePowers(x, *y.array, t);
  }
  if (!x.array || y.array || y.scalar.variable || y.scalar.kind == op::Scalar::Kind::Bool ||
      y.scalar.kind == op::Scalar::Kind::Complex)
    return elementwise(OpKind::Pow, both);
  GRAPHC_ASSIGN(DType dtype, computeDType(OpKind::Pow, both));
  double e = y.scalar.kind == op::Scalar::Kind::Float ? y.scalar.number
                                                      : static_cast<double>(y.scalar.integer);
  bool wasFloat = isInexact(x.array->dtype());
  // NumPy takes it for square() of arrays, not of scalars.
  if (e == 2 && x.array->dtype() == DType::Bool && y.scalar.kind == op::Scalar::Kind::Int &&
      !x.array->isValue())
    dtype = DType::Int8;
  if (e == 1)
    return cast(*x.array, dtype);
  if (e == 2 || (e == 0.5 && wasFloat)) {
    std::optional<Array> converted;
    if (x.array->dtype() != dtype || x.array->rank() == 0) {
      GRAPHC_ASSIGN(converted, cast(*x.array, dtype));
    }
    const Operand base = converted ? *converted : *x.array;
    const Operand square[] = {base, base};
    if (e == 0.5)
      return elementwise(OpKind::Sqrt, std::span(square).first(1));
    RecordScope named(RecordScope::location(), errorsUnder(OpKind::Square));
    return elementwise(OpKind::Mul, square);
  }
  if (e == -1 && wasFloat) {
    Operand reciprocal[] = {op::Scalar::ofInt(1), x};
    RecordScope named(RecordScope::location(), errorsUnder(OpKind::Reciprocal));
    // NumPy takes x ** -1 of complex arrays for it, which rounds otherwise than the quotient.
    if (isComplex(dtype) && (y.scalar.kind != op::Scalar::Kind::Int || x.array->isValue()))
      return inversePower(*x.array, *x.array);
    if (isComplex(dtype))
      return elementwise(OpKind::Reciprocal, std::span(reciprocal).last(1));
    return elementwise(OpKind::Div, reciprocal);
  }
  if (isComplex(dtype) && e == std::trunc(e) && std::fabs(e) < small::kMostFactors)
    return wholePower(x, dtype, static_cast<int64_t>(e));
  return elementwise(OpKind::Pow, both);
}

Result<Array> power(const Operand &x, const Operand &y) {
  RecordScope scope;
  Operand both[] = {x, y};
  if (open::isAny(both))
    return open::apply(both, [](std::span<const Operand> o) { return power(o[0], o[1]); });
  if (x.array && !y.array && mayKeepOrder(both))
    if (AxisList order = keptOrder(x.array->shape(), both); order.size() > 0)
      return inOrder(order, both,
                     [](std::span<const Operand> o) { return powerInRows(o[0], o[1]); });
  return powerInRows(x, y);
}

/// Whether the operation takes both as they are: an operand of x's dtype and device, or a real
/// Python number beside floats.
static bool fitsInPlace(OpKind kind, const Array &x, const Operand &y) {
  const op::OpInfo &info = op::opInfo(kind);
  const DType t = x.dtype();
  bool isTaken = info.arity == 2 && info.resultRule != op::ResultRule::Explicit &&
                 op::acceptsDType(info.operandDTypes, t) &&
                 !(info.promoteToFloat && !isInexact(t)) && !(info.promoteBool && t == DType::Bool);
  bool isPlain = y.array ? y.array->dtype() == t && &y.array->device() == &x.device()
                         : isFloat(t) && !y.dtype && y.scalar.kind != op::Scalar::Kind::Complex;
  return isTaken && isPlain;
}

/// Whether a whole array in a loop is written where it lies; another has another value first.
static bool isUpdatedAtOnce(OpKind kind, const Array &x) {
  return x.rank() > 0 && !Trace::active() && x.storage()->exclusive() &&
         small::isLoop(kind, x.size(), x.device(), /*counts=*/false);
}

/// An error where `x` cannot keep what an operation in place computes. As in NumPy before shapes
/// are looked at, so that of two mistakes the same one is told.
static Status refuseKeeping(OpKind kind, const Array &x, std::span<const Operand> operands) {
  GRAPHC_ASSIGN(DType computed, computeDType(kind, operands));
  computed = op::resultDType(kind, computed);
  if (op::canCastSameKind(computed, x.dtype()))
    return Status::ok();
  std::string_view name = op::opInfo(kind).name;
  return Status(ErrorCode::DType,
                format("[{}] Cannot cast ufunc '{}' output from dtype('{}') to dtype('{}') with "
                       "casting rule 'same_kind'",
                       name, kind == OpKind::Div ? "divide" : name, dtypeName(computed),
                       dtypeName(x.dtype())));
}

Status inPlace(OpKind kind, Array &x, const Operand &y) {
  RecordScope scope;
  if (x.isOpen() || (y.array && y.array->isOpen()))
    return open::inPlace(kind, x, y);
  std::string_view name = op::opInfo(kind).name;
  if (x.view().isReadOnly())
    return Status(ErrorCode::InvalidArgument, format("[{}] output array is read-only", name));
  const bool isPart = !x.view().isWhole();
  const bool isLoop = isPart && small::isLoop(OpKind::UpdateSlice, x.size(), x.device());
  if ((isLoop || (!isPart && isUpdatedAtOnce(kind, x))) && fitsInPlace(kind, x, y)) {
    GRAPHC_ASSIGN(bool isDone, small::update(kind, x, y));
    if (isDone)
      return Status::ok();
  }
  Operand operands[] = {x, y};
  GRAPHC_TRY(refuseKeeping(kind, x, operands));
  GRAPHC_ASSIGN(Array result,
                kind == OpKind::Pow ? powerInRows(x, y) : elementwiseInRows(kind, operands));
  if (!(result.shape() == x.shape()))
    return Status(ErrorCode::Shape,
                  format("[{}] non-broadcastable output operand with shape {} doesn't match the "
                         "broadcast shape {}",
                         name, op::compactShape(x.shape()), op::compactShape(result.shape())));
  if (isLoop) {
    GRAPHC_ASSIGN(bool isDone, small::assign(x, result));
    if (isDone)
      return Status::ok();
  }
  GRAPHC_ASSIGN(NodeRef value, result.value());
  RecordScope whole(RecordScope::location(), errorsUnder(kind));
  GRAPHC_ASSIGN(NodeRef converted, node::cast(value, x.dtype()));
  return x.assign(converted);
}

Result<Array> cast(const Array &x, DType dtype) {
  RecordScope scope;
  if (x.isOpen()) {
    Operand one[] = {x};
    return open::apply(one,
                       [dtype](std::span<const Operand> o) { return cast(*o[0].array, dtype); });
  }
  if (x.dtype() != dtype && x.rank() > 0 && small::isLoop(OpKind::Cast, x.size(), x.device())) {
    GRAPHC_ASSIGN(NodeRef now, small::cast(x, dtype));
    if (now)
      return small::arrayOf(std::move(now));
  }
  GRAPHC_ASSIGN(NodeRef n, x.value());
  return finish(node::cast(n, dtype));
}

Result<Array> copy(const Array &x) {
  RecordScope scope;
  if (x.isOpen())
    return Array(x.open());
  if (!x.view().isWhole() && x.rank() > 0 && small::isLoop(OpKind::Slice, x.size(), x.device())) {
    GRAPHC_ASSIGN(NodeRef now, small::detached(x));
    if (now)
      return small::arrayOf(std::move(now));
  }
  GRAPHC_ASSIGN(NodeRef n, x.value());
  if (x.rank() == 0 && !x.view().isWhole())
    GRAPHC_TRY(settleElement(x, n));
  return finish(std::move(n));
}

Result<DType> resultType(std::span<const Operand> operands) {
  std::vector<op::OperandType> types;
  for (const Operand &o : operands)
    types.push_back(o.type());
  return op::resultType(types);
}

} // namespace ops
} // namespace graphc
