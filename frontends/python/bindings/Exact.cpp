// Functions whose results no rounding or order of operations decides: what they give for small
// arrays in a loop is the same whoever computes it. As formulas over operations they cost as many
// recordings or loops as they have operations; NumPy's own function is one call.
#include "frontends/python/bindings/Bindings.h"
#include "frontends/python/bindings/Direct.h"
#include "frontends/python/bindings/NumpyDraws.h"

#include "frontends/record/FloatErrors.h"
#include "frontends/record/Known.h"
#include "frontends/record/Session.h"
#include "frontends/record/SmallElements.h"
#include "frontends/record/Trace.h"

#include <pybind11/numpy.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>

namespace graphc::py {
namespace {

using NumpyArray = pb::detail::PyArray_Proxy;

/// Of what our operations are many passes over.
bool isMany(Exact kind) { return kind == Exact::Passes || kind == Exact::Bits; }

/// The arguments of one call as NumPy takes them: arrays as views of their memory, which nobody may
/// keep or write.
class Given {
public:
  explicit Given(Exact kind) : kind(kind) {}

  /// Looks at an argument without computing anything. False: the call is not for NumPy.
  bool look(PyObject *object, int depth = 0) {
    if (object == Py_None || PyBool_Check(object) || PyUnicode_CheckExact(object))
      return true;
    if (PyFloat_CheckExact(object))
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
    if (!x || x->isOpen() || !onHost(x->device()) || (device && device != &x->device()) ||
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

  bool lookInto(PyObject *object, int depth) {
    Py_ssize_t count = PySequence_Fast_GET_SIZE(object);
    if (depth == kMostDepth || count > kMostItems)
      return false;
    for (Py_ssize_t i = 0; i < count; ++i)
      if (!look(PySequence_Fast_GET_ITEM(object, i), depth + 1))
        return false;
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
      auto *all = static_cast<const char *>(elements.base->buffer()->host());
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

/// An array of those elements.
pb::object copied(const NumpyArray *x, DType dtype, rt::Device &device) {
  const Shape shape(std::span<const int64_t>(x->dimensions, static_cast<size_t>(x->nd)));
  if (Made made = takeMade(dtype, shape, device); made.object) {
    std::memcpy(made.data(), x->data, static_cast<size_t>(small::countOf(shape) * itemSize(dtype)));
    return pb::reinterpret_steal<pb::object>(finish(std::move(made)));
  }
  NodeRef node = unwrap(small::makeNode(dtype, shape, device));
  if (node->bytes() > 0)
    std::memcpy(node->buffer()->host(), x->data, static_cast<size_t>(node->bytes()));
  return wrapped(Array(std::move(node)));
}

/// A new array of NumPy's as ours; null where it is none of ours, or a view.
pb::object arrayOf(PyObject *object, const Given &given, rt::Device &device) {
  const auto *x = reinterpret_cast<const NumpyArray *>(object);
  auto dtype = knownDType(x->descr);
  pb::object dense; // nonzero() of matrices gives the columns of one array
  if (dtype && !given.isShown(x->data) &&
      !(x->flags & pb::detail::npy_api::NPY_ARRAY_C_CONTIGUOUS_)) {
    dense = pb::handle(object).attr("copy")();
    x = reinterpret_cast<const NumpyArray *>(dense.ptr());
  }
  if (!dtype || x->nd == 0 || given.isShown(x->data))
    return {};
  return copied(x, *dtype, device);
}

/// A result as ours; null where it is nothing of ours.
pb::object resultOf(PyObject *object, const Given &given, rt::Device &device) {
  if (isNumpyArray(object))
    return arrayOf(object, given, device);
  if (object == Py_None || PyLong_CheckExact(object) || PyBool_Check(object))
    return pb::reinterpret_borrow<pb::object>(object);
  if (PyTuple_CheckExact(object) || PyList_CheckExact(object)) {
    Py_ssize_t count = PySequence_Fast_GET_SIZE(object);
    pb::list items;
    for (Py_ssize_t i = 0; i < count; ++i) {
      pb::object item = resultOf(PySequence_Fast_GET_ITEM(object, i), given, device);
      if (!item)
        return {};
      items.append(std::move(item));
    }
    return PyTuple_CheckExact(object) ? pb::object(pb::tuple(items)) : pb::object(items);
  }
  auto dtype = knownDType(reinterpret_cast<PyObject *>(Py_TYPE(object)));
  if (!dtype || isComplex(*dtype) || PyFloat_CheckExact(object))
    return {};
  auto number = pb::reinterpret_steal<pb::object>(isInteger(*dtype) ? PyNumber_Index(object)
                                                                    : Py_NewRef(object));
  if (!number)
    throw pb::error_already_set();
  auto bits = ops::operandBits(Operand(toScalar(number), *dtype), *dtype);
  return bits ? pb::reinterpret_steal<pb::object>(wrapKnown({*bits, *dtype, &device}))
              : pb::object();
}

/// Whether NumPy's answer to the call is wanted: of Python's numbers at once, of small arrays in a
/// loop, and, of what would be many operations, wherever it can be had.
bool isWanted(const Given &given, Exact kind) {
  if (Trace::active() || (given.most > small::kFew && !isMany(kind)))
    return false;
  if (!given.device)
    return unwrap(currentDevice()) && onHost(*unwrap(currentDevice()));
  if (isMany(kind) && given.isReady && small::loopTurns() != small::kNever)
    return true;
  RecordScope scope;
  return small::isLoop(op::OpKind::Gather, std::min(given.most, small::kFew), *given.device);
}

/// The arguments of a call as NumPy's function takes them.
struct TheirArguments {
  static constexpr Py_ssize_t kMost = 8;

  /// False where one cannot be made.
  bool make(Given &given, PyObject *const *args, size_t count) {
    for (size_t i = 0; i < count; ++i) {
      made[i] = given.make(args[i]);
      plain[i] = made[i].ptr();
      if (!plain[i])
        return false;
    }
    return true;
  }

  std::array<pb::object, kMost> made; ///< owns what `plain` points to
  std::array<PyObject *, kMost> plain{};
};

/// A call without its output, where that is an array of ours by name.
struct Call {
  std::array<PyObject *, TheirArguments::kMost> args{};
  Py_ssize_t count = 0, all = 0;
  pb::object names; ///< or null
  PyObject *out = nullptr;

  bool read(PyObject *const *given, Py_ssize_t places, PyObject *named) {
    const Py_ssize_t size = named ? PyTuple_GET_SIZE(named) : 0;
    if (places + size > TheirArguments::kMost)
      return false;
    count = places;
    std::copy_n(given, places, args.begin());
    pb::list rest;
    for (Py_ssize_t i = 0; i < size; ++i) {
      PyObject *name = PyTuple_GET_ITEM(named, i), *value = given[places + i];
      if (PyUnicode_CompareWithASCIIString(name, "out") == 0 && asAnyArray(value)) {
        out = value;
        continue;
      }
      args[static_cast<size_t>(count + static_cast<Py_ssize_t>(rest.size()))] = value;
      rest.append(pb::handle(name));
    }
    all = count + static_cast<Py_ssize_t>(rest.size());
    if (out && all > count)
      names = pb::tuple(rest);
    else if (!out)
      names = pb::reinterpret_borrow<pb::object>(named);
    return true;
  }
};

PyObject *asked(PyObject *theirs, Exact kind, PyObject *const *args, Py_ssize_t count,
                PyObject *names) {
  Call call;
  if (!call.read(args, count, names))
    return nullptr;
  Given given(kind);
  given.takesNumpys = true;
  for (Py_ssize_t i = 0; i < call.all; ++i)
    if (!given.look(call.args[static_cast<size_t>(i)]))
      return nullptr;
  if (!isWanted(given, kind))
    return nullptr;
  TheirArguments passed;
  if (!passed.make(given, call.args.data(), static_cast<size_t>(call.all)))
    return nullptr;
  auto result = pb::reinterpret_steal<pb::object>(PyObject_Vectorcall(
      theirs, passed.plain.data(), static_cast<size_t>(count), call.names.ptr()));
  if (!result)
    throw pb::error_already_set();
  const auto theirOwn = std::span(call.args).first(static_cast<size_t>(call.all));
  if (std::ranges::find(theirOwn, result.ptr()) != theirOwn.end()) // an output of NumPy's
    return result.release().ptr();
  rt::Device &device = given.device ? *given.device : *unwrap(currentDevice());
  pb::object ours = resultOf(result.ptr(), given, device);
  if (!call.out)
    return ours.release().ptr();
  passed.made = {};
  given.drop(); // the output may be in memory of an argument
  return writtenTo(call.out, ours);
}

/// applied(ufunc, ...): a ufunc of another package, of small arrays that the host has and numbers.
/// Its result, NumPy's where that is nothing to be copied; NotImplemented for other arguments.
PyObject *applied(PyObject *, PyObject *const *args, Py_ssize_t count) {
  return guarded([&]() -> PyObject * {
    if (count < 2 || count > TheirArguments::kMost || Trace::active())
      Py_RETURN_NOTIMPLEMENTED;
    Given given(Exact::Any);
    for (Py_ssize_t i = 1; i < count; ++i)
      if (!given.look(args[i]))
        Py_RETURN_NOTIMPLEMENTED;
    TheirArguments passed;
    const auto size = static_cast<size_t>(count - 1);
    if (!given.device || !passed.make(given, args + 1, size))
      Py_RETURN_NOTIMPLEMENTED;
    auto result = pb::reinterpret_steal<pb::object>(
        PyObject_Vectorcall(args[0], passed.plain.data(), size, nullptr));
    if (!result)
      throw pb::error_already_set();
    constexpr int kDense = pb::detail::npy_api::NPY_ARRAY_C_CONTIGUOUS_;
    const bool isDense = !isNumpyArray(result.ptr()) ||
                         (reinterpret_cast<const NumpyArray *>(result.ptr())->flags & kDense) != 0;
    pb::object ours = isDense ? resultOf(result.ptr(), given, *given.device) : pb::object();
    return (ours ? std::move(ours) : std::move(result)).release().ptr();
  });
}

/// Whether what an argument holds becomes elements of dtype `t` by a conversion that has nothing to
/// tell of.
bool isAlike(PyObject *object, DType t) {
  if (PyFloat_CheckExact(object))
    return t == DType::Float64;
  if (PyList_CheckExact(object) || PyTuple_CheckExact(object)) {
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(object); ++i)
      if (!isAlike(PySequence_Fast_GET_ITEM(object, i), t))
        return false;
    return true;
  }
  if (auto single = numpyScalarDType(object))
    return *single == t || !isInexact(*single);
  const Array *x = asAnyArray(object);
  return !x || x->dtype() == t || !isInexact(x->dtype());
}

/// Lets NumPy's function change the memory of its first argument.
PyObject *updated(PyObject *theirs, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  const Py_ssize_t all = count + (names ? PyTuple_GET_SIZE(names) : 0);
  Array *target = count > 1 && all <= TheirArguments::kMost ? asAnyArray(args[0]) : nullptr;
  if (!target || target->isValue() || target->view().isReadOnly() || target->view().isRecast())
    return nullptr;
  Given given(Exact::Any);
  for (Py_ssize_t i = 0; i < all; ++i) {
    const Array *x = i ? asAnyArray(args[i]) : nullptr;
    if (!given.look(args[i]) || !isAlike(args[i], target->dtype()) ||
        (x && !x->known() && x->sharesStorage(*target)))
      return nullptr;
  }
  if (given.most > small::kFew || !isWanted(given, Exact::Any) || !unwrap(small::settle(*target)))
    return nullptr;
  TheirArguments passed;
  if (!passed.make(given, args, static_cast<size_t>(all)))
    return nullptr;
  pb::detail::array_proxy(passed.plain[0])->flags |= pb::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  PyObject *result =
      PyObject_Vectorcall(theirs, passed.plain.data(), static_cast<size_t>(count), names);
  passed.made = {};
  given.drop(); // nobody else may hold the memory that has a new version now
  target->storage()->update([](rt::Buffer &) {});
  return result;
}

/// What is given to NumPy's draws: single results as numbers.
pb::object drawArgument(Given &given, PyObject *object) {
  const Array *x = asAnyArray(object);
  const KnownValue *known = x ? x->known() : nullptr;
  if (known)
    return scalarObject(&known->bits, known->dtype);
  pb::object made = given.make(object);
  return made && x && x->isValue() ? pb::object(made[pb::tuple()]) : made;
}

/// Python's numbers, and tuples of integers, which NumPy takes as they are.
bool isAsItIs(PyObject *object) {
  if (!PyTuple_CheckExact(object))
    return PyFloat_CheckExact(object) || PyLong_CheckExact(object);
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(object); ++i)
    if (!PyLong_CheckExact(PyTuple_GET_ITEM(object, i)))
      return false;
  return true;
}

/// The same where all arguments are such, or single results that the host has; null, with no error
/// set and nothing drawn, for others.
PyObject *drawnByNumbers(PyObject *theirs, PyObject *owner, PyObject *const *args,
                         Py_ssize_t count) {
  constexpr Py_ssize_t kMost = 4;
  if (count > kMost || Trace::active())
    return nullptr;
  std::array<PyObject *, kMost + 1> passed{owner};
  std::array<pb::object, kMost> numbers;
  bool hasArrays = false;
  for (size_t i = 0; i < static_cast<size_t>(count); ++i) {
    passed[i + 1] = args[i];
    if (isAsItIs(args[i]))
      continue;
    const Array *x = asAnyArray(args[i]);
    const KnownValue *known = x ? x->known() : nullptr;
    if (!known || known->dtype != DType::Float64)
      return nullptr;
    numbers[i] =
        pb::reinterpret_steal<pb::object>(PyFloat_FromDouble(std::bit_cast<double>(known->bits)));
    passed[i + 1] = numbers[i].ptr();
    hasArrays = true;
  }
  rt::Device *device = unwrap(currentDevice());
  if (!onHost(*device))
    return nullptr;
  PyObject *result =
      PyObject_Vectorcall(theirs, passed.data(), static_cast<size_t>(count) + 1, nullptr);
  if (!result)
    throw pb::error_already_set();
  if (!isNumpyArray(result) &&
      (!hasArrays || PyFloat_CheckExact(result) || PyLong_CheckExact(result)))
    return result;
  auto held = pb::reinterpret_steal<pb::object>(result);
  if (!isNumpyArray(result)) {
    pb::object ours = resultOf(result, Given(Exact::Any), *device);
    return (ours ? std::move(ours) : std::move(held)).release().ptr();
  }
  const auto *x = reinterpret_cast<const NumpyArray *>(result);
  auto dtype = knownDType(x->descr);
  const bool isOurs =
      dtype && x->nd > 0 && (x->flags & pb::detail::npy_api::NPY_ARRAY_C_CONTIGUOUS_);
  return (isOurs ? copied(x, *dtype, *device) : std::move(held)).release().ptr();
}

/// NumPy's draw of an owner's with arguments that the host has: its arrays become ours, and its
/// numbers stay what they are unless there are arrays among the arguments. NotImplemented, with
/// nothing drawn, for other arguments.
PyObject *drawn(PyObject *theirs, PyObject *owner, PyObject *const *args, Py_ssize_t count,
                PyObject *names) {
  const Py_ssize_t all = count + (names ? PyTuple_GET_SIZE(names) : 0);
  Given given(Exact::Any);
  bool isPlain = all < TheirArguments::kMost && !Trace::active();
  for (Py_ssize_t i = 0; isPlain && i < all; ++i)
    isPlain = given.look(args[i]);
  rt::Device *device = isPlain && given.device ? given.device : unwrap(currentDevice());
  if (!isPlain || !onHost(*device))
    Py_RETURN_NOTIMPLEMENTED;
  TheirArguments passed;
  passed.plain[0] = owner;
  for (size_t i = 0; i < static_cast<size_t>(all); ++i) {
    passed.made[i + 1] = drawArgument(given, args[i]);
    passed.plain[i + 1] = passed.made[i + 1].ptr();
    if (!passed.plain[i + 1])
      Py_RETURN_NOTIMPLEMENTED;
  }
  auto result = pb::reinterpret_steal<pb::object>(
      PyObject_Vectorcall(theirs, passed.plain.data(), static_cast<size_t>(count) + 1, names));
  if (!result)
    throw pb::error_already_set();
  PyObject *plain = result.ptr();
  const bool isArray = isNumpyArray(plain);
  if (!isArray && (given.arrays == 0 || PyFloat_CheckExact(plain) || PyLong_CheckExact(plain)))
    return result.release().ptr();
  if (isArray && given.isShown(reinterpret_cast<const NumpyArray *>(plain)->data))
    result = result.attr("copy")();
  pb::object ours = resultOf(result.ptr(), given, *device);
  return ours ? ours.release().ptr() : result.release().ptr();
}

bool isNamed(PyObject *names, const char *name) {
  for (Py_ssize_t i = 0, n = names ? PyTuple_GET_SIZE(names) : 0; i < n; ++i)
    if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, i), name) == 0)
      return true;
  return false;
}

/// Whether a draw may give more than `most` numbers, by what may be its size, or has to wait for a
/// parameter.
bool mayBeMany(PyObject *const *args, Py_ssize_t count, int64_t most) {
  int64_t product = 1;
  for (Py_ssize_t i = 0; i < count; ++i) {
    int64_t number = 1;
    int overflow = 0;
    if (const Array *x = asAnyArray(args[i]); x && !x->known()) {
      if (x->isOpen() || x->storage()->current()->state() != NodeState::Ready)
        return true;
      number = x->size();
    } else if (PyLong_CheckExact(args[i])) {
      number = PyLong_AsLongLongAndOverflow(args[i], &overflow);
    } else if (PyTuple_CheckExact(args[i]) && isAsItIs(args[i])) { // a size
      for (Py_ssize_t k = 0; k < PyTuple_GET_SIZE(args[i]); ++k) {
        const int64_t n = PyLong_AsLongLongAndOverflow(PyTuple_GET_ITEM(args[i], k), &overflow);
        if (overflow || n > most || (number *= std::max<int64_t>(n, 1)) > most)
          return true;
      }
    } else if (PyList_CheckExact(args[i]) || PyTuple_CheckExact(args[i])) {
      return true;
    }
    if (overflow || number > most)
      return true;
    product *= std::max<int64_t>(number, 1);
    if (product > most)
      return true;
  }
  return false;
}

/// A draw as a method of an object over NumPy's state (`_numbers`), or with one for few numbers
/// (`_few`). `self` is (NumPy's method, how many arguments have places before an output, how many
/// numbers NumPy is to draw at most (0: any), which draw that may do without it).
PyObject *quickDraw(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return guarded([&]() -> PyObject * {
    static PyObject *const numbersName = PyUnicode_InternFromString("_numbers");
    static PyObject *const fewName = PyUnicode_InternFromString("_few");
    if (count < 1 || count - 1 > PyLong_AsLong(PyTuple_GET_ITEM(self, 1)) ||
        isNamed(names, "out") || isNamed(names, "device"))
      Py_RETURN_NOTIMPLEMENTED;
    auto numbers = pb::reinterpret_steal<pb::object>(PyObject_GetAttr(args[0], numbersName));
    if (numbers && numbers.is_none()) {
      const Py_ssize_t all = count - 1 + (names ? PyTuple_GET_SIZE(names) : 0);
      numbers = pb::reinterpret_steal<pb::object>(PyObject_GetAttr(args[0], fewName));
      if (numbers && (!PyObject_IsTrue(numbers.ptr()) || mayBeMany(args + 1, all, small::kFew)))
        Py_RETURN_NOTIMPLEMENTED;
    }
    if (!numbers) {
      PyErr_Clear();
      Py_RETURN_NOTIMPLEMENTED;
    }
    if (const auto kind = static_cast<DrawOfGenerator>(PyLong_AsLong(PyTuple_GET_ITEM(self, 3)));
        kind != DrawOfGenerator::None)
      if (PyObject *byBits = drawnByBits(kind, args[0], args + 1, count - 1, names))
        return byBits;
    const int64_t most = PyLong_AsLongLong(PyTuple_GET_ITEM(self, 2));
    if (const Py_ssize_t all = count - 1 + (names ? PyTuple_GET_SIZE(names) : 0);
        most && all > 0 && mayBeMany(args + all, 1, most)) // a size is last
      Py_RETURN_NOTIMPLEMENTED;
    if (PyObject *quick =
            names ? nullptr
                  : drawnByNumbers(PyTuple_GET_ITEM(self, 0), numbers.ptr(), args + 1, count - 1))
      return quick;
    return drawn(PyTuple_GET_ITEM(self, 0), numbers.ptr(), args + 1, count - 1, names);
  });
}

PyObject *numpysDraw(PyObject *, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return guarded([&] {
    if (count < 2)
      throw pb::type_error("numpys_draw takes a function, its owner and arguments");
    return drawn(args[0], args[1], args + 2, count - 2, names);
  });
}

PyMethodDef quick = {"draw", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(quickDraw)),
                     METH_FASTCALL | METH_KEYWORDS,
                     "A draw; NotImplemented for what the host does not have."};

PyMethodDef functions[] = {
    {"applied", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(applied)), METH_FASTCALL,
     "applied(ufunc, ...): a ufunc of another package on small arrays; NotImplemented for others"},
    {"numpys_draw", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(numpysDraw)),
     METH_FASTCALL | METH_KEYWORDS,
     "numpys_draw(function, owner, ...): a draw of NumPy's for arguments that the host has; "
     "NotImplemented for others"},
    {nullptr, nullptr, 0, nullptr}};

} // namespace

void defineExact(pb::module_ &m) {
  if (PyModule_AddFunctions(m.ptr(), functions) < 0)
    throw pb::error_already_set();
  m.def("quick_draw", [](const pb::object &theirs, int places, int64_t most, long kind) {
    return pb::reinterpret_steal<pb::object>(
        PyCFunction_New(&quick, pb::make_tuple(theirs, places, most, kind).ptr()));
  });
}

PyObject *ofExact(PyObject *theirs, Exact kind, PyObject *const *args, Py_ssize_t count,
                  PyObject *names) {
  PyObject *result = guarded([&] {
    return kind == Exact::Update ? updated(theirs, args, count, names)
                                 : asked(theirs, kind, args, count, names);
  });
  // What is wrong with a call is said in our words, by the function itself.
  if (!result && PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_Exception))
    PyErr_Clear();
  return result;
}

} // namespace graphc::py
