// NumPy's results as ours, and whether NumPy is asked at all.
#include "frontends/python/bindings/Given.h"
#include "frontends/python/bindings/Direct.h"

#include "frontends/record/Session.h"
#include "frontends/record/Trace.h"

namespace graphc::py {

pb::object copied(const NumpyArray *x, DType dtype, rt::Device &device) {
  const Shape shape(std::span<const int64_t>(x->dimensions, static_cast<size_t>(x->nd)));
  if (Made made = takeMade(dtype, shape, device); made.object) {
    std::memcpy(made.data(), x->data, static_cast<size_t>(small::countOf(shape) * itemSize(dtype)));
    return pb::reinterpret_steal<pb::object>(finish(std::move(made)));
  }
  NodeRef node = unwrap(small::makeNode(dtype, shape, device));
  if (node->bytes() > 0)
    std::memcpy(node->buffer()->host(), x->data, static_cast<size_t>(node->bytes()));
  return wrapped(Array(std::move(node)));
}

/// A new array of NumPy's as ours; null where it is none of ours, or a view.
static pb::object arrayOf(PyObject *object, const Given &given, rt::Device &device) {
  const auto *x = reinterpret_cast<const NumpyArray *>(object);
  auto dtype = knownDType(x->descr);
  pb::object dense; // nonzero() of matrices gives the columns of one array
  if (dtype && !given.isShown(x->data) &&
      !(x->flags & pb::detail::npy_api::NPY_ARRAY_C_CONTIGUOUS_)) {
    dense = pb::handle(object).attr("copy")();
    x = reinterpret_cast<const NumpyArray *>(dense.ptr());
  }
  if (!dtype || x->nd == 0 || given.isShown(x->data))
    return {};
  return copied(x, *dtype, device);
}

pb::object resultOf(PyObject *object, const Given &given, rt::Device &device) {
  if (isNumpyArray(object))
    return arrayOf(object, given, device);
  if (object == Py_None || PyLong_CheckExact(object) || PyBool_Check(object))
    return pb::reinterpret_borrow<pb::object>(object);
  if (PyTuple_CheckExact(object) || PyList_CheckExact(object)) {
    Py_ssize_t count = PySequence_Fast_GET_SIZE(object);
    pb::list items;
    for (Py_ssize_t i = 0; i < count; ++i) {
      pb::object item = resultOf(PySequence_Fast_GET_ITEM(object, i), given, device);
      if (!item)
        return {};
      items.append(std::move(item));
    }
    return PyTuple_CheckExact(object) ? pb::object(pb::tuple(items)) : pb::object(items);
  }
  auto dtype = knownDType(reinterpret_cast<PyObject *>(Py_TYPE(object)));
  if (!dtype || isComplex(*dtype) || PyFloat_CheckExact(object))
    return {};
  auto number = pb::reinterpret_steal<pb::object>(isInteger(*dtype) ? PyNumber_Index(object)
                                                                    : Py_NewRef(object));
  if (!number)
    throw pb::error_already_set();
  auto bits = ops::operandBits(Operand(toScalar(number), *dtype), *dtype);
  return bits ? pb::reinterpret_steal<pb::object>(wrapKnown({*bits, *dtype, &device}))
              : pb::object();
}

bool isWanted(const Given &given, Exact kind) {
  if (Trace::active() || (given.most > small::kFew && !isMany(kind)))
    return false;
  if (!given.device)
    return unwrap(currentDevice()) && mayBeOnHost(*unwrap(currentDevice()));
  if (isMany(kind) && given.isReady && small::loopTurns() != small::kNever)
    return true;
  RecordScope scope;
  return small::isLoop(op::OpKind::Gather, std::min(given.most, small::kFew), *given.device);
}

bool isAlike(PyObject *object, DType t) {
  if (PyFloat_CheckExact(object) || PyComplex_CheckExact(object))
    return t == DType::Complex128 || (t == DType::Float64 && PyFloat_CheckExact(object));
  if (PyList_CheckExact(object) || PyTuple_CheckExact(object)) {
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object); ++i)
      if (!isAlike(PySequence_Fast_GET_ITEM(object, i), t))
        return false;
    return true;
  }
  if (auto single = numpyScalarDType(object))
    return *single == t || !isInexact(*single);
  const Array *x = asAnyArray(object);
  return !x || x->dtype() == t || !isInexact(x->dtype());
}

} // namespace graphc::py
