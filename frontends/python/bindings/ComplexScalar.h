//===- ComplexScalar.h - Single complex values by their numbers -------------------------------===//
//
// No literal pattern holds a complex number: its object (ScalarTypes.h) has it in its head only.
// The array gets a storage when somebody asks for it.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_PYTHON_BINDINGS_COMPLEXSCALAR_H
#define GRAPHC_FRONTENDS_PYTHON_BINDINGS_COMPLEXSCALAR_H

#include "frontends/python/bindings/ScalarTypes.h"

#include <array>
#include <optional>

namespace graphc::py {

using ComplexBytes = std::array<uint64_t, 2>; ///< as far as the dtype is wide

/// Null for objects of other dtypes.
inline const ScalarObject *asComplexScalar(PyObject *object) {
  const ScalarObject *scalar = asScalar(object);
  return scalar && isComplex(scalar->known.dtype) ? scalar : nullptr;
}
/// A single value or a number of Python's as an element of a complex dtype; nothing for others, and
/// where there may be an overflow to tell.
std::optional<ComplexBytes> complexBytes(PyObject *object, DType t);
/// Of a device on the host.
PyObject *makeComplex(DType t, const ComplexBytes &number, rt::Device &device);

/// The result of an operation on complex values, or on one and a number, that needs no more than
/// their numbers; null, with no error set, for others. `right` is null where there is one operand.
PyObject *combineComplex(op::OpKind kind, PyObject *left, PyObject *right);
/// The same of a function of one such value, or of Python's complex number; also what only a
/// program on vectors computes.
PyObject *functionOfComplex(op::OpKind kind, PyObject *object);
/// One part of such a value, 0 or 1; null for others.
PyObject *partOfNumber(PyObject *object, int64_t part);

} // namespace graphc::py

#endif // GRAPHC_FRONTENDS_PYTHON_BINDINGS_COMPLEXSCALAR_H
