//===- Bindings.h - What the files of the extension module share ------------------------------===//
//
// The only place where exceptions exist: a Status becomes a Python exception here (raise), and
// nowhere else.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_PYTHON_BINDINGS_BINDINGS_H
#define GRAPHC_FRONTENDS_PYTHON_BINDINGS_BINDINGS_H

#include "frontends/python/bindings/Handover.h"
#include "frontends/python/bindings/ScalarTypes.h"

#include "frontends/record/Ops.h"
#include "frontends/record/Record.h"

#include <pybind11/pybind11.h>

#include <optional>
#include <string>
#include <vector>

namespace graphc::py {

namespace pb = pybind11;

/// Fixes the size of the array of a Python object, if it is open.
void fixSize(Array &array, pb::handle object);

// Errors.cpp
/// Raises the exception class of graphc.errors for the code.
[[noreturn]] void raise(const Status &status);
inline void check(Status status) {
  if (!status)
    raise(status);
}
template <typename T>
T unwrap(Result<T> &&result) {
  if (!result)
    raise(result.status());
  return result.take();
}

/// Runs the body of a function that Python calls without pybind11 between: exceptions become
/// Python's, and null is returned.
template <typename Body>
PyObject *guarded(Body body) {
  try {
    return body();
  } catch (pb::error_already_set &e) {
    e.restore();
  } catch (const pb::builtin_exception &e) {
    e.set_error();
  } catch (const std::bad_alloc &) {
    PyErr_NoMemory();
  } catch (const std::exception &e) {
    PyErr_SetString(PyExc_RuntimeError, e.what());
  }
  return nullptr;
}

// Location.cpp
/// Makes the recorder ask Python for the user's line. Frames of code below `folder` are skipped.
void setPackageFolder(const std::string &folder);
void installLocationSource();
/// Makes a function of the package one that stands for an operation: floating-point errors in it
/// are the user's, and go by the name of this number (0: by those of the operations in it).
void setErrorName(const pb::object &function, uint32_t name);

// Errors.cpp
/// NumPy's ComplexWarning where a conversion drops imaginary parts at the user's own line.
void warnOfDiscarded(DType from, DType to);
/// toOptionalDType() of what elements of `from` are converted to, with that warning.
std::optional<DType> toConversion(pb::handle dtype, DType from);

// FloatErrors.cpp
/// The exception that the handler of floating-point errors raised, if `status` came of it; clears
/// it.
pb::object takeFloatError(const Status &status);
/// Whether somebody waits for the warnings of each statement (_float_errors._heed).
bool warningsAreWatched();
void defineFloatErrors(pb::module_ &m);

// Convert.cpp
pb::object dtypeObject(DType t);
/// The same as a np.dtype; a TypeError where NumPy has none.
pb::object numpyDType(DType t);
/// Anything numpy.dtype accepts. Raises NumPy's TypeError, or DTypeError for one that is not ours.
DType toDType(pb::handle object);
std::optional<DType> toOptionalDType(pb::handle object);
/// Of a np.dtype or one of its scalar types, the second of names too; nothing for others, quickly.
std::optional<DType> knownDType(pb::handle object);
std::optional<DType> namedDType(PyObject *object);
/// An int or a sequence of ints.
Shape toShape(pb::handle object);
/// None: nothing. An int or a sequence of ints otherwise.
Axes toAxes(pb::handle object);
/// Of one of NumPy's scalars whose dtype graphc has; nothing for other objects, quickly.
std::optional<DType> numpyScalarDType(PyObject *object);
pb::tuple toTuple(std::span<const int64_t> values);
/// None: null.
rt::Device *toDevice(pb::handle object);
/// Basic items only.
std::vector<IndexItem> toIndex(pb::handle key);
/// Any index; arrays that have no device go to `device`.
std::vector<ops::KeyItem> toKey(pb::handle key, rt::Device *device);
/// Where operands without a device go: to the first of a sequence that has one. Null: none has.
rt::Device *deviceOf(pb::handle objects);
std::vector<Array> toArrays(pb::handle sequence, rt::Device *device = nullptr);
/// bool, int or float; raises TypeError for anything else.
op::Scalar toScalar(pb::handle object);
/// What stands for a Python number whose value each call of a traced function gives.
struct Number {
  op::Scalar scalar; ///< of the call that is traced; its variable
  uint64_t trace;
  /// Whether its value may not be asked for: in that trace.
  bool isLive() const;
};
/// Null for other objects.
const Number *asNumber(PyObject *object);
/// A Python value of a 0-d literal pattern.
pb::object scalarObject(const void *data, DType t);

/// An operand and what keeps it alive. `ok` is false for objects that are no array, number or
/// sequence.
struct Converted {
  std::optional<Array> holder;
  std::optional<Operand> operand;
};
/// False when the object is nothing an operation takes; raises for numbers and arrays with a fault.
/// Values that have no device go to `device` (null: the current one).
bool convertOperand(pb::handle object, Converted &out, rt::Device *device = nullptr);
/// The same; `holder` keeps an array that was made.
bool toOperand(pb::handle object, Operand &out, std::optional<Array> &holder, rt::Device *device);
/// An Array as it is, anything else as a new Array.
Array toArray(pb::handle object, rt::Device *device = nullptr);
/// The borrowed C++ array of a Python Array, or null. One whose size is open (OpenSize.h) is fixed,
/// which looks at the size; raises where that fails.
Array *asArray(pb::handle object);
/// For what takes arrays of open sizes: fixed only where it cannot be part of what is recorded now.
Array *asOpenArray(pb::handle object);
/// As it is; of one whose size is open only dtype, rank and device say anything.
Array *asAnyArray(pb::handle object);
/// As toOperand, convertOperand and toArray, for what takes arrays of open sizes.
bool toOpenOperand(pb::handle object, Operand &out, std::optional<Array> &holder,
                   rt::Device *device);
bool convertOpenOperand(pb::handle object, Converted &out, rt::Device *device = nullptr);
Array toOpenArray(pb::handle object, rt::Device *device = nullptr);
/// The same of a fixed size; null for other objects.
inline const Array *asPlainArray(PyObject *object) {
  const Array *x = asAnyArray(object);
  return x && !x->isOpen() ? x : nullptr;
}
/// Whether it is a NumPy array, of no subclass.
bool isNumpyArray(PyObject *object);
/// Whether it is a scalar of one of NumPy's integer types.
bool isNumpyInteger(PyObject *object);
/// Whether NumPy's functions mean something else of an object than of the values it holds.
bool isOfForeignClass(pb::handle object);
Array copyIn(pb::handle object, std::optional<DType> dtype, rt::Device *device);

// Constructors.cpp
/// Nested lists and tuples of numbers and computed arrays as an array, outside traces; a null array
/// for others. A few arrays that are pending are computed where the result `isRead` at once.
Array packSequence(PyObject *object, rt::Device &device, bool isRead);

// Exchange.cpp
/// Computes arrays with the GIL released; their nodes.
std::vector<NodeRef> evaluateNow(std::span<Array *const> arrays, std::string_view reason);
/// The same of the arrays whose views they are.
void storeNow(std::span<Array *const> arrays, std::string_view reason);
/// A NumPy array of the value: shared and read-only where the host can reach it, else a copy.
pb::object toNumpy(Array &x, std::string_view reason);
/// The single element of an array of size 1.
pb::object toItem(Array &x, std::string_view reason);
/// As above, as a bool.
pb::object toTruth(Array &x);
/// A row-major NumPy array of a dtype of ours for one call of a jitted function that neither writes
/// to its arguments nor returns them: a copy, or, of more than a few KiB where the device takes
/// host memory (then `isLent` is set), an array over its memory. A null array for others and for
/// those that borrowed memory of ours.
Array argumentOfNumpy(PyObject *object, rt::Device &device, bool &isLent);
/// A key whose NumPy arrays are a few KiB of integers or truths, with arrays in their place; null
/// for other keys and in traces.
pb::object withOwnArrays(PyObject *key, rt::Device &device);
/// As toOpenArray(), for one operation: of a large NumPy array its memory, from which the operation
/// is computed when it is recorded (Lend.h).
Array toReadNow(pb::handle object, rt::Device *device = nullptr);
/// What of the memory of one of our arrays a NumPy array shows that borrowed it, as a view of that
/// array; None where it shows none, or as another dtype.
pb::object borrowed(const pb::object &object);
void defineExchange(pb::class_<Array> &cls);

// Import.cpp
/// An array over the memory of a DLPack exporter, or a copy of it.
Array fromDlpack(const pb::object &object, const pb::object &copy);

/// Within a function that stands for no operation: what is recorded has no errors to tell.
struct PlainScope {
  RecordScope line;
  RecordScope silent{RecordScope::location(), 0};
};

// Wrap.cpp
/// A new Python object that holds the array; what pb::cast gives, at a fraction of its cost.
PyObject *wrap(Array &&array);
/// The same of what has no floating-point errors to tell.
PyObject *wrapSilently(Array &&array);
/// Where a floating-point error has to be told at the statement that meets it, since a mode raises,
/// calls or prints: computes what was recorded and tells its errors; raises as they ask. Never
/// while a function is traced.
void tellAtOnce(Array &array);
/// Of a result; raises for an error.
inline PyObject *wrap(Result<Array> result) {
  if (!result)
    raise(result.takeStatus());
  return wrap(std::move(*result));
}
/// Another view of the memory of `x`.
PyObject *wrapView(const Array &x, Result<View> view);
/// As above, from a short list of objects that were used before.
PyObject *wrapKnown(const KnownValue &value);
/// What NumPy's constructors make of a single element: an array that updates change for all its
/// names.
Array settled(Array x);
/// What a view may be taken of: of a value, as of NumPy's scalars, there is none.
Array ownMemory(const Array &x, bool mustCopy = false);
/// What was made of `x`: of an array an array, of a value a value.
Array copyOf(const Array &x, Result<Array> made);
inline pb::object wrapped(Array array) {
  return pb::reinterpret_steal<pb::object>(wrap(std::move(array)));
}
/// Fills the slots of the type Array that end its objects, before it is made ready.
void setupLifetime(PyHeapTypeObject *type);
/// The class of all our objects, which is that of single results, and its subclass of arrays.
extern PyTypeObject *arrayType, *ndarrayType;
inline bool isOurType(const PyTypeObject *type) { return type == ndarrayType || type == arrayType; }
/// Null, and a TypeError in the words that NumPy has of an array of no axes, or of its scalars, by
/// the name of their class.
PyObject *refuseSequence(PyObject *self, const char *ofArray, const char *ofValue);

// Indexing.cpp
/// An element is a value, as NumPy's scalars are; every other basic index is a view.
Array getItem(const Array &x, const pb::object &key);
void setItem(Array &x, const pb::object &key, const pb::object &value);
void defineIndexFunctions(pb::module_ &m);

// ArrayType.cpp
/// The class of the class Array.
pb::object makeArrayType();
/// After Array has its methods: the class ndarray.
void defineArrayType(pb::module_ &m, pb::class_<Array> &array);

// One function a file.
void defineArray(pb::module_ &m);
/// Fills the slots of the type Array before it is made ready, as setupOperators() does.
void setupBuffer(PyHeapTypeObject *type);
/// The result of an operation on values that are known, or null when there is more to it.
PyObject *operationOnValues(op::OpKind kind, PyObject *left, PyObject *right);
PyObject *operationOnValue(op::OpKind kind, PyObject *operand);
void setupElements(PyHeapTypeObject *type);
void setupMembers(PyHeapTypeObject *type);
void defineFunctions(pb::module_ &m);
void definePlainFunctions(pb::module_ &m);
void definePlainMovement(pb::module_ &m);
void definePlainNumeric(pb::module_ &m);
void definePlainViews(pb::module_ &m);
void defineConstructors(pb::module_ &m);
void defineFlat(pb::module_ &m);
void defineUfuncs(pb::module_ &m);
void defineInfo(pb::module_ &m);
void defineJit(pb::module_ &m);
void defineRandom(pb::module_ &m);

} // namespace graphc::py

/// Functions that take an Array get one of a fixed size.
template <>
struct pybind11::detail::type_caster<graphc::Array> : type_caster_base<graphc::Array> {
  bool load(handle source, bool convert) {
    if (graphc::py::ScalarObject *scalar = graphc::py::asScalar(source.ptr())) {
      value = graphc::py::arrayOf(scalar);
      return true;
    }
    if (!type_caster_base<graphc::Array>::load(source, convert))
      return false;
    if (value)
      graphc::py::fixSize(*static_cast<graphc::Array *>(value), source);
    return true;
  }
  using type_caster_base<graphc::Array>::cast;
  static handle cast(graphc::Array &&made, return_value_policy, handle) {
    return graphc::py::wrapSilently(std::move(made));
  }
  static handle cast(const graphc::Array &array, return_value_policy, handle) {
    return graphc::py::wrapSilently(graphc::Array(array));
  }
};

#endif // GRAPHC_FRONTENDS_PYTHON_BINDINGS_BINDINGS_H
