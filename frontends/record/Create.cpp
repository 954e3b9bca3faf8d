// Arrays from numbers and from memory.
#include "frontends/record/Devices.h"
#include "frontends/record/Known.h"
#include "frontends/record/Looks.h"
#include "frontends/record/Ops.h"
#include "frontends/record/Pieces.h"
#include "frontends/record/Record.h"
#include "frontends/record/Session.h"
#include "frontends/record/Small.h"
#include "frontends/record/Trace.h"
#include "runtime/base/NarrowFloat.h"
#include "runtime/base/Strings.h"

#include <cmath>
#include <unistd.h>

namespace graphc::ops {
namespace {

using op::Scalar;
using strings::format;

Result<rt::Device *> chosen(rt::Device *device) {
  return device ? Result<rt::Device *>(device) : currentDevice();
}

double numberOf(const Scalar &s) {
  return s.kind == Scalar::Kind::Float ? s.number : static_cast<double>(s.integer);
}

Result<int64_t> arangeCount(const Scalar &start, const Scalar &stop, const Scalar &step) {
  if (numberOf(step) == 0)
    return Status(ErrorCode::InvalidArgument, "[arange] step is zero");
  bool exact = start.kind != Scalar::Kind::Float && stop.kind != Scalar::Kind::Float &&
               step.kind != Scalar::Kind::Float;
  if (exact) {
    __int128 distance = stop.integer - start.integer, s = step.integer;
    if ((distance > 0) != (s > 0) || distance == 0)
      return int64_t{0};
    __int128 count = (distance + s - (s > 0 ? 1 : -1)) / s;
    if (count > INT64_MAX)
      return Status(ErrorCode::Shape, "[arange] maximum allowed size exceeded");
    return static_cast<int64_t>(count);
  }
  // Integers are taken from each other before they are rounded, as in Python.
  const bool areIntegers = start.kind != Scalar::Kind::Float && stop.kind != Scalar::Kind::Float;
  const double distance = areIntegers ? static_cast<double>(stop.integer - start.integer)
                                      : numberOf(stop) - numberOf(start);
  const double count = std::ceil(distance / numberOf(step));
  if (std::isnan(count))
    return Status(ErrorCode::InvalidArgument, "[arange] cannot compute length");
  if (count > 9e18)
    return Status(ErrorCode::Shape, "[arange] maximum allowed size exceeded");
  // A step past the end is still a first element, though the quotient is no more than zero.
  if (count == 0 && distance != 0 && (distance > 0) == (numberOf(step) > 0))
    return int64_t{1};
  return count > 0 ? static_cast<int64_t>(count) : int64_t{0};
}

/// Refuses an array in the host's memory that is larger than that, as NumPy where it is made.
Status allocatable(const Shape &shape, int64_t count, DType dtype, const rt::Device &device) {
  static const int64_t most = int64_t{sysconf(_SC_PHYS_PAGES)} * sysconf(_SC_PAGESIZE);
  if (count <= most / itemSize(dtype) || !onHost(device))
    return Status::ok();
  if (count > INT64_MAX / itemSize(dtype))
    return Status(ErrorCode::Shape, "array is too big; `arr.size * arr.dtype.itemsize` is larger "
                                    "than the maximum possible size.");
  return Status(ErrorCode::OutOfMemory,
                format("Unable to allocate {} for an array with shape {} and data type {}",
                       strings::bytesText(count * itemSize(dtype)), op::compactShape(shape),
                       dtypeName(dtype)));
}

} // namespace

Result<Array> full(const Shape &shape, const Scalar &value, DType dtype, rt::Device *device) {
  RecordScope scope;
  GRAPHC_ASSIGN(int64_t count, op::checkedCount("full", shape));
  GRAPHC_ASSIGN(rt::Device * on, chosen(device));
  GRAPHC_TRY(allocatable(shape, count, dtype, *on));
  if (shape.rank() > 0 && (small::isLoop(op::OpKind::Full, count, *on) ||
                           small::isWrittenAtOnce(count * itemSize(dtype), *on))) {
    GRAPHC_ASSIGN(NodeRef now, small::full(shape, value, dtype, *on));
    if (now)
      return Array(std::move(now));
  }
  GRAPHC_ASSIGN(NodeRef one, node::scalar(value, dtype, *on));
  GRAPHC_ASSIGN(NodeRef n, node::broadcast(one, shape));
  return Array(std::move(n));
}

Result<Array> iota(int64_t count, DType dtype, rt::Device *device) {
  RecordScope scope;
  if (count < 0)
    return Status(ErrorCode::Shape,
                  format("[iota] negative dimensions are not allowed: {}", count));
  GRAPHC_ASSIGN(rt::Device * on, chosen(device));
  GRAPHC_TRY(allocatable(Shape{count}, count, dtype, *on));
  if (small::isLoop(op::OpKind::Iota, count, *on)) {
    GRAPHC_ASSIGN(NodeRef now, small::iota(count, dtype, *on));
    if (now)
      return Array(std::move(now));
  }
  GRAPHC_ASSIGN(NodeRef n, node::make(op::OpKind::Iota, {}, {}, {dtype, Shape{count}}, *on));
  return Array(std::move(n));
}

/// start + i * delta in a loop over small arrays; null where that is recorded.
static Result<NodeRef> stepsNow(const Scalar &start, const Scalar &delta, int64_t count, DType t,
                                rt::Device &device) {
  const bool isFloats = t == DType::Float64;
  const bool isIntegers = t == DType::Int64 && start.kind == Scalar::Kind::Int &&
                          op::fits(start.integer, t) && op::fits(delta.integer, t);
  if ((!isFloats && !isIntegers) || !small::isLoop(op::OpKind::Iota, count, device))
    return NodeRef();
  if (isFloats)
    return small::steps(
        {numberOf(start), numberOf(delta), numberOf(delta) == 1 || count < 2, numberOf(start) == 0},
        count, device);
  return small::steps(static_cast<int64_t>(start.integer), static_cast<int64_t>(delta.integer),
                      count, device);
}

Result<Array> arange(const Scalar &start, const Scalar &stop, const Scalar &step,
                     std::optional<DType> wanted, rt::Device *device) {
  RecordScope scope;
  GRAPHC_ASSIGN(int64_t count, arangeCount(start, stop, step));
  op::OperandType types[] = {start.type(), stop.type(), step.type()};
  DType dtype = wanted.value_or(op::resultType(types));
  if (isComplex(dtype)) {
    if (start.kind == Scalar::Kind::Complex || stop.kind == Scalar::Kind::Complex ||
        step.kind == Scalar::Kind::Complex)
      return Status(ErrorCode::DType, "[arange] takes real numbers");
    GRAPHC_ASSIGN(Array parts, arange(start, stop, step, realDType(dtype), device));
    return cast(parts, dtype);
  }
  if (dtype == DType::Bool)
    return Status(ErrorCode::DType,
                  "[arange] no fill-function for dtype bool; use an integer dtype and astype");
  // NumPy's fill: first + i * (second - first), all in the result's dtype. Both ends must be
  // representable.
  Scalar second = start.kind == Scalar::Kind::Float || step.kind == Scalar::Kind::Float
                      ? Scalar::ofFloat(numberOf(start) + numberOf(step))
                      : Scalar::ofInt(start.integer + step.integer);
  Scalar delta = step;
  if (isNarrowFloat(dtype)) { // in float32 from ends of the dtype, rounded once
    auto rounded = [&](const Scalar &s) {
      return narrowValue(narrowBits(numberOf(s), dtype), dtype);
    };
    double a = rounded(start), b = rounded(second);
    GRAPHC_ASSIGN(Array out, iota(count, DType::Float32, device));
    Operand product[] = {out, Scalar::ofFloat(b - a)};
    GRAPHC_ASSIGN(out, elementwise(op::OpKind::Mul, product));
    Operand sum[] = {out, Scalar::ofFloat(a)};
    GRAPHC_ASSIGN(out, elementwise(op::OpKind::Add, sum));
    return cast(out, dtype);
  }
  if (isFloat(dtype)) {
    double a = numberOf(start), b = numberOf(second);
    delta = Scalar::ofFloat(dtype == DType::Float32
                                ? static_cast<double>(static_cast<float>(b) - static_cast<float>(a))
                                : b - a);
  } else if (second.kind == Scalar::Kind::Float) { // truncated one by one
    delta = Scalar::ofInt(static_cast<__int128>(numberOf(second)) -
                          static_cast<__int128>(numberOf(start)));
  }
  GRAPHC_ASSIGN(rt::Device * on, chosen(device));
  GRAPHC_TRY(allocatable(Shape{count}, count, dtype, *on));
  GRAPHC_ASSIGN(NodeRef now, stepsNow(start, delta, count, dtype, *on));
  if (now)
    return Array(std::move(now));
  const bool isUnit = numberOf(delta) == 1, startsAtZero = numberOf(start) == 0;
  GRAPHC_ASSIGN(Array out, iota(count, dtype, on));
  // Wrapping arithmetic of the dtype: a negative step of an unsigned range is its complement.
  auto literal = [&](const Scalar &s) -> Result<Operand> {
    if (isFloat(dtype) || s.kind == Scalar::Kind::Float)
      return Operand(s);
    if (s.integer < 0 && isUnsigned(dtype))
      return Operand(
          Scalar::ofInt(s.integer + (static_cast<__int128>(1) << (8 * itemSize(dtype)))));
    return Operand(s);
  };
  if (!isUnit && count > 1) {
    GRAPHC_ASSIGN(Operand by, literal(delta));
    Operand product[] = {out, by};
    GRAPHC_ASSIGN(out, elementwise(op::OpKind::Mul, product));
  }
  if (!startsAtZero && count > 0) {
    Scalar first = isFloat(dtype) || start.kind != Scalar::Kind::Float
                       ? start
                       : Scalar::ofInt(static_cast<__int128>(start.number));
    GRAPHC_ASSIGN(Operand from, literal(first));
    Operand sum[] = {out, from};
    GRAPHC_ASSIGN(out, elementwise(op::OpKind::Add, sum));
  }
  return out;
}

Result<Array> fromHost(const void *data, const op::TensorType &type, rt::Device *device) {
  GRAPHC_ASSIGN(rt::Device * on, chosen(device));
  auto bytes = byteCount(type.shape, type.dtype);
  if (!bytes)
    return Status(ErrorCode::Shape, format("[asarray] an array of shape {} is too large",
                                           op::compactShape(type.shape)));
  if (rt::choicesOf(*on)) {
    GRAPHC_ASSIGN(rt::BufferRef given, rt::givenBuffer(data, *bytes));
    return Array(Node::makeReady(type, *on, std::move(given)));
  }
  GRAPHC_ASSIGN(rt::BufferRef buffer, placeFor(*on, *bytes));
  if (*bytes > 0)
    GRAPHC_TRY(buffer->device().queue().upload(*buffer, data, *bytes));
  return Array(Node::makeReady(type, *on, std::move(buffer)));
}

Result<Array> wrapHost(void *data, const op::TensorType &type, std::shared_ptr<void> owner,
                       rt::Device *device, bool isShared) {
  GRAPHC_ASSIGN(rt::Device * on, chosen(device));
  auto bytes = byteCount(type.shape, type.dtype);
  if (!bytes)
    return Status(ErrorCode::Shape, format("[from_dlpack] an array of shape {} is too large",
                                           op::compactShape(type.shape)));
  GRAPHC_ASSIGN(rt::BufferRef buffer, on->wrapHost(data, *bytes, std::move(owner)));
  NodeRef node = isShared ? Node::makeShared(type, *on, std::move(buffer))
                          : Node::makeReady(type, *on, std::move(buffer));
  return Array::ofStorage(std::make_shared<Storage>(std::move(node)));
}

Result<Array> toDevice(Array &x, rt::Device &device) {
  if (&x.device() == &device)
    return x;
  if (Trace::active())
    return Status(ErrorCode::Trace,
                  format("[to_device] a traced function stays on one device: {} to {}",
                         x.device().info().name, device.info().name));
  Array *arrays[] = {&x};
  GRAPHC_ASSIGN(std::vector<NodeRef> nodes, evaluateArrays(arrays, "exchange"));
  NodeRef n = nodes[0];
  GRAPHC_ASSIGN(rt::BufferRef target, placeFor(device, n->bytes()));
  rt::Buffer &source = *n->buffer();
  rt::Queue &from = source.device().queue(), &to = target->device().queue();
  if (n->bytes() > 0) {
    // One of the two is memory the host can touch, or they reach each other, or the host is the way
    // station.
    if (target->host()) {
      GRAPHC_TRY(to.finish());
      GRAPHC_TRY(readValue(target->host(), *n, n->bytes()));
    } else if (source.host()) {
      GRAPHC_TRY(from.finish());
      GRAPHC_TRY(to.upload(*target, source.host(), n->bytes()));
    } else {
      GRAPHC_ASSIGN(bool isCopied, to.copyFromOther(*target, source, n->bytes()));
      if (!isCopied) {
        GRAPHC_ASSIGN(rt::Device * host, rt::findDevice("cpu"));
        GRAPHC_ASSIGN(rt::BufferRef station, host->allocate(n->bytes()));
        GRAPHC_TRY(from.download(station->host(), source, n->bytes()));
        GRAPHC_TRY(to.upload(*target, station->host(), n->bytes()));
      }
    }
  }
  return Array(Node::makeReady({n->dtype(), n->shape()}, device, std::move(target)));
}

} // namespace graphc::ops
