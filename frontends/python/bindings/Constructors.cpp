// Arrays of numbers the host has. Programs make them in loops, so no dispatcher stands between.
#include "frontends/python/bindings/Bindings.h"
#include "frontends/python/bindings/ComplexScalar.h"
#include "frontends/python/bindings/Direct.h"
#include "frontends/python/bindings/ElementBits.h"
#include "frontends/python/bindings/Imported.h"
#include "frontends/python/bindings/Quick.h"
#include "frontends/record/Devices.h"
#include "frontends/record/Known.h"
#include "frontends/record/Session.h"
#include "frontends/record/Small.h"
#include "frontends/record/SmallElements.h"
#include "frontends/record/Trace.h"

#include <pybind11/numpy.h>

#include <array>
#include <cmath>
#include <cstring>

namespace graphc::py {
namespace {

/// What one object in nested sequences is: a number, or an array.
struct Leaf {
  DType dtype = DType::Bool;
  uint64_t bits = 0;            ///< of a complex number as `parts`
  const Array *array = nullptr; ///< of rank 1 and more, or pending
  rt::Device *device = nullptr; ///< of arrays
  std::array<double, 2> parts{};
};

/// A complex number of Python's or a single result of ours.
std::optional<Leaf> complexLeafOf(PyObject *object) {
  if (PyComplex_CheckExact(object)) {
    const Py_complex number = PyComplex_AsCComplex(object);
    return Leaf{DType::Complex128, 0, nullptr, nullptr, {number.real, number.imag}};
  }
  const ScalarObject *known = asComplexScalar(object);
  if (!known || !mayBeOnHost(*known->known.device))
    return std::nullopt;
  Leaf leaf{known->known.dtype, 0, nullptr, known->known.device};
  if (known->known.dtype == DType::Complex128)
    std::memcpy(leaf.parts.data(), known->number.data(), sizeof leaf.parts);
  else {
    std::array<float, 2> narrow;
    std::memcpy(narrow.data(), known->number.data(), sizeof narrow);
    std::copy(narrow.begin(), narrow.end(), leaf.parts.begin());
  }
  return leaf;
}

/// Nothing for objects that need more than looking at.
std::optional<Leaf> leafOf(PyObject *object) {
  if (PyFloat_CheckExact(object))
    return Leaf{DType::Float64, std::bit_cast<uint64_t>(PyFloat_AS_DOUBLE(object))};
  if (PyBool_Check(object))
    return Leaf{DType::Bool, object == Py_True};
  if (PyLong_CheckExact(object)) {
    int overflow = 0;
    int64_t v = PyLong_AsLongLongAndOverflow(object, &overflow);
    return overflow ? std::nullopt : std::optional(Leaf{DType::Int64, static_cast<uint64_t>(v)});
  }
  if (const KnownValue *known = knownScalar(object); known && mayBeOnHost(*known->device))
    return Leaf{known->dtype, known->bits, nullptr, known->device};
  if (numpyScalarDType(object) == DType::Float64)
    return Leaf{DType::Float64, std::bit_cast<uint64_t>(PyFloat_AS_DOUBLE(object))};
  if (auto number = complexLeafOf(object))
    return number;
  const Array *x = asArray(object);
  if (!x || !mayBeOnHost(x->device()) || !x->view().hasLayout() || x->view().isRecast())
    return std::nullopt;
  if (x->known())
    return Leaf{x->dtype(), x->known()->bits, nullptr, &x->device()};
  NodeState state = x->storage()->current()->state();
  if ((state != NodeState::Ready && state != NodeState::Pending) ||
      !hostmath::withType(x->dtype(), [](auto) { return true; }))
    return std::nullopt;
  if (x->rank() > 0 || state == NodeState::Pending)
    return Leaf{x->dtype(), 0, x, &x->device()};
  auto value = ops::readElement(*x, {});
  return value ? std::optional(Leaf{value->dtype, value->bits, nullptr, &x->device()})
               : std::nullopt;
}

/// Nested lists and tuples of leaves, all of one shape.
class Packer {
public:
  /// False when it is not for us, errors included.
  bool look(PyObject *object) { return visit(object, 0); }
  Result<Array> pack(rt::Device &device) {
    Shape dims(std::span<const int64_t>(shape.data(), depth));
    GRAPHC_ASSIGN(NodeRef node, small::makeNode(dtype, dims, device));
    auto *to = static_cast<char *>(node->buffer()->host());
    for (const Leaf &leaf : leaves)
      if (!put(leaf, to))
        return Array();
    return Array(std::move(node));
  }
  /// What is looked at becomes elements of dtype `t`. False where that takes more than a conversion
  /// of numbers that has nothing to report.
  bool become(DType t) {
    dtype = t;
    return std::ranges::all_of(leaves, [t](Leaf &leaf) {
      if (leaf.array || leaf.dtype == t)
        return leaf.dtype == t;
      return isComplex(t) ? isPartOf(leaf, t) : convert(leaf, t);
    });
  }
  rt::Device *device() const { return at; }
  /// Arrays among the leaves that are to be computed first.
  std::vector<Array> pending;
  /// From this many leaves on they are: each would be a kernel of a joined array.
  bool isMany() const { return leaves.size() >= small::kVeryMany; }

private:
  static constexpr size_t kMostDepth = 8;
  /// More numbers without an array among them are NumPy's, which is quick at them.
  static constexpr size_t kMostLeaves = 1 << 12;

  bool visit(PyObject *object, size_t level) {
    if (PyList_CheckExact(object) || PyTuple_CheckExact(object)) {
      Py_ssize_t count = PySequence_Fast_GET_SIZE(object);
      if (count == 0 || level >= kMostDepth || !extend(level, count))
        return false;
      if (leaves.empty())
        leaves.reserve(static_cast<size_t>(std::min<Py_ssize_t>(count, kMostLeaves)));
      for (Py_ssize_t i = 0; i < count; ++i)
        if (!visit(PySequence_Fast_GET_ITEM(object, i), level + 1))
          return false;
      return true;
    }
    auto leaf = leafOf(object);
    if (!leaf || (at && leaf->device && at != leaf->device))
      return false;
    at = leaf->device ? leaf->device : at;
    if (!at && leaves.size() >= kMostLeaves)
      return false;
    if (leaf->array && leaf->array->storage()->current()->state() == NodeState::Pending)
      pending.push_back(*leaf->array);
    if (leaf->array)
      for (int64_t size : leaf->array->shape())
        if (size == 0 || level >= kMostDepth || !extend(level++, size))
          return false;
    if (isClosed ? depth != level : depth > level)
      return false;
    isClosed = true;
    dtype = leaves.empty() ? leaf->dtype : op::promoteTypes(dtype, leaf->dtype);
    leaves.push_back(*leaf);
    return true;
  }
  /// Whether each part of a number becomes one of the complex dtype `t` as a real number does.
  static bool isPartOf(const Leaf &leaf, DType t) {
    const DType part = realDType(t);
    if (!isComplex(leaf.dtype))
      return elementOf(leaf.bits, leaf.dtype, part).has_value();
    return std::ranges::all_of(leaf.parts, [part](double each) {
      return elementOf(std::bit_cast<uint64_t>(each), DType::Float64, part).has_value();
    });
  }
  static bool convert(Leaf &leaf, DType t) {
    auto bits = isComplex(leaf.dtype) && t == DType::Bool
                    ? std::optional<uint64_t>(leaf.parts[0] != 0 || leaf.parts[1] != 0)
                    : elementOf(leaf.bits, leaf.dtype, t);
    leaf = Leaf{t, bits.value_or(0), nullptr, leaf.device};
    return bits.has_value();
  }
  bool extend(size_t level, int64_t size) {
    if (level < depth)
      return shape[level] == size;
    shape[depth++] = size;
    return !isClosed;
  }
  bool put(const Leaf &leaf, char *&to) const {
    if (leaf.array)
      return hostmath::withType(dtype, [&]<typename T>(T) {
        return hostmath::withType(leaf.dtype, [&]<typename S>(S) { return copy<S, T>(leaf, to); });
      });
    if (isComplex(dtype))
      return putComplex(leaf, to);
    auto bits = hostmath::converted(leaf.bits, leaf.dtype, dtype);
    if (!bits)
      return false;
    auto size = static_cast<size_t>(itemSize(dtype));
    std::memcpy(to, &*bits, size); // little-endian: the low bytes are the value
    to += size;
    return true;
  }
  bool putComplex(const Leaf &leaf, char *&to) const {
    const DType part = realDType(dtype);
    const auto size = static_cast<size_t>(itemSize(part));
    const bool isReal = !isComplex(leaf.dtype);
    for (const double &each : leaf.parts) {
      auto bits = isReal && &each == leaf.parts.data()
                      ? hostmath::converted(leaf.bits, leaf.dtype, part)
                      : hostmath::converted(std::bit_cast<uint64_t>(each), DType::Float64, part);
      if (!bits)
        return false;
      std::memcpy(to, &*bits, size);
      to += size;
    }
    return true;
  }
  template <typename S, typename T>
  static bool copy(const Leaf &leaf, char *&to) {
    const View &view = leaf.array->view();
    NodeRef base = leaf.array->storage()->current();
    if (base->state() != NodeState::Ready || !base->buffer()->host())
      return false;
    auto *from = static_cast<const S *>(base->buffer()->host()) + view.offset();
    to = reinterpret_cast<char *>(
        small::gather(from, view.shape(), view.strides(), reinterpret_cast<T *>(to)));
    return true;
  }

  std::array<int64_t, kMostDepth> shape;
  size_t depth = 0;
  bool isClosed = false; ///< the rank is known
  DType dtype = DType::Bool;
  std::vector<Leaf> leaves;
  rt::Device *at = nullptr;
};

/// Copying less than this costs no more than holding the memory.
constexpr int64_t kLentBytes = 16 << 10;

/// Of a row-major NumPy array.
constexpr int kDense =
    pb::detail::npy_api::NPY_ARRAY_C_CONTIGUOUS_ | pb::detail::npy_api::NPY_ARRAY_ALIGNED_;

/// The type of a row-major NumPy array of a dtype of ours; nothing for others.
std::optional<op::TensorType> denseType(PyObject *object) {
  const auto *numpy = pb::detail::array_proxy(object);
  auto dtype =
      (numpy->flags & kDense) == kDense && numpy->nd > 0 ? knownDType(numpy->descr) : std::nullopt;
  if (!dtype)
    return std::nullopt;
  Shape shape;
  shape.resize(static_cast<size_t>(numpy->nd));
  std::copy_n(numpy->dimensions, shape.size(), shape.begin());
  return op::TensorType{*dtype, shape};
}

} // namespace

const void *denseOfNumpy(PyObject *object, DType t, std::span<const int64_t> shape) {
  if (!isNumpyArray(object) || t == DType::Bool)
    return nullptr;
  const auto *numpy = pb::detail::array_proxy(object);
  const std::span sizes(numpy->dimensions, static_cast<size_t>(numpy->nd));
  const bool isAlike = (numpy->flags & kDense) == kDense && std::ranges::equal(sizes, shape) &&
                       knownDType(numpy->descr) == t;
  return isAlike ? numpy->data : nullptr;
}

namespace {

/// A copy of a row-major NumPy array of a dtype of ours; a null array for others.
Array copyOfNumpy(PyObject *object, rt::Device *device) {
  auto type = denseType(object);
  return type ? unwrap(ops::fromHost(pb::detail::array_proxy(object)->data, *type, device))
              : Array();
}

PyObject *pack(PyObject *, PyObject *object) {
  return guarded([&]() -> PyObject * {
    rt::Device *device = unwrap(currentDevice());
    if (isNumpyArray(object) && !Trace::active()) {
      Array copied = copyOfNumpy(object, device);
      if (copied.isNull())
        Py_RETURN_NONE;
      return wrap(std::move(copied));
    }
    if (Trace::active())
      Py_RETURN_NONE;
    Array packed = packSequence(object, *device, false);
    if (packed.isNull())
      Py_RETURN_NONE;
    return wrap(std::move(packed));
  });
}

/// packSequence() of numbers as elements of a dtype, or of the one that they promote to.
Array packAs(PyObject *object, rt::Device &device, bool isRead, std::optional<DType> dtype) {
  Packer packer;
  auto isOurs = [&] {
    return packer.look(object) && (!packer.device() || packer.device() == &device) &&
           (!dtype || packer.become(*dtype));
  };
  if (!(PyList_CheckExact(object) || PyTuple_CheckExact(object)) || !mayBeOnHost(device) ||
      !isOurs())
    return Array();
  if (!packer.pending.empty()) {
    if (!packer.isMany() && !isRead)
      return Array();
    std::vector<Array *> arrays;
    for (Array &x : packer.pending)
      arrays.push_back(&x);
    evaluateNow(arrays, "loop");
    packer = Packer(); // other threads may have changed the sequence
    if (!isOurs() || !packer.pending.empty())
      return Array();
  }
  return unwrap(packer.pack(device));
}

/// The dtype that a call has besides its first argument, by place or name; false where there are
/// other arguments, or it is no dtype that is known quickly.
bool readDType(PyObject *const *args, Py_ssize_t count, PyObject *names,
               std::optional<DType> &dtype) {
  const Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0;
  if (count < 1 || count + named > 2 ||
      (named && PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "dtype") != 0))
    return false;
  if (count + named == 1 || args[1] == Py_None)
    return true;
  dtype = namedDType(args[1]);
  return dtype.has_value();
}

/// A size or a tuple of sizes; false for what is neither, or negative.
bool sizesOf(PyObject *object, Shape &shape) {
  auto sizeOf = [](PyObject *o) {
    return PyLong_CheckExact(o) ? PyLong_AsLongLong(o) : -1; // one that does not fit is -1
  };
  if (!PyTuple_CheckExact(object)) {
    shape = {sizeOf(object)};
  } else {
    shape.resize(static_cast<size_t>(PyTuple_GET_SIZE(object)));
    for (size_t i = 0; i < shape.size(); ++i)
      shape[i] = sizeOf(PyTuple_GET_ITEM(object, static_cast<Py_ssize_t>(i)));
  }
  PyErr_Clear();
  return std::ranges::all_of(shape, [](int64_t n) { return n >= 0; });
}

/// filled(shape or array, value, dtype): None where the general way has to look at it.
PyObject *filled(PyObject *, PyObject *const *args, Py_ssize_t count) {
  return guarded([&]() -> PyObject * {
    if (count != 3)
      throw pb::type_error("filled takes a shape, a value and a dtype");
    const Array *like = asArray(args[0]);
    Shape shape;
    if (like)
      shape = like->shape();
    else if (!sizesOf(args[0], shape))
      Py_RETURN_NONE;
    if (!PyLong_CheckExact(args[1]) && !PyFloat_CheckExact(args[1]))
      Py_RETURN_NONE;
    auto dtype = args[2] == Py_None && like ? std::optional(like->dtype()) : namedDType(args[2]);
    if (!dtype || (PyFloat_CheckExact(args[1]) && isInteger(*dtype))) // converted as arrays are
      Py_RETURN_NONE;
    rt::Device *device = like ? &like->device() : nullptr;
    return wrap(settled(unwrap(ops::full(shape, toScalar(args[1]), *dtype, device))));
  });
}

/// arange(start, stop, step, dtype, device)
PyObject *arange(PyObject *, PyObject *const *args, Py_ssize_t count) {
  return guarded([&] {
    if (count != 5)
      throw pb::type_error("arange takes a start, a stop, a step, a dtype and a device");
    return wrap(ops::arange(toScalar(args[0]), toScalar(args[1]), toScalar(args[2]),
                            toOptionalDType(args[3]), toDevice(args[4])));
  });
}

/// zeros(shape, dtype=float64) and the like of `value`; NotImplemented for other arguments. `own`
/// is the dtype where none is given.
PyObject *plainFilled(const op::Scalar &value, PyObject *const *args, Py_ssize_t count,
                      PyObject *names, DType own = DType::Float64) {
  return guarded([&]() -> PyObject * {
    std::optional<DType> dtype;
    Shape shape;
    if (!readDType(args, count, names, dtype) || !sizesOf(args[0], shape))
      Py_RETURN_NOTIMPLEMENTED;
    dtype = dtype.value_or(own);
    PlainScope scope;
    if (auto bits = ops::operandBits(Operand(value), realDType(*dtype)))
      if (PyObject *made = directFull(shape, *bits, *dtype, *unwrap(currentDevice())))
        return made;
    Array made = unwrap(ops::full(shape, value, *dtype, nullptr));
    return wrap(shape.rank() == 0 ? settled(std::move(made)) : std::move(made));
  });
}

/// eye(n) and identity(n) in a loop.
PyObject *plainEye(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  constexpr int64_t kMost = 32;
  return guarded([&]() -> PyObject * {
    int overflow = 0;
    const int64_t n = count == 1 && !names && PyLong_CheckExact(args[0])
                          ? PyLong_AsLongLongAndOverflow(args[0], &overflow)
                          : -1;
    if (n < 1 || n > kMost || overflow)
      Py_RETURN_NOTIMPLEMENTED;
    PlainScope scope;
    rt::Device *device = unwrap(currentDevice());
    if (!small::isLoop(op::OpKind::Full, n * n, *device, /*counts=*/false))
      Py_RETURN_NOTIMPLEMENTED;
    NodeRef made = unwrap(small::makeNode(DType::Float64, {n, n}, *device));
    auto *to = small::dataOf<double>(made);
    std::fill_n(to, n * n, 0.0);
    for (int64_t i = 0; i < n; ++i)
      to[i * (n + 1)] = 1.0;
    return wrap(Array(std::move(made)));
  });
}

/// A number between which and others float64 numbers lie.
std::optional<double> endOfRange(PyObject *object) {
  const Array *x = asAnyArray(object);
  const KnownValue *known = x ? x->known() : nullptr;
  const auto own = known ? std::optional(known->dtype)
                   : x   ? std::nullopt
                         : numpyScalarDType(object);
  if (own ? isInexact(*own) && *own != DType::Float64
          : !PyFloat_CheckExact(object) && !PyLong_CheckExact(object))
    return std::nullopt;
  const auto bits = heldBits(object, DType::Float64);
  return bits ? std::optional(std::bit_cast<double>(*bits)) : std::nullopt;
}

/// linspace(start, stop, count) of numbers in a loop, as the package's formula has it.
PyObject *plainLinspace(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return guarded([&]() -> PyObject * {
    int64_t points = 50;
    int overflow = 0;
    if (count < 2 || count > 3 || names || Trace::active() ||
        (count == 3 && !PyLong_CheckExact(args[2])))
      Py_RETURN_NOTIMPLEMENTED;
    const auto from = endOfRange(args[0]), to = endOfRange(args[1]);
    if (!from || !to)
      Py_RETURN_NOTIMPLEMENTED;
    if (count == 3)
      points = PyLong_AsLongLongAndOverflow(args[2], &overflow);
    const double first = *from, last = *to;
    const double step = (last - first) / static_cast<double>(points - 1);
    PlainScope scope;
    rt::Device *device = unwrap(currentDevice());
    if (overflow || points < 2 || !std::isfinite(step) || step == 0 ||
        !small::isLoop(op::OpKind::Iota, points, *device)) // which nothing else counts there
      Py_RETURN_NOTIMPLEMENTED;
    NodeRef made = unwrap(small::steps({first, step, false, false}, points, *device));
    small::dataOf<double>(made)[points - 1] = last;
    return wrap(Array(std::move(made)));
  });
}

/// NumPy's function, for a dtype that we have none for.
template <const char *kName>
PyObject *theirFilled(PyObject *const *args, Py_ssize_t count, PyObject *names) {
  static constinit Imported theirs("numpy", kName);
  const bool isNamed = names && PyTuple_GET_SIZE(names) == 1 && count == 1 &&
                       PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "dtype") == 0;
  const bool isPlain =
      count > 0 && !Trace::active() && (PyLong_CheckExact(args[0]) || PyTuple_CheckExact(args[0]));
  if (!isPlain || !(isNamed || (count == 2 && !names)) || !isTheirDType(args[1]))
    return nullptr;
  PyObject *made = PyObject_Vectorcall(theirs.get(), args, static_cast<size_t>(count), names);
  if (!made) // what is wrong is said by the general way
    PyErr_Clear();
  return made;
}
constexpr char kZeros[] = "zeros", kEmpty[] = "empty", kOnes[] = "ones";

PyObject *plainZeros(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  PyObject *theirs = theirFilled<kZeros>(args, count, names);
  return theirs ? theirs : plainFilled(op::Scalar::ofInt(0), args, count, names);
}
PyObject *plainEmpty(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  PyObject *theirs = theirFilled<kEmpty>(args, count, names);
  return theirs ? theirs : plainFilled(op::Scalar::ofInt(0), args, count, names);
}
PyObject *plainOnes(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  PyObject *theirs = theirFilled<kOnes>(args, count, names);
  return theirs ? theirs : plainFilled(op::Scalar::ofInt(1), args, count, names);
}

/// full(shape, value, dtype=None) of a number of Python's that the dtype has.
PyObject *plainFull(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  const Py_ssize_t given = count + (names ? PyTuple_GET_SIZE(names) : 0);
  const bool isFloat = count > 1 && PyFloat_CheckExact(args[1]);
  if (count < 2 || !(isFloat || PyLong_CheckExact(args[1]) || PyBool_Check(args[1])))
    Py_RETURN_NOTIMPLEMENTED;
  return guarded([&]() -> PyObject * {
    PyObject *const rest[] = {args[0], given > 2 ? args[2] : Py_None};
    const DType own = isFloat ? DType::Float64 : PyBool_Check(args[1]) ? DType::Bool : DType::Int64;
    const op::Scalar value = toScalar(args[1]);
    std::optional<DType> dtype;
    // What does not fit, or is cut, is the package's to tell.
    if (given > 3 || !readDType(rest, count - 1, names, dtype) ||
        (dtype && (own == DType::Bool) != (*dtype == DType::Bool)) ||
        !ops::operandBits(Operand(value), realDType(dtype.value_or(own))))
      Py_RETURN_NOTIMPLEMENTED;
    return plainFilled(value, rest, count - 1, names, own);
  });
}

/// A float or an integer, or a single result that the host has, as an array of no axes, outside
/// traces; null, with no error set, for others.
PyObject *ofNumber(PyObject *object, std::optional<DType> dtype) {
  const Array *x = asAnyArray(object);
  const KnownValue *known = x ? x->known() : nullptr;
  const bool isFloat64 =
      PyFloat_CheckExact(object) || (!x && numpyScalarDType(object) == DType::Float64);
  if (Trace::active() || (!known && !isFloat64 && !PyLong_CheckExact(object)))
    return nullptr;
  return guarded([&]() -> PyObject * {
    if (known)
      return !dtype || *dtype == known->dtype ? wrap(settled(Array(*known))) : nullptr;
    rt::Device *device = unwrap(currentDevice());
    int overflow = 0;
    const int64_t whole = isFloat64 ? 0 : PyLong_AsLongLongAndOverflow(object, &overflow);
    const DType own = isFloat64 ? DType::Float64 : DType::Int64;
    if (!mayBeOnHost(*device) || overflow || (dtype && *dtype != own && *dtype != DType::Float64))
      return nullptr;
    const DType t = dtype.value_or(own);
    const uint64_t bits = isFloat64 ? std::bit_cast<uint64_t>(PyFloat_AS_DOUBLE(object))
                          : t == DType::Float64
                              ? std::bit_cast<uint64_t>(static_cast<double>(whole))
                              : static_cast<uint64_t>(whole);
    return wrap(settled(Array(KnownValue{bits, t, device})));
  });
}

/// A row-major NumPy array with a device's name, outside traces; NotImplemented for others.
PyObject *ofNumpyOn(PyObject *const *args, Py_ssize_t count, PyObject *names) {
  if (count != 1 || !names || PyTuple_GET_SIZE(names) != 1 || !PyUnicode_CheckExact(args[1]) ||
      PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "device") != 0 ||
      !isNumpyArray(args[0]) || Trace::active())
    Py_RETURN_NOTIMPLEMENTED;
  return guarded([&]() -> PyObject * {
    Array copied = copyOfNumpy(args[0], toDevice(args[1]));
    if (copied.isNull())
      Py_RETURN_NOTIMPLEMENTED;
    return wrap(std::move(copied));
  });
}

bool isEmptySequence(PyObject *object) {
  return (PyList_CheckExact(object) || PyTuple_CheckExact(object)) &&
         PySequence_Fast_GET_SIZE(object) == 0;
}

/// One argument and a dtype: an array of several elements that has it, or what pack() takes.
PyObject *plainArray(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  std::optional<DType> dtype;
  if (count == 1 && names && PyTuple_GET_SIZE(names) == 1 && args[1] == Py_None &&
      PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, 0), "copy") == 0)
    if (const Array *x = asPlainArray(args[0]); x && x->rank() > 0)
      return Py_NewRef(args[0]);
  if (!readDType(args, count, names, dtype))
    return ofNumpyOn(args, count, names);
  if (PyObject *number = ofNumber(args[0], dtype); number || PyErr_Occurred())
    return number;
  if (isEmptySequence(args[0]) && !Trace::active())
    return guarded([&] {
      const DType t = dtype.value_or(DType::Float64);
      return wrap(unwrap(ops::full(Shape{0}, op::Scalar::ofInt(0), t, unwrap(currentDevice()))));
    });
  if (const Array *x = asAnyArray(args[0])) {
    const bool isOther = dtype && *dtype != x->dtype();
    if (x->rank() == 0 || x->isOpen() ||
        (isOther && op::promoteTypes(*dtype, x->dtype()) != *dtype))
      Py_RETURN_NOTIMPLEMENTED;
    return guarded([&]() -> PyObject * {
      PlainScope scope;
      if (isOther) {
        PyObject *made = directCast(*x, *dtype);
        if (!made && x->view().isContiguous())
          return wrap(copyOf(*x, ops::cast(*x, *dtype)));
        return made ? made : Py_NewRef(Py_NotImplemented);
      }
      if (PyObject *made = x->rank() > 1 ? directCast(*x, x->dtype()) : nullptr)
        return made;
      if (x->rank() > 1)
        Py_RETURN_NOTIMPLEMENTED;
      if (PyObject *made = directCopy(*x, x->shape()))
        return made;
      return wrap(copyOf(*x, ops::copy(*x)));
    });
  }
  if (dtype)
    return guarded([&]() -> PyObject * {
      Array packed =
          Trace::active() ? Array() : packAs(args[0], *unwrap(currentDevice()), false, dtype);
      if (packed.isNull())
        Py_RETURN_NOTIMPLEMENTED;
      return wrap(std::move(packed));
    });
  PyObject *packed = pack(self, args[0]);
  if (packed != Py_None)
    return packed;
  Py_DECREF(packed);
  Py_RETURN_NOTIMPLEMENTED;
}

PyObject *plainAsarray(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  std::optional<DType> dtype;
  if (!readDType(args, count, names, dtype))
    return ofNumpyOn(args, count, names);
  const Array *x = asAnyArray(args[0]);
  if (x && x->rank() > 0 && (!dtype || *dtype == x->dtype()))
    return Py_NewRef(args[0]);
  if (x && x->rank() > 1 && !x->view().isContiguous())
    Py_RETURN_NOTIMPLEMENTED; // converted in its order
  if (!dtype && isNumpyArray(args[0]) && pb::detail::array_proxy(args[0])->base) {
    PyObject *shared = guarded(
        [&] { return borrowed(pb::reinterpret_borrow<pb::object>(args[0])).release().ptr(); });
    if (shared != Py_None)
      return shared;
    Py_DECREF(shared);
  }
  return plainArray(self, args, count, names);
}

/// frombuffer(bytes, dtype=float64): a copy that may not be written to.
PyObject *plainFromBuffer(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  std::optional<DType> dtype;
  if (Trace::active() || !readDType(args, count, names, dtype) || !PyBytes_CheckExact(args[0]))
    Py_RETURN_NOTIMPLEMENTED;
  const DType t = dtype.value_or(DType::Float64);
  const int64_t size = PyBytes_GET_SIZE(args[0]), each = itemSize(t);
  if (t == DType::Bool || size == 0 || size % each != 0) // of any bytes but 0
    Py_RETURN_NOTIMPLEMENTED;
  return guarded([&] {
    const op::TensorType type{t, Shape{size / each}};
    Array read = unwrap(ops::fromHost(PyBytes_AS_STRING(args[0]), type, nullptr));
    read.lock();
    return wrap(std::move(read));
  });
}

/// fromiter(items, dtype): NumPy takes the items, in the program's own frame.
PyObject *plainFromIter(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  std::optional<DType> dtype;
  if (Trace::active() || count + (names ? PyTuple_GET_SIZE(names) : 0) != 2 ||
      !readDType(args, count, names, dtype) || !dtype || asAnyArray(args[0]))
    Py_RETURN_NOTIMPLEMENTED;
  return guarded([&]() -> PyObject * {
    static constinit Imported theirs("numpy", "fromiter");
    auto values = pb::reinterpret_steal<pb::object>(
        PyObject_Vectorcall(theirs.get(), args, static_cast<size_t>(count), names));
    if (!values)
      return nullptr;
    Array copied = copyOfNumpy(values.ptr(), unwrap(currentDevice()));
    return copied.isNull() ? values.release().ptr() : wrap(std::move(copied));
  });
}

/// arange(stop), arange(start, stop) and arange(start, stop, step) of Python's numbers.
PyObject *plainArange(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return guarded([&]() -> PyObject * {
    bool isPlain = count >= 1 && count <= 3 && !names;
    for (Py_ssize_t i = 0; isPlain && i < count; ++i)
      isPlain = PyLong_CheckExact(args[i]) || PyFloat_CheckExact(args[i]);
    if (!isPlain)
      Py_RETURN_NOTIMPLEMENTED;
    const auto zero = op::Scalar::ofInt(0), one = op::Scalar::ofInt(1);
    const auto step = count > 2 ? toScalar(args[2]) : one;
    if (step.kind == op::Scalar::Kind::Int ? step.integer == 0 : step.number == 0)
      Py_RETURN_NOTIMPLEMENTED;
    PlainScope scope;
    return wrap(ops::arange(count > 1 ? toScalar(args[0]) : zero, toScalar(args[count > 1 ? 1 : 0]),
                            step, std::nullopt, nullptr));
  });
}

PyMethodDef functions[] = {
    quick("plain_zeros", plainZeros),
    quick("plain_empty", plainEmpty),
    quick("plain_eye", plainEye),
    quick("plain_full", plainFull),
    quick("plain_linspace", plainLinspace),
    quick("plain_ones", plainOnes),
    quick("plain_array", plainArray),
    quick("plain_asarray", plainAsarray),
    quick("plain_frombuffer", plainFromBuffer),
    quick("plain_fromiter", plainFromIter),
    quick("plain_arange", plainArange),
    {"arange", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(arange)), METH_FASTCALL,
     "arange(start, stop, step, dtype, device)"},
    {"pack", pack, METH_O,
     "Nested sequences of numbers and computed arrays, or a NumPy array, as an array; None for "
     "others."},
    {"filled", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(filled)), METH_FASTCALL,
     "A new array of one value, or None where full() has to look at the arguments."},
    {nullptr, nullptr, 0, nullptr}};

} // namespace

Array argumentOfNumpy(PyObject *object, rt::Device &device, bool &isLent) {
  auto type = denseType(object);
  const auto *numpy = pb::detail::array_proxy(object);
  if (!type || (numpy->base && !borrowed(pb::reinterpret_borrow<pb::object>(object)).is_none()))
    return Array();
  bool sharesMemory = device.info().hostVisible || rt::choicesOf(device);
  if (!sharesMemory || byteCount(type->shape, type->dtype).value_or(0) < kLentBytes)
    return unwrap(ops::fromHost(numpy->data, *type, &device));
  isLent = true;
  std::shared_ptr<PyObject> owner(Py_NewRef(object), [](PyObject *held) {
    if (!Py_IsInitialized())
      return;
    pb::gil_scoped_acquire gil;
    Py_DECREF(held);
  });
  return unwrap(ops::wrapHost(numpy->data, *type, std::move(owner), &device, /*isShared=*/true));
}

/// One of integers or truths, as an array.
static pb::object indexOfNumpy(PyObject *object, rt::Device &device) {
  auto type = denseType(object);
  if (!type || type->shape.rank() == 0 || (!isInteger(type->dtype) && type->dtype != DType::Bool) ||
      byteCount(type->shape, type->dtype).value_or(kLentBytes) >= kLentBytes)
    return {};
  const void *data = pb::detail::array_proxy(object)->data;
  return pb::reinterpret_steal<pb::object>(wrap(unwrap(ops::fromHost(data, *type, &device))));
}

pb::object withOwnArrays(PyObject *key, rt::Device &device) {
  if (Trace::active())
    return {};
  if (isNumpyArray(key))
    return indexOfNumpy(key, device);
  if (!PyTuple_CheckExact(key))
    return {};
  const std::span<PyObject *> items(PySequence_Fast_ITEMS(key),
                                    static_cast<size_t>(PyTuple_GET_SIZE(key)));
  if (std::ranges::none_of(items, isNumpyArray))
    return {};
  pb::tuple made(items.size());
  for (size_t i = 0; i < items.size(); ++i) {
    auto item = isNumpyArray(items[i]) ? indexOfNumpy(items[i], device)
                                       : pb::reinterpret_borrow<pb::object>(items[i]);
    if (!item)
      return {};
    PyTuple_SET_ITEM(made.ptr(), static_cast<Py_ssize_t>(i), item.release().ptr());
  }
  return made;
}

Array toReadNow(pb::handle object, rt::Device *device) {
  bool isLent = false;
  if (!Trace::active() && isNumpyArray(object.ptr()))
    if (Array read =
            argumentOfNumpy(object.ptr(), device ? *device : *unwrap(currentDevice()), isLent);
        !read.isNull())
      return read;
  return toOpenArray(object, device);
}

Array packSequence(PyObject *object, rt::Device &device, bool isRead) {
  return packAs(object, device, isRead, std::nullopt);
}

Array packElements(PyObject *object, rt::Device &device, DType t) {
  return packAs(object, device, true, t);
}

void defineConstructors(pb::module_ &m) {
  if (PyModule_AddFunctions(m.ptr(), functions) < 0)
    throw pb::error_already_set();
  m.attr("NEVER") = small::kNever;
  m.def("set_loop_turns", small::setLoopTurns, pb::arg("turns"),
        "After how many turns of a line its operations on small arrays are computed at once "
        "(GRAPHC_LOOP_TURNS); returns what held before.");
}

} // namespace graphc::py
