//===- Imported.h - What modules hold, found once ---------------------------------------------===//
#ifndef GRAPHC_FRONTENDS_PYTHON_BINDINGS_IMPORTED_H
#define GRAPHC_FRONTENDS_PYTHON_BINDINGS_IMPORTED_H

#include <pybind11/pybind11.h>

namespace graphc::py {

/// An attribute of a module, imported on first use and kept until the process ends; for variables
/// of static storage. Guarded by the GIL, which an import gives up: a static variable initialized
/// by the import would let a second thread wait for the first one's initialization with the GIL
/// that the first one needs.
class Imported {
public:
  constexpr Imported(const char *module, const char *attribute)
      : module(module), attribute(attribute) {}
  Imported(const Imported &) = delete;
  Imported &operator=(const Imported &) = delete;

  /// A borrowed reference.
  PyObject *get() {
    if (!found) {
      pybind11::object imported = pybind11::module_::import(module).attr(attribute);
      if (!found) // by another thread meanwhile
        found = imported.release().ptr();
    }
    return found;
  }
  PyTypeObject *type() { return reinterpret_cast<PyTypeObject *>(get()); }

private:
  const char *module, *attribute;
  PyObject *found = nullptr;
};

} // namespace graphc::py

#endif // GRAPHC_FRONTENDS_PYTHON_BINDINGS_IMPORTED_H
