// Single complex values, which no pattern of 64 bits holds: they are read, combined and written
// where they lie, without what the recorder looks at for arrays.
#include "frontends/python/bindings/ComplexScalar.h"
#include "frontends/python/bindings/Direct.h"
#include "frontends/record/HostMath.h"
#include "frontends/record/Known.h"
#include "frontends/record/Session.h"
#include "frontends/record/SmallComplex.h"
#include "frontends/record/Trace.h"

#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <span>

namespace graphc::py {
namespace {

/// A computed single value, complex or known, or a number of Python's; false for others.
bool readOperand(PyObject *object, Operand &out, op::OperandType &type, rt::Device *&device) {
  if (const Array *x = asAnyArray(object)) {
    if (x->rank() != 0 || x->isOpen() || (device && device != &x->device()) ||
        !(x->known() || complexElement(*x, {})))
      return false;
    out.array = x;
    type = {x->dtype(), op::Weak::None};
    device = &x->device();
    return true;
  }
  if (PyComplex_CheckExact(object))
    type = {DType::Complex128, op::Weak::Complex};
  else if (PyFloat_CheckExact(object))
    type = {DType::Float64, op::Weak::Float};
  else if (PyLong_CheckExact(object))
    type = {DType::Int64, op::Weak::Int};
  else
    return false;
  out.scalar = toScalar(object);
  return true;
}

template <typename R>
constexpr DType kComplexOf = sizeof(R) == 8 ? DType::Complex128 : DType::Complex64;

template <typename T>
T numberOf(const ScalarObject &object) {
  T number;
  std::memcpy(&number, object.number.data(), sizeof(T));
  return number;
}

std::complex<double> numberIn(const ScalarObject &object) {
  return object.known.dtype == DType::Complex128
             ? numberOf<std::complex<double>>(object)
             : std::complex<double>(numberOf<std::complex<float>>(object));
}

template <typename T>
PyObject *complexObject(const T &number, rt::Device &device) {
  ComplexBytes bytes{};
  std::memcpy(bytes.data(), &number, sizeof(T));
  return makeComplex(kComplexOf<decltype(number.re)>, bytes, device);
}

/// A value of such numbers, or a number of Python's that is one exactly; of known values, those
/// that NumPy converts so.
template <typename R>
bool readNumber(PyObject *object, const rt::Device &device, small::Number<R> &out) {
  if (const ScalarObject *number = asComplexScalar(object)) {
    out = numberOf<small::Number<R>>(*number);
    return number->known.dtype == kComplexOf<R> && number->known.device == &device;
  }
  if (PyComplex_CheckExact(object)) {
    out = {static_cast<R>(PyComplex_RealAsDouble(object)),
           static_cast<R>(PyComplex_ImagAsDouble(object))};
    return small::allFinite(&out, 1);
  }
  std::optional<uint64_t> bits;
  if (const KnownValue *known = knownScalar(object)) {
    if (known->device == &device && (sizeof(R) == 8 || known->dtype == DType::Float32))
      bits = hostmath::converted(known->bits, known->dtype, hostmath::dtypeOf<R>());
  } else if (PyFloat_CheckExact(object) || PyLong_CheckExact(object)) {
    bits = scalarBits(object, hostmath::dtypeOf<R>());
  }
  if (bits)
    out = small::Number<R>(hostmath::valueOf<R>(*bits));
  return bits && small::allFinite(&out, 1);
}

/// What lies at `made`, of a result of dtype `t`.
template <typename R>
PyObject *resultObject(DType t, const void *made, rt::Device &device) {
  if (t == kComplexOf<R>) {
    small::Number<R> number;
    std::memcpy(&number, made, sizeof number);
    return complexObject(number, device);
  }
  uint64_t bits = 0;
  std::memcpy(&bits, made, static_cast<size_t>(itemSize(t)));
  return wrapKnown({bits, t, &device});
}

template <typename R>
PyObject *combine(op::OpKind kind, rt::Device &device, PyObject *left, PyObject *right) {
  small::Number<R> a, b, made;
  if (!readNumber(left, device, a) || (right && !readNumber(right, device, b)) ||
      !small::computeNumber(kind, a, right ? b : a, &made))
    return nullptr;
  return resultObject<R>(op::resultDType(kind, kComplexOf<R>), &made, device);
}

/// The operation by a program on vectors, where the line records it often enough.
template <typename R>
PyObject *combineByUnit(op::OpKind kind, rt::Device &device, PyObject *left, PyObject *right) {
  thread_local std::array<rt::BufferRef, 3> vectors;
  std::array<rt::Buffer *, 2> inputs;
  const RecordScope scope;
  if (!op::acceptsDType(op::opInfo(kind).operandDTypes, kComplexOf<R>) ||
      !small::isLoop(kind, 1, device))
    return nullptr;
  for (rt::BufferRef &vector : vectors)
    if (!vector || &vector->device() != &device)
      vector = unwrap(device.allocate(64));
  const size_t count = right ? 2 : 1;
  for (size_t i = 0; i < count; ++i) {
    small::Number<R> number;
    if (!readNumber(i == 0 ? left : right, device, number))
      return nullptr;
    inputs[i] = vectors[i].get();
    std::memcpy(inputs[i]->host(), &number, sizeof number);
  }
  const auto given = std::span(inputs).first(count);
  if (!unwrap(small::computeByUnit(kind, kComplexOf<R>, given, *vectors.back(), 1)))
    return nullptr;
  return resultObject<R>(op::resultDType(kind, kComplexOf<R>), vectors.back()->host(), device);
}

/// What such an object is as a complex number.
std::optional<std::complex<double>> valueOf(PyObject *object) {
  if (const ScalarObject *number = asComplexScalar(object))
    return numberIn(*number);
  if (const Array *x = asAnyArray(object)) {
    const KnownValue *known = x->known();
    if (!known)
      return x->rank() == 0 && !x->isOpen() ? complexElement(*x, {}) : std::nullopt;
    auto bits = hostmath::converted(known->bits, known->dtype, DType::Float64);
    return bits ? std::optional<std::complex<double>>(std::bit_cast<double>(*bits)) : std::nullopt;
  }
  if (PyComplex_CheckExact(object))
    return std::complex<double>(PyComplex_RealAsDouble(object), PyComplex_ImagAsDouble(object));
  auto bits = scalarBits(object, DType::Float64);
  return bits ? std::optional<std::complex<double>>(std::bit_cast<double>(*bits)) : std::nullopt;
}

/// A part of a number of dtype `t`.
PyObject *realValue(double part, DType t, rt::Device &device) {
  const DType real = realDType(t);
  const uint64_t bits = real == DType::Float64
                            ? std::bit_cast<uint64_t>(part)
                            : uint64_t{std::bit_cast<uint32_t>(static_cast<float>(part))};
  return wrapKnown({bits, real, &device});
}

} // namespace

PyObject *complexValue(const Array &x, std::span<const int64_t> index) {
  const auto value = complexElement(x, index);
  if (!value)
    return nullptr;
  if (x.dtype() == DType::Complex128)
    return complexObject(small::Number<double>(value->real(), value->imag()), x.device());
  const std::complex<float> narrow(*value);
  return complexObject(small::Number<float>(narrow.real(), narrow.imag()), x.device());
}

PyObject *partOfComplex(const Array &x, int64_t number) {
  const auto value = x.isOpen() ? std::nullopt : complexElement(x, {});
  if (!value)
    return nullptr;
  return realValue(number == 0 ? value->real() : value->imag(), x.dtype(), x.device());
}

PyObject *combineComplex(op::OpKind kind, PyObject *left, PyObject *right) {
  const ScalarObject *number = asComplexScalar(left);
  if (!number)
    number = right ? asComplexScalar(right) : nullptr;
  if (!number || Trace::active())
    return nullptr;
  int overflow = 0;
  if (kind == op::OpKind::Pow && PyLong_CheckExact(right) &&
      PyLong_AsLongAndOverflow(right, &overflow) == 2) {
    kind = op::OpKind::Mul;
    right = left;
  }
  if (kind == op::OpKind::Pow && PyFloat_CheckExact(right)) {
    const double exponent = PyFloat_AS_DOUBLE(right);
    if (exponent == 0.5)
      return functionOfComplex(op::OpKind::Sqrt, left);
    if (exponent == std::trunc(exponent))
      return nullptr; // products
    return number->known.dtype == DType::Complex128
               ? combineByUnit<double>(kind, *number->known.device, left, right)
               : combineByUnit<float>(kind, *number->known.device, left, right);
  }
  return number->known.dtype == DType::Complex128
             ? combine<double>(kind, *number->known.device, left, right)
             : combine<float>(kind, *number->known.device, left, right);
}

PyObject *functionOfComplex(op::OpKind kind, PyObject *object) {
  const ScalarObject *number = asComplexScalar(object);
  if (Trace::active() || !(number || PyComplex_CheckExact(object)))
    return nullptr;
  rt::Device *device = number ? number->known.device : unwrap(currentDevice());
  if (!mayBeOnHost(*device))
    return nullptr;
  const bool isWide = !number || number->known.dtype == DType::Complex128;
  PyObject *made = isWide ? combine<double>(kind, *device, object, nullptr)
                          : combine<float>(kind, *device, object, nullptr);
  if (made || PyErr_Occurred())
    return made;
  return isWide ? combineByUnit<double>(kind, *device, object, nullptr)
                : combineByUnit<float>(kind, *device, object, nullptr);
}

PyObject *partOfNumber(PyObject *object, int64_t part) {
  const ScalarObject *number = asComplexScalar(object);
  if (!number || Trace::active())
    return nullptr;
  const std::complex<double> value = numberIn(*number);
  return realValue(part == 0 ? value.real() : value.imag(), number->known.dtype,
                   *number->known.device);
}

PyObject *operationOnComplex(op::OpKind kind, PyObject *left, PyObject *right) {
  std::array<Operand, 2> operands;
  std::array<op::OperandType, 2> types;
  rt::Device *device = nullptr;
  const size_t count = right ? 2 : 1;
  if (Trace::active() || !small::hasComplexLoop(kind) ||
      !readOperand(left, operands[0], types[0], device) ||
      (right && !readOperand(right, operands[1], types[1], device)) || !device ||
      !mayBeOnHost(*device))
    return nullptr;
  const auto t = op::promoteOperands(kind, std::span(types).first(count));
  if (!t || !isComplex(*t))
    return nullptr;
  NodeRef made =
      unwrap(small::elementwise(kind, std::span(operands).first(count), *t, Shape{}, *device));
  return made ? wrap(small::arrayOf(std::move(made))) : nullptr;
}

std::optional<ComplexBytes> complexBytes(PyObject *object, DType t) {
  const auto number = valueOf(object);
  ComplexBytes bytes{};
  if (!number)
    return std::nullopt;
  if (t == DType::Complex128)
    return std::bit_cast<ComplexBytes>(*number);
  const std::complex<float> narrow(*number);
  if (!std::isfinite(narrow.real()) || !std::isfinite(narrow.imag()))
    return std::nullopt; // there may be an overflow to tell
  std::memcpy(bytes.data(), &narrow, sizeof narrow);
  return bytes;
}

bool writeComplex(Array &x, std::span<const int64_t> index, PyObject *value) {
  const auto bytes = x.view().isRecast() ? std::nullopt : complexBytes(value, x.dtype());
  return bytes &&
         unwrap(ops::writeElement(
             x, index,
             std::as_bytes(std::span(*bytes)).first(static_cast<size_t>(itemSize(x.dtype())))));
}

} // namespace graphc::py
