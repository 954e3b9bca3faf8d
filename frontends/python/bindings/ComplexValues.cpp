// Single complex values, which no pattern of 64 bits holds: they are read, combined and written
// where they lie, without what the recorder looks at for arrays.
#include "frontends/python/bindings/Direct.h"
#include "frontends/record/HostMath.h"
#include "frontends/record/Known.h"
#include "frontends/record/SmallComplex.h"
#include "frontends/record/Trace.h"

#include <array>
#include <bit>
#include <cmath>
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

/// What such an object is as a complex number.
std::optional<std::complex<double>> valueOf(PyObject *object) {
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

} // namespace

PyObject *complexValue(const Array &x, std::span<const int64_t> index) {
  const auto value = complexElement(x, index);
  if (!value)
    return nullptr;
  NodeRef made = unwrap(small::makeNode(x.dtype(), Shape{}, x.device()));
  if (x.dtype() == DType::Complex128)
    *small::dataOf<std::complex<double>>(made) = *value;
  else
    *small::dataOf<std::complex<float>>(made) = std::complex<float>(*value);
  return wrap(small::arrayOf(std::move(made)));
}

PyObject *partOfComplex(const Array &x, int64_t number) {
  const auto value = x.isOpen() ? std::nullopt : complexElement(x, {});
  if (!value)
    return nullptr;
  const double part = number == 0 ? value->real() : value->imag();
  const DType t = realDType(x.dtype());
  const uint64_t bits = t == DType::Float64
                            ? std::bit_cast<uint64_t>(part)
                            : uint64_t{std::bit_cast<uint32_t>(static_cast<float>(part))};
  return wrapKnown({bits, t, &x.device()});
}

PyObject *operationOnComplex(op::OpKind kind, PyObject *left, PyObject *right) {
  std::array<Operand, 2> operands;
  std::array<op::OperandType, 2> types;
  rt::Device *device = nullptr;
  const size_t count = right ? 2 : 1;
  if (Trace::active() || !small::hasComplexLoop(kind) ||
      !readOperand(left, operands[0], types[0], device) ||
      (right && !readOperand(right, operands[1], types[1], device)) || !device || !onHost(*device))
    return nullptr;
  const auto t = op::promoteOperands(kind, std::span(types).first(count));
  if (!t || !isComplex(*t))
    return nullptr;
  NodeRef made =
      unwrap(small::elementwise(kind, std::span(operands).first(count), *t, Shape{}, *device));
  return made ? wrap(small::arrayOf(std::move(made))) : nullptr;
}

bool writeComplex(Array &x, std::span<const int64_t> index, PyObject *value) {
  const auto number = x.view().isRecast() ? std::nullopt : valueOf(value);
  if (!number)
    return false;
  if (x.dtype() == DType::Complex128)
    return unwrap(ops::writeElement(x, index, std::as_bytes(std::span(&*number, 1))));
  const std::complex<float> narrow(*number);
  if (!std::isfinite(narrow.real()) || !std::isfinite(narrow.imag()))
    return false; // there may be an overflow to tell
  return unwrap(ops::writeElement(x, index, std::as_bytes(std::span(&narrow, 1))));
}

} // namespace graphc::py
