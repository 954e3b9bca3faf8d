//===- CacheFolder.cpp - The private folder for files that may be deleted any time ------------===//
#include "runtime/base/CacheFolder.h"

#include "runtime/base/Setting.h"
#include "runtime/base/Strings.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace graphc {
namespace {

Setting cacheDir{"GRAPHC_CACHE_DIR", "folder of the disk cache, an absolute path",
                 "$XDG_CACHE_HOME/graphc, else ~/.cache/graphc"};

Status refuse(const std::string &path, const std::string &reason) {
  return {ErrorCode::Io, strings::format("[cache] '{}' {}", path, reason)};
}

// Makes a folder and its missing parents, all private.
Status makeFolders(const std::string &path) {
  for (size_t at = path.find('/', 1); at != std::string::npos; at = path.find('/', at + 1)) {
    std::string parent = path.substr(0, at);
    if (mkdir(parent.c_str(), 0700) != 0 && errno != EEXIST)
      return refuse(parent, strings::format("cannot be made: {}", std::strerror(errno)));
  }
  if (mkdir(path.c_str(), 0700) != 0 && errno != EEXIST)
    return refuse(path, strings::format("cannot be made: {}", std::strerror(errno)));
  return Status::ok();
}

} // namespace

FileDescriptor::~FileDescriptor() {
  if (fd >= 0)
    close(fd);
}

Result<std::string> cacheFolderPath() {
  if (auto path = cacheDir.get()) {
    if (path->front() != '/')
      return refuse(*path, "(GRAPHC_CACHE_DIR) is not an absolute path");
    while (path->size() > 1 && path->back() == '/')
      path->pop_back();
    return *path;
  }
  // A relative XDG_CACHE_HOME is to be ignored, says its specification.
  if (const char *xdg = secure_getenv("XDG_CACHE_HOME"); xdg && *xdg == '/')
    return std::string(xdg) + "/graphc";
  if (const char *home = secure_getenv("HOME"); home && *home == '/')
    return std::string(home) + "/.cache/graphc";
  return Status(ErrorCode::Io,
                "[cache] neither GRAPHC_CACHE_DIR nor XDG_CACHE_HOME nor HOME names a folder");
}

Result<Folder> openPrivateFolder(const std::string &path) {
  GRAPHC_TRY(makeFolders(path));
  FileDescriptor folder(open(path.c_str(), O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
  if (!folder)
    return refuse(path, errno == ELOOP || errno == ENOTDIR
                            ? std::string("is a link or not a folder")
                            : strings::format("cannot be opened: {}", std::strerror(errno)));
  struct stat own, parent;
  if (fstat(folder.get(), &own) != 0 || fstatat(folder.get(), "..", &parent, 0) != 0)
    return refuse(path, strings::format("cannot be examined: {}", std::strerror(errno)));
  if (own.st_uid != geteuid())
    return refuse(path, "belongs to another user");
  if (own.st_mode & 022)
    return refuse(path, "can be written by other users");
  bool parentIsOurs = parent.st_uid == geteuid() || parent.st_uid == 0;
  if (!parentIsOurs || ((parent.st_mode & 022) && !(parent.st_mode & S_ISVTX)))
    return refuse(path, "lies in a folder that other users can change");
  return Folder{path, std::move(folder)};
}

Result<Folder> openCacheFolder(const std::string &subfolder) {
  GRAPHC_ASSIGN(std::string path, cacheFolderPath());
  GRAPHC_ASSIGN(Folder base, openPrivateFolder(path));
  return openPrivateFolder(path + "/" + subfolder);
}

} // namespace graphc
