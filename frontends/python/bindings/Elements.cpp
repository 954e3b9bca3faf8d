// Single elements and values, without pybind11 and without a program where the value is known.
// Whatever is not plain goes to the methods of the class, which were there first.
#include "frontends/python/bindings/Bindings.h"
#include "frontends/record/Known.h"

#include <array>

namespace graphc::py {
namespace {

/// The slots that pybind11's methods filled.
struct Methods {
  binaryfunc get;
  objobjargproc set;
  ssizeargfunc item;
  inquiry truth;
  unaryfunc real, integer;
};
Methods methods;

constexpr size_t kMostAxes = 8;

/// One plain integer an axis, inside the shape.
struct Place {
  std::array<int64_t, kMostAxes> index;
  size_t count = 0;

  bool add(PyObject *object, const Shape &shape) {
    if (!PyLong_CheckExact(object))
      return false;
    int overflow = 0;
    int64_t at = PyLong_AsLongLongAndOverflow(object, &overflow), size = shape[count];
    if (at < 0)
      at += size;
    if (overflow || at < 0 || at >= size)
      return false;
    index[count++] = at;
    return true;
  }
  bool set(PyObject *key, const Shape &shape) {
    if (shape.size() == 1 && add(key, shape))
      return true;
    if (!PyTuple_CheckExact(key) || PyTuple_GET_SIZE(key) != shape.rank() ||
        shape.size() > kMostAxes || shape.rank() == 0)
      return false;
    for (Py_ssize_t i = 0; i < shape.rank(); ++i)
      if (!add(PyTuple_GET_ITEM(key, i), shape))
        return false;
    return true;
  }
  std::span<const int64_t> span() const { return {index.data(), count}; }
};

PyObject *get(PyObject *self, PyObject *key) {
  return guarded([&]() -> PyObject * {
    const Array &x = *asArray(self);
    Place place;
    if (place.set(key, x.shape()))
      if (auto element = ops::readElement(x, place.span()))
        return wrap(*std::move(element));
    return methods.get(self, key);
  });
}

/// What iteration asks for; `at` is not negative.
PyObject *item(PyObject *self, Py_ssize_t at) {
  return guarded([&]() -> PyObject * {
    const Array &x = *asArray(self);
    int64_t index[] = {at};
    if (x.rank() == 1 && at < x.shape()[0])
      if (auto element = ops::readElement(x, index))
        return wrap(*std::move(element));
    return methods.item(self, at);
  });
}

int set(PyObject *self, PyObject *key, PyObject *value) {
  if (!value) {
    PyErr_SetString(PyExc_ValueError, "cannot delete array elements");
    return -1;
  }
  bool written = false;
  PyObject *ok = guarded([&]() -> PyObject * {
    Array &x = *asArray(self);
    Place place;
    Converted v;
    bool plain = value && (asArray(value) || PyFloat_CheckExact(value) ||
                           PyLong_CheckExact(value) || PyBool_Check(value));
    if (plain && place.set(key, x.shape()) && convertOperand(value, v, &x.device()))
      written = unwrap(ops::writeElement(x, place.span(), *v.operand));
    return self;
  });
  if (!ok)
    return -1;
  return written ? 0 : methods.set(self, key, value);
}

std::optional<uint64_t> known(PyObject *self) {
  const Array &x = *asArray(self);
  if (x.rank() != 0)
    return std::nullopt;
  return knownBits(*unwrap(x.value()));
}

int truth(PyObject *self) {
  int answer = -1;
  guarded([&]() -> PyObject * {
    auto bits = known(self);
    if (!bits) {
      answer = methods.truth(self);
    } else {
      pb::object value = scalarObject(&*bits, asArray(self)->dtype());
      answer = PyObject_IsTrue(value.ptr());
    }
    return self;
  });
  return answer;
}

PyObject *real(PyObject *self) {
  return guarded([&]() -> PyObject * {
    auto bits = known(self);
    return bits ? PyNumber_Float(scalarObject(&*bits, asArray(self)->dtype()).ptr())
                : methods.real(self);
  });
}

PyObject *integer(PyObject *self) {
  return guarded([&]() -> PyObject * {
    auto bits = known(self);
    return bits ? PyNumber_Long(scalarObject(&*bits, asArray(self)->dtype()).ptr())
                : methods.integer(self);
  });
}

} // namespace

void setupElements(PyTypeObject *type) {
  auto *heap = reinterpret_cast<PyHeapTypeObject *>(type);
  PyMappingMethods &mapping = heap->as_mapping;
  PySequenceMethods &sequence = heap->as_sequence;
  PyNumberMethods &number = heap->as_number;
  methods = {mapping.mp_subscript, mapping.mp_ass_subscript, sequence.sq_item,
             number.nb_bool,       number.nb_float,          number.nb_int};
  mapping.mp_subscript = get;
  mapping.mp_ass_subscript = set;
  sequence.sq_item = item;
  number.nb_bool = truth;
  number.nb_float = real;
  number.nb_int = integer;
  PyType_Modified(type);
}

} // namespace graphc::py
