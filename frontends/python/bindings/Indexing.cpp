// x[key], x[key] = value, and what else names elements by arrays.
#include "frontends/python/bindings/Bindings.h"
#include "frontends/python/bindings/Discarded.h"
#include "frontends/record/OpenSize.h"
#include "frontends/record/Session.h"
#include "frontends/record/Trace.h"
#include "runtime/base/Strings.h"

#include <pybind11/numpy.h>

#include <algorithm>

namespace graphc::py {
namespace {

using ops::KeyItem;
using strings::format;

KeyItem integerItem(pb::handle object) {
  Py_ssize_t v = PyNumber_AsSsize_t(object.ptr(), PyExc_IndexError);
  if (v == -1 && PyErr_Occurred())
    throw pb::error_already_set();
  KeyItem item;
  item.basic.kind = IndexItem::Kind::Integer;
  item.basic.integer = v;
  return item;
}

KeyItem sliceItem(pb::handle object) {
  Py_ssize_t start, stop, step;
  if (PySlice_Unpack(object.ptr(), &start, &stop, &step) < 0)
    throw pb::error_already_set();
  KeyItem item;
  item.basic.kind = IndexItem::Kind::Slice;
  item.basic.start = start;
  item.basic.stop = stop;
  item.basic.step = step;
  return item;
}

KeyItem arrayItem(Array array, bool emptyList) {
  KeyItem item;
  if (emptyList && array.size() == 0)
    array = unwrap(ops::cast(array, DType::Int64));
  if (array.dtype() == DType::Bool && array.rank() == 0)
    item.flag = toItem(array, "mask").cast<bool>();
  else
    item.array = std::move(array);
  return item;
}

/// A 0-d array of integers whose value is known is an integer; one that is pending stays lazy.
KeyItem ofArray(const Array &array, pb::handle object) {
  bool known = array.rank() == 0 && isInteger(array.dtype()) &&
               (array.known() || unwrap(array.value())->state() == NodeState::Ready);
  return known ? integerItem(object) : arrayItem(array, false);
}

[[noreturn]] void raiseIndexType(pb::handle object) {
  raise(Status(ErrorCode::Index,
               format("only integers, slices (`:`), ellipsis (`...`), numpy.newaxis (`None`) and "
                      "integer or boolean arrays are valid indices, not {}",
                      Py_TYPE(object.ptr())->tp_name)));
}

KeyItem listItem(pb::handle object, rt::Device *device) {
  if (!Trace::active()) {
    Array packed = packSequence(object.ptr(), device ? *device : *unwrap(currentDevice()), true);
    if (!packed.isNull())
      return arrayItem(std::move(packed), false);
  }
  std::optional<Array> made;
  try {
    made = copyIn(object, std::nullopt, device);
  } catch (pb::error_already_set &e) {
    e.restore();
    if (!isForeignError())
      throw pb::error_already_set();
    PyErr_Clear();
    raiseIndexType(object); // strings, slices and the like in a list
  }
  return arrayItem(std::move(*made), true);
}

/// The values of a subclass, or of another class that makes an array of itself, which NumPy refuses
/// where that is one of ours.
pb::object elementsOf(pb::handle object) {
  pb::object values = pb::reinterpret_borrow<pb::object>(object);
  if (!pb::isinstance<pb::array>(object) && pb::hasattr(object, "__array__"))
    values = object.attr("__array__")();
  return asAnyArray(values) ? values : pb::module_::import("numpy").attr("asarray")(values);
}

/// Places of an open size that were counted for an earlier index.
bool arePlacesMade(const Array &index) {
  return index.isOpen() && isInteger(index.dtype()) && index.open()->recipe()->isMade();
}

KeyItem toKeyItem(pb::handle object, rt::Device *device) {
  KeyItem item;
  PyObject *p = object.ptr();
  if (PyLong_CheckExact(p))
    return integerItem(object);
  if (PySlice_Check(p))
    return sliceItem(object);
  if (p == Py_Ellipsis)
    return item;
  if (object.is_none()) {
    item.basic.kind = IndexItem::Kind::NewAxis;
    return item;
  }
  if (PyBool_Check(p)) {
    item.flag = p == Py_True;
    return item;
  }
  if (Array *array = asOpenArray(object))
    return ofArray(array->rank() == 0 || arePlacesMade(*array) ? *asArray(object) : *array, object);
  if (PyList_Check(p) || PyTuple_Check(p))
    return listItem(object, device);
  if (pb::isinstance<pb::array>(object) || pb::hasattr(object, "dtype")) {
    std::string kind = pb::str(pb::handle(object).attr("dtype").attr("kind"));
    bool scalar = object.attr("ndim").cast<int>() == 0;
    if (scalar && (kind == "i" || kind == "u"))
      return integerItem(object);
    if (kind == "b" || kind == "i" || kind == "u") {
      pb::object plain = elementsOf(object);
      return arrayItem(copyIn(plain, std::nullopt, device), false);
    }
    if (!scalar)
      raise(
          Status(ErrorCode::Index, "arrays used as indices must be of integer (or boolean) type"));
    raiseIndexType(object); // NumPy's floats have an `__index__` too, which refuses
  }
  if (!PyIndex_Check(p) && PySequence_Check(p) && !PyUnicode_Check(p) && !PyBytes_Check(p))
    return arrayItem(
        copyIn(pb::list(pb::reinterpret_borrow<pb::object>(object)), std::nullopt, device), true);
  if (!PyIndex_Check(p) && pb::hasattr(object, "__array__")) {
    return toKeyItem(elementsOf(object), device);
  }
  if (!PyIndex_Check(p))
    raiseIndexType(object);
  return integerItem(object);
}

bool isBasic(std::span<const KeyItem> key) { return std::ranges::all_of(key, &KeyItem::isBasic); }

std::vector<IndexItem> basicItems(std::span<const KeyItem> key) {
  std::vector<IndexItem> items;
  for (const KeyItem &item : key)
    items.push_back(item.basic);
  return items;
}

/// A single integer, computed or not.
bool isInteger1(const KeyItem &item) {
  return item.array ? item.array->rank() == 0 && isInteger(item.array->dtype())
                    : !item.flag && item.basic.kind == IndexItem::Kind::Integer;
}

bool isView(std::span<const KeyItem> key) {
  return std::ranges::all_of(key, [](const KeyItem &i) { return i.isBasic() || isInteger1(i); });
}

/// Where NumPy has a view, the values of computed integers are needed: what is written through it
/// belongs to the array. Integers that are arrays name elements to be copied.
void takeIntegers(std::vector<KeyItem> &key) {
  if (!isView(key) ||
      std::ranges::any_of(key, [](const KeyItem &i) { return i.array && !i.array->isValue(); }))
    return;
  for (KeyItem &item : key)
    if (item.array)
      item = integerItem(toItem(*item.array, "index"));
}

/// Whether one of the items is a 0-d array, of which NumPy makes a copy and no view.
bool namesByArray(pb::handle key) {
  auto isArray0 = [](PyObject *item) {
    const Array *array = asOpenArray(item);
    return array ? array->rank() == 0 && !array->isValue() && isInteger(array->dtype())
                 : pb::isinstance<pb::array>(item);
  };
  if (!PyTuple_Check(key.ptr()))
    return isArray0(key.ptr());
  for (pb::handle item : pb::reinterpret_borrow<pb::tuple>(key))
    if (isArray0(item.ptr()))
      return true;
  return false;
}

/// What is written into `x`: strings, objects and the like as NumPy converts them.
void convertValue(const Array &x, const pb::object &value, Converted &out) {
  try {
    if (convertOpenOperand(value, out, &x.device()))
      return;
    out.holder = toArray(value);
  } catch (pb::error_already_set &e) {
    e.restore();
    if (!isForeignError())
      throw pb::error_already_set();
    PyErr_Clear();
    pb::object asarray = pb::module_::import("numpy").attr("asarray");
    out.holder = copyIn(asarray(value, numpyDType(x.dtype())), std::nullopt, &x.device());
  }
  out.operand.emplace(*out.holder);
}

void recordItem(Array &x, const pb::object &object, const pb::object &value,
                std::optional<op::OpKind> combine) {
  Converted v;
  convertValue(x, value, v);
  discardImaginary(*v.operand, x.dtype());
  std::vector<KeyItem> key = toKey(object, &x.device());
  std::optional<Array> fixed;
  if (isBasic(key) && v.operand->array && v.operand->array->isOpen()) {
    fixed = unwrap(ops::open::fixed(*v.operand->array));
    v.operand.emplace(*fixed);
  }
  if (isBasic(key) && !combine)
    return check(ops::setItem(x, basicItems(key), *v.operand));
  if (isBasic(key)) {
    Array view = unwrap(ops::index(x, basicItems(key)));
    return check(ops::inPlace(*combine, view, *v.operand));
  }
  check(ops::put(x, key, *v.operand, combine));
}

void putItem(Array &x, const pb::object &object, const pb::object &value,
             std::optional<op::OpKind> combine) {
  recordItem(x, object, value, combine);
  tellAtOnce(x);
}

} // namespace

std::vector<KeyItem> toKey(pb::handle key, rt::Device *device) {
  std::vector<KeyItem> items;
  if (!PyTuple_Check(key.ptr())) {
    items.push_back(toKeyItem(key, device));
    return items;
  }
  for (pb::handle item : pb::reinterpret_borrow<pb::tuple>(key))
    items.push_back(toKeyItem(item, device));
  return items;
}

std::vector<IndexItem> toIndex(pb::handle key) {
  std::vector<KeyItem> items = toKey(key, nullptr);
  for (KeyItem &item : items)
    if (item.array && isInteger1(item))
      item = integerItem(toItem(*item.array, "index"));
  if (!isBasic(items))
    raise(Status(ErrorCode::Index, "an integer for each axis is needed here"));
  return basicItems(items);
}

Array getItem(const Array &x, const pb::object &object) {
  std::vector<KeyItem> key = toKey(object, &x.device());
  if (x.isValue() && std::ranges::any_of(key, [](const KeyItem &item) {
        using Kind = IndexItem::Kind;
        if (!item.isBasic())
          return item.array && (item.array->rank() > 0 || item.array->dtype() != DType::Bool);
        return item.basic.kind == Kind::Integer || item.basic.kind == Kind::Slice;
      }))
    raise(Status(ErrorCode::Index, "invalid index to scalar variable."));
  bool isElement =
      static_cast<int64_t>(key.size()) == x.rank() && std::ranges::all_of(key, isInteger1);
  // In a trace the place is not known, and what would be a view cannot be written to.
  bool isLocked = !isElement && Trace::active() && !isBasic(key) && isView(key);
  if (!isElement && !isLocked)
    takeIntegers(key);
  if (!isBasic(key)) {
    Array taken = unwrap(ops::take(x, key));
    if (isLocked)
      taken.lock();
    return isElement ? taken : settled(std::move(taken));
  }
  Array view = unwrap(ops::index(x, basicItems(key)));
  if (isElement)
    return unwrap(ops::copy(view));
  return x.isValue() || namesByArray(object) ? settled(unwrap(ops::copy(view))) : view;
}

void setItem(Array &x, const pb::object &key, const pb::object &value) {
  putItem(x, key, value, std::nullopt);
}

void defineIndexFunctions(pb::module_ &m) {
  m.def(
      "scatter",
      [](Array &x, const pb::object &key, const pb::object &value, const pb::object &combine) {
        std::optional<op::OpKind> kind;
        if (!combine.is_none()) {
          kind = op::opKindFromName(combine.cast<std::string>());
          if (!kind)
            throw pb::value_error(
                format("scatter: no operation is called '{}'", combine.cast<std::string>()));
        }
        putItem(x, key, value, kind);
      },
      pb::arg("x"), pb::arg("key"), pb::arg("value"), pb::arg("combine") = pb::none(),
      "x[key] = value when combine is None; else x[key] = combine(x[key], value) for one element "
      "of "
      "value after the other in row-major order, so that an element named twice meets both "
      "(ufunc.at). combine: the name of an elementwise operation of two operands from x's dtype to "
      "itself ('add', 'sub', 'mul', 'minimum', ...); value is converted to x's dtype first.");
  m.def("flatnonzero", [](const pb::object &x) { return unwrap(ops::flatNonzero(toArray(x))); });
  m.def("take", [](const pb::object &object, const pb::object &index, int64_t axis) {
    Array x = toOpenArray(object);
    return unwrap(ops::takeAxis(x, toOpenArray(index, &x.device()), axis));
  });
}

} // namespace graphc::py
