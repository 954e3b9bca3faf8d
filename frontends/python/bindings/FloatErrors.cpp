// Floating-point errors: from the recorder's reports to the handler of graphc/_float_errors.py.
#include "frontends/record/FloatErrors.h"

#include "frontends/python/bindings/Bindings.h"

namespace graphc::py {
namespace {

/// handler(error, flags, operation, modes, file:line). Owned for the life of the process.
PyObject *handler = nullptr;

/// Python's warning filters as they were last, and what is_watched() said of them. Both objects are
/// held, so that no other ones have their addresses.
struct Filters {
  PyObject *names = nullptr;     ///< of the module warnings
  PyObject *key = nullptr;       ///< "filters"
  PyObject *isWatched = nullptr; ///< is_watched(filters)
  PyObject *list = nullptr, *first = nullptr;
  bool watched = false;
};
Filters filters;

/// What a status cannot carry: the exception that goes with it.
struct Raised {
  std::string message;
  PyObject *error = nullptr;
};
thread_local Raised raised;

/// All errors of the operation together, as NumPy's handlers get them.
int flagsOf(const FloatReport &report, std::span<const FloatReport> reports) {
  int flags = 0;
  for (const FloatReport &r : reports)
    if (r.kind == report.kind && r.location == report.location)
      flags |= 1 << static_cast<int>(r.error);
  return flags;
}

Status tell(std::span<const FloatReport> reports) {
  if (!handler || !Py_IsInitialized())
    return Status::ok();
  pb::gil_scoped_acquire gil;
  Py_CLEAR(raised.error);
  try {
    for (const FloatReport &r : reports) {
      uint32_t name = r.modes >> kErrorNameShift, modes = r.modes;
      op::OpKind kind = r.kind;
      if (name >= kOperationNames) {
        kind = static_cast<op::OpKind>(name - kOperationNames);
        modes &= (1u << kErrorNameShift) - 1;
      }
      pb::reinterpret_borrow<pb::object>(handler)(static_cast<int>(r.error), flagsOf(r, reports),
                                                  std::string(op::opInfo(kind).name), modes,
                                                  locationText(r.location));
    }
  } catch (pb::error_already_set &e) {
    e.restore();
    PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    Py_XDECREF(type);
    Py_XDECREF(trace);
    raised = {pb::str(pb::handle(value)), value};
    return {ErrorCode::InvalidArgument, raised.message};
  }
  return Status::ok();
}

} // namespace

bool warningsAreWatched() {
  Filters &f = filters;
  PyObject *list = f.names ? PyDict_GetItem(f.names, f.key) : nullptr; // borrowed
  if (!list || !PyList_Check(list) || PyList_GET_SIZE(list) == 0)
    return false;
  PyObject *first = PyList_GET_ITEM(list, 0);
  if (list == f.list && first == f.first)
    return f.watched;
  Py_XSETREF(f.list, Py_NewRef(list));
  Py_XSETREF(f.first, Py_NewRef(first));
  f.watched = pb::handle(f.isWatched)(pb::handle(list)).cast<bool>();
  return f.watched;
}

pb::object takeFloatError(const Status &status) {
  if (!raised.error || status.message() != raised.message)
    return {};
  return pb::reinterpret_steal<pb::object>(std::exchange(raised.error, nullptr));
}

void defineFloatErrors(pb::module_ &m) {
  setFloatSink(tell);
  m.def("set_float_error_handler",
        [](const pb::object &function) { handler = Py_NewRef(function.ptr()); });
  m.def("set_warning_watch", [](const pb::module_ &warnings, const pb::object &isWatched) {
    filters.names = Py_NewRef(PyModule_GetDict(warnings.ptr()));
    filters.key = PyUnicode_InternFromString("filters");
    filters.isWatched = Py_NewRef(isWatched.ptr());
  });
  m.def("set_float_modes", setFloatModes);
  m.def("float_modes", floatModes);
  m.def("set_error_name", setErrorName);
}

} // namespace graphc::py
