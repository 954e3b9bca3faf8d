//===- Given.h - Arguments of ours as NumPy's functions take them -----------------------------===//
//
// Views of the memory of arrays that the host has, and NumPy's results as ours.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_PYTHON_BINDINGS_GIVEN_H
#define GRAPHC_FRONTENDS_PYTHON_BINDINGS_GIVEN_H

#include "frontends/python/bindings/Bindings.h"

#include "frontends/record/Devices.h"
#include "frontends/record/Known.h"
#include "frontends/record/SmallElements.h"

#include <pybind11/numpy.h>

#include <algorithm>
#include <array>
#include <cstring>

namespace graphc::py {

using NumpyArray = pb::detail::PyArray_Proxy;

/// Of what our operations are many passes over.
inline bool isMany(Exact kind) { return kind == Exact::Passes || kind == Exact::Bits; }

/// The arguments of one call as NumPy takes them: arrays as views of their memory, which nobody may
/// keep or write.
class Given {
public:
  explicit Given(Exact kind) : kind(kind) {}

  /// Looks at an argument without computing anything. False: the call is not for NumPy.
  bool look(PyObject *object, int depth = 0) {
    if (object == Py_None || PyBool_Check(object) || PyUnicode_CheckExact(object))
      return true;
    if (PyFloat_CheckExact(object) || PyComplex_CheckExact(object))
      return kind != Exact::Integers;
    if (PyLong_CheckExact(object))
      return kind != Exact::Longer || isSmall(object);
    if (PyList_CheckExact(object) || PyTuple_CheckExact(object))
      return lookInto(object, depth);
    if (auto single = numpyScalarDType(object))
      return kind == Exact::Any || kind == Exact::Search ||
             (kind == Exact::Passes && isFloat(*single));
    if (takesNumpys && isNumpyArray(object))
      return lookAt(reinterpret_cast<const NumpyArray *>(object));
    const Array *x = asAnyArray(object);
    if (!x || x->isOpen() || !mayBeOnHost(x->device()) || (device && device != &x->device()) ||
        x->dtype() == DType::BFloat16 || (isInexact(x->dtype()) && kind == Exact::Integers))
      return false;
    isSignedSeen |= isSigned(x->dtype());
    isLargeSeen |= x->dtype() == DType::UInt64;
    if (isSignedSeen && isLargeSeen && kind == Exact::Integers) // which promote to floats
      return false;
    device = &x->device();
    const bool isComputed = x->known() || x->storage()->current()->state() == NodeState::Ready;
    isReady &= isComputed;
    if (kind == Exact::Search && arrays == 0 && isComputed && x->rank() == 1 && x->size() > 0) {
      ++arrays;
      return true;
    }
    most = std::max(most, x->size());
    ++arrays;
    return x->size() > 0 && fits(*x);
  }

  /// The argument for NumPy; null where its elements cannot be had.
  pb::object make(PyObject *object) {
    if (const Array *x = asAnyArray(object))
      return view(*x);
    bool isList = PyList_CheckExact(object);
    if (!arrays || (!isList && !PyTuple_CheckExact(object)))
      return pb::reinterpret_borrow<pb::object>(object);
    Py_ssize_t count = PySequence_Fast_GET_SIZE(object);
    if (count > kMostItems)
      return pb::reinterpret_borrow<pb::object>(object);
    auto made = pb::reinterpret_steal<pb::object>(isList ? PyList_New(count) : PyTuple_New(count));
    for (Py_ssize_t i = 0; i < count; ++i) {
      pb::object item = make(PySequence_Fast_GET_ITEM(object, i));
      if (!item)
        return {};
      if (isList)
        PyList_SET_ITEM(made.ptr(), i, item.release().ptr());
      else
        PyTuple_SET_ITEM(made.ptr(), i, item.release().ptr());
    }
    return made;
  }

  /// Gives up the memory.
  void drop() { kept = {}; }
  /// Whether memory is that of an argument: a result would be a view.
  bool isShown(const char *data) const {
    for (size_t i = 0; i < shown; ++i)
      if (data >= memory[i].first && data < memory[i].second)
        return true;
    return false;
  }

  rt::Device *device = nullptr;
  bool takesNumpys = false; ///< arrays of NumPy's are passed as they are
  int64_t most = 1;         ///< elements of the largest array
  bool isReady = true;      ///< nothing has to be computed first
  bool isSignedSeen = false, isLargeSeen = false;
  int arrays = 0;

private:
  static constexpr int kMostDepth = 2;
  static constexpr Py_ssize_t kMostItems = 16;
  static constexpr size_t kMostArrays = 16;

  /// Text and dates are for those functions alone whose results are none.
  bool lookAt(const NumpyArray *x) {
    const auto dtype = knownDType(x->descr);
    const char letter = pb::detail::array_descriptor_proxy(x->descr)->kind;
    const int64_t size =
        small::countOf(Shape(std::span<const int64_t>(x->dimensions, static_cast<size_t>(x->nd))));
    if (dtype ? isInexact(*dtype) && kind == Exact::Integers
              : kind != Exact::Passes || !std::strchr("USMm", letter))
      return false;
    isSignedSeen |= dtype && isSigned(*dtype);
    isLargeSeen |= dtype == DType::UInt64;
    most = std::max(most, size);
    return size > 0 && size <= small::kFew &&
           !(isSignedSeen && isLargeSeen && kind == Exact::Integers);
  }

  /// Of what our operations are many passes over, larger arrays too that are computed.
  bool fits(const Array &x) const {
    constexpr int64_t kMostOfMany = 256 << 10, kMostOfBits = 64 << 20;
    const int64_t bytes = x.size() * itemSize(x.dtype());
    return bytes <= small::kMostBytes ||
           (isMany(kind) && bytes <= (kind == Exact::Bits ? kMostOfBits : kMostOfMany) &&
            x.storage()->current()->state() == NodeState::Ready);
  }
  static bool isSmall(PyObject *number) {
    int overflow = 0;
    long long value = PyLong_AsLongLongAndOverflow(number, &overflow);
    return !overflow && value < small::kFew && value > -small::kFew;
  }

  static bool isNumber(PyObject *item) {
    return PyLong_CheckExact(item) || PyFloat_CheckExact(item) || PyBool_Check(item) ||
           PyComplex_CheckExact(item);
  }
  /// Longer lists are of numbers, and passed as they are.
  bool lookInto(PyObject *object, int depth) {
    const Py_ssize_t count = PySequence_Fast_GET_SIZE(object);
    if (depth == kMostDepth || count > small::kFew)
      return false;
    const bool isLong = count > kMostItems;
    for (Py_ssize_t i = 0; i < count; ++i) {
      PyObject *item = PySequence_Fast_GET_ITEM(object, i);
      if ((isLong && !isNumber(item)) || !look(item, depth + 1))
        return false;
    }
    most = std::max<int64_t>(most, count);
    return true;
  }

  pb::object view(const Array &x) {
    if (shown == kMostArrays)
      return {};
    auto descriptor = numpyDType(x.dtype());
    std::array<Py_intptr_t, 64> shape{}, strides{};
    const auto rank = static_cast<size_t>(x.rank());
    char *first = nullptr;
    if (const KnownValue *known = x.known()) {
      values[shown] = known->bits;
      first = reinterpret_cast<char *>(&values[shown]); // little-endian
    } else {
      small::Elements elements = small::computedElementsOf(x); // of any size
      if (!elements.base)
        elements = unwrap(small::elementsOf(x));
      if (!elements.base || rank > shape.size())
        return {};
      first = const_cast<char *>(elements.first); // NumPy is told not to write
      auto *all = static_cast<const char *>(rt::hostAddress(*elements.base->buffer()));
      memory[shown] = {all, all + elements.base->bytes()};
      kept[shown] = std::move(elements.base);
    }
    ++shown;
    for (size_t i = 0; i < rank; ++i) {
      shape[i] = x.shape()[i];
      strides[i] = x.view().strides()[i] * itemSize(x.dtype());
    }
    const auto &api = pb::detail::npy_api::get();
    return pb::reinterpret_steal<pb::object>(api.PyArray_NewFromDescr_(
        api.PyArray_Type_, descriptor.release().ptr(), static_cast<int>(rank), shape.data(),
        strides.data(), first, pb::detail::npy_api::NPY_ARRAY_ALIGNED_, nullptr));
  }

  Exact kind;
  std::array<NodeRef, kMostArrays> kept;
  std::array<uint64_t, kMostArrays> values{};
  std::array<std::pair<const char *, const char *>, kMostArrays> memory{};
  size_t shown = 0;
};

// Given.cpp
/// An array of those elements.
pb::object copied(const NumpyArray *x, DType dtype, rt::Device &device);
/// A result as ours; null where it is nothing of ours.
pb::object resultOf(PyObject *object, const Given &given, rt::Device &device);
/// Whether NumPy's answer to the call is wanted: of Python's numbers at once, of small arrays in a
/// loop, and, of what would be many operations, wherever it can be had.
bool isWanted(const Given &given, Exact kind);
/// Whether what an argument holds becomes elements of dtype `t` by a conversion that has nothing to
/// tell of.
bool isAlike(PyObject *object, DType t);

/// The arguments of a call as NumPy's function takes them.
struct TheirArguments {
  static constexpr Py_ssize_t kMost = 8;

  /// False where one cannot be made. The first one has place `from`.
  bool make(Given &given, PyObject *const *args, size_t count, size_t from = 0) {
    for (size_t i = 0; i < count; ++i) {
      made[from + i] = given.make(args[i]);
      plain[from + i] = made[from + i].ptr();
      if (!plain[from + i])
        return false;
    }
    return true;
  }

  std::array<pb::object, kMost> made; ///< owns what `plain` points to
  std::array<PyObject *, kMost> plain{};
};

} // namespace graphc::py

#endif // GRAPHC_FRONTENDS_PYTHON_BINDINGS_GIVEN_H
