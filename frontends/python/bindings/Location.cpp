// User lines: a code object and an instruction offset, taken when something is recorded, turned
// into text when asked for.
#include "frontends/python/bindings/Bindings.h"
#include "frontends/python/bindings/Frames.h"

#include <unordered_map>

namespace graphc::py {
namespace {

/// Beyond this many places (code generated in a loop) new ones stay unknown.
constexpr size_t kMaxPlaces = 1 << 18;

struct Place {
  PyCodeObject *code; ///< owned
  int offset;
};
struct PlaceHash {
  size_t operator()(const std::pair<PyCodeObject *, int> &p) const {
    return reinterpret_cast<size_t>(p.first) * 0x9e3779b97f4a7c15u + static_cast<size_t>(p.second);
  }
};

/// Guarded by the GIL; lives as long as the process because nodes do.
struct Places {
  std::string folder;
  /// The user code met last, which is `known`: a loop asks for its places again and again.
  PyCodeObject *lastCode = nullptr;
  int lastOffset = 0;
  Location lastLocation = 0;
  std::vector<Place> list;
  std::unordered_map<std::pair<PyCodeObject *, int>, Location, PlaceHash> known;
  std::unordered_map<PyCodeObject *, bool> isOurs; ///< owns its keys
  /// Of our functions those that stand for one operation: the name it goes by. Owns its keys.
  std::unordered_map<PyCodeObject *, uint32_t> errorNames;
};
Places &places() {
  static auto *p = new Places;
  return *p;
}

/// Where a code object and an offset were met last, by a hash of the two: a loop has many places.
struct Recent {
  PyCodeObject *code = nullptr;
  int offset = 0;
  Location location = 0;
};
constexpr size_t kRecent = 4096;
Recent recent[kRecent];

Location remember(PyCodeObject *code, int offset) {
  Places &p = places();
  Recent &last = recent[PlaceHash()({code, offset}) % kRecent];
  if (last.code == code && last.offset == offset) {
    p.lastCode = code;
    p.lastOffset = offset;
    return p.lastLocation = last.location;
  }
  auto found = p.known.find({code, offset});
  if (found != p.known.end()) {
    last = {code, offset, found->second};
    p.lastCode = code;
    p.lastOffset = offset;
    return p.lastLocation = found->second;
  }
  if (p.list.size() >= kMaxPlaces)
    return 0;
  Py_INCREF(code);
  p.list.push_back({code, offset});
  Location location = p.list.size();
  p.known.emplace(std::pair(code, offset), location);
  return location;
}

/// Comprehensions, generator expressions and lambdas stand for what the function around them does.
bool isPartOfFunction(PyCodeObject *code) {
  return PyUnicode_GET_LENGTH(code->co_name) > 0 && PyUnicode_READ_CHAR(code->co_name, 0) == '<';
}

/// Errors are the user's when nothing but functions that stand for operations lies between.
void passThrough(PyCodeObject *code, UserPlace &place) {
  auto &names = places().errorNames;
  auto it = names.find(code);
  if (it == names.end() && isPartOfFunction(code))
    return;
  place.meetsErrors &= it != names.end();
  if (it != names.end() && it->second)
    place.errorName = it->second;
}

UserPlace currentPlace() {
  UserPlace place{0, true, 0};
  Places &p = places();
  for (Frames frame; frame; frame.next()) {
    PyCodeObject *code = frame.code();
    if (code == p.lastCode) {
      int offset = frame.offset();
      place.location = offset == p.lastOffset ? p.lastLocation : remember(code, offset);
      return place;
    }
    if (!isPackageCode(code)) {
      place.location = remember(code, frame.offset());
      return place;
    }
    passThrough(code, place);
  }
  return {};
}

std::string locationLine(Location location) {
  if (!Py_IsInitialized())
    return {};
  pb::gil_scoped_acquire gil;
  Places &p = places();
  if (location == 0 || location > p.list.size())
    return {};
  const Place &place = p.list[location - 1];
  int line = place.offset < 0 ? -place.offset : PyCode_Addr2Line(place.code, place.offset);
  const char *file = PyUnicode_AsUTF8(place.code->co_filename);
  if (!file) {
    PyErr_Clear();
    return {};
  }
  return std::string(file) + ":" + std::to_string(line);
}

} // namespace

bool isPackageCode(PyCodeObject *code) {
  Places &p = places();
  auto [it, isNew] = p.isOurs.try_emplace(code, false);
  if (!isNew)
    return it->second;
  Py_INCREF(code); // an address that is known must not be used again by another code object
  const char *name = PyUnicode_AsUTF8(code->co_filename);
  if (!name)
    PyErr_Clear();
  it->second = name && !p.folder.empty() && std::string_view(name).starts_with(p.folder);
  return it->second;
}

void setPackageFolder(const std::string &folder) {
  Places &p = places();
  p.folder = folder.empty() || folder.ends_with('/') ? folder : folder + "/";
  p.isOurs.clear();
  p.lastCode = nullptr;
}

void installLocationSource() {
  setLocationSource({currentPlace, locationLine, catchesIndexErrors});
}

void setErrorName(const pb::object &function, uint32_t name) {
  auto *code = PyFunction_Check(function.ptr()) ? PyFunction_GetCode(function.ptr()) : nullptr;
  if (!code)
    throw pb::type_error("a Python function is needed");
  auto [it, isNew] = places().errorNames.try_emplace(reinterpret_cast<PyCodeObject *>(code), 0);
  if (isNew)
    Py_INCREF(code);
  it->second = name << kErrorNameShift;
}

} // namespace graphc::py
