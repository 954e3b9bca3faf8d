// Whether the running code would catch an error (graphc/_handlers.py reads its tables).
#include "frontends/python/bindings/Bindings.h"
#include "frontends/python/bindings/Frames.h"
#include "frontends/python/bindings/Imported.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <unordered_map>

namespace graphc::py {
namespace {

/// Of _handlers.py.
enum Caught : int { kNamed = 1, kAny = 2 };
/// Beyond this many places (code generated in a loop) new ones are asked each time.
constexpr size_t kMaxPlaces = 1 << 16;
/// How far out callers are asked.
constexpr int kFrames = 64;

bool hasHandlers(PyCodeObject *code) {
#if PY_VERSION_HEX >= 0x030b0000
  return PyBytes_GET_SIZE(code->co_exceptiontable) > 0;
#else
  return false; // says nothing of them
#endif
}

bool mentionsIndexErrors(PyCodeObject *code) {
  static PyObject *const names[] = {PyUnicode_InternFromString("IndexError"),
                                    PyUnicode_InternFromString("LookupError")};
  PyObject *const *used = PySequence_Fast_ITEMS(code->co_names);
  PyObject *const *end = used + PyTuple_GET_SIZE(code->co_names);
  return std::find_first_of(used, end, std::begin(names), std::end(names)) != end;
}

/// What calls a function that is to raise an error, whose name is a variable's there.
bool isAssertion(PyCodeObject *code) {
  struct Known {
    const char *function;
    std::string_view file;
  };
  static constexpr Known kKnown[] = {{"handle", "unittest/case.py"},
                                     {"raises", "_pytest/raises.py"},
                                     {"raises", "_pytest/python_api.py"}};
  return std::ranges::any_of(kKnown, [&](const Known &known) {
    if (PyUnicode_CompareWithASCIIString(code->co_name, known.function) != 0)
      return false;
    const char *file = PyUnicode_AsUTF8(code->co_filename);
    if (!file)
      PyErr_Clear();
    return file && std::string_view(file).ends_with(known.file);
  });
}

/// Nothing where that failed.
std::optional<int> ask(const Frames &frame) {
  try {
    static constinit Imported caught("graphc._handlers", "caught");
    return pb::handle(caught.get())(pb::handle(reinterpret_cast<PyObject *>(frame.code())),
                                    frame.offset(), pb::handle(frame.globals()))
        .cast<int>();
  } catch (pb::error_already_set &error) {
    if (error.matches(PyExc_KeyboardInterrupt))
      PyErr_SetInterrupt(); // comes once more, where the program sees it
    return std::nullopt;
  }
}

int caughtAt(const Frames &frame) {
  /// Guarded by the GIL; owns its codes, whose addresses must not be used again.
  static auto *known = new std::unordered_map<PyCodeObject *, std::unordered_map<int, int>>;
  static size_t places = 0;
  PyCodeObject *code = frame.code();
  const int offset = frame.offset();
  auto ofCode = known->find(code);
  if (ofCode != known->end())
    if (auto at = ofCode->second.find(offset); at != ofCode->second.end())
      return at->second;
  const std::optional<int> found = ask(frame);
  if (!found || places >= kMaxPlaces)
    return found.value_or(0);
  ++places;
  auto [entry, isNew] = known->try_emplace(code);
  if (isNew)
    Py_INCREF(code);
  entry->second[offset] = *found;
  return *found;
}

bool isSameFile(PyCodeObject *a, PyCodeObject *b) {
  return a->co_filename == b->co_filename || PyUnicode_Compare(a->co_filename, b->co_filename) == 0;
}

} // namespace

bool catchesIndexErrors(bool byName) {
  PyCodeObject *user = nullptr;
  int asked = 0;
  for (Frames frame; frame && asked < kFrames; frame.next(), ++asked) {
    PyCodeObject *code = frame.code();
    if (isPackageCode(code))
      continue;
    user = user ? user : code;
    if (!hasHandlers(code))
      continue;
    if (isAssertion(code))
      return true;
    // Whoever catches any exception far out does so whenever the error comes.
    const bool isOwn = isSameFile(code, user);
    if (!isOwn && !mentionsIndexErrors(code))
      continue;
    if (caughtAt(frame) & (isOwn && !byName ? kNamed | kAny : kNamed))
      return true;
  }
  return false;
}

} // namespace graphc::py
