//===- DiskCache.h - Compiled programs on disk ------------------------------------------------===//
//
// One file an entry, named by the digest of its key. A file holds header, key, label and value
// under one checksum and is put in place by rename, so readers see whole entries or none; the key
// is compared byte by byte. Whatever is wrong with an entry makes it a miss. Whatever is wrong with
// the folder turns the cache off for this process with one warning.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_RUNTIME_CACHE_DISKCACHE_H
#define GRAPHC_RUNTIME_CACHE_DISKCACHE_H

#include "runtime/base/CacheFolder.h"
#include "runtime/base/Digest.h"
#include "runtime/base/Fork.h"
#include "runtime/base/Status.h"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace graphc::rt {

enum class CacheMode { Off, ReadOnly, ReadWrite };

/// Safe from any thread and any number of processes. Never fails: a cache that cannot help is a
/// cache that misses.
class DiskCache {
public:
  struct Options {
    std::string folder; ///< absolute, made when missing; empty: "programs" in the cache folder
    CacheMode mode = CacheMode::ReadWrite;
    int64_t capBytes = int64_t{1} << 30;
  };
  explicit DiskCache(Options options);

  /// The cache named by GRAPHC_CACHE (off, ro, rw), GRAPHC_CACHE_DIR and GRAPHC_CACHE_SIZE; opened
  /// on first use, never destroyed.
  static DiskCache &instance();

  CacheMode mode() const { return options.mode; }
  /// The stored value, or nothing. Marks the entry as recently used.
  std::optional<std::vector<uint8_t>> find(std::span<const uint8_t> key);
  /// Stores a value, replacing what the key had, and now and then evicts the least recently used
  /// entries so that all stay below the cap. `label` is what list() shows. A crash of the machine
  /// may lose it.
  void store(std::span<const uint8_t> key, std::span<const uint8_t> value, std::string_view label);

  struct Entry {
    std::string name; ///< digest of the key, hexadecimal
    std::string label;
    int64_t bytes;
    int64_t lastUsed; ///< seconds since 1970
  };
  /// Readable entries, most recently used first.
  std::vector<Entry> list() const;
  struct Info {
    std::string folder;
    CacheMode mode;
    std::string problem; ///< why the folder is not used, or empty
    int64_t entries = 0;
    int64_t bytes = 0;
    int64_t capBytes = 0;
  };
  Info info() const;
  /// Removes all entries and leftovers; how many files went. Io when the folder cannot be changed.
  Result<int64_t> clear();

private:
  enum class Defect { None, Missing, Bad };
  Defect read(const std::string &name, std::span<const uint8_t> key, std::vector<uint8_t> &value);
  Status write(const std::string &name, std::span<const uint8_t> key,
               std::span<const uint8_t> value, std::string_view label);
  void evict();
  void giveUp(const std::string &reason);
  bool canRead() const { return options.mode != CacheMode::Off && folder.descriptor; }

  Options options;
  Folder folder;
  std::string problem;
  mutable ForkSafeMutex mutex; ///< guards the fields below
  bool warned = false;
};

std::string_view cacheModeName(CacheMode mode);

} // namespace graphc::rt

#endif // GRAPHC_RUNTIME_CACHE_DISKCACHE_H
