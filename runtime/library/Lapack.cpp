//===- Lapack.cpp - A LAPACK found at run time ------------------------------------------------===//
#include "runtime/library/Lapack.h"

#include "runtime/base/Setting.h"
#include "runtime/base/Strings.h"

#include <dlfcn.h>
#include <link.h>
#include <memory>
#include <mutex>
#include <string_view>
#include <vector>

namespace graphc::rt::library {
namespace {

Setting lapackSetting{"GRAPHC_LAPACK",
                      "library with LAPACK for linear algebra, e.g. a libopenblas.so",
                      "one that is loaded, else the system's"};

constexpr char kTypeLetters[Lapack::kTypes + 1] = "sdcz";
/// Of real and of complex numbers.
constexpr const char *kNames[Lapack::Count][2] = {
    {"potrf", "potrf"}, {"geqrf", "geqrf"}, {"orgqr", "ungqr"},
    {"gesv", "gesv"},   {"getrf", "getrf"}, {"syevd", "heevd"},
    {"geev", "geev"},   {"gesdd", "gesdd"}, {"gelsd", "gelsd"}};

/// How a build of LAPACK spells its symbols.
struct Spelling {
  const char *prefix, *suffix;
  bool wide;
};
constexpr Spelling kSpellings[] = {{"", "_", false},
                                   {"scipy_", "_64_", true},
                                   {"scipy_", "_", false},
                                   {"", "_64_", true},
                                   {"", "64_", true}};

/// Every function under one spelling.
bool resolve(void *handle, const Spelling &spelling, Lapack &lapack) {
  auto symbol = [&](const std::string &name, const char *suffix) {
    return dlsym(handle, (spelling.prefix + name + suffix).c_str());
  };
  for (int f = 0; f < Lapack::Count; ++f)
    for (int t = 0; t < Lapack::kTypes; ++t)
      if (!(lapack.functions[f][t] =
                symbol(kTypeLetters[t] + std::string(kNames[f][t / 2]), spelling.suffix)))
        return false;
  lapack.wideIntegers = spelling.wide;
  const char *suffix = spelling.wide ? "64_" : "";
  lapack.getThreads = reinterpret_cast<int (*)()>(symbol("openblas_get_num_threads", suffix));
  lapack.setThreads = reinterpret_cast<void (*)(int)>(symbol("openblas_set_num_threads", suffix));
  if (!lapack.getThreads || !lapack.setThreads)
    lapack.getThreads = nullptr, lapack.setThreads = nullptr;
  return true;
}

/// Libraries of this process whose file name has "openblas" in it.
std::vector<std::string> loadedOpenBlas() {
  std::vector<std::string> paths;
  dl_iterate_phdr(
      [](dl_phdr_info *info, size_t, void *out) {
        std::string_view path = info->dlpi_name ? info->dlpi_name : "";
        size_t slash = path.rfind('/');
        std::string_view file = slash == path.npos ? path : path.substr(slash + 1);
        if (file.find("openblas") != file.npos)
          static_cast<std::vector<std::string> *>(out)->emplace_back(path);
        return 0;
      },
      &paths);
  return paths;
}

/// The library stays open as long as the process.
bool open(const std::string &path, Lapack &lapack) {
  void *handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!handle)
    return false;
  for (const Spelling &spelling : kSpellings)
    if (resolve(handle, spelling, lapack)) {
      lapack.path = path;
      return true;
    }
  dlclose(handle);
  return false;
}

} // namespace

Result<const Lapack *> Lapack::find() {
  static std::mutex mutex;
  static const Lapack *found = nullptr;
  std::lock_guard lock(mutex);
  if (found)
    return found;
  std::vector<std::string> candidates;
  if (auto named = lapackSetting.get()) {
    candidates = {*named};
  } else {
    candidates = loadedOpenBlas();
    for (const char *name :
         {"libopenblas.so.0", "libopenblas.so", "libmkl_rt.so.2", "liblapack.so.3"})
      candidates.emplace_back(name);
  }
  auto lapack = std::make_unique<Lapack>();
  std::string tried;
  for (const std::string &path : candidates) {
    if (open(path, *lapack)) {
      found = lapack.release();
      return found;
    }
    tried += (tried.empty() ? "" : ", ") + path;
  }
  return Status(
      ErrorCode::Unsupported,
      strings::format("[linalg] no LAPACK was found (tried {}); install OpenBLAS (Debian: "
                      "libopenblas0) or name a library in GRAPHC_LAPACK",
                      tried));
}

} // namespace graphc::rt::library
