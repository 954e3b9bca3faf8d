// Floating-point errors: from the recorder's reports to the handler of graphc/_float_errors.py.
#include "frontends/record/FloatErrors.h"

#include "frontends/python/bindings/Bindings.h"
#include "frontends/python/bindings/ScalarErrors.h"
#include "frontends/record/Record.h"
#include "frontends/record/ToldErrors.h"

#include <array>
#include <unordered_set>

namespace graphc::py {
namespace {

/// handler(error, flags, operation, modes, file:line). Owned for the life of the process.
PyObject *handler = nullptr;

/// What Python's filters say of the warnings of a statement (_float_errors._heed).
enum class Heed : int { Later, AtOnce, Never, Once };
/// "warn" among the modes of graphc/_float_errors.py.
constexpr uint32_t kWarn = 1;

/// The filters as they were last, and what was said of them. Both objects are held, so that no
/// other ones have their addresses.
struct Filters {
  PyObject *names = nullptr; ///< of the module warnings
  PyObject *key = nullptr;   ///< "filters"
  PyObject *ask = nullptr;   ///< _heed(filters)
  PyObject *list = nullptr, *first = nullptr;
  Py_ssize_t count = 0;
  Heed said = Heed::Later;
  /// Errors by line, operation and name (keyOf) that Python's registries would not show again
  /// under these filters: loops meet them in every turn.
  std::unordered_set<uint64_t> told;
  uint64_t version = 0; ///< of the module's names, when `list` was among them
};
Filters filters;

/// Changes with every change of a dict; 0 where Python does not tell.
uint64_t versionOf(PyObject *dict) {
#if PY_VERSION_HEX < 0x030c0000
  return reinterpret_cast<PyDictObject *>(dict)->ma_version_tag;
#else
  static_cast<void>(dict);
  return 0;
#endif
}

/// An error of a kind of operation at a line, whose modes are `word`, which has its name.
uint64_t keyOf(FloatError error, op::OpKind kind, uint32_t word, Location location) {
  constexpr int kNameBits = 32 - kErrorNameShift;
  const uint64_t operation = location * op::kOpKindCount + static_cast<uint64_t>(kind);
  return (operation * kFloatErrors + static_cast<uint64_t>(error)) << kNameBits |
         word >> kErrorNameShift;
}

/// warnings.filters, borrowed, or null. Whoever changed them may want to be told again.
PyObject *filtersNow(Filters &f) {
  if (!f.names)
    return nullptr;
  const uint64_t version = versionOf(f.names);
  if (version && version == f.version)
    return f.list;
  if (version)
    f.told.clear();
  PyObject *list = PyDict_GetItemWithError(f.names, f.key);
  f.version = list == f.list ? version : 0;
  return list;
}

Heed heed() {
  Filters &f = filters;
  PyObject *list = filtersNow(f);
  if (!list || !PyList_Check(list) || PyList_GET_SIZE(list) == 0)
    return Heed::Later;
  PyObject *first = PyList_GET_ITEM(list, 0);
  Py_ssize_t count = PyList_GET_SIZE(list);
  if (list == f.list && first == f.first && count == f.count)
    return f.said;
  auto held = pb::reinterpret_borrow<pb::object>(list);
  auto heldFirst = pb::reinterpret_borrow<pb::object>(first);
  auto said = static_cast<Heed>(pb::handle(f.ask)(held).cast<int>());
  f.count = count;
  f.said = said;
  f.told.clear();
  Py_XSETREF(f.list, held.release().ptr());
  Py_XSETREF(f.first, heldFirst.release().ptr());
  return said;
}

/// The modes as the filters leave them: "warn" is none where warnings are ignored, and kOnce where
/// those of a line are shown once.
uint32_t filtered(uint32_t word) {
  if ((word & FloatModes::kAll) == 0 || !PyGILState_Check())
    return word;
  Heed said = heed();
  if (said != Heed::Never && said != Heed::Once)
    return word;
  uint32_t flip = said == Heed::Never ? kWarn : kWarn ^ FloatModes::kOnce;
  for (int e = 0; e < kFloatErrors; ++e)
    if (FloatModes::of(word, static_cast<FloatError>(e)) == kWarn)
      word ^= flip << (FloatModes::kModeBits * e);
  return word;
}

/// Whether a line was told of an error, as the filters are.
bool wasTold(FloatError error, op::OpKind kind, uint32_t word, Location location) {
  return location && PyGILState_Check() && heed() == Heed::Once &&
         filters.told.contains(keyOf(error, kind, word, location));
}

/// The modes of a context (contextvars): what one task sets is not another's. Null until one was
/// set: owned for the life of the process.
PyObject *modesOfContexts = nullptr;
/// What this thread saw last, for where it does not hold the GIL.
thread_local uint32_t modesSeen = FloatModes::kDefault;

uint32_t modesOfContext() {
  if (!modesOfContexts || !PyGILState_Check())
    return modesSeen;
  PyObject *found = nullptr;
  if (PyContextVar_Get(modesOfContexts, nullptr, &found) < 0)
    PyErr_Clear();
  modesSeen = found ? static_cast<uint32_t>(PyLong_AsUnsignedLong(found)) : FloatModes::kDefault;
  Py_XDECREF(found);
  return modesSeen;
}

uint32_t changeModes(uint32_t word) {
  const uint32_t before = modesOfContext();
  if (word == before)
    return before;
  if (!modesOfContexts)
    modesOfContexts = PyContextVar_New("graphc_float_modes", nullptr);
  auto number = pb::reinterpret_steal<pb::object>(PyLong_FromUnsignedLong(word));
  PyObject *token =
      modesOfContexts && number ? PyContextVar_Set(modesOfContexts, number.ptr()) : nullptr;
  if (!token)
    throw pb::error_already_set();
  Py_DECREF(token);
  modesSeen = word;
  return before;
}

/// What a status cannot carry: the exception that goes with it.
struct Raised {
  std::string message;
  PyObject *error = nullptr;
};
/// The newest, and the one before, which may belong to a failure that is kept (Lend.h).
thread_local std::array<Raised, 2> raised;

/// The numbers of the names of operators on single results, 0 for none.
std::array<uint32_t, op::kOpKindCount> scalarNames{};

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
  if (raised[0].error) {
    Py_XDECREF(raised[1].error);
    raised[1] = std::exchange(raised[0], {});
  }
  try {
    for (const FloatReport &r : reports) {
      if (wasTold(r.error, r.kind, r.modes, r.location) &&
          FloatModes::of(r.modes, r.error) == FloatModes::kOnce)
        continue;
      uint32_t name = r.modes >> kErrorNameShift, modes = r.modes;
      op::OpKind kind = r.kind;
      if (name >= kOperationNames) {
        kind = static_cast<op::OpKind>(name - kOperationNames);
        modes &= (1u << kErrorNameShift) - 1;
      }
      pb::object wanted = pb::reinterpret_borrow<pb::object>(handler)(
          static_cast<int>(r.error), flagsOf(r, reports), std::string(op::opInfo(kind).name), modes,
          locationText(r.location));
      // A program's own handler, whose caller is the line that it is told of.
      if (!wanted.is_none()) {
        auto call = wanted.cast<pb::tuple>(); // the handler and what it is given
        pb::object own = call[0];
        own(call[1], call[2]);
      }
      if (FloatModes::of(r.modes, r.error) == FloatModes::kOnce && heed() == Heed::Once)
        filters.told.insert(keyOf(r.error, r.kind, r.modes, r.location));
    }
  } catch (pb::error_already_set &e) {
    e.restore();
    PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    Py_XDECREF(type);
    Py_XDECREF(trace);
    raised[0] = {pb::str(pb::handle(value)), value};
    return {ErrorCode::InvalidArgument, raised[0].message};
  }
  return Status::ok();
}

} // namespace

uint32_t errorsOfScalars(op::OpKind kind) {
  const uint32_t word = RecordScope::errors(), name = scalarNames[static_cast<size_t>(kind)];
  return word && !(word >> kErrorNameShift) ? word | name << kErrorNameShift : word;
}

void tellOverflow(op::OpKind kind) {
  RecordScope line;
  const uint32_t word = errorsOfScalars(kind);
  check(tellNow(FloatError::Over, kind, word));
}

bool warningsAreWatched() { return heed() == Heed::AtOnce; }

pb::object takeFloatError(const Status &status) {
  for (Raised &r : raised)
    if (r.error && status.message() == r.message)
      return pb::reinterpret_steal<pb::object>(std::exchange(r.error, nullptr));
  return {};
}

void defineFloatErrors(pb::module_ &m) {
  setFloatSink(tell);
  setModesFilter(filtered);
  setToldFilter(wasTold);
  setModesKeeper({modesOfContext, changeModes});
  m.def("set_float_error_handler",
        [](const pb::object &function) { handler = Py_NewRef(function.ptr()); });
  m.def("set_warning_filters", [](const pb::module_ &warnings, const pb::object &ask) {
    filters.names = Py_NewRef(PyModule_GetDict(warnings.ptr()));
    filters.key = PyUnicode_InternFromString("filters");
    filters.ask = Py_NewRef(ask.ptr());
  });
  m.def("set_float_modes", setFloatModes);
  m.def("float_modes", floatModes);
  m.def("set_error_name", setErrorName);
  m.def("set_scalar_name", [](const std::string &dunder, uint32_t name) {
    for (size_t k = 0; k < scalarNames.size(); ++k) {
      const auto dunders = op::opInfo(static_cast<op::OpKind>(k)).dunders;
      if (!dunders.empty() && dunders[0] == dunder)
        scalarNames[k] = name;
    }
  });
}

} // namespace graphc::py
