//===- Archive.h - The .gco file: one function compiled for several targets -------------------===//
//
// A .gco file is a small archive of program blobs (Program.h), little-endian:
//
//   ArchiveHeader | count ArchiveEntry records | blobs, each 64-byte aligned and in the order of
//   their entries
//
// Every entry holds one whole program of the same function; a runtime takes the first entry that
// its device can run. The records below stand alone (fixed-size integers only), as those of
// Program.h do.
//
//===------------------------------------------------------------------------------------------===//
#ifndef GRAPHC_RUNTIME_PROGRAM_ARCHIVE_H
#define GRAPHC_RUNTIME_PROGRAM_ARCHIVE_H

#include "runtime/base/Status.h"
#include "runtime/program/Program.h"

#include <cstdint>
#include <span>
#include <vector>

namespace graphc::program {

inline constexpr uint8_t kArchiveMagic[8] = {'G', 'C', 'O', 'B', 'J', '\0', '\r', '\n'};
inline constexpr uint32_t kArchiveVersion = 1;
inline constexpr uint32_t kMaxArchiveEntries = 64;

struct ArchiveHeader {
  uint8_t magic[8];
  uint32_t version;
  uint32_t count;
  uint64_t totalBytes;  ///< of the file
  uint64_t checksum[2]; ///< XXH3-128 (low, high) of all bytes after the header
};

struct ArchiveEntry {
  uint32_t target;   ///< Target, equal to that of the blob
  uint32_t reserved; ///< 0
  uint64_t offset;   ///< from the start of the file, 64-byte aligned
  uint64_t bytes;
};

/// Puts program blobs into one archive. InvalidArgument when there are none, too many, or one is no
/// program.
Result<std::vector<uint8_t>> writeArchive(std::span<const std::vector<uint8_t>> programs);

struct ArchiveMember {
  Target target;
  std::span<const uint8_t> blob; ///< into the archive's bytes; not parsed
};

/// The members of an archive, all bounds and the checksum verified. A lone program blob counts as
/// an archive of one. Corrupt with the reason otherwise.
Result<std::vector<ArchiveMember>> readArchive(std::span<const uint8_t> bytes);

} // namespace graphc::program

#endif // GRAPHC_RUNTIME_PROGRAM_ARCHIVE_H
