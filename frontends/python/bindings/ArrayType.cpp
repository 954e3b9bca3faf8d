// The class of the class Array, and ndarray, its subclass. An Array that is a single result has the
// class Array, any other ndarray, so that programs tell them apart as they tell NumPy's scalars
// from its arrays: what sequences have, only ndarray has. A program that says `ndarray` means any
// array: NumPy's own, which hold what graphc does not compute, are instances; a class made of it is
// one of NumPy's, whose arrays' class it equals; a method taken of it (`ndarray.sum`) is that of
// the object it is called with.
#include "frontends/python/bindings/Asking.h"
#include "frontends/python/bindings/Bindings.h"
#include "frontends/python/bindings/Imported.h"

#include <structmember.h>

#include <algorithm>

namespace graphc::py {
namespace {

PyTypeObject *numpysArray() {
  static constinit Imported ndarray("numpy", "ndarray");
  return ndarray.type();
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

/// What inspect.signature says of a method of both: NumPy's parameters, then those of ours alone.
PyObject *signatureOf(const Unbound *method) {
  PyObject *module = PyImport_ImportModule("graphc._signatures");
  PyObject *found =
      module ? PyObject_CallMethod(module, "of", "OO", method->ours, method->theirs) : nullptr;
  Py_XDECREF(module);
  return found;
}

/// Name and text are those of our method, and what it is pickled by.
PyObject *attributeOf(PyObject *self, PyObject *name) {
  if (PyUnicode_CompareWithASCIIString(name, "__signature__") == 0)
    return signatureOf(reinterpret_cast<Unbound *>(self));
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
    pb::module_ foreign = pb::module_::import("graphc._foreign");
    pb::list bases;
    for (pb::handle base : pb::tuple(given[1]))
      bases.append(isOurType(reinterpret_cast<PyTypeObject *>(base.ptr()))
                       ? pb::object(foreign.attr("ndarray"))
                       : pb::reinterpret_borrow<pb::object>(base));
    pb::object made = pb::make_tuple(given[0], pb::tuple(bases), given[2]);
    return PyObject_Call(reinterpret_cast<PyObject *>(&PyType_Type), made.ptr(), keywords);
  });
}

/// What `type` says, by the name of its method.
PyObject *ofType(const char *method, PyObject *cls, PyObject *object) {
  return PyObject_CallMethod(reinterpret_cast<PyObject *>(&PyType_Type), method, "OO", cls, object);
}

/// Of ndarray alone: an Array is one of ours.
bool takesNumpys(const PyObject *cls) {
  return reinterpret_cast<const PyTypeObject *>(cls) == ndarrayType;
}
/// Of Array alone: a single result is no ndarray.
bool takesScalars(const PyObject *cls) {
  return reinterpret_cast<const PyTypeObject *>(cls) == arrayType;
}

PyObject *isInstance(PyObject *cls, PyObject *object) {
  if (isScalarType(Py_TYPE(object)))
    return PyBool_FromLong(takesScalars(cls));
  auto *theirs = reinterpret_cast<PyObject *>(numpysArray());
  int isTheirs = takesNumpys(cls) ? PyObject_IsInstance(object, theirs) : 0;
  if (isTheirs)
    return isTheirs < 0 ? nullptr : Py_NewRef(Py_True);
  return ofType("__instancecheck__", cls, object);
}

PyObject *isSubclass(PyObject *cls, PyObject *object) {
  if (PyType_Check(object) && isScalarType(reinterpret_cast<PyTypeObject *>(object)))
    return PyBool_FromLong(takesScalars(cls));
  bool isTheirs = takesNumpys(cls) && PyType_Check(object) &&
                  PyType_IsSubtype(reinterpret_cast<PyTypeObject *>(object), numpysArray());
  return isTheirs ? Py_NewRef(Py_True) : ofType("__subclasscheck__", cls, object);
}

/// A program that has graphc in NumPy's place means any array by its class: where it compares types
/// (`type(x) in (list, ndarray)`) and looks them up (`handlers[type(x)]`), and so do packages that
/// look up the class of an array in hand. To other code, which may keep something of each
/// (functools.singledispatch, SciPy of namespaces), the classes are two.
PyObject *compareClasses(PyObject *self, PyObject *other, int operation) {
  if (takesNumpys(self) && other == reinterpret_cast<PyObject *>(numpysArray()) &&
      (Asker::now().isOfProgram(self) || Asker::now().looksUp(self)))
    other = self;
  return PyType_Type.tp_richcompare(self, other, operation);
}

Py_hash_t hashClass(PyObject *self) {
  return PyType_Type.tp_hash(takesNumpys(self) ? reinterpret_cast<PyObject *>(numpysArray())
                                               : self);
}

PyMethodDef checks[] = {{"__instancecheck__", isInstance, METH_O, nullptr},
                        {"__subclasscheck__", isSubclass, METH_O, nullptr},
                        {nullptr, nullptr, 0, nullptr}};

PyObject *isArray(PyObject *, PyObject *object) {
  return guarded([&] { return PyBool_FromLong(asAnyArray(object) != nullptr); });
}

/// Whether any element equals `value`: what `in` asks for.
int contains(PyObject *self, PyObject *value) {
  if (asAnyArray(self)->isValue()) {
    refuseSequence(self, "", "argument of type '%s' is not iterable");
    return -1;
  }
  auto found = pb::reinterpret_steal<pb::object>(guarded([&] {
    auto compared = pb::reinterpret_steal<pb::object>(PyObject_RichCompare(self, value, Py_EQ));
    if (!compared)
      throw pb::error_already_set();
    Array equal = toArray(compared);
    Array any = unwrap(ops::reduce(op::ReduceKind::Any, equal, std::nullopt, false, std::nullopt));
    return pb::bool_(toItem(any, "bool")).release().ptr();
  }));
  return found ? found.ptr() == Py_True : -1;
}

PyObject *containsMethod(PyObject *self, PyObject *value) {
  int found = contains(self, value);
  return found < 0 ? nullptr : PyBool_FromLong(found);
}

PyMethodDef containment = {"__contains__", containsMethod, METH_O,
                           "Whether any element equals it."};

/// Moves what makes a class one of sequences from the names of Array to those of `ndarray`: single
/// results have the slots, whose errors are those of NumPy's scalars, but are no Sized, Iterable or
/// Container.
void takeSequence(PyTypeObject *array, PyTypeObject *ndarray) {
  for (const char *name : {"__len__", "__iter__", "__setitem__", "__delitem__"})
    if (PyDict_SetItemString(ndarray->tp_dict, name, PyDict_GetItemString(array->tp_dict, name)) ||
        PyDict_DelItemString(array->tp_dict, name))
      throw pb::error_already_set();
  auto method = pb::reinterpret_steal<pb::object>(PyDescr_NewMethod(ndarray, &containment));
  if (!method || PyDict_SetItemString(ndarray->tp_dict, "__contains__", method.ptr()))
    throw pb::error_already_set();
  // No Hashable: the slot has the words.
  if (PyDict_SetItemString(ndarray->tp_dict, "__hash__", Py_None))
    throw pb::error_already_set();
  array->tp_as_sequence->sq_contains = ndarray->tp_as_sequence->sq_contains = contains;
  PyType_Modified(array);
}

/// The subclass of `array`, of objects of the same size and the same slots.
pb::object makeNdarray(PyTypeObject *array) {
  pb::dict names;
  names["__module__"] = "graphc";
  names["__slots__"] = pb::tuple();
  names["__doc__"] = "An Array of any shape that is no single result: what programs call an array.";
  pb::tuple bases = pb::make_tuple(pb::handle(reinterpret_cast<PyObject *>(array)));
  pb::object made = pb::make_tuple("ndarray", bases, names);
  pb::object out =
      pb::reinterpret_steal<pb::object>(PyType_Type.tp_new(Py_TYPE(array), made.ptr(), nullptr));
  if (!out)
    throw pb::error_already_set();
  auto *type = reinterpret_cast<PyHeapTypeObject *>(out.ptr());
  auto *base = reinterpret_cast<PyHeapTypeObject *>(array);
  setupLifetime(type);
  // As they are: type() makes calls by name of what several slots share a name of.
  type->as_number = base->as_number;
  type->as_mapping = base->as_mapping;
  type->as_sequence = base->as_sequence;
  type->as_buffer = base->as_buffer;
  type->ht_type.tp_iter = array->tp_iter;
  type->ht_type.tp_hash = array->tp_hash;
  type->ht_type.tp_richcompare = array->tp_richcompare;
  type->ht_type.tp_getattro = array->tp_getattro;
  type->ht_type.tp_setattro = array->tp_setattro;
  // No object refers to others, so that those of both classes are laid out alike.
  type->ht_type.tp_flags &= ~Py_TPFLAGS_HAVE_GC;
  type->ht_type.tp_traverse = nullptr;
  type->ht_type.tp_clear = nullptr;
  type->ht_type.tp_free = array->tp_free;
  type->ht_type.tp_name = "graphc.ndarray"; // in the words of errors
  takeSequence(array, &type->ht_type);
  return out;
}

PyObject *finishScalarTypes(PyObject *, PyObject *without) {
  return guarded([&] {
    shareMembers(arrayType, without);
    return Py_NewRef(Py_None);
  });
}

/// NumPy takes an index without elements that is no array of its own for one of integers. Masks of
/// open sizes may have none, too.
bool isEmptyMask(PyObject *object) {
  const Array *x = asAnyArray(object);
  return x && x->dtype() == DType::Bool && x->rank() > 0 && (x->isOpen() || x->size() == 0);
}

/// A key with NumPy's arrays for such masks of ours.
pb::object withMasks(PyObject *key) {
  auto masked = [](PyObject *item) {
    return isEmptyMask(item) ? toNumpy(*asArray(item), "index")
                             : pb::reinterpret_borrow<pb::object>(item);
  };
  if (!PyTuple_CheckExact(key))
    return masked(key);
  pb::tuple made(PyTuple_GET_SIZE(key));
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(key); ++i)
    made[static_cast<size_t>(i)] = masked(PyTuple_GET_ITEM(key, i));
  return made;
}

bool hasEmptyMask(PyObject *key) {
  if (!PyTuple_CheckExact(key))
    return isEmptyMask(key);
  PyObject *const *items = &PyTuple_GET_ITEM(key, 0);
  return std::any_of(items, items + PyTuple_GET_SIZE(key), isEmptyMask);
}

PyObject *subscript(PyObject *self, PyObject *key) {
  const binaryfunc numpys = numpysArray()->tp_as_mapping->mp_subscript;
  if (!hasEmptyMask(key))
    return numpys(self, key);
  return guarded([&] { return numpys(self, withMasks(key).ptr()); });
}

int assignSubscript(PyObject *self, PyObject *key, PyObject *value) {
  const objobjargproc numpys = numpysArray()->tp_as_mapping->mp_ass_subscript;
  if (!hasEmptyMask(key))
    return numpys(self, key, value);
  PyObject *done = guarded(
      [&] { return numpys(self, withMasks(key).ptr(), value) < 0 ? nullptr : Py_NewRef(self); });
  Py_XDECREF(done);
  return done ? 0 : -1;
}

/// Gives a class NumPy's slot of a name with another function, which classes made of it find there.
bool takeOver(PyTypeObject *type, const char *name, void *function) {
  PyObject *theirs = PyDict_GetItemString(numpysArray()->tp_dict, name);
  if (!theirs || !Py_IS_TYPE(theirs, &PyWrapperDescr_Type))
    return true; // which only leaves what NumPy does
  auto *base = reinterpret_cast<PyWrapperDescrObject *>(theirs)->d_base;
  PyObject *made = PyDescr_NewWrapper(type, base, function);
  const bool isSet = made && PyDict_SetItemString(type->tp_dict, name, made) == 0;
  Py_XDECREF(made);
  return isSet;
}

PyObject *takeMasks(PyObject *, PyObject *cls) {
  auto *type = reinterpret_cast<PyTypeObject *>(cls);
  if (!takeOver(type, "__getitem__", reinterpret_cast<void *>(subscript)) ||
      !takeOver(type, "__setitem__", reinterpret_cast<void *>(assignSubscript)))
    return nullptr;
  type->tp_as_mapping->mp_subscript = subscript;
  type->tp_as_mapping->mp_ass_subscript = assignSubscript;
  PyType_Modified(type);
  return Py_NewRef(Py_None);
}

PyMethodDef functions[] = {
    {"take_masks", takeMasks, METH_O,
     "Has a class of NumPy's arrays, of which none is made yet, take our masks without elements."},
    {"finish_scalar_types", finishScalarTypes, METH_O,
     "Gives known values the members of Array, once it has them all; the argument: a set of names "
     "of those that NumPy's types have themselves."},
    {"is_array", isArray, METH_O, "Whether an object is an Array, and none of NumPy's arrays."},
    {nullptr, nullptr, 0, nullptr}};

} // namespace

PyObject *refuseSequence(PyObject *self, const char *ofArray, const char *ofValue) {
  if (const Array &x = *asAnyArray(self); x.isValue() && x.dtype() != DType::BFloat16) {
    pb::object type = dtypeObject(x.dtype()).attr("type");
    return PyErr_Format(PyExc_TypeError, ofValue,
                        reinterpret_cast<PyTypeObject *>(type.ptr())->tp_name);
  }
  PyErr_SetString(PyExc_TypeError, ofArray);
  return nullptr;
}

pb::object makeArrayType() {
  PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void *>(makeClass)},
                         {Py_tp_getattro, reinterpret_cast<void *>(attribute)},
                         {Py_tp_richcompare, reinterpret_cast<void *>(compareClasses)},
                         {Py_tp_hash, reinterpret_cast<void *>(hashClass)},
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

void defineArrayType(pb::module_ &m, pb::class_<Array> &array) {
  pb::object ndarray = makeNdarray(reinterpret_cast<PyTypeObject *>(array.ptr()));
  m.attr("ndarray") = ndarray;
  arrayType = reinterpret_cast<PyTypeObject *>(array.ptr());
  ndarrayType = reinterpret_cast<PyTypeObject *>(ndarray.release().ptr());
  makeScalarTypes(arrayType);
  unboundType = makeUnboundType();
  unbound = PyDict_New();
  if (!unboundType || !unbound || PyModule_AddFunctions(m.ptr(), functions) < 0)
    throw pb::error_already_set();
}

} // namespace graphc::py
