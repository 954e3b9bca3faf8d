// The class of the class Array. A program that says `ndarray` means any array: NumPy's own, which
// hold what graphc does not compute, are instances; a class made of it is one of NumPy's; a method
// taken of it (`ndarray.sum`) is that of the object it is called with.
#include "frontends/python/bindings/Bindings.h"

#include <structmember.h>

namespace graphc::py {
namespace {

PyTypeObject *numpysArray() {
  static auto *const type = reinterpret_cast<PyTypeObject *>(
      pb::object(pb::module_::import("numpy").attr("ndarray")).release().ptr());
  return type;
}

/// A method of both classes, as an attribute of Array.
struct Unbound {
  PyObject ob_base;
  vectorcallfunc call;
  PyObject *ours, *theirs;
};
PyTypeObject *unboundType = nullptr;
PyObject *unbound = nullptr; ///< by name; of each, the newest that was asked for

PyObject *callUnbound(PyObject *self, PyObject *const *args, size_t flags, PyObject *names) {
  auto *method = reinterpret_cast<Unbound *>(self);
  bool isTheirs = PyVectorcall_NARGS(flags) && PyObject_TypeCheck(args[0], numpysArray());
  return PyObject_Vectorcall(isTheirs ? method->theirs : method->ours, args, flags, names);
}

void deallocate(PyObject *self) {
  auto *method = reinterpret_cast<Unbound *>(self);
  PyTypeObject *type = Py_TYPE(self);
  Py_CLEAR(method->ours);
  Py_CLEAR(method->theirs);
  type->tp_free(self);
  Py_DECREF(type);
}

/// Name, text and signature are those of our method, and what it is pickled by.
PyObject *attributeOf(PyObject *self, PyObject *name) {
  if (PyUnicode_CompareWithASCIIString(name, "__wrapped__") != 0)
    if (PyObject *ours = PyObject_GetAttr(reinterpret_cast<Unbound *>(self)->ours, name))
      return ours;
  PyErr_Clear();
  return PyObject_GenericGetAttr(self, name);
}

/// As a member of a class that takes it over.
PyObject *bind(PyObject *self, PyObject *object, PyObject *) {
  return object && object != Py_None ? PyMethod_New(self, object) : Py_NewRef(self);
}

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Unbound, call), READONLY, nullptr},
    {"__wrapped__", T_OBJECT, offsetof(Unbound, ours), READONLY, nullptr},
    {nullptr, 0, 0, 0, nullptr}};

PyTypeObject *makeUnboundType() {
  PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void *>(deallocate)},
                         {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
                         {Py_tp_getattro, reinterpret_cast<void *>(attributeOf)},
                         {Py_tp_descr_get, reinterpret_cast<void *>(bind)},
                         {Py_tp_members, members},
                         {0, nullptr}};
  unsigned flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL;
  PyType_Spec spec = {"graphc.array_method", sizeof(Unbound), 0, flags, slots};
  return reinterpret_cast<PyTypeObject *>(PyType_FromSpec(&spec));
}

/// The method of both; `ours` is taken over.
PyObject *methodOf(PyObject *name, PyObject *ours, PyObject *theirs) {
  PyObject *known = PyDict_GetItemWithError(unbound, name);
  if (known && reinterpret_cast<Unbound *>(known)->ours == ours) {
    Py_DECREF(ours);
    return Py_NewRef(known);
  }
  auto *made = reinterpret_cast<Unbound *>(unboundType->tp_alloc(unboundType, 0));
  if (!made) {
    Py_DECREF(ours);
    return nullptr;
  }
  made->call = callUnbound;
  made->ours = ours;
  made->theirs = Py_NewRef(theirs);
  auto *object = reinterpret_cast<PyObject *>(made);
  if (PyDict_SetItem(unbound, name, object) < 0)
    Py_CLEAR(object);
  return object;
}

/// An attribute of the class Array.
PyObject *attribute(PyObject *cls, PyObject *name) {
  static auto *const base = pb::detail::get_internals().default_metaclass;
  PyObject *ours = base->tp_getattro(cls, name);
  if (!ours || !unbound || !PyCallable_Check(ours))
    return ours;
  PyObject *theirs = PyDict_GetItemWithError(numpysArray()->tp_dict, name);
  bool isMethod = theirs && (Py_IS_TYPE(theirs, &PyMethodDescr_Type) ||
                             Py_IS_TYPE(theirs, &PyWrapperDescr_Type));
  return isMethod ? methodOf(name, ours, theirs) : ours;
}

/// A class statement with Array among its bases makes a class of NumPy's arrays.
PyObject *makeClass(PyTypeObject *, PyObject *args, PyObject *keywords) {
  return guarded([&] {
    pb::tuple given = pb::reinterpret_borrow<pb::tuple>(args);
    if (given.size() != 3)
      throw pb::type_error("a class has a name, bases and a namespace");
    auto ours = pb::type::of<Array>();
    pb::module_ foreign = pb::module_::import("graphc._foreign");
    pb::list bases;
    for (pb::handle base : pb::tuple(given[1]))
      bases.append(base.is(ours) ? pb::object(foreign.attr("ndarray"))
                                 : pb::reinterpret_borrow<pb::object>(base));
    pb::object made = pb::make_tuple(given[0], pb::tuple(bases), given[2]);
    return PyObject_Call(reinterpret_cast<PyObject *>(&PyType_Type), made.ptr(), keywords);
  });
}

/// What `type` says, by the name of its method.
PyObject *ofType(const char *method, PyObject *cls, PyObject *object) {
  return PyObject_CallMethod(reinterpret_cast<PyObject *>(&PyType_Type), method, "OO", cls, object);
}

PyObject *isInstance(PyObject *cls, PyObject *object) {
  int isTheirs = PyObject_IsInstance(object, reinterpret_cast<PyObject *>(numpysArray()));
  if (isTheirs)
    return isTheirs < 0 ? nullptr : Py_NewRef(Py_True);
  return ofType("__instancecheck__", cls, object);
}

PyObject *isSubclass(PyObject *cls, PyObject *object) {
  bool isTheirs = PyType_Check(object) &&
                  PyType_IsSubtype(reinterpret_cast<PyTypeObject *>(object), numpysArray());
  return isTheirs ? Py_NewRef(Py_True) : ofType("__subclasscheck__", cls, object);
}

PyMethodDef checks[] = {{"__instancecheck__", isInstance, METH_O, nullptr},
                        {"__subclasscheck__", isSubclass, METH_O, nullptr},
                        {nullptr, nullptr, 0, nullptr}};

PyObject *isArray(PyObject *, PyObject *object) {
  return guarded([&] { return PyBool_FromLong(asAnyArray(object) != nullptr); });
}

PyMethodDef functions[] = {
    {"is_array", isArray, METH_O, "Whether an object is an Array, and none of NumPy's arrays."},
    {nullptr, nullptr, 0, nullptr}};

} // namespace

pb::object makeArrayType() {
  PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void *>(makeClass)},
                         {Py_tp_getattro, reinterpret_cast<void *>(attribute)},
                         {Py_tp_methods, checks},
                         {0, nullptr}};
  PyType_Spec spec = {"graphc.ArrayType", 0, 0, Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE, slots};
  // So that a class statement may name abstract base classes as well.
  pb::tuple bases = pb::make_tuple(
      pb::handle(reinterpret_cast<PyObject *>(pb::detail::get_internals().default_metaclass)),
      pb::module_::import("abc").attr("ABCMeta"));
  PyObject *type = PyType_FromSpecWithBases(&spec, bases.ptr());
  if (!type)
    throw pb::error_already_set();
  return pb::reinterpret_steal<pb::object>(type);
}

void defineArrayType(pb::module_ &m) {
  unboundType = makeUnboundType();
  unbound = PyDict_New();
  if (!unboundType || !unbound || PyModule_AddFunctions(m.ptr(), functions) < 0)
    throw pb::error_already_set();
}

} // namespace graphc::py
