#include "frontends/python/bindings/CallPattern.h"

#include "frontends/record/Session.h"

#include <algorithm>
#include <bit>

namespace graphc::py {

pb::object CallArguments::ofNumpy(PyObject *object) {
  rt::Device &current = *unwrap(currentDevice()), &device = own ? *own : current;
  Array array = argumentOfNumpy(object, device, isLent);
  if (!array.isNull())
    return wrapped(std::move(array));
  return &device == &current ? asarray(pb::handle(object))
                             : asarray(pb::handle(object), pb::arg("device") = device.info().name);
}

bool CallArguments::add(PyObject *object) {
  if (count == kMostArrays)
    return false;
  PyObject *found = object;
  if (isNumpyArray(object)) {
    auto it = std::ranges::find(made, object, &std::pair<PyObject *, pb::object>::first);
    if (it == made.end())
      it = made.insert(made.end(), {object, ofNumpy(object)});
    found = it->second.ptr();
  }
  Array *array = asArray(found);
  if (!array)
    return false;
  given[count] = array;
  sources[count] = object;
  objects[count++] = Py_NewRef(found);
  return true;
}

pb::list CallArguments::arrayObjects() const {
  pb::list out(count);
  for (size_t i = 0; i < count; ++i)
    PyList_SET_ITEM(out.ptr(), static_cast<Py_ssize_t>(i), Py_NewRef(objects[i]));
  return out;
}

bool isSameValue(PyObject *object, PyObject *value) {
  if (object == value)
    return true;
  if (Py_TYPE(object) != Py_TYPE(value))
    return false;
  if (PyFloat_CheckExact(value))
    return std::bit_cast<uint64_t>(PyFloat_AS_DOUBLE(object)) ==
           std::bit_cast<uint64_t>(PyFloat_AS_DOUBLE(value));
  if (PyLong_CheckExact(value) || PyUnicode_CheckExact(value))
    return PyObject_RichCompareBool(object, value, Py_EQ) == 1;
  return false;
}

bool CallPattern::buildLeaf(PyObject *object, bool isValue) {
  if (!isValue && (asAnyArray(object) || isNumpyArray(object))) {
    auto it = std::ranges::find(arrays, object);
    tokens.push_back({Kind::Array, static_cast<uint32_t>(it - arrays.begin()), {}});
    if (it == arrays.end())
      arrays.push_back(object);
    return true;
  }
  if (const Number *number = asNumber(object)) {
    bool isFloat = number->scalar.kind == op::Scalar::Kind::Float;
    auto *type = reinterpret_cast<PyObject *>(isFloat ? &PyFloat_Type : &PyLong_Type);
    tokens.push_back(
        {Kind::Number, static_cast<uint32_t>(numbers++), pb::reinterpret_borrow<pb::object>(type)});
    return number->scalar.variable == numbers && numbers <= CallArguments::kMostNumbers;
  }
  bool isKept = object == Py_None || PyBool_Check(object) || PyLong_CheckExact(object) ||
                PyFloat_CheckExact(object) || PyUnicode_CheckExact(object) ||
                PyType_Check(object) || PyFunction_Check(object) || PyCFunction_CheckExact(object);
  if (isKept)
    tokens.push_back({Kind::Value, 0, pb::reinterpret_borrow<pb::object>(object)});
  return isKept;
}

bool CallPattern::buildParts(PyObject *sequence, Kind kind, bool isValue) {
  Py_ssize_t count = PySequence_Fast_GET_SIZE(sequence);
  tokens.push_back({kind, static_cast<uint32_t>(count), {}});
  for (Py_ssize_t i = 0; i < count; ++i)
    if (!build(PySequence_Fast_GET_ITEM(sequence, i), isValue))
      return false;
  return true;
}

/// `names`: keys whose values are no arrays.
bool CallPattern::buildDict(PyObject *dict, const pb::set *names) {
  tokens.push_back({Kind::Dict, static_cast<uint32_t>(PyDict_GET_SIZE(dict)), {}});
  Py_ssize_t place = 0;
  PyObject *key, *value;
  while (PyDict_Next(dict, &place, &key, &value)) {
    if (!PyUnicode_CheckExact(key))
      return false;
    tokens.push_back({Kind::Key, 0, pb::reinterpret_borrow<pb::object>(key)});
    if (!build(value, names && names->contains(pb::handle(key))))
      return false;
  }
  return true;
}

bool CallPattern::build(PyObject *object, bool isValue) {
  if (PyTuple_CheckExact(object))
    return buildParts(object, Kind::Tuple, isValue);
  if (PyList_CheckExact(object) && !isValue)
    return buildParts(object, Kind::List, isValue);
  if (PyDict_CheckExact(object) && !isValue)
    return buildDict(object, nullptr);
  return buildLeaf(object, isValue);
}

std::optional<CallPattern> CallPattern::of(PyObject *args, PyObject *kwargs,
                                           const pb::set &positions, const pb::set &names) {
  CallPattern made;
  Py_ssize_t count = PyTuple_GET_SIZE(args);
  made.tokens.push_back({Kind::Tuple, static_cast<uint32_t>(count), {}});
  for (Py_ssize_t i = 0; i < count; ++i)
    if (!made.build(PyTuple_GET_ITEM(args, i), positions.contains(i)))
      return std::nullopt;
  made.hasKeywords = kwargs && PyDict_GET_SIZE(kwargs) > 0;
  if (made.hasKeywords && !made.buildDict(kwargs, &names))
    return std::nullopt;
  if (made.arrays.size() > CallArguments::kMostArrays)
    return std::nullopt;
  return made;
}

bool CallPattern::walkDict(PyObject *dict, size_t &at, CallArguments &call) const {
  Py_ssize_t place = 0;
  PyObject *key, *value;
  while (PyDict_Next(dict, &place, &key, &value))
    if (!isSameValue(key, tokens[at++].value.ptr()) || !walk(value, at, call))
      return false;
  return true;
}

bool CallPattern::walk(PyObject *object, size_t &at, CallArguments &call) const {
  const Token &token = tokens[at++];
  switch (token.kind) {
  case Kind::Array:
    return token.count < call.count ? call.sources[token.count] == object : call.add(object);
  case Kind::Tuple:
  case Kind::List: {
    bool isAlike =
        token.kind == Kind::Tuple ? PyTuple_CheckExact(object) : PyList_CheckExact(object);
    if (!isAlike || PySequence_Fast_GET_SIZE(object) != static_cast<Py_ssize_t>(token.count))
      return false;
    for (Py_ssize_t i = 0; i < static_cast<Py_ssize_t>(token.count); ++i)
      if (!walk(PySequence_Fast_GET_ITEM(object, i), at, call))
        return false;
    return true;
  }
  case Kind::Dict:
    return PyDict_CheckExact(object) &&
           PyDict_GET_SIZE(object) == static_cast<Py_ssize_t>(token.count) &&
           walkDict(object, at, call);
  case Kind::Number:
    if (reinterpret_cast<PyObject *>(Py_TYPE(object)) != token.value.ptr())
      return false;
    call.open[call.openCount++] = Py_NewRef(object);
    return true;
  case Kind::Key:
  case Kind::Value:
    return isSameValue(object, token.value.ptr());
  }
  return false;
}

bool CallPattern::matches(CallArguments &call) const {
  bool keywords = call.kwargs && PyDict_GET_SIZE(call.kwargs) > 0;
  if (keywords != hasKeywords)
    return false;
  call.begin();
  size_t at = 0;
  return walk(call.args, at, call) && (!keywords || walk(call.kwargs, at, call));
}

bool CallPattern::operator==(const CallPattern &other) const {
  return hasKeywords == other.hasKeywords &&
         std::ranges::equal(tokens, other.tokens, [](const Token &a, const Token &b) {
           return a.kind == b.kind && a.count == b.count &&
                  (a.value.ptr() == b.value.ptr() ||
                   (a.value && b.value && isSameValue(a.value.ptr(), b.value.ptr())));
         });
}

Guard::Guard(pb::object where, pb::object name) : where(std::move(where)), name(std::move(name)) {
  value = pb::reinterpret_borrow<pb::object>(now());
}

PyObject *Guard::now() const {
  PyObject *found =
      PyCell_Check(where.ptr()) ? PyCell_GET(where.ptr()) : PyDict_GetItem(where.ptr(), name.ptr());
  return found ? found : Py_None;
}

bool Guard::holds() const { return isSameValue(now(), value.ptr()); }

} // namespace graphc::py
