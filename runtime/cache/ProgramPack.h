//===- ProgramPack.h - Programs that come with the compiler -----------------------------------===//
//
// One file, made when the compiler is built and never changed: values by the digests of their keys,
// each under a checksum. Whatever is wrong with the file makes it empty, whatever is wrong with a
// value makes it a miss.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_RUNTIME_CACHE_PROGRAMPACK_H
#define GRAPHC_RUNTIME_CACHE_PROGRAMPACK_H

#include "runtime/base/Digest.h"
#include "runtime/base/Status.h"

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace graphc::rt {

/// Immutable: find() may be called from several threads.
class ProgramPack {
public:
  ProgramPack() = default; ///< an empty one
  ProgramPack(const ProgramPack &) = delete;
  ProgramPack &operator=(const ProgramPack &) = delete;
  ~ProgramPack();

  /// Maps a file that was written with the same `maker`, else stays empty. Once.
  void open(const std::string &path, std::string_view maker);
  std::optional<std::vector<uint8_t>> find(const Digest &key) const;
  size_t size() const { return index.size(); }

  using Values = std::map<Digest, std::vector<uint8_t>>;
  /// Puts the file in place by rename. Io when that fails.
  static Status write(const std::string &path, std::string_view maker, const Values &values);

private:
  struct Place {
    Digest key;
    uint64_t offset, bytes;
    Digest checksum;
  };
  bool read(std::string_view maker);

  std::span<const uint8_t> file; ///< mapped
  std::span<const Place> index;  ///< in it, by key
};

} // namespace graphc::rt

#endif // GRAPHC_RUNTIME_CACHE_PROGRAMPACK_H
