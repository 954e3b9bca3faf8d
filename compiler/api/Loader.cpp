//===- Loader.cpp - Finding and loading the compiler ------------------------------------------===//
#include "compiler/api/Loader.h"

#include "runtime/base/CacheFolder.h"
#include "runtime/base/Setting.h"
#include "runtime/base/Strings.h"
#include "runtime/base/Trace.h"

#include <atomic>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <mutex>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace graphc {
namespace {

Setting compilerLib{"GRAPHC_COMPILER_LIB", "file of the compiler library",
                    "searched for beside the program"};

constexpr const char *kLibraryName = "libgraphc_compiler.so";
constexpr int kBuildTreeDepth = 6;

std::atomic<const CompilerApi *> loaded{nullptr};

bool isFile(const std::string &path) {
  struct stat status;
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode);
}

std::string parentOf(const std::string &path) {
  size_t slash = path.rfind('/');
  return slash == std::string::npos || slash == 0 ? "" : path.substr(0, slash);
}

// The folder of the program or library that this code was linked into, or "".
std::string ownFolder() {
  Dl_info info;
  if (!dladdr(reinterpret_cast<void *>(&ownFolder), &info) || !info.dli_fname)
    return "";
  // The main program is named as its caller named it, without a path when found through PATH.
  const char *file = strchr(info.dli_fname, '/') ? info.dli_fname : "/proc/self/exe";
  char path[PATH_MAX];
  return realpath(file, path) ? parentOf(path) : "";
}

std::vector<std::string> candidates() {
  if (auto named = compilerLib.get())
    return {*named};
  std::vector<std::string> paths;
  std::string folder = ownFolder();
  if (folder.empty())
    return paths;
  for (const char *place : {"/", "/lib/", "/../lib/", "/../" GRAPHC_LIBRARY_FOLDER "/"})
    paths.push_back(folder + place + kLibraryName);
  for (int i = 0; i < kBuildTreeDepth && !folder.empty(); ++i, folder = parentOf(folder))
    if (isFile(folder + "/CMakeCache.txt"))
      paths.push_back(folder + "/lib/" + kLibraryName);
  return paths;
}

// Reads the GNU build id out of an ELF file's note segments, as hexadecimal digits; "" when there
// is none.
std::string elfBuildId(int file) {
  auto readAt = [&](void *out, size_t bytes, uint64_t offset) {
    return pread(file, out, bytes, static_cast<off_t>(offset)) == static_cast<ssize_t>(bytes);
  };
  Elf64_Ehdr header;
  if (!readAt(&header, sizeof header, 0) || std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof(Elf64_Phdr))
    return "";
  for (unsigned i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    constexpr uint64_t kLargestNotes = 1 << 16;
    if (!readAt(&segment, sizeof segment, header.e_phoff + i * sizeof segment))
      return "";
    if (segment.p_type != PT_NOTE || segment.p_filesz > kLargestNotes)
      continue;
    std::vector<uint8_t> notes(segment.p_filesz);
    if (!readAt(notes.data(), notes.size(), segment.p_offset))
      return "";
    size_t at = 0;
    Elf64_Nhdr note;
    while (at + sizeof note <= notes.size()) {
      std::memcpy(&note, notes.data() + at, sizeof note);
      size_t name = at + sizeof note;
      size_t text = name + (static_cast<size_t>(note.n_namesz) + 3) / 4 * 4;
      size_t end = text + (static_cast<size_t>(note.n_descsz) + 3) / 4 * 4;
      if (end > notes.size())
        break;
      if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
          std::memcmp(notes.data() + name, "GNU", 4) == 0) {
        std::string id;
        for (size_t k = 0; k < note.n_descsz; ++k)
          id += strings::format("{:02x}", notes[text + k]);
        return id;
      }
      at = end;
    }
  }
  return "";
}

std::string fileIdentity() {
  auto path = findCompiler();
  if (!path)
    return "";
  FileDescriptor file(open(path->c_str(), O_RDONLY | O_CLOEXEC));
  struct stat status;
  if (!file || fstat(file.get(), &status) != 0)
    return "";
  if (std::string id = elfBuildId(file.get()); !id.empty())
    return "build-id " + id;
  return strings::format("file {} {}.{}", status.st_size, status.st_mtim.tv_sec,
                         status.st_mtim.tv_nsec);
}

} // namespace

Result<std::string> findCompiler() {
  std::string searched;
  for (const std::string &path : candidates()) {
    if (isFile(path))
      return path;
    searched += (searched.empty() ? "" : ", ") + path;
  }
  return Status(ErrorCode::Unsupported,
                strings::format("[compile] there is no compiler here (searched for: {}); "
                                "GRAPHC_COMPILER_LIB may name it",
                                searched));
}

Result<const CompilerApi *> loadCompiler() {
  if (const CompilerApi *api = loaded.load(std::memory_order_acquire))
    return api;
  static auto *mutex = new std::mutex;
  std::lock_guard lock(*mutex);
  if (const CompilerApi *api = loaded.load(std::memory_order_acquire))
    return api;
  TraceSpan span("compile", "load compiler");
  GRAPHC_ASSIGN(std::string path, findCompiler());
  // RTLD_LOCAL: an OpenCL driver may bring another LLVM.
  void *library = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library)
    return Status(ErrorCode::Unsupported,
                  strings::format("[compile] cannot load the compiler: {}", dlerror()));
  auto *entry = reinterpret_cast<decltype(&graphcCompilerApi)>(dlsym(library, "graphcCompilerApi"));
  const CompilerApi *api = entry ? entry() : nullptr;
  if (!api || api->version != kApiVersion)
    return Status(ErrorCode::Unsupported,
                  strings::format("[compile] '{}' is not a compiler of interface version {}", path,
                                  kApiVersion));
  api->trace(TraceSpan::descriptor());
  loaded.store(api, std::memory_order_release);
  return api;
}

bool compilerIsLoaded() { return loaded.load(std::memory_order_acquire) != nullptr; }

std::string_view compilerBuildId() {
  static const std::string *id = new std::string(fileIdentity());
  return *id;
}

} // namespace graphc
