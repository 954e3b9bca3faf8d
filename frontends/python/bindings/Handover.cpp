// What graphc does not compute goes to NumPy: calls, operators and methods that met a dtype or an
// object of another kind (ForeignDType). Only calls that failed come here.
#include "frontends/python/bindings/Asking.h"
#include "frontends/python/bindings/Bindings.h"
#include "frontends/python/bindings/Imported.h"
#include "frontends/python/bindings/Quick.h"
#include "frontends/record/Trace.h"

#include <algorithm>
#include <cstddef>
#include <pybind11/numpy.h>
#include <structmember.h>
#include <vector>

namespace graphc::py {
static PyObject *ofText(PyObject *quick, PyObject *const *args, Py_ssize_t count, PyObject *names);

namespace {

/// Python's side (graphc/_foreign.py). Owned for the life of the process.
struct Handlers {
  PyObject *foreign = nullptr; ///< errors.ForeignDType
  PyObject *call = nullptr, *operate = nullptr, *method = nullptr, *classes = nullptr;
};
Handlers handlers;

/// The error that is set, as an exception object, and no longer set.
pb::object takeError() {
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  PyErr_Fetch(&type, &value, &trace);
  PyErr_NormalizeException(&type, &value, &trace);
  if (trace)
    PyException_SetTraceback(value, trace);
  Py_XDECREF(type);
  Py_XDECREF(trace);
  return pb::reinterpret_steal<pb::object>(value);
}

/// Carries out what a handler plans, which is NotImplemented or (function, arguments, keywords,
/// what becomes of its result). Takes the plan over.
PyObject *carriedOut(PyObject *plan) {
  if (!plan || plan == Py_NotImplemented)
    return plan;
  auto parts = pb::reinterpret_steal<pb::tuple>(plan);
  PyObject *made = PyObject_Call(PyTuple_GET_ITEM(plan, 0), PyTuple_GET_ITEM(plan, 1),
                                 PyTuple_GET_ITEM(plan, 2));
  if (!made)
    return nullptr;
  PyObject *result = PyObject_CallOneArg(PyTuple_GET_ITEM(plan, 3), made);
  Py_DECREF(made);
  return result;
}

/// What the handler's plan gives. Without one: the error again.
PyObject *answered(PyObject *plan, const pb::object &error) {
  PyObject *result = carriedOut(plan);
  if (result != Py_NotImplemented)
    return result;
  Py_DECREF(result);
  PyErr_SetObject(reinterpret_cast<PyObject *>(Py_TYPE(error.ptr())), error.ptr());
  return nullptr;
}

pb::tuple positional(PyObject *const *args, Py_ssize_t count) {
  pb::tuple out(count);
  for (Py_ssize_t i = 0; i < count; ++i)
    PyTuple_SET_ITEM(out.ptr(), i, Py_NewRef(args[i]));
  return out;
}

pb::dict named(PyObject *const *values, PyObject *names) {
  pb::dict out;
  for (Py_ssize_t i = 0, n = names ? PyTuple_GET_SIZE(names) : 0; i < n; ++i)
    if (PyDict_SetItem(out.ptr(), PyTuple_GET_ITEM(names, i), values[i]) < 0)
      throw pb::error_already_set();
  return out;
}

/// graphc.function and graphc.plain_function: a function of the package as its users call it. The
/// package calls `inner`.
struct Function {
  PyObject_HEAD vectorcallfunc call;
  PyObject *dict;
  PyObject *inner;
  PyObject *exact;  ///< NumPy's function that gives the same bits (Exact.cpp), or null
  PyObject *method; ///< the same as a method of NumPy's arrays, which takes less; or null
  Exact kind;
  PyObject *quick; ///< takes plain calls and answers NotImplemented for others, or null
  char isOfValues; ///< whether text among the arguments is a value, never an option or a dtype
};

/// Whether `object` is an array of NumPy's own class whose elements are of one of these kinds.
bool isNumpysOf(PyObject *object, std::string_view kinds) {
  return Py_TYPE(object) == pb::detail::npy_api::get().PyArray_Type_ &&
         kinds.find(pb::reinterpret_borrow<pb::array>(object).dtype().kind()) !=
             std::string_view::npos;
}

/// Whether `object` is a date or a duration of NumPy's.
bool isTime(PyObject *object) {
  static constinit Imported date("numpy", "datetime64"), duration("numpy", "timedelta64");
  return Py_TYPE(object) == date.type() || Py_TYPE(object) == duration.type();
}

/// Whether `object` is a value that we have no dtype for: none, text, a date or NumPy's array of
/// those or of objects.
bool isNoNumber(PyObject *object) {
  return object == Py_None || PyUnicode_CheckExact(object) || isTime(object) ||
         isNumpysOf(object, "USMmO");
}

/// What the plan of NumPy's function gives; null, with no error set, where there is none.
PyObject *plannedFor(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return guarded([&]() -> PyObject * {
    pb::tuple given = positional(args, count);
    pb::dict keywords = named(args + count, names);
    PyObject *all[] = {self, given.ptr(), keywords.ptr()};
    PyObject *plan = PyObject_Vectorcall(handlers.classes, all, 3, nullptr);
    if (plan != Py_None)
      return carriedOut(plan);
    Py_DECREF(plan);
    return nullptr;
  });
}

PyObject *called(PyObject *self, PyObject *const *args, size_t flags, PyObject *names) {
  auto *f = reinterpret_cast<Function *>(self);
  PyObject *theirs = ofClasses(self, args, PyVectorcall_NARGS(flags), names, f->quick);
  if (theirs || PyErr_Occurred())
    return theirs;
  if (f->quick && f->quick != Py_None) {
    PyObject *result = PyObject_Vectorcall(f->quick, args, flags, names);
    if (result != Py_NotImplemented)
      return result ? result : handOver(self, args, PyVectorcall_NARGS(flags), names);
    Py_DECREF(result);
    // Of a sequence that begins with numbers what else is there is seen here.
    if (PyVectorcall_NARGS(flags) > 0)
      theirs = ofText(f->quick, args, PyVectorcall_NARGS(flags), names);
    if (theirs || PyErr_Occurred())
      return theirs;
  }
  if (f->isOfValues) { // after the plain calls, which are of numbers
    const Py_ssize_t count = PyVectorcall_NARGS(flags);
    theirs = std::any_of(args, args + count, isNoNumber) ? plannedFor(self, args, count, names)
                                                         : nullptr;
    if (theirs || PyErr_Occurred())
      return theirs;
  }
  if (f->exact) {
    const Py_ssize_t count = PyVectorcall_NARGS(flags);
    const bool isMethod = f->method && count > 0 && asAnyArray(args[0]);
    PyObject *result = ofExact(isMethod ? f->method : f->exact, f->kind, args, count, names);
    if (result || PyErr_Occurred())
      return result;
  }
  PyObject *result = PyObject_Vectorcall(f->inner, args, flags, names);
  if (result)
    return result;
  return handOver(self, args, PyVectorcall_NARGS(flags), names);
}

/// Arrays that go on to NumPy are given as its own, over the same memory.
PyObject *callFunction(PyObject *self, PyObject *const *args, size_t flags, PyObject *names) {
  PyObject *made = called(self, args, flags, names);
  if (!made || !isOurType(Py_TYPE(made)) || !isAskedByNumpy() || Trace::active())
    return made;
  PyObject *given = PyObject_CallMethod(made, "_lent", nullptr);
  Py_DECREF(made);
  return given;
}

int traverse(PyObject *self, visitproc visit, void *arg) {
  auto *f = reinterpret_cast<Function *>(self);
  Py_VISIT(f->dict);
  Py_VISIT(f->inner);
  Py_VISIT(f->exact);
  Py_VISIT(f->method);
  Py_VISIT(f->quick);
  Py_VISIT(Py_TYPE(self));
  return 0;
}

int clear(PyObject *self) {
  auto *f = reinterpret_cast<Function *>(self);
  Py_CLEAR(f->dict);
  Py_CLEAR(f->inner);
  Py_CLEAR(f->exact);
  Py_CLEAR(f->method);
  Py_CLEAR(f->quick);
  return 0;
}

void deallocate(PyObject *self) {
  PyTypeObject *type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  clear(self);
  type->tp_free(self);
  Py_DECREF(type);
}

/// function(inner, exact=None, kind=0, method=None), the kind being a number of Exact.
PyObject *construct(PyTypeObject *type, PyObject *args, PyObject *) {
  PyObject *inner = nullptr, *exact = Py_None, *method = nullptr;
  int kind = 0;
  if (!PyArg_ParseTuple(args, "O|OiO", &inner, &exact, &kind, &method))
    return nullptr;
  auto *f = reinterpret_cast<Function *>(type->tp_alloc(type, 0));
  if (!f)
    return nullptr;
  f->call = callFunction;
  f->inner = Py_NewRef(inner);
  f->exact = exact == Py_None ? nullptr : Py_NewRef(exact);
  f->method = Py_XNewRef(method);
  f->kind = static_cast<Exact>(kind);
  f->quick = nullptr;
  f->isOfValues = false;
  f->dict = PyDict_New();
  return reinterpret_cast<PyObject *>(f);
}

/// As a method of a class; a plain function stays what it is there, as C functions do.
PyObject *bind(PyObject *self, PyObject *object, PyObject *) {
  return object && object != Py_None ? PyMethod_New(self, object) : Py_NewRef(self);
}

PyMemberDef members[] = {
    {"__vectorcalloffset__", T_PYSSIZET, offsetof(Function, call), READONLY, nullptr},
    {"__dictoffset__", T_PYSSIZET, offsetof(Function, dict), READONLY, nullptr},
    {"__wrapped__", T_OBJECT, offsetof(Function, inner), READONLY, "What the package calls."},
    {"quick", T_OBJECT, offsetof(Function, quick), 0,
     "Takes plain calls first and answers NotImplemented for others; None: nothing does."},
    {"is_of_values", T_BOOL, offsetof(Function, isOfValues), 0,
     "Whether text among the arguments is a value, never an option or a dtype."},
    {nullptr, 0, 0, 0, nullptr}};

PyGetSetDef attributes[] = {
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
    {nullptr, nullptr, nullptr, nullptr, nullptr}};

/// `binds`: whether objects of the type become methods of the classes that have them.
PyTypeObject *makeType(const char *name, bool binds) {
  std::vector<PyType_Slot> slots = {{Py_tp_dealloc, reinterpret_cast<void *>(deallocate)},
                                    {Py_tp_traverse, reinterpret_cast<void *>(traverse)},
                                    {Py_tp_clear, reinterpret_cast<void *>(clear)},
                                    {Py_tp_new, reinterpret_cast<void *>(construct)},
                                    {Py_tp_call, reinterpret_cast<void *>(PyVectorcall_Call)},
                                    {Py_tp_members, members},
                                    {Py_tp_getset, attributes}};
  if (binds)
    slots.push_back({Py_tp_descr_get, reinterpret_cast<void *>(bind)});
  slots.push_back({0, nullptr});
  unsigned flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_HAVE_VECTORCALL;
  if (binds)
    flags |= Py_TPFLAGS_METHOD_DESCRIPTOR;
  PyType_Spec spec = {name, sizeof(Function), 0, flags, slots.data()};
  return reinterpret_cast<PyTypeObject *>(PyType_FromSpec(&spec));
}

} // namespace

bool isOfNumpysClass(PyObject *object) {
  PyTypeObject *type = Py_TYPE(object);
  if (!PyType_HasFeature(type, Py_TPFLAGS_HEAPTYPE) || isOurType(type) || isScalarType(type) ||
      !PyType_IsSubtype(type, pb::detail::npy_api::get().PyArray_Type_))
    return false;
  static constinit Imported mapped("numpy", "memmap");
  return !PyType_IsSubtype(type, mapped.type());
}

/// Whether NumPy's function is for a first argument like that: one of NumPy's arrays of text,
/// dates or structures, or a sequence, perhaps of sequences, that begins with text, None or an
/// object of a class made of NumPy's arrays. Those of objects may hold arrays of ours.
static bool holdsNoNumbers(PyObject *object) {
  constexpr int kMostDepth = 4;
  if (isNumpysOf(object, "USMmV"))
    return true;
  PyObject *first = object;
  for (int depth = 0; depth < kMostDepth; ++depth) {
    if (!(PyList_CheckExact(first) || PyTuple_CheckExact(first)) ||
        PySequence_Fast_GET_SIZE(first) == 0)
      return false;
    first = PySequence_Fast_GET_ITEM(first, 0);
    if (first == Py_None || PyUnicode_CheckExact(first) || isNumpysOf(first, "USMm") ||
        isOfNumpysClass(first))
      return true;
  }
  return false;
}

bool isTheirDType(PyObject *object) {
  if (PyList_CheckExact(object))
    return PyList_GET_SIZE(object) > 0 && PyTuple_Check(PyList_GET_ITEM(object, 0));
  for (PyTypeObject *type : {&PyBaseObject_Type, &PyUnicode_Type})
    if (object == reinterpret_cast<PyObject *>(type))
      return true;
  if (PyUnicode_Check(object)) {
    if (PyUnicode_CompareWithASCIIString(object, "O") == 0 ||
        PyUnicode_CompareWithASCIIString(object, "object") == 0)
      return true;
    if (PyUnicode_GET_LENGTH(object) < 2)
      return false;
    const bool isOrdered =
        PyUnicode_GET_LENGTH(object) > 2 && PyUnicode_READ_CHAR(object, 0) == '<';
    const Py_UCS4 kind = PyUnicode_READ_CHAR(object, isOrdered);
    const Py_UCS4 next = PyUnicode_READ_CHAR(object, isOrdered + 1);
    return kind == '>' || (Py_UNICODE_ISDECIMAL(next) &&
                           (kind == 'U' || kind == 'S' || kind == 'M' || kind == 'm'));
  }
  if (!PyObject_TypeCheck(object, pb::detail::npy_api::get().PyArrayDescr_Type_))
    return false;
  auto type = pb::reinterpret_borrow<pb::dtype>(object);
  return std::string_view("USMmVO").find(type.kind()) != std::string_view::npos ||
         type.byteorder() == '>';
}

/// Whether a dtype was made by a package, as those of bfloat16 and 8-bit floats, which we have.
static bool isOfPackage(PyObject *object) {
  constexpr int kFirst = 256; // NPY_USERDEF
  return PyObject_TypeCheck(object, pb::detail::npy_api::get().PyArrayDescr_Type_) &&
         pb::reinterpret_borrow<pb::dtype>(object).num() >= kFirst;
}

/// Whether a function makes arrays of a shape, which asks NumPy's itself.
static bool takesShape(PyObject *quick) {
  if (!quick || !PyCFunction_Check(quick))
    return false;
  const std::string_view name = reinterpret_cast<PyCFunctionObject *>(quick)->m_ml->ml_name;
  return name == "plain_zeros" || name == "plain_empty" || name == "plain_ones";
}

/// The keyword `dtype`, or a dtype among the positional arguments, if it is one; else null.
static PyObject *theirDType(PyObject *const *args, Py_ssize_t count, PyObject *names) {
  for (Py_ssize_t i = 1; i < count; ++i)
    if (!PyList_Check(args[i]) && isTheirDType(args[i]) &&
        !(PyUnicode_Check(args[i]) && PyUnicode_GET_LENGTH(args[i]) < 2))
      return args[i];
  for (Py_ssize_t i = 0, n = names ? PyTuple_GET_SIZE(names) : 0; i < n; ++i)
    if (PyUnicode_CompareWithASCIIString(PyTuple_GET_ITEM(names, i), "dtype") == 0)
      return isTheirDType(args[count + i]) ? args[count + i] : nullptr;
  return nullptr;
}

/// Text, None, and numbers of Python's, of which there is one that is no number.
static bool isNoListOfNumbers(std::span<PyObject *const> items) {
  const auto isText = [](PyObject *item) { return item == Py_None || PyUnicode_CheckExact(item); };
  const auto isNumber = [](PyObject *item) {
    return PyLong_CheckExact(item) || PyFloat_CheckExact(item) || PyBool_Check(item) ||
           PyComplex_CheckExact(item);
  };
  return std::ranges::all_of(items,
                             [&](PyObject *item) { return isNumber(item) || isText(item); }) &&
         std::ranges::any_of(items, isText);
}

/// array(text) and asarray(text) of a sequence of text and None, besides which there may be
/// numbers, with no dtype or with one of NumPy's: NumPy's; null, with no error set, for other
/// calls.
static PyObject *ofText(PyObject *quick, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  if (!quick || !PyCFunction_Check(quick) || Trace::active() ||
      !(PyList_CheckExact(args[0]) || PyTuple_CheckExact(args[0])))
    return nullptr;
  const std::string_view name = reinterpret_cast<PyCFunctionObject *>(quick)->m_ml->ml_name;
  const bool copies = name == "plain_array";
  const Py_ssize_t named = names ? PyTuple_GET_SIZE(names) : 0;
  if ((!copies && name != "plain_asarray") || count + named > 2 ||
      (count + named == 2 && theirDType(args, count, names) == nullptr))
    return nullptr;
  const auto items = itemsOf(args[0]);
  if (!isNoListOfNumbers(items))
    return nullptr;
  static constinit Imported array("numpy", "array"), asarray("numpy", "asarray");
  return PyObject_Vectorcall((copies ? array : asarray).get(), args, static_cast<size_t>(count),
                             names);
}

PyObject *ofClasses(PyObject *self, PyObject *const *args, Py_ssize_t count, PyObject *names,
                    PyObject *quick) {
  Py_ssize_t at = 0;
  while (at < count && !isOfNumpysClass(args[at]) && !isTime(args[at]) &&
         (at > 0 || !holdsNoNumbers(args[0])))
    ++at;
  if (!handlers.classes)
    return nullptr;
  if (at == 0 && count > 0)
    if (PyObject *made = ofText(quick, args, count, names); made || PyErr_Occurred())
      return made;
  if (at == count) {
    PyObject *asked = theirDType(args, count, names);
    if (!asked || (takesShape(quick) && !isOfPackage(asked)))
      return nullptr;
  }
  return plannedFor(self, args, count, names);
}

void raiseForeign(const std::string &message) {
  if (!handlers.foreign)
    throw pb::type_error(message);
  pb::object error = pb::handle(handlers.foreign)(message);
  PyErr_SetObject(handlers.foreign, error.ptr());
  throw pb::error_already_set();
}

bool isForeignError() {
  return handlers.foreign && PyErr_Occurred() && PyErr_ExceptionMatches(handlers.foreign);
}

/// What NumPy's method of that name answers for `object`, or without a name NumPy's function of
/// that callable. Null when the error that is set is no ForeignDType.
static PyObject *ask(const char *method, PyObject *object, PyObject *const *args, Py_ssize_t count,
                     PyObject *names) {
  if (!isForeignError())
    return nullptr;
  return guarded([&] {
    pb::object error = takeError();
    pb::tuple given = positional(args, count);
    pb::dict keywords = named(args + count, names);
    pb::str text(method ? method : "");
    PyObject *all[] = {text.ptr(), object, given.ptr(), keywords.ptr(), error.ptr()};
    PyObject *answer = method ? PyObject_Vectorcall(handlers.method, all, 5, nullptr)
                              : PyObject_Vectorcall(handlers.call, all + 1, 4, nullptr);
    return answered(answer, error);
  });
}

PyObject *handOver(PyObject *function, PyObject *const *args, Py_ssize_t count, PyObject *names) {
  return ask(nullptr, function, args, count, names);
}

PyObject *handOverMethod(const char *name, PyObject *self, PyObject *const *args, Py_ssize_t count,
                         PyObject *names) {
  return ask(name, self, args, count, names);
}

PyObject *handOverOperator(std::string_view name, bool inPlace, PyObject *left, PyObject *right,
                           PyObject *result) {
  bool isOpen = result ? result == Py_NotImplemented : isForeignError();
  if (!handlers.foreign || !isOpen)
    return result;
  PyObject *ours = asAnyArray(left) ? left : right, *other = ours == left ? right : left;
  if (result && asAnyArray(ours)->isValue() && (other == Py_None || PyUnicode_CheckExact(other)))
    return result; // a number beside none: Python's answer
  Py_XDECREF(result);
  PyErr_Clear();
  return guarded([&] {
    pb::str text((inPlace ? "i" : "") + std::string(name));
    PyObject *all[] = {text.ptr(), left, right};
    return carriedOut(PyObject_Vectorcall(handlers.operate, all, 3, nullptr));
  });
}

std::optional<std::vector<pb::object>> largeAsFloats(op::OpKind kind,
                                                     std::span<PyObject *const> operands) {
  if (!isForeignError())
    return std::nullopt;
  using op::OpKind;
  bool takesFloats = kind == OpKind::Less || kind == OpKind::LessEqual || kind == OpKind::Greater ||
                     kind == OpKind::GreaterEqual || kind == OpKind::Equal ||
                     kind == OpKind::NotEqual;
  bool isLarge = false;
  for (PyObject *operand : operands) {
    const Array *x = asAnyArray(operand);
    takesFloats |= x && isInexact(x->dtype());
    isLarge |= PyLong_CheckExact(operand) && _PyLong_NumBits(operand) > 126;
  }
  if (!isLarge || !takesFloats)
    return std::nullopt;
  pb::error_scope keep; // put back where a float overflows as well
  std::vector<pb::object> out;
  for (PyObject *operand : operands) {
    bool isInteger = PyLong_CheckExact(operand);
    PyObject *made = isInteger ? PyNumber_Float(operand) : Py_NewRef(operand);
    if (!made) {
      PyErr_Clear();
      return std::nullopt;
    }
    out.push_back(pb::reinterpret_steal<pb::object>(made));
  }
  Py_CLEAR(keep.type);
  Py_CLEAR(keep.value);
  Py_CLEAR(keep.trace);
  return out;
}

void defineHandover(pb::module_ &m) {
  for (bool binds : {true, false}) {
    const char *name = binds ? "graphc.function" : "graphc.plain_function";
    PyTypeObject *type = makeType(name, binds);
    if (!type)
      throw pb::error_already_set();
    m.add_object(binds ? "function" : "plain_function", reinterpret_cast<PyObject *>(type));
  }
  m.def("set_handover",
        [](const pb::object &foreign, const pb::object &call, const pb::object &operate,
           const pb::object &method, const pb::object &classes) {
          handlers = {Py_NewRef(foreign.ptr()), Py_NewRef(call.ptr()), Py_NewRef(operate.ptr()),
                      Py_NewRef(method.ptr()), Py_NewRef(classes.ptr())};
        });
}

} // namespace graphc::py
