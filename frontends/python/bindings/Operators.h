//===- Operators.h - Python's operators -------------------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_PYTHON_BINDINGS_OPERATORS_H
#define GRAPHC_FRONTENDS_PYTHON_BINDINGS_OPERATORS_H

#include "frontends/python/bindings/Bindings.h"

namespace graphc::py {

/// Fills the slots of the type Array before it is made ready.
void setupOperators(PyHeapTypeObject *type);

/// Quotient and remainder, each error told once; NotImplemented for objects of others.
PyObject *divmodOfArrays(PyObject *left, PyObject *right);

} // namespace graphc::py

#endif // GRAPHC_FRONTENDS_PYTHON_BINDINGS_OPERATORS_H
