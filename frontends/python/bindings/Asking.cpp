// Whose Python code asks, from its frame and the names of its module.
#include "frontends/python/bindings/Asking.h"

#include "frontends/python/bindings/Frames.h"

#include <Python.h>

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>
#include <span>
#include <vector>

namespace graphc::py {
namespace {

std::string_view textOf(PyObject *value) {
  const char *text = value && PyUnicode_Check(value) ? PyUnicode_AsUTF8(value) : nullptr;
  return text ? std::string_view(text) : std::string_view();
}

/// What a name of the running code's module stands for; the name is made once.
std::string_view textNamed(PyObject *name) {
  PyObject *globals = PyEval_GetGlobals();
  return textOf(globals && name ? PyDict_GetItemWithError(globals, name) : nullptr);
}

/// The names of globals and attributes in a frame's code, which the frame holds.
PyObject *namesIn(PyFrameObject *frame) {
  PyCodeObject *code = PyFrame_GetCode(frame);
  PyObject *names = code->co_names;
  Py_DECREF(code);
  return names;
}

/// Whether the running code names a global or an attribute; `name` is interned, as all of its are.
bool isNamed(PyObject *name) {
  PyFrameObject *frame = PyEval_GetFrame();
  if (!frame)
    return false;
  PyObject *used = namesIn(frame);
  PyObject *const *names = PySequence_Fast_ITEMS(used);
  return std::find(names, names + PyTuple_GET_SIZE(used), name) != names + PyTuple_GET_SIZE(used);
}

/// The name of the running function.
std::string_view nameOfCode() {
  PyFrameObject *frame = PyEval_GetFrame();
  if (!frame)
    return {};
  PyCodeObject *code = PyFrame_GetCode(frame);
  std::string_view name = textOf(code->co_name);
  Py_DECREF(code); // which its frame holds
  return name;
}

/// Whether a variable of the running function's own is what `isWanted` asks for.
template <typename Predicate>
bool isAnyOwn(PyFrameObject *frame, Predicate isWanted) {
  PyCodeObject *code = PyFrame_GetCode(frame);
  const bool hasOwn = (code->co_flags & CO_OPTIMIZED) != 0;
  Py_DECREF(code); // which its frame holds
  PyObject *own =
      hasOwn ? PyObject_GetAttrString(reinterpret_cast<PyObject *>(frame), "f_locals") : nullptr;
  PyObject *values = own ? PyMapping_Values(own) : nullptr;
  bool found = false;
  for (Py_ssize_t i = 0; values && i < PyList_GET_SIZE(values); ++i)
    found |= isWanted(PyList_GET_ITEM(values, i));
  Py_XDECREF(values);
  // Before Python 3.13 the frame keeps it, and with it what the code lets go of meanwhile; the
  // program may have asked for the same one.
  constexpr Py_ssize_t kFramesAndOurs = 2;
  if (own && PyDict_CheckExact(own) && Py_REFCNT(own) == kFramesAndOurs)
    PyDict_Clear(own);
  Py_XDECREF(own);
  PyErr_Clear();
  return found;
}

/// Whether a global that the running code names, or a variable of its own, is `object`.
bool isHeld(PyObject *object) {
  PyFrameObject *frame = PyEval_GetFrame();
  PyObject *globals = PyEval_GetGlobals();
  if (!frame || !globals)
    return false;
  PyObject *names = namesIn(frame);
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); ++i)
    if (PyDict_GetItemWithError(globals, PyTuple_GET_ITEM(names, i)) == object)
      return true;
  return isAnyOwn(frame, [&](PyObject *value) { return value == object; });
}

/// Modules of SciPy, by how their names begin, that write into what they are given.
constexpr std::array<std::string_view, 2> kWriting = {"scipy.ndimage.", "scipy.sparse._"};
/// Those that tell arrays from numbers, operators and functions, and convert them.
constexpr std::array<std::string_view, 13> kTelling = {"scipy.ndimage.",
                                                       "scipy.sparse.linalg._interface",
                                                       "scipy.sparse.linalg._matfuncs",
                                                       "scipy.special._basic",
                                                       "scipy.signal._peak_finding",
                                                       "scipy.signal._ltisys",
                                                       "scipy.stats._mgc",
                                                       "scipy.linalg.interpolative",
                                                       "scipy.optimize._root_scalar",
                                                       "scipy.optimize._minpack_py",
                                                       "scipy.optimize._nonlin",
                                                       "scipy.io.",
                                                       "scipy.odr."};

bool beginsWithOne(std::string_view module, std::span<const std::string_view> begins) {
  return std::ranges::any_of(begins, [&](std::string_view b) { return module.starts_with(b); });
}

bool isFortran(PyObject *value) { return std::string_view(Py_TYPE(value)->tp_name) == "fortran"; }

/// What f2py made says so by this name.
bool isOfFortran(PyObject *value) {
  static PyObject *mark = PyUnicode_InternFromString("__f2py_numpy_version__");
  return isFortran(value) ||
         (PyModule_Check(value) && PyDict_Contains(PyModule_GetDict(value), mark) == 1);
}

/// Modules that tell masks, columns, keys and grids from labels and numbers by NumPy's class.
bool isWrittenForNumpys(std::string_view module) {
  constexpr std::array<std::string_view, 10> whole = {
      "sklearn.", "xarray.", "skimage.", "astropy.",   "statsmodels.",
      "librosa.", "cvxpy.",  "picos.",   "gymnasium.", "numpy.polynomial."};
  if (beginsWithOne(module, whole))
    return module != "astropy.uncertainty.core"; // which makes records of NumPy's array in place
  if (module == "numpy.testing._private.utils" || module == "numpy.ma.testutils")
    return true; // which would else ask whether two arrays are one number
  if (module == "scipy.sparse._sputils")
    return nameOfCode() == "isdense"; // whose callers then convert, or factorize a copy
  if (module.starts_with("scipy."))
    return beginsWithOne(module, kTelling);
  if (module.starts_with("matplotlib."))
    return module != "matplotlib.cbook"; // which asks what is none for its `to_numpy`
  return module.starts_with("pandas.") && module != "pandas.core.construction";
}

/// Whether a module's name stands for a value.
bool hasName(PyObject *globals, const PyObject *value) {
  PyObject *found = nullptr;
  for (Py_ssize_t i = 0; value && globals && PyDict_Next(globals, &i, nullptr, &found);)
    if (found == value)
      return true;
  return false;
}

/// Whether a module, the running one unless said, has a package by some name.
bool hasPackage(const char *name, PyObject *globals = PyEval_GetGlobals()) {
  return hasName(globals, PyDict_GetItemString(PyImport_GetModuleDict(), name));
}

/// Whether these are the names of one of NumPy's own modules; null: not known.
bool isOfNumpy(PyObject *globals) {
  return globals && textOf(PyDict_GetItemString(globals, "__name__")).starts_with("numpy.");
}

} // namespace

bool Asker::isOf(std::string_view package) const {
  return module.starts_with(package) &&
         (module.size() == package.size() || module[package.size()] == '.');
}

Asker Asker::now() {
  static PyObject *name = PyUnicode_InternFromString("__name__");
  return {textNamed(name)};
}

bool Asker::takesCopies() const {
  return module.starts_with("pandas.") ||
         (module.starts_with("scipy.") && !beginsWithOne(module, kWriting));
}

bool Asker::makesViews() const {
  static PyObject *name = PyUnicode_InternFromString("memoryview");
  return isNamed(name) || module == "numpy.lib._stride_tricks_impl";
}

bool Asker::isOfProgram(PyObject *array) const {
  static PyObject *name = PyUnicode_InternFromString("__file__");
  std::string_view file = textNamed(name);
  const bool isOfPython =
      file.find("/lib/python3") != file.npos || file.find("\\Lib\\") != file.npos || isInstalled();
  const bool hasOurs = hasPackage("graphc") || hasName(PyEval_GetGlobals(), array);
  return (hasOurs || !isOfPython) && !hasPackage("numpy");
}

bool Asker::looksUp(PyObject *cls) const {
  PyFrameObject *frame = PyEval_GetFrame();
  if (!frame || !isInstalled() || isOf("scipy"))
    return false;
  for (const char *package : {"numpy", "graphc"})
    if (PyObject *named = PyDict_GetItemString(PyImport_GetModuleDict(), package);
        named && isHeld(named))
      return false;
  auto *type = reinterpret_cast<PyTypeObject *>(cls);
  return isAnyOwn(frame, [&](PyObject *value) { return Py_IS_TYPE(value, type); });
}

bool Asker::namesNumber(DType t, PyObject *type) const {
  if (isOf("numpy") || isOf("graphc"))
    return false;
  using Names = std::vector<PyObject *>;
  static const auto interned = [](std::initializer_list<const char *> texts) {
    Names names;
    for (const char *text : texts)
      names.push_back(PyUnicode_InternFromString(text));
    return names;
  };
  static const std::map<DType, Names> types = {
      {DType::Bool, interned({"bool_"})},
      {DType::Int8, interned({"int8", "byte"})},
      {DType::Int16, interned({"int16", "short"})},
      {DType::Int32, interned({"int32", "intc"})},
      {DType::Int64, interned({"int64", "int_", "intp", "long"})},
      {DType::UInt8, interned({"uint8", "ubyte"})},
      {DType::UInt16, interned({"uint16", "ushort"})},
      {DType::UInt32, interned({"uint32", "uintc"})},
      {DType::UInt64, interned({"uint64", "uint", "uintp", "ulong"})},
      {DType::Float16, interned({"float16", "half"})},
      {DType::Float32, interned({"float32", "single"})},
      {DType::Float64, interned({"float64", "double"})},
      {DType::Complex64, interned({"complex64", "csingle"})},
      {DType::Complex128, interned({"complex128", "cdouble"})},
  };
  auto found = types.find(t);
  return (found != types.end() && std::ranges::any_of(found->second, isNamed)) || isHeld(type);
}

bool Asker::callsFortran() const {
  PyFrameObject *frame = PyEval_GetFrame();
  PyObject *globals = PyEval_GetGlobals();
  if (!frame || !globals)
    return false;
  PyObject *names = namesIn(frame);
  auto reaches = [&](PyObject *space) {
    for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); ++i)
      if (PyObject *value = PyDict_GetItemWithError(space, PyTuple_GET_ITEM(names, i)))
        if (isOfFortran(value))
          return true;
    return false;
  };
  if (reaches(globals))
    return true;
  for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); ++i) {
    PyObject *value = PyDict_GetItemWithError(globals, PyTuple_GET_ITEM(names, i));
    if (value && PyModule_Check(value) && reaches(PyModule_GetDict(value)))
      return true;
  }
  return false;
}

bool Asker::isInstalled() const {
  static PyObject *name = PyUnicode_InternFromString("__file__");
  std::string_view file = textNamed(name);
  return (file.find("site-packages") != file.npos || file.find("dist-packages") != file.npos) &&
         !isOf("numpy") && !isOf("graphc");
}

bool isAskedByNumpy() {
  static PyObject *name = PyUnicode_InternFromString("__array__");
  Frames frame;
  if (!frame || frame.code()->co_name != name)
    return false;
  frame.next();
  if (!frame || isPackageCode(frame.code()))
    return false;
  return isOfNumpy(frame.globals()) ||
         (hasPackage("numpy", frame.globals()) && !hasPackage("graphc", frame.globals()));
}

bool Asker::meansAnyArray() const {
  // A copy of a package whose imports were changed is told our classes.
  return isWrittenForNumpys(module) && !hasPackage("graphc");
}

} // namespace graphc::py
