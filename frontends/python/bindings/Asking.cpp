#include "frontends/python/bindings/Asking.h"

#include <Python.h>

namespace graphc::py {

Asker Asker::now() {
  PyObject *globals = PyEval_GetGlobals();
  auto textOf = [](PyObject *value) {
    const char *text = value && PyUnicode_Check(value) ? PyUnicode_AsUTF8(value) : nullptr;
    return text ? std::string_view(text) : std::string_view();
  };
  if (!globals)
    return {};
  PyCodeObject *code = PyFrame_GetCode(PyEval_GetFrame());
  std::string_view function = textOf(code->co_name);
  Py_DECREF(code); // which its frame holds
  return {textOf(PyDict_GetItemString(globals, "__name__")),
          textOf(PyDict_GetItemString(globals, "__file__")), function};
}

bool Asker::isInstalled() const {
  auto isOf = [&](std::string_view package) {
    return module.starts_with(package) &&
           (module.size() == package.size() || module[package.size()] == '.');
  };
  return (file.find("site-packages") != file.npos || file.find("dist-packages") != file.npos) &&
         !isOf("numpy") && !isOf("graphc");
}

} // namespace graphc::py
