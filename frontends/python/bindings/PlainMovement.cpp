// Functions that sort, choose and move elements, for the plain arguments of loops over small
// arrays, as C functions: they answer NotImplemented for other arguments, and where what they do
// has to be recorded.
#include "frontends/python/bindings/Bindings.h"
#include "frontends/python/bindings/Direct.h"
#include "frontends/python/bindings/Quick.h"
#include "frontends/record/IndexChecks.h"
#include "frontends/record/Known.h"
#include "frontends/record/Lend.h"
#include "frontends/record/MemoryOrder.h"
#include "frontends/record/Session.h"
#include "frontends/record/Small.h"
#include "frontends/record/SmallElements.h"
#include "frontends/record/SmallNumeric.h"
#include "frontends/record/Trace.h"

#include <algorithm>
#include <array>
#include <numeric>

namespace graphc::py {
namespace {

using op::OpKind;

/// A vector that an operation of this kind of a loop is computed on now. Counts no turn: what is
/// recorded instead does.
const Array *vectorOfLoop(OpKind kind, PyObject *object) {
  const Array *x = asPlainArray(object);
  return x && x->rank() == 1 && !Trace::active() &&
                 small::isLoop(kind, x->size(), x->device(), /*counts=*/false)
             ? x
             : nullptr;
}

PyObject *answer(NodeRef made) {
  if (!made)
    Py_RETURN_NOTIMPLEMENTED;
  return wrap(small::arrayOf(std::move(made)));
}

/// The axis of a call of a row-major array, its last argument, and of none the last
/// one; nothing for other calls.
std::optional<size_t> axisOf(const Array &x, PyObject *const *args, Py_ssize_t count,
                             PyObject *names) {
  const Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0;
  if (x.rank() < 1 || count + named > 2 || !x.view().isContiguous() ||
      (named && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "axis") != 0))
    return std::nullopt;
  int64_t axis = -1;
  int overflow = 0;
  if (count + named == 2)
    axis = PyLong_CheckExact(args[1]) ? PyLong_AsLongLongAndOverflow(args[1], &overflow) : x.rank();
  axis += axis < 0 ? x.rank() : 0;
  const bool isInside = axis >= 0 && axis < x.rank() && !overflow;
  return isInside ? std::optional(static_cast<size_t>(axis)) : std::nullopt;
}

/// sort(x, axis) or, where `self` is True, argsort(x, axis); of vectors without an axis.
PyObject *sorted(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return guarded([&]() -> PyObject * {
    PlainScope scope;
    const Array *several = count >= 1 && !Trace::active() ? asPlainArray(args[0]) : nullptr;
    if (several && several->rank() > 1) {
      auto axis = axisOf(*several, args, count, names);
      // Along another axis than the last one nothing else counts.
      const bool isLast = axis && *axis + 1 == several->shape().size();
      if (!axis || !small::isLoop(OpKind::Library, several->size(), several->device(), !isLast))
        Py_RETURN_NOTIMPLEMENTED;
      return answer(unwrap(
          small::sortedAlong(*several, *axis, self == Py_True ? Routine::Argsort : Routine::Sort)));
    }
    const bool isPlain = count == 1 && !names;
    const bool isAlong = several && several->rank() == 1 && axisOf(*several, args, count, names);
    const Array *x = isPlain || isAlong ? vectorOfLoop(OpKind::Library, args[0]) : nullptr;
    if (!x)
      Py_RETURN_NOTIMPLEMENTED;
    return answer(unwrap(small::sorted(*x, self == Py_True ? Routine::Argsort : Routine::Sort)));
  });
}

/// Whether a vector is computed and of so few elements that a launch takes longer than sorting
/// them.
bool isThere(const Array &x) {
  constexpr int64_t kMostSorted = 1 << 14;
  return x.size() <= kMostSorted && mayBeOnHost(x.device()) &&
         small::loopTurns() != small::kNever && small::denseElementsOf(x).base;
}

/// unique(x) of a vector of real numbers. Nothing fuses with it, since its size is counted first.
PyObject *unique(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return guarded([&]() -> PyObject * {
    PlainScope scope;
    const bool isPlain = count == 1 && !names && !Trace::active();
    const Array *x = isPlain ? asPlainArray(args[0]) : nullptr;
    if (!x || x->rank() != 1 || isComplex(x->dtype()) ||
        !(isThere(*x) || vectorOfLoop(OpKind::Library, args[0])))
      Py_RETURN_NOTIMPLEMENTED;
    small::Wider wider;
    return answer(unwrap(small::distinct(*x)));
  });
}

/// A few arrays of one device in a list or tuple; none for others.
class Several {
public:
  explicit Several(PyObject *object) {
    const std::span items = itemsOf(object);
    for (size_t i = 0; i < items.size() && items.size() <= all.size(); ++i) {
      const Array *x = asPlainArray(items[i]);
      if (!x || (i && &x->device() != &all[0].device()))
        return;
      all[i] = *x;
      count = i + 1 == items.size() ? items.size() : 0;
    }
  }
  std::span<const Array> list() const { return std::span(all).first(count); }

private:
  std::array<Array, 4> all;
  size_t count = 0;
};

/// choose(index, choices) of a few arrays of one dtype.
PyObject *choose(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return guarded([&]() -> PyObject * {
    const Array *index = count == 2 && !names && !Trace::active() ? asPlainArray(args[0]) : nullptr;
    if (!index || index->rank() == 0 || isInexact(index->dtype()) ||
        index->dtype() == DType::UInt64) // which NumPy refuses
      Py_RETURN_NOTIMPLEMENTED;
    PlainScope scope;
    const Several choices(args[1]);
    auto isAlike = [&](const Array &x) { return x.dtype() == choices.list()[0].dtype(); };
    if (choices.list().empty() || &choices.list()[0].device() != &index->device() ||
        !std::ranges::all_of(choices.list(), isAlike) ||
        !small::isLoop(OpKind::Gather, index->size(), index->device(), false))
      Py_RETURN_NOTIMPLEMENTED;
    return answer(unwrap(small::chosen(*index, choices.list())));
  });
}

/// The first and the last of places that an integer or several name in rows of `size`; nothing for
/// other objects.
std::optional<std::pair<int64_t, int64_t>> placesOf(PyObject *named, int64_t size) {
  std::span<PyObject *const> items = itemsOf(named);
  if (PyLong_CheckExact(named))
    items = {&named, 1};
  std::optional<std::pair<int64_t, int64_t>> found;
  for (PyObject *item : items) {
    const auto given = smallInteger(item);
    if (!given || *given < -size || *given >= size)
      return std::nullopt;
    const int64_t place = *given + (*given < 0 ? size : 0);
    found = found ? std::pair(std::min(found->first, place), std::max(found->second, place))
                  : std::pair(place, place);
  }
  return found;
}

/// partition(x, kth) or, where `self` is True, argpartition(x, kth) of a vector.
PyObject *part(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return guarded([&]() -> PyObject * {
    PlainScope scope;
    const Array *x = count == 2 && !names ? vectorOfLoop(OpKind::Library, args[0]) : nullptr;
    const auto places = x ? placesOf(args[1], x->size()) : std::nullopt;
    if (!places || x->size() * itemSize(DType::Int64) > small::kMostBytes)
      Py_RETURN_NOTIMPLEMENTED;
    return answer(
        unwrap(small::parted(*x, places->first, places->second,
                             self == Py_True ? Routine::Argpartition : Routine::Partition)));
  });
}

/// The pattern of what is looked for among elements of dtype `t`, where comparing as `t` says what
/// comparing in their common dtype says; nothing for others.
std::optional<uint64_t> wantedBits(PyObject *object, DType t) {
  constexpr int64_t kExact = 1 << 11; // of float16's integers
  if (isComplex(t) || (PyFloat_CheckExact(object) && t != DType::Float64))
    return std::nullopt;
  if (PyLong_CheckExact(object)) {
    const auto number = smallInteger(object);
    if (!number || (isFloat(t) && t != DType::Float64 && std::abs(*number) > kExact))
      return std::nullopt;
  }
  return heldBits(object, t);
}

/// searchsorted(a, v, side) of a computed vector and one number.
PyObject *searched(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return guarded([&]() -> PyObject * {
    const Py_ssize_t given = count + (names ? PyTuple_GET_SIZE(names) : 0);
    const bool isNamed =
        names && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "side") != 0;
    const bool isPlain = count >= 2 && given <= 3 && !isNamed && !Trace::active() &&
                         small::loopTurns() != small::kNever &&
                         (given == 2 || PyUnicode_CheckExact(args[2]));
    const Array *x = isPlain ? asPlainArray(args[0]) : nullptr;
    const auto bits = x && x->rank() == 1 && x->size() > 0 && mayBeOnHost(x->device())
                          ? wantedBits(args[1], x->dtype())
                          : std::nullopt;
    const bool isLeft =
        given == 2 || (bits && PyUnicode_CompareWithASCIIString(args[2], "left") == 0);
    if (!bits || !(isLeft || PyUnicode_CompareWithASCIIString(args[2], "right") == 0))
      Py_RETURN_NOTIMPLEMENTED;
    const auto place = unwrap(small::placeAmong(*x, *bits, isLeft));
    if (!place)
      Py_RETURN_NOTIMPLEMENTED;
    check(takeFailure());
    return wrapKnown({static_cast<uint64_t>(*place), DType::Int64, &x->device()});
  });
}

/// Whether places are those that take() means in a mode: of others than 'raise' where they are
/// known.
bool needsNoMode(const Array &places, PyObject *mode, int64_t size) {
  if (!PyUnicode_Check(mode))
    return false;
  if (PyUnicode_CompareWithASCIIString(mode, "raise") == 0)
    return true;
  const bool isClip = PyUnicode_CompareWithASCIIString(mode, "clip") == 0;
  return (isClip || PyUnicode_CompareWithASCIIString(mode, "wrap") == 0) &&
         ops::areInside(places, isClip ? 0 : -size, size);
}

/// are_inside(places, low, high): whether integers are known to be in [low, high).
PyObject *areInside(PyObject *, PyObject *const *args, Py_ssize_t count) {
  return guarded([&] {
    const Array *places = count == 3 ? asPlainArray(args[0]) : nullptr;
    return PyBool_FromLong(
        places && !Trace::active() &&
        ops::areInside(*places, PyLong_AsLongLong(args[1]), PyLong_AsLongLong(args[2])));
  });
}

/// take(x, places), also of axis 0, places being an array or a list of a few.
PyObject *take(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return guarded([&]() -> PyObject * {
    PlainScope scope;
    PyObject *axis = count == 3 ? args[2] : Py_None, *mode = nullptr;
    bool isPlain = count == 2 || count == 3;
    for (Py_ssize_t i = 0, named = names ? PyTuple_GET_SIZE(names) : 0; i < named; ++i) {
      PyObject *name = PyTuple_GET_ITEM(names, i);
      const bool isAxis = PyUnicode_CompareWithASCIIString(name, "axis") == 0;
      isPlain &= isAxis ? count == 2 : PyUnicode_CompareWithASCIIString(name, "mode") == 0;
      (isAxis ? axis : mode) = args[count + i];
    }
    const Array *x = isPlain && !Trace::active() ? asPlainArray(args[0]) : nullptr;
    if (!x || x->rank() == 0 || !x->view().isContiguous() ||
        (axis != Py_None && smallInteger(axis) != 0))
      Py_RETURN_NOTIMPLEMENTED;
    if (x->rank() == 1 && PyLong_CheckExact(args[1]) && !mode) { // as x[i]
      if (PyObject *element = PyObject_GetItem(args[0], args[1]))
        return element;
      PyErr_Clear();
      Py_RETURN_NOTIMPLEMENTED;
    }
    Array list, flat;
    const Array *places = asPlainArray(args[1]);
    if (!places)
      places = &(list = listIndex(args[1], x->device()));
    if (places->isNull() || places->rank() == 0 || !isInteger(places->dtype()) ||
        &places->device() != &x->device())
      Py_RETURN_NOTIMPLEMENTED;
    if (axis == Py_None && x->rank() > 1)
      x = &(flat = unwrap(ops::reshape(*x, Shape{x->size()})));
    if (mode && !needsNoMode(*places, mode, x->shape()[0]))
      Py_RETURN_NOTIMPLEMENTED;
    if (PyObject *rows = directRows(*x, *places))
      return rows;
    Array taken = unwrap(ops::takeRowsNow(*x, *places));
    if (taken.isNull())
      Py_RETURN_NOTIMPLEMENTED;
    return wrap(std::move(taken));
  });
}

/// compress(mask, x) of vectors of one size: as x[mask]
PyObject *compress(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  const Array *mask = count == 2 && !names ? asPlainArray(args[0]) : nullptr;
  const Array *x = mask ? asPlainArray(args[1]) : nullptr;
  if (!x || mask->dtype() != DType::Bool || mask->rank() != 1 || !(mask->shape() == x->shape()) ||
      &mask->device() != &x->device())
    Py_RETURN_NOTIMPLEMENTED;
  return PyObject_GetItem(args[1], args[0]);
}

/// repeat(x, times)
PyObject *repeat(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return guarded([&]() -> PyObject * {
    PlainScope scope;
    const auto times = count == 2 && !names ? smallInteger(args[1]) : std::nullopt;
    const Array *x = times ? vectorOfLoop(OpKind::Gather, args[0]) : nullptr;
    if (!x || *times < 0 || *times > small::kMostBytes)
      Py_RETURN_NOTIMPLEMENTED;
    return answer(unwrap(small::repeated(*x, *times)));
  });
}

/// Where a mask is true; null, with no error set, for what is no mask of a loop.
PyObject *placesOf(PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return guarded([&]() -> PyObject * {
    PlainScope scope;
    const Array *mask = count == 1 && !names ? vectorOfLoop(OpKind::Gather, args[0]) : nullptr;
    if (PyObject *places = mask ? directNonzero(*mask) : nullptr)
      return places;
    NodeRef made =
        mask && mask->dtype() == DType::Bool ? unwrap(small::flatNonzero(*mask)) : NodeRef();
    return made ? wrap(small::arrayOf(std::move(made))) : nullptr;
  });
}

/// flatnonzero(mask)
PyObject *flatNonzero(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  PyObject *places = placesOf(args, count, names);
  if (!places && !PyErr_Occurred())
    Py_RETURN_NOTIMPLEMENTED;
  return places;
}

/// nonzero(mask)
PyObject *nonzero(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  PyObject *places = placesOf(args, count, names);
  if (!places && !PyErr_Occurred())
    Py_RETURN_NOTIMPLEMENTED;
  PyObject *tuple = places ? PyTuple_Pack(1, places) : nullptr;
  Py_XDECREF(places);
  return tuple;
}

/// count_nonzero(mask)
PyObject *countNonzero(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return guarded([&]() -> PyObject * {
    const Array *x = count == 1 && !names ? asPlainArray(args[0]) : nullptr;
    if (!x || x->rank() == 0)
      Py_RETURN_NOTIMPLEMENTED;
    PlainScope scope;
    if (PyObject *found = directCount(*x))
      return found;
    Array mask = *x;
    if (x->dtype() != DType::Bool) {
      const Operand operands[] = {*x, op::Scalar::ofInt(0)};
      mask = unwrap(ops::elementwise(OpKind::NotEqual, operands));
      if (PyObject *found = directCount(mask))
        return found;
    }
    return wrap(ops::reduce(op::ReduceKind::Sum, mask, std::nullopt, false, std::nullopt));
  });
}

/// A number that every dtype of ours but bool holds, or a float.
bool isPlainNumber(PyObject *object, bool takesFloats) {
  if (PyFloat_CheckExact(object))
    return takesFloats;
  int overflow = 0;
  const int64_t value =
      PyLong_CheckExact(object) ? PyLong_AsLongLongAndOverflow(object, &overflow) : -1;
  return value >= 0 && value < 128 && !overflow;
}

/// A negative number that the dtype of the other operand holds, which may be a number, too.
bool isSmallNegative(PyObject *object, PyObject *other) {
  int overflow = 0;
  const int64_t value =
      PyLong_CheckExact(object) ? PyLong_AsLongLongAndOverflow(object, &overflow) : 0;
  const Array *x = asPlainArray(other);
  return value < 0 && value >= -128 && !overflow && !(x && isUnsigned(x->dtype()));
}

/// where(condition, x, y) of arrays and numbers.
PyObject *select(PyObject *const *args) {
  return guarded([&]() -> PyObject * {
    std::array<Operand, 3> operands;
    for (size_t i = 0; i < operands.size(); ++i) {
      const Array *x = asPlainArray(args[i]);
      const bool isCondition = x ? x->rank() > 0 || !Trace::active() : PyBool_Check(args[i]);
      if (i == 0 ? !isCondition
                 : !x && !isPlainNumber(args[i], true) && !isSmallNegative(args[i], args[3 - i]))
        Py_RETURN_NOTIMPLEMENTED;
      operands[i] = x ? Operand(*x) : Operand(toScalar(args[i]));
    }
    return wrap(settled(unwrap(ops::elementwise(OpKind::Select, operands))));
  });
}

/// where(condition, x, y), and where(condition) as NumPy's method finds it, which is `self`.
PyObject *where(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  if (count == 3 && !names)
    return select(args);
  PyObject *places = nonzero(nullptr, args, count, names);
  if (places != Py_NotImplemented || count != 1 || names || !asAnyArray(args[0]))
    return places;
  PyObject *found = ofExact(self, Exact::Any, args, 1, nullptr);
  if (!found && !PyErr_Occurred())
    return places;
  Py_DECREF(places);
  return found;
}

/// A number that an array of that dtype is limited to without becoming one of another dtype.
bool isLimit(PyObject *object, DType t) {
  if (PyFloat_CheckExact(object))
    return isFloat(t);
  constexpr int kDigits = std::numeric_limits<double>::digits;
  const int64_t most = t == DType::Int64                          ? INT64_MAX
                       : t == DType::Float64                      ? int64_t{1} << kDigits
                       : t == DType::Float32 || t == DType::Int32 ? int64_t{1} << 24
                       : isFloat(t)                               ? 127
                                                                  : -1;
  int overflow = 0;
  const int64_t value =
      PyLong_CheckExact(object) ? PyLong_AsLongLongAndOverflow(object, &overflow) : INT64_MIN;
  return !overflow && value >= -most && value <= most;
}

/// clip(x, low, high) of floats and integers, or with bounds by the names `min` and `max`, and also
/// with an output by its name.
PyObject *clip(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return guarded([&]() -> PyObject * {
    PyObject *low = count == 3 ? args[1] : Py_None, *high = count == 3 ? args[2] : Py_None;
    PyObject *out = nullptr;
    bool isPlain = count == 3 || count == 1;
    for (Py_ssize_t i = 0, named = names ? PyTuple_GET_SIZE(names) : 0; i < named; ++i) {
      PyObject *name = PyTuple_GET_ITEM(names, i);
      auto isCalled = [&](const char *text) {
        return PyUnicode_CompareWithASCIIString(name, text) == 0;
      };
      const bool isLow = isCalled("min"), isHigh = isCalled("max");
      isPlain &= isLow || isHigh ? count == 1 : isCalled("out");
      (isLow ? low : isHigh ? high : out) = args[count + i];
    }
    if (!isPlain)
      Py_RETURN_NOTIMPLEMENTED;
    if (PyObject *made = out ? nullptr : directClip(args[0], low, high))
      return made;
    const Array *x = asPlainArray(args[0]);
    if (!x || x->rank() == 0 || !isLimit(low, x->dtype()) || !isLimit(high, x->dtype()))
      Py_RETURN_NOTIMPLEMENTED;
    const Operand operands[] = {*x, toScalar(low), toScalar(high)};
    auto made = pb::reinterpret_steal<pb::object>(wrap(ops::elementwise(OpKind::Clip, operands)));
    PyObject *result = out ? writtenTo(out, made) : made.release().ptr();
    return result ? result : Py_NewRef(Py_NotImplemented);
  });
}

/// cumsum(x) and, where `self` is True, cumprod(x).
PyObject *cumulate(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return guarded([&]() -> PyObject * {
    const Array *x = count == 1 && !names ? asPlainArray(args[0]) : nullptr;
    if (!x || x->rank() != 1 || (x->dtype() != DType::Float64 && x->dtype() != DType::Int64))
      Py_RETURN_NOTIMPLEMENTED;
    return wrap(ops::scan(self == Py_True ? op::ReduceKind::Prod : op::ReduceKind::Sum, *x,
                          std::nullopt, std::nullopt));
  });
}

/// swapaxes(x, i, j): a view.
PyObject *swapAxes(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return guarded([&]() -> PyObject * {
    const Array *x = count == 3 && !names ? asPlainArray(args[0]) : nullptr;
    PyObject *made = x ? plainSwap(*x, args[1], args[2]) : nullptr;
    return made ? made : Py_NewRef(Py_NotImplemented);
  });
}

/// outer(x, y) of vectors.
PyObject *outer(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return guarded([&]() -> PyObject * {
    const Array *x = count == 2 && !names ? asPlainArray(args[0]) : nullptr;
    const Array *y = x ? asPlainArray(args[1]) : nullptr;
    if (!y || x->rank() != 1 || y->rank() != 1 || &x->device() != &y->device())
      Py_RETURN_NOTIMPLEMENTED;
    const Array column = unwrap(ops::reshape(*x, Shape{x->size(), 1}));
    const Array row = unwrap(ops::reshape(*y, Shape{1, y->size()}));
    const Operand both[] = {column, row};
    return wrap(ops::elementwise(OpKind::Mul, both));
  });
}

/// A number of Python's, a single result that the host has, or a scalar of NumPy's.
bool isNumber(PyObject *object) {
  const Array *value = asAnyArray(object);
  return value ? value->isValue() && value->known()
               : PyFloat_CheckExact(object) || PyLong_CheckExact(object) ||
                     numpyScalarDType(object).has_value();
}

/// An array with at least so many axes as `self` says, and no other argument, as it is; with one
/// axis less a view with an axis in front.
PyObject *atLeast(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  const int64_t wanted = PyLong_AsLong(self);
  const bool isOne = count == 1 && !names;
  const Array *x = isOne ? asPlainArray(args[0]) : nullptr;
  const bool isSequence = isOne && (PyList_CheckExact(args[0]) || PyTuple_CheckExact(args[0]));
  if (!Trace::active() && (isSequence || (isOne && isNumber(args[0]))))
    return guarded([&]() -> PyObject * {
      auto nested = pb::reinterpret_borrow<pb::object>(args[0]);
      for (int64_t axis = 0; axis < wanted && !isSequence; ++axis)
        nested = pb::make_tuple(nested); // one sequence an axis
      Array made = packSequence(nested.ptr(), *unwrap(currentDevice()), false);
      if (made.isNull() || made.rank() < wanted - 1)
        Py_RETURN_NOTIMPLEMENTED;
      if (made.rank() >= wanted)
        return wrap(std::move(made));
      constexpr int64_t kFirst[] = {0};
      return wrapView(made, made.view().expand(kFirst));
    });
  if (!x || x->rank() == 0 || x->rank() < wanted - 1)
    Py_RETURN_NOTIMPLEMENTED;
  if (x->rank() >= wanted)
    return Py_NewRef(args[0]);
  constexpr int64_t kFirst[] = {0};
  return guarded([&] { return wrapView(*x, x->view().expand(kFirst)); });
}

/// ascontiguousarray(x): what is, or a copy in a loop.
PyObject *contiguous(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  const Array *x = count == 1 && !names ? asPlainArray(args[0]) : nullptr;
  if (!x || x->isValue() || x->rank() == 0 || !x->view().hasLayout())
    Py_RETURN_NOTIMPLEMENTED;
  if (x->view().isContiguous())
    return Py_NewRef(args[0]);
  return guarded([&] {
    PlainScope scope;
    PyObject *made = Trace::active() ? nullptr : directCopy(*x, x->shape());
    return made ? made : Py_NewRef(Py_NotImplemented);
  });
}

/// copy(x) of row-major memory.
PyObject *copy(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return guarded([&]() -> PyObject * {
    const Array *x = count == 1 && !names ? asPlainArray(args[0]) : nullptr;
    if (!x || x->rank() == 0)
      Py_RETURN_NOTIMPLEMENTED;
    PlainScope scope;
    if (!x->view().isContiguous()) {
      PyObject *made = directCast(*x, x->dtype());
      return made ? made : Py_NewRef(Py_NotImplemented);
    }
    PyObject *made = directCopy(*x, x->shape());
    return made ? made : wrap(copyOf(*x, ops::copy(*x)));
  });
}

/// zeros_like(x) or, where `self` is 1, ones_like(x), which lie as `x` does.
PyObject *filledLike(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return guarded([&]() -> PyObject * {
    const Array *x = count == 1 && !names ? asPlainArray(args[0]) : nullptr;
    if (!x || x->rank() == 0 ||
        std::ranges::find(x->view().strides(), 0) != x->view().strides().end()) // in any order
      Py_RETURN_NOTIMPLEMENTED;
    PlainScope scope;
    const op::Scalar value = op::Scalar::ofInt(PyLong_AsLong(self));
    const Operand like[] = {*x};
    const AxisList order = ops::keptOrder(x->shape(), like);
    Shape shape = x->shape();
    for (size_t i = 0; i < order.size(); ++i)
      shape[i] = x->shape()[static_cast<size_t>(order[i])];
    if (auto bits = order.size() == 0 ? ops::operandBits(Operand(value), x->dtype()) : std::nullopt)
      if (PyObject *made = directFull(shape, *bits, x->dtype(), x->device()))
        return made;
    return wrap(ops::turnedBack(unwrap(ops::full(shape, value, x->dtype(), &x->device())), order));
  });
}

/// size(x)
PyObject *size(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  const Array *x = count == 1 && !names ? asPlainArray(args[0]) : nullptr;
  if (!x)
    Py_RETURN_NOTIMPLEMENTED;
  return PyLong_FromLongLong(x->size());
}

/// putmask(x, mask, values) or, where `IsPlace`, place(x, mask, values). A number is x[mask] =
/// number, which counts nothing; values that are computed are written at once.
template <bool IsPlace>
PyObject *putMasked(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return guarded([&]() -> PyObject * {
    const bool isPlain = count == 3 && !names && Py_TYPE(args[0]) == Py_TYPE(args[1]);
    const Array *x = isPlain ? asPlainArray(args[0]) : nullptr;
    const Array *mask = x ? asPlainArray(args[1]) : nullptr;
    if (!mask || x->isValue() || x->rank() == 0 || mask->dtype() != DType::Bool ||
        !(x->shape() == mask->shape()) || Trace::active())
      Py_RETURN_NOTIMPLEMENTED;
    if (const Array *values = asPlainArray(args[2])) {
      PlainScope scope;
      Array target = *x;
      if (values->rank() == 0 || !(IsPlace ? ops::repeatMasked(target, *mask, *values)
                                           : ops::chooseMasked(target, *mask, *values)))
        Py_RETURN_NOTIMPLEMENTED;
      Py_RETURN_NONE;
    }
    const bool isReal = PyFloat_CheckExact(args[2]) && isFloat(x->dtype());
    if (!isReal && !smallInteger(args[2]))
      Py_RETURN_NOTIMPLEMENTED;
    if (PyObject_SetItem(args[0], args[1], args[2]) < 0)
      throw pb::error_already_set();
    Py_RETURN_NONE;
  });
}

/// copyto(x, values, where=mask) of arrays of one shape, or of a number, as putmask().
PyObject *copyWhere(PyObject *const *args) {
  const Array *y = asPlainArray(args[1]);
  const Array *x = y ? asPlainArray(args[0]) : nullptr;
  if (y && (!x || y->dtype() != x->dtype() || !(y->shape() == x->shape()) ||
            (y->sharesStorage(*x) && !y->known())))
    Py_RETURN_NOTIMPLEMENTED;
  PyObject *const given[] = {args[0], args[2], args[1]};
  return putMasked<false>(nullptr, given, 3, nullptr);
}

/// copyto(x, y) of arrays of one dtype.
PyObject *copyTo(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  if (count == 2 && names && PyTuple_GET_SIZE(names) == 1 &&
      PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "where") == 0)
    return guarded([&] { return copyWhere(args); });
  return guarded([&]() -> PyObject * {
    Array *x = count == 2 && !names ? asAnyArray(args[0]) : nullptr;
    const Array *y = x && !x->isOpen() && !x->isValue() ? asPlainArray(args[1]) : nullptr;
    if (!y || y->dtype() != x->dtype() || &y->device() != &x->device() || x->view().isReadOnly())
      Py_RETURN_NOTIMPLEMENTED;
    IndexItem all;
    if (directAssign(*x, {&all, 1}, args[1]))
      Py_RETURN_NONE;
    check(ops::setItem(*x, {&all, 1}, *y));
    tellAtOnce(*x);
    Py_RETURN_NONE;
  });
}

/// array_equal(x, y) of arrays of one dtype that are computed or small.
PyObject *arrayEqual(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return guarded([&]() -> PyObject * {
    PlainScope scope;
    const Array *x = count == 2 && !names ? asPlainArray(args[0]) : nullptr;
    const Array *y = x && x->rank() > 0 ? asPlainArray(args[1]) : nullptr;
    if (!y || y->dtype() != x->dtype() || &y->device() != &x->device() || Trace::active())
      Py_RETURN_NOTIMPLEMENTED;
    if (!(x->shape() == y->shape()))
      Py_RETURN_FALSE;
    const Operand both[] = {*x, *y};
    const Array equal = unwrap(ops::elementwise(OpKind::Equal, both));
    Array all = unwrap(ops::reduce(op::ReduceKind::All, equal, std::nullopt, false, std::nullopt));
    if (const KnownValue *known = all.known())
      return PyBool_FromLong(known->bits != 0);
    return toTruth(all).release().ptr();
  });
}

/// put(x, places, values) of vectors: x[places] = values of as many values, or of a number.
PyObject *put(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return guarded([&]() -> PyObject * {
    const bool isPlain = count == 3 && !names && !Trace::active();
    const Array *x = isPlain ? asPlainArray(args[0]) : nullptr;
    const Array *places = x ? asPlainArray(args[1]) : nullptr;
    if (!places || x->isValue() || x->rank() != 1 || x->size() == 0 || places->rank() != 1 ||
        places->size() == 0 || places->dtype() != DType::Int64)
      Py_RETURN_NOTIMPLEMENTED;
    const Array *values = asPlainArray(args[2]);
    const bool isReal = PyFloat_CheckExact(args[2]) && isFloat(x->dtype());
    if (values ? !(values->shape() == places->shape()) || values->dtype() != x->dtype()
               : !isReal && !smallInteger(args[2]))
      Py_RETURN_NOTIMPLEMENTED;
    if (PyObject_SetItem(args[0], args[1], args[2]) < 0)
      throw pb::error_already_set();
    Py_RETURN_NONE;
  });
}

PyMethodDef functions[] = {
    quick("plain_take", take),
    quick("plain_put", put),
    quick("plain_putmask", putMasked<false>),
    quick("plain_place", putMasked<true>),
    {"are_inside", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(areInside)),
     METH_FASTCALL, "are_inside(places, low, high): whether that is known of integers"},
    quick("plain_compress", compress),
    quick("plain_repeat", repeat),
    quick("plain_flatnonzero", flatNonzero),
    quick("plain_nonzero", nonzero),
    quick("plain_count_nonzero", countNonzero),
    quick("plain_clip", clip),
    quick("plain_swapaxes", swapAxes),
    quick("plain_ascontiguousarray", contiguous),
    quick("plain_copy", copy),
    quick("plain_outer", outer),
    quick("plain_size", size),
    quick("plain_unique", unique),
    quick("plain_choose", choose),
    quick("plain_searchsorted", searched),
    quick("plain_copyto", copyTo),
    quick("plain_array_equal", arrayEqual),
    {nullptr, nullptr, 0, nullptr}};

PyMethodDef sortMethod = quick("sort", sorted), partMethod = quick("part", part),
            cumulateMethod = quick("cumsum", cumulate), atLeastMethod = quick("atleast", atLeast),
            whereMethod = quick("where", where), likeMethod = quick("like", filledLike);

/// A function under a name of the module, with something of its own to look at.
void add(pb::module_ &m, const char *name, PyMethodDef &method, const pb::object &self) {
  auto made = pb::reinterpret_steal<pb::object>(PyCFunction_New(&method, self.ptr()));
  if (!made)
    throw pb::error_already_set();
  m.attr(name) = made;
}

} // namespace

void definePlainMovement(pb::module_ &m) {
  if (PyModule_AddFunctions(m.ptr(), functions) < 0)
    throw pb::error_already_set();
  add(m, "plain_where", whereMethod, pb::module_::import("numpy").attr("ndarray").attr("nonzero"));
  add(m, "plain_sort", sortMethod, pb::bool_(false));
  add(m, "plain_argsort", sortMethod, pb::bool_(true));
  add(m, "plain_partition", partMethod, pb::bool_(false));
  add(m, "plain_argpartition", partMethod, pb::bool_(true));
  add(m, "plain_cumsum", cumulateMethod, pb::bool_(false));
  add(m, "plain_cumprod", cumulateMethod, pb::bool_(true));
  add(m, "plain_zeros_like", likeMethod, pb::int_(0));
  add(m, "plain_ones_like", likeMethod, pb::int_(1));
  add(m, "plain_atleast_1d", atLeastMethod, pb::int_(1));
  add(m, "plain_atleast_2d", atLeastMethod, pb::int_(2));
}

} // namespace graphc::py
