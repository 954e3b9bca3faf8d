#include "frontends/python/bindings/Bindings.h"
#include "frontends/python/bindings/Discarded.h"
#include "frontends/record/Lend.h"

namespace graphc::py {
namespace {

const char *codeName(ErrorCode code) {
  switch (code) {
  case ErrorCode::Ok:
  case ErrorCode::Internal:
    return "Internal";
  case ErrorCode::InvalidArgument:
    return "InvalidArgument";
  case ErrorCode::Shape:
    return "Shape";
  case ErrorCode::Axis:
    return "Axis";
  case ErrorCode::DType:
    return "DType";
  case ErrorCode::Index:
    return "Index";
  case ErrorCode::Unsupported:
    return "Unsupported";
  case ErrorCode::Device:
    return "Device";
  case ErrorCode::OutOfMemory:
    return "OutOfMemory";
  case ErrorCode::Compile:
    return "Compile";
  case ErrorCode::Corrupt:
    return "Corrupt";
  case ErrorCode::Io:
    return "Io";
  case ErrorCode::Overflow:
    return "Overflow";
  case ErrorCode::LinAlg:
    return "LinAlg";
  case ErrorCode::Trace:
    return "Trace";
  }
  return "Internal";
}

pb::object exceptionClass(ErrorCode code) {
  pb::module_ errors = pb::module_::import("graphc.errors");
  pb::dict table = errors.attr("BY_CODE");
  if (table.contains(codeName(code)))
    return table[codeName(code)];
  if (code == ErrorCode::Overflow)
    return pb::reinterpret_borrow<pb::object>(PyExc_OverflowError);
  return errors.attr(code == ErrorCode::Trace ? "TraceError" : "GraphcError");
}

} // namespace

void warnOfDiscarded(DType from, DType to) {
  if (isComplex(from) && !isComplex(to) && to != DType::Bool)
    pb::module_::import("graphc.errors").attr("warn_discarded")();
}

void discardImaginary(Operand &value, DType to) {
  using Kind = op::Scalar::Kind;
  if (value.array)
    return warnOfDiscarded(value.array->dtype(), to);
  if (value.scalar.kind != Kind::Complex || isComplex(to))
    return;
  if (!value.dtype) // a number of Python's, which NumPy leaves to Python
    throw pb::type_error(isInexact(to)
                             ? "float() argument must be a string or a real number, not 'complex'"
                             : "int() argument must be a string, a bytes-like object or a real "
                               "number, not 'complex'");
  warnOfDiscarded(DType::Complex128, to);
  if (to == DType::Bool)
    value = op::Scalar::ofBool(value.scalar.number != 0 || value.scalar.imaginary != 0);
  else
    value = value.scalar.real();
}

std::optional<DType> toConversion(pb::handle dtype, DType from) {
  auto wanted = toOptionalDType(dtype);
  if (wanted)
    warnOfDiscarded(from, *wanted);
  return wanted;
}

/// What a status stands for, as a Python exception.
static pb::object exceptionOf(const Status &status) {
  if (pb::object error = takeFloatError(status))
    return error;
  return exceptionClass(status.code())(status.message());
}

void raise(const Status &status) {
  // What an operation kept until its array is wrapped came first, and leaves no array to wrap.
  const Status kept = takeFailure();
  pb::object error = exceptionOf(kept ? status : kept);
  PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(error.ptr())), error.ptr());
  throw pb::error_already_set();
}

} // namespace graphc::py
