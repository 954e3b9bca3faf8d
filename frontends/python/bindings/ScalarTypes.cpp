#include "frontends/python/bindings/ScalarTypes.h"

#include "frontends/python/bindings/Bindings.h"
#include "frontends/python/bindings/ComplexScalar.h"
#include "frontends/python/bindings/Idle.h"
#include "frontends/record/Known.h"
#include "frontends/record/Looks.h"
#include "frontends/record/SmallElements.h"

#include <array>
#include <bit>
#include <cstring>
#include <memory>
#include <new>

namespace graphc::py {

PyTypeObject *scalarMeta = nullptr;

namespace {

static_assert(std::endian::native == std::endian::little, "patterns begin with the number");

std::array<PyTypeObject *, kDTypeCount> scalarTypes{};

Idle<ScalarObject, 1024> objects;
Idle<Array, 256> arrays; ///< of known values, without storage

void release(PyObject *self) {
  auto *object = static_cast<ScalarObject *>(reinterpret_cast<ScalarHead *>(self));
  PyTypeObject *type = Py_TYPE(self);
  if (Array *array = object->array; array && (array->hasStorage() || !arrays.keep(array))) {
    // Buffers that wrap foreign memory may run Python code when they go.
    pb::error_scope keep;
    delete array;
  }
  if (!objects.keep(object))
    PyObject_Free(object);
  Py_DECREF(type);
}

/// An object to be filled.
ScalarObject *allocate(PyTypeObject *type) {
  ScalarObject *object = objects.take();
  if (!object)
    object = static_cast<ScalarObject *>(PyObject_Malloc(sizeof(ScalarObject)));
  if (!object)
    throw std::bad_alloc();
  PyObject_Init(&object->ob_base, type);
  return object;
}

/// `type(x)(value)`: NumPy's.
PyObject *makeNumpys(PyTypeObject *type, PyObject *args, PyObject *keywords) {
  return PyObject_Call(reinterpret_cast<PyObject *>(type->tp_base), args, keywords);
}

/// NumPy's text has another name of the type for classes made of it.
PyObject *represent(PyObject *self) {
  PyObject *numpys =
      PyObject_CallOneArg(reinterpret_cast<PyObject *>(Py_TYPE(self)->tp_base), self);
  PyObject *text = numpys ? PyObject_Repr(numpys) : nullptr;
  Py_XDECREF(numpys);
  return text;
}

PyObject *numpysType(PyObject *type) {
  if (!PyType_Check(type) || !isScalarType(reinterpret_cast<PyTypeObject *>(type)))
    return type;
  return reinterpret_cast<PyObject *>(reinterpret_cast<PyTypeObject *>(type)->tp_base);
}

PyObject *compareTypes(PyObject *self, PyObject *other, int comparison) {
  if (comparison != Py_EQ && comparison != Py_NE)
    return Py_NewRef(Py_NotImplemented);
  return PyBool_FromLong((numpysType(self) == numpysType(other)) == (comparison == Py_EQ));
}

Py_hash_t hashType(PyObject *self) { return PyObject_Hash(numpysType(self)); }

PyTypeObject *makeMeta() {
  PyType_Slot slots[] = {{Py_tp_richcompare, reinterpret_cast<void *>(compareTypes)},
                         {Py_tp_hash, reinterpret_cast<void *>(hashType)},
                         {0, nullptr}};
  PyType_Spec spec = {"graphc.ScalarType", 0, 0, Py_TPFLAGS_DEFAULT, slots};
  PyObject *made = PyType_FromSpecWithBases(
      &spec, pb::make_tuple(pb::handle(&PyType_Type.ob_base.ob_base)).ptr());
  if (!made)
    throw pb::error_already_set();
  return reinterpret_cast<PyTypeObject *>(made);
}

/// The operators of Array; conversions to numbers stay NumPy's.
void takeOperators(PyTypeObject *type, const PyTypeObject *array) {
  PyNumberMethods &mine = *type->tp_as_number;
  const PyNumberMethods numpys = mine;
  mine = *array->tp_as_number;
  mine.nb_bool = numpys.nb_bool;
  mine.nb_int = numpys.nb_int;
  mine.nb_float = numpys.nb_float;
  mine.nb_index = numpys.nb_index;
  type->tp_as_mapping->mp_subscript = array->tp_as_mapping->mp_subscript;
  type->tp_richcompare = array->tp_richcompare;
}

/// Null where the number has another place in objects of NumPy's type.
PyTypeObject *makeType(DType t, PyTypeObject *array) {
  pb::object numpys = dtypeObject(t).attr("type");
  auto *base = reinterpret_cast<PyTypeObject *>(numpys.ptr());
  if (base->tp_itemsize != 0 || base->tp_basicsize > static_cast<Py_ssize_t>(sizeof(ScalarHead)))
    return nullptr;
  pb::dict names;
  names["__module__"] = numpys.attr("__module__");
  names["__doc__"] = numpys.attr("__doc__");
  names["__slots__"] = pb::tuple();
  pb::object given = pb::make_tuple(numpys.attr("__name__"), pb::make_tuple(numpys), names);
  PyObject *made = PyType_Type.tp_new(scalarMeta, given.ptr(), nullptr);
  if (!made)
    throw pb::error_already_set();
  auto *type = reinterpret_cast<PyTypeObject *>(made);
  type->tp_name = base->tp_name; // in the words of errors
  type->tp_basicsize = sizeof(ScalarObject);
  // No object refers to others.
  type->tp_flags &= ~(Py_TPFLAGS_BASETYPE | Py_TPFLAGS_HAVE_GC);
  type->tp_traverse = nullptr;
  type->tp_clear = nullptr;
  type->tp_free = PyObject_Free;
  type->tp_new = makeNumpys;
  type->tp_dealloc = release;
  type->tp_repr = represent;
  takeOperators(type, array);
  return type;
}

/// What is found by this name in `array`, as a member of `type`; null for slots, which it has.
pb::object memberFor(PyTypeObject *type, PyObject *value) {
  PyObject *made = nullptr;
  if (Py_IS_TYPE(value, &PyWrapperDescr_Type))
    return {};
  if (Py_IS_TYPE(value, &PyGetSetDescr_Type))
    made = PyDescr_NewGetSet(type, reinterpret_cast<PyGetSetDescrObject *>(value)->d_getset);
  else if (Py_IS_TYPE(value, &PyMethodDescr_Type))
    made = PyDescr_NewMethod(type, reinterpret_cast<PyMethodDescrObject *>(value)->d_method);
  else
    made = Py_NewRef(value);
  if (!made)
    throw pb::error_already_set();
  return pb::reinterpret_steal<pb::object>(made);
}

/// The array of a complex number: one made outside traces.
Array *makeComplexArray(ScalarObject *object) {
  const DType t = object->known.dtype;
  NodeRef made = unwrap(small::makeNode(t, Shape{}, *object->known.device));
  std::memcpy(made->buffer()->host(), object->number.data(), static_cast<size_t>(itemSize(t)));
  auto *array = new Array(std::move(made), 0);
  array->storage()->setOwnerObject(object);
  return array;
}

} // namespace

PyObject *makeScalar(const KnownValue &value) {
  PyTypeObject *type = scalarTypes[static_cast<size_t>(value.dtype)];
  if (!type)
    return nullptr;
  ScalarObject *object = allocate(type);
  object->number[0] = value.bits;
  object->known = value;
  object->array = nullptr;
  return &object->ob_base;
}

Array *makeArray(ScalarObject *object) {
  if (isComplex(object->known.dtype))
    return object->array = makeComplexArray(object);
  Array *array = arrays.take();
  if (array)
    array->become(object->known);
  else
    array = new Array(object->known);
  array->setObject(object);
  return object->array = array;
}

PyObject *makeComplex(DType t, const ComplexBytes &number, rt::Device &device) {
  ScalarObject *object = allocate(scalarTypes[static_cast<size_t>(t)]);
  object->number = number;
  object->known = {0, t, &device};
  object->array = nullptr;
  return &object->ob_base;
}

PyObject *makeScalar(Array &value) {
  PyTypeObject *type = scalarTypes[static_cast<size_t>(value.dtype())];
  if (!type || !value.view().isWhole())
    return nullptr;
  std::array<uint64_t, 2> number{};
  const bool isRead = value.storage()->withCurrent([&](const Node &node) {
    const void *memory = knownMemory(node);
    if (memory)
      std::memcpy(number.data(), memory, static_cast<size_t>(itemSize(node.dtype())));
    return memory != nullptr;
  });
  if (!isRead)
    return nullptr;
  auto array = std::make_unique<Array>(std::move(value));
  ScalarObject *object = allocate(type);
  object->number = number;
  object->known =
      isComplex(array->dtype()) ? KnownValue{0, array->dtype(), &array->device()} : KnownValue();
  object->array = array.release();
  if (object->array->storage()->owner() == object->array)
    object->array->storage()->setOwnerObject(object);
  return &object->ob_base;
}

void makeScalarTypes(PyTypeObject *array) {
  scalarMeta = makeMeta();
  for (int i = 0; i < kDTypeCount; ++i)
    if (auto t = static_cast<DType>(i); t != DType::Bool && t != DType::BFloat16)
      scalarTypes[static_cast<size_t>(i)] = makeType(t, array);
}

void shareMembers(PyTypeObject *array, PyObject *without) {
  PyObject *name = nullptr, *value = nullptr;
  for (PyTypeObject *type : scalarTypes) {
    if (!type)
      continue;
    for (Py_ssize_t at = 0; PyDict_Next(array->tp_dict, &at, &name, &value);) {
      const int isLeft = PySet_Contains(without, name);
      if (isLeft < 0)
        throw pb::error_already_set();
      pb::object member = isLeft ? pb::object() : memberFor(type, value);
      if (member && PyDict_SetItem(type->tp_dict, name, member.ptr()) < 0)
        throw pb::error_already_set();
    }
    PyType_Modified(type);
  }
}

} // namespace graphc::py
