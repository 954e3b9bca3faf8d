//===- DiskCache.cpp - Compiled programs on disk ----------------------------------------------===//
#include "runtime/cache/DiskCache.h"

#include "runtime/base/Setting.h"
#include "runtime/base/Strings.h"
#include "runtime/base/Trace.h"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <dirent.h>
#include <fcntl.h>
#include <mutex>
#include <sys/stat.h>
#include <unistd.h>

namespace graphc::rt {
namespace {

Setting cacheMode{"GRAPHC_CACHE", "use of the disk cache: off, ro or rw", "rw"};
Setting cacheSize{"GRAPHC_CACHE_SIZE", "bytes that the disk cache may take, e.g. \"500MiB\"",
                  "1GiB"};

constexpr uint8_t kEntryMagic[8] = {'G', 'C', 'E', 'N', 'T', 'R', 'Y', '1'};
constexpr std::string_view kEntrySuffix = ".gcp";
constexpr std::string_view kTempPrefix = ".tmp-";
constexpr int64_t kLargestEntry = int64_t{1} << 30;
constexpr int64_t kStaleTempSeconds = 3600;
constexpr int64_t kTouchSeconds = 60;
/// Of the cap: what all processes together write, on average, between two readings of the folder.
/// Reading a full one takes as long as compiling a hundred kernels.
constexpr int64_t kScanPart = 128;
/// Of the cap: the room that is kept for what is written between readings, and what is made free
/// beyond it at once.
constexpr int64_t kRoomPart = 16;

struct EntryHeader {
  uint8_t magic[8];
  uint64_t keyBytes;
  uint64_t labelBytes;
  uint64_t valueBytes;
  uint64_t checksum[2]; ///< XXH3-128 of the header with this field zero, key, label and value
};

Digest entryDigest(EntryHeader header, std::span<const uint8_t> key, std::string_view label,
                   std::span<const uint8_t> value) {
  header.checksum[0] = header.checksum[1] = 0;
  DigestStream stream;
  stream.update(&header, sizeof header);
  stream.update(key.data(), key.size());
  stream.update(label.data(), label.size());
  stream.update(value.data(), value.size());
  return stream.finish();
}

std::string entryName(std::span<const uint8_t> key) {
  return digestOf(key).hex() + std::string(kEntrySuffix);
}

// Whether the store of an entry reads the folder: its key draws, with a chance in proportion to its
// bytes. Short processes, none of which writes much, keep to the cap that way without a word to
// each other, and none pays for a reading at its start.
bool readsTheFolder(std::span<const uint8_t> key, int64_t bytes, int64_t capBytes) {
  return digestOf(key).low % static_cast<uint64_t>(std::max<int64_t>(1, capBytes / kScanPart)) <
         static_cast<uint64_t>(bytes);
}

bool readAll(int fd, uint8_t *out, size_t bytes) {
  while (bytes > 0) {
    ssize_t n = ::read(fd, out, bytes);
    if (n < 0 && errno == EINTR)
      continue;
    if (n <= 0)
      return false;
    out += n;
    bytes -= static_cast<size_t>(n);
  }
  return true;
}

bool writeAll(int fd, const void *data, size_t bytes) {
  auto *at = static_cast<const uint8_t *>(data);
  while (bytes > 0) {
    ssize_t n = ::write(fd, at, bytes);
    if (n < 0 && errno == EINTR)
      continue;
    if (n < 0)
      return false;
    at += n;
    bytes -= static_cast<size_t>(n);
  }
  return true;
}

// Opens an entry for reading when it is a plain file that only this user can write, reachable by
// this name alone.
FileDescriptor openEntry(int folder, const std::string &name, struct stat &status) {
  FileDescriptor file(openat(folder, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  if (!file)
    return file;
  bool fine = fstat(file.get(), &status) == 0 && S_ISREG(status.st_mode) &&
              status.st_uid == geteuid() && !(status.st_mode & 022) && status.st_nlink == 1;
  if (!fine) {
    errno = EPERM;
    return FileDescriptor();
  }
  return file;
}

struct File {
  std::string name;
  int64_t bytes;
  int64_t lastUsed;
  bool isTemp;
};

// Entries and leftovers of interrupted writes; other files are not ours.
std::vector<File> scan(int folder) {
  std::vector<File> files;
  int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  DIR *dir = fd < 0 ? nullptr : fdopendir(fd);
  if (!dir) {
    if (fd >= 0)
      close(fd);
    return files;
  }
  while (dirent *entry = readdir(dir)) {
    std::string name = entry->d_name;
    bool isTemp = name.starts_with(kTempPrefix);
    struct stat status;
    if ((isTemp || name.ends_with(kEntrySuffix)) &&
        fstatat(folder, name.c_str(), &status, AT_SYMLINK_NOFOLLOW) == 0)
      files.push_back({std::move(name), status.st_size, status.st_mtime, isTemp});
  }
  closedir(dir);
  return files;
}

} // namespace

std::string_view cacheModeName(CacheMode mode) {
  constexpr std::string_view kNames[] = {"off", "ro", "rw"};
  return kNames[static_cast<int>(mode)];
}

DiskCache::DiskCache(Options wanted) : options(std::move(wanted)) {
  if (options.mode == CacheMode::Off)
    return;
  auto opened =
      options.folder.empty() ? openCacheFolder("programs") : openPrivateFolder(options.folder);
  if (!opened) {
    giveUp(opened.status().message());
    return;
  }
  folder = opened.take();
  options.folder = folder.path;
}

DiskCache &DiskCache::instance() {
  static DiskCache *cache = [] {
    Options options;
    std::string mode = cacheMode.get().value_or("rw");
    if (mode == "off" || mode == "0" || mode == "false")
      options.mode = CacheMode::Off;
    else if (mode == "ro")
      options.mode = CacheMode::ReadOnly;
    else if (mode != "rw" && mode != "1" && mode != "true")
      emitEvent(EventLevel::Warning, "cache",
                strings::format("GRAPHC_CACHE must be off, ro or rw, not '{}': rw is used", mode));
    if (auto size = cacheSize.get(); size && !strings::parseBytes(*size, options.capBytes))
      emitEvent(EventLevel::Warning, "cache",
                strings::format("GRAPHC_CACHE_SIZE: '{}' is not a number of bytes", *size));
    return new DiskCache(std::move(options));
  }();
  return *cache;
}

void DiskCache::giveUp(const std::string &reason) {
  {
    std::lock_guard lock(mutex);
    problem = reason;
    if (std::exchange(warned, true))
      return;
  }
  emitEvent(EventLevel::Warning, "cache", "programs are not cached on disk: " + reason);
}

DiskCache::Defect DiskCache::read(const std::string &name, std::span<const uint8_t> key,
                                  std::vector<uint8_t> &value) {
  struct stat status;
  FileDescriptor file = openEntry(folder.descriptor.get(), name, status);
  if (!file)
    return errno == ENOENT ? Defect::Missing : Defect::Bad;
  EntryHeader header;
  auto size = static_cast<uint64_t>(status.st_size);
  if (size < sizeof header || size > static_cast<uint64_t>(kLargestEntry) ||
      !readAll(file.get(), reinterpret_cast<uint8_t *>(&header), sizeof header))
    return Defect::Bad;
  uint64_t rest = size - sizeof header;
  if (std::memcmp(header.magic, kEntryMagic, sizeof kEntryMagic) != 0 ||
      header.keyBytes != key.size() || header.keyBytes > rest ||
      header.labelBytes > rest - header.keyBytes ||
      header.valueBytes != rest - header.keyBytes - header.labelBytes)
    return Defect::Bad;
  std::vector<uint8_t> front(header.keyBytes + header.labelBytes);
  value.resize(header.valueBytes);
  if (!readAll(file.get(), front.data(), front.size()) ||
      !readAll(file.get(), value.data(), value.size()))
    return Defect::Bad;
  std::string_view label(reinterpret_cast<const char *>(front.data()) + header.keyBytes,
                         header.labelBytes);
  Digest digest = entryDigest(header, std::span(front).first(header.keyBytes), label, value);
  if (digest.low != header.checksum[0] || digest.high != header.checksum[1] ||
      !std::equal(key.begin(), key.end(), front.begin()))
    return Defect::Bad;
  if (options.mode == CacheMode::ReadWrite && std::time(nullptr) - status.st_mtime > kTouchSeconds)
    static_cast<void>(futimens(file.get(), nullptr)); // only the order of eviction suffers
  return Defect::None;
}

std::optional<std::vector<uint8_t>> DiskCache::find(std::span<const uint8_t> key) {
  if (!canRead())
    return std::nullopt;
  TraceSpan span("cache", "find");
  std::string name = entryName(key);
  std::vector<uint8_t> value;
  switch (read(name, key, value)) {
  case Defect::None:
    count(Counter::DiskHits);
    return value;
  case Defect::Missing:
    break;
  case Defect::Bad:
    count(Counter::DiskDefects);
    emitEvent(EventLevel::Info, "cache", "ignoring the damaged or foreign entry " + name);
    if (options.mode == CacheMode::ReadWrite)
      unlinkat(folder.descriptor.get(), name.c_str(), 0);
    break;
  }
  count(Counter::DiskMisses);
  return std::nullopt;
}

Status DiskCache::write(const std::string &name, std::span<const uint8_t> key,
                        std::span<const uint8_t> value, std::string_view label) {
  static std::atomic<uint32_t> serial{0};
  std::string temp = strings::format("{}{}-{}", kTempPrefix, getpid(), serial.fetch_add(1));
  EntryHeader header = {{}, key.size(), label.size(), value.size(), {}};
  std::memcpy(header.magic, kEntryMagic, sizeof kEntryMagic);
  Digest digest = entryDigest(header, key, label, value);
  header.checksum[0] = digest.low;
  header.checksum[1] = digest.high;
  auto failed = [&](const char *what) {
    return Status(ErrorCode::Io, strings::format("[cache] cannot {} '{}/{}': {}", what, folder.path,
                                                 temp, std::strerror(errno)));
  };
  int at = folder.descriptor.get();
  FileDescriptor file(openat(at, temp.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
  if (!file)
    return failed("make");
  bool written = writeAll(file.get(), &header, sizeof header) &&
                 writeAll(file.get(), key.data(), key.size()) &&
                 writeAll(file.get(), label.data(), label.size()) &&
                 writeAll(file.get(), value.data(), value.size());
  if (!written || renameat(at, temp.c_str(), at, name.c_str()) != 0) {
    Status status = failed(written ? "rename" : "write");
    unlinkat(at, temp.c_str(), 0);
    return status;
  }
  // Nothing is flushed: what a crash of the machine leaves of an entry fails its checksum or is
  // whole, and flushing would be a tenth of what compiling a small kernel takes.
  return Status::ok();
}

void DiskCache::store(std::span<const uint8_t> key, std::span<const uint8_t> value,
                      std::string_view label) {
  int64_t bytes =
      static_cast<int64_t>(sizeof(EntryHeader) + key.size() + label.size() + value.size());
  if (options.mode != CacheMode::ReadWrite || !folder.descriptor ||
      bytes > std::min(kLargestEntry, options.capBytes))
    return;
  TraceSpan span("cache", "store");
  if (Status status = write(entryName(key), key, value, label); !status) {
    giveUp(status.message());
    return;
  }
  count(Counter::DiskWrites);
  if (readsTheFolder(key, bytes, options.capBytes))
    evict();
}

void DiskCache::evict() {
  int at = folder.descriptor.get();
  std::vector<File> files = scan(at);
  int64_t now = std::time(nullptr);
  int64_t total = 0;
  std::erase_if(files, [&](const File &f) {
    if (f.isTemp && now - f.lastUsed > kStaleTempSeconds)
      unlinkat(at, f.name.c_str(), 0);
    else if (!f.isTemp)
      total += f.bytes;
    return f.isTemp;
  });
  std::sort(files.begin(), files.end(),
            [](const File &a, const File &b) { return a.lastUsed < b.lastUsed; });
  int64_t room = options.capBytes / kRoomPart, most = options.capBytes - room;
  if (total > most)
    most -= room;
  for (const File &f : files) {
    if (total <= most)
      break;
    // Gone already means that another process evicts too.
    unlinkat(at, f.name.c_str(), 0);
    total -= f.bytes;
  }
}

std::vector<DiskCache::Entry> DiskCache::list() const {
  std::vector<Entry> entries;
  if (!canRead())
    return entries;
  for (const File &f : scan(folder.descriptor.get())) {
    struct stat status;
    EntryHeader header;
    if (f.isTemp)
      continue;
    FileDescriptor file = openEntry(folder.descriptor.get(), f.name, status);
    if (!file || status.st_size < static_cast<int64_t>(sizeof header) ||
        !readAll(file.get(), reinterpret_cast<uint8_t *>(&header), sizeof header))
      continue;
    std::string label;
    constexpr uint64_t kLongestLabel = 4096;
    if (header.labelBytes <= kLongestLabel && header.keyBytes < static_cast<uint64_t>(f.bytes)) {
      label.resize(header.labelBytes);
      if (lseek(file.get(), static_cast<off_t>(sizeof header + header.keyBytes), SEEK_SET) < 0 ||
          !readAll(file.get(), reinterpret_cast<uint8_t *>(label.data()), label.size()))
        label.clear();
    }
    entries.push_back({f.name.substr(0, f.name.size() - kEntrySuffix.size()), std::move(label),
                       f.bytes, f.lastUsed});
  }
  std::sort(entries.begin(), entries.end(), [](const Entry &a, const Entry &b) {
    return a.lastUsed != b.lastUsed ? a.lastUsed > b.lastUsed : a.name < b.name;
  });
  return entries;
}

DiskCache::Info DiskCache::info() const {
  Info info;
  info.folder = options.folder;
  info.mode = options.mode;
  info.capBytes = options.capBytes;
  {
    std::lock_guard lock(mutex);
    info.problem = problem;
  }
  if (canRead())
    for (const File &f : scan(folder.descriptor.get()))
      if (!f.isTemp) {
        ++info.entries;
        info.bytes += f.bytes;
      }
  return info;
}

Result<int64_t> DiskCache::clear() {
  if (options.mode == CacheMode::Off)
    return int64_t{0};
  if (!folder.descriptor || options.mode != CacheMode::ReadWrite)
    return Status(ErrorCode::Io, problem.empty() ? "[cache] the cache is read-only" : problem);
  int64_t removed = 0;
  for (const File &f : scan(folder.descriptor.get())) {
    if (unlinkat(folder.descriptor.get(), f.name.c_str(), 0) == 0)
      ++removed;
    else if (errno != ENOENT)
      return Status(ErrorCode::Io, strings::format("[cache] cannot remove '{}/{}': {}", folder.path,
                                                   f.name, std::strerror(errno)));
  }
  return removed;
}

} // namespace graphc::rt
