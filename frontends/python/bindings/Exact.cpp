// Functions whose results no rounding or order of operations decides: what they give for small
// arrays in a loop is the same whoever computes it. As formulas over operations they cost as many
// recordings or loops as they have operations; NumPy's own function is one call.
#include "frontends/python/bindings/Direct.h"
#include "frontends/python/bindings/Given.h"
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

/// Lets NumPy's function change the memory of its first argument.
PyObject *updated(PyObject *theirs, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  const Py_ssize_t all = count + (names ? PyTuple_GET_SIZE(names) : 0);
  Array *target = count > 0 && all <= TheirArguments::kMost ? asAnyArray(args[0]) : nullptr;
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
  if (PyRange_Check(object))
    return pb::reinterpret_borrow<pb::object>(object);
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
  if (!mayBeOnHost(*device))
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
    isPlain = PyRange_Check(args[i]) || given.look(args[i]);
  rt::Device *device = isPlain && given.device ? given.device : unwrap(currentDevice());
  if (!isPlain || !mayBeOnHost(*device))
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

/// NumPy's function, which `self` is, of small arrays that the host has and numbers, whose results
/// are new arrays; NotImplemented for others.
PyObject *numpysOwn(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  PyObject *theirs = PyTuple_GET_ITEM(self, 0);
  const bool isReal = PyTuple_GET_ITEM(self, 1) == Py_True;
  const Py_ssize_t all = count + (names ? PyTuple_GET_SIZE(names) : 0);
  if (all > TheirArguments::kMost || Trace::active())
    Py_RETURN_NOTIMPLEMENTED;
  PyObject *result = guarded([&]() -> PyObject * {
    Given given(Exact::Any);
    given.takesNumpys = true;
    for (Py_ssize_t i = 0; i < all; ++i) {
      const Array *x = asAnyArray(args[i]);
      if (!given.look(args[i]) || (isReal && x && isComplex(x->dtype())))
        return nullptr;
    }
    rt::Device *device = given.device ? given.device : unwrap(currentDevice());
    TheirArguments passed;
    if (!mayBeOnHost(*device) || !passed.make(given, args, static_cast<size_t>(all)))
      return nullptr;
    auto made = pb::reinterpret_steal<pb::object>(
        PyObject_Vectorcall(theirs, passed.plain.data(), static_cast<size_t>(count), names));
    if (!made)
      throw pb::error_already_set();
    return resultOf(made.ptr(), given, *device).release().ptr();
  });
  if (!result && PyErr_Occurred() && PyErr_ExceptionMatches(PyExc_Exception))
    PyErr_Clear(); // what is wrong is said by the general way
  return result || PyErr_Occurred() ? result : Py_NewRef(Py_NotImplemented);
}

PyMethodDef ownQuick = {
    "own", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(numpysOwn)),
    METH_FASTCALL | METH_KEYWORDS, "NumPy's function of small arrays; NotImplemented for others."};

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
  m.def("quick_numpys", [](const pb::object &theirs, bool isReal) {
    return pb::reinterpret_steal<pb::object>(
        PyCFunction_New(&ownQuick, pb::make_tuple(theirs, isReal).ptr()));
  });
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
