// Attributes and methods of Array that loops over small arrays use, as members of the type:
// pybind11's dispatcher costs more than they do.
#include "frontends/python/bindings/Bindings.h"
#include "frontends/python/bindings/ComplexScalar.h"
#include "frontends/python/bindings/Direct.h"
#include "frontends/python/bindings/GivenAxes.h"
#include "frontends/python/bindings/Lists.h"
#include "frontends/python/bindings/Quick.h"
#include "frontends/record/Known.h"
#include "frontends/record/Lend.h"
#include "frontends/record/SmallElements.h"
#include "frontends/record/Trace.h"

#include <array>
#include <cctype>

namespace graphc::py {
namespace {

PyObject *shape(PyObject *self, void *) {
  return guarded([&] { return toTuple(asArray(self)->shape()).release().ptr(); });
}

/// x.shape = ...: the same object, another view of its memory.
int setShape(PyObject *self, PyObject *value, void *) {
  PyObject *done = guarded([&] {
    if (!value)
      throw pb::attribute_error("Cannot delete array shape");
    Array &x = *asArray(self);
    Array out = unwrap(ops::reshape(x, toShape(value)));
    if (!out.sharesStorage(x))
      throw pb::attribute_error("Incompatible shape for in-place modification. Use `.reshape()` to "
                                "make a copy with the desired shape.");
    x = out;
    return self;
  });
  return done ? 0 : -1;
}

PyObject *rank(PyObject *self, void *) { return PyLong_FromLongLong(asAnyArray(self)->rank()); }
PyObject *size(PyObject *self, void *) {
  return guarded([&] { return PyLong_FromLongLong(asArray(self)->size()); });
}

PyObject *dtype(PyObject *self, void *) {
  return guarded([&] { return dtypeObject(asAnyArray(self)->dtype()).release().ptr(); });
}

/// x.dtype = ...: the same object, another reading of its memory.
int setDType(PyObject *self, PyObject *value, void *) {
  PyObject *done = guarded([&] {
    if (!value)
      throw pb::attribute_error("Cannot delete array dtype");
    if (asArray(self)->isValue())
      throw pb::attribute_error("attribute 'dtype' of 'numpy.generic' objects is not writable");
    auto seen = pb::reinterpret_steal<pb::object>(PyObject_CallMethod(self, "view", "O", value));
    if (!seen)
      throw pb::error_already_set();
    const Array *other = asAnyArray(seen.ptr());
    if (!other || !other->sharesStorage(*asArray(self)))
      throw pb::type_error("The elements of this array cannot be read as that dtype in place; use "
                           "`.view()` instead.");
    *asArray(self) = Array(*other);
    return self;
  });
  return done ? 0 : -1;
}

PyObject *transposed(PyObject *self, void *) {
  return guarded([&] {
    const Array &x = *asArray(self);
    if (PyObject *turned = plainTranspose(x, nullptr, 0))
      return turned;
    return wrap(ops::transpose(x, std::nullopt));
  });
}

/// One part of complex numbers, 0 or 1; null with no error set for what is not complex.
PyObject *partOf(PyObject *self, int64_t number) {
  if (PyObject *part = partOfNumber(self, number))
    return part;
  const Array &x = *asArray(self);
  if (!isComplex(x.dtype()))
    return nullptr;
  if (!x.isValue())
    return wrapView(x, x.view().part(number, x.dtype()));
  if (PyObject *part = partOfComplex(x, number))
    return part;
  return wrap(ops::copy(unwrap(ops::part(x, number))));
}

PyObject *realPart(PyObject *self, void *) {
  return guarded([&] {
    PyObject *part = partOf(self, 0);
    return part ? part : Py_NewRef(self);
  });
}

PyObject *imaginaryPart(PyObject *self, void *) {
  return guarded([&] {
    PyObject *part = partOf(self, 1);
    if (!part)
      part = noImaginaryPart(*asArray(self));
    return part ? part : PyObject_CallMethod(self, "_no_imag", nullptr);
  });
}

/// What becomes the part in place.
int setPart(PyObject *self, PyObject *value, const char *name) {
  if (!value) {
    PyErr_Format(PyExc_AttributeError, "Cannot delete array %s part", name);
    return -1;
  }
  PyObject *part = PyObject_GetAttrString(self, name);
  int done = part ? PyObject_SetItem(part, Py_Ellipsis, value) : -1;
  Py_XDECREF(part);
  return done;
}
int setReal(PyObject *self, PyObject *value, void *) { return setPart(self, value, "real"); }
int setImaginary(PyObject *self, PyObject *value, void *) {
  if (value && !isComplex(asArray(self)->dtype())) {
    PyErr_SetString(PyExc_TypeError, "array does not have imaginary part to set");
    return -1;
  }
  return setPart(self, value, "imag");
}

PyGetSetDef attributes[] = {{"shape", shape, setShape,
                             "The sizes of the axes; may be set where no copy is needed.", nullptr},
                            {"ndim", rank, nullptr, "The number of axes.", nullptr},
                            {"size", size, nullptr, "The number of elements.", nullptr},
                            {"dtype", dtype, setDType,
                             "The dtype of the elements; may be set to read the same bytes anew.",
                             nullptr},
                            {"T", transposed, nullptr, "A view with the axes reversed.", nullptr},
                            {"real", realPart, setReal, "The real part: a view.", nullptr},
                            {"imag", imaginaryPart, setImaginary, "The imaginary part.", nullptr},
                            {nullptr, nullptr, nullptr, nullptr, nullptr}};

/// The array of an object; null, with an exception set, where its size cannot be told.
const Array *arrayOf(PyObject *self) {
  const Array *found = nullptr;
  guarded([&]() -> PyObject * {
    found = asArray(self);
    return nullptr;
  });
  return found;
}

/// The method of this name that takes every form of the arguments.
PyObject *general(const char *name, PyObject *self, PyObject *const *args, Py_ssize_t count,
                  PyObject *keywords) {
  PyObject *method = PyObject_GetAttrString(self, name);
  if (!method)
    return nullptr;
  PyObject *result = PyObject_Vectorcall(method, args, static_cast<size_t>(count), keywords);
  Py_DECREF(method);
  return result ? result : handOverMethod(name + 1, self, args, count, keywords);
}

/// A view where NumPy has one.
PyObject *reshaped(const Array &x, const Shape &wanted) {
  const Shape to = unwrap(op::resolveReshape(x.shape(), wanted));
  if (auto view = x.view().reshape(to))
    return wrapView(x, *std::move(view));
  return wrap(ops::reshape(x, to));
}

/// reshape(2, 3) and reshape((2, 3)) of an array.
PyObject *reshape(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
  constexpr Py_ssize_t kMost = 8;
  const Array *fixed = arrayOf(self);
  if (!fixed)
    return nullptr;
  const Array &x = *fixed;
  PyObject *const *sizes = args;
  Py_ssize_t rank = count;
  if (count == 1 && PyTuple_CheckExact(args[0])) {
    sizes = &PyTuple_GET_ITEM(args[0], 0);
    rank = PyTuple_GET_SIZE(args[0]);
  }
  std::array<int64_t, kMost> list;
  bool isPlain = !keywords && count > 0 && rank <= kMost && !x.isValue();
  for (Py_ssize_t i = 0; isPlain && i < rank; ++i) {
    int overflow = 0;
    isPlain = PyLong_CheckExact(sizes[i]);
    if (isPlain)
      list[static_cast<size_t>(i)] = PyLong_AsLongLongAndOverflow(sizes[i], &overflow);
    isPlain = isPlain && !overflow;
  }
  if (!isPlain)
    return general("_reshape", self, args, count, keywords);
  return guarded([&] {
    return reshaped(x, Shape(std::span<const int64_t>(list.data(), static_cast<size_t>(rank))));
  });
}

PyObject *copy(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
  if (count || keywords)
    return general("_copy", self, args, count, keywords);
  return guarded([&] {
    const Array &x = *asOpenArray(self);
    PyObject *made = directCopy(x, x.shape());
    return made ? made : wrap(copyOf(x, ops::copy(x)));
  });
}

/// Keeps the array whose memory `x` shows while `view` lives, which `view.base` names, as NumPy
/// does.
PyObject *withOwner(PyObject *view, const Array &x) {
  if (!view || !x.hasStorage() || !x.storage()->owner())
    return view;
  auto *owner = static_cast<PyObject *>(x.storage()->ownerObject());
  if (owner && owner != view)
    pb::detail::add_patient(view, owner);
  return view;
}

/// A view of the same bytes as another dtype, which a name of the machine's byte order says.
PyObject *viewAs(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
  const Array *x = arrayOf(self);
  if (!x)
    return nullptr;
  bool isPlain = count == 1 && !keywords && !x->isValue();
  if (isPlain && PyUnicode_CheckExact(args[0])) {
    const Py_UCS4 first = PyUnicode_GET_LENGTH(args[0]) ? PyUnicode_READ_CHAR(args[0], 0) : 0;
    isPlain = first < 128 && std::isalpha(static_cast<int>(first));
  }
  auto wanted = isPlain ? namedDType(args[0]) : std::nullopt;
  const bool isSame = wanted ? *wanted == x->dtype() : count == 0 && !keywords;
  if ((!wanted && !isSame) || x->isValue() || x->rank() == 0)
    return general("_view", self, args, count, keywords);
  return guarded([&] {
    IndexItem everything;
    return isSame ? withOwner(wrapPart(*x, {&everything, 1}), *x) : wrap(ops::recast(*x, *wanted));
  });
}

/// A single result as Python's number is.
PyObject *formatted(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
  const Array *x = asAnyArray(self);
  const KnownValue *known = count == 1 && !keywords && !Trace::active() ? x->known() : nullptr;
  if (!known || (known->dtype != DType::Float64 && known->dtype != DType::Int64))
    return general("_format", self, args, count, keywords);
  return guarded(
      [&] { return PyObject_Format(scalarObject(&known->bits, known->dtype).ptr(), args[0]); });
}

/// One number for all elements.
PyObject *fillWith(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
  Array &x = *asAnyArray(self);
  if (count != 1 || keywords || x.isOpen() || x.isValue())
    return general("_fill", self, args, count, keywords);
  const bool isNumber = PyFloat_CheckExact(args[0])
                            ? isFloat(x.dtype())
                            : PyLong_CheckExact(args[0]) &&
                                  (x.dtype() == DType::Bool || x.dtype() == DType::Float64 ||
                                   x.dtype() == DType::Int64 || isSmallNumber(args[0], x.dtype()));
  PyObject *done = guarded([&]() -> PyObject * {
    const Array *given = isNumber ? nullptr : asAnyArray(args[0]);
    const bool isElement = given                   ? given->known() && given->dtype() == x.dtype()
                           : PyBool_Check(args[0]) ? x.dtype() == DType::Bool
                           : PyComplex_CheckExact(args[0]) ? isComplex(x.dtype())
                                                           : numpyScalarDType(args[0]) == x.dtype();
    IndexItem all;
    if ((isNumber || isElement) && directAssign(x, {&all, 1}, args[0]))
      return Py_NewRef(Py_None);
    if (isElement && isComplex(x.dtype())) { // counted nowhere else
      RecordScope line;
      const Py_complex given = PyComplex_AsCComplex(args[0]);
      const auto number = pb::reinterpret_steal<pb::object>(PyComplex_FromCComplex(given));
      if (small::isLoop(op::OpKind::UpdateSlice, x.size(), x.device()) &&
          unwrap(small::settle(x)) && directAssign(x, {&all, 1}, number.ptr()))
        return Py_NewRef(Py_None);
    }
    const auto bits = isElement ? heldBits(args[0], x.dtype()) : std::nullopt;
    if (!isNumber && !bits)
      return nullptr;
    const pb::object number =
        bits ? scalarObject(&*bits, x.dtype()) : pb::reinterpret_borrow<pb::object>(args[0]);
    check(ops::setItem(x, {&all, 1}, Operand(toScalar(number))));
    tellAtOnce(x);
    return Py_NewRef(Py_None);
  });
  return done || PyErr_Occurred() ? done : general("_fill", self, args, count, keywords);
}

/// item() of a single element, and item(i, j, ...) with an index for each axis.
PyObject *itemOf(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
  constexpr int64_t kMost = 8;
  const Array *x = keywords ? nullptr : asPlainArray(self);
  const bool isFlat = x && count == 1 && x->rank() != 1; // counts elements of all axes
  bool isPlain = x && x->rank() <= kMost && (count ? isFlat || count == x->rank() : x->size() == 1);
  std::array<int64_t, kMost> at{};
  for (Py_ssize_t i = 0; isPlain && i < count; ++i) {
    const auto axis = static_cast<size_t>(i);
    int overflow = 0;
    const int64_t end = isFlat ? x->size() : x->shape()[axis];
    const int64_t place =
        PyLong_CheckExact(args[i]) ? PyLong_AsLongLongAndOverflow(args[i], &overflow) : end;
    at[axis] = place < 0 ? place + end : place;
    isPlain = at[axis] >= 0 && !overflow && at[axis] < end;
  }
  if (isPlain && isFlat) {
    int64_t place = at[0];
    for (auto axis = static_cast<size_t>(x->rank()); axis-- > 0; place /= x->shape()[axis])
      at[axis] = place % x->shape()[axis];
  }
  if (!isPlain)
    return general("_item", self, args, count, keywords);
  PyObject *found = guarded([&]() -> PyObject * {
    if (const KnownValue *known = Trace::active() ? nullptr : x->known())
      return scalarObject(&known->bits, known->dtype).release().ptr();
    const std::span<const int64_t> index(at.data(), static_cast<size_t>(x->rank()));
    if (const auto value = complexElement(*x, index))
      return PyComplex_FromDoubles(value->real(), value->imag());
    const auto known = elementNow(*x, index);
    return known ? scalarObject(&known->bits, known->dtype).release().ptr() : nullptr;
  });
  return found || PyErr_Occurred() ? found : general("_item", self, args, count, keywords);
}

/// A name that begins as none of our dtypes: of text, dates, objects and structures.
bool isTheirName(PyObject *object) {
  if (!PyUnicode_CheckExact(object) || PyUnicode_GET_LENGTH(object) == 0)
    return false;
  const Py_UCS4 first = PyUnicode_READ_CHAR(object, 0);
  return first < 128 &&
         std::string_view("SUOVMm").find(static_cast<char>(first)) != std::string_view::npos;
}

PyObject *astype(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
  const Array &x = *asOpenArray(self);
  const bool isTheirs = count == 1 && !keywords && isTheirName(args[0]);
  auto wanted = count == 1 && !keywords && !isTheirs ? namedDType(args[0]) : std::nullopt;
  if (wanted && !x.isOpen()) {
    PyObject *made = guarded([&] { return directCast(x, *wanted); });
    if (made || PyErr_Occurred())
      return made;
    if (!x.view().isContiguous())
      wanted.reset();
  }
  const bool isNumpys =
      !wanted && count == 1 && !keywords && !x.isOpen() && x.rank() > 0 && !Trace::active() &&
      (args[0] == reinterpret_cast<PyObject *>(&PyUnicode_Type) ||
       args[0] == reinterpret_cast<PyObject *>(&PyBytes_Type) || isTheirs || isTheirDType(args[0]));
  if (isNumpys)
    return guarded([&] {
      Array read = x;
      return toNumpy(read, "foreign").attr("astype")(pb::handle(args[0])).release().ptr();
    });
  if (!wanted)
    return general("_astype", self, args, count, keywords);
  return guarded([&] {
    warnOfDiscarded(x.dtype(), *wanted);
    return wrap(copyOf(x, ops::cast(x, *wanted)));
  });
}

/// Whether elements in row-major order are asked for.
bool isPlainLine(const Array &x, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
  const bool isRowMajor = count == 0 || (count == 1 && PyUnicode_CheckExact(args[0]) &&
                                         PyUnicode_CompareWithASCIIString(args[0], "C") == 0);
  return isRowMajor && !keywords && !x.isValue() && (x.view().isContiguous() || !Trace::active());
}

/// The elements in memory of their own.
PyObject *copiedLine(const Array &x) {
  Array line = unwrap(ops::reshape(x, Shape{-1}));
  return wrap(line.storage() == x.storage() ? unwrap(ops::copy(line)) : std::move(line));
}

PyObject *ravel(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
  const Array *x = arrayOf(self);
  if (!x)
    return nullptr;
  if (!isPlainLine(*x, args, count, keywords))
    return general("_ravel", self, args, count, keywords);
  return guarded(
      [&] { return x->view().isContiguous() ? reshaped(*x, Shape{x->size()}) : copiedLine(*x); });
}

PyObject *flatten(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
  const Array *x = arrayOf(self);
  if (!x)
    return nullptr;
  if (!isPlainLine(*x, args, count, keywords))
    return general("_flatten", self, args, count, keywords);
  return guarded([&] {
    PyObject *made = x->view().isContiguous() ? directCopy(*x, Shape{x->size()}) : copiedLine(*x);
    return made ? made : copiedLine(*x);
  });
}

/// transpose(), transpose(1, 0) and transpose((1, 0)) of an array.
PyObject *transposedBy(PyObject *self, PyObject *const *args, Py_ssize_t count,
                       PyObject *keywords) {
  const Array *x = arrayOf(self);
  if (!x)
    return nullptr;
  PyObject *const *axes = count ? args : nullptr;
  Py_ssize_t given = count;
  if (count == 1 && PyTuple_CheckExact(args[0])) {
    axes = &PyTuple_GET_ITEM(args[0], 0);
    given = PyTuple_GET_SIZE(args[0]);
  }
  PyObject *made = keywords ? nullptr : guarded([&] { return plainTranspose(*x, axes, given); });
  return made || PyErr_Occurred() ? made : general("_transpose", self, args, count, keywords);
}

PyObject *swapped(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
  const Array *x = count != 2 || keywords ? nullptr : asPlainArray(self);
  PyObject *made = x ? guarded([&] { return plainSwap(*x, args[0], args[1]); }) : nullptr;
  return made || PyErr_Occurred() ? made : general("_swapaxes", self, args, count, keywords);
}

PyObject *squeezed(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
  const Array *x = count || keywords ? nullptr : asPlainArray(self);
  PyObject *made = x ? guarded([&] { return plainSqueeze(*x); }) : nullptr;
  return made || PyErr_Occurred() ? made : general("_squeeze", self, args, count, keywords);
}

/// The bytes of elements that are computed and lie side by side.
PyObject *bytesOf(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
  const Array *x = count || keywords ? nullptr : asPlainArray(self);
  const small::Elements elements =
      x && x->rank() > 0 && !Trace::active() ? small::denseElementsOf(*x) : small::Elements();
  if (!elements.base)
    return general("_tobytes", self, args, count, keywords);
  return guarded([&] {
    check(takeFailure());
    return PyBytes_FromStringAndSize(elements.first, x->size() * itemSize(x->dtype()));
  });
}

PyObject *toList(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
  const Array *x = count || keywords ? nullptr : asPlainArray(self);
  PyObject *list = x ? guarded([&] { return listNow(*x); }) : nullptr;
  return list || PyErr_Occurred() ? list : general("_tolist", self, args, count, keywords);
}

/// A copy for the module copy. A single result is its own: nothing changes it.
PyObject *copyOfAny(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
  return asAnyArray(self)->isValue() ? Py_NewRef(self)
                                     : general("_copied", self, args, count, keywords);
}

/// The arguments of a reduction, as far as they are plain: an axis, and whether axes are kept.
struct Reduction {
  Axes axes;
  bool keepdims = false;

  bool read(PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
    if (count > 1 || (count == 1 && !setAxis(args[0])))
      return false;
    for (Py_ssize_t i = 0, n = keywords ? PyTuple_GET_SIZE(keywords) : 0; i < n; ++i) {
      PyObject *name = PyTuple_GET_ITEM(keywords, i), *value = args[count + i];
      bool isAxis = PyUnicode_CompareWithASCIIString(name, "axis") == 0;
      bool isKept = PyUnicode_CompareWithASCIIString(name, "keepdims") == 0;
      if (isAxis ? count > 0 || !setAxis(value) : !isKept || !PyBool_Check(value))
        return false;
      keepdims |= isKept && value == Py_True;
    }
    return true;
  }

private:
  bool setAxis(PyObject *object) {
    if (object == Py_None)
      return true;
    int overflow = 0;
    if (!PyLong_CheckExact(object))
      return false;
    axes = {PyLong_AsLongLongAndOverflow(object, &overflow)};
    return !overflow;
  }
};

/// A reduction with a mask, a value to begin with or several axes; NotImplemented for others.
PyObject *among(op::ReduceKind kind, PyObject *self, PyObject *const *args, Py_ssize_t count,
                PyObject *keywords) {
  constexpr Py_ssize_t kMost = 6;
  const Py_ssize_t all = count + (keywords ? PyTuple_GET_SIZE(keywords) : 0);
  if (all > kMost || kind == op::ReduceKind::ArgMin || kind == op::ReduceKind::ArgMax)
    Py_RETURN_NOTIMPLEMENTED;
  std::array<PyObject *, kMost + 1> given{self};
  std::copy_n(args, all, given.begin() + 1);
  return reducedAmong(kind, given.data(), count + 1, keywords);
}

/// One reduction as a method: every other form of its arguments is the general method's.
template <op::ReduceKind Kind>
PyObject *reduceMethod(PyObject *self, PyObject *const *args, Py_ssize_t count,
                       PyObject *keywords) {
  static const std::string name = "_" + std::string(op::reduceKindName(Kind));
  Reduction r;
  const Array &x = *asOpenArray(self);
  // A mean of nothing is warned of.
  const bool isTold = Kind == op::ReduceKind::Mean && !x.isOpen() && x.size() == 0;
  if (isTold)
    return general(name.c_str(), self, args, count, keywords);
  if (!r.read(args, count, keywords)) {
    PyObject *made = Kind == op::ReduceKind::Mean ? Py_NewRef(Py_NotImplemented)
                                                  : among(Kind, self, args, count, keywords);
    if (made != Py_NotImplemented)
      return made;
    Py_DECREF(made);
    return general(name.c_str(), self, args, count, keywords);
  }
  if (r.axes && Kind != op::ReduceKind::Mean)
    r.axes = axesOf(r.axes->front(), x.rank());
  return guarded([&] { return wrap(ops::reduce(Kind, x, r.axes, r.keepdims, std::nullopt)); });
}

/// Our ufunc for NumPy's (graphc/_interop.py), for the life of the process.
PyObject *ownUfuncs = nullptr;

/// __array_ufunc__(ufunc, method, ...): a call of NumPy's ufunc with an array and one of its
/// scalars; others are the general method's.
PyObject *arrayUfunc(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *keywords) {
  auto isPlain = [](PyObject *operand) {
    return Py_IS_TYPE(operand, ndarrayType) || numpyScalarDType(operand);
  };
  const bool isCall = ownUfuncs && count == 4 && !keywords && PyUnicode_Check(args[1]) &&
                      PyUnicode_CompareWithASCIIString(args[1], "__call__") == 0;
  if (isCall && Py_IS_TYPE(self, ndarrayType) && isPlain(args[2]) && isPlain(args[3]))
    if (PyObject *ours = PyDict_GetItemWithError(ownUfuncs, args[0]))
      return PyObject_Vectorcall(ours, args + 2, 2, nullptr);
  PyErr_Clear(); // of what is no key
  auto method = pb::reinterpret_steal<pb::object>(PyObject_GetAttrString(self, "_array_ufunc"));
  return method ? PyObject_Vectorcall(method.ptr(), args, static_cast<size_t>(count), keywords)
                : nullptr;
}

using Function = PyObject *(*)(PyObject *, PyObject *const *, Py_ssize_t, PyObject *);
PyMethodDef method(const char *name, Function function, const char *text) {
  auto plain = reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
  return {name, plain, METH_FASTCALL | METH_KEYWORDS, text};
}

PyMethodDef methods[] = {
    method("reshape", reshape,
           "reshape($self, /, *shape, order='C', copy=None)\n--\n\nThe elements in another shape, "
           "a view where NumPy has one. Raises ShapeError when the sizes do not fit."),
    method(
        "ravel", ravel,
        "ravel($self, /, order='C')\n--\n\nThe elements as a vector, a view where NumPy has one."),
    method("flatten", flatten,
           "flatten($self, /, order='C')\n--\n\nThe elements as a vector of its own."),
    method("copy", copy, "copy($self, /, order='C')\n--\n\nA new array of the same values."),
    method("astype", astype,
           "astype($self, /, dtype, order='K', casting='unsafe', subok=True, copy=True)\n--\n\n"
           "The values in another dtype. Raises DTypeError for a dtype that graphc does not have "
           "and for what `casting` forbids."),
    method(
        "view", viewAs,
        "view($self, /, *args, **kwargs)\n--\n\nview(dtype=None, type=None): a new view of the "
        "same memory, as another dtype its bytes by NumPy's rules, as a class made of ndarray an "
        "object of that class. Updates of either are seen by both; of bools, of other byte "
        "orders and of arrays on other devices it is read-only."),
    method("__format__", formatted,
           "__format__($self, spec, /)\n--\n\nAs Python's number of a single result; an array "
           "takes no spec."),
    method("__array_ufunc__", arrayUfunc, "What NumPy's ufuncs mean of arrays."),
    method("fill", fillWith, "fill($self, /, value)\n--\n\nWrites a number to all elements."),
    method("item", itemOf, "item($self, /, *args)\n--\n\nThe element as a Python number."),
    method("transpose", transposedBy,
           "transpose($self, /, *axes)\n--\n\nA view with the axes permuted, reversed where none "
           "are named."),
    method("swapaxes", swapped,
           "swapaxes($self, axis1, axis2, /)\n--\n\nA view with two axes in each other's place."),
    method("squeeze", squeezed,
           "squeeze($self, /, axis=None)\n--\n\nA view without axes of size 1, all of them or "
           "those named."),
    method("tobytes", bytesOf,
           "tobytes($self, /, order='C')\n--\n\nThe values as bytes, in row-major (\"C\") or "
           "column-major (\"F\") order."),
    method("tolist", toList,
           "tolist($self, /)\n--\n\nThe values as Python's numbers, in nested lists."),
    method("__copy__", copyOfAny, "As copy(), in the order of the memory."),
    method("__deepcopy__", copyOfAny, "As copy(), in the order of the memory."),
    method("sum", reduceMethod<op::ReduceKind::Sum>,
           "sum($self, /, axis=None, dtype=None, out=None, **kwargs)\n--\n\nAs graphc.sum."),
    method("prod", reduceMethod<op::ReduceKind::Prod>,
           "prod($self, /, axis=None, dtype=None, out=None, **kwargs)\n--\n\nAs graphc.prod."),
    method("mean", reduceMethod<op::ReduceKind::Mean>,
           "mean($self, /, axis=None, dtype=None, out=None, **kwargs)\n--\n\nAs graphc.mean."),
    method("min", reduceMethod<op::ReduceKind::Min>,
           "min($self, /, axis=None, out=None, **kwargs)\n--\n\nAs graphc.min."),
    method("max", reduceMethod<op::ReduceKind::Max>,
           "max($self, /, axis=None, out=None, **kwargs)\n--\n\nAs graphc.max."),
    method(
        "any", reduceMethod<op::ReduceKind::Any>,
        "any($self, /, axis=None, out=None, keepdims=False, *, where=True)\n--\n\nAs graphc.any."),
    method(
        "all", reduceMethod<op::ReduceKind::All>,
        "all($self, /, axis=None, out=None, keepdims=False, *, where=True)\n--\n\nAs graphc.all."),
    method("argmin", reduceMethod<op::ReduceKind::ArgMin>,
           "argmin($self, /, axis=None, out=None, *, keepdims=False)\n--\n\nAs graphc.argmin."),
    method("argmax", reduceMethod<op::ReduceKind::ArgMax>,
           "argmax($self, /, axis=None, out=None, *, keepdims=False)\n--\n\nAs graphc.argmax."),
    {nullptr, nullptr, 0, nullptr}};

} // namespace

Array copyOf(const Array &x, Result<Array> made) {
  Array out = unwrap(std::move(made));
  if (out.rank() == 0 && !x.isValue())
    out = settled(std::move(out));
  return out;
}

void setOwnUfuncs(const pb::object &byTheirs) { ownUfuncs = Py_NewRef(byTheirs.ptr()); }

void setupMembers(PyHeapTypeObject *type) {
  type->ht_type.tp_getset = attributes;
  type->ht_type.tp_methods = methods;
}

} // namespace graphc::py
