#include "frontends/python/bindings/Bindings.h"
#include "frontends/python/bindings/Gil.h"
#include "frontends/python/bindings/GivenAxes.h"

#include "frontends/record/Devices.h"
#include "frontends/record/GatheredRows.h"
#include "frontends/record/OpenSize.h"
#include "frontends/record/Session.h"
#include "frontends/record/Trace.h"
#include "runtime/base/NarrowFloat.h"
#include "runtime/base/Strings.h"

#include <pybind11/numpy.h>

#include <array>
#include <cstring>

namespace graphc::py {
namespace {

using strings::format;

/// NumPy objects looked up once. Never released: the module lives as long as the interpreter.
struct Numpy {
  pb::object dtypes[kDTypeCount];
  pb::object types[kDTypeCount]; ///< their scalar types
  pb::object dtype, generic, integer, ndarray, memmap, ascontiguousarray, asarray;
};
const Numpy *findNumpy() {
  auto *made = new Numpy;
  pb::module_ np = pb::module_::import("numpy");
  made->dtype = np.attr("dtype");
  made->generic = np.attr("generic");
  made->integer = np.attr("integer");
  made->ndarray = np.attr("ndarray");
  made->memmap = np.attr("memmap");
  made->ascontiguousarray = np.attr("ascontiguousarray");
  made->asarray = np.attr("asarray");
  for (int i = 0; i < kDTypeCount; ++i)
    if (static_cast<DType>(i) != DType::BFloat16) {
      made->dtypes[i] = made->dtype(std::string(dtypeName(static_cast<DType>(i))));
      made->types[i] = made->dtypes[i].attr("type");
    }
  return made;
}

/// Guarded by the GIL as Imported is.
const Numpy &numpy() {
  static const Numpy *known = nullptr;
  if (!known)
    if (const Numpy *found = findNumpy(); !known)
      known = found;
  return *known;
}

[[noreturn]] void raiseType(const std::string &message) { throw pb::type_error(message); }

std::string typeName(pb::handle object) { return Py_TYPE(object.ptr())->tp_name; }

op::Scalar integerScalar(pb::handle object) {
  int overflow = 0;
  long long small = PyLong_AsLongLongAndOverflow(object.ptr(), &overflow);
  if (!overflow) {
    if (small == -1 && PyErr_Occurred())
      throw pb::error_already_set();
    return op::Scalar::ofInt(small);
  }
  pb::int_ value = pb::reinterpret_borrow<pb::int_>(object);
  pb::object high = value.attr("__rshift__")(64);
  pb::object low = value.attr("__and__")(pb::int_(~0ull));
  long long top = PyLong_AsLongLongAndOverflow(high.ptr(), &overflow);
  if (overflow)
    raiseForeign(format("Python integer {} out of bounds for int64", std::string(pb::str(object))));
  unsigned long long bottom = PyLong_AsUnsignedLongLong(low.ptr());
  return op::Scalar::ofInt((static_cast<__int128>(top) << 64) | static_cast<__int128>(bottom));
}

bool isNumpyScalar(pb::handle object) { return pb::isinstance(object, numpy().generic); }

op::Scalar complexScalar(pb::handle object) {
  Py_complex v = PyComplex_AsCComplex(object.ptr());
  if (v.real == -1 && PyErr_Occurred())
    throw pb::error_already_set();
  return op::Scalar::ofComplex(v.real, v.imag);
}

op::Scalar strongScalar(pb::handle object, DType t) {
  if (isFloat(t)) {
    double value = PyFloat_AsDouble(object.ptr());
    if (value == -1 && PyErr_Occurred())
      throw pb::error_already_set();
    return op::Scalar::ofFloat(value);
  }
  if (isComplex(t))
    return complexScalar(object);
  if (t == DType::Bool)
    return op::Scalar::ofBool(PyObject_IsTrue(object.ptr()) == 1);
  auto number = pb::reinterpret_steal<pb::object>(PyNumber_Index(object.ptr()));
  if (!number)
    throw pb::error_already_set();
  return integerScalar(number);
}

/// The dtype of one of NumPy's scalars.
DType scalarDType(pb::handle object) {
  auto known = numpyScalarDType(object.ptr());
  return known ? *known : toDType(object.attr("dtype"));
}

} // namespace

pb::object dtypeObject(DType t) {
  // NumPy has none: the package knows whether ml_dtypes is there.
  if (t == DType::BFloat16)
    return pb::module_::import("graphc._dtypes").attr("bfloat16");
  return numpy().dtypes[static_cast<size_t>(t)];
}

pb::object numpyDType(DType t) {
  pb::object dtype = dtypeObject(t);
  if (!pb::isinstance(dtype, numpy().dtype))
    raise(Status(ErrorCode::DType,
                 format("NumPy has no {}: install ml_dtypes, or convert with astype('float32')",
                        dtypeName(t))));
  return dtype;
}

/// What names stood for so far, for the life of the process: np.dtype reads a name each time.
static pb::dict &dtypesByName() {
  static auto *names = new pb::dict;
  return *names;
}

static bool isNative(pb::handle dtype) { return dtype.attr("isnative").cast<bool>(); }

static DType dtypeNamed(pb::handle dtype) {
  const std::string name = pb::str(dtype.attr("name"));
  if (auto found = dtypeFromName(name))
    return *found;
  raiseForeign(format("dtype {} is not supported: graphc has bool, int8 to int64, uint8 to uint64, "
                      "float16, bfloat16, float32, float64, complex64 and complex128",
                      name));
}

/// The dtype of elements, in whatever byte order they are.
static DType dtypeOfElements(pb::handle dtype) {
  auto known = knownDType(dtype);
  return known ? *known : dtypeNamed(dtype);
}

DType toDType(pb::handle object) {
  const Numpy &np = numpy();
  if (auto known = knownDType(object))
    return *known;
  bool isName = PyUnicode_CheckExact(object.ptr());
  if (isName)
    if (PyObject *found = PyDict_GetItemWithError(dtypesByName().ptr(), object.ptr()))
      return static_cast<DType>(PyLong_AsLong(found));
  if (const Array *x = asAnyArray(object.ptr()); x && !x->isValue())
    throw pb::type_error("Cannot construct a dtype from an array");
  pb::object dtype;
  try {
    dtype = np.dtype(object);
  } catch (pb::error_already_set &e) {
    if (!e.matches(PyExc_TypeError))
      throw;
    // The package knows which name was meant.
    dtype = pb::module_::import("graphc._dtypes").attr("as_dtype")(object);
  }
  const DType found = dtypeNamed(dtype);
  if (pb::isinstance(dtype, np.dtype) && !isNative(dtype))
    raiseForeign("arrays of the other byte order are NumPy's");
  if (isName)
    dtypesByName()[object] = static_cast<int>(found);
  return found;
}

static char byteOrder(PyObject *dtype) {
  return pb::detail::array_descriptor_proxy(dtype)->byteorder;
}

std::optional<DType> knownDType(pb::handle object) {
  const Numpy &np = numpy();
  for (int i = 0; i < kDTypeCount; ++i)
    if (np.dtypes[i].ptr() && (np.dtypes[i].is(object) || np.types[i].is(object)))
      return static_cast<DType>(i);
  if (object.ptr() == reinterpret_cast<PyObject *>(&PyFloat_Type))
    return DType::Float64;
  if (object.ptr() == reinterpret_cast<PyObject *>(&PyLong_Type))
    return DType::Int64;
  if (object.ptr() == reinterpret_cast<PyObject *>(&PyBool_Type))
    return DType::Bool;
  if (object.ptr() == reinterpret_cast<PyObject *>(&PyComplex_Type))
    return DType::Complex128;
  // Pickled arrays have dtypes of their own, of the same class.
  for (int i = 0; i < kDTypeCount; ++i)
    if (PyObject *own = np.dtypes[i].ptr(); own && Py_IS_TYPE(object.ptr(), Py_TYPE(own)))
      return byteOrder(object.ptr()) == byteOrder(own) ? std::optional(static_cast<DType>(i))
                                                       : std::nullopt;
  return std::nullopt;
}

std::optional<DType> namedDType(PyObject *object) {
  if (!PyUnicode_CheckExact(object))
    return knownDType(object);
  try {
    return toDType(object);
  } catch (const pb::error_already_set &) {
    return std::nullopt;
  } catch (const pb::builtin_exception &) {
    return std::nullopt;
  }
}

std::optional<DType> numpyScalarDType(PyObject *object) {
  if (isScalarType(Py_TYPE(object)))
    return std::nullopt;
  const Numpy &np = numpy();
  const auto *type = reinterpret_cast<PyObject *>(Py_TYPE(object));
  for (DType t : {DType::Float64, DType::Int64, DType::Bool, DType::Float32})
    if (np.types[static_cast<size_t>(t)].ptr() == type)
      return t;
  // By the type itself: of single results isinstance() says the same.
  return PyObject_TypeCheck(object, reinterpret_cast<PyTypeObject *>(np.generic.ptr()))
             ? knownDType(reinterpret_cast<PyObject *>(Py_TYPE(object)))
             : std::nullopt;
}

std::optional<DType> toOptionalDType(pb::handle object) {
  return object.is_none() ? std::nullopt : std::optional(toDType(object));
}

/// One integer, and no array of several, which has the same slot.
static bool isOneInteger(pb::handle object) {
  if (PyLong_CheckExact(object.ptr()))
    return true;
  if (!PyIndex_Check(object.ptr()))
    return false;
  if (const Array *x = asAnyArray(object))
    return x->rank() == 0;
  return !pb::isinstance(object, numpy().ndarray) || object.attr("ndim").cast<int>() == 0;
}

/// A size or an axis, which is no truth value.
static int64_t toSize(pb::handle object) {
  if (PyBool_Check(object.ptr()))
    raiseType("an integer is required, not a bool");
  return toInt(object);
}

Shape toShape(pb::handle object) {
  std::vector<int64_t> dims;
  if (isOneInteger(object))
    dims.push_back(toSize(object));
  else
    for (pb::handle item : pb::reinterpret_borrow<pb::object>(object))
      dims.push_back(toSize(item));
  return Shape(std::span<const int64_t>(dims));
}

Axes toAxes(pb::handle object) {
  if (object.is_none())
    return std::nullopt;
  Shape list = toShape(object);
  return std::vector<int64_t>(list.begin(), list.end());
}

int64_t toInt(pb::handle object) {
  auto index = pb::reinterpret_steal<pb::object>(PyNumber_Index(object.ptr()));
  if (!index)
    throw pb::error_already_set();
  int64_t v = PyLong_AsLongLong(index.ptr());
  if (v == -1 && PyErr_Occurred())
    throw pb::error_already_set();
  return v;
}

std::optional<int64_t> toAxis(pb::handle object) {
  return object.is_none() ? std::nullopt : std::optional<int64_t>(toSize(object));
}

Axes axesOf(int64_t axis, int64_t rank) {
  if (rank == 0 && (axis == 0 || axis == -1))
    return std::nullopt;
  return std::vector<int64_t>{axis};
}

Axes toAxesOf(pb::handle object, int64_t rank) {
  const bool isOne = !object.is_none() && !PyTuple_Check(object.ptr());
  return isOne ? axesOf(toSize(object), rank) : toAxes(object);
}

Axes toReducedAxes(pb::handle object, op::ReduceKind kind, int64_t rank) {
  const bool isPlace = kind == op::ReduceKind::ArgMin || kind == op::ReduceKind::ArgMax;
  if (isPlace && !object.is_none())
    return axesOf(toSize(object), rank);
  // NumPy counts the elements of a mean itself, axis by axis.
  if (kind == op::ReduceKind::Mean && !object.is_none() && !PyTuple_Check(object.ptr()))
    return std::vector<int64_t>{toSize(object)};
  return toAxesOf(object, rank);
}

pb::tuple toTuple(std::span<const int64_t> values) {
  pb::tuple out(values.size());
  for (size_t i = 0; i < values.size(); ++i)
    PyTuple_SET_ITEM(out.ptr(), static_cast<Py_ssize_t>(i), PyLong_FromLongLong(values[i]));
  return out;
}

rt::Device *toDevice(pb::handle object) {
  if (object.is_none())
    return nullptr;
  auto name = pb::str(object).cast<std::string>();
  WithoutGil release; // the first use of a driver, or its test, may take a second
  auto found = findTested(name);
  if (found)
    return *found;
  pb::gil_scoped_acquire acquire;
  raise(found.status());
}

rt::Device *deviceOf(pb::handle objects) {
  for (pb::handle object : objects)
    if (Array *a = asAnyArray(object))
      return &a->device();
  return nullptr;
}

std::vector<Array> toArrays(pb::handle sequence, rt::Device *device) {
  std::vector<Array> out;
  if (PyList_CheckExact(sequence.ptr()) || PyTuple_CheckExact(sequence.ptr()))
    out.reserve(static_cast<size_t>(PySequence_Fast_GET_SIZE(sequence.ptr())));
  for (pb::handle item : pb::reinterpret_borrow<pb::object>(sequence))
    out.push_back(toArray(item, device));
  return out;
}

bool Number::isLive() const { return Trace::active() && Trace::active()->id() == trace; }

static op::Scalar toPlain(const Number &number) {
  op::Scalar plain = number.scalar;
  plain.variable = 0;
  return plain;
}

op::Scalar toScalar(pb::handle object) {
  if (PyBool_Check(object.ptr()))
    return op::Scalar::ofBool(object.ptr() == Py_True);
  if (PyLong_CheckExact(object.ptr()))
    return integerScalar(object);
  if (isNumpyScalar(object))
    return strongScalar(object, scalarDType(object));
  if (PyLong_Check(object.ptr()))
    return integerScalar(object);
  if (PyFloat_Check(object.ptr()))
    return op::Scalar::ofFloat(PyFloat_AS_DOUBLE(object.ptr()));
  if (PyComplex_Check(object.ptr()))
    return complexScalar(object);
  if (Array *a = asArray(object))
    return toScalar(toItem(*a, "item"));
  if (const Number *number = asNumber(object.ptr())) {
    if (number->isLive())
      raise(op::literalBits(number->scalar, DType::Float64).status());
    return toPlain(*number);
  }
  if (PyIndex_Check(object.ptr()))
    return op::Scalar::ofInt(toInt(object));
  raiseType(format("a number is needed, not {}", typeName(object)));
}

pb::object scalarObject(const void *data, DType t) {
  auto read = [&]<typename T>(T v) {
    std::memcpy(&v, data, sizeof v);
    return v;
  };
  switch (t) {
  case DType::Bool:
    return pb::bool_(read(uint8_t{}) != 0);
  case DType::Int8:
    return pb::int_(read(int8_t{}));
  case DType::Int16:
    return pb::int_(read(int16_t{}));
  case DType::Int32:
    return pb::int_(read(int32_t{}));
  case DType::Int64:
    return pb::int_(read(int64_t{}));
  case DType::UInt8:
    return pb::int_(read(uint8_t{}));
  case DType::UInt16:
    return pb::int_(read(uint16_t{}));
  case DType::UInt32:
    return pb::int_(read(uint32_t{}));
  case DType::UInt64:
    return pb::int_(read(uint64_t{}));
  case DType::Float32:
    return pb::float_(static_cast<double>(read(float{})));
  case DType::Float64:
    return pb::float_(read(double{}));
  case DType::Float16:
  case DType::BFloat16:
    return pb::float_(narrowValue(read(uint16_t{}), t));
  case DType::Complex64: {
    auto z = read(std::array<float, 2>{});
    return pb::reinterpret_steal<pb::object>(PyComplex_FromDoubles(z[0], z[1]));
  }
  case DType::Complex128: {
    auto z = read(std::array<double, 2>{});
    return pb::reinterpret_steal<pb::object>(PyComplex_FromDoubles(z[0], z[1]));
  }
  }
  return pb::none();
}

void fixSize(Array &array, pb::handle object) {
  if (!array.isOpen())
    return;
  check(array.fixSize());
  array.storage()->setOwnerObject(object.ptr());
}

bool isNumpyArray(PyObject *object) {
  return Py_TYPE(object) == pb::detail::npy_api::get().PyArray_Type_;
}

bool isNumpyInteger(PyObject *object) {
  return PyObject_TypeCheck(object, reinterpret_cast<PyTypeObject *>(numpy().integer.ptr()));
}

Array *asArray(pb::handle object) {
  Array *array = asAnyArray(object);
  if (array && array->isOpen())
    fixSize(*array, object);
  if (array)
    check(separateView(*array));
  return array;
}

Array *asOpenArray(pb::handle object) {
  Array *array = asAnyArray(object);
  if (array && array->isOpen() && !array->open()->recipe()->isCurrent())
    fixSize(*array, object);
  if (array)
    check(separateView(*array));
  return array;
}

const Number *asNumber(PyObject *object) {
  static auto *const type =
      reinterpret_cast<PyTypeObject *>(pb::type::of<Number>().release().ptr());
  if (!PyObject_TypeCheck(object, type))
    return nullptr;
  return reinterpret_cast<pb::detail::instance *>(object)
      ->get_value_and_holder()
      .value_ptr<Number>();
}

Array *asAnyArray(pb::handle object) {
  // pybind11's own lookup hashes type names: this runs for every operand of every call.
  static auto *const type = reinterpret_cast<PyTypeObject *>(pb::type::of<Array>().release().ptr());
  ScalarObject *scalar = asScalar(object.ptr());
  Array *array = scalar ? arrayOf(scalar) : nullptr;
  if (!array) {
    // Classes made of Array are made by Python: none of the static types is one.
    if (!isOurType(Py_TYPE(object.ptr())) &&
        (!PyType_HasFeature(Py_TYPE(object.ptr()), Py_TPFLAGS_HEAPTYPE) ||
         !PyType_IsSubtype(Py_TYPE(object.ptr()), type)))
      return nullptr;
    auto *instance = reinterpret_cast<pb::detail::instance *>(object.ptr());
    array = instance->simple_layout ? static_cast<Array *>(instance->simple_value_holder[0])
                                    : instance->get_value_and_holder().value_ptr<Array>();
  }
  if (array && array->rank() == 0 && array->hasStorage())
    array->noteValue();
  return array;
}

/// Whether an object gives an array, has no arithmetic of its own to ask, and doesn't wrap results.
static bool isPlainArrayLike(pb::handle object) {
  pb::handle type = reinterpret_cast<PyObject *>(Py_TYPE(object.ptr()));
  return pb::hasattr(type, "__array__") && !pb::hasattr(type, "__array_ufunc__") &&
         !pb::hasattr(type, "__array_priority__") && !pb::hasattr(type, "__radd__") &&
         !pb::hasattr(type, "__array_wrap__");
}

bool toOperand(pb::handle object, Operand &out, std::optional<Array> &holder, rt::Device *device) {
  if (Array *a = asArray(object)) {
    out.array = a;
    return true;
  }
  PyObject *p = object.ptr();
  if (PyFloat_CheckExact(p)) {
    out.scalar.kind = op::Scalar::Kind::Float;
    out.scalar.number = PyFloat_AS_DOUBLE(p);
    return true;
  }
  if (PyBool_Check(p) || PyLong_CheckExact(p) || PyComplex_CheckExact(p)) {
    out.scalar = toScalar(object);
    return true;
  }
  if (isNumpyScalar(object)) {
    DType t = scalarDType(object);
    out = Operand(strongScalar(object, t), t);
    return true;
  }
  if (PyFloat_Check(p) || PyLong_Check(p) || PyComplex_Check(p)) {
    out.scalar = toScalar(object);
    return true;
  }
  if (const Number *number = asNumber(p)) {
    out.scalar = number->isLive() ? number->scalar : toPlain(*number);
    return true;
  }
  if (!pb::isinstance(object, numpy().ndarray) && !PyList_Check(p) && !PyTuple_Check(p) &&
      !isPlainArrayLike(object))
    return false;
  if (!Trace::active()) {
    Array packed = packSequence(p, device ? *device : *unwrap(currentDevice()), true);
    if (!packed.isNull()) {
      holder = std::move(packed);
      out.array = &*holder;
      return true;
    }
  }
  holder = copyIn(object, std::nullopt, device);
  out.array = &*holder;
  return true;
}

bool convertOperand(pb::handle object, Converted &out, rt::Device *device) {
  Operand operand;
  if (!toOperand(object, operand, out.holder, device))
    return false;
  out.operand = operand;
  return true;
}

bool isOfForeignClass(pb::handle object) {
  const Numpy &np = numpy();
  pb::handle type = reinterpret_cast<PyObject *>(Py_TYPE(object.ptr()));
  if (type.is(np.ndarray) || asAnyArray(object))
    return false;
  if (pb::isinstance(object, np.ndarray))
    return !pb::isinstance(object, np.memmap);
  return pb::hasattr(type, "__array_function__");
}

Array copyIn(pb::handle object, std::optional<DType> dtype, rt::Device *device) {
  const Numpy &np = numpy();
  if (isOfForeignClass(object))
    raiseForeign(format("{} has functions of its own", typeName(object)));
  pb::object given;
  // NumPy refuses what `__array__` of a class gives when that is a graphc array.
  if (!pb::isinstance(object, np.ndarray) && !isNumpyScalar(object) &&
      pb::hasattr(object, "__array__") && !PyType_Check(object.ptr())) {
    given = object.attr("__array__")();
    if (Array *a = asArray(given))
      return dtype ? unwrap(ops::cast(*a, *dtype)) : *a;
    if (pb::isinstance(given, np.ndarray))
      object = given; // asked once
  }
  if (dtype && !pb::isinstance(dtypeObject(*dtype), np.dtype)) {
    Array wide = copyIn(object, DType::Float32, device);
    return unwrap(ops::cast(wide, *dtype));
  }
  pb::object values = dtype ? np.asarray(object, dtypeObject(*dtype)) : np.asarray(object);
  DType t = dtypeOfElements(values.attr("dtype"));
  if (!isNative(values.attr("dtype")))
    values = values.attr("astype")(dtypeObject(t));
  pb::tuple dims = values.attr("shape");
  op::TensorType type{t, toShape(dims)};
  values = np.ascontiguousarray(values); // makes 0-d arrays 1-d: the shape was read before
  auto array = pb::reinterpret_borrow<pb::array>(values);
  const void *data = array.data();
  WithoutGil release;
  auto made = ops::fromHost(data, type, device);
  if (made)
    return made.take();
  pb::gil_scoped_acquire acquire;
  raise(made.status());
}

bool toOpenOperand(pb::handle object, Operand &out, std::optional<Array> &holder,
                   rt::Device *device) {
  out.array = asOpenArray(object);
  return out.array || toOperand(object, out, holder, device);
}

bool convertOpenOperand(pb::handle object, Converted &out, rt::Device *device) {
  Operand operand;
  if (!toOpenOperand(object, operand, out.holder, device))
    return false;
  out.operand = operand;
  return true;
}

Array toOpenArray(pb::handle object, rt::Device *device) {
  Array *a = asOpenArray(object);
  return a ? *a : toArray(object, device);
}

Array toArray(pb::handle object, rt::Device *device) {
  if (Array *a = asArray(object))
    return *a;
  Converted c;
  if (!convertOperand(object, c, device)) {
    if (!pb::hasattr(object, "__array__") && !pb::hasattr(object, "__dlpack__") &&
        !PyObject_CheckBuffer(object.ptr()))
      raiseForeign(format("an array or a number is needed, not {}", typeName(object)));
    return copyIn(object, std::nullopt, device);
  }
  if (c.operand->array)
    return *c.operand->array;
  DType t = c.operand->dtype.value_or(c.operand->scalar.type().dtype);
  return unwrap(ops::full({}, c.operand->scalar, t, device));
}

} // namespace graphc::py
