// Whose Python code asks, from its frame and the names of its module.
#include "frontends/python/bindings/Asking.h"

#include <Python.h>

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

std::string_view function() {
  PyCodeObject *code = PyFrame_GetCode(PyEval_GetFrame());
  std::string_view name = textOf(code->co_name);
  Py_DECREF(code); // which its frame holds
  return name;
}

/// Whether the running code names a global or an attribute.
bool isNamed(PyObject *name) {
  PyFrameObject *frame = PyEval_GetFrame();
  if (!frame)
    return false;
  PyCodeObject *code = PyFrame_GetCode(frame);
  const int found = PySequence_Contains(code->co_names, name);
  Py_DECREF(code); // which its frame holds
  return found == 1;
}

} // namespace

Asker Asker::now() {
  static PyObject *name = PyUnicode_InternFromString("__name__");
  return {textNamed(name)};
}

bool Asker::makesViews() const {
  static PyObject *name = PyUnicode_InternFromString("memoryview");
  return isNamed(name);
}

bool Asker::isInstalled() const {
  static PyObject *name = PyUnicode_InternFromString("__file__");
  std::string_view file = textNamed(name);
  auto isOf = [&](std::string_view package) {
    return module.starts_with(package) &&
           (module.size() == package.size() || module[package.size()] == '.');
  };
  return (file.find("site-packages") != file.npos || file.find("dist-packages") != file.npos) &&
         !isOf("numpy") && !isOf("graphc");
}

bool Asker::meansAnyArray() const {
  if (module.starts_with("sklearn.") || module.starts_with("xarray."))
    return true;
  return module.starts_with("pandas.") && module != "pandas.core.construction" &&
         function() != "isin";
}

} // namespace graphc::py
