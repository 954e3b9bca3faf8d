#include "frontends/python/bindings/Lists.h"

#include "frontends/record/Lend.h"
#include "frontends/record/Trace.h"

#include <cstring>

namespace graphc::py {

/// A list of what lies at `data`, a row of elements that are `stride` bytes apart.
static PyObject *rowOf(const char *data, int64_t count, int64_t stride, DType t) {
  PyObject *list = PyList_New(count);
  auto fill = [&]<typename T>(T value, auto make) {
    for (int64_t i = 0; i < count; ++i) {
      std::memcpy(&value, data + i * stride, sizeof value);
      PyList_SET_ITEM(list, i, make(value));
    }
  };
  if (!list)
    return nullptr;
  switch (t) {
  case DType::Float64:
    fill(double{}, PyFloat_FromDouble);
    break;
  case DType::Int64:
    fill(int64_t{}, PyLong_FromLongLong);
    break;
  case DType::Bool:
    fill(uint8_t{}, [](uint8_t v) { return Py_NewRef(v ? Py_True : Py_False); });
    break;
  default:
    for (int64_t i = 0; i < count; ++i)
      PyList_SET_ITEM(list, i, scalarObject(data + i * stride, t).release().ptr());
  }
  if (PyErr_Occurred())
    Py_CLEAR(list);
  return list;
}

/// Nested lists of what lies at `data`, by strides in elements; null for an error of Python's.
PyObject *listOf(const char *data, std::span<const int64_t> shape, std::span<const int64_t> strides,
                 DType t) {
  if (shape.empty())
    return scalarObject(data, t).release().ptr();
  const int64_t stride = strides[0] * itemSize(t);
  if (shape.size() == 1)
    return rowOf(data, shape[0], stride, t);
  PyObject *list = PyList_New(shape[0]);
  for (int64_t i = 0; list && i < shape[0]; ++i) {
    PyObject *part = listOf(data + i * stride, shape.subspan(1), strides.subspan(1), t);
    if (!part)
      Py_CLEAR(list);
    else
      PyList_SET_ITEM(list, i, part);
  }
  return list;
}

PyObject *listNow(const Array &x) {
  const View &view = x.view();
  if (x.rank() == 0 || x.size() > kFewListed || x.dtype() == DType::BFloat16 || view.isRecast() ||
      !view.hasLayout() || Trace::active())
    return nullptr;
  const NodeRef base = x.storage()->current();
  if (base->state() != NodeState::Ready || !base->buffer()->host() ||
      (x.dtype() == DType::Bool && !base->buffer()->isPrivate()))
    return nullptr;
  check(takeFailure());
  return listOf(static_cast<const char *>(base->buffer()->host()) +
                    view.offset() * itemSize(x.dtype()),
                x.shape(), view.strides(), x.dtype());
}

} // namespace graphc::py
