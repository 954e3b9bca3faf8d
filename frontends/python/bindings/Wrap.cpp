// Python objects of new arrays. Every recorded operation makes one: pybind11's own way looks its
// type up by name and enters the object in a table of addresses, which costs more than the
// recording.
#include "frontends/python/bindings/Bindings.h"

#include "frontends/record/FloatErrors.h"
#include "frontends/record/Trace.h"

#include <array>
#include <memory>

namespace graphc::py {
namespace {

using Instance = pb::detail::instance;
using Holder = std::unique_ptr<Array>;

PyTypeObject *arrayType = nullptr;

PyTypeObject *typeOfArrays() {
  if (!arrayType)
    arrayType = reinterpret_cast<PyTypeObject *>(pb::type::of<Array>().release().ptr());
  return arrayType;
}

/// Objects of known values that ended, with their arrays: a loop over elements makes one for every
/// value it looks at. Guarded by the GIL.
constexpr size_t kMostIdle = 64;
std::array<PyObject *, kMostIdle> idle;
size_t idleCount = 0;

Holder *holderOf(Instance *instance) {
  return reinterpret_cast<Holder *>(&instance->simple_value_holder[1]);
}

/// Objects made by wrap() are the ones that pybind11 never registered.
void release(PyObject *self) {
  auto *instance = reinterpret_cast<Instance *>(self);
  bool ours = Py_TYPE(self) == arrayType && instance->simple_layout &&
              instance->simple_holder_constructed && !instance->simple_instance_registered;
  if (!ours || instance->has_patients) {
    pb::detail::pybind11_object_dealloc(self);
    return;
  }
  Array &value = **holderOf(instance);
  if (idleCount < kMostIdle && value.known() && !instance->weakrefs) {
    idle[idleCount++] = self;
    Py_DECREF(arrayType);
    return;
  }
  // Buffers that wrap foreign memory may run Python code when they go.
  pb::error_scope keep;
  if (instance->weakrefs)
    PyObject_ClearWeakRefs(self);
  holderOf(instance)->~Holder();
  arrayType->tp_free(self);
  Py_DECREF(arrayType);
}

} // namespace

void setupLifetime(PyHeapTypeObject *type) { type->ht_type.tp_dealloc = release; }

PyObject *wrapKnown(const KnownValue &value) {
  if (idleCount == 0)
    return wrap(Array(value));
  PyObject *self = idle[--idleCount];
  (*holderOf(reinterpret_cast<Instance *>(self)))->become(value);
  return PyObject_Init(self, arrayType);
}

void tellAtOnce(Array &array) {
  // Modes 0 and 1 are "ignore" and "warn" (graphc/_float_errors.py).
  uint32_t word = floatModes();
  bool asked = false;
  for (int e = 0; e < kFloatErrors; ++e)
    asked |= FloatModes::of(word, static_cast<FloatError>(e)) > 1;
  if (!asked || Trace::active() || array.isNull())
    return;
  check(array.fixSize());
  Array *one[] = {&array};
  evaluateNow(one, "errstate");
}

PyObject *wrap(Array &&array) {
  PyTypeObject *arrayType = typeOfArrays();
  auto value = std::make_unique<Array>(std::move(array));
  PyObject *self = arrayType->tp_alloc(arrayType, 0);
  if (!self)
    throw pb::error_already_set();
  auto *instance = reinterpret_cast<Instance *>(self);
  instance->owned = true;
  instance->simple_layout = true;
  instance->simple_instance_registered = false;
  instance->simple_value_holder[0] = value.get();
  if (value->known())
    value->setObject(self);
  else if (!value->isNull() && !value->isOpen() && value->storage()->owner() == value.get())
    value->storage()->setOwnerObject(self); // how x.base finds it
  new (holderOf(instance)) Holder(std::move(value));
  instance->simple_holder_constructed = true;
  auto owned = pb::reinterpret_steal<pb::object>(self);
  // A view records no operation.
  if (Array &made = **holderOf(instance); made.view().isWhole())
    tellAtOnce(made);
  return owned.release().ptr();
}

} // namespace graphc::py
