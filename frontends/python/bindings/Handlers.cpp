// Whether the running code would catch an error (graphc/_handlers.py reads its tables).
#include "frontends/python/bindings/Bindings.h"
#include "frontends/python/bindings/Frames.h"

#include <algorithm>
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

/// unittest's assertRaises with a function to call, whose `with` names a variable.
bool isAssertion(PyCodeObject *code) {
  return PyUnicode_CompareWithASCIIString(code->co_name, "handle") == 0 &&
         std::string_view(PyUnicode_AsUTF8(code->co_filename)).ends_with("unittest/case.py");
}

/// 0 where nobody can say.
int ask(PyCodeObject *code, int offset) {
  try {
    static pb::object *caught =
        new pb::object(pb::module_::import("graphc._handlers").attr("caught"));
    return (*caught)(pb::handle(reinterpret_cast<PyObject *>(code)), offset).cast<int>();
  } catch (pb::error_already_set &) {
    return 0;
  }
}

int caughtAt(PyCodeObject *code, int offset) {
  /// Guarded by the GIL; owns its codes, whose addresses must not be used again.
  static auto *known = new std::unordered_map<PyCodeObject *, std::unordered_map<int, int>>;
  static size_t places = 0;
  auto ofCode = known->find(code);
  if (ofCode != known->end())
    if (auto at = ofCode->second.find(offset); at != ofCode->second.end())
      return at->second;
  const int found = ask(code, offset);
  if (places >= kMaxPlaces)
    return found;
  ++places;
  if (ofCode == known->end())
    Py_INCREF(code);
  (*known)[code][offset] = found;
  return found;
}

bool isSameFile(PyCodeObject *a, PyCodeObject *b) {
  return a->co_filename == b->co_filename || PyUnicode_Compare(a->co_filename, b->co_filename) == 0;
}

} // namespace

bool catchesIndexErrors() {
  PyCodeObject *user = nullptr;
  int asked = 0;
  for (Frames frame; frame && asked < kFrames; frame.next(), ++asked) {
    PyCodeObject *code = frame.code();
    if (isPackageCode(code))
      continue;
    user = user ? user : code;
    if (!hasHandlers(code))
      continue;
    // Whoever catches any exception far out does so whenever the error comes.
    const bool isOwn = isSameFile(code, user);
    if (isAssertion(code))
      return true;
    if (!isOwn && !mentionsIndexErrors(code))
      continue;
    if (caughtAt(code, frame.offset()) & (isOwn ? kNamed | kAny : kNamed))
      return true;
  }
  return false;
}

} // namespace graphc::py
