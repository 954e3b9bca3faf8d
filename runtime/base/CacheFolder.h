//===- CacheFolder.h - The private folder for files that may be deleted any time --------------===//
#ifndef GRAPHC_RUNTIME_BASE_CACHEFOLDER_H
#define GRAPHC_RUNTIME_BASE_CACHEFOLDER_H

#include "runtime/base/Status.h"

#include <string>
#include <utility>

namespace graphc {

/// A file descriptor that closes itself.
class FileDescriptor {
public:
  FileDescriptor() = default;
  explicit FileDescriptor(int fd) : fd(fd) {}
  FileDescriptor(FileDescriptor &&other) noexcept : fd(std::exchange(other.fd, -1)) {}
  FileDescriptor &operator=(FileDescriptor &&other) noexcept {
    std::swap(fd, other.fd);
    return *this;
  }
  ~FileDescriptor();
  int get() const { return fd; }
  explicit operator bool() const { return fd >= 0; }

private:
  int fd = -1;
};

struct Folder {
  std::string path;
  FileDescriptor descriptor; ///< open for the *at() calls
};

/// Where cached files belong: GRAPHC_CACHE_DIR, else $XDG_CACHE_HOME/graphc, else ~/.cache/graphc.
/// Io when none of them is set to an absolute path.
Result<std::string> cacheFolderPath();

/// Opens (and makes, mode 0700) a folder that only this user can write: a real folder, owned by
/// this user, writable by nobody else, in a parent that strangers cannot rename things in. Io with
/// the reason otherwise.
Result<Folder> openPrivateFolder(const std::string &path);

/// openPrivateFolder() of a sub-folder of the cache folder.
Result<Folder> openCacheFolder(const std::string &subfolder);

} // namespace graphc

#endif // GRAPHC_RUNTIME_BASE_CACHEFOLDER_H
