//===- Handover.h - Calls that NumPy answers -------------------------------------------------====//
//
// What graphc does not compute (Handover.cpp), and what NumPy's own function gives with the same
// bits (Exact.cpp).
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_PYTHON_BINDINGS_HANDOVER_H
#define GRAPHC_FRONTENDS_PYTHON_BINDINGS_HANDOVER_H

#include "frontends/record/Ops.h"

#include <pybind11/pybind11.h>

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace graphc::py {

namespace pb = pybind11;

/// Whether an object is of a class made of NumPy's arrays.
bool isOfNumpysClass(PyObject *object);
/// What NumPy's function gives where an argument is of such a class, or the first one holds no
/// numbers, which ours would refuse later;
/// null, with no error set, where the call is to be tried. `quick` is what is asked next.
PyObject *ofClasses(PyObject *function, PyObject *const *args, Py_ssize_t count, PyObject *names,
                    PyObject *quick = nullptr);
/// Whether a dtype is one that we have none for: of text, dates, objects or structures, also as a
/// list of fields, or of bytes in the other order.
bool isTheirDType(PyObject *object);
/// Raises ForeignDType: what met this dtype or object goes to NumPy.
[[noreturn]] void raiseForeign(const std::string &message);
/// Whether that is the error that is set.
bool isForeignError();
/// After a call that failed: NumPy's result where the error is that of a foreign dtype; else null,
/// the error as it was.
PyObject *handOver(PyObject *function, PyObject *const *args, Py_ssize_t count, PyObject *names);
/// The same of a method of an Array.
PyObject *handOverMethod(const char *name, PyObject *self, PyObject *const *args, Py_ssize_t count,
                         PyObject *names);
/// `result` of an operator, or NumPy's where that is NotImplemented or a foreign dtype's error.
PyObject *handOverOperator(std::string_view name, bool inPlace, PyObject *left, PyObject *right,
                           PyObject *result);
void defineHandover(pb::module_ &m);
/// After a foreign error: the operands with Python integers beyond 128 bits as floats, where
/// NumPy computes with their values: beside floats, and in comparisons. Clears the error then.
std::optional<std::vector<pb::object>> largeAsFloats(op::OpKind kind,
                                                     std::span<PyObject *const> operands);

/// Of which operands a function has exact results: any; any, but integers say how long the result
/// is; integers and bools; any, of which our operations are many passes; any, as many passes as
/// numbers have bits; any, of which the first one, of any size, is read in few places.
/// Or of what the function changes: its first one.
enum class Exact { Any, Longer, Integers, Passes, Update, Bits, Search };
/// What NumPy's function `theirs` gives for small arrays in a loop, and for Python's numbers; null,
/// with no error set, where the call is not for it.
PyObject *ofExact(PyObject *theirs, Exact kind, PyObject *const *args, Py_ssize_t count,
                  PyObject *names);
void defineExact(pb::module_ &m);
void defineFourier(pb::module_ &m);
void defineUfuncMethods(pb::module_ &m);

} // namespace graphc::py

#endif // GRAPHC_FRONTENDS_PYTHON_BINDINGS_HANDOVER_H
