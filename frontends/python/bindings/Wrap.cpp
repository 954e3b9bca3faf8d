// Python objects of new arrays. Every recorded operation makes one: pybind11's own way looks its
// type up by name and enters the object in a table of addresses, which costs more than the
// recording.
#include "frontends/python/bindings/Bindings.h"
#include "frontends/python/bindings/Direct.h"
#include "frontends/python/bindings/Idle.h"

#include "frontends/record/FloatErrors.h"
#include "frontends/record/Lend.h"
#include "frontends/record/Recycle.h"
#include "frontends/record/Small.h"
#include "frontends/record/Trace.h"

#include <algorithm>
#include <array>
#include <memory>

namespace graphc::py {

PyTypeObject *arrayType = nullptr, *ndarrayType = nullptr;

namespace {

using Instance = pb::detail::instance;
using Holder = std::unique_ptr<Array>;

PyTypeObject *typeFor(const Array &array) {
  return !array.isNull() && array.isValue() ? arrayType : ndarrayType;
}

/// Of an object that ends, whose type counts it.
void leaveType(PyObject *self) { Py_DECREF(Py_TYPE(self)); }

// Objects that ended, with their arrays.
Idle<PyObject, 1024> known; ///< of known bools, which need another value only
Idle<PyObject, 64> empty;   ///< whose arrays are null
Idle<PyObject, 64> parts;   ///< the same, with what a view needs

Holder *holderOf(Instance *instance) {
  return reinterpret_cast<Holder *>(&instance->simple_value_holder[1]);
}

/// Objects that ended with small arrays of their own, for results of the same dtype and shape. What
/// is more is kept without its object, for what the recorder computes (Recycle.h). Guarded by the
/// GIL.
class Shelf {
public:
  /// Of an object whose array may be null now: `evicted` has no place any more.
  bool keep(PyObject *self, Array &value, PyObject *&evicted) {
    if (value.rank() == 0 || value.isOpen() || value.isNull() || !value.view().isWhole() ||
        value.size() * itemSize(value.dtype()) > recycle::kMostBytes)
      return false;
    Place &place = placeOf(value.dtype(), value.shape());
    auto *end = place.objects.data() + place.count;
    auto *other = end;
    if (place.count == kMost) // others that share the place go, the oldest first
      other = std::find_if(place.objects.data(), end, [&](PyObject *kept) {
        return !isAlike(kept, value.dtype(), value.shape(), value.device());
      });
    if ((place.count == kMost && other == end) || !value.renew())
      return false;
    if (other != end) {
      evicted = *other;
      std::move(other + 1, end, other);
      --place.count;
    }
    place.objects[place.count++] = self;
    return true;
  }
  PyObject *take(DType t, const Shape &shape, const rt::Device &device) {
    Place &place = placeOf(t, shape);
    for (size_t i = place.count; i-- > 0;)
      if (PyObject *self = place.objects[i]; isAlike(self, t, shape, device)) {
        auto *at = place.objects.data() + i;
        std::move(at + 1, place.objects.data() + place.count--, at);
        return self;
      }
    return nullptr;
  }

private:
  static constexpr size_t kMost = 4;
  struct Place {
    std::array<PyObject *, kMost> objects;
    size_t count = 0;
  };
  Place &placeOf(DType t, const Shape &shape) { return places[recycle::placeOf(t, shape)]; }
  static bool isAlike(PyObject *self, DType t, const Shape &shape, const rt::Device &device) {
    const Array &kept = **holderOf(reinterpret_cast<Instance *>(self));
    return kept.dtype() == t && &kept.device() == &device && kept.shape() == shape;
  }
  std::array<Place, recycle::kPlaces> places;
};
Shelf shelf;

/// Ends the array of an object that nobody refers to; the object is kept, or freed.
void discard(PyObject *self) {
  // Buffers that wrap foreign memory may run Python code when they go.
  pb::error_scope keep;
  auto *instance = reinterpret_cast<Instance *>(self);
  if (!instance->weakrefs) {
    Array &value = **holderOf(instance);
    if (!value.view().isWhole() && value.hasStorage()) {
      value.letGo();
      if (parts.keep(self))
        return;
    }
    // Nobody else knows it: a new one costs less than an assignment.
    std::destroy_at(&value);
    new (&value) Array();
    if (empty.keep(self))
      return;
  }
  if (instance->weakrefs)
    PyObject_ClearWeakRefs(self);
  holderOf(instance)->~Holder();
  arrayType->tp_free(self);
}

/// Objects made by wrap() are the ones that pybind11 never registered.
void release(PyObject *self) {
  auto *instance = reinterpret_cast<Instance *>(self);
  PyTypeObject *type = Py_TYPE(self);
  bool ours = isOurType(type) && instance->simple_layout && instance->simple_holder_constructed &&
              !instance->simple_instance_registered;
  if (!ours || instance->has_patients) {
    pb::detail::pybind11_object_dealloc(self);
    return;
  }
  Array &value = **holderOf(instance);
  if (!value.hasStorage() && !instance->weakrefs && known.keep(self)) {
    leaveType(self);
    return;
  }
  PyObject *ended = self;
  if (!instance->weakrefs && shelf.keep(self, value, ended) && ended == self)
    ended = nullptr;
  if (ended)
    discard(ended);
  Py_DECREF(type);
}

} // namespace

void setupLifetime(PyHeapTypeObject *type) { type->ht_type.tp_dealloc = release; }

Made takeMade(DType t, const Shape &shape, const rt::Device &device) {
  PyObject *self = shelf.take(t, shape, device);
  if (!self)
    return {};
  const Array &value = **holderOf(reinterpret_cast<Instance *>(self));
  rt::Buffer *buffer =
      value.storage()->withCurrent([](const Node &node) { return node.buffer().get(); });
  return {pb::reinterpret_steal<pb::object>(PyObject_Init(self, ndarrayType)), buffer};
}

PyObject *wrapKnown(const KnownValue &value) {
  if (PyObject *scalar = makeScalar(value))
    return scalar;
  PyObject *self = known.take();
  if (!self)
    return wrap(Array(value));
  (*holderOf(reinterpret_cast<Instance *>(self)))->become(value);
  return PyObject_Init(self, arrayType);
}

/// Whether it is computed already, and has told what there was to tell.
static bool isTold(const Array &array) {
  return !array.isNull() && !array.isOpen() &&
         (!array.hasStorage() || array.storage()->withCurrent([](const Node &node) {
           return node.state() == NodeState::Ready && !node.isOp();
         }));
}

void tellAtOnce(Array &array) {
  check(takeFailure());
  if (isTold(array))
    return;
  // Modes 0 and 1 are "ignore" and "warn" (graphc/_float_errors.py).
  uint32_t word = floatModes();
  bool asked = false;
  for (int e = 0; e < kFloatErrors; ++e)
    asked |= FloatModes::of(word, static_cast<FloatError>(e)) > 1;
  asked = asked || ((word & FloatModes::kAll) != 0 && warningsAreWatched());
  if (!asked || Trace::active() || array.isNull())
    return;
  check(array.fixSize());
  Array *one[] = {&array};
  evaluateNow(one, "errstate");
}

/// A new object with a null array.
static PyObject *makeObject(PyTypeObject *type) {
  if (PyObject *self = empty.take())
    return PyObject_Init(self, type);
  auto value = std::make_unique<Array>();
  PyObject *self = type->tp_alloc(type, 0);
  if (!self)
    throw pb::error_already_set();
  auto *instance = reinterpret_cast<Instance *>(self);
  instance->owned = true;
  instance->simple_layout = true;
  instance->simple_instance_registered = false;
  instance->simple_value_holder[0] = value.get();
  new (holderOf(instance)) Holder(std::move(value));
  instance->simple_holder_constructed = true;
  return self;
}

/// An object for a view, in the memory of an earlier one.
static pb::object makePart() {
  PyObject *idle = parts.take();
  return pb::reinterpret_steal<pb::object>(idle ? PyObject_Init(idle, ndarrayType)
                                                : makeObject(ndarrayType));
}

PyObject *wrapPart(const Array &x, std::span<const IndexItem> items) {
  pb::object owned = makePart();
  check((*holderOf(reinterpret_cast<Instance *>(owned.ptr())))->show(x, items));
  return owned.release().ptr();
}

PyObject *wrapTurned(const Array &x, std::span<const int64_t> permutation) {
  pb::object owned = makePart();
  (*holderOf(reinterpret_cast<Instance *>(owned.ptr())))->showTurned(x, permutation);
  return owned.release().ptr();
}

PyObject *wrapView(const Array &x, Result<View> view) {
  if (!view)
    raise(view.takeStatus());
  const bool isValue = view->shape().rank() == 0 && x.isValue();
  PyObject *self = makeObject(isValue ? arrayType : ndarrayType);
  Array *value = holderOf(reinterpret_cast<Instance *>(self))->get();
  // In place: a null array has nothing to give up.
  std::destroy_at(value);
  new (value) Array(x, std::move(*view));
  return self;
}

/// Whether the object is how its storage finds its owner.
static bool settle(PyObject *self, Array &&array) {
  Array &value = **holderOf(reinterpret_cast<Instance *>(self));
  // In place: a null array has nothing to give up.
  std::destroy_at(&value);
  new (&value) Array(std::move(array));
  if (!value.hasStorage()) {
    value.setObject(self);
  } else if (!value.isNull() && !value.isOpen() && value.storage()->owner() == &value) {
    value.storage()->setOwnerObject(self); // how x.base finds it
    return true;
  }
  return false;
}

/// A value that is known, with nothing to tell, as an object of NumPy's type; null for others.
static PyObject *wrapScalar(Array &array) {
  if (array.isNull() || array.rank() > 0 || array.isOpen() || !array.isValue())
    return nullptr;
  bool hasTold = isTold(array);
  if (array.hasStorage()) {
    if (!hasTold && array.storage()->withCurrent([](const Node &node) {
          return node.state() == NodeState::Ready || small::isComputedAtOnce(node);
        })) {
      Array *one[] = {&array};
      evaluateNow(one, "value");
      hasTold = true;
    }
    array.noteValue();
  }
  const KnownValue *value = array.known();
  if (!hasTold)
    return nullptr;
  return value ? makeScalar(*value) : makeScalar(array);
}

PyObject *wrapSilently(Array &&array) {
  if (PyObject *scalar = wrapScalar(array))
    return scalar;
  auto owned = pb::reinterpret_steal<pb::object>(makeObject(typeFor(array)));
  settle(owned.ptr(), std::move(array));
  return owned.release().ptr();
}

PyObject *wrap(Array &&array) {
  if (PyObject *scalar = wrapScalar(array)) {
    auto owned = pb::reinterpret_steal<pb::object>(scalar);
    check(takeFailure());
    return owned.release().ptr();
  }
  auto owned = pb::reinterpret_steal<pb::object>(makeObject(typeFor(array)));
  bool owns = settle(owned.ptr(), std::move(array));
  Array &value = **holderOf(reinterpret_cast<Instance *>(owned.ptr()));
  // A view of another array records no operation.
  if (owns || value.view().isWhole())
    tellAtOnce(value);
  return owned.release().ptr();
}

} // namespace graphc::py
