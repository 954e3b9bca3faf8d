//===- Quick.h - C functions for plain arguments ----------------------------------------------===//
//
// What the package's functions ask first: they answer NotImplemented for arguments that it has to
// look at, and methods null.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_PYTHON_BINDINGS_QUICK_H
#define GRAPHC_FRONTENDS_PYTHON_BINDINGS_QUICK_H

#include "frontends/python/bindings/Bindings.h"

#include <optional>
#include <span>

namespace graphc::py {

/// The items of a list or tuple, as long as no other thread changes the list; none of other
/// objects.
inline std::span<PyObject *const> itemsOf(PyObject *object) {
  if (!PyList_CheckExact(object) && !PyTuple_CheckExact(object))
    return {};
  return {PySequence_Fast_ITEMS(object), static_cast<size_t>(PySequence_Fast_GET_SIZE(object))};
}

using Quick = PyObject *(*)(PyObject *, PyObject *const *, Py_ssize_t, PyObject *);
inline PyMethodDef quick(const char *name, Quick made) {
  auto plain = reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(made));
  return {name, plain, METH_FASTCALL | METH_KEYWORDS,
          "The function for plain arguments; NotImplemented for others."};
}

// PlainViews.cpp
/// An integer of Python's; nothing for other objects and large ones.
std::optional<int64_t> smallInteger(PyObject *object);
/// Whether it is an integer that every dtype of numbers has, beside elements of dtype `t`.
bool isSmallNumber(PyObject *object, DType t);
/// Whether the elements lie one behind the other with the first axis the fastest.
bool isColumnMajor(const Array &x);
/// A view of an array of a few axes with all of them in the order of `count` integers counted from
/// the front, or, for null, reversed. Null, with no error set, for other arguments.
PyObject *plainTranspose(const Array &x, PyObject *const *axes, Py_ssize_t count);
/// A view with two axes in each other's place; null as above.
PyObject *plainSwap(const Array &x, PyObject *one, PyObject *other);
/// A view without the axes of size 1, and what a real array has for imaginary parts, zeros that may
/// not be written; null as above.
PyObject *plainSqueeze(const Array &x);
PyObject *noImaginaryPart(const Array &x);

// Members.cpp
/// A dict of our ufuncs by NumPy's, which grows.
void setOwnUfuncs(const pb::object &byTheirs);

// PlainReductions.cpp
/// A reduction of an array, the first of the arguments, as a method of it: with a mask, a value to
/// begin with or several axes; NotImplemented for other arguments.
PyObject *reducedAmong(op::ReduceKind kind, PyObject *const *args, Py_ssize_t count,
                       PyObject *names);
void definePlainReductions(pb::module_ &m);

// Contractions.cpp
void defineContractions(pb::module_ &m);

} // namespace graphc::py

#endif // GRAPHC_FRONTENDS_PYTHON_BINDINGS_QUICK_H
