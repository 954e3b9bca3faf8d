// Numeric functions that loops call on vectors and single results, as C functions: what calls in
// Python cost is more than what they do. They answer NotImplemented for other arguments.
#include "frontends/python/bindings/Bindings.h"
#include "frontends/record/FloatErrors.h"
#include "frontends/record/Known.h"
#include "frontends/record/Record.h"
#include "frontends/record/Session.h"
#include "frontends/record/Trace.h"

#include <bit>
#include <cmath>

namespace graphc::py {
namespace {

const Array *plainArray(PyObject *object) {
  const Array *x = asAnyArray(object);
  return x && !x->isOpen() ? x : nullptr;
}

/// Operations of this scope are one to the user, under a name of graphc/_float_errors.py.
uint32_t errorsUnderName(PyObject *number) {
  const uint32_t word = RecordScope::errors();
  const auto name = static_cast<uint32_t>(PyLong_AsLong(number));
  return word && !(word >> kErrorNameShift) ? word | name << kErrorNameShift : word;
}

/// dot(a, b) of vectors and matrices, which is their product; `self` is the number of its name.
PyObject *dot(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return guarded([&]() -> PyObject * {
    const Array *a = count == 2 && !names ? plainArray(args[0]) : nullptr;
    const Array *b = a ? plainArray(args[1]) : nullptr;
    const bool isProduct = b && a->rank() >= 1 && a->rank() <= 2 && b->rank() >= 1 &&
                           b->rank() <= 2 && &a->device() == &b->device() &&
                           a->shape()[static_cast<size_t>(a->rank()) - 1] == b->shape()[0];
    if (!isProduct)
      Py_RETURN_NOTIMPLEMENTED;
    RecordScope line;
    RecordScope named(RecordScope::location(), errorsUnderName(self));
    return wrap(ops::matmul(*a, *b));
  });
}

/// round(x, decimals=0) of single results and of Python's floats.
PyObject *round(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return guarded([&]() -> PyObject * {
    const Py_ssize_t given = count + (names ? PyTuple_GET_SIZE(names) : 0);
    const bool isNamed =
        names && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "decimals") != 0;
    if (count < 1 || given > 2 || isNamed || Trace::active() ||
        (given == 2 && !PyLong_CheckExact(args[1])))
      Py_RETURN_NOTIMPLEMENTED;
    const Array *x = asAnyArray(args[0]);
    std::optional<KnownValue> value;
    if (x && x->known())
      value = *x->known();
    else if (PyFloat_CheckExact(args[0]))
      value = {std::bit_cast<uint64_t>(PyFloat_AS_DOUBLE(args[0])), DType::Float64,
               unwrap(currentDevice())};
    if (!value || value->dtype != DType::Float64)
      Py_RETURN_NOTIMPLEMENTED;
    constexpr long kMost = 22; // powers of ten up to here are exact
    const long decimals = given == 2 ? PyLong_AsLong(args[1]) : 0;
    if (decimals == -1 && PyErr_Occurred())
      PyErr_Clear();
    if (decimals < 0 || decimals > kMost)
      Py_RETURN_NOTIMPLEMENTED;
    double scale = 1;
    for (long i = 0; i < decimals; ++i)
      scale *= 10;
    const double scaled = std::bit_cast<double>(value->bits) * scale;
    if (!std::isfinite(scaled)) // there may be something to tell
      Py_RETURN_NOTIMPLEMENTED;
    value->bits = std::bit_cast<uint64_t>(std::nearbyint(scaled) / scale);
    return wrapKnown(*value);
  });
}

PyMethodDef dotMethod = {"dot", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(dot)),
                         METH_FASTCALL | METH_KEYWORDS,
                         "dot(a, b) of vectors and matrices; NotImplemented for others."};

PyMethodDef functions[] = {{"plain_round",
                            reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(round)),
                            METH_FASTCALL | METH_KEYWORDS,
                            "round(x, decimals=0) of single results; NotImplemented for others."},
                           {nullptr, nullptr, 0, nullptr}};

} // namespace

void definePlainNumeric(pb::module_ &m) {
  if (PyModule_AddFunctions(m.ptr(), functions) < 0)
    throw pb::error_already_set();
  m.def(
      "plain_dot",
      [](int name) {
        return pb::reinterpret_steal<pb::object>(PyCFunction_New(&dotMethod, pb::int_(name).ptr()));
      },
      "dot() for plain arguments, whose errors are told under the name of this number.");
}

} // namespace graphc::py
