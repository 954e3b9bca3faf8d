// x[key], x[key] = value, iteration and Python's conversions as type slots. Single elements and
// values that are known need no program, and pybind11's dispatcher costs more than they do.
#include "frontends/python/bindings/ArrayKeys.h"
#include "frontends/python/bindings/Assigned.h"
#include "frontends/python/bindings/Bindings.h"
#include "frontends/python/bindings/Direct.h"
#include "frontends/python/bindings/Discarded.h"
#include "frontends/python/bindings/ScalarErrors.h"
#include "frontends/record/HostMath.h"
#include "frontends/record/Known.h"
#include "frontends/record/SmallElements.h"
#include "frontends/record/Trace.h"
#include "runtime/base/Strings.h"

#include <array>
#include <bit>
#include <limits>
#include <new>

namespace graphc::py {
namespace {

using strings::format;

constexpr size_t kMostAxes = 8;

const KnownValue *knownOf(PyObject *object) {
  if (const KnownValue *known = knownScalar(object))
    return known;
  const Array *x = asAnyArray(object);
  return x ? x->known() : nullptr;
}

/// The value of one of NumPy's integers; false for other objects and where it has no place here,
/// which the general way says.
bool isPlainIndex(PyObject *object, int64_t &value) {
  if (!isNumpyInteger(object))
    return false;
  value = PyNumber_AsSsize_t(object, PyExc_IndexError);
  if (value != -1 || !PyErr_Occurred())
    return true;
  PyErr_Clear();
  return false;
}

/// One plain integer an axis, inside the shape.
struct Place {
  std::array<int64_t, kMostAxes> index;
  size_t count = 0;

  bool add(PyObject *object, const Shape &shape) {
    int64_t at = 0, size = shape[count];
    if (PyLong_CheckExact(object)) {
      int overflow = 0;
      at = PyLong_AsLongLongAndOverflow(object, &overflow);
      if (overflow)
        return false;
    } else if (const KnownValue *known = knownOf(object)) {
      if (!isInteger(known->dtype))
        return false;
      at = static_cast<int64_t>(known->bits);
      if (at < 0 && isUnsigned(known->dtype))
        return false;
    } else if (!isPlainIndex(object, at)) {
      return false;
    }
    if (at < 0)
      at += size;
    if (at < 0 || at >= size)
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

/// False where the general way says what is wrong.
bool setSlice(IndexItem &item, PyObject *object) {
  Py_ssize_t start, stop, step;
  if (PySlice_Unpack(object, &start, &stop, &step) < 0) {
    PyErr_Clear();
    return false;
  }
  item.kind = IndexItem::Kind::Slice;
  item.start = start;
  item.stop = stop;
  item.step = step;
  return true;
}

/// Integers, slices, `...` and None: what shows a part of an array.
class BasicKey {
public:
  /// False for other keys, and for those that name one element or have something wrong.
  bool set(PyObject *key, int64_t rank) {
    if (!PyTuple_CheckExact(key))
      return add(key) && (integers < rank);
    Py_ssize_t size = PyTuple_GET_SIZE(key);
    for (Py_ssize_t i = 0; i < size; ++i)
      if (!add(PyTuple_GET_ITEM(key, i)))
        return false;
    return integers < rank || integers < size;
  }
  std::span<const IndexItem> items() const {
    return {std::launder(reinterpret_cast<const IndexItem *>(list)), count};
  }

private:
  bool add(PyObject *object) {
    if (count == kMostAxes)
      return false;
    IndexItem &item = *new (list + count++ * sizeof(IndexItem)) IndexItem();
    if (PyLong_CheckExact(object)) {
      int overflow = 0;
      item.kind = IndexItem::Kind::Integer;
      item.integer = PyLong_AsLongLongAndOverflow(object, &overflow);
      ++integers;
      return !overflow;
    }
    if (PySlice_Check(object))
      return setSlice(item, object);
    if (const KnownValue *known = knownOf(object)) {
      item.kind = IndexItem::Kind::Integer;
      item.integer = static_cast<int64_t>(known->bits);
      ++integers;
      return isInteger(known->dtype) && (item.integer >= 0 || isSigned(known->dtype));
    }
    if (isPlainIndex(object, item.integer)) {
      item.kind = IndexItem::Kind::Integer;
      ++integers;
      return true;
    }
    item.kind = object == Py_None ? IndexItem::Kind::NewAxis : IndexItem::Kind::Ellipsis;
    return object == Py_None || object == Py_Ellipsis;
  }

  /// Most keys have an item or two: the others are never made.
  alignas(IndexItem) std::byte list[kMostAxes * sizeof(IndexItem)];
  size_t count = 0;
  int64_t integers = 0;
};

/// The element as an object, or null: also when x was computed just now.
PyObject *element(const Array &x, std::span<const int64_t> index) {
  const auto known = elementNow(x, index);
  return known ? wrapKnown(*known) : complexValue(x, index);
}

/// Whether what an array holds is at hand, so that indices that are wrong are found now.
bool isAtHand(const Array &x) {
  return !x.isOpen() && !x.isValue() && x.storage()->current()->state() == NodeState::Ready;
}

/// x[i, array, :n], x[array, i, j] and x[:, array]: an array of one axis, or a list of integers,
/// among integers and slices names rows of a part of x.
struct PartKey {
  std::optional<Array> part;
  pb::object rows;
  int64_t position = 0; ///< of the rows' axis in the part and in the result

  PartKey(const Array &x, PyObject *key) {
    if (!PyTuple_CheckExact(key) || PyTuple_GET_SIZE(key) > x.rank() || x.isValue() ||
        Trace::active())
      return;
    std::array<IndexItem, kMostAxes> items;
    const auto size = static_cast<size_t>(PyTuple_GET_SIZE(key));
    if (size < 2 || size > items.size())
      return;
    bool hasIntegers = false;
    for (size_t i = 0; i < size; ++i) {
      PyObject *object = PyTuple_GET_ITEM(key, static_cast<Py_ssize_t>(i));
      if (PySlice_Check(object)) {
        if (!setSlice(items[i], object))
          return;
        position += !rows;
        continue;
      }
      if (isRows(x, object, x.shape()[i])) {
        setWhole(items[i]);
        continue;
      }
      const int64_t lengths[] = {x.shape()[i]};
      Place place; // of this axis alone
      if (!place.add(object, Shape(std::span<const int64_t>(lengths))))
        return;
      hasIntegers = true;
      items[i].kind = IndexItem::Kind::Integer;
      items[i].integer = place.index[0];
    }
    // Integers are arrays here, too: beside slices they may put the axis of the rows first.
    if (!rows || (hasIntegers && position > 0))
      return;
    part = x.withView(unwrap(x.view().index({items.data(), size})));
  }

  /// x[key], or a null array where it has to be recorded.
  Array take() const {
    return unwrap(ops::takeRowsNow(*part, *asAnyArray(rows), static_cast<size_t>(position)));
  }

private:
  static void setWhole(IndexItem &item) {
    item.kind = IndexItem::Kind::Slice;
    item.start = 0;
    item.stop = std::numeric_limits<int64_t>::max();
    item.step = 1;
  }
  /// Whether an item names rows of an axis; the first one is kept.
  bool isRows(const Array &x, PyObject *object, int64_t length) {
    if (rows)
      return false;
    const Array *array = asAnyArray(object);
    if (Array list = array ? Array() : listIndex(object, x.device()); !list.isNull())
      return bool(rows = wrapped(std::move(list)));
    if (!array || array->rank() != 1 || !isAtHand(*array) ||
        !(array->dtype() == DType::Bool ? array->shape()[0] == length : isInteger(array->dtype())))
      return false;
    rows = pb::reinterpret_borrow<pb::object>(object);
    return true;
  }
};

/// x[key] of a small array, or null where it has to be recorded.
PyObject *partNow(const Array &x, PyObject *key) {
  if (const Array *index = asPlainArray(key); index && index->rank() > 0) {
    if (PyObject *rows = directRows(x, *index))
      return rows;
    Array taken = unwrap(ops::takeRowsNow(x, *index));
    if (!taken.isNull())
      return wrap(std::move(taken));
  }
  Place place;
  if (!PySlice_Check(key) && place.set(key, x.shape()))
    if (PyObject *value = element(x, place.span()))
      return value;
  if (BasicKey basic; !x.isValue() && basic.set(key, x.rank()))
    return wrapPart(x, basic.items());
  Array taken;
  if (FlatMask all(x, key); all.flat)
    taken = unwrap(ops::takeRowsNow(*all.flat, *all.mask));
  if (taken.isNull() && PyList_CheckExact(key))
    if (Array list = listIndex(key, x.device()); !list.isNull())
      taken = unwrap(ops::takeRowsNow(x, list));
  if (PartKey among(x, key); taken.isNull() && among.part)
    taken = among.take();
  if (PlacesKey named(x, key); taken.isNull() && named.flat)
    taken = unwrap(ops::takeRowsNow(*named.flat, *named.places));
  return taken.isNull() ? nullptr : wrap(std::move(taken));
}

PyObject *get(PyObject *self, PyObject *key) {
  return guarded([&]() -> PyObject * {
    if (const Array &open = *asOpenArray(self); open.isOpen())
      if (const Array *named = asAnyArray(key); named && named->isOpen())
        return wrap(getItem(open, pb::reinterpret_borrow<pb::object>(key)));
    const Array &x = *asArray(self);
    if (PyObject *part = partNow(x, key))
      return part;
    pb::object own = withOwnArrays(key, x.device());
    if (PyObject *part = own ? partNow(x, own.ptr()) : nullptr)
      return part;
    return wrap(getItem(x, own ? own : pb::reinterpret_borrow<pb::object>(key)));
  });
}

/// What iteration asks for, and PySequence_GetItem, which has added the length to `at` already.
PyObject *item(PyObject *self, Py_ssize_t at) {
  return guarded([&]() -> PyObject * {
    const Array &x = *asArray(self);
    if (x.rank() > 0 && (at < 0 || at >= x.shape()[0])) { // the end of every iteration
      PyErr_SetString(PyExc_IndexError, "index is out of bounds");
      return nullptr;
    }
    int64_t index[] = {at};
    if (x.rank() == 1)
      if (PyObject *value = element(x, index))
        return value;
    if (x.rank() > 1) {
      IndexItem row;
      row.kind = IndexItem::Kind::Integer;
      row.integer = at;
      return wrapPart(x, {&row, 1});
    }
    return wrap(getItem(x, pb::int_(at)));
  });
}

PyObject *iterate(PyObject *self) {
  if (asAnyArray(self)->rank() > 0)
    return PySeqIter_New(self);
  return refuseSequence(self, "iteration over a 0-d array", "'%s' object is not iterable");
}

bool isSequence(PyObject *value) {
  const Array *x = asAnyArray(value);
  return x ? x->rank() > 0 : PyList_CheckExact(value) || PyTuple_CheckExact(value);
}

/// What `value` is as an element of dtype `t`, when that is known.
std::optional<uint64_t> elementBits(PyObject *value, DType t, rt::Device &device) {
  if (const KnownValue *known = knownOf(value)) {
    if (known->dtype == t)
      return known->bits;
    // Those of other dtypes have to fit signed integers (Assigned.h).
    if (isSigned(t) && known->dtype != DType::Bool)
      return isInRange(known->bits, known->dtype, t)
                 ? hostmath::converted(known->bits, known->dtype, t)
                 : std::nullopt;
  }
  if (auto bits = scalarBits(value, t))
    return bits;
  if (PyFloat_Check(value) && isInteger(t)) // without its fraction
    return hostmath::converted(std::bit_cast<uint64_t>(PyFloat_AS_DOUBLE(value)), DType::Float64,
                               t);
  if (auto own = isSigned(t) ? numpyScalarDType(value) : std::nullopt;
      own && op::promoteTypes(*own, t) != t)
    return std::nullopt;
  if (!asAnyArray(value) && !PyFloat_CheckExact(value) && !PyLong_CheckExact(value) &&
      !PyBool_Check(value) && !numpyScalarDType(value))
    return std::nullopt;
  Converted v;
  return convertOperand(value, v, &device) ? ops::operandBits(*v.operand, t) : std::nullopt;
}

/// What a key that names no single element stands for.
Target targetOf(const Array &x, PyObject *key, bool isBasic) {
  if (x.rank() == 0 && PyTuple_CheckExact(key) && PyTuple_GET_SIZE(key) == 0)
    return Target::Element;
  return isBasic || key == Py_Ellipsis ? Target::Part : Target::Chosen;
}

/// False, with nothing done, where something is wrong: the general way says so, naming the axis.
bool isSetByRows(PartKey &among, PyObject *value) {
  try {
    setItem(*among.part, among.rows, pb::reinterpret_borrow<pb::object>(value));
    return true;
  } catch (const std::exception &) {
    PyErr_Clear();
    return false;
  }
}

/// x[rows] = value of one array; true, or an error is thrown.
bool isPut(Array &x, const Array &rows, Operand &value) {
  discardImaginary(value, x.dtype());
  ops::KeyItem key;
  key.array = rows;
  check(ops::put(x, {&key, 1}, value, std::nullopt));
  tellAtOnce(x);
  return true;
}

/// x[key] = value of a view in which elements are one in memory: what NumPy writes there last
/// stays, and is seen through all of them.
bool isPutWhereElementsAreOne(const Array &x, PyObject *self, PyObject *key, PyObject *value) {
  if (x.isValue() || Trace::active() || !x.view().hasLayout() || x.view().isReadOnly() ||
      areDistinct(x.view()))
    return false;
  pb::object memory = pb::handle(self).attr("_lent")();
  if (PyObject_SetItem(memory.ptr(), key, value) < 0)
    throw pb::error_already_set();
  return true;
}

/// x[array] = value in a loop, of x's dtype or a number that it holds as it is.
bool isPutNow(Array &x, PyObject *key, PyObject *value) {
  const Array *index = asPlainArray(key);
  if (!index || index->rank() == 0 || &index->device() != &x.device() || Trace::active())
    return false;
  const Array *given = asPlainArray(value);
  const bool isNumber =
      PyFloat_CheckExact(value) || PyLong_CheckExact(value) || PyBool_Check(value);
  if (given ? given->dtype() != x.dtype() || &given->device() != &x.device()
            : !isNumber || !scalarBits(value, x.dtype()))
    return false;
  return unwrap(ops::putRowsNow(x, *index, given ? Operand(*given) : Operand(toScalar(value))));
}

/// What None is as an element: NumPy's floating-point and complex dtypes hold a NaN for it.
PyObject *numberForNone(DType t) {
  static PyObject *const real = PyFloat_FromDouble(Py_NAN);
  static PyObject *const complex = PyComplex_FromDoubles(Py_NAN, Py_NAN);
  if (isComplex(t))
    return complex;
  const bool isNumpys = t == DType::Float16 || t == DType::Float32 || t == DType::Float64;
  return isNumpys ? real : Py_None;
}

/// Whether no element can be written, or deleted; the error is set.
bool refusesItems(PyObject *self, PyObject *value) {
  const bool isValue = asAnyArray(self)->isValue();
  if (isValue)
    refuseSequence(self, "a single result does not support item assignment",
                   "'%s' object does not support item assignment");
  else if (!value)
    PyErr_SetString(PyExc_ValueError, "cannot delete array elements");
  return isValue || !value;
}

int set(PyObject *self, PyObject *key, PyObject *value) {
  if (refusesItems(self, value))
    return -1;
  PyObject *ok = guarded([&]() -> PyObject * {
    Array &x = *asArray(self);
    if (value == Py_None)
      value = numberForNone(x.dtype());
    Place place;
    const bool isElement = place.set(key, x.shape());
    if (isElement && isComplex(x.dtype()) && writeComplex(x, place.span(), value))
      return self;
    if (isElement && !isComplex(x.dtype()) && !isSequence(value))
      if (auto bits = elementBits(value, x.dtype(), x.device()))
        if (unwrap(ops::writeElement(x, place.span(), *bits)))
          return self;
    BasicKey basic;
    const bool isBasic = basic.set(key, x.rank());
    if (!isBasic && !isElement)
      refuseRows(value, x, key);
    if (isBasic ? directAssign(x, basic.items(), value) || isPutFromList(x, basic.items(), value)
                : directPut(x, key, value) || isPutNow(x, key, value) ||
                      (!isElement && isPutAtLists(x, key, value)))
      return self;
    if (isBasic && !isElement)
      refuseDeeper(value, x, basic.items());
    const pb::object own = isBasic ? pb::object() : withOwnArrays(key, x.device());
    if (own && (directPut(x, own.ptr(), value) || isPutNow(x, own.ptr(), value)))
      return self;
    if (!isBasic && isPutWhereElementsAreOne(x, self, key, value))
      return self;
    if (x.rank() == 0 && key == Py_Ellipsis && isSequence(value) && !asAnyArray(value))
      throw pb::value_error("setting an array element with a sequence.");
    bool written = false;
    Converted v;
    const pb::object held =
        assigned(pb::reinterpret_borrow<pb::object>(value), x.dtype(), x.device(),
                 isElement ? Target::Element : targetOf(x, key, isBasic));
    value = held.ptr();
    if (isBasic && convertOperand(value, v, &x.device())) {
      discardImaginary(*v.operand, x.dtype());
      check(ops::setItem(x, basic.items(), *v.operand));
      tellAtOnce(x);
      written = true;
    }
    if (!written)
      if (FlatMask all(x, key); all.flat && convertOperand(value, v, &x.device()) &&
                                v.operand->array && v.operand->array->rank() == 1) {
        written = isPut(*all.flat, *all.mask, *v.operand);
      }
    if (!written)
      if (PartKey among(x, key); among.part && among.position == 0)
        written = isSetByRows(among, value);
    if (!written)
      if (PlacesKey named(x, key); named.flat && convertOperand(value, v, &x.device())) {
        written = isPut(*named.flat, *named.places, *v.operand);
      }
    if (Array list = !written && PyList_CheckExact(key) ? listIndex(key, x.device()) : Array();
        !list.isNull() && convertOperand(value, v, &x.device())) {
      written = isPut(x, list, *v.operand);
    }
    if (!written)
      setItem(x, own ? own : pb::reinterpret_borrow<pb::object>(key),
              pb::reinterpret_borrow<pb::object>(value));
    return self;
  });
  if (!ok && isForeignError()) { // strings, objects: as NumPy converts them
    PyErr_Clear();
    ok = guarded([&] {
      setItem(*asArray(self), pb::reinterpret_borrow<pb::object>(key),
              pb::reinterpret_borrow<pb::object>(value));
      return self;
    });
  }
  return ok ? 0 : -1;
}

/// PySequence_SetItem, for which `at` is as in item().
int setItemAt(PyObject *self, Py_ssize_t at, PyObject *value) {
  if (at < 0) {
    PyErr_SetString(PyExc_IndexError, "index is out of bounds");
    return -1;
  }
  pb::object key = pb::reinterpret_steal<pb::object>(PyLong_FromSsize_t(at));
  return key ? set(self, key.ptr(), value) : -1;
}

/// PySequence_Concat, which adds two sequences where this is missing, and `+`, of whose operands
/// none took the other.
PyObject *refuseConcat(PyObject *self, PyObject *other) {
  PyErr_Format(PyExc_TypeError,
               "unsupported operand type(s) for +: '%s' and '%s' (concatenate() joins arrays)",
               Py_TYPE(self)->tp_name, Py_TYPE(other)->tp_name);
  return nullptr;
}

/// The value of a 0-d array that needs no program.
std::optional<KnownValue> valueOf(PyObject *self) {
  const Array &x = *asArray(self);
  if (const KnownValue *known = x.known())
    return *known;
  if (x.rank() != 0)
    return std::nullopt;
  auto bits = knownBits(*unwrap(x.value()));
  return bits ? std::optional(KnownValue{*bits, x.dtype(), &x.device()}) : std::nullopt;
}

int truth(PyObject *self) {
  int answer = -1;
  if (const KnownValue *known = knownOf(self); known && known->dtype == DType::Bool)
    return known->bits != 0;
  guarded([&]() -> PyObject * {
    auto value = valueOf(self);
    if (value && isFloat(value->dtype)) // the sign of a zero is no value
      answer = value->bits << (64 - 8 * itemSize(value->dtype)) << 1 != 0;
    else if (value)
      answer = value->bits != 0;
    else
      answer = PyObject_IsTrue(toTruth(*asArray(self)).ptr());
    return self;
  });
  return answer;
}

/// The value as a Python number; computed when it has to be.
pb::object number(PyObject *self, std::string_view reason) {
  auto value = valueOf(self);
  return value ? scalarObject(&value->bits, value->dtype) : toItem(*asArray(self), reason);
}

/// The same without an imaginary part, where NumPy has a scalar, which drops it with a warning.
pb::object realNumber(PyObject *self, std::string_view reason) {
  const Array &x = *asArray(self);
  if (x.rank() > 0)
    throw pb::type_error(
        format("only 0-dimensional arrays can be converted to Python scalars, not one "
               "of shape {}",
               op::compactShape(x.shape())));
  pb::object value = number(self, reason);
  if (!x.isValue() || !PyComplex_CheckExact(value.ptr()))
    return value;
  warnOfDiscarded(x.dtype(), DType::Float64);
  return pb::float_(PyComplex_RealAsDouble(value.ptr()));
}

PyObject *real(PyObject *self) {
  return guarded([&] { return PyNumber_Float(realNumber(self, "float").ptr()); });
}

PyObject *integer(PyObject *self) {
  return guarded([&] { return PyNumber_Long(realNumber(self, "int").ptr()); });
}

PyObject *index(PyObject *self) {
  return guarded([&] {
    const Array &x = *asArray(self);
    if (!isInteger(x.dtype()) || x.rank() != 0)
      throw pb::type_error("only integer scalar arrays can be converted to a scalar index");
    return number(self, "int").release().ptr();
  });
}

/// That of the number: single results are keys of dicts and members of sets, as NumPy's scalars.
Py_hash_t hashOf(PyObject *self) {
  Py_hash_t hash = -1;
  if (const KnownValue *known = knownOf(self); known && known->dtype == DType::Int64) {
    constexpr int64_t kModulus =
        (int64_t{1} << 61) - 1; // of Python's hashes, from which on they wrap
    const auto value = static_cast<int64_t>(known->bits);
    if (value > -kModulus && value < kModulus)
      return value == -1 ? -2 : value;
  }
  guarded([&]() -> PyObject * {
    if (!asArray(self)->isValue())
      throw pb::type_error("unhashable type: 'graphc.ndarray'");
    hash = PyObject_Hash(number(self, "item").ptr());
    if (hash == -1)
      throw pb::error_already_set();
    return self;
  });
  return hash;
}

Py_ssize_t length(PyObject *self) {
  Py_ssize_t rows = -1;
  guarded([&]() -> PyObject * {
    const Array &x = *asArray(self);
    if (x.rank() > 0)
      rows = x.shape()[0];
    else
      refuseSequence(self, "len() of unsized object", "object of type '%s' has no len()");
    return nullptr;
  });
  return rows;
}

/// Powers that are other operations (ops::power).
std::optional<KnownValue> foldPower(const KnownValue &x, PyObject *exponent) {
  bool isWhole = PyLong_CheckExact(exponent);
  bool isReal = x.dtype == DType::Float64 || x.dtype == DType::Float32;
  auto bits =
      isWhole || PyFloat_CheckExact(exponent) ? scalarBits(exponent, DType::Float64) : std::nullopt;
  if (!bits || !(isReal || (isWhole && isInteger(x.dtype))))
    return std::nullopt;
  auto e = std::bit_cast<double>(*bits);
  if (e == 1)
    return x;
  if (e == 2)
    return ops::foldValues(op::OpKind::Mul, x, x.bits);
  if (isReal && e == 0.5)
    return ops::foldValues(op::OpKind::Sqrt, x, 0);
  if (!isReal || e != -1)
    return std::nullopt;
  KnownValue one = x;
  one.bits = x.dtype == DType::Float64 ? std::bit_cast<uint64_t>(1.0)
                                       : uint64_t{std::bit_cast<uint32_t>(1.0F)};
  return ops::foldValues(op::OpKind::Div, one, x.bits);
}

} // namespace

std::optional<KnownValue> elementNow(const Array &x, std::span<const int64_t> index) {
  auto known = ops::readElement(x, index);
  if (!known && ops::isWalkedOver(x)) {
    Array whole = Array::ofStorage(x.storage());
    Array *arrays[] = {&whole};
    evaluateNow(arrays, "item");
    known = ops::readElement(x, index);
  }
  if (!known && unwrap(ops::bringHome(x)))
    known = ops::readElement(x, index);
  return known;
}

Array listIndex(PyObject *key, rt::Device &device) {
  constexpr Py_ssize_t kFew = 64;
  if (!PyList_CheckExact(key) || PyList_GET_SIZE(key) == 0 || PyList_GET_SIZE(key) > kFew ||
      Trace::active())
    return Array();
  for (Py_ssize_t i = 0, size = PyList_GET_SIZE(key); i < size; ++i)
    if (PyObject *item = PyList_GET_ITEM(key, i); !PyLong_CheckExact(item)) {
      const KnownValue *known = knownOf(item);
      if (!known || !isInteger(known->dtype) || !isSigned(known->dtype))
        return Array();
    }
  return packSequence(key, device, true);
}

/// The result of foldValues(), with what is to be said of integers that overflow, or null.
static PyObject *folded(op::OpKind kind, const KnownValue &x, uint64_t bits) {
  bool wraps = false;
  const auto result = ops::foldValues(kind, x, bits, &wraps);
  if (wraps)
    tellOverflow(kind);
  return result ? wrapKnown(*result) : nullptr;
}

/// Values and numbers of different dtypes, converted to the one that the operation has for both;
/// null where integers would be compared as floats, which need not be equal to them.
static PyObject *operationOnMixed(op::OpKind kind, PyObject *left, PyObject *right) {
  std::array<op::OperandType, 2> types;
  rt::Device *device = nullptr;
  for (auto [object, type] : {std::pair(left, &types[0]), std::pair(right, &types[1])}) {
    if (const KnownValue *known = knownOf(object)) {
      if (device && device != known->device)
        return nullptr;
      device = known->device;
      *type = {known->dtype, op::Weak::None};
    } else if (PyFloat_CheckExact(object)) {
      *type = {DType::Float64, op::Weak::Float};
    } else if (PyLong_CheckExact(object)) {
      *type = {DType::Int64, op::Weak::Int};
    } else if (auto own = numpyScalarDType(object)) {
      *type = {*own, op::Weak::None};
    } else {
      return nullptr;
    }
  }
  auto common = op::promoteOperands(kind, types);
  bool areIntegers = !isInexact(types[0].dtype) && !isInexact(types[1].dtype);
  if (!common || isComplex(*common) || *common == DType::Bool ||
      (hostmath::isComparison(kind) && areIntegers && isInexact(*common)))
    return nullptr;
  std::array<uint64_t, 2> bits{};
  for (size_t i = 0; i < bits.size(); ++i) {
    PyObject *object = i ? right : left;
    const KnownValue *known = knownOf(object);
    auto own = known                             ? std::optional(known->bits)
               : types[i].weak == op::Weak::None ? numpyScalarBits(object, types[i].dtype)
                                                 : std::nullopt;
    auto made =
        own ? hostmath::converted(*own, types[i].dtype, *common) : scalarBits(object, *common);
    if (!made)
      return nullptr;
    bits[i] = *made;
  }
  return folded(kind, {bits[0], *common, device}, bits[1]);
}

/// Whether an operand is an integer, which has one power in every order of products.
static bool isWholeNumber(PyObject *object, const KnownValue *known) {
  return known ? isInteger(known->dtype) : PyLong_CheckExact(object) != 0;
}

PyObject *operationOnValues(op::OpKind kind, PyObject *left, PyObject *right) {
  const KnownValue *a = knownOf(left), *b = knownOf(right);
  if ((!a && !b) || Trace::active())
    return nullptr;
  if (!(a && b) && asAnyArray(a ? right : left))
    return nullptr;
  if (kind == op::OpKind::Pow) {
    if (auto power = a && !b ? foldPower(*a, right) : std::nullopt)
      return wrapKnown(*power);
    if (!isWholeNumber(left, a) || !isWholeNumber(right, b))
      return nullptr;
  }
  KnownValue x, y;
  if (a && b) {
    if (a->dtype != b->dtype || a->device != b->device)
      return operationOnMixed(kind, left, right);
    x = *a;
    y = *b;
  } else {
    x = y = a ? *a : *b;
    auto bits = scalarBits(a ? right : left, x.dtype);
    if (!bits)
      return operationOnMixed(kind, left, right);
    (a ? y : x).bits = *bits;
  }
  PyObject *result = folded(kind, x, y.bits);
  return result ? result : operationOnMixed(kind, left, right);
}

PyObject *operationOnValue(op::OpKind kind, PyObject *operand) {
  const KnownValue *x = knownOf(operand);
  if (!x || Trace::active())
    return nullptr;
  return folded(kind, *x, 0);
}

void setupElements(PyHeapTypeObject *type) {
  type->as_mapping.mp_length = length;
  type->as_mapping.mp_subscript = get;
  type->as_mapping.mp_ass_subscript = set;
  type->as_sequence.sq_length = length;
  type->as_sequence.sq_item = item;
  type->as_sequence.sq_ass_item = setItemAt;
  type->as_sequence.sq_concat = refuseConcat;
  type->ht_type.tp_iter = iterate;
  type->ht_type.tp_hash = hashOf;
  type->as_number.nb_bool = truth;
  type->as_number.nb_float = real;
  type->as_number.nb_int = integer;
  type->as_number.nb_index = index;
}

} // namespace graphc::py
