// Numeric functions that loops call on vectors and single results, as C functions: what calls in
// Python cost is more than what they do. They answer NotImplemented for other arguments.
#include "frontends/python/bindings/Bindings.h"
#include "frontends/record/FloatErrors.h"
#include "frontends/record/Known.h"
#include "frontends/record/Record.h"
#include "frontends/record/Session.h"
#include "frontends/record/SmallNumeric.h"
#include "frontends/record/Trace.h"

#include <bit>
#include <cmath>
#include <cstring>

namespace graphc::py {
namespace {

/// Operations of this scope are one to the user, under a name of graphc/_float_errors.py.
uint32_t errorsUnderName(PyObject *number) {
  const uint32_t word = RecordScope::errors();
  const auto name = static_cast<uint32_t>(PyLong_AsLong(number));
  return word && !(word >> kErrorNameShift) ? word | name << kErrorNameShift : word;
}

/// dot(a, b) of arrays that is their product; `self` is (the number of its name, up to how many
/// axes the operands have, whether the first is conjugated).
PyObject *dot(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return guarded([&]() -> PyObject * {
    const int64_t most = PyLong_AsLong(PyTuple_GET_ITEM(self, 1));
    const Array *a = count == 2 && !names ? asPlainArray(args[0]) : nullptr;
    const Array *b = a ? asPlainArray(args[1]) : nullptr;
    const bool isProduct = b && a->rank() >= 1 && a->rank() <= most && b->rank() >= 1 &&
                           b->rank() <= most && &a->device() == &b->device() &&
                           a->shape()[static_cast<size_t>(a->rank()) - 1] == b->shape()[0];
    if (!isProduct)
      Py_RETURN_NOTIMPLEMENTED;
    RecordScope line;
    RecordScope named(RecordScope::location(), errorsUnderName(PyTuple_GET_ITEM(self, 0)));
    if (!isComplex(a->dtype()) || PyTuple_GET_ITEM(self, 2) != Py_True)
      return wrap(ops::matmul(*a, *b));
    const Operand one[] = {*a};
    return wrap(ops::matmul(unwrap(ops::elementwise(op::OpKind::Conj, one)), *b));
  });
}

/// norm(x) of a vector or a matrix of floats; `self` is the number of the name of its errors.
PyObject *norm(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return guarded([&]() -> PyObject * {
    const Array *x = count == 1 && !names ? asPlainArray(args[0]) : nullptr;
    if (!x || x->rank() < 1 || x->rank() > 2 || !isFloat(x->dtype()))
      Py_RETURN_NOTIMPLEMENTED;
    RecordScope line;
    RecordScope named(RecordScope::location(), errorsUnderName(self));
    auto sumOfSquares = [&] {
      if (x->rank() == 1)
        return unwrap(ops::matmul(*x, *x)); // the same sum
      const Array flat = unwrap(ops::reshape(*x, Shape{-1}));
      const Operand both[] = {flat, flat};
      const Array squares = unwrap(ops::elementwise(op::OpKind::Mul, both));
      return unwrap(ops::reduce(op::ReduceKind::Sum, squares, std::nullopt, false, std::nullopt));
    };
    const Array sum = sumOfSquares();
    const Operand one[] = {sum};
    return wrap(ops::elementwise(op::OpKind::Sqrt, one));
  });
}

/// round(x, decimals) of an array of floats, by the power of ten that `scale` is.
PyObject *roundArray(const Array &x, double scale) {
  RecordScope line;
  const Operand one[] = {x};
  if (scale == 1)
    return wrap(ops::elementwise(op::OpKind::Round, one));
  const Operand up[] = {x, op::Scalar::ofFloat(scale)};
  const Array scaled = unwrap(ops::elementwise(op::OpKind::Mul, up));
  const Operand whole[] = {scaled};
  const Array rounded = unwrap(ops::elementwise(op::OpKind::Round, whole));
  const Operand down[] = {rounded, op::Scalar::ofFloat(scale)};
  return wrap(ops::elementwise(op::OpKind::Div, down));
}

/// round(x, decimals=0) of single results, of Python's floats and of arrays of floats.
PyObject *round(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return guarded([&]() -> PyObject * {
    const Py_ssize_t given = count + (names ? PyTuple_GET_SIZE(names) : 0);
    const bool isNamed =
        names && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "decimals") != 0;
    if (count < 1 || given > 2 || isNamed || (given == 2 && !PyLong_CheckExact(args[1])))
      Py_RETURN_NOTIMPLEMENTED;
    const Array *x = asAnyArray(args[0]);
    std::optional<KnownValue> value;
    if (x && x->known())
      value = *x->known();
    else if (PyFloat_CheckExact(args[0]))
      value = {std::bit_cast<uint64_t>(PyFloat_AS_DOUBLE(args[0])), DType::Float64,
               unwrap(currentDevice())};
    const bool isPlain = x && !x->isOpen() && x->rank() > 0;
    const bool isArray = isPlain && x->dtype() == DType::Float64;
    const bool isWhole = isPlain && isInteger(x->dtype()) && x->view().isContiguous();
    if (!isArray && !isWhole && (!value || value->dtype != DType::Float64 || Trace::active()))
      Py_RETURN_NOTIMPLEMENTED;
    constexpr long kMost = 22; // powers of ten up to here are exact
    const long decimals = given == 2 ? PyLong_AsLong(args[1]) : 0;
    if (decimals == -1 && PyErr_Occurred())
      PyErr_Clear();
    if (decimals < 0 || decimals > kMost)
      Py_RETURN_NOTIMPLEMENTED;
    if (isWhole)
      return wrap(copyOf(*x, ops::copy(*x)));
    double scale = 1;
    for (long i = 0; i < decimals; ++i)
      scale *= 10;
    if (isArray)
      return roundArray(*x, scale);
    const double scaled = std::bit_cast<double>(value->bits) * scale;
    if (!std::isfinite(scaled)) // there may be something to tell
      Py_RETURN_NOTIMPLEMENTED;
    value->bits = std::bit_cast<uint64_t>(std::nearbyint(scaled) / scale);
    return wrapKnown(*value);
  });
}

/// How many sums of shifted products a mode gives, and which is the first of them.
struct Sums {
  int64_t first, count;
};
std::optional<Sums> sumsOf(PyObject *mode, bool isFull, int64_t most, int64_t least,
                           int64_t middle) {
  auto is = [&](const char *name) {
    return mode && PyUnicode_CompareWithASCIIString(mode, name) == 0;
  };
  if (mode ? is("full") : isFull)
    return Sums{0, most + least - 1};
  if (mode ? is("valid") : !isFull)
    return Sums{least - 1, most - least + 1};
  return is("same") ? std::optional(Sums{middle, most}) : std::nullopt;
}

/// convolve(a, v, mode) and, where `self` is True, correlate(a, v, mode) of vectors of one float
/// or complex dtype in a loop.
PyObject *convolve(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return guarded([&]() -> PyObject * {
    const bool isTurned = self == Py_True;
    const Py_ssize_t given = count + (names ? PyTuple_GET_SIZE(names) : 0);
    const bool isNamed =
        names && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "mode") != 0;
    const Array *a = count >= 2 && given <= 3 && !isNamed ? asPlainArray(args[0]) : nullptr;
    const Array *v = a ? asPlainArray(args[1]) : nullptr;
    const bool areVectors =
        v && a->rank() == 1 && v->rank() == 1 && a->size() > 0 && v->size() > 0 &&
        a->dtype() == v->dtype() &&
        (isComplex(a->dtype()) || a->dtype() == DType::Float64 || a->dtype() == DType::Float32) &&
        &a->device() == &v->device();
    if (!areVectors || Trace::active() || (given == 3 && !PyUnicode_CheckExact(args[2])))
      Py_RETURN_NOTIMPLEMENTED;
    const bool isSwapped = a->size() < v->size();
    const Array &longer = isSwapped ? *v : *a, &shorter = isSwapped ? *a : *v;
    const int64_t m = shorter.size();
    auto sums = sumsOf(given == 3 ? args[2] : nullptr, !isTurned, longer.size(), m,
                       isTurned && isSwapped ? m / 2 : (m - 1) / 2);
    RecordScope scope;
    if (!sums ||
        !small::isLoop(op::OpKind::Matmul, std::max(sums->count, longer.size()), a->device()))
      Py_RETURN_NOTIMPLEMENTED;
    auto reversed = [](const Array &x) { return unwrap(ops::flip(x, std::nullopt)); };
    NodeRef made = unwrap(small::correlate(isTurned && isSwapped ? reversed(longer) : longer,
                                           isTurned && !isSwapped ? shorter : reversed(shorter),
                                           sums->first, sums->count,
                                           !isTurned   ? small::Conjugate::None
                                           : isSwapped ? small::Conjugate::Longer
                                                       : small::Conjugate::Shorter));
    if (!made)
      Py_RETURN_NOTIMPLEMENTED;
    return wrap(small::arrayOf(std::move(made)));
  });
}

/// interp(x, xp, fp) of computed vectors of points, at a number or in a loop.
PyObject *interp(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return guarded([&]() -> PyObject * {
    const Array *places = count == 3 && !names ? asPlainArray(args[1]) : nullptr;
    const Array *values = places ? asPlainArray(args[2]) : nullptr;
    auto isVector = [&](const Array *x) {
      return x->rank() == 1 && x->dtype() == DType::Float64 && !x->known() &&
             &x->device() == &places->device();
    };
    if (!values || Trace::active() || !isVector(places) || !isVector(values) ||
        places->size() != values->size())
      Py_RETURN_NOTIMPLEMENTED;
    const Array *x = asPlainArray(args[0]);
    const bool isNumber = PyFloat_CheckExact(args[0]) || (x && x->known());
    if (!isNumber && !(x && x->rank() > 0))
      Py_RETURN_NOTIMPLEMENTED;
    if (x && (x->dtype() != DType::Float64 || &x->device() != &places->device()))
      Py_RETURN_NOTIMPLEMENTED;
    RecordScope scope;
    auto isReady = [](const Array &a) {
      return a.storage()->current()->state() == NodeState::Ready;
    };
    const int64_t most = std::max(places->size(), x ? x->size() : 1);
    const bool arePoints = onHost(places->device()) && isReady(*places) && isReady(*values);
    const bool isNow = arePoints && (isNumber || isReady(*x));
    if (!isNow && !small::isLoop(op::OpKind::Gather, most, places->device())) {
      // Of so many the search and what is made of it take several times what x takes alone.
      constexpr int64_t kFewNumbers = 16384;
      if (!arePoints || isNumber || x->isOpen() || x->size() > kFewNumbers)
        Py_RETURN_NOTIMPLEMENTED;
      Array *one[] = {const_cast<Array *>(x)};
      unwrap(evaluateArrays(one, "interp"));
    }
    const Operand at = x ? Operand(*x) : Operand(toScalar(args[0]));
    NodeRef made =
        unwrap(small::interpolate(at, isNumber ? Shape{} : x->shape(), *places, *values));
    if (!made)
      Py_RETURN_NOTIMPLEMENTED;
    if (!isNumber)
      return wrap(small::arrayOf(std::move(made)));
    uint64_t bits = 0;
    std::memcpy(&bits, made->buffer()->host(), sizeof bits);
    return wrapKnown({bits, DType::Float64, &places->device()});
  });
}

/// A vector or array of float64 on the host, of which functions are one loop.
const Array *ofNumbers(PyObject *object) {
  const Array *x = Trace::active() ? nullptr : asPlainArray(object);
  return x && x->rank() > 0 && x->dtype() == DType::Float64 ? x : nullptr;
}

/// polynomial(coefficients, x) in a loop: None where it has to be recorded.
PyObject *polynomial(PyObject *, PyObject *const *args, Py_ssize_t count) {
  return guarded([&]() -> PyObject * {
    const Array *p = count == 2 ? ofNumbers(args[0]) : nullptr, *x = p ? ofNumbers(args[1]) : p;
    RecordScope scope;
    if (!x || p->rank() != 1 || &x->device() != &p->device() ||
        !small::isLoop(op::OpKind::Fma, x->size(), x->device()))
      Py_RETURN_NONE;
    NodeRef made = unwrap(small::polynomial(*p, *x));
    return made ? wrap(small::arrayOf(std::move(made))) : Py_NewRef(Py_None);
  });
}

/// extreme_of_numbers(x, largest): None where it has to be recorded.
PyObject *extremeOfNumbers(PyObject *, PyObject *const *args, Py_ssize_t count) {
  return guarded([&]() -> PyObject * {
    const Array *x = count == 2 && !Trace::active() ? asPlainArray(args[0]) : nullptr;
    if (!x || x->known())
      Py_RETURN_NONE;
    RecordScope scope;
    NodeRef made = unwrap(small::extremeOfNumbers(args[1] == Py_True, *x));
    return made ? wrap(small::arrayOf(std::move(made))) : Py_NewRef(Py_None);
  });
}

/// powers(x, count, rising) in a loop: None where they have to be recorded.
PyObject *powers(PyObject *, PyObject *const *args, Py_ssize_t count) {
  return guarded([&]() -> PyObject * {
    const Array *x = count == 3 ? ofNumbers(args[0]) : nullptr;
    RecordScope scope;
    if (!x || x->rank() != 1 || !small::isLoop(op::OpKind::Fma, x->size(), x->device()))
      Py_RETURN_NONE;
    NodeRef made = unwrap(small::powers(*x, PyLong_AsLongLong(args[1]), args[2] == Py_True));
    return made ? wrap(small::arrayOf(std::move(made))) : Py_NewRef(Py_None);
  });
}

/// histogram(x, edges, alike): None where it has to be recorded.
PyObject *histogram(PyObject *, PyObject *const *args, Py_ssize_t count) {
  return guarded([&]() -> PyObject * {
    const Array *x = count == 3 && !Trace::active() ? asPlainArray(args[0]) : nullptr;
    const Array *edges = x ? asPlainArray(args[1]) : nullptr;
    if (!edges || &x->device() != &edges->device())
      Py_RETURN_NONE;
    RecordScope scope;
    NodeRef made = unwrap(small::histogram(*x, *edges, args[2] == Py_True));
    return made ? wrap(small::arrayOf(std::move(made))) : Py_NewRef(Py_None);
  });
}

PyMethodDef convolveMethod = {
    "convolve", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(convolve)),
    METH_FASTCALL | METH_KEYWORDS, "Sums of shifted products; NotImplemented for others."};
PyMethodDef normMethod = {"norm", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(norm)),
                          METH_FASTCALL | METH_KEYWORDS,
                          "The norm of a vector or matrix; NotImplemented for other arguments."};
PyMethodDef dotMethod = {"dot", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(dot)),
                         METH_FASTCALL | METH_KEYWORDS,
                         "A product of two arrays; NotImplemented for other arguments."};

PyMethodDef functions[] = {
    {"plain_round", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(round)),
     METH_FASTCALL | METH_KEYWORDS,
     "round(x, decimals=0) of single results; NotImplemented for others."},
    {"polynomial", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(polynomial)),
     METH_FASTCALL, "polynomial(coefficients, x), or None"},
    {"powers", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(powers)), METH_FASTCALL,
     "powers(x, count, rising), or None"},
    {"histogram", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(histogram)),
     METH_FASTCALL, "histogram(x, edges, alike): counts between rising edges, or None"},
    {"extreme_of_numbers",
     reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(extremeOfNumbers)), METH_FASTCALL,
     "extreme_of_numbers(x, largest): of the elements that are not NaN, or None"},
    {"plain_interp", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(interp)),
     METH_FASTCALL | METH_KEYWORDS,
     "interp(x, xp, fp) of float64 points; NotImplemented for others."},
    {nullptr, nullptr, 0, nullptr}};

} // namespace

void definePlainNumeric(pb::module_ &m) {
  if (PyModule_AddFunctions(m.ptr(), functions) < 0)
    throw pb::error_already_set();
  m.def("plain_convolve", [](bool isTurned) {
    return pb::reinterpret_steal<pb::object>(
        PyCFunction_New(&convolveMethod, isTurned ? Py_True : Py_False));
  });
  m.def("plain_norm", [](int name) {
    return pb::reinterpret_steal<pb::object>(PyCFunction_New(&normMethod, pb::int_(name).ptr()));
  });
  m.def(
      "plain_dot",
      [](int name, int most, bool isConjugated) {
        return pb::reinterpret_steal<pb::object>(
            PyCFunction_New(&dotMethod, pb::make_tuple(name, most, isConjugated).ptr()));
      },
      pb::arg("name"), pb::arg("most"), pb::arg("conjugated") = false,
      "The product of two arrays of up to so many axes, whose errors are told under the name of "
      "this number.");
}

} // namespace graphc::py
