// What `x.flat` is made of: the array, and its elements by one row-major place. Everything else is
// the package's class of it, which has `_item(key)` and `_set_item(key, value)` for other keys.
#include "frontends/python/bindings/Bindings.h"

#include <structmember.h>

namespace graphc::py {
namespace {

struct Flat {
  PyObject ob_base;
  PyObject *base; ///< an Array
};

PyObject *&baseOf(PyObject *self) { return reinterpret_cast<Flat *>(self)->base; }

PyObject *make(PyTypeObject *type, PyObject *args, PyObject *names) {
  if (names || PyTuple_GET_SIZE(args) != 1 || !asAnyArray(PyTuple_GET_ITEM(args, 0))) {
    PyErr_SetString(PyExc_TypeError, "flatiter takes an array");
    return nullptr;
  }
  PyObject *self = type->tp_alloc(type, 0);
  if (self)
    baseOf(self) = Py_NewRef(PyTuple_GET_ITEM(args, 0));
  return self;
}

int visit(PyObject *self, visitproc visit, void *arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(baseOf(self));
  return 0;
}
int clear(PyObject *self) {
  Py_CLEAR(baseOf(self));
  return 0;
}
void deallocate(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  clear(self);
  type->tp_free(self);
  Py_DECREF(type);
}

/// The key of an array for a place among its elements; null, with no error set, for what is no
/// place.
pb::object keyOf(PyObject *self, PyObject *place) {
  const Array *x = asAnyArray(baseOf(self));
  int overflow = 0;
  int64_t at = PyLong_CheckExact(place) ? PyLong_AsLongLongAndOverflow(place, &overflow) : 0;
  if (!PyLong_CheckExact(place) || overflow || !x || x->isOpen() || x->rank() == 0)
    return {};
  const int64_t size = x->size();
  at += at < 0 ? size : 0;
  if (at < 0 || at >= size)
    return {};
  if (x->rank() == 1)
    return pb::int_(at);
  pb::tuple key(static_cast<size_t>(x->rank()));
  for (size_t axis = x->shape().size(); axis-- > 0;) {
    const int64_t n = x->shape()[axis];
    PyTuple_SET_ITEM(key.ptr(), static_cast<Py_ssize_t>(axis), PyLong_FromLongLong(at % n));
    at /= n;
  }
  return key;
}

PyObject *subscript(PyObject *self, PyObject *place) {
  static PyObject *const general = PyUnicode_InternFromString("_item");
  if (pb::object key = keyOf(self, place))
    return PyObject_GetItem(baseOf(self), key.ptr());
  return PyObject_CallMethodOneArg(self, general, place);
}

int assign(PyObject *self, PyObject *place, PyObject *value) {
  static PyObject *const general = PyUnicode_InternFromString("_set_item");
  if (!value) {
    PyErr_SetString(PyExc_TypeError, "Cannot delete iterator elements");
    return -1;
  }
  if (PyFloat_CheckExact(value) || PyLong_CheckExact(value) || knownScalar(value))
    if (pb::object key = keyOf(self, place)) {
      if (PyObject_SetItem(baseOf(self), key.ptr(), value) == 0)
        return 0;
      if (!PyErr_ExceptionMatches(PyExc_Exception))
        return -1;
      PyErr_Clear(); // NumPy has one error for all that is no element
    }
  PyObject *const args[] = {self, place, value};
  auto done =
      pb::reinterpret_steal<pb::object>(PyObject_VectorcallMethod(general, args, 3, nullptr));
  return done ? 0 : -1;
}

Py_ssize_t length(PyObject *self) {
  auto size = pb::reinterpret_steal<pb::object>(PyObject_GetAttrString(baseOf(self), "size"));
  return size ? PyLong_AsSsize_t(size.ptr()) : -1;
}

PyMemberDef members[] = {{"base", T_OBJECT, offsetof(Flat, base), READONLY, "The array."},
                         {nullptr, 0, 0, 0, nullptr}};

} // namespace

void defineFlat(pb::module_ &m) {
  PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void *>(make)},
                         {Py_tp_dealloc, reinterpret_cast<void *>(deallocate)},
                         {Py_tp_traverse, reinterpret_cast<void *>(visit)},
                         {Py_tp_clear, reinterpret_cast<void *>(clear)},
                         {Py_tp_members, members},
                         {Py_mp_subscript, reinterpret_cast<void *>(subscript)},
                         {Py_mp_ass_subscript, reinterpret_cast<void *>(assign)},
                         {Py_mp_length, reinterpret_cast<void *>(length)},
                         {0, nullptr}};
  PyType_Spec spec = {"graphc.Flat", sizeof(Flat), 0,
                      Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC, slots};
  m.add_object("Flat", pb::reinterpret_steal<pb::object>(PyType_FromSpec(&spec)));
}

} // namespace graphc::py
