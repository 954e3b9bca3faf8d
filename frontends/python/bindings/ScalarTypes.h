//===- ScalarTypes.h - Values as objects of NumPy's scalar types ------------------------------===//
//
// A single value that is known is an object of a class made of NumPy's scalar type of its dtype:
// it has the number where NumPy's objects and Python's floats have it, so that compiled code of
// others takes it for what it is, and behind it the Array, by which operators and methods are those
// of every other array. Bools, of which NumPy has two objects and asks which one it is, and values
// that are not computed yet are objects of the class Array.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_PYTHON_BINDINGS_SCALARTYPES_H
#define GRAPHC_FRONTENDS_PYTHON_BINDINGS_SCALARTYPES_H

#include "frontends/record/Array.h"

#include <Python.h>

#include <array>

namespace graphc::py {

/// What compiled code of others looks at.
struct ScalarHead {
  PyObject ob_base;
  std::array<uint64_t, 2> number; ///< which NumPy reads as far as its type is wide
};
struct ScalarObject : ScalarHead {
  KnownValue known; ///< of complex numbers without bits; of a null device: the array has the value
  Array *array;     ///< owned; null until somebody asks, since lists hold many
};

/// The class of these classes: equal to NumPy's, so that tables by type(x) find them.
extern PyTypeObject *scalarMeta;

inline bool isScalarType(const PyTypeObject *type) { return Py_IS_TYPE(type, scalarMeta); }
inline ScalarObject *asScalar(PyObject *object) {
  return isScalarType(Py_TYPE(object)) ? reinterpret_cast<ScalarObject *>(object) : nullptr;
}
/// The array of such an object.
Array *makeArray(ScalarObject *object);
inline Array *arrayOf(ScalarObject *object) {
  return object->array ? object->array : makeArray(object);
}
/// What is known of an object without its array; null for others.
inline const KnownValue *knownScalar(PyObject *object) {
  const ScalarObject *scalar = asScalar(object);
  return scalar && scalar->known.device && !isComplex(scalar->known.dtype) ? &scalar->known
                                                                           : nullptr;
}

/// Null, with no error set, for dtypes that have no such class.
PyObject *makeScalar(const KnownValue &value);
/// The same of a single value whose pattern is larger, or has no operations of its own: computed,
/// in host memory, all of its storage. Leaves others as they are.
PyObject *makeScalar(Array &value);

/// Makes the classes, with the operators of `array`.
void makeScalarTypes(PyTypeObject *array);
/// Gives them what `array` has besides, once that is complete: all but slots and what is in
/// `without`, names of what NumPy's types have themselves.
void shareMembers(PyTypeObject *array, PyObject *without);

} // namespace graphc::py

#endif // GRAPHC_FRONTENDS_PYTHON_BINDINGS_SCALARTYPES_H
