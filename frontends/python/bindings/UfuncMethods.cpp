// Methods of ufuncs on computed small arrays, where NumPy's have the same bits: of integers, whose
// results no order decides, and of operations that go from element to element in order.
#include "frontends/python/bindings/Given.h"

#include "frontends/record/FloatErrors.h"
#include "frontends/record/Lend.h"
#include "frontends/record/Record.h"
#include "frontends/record/Session.h"
#include "frontends/record/SmallUnits.h"
#include "frontends/record/Trace.h"

#include <array>
#include <optional>

namespace graphc::py {
namespace {

/// While it lives, NumPy raises what floating-point errors it meets that something is done about,
/// and tells nobody.
class Raising {
public:
  Raising() : context(contextOf(floatModes())), isOurs(PyContext_Enter(context) == 0) {
    if (!isOurs) // another thread is inside
      PyErr_Clear();
  }
  ~Raising() {
    if (!isOurs)
      return;
    PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
    PyErr_Fetch(&type, &value, &trace);
    PyContext_Exit(context);
    PyErr_Restore(type, value, trace);
  }
  Raising(const Raising &) = delete;
  Raising &operator=(const Raising &) = delete;
  explicit operator bool() const { return isOurs; }

private:
  /// One for each set of errors that are ignored, owned for the life of the process.
  static PyObject *contextOf(uint32_t modes) {
    static std::array<PyObject *, 1u << kFloatErrors> made{};
    static constexpr std::array kNames = {"divide", "over", "under", "invalid"};
    size_t place = 0;
    for (int e = 0; e < kFloatErrors; ++e)
      place |= size_t{FloatModes::of(modes, static_cast<FloatError>(e)) != 0} << e;
    if (!made[place]) {
      pb::dict settings;
      for (size_t e = 0; e < kNames.size(); ++e)
        settings[kNames[e]] = (place >> e & 1) != 0 ? "raise" : "ignore";
      pb::object copy = pb::module_::import("contextvars").attr("copy_context")();
      copy.attr("run")(pb::module_::import("numpy").attr("seterr"), **settings);
      made[place] = copy.release().ptr();
    }
    return made[place];
  }
  PyObject *context;
  bool isOurs;
};

/// Of which dtypes a method of a ufunc gives NumPy's bits.
enum Bits : long {
  kIntegers = 1,
  kFloats = 2,
  kComplex = 4,
  kDivides = 8,
  kScattered = 16,
  kSafe = 32
};

/// NumPy's ufunc that has the bits of ours in a method with elements of a dtype; null where none
/// has. `place` is that of the method in the table `exact` of the ufunc.
PyObject *theirUfunc(PyObject *ours, Py_ssize_t place, DType t, long &bits) {
  static PyObject *const name = PyUnicode_InternFromString("exact");
  auto members = pb::reinterpret_steal<pb::object>(PyObject_GenericGetDict(ours, nullptr));
  PyObject *found = members ? PyDict_GetItemWithError(members.ptr(), name) : nullptr;
  if (!found)
    return nullptr;
  bits = PyLong_AsLong(PyTuple_GET_ITEM(found, place));
  const long needed = isComplex(t) ? kComplex : isFloat(t) ? kFloats : kIntegers;
  return bits & needed ? PyTuple_GET_ITEM(found, 0) : nullptr;
}

/// Whether a scatter of ours takes values as they are.
bool isScattered(DType t, PyObject *values) {
  if (t == DType::Bool || isComplex(t))
    return false;
  if (const Array *x = asAnyArray(values))
    return x->dtype() == t;
  return (t == DType::Float64 || t == DType::Int64) &&
         (PyLong_CheckExact(values) || (PyFloat_CheckExact(values) && isFloat(t)));
}

/// Products of complex numbers, whose parts no scatter of ours combines.
bool isProduct(PyObject *ufunc, DType t) {
  PyObject *operation = nullptr;
  if (!isComplex(t))
    return false;
  auto members = pb::reinterpret_steal<pb::object>(PyObject_GenericGetDict(ufunc, nullptr));
  operation = members ? PyDict_GetItemString(members.ptr(), "operation") : nullptr;
  return operation && PyUnicode_CompareWithASCIIString(operation, "mul") == 0;
}

/// ufunc.at of computed small arrays. A copy is changed where something may go wrong.
PyObject *changedAt(PyObject *theirs, PyObject *ufunc, PyObject *const *args, Py_ssize_t count,
                    Exact kind, bool mayFail) {
  Array *target = asAnyArray(args[0]);
  if (target->isValue() || target->view().isReadOnly() || target->view().isRecast())
    return nullptr;
  Given given(kind);
  for (Py_ssize_t i = 0; i < count; ++i) {
    const Array *x = i ? asAnyArray(args[i]) : nullptr;
    if (!given.look(args[i]) || (i == 2 && !isAlike(args[i], target->dtype())) ||
        (x && (x->dtype() == DType::Bool) != (target->dtype() == DType::Bool) && i == 2) ||
        (x && !x->known() && x->sharesStorage(*target)))
      return nullptr;
  }
  if (!given.isReady || !isWanted(given, kind) || !unwrap(small::settle(*target)))
    return nullptr;
  TheirArguments passed;
  passed.plain[0] = ufunc;
  if (!passed.make(given, args, static_cast<size_t>(count), 1))
    return nullptr;
  auto elements = passed.made[1];
  pb::detail::array_proxy(elements.ptr())->flags |= pb::detail::npy_api::NPY_ARRAY_WRITEABLE_;
  if (mayFail) {
    passed.made[1] = elements.attr("copy")();
    passed.plain[1] = passed.made[1].ptr();
  }
  auto done = pb::reinterpret_steal<pb::object>(
      PyObject_Vectorcall(theirs, passed.plain.data(), static_cast<size_t>(count) + 1, nullptr));
  if (!done)
    throw pb::error_already_set();
  if (mayFail)
    elements[pb::ellipsis()] = passed.made[1];
  elements = {};
  passed.made = {};
  given.drop(); // nobody else may hold the memory that has a new version now
  target->storage()->update([](rt::Buffer &) {});
  return Py_NewRef(Py_None);
}

/// Another method of computed small arrays.
PyObject *ofMethod(PyObject *theirs, PyObject *ufunc, PyObject *const *args, Py_ssize_t count,
                   PyObject *names) {
  const Py_ssize_t all = count + (names ? PyTuple_GET_SIZE(names) : 0);
  Given given(Exact::Passes);
  for (Py_ssize_t i = 0; i < all; ++i)
    if (!given.look(args[i]))
      return nullptr;
  if (!given.isReady || !isWanted(given, Exact::Passes))
    return nullptr;
  TheirArguments passed;
  passed.plain[0] = ufunc;
  if (!passed.make(given, args, static_cast<size_t>(all), 1))
    return nullptr;
  auto result = pb::reinterpret_steal<pb::object>(
      PyObject_Vectorcall(theirs, passed.plain.data(), static_cast<size_t>(count) + 1, names));
  if (!result)
    throw pb::error_already_set();
  return resultOf(result.ptr(), given, *given.device).release().ptr();
}

/// The reduction of a vector by an operation that has no order but that of the elements, and no
/// function of NumPy's with its bits; null where that has to be recorded.
PyObject *foldedInOrder(PyObject *ufunc, const Array &x, Py_ssize_t count, PyObject *names) {
  constexpr int64_t kMost = 1 << 16;
  if (count != 2 || names || x.rank() != 1 || x.size() > kMost || Trace::active() ||
      !mayBeOnHost(x.device()) || small::loopTurns() == small::kNever)
    return nullptr;
  auto members = pb::reinterpret_steal<pb::object>(PyObject_GenericGetDict(ufunc, nullptr));
  PyObject *name = members ? PyDict_GetItemString(members.ptr(), "operation") : nullptr;
  const char *text = name ? PyUnicode_AsUTF8(name) : nullptr;
  const auto kind = text ? op::opKindFromName(text) : std::nullopt;
  if (kind != op::OpKind::Pow && kind != op::OpKind::Atan2)
    return nullptr;
  RecordScope line;
  RecordScope named(RecordScope::location(), errorsUnder(op::OpKind::Reduce));
  const auto value = unwrap(small::foldByUnit(*kind, x));
  check(takeFailure());
  return value ? wrapKnown(*value) : nullptr;
}

/// A method of a ufunc. `self` is (NumPy's method, its place in the table, the C function that is
/// asked first or None).
PyObject *ufuncMethod(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  constexpr Py_ssize_t kAt = 1, kReduce = 4;
  if (PyObject *first = PyTuple_GET_ITEM(self, 2); first != Py_None) {
    PyObject *made = PyObject_Vectorcall(first, args, static_cast<size_t>(count), names);
    if (made != Py_NotImplemented)
      return made;
    Py_DECREF(made);
  }
  const Py_ssize_t all = count + (names ? PyTuple_GET_SIZE(names) : 0);
  const Py_ssize_t place = PyLong_AsSsize_t(PyTuple_GET_ITEM(self, 1));
  const Array *x = count > 1 && all < TheirArguments::kMost ? asPlainArray(args[1]) : nullptr;
  if (!x || x->rank() == 0 || (place == kAt && (count < 3 || count > 4 || names)))
    Py_RETURN_NOTIMPLEMENTED;
  PyObject *result = guarded([&]() -> PyObject * {
    long bits = 0;
    PyObject *ufunc = theirUfunc(args[0], place, x->dtype(), bits);
    if (!ufunc && place == kReduce)
      return foldedInOrder(args[0], *x, count, names);
    const bool mayFail = !(bits & kSafe) && (isInexact(x->dtype()) || (bits & kDivides) != 0);
    if (!ufunc || ((bits & kScattered) && count == 4 && isScattered(x->dtype(), args[3])))
      return nullptr;
    std::optional<Raising> raising;
    if (mayFail && !raising.emplace())
      return nullptr;
    PyObject *theirs = PyTuple_GET_ITEM(self, 0);
    // Of what we have no scatter for, larger arrays too.
    const bool isOurs = (bits & kScattered) && !isProduct(args[0], x->dtype());
    const Exact kind = isOurs ? Exact::Passes : Exact::Bits;
    return place == kAt ? changedAt(theirs, ufunc, args + 1, count - 1, kind, mayFail)
                        : ofMethod(theirs, ufunc, args + 1, count - 1, names);
  });
  if (!result) // what is wrong is said in our words
    PyErr_Clear();
  return result ? result : Py_NewRef(Py_NotImplemented);
}

PyMethodDef ufuncQuick = {
    "method", reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(ufuncMethod)),
    METH_FASTCALL | METH_KEYWORDS,
    "A method of a ufunc of computed small arrays; NotImplemented for others."};

} // namespace

void defineUfuncMethods(pb::module_ &m) {
  m.def("quick_ufunc_method", [](const pb::object &theirs, long place, const pb::object &first) {
    return pb::reinterpret_steal<pb::object>(
        PyCFunction_New(&ufuncQuick, pb::make_tuple(theirs, place, first).ptr()));
  });
}

} // namespace graphc::py
