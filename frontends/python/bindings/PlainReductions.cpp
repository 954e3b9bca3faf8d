// Reductions as C functions: of plain arguments, with a mask or a value to begin with. They answer
// NotImplemented for others.
#include "frontends/python/bindings/Bindings.h"
#include "frontends/python/bindings/Direct.h"
#include "frontends/python/bindings/Quick.h"

#include "frontends/record/Small.h"

#include <algorithm>
#include <cmath>

namespace graphc::py {
namespace {

bool isCalled(PyObject *name, const char *text) {
  return PyUnicode_CompareWithASCIIString(name, text) == 0;
}

/// The arguments of one reduction of `x`; `axes` are in range and distinct.
struct Among {
  const Array *x = nullptr;
  Axes axes;
  std::optional<DType> dtype;
  bool keepsAxes = false;
  PyObject *initial = nullptr;
  const Array *mask = nullptr;
  PyObject *out = nullptr;

  bool setAxis(PyObject *given) {
    if (given == Py_None)
      return true;
    const bool isTuple = PyTuple_CheckExact(given);
    std::vector<int64_t> found;
    for (Py_ssize_t i = 0, n = isTuple ? PyTuple_GET_SIZE(given) : 1; i < n; ++i) {
      const auto place = smallInteger(isTuple ? PyTuple_GET_ITEM(given, i) : given);
      if (!place || *place < -x->rank() || *place >= x->rank())
        return false;
      const int64_t axis = *place < 0 ? *place + x->rank() : *place;
      if (std::ranges::find(found, axis) != found.end())
        return false;
      found.push_back(axis);
    }
    axes = std::move(found);
    return !axes->empty();
  }

  bool setNamed(op::ReduceKind kind, PyObject *name, PyObject *value) {
    if (isCalled(name, "axis"))
      return setAxis(value);
    if (isCalled(name, "keepdims")) {
      keepsAxes = value == Py_True;
      return PyBool_Check(value);
    }
    if (isCalled(name, "out")) {
      const bool isNone = value == Py_None;
      out = isNone ? nullptr : value;
      return isNone || asPlainArray(value);
    }
    const bool isSum = kind == op::ReduceKind::Sum || kind == op::ReduceKind::Prod;
    if (isCalled(name, "dtype") && isSum) {
      if (value == Py_None)
        return true;
      dtype = namedDType(value);
      return dtype && op::promoteTypes(*dtype, x->dtype()) == *dtype;
    }
    if (isCalled(name, "where")) {
      mask = asPlainArray(value);
      return value == Py_True ||
             (mask && mask->dtype() == DType::Bool && &mask->device() == &x->device() &&
              small::broadcasts(mask->shape(), x->shape()));
    }
    initial = value;
    return isCalled(name, "initial") && isNumberOf(kind, value);
  }

private:
  /// Whether a value to begin with is a number that every dtype of its kind has.
  bool isNumberOf(op::ReduceKind kind, PyObject *value) const {
    if (kind == op::ReduceKind::Any || kind == op::ReduceKind::All || x->dtype() == DType::Bool)
      return false;
    if (PyFloat_CheckExact(value)) {
      const double number = PyFloat_AS_DOUBLE(value);
      return isInexact(x->dtype()) && !(number == 0 && std::signbit(number));
    }
    return isSmallNumber(value, x->dtype());
  }
};

/// What elements that a mask leaves out are for a reduction: what changes no result.
Operand neutral(op::ReduceKind kind, const Among &given) {
  switch (kind) {
  case op::ReduceKind::Sum:
  case op::ReduceKind::Prod: {
    const int one = kind == op::ReduceKind::Prod ? 1 : 0;
    return given.x->dtype() == DType::Bool ? op::Scalar::ofBool(one != 0) : op::Scalar::ofInt(one);
  }
  case op::ReduceKind::Any:
  case op::ReduceKind::All:
    return op::Scalar::ofBool(kind == op::ReduceKind::All);
  default:
    return toScalar(given.initial);
  }
}

std::optional<op::OpKind> operationOf(op::ReduceKind kind) {
  switch (kind) {
  case op::ReduceKind::Sum:
    return op::OpKind::Add;
  case op::ReduceKind::Prod:
    return op::OpKind::Mul;
  case op::ReduceKind::Min:
    return op::OpKind::Minimum;
  case op::ReduceKind::Max:
    return op::OpKind::Maximum;
  default:
    return std::nullopt;
  }
}

/// The reduction with a mask or a value to begin with; null for arguments that are no such ones.
PyObject *reduced(op::ReduceKind kind, const Among &given) {
  const auto operation = operationOf(kind);
  const bool isTruth = kind == op::ReduceKind::Any || kind == op::ReduceKind::All;
  const bool isExtreme = !isTruth && kind != op::ReduceKind::Sum && kind != op::ReduceKind::Prod;
  if ((!operation && !isTruth) || given.x->rank() == 0 || given.x->size() == 0 ||
      (given.mask && isExtreme && !given.initial))
    return nullptr;
  RecordScope line;
  RecordScope named(RecordScope::location(), errorsUnder(op::OpKind::Reduce));
  std::optional<Array> chosen;
  if (given.mask) {
    std::optional<Array> truth;
    if (isTruth && given.x->dtype() != DType::Bool)
      truth = unwrap(ops::cast(*given.x, DType::Bool));
    const Operand parts[] = {*given.mask, truth ? *truth : *given.x, neutral(kind, given)};
    chosen = unwrap(ops::elementwise(op::OpKind::Select, parts));
  }
  Result<Array> made =
      ops::reduce(kind, chosen ? *chosen : *given.x, given.axes, given.keepsAxes, given.dtype);
  if (!given.initial)
    return wrap(std::move(made));
  const Array result = unwrap(std::move(made));
  const Operand both[] = {toScalar(given.initial), result};
  return wrap(ops::elementwise(*operation, both));
}

/// sum(x, axis) and so on, with the rest by name; `self` is the kind of reduction.
PyObject *reduction(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  Among given;
  given.x = count == 1 || count == 2 ? asPlainArray(args[0]) : nullptr;
  if (!given.x || (count == 2 && !given.setAxis(args[1])))
    Py_RETURN_NOTIMPLEMENTED;
  return guarded([&]() -> PyObject * {
    const auto kind = static_cast<op::ReduceKind>(PyLong_AsLong(self));
    for (Py_ssize_t i = 0, n = names ? PyTuple_GET_SIZE(names) : 0; i < n; ++i) {
      PyObject *name = PyTuple_GET_ITEM(names, i);
      if ((count == 2 && isCalled(name, "axis")) || !given.setNamed(kind, name, args[count + i]))
        Py_RETURN_NOTIMPLEMENTED;
    }
    PyObject *made =
        given.mask || given.initial
            ? reduced(kind, given)
            : wrap(ops::reduce(kind, *given.x, given.axes, given.keepsAxes, given.dtype));
    // An output of another dtype decides in which one is added.
    if (made && given.out)
      made = writtenTo(given.out, pb::reinterpret_steal<pb::object>(made));
    return made ? made : Py_NewRef(Py_NotImplemented);
  });
}

PyMethodDef reductionMethod = quick("reduction", reduction);

} // namespace

PyObject *reducedAmong(op::ReduceKind kind, PyObject *const *args, Py_ssize_t count,
                       PyObject *names) {
  auto number = pb::reinterpret_steal<pb::object>(PyLong_FromLong(static_cast<long>(kind)));
  return reduction(number.ptr(), args, count, names);
}

void definePlainReductions(pb::module_ &m) {
  using op::ReduceKind;
  for (auto kind : {ReduceKind::Sum, ReduceKind::Prod, ReduceKind::Min, ReduceKind::Max,
                    ReduceKind::Any, ReduceKind::All}) {
    const pb::int_ number(static_cast<long>(kind));
    m.attr(("plain_" + std::string(op::reduceKindName(kind))).c_str()) =
        pb::reinterpret_steal<pb::object>(PyCFunction_New(&reductionMethod, number.ptr()));
  }
}

} // namespace graphc::py
