//===- Files.cpp - Reading and writing whole files --------------------------------------------===//
#include "runtime/base/CacheFolder.h"
#include "runtime/base/Strings.h"
#include "tools/graphc/Commands.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace graphc::cli {
namespace {

Status failed(const std::string &path, const char *what) {
  return {ErrorCode::Io,
          strings::format("{}: error: cannot {}: {}", path, what, std::strerror(errno))};
}

Status writeAll(int fd, std::span<const uint8_t> bytes, const std::string &path) {
  while (!bytes.empty()) {
    ssize_t n = write(fd, bytes.data(), bytes.size());
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return failed(path, "write");
    bytes = bytes.subspan(static_cast<size_t>(n));
  }
  return Status::ok();
}

} // namespace

Result<std::vector<uint8_t>> readFile(const std::string &path) {
  std::string name = path == "-" ? "<stdin>" : path;
  FileDescriptor opened;
  if (path != "-") {
    opened = FileDescriptor(open(path.c_str(), O_RDONLY | O_CLOEXEC));
    if (!opened)
      return failed(name, "open");
  }
  int fd = path == "-" ? STDIN_FILENO : opened.get();
  struct stat status;
  if (fstat(fd, &status) != 0)
    return failed(name, "read");
  std::vector<uint8_t> bytes;
  constexpr size_t kStep = 1 << 16;
  size_t expected = S_ISREG(status.st_mode) ? static_cast<size_t>(status.st_size) : 0;
  for (;;) {
    size_t have = bytes.size();
    // One byte more than expected finds the end without a second step.
    bytes.resize(have + (have < expected ? expected - have + 1 : kStep));
    ssize_t n = read(fd, bytes.data() + have, bytes.size() - have);
    bytes.resize(have + static_cast<size_t>(n > 0 ? n : 0));
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return failed(name, "read");
    if (n == 0)
      return bytes;
  }
}

Status writeFile(const std::string &path, std::span<const std::span<const uint8_t>> pieces) {
  if (path == "-") {
    for (std::span<const uint8_t> piece : pieces)
      GRAPHC_TRY(writeAll(STDOUT_FILENO, piece, "<stdout>"));
    return Status::ok();
  }
  // Things that are not plain files (/dev/null, pipes) are written, not replaced.
  struct stat status;
  bool replace = stat(path.c_str(), &status) != 0 || S_ISREG(status.st_mode);
  std::string temp = replace ? strings::format("{}.tmp-{}", path, getpid()) : path;
  FileDescriptor file(open(temp.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666));
  if (!file)
    return failed(path, "write");
  Status written;
  for (std::span<const uint8_t> piece : pieces)
    if (written.isOk())
      written = writeAll(file.get(), piece, path);
  if (written.isOk() && replace && rename(temp.c_str(), path.c_str()) != 0)
    written = failed(path, "write");
  if (!written && replace)
    unlink(temp.c_str());
  return written;
}

int report(const Status &status, const std::string &subject) {
  const std::string &text = status.message();
  bool complete = text.find(": error:") != std::string::npos;
  std::fprintf(stderr, complete ? "%s%s\n" : "%s: error: %s\n", complete ? "" : subject.c_str(),
               text.c_str());
  switch (status.code()) {
  case ErrorCode::Ok:
    return kOk;
  case ErrorCode::Device:
    return kNoDevice;
  case ErrorCode::OutOfMemory:
    return kNoMemory;
  case ErrorCode::Internal:
    return kInternal;
  default:
    return kBadInput;
  }
}

} // namespace graphc::cli
